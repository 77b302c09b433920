/*
 * import_records.c - takes each record of the log: accesses, calls and blocks go to
 * import_events.c, the other kinds to the files of their names; synchronisation, input, and
 * facts of the run beside its events are taken here.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/record/codec.h"
#include "engine/record/import/import_private.h"
#include "engine/trace/channel.h"
#include "engine/record/import/running.h"
#include "engine/trace/ending.h"
#include "engine/trace/formats.h"
#include "engine/trace/weak.h"

/* Text for people. */
/* The last of its numbers may be an address. */
static void note_of_thread(struct import *im, const char *key, char *value)
{
	char *last = strrchr(value, ' ');
	uint64_t number = last ? strtoull(last + 1, NULL, 10) : 0;
	int before = last ? (int)(last - value) : 0;
	char *text = g_strdup_printf("%.*s %" PRIu64, before, value, import_value(im, number));
	builder_note(im->b, key, text);
	g_free(text);
}

/* Adds the function to the list, once: with --last a call may be noted again (libc/orders.c).
 */
static void note_unseen(GString *list, const char *function)
{
	g_auto(GStrv) known = g_strsplit(list->str, ", ", -1);

	if (!g_strv_contains((const char *const *)known, function))
		g_string_append_printf(list, "%s%s", list->len ? ", " : "", function);
}

/* "all ADDRESS" or "else ADDRESS". */
static void note_taken(struct import *im, const char *text)
{
	const char *address = strchr(text, ' ');
	struct record_taken taken = { .by_all = g_str_has_prefix(text, "all ") };

	if (address == NULL)
		return;
	taken.address = g_ascii_strtoull(address + 1, NULL, 16);
	g_array_append_val(im->facts->taken, taken);
}

static void note(struct import *im, const char *text, uint64_t length)
{
	size_t n = strnlen(text, length);
	char *key = g_strndup(text, n);
	char *value = n < length ? g_strndup(text + n + 1, length - n - 1) : g_strdup("");
	if (strcmp(key, "unordered") == 0)
		g_ptr_array_add(im->facts->unordered, g_strdup(value));
	else if (strcmp(key, LOG_TAKEN_NOTE) == 0)
		note_taken(im, value);
	else if (strcmp(key, LOG_UNSEEN_NOTE) == 0)
		note_unseen(im->unseen_calls, value);
	else if (strcmp(key, "assertion") == 0)
		builder_note(im->b, ASSERTION_NOTE, value);
	else if (strcmp(key, LOG_START_NOTE) == 0 || strcmp(key, LOG_RESULT_NOTE) == 0)
		note_of_thread(im, key, value);
	else if (strcmp(key, LOG_CHILD_NOTE) == 0 || strcmp(key, LOG_NUMBER_NOTE) == 0)
		builder_note(im->b, key, value);
	else if (strcmp(key, "writer-first") == 0)
		builder_note(im->b, TRACE_WRITER_FIRST_NOTE, value);
	else if (strcmp(key, "futexes") == 0)
		builder_note(im->b, FUTEX_STEPS_NOTE, value);
	else if (strcmp(key, "memory") == 0)
		builder_note(im->b, WEAK_LIMIT_NOTE, value);
	else if (strcmp(key, "input") == 0 && !im->facts->input)
		im->facts->input = g_strdup(value);
	g_free(key);
	g_free(value);
}

/* The name of a message; owned by the caller. */
static char *import_message(struct import *im, uint64_t word, bool begins)
{
	enum { PAGE = 4096 };
	struct log_message_fields f = log_message_parts(word);

	if (f.channel == 0 && begins)
		g_hash_table_add(im->once, GSIZE_TO_POINTER((gsize)f.number));
	if (f.channel == 0) {
		g_autofree char *name = import_message_name(im, f.number);
		return g_strconcat(name, begins ? MESSAGE_BEGINS : "", NULL);
	}
	enum channel_event what = f.bytes == LOG_CHANNEL_CLOSED   ? CHANNEL_CLOSED
	                          : f.bytes == LOG_CHANNEL_SHARED ? CHANNEL_SHARED
	                                                          : CHANNEL_DATA;
	return channel_message_name(f.channel, f.number, what, f.bytes, f.pages * PAGE);
}

static bool may_be_timed(enum log_tag tag)
{
	return tag == LOG_ACQ || tag == LOG_RACQ || tag == LOG_TAKE || tag == LOG_TRYFAIL ||
	       tag == LOG_TAKETRYFAIL;
}

static bool is_shared(enum log_tag tag, unsigned flags)
{
	return (tag == LOG_TRYFAIL && flags & LOG_SHARED) ||
	       ((tag == LOG_SND || tag == LOG_RCV) && flags & LOG_HELD);
}

static void add_sync(struct import *im, uint32_t id, enum log_tag tag, unsigned flags,
                     uint64_t pc, const uint64_t *w)
{
	struct lane *lane = import_lane(im, id);
	struct event e = { .op = import_op[tag],
		           .flags = import_order(import_op[tag], flags) |
		                    (flags & LOG_TRY ? EVENT_TRY : 0) |
		                    (is_shared(tag, flags) ? EVENT_SHARED : 0) |
		                    (may_be_timed(tag) && flags & LOG_TIMED ? EVENT_TIMED : 0),
		           .location = import_location(im, pc),
		           .target = NONE };
	char *text;
	switch (op_table[e.op].operand) {
	case OPERAND_OBJECT:
		e.target = import_object(im, lane, tag, flags, w[1]);
		break;
	case OPERAND_THREAD:
		e.target = import_lane(im, w[1])->thread;
		lane = import_lane(im, id); /* lanes may have moved */
		break;
	case OPERAND_MESSAGE:
		text = import_message(im, w[1], tag == LOG_SND && flags & LOG_BEGINS);
		e.target = builder_message(im->b, text, strlen(text));
		g_free(text);
		break;
	default:
		break;
	}
	if (lane->state != 0 && op_table[e.op].operand == OPERAND_MESSAGE)
		lane->state = import_address(im, lane->state); /* of a once-function */
	uint32_t event = import_event(im, lane, e) ? builder_event_count(im->b) - 1 : NONE;
	import_weak_state(im, lane, event);
}

/* Adds a part of an input; useless without its beginning (--last). */
static void import_input(struct import *im, unsigned flags, const uint8_t *bytes,
                         uint64_t length)
{
	if (im->inputs->len == 0 && flags & LOG_MORE)
		return;
	if (im->inputs->len + length < G_MAXUINT / 2)
		g_byte_array_append(im->inputs, bytes, (guint)length);
}

static void add_clock(struct import *im, const struct lane *lane, unsigned clock,
                      const uint64_t *w)
{
	im->clocks++;
	im->futexes += clock == LOG_FUTEX_CLOCK;
	builder_clock(im->b, (struct recorded_clock){ .thread = lane->thread,
	                                              .clock = clock,
	                                              .seconds = (int64_t)w[1],
	                                              .nanoseconds = (int64_t)w[2] });
}

/* Without effect when --last dropped its event. */
static void add_repeat(struct import *im, struct lane *lane, uint64_t count)
{
	im->repeated += count;
	if (lane->ordinal > 0)
		builder_repeat(im->b,
		               (struct recorded_repeat){ .thread = lane->thread,
		                                         .index = lane->ordinal - 1,
		                                         .count = count },
		               &lane->repeat);
}

/* Adds a blocked thread. (A damaged log may have numbers out of range.) */
static void add_blocked(struct import *im, const struct log_record *r)
{
	struct record_wait wait = { .thread = (uint32_t)r->pc,
		                    .holder = r->words[2] < LOG_THREADS ? (uint32_t)r->words[2]
		                                                        : NONE,
		                    .reason = (enum log_wait)r->flags,
		                    .object = r->words[1],
		                    .pc = r->words[3],
		                    .message = r->words[4] };
	if (r->pc < LOG_THREADS && r->flags < LOG_WAIT_COUNT)
		g_array_append_val(im->facts->blocked, wait);
}

static void add_divergence(struct import *im, const struct log_record *r)
{
	if (im->facts->diverged || r->pc >= LOG_THREADS || r->flags >= LOG_DIVERGENCE_COUNT)
		return;
	im->facts->diverged = true;
	im->facts->divergence = (struct record_divergence){
		.why = (enum log_divergence)r->flags,
		.thread = (uint32_t)r->pc,
		.step = r->words[1],
		.pc = r->words[2],
	};
}

static void add_stack_at_pair(struct import *im, const struct log_record *r)
{
	if (r->pc >= 2 || im->facts->stopped[r->pc])
		return;
	uint64_t count = r->words[1] / sizeof(struct log_stopped);
	GArray *frames = g_array_new(FALSE, FALSE, sizeof(struct log_stopped));
	g_array_append_vals(frames, r->words + 2, (guint)count);
	im->facts->stopped[r->pc] = frames;
}

/* A thread has come to its end, or one of a pool without work, which came to it before, goes
 * on. */
static void import_end_of_thread(GArray *ended, uint32_t thread, bool goes_on)
{
	guint at = 0;
	while (at < ended->len && g_array_index(ended, uint32_t, at) != thread)
		at++;
	if (goes_on && at < ended->len)
		g_array_remove_index(ended, at);
	else if (!goes_on && at == ended->len)
		g_array_append_val(ended, thread);
}

/* Facts of the run, beside the trace. */
static void import_fact(struct import *im, const struct log_record *r)
{
	uint32_t number = (uint32_t)r->pc;
	switch (r->tag) {
	case LOG_BLOCKED:
		add_blocked(im, r);
		break;
	case LOG_LEFT_PLAN:
		add_divergence(im, r);
		break;
	case LOG_STOPPED:
		add_stack_at_pair(im, r);
		break;
	case LOG_ENDED:
		import_end_of_thread(im->facts->ended, number, r->flags);
		break;
	case LOG_ENDS:
		g_array_append_val(im->facts->ends, number);
		break;
	case LOG_CRASH:
		import_crash(im, r);
		break;
	case LOG_CALLED:
		g_array_append_val(im->facts->missing, r->pc);
		break;
	default: /* SWITCH, TICKET: handled by the reader; RANDOM, DROP: ignored */
		break;
	}
}

/* Records that are no events: threads, modules, objects, input. */
static void import_state(struct import *im, struct lane *lane, const struct log_record *r)
{
	const uint64_t *w = r->words;
	switch (r->tag) {
	case LOG_GIVEN:
		import_given(im, w);
		break;
	case LOG_THREAD:
		if (r->pc < LOG_THREADS)
			import_thread(im, r->pc, w + 2);
		break;
	case LOG_SEMAPHORE:
		import_semaphore(im, lane, r->flags, r->pc, w[1], w[2]);
		break;
	case LOG_INIT:
		import_object_init(im, lane, r->pc, w[1]);
		break;
	case LOG_MODULE:
		import_module(im, w + 1, (const char *)(w + 7), w[6]);
		break;
	case LOG_NOTE:
		note(im, (const char *)(w + 2), w[1]);
		break;
	case LOG_CLOCK:
		add_clock(im, lane, r->flags, w);
		break;
	case LOG_INPUT:
		import_input(im, r->flags, (const void *)(w + 1), r->pc);
		break;
	case LOG_REPEAT:
		add_repeat(im, lane, r->pc);
		break;
	default:
		import_fact(im, r);
		break;
	}
}

void import_record(struct import *im, uint32_t id, const struct log_record *r)
{
	static const bool is_event[LOG_TAG_COUNT] = {
#define TAG(name, words, visible) visible,
		LOG_TAGS(TAG)
#undef TAG
	};
	enum log_tag tag = r->tag;
	uint64_t pc = r->pc;
	const uint64_t *w = r->words;
	struct lane *lane = import_lane(im, id);
	switch (tag) {
	case LOG_READ:
	case LOG_WRITE:
	case LOG_AREAD:
	case LOG_AWRITE:
	case LOG_RMW: {
		uint32_t next = builder_event_count(im->b);
		import_access(im, lane, r);
		bool added = builder_event_count(im->b) > next;
		if (added && tag == LOG_RMW && r->flags & LOG_SUM && im->facts->sums != NULL)
			g_array_append_val(im->facts->sums, next);
		if (im->header->memory || import_lane(im, id)->state != 0)
			import_weak_access(im, id, added ? next : NONE,
			                   tag != LOG_READ && tag != LOG_AREAD);
		break;
	}
	case LOG_FLUSH:
	case LOG_READS:
	case LOG_AFTER:
	case LOG_STATE:
		import_weak(im, id, r);
		break;
	case LOG_ENTER:
		import_leave(im, lane, r->left, 0);
		import_enter(im, lane, r);
		break;
	case LOG_LEAVE:
		import_leave(im, lane, pc, 0);
		break;
	case LOG_ALLOC:
		import_alloc(im, lane, pc, w);
		break;
	case LOG_FREE:
		import_free_block(im, lane, pc, w);
		break;
	case LOG_CALL:
	case LOG_RET:
		import_invocation(im, lane, tag, r->flags, pc, w);
		break;
	case LOG_MISS:
		import_miss(im, lane, r->flags, pc, w);
		break;
	case LOG_BACK:
		import_back(im, lane, pc);
		break;
	case LOG_MISUSE:
		import_misuse(im, lane, r->flags, pc, w[1]);
		break;
	default:
		if (!is_event[tag])
			import_state(im, lane, r);
		else if ((tag == LOG_FORK || tag == LOG_JOIN) && w[1] >= LOG_THREADS)
			return; /* damaged log */
		else
			add_sync(im, id, tag, r->flags, pc, w);
	}
	if (is_event[tag]) /* lanes may have moved */
		g_array_index(im->lanes, struct lane, id).ordinal++;
	if (G_UNLIKELY(im->running != NULL))
		running_record(im->running, id, r);
}
