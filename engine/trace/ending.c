/* ending.c - see ending.h.  The note is "WORD", "WORD NUMBER" or "WORD TEXT". */
#include "engine/trace/ending.h"

#include "engine/trace/index.h"
#include "engine/trace/storage.h"

#include <inttypes.h>
#include <string.h>

static const char note_key[] = "recording-end";
static const char crash_key[] = "recording-crash";
static const char *const words[] = {
#define ENDING(name, word) word,
	ENDINGS(ENDING)
#undef ENDING
};

const char *ending_word(enum ending_kind kind)
{
	return words[kind];
}

static void read_note(const char *value, struct ending *e)
{
	size_t length = strcspn(value, " ");
	const char *rest = value + length + (value[length] == ' ');

	for (size_t k = 1; k < G_N_ELEMENTS(words); k++) {
		if (strlen(words[k]) != length || strncmp(words[k], value, length) != 0)
			continue;
		e->kind = (enum ending_kind)k;
		if (e->kind == ENDING_EXIT || e->kind == ENDING_SIGNAL)
			e->number = (int)(g_ascii_strtoull(rest, NULL, 10) & 0xff);
		else
			e->text = rest;
	}
}

struct ending trace_ending(const struct trace *t)
{
	struct ending e = { .text = "" };

	const char *note = trace_note(t, note_key);
	if (note != NULL)
		read_note(note, &e);
	return e;
}

bool ending_good(const struct ending *e)
{
	return e->kind == ENDING_UNKNOWN || (e->kind == ENDING_EXIT && e->number == 0);
}

void ending_append(const struct ending *e, GString *out)
{
	switch (e->kind) {
	case ENDING_UNKNOWN:
		break;
	case ENDING_EXIT:
		g_string_append_printf(out, "The run ended with exit status %d", e->number);
		break;
	case ENDING_SIGNAL:
		g_string_append_printf(out, "The run was ended by signal %d (%s)", e->number,
		                       strsignal(e->number));
		break;
	case ENDING_STUCK:
		g_string_append(out, "The run ended where no thread could go on");
		break;
	case ENDING_CHECK:
		g_string_append(out, "The run failed its check: ");
		append_escaped(out, e->text, strlen(e->text));
		break;
	case ENDING_ERROR:
		g_string_append(out, "The run went wrong: ");
		append_escaped(out, e->text, strlen(e->text));
		break;
	case ENDING_CUT:
		g_string_append(out, "The recording ends before the run did");
		if (*e->text) {
			g_string_append(out, ": ");
			append_escaped(out, e->text, strlen(e->text));
		}
		break;
	}
}

/* Append a string to new tables, since the trace's arrays may be mapped. */
static uint32_t add_string(struct trace *t, const char *text)
{
	uint64_t count = t->string_offsets_count, bytes = t->string_bytes_count;
	size_t length = strlen(text) + 1;
	uint32_t *offsets = trace_own(t, g_new(uint32_t, count + 1));
	char *all = trace_own(t, g_malloc(bytes + length));

	memcpy(offsets, t->string_offsets, count * sizeof(*offsets));
	memcpy(all, t->string_bytes, bytes);
	memcpy(all + bytes, text, length);
	offsets[count] = (uint32_t)(bytes + length);
	t->string_offsets = offsets;
	t->string_offsets_count++;
	t->string_bytes = all;
	t->string_bytes_count += length;
	return (uint32_t)count - 1;
}

static void add_note(struct trace *t, const char *key, const char *value)
{
	struct note *notes = trace_own(t, g_new(struct note, t->notes_count + 1));

	memcpy(notes, t->notes, t->notes_count * sizeof(*notes));
	notes[t->notes_count].key = add_string(t, key);
	notes[t->notes_count].value = add_string(t, value);
	t->notes = notes;
	t->notes_count++;
}

void trace_note_ending(struct trace *t, enum ending_kind kind, int number, const char *text)
{
	bool numbered = kind == ENDING_EXIT || kind == ENDING_SIGNAL;
	g_autoptr(GString) value = g_string_new(ending_word(kind));

	if (numbered)
		g_string_append_printf(value, " %d", number);
	else if (text != NULL && *text)
		g_string_append_printf(value, " %s", text);
	for (char *c = value->str; *c; c++) {
		if (*c == '\n' || *c == '\r')
			*c = ' '; /* a note is one line of the text format */
	}
	add_note(t, note_key, value->str);
}

void trace_note_crash(struct trace *t, uint32_t thread, uint64_t address, uint32_t location)
{
	const char *place =
	        location == NONE ? "" : trace_string(t, t->locations[location].name);
	g_autofree char *value = g_strdup_printf("%s 0x%" PRIx64 " %s",
	                                         trace_thread_name(t, thread), address, place);

	add_note(t, crash_key, value);
}

/* The last event of the thread, if it is a read without a value at that place. */
static uint32_t failed_read(const struct trace *t, const struct crash *c)
{
	for (uint64_t e = t->events_count; e-- > 0;) {
		const struct event *x = &t->events[e];

		if (x->op == OP_LEAVE ||
		    strcmp(trace_thread_name(t, x->thread), c->thread) != 0)
			continue;
		return x->op == OP_READ && x->aux == 0 &&
		                       strcmp(trace_location_name(t, (uint32_t)e), c->place) ==
		                               0
		               ? (uint32_t)e
		               : NONE;
	}
	return NONE;
}

struct crash trace_crash(const struct trace *t)
{
	struct crash c = { .place = "", .event = NONE };

	for (uint64_t i = 0; i < t->notes_count; i++) {
		const char *value = trace_string(t, t->notes[i].value), *rest;
		char *end;

		if (strcmp(trace_string(t, t->notes[i].key), crash_key) != 0)
			continue;
		rest = strchr(value, ' ');
		if (rest == NULL)
			continue;
		g_free(c.thread);
		c.thread = g_strndup(value, (gsize)(rest - value));
		c.address = g_ascii_strtoull(rest + 1, &end, 16);
		c.place = end + (*end == ' ');
		c.event = failed_read(t, &c);
	}
	return c;
}

bool trace_after_main(const struct trace *t, uint32_t event)
{
	enum { FAR = 10000 };

	if (t->events[event].thread != 0)
		return false;
	for (int i = 0; i < FAR && event != NONE; i++, event = trace_previous(t, event)) {
		const struct event *e = &t->events[event];

		if ((e->op == OP_ENTER || e->op == OP_LEAVE) &&
		    strcmp(trace_string(t, e->target), "main") == 0)
			return e->op == OP_LEAVE;
	}
	return false;
}
