/*
 * index.c - what is derived from a trace in linear passes: lists of events, partners,
 * observed writes.
 */
#include "engine/trace/index.h"
#include "engine/trace/index_private.h"

#include <string.h>
#include <sys/mman.h>

/* -- lists: count, sum up, fill -------------------------------------------------------------
 */

static void lists_begin(struct event_lists *lists, uint64_t count)
{
	lists->start = g_new0(uint64_t, count + 2);
}

/* While counting, list i's count stands at start[i + 1]. */
static inline void lists_count(struct event_lists *lists, uint64_t i)
{
	((uint64_t *)lists->start)[i + 1]++;
}

/* After this, start[i + 1] is where the next item of list i goes; when all are filled in it
 * is the end of the list, which is the beginning of the next. */
static void lists_sum(struct event_lists *lists, uint64_t count)
{
	uint64_t *start = (uint64_t *)lists->start, sum = 0;
	for (uint64_t i = 1; i <= count; i++) {
		uint64_t n = start[i];
		start[i] = sum;
		sum += n;
	}
	lists->items = g_new(uint32_t, sum + 1);
}

static inline void lists_put(struct event_lists *lists, uint64_t i, uint32_t event)
{
	((uint32_t *)lists->items)[((uint64_t *)lists->start)[i + 1]++] = event;
}

/* -- by thread
 * ---------------------------------------------------------------------------------- */

static void build_threads(const struct trace *t, struct trace_index *ix)
{
	uint32_t *position = g_new(uint32_t, t->events_count + 1);
	uint32_t *next = g_new0(uint32_t, t->threads_count + 1);
	lists_begin(&ix->thread_events, t->threads_count);
	for (uint64_t e = 0; e < t->events_count; e++)
		lists_count(&ix->thread_events, t->events[e].thread);
	lists_sum(&ix->thread_events, t->threads_count);
	for (uint64_t e = 0; e < t->events_count; e++) {
		position[e] = next[t->events[e].thread]++;
		lists_put(&ix->thread_events, t->events[e].thread, e);
	}
	g_free(next);
	ix->position = position;
}

/* -- partners
 * -------------------------------------------------------------------------------------- */

struct opening { /* waits for its partner */
	uint32_t event, target;
	uint8_t op; /* that closes it */
};

static const uint8_t closer[OP_COUNT] = {
	[OP_ACQ] = OP_REL,   [OP_RACQ] = OP_RREL, [OP_WAIT] = OP_WAKE,   [OP_CALL] = OP_RET,
	[OP_UBEG] = OP_UEND, [OP_MISS] = OP_BACK, [OP_ENTER] = OP_LEAVE,
};

static bool closes(enum op op)
{
	return op_releases(op) || op == OP_WAKE || op == OP_RET || op == OP_UEND ||
	       op == OP_BACK || op == OP_LEAVE;
}

static void match_close(const struct trace *t, GArray *open, uint32_t e, uint32_t *partner)
{
	for (guint i = open->len; i-- > 0;) {
		const struct opening *o = &g_array_index(open, struct opening, i);
		if (o->op != t->events[e].op || o->target != t->events[e].target)
			continue;
		partner[e] = o->event;
		partner[o->event] = e;
		g_array_remove_index(open, i);
		return;
	}
}

static void match_event(const struct trace *t, GArray **open, uint32_t e, uint32_t *partner)
{
	const struct event *x = &t->events[e];
	if (event_inert(x))
		return;
	GArray **list = &open[x->thread];
	if (*list == NULL)
		*list = g_array_new(FALSE, FALSE, sizeof(struct opening));
	if (closer[x->op]) {
		struct opening o = { e, x->target, closer[x->op] };
		g_array_append_val(*list, o);
	} else if (closes(x->op)) {
		match_close(t, *list, e, partner);
	}
}

static void match_threads(const struct trace *t, const struct trace_index *ix,
                          uint32_t *partner)
{
	for (uint64_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		if (x->op != OP_FORK && x->op != OP_JOIN)
			continue;
		struct event_list of = event_list_at(&ix->thread_events, x->target);
		if (of.count)
			partner[e] = x->op == OP_FORK ? of.items[0] : of.items[of.count - 1];
	}
}

static void build_match(const struct trace *t, struct trace_index *ix)
{
	uint32_t *partner = g_new(uint32_t, t->events_count + 1);
	memset(partner, 0xff, (t->events_count + 1) * sizeof *partner);
	GArray **open = g_new0(GArray *, t->threads_count + 1);
	for (uint64_t e = 0; e < t->events_count; e++)
		if (op_table[t->events[e].op].class != OP_CLASS_ACCESS)
			match_event(t, open, e, partner);
	match_threads(t, ix, partner);
	for (uint64_t i = 0; i < t->threads_count; i++)
		if (open[i])
			g_array_free(open[i], TRUE);
	g_free(open);
	ix->partner = partner;
}

/* -- by variable, object, site
 * ---------------------------------------------------------------------- */

typedef void (*visitor)(struct event_lists *lists, uint64_t i, uint32_t event);

static void visit_count(struct event_lists *lists, uint64_t i, uint32_t event)
{
	lists_count(lists, i);
}

static void visit_put(struct event_lists *lists, uint64_t i, uint32_t event)
{
	lists_put(lists, i, event);
}

static inline void each_variable(const struct trace *t, struct event_lists *lists,
                                 visitor visit)
{
	for (uint64_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		if (!op_is_access(x->op) || event_inert(x))
			continue;
		struct wide run = event_variables(t, x);
		for (uint32_t v = run.first; v < run.first + run.count; v++)
			visit(lists, v, e);
	}
}

static void build_variables(const struct trace *t, struct trace_index *ix)
{
	lists_begin(&ix->variable_events, t->variables_count);
	each_variable(t, &ix->variable_events, visit_count);
	lists_sum(&ix->variable_events, t->variables_count);
	each_variable(t, &ix->variable_events, visit_put);
}

static inline void each_object(const struct trace *t, struct event_lists *lists, visitor visit)
{
	for (uint64_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		if (op_table[x->op].operand == OPERAND_OBJECT && !event_inert(x))
			visit(lists, x->target, e);
	}
}

static void build_objects(const struct trace *t, struct trace_index *ix)
{
	lists_begin(&ix->object_events, t->objects_count);
	each_object(t, &ix->object_events, visit_count);
	lists_sum(&ix->object_events, t->objects_count);
	each_object(t, &ix->object_events, visit_put);
}

static inline void each_site(const struct trace *t, struct event_lists *lists, visitor visit)
{
	for (uint64_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		if (op_is_access(x->op) && !event_inert(x))
			visit(lists, t->locations[x->location].site, e);
	}
}

static void build_sites(const struct trace *t, struct trace_index *ix)
{
	lists_begin(&ix->site_events, t->sites_count);
	each_site(t, &ix->site_events, visit_count);
	lists_sum(&ix->site_events, t->sites_count);
	each_site(t, &ix->site_events, visit_put);
}

/* -- observed writes
 * ----------------------------------------------------------------------------------- */

#define WRITER_WIDE UINT32_C(0x80000000) /* with INDEX_WRITERS: the run's number below it */

static void build_writers(const struct trace *t, struct trace_index *ix)
{
	uint32_t *last = g_new(uint32_t, t->variables_count + 1);
	uint32_t *writer = g_new(uint32_t, t->events_count + 1);
	GArray *starts = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	GArray *items = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	memset(last, 0xff, (t->variables_count + 1) * sizeof *last);
	for (uint64_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		writer[e] = NONE;
		if (!op_is_access(x->op) || event_inert(x))
			continue;
		struct wide run = event_variables(t, x);
		if (op_reads(x->op) && run.count == 1) {
			writer[e] = last[run.first];
		} else if (op_reads(x->op)) {
			uint64_t start = items->len;
			writer[e] = WRITER_WIDE + starts->len;
			g_array_append_val(starts, start);
			g_array_append_vals(items, last + run.first, run.count);
		}
		if (op_writes(x->op))
			for (uint32_t v = run.first; v < run.first + run.count; v++)
				last[v] = e;
	}
	uint64_t end = items->len;
	g_array_append_val(starts, end);
	g_free(last);
	ix->writer = writer;
	ix->wide_writers.start = (uint64_t *)(void *)g_array_free(starts, FALSE);
	ix->wide_writers.items = (uint32_t *)(void *)g_array_free(items, FALSE);
}

/* -- on demand
 * ---------------------------------------------------------------------------------------------
 */

bool trace_need(struct trace *t, unsigned parts, const struct progress *progress)
{
	if (t->index == NULL) {
		t->index = g_new0(struct trace_index, 1);
		cache_load(t, t->index);
	}
	struct trace_index *ix = t->index;
	unsigned had = ix->parts;
	if (parts & INDEX_MUST)
		parts |= INDEX_THREADS | INDEX_MATCH | INDEX_OBJECTS;
	if (parts & INDEX_MATCH)
		parts |= INDEX_THREADS;
	static const struct {
		unsigned part;
		void (*build)(const struct trace *t, struct trace_index *ix);
	} makers[] = {
		{ INDEX_THREADS, build_threads },     { INDEX_MATCH, build_match },
		{ INDEX_VARIABLES, build_variables }, { INDEX_OBJECTS, build_objects },
		{ INDEX_WRITERS, build_writers },     { INDEX_SITES, build_sites },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(makers); i++) {
		if (!(parts & ~ix->parts & makers[i].part))
			continue;
		if (!progress_tick(progress, (double)i / G_N_ELEMENTS(makers), "indexing"))
			return false;
		makers[i].build(t, ix);
		ix->parts |= makers[i].part;
	}
	if (parts & ~ix->parts & INDEX_MUST) {
		if (!index_build_must(t, ix, progress))
			return false;
		ix->parts |= INDEX_MUST;
	}
	if (ix->parts != had)
		cache_store(t, ix);
	return true;
}

void index_free(struct trace_index *ix)
{
	if (ix == NULL)
		return;
	struct {
		unsigned part;
		const void *array;
	} arrays[] = {
		{ INDEX_THREADS, ix->thread_events.start },
		{ INDEX_THREADS, ix->thread_events.items },
		{ INDEX_THREADS, ix->position },
		{ INDEX_MATCH, ix->partner },
		{ INDEX_VARIABLES, ix->variable_events.start },
		{ INDEX_VARIABLES, ix->variable_events.items },
		{ INDEX_OBJECTS, ix->object_events.start },
		{ INDEX_OBJECTS, ix->object_events.items },
		{ INDEX_SITES, ix->site_events.start },
		{ INDEX_SITES, ix->site_events.items },
		{ INDEX_WRITERS, ix->writer },
		{ INDEX_WRITERS, ix->wide_writers.start },
		{ INDEX_WRITERS, ix->wide_writers.items },
		{ INDEX_MUST, ix->must },
		{ INDEX_MUST, ix->must_by_before },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(arrays); i++)
		if (!(ix->mapped & arrays[i].part))
			g_free((void *)arrays[i].array);
	if (ix->map)
		munmap(ix->map, ix->map_length);
	g_free(ix);
}

/* -- asking
 * ----------------------------------------------------------------------------------------------------
 */

uint32_t trace_previous(const struct trace *t, uint32_t event)
{
	struct event_list l = trace_thread_events(t, t->events[event].thread);
	uint32_t i = t->index->position[event];
	return i ? l.items[i - 1] : NONE;
}

uint32_t trace_next(const struct trace *t, uint32_t event)
{
	struct event_list l = trace_thread_events(t, t->events[event].thread);
	uint32_t i = t->index->position[event] + 1;
	return i < l.count ? l.items[i] : NONE;
}

static uint32_t must_before_at(const struct trace_index *ix, uint64_t i)
{
	return ix->must[ix->must_by_before[i]].before;
}

static uint32_t must_after_at(const struct trace_index *ix, uint64_t i)
{
	return ix->must[i].after;
}

/* The run of edges whose key is `event`, in an array sorted by that key. */
static struct must_run find_run(const struct trace_index *ix, uint32_t event,
                                uint32_t (*key)(const struct trace_index *, uint64_t))
{
	uint64_t low = 0, high = ix->must_count;
	while (low < high) {
		uint64_t middle = (low + high) / 2;
		if (key(ix, middle) < event)
			low = middle + 1;
		else
			high = middle;
	}
	struct must_run run = { low, 0 };
	while (low + run.count < ix->must_count && key(ix, low + run.count) == event)
		run.count++;
	return run;
}

struct must_run trace_must_into(const struct trace *t, uint32_t event)
{
	return find_run(t->index, event, must_after_at);
}

struct must_run trace_must_from(const struct trace *t, uint32_t event)
{
	return find_run(t->index, event, must_before_at);
}

struct event_list trace_writers(const struct trace *t, uint32_t event)
{
	const struct trace_index *ix = t->index;
	if (t->events[event].flags & EVENT_WIDE)
		return event_list_at(&ix->wide_writers, ix->writer[event] - WRITER_WIDE);
	return (struct event_list){ &ix->writer[event], 1 };
}

void trace_locks_held(const struct trace *t, uint32_t event, GArray *acquires)
{
	guint from = acquires->len;
	for (uint32_t e = trace_previous(t, event); e != NONE; e = trace_previous(t, e)) {
		const struct event *x = &t->events[e];
		if (!op_acquires(x->op) || event_inert(x))
			continue;
		uint32_t release = t->index->partner[e];
		if (release == NONE || release >= event)
			g_array_insert_val(acquires, from, e);
	}
}

uint32_t trace_stack(const struct trace *t, uint32_t event)
{
	return t->stacks_count ? t->stacks[event] : 0;
}

/* The frames of one real function: those inlined into it at `location`, then itself. */
static void add_inlined(const struct trace *t, uint32_t location, uint32_t function,
                        GArray *frames)
{
	enum { DEEPEST = 64 };
	for (int depth = 0; depth < DEEPEST; depth++) {
		const struct location *l = &t->locations[location];
		bool inlined = location && l->inlined != NONE && l->inlined != location;
		struct frame frame = { inlined ? l->function : function, location };
		if (!inlined && function == 0)
			frame.function = l->function;
		g_array_append_val(frames, frame);
		if (!inlined)
			return;
		location = l->inlined;
	}
}

GArray *trace_frames(const struct trace *t, uint32_t event, uint32_t context)
{
	GArray *frames = g_array_new(FALSE, FALSE, sizeof(struct frame));
	uint32_t location = t->events[event].location;
	if (context == 0)
		add_inlined(t, location, 0, frames);
	for (; context; context = t->contexts[context].parent) {
		add_inlined(t, location, t->contexts[context].function, frames);
		location = t->contexts[context].call;
	}
	return frames;
}

struct invocation trace_invocation(const struct trace *t, uint32_t event)
{
	const struct event *e = &t->events[event];
	uint32_t other = e->op == OP_ACT ? event : t->index->partner[event];
	struct invocation i = { .instance = e->target,
		                .call = e->op == OP_RET ? other : event,
		                .ret = e->op == OP_CALL ? other : event };
	const struct invocation_part *call =
	        i.call == NONE ? NULL : &t->invocations[t->events[i.call].aux];
	const struct invocation_part *ret =
	        i.ret == NONE ? NULL : &t->invocations[t->events[i.ret].aux];
	i.method = call ? call->method : ret->method;
	if (call) {
		i.arguments = t->value_lists + call->values;
		i.argument_count = call->arguments;
	}
	if (ret) {
		i.results = t->value_lists + ret->values + ret->arguments;
		i.result_count = ret->results;
	}
	return i;
}
