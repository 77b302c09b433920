/*
 * cancel.c - whether and when a thread that is cancelled ends.
 *
 * By PTHREAD_CANCEL_ASYNCHRONOUS the C library would end it by a signal at any instruction,
 * also in the runtime, which then keeps a lock or the token. So in controlled mode the C
 * library is told PTHREAD_CANCEL_DEFERRED, and the thread ends at its next scheduling point, as
 * if the signal had come there.
 */
#include <pthread.h>

#include "engine/record/runtime/libc/ranges.h"
#include "engine/record/runtime/sched/sched_private.h"

INTERPOSED(pthread_setcancelstate, pthread_setcanceltype);

void sched_end_cancelled(struct thread *t)
{
	if (sched_cancelled(&t->sched) && t->sched.cancel_at_once && rt.on)
		pthread_testcancel();
}

int interposed_pthread_setcancelstate(int state, int *old)
{
	struct thread *t = me;
	int status = REAL(pthread_setcancelstate)(state, old);
	if (t == &nobody || status != 0)
		return status;
	t->sched.uncancellable = state == PTHREAD_CANCEL_DISABLE;
	if (old)
		WRITES(old, sizeof(*old));
	sched_end_cancelled(t);
	return status;
}

int interposed_pthread_setcanceltype(int type, int *old)
{
	struct thread *t = me;
	bool known = type == PTHREAD_CANCEL_ASYNCHRONOUS || type == PTHREAD_CANCEL_DEFERRED;
	if (t == &nobody || !rt.on || !rt.controlled || !known) {
		int status = REAL(pthread_setcanceltype)(type, old);
		if (old && status == 0)
			WRITES(old, sizeof(*old));
		return status;
	}
	if (old) {
		*old = t->sched.cancel_at_once ? PTHREAD_CANCEL_ASYNCHRONOUS
		                               : PTHREAD_CANCEL_DEFERRED;
		WRITES(old, sizeof(*old));
	}
	t->sched.cancel_at_once = type == PTHREAD_CANCEL_ASYNCHRONOUS;
	sched_end_cancelled(t);
	return 0;
}
