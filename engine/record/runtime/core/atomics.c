/*
 * atomics.c - the instrumentation's atomic operations, 8 to 128 bits.
 *
 * The operation itself is done here, always sequentially consistent (one thread runs at a
 * time in controlled mode; the log keeps the order that the program asked for).  Each is
 * a scheduling point, for programs spin on atomics.
 */
#include "entry.h"
#include "rt.h"

typedef unsigned __int128 a128;

/* The C11 order as in enum memory_order_kind; __ATOMIC_* are 0..5, consume counts as
 * acquire.  Higher bits (hle) are ignored. */
static const uint8_t order_of[8] = { 1, 2, 2, 3, 4, 5, 5, 5 };
#define ORDER(order) (order_of[(order)&7])

static __thread unsigned operations; /* so far, of this thread */

/* Called by engine/record/stub/include/c++/bits/atomic_wait.h: the number of looks before a
 * sleep; 0 where that makes no difference. */
EXPORT unsigned heddle_record_looks(void);
unsigned heddle_record_looks(void)
{
	return rt.on && rt.controlled && futexes_are_steps() ? operations : 0;
}

static void atomic_point(struct thread *t, const volatile void *p, unsigned code, bool changes)
{
	operations++;
	log_value(t);
	if (!rt.controlled)
		return;
	if (rt.replay && t->poll.repeats)
		return;
	sched_about(&t->sched, p, 1u << code, changes);
	/* Cheaper than before a lock: a scheduling point at one in eight, and always when the
	 * budget is used up. */
	bool always = (rt.config.strategy == STRATEGY_PCT || sched_each_event()) &&
	              t->poll.spins < SPIN_LIMIT;
	if (rt.replay || always)
		sched_point_slow(t);
	else if (t->budget < 16)
		sched_access(t);
	else
		t->budget -= 16;
}

/* After a read-modify-write; one that changes nothing counts as a look (a lock that is tried
 * again). */
static void changed(struct thread *t, const volatile void *p, bool news, uint64_t value,
                    uintptr_t pc)
{
	if (unlikely(t->forks != rt.forks))
		child_brought(t, p, pc);
	if (news) {
		t->poll.spins = 0;
		poll_wrote(p);
	} else {
		poll_look(t, p, value, pc);
	}
}

/* A load, or an exchange that was refused. */
static void looked(struct thread *t, unsigned order, const volatile void *p, unsigned code,
                   uint64_t value, uintptr_t pc)
{
	if (!poll_again(t, p, value, pc))
		log_access(t, LOG_AREAD, order, pc, (const void *)p, code, true, value);
	if (unlikely(t->forks != rt.forks))
		child_brought(t, p, pc);
	poll_look(t, p, value, pc);
}

#define ENTER(code, changes, fallback) \
	struct thread *t = me; \
	if (unlikely(t->gate) && !hook_slow_atomic(t)) \
		return fallback; \
	if (unlikely(rt.async_handlers)) \
		handlers_run(t); \
	atomic_point(t, p, code, changes);

/* The thread's state before an operation, where states are wanted. */
#define STATE(p, order, operand, expected) \
	do { \
		if (unlikely(memory_states)) \
			memory_state(t, p, order, operand, expected); \
	} while (0)

/* The operations beyond sequential consistency (memory.h). */
static uint64_t weak_load(struct thread *t, const volatile void *p, unsigned code,
                          unsigned order, uintptr_t pc)
{
	memory_state(t, p, order, 0, 0);
	uint64_t value = memory_load(t, p, code, order, pc);
	poll_look(t, p, value, pc);
	return value;
}

static uint64_t weak_update(struct thread *t, volatile void *p, unsigned code, enum update how,
                            uint64_t v, unsigned order, uintptr_t pc)
{
	uint64_t made;
	memory_state(t, p, order, v, how);
	uint64_t old = memory_update(t, p, code, how, v, order, pc, &made);
	changed(t, p, made != old, old, pc);
	return old;
}

static bool weak_compare(struct thread *t, volatile void *p, unsigned code, uint64_t *expected,
                         uint64_t v, unsigned order, unsigned failure, uintptr_t pc)
{
	memory_state(t, p, order, v, *expected);
	bool done = memory_compare(t, p, code, expected, v, order, failure, pc);
	if (done)
		changed(t, p, true, 0, pc);
	else
		poll_look(t, p, *expected, pc);
	return done;
}

#define SUM(how) ((how) == UPDATE_ADD || (how) == UPDATE_SUB ? LOG_SUM : 0)

#define FETCH(bits, type, code, name, how, function, expression) \
	ENTRY(__tsan_atomic##bits##_##name) \
	type __tsan_atomic##bits##_##name(volatile type *p, type v, int order) \
	        BEHIND(__tsan_atomic##bits##_##name); \
	type __tsan_atomic##bits##_##name(volatile type *p, type v, int order) \
	{ \
		ENTER(code, true, function(p, v, __ATOMIC_SEQ_CST)) \
		if (unlikely(rt.memory) && code < 4) \
			return (type)weak_update(t, p, code, how, (uint64_t)v, ORDER(order), \
			                         HOOK_CALLER()); \
		if (unlikely(rt.memory)) \
			memory_wide(t); \
		else if (code < 4) \
			STATE(p, order, (uint64_t)v, how); \
		type old = function(p, v, __ATOMIC_SEQ_CST); \
		log_rmw(t, ORDER(order) | SUM(how), HOOK_CALLER(), (const void *)p, code, \
		        (uint64_t)old, (uint64_t)(type)(expression)); \
		changed(t, p, old != (type)(expression), (uint64_t)old, HOOK_CALLER()); \
		return old; \
	}

#define EXCHANGE(bits, type, code, name) \
	ENTRY(__tsan_atomic##bits##_##name) \
	int __tsan_atomic##bits##_##name(volatile type *p, type *expected, type v, int order, \
	                                 int failure) BEHIND(__tsan_atomic##bits##_##name); \
	int __tsan_atomic##bits##_##name(volatile type *p, type *expected, type v, int order, \
	                                 int failure) \
	{ \
		ENTER(code, true, \
		      __atomic_compare_exchange_n(p, expected, v, false, __ATOMIC_SEQ_CST, \
		                                  __ATOMIC_SEQ_CST)) \
		type old = *expected; \
		if (unlikely(rt.memory)) { \
			uint64_t seen = old; \
			bool made = weak_compare(t, p, code, &seen, v, ORDER(order), \
			                         ORDER(failure), HOOK_CALLER()); \
			if (!made) \
				*expected = (type)seen; \
			return made; \
		} \
		STATE(p, order, (uint64_t)v, (uint64_t)old); \
		bool done = __atomic_compare_exchange_n(p, &old, v, false, __ATOMIC_SEQ_CST, \
		                                        __ATOMIC_SEQ_CST); \
		if (done) { \
			log_rmw(t, ORDER(order), HOOK_CALLER(), (const void *)p, code, \
			        (uint64_t)old, (uint64_t)v); \
			changed(t, p, true, 0, HOOK_CALLER()); \
		} else { \
			looked(t, ORDER(failure), p, code, (uint64_t)old, HOOK_CALLER()); \
			*expected = old; \
		} \
		return done; \
	}

#define SIZE(bits, type, code) \
	ENTRY(__tsan_atomic##bits##_load) \
	type __tsan_atomic##bits##_load(const volatile type *p, int order) \
	        BEHIND(__tsan_atomic##bits##_load); \
	type __tsan_atomic##bits##_load(const volatile type *p, int order) \
	{ \
		ENTER(code, false, __atomic_load_n(p, __ATOMIC_SEQ_CST)) \
		if (unlikely(rt.memory)) \
			return (type)weak_load(t, p, code, ORDER(order), HOOK_CALLER()); \
		STATE(p, order, 0, 0); \
		type v = __atomic_load_n(p, __ATOMIC_SEQ_CST); \
		looked(t, ORDER(order), p, code, (uint64_t)v, HOOK_CALLER()); \
		return v; \
	} \
	EXPORT void __tsan_atomic##bits##_store(volatile type *p, type v, int order); \
	void __tsan_atomic##bits##_store(volatile type *p, type v, int order) \
	{ \
		struct thread *t = me; \
		if (unlikely(t->gate) && !hook_slow_atomic(t)) { \
			__atomic_store_n(p, v, __ATOMIC_SEQ_CST); \
			return; \
		} \
		atomic_point(t, p, code, true); \
		if (unlikely(rt.memory)) { \
			memory_store(t, p, code, v, ORDER(order), HOOK_CALLER()); \
			poll_wrote(p); \
			return; \
		} \
		log_access(t, LOG_AWRITE, ORDER(order), HOOK_CALLER(), (const void *)p, code, \
		           true, (uint64_t)v); \
		__atomic_store_n(p, v, __ATOMIC_SEQ_CST); \
		poll_wrote(p); \
	} \
	FETCH(bits, type, code, exchange, UPDATE_EXCHANGE, __atomic_exchange_n, v) \
	FETCH(bits, type, code, fetch_add, UPDATE_ADD, __atomic_fetch_add, old + v) \
	FETCH(bits, type, code, fetch_sub, UPDATE_SUB, __atomic_fetch_sub, old - v) \
	FETCH(bits, type, code, fetch_and, UPDATE_AND, __atomic_fetch_and, old &v) \
	FETCH(bits, type, code, fetch_or, UPDATE_OR, __atomic_fetch_or, old | v) \
	FETCH(bits, type, code, fetch_xor, UPDATE_XOR, __atomic_fetch_xor, old ^ v) \
	FETCH(bits, type, code, fetch_nand, UPDATE_NAND, __atomic_fetch_nand, ~(old & v)) \
	EXCHANGE(bits, type, code, compare_exchange_strong) \
	EXCHANGE(bits, type, code, compare_exchange_weak) \
	ENTRY(__tsan_atomic##bits##_compare_exchange_val) \
	type __tsan_atomic##bits##_compare_exchange_val(volatile type *p, type expected, \
	                                                type v, int order, int failure) \
	        BEHIND(__tsan_atomic##bits##_compare_exchange_val); \
	type __tsan_atomic##bits##_compare_exchange_val(volatile type *p, type expected, \
	                                                type v, int order, int failure) \
	{ \
		struct thread *t = me; \
		type old = expected; \
		if (unlikely(t->gate) && !hook_slow_atomic(t)) { \
			__atomic_compare_exchange_n(p, &old, v, false, __ATOMIC_SEQ_CST, \
			                            __ATOMIC_SEQ_CST); \
			return old; \
		} \
		atomic_point(t, p, code, true); \
		if (unlikely(rt.memory)) { \
			uint64_t seen = old; \
			weak_compare(t, p, code, &seen, v, ORDER(order), ORDER(failure), \
			             HOOK_CALLER()); \
			return (type)seen; \
		} \
		STATE(p, order, (uint64_t)v, (uint64_t)old); \
		if (__atomic_compare_exchange_n(p, &old, v, false, __ATOMIC_SEQ_CST, \
		                                __ATOMIC_SEQ_CST)) { \
			log_rmw(t, ORDER(order), HOOK_CALLER(), (const void *)p, code, \
			        (uint64_t)old, (uint64_t)v); \
			changed(t, p, true, 0, HOOK_CALLER()); \
		} else { \
			looked(t, ORDER(failure), p, code, (uint64_t)old, HOOK_CALLER()); \
		} \
		return old; \
	}

SIZE(8, uint8_t, 0)
SIZE(16, uint16_t, 1)
SIZE(32, uint32_t, 2)
SIZE(64, uint64_t, 3)

/* 128 bits: by compare-and-swap, so that no libatomic is needed. */
static a128 cas128(volatile a128 *p, a128 expected, a128 v)
{
	return __sync_val_compare_and_swap(p, expected, v);
}
static a128 load128(const volatile a128 *p, int order)
{
	return cas128((volatile a128 *)p, 0, 0);
}
#define LOOP128(name, expression) \
	static a128 name##128(volatile a128 * p, a128 v, int order) \
	{ \
		a128 old = load128(p, order), seen; \
		while ((seen = cas128(p, old, expression)) != old) \
			old = seen; \
		return old; \
	}
LOOP128(wide_exchange, v)
LOOP128(wide_add, old + v)
LOOP128(wide_sub, old - v)
LOOP128(wide_and, old &v)
LOOP128(wide_or, old | v)
LOOP128(wide_xor, old ^ v)
LOOP128(wide_nand, ~(old &v))

EXPORT a128 __tsan_atomic128_load(const volatile a128 *p, int order);
a128 __tsan_atomic128_load(const volatile a128 *p, int order)
{
	ENTER(4, false, load128(p, order))
	if (unlikely(rt.memory))
		memory_wide(t);
	a128 v = load128(p, order);
	log_access(t, LOG_AREAD, ORDER(order), HOOK_CALLER(), (const void *)p, 4, false, 0);
	return v;
}
EXPORT void __tsan_atomic128_store(volatile a128 *p, a128 v, int order);
void __tsan_atomic128_store(volatile a128 *p, a128 v, int order)
{
	struct thread *t = me;
	if (unlikely(t->gate) && !hook_slow_atomic(t)) {
		wide_exchange128(p, v, order);
		return;
	}
	atomic_point(t, p, 4, true);
	if (unlikely(rt.memory))
		memory_wide(t);
	log_access(t, LOG_AWRITE, ORDER(order), HOOK_CALLER(), (const void *)p, 4, false, 0);
	wide_exchange128(p, v, order);
}
FETCH(128, a128, 4, exchange, UPDATE_EXCHANGE, wide_exchange128, v)
FETCH(128, a128, 4, fetch_add, UPDATE_ADD, wide_add128, old + v)
FETCH(128, a128, 4, fetch_sub, UPDATE_SUB, wide_sub128, old - v)
FETCH(128, a128, 4, fetch_and, UPDATE_AND, wide_and128, old &v)
FETCH(128, a128, 4, fetch_or, UPDATE_OR, wide_or128, old | v)
FETCH(128, a128, 4, fetch_xor, UPDATE_XOR, wide_xor128, old ^ v)
FETCH(128, a128, 4, fetch_nand, UPDATE_NAND, wide_nand128, ~(old &v))

static int exchange_record128(volatile a128 *p, a128 *expected, a128 v, int order, int failure,
                              uintptr_t pc)
{
	struct thread *t = me;
	bool open = !t->gate || hook_slow(t);
	if (open) {
		atomic_point(t, p, 4, true);
		if (unlikely(rt.memory))
			memory_wide(t);
	}
	a128 old = cas128(p, *expected, v);
	bool done = old == *expected;
	if (open && done)
		log_rmw(t, ORDER(order), pc, (const void *)p, 4, 0, 0);
	else if (open)
		log_access(t, LOG_AREAD, ORDER(failure), pc, (const void *)p, 4, false, 0);
	*expected = old;
	return done;
}
#define EXCHANGE128(name) \
	EXPORT int __tsan_atomic128_##name(volatile a128 *p, a128 *expected, a128 v, \
	                                   int order, int failure); \
	int __tsan_atomic128_##name(volatile a128 *p, a128 *expected, a128 v, int order, \
	                            int failure) \
	{ \
		return exchange_record128(p, expected, v, order, failure, HOOK_CALLER()); \
	}
EXCHANGE128(compare_exchange_strong)
EXCHANGE128(compare_exchange_weak)
EXPORT a128 __tsan_atomic128_compare_exchange_val(volatile a128 *p, a128 expected, a128 v,
                                                  int order, int failure);
a128 __tsan_atomic128_compare_exchange_val(volatile a128 *p, a128 expected, a128 v, int order,
                                           int failure)
{
	exchange_record128(p, &expected, v, order, failure, HOOK_CALLER());
	return expected;
}

EXPORT void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_thread_fence(int order)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	struct thread *t = me;
	if (unlikely(t->gate) && !hook_slow_atomic(t))
		return;
	if (unlikely(rt.async_handlers))
		handlers_run(t);
	log_value(t);
	if (ORDER(order) < 2) /* a relaxed fence does nothing */
		return;
	plan_point(t);
	if (unlikely(rt.memory))
		memory_fence(t, ORDER(order));
	log_event(t, LOG_FENCE, ORDER(order), HOOK_CALLER(), 0, 0, 0);
}
EXPORT void __tsan_atomic_signal_fence(int order);
void __tsan_atomic_signal_fence(int order)
{
}
