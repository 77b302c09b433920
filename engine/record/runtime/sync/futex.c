/*
 * futex.c - the C library's syscall(), for the futex that code calls by itself: libstdc++'s
 * std::future, std::atomic::wait, std::latch, std::counting_semaphore; locks of other
 * languages.  Clocks, sleeps, yields and random bytes that are asked for by number are answered
 * as by name (clock_syscall, random_syscall).
 *
 * In controlled mode a wait is one in our scheduler, with a deadline of virtual time; how it
 * ended is kept for replay, like a clock's answer.  None of it is an event, as a futex orders
 * nothing: it may wake at any time, and a thread that comes late does not wait.  The atomics
 * around it order, and are recorded where they are instrumented.
 *
 * In an exploration, and where one of its runs is replayed (LOG_FUTEXES; not where a recording
 * is, or a part of one with a free run behind it), it is as the kernel has it, in events: a
 * wait locks, reads the word, sleeps at a condition where the word has the value, and unlocks;
 * a wake locks, reads how many sleep, signals, and unlocks.  Other operations are told as what
 * exploration does not try, as are waits and wakes for some of the sleepers by a mask.
 *
 * A wake also goes to the kernel, for waiters there: threads that the runtime does not
 * schedule, and other processes.
 */
#include <limits.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <unistd.h>
#include <sys/syscall.h>

#include "engine/record/runtime/libc/libc.h"
#include "sync_private.h"

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

/* Passes arguments as the C library does: whole registers, of which the kernel uses a part. */
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
	uint32_t mask;               /* of *_BITSET: selects sleepers; else all */
	uintptr_t pc;
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

/* 0, EAGAIN or ETIMEDOUT, which the program may distinguish. */
static int wait_modelled(struct thread *t, const struct futex_call *c, uint64_t deadline)
{
	if (!same_value(c))
		return EAGAIN;
	t->sync.woken = false;
	bool in_time = sched_block(t, FOR_FUTEX, c->word, c->time != NULL, deadline);
	if (rt.replay &&
	    !t->sync.woken) /* the plan continues here: the time need not be over */
		in_time = !c->time || !same_value(c);
	return in_time ? 0 : ETIMEDOUT;
}

/* Replay: the wait ends as recorded. A thread that did not wait need not wait now, as its
 * next event comes when the plan has it. */
static int wait_planned(struct thread *t, const struct futex_call *c, uint64_t deadline)
{
	struct timespec answer;
	if (!rt.replay || !replay_answer(t, LOG_FUTEX_CLOCK, &answer))
		return wait_modelled(t, c, deadline);
	t->libc.questions++;
	if (answer.tv_sec == 0)
		wait_modelled(t, c, deadline);
	return (int)answer.tv_sec;
}

/* ---- as the kernel has it, in events ---- */

static const void *place_of(const struct futex_call *c, unsigned part)
{
	return (const void *)(((uintptr_t)c->word | LOG_FUTEX_BIT) + part);
}

/* Noted in the log, so that a replay does the same. */
bool futexes_are_steps(void)
{
	static bool said;
	bool explored = rt.config.flags & LOG_FUTEXES && !rt.memory;
	if (explored && !said)
		log_note("futexes", "");
	said |= explored;
	return explored;
}

static bool is_modelled(const struct futex_call *c)
{
	return c->mask == FUTEX_BITSET_MATCH_ANY && (c->private || !memory_shared(c->word)) &&
	       futexes_are_steps();
}

/* Is the call a part of a lock of the program's own making, whose steps are no events? From
 * inside of its code, or as it leaves that to sleep at its word. */
static bool is_own(const struct thread *t, const struct futex_call *c)
{
	return t->gate & GATE_OWN || t->diverted_from == c->word;
}

/* The thread inside of a futex's lock: a plan may let others run meanwhile. */
struct holder {
	const void *lock;
	struct holder *next;
};
static struct holder *holders;

static bool is_held(const void *lock)
{
	const struct holder *h = holders;
	while (h && h->lock != lock)
		h = h->next;
	return h != NULL;
}

static void enter(struct thread *t, const struct futex_call *c, struct holder *h)
{
	h->lock = place_of(c, LOG_FUTEX_LOCK);
	sched_point(t);
	t->sched.pc = c->pc;
	while (is_held(h->lock) && rt.on)
		sched_block(t, FOR_SPIN, h->lock, false, 0);
	h->next = holders;
	holders = h;
	plan_point(t);
	log_sync(t, LOG_ACQ, c->pc, h->lock);
	plan_point(t);
}

static void leave(struct thread *t, const struct futex_call *c, const struct holder *h)
{
	plan_point(t);
	struct holder **at = &holders;
	while (*at && *at != h)
		at = &(*at)->next;
	if (*at)
		*at = h->next;
	log_sync(t, LOG_REL, c->pc, h->lock);
	sched_wake(h->lock, FOR_SPIN, UINT_MAX);
}

/* 0, EAGAIN or ETIMEDOUT. */
static int wait_in_events(struct thread *t, const struct futex_call *c, uint64_t deadline)
{
	const void *sleepers = place_of(c, LOG_FUTEX_SLEEPERS);
	struct holder h;
	enter(t, c, &h);
	uint32_t value = __atomic_load_n(c->word, __ATOMIC_SEQ_CST);
	log_access(t, LOG_AREAD, 1, c->pc, c->word, 2, true, value);
	bool sleeps = value == c->value;
	if (sleeps) {
		plan_point(t);
		t->sync.condition = sleepers;
		t->sync.woken = false;
		log_object(t, LOG_WAIT, c->time ? LOG_TRY : 0, c->pc, sleepers);
	}
	leave(t, c, &h);
	if (!sleeps)
		return EAGAIN;
	condition_sleep(t, sleepers, c->time != NULL, deadline, c->pc);
	if (c->time) /* a wake has counted it, or it has left */
		enter(t, c, &h);
	bool woken = condition_wake(t, sleepers, c->pc);
	if (c->time)
		leave(t, c, &h);
	return woken || !c->time ? 0 : ETIMEDOUT;
}

/* Signals one sleeper, or all; returns their number. */
static unsigned signal_in_events(struct thread *t, const struct futex_call *c, bool all)
{
	const void *sleepers = place_of(c, LOG_FUTEX_SLEEPERS);
	unsigned n = sched_waiters(sleepers, FOR_CONDITION);
	n = all || n == 0 ? n : 1;
	log_access(t, LOG_AREAD, 1, c->pc, place_of(c, LOG_FUTEX_COUNT), 1, true, n);
	plan_point(t);
	condition_signal(t, sleepers, all, 0, c->pc);
	return n;
}

/* Returns the number woken; with a number that is meant to be all, wakes all at once. */
static unsigned wake_in_events(struct thread *t, const struct futex_call *c, uint32_t most)
{
	enum { MANY = 64 };
	struct holder h;
	unsigned woken = 0, n = 1;
	enter(t, c, &h);
	if (most >= MANY)
		woken = signal_in_events(t, c, true);
	while (most < MANY && woken < most && n > 0) {
		if (woken > 0)
			plan_point(t);
		woken += n = signal_in_events(t, c, false);
	}
	leave(t, c, &h);
	return woken;
}

/* ---- the calls ---- */

static long wait_here(struct thread *t, const struct futex_call *c)
{
	if (c->time &&
	    (c->time->tv_sec < 0 || c->time->tv_nsec < 0 || c->time->tv_nsec >= 1000000000)) {
		errno = EINVAL;
		return -1;
	}
	if (!rt.replay) /* the plan has no step for it */
		sched_point(t);
	t->sched.pc = c->pc;
	uint64_t deadline = deadline_of_wait(c);
	if (!c->private && memory_shared(c->word))
		return wait_outside(t, c, deadline);
	bool modelled = is_modelled(c) && !is_own(t, c);
	struct timespec ended = { .tv_sec = modelled ? wait_in_events(t, c, deadline)
		                                     : wait_planned(t, c, deadline) };
	if (!modelled)
		log_clock(t, LOG_FUTEX_CLOCK, &ended);
	if (ended.tv_sec == 0)
		return 0;
	errno = (int)ended.tv_sec;
	return -1;
}

/* Wakes the scheduler's waiters first, then, up to the rest of `most`, the kernel's. */
static long wake_here(struct thread *t, const struct futex_call *c, uint32_t most)
{
	if (!rt.replay)
		sched_point(t);
	bool modelled = is_modelled(c) &&
	                (!is_own(t, c) ||
	                 sched_waiters(place_of(c, LOG_FUTEX_SLEEPERS), FOR_CONDITION) > 0);
	long woken = modelled ? wake_in_events(t, c, most) : 0;
	if (woken < most)
		woken += sched_wake(c->word, FOR_FUTEX, most - (uint32_t)woken);
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

/* Wakes, or moves, sleepers on one word or two: they look again. */
static long call_otherwise(struct thread *t, const struct futex_call *c, const long a[6])
{
	struct futex_call words[] = { *c, *c };
	words[1].word = (const uint32_t *)a[4];
	order_matters("a futex in other ways than to wait and to wake");
	for (unsigned i = 0; i < 2 && words[i].word; i++) {
		sched_wake(words[i].word, FOR_FUTEX, UINT_MAX);
		if (is_modelled(&words[i]))
			wake_in_events(t, &words[i], UINT_MAX);
	}
	long status = answered(SYS_futex, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (a[4])
		sched_wake((const void *)a[4], FOR_FUTEX, UINT_MAX);
	return status;
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
		.mask = FUTEX_BITSET_MATCH_ANY,
		.pc = pc,
	};
	switch (c.operation) {
	case FUTEX_WAIT_BITSET:
		c.mask = (uint32_t)a[5];
		/* fall through */
	case FUTEX_WAIT:
		return wait_here(t, &c);
	case FUTEX_WAKE_BITSET: /* a wake of some only: the others look in vain, and wait
	                         * again */
		if ((uint32_t)a[5] == FUTEX_BITSET_MATCH_ANY)
			return wake_here(t, &c, c.value);
		order_matters("a futex whose sleepers are woken by a mask");
		return wake_here(t, &c, UINT_MAX);
	case FUTEX_WAKE:
		return wake_here(t, &c, c.value);
	default:
		return call_otherwise(t, &c, a);
	}
}

/* Does the call concern its thread alone, whatever other threads do? */
static bool is_own_affair(long number)
{
	static const long own[] = {
		SYS_gettid,          SYS_getpid,         SYS_getppid,
		SYS_getuid,          SYS_geteuid,        SYS_getgid,
		SYS_getegid,         SYS_getcpu,         SYS_membarrier,
		SYS_set_robust_list, SYS_sched_yield,    SYS_getrandom,
		SYS_set_tid_address, SYS_rt_sigprocmask, SYS_sigaltstack,
		SYS_arch_prctl,      SYS_exit,           SYS_exit_group,
		SYS_futex,           SYS_mbind,          SYS_set_mempolicy,
		SYS_get_mempolicy,
	};
	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		if (own[i] == number)
			return true;
	return false;
}

/* The calling thread where the scheduler is to wait and wake for it: also inside of a lock of
 * the program's own making (GATE_OWN), as another thread may sleep, or wake it, outside of one
 * (a "divert"). */
static struct thread *scheduled(void)
{
	bool runs = rt.on && rt.controlled && (me->gate & ~GATE_QUIET) == 0;
	return runs && me != &nobody ? me : NULL;
}

#undef syscall
long interposed_syscall(long number, ...)
{
	REGISTERS(number, a);
	struct thread *t = rt.on ? recording() : NULL, *waiter;
	long result;
	if (number == SYS_futex && (waiter = t && rt.controlled ? t : scheduled()) != NULL)
		return futex_call(waiter, a, CALLER());
	if (t &&
	    (process_syscall(t, number, a, &result) || handler_syscall(t, number, a, &result)))
		return as_syscall(result);
	if (t &&
	    (clock_syscall(number, a, CALLER(), &result) || random_syscall(number, a, &result)))
		return result;
	if (t && !is_own_affair(number))
		order_matters("a system call by its number");
	if (number == SYS_futex)
		rt.poke = 1; /* a call that wakes, outside of the scheduler */
	return answered(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
