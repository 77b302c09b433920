/*
 * exits.c - the program's ends: its last scheduling point, the functions that end a process,
 * and the assertion that failed.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engine/record/runtime/sched/sched_private.h"

INTERPOSED(_exit, exit, _Exit, quick_exit, abort);

/* The program is about to end, by this thread: in an exploration others may go first, and on
 * replay those whose steps the witness still has. Under a memory model all others go first,
 * since what each does next is learned from the runs; but an end that is a failure comes
 * before one that is none. */
static void end_point(bool fails)
{
	bool explored = rt.config.flags & LOG_EXPLORE;
	struct thread *t =
	        rt.on && rt.controlled && (explored || rt.replay) ? recording() : NULL;
	if (!t || !rt.header || rt.header->status != LOG_RUNNING)
		return;
	held_run_all(t);
	if (explored)
		log_fact(LOG_ENDS, 0, t->id, NULL, 0);
	sched_point(t);
	if (explored && unlikely(rt.memory) && !rt.replay)
		sched_outlast(t, fails);
	held_run_all(t);
}

/* The program is about to end well, which cuts off the threads that nothing waits for. */
static void let_others_go_on(void)
{
	struct thread *t = rt.on && rt.controlled && !rt.replay ? recording() : NULL;
	if (t && rt.header && rt.header->status == LOG_RUNNING)
		sched_linger(t);
}

/* ---- where the recorder is not the parent ---- */

static void note_status(int status)
{
	if (rt.header && rt.config.recorder && !rt_other_process())
		rt.header->ended = log_ended_by(status, 0);
}

void exits_note_signal(int number)
{
	if (rt.header && rt.config.recorder && !rt_other_process())
		rt.header->ended = log_ended_by(0, number);
}

/*
 * The program has ended well: its recorder, which has to read the rest of the log first, says
 * whether it ends with another status all the same. No other thread may run meanwhile: the
 * watchdog would take the token from this one.
 */
static int answered_status(void)
{
	enum { STEP_NS = 1000000, NEVER = 1 << 30 };
	struct log_header *h = rt.header;
	if (!h || !(rt.config.flags & LOG_AWAITS) || rt_other_process() ||
	    h->ended != log_ended_by(0, 0))
		return 0;
	rt.config.watchdog_ms = NEVER;
	__atomic_store_n(&h->awaits, 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&h->answer, __ATOMIC_ACQUIRE) &&
	       raw_syscall(SYS_kill, rt.config.recorder, 0, 0, 0, 0, 0) == 0) {
		const struct timespec step = { 0, STEP_NS };
		raw_syscall(SYS_nanosleep, (long)&step, 0, 0, 0, 0, 0);
	}
	uint32_t answer = __atomic_load_n(&h->answer, __ATOMIC_ACQUIRE);
	return answer ? (int)answer - 1 : 0;
}

static void end_as_answered(int own, void *unused)
{
	note_status(own);
	int status = answered_status();
	if (status == 0)
		return;
	fflush(NULL); /* as the end that this one takes the place of */
	for (;;)
		raw_syscall(SYS_exit_group, status, 0, 0, 0, 0, 0);
}

__attribute__((destructor(101))) static void end(void)
{
	child_ended(0);
	let_others_go_on();
	end_point(false);
	rt_finish(LOG_EXITED);
	if (rt.clocked) { /* the clock's reader is to see the output so far */
		fflush(NULL);
		clock_end();
	}
	if (rt.config.recorder) /* the C library calls it next, with the status */
		on_exit(end_as_answered, NULL);
}

/* Enters the frame of the call that ends the program. With a status that says that something
 * went wrong, it is in the recording even if no event follows: it is the place of that end. */
static void enter_end(enum log_call call, int status, uintptr_t pc)
{
	struct thread *t = recording();
	if (t)
		frame_enter(t, call, pc, status != 0);
}

/* _exit and abort run no destructor. */
static _Noreturn void end_at_once(enum log_call call, int status, uintptr_t pc)
{
	struct thread *t = me;
	if (t != &nobody && rt.on)
		log_value(t);
	enter_end(call, status, pc);
	end_point(false);
	note_status(status);
	child_ended(status);
	rt_finish(LOG_EXITED);
	clock_end();
	if (status == 0)
		status = answered_status();
	for (;;)
		syscall(SYS_exit_group, status);
}
void interposed__exit(int status)
{
	end_at_once(LOG_CALL__exit, status, CALLER());
}
void interposed__Exit(int status)
{
	end_at_once(LOG_CALL__Exit, status, CALLER());
}
/* exit(3); the functions registered by atexit run inside of its frame. */
void interposed_exit(int status)
{
	enter_end(LOG_CALL_exit, status, CALLER());
	REAL(exit)(status);
	__builtin_unreachable();
}
/* quick_exit(3); the functions registered by at_quick_exit run inside of its frame, and the C
 * library then calls its own _exit, after the first that was registered: quick_end. */
static void quick_end(void)
{
	let_others_go_on();
	end_point(false);
	rt_finish(LOG_EXITED);
	clock_end();
	int status = answered_status();
	if (status != 0)
		for (;;)
			raw_syscall(SYS_exit_group, status, 0, 0, 0, 0, 0);
}
void exits_init(void)
{
	at_quick_exit(quick_end);
}
/* Programs that were linked with gcc's libtsan take it from there: the C library has it only as
 * a part of each program, for which that library's leaves no reason. */
EXPORT int atexit(void (*function)(void))
{
	extern int __cxa_atexit(void (*)(void *), void *, void *);
	return __cxa_atexit((void (*)(void *))function, NULL, NULL);
}
void interposed_quick_exit(int status)
{
	note_status(status);
	enter_end(LOG_CALL_quick_exit, status, CALLER());
	REAL(quick_exit)(status);
	__builtin_unreachable();
}
void interposed_abort(void)
{
	end_point(true);
	if (rt.one_thread)
		one_thread_trap(false);
	REAL(abort)();
	__builtin_unreachable();
}
/* The assertion in the log: a recording does not have the program's output. */
static void note_assertion(const char *assertion, const char *file, unsigned line)
{
	enum { PLACE = 200, WHOLE = 700 };
	char text[WHOLE], digits[10];
	size_t length = 0, count = 0, from = 0, end = 0;

	for (; file && file[end] != 0; end++)
		if (file[end] == '/')
			from = end + 1;
	for (; from < end && length < PLACE; from++)
		text[length++] = file[from];
	text[length++] = ':';
	do
		digits[count++] = (char)('0' + line % 10);
	while ((line /= 10) != 0);
	while (count > 0)
		text[length++] = digits[--count];
	text[length++] = ' ';
	for (; assertion && *assertion && length < WHOLE - 1; assertion++)
		text[length++] = *assertion;
	text[length] = 0;
	if (recording())
		log_note("assertion", text);
}
EXPORT void __assert_fail(const char *assertion, const char *file, unsigned line,
                          const char *function)
{
	end_point(true);
	note_assertion(assertion, file, line);
	if (rt.one_thread)
		one_thread_trap(false);
	REAL(__assert_fail)(assertion, file, line, function);
	__builtin_unreachable();
}
