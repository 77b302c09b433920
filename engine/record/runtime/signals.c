/*
 * signals.c - signals that one thread sends and another waits for (sigwait and its kind):
 * messages, so that what comes after the wait is known to come after the sending.
 *
 * Signals of a kind merge while they are pending: the first of them is the message.  Those
 * that a handler takes, or that come from outside, order nothing.
 */
#include <unistd.h>

#include "rt.h"

static uint64_t pending[65]; /* by signal: its message, while nobody has taken it; else 0 */

static void sending(int number, uintptr_t pc)
{
	struct thread *t = recording();
	if (!t || number < 1 || number > 64)
		return;
	sched_point(t);
	if (__atomic_load_n(&pending[number], __ATOMIC_ACQUIRE) != 0)
		return;
	uint64_t message = __atomic_add_fetch(&rt.messages, 1, __ATOMIC_RELAXED);
	log_event(t, LOG_SND, 0, pc, message, 0, 1);
	__atomic_store_n(&pending[number], message, __ATOMIC_RELEASE);
}

EXPORT int pthread_kill(pthread_t handle, int number)
{
	sending(number, CALLER());
	return REAL(pthread_kill)(handle, number);
}

EXPORT int kill(pid_t pid, int number)
{
	if (pid == getpid() || pid == 0)
		sending(number, CALLER());
	return REAL(kill)(pid, number);
}

/* The scheduler steps aside; then the signal's message has come. */
#define WAITING(name, parameters, call, came) \
	EXPORT int name parameters \
	{ \
		struct thread *t = recording(); \
		if (!t) \
			return REAL(name) call; \
		sched_point(t); \
		frame_enter(t, LOG_CALL_##name, CALLER(), true); \
		sched_leave(t); \
		int result = REAL(name) call; \
		int error = errno, number = came; \
		sched_rejoin(t); \
		frame_leave(t); \
		received(number, CALLER()); \
		errno = error; \
		return result; \
	}

static void received(int number, uintptr_t pc)
{
	struct thread *t = recording();
	if (!t || number < 1 || number > 64)
		return;
	uint64_t message = __atomic_exchange_n(&pending[number], 0, __ATOMIC_ACQ_REL);
	if (message == 0)
		return;
	plan_point(t);
	log_event(t, LOG_RCV, 0, pc, message, 0, 1);
}

WAITING(sigwait, (const sigset_t *restrict s, int *restrict n), (s, n), result == 0 ? *n : 0)
WAITING(sigwaitinfo, (const sigset_t *restrict s, siginfo_t *restrict i), (s, i), result)
WAITING(sigtimedwait,
        (const sigset_t *restrict s, siginfo_t *restrict i, const struct timespec *restrict w),
        (s, i, w), result)
