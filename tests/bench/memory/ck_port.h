/*
 * ck_port.h - Concurrency Kit's layer of atomics (ck_pr) on C11's, for a compiler's -include:
 * its own ports are inline assembly, or plain volatile accesses between full fences, of which
 * no tool sees the orders. The model is CK's weakest (RMO): loads, stores and updates are
 * relaxed, and fences order them. What depends on a pointer that was loaded comes after it, on
 * all of CK's machines; C11's nearest is an acquiring load. The structures' code is as it is.
 *
 * -DNO_FENCE_STORE, ...: without that fence, an order too weak; -DPOINTERS=__ATOMIC_RELAXED.
 */
#ifndef CK_PORT_H
#define CK_PORT_H

#define CK_USE_CC_BUILTINS 1
#define CK_PR_GCC_H        /* not the library's own */
#include <ck_cc.h>
#include <ck_md.h>
#include <ck_stdbool.h>
#include <ck_stdint.h>
#include <stdatomic.h>

#undef CK_MD_TSO
#define CK_MD_RMO

CK_CC_INLINE static void ck_pr_barrier(void)
{
	__asm__ __volatile__("" ::: "memory");
}
CK_CC_INLINE static void ck_pr_stall(void)
{
}

#include <gcc/ck_f_pr.h>

#define FENCE(name, order) \
	CK_CC_INLINE static void ck_pr_fence_strict_##name(void) \
	{ \
		atomic_thread_fence(memory_order_##order); \
	}
#define NO_FENCE(name) \
	CK_CC_INLINE static void ck_pr_fence_strict_##name(void) \
	{ \
	}
#ifdef NO_FENCE_LOAD
NO_FENCE(load)
#else
FENCE(load, acquire)
#endif
#ifdef NO_FENCE_STORE
NO_FENCE(store)
#else
FENCE(store, release)
#endif
#ifdef NO_FENCE_UNLOCK
NO_FENCE(unlock)
#else
FENCE(unlock, release)
#endif
#ifdef NO_FENCE_STORE_ATOMIC
NO_FENCE(store_atomic)
#else
FENCE(store_atomic, release)
#endif
FENCE(lock, acquire)
FENCE(load_load, acquire)
FENCE(store_store, release)
FENCE(load_store, acquire)
FENCE(load_atomic, acquire)
FENCE(atomic, acq_rel)
FENCE(atomic_atomic, acq_rel)
FENCE(atomic_load, acquire)
FENCE(atomic_store, release)
FENCE(store_load, seq_cst)
FENCE(memory, seq_cst)
FENCE(acquire, acquire)
FENCE(release, release)
FENCE(acqrel, acq_rel)

#ifndef POINTERS
#define POINTERS __ATOMIC_ACQUIRE
#endif
CK_CC_INLINE static void *ck_pr_md_load_ptr(const void *p)
{
	return __atomic_load_n((void *const *)p, POINTERS);
}
CK_CC_INLINE static void ck_pr_md_store_ptr(void *p, const void *v)
{
	__atomic_store_n((void **)p, (void *)v, __ATOMIC_RELAXED);
}

#define ATOMIC(S, M, T) \
	CK_CC_INLINE static bool ck_pr_cas_##S(M *p, T compare, T set) \
	{ \
		return __atomic_compare_exchange_n((T *)p, &compare, set, 0, __ATOMIC_RELAXED, \
		                                   __ATOMIC_RELAXED); \
	} \
	CK_CC_INLINE static bool ck_pr_cas_##S##_value(M *p, T compare, T set, M *v) \
	{ \
		bool done = __atomic_compare_exchange_n((T *)p, &compare, set, 0, \
		                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED); \
		*(T *)v = compare; \
		return done; \
	}
#define NUMBER(S, T) \
	CK_CC_INLINE static T ck_pr_md_load_##S(const T *p) \
	{ \
		return __atomic_load_n(p, __ATOMIC_RELAXED); \
	} \
	CK_CC_INLINE static void ck_pr_md_store_##S(T *p, T v) \
	{ \
		__atomic_store_n(p, v, __ATOMIC_RELAXED); \
	} \
	CK_CC_INLINE static T ck_pr_faa_##S(T *p, T v) \
	{ \
		return __atomic_fetch_add(p, v, __ATOMIC_RELAXED); \
	} \
	CK_CC_INLINE static void ck_pr_inc_##S(T *p) \
	{ \
		__atomic_fetch_add(p, 1, __ATOMIC_RELAXED); \
	} \
	CK_CC_INLINE static void ck_pr_dec_##S(T *p) \
	{ \
		__atomic_fetch_sub(p, 1, __ATOMIC_RELAXED); \
	} \
	CK_CC_INLINE static void ck_pr_add_##S(T *p, T v) \
	{ \
		__atomic_fetch_add(p, v, __ATOMIC_RELAXED); \
	} \
	ATOMIC(S, T, T)
ATOMIC(ptr, void, void *)
NUMBER(char, char)
NUMBER(int, int)
NUMBER(uint, unsigned)
NUMBER(8, uint8_t)
NUMBER(16, uint16_t)
NUMBER(32, uint32_t)
NUMBER(64, uint64_t)

#endif
