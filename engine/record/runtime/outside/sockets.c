/*
 * sockets.c - calls that make, copy and close descriptors, and that get or set options of
 * those that lead outside: recorded and replayed like reads (outside.h).
 *
 * On replay nothing is bound, listened on or connected to; a socket only takes its number.
 */
#include <asm/termbits.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "engine/record/runtime/core/rt.h"
#include "engine/record/runtime/libc/ranges.h"

INTERPOSED(listen, shutdown, connect, ioctl, socket, eventfd, signalfd, timerfd_settime, dup,
           dup2, dup3, close, fclose);

/* ---- addresses and options ---- */

/* The call reads an address or an option; a size that no such thing has is refused unread. */
static void given_read(const void *p, socklen_t size, uintptr_t pc)
{
	if (p && size <= sizeof(struct sockaddr_storage))
		READS_AT(p, size, pc);
}

#define STATES(type, name, parameters, arguments, fd, p, size) \
	INTERPOSED(name); \
	type interposed_##name parameters \
	{ \
		struct thread *t = recording(); \
		struct given g; \
		if (t) \
			given_read(p, size, CALLER()); \
		if (!t || !outside_asked(t, fd)) \
			return REAL(name) arguments; \
		if (input_state_given(t, LOG_INPUT_##name, fd, &g)) \
			return (type)g.result; \
		type result = REAL(name) arguments; \
		input_keep(t, LOG_INPUT_##name, fd, result, NULL, 0, 0); \
		return result; \
	}
STATES(int, bind, (int fd, const struct sockaddr *a, socklen_t n), (fd, a, n), fd, a, n)
STATES(int, setsockopt, (int fd, int level, int option, const void *p, socklen_t n),
       (fd, level, option, p, n), fd, p, n)

int interposed_listen(int fd, int most)
{
	struct thread *t = recording();
	struct given g;
	if (!t || !outside(t, fd))
		return REAL(listen)(fd, most);
	int result = input_given(t, LOG_INPUT_listen, fd, 0, &g) ? (int)g.result
	                                                         : REAL(listen)(fd, most);
	input_keep(t, LOG_INPUT_listen, fd, result, NULL, 0, 0);
	if (result == 0)
		connection_listens(fd, most);
	return result;
}

int interposed_shutdown(int fd, int how)
{
	struct thread *t = recording();
	struct given g;
	bool steps = t && channel_shuts(t, fd, how, CALLER());
	if (t && !steps)
		order_matters("shutting down a socket");
	if (!t || !rt.inputs)
		return REAL(shutdown)(fd, how);
	if (how != SHUT_RD && !steps) {
		channel_turn(t, outside_writes(fd), LOG_SND, CALLER());
		channel_shut(t, outside_writes(fd), CALLER());
	}
	if (input_given(t, LOG_INPUT_shutdown, fd, 0, &g))
		return (int)g.result;
	int result = REAL(shutdown)(fd, how);
	if (outside(t, fd))
		input_keep(t, LOG_INPUT_shutdown, fd, result, NULL, 0, 0);
	channel_await(outside_writes(fd));
	return result;
}

/* What such a call has written, for its result, which is returned. */
static int told(int result, const void *p, socklen_t room, const socklen_t *n, uintptr_t pc)
{
	if (result == 0 && n) {
		if (p)
			WRITES_AT(p, *n < room ? *n : room, pc);
		WRITES_AT(n, sizeof(*n), pc);
	}
	return result;
}

/* ASKS with the bytes written to `p`, which has room for *n. */
#define ASKS(name, parameters, arguments, fd, p, n) \
	INTERPOSED(name); \
	int interposed_##name parameters \
	{ \
		struct thread *t = recording(); \
		struct given g; \
		socklen_t room = n ? *n : 0; \
		if (n) \
			READS(n, sizeof(*(n))); \
		if (!t || !outside_asked(t, fd)) \
			return told(REAL(name) arguments, p, room, n, CALLER()); \
		if (input_state_given(t, LOG_INPUT_##name, fd, &g)) { \
			if (g.recorded && p && n) { \
				socklen_t here = room < g.length[0] ? room : g.length[0]; \
				if (here > 0) \
					memcpy(p, g.part[0], here); \
				*n = g.extra; \
			} \
			return told((int)g.result, p, room, n, CALLER()); \
		} \
		int result = REAL(name) arguments; \
		socklen_t came = n ? *n : 0; \
		struct piece part = { p, result == 0 && p ? (came < room ? came : room) : 0 }; \
		input_keep(t, LOG_INPUT_##name, fd, result, &part, 1, came); \
		return told(result, p, room, n, CALLER()); \
	}
ASKS(getsockname, (int fd, struct sockaddr *restrict a, socklen_t *restrict n), (fd, a, n), fd,
     a, n)
ASKS(getpeername, (int fd, struct sockaddr *restrict a, socklen_t *restrict n), (fd, a, n), fd,
     a, n)
ASKS(getsockopt, (int fd, int level, int option, void *restrict p, socklen_t *restrict n),
     (fd, level, option, p, n), fd, p, n)

int interposed_connect(int fd, const struct sockaddr *a, socklen_t length)
{
	struct thread *t = recording();
	struct given g;
	if (!t)
		return REAL(connect)(fd, a, length);
	given_read(a, length, CALLER());
	if (input_given(t, LOG_INPUT_connect, fd, 0, &g)) {
		if (g.recorded && g.length[0])
			connection_given(t, fd, (int)g.result, g.part[0], g.length[0],
			                 CALLER());
		return (int)g.result;
	}
	bool out = outside(t, fd), full;
	sched_point(t);
	struct connection *own = connection_begins(t, fd, a, length, &full, CALLER());
	struct piece kept = connection_piece(own);
	int result = full ? connection_waits(t, own, fd, a, length, CALLER())
	                  : REAL(connect)(fd, a, length);
	if (out)
		input_keep(t, LOG_INPUT_connect, fd, result, &kept, 1, 0);
	if (own)
		connection_made(own, fd, result);
	return result;
}

/* The number of bytes to read, or not yet sent; other requests are made for real. */
static int control(struct thread *t, int fd, unsigned long request, void *p)
{
	struct given g;
	if (t && request == FIONBIO)
		order_of_mode(fd, true);
	if (t && request == FIONREAD)
		channel_steps_end(outside_reads(fd),
		                  "asking how many bytes are there (FIONREAD)");
	if (!t || (request != FIONREAD && request != TIOCOUTQ) || !outside(t, fd))
		return REAL(ioctl)(fd, request, p);
	if (input_given(t, LOG_INPUT_ioctl, fd, 0, &g)) {
		*(int *)p = g.recorded ? (int)g.extra : 0;
		return (int)g.result;
	}
	int result = REAL(ioctl)(fd, request, p);
	input_keep(t, LOG_INPUT_ioctl, fd, result, NULL, 0, result < 0 ? 0 : *(uint32_t *)p);
	return result;
}

/* Bytes that the request writes to its argument: newer requests have them in their number. */
static size_t request_writes(unsigned long request)
{
	static const struct {
		unsigned long request;
		size_t bytes;
	} older[] = {
		{ FIONREAD, sizeof(int) },    { TIOCOUTQ, sizeof(int) },
		{ TIOCGPGRP, sizeof(pid_t) }, { TIOCGWINSZ, sizeof(struct winsize) },
		{ SIOCATMARK, sizeof(int) },
	};
	for (size_t i = 0; i < sizeof(older) / sizeof(*older); i++)
		if (older[i].request == request)
			return older[i].bytes;
	return request >> 16 && _IOC_DIR(request) & _IOC_READ ? _IOC_SIZE(request) : 0;
}

int interposed_ioctl(int fd, unsigned long request, ...)
{
	va_list list;
	va_start(list, request);
	void *p = va_arg(list, void *);
	va_end(list);
	int result = control(recording(), fd, request, p);
	if (result >= 0 && request_writes(request) > 0)
		WRITES(p, request_writes(request));
	return result;
}

/* ---- calls that make descriptors ---- */

#define MAKES(name, parameters, arguments, call, origin) \
	INTERPOSED(name); \
	int interposed_##name parameters \
	{ \
		struct thread *t = recording(); \
		return outside_made(t, LOG_INPUT_##call, REAL(name) arguments, origin, \
		                    CALLER()); \
	}
int interposed_socket(int domain, int type, int protocol)
{
	struct thread *t = recording();
	int fd = outside_made(t, LOG_INPUT_socket, REAL(socket)(domain, type, protocol),
	                      ORIGIN_OUTSIDE, CALLER());
	if (t)
		datagram_socket(fd);
	return fd;
}
MAKES(epoll_create, (int size), (size), epoll_create, ORIGIN_SET)
MAKES(epoll_create1, (int flags), (flags), epoll_create, ORIGIN_SET)
MAKES(timerfd_create, (clockid_t clock, int flags), (clock, flags), timerfd_create,
      ORIGIN_OUTSIDE)
/* The message is sent after the call: a thread that waits for the timer wakes only once it is
 * set. */
int interposed_timerfd_settime(int fd, int flags, const struct itimerspec *new,
                               struct itimerspec *old)
{
	struct thread *t = recording();
	READS(new, sizeof(*new));
	if (t && rt.inputs)
		handover_turn(t, CALLER());
	int result = REAL(timerfd_settime)(fd, flags, new, old);
	if (result == 0 && old)
		WRITES(old, sizeof(*old));
	if (t && rt.inputs && result == 0)
		handover_sent(t, outside_timer_set(fd), CALLER());
	return result;
}
MAKES(inotify_init, (void), (), inotify_init, ORIGIN_OUTSIDE)
MAKES(inotify_init1, (int flags), (flags), inotify_init, ORIGIN_OUTSIDE)
MAKES(memfd_create, (const char *name, unsigned flags), (name, flags), memfd_create,
      ORIGIN_INSIDE)

int interposed_eventfd(unsigned value, int flags)
{
	struct thread *t = recording();
	int fd = outside_made(t, LOG_INPUT_eventfd, REAL(eventfd)(value, flags), ORIGIN_INSIDE,
	                      CALLER());
	unsigned channel = t && fd >= 0 ? channel_new(true) : 0;
	channel_is_own(channel);
	if (value == 0 && !(flags & EFD_SEMAPHORE))
		channel_holds_bytes(channel, 0);
	outside_leads(fd, channel, channel);
	if (channel && value < INT32_MAX)
		channel_steps_begin(t, channel,
		                    flags & EFD_SEMAPHORE ? LOG_CHANNEL_SEMAPHORE
		                                          : LOG_CHANNEL_COUNTER,
		                    LOG_CHANNEL_EVENTFD, fd, NULL, value, CALLER());
	return fd;
}

int interposed_signalfd(int fd, const sigset_t *mask, int flags)
{
	struct thread *t = recording();
	int made = REAL(signalfd)(fd, mask, flags);
	if (fd < 0)
		made = outside_made(t, LOG_INPUT_signalfd, made, ORIGIN_OUTSIDE, CALLER());
	outside_brings_signals(made);
	return made;
}

/* Does a read take all available bytes, and wait while it is empty? */
static bool holds_bytes(int fd)
{
	int type = SOCK_STREAM;
	socklen_t length = sizeof(type);
	long result = syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_TYPE, &type, &length);
	return result != 0 || type == SOCK_STREAM;
}

/* A pipe of which each read brings one write at most? */
static bool is_in_packets(int fd)
{
	return syscall(SYS_fcntl, fd, F_GETFL) & O_DIRECT;
}

/* Notes whether the ends lead outside, which follows from the call that made them. */
static void lead(struct thread *t, enum log_input_call call, const int ends[2], uintptr_t pc)
{
	unsigned there = channel_new(false),
	         back = call == LOG_INPUT_socketpair ? channel_new(false) : 0;
	channel_is_own(there);
	channel_is_own(back);
	if (holds_bytes(ends[1])) {
		int room = back ? 0 : (int)syscall(SYS_fcntl, ends[1], F_GETPIPE_SZ);
		channel_holds_bytes(there, room > 0 ? (unsigned)room / 4096 : 0);
		channel_holds_bytes(back, 0);
	}
	outside_leads(ends[0], there, back);
	outside_leads(ends[1], back, there);
	enum log_channel_flag kind = holds_bytes(ends[1]) && !is_in_packets(ends[1])
	                                     ? LOG_CHANNEL_STREAM
	                                     : LOG_CHANNEL_PACKETS;
	enum log_channel_form form = back ? LOG_CHANNEL_SOCKET : LOG_CHANNEL_PIPE;
	channel_steps_begin(t, there, kind, form, ends[0], ends, 0, pc);
	channel_steps_begin(t, back, kind, form, ends[1], ends, 0, pc);
}
static void both_made(struct thread *t, enum log_input_call call, int ends[2], uintptr_t pc)
{
	for (int i = 0; i < 2; i++)
		ends[i] = outside_made(t, call, ends[i], ORIGIN_INSIDE, pc);
	if (t && rt.inputs)
		lead(t, call, ends, pc);
}
#define PAIRS(name, parameters, arguments, call) \
	INTERPOSED(name); \
	int interposed_##name parameters \
	{ \
		struct thread *t = recording(); \
		int result = REAL(name) arguments; \
		if (result == 0) { \
			both_made(t, LOG_INPUT_##call, ends, CALLER()); \
			WRITES(ends, 2 * sizeof *ends); \
		} \
		return result; \
	}
PAIRS(pipe, (int ends[2]), (ends), pipe)
PAIRS(pipe2, (int ends[2], int flags), (ends, flags), pipe)
PAIRS(socketpair, (int domain, int type, int protocol, int ends[2]),
      (domain, type, protocol, ends), socketpair)

/* A file is examined when it is first read: it may be a terminal. */
#define OPENS(name, parameters, arguments, folder, flags) \
	INTERPOSED(name); \
	int interposed_##name parameters \
	{ \
		mode_t mode = 0; \
		if (flags & (O_CREAT | O_TMPFILE)) { \
			va_list list; \
			va_start(list, flags); \
			mode = va_arg(list, mode_t); \
			va_end(list); \
		} \
		struct thread *t = in_libc(CALLER()) ? NULL : recording(); \
		int fd; \
		if (t && flags & O_EXCL) \
			order_matters("making a file that must not be there yet"); \
		if (t) { \
			READS_STRING(path, CALLER()); \
			order_of_name(path, flags &(O_CREAT | O_TRUNC)); \
		} \
		if (input_opened(t, folder, path, flags, CALLER(), &fd)) \
			return fd; \
		return outside_made(t, LOG_INPUT_open, REAL(name) arguments, ORIGIN_UNKNOWN, \
		                    CALLER()); \
	}
OPENS(open, (const char *path, int flags, ...), (path, flags, mode), AT_FDCWD, flags)
OPENS(open64, (const char *path, int flags, ...), (path, flags, mode), AT_FDCWD, flags)
OPENS(openat, (int folder, const char *path, int flags, ...), (folder, path, flags, mode),
      folder, flags)
OPENS(openat64, (int folder, const char *path, int flags, ...), (folder, path, flags, mode),
      folder, flags)
MAKES(creat, (const char *path, mode_t mode), (path, mode), open, ORIGIN_UNKNOWN)
MAKES(creat64, (const char *path, mode_t mode), (path, mode), open, ORIGIN_UNKNOWN)

/* ---- copies and ends ---- */

static int copied(struct thread *t, int from, int to, uintptr_t pc)
{
	if (!t || !rt.inputs)
		return to;
	to = outside_made(t, LOG_INPUT_dup, to, ORIGIN_UNKNOWN, pc);
	outside_copied(from, to);
	if (to >= 0)
		channel_copies(t, to, pc);
	return to;
}
int interposed_dup(int fd)
{
	struct thread *t = recording();
	return copied(t, fd, REAL(dup)(fd), CALLER());
}
/* The descriptor `to` is closed, and made again as a copy. */
static void dup_closes(struct thread *t, int fd, int to, uintptr_t pc)
{
	if (!t || fd == to)
		return;
	order_of_close(to);
	channel_closes(t, to, pc);
}
static int dup_copied(struct thread *t, int fd, int to, uintptr_t pc)
{
	if (!t || !rt.inputs || to == fd)
		return to;
	outside_copied(fd, to);
	if (to >= 0)
		channel_copies(t, to, pc);
	if (to >= 0 && to <= 2) {
		channel_steps_end(outside_reads(to), "a standard stream that is a pipe");
		channel_steps_end(outside_writes(to), "a standard stream that is a pipe");
	}
	return to;
}
int interposed_dup2(int fd, int to)
{
	struct thread *t = recording();
	dup_closes(t, fd, to, CALLER());
	return dup_copied(t, fd, REAL(dup2)(fd, to), CALLER());
}
int interposed_dup3(int fd, int to, int flags)
{
	struct thread *t = recording();
	dup_closes(t, fd, to, CALLER());
	return dup_copied(t, fd, REAL(dup3)(fd, to, flags), CALLER());
}
#define CONTROLS(name) \
	INTERPOSED(name); \
	int interposed_##name(int fd, int command, ...) \
	{ \
		va_list list; \
		va_start(list, command); \
		void *argument = va_arg(list, void *); \
		va_end(list); \
		struct thread *t = recording(); \
		int result = REAL(name)(fd, command, argument); \
		if (t && !in_libc(CALLER())) \
			order_of_use(fd, result == -1 && errno == EBADF); \
		if (t && command >= F_OFD_GETLK && command <= F_OFD_SETLKW) \
			order_matters("a lock of a file"); \
		if (t && command == F_SETPIPE_SZ) \
			channel_steps_end(outside_writes(fd), "another size of a pipe"); \
		if (t && (command == F_SETFL || command == F_GETFL)) \
			order_of_mode(fd, command == F_SETFL); \
		return command == F_DUPFD || command == F_DUPFD_CLOEXEC \
		               ? copied(t, fd, result, CALLER()) \
		               : result; \
	}
CONTROLS(fcntl)
CONTROLS(fcntl64)

int interposed_close(int fd)
{
	struct thread *t = recording();
	unsigned writes = t ? outside_writes(fd) : 0;
	if (t && !in_libc(CALLER()))
		order_of_close(fd);
	outside_closing(t, fd, CALLER());
	int result = REAL(close)(fd);
	channel_await(writes);
	return result;
}
int interposed_fclose(FILE *f)
{
	struct thread *t = recording();
	if (t && f) {
		order_of_stream_end(f);
		order_of_close(fileno(f));
	}
	if (f)
		outside_closing(t, fileno(f), CALLER());
	return REAL(fclose)(f);
}
