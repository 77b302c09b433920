/*
 * partings.h - where the runs of an exploration part from each other: how many runs began with
 * another outcome of which operation. It tells where the number of classes comes from.
 */
#ifndef HEDDLE_PARTINGS_H
#define HEDDLE_PARTINGS_H

#include "tui/batch/reports/report_file.h"

struct partings; /* counts by variable and place */
struct partings *partings_new(void);
/* A run that parts from its parent at this variable and place (both may be "" or NULL: it is
 * not counted). */
void partings_add(struct partings *p, const char *variable, const char *place);
/* The most frequent ones, by falling count: [{"variable", "place", "runs"}]; owned by the
 * caller. Frees p. */
json_t *partings_end(struct partings *p);

/* Of a joined report: "partings" of its "runs" in place of those of its parts. */
void partings_recount(json_t *head);

#endif
