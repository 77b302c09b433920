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
 * `variables`: it has not every pair of places, but each variable that races. */
void record_live_filtered(struct record_live *live, bool variables);
/* The watch for session_options, for one recording after another; no finding is printed
 * twice. `heading`: a line before the recording's first finding, and each finding is one line
 * under it; NULL: each finding whole, as `races` prints it. Borrowed. */
struct running_watch record_live_watch(struct record_live *live, const char *heading);
/* The finding is known from elsewhere, and is not printed. Call between two recordings. */
void record_live_known(struct record_live *live, const struct trace *t,
                       const struct finding *f);
/* The program has ended, and its trace is written: prints the number of findings. `again`: no
 * trace was kept of `name`, and these options make the same run once more; or NULL. Returns
 * that number. */
guint record_live_end(struct record_live *live, const char *name, const char *again);
void record_live_free(struct record_live *live); /* NULL is allowed */

#endif
