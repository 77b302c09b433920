/*
 * channels.c - pipes, pairs of sockets and eventfds inside of the process: what is read was
 * written before.
 *
 * Each write is a message, received by who reads of it, and by who is told that there is
 * something to read.  On replay the calls are made for real, in the turn of these events.
 *
 * And in a program that something comes to from outside: a descriptor's number is given out
 * again only after it was closed, which is a message as well.  Else two connections that had
 * one number, one after the other, would seem to be open at once.
 */
#include "outside.h"

enum { CHANNELS = 1024, QUEUE = 64 };

static struct channel {
	bool used, counter; /* an eventfd: a read takes all */
	unsigned ends;      /* descriptors that lead there */
	unsigned from, count;
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
			channels[i] = (struct channel){ .used = true, .counter = counter };
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

/* Replay: the events that the plan has here, for the process may be further or less far. */
static bool as_planned(struct thread *t, enum log_tag tag, uintptr_t pc)
{
	if (!rt.replay)
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
	if (!channel || bytes <= 0 || as_planned(t, LOG_SND, pc) || rt.inputs != INPUTS_KEPT)
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
	log_event(t, LOG_SND, 0, pc, rt.messages, 0, 1);
	errno = error;
}

void channel_read(struct thread *t, unsigned channel, int64_t bytes, uintptr_t pc)
{
	if (!channel || bytes <= 0 || as_planned(t, LOG_RCV, pc) || rt.inputs != INPUTS_KEPT)
		return;
	int error = errno;
	struct channel *c = &channels[channel];
	uint64_t left = c->counter ? UINT64_MAX : (uint64_t)bytes;
	while (left > 0 && c->count > 0) {
		uint64_t *here = &c->queue[c->from].bytes;
		log_event(t, LOG_RCV, 0, pc, c->queue[c->from].message, 0, 1);
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

enum { NUMBERS = 1 << 16 };
static uint64_t given_back[NUMBERS]; /* the message of the last close */

void channel_closing(struct thread *t, int fd, bool told, uintptr_t pc)
{
	if (fd < 0 || fd >= NUMBERS)
		return;
	if (rt.replay) {
		as_planned(t, LOG_SND, pc);
	} else if (told && rt.inputs == INPUTS_KEPT) {
		sched_point(t);
		given_back[fd] = ++rt.messages;
		log_event(t, LOG_SND, 0, pc, given_back[fd], 0, 1);
	}
}

void channel_numbered(struct thread *t, int fd, uintptr_t pc)
{
	int error = errno;
	if (!rt.inputs || fd < 0 || fd >= NUMBERS)
		return;
	if (rt.replay) {
		as_planned(t, LOG_RCV, pc);
	} else if (given_back[fd] && rt.inputs == INPUTS_KEPT) {
		log_event(t, LOG_RCV, 0, pc, given_back[fd], 0, 1);
		given_back[fd] = 0;
	}
	errno = error;
}

void channel_ready(struct thread *t, unsigned channel, uintptr_t pc)
{
	if (!channel || as_planned(t, LOG_RCV, pc) || rt.inputs != INPUTS_KEPT)
		return;
	int error = errno;
	const struct channel *c = &channels[channel];
	if (c->count > 0)
		log_event(t, LOG_RCV, 0, pc, c->queue[c->from].message, 0, 1);
	errno = error;
}
