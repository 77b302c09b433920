/*
 * chains.h - a reading of a trace in which threads that live one after the other share one
 * place, so that what analyses keep by thread grows with the threads that are alive at once
 * and not with all that there ever were.
 *
 * Thread B may have the place of A when B was forked by the thread that had joined A (or
 * had joined the thread that had, and so on): all events of A are then before all of B by the
 * must-order, in every correct reordering.  In the reading both are one thread, whose program
 * order is A's and then B's: the same correct reorderings, the same conflicting pairs that
 * something may turn round, the same clocks but narrower.  Event ids are the trace's.
 */
#ifndef HEDDLE_CHAINS_H
#define HEDDLE_CHAINS_H

#include "engine/trace/trace.h"

struct progress;

/*
 * The reading (owned by the caller, trace_close; `t` must outlive it), or NULL where it would
 * save little: fewer than `least` threads, or more than half as many places as threads (with
 * `least` 2, as many).  Its `recorded` is t.  *cancelled (may be NULL) says whether it was.
 */
struct trace *trace_by_chains(struct trace *t, uint32_t least, const struct progress *progress,
                              bool *cancelled);
/* Threads from which on a reading by chains pays. */
enum { CHAINS_LEAST = 256 };

#endif
