/*
 * base.h - the base of every folder of the runtime: macros, and the few services of the kernel
 * that the runtime uses for itself.
 *
 * The runtime lives in the user's program. It must not call anything that it interposes
 * itself, allocate from the program's heap, keep a descriptor of a low number open, or print
 * (except by rt_say, for urgent messages to the user). Memory therefore comes in whole pages
 * from rt_pages, waiting for another thread is futex_wait, and a system call is raw_syscall
 * or rt_syscall, which leave errno alone. All but rt_next, which asks the loader, may be
 * called from anywhere, a signal handler included.
 */
#ifndef HEDDLE_RUNTIME_BASE_H
#define HEDDLE_RUNTIME_BASE_H

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <time.h>

#include "engine/record/layout.h"
#include "interposed.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define likely(x)     __builtin_expect(!!(x), 1)
#define unlikely(x)   __builtin_expect(!!(x), 0)
#define BARRIER()     __asm__ volatile("" ::: "memory")

struct thread;
struct pollfd;
struct iovec;
struct dl_phdr_info;

/* A system call without the C library, whose functions are interposed: the kernel's answer,
 * -errno for a failure. */
static inline long raw_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	long result;
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	__asm__ volatile("syscall"
	                 : "=a"(result)
	                 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
	                 : "rcx", "r11", "memory");
	return result;
}

/* A system call of the runtime's own: the kernel's answer, -errno for a failure.  errno is the
 * program's, and stays.  (sync/futex.c, beside the program's syscall().) */
long rt_syscall(long number, ...);
#define syscall(...) rt_syscall(__VA_ARGS__)

/* Sleeps while *word is `value`, at most for this time (0: unlimited); may return early. */
void futex_wait(volatile int *word, int value, uint64_t nanoseconds);
void futex_wake(volatile int *word, int count);

/* Zeroed pages outside of the program's heap, or NULL; they are the caller's until rt_unpages.
 */
void *rt_pages(size_t bytes);
/* An address range of `bytes` for mappings of the runtime: the program's mappings do not
 * depend on how much has been recorded. */
uintptr_t rt_place(size_t bytes);
void rt_reserve(void); /* some megabytes for rt_pages, before the process is copied */
/* Allocates pages at once: pages that are read first and written later would be remapped
 * under all threads, which costs more. Without effect if the kernel cannot do it. */
void rt_populate(void *pages, size_t bytes);
void rt_unpages(void *pages, size_t bytes);
/* A line on standard error, after "heddle: ". */
void rt_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Ends the process by this signal, whatever action the program has set for it. */
_Noreturn void rt_die(int signal_number);
/* The function that the program would call without the runtime; see REAL. */
void *rt_next(const char *name);
void rt_look_up(void); /* looks up the functions that runs call most, before the process is
                        * copied */

/* 2^64 divided by the golden ratio (engine/base/hash.h, which the runtime does not share). */
#define HASH_FACTOR UINT64_C(0x9e3779b97f4a7c15)

#define REAL(name) \
	({ \
		static __typeof__(name) *real_; \
		if (unlikely(!real_)) \
			real_ = (__typeof__(name) *)rt_next(#name); \
		real_; \
	})

#endif
