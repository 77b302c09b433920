/*
 * abi.c - further functions that ThreadSanitizer's libraries export and programs may call:
 * annotations of a program's own synchronisation, and functions without effect here (abi.h).
 */
#include <limits.h>

#include "engine/record/abi.h"
#include "rt.h"

void __tsan_ignore_thread_begin(void);
void __tsan_ignore_thread_end(void);

/*
 * Annotations: synchronisation of the program's own making.  An address has one message, which
 * every release there sends and every acquire receives: so an acquire comes after all releases
 * before it (must.c), as with ThreadSanitizer's clocks.  An acquire is an event even when
 * nothing was released yet, so that a thread has the same events in every order.
 */
struct annotated {
	uintptr_t address; /* 0: free */
	uint64_t message;
};
static struct {
	volatile int lock; /* free mode */
	struct annotated *slots;
	unsigned room, used;
} annotations;

static struct annotated *slot_of(struct annotated *slots, unsigned room, uintptr_t p)
{
	unsigned i = (unsigned)((p >> 3) * HASH_FACTOR >> 32) & (room - 1);
	while (slots[i].address != p && slots[i].address != 0)
		i = (i + 1) & (room - 1);
	return &slots[i];
}

/* Doubles the number of slots; false without memory for them. */
static bool more_slots(void)
{
	enum { FIRST = 4096 };
	unsigned room = annotations.room ? annotations.room * 2 : FIRST;
	struct annotated *slots = rt_pages(room * sizeof(*slots));
	if (!slots)
		return false;
	for (unsigned i = 0; i < annotations.room; i++)
		if (annotations.slots[i].address)
			*slot_of(slots, room, annotations.slots[i].address) =
			        annotations.slots[i];
	if (annotations.slots)
		rt_unpages(annotations.slots, annotations.room * sizeof(*slots));
	annotations.slots = slots;
	annotations.room = room;
	return true;
}

uint64_t message_of(uintptr_t p, bool anew)
{
	uint64_t message = 0;
	while (__atomic_exchange_n(&annotations.lock, 1, __ATOMIC_ACQUIRE))
		;
	if (annotations.used * 2 < annotations.room || more_slots()) {
		struct annotated *slot = slot_of(annotations.slots, annotations.room, p);
		if (slot->address == 0)
			annotations.used++;
		if (slot->address == 0 || anew)
			slot->message = __atomic_add_fetch(&rt.messages, 1, __ATOMIC_RELAXED);
		slot->address = p;
		message = slot->message;
	}
	__atomic_store_n(&annotations.lock, 0, __ATOMIC_RELEASE);
	return message;
}

bool message_exists(uintptr_t p)
{
	while (__atomic_exchange_n(&annotations.lock, 1, __ATOMIC_ACQUIRE))
		;
	bool exists = annotations.slots &&
	              slot_of(annotations.slots, annotations.room, p)->address == p;
	__atomic_store_n(&annotations.lock, 0, __ATOMIC_RELEASE);
	return exists;
}

static void annotate(enum log_tag tag, unsigned flags, uintptr_t p, bool anew, uintptr_t pc)
{
	struct thread *t = recording();
	if (!t || p == 0)
		return;
	sched_point(t);
	uint64_t message = message_of(p, anew);
	if (message)
		log_event(t, tag, flags, pc, message, 0, 1);
}

void message_release(uintptr_t p, uintptr_t pc)
{
	annotate(LOG_SND, 0, p, false, pc);
}

void message_acquire(uintptr_t p, uintptr_t pc)
{
	if (message_exists(p)) /* else another process has sent it */
		annotate(LOG_RCV, 0, p, false, pc);
}

/* An acquire that waits for nothing: it may come before any release. */
static void annotated_acquire(uintptr_t p, uintptr_t pc)
{
	annotate(LOG_RCV, LOG_TRY, p, false, pc);
}

EXPORT void __tsan_acquire(void *p);
void __tsan_acquire(void *p)
{
	annotated_acquire((uintptr_t)p, CALLER());
}
EXPORT void __tsan_release(void *p);
void __tsan_release(void *p)
{
	message_release((uintptr_t)p, CALLER());
}
EXPORT void AnnotateHappensBefore(const char *file, int line, uintptr_t p);
void AnnotateHappensBefore(const char *file, int line, uintptr_t p)
{
	message_release(p, CALLER());
}
EXPORT void AnnotateHappensAfter(const char *file, int line, uintptr_t p);
void AnnotateHappensAfter(const char *file, int line, uintptr_t p)
{
	annotated_acquire(p, CALLER());
}
#define IGNORED(name, how) \
	EXPORT void name(const char *file, int line); \
	void name(const char *file, int line) \
	{ \
		__tsan_ignore_thread_##how(); \
	}
IGNORED(AnnotateIgnoreReadsBegin, begin)
IGNORED(AnnotateIgnoreReadsEnd, end)
IGNORED(AnnotateIgnoreWritesBegin, begin)
IGNORED(AnnotateIgnoreWritesEnd, end)

/* Older names, and those for virtual machines, have the same effect. */
EXPORT void WTFAnnotateHappensBefore(const char *file, int line, uintptr_t p);
void WTFAnnotateHappensBefore(const char *file, int line, uintptr_t p)
{
	message_release(p, CALLER());
}
EXPORT void WTFAnnotateHappensAfter(const char *file, int line, uintptr_t p);
void WTFAnnotateHappensAfter(const char *file, int line, uintptr_t p)
{
	annotated_acquire(p, CALLER());
}
EXPORT void __tsan_java_acquire(uintptr_t p);
void __tsan_java_acquire(uintptr_t p)
{
	annotated_acquire(p, CALLER());
}
EXPORT void __tsan_java_release(uintptr_t p);
void __tsan_java_release(uintptr_t p)
{
	message_release(p, CALLER());
}
EXPORT void __tsan_java_release_store(uintptr_t p);
void __tsan_java_release_store(uintptr_t p)
{
	annotate(LOG_SND, 0, p, true, CALLER());
}

/* ---- the barrier of ThreadSanitizer's tests: abi.h.  It is no event. ---- */

EXPORT void __tsan_testonly_barrier_init(uint64_t *barrier, unsigned count);
void __tsan_testonly_barrier_init(uint64_t *barrier, unsigned count)
{
	__atomic_store_n(barrier, count % ABI_BARRIER_STEP, __ATOMIC_SEQ_CST);
}
EXPORT void __tsan_testonly_barrier_wait(uint64_t *barrier);
void __tsan_testonly_barrier_wait(uint64_t *barrier)
{
	struct thread *t = recording();
	bool scheduled = t && rt.controlled;
	volatile int *word =
	        (volatile int *)barrier; /* its lower half changes with each arrival */
	if (scheduled && !rt.replay)
		sched_point(t);
	uint64_t old = __atomic_fetch_add(barrier, ABI_BARRIER_STEP, __ATOMIC_SEQ_CST);
	uint64_t now = old + ABI_BARRIER_STEP;
	if (abi_barrier_round(now) != abi_barrier_round(old)) {
		if (scheduled)
			sched_wake(barrier, FOR_FUTEX, UINT_MAX);
		futex_wake(word, INT_MAX);
		return;
	}
	while ((now = __atomic_load_n(barrier, __ATOMIC_SEQ_CST)),
	       abi_barrier_round(now) == abi_barrier_round(old)) {
		if (scheduled && rt.on)
			sched_block(t, FOR_FUTEX, barrier, false, 0);
		else
			futex_wait(word, (int)now, 0);
	}
}

/* Accesses that the program announces. */
#define UNALIGNED(bits, code) \
	EXPORT uint##bits##_t __sanitizer_unaligned_load##bits(const void *p); \
	uint##bits##_t __sanitizer_unaligned_load##bits(const void *p) \
	{ \
		uint##bits##_t v; \
		struct thread *t = recording(); \
		if (t) { \
			plan_point(t); \
			log_access(t, LOG_READ, 0, CALLER(), p, code, false, 0); \
		} \
		__builtin_memcpy(&v, p, sizeof(v)); \
		return v; \
	} \
	EXPORT void __sanitizer_unaligned_store##bits(void *p, uint##bits##_t v); \
	void __sanitizer_unaligned_store##bits(void *p, uint##bits##_t v) \
	{ \
		struct thread *t = recording(); \
		if (t) { \
			plan_point(t); \
			log_access(t, LOG_WRITE, 0, CALLER(), p, code, false, 0); \
		} \
		__builtin_memcpy(p, &v, sizeof(v)); \
	}
UNALIGNED(16, 1)
UNALIGNED(32, 2)
UNALIGNED(64, 3)

EXPORT double ValgrindSlowdown(void);
double ValgrindSlowdown(void)
{
	return 10.0;
}
EXPORT const char *ThreadSanitizerQuery(const char *query);
const char *ThreadSanitizerQuery(const char *query)
{
	return "";
}

/* One function by many names: it returns 0. */
#define IDLE(name) ".globl " #name "\n.type " #name ", @function\n" #name ":\n"
#define SYSCALL(name) \
	IDLE(__sanitizer_syscall_pre_impl_##name) IDLE(__sanitizer_syscall_post_impl_##name)
__asm__(".pushsection .text\n" ABI_IDLE(IDLE) ABI_CALLBACKS(IDLE)
                ABI_SYSCALLS(SYSCALL) "\txor %eax, %eax\n\tret\n.popsection\n");
