/*
 * system.c - services of the kernel that the runtime uses for itself, past the C library's
 * functions, which are interposed: pages, futexes, messages, the end by a signal.
 */
#include <linux/futex.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "one_thread.h"
#include "rt.h"

/* ---- pages ---- */

#define FIRST_PLACE 0x10000000000ull /* 1 TiB: below every address the kernel gives out */
static uintptr_t next_place = FIRST_PLACE;

uintptr_t rt_place(size_t bytes)
{
	return __atomic_fetch_add(&next_place, bytes + 4096, __ATOMIC_RELAXED);
}

/* A reserve of mapped pages, from which forked copies of the process take theirs without a
 * system call each. */
static uintptr_t reserve, reserve_end;

void rt_reserve(void)
{
	enum { MOST = 64 << 20, SMALL_PAGES = 15 /* MADV_NOHUGEPAGE */ };
	reserve = (uintptr_t)rt_pages(MOST);
	raw_syscall(SYS_madvise, (long)reserve, MOST, SMALL_PAGES, 0, 0, 0);
	reserve_end = reserve ? reserve + MOST : 0;
}

static void *take_reserved(size_t bytes)
{
	uintptr_t at = __atomic_load_n(&reserve, __ATOMIC_RELAXED);
	do
		if (reserve_end - at < bytes)
			return NULL;
	while (!__atomic_compare_exchange_n(&reserve, &at, at + bytes, true, __ATOMIC_RELAXED,
	                                    __ATOMIC_RELAXED));
	return (void *)at;
}

void *rt_pages(size_t bytes)
{
	bytes = (bytes + 4095) & ~4095ul;
	void *reserved = take_reserved(bytes);
	if (reserved)
		return reserved;
	uintptr_t at = rt_place(bytes);
	long p = raw_syscall(SYS_mmap, at, bytes, PROT_READ | PROT_WRITE,
	                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE,
	                     -1, 0);
	if (p < 0)
		p = raw_syscall(SYS_mmap, 0, bytes, PROT_READ | PROT_WRITE,
		                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return p < 0 ? NULL : (void *)p;
}

void rt_populate(void *pages, size_t bytes)
{
	enum { POPULATE_WRITE = 23 }; /* MADV_, of Linux 5.14 */
	raw_syscall(SYS_madvise, (long)pages, bytes, POPULATE_WRITE, 0, 0, 0);
}

void rt_unpages(void *pages, size_t bytes)
{
	if (pages)
		raw_syscall(SYS_munmap, (long)pages, (bytes + 4095) & ~4095ul, 0, 0, 0, 0);
}

/* ---- futexes ---- */

/* errno is the program's. */
void futex_wait(volatile int *word, int value, uint64_t nanoseconds)
{
	struct timespec time = { nanoseconds / 1000000000, nanoseconds % 1000000000 };
	raw_syscall(SYS_futex, (long)word, FUTEX_WAIT_PRIVATE, value,
	            nanoseconds ? (long)&time : 0, 0, 0);
}

void futex_wake(volatile int *word, int count)
{
	raw_syscall(SYS_futex, (long)word, FUTEX_WAKE_PRIVATE, count, 0, 0, 0);
}

/* ---- messages, names, the end ---- */

void rt_say(const char *format, ...)
{
	char text[1024];
	va_list list;
	va_start(list, format);
	int n = vsnprintf(text, sizeof(text) - 1, format, list);
	va_end(list);
	if (n < 0)
		return;
	if (n > (int)sizeof(text) - 2)
		n = sizeof(text) - 2;
	text[n++] = '\n';
	syscall(SYS_write, 2, "heddle: ", 8);
	syscall(SYS_write, 2, text, n);
}

/* Functions that runs of an exploration call, looked up before their process is copied. */
static struct {
	const char *name;
	void *function;
} known[] = {
	{ "pthread_create" },
	{ "pthread_join" },
	{ "pthread_detach" },
	{ "pthread_mutex_lock" },
	{ "pthread_mutex_trylock" },
	{ "pthread_mutex_unlock" },
	{ "pthread_mutex_init" },
	{ "pthread_mutex_destroy" },
	{ "pthread_cond_init" },
	{ "pthread_cond_destroy" },
	{ "pthread_rwlock_init" },
	{ "pthread_rwlock_destroy" },
	{ "pthread_rwlock_rdlock" },
	{ "pthread_rwlock_wrlock" },
	{ "pthread_rwlock_unlock" },
	{ "pthread_rwlock_tryrdlock" },
	{ "pthread_rwlock_trywrlock" },
	{ "pthread_barrier_init" },
	{ "pthread_barrier_destroy" },
	{ "pthread_spin_trylock" },
	{ "pthread_spin_unlock" },
	{ "sem_init" },
	{ "sem_destroy" },
	{ "sem_post" },
	{ "sem_trywait" },
	{ "sem_getvalue" },
	{ "malloc" },
	{ "calloc" },
	{ "realloc" },
	{ "free" },
	{ "exit" },
	{ "abort" },
	{ "__assert_fail" },
	{ "memcpy" },
	{ "memset" },
	{ "memmove" },
	{ "strlen" },
	{ "write" },
	{ "read" },
	{ "close" },
	{ "poll" },
	{ "pipe" },
	{ "eventfd" },
	{ "puts" },
	{ "putchar" },
	{ "printf" },
	{ "vprintf" },
	{ "fprintf" },
	{ "vfprintf" },
	{ "fflush" },
	{ "sigaction" },
};

void rt_look_up(void)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		known[i].function = rt_next(known[i].name);
}

static void *look_up(const char *name)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].function && strcmp(known[i].name, name) == 0)
			return known[i].function;
	return NULL;
}

void *rt_next(const char *name)
{
	void *function = look_up(name);
	if (function)
		return function;
	struct thread *t = me;
	uint32_t gate = t->gate;
	if (t != &nobody)
		t->gate |= GATE_INSIDE;
	void *p = dlsym(RTLD_NEXT, name);
	if (t != &nobody)
		t->gate = (t->gate & ~GATE_INSIDE) | (gate & GATE_INSIDE);
	return p;
}

_Noreturn void rt_die(int signal_number)
{
	if (rt.one_thread)
		one_thread_die(signal_number);
	struct sigaction usual = { .sa_handler = SIG_DFL };
	int (*real)(int, const struct sigaction *, struct sigaction *) = (int (*)(
	        int, const struct sigaction *, struct sigaction *))rt_next("sigaction");
	real(signal_number, &usual, NULL);
	clock_end();
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, signal_number);
	syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &set, NULL, 8);
	for (;;) {
		/* A signal to this thread: it has arrived when the call returns. */
		syscall(SYS_tgkill, syscall(SYS_getpid), syscall(SYS_gettid), signal_number);
		syscall(SYS_kill, syscall(SYS_getpid), SIGKILL);
	}
}
