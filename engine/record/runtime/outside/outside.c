/*
 * outside.c - which descriptors lead out of the process.  See outside.h.
 *
 * A descriptor that a call of the program makes is known from that call; an older one (standard
 * input) is looked at when it is first used, and the log has its kind, as on replay another
 * file may be in its place.
 */
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <termios.h>
#include <unistd.h>

#include "engine/record/runtime/core/rt.h"

enum { LOOKED_AT = 256 };       /* numbers searched for the other end of a connection */
enum { DESCRIPTORS = 1 << 16 }; /* those above are taken for the process's own */

static struct descriptor {
	uint8_t origin;         /* enum origin */
	bool signals;           /* a signalfd */
	int32_t recorded;       /* replay: its number in the recording + 1, if different */
	uint16_t reads, writes; /* channels of the process, channels.c */
	uint32_t members;       /* for an epoll instance: number of members from outside */
	uint32_t first;         /* as a member: its first entry in `memberships`; 0: none */
	struct handover timer;  /* by timerfd_settime */
} table[DESCRIPTORS];
static struct membership { /* membership of a descriptor in an epoll instance */
	int32_t set;
	uint32_t next;
	uint64_t data;            /* of the member, as epoll_ctl gave it */
	uint32_t events;          /* events that the instance reports of it */
	struct handover given;    /* by epoll_ctl */
} memberships[DESCRIPTORS];       /* the first is not used */
static uint32_t used = 1, unused; /* first place never used; list of free ones */
static int highest;               /* of the members */
static bool seen; /* was any descriptor from outside? Until then numbers are not recorded. */

static struct descriptor *entry(int fd)
{
	return fd >= 0 && fd < DESCRIPTORS ? &table[fd] : NULL;
}

/* ---- what was there before ---- */

static bool status_of(int fd, struct stat *status)
{
	return syscall(SYS_newfstatat, fd, "", status, AT_EMPTY_PATH) == 0;
}

/* Does the process have the other end of the pipe, too? */
static bool both_ends(int fd, const struct stat *status)
{
	int mode = syscall(SYS_fcntl, fd, F_GETFL) & O_ACCMODE;
	for (int other = 0; other < LOOKED_AT; other++) {
		struct stat s;
		if (other != fd && status_of(other, &s) && s.st_ino == status->st_ino &&
		    s.st_dev == status->st_dev &&
		    (syscall(SYS_fcntl, other, F_GETFL) & O_ACCMODE) != mode)
			return true;
	}
	return mode == O_RDWR;
}

bool outside_both_ends(int fd)
{
	struct stat s;
	return fd >= 0 && status_of(fd, &s) && both_ends(fd, &s);
}

/* The inode of a UNIX socket's peer; 0: it has none, or it cannot be found. */
static uint32_t unix_peer(const struct stat *status)
{
	struct {
		struct nlmsghdr head;
		struct unix_diag_req body;
	} ask = { .head = { .nlmsg_len = sizeof(ask),
		            .nlmsg_type = SOCK_DIAG_BY_FAMILY,
		            .nlmsg_flags = NLM_F_REQUEST },
		  .body = { .sdiag_family = AF_UNIX,
		            .udiag_states = UINT32_MAX,
		            .udiag_ino = (uint32_t)status->st_ino,
		            .udiag_show = UDIAG_SHOW_PEER,
		            .udiag_cookie = { UINT32_MAX, UINT32_MAX } } };
	union {
		struct nlmsghdr head;
		char bytes[1024];
	} answer;
	uint32_t peer = 0;
	int s = syscall(SYS_socket, AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK,
	                NETLINK_SOCK_DIAG);
	if (s < 0)
		return 0;
	long n = syscall(SYS_sendto, s, &ask, sizeof(ask), 0, NULL, 0);
	if (n == (long)sizeof(ask))
		n = syscall(SYS_recvfrom, s, &answer, sizeof(answer), 0, NULL, NULL);
	syscall(SYS_close, s);
	if (n < (long)(NLMSG_HDRLEN + sizeof(struct unix_diag_msg)) ||
	    answer.head.nlmsg_type != SOCK_DIAG_BY_FAMILY)
		return 0;
	const char *at =
	        answer.bytes + NLMSG_HDRLEN + NLMSG_ALIGN(sizeof(struct unix_diag_msg));
	while (at + sizeof(struct nlattr) <= answer.bytes + n) {
		const struct nlattr *a = (const void *)at;
		if (a->nla_type == UNIX_DIAG_PEER && a->nla_len >= sizeof(*a) + sizeof(peer) &&
		    at + a->nla_len <= answer.bytes + n)
			memcpy(&peer, a + 1, sizeof(peer));
		if (a->nla_len < sizeof(*a))
			break;
		at += NLA_ALIGN(a->nla_len);
	}
	return peer;
}

/* Does the process have the other end of this socket, too? */
static bool has_peer(const struct stat *status, uint32_t *peer)
{
	*peer = unix_peer(status);
	for (int other = 0; *peer && other < LOOKED_AT; other++) {
		struct stat s;
		if (status_of(other, &s) && S_ISSOCK(s.st_mode) && s.st_ino == *peer)
			return true;
	}
	return false;
}

/* Links an inherited pipe, or pair of sockets, with both ends here. */
static void lead_inherited(int fd)
{
	struct stat first, s;
	uint32_t peer = 0;
	if (!status_of(fd, &first) || (!S_ISFIFO(first.st_mode) && !S_ISSOCK(first.st_mode)) ||
	    (S_ISFIFO(first.st_mode) ? !both_ends(fd, &first) : !has_peer(&first, &peer)))
		return;
	bool pipe = S_ISFIFO(first.st_mode);
	unsigned there = channel_new(false), back = pipe ? there : channel_new(false);
	for (int other = 0; other < LOOKED_AT; other++) {
		struct descriptor *d = entry(other);
		if (!status_of(other, &s) || (s.st_mode & S_IFMT) != (first.st_mode & S_IFMT) ||
		    (s.st_ino != first.st_ino && s.st_ino != peer) || d->reads || d->writes)
			continue;
		int mode = syscall(SYS_fcntl, other, F_GETFL) & O_ACCMODE;
		d->origin = ORIGIN_INSIDE;
		if (pipe)
			outside_leads(other, mode != O_WRONLY ? there : 0,
			              mode != O_RDONLY ? there : 0);
		else
			outside_leads(other, s.st_ino == first.st_ino ? back : there,
			              s.st_ino == first.st_ino ? there : back);
	}
}

static bool leads_outside(int fd)
{
	struct stat s;
	struct termios terminal;
	uint32_t peer;
	if (fd == 1 || fd == 2 || !status_of(fd, &s)) /* output is printed on replay as well */
		return false;
	if (S_ISCHR(s.st_mode))
		return syscall(SYS_ioctl, fd, TCGETS, &terminal) == 0;
	return (S_ISSOCK(s.st_mode) && !has_peer(&s, &peer)) ||
	       (S_ISFIFO(s.st_mode) && !both_ends(fd, &s));
}

static void find_origin(struct thread *t, int fd, struct descriptor *d)
{
	int error = errno;
	bool out;
	if (rt.inputs != INPUTS_GIVEN) {
		out = leads_outside(fd);
		if (out)
			input_keep(t, LOG_INPUT_descriptor, fd, 0, NULL, 0, 0);
	} else {
		const struct log_input *next = input_next(t, LOG_INPUT_descriptor);
		out = next && next->fd == fd;
		if (out)
			input_taken(t);
	}
	d->origin = out ? ORIGIN_OUTSIDE : ORIGIN_INSIDE;
	seen |= out;
	if (!out && !d->reads && !d->writes)
		lead_inherited(fd);
	errno = error;
}

bool outside(struct thread *t, int fd)
{
	struct descriptor *d = rt.inputs ? entry(fd) : NULL;
	if (!d)
		return false;
	if (unlikely(d->origin == ORIGIN_UNKNOWN))
		find_origin(t, fd, d);
	return d->origin == ORIGIN_OUTSIDE || d->origin == ORIGIN_KERNEL ||
	       (d->origin == ORIGIN_SET && d->members > 0);
}

bool outside_asked(struct thread *t, int fd)
{
	const struct descriptor *d = entry(fd);
	return outside(t, fd) || (rt.inputs && d && d->origin == ORIGIN_LINKED);
}

bool outside_is_inside(int fd)
{
	const struct descriptor *d = entry(fd);
	return d && (d->origin == ORIGIN_INSIDE || d->origin == ORIGIN_SET ||
	             d->origin == ORIGIN_LINKED);
}

/* ---- members of epoll instances ---- */

/* The descriptor's entry in the instance, or the end of the list. */
static uint32_t *membership_in(struct descriptor *d, int set)
{
	uint32_t *at = &d->first;
	while (*at && memberships[*at].set != set)
		at = &memberships[*at].next;
	return at;
}

/* A line of an epoll instance's fdinfo, proc(5): a member, by the number that it had, the
 * events, and the file's inode; false: none. */
struct member {
	int fd;
	unsigned events;
	uint64_t inode;
};

static const char *number_after(const char *line, const char *word, unsigned base,
                                uint64_t *number)
{
	const char *p = strstr(line, word);
	if (!p)
		return NULL;
	for (p += strlen(word); *p == ' ';)
		p++;
	for (*number = 0;; p++) {
		unsigned digit = *p >= '0' && *p <= '9'   ? *p - '0'
		                 : *p >= 'a' && *p <= 'f' ? *p - 'a' + 10
		                                          : 99;
		if (digit >= base)
			return p;
		*number = *number * base + digit;
	}
}

static const char *next_member(const char *text, struct member *m)
{
	uint64_t fd = 0, events = 0;
	const char *p = number_after(text, "tfd:", 10, &fd);
	p = p ? number_after(p, "events:", 16, &events) : NULL;
	p = p ? number_after(p, "ino:", 16, &m->inode) : NULL;
	m->fd = (int)fd;
	m->events = (unsigned)events;
	return p;
}

enum { NESTED = 5, MEMBERS_TEXT = 1 << 15 };

/* The kernel's list of the members, since the file of a closed descriptor may still be one;
 * NULL: unknown, or too long for the room. */
static const char *members_of(int set, pid_t tid, char *text)
{
	char path[64] = "/proc/self/task/";
	sched_append_number(path, sizeof(path), (uint64_t)tid, 10);
	sched_append(path, sizeof(path), "/fdinfo/");
	sched_append_number(path, sizeof(path), (uint64_t)set, 10);
	long length = sched_read_file(path, text, MEMBERS_TEXT);
	return length > 0 && length < MEMBERS_TEXT - 1 ? text : NULL;
}

static bool set_only_own(int set, pid_t tid, unsigned depth)
{
	char *text = rt_pages(MEMBERS_TEXT);
	struct member m;
	struct stat s;
	bool own = text && depth < NESTED;
	const char *at = own ? members_of(set, tid, text) : NULL;
	own = at != NULL;
	while (own && (at = next_member(at, &m))) {
		struct descriptor *d = entry(m.fd);
		if ((m.events & 0xffff & ~(POLLERR | POLLHUP)) ==
		    0) /* a one-shot that has come */
			continue;
		own = d && *membership_in(d, set) && status_of(m.fd, &s) &&
		      s.st_ino == m.inode &&
		      (d->origin == ORIGIN_SET
		               ? set_only_own(m.fd, tid, depth + 1)
		               : channel_only_own(m.fd, (short)(m.events & 0xffff)));
	}
	if (text)
		rt_unpages(text, MEMBERS_TEXT);
	return own;
}

bool outside_only_own(const struct pollfd *f, pid_t tid)
{
	const struct descriptor *d = entry(f->fd);
	if (!d || !rt.inputs)
		return false;
	return d->origin == ORIGIN_SET ? d->members == 0 && set_only_own(f->fd, tid, 0)
	                               : channel_only_own(f->fd, f->events);
}

/* A member of the set that leads to a channel, for a name; -1: none. */
static int some_member(int set, short *events)
{
	for (int fd = 0; fd <= highest; fd++) {
		uint32_t place = *membership_in(entry(fd), set);
		if (place && (table[fd].reads || table[fd].writes)) {
			*events = (short)(memberships[place].events & (POLLIN | POLLOUT));
			return fd;
		}
	}
	return -1;
}

unsigned outside_wanted(const struct pollfd *f)
{
	const struct descriptor *d = entry(f->fd);
	short events = f->events;
	int fd = d && d->origin == ORIGIN_SET ? some_member(f->fd, &events) : f->fd;
	return channel_wanted(fd, events);
}

bool outside_comes_late(const struct pollfd *f)
{
	const struct descriptor *d = entry(f->fd);
	short events = f->events;
	int fd = d && d->origin == ORIGIN_SET ? some_member(f->fd, &events) : f->fd;
	return fd >= 0 && channel_comes_late(fd, events);
}

/* ---- what is made and closed ---- */

static void leave(struct descriptor *d, uint32_t *at)
{
	uint32_t gone = *at;
	struct descriptor *set = entry(memberships[gone].set);
	if (set && d->origin == ORIGIN_OUTSIDE && set->members > 0)
		set->members--;
	*at = memberships[gone].next;
	memberships[gone].next = unused;
	unused = gone;
}

static uint32_t join(struct descriptor *d, int set)
{
	uint32_t place = unused;
	if (place)
		unused = memberships[place].next;
	else if (used < DESCRIPTORS)
		place = used++;
	else
		return 0;
	struct descriptor *s = entry(set);
	s->origin = ORIGIN_SET;
	s->members += d->origin == ORIGIN_OUTSIDE;
	memberships[place] = (struct membership){ .set = set };
	return place;
}

static void outside_gone(int fd)
{
	struct descriptor *d = entry(fd);
	if (!d)
		return;
	while (d->first)
		leave(d, &d->first);
	channel_reader(d->reads, -1);
	channel_left(d->reads);
	channel_left(d->writes);
	*d = (struct descriptor){ .origin = ORIGIN_UNKNOWN };
}

void outside_fresh(int fd, enum origin origin)
{
	struct descriptor *d = entry(fd);
	if (!d)
		return;
	outside_gone(fd);
	d->origin = origin;
	seen |= origin == ORIGIN_OUTSIDE;
}

void outside_copied(int from, int to)
{
	const struct descriptor *d = entry(from);
	if (!d || to < 0 || to == from)
		return;
	outside_fresh(to, d->origin);
	outside_leads(to, d->reads, d->writes);
	entry(to)->signals = d->signals;
	entry(to)->timer = d->timer;
}

void outside_brings_signals(int fd)
{
	struct descriptor *d = entry(fd);
	if (d)
		d->signals = true;
}

bool outside_has_signals(int fd)
{
	const struct descriptor *d = entry(fd);
	return d && d->signals;
}

void outside_leads(int fd, unsigned reads, unsigned writes)
{
	struct descriptor *d = entry(fd);
	if (!d)
		return;
	d->reads = (uint16_t)reads;
	d->writes = (uint16_t)writes;
	channel_held(reads);
	channel_held(writes);
	channel_reader(reads, fd);
}

void outside_link(int fd, unsigned reads, unsigned writes)
{
	struct descriptor *d = entry(fd);
	if (!d)
		return;
	for (uint32_t at = d->first; at; at = memberships[at].next) {
		const struct membership *m = &memberships[at];
		struct descriptor *set = entry(m->set);
		struct epoll_event event = { .events = m->events, .data.u64 = m->data };
		if (set && d->origin == ORIGIN_OUTSIDE && set->members > 0)
			set->members--;
		if (rt.inputs == INPUTS_GIVEN)
			syscall(SYS_epoll_ctl, m->set, EPOLL_CTL_ADD, fd, &event);
	}
	d->origin = ORIGIN_LINKED;
	channel_left(d->reads);
	channel_left(d->writes);
	outside_leads(fd, reads, writes);
}

unsigned outside_reads(int fd)
{
	const struct descriptor *d = entry(fd);
	return d ? d->reads : 0;
}

unsigned outside_writes(int fd)
{
	const struct descriptor *d = entry(fd);
	return d ? d->writes : 0;
}

int outside_recorded(int fd)
{
	const struct descriptor *d = entry(fd);
	return d && d->recorded ? d->recorded - 1 : fd;
}

void outside_closing(struct thread *t, int fd, uintptr_t pc)
{
	if (!t || !rt.inputs)
		return;
	channel_closing(t, fd, seen, outside_writes(fd), pc);
	connection_closed(fd);
	outside_gone(fd);
}

static bool in_use(int fd)
{
	return syscall(SYS_fcntl, fd, F_GETFD) >= 0;
}

/* Moves a descriptor to its number in the recording, if that is free in its thread's turn. */
static int move_to(struct thread *t, int fd, int wanted)
{
	if (fd == wanted)
		return fd;
	if (in_use(wanted) && rt.replay)
		replay_call(t);
	long flags = syscall(SYS_fcntl, fd, F_GETFD);
	if (in_use(wanted) ||
	    syscall(SYS_dup3, fd, wanted, flags & FD_CLOEXEC ? O_CLOEXEC : 0) < 0)
		return fd;
	syscall(SYS_close, fd);
	return wanted;
}

/* As outside_fresh, for a descriptor that had the number `wanted`. */
static void remember(int fd, int wanted, enum origin origin)
{
	struct descriptor *d = entry(fd);
	outside_fresh(fd, origin);
	if (d && fd != wanted && wanted >= 0)
		d->recorded = wanted + 1;
}

int outside_made(struct thread *t, enum log_input_call call, int fd, enum origin origin,
                 uintptr_t pc)
{
	int error = errno, wanted = fd;
	if (!t || !rt.inputs)
		return fd;
	seen |= origin == ORIGIN_OUTSIDE && fd >= 0;
	if (rt.inputs == INPUTS_KEPT) {
		if (seen)
			input_keep(t, call, -1, fd, NULL, 0, 0);
	} else if (rt.inputs == INPUTS_GIVEN) {
		const struct log_input *next = input_next(t, call);
		/* a FIFO's or the kernel's is that of a later call (input_opened) */
		if (next && (call != LOG_INPUT_open || next->extra == 0)) {
			wanted = (int)next->result;
			input_taken(t);
			if (fd >= 0 && wanted >= 0)
				fd = move_to(t, fd, wanted);
		}
	}
	remember(fd, wanted, origin);
	errno = error;
	channel_numbered(t, fd, pc);
	return fd;
}

int outside_renumbered(struct thread *t, int fd, int wanted, enum origin origin)
{
	fd = move_to(t, fd, wanted);
	remember(fd, wanted, origin);
	return fd;
}

int outside_stand_in(struct thread *t, int wanted, int flags)
{
	int fd = syscall(SYS_socket, AF_UNIX, SOCK_STREAM | flags, 0);
	if (fd < 0) {
		errno = -fd;
		return -1;
	}
	return outside_renumbered(t, fd, wanted, ORIGIN_OUTSIDE);
}

int outside_stand_in_file(struct thread *t, int wanted, bool close_on_exec)
{
	int fd = syscall(SYS_memfd_create, "kernel-file", close_on_exec ? MFD_CLOEXEC : 0);
	if (fd < 0) {
		errno = -fd;
		return -1;
	}
	return outside_renumbered(t, fd, wanted, ORIGIN_KERNEL);
}

/* ---- descriptors in messages of the process to itself ---- */

enum { PASSED = 64 };
static struct passed {    /* on their way, in order */
	unsigned channel; /* 0: free */
	uint8_t origin;
	unsigned reads, writes;
} passed[PASSED];

void outside_passes(unsigned channel, int fd)
{
	const struct descriptor *d = entry(fd);
	for (unsigned i = 0; channel && d && i < PASSED; i++)
		if (passed[i].channel == 0) {
			passed[i] = (struct passed){ channel, d->origin, d->reads, d->writes };
			channel_steps_end(d->reads, "a descriptor that is sent in a message");
			channel_steps_end(d->writes, "a descriptor that is sent in a message");
			channel_held(d->reads);
			channel_held(d->writes);
			return;
		}
}

int outside_got(struct thread *t, unsigned channel, int fd, uintptr_t pc)
{
	if (!channel || !rt.inputs)
		return fd;
	fd = outside_made(t, LOG_INPUT_dup, fd, ORIGIN_UNKNOWN, pc);
	for (unsigned i = 0; i < PASSED; i++)
		if (passed[i].channel == channel) {
			struct passed p = passed[i];
			for (unsigned k = i + 1; k < PASSED; k++)
				passed[k - 1] = passed[k];
			passed[PASSED - 1].channel = 0;
			outside_fresh(fd, p.origin);
			outside_leads(fd, p.reads, p.writes);
			channel_left(p.reads);
			channel_left(p.writes);
			break;
		}
	return fd;
}

void outside_spawns(struct thread *t, bool all, uintptr_t pc)
{
	if (!t || !rt.inputs)
		return;
	for (int fd = 0; fd < DESCRIPTORS; fd++) {
		const struct descriptor *d = &table[fd];
		if (!d->reads && !d->writes)
			continue;
		if (!all && syscall(SYS_fcntl, fd, F_GETFD) & FD_CLOEXEC)
			continue;
		channel_passed(t, d->reads, pc);
		channel_passed(t, d->writes, pc);
	}
}

/* ---- members of epoll instances ---- */

void outside_member(int set, int fd, int operation, uint32_t events, uint64_t data)
{
	struct descriptor *d = entry(fd);
	if (!d || !entry(set))
		return;
	uint32_t *at = membership_in(d, set);
	if (operation == EPOLL_CTL_DEL) {
		if (*at)
			leave(d, at);
		return;
	}
	if (!*at)
		*at = join(d, set);
	if (*at) {
		memberships[*at].data = data;
		memberships[*at].events = events;
	}
	if (fd > highest)
		highest = fd;
}

struct handover *outside_member_set(int set, int fd)
{
	struct descriptor *d = entry(fd);
	uint32_t place = d ? *membership_in(d, set) : 0;
	return place ? &memberships[place].given : NULL;
}

struct handover *outside_timer_set(int fd)
{
	struct descriptor *d = entry(fd);
	return d ? &d->timer : NULL;
}

void outside_ready(struct thread *t, int fd, uintptr_t pc)
{
	channel_ready(t, outside_reads(fd), pc);
	handover_received(t, outside_timer_set(fd), pc);
}

static bool says(int fd, int set, uint64_t data)
{
	struct descriptor *d = entry(fd);
	uint32_t place = d ? *membership_in(d, set) : 0;
	return place && memberships[place].data == data;
}

int outside_member_of(int set, uint64_t data)
{
	int likely_one = (int)(uint32_t)data; /* most programs use the descriptor itself as
	                                       * data */
	if (says(likely_one, set, data))
		return likely_one;
	for (int fd = 0; fd <= highest; fd++)
		if (says(fd, set, data))
			return fd;
	return -1;
}

bool outside_data(int set, int recorded, uint64_t *data)
{
	for (int i = -1; i <= highest; i++) {
		int fd = i < 0 ? recorded : i; /* mostly */
		struct descriptor *d = entry(fd);
		uint32_t place =
		        d && outside_recorded(fd) == recorded ? *membership_in(d, set) : 0;
		if (place) {
			*data = memberships[place].data;
			return true;
		}
	}
	return false;
}

bool outside_members(int set)
{
	const struct descriptor *s = entry(set);
	return s && s->origin == ORIGIN_SET && s->members > 0;
}

unsigned outside_polls(int set, struct pollfd *fds, unsigned room)
{
	unsigned count = 0;
	for (int fd = 0; fd <= highest; fd++) {
		uint32_t place = *membership_in(entry(fd), set);
		if (!place)
			continue;
		if (count == room ||
		    memberships[place].events & (EPOLLET | EPOLLONESHOT | EPOLLEXCLUSIVE))
			return 0;
		fds[count++] =
		        (struct pollfd){ .fd = fd, .events = (short)memberships[place].events };
	}
	return count;
}
