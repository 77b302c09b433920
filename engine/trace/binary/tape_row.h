/*
 * tape_row.h - the state that predicts the events of a block (tape.c), and the encoding of
 * accesses in a row, for loops that make them: the events need not be in memory. Everything
 * else goes through tape_put and tape_put_event.
 */
#ifndef HEDDLE_TAPE_ROW_H
#define HEDDLE_TAPE_ROW_H

#include "engine/base/hash.h"
#include "engine/trace/builder/builder.h"
#include "engine/trace/binary/tape.h"

#include <string.h>

enum kind_code { KIND_FORESEEN = 0, KIND_GIVEN = 1, OTHER_THREAD = 2 /* a bit */ };
/* The number of a given kind, below the dictionary's (plus KINDS_FROM). */
enum { KIND_CONTEXT, KIND_NEW, KINDS_FROM };

enum target_code {
	TARGET_SAME,
	TARGET_STRIDE,
	TARGET_BYTE,
	TARGET_TWO,
	TARGET_FOUR,
	TARGET_THREAD,
	TARGET_CODES = 8 /* the last two are not used */
};
enum value_code {
	VALUE_REMEMBERED,
	VALUE_LAST,
	VALUE_BEFORE,
	VALUE_STEP,
	VALUE_BYTE,
	VALUE_TWO,
	VALUE_FOUR,
	VALUE_FRESH,
	VALUE_CODES
};

enum { TARGET_SHIFT = 2, VALUE_SHIFT = 5, MEMORY_BITS = 13, SLOTS = 1 << 14 };

/* (The fields that each event changes are not adjacent: compilers would collect adjacent ones
 * in a vector to store them, which takes longer.) */
struct kind {
	uint64_t head;     /* the event's second word, with thread 0 */
	uint64_t access;   /* the second word of an access; else NO_ACCESS */
	struct kind *next; /* kind that followed it; at first the one that is none */
	uint32_t target, stride;
	uint32_t value, context, before; /* before: the value before the last one */
};
#define NO_ACCESS UINT64_MAX

struct track { /* a thread in the block */
	struct kind *kind;
	uint32_t thread, target, last, before, context;
};

struct tape {
	struct kind *kinds;   /* TAPE_BLOCK + 1; 0 is none */
	struct track *tracks; /* TAPE_BLOCK */
	uint32_t kind_count, track_count;
	uint32_t fresh;                    /* interned values up to here have occurred */
	uint32_t memory[1 << MEMORY_BITS]; /* by hash of a target: the value last seen there */
	/* Encoder: index of a head's kind, of a thread's track. An entry may be stale:
	 * compare the kind or track it refers to. */
	uint32_t kind_slots[SLOTS], track_slots[SLOTS];
	uint32_t track;     /* encoder: track of the previous event */
	struct kind nobody; /* encoder: the last one of a row of another thread */
};

static inline uint32_t *tape_remembered(struct tape *p, uint32_t target)
{
	return &p->memory[target * UINT32_C(0x9e3779b1) >> (32 - MEMORY_BITS)];
}

/* As far from the last value of the kind as that was from the one before. */
static inline uint32_t tape_next_value(const struct kind *k)
{
	return 2 * k->value - k->before;
}

/* Updates predictions by an event's value, in encoder and decoder alike. Nearly all values
 * take the same branches: not 0, and small integers or known. `small`: it is such an integer.
 */
static inline __attribute__((always_inline)) void
tape_learn_value(struct tape *p, struct track *t, struct kind *k, uint32_t value, bool small)
{
	k->before = k->value;
	k->value = value;
	if (G_LIKELY(small || value)) {
		t->before = t->last;
		t->last = value;
	}
	/* as signed numbers, small integers (VALUE_INTEGER) are below */
	if (!small && G_UNLIKELY((int32_t)value >= (int32_t)p->fresh))
		p->fresh = value + 1;
}

static inline uint32_t tape_zigzag(uint32_t distance)
{
	return distance << 1 ^ (distance >> 31 ? UINT32_MAX : 0);
}

static inline uint8_t *tape_put_number(uint8_t *at, uint32_t number)
{
	for (; number >= 0x80; number >>= 7)
		*at++ = (uint8_t)(number | 0x80);
	*at++ = (uint8_t)number;
	return at;
}

static inline uint8_t *tape_put_bytes(uint8_t *at, uint32_t bytes, unsigned count)
{
	memcpy(at, &bytes, sizeof bytes); /* the byte order is that of the file */
	return at + count;
}

/* A distance; adds its length, as of codes in which one, two and four bytes are `unit` apart.
 */
static inline __attribute__((always_inline)) uint8_t *
tape_put_distance(uint8_t *at, uint32_t distance, unsigned unit, unsigned *codes)
{
	uint32_t coded = tape_zigzag(distance), longer = (coded > 0xff) + (coded > 0xffff);
	*codes += unit * longer; /* (no branch: the processor could not predict it) */
	return tape_put_bytes(at, coded, 1 << longer);
}

/* Encodes operand and value of an event of that kind and updates the predictions; adds to
 * *codes. `small`: the value is one with VALUE_INTEGER. */
static inline __attribute__((always_inline)) uint8_t *
tape_put_operands(struct tape *p, struct track *t, struct kind *k, uint32_t target,
                  uint32_t value, bool small, uint8_t *at, unsigned *codes)
{
	enum { TARGET = 1 << TARGET_SHIFT, VALUE = 1 << VALUE_SHIFT };
	uint32_t *memory = tape_remembered(p, target), moved = target - k->target;
	if (moved == k->stride && moved) {
		*codes += TARGET_STRIDE * TARGET;
		k->target = target;
	} else if (moved) {
		if (target == t->target) {
			*codes += TARGET_THREAD * TARGET;
		} else {
			*codes += TARGET_BYTE * TARGET;
			at = tape_put_distance(at, moved, TARGET, codes);
		}
		k->stride = moved;
		k->target = target;
	}
	t->target = target;
	if (value != *memory) {
		*memory = value;
		if (value == tape_next_value(k)) {
			*codes += VALUE_STEP * VALUE;
		} else if (value == t->last) {
			*codes += VALUE_LAST * VALUE;
		} else if (value == t->before) {
			*codes += VALUE_BEFORE * VALUE;
		} else if (!small && value == p->fresh) {
			*codes += VALUE_FRESH * VALUE;
		} else {
			*codes += VALUE_BYTE * VALUE;
			at = tape_put_distance(at, value - k->value, VALUE, codes);
		}
	}
	tape_learn_value(p, t, k, value, small);
	return at;
}

static inline uint32_t tape_kind_slot(uint64_t head)
{
	return (uint32_t)(head * HASH_FACTOR >> 32) % SLOTS;
}

/* The kind of an access, if the block has it; or NULL. */
static inline struct kind *tape_known_access(struct tape *p, uint64_t head)
{
	uint32_t slot = p->kind_slots[tape_kind_slot(head)];
	return slot < p->kind_count && p->kinds[slot].access == head ? &p->kinds[slot] : NULL;
}

/* -- a row --------------------------------------------------------------------------------- */

/* Accesses of a thread in the same call, on their way to a tape. What each event changes is
 * here, for a loop to have it in registers; between row_end and row_begin it is in the tape. */
struct tape_row {
	struct tape *tape;
	struct track track;
	struct kind *last;
	uint8_t *at;
};

static inline void row_begin(struct tape_row *r, struct tape *tape, uint8_t *at,
                             uint32_t thread)
{
	bool same = tape->track_count > 0 && tape->tracks[tape->track].thread == thread;
	r->tape = tape;
	r->at = at;
	r->track = tape->tracks[tape->track];
	r->last = same ? r->track.kind : &tape->nobody;
}

static inline void row_end(const struct tape_row *r)
{
	if (r->last == &r->tape->nobody)
		return;
	struct track *t = &r->tape->tracks[r->tape->track];
	*t = r->track;
	t->kind = r->last;
}

/* `head`: that of the event, with thread 0. `small`: the value is one with VALUE_INTEGER.
 * False, and nothing done: it is for tape_put_event, as the last event is another thread's, or
 * the block has no access of this kind. */
static inline __attribute__((always_inline)) bool
row_put(struct tape_row *r, uint64_t head, uint32_t target, uint32_t value, bool small)
{
	struct kind *k = r->last->next;
	uint8_t *first = r->at, *at = first + 1;
	unsigned codes = KIND_FORESEEN;
	if (G_UNLIKELY(k->access != head)) {
		if (r->last == &r->tape->nobody ||
		    (k = tape_known_access(r->tape, head)) == NULL)
			return false;
		r->last->next = k;
		at = tape_put_number(at, KINDS_FROM + (uint32_t)(k - r->tape->kinds));
		codes = KIND_GIVEN;
	}
	r->last = k;
	r->at = tape_put_operands(r->tape, &r->track, k, target, value, small, at, &codes);
	*first = (uint8_t)codes;
	return true;
}

#endif
