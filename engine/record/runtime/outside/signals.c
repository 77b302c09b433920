/*
 * signals.c - signals that one thread sends and another waits for (sigwait and its kind), or
 * reads from a signalfd (descriptors.c): messages, so that events after the wait are ordered
 * after the sending.
 *
 * Signals of a kind merge while they are pending: the first of them is the message.  Those that
 * a handler takes are messages to it (handlers.c).  Those from outside order nothing, are
 * recorded, and given on replay (outside.h).
 */
#include <string.h>
#include <unistd.h>

#include "engine/record/runtime/core/rt.h"
#include "engine/record/runtime/libc/ranges.h"

INTERPOSED(gsignal);

static uint64_t pending[65]; /* by signal: its message, until a thread takes it; else 0 */

static void sending(int number, uintptr_t pc)
{
	struct thread *t = recording();
	if (!t || number < 1 || number > 64)
		return;
	sched_point(t);
	if (__atomic_load_n(&pending[number], __ATOMIC_ACQUIRE) != 0)
		return;
	uint64_t message = message_new(t);
	log_event(t, LOG_SND, 0, pc, message, 0, 1);
	__atomic_store_n(&pending[number], message, __ATOMIC_RELEASE);
}

uint64_t signal_message(int number)
{
	return __atomic_exchange_n(&pending[number], 0, __ATOMIC_ACQ_REL);
}

/* Calls that send a signal to a thread of the process (`here`): to `to`, or, where this is
 * NULL, to one that takes it; `own`: to the calling one, whose handler, where the signal is not
 * blocked, runs within the call. */
#define SENDS(name, parameters, call, number, code, value, here, to, own) \
	INTERPOSED(name); \
	int interposed_##name parameters \
	{ \
		struct thread *t_ = me; \
		int raised = t_->signals.raised; \
		bool here_ = here, own_ = own; \
		if (here_ && !own_ && signal_hold(to, number, code, value, CALLER())) \
			return 0; \
		unsigned before = signals_arrived(); \
		if (here_) \
			sending(number, CALLER()); \
		if (here_ && !own_) \
			order_matters("a signal to another thread, or to the process"); \
		if (own_ && t_ != &nobody) \
			t_->signals.raised = number; \
		int result = REAL(name) call; \
		int error = errno; \
		if (own_ && t_ != &nobody) \
			t_->signals.raised = raised; \
		if (here_ && result == 0) \
			signal_settle(number, before); \
		errno = error; \
		return result; \
	}

/* Does the calling thread take a signal to the process? */
static bool takes(int number)
{
	return me != &nobody && number > 0 && number <= 64 && signals_are_held() &&
	       signal_taker(number) == me;
}

static struct thread *thread_of_kernel(pid_t tid)
{
	for (uint32_t i = 0; i < rt.thread_count && i < MAX_THREADS; i++)
		if (rt.threads[i] && rt.threads[i]->life.tid == tid)
			return rt.threads[i];
	return NULL;
}

#define NO_VALUE ((union sigval){ 0 })
SENDS(pthread_kill, (pthread_t t, int number), (t, number), number, SI_TKILL, NO_VALUE, true,
      thread_of_handle(t), pthread_equal(t, pthread_self()))
SENDS(pthread_sigqueue, (pthread_t t, int number, const union sigval v), (t, number, v), number,
      SI_QUEUE, v, true, thread_of_handle(t), pthread_equal(t, pthread_self()))
SENDS(kill, (pid_t pid, int number), (pid, number), number, SI_USER, NO_VALUE,
      pid == getpid() || pid == 0, signal_taker(number), takes(number))
SENDS(killpg, (pid_t group, int number), (group, number), number, SI_USER, NO_VALUE,
      group == getpgrp(), signal_taker(number), takes(number))
SENDS(sigqueue, (pid_t pid, int number, const union sigval v), (pid, number, v), number,
      SI_QUEUE, v, pid == getpid(), signal_taker(number), takes(number))
SENDS(tgkill, (pid_t pid, pid_t tid, int number), (pid, tid, number), number, SI_TKILL,
      NO_VALUE, pid == getpid(), thread_of_kernel(tid), tid == gettid())
SENDS(raise, (int number), (number), number, SI_TKILL, NO_VALUE, true, NULL, true)
int interposed_gsignal(int number)
{
	return raise(number);
}

/* Replay: the signal from outside that ended the wait; 0: none. */
static int given(struct thread *t)
{
	const struct log_input *in =
	        rt.inputs == INPUTS_GIVEN ? input_next(t, LOG_INPUT_sigwait) : NULL;
	if (!in || (in->ordinal != t->ordinal && rt.replay))
		return 0;
	if (rt.replay)
		replay_call(t);
	input_taken(t);
	return (int)in->result;
}

/* Returns a recorded signal's number. */
static int tell(int number, int *n, siginfo_t *info)
{
	if (n)
		*n = number;
	if (info) {
		memset(info, 0, sizeof(*info));
		info->si_signo = number;
	}
	return n ? 0 : number;
}

static void kept(struct thread *t, int number)
{
	if (number > 0 && number < 65 && pending[number] == 0)
		input_keep(t, LOG_INPUT_sigwait, -1, number, NULL, 0, 0);
}

void signal_received(int number, uintptr_t pc)
{
	struct thread *t = recording();
	if (!t || number < 1 || number > 64)
		return;
	uint64_t message = signal_message(number);
	if (message == 0)
		return;
	plan_point(t);
	log_event(t, LOG_RCV, 0, pc, message, 0, 1);
}

/* What the wait has written, for its result, which is returned. */
static int told(int result, const int *n, const siginfo_t *info, uintptr_t pc)
{
	if (n && result == 0)
		WRITES_AT(n, sizeof(*n), pc);
	if (info && result > 0)
		WRITES_AT(info, sizeof(*info), pc);
	return result;
}

/* The scheduler steps aside; then the signal's message is received. */
#define WAITING(name, parameters, call, came, n_, info_) \
	INTERPOSED(name); \
	int interposed_##name parameters \
	{ \
		struct thread *t = recording(); \
		if (!t) \
			return REAL(name) call; \
		order_matters("waiting for a signal"); \
		held_forward(t); \
		READS(s, sizeof(*(s))); \
		int gift = given(t); \
		if (gift) \
			return told(tell(gift, n_, info_), n_, info_, CALLER()); \
		sched_point(t); \
		frame_enter(t, LOG_CALL_##name, CALLER(), true); \
		sched_leave(t); \
		int result = REAL(name) call; \
		int error = errno, number = came; \
		sched_rejoin(t); \
		frame_leave(t); \
		kept(t, number); \
		signal_received(number, CALLER()); \
		errno = error; \
		return told(result, n_, info_, CALLER()); \
	}

WAITING(sigwait, (const sigset_t *restrict s, int *restrict n), (s, n), result == 0 ? *n : 0, n,
        NULL)
WAITING(sigwaitinfo, (const sigset_t *restrict s, siginfo_t *restrict i), (s, i), result, NULL,
        i)
WAITING(sigtimedwait,
        (const sigset_t *restrict s, siginfo_t *restrict i, const struct timespec *restrict w),
        (s, i, w), result, NULL, i)
