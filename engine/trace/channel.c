/* channel.c - see channel.h. */
#include "engine/trace/channel.h"

#include "engine/trace/wait_events.h"

#include <inttypes.h>
#include <string.h>

#define PREFIX "pipe:"
#define CLOSE  ".close"
#define SHARED ".shared"

char *channel_name(unsigned channel)
{
	return g_strdup_printf(PREFIX "%u", channel);
}

char *channel_message_name(unsigned channel, uint32_t number, enum channel_event what,
                           unsigned bytes, unsigned room)
{
	switch (what) {
	case CHANNEL_CLOSED:
		return g_strdup_printf(PREFIX "%u.%" PRIu32 CLOSE, channel, number);
	case CHANNEL_SHARED:
		return g_strdup_printf(PREFIX "%u.%" PRIu32 SHARED, channel, number);
	default:
		return g_strdup_printf(PREFIX "%u.%" PRIu32 "/%u/%u", channel, number, bytes,
		                       room);
	}
}

/* A decimal number of at most nine digits; false for other text. */
static bool read_number(const char **at, uint32_t *number)
{
	const char *from = *at;

	for (*number = 0; g_ascii_isdigit(**at) && *at - from < 9; ++*at)
		*number = *number * 10 + (uint32_t)(**at - '0');
	return *at > from;
}

static bool read_channel(const char **at, uint32_t *channel)
{
	if (!g_str_has_prefix(*at, PREFIX))
		return false;
	*at += strlen(PREFIX);
	return read_number(at, channel) && *channel > 0;
}

unsigned channel_of_name(const char *name)
{
	uint32_t channel;

	return read_channel(&name, &channel) && *name == '\0' ? channel : 0;
}

const char *channel_variable_kind(const char *name)
{
	static const char *const kinds[] = { "pipe", "socket", "eventfd" };
	const char *at = strrchr(name, '@');
	for (size_t i = 0; at != NULL && i < G_N_ELEMENTS(kinds); i++)
		if (g_str_has_prefix(at + 1, kinds[i]))
			return kinds[i];
	return NULL;
}

bool channel_is_variable(const char *name)
{
	return channel_variable_kind(name) != NULL;
}

/* It has asked, and done nothing since. */
const char *channel_waited_for(const struct trace *t, uint32_t want)
{
	uint32_t thread = t->events[want].thread, e = want;
	while (e-- > 0) {
		const struct event *x = &t->events[e];
		if (x->thread != thread || !op_is_access(x->op))
			continue;
		const char *name = trace_variable_name(t, event_variables(t, x).first);
		return channel_is_variable(name) ? name : NULL;
	}
	return NULL;
}

void channel_message_read(const char *name, struct channel_message *m, uint32_t *number)
{
	struct channel_message read = { .what = CHANNEL_NONE };

	*m = read;
	if (!read_channel(&name, &read.channel) || *name++ != '.' ||
	    !read_number(&name, number))
		return;
	if (strcmp(name, CLOSE) == 0)
		read.what = CHANNEL_CLOSED;
	else if (strcmp(name, SHARED) == 0)
		read.what = CHANNEL_SHARED;
	else if (*name++ == '/' && read_number(&name, &read.bytes) && *name++ == '/' &&
	         read_number(&name, &read.room) && *name == '\0')
		read.what = CHANNEL_DATA;
	*m = read;
}

void channels_init(struct channels *c, const struct trace *t)
{
	GHashTable *numbers = g_hash_table_new(NULL, NULL);

	*c = (struct channels){ .messages =
		                        g_new0(struct channel_message, t->messages_count + 1),
		                .of_object = g_new(uint32_t, t->objects_count + 1) };
	for (uint32_t m = 0; m < t->messages_count; m++) {
		struct channel_message *x = &c->messages[m];
		uint32_t number;

		channel_message_read(trace_string(t, t->messages[m]), x, &number);
		if (x->what == CHANNEL_NONE)
			continue;
		gpointer key = GUINT_TO_POINTER(x->channel), known;
		if (!g_hash_table_lookup_extended(numbers, key, NULL, &known)) {
			known = GUINT_TO_POINTER(c->count++);
			g_hash_table_insert(numbers, key, known);
		}
		x->channel = GPOINTER_TO_UINT(known);
	}
	for (uint32_t o = 0; o < t->objects_count; o++) {
		gpointer key = GUINT_TO_POINTER(
		                 channel_of_name(trace_string(t, t->objects[o].name))),
		         known;

		c->of_object[o] = NONE;
		if (key == NULL)
			continue;
		if (!g_hash_table_lookup_extended(numbers, key, NULL, &known)) {
			known = GUINT_TO_POINTER(c->count++);
			g_hash_table_insert(numbers, key, known);
		}
		c->of_object[o] = GPOINTER_TO_UINT(known);
	}
	g_hash_table_destroy(numbers);
	for (struct wait_walk w = wait_walk(t); wait_walk_next(&w);) {
		if (channel_receives(c, w.event))
			c->messages[w.event->target].reads++;
	}
}

void channels_release(struct channels *c)
{
	g_free(c->messages);
	g_free(c->of_object);
}
