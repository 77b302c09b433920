/*
 * graph.c - one pass over the trace that keeps the last write and the reads since for each
 * variable of a set, and adds the conflicts between their units.
 */
#include "engine/base/arrays.h"
#include "engine/atomic/graph.h"

#include "engine/atomic/topology.h"

#include "engine/predict/effort.h"
#include "engine/base/search.h"

#include <stdlib.h>

/* An access by a unit; the serial differs when the unit's index is reused. */
struct unit_access {
	uint32_t unit, event;
	uint64_t serial;
};

/* One variable as a member of one set. */
struct set_cell {
	struct unit_access write; /* serial 0: none */
	GArray *reads; /* struct unit_access since the write, one for each unit; or NULL */
};

/* An open unit of a thread. */
struct activation {
	uint32_t event;        /* the event that opened it */
	uint32_t first, count; /* its sets, in model->open_sets */
	uint32_t begin;        /* first event of the part since the last split; NONE: to come */
	uint32_t unit;         /* its node, NONE before the first access */
};

struct graph_builder {
	const struct trace *t;
	const struct atomic_model *m;
	struct conflict_graph *g;
	struct set_cell *cells; /* by index into model->members */
	GPtrArray *read_lists;  /* owned: those of the cells */
	GArray **open;          /* by thread: struct activation, outermost first */
	bool *split;            /* by thread: its open units begin anew with its next event */
	uint64_t *serials;      /* by unit; 0: dropped */
	uint32_t serials_size;
	uint64_t serial;
	GArray *free_units, *free_conflicts, *work; /* uint32_t */
	uint32_t live;
	struct topology *order; /* online; NULL: post mortem */
	GArray *over;           /* uint32_t: units of the current component */
	const struct graph_options *options;
};

#define UNIT(g, i)     (&g_array_index((g)->units, struct unit, i))
#define CONFLICT(g, i) (&g_array_index((g)->conflicts, struct conflict, i))

static uint32_t pop_index(GArray *places)
{
	uint32_t place = g_array_index(places, uint32_t, places->len - 1);
	g_array_set_size(places, places->len - 1);
	return place;
}

static uint32_t unit_new(struct graph_builder *k, uint32_t name, uint32_t thread,
                         uint32_t begin)
{
	struct unit u = {
		.name = name, .thread = thread, .begin = begin, .end = NONE, .out = NONE
	};
	uint32_t place = k->free_units->len ? pop_index(k->free_units) : k->g->units->len;
	if (place == k->g->units->len)
		g_array_append_val(k->g->units, u);
	else
		*UNIT(k->g, place) = u;
	if (place >= k->serials_size) {
		k->serials_size = MAX(64, 2 * (place + 1));
		k->serials = g_renew(uint64_t, k->serials, k->serials_size);
	}
	k->serials[place] = ++k->serial;
	k->g->counts.units++;
	k->live++;
	k->g->counts.largest = MAX(k->g->counts.largest, k->live);
	if (k->order)
		topology_add(k->order, place);
	return place;
}

/* Drop a unit. Targets of its edges that lose their last one go to k->work. */
static void unit_drop(struct graph_builder *k, uint32_t i)
{
	struct unit *u = UNIT(k->g, i);
	u->dropped = true;
	k->serials[i] = 0;
	k->live--;
	g_array_append_val(k->free_units, i);
	for (uint32_t e = u->out, next; e != NONE; e = next) {
		struct conflict *c = CONFLICT(k->g, e);
		next = c->next;
		c->from = NONE;
		g_array_append_val(k->free_conflicts, e);
		if (--UNIT(k->g, c->to)->entering == 0 && !k->order)
			g_array_append_val(k->work, c->to);
	}
}

/* Drop ended units without incoming edges, from k->work on. */
static void drop_unentered(struct graph_builder *k)
{
	while (k->work->len) {
		uint32_t i = pop_index(k->work);
		const struct unit *u = UNIT(k->g, i);
		if (u->ended && u->entering == 0 && !u->dropped)
			unit_drop(k, i);
	}
}

static void drop_component(struct graph_builder *k, uint32_t component)
{
	uint32_t i = component;
	g_array_set_size(k->over, 0);
	do {
		g_array_append_val(k->over, i);
		i = topology_next_in_component(k->order, i);
	} while (i != component);
	const uint32_t *units = (const uint32_t *)(void *)k->over->data;
	if (k->over->len > 1)
		k->options->settle(k->options->context, k->g, units, k->over->len);
	topology_remove(k->order, component, k->work);
	for (guint j = 0; j < k->over->len; j++)
		unit_drop(k, units[j]);
}

/* Drop finished components, from k->work on. */
static void drop_over(struct graph_builder *k)
{
	while (k->work->len) {
		uint32_t i = pop_index(k->work);
		if (UNIT(k->g, i)->dropped)
			continue;
		uint32_t component = topology_component(k->order, i);
		if (topology_removable(k->order, component))
			drop_component(k, component);
	}
}

static void unit_end(struct graph_builder *k, uint32_t unit, uint32_t end)
{
	UNIT(k->g, unit)->ended = true;
	UNIT(k->g, unit)->end = end;
	if (k->options->uses)
		return;
	g_array_append_val(k->work, unit);
	if (k->order) {
		topology_unhold(k->order, unit);
		drop_over(k);
	} else {
		drop_unentered(k);
	}
}

static void add_conflict(struct graph_builder *k, const struct unit_access *from, uint32_t to,
                         uint32_t event, uint32_t set, uint32_t variable)
{
	if (from->serial == 0 || from->unit == to || k->serials[from->unit] != from->serial)
		return;
	struct conflict c = { .from = from->unit,
		              .to = to,
		              .set = set,
		              .variable = variable,
		              .events = { from->event, event },
		              .next = UNIT(k->g, from->unit)->out };
	uint32_t place =
	        k->free_conflicts->len ? pop_index(k->free_conflicts) : k->g->conflicts->len;
	if (place == k->g->conflicts->len)
		g_array_append_val(k->g->conflicts, c);
	else
		*CONFLICT(k->g, place) = c;
	UNIT(k->g, from->unit)->out = place;
	UNIT(k->g, to)->entering++;
	k->g->counts.conflicts++;
	if (k->order)
		topology_add_edge(k->order, c.from, to);
}

/* -- accesses ------------------------------------------------------------------------- */

static bool declared_on(const struct graph_builder *k, const struct activation *a, uint32_t set)
{
	const uint32_t *sets = (const uint32_t *)(void *)k->m->open_sets->data + a->first;
	uint32_t low = search_end(i, 0, a->count, sets[i] < set);
	return low < a->count && sets[low] == set;
}

/* The thread's outermost open unit on the set; else a unit of this event alone, one for all
 * its sets (*own). */
static uint32_t unit_of(struct graph_builder *k, uint32_t event, uint32_t set, uint32_t *own)
{
	uint32_t thread = k->t->events[event].thread;
	GArray *open = k->open[thread];
	for (guint i = 0; open && i < open->len; i++) {
		struct activation *a = &g_array_index(open, struct activation, i);
		if (!declared_on(k, a, set))
			continue;
		if (a->unit == NONE)
			a->unit = unit_new(k, k->t->events[a->event].target, thread, a->begin);
		return a->unit;
	}
	if (*own == NONE)
		*own = unit_new(k, NONE, thread, event);
	return *own;
}

static void read_cell(struct graph_builder *k, struct set_cell *c, uint32_t unit,
                      uint32_t event, uint32_t set, uint32_t variable)
{
	struct unit_access now = { unit, event, k->serials[unit] };
	if (c->reads == NULL) {
		c->reads = g_array_new(FALSE, FALSE, sizeof now);
		g_ptr_array_add(k->read_lists, c->reads);
	}
	for (guint i = c->reads->len; i-- > 0;) {
		const struct unit_access *r = &g_array_index(c->reads, struct unit_access, i);
		if (r->unit == unit && r->serial == now.serial)
			return; /* it has its edge from the write */
		/* Reads of dropped units cause no more edges. */
		if (k->serials[r->unit] != r->serial)
			g_array_remove_index_fast(c->reads, i);
	}
	add_conflict(k, &c->write, unit, event, set, variable);
	g_array_append_val(c->reads, now);
}

static void write_cell(struct graph_builder *k, struct set_cell *c, uint32_t unit,
                       uint32_t event, uint32_t set, uint32_t variable)
{
	add_conflict(k, &c->write, unit, event, set, variable);
	for (guint i = 0; c->reads && i < c->reads->len; i++)
		add_conflict(k, &g_array_index(c->reads, struct unit_access, i), unit, event,
		             set, variable);
	if (c->reads)
		g_array_set_size(c->reads, 0);
	c->write = (struct unit_access){ unit, event, k->serials[unit] };
}

static void note_depth(struct graph_builder *k, uint32_t thread)
{
	guint depth = k->open[thread] ? k->open[thread]->len : 0;
	k->g->counts.accesses++;
	k->g->counts.depths += depth;
	k->g->counts.deepest = MAX(k->g->counts.deepest, depth);
}

static void access_variables(struct graph_builder *k, uint32_t event)
{
	const struct event *e = &k->t->events[event];
	struct wide run = event_variables(k->t, e);
	const uint32_t *start = (const uint32_t *)(void *)k->m->member_start->data;
	uint32_t own = NONE;
	for (uint32_t v = run.first; v < run.first + run.count; v++) {
		if (k->m->since->len && event < g_array_index(k->m->since, uint32_t, v))
			continue;
		for (uint32_t i = start[v]; i < start[v + 1]; i++) {
			uint32_t set = g_array_index(k->m->members, uint32_t, i);
			uint32_t unit = unit_of(k, event, set, &own);
			note_depth(k, e->thread);
			struct unit_use use = { unit, event, set, v };
			if (k->options->uses)
				g_array_append_val(k->options->uses, use);
			if (op_reads(e->op))
				read_cell(k, &k->cells[i], unit, event, set, v);
			if (op_writes(e->op))
				write_cell(k, &k->cells[i], unit, event, set, v);
		}
	}
	if (own != NONE)
		unit_end(k, own, event);
}

/* -- units ---------------------------------------------------------------------------- */

static int by_event(const void *key, const void *open)
{
	uint32_t a = *(const uint32_t *)key, b = ((const struct atomic_open *)open)->event;
	return a < b ? -1 : a > b;
}

static void split_units(struct graph_builder *k, uint32_t event);

static void open_unit(struct graph_builder *k, uint32_t event)
{
	if (k->m->cuts && k->m->cuts[k->t->events[event].target])
		split_units(k, event);
	const GArray *opens = k->m->opens;
	const struct atomic_open *o = opens->len ? bsearch(&event, opens->data, opens->len,
	                                                   sizeof(struct atomic_open), by_event)
	                                         : NULL;
	struct activation a = { .event = event, .begin = event, .unit = NONE };
	if (o != NULL) {
		a.first = o->first;
		a.count = o->count;
	}
	uint32_t thread = k->t->events[event].thread;
	if (k->open[thread] == NULL)
		k->open[thread] = g_array_new(FALSE, FALSE, sizeof a);
	g_array_append_val(k->open[thread], a);
}

static bool opens_like(const struct graph_builder *k, const struct activation *a, enum op close)
{
	return k->t->events[a->event].op == (close == OP_UEND ? OP_UBEG : OP_ENTER);
}

/* Scopes of different kinds nest independently: close the innermost one of the same kind. */
static void close_unit(struct graph_builder *k, uint32_t event)
{
	GArray *open = k->open[k->t->events[event].thread];
	for (guint i = open ? open->len : 0; i-- > 0;) {
		struct activation *a = &g_array_index(open, struct activation, i);
		if (!opens_like(k, a, k->t->events[event].op))
			continue;
		uint32_t unit = a->unit;
		g_array_remove_index(open, i);
		if (unit != NONE)
			unit_end(k, unit, event);
		return;
	}
}

static void split_units(struct graph_builder *k, uint32_t event)
{
	GArray *open = k->open[k->t->events[event].thread];
	for (guint i = 0; open && i < open->len; i++) {
		struct activation *a = &g_array_index(open, struct activation, i);
		if (a->unit != NONE)
			unit_end(k, a->unit, event);
		a->unit = NONE;
		a->begin = NONE;
		k->split[k->t->events[event].thread] = true;
	}
}

/* The first event of a thread after a split is the first of its open units' next parts. */
static void begin_parts(struct graph_builder *k, uint32_t event)
{
	uint32_t thread = k->t->events[event].thread;
	GArray *open = k->open[thread];

	for (guint i = 0; i < open->len; i++) {
		struct activation *a = &g_array_index(open, struct activation, i);
		if (a->begin == NONE)
			a->begin = event;
	}
	k->split[thread] = false;
}

static void graph_step(struct graph_builder *k, uint32_t event)
{
	const struct event *e = &k->t->events[event];
	if (event_inert(e))
		return;
	if (G_UNLIKELY(k->split[e->thread]))
		begin_parts(k, event);
	if (op_is_access(e->op))
		access_variables(k, event);
	else if (e->op == OP_UBEG || e->op == OP_ENTER)
		open_unit(k, event);
	else if (e->op == OP_UEND || e->op == OP_LEAVE)
		close_unit(k, event);
	else if (k->m->splits >> e->op & 1)
		split_units(k, event);
}

/* -- the graph ------------------------------------------------------------------------ */

static void maker_init(struct graph_builder *k, const struct trace *t,
                       const struct atomic_model *m)
{
	k->t = t;
	k->m = m;
	k->g = g_new0(struct conflict_graph, 1);
	k->g->units = g_array_new(FALSE, FALSE, sizeof(struct unit));
	k->g->conflicts = g_array_new(FALSE, FALSE, sizeof(struct conflict));
	k->cells = g_new0(struct set_cell, MAX(1, m->members->len));
	k->read_lists = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
	k->open = g_new0(GArray *, MAX(1, t->threads_count));
	k->split = g_new0(bool, MAX(1, t->threads_count));
	k->free_units = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	k->free_conflicts = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	k->work = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	k->over = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	if (k->options->settle)
		k->order = topology_new();
	BUG_ON(k->order && k->options->uses);
}

static void maker_release(struct graph_builder *k)
{
	g_ptr_array_unref(k->read_lists);
	arrays_free(k->open, k->t->threads_count);
	g_free(k->split);
	g_free(k->cells);
	g_free(k->serials);
	g_array_free(k->free_units, TRUE);
	g_array_free(k->free_conflicts, TRUE);
	g_array_free(k->work, TRUE);
	g_array_free(k->over, TRUE);
	topology_free(k->order);
}

static void graph_build(struct graph_builder *k, bool *going)
{
	const struct graph_options *o = k->options;
	uint64_t length = o->sequence ? o->length : k->t->events_count;
	for (uint64_t i = 0; i < length && *going; i++) {
		graph_step(k, o->sequence ? o->sequence[i] : (uint32_t)i);
		if ((i & 0xffff) == 0)
			*going = progress_tick(o->progress, (double)i / length,
			                       "conflict graph");
		if ((i & 0x3ff) == 0 && o->deadline != 0 &&
		    effort_microseconds() > o->deadline) {
			k->g->cut = true;
			break;
		}
	}
}

struct conflict_graph *conflict_graph_new(const struct trace *t, const struct atomic_model *m,
                                          const struct graph_options *options)
{
	static const struct graph_options defaults;
	struct graph_builder k = { .options = options ? options : &defaults };
	maker_init(&k, t, m);
	bool going = true;
	graph_build(&k, &going);
	maker_release(&k);
	if (going)
		return k.g;
	conflict_graph_free(k.g);
	return NULL;
}

void conflict_graph_free(struct conflict_graph *g)
{
	if (g == NULL)
		return;
	g_array_free(g->units, TRUE);
	g_array_free(g->conflicts, TRUE);
	g_free(g);
}
