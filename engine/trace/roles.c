/*
 * roles.c - see roles.h.
 */
#include "engine/trace/roles.h"
#include "engine/trace/own_code.h"

#include <stdlib.h>
#include <string.h>

/* Is the function in the C++ library? Asked for frames without a source line, which may
 * belong to any file. */
static bool is_foreign(const struct trace *t, const struct frame *f)
{
	const struct location *l = &t->locations[f->location];
	const char *name = trace_string(t, f->function);
	return (l->file == 0 || l->line == 0) &&
	       (strncmp(name, "std::", 5) == 0 || *name == '_');
}

/* The function of the outermost own frame at an event; 0 unknown. `started`: no other frame
 * encloses it, so it is the thread's start function. */
static uint32_t outermost(const struct trace *t, uint32_t event, bool *started)
{
	g_autoptr(GArray) frames = trace_frames(t, event, trace_stack(t, event));
	guint shown = trace_frames_shown(t, frames);
	uint32_t function = 0;
	for (guint i = shown; i-- > 0 && function == 0;) {
		const struct frame *f = &g_array_index(frames, struct frame, i);
		if (f->function && own_code_has(t, f) && !is_foreign(t, f)) {
			function = f->function;
			*started = i + 1 == frames->len;
		}
	}
	return function;
}

static uint32_t start_function(const struct trace *t, uint32_t thread, bool *started)
{
	enum { LOOKED_AT = 32 }; /* the first events may be in a library that starts threads */
	struct event_list mine = trace_thread_events(t, thread);
	uint32_t function = 0;
	for (uint64_t i = 0; i < mine.count && i < LOOKED_AT && function == 0; i++)
		function = outermost(t, mine.items[i], started);
	return function;
}

bool role_note(const struct trace *t, const char *key, uint32_t thread, uint64_t numbers[2])
{
	uint32_t recorded = t->threads[thread].recorded;
	for (uint64_t i = 0; recorded != NONE && i < t->notes_count; i++) {
		char *end;
		if (strcmp(trace_string(t, t->notes[i].key), key) != 0)
			continue;
		const char *text = trace_string(t, t->notes[i].value);
		if (strtoull(text, &end, 10) != recorded || *end != ' ')
			continue;
		numbers[0] = strtoull(end, &end, 10);
		numbers[1] = strtoull(end, NULL, 10);
		return true;
	}
	return false;
}

/* The value of the thread's note; 0: none. */
static uint64_t argument_of(const struct trace *t, uint32_t thread)
{
	uint64_t numbers[2];
	return role_note(t, ROLE_ARGUMENT_NOTE, thread, numbers) ? numbers[0] : 0;
}

/* The end of an object's name in the name of one of its parts, where a member begins. */
static size_t object_length(const char *name)
{
	size_t length = strlen(name);
	for (size_t i = 0; i < length; i++)
		if (name[i] == '.' || strncmp(name + i, "->", 2) == 0)
			return i;
	return length;
}

/* Is the variable a part of the object, before `address`? */
static bool is_before(const struct trace *t, uint32_t variable, const char *object,
                      size_t length, uint64_t address)
{
	const struct variable *v = &t->variables[variable];
	if (v->size == 0 || v->address >= address || address - v->address >= UINT32_MAX)
		return false;
	const char *name = trace_variable_name(t, variable);
	return strncmp(name, object, length) == 0 &&
	       (name[length] == '.' || strncmp(name + length, "->", 2) == 0);
}

/* Appends the object that begins at the address of a thread's argument: "&jobs[1]", "job#3";
 * the variable at the address, if other members are before it. False: no variable is there. */
static bool append_object(const struct trace *t, uint64_t address, uint32_t thread,
                          GString *out)
{
	uint32_t at = trace_object_at(t, address, t->threads[thread].fork).variable;
	if (at == NONE)
		return false;
	const char *name = trace_variable_name(t, at);
	size_t length = object_length(name);
	for (uint64_t i = 0; i < t->variables_count; i++)
		if (is_before(t, i, name, length, address))
			length = strlen(name);
	bool block = strncmp(name + length, "->", 2) == 0;
	const char *from = name; /* without the function of a local variable */
	for (size_t i = 0; i + 2 < length; i++)
		if (strncmp(name + i, "::", 2) == 0)
			from = name + i + 2;
	g_string_append(out, block ? "" : "&");
	append_escaped(out, from, length - (size_t)(from - name));
	return true;
}

static void append_argument(const struct trace *t, uint32_t thread, GString *out)
{
	uint64_t value = argument_of(t, thread);
	enum { MOST = 65536 }; /* beyond, a number is the address of an object without a name */
	int64_t number = (int64_t)value;
	size_t before = out->len;
	g_string_append_c(out, '(');
	if (value != 0 && number < MOST && number > -MOST)
		g_string_append_printf(out, "%" G_GINT64_FORMAT, number);
	else if (value == 0 || !append_object(t, value, thread, out)) {
		g_string_truncate(out, before);
		return;
	}
	g_string_append_c(out, ')');
}

/* Append the thread's role; nothing for a first thread, or where its functions are not known.
 */
static void role_append(const struct trace *t, uint32_t thread, GString *out)
{
	bool started = false;
	if (t->threads[thread].recorded == 0)
		return; /* the program's first */
	uint32_t function = start_function(t, thread, &started);
	if (function == 0 || strcmp(trace_string(t, function), "main") == 0)
		return;
	own_code_append_name(trace_string(t, function), out);
	if (started)
		append_argument(t, thread, out);
}

void role_append_thread(const struct trace *t, uint32_t thread, GString *out)
{
	const char *name = trace_thread_name(t, thread);
	append_escaped(out, name, strlen(name));
	size_t before = out->len;
	g_string_append_c(out, ' ');
	role_append(t, thread, out);
	if (out->len == before + 1)
		g_string_truncate(out, before);
}
