/*
 * openmp_barrier.c - barriers of OpenMP: by themselves, at the end of loops and sections, and
 * around a value that one thread copies to the others; see openmp.h.
 */
#include <limits.h>

#include "openmp.h"

/* Waits, and runs tasks, until all have arrived and no task is left. */
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
		t->sched.pc = pc;
		sched_block(t, FOR_BARRIER, team->barrier, false, 0);
		if (!rt.on)
			return;
	}
	plan_point(t);
	log_sync(t, LOG_DEPART, pc, team->barrier);
	openmp_receive(t, team->tasks, pc);
}

/* At a barrier of libgomp's, `real`; in controlled mode `instead` and ours. */
#define BARRIER_HERE(real, instead) \
	struct thread *t = recording(); \
	struct team *team = t ? t->openmp.team : NULL; \
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
	struct team *team = t ? t->openmp.team : NULL;
	if (team && rt.controlled)
		barrier(t, team, CALLER());
	ASIDE(t, REAL(GOMP_workshare_task_reduction_unregister)(cancelled)); /* a barrier */
}

EXPORT bool GOMP_single_start(void);
EXPORT void *GOMP_single_copy_start(void);
void *GOMP_single_copy_start(void)
{
	struct thread *t = recording();
	if (!t || !t->openmp.team)
		return REAL(GOMP_single_copy_start)();
	if (!rt.controlled) {
		void *copy = REAL(GOMP_single_copy_start)();
		if (copy)
			openmp_receive(t, t->openmp.team->posted, CALLER());
		return copy;
	}
	sched_point(t);
	bool first = REAL(GOMP_single_start)();
	openmp_share(t, t->openmp.team, CALLER());
	if (first)
		return NULL;
	barrier(t, t->openmp.team, CALLER());
	return t->openmp.team->copy;
}
EXPORT void GOMP_single_copy_end(void *data);
void GOMP_single_copy_end(void *data)
{
	struct thread *t = recording();
	if (!t || !t->openmp.team) {
		REAL(GOMP_single_copy_end)(data);
		return;
	}
	t->openmp.team->copy = data;
	if (rt.controlled) {
		barrier(t, t->openmp.team, CALLER());
		return;
	}
	openmp_send(t, t->openmp.team->posted, CALLER());
	REAL(GOMP_single_copy_end)(data);
}
