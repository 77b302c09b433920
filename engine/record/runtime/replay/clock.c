/*
 * clock.c - the clock of a replay under a debugger that goes back: struct log_debug (layout.h).
 * A trap is an int1, which the debugger's server (engine/debug) understands and continues:
 * after an int3 gdbserver would set the program counter back, for it takes that for a
 * breakpoint.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "engine/record/runtime/core/rt.h"

static volatile struct log_debug *debug;

static void trap(enum log_trap why)
{
	debug->trap = why;
	__asm__ volatile(".byte 0xf1" ::: "memory");
	debug->trap = TRAP_NONE;
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
