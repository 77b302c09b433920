/*
 * shadow_touches.c - the accesses inside of critical sections, for EDC, which orders sections
 * on a lock by what they access. They are told before the thread's next event. Where no other
 * thread has ever left a section on any of the locks that the thread holds, what it accesses
 * matters only when it leaves its own: so these accesses are kept until then, and a section
 * that the program never leaves costs no record. What a thread has accessed of a block that it
 * has freed itself since is left out, as its section has the free. Accesses of bytes that lie
 * side by side are told as one.
 */
#include <string.h>

#include "shadow_private.h"

enum { HELD = 16, MOST_TOUCHES = 1 << 17, SLOT_BITS = 10 };
struct touch {
	uintptr_t address;
	uint32_t size, segment; /* size 0: it has been told */
	uint32_t made;          /* shadow_place.made of its first and last byte */
	uint32_t previous : 31; /* + 1: one before it with the same slot_of; 0: none */
	uint32_t writes : 1;
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
	uint32_t count, kept; /* the first `kept` of them until the thread leaves a section */
	uint32_t latest[1 << SLOT_BITS]; /* + 1: the last one, by slot_of */
	struct touch at[MOST_TOUCHES];
};

static uint32_t *slot_of(struct shadow_touches *k, uint32_t made)
{
	return &k->latest[made & ((1 << SLOT_BITS) - 1)];
}

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

/* Those from a number on. */
static void tell_from(struct thread *t, uint32_t from)
{
	struct shadow_touches *k = t->shadow.touches;
	for (uint32_t i = from; i < k->count; i++) {
		const struct touch *touch = &k->at[i];
		if (touch->size > 0 && made_of(touch->address, touch->size) == touch->made)
			tell(t, touch, i < k->kept);
	}
	for (uint32_t i = k->count; i > from; i--)
		*slot_of(k, k->at[i - 1].made) = k->at[i - 1].previous;
	k->count = from < k->count ? from : k->count;
	k->kept = from < k->kept ? from : k->kept;
	for (uint32_t i = 0; i < k->depth; i++)
		k->held[i].from = k->held[i].from < from ? k->held[i].from : from;
}

void shadow_tell_touches(struct thread *t)
{
	if (t->shadow.touches && t->shadow.touches->count > 0)
		tell_from(t, 0);
}

void shadow_before_event(struct thread *t)
{
	struct shadow_touches *k = t->shadow.touches;
	if (k && k->count > k->kept)
		tell_from(t, k->kept);
}

void shadow_tell_touches_of(struct thread *t, uint32_t made)
{
	struct shadow_touches *k = t->shadow.touches;
	shadow_before_event(t);
	if (made == 0)
		shadow_tell_touches(t);
	if (!k || made == 0)
		return;
	for (uint32_t i = *slot_of(k, made); i > 0; i = k->at[i - 1].previous) {
		struct touch *touch = &k->at[i - 1];
		if (touch->made == made && touch->size > 0) {
			tell(t, touch, true);
			touch->size = 0;
		}
	}
}

/* ---- of a thread ---- */

/* Is it beside one of the last, in the same sections? */
static bool extends_last(struct shadow_touches *k, const struct touch *new, uint32_t from)
{
	enum { LAST = 4, LARGEST = 1 << 20 };
	for (uint32_t i = k->count; i > from && k->count - i < LAST; i--) {
		struct touch *old = &k->at[i - 1];
		if (old->writes != new->writes || old->made != new->made ||
		    old->size > LARGEST || old->size == 0)
			continue;
		if (new->address == old->address + old->size ||
		    new->address + new->size == old->address) {
			old->address =
			        old->address < new->address ? old->address : new->address;
			old->size += new->size;
			return true;
		}
	}
	return false;
}

void shadow_touch(struct thread *t, bool writes, uintptr_t address, size_t size)
{
	struct shadow_touches *k = t->shadow.touches;
	const bool keeps = k->shared == 0 && shadow_locks_usual();
	struct touch new = { address,
		             size < LOG_TOUCH_MOST ? (uint32_t)size : LOG_TOUCH_MOST,
		             t->shadow.segment,
		             made_of(address, size),
		             0,
		             writes };
	if (new.made == SHADOW_FREED) {
		tell(t, &new, false);
		return;
	}
	if (k->count == MOST_TOUCHES)
		tell_from(t, 0);
	const uint32_t inner = k->depth ? k->held[k->depth - 1].from : 0;
	if (extends_last(k, &new, keeps || inner > k->kept ? inner : k->kept))
		return;
	uint32_t *slot = slot_of(k, new.made);
	new.previous = *slot;
	k->at[k->count++] = new;
	*slot = k->count;
	k->kept = keeps ? k->count : k->kept;
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
	if (!k)
		return;
	k->depth = k->shared = k->count = k->kept = 0;
	memset(k->latest, 0, sizeof(k->latest));
}
