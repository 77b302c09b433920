/*
 * one_thread.h - runs of a copy of the settled process (serve.c) whose threads are contexts of
 * its one kernel thread (core/contexts.h).
 *
 * Such a run is the same as one of kernel threads only where the kernel cannot tell its
 * threads apart. So every system call traps (one_thread.c). Calls with the same effect in all
 * threads are made; at a call that could block, or that concerns a kernel thread or a signal,
 * the run is refused: it ends, the log's header says so (LOG_REFUSED), and the parent makes
 * it again with kernel threads.
 *
 * At the run's end its memory is put back to the state at its beginning (rewind.c), its files
 * and mappings are closed, and the copy makes the next run: without a fork, an exit and page
 * faults.  Where that is not possible, the copy ends with the run.
 */
#ifndef HEDDLE_RUNTIME_ONE_THREAD_H
#define HEDDLE_RUNTIME_ONE_THREAD_H

#include "base.h"

/* In the settled process, before its first copy.  False: not possible in this process. */
bool one_thread_prepare(int control);
/* In a copy, before its run.  Returns again for each further run: the stack, too, is put back.
 */
void one_thread_begin(void);
/* The run ends here: it needs kernel threads. */
_Noreturn void one_thread_refuse(void);
/* The run ends by this signal.  The process need not. */
_Noreturn void one_thread_die(int number);
/* Lets system calls trap, or not; returns whether they did.  Calls of the runtime that leave
 * nothing changed need not trap, nor do those of a process that is about to end by a signal. */
bool one_thread_trap(bool trap);

/* ---- rewind.c ---- */
struct rewind_stack {
	void *low;
	size_t bytes;
};
/* Reserves the memory that is not put back: the copies of pages, a stack for signal handlers.
 */
bool rewind_prepare(struct rewind_stack *stack);
/* From here on the first write to each page keeps a copy of it. */
bool rewind_begin(void);
/* A write to a page has trapped.  True: the page was one of these, and the write may be made.
 */
bool rewind_write(uintptr_t address);
/* The kernel is about to write there, which would fail and not trap. */
void rewind_touch(void *memory, size_t bytes);
/* All pages that were written to are as they were at rewind_begin. */
void rewind_back(void);
/* Memory is not put back any more, and writes do not trap. */
void rewind_stop(void);
bool rewind_goes_on(void);

#endif
