/*
 * hooks.c - the compilers' thread instrumentation: plain accesses, function entry and
 * exit, and what else libtsan exports and programs may call.
 *
 * The hot path of the whole recorder.  A hook is called before its access, so a read's
 * value is peeked at here and a write's is filled in at the thread's next hook.
 */
#include "access.h"

/* Replay: a read that the plan may have again at once, or has. */
static bool read_again(struct thread *t, const void *p, unsigned code, uintptr_t pc)
{
	if (t->poll.repeats && poll_again(t, p, peek((uintptr_t)p, code), pc))
		return true;
	poll_remember(t, p, peek((uintptr_t)p, code), pc);
	return false;
}

/* What of an access is not only to write one word: closed gates, scheduling, the first access
 * of a site.  `what`: tag | flags << 8 | size code << 16. */
static __attribute__((noinline)) void access_rest(const void *p, unsigned what, uintptr_t pc)
{
	struct thread *t = me;
	if (unlikely(t->gate) && !hook_slow(t))
		return;
	enum log_tag tag = what & 255;
	unsigned code = what >> 16;
	if (unlikely(rt.replay) && tag == LOG_READ && code < 4 && read_again(t, p, code, pc))
		return;
	if (unlikely(--t->budget < 0))
		sched_access(t);
	log_access(t, tag, what >> 8 & 255, pc, p, code, false, 0);
	t->unusual = rt.waiting || rt.replay || (rt.controlled && !rt.values);
}

ALWAYS_INLINE void free_hook(struct thread *t, const void *p, unsigned code, enum log_tag tag,
                             unsigned flags, uintptr_t pc)
{
	if (unlikely(t->attention || !log_free_here(t, tag, flags, pc, (uintptr_t)p, code)))
		access_rest(p, tag | flags << 8 | code << 16, pc);
}

ALWAYS_INLINE void controlled_hook(struct thread *t, const void *p, unsigned code,
                                   enum log_tag tag, unsigned flags, uintptr_t pc)
{
	if (unlikely(t->attention || t->budget <= 0 ||
	             !log_access_here(t, tag, flags, pc, (uintptr_t)p, code)))
		access_rest(p, tag | flags << 8 | code << 16, pc);
	else
		t->budget--;
}

ALWAYS_INLINE void access_hook(const void *p, unsigned code, enum log_tag tag, unsigned flags,
                               uintptr_t pc)
{
	struct thread *t = me;
	if (t->epoch)
		free_hook(t, p, code, tag, flags, pc);
	else
		controlled_hook(t, p, code, tag, flags, pc);
}

static __attribute__((noinline)) void range_hook(const void *p, size_t size, enum log_tag tag,
                                                 uintptr_t pc)
{
	struct thread *t = me;
	if (unlikely(t->gate) && !hook_slow(t))
		return;
	if (unlikely(--t->budget < 0))
		sched_access(t);
	switch (size) {
	case 1:
	case 2:
	case 4:
	case 8:
		log_access(t, tag, 0, pc, p, __builtin_ctzl(size), false, 0);
		return;
	default:
		log_range(t, tag, pc, p, size);
	}
}

/* The two modes apart, so that neither saves registers for the other. */
#define ACCESS(name, code, tag, flags) \
	static __attribute__((noinline)) void free_##name(struct thread *t, void *p, \
	                                                  uintptr_t pc) \
	{ \
		free_hook(t, p, code, tag, flags, pc); \
	} \
	static __attribute__((noinline)) void controlled_##name(struct thread *t, void *p, \
	                                                        uintptr_t pc) \
	{ \
		controlled_hook(t, p, code, tag, flags, pc); \
	} \
	EXPORT void __tsan_##name(void *p); \
	void __tsan_##name(void *p) \
	{ \
		struct thread *t = me; \
		if (t->epoch) \
			free_##name(t, p, HOOK_CALLER()); \
		else \
			controlled_##name(t, p, HOOK_CALLER()); \
	}
#define ACCESS_PC(name, code, tag) \
	EXPORT void __tsan_##name##_pc(void *p, void *pc); \
	void __tsan_##name##_pc(void *p, void *pc) \
	{ \
		access_hook(p, code, tag, 0, (uintptr_t)pc); \
	}
#define BOTH(name, code) \
	EXPORT void __tsan_##name(void *p); \
	void __tsan_##name(void *p) \
	{ \
		access_hook(p, code, LOG_READ, 0, HOOK_CALLER()); \
		access_hook(p, code, LOG_WRITE, 0, HOOK_CALLER()); \
	}
#define SIZES(bytes, code) \
	ACCESS(read##bytes, code, LOG_READ, 0) \
	ACCESS(write##bytes, code, LOG_WRITE, 0) \
	ACCESS_PC(read##bytes, code, LOG_READ) \
	ACCESS_PC(write##bytes, code, LOG_WRITE) \
	ACCESS(unaligned_read##bytes, code, LOG_READ, 0) \
	ACCESS(unaligned_write##bytes, code, LOG_WRITE, 0) \
	ACCESS(volatile_read##bytes, code, LOG_READ, LOG_VOLATILE) \
	ACCESS(volatile_write##bytes, code, LOG_WRITE, LOG_VOLATILE) \
	ACCESS(unaligned_volatile_read##bytes, code, LOG_READ, LOG_VOLATILE) \
	ACCESS(unaligned_volatile_write##bytes, code, LOG_WRITE, LOG_VOLATILE) \
	BOTH(read_write##bytes, code) \
	BOTH(unaligned_read_write##bytes, code)

SIZES(1, 0)
SIZES(2, 1)
SIZES(4, 2)
SIZES(8, 3)
SIZES(16, 4)

#define RANGE(name, tag) \
	EXPORT void __tsan_##name(void *p, size_t size); \
	void __tsan_##name(void *p, size_t size) \
	{ \
		range_hook(p, size, tag, HOOK_CALLER()); \
	} \
	EXPORT void __tsan_##name##_pc(void *p, size_t size, void *pc); \
	void __tsan_##name##_pc(void *p, size_t size, void *pc) \
	{ \
		range_hook(p, size, tag, (uintptr_t)pc); \
	}
RANGE(read_range, LOG_READ)
RANGE(write_range, LOG_WRITE)

EXPORT void __tsan_vptr_update(void **vptr, void *new_value);
void __tsan_vptr_update(void **vptr, void *new_value)
{
	if (*vptr != new_value) /* constructors store the same again; that is no news */
		access_hook(vptr, 3, LOG_WRITE, 0, HOOK_CALLER());
}
EXPORT void __tsan_vptr_read(void **vptr);
void __tsan_vptr_read(void **vptr)
{
	access_hook(vptr, 3, LOG_READ, 0, HOOK_CALLER());
}

EXPORT void __tsan_func_entry(void *call_pc);
void __tsan_func_entry(void *call_pc)
{
	struct thread *t = me;
	if (unlikely(t == &nobody))
		return;
	if (t->pending)
		log_fill(t);
	if (unlikely(rt.waiting) && HOOK_CALLER() - rt.start_low < rt.start_high - rt.start_low)
		rt.waiting = false;
	uintptr_t sp = (uintptr_t)__builtin_frame_address(0);
	uint32_t depth = t->depth;
	/* Frames that a longjmp left behind: a caller's frame lies above ours. */
	while (unlikely(depth > 0 && depth <= MAX_FRAMES && t->frames[depth - 1].sp <= sp &&
	                sp - t->frames[depth - 1].sp < 1 << 20))
		depth--;
	if (depth < t->low)
		t->low = depth;
	if (likely(depth < MAX_FRAMES)) {
		struct frame *f = &t->frames[depth];
		f->call = (uintptr_t)call_pc;
		if (unlikely(f->call - rt.bind_low < rt.bind_size))
			f->call = t->bound_pc;
		f->function = HOOK_CALLER();
		f->sp = sp;
	}
	t->depth = depth + 1;
	t->dirty = 1;
}

EXPORT void __tsan_func_exit(void *unused);
void __tsan_func_exit(void *unused)
{
	struct thread *t = me;
	if (unlikely(t == &nobody))
		return;
	if (t->pending)
		log_fill(t);
	if (likely(t->depth > 0))
		t->depth--;
	if (t->depth < t->low) {
		t->low = t->depth;
		if (unlikely(t->depth < t->resume_below))
			missing_left(t);
	}
	t->dirty = 1;
}

EXPORT void __tsan_ignore_thread_begin(void);
void __tsan_ignore_thread_begin(void)
{
	if (me != &nobody)
		me->gate |= GATE_IGNORE;
}
EXPORT void __tsan_ignore_thread_end(void);
void __tsan_ignore_thread_end(void)
{
	if (me != &nobody)
		me->gate &= ~GATE_IGNORE;
}

EXPORT void __tsan_init(void);
void __tsan_init(void) /* may come before the C library is up: the constructor does it all */
{
}
