/*
 * descriptors.c - reading and writing.
 *
 * A call first waits, in the scheduler, until its descriptor is ready, and is then made with
 * the token in hand: so pipes and sockets inside one program keep to the seed. Input from
 * outside is recorded, and replayed (outside.h).
 */
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "engine/record/runtime/core/entry.h"
#include "engine/record/runtime/core/rt.h"

INTERPOSED(recvfrom, readv, recvmsg, pread, pread64, accept, accept4, write, eventfd_write,
           send, sendto, writev, sendmsg, sendfile, sendfile64, pwrite, pwrite64, preadv,
           pwritev, preadv2, pwritev2, recvmmsg, sendmmsg, splice, tee, vmsplice);

/* The descriptor that a call with these flags waits for: none (-1) when it shall not wait. */
static int waits_on(int fd, int flags)
{
	return flags & MSG_DONTWAIT ? -1 : fd;
}

/* SO_RCVTIMEO or SO_SNDTIMEO, in nanoseconds; 0: none.  The real call then waits as long again.
 */
static uint64_t time_limit(int fd, short events)
{
	struct timeval limit = { 0, 0 };
	socklen_t length = sizeof(limit);
	if (syscall(SYS_getsockopt, fd, SOL_SOCKET, events & POLLIN ? SO_RCVTIMEO : SO_SNDTIMEO,
	            &limit, &length) != 0)
		return 0;
	return (uint64_t)limit.tv_sec * 1000000000 + (uint64_t)limit.tv_usec * 1000;
}

/* Waits until reading (writing) would not block, unless the descriptor is non-blocking.
 * False, and EINTR: a handler has ended the call. */
static bool await(struct thread *t, int fd, short events)
{
	if (!rt.controlled)
		return true;
	int flags = syscall(SYS_fcntl, fd, F_GETFL);
	if (flags < 0 || flags & O_NONBLOCK)
		return true;
	struct pollfd one = { .fd = fd, .events = events };
	int error = errno;
	uint64_t limit = time_limit(fd, events);
	uint64_t deadline = virtual_now() + limit;
	do
		t->signals.interrupted = t->signals.must_end = false;
	while (!(sched_wait_files(t, &one, 1, limit > 0, deadline), one.revents) && rt.on &&
	       t->signals.interrupted && !t->signals.must_end &&
	       !(limit && virtual_now() >= deadline));
	bool ended = !one.revents && t->signals.interrupted && (t->signals.must_end || limit);
	errno = ended ? EINTR : error;
	return !ended;
}

/* Notes the place where the thread waits. */
static void stands_at(struct thread *t, uintptr_t pc)
{
	t->sched.pc = pc;
}

static void touched(struct thread *t, enum log_tag tag, const void *p, ssize_t n, uintptr_t pc)
{
	int error = errno;
	if (n > 0)
		log_range(t, tag, pc, p, n);
	errno = error;
}

/* Records that `n` bytes were written to, or read from, these, in turn. */
static void scattered(struct thread *t, enum log_tag tag, const struct iovec *v, size_t count,
                      ssize_t n, uintptr_t pc)
{
	for (size_t i = 0; i < count && n > 0; i++) {
		ssize_t here = (size_t)n < v[i].iov_len ? n : (ssize_t)v[i].iov_len;
		touched(t, tag, v[i].iov_base, here, pc);
		n -= here;
	}
}

static size_t room_in(const struct iovec *v, size_t count)
{
	size_t room = 0;
	for (size_t i = 0; i < count; i++)
		room += v[i].iov_len;
	return room;
}

/* Would a large write to a full pipe, in controlled mode, stop all threads? */
static bool may_fill(int fd, size_t size)
{
	struct stat status;
	return rt.controlled && size > 4096 && fstat(fd, &status) == 0 &&
	       (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
}

enum {
	PART = 4096,
	MOST_PART = 1 << 16
}; /* size of a part that fits when the descriptor reports room */

/* In a channel of the process's own, a packet waits for room, and is then written at once,
 * like a part. */
static bool is_sent_whole(int fd, size_t size)
{
	int type = SOCK_STREAM;
	socklen_t length = sizeof(type);
	return channel_only_own(fd, POLLOUT) &&
	       syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_TYPE, &type, &length) == 0 &&
	       (type != SOCK_STREAM || size <= MOST_PART);
}

/* May a read of it block? Files count as blocking. */
static bool is_input(int fd)
{
	int error = errno;
	int flags = syscall(SYS_fcntl, fd, F_GETFL);
	errno = error;
	return flags >= 0 && !(flags & O_NONBLOCK);
}

static bool await_input(struct thread *t, int fd, enum log_call call, uintptr_t pc)
{
	bool input = is_input(fd);
	if (input)
		frame_enter(t, call, pc, true);
	stands_at(t, pc);
	bool came = await(t, fd, POLLIN);
	if (input)
		frame_leave(t);
	return came;
}

/* ---- reading ---- */

/* Copies the recorded bytes into the caller's memory; in the thread's turn, as other threads
 * may read there before. */
static ssize_t fill(struct thread *t, const struct iovec *v, size_t count,
                    const struct given *g)
{
	int error = errno;
	const char *from = g->part[0];
	size_t left = g->recorded && g->result > 0 ? g->length[0] : 0;
	if (left > 0)
		plan_point(t);
	for (size_t i = 0; i < count && left > 0; i++) {
		size_t here = left < v[i].iov_len ? left : v[i].iov_len;
		if (here > 0) /* an empty piece may be NULL */
			memcpy(v[i].iov_base, from, here);
		from += here;
		left -= here;
	}
	errno = error;
	return g->result;
}

/* A part with an address, cut to the caller's room. */
static void fill_address(void *a, socklen_t *length, const struct given *g, unsigned part)
{
	if (!a || !length)
		return;
	socklen_t room = *length < g->length[part] ? *length : g->length[part];
	if (room > 0)
		memcpy(a, g->part[part], room);
	*length = g->extra;
}

/* Before a read of `room` bytes waits: the thread's turn. */
static void asks_input(struct thread *t, int fd, size_t room, int waits, uintptr_t pc)
{
	unsigned channel = outside_reads(fd);
	bool at_once = channel_has_steps(channel) && (waits < 0 || !is_input(waits));
	if (channel_has_steps(channel) && time_limit(fd, POLLIN) > 0)
		channel_steps_end(channel, "a read with a limit in time (SO_RCVTIMEO)");
	if (!channel_asks_read(t, channel, room, at_once, pc))
		channel_turn(t, channel, LOG_RCV, pc);
}

/* `bytes` were read; errno stays.  `waits`: the descriptor, or -1: the call never waits. */
static void arrived(struct thread *t, int fd, int64_t bytes, size_t room, int waits,
                    uintptr_t pc)
{
	unsigned channel = outside_reads(fd);
	order_of_descriptor(fd, false, false);
	bool blocks = channel && bytes >= 0 && waits >= 0 && is_input(waits);
	if (bytes == 0 && room > 0)
		channel_ended(t, channel, blocks, pc);
	else
		channel_read(t, channel, bytes, blocks, pc);
	if (bytes > 0 && !outside_has_signals(fd)) /* signals_read has these */
		handover_received(t, outside_timer_set(fd), pc);
}

/* The result in `n`: replayed, or from the real call, which is then recorded. */
#define READ_OR_GIVEN(n, t, name, fd, v, count, waits, frame, pc, real) \
	do { \
		struct given g_; \
		outside(t, fd); /* an inherited descriptor is examined now */ \
		if (input_given(t, LOG_INPUT_##name, fd, room_in(v, count), &g_)) { \
			datagram_await(t, fd, &g_); \
			arrived(t, fd, g_.result, room_in(v, count), waits, pc); \
			n = fill(t, v, count, &g_); \
		} else { \
			asks_input(t, fd, room_in(v, count), waits, pc); \
			n = await_input(t, waits, frame, pc) ? real : -1; \
			arrived(t, fd, n, room_in(v, count), waits, pc); \
			if (outside(t, fd)) \
				input_keep_scattered(t, LOG_INPUT_##name, fd, n, v, count, \
				                     NULL, 0, 0); \
		} \
	} while (0)

/* A signalfd has brought these. */
static void signals_read(const struct signalfd_siginfo *signals, ssize_t bytes, uintptr_t pc)
{
	int error = errno;
	for (; bytes >= (ssize_t)sizeof(*signals); bytes -= sizeof(*signals))
		signal_received((int)(signals++)->ssi_signo, pc);
	errno = error;
}

ssize_t descriptor_read(struct thread *t, int fd, void *p, size_t size, uintptr_t pc)
{
	struct iovec v = { p, size };
	ssize_t n;
	READ_OR_GIVEN(n, t, read, fd, &v, 1, fd, LOG_CALL_read, pc, REAL(read)(fd, p, size));
	if (outside_has_signals(fd))
		signals_read(p, n, pc);
	return n;
}

static ssize_t read_here(int fd, void *p, size_t size, uintptr_t pc)
{
	struct thread *t = recording();
	if (!t || in_libc(pc))
		return REAL(read)(fd, p, size);
	ssize_t n = descriptor_read(t, fd, p, size, pc);
	if (rt.controlled)
		random_device_read(fd, p, n);
	touched(t, LOG_WRITE, p, n, pc);
	return n;
}
ENTRY(read)
ssize_t interposed_read(int fd, void *p, size_t size) BEHIND(read);
ssize_t interposed_read(int fd, void *p, size_t size)
{
	channel_entered(&me->input);
	return read_here(fd, p, size, CALLER());
}
EXPORT ssize_t __read_chk(int fd, void *p, size_t size, size_t room);
ssize_t __read_chk(int fd, void *p, size_t size, size_t room)
{
	return size > room ? REAL(__read_chk)(fd, p, size, room)
	                   : read_here(fd, p, size, CALLER());
}

/* A look at bytes that stay is no step. */
static void peeks(int fd, int flags)
{
	if (flags & MSG_PEEK)
		channel_steps_end(outside_reads(fd),
		                  "looking at the bytes of a socket (MSG_PEEK)");
}

static ssize_t recv_part(int fd, void *p, size_t size, int flags, uintptr_t pc)
{
	struct thread *t = recording();
	if (!t || in_libc(pc))
		return REAL(recv)(fd, p, size, flags);
	struct iovec v = { p, size };
	ssize_t n;
	peeks(fd, flags);
	READ_OR_GIVEN(n, t, recv, fd, &v, 1, waits_on(fd, flags), LOG_CALL_recv, pc,
	              REAL(recv)(fd, p, size, flags));
	touched(t, LOG_WRITE, p, n < (ssize_t)size ? n : (ssize_t)size, pc);
	return n;
}
/* A request for all bytes from a channel of the process's own is served in parts: the
 * scheduler waits for each. */
static ssize_t recv_here(int fd, void *p, size_t size, int flags, uintptr_t pc)
{
	if (!(flags & MSG_WAITALL) || flags & (MSG_DONTWAIT | MSG_PEEK) || !rt.controlled ||
	    !channel_only_own(fd, POLLIN) || !is_input(fd))
		return recv_part(fd, p, size, flags, pc);
	ssize_t done = 0;
	while ((size_t)done < size) {
		ssize_t n = recv_part(fd, (char *)p + done, size - (size_t)done,
		                      flags & ~MSG_WAITALL, pc);
		if (n <= 0)
			return done ? done : n;
		done += n;
		if (is_sent_whole(fd, SIZE_MAX)) /* a packet is all */
			break;
	}
	return done;
}

ENTRY(recv)
ssize_t interposed_recv(int fd, void *p, size_t size, int flags) BEHIND(recv);
ssize_t interposed_recv(int fd, void *p, size_t size, int flags)
{
	channel_entered(&me->input);
	return recv_here(fd, p, size, flags, CALLER());
}
EXPORT ssize_t __recv_chk(int fd, void *p, size_t size, size_t room, int flags);
ssize_t __recv_chk(int fd, void *p, size_t size, size_t room, int flags)
{
	return size > room ? REAL(__recv_chk)(fd, p, size, room, flags)
	                   : recv_here(fd, p, size, flags, CALLER());
}

/* The bytes of an address of `length` bytes that the kernel wrote into `room`. */
static struct piece address_piece(const void *a, socklen_t room, socklen_t length)
{
	return (struct piece){ a, a ? (length < room ? length : room) : 0 };
}

static ssize_t recvfrom_here(int fd, void *p, size_t size, int flags, struct sockaddr *a,
                             socklen_t *length, uintptr_t pc)
{
	struct thread *t = recording();
	if (!t || in_libc(pc))
		return REAL(recvfrom)(fd, p, size, flags, a, length);
	peeks(fd, flags);
	struct iovec v = { p, size };
	struct given g;
	ssize_t n;
	if (input_given(t, LOG_INPUT_recvfrom, fd, size, &g)) {
		datagram_await(t, fd, &g);
		arrived(t, fd, g.result, size, waits_on(fd, flags), pc);
		n = fill(t, &v, 1, &g);
		if (g.recorded)
			fill_address(a, length, &g, 1);
	} else {
		socklen_t room = a && length ? *length : 0;
		asks_input(t, fd, size, waits_on(fd, flags), pc);
		n = await_input(t, waits_on(fd, flags), LOG_CALL_recvfrom, pc)
		            ? REAL(recvfrom)(fd, p, size, flags, a, length)
		            : -1;
		arrived(t, fd, n, size, waits_on(fd, flags), pc);
		if (outside(t, fd)) {
			socklen_t came = a && length ? *length : 0;
			struct piece from = address_piece(a, room, n >= 0 ? came : 0);
			input_keep_scattered(t, LOG_INPUT_recvfrom, fd, n, &v, 1, &from, 1,
			                     came);
		}
	}
	touched(t, LOG_WRITE, p, n < (ssize_t)size ? n : (ssize_t)size, pc);
	return n;
}

ssize_t interposed_recvfrom(int fd, void *restrict p, size_t size, int flags,
                            struct sockaddr *restrict a, socklen_t *restrict length)
{
	return recvfrom_here(fd, p, size, flags, a, length, CALLER());
}
EXPORT ssize_t __recvfrom_chk(int fd, void *restrict p, size_t size, size_t room, int flags,
                              struct sockaddr *restrict a, socklen_t *restrict length);
ssize_t __recvfrom_chk(int fd, void *restrict p, size_t size, size_t room, int flags,
                       struct sockaddr *restrict a, socklen_t *restrict length)
{
	return size > room ? REAL(__recvfrom_chk)(fd, p, size, room, flags, a, length)
	                   : recvfrom_here(fd, p, size, flags, a, length, CALLER());
}

static ssize_t readv_here(int fd, const struct iovec *v, int count, uintptr_t pc)
{
	struct thread *t = recording();
	if (!t || in_libc(pc) || count < 0)
		return REAL(readv)(fd, v, count);
	ssize_t n;
	READ_OR_GIVEN(n, t, readv, fd, v, (size_t)count, fd, LOG_CALL_readv, pc,
	              REAL(readv)(fd, v, count));
	scattered(t, LOG_WRITE, v, count, n, pc);
	return n;
}
ssize_t interposed_readv(int fd, const struct iovec *v, int count)
{
	return readv_here(fd, v, count, CALLER());
}
/* At the file's position, as readv. */
ssize_t interposed_preadv2(int fd, const struct iovec *v, int count, off_t offset, int flags)
{
	return offset == -1 && flags == 0 ? readv_here(fd, v, count, CALLER())
	                                  : REAL(preadv2)(fd, v, count, offset, flags);
}
INTERPOSED(preadv64v2) __attribute__((alias("preadv2")));

static void fill_message(struct msghdr *m, const struct given *g)
{
	size_t name = g->length[1], control = g->length[2];
	if (!g->recorded || g->result < 0)
		return;
	if (m->msg_name && name > 0 && name <= m->msg_namelen)
		memcpy(m->msg_name, g->part[1], name);
	if (m->msg_control && control > 0 && control <= m->msg_controllen)
		memcpy(m->msg_control, g->part[2], control);
	m->msg_namelen = name;
	m->msg_controllen = control;
	m->msg_flags = (int)g->extra;
}
/* Visits the descriptors in a message, which `visit` may change. */
static void each_passed(struct thread *t, unsigned channel, const struct msghdr *m,
                        int (*visit)(struct thread *t, unsigned channel, int fd, uintptr_t pc),
                        uintptr_t pc)
{
	if (!channel || !m->msg_control)
		return;
	struct msghdr *all = (struct msghdr *)m; /* (CMSG_NXTHDR does not change the message) */
	for (struct cmsghdr *c = CMSG_FIRSTHDR(all); c; c = CMSG_NXTHDR(all, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; CMSG_LEN((i + 1) * sizeof(int)) <= c->cmsg_len; i++) {
			int fd, now;
			memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
			now = visit(t, channel, fd, pc);
			if (now != fd)
				memcpy(CMSG_DATA(c) + i * sizeof(int), &now, sizeof(int));
		}
	}
}

static int passes(struct thread *t, unsigned channel, int fd, uintptr_t pc)
{
	outside_passes(channel, fd);
	return fd;
}

/* To another process. */
static int leaves(struct thread *t, unsigned channel, int fd, uintptr_t pc)
{
	channel_passed(t, outside_reads(fd), pc);
	channel_passed(t, outside_writes(fd), pc);
	return fd;
}

static ssize_t recvmsg_here(int fd, struct msghdr *m, int flags, uintptr_t pc)
{
	struct thread *t = recording();
	if (!t || in_libc(pc))
		return REAL(recvmsg)(fd, m, flags);
	peeks(fd, flags);
	struct given g;
	ssize_t n;
	if (input_given(t, LOG_INPUT_recvmsg, fd, room_in(m->msg_iov, m->msg_iovlen), &g)) {
		datagram_await(t, fd, &g);
		arrived(t, fd, g.result, room_in(m->msg_iov, m->msg_iovlen),
		        waits_on(fd, flags), pc);
		n = fill(t, m->msg_iov, m->msg_iovlen, &g);
		fill_message(m, &g);
	} else {
		asks_input(t, fd, room_in(m->msg_iov, m->msg_iovlen), waits_on(fd, flags), pc);
		n = await_input(t, waits_on(fd, flags), LOG_CALL_recvmsg, pc)
		            ? REAL(recvmsg)(fd, m, flags)
		            : -1;
		arrived(t, fd, n, room_in(m->msg_iov, m->msg_iovlen), waits_on(fd, flags), pc);
		if (n >= 0 && !outside(t, fd) && !(flags & MSG_PEEK))
			each_passed(t, outside_reads(fd), m, outside_got, pc);
		if (outside(t, fd)) {
			struct piece parts[] = {
				{ m->msg_name, n >= 0 && m->msg_name ? m->msg_namelen : 0 },
				{ m->msg_control, n >= 0 ? m->msg_controllen : 0 }
			};
			input_keep_scattered(t, LOG_INPUT_recvmsg, fd, n, m->msg_iov,
			                     m->msg_iovlen, parts, 2, (uint32_t)m->msg_flags);
		}
	}
	if (n > 0)
		scattered(t, LOG_WRITE, m->msg_iov, m->msg_iovlen, n, pc);
	return n;
}

ssize_t interposed_recvmsg(int fd, struct msghdr *m, int flags)
{
	return recvmsg_here(fd, m, flags, CALLER());
}
/* Receives one message after the other; the time limit is checked after each, as in the
 * kernel. */
int interposed_recvmmsg(int fd, struct mmsghdr *m, unsigned count, int flags,
                        struct timespec *timeout)
{
	if (!recording() || !rt.controlled)
		return REAL(recvmmsg)(fd, m, count, flags, timeout);
	uint64_t limit =
	        timeout ? (uint64_t)timeout->tv_sec * 1000000000 + (uint64_t)timeout->tv_nsec
	                : 0;
	uint64_t end = virtual_now() + limit;
	for (unsigned i = 0; i < count; i++) {
		if (i > 0 && timeout && virtual_now() >= end)
			return (int)i;
		bool waits = i == 0 || !(flags & MSG_WAITFORONE);
		int how = (flags & ~MSG_WAITFORONE) | (waits ? 0 : MSG_DONTWAIT);
		ssize_t n = recvmsg_here(fd, &m[i].msg_hdr, how, CALLER());
		if (n < 0)
			return i ? (int)i : -1;
		m[i].msg_len = (unsigned)n;
	}
	return (int)count;
}

/* Of regular files a repeated read gives the same, but for those of the kernel's. */
static ssize_t pread_here(int fd, void *p, size_t size, off_t offset, uintptr_t pc)
{
	struct thread *t = recording();
	if (!t || in_libc(pc))
		return REAL(pread64)(fd, p, size, offset);
	struct iovec v = { p, size };
	struct given g;
	ssize_t n;
	order_of_descriptor(fd, false, true);
	if (input_given(t, LOG_INPUT_read, fd, size, &g)) {
		n = fill(t, &v, 1, &g);
	} else {
		await_input(t, fd, LOG_CALL_read, pc);
		n = REAL(pread64)(fd, p, size, offset);
		if (outside(t, fd))
			input_keep_scattered(t, LOG_INPUT_read, fd, n, &v, 1, NULL, 0, 0);
	}
	touched(t, LOG_WRITE, p, n, pc);
	return n;
}
EXPORT ssize_t __pread_chk(int fd, void *p, size_t size, off_t offset, size_t room);
ssize_t __pread_chk(int fd, void *p, size_t size, off_t offset, size_t room)
{
	return size > room ? REAL(__pread_chk)(fd, p, size, offset, room)
	                   : pread_here(fd, p, size, offset, CALLER());
}
EXPORT ssize_t __pread64_chk(int fd, void *p, size_t size, off64_t offset, size_t room)
        __attribute__((alias("__pread_chk")));
ssize_t interposed_pread(int fd, void *p, size_t size, off_t offset)
{
	return pread_here(fd, p, size, offset, CALLER());
}
ssize_t interposed_pread64(int fd, void *p, size_t size, off64_t offset)
{
	return pread_here(fd, p, size, offset, CALLER());
}

/* ---- connections ---- */

/* Takes the place of a recorded accepted connection: only its number matters. */
static int accept_given(struct thread *t, int fd, const struct given *g, struct sockaddr *a,
                        socklen_t *length, int flags)
{
	if (!g->recorded || g->result < 0)
		return -1;
	fill_address(a, length, g, 0);
	if (g->length[1])
		return connection_given_accept(t, fd, (int)g->result, flags, g->part[1],
		                               g->length[1]);
	return outside_stand_in(t, (int)g->result, flags);
}

static void accept_kept(struct thread *t, enum log_input_call call, int fd, int made,
                        const struct sockaddr *a, socklen_t room, const socklen_t *length,
                        uintptr_t pc)
{
	int error = errno;
	socklen_t size = made >= 0 && a && length ? *length : 0;
	struct piece parts[2] = { address_piece(a, room, size) };
	if (made >= 0)
		outside_fresh(made, ORIGIN_OUTSIDE);
	bool out = outside(t, fd);
	parts[1] = connection_piece(connection_accepted(t, fd, made, pc));
	errno = error;
	if (out)
		input_keep(t, call, fd, made, parts, 2, size);
}

static int accept_here(int fd, struct sockaddr *a, socklen_t *length, int flags,
                       enum log_input_call call, enum log_call frame, uintptr_t pc)
{
	struct thread *t = recording();
	bool plain = call == LOG_INPUT_accept;
	if (!t)
		return plain ? REAL(accept)(fd, a, length)
		             : REAL(accept4)(fd, a, length, flags);
	struct given g;
	int made;
	if (input_given(t, call, fd, 0, &g)) {
		channel_read(t, outside_reads(fd), g.result >= 0 && g.length[1], false, pc);
		made = accept_given(t, fd, &g, a, length, flags);
	} else {
		socklen_t room = a && length ? *length : 0;
		made = !await_input(t, fd, frame, pc) ? -1
		       : plain                        ? REAL(accept)(fd, a, length)
		                                      : REAL(accept4)(fd, a, length, flags);
		accept_kept(t, call, fd, made, a, room, length, pc);
	}
	channel_numbered(t, made, pc);
	return made;
}
int interposed_accept(int fd, struct sockaddr *restrict a, socklen_t *restrict length)
{
	return accept_here(fd, a, length, 0, LOG_INPUT_accept, LOG_CALL_accept, CALLER());
}
int interposed_accept4(int fd, struct sockaddr *restrict a, socklen_t *restrict length,
                       int flags)
{
	return accept_here(fd, a, length, flags, LOG_INPUT_accept4, LOG_CALL_accept4, CALLER());
}

/* ---- writing ---- */

/* The channel of a datagram to a socket of the process; else the descriptor's channel. */
static unsigned way_to(struct thread *t, int fd, const struct sockaddr *a, socklen_t length,
                       uint32_t *target)
{
	int error = errno;
	*target = 0;
	outside(t, fd); /* an inherited descriptor is examined now */
	unsigned channel = outside_writes(fd);
	if (!channel && messages_real())
		channel = datagram_channel(fd, a, length, target);
	errno = error;
	return channel;
}

#define WRITE_OR_GIVEN(t, call, fd, size, waits, pc, real) \
	WRITE_TO_OR_GIVEN(t, call, fd, NULL, 0, size, waits, pc, real)
/* The result: replayed, or from the real call, which is then recorded. */
#define WRITE_TO_OR_GIVEN(t, call, fd, address, address_length, size, waits, pc, real) \
	({ \
		struct given g_; \
		ssize_t n_; \
		uint32_t target_; \
		unsigned way_ = way_to(t, fd, address, address_length, &target_); \
		order_of_descriptor(fd, true, false); \
		if (input_given(t, call, fd, size, &g_)) { \
			n_ = g_.result; \
			if (g_.recorded && g_.extra) \
				datagram_given(t, g_.extra, pc); \
		} else { \
			if (!channel_asks_write(t, way_, size, pc)) \
				channel_turn(t, way_, LOG_SND, pc); \
			if (may_fill(fd, size) && !is_sent_whole(fd, size)) { \
				stands_at(t, pc); \
				sched_leave(t); \
				n_ = real; \
				int error_ = errno; \
				sched_rejoin(t); \
				errno = error_; \
			} else { \
				stands_at(t, pc); \
				n_ = await(t, waits, POLLOUT) ? real : -1; \
			} \
			channel_wrote(t, way_, n_, pc); \
			channel_await(way_); \
			if (outside(t, fd)) \
				input_keep(t, call, fd, n_, NULL, 0, n_ < 0 ? 0 : target_); \
		} \
		n_; \
	})

/*
 * Size of the parts of a write. A larger write into a pipe or a socket's stream that only
 * threads of the process read is made in parts: a thread that fills it waits in the
 * scheduler, and each read comes after the write of its bytes. 0: written at once. `waits`:
 * as waits_on().
 */
static size_t part_of(int fd, size_t size, int waits)
{
	struct stat status;
	int room = 0, type = 0;
	socklen_t length = sizeof(room), type_length = sizeof(type);
	enum { FREE = 8 }; /* a part this much of the room fits when any room is reported */
	if (!rt.controlled || size <= PART || waits < 0 || !channel_only_own(fd, POLLOUT) ||
	    !is_input(fd) || fstat(fd, &status) != 0)
		return 0;
	if (S_ISFIFO(status.st_mode))
		return PART;
	if (syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_TYPE, &type, &type_length) != 0 ||
	    type != SOCK_STREAM ||
	    syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_SNDBUF, &room, &length) != 0)
		return 0;
	room /= FREE;
	return room < PART ? PART : room > MOST_PART ? MOST_PART : (size_t)room;
}

/* Writes one part. To a socket whose reader is gone only the first one gets SIGPIPE, as the
 * whole would. */
static ssize_t write_part(int fd, const void *p, size_t size, int flags, bool first)
{
	int type = 0;
	socklen_t length = sizeof(type);
	if (syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_TYPE, &type, &length) != 0)
		return REAL(write)(fd, p, size);
	return REAL(send)(fd, p, size, flags | (first ? 0 : MSG_NOSIGNAL));
}

static ssize_t write_in_parts(struct thread *t, enum log_input_call call, int fd,
                              const struct iovec *v, size_t count, int flags, size_t most,
                              uintptr_t pc)
{
	ssize_t done = 0;
	for (size_t i = 0; i < count; i++)
		for (size_t at = 0; at < v[i].iov_len;) {
			size_t part = v[i].iov_len - at < most ? v[i].iov_len - at : most;
			const char *p = (const char *)v[i].iov_base + at;
			channel_contents(t, outside_writes(fd),
			                 &(struct iovec){ (void *)p, part }, 1);
			ssize_t n = WRITE_OR_GIVEN(t, call, fd, part, fd, pc,
			                           write_part(fd, p, part, flags, done == 0));
			if (n <= 0)
				return done ? done : n;
			done += n;
			at += (size_t)n;
		}
	return done;
}

static ssize_t write_here(int fd, const void *p, size_t size, uintptr_t pc)
{
	struct thread *t = recording();
	if (!t || in_libc(pc))
		return REAL(write)(fd, p, size);
	touched(t, LOG_READ, p, size, pc);
	size_t part = part_of(fd, size, fd);
	struct iovec all = { (void *)p, size };
	if (part)
		return write_in_parts(t, LOG_INPUT_write, fd, &all, 1, 0, part, pc);
	channel_contents(t, outside_writes(fd), &all, 1);
	return WRITE_OR_GIVEN(t, LOG_INPUT_write, fd, size, fd, pc, REAL(write)(fd, p, size));
}
ssize_t interposed_write(int fd, const void *p, size_t size)
{
	return write_here(fd, p, size, CALLER());
}
ENTRY(eventfd_read)
int interposed_eventfd_read(int fd, eventfd_t *value) BEHIND(eventfd_read);
int interposed_eventfd_read(int fd, eventfd_t *value)
{
	channel_entered(&me->input);
	return read_here(fd, value, sizeof(*value), CALLER()) == sizeof(*value) ? 0 : -1;
}
int interposed_eventfd_write(int fd, eventfd_t value)
{
	return write_here(fd, &value, sizeof(value), CALLER()) == sizeof(value) ? 0 : -1;
}
ssize_t interposed_send(int fd, const void *p, size_t size, int flags)
{
	struct thread *t = recording();
	if (!t || in_libc(CALLER()))
		return REAL(send)(fd, p, size, flags);
	touched(t, LOG_READ, p, size, CALLER());
	size_t part = part_of(fd, size, waits_on(fd, flags));
	struct iovec all = { (void *)p, size };
	if (part)
		return write_in_parts(t, LOG_INPUT_send, fd, &all, 1, flags, part, CALLER());
	channel_contents(t, outside_writes(fd), &all, 1);
	return WRITE_OR_GIVEN(t, LOG_INPUT_send, fd, size, waits_on(fd, flags), CALLER(),
	                      REAL(send)(fd, p, size, flags));
}
ssize_t interposed_sendto(int fd, const void *p, size_t size, int flags,
                          const struct sockaddr *a, socklen_t length)
{
	struct thread *t = recording();
	if (!t || in_libc(CALLER()))
		return REAL(sendto)(fd, p, size, flags, a, length);
	touched(t, LOG_READ, p, size, CALLER());
	size_t part = a ? 0 : part_of(fd, size, waits_on(fd, flags));
	struct iovec all = { (void *)p, size };
	if (part)
		return write_in_parts(t, LOG_INPUT_sendto, fd, &all, 1, flags, part, CALLER());
	channel_contents(t, outside_writes(fd), &all, 1);
	return WRITE_TO_OR_GIVEN(t, LOG_INPUT_sendto, fd, a, length, size, waits_on(fd, flags),
	                         CALLER(), REAL(sendto)(fd, p, size, flags, a, length));
}
static ssize_t writev_here(int fd, const struct iovec *v, int count, uintptr_t pc)
{
	struct thread *t = recording();
	if (!t || in_libc(pc) || count < 0)
		return REAL(writev)(fd, v, count);
	size_t size = room_in(v, count), part = part_of(fd, size, fd);
	scattered(t, LOG_READ, v, count, size, pc);
	if (part)
		return write_in_parts(t, LOG_INPUT_writev, fd, v, (size_t)count, 0, part, pc);
	channel_contents(t, outside_writes(fd), v, (size_t)count);
	return WRITE_OR_GIVEN(t, LOG_INPUT_writev, fd, size, fd, pc,
	                      REAL(writev)(fd, v, count));
}
ssize_t interposed_writev(int fd, const struct iovec *v, int count)
{
	return writev_here(fd, v, count, CALLER());
}
/* At the file's position, as writev. */
ssize_t interposed_pwritev2(int fd, const struct iovec *v, int count, off_t offset, int flags)
{
	return offset == -1 && flags == 0 ? writev_here(fd, v, count, CALLER())
	                                  : REAL(pwritev2)(fd, v, count, offset, flags);
}
INTERPOSED(pwritev64v2) __attribute__((alias("pwritev2")));

static ssize_t sendmsg_here(int fd, const struct msghdr *m, int flags, uintptr_t pc)
{
	struct thread *t = recording();
	if (!t || in_libc(pc))
		return REAL(sendmsg)(fd, m, flags);
	size_t size = room_in(m->msg_iov, m->msg_iovlen);
	bool plain = !m->msg_name && !m->msg_controllen;
	size_t part = plain ? part_of(fd, size, waits_on(fd, flags)) : 0;
	scattered(t, LOG_READ, m->msg_iov, m->msg_iovlen, size, pc);
	if (part)
		return write_in_parts(t, LOG_INPUT_sendmsg, fd, m->msg_iov, m->msg_iovlen,
		                      flags, part, pc);
	channel_contents(t, outside_writes(fd), m->msg_iov, m->msg_iovlen);
	if (outside(t, fd))
		each_passed(t, 1, m, leaves, pc);
	else
		each_passed(t, outside_writes(fd), m, passes, pc);
	return WRITE_TO_OR_GIVEN(t, LOG_INPUT_sendmsg, fd, m->msg_name, m->msg_namelen, size,
	                         waits_on(fd, flags), pc, REAL(sendmsg)(fd, m, flags));
}
ssize_t interposed_sendmsg(int fd, const struct msghdr *m, int flags)
{
	return sendmsg_here(fd, m, flags, CALLER());
}
int interposed_sendmmsg(int fd, struct mmsghdr *m, unsigned count, int flags)
{
	if (!recording())
		return REAL(sendmmsg)(fd, m, count, flags);
	for (unsigned i = 0; i < count; i++) {
		ssize_t n = sendmsg_here(fd, &m[i].msg_hdr, flags, CALLER());
		if (n < 0)
			return i ? (int)i : -1;
		m[i].msg_len = (unsigned)n;
	}
	return (int)count;
}

/* Advances the file that is sent, as the real call would. */
static ssize_t sendfile_given(const struct given *g, int from, off64_t *offset)
{
	int error = errno;
	if (g->result > 0 && offset)
		*offset += g->result;
	else if (g->result > 0)
		syscall(SYS_lseek, from, g->result, SEEK_CUR);
	errno = error;
	return g->result;
}
static ssize_t sendfile_here(int fd, int from, off64_t *offset, size_t size, uintptr_t pc)
{
	struct thread *t = recording();
	struct given g;
	if (!t)
		return REAL(sendfile64)(fd, from, offset, size);
	if (input_given(t, LOG_INPUT_sendfile, fd, size, &g))
		return sendfile_given(&g, from, offset);
	size_t part = part_of(fd, size, fd), done = 0;
	if (!part)
		return WRITE_OR_GIVEN(t, LOG_INPUT_sendfile, fd, size, fd, pc,
		                      REAL(sendfile64)(fd, from, offset, size));
	while (done < size) {
		size_t here = size - done < part ? size - done : part;
		ssize_t n = WRITE_OR_GIVEN(t, LOG_INPUT_sendfile, fd, here, fd, pc,
		                           REAL(sendfile64)(fd, from, offset, here));
		if (n <= 0)
			return done ? (ssize_t)done : n;
		done += (size_t)n;
	}
	return (ssize_t)done;
}
ssize_t interposed_sendfile(int fd, int from, off_t *offset, size_t size)
{
	return sendfile_here(fd, from, offset, size, CALLER());
}
ssize_t interposed_sendfile64(int fd, int from, off64_t *offset, size_t size)
{
	return sendfile_here(fd, from, offset, size, CALLER());
}

static ssize_t pwrite_here(int fd, const void *p, size_t size, off_t offset, uintptr_t pc)
{
	struct thread *t = recording();
	if (!t || in_libc(pc))
		return REAL(pwrite64)(fd, p, size, offset);
	order_of_descriptor(fd, true, true);
	touched(t, LOG_READ, p, size, pc);
	return REAL(pwrite64)(fd, p, size, offset);
}
ssize_t interposed_pwrite(int fd, const void *p, size_t size, off_t offset)
{
	return pwrite_here(fd, p, size, offset, CALLER());
}
ssize_t interposed_pwrite64(int fd, const void *p, size_t size, off64_t offset)
{
	return pwrite_here(fd, p, size, offset, CALLER());
}

ssize_t interposed_preadv(int fd, const struct iovec *v, int count, off_t offset)
{
	struct thread *t = recording();
	ssize_t n = REAL(preadv)(fd, v, count, offset);
	if (t && !in_libc(CALLER()))
		scattered(t, LOG_WRITE, v, count, n, CALLER());
	return n;
}
INTERPOSED(preadv64) __attribute__((alias("preadv")));
ssize_t interposed_pwritev(int fd, const struct iovec *v, int count, off_t offset)
{
	struct thread *t = recording();
	if (t && !in_libc(CALLER()) && count > 0)
		scattered(t, LOG_READ, v, count, (ssize_t)room_in(v, count), CALLER());
	return REAL(pwritev)(fd, v, count, offset);
}
INTERPOSED(pwritev64) __attribute__((alias("pwritev")));

/* ---- moving ---- */

/* Wait until bytes can be moved, and have room. */
static void await_move(struct thread *t, int in, int out, unsigned flags, uintptr_t pc)
{
	if (flags & SPLICE_F_NONBLOCK)
		return;
	stands_at(t, pc);
	await(t, in, POLLIN);
	await(t, out, POLLOUT);
	await(t, in, POLLIN);
}

ssize_t interposed_splice(int in, off64_t *in_offset, int out, off64_t *out_offset, size_t size,
                          unsigned flags)
{
	struct thread *t = recording();
	if (!t)
		return REAL(splice)(in, in_offset, out, out_offset, size, flags);
	await_move(t, in, out, flags, CALLER());
	ssize_t n = REAL(splice)(in, in_offset, out, out_offset, size, flags);
	bool waits = !(flags & SPLICE_F_NONBLOCK);
	if (n == 0 && size > 0)
		channel_ended(t, outside_reads(in), waits, CALLER());
	else
		channel_read(t, outside_reads(in), n, waits, CALLER());
	channel_wrote(t, outside_writes(out), n, CALLER());
	return n;
}

ssize_t interposed_tee(int in, int out, size_t size, unsigned flags)
{
	struct thread *t = recording();
	if (!t)
		return REAL(tee)(in, out, size, flags);
	await_move(t, in, out, flags, CALLER());
	ssize_t n = REAL(tee)(in, out, size, flags);
	if (n > 0)
		channel_ready(t, outside_reads(in), CALLER());
	channel_wrote(t, outside_writes(out), n, CALLER());
	return n;
}

ssize_t interposed_vmsplice(int fd, const struct iovec *v, size_t count, unsigned flags)
{
	struct thread *t = recording();
	if (!t || (syscall(SYS_fcntl, fd, F_GETFL) & O_ACCMODE) == O_RDONLY)
		return REAL(vmsplice)(fd, v, count, flags);
	scattered(t, LOG_READ, v, count, (ssize_t)room_in(v, count), CALLER());
	stands_at(t, CALLER());
	if (!(flags & SPLICE_F_NONBLOCK))
		await(t, fd, POLLOUT);
	ssize_t n = REAL(vmsplice)(fd, v, count, flags);
	channel_wrote(t, outside_writes(fd), n, CALLER());
	return n;
}
