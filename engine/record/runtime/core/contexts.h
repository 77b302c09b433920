/*
 * contexts.h - the threads of a run as contexts of one kernel thread.
 *
 * A copy of a settled process (core/serve.c) with rt.one_thread creates no kernel threads.  The
 * settled process has some threads in waiting, each with its stack and its thread-local memory,
 * stopped at a saved context; in a copy, where their kernel threads do not exist, a thread of
 * the program takes the next of them, and the token goes from one to another by a switch of
 * registers, stack and FS base.
 */
#ifndef HEDDLE_RUNTIME_CONTEXTS_H
#define HEDDLE_RUNTIME_CONTEXTS_H

#include "engine/record/runtime/core/base.h"

struct context {
	uint64_t rbx, rbp, r12, r13, r14, r15, rsp, rip, fs;
	uint32_t mxcsr;
	uint16_t x87;
};

/* Returns 0, and 1 each time that the context is resumed; the caller must not have returned. */
int context_save(struct context *c) __attribute__((returns_twice));
_Noreturn void context_resume(const struct context *c);

/* In the settled process: creates the waiting threads. False: not possible here. */
bool contexts_prepare(void);
/* In a copy: `child` takes the next waiting thread, as pthread_create's new thread. */
int contexts_create(struct thread *child, const pthread_attr_t *attributes);
/* Suspends the calling context until its thread has the token. */
void contexts_wait(struct thread *t);
/* The calling thread has reached its last system call: continues the token's holder. */
_Noreturn void contexts_end(void);
/* Is it the whole stack of a waiting thread? */
bool contexts_stack(uintptr_t address, size_t bytes);
/* The list of robust mutexes that the calling thread holds, as the kernel would have it. */
const void *contexts_robust_list(void);

#endif
