/*
 * sched_endless.c - controlled mode: a token holder in a loop without end. Of `while (!flag);`
 * on a variable that is neither atomic nor volatile the compiler makes one read and a loop
 * that reads nothing. No thread can end it, so the scheduler takes it for a wait for ever.
 *
 * The proof: the watchdog interrupts the holder (or the explorer does, where all threads are
 * one: one_thread.h), which then runs one instruction at a time, by the processor's trap flag.
 * If each of these works on registers alone, and all registers and flags hold again what they
 * held at the same instruction before, the loop repeats itself.
 *
 * A thread that is cancelled at once (cancel.c) is interrupted in the same way.
 */
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "engine/record/runtime/outside/handlers_private.h"
#include "sched_private.h"

enum {
	TRAP_FLAG = 0x100,
	RESUME_FLAG = 0x10000,
	FIRST = 5,  /* ticks of 10 ms without an event before the holder is asked; later ones
	             * double */
	ANEW = 100, /* steps after which the state is remembered anew: before, the thread may
	             * not have been in the loop */
	LAST = 200,
};

static struct {
	greg_t before[NGREG];
	unsigned steps;
} loop;

/* Does the instruction work on registers alone? False for those that are not known. */
static bool works_on_registers(const uint8_t *p)
{
	bool repeat = false;
	for (; *p == 0x66 || *p == 0xf3 || *p == 0xf2; p++)
		repeat |= *p == 0xf3;
	if (*p == 0x90)
		return true; /* also pause */
	if ((*p & 0xf0) == 0x40)
		p++;
	uint8_t byte = p[0], second = p[1];
	if (byte == 0x0f) {
		if (second >= 0x80 && second <= 0x8f) /* jcc */
			return true;
		if (second == 0x1f || (repeat && second == 0x1e)) /* nop, endbr64 */
			return true;
		return p[2] >> 6 == 3 &&
		       (second == 0x2e || second == 0x2f ||   /* comiss */
		        (second >= 0x40 && second <= 0x4f) || /* cmovcc */
		        (second >= 0x90 && second <= 0x9f) || /* setcc */
		        second == 0xb6 || second == 0xb7 || second == 0xbe || second == 0xbf);
	}
	if (byte == 0xeb || byte == 0xe9 || (byte >= 0x70 && byte <= 0x7f)) /* jmp, jcc */
		return true;
	if (byte == 0xa8 || byte == 0xa9 ||
	    (byte < 0x40 && (byte & 6) == 4)) /* eax, constant */
		return true;
	return second >> 6 == 3 &&
	       ((byte < 0x40 && (byte & 7) < 4) || (byte >= 0x80 && byte <= 0x8b) ||
	        byte == 0x63 ||
	        ((byte == 0xf6 || byte == 0xf7) && (second >> 3 & 7) < 2)); /* test */
}

static bool is_as_before(const greg_t *now)
{
	const greg_t flags = TRAP_FLAG | RESUME_FLAG;
	for (int r = REG_R8; r <= REG_RIP; r++)
		if (now[r] != loop.before[r])
			return false;
	return (now[REG_EFL] & ~flags) == (loop.before[REG_EFL] & ~flags);
}

/* Where a thread goes on that was in a loop without end. Its stack may not be aligned. */
__attribute__((force_align_arg_pointer)) static _Noreturn void wait_for_ever(uintptr_t pc)
{
	struct thread *t = me;
	for (;;) {
		if (rt.on) {
			t->sched.pc = pc;
			sched_end_cancelled(t);
			sched_block(t, FOR_LOOP, NULL, false, 0);
		} else {
			raw_syscall(SYS_pause, 0, 0, 0, 0, 0, 0);
		}
	}
}

/* Where a thread goes on that was cancelled at once, in code without events. */
__attribute__((force_align_arg_pointer)) static void end_cancelled(uintptr_t pc)
{
	sched_end_cancelled(me);
	wait_for_ever(pc);
}

/* As if the interrupted code called the function, which does not return: with the caller's
 * frame as it is, by which a cancelled thread is unwound, and an address inside of the
 * instruction as the return address. */
static void call_from(greg_t *now, void (*function)(uintptr_t pc))
{
	uintptr_t inside = (uintptr_t)now[REG_RIP] + 1;
	now[REG_RSP] -= sizeof(uintptr_t);
	*(uintptr_t *)now[REG_RSP] = inside;
	now[REG_RIP] = (greg_t)(uintptr_t)function;
	now[REG_RDI] = (greg_t)inside;
}

void endless_trap(int number, siginfo_t *info, void *context)
{
	greg_t *now = ((ucontext_t *)context)->uc_mcontext.gregs;
	uintptr_t pc = (uintptr_t)now[REG_RIP];
	const struct thread *t = me;
	(void)number;
	now[REG_EFL] &= ~TRAP_FLAG;
	if (t == &nobody || !rt.on || t->gate & ~GATE_QUIET & ~GATE_STOLEN ||
	    (pc >= rt.own_low && pc < rt.own_high))
		return;
	if (sched_cancelled(&t->sched) && t->sched.cancel_at_once && !in_libc(pc)) {
		call_from(now, end_cancelled);
		return;
	}
	if (sched.holder != t || !works_on_registers((const void *)pc))
		return;
	loop.steps = info->si_code <= 0 ? 0 : loop.steps + 1;
	if (loop.steps == 0 || loop.steps == ANEW) {
		memcpy(loop.before, now, sizeof(loop.before));
	} else if (is_as_before(now)) {
		call_from(now, wait_for_ever);
		return;
	}
	if (loop.steps < LAST)
		now[REG_EFL] |= TRAP_FLAG;
}

bool endless_is_ours(const struct sigaction *action)
{
	return action->sa_flags & SA_SIGINFO && action->sa_sigaction == endless_trap;
}

/* The number behind `word` in the thread's status, proc(5). */
static uint64_t status_number(const char *status, const char *word, unsigned base)
{
	const char *p = strstr(status, word);
	uint64_t number = 0;
	if (p == NULL)
		return UINT64_MAX;
	for (p += strlen(word); *p == ' ' || *p == '\t'; p++)
		;
	for (; (*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'f'); p++)
		number = number * base + (uint64_t)(*p <= '9' ? *p - '0' : *p - 'a' + 10);
	return number;
}

/* The signal is the program's own, or a debugger's, where it has a handler or is blocked, or
 * the process is traced. */
static bool may_trap(pid_t tid)
{
	char path[64] = "/proc/self/task/", status[4096];
	struct sigaction now, own = { .sa_sigaction = endless_trap,
		                      .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART };
	sched_append_number(path, sizeof(path), tid, 10);
	sched_append(path, sizeof(path), "/status");
	if (sched_read_file(path, status, sizeof(status)) <= 0 ||
	    status_number(status, "TracerPid:", 10) != 0 ||
	    status_number(status, "SigBlk:", 16) >> (SIGTRAP - 1) & 1)
		return false;
	if (signal_is_handler(&signal_handlers[SIGTRAP]) ||
	    REAL(sigaction)(SIGTRAP, NULL, &now) != 0)
		return false;
	if (endless_is_ours(&now))
		return true;
	memset(&own.sa_mask, 0xff, sizeof(own.sa_mask));
	return now.sa_handler == SIG_DFL && REAL(sigaction)(SIGTRAP, &own, NULL) == 0;
}

void endless_interrupt(const struct thread *t)
{
	if (may_trap(t->life.tid))
		syscall(SYS_tgkill, rt.header->pid, t->life.tid, SIGTRAP);
}

void endless_ask(const struct thread *h, uint64_t events, uint64_t ticks)
{
	static uint64_t turns = UINT64_MAX, last, enough;
	if (turns != sched.turns || last != events)
		enough = FIRST;
	turns = sched.turns;
	last = events;
	if (ticks < enough)
		return;
	enough = 2 * ticks;
	endless_interrupt(h);
}
