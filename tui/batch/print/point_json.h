/*
 * point_json.h - the point of no return of an exploration's error, in JSON and in words.
 */
#ifndef HEDDLE_POINT_JSON_H
#define HEDDLE_POINT_JSON_H

#include "engine/explore/explore.h"

#include <jansson.h>

/* Owned by the caller; NULL when the error has none. */
json_t *point_json(const struct explore_report *report, uint32_t error);
/* Lines for such an object, each with its newline; "" for NULL. Owned by the caller. */
char *point_text(const json_t *point);

#endif
