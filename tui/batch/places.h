/*
 * places.h - where in the source an event is, in words that survive an edit elsewhere in the
 * file: the function, and the line counted from the first line of it that the trace shows.
 * (The debug information of a trace keeps no line of a function's declaration.)
 */
#ifndef HEDDLE_PLACES_H
#define HEDDLE_PLACES_H

#include "engine/trace/trace.h"

struct places;

struct places *places_new(const struct trace *t); /* borrows the trace */
void places_free(struct places *p);

/* {"file": "bank.c", "line": 31, "function": "report", "offset": 2}; what is not known is left
 * out, and a location that is no line of a file is {"name": "17"}.  The caller's. */
struct json_t *places_json(const struct places *p, uint32_t event);
/* The same for a location (index of trace.locations). */
struct json_t *places_location_json(const struct places *p, uint32_t location);
/* The same from words: "FILE:LINE in FUNCTION", as races of an exploration are named, or any.
 */
struct json_t *places_parse(const char *place);

#endif
