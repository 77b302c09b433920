/*
 * builder.c - makes a trace: construction, facts beside the events, and the transfer of tables
 * at the end. Interning: builder_strings.c, builder_values.c, builder_locations.c; events:
 * wellformed.c; places: memory.c.
 */
#include "engine/base/scattered.h"
#include "engine/trace/builder/builder_private.h"
#include "engine/trace/formats.h"
#include "engine/trace/index_private.h"
#include "engine/trace/storage.h"

#include <stdarg.h>
#include <unistd.h>

/* -- facts beside the events --------------------------------------------------------------- */

void builder_size_directive(struct builder *b, const char *name, size_t length, uint32_t size)
{
	builder_meaning(b, builder_string(b, name, length))->size = size;
}

/* Drops the must-order of the events so far, which could change. */
static void forget_must(struct builder *b)
{
	if (b->must)
		must_maker_end(g_steal_pointer(&b->must), NULL, NULL);
}

void builder_semaphore(struct builder *b, uint32_t object, int32_t count)
{
	struct object *o = AT(b->objects, struct object, object);
	bool used = object + 1 < b->objects->len; /* maybe */
	if (used && o->count != count)
		forget_must(b);
	o->count = count;
	builder_lock(b, object)->semaphore = true;
}

void builder_instance_type(struct builder *b, uint32_t instance, uint32_t type)
{
	AT(b->instances, struct instance, instance)->type = type;
}

void builder_instance_address(struct builder *b, uint32_t instance, uint64_t address)
{
	AT(b->instances, struct instance, instance)->address = address;
}

void builder_recorded_thread(struct builder *b, uint32_t thread, uint32_t number)
{
	AT(b->threads, struct thread, thread)->recorded = number;
}

void builder_clock(struct builder *b, struct recorded_clock clock)
{
	g_array_append_val(b->clocks, clock);
}

void builder_repeat(struct builder *b, struct recorded_repeat repeat, uint64_t *last)
{
	struct recorded_repeat *before =
	        *last > 0 ? &g_array_index(b->repeats, struct recorded_repeat, *last - 1)
	                  : NULL;
	if (before != NULL && before->index == repeat.index) {
		before->count += repeat.count;
		return;
	}
	g_array_append_val(b->repeats, repeat);
	*last = b->repeats->len;
}

void builder_drop(struct builder *b, struct recorded_drop drop)
{
	g_array_append_val(b->drops, drop);
}

void builder_weak(struct builder *b, struct weak_source weak)
{
	g_array_append_val(b->weak, weak);
}

void builder_stack_block(struct builder *b, uint32_t thread, uint32_t block)
{
	AT(b->threads, struct thread, thread)->stack = block;
}

uint32_t builder_stack_owner(const struct builder *b, uint32_t block)
{
	for (uint32_t u = 0; block != NONE && u < b->threads->len; u++) {
		if (AT(b->threads, struct thread, u)->stack == block)
			return u;
	}
	return NONE;
}

void builder_atomic_set(struct builder *b, uint32_t name, uint32_t members)
{
	struct atomic_set s = { name, members };
	g_array_append_val(b->atomic_sets, s);
}

void builder_note(struct builder *b, const char *key, const char *value)
{
	struct note n;
	n.key = builder_string(b, key, strlen(key));
	n.value = builder_string(b, value, strlen(value));
	g_array_append_val(b->notes, n);
}

void builder_late_note(struct builder *b, const char *key, const char *value)
{
	struct note n;
	n.key = builder_append_string(b, key, strlen(key));
	n.value = builder_append_string(b, value, strlen(value));
	g_array_append_val(b->notes, n);
}

uint32_t builder_module(struct builder *b, const char *path, const char *build_id,
                        uint64_t base)
{
	struct module m = { .base = base };
	m.path = builder_string(b, path, strlen(path));
	m.build_id = builder_string(b, build_id, strlen(build_id));
	g_array_append_val(b->modules, m);
	return b->modules->len - 1;
}

void builder_object_address(struct builder *b, uint32_t object, uint64_t address)
{
	AT(b->objects, struct object, object)->address = address;
}

void builder_object_block(struct builder *b, uint32_t object, uint32_t block)
{
	AT(b->objects, struct object, object)->block = block;
}

void builder_warn(struct builder *b, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	g_ptr_array_add(b->warnings, g_strdup_vprintf(format, ap));
	va_end(ap);
}

void builder_namer(struct builder *b, const struct namer *namer)
{
	b->namer = namer;
}

uint32_t builder_event_count(const struct builder *b)
{
	return (uint32_t)b->events.count;
}

const struct object *builder_object_at(const struct builder *b, uint32_t object)
{
	return AT(b->objects, struct object, object);
}

const struct instance *builder_instance_at(const struct builder *b, uint32_t instance)
{
	return AT(b->instances, struct instance, instance);
}

const struct invocation_part *
builder_invocation_at(const struct builder *b, uint32_t invocation, const uint32_t **values)
{
	const struct invocation_part *part =
	        AT(b->invocations, struct invocation_part, invocation);
	*values = (const uint32_t *)(void *)b->value_lists->data + part->values;
	return part;
}

uint32_t builder_stack(const struct builder *b, uint32_t thread)
{
	return thread < b->states->len ? AT(b->states, struct thread_state, thread)->context
	                               : 0;
}

uint32_t builder_caller(const struct builder *b, uint32_t stack)
{
	return AT(b->contexts, struct context, stack)->parent;
}

struct value builder_value_at(const struct builder *b, uint32_t value)
{
	return value_at(b, value);
}

/* -- the end: tables into the trace -------------------------------------------------------- */

static void *take(struct trace *t, GArray **array, uint64_t *count)
{
	*count = (*array)->len;
	void *data = g_array_free(*array, FALSE);
	*array = NULL;
	return trace_own(t, data);
}

static void move_tables(struct builder *b, struct cut *c, struct trace *t)
{
#define MOVE(member, array) t->member = take(t, &(array), &t->member##_count)
	if (b->writer) {
		t->events_count = b->events.count;
		b->events.count = 0;
	} else {
		t->events = trace_own_column(t, &b->events, &t->events_count);
		t->stacks = trace_own_column(t, &b->stacks, &t->stacks_count);
	}
	t->values = trace_own_column(t, &b->values_array, &t->values_count);
	MOVE(value_lists, b->value_lists);
	MOVE(variables, c->variables);
	MOVE(name_rules, b->name_rules);
	MOVE(wides, c->wides);
	MOVE(threads, b->threads);
	MOVE(objects, b->objects);
	MOVE(messages, b->messages);
	MOVE(blocks, b->blocks);
	MOVE(instances, b->instances);
	MOVE(invocations, b->invocations);
	MOVE(locations, b->locations);
	MOVE(sites, b->sites);
	MOVE(contexts, b->contexts);
	MOVE(modules, b->modules);
	MOVE(atomic_sets, b->atomic_sets);
	MOVE(notes, b->notes);
	MOVE(clocks, b->clocks);
	MOVE(repeats, b->repeats);
	MOVE(drops, b->drops);
	MOVE(weak, b->weak);
	MOVE(string_offsets, b->string_offsets);
	MOVE(string_bytes, b->string_bytes);
#undef MOVE
}

uint32_t builder_open_scopes(const struct builder *b)
{
	guint open = 0;
	for (guint i = 0; i < b->states->len; i++) {
		const struct thread_state *s = AT(b->states, struct thread_state, i);
		open += s->wants ? 0 : (guint)s->scopes.count;
	}
	return open;
}

static void warn_of_leniency(struct builder *b)
{
	if (b->dropped_releases)
		builder_warn(b,
		             "dropped %" G_GUINT64_FORMAT
		             " release(s) of locks that were not held",
		             b->dropped_releases);
	if (b->stolen_locks)
		builder_warn(b,
		             "%" G_GUINT64_FORMAT
		             " acquire(s) of locks that another thread held: it is taken to "
		             "have released them there",
		             b->stolen_locks);
}

static void warn_of_messages(struct builder *b)
{
	if (b->early_receives)
		builder_warn(b,
		             "%" G_GUINT64_FORMAT
		             " message(s) received before they were sent: such a rcv comes "
		             "after nothing",
		             b->early_receives);
}

static bool values_everywhere(const struct trace *t)
{
	bool any = false;
	for (uint64_t i = 0; i < t->events_count; i++) {
		const struct event *e = &t->events[i];
		if (!op_is_access(e->op) || event_inert(e))
			continue;
		any = true;
		if (e->aux == 0)
			return false;
	}
	return any;
}

/* Frees the tables that only adding events needs: making variables and names needs as much
 * memory. */
static void release_look_ups(struct builder *b)
{
	struct table *tables[] = { &b->lines_table, &b->spots_table, &b->contexts_table };
	for (size_t i = 0; i < G_N_ELEMENTS(tables); i++)
		g_clear_pointer(&tables[i]->slots, g_free);
	g_clear_pointer(&b->integers.slots, g_free);
	builder_free_lines(b);
}

struct trace *builder_forget(struct builder *b)
{
	struct trace *t = trace_new(b->name);
	warn_of_leniency(b);
	warn_of_messages(b);
	g_ptr_array_free(t->warnings, TRUE);
	t->warnings = g_steal_pointer(&b->warnings);
	builder_free(b);
	return t;
}

struct trace *builder_finish(struct builder *b, bool complete, struct error *error)
{
	builder_show(b);
	if (b->marked)
		builder_put_marked(b);
	release_look_ups(b);
	struct cut c = builder_cut_memory(b);
	column_free(&b->lines);
	builder_ask_names(b, &c);
	if (b->failure) {
		error_set(error, place_line(b->name, 0).text, "record less, with --max-size",
		          "%s", b->failure);
		g_array_free(c.variables, TRUE);
		g_array_free(c.wides, TRUE);
		builder_free(b);
		return NULL;
	}
	warn_of_leniency(b);
	warn_of_messages(b);
	struct trace *t = b->t;
	b->t = NULL;
	move_tables(b, &c, t);
	if (b->must)
		index_take_must(t, g_steal_pointer(&b->must));
	t->complete = complete;
	t->order_exact = true;
	t->locks_taken = b->stolen_locks > 0;
	t->values_exact = b->writer == NULL && values_everywhere(t);
	g_ptr_array_free(t->warnings, TRUE);
	t->warnings = b->warnings;
	b->warnings = NULL;
	builder_free(b);
	return t;
}

/* -- making and ending --------------------------------------------------------------------- */

void builder_lenient(struct builder *b)
{
	b->lenient = true;
}

struct builder *builder_new(const char *name, const struct trace_options *options)
{
	struct builder *b = g_new0(struct builder, 1);
	b->name = g_strdup(name);
	b->lenient = options && options->lenient;
	b->writer = options ? options->writer : NULL;
	b->plain = NONE;
	b->tape = b->writer ? binary_tape(b->writer) : NULL;
	b->taped = b->writer && trace_writer_keeps(b->writer);
	b->must = b->taped ? must_maker_new() : NULL;
	b->marked = b->writer ? g_new0(struct marked, 1) : NULL;
	b->room = b->writer ? NULL : g_new(struct event, ROOM);
	b->t = trace_new(name);
	b->warnings = g_ptr_array_new_with_free_func(g_free);
	builder_begin_integers(b);
	b->clues.blocks.low = 1;
	b->recent_lines = g_new0(struct recent_line, RECENT_LINES);
	const char *folder = options ? options->folder : NULL;
	uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	column_init(&b->events, sizeof(struct event), folder, memory / 8);
	column_init(&b->stacks, sizeof(uint32_t), folder, memory / 32);
	column_init(&b->values_array, sizeof(struct value), NULL, 0);
	column_init(&b->spots, sizeof(struct spot), NULL, 0);
	column_init(&b->lines, sizeof(struct line), NULL, 0);
	column_init(&b->clues.list, sizeof(struct clue), NULL, 0);
#define NEW(member, type) b->member = g_array_new(FALSE, TRUE, sizeof(type))
	NEW(string_bytes, char);
	NEW(string_offsets, uint32_t);
	NEW(meanings, struct meaning);
	NEW(value_lists, uint32_t);
	NEW(threads, struct thread);
	NEW(objects, struct object);
	NEW(messages, uint32_t);
	NEW(blocks, struct block);
	NEW(instances, struct instance);
	NEW(invocations, struct invocation_part);
	NEW(locations, struct location);
	NEW(sites, uint32_t);
	NEW(contexts, struct context);
	NEW(modules, struct module);
	NEW(atomic_sets, struct atomic_set);
	NEW(notes, struct note);
	NEW(name_rules, struct name_rule);
	NEW(clocks, struct recorded_clock);
	NEW(repeats, struct recorded_repeat);
	NEW(drops, struct recorded_drop);
	NEW(weak, struct weak_source);
	NEW(regions, struct region);
	NEW(locks, struct lock);
	NEW(odd_spots, uint32_t);
	NEW(states, struct thread_state);
	b->clues.live = g_hash_table_new(NULL, NULL);
	NEW(clues.counts, struct clue_counts);
	NEW(clues.frames_at, uint32_t);
#undef NEW
	uint32_t zero = 0;
	g_array_append_val(b->string_offsets, zero);
	builder_string(b, "", 0);
	builder_value(b, V_NONE, "", 0);
	builder_location(b, "", 0);
	builder_context(b, (struct context){ 0, 0, 0 });
	return b;
}

static void free_array(GArray *array)
{
	if (array)
		g_array_free(array, TRUE);
}

void builder_free(struct builder *b)
{
	if (b == NULL)
		return;
	for (guint i = 0; i < b->locks->len; i++)
		free_array(AT(b->locks, struct lock, i)->readers);
	for (guint i = 0; i < b->states->len; i++)
		column_free(&AT(b->states, struct thread_state, i)->scopes);
	builder_free_lines(b);
	GArray *arrays[] = { b->string_bytes, b->string_offsets, b->meanings,    b->value_lists,
		             b->threads,      b->objects,        b->messages,    b->blocks,
		             b->instances,    b->invocations,    b->locations,   b->sites,
		             b->contexts,     b->modules,        b->atomic_sets, b->notes,
		             b->regions,      b->locks,          b->states,      b->clocks,
		             b->repeats,      b->drops,          b->weak,        b->sent,
		             b->name_rules,   b->odd_spots };
	for (size_t i = 0; i < G_N_ELEMENTS(arrays); i++)
		free_array(arrays[i]);
	struct table *tables[] = { &b->values,        &b->lists_table,    &b->spots_table,
		                   &b->regions_table, &b->contexts_table, &b->sites_table,
		                   &b->lines_table };
	for (size_t i = 0; i < G_N_ELEMENTS(tables); i++)
		g_free(tables[i]->slots);
	free_array(b->lates);
	if (b->late_keys)
		g_hash_table_destroy(b->late_keys);
	g_free(b->strings);
	g_free(b->integers.slots);
	g_free(b->recent_lines);
	g_free(b->marked);
	g_free(b->room);
	g_free(b->room_stacks);
	column_free(&b->clues.list);
	g_hash_table_unref(b->clues.live);
	g_array_free(b->clues.counts, TRUE);
	g_array_free(b->clues.frames_at, TRUE);
	g_free(b->clues.frames_of);
	g_free(b->failure);
	column_free(&b->events);
	column_free(&b->stacks);
	column_free(&b->lines);
	column_free(&b->values_array);
	column_free(&b->spots);
	if (b->warnings)
		g_ptr_array_free(b->warnings, TRUE);
	forget_must(b);
	trace_close(b->t);
	g_free(b->name);
	g_free(b);
}
