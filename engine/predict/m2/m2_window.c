/*
 * m2_window.c - the part of a cone from the cut on, grouped by variable and thread, so that
 * "this thread's last write before here" is a binary search.
 *
 * Only variables accessed by two threads in the window, with a write, are kept: others cause no
 * edges. Independent of the closure.
 */
#include "engine/base/search.h"
#include "engine/predict/m2/m2_private.h"

#include <string.h>

/* Bit set of variables accessed by two threads, with a write; others cause no edges in any
 * window. (Thread-local buffers would be most of it.) */
static uint64_t *shared_variables(const struct trace *t)
{
	enum { WRITTEN = 1, SHARED = 2 };
	uint64_t *bits = g_new0(uint64_t, t->variables_count / 64 + 1);
	g_autofree uint8_t *use = g_new0(uint8_t, t->variables_count + 1);
	g_autofree uint32_t *owner = g_new0(uint32_t, t->variables_count + 1); /* thread + 1 */

	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];

		if (!op_is_access(x->op) || event_inert(x))
			continue;
		struct wide run = event_variables(t, x);
		for (uint32_t v = run.first; v < run.first + run.count; v++) {
			if (owner[v] == 0)
				owner[v] = x->thread + 1u;
			use[v] |= (op_writes(x->op) ? WRITTEN : 0) |
			          (owner[v] != x->thread + 1u ? SHARED : 0);
		}
	}
	for (uint32_t v = 0; v < t->variables_count; v++)
		bits[v / 64] |= (uint64_t)(use[v] == (WRITTEN | SHARED)) << (v % 64);
	return bits;
}

void window_init(struct window *w, const struct trace *t)
{
	w->base = g_new0(uint32_t, t->threads_count + 1);
	w->stamp = g_new0(uint32_t, t->variables_count + 1);
	w->local = g_new(uint32_t, t->variables_count + 1);
	memset(w->local, 0xff, (t->variables_count + 1) * sizeof(uint32_t));
	w->shared = shared_variables(t);
	w->block_stamp = g_new0(uint32_t, t->blocks_count + 1);
	w->block_last = g_new(uint32_t, t->blocks_count + 1);
	w->block_uses = g_array_new(FALSE, FALSE, sizeof(struct block_use));
	w->lock_stamp = g_new0(uint32_t, t->objects_count + 1);
	w->owner = g_new0(uint32_t, t->objects_count + 1);
	w->sharers = g_new0(uint32_t, t->objects_count + 1);
	w->threads = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	w->accesses = g_array_new(FALSE, FALSE, sizeof(struct access));
	w->runs = g_array_new(FALSE, FALSE, sizeof(struct run));
	w->run_start = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	w->writes = g_array_new(FALSE, FALSE, sizeof(struct access));
	w->write_runs = g_array_new(FALSE, FALSE, sizeof(struct run));
	w->write_start = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	w->readings = g_array_new(FALSE, FALSE, sizeof(struct reading));
	w->locks = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	w->odd = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	w->raw = g_array_new(FALSE, FALSE, sizeof(struct access));
}

void window_release(struct window *w)
{
	GArray *arrays[] = { w->threads, w->accesses,   w->runs,        w->run_start,
		             w->writes,  w->write_runs, w->write_start, w->readings,
		             w->locks,   w->odd,        w->raw };

	for (size_t i = 0; i < G_N_ELEMENTS(arrays); i++)
		g_array_unref(arrays[i]);
	g_free(w->base);
	g_free(w->stamp);
	g_free(w->local);
	g_free(w->shared);
	g_free(w->block_stamp);
	g_free(w->block_last);
	g_array_unref(w->block_uses);
	g_free(w->lock_stamp);
	g_free(w->owner);
	g_free(w->sharers);
}

void window_base(struct m2 *m, uint32_t cut)
{
	for (uint32_t u = 0; u < m->threads; u++)
		m->w.base[u] = trace_events_before(m->t, u, cut);
}

/* For a local variable: is it kept? */
struct variable_use {
	uint32_t thread, count, variable;
	bool shared, written;
};

/* The last access of each thread to a block freed in the window: earlier ones need no edge.
 * (Threads are visited one after the other.) */
static void note_block(struct m2 *m, uint32_t block, uint32_t e, uint32_t thread)
{
	struct window *w = &m->w;
	struct block_use use = { block, thread, e };

	if (block == NONE || m->t->blocks[block].free == NONE ||
	    !m2_in_window(m, m->t->blocks[block].free))
		return;
	if (w->block_stamp[block] == w->now) {
		struct block_use *last =
		        &g_array_index(w->block_uses, struct block_use, w->block_last[block]);

		if (last->thread == thread) {
			last->event = e;
			return;
		}
	}
	w->block_stamp[block] = w->now;
	w->block_last[block] = w->block_uses->len;
	g_array_append_val(w->block_uses, use);
}

static void note_blocks(struct m2 *m, struct wide run, uint32_t e, uint32_t thread)
{
	const struct variable *all = m->t->variables;
	uint32_t end = run.first + run.count, block = all[run.first].block;

	note_block(m, block, e, thread);
	if (all[end - 1].block == block) /* runs are contiguous, and so are blocks */
		return;
	for (uint32_t v = run.first + 1; v < end; v++) {
		if (all[v].block != all[v - 1].block)
			note_block(m, all[v].block, e, thread);
	}
}

/* Room for so many more elements: PUT stores them without a call each. */
static void array_room(GArray *array, uint64_t more)
{
	guint length = array->len;

	g_array_set_size(array, (guint)(length + more));
	array->len = length;
}
#define PUT(array, type, value) ((type *)(void *)(array)->data)[(array)->len++] = (value)

static void collect_access(struct m2 *m, GArray *uses, uint32_t e, uint32_t thread,
                           uint32_t position)
{
	const struct event *x = &m->t->events[e];
	struct wide run = event_variables(m->t, x);
	struct window *w = &m->w;

	if (G_UNLIKELY(w->raw->len + (uint64_t)run.count > w->raw_room)) {
		w->raw_room = 2 * (w->raw->len + (uint64_t)run.count);
		array_room(w->raw, w->raw_room - w->raw->len);
	}
	m->work += run.count / 8;
	if (m->t->blocks_count > 0)
		note_blocks(m, run, e, thread);
	for (uint32_t v = run.first; v < run.first + run.count; v++) {
		struct access a = { 0, thread, position, e };

		if (!(w->shared[v / 64] >> (v % 64) & 1))
			continue;
		m->work++;
		if (w->stamp[v] != w->now) {
			struct variable_use fresh = { thread, 0, v, false, false };

			w->stamp[v] = w->now;
			w->local[v] = uses->len;
			g_array_append_val(uses, fresh);
		}
		a.local = w->local[v];
		struct variable_use *use = &g_array_index(uses, struct variable_use, a.local);
		use->count++;
		use->shared |= use->thread != thread;
		use->written |= op_writes(x->op);
		PUT(w->raw, struct access, a);
	}
}

static bool is_odd(const struct m2 *m, uint32_t e)
{
	switch (m->t->events[e].op) {
	case OP_SIGNAL:
	case OP_BROADCAST:
	case OP_TRYFAIL:
	case OP_TAKETRYFAIL:
	case OP_DESTROY:
		return true;
	default:
		return false;
	}
}

static void collect_event(struct m2 *m, GArray *uses, uint32_t e, uint32_t thread,
                          uint32_t position)
{
	const struct event *x = &m->t->events[e];
	struct window *w = &m->w;

	if (event_inert(x))
		return;
	if (!op_is_access(x->op) && m->t->blocks_count > 0)
		note_block(m, event_block_used(m->t, x), e, thread);
	if (op_is_access(x->op)) {
		collect_access(m, uses, e, thread, position);
	} else if (op_acquires(x->op) || op_releases(x->op)) {
		if (w->lock_stamp[x->target] != w->now) {
			w->lock_stamp[x->target] = w->now;
			g_array_append_val(w->locks, x->target);
		}
	} else if (is_odd(m, e)) {
		g_array_append_val(w->odd, e);
	}
}

/* Sort the accesses of kept variables by variable (stable: by thread and position within). */
static void group_accesses(struct window *w, const GArray *uses)
{
	uint32_t *place = g_new(uint32_t, uses->len + 1), total = 0;

	for (guint i = 0; i < uses->len; i++) {
		const struct variable_use *use = &g_array_index(uses, struct variable_use, i);

		place[i] = use->shared && use->written ? total : NONE;
		if (place[i] != NONE)
			total += use->count;
	}
	g_array_set_size(w->accesses, total);
	for (guint i = 0; i < w->raw->len; i++) {
		const struct access *a = &g_array_index(w->raw, struct access, i);

		if (place[a->local] != NONE)
			g_array_index(w->accesses, struct access, place[a->local]++) = *a;
	}
	g_free(place);
}

static void end_variable(struct window *w)
{
	uint32_t runs = w->runs->len, writes = w->write_runs->len;

	g_array_append_val(w->run_start, runs);
	g_array_append_val(w->write_start, writes);
}

/* The event that a read of one variable reads from. */
static uint32_t writer_of(const struct trace *t, uint32_t e, uint32_t variable)
{
	if (!(t->events[e].flags & EVENT_WIDE))
		return t->index->writer[e];
	struct event_list writers = trace_writers(t, e);
	return writers.items[variable - event_variables(t, &t->events[e]).first];
}

static void add_to_run(GArray *runs, const struct access *a, uint32_t at, uint32_t first_run)
{
	if (runs->len == first_run ||
	    g_array_index(runs, struct run, runs->len - 1).thread != a->thread)
		PUT(runs, struct run, ((struct run){ a->thread, at, 0 }));
	g_array_index(runs, struct run, runs->len - 1).count++;
}

/* Renumber kept variables, and split their accesses into runs by thread. */
static void make_runs(struct m2 *m, const GArray *variables)
{
	enum { AHEAD = 16 };
	struct window *w = &m->w;
	uint32_t raw = NONE, first_run = 0, first_write = 0;
	GArray *arrays[] = { w->runs, w->writes, w->write_runs, w->readings };

	for (size_t i = 0; i < G_N_ELEMENTS(arrays); i++)
		array_room(arrays[i], w->accesses->len);
	for (guint i = 0; i < w->accesses->len; i++) {
		struct access *a = &g_array_index(w->accesses, struct access, i);
		uint32_t near = a[MIN(AHEAD, w->accesses->len - 1 - i)].event;

		__builtin_prefetch(&m->t->events[near]);
		__builtin_prefetch(&m->t->index->writer[near]);
		uint8_t op = m->t->events[a->event].op;

		if (a->local != raw) {
			raw = a->local;
			end_variable(w);
			w->local[g_array_index(variables, uint32_t, raw)] =
			        w->run_start->len - 1;
			first_run = w->runs->len;
			first_write = w->write_runs->len;
		}
		a->local = w->run_start->len - 1;
		add_to_run(w->runs, a, i, first_run);
		if (op_writes(op)) {
			add_to_run(w->write_runs, a, w->writes->len, first_write);
			PUT(w->writes, struct access, *a);
		}
		if (op_reads(op)) {
			struct reading r = { a->local, a->thread, a->position, a->event,
				             writer_of(
				                     m->t, a->event,
				                     g_array_index(variables, uint32_t, raw)) };

			PUT(w->readings, struct reading, r);
		}
	}
	end_variable(w);
}

static void window_clear(struct window *w)
{
	GArray *arrays[] = { w->threads, w->accesses,   w->runs,        w->run_start,
		             w->writes,  w->write_runs, w->write_start, w->readings,
		             w->locks,   w->odd,        w->raw };

	for (size_t i = 0; i < G_N_ELEMENTS(arrays); i++)
		g_array_set_size(arrays[i], 0);
	g_array_set_size(w->block_uses, 0);
	w->now++;
	w->size = 0;
}

bool window_fill(struct m2 *m, uint64_t limit)
{
	struct window *w = &m->w;

	window_clear(w);
	for (uint32_t u = 0; u < m->threads; u++) {
		w->base[u] = m->cone.prefix[u] == 0 ? 0 : trace_events_before(m->t, u, w->cut);
		if (w->base[u] < m->cone.prefix[u]) {
			g_array_append_val(w->threads, u);
			w->size += m->cone.prefix[u] - w->base[u];
		} else {
			w->base[u] = m->cone.prefix[u];
		}
	}
	/* The closure's edges are between these threads; the graph may miss edges of others,
	 * and then settles less. */
	chain_graph_focus(m->order, (const uint32_t *)(void *)w->threads->data,
	                  w->threads->len);
	if (w->size > limit)
		return false;
	m->work += w->size;
	if (w->raw_room < w->size) {
		w->raw_room = w->size;
		array_room(w->raw, w->raw_room);
	}
	g_autoptr(GArray) uses = g_array_new(FALSE, FALSE, sizeof(struct variable_use));
	for (guint i = 0; i < w->threads->len; i++) {
		uint32_t u = g_array_index(w->threads, uint32_t, i);

		for (uint32_t p = w->base[u]; p < m->cone.prefix[u]; p++)
			collect_event(m, uses, m2_event(m, u, p), u, p);
	}
	g_autoptr(GArray) variables =
	        g_array_sized_new(FALSE, FALSE, sizeof(uint32_t), uses->len);
	for (guint i = 0; i < uses->len; i++)
		g_array_append_val(variables,
		                   g_array_index(uses, struct variable_use, i).variable);
	group_accesses(w, uses);
	for (guint i = 0; i < variables->len; i++)
		w->local[g_array_index(variables, uint32_t, i)] = NONE;
	make_runs(m, variables);
	return true;
}

uint32_t window_run_before(const GArray *accesses, const struct run *run, uint32_t position)
{
	return search_end(i, 0, run->count,
	                  g_array_index(accesses, struct access, run->first + i).position <
	                          position);
}
