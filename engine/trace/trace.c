/*
 * trace.c - opening and closing traces, and names for people.
 */
#include "engine/trace/weak.h"
#include "engine/base/column.h"
#include "engine/base/input.h"
#include "engine/trace/index_private.h"
#include "engine/trace/reel.h"
#include "engine/trace/spell.h"
#include "engine/trace/storage.h"

#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>

const struct op_info op_table[OP_COUNT] = {
#define OP(name, text, kind, group, object, effect, sentence) \
	[OP_##name] = { .word = text, \
		        .verb = sentence, \
		        .operand = OPERAND_##kind, \
		        .class = OP_CLASS_##group, \
		        .use = USE_##object },
#define TRIED(name, text) [OP_##name].tried = text,
#include "engine/trace/ops.def"
#undef OP
};

/* -- storage ------------------------------------------------------------------------------- */

static void column_end(gpointer column)
{
	column_free(column);
	g_free(column);
}

/* The last component, escaped for display. */
static char *display_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *last = slash && slash[1] ? slash + 1 : path;
	GString *name = g_string_new(NULL);

	append_escaped(name, last, strlen(last));
	return g_string_free(name, FALSE);
}

struct trace *trace_new(const char *path)
{
	struct trace *t = g_new0(struct trace, 1);
	t->path = g_strdup(path);
	t->name = display_name(path);
	t->storage = g_new0(struct trace_storage, 1);
	t->storage->owned = g_ptr_array_new_with_free_func(g_free);
	t->storage->columns = g_ptr_array_new_with_free_func(column_end);
	t->warnings = g_ptr_array_new_with_free_func(g_free);
	return t;
}

void *trace_own(struct trace *t, void *array)
{
	g_ptr_array_add(t->storage->owned, array);
	return array;
}

const void *trace_own_column(struct trace *t, struct column *column, uint64_t *count)
{
	struct column *own = g_memdup2(column, sizeof *column);
	column_init(column, column->element, column->folder, column->limit);
	g_ptr_array_add(t->storage->columns, own);
	*count = own->count;
	return own->data;
}

void trace_warn(struct trace *t, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	g_ptr_array_add(t->warnings, g_strdup_vprintf(format, ap));
	va_end(ap);
}

void trace_close(struct trace *t)
{
	if (t == NULL)
		return;
	index_free(t->index);
	reel_free(t->storage->reel);
	g_ptr_array_free(t->storage->owned, TRUE);
	g_ptr_array_free(t->storage->columns, TRUE);
	if (t->storage->map)
		munmap(t->storage->map, t->storage->map_length);
	g_free(t->storage);
	if (t->warnings)
		g_ptr_array_free(t->warnings, TRUE);
	g_free(t->name);
	g_free(t->path);
	g_free(t);
}

struct trace *trace_reading(const struct trace *t)
{
	struct trace *r = trace_new(t->path), own = *r;
	*r = *t;
	r->path = own.path;
	r->name = own.name;
	r->storage = own.storage;
	r->warnings = own.warnings;
	r->index = NULL;
	return r;
}

/* -- opening ------------------------------------------------------------------------------- */

/* The same trace, or NULL when what it says of a memory model does not fit. */
static struct trace *weak_checked(struct trace *t, struct error *error)
{
	if (t == NULL || (t->weak_count == 0 && trace_model(t) == WEAK_SC) ||
	    trace_weak_fits(t, error))
		return t;
	trace_close(t);
	return NULL;
}

struct trace *trace_open(const char *path, const struct trace_options *options,
                         const struct progress *progress, struct error *error)
{
	struct input in;
	struct trace *t;
	if (!input_open(path, "trace", &in, error))
		return NULL;
	char *digest =
	        in.stream ? g_compute_checksum_for_data(G_CHECKSUM_SHA256, in.bytes, in.length)
	                  : NULL;
	if (binary_recognise(in.bytes, in.length)) {
		t = binary_read(path, in.bytes, in.length, in.stream ? NULL : &in.file,
		                progress, error);
	} else {
		t = text_read(path, in.bytes, in.length, options, progress, error);
		input_close(&in);
	}
	if (t != NULL && digest != NULL)
		t->digest = trace_own(t, digest);
	else
		g_free(digest);
	return weak_checked(t, error);
}

struct trace *trace_from_text(const char *name, const char *text, size_t length,
                              const struct trace_options *options, struct error *error)
{
	return weak_checked(text_read(name, text, length, options, NULL, error), error);
}

/* -- conflicts ----------------------------------------------------------------------------- */

bool events_conflict(const struct trace *t, uint32_t a, uint32_t b)
{
	const struct event *x = &t->events[a], *y = &t->events[b];
	return x->thread != y->thread && op_is_access(x->op) && op_is_access(y->op) &&
	       (op_writes(x->op) || op_writes(y->op)) && !event_inert(x) && !event_inert(y) &&
	       events_overlap(t, x, y);
}

bool events_race_conflict(const struct trace *t, uint32_t a, uint32_t b)
{
	return !(op_is_atomic(t->events[a].op) && op_is_atomic(t->events[b].op)) &&
	       events_conflict(t, a, b);
}

/* -- names --------------------------------------------------------------------------------- */

const char *trace_name(const struct trace *t)
{
	return t->name;
}

void trace_append_variable(const struct trace *t, const struct event *e, GString *out)
{
	struct spelling s = spelling_for_people(t);
	spell(&s, SPELT_VARIABLE, event_variables(t, e).first, out);
}

void trace_append_value(const struct trace *t, uint32_t value, GString *out)
{
	struct spelling s = spelling_for_people(t);
	spell_value(&s, value, out);
}

void trace_append_operand(const struct trace *t, uint32_t event, GString *out)
{
	struct spelling s = spelling_for_people(t);
	spell_operand(&s, &t->events[event], out);
}

void trace_append_operation(const struct trace *t, uint32_t event, GString *out)
{
	struct spelling s = spelling_for_people(t);
	s.shown = true;
	spell_operation(&s, &t->events[event], out);
}

void trace_append_line(const struct trace *t, uint32_t event, GString *out)
{
	struct spelling s = spelling_for_people(t);
	spell_line(&s, &t->events[event], out);
}

const char *trace_thread_name(const struct trace *t, uint32_t thread)
{
	return trace_string(t, t->threads[thread].name);
}

const char *trace_note(const struct trace *t, const char *key)
{
	for (uint64_t i = 0; i < t->notes_count; i++)
		if (strcmp(trace_string(t, t->notes[i].key), key) == 0)
			return trace_string(t, t->notes[i].value);
	return NULL;
}

GPtrArray *trace_recorded_specs(const struct trace *t)
{
	GPtrArray *files = g_ptr_array_new_with_free_func(g_free);
	for (uint64_t i = 0; i < t->notes_count; i++)
		if (strcmp(trace_string(t, t->notes[i].key), "recording-spec") == 0)
			g_ptr_array_add(files, g_strdup(trace_string(t, t->notes[i].value)));
	return files;
}

const char *trace_location_name(const struct trace *t, uint32_t event)
{
	return trace_string(t, t->locations[t->events[event].location].name);
}

const char *trace_site_name(const struct trace *t, uint32_t event)
{
	return trace_string(t, t->sites[t->locations[t->events[event].location].site]);
}

struct condition_value trace_condition_value(const struct trace *t, uint32_t variable,
                                             const struct value *value)
{
	unsigned bytes = t->variables[variable].size, unused = 64 - 8 * bytes;
	switch (value->kind) {
	case V_INT:
		if (bytes == 0 || bytes >= sizeof(int64_t))
			return (struct condition_value){ .known = true,
				                         .number = value->integer };
		return (struct condition_value){
			.known = true,
			.bytes = bytes,
			.number = (int64_t)((uint64_t)value->integer << unused) >> unused,
		};
	case V_NIL:
	case V_FALSE:
	case V_TRUE:
		return (struct condition_value){ .known = true,
			                         .number = value->kind == V_TRUE };
	default:
		return (struct condition_value){ 0 };
	}
}
