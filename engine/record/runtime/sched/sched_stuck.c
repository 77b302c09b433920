/*
 * sched_stuck.c - controlled mode: nobody is ready.  Somebody's deadline comes, or something
 * from outside, is waited for; or it is a deadlock, which is told to the parent and ends the
 * program.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "sched_private.h"

/* ---- what comes from outside ---- */

static void retry_real_objects(void)
{
	for (unsigned i = 0; i < sched.live_count; i++) {
		struct thread *t = sched.live[i];
		if (t->sched.state == STATE_BLOCKED &&
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
}

/* ---- deadlock ---- */

void sched_append_number(char *out, size_t room, uint64_t n, unsigned base)
{
	char digits[32];
	unsigned k = 0;
	do
		digits[k++] = "0123456789abcdef"[n % base];
	while ((n /= base) && k < sizeof(digits));
	size_t at = strlen(out);
	while (k && at + 1 < room)
		out[at++] = digits[--k];
	out[at] = 0;
}

void sched_append(char *out, size_t room, const char *text)
{
	size_t at = strlen(out);
	while (*text && at + 1 < room)
		out[at++] = *text++;
	out[at] = 0;
}

/* The thread that holds the object, or whose end is waited for; LOG_ALL_THREADS: not known. */
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

/* The number of a channel of the process's own that it waits for, or of the message that ends a
 * once-function; 0: neither. */
static uint64_t message_for(const struct thread *t)
{
	if (t->sched.reason == FOR_ONCE)
		return once_message(t->sched.object);
	if (t->sched.reason != FOR_FILE || t->sched.fd_count == 0)
		return 0;
	return channel_number(t->sched.fds[0].fd, t->sched.fds[0].events);
}

/* Do all that wait for descriptors wait for other threads: for what is written to channels that
 * the process alone has, or for room in them? */
static bool files_are_own(void)
{
	for (unsigned i = 0; i < sched.live_count; i++) {
		const struct thread *t = sched.live[i];
		if (t->sched.state != STATE_BLOCKED || t->sched.reason != FOR_FILE)
			continue;
		if (t->sched.fd_count == 0 || t->input.starves)
			return false;
		for (unsigned k = 0; k < t->sched.fd_count; k++)
			if (t->sched.fds[k].fd >= 0 &&
			    !channel_number(t->sched.fds[k].fd, t->sched.fds[k].events))
				return false;
	}
	return true;
}

static void log_blocked(void)
{
	for (unsigned i = 0; i < sched.live_count; i++) {
		struct thread *t = sched.live[i];
		if (t->sched.state != STATE_BLOCKED)
			continue;
		log_before(t); /* frames that it has left since its last event */
		uint64_t words[] = { (uintptr_t)t->sched.object, holder_of(t), t->sched.pc,
			             message_for(t) };
		log_fact(LOG_BLOCKED, t->sched.reason, t->id, words, 4);
	}
}

static _Noreturn void deadlock(void)
{
	log_blocked();
	rt_finish(LOG_DEADLOCK);
	rt_die(SIGABRT);
}

/* ---- a deadlock, or does a signal end it? ---- */

/* Can a handler, or what it interrupts, end the wait?  Only sem_post is safe in a handler; what
 * it may not call is nothing that the program can wait for. */
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
		return true;
	default:
		return false;
	}
}

/* Has the process an alarm, a timer, or a child whose end would be a signal? */
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

/*
 * Everybody waits for locks, conditions and other threads.  Without a handler that is a
 * deadlock at once.  With one, a signal from another process could still end the program or
 * jump out of a wait, which nobody can rule out: so it is one after a quiet time in which none
 * came.  A thread in pause, sigwait, poll or sem_wait waits for such a signal, perhaps: then it
 * never is.
 */
static bool is_deadlock(void)
{
	enum { QUIET = 5 }; /* seconds */
	static uint64_t turns, since;
	static unsigned signals;
	unsigned came = 0;
	if (!rt.async_handlers)
		return true;
	for (unsigned i = 0; i < sched.live_count; i++) {
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

/* ---- replay ---- */

/* Replay: does a thread wait for more than the recording has, and none for anything that still
 * comes? A wait with a time limit ends by itself, and then the program may, too, as one that
 * looks once a second whether it is to end; but a server's clock ticks for ever. */
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
 * but only once, for one that waits again waits for somebody else. */
bool sched_release_futex(struct thread *t)
{
	if (t->sched.reason != FOR_FUTEX || t->replay.released == t->ordinal + 1)
		return false;
	t->replay.released = t->ordinal + 1;
	sched_make_ready(t);
	return true;
}

/* Replay: the thread whose turn it is by the plan waits with a time limit, and in the
 * recording it timed out there. */
static void wake_planned(void)
{
	uint32_t id = replay_next();
	struct thread *t = id < MAX_THREADS ? rt.threads[id] : NULL;
	if (t && t->sched.state == STATE_BLOCKED && !sched_release_futex(t) && t->sched.timed)
		sched_fire(t);
}

/* ---- all together ---- */

/* `t` has to leave: who waits for the outside in its place, or NULL. */
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

/*
 * A program that a signal may come to from outside (it has a handler, or has set a timer)
 * sleeps in real time: else it would come to the end of its sleeps before the signal does.
 * Nanoseconds of real time until the thread's deadline; 0 where time is virtual alone.
 */
static uint64_t real_time_left(const struct thread *t)
{
	if (!(rt.async_handlers || rt.timers) || rt.replay || rt.inputs == INPUTS_GIVEN ||
	    rt.config.flags & LOG_EXPLORE)
		return 0;
	uint64_t now = sched_real_now() - sched.start_time;
	return t->sched.deadline > now ? t->sched.deadline - now : 0;
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
			retry_real_objects();
			continue;
		}
		bool outside = sched.outside || (sched.files && !files_are_own());
		if (!outside && sched.timed) {
			struct thread *next = sched_earliest();
			uint64_t left = real_time_left(next);
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
		if (!outside && is_deadlock())
			deadlock();
		if (!may_idle)
			return outside ? idles_instead(t) : blocked;
		sched_idle();
	}
}
