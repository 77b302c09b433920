/* sync_barrier.c - POSIX barriers, in controlled mode modelled whole; see sync_private.h. */
#include "engine/record/runtime/libc/libc.h"
#include "sync_private.h"

INTERPOSED(pthread_barrier_wait, pthread_barrier_init, pthread_barrier_destroy);

int interposed_pthread_barrier_wait(pthread_barrier_t *b)
{
	struct thread *t = recording();
	if (!t)
		return REAL(pthread_barrier_wait)(b);
	uintptr_t pc = CALLER();
	unsigned count = ((const unsigned *)b)[2]; /* glibc: in, round, count */
	sched_point(t);
	if (count == 0)
		misused(t, MISUSE_NEVER_INITIALISED, pc, b);
	else
		sync_check_alive(t, b, pc);
	log_event(t, LOG_SEMAPHORE, 0, pc, (uintptr_t)b, count, 2);
	log_sync(t, LOG_ARRIVE, pc, b);
	int status = 0;
	if (!rt.controlled) {
		status = REAL(pthread_barrier_wait)(b);
	} else if (((const unsigned *)b)[3] && memory_outside(b)) { /* glibc: shared */
		sched_leave(t);
		status = REAL(pthread_barrier_wait)(b);
		sched_rejoin(t);
	} else {
		if (sched_at_barrier(b) + 1 >= count) {
			sched_open_barrier(b);
			status = PTHREAD_BARRIER_SERIAL_THREAD;
		} else {
			t->sched.pc = pc;
			t->sync.barrier = b;
			while (t->sync.barrier && rt.on)
				sched_block(t, FOR_BARRIER, b, false, 0);
		}
	}
	plan_point(t);
	log_sync(t, LOG_DEPART, pc, b);
	return status;
}
int interposed_pthread_barrier_init(pthread_barrier_t *b,
                                    const pthread_barrierattr_t *attributes, unsigned count)
{
	struct thread *t = before_init();
	sync_set_mark(b, 0);
	return initialised(b, REAL(pthread_barrier_init)(b, attributes, count), t, CALLER());
}
int interposed_pthread_barrier_destroy(pthread_barrier_t *b)
{
	struct thread *t = recording();
	if (t) {
		const volatile unsigned *inside = (const volatile unsigned *)b;
		plan_point(t);
		sync_check_destroy(
		        t, b, rt.controlled ? sched_at_barrier(b) > 0 : inside[0] > inside[1],
		        CALLER());
		sync_set_mark(b, MARK_DESTROYED);
	}
	return destroyed(b, REAL(pthread_barrier_destroy)(b), 0, t, CALLER());
}
