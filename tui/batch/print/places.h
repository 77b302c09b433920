/*
 * places.h - source positions of events that survive edits elsewhere in the file: the function,
 * and the line counted from its first line in the trace. (A trace has no line of a function's
 * declaration.)
 */
#ifndef HEDDLE_PLACES_H
#define HEDDLE_PLACES_H

#include "engine/trace/trace.h"

struct places;

struct places *places_new(const struct trace *t); /* borrows the trace */
void places_free(struct places *p);

/* {"file": "bank.c", "line": 31, "function": "report", "offset": 2}; unknown members are left
 * out, and a location that is no line of a file is {"name": "17"}. Owned by the caller. */
struct json_t *places_json(const struct places *p, uint32_t event);
/* places_json for a location of the trace. */
struct json_t *places_location_json(const struct places *p, uint32_t location);
/* places_json from text: "FILE:LINE in FUNCTION", as explorations name races, or any name. */
struct json_t *places_parse(const char *place);

#endif
