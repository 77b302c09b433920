/*
 * futex.c - the C library's syscall(), for the futex that code calls by itself: libstdc++'s
 * std::future, std::atomic::wait, std::latch, std::counting_semaphore; locks of other
 * languages.
 *
 * In controlled mode a wait is one in our scheduler, with a deadline of virtual time; how it
 * ended is kept for replay, like what a clock said.  Nothing of it is an event: a futex says
 * nothing but "look again", it may say so at any time, and who does not wait in time is not
 * even asked.  So it orders nothing; what does are the atomics around it, which are recorded
 * where they are instrumented.
 *
 * A wake also goes to the kernel, for those who wait there: threads that the runtime does not
 * schedule, and other processes.
 */
#include <limits.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <unistd.h>
#include <sys/syscall.h>

#include "rt.h"

INTERPOSED(syscall);

/* As syscall() answers: -1 and errno for a failure. */
static long as_syscall(long result)
{
	if ((unsigned long)result <= -4096ul)
		return result;
	errno = (int)-result;
	return -1;
}

static long answered(long number, long a, long b, long c, long d, long e, long f)
{
	return as_syscall(raw_syscall(number, a, b, c, d, e, f));
}

/* As the C library's: whole registers are passed on, of which the kernel takes its part. */
#define REGISTERS(last, a) \
	long a[6]; \
	va_list list_; \
	va_start(list_, last); \
	for (unsigned i_ = 0; i_ < 6; i_++) \
		a[i_] = va_arg(list_, long); \
	va_end(list_)

long rt_syscall(long number, ...)
{
	REGISTERS(number, a);
	return raw_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

struct futex_call {
	const uint32_t *word;
	int operation; /* without its flags */
	bool realtime, private;
	uint32_t value;
	const struct timespec *time; /* of a wait; or NULL */
};

static bool same_value(const struct futex_call *c)
{
	return __atomic_load_n(c->word, __ATOMIC_SEQ_CST) == c->value;
}

static uint64_t deadline_of_wait(const struct futex_call *c)
{
	if (!c->time)
		return 0;
	if (c->operation == FUTEX_WAIT) /* a length */
		return virtual_now() + (uint64_t)c->time->tv_sec * 1000000000 +
		       (uint64_t)c->time->tv_nsec;
	return deadline_of(c->realtime ? CLOCK_REALTIME : CLOCK_MONOTONIC, c->time);
}

/* Another process may wake it: the scheduler steps aside, as long as virtual time allows. */
static long wait_outside(struct thread *t, const struct futex_call *c, uint64_t deadline)
{
	struct timespec left;
	if (c->time) {
		uint64_t now = virtual_now(), length = deadline > now ? deadline - now : 0;
		left.tv_sec = (time_t)(length / 1000000000);
		left.tv_nsec = (long)(length % 1000000000);
	}
	sched_leave(t);
	long status = answered(SYS_futex, (long)c->word, FUTEX_WAIT, (long)c->value,
	                       c->time ? (long)&left : 0, 0, 0);
	int error = errno;
	sched_rejoin(t);
	errno = error;
	return status;
}

/* 0, EAGAIN or ETIMEDOUT, which the program may tell apart. */
static int wait_modelled(struct thread *t, const struct futex_call *c, uint64_t deadline)
{
	if (!same_value(c))
		return EAGAIN;
	t->woken = false;
	bool in_time = sched_block(t, FOR_FUTEX, c->word, c->time != NULL, deadline);
	if (rt.replay && !t->woken) /* the plan goes on here: it need not be for the time */
		in_time = !c->time || !same_value(c);
	return in_time ? 0 : ETIMEDOUT;
}

/* Replay: it ends as it did.  Who did not wait need not wait now, for its next event comes
 * when the plan has it. */
static int wait_planned(struct thread *t, const struct futex_call *c, uint64_t deadline)
{
	struct timespec answer;
	if (!rt.replay || !replay_answer(t, LOG_FUTEX_CLOCK, &answer))
		return wait_modelled(t, c, deadline);
	t->questions++;
	if (answer.tv_sec == 0)
		wait_modelled(t, c, deadline);
	return (int)answer.tv_sec;
}

static long wait_here(struct thread *t, const struct futex_call *c, uintptr_t pc)
{
	if (c->time &&
	    (c->time->tv_sec < 0 || c->time->tv_nsec < 0 || c->time->tv_nsec >= 1000000000)) {
		errno = EINVAL;
		return -1;
	}
	if (!rt.replay) /* the plan has no place for it */
		sched_point(t);
	t->pc = pc;
	uint64_t deadline = deadline_of_wait(c);
	if (!c->private && memory_shared(c->word))
		return wait_outside(t, c, deadline);
	struct timespec ended = { .tv_sec = wait_planned(t, c, deadline) };
	log_clock(t, LOG_FUTEX_CLOCK, &ended);
	if (ended.tv_sec == 0)
		return 0;
	errno = (int)ended.tv_sec;
	return -1;
}

/* Those of the scheduler, and then, of so many as are left, those of the kernel. */
static long wake_here(struct thread *t, const struct futex_call *c, uint32_t most)
{
	if (!rt.replay)
		sched_point(t);
	long woken = sched_wake(c->word, FOR_FUTEX, most);
	if (woken < most) {
		long rest = most - woken < INT_MAX ? most - woken : INT_MAX;
		long more =
		        answered(SYS_futex, (long)c->word,
		                 c->private ? FUTEX_WAKE_PRIVATE : FUTEX_WAKE, rest, 0, 0, 0);
		if (more < 0 && woken == 0)
			return more;
		woken += more > 0 ? more : 0;
	}
	return woken;
}

static long futex_call(struct thread *t, const long a[6], uintptr_t pc)
{
	struct futex_call c = {
		.word = (const uint32_t *)a[0],
		.operation = (int)a[1] & FUTEX_CMD_MASK,
		.realtime = a[1] & FUTEX_CLOCK_REALTIME,
		.private = a[1] & FUTEX_PRIVATE_FLAG,
		.value = (uint32_t)a[2],
		.time = (const struct timespec *)a[3],
	};
	long status;
	switch (c.operation) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
		return wait_here(t, &c, pc);
	case FUTEX_WAKE:
		return wake_here(t, &c, c.value);
	case FUTEX_WAKE_BITSET: /* of some only: the others look in vain, and wait again */
		return wake_here(t, &c,
		                 (uint32_t)a[5] == FUTEX_BITSET_MATCH_ANY ? c.value : UINT_MAX);
	default: /* also wakes, or moves, waiters of one word or two: they look again */
		sched_wake(c.word, FOR_FUTEX, UINT_MAX);
		status = answered(SYS_futex, a[0], a[1], a[2], a[3], a[4], a[5]);
		if (a[4])
			sched_wake((const void *)a[4], FOR_FUTEX, UINT_MAX);
		return status;
	}
}

#undef syscall
long interposed_syscall(long number, ...)
{
	REGISTERS(number, a);
	struct thread *t = rt.on ? recording() : NULL;
	long result;
	if (t && number == SYS_futex && rt.controlled)
		return futex_call(t, a, CALLER());
	if (t &&
	    (process_syscall(t, number, a, &result) || handler_syscall(t, number, a, &result)))
		return as_syscall(result);
	if (number == SYS_futex)
		rt.poke = 1; /* one that wakes, where the scheduler does not look */
	return answered(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
