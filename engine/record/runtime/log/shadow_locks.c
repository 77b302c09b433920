/*
 * shadow_locks.c - what comes before the release of a lock, for who acquires it next. This only
 * saves pairs that the reader would find ordered, so it has only what is certainly in the
 * reader's order: locks with memory of their own, from one initialisation to the next, that are
 * released by their holder; and the segments of the first threads.
 */
#include "shadow_private.h"

enum { THREADS = 64, LOCK_BITS = 8 /* locks are allocated in blocks */ };
struct lock {
	uint32_t holder; /* thread + 1; 0: none */
	uint32_t next;   /* of those that are free */
	uint32_t last;   /* the thread that released it last */
	uint32_t sole;   /* + 1: no other thread has left a section of it; 0: none has */
	uint32_t before[THREADS]; /* segments; 0: none */
};
static struct lock **locks;
static uint32_t lock_count = 1, lock_free; /* in use and free; first of the free ones */

static struct lock *lock_at(uint32_t number)
{
	return &locks[number >> LOCK_BITS][number & ((1 << LOCK_BITS) - 1)];
}

static uint32_t new_lock(void)
{
	uint32_t number = lock_free;
	if (number) {
		lock_free = lock_at(number)->next;
		*lock_at(number) = (struct lock){ 0 };
		return number;
	}
	number = lock_count++;
	if (!locks)
		locks = shadow_pages(sizeof(*locks) << (31 - LOCK_BITS));
	if (!locks[number >> LOCK_BITS])
		locks[number >> LOCK_BITS] = shadow_pages(sizeof(**locks) << LOCK_BITS);
	return number;
}

/* Addresses below and above are of objects without memory (LOG_OMP_CRITICAL, LOG_FUTEX_BIT). */
static bool has_memory(uintptr_t address)
{
	return address >= 1 << 20 && address < LOG_FUTEX_BIT;
}

static uint32_t threads(void)
{
	return rt.thread_count < THREADS ? rt.thread_count : THREADS;
}

/* A lock was left otherwise than its holder does: what is said of sections holds no more. */
static bool unusual;

bool shadow_acquired(struct thread *t, uintptr_t address)
{
	if (!has_memory(address))
		return false;
	struct shadow_word *w = shadow_at(address).word;
	if (!shadow_lock_of(w))
		shadow_set_lock(w, new_lock());
	struct lock *l = lock_at(shadow_lock_of(w));
	const bool alone = !unusual && (l->sole == 0 || l->sole == t->id + 1);
	l->holder = t->id + 1;
	if (l->last == t->id)
		return alone; /* it knows all of this */
	for (uint32_t i = 0; i < threads(); i++) {
		uint32_t segment = l->before[i];
		uint32_t *known = &t->shadow.before[i];
		if (segment > *known)
			*known = segment;
	}
	return alone;
}

bool shadow_locks_usual(void)
{
	return !unusual;
}

static void note_left(struct lock *l, const struct thread *t)
{
	enum { SEVERAL = UINT32_MAX };
	l->sole = l->sole == 0 || l->sole == t->id + 1 ? t->id + 1 : SEVERAL;
}

void shadow_read_released(const struct thread *t, uintptr_t address)
{
	if (!has_memory(address))
		return;
	struct shadow_word *w = shadow_at(address).word;
	if (shadow_lock_of(w))
		note_left(lock_at(shadow_lock_of(w)), t);
	else
		unusual = true;
}

void shadow_released(struct thread *t, uintptr_t address, uint32_t ended)
{
	if (!has_memory(address))
		return;
	struct shadow_word *w = shadow_at(address).word;
	struct lock *l = shadow_lock_of(w) ? lock_at(shadow_lock_of(w)) : NULL;
	if (!l || l->holder != t->id + 1) {
		shadow_lock_forget(w);
		unusual = true;
		return;
	}
	note_left(l, t);
	l->holder = 0;
	l->last = t->id;
	for (uint32_t i = 0; i < threads(); i++)
		l->before[i] = t->shadow.before[i];
	if (t->id < THREADS)
		l->before[t->id] = ended;
}

void shadow_lock_forget(struct shadow_word *w)
{
	uint32_t number = shadow_lock_of(w);
	if (!number)
		return;
	lock_at(number)->next = lock_free;
	lock_free = number;
	shadow_set_lock(w, 0);
}
