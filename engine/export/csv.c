/*
 * csv.c - the events as comma-separated values (RFC 4180).
 */
#include "engine/export/export.h"

#include "engine/trace/index.h"

#include <string.h>

/* Would a spreadsheet evaluate it? A number with its sign is no formula. */
static bool is_formula(const char *text)
{
	bool number = (*text == '+' || *text == '-') && text[1] != '\0' &&
	              text[1 + strspn(text + 1, "0123456789.")] == '\0';

	return *text != '\0' && strchr("=+-@", *text) != NULL && !number;
}

/* Append a comma and a field, quoted where necessary. An apostrophe before a text that begins
 * like a formula keeps spreadsheets from evaluating it. */
static void append_field(GString *line, const char *text)
{
	bool formula = is_formula(text);

	g_string_append_c(line, ',');
	if (!formula && strpbrk(text, "\",\r\n") == NULL) {
		g_string_append(line, text);
		return;
	}
	g_string_append(line, formula ? "\"'" : "\"");
	for (; *text != '\0'; text++) {
		if (*text == '"')
			g_string_append_c(line, '"');
		g_string_append_c(line, *text);
	}
	g_string_append_c(line, '"');
}

static void append_value(const struct trace *t, const struct event *x, GString *out)
{
	if (op_is_access(x->op) && x->aux != 0 && !(x->flags & EVENT_WIDE))
		trace_append_value(t, x->aux, out);
}

static void append_event(const struct trace *t, uint32_t event, GString *line, GString *text)
{
	const struct event *x = &t->events[event];

	g_string_append_printf(line, "%u", event);
	append_field(line, trace_thread_name(t, x->thread));
	append_field(line, event_word(x));
	g_string_truncate(text, 0);
	trace_append_operand(t, event, text);
	append_field(line, text->str);
	g_string_truncate(text, 0);
	append_value(t, x, text);
	append_field(line, text->str);
	append_field(line, trace_location_name(t, event));
	append_field(line, trace_string(t, t->locations[x->location].function));
	g_string_append(line, "\r\n");
}

void export_csv(const struct trace *t, struct file_writer *file)
{
	enum { FULL = 1 << 16 };
	g_autoptr(GString) lines =
	        g_string_new("event,thread,op,operand,value,location,function\r\n"),
	                   text = g_string_new(NULL);

	for (uint64_t i = 0; i < t->events_count; i++) {
		append_event(t, (uint32_t)i, lines, text);
		if (lines->len >= FULL) {
			file_writer_put(file, lines->str, lines->len);
			g_string_truncate(lines, 0);
		}
	}
	file_writer_put(file, lines->str, lines->len);
}
