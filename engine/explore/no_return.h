/*
 * no_return.h - the point of no return of an exploration's errors: the first event of a failing
 * run after which every continuation fails.
 *
 * A continuation of the run's first events passes when some run that passed, or a reordering
 * of it that keeps what each read saw, begins with them: so the runs of all classes answer
 * for all continuations, when the exploration is complete. No event says which thread a
 * signal woke: it follows from the trace's must-order; where that thread's wake is not in the
 * run, the signal may have woken any that waits on. A run that uses a local variable after its
 * function returned gets no point.
 */
#ifndef HEDDLE_NO_RETURN_H
#define HEDDLE_NO_RETURN_H

#include "engine/explore/explore.h"

/* Traces of runs: one for each class that passed, the first of each error; no_return_free. */
struct no_return;
/* `finals`: char *, names of variables whose last values decide whether a run passes; or
 * NULL. Borrowed. */
struct no_return *no_return_new(const GPtrArray *finals);
void no_return_free(struct no_return *n); /* may be NULL */
/* The largest number of runs that it keeps. */
enum { NO_RETURN_RUNS = 2000 };
/* Is the trace of this run of the report needed? */
bool no_return_needs(const struct explore_report *report, uint32_t run);
/* Notes that the trace of a needed run is missing. */
void no_return_leave_out(struct no_return *n);
/* Takes ownership of the trace of a run. */
void no_return_keep(struct no_return *n, uint32_t run, struct trace *trace);
/* Drops all traces: the exploration begins again. */
void no_return_clear(struct no_return *n);
/* Add the points to the report. */
void no_return_find(struct no_return *n, struct explore_report *report,
                    const struct progress *progress);

#endif
