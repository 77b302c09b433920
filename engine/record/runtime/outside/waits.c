/*
 * waits.c - calls that wait for descriptors: poll, select, epoll_wait and their kin.
 *
 * They wait in the scheduler and are then made with the token in hand, without waiting. Their
 * results for descriptors that lead outside are recorded and replayed. Their results for the
 * process's own are messages between its threads, so on replay the wait is a real one: along
 * the plan until all are ready that were ready in the recording, after it until one is.
 */
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engine/record/runtime/core/entry.h"
#include "engine/record/runtime/core/rt.h"
#include "engine/record/runtime/libc/ranges.h"

INTERPOSED(ppoll, select, pselect, epoll_ctl, epoll_wait, epoll_pwait, epoll_pwait2);

enum { PATIENCE = 100 }; /* time limits that expire without input after the recorded input */

/* What a wait is about, where that is not what it waits for: an epoll instance's members. */
struct asked {
	const struct pollfd *fds;
	unsigned n;
};

static void wait_here(struct thread *t, struct pollfd *fds, unsigned n, struct asked about,
                      int64_t milliseconds, enum log_call call, uintptr_t pc)
{
	bool planned = false;
	if (n > 0 &&
	    (about.n == 0 || !channels_ask(t, about.fds, about.n, milliseconds, &planned, pc)))
		order_matters("asking what is ready (poll, select, epoll)");
	frame_enter(t, call, pc, true);
	t->sched.pc = pc;
	t->signals.interrupted = false;
	if (planned && milliseconds >= 0) {
		/* the time is up where nothing is ready now */
	} else if (milliseconds == 0) {
		sched_yield_point(t, true);
	} else {
		if (rt.replay)
			replay_call(t);
		else
			sched_point(t);
		sched_wait_files(t, fds, n, milliseconds > 0,
		                 virtual_now() +
		                         (milliseconds > 0 ? milliseconds : 0) * 1000000ull);
	}
	frame_leave(t);
}

/* The result of the call, which is then made without waiting: EINTR instead of 0 if a handler
 * has run meanwhile, as one ends these calls, with or without SA_RESTART. */
static int or_interrupted(struct thread *t, int result)
{
	if (result != 0 || !t->signals.interrupted)
		return result;
	t->signals.interrupted = false;
	errno = EINTR;
	return -1;
}

/* Waits until every one of them is ready; those with a negative descriptor do not count. */
static void await_all(struct thread *t, struct pollfd *fds, unsigned n)
{
	struct timespec zero = { 0, 0 };
	for (unsigned i = 0; i < n; i++)
		while (rt.on && fds[i].fd >= 0 &&
		       syscall(SYS_ppoll, &fds[i], 1, &zero, NULL, 0) == 0)
			sched_wait_files(t, &fds[i], 1, false, 0);
}

/* After the plan, without a recorded result: waits for one of these, which are the process's
 * own, or for the time. False when it is over and none is ready. */
static bool await_more(struct thread *t, struct pollfd *fds, unsigned n, int64_t milliseconds)
{
	if (!rt.on)
		return false;
	if (milliseconds == 0 && ++t->input.hungry <= PATIENCE) {
		sched_yield_point(t, true);
		return false;
	}
	bool timed = milliseconds > 0 && ++t->input.hungry <= PATIENCE;
	uint64_t length = timed ? (uint64_t)milliseconds * 1000000 : 0;
	return input_starve(t, fds, n, timed, virtual_now() + length);
}

/* ---- poll and select ---- */

static bool any_outside(struct thread *t, const struct pollfd *fds, unsigned n)
{
	bool any = false;
	for (unsigned i = 0; rt.inputs && i < n; i++)
		any |= outside(t, fds[i].fd); /* for all of them: outside() records which are */
	return any;
}

/* Events of descriptors from outside as recorded; the others are polled and waited for. Returns
 * the number of ready ones. */
static int merge(struct thread *t, struct pollfd *fds, unsigned n, const struct pollfd *said,
                 unsigned said_count)
{
	struct timespec zero = { 0, 0 };
	int ready = 0;
	for (unsigned i = 0; i < n; i++) {
		fds[i].revents = 0;
		if (!outside(t, fds[i].fd))
			syscall(SYS_ppoll, &fds[i], 1, &zero, NULL, 0);
		else if (i < said_count && said[i].fd == outside_recorded(fds[i].fd))
			fds[i].revents = said[i].revents;
		ready += fds[i].revents != 0;
	}
	return ready;
}

static int poll_on(struct thread *t, struct pollfd *fds, unsigned n, int64_t milliseconds,
                   const struct given *g)
{
	const struct pollfd *said = (const void *)g->part[0];
	unsigned said_count = g->recorded ? g->length[0] / sizeof(*said) : 0;
	struct pollfd own[FD_SETSIZE];
	unsigned count = 0;
	for (unsigned i = 0; i < n && count < FD_SETSIZE; i++)
		if (!outside(t, fds[i].fd))
			own[count++] = fds[i];
	for (;;) {
		int ready = merge(t, fds, n, said, said_count);
		if (ready)
			return ready;
		if (g->recorded && g->result <= 0)
			return (int)g->result;
		if (!g->recorded && input_last_signal(t)) {
			errno = EINTR;
			return -1;
		}
		if (!await_more(t, own, count, milliseconds))
			return 0;
	}
}

/* A thread to which poll reports bytes is ordered after the thread that wrote them. */
static void order_after_writers(struct thread *t, const struct pollfd *fds, unsigned n,
                                int result, uintptr_t pc)
{
	channel_acts(t, 0, result > 0 ? 1 : result, false, pc);
	for (unsigned i = 0; result > 0 && i < n; i++)
		if (fds[i].revents & (POLLIN | POLLHUP))
			outside_ready(t, fds[i].fd, pc);
}

static int poll_given(struct thread *t, enum log_input_call call, enum log_call frame,
                      struct pollfd *fds, unsigned n, int64_t milliseconds, uintptr_t pc)
{
	struct given g;
	int result;
	frame_enter(t, frame, pc, true);
	input_given_wait(t, call, -1, &g);
	const struct pollfd *said = (const void *)g.part[0];
	if (!replay_strict() || g.length[0] != n * sizeof(*fds)) {
		result = poll_on(t, fds, n, milliseconds, &g);
	} else {
		result = (int)g.result;
		for (unsigned i = 0; i < n; i++)
			if (said[i].revents && !outside(t, fds[i].fd))
				await_all(t, &fds[i], 1);
		for (unsigned i = 0; i < n; i++)
			fds[i].revents = said[i].revents;
	}
	int error = errno;
	frame_leave(t);
	errno = error;
	order_after_writers(t, fds, n, result, pc);
	return result;
}

static int kept(struct thread *t, enum log_input_call call, const struct pollfd *fds,
                unsigned n, int result)
{
	struct piece all = { fds, n * sizeof(*fds) };
	input_keep(t, call, -1, result, &all, 1, 0);
	return result;
}

static int64_t length_ms(const struct timespec *time)
{
	return time ? time->tv_sec * 1000ll + time->tv_nsec / 1000000 : -1;
}

/* The kernel reads what poll is asked ... */
static void fds_read(struct thread *t, const struct pollfd *fds, nfds_t n, uintptr_t pc)
{
	for (nfds_t i = 0; i < n; i++)
		log_range(t, LOG_READ, pc, &fds[i], sizeof(fds[i].fd) + sizeof(fds[i].events));
}

/* ... and writes what came, unless it refused the call. */
static int fds_written(struct thread *t, const struct pollfd *fds, nfds_t n, int result,
                       uintptr_t pc)
{
	int error = errno;
	for (nfds_t i = 0; (result >= 0 || error == EINTR) && i < n; i++)
		log_range(t, LOG_WRITE, pc, &fds[i].revents, sizeof(fds[i].revents));
	errno = error;
	return result;
}

static int poll_now(struct thread *t, struct pollfd *fds, nfds_t n, int timeout, bool out,
                    uintptr_t pc)
{
	wait_here(t, fds, n, (struct asked){ fds, n }, timeout, LOG_CALL_poll, pc);
	int result = or_interrupted(t, REAL(poll)(fds, n, 0));
	order_after_writers(t, fds, n, result, pc);
	return out ? kept(t, LOG_INPUT_poll, fds, n, result) : result;
}

static int poll_here(struct pollfd *fds, nfds_t n, int timeout, uintptr_t pc)
{
	struct thread *t = recording();
	if (!t || !rt.controlled)
		return REAL(poll)(fds, n, timeout);
	bool out = any_outside(t, fds, n);
	fds_read(t, fds, n, pc);
	int result = out && rt.inputs == INPUTS_GIVEN
	                     ? poll_given(t, LOG_INPUT_poll, LOG_CALL_poll, fds, n, timeout, pc)
	                     : poll_now(t, fds, n, timeout, out, pc);
	return fds_written(t, fds, n, result, pc);
}
ENTRY(poll)
int interposed_poll(struct pollfd *fds, nfds_t n, int timeout) BEHIND(poll);
int interposed_poll(struct pollfd *fds, nfds_t n, int timeout)
{
	if (timeout == 0) /* one with a limit in time counts: time passes */
		channel_entered(&me->input);
	return poll_here(fds, n, timeout, CALLER());
}
EXPORT int __poll_chk(struct pollfd *fds, nfds_t n, int timeout, size_t room);
int __poll_chk(struct pollfd *fds, nfds_t n, int timeout, size_t room)
{
	return room / sizeof(*fds) < n ? REAL(__poll_chk)(fds, n, timeout, room)
	                               : poll_here(fds, n, timeout, CALLER());
}

/* A wait with a mask of signals: the scheduler steps aside. */
static void step_aside(struct thread *t, struct pollfd *fds, unsigned n, enum log_call frame,
                       uintptr_t pc)
{
	order_matters("asking what is ready (poll, select, epoll)");
	frame_enter(t, frame, pc, true);
	t->sched.pc = pc;
	sched_point(t);
	sched_leave_for(t, fds, n);
}

static void step_back(struct thread *t)
{
	int error = errno;
	sched_rejoin(t);
	frame_leave(t);
	errno = error;
}

/* A wait without a time limit is made in slices, between which the thread checks whether
 * anything can end it. */
enum { SLICE_MS = 250 };
static const struct timespec slice = { 0, SLICE_MS * 1000000 };
#define IN_SLICES(limited, whole, part) \
	({ \
		int result_; \
		if (limited) { \
			result_ = (whole); \
		} else { \
			while ((result_ = (part)) == 0 && rt.on) \
				sched_look_outside(); \
			if (result_ == 0) \
				result_ = (whole); \
		} \
		result_; \
	})

static int ppoll_now(struct thread *t, struct pollfd *fds, nfds_t n,
                     const struct timespec *timeout, const sigset_t *mask, bool out,
                     uintptr_t pc)
{
	struct timespec zero = { 0, 0 };
	int result;
	if (mask) {
		step_aside(t, fds, n, LOG_CALL_ppoll, pc);
		result = IN_SLICES(timeout, REAL(ppoll)(fds, n, timeout, mask),
		                   REAL(ppoll)(fds, n, &slice, mask));
		step_back(t);
	} else {
		wait_here(t, fds, n, (struct asked){ fds, n }, length_ms(timeout),
		          LOG_CALL_ppoll, pc);
		result = or_interrupted(t, REAL(ppoll)(fds, n, &zero, mask));
	}
	order_after_writers(t, fds, n, result, pc);
	return out ? kept(t, LOG_INPUT_ppoll, fds, n, result) : result;
}

static int ppoll_here(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
                      const sigset_t *mask, uintptr_t pc)
{
	struct thread *t = recording();
	if (!t || !rt.controlled)
		return REAL(ppoll)(fds, n, timeout, mask);
	bool out = any_outside(t, fds, n);
	fds_read(t, fds, n, pc);
	int result = out && rt.inputs == INPUTS_GIVEN
	                     ? poll_given(t, LOG_INPUT_ppoll, LOG_CALL_ppoll, fds, n,
	                                  length_ms(timeout), pc)
	                     : ppoll_now(t, fds, n, timeout, mask, out, pc);
	return fds_written(t, fds, n, result, pc);
}
int interposed_ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
                     const sigset_t *mask)
{
	return ppoll_here(fds, n, timeout, mask, CALLER());
}
EXPORT int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
                       const sigset_t *mask, size_t room);
int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
                const sigset_t *mask, size_t room)
{
	return room / sizeof(*fds) < n ? REAL(__ppoll_chk)(fds, n, timeout, mask, room)
	                               : ppoll_here(fds, n, timeout, mask, CALLER());
}

/* The three sets of a select, in poll's form. */
struct sets {
	int n;
	fd_set *r, *w, *e;
	struct pollfd fds[FD_SETSIZE];
	unsigned count;
};
enum { READY_R = POLLIN | POLLHUP | POLLERR, READY_W = POLLOUT | POLLERR, READY_E = POLLPRI };

static short in_sets(const struct sets *s, int fd)
{
	return (s->r && FD_ISSET(fd, s->r) ? POLLIN : 0) |
	       (s->w && FD_ISSET(fd, s->w) ? POLLOUT : 0) |
	       (s->e && FD_ISSET(fd, s->e) ? POLLPRI : 0);
}

static void read_sets(struct sets *s)
{
	s->count = 0;
	for (int fd = 0; fd < s->n && fd < FD_SETSIZE; fd++) {
		short events = in_sets(s, fd);
		if (events)
			s->fds[s->count++] = (struct pollfd){ .fd = fd, .events = events };
	}
}

/* Write the ready descriptors into the sets; returns the number of bits. */
static int write_sets(struct sets *s)
{
	int bits = 0;
	for (unsigned i = 0; i < s->count; i++) {
		int fd = s->fds[i].fd;
		short asked = s->fds[i].events, came = s->fds[i].revents;
		bool r = asked & POLLIN && came & READY_R,
		     w = asked & POLLOUT && came & READY_W,
		     e = asked & POLLPRI && came & READY_E;
		if (s->r && !r)
			FD_CLR(fd, s->r);
		if (s->w && !w)
			FD_CLR(fd, s->w);
		if (s->e && !e)
			FD_CLR(fd, s->e);
		bits += r + w + e;
	}
	return bits;
}

static int select_given(struct thread *t, struct sets *s, enum log_input_call call,
                        enum log_call frame, int64_t milliseconds, uintptr_t pc)
{
	int result = poll_given(t, call, frame, s->fds, s->count, milliseconds, pc);
	int error = errno;
	if (result >= 0)
		result = write_sets(s);
	errno = error;
	return result;
}

static int select_kept(struct thread *t, struct sets *s, enum log_input_call call, int result)
{
	return kept(t, call, s->fds, s->count, result);
}

static void select_told(struct thread *t, struct sets *s, int result, uintptr_t pc)
{
	for (unsigned i = 0; i < s->count; i++)
		s->fds[i].revents = result >= 0 ? in_sets(s, s->fds[i].fd) : 0;
	order_after_writers(t, s->fds, s->count, result, pc);
}

/* The kernel reads and writes whole words of the sets. */
static void sets_touched(struct thread *t, const struct sets *s, enum log_tag tag, uintptr_t pc)
{
	const fd_set *const sets[] = { s->r, s->w, s->e };
	int error = errno, words = s->n > 0 && s->n <= FD_SETSIZE ? (s->n + 63) / 64 : 0;
	for (size_t i = 0; i < sizeof(sets) / sizeof(*sets); i++)
		if (sets[i])
			log_range(t, tag, pc, sets[i], 8 * (size_t)words);
	errno = error;
}

static int select_now(struct thread *t, struct sets *s, int64_t milliseconds, bool out,
                      uintptr_t pc)
{
	struct timeval zero = { 0, 0 };
	wait_here(t, s->fds, s->count, (struct asked){ s->fds, s->count }, milliseconds,
	          LOG_CALL_select, pc);
	int result = or_interrupted(t, REAL(select)(s->n, s->r, s->w, s->e, &zero));
	select_told(t, s, result, pc);
	return out ? select_kept(t, s, LOG_INPUT_select, result) : result;
}

int interposed_select(int n, fd_set *restrict r, fd_set *restrict w, fd_set *restrict e,
                      struct timeval *restrict timeout)
{
	struct thread *t = recording();
	if (!t || !rt.controlled)
		return REAL(select)(n, r, w, e, timeout);
	struct sets s = { .n = n, .r = r, .w = w, .e = e };
	int64_t ms = timeout ? timeout->tv_sec * 1000ll + (timeout->tv_usec + 999) / 1000 : -1;
	read_sets(&s);
	bool out = any_outside(t, s.fds, s.count);
	uintptr_t pc = CALLER();
	sets_touched(t, &s, LOG_READ, pc);
	int result = out && rt.inputs == INPUTS_GIVEN
	                     ? select_given(t, &s, LOG_INPUT_select, LOG_CALL_select, ms, pc)
	                     : select_now(t, &s, ms, out, pc);
	if (result >= 0)
		sets_touched(t, &s, LOG_WRITE, pc);
	return result;
}

/* With no event, the program's sets are unchanged. */
static int select_slice(struct sets *s, const sigset_t *mask)
{
	fd_set r, w, e;
	for (unsigned k = 0; k < 3; k++)
		FD_ZERO(k == 0 ? &r : k == 1 ? &w : &e);
	for (unsigned i = 0; i < s->count; i++) {
		short events = s->fds[i].events;
		if (events & POLLIN)
			FD_SET(s->fds[i].fd, &r);
		if (events & POLLOUT)
			FD_SET(s->fds[i].fd, &w);
		if (events & POLLPRI)
			FD_SET(s->fds[i].fd, &e);
	}
	int result = REAL(pselect)(s->n, &r, &w, &e, &slice, mask);
	for (unsigned i = 0; result > 0 && i < s->count; i++) {
		int fd = s->fds[i].fd;
		s->fds[i].revents = (short)((FD_ISSET(fd, &r) ? POLLIN : 0) |
		                            (FD_ISSET(fd, &w) ? POLLOUT : 0) |
		                            (FD_ISSET(fd, &e) ? POLLPRI : 0));
	}
	return result > 0 ? write_sets(s) : result;
}

static int pselect_now(struct thread *t, struct sets *s, const struct timespec *timeout,
                       const sigset_t *mask, bool out, uintptr_t pc)
{
	int result;
	if (mask || !rt.controlled) {
		step_aside(t, s->fds, s->count, LOG_CALL_pselect, pc);
		result = IN_SLICES(timeout || !rt.controlled,
		                   REAL(pselect)(s->n, s->r, s->w, s->e, timeout, mask),
		                   select_slice(s, mask));
		step_back(t);
	} else {
		const struct timespec zero = { 0, 0 };
		wait_here(t, s->fds, s->count, (struct asked){ s->fds, s->count },
		          length_ms(timeout), LOG_CALL_pselect, pc);
		result = or_interrupted(t, REAL(pselect)(s->n, s->r, s->w, s->e, &zero, NULL));
	}
	select_told(t, s, result, pc);
	return out ? select_kept(t, s, LOG_INPUT_pselect, result) : result;
}

int interposed_pselect(int n, fd_set *restrict r, fd_set *restrict w, fd_set *restrict e,
                       const struct timespec *restrict timeout, const sigset_t *restrict mask)
{
	struct thread *t = recording();
	if (!t)
		return REAL(pselect)(n, r, w, e, timeout, mask);
	struct sets s = { .n = n, .r = r, .w = w, .e = e };
	read_sets(&s);
	bool out = any_outside(t, s.fds, s.count);
	uintptr_t pc = CALLER();
	sets_touched(t, &s, LOG_READ, pc);
	int result = out && rt.inputs == INPUTS_GIVEN
	                     ? select_given(t, &s, LOG_INPUT_pselect, LOG_CALL_pselect,
	                                    length_ms(timeout), pc)
	                     : pselect_now(t, &s, timeout, mask, out, pc);
	if (result >= 0)
		sets_touched(t, &s, LOG_WRITE, pc);
	return result;
}

/* ---- epoll ---- */

int interposed_epoll_ctl(int set, int operation, int fd, struct epoll_event *event)
{
	struct thread *t = recording();
	struct given g;
	if (t && event && operation != EPOLL_CTL_DEL)
		READS_AT(event, sizeof *event, CALLER());
	if (!t || !rt.inputs)
		return REAL(epoll_ctl)(set, operation, fd, event);
	bool out = outside(t, fd);
	handover_turn(t, CALLER());
	int result = out && input_given(t, LOG_INPUT_epoll_ctl, fd, 0, &g)
	                     ? (int)g.result
	                     : REAL(epoll_ctl)(set, operation, fd, event);
	if (out)
		input_keep(t, LOG_INPUT_epoll_ctl, fd, result, NULL, 0, 0);
	if (result != 0)
		return result;
	order_of_members(set, true);
	if (operation != EPOLL_CTL_ADD) /* which it was before */
		handover_received(t, outside_member_set(set, fd), CALLER());
	outside_member(set, fd, operation, event ? event->events : 0,
	               event ? event->data.u64 : 0);
	if (operation != EPOLL_CTL_DEL)
		handover_sent(t, outside_member_set(set, fd), CALLER());
	return 0;
}

/*
 * Recorded with the events: for each the descriptor, + 1, and whether it is the process's
 * own. The instance's data for it may differ between this run and the recording.
 */
enum { OWN = 1 << 30 };

/* The events of a member, as the instance reports it in this run; false when it has no such
 * member. */
static bool retell(int set, int32_t member, const struct epoll_event *said,
                   struct epoll_event *event)
{
	uint64_t data;
	*event = *said;
	if (member == 0 || !outside_data(set, (member & ~OWN) - 1, &data))
		return false;
	event->data.u64 = data;
	return true;
}

/* Replay after the plan: the process's own descriptors are polled for real, results from
 * outside are replayed. */
static int epoll_on(struct thread *t, int set, struct epoll_event *events, int most,
                    int64_t milliseconds, const struct given *g)
{
	const struct epoll_event *said = (const void *)g->part[0];
	const int32_t *own = (const void *)g->part[1];
	int n = 0;
	for (unsigned i = 0; g->recorded && i < g->length[1] / sizeof(*own) && n < most; i++)
		if (!(own[i] & OWN))
			n += retell(set, own[i], &said[i], &events[n]);
	for (;;) {
		int more = n < most ? REAL(epoll_wait)(set, events + n, most - n, 0) : 0;
		if (n + (more > 0 ? more : 0) > 0)
			return n + (more > 0 ? more : 0);
		if (g->recorded && g->result <= 0)
			return (int)g->result;
		if (!g->recorded && input_last_signal(t)) {
			errno = EINTR;
			return -1;
		}
		struct pollfd one = { .fd = set, .events = POLLIN };
		if (!await_more(t, &one, 1, milliseconds))
			return 0;
	}
}

/* Along the plan: the recorded results, once the process's own descriptors of these are
 * ready. */
static int epoll_as_recorded(struct thread *t, int set, struct epoll_event *events,
                             const struct given *g)
{
	enum { SOME = 64 };
	const struct epoll_event *said = (const void *)g->part[0];
	const int32_t *own = (const void *)g->part[1];
	struct epoll_event drained[SOME];
	bool any = false;
	for (int64_t i = 0; i < g->result; i++) {
		if (!(own[i] & OWN))
			continue;
		struct pollfd one = { .fd = (own[i] & ~OWN) - 1,
			              .events = (short)said[i].events };
		any = true;
		await_all(t, &one, 1);
	}
	if (any) /* takes the events that an edge-triggered member reports only once */
		REAL(epoll_wait)(set, drained, SOME, 0);
	if (g->result > 0) {
		plan_point(t);
		for (int64_t i = 0; i < g->result; i++)
			retell(set, own[i], &said[i], &events[i]);
	}
	return (int)g->result;
}

static int epoll_given(struct thread *t, int set, struct epoll_event *events, int most,
                       int64_t milliseconds, enum log_input_call call, enum log_call frame,
                       uintptr_t pc)
{
	struct given g;
	frame_enter(t, frame, pc, true);
	input_given_wait(t, call, set, &g);
	int error = errno;
	bool whole = g.recorded && g.result <= most &&
	             (g.result <= 0 || g.length[1] == g.result * sizeof(int32_t));
	int n = whole && replay_strict() ? epoll_as_recorded(t, set, events, &g)
	                                 : epoll_on(t, set, events, most, milliseconds, &g);
	if (n >= 0 || g.result >= 0)
		error = errno;
	frame_leave(t);
	errno = error;
	return n;
}

static void epoll_kept(struct thread *t, int set, const struct epoll_event *events, int n,
                       enum log_input_call call, bool before)
{
	enum { MOST = 4096 };
	int32_t own[MOST];
	int count = n < 0 ? 0 : n < MOST ? n : MOST, error = errno;
	if (rt.inputs != INPUTS_KEPT || (!before && !outside_members(set)))
		return;
	for (int i = 0; i < count; i++) {
		int fd = outside_member_of(set, events[i].data.u64);
		own[i] = fd < 0 ? 0 : (fd + 1) | (outside_is_inside(fd) ? OWN : 0);
	}
	struct piece parts[] = { { events, (size_t)count * sizeof(*events) },
		                 { own, (size_t)count * sizeof(*own) } };
	errno = error;
	if (before)
		input_keep(t, call, set, n, parts, 2, 0);
	else
		input_keep_became(t, call, set, n, parts, 2);
	errno = error;
}

static void touched(struct thread *t, const struct epoll_event *events, int n, uintptr_t pc)
{
	int error = errno;
	if (n > 0)
		log_range(t, LOG_WRITE, pc, events, (size_t)n * sizeof(*events));
	errno = error;
}

/* The members that a wait is about, if it has room for all; else 0. */
enum { SOME_MEMBERS = 64 };
static unsigned members_of(int set, struct pollfd *members, int most)
{
	unsigned count = outside_polls(set, members, SOME_MEMBERS);
	order_of_members(set, false);
	return most >= 0 && count <= (unsigned)most ? count : 0;
}

static int epoll_here(struct thread *t, int set, struct epoll_event *events, int most,
                      int64_t milliseconds, const sigset_t *mask, enum log_input_call call,
                      enum log_call frame, uintptr_t pc)
{
	int n;
	bool out = outside(t, set);
	if (rt.inputs == INPUTS_GIVEN && (out || input_became(t, call, set))) {
		n = epoll_given(t, set, events, most, milliseconds, call, frame, pc);
	} else {
		struct pollfd one = { .fd = set, .events = POLLIN };
		if (mask) {
			step_aside(t, &one, 1, frame, pc);
			n = IN_SLICES(
			        milliseconds >= 0,
			        REAL(epoll_pwait)(set, events, most, (int)milliseconds, mask),
			        REAL(epoll_pwait)(set, events, most, SLICE_MS, mask));
			step_back(t);
		} else {
			struct pollfd members[SOME_MEMBERS];
			struct asked about = { members, members_of(set, members, most) };
			wait_here(t, &one, 1, about, milliseconds, frame, pc);
			n = or_interrupted(t, REAL(epoll_wait)(set, events, most, 0));
			channel_acts(t, 0, n > 0 ? 1 : n, false, pc);
			if (n > 1)
				order_matters(
				        "the order in which epoll_wait gives several events");
		}
		epoll_kept(t, set, events, n, call, out);
	}
	for (int i = 0; rt.inputs && i < n; i++) {
		int fd = outside_member_of(set, events[i].data.u64);
		handover_received(t, outside_member_set(set, fd), pc);
		if (events[i].events & EPOLLIN)
			outside_ready(t, fd, pc);
	}
	touched(t, events, n, pc);
	return n;
}

int interposed_epoll_wait(int set, struct epoll_event *events, int most, int timeout)
{
	struct thread *t = recording();
	if (!t || !rt.controlled)
		return REAL(epoll_wait)(set, events, most, timeout);
	return epoll_here(t, set, events, most, timeout, NULL, LOG_INPUT_epoll_wait,
	                  LOG_CALL_epoll_wait, CALLER());
}
int interposed_epoll_pwait(int set, struct epoll_event *events, int most, int timeout,
                           const sigset_t *mask)
{
	struct thread *t = recording();
	if (!t || !rt.controlled)
		return REAL(epoll_pwait)(set, events, most, timeout, mask);
	return epoll_here(t, set, events, most, timeout, mask, LOG_INPUT_epoll_pwait,
	                  LOG_CALL_epoll_pwait, CALLER());
}
int interposed_epoll_pwait2(int set, struct epoll_event *events, int most,
                            const struct timespec *timeout, const sigset_t *mask)
{
	struct thread *t = recording();
	if (!t || !rt.controlled)
		return REAL(epoll_pwait2)(set, events, most, timeout, mask);
	int64_t ms =
	        timeout ? timeout->tv_sec * 1000ll + (timeout->tv_nsec + 999999) / 1000000 : -1;
	return epoll_here(t, set, events, most, ms, mask, LOG_INPUT_epoll_pwait,
	                  LOG_CALL_epoll_pwait, CALLER());
}
