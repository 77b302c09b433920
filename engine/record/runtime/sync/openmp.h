/*
 * openmp.h - declarations of the files openmp*.c: GCC's libgomp as the
 * ordinary compiler made it, in the program's calls.
 *
 * libgomp still keeps its teams, work sharing and settings.  Its waits and its tasks are ours,
 * so that every wait is the scheduler's and every hand-over an event: in controlled mode a
 * thread of a team runs the program's code with the token alone, and is parked, out of the
 * scheduler's sight, while it is in libgomp's own (between two parallel regions).  In free mode
 * libgomp's functions do it all, and the events stand around them.
 */
#ifndef HEDDLE_OPENMP_H
#define HEDDLE_OPENMP_H

#include "engine/record/runtime/core/rt.h"

struct task; /* a task created with GOMP_task: openmp_tasks.c */

struct team { /* of a parallel region */
	void (*fn)(void *);
	void *data;
	uintptr_t pc; /* of the region */
	unsigned size;
	volatile int arrived; /* futex: number of threads, without the master, that have come
	                       * to the region */
	unsigned ended;
	uint64_t begin, end;          /* messages: from the master, to it */
	const void *barrier;          /* its object: LOG_OMP_BARRIERS */
	unsigned waiting, generation; /* of the barrier */
	uint64_t shares;              /* given so far */
	uint64_t ordered, posted;     /* messages of `ordered` and `doacross` */
	void *copy;                   /* copyprivate */
	struct thread **members;      /* by number; NULL before they arrive */
	/* tasks */
	struct task *first, *last; /* not begun, and running, in the order of creation */
	uint64_t tasks; /* message: sent by the end of each, received after a barrier */
};

/* A new number for a message that may be sent and received more than once. */
static inline uint64_t openmp_message(void)
{
	return __atomic_add_fetch(&rt.messages, 1, __ATOMIC_RELAXED);
}
static inline void openmp_send(struct thread *t, uint64_t message, uintptr_t pc)
{
	log_event(t, LOG_SND, 0, pc, message, 0, 1);
}
static inline void openmp_receive(struct thread *t, uint64_t message, uintptr_t pc)
{
	plan_point(t);
	log_event(t, LOG_RCV, 0, pc, message, 0, 1);
}

/* This thread gets the next share from libgomp, or from the list of tasks: a relaxed
 * read-modify-write of the team's, so that every order of the trace shares out as the recording
 * did, and it orders nothing. */
void openmp_share(struct thread *t, struct team *team, uintptr_t pc);

/* Runs the next task of the team that may run now, only a child of `of` if that is not NULL;
 * false: none may run. */
bool task_run_one(struct thread *t, struct team *team, const struct task *of, uintptr_t pc);
bool tasks_left(const struct team *team);

/* A wait of libgomp's own, for which the scheduler steps aside. Its end depends on the
 * machine, so this schedule may not be reproducible, which is noted. */
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

#endif
