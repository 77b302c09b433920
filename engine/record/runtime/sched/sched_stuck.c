/*
 * sched_stuck.c - controlled mode: no thread is ready. The scheduler waits for a deadline or
 * for the environment; or it is a deadlock, which is reported to the parent and ends the
 * program.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "sched_private.h"

/* ---- input from outside ---- */

/* Threads that wait for locks, semaphores and futexes try again: `shared`, for those that other
 * processes can release, or a thread that is in a call of the C library's. */
static void retry_real_objects(bool shared)
{
	for (unsigned i = 0; i < sched.live_count; i++) {
		struct thread *t = sched.live[i];
		if (t->sched.state == STATE_BLOCKED &&
		    (!shared || memory_outside(t->sched.object)) &&
		    (t->sched.reason == FOR_MUTEX || t->sched.reason == FOR_READ_LOCK ||
		     t->sched.reason == FOR_WRITE_LOCK || t->sched.reason == FOR_SEMAPHORE ||
		     t->sched.reason == FOR_FUTEX))
			sched_make_ready(t);
	}
}

void sched_idle(void)
{
	struct thread *next = sched_earliest();
	uint64_t wait = 20000000;
	if (rt.one_thread)
		one_thread_refuse();
	sched_catch_up();
	if (next) {
		if (next->sched.deadline <= sched.virtual_time) {
			sched_fire(next);
			return;
		}
		if (next->sched.deadline - sched.virtual_time < wait)
			wait = next->sched.deadline - sched.virtual_time;
	}
	struct pollfd all[256];
	unsigned n = 0;
	for (unsigned i = 0; i < sched.live_count; i++) {
		struct thread *t = sched.live[i];
		if (t->sched.state == STATE_BLOCKED && t->sched.reason == FOR_FILE)
			for (unsigned k = 0; k < t->sched.fd_count && n < 256; k++)
				all[n++] = t->sched.fds[k];
	}
	sched.idling = true;
	sched.idle = 0;
	bool others = sched.outside || rt.async_handlers;
	sched_unlock();
	if (n) {
		if (others && wait > 2000000)
			wait = 2000000;
		struct timespec time = { wait / 1000000000, wait % 1000000000 };
		syscall(SYS_ppoll, all, n, &time, NULL, 0);
	} else {
		futex_wait(&sched.idle, 0, wait);
	}
	sched_lock();
	sched.idling = false;
	sched_catch_up();
	sched_poll_files();
	if (sched.outside)
		retry_real_objects(true);
}

/* ---- deadlock ---- */

/* The thread that holds the object, or that is joined; LOG_ALL_THREADS: unknown. */
static uint32_t holder_of(const struct thread *t)
{
	pid_t owner = 0;
	if (t->sched.reason == FOR_ONCE)
		return once_runner(t->sched.object);
	if (t->sched.reason == FOR_THREAD)
		owner = ((const struct thread *)t->sched.object)->life.tid;
	else if (t->sched.reason == FOR_MUTEX)
		owner = ((const pthread_mutex_t *)t->sched.object)->__data.__owner;
	else if (t->sched.reason == FOR_READ_LOCK || t->sched.reason == FOR_WRITE_LOCK)
		owner = ((const pthread_rwlock_t *)t->sched.object)->__data.__cur_writer;
	for (unsigned i = 0; owner && i < sched.live_count; i++)
		if (sched.live[i]->life.tid == owner)
			return sched.live[i]->id;
	return LOG_ALL_THREADS;
}

/* The number of the process's own channel that it waits for, or of the message that ends a
 * once-function; 0: neither. */
static uint64_t message_for(const struct thread *t)
{
	if (t->sched.reason == FOR_ONCE)
		return once_message(t->sched.object);
	if (t->sched.reason != FOR_FILE || t->sched.fd_count == 0)
		return 0;
	return outside_wanted(&t->sched.fds[0]);
}

/* Can only the process's own threads cause the events that these wait for? *late: one may be
 * on its way. */
static bool are_own(const struct pollfd *fds, unsigned count, bool *late)
{
	unsigned any = 0;
	for (unsigned k = 0; k < count; k++) {
		if (fds[k].fd < 0)
			continue;
		any++;
		if (!outside_only_own(&fds[k], sched.live[0]->life.tid))
			return false;
		*late |= outside_comes_late(&fds[k]);
	}
	return any > 0;
}

/* Do all that wait for descriptors wait for other threads: for bytes in channels that belong
 * to the process alone, or for room in them? */
static bool files_are_own(bool *late)
{
	for (unsigned i = 0; i < sched.live_count; i++) {
		const struct thread *t = sched.live[i];
		if (t->sched.state != STATE_BLOCKED || t->sched.reason != FOR_FILE)
			continue;
		if (t->input.starves || !are_own(t->sched.fds, t->sched.fd_count, late))
			return false;
	}
	return true;
}

enum { MOST_WAITS = 64 }; /* bound on the descriptors of one call */

/* The descriptors that a thread waits for in a blocking call, with the token or without:
 * those that it has given, or else those in /proc. */
static unsigned waits_of(const struct thread *t, struct pollfd fds[MOST_WAITS])
{
	if (t->sched.fd_count > MOST_WAITS)
		return 0;
	for (unsigned i = 0; i < t->sched.fd_count; i++)
		fds[i] = t->sched.fds[i];
	return t->sched.fd_count ? t->sched.fd_count : sched_outside_waits(t, fds, MOST_WAITS);
}

/* The kind of wait that reports name. */
static enum log_wait reason_of(const struct thread *t)
{
	bool futex =
	        t->sched.reason == FOR_CONDITION && (uintptr_t)t->sched.object & LOG_FUTEX_BIT;
	return futex ? FOR_FUTEX : t->sched.reason;
}

static void log_wait(struct thread *t)
{
	struct pollfd fds[MOST_WAITS];
	bool calls = t->sched.state == STATE_OUTSIDE || t->sched.state == STATE_RUNNING;
	unsigned n = calls ? waits_of(t, fds) : 0;
	if (t->sched.state != STATE_BLOCKED && n == 0)
		return;
	if (!calls || t == me)
		log_before(t); /* frames that it has left since its last event */
	uint64_t words[] = { calls ? 0 : (uintptr_t)t->sched.object,
		             calls ? LOG_ALL_THREADS : holder_of(t), t->sched.pc,
		             calls ? outside_wanted(&fds[0]) : message_for(t) };
	log_fact(LOG_BLOCKED, calls ? FOR_FILE : reason_of(t), t->id, words, 4);
}

/* Notes the memory that it looks at. */
static void log_look(struct thread *t)
{
	log_before(t);
	log_fact(LOG_BLOCKED, FOR_LOOK, t->id,
	         (uint64_t[]){ t->memory.looked, LOG_ALL_THREADS, t->memory.pc, 0 }, 4);
}

void sched_log_blocked(void)
{
	for (unsigned i = 0; i < sched.live_count; i++)
		if (sched.live[i]->sched.state == STATE_BLOCKED || !memory_waits(sched.live[i]))
			log_wait(sched.live[i]);
		else
			log_look(sched.live[i]);
}

static _Noreturn void deadlock(void)
{
	sched_log_blocked();
	rt_finish(LOG_DEADLOCK);
	rt_die(SIGABRT);
}

/* ---- a deadlock, or does a signal end it? ---- */

/* Can a handler, or the code it interrupts, end the wait? A handler may safely call only
 * sem_post; the other functions end no wait of the program. */
static bool waits_for_threads(const struct thread *t)
{
	switch (t->sched.reason) {
	case FOR_MUTEX:
	case FOR_READ_LOCK:
	case FOR_WRITE_LOCK:
	case FOR_CONDITION:
	case FOR_BARRIER:
	case FOR_THREAD:
	case FOR_ONCE:
	case FOR_SPIN:
	case FOR_LOOP:
		return true;
	default:
		return false;
	}
}

/* Does the process have an alarm, a timer, or a child whose end would be a signal? */
static bool expects_signal(void)
{
	char text[16];
	long child = raw_syscall(SYS_waitid, P_ALL, 0, 0, WEXITED | WNOHANG | WNOWAIT, 0, 0);
	if (child != -ECHILD)
		return true;
	for (int kind = ITIMER_REAL; kind <= ITIMER_PROF; kind++) {
		struct itimerval timer = { 0 };
		raw_syscall(SYS_getitimer, kind, (long)&timer, 0, 0, 0, 0);
		if (timer.it_value.tv_sec || timer.it_value.tv_usec)
			return true;
	}
	return sched_read_file("/proc/self/timers", text, sizeof(text)) > 0;
}

/* Does the process have threads that the program did not create by pthread_create: the C
 * library's own, of timers (SIGEV_THREAD) and asynchronous input and output? The first thread
 * is in the list until the process ends, even when it has ended (pthread_exit). */
static bool has_other_threads(void)
{
	if (rt.one_thread)
		return false;
	struct stat s;
	nlink_t own = sched.live_count + 1;
	for (unsigned i = 0; i < sched.live_count; i++)
		if (sched.live[i]->life.tid == syscall(SYS_getpid))
			own = sched.live_count;
	return syscall(SYS_newfstatat, AT_FDCWD, "/proc/self/task", &s, 0) == 0 &&
	       s.st_nlink > 2 + own;
}

/*
 * Every thread waits for locks, conditions and other threads. Without a handler or a thread
 * of the C library's own that is a deadlock at once. With one, a signal from another process
 * could still end the program or jump out of a wait, which cannot be ruled out: so it is one
 * after a quiet time without a signal. A thread in pause, sigwait, poll or sem_wait may wait
 * for such a signal: then it is none. (No such signal comes in an exploration, and none whose
 * handler could run where all threads block them, as in a handler that waits for ever.)
 */
static bool is_deadlock(void)
{
	enum { QUIET = 5 }; /* seconds */
	static uint64_t turns, since;
	static unsigned signals;
	unsigned came = 0;
	bool others = has_other_threads();
	bool handlers = rt.async_handlers && !(signals_are_held() && !expects_signal()) &&
	                signal_can_come();
	if (!handlers && !others)
		return true;
	for (unsigned i = 0; handlers && i < sched.live_count; i++) {
		if (sched.live[i]->sched.state != STATE_BLOCKED ||
		    !waits_for_threads(sched.live[i]))
			return false;
		came += sched.live[i]->signals.arrived;
	}
	uint64_t now = sched_real_now();
	if (since == 0 || turns != sched.turns || signals != came) {
		turns = sched.turns;
		signals = came;
		since = now;
	}
	return now - since >= QUIET * 1000000000ull && !expects_signal();
}

/* Does the thread wait in a blocking call for descriptors that only the process itself can make
 * ready, and is none of them ready? */
static bool waits_inside(const struct thread *t)
{
	struct pollfd fds[MOST_WAITS];
	const struct timespec zero = { 0, 0 };
	bool late = false;
	unsigned n = waits_of(t, fds);
	return n > 0 && are_own(fds, n, &late) &&
	       syscall(SYS_ppoll, fds, n, &zero, NULL, 0) == 0;
}

/* Does every thread wait for other threads of the process? Some may be in blocking calls, and
 * some wait for messages through the network's stack: such calls and messages may be about to
 * end, so the question is asked again after a moment. */
static bool waits_for_itself(const struct thread *sleeper)
{
	enum { MOMENT = 500 }; /* milliseconds */
	static uint64_t turns, since;
	bool late = sched.outside > 0 || sleeper;
	if (sched.ready || sched.timed || !rt.inputs || !files_are_own(&late))
		return false;
	uint64_t now = late ? sched_real_now() : 0;
	if (late && (since == 0 || turns != sched.turns)) {
		turns = sched.turns;
		since = now;
	}
	if (late && now - since < MOMENT * 1000000ull)
		return false;
	since = now;
	for (unsigned i = 0; i < sched.live_count; i++)
		if ((sched.live[i]->sched.state == STATE_OUTSIDE || sched.live[i] == sleeper) &&
		    !waits_inside(sched.live[i]))
			return false;
	return true;
}

void sched_end_if_stuck(const struct thread *sleeper)
{
	if (waits_for_itself(sleeper) && is_deadlock())
		deadlock();
}

static bool is_free(const volatile void *object, enum log_wait reason)
{
	enum { MUTEX_FREE = 0, SPIN_FREE = 1 }; /* their first words */
	const volatile pthread_rwlock_t *rw = object;
	switch (reason) {
	case FOR_MUTEX:
		return *(const volatile int *)object == MUTEX_FREE;
	case FOR_SPIN:
		return *(const volatile int *)object == SPIN_FREE;
	case FOR_READ_LOCK:
		return rw->__data.__cur_writer == 0;
	case FOR_WRITE_LOCK:
		return rw->__data.__cur_writer == 0 && rw->__data.__readers >> 3 == 0;
	default:
		return false;
	}
}

/* Does it wait for an object that it could not have now? A mutex or spin lock may be free, as
 * its waiters are woken one at a time. */
static bool is_blocked(const struct thread *t)
{
	if (t->sched.state != STATE_BLOCKED || t->sched.reason == FOR_FUTEX)
		return false;
	return !((t->sched.reason == FOR_MUTEX || t->sched.reason == FOR_SPIN) &&
	         is_free(t->sched.object, t->sched.reason));
}

/* Has it tried, in vain, a lock that is free now? Then another thread had taken it for a look
 * of its own. */
static bool tried_too_early(const struct thread *t)
{
	return t->sched.state != STATE_BLOCKED && t->memory.failed &&
	       is_free(t->memory.failed, t->memory.failed_for);
}

/* `t` looks in vain. If all others do, or wait for each other, nothing changes until a time
 * limit passes: then the first limit passes; without one the run ends. (Whether they write
 * plain memory meanwhile is for the reader of the log.) */
void sched_end_if_idle(struct thread *t)
{
	if (rt.replay || sched.outside || sched.files || sched.signalled ||
	    (rt.async_handlers && !signals_are_held()))
		return;
	for (unsigned i = 0; i < sched.live_count; i++)
		memory_wrote(sched.live[i]);
	for (unsigned i = 0; i < sched.live_count; i++) {
		const struct thread *u = sched.live[i];
		bool waits =
		        is_blocked(u) || u->sched.state == STATE_DONE || memory_waits_on(u);
		if (!waits || u->signals.arrived)
			return;
	}
	bool early = false;
	for (unsigned i = 0; i < sched.live_count; i++)
		if (sched.live[i]->sched.state != STATE_DONE &&
		    tried_too_early(sched.live[i])) {
			memory_looks_again(sched.live[i]);
			early = true;
		}
	if (early)
		return;
	if (has_other_threads() || held_release())
		return;
	sched_lock();
	struct thread *next = sched_earliest();
	if (next)
		sched_fire(next);
	sched_unlock();
	if (!next)
		deadlock();
}

/* ---- replay ---- */

/* Replay: does a thread wait for more input than the recording has, and none for an event
 * that can still come? A wait with a time limit ends by itself, and then the program may,
 * too, as one that looks once a second whether it is to end; but a server's clock ticks for
 * ever. */
static bool starved(void)
{
	enum { PATIENCE = 100 };
	const uint64_t most = 5000000000; /* virtual nanoseconds */
	static unsigned looks;
	static uint64_t since;
	bool any = false, all = !sched.outside && !sched.timed;
	for (unsigned i = 0; i < sched.live_count; i++) {
		const struct thread *t = sched.live[i];
		any |= t->sched.state == STATE_BLOCKED && t->input.starves;
		all &= t->sched.state != STATE_BLOCKED || t->sched.reason != FOR_FILE ||
		       t->input.starves;
	}
	if (any && looks++ == 0)
		since = sched.virtual_time;
	return any && (all || (looks > PATIENCE &&
	                       (sched.outside || sched.virtual_time - since > most)));
}

static _Noreturn void end_starved(void)
{
	rt_finish(LOG_STARVED);
	rt_die(SIGKILL);
}

/* Replay: a futex wait may end at any time, so it does when its thread has the next event;
 * but only once, as a second wait is for another thread. */
bool sched_release_futex(struct thread *t)
{
	if (t->sched.reason != FOR_FUTEX || t->replay.released == t->ordinal + 1)
		return false;
	t->replay.released = t->ordinal + 1;
	sched_make_ready(t);
	return true;
}

void sched_end_wait(struct thread *t)
{
	if (t->sched.timed ||
	    (t->sched.reason == FOR_CONDITION && rt.replay && replay_ends_early(t->id)))
		sched_fire(t);
}

/* Replay: the thread whose turn it is by the plan waits, and in the recording no signal ended
 * the wait. */
static void wake_planned(void)
{
	uint32_t id = replay_next();
	struct thread *t = id < MAX_THREADS ? rt.threads[id] : NULL;
	if (t && t->sched.state == STATE_BLOCKED && !sched_release_futex(t))
		sched_end_wait(t);
}

/* ---- all together ---- */

/* `t` has to leave: the thread that waits for the environment in its place, or NULL. */
static struct thread *idles_instead(const struct thread *t)
{
	for (unsigned i = 0; i < sched.live_count; i++) {
		struct thread *other = sched.live[i];
		if (other != t && other->sched.state == STATE_BLOCKED &&
		    (other->sched.timed || other->sched.reason == FOR_FILE))
			return other;
	}
	return NULL;
}

static struct thread *any_blocked(void)
{
	for (unsigned i = 0; i < sched.live_count; i++)
		if (sched.live[i]->sched.state == STATE_BLOCKED)
			return sched.live[i];
	return NULL;
}

static void wait_for_signals(uint64_t nanoseconds)
{
	const uint64_t most = 20000000;
	sched.idling = true;
	sched.idle = 0;
	BARRIER();
	if (!sched.signalled) {
		sched_unlock();
		futex_wait(&sched.idle, 0, nanoseconds < most ? nanoseconds : most);
		sched_lock();
	}
	if (sched.signalled) /* or later sleeps would be too short */
		sched_catch_up();
	sched.idling = false;
}

struct thread *sched_choose(struct thread *t, bool may_idle)
{
	for (;;) {
		if (sched.signalled)
			sched_wake_signalled();
		if (sched.files)
			sched_poll_files();
		if (rt.replay)
			wake_planned();
		if (sched.ready)
			return sched_choose_ready(t);
		if (rt.inputs == INPUTS_GIVEN && starved())
			end_starved();
		if (rt.poke) {
			rt.poke = 0;
			retry_real_objects(false);
			continue;
		}
		bool late = false;
		bool outside = sched.outside || (sched.files && !files_are_own(&late)) || late;
		if (!outside && held_release())
			continue;
		if (!outside && sched.timed) {
			struct thread *next = sched_earliest();
			uint64_t left = sched_real_time_left(next);
			if (left == 0)
				sched_fire(next);
			else if (may_idle)
				wait_for_signals(left);
			else
				return idles_instead(t);
			continue;
		}
		struct thread *blocked = any_blocked();
		if (!outside && !blocked)
			return NULL; /* the last thread ends */
		if ((!outside || waits_for_itself(NULL)) && is_deadlock())
			deadlock();
		if (!may_idle)
			return outside ? idles_instead(t) : blocked;
		sched_idle();
	}
}
