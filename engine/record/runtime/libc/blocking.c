/*
 * blocking.c - calls that may block and are not on descriptors, sleep, and clocks.
 *
 * Calls that are not modelled give the token back and rejoin.  Sleeping is waiting for virtual
 * time. Clocks show virtual time in controlled mode and are written to the log.
 */
#include <sched.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/wait.h>
#include <termios.h>
#include <threads.h>
#include <unistd.h>

#include "engine/record/runtime/core/rt.h"
#include "ranges.h"

INTERPOSED(flock, system, sleep, usleep, nanosleep, clock_nanosleep, thrd_sleep, sched_yield,
           thrd_yield, clock_gettime, gettimeofday, time, timespec_get, clock, times,
           getrusage);

/* ---- calls that the scheduler only steps aside for ---- */

/* `tells`: what the call has written, for its `result`. */
#define ASIDE_IN(type, name, parameters, call, frame, child, tells) \
	INTERPOSED(name); \
	type interposed_##name parameters \
	{ \
		struct thread *t = recording(); \
		if (!t) \
			return REAL(name) call; \
		if (frame) \
			frame_enter(t, frame, CALLER(), true); \
		sched_point(t); \
		sched_leave(t); \
		type result = REAL(name) call; \
		int error = errno; \
		sched_rejoin(t); \
		if (frame) \
			frame_leave(t); \
		if (child && result >= 0) \
			child_brought(t, NULL, CALLER()); \
		tells; \
		errno = error; \
		return result; \
	}
#define ASIDE(type, name, parameters, call) \
	ASIDE_IN(type, name, parameters, call, LOG_CALL_none, false, (void)0)
/* Waits for the end of a process. */
#define ASIDE_CHILD(type, name, parameters, call, ...) \
	ASIDE_IN(type, name, parameters, call, LOG_CALL_none, true, __VA_ARGS__)
#define TOLD(condition, p) \
	if ((condition) && (p)) \
	WRITES(p, sizeof(*(p)))
ASIDE_CHILD(pid_t, waitpid, (pid_t p, int *s, int o), (p, s, o), TOLD(result > 0, s))
ASIDE_CHILD(pid_t, wait, (int *s), (s), TOLD(result > 0, s))
ASIDE_CHILD(pid_t, wait3, (int *s, int o, struct rusage *r), (s, o, r), TOLD(result > 0, s);
            TOLD(result > 0, r))
ASIDE_CHILD(pid_t, wait4, (pid_t p, int *s, int o, struct rusage *r), (p, s, o, r),
            TOLD(result > 0, s);
            TOLD(result > 0, r))
ASIDE_CHILD(int, waitid, (idtype_t k, id_t i, siginfo_t *s, int o), (k, i, s, o),
            TOLD(result == 0, s))
int interposed_system(const char *command)
{
	struct thread *t = recording();
	if (!t)
		return REAL(system)(command);
	sched_point(t);
	outside_spawns(t, false, CALLER()); /* on replay the program starts in this turn */
	child_starts(t, CALLER());
	sched_leave(t);
	int result = REAL(system)(command);
	int error = errno;
	sched_rejoin(t);
	errno = error;
	return result;
}
int interposed_flock(int fd, int operation)
{
	struct thread *t = recording();
	if (!t)
		return REAL(flock)(fd, operation);
	order_matters("flock");
	sched_point(t);
	int before = errno, result = REAL(flock)(fd, operation | LOCK_NB);
	if (result == 0 || errno != EWOULDBLOCK || operation & LOCK_NB)
		return result;
	errno = before;
	sched_leave(t); /* another process has it, or another thread */
	result = REAL(flock)(fd, operation);
	int error = errno;
	sched_rejoin(t);
	errno = error;
	return result;
}
ASIDE(int, tcdrain, (int fd), (fd))

/* Waits for a signal; on replay for one that came from outside in the recording. */
#define PAUSES(name, parameters, call) \
	INTERPOSED(name); \
	int interposed_##name parameters \
	{ \
		struct thread *t = recording(); \
		if (!t) \
			return REAL(name) call; \
		if (rt.inputs == INPUTS_GIVEN && (input_signals(t) || after_plan_signal(t))) { \
			errno = EINTR; \
			return -1; \
		} \
		t->signals.interrupted = false; \
		sched_point(t); \
		sched_leave(t); \
		int result = -1, error = EINTR; \
		if (!t->signals.interrupted) { \
			result = REAL(name) call; \
			error = errno; \
		} \
		sched_rejoin(t); \
		errno = error; \
		return result; \
	}
static bool after_plan_signal(struct thread *t)
{
	return !rt.replay && input_last_signal(t);
}
PAUSES(sigsuspend, (const sigset_t *s), (s))
PAUSES(pause, (void), ())
int __xpg_sigpause(int number);
PAUSES(__xpg_sigpause, (int number), (number))

/* ---- sleeping ---- */

/* Sleep orders nothing: a strategy that decides before each event may let the thread come back
 * at any time. */
static void sleep_or_yield(struct thread *t, uint64_t deadline)
{
	uint64_t now = virtual_now();
	if (!sched_each_event() || rt.replay) {
		sched_block(t, FOR_SLEEP, NULL, true, deadline);
		return;
	}
	sched_tick(deadline > now ? deadline - now : 0);
	sched_about(&t->sched, NULL, 0, false);
	sched_yield_point(t, false);
}

/*
 * Sleeps until virtual time reaches the deadline, or a handler has run: returns the
 * nanoseconds left then, else 0.
 */
static uint64_t sleep_until(struct thread *t, uint64_t deadline, enum log_call call,
                            uintptr_t pc)
{
	int error = errno;
	t->signals.interrupted = false;
	frame_enter(t, call, pc, true);
	if (!(rt.inputs == INPUTS_GIVEN && after_plan_signal(t)))
		sleep_or_yield(t, deadline);
	frame_leave(t);
	if (sched_cancelled(&t->sched))
		pthread_testcancel();
	errno = error;
	uint64_t now = virtual_now();
	return !t->signals.interrupted ? 0 : deadline > now ? deadline - now : 1;
}
static uint64_t sleep_for(struct thread *t, uint64_t nanoseconds, enum log_call call,
                          uintptr_t pc)
{
	return sleep_until(t, virtual_now() + nanoseconds, call, pc);
}
static uint64_t length_of(const struct timespec *time)
{
	return time->tv_sec * 1000000000ull + time->tv_nsec;
}
static void tell_left(struct timespec *left, uint64_t nanoseconds)
{
	if (left)
		*left = (struct timespec){ (time_t)(nanoseconds / 1000000000),
			                   (long)(nanoseconds % 1000000000) };
}

unsigned interposed_sleep(unsigned seconds)
{
	struct thread *t = recording();
	if (!t || !rt.controlled)
		return REAL(sleep)(seconds);
	uint64_t left = sleep_for(t, seconds * 1000000000ull, LOG_CALL_sleep, CALLER());
	if (left)
		errno = EINTR;
	return (unsigned)(left / 1000000000); /* rounded down, as in the C library */
}
int interposed_usleep(useconds_t microseconds)
{
	struct thread *t = recording();
	if (!t || !rt.controlled)
		return REAL(usleep)(microseconds);
	if (sleep_for(t, microseconds * 1000ull, LOG_CALL_usleep, CALLER()) == 0)
		return 0;
	errno = EINTR;
	return -1;
}
static int nanosleep_here(const struct timespec *time, struct timespec *left, uintptr_t pc)
{
	struct thread *t = recording();
	if (!t || !rt.controlled || time->tv_nsec < 0 || time->tv_nsec > 999999999 ||
	    time->tv_sec < 0)
		return REAL(nanosleep)(time, left);
	uint64_t rest = sleep_for(t, length_of(time), LOG_CALL_nanosleep, pc);
	if (rest == 0)
		return 0;
	tell_left(left, rest);
	errno = EINTR;
	return -1;
}
/* What a sleep has written, for its result, which is returned. */
static int rest_told(int result, const struct timespec *left, uintptr_t pc)
{
	if (left && (result == EINTR || (result == -1 && errno == EINTR)))
		WRITES_AT(left, sizeof(*left), pc);
	return result;
}
int interposed_nanosleep(const struct timespec *time, struct timespec *left)
{
	READS(time, sizeof(*time));
	return rest_told(nanosleep_here(time, left, CALLER()), left, CALLER());
}
/* Can a thread sleep by the clock, in virtual time? */
static bool sleeps_by(clockid_t clock)
{
	return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC || clock == CLOCK_BOOTTIME ||
	       clock == CLOCK_TAI;
}
/* By a clock of processor time, or by none. */
static int nanosleep_aside(struct thread *t, clockid_t clock, int flags,
                           const struct timespec *time, struct timespec *left)
{
	sched_point(t);
	sched_leave(t);
	int error = errno, result = REAL(clock_nanosleep)(clock, flags, time, left);
	sched_rejoin(t);
	errno = error;
	return result;
}
static int clock_nanosleep_here(clockid_t clock, int flags, const struct timespec *time,
                                struct timespec *left, uintptr_t pc)
{
	struct thread *t = recording();
	if (!t || !rt.controlled || time->tv_nsec < 0 || time->tv_nsec > 999999999)
		return REAL(clock_nanosleep)(clock, flags, time, left);
	if (!sleeps_by(clock))
		return nanosleep_aside(t, clock, flags, time, left);
	bool until = flags & TIMER_ABSTIME;
	uint64_t deadline = until ? deadline_of(clock, time) : virtual_now() + length_of(time);
	uint64_t rest = sleep_until(t, deadline, LOG_CALL_clock_nanosleep, pc);
	if (rest == 0)
		return 0;
	if (!until)
		tell_left(left, rest);
	return EINTR;
}
int interposed_clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
                               struct timespec *left)
{
	READS(time, sizeof(*time));
	return rest_told(clock_nanosleep_here(clock, flags, time, left, CALLER()),
	                 flags & TIMER_ABSTIME ? NULL : left, CALLER());
}
int interposed_thrd_sleep(const struct timespec *time, struct timespec *left)
{
	return nanosleep(time, left) == 0 ? 0 : -1;
}
int interposed_sched_yield(void)
{
	struct thread *t = recording();
	if (!t || !rt.controlled)
		return REAL(sched_yield)();
	sched_yield_point(t, true);
	return 0;
}
void interposed_thrd_yield(void)
{
	sched_yield();
}

/* ---- clocks ---- */

/* Real time, monotonic time and processor time at the start. */
static struct timespec started[3];

void clocks_init(void)
{
	syscall(SYS_clock_gettime, CLOCK_REALTIME, &started[0]);
	started[0].tv_nsec = 0;
	/* the monotonic clock's zero means nothing, so it may be the same in every run */
	started[1].tv_sec = 100000;
}

static void clock_now(clockid_t clock, struct timespec *now)
{
	const struct timespec *base = NULL;
	if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)
		base = &started[0];
	else if (clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_RAW ||
	         clock == CLOCK_MONOTONIC_COARSE || clock == CLOCK_BOOTTIME)
		base = &started[1];
	else if (clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID)
		base = &started[2];
	if (!rt.controlled || !base) {
		syscall(SYS_clock_gettime, clock, now);
		return;
	}
	uint64_t passed = virtual_now() + base->tv_nsec;
	now->tv_sec = base->tv_sec + passed / 1000000000;
	now->tv_nsec = passed % 1000000000;
}

uint64_t deadline_of(clockid_t clock, const struct timespec *at)
{
	struct timespec now;
	clock_now(clock, &now);
	int64_t left = (at->tv_sec - now.tv_sec) * 1000000000ll + at->tv_nsec - now.tv_nsec;
	if (at->tv_sec - now.tv_sec > 1 << 30)
		left = (1ll << 30) * 1000000000ll;
	return virtual_now() + (left > 0 ? left : 0);
}

/* A clock that the program reads: the answer is recorded, and replayed. */
static int ask(struct thread *t, clockid_t clock, struct timespec *answer)
{
	log_value(t);
	if (rt.replay && replay_answer(t, clock, answer)) {
		t->libc.questions++;
	} else {
		sched_tick(1000); /* so that a loop which waits for a time ends */
		clock_now(clock, answer);
	}
	log_clock(t, clock, answer);
	return 0;
}

static bool asked_here(struct thread *t, clockid_t clock, uintptr_t pc)
{
	return t && rt.controlled && clock >= 0 && clock <= 11 && !in_libc(pc);
}

static int clock_gettime_here(clockid_t clock, struct timespec *time, uintptr_t pc)
{
	struct thread *t = recording();
	range_turn(pc);
	int result = asked_here(t, clock, pc) ? ask(t, clock, time)
	                                      : REAL(clock_gettime)(clock, time);
	if (result == 0)
		WRITES_AT(time, sizeof(*time), pc);
	return result;
}
int interposed_clock_gettime(clockid_t clock, struct timespec *time)
{
	return clock_gettime_here(clock, time, CALLER());
}
static int gettimeofday_here(struct timeval *restrict time, void *restrict zone, uintptr_t pc)
{
	struct thread *t = recording();
	int result = 0;
	range_turn(pc);
	if (asked_here(t, CLOCK_REALTIME, pc)) {
		struct timespec now;
		ask(t, CLOCK_REALTIME, &now);
		time->tv_sec = now.tv_sec;
		time->tv_usec = now.tv_nsec / 1000;
	} else {
		result = REAL(gettimeofday)(time, zone);
	}
	WRITES_AT(time, sizeof(*time), pc);
	return result;
}
int interposed_gettimeofday(struct timeval *restrict time, void *restrict zone)
{
	return gettimeofday_here(time, zone, CALLER());
}
static time_t time_here(time_t *out, uintptr_t pc)
{
	struct thread *t = recording();
	struct timespec now;
	if (asked_here(t, CLOCK_REALTIME, pc))
		ask(t, CLOCK_REALTIME, &now);
	else
		now.tv_sec = REAL(time)(NULL);
	if (out) {
		range_turn(pc);
		*out = now.tv_sec;
		WRITES_AT(out, sizeof(*out), pc);
	}
	return now.tv_sec;
}
time_t interposed_time(time_t *out)
{
	return time_here(out, CALLER());
}
int interposed_timespec_get(struct timespec *time, int base)
{
	struct thread *t = recording();
	if (base != TIME_UTC || !asked_here(t, CLOCK_REALTIME, CALLER()))
		return REAL(timespec_get)(time, base);
	range_turn(CALLER());
	ask(t, CLOCK_REALTIME, time);
	WRITES(time, sizeof(*time));
	return base;
}
clock_t interposed_clock(void)
{
	struct thread *t = recording();
	if (!asked_here(t, CLOCK_PROCESS_CPUTIME_ID, CALLER()))
		return REAL(clock)();
	struct timespec now;
	ask(t, CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec * 1000000 + now.tv_nsec / 1000;
}
clock_t interposed_times(struct tms *spent)
{
	struct thread *t = recording();
	long ticks = sysconf(_SC_CLK_TCK);
	struct timespec now;
	range_turn(CALLER());
	if (asked_here(t, CLOCK_PROCESS_CPUTIME_ID, CALLER())) {
		ask(t, CLOCK_PROCESS_CPUTIME_ID, &now);
	} else {
		clock_t result = REAL(times)(spent);
		if (spent)
			WRITES(spent, sizeof(*spent));
		return result;
	}
	clock_t user = now.tv_sec * ticks + now.tv_nsec / (1000000000 / ticks);
	if (spent) {
		*spent = (struct tms){ .tms_utime = user };
		WRITES(spent, sizeof(*spent));
	}
	return started[1].tv_sec * ticks + user;
}
/* Resources used differ from run to run, so virtual time stands for processor time. */
int interposed_getrusage(__rusage_who_t who, struct rusage *usage)
{
	struct thread *t = recording();
	int clock = who == RUSAGE_THREAD ? CLOCK_THREAD_CPUTIME_ID : CLOCK_PROCESS_CPUTIME_ID;
	range_turn(CALLER());
	int result = REAL(getrusage)(who, usage);
	if (result != 0)
		return result;
	if (who != RUSAGE_CHILDREN && asked_here(t, clock, CALLER())) {
		struct timespec now;
		ask(t, clock, &now);
		*usage = (struct rusage){ .ru_utime = { now.tv_sec, now.tv_nsec / 1000 } };
	}
	WRITES(usage, sizeof(*usage));
	return 0;
}

/* ---- the same by their numbers ---- */

bool clock_syscall(long number, const long a[6], uintptr_t pc, long *result)
{
	bool first = a[0], second = a[1], third = a[2]; /* NULL: for the kernel to refuse */
	if (!rt.controlled || (number == SYS_clock_gettime && !second) ||
	    ((number == SYS_gettimeofday || number == SYS_nanosleep) && !first) ||
	    (number == SYS_clock_nanosleep && !third))
		return false;
	switch (number) {
	case SYS_clock_gettime:
		*result = clock_gettime_here((clockid_t)a[0], (void *)a[1], pc);
		return true;
	case SYS_gettimeofday:
		*result = gettimeofday_here((void *)a[0], (void *)a[1], pc);
		return true;
	case SYS_time:
		*result = time_here((time_t *)a[0], pc);
		return true;
	case SYS_nanosleep:
		*result = nanosleep_here((void *)a[0], (void *)a[1], pc);
		return true;
	case SYS_clock_nanosleep:
		*result = clock_nanosleep_here((clockid_t)a[0], (int)a[1], (void *)a[2],
		                               (void *)a[3], pc);
		if (*result) {
			errno = (int)*result;
			*result = -1;
		}
		return true;
	case SYS_sched_yield:
		*result = sched_yield();
		return true;
	default:
		return false;
	}
}
