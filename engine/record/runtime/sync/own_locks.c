/*
 * own_locks.c - locks of the program's own making, which announce their operations:
 * __tsan_mutex_* (tsan_interface.h), AnnotateRWLock*, and the names for virtual machines. The
 * program waits for them by itself: it spins, or sleeps in a futex.
 *
 * Between pre_lock and post_lock, and likewise for the rest, the lock's own accesses and
 * synchronisation are no events (GATE_OWN).
 */
#include "sync_private.h"

/* As in tsan_interface.h. */
enum own_flag {
	OWN_LINKER = 1 << 0, /* static: is never destroyed, whatever the calls say */
	OWN_WRITE_REENTRANT = 1 << 1,
	OWN_READ_REENTRANT = 1 << 2,
	OWN_READ = 1 << 3,
	OWN_TRY = 1 << 4,
	OWN_TRY_FAILED = 1 << 5,
	OWN_NOT_STATIC = 1 << 8, /* of a destruction: counts only if creation had it, too */
	OWN_REENTRANT = OWN_WRITE_REENTRANT | OWN_READ_REENTRANT,
	OWN_LASTING = OWN_LINKER | OWN_REENTRANT |
	              OWN_NOT_STATIC, /* a property of the lock, whichever call states it */
};

/* ---- marks of a lock (sync_marks.c): its writer, and OWN_LASTING ---- */

static const void *lasting_of(const void *p)
{
	return (const void *)((uintptr_t)p | (uintptr_t)1 << 47); /* no address of a program */
}

static void learn(const void *p, unsigned flags)
{
	if (flags & OWN_LASTING)
		sync_set_mark(lasting_of(p), sync_mark(lasting_of(p)) | (flags & OWN_LASTING));
}

/* Can misuse of it be detected? Both marks are known, and it is locked once at a time. */
static bool judged(const void *p)
{
	return sync_mark_known(p) && sync_mark_known(lasting_of(p)) &&
	       !(sync_mark(lasting_of(p)) & OWN_REENTRANT);
}

static void check_lock(struct thread *t, const void *p, unsigned flags, uintptr_t pc)
{
	learn(p, flags);
	unsigned holder = sync_mark(p);
	if (holder && judged(p))
		misused(t, holder == t->id + 1 ? MISUSE_DOUBLE_LOCK : MISUSE_LOCK_HELD, pc, p);
	if (!(flags & OWN_READ))
		sync_set_mark(p, t->id + 1);
}

static void check_unlock(struct thread *t, const void *p, unsigned flags, uintptr_t pc)
{
	learn(p, flags);
	unsigned holder = sync_mark(p);
	if (flags & OWN_READ) {
		if (holder && judged(p))
			misused(t, MISUSE_READ_UNLOCK, pc, p);
		return;
	}
	if (judged(p) && holder != t->id + 1)
		misused(t, holder ? MISUSE_UNLOCK_BY_OTHER : MISUSE_UNLOCK_NOT_HELD, pc, p);
	sync_set_mark(p, 0);
}

/* ---- __tsan_mutex_* ---- */

EXPORT void __tsan_mutex_create(void *p, unsigned flags);
void __tsan_mutex_create(void *p, unsigned flags)
{
	struct thread *t = recording();
	if (!t)
		return;
	plan_point(t);
	if (!(flags & OWN_LINKER)) /* else it may be in use already */
		sync_set_mark(p, 0);
	sync_set_mark(lasting_of(p), flags & OWN_LASTING);
	log_init(t, p, 0);
}

static void own_destroyed(void *p, unsigned flags, uintptr_t pc)
{
	struct thread *t = recording();
	unsigned lasting = sync_mark(lasting_of(p));
	bool kept = (flags | lasting) & OWN_LINKER ||
	            (flags & OWN_NOT_STATIC && !(lasting & OWN_NOT_STATIC));
	if (!t || kept)
		return;
	sched_point(t);
	if (sync_mark(p) && judged(p))
		misused(t, MISUSE_DESTROY_LOCKED, pc, p);
	sync_set_mark(p, 0);
	log_sync(t, LOG_DESTROY, pc, p);
}
EXPORT void __tsan_mutex_destroy(void *p, unsigned flags);
void __tsan_mutex_destroy(void *p, unsigned flags)
{
	own_destroyed(p, flags, CALLER());
}

/* The lock's own code begins, or ends; it may be inside of another's. */
static void inside(int change)
{
	struct thread *t = me;
	if (t == &nobody)
		return;
	t->own_depth = t->own_depth + change > 0 ? t->own_depth + change : 0;
	if (t->own_depth > 0 && !(t->gate & GATE_OWN))
		t->own_steps = 0;
	if (t->own_depth > 0)
		t->gate |= GATE_OWN;
	else
		t->gate &= ~GATE_OWN;
}

EXPORT void __tsan_mutex_pre_lock(void *p, unsigned flags);
void __tsan_mutex_pre_lock(void *p, unsigned flags)
{
	struct thread *t = recording();
	if (t)
		sched_point(t);
	inside(1);
}
EXPORT void __tsan_mutex_post_lock(void *p, unsigned flags, int recursion);
void __tsan_mutex_post_lock(void *p, unsigned flags, int recursion)
{
	inside(-1);
	struct thread *t = recording();
	if (!t)
		return;
	bool failed = flags & OWN_TRY_FAILED;
	if (!failed)
		check_lock(t, p, flags, CALLER());
	log_object(t,
	           failed             ? LOG_TRYFAIL
	           : flags & OWN_READ ? LOG_RACQ
	                              : LOG_ACQ,
	           flags & OWN_TRY ? LOG_TRY : 0, CALLER(), p);
}
EXPORT int __tsan_mutex_pre_unlock(void *p, unsigned flags);
int __tsan_mutex_pre_unlock(void *p, unsigned flags)
{
	struct thread *t = recording();
	if (t) {
		plan_point(t);
		check_unlock(t, p, flags, CALLER());
		log_sync(t, flags & OWN_READ ? LOG_RREL : LOG_REL, CALLER(), p);
	}
	inside(1);
	return 1;
}
EXPORT void __tsan_mutex_post_unlock(void *p, unsigned flags);
void __tsan_mutex_post_unlock(void *p, unsigned flags)
{
	inside(-1);
	struct thread *t = recording();
	if (t)
		sched_point_after(t);
}

/* Signalling others; and calls out of the lock's code ("divert"), and back. */
#define INSIDE_BY(name, change) \
	EXPORT void name(void *p, unsigned flags); \
	void name(void *p, unsigned flags) \
	{ \
		inside(change); \
	}
INSIDE_BY(__tsan_mutex_pre_signal, 1)
INSIDE_BY(__tsan_mutex_post_signal, -1)
EXPORT void __tsan_mutex_pre_divert(void *p, unsigned flags);
void __tsan_mutex_pre_divert(void *p, unsigned flags)
{
	if (me != &nobody)
		me->diverted_from = p;
	inside(-1);
}
EXPORT void __tsan_mutex_post_divert(void *p, unsigned flags);
void __tsan_mutex_post_divert(void *p, unsigned flags)
{
	if (me != &nobody)
		me->diverted_from = NULL;
	inside(1);
}

/* ---- AnnotateRWLock*: after it is taken, before it is given up ---- */

EXPORT void AnnotateRWLockCreate(const char *file, int line, void *p);
void AnnotateRWLockCreate(const char *file, int line, void *p)
{
	__tsan_mutex_create(p, 0);
}
EXPORT void AnnotateRWLockCreateStatic(const char *file, int line, void *p);
void AnnotateRWLockCreateStatic(const char *file, int line, void *p)
{
	__tsan_mutex_create(p, OWN_LINKER);
}
EXPORT void AnnotateRWLockDestroy(const char *file, int line, void *p);
void AnnotateRWLockDestroy(const char *file, int line, void *p)
{
	own_destroyed(p, 0, CALLER());
}
EXPORT void AnnotateRWLockAcquired(const char *file, int line, void *p, long writes);
void AnnotateRWLockAcquired(const char *file, int line, void *p, long writes)
{
	struct thread *t = recording();
	if (!t)
		return;
	plan_point(t);
	check_lock(t, p, writes ? 0 : OWN_READ, CALLER());
	log_sync(t, writes ? LOG_ACQ : LOG_RACQ, CALLER(), p);
}
EXPORT void AnnotateRWLockReleased(const char *file, int line, void *p, long writes);
void AnnotateRWLockReleased(const char *file, int line, void *p, long writes)
{
	struct thread *t = recording();
	if (!t)
		return;
	plan_point(t);
	check_unlock(t, p, writes ? 0 : OWN_READ, CALLER());
	log_sync(t, writes ? LOG_REL : LOG_RREL, CALLER(), p);
}

/* ---- of virtual machines, re-entrant ---- */

/* How often the holder of a lock holds it; by lock, and changed by the holder only. */
enum { MANY_HELD = 1024 };
static struct held {
	uintptr_t lock;
	int times;
} held[MANY_HELD];

static struct held *held_at(uintptr_t p)
{
	unsigned i = (unsigned)((p >> 3) * 2654435761u % MANY_HELD);
	for (unsigned k = 0; k < MANY_HELD; k++, i = (i + 1) % MANY_HELD) {
		uintptr_t none = 0;
		if (held[i].lock == p ||
		    __atomic_compare_exchange_n(&held[i].lock, &none, p, false,
		                                __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ||
		    none == p)
			return &held[i];
	}
	return NULL;
}

static void own_lock(enum log_tag tag, uintptr_t p, uintptr_t pc)
{
	struct thread *t = recording();
	struct held *h = tag == LOG_ACQ || tag == LOG_REL ? held_at(p) : NULL;
	if (h)
		h->times += tag == LOG_ACQ ? 1 : h->times > 0 ? -1 : 0;
	if (!t)
		return;
	plan_point(t);
	log_sync(t, tag, pc, (const void *)p);
}
#define OWN_LOCK(name, tag) \
	EXPORT void name(uintptr_t p); \
	void name(uintptr_t p) \
	{ \
		own_lock(tag, p, CALLER()); \
	}
OWN_LOCK(__tsan_java_mutex_lock, LOG_ACQ)
OWN_LOCK(__tsan_java_mutex_unlock, LOG_REL)
OWN_LOCK(__tsan_java_mutex_read_lock, LOG_RACQ)
OWN_LOCK(__tsan_java_mutex_read_unlock, LOG_RREL)
EXPORT void __tsan_java_mutex_lock_rec(uintptr_t p, int times);
void __tsan_java_mutex_lock_rec(uintptr_t p, int times)
{
	while (times-- > 0)
		own_lock(LOG_ACQ, p, CALLER());
}
/* Unlocks all at once; returns how often it was held, for the relocking. */
EXPORT int __tsan_java_mutex_unlock_rec(uintptr_t p);
int __tsan_java_mutex_unlock_rec(uintptr_t p)
{
	struct held *h = held_at(p);
	int times = h && h->times > 0 ? h->times : 1;
	for (int i = 0; i < times; i++)
		own_lock(LOG_REL, p, CALLER());
	return times;
}
