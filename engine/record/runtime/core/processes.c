/*
 * processes.c - other processes that the program starts: forked ones, by whatever call, are not
 * recorded and run freely, on all processors; posix_spawn and exec.
 *
 * A child has a copy of the parent's memory, the scheduler's tables and the log's mapping
 * included: it must neither wait for the token nor write.  The C library's own forks (daemon,
 * forkpty) are noticed by a pthread_atfork handler; the program's handlers of that kind are
 * recorded in the parent.
 */
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <spawn.h>
#include <stdarg.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engine/record/joining.h"
#include "engine/record/runtime/libc/ranges.h"
#include "rt.h"

INTERPOSED(fork, _Fork, vfork, clone, prctl, posix_spawn, posix_spawnp, popen, execve, execvp,
           execv, execvpe, execl, execlp, execle, fexecve);

extern char **environ;

bool rt_other_process(void)
{
	return rt.header && !rt.one_thread && syscall(SYS_getpid) != rt.header->pid;
}

static struct log_header *parent; /* in a child: the parent's */

static void rt_child(void)
{
	if (!rt.on || forked_child())
		return;
	rt.on = false;
	parent = rt.header;
	rt.header = NULL;
	log_close();
	me->gate |= GATE_OFF;
	sched_detach_all();
}

void child_locks(const pthread_mutex_t *m, uintptr_t pc)
{
	enum { SHARED = 128 }; /* flag in glibc's kinds: between processes */
	int owner = m->__data.__owner;
	if (likely(!parent) || !m->__data.__lock || m->__data.__kind & SHARED ||
	    parent->child_pc)
		return;
	for (uint32_t i = 0; i < rt.thread_count && i < MAX_THREADS; i++)
		if (rt.threads[i] && rt.threads[i] != me && rt.threads[i]->life.tid == owner) {
			parent->child_lock = (uintptr_t)m;
			parent->child_of = me->id;
			__atomic_store_n(&parent->child_pc, pc, __ATOMIC_RELEASE);
		}
}

void child_created_thread(void)
{
	if (parent)
		__atomic_fetch_or(&parent->happened, LOG_CHILD_THREADS, __ATOMIC_RELAXED);
}

void child_ended(int status)
{
	enum { NOT_FOUND = 127, NOT_STARTED = 126 }; /* a program, as shells have it */
	if (parent && status != NOT_FOUND && status != NOT_STARTED)
		__atomic_fetch_or(&parent->happened, LOG_CHILD_ENDED, __ATOMIC_RELAXED);
}

void processes_init(void)
{
	pthread_atfork(NULL, NULL, rt_child);
}

static void unpin(void)
{
	if (rt.on && rt.affinity)
		syscall(SYS_sched_setaffinity, 0, sizeof(*rt.affinity), rt.affinity);
}

static void pin_again(void)
{
	if (rt.on && rt.affinity)
		rt_pin();
}

void rt_happened(enum log_happened fact)
{
	if (rt.header && !(rt.header->happened & fact))
		__atomic_fetch_or(&rt.header->happened, fact, __ATOMIC_RELAXED);
}

static uint64_t forked; /* message of the forks */

static void log_forks(struct thread *t, enum log_tag tag, uintptr_t pc)
{
	plan_point(t);
	log_event(t, tag, 0, pc, forked, 0, 1);
}

void child_brought(struct thread *t, const volatile void *at, uintptr_t pc)
{
	if (likely(rt.forks == t->forks) || (at && !memory_outside((const void *)at)))
		return;
	int error = errno;
	t->forks = rt.forks;
	log_forks(t, LOG_RCV, pc);
	errno = error;
}

void child_starts(struct thread *t, uintptr_t pc)
{
	if (!rt.several)
		return;
	if (!forked)
		forked = message_new(t);
	log_forks(t, LOG_SND, pc);
	t->forks = ++rt.forks;
}

/* Called before a call that makes a child with memory of its own. `goes_on`: in the program, as
 * far as one can tell. */
static void before_child(struct thread *t, bool goes_on, uintptr_t pc)
{
	channels_forked(t, pc);
	child_starts(t, pc);
	log_value(t);
	if (unlikely(rt.memory))
		memory_call(t);
	rt_happened(LOG_FORKED);
	if (goes_on)
		forked_prepare(t);
	unpin();
}

/* Tells the explorer the child's number. */
static void note_child(long pid)
{
	struct thread *t = rt.config.flags & LOG_EXPLORE && pid > 0 ? recording() : NULL;
	char text[48];
	if (t == NULL)
		return;
	snprintf(text, sizeof text, "%u %ld", t->id, pid);
	log_note(LOG_CHILD_NOTE, text);
}

/* Called after it, in both processes; errno stays. */
static long after_child(long pid)
{
	int error = errno;
	if (pid == 0) {
		rt_child();
		pin_again(); /* one that is recorded */
	} else {
		forked_parent();
		pin_again();
		note_child(pid);
	}
	errno = error;
	return pid;
}

/* ---- fork and vfork ---- */

pid_t interposed_fork(void)
{
	struct thread *t = recording();
	if (!t)
		return REAL(fork)();
	before_child(t, true, CALLER());
	return (pid_t)after_child(REAL(fork)());
}
EXPORT pid_t __fork(void);
pid_t __fork(void)
{
	return fork();
}
EXPORT pid_t __libc_fork(void);
pid_t __libc_fork(void)
{
	return fork();
}

/* Without the handlers of pthread_atfork. */
pid_t interposed__Fork(void)
{
	struct thread *t = recording();
	if (!t)
		return REAL(_Fork)();
	before_child(t, true, CALLER());
	return (pid_t)after_child(REAL(_Fork)());
}

/* Made as a fork: the child must not write to our memory, and a function that calls the real
 * vfork cannot return twice. */
pid_t interposed_vfork(void)
{
	struct thread *t = recording();
	if (!t)
		return REAL(_Fork)();
	before_child(t, false, CALLER());
	return (pid_t)after_child(REAL(_Fork)());
}
EXPORT pid_t __vfork(void);
pid_t __vfork(void)
{
	return vfork();
}

/* ---- clone ---- */

/* A thread by clone may even use our thread's account, when it has no thread-local storage of
 * its own: so it is told here, and not by its accesses alone. */
static void note_clone(uint64_t flags)
{
	enum { THREAD = CLONE_VM | CLONE_THREAD };
	if (rt.on && (flags & THREAD) == THREAD)
		rt_happened(LOG_UNKNOWN_THREAD);
}

struct clone_start {
	int (*function)(void *);
	void *argument;
};

static int clone_main(void *p)
{
	struct clone_start s = *(struct clone_start *)p;
	rt_child();
	return s.function(s.argument);
}

/*
 * A child that shares our memory and this thread's own: its hooks see the gate of this thread,
 * which is outside until the child has ended or become another program, as with vfork.
 */
static int clone_sharing(struct thread *t, int (*function)(void *), void *stack, int flags,
                         void *argument, void *const more[3])
{
	rt_happened(LOG_FORKED);
	sched_point(t);
	sched_leave(t);
	uint32_t depth = t->depth;
	int pid = REAL(clone)(function, stack, flags | CLONE_VFORK, argument, more[0], more[1],
	                      more[2]);
	int error = errno;
	t->depth = depth; /* the child may have returned from none of its functions */
	sched_rejoin(t);
	errno = error;
	return pid;
}

int interposed_clone(int (*function)(void *), void *stack, int flags, void *argument, ...)
{
	void *more[3];
	va_list list;
	va_start(list, argument);
	for (unsigned i = 0; i < 3; i++)
		more[i] = va_arg(list, void *);
	va_end(list);
	struct thread *t = recording();
	note_clone((unsigned)flags);
	if (!t || flags & (CLONE_THREAD | CLONE_SETTLS) || !function || !stack)
		return REAL(clone)(function, stack, flags, argument, more[0], more[1], more[2]);
	if (flags & CLONE_VM) {
		channels_forked(t, CALLER());
		child_starts(t, CALLER());
		return clone_sharing(t, function, stack, flags, argument, more);
	}
	struct clone_start start = { function, argument };
	before_child(t, false, CALLER());
	return (int)after_child(
	        REAL(clone)(clone_main, stack, flags, &start, more[0], more[1], more[2]));
}

/* ---- seccomp ---- */

/*
 * The program gives up system calls, which the runtime makes as well: in strict mode it may
 * make none, so the recording ends here and the program goes on; the calls that a filter
 * forbids are unknown.
 */
static void restricts(struct thread *t, bool strict)
{
	log_value(t);
	rt_happened(strict ? LOG_STRICT : LOG_FILTERED);
	if (!strict)
		return;
	unpin();
	rt_finish(LOG_EXITED);
	rt.on = false;
	t->gate |= GATE_OFF;
	sched_detach_all();
}

int interposed_prctl(int option, ...)
{
	unsigned long a[4];
	va_list list;
	va_start(list, option);
	for (unsigned i = 0; i < 4; i++)
		a[i] = va_arg(list, unsigned long);
	va_end(list);
	struct thread *t = recording();
	if (t && option != PR_SET_NAME && option != PR_GET_NAME)
		order_of_state("prctl",
		               !(option == PR_GET_DUMPABLE || option == PR_GET_SECCOMP ||
		                 option == PR_GET_CHILD_SUBREAPER ||
		                 option == PR_GET_NO_NEW_PRIVS || option == PR_GET_THP_DISABLE),
		               "prctl");
	if (t && option == PR_SET_SECCOMP)
		restricts(t, a[0] == SECCOMP_MODE_STRICT);
	int result = REAL(prctl)(option, a[0], a[1], a[2], a[3]);
	if (option == PR_GET_NAME && result == 0)
		WRITES((void *)a[0], 16);
	return result;
}

/* ---- by the system call itself ---- */

/*
 * Does the call make a child that continues here, on this stack? One that would share our
 * memory gets a copy of it, as with vfork: in `*number` and `a`, and `*changed` for clone3.
 */
static bool makes_child(long *number, long a[6], struct clone_args *changed)
{
	switch (*number) {
	case SYS_vfork:
		*number = SYS_fork;
		return true;
	case SYS_fork:
		return true;
	case SYS_clone:
		note_clone((uint64_t)a[0]);
		if (a[0] & (CLONE_THREAD | CLONE_SETTLS) || a[1])
			return false;
		a[0] &= ~(long)(CLONE_VM | CLONE_VFORK);
		return true;
	case SYS_clone3: {
		const struct clone_args *args = (const void *)a[0];
		size_t size = (size_t)a[1];
		if (!args || size > sizeof(*changed) || size < CLONE_ARGS_SIZE_VER0 ||
		    args->flags & (CLONE_THREAD | CLONE_SETTLS) || args->stack) {
			note_clone(args && size >= CLONE_ARGS_SIZE_VER0 ? args->flags : 0);
			return false;
		}
		memcpy(changed, args, size);
		changed->flags &= ~(uint64_t)(CLONE_VM | CLONE_VFORK);
		a[0] = (long)changed;
		return true;
	}
	default:
		return false;
	}
}

bool process_syscall(struct thread *t, long number, long a[6], long *result)
{
	struct clone_args changed;
	if (number == SYS_seccomp && a[0] <= SECCOMP_SET_MODE_FILTER)
		restricts(t, a[0] == SECCOMP_SET_MODE_STRICT);
	if (!makes_child(&number, a, &changed))
		return false;
	before_child(t, false, CALLER());
	*result = raw_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	after_child(*result);
	return true;
}

/* ---- other programs ---- */

/* Another program starts with this environment: without the variable it is not recorded where
 * processes are. */
static void note_environment(char *const *env)
{
	static const char wanted[] = JOINING_ENVIRONMENT "=";
	struct log_header *h = rt.header ? rt.header : parent;
	if (!rt.config.recorder || !h)
		return;
	for (; env && *env; env++)
		if (strncmp(*env, wanted, sizeof(wanted) - 1) == 0)
			return;
	__atomic_fetch_or(&h->happened, LOG_CLEARED, __ATOMIC_RELAXED);
}

/* A call that starts another program, which must not be pinned to one processor. */
#define UNPINNED(expression) \
	({ \
		unpin(); \
		int result_ = (expression); \
		int error_ = errno; \
		pin_again(); \
		errno = error_; \
		result_; \
	})
/* `all`: descriptors that are closed by exec may be kept open for it. */
static void before_program(bool all, char *const *env, uintptr_t pc)
{
	struct thread *t = recording();
	note_environment(env);
	if (!t)
		return;
	order_matters("a child process, and its number");
	outside_spawns(t, all, pc);
	child_starts(t, pc);
}

/* Stores the child's number, if one was made. */
static int spawned(pid_t *pid, pid_t made, int result)
{
	if (result != 0)
		return result;
	note_child(made);
	if (pid)
		*pid = made;
	return 0;
}

int interposed_posix_spawn(pid_t *restrict pid, const char *restrict path,
                           const posix_spawn_file_actions_t *actions,
                           const posix_spawnattr_t *restrict attributes,
                           char *const argv[restrict], char *const envp[restrict])
{
	pid_t made = 0;
	before_program(actions != NULL, envp, CALLER());
	int result = UNPINNED(REAL(posix_spawn)(&made, path, actions, attributes, argv, envp));
	return spawned(pid, made, result);
}
int interposed_posix_spawnp(pid_t *restrict pid, const char *restrict path,
                            const posix_spawn_file_actions_t *actions,
                            const posix_spawnattr_t *restrict attributes,
                            char *const argv[restrict], char *const envp[restrict])
{
	pid_t made = 0;
	before_program(actions != NULL, envp, CALLER());
	int result = UNPINNED(REAL(posix_spawnp)(&made, path, actions, attributes, argv, envp));
	return spawned(pid, made, result);
}

FILE *interposed_popen(const char *command, const char *mode)
{
	before_program(false, environ, CALLER());
	unpin();
	FILE *f = REAL(popen)(command, mode);
	int error = errno;
	pin_again();
	errno = error;
	return f;
}

/* exec: the log ends here, unless it fails. */
static void before_exec(char *const *env)
{
	recording(); /* the last write has its value */
	note_environment(env);
	if (rt.on && rt.header && rt.header->status == LOG_RUNNING && !rt_other_process()) {
		rt.header->status = LOG_EXECED;
		rt.header->unwanted = forked_to_exec();
	}
}
static int after_exec(int status)
{
	if (rt.on && rt.header && rt.header->status == LOG_EXECED)
		rt.header->status = LOG_RUNNING;
	if (rt.on && rt.header)
		rt.header->unwanted = 0;
	return status;
}
int interposed_execve(const char *path, char *const argv[], char *const envp[])
{
	before_exec(envp);
	return after_exec(UNPINNED(REAL(execve)(path, argv, envp)));
}
int interposed_execvp(const char *file, char *const argv[])
{
	before_exec(environ);
	return after_exec(UNPINNED(REAL(execvp)(file, argv)));
}
int interposed_execv(const char *path, char *const argv[])
{
	before_exec(environ);
	return after_exec(UNPINNED(REAL(execv)(path, argv)));
}
int interposed_execvpe(const char *file, char *const argv[], char *const envp[])
{
	before_exec(envp);
	return after_exec(UNPINNED(REAL(execvpe)(file, argv, envp)));
}
int interposed_fexecve(int fd, char *const argv[], char *const envp[])
{
	before_exec(envp);
	return after_exec(UNPINNED(REAL(fexecve)(fd, argv, envp)));
}

/* Arguments in a list that ends with NULL, as an array on the caller's stack: `first`, then the
 * variable ones; `list` is left behind them. */
#define ARGUMENTS(list, first) \
	({ \
		va_list from_; \
		size_t count_ = 1; \
		va_copy(from_, list); \
		for (const char *a_ = first; a_; count_++) \
			a_ = va_arg(from_, const char *); \
		va_end(from_); \
		char **array_ = __builtin_alloca(count_ * sizeof(*array_)); \
		array_[0] = (char *)first; \
		for (size_t i_ = 1; i_ < count_; i_++) \
			array_[i_] = va_arg(list, char *); \
		array_; \
	})
int interposed_execl(const char *path, const char *first, ...)
{
	va_list list;
	va_start(list, first);
	char **argv = ARGUMENTS(list, first);
	va_end(list);
	before_exec(environ);
	return after_exec(UNPINNED(REAL(execv)(path, argv)));
}
int interposed_execlp(const char *file, const char *first, ...)
{
	va_list list;
	va_start(list, first);
	char **argv = ARGUMENTS(list, first);
	va_end(list);
	before_exec(environ);
	return after_exec(UNPINNED(REAL(execvp)(file, argv)));
}
int interposed_execle(const char *path, const char *first, ...)
{
	va_list list;
	va_start(list, first);
	char **argv = ARGUMENTS(list, first), **env = va_arg(list, char **);
	va_end(list);
	before_exec(env);
	return after_exec(UNPINNED(REAL(execve)(path, argv, env)));
}
