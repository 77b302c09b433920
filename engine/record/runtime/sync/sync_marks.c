/*
 * sync_marks.c - the holders of locks that do not have them in memory, and destroyed objects
 * that keep no mark of that: spin locks, semaphores, barriers, GLib's mutexes; see
 * sync_private.h.
 *
 * One word each, chosen by the address: another address with the same word overwrites it, and
 * the first address's mark is lost.
 */
#include "sync_private.h"

enum { MARKS = 1 << 14, MARK_BITS = 16 };
static uint64_t marks[MARKS]; /* address << MARK_BITS | mark */

static uint64_t *place_of(const volatile void *object)
{
	return &marks[((uintptr_t)object >> 2) * HASH_FACTOR >> 50];
}

unsigned sync_mark(const volatile void *object)
{
	uint64_t word = __atomic_load_n(place_of(object), __ATOMIC_RELAXED);
	return word >> MARK_BITS == (uintptr_t)object ? word & ((1 << MARK_BITS) - 1) : 0;
}

bool sync_mark_known(const volatile void *object)
{
	uint64_t word = __atomic_load_n(place_of(object), __ATOMIC_RELAXED);
	return word == 0 || word >> MARK_BITS == (uintptr_t)object;
}

void sync_set_mark(const volatile void *object, unsigned mark)
{
	if (mark == 0 && sync_mark(object) == 0)
		return; /* the word is another's */
	__atomic_store_n(place_of(object), (uint64_t)(uintptr_t)object << MARK_BITS | mark,
	                 __ATOMIC_RELAXED);
}

void sync_check_alive(struct thread *t, const volatile void *object, uintptr_t pc)
{
	if (sync_mark(object) == MARK_DESTROYED)
		misused(t, MISUSE_USE_DESTROYED, pc, (const void *)object);
}

void sync_check_lock(struct thread *t, const volatile void *lock, bool may_fail, uintptr_t pc)
{
	sync_check_alive(t, lock, pc);
	if (!may_fail && sync_mark(lock) == t->id + 1)
		misused(t, MISUSE_DOUBLE_LOCK, pc, (const void *)lock);
}

void sync_check_unlock(struct thread *t, const volatile void *lock, bool held, uintptr_t pc)
{
	unsigned mark = sync_mark(lock);
	if (mark == MARK_DESTROYED)
		misused(t, MISUSE_USE_DESTROYED, pc, (const void *)lock);
	else if (!held)
		misused(t, MISUSE_UNLOCK_NOT_HELD, pc, (const void *)lock);
	else if (mark != 0 && mark != t->id + 1)
		misused(t, MISUSE_UNLOCK_BY_OTHER, pc, (const void *)lock);
	sync_set_mark(lock, mark == MARK_DESTROYED ? mark : 0);
}

void sync_check_destroy(struct thread *t, const volatile void *object, bool waited,
                        uintptr_t pc)
{
	if (sync_mark(object) == MARK_DESTROYED)
		misused(t, MISUSE_USE_DESTROYED, pc, (const void *)object);
	else if (waited)
		misused(t, MISUSE_DESTROY_WAITED, pc, (const void *)object);
}
