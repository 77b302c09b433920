/*
 * sched.c - controlled mode: one thread of the program runs at a time, the holder of the
 * token, and this file says who is next.
 *
 * A thread gives the token up at scheduling points (before synchronisation, and after a
 * drawn number of plain accesses), when it blocks on something that the runtime models,
 * when it goes into a blocking call, and at its end.  Who is next depends only on the
 * seed and on what the program did, never on the machine's clock; so one seed gives one
 * run, unless the world outside (files, sockets) answers differently.
 *
 * Time is virtual: it advances with the events and jumps to the earliest deadline when
 * nothing else can run.  It catches up with real time only while everybody really waits.
 *
 * Nobody is woken while sched.lock is held, and nobody spins.
 */
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rt.h"

__thread struct thread *me = &nobody;
struct thread nobody = { .gate = GATE_FOREIGN };

static struct {
	volatile int lock;
	struct thread *volatile holder; /* NULL: everybody is outside */
	struct thread *live[MAX_THREADS];
	unsigned live_count;
	volatile unsigned ready;
	unsigned outside, files, timed;
	uint64_t order; /* of blocking */
	uint64_t steps; /* scheduling points and accesses so far */
	uint64_t accesses;
	uint64_t turn_start;     /* steps at the last hand-over */
	volatile uint64_t turns; /* hand-overs, for the watchdog */
	volatile int idle;       /* futex: something happened while the last thread idles */
	bool idling;
	pid_t leaving; /* an ended thread that is not gone yet */
	uint64_t virtual_time, start_time;
	/* pct */
	uint64_t change[64];
	unsigned changes;
	int64_t lowest;
} sched;

void futex_wait(volatile int *word, int value, uint64_t nanoseconds)
{
	struct timespec time = { nanoseconds / 1000000000, nanoseconds % 1000000000 };
	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, nanoseconds ? &time : NULL);
}

void futex_wake(volatile int *word, int count)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count);
}

static void lock(void)
{
	int old = 0;
	if (__atomic_compare_exchange_n(&sched.lock, &old, 1, false, __ATOMIC_ACQUIRE,
	                                __ATOMIC_RELAXED))
		return;
	while (__atomic_exchange_n(&sched.lock, 2, __ATOMIC_ACQUIRE))
		futex_wait(&sched.lock, 2, 0);
}

static void unlock(void)
{
	if (__atomic_exchange_n(&sched.lock, 0, __ATOMIC_RELEASE) == 2)
		futex_wake(&sched.lock, 1);
}

/* ---- time and chance ---- */

static uint64_t real_now(void)
{
	struct timespec time;
	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ull + time.tv_nsec;
}

uint64_t virtual_now(void) /* nanoseconds since the start of the recording */
{
	return rt.controlled ? sched.virtual_time : real_now() - sched.start_time;
}

void sched_tick(uint64_t nanoseconds)
{
	sched.virtual_time += nanoseconds;
}

static void catch_up(void)
{
	uint64_t now = real_now() - sched.start_time;
	if (now > sched.virtual_time)
		sched.virtual_time = now;
}

uint64_t next_random(void) /* xorshift64* */
{
	rt.random ^= rt.random >> 12;
	rt.random ^= rt.random << 25;
	rt.random ^= rt.random >> 27;
	return rt.random * 0x2545f4914f6cdd1dull;
}

static uint32_t draw(uint32_t below)
{
	return below <= 1 ? 0 : (next_random() >> 33) % below;
}

/* So many accesses without a synchronisation, and the thread waits for something by spinning.
 */
enum { SPINNING = 20000 };

static int32_t first_budget(void)
{
	/* who spins gives way before the run is cut */
	uint64_t most = rt.config.flags & LOG_EXPLORE ? rt.config.steps / 2 + 1 : SPINNING;
	return most > 1 && most < SPINNING ? (int32_t)most : SPINNING;
}

/* How many accesses until the next chance to switch: few in a short run, where every
 * interleaving matters, and ever more in a long one, where switching costs. */
static int32_t draw_budget(void)
{
	if (rt.replay)
		return 0; /* every access is a point */
	switch (rt.config.strategy) {
	case STRATEGY_NOISE:
		return 1 + draw(16);
	case STRATEGY_RR:
		return 1000;
	case STRATEGY_FIRST:
		return first_budget();
	case STRATEGY_PCT: {
		int64_t best = 2000;
		for (unsigned i = 0; i < sched.changes; i++)
			if (sched.change[i] > sched.steps &&
			    (int64_t)(sched.change[i] - sched.steps) < best)
				best = sched.change[i] - sched.steps;
		return best;
	}
	default: {
		uint64_t mean = 8 + sched.accesses / 64;
		return 1 + draw(2 * (mean < 20000 ? mean : 20000));
	}
	}
}

/* ---- choosing ---- */

static void become_ready(struct thread *t)
{
	if (t->state == STATE_BLOCKED) {
		if (t->timed)
			sched.timed--;
		if (t->reason == FOR_FILE)
			sched.files--;
	} else if (t->state == STATE_OUTSIDE) {
		sched.outside--;
	}
	t->state = STATE_READY;
	sched.ready++;
}

static struct thread *nth_ready(uint32_t n)
{
	for (unsigned i = 0; i < sched.live_count; i++)
		if (sched.live[i]->state == STATE_READY && n-- == 0)
			return sched.live[i];
	return NULL;
}

static struct thread *choose_ready(struct thread *current)
{
	struct thread *best = NULL;
	if (rt.replay) {
		uint32_t id = replay_next();
		if (id < MAX_THREADS && rt.threads[id] && rt.threads[id]->state == STATE_READY)
			return rt.threads[id];
	}
	/* `first`: the lowest, but in turn when the current one gives way of itself */
	bool first = rt.config.strategy == STRATEGY_FIRST;
	if (first || rt.config.strategy == STRATEGY_RR) {
		bool lowest = first && current->state != STATE_READY &&
		              current->state != STATE_RUNNING;
		for (unsigned i = 0; i < sched.live_count; i++) {
			struct thread *t = sched.live[i];
			if (t->state != STATE_READY)
				continue;
			if (lowest ? !best || t->id < best->id
			           : !best || (best->id <= current->id && t->id > current->id))
				best = t;
		}
		return best;
	}
	if (rt.config.strategy == STRATEGY_PCT) {
		for (unsigned i = 0; i < sched.live_count; i++) {
			struct thread *t = sched.live[i];
			if (t->state == STATE_READY && (!best || t->priority > best->priority))
				best = t;
		}
		return best;
	}
	/* Those that spin may have to wait for one that does not. */
	for (unsigned tries = 0; tries < 4; tries++) {
		best = nth_ready(draw(sched.ready));
		if (!poll_waits(best))
			break;
	}
	return best;
}

static bool files_ready(struct thread *t)
{
	for (unsigned i = 0; i < t->fd_count; i++)
		t->fds[i].revents = 0;
	struct timespec zero = { 0, 0 };
	return syscall(SYS_ppoll, t->fds, t->fd_count, &zero, NULL, 0) != 0;
}

static void poll_files(void)
{
	for (unsigned i = 0; sched.files && i < sched.live_count; i++) {
		struct thread *t = sched.live[i];
		if (t->state == STATE_BLOCKED && t->reason == FOR_FILE && files_ready(t))
			become_ready(t);
	}
}

static void retry_real_objects(void)
{
	for (unsigned i = 0; i < sched.live_count; i++) {
		struct thread *t = sched.live[i];
		if (t->state == STATE_BLOCKED &&
		    (t->reason == FOR_MUTEX || t->reason == FOR_READ_LOCK ||
		     t->reason == FOR_WRITE_LOCK || t->reason == FOR_SEMAPHORE ||
		     t->reason == FOR_FUTEX))
			become_ready(t);
	}
}

static struct thread *earliest(void)
{
	struct thread *best = NULL;
	for (unsigned i = 0; i < sched.live_count; i++) {
		struct thread *t = sched.live[i];
		if (t->state == STATE_BLOCKED && t->timed &&
		    (!best || t->deadline < best->deadline ||
		     (t->deadline == best->deadline && t->since < best->since)))
			best = t;
	}
	return best;
}

static void fire(struct thread *t)
{
	if (t->deadline > sched.virtual_time)
		sched.virtual_time = t->deadline;
	t->timed_out = true;
	become_ready(t);
}

/* Wait for the world outside: descriptors, threads in blocking calls, deadlines. */
static void idle(void)
{
	struct thread *next = earliest();
	uint64_t wait = 20000000;
	catch_up();
	if (next) {
		if (next->deadline <= sched.virtual_time) {
			fire(next);
			return;
		}
		if (next->deadline - sched.virtual_time < wait)
			wait = next->deadline - sched.virtual_time;
	}
	struct pollfd all[256];
	unsigned n = 0;
	for (unsigned i = 0; i < sched.live_count; i++) {
		struct thread *t = sched.live[i];
		if (t->state == STATE_BLOCKED && t->reason == FOR_FILE)
			for (unsigned k = 0; k < t->fd_count && n < 256; k++)
				all[n++] = t->fds[k];
	}
	sched.idling = true;
	sched.idle = 0;
	bool others = sched.outside || rt.async_handlers;
	unlock();
	if (n) {
		if (others && wait > 2000000)
			wait = 2000000;
		struct timespec time = { wait / 1000000000, wait % 1000000000 };
		syscall(SYS_ppoll, all, n, &time, NULL, 0);
	} else {
		futex_wait(&sched.idle, 0, wait);
	}
	lock();
	sched.idling = false;
	catch_up();
	poll_files();
}

static const char *const reason_words[] = {
	[FOR_NOTHING] = "nothing",     [FOR_MUTEX] = "mutex",
	[FOR_READ_LOCK] = "rwlock",    [FOR_WRITE_LOCK] = "rwlock",
	[FOR_CONDITION] = "condition", [FOR_BARRIER] = "barrier",
	[FOR_SEMAPHORE] = "semaphore", [FOR_THREAD] = "thread",
	[FOR_ONCE] = "once",           [FOR_SLEEP] = "sleep",
	[FOR_FILE] = "file",           [FOR_SPIN] = "spin lock",
	[FOR_FUTEX] = "futex",
};

static void append_number(char *out, size_t room, uint64_t n, unsigned base)
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

static void append(char *out, size_t room, const char *text)
{
	size_t at = strlen(out);
	while (*text && at + 1 < room)
		out[at++] = *text++;
	out[at] = 0;
}

/* One note for each thread: "THREAD REASON ADDRESS HOLDER", for the parent to put into
 * words, which knows the names. */
static void note_blocked(const char *key)
{
	for (unsigned i = 0; i < sched.live_count; i++) {
		struct thread *t = sched.live[i];
		if (t->state != STATE_BLOCKED)
			continue;
		char text[128] = "";
		append_number(text, sizeof(text), t->id, 10);
		append(text, sizeof(text), " ");
		const char *word = reason_words[t->reason];
		append(text, sizeof(text), t->reason == FOR_SPIN ? "spinlock" : word);
		append(text, sizeof(text), " ");
		append_number(text, sizeof(text), (uintptr_t)t->object, 16);
		append(text, sizeof(text), " ");
		pid_t owner = 0;
		if (t->reason == FOR_MUTEX)
			owner = ((const pthread_mutex_t *)t->object)->__data.__owner;
		else if (t->reason == FOR_READ_LOCK || t->reason == FOR_WRITE_LOCK)
			owner = ((const pthread_rwlock_t *)t->object)->__data.__cur_writer;
		bool found = false;
		for (unsigned k = 0; owner && k < sched.live_count && !found; k++)
			if (sched.live[k]->tid == owner) {
				append_number(text, sizeof(text), sched.live[k]->id, 10);
				found = true;
			}
		if (!found)
			append(text, sizeof(text), "-");
		append(text, sizeof(text), " ");
		append_number(text, sizeof(text), t->pc, 16);
		log_note(key, text);
	}
}

static _Noreturn void deadlock(struct thread *t)
{
	(void)t;
	note_blocked("blocked");
	rt_finish(LOG_DEADLOCK);
	rt_die(SIGABRT);
}

/* Replay: does somebody wait for more than the recording has, and nobody for anything that
 * still comes?  Others may have a time limit, or a child process: not for long. */
static bool starved(void)
{
	enum { PATIENCE = 100 };
	static unsigned looks;
	bool any = false, all = !sched.outside && !sched.timed;
	for (unsigned i = 0; i < sched.live_count; i++) {
		const struct thread *t = sched.live[i];
		any |= t->state == STATE_BLOCKED && t->starves;
		all &= t->state != STATE_BLOCKED || t->reason != FOR_FILE || t->starves;
	}
	return any && (all || ++looks > PATIENCE);
}

static _Noreturn void end_starved(void)
{
	rt_finish(LOG_STARVED);
	rt_die(SIGKILL);
}

/* Replay: a futex wait may end at any time, so it does when its thread has the next event;
 * but only once, for one that waits again waits for somebody else. */
static bool release_futex(struct thread *t)
{
	if (t->reason != FOR_FUTEX || t->released == t->ordinal + 1)
		return false;
	t->released = t->ordinal + 1;
	become_ready(t);
	return true;
}

/* Replay: the thread whose turn it is by the plan waits with a time limit, and in the
 * recording it timed out there. */
static void wake_planned(void)
{
	uint32_t id = replay_next();
	struct thread *t = id < MAX_THREADS ? rt.threads[id] : NULL;
	if (t && t->state == STATE_BLOCKED && !release_futex(t) && t->timed)
		fire(t);
}

/*
 * The thread that gets the token when `t` cannot go on; under lock.  May wait, and may
 * return `t` itself.  With `may_idle` false (t has to leave) it returns NULL, or a thread
 * that shall wait in its place and is still blocked.
 */
static struct thread *choose(struct thread *t, bool may_idle)
{
	for (;;) {
		if (sched.files)
			poll_files();
		if (rt.replay)
			wake_planned();
		if (sched.ready)
			return choose_ready(t);
		if (rt.inputs == INPUTS_GIVEN && starved())
			end_starved();
		if (rt.poke) {
			rt.poke = 0;
			retry_real_objects();
			continue;
		}
		if (sched.outside || sched.files) {
			if (may_idle) {
				idle();
				continue;
			}
			if (!sched.files && !sched.timed)
				return NULL;
			for (unsigned i = 0; i < sched.live_count; i++) {
				struct thread *other = sched.live[i];
				if (other != t && other->state == STATE_BLOCKED &&
				    (other->timed || other->reason == FOR_FILE))
					return other; /* it idles instead */
			}
			return NULL;
		}
		if (sched.timed) {
			fire(earliest());
			continue;
		}
		unsigned blocked = 0;
		for (unsigned i = 0; i < sched.live_count; i++)
			blocked += sched.live[i]->state == STATE_BLOCKED;
		if (blocked == 0)
			return NULL;     /* the last thread ends */
		if (rt.async_handlers) { /* a signal may still come and change everything */
			if (may_idle) {
				idle();
				continue;
			}
			for (unsigned i = 0; i < sched.live_count; i++)
				if (sched.live[i]->state == STATE_BLOCKED)
					return sched.live[i];
		}
		deadlock(t);
	}
}

/* ---- handing over ---- */

/* Give the token to `next`; under lock, which is given up. */
static void hand_over(struct thread *next)
{
	sched.holder = next;
	sched.turns++;
	sched.turn_start = sched.steps;
	if (next && rt.header)
		rt.header->holder = next->id;
	if (next && next->state == STATE_READY) {
		next->state = STATE_RUNNING;
		sched.ready--;
	}
	unlock();
	if (next) {
		__atomic_store_n(&next->go, 1, __ATOMIC_RELEASE);
		futex_wake(&next->go, 1);
	}
}

/* An ended thread still has its stack and caches to give back; what it does then would
 * depend on the machine, so wait until the kernel has forgotten it. */
static void wait_gone(void)
{
	pid_t tid = sched.leaving;
	if (!tid)
		return;
	sched.leaving = 0;
	for (int i = 0; i < 2000; i++) {
		if (syscall(SYS_tgkill, rt.header ? rt.header->pid : getpid(), tid, 0) != 0)
			return;
		if (i < 50) {
			syscall(SYS_sched_yield);
		} else {
			struct timespec pause = { 0, 50000 };
			syscall(SYS_nanosleep, &pause, NULL);
		}
	}
}

/* What the kernel says of a thread: its state, and the ticks of processor time it has used. */
static char kernel_state(pid_t tid, uint64_t *ticks)
{
	enum { STATE = 3, USER = 14, SYSTEM = 15 }; /* fields, proc(5) */
	char path[64] = "/proc/self/task/", text[256];
	append_number(path, sizeof(path), tid, 10);
	append(path, sizeof(path), "/stat");
	int fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return '?';
	long n = syscall(SYS_read, fd, text, sizeof(text) - 1);
	syscall(SYS_close, fd);
	if (n <= 0)
		return '?';
	text[n] = 0;
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

/* A thread is no more; under lock. */
static void bury(struct thread *t)
{
	t->state = STATE_DONE;
	for (unsigned i = 0; i < sched.live_count; i++)
		if (sched.live[i] == t) {
			for (; i + 1 < sched.live_count; i++)
				sched.live[i] = sched.live[i + 1];
			sched.live_count--;
			break;
		}
	for (unsigned i = 0; rt.controlled && i < sched.live_count; i++) {
		struct thread *other = sched.live[i];
		if (other->state == STATE_BLOCKED && other->reason == FOR_THREAD &&
		    other->object == t)
			become_ready(other);
	}
}

/* What somebody who waits saw of the holder when it last looked. */
struct look {
	uint64_t turns, events, ticks; /* ticks: at the first look that saw the others so */
	bool timed;
};

/* The holder has long computed without a single event, where others could run: it spins in
 * code that is not instrumented, perhaps for what they would do. */
static bool spins_unseen(const struct thread *h, struct look *seen, char state, uint64_t ticks)
{
	enum { LONG = 200 }; /* ticks of 10 ms */
	if (!seen->timed) {
		seen->timed = true;
		seen->ticks = ticks;
	}
	return state == 'R' && h->gate == 0 && ticks - seen->ticks >= LONG;
}

/* The holder sleeps in something that is not modelled, spins in something that is not
 * instrumented, or has left by the system call alone: go on without it. */
static void watchdog(struct look *seen)
{
	lock();
	struct thread *h = sched.holder;
	uint64_t events = h ? h->ordinal + h->counted : 0;
	if (h && h->state == STATE_RUNNING && sched.turns == seen->turns &&
	    events == seen->events && !h->go) {
		uint64_t ticks = 0;
		char state = kernel_state(h->tid, &ticks);
		if (state == '?' && h->tid > 0 &&
		    syscall(SYS_tgkill, rt.header->pid, h->tid, 0) != 0 && errno == ESRCH) {
			bury(h);
			rt.header->stolen++;
			hand_over(choose(h, false));
			return;
		}
		bool spins = spins_unseen(h, seen, state, ticks);
		bool sleeps = state == 'S' || state == 'D';
		if (sched.ready ? sleeps || spins : sleeps && (sched.timed || sched.files)) {
			h->spins = spins;
			h->gate |= GATE_STOLEN;
			h->state = STATE_OUTSIDE;
			sched.outside++;
			rt.header->stolen++;
			hand_over(choose(h, false)); /* who waits for a time idles */
			return;
		}
	} else {
		*seen = (struct look){ .turns = sched.turns, .events = events };
	}
	unlock();
}

/* Sleep until t has the token (or is asked to idle). */
static void wait_turn(struct thread *t)
{
	struct look seen = { 0 };
	while (!__atomic_load_n(&t->go, __ATOMIC_ACQUIRE)) {
		if (!rt.on)
			return;
		futex_wait(&t->go, 0, rt.config.watchdog_ms * 1000000);
		if (!__atomic_load_n(&t->go, __ATOMIC_ACQUIRE))
			watchdog(&seen);
	}
	t->go = 0;
	t->unusual = 1; /* others have written to the log */
	wait_gone();
}

/* Let `next` run and come back when it is t's turn again; t is ready.  Under lock. */
static void switch_to(struct thread *t, struct thread *next)
{
	if (next == t) {
		t->state = STATE_RUNNING;
		unlock();
		return;
	}
	hand_over(next);
	wait_turn(t);
}

static void give_way(struct thread *t, bool only_others)
{
	lock();
	if (sched.files)
		poll_files();
	if (sched.ready == 0) {
		unlock();
		return;
	}
	struct thread *next;
	if (only_others) {
		next = choose_ready(t);
		t->state = STATE_READY;
		sched.ready++;
	} else {
		t->state = STATE_READY;
		sched.ready++;
		next = choose_ready(t);
		if (next == t)
			sched.ready--;
	}
	switch_to(t, next);
}

/* Run `next` instead of `t` (replay); false when it cannot run now. */
bool sched_force(struct thread *t, struct thread *next, bool fire_timeout)
{
	lock();
	if (next->state == STATE_BLOCKED && !release_futex(next) && next->timed && fire_timeout)
		fire(next);
	if (next->state == STATE_BLOCKED && next->reason == FOR_FILE && files_ready(next))
		become_ready(next);
	if ((next->state == STATE_OUTSIDE && !next->spins) ||
	    (next->state == STATE_BLOCKED && next->reason == FOR_FILE)) {
		for (int i = 0; i < 500 && next->state != STATE_READY; i++)
			idle();
	}
	if (next->state != STATE_READY) {
		unlock();
		return false;
	}
	t->state = STATE_READY;
	sched.ready++;
	switch_to(t, next);
	return true;
}

/* The accesses since the last time count as steps. */
static void count_steps(struct thread *t)
{
	int32_t used = t->drawn - (t->budget > 0 ? t->budget : 0);
	t->drawn = t->budget > 0 ? t->budget : 0;
	t->counted += used;
	sched.accesses += used;
	sched.steps += used;
	sched.virtual_time += 5ull * used;
}

/* pct: at its change points a thread falls behind all others. */
static void at_change_point(struct thread *t)
{
	bool change = false;
	for (unsigned i = 0; i < sched.changes; i++)
		if (sched.change[i] && sched.change[i] <= sched.steps) {
			sched.change[i] = 0;
			change = true;
		}
	/* The one of highest priority may be spinning for another. */
	if (sched.steps - sched.turn_start > 4000) {
		sched.turn_start = sched.steps;
		change = true;
	}
	if (change)
		t->priority = --sched.lowest;
}

uint64_t sched_steps(void)
{
	return sched.steps;
}

/* Is it in an invocation that chance is to leave whole? */
static bool stays_whole(const struct thread *t)
{
	return rt.config.flags & LOG_EXPLORE && (t->open_count || t->told_calls);
}

/* A run that is explored has come to its limit of steps. */
static void cut_long_run(void)
{
	if (!(rt.config.flags & LOG_EXPLORE) || !rt.config.steps ||
	    sched.steps <= rt.config.steps)
		return;
	rt_finish(LOG_CUT);
	rt_die(SIGKILL);
}

void sched_point_slow(struct thread *t)
{
	if (rt.replay) {
		replay_point(t);
		if (rt.replay)
			return;
	}
	count_steps(t);
	cut_long_run();
	sched.virtual_time += 100;
	sched.steps++;
	if (rt.config.strategy == STRATEGY_PCT)
		at_change_point(t);
	if (sched.ready == 0 && (sched.files == 0 || sched.steps % 16))
		return;
	if (rt.config.strategy == STRATEGY_FIRST || stays_whole(t) ||
	    (rt.config.strategy == STRATEGY_RANDOM && (next_random() >> 40 & 1)))
		return;
	give_way(t, false);
}

/* Does everybody who can run spin? */
static bool all_wait(const struct thread *t)
{
	for (unsigned i = 0; i < sched.live_count; i++) {
		const struct thread *other = sched.live[i];
		if (other != t && other->state == STATE_READY && !poll_waits(other))
			return false;
	}
	return true;
}

/*
 * For one that spins: a look, when somebody else has something to do.  With long turns and
 * spinning waiters a program with spin locks of its own would hardly get on.  Where all spin,
 * for the outside or until they have looked often enough, handing over each time would cost
 * more than the looks: ever longer turns.
 */
static int32_t spin_budget(struct thread *t)
{
	enum { LOOK = 16, MOST = 4096 };
	struct poll *l = &t->poll;
	l->news = poll_news(t);
	l->patience = !all_wait(t) ? 1 : l->patience < MOST ? 2 * l->patience : MOST;
	return LOOK * (int32_t)l->patience - 1;
}

/*
 * Sleepers come back when virtual time has come so far, and when all others spin: it may be
 * for what the sleeper brings.  Waits with a time limit end in that way only when spinning has
 * long been in vain.
 */
static void wake_sleepers(const struct thread *t)
{
	lock();
	struct thread *s = earliest();
	bool spins = t->poll.spins >= SPIN_LIMIT && all_wait(t);
	bool outside = sched.outside || sched.files;
	if (spins && outside)
		catch_up();
	if (s && (s->deadline <= sched.virtual_time || (spins && !outside)) &&
	    (s->reason == FOR_SLEEP || (spins && t->poll.patience >= 1024)))
		fire(s);
	unlock();
}

void sched_access(struct thread *t)
{
	if (t->pending)
		log_fill(t);
	if (!rt.controlled) {
		t->budget = INT32_MAX;
		return;
	}
	if (rt.replay) {
		replay_point(t);
		if (rt.replay) {
			t->budget = 0;
			return;
		}
	}
	/* `first` preempts what spins alone, not what has just followed a plan */
	bool preempt = rt.config.strategy != STRATEGY_FIRST || t->drawn == first_budget();
	t->budget = 0;
	count_steps(t);
	cut_long_run();
	if (rt.config.strategy == STRATEGY_PCT)
		at_change_point(t);
	t->budget = t->drawn = draw_budget();
	if (looks_count()) {
		poll_settle(t);
		if (poll_spins(t)) {
			t->budget = t->drawn = spin_budget(t);
			t->priority = --sched.lowest;
		}
		if (sched.timed)
			wake_sleepers(t);
	}
	if (preempt && !stays_whole(t) && (sched.ready || sched.files))
		give_way(t, false);
}

/* One that spins and yields at each look need not be taken at its word each time. */
static bool yields_later(struct thread *t)
{
	struct poll *l = &t->poll;
	if (sched.ready == 0 || l->spins < SPIN_LIMIT || !looks_count())
		return false;
	if (l->left > 0) {
		l->left--;
		return true;
	}
	spin_budget(t);
	l->left = l->patience - 1;
	return false;
}

/* The program says itself that it has nothing to do now, or spins. */
void sched_yield_point(struct thread *t, bool lower)
{
	if (rt.replay) {
		if (t->poll.repeats)
			return;
		replay_pause(t);
		if (rt.replay)
			return;
	}
	sched.virtual_time += 1000;
	sched.steps++;
	if (lower && rt.config.strategy == STRATEGY_PCT)
		t->priority = --sched.lowest;
	if (yields_later(t))
		return;
	if (sched.timed)
		wake_sleepers(t);
	lock();
	if (sched.files)
		poll_files();
	if (sched.ready == 0 && sched.timed && !sched.files && !sched.outside) {
		/* Spinning for something that only a sleeper will bring. */
		struct thread *s = earliest();
		if (s && s->reason == FOR_SLEEP)
			fire(s);
	}
	if (sched.ready == 0) {
		unlock();
		if (sched.outside || sched.files)
			syscall(SYS_sched_yield);
		return;
	}
	struct thread *next = choose_ready(t);
	t->state = STATE_READY;
	sched.ready++;
	switch_to(t, next);
}

bool sched_block(struct thread *t, enum reason reason, const void *object, bool timed,
                 uint64_t deadline)
{
	if (t->pending)
		log_fill(t);
	if (rt.inputs == INPUTS_GIVEN)
		input_signals(t);
	lock();
	if (t->cancelled &&
	    (reason == FOR_CONDITION || reason == FOR_SLEEP || reason == FOR_THREAD ||
	     reason == FOR_SEMAPHORE || reason == FOR_FILE)) {
		unlock();
		return true;
	}
	t->state = STATE_BLOCKED;
	t->reason = reason;
	t->object = object;
	t->timed = timed;
	t->timed_out = false;
	t->deadline = deadline;
	t->since = ++sched.order;
	if (timed)
		sched.timed++;
	if (reason == FOR_FILE)
		sched.files++;
	while (t->state != STATE_RUNNING) {
		struct thread *next = choose(t, true);
		if (next == t) {
			t->state = STATE_RUNNING;
			sched.ready--;
			sched.holder = t;
			break;
		}
		hand_over(next);
		wait_turn(t);
		if (!rt.on)
			return true;
		lock();
	}
	t->reason = FOR_NOTHING;
	t->object = NULL;
	unlock();
	if (unlikely(t->signal_count))
		input_keep_signals(t);
	return !t->timed_out;
}

/* Make threads that wait for `object` ready; how many.  The caller holds the token. */
unsigned sched_wake(const void *object, enum reason reason, unsigned most)
{
	unsigned woken = 0;
	lock();
	while (woken < most) {
		struct thread *best = NULL;
		uint32_t n = 0, lot = 0;
		if (most == 1 && !rt.replay && rt.config.strategy != STRATEGY_RR &&
		    rt.config.strategy != STRATEGY_FIRST) {
			/* any waiter may be the one */
			for (unsigned i = 0; i < sched.live_count; i++)
				if (sched.live[i]->state == STATE_BLOCKED &&
				    sched.live[i]->object == object &&
				    sched.live[i]->reason == reason)
					n++;
			lot = draw(n);
			n = 0;
		}
		for (unsigned i = 0; i < sched.live_count; i++) {
			struct thread *t = sched.live[i];
			if (t->state != STATE_BLOCKED || t->object != object ||
			    t->reason != reason)
				continue;
			if (rt.replay) {
				if (!best || replay_turn(t->id) < replay_turn(best->id))
					best = t;
			} else if (lot) {
				if (n++ == lot)
					best = t;
			} else if (!best || t->since < best->since) {
				best = t;
			}
		}
		if (!best)
			break;
		if (reason == FOR_FUTEX)
			best->woken = true;
		become_ready(best);
		woken++;
	}
	unlock();
	return woken;
}

unsigned sched_waiting(const void *object, enum reason reason)
{
	unsigned n = 0;
	for (unsigned i = 0; i < sched.live_count; i++) {
		struct thread *t = sched.live[i];
		n += t->state == STATE_BLOCKED && t->object == object && t->reason == reason;
	}
	return n;
}

/* A thread waits for a condition from its `wait` event on, even while it has not yet come
 * to give up the mutex and block (replay may let others run in between). */
void sched_signal(const void *condition, unsigned most)
{
	lock();
	for (unsigned woken = 0; woken < most; woken++) {
		struct thread *best = NULL;
		uint32_t n = 0;
		for (unsigned i = 0; i < sched.live_count; i++) {
			struct thread *t = sched.live[i];
			if (t->condition != condition || t->woken ||
			    (t->state == STATE_READY && t->timed_out))
				continue;
			n++;
			if (rt.replay ? !best || replay_turn(t->id) < replay_turn(best->id)
			    : rt.config.strategy == STRATEGY_RR ||
			                    rt.config.strategy == STRATEGY_FIRST
			            ? !best || t->since < best->since
			            : draw(n) == 0)
				best = t;
		}
		if (!best)
			break;
		best->woken = true;
		if (best->state == STATE_BLOCKED && best->reason == FOR_CONDITION)
			become_ready(best);
	}
	unlock();
}

void sched_cancel(struct thread *t)
{
	lock();
	t->cancelled = true;
	if (t->state == STATE_BLOCKED &&
	    (t->reason == FOR_CONDITION || t->reason == FOR_SLEEP || t->reason == FOR_THREAD ||
	     t->reason == FOR_SEMAPHORE || t->reason == FOR_FILE))
		become_ready(t);
	unlock();
}

/* ---- blocking calls ---- */

void sched_leave(struct thread *t)
{
	if (t->pending)
		log_fill(t);
	t->gate |= GATE_OUTSIDE;
	if (!rt.controlled)
		return;
	lock();
	t->state = STATE_OUTSIDE;
	sched.outside++;
	hand_over(choose(t, false));
}

void sched_rejoin(struct thread *t)
{
	if (!rt.controlled) {
		t->gate &= ~GATE_OUTSIDE;
		return;
	}
	lock();
	if (!rt.on) {
		t->gate &= ~(GATE_OUTSIDE | GATE_STOLEN);
		unlock();
		return;
	}
	become_ready(t);
	t->spins = false;
	if (sched.holder == NULL) {
		t->state = STATE_RUNNING;
		sched.ready--;
		sched.holder = t;
		sched.turns++;
		catch_up();
		unlock();
		wait_gone();
	} else {
		bool wake = sched.idling;
		sched.idle = 1;
		unlock();
		if (wake)
			futex_wake(&sched.idle, 1);
		wait_turn(t);
	}
	t->gate &= ~(GATE_OUTSIDE | GATE_STOLEN);
	t->unusual = 1;
	if (unlikely(t->signal_count))
		input_keep_signals(t);
}

bool sched_wait_files(struct thread *t, struct pollfd *fds, unsigned count, bool timed,
                      uint64_t deadline)
{
	t->fds = fds;
	t->fd_count = count;
	if (files_ready(t))
		return true;
	bool ready = sched_block(t, FOR_FILE, fds, timed, deadline);
	t->fd_count = 0;
	return ready;
}

/* ---- birth and end ---- */

struct thread *thread_new(struct thread *parent)
{
	uint32_t id = __atomic_fetch_add(&rt.thread_count, 1, __ATOMIC_RELAXED);
	if (parent && rt.replay) {
		uint32_t planned = replay_child(parent->id, parent->children);
		if (planned != UINT32_MAX)
			id = planned;
	}
	if (id >= MAX_THREADS)
		return NULL;
	struct thread *t = rt_pages(sizeof(*t));
	struct frame *frames = rt_pages((MAX_FRAMES + 1) * sizeof(*frames));
	if (!t || !frames)
		return NULL;
	t->frames = frames + 1;
	t->id = id;
	t->parent = parent ? parent->id : UINT32_MAX;
	t->budget = t->drawn = draw_budget();
	t->stream = rt.controlled ? &rt.stream : &t->own;
	t->own.thread = id;
	t->own.last = id;
	t->state = STATE_READY;
	t->unusual = 1;
	t->callback_at = UINT32_MAX;
	t->epoch = rt.controlled ? 0 : 1;
	if (t->epoch)
		rt_populate(t->seen, sizeof(t->seen));
	t->priority = 1 + draw(1 << 30);
	if (parent)
		parent->children++;
	lock();
	rt.threads[id] = t;
	if (sched.live_count < MAX_THREADS)
		sched.live[sched.live_count++] = t;
	if (parent)
		sched.ready++;
	else {
		t->state = STATE_RUNNING;
		sched.holder = t;
	}
	unlock();
	return t;
}

/* The thread could not be created after all. */
void thread_forget(struct thread *t)
{
	lock();
	if (t->state == STATE_READY)
		sched.ready--;
	t->state = STATE_DONE;
	for (unsigned i = 0; i < sched.live_count; i++)
		if (sched.live[i] == t) {
			for (; i + 1 < sched.live_count; i++)
				sched.live[i] = sched.live[i + 1];
			sched.live_count--;
		}
	unlock();
}

void sched_start(struct thread *t)
{
	if (rt.controlled)
		wait_turn(t);
}

void sched_adopt(struct thread *t)
{
	if (!rt.controlled)
		return;
	lock();
	bool chosen = t->state != STATE_READY;
	if (!chosen) {
		sched.ready--;
		t->state = STATE_OUTSIDE;
		sched.outside++;
	}
	unlock();
	if (chosen)
		wait_turn(t);
	else
		sched_rejoin(t);
}

void sched_expect(int more)
{
	lock();
	sched.outside += more;
	unlock();
}

void sched_end(struct thread *t)
{
	if (rt.config.flags & LOG_EXPLORE && rt.on) {
		char text[32] = "";
		append_number(text, sizeof(text), t->id, 10);
		log_note("ended", text);
	}
	lock();
	bury(t);
	if (!rt.controlled) {
		unlock();
		return;
	}
	if (t->id != 0)
		sched.leaving = t->tid;
	if (sched.live_count == 0) {
		sched.holder = NULL;
		unlock();
		return;
	}
	hand_over(choose(t, false));
}

/* A hook of a thread whose gate is not open: may it record after all? */
bool hook_slow(struct thread *t)
{
	if (t->gate == GATE_STOLEN) {
		sched_rejoin(t);
		return t->gate == 0;
	}
	if (t->gate & GATE_OUTSIDE && rt.header)
		rt.header->lost++;
	return false;
}

/* Everybody runs freely from now on (the recording has ended). */
void sched_detach_all(void)
{
	for (uint32_t i = 0; i < MAX_THREADS && i < rt.thread_count; i++) {
		struct thread *t = rt.threads[i];
		if (!t)
			continue;
		t->gate |= GATE_OFF;
	}
}

void sched_init(void)
{
	sched.start_time = real_now();
	sched.virtual_time = 0;
	if (rt.config.strategy == STRATEGY_PCT) {
		uint64_t steps = rt.config.steps ? rt.config.steps : 1000;
		unsigned n = rt.config.depth > 0 ? rt.config.depth - 1 : 0;
		for (unsigned i = 0; i < n && i < 64; i++)
			sched.change[sched.changes++] = 1 + next_random() % steps;
	}
}
