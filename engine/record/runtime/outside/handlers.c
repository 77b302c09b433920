/*
 * handlers.c - when the handlers of the program's signals run.  The calls that install them are
 * in handlers_install.c.
 *
 * A handler is code of the program's: it accesses memory, posts semaphores, waits.  In
 * controlled mode it therefore runs with the token and with the hooks open, and what it does is
 * recorded.  The kernel delivers a signal at any instruction; where the thread is then inside
 * the runtime, waits for the token, or stands between a hook and the access that the hook has
 * announced, the signal is kept (an arrival) and its handler runs at the thread's next hook or
 * wrapped call, or in place of going on to wait.  A thread in a blocking call that the
 * scheduler has stepped aside for takes the token for the time of the handler, and so does one
 * at any other system call of the C library: it may be there for the signal.  A thread that
 * comes to no hook is reminded by a timer, after which its handler runs wherever it is.
 *
 * "Inside the runtime" is told by the instruction: the runtime's own code.  It is therefore
 * linked so that its calls of itself and of others need no loader at run time, and what writes
 * records, holds locks or hands the token over calls nothing of the C library
 * (tests/e2e/record_abi.t).
 *
 * In free mode handlers run at once, recorded unless they interrupt the runtime.
 * In an exploration the schedule says where a handler runs (held.c). Under a memory model
 * exploration records those of a signal that a thread sends itself, which run within the call;
 * others not, as their place among the events is not the schedule's, and says so. On replay
 * each runs where it ran in the recording: inputs.c says when.
 */
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include "engine/record/runtime/sched/sched_private.h"
#include "handlers_private.h"

enum { MAX_ARRIVALS = 64 };

struct arrival {
	int number;
	struct sigaction action; /* when it came */
	uint64_t message;        /* message of the thread that sent it, or 0 */
	siginfo_t info;
	uintptr_t at;
};
struct kept_arrival { /* a signal's stack may have no room for the context */
	struct arrival a;
	ucontext_t context;
};

struct sigaction signal_handlers[SIGNALS];
uint64_t signal_timer_message[SIGNALS];
static volatile unsigned arrivals_seen;
/* Replay: number of handlers that ran ahead of their signal, sent from within, which comes
 * later in this run. */
static volatile int credit[SIGNALS];

bool signal_has_handler(int number)
{
	return number > 0 && number < SIGNALS && signal_is_handler(&signal_handlers[number]);
}

/* ---- masks, as the kernel has them ---- */

static uint64_t set_mask(uint64_t mask)
{
	uint64_t old = 0;
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, &old, sizeof(mask));
	return old;
}

static uint64_t mask_during(const struct arrival *a, uint64_t before)
{
	uint64_t mask = before | signal_kernel_mask(&a->action.sa_mask);
	return a->action.sa_flags & SA_NODEFER ? mask : mask | 1ull << (a->number - 1);
}

/* ---- running ---- */

static void call_handler(struct arrival *a, void *context)
{
	if (a->action.sa_flags & SA_SIGINFO)
		a->action.sa_sigaction(a->number, &a->info, context);
	else if (signal_is_handler(&a->action))
		a->action.sa_handler(a->number);
}

static bool from_within(const siginfo_t *info)
{
	return (info->si_code == SI_USER || info->si_code == SI_QUEUE ||
	        info->si_code == SI_TKILL) &&
	       info->si_pid == rt.header->pid;
}

static bool from_timer(int number, const siginfo_t *info)
{
	return info->si_code == SI_TIMER ||
	       (info->si_code == SI_KERNEL &&
	        (number == SIGALRM || number == SIGVTALRM || number == SIGPROF));
}

void signal_log_message(struct thread *t, enum log_tag tag, unsigned flags, uint64_t message,
                        uintptr_t pc)
{
	if (!message)
		return;
	plan_point(t);
	log_event(t, tag, flags, pc, message, 0, 1);
}

/* Runs the handler as the thread's own code, which holds the token; errno stays. */
static void run_recorded(struct thread *t, struct arrival *a, void *context)
{
	int error = errno;
	bool ours = a->at >= rt.own_low && a->at < rt.own_high;
	uintptr_t at = !ours || t->depth == 0 || t->depth > MAX_FRAMES
	                       ? a->at
	                       : t->frames[t->depth - 1].call; /* the call in which it waits */
	bool hidden = rt.config.flags & LOG_EXPLORE && !signals_are_held() &&
	              t->signals.raised != a->number;
	uint32_t outer = t->depth;
	bool woken = t->sync.woken;
	uintptr_t pc = t->sched.pc;
	log_value(t);
	input_keep_signal(t, a->number, from_within(&a->info));
	if (hidden) {
		order_matters("a signal's handler");
		t->gate |= GATE_INSIDE;
	} else {
		frame_enter(t, LOG_CALL_signal, at, false);
		signal_log_message(
		        t, LOG_RCV,
		        signals_are_held() && t->signals.raised != a->number ? LOG_HELD : 0,
		        a->message                        ? a->message
		        : from_timer(a->number, &a->info) ? signal_timer_message[a->number]
		                                          : 0,
		        (uintptr_t)a->action.sa_handler + 1); /* replay finds it there */
	}
	call_handler(a, context);
	if (hidden) {
		t->gate &= ~GATE_INSIDE;
	} else {
		log_value(t);
		while (t->depth > outer)
			frame_leave(t);
	}
	t->sched.pc = pc;
	t->sync.woken |= woken;
	t->signals.interrupted = true;
	t->signals.must_end |= !(a->action.sa_flags & SA_RESTART);
	errno = error;
}

static void forget_reminder(struct thread *t)
{
	if (t->signals.reminded) {
		syscall(SYS_timer_delete, t->signals.reminder);
		t->signals.reminded = false;
	}
}

/* Takes the first arrival of a number (0: any) from the thread's list. */
static bool take(struct thread *t, int number, struct kept_arrival *k)
{
	uint64_t mask = set_mask(~0ull);
	bool found = false;
	for (unsigned i = 0; i < t->signals.arrived && !found; i++) {
		if (number && t->signals.arrivals[i].a.number != number)
			continue;
		*k = t->signals.arrivals[i];
		memmove(&t->signals.arrivals[i], &t->signals.arrivals[i + 1],
		        (t->signals.arrived - i - 1) * sizeof(*k));
		t->signals.arrived--;
		found = true;
	}
	set_mask(mask);
	return found;
}

/* Runs the handler of a thread at a safe place, with the token. */
static void run_kept(struct thread *t, struct kept_arrival *k)
{
	uint64_t mask = set_mask(~0ull);
	set_mask(mask_during(&k->a, mask));
	run_recorded(t, &k->a, &k->context);
	set_mask(mask);
}

void handler_run_held(struct thread *t, int number, const struct sigaction *action,
                      const siginfo_t *info, uint64_t message)
{
	struct kept_arrival k = {
		.a = { number, *action, message, *info, t->sched.pc },
	};
	run_kept(t, &k);
}

static bool follows_plan(void)
{
	return rt.inputs == INPUTS_GIVEN && replay_strict();
}

void handlers_run(struct thread *t)
{
	struct kept_arrival k;
	if (t->gate & ~GATE_QUIET)
		return;
	while (t->signals.held_count && rt.replay && held_planned(t) == HELD_RUN)
		;
	if (rt.inputs == INPUTS_GIVEN)
		input_signals(t);
	if (follows_plan())
		return;
	forget_reminder(t);
	while (t->signals.arrived && take(t, 0, &k))
		run_kept(t, &k);
}

bool handler_given(struct thread *t, int number, bool within)
{
	struct kept_arrival k = { .a.number = number };
	if (rt.replay)
		replay_call(t); /* by then the signal has been sent, if a thread sends it */
	bool came = take(t, number, &k);
	for (uint32_t i = 0; !came && i < MAX_THREADS && i < rt.thread_count; i++)
		came = rt.threads[i] && take(rt.threads[i], number, &k);
	if (!came) {
		k.a.action = signal_handlers[number];
		k.a.info.si_signo = number;
		k.a.info.si_code = SI_USER;
		if (within)
			__atomic_add_fetch(&credit[number], 1, __ATOMIC_RELAXED);
	}
	if (!signal_is_handler(&k.a.action))
		return false;
	run_kept(t, &k);
	return true;
}

/* ---- delivery ---- */

/* False: no room. */
static bool keep(struct thread *t, const struct arrival *a, const ucontext_t *context)
{
	if (!t->signals.arrivals)
		t->signals.arrivals = rt_pages(MAX_ARRIVALS * sizeof(*t->signals.arrivals));
	if (!t->signals.arrivals)
		return false;
	for (unsigned i = 0; a->number < 32 && i < t->signals.arrived; i++)
		if (t->signals.arrivals[i].a.number == a->number)
			return true; /* equal signals merge, as in the kernel */
	if (t->signals.arrived >= MAX_ARRIVALS)
		return false;
	struct kept_arrival *k = &t->signals.arrivals[t->signals.arrived];
	k->a = *a;
	k->context = *context;
	k->context.uc_mcontext.fpregs = NULL; /* the registers are in the signal's frame */
	BARRIER();
	t->signals.arrived++;
	t->unusual = 1;
	__atomic_store_n(&sched.signalled, true, __ATOMIC_SEQ_CST);
	__atomic_store_n(&sched.idle, 1, __ATOMIC_SEQ_CST);
	futex_wake(&sched.idle, 1);
	return true;
}

void signal_arrives(struct thread *t, int number, const struct sigaction *action,
                    const siginfo_t *info, uint64_t message)
{
	static const ucontext_t none;
	struct arrival a = { number, *action, message, *info, t->sched.pc };
	keep(t, &a, &none);
}

/* Sets a reminder, ten milliseconds from now. */
static void remind(struct thread *t)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = REMINDER };
	struct itimerspec time = { .it_value = { 0, 10000000 } };
	event._sigev_un._tid = t->life.tid;
	if (t->signals.reminded || signal_is_handler(&signal_handlers[REMINDER]) ||
	    syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &t->signals.reminder) != 0)
		return;
	t->signals.reminded = true;
	syscall(SYS_timer_settime, t->signals.reminder, 0, &time, NULL);
}

/* Runs the handler at the point of arrival, with the signal's mask; sigreturn restores the
 * old one. */
static void run_here(struct thread *t, struct arrival *a, ucontext_t *context)
{
	set_mask(mask_during(a, signal_kernel_mask(&context->uc_sigmask)));
	run_recorded(t, a, context);
	set_mask(~0ull);
}

/* Runs the handler in a blocking call, or where the watchdog took the token away: the thread
 * takes the token back. */
static void run_in_call(struct thread *t, struct arrival *a, ucontext_t *context)
{
	uint32_t gate = t->gate & (GATE_OUTSIDE | GATE_STOLEN);
	sched_rejoin(t);
	if (t->gate & ~GATE_QUIET) {
		keep(t, a, context);
		return;
	}
	run_here(t, a, context);
	sched_leave(t);
	if (gate == GATE_STOLEN)
		t->gate = (t->gate & ~GATE_OUTSIDE) | GATE_STOLEN;
}

static bool in_runtime(uintptr_t at)
{
	return at >= rt.own_low && at < rt.own_high;
}

/* Has the C library made a system call, or is it about to? The kernel restarts one after some
 * handlers. */
static bool at_system_call(uintptr_t at)
{
	static const uint8_t instruction[] = { 0x0f, 0x05 };
	const uint8_t *p = (const void *)at;
	return in_libc(at) && !in_runtime(at) &&
	       ((p[-2] == instruction[0] && p[-1] == instruction[1]) ||
	        (p[0] == instruction[0] && p[1] == instruction[1]));
}

static void deliver(struct thread *t, struct arrival *a, ucontext_t *context)
{
	uint32_t gate = t->gate & ~GATE_QUIET;
	if (signals_are_held() && t->signals.raised != a->number) {
		order_matters_later("a signal's handler");
		if (!t->signals.away && gate != GATE_STOLEN &&
		    signal_hold_arrived(t, a->number, &a->action, &a->info, a->message))
			return;
	}
	if (follows_plan()) {
		if (credit[a->number] > 0)
			__atomic_sub_fetch(&credit[a->number], 1, __ATOMIC_RELAXED);
		else
			keep(t, a, context);
	} else if (t->signals.away || (gate == GATE_STOLEN && at_system_call(a->at))) {
		run_in_call(t, a, context);
	} else if (gate == 0 && at_system_call(a->at)) {
		run_here(t, a, context);
	} else if (keep(t, a, context)) {
		remind(t);
	} else {
		call_handler(a, context);
	}
}

/* The thread has not come to a hook for long: its handler runs at this point. */
void signal_reminder(int number, siginfo_t *info, void *context)
{
	struct thread *t = me;
	int error = errno;
	struct kept_arrival k;
	uintptr_t at = ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
	if (t != &nobody && rt.on && t->signals.reminded) {
		uint32_t gate = t->gate & ~GATE_QUIET;
		bool here = !in_runtime(at) && (gate == 0 || gate == GATE_STOLEN);
		forget_reminder(t);
		while (here && !follows_plan() && t->signals.arrived && take(t, 0, &k)) {
			if (t->gate & GATE_STOLEN)
				run_in_call(t, &k.a, context);
			else
				run_here(t, &k.a, context);
		}
		if (t->signals.arrived && !follows_plan())
			remind(t);
	}
	errno = error;
}

/* In free mode, and for faults: runs the handler at once; recorded when it interrupts the
 * program. */
static void run_at_once(struct thread *t, struct arrival *a, ucontext_t *context, bool fault)
{
	uint32_t gate = t->gate;
	uint32_t value = t->todo & TODO_OF_VALUE;
	bool ours = a->at >= rt.own_low && a->at < rt.own_high;
	if (fault)
		t->todo &= ~TODO_OF_VALUE; /* reading the value may be the fault */
	if (ours)
		t->gate |= GATE_INSIDE;
	bool shown = t->gate == 0;
	if (shown) {
		frame_enter(t, LOG_CALL_signal, a->at, false);
		signal_log_message(t, LOG_RCV, 0, a->message,
		                   (uintptr_t)a->action.sa_handler + 1);
	}
	set_mask(mask_during(a, signal_kernel_mask(&context->uc_sigmask)));
	call_handler(a, context);
	set_mask(~0ull);
	if (shown)
		frame_leave(t);
	t->gate = (t->gate & ~GATE_INSIDE) | (gate & GATE_INSIDE);
	if (!fault)
		t->todo |= value;
}

void signal_comes(int number, siginfo_t *info, void *context)
{
	struct thread *t = me;
	int error = errno;
	ucontext_t *c = context;
	struct arrival a = { .number = number,
		             .action = signal_handlers[number],
		             .info = *info,
		             .at = c->uc_mcontext.gregs[REG_RIP] };
	if (reach_fault(c))
		return;
	if (a.action.sa_flags & SA_RESETHAND)
		signal_handlers[number].sa_handler = SIG_DFL;
	__atomic_add_fetch(&arrivals_seen, 1, __ATOMIC_RELEASE);
	if (t == &nobody || !rt.on || !rt.header || t->gate & (GATE_OFF | GATE_FOREIGN)) {
		set_mask(mask_during(&a, signal_kernel_mask(&c->uc_sigmask)));
		call_handler(&a, c);
		set_mask(~0ull);
		errno = error;
		return;
	}
	if (from_within(info))
		a.message = signal_message(number);
	if (!signal_asynchronous(number) || !rt.controlled)
		run_at_once(t, &a, c, !signal_asynchronous(number));
	else
		deliver(t, &a, c);
	errno = error;
}

void signal_settle(int number, unsigned before)
{
	enum { PATIENCE = 50 };
	for (unsigned i = 0; i < PATIENCE && rt.controlled && signal_has_handler(number) &&
	                     __atomic_load_n(&arrivals_seen, __ATOMIC_ACQUIRE) == before;
	     i++)
		syscall(SYS_sched_yield);
}

unsigned signals_arrived(void)
{
	return __atomic_load_n(&arrivals_seen, __ATOMIC_ACQUIRE);
}
