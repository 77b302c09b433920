/*
 * past.h - the causal past of an event: the events that every correct reordering with it holds
 * before it, by program order, must-order and observation, transitively.
 *
 * Independent of the arrangement of critical sections: "e1 is in the causal past of e2" proves
 * that they do not race, and every search for a witness begins with the causal past of the pair
 * (M2's cone without its releases). Independent of locks, solvers and verdicts.
 */
#ifndef HEDDLE_PAST_H
#define HEDDLE_PAST_H

#include "engine/finding.h"
#include "engine/order/chain.h"
#include "engine/trace/index.h"

struct past_options {
	bool values;      /* --values: a read of a known value may read from another write */
	bool pairing;     /* semaphores, wakers and barriers keep the trace's pairing */
	bool invocations; /* rule 5's fallback: invocations on an object keep their order */
	bool tries;       /* a failed try needs its observations (trace/tries.h) */
	/* Bit set by event: reads whose observation is not required (covered by rule 5).
	 * Borrowed, or NULL. */
	const uint64_t *exempt;
};
#define PAST_DEFAULTS \
	{ \
		.pairing = true, .invocations = true \
	}

/* One vector clock for each event with an edge from another thread: time and memory O(such
 * events * threads), with many threads O(components that change) (wide_clocks.h). A causally
 * closed set is a cut: a number of events for each thread. */
struct past;
/* Builds the required parts of the index. NULL when cancelled. */
struct past *past_new(struct trace *t, const struct past_options *options,
                      const struct progress *progress);
void past_free(struct past *p);
/* Are these pasts also those of the options? */
bool past_serves(const struct past *p, const struct past_options *options);

static inline bool past_exempt(const uint64_t *exempt, uint32_t event)
{
	return exempt != NULL && (exempt[event / 64] >> (event % 64) & 1);
}
/* Is this must-order edge used under the options? (Conditional ones never are.) */
bool past_edge_counts(const struct past *p, const struct must_edge *edge);
/* cut := cut joined with the causal past of `event`, the event itself in it. */
void past_join(const struct past *p, uint32_t event, uint32_t *cut);
/* past_join for a closed cut; costs the difference alone. */
void past_extend(const struct past *p, uint32_t event, uint32_t *cut);
/* past_join without the event and its own observation: the requirements for the event to be
 * next in its thread. */
void past_join_before(const struct past *p, uint32_t event, uint32_t *cut);
/* Is `e` in the causal past of `f`? (True for e == f.) */
bool past_has(const struct past *p, uint32_t f, uint32_t e);
/* Is `e` required before `f` can be next? */
bool past_has_before(const struct past *p, uint32_t f, uint32_t e);
/* The chain of events from `e` to `f`, with e in the causal past of f; with `before`, up to
 * the requirements for `f` to be next. *paired (may be NULL): a step depends on a pairing. */
void past_path(const struct past *p, uint32_t e, uint32_t f, bool before, struct path *path,
               bool *paired);
/* Does the step depend on a pairing? */
bool past_step_pairs(const struct past *p, const struct step *step);
/* The relation for chain.h; chains are threads. */
struct chain_base past_order(const struct past *p);
/* The value read (written) by an access of one whole variable; 0: unknown, or several
 * variables: --values then requires the recorded writes. */
uint32_t past_value_read(const struct trace *t, uint32_t event);
uint32_t past_value_written(const struct trace *t, uint32_t event);
/* Does the trace have pairings (semaphores, wakers, barriers, messages that vary)? */
bool past_has_pairings(const struct trace *t);
/* What may end a wait otherwise, if the operations come in another order. */
enum past_wait {
	/* a wait for a condition, a semaphore or a barrier: by another post, signal or arrival
	 */
	PAST_PAIRINGS = 1,
	/* a once-function that several threads call: another of them runs it */
	PAST_ONCE = 2,
	/* an annotation's message that one thread sends after another has received it: it is
	 * received before */
	PAST_SENT_AGAIN = 4,
	/* an annotation's message: it is received before anything is sent */
	PAST_SENT_LATER = 8,
	/* a message of a channel with several senders or receivers: other data is received */
	PAST_CHANNELS = 16,
	/* of what searches the reorderings that keep all of these */
	PAST_REORDERED =
	        PAST_PAIRINGS | PAST_ONCE | PAST_SENT_AGAIN | PAST_SENT_LATER | PAST_CHANNELS,
};
/* Could one of these (bits of enum past_wait) end a wait of the trace otherwise? Without that
 * they are those of every reordering. */
bool past_waits_vary(const struct trace *t, unsigned which);

#endif
