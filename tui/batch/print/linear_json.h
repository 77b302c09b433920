/*
 * linear_json.h - a history that is not linearizable, as JSON.
 */
#ifndef HEDDLE_LINEAR_JSON_H
#define HEDDLE_LINEAR_JSON_H

#include "engine/commute/linear/linear_trace.h"

#include <jansson.h>

/* [{"thread", "invocation", "location", "call", "return", "order"}], of struct linear_shown. */
json_t *history_json(const GArray *shown);

#endif
