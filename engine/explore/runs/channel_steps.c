/* channel_steps.c - see channel_steps.h. */
#include "engine/explore/runs/channel_steps.h"

#include "engine/explore/runs/final.h"
#include "engine/explore/runs/history_private.h"
#include "engine/record/layout.h"

#include <errno.h>
#include <string.h>

/* An operation, by the value of its access. */
struct operation {
	enum log_channel_op op;
	unsigned flags;
	uint32_t small, large;
	uint32_t event, channel;
	uint32_t before; /* what asks: the thread's question before it, for one act; an act: the
	                  * last of its questions; NONE: none */
};

/* A state of a channel: this, and behind it in memory its writes, the oldest first. */
struct content {
	uint32_t kind, readers, writers, writes;
	uint64_t count;
};
struct written {
	uint64_t number;
	uint32_t bytes, from; /* those not read yet; the place of their first in the write */
};

struct channel_steps {
	const struct history *h;
	GArray *operations;   /* struct operation */
	uint32_t *of_event;   /* its operation's index + 1, or 0 */
	uint32_t *asked;      /* by thread: its last question that no act follows, or NONE */
	uint32_t *channel_of; /* by variable: or NONE */
	uint32_t channels;
	uint8_t *forms;      /* by channel: enum log_channel_form */
	uint32_t *readers;   /* by channel: the thread that reads from it; NONE: none, or
	                      * ALL_READ: several */
	GPtrArray *states;   /* GBytes: by number - 1 */
	GHashTable *numbers; /* GBytes -> number */
	bool full;
};
enum { ALL_READ = EVENT_THREADS };

/* Beyond these a channel may have no room. A pipe has, for any number of writes of at most a
 * page each, more than half of its pages (16, as it is made); a pair of sockets' packets are at
 * most ten (net.unix.max_dgram_qlen). */
enum { MOST_BYTES = 16384, MOST_WRITES = 64, MOST_PACKETS = 10 };

bool channel_steps_variable(const struct trace *t, uint32_t variable)
{
	uint64_t at = t->variables[variable].address;
	return at >= LOG_CHANNEL_PLACES &&
	       at < LOG_CHANNEL_PLACES + 8ull * LOG_CHANNEL_FORMS * LOG_CHANNELS_OF_FORM;
}

/* ---- the operations of a run ---- */

static bool is_question(enum log_channel_op op)
{
	return op == LOG_CHANNEL_READS || op == LOG_CHANNEL_WRITES || op == LOG_CHANNEL_POLLS;
}

bool channel_steps_only_asks(const struct trace *t, uint32_t event)
{
	return t->events[event].op == OP_AREAD &&
	       channel_steps_variable(t, event_variables(t, &t->events[event]).first) &&
	       is_question(access_value(t, event, false).integer >> 56);
}

static const struct operation *operation_at(const struct channel_steps *c, uint32_t place)
{
	return &g_array_index(c->operations, struct operation, place);
}

static const struct operation *operation_of(const struct channel_steps *c, uint32_t event)
{
	return c != NULL && c->of_event[event] != 0 ? operation_at(c, c->of_event[event] - 1)
	                                            : NULL;
}

static void add_operation(struct channel_steps *c, uint32_t event)
{
	const struct trace *t = c->h->trace;
	const struct event *x = &t->events[event];
	uint64_t value = access_value(t, event, false).integer;
	struct operation o = { .op = (enum log_channel_op)(value >> 56),
		               .flags = value >> 48 & 0xff,
		               .small = value >> 32 & 0xffff,
		               .large = (uint32_t)value,
		               .event = event,
		               .channel = c->channel_of[event_variables(t, x).first],
		               .before = NONE };
	uint32_t *asked = &c->asked[x->thread];
	if (is_question(o.op) || o.op == LOG_CHANNEL_ACTS)
		o.before = *asked;
	if (is_question(o.op))
		*asked = c->operations->len;
	else if (o.op == LOG_CHANNEL_ACTS)
		*asked = NONE;
	if (o.op == LOG_CHANNEL_READS) {
		uint32_t *reader = &c->readers[o.channel];
		*reader = *reader == NONE || *reader == x->thread ? x->thread : ALL_READ;
	}
	g_array_append_val(c->operations, o);
	c->of_event[event] = c->operations->len;
}

struct channel_steps *channel_steps_new(const struct history *h)
{
	const struct trace *t = h->trace;
	uint32_t channels = 0;
	for (uint32_t v = 0; v < t->variables_count; v++)
		channels += channel_steps_variable(t, v);
	if (channels == 0)
		return NULL;
	struct channel_steps *c = g_new0(struct channel_steps, 1);
	c->h = h;
	c->operations = g_array_new(FALSE, FALSE, sizeof(struct operation));
	c->of_event = g_new0(uint32_t, t->events_count + 1);
	c->asked = g_new(uint32_t, t->threads_count + 1);
	c->channel_of = g_new(uint32_t, t->variables_count + 1);
	c->readers = g_new(uint32_t, channels);
	c->forms = g_new0(uint8_t, channels);
	c->states = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
	c->numbers = g_hash_table_new(g_bytes_hash, g_bytes_equal);
	memset(c->asked, 0xff, sizeof(uint32_t) * (t->threads_count + 1));
	memset(c->readers, 0xff, sizeof(uint32_t) * channels);
	for (uint32_t v = 0; v < t->variables_count; v++) {
		bool is = channel_steps_variable(t, v);
		uint64_t place = (t->variables[v].address - LOG_CHANNEL_PLACES) / 8;
		c->channel_of[v] = is ? c->channels : NONE;
		if (is)
			c->forms[c->channels++] = (uint8_t)(place / LOG_CHANNELS_OF_FORM);
	}
	for (uint32_t e = 0; e < t->events_count; e++)
		if (op_is_access(t->events[e].op) && !event_inert(&t->events[e]) &&
		    c->channel_of[event_variables(t, &t->events[e]).first] != NONE)
			add_operation(c, e);
	return c;
}

void channel_steps_free(struct channel_steps *c)
{
	if (c == NULL)
		return;
	g_array_unref(c->operations);
	g_free(c->of_event);
	g_free(c->asked);
	g_free(c->channel_of);
	g_free(c->readers);
	g_free(c->forms);
	g_hash_table_unref(c->numbers);
	g_ptr_array_unref(c->states);
	g_free(c);
}

uint32_t channel_steps_count(const struct channel_steps *c)
{
	return c != NULL ? c->channels : 0;
}

bool channel_steps_has(const struct channel_steps *c, uint32_t event)
{
	return operation_of(c, event) != NULL;
}

bool channel_steps_acts(const struct channel_steps *c, uint32_t event)
{
	const struct operation *o = operation_of(c, event);
	return o != NULL && !is_question(o->op);
}

/* ---- states ---- */

static const struct content nothing;

static const struct content *content_of(const struct channel_steps *c, const uint32_t *state,
                                        const struct operation *o)
{
	uint32_t number = state[o->channel];
	return number == 0 ? &nothing : g_bytes_get_data(c->states->pdata[number - 1], NULL);
}

static const struct written *writes_in(const struct content *content)
{
	return (const struct written *)(const void *)(content + 1);
}

static bool is_eventfd(const struct content *content)
{
	return content->kind == LOG_CHANNEL_COUNTER || content->kind == LOG_CHANNEL_SEMAPHORE;
}

static bool is_readable(const struct content *content)
{
	return is_eventfd(content) ? content->count > 0
	                           : content->writes > 0 || content->writers == 0;
}

static uint32_t number_of_state(struct channel_steps *c, const struct content *content,
                                const struct written *writes)
{
	size_t size = sizeof *content + content->writes * sizeof *writes;
	uint8_t *data = g_malloc(size);
	memcpy(data, content, sizeof *content);
	if (content->writes > 0)
		memcpy(data + sizeof *content, writes, size - sizeof *content);
	GBytes *bytes = g_bytes_new_take(data, size);
	uint32_t number = GPOINTER_TO_UINT(g_hash_table_lookup(c->numbers, bytes));
	if (number != 0) {
		g_bytes_unref(bytes);
		return number;
	}
	g_ptr_array_add(c->states, bytes);
	g_hash_table_insert(c->numbers, bytes, GUINT_TO_POINTER(c->states->len));
	return c->states->len;
}

/* ---- what acts find ---- */

static struct channel_outcome outcome(int32_t result, uint64_t number)
{
	return (struct channel_outcome){ .number = history_mix(
		                                 history_mix(24, (uint32_t)result), number),
		                         .result = result };
}

/* Takes up to `most` bytes from the first of the writes: their number, and that of whole writes
 * (*whole) and of bytes of the next (*part) that they are. */
static struct channel_outcome find_bytes(const struct content *content, uint32_t most,
                                         uint32_t *whole, uint32_t *part)
{
	const struct written *w = writes_in(content);
	bool packets = content->kind == LOG_CHANNEL_PACKETS;
	uint64_t number = 1;
	uint32_t bytes = 0;
	*whole = *part = 0;
	for (uint32_t i = 0; i < content->writes && bytes < most && !(packets && i > 0); i++) {
		uint32_t taken = MIN(w[i].bytes, most - bytes);
		number = history_mix(history_mix(number, w[i].number), w[i].from);
		number = history_mix(number, taken);
		bytes += taken;
		if (taken == w[i].bytes || packets)
			++*whole;
		else
			*part = taken;
	}
	return outcome((int32_t)bytes, number);
}

static struct channel_outcome find_read(const struct content *content,
                                        const struct operation *ask)
{
	uint32_t whole, part;
	if (!is_readable(content)) {
		struct channel_outcome none = outcome(-EAGAIN, 0);
		none.waits = !(ask->flags & LOG_CHANNEL_AT_ONCE);
		return none;
	}
	if (is_eventfd(content))
		return outcome(sizeof(uint64_t),
		               content->kind == LOG_CHANNEL_SEMAPHORE ? 1 : content->count);
	return find_bytes(content, ask->large, &whole, &part);
}

static bool takes_writes(const struct content *content)
{
	return is_eventfd(content) || content->readers > 0;
}

/* Bits of what is ready at an end, that it asks for or not. */
static unsigned find_ready(const struct channel_steps *c, const struct content *content,
                           const struct operation *ask)
{
	bool asks_in = ask->flags & LOG_CHANNEL_IN, asks_out = ask->flags & LOG_CHANNEL_OUT;
	bool over = !is_eventfd(content) && content->writers == 0;
	if (ask->flags & LOG_CHANNEL_WRITING) /* the end of a socket's reader: it is closed */
		return (takes_writes(content) ? 0 : 1) | (asks_out ? 2 : 0);
	/* of a socket the end is told where it is asked for, or by the other channel */
	bool hangs_up = over && (c->forms[ask->channel] == LOG_CHANNEL_PIPE ||
	                         ask->flags & LOG_CHANNEL_HANGUP);
	return (asks_in && is_readable(content) ? 4 : 0) | (hangs_up ? 8 : 0);
}

static struct channel_outcome find_polled(const struct channel_steps *c, const uint32_t *state,
                                          const struct operation *ask)
{
	bool at_once = ask->flags & LOG_CHANNEL_AT_ONCE;
	uint64_t number = 2;
	int32_t count = 0;
	for (;;) {
		unsigned ready = find_ready(c, content_of(c, state, ask), ask);
		number = history_mix(number, ready);
		count += ready != 0;
		if (ask->before == NONE)
			break;
		ask = operation_at(c, ask->before);
	}
	struct channel_outcome o = outcome(count, number);
	o.waits = count == 0 && !at_once;
	return o;
}

static struct channel_outcome find(const struct channel_steps *c, const uint32_t *state,
                                   const struct operation *ask)
{
	const struct content *content = content_of(c, state, ask);
	switch (ask->op) {
	case LOG_CHANNEL_READS:
		return find_read(content, ask);
	case LOG_CHANNEL_WRITES:
		return takes_writes(content) ? outcome((int32_t)ask->small, 0)
		                             : outcome(-EPIPE, 0);
	default:
		return find_polled(c, state, ask);
	}
}

struct channel_outcome channel_steps_outcome(struct channel_steps *c, const uint32_t *state,
                                             uint32_t event)
{
	const struct operation *o = operation_of(c, event);
	if (o->op != LOG_CHANNEL_ACTS || o->before == NONE)
		return outcome(0, o->op);
	return find(c, state, operation_at(c, o->before));
}

/* The last question of an act; NULL: it has none. */
static const struct operation *question_of(const struct channel_steps *c, uint32_t event)
{
	const struct operation *o = operation_of(c, event);
	return o != NULL && o->op == LOG_CHANNEL_ACTS && o->before != NONE
	               ? operation_at(c, o->before)
	               : NULL;
}

bool channel_steps_waits_in_time(struct channel_steps *c, const uint32_t *state, uint32_t event)
{
	const struct operation *ask = question_of(c, event);
	return ask != NULL && ask->op == LOG_CHANNEL_POLLS && ask->flags & LOG_CHANNEL_TIMED &&
	       find(c, state, ask).result == 0;
}

bool channel_steps_awaits(struct channel_steps *c, const uint32_t *state, uint32_t thread,
                          struct channel_outcome *outcome)
{
	if (c == NULL || c->asked[thread] == NONE)
		return false;
	*outcome = find(c, state, operation_at(c, c->asked[thread]));
	return true;
}

/* ---- and leave ---- */

static void leave_read(struct content *content, GArray *writes, const struct operation *ask)
{
	uint32_t whole, part;
	if (is_eventfd(content)) {
		content->count = content->kind == LOG_CHANNEL_SEMAPHORE && content->count > 0
		                         ? content->count - 1
		                         : 0;
		return;
	}
	if (writes->len == 0) /* its end */
		return;
	g_autofree uint8_t *all =
	        g_malloc(sizeof *content + writes->len * sizeof(struct written));
	memcpy(all, content, sizeof *content);
	memcpy(all + sizeof *content, writes->data, writes->len * sizeof(struct written));
	find_bytes((const struct content *)(const void *)all, ask->large, &whole, &part);
	if (whole > 0)
		g_array_remove_range(writes, 0, whole);
	if (part > 0) {
		g_array_index(writes, struct written, 0).bytes -= part;
		g_array_index(writes, struct written, 0).from += part;
	}
}

/* The number by which a write's bytes are known. */
static uint64_t number_of_write(const struct channel_steps *c, const struct operation *ask)
{
	return ask->large != 0 ? history_mix(25, ask->large)
	                       : history_write_number(c->h, ask->event, NONE);
}

static void leave_written(struct channel_steps *c, struct content *content, GArray *writes,
                          const struct operation *ask)
{
	if (!takes_writes(content))
		return;
	if (is_eventfd(content)) {
		content->count += ask->large;
		return;
	}
	struct written w = { .number = number_of_write(c, ask), .bytes = ask->small };
	g_array_append_val(writes, w);
	uint64_t bytes = 0;
	for (guint i = 0; i < writes->len; i++)
		bytes += g_array_index(writes, struct written, i).bytes;
	c->full |= bytes > MOST_BYTES ||
	           writes->len >
	                   (content->kind == LOG_CHANNEL_PACKETS ? MOST_PACKETS : MOST_WRITES);
}

static uint32_t count_of_ends(const struct operation *o, uint32_t end, uint32_t count)
{
	if (!(o->flags & end))
		return count;
	return o->op == LOG_CHANNEL_COPIES                ? count + 1
	       : o->flags & LOG_CHANNEL_ALL || count == 0 ? 0
	                                                  : count - 1;
}

static void leave_ends(struct content *content, const struct operation *o)
{
	content->readers = count_of_ends(o, LOG_CHANNEL_READER, content->readers);
	content->writers = count_of_ends(o, LOG_CHANNEL_WRITER, content->writers);
}

void channel_steps_take(struct channel_steps *c, uint32_t *state, uint32_t event)
{
	const struct operation *o = operation_of(c, event), *ask = NULL;
	if (o->op == LOG_CHANNEL_ACTS) {
		ask = o->before != NONE ? operation_at(c, o->before) : NULL;
		if (ask == NULL || ask->op == LOG_CHANNEL_POLLS)
			return;
	}
	const struct content *was = content_of(c, state, o);
	struct content content = *was;
	g_autoptr(GArray) writes = g_array_new(FALSE, FALSE, sizeof(struct written));
	if (was->writes > 0)
		g_array_append_vals(writes, writes_in(was), was->writes);
	if (o->op == LOG_CHANNEL_MAKES)
		content = (struct content){
			.kind = o->flags, .readers = 1, .writers = 1, .count = o->large
		};
	else if (ask == NULL)
		leave_ends(&content, o);
	else if (ask->op == LOG_CHANNEL_READS)
		leave_read(&content, writes, ask);
	else
		leave_written(c, &content, writes, ask);
	content.writes = writes->len;
	state[o->channel] =
	        number_of_state(c, &content, (const struct written *)(void *)writes->data);
}

/* ---- what is said of them ---- */

/* The name of the thread that wrote the bytes which are read first, if it is one; or NULL. */
static const char *writer_of(const struct channel_steps *c, const struct content *content)
{
	const struct trace *t = c->h->trace;
	uint32_t writer = NONE;
	for (guint i = 0; content->writes > 0 && i < c->operations->len; i++) {
		const struct operation *o = operation_at(c, i);
		if (o->op != LOG_CHANNEL_WRITES ||
		    number_of_write(c, o) != writes_in(content)->number)
			continue;
		if (writer != NONE && writer != t->events[o->event].thread)
			return NULL;
		writer = t->events[o->event].thread;
	}
	return writer == NONE ? NULL : trace_thread_name(t, writer);
}

static char *text_of(const struct channel_steps *c, const struct operation *ask,
                     const struct content *content, int32_t result)
{
	if (ask->op == LOG_CHANNEL_POLLS)
		return g_strdup(result == 0 ? "nothing ready" : "something ready");
	if (result == -EAGAIN)
		return g_strdup("nothing");
	if (result == -EPIPE)
		return g_strdup("no reader");
	if (result < 0)
		return g_strdup(g_strerror(-result));
	if (ask->op == LOG_CHANNEL_READS && is_eventfd(content))
		return g_strdup_printf("%" G_GUINT64_FORMAT,
		                       content->kind == LOG_CHANNEL_SEMAPHORE ? 1
		                                                              : content->count);
	if (ask->op == LOG_CHANNEL_READS && result == 0)
		return g_strdup("its end");
	const char *writer = writer_of(c, content);
	return g_strdup_printf("%d byte%s%s%s%s", result, result == 1 ? "" : "s",
	                       writer ? " that " : "", writer ? writer : "",
	                       writer ? " wrote" : "");
}

char *channel_steps_text(struct channel_steps *c, const uint32_t *state, uint32_t event)
{
	const struct operation *ask = question_of(c, event);
	return ask == NULL
	               ? NULL
	               : text_of(c, ask, content_of(c, state, ask), find(c, state, ask).result);
}

char *channel_steps_text_in_run(const struct channel_steps *c, uint32_t event)
{
	const struct operation *ask = question_of(c, event);
	int32_t result = ask != NULL ? (int32_t)operation_of(c, event)->large : 0;
	if (ask != NULL && ask->op == LOG_CHANNEL_READS &&
	    c->forms[ask->channel] == LOG_CHANNEL_EVENTFD && result > 0)
		return g_strdup("another number");
	return ask == NULL ? NULL
	                   : text_of(c, ask, &nothing, (int32_t)operation_of(c, event)->large);
}

bool channel_steps_differs(const struct channel_steps *c, uint32_t event,
                           struct channel_outcome outcome)
{
	const struct operation *o = operation_of(c, event), *ask = question_of(c, event);
	if (o == NULL || o->op != LOG_CHANNEL_ACTS)
		return false;
	int32_t result = (int32_t)o->large;
	if (ask != NULL && ask->op == LOG_CHANNEL_POLLS)
		return outcome.waits || result != (outcome.result > 0);
	return ask == NULL || outcome.waits || result != outcome.result;
}

bool channel_steps_full(const struct channel_steps *c)
{
	return c != NULL && c->full;
}

/* Does a poll look at several channels, for what it asks? */
static bool asks_of_several(const struct channel_steps *c, const struct operation *ask)
{
	const unsigned asked = LOG_CHANNEL_IN | LOG_CHANNEL_OUT | LOG_CHANNEL_HANGUP;
	unsigned count = (ask->flags & asked) != 0;
	while (ask->before != NONE) {
		ask = operation_at(c, ask->before);
		count += (ask->flags & asked) != 0;
	}
	return count > 1;
}

bool channel_steps_is_loose(const struct channel_steps *c, uint32_t event)
{
	const struct operation *ask = question_of(c, event);
	if (ask == NULL)
		return false;
	int32_t result = (int32_t)operation_of(c, event)->large;
	if (ask->op == LOG_CHANNEL_POLLS)
		return result <= 0 || asks_of_several(c, ask);
	return result < 0 ||
	       (ask->op == LOG_CHANNEL_READS && c->readers[ask->channel] == ALL_READ);
}
