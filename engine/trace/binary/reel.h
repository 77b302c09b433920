/*
 * reel.h - the events of a binary trace, decoded from the blocks of its file (tape.h): all at
 * once by all processors; or, as long as the trace is open, each block when it is first looked
 * at, by whichever thread does. Blocks stay, for the explorer, or the oldest ones give their
 * memory to others, for analyses that go over the events in order: these need a few megabytes
 * whatever the length of the trace, and a block that is looked at again is decoded again. The
 * array of events is the same to a reader in all cases.
 */
#ifndef HEDDLE_REEL_H
#define HEDDLE_REEL_H

#include "engine/trace/binary/tape.h"

#include <signal.h>

/* The sections that events come from: borrowed, until the trace is closed. */
struct reel_source {
	const uint8_t *bytes;
	const struct tape_block *blocks;
	uint64_t length, blocks_count;
	struct tape_places places;
	const struct context *contexts;
	uint64_t contexts_count;
	bool stacks;  /* events have call stacks */
	bool vouched; /* the blocks were checked before */
	bool file;    /* the bytes are mapped from a file, as it is */
};

/* How traces are opened from now on. Initially REEL_WHOLE. */
enum reel_way {
	REEL_WHOLE,
	REEL_BY_NEED,       /* the explorer: its first screen needs a few blocks */
	REEL_BY_NEED_ALONE, /* without helper threads: a block is decoded only when it is read,
	                       for tests */
	REEL_IN_PASSES      /* few blocks at a time; a short trace as a whole */
};
/* `room`: the number of blocks that stay with REEL_IN_PASSES, 4 or more; 0: the usual one,
 * which the short traces of tests do not reach. */
void reel_set_way(enum reel_way way, uint32_t room);
/* Replaces sigaction for SIGSEGV: the action for faults outside of blocks. */
void reel_set_fault_action(const struct sigaction *action);
/* Private to engine/trace: sets events and stacks, for t->events_count events, and the trace
 * owns them. False when cancelled (*bad NONE), or when a block does not fit its sum or its
 * number of events (*bad: which). The caller checks blocks that are decoded later and were
 * not checked before in order: reel_damaged after each, and reel_checked in the end. */
struct reel;
bool reel_read(struct trace *t, const struct reel_source *source,
               const struct progress *progress, uint32_t *bad);
/* Was a block damaged so far? (It then reads as zeros.) `reel` may be NULL. */
bool reel_damaged(const struct reel *reel, uint32_t *bad);
void reel_checked(struct reel *reel);
void reel_free(struct reel *reel); /* before the memory that `source` pointed to; may be NULL */

/* Is an event of an opened trace in memory? Otherwise reading it decodes its block. */
bool trace_at_hand(const struct trace *t, uint32_t event);
/* Do blocks of an opened trace stay once they have been decoded? Else going over the events
 * again decodes them again. */
bool trace_stays(const struct trace *t);
/* The given events of an opened trace will be looked at again and again, in any order: they
 * stay. Ascending. (A page of memory each, and for most thousands of them.) */
void trace_hold_events(const struct trace *t, const uint32_t *events, uint64_t count);
/* From now on all decoded blocks of an opened trace stay, for readers in any order. */
void trace_keep_events(const struct trace *t);
/* The same for a few passes, of at most EVENTS_KEPT events: true when they stay. Until
 * trace_leave_events, which gives back the memory of all blocks but those of `stay` events:
 * these are at hand until others are looked at, and need not be decoded again if all events
 * are kept again before. */
enum { EVENTS_KEPT = 1 << 27 }; /* two GB */
bool trace_keep_events_shortly(const struct trace *t);
void trace_leave_events(const struct trace *t, uint64_t stay);

#endif
