/*
 * index.c - data derived from a trace in linear passes: lists of events, partners, reads-from.
 */
#include "engine/base/arrays.h"
#include "engine/base/aside.h"
#include "engine/trace/binary/reel.h"
#include "engine/trace/index.h"
#include "engine/trace/index_private.h"
#include "engine/trace/tries.h"
#include "engine/trace/weak.h"

#include "engine/base/scattered.h"
#include "engine/base/search.h"

#include <string.h>
#include <sys/mman.h>

/*
 * -- construction of parts -------------------------------------------------------------------
 *
 * Two passes over the events, in batches that serve all parts while in the cache: the first
 * counts list items, the second fills the lists.
 */

enum { BATCH = 4096 };

struct batch {
	uint64_t from, to;                    /* events */
	uint32_t others[BATCH], others_count; /* non-accesses */
};

struct work {
	const struct trace *t;
	struct trace_index *ix;
	/* List counts, then next positions; with a spare list. */
	struct event_lists *lists;
	uint64_t lists_count;
	uint32_t *next;
	/* INDEX_MATCH */
	GArray **open; /* by thread: struct opening */
	GArray *ends;  /* uint32_t: forks and joins */
	/* INDEX_WRITERS */
	uint32_t *last;         /* by variable: its last write */
	GArray *starts, *items; /* of wide_writers */
};

static void lists_begin(struct work *w, struct event_lists *lists, uint64_t count)
{
	w->lists = lists;
	w->lists_count = count;
	w->next = g_new0(uint32_t, count + 1);
}

static void lists_sum(struct work *w)
{
	uint64_t *start = g_new(uint64_t, w->lists_count + 1), sum = 0;
	for (uint64_t i = 0; i < w->lists_count; i++) {
		start[i] = sum;
		sum += w->next[i];
		w->next[i] = start[i];
	}
	start[w->lists_count] = sum;
	w->next[w->lists_count] = sum;
	w->lists->start = start;
	w->lists->items = scattered_new(uint32_t, sum + 1);
}

/* -- by thread -------------------------------------------------------------------------- */

static void begin_threads(struct work *w)
{
	lists_begin(w, &w->ix->thread_events, w->t->threads_count);
	w->ix->position = g_new(uint32_t, w->t->events_count + 1);
}

/* End of the run of events of one thread from `from`. */
static inline uint64_t run_end(const struct event *events, uint64_t from, uint64_t to)
{
	uint64_t e = from + 1;
	while (e < to && events[e].thread == events[from].thread)
		e++;
	return e;
}

static void count_threads(struct work *w, const struct batch *b)
{
	const struct event *events = w->t->events;
	for (uint64_t e = b->from, end; e < b->to; e = end) {
		end = run_end(events, e, b->to);
		w->next[events[e].thread] += end - e;
	}
}

static void fill_threads(struct work *w, const struct batch *b)
{
	const struct event *events = w->t->events;
	uint32_t *items = (uint32_t *)w->lists->items, *position = (uint32_t *)w->ix->position;
	for (uint64_t e = b->from; e < b->to;) {
		uint32_t thread = events[e].thread, at = w->next[thread];
		uint32_t start = w->lists->start[thread];
		uint64_t end = run_end(events, e, b->to);
		w->next[thread] += end - e;
		for (; e < end; e++, at++) {
			items[at] = e;
			position[e] = at - start;
		}
	}
}

/* -- partners --------------------------------------------------------------------------- */

/* Waits for its partner. */
struct opening {
	uint32_t event, target;
	uint8_t op; /* operation that closes it */
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

static void begin_match(struct work *w)
{
	w->ix->partner = g_new(uint32_t, w->t->events_count + 1);
	w->open = arrays_new(w->t->threads_count, sizeof(struct opening));
	w->ends = g_array_new(FALSE, FALSE, sizeof(uint32_t));
}

static void fill_match(struct work *w, const struct batch *b)
{
	uint32_t *partner = (uint32_t *)w->ix->partner;
	memset(partner + b->from, 0xff, (b->to - b->from) * sizeof *partner);
	for (uint32_t i = 0; i < b->others_count; i++) {
		uint32_t e = b->others[i];
		const struct event *x = &w->t->events[e];
		struct opening o = { e, x->target, closer[x->op] };
		if (x->op == OP_FORK || x->op == OP_JOIN)
			g_array_append_val(w->ends, e);
		else if (event_inert(x))
			continue;
		else if (closer[x->op])
			g_array_append_val(w->open[x->thread], o);
		else if (closes(x->op))
			match_close(w->t, w->open[x->thread], e, partner);
	}
}

/* Partners of forks and joins, when thread lists are complete. */
static void end_match(struct work *w)
{
	uint32_t *partner = (uint32_t *)w->ix->partner;
	for (guint i = 0; i < w->ends->len; i++) {
		uint32_t e = g_array_index(w->ends, uint32_t, i);
		const struct event *x = &w->t->events[e];
		struct event_list of = event_list_at(&w->ix->thread_events, x->target);
		if (of.count)
			partner[e] = x->op == OP_FORK ? of.items[0] : of.items[of.count - 1];
	}
}

/* -- by variable ------------------------------------------------------------------------ */

static void begin_variables(struct work *w)
{
	lists_begin(w, &w->ix->variable_events, w->t->variables_count);
}

static inline bool is_listed(const struct event *x)
{
	return op_is_access(x->op) & !event_inert(x);
}

/* Accesses are unpredictable, so non-accesses go to the spare list, without a branch. */
static void count_variables(struct work *w, const struct batch *b)
{
	uint32_t *next = w->next, spare = w->lists_count;
	for (uint64_t e = b->from; e < b->to; e++) {
		const struct event *x = &w->t->events[e];
		if (G_UNLIKELY(x->flags & EVENT_WIDE)) {
			struct wide run = w->t->wides[x->target];
			for (uint32_t i = 0; is_listed(x) && i < run.count; i++)
				next[run.first + i]++;
		} else {
			next[is_listed(x) ? x->target : spare]++;
		}
	}
}

static void fill_variables(struct work *w, const struct batch *b)
{
	uint32_t *next = w->next, spare = w->lists_count, *items = (uint32_t *)w->lists->items;
	for (uint64_t e = b->from; e < b->to; e++) {
		const struct event *x = &w->t->events[e];
		if (G_UNLIKELY(x->flags & EVENT_WIDE)) {
			struct wide run = w->t->wides[x->target];
			for (uint32_t i = 0; is_listed(x) && i < run.count; i++)
				items[next[run.first + i]++] = e;
		} else { /* the spare list has one element, at the end */
			uint32_t i = is_listed(x) ? x->target : spare, at = next[i];
			items[at] = e;
			next[i] = at + is_listed(x);
		}
	}
}

/* -- by object, by site ----------------------------------------------------------------- */

static void begin_objects(struct work *w)
{
	lists_begin(w, &w->ix->object_events, w->t->objects_count);
}

static bool of_object(const struct event *x)
{
	return op_table[x->op].operand == OPERAND_OBJECT && !event_inert(x);
}

static void count_objects(struct work *w, const struct batch *b)
{
	for (uint32_t i = 0; i < b->others_count; i++) {
		const struct event *x = &w->t->events[b->others[i]];
		if (of_object(x))
			w->next[x->target]++;
	}
}

static void fill_objects(struct work *w, const struct batch *b)
{
	uint32_t *items = (uint32_t *)w->lists->items;
	for (uint32_t i = 0; i < b->others_count; i++) {
		const struct event *x = &w->t->events[b->others[i]];
		if (of_object(x))
			items[w->next[x->target]++] = b->others[i];
	}
}

static void begin_sites(struct work *w)
{
	lists_begin(w, &w->ix->site_events, w->t->sites_count);
}

static void count_sites(struct work *w, const struct batch *b)
{
	for (uint64_t e = b->from; e < b->to; e++) {
		const struct event *x = &w->t->events[e];
		if (is_listed(x))
			w->next[w->t->locations[x->location].site]++;
	}
}

static void fill_sites(struct work *w, const struct batch *b)
{
	uint32_t *items = (uint32_t *)w->lists->items;
	for (uint64_t e = b->from; e < b->to; e++) {
		const struct event *x = &w->t->events[e];
		if (is_listed(x))
			items[w->next[w->t->locations[x->location].site]++] = e;
	}
}

/* -- reads-from ---------------------------------------------------------------------------- */

#define WRITER_WIDE UINT32_C(0x80000000) /* with INDEX_WRITERS: the run's number below it */

static void begin_writers(struct work *w)
{
	w->ix->writer = g_new(uint32_t, w->t->events_count + 1);
	w->last = g_new(uint32_t, w->t->variables_count + 1);
	memset(w->last, 0xff, (w->t->variables_count + 1) * sizeof *w->last);
	w->starts = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	w->items = g_array_new(FALSE, FALSE, sizeof(uint32_t));
}

static void fill_writers(struct work *w, const struct batch *b)
{
	uint32_t *writer = (uint32_t *)w->ix->writer, *last = w->last;
	for (uint64_t e = b->from; e < b->to; e++) {
		const struct event *x = &w->t->events[e];
		writer[e] = NONE;
		if (!is_listed(x))
			continue;
		struct wide run = event_variables(w->t, x);
		if (op_reads(x->op) && run.count == 1) {
			writer[e] = last[run.first];
		} else if (op_reads(x->op)) {
			uint64_t start = w->items->len;
			writer[e] = WRITER_WIDE + w->starts->len;
			g_array_append_val(w->starts, start);
			g_array_append_vals(w->items, last + run.first, run.count);
		}
		if (op_writes(x->op))
			for (uint32_t v = run.first; v < run.first + run.count; v++)
				last[v] = e;
	}
}

/* A read that sees another store than the last write (weak.h). */
static void see(void *context, uint32_t read, uint32_t variable, uint32_t seen)
{
	const struct work *w = context;
	uint32_t *writer = (uint32_t *)w->ix->writer;
	struct wide run = event_variables(w->t, &w->t->events[read]);

	if (run.count == 1)
		writer[read] = seen;
	else
		g_array_index(w->items, uint32_t,
		              g_array_index(w->starts, uint64_t, writer[read] - WRITER_WIDE) +
		                      (variable - run.first)) = seen;
}

static void end_writers(struct work *w)
{
	if (w->t->weak_count || trace_model(w->t) != WEAK_SC)
		trace_weak_walk(w->t, see, w);
	uint64_t end = w->items->len;
	g_array_append_val(w->starts, end);
	w->ix->wide_writers.start =
	        (uint64_t *)(void *)g_array_free(g_steal_pointer(&w->starts), FALSE);
	w->ix->wide_writers.items =
	        (uint32_t *)(void *)g_array_free(g_steal_pointer(&w->items), FALSE);
}

/* -- building on demand -------------------------------------------------------------------- */

static const struct maker {
	unsigned part;
	void (*begin)(struct work *w);
	void (*count)(struct work *w, const struct batch *b); /* or NULL: no lists */
	void (*fill)(struct work *w, const struct batch *b);
	void (*end)(struct work *w); /* or NULL */
} makers[] = {
	{ INDEX_THREADS, begin_threads, count_threads, fill_threads, NULL },
	{ INDEX_MATCH, begin_match, NULL, fill_match, end_match },
	{ INDEX_VARIABLES, begin_variables, count_variables, fill_variables, NULL },
	{ INDEX_OBJECTS, begin_objects, count_objects, fill_objects, NULL },
	{ INDEX_WRITERS, begin_writers, NULL, fill_writers, end_writers },
	{ INDEX_SITES, begin_sites, count_sites, fill_sites, NULL },
};

/* A pass over the events for some parts. */
struct making {
	const struct trace *t;
	unsigned parts;
	struct work *works; /* by maker */
	bool fills;         /* else counts */
	gint *stop;         /* atomic: it is to end */
	const struct progress *progress;
};

static void find_others(const struct trace *t, struct batch *b)
{
	uint32_t n = 0;
	for (uint64_t e = b->from; e < b->to; e++) {
		b->others[n] = e;
		n += !op_is_access(t->events[e].op);
	}
	b->others_count = n;
}

static void pass(void *making)
{
	enum { TICK = 256 * BATCH };
	struct making *m = making;
	uint64_t count = m->t->events_count;
	struct batch batch; /* 16 KB, of which short traces use little */
	for (uint64_t from = 0; from < count && !g_atomic_int_get(m->stop); from += BATCH) {
		double done = (double)from / count;
		if (from % TICK == 0 &&
		    !progress_tick(m->progress, (done + m->fills) / 2, "indexing"))
			g_atomic_int_set(m->stop, 1);
		batch.from = from;
		batch.to = MIN(from + BATCH, count);
		/* only objects count these */
		if (m->parts & (INDEX_OBJECTS | (m->fills ? INDEX_MATCH : 0)))
			find_others(m->t, &batch);
		for (size_t i = 0; i < G_N_ELEMENTS(makers); i++) {
			if (!(m->parts & makers[i].part))
				continue;
			if (m->fills)
				makers[i].fill(&m->works[i], &batch);
			else if (makers[i].count)
				makers[i].count(&m->works[i], &batch);
		}
	}
}

/* A pass for all parts. Of a long trace in memory another thread makes some of them. False when
 * cancelled. */
static bool passes(const struct making *all, bool fills)
{
	enum { APART = INDEX_VARIABLES | INDEX_SITES | INDEX_WRITERS, LONG = 1 << 16 };
	gint stop = 0;
	struct making own = *all, other = *all;
	struct aside *aside = NULL;
	own.fills = other.fills = fills;
	own.stop = other.stop = &stop;
	other.parts &= APART;
	other.progress = NULL;
	if (other.parts && other.parts != own.parts && own.t->events_count >= LONG &&
	    trace_stays(own.t))
		aside = aside_begin(pass, &other);
	if (aside)
		own.parts &= ~APART;
	pass(&own);
	aside_end(aside);
	return !g_atomic_int_get(&stop);
}

static bool make_lists(const struct making *m)
{
	if (!passes(m, false))
		return false;
	for (size_t i = 0; i < G_N_ELEMENTS(makers); i++)
		if ((m->parts & makers[i].part) && makers[i].count)
			lists_sum(&m->works[i]);
	if (!passes(m, true))
		return false;
	for (size_t i = 0; i < G_N_ELEMENTS(makers); i++)
		if ((m->parts & makers[i].part) && makers[i].end)
			makers[i].end(&m->works[i]);
	return true;
}

static void work_release(struct work *w)
{
	g_free(w->next);
	arrays_free(w->open, w->t->threads_count);
	if (w->ends)
		g_array_free(w->ends, TRUE);
	g_free(w->last);
	if (w->starts)
		g_array_free(w->starts, TRUE);
	if (w->items)
		g_array_free(w->items, TRUE);
}

static void forget_parts(struct trace_index *ix, unsigned parts)
{
	struct {
		unsigned part;
		const void **array;
	} arrays[] = {
#define ARRAY(part, member) { part, (const void **)&ix->member }
		ARRAY(INDEX_THREADS, thread_events.start),
		ARRAY(INDEX_THREADS, thread_events.items),
		ARRAY(INDEX_THREADS, position),
		ARRAY(INDEX_MATCH, partner),
		ARRAY(INDEX_VARIABLES, variable_events.start),
		ARRAY(INDEX_VARIABLES, variable_events.items),
		ARRAY(INDEX_OBJECTS, object_events.start),
		ARRAY(INDEX_OBJECTS, object_events.items),
		ARRAY(INDEX_SITES, site_events.start),
		ARRAY(INDEX_SITES, site_events.items),
		ARRAY(INDEX_WRITERS, writer),
		ARRAY(INDEX_WRITERS, wide_writers.start),
		ARRAY(INDEX_WRITERS, wide_writers.items),
		ARRAY(INDEX_MUST, must),
		ARRAY(INDEX_MUST, must_by_before),
#undef ARRAY
	};
	for (size_t i = 0; i < G_N_ELEMENTS(arrays); i++) {
		if (!(arrays[i].part & parts))
			continue;
		g_free((void *)*arrays[i].array);
		*arrays[i].array = NULL;
	}
}

/* All of `parts` or, when cancelled, none. */
static bool build_parts(const struct trace *t, struct trace_index *ix, unsigned parts,
                        const struct progress *progress)
{
	struct work works[G_N_ELEMENTS(makers)] = { 0 };
	struct making m = { .t = t, .parts = parts, .works = works, .progress = progress };
	for (size_t i = 0; i < G_N_ELEMENTS(makers); i++) {
		works[i].t = t;
		works[i].ix = ix;
		if (parts & makers[i].part)
			makers[i].begin(&works[i]);
	}
	bool done = make_lists(&m);
	for (size_t i = 0; i < G_N_ELEMENTS(makers); i++)
		work_release(&works[i]);
	if (!done)
		forget_parts(ix, parts);
	return done;
}

/* A view borrows parts of the index, made there, of the trace `from` (`mapped` parts are not
 * freed here). */
static bool borrow_parts(struct trace *t, struct trace *from, unsigned parts,
                         const struct progress *progress)
{
	struct trace_index *ix = t->index;

	parts &= ~ix->parts;
	if (parts == 0)
		return true;
	if (!trace_need(from, parts, progress))
		return false;
	const struct trace_index *whole = from->index;
	if (parts & INDEX_THREADS) {
		ix->thread_events = whole->thread_events;
		ix->position = whole->position;
	}
	if (parts & INDEX_MATCH)
		ix->partner = whole->partner;
	if (parts & INDEX_VARIABLES)
		ix->variable_events = whole->variable_events;
	if (parts & INDEX_OBJECTS)
		ix->object_events = whole->object_events;
	if (parts & INDEX_SITES)
		ix->site_events = whole->site_events;
	if (parts & INDEX_WRITERS) {
		ix->writer = whole->writer;
		ix->wide_writers = whole->wide_writers;
	}
	ix->parts |= parts;
	ix->mapped |= parts;
	return true;
}

bool trace_need(struct trace *t, unsigned parts, const struct progress *progress)
{
	if (t->recorded != NULL) /* a view by chains has its own threads and must-order */
		return borrow_parts(t, t->recorded, parts & ~(INDEX_THREADS | INDEX_MUST),
		                    progress);
	if (t->index != NULL && t->index->whole != NULL)
		return borrow_parts(t, t->index->whole,
		                    parts & INDEX_MATCH ? parts | INDEX_THREADS : parts,
		                    progress);
	if (t->index == NULL) {
		t->index = g_new0(struct trace_index, 1);
		cache_load(t, t->index);
	}
	struct trace_index *ix = t->index;
	unsigned had = ix->parts;
	if (parts & INDEX_MATCH)
		parts |= INDEX_THREADS;
	unsigned lists = parts & ~ix->parts & ~INDEX_MUST;
	if (lists) {
		if (!build_parts(t, ix, lists, progress))
			return false;
		ix->parts |= lists;
	}
	if (parts & ~ix->parts & INDEX_MUST) {
		if (!index_build_must(t, ix, progress))
			return false;
		ix->parts |= INDEX_MUST;
	}
	if (ix->parts != had)
		cache_store(t, ix, had);
	return true;
}

void index_take_must(struct trace *t, struct must_maker *made)
{
	t->index = g_new0(struct trace_index, 1);
	t->operations = must_maker_end(made, t, t->index);
	t->index->parts = INDEX_MUST;
}

void index_free(struct trace_index *ix)
{
	if (ix == NULL)
		return;
	forget_parts(ix, INDEX_ALL & ~ix->mapped);
	tries_free(ix->tries);
	if (ix->map)
		munmap(ix->map, ix->map_length);
	g_free(ix);
}

/* -- asking -------------------------------------------------------------------------------- */

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

/* The range of edges with key `event`, in an array sorted by it. */
static struct must_run find_run(const struct trace_index *ix, uint32_t event,
                                uint32_t (*key)(const struct trace_index *, uint64_t))
{
	uint64_t low = search_end(i, 0, ix->must_count, key(ix, i) < event);
	struct must_run run = { low, 0 };
	while (low + run.count < ix->must_count && key(ix, low + run.count) == event)
		run.count++;
	return run;
}

struct must_run trace_must_into(const struct trace *t, uint32_t event)
{
	return find_run(t->index, event, must_after_at);
}

struct must_sources must_sources(const struct trace *t, uint32_t event)
{
	struct must_run run = trace_must_into(t, event);

	return (struct must_sources){ t, event, run.first, run.first + run.count, 0, 0 };
}

bool must_sources_next(struct must_sources *s, struct must_edge *edge)
{
	const struct trace_index *ix = s->t->index;

	for (;;) {
		if (s->shared < s->shared_end) {
			*edge = ix->must[s->shared++];
			edge->after = s->event;
			if (must_is_shared(edge->rule) &&
			    s->t->events[edge->before].thread != s->t->events[s->event].thread)
				return true;
		} else if (s->at == s->end) {
			return false;
		} else if (ix->must[s->at].rule != MUST_SHARED) {
			*edge = ix->must[s->at++];
			return true;
		} else {
			struct must_run run = trace_must_into(s->t, ix->must[s->at++].before);

			s->shared = run.first;
			s->shared_end = run.first + run.count;
		}
	}
}

struct must_run trace_must_from(const struct trace *t, uint32_t event)
{
	return find_run(t->index, event, must_before_at);
}

struct event_list trace_writers(const struct trace *t, uint32_t event)
{
	const struct trace_index *ix = t->index;
	if (t->events[event].flags & EVENT_WIDE && op_reads(t->events[event].op))
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

/* The frames of a function: those inlined into it at `location`, then itself. */
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

guint trace_frames_shown(const struct trace *t, const GArray *frames)
{
	guint shown = frames->len;
	while (shown > 1 &&
	       g_str_has_prefix(
	               trace_string(t, g_array_index(frames, struct frame, shown - 1).function),
	               "std::"))
		shown--;
	return shown;
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
