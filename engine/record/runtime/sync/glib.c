/*
 * glib.c - GLib's mutexes, conditions and once.  They are not built on the C library's but
 * on futexes, and GLib's own calls of them go past the loader's rules; so where the library
 * is loaded the entries of its functions jump here.
 *
 * A GMutex stays what it is in GLib: one word, 0 free, 1 held, 2 held and waited for; a
 * GCond one that counts signals.  GRecMutex and GRWLock are POSIX's inside and need nothing.
 *
 * GLib itself is not instrumented: what its queues and pools hand on under a lock of theirs
 * is not in the trace.  So critical sections that GLib's code makes send a message to the
 * next one, and keep their order in every witness.  The locks of GLib's own global data are
 * modelled and not shown: who registers a type first is no concern of the program's.
 */
#include <limits.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sync_private.h"

enum { FREE, HELD, WAITED_FOR };

static bool in_glib(uintptr_t address)
{
	return address >= rt.glib_low && address < rt.glib_high;
}

/* ---- the order of critical sections inside of GLib ---- */

enum { SLOTS = 1 << 14 };
static struct order {
	const volatile int *lock;
	uint64_t message; /* sent at the end of the last section, 0: none or received */
	bool inside;      /* the open section is GLib's: unlocking is often a tail call,
	                   * whose return address is the program's */
} orders[SLOTS];

/* NULL when it is unknown and must not be made, or all entries are in use. */
static struct order *order_of(const volatile int *lock, bool make)
{
	unsigned i = ((uintptr_t)lock >> 3) * 2654435761u % SLOTS;
	for (unsigned k = 0; k < SLOTS; k++, i = (i + 1) % SLOTS) {
		const volatile int *none = NULL;
		if (orders[i].lock == lock)
			return &orders[i];
		if (!make && !orders[i].lock)
			return NULL;
		if (__atomic_compare_exchange_n(&orders[i].lock, &none, lock, false,
		                                __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ||
		    none == lock)
			return &orders[i];
	}
	return NULL;
}

static void acquired(struct thread *t, volatile int *m, bool tried, uintptr_t pc)
{
	sync_set_mark(m, t->id + 1);
	plan_point(t);
	log_object(t, LOG_ACQ, tried ? LOG_TRY : 0, pc, (void *)m);
	struct order *o = order_of(m, in_glib(pc));
	if (!o)
		return;
	o->inside = in_glib(pc);
	if (o->message) {
		plan_point(t);
		log_event(t, LOG_RCV, 0, pc, o->message, 0, 1);
		o->message = 0;
	}
}

static void releases(struct thread *t, volatile int *m, uintptr_t pc)
{
	struct order *o = order_of(m, false);
	plan_point(t);
	if (!o || !o->inside)
		return;
	o->message = message_new(t);
	log_event(t, LOG_SND, 0, pc, o->message, 0, 1);
	plan_point(t);
}

/* ---- mutexes ---- */

static bool take(volatile int *m)
{
	int none = FREE;
	return __atomic_compare_exchange_n(m, &none, HELD, false, __ATOMIC_ACQUIRE,
	                                   __ATOMIC_RELAXED);
}

static void take_or_wait(volatile int *m)
{
	if (!take(m))
		while (__atomic_exchange_n(m, WAITED_FOR, __ATOMIC_ACQUIRE) != FREE)
			futex_wait(m, WAITED_FOR, 0);
}

static void give_back(volatile int *m)
{
	if (__atomic_exchange_n(m, FREE, __ATOMIC_RELEASE) == WAITED_FOR)
		futex_wake(m, 1);
}

/* Are its events written? */
static bool shown(const volatile int *m)
{
	return !in_glib((uintptr_t)m);
}

/* A GMutex needs no initialisation and has no end: a mutex destroyed there was another
 * object. */
static bool misusable(volatile int *m)
{
	if (sync_mark(m) == MARK_DESTROYED)
		sync_set_mark(m, 0);
	return shown(m);
}

static void lock_as(struct thread *t, volatile int *m, uintptr_t pc)
{
	while (rt.controlled && rt.on && !take(m)) {
		t->sched.pc = pc;
		sched_block(t, FOR_MUTEX, (void *)m, false, 0);
	}
	if (!rt.controlled || !rt.on)
		take_or_wait(m);
	if (shown(m))
		acquired(t, m, false, pc);
}

static void mutex_lock(volatile int *m)
{
	struct thread *t = recording();
	if (!t) {
		take_or_wait(m);
		return;
	}
	if (misusable(m)) {
		sched_point(t);
		sync_check_lock(t, m, false, CALLER());
	}
	lock_as(t, m, CALLER());
}

static int mutex_trylock(volatile int *m)
{
	struct thread *t = recording();
	if (!t)
		return take(m);
	if (shown(m))
		sched_point(t);
	bool got = take(m);
	if (shown(m) && got)
		acquired(t, m, true, CALLER());
	else if (shown(m))
		log_sync(t, LOG_TRYFAIL, CALLER(), (void *)m);
	return got;
}

static void unlock_as(struct thread *t, volatile int *m, uintptr_t pc)
{
	if (misusable(m)) {
		sync_check_unlock(t, m, *m != FREE, pc);
		releases(t, m, pc);
		log_sync(t, LOG_REL, pc, (void *)m);
	}
	give_back(m);
	if (rt.controlled)
		sched_wake((void *)m, FOR_MUTEX, rt.replay ? UINT_MAX : 1);
}

static void mutex_unlock(volatile int *m)
{
	struct thread *t = recording();
	if (t) {
		unlock_as(t, m, CALLER());
	} else {
		give_back(m);
		rt.poke = 1;
	}
}

/* A GMutex and a GCond begin as a word of 0; a static one is never initialised by a call. Their
 * end (g_mutex_clear) does nothing. */
static void word_init(volatile int *word)
{
	struct thread *t = recording();
	if (t && shown(word))
		plan_point(t);
	*word = 0;
	sync_set_mark(word, 0);
	if (t && shown(word))
		log_init(t, word, 0);
}

/* ---- conditions ---- */

static bool wait_freely(volatile int *c, volatile int *m, int64_t end, bool timed)
{
	int count = __atomic_load_n(c, __ATOMIC_ACQUIRE);
	struct timespec now;
	bool woken = true;
	give_back(m);
	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
	int64_t left = end * 1000 - (now.tv_sec * 1000000000ll + now.tv_nsec);
	if (!timed)
		futex_wait(c, count, 0);
	else if (left > 0)
		futex_wait(c, count, (uint64_t)left);
	if (timed && __atomic_load_n(c, __ATOMIC_ACQUIRE) == count)
		woken = false;
	return woken;
}

/* `end`: microseconds of the monotonic clock. */
static bool wait_as(struct thread *t, volatile int *c, volatile int *m, int64_t end, bool timed,
                    uintptr_t pc)
{
	bool signalled = true;
	if (shown(c)) {
		sched_point(t);
		log_object(t, LOG_WAIT, timed ? LOG_TRY : 0, pc, (void *)c);
	}
	if (!rt.controlled) {
		if (misusable(m)) {
			sync_check_unlock(t, m, *m != FREE, pc);
			releases(t, m, pc);
			log_sync(t, LOG_REL, pc, (void *)m);
		}
		signalled = wait_freely(c, m, end, timed);
	} else {
		struct timespec at = { end / 1000000, end % 1000000 * 1000 };
		uint64_t deadline = timed ? deadline_of(CLOCK_MONOTONIC, &at) : 0;
		t->sync.condition = (void *)c;
		t->sync.woken = false;
		unlock_as(t, m, pc);
		t->sched.pc = pc;
		while (!t->sync.woken && signalled && rt.on)
			signalled = sched_block(t, FOR_CONDITION, (void *)c, timed, deadline);
		signalled |= t->sync.woken;
		t->sync.condition = NULL;
	}
	if (shown(c)) {
		plan_point(t);
		log_object(t, LOG_WAKE, signalled ? 0 : LOG_TRY, pc, (void *)c);
	}
	lock_as(t, m, pc);
	return signalled;
}

static void cond_wait(volatile int *c, volatile int *m)
{
	struct thread *t = recording();
	if (t) {
		wait_as(t, c, m, 0, false, CALLER());
	} else {
		wait_freely(c, m, 0, false);
		take_or_wait(m);
	}
}

static int cond_wait_until(volatile int *c, volatile int *m, int64_t end)
{
	struct thread *t = recording();
	if (t)
		return wait_as(t, c, m, end, true, CALLER());
	bool woken = wait_freely(c, m, end, true);
	take_or_wait(m);
	return woken;
}

static void wake(volatile int *c, bool all, uintptr_t pc)
{
	struct thread *t = recording();
	if (t && shown(c)) {
		sched_point(t);
		log_sync(t, all ? LOG_BROADCAST : LOG_SIGNAL, pc, (void *)c);
	}
	__atomic_add_fetch(c, 1, __ATOMIC_RELEASE);
	futex_wake(c, all ? INT_MAX : 1);
	if (t && rt.controlled)
		sched_signal((void *)c, all ? UINT_MAX : 1);
}

static void cond_signal(volatile int *c)
{
	wake(c, false, CALLER());
}

static void cond_broadcast(volatile int *c)
{
	wake(c, true, CALLER());
}

/* ---- taking over ---- */

void glib_take_over(void)
{
	static const struct {
		const char *name;
		void *ours;
	} entries[] = {
		{ "g_mutex_init", word_init },
		{ "g_mutex_lock", mutex_lock },
		{ "g_mutex_trylock", mutex_trylock },
		{ "g_mutex_unlock", mutex_unlock },
		{ "g_cond_init", word_init },
		{ "g_cond_wait", cond_wait },
		{ "g_cond_signal", cond_signal },
		{ "g_cond_broadcast", cond_broadcast },
		{ "g_cond_wait_until", cond_wait_until },
	};
	static bool done;
	if (done || !rt.glib_high)
		return;
	done = true;
	for (unsigned i = 0; i < sizeof(entries) / sizeof(*entries); i++) {
		void *entry = dlsym(RTLD_DEFAULT, entries[i].name);
		if (entry && in_glib((uintptr_t)entry) && !entry_jump(entry, entries[i].ours)) {
			rt_say("%s: its entry cannot be changed: GLib's locks are not seen",
			       entries[i].name);
			return;
		}
	}
}
