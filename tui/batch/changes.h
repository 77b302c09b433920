/*
 * changes.h - one report against another: what is new, what a fix left, what is gone and what
 * became of it; for `diff` and --baseline.
 */
#ifndef HEDDLE_CHANGES_H
#define HEDDLE_CHANGES_H

#include "tui/batch/became.h"

struct changes;

struct changes_sides { /* all borrowed */
	const struct report_file *old, *new;
	struct trace *old_trace, *new_trace; /* what they were made from, or NULL */
	const struct race_options *race;     /* and how, or NULL */
};
/* Borrows the two reports; changes_free.  NULL and `error` when cancelled. */
struct changes *changes_new(const struct changes_sides *sides, const struct progress *progress,
                            struct error *error);
void changes_free(struct changes *c);

/* How many findings have the state: of the old report for ABSENT, else of the new one. */
uint32_t changes_count(const struct changes *c, enum match_state state);
enum match_state changes_state(const struct changes *c, uint32_t new_finding);
/* {"report": ..., "new": 1, "unchanged": 2, "updated": 0, "absent": 1}; the caller's. */
json_t *changes_counts(const struct changes *c);
/* "baselineState" and what belongs to it, into a finding of the new report. */
void changes_add_state(const struct changes *c, uint32_t new_finding, json_t *into);
/* `, "absent": [...]`: the findings that are gone. */
void changes_print_absent(const struct changes *c, FILE *out);
void changes_absent_sarif(const struct changes *c, struct sarif *s);
/* The findings of one state as text; for NEW and ABSENT with what the other trace says. */
void changes_print_text(const struct changes *c, enum match_state state, FILE *out);
/* "1 new, 2 known (1 at other lines), 1 gone". */
void changes_print_counts(const struct changes *c, FILE *out);

#endif
