/*
 * tool_reports.h - reads reports of ThreadSanitizer, Helgrind and DRD, and finds their pairs of
 * source lines in a trace.
 */
#ifndef HEDDLE_TOOL_REPORTS_H
#define HEDDLE_TOOL_REPORTS_H

#include "engine/trace/trace.h"

struct reported_frame {
	char *function, *file; /* owned; file may be NULL */
	uint32_t line;
};
struct reported_race {
	GArray *sides[2]; /* struct reported_frame, innermost first; the second may be empty */
};

/* Read a report (text of ThreadSanitizer, Helgrind or DRD, or Valgrind's XML). GArray of struct
 * reported_race, for tool_report_free; NULL and `error` when unreadable or without a race. */
GArray *tool_report_read(const char *path, struct error *error);
void tool_report_free(GArray *races);

/* A reported race in a trace. */
struct reported_pair {
	char *where;        /* owned: "deposit bank.c:31 ⇄ report bank.c:58", as reported */
	uint32_t pair[2];   /* conflicting accesses there; NONE: none in the trace */
	uint8_t *places[2]; /* owned, by location: is it that side's? The second is NULL when
	                     * unknown */
};
/* Locate each race of a report at its places or up to three lines from them. GArray of struct
 * reported_pair, for tool_pairs_free. At most two passes over the trace. */
GArray *tool_report_locate(const struct trace *t, const GArray *races);
void tool_pairs_free(GArray *pairs);
/* Is the race between accesses at these two locations? */
bool reported_at(const struct reported_pair *race, const uint32_t locations[2]);

#endif
