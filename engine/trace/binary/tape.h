/*
 * tape.h - events in blocks of a few bytes an event, as binary traces have them
 * (docs/trace-binary.md). A block is encoded and decoded alone; private to engine/trace.
 */
#ifndef HEDDLE_TAPE_H
#define HEDDLE_TAPE_H

#include "engine/trace/trace.h"

enum {
	TAPE_BLOCK = 1 << 15, /* events of every block but the last */
	TAPE_EVENT = 48,      /* bytes: bound on an event's; a reader may look as far ahead */
};

/* An entry of a tape's table of blocks. */
struct tape_block {
	uint64_t offset; /* of its first byte on the tape */
	uint64_t sum;    /* sum_bytes of its bytes */
	uint32_t bytes, count;
};
_Static_assert(sizeof(struct tape_block) == 24, "written as it is");

/* Predictions of one block, for encoding or decoding; reused for the next block. */
struct tape;
struct tape *tape_new(void);
void tape_free(struct tape *tape);

/* Call stacks of a block's events and their contexts; `of` NULL: the trace has none. */
struct tape_stacks {
	uint32_t *of; /* by event; encoding only reads it */
	const struct context *contexts;
	uint64_t count; /* of contexts */
};

/* Encoding: a block begins, then its events come in any number of batches. Both return the
 * end of the bytes they have written. The buffer needs TAPE_EVENT bytes for each event, and
 * TAPE_EVENT more. */
uint8_t *tape_begin(struct tape *tape, uint8_t *bytes);
uint8_t *tape_put(struct tape *tape, const struct event *events, uint32_t count,
                  const struct tape_stacks *stacks, uint8_t *bytes);
/* One event; `context`: its call stack, NULL: the trace has none (stacks->of is not looked at).
 * Accesses may also come as a row, of which no event is in memory: tape_row.h. */
uint8_t *tape_put_event(struct tape *tape, const struct event *event, const uint32_t *context,
                        const struct tape_stacks *stacks, uint8_t *bytes);
/* An ENTER or a LEAVE by the thread of the event before it, whose call stack is known: that of
 * the last event, or the one it left. `context`: after it. */
uint8_t *tape_put_call(struct tape *tape, const struct event *event, uint32_t context,
                       uint8_t *bytes);

/* Places, which accesses of a recording name instead of variables: by place its first variable,
 * or with PLACE_WIDE its range of trace.wides. Without places accesses have targets of their
 * own.
 */
#define PLACE_WIDE UINT32_C(0x80000000)
struct tape_places {
	const uint32_t *at;
	uint64_t count;
};

/* False when the bytes are no block of that number of events. Reads at most TAPE_EVENT bytes
 * beyond `length`. References of events are not checked. */
bool tape_decode(struct tape *tape, const uint8_t *bytes, size_t length,
                 const struct tape_places *places, uint32_t count, struct event *events,
                 const struct tape_stacks *stacks);

#endif
