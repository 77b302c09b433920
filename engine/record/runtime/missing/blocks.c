/*
 * blocks.c - where heap blocks begin: a bit for each 16 bytes of the address space, in leaves
 * of 16 MB, and in each leaf two summaries above them, so that the last beginning before an
 * address is found in a few steps however far it is.
 *
 * A summary's bit says that there may be beginnings below it; it is set after them, and cleared
 * in controlled mode alone, where hardly any other thread allocates meanwhile.  In free mode
 * the last 16 bytes of each block have a bit, too: its length is then known without its header,
 * which may go away at any time.
 */
#include <malloc.h>
#include <sys/syscall.h>

#include "engine/record/runtime/core/rt.h"

enum { LEVELS = 3, LEAF_SHIFT = 24, MOST_LEAVES = 1 << 6 /* a block may have 1 GB */ };
#define LEAVES (1ull << (47 - LEAF_SHIFT))

struct bits { /* one for 16 bytes each, and one for each word with a bit set below it */
	uint64_t each[1 << 14], lines[1 << 8], top[1 << 2];
};
struct leaf {
	struct bits begins, ends; /* ends: of free mode */
};
static struct leaf **leaves;
static uint64_t first_leaf = LEAVES; /* no leaf lies before it */

bool blocks_init(void)
{
	leaves = rt_pages(LEAVES * sizeof(*leaves));
	return leaves != NULL;
}

static uint64_t *level_of(struct bits *bits, unsigned level)
{
	return level == 0 ? bits->each : level == 1 ? bits->lines : bits->top;
}

static struct leaf *leaf_of(uintptr_t address, bool make)
{
	uint64_t i = address >> LEAF_SHIFT;
	if (!leaves || i >= LEAVES)
		return NULL;
	struct leaf *leaf = __atomic_load_n(&leaves[i], __ATOMIC_ACQUIRE);
	if (leaf || !make)
		return leaf;
	struct leaf *none = NULL, *made = rt_pages(sizeof(*made));
	/* if another thread was faster, its leaf is used */
	if (made && !__atomic_compare_exchange_n(&leaves[i], &none, made, false,
	                                         __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		rt_unpages(made, sizeof(*made));
		return none;
	}
	uint64_t first = __atomic_load_n(&first_leaf, __ATOMIC_RELAXED);
	while (made && i < first &&
	       !__atomic_compare_exchange_n(&first_leaf, &first, i, false, __ATOMIC_RELAXED,
	                                    __ATOMIC_RELAXED))
		;
	return made;
}

static void set_bit(struct bits *bits, unsigned from, uint64_t at)
{
	for (unsigned level = from; level < LEVELS; level++) {
		uint64_t *word = &level_of(bits, level)[at >> 6], bit = 1ull << (at & 63);
		if (!(__atomic_load_n(word, __ATOMIC_SEQ_CST) & bit))
			__atomic_fetch_or(word, bit, __ATOMIC_SEQ_CST);
		at >>= 6;
	}
}

static void clear_bit(struct bits *bits, uint64_t at)
{
	for (unsigned level = 0; level < LEVELS; level++, at >>= 6) {
		uint64_t *word = &level_of(bits, level)[at >> 6];
		uint64_t left =
		        __atomic_and_fetch(word, ~(1ull << (at & 63)), __ATOMIC_SEQ_CST);
		/* a thread without the token may have added a block meanwhile */
		if (level > 0 &&
		    __atomic_load_n(&level_of(bits, level - 1)[at], __ATOMIC_SEQ_CST)) {
			set_bit(bits, level, at);
			return;
		}
		if (left || !rt.controlled)
			return;
	}
}

static uint64_t place_in_leaf(uintptr_t address)
{
	return address >> 4 & ((1ull << (LEAF_SHIFT - 4)) - 1);
}

/* The place of the last 16 bytes of an allocated block. */
static uintptr_t last_place(const void *p)
{
	return (uintptr_t)p + malloc_usable_size((void *)p) - 1;
}

void block_begins(const void *p)
{
	struct leaf *leaf = p && !rt.controlled ? leaf_of(last_place(p), true) : NULL;
	if (leaf)
		set_bit(&leaf->ends, 0, place_in_leaf(last_place(p)));
	leaf = p ? leaf_of((uintptr_t)p, true) : NULL;
	if (leaf)
		set_bit(&leaf->begins, 0, place_in_leaf((uintptr_t)p));
}

void block_ends(const void *p)
{
	struct leaf *leaf = p ? leaf_of((uintptr_t)p, false) : NULL;
	if (!leaf)
		return;
	clear_bit(&leaf->begins, place_in_leaf((uintptr_t)p));
	leaf = rt.controlled ? NULL : leaf_of(last_place(p), false);
	if (leaf)
		clear_bit(&leaf->ends, place_in_leaf(last_place(p)));
}

/* The last set bit up to `at`, or -1. */
static int64_t last_up_to(struct bits *of, uint64_t at)
{
	for (unsigned level = 0;;) {
		uint64_t bits =
		        __atomic_load_n(&level_of(of, level)[at >> 6], __ATOMIC_RELAXED);
		bits &= ~0ull >> (63 - (at & 63));
		if (bits) {
			at = (at & ~63ull) + 63 - __builtin_clzll(bits);
			if (level == 0)
				return (int64_t)at;
			level--;
			at = at << 6 | 63; /* the last bit of the word below */
		} else if (at < 64) {
			return -1;
		} else if (level == LEVELS - 1) {
			at = (at & ~63ull) - 1;
		} else {
			level++;
			at = (at >> 6) - 1;
		}
	}
}

/* The first set bit from `at` on, or -1. */
static int64_t first_from(struct bits *of, uint64_t at)
{
	static const uint64_t size[LEVELS] = { 1 << 20, 1 << 14, 1 << 8 };
	for (unsigned level = 0; at < size[level];) {
		uint64_t bits =
		        __atomic_load_n(&level_of(of, level)[at >> 6], __ATOMIC_RELAXED);
		bits &= ~0ull << (at & 63);
		if (bits) {
			at = (at & ~63ull) + __builtin_ctzll(bits);
			if (level == 0)
				return (int64_t)at;
			level--;
			at <<= 6; /* the first bit of the word below */
		} else if (level == LEVELS - 1) {
			at = (at | 63) + 1;
		} else {
			level++;
			at = (at >> 6) + 1;
		}
	}
	return -1;
}

uintptr_t block_before(uintptr_t address)
{
	uint64_t i = address >> LEAF_SHIFT, at = place_in_leaf(address);
	uint64_t first = __atomic_load_n(&first_leaf, __ATOMIC_RELAXED);
	for (unsigned back = 0; i >= first && back < MOST_LEAVES; back++, i--) {
		struct leaf *leaf = leaf_of(i << LEAF_SHIFT, false);
		int64_t found = leaf ? last_up_to(&leaf->begins, at) : -1;
		if (found >= 0)
			return (i << LEAF_SHIFT) + (uintptr_t)found * 16;
		if (i == 0)
			break;
		at = (1ull << (LEAF_SHIFT - 4)) - 1;
	}
	return 0;
}

uintptr_t block_end(uintptr_t block)
{
	uint64_t i = block >> LEAF_SHIFT, at = place_in_leaf(block);
	for (unsigned on = 0; on < MOST_LEAVES; on++, i++, at = 0) {
		struct leaf *leaf = leaf_of(i << LEAF_SHIFT, false);
		int64_t found = leaf ? first_from(&leaf->ends, at) : -1;
		if (found >= 0)
			return (i << LEAF_SHIFT) + (uintptr_t)(found + 1) * 16;
	}
	return 0;
}
