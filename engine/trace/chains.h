/*
 * chains.h - a view of a trace in which threads that live one after the other share a place, so
 * that data kept by thread grows with the number of simultaneous threads only.
 *
 * Thread B may take A's place when B was forked by the thread that joined A (or that joined the
 * thread that did, and so on): by must-order all events of A then precede all of B in every
 * correct reordering. In the view both are one thread, with A's events before B's: the same
 * correct reorderings, candidates and clocks, but narrower. Event ids are the trace's.
 */
#ifndef HEDDLE_CHAINS_H
#define HEDDLE_CHAINS_H

#include "engine/trace/trace.h"

struct progress;

/* The view (owned by the caller, trace_close; `t` must outlive it), or NULL when it saves
 * little: fewer than `least` threads, or more than half as many places as threads (`least` 2:
 * as many). Its `recorded` is t. *cancelled may be NULL. */
struct trace *trace_by_chains(struct trace *t, uint32_t least, const struct progress *progress,
                              bool *cancelled);
/* Number of threads from which chains pay. */
enum { CHAINS_LEAST = 256 };

#endif
