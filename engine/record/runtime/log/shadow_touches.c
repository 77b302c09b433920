/*
 * shadow_touches.c - the accesses inside of critical sections, for EDC, which orders sections
 * on a lock by what they access. Where no other thread has ever left a section on any of the
 * locks that the thread holds, that matters only when it leaves its own: so its accesses are
 * kept until then, and a section that the program never leaves costs no record. What a thread
 * has accessed of a block that it has freed itself since is left out, as its section has the
 * free.
 */
#include <string.h>

#include "shadow_private.h"

enum { HELD = 16, MOST_TOUCHES = 1 << 17 };
struct touch {
	uintptr_t address;
	uint32_t size, segment;
	uint32_t made; /* shadow_place.made of its first and last byte */
	bool writes;
};
struct held {
	uintptr_t lock;
	uint32_t from; /* accesses from here on are also in this section */
	bool alone;    /* shadow_acquired */
};
struct shadow_touches {
	uint32_t depth;
	struct held held[HELD]; /* sections, outermost first */
	/* Sections on locks that others have left, and one for ever if the thread was in more
	 * than HELD: accesses are told at once. */
	uint32_t shared;
	uint32_t count;
	struct touch at[MOST_TOUCHES];
};

/* ---- to the log ---- */

static void tell(struct thread *t, const struct touch *touch, bool late)
{
	log_turn(t);
	log_put(t->stream,
	        log_word(LOG_TOUCH, touch->writes | late << 1,
	                 touch->address & LOG_ADDRESS_MASK),
	        (uint64_t[]){ touch->size | (uint64_t)touch->segment << 32 }, 1);
}

static uint32_t made_of(uintptr_t address, size_t size)
{
	const uint32_t made = shadow_at(address).made;
	return made == shadow_at(address + size - 1).made ? made : SHADOW_FREED;
}

/* Those from a number on that are of memory as it is now. */
static void tell_from(struct thread *t, uint32_t from)
{
	struct shadow_touches *k = t->shadow.touches;
	for (uint32_t i = from; i < k->count; i++)
		if (made_of(k->at[i].address, k->at[i].size) == k->at[i].made)
			tell(t, &k->at[i], true);
	k->count = from < k->count ? from : k->count;
	for (uint32_t i = 0; i < k->depth; i++)
		k->held[i].from = k->held[i].from < from ? k->held[i].from : from;
}

void shadow_tell_touches(struct thread *t)
{
	if (t->shadow.touches && t->shadow.touches->count > 0)
		tell_from(t, 0);
}

/* ---- of a thread ---- */

void shadow_touch(struct thread *t, bool writes, uintptr_t address, size_t size)
{
	struct shadow_touches *k = t->shadow.touches;
	const struct touch touch = { address, size < UINT32_MAX ? (uint32_t)size : UINT32_MAX,
		                     t->shadow.segment, made_of(address, size), writes };
	if (k->shared > 0 || touch.made == SHADOW_FREED || !shadow_locks_usual()) {
		tell(t, &touch, false);
		return;
	}
	if (k->count == MOST_TOUCHES)
		tell_from(t, 0);
	k->at[k->count++] = touch;
}

void shadow_enters(struct thread *t, uintptr_t lock, bool alone)
{
	struct shadow_touches *k = t->shadow.touches;
	if (!k)
		k = t->shadow.touches = shadow_pages(sizeof(*k));
	k->shared += k->depth == HELD || !alone;
	if (k->depth < HELD)
		k->held[k->depth++] = (struct held){ lock, k->count, alone };
}

void shadow_leaves(struct thread *t, uintptr_t lock)
{
	struct shadow_touches *k = t->shadow.touches;
	uint32_t i = k ? k->depth : 0;
	while (i > 0 && k->held[i - 1].lock != lock)
		i--;
	if (i == 0) {
		shadow_tell_touches(t);
		return;
	}
	tell_from(t, k->held[--i].from);
	k->shared -= !k->held[i].alone;
	k->depth--;
	memmove(&k->held[i], &k->held[i + 1], (k->depth - i) * sizeof(k->held[0]));
}

void shadow_touches_begin(struct thread *t)
{
	struct shadow_touches *k = t->shadow.touches;
	if (k)
		k->depth = k->shared = k->count = 0;
}
