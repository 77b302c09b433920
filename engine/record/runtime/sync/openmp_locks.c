/* openmp_locks.c - critical sections, atomics without an instruction and locks of OpenMP; see
 * openmp.h. */
#include <limits.h>

#include "openmp.h"

/* ---- critical sections and atomics without an instruction ---- */

enum { SECTIONS = 256 };
static struct section { /* controlled mode: sections that are held */
	const void *lock;
	struct thread *holder;
} held[SECTIONS];

static struct section *section_of(const void *lock)
{
	struct section *unused = NULL;
	for (unsigned i = 0; i < SECTIONS; i++) {
		if (held[i].holder && held[i].lock == lock)
			return &held[i];
		if (!held[i].holder && !unused)
			unused = &held[i];
	}
	return unused;
}

static void section_enter(struct thread *t, const void *lock, uintptr_t pc)
{
	struct section *s;
	sched_point(t);
	while ((s = section_of(lock)) == NULL || s->holder) {
		t->sched.pc = pc;
		sched_block(t, FOR_SPIN, lock, false, 0);
		if (!rt.on)
			return;
	}
	plan_point(t);
	*s = (struct section){ lock, t };
	log_sync(t, LOG_ACQ, pc, lock);
}

static void section_leave(struct thread *t, const void *lock, uintptr_t pc)
{
	struct section *s = section_of(lock);
	plan_point(t);
	if (s && s->holder == t)
		s->holder = NULL;
	log_sync(t, LOG_REL, pc, lock);
	sched_wake(lock, FOR_SPIN, rt.replay ? UINT_MAX : 1);
}

/* `lock`: the section's lock in the trace. */
#define SECTION(start, end, parameters, arguments, lock) \
	EXPORT void start parameters; \
	EXPORT void end parameters; \
	void start parameters \
	{ \
		struct thread *t = recording(); \
		if (t && rt.controlled) { \
			section_enter(t, lock, CALLER()); \
			return; \
		} \
		REAL(start) arguments; \
		if (t) \
			log_sync(t, LOG_ACQ, CALLER(), lock); \
	} \
	void end parameters \
	{ \
		struct thread *t = recording(); \
		if (t && rt.controlled) { \
			section_leave(t, lock, CALLER()); \
			return; \
		} \
		if (t) \
			log_sync(t, LOG_REL, CALLER(), lock); \
		REAL(end) arguments; \
	}
SECTION(GOMP_critical_start, GOMP_critical_end, (void), (), (void *)LOG_OMP_CRITICAL)
SECTION(GOMP_critical_name_start, GOMP_critical_name_end, (void **name), (name), name)
SECTION(GOMP_atomic_start, GOMP_atomic_end, (void), (), (void *)LOG_OMP_ATOMIC)

/* ---- locks ---- */

/* omp_lock_t and omp_nest_lock_t; a test takes the lock when it can, and returns how often it
 * is held. */
#define LOCK(kind) \
	EXPORT void omp_init_##kind(void *l); \
	EXPORT void omp_destroy_##kind(void *l); \
	EXPORT void omp_set_##kind(void *l); \
	EXPORT void omp_unset_##kind(void *l); \
	EXPORT int omp_test_##kind(void *l); \
	void omp_init_##kind(void *l) \
	{ \
		struct thread *t = recording(); \
		if (t) \
			plan_point(t); \
		REAL(omp_init_##kind)(l); \
		if (t) \
			log_init(t, l, 0); \
	} \
	void omp_destroy_##kind(void *l) \
	{ \
		struct thread *t = recording(); \
		REAL(omp_destroy_##kind)(l); \
		if (t) { \
			plan_point(t); \
			log_sync(t, LOG_DESTROY, CALLER(), l); \
		} \
	} \
	void omp_set_##kind(void *l) \
	{ \
		struct thread *t = recording(); \
		if (t && rt.controlled) { \
			sched_point(t); \
			while (!REAL(omp_test_##kind)(l) && rt.on) { \
				t->sched.pc = CALLER(); \
				sched_block(t, FOR_SPIN, l, false, 0); \
			} \
			plan_point(t); \
		} else { \
			REAL(omp_set_##kind)(l); \
		} \
		if (t) \
			log_sync(t, LOG_ACQ, CALLER(), l); \
	} \
	void omp_unset_##kind(void *l) \
	{ \
		struct thread *t = recording(); \
		if (t) { \
			plan_point(t); \
			log_sync(t, LOG_REL, CALLER(), l); \
		} \
		REAL(omp_unset_##kind)(l); \
		if (t && rt.controlled) \
			sched_wake(l, FOR_SPIN, rt.replay ? UINT_MAX : 1); \
	} \
	int omp_test_##kind(void *l) \
	{ \
		struct thread *t = recording(); \
		if (t) \
			sched_point(t); \
		int count = REAL(omp_test_##kind)(l); \
		if (t && count) \
			log_try(t, LOG_ACQ, CALLER(), l); \
		else if (t) \
			log_sync(t, LOG_TRYFAIL, CALLER(), l); \
		return count; \
	}
LOCK(lock)
LOCK(nest_lock)
