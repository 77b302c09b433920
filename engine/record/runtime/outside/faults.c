/*
 * faults.c - where the program crashes.  A signal that ends it, and for which it has no handler
 * of its own, leaves a record first (LOG_CRASH): the thread, the address, and the words of its
 * stack that may be return addresses, of which the importer knows which are code of the
 * program's.  Then the signal ends the program as it would have.
 */
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "engine/record/runtime/sched/sched_private.h"
#include "handlers_private.h"

enum { STACK_WORDS = 1024, NOTED_WORDS = 40, LOW = 65536 };

static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };

bool fault_is(int number)
{
	for (unsigned i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		if (faults[i] == number)
			return true;
	return false;
}

/* May the word be a return address into code of the program's? */
static bool may_return_to(const struct thread *t, uintptr_t word)
{
	return word >= LOW && !(word >> 47) && !in_libc(word) &&
	       !(word >= t->life.stack_low && word < t->life.stack_high);
}

/* The calls of a function leave their return addresses in one place, below its frame, as its
 * hook did: from there downwards. Where that is unknown, from the stack's end upwards, past
 * the remains of earlier calls. Returns the number of words. */
static unsigned collect_stack(const struct thread *t, uintptr_t sp, uint64_t words[NOTED_WORDS])
{
	const struct frame *f =
	        t->depth > 0 && t->depth <= MAX_FRAMES ? &t->frames[t->depth - 1] : NULL;
	uintptr_t low = (sp + 7) & ~(uintptr_t)7, high = f ? f->sp + 8 : 0;
	unsigned count = 0;

	if (f && high >= low && high < t->life.stack_high) {
		for (uintptr_t at = high; at >= low && count < NOTED_WORDS; at -= 8)
			if (may_return_to(t, *(const uintptr_t *)at))
				words[count++] = *(const uintptr_t *)at;
		return count;
	}
	for (unsigned i = 0; i < STACK_WORDS && count < NOTED_WORDS; i++, low += 8)
		if (low + 8 <= t->life.stack_high && may_return_to(t, *(const uintptr_t *)low))
			words[count++] = *(const uintptr_t *)low;
	return count;
}

static void log_fault(struct thread *t, int number, const siginfo_t *info,
                      const ucontext_t *context)
{
	uintptr_t pc = (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
	bool ours = pc >= rt.own_low && pc < rt.own_high, sent = info->si_code <= 0;
	bool addressed = !sent && (number == SIGSEGV || number == SIGBUS);
	bool called = t->depth > 0 && t->depth <= MAX_FRAMES;
	uint64_t words[3 + NOTED_WORDS] = { addressed ? (uintptr_t)info->si_addr : 0,
		                            called ? t->frames[t->depth - 1].function : 0 };
	unsigned count = 2;
	if (!in_libc(pc))
		words[count++] = pc + 1;
	count +=
	        collect_stack(t, (uintptr_t)context->uc_mcontext.gregs[REG_RSP], words + count);
	t->todo &= ~TODO_OF_VALUE; /* the value's address may be the faulting one */
	if (rt.controlled)
		log_frames(t);
	uint64_t *w = log_blob(t, LOG_CRASH, t->id, NULL, 0, words, count * sizeof(*words));
	if (w && ours && !sent)
		w[0] |= LOG_FAILED_READ << 8;
}

static void fault_comes(int number, siginfo_t *info, void *context)
{
	struct sigaction usual = { .sa_handler = SIG_DFL };
	struct thread *t = me;
	uintptr_t sp = (uintptr_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RSP];

	if (reach_fault(context))
		return;
	if (rt.one_thread)
		one_thread_trap(false);
	REAL(sigaction)(number, &usual, NULL);
	exits_note_signal(number);
	if (t != &nobody && rt.on && rt.header && t->stream &&
	    !(t->gate & (GATE_OFF | GATE_FOREIGN)) && sp >= t->life.stack_low &&
	    sp < t->life.stack_high && (!rt.controlled || sched.holder == t))
		log_fault(t, number, info, context);
	if (info->si_code <= 0) /* a signal that was sent does not come again */
		syscall(SYS_tgkill, syscall(SYS_getpid), syscall(SYS_gettid), number);
}

void fault_action(struct sigaction *action)
{
	*action = (struct sigaction){ .sa_sigaction = fault_comes,
		                      .sa_flags = SA_SIGINFO | SA_ONSTACK };
}

bool fault_is_ours(const struct sigaction *action)
{
	return action->sa_flags & SA_SIGINFO && action->sa_sigaction == fault_comes;
}

bool faults_caught(void)
{
	static const int of_memory[] = { SIGSEGV, SIGBUS };
	uint64_t blocked = 0;

	raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, 0, (long)&blocked, sizeof(blocked), 0, 0);
	for (unsigned i = 0; i < sizeof(of_memory) / sizeof(of_memory[0]); i++) {
		struct { /* as the kernel has it */
			void (*handler)(int, siginfo_t *, void *);
			unsigned long flags;
			void *restorer;
			uint64_t mask;
		} now;

		if (blocked >> (of_memory[i] - 1) & 1 ||
		    raw_syscall(SYS_rt_sigaction, of_memory[i], 0, (long)&now, sizeof(now.mask),
		                0, 0) != 0 ||
		    !(now.flags & SA_SIGINFO) || now.flags & SA_RESETHAND ||
		    (now.handler != signal_comes && now.handler != fault_comes))
			return false;
	}
	return !rt.one_thread;
}

void faults_init(void)
{
	struct sigaction now, action;

	fault_action(&action);
	for (unsigned i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		if (REAL(sigaction)(faults[i], NULL, &now) == 0 && !signal_is_handler(&now) &&
		    now.sa_handler == SIG_DFL)
			REAL(sigaction)(faults[i], &action, NULL);
}
