/*
 * blocking.c - calls that may block, clocks and random bytes.
 *
 * A call on a descriptor first waits, in the scheduler, until the descriptor is ready, and
 * is then made with the token in hand: so pipes and sockets inside one program keep to the
 * seed.  Other blocking calls give the token back and rejoin.  Sleeping is waiting for
 * virtual time.  Clocks show virtual time in controlled mode and are written to the log.
 */
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <termios.h>
#include <threads.h>
#include <unistd.h>
#include <fcntl.h>
#include <sched.h>

#include "rt.h"

/* ---- descriptors ---- */

/* Until reading (writing) would not block, or the descriptor is not blocking. */
static void await(struct thread *t, int fd, short events)
{
	if (!rt.controlled)
		return;
	int flags = syscall(SYS_fcntl, fd, F_GETFL);
	if (flags < 0 || flags & O_NONBLOCK)
		return;
	struct pollfd one = { .fd = fd, .events = events };
	int error = errno;
	sched_wait_files(t, &one, 1, false, 0);
	errno = error;
}

static void touched(struct thread *t, enum log_tag tag, const void *p, ssize_t n, uintptr_t pc)
{
	int error = errno;
	if (n > 0)
		log_range(t, tag, pc, p, n);
	errno = error;
}

/* In controlled mode a large write to a full pipe would hold everybody up. */
static bool may_fill(int fd, size_t size)
{
	struct stat status;
	return rt.controlled && size > 4096 && fstat(fd, &status) == 0 &&
	       (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
}

/* Asked for by somebody who will wait for it, from a file as from a socket. */
static bool is_input(int fd)
{
	int error = errno;
	int flags = syscall(SYS_fcntl, fd, F_GETFL);
	errno = error;
	return flags >= 0 && !(flags & O_NONBLOCK);
}

static void await_input(struct thread *t, int fd, enum log_call call, uintptr_t pc)
{
	bool input = is_input(fd);
	if (input)
		frame_enter(t, call, pc, true);
	await(t, fd, POLLIN);
	if (input)
		frame_leave(t);
}

#define READING(type, name, parameters, call, fd, buffer, frame) \
	EXPORT type name parameters \
	{ \
		struct thread *t = recording(); \
		if (!t || in_libc(CALLER())) \
			return REAL(name) call; \
		await_input(t, fd, frame, CALLER()); \
		type n = REAL(name) call; \
		touched(t, LOG_WRITE, buffer, n, CALLER()); \
		return n; \
	}
#define WRITING(type, name, parameters, call, fd, buffer, size) \
	EXPORT type name parameters \
	{ \
		struct thread *t = recording(); \
		if (!t || in_libc(CALLER())) \
			return REAL(name) call; \
		touched(t, LOG_READ, buffer, size, CALLER()); \
		if (may_fill(fd, size)) { \
			sched_leave(t); \
			type n = REAL(name) call; \
			int error = errno; \
			sched_rejoin(t); \
			errno = error; \
			return n; \
		} \
		await(t, fd, POLLOUT); \
		return REAL(name) call; \
	}
READING(ssize_t, recv, (int fd, void *p, size_t n_, int f), (fd, p, n_, f), fd, p,
        LOG_CALL_recv)
READING(ssize_t, recvfrom,
        (int fd, void *restrict p, size_t n_, int f, struct sockaddr *restrict a,
         socklen_t *restrict l),
        (fd, p, n_, f, a, l), fd, p, LOG_CALL_recvfrom)
READING(ssize_t, pread, (int fd, void *p, size_t n_, off_t o), (fd, p, n_, o), fd, p,
        LOG_CALL_read)
READING(ssize_t, pread64, (int fd, void *p, size_t n_, off_t o), (fd, p, n_, o), fd, p,
        LOG_CALL_read)
WRITING(ssize_t, write, (int fd, const void *p, size_t n_), (fd, p, n_), fd, p, n_)
WRITING(ssize_t, send, (int fd, const void *p, size_t n_, int f), (fd, p, n_, f), fd, p, n_)
WRITING(ssize_t, sendto,
        (int fd, const void *p, size_t n_, int f, const struct sockaddr *a, socklen_t l),
        (fd, p, n_, f, a, l), fd, p, n_)
WRITING(ssize_t, pwrite, (int fd, const void *p, size_t n_, off_t o), (fd, p, n_, o), fd, p, n_)
WRITING(ssize_t, pwrite64, (int fd, const void *p, size_t n_, off_t o), (fd, p, n_, o), fd, p,
        n_)

EXPORT ssize_t read(int fd, void *p, size_t size)
{
	struct thread *t = recording();
	if (!t || in_libc(CALLER()))
		return REAL(read)(fd, p, size);
	await_input(t, fd, LOG_CALL_read, CALLER());
	ssize_t n = REAL(read)(fd, p, size);
	if (rt.controlled)
		random_device_read(fd, p, n);
	touched(t, LOG_WRITE, p, n, CALLER());
	return n;
}

/* `n` bytes went into these, in turn. */
static void scattered(struct thread *t, const struct iovec *v, size_t count, ssize_t n,
                      uintptr_t pc)
{
	for (size_t i = 0; i < count && n > 0; i++) {
		ssize_t here = (size_t)n < v[i].iov_len ? n : (ssize_t)v[i].iov_len;
		touched(t, LOG_WRITE, v[i].iov_base, here, pc);
		n -= here;
	}
}
EXPORT ssize_t readv(int fd, const struct iovec *v, int count)
{
	struct thread *t = recording();
	if (!t || in_libc(CALLER()))
		return REAL(readv)(fd, v, count);
	await_input(t, fd, LOG_CALL_readv, CALLER());
	ssize_t n = REAL(readv)(fd, v, count);
	scattered(t, v, count > 0 ? count : 0, n, CALLER());
	return n;
}
EXPORT ssize_t recvmsg(int fd, struct msghdr *m, int flags)
{
	struct thread *t = recording();
	if (!t || in_libc(CALLER()))
		return REAL(recvmsg)(fd, m, flags);
	await_input(t, fd, LOG_CALL_recvmsg, CALLER());
	ssize_t n = REAL(recvmsg)(fd, m, flags);
	if (n > 0)
		scattered(t, m->msg_iov, m->msg_iovlen, n, CALLER());
	return n;
}

EXPORT int accept(int fd, struct sockaddr *restrict a, socklen_t *restrict l)
{
	struct thread *t = recording();
	if (t)
		await_input(t, fd, LOG_CALL_accept, CALLER());
	return REAL(accept)(fd, a, l);
}
EXPORT int accept4(int fd, struct sockaddr *restrict a, socklen_t *restrict l, int f)
{
	struct thread *t = recording();
	if (t)
		await_input(t, fd, LOG_CALL_accept4, CALLER());
	return REAL(accept4)(fd, a, l, f);
}

static void poll_wait(struct thread *t, struct pollfd *fds, unsigned n, int64_t milliseconds,
                      enum log_call call, uintptr_t pc)
{
	frame_enter(t, call, pc, true);
	if (milliseconds == 0) {
		sched_yield_point(t, true);
	} else {
		sched_point(t);
		sched_wait_files(t, fds, n, milliseconds > 0,
		                 virtual_now() +
		                         (milliseconds > 0 ? milliseconds : 0) * 1000000ull);
	}
	frame_leave(t);
}

EXPORT int poll(struct pollfd *fds, nfds_t n, int timeout)
{
	struct thread *t = recording();
	if (!t || !rt.controlled)
		return REAL(poll)(fds, n, timeout);
	poll_wait(t, fds, n, timeout, LOG_CALL_poll, CALLER());
	return REAL(poll)(fds, n, 0);
}
EXPORT int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
                 const sigset_t *mask)
{
	struct thread *t = recording();
	if (!t || !rt.controlled || mask)
		return REAL(ppoll)(fds, n, timeout, mask);
	poll_wait(t, fds, n, timeout ? timeout->tv_sec * 1000 + timeout->tv_nsec / 1000000 : -1,
	          LOG_CALL_ppoll, CALLER());
	struct timespec zero = { 0, 0 };
	return REAL(ppoll)(fds, n, &zero, mask);
}
EXPORT int epoll_wait(int fd, struct epoll_event *events, int most, int timeout)
{
	struct thread *t = recording();
	if (!t || !rt.controlled)
		return REAL(epoll_wait)(fd, events, most, timeout);
	struct pollfd one = { .fd = fd, .events = POLLIN };
	poll_wait(t, &one, 1, timeout, LOG_CALL_epoll_wait, CALLER());
	int n = REAL(epoll_wait)(fd, events, most, 0);
	touched(t, LOG_WRITE, events, n > 0 ? n * sizeof(*events) : 0, CALLER());
	return n;
}
EXPORT int epoll_pwait(int fd, struct epoll_event *events, int most, int timeout,
                       const sigset_t *mask)
{
	struct thread *t = recording();
	if (!t || !rt.controlled || mask) {
		if (t)
			sched_leave(t);
		int n = REAL(epoll_pwait)(fd, events, most, timeout, mask);
		int error = errno;
		if (t)
			sched_rejoin(t);
		errno = error;
		return n;
	}
	struct pollfd one = { .fd = fd, .events = POLLIN };
	poll_wait(t, &one, 1, timeout, LOG_CALL_epoll_pwait, CALLER());
	int n = REAL(epoll_pwait)(fd, events, most, 0, mask);
	touched(t, LOG_WRITE, events, n > 0 ? n * sizeof(*events) : 0, CALLER());
	return n;
}

static void select_wait(struct thread *t, int n, fd_set *r, fd_set *w, fd_set *e, int64_t ms,
                        uintptr_t pc)
{
	struct pollfd fds[FD_SETSIZE];
	unsigned count = 0;
	for (int fd = 0; fd < n && fd < FD_SETSIZE; fd++) {
		short events = (r && FD_ISSET(fd, r) ? POLLIN : 0) |
		               (w && FD_ISSET(fd, w) ? POLLOUT : 0) |
		               (e && FD_ISSET(fd, e) ? POLLPRI : 0);
		if (events)
			fds[count++] = (struct pollfd){ .fd = fd, .events = events };
	}
	poll_wait(t, fds, count, ms, LOG_CALL_select, pc);
}
EXPORT int select(int n, fd_set *restrict r, fd_set *restrict w, fd_set *restrict e,
                  struct timeval *restrict timeout)
{
	struct thread *t = recording();
	if (!t || !rt.controlled)
		return REAL(select)(n, r, w, e, timeout);
	select_wait(t, n, r, w, e,
	            timeout ? timeout->tv_sec * 1000ll + (timeout->tv_usec + 999) / 1000 : -1,
	            CALLER());
	struct timeval zero = { 0, 0 };
	return REAL(select)(n, r, w, e, &zero);
}

/* ---- calls that the scheduler only steps aside for ---- */

#define ASIDE_IN(type, name, parameters, call, frame) \
	EXPORT type name parameters \
	{ \
		struct thread *t = recording(); \
		if (!t) \
			return REAL(name) call; \
		if (frame) \
			frame_enter(t, frame, CALLER(), true); \
		sched_point(t); \
		sched_leave(t); \
		type result = REAL(name) call; \
		int error = errno; \
		sched_rejoin(t); \
		if (frame) \
			frame_leave(t); \
		errno = error; \
		return result; \
	}
#define ASIDE(type, name, parameters, call) \
	ASIDE_IN(type, name, parameters, call, LOG_CALL_none)
ASIDE(int, connect, (int fd, const struct sockaddr *a, socklen_t l), (fd, a, l))
ASIDE(pid_t, waitpid, (pid_t p, int *s, int o), (p, s, o))
ASIDE(pid_t, wait, (int *s), (s))
ASIDE(pid_t, wait3, (int *s, int o, struct rusage *r), (s, o, r))
ASIDE(pid_t, wait4, (pid_t p, int *s, int o, struct rusage *r), (p, s, o, r))
ASIDE(int, waitid, (idtype_t k, id_t i, siginfo_t *s, int o), (k, i, s, o))
ASIDE(int, system, (const char *c), (c))
ASIDE(int, sigsuspend, (const sigset_t *s), (s))
ASIDE(int, pause, (void), ())
ASIDE(int, flock, (int fd, int o), (fd, o))
ASIDE(int, tcdrain, (int fd), (fd))
ASIDE_IN(int, pselect,
         (int n, fd_set *restrict r, fd_set *restrict w, fd_set *restrict e,
          const struct timespec *restrict u, const sigset_t *restrict m),
         (n, r, w, e, u, m), LOG_CALL_pselect)

/* ---- sleeping ---- */

static void sleep_until(struct thread *t, uint64_t deadline, enum log_call call, uintptr_t pc)
{
	frame_enter(t, call, pc, true);
	sched_block(t, FOR_SLEEP, NULL, true, deadline);
	frame_leave(t);
}
static void sleep_for(struct thread *t, uint64_t nanoseconds, enum log_call call, uintptr_t pc)
{
	sleep_until(t, virtual_now() + nanoseconds, call, pc);
	if (t->cancelled)
		pthread_testcancel();
}
static uint64_t length_of(const struct timespec *time)
{
	return time->tv_sec * 1000000000ull + time->tv_nsec;
}

EXPORT unsigned sleep(unsigned seconds)
{
	struct thread *t = recording();
	if (!t || !rt.controlled)
		return REAL(sleep)(seconds);
	sleep_for(t, seconds * 1000000000ull, LOG_CALL_sleep, CALLER());
	return 0;
}
EXPORT int usleep(useconds_t microseconds)
{
	struct thread *t = recording();
	if (!t || !rt.controlled)
		return REAL(usleep)(microseconds);
	sleep_for(t, microseconds * 1000ull, LOG_CALL_usleep, CALLER());
	return 0;
}
EXPORT int nanosleep(const struct timespec *time, struct timespec *left)
{
	struct thread *t = recording();
	if (!t || !rt.controlled || time->tv_nsec < 0 || time->tv_nsec > 999999999 ||
	    time->tv_sec < 0)
		return REAL(nanosleep)(time, left);
	sleep_for(t, length_of(time), LOG_CALL_nanosleep, CALLER());
	return 0;
}
EXPORT int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
                           struct timespec *left)
{
	struct thread *t = recording();
	if (!t || !rt.controlled || time->tv_nsec < 0 || time->tv_nsec > 999999999)
		return REAL(clock_nanosleep)(clock, flags, time, left);
	if (flags & TIMER_ABSTIME) {
		uint64_t deadline = deadline_of(clock, time);
		sleep_until(t, deadline, LOG_CALL_clock_nanosleep, CALLER());
	} else {
		sleep_for(t, length_of(time), LOG_CALL_clock_nanosleep, CALLER());
	}
	return 0;
}
EXPORT int thrd_sleep(const struct timespec *time, struct timespec *left)
{
	return nanosleep(time, left) == 0 ? 0 : -1;
}
EXPORT int sched_yield(void)
{
	struct thread *t = recording();
	if (!t || !rt.controlled)
		return REAL(sched_yield)();
	sched_yield_point(t, true);
	return 0;
}
EXPORT void thrd_yield(void)
{
	sched_yield();
}

/* ---- clocks ---- */

static struct timespec started[2]; /* real time and monotonic time at the start */

void clocks_init(void)
{
	syscall(SYS_clock_gettime, CLOCK_REALTIME, &started[0]);
	started[0].tv_nsec = 0;
	/* This one's zero means nothing, so it may be the same in every run. */
	started[1].tv_sec = 100000;
}

void clock_now(clockid_t clock, struct timespec *now)
{
	const struct timespec *base = NULL;
	if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)
		base = &started[0];
	else if (clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_RAW ||
	         clock == CLOCK_MONOTONIC_COARSE || clock == CLOCK_BOOTTIME)
		base = &started[1];
	if (!rt.controlled || !base) {
		syscall(SYS_clock_gettime, clock, now);
		return;
	}
	uint64_t passed = virtual_now() + base->tv_nsec;
	now->tv_sec = base->tv_sec + passed / 1000000000;
	now->tv_nsec = passed % 1000000000;
}

/* A clock that the program asks: recorded, and on replay answered as it was. */
static int ask(struct thread *t, clockid_t clock, struct timespec *answer)
{
	if (t->pending)
		log_fill(t);
	if (rt.replay && replay_answer(t, clock, answer)) {
		t->questions++;
	} else {
		sched_tick(1000); /* so that a loop which waits for a time ends */
		clock_now(clock, answer);
	}
	log_clock(t, clock, answer);
	return 0;
}

static bool asked_here(struct thread *t, clockid_t clock, uintptr_t pc)
{
	return t && rt.controlled && clock >= 0 && clock <= 11 && !in_libc(pc);
}

EXPORT int clock_gettime(clockid_t clock, struct timespec *time)
{
	struct thread *t = recording();
	if (!asked_here(t, clock, CALLER()))
		return REAL(clock_gettime)(clock, time);
	return ask(t, clock, time);
}
EXPORT int gettimeofday(struct timeval *restrict time, void *restrict zone)
{
	struct thread *t = recording();
	if (!asked_here(t, CLOCK_REALTIME, CALLER()))
		return REAL(gettimeofday)(time, zone);
	struct timespec now;
	ask(t, CLOCK_REALTIME, &now);
	{
		time->tv_sec = now.tv_sec;
		time->tv_usec = now.tv_nsec / 1000;
	}
	return 0;
}
EXPORT time_t time(time_t *out)
{
	struct thread *t = recording();
	if (!asked_here(t, CLOCK_REALTIME, CALLER()))
		return REAL(time)(out);
	struct timespec now;
	ask(t, CLOCK_REALTIME, &now);
	if (out)
		*out = now.tv_sec;
	return now.tv_sec;
}
EXPORT int timespec_get(struct timespec *time, int base)
{
	struct thread *t = recording();
	if (base != TIME_UTC || !asked_here(t, CLOCK_REALTIME, CALLER()))
		return REAL(timespec_get)(time, base);
	ask(t, CLOCK_REALTIME, time);
	return base;
}
EXPORT clock_t clock(void)
{
	struct thread *t = recording();
	if (!asked_here(t, CLOCK_MONOTONIC, CALLER()))
		return REAL(clock)();
	struct timespec now;
	ask(t, CLOCK_MONOTONIC, &now);
	return (now.tv_sec - started[1].tv_sec) * 1000000 +
	       (now.tv_nsec - started[1].tv_nsec) / 1000;
}
