/*
 * hooks.c - the compilers' thread instrumentation: plain accesses, function entry and exit,
 * and the other functions of libtsan that programs may call.
 *
 * The hot path of the whole recorder.  A hook is called before its access, so a read's
 * value is peeked at here and a write's is filled in at the thread's next hook.
 */
#include "engine/record/runtime/core/entry.h"
#include "hooks.h"

/* Replay: a read that the plan may repeat at once, or has. */
static bool read_again(struct thread *t, const void *p, unsigned code, uintptr_t pc)
{
	if (t->poll.repeats && poll_again(t, p, peek((uintptr_t)p, code), pc))
		return true;
	poll_remember(t, p, peek((uintptr_t)p, code), pc);
	return false;
}

/* The slow part of an access: closed gates, scheduling, the first access of a site. `what`: tag
 * | flags << 8 | size code << 16. */
static __attribute__((noinline, cold)) void access_rest(const void *p, unsigned what,
                                                        uintptr_t pc)
{
	struct thread *t = me;
	if (unlikely(t->gate) && !hook_slow_access(t))
		return;
	enum log_tag tag = what & 255;
	unsigned code = what >> 16;
	struct thread_copy copy;
	bool copies = unlikely(t->todo & TODO_COPY) &&
	              copy_reads(t, tag, (size_t)1 << code, pc, &copy);
	if (unlikely(rt.async_handlers))
		handlers_run(t);
	if (tag == LOG_WRITE && copy_begins(t, p, (size_t)1 << code, what >> 8 & 255, pc))
		return;
	if (unlikely(rt.replay) && tag == LOG_READ && code < 4 && !copies &&
	    read_again(t, p, code, pc))
		return;
	bool looks = memory_states && !rt.memory && tag == LOG_READ && what >> 8 & LOG_VOLATILE;
	bool due = looks || t->budget <= 0;
	t->budget = due ? -1 : t->budget - 1;
	if (unlikely(due)) {
		sched_about(&t->sched, p, 1u << code, tag == LOG_WRITE);
		sched_access(t);
	}
	if (unlikely(rt.memory))
		memory_before(t, tag, p, (size_t)1 << code);
	if (unlikely(looks))
		memory_state(t, p, 0, 0, 0);
	log_access(t, tag, what >> 8 & 255, pc, p, code, false, 0);
	if (unlikely(copies))
		copy_ends(t, &copy, p);
	t->unusual = t->signals.arrived || rt.waiting || rt.replay || rt.clocked || rt.memory ||
	             (rt.controlled && !rt.values) ||
	             (t->unwritten && rt.sample); /* the log may be at another thread */
	BARRIER();
	if (unlikely(t->signals.arrived)) /* a signal came between looking and storing */
		t->unusual = 1;
}

/* An access that only the call stack delays: the first one after a call or return, which
 * writes the pending frames. */
static __attribute__((noinline)) void access_framed(struct thread *t, const void *p,
                                                    unsigned what, uintptr_t pc)
{
	enum log_tag tag = what & 255;
	unsigned flags = what >> 8 & 255, code = what >> 16;
	bool written = false;
	if ((t->todo & (TODO_FRAMES | TODO_COPY)) != TODO_FRAMES) {
		access_rest(p, what, pc);
		return;
	}
	/* The site is not in the cache, and the work until it is used takes as long as
	 * fetching it. A thread that records nothing has no table of sites: only an address
	 * is computed. */
	__builtin_prefetch(
	        (const char *)((uintptr_t)t->stream->sites +
	                       log_pc_slot(pc, flags) * sizeof(t->stream->sites->at[0])),
	        1);
	if (t->attention == 0 && t->budget > 0) {
		log_value(t);
		log_frames(t);
		if (!t->epoch) {
			written = log_access_here(t, tag, flags, pc, (uintptr_t)p, code);
		} else {
			written = log_free_here(t, tag, flags, pc, (uintptr_t)p, code);
			t->budget -= written;
		}
	}
	if (!written)
		access_rest(p, what, pc);
}

void hook_unwritten(struct thread *t, const void *p, unsigned what, uintptr_t pc)
{
	if (unlikely(t->attention || t->budget <= 0)) {
		access_rest(p, what, pc);
	} else {
		log_unwritten(t, what & 255, pc, (uintptr_t)p, what >> 16);
		t->budget--;
	}
}

/* An access that is compared in the shadow. */
static void hook_shadow(struct thread *t, const void *p, unsigned what, uintptr_t pc)
{
	if (unlikely(t->attention || t->budget <= 0 || rt.waiting)) {
		access_rest(p, what, pc);
	} else {
		t->budget--;
		if (!shadow_access(t, what & 0xffff, pc, (uintptr_t)p,
		                   (size_t)1 << (what >> 16)))
			log_uncompared(t, what & 255, what >> 8 & 255, pc, p, what >> 16, false,
			               0);
	}
}

/* Free mode, and --filter: writes the access unless the instruction repeats it. */
ALWAYS_INLINE void free_new(struct thread *t, const void *p, unsigned code, enum log_tag tag,
                            unsigned flags, uintptr_t pc)
{
	if (unlikely(rt.filter_commute))
		hook_unwritten(t, p, tag | flags << 8 | code << 16, pc);
	else if (rt.shadow)
		hook_shadow(t, p, tag | flags << 8 | code << 16, pc);
	else if (t->todo & TODO_FRAMES)
		access_framed(t, p, tag | flags << 8 | code << 16, pc);
	else if (unlikely(t->attention || t->budget <= 0 ||
	                  !log_free_here(t, tag, flags, pc, (uintptr_t)p, code)))
		access_rest(p, tag | flags << 8 | code << 16, pc);
	else
		t->budget--;
}

/* Is the access a repetition? `todo`: the thread's attention. */
ALWAYS_INLINE bool free_again(struct thread *t, uint64_t todo, const void *p, unsigned code,
                              enum log_tag tag, uintptr_t pc)
{
	uint64_t key = seen_key(t, tag, pc, (uintptr_t)p, code);
	if (*seen_entry(t, key) != key ||
	    unlikely((todo & ~(uint64_t)TODO_FRAMES) != TODO_EPOCHS || t->budget <= 0))
		return false;
	t->budget--;
	t->repeated++;
	return true;
}

/* --filter variables: has the thread accessed these bytes? */
ALWAYS_INLINE bool covered_again(struct thread *t, uint64_t todo, const void *p, unsigned code,
                                 enum log_tag tag)
{
	const uint64_t always = TODO_EPOCHS | TODO_COVERED;
	if (!covers(t, tag, (uintptr_t)p, code) ||
	    unlikely((todo & ~(uint64_t)TODO_FRAMES) != always || t->budget <= 0))
		return false;
	t->budget--;
	t->repeated++;
	t->looked_or |= tag == LOG_WRITE ? UINT64_MAX : (uintptr_t)p;
	if (tag == LOG_READ)
		t->looked_and &= (uintptr_t)p;
	return true;
}

ALWAYS_INLINE bool again(struct thread *t, uint64_t todo, const void *p, unsigned code,
                         enum log_tag tag, uintptr_t pc)
{
	return todo & TODO_COVERED ? covered_again(t, todo, p, code, tag)
	                           : free_again(t, todo, p, code, tag, pc);
}

ALWAYS_INLINE void access_hook(const void *p, unsigned code, enum log_tag tag, unsigned flags,
                               uintptr_t pc)
{
	struct thread *t = me;
	uint64_t todo = t->attention | t->todo;
	if (todo & TODO_EPOCHS) {
		if (!again(t, todo, p, code, tag, pc))
			free_new(t, p, code, tag, flags, pc);
	} else if (!log_ready(t, todo)) {
		access_framed(t, p, tag | flags << 8 | code << 16, pc);
	} else if (unlikely(!log_access_here(t, tag, flags, pc, (uintptr_t)p, code))) {
		access_rest(p, tag | flags << 8 | code << 16, pc);
	}
}

void hook_access(struct thread *t, const void *p, unsigned what, uintptr_t pc)
{
	enum log_tag tag = what & 255;
	unsigned flags = what >> 8 & 255, code = what >> 16;
	if (!again(t, t->attention | t->todo, p, code, tag, pc))
		free_new(t, p, code, tag, flags, pc);
}

static __attribute__((noinline)) void range_hook(const void *p, size_t size, enum log_tag tag,
                                                 uintptr_t pc)
{
	struct thread *t = me;
	if (unlikely(t->gate) && !hook_slow_access(t))
		return;
	if (unlikely(rt.sample) && !sample_takes(t) && !rt.controlled)
		return;
	if (t->covered_epoch && !(t->todo & TODO_COPY) && t->budget > 0 && !t->gate &&
	    !t->signals.arrived && covers_range(t, tag, (uintptr_t)p, size)) {
		t->budget--;
		t->repeated++;
		t->looked_or = UINT64_MAX;
		return;
	}
	struct thread_copy copy;
	bool copies = unlikely(t->todo & TODO_COPY) && copy_reads(t, tag, size, pc, &copy);
	if (unlikely(rt.async_handlers))
		handlers_run(t);
	if (tag == LOG_WRITE && size > 0 && copy_begins(t, p, size, log_range_flags(tag), pc))
		return;
	if (unlikely(--t->budget < 0)) {
		sched_about(&t->sched, p, (uint32_t)size, tag == LOG_WRITE);
		sched_access(t);
	}
	if (unlikely(rt.memory))
		memory_before(t, tag, p, size);
	switch (size) {
	case 1:
	case 2:
	case 4:
	case 8:
		log_access(t, tag, log_range_flags(tag), pc, p, __builtin_ctzl(size), false, 0);
		break;
	default:
		log_range(t, tag, pc, p, size);
	}
	if (unlikely(copies))
		copy_ends(t, &copy, p);
}

/* As access_hook; code that needs saved registers is a call at the end, so the rest needs none.
 */
#define ACCESS(name, code, tag, flags) \
	static __attribute__((noinline)) void new_##name(struct thread *t, void *p, \
	                                                 uintptr_t pc) \
	{ \
		free_new(t, p, code, tag, flags, pc); \
	} \
	EXPORT void __tsan_##name(void *p); \
	void __tsan_##name(void *p) \
	{ \
		struct thread *t = me; \
		uint64_t todo = t->attention | t->todo; \
		if (unlikely(todo != 0)) { \
			if (todo & TODO_COVERED) { \
				if (!covered_again(t, todo, p, code, tag)) \
					new_##name(t, p, HOOK_CALLER()); \
				return; \
			} \
			if (todo & TODO_EPOCHS) { \
				if (!free_again(t, todo, p, code, tag, HOOK_CALLER())) \
					new_##name(t, p, HOOK_CALLER()); \
				return; \
			} \
			if (!log_ready(t, todo)) { \
				access_framed(t, p, tag | flags << 8 | code << 16, \
				              HOOK_CALLER()); \
				return; \
			} \
		} \
		if (unlikely(!log_access_here(t, tag, flags, HOOK_CALLER(), (uintptr_t)p, \
		                              code))) \
			access_rest(p, tag | flags << 8 | code << 16, HOOK_CALLER()); \
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
		access_hook(p, code, LOG_WRITE, LOG_SECOND, HOOK_CALLER()); \
	}
/* An exploration gets the thread's state before it, as before an atomic load. */
#define LOOK(name, code, tag, flags) \
	ENTRY(__tsan_##name) \
	void __tsan_##name(void *p) BEHIND(__tsan_##name); \
	void __tsan_##name(void *p) \
	{ \
		if (unlikely(memory_states)) \
			access_rest(p, tag | flags << 8 | code << 16, HOOK_CALLER()); \
		else \
			access_hook(p, code, tag, flags, HOOK_CALLER()); \
	}
ACCESS_HOOKS(ACCESS, ACCESS_PC, BOTH, LOOK)

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
	if (*vptr != new_value) /* constructors store the same value again, which is no write */
		access_hook(vptr, 3, LOG_WRITE, 0, HOOK_CALLER());
}
EXPORT void __tsan_vptr_read(void **vptr);
void __tsan_vptr_read(void **vptr)
{
	access_hook(vptr, 3, LOG_READ, 0, HOOK_CALLER());
}

/* Calls are watched for --start-at and bind lines; returns the call's address. */
static __attribute__((noinline)) uintptr_t watched_call(const struct thread *t, uintptr_t call,
                                                        uintptr_t function)
{
	if (rt.waiting && function - rt.start_low < rt.start_high - rt.start_low)
		rt.waiting = false;
	return call - rt.bind_low < rt.bind_size ? t->calls.bound_pc : call;
}

void hook_entry(struct thread *t, uintptr_t call, uintptr_t function, uintptr_t sp)
{
	if (t == &nobody)
		return;
	log_value(t);
	push_frame(t, watched_call(t, call, function), function, sp, true);
}

EXPORT void __tsan_func_entry(void *call_pc);
void __tsan_func_entry(void *call_pc)
{
	struct thread *t = me;
	uintptr_t call = (uintptr_t)call_pc;
	uintptr_t sp = (uintptr_t)__builtin_dwarf_cfa() - 2 * sizeof(uintptr_t);
	if (unlikely(t->todo & (TODO_VALUE | TODO_NOBODY) || rt.watched))
		hook_entry(t, call, HOOK_CALLER(), sp);
	else
		push_frame(t, call, HOOK_CALLER(), sp, true);
}

ALWAYS_INLINE void pop_frame(struct thread *t)
{
	uint32_t depth = t->depth;
	if (likely(depth > 0))
		t->depth = --depth;
	bool left = false;
	if (depth < t->low) {
		t->low = depth;
		left = depth < t->resume_below;
	}
	bool differs = t->low < t->emitted || depth != t->emitted;
	t->todo = (t->todo & ~TODO_FRAMES) | differs * TODO_FRAMES;
	if (t->epoch)
		context_renew(t);
	if (unlikely(left)) /* at the end, so that no register is saved */
		missing_left(t);
}

static __attribute__((noinline)) void exit_rest(struct thread *t)
{
	if (t == &nobody)
		return;
	log_fill(t);
	pop_frame(t);
}

EXPORT void __tsan_func_exit(void *unused);
void __tsan_func_exit(void *unused)
{
	struct thread *t = me;
	if (t->todo & (TODO_VALUE | TODO_NOBODY))
		exit_rest(t);
	else
		pop_frame(t);
}

EXPORT void __tsan_ignore_thread_begin(void);
void __tsan_ignore_thread_begin(void)
{
	if (me == &nobody)
		return;
	me->ignoring++;
	me->gate |= GATE_IGNORE;
}
EXPORT void __tsan_ignore_thread_end(void);
void __tsan_ignore_thread_end(void)
{
	if (me == &nobody)
		return;
	me->ignoring -= me->ignoring > 0;
	if (me->ignoring == 0)
		me->gate &= ~GATE_IGNORE;
}

EXPORT void __tsan_init(void);
void __tsan_init(void) /* maybe before the C library is initialised; see init.c */
{
}
