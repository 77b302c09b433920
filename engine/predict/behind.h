/*
 * behind.h - which racy reads the proofs of impossibility rest on.
 */
#ifndef HEDDLE_BEHIND_H
#define HEDDLE_BEHIND_H

#include "engine/finding.h"

/* Of a whole report of data races: `behind` of what is impossible, by the report's own races.
 */
void report_look_behind(struct report *report);
/* The reads of a finding's proof that may be racy (struct racy_read, owned by the caller):
 * those that see a write of another thread, one of the two not being atomic. */
GArray *finding_reads(const struct trace *trace, const struct finding *finding);
/* Keeps one of them in `behind`. */
void finding_add_behind(struct finding *finding, struct racy_read read);
/* "only while flag (itself racing) is read as 1, by T1 at a.c:7: repair that first, or look
 * behind it"; nothing where `behind` is NULL. */
void finding_append_behind(const struct trace *trace, const struct finding *finding,
                           GString *out);

#endif
