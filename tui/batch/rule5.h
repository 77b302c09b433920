/*
 * rule5.h - specifications for the checker: from --spec (or a witness's header) to the two
 * functions that rule 5 needs.
 */
#ifndef HEDDLE_BATCH_RULE5_H
#define HEDDLE_BATCH_RULE5_H

#include "engine/witness/witness.h"
#include "tui/batch/command.h"

struct rule5; /* specifications and the trace's model under them */
/*
 * `paths` (char *) are loaded beside those that ship.  NULL and `error` on failure; the
 * caller frees the result before the trace.
 */
struct rule5 *rule5_new(struct trace *t, const GPtrArray *paths, struct error *error);
void rule5_free(struct rule5 *r);
const struct semantics *rule5_semantics(const struct rule5 *r);
/* "FILE:SHA256" for a witness's header; owned by the caller. */
char *rule5_header(const char *path);
/* The paths that a witness's header names (char *, owned), for those not given by --spec. */
GPtrArray *rule5_paths(const struct witness *w);

#endif
