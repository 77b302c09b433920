/*
 * take_all.c - std::lock, for <mutex> of engine/record/stub/include. In an exploration the
 * rounds of its loop are made here: each begins with the first lock, and in the same state of
 * the thread, as none of the program's code runs between them. Others may see with which lock a
 * round begins, by a try; so the explorer is told which locks std::lock takes, and which are
 * tried otherwise.
 */
#include <stdio.h>

#include "engine/record/runtime/core/entry.h"
#include "engine/record/runtime/core/rt.h"
#include "sync_private.h"

enum { BY_ALL = 1, OTHERWISE = 2, MOST = 256 };

static struct {
	const void *lock;
	int told; /* of the above */
} locks[MOST];

static void tell(const void *lock, int how)
{
	unsigned i = 0;
	char text[32];
	while (i < MOST && locks[i].lock != lock && locks[i].lock != NULL)
		i++;
	if (i == MOST)
		order_matters_later("std::lock and tries, of many locks");
	if (i == MOST || locks[i].told & how)
		return;
	locks[i].lock = lock;
	locks[i].told |= how;
	snprintf(text, sizeof text, "%s %lx", how == BY_ALL ? "all" : "else",
	         (unsigned long)(uintptr_t)lock);
	log_note(LOG_TAKEN_NOTE, text);
}

void lock_tried(struct thread *t, const void *lock)
{
	if (rt.config.flags & LOG_FUTEXES && !rt.memory && !t->sync.takes_all)
		tell(lock, OTHERWISE);
}

/* As in bits/heddle_locks.h there. */
enum kind { MUTEX, SHARED_MUTEX, SHARED };

static int take(void *lock, enum kind kind, bool tries, uintptr_t pc)
{
	return kind == MUTEX ? mutex_lock_within(lock, tries, pc)
	                     : rw_lock_within(lock, kind == SHARED_MUTEX, tries, pc);
}

static void release(void *lock, enum kind kind, uintptr_t pc)
{
	if (kind == MUTEX)
		mutex_unlock_within(lock, pc);
	else
		rw_unlock_within(lock, pc);
}

/* 0, or the error of a lock, of which none is taken then. */
static int take_all(void *const *all, const int *kinds, unsigned count, uintptr_t pc)
{
	for (;;) {
		unsigned taken = 0;
		int status = 0;
		while (taken < count &&
		       (status = take(all[taken], (enum kind)kinds[taken], taken > 0, pc)) == 0)
			taken++;
		if (taken == count)
			return 0;
		while (taken-- > 0)
			release(all[taken], (enum kind)kinds[taken], pc);
		if (status != EBUSY)
			return status;
	}
}

/* Called by <mutex>: takes all locks, in an exploration. False: it has not, and libstdc++'s
 * function is to do it. */
ENTRY(heddle_record_take_all)
int heddle_record_take_all(void *const *all, const int *kinds, unsigned count)
        BEHIND(heddle_record_take_all);
int heddle_record_take_all(void *const *all, const int *kinds, unsigned count)
{
	if (!rt.on || !rt.controlled || me->gate || !futexes_are_steps())
		return 0;
	for (unsigned i = 0; i < count; i++)
		tell(all[i], BY_ALL);
	me->sync.takes_all = true;
	int status = take_all(all, kinds, count, CALLER());
	me->sync.takes_all = false;
	return status == 0;
}
