/*
 * ipc.c - message queues (POSIX, System V) and System V semaphores between threads of the
 * program.
 *
 * The message a receiver gets depends on priorities and types; here all earlier sends are
 * ordered before it, so that no false race results, but true ones may be missed. A POSIX queue
 * is a descriptor, so its waits are the scheduler's; for others it steps aside.
 */
#include <mqueue.h>
#include <poll.h>
#include <sys/msg.h>
#include <sys/sem.h>

#include "engine/record/runtime/libc/ranges.h"

INTERPOSED(mq_send, mq_timedsend, mq_receive, mq_timedreceive, msgsnd, msgrcv, semop,
           semtimedop);

enum kind { POSIX_QUEUE = 1, MESSAGE_QUEUE, SEMAPHORES };
static uintptr_t key_of(enum kind kind, int id)
{
	return (uintptr_t)kind << 56 | (uintptr_t)(unsigned)id << 3;
}

static void note(enum kind kind)
{
	order_matters(kind == SEMAPHORES ? "semop" : "a message queue");
}

/* The call is ordered after earlier sends, and before later receives. */
static void sends(enum kind kind, int id, uintptr_t pc)
{
	note(kind);
	message_acquire(key_of(kind, id), pc);
	message_release(key_of(kind, id), pc);
}

/* For calls that may block without a condition known to the scheduler. */
#define STEP_ASIDE(t, expression) \
	({ \
		sched_leave(t); \
		__typeof__(expression) r_ = (expression); \
		int error_ = errno; \
		sched_rejoin(t); \
		errno = error_; \
		r_; \
	})

static void await(struct thread *t, mqd_t q, short events)
{
	struct mq_attr a;
	if (!rt.controlled || mq_getattr(q, &a) != 0 || a.mq_flags & O_NONBLOCK)
		return;
	struct pollfd one = { .fd = q, .events = events };
	sched_wait_files(t, &one, 1, false, 0);
}

int interposed_mq_send(mqd_t q, const char *p, size_t n, unsigned priority)
{
	struct thread *t = recording();
	if (!t)
		return REAL(mq_send)(q, p, n, priority);
	READS(p, n);
	sends(POSIX_QUEUE, q, CALLER());
	await(t, q, POLLOUT);
	return REAL(mq_send)(q, p, n, priority);
}
int interposed_mq_timedsend(mqd_t q, const char *p, size_t n, unsigned priority,
                            const struct timespec *limit)
{
	struct thread *t = recording();
	if (!t)
		return REAL(mq_timedsend)(q, p, n, priority, limit);
	READS(p, n);
	sends(POSIX_QUEUE, q, CALLER());
	return STEP_ASIDE(t, REAL(mq_timedsend)(q, p, n, priority, limit));
}

static void received(mqd_t q, char *p, ssize_t n, unsigned *priority, uintptr_t pc)
{
	if (n < 0)
		return;
	message_acquire(key_of(POSIX_QUEUE, q), pc);
	WRITES_AT(p, (size_t)n, pc);
	if (priority)
		WRITES_AT(priority, sizeof(*priority), pc);
}
ssize_t interposed_mq_receive(mqd_t q, char *p, size_t room, unsigned *priority)
{
	struct thread *t = recording();
	if (!t)
		return REAL(mq_receive)(q, p, room, priority);
	note(POSIX_QUEUE);
	await(t, q, POLLIN);
	ssize_t n = REAL(mq_receive)(q, p, room, priority);
	received(q, p, n, priority, CALLER());
	return n;
}
ssize_t interposed_mq_timedreceive(mqd_t q, char *restrict p, size_t room,
                                   unsigned *restrict priority,
                                   const struct timespec *restrict limit)
{
	struct thread *t = recording();
	if (!t)
		return REAL(mq_timedreceive)(q, p, room, priority, limit);
	note(POSIX_QUEUE);
	ssize_t n = STEP_ASIDE(t, REAL(mq_timedreceive)(q, p, room, priority, limit));
	received(q, p, n, priority, CALLER());
	return n;
}

int interposed_msgsnd(int q, const void *m, size_t n, int flags)
{
	struct thread *t = recording();
	if (!t)
		return REAL(msgsnd)(q, m, n, flags);
	READS(m, sizeof(long) + n);
	sends(MESSAGE_QUEUE, q, CALLER());
	return STEP_ASIDE(t, REAL(msgsnd)(q, m, n, flags));
}
ssize_t interposed_msgrcv(int q, void *m, size_t room, long type, int flags)
{
	struct thread *t = recording();
	if (!t)
		return REAL(msgrcv)(q, m, room, type, flags);
	note(MESSAGE_QUEUE);
	ssize_t n = STEP_ASIDE(t, REAL(msgrcv)(q, m, room, type, flags));
	if (n >= 0) {
		message_acquire(key_of(MESSAGE_QUEUE, q), CALLER());
		WRITES(m, sizeof(long) + (size_t)n);
	}
	return n;
}

static int operate(int s, struct sembuf *o, size_t n, const struct timespec *limit, bool timed,
                   uintptr_t pc)
{
	struct thread *t = recording();
	if (!t)
		return timed ? REAL(semtimedop)(s, o, n, limit) : REAL(semop)(s, o, n);
	bool gives = false, takes = false;
	note(SEMAPHORES);
	for (size_t i = 0; i < n; i++) {
		gives |= o[i].sem_op > 0;
		takes |= o[i].sem_op <= 0;
	}
	if (gives)
		sends(SEMAPHORES, s, pc);
	int result =
	        STEP_ASIDE(t, timed ? REAL(semtimedop)(s, o, n, limit) : REAL(semop)(s, o, n));
	if (takes && result == 0)
		message_acquire(key_of(SEMAPHORES, s), pc);
	return result;
}
int interposed_semop(int s, struct sembuf *o, size_t n)
{
	return operate(s, o, n, NULL, false, CALLER());
}
int interposed_semtimedop(int s, struct sembuf *o, size_t n, const struct timespec *limit)
{
	return operate(s, o, n, limit, true, CALLER());
}
