/*
 * urcu_port.h - liburcu's layer of atomics on C11's, for a compiler's -include: the headers'
 * own is inline assembly on x86, and volatile accesses. As its documentation says: uatomic_xchg
 * and uatomic_cmpxchg are between full fences; uatomic_set, uatomic_read and CMM_STORE_SHARED
 * are relaxed; what depends on a CMM_LOAD_SHARED comes after it, of which C11's nearest is an
 * acquiring load. The structures' code is as it is.
 *
 * -DNO_FENCES -DUPDATE=seq_cst: updates without their fences, an order too weak for the queue.
 */
#ifndef URCU_PORT_H
#define URCU_PORT_H

#define _URCU_ARCH_H
#define _URCU_SYSTEM_H
#define _URCU_UATOMIC_ARCH_H
#define _URCU_UATOMIC_H
#define _URCU_ARCH_UATOMIC_X86_H
#define _LGPL_SOURCE
#include <stdatomic.h>
#include <urcu/compiler.h>

#ifndef UPDATE
#define UPDATE relaxed
#endif
#ifndef LOAD
#define LOAD acquire
#endif
#ifdef NO_WMB
#define cmm_wmb() ((void)0)
#else
#define cmm_wmb() atomic_thread_fence(memory_order_release)
#endif
#define cmm_smp_wmb()                  cmm_wmb()
#define cmm_rmb()                      atomic_thread_fence(memory_order_acquire)
#define cmm_smp_rmb()                  cmm_rmb()
#define cmm_mb()                       atomic_thread_fence(memory_order_seq_cst)
#define cmm_smp_mb()                   cmm_mb()
#define cmm_read_barrier_depends()     cmm_rmb()
#define cmm_smp_read_barrier_depends() cmm_rmb()
#define caa_cpu_relax()                ((void)0)
#define CAA_CACHE_LINE_SIZE            64

#define PORT_ORDER_(o)         memory_order_##o
#define PORT_ORDER(o)          PORT_ORDER_(o)
#define CMM_LOAD_SHARED(p)     __atomic_load_n(&(p), PORT_ORDER(LOAD))
#define _CMM_LOAD_SHARED       CMM_LOAD_SHARED
#define CMM_STORE_SHARED(x, v) __atomic_store_n(&(x), v, __ATOMIC_RELAXED)
#define uatomic_read(p)        __atomic_load_n(p, __ATOMIC_RELAXED)
#define uatomic_set(p, v)      __atomic_store_n(p, v, __ATOMIC_RELAXED)
/* A fence on either side: an exchange that is seq_cst alone does not order what comes after it.
 */
#ifdef NO_FENCES
#define FULL_FENCE() ((void)0)
#else
#define FULL_FENCE() atomic_thread_fence(memory_order_seq_cst)
#endif
#define uatomic_xchg(p, v) \
	({ \
		FULL_FENCE(); \
		__typeof__(*(p)) was_ = __atomic_exchange_n(p, v, PORT_ORDER(UPDATE)); \
		FULL_FENCE(); \
		was_; \
	})
#define uatomic_cmpxchg(p, old, new) \
	({ \
		__typeof__(*(p)) was_ = (old); \
		FULL_FENCE(); \
		__atomic_compare_exchange_n(p, &was_, new, 0, PORT_ORDER(UPDATE), \
		                            __ATOMIC_RELAXED); \
		FULL_FENCE(); \
		was_; \
	})

#endif
