/*
 * connections.c - sockets of the process to itself: connections over UNIX and network sockets
 * whose two ends are both the process's, and datagrams to its own sockets.
 *
 * A connect to an address that the process itself listens at sends a message, which the accept
 * receives; from then on both ends lead to each other as those of a pair of sockets do
 * (channels.c).  The thread keeps the token during such a connect, which does not wait while
 * the listener has room, so that one seed gives one run.
 *
 * On replay no socket listens: a pair of sockets replaces the connection, and its data is
 * sent for real. Datagrams are given as they were recorded, after their sender has sent them.
 */
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "engine/record/runtime/core/rt.h"

enum { LISTENERS = 64, CONNECTIONS = 1024, DATAGRAMS = 64 };

union address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_un un;
};

static struct listener {
	int fd; /* + 1; 0: free */
	int backlog;
	unsigned waiting; /* connections that were not accepted yet */
} listeners[LISTENERS];

struct connection {
	bool used;
	struct { /* recorded with connect and accept */
		uint32_t id, type;
	} kept;
	int listener, client; /* descriptors */
	uint64_t order;
	unsigned there, back; /* channels, from the client's side */
	union address name;   /* the client's address in the network, once its connect has
	                       * returned */
};
static struct connection *connections;
static uint32_t made_so_far;

static struct datagrams {
	int fd;   /* + 1; 0: free */
	int bell; /* replay: an eventfd, which counts datagrams sent there and not yet
	           * received; or -1 */
} datagrams[DATAGRAMS];

/* ---- addresses ---- */

static bool name_of(int fd, union address *name)
{
	socklen_t length = sizeof(*name);
	memset(name, 0, sizeof(*name));
	return syscall(SYS_getsockname, fd, name, &length) == 0;
}

static bool same_host(const union address *a, const union address *b)
{
	static const struct in6_addr any6 = IN6ADDR_ANY_INIT;
	if (a->any.sa_family == AF_INET)
		return a->in.sin_addr.s_addr == b->in.sin_addr.s_addr ||
		       b->in.sin_addr.s_addr == INADDR_ANY ||
		       a->in.sin_addr.s_addr == INADDR_ANY;
	return memcmp(&a->in6.sin6_addr, &b->in6.sin6_addr, sizeof(any6)) == 0 ||
	       memcmp(&b->in6.sin6_addr, &any6, sizeof(any6)) == 0;
}

/* Does `to` name the socket that is bound to `bound`? */
static bool leads_to(const union address *to, const union address *bound)
{
	if (to->any.sa_family != bound->any.sa_family)
		return false;
	switch (to->any.sa_family) {
	case AF_INET:
	case AF_INET6: /* the port is at the same place */
		return to->in.sin_port && to->in.sin_port == bound->in.sin_port &&
		       same_host(to, bound);
	case AF_UNIX: /* an abstract name begins with a zero byte */
		return memcmp(to->un.sun_path, bound->un.sun_path, sizeof(to->un.sun_path)) ==
		               0 &&
		       (to->un.sun_path[0] || to->un.sun_path[1]);
	default:
		return false;
	}
}

/* Copies an address, followed by zeros. */
static bool take_address(const struct sockaddr *a, socklen_t length, union address *out)
{
	memset(out, 0, sizeof(*out));
	if (!a || length < sizeof(sa_family_t) || length > sizeof(*out))
		return false;
	memcpy(out, a, length);
	if (out->any.sa_family == AF_UNIX &&
	    out->un.sun_path[0]) /* bytes after the path's end */
		memset(out->un.sun_path + strlen(out->un.sun_path), 0,
		       sizeof(*out) - offsetof(struct sockaddr_un, sun_path) -
		               strlen(out->un.sun_path));
	return true;
}

static uint32_t type_of(int fd)
{
	int type = 0;
	socklen_t length = sizeof(type);
	syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_TYPE, &type, &length);
	return (uint32_t)type;
}

/* ---- listening ---- */

static struct listener *listener_of(int fd)
{
	for (unsigned i = 0; i < LISTENERS; i++)
		if (listeners[i].fd == fd + 1)
			return &listeners[i];
	return NULL;
}

void connection_listens(int fd, int backlog)
{
	if (!rt.inputs || fd < 0)
		return;
	struct listener *l = listener_of(fd);
	for (unsigned i = 0; !l && i < LISTENERS; i++)
		if (listeners[i].fd == 0)
			l = &listeners[i];
	if (!l)
		return; /* too many listeners: connections to this one order nothing */
	if (l->fd == 0) {
		unsigned channel = channel_new(false);
		channel_listens(channel);
		outside_leads(fd, channel, 0);
	}
	*l = (struct listener){ .fd = fd + 1, .backlog = backlog, .waiting = l->waiting };
}

static void forget(struct connection *c)
{
	channel_left(c->there);
	channel_left(c->back);
	c->used = false;
}

void connection_closed(int fd)
{
	struct listener *l = listener_of(fd);
	for (unsigned i = 0; i < DATAGRAMS; i++)
		if (datagrams[i].fd == fd + 1) {
			if (datagrams[i].bell >= 0)
				syscall(SYS_close, datagrams[i].bell);
			datagrams[i].fd = 0;
		}
	if (!l)
		return;
	for (unsigned i = 0; connections && i < CONNECTIONS; i++)
		if (connections[i].used && connections[i].listener == fd)
			forget(&connections[i]);
	*l = (struct listener){ .fd = 0 };
}

/* ---- connecting, in a recording ---- */

static struct connection *connection_new(void)
{
	if (!connections)
		connections = rt_pages(CONNECTIONS * sizeof(*connections));
	/* numbers are used in turn, so that one is not soon reused while its connect has not
	 * returned */
	for (unsigned i = 0; connections && i < CONNECTIONS; i++) {
		struct connection *c = &connections[(made_so_far + i) % CONNECTIONS];
		if (!c->used)
			return c;
	}
	return NULL;
}

static void new_channels(struct connection *c, bool late)
{
	c->there = channel_new(false);
	c->back = channel_new(false);
	channel_held(c->there);
	channel_held(c->back);
	channel_is_own(c->there);
	channel_is_own(c->back);
	if (late) {
		channel_is_late(c->there);
		channel_is_late(c->back);
	}
}

struct connection *connection_begins(struct thread *t, int fd, const struct sockaddr *a,
                                     socklen_t length, bool *full, uintptr_t pc)
{
	union address to, bound;
	struct listener *l = NULL;
	*full = true;
	if (!messages_real() || !take_address(a, length, &to))
		return NULL;
	for (unsigned i = 0; !l && i < LISTENERS; i++)
		if (listeners[i].fd && name_of(listeners[i].fd - 1, &bound) &&
		    leads_to(&to, &bound))
			l = &listeners[i];
	struct connection *c = l ? connection_new() : NULL;
	if (!c)
		return NULL;
	*c = (struct connection){ .used = true,
		                  .kept = { ++made_so_far, type_of(fd) },
		                  .listener = l->fd - 1,
		                  .client = fd,
		                  .order = made_so_far };
	new_channels(c, to.any.sa_family != AF_UNIX);
	*full = l->waiting > 0 && (int)l->waiting >= l->backlog;
	l->waiting++;
	channel_wrote(t, outside_reads(c->listener), 1, pc);
	return c;
}

/* The connect of a UNIX socket waits as long as its time limit for writing. */
int connection_waits(struct thread *t, const struct connection *c, int fd,
                     const struct sockaddr *a, socklen_t length, uintptr_t pc)
{
	const struct timeval part = { 0, 250000 }, none = { 0, 0 };
	struct timeval limit = { 0, 0 };
	socklen_t room = sizeof(limit);
	struct pollfd accepts = { .fd = c ? c->listener : -1 };
	syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_SNDTIMEO, &limit, &room);
	bool in_parts = c && a->sa_family == AF_UNIX && limit.tv_sec == 0 &&
	                limit.tv_usec == 0 && !(syscall(SYS_fcntl, fd, F_GETFL) & O_NONBLOCK);
	t->sched.pc = pc;
	if (in_parts) {
		sched_leave_for(t, &accepts, 1);
		syscall(SYS_setsockopt, fd, SOL_SOCKET, SO_SNDTIMEO, &part, sizeof(part));
	} else {
		sched_leave(t);
	}
	int result = REAL(connect)(fd, a, length);
	while (in_parts && result != 0 && errno == EAGAIN && rt.on) {
		sched_look_outside();
		result = REAL(connect)(fd, a, length);
	}
	int error = errno;
	if (in_parts)
		syscall(SYS_setsockopt, fd, SOL_SOCKET, SO_SNDTIMEO, &none, sizeof(none));
	sched_rejoin(t);
	errno = error;
	return result;
}

void connection_made(struct connection *c, int fd, int result)
{
	int error = errno;
	const struct timespec longest = { 1, 0 };
	struct pollfd one = { .fd = c->listener, .events = POLLIN };
	if (result == 0 || error == EINPROGRESS) {
		name_of(fd, &c->name);
		outside_link(fd, c->back, c->there);
		if (c->name.any.sa_family != AF_UNIX && c->used)
			syscall(SYS_ppoll, &one, 1, &longest, NULL, 0);
	} else if (c->used) {
		struct listener *l = listener_of(c->listener);
		if (l && l->waiting > 0)
			l->waiting--;
		forget(c);
	}
	errno = error;
}

/* Is `made`, which the listener has accepted, the other end of this connection? */
static bool is_other_end(const struct connection *c, const union address *peer, bool own)
{
	union address now;
	if (peer->any.sa_family == AF_UNIX)
		return own;
	if (c->name.any.sa_family) /* the client may be closed by now */
		return leads_to(peer, &c->name);
	return name_of(c->client, &now) && leads_to(peer, &now);
}

struct connection *connection_accepted(struct thread *t, int listener, int made, uintptr_t pc)
{
	struct listener *l = listener_of(listener);
	struct connection *best = NULL;
	union address peer = { .any.sa_family = AF_UNIX };
	socklen_t length = sizeof(peer);
	struct ucred who = { 0 };
	socklen_t room = sizeof(who);
	if (made < 0 || !l || !messages_real() || !connections)
		return NULL;
	syscall(SYS_getpeername, made, &peer, &length);
	syscall(SYS_getsockopt, made, SOL_SOCKET, SO_PEERCRED, &who, &room);
	for (unsigned i = 0; i < CONNECTIONS; i++) {
		struct connection *c = &connections[i];
		if (c->used && c->listener == listener && (!best || c->order < best->order) &&
		    is_other_end(c, &peer, who.pid == (pid_t)rt.header->pid))
			best = c;
	}
	if (!best)
		return NULL;
	outside_fresh(made, ORIGIN_LINKED);
	outside_leads(made, best->there, best->back);
	l->waiting -= l->waiting > 0;
	channel_read(t, outside_reads(listener), 1, false, pc);
	forget(best);
	return best;
}

struct piece connection_piece(const struct connection *c)
{
	return (struct piece){ c ? &c->kept : NULL, c ? sizeof(c->kept) : 0 };
}

/* ---- and on replay ---- */

/* A counter under an unused number, by whose state threads wait; -1: none could be made. */
static int bell_new(unsigned flags)
{
	enum { HIGH = 900 };
	int fd = syscall(SYS_eventfd2, 0, EFD_CLOEXEC | EFD_NONBLOCK | flags);
	int high = syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, HIGH);
	if (high < 0)
		return fd;
	syscall(SYS_close, fd);
	return high;
}

static void bell_ring(int bell)
{
	const uint64_t one = 1;
	if (bell >= 0)
		syscall(SYS_write, bell, &one, sizeof(one));
}

static void bell_await(struct thread *t, int bell)
{
	struct pollfd one = { .fd = bell, .events = POLLIN };
	if (bell >= 0)
		input_starve(t, &one, 1, false, 0);
}

/* A planned connection, by its number in the recording; made by the first of connect and
 * accept. */
static struct planned {
	bool used;
	int end[2]; /* descriptors, the client's first, until they are taken */
	int bell;   /* rung by the connect */
	unsigned there, back;
} planned[CONNECTIONS];

static struct planned *planned_of(const void *piece, size_t length)
{
	__typeof__(connections->kept) kept;
	if (length != sizeof(kept))
		return NULL;
	memcpy(&kept, piece, sizeof(kept));
	struct planned *p = &planned[kept.id % CONNECTIONS];
	if (p->used)
		return p;
	if (syscall(SYS_socketpair, AF_UNIX, kept.type ? kept.type : SOCK_STREAM, 0, p->end) <
	    0)
		return NULL;
	p->used = true;
	p->bell = bell_new(0);
	p->there = channel_new(false);
	p->back = channel_new(false);
	return p;
}

static void end_taken(struct planned *p, unsigned side)
{
	p->end[side] = -1;
	if (p->end[0] >= 0 || p->end[1] >= 0)
		return;
	syscall(SYS_close, p->bell);
	p->used = false;
}

void connection_given(struct thread *t, int fd, int result, const void *piece, size_t length,
                      uintptr_t pc)
{
	int error = errno;
	struct planned *p =
	        result == 0 || error == EINPROGRESS ? planned_of(piece, length) : NULL;
	channel_sent(t, pc);
	if (p && p->end[0] >= 0) {
		long state = syscall(SYS_fcntl, fd, F_GETFL),
		     flags = syscall(SYS_fcntl, fd, F_GETFD);
		syscall(SYS_dup3, p->end[0], fd, flags & FD_CLOEXEC ? O_CLOEXEC : 0);
		syscall(SYS_fcntl, fd, F_SETFL, state);
		syscall(SYS_close, p->end[0]);
		outside_link(fd, p->back, p->there);
		bell_ring(p->bell);
		end_taken(p, 0);
	}
	errno = error;
}

int connection_given_accept(struct thread *t, int listener, int wanted, int flags,
                            const void *piece, size_t length)
{
	struct planned *p = planned_of(piece, length);
	if (!p || p->end[1] < 0)
		return -1;
	bell_await(t, p->bell); /* after the witness, the connect may come later than it did */
	int fd = p->end[1];
	if (flags & SOCK_NONBLOCK)
		syscall(SYS_fcntl, fd, F_SETFL, O_NONBLOCK);
	if (flags & SOCK_CLOEXEC)
		syscall(SYS_fcntl, fd, F_SETFD, FD_CLOEXEC);
	fd = outside_renumbered(t, fd, wanted, ORIGIN_LINKED);
	outside_leads(fd, p->there, p->back);
	end_taken(p, 1);
	return fd;
}

/* ---- datagrams ---- */

void datagram_socket(int fd)
{
	if (!rt.inputs || fd < 0 || type_of(fd) != SOCK_DGRAM)
		return;
	for (unsigned i = 0; i < DATAGRAMS; i++)
		if (datagrams[i].fd == 0) {
			datagrams[i].fd = fd + 1;
			datagrams[i].bell =
			        rt.inputs == INPUTS_GIVEN ? bell_new(EFD_SEMAPHORE) : -1;
			unsigned channel = channel_new(false);
			channel_of_datagrams(channel);
			channel_is_late(channel);
			outside_leads(fd, channel, 0);
			return;
		}
}

static struct datagrams *datagrams_of(int fd)
{
	for (unsigned i = 0; i < DATAGRAMS; i++)
		if (datagrams[i].fd == fd + 1)
			return &datagrams[i];
	return NULL;
}

unsigned datagram_channel(int fd, const struct sockaddr *a, socklen_t length, uint32_t *target)
{
	union address to, bound;
	if (!datagrams_of(fd))
		return 0;
	if (!a) {
		memset(&to, 0, sizeof(to));
		length = sizeof(to);
		if (syscall(SYS_getpeername, fd, &to, &length) != 0)
			return 0;
	} else if (!take_address(a, length, &to)) {
		return 0;
	}
	for (unsigned i = 0; i < DATAGRAMS; i++)
		if (datagrams[i].fd && name_of(datagrams[i].fd - 1, &bound) &&
		    leads_to(&to, &bound)) {
			*target = (uint32_t)datagrams[i].fd;
			return outside_reads(datagrams[i].fd - 1);
		}
	return 0;
}

void datagram_given(struct thread *t, uint32_t target, uintptr_t pc)
{
	channel_sent(t, pc);
	for (unsigned i = 0; i < DATAGRAMS; i++)
		if (datagrams[i].fd && outside_recorded(datagrams[i].fd - 1) == (int)target - 1)
			bell_ring(datagrams[i].bell);
}

void datagram_await(struct thread *t, int fd, const struct given *g)
{
	const struct datagrams *d = g->own ? datagrams_of(fd) : NULL;
	uint64_t one;
	if (!d || d->bell < 0)
		return;
	int error = errno;
	bell_await(t, d->bell);
	syscall(SYS_read, d->bell, &one, sizeof(one));
	errno = error;
}
