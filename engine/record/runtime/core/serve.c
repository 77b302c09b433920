/*
 * serve.c - the process as it was loaded, from which exploration's runs are forked: exec, the
 * loader and its relocations are paid for once.  See struct log_served.
 *
 * Everything here comes before the runtime has begun: a child goes on as if the loader had
 * just come to begin() (init.c), with the config of its own run.
 */
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rt.h"

static void answer(int control, int32_t pid, int32_t status)
{
	struct log_served served = { pid, status };
	if (syscall(SYS_sendto, control, &served, sizeof(served), MSG_NOSIGNAL, NULL, 0) < 0)
		syscall(SYS_exit_group, 0);
}

/* They would not be in the child: then every run is started anew. */
static bool has_threads(void)
{
	struct stat task;
	return stat("/proc/self/task", &task) == 0 && task.st_nlink != 3;
}

/* The descriptors of one request; how many. */
static int next_request(int control, int received[3])
{
	char byte, room[CMSG_SPACE(3 * sizeof(int))];
	struct iovec data = { &byte, 1 };
	struct msghdr message = { .msg_iov = &data,
		                  .msg_iovlen = 1,
		                  .msg_control = room,
		                  .msg_controllen = sizeof(room) };
	long n;
	while ((n = syscall(SYS_recvmsg, control, &message, 0)) == -EINTR)
		;
	struct cmsghdr *c = n == 1 ? CMSG_FIRSTHDR(&message) : NULL;
	if (!c || c->cmsg_type != SCM_RIGHTS)
		syscall(SYS_exit_group, 0);
	int count = (int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
	memcpy(received, CMSG_DATA(c), count * sizeof(int));
	return count;
}

static void become_run(int fd, int control, const int received[3], int count)
{
	syscall(SYS_dup2, received[0], fd);
	syscall(SYS_dup2, received[1], control);
	if (count == 3) {
		syscall(SYS_dup2, received[2], 1);
		syscall(SYS_dup2, received[2], 2);
	}
	for (int i = 0; i < count; i++)
		syscall(SYS_close, received[i]);
	if (syscall(SYS_pread64, fd, &rt.config, sizeof(rt.config), 0) !=
	    (long)sizeof(rt.config))
		syscall(SYS_exit_group, 125);
}

void serve(int fd)
{
	static const int ours[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP };
	enum { OURS = sizeof(ours) / sizeof(ours[0]) };
	struct sigaction ignore = { .sa_handler = SIG_IGN }, was[OURS];
	int control = rt.config.buffer, received[3], status;
	for (int i = 0; i < OURS; i++)
		REAL(sigaction)(ours[i], &ignore, &was[i]);
	for (;;) {
		int count = next_request(control, received);
		pid_t pid = has_threads() ? -1 : REAL(fork)();
		if (pid == 0) {
			for (int i = 0; i < OURS; i++)
				REAL(sigaction)(ours[i], &was[i], NULL);
			become_run(fd, control, received, count);
			return;
		}
		for (int i = 0; i < count; i++)
			syscall(SYS_close, received[i]);
		answer(control, pid < 0 ? -EAGAIN : pid, 0);
		if (pid < 0)
			continue;
		while (syscall(SYS_wait4, pid, &status, 0, NULL) == -EINTR)
			;
		answer(control, pid, status);
	}
}
