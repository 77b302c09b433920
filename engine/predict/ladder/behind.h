/*
 * behind.h - the racy reads that proofs of impossibility depend on.
 */
#ifndef HEDDLE_BEHIND_H
#define HEDDLE_BEHIND_H

#include "engine/finding.h"
#include "engine/predict/predict.h"

/* Set `behind` of impossible findings, from the races of the report. */
void report_look_behind(struct report *report);
/* A pass for what happens-before alone finds, for the note below: made ahead of it in parts,
 * each up to the event `end`, while another pass has these events in memory; or as a whole on
 * another thread, where there is a processor for it, from behind_begin to behind_end. Needs
 * INDEX_MUST; the trace and the options are borrowed. False when cancelled. */
struct behind;
struct behind *behind_new(struct trace *trace, const struct race_options *options);
bool behind_pass(struct behind *behind, uint64_t end, const struct progress *progress);
void behind_begin(struct behind *behind);
void behind_end(struct behind *behind); /* waits for it, if it was begun */
void behind_free(struct behind *behind);
/* Adds a note on, and as `behind`, the pairs of places that happens-before leaves unordered and
 * that a complete report of races excludes, as racy reads see what they saw. Costs a pass over
 * the trace where there are races, what is left of it, else nothing. False and `error` when
 * cancelled. */
bool report_note_behind(struct trace *trace, const struct race_options *options,
                        struct behind *behind, struct report *report,
                        const struct progress *progress, struct error *error);
/* Reads of a finding's proof that may be racy (struct racy_read, owned by the caller): those
 * from another thread's write, not both atomic. */
GArray *finding_reads(const struct trace *trace, const struct finding *finding);
/* Add one to `behind`. */
void finding_add_behind(struct finding *finding, struct racy_read read);
/* "only while flag (itself racing) is read as 1, by T1 at a.c:7: repair that first, or look
 * behind it"; nothing when `behind` is NULL. */
void finding_append_behind(const struct trace *trace, const struct finding *finding,
                           GString *out);

#endif
