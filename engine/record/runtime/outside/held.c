/*
 * held.c - signals in an exploration, and in the replay of one of its runs (LOG_FUTEXES): when
 * a handler runs is a choice of the schedule.
 *
 * A signal that a thread of the program sends to another one, and that a handler of the program
 * takes, is not given to the kernel: it is held for its thread.  The handler runs where the
 * plan has it (a step LOG_RCV that is `late`), before any event of its thread, also while the
 * thread waits; without one as late as possible: when no thread can go on otherwise, and before
 * its thread ends (which is when the others wait), ends the program, changes its mask of
 * blocked signals, or makes a call that blocks in the kernel.  Signals of timers and of other
 * processes, which the kernel brings, are held, too.
 *
 * A signal of a kind that is held already merges with it, as in the kernel.
 */
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engine/record/runtime/sched/sched_private.h"
#include "handlers_private.h"

enum { MOST_HELD = 16 };

struct held_signal {
	int number;
	struct sigaction action; /* when it was sent */
	uint64_t message;        /* of its sender; 0: none */
	siginfo_t info;
};

bool signals_are_held(void)
{
	return rt.controlled && rt.config.flags & LOG_FUTEXES && !rt.memory;
}

static uint64_t own_mask(void)
{
	uint64_t mask = 0;
	syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &mask, sizeof(mask));
	return mask;
}

/* The signals that a thread blocks, as the kernel has them: of another SigBlk in its status. */
static uint64_t mask_of(const struct thread *t)
{
	char path[64] = "/proc/self/task/", text[2048];
	uint64_t mask = 0;
	if (t == me)
		return t->signals.mask_changes % 2 != 0 ? t->signals.own_mask : own_mask();
	if (rt.one_thread)
		return 0;                   /* a call that changes masks is refused there */
	if (!t->life.started && t->id != 0) /* an attribute may say so */
		return t->life.masked ? t->life.mask : ~(uint64_t)0;
	sched_append_number(path, sizeof(path), (uint64_t)t->life.tid, 10);
	memcpy(path + strlen(path), "/status", sizeof("/status"));
	for (;;) {
		unsigned changes = __atomic_load_n(&t->signals.mask_changes, __ATOMIC_SEQ_CST);
		if (changes % 2 != 0) /* blocked by the runtime, for now */
			return __atomic_load_n(&t->signals.own_mask, __ATOMIC_SEQ_CST);
		const char *at = sched_read_file(path, text, sizeof(text)) > 0
		                         ? strstr(text, "SigBlk:")
		                         : NULL;
		mask = 0;
		for (at = at ? at + strlen("SigBlk:") : ""; *at && *at != '\n'; at++)
			if (*at > ' ')
				mask = mask << 4 |
				       (unsigned)(*at <= '9' ? *at - '0' : *at - 'a' + 10);
		if (__atomic_load_n(&t->signals.mask_changes, __ATOMIC_SEQ_CST) == changes)
			return mask;
	}
}

static bool blocks(uint64_t mask, int number)
{
	return mask >> (number - 1) & 1;
}

struct thread *signal_taker(int number)
{
	struct thread *taker = NULL;
	unsigned takers = 0;
	for (uint32_t i = 0; signals_are_held() && i < rt.thread_count && i < MAX_THREADS;
	     i++) {
		struct thread *t = rt.threads[i];
		if (!t || t->sched.state == STATE_DONE || blocks(mask_of(t), number))
			continue;
		takers++;
		taker = taker ? taker : t;
	}
	if (takers > 1)
		order_matters("which thread takes a signal to the process");
	return taker;
}

bool signal_can_come(void)
{
	uint64_t handled = 0, blocked = ~(uint64_t)0;
	for (int number = 1; number < SIGNALS; number++)
		if (signal_has_handler(number) && signal_asynchronous(number))
			handled |= 1ull << (number - 1);
	for (uint32_t i = 0; i < rt.thread_count && i < MAX_THREADS; i++) {
		const struct thread *t = rt.threads[i];
		if (t && t->sched.state != STATE_DONE)
			blocked &= mask_of(t);
	}
	return (handled & ~blocked) != 0;
}

/* False: there is no room. */
static bool add(struct thread *t, const struct held_signal *s)
{
	if (!t->signals.held)
		t->signals.held = rt_pages(MOST_HELD * sizeof(*t->signals.held));
	if (!t->signals.held || t->signals.held_count >= MOST_HELD)
		return false;
	t->signals.held[t->signals.held_count++] = *s;
	return true;
}

bool signal_hold(struct thread *t, int number, int code, union sigval value, uintptr_t pc)
{
	struct thread *sender = recording();
	if (!sender || !t || t == sender || !signals_are_held() ||
	    !signal_has_handler(number) || !signal_asynchronous(number))
		return false;
	sched_point(sender);
	bool ended = t->sched.state == STATE_DONE && t->signals.end;
	if (!ended && (t->sched.state == STATE_OUTSIDE || blocks(mask_of(t), number) ||
	               t->signals.held_count >= MOST_HELD))
		return false;
	struct held_signal s = { .number = number,
		                 .action = signal_handlers[number],
		                 .message = message_new(sender) };
	s.info.si_signo = number;
	s.info.si_code = code;
	s.info.si_pid = rt.header->pid;
	s.info.si_uid = getuid();
	s.info.si_value = value;
	if (s.action.sa_flags & SA_RESETHAND)
		signal_handlers[number].sa_handler = SIG_DFL;
	futexes_are_steps();
	if (ended) { /* and was not joined: the signal has no effect */
		log_event(sender, LOG_RCV, 0, pc, t->signals.end, 0, 1);
		return true;
	}
	log_event(sender, LOG_SND, LOG_HELD, pc, s.message, 0, 1);
	for (unsigned i = 0; i < t->signals.held_count; i++)
		if (t->signals.held[i].number == number && number < SIGRTMIN) {
			order_matters("a signal that is sent again before its handler runs");
			return true;
		}
	return add(t, &s);
}

bool signal_hold_arrived(struct thread *t, int number, const struct sigaction *action,
                         const siginfo_t *info, uint64_t message)
{
	struct held_signal s = {
		.number = number, .action = *action, .message = message, .info = *info
	};
	for (unsigned i = 0; i < t->signals.held_count; i++)
		if (t->signals.held[i].number == number && number < SIGRTMIN)
			return true;
	return add(t, &s);
}

/* Takes a signal that its thread does not block; `handler`: one with this handler, or 0. */
static bool take(struct thread *t, uintptr_t handler, struct held_signal *s)
{
	uint64_t mask = t->signals.held_count ? mask_of(t) : 0;
	for (unsigned i = 0; i < t->signals.held_count; i++) {
		*s = t->signals.held[i];
		if (blocks(mask, s->number) ||
		    (handler && (uintptr_t)s->action.sa_handler != handler))
			continue;
		t->signals.held_count--;
		memmove(&t->signals.held[i], &t->signals.held[i + 1],
		        (t->signals.held_count - i) * sizeof(*s));
		return true;
	}
	return false;
}

static void run(struct thread *t, const struct held_signal *s)
{
	handler_run_held(t, s->number, &s->action, &s->info, s->message);
}

enum held_step held_planned(struct thread *t)
{
	const struct log_step *step = replay_step(t);
	struct held_signal s;
	if (!step || step->tag != LOG_RCV || !step->late || t->gate & ~GATE_QUIET)
		return HELD_NONE;
	if (!take(t, step->pc ? step->pc - 1 : 0, &s))
		return HELD_NEVER;
	run(t, &s);
	return HELD_RUN;
}

void held_run_all(struct thread *t)
{
	struct held_signal s;
	while (t->signals.held_count && !(t->gate & ~GATE_QUIET)) {
		if (rt.replay)
			replay_point(t); /* it may run one */
		if (!t->signals.held_count || !take(t, 0, &s))
			return;
		run(t, &s);
	}
}

void held_run_at_end(struct thread *t)
{
	enum { LONG = 1000000 }; /* virtual nanoseconds: ten thousand scheduling points */
	held_run_all(t);
	if (!signals_are_held() || !rt.async_handlers || t->gate & ~GATE_QUIET)
		return;
	sched_block(t, FOR_SLEEP, NULL, true, virtual_now() + LONG);
	held_run_all(t);
	plan_point(t);
	held_run_all(t);
	t->signals.end = message_new(t);
	log_event(t, LOG_SND, LOG_HELD | LOG_TRY, (uintptr_t)t->life.start + 1, t->signals.end,
	          0, 1);
}

bool held_release(void)
{
	struct held_signal s;
	for (uint32_t i = 0; i < rt.thread_count && i < MAX_THREADS && replay_lets_go(); i++) {
		struct thread *t = rt.threads[i];
		if (!t || t->sched.state == STATE_DONE || !take(t, 0, &s))
			continue;
		signal_arrives(t, s.number, &s.action, &s.info, s.message);
		return true;
	}
	return false;
}

void held_forward(struct thread *t)
{
	for (unsigned i = 0; i < t->signals.held_count; i++)
		syscall(SYS_tgkill, rt.header->pid, t->life.tid, t->signals.held[i].number);
	t->signals.held_count = 0;
}
