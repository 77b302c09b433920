/*
 * hooks.c - the compilers' thread instrumentation: plain accesses, function entry and
 * exit, and what else libtsan exports and programs may call.
 *
 * The hot path of the whole recorder.  A hook is called before its access, so a read's
 * value is peeked at here and a write's is filled in at the thread's next hook.
 */
#include "access.h"

/* What of an access is not only to write one word: closed gates, scheduling, the first access
 * of a site.  `what`: tag | flags << 8 | size code << 16. */
static __attribute__((noinline)) void access_rest(const void *p, unsigned what, uintptr_t pc)
{
	struct thread *t = me;
	if (unlikely(t->gate) && !hook_slow(t))
		return;
	if (unlikely(--t->budget < 0))
		sched_access(t);
	log_access(t, what & 255, what >> 8 & 255, pc, p, what >> 16, false, 0);
	t->unusual = rt.waiting || rt.replay || !rt.values;
}

ALWAYS_INLINE void access_hook(const void *p, unsigned code, enum log_tag tag, unsigned flags,
                               uintptr_t pc)
{
	struct thread *t = me;
	if (unlikely(t->attention || t->budget <= 0 ||
	             !log_access_here(t, tag, flags, pc, (uintptr_t)p, code)))
		access_rest(p, tag | flags << 8 | code << 16, pc);
	else
		t->budget--;
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

#define ACCESS(name, code, tag, flags) \
	EXPORT void __tsan_##name(void *p); \
	void __tsan_##name(void *p) \
	{ \
		access_hook(p, code, tag, flags, CALLER()); \
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
		access_hook(p, code, LOG_READ, 0, CALLER()); \
		access_hook(p, code, LOG_WRITE, 0, CALLER()); \
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
		range_hook(p, size, tag, CALLER()); \
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
		access_hook(vptr, 3, LOG_WRITE, 0, CALLER());
}
EXPORT void __tsan_vptr_read(void **vptr);
void __tsan_vptr_read(void **vptr)
{
	access_hook(vptr, 3, LOG_READ, 0, CALLER());
}

EXPORT void __tsan_func_entry(void *call_pc);
void __tsan_func_entry(void *call_pc)
{
	struct thread *t = me;
	if (unlikely(t == &nobody))
		return;
	if (t->pending)
		log_fill(t);
	if (unlikely(rt.waiting) && CALLER() - rt.start_low < rt.start_high - rt.start_low)
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
		f->function = CALLER();
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
	if (t->depth < t->low)
		t->low = t->depth;
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

/* Annotations: synchronisation of the program's own making becomes messages, one for each
 * release; an acquire takes the latest. */
#define ANNOTATED 4096
static struct {
	uintptr_t address;
	uint64_t message;
} annotated[ANNOTATED];

static unsigned annotated_slot(uintptr_t p)
{
	unsigned i = (p >> 3) * 2654435761u % ANNOTATED;
	for (unsigned k = 0; k < ANNOTATED; k++, i = (i + 1) % ANNOTATED)
		if (annotated[i].address == p || annotated[i].address == 0)
			return i;
	return 0;
}

static void annotate_release(uintptr_t p, uintptr_t pc)
{
	struct thread *t = recording();
	if (!t)
		return;
	sched_point(t);
	unsigned i = annotated_slot(p);
	annotated[i].address = p;
	annotated[i].message = __atomic_add_fetch(&rt.messages, 1, __ATOMIC_RELAXED);
	log_event(t, LOG_SND, 0, pc, annotated[i].message, 0, 1);
}

static void annotate_acquire(uintptr_t p, uintptr_t pc)
{
	struct thread *t = recording();
	if (!t)
		return;
	sched_point(t);
	unsigned i = annotated_slot(p);
	if (annotated[i].address == p && annotated[i].message)
		log_event(t, LOG_RCV, 0, pc, annotated[i].message, 0, 1);
}

EXPORT void __tsan_acquire(void *p);
void __tsan_acquire(void *p)
{
	annotate_acquire((uintptr_t)p, CALLER());
}
EXPORT void __tsan_release(void *p);
void __tsan_release(void *p)
{
	annotate_release((uintptr_t)p, CALLER());
}
EXPORT void AnnotateHappensBefore(const char *file, int line, uintptr_t p);
void AnnotateHappensBefore(const char *file, int line, uintptr_t p)
{
	annotate_release(p, CALLER());
}
EXPORT void AnnotateHappensAfter(const char *file, int line, uintptr_t p);
void AnnotateHappensAfter(const char *file, int line, uintptr_t p)
{
	annotate_acquire(p, CALLER());
}
EXPORT void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsBegin(const char *file, int line)
{
	__tsan_ignore_thread_begin();
}
EXPORT void AnnotateIgnoreReadsEnd(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line)
{
	__tsan_ignore_thread_end();
}

/* A mutex of the program's own making; bits of flags as in tsan_interface.h. */
enum { OWN_TRY = 1 << 4, OWN_TRY_FAILED = 1 << 5, OWN_READ = 1 << 3 };
EXPORT void __tsan_mutex_create(void *p, unsigned flags);
void __tsan_mutex_create(void *p, unsigned flags)
{
}
EXPORT void __tsan_mutex_destroy(void *p, unsigned flags);
void __tsan_mutex_destroy(void *p, unsigned flags)
{
	struct thread *t = recording();
	if (t) {
		sched_point(t);
		log_sync(t, LOG_DESTROY, CALLER(), p);
	}
}
EXPORT void __tsan_mutex_pre_lock(void *p, unsigned flags);
void __tsan_mutex_pre_lock(void *p, unsigned flags)
{
	struct thread *t = recording();
	if (t) {
		sched_point(t);
		t->gate |= GATE_IGNORE; /* its inside is the lock's own */
	}
}
EXPORT void __tsan_mutex_post_lock(void *p, unsigned flags, int recursion);
void __tsan_mutex_post_lock(void *p, unsigned flags, int recursion)
{
	if (me != &nobody)
		me->gate &= ~GATE_IGNORE;
	struct thread *t = recording();
	if (t)
		log_sync(t,
		         flags & OWN_TRY_FAILED ? LOG_TRYFAIL
		         : flags & OWN_READ     ? LOG_RACQ
		                                : LOG_ACQ,
		         CALLER(), p);
}
EXPORT int __tsan_mutex_pre_unlock(void *p, unsigned flags);
int __tsan_mutex_pre_unlock(void *p, unsigned flags)
{
	struct thread *t = recording();
	if (t) {
		plan_point(t);
		log_sync(t, flags & OWN_READ ? LOG_RREL : LOG_REL, CALLER(), p);
		t->gate |= GATE_IGNORE;
	}
	return 1;
}
EXPORT void __tsan_mutex_post_unlock(void *p, unsigned flags);
void __tsan_mutex_post_unlock(void *p, unsigned flags)
{
	if (me != &nobody)
		me->gate &= ~GATE_IGNORE;
	struct thread *t = recording();
	if (t)
		sched_point(t);
}

#define NOTHING(type, name, parameters, result) \
	EXPORT type name parameters; \
	type name parameters \
	{ \
		return result; \
	}
#define NOTHING_VOID(name, parameters) NOTHING(void, name, parameters, )
NOTHING_VOID(__tsan_mutex_pre_signal, (void *p, unsigned f))
NOTHING_VOID(__tsan_mutex_post_signal, (void *p, unsigned f))
NOTHING_VOID(__tsan_mutex_pre_divert, (void *p, unsigned f))
NOTHING_VOID(__tsan_mutex_post_divert, (void *p, unsigned f))
NOTHING(void *, __tsan_get_current_fiber, (void), NULL)
NOTHING(void *, __tsan_create_fiber, (unsigned f), NULL)
NOTHING_VOID(__tsan_destroy_fiber, (void *p))
NOTHING_VOID(__tsan_switch_to_fiber, (void *p, unsigned f))
NOTHING_VOID(__tsan_set_fiber_name, (void *p, const char *n))
NOTHING(void *, __tsan_external_register_tag, (const char *n), NULL)
NOTHING_VOID(__tsan_external_register_header, (void *p, const char *n))
NOTHING_VOID(__tsan_external_assign_tag, (void *p, void *q))
NOTHING_VOID(__tsan_external_read, (void *p, void *q, void *r))
NOTHING_VOID(__tsan_external_write, (void *p, void *q, void *r))
NOTHING_VOID(__tsan_flush_memory, (void))
NOTHING_VOID(__tsan_on_initialize, (void))
NOTHING_VOID(__tsan_testonly_barrier_init, (uint64_t * b, uint32_t n))
NOTHING_VOID(__tsan_testonly_barrier_wait, (uint64_t * b))
NOTHING(int, __tsan_get_report_data, (void *p), 0)
NOTHING(int, __tsan_get_report_stack, (void *p), 0)
NOTHING(int, __tsan_get_report_mop, (void *p), 0)
NOTHING(int, __tsan_get_report_loc, (void *p), 0)
NOTHING(int, __tsan_get_report_mutex, (void *p), 0)
NOTHING(int, __tsan_get_report_thread, (void *p), 0)
NOTHING(int, __tsan_get_report_unique_tid, (void *p), 0)
NOTHING(int, __tsan_get_report_tag, (void *p), 0)
NOTHING(int, __tsan_get_report_loc_object_type, (void *p), 0)
NOTHING(int, __tsan_get_alloc_stack, (void *p), 0)
NOTHING(int, __tsan_locate_address, (void *p), 0)
NOTHING(void *, __tsan_get_current_report, (void), NULL)
NOTHING_VOID(AnnotateBenignRaceSized, (const char *f, int l, void *p, size_t s, const char *d))
NOTHING_VOID(AnnotateBenignRace, (const char *f, int l, void *p, const char *d))
NOTHING_VOID(AnnotateIgnoreWritesBegin, (const char *f, int l))
NOTHING_VOID(AnnotateIgnoreWritesEnd, (const char *f, int l))
NOTHING_VOID(AnnotateIgnoreSyncBegin, (const char *f, int l))
NOTHING_VOID(AnnotateIgnoreSyncEnd, (const char *f, int l))
NOTHING_VOID(AnnotateRWLockCreate, (const char *f, int l, void *p))
NOTHING_VOID(AnnotateRWLockCreateStatic, (const char *f, int l, void *p))
NOTHING_VOID(AnnotateRWLockDestroy, (const char *f, int l, void *p))
NOTHING_VOID(AnnotateRWLockAcquired, (const char *f, int l, void *p, uintptr_t w))
NOTHING_VOID(AnnotateRWLockReleased, (const char *f, int l, void *p, uintptr_t w))
NOTHING_VOID(AnnotateCondVarSignal, (const char *f, int l, void *p))
NOTHING_VOID(AnnotateCondVarSignalAll, (const char *f, int l, void *p))
NOTHING_VOID(AnnotateCondVarWait, (const char *f, int l, void *p, void *q))
NOTHING_VOID(AnnotateMutexIsNotPHB, (const char *f, int l, void *p))
NOTHING_VOID(AnnotateMutexIsUsedAsCondVar, (const char *f, int l, void *p))
NOTHING_VOID(AnnotateExpectRace, (const char *f, int l, void *p, const char *d))
NOTHING_VOID(AnnotateFlushExpectedRaces, (const char *f, int l))
NOTHING_VOID(AnnotateFlushState, (const char *f, int l))
NOTHING_VOID(AnnotateEnableRaceDetection, (const char *f, int l, int e))
NOTHING_VOID(AnnotateMemoryIsInitialized, (const char *f, int l, void *p, size_t s))
NOTHING_VOID(AnnotateMemoryIsUninitialized, (const char *f, int l, void *p, size_t s))
NOTHING_VOID(AnnotateNewMemory, (const char *f, int l, void *p, size_t s))
NOTHING_VOID(AnnotateNoOp, (const char *f, int l, void *p))
NOTHING_VOID(AnnotatePCQCreate, (const char *f, int l, void *p))
NOTHING_VOID(AnnotatePCQDestroy, (const char *f, int l, void *p))
NOTHING_VOID(AnnotatePCQGet, (const char *f, int l, void *p))
NOTHING_VOID(AnnotatePCQPut, (const char *f, int l, void *p))
NOTHING_VOID(AnnotatePublishMemoryRange, (const char *f, int l, void *p, size_t s))
NOTHING_VOID(AnnotateUnpublishMemoryRange, (const char *f, int l, void *p, size_t s))
NOTHING_VOID(AnnotateThreadName, (const char *f, int l, const char *n))
NOTHING_VOID(AnnotateTraceMemory, (const char *f, int l, void *p))
NOTHING_VOID(WTFAnnotateBenignRaceSized,
             (const char *f, int l, void *p, size_t s, const char *d))
NOTHING(int, RunningOnValgrind, (void), 0)
NOTHING(double, ValgrindSlowdown, (void), 10.0)
NOTHING(const char *, ThreadSanitizerQuery, (const char *q), "")
NOTHING_VOID(__sanitizer_set_death_callback, (void (*f)(void)))
NOTHING_VOID(__sanitizer_set_report_path, (const char *p))
NOTHING_VOID(__sanitizer_set_report_fd, (void *p))
NOTHING_VOID(__sanitizer_print_stack_trace, (void))
NOTHING(int, __sanitizer_get_ownership, (const void *p), 0)
NOTHING(size_t, __sanitizer_get_allocated_size, (const void *p), 0)
NOTHING(size_t, __sanitizer_get_heap_size, (void), 0)
NOTHING(size_t, __sanitizer_get_current_allocated_bytes, (void), 0)
NOTHING(int, __sanitizer_install_malloc_and_free_hooks,
        (void (*m)(const void *, size_t), void (*f)(const void *)), 0)
