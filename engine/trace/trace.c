/*
 * trace.c - a trace's memory, its names, conflicts of its events.
 */
#include "engine/base/column.h"
#include "engine/trace/formats.h"
#include "engine/trace/own_site.h"
#include "engine/trace/storage.h"

#include <stdarg.h>
#include <string.h>

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
	t->spelt = t->storage->spelt = spelt_names_new();
	t->own_sites = t->storage->own_sites = g_new0(struct own_sites, 1);
	g_mutex_init(&t->own_sites->making);
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

bool *trace_stacks(const struct trace *t)
{
	bool *stacks = g_new0(bool, t->blocks_count + 1);
	for (uint64_t u = 0; u < t->threads_count; u++)
		if (t->threads[u].stack != NONE)
			stacks[t->threads[u].stack] = true;
	return stacks;
}

static uint32_t below(uint32_t event, uint64_t count)
{
	return event < count ? event : NONE;
}

struct trace *trace_beginning(const struct trace *t, uint64_t count)
{
	struct trace *r = trace_reading(t);
	struct thread *threads = g_memdup2(t->threads, t->threads_count * sizeof *threads);
	struct block *blocks = g_memdup2(t->blocks, t->blocks_count * sizeof *blocks);
	for (uint64_t u = 0; u < t->threads_count; u++)
		threads[u].fork = below(threads[u].fork, count);
	for (uint64_t b = 0; b < t->blocks_count; b++) {
		blocks[b].alloc = below(blocks[b].alloc, count);
		blocks[b].free = below(blocks[b].free, count);
	}
	r->threads = trace_own(r, threads);
	r->blocks = trace_own(r, blocks);
	r->events_count = MIN(count, t->events_count);
	r->stacks_count = MIN(count, t->stacks_count);
	while (r->weak_count > 0 && t->weak[r->weak_count - 1].event >= count)
		r->weak_count--;
	return r;
}

/* Input was recorded when the key of its note is among the strings. */
bool trace_has_input(const struct trace *t)
{
	static const char key[] = TRACE_INPUT_NOTE;
	return memmem(t->string_bytes, t->string_bytes_count, key, sizeof key) != NULL;
}

_Static_assert(OP_COUNT <= 64, "a bit for each");

bool trace_has(const struct trace *t, uint64_t operations)
{
	bool any = t->operations & operations;
	for (uint64_t e = 0; t->operations == 0 && e < t->events_count && !any; e++)
		any = OPERATION(t->events[e].op) & operations;
	return any;
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

uint64_t trace_sampled(const struct trace *t)
{
	const char *note = trace_note(t, TRACE_SAMPLE_NOTE);
	return note ? MAX(1, g_ascii_strtoull(note, NULL, 10)) : 0;
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

/* The heap block at a recording's address that was allocated, and not freed, at the event; or
 * NONE. */
static uint32_t live_block_at(const struct trace *t, uint64_t address, uint32_t event)
{
	for (uint32_t i = 0; i < t->blocks_count; i++) {
		const struct block *b = &t->blocks[i];
		if (b->address != 0 && address >= b->address &&
		    address - b->address < b->size && b->alloc != NONE && b->alloc <= event &&
		    (b->free == NONE || b->free > event))
			return i;
	}
	return NONE;
}

struct object_at trace_object_at(const struct trace *t, uint64_t address, uint32_t event)
{
	struct object_at found = { NONE, live_block_at(t, address, event) };
	uint32_t found_alloc = 0;
	for (uint32_t v = 0; v < t->variables_count; v++) {
		uint32_t block = t->variables[v].block;
		if (t->variables[v].address != address || t->variables[v].size == 0 ||
		    (found.block != NONE && block != found.block))
			continue;
		uint32_t alloc = block != NONE ? t->blocks[block].alloc + 1 : 0;
		if (alloc > event || (found.variable != NONE && alloc <= found_alloc))
			continue;
		found.variable = v;
		found_alloc = alloc;
	}
	if (found.block != NONE && t->blocks[found.block].address != address)
		found.block = NONE;
	return found;
}

struct condition_value trace_condition_value(const struct trace *t, uint32_t variable,
                                             uint32_t value)
{
	const struct value v = trace_value(t, value);
	unsigned bytes = t->variables[variable].size, unused = 64 - 8 * bytes;
	switch (v.kind) {
	case V_INT:
		if (bytes == 0 || bytes >= sizeof(int64_t))
			return (struct condition_value){ .known = true, .number = v.integer };
		return (struct condition_value){
			.known = true,
			.bytes = bytes,
			.number = (int64_t)((uint64_t)v.integer << unused) >> unused,
		};
	case V_NIL:
	case V_FALSE:
	case V_TRUE:
		return (struct condition_value){ .known = true, .number = v.kind == V_TRUE };
	default:
		return (struct condition_value){ 0 };
	}
}
