/*
 * parting.h - where two runs of one program part: the first event of a thread that is another
 * one, or has another value, than in the other run.
 *
 * Each thread's events are compared in its own order, so that another schedule alone is no
 * difference. Until there every thread has done and seen the same in both runs: the order
 * causes the difference, and later differences may follow from it.
 */
#ifndef HEDDLE_PARTING_H
#define HEDDLE_PARTING_H

#include "engine/trace/trace.h"

struct parting {
	uint32_t events[2]; /* in `a` and in `b`; NONE: the thread has no more there */
	char *thread;       /* owned: its name; NULL: no thread differs */
};
/* Finds the difference that comes first in `a`; false: each thread does and sees the same.
 * Addresses are not compared, nor the index of a heap block. `complete`: false where a run
 * was cut off, whose missing events are then no difference. `one_plan`: both followed one plan
 * until the threads take turns in another order: what differs before that, such as the
 * process's number, is not looked at, as no order causes it. Release with parting_release. */
bool parting_find(const struct trace *a, const struct trace *b, const bool complete[2],
                  bool one_plan, struct parting *parting);
void parting_release(struct parting *parting);
/* Append "T2 reads acct.balance as 100 at report bank.c:33", or "T2 has ended", of side 0 or 1.
 */
void parting_append(const struct trace *t, const struct parting *parting, int side,
                    GString *out);

#endif
