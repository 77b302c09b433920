/*
 * changes.h - comparison of two reports for `diff` and --baseline: findings that are new,
 * unchanged or updated, gone, and the fate of the latter.
 */
#ifndef HEDDLE_CHANGES_H
#define HEDDLE_CHANGES_H

#include "tui/batch/reports/became.h"

struct changes;

/* Borrowed. */
struct changes_sides {
	const struct report_file *old, *new;
	struct trace *old_trace, *new_trace; /* the traces they were made from, or NULL */
	const struct race_options *race;     /* the options they were made with, or NULL */
};
/* Borrows the two reports; changes_free.  NULL and `error` when cancelled. */
struct changes *changes_new(const struct changes_sides *sides, const struct progress *progress,
                            struct error *error);
void changes_free(struct changes *c);

/* Number of findings with the state: of the old report for ABSENT, else of the new one. */
uint32_t changes_count(const struct changes *c, enum match_state state);
enum match_state changes_state(const struct changes *c, uint32_t new_finding);
/* {"report": ..., "new": 1, "unchanged": 2, "updated": 0, "absent": 1}; owned by the caller. */
json_t *changes_counts(const struct changes *c);
/* Add "baselineState" and its fields to a finding of the new report. */
void changes_add_state(const struct changes *c, uint32_t new_finding, json_t *into);
/* The findings that are gone; owned by the caller. */
json_t *changes_absent(const struct changes *c);
/* For the report of the new findings: {"counts", "findings": [members of each], "absent"};
 * owned by the caller. */
json_t *changes_members(const struct changes *c);
void changes_absent_sarif(const struct changes *c, struct sarif *s);
/* Print the findings of one state as text; NEW and ABSENT with their fate in the other
 * trace. */
void changes_print_text(const struct changes *c, enum match_state state, FILE *out);
/* "1 new, 2 known (1 at other lines), 1 gone". */
void changes_print_counts(const struct changes *c, FILE *out);

#endif
