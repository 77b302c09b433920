/*
 * sched_outside.c - controlled mode: for which descriptors a thread waits that is in a blocking
 * call without the token.  The kernel says which call it sleeps in, and the call's arguments.
 */
#include <poll.h>
#include <string.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "sched_private.h"

enum { ARGUMENTS = 6 };

/* The system call that the thread sleeps in, proc(5)'s "syscall"; -1: none. */
static long call_of(pid_t tid, uint64_t a[ARGUMENTS])
{
	char path[64] = "/proc/self/task/", text[256];
	sched_append_number(path, sizeof(path), (uint64_t)tid, 10);
	sched_append(path, sizeof(path), "/syscall");
	if (sched_read_file(path, text, sizeof(text)) <= 0 || text[0] < '0' || text[0] > '9')
		return -1;
	long number = 0;
	const char *p = text;
	for (; *p >= '0' && *p <= '9'; p++)
		number = number * 10 + (*p - '0');
	for (unsigned i = 0; i < ARGUMENTS; i++) {
		if (strncmp(p, " 0x", 3) != 0)
			return -1;
		a[i] = 0;
		for (p += 3; *p && *p != ' '; p++)
			a[i] = a[i] << 4 | (uint64_t)(*p <= '9' ? *p - '0' : *p - 'a' + 10);
	}
	return number;
}

/* Reads the program's memory, which may be unmapped by now. */
static bool fetch(void *to, uint64_t from, size_t bytes)
{
	struct iovec here = { to, bytes }, there = { (void *)(uintptr_t)from, bytes };
	long pid = raw_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
	return raw_syscall(SYS_process_vm_readv, pid, (long)&here, 1, (long)&there, 1, 0) ==
	       (long)bytes;
}

static unsigned of_select(const uint64_t a[ARGUMENTS], struct pollfd *fds, unsigned room)
{
	static const short events[] = { POLLIN, POLLOUT, POLLPRI };
	unsigned n = 0;
	for (unsigned k = 0; k < 3; k++) {
		fd_set set;
		size_t bytes = (a[0] + 63) / 64 * 8;
		if (!a[k + 1])
			continue;
		if (a[0] > FD_SETSIZE || !fetch(&set, a[k + 1], bytes))
			return 0;
		for (int fd = 0; fd < (int)a[0]; fd++) {
			if (!FD_ISSET(fd, &set))
				continue;
			if (n == room)
				return 0;
			fds[n++] = (struct pollfd){ .fd = fd, .events = events[k] };
		}
	}
	return n;
}

static unsigned one(struct pollfd *fds, uint64_t fd, short events)
{
	fds[0] = (struct pollfd){ .fd = (int)fd, .events = events };
	return 1;
}

/* The end of a splice that is not ready. */
static unsigned of_splice(uint64_t in, uint64_t out, struct pollfd *fds)
{
	const struct timespec zero = { 0, 0 };
	one(fds, in, POLLIN);
	return syscall(SYS_ppoll, fds, 1, &zero, NULL, 0) == 0 ? 1 : one(fds, out, POLLOUT);
}

unsigned sched_outside_waits(const struct thread *t, struct pollfd *fds, unsigned room)
{
	uint64_t a[ARGUMENTS];
	switch (call_of(t->life.tid, a)) {
	case SYS_read:
	case SYS_readv:
	case SYS_preadv2:
	case SYS_recvfrom:
	case SYS_recvmsg:
		return one(fds, a[0], POLLIN);
	case SYS_write:
	case SYS_writev:
	case SYS_pwritev2:
	case SYS_sendto:
	case SYS_sendmsg:
	case SYS_sendmmsg:
	case SYS_sendfile:
	case SYS_vmsplice:
		return one(fds, a[0], POLLOUT);
	case SYS_splice:
		return of_splice(a[0], a[2], fds);
	case SYS_tee:
		return of_splice(a[0], a[1], fds);
	case SYS_poll:
		if ((int)a[2] >= 0 || a[1] == 0 || a[1] > room ||
		    !fetch(fds, a[0], a[1] * sizeof(*fds)))
			return 0;
		return (unsigned)a[1];
	case SYS_ppoll:
		if (a[2] || a[1] == 0 || a[1] > room || !fetch(fds, a[0], a[1] * sizeof(*fds)))
			return 0;
		return (unsigned)a[1];
	case SYS_select:
	case SYS_pselect6:
		return a[4] ? 0 : of_select(a, fds, room);
	case SYS_epoll_wait:
	case SYS_epoll_pwait:
		return (int)a[3] >= 0 ? 0 : one(fds, a[0], POLLIN);
	case SYS_epoll_pwait2:
		return a[3] ? 0 : one(fds, a[0], POLLIN);
	default:
		return 0;
	}
}
