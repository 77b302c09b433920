/*
 * channel.h - channels: pipes, pairs of sockets and eventfds that only threads of the recorded
 * process write to and read from.
 *
 * A recording's messages say by their names which channel they went through, so that of a
 * receive it is known when it would wait: `pipe:3.17/100/65536` is the 17th message of the
 * recording, of 100 bytes, through channel 3, which has room for 65,536 bytes;
 * `pipe:3.18.close`, that a writer has closed it; `pipe:3.19.shared`, that from then on others
 * may write to it.  `pipe:3` is the channel as the object of a want.  Names, as text traces
 * hold them too.  Any other message only orders events.
 */
#ifndef HEDDLE_CHANNEL_H
#define HEDDLE_CHANNEL_H

#include "engine/trace/trace.h"

enum channel_event { CHANNEL_NONE, CHANNEL_DATA, CHANNEL_CLOSED, CHANNEL_SHARED };

/* Names, owned by the caller (g_free).  `room`: in bytes; 0 not known. */
char *channel_name(unsigned channel);
char *channel_message_name(unsigned channel, uint32_t number, enum channel_event what,
                           unsigned bytes, unsigned room);
/* The number of the channel with that name; 0: not a channel's name. */
unsigned channel_of_name(const char *name);

/* Is it the name of the variable that stands for a channel in an exploration: "wake@pipe"? */
bool channel_is_variable(const char *name);
/* The words for what it stands for, "pipe", "socket" or "eventfd", and what is before the sign:
 * the variable that has the descriptors, or "fd5"; NULL: it is none. */
const char *channel_variable_kind(const char *name);

/* The name of the variable that stands for the channel at which a thread waits at the end of an
 * exploration's run, by its want; NULL: not there. */
const char *channel_waited_for(const struct trace *t, uint32_t want);

struct channel_message {
	enum channel_event what; /* NONE: of no channel */
	uint32_t channel;        /* from 0 on, of `channels_count` */
	uint32_t bytes;
	uint32_t room;  /* 0: not known */
	uint32_t reads; /* DATA: number of events that receive a part of it, and wait for it */
};
/* Reads the name of a message; `what` is NONE when it is of no channel.  The channel is as
 * numbered in the name, and `reads` 0. */
void channel_message_read(const char *name, struct channel_message *m, uint32_t *number);
/* Facts about channels that are fixed by the trace. */
struct channels {
	struct channel_message *messages; /* by message */
	uint32_t *of_object;              /* by object: its channel, or NONE */
	uint32_t count;
};
void channels_init(struct channels *c, const struct trace *t);
void channels_release(struct channels *c);

/* Does the event receive from a channel, so that it waits while the channel is empty? */
static inline bool channel_receives(const struct channels *c, const struct event *x)
{
	return x->op == OP_RCV && !(x->flags & (EVENT_INERT | EVENT_TRY)) &&
	       (c->messages[x->target].what == CHANNEL_DATA ||
	        c->messages[x->target].what == CHANNEL_CLOSED);
}

#endif
