/*
 * one_thread.c - the system calls of a run whose threads are contexts of one kernel thread:
 * each traps (Linux's Syscall User Dispatch), and is made, changed or refused here.
 */
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <ucontext.h>

#include "engine/record/runtime/outside/handlers_private.h"
#include "engine/record/runtime/core/contexts.h"
#include "engine/record/runtime/sched/sched_private.h"
#include "one_thread.h"

/* prctl's PR_SET_SYSCALL_USER_DISPATCH and its arguments, as of Linux 5.11. */
enum { DISPATCH = 59, OFF = 0, ON = 1 };
enum { ALLOW = 0, BLOCK = 1 };
/* A system call number that does not exist, by which a run ends in the handler, on the
 * handler's stack. */
enum { END_BY_SIGNAL = 0x48444c };
/* After MOST_SHORT consecutive copies with fewer runs than FEW_RUNS, memory is no longer put
 * back: each copy would pay for the traps and end all the same. */
enum { MOST_SHORT = 8, FEW_RUNS = 4 };
enum {
	FILES = 256,
	MAPPINGS = 64
}; /* bounds for one run; a copy that exceeds them ends
    * with it */

/* The return from a handler is a system call, too, which must not trap. */
extern const char one_thread_return[] __attribute__((visibility("hidden")));
extern const char one_thread_return_end[] __attribute__((visibility("hidden")));
__asm__(".text\n"
        "	nop\n" /* an unwinder looks at the byte before */
        "one_thread_return:\n"
        "	mov $15, %eax\n"
        "	syscall\n"
        "	nop\n"
        "one_thread_return_end:\n");

/* As the kernel has it. */
struct action {
	void (*handler)(int number, siginfo_t *info, void *context);
	unsigned long flags;
	const void *restorer;
	uint64_t mask;
};

struct mapping {
	uintptr_t low, high;
};
/* Shared by the settled process and its copies, and not put back between runs. */
static struct shared {
	char selector;        /* BLOCK: system calls trap */
	unsigned runs;        /* of this copy */
	unsigned short_lives; /* consecutive copies that made only a few runs */
	bool ends;            /* a change of this run cannot be undone: the copy ends with it */
	/* Made by the run, and undone at its end. */
	bool opened[FILES]; /* descriptors */
	struct mapping made[MAPPINGS];
	unsigned made_count;
	uintptr_t end_of_heap, first_end_of_heap;
} * shared;
static struct context start;   /* of each run */
static struct action on_fault; /* the action for SIGSEGV in runs of kernel threads */
static struct rewind_stack handlers_stack;
static int control;

static long set_action(int number, const struct action *new, struct action *old)
{
	return raw_syscall(SYS_rt_sigaction, number, (long)new, (long)old, 8, 0, 0);
}

_Noreturn static void leave_process(int status)
{
	for (;;)
		raw_syscall(SYS_exit_group, status, 0, 0, 0, 0, 0);
}

_Noreturn void one_thread_refuse(void)
{
	shared->selector = ALLOW;
	__atomic_fetch_or(&rt.header->happened, LOG_REFUSED, __ATOMIC_RELAXED);
	leave_process(0);
}

bool one_thread_trap(bool trap)
{
	bool before = shared->selector == BLOCK;
	shared->selector = trap ? BLOCK : ALLOW;
	return before;
}

/* ---- the end of a run ---- */

static void answer(int32_t status)
{
	struct log_served served = { 0, status };
	if (syscall(SYS_sendto, control, &served, sizeof(served), MSG_NOSIGNAL, NULL, 0) < 0)
		leave_process(0);
}

static void await_request(void)
{
	char byte;
	long n;
	while ((n = syscall(SYS_recvfrom, control, &byte, 1, 0, NULL, NULL)) == -EINTR)
		;
	if (n != 1)
		leave_process(0);
}

/* Ends the process, with a status as of waitpid. */
_Noreturn static void end_by(int status)
{
	struct action usual = { 0 };
	if (WIFEXITED(status))
		leave_process(WEXITSTATUS(status));
	set_action(WTERMSIG(status), &usual, NULL);
	for (;;)
		syscall(SYS_tgkill, syscall(SYS_getpid), syscall(SYS_gettid), WTERMSIG(status));
}

static void undo(void)
{
	for (int fd = 0; fd < FILES; fd++)
		if (shared->opened[fd]) {
			shared->opened[fd] = false;
			raw_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
		}
	for (unsigned i = 0; i < shared->made_count; i++)
		raw_syscall(SYS_munmap, (long)shared->made[i].low,
		            (long)(shared->made[i].high - shared->made[i].low), 0, 0, 0, 0);
	shared->made_count = 0;
	if (shared->end_of_heap != shared->first_end_of_heap)
		shared->end_of_heap = (uintptr_t)raw_syscall(
		        SYS_brk, (long)shared->first_end_of_heap, 0, 0, 0, 0, 0);
}

/* Ends the run, in the handler, on its own stack. */
_Noreturn static void end_run(int status)
{
	shared->runs++;
	if (shared->ends || !rewind_goes_on()) {
		shared->short_lives = shared->runs < FEW_RUNS ? shared->short_lives + 1 : 0;
		end_by(status);
	}
	answer(status);
	undo();
	rewind_back();
	await_request();
	context_resume(&start);
}

_Noreturn void one_thread_die(int number)
{
	shared->selector = BLOCK;
	for (;;)
		raw_syscall(END_BY_SIGNAL, number, 0, 0, 0, 0, 0);
}

/* ---- system calls ---- */

struct call {
	long number, a[6];
};

static long make(const struct call *c)
{
	return raw_syscall(c->number, c->a[0], c->a[1], c->a[2], c->a[3], c->a[4], c->a[5]);
}

/* Makes a call whose effect on the process stays, so that the copy ends with the run. */
static long make_and_end(const struct call *c)
{
	shared->ends = true;
	rewind_stop();
	return make(c);
}

/* Makes a call that writes at most `bytes` to `to`. */
static long make_into(const struct call *c, long to, size_t bytes)
{
	if (to)
		rewind_touch((void *)to, bytes);
	return make(c);
}

/* A regular file, or the one that is always empty: no call on it waits. */
static bool never_waits(const struct stat *s)
{
	enum { MEMORY = 1, EMPTY = 3 }; /* of the device's number (Linux's devices.txt) */
	return S_ISREG(s->st_mode) ||
	       (S_ISCHR(s->st_mode) && s->st_rdev == makedev(MEMORY, EMPTY));
}

static bool is_file(int fd)
{
	struct stat s;
	return raw_syscall(SYS_newfstatat, fd, (long)"", (long)&s, AT_EMPTY_PATH, 0, 0) == 0 &&
	       never_waits(&s);
}

static bool begins(const char *path, const char *with)
{
	return strncmp(path, with, strlen(with)) == 0;
}

/* May the file be opened: not a file of the kernel's about the process, nor one at which
 * opening could wait? freopen(NULL, ...) opens the file of a descriptor by its name in /proc.
 */
static bool may_open(const char *path, long flags)
{
	struct stat s;
	long status = raw_syscall(SYS_newfstatat, AT_FDCWD, (long)path, (long)&s, 0, 0, 0);
	bool of_kernel = begins(path, "/proc") || begins(path, "/dev");
	bool usual = status == -ENOENT || (status == 0 && S_ISREG(s.st_mode));
	if (begins(path, "/proc/self/fd/") || strcmp(path, "/dev/null") == 0) {
		of_kernel = status != 0;
		usual = status == 0 && never_waits(&s);
	}
	return usual && path[0] != '\0' && !of_kernel && !(flags & (O_PATH | O_ASYNC));
}

static long open_file(const struct call *c, const char *path, long flags)
{
	if (!may_open(path, flags))
		one_thread_refuse();
	long fd = make(c);
	if (fd >= FILES)
		shared->ends = true;
	else if (fd >= 0)
		shared->opened[fd] = true;
	return fd;
}

static bool is_opened(long fd)
{
	return fd >= 0 && fd < FILES && shared->opened[fd];
}

/* Makes a call on a file, whose position or content it changes. */
static long use_file(const struct call *c)
{
	bool reads = c->number == SYS_read || c->number == SYS_pread64;
	if (!is_file((int)c->a[0]))
		one_thread_refuse();
	if (!is_opened(c->a[0]))
		return make_and_end(c);
	return reads ? make_into(c, c->a[1], (size_t)c->a[2]) : make(c);
}

static long duplicate_file(const struct call *c)
{
	long to = c->a[1];
	bool fresh = raw_syscall(SYS_fcntl, to, F_GETFD, 0, 0, 0, 0) < 0 || is_opened(to);
	if (!is_opened(c->a[0]) || to < 0 || to >= FILES || !fresh)
		return make_and_end(c);
	long fd = make(c);
	if (fd >= 0)
		shared->opened[fd] = true;
	return fd;
}

static long close_file(const struct call *c)
{
	if (!is_opened(c->a[0]))
		return make_and_end(c);
	shared->opened[c->a[0]] = false;
	return make(c);
}

/* Takes or gives back a lock of a file that the run has opened; waiting for it could be for
 * another thread of the run. */
static long lock_file(const struct call *c)
{
	struct call at_once = *c;
	at_once.a[1] |= LOCK_NB;
	long result = is_opened(c->a[0]) ? make(&at_once) : -EWOULDBLOCK;
	if (result == -EWOULDBLOCK && !(is_opened(c->a[0]) && c->a[1] & LOCK_NB))
		one_thread_refuse();
	return result;
}

/* Asks which of the descriptors are ready. One is at once, as all are files. */
static long ask_files(const struct call *c)
{
	struct pollfd *fds = (struct pollfd *)c->a[0];
	bool ready = false;
	for (long i = 0; i < c->a[1]; i++) {
		if (!is_file(fds[i].fd))
			one_thread_refuse();
		ready |= (fds[i].events & (POLLIN | POLLOUT)) != 0;
	}
	if (!ready)
		one_thread_refuse(); /* it may sleep */
	return make_into(c, c->a[0], (size_t)c->a[1] * sizeof(*fds));
}

/* The calls on files that a run in one thread may make. */
static long call_on_file(const struct call *c)
{
	switch (c->number) {
	case SYS_open:
		return open_file(c, (const char *)c->a[0], c->a[1]);
	case SYS_openat:
		if ((int)c->a[0] == AT_FDCWD)
			return open_file(c, (const char *)c->a[1], c->a[2]);
		break;
	case SYS_dup2:
	case SYS_dup3:
		return duplicate_file(c);
	case SYS_close:
		return close_file(c);
	case SYS_read:
	case SYS_pread64:
	case SYS_pwrite64:
	case SYS_ftruncate:
	case SYS_lseek:
		return use_file(c);
	case SYS_fstat:
	case SYS_stat:
	case SYS_lstat:
		return make_into(c, c->a[1], sizeof(struct stat));
	case SYS_newfstatat:
		return make_into(c, c->a[2], sizeof(struct stat));
	case SYS_access:
	case SYS_unlink:
	case SYS_rename:
	case SYS_mkdir:
	case SYS_rmdir:
		return make(c);
	case SYS_flock:
		return lock_file(c);
	case SYS_ioctl: /* is it a terminal? No */
		if (c->a[1] == TCGETS && is_file((int)c->a[0]))
			return make(c);
		break;
	case SYS_poll:
	case SYS_ppoll:
		return ask_files(c);
	case SYS_getsockopt: /* no socket */
		if (is_file((int)c->a[0]))
			return make(c);
		break;
	case SYS_fcntl:
		if (c->a[1] == F_GETFD || c->a[1] == F_GETFL ||
		    (c->a[1] == F_SETFD && is_opened(c->a[0])))
			return make(c);
		break;
	default:
		break;
	}
	one_thread_refuse();
}

/* ---- memory ---- */

static bool is_made(uintptr_t low, size_t bytes)
{
	for (unsigned i = 0; i < shared->made_count; i++)
		if (low >= shared->made[i].low && bytes <= shared->made[i].high - low &&
		    low < shared->made[i].high)
			return true;
	return false;
}

static long map(const struct call *c, size_t bytes)
{
	enum { PAGE = 4096 };
	long p = make(c);
	if (p < 0 && p > -PAGE)
		return p;
	if (shared->made_count == MAPPINGS)
		shared->ends = true;
	else
		shared->made[shared->made_count++] =
		        (struct mapping){ (uintptr_t)p, ((uintptr_t)p + bytes + PAGE - 1) &
			                                        ~(uintptr_t)(PAGE - 1) };
	return p;
}

static long change_memory(const struct call *c)
{
	uintptr_t low = (uintptr_t)c->a[0];
	size_t bytes = (size_t)c->a[1];
	switch (c->number) {
	case SYS_mmap:
		return c->a[3] & (MAP_FIXED | MAP_FIXED_NOREPLACE) ? make_and_end(c)
		                                                   : map(c, bytes);
	case SYS_mremap:
		return !is_made(low, bytes) || c->a[3] & MREMAP_FIXED ? make_and_end(c)
		                                                      : map(c, (size_t)c->a[2]);
	case SYS_munmap: /* the stack of a joined thread, which no other uses */
		if (contexts_stack(low, bytes))
			return 0;
		break;
	default:
		break;
	}
	return is_made(low, bytes) ? make(c) : make_and_end(c);
}

static long move_end_of_heap(const struct call *c)
{
	if (c->a[0] != 0 && (uintptr_t)c->a[0] < shared->first_end_of_heap)
		return make_and_end(c);
	long end = make(c);
	shared->end_of_heap = (uintptr_t)end;
	return end;
}

/* ---- each ---- */

static bool does_output(const struct call *c)
{
	struct stat s;
	return (c->a[0] == 1 || c->a[0] == 2) &&
	       raw_syscall(SYS_newfstatat, c->a[0], (long)"", (long)&s, AT_EMPTY_PATH, 0, 0) ==
	               0 &&
	       (S_ISREG(s.st_mode) || S_ISCHR(s.st_mode));
}

static long futex_call(const struct call *c)
{
	enum { COMMAND = 127 };
	long command = c->a[1] & COMMAND;
	if (command == FUTEX_WAKE || command == FUTEX_WAKE_BITSET)
		return 0; /* no thread sleeps in the kernel */
	if ((command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET) &&
	    __atomic_load_n((const uint32_t *)c->a[0], __ATOMIC_SEQ_CST) != (uint32_t)c->a[2])
		return -EAGAIN;
	one_thread_refuse();
}

/* Has the calling thread ended, and the C library gives back its resources? */
static bool at_end(void)
{
	return me == &nobody;
}

static long make_call(const struct call *c)
{
	switch (c->number) {
	case END_BY_SIGNAL:
		end_run((int)c->a[0]);
	case SYS_exit_group:
		end_run((int)(c->a[0] & 0xff) << 8);
	case SYS_exit:
		shared->selector = BLOCK; /* another thread's code continues */
		contexts_end();
	case SYS_write:
	case SYS_writev:
		return does_output(c) ? make(c) : use_file(c);
	case SYS_futex:
		return futex_call(c);
	case SYS_sched_yield:
		return 0;
	case SYS_getpid:
	case SYS_getppid:
	case SYS_getuid:
	case SYS_geteuid:
	case SYS_getgid:
	case SYS_getegid:
		return raw_syscall(c->number, 0, 0, 0, 0, 0, 0);
	case SYS_rt_sigprocmask: /* a thread at its end has no handlers, and so no mask */
		if (at_end() && c->a[0] == SIG_BLOCK && c->a[2] == 0)
			return 0;
		break;
	case SYS_madvise: /* the same: its stack */
		return at_end() && c->a[2] == MADV_DONTNEED ? 0 : make_and_end(c);
	case SYS_mmap:
	case SYS_mremap:
	case SYS_munmap:
	case SYS_mprotect:
		return change_memory(c);
	case SYS_brk:
		return move_end_of_heap(c);
	case SYS_getrandom:
		return make_into(c, c->a[0], (size_t)c->a[1]);
	case SYS_clock_gettime:
	case SYS_clock_getres:
		return make_into(c, c->a[1], sizeof(struct timespec));
	case SYS_sysinfo:
		return make_into(c, c->a[0], sizeof(struct sysinfo));
	default:
		return call_on_file(c);
	}
	one_thread_refuse();
}

static void call_comes(int number, siginfo_t *info, void *context)
{
	(void)number, (void)info;
	greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
	struct call c = { r[REG_RAX],
		          { r[REG_RDI], r[REG_RSI], r[REG_RDX], r[REG_R10], r[REG_R8],
		            r[REG_R9] } };
	shared->selector = ALLOW;
	r[REG_RAX] = make_call(&c);
	shared->selector = BLOCK;
}

/* Handles SIGSEGV: the first write to a page, or a crash. */
static void fault_comes(int number, siginfo_t *info, void *context)
{
	(void)number, (void)context;
	char before = shared->selector;
	shared->selector = ALLOW;
	if (info->si_code == SEGV_ACCERR && rewind_write((uintptr_t)info->si_addr)) {
		shared->selector = before;
		return;
	}
	set_action(SIGSEGV, &on_fault, NULL); /* it comes again */
}

/* ---- the beginning ---- */

/* Does the program have handlers? One would run in a context that is not its thread's. */
static bool has_handlers(void)
{
	for (int i = 1; i < 32; i++) {
		struct sigaction now;
		if (i == SIGKILL || i == SIGSTOP || REAL(sigaction)(i, NULL, &now) != 0)
			continue;
		if (now.sa_handler != SIG_DFL && now.sa_handler != SIG_IGN &&
		    !fault_is_ours(&now))
			return true;
	}
	return false;
}

/* Is processor time limited? The limit would be one for all runs together. */
static bool has_limit(void)
{
	struct rlimit limit;
	return getrlimit(RLIMIT_CPU, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY;
}

static bool can_dispatch(void)
{
	long on = raw_syscall(SYS_prctl, DISPATCH, ON, (long)one_thread_return,
	                      one_thread_return_end - one_thread_return,
	                      (long)&shared->selector, 0);
	return on == 0 && raw_syscall(SYS_prctl, DISPATCH, OFF, 0, 0, 0, 0) == 0;
}

bool one_thread_prepare(int at)
{
	control = at;
	long p = raw_syscall(SYS_mmap, 0, 4096, PROT_READ | PROT_WRITE,
	                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	shared = p < 0 ? NULL : (struct shared *)p;
	_Static_assert(sizeof(*shared) <= 4096, "one page");
	return shared && !has_handlers() && !has_limit() && can_dispatch() &&
	       rewind_prepare(&handlers_stack) && contexts_prepare();
}

/* Installs the runtime's handlers, on a stack of their own. */
static void take_signals(void)
{
	enum { RESTORER = 0x04000000 };
	struct action calls = { call_comes, SA_SIGINFO | SA_NODEFER | SA_ONSTACK | RESTORER,
		                one_thread_return, 0 };
	struct action faults = calls;
	stack_t stack = { .ss_sp = handlers_stack.low, .ss_size = handlers_stack.bytes };
	struct action traps = calls;
	faults.handler = fault_comes;
	traps.handler = endless_trap;
	traps.flags |= SA_RESTART;
	if (raw_syscall(SYS_sigaltstack, (long)&stack, 0, 0, 0, 0, 0) != 0 ||
	    set_action(SIGSYS, &calls, NULL) != 0 ||
	    set_action(SIGSEGV, &faults, &on_fault) != 0 ||
	    set_action(SIGTRAP, &traps, NULL) != 0 ||
	    raw_syscall(SYS_prctl, DISPATCH, ON, (long)one_thread_return,
	                one_thread_return_end - one_thread_return, (long)&shared->selector,
	                0) != 0)
		one_thread_refuse();
}

void one_thread_begin(void)
{
	shared->selector = ALLOW;
	shared->runs = 0;
	shared->ends = false;
	memset(shared->opened, 0, sizeof(shared->opened));
	shared->made_count = 0;
	shared->first_end_of_heap = shared->end_of_heap =
	        (uintptr_t)raw_syscall(SYS_brk, 0, 0, 0, 0, 0, 0);
	rt.one_thread = true;
	raw_syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0, 0);
	take_signals();
	if (context_save(&start) == 0 && shared->short_lives < MOST_SHORT && !rewind_begin())
		rewind_stop();
	shared->selector = ALLOW;
}
