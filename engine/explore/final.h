/*
 * final.h - values of variables at the end of a run, and conditions on them
 * (engine/base/condition.h): `heddle explore --final` and `--check`.
 */
#ifndef HEDDLE_EXPLORE_FINAL_H
#define HEDDLE_EXPLORE_FINAL_H

#include "engine/base/condition.h"
#include "engine/trace/index.h"

struct finals;
/* `names`: comma-separated, or NULL; `check`: a condition, or NULL. NULL and `error` when
 * invalid. */
struct finals *finals_new(const char *names, const char *check, struct error *error);
void finals_free(struct finals *f);
/* All variables examined, with those of the condition: char *. */
const GPtrArray *finals_names(const struct finals *f);
const char *finals_check(const struct finals *f); /* the condition as given, or NULL */

/* The variable of that name, or NONE; and its last write, or NONE. */
uint32_t final_variable(const struct trace *t, const char *name);
uint32_t final_write(const struct trace *t, uint32_t variable);

/* Does the condition hold at the end of the recorded run (without one: yes)? Appends the values
 * to `story`. */
enum truth finals_hold(const struct finals *f, const struct trace *t, GString *story);

#endif
