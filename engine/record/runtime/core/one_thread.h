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

/* In the settled process, before its first copy. False: not possible here. */
bool one_thread_prepare(int control);
/* In a copy, before its run. Returns again for each further run, as the stack is put back,
 * too. */
void one_thread_begin(void);
/* The run ends here: it needs kernel threads. */
_Noreturn void one_thread_refuse(void);
/* Ends the run, but not necessarily the process, by this signal. */
_Noreturn void one_thread_die(int number);
/* Lets system calls trap, or not; returns whether they did. Calls of the runtime that leave
 * no change need not trap, nor do those of a process that is about to end by a signal. */
bool one_thread_trap(bool trap);

/* ---- rewind.c ---- */
struct rewind_stack {
	void *low;
	size_t bytes;
};
/* Reserves the memory that is not put back: for copies of pages, and a stack for signal
 * handlers. */
bool rewind_prepare(struct rewind_stack *stack);
/* From here on the first write to each page keeps a copy of it. */
bool rewind_begin(void);
/* Handles a trapped write to a page. True: the page is one of these, and the write may be
 * made. */
bool rewind_write(uintptr_t address);
/* Prepares memory for a write by the kernel, which would fail instead of trapping. */
void rewind_touch(void *memory, size_t bytes);
/* Restores all pages that were written since rewind_begin. */
void rewind_back(void);
/* Ends this: memory is no longer put back, and writes do not trap. */
void rewind_stop(void);
bool rewind_goes_on(void);

#endif
