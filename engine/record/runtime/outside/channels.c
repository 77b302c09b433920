/*
 * channels.c - pipes, sockets that lead to the process itself, and eventfds: a read comes after
 * the write of its bytes, or after the close that ends them.
 * What moves no bytes (a member of an epoll instance, a timer) is a hand-over: struct handover.
 *
 * Each write is a message, received by the thread that reads its bytes, and by one to which
 * poll reports them. On replay the calls are made for real, in the turn of these events. Of a
 * channel with a number, all of whose writers and readers are threads of the process, the
 * messages have it, so that an analysis knows which threads would wait in another order.
 *
 * In a program with input from outside a close is a message as well, to the thread that gets
 * the descriptor's number next. Else two connections that had one number, one after the
 * other, would seem to be open at once.
 */
#include <poll.h>
#include <sys/syscall.h>

#include "engine/record/runtime/core/rt.h"

enum { QUEUE = 64, CLOSES = 8 };

static struct channel {
	bool used, counter; /* an eventfd: a read takes all */
	unsigned ends;      /* descriptors that lead there */
	bool late, datagrams;
	bool listens;    /* a socket to which others may connect, but from which they cannot
	                  * read */
	bool own;        /* no other process has a descriptor that leads there */
	unsigned number; /* number of a channel that is own, and holds bytes: its messages
	                  * have it; or 0 */
	unsigned wanted; /* number of any other, once a thread waits for it for ever; or 0 */
	unsigned pages;  /* room of a pipe; 0: unknown */
	int reader;      /* a descriptor that reads from it, or -1 */
	unsigned from, count;
	uint64_t closes[CLOSES]; /* messages of writers that have closed it */
	unsigned closed;
	struct {
		uint64_t message, bytes; /* not yet read */
	} queue[QUEUE];
} * channels;

static unsigned new_channel(bool counter)
{
	if (!channels)
		channels = rt_pages(CHANNELS * sizeof(*channels));
	for (unsigned i = 1; channels && i < CHANNELS; i++)
		if (!channels[i].used) {
			channels[i] = (struct channel){ .used = true,
				                        .counter = counter,
				                        .reader = -1 };
			return i;
		}
	return 0; /* too many channels: this one orders nothing */
}

unsigned channel_new(bool counter)
{
	return rt.inputs ? new_channel(counter) : 0;
}

void channel_is_own(unsigned channel)
{
	if (channel)
		channels[channel].own = true;
}

void channel_listens(unsigned channel)
{
	channel_is_own(channel);
	if (channel)
		channels[channel].listens = true;
}

static unsigned next_number(void)
{
	static unsigned numbers;
	return numbers < LOG_CHANNELS ? ++numbers : 0;
}

void channel_holds_bytes(unsigned channel, unsigned pages)
{
	if (!channel)
		return;
	channels[channel].number = next_number();
	channels[channel].pages = pages <= LOG_CHANNEL_PAGES ? pages : 0;
}

/* The channel of such events of the descriptor, if it leads to one. */
static struct channel *reads_of(int fd, short events)
{
	unsigned c = events & ~(POLLOUT | POLLWRNORM | POLLWRBAND) ? outside_reads(fd) : 0;
	return c ? &channels[c] : NULL;
}

static struct channel *writes_of(int fd, short events)
{
	unsigned c = events & (POLLOUT | POLLWRNORM | POLLWRBAND) ? outside_writes(fd) : 0;
	return c ? &channels[c] : NULL;
}

enum { INPUT = POLLIN | POLLRDNORM | POLLRDBAND | POLLRDHUP | POLLPRI };

bool channel_only_own(int fd, short events)
{
	const struct channel *reads = reads_of(fd, events), *writes = writes_of(fd, events);
	if (!reads && !writes && (events & INPUT) == 0)
		reads = reads_of(fd, POLLIN); /* the only event is the close of its other end */
	return (reads || writes) && (!writes || writes->own) &&
	       (!reads || (reads->own && !(reads->listens && events & INPUT)));
}

bool channel_comes_late(int fd, short events)
{
	const struct channel *reads = reads_of(fd, events), *writes = writes_of(fd, events);
	return (reads && reads->late) || (writes && writes->late);
}

/* The number of the channel, if its messages have one, for a thread that waits for such
 * events; 0: none. */
static unsigned channel_number(int fd, short events)
{
	struct channel *reads = reads_of(fd, events), *writes = writes_of(fd, events);
	if ((reads && !reads->number) || (writes && !writes->number))
		return 0;
	return reads ? reads->number : writes ? writes->number : 0;
}

unsigned channel_wanted(int fd, short events)
{
	struct channel *reads = reads_of(fd, events), *writes = writes_of(fd, events);
	struct channel *c = reads ? reads : writes;
	unsigned number = channel_number(fd, events);
	if (number || !c)
		return number ? number : next_number();
	if (!c->wanted)
		c->wanted = next_number();
	return c->wanted;
}

void channel_held(unsigned channel)
{
	if (channel)
		channels[channel].ends++;
}

void channel_left(unsigned channel)
{
	if (channel && --channels[channel].ends == 0)
		channels[channel].used = false; /* (its steps end with the next one there) */
}

void channel_turn(struct thread *t, unsigned channel, enum log_tag tag, uintptr_t pc)
{
	if (channel && !channel_has_steps(channel) && rt.replay && replay_expects(t, tag, pc))
		replay_call(t);
}

/* An explored run follows its plan with true messages, as the event after the plan may be a
 * receive of one. */
static void tell(struct thread *t, enum log_tag tag, unsigned flags, uintptr_t pc,
                 uint64_t message)
{
	plan_point(t);
	log_event(t, tag, flags, pc, message, 0, 1);
}

/* A new message. `bytes`: the number written; or enum log_channel_bytes. */
static uint64_t new_message(const struct channel *c, uint64_t bytes)
{
	return log_message(++rt.messages, c->number, c->pages, bytes);
}

/* Replay: handles the events that the plan has here, as the process may be ahead or behind. */
static bool as_planned(struct thread *t, enum log_tag tag, uintptr_t pc)
{
	if (!rt.replay || rt.config.flags & LOG_EXPLORE)
		return false;
	while (rt.replay && replay_expects(t, tag, pc)) {
		uint64_t message = replay_message(t, tag);
		plan_point(t);
		log_event(t, tag, 0, pc, message ? message : ++rt.messages, 0, 1);
		if (tag == LOG_SND)
			break;
	}
	return true;
}

/* A writer exists whose writes are not recorded here, so from now on waits at the channel
 * cannot be explained. */
static void is_not_modelled(struct thread *t, struct channel *c, uintptr_t pc)
{
	if (c->number == 0)
		return;
	if (!as_planned(t, LOG_SND, pc) && messages_real())
		tell(t, LOG_SND, 0, pc, new_message(c, LOG_CHANNEL_SHARED));
	c->number = 0;
}

static void is_shared(struct thread *t, struct channel *c, uintptr_t pc)
{
	channel_steps_end((unsigned)(c - channels), "a pipe or socket of several processes");
	is_not_modelled(t, c, pc);
	c->own = false;
}

void channel_passed(struct thread *t, unsigned channel, uintptr_t pc)
{
	if (channel)
		is_shared(t, &channels[channel], pc);
}

void channels_forked(struct thread *t, uintptr_t pc)
{
	for (unsigned i = 1; channels && i < CHANNELS; i++)
		if (channels[i].used)
			is_shared(t, &channels[i], pc);
}

void channel_wrote(struct thread *t, unsigned channel, int64_t bytes, uintptr_t pc)
{
	if (channel_has_steps(channel)) {
		channel_acts(t, channel, bytes, bytes > 0, pc);
		return;
	}
	if (!channel || bytes <= 0 || as_planned(t, LOG_SND, pc) || !messages_real())
		return;
	int error = errno;
	struct channel *c = &channels[channel];
	bool full = c->count == QUEUE; /* when full, the previous message is sent again */
	unsigned at = (c->from + c->count - full) % QUEUE;
	if (full) {
		c->queue[at].bytes += (uint64_t)bytes;
	} else {
		c->count++;
		c->queue[at].message = new_message(c, (uint64_t)bytes);
		c->queue[at].bytes = (uint64_t)bytes;
	}
	tell(t, LOG_SND, 0, pc, c->queue[at].message);
	errno = error;
}

void channel_read(struct thread *t, unsigned channel, int64_t bytes, bool waits, uintptr_t pc)
{
	if (channel_has_steps(channel)) {
		channel_acts(t, channel, bytes, bytes > 0, pc);
		if (bytes > 0)
			channel_receives(t, channel, pc);
		return;
	}
	if (channel && bytes > 0)
		as_planned(t, LOG_SND, pc); /* of is_not_modelled */
	if (!channel || bytes <= 0 || as_planned(t, LOG_RCV, pc) || !messages_real())
		return;
	int error = errno;
	struct channel *c = &channels[channel];
	if (c->datagrams && c->count > 0)
		input_is_own();
	if (c->count == 0)
		is_not_modelled(t, c, pc);
	if (!c->own)
		child_brought(t, NULL, pc);
	uint64_t left = c->counter     ? UINT64_MAX
	                : c->datagrams ? c->queue[c->from].bytes
	                               : (uint64_t)bytes;
	while (left > 0 && c->count > 0) {
		uint64_t *here = &c->queue[c->from].bytes;
		tell(t, LOG_RCV, waits ? 0 : LOG_TRY, pc, c->queue[c->from].message);
		if (*here > left) {
			*here -= left;
			break;
		}
		left -= *here;
		c->from = (c->from + 1) % QUEUE;
		c->count--;
	}
	errno = error;
}

void channel_is_late(unsigned channel)
{
	if (channel)
		channels[channel].late = true;
}

void channel_of_datagrams(unsigned channel)
{
	if (channel)
		channels[channel].datagrams = true;
}

void channel_reader(unsigned channel, int fd)
{
	if (channel)
		channels[channel].reader = fd;
}

void channel_await(unsigned channel)
{
	const struct timespec longest = { 1, 0 };
	if (!channel || !channels[channel].late || channels[channel].reader < 0)
		return;
	int error = errno;
	struct pollfd one = { .fd = channels[channel].reader, .events = POLLIN | POLLRDHUP };
	syscall(SYS_ppoll, &one, 1, &longest, NULL, 0);
	errno = error;
}

/* A writer is no more. */
static void closes(struct channel *c, uint64_t message)
{
	c->closes[c->closed % CLOSES] = message;
	c->closed++;
}

static void receive_closes(struct thread *t, const struct channel *c, bool waits, uintptr_t pc)
{
	for (unsigned i = 0; i < CLOSES && i < c->closed; i++)
		tell(t, LOG_RCV, waits ? 0 : LOG_TRY, pc, c->closes[i]);
}

void channel_ended(struct thread *t, unsigned channel, bool waits, uintptr_t pc)
{
	if (channel_has_steps(channel)) {
		channel_acts(t, channel, 0, false, pc);
		channel_receives(t, channel, pc);
		return;
	}
	if (!channel || as_planned(t, LOG_RCV, pc) || !messages_real())
		return;
	int error = errno;
	receive_closes(t, &channels[channel], waits, pc);
	errno = error;
}

void channel_sent(struct thread *t, uintptr_t pc)
{
	as_planned(t, LOG_SND, pc);
}

void channel_shut(struct thread *t, unsigned channel, uintptr_t pc)
{
	if (!channel || as_planned(t, LOG_SND, pc) || !messages_real())
		return;
	uint64_t message = new_message(&channels[channel], LOG_CHANNEL_CLOSED);
	tell(t, LOG_SND, 0, pc, message);
	closes(&channels[channel], message);
}

void handover_turn(struct thread *t, uintptr_t pc)
{
	if (rt.replay && (replay_expects(t, LOG_SND, pc) || replay_expects(t, LOG_RCV, pc)))
		replay_call(t);
}

/* Threads that are created later come after it anyway. */
void handover_sent(struct thread *t, struct handover *h, uintptr_t pc)
{
	int error = errno;
	if (!h || as_planned(t, LOG_SND, pc) || !messages_real())
		return;
	*h = (struct handover){ 0 };
	if (rt.several) {
		*h = (struct handover){ ++rt.messages, t->id, t->id };
		tell(t, LOG_SND, 0, pc, h->message);
	}
	errno = error;
}

void handover_received(struct thread *t, struct handover *h, uintptr_t pc)
{
	int error = errno;
	if (as_planned(t, LOG_RCV, pc) || !messages_real())
		return;
	if (h && h->message && h->from != t->id && h->to != t->id) {
		h->to = t->id;
		tell(t, LOG_RCV, LOG_TRY, pc, h->message);
	}
	errno = error;
}

enum { NUMBERS = 1 << 16 };
static uint64_t given_back[NUMBERS]; /* the message of the last close */

/* One message for both receivers: the thread that gets the number next, and the thread that
 * reads the end of the bytes. */
void channel_closing(struct thread *t, int fd, bool seen, unsigned writes, uintptr_t pc)
{
	if (fd < 0 || fd >= NUMBERS)
		return;
	if (channel_has_steps(outside_reads(fd)) || channel_has_steps(writes)) {
		channel_closes(t, fd, pc);
		return;
	}
	if (!as_planned(t, LOG_SND, pc) && (seen || writes) && messages_real()) {
		sched_point(t);
		uint64_t message = writes ? new_message(&channels[writes], LOG_CHANNEL_CLOSED)
		                          : ++rt.messages;
		if (seen)
			given_back[fd] = message;
		if (writes)
			closes(&channels[writes], message);
		tell(t, LOG_SND, 0, pc, message);
	}
}

void channel_numbered(struct thread *t, int fd, uintptr_t pc)
{
	int error = errno;
	if (!rt.inputs || fd < 0 || fd >= NUMBERS)
		return;
	if (!as_planned(t, LOG_RCV, pc) && given_back[fd] && messages_real()) {
		tell(t, LOG_RCV, LOG_TRY, pc, given_back[fd]);
		given_back[fd] = 0;
	}
	errno = error;
}

void channel_ready(struct thread *t, unsigned channel, uintptr_t pc)
{
	if (channel_has_steps(channel)) {
		channel_receives(t, channel, pc);
		return;
	}
	if (!channel || as_planned(t, LOG_RCV, pc) || !messages_real())
		return;
	int error = errno;
	const struct channel *c = &channels[channel];
	if (c->count > 0)
		tell(t, LOG_RCV, LOG_TRY, pc, c->queue[c->from].message);
	else
		receive_closes(t, c, false, pc);
	errno = error;
}
