/*
 * sched_watchdog.c - controlled mode: a token holder that does not reach its next scheduling
 * point.  It blocks in a call that is not modelled, spins in code that is not instrumented, or
 * has ended by the bare system call.  The threads that wait for the token check on it.
 */
#include <string.h>
#include <sys/syscall.h>

#include "sched_private.h"

/* State of a thread as the kernel shows it, and the ticks of processor time that it has used.
 */
static char kernel_state(pid_t tid, uint64_t *ticks)
{
	enum { STATE = 3, USER = 14, SYSTEM = 15 }; /* fields, proc(5) */
	char path[64] = "/proc/self/task/", text[256];
	sched_append_number(path, sizeof(path), tid, 10);
	sched_append(path, sizeof(path), "/stat");
	if (sched_read_file(path, text, sizeof(text)) <= 0)
		return '?';
	char *p = strrchr(text, ')');
	if (!p || p[1] != ' ')
		return '?';
	char state = p[2];
	*ticks = 0;
	unsigned field = STATE;
	for (p += 2; *p && field <= SYSTEM; p++) {
		if (*p == ' ')
			field++;
		else if (field == USER || field == SYSTEM) {
			uint64_t number = 0;
			for (; *p >= '0' && *p <= '9'; p++)
				number = number * 10 + (uint64_t)(*p - '0');
			*ticks += number;
			p--;
		}
	}
	return state;
}

static uint64_t hash_of(const char *text)
{
	uint64_t hash = 0xcbf29ce484222325u;
	for (const char *p = text; *p; p++)
		hash = (hash ^ (unsigned char)*p) * 0x100000001b3u;
	return hash | 1;
}

/*
 * A hash of the futex wait that the thread is in, by proc(5)'s "syscall": its number,
 * arguments, stack and instruction. 0: it is in none, or in the scheduler's own, or unknown.
 */
static uint64_t futex_wait_of(pid_t tid)
{
	char path[64] = "/proc/self/task/", text[256], futex[32] = "";
	sched_append_number(path, sizeof(path), tid, 10);
	sched_append(path, sizeof(path), "/syscall");
	if (sched_read_file(path, text, sizeof(text)) <= 0)
		return 0;
	sched_append_number(futex, sizeof(futex), SYS_futex, 10);
	sched_append(futex, sizeof(futex), " 0x");
	size_t length = strlen(futex);
	if (strncmp(text, futex, length) != 0)
		return 0;
	sched_append_number(futex, sizeof(futex), (uintptr_t)&sched.lock, 16);
	if (strncmp(text, futex, strlen(futex)) == 0 && text[strlen(futex)] == ' ')
		return 0;
	return hash_of(text);
}

/* A hash of how often and how long the thread has run, by proc(5)'s "schedstat", which is
 * constant while it sleeps. 0: unknown. */
static uint64_t runs_of(pid_t tid)
{
	char path[64] = "/proc/self/task/", text[128];
	sched_append_number(path, sizeof(path), tid, 10);
	sched_append(path, sizeof(path), "/schedstat");
	return sched_read_file(path, text, sizeof(text)) > 0 ? hash_of(text) : 0;
}

/* The holder has computed for long without a single event, while others could run: it spins
 * in uninstrumented code, perhaps until they act. Each time makes the next one four times
 * shorter, as a lock of such code is waited for repeatedly, and the schedule may not be
 * reproducible anyhow. A replay gives up at the first time, so it is always long there. */
static bool spins_unseen(const struct thread *h, struct look *seen, char state, uint64_t ticks)
{
	enum { LONG = 200, SHORTEST = 3 }; /* ticks of 10 ms; LONG >> 2 * SHORTEST is 3 */
	unsigned enough =
	        rt.replay ? LONG : LONG >> 2 * (sched.spun < SHORTEST ? sched.spun : SHORTEST);
	if (!seen->timed) {
		seen->timed = true;
		seen->ticks = ticks;
	}
	return state == 'R' && (h->gate & ~GATE_QUIET) == 0 && ticks - seen->ticks >= enough;
}

/* Removes a holder that ended by the system call alone; under lock, which is then released. */
static bool bury_gone(struct thread *h)
{
	if (h->life.tid <= 0 || syscall(SYS_tgkill, rt.header->pid, h->life.tid, 0) != -ESRCH)
		return false;
	sched_bury(h);
	rt.header->stolen++;
	sched_hand_over(sched_choose(h, false));
	return true;
}

/* Does a thread other than the holder run, without the token?  The holder may wait for it: for
 * a lock inside the C library, or for the rest of a parallel region in libgomp. */
static bool another_runs(const struct thread *h)
{
	uint64_t ticks;
	for (unsigned i = 0; i < sched.live_count; i++) {
		const struct thread *t = sched.live[i];
		if (t != h && t != me && !(t->gate & GATE_WAITING) &&
		    (t->life.tid == 0 || kernel_state(t->life.tid, &ticks) != 'S'))
			return true;
	}
	return false;
}

/*
 * Does the holder sleep? A futex wait that two looks find the same, while all other threads
 * sleep or wait for the token, lasts: it is for one of those that cannot run before the token
 * is taken away. Any other sleep may end by itself in a moment, sooner or later as the
 * machine has time, and counts after the watchdog's time without waking: the time that a
 * thread waits for a processor does not count. A sleep that no signal ends ('D') is for the
 * disk or memory, perhaps for a page of the log, not for a thread of the program; it counts
 * only after longer than a busy disk takes.
 */
static bool sleeps_long(const struct thread *h, struct look *seen, char state)
{
	enum { DISK = 50 }; /* times the watchdog's time */
	bool asleep = state == 'S' || state == 'D';
	uint64_t runs = asleep ? runs_of(h->life.tid) : 0, now = sched_real_now();
	if (!asleep || runs != seen->runs)
		seen->since = now;
	seen->runs = runs;
	if (!asleep)
		return false;
	uint64_t futex = state == 'S' ? futex_wait_of(h->life.tid) : 0;
	bool lasts = futex && futex == seen->futex;
	seen->futex = futex;
	return (lasts && !another_runs(h)) ||
	       now - seen->since >=
	               (uint64_t)rt.config.watchdog_ms * 1000000 * (state == 'D' ? DISK : 1);
}

bool sched_watchdog(struct look *seen)
{
	bool soon = false;
	sched_lock();
	struct thread *h = sched.holder;
	uint64_t events = h ? h->ordinal + h->counted : 0;
	if (h && h->sched.state == STATE_RUNNING && sched.turns == seen->turns &&
	    events == seen->events && !h->sched.go && !log_makes_room) {
		uint64_t ticks = 0;
		char state = kernel_state(h->life.tid, &ticks);
		if (state == '?' && bury_gone(h))
			return false;
		bool spins = spins_unseen(h, seen, state, ticks);
		if (state == 'R' && (h->gate & ~GATE_QUIET) == 0)
			endless_ask(h, events, ticks - seen->ticks);
		bool sleeps = sleeps_long(h, seen, state);
		soon = seen->futex != 0;
		if ((sleeps || spins) && (sched.ready || sched.timed || sched.files)) {
			h->sched.spins = spins;
			sched.spun += spins;
			h->gate |= GATE_STOLEN;
			h->sched.state = STATE_OUTSIDE;
			sched.outside++;
			rt.header->stolen++;
			if (unlikely(rt.memory))
				memory_left(h);
			sched_hand_over(
			        sched_choose(h, false)); /* a waiter with a time limit idles */
			return false;
		}
		if (sleeps)
			sched_end_if_stuck(h);
	} else {
		if (!h && !sched.idling && !sched.ready && sched.outside)
			sched_end_if_stuck(NULL); /* no other thread looks after those
			                           * outside */
		*seen = (struct look){ .turns = sched.turns,
			               .events = events,
			               .since = sched_real_now() };
	}
	sched_unlock();
	return soon;
}
