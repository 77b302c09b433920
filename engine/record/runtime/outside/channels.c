/*
 * channels.c - pipes, sockets that lead to the process itself, and eventfds: what is read was
 * written before, and its end was closed before.
 *
 * Each write is a message, received by who reads of it, and by who is told that there is
 * something to read.  On replay the calls are made for real, in the turn of these events.
 *
 * And in a program that something comes to from outside: a descriptor's number is given out
 * again only after it was closed, which is a message as well.  Else two connections that had
 * one number, one after the other, would seem to be open at once.
 */
#include <poll.h>
#include <sys/syscall.h>

#include "engine/record/runtime/core/rt.h"

enum { CHANNELS = 1024, QUEUE = 64, CLOSES = 8 };

static struct channel {
	bool used, counter; /* an eventfd: a read takes all */
	unsigned ends;      /* descriptors that lead there */
	bool late, datagrams;
	int reader; /* a descriptor that reads of it, or -1 */
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
	return 0; /* too many: this one orders nothing */
}

unsigned channel_new(bool counter)
{
	return rt.inputs ? new_channel(counter) : 0;
}

void channel_held(unsigned channel)
{
	if (channel)
		channels[channel].ends++;
}

void channel_left(unsigned channel)
{
	if (channel && --channels[channel].ends == 0)
		channels[channel].used = false;
}

void channel_turn(struct thread *t, unsigned channel, enum log_tag tag, uintptr_t pc)
{
	if (channel && rt.replay && replay_expects(t, tag, pc))
		replay_call(t);
}

/* An explored run follows its plan with true messages, as what comes after the plan may be a
 * receive of one. */
static void tell(struct thread *t, enum log_tag tag, uintptr_t pc, uint64_t message)
{
	plan_point(t);
	log_event(t, tag, 0, pc, message, 0, 1);
}

/* Replay: the events that the plan has here, for the process may be further or less far. */
static bool as_planned(struct thread *t, enum log_tag tag, uintptr_t pc)
{
	if (!rt.replay || rt.config.flags & LOG_EXPLORE)
		return false;
	while (rt.replay && replay_expects(t, tag, pc)) {
		plan_point(t);
		log_event(t, tag, 0, pc, ++rt.messages, 0, 1);
		if (tag == LOG_SND)
			break;
	}
	return true;
}

void channel_wrote(struct thread *t, unsigned channel, int64_t bytes, uintptr_t pc)
{
	if (!channel || bytes <= 0 || as_planned(t, LOG_SND, pc) || !messages_real())
		return;
	int error = errno;
	struct channel *c = &channels[channel];
	if (c->count == QUEUE) { /* who reads that comes after the one before at least */
		c->queue[(c->from + QUEUE - 1) % QUEUE].bytes += (uint64_t)bytes;
		errno = error;
		return;
	}
	unsigned at = (c->from + c->count++) % QUEUE;
	c->queue[at].message = ++rt.messages;
	c->queue[at].bytes = (uint64_t)bytes;
	tell(t, LOG_SND, pc, rt.messages);
	errno = error;
}

void channel_read(struct thread *t, unsigned channel, int64_t bytes, uintptr_t pc)
{
	if (!channel || bytes <= 0 || as_planned(t, LOG_RCV, pc) || !messages_real())
		return;
	int error = errno;
	struct channel *c = &channels[channel];
	if (c->datagrams && c->count > 0)
		input_is_own();
	uint64_t left = c->counter     ? UINT64_MAX
	                : c->datagrams ? c->queue[c->from].bytes
	                               : (uint64_t)bytes;
	while (left > 0 && c->count > 0) {
		uint64_t *here = &c->queue[c->from].bytes;
		tell(t, LOG_RCV, pc, c->queue[c->from].message);
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

static void receive_closes(struct thread *t, const struct channel *c, uintptr_t pc)
{
	for (unsigned i = 0; i < CLOSES && i < c->closed; i++)
		tell(t, LOG_RCV, pc, c->closes[i]);
}

void channel_ended(struct thread *t, unsigned channel, uintptr_t pc)
{
	if (!channel || as_planned(t, LOG_RCV, pc) || !messages_real())
		return;
	int error = errno;
	receive_closes(t, &channels[channel], pc);
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
	tell(t, LOG_SND, pc, ++rt.messages);
	closes(&channels[channel], rt.messages);
}

enum { NUMBERS = 1 << 16 };
static uint64_t given_back[NUMBERS]; /* the message of the last close */

/* One message for both: who gets the number, and who reads the end of what was written. */
void channel_closing(struct thread *t, int fd, bool told, unsigned writes, uintptr_t pc)
{
	if (fd < 0 || fd >= NUMBERS)
		return;
	if (!as_planned(t, LOG_SND, pc) && (told || writes) && messages_real()) {
		sched_point(t);
		uint64_t message = ++rt.messages;
		if (told)
			given_back[fd] = message;
		if (writes)
			closes(&channels[writes], message);
		tell(t, LOG_SND, pc, message);
	}
}

void channel_numbered(struct thread *t, int fd, uintptr_t pc)
{
	int error = errno;
	if (!rt.inputs || fd < 0 || fd >= NUMBERS)
		return;
	if (!as_planned(t, LOG_RCV, pc) && given_back[fd] && messages_real()) {
		tell(t, LOG_RCV, pc, given_back[fd]);
		given_back[fd] = 0;
	}
	errno = error;
}

void channel_ready(struct thread *t, unsigned channel, uintptr_t pc)
{
	if (!channel || as_planned(t, LOG_RCV, pc) || !messages_real())
		return;
	int error = errno;
	const struct channel *c = &channels[channel];
	if (c->count > 0)
		tell(t, LOG_RCV, pc, c->queue[c->from].message);
	else
		receive_closes(t, c, pc);
	errno = error;
}
