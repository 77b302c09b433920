/*
 * openmp.c - parallel regions, barriers, loops' ends, critical sections and locks of OpenMP;
 * see openmp.h.
 */
#include <limits.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "openmp.h"

int omp_get_num_threads(void);
int omp_get_thread_num(void);

/* ---- parallel regions ---- */

extern void *__libc_calloc(size_t count, size_t size);
extern void __libc_free(void *p);

/* The master, with the token: the others of its team have come out of libgomp, and can run. */
static void gather(struct thread *t, struct team *team)
{
	unsigned others = team->size - 1;
	for (int arrived;
	     (arrived = __atomic_load_n(&team->arrived, __ATOMIC_ACQUIRE)) < (int)others &&
	     rt.on;)
		futex_wait(&team->arrived, arrived, 100000000);
	for (unsigned i = 1; i < team->size; i++)
		if (team->members[i])
			sched_unpark(team->members[i]);
}

static void run_region(struct thread *t, struct team *team)
{
	struct team *outer = t->team;
	struct task *task = t->task;
	uintptr_t from = t->called_from;
	t->team = team;
	t->task = NULL;
	t->called_from = team->pc;
	team->fn(team->data);
	t->team = outer;
	t->task = task;
	t->called_from = from;
}

static void master_region(struct thread *t, struct team *team)
{
	team->size = (unsigned)REAL(omp_get_num_threads)();
	if (rt.controlled) {
		sched_point(t);
		openmp_send(t, team->begin, team->pc); /* when all of the team are there */
		gather(t, team);
	}
	sched_point(t);
	run_region(t, team);
	if (!rt.controlled)
		return;
	while (tasks_left(team) || team->ended + 1 < team->size) {
		if (task_run_one(t, team, NULL, team->pc))
			continue;
		t->pc = team->pc;
		if (tasks_left(team) || team->ended + 1 < team->size)
			sched_block(t, FOR_BARRIER, team->barrier, false, 0);
		if (!rt.on)
			return;
	}
}

static void worker_region(struct thread *t, struct team *team)
{
	if (rt.controlled) {
		team->members[REAL(omp_get_thread_num)()] = t;
		__atomic_add_fetch(&team->arrived, 1, __ATOMIC_RELEASE);
		futex_wake(&team->arrived, 1);
		sched_await_unpark(t);
	}
	openmp_receive(t, team->begin, team->pc);
	run_region(t, team);
	if (!recording())
		return;
	while (rt.controlled && task_run_one(t, team, NULL, team->pc))
		;
	sched_point(t);
	openmp_send(t, team->end, team->pc);
	if (rt.controlled) {
		team->ended++;
		sched_wake(team->barrier, FOR_BARRIER, UINT_MAX);
		sched_park(t, NULL);
	}
}

/* What libgomp calls in every thread of the team. */
static void in_team(void *data)
{
	struct team *team = data;
	struct thread *t = me;
	if (team->members[0] == t)
		master_region(t, team);
	else if (t == &nobody || (t->gate & ~GATE_INSIDE))
		team->fn(team->data); /* recording has ended */
	else
		worker_region(t, team);
}

static struct team *team_begins(struct thread *t, void (*fn)(void *), void *data, uintptr_t pc)
{
	enum { LARGEST = 1024 };
	struct team *team = __libc_calloc(1, sizeof(*team) + LARGEST * sizeof(*team->members));
	if (!team)
		return NULL;
	*team = (struct team){ .fn = fn,
		               .data = data,
		               .pc = pc,
		               .begin = openmp_message(),
		               .end = openmp_message(),
		               .ordered = openmp_message(),
		               .posted = openmp_message(),
		               .tasks = openmp_message(),
		               .members = (struct thread **)(team + 1) };
	static uint64_t teams;
	uint64_t number = __atomic_fetch_add(&teams, 1, __ATOMIC_RELAXED);
	number %= (LOG_OMP_END - LOG_OMP_BARRIERS) / LOG_OMP_STEP;
	team->barrier = (const void *)(LOG_OMP_BARRIERS + number * LOG_OMP_STEP);
	team->members[0] = t;
	sched_point(t);
	if (!rt.controlled)
		openmp_send(t, team->begin, pc);
	return team;
}

/*
 * The threads of a region within another one end with it.  The master has the token: that they
 * have come to their end, and wait for the token to say so, must not depend on their speed.
 */
static void await_ends(const struct team *team)
{
	enum { YIELDS = 50, PATIENCE = 20000 };
	unsigned looks = 0;
	for (unsigned i = 1; i < team->size; i++) {
		const struct thread *member = team->members[i];
		while (member && rt.on && looks++ < PATIENCE &&
		       __atomic_load_n(&member->state, __ATOMIC_ACQUIRE) == STATE_OUTSIDE) {
			if (looks < YIELDS) {
				syscall(SYS_sched_yield);
			} else {
				struct timespec pause = { 0, 50000 };
				syscall(SYS_nanosleep, &pause, NULL);
			}
		}
	}
}

static void team_ends(struct thread *t, struct team *team)
{
	if (recording()) {
		if (rt.controlled && t->team)
			await_ends(team);
		openmp_receive(t, team->end, team->pc);
		openmp_receive(t, team->tasks, team->pc);
	}
	__libc_free(team);
}

/* A region of `fn(data)`: `real` is the call of libgomp's with `fn` and `data` changed. */
#define REGION(real, otherwise) \
	struct thread *t = recording(); \
	struct team *team = t ? team_begins(t, fn, data, CALLER()) : NULL; \
	if (!team) \
		return otherwise; \
	fn = in_team; \
	data = team; \
	real; \
	team_ends(t, team)

EXPORT void GOMP_parallel(void (*fn)(void *), void *data, unsigned n, unsigned flags);
void GOMP_parallel(void (*fn)(void *), void *data, unsigned n, unsigned flags)
{
	REGION(REAL(GOMP_parallel)(fn, data, n, flags),
	       REAL(GOMP_parallel)(fn, data, n, flags));
}
EXPORT unsigned GOMP_parallel_reductions(void (*fn)(void *), void *data, unsigned n,
                                         unsigned flags);
unsigned GOMP_parallel_reductions(void (*fn)(void *), void *data, unsigned n, unsigned flags)
{
	unsigned size;
	REGION(size = REAL(GOMP_parallel_reductions)(fn, data, n, flags),
	       REAL(GOMP_parallel_reductions)(fn, data, n, flags));
	return size;
}
EXPORT void GOMP_parallel_sections(void (*fn)(void *), void *data, unsigned n, unsigned count,
                                   unsigned flags);
void GOMP_parallel_sections(void (*fn)(void *), void *data, unsigned n, unsigned count,
                            unsigned flags)
{
	REGION(REAL(GOMP_parallel_sections)(fn, data, n, count, flags),
	       REAL(GOMP_parallel_sections)(fn, data, n, count, flags));
}
#define PARALLEL_LOOP(name) \
	EXPORT void name(void (*fn)(void *), void *data, unsigned n, long start, long end, \
	                 long step, long chunk, unsigned flags); \
	void name(void (*fn)(void *), void *data, unsigned n, long start, long end, long step, \
	          long chunk, unsigned flags) \
	{ \
		REGION(REAL(name)(fn, data, n, start, end, step, chunk, flags), \
		       REAL(name)(fn, data, n, start, end, step, chunk, flags)); \
	}
PARALLEL_LOOP(GOMP_parallel_loop_static)
PARALLEL_LOOP(GOMP_parallel_loop_dynamic)
PARALLEL_LOOP(GOMP_parallel_loop_guided)
PARALLEL_LOOP(GOMP_parallel_loop_nonmonotonic_dynamic)
PARALLEL_LOOP(GOMP_parallel_loop_nonmonotonic_guided)
#define PARALLEL_RUNTIME_LOOP(name) \
	EXPORT void name(void (*fn)(void *), void *data, unsigned n, long start, long end, \
	                 long step, unsigned flags); \
	void name(void (*fn)(void *), void *data, unsigned n, long start, long end, long step, \
	          unsigned flags) \
	{ \
		REGION(REAL(name)(fn, data, n, start, end, step, flags), \
		       REAL(name)(fn, data, n, start, end, step, flags)); \
	}
PARALLEL_RUNTIME_LOOP(GOMP_parallel_loop_runtime)
PARALLEL_RUNTIME_LOOP(GOMP_parallel_loop_nonmonotonic_runtime)
PARALLEL_RUNTIME_LOOP(GOMP_parallel_loop_maybe_nonmonotonic_runtime)

/* ---- waits of libgomp's own: the scheduler steps aside ---- */

/* They end when the machine has time, so this schedule may not come again, which is said. */
#define ASIDE(t, call) \
	do { \
		if (t) { \
			if (rt.controlled && rt.header) \
				rt.header->stolen++; \
			sched_leave(t); \
		} \
		call; \
		if (t) \
			sched_rejoin(t); \
	} while (0)

/* ---- barriers ---- */

/* Waits, and runs tasks, until all have come and no task is left. */
static void barrier(struct thread *t, struct team *team, uintptr_t pc)
{
	sched_point(t);
	log_sync(t, LOG_ARRIVE, pc, team->barrier);
	unsigned generation = team->generation;
	team->waiting++;
	for (;;) {
		if (team->generation != generation)
			break;
		if (team->waiting == team->size && !tasks_left(team)) {
			team->waiting = 0;
			team->generation++;
			sched_wake(team->barrier, FOR_BARRIER, UINT_MAX);
			break;
		}
		if (task_run_one(t, team, NULL, pc))
			continue;
		if (team->generation != generation ||
		    (team->waiting == team->size && !tasks_left(team)))
			continue;
		t->pc = pc;
		sched_block(t, FOR_BARRIER, team->barrier, false, 0);
		if (!rt.on)
			return;
	}
	plan_point(t);
	log_sync(t, LOG_DEPART, pc, team->barrier);
	openmp_receive(t, team->tasks, pc);
}

/* At a barrier of libgomp's, `real`; in controlled mode `instead` and our own. */
#define BARRIER_HERE(real, instead) \
	struct thread *t = recording(); \
	struct team *team = t ? t->team : NULL; \
	uintptr_t pc = CALLER(); \
	if (!team) { \
		real; \
	} else if (rt.controlled) { \
		instead; \
		barrier(t, team, pc); \
	} else { \
		log_sync(t, LOG_ARRIVE, pc, team->barrier); \
		real; \
		log_sync(t, LOG_DEPART, pc, team->barrier); \
		openmp_receive(t, team->tasks, pc); \
	}

#define BARRIER_CALL(name, instead) \
	EXPORT void name(void); \
	void name(void) \
	{ \
		BARRIER_HERE(REAL(name)(), instead) \
	}
#define CANCEL_CALL(name, instead) \
	EXPORT bool name(void); \
	bool name(void) \
	{ \
		bool cancelled = false; \
		BARRIER_HERE(cancelled = REAL(name)(), instead) \
		return cancelled; \
	}
void GOMP_loop_end_nowait(void);
void GOMP_sections_end_nowait(void);
BARRIER_CALL(GOMP_barrier, )
BARRIER_CALL(GOMP_loop_end, REAL(GOMP_loop_end_nowait)())
BARRIER_CALL(GOMP_sections_end, REAL(GOMP_sections_end_nowait)())
CANCEL_CALL(GOMP_barrier_cancel, )
CANCEL_CALL(GOMP_loop_end_cancel, REAL(GOMP_loop_end_nowait)())
CANCEL_CALL(GOMP_sections_end_cancel, REAL(GOMP_sections_end_nowait)())

EXPORT void GOMP_workshare_task_reduction_unregister(bool cancelled);
void GOMP_workshare_task_reduction_unregister(bool cancelled)
{
	struct thread *t = recording();
	struct team *team = t ? t->team : NULL;
	if (team && rt.controlled)
		barrier(t, team, CALLER());
	ASIDE(t, REAL(GOMP_workshare_task_reduction_unregister)(cancelled)); /* a barrier */
}

EXPORT bool GOMP_single_start(void);
EXPORT void *GOMP_single_copy_start(void);
void *GOMP_single_copy_start(void)
{
	struct thread *t = recording();
	if (!t || !t->team)
		return REAL(GOMP_single_copy_start)();
	if (!rt.controlled) {
		void *copy = REAL(GOMP_single_copy_start)();
		if (copy)
			openmp_receive(t, t->team->posted, CALLER());
		return copy;
	}
	sched_point(t);
	bool first = REAL(GOMP_single_start)();
	openmp_share(t, t->team, CALLER());
	if (first)
		return NULL;
	barrier(t, t->team, CALLER());
	return t->team->copy;
}
EXPORT void GOMP_single_copy_end(void *data);
void GOMP_single_copy_end(void *data)
{
	struct thread *t = recording();
	if (!t || !t->team) {
		REAL(GOMP_single_copy_end)(data);
		return;
	}
	t->team->copy = data;
	if (rt.controlled) {
		barrier(t, t->team, CALLER());
		return;
	}
	openmp_send(t, t->team->posted, CALLER());
	REAL(GOMP_single_copy_end)(data);
}

/* ---- sharing out: single, loops by chunks, sections ---- */

void openmp_share(struct thread *t, struct team *team, uintptr_t pc)
{
	enum { RELAXED = 1, FOUR_BYTES = 2 };
	const char *at = (const char *)team->barrier + LOG_OMP_SHARES;
	uint64_t old = __atomic_fetch_add(&team->shares, 1, __ATOMIC_RELAXED);
	log_rmw(t, RELAXED, pc, at, FOUR_BYTES, old & UINT32_MAX, (old + 1) & UINT32_MAX);
}

#define SHARE(type, name, parameters, arguments) \
	EXPORT type name parameters; \
	type name parameters \
	{ \
		struct thread *t = recording(); \
		if (!t || !t->team) \
			return REAL(name) arguments; \
		sched_point(t); \
		type got = REAL(name) arguments; \
		openmp_share(t, t->team, CALLER()); \
		return got; \
	}
SHARE(bool, GOMP_single_start, (void), ())
SHARE(unsigned, GOMP_sections_start, (unsigned count), (count))
SHARE(unsigned, GOMP_sections_next, (void), ())
#define LOOP_NEXT(name) SHARE(bool, name, (long *from, long *to), (from, to))
#define LOOP_CHUNKS(name) \
	SHARE(bool, name##_start, \
	      (long start, long end, long step, long chunk, long *from, long *to), \
	      (start, end, step, chunk, from, to)) \
	LOOP_NEXT(name##_next)
#define LOOP_RUNTIME(name) \
	SHARE(bool, name##_start, (long start, long end, long step, long *from, long *to), \
	      (start, end, step, from, to)) \
	LOOP_NEXT(name##_next)
#define ULL            unsigned long long
#define ULL_NEXT(name) SHARE(bool, name, (ULL * from, ULL * to), (from, to))
#define ULL_CHUNKS(name) \
	SHARE(bool, name##_start, \
	      (bool up, ULL start, ULL end, ULL step, ULL chunk, ULL *from, ULL *to), \
	      (up, start, end, step, chunk, from, to)) \
	ULL_NEXT(name##_next)
#define ULL_RUNTIME(name) \
	SHARE(bool, name##_start, (bool up, ULL start, ULL end, ULL step, ULL *from, ULL *to), \
	      (up, start, end, step, from, to)) \
	ULL_NEXT(name##_next)
LOOP_CHUNKS(GOMP_loop_dynamic)
LOOP_CHUNKS(GOMP_loop_guided)
LOOP_CHUNKS(GOMP_loop_nonmonotonic_dynamic)
LOOP_CHUNKS(GOMP_loop_nonmonotonic_guided)
LOOP_CHUNKS(GOMP_loop_ordered_dynamic)
LOOP_CHUNKS(GOMP_loop_ordered_guided)
LOOP_RUNTIME(GOMP_loop_runtime)
LOOP_RUNTIME(GOMP_loop_nonmonotonic_runtime)
LOOP_RUNTIME(GOMP_loop_maybe_nonmonotonic_runtime)
LOOP_RUNTIME(GOMP_loop_ordered_runtime)
ULL_CHUNKS(GOMP_loop_ull_dynamic)
ULL_CHUNKS(GOMP_loop_ull_guided)
ULL_CHUNKS(GOMP_loop_ull_nonmonotonic_dynamic)
ULL_CHUNKS(GOMP_loop_ull_nonmonotonic_guided)
ULL_RUNTIME(GOMP_loop_ull_runtime)
ULL_RUNTIME(GOMP_loop_ull_nonmonotonic_runtime)
ULL_RUNTIME(GOMP_loop_ull_maybe_nonmonotonic_runtime)

/* ---- ordered, doacross ---- */

EXPORT void GOMP_ordered_start(void);
void GOMP_ordered_start(void)
{
	struct thread *t = recording();
	if (t)
		sched_point(t);
	ASIDE(t, REAL(GOMP_ordered_start)());
	if (t && t->team)
		openmp_receive(t, t->team->ordered, CALLER());
}
EXPORT void GOMP_ordered_end(void);
void GOMP_ordered_end(void)
{
	struct thread *t = recording();
	if (t && t->team) {
		plan_point(t);
		openmp_send(t, t->team->ordered, CALLER());
	}
	REAL(GOMP_ordered_end)();
}

EXPORT void GOMP_doacross_post(long *counts);
void GOMP_doacross_post(long *counts)
{
	struct thread *t = recording();
	if (t && t->team) {
		sched_point(t);
		openmp_send(t, t->team->posted, CALLER());
	}
	REAL(GOMP_doacross_post)(counts);
}
EXPORT void GOMP_doacross_wait(long first, ...);
void GOMP_doacross_wait(long first, ...)
{
	enum { MOST = 7 }; /* further dimensions of a loop: more are passed than there are */
	struct thread *t = recording();
	long a[MOST];
	va_list list;
	va_start(list, first);
	for (unsigned i = 0; i < MOST; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if (t)
		sched_point(t);
	ASIDE(t, REAL(GOMP_doacross_wait)(first, a[0], a[1], a[2], a[3], a[4], a[5], a[6]));
	if (t && t->team)
		openmp_receive(t, t->team->posted, CALLER());
}

/* ---- critical sections and atomics without an instruction ---- */

enum { SECTIONS = 256 };
static struct section { /* controlled mode: those that are held */
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
		t->pc = pc;
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

/* `lock` is what stands for it in the trace. */
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

/* omp_lock_t and omp_nest_lock_t; a test takes it when it can, and says how often it is held.
 */
#define LOCK(kind) \
	EXPORT void omp_init_##kind(void *l); \
	EXPORT void omp_destroy_##kind(void *l); \
	EXPORT void omp_set_##kind(void *l); \
	EXPORT void omp_unset_##kind(void *l); \
	EXPORT int omp_test_##kind(void *l); \
	void omp_init_##kind(void *l) \
	{ \
		struct thread *t = recording(); \
		REAL(omp_init_##kind)(l); \
		if (t) \
			log_init(t, l); \
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
				t->pc = CALLER(); \
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
