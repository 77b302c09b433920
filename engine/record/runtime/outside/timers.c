/*
 * timers.c - POSIX timers that run a function in a thread of the C library's (SIGEV_THREAD).
 *
 * No call that could be recorded creates that thread: it is taken in when the function
 * begins, as a thread without a fork that receives a message of the thread that set the timer.
 * While one is set, input may still come from outside.  Timers that send signals are the
 * signals' business.
 */
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "engine/record/runtime/core/rt.h"
#include "engine/record/runtime/libc/ranges.h"

INTERPOSED(timer_create, timer_settime, timer_delete);

enum { MAX_TIMERS = 256 };
static struct alarm {
	bool used, armed;
	timer_t id;
	void (*function)(union sigval);
	union sigval value;
	struct thread *owner; /* the thread's parent, as recorded */
	uint64_t message;
} alarms[MAX_TIMERS];

/* Timers that send a signal. */
static struct {
	timer_t id;
	int number;
} senders[MAX_TIMERS];
static unsigned sender_count;

static int signal_of(timer_t id)
{
	for (unsigned i = sender_count; i-- > 0;)
		if (senders[i].id == id)
			return senders[i].number;
	return 0;
}

static struct alarm *alarm_of(timer_t id)
{
	for (unsigned i = 0; i < MAX_TIMERS; i++)
		if (alarms[i].used && alarms[i].id == id)
			return &alarms[i];
	return NULL;
}

static void expired(union sigval v)
{
	const struct alarm *a = v.sival_ptr;
	void (*function)(union sigval) = a->function;
	union sigval value = a->value;
	uint64_t message = a->message;
	struct thread *t = rt.on && me == &nobody ? thread_new(a->owner) : NULL;
	if (t) {
		t->life.tid = syscall(SYS_gettid);
		t->life.detached = t->life.started = true;
		sched_adopt(t);
		thread_begin(t);
		if (message)
			log_event(t, LOG_RCV, 0, (uintptr_t)function + 1, message, 0, 1);
	}
	function(value);
}

static int make_timer(struct thread *t, clockid_t clock, struct sigevent *e, timer_t *out)
{
	struct alarm *a = NULL;
	for (unsigned i = 0; t && e && e->sigev_notify == SIGEV_THREAD && i < MAX_TIMERS && !a;
	     i++)
		if (!alarms[i].used)
			a = &alarms[i];
	if (!a) {
		int status = REAL(timer_create)(clock, e, out);
		if (status == 0 && t && sender_count < MAX_TIMERS)
			senders[sender_count++] =
			        (__typeof__(senders[0])){ *out, e ? e->sigev_signo : SIGALRM };
		return status;
	}
	struct sigevent mine = *e;
	*a = (struct alarm){ .used = true,
		             .function = e->sigev_notify_function,
		             .value = e->sigev_value,
		             .owner = t };
	t->life.lends = true;
	mine.sigev_notify_function = expired;
	mine.sigev_value.sival_ptr = a;
	int result = INSIDE(t, REAL(timer_create)(clock, &mine, out));
	a->used = result == 0;
	a->id = *out;
	return result;
}

int interposed_timer_create(clockid_t clock, struct sigevent *restrict e, timer_t *restrict out)
{
	if (e)
		READS(e, sizeof(*e));
	int result = make_timer(recording(), clock, e, out);
	if (result == 0)
		WRITES(out, sizeof(*out));
	return result;
}

uint64_t timers_remaining(void)
{
	uint64_t most = 0;
	for (unsigned i = 0; i < MAX_TIMERS; i++) {
		struct itimerspec left = { 0 };
		if (!alarms[i].used || !alarms[i].armed)
			continue;
		REAL(timer_gettime)(alarms[i].id, &left); /* 0: it has expired */
		uint64_t ns = (uint64_t)left.it_value.tv_sec * 1000000000u +
		              (uint64_t)left.it_value.tv_nsec + 1;
		most = ns > most ? ns : most;
	}
	return most;
}

static void arm(struct alarm *a, bool armed)
{
	if (a->armed != armed)
		sched_expect(armed ? 1 : -1);
	a->armed = armed;
}

int interposed_timer_settime(timer_t id, int flags, const struct itimerspec *restrict new,
                             struct itimerspec *restrict old)
{
	struct thread *t = recording();
	struct alarm *a = t ? alarm_of(id) : NULL;
	if (a) {
		order_matters_later("a timer");
		sched_point(t);
		a->message = message_new(t);
		log_event(t, LOG_SND, 0, CALLER(), a->message, 0, 1);
		arm(a, new->it_value.tv_sec || new->it_value.tv_nsec);
	} else if (t && new) {
		timer_signal(signal_of(id), new->it_value.tv_sec || new->it_value.tv_nsec,
		             CALLER());
	}
	if (new)
		READS(new, sizeof(*new));
	int result = REAL(timer_settime)(id, flags, new, old);
	if (result == 0 && old)
		WRITES(old, sizeof(*old));
	return result;
}
int interposed_timer_delete(timer_t id)
{
	struct thread *t = recording();
	struct alarm *a = t ? alarm_of(id) : NULL;
	if (a) {
		arm(a, false);
		a->used = false;
	}
	return REAL(timer_delete)(id);
}
