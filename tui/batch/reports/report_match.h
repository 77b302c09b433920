/*
 * report_match.h - matches the findings of two reports when lines have moved in between. Uses
 * JSON only, no traces.
 *
 * Findings with the same kind and places are one group. A place is a function and the line in
 * it, counted from its first line in the trace (places.h), or FILE:LINE without a function.
 * Groups of two reports match
 *   1. when kind, places and a variable agree: "unchanged";
 *   2. else when kind, functions and a variable agree (without functions: files, and lines
 *      at most MATCH_LINES apart), nearest first: "updated", or "unchanged" where the lines
 *      are the same, which one of the reports does not count in the function;
 *   3. else when kind and places agree, with other variables: "unchanged".
 * Methods, units and sets belong to the kind.
 */
#ifndef HEDDLE_REPORT_MATCH_H
#define HEDDLE_REPORT_MATCH_H

#include "tui/batch/reports/report_file.h"

enum { MATCH_LINES = 20 };

/* SARIF's words for baselineState. */
#define MATCH_STATES(STATE) \
	STATE(NEW, "new") \
	STATE(UNCHANGED, "unchanged") \
	STATE(UPDATED, "updated") \
	STATE(ABSENT, "absent")
enum match_state {
#define STATE(name, word) MATCH_##name,
	MATCH_STATES(STATE)
#undef STATE
	        MATCH_STATE_COUNT
};
const char *match_state_word(enum match_state state);

/* By finding of a report. */
struct match_side {
	enum match_state *state; /* NEW: only in this report (ABSENT in the old one) */
	uint32_t *other;         /* the matching finding of the other report, or NONE */
};
struct match {
	struct match_side old, new;
};
/* Match two reports; freed by match_release. Impossible and unknown findings are ignored; their
 * state is meaningless. */
void match_reports(const struct report_file *old, const struct report_file *new,
                   struct match *match);
void match_release(struct match *match);

/* Distance of two findings' places in lines, for the better assignment; NONE when they are not
 * in the same functions (or files) or have no common variable. */
uint32_t match_distance(const json_t *finding, const json_t *other);
/* A place without its line, equal for places with a distance. Owned by the caller. */
char *match_area(const json_t *place);

#endif
