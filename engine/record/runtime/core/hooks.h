/*
 * hooks.h - the slow ways of the compiler's hooks (hooks.c), which those of --sample
 * (sampled.c) have in common with the others, and the stack of calls.
 */
#ifndef HEDDLE_RUNTIME_HOOKS_H
#define HEDDLE_RUNTIME_HOOKS_H

#include "engine/record/runtime/log/access.h"

/* An access of free mode, or with a filter, which is recorded unless it is a repetition.
 * `what`: tag | flags << 8 | size code << 16. */
void hook_access(struct thread *t, const void *p, unsigned what, uintptr_t pc);
/* An access that is not written; the scheduler counts it. */
void hook_unwritten(struct thread *t, const void *p, unsigned what, uintptr_t pc);

/* ---- copies.c ---- */
/* A write of which the program makes nothing yet: it is recorded with the read that follows.
 * False: an access as any. */
bool copy_begins(struct thread *t, const void *to, size_t size, unsigned flags, uintptr_t pc);
/* TODO_COPY: is the thread's next access the read of its copy? Then copy_ends is to follow when
 * it is recorded; if not, the write is recorded here. */
bool copy_reads(struct thread *t, enum log_tag tag, size_t size, uintptr_t pc,
                struct thread_copy *c);
void copy_ends(struct thread *t, const struct thread_copy *c, const void *from);

/*
 * The compiler's hooks of accesses, all but vptr_read: HOOK(name, size code, tag, flags),
 * PC(name, size code, tag), which is given its place, BOTH(name, size code), a read and then a
 * write, and LOOK(name, size code, tag, flags), by which loops may wait.
 */
#define ACCESS_HOOKS_OF(HOOK, PC, BOTH, LOOK, bytes, code) \
	HOOK(read##bytes, code, LOG_READ, 0) \
	HOOK(write##bytes, code, LOG_WRITE, 0) \
	PC(read##bytes, code, LOG_READ) \
	PC(write##bytes, code, LOG_WRITE) \
	HOOK(unaligned_read##bytes, code, LOG_READ, 0) \
	HOOK(unaligned_write##bytes, code, LOG_WRITE, 0) \
	LOOK(volatile_read##bytes, code, LOG_READ, LOG_VOLATILE) \
	HOOK(volatile_write##bytes, code, LOG_WRITE, LOG_VOLATILE) \
	LOOK(unaligned_volatile_read##bytes, code, LOG_READ, LOG_VOLATILE) \
	HOOK(unaligned_volatile_write##bytes, code, LOG_WRITE, LOG_VOLATILE) \
	BOTH(read_write##bytes, code) \
	BOTH(unaligned_read_write##bytes, code)
#define ACCESS_HOOKS(HOOK, PC, BOTH, LOOK) \
	ACCESS_HOOKS_OF(HOOK, PC, BOTH, LOOK, 1, 0) \
	ACCESS_HOOKS_OF(HOOK, PC, BOTH, LOOK, 2, 1) \
	ACCESS_HOOKS_OF(HOOK, PC, BOTH, LOOK, 4, 2) \
	ACCESS_HOOKS_OF(HOOK, PC, BOTH, LOOK, 8, 3) \
	ACCESS_HOOKS_OF(HOOK, PC, BOTH, LOOK, 16, 4)

/* Entry of a call by a thread with a value still to be written, or whose calls are watched. */
void hook_entry(struct thread *t, uintptr_t call, uintptr_t function, uintptr_t sp);

/* `contexts`: equal accesses in different calling contexts are different. */
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
	f->context <<= 32; /* with a shadow: log/log.h */
	if (contexts && t->epoch && !rt.filter) {
		f->context = context_of(f[-1].context, call, function);
		t->context = context_now(t, f->context);
	}
}

#endif
