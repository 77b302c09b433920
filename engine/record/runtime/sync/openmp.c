/* openmp.c - parallel regions of OpenMP; see openmp.h. */
#include <limits.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "openmp.h"

int omp_get_num_threads(void);
int omp_get_thread_num(void);

extern void *__libc_calloc(size_t count, size_t size);
extern void __libc_free(void *p);

/* The master, with the token, waits until the other threads of its team have left libgomp and
 * can run. */
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
	struct team *outer = t->openmp.team;
	struct task *task = t->openmp.task;
	uintptr_t from = t->calls.from;
	t->openmp.team = team;
	t->openmp.task = NULL;
	t->calls.from = team->pc;
	team->fn(team->data);
	t->openmp.team = outer;
	t->openmp.task = task;
	t->calls.from = from;
}

static void master_region(struct thread *t, struct team *team)
{
	team->size = (unsigned)REAL(omp_get_num_threads)();
	if (rt.controlled) {
		sched_point(t);
		openmp_send(t, team->begin, team->pc); /* when all threads of the team have
		                                        * arrived */
		gather(t, team);
	}
	sched_point_after(t);
	run_region(t, team);
	if (!rt.controlled)
		return;
	while (tasks_left(team) || team->ended + 1 < team->size) {
		if (task_run_one(t, team, NULL, team->pc))
			continue;
		t->sched.pc = team->pc;
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

/* Called by libgomp in every thread of the team. */
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

/* Threads of a nested region end with it. The master, with the token, waits until they have
 * ended and wait for the token, so that this does not depend on their speed. */
static void await_ends(const struct team *team)
{
	enum { YIELDS = 50, PATIENCE = 20000 };
	unsigned looks = 0;
	for (unsigned i = 1; i < team->size; i++) {
		const struct thread *member = team->members[i];
		while (member && rt.on && looks++ < PATIENCE &&
		       __atomic_load_n(&member->sched.state, __ATOMIC_ACQUIRE) ==
		               STATE_OUTSIDE) {
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
		if (rt.controlled && t->openmp.team)
			await_ends(team);
		openmp_receive(t, team->end, team->pc);
		openmp_receive(t, team->tasks, team->pc);
	}
	__libc_free(team);
}

/* A region of `fn(data)`: `real` is libgomp's call with `fn` and `data` changed. */
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
