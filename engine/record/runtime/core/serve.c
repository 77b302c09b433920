/*
 * serve.c - the process from which exploration's runs are forked.  See struct log_served.
 *
 * At first it is the program as it was loaded: exec, the loader and its relocations are paid
 * for once.  Everything there comes before the runtime has begun: a child goes on as if the
 * loader had just come to begin() (init.c), with the config of its own run.
 *
 * One of these children (LOG_SETTLE) goes on to the beginning of main and becomes the server of
 * all further runs, so that the beginnings of the runtime and of the libraries are paid for
 * once, too.  Not where its children would differ from runs of their own: if the program has
 * recorded an event by then, has threads or timers, or has opened files or memory that its
 * copies would share.  Then it stops before the program's constructors (LOG_SETTLE_EARLY), and
 * these are a part of each run.
 */
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "one_thread.h"
#include "rt.h"

static void answer(int control, int32_t pid, int32_t status)
{
	struct log_served served = { pid, status };
	if (syscall(SYS_sendto, control, &served, sizeof(served), MSG_NOSIGNAL, NULL, 0) < 0)
		syscall(SYS_exit_group, 0);
}

/* Does the process have other threads? They would not exist in the child: then every run is
 * started anew. */
static bool has_threads(void)
{
	struct stat task;
	return stat("/proc/self/task", &task) == 0 && task.st_nlink != 3;
}

/* Receives the descriptors of one request; returns their number. */
static int next_request(int control, int received[LOG_PASSED])
{
	char byte, room[CMSG_SPACE(LOG_PASSED * sizeof(int))];
	struct iovec data = { &byte, 1 };
	struct msghdr message = { .msg_iov = &data,
		                  .msg_iovlen = 1,
		                  .msg_control = room,
		                  .msg_controllen = sizeof(room) };
	long n;
	while ((n = syscall(SYS_recvmsg, control, &message, 0)) == -EINTR)
		;
	if (n != 1)
		syscall(SYS_exit_group, 0);
	struct cmsghdr *c = CMSG_FIRSTHDR(&message);
	if (!c || c->cmsg_type != SCM_RIGHTS)
		return 0;
	int count = (int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
	memcpy(received, CMSG_DATA(c), count * sizeof(int));
	return count;
}

/* ---- at the beginning of main ---- */

enum { LOWEST_SETTLED = 700, WATCHED = 256 };
static int settled_control = -1, settled_room = -1;
static bool has_settled;       /* this process, or the one that it is a copy of */
static bool was_open[WATCHED]; /* descriptors that were open when the run began */

static bool is_open(int fd)
{
	return syscall(SYS_fcntl, fd, F_GETFD) >= 0;
}

/* Number of lines of /proc/self/maps with shared memory. */
static unsigned shared_mappings(void)
{
	char text[4096];
	unsigned count = 0, column = 0, word = 0;
	long n, fd = syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
	while (fd >= 0 && (n = syscall(SYS_read, fd, text, sizeof(text))) > 0)
		for (long i = 0; i < n; i++) {
			column = text[i] == '\n' ? 0 : column + 1;
			word = column == 0 ? 0 : word + (text[i] == ' ');
			count += word == 1 && text[i] == 's';
			word += word == 1 && text[i] == 's';
		}
	if (fd >= 0)
		syscall(SYS_close, fd);
	return fd >= 0 ? count : UINT_MAX;
}

static bool may_settle(void)
{
	enum { OURS = 2 }; /* the log's header and its chunk */
	if (me->ordinal != 0 || me->gate != 0 || rt.thread_count != 1 || rt.timers ||
	    rt.async_handlers || rt.full || rt.waiting || has_threads())
		return false;
	for (int fd = 0; fd < WATCHED; fd++)
		if (is_open(fd) != was_open[fd])
			return false;
	return shared_mappings() == OURS;
}

/* A copy of a descriptor under a number that the program does not use. */
static int far_copy(int fd)
{
	return (int)syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, LOWEST_SETTLED);
}

static void begin_to_settle(const int received[LOG_PASSED], int fd, int buffer)
{
	settled_control = far_copy(received[2]);
	settled_room = far_copy(received[3]);
	syscall(SYS_dup2, received[4], 1);
	syscall(SYS_dup2, received[4], 2);
	for (int i = 0; i < LOG_PASSED; i++)
		syscall(SYS_close, received[i]);
	for (int i = 0; i < WATCHED; i++)
		was_open[i] = i != fd && i != buffer && is_open(i);
}

/* Turns the copy of a settled process into a run, or into a series of them. */
static void become_later_run(bool one_thread)
{
	if (one_thread)
		one_thread_begin();
	else
		syscall(SYS_close, settled_control);
	if (!begin_again(settled_room))
		syscall(SYS_exit_group, 125);
	if (one_thread)
		one_thread_trap(true);
	else
		syscall(SYS_close, settled_room);
}

/* ---- as it was loaded ---- */

static void become_run(int fd, int control, const int received[LOG_PASSED], int count)
{
	syscall(SYS_dup2, received[0], fd);
	syscall(SYS_dup2, received[1], control);
	if (syscall(SYS_pread64, fd, &rt.config, sizeof(rt.config), 0) !=
	    (long)sizeof(rt.config))
		syscall(SYS_exit_group, 125);
	if (count == LOG_PASSED && rt.config.flags & LOG_SETTLE) {
		begin_to_settle(received, fd, control);
		return;
	}
	if (count == 3) {
		syscall(SYS_dup2, received[2], 1);
		syscall(SYS_dup2, received[2], 2);
	}
	for (int i = 0; i < count; i++)
		syscall(SYS_close, received[i]);
}

/* Forks a child for each request; returns in the child, with the descriptors received and
 * their number. `settled`: the process has no threads, and a child's beginning is not
 * reported. */
static int serve_runs(int control, bool settled, int received[LOG_PASSED])
{
	static const int ours[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP };
	enum { OURS = sizeof(ours) / sizeof(ours[0]) };
	struct sigaction ignore = { .sa_handler = SIG_IGN }, was[OURS];
	int status;
	for (int i = 0; i < OURS; i++)
		REAL(sigaction)(ours[i], &ignore, &was[i]);
	for (;;) {
		int count = next_request(control, received);
		/* pthread_atfork's handlers are for the program's own children */
		pid_t pid = !settled && has_threads() ? -1 : REAL(_Fork)();
		if (pid == 0) {
			for (int i = 0; i < OURS; i++)
				REAL(sigaction)(ours[i], &was[i], NULL);
			return count;
		}
		for (int i = 0; i < count; i++)
			syscall(SYS_close, received[i]);
		if (!settled || pid < 0)
			answer(control, pid < 0 ? -EAGAIN : pid, 0);
		if (pid < 0)
			continue;
		while (syscall(SYS_wait4, pid, &status, 0, NULL) == -EINTR)
			;
		answer(control, pid, status);
	}
}

void serve(int fd)
{
	int control = rt.config.buffer, received[LOG_PASSED];
	int count = serve_runs(control, false, received);
	become_run(fd, control, received, count);
}

static int (*program_main)(int, char **, char **);

static void settle(void)
{
	int received[LOG_PASSED];
	long filled = may_settle() ? log_settle(settled_room) : -1;
	bool one_thread = filled >= 0 && rt.config.flags & LOG_ONE_THREAD;
	if (one_thread && !INSIDE(me, one_thread_prepare(settled_control)))
		filled = -1;
	answer(settled_control, filled >= 0 ? (int)syscall(SYS_getpid) : -EBUSY, (int)filled);
	if (filled < 0)
		syscall(SYS_exit_group, 0);
	has_settled = true;
	rt_look_up();
	rt_reserve();
	serve_runs(settled_control, true, received);
	become_later_run(one_thread);
}

void serve_early(void)
{
	if (settled_control >= 0 && rt.config.flags & LOG_SETTLE_EARLY)
		settle();
}

/* Fills the stack where main's first frames are, as start_above_clear (sync/threads.c) does a
 * thread's: saves nothing, and calls as its last step. */
static __attribute__((noinline)) int main_above_fill(int argc, char **argv, char **environment)
{
	uint64_t bytes = log_fill_byte(rt.config.fill, 0) * UINT64_C(0x0101010101010101);
	volatile uint64_t *stack;
	__asm__("mov %%rsp, %0" : "=r"(stack));
	for (unsigned i = 1; i <= LOG_STACK_FILLED / sizeof bytes; i++)
		*(stack - i) = bytes;
	return program_main(argc, argv, environment);
}

static int explored_main(int argc, char **argv, char **environment)
{
	if (settled_control >= 0 && !has_settled)
		settle();
	return rt.config.fill /* with no frame of ours */
	               ? main_above_fill(argc, argv, environment)
	               : program_main(argc, argv, environment);
}

typedef int start_main(int (*main)(int, char **, char **), int argc, char **argv,
                       void (*init)(void), void (*fini)(void), void (*loader_fini)(void),
                       void *stack_end);
EXPORT start_main __libc_start_main;

int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv,
                      void (*init)(void), void (*fini)(void), void (*loader_fini)(void),
                      void *stack_end)
{
	start_main *real = (start_main *)rt_next("__libc_start_main");
	bool settles = settled_control >= 0 && !has_settled;
	program_main = main;
	clock_hold((const void *)main);
	return real(settles || rt.config.flags & LOG_EXPLORE ? explored_main : main, argc, argv,
	            init, fini, loader_fini, stack_end);
}
