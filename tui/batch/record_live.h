/*
 * record_live.h - `heddle record --live`, `heddle check`: the races and uses after free of the
 * recording so far, by happens-before and EDC, and the order violations of its objects by EDC,
 * on standard error while the program runs.
 */
#ifndef HEDDLE_RECORD_LIVE_H
#define HEDDLE_RECORD_LIVE_H

#include "engine/finding.h"
#include "engine/record/session.h"

struct record_live;
struct suppressions;

/* `suppressions`: text of --suppressions, or NULL; `also`: more of them, or NULL; `specs`:
 * files (char *) beside the shipped ones; borrowed. */
struct record_live *record_live_new(const char *suppressions, const struct suppressions *also,
                                    const GPtrArray *specs);
/* Disables EDC: the recording omits accesses that the comparison of critical sections needs.
 * `variables`: it has not every pair of places, but each variable that races. `compared`: the
 * program compares its accesses itself, and records those that EDC needs. */
void record_live_filtered(struct record_live *live, bool variables, bool compared);
void record_live_no_edc(struct record_live *live);
/* The watch for session_options, for one recording after another; no finding is printed
 * twice. `heading`: a line before the recording's first finding, and each finding is one line
 * under it; NULL: each finding whole, as `races` prints it. Borrowed. */
struct running_watch record_live_watch(struct record_live *live, const char *heading);
/* Findings are kept from now on for record_live_report. `traced`: there will be a trace, of
 * which they name events. */
void record_live_keep(struct record_live *live, bool traced);
/* Findings are kept alone, not printed: after record_live_keep. */
void record_live_silent(struct record_live *live);
/* The number of findings so far. */
guint record_live_count(const struct record_live *live);
/* Before record_live_end: the findings as a JSON report of happens-before (docs/reports.md), a
 * text that the caller owns. `name`, `events`: of the trace, or of the program; `again` as
 * there; `note`: a sentence more, or NULL. */
char *record_live_report(const struct record_live *live, const char *name, uint64_t events,
                         const char *again, const char *note);
/* The finding is known from elsewhere, and is not printed. Call between two recordings. */
void record_live_known(struct record_live *live, const struct trace *t,
                       const struct finding *f);
/* The program has ended, and its trace is written: prints the number of findings. `again`: no
 * trace was kept of `name`, and these options make the same run once more; or NULL. Returns
 * that number. */
guint record_live_end(struct record_live *live, const char *name, const char *again);
void record_live_free(struct record_live *live); /* NULL is allowed */

#endif
