/*
 * blocks.c - where heap blocks begin: a bit for each 16 bytes of the address space, in leaves
 * of 16 MB, and in each leaf two summaries above them, so that the last beginning before an
 * address is found in a few steps however far it is.
 *
 * A summary's bit says that there may be beginnings below it; it is set after them, and cleared
 * in controlled mode alone, where hardly any other thread allocates meanwhile.  The lengths of
 * blocks are not kept.
 */
#include <sys/syscall.h>

#include "engine/record/runtime/core/rt.h"

enum { LEVELS = 3, LEAF_SHIFT = 24, MOST_LEAVES_BACK = 1 << 6 /* a block may have 1 GB */ };
#define LEAVES (1ull << (47 - LEAF_SHIFT))

struct leaf {
	uint64_t begins[1 << 14], lines[1 << 8], top[1 << 2];
};
static struct leaf **leaves;
static uint64_t first_leaf = LEAVES; /* no leaf lies before it */

bool blocks_init(void)
{
	leaves = rt_pages(LEAVES * sizeof(*leaves));
	return leaves != NULL;
}

static uint64_t *level_of(struct leaf *leaf, unsigned level)
{
	return level == 0 ? leaf->begins : level == 1 ? leaf->lines : leaf->top;
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
	/* Another thread may have been faster; its leaf it is then. */
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

static void set_bit(struct leaf *leaf, unsigned from, uint64_t at)
{
	for (unsigned level = from; level < LEVELS; level++) {
		uint64_t *word = &level_of(leaf, level)[at >> 6], bit = 1ull << (at & 63);
		if (!(__atomic_load_n(word, __ATOMIC_SEQ_CST) & bit))
			__atomic_fetch_or(word, bit, __ATOMIC_SEQ_CST);
		at >>= 6;
	}
}

static uint64_t place_in_leaf(uintptr_t address)
{
	return address >> 4 & ((1ull << (LEAF_SHIFT - 4)) - 1);
}

void block_begins(const void *p)
{
	struct leaf *leaf = p ? leaf_of((uintptr_t)p, true) : NULL;
	if (leaf)
		set_bit(leaf, 0, place_in_leaf((uintptr_t)p));
}

void block_ends(const void *p)
{
	struct leaf *leaf = p ? leaf_of((uintptr_t)p, false) : NULL;
	uint64_t at = place_in_leaf((uintptr_t)p);
	for (unsigned level = 0; leaf && level < LEVELS; level++, at >>= 6) {
		uint64_t *word = &level_of(leaf, level)[at >> 6];
		uint64_t left =
		        __atomic_and_fetch(word, ~(1ull << (at & 63)), __ATOMIC_SEQ_CST);
		/* A thread without the token may have put a block there just now. */
		if (level > 0 &&
		    __atomic_load_n(&level_of(leaf, level - 1)[at], __ATOMIC_SEQ_CST)) {
			set_bit(leaf, level, at);
			return;
		}
		if (left || !rt.controlled)
			return;
	}
}

/* The last set bit up to `at`, or -1. */
static int64_t last_up_to(struct leaf *leaf, uint64_t at)
{
	for (unsigned level = 0;;) {
		uint64_t bits =
		        __atomic_load_n(&level_of(leaf, level)[at >> 6], __ATOMIC_RELAXED);
		bits &= ~0ull >> (63 - (at & 63));
		if (bits) {
			at = (at & ~63ull) + 63 - __builtin_clzll(bits);
			if (level == 0)
				return (int64_t)at;
			level--;
			at = at << 6 | 63; /* the last of what it stands for */
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

uintptr_t block_before(uintptr_t address)
{
	uint64_t i = address >> LEAF_SHIFT, at = place_in_leaf(address);
	uint64_t first = __atomic_load_n(&first_leaf, __ATOMIC_RELAXED);
	for (unsigned back = 0; i >= first && back < MOST_LEAVES_BACK; back++, i--) {
		struct leaf *leaf = leaf_of(i << LEAF_SHIFT, false);
		int64_t found = leaf ? last_up_to(leaf, at) : -1;
		if (found >= 0)
			return (i << LEAF_SHIFT) + (uintptr_t)found * 16;
		if (i == 0)
			break;
		at = (1ull << (LEAF_SHIFT - 4)) - 1;
	}
	return 0;
}
