/*
 * hooks.h - the slow ways of the compiler's hooks (hooks.c), which those of --sample
 * (sampled.c) have in common with the others, and the stack of calls.
 */
#ifndef HEDDLE_RUNTIME_HOOKS_H
#define HEDDLE_RUNTIME_HOOKS_H

#include "engine/record/runtime/log/access.h"

/* An access of free mode, or with a filter, that is to be recorded if it is no repetition.
 * `what`: tag | flags << 8 | size code << 16. */
void hook_access(struct thread *t, const void *p, unsigned what, uintptr_t pc);
/* An access that is not written; the scheduler counts it. */
void hook_unwritten(struct thread *t, const void *p, unsigned what, uintptr_t pc);

/* A call by a thread with something to see to. */
void hook_entry(struct thread *t, uintptr_t call, uintptr_t function, uintptr_t sp);

/* `contexts`: accesses are told apart by their calling contexts. */
ALWAYS_INLINE void push_frame(struct thread *t, uintptr_t call, uintptr_t function,
                              uintptr_t sp, bool contexts)
{
	uint32_t depth = t->depth;
	/* Frames left by a longjmp: the caller's frame is above ours. */
	while (unlikely(depth > 0 && depth <= MAX_FRAMES && t->frames[depth - 1].sp <= sp &&
	                sp - t->frames[depth - 1].sp < 1 << 20)) {
		depth--;
		t->low = depth < t->low ? depth : t->low;
	}
	t->depth = depth + 1;
	t->todo |= TODO_FRAMES;
	if (unlikely(depth >= MAX_FRAMES))
		return;
	struct frame *f = &t->frames[depth];
	f->call = call;
	f->function = function;
	f->sp = sp;
	if (contexts && t->epoch && !rt.filter) {
		f->context = context_of(f[-1].context, call, function);
		t->context = context_now(t, f->context);
	}
}

#endif
