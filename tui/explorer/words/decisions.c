/* decisions.c - see decisions.h. */
#include "engine/base/compare.h"
#include "tui/explorer/words/decisions.h"

#include "engine/trace/shown.h"
#include "tui/explorer/schedule.h"

enum { MOST_SEARCHED = 4000000 }; /* events, a few hundredths of a second */

/* The values of a variable that a unit saw and wrote. */
struct knowledge {
	uint32_t unit, variable;
	uint32_t seen; /* its first read, since it last wrote */
	bool old;      /* another unit has written the variable since */
};

struct decision_search {
	const struct session *s;
	const struct finding *f;
	GArray *known; /* struct knowledge */
	GArray *rows;  /* struct decision */
	GArray *of;    /* uint32_t, by row: its variable */
};

static void decision_clear(void *data)
{
	struct decision *d = data;
	g_free(d->text);
	g_free(d->old);
}

static const struct event *event_of(const struct decision_search *d, uint32_t e)
{
	return &d->s->trace->events[e];
}

static bool edge_names(const struct finding *f, uint32_t e)
{
	for (guint i = 0; i < f->edges->len; i++) {
		const struct cycle_edge *x = &g_array_index(f->edges, struct cycle_edge, i);
		if (x->events[0] == e || x->events[1] == e)
			return true;
	}
	return false;
}

/* The unit that has the event, or NONE. */
static guint unit_of(const struct decision_search *d, uint32_t e)
{
	for (guint i = 0; i < d->f->units->len; i++) {
		const struct cycle_unit *u = &g_array_index(d->f->units, struct cycle_unit, i);
		if (u->thread == event_of(d, e)->thread && u->begin <= e && e <= u->end)
			return i;
	}
	return NONE;
}

/* The variable of an edge that the event accesses, or NONE. */
static uint32_t variable_of(const struct decision_search *d, uint32_t e)
{
	const struct event *x = event_of(d, e);
	if (!op_is_access(x->op) || event_inert(x))
		return NONE;
	struct wide run = event_variables(d->s->trace, x);
	for (guint i = 0; i < d->f->edges->len; i++) {
		uint32_t v = g_array_index(d->f->edges, struct cycle_edge, i).variable;
		if (v >= run.first && v < run.first + run.count)
			return v;
	}
	return NONE;
}

static struct knowledge *knowledge_of(struct decision_search *d, guint unit, uint32_t variable)
{
	for (guint i = 0; i < d->known->len; i++) {
		struct knowledge *k = &g_array_index(d->known, struct knowledge, i);
		if (k->unit == unit && k->variable == variable)
			return k;
	}
	struct knowledge k = { unit, variable, NONE, false };
	g_array_append_val(d->known, k);
	return &g_array_index(d->known, struct knowledge, d->known->len - 1);
}

/* Is the last row this unit's read of the variable, with no other use? */
static bool ends_with_read(const struct decision_search *d, guint unit, uint32_t variable)
{
	if (d->rows->len == 0)
		return false;
	const struct decision *last =
	        &g_array_index(d->rows, struct decision, d->rows->len - 1);
	return last->unit == unit &&
	       g_array_index(d->of, uint32_t, d->of->len - 1) == variable &&
	       !op_writes(event_of(d, last->event)->op) && !edge_names(d->f, last->event);
}

static char *what_was_old(const struct decision_search *d, const struct knowledge *k)
{
	const struct event *x = event_of(d, k->seen);
	if (!k->old || k->seen == NONE)
		return NULL;
	GString *out = g_string_new("it had read ");
	if (x->aux != 0)
		shown_append(d->s->trace, shown_variable(x), x->aux, k->seen, out);
	else
		g_string_append(out, "it");
	g_string_append(out, ", which is old");
	return g_string_free(out, FALSE);
}

/* The unit's write: the values that other units have read are old from now on. */
static char *note_write(struct decision_search *d, guint unit, uint32_t variable)
{
	char *old = what_was_old(d, knowledge_of(d, unit, variable));
	for (guint i = 0; i < d->known->len; i++) {
		struct knowledge *k = &g_array_index(d->known, struct knowledge, i);
		k->old |= k->variable == variable && k->unit != unit;
	}
	struct knowledge *own = knowledge_of(d, unit, variable);
	own->seen = NONE;
	own->old = false;
	return old;
}

/* Add the access as a row; `stage`: at that step of the witness. */
static void add_access(struct decision_search *d, uint32_t e, const struct stage *stage,
                       guint step)
{
	guint unit = unit_of(d, e);
	uint32_t variable = unit == NONE ? NONE : variable_of(d, e);
	if (variable == NONE)
		return;
	struct decision row = { .event = e, .unit = unit };
	if (op_writes(event_of(d, e)->op)) {
		if (ends_with_read(d, unit, variable)) {
			g_array_set_size(d->rows, d->rows->len - 1);
			g_array_set_size(d->of, d->of->len - 1);
		}
		row.old = note_write(d, unit, variable);
	} else {
		struct knowledge *k = knowledge_of(d, unit, variable);
		if (k->seen != NONE && !k->old && !edge_names(d->f, e))
			return;
		if (k->seen == NONE)
			k->seen = e;
	}
	GString *text = g_string_new(NULL);
	if (stage)
		stage_describe(stage, e, step, text);
	else
		describe_event(d->s, e, text);
	row.text = g_string_free(text, FALSE);
	g_array_append_val(d->rows, row);
	g_array_append_val(d->of, variable);
}

/* The units' accesses to the edges' variables, as recorded. */
static GArray *recorded_accesses(const struct decision_search *d)
{
	GArray *events = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	uint64_t searched = 0;
	for (guint i = 0; i < d->f->units->len; i++) {
		const struct cycle_unit *u = &g_array_index(d->f->units, struct cycle_unit, i);
		searched += u->end - u->begin;
		for (uint64_t e = u->begin; e <= u->end && searched <= MOST_SEARCHED; e++) {
			uint32_t event = (uint32_t)e;
			if (event_of(d, event)->thread == u->thread &&
			    variable_of(d, event) != NONE)
				g_array_append_val(events, event);
		}
	}
	for (guint i = 0; i < d->f->edges->len && searched > MOST_SEARCHED; i++)
		g_array_append_vals(events,
		                    g_array_index(d->f->edges, struct cycle_edge, i).events, 2);
	g_array_sort(events, compare_u32);
	return events;
}

GArray *decisions_of(const struct session *s, const struct finding *f)
{
	struct decision_search d = { .s = s,
		                     .f = f,
		                     .known = g_array_new(FALSE, FALSE,
		                                          sizeof(struct knowledge)),
		                     .rows = g_array_new(FALSE, FALSE, sizeof(struct decision)),
		                     .of = g_array_new(FALSE, FALSE, sizeof(uint32_t)) };
	g_autoptr(GArray) events = f->witness ? g_array_ref(f->witness) : recorded_accesses(&d);
	struct stage stage;
	g_array_set_clear_func(d.rows, decision_clear);
	if (f->witness)
		stage_init(&stage, s, events, false);
	for (guint i = 0; i < events->len; i++) {
		uint32_t e = g_array_index(events, uint32_t, i);
		if (i == 0 || e != g_array_index(events, uint32_t, i - 1))
			add_access(&d, e, f->witness ? &stage : NULL, i);
	}
	if (f->witness)
		stage_release(&stage);
	g_array_unref(d.known);
	g_array_unref(d.of);
	return d.rows;
}
