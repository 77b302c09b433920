/*
 * spec_rules.h - specifications for the checker, from --spec or a witness's header.
 */
#ifndef HEDDLE_SPEC_RULES_H
#define HEDDLE_SPEC_RULES_H

#include "engine/commute/rule5.h"
#include "engine/order/order.h"
#include "engine/witness/witness.h"
#include "tui/batch/command.h"

/* --spec, else the specifications of the recording (specs_choose). */
GPtrArray *spec_rules_choose(const struct arguments *a, const struct trace *t,
                             GPtrArray *notes);

/* An order of the trace, EDC by the chosen specifications. NULL and `error` on failure. */
struct order *spec_rules_order(const struct arguments *a, struct trace *t, enum order_kind kind,
                               struct error *error);

struct spec_rules; /* specifications and the trace's model under them */
/* Load `paths` (char *) and the shipped specifications. NULL and `error` on failure; freed
 * before the trace. */
struct spec_rules *spec_rules_new(struct trace *t, const GPtrArray *paths, struct error *error);
void spec_rules_free(struct spec_rules *r);
const struct semantics *spec_rules_semantics(const struct spec_rules *r);
/* Rule 5 for data races; owned by `r`. */
const struct race_rules *spec_rules_races(struct spec_rules *r);
struct model *spec_rules_model(const struct spec_rules *r);
/* "FILE:SHA256" for a witness's header; owned by the caller. */
char *spec_rules_header(const char *path);
/* The paths in a witness's header (char *, owned). */
GPtrArray *spec_rules_paths(const struct witness *w);

#endif
