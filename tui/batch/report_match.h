/*
 * report_match.h - which findings of two reports are the same one, though lines have moved in
 * between.  Knows JSON findings only, no traces.
 *
 * Findings with the same kind and the same places are one group: what a user would call one
 * finding.  A place is a function and the line in it, counted from the first that the trace
 * shows (places.h), or FILE:LINE where no function is known.  Groups of the two reports are the
 * same
 *   1. when kind and places agree, and a variable: "unchanged";
 *   2. or else when kind, functions and a variable agree (without functions: the files, and
 *      lines not further apart than MATCH_LINES), the nearest first: "updated";
 *   3. or else when kind and places agree, with other variables: "unchanged".
 * Methods, units and sets belong to the kind here.
 */
#ifndef HEDDLE_REPORT_MATCH_H
#define HEDDLE_REPORT_MATCH_H

#include "tui/batch/report_file.h"

enum { MATCH_LINES = 20 };

/* Words of SARIF's baselineState. */
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

struct match_side {              /* by finding of a report */
	enum match_state *state; /* NEW: of this report alone (ABSENT in the old one) */
	uint32_t *other;         /* a finding of the other report that it is, or NONE */
};
struct match {
	struct match_side old, new;
};
/* Findings that are impossible or unknown take no part; their state is of no meaning.  The
 * caller ends it with match_release. */
void match_reports(const struct report_file *old, const struct report_file *new,
                   struct match *match);
void match_release(struct match *match);

/* How far the places of two findings are from each other, in lines, in the better way to lay
 * one's on the other's; NONE when they are not in the same functions (or files), or name no
 * common variable. */
uint32_t match_distance(const json_t *finding, const json_t *other);
/* Where a place is but for its line; equal for places with a distance.  The caller's. */
char *match_area(const json_t *place);

#endif
