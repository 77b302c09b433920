/*
 * clock.c - the clock of a replay under a debugger that goes back: struct log_debug (layout.h).
 * A trap is a SIGTRAP that the thread sends itself, which the debugger's server (engine/debug)
 * understands and continues. No instruction does: after an int3 gdbserver sets the program
 * counter back, as after a breakpoint of its own, and some virtual machines leave it at an
 * int1, which then traps for ever.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "engine/record/runtime/core/rt.h"

static volatile struct log_debug *debug;

static void trap(enum log_trap why)
{
	uint64_t traps = 1ull << (SIGTRAP - 1), mask = 0;
	long process = raw_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
	long thread = raw_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0);

	/* a program may have blocked it */
	raw_syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&traps, (long)&mask, sizeof(mask), 0,
	            0);
	debug->trap = why;
	raw_syscall(SYS_tgkill, process, thread, SIGTRAP, 0, 0, 0);
	debug->trap = TRAP_NONE;
	raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, sizeof(mask), 0, 0);
}

void clock_init(void)
{
	if (rt.config.hold != LOG_HOLD_CLOCK)
		return;
	debug = (void *)((char *)rt.header + LOG_DEBUG);
	rt.clocked = true;
	/* the process that follows may die first, and may not be an ancestor */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
}

void clock_tick(struct thread *t, uintptr_t pc)
{
	debug->thread = t->id;
	debug->pc = pc;
	if (++debug->clock == debug->stop_at)
		trap(TRAP_CLOCK);
}

void clock_thread(const struct thread *t)
{
	if (rt.clocked && t->id < LOG_DEBUG_THREADS)
		debug->tid[t->id] = t->life.tid;
}

void clock_pair(void)
{
	if (!rt.clocked)
		return;
	debug->pair = debug->clock;
	if (debug->first)
		rt.config.first = debug->first;
	if (debug->stop_pair)
		trap(TRAP_PAIR);
}

void clock_end(void)
{
	if (rt.clocked && !rt_other_process())
		trap(TRAP_END);
}

void clock_hold(const void *program_main)
{
	if (!rt.clocked)
		return;
	debug->main = (uintptr_t)program_main;
	debug->ready = 1;
	while (!__atomic_load_n(&debug->go, __ATOMIC_ACQUIRE)) {
		struct timespec pause = { 0, 500000 };
		syscall(SYS_nanosleep, &pause, NULL);
	}
}
