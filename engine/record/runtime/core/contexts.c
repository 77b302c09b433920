/* contexts.c - see contexts.h. */
#include <linux/futex.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/single_threaded.h>
#include <sys/syscall.h>

#include "contexts.h"
#include "engine/record/runtime/sched/sched_private.h"

/* The registers that a call keeps, the place after the call, and the FS base, which the C
 * library reads thread-local memory by. */
__asm__(".text\n"
        ".type context_save, @function\n"
        ".globl context_save\n"
        ".hidden context_save\n"
        "context_save:\n"
        "	mov %rbx, 0(%rdi)\n"
        "	mov %rbp, 8(%rdi)\n"
        "	mov %r12, 16(%rdi)\n"
        "	mov %r13, 24(%rdi)\n"
        "	mov %r14, 32(%rdi)\n"
        "	mov %r15, 40(%rdi)\n"
        "	lea 8(%rsp), %rax\n"
        "	mov %rax, 48(%rdi)\n"
        "	mov (%rsp), %rax\n"
        "	mov %rax, 56(%rdi)\n"
        "	rdfsbase %rax\n"
        "	mov %rax, 64(%rdi)\n"
        "	stmxcsr 72(%rdi)\n"
        "	fnstcw 76(%rdi)\n"
        "	xor %eax, %eax\n"
        "	ret\n"
        ".size context_save, .-context_save\n"
        ".type context_resume, @function\n"
        ".globl context_resume\n"
        ".hidden context_resume\n"
        "context_resume:\n"
        "	mov 64(%rdi), %rax\n"
        "	wrfsbase %rax\n"
        "	ldmxcsr 72(%rdi)\n"
        "	fldcw 76(%rdi)\n"
        "	mov 0(%rdi), %rbx\n"
        "	mov 8(%rdi), %rbp\n"
        "	mov 16(%rdi), %r12\n"
        "	mov 24(%rdi), %r13\n"
        "	mov 32(%rdi), %r14\n"
        "	mov 40(%rdi), %r15\n"
        "	mov 48(%rdi), %rsp\n"
        "	mov $1, %eax\n"
        "	jmp *56(%rdi)\n"
        ".size context_resume, .-context_resume\n");
_Static_assert(offsetof(struct context, fs) == 64 && offsetof(struct context, mxcsr) == 72 &&
                       offsetof(struct context, x87) == 76,
               "as the assembly has them");

/* A program with more threads than these gets kernel threads. */
enum { WAITING_THREADS = 32 };
static struct waiting {
	struct context context;
	struct thread *thread;
	pthread_t handle;
	pid_t tid;
	uintptr_t stack_low, stack_high;
	volatile int ready; /* futex */
} waiting[WAITING_THREADS];
static unsigned taken;
/* From a thread's handle to the word that the kernel clears at its end, where joins wait for
 * it, and to its list of robust mutexes. */
static size_t tid_at, robust_at;
static size_t usual_stack; /* size that new threads get without attributes */

/* Returns in copies of the settled process alone. */
static __attribute__((noinline)) void settle_thread(struct waiting *w)
{
	static volatile int never;
	if (context_save(&w->context) == 0) {
		w->tid = (pid_t)syscall(SYS_gettid);
		w->ready = 1;
		futex_wake(&w->ready, 1);
		for (;;) /* the settled process: this kernel thread does not exist in its
		          * copies */
			futex_wait(&never, 0, 0);
	}
}

static void *wait_for_thread(void *argument)
{
	struct waiting *w = argument;
	settle_thread(w);
	/* in the last place, so that the thread's function has the caller in the C library that
	 * it has elsewhere */
	return thread_main(w->thread);
}

/* The only word in the C library's data for the thread that holds its number; 0: not found. */
static size_t find_tid(pthread_t handle, pid_t tid)
{
	enum { FROM = 64, TO = 1024 };
	size_t found = 0;
	for (size_t at = FROM; at < TO; at += sizeof(pid_t))
		if (*(const pid_t *)((uintptr_t)handle + at) == tid) {
			if (found)
				return 0;
			found = at;
		}
	return found;
}

static bool find_robust(void)
{
	void *head = NULL;
	size_t size;
	if (syscall(SYS_get_robust_list, 0, &head, &size) != 0 || !head)
		return false;
	robust_at = (uintptr_t)head - (uintptr_t)pthread_self();
	return robust_at < 4096;
}

static bool prepare(struct waiting *w)
{
	pthread_attr_t attributes;
	void *low;
	size_t size;
	if (REAL(pthread_create)(&w->handle, NULL, wait_for_thread, w) != 0)
		return false;
	while (!w->ready)
		futex_wait(&w->ready, 0, 0);
	if (pthread_getattr_np(w->handle, &attributes) != 0)
		return false;
	bool good = pthread_attr_getstack(&attributes, &low, &size) == 0;
	pthread_attr_destroy(&attributes);
	w->stack_low = (uintptr_t)low;
	w->stack_high = (uintptr_t)low + size;
	size_t at = find_tid(w->handle, w->tid);
	good &= at != 0 && (tid_at == 0 || at == tid_at);
	tid_at = at;
	return good;
}

/* The stack size of new threads, which pthread_setattr_default_np may change. */
static size_t stack_of_new(void)
{
	pthread_attr_t attributes;
	size_t size = 0;
	if (pthread_getattr_default_np(&attributes) != 0)
		return 0;
	pthread_attr_getstacksize(&attributes, &size);
	pthread_attr_destroy(&attributes);
	return size;
}

bool contexts_prepare(void)
{
	enum { FSGSBASE = 2 }; /* bits of AT_HWCAP2: wrfsbase may be used */
	char alone = __libc_single_threaded;
	bool good = getauxval(AT_HWCAP2) & FSGSBASE && find_robust();
	usual_stack = stack_of_new();
	for (unsigned i = 0; i < WAITING_THREADS && good; i++)
		good = prepare(&waiting[i]);
	__libc_single_threaded = alone;
	return good;
}

/* Do all attributes but this one have their defaults? */
static bool usual(const pthread_attr_t *attributes, bool *detached)
{
	pthread_attr_t none, given = *attributes;
	int state = PTHREAD_CREATE_JOINABLE;
	pthread_attr_getdetachstate(attributes, &state);
	*detached = state == PTHREAD_CREATE_DETACHED;
	pthread_attr_setdetachstate(&given, PTHREAD_CREATE_JOINABLE);
	pthread_attr_init(&none);
	bool same = memcmp(&given, &none, sizeof(none)) == 0;
	pthread_attr_destroy(&none);
	return same;
}

int contexts_create(struct thread *child, const pthread_attr_t *attributes)
{
	bool detached = false;
	if (taken == WAITING_THREADS || stack_of_new() != usual_stack ||
	    (attributes && !usual(attributes, &detached)))
		one_thread_refuse();
	struct waiting *w = &waiting[taken++];
	__libc_single_threaded = 0;
	w->thread = child;
	child->sched.context = w->context;
	child->life.handle = w->handle;
	child->life.tid = w->tid;
	child->life.stack_low = w->stack_low;
	child->life.stack_high = w->stack_high;
	return detached ? REAL(pthread_detach)(w->handle) : 0;
}

void contexts_wait(struct thread *t)
{
	while (!t->sched.go) {
		if (!sched.holder || sched.holder == t)
			one_thread_refuse();
		if (context_save(&t->sched.context) == 0)
			context_resume(&sched.holder->sched.context);
	}
}

_Noreturn void contexts_end(void)
{
	pthread_t self = pthread_self();
	if (me != &nobody || !sched.holder || self == rt.threads[0]->life.handle)
		one_thread_refuse();
	*(pid_t *)((uintptr_t)self + tid_at) = 0;
	context_resume(&sched.holder->sched.context);
}

bool contexts_stack(uintptr_t address, size_t bytes)
{
	for (unsigned i = 0; i < WAITING_THREADS; i++)
		if (address <= waiting[i].stack_low &&
		    waiting[i].stack_low - address <= 65536 &&
		    address + bytes == waiting[i].stack_high)
			return true;
	return false;
}

const void *contexts_robust_list(void)
{
	return (const void *)((uintptr_t)pthread_self() + robust_at);
}
