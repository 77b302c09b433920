/*
 * check_reach.h - does a condition hold after a sequence of events? For witnesses of the kind
 * `reach`, whose sequence the checker judges (check.h).
 *
 * Names in a condition: a variable's whole name, or the part after its last "::" if no other
 * variable ends with it; `thread` and `event` for those of the target; a thread's name for
 * its number; an enumerator, and true, false and NULL, for theirs.
 */
#ifndef HEDDLE_CHECK_REACH_H
#define HEDDLE_CHECK_REACH_H

#include "engine/base/condition.h"
#include "engine/trace/trace.h"

enum named_kind { NAMES_VARIABLE, NAMES_NUMBER, NAMES_THREAD, NAMES_EVENT };
struct named {
	enum named_kind kind;
	uint32_t index; /* variable (NONE: unknown) */
	int64_t number;
};

/* For condition_new; `self` is the trace. */
size_t named_length(void *trace, const char *text);
struct named named_by(const struct trace *t, const char *name);
/* The variable of that name, and of that short name; NONE: none, or several. */
uint32_t named_variable(const struct trace *t, const char *name);
uint32_t named_short(const struct trace *t, const char *name);

/* The values are those of the last writes of the sequence, else of the first read of the
 * trace before any write. False and `reason`, also when a value is not in the trace. */
bool check_reach(const struct trace *t, const uint32_t *sequence, size_t length,
                 uint32_t target, const char *condition, GString *reason);

#endif
