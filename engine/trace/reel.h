/*
 * reel.h - the events of a binary trace, decoded from the blocks of its file (tape.h): all at
 * once by all processors; or, as long as the trace is open, each block when it is first looked
 * at, by whichever thread does, and the others in the background.
 */
#ifndef HEDDLE_REEL_H
#define HEDDLE_REEL_H

#include "engine/trace/tape.h"

#include <signal.h>

/* The sections that events come from: borrowed, until the trace is closed. */
struct reel_source {
	const uint8_t *bytes;
	const struct tape_block *blocks;
	uint64_t length, blocks_count;
	struct tape_places places;
	const struct context *contexts;
	uint64_t contexts_count;
	bool stacks;  /* there are call stacks */
	bool vouched; /* the blocks were checked before */
};

/* How traces are opened from now on whose blocks were checked before; others are decoded as a
 * whole in any case. REEL_WHOLE in the beginning. */
enum reel_way {
	REEL_WHOLE,
	REEL_BY_NEED,      /* the explorer: its first screen needs a few blocks */
	REEL_BY_NEED_ALONE /* without the background: for tests of what is looked at */
};
void reel_set_way(enum reel_way way);
/* In place of sigaction for SIGSEGV: what is done about faults that are not a block's. */
void reel_set_fault_action(const struct sigaction *action);
/* Private to engine/trace: sets events and stacks, for t->events_count events, and the trace
 * owns them. False when cancelled (*bad NONE), or when a block does not fit its sum or its
 * number of events (*bad: which). */
struct reel;
bool reel_read(struct trace *t, const struct reel_source *source,
               const struct progress *progress, uint32_t *bad);
void reel_free(struct reel *reel); /* before what `source` pointed to; may be NULL */

#endif
