/*
 * one_thread.h - runs of a copy of the settled process (serve.c) whose threads are contexts of
 * its one kernel thread (sched/contexts.h).
 *
 * Right only as long as the kernel has no part in it: every system call traps (one_thread.c).
 * Those that do the same for any thread are made; at one that could block, or that is about a
 * kernel thread or a signal, the run is refused: it ends, the parent is told (LOG_REFUSED), and
 * makes it again with kernel threads.
 *
 * Where the run has changed nothing in the kernel by its end, its memory is put back to the
 * state at its beginning (rewind.c), and the copy is the next run, too: no fork, no exit, no
 * page faults.
 */
#ifndef HEDDLE_RUNTIME_ONE_THREAD_H
#define HEDDLE_RUNTIME_ONE_THREAD_H

#include "base.h"

/* In the settled process, before its first copy: false, and nothing has changed but for memory,
 * where this is not possible. */
bool one_thread_prepare(int control);
/* In a copy, before its run.  Returns again for each further run of it. */
void one_thread_begin(void);
/* The run ends here: it needs kernel threads. */
_Noreturn void one_thread_refuse(void);
/* The run ends by this signal.  The process need not. */
_Noreturn void one_thread_die(int number);
/* Do system calls trap?  Returns whether they did.  Those that change nothing by their end, or
 * that come before the process's own, need not. */
bool one_thread_trap(bool trap);

/* ---- rewind.c ---- */
struct rewind_stack {
	void *low;
	size_t bytes;
};
/* Reserves what is kept from one run to the next, with a stack for signal handlers. */
bool rewind_prepare(struct rewind_stack *stack);
/* From here on the first write to each page keeps a copy of it. */
bool rewind_begin(void);
/* A write to such a page has trapped: true, and it may be repeated. */
bool rewind_write(uintptr_t address);
/* Memory that the kernel is to write to, in a system call. */
void rewind_touch(void *memory, size_t bytes);
/* All pages that were written to are as they were at rewind_begin. */
void rewind_back(void);
/* No more: all memory may be written to, and is not put back. */
void rewind_stop(void);
bool rewind_goes_on(void);

#endif
