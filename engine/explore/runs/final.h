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
/* All examined variables, including those of the condition: char *. */
const GPtrArray *finals_names(const struct finals *f);
const char *finals_check(const struct finals *f); /* the condition as given, or NULL */

/* Contents of the bytes of an access: after a write, or as a read saw them. */
struct access_value {
	bool known;
	uint64_t integer; /* little endian */
	uint64_t address; /* of the first byte */
	uint64_t size;    /* in bytes */
};
struct access_value access_value(const struct trace *t, uint32_t event, bool written);

/* The variable of that name, as the variables that its bytes are divided into by accesses of
 * parts of it. Count 0: none has the name. */
struct wide final_range(const struct trace *t, const char *name);
/* The last write of a variable, or NONE; the last writes of a range: owned by the caller. */
uint32_t final_write(const struct trace *t, uint32_t variable);
uint32_t *final_writes(const struct trace *t, struct wide range);

/* Does the condition hold at the end of the recorded run (without one: yes)? Appends the values
 * to `story`. */
enum truth finals_hold(const struct finals *f, const struct trace *t, GString *story);

#endif
