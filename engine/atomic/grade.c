/*
 * grade.c - confidence in cycles over inferred sets: grade A when a unit usually makes all its
 * accesses to a set in one critical section, and here did not.
 */
#include "engine/base/compare.h"
#include "engine/atomic/held.h"
#include "engine/atomic/model.h"
#include "engine/finding.h"
#include "engine/base/hash.h"

#include <stdlib.h>
#include <string.h>

#define HABIT_LEAST 3 /* activations that make a habit */

/* The habit of one function for sets of one kind. */
struct habit {
	uint32_t covered, total;
};

struct atomic_habits {
	GHashTable *by_code; /* function << 32 | kind -> struct habit *, owned */
	/* event << 32 | set: activations without a covering critical section. */
	GHashTable *uncovered;
	uint32_t *kinds; /* by set; owned */
};

/* The critical sections that contain all accesses of an activation to a set. */
struct habit_cover {
	uint32_t set;
	uint32_t acquires[4];
	uint32_t count;
};

struct open_unit {
	uint32_t event;
	const struct atomic_open *opens; /* NULL: on no set */
	GArray *covers;                  /* struct habit_cover, or NULL */
	GHashTable *cover_of;            /* set -> index in covers + 1 */
};

struct habit_lane {
	GArray *units; /* struct open_unit */
	GArray *held;  /* struct held_lock */
};

struct habit_pass {
	const struct atomic_model *m;
	const struct trace *t;
	struct habit_lane *lanes;
	guint next; /* in m->opens */
};

static gpointer pair_key(uint32_t a, uint32_t b)
{
	return GSIZE_TO_POINTER((uint64_t)a << 32 | b);
}

void atomic_habits_free(struct atomic_habits *h)
{
	if (h == NULL)
		return;
	g_hash_table_unref(h->by_code);
	g_hash_table_unref(h->uncovered);
	g_free(h->kinds);
	g_free(h);
}

/* -- covers ------------------------------------------------------------------------------- */

static bool still_held(const struct habit_lane *l, uint32_t acquire)
{
	for (guint h = 0; h < l->held->len; h++)
		if (g_array_index(l->held, struct held_lock, h).acquire == acquire)
			return true;
	return false;
}

static void narrow_cover(const struct habit_lane *l, struct habit_cover *c)
{
	uint32_t kept = 0;
	for (uint32_t a = 0; a < c->count; a++)
		if (still_held(l, c->acquires[a]))
			c->acquires[kept++] = c->acquires[a];
	c->count = kept;
}

static void note_cover(const struct habit_lane *l, struct open_unit *u, uint32_t set)
{
	if (u->covers == NULL) {
		u->covers = g_array_new(FALSE, FALSE, sizeof(struct habit_cover));
		u->cover_of = g_hash_table_new(hash_pointer, NULL);
	}
	guint known = GPOINTER_TO_UINT(g_hash_table_lookup(u->cover_of, GUINT_TO_POINTER(set)));
	if (known) {
		narrow_cover(l, &g_array_index(u->covers, struct habit_cover, known - 1));
		return;
	}
	struct habit_cover c = { .set = set };
	for (guint h = 0; h < l->held->len && c.count < G_N_ELEMENTS(c.acquires); h++)
		c.acquires[c.count++] = g_array_index(l->held, struct held_lock, h).acquire;
	g_array_append_val(u->covers, c);
	g_hash_table_insert(u->cover_of, GUINT_TO_POINTER(set),
	                    GUINT_TO_POINTER(u->covers->len));
}

static bool is_on(const struct habit_pass *n, const struct open_unit *u, uint32_t set)
{
	return u->opens &&
	       bsearch(&set, (const uint32_t *)(void *)n->m->open_sets->data + u->opens->first,
	               u->opens->count, sizeof set, compare_u32) != NULL;
}

static void note_access(struct habit_pass *n, uint32_t event)
{
	const struct event *e = &n->t->events[event];
	const uint32_t *start = (const uint32_t *)(void *)n->m->member_start->data;
	struct wide run = event_variables(n->t, e);
	struct habit_lane *l = &n->lanes[e->thread];
	for (uint32_t v = run.first; v < run.first + run.count; v++) {
		if (event < g_array_index(n->m->since, uint32_t, v))
			continue;
		for (uint32_t i = start[v]; i < start[v + 1]; i++)
			for (guint f = 0; f < l->units->len; f++) {
				struct open_unit *u =
				        &g_array_index(l->units, struct open_unit, f);
				uint32_t set = g_array_index(n->m->members, uint32_t, i);
				if (is_on(n, u, set))
					note_cover(l, u, set);
			}
	}
}

/* -- habits ------------------------------------------------------------------------------- */

static void note_habits(struct habit_pass *n, struct open_unit *u)
{
	struct atomic_habits *h = n->m->habits;
	for (guint i = 0; u->covers && i < u->covers->len; i++) {
		const struct habit_cover *c = &g_array_index(u->covers, struct habit_cover, i);
		gpointer code = pair_key(n->t->events[u->event].target, h->kinds[c->set]);
		struct habit *habit = g_hash_table_lookup(h->by_code, code);
		if (habit == NULL)
			g_hash_table_insert(h->by_code, code, habit = g_new0(struct habit, 1));
		habit->total++;
		habit->covered += c->count > 0;
		if (c->count == 0)
			g_hash_table_add(h->uncovered, pair_key(u->event, c->set));
	}
}

static void end_unit(struct habit_pass *n, struct habit_lane *l)
{
	if (l->units->len == 0)
		return;
	struct open_unit *u = &g_array_index(l->units, struct open_unit, l->units->len - 1);
	note_habits(n, u);
	if (u->covers) {
		g_array_free(u->covers, TRUE);
		g_hash_table_unref(u->cover_of);
	}
	g_array_set_size(l->units, l->units->len - 1);
}

static void begin_unit(struct habit_pass *n, struct habit_lane *l, uint32_t event)
{
	struct open_unit u = { .event = event };
	if (n->next < n->m->opens->len) {
		const struct atomic_open *o =
		        &g_array_index(n->m->opens, struct atomic_open, n->next);
		if (o->event == event) {
			u.opens = o;
			n->next++;
		}
	}
	g_array_append_val(l->units, u);
}

static void note_event(struct habit_pass *n, uint32_t event)
{
	const struct event *e = &n->t->events[event];
	struct habit_lane *l = &n->lanes[e->thread];
	if (op_is_access(e->op))
		note_access(n, event);
	else if (e->op == OP_ENTER)
		begin_unit(n, l, event);
	else if (e->op == OP_LEAVE)
		end_unit(n, l);
	else if (op_acquires(e->op) || op_releases(e->op))
		held_note(l->held, event, e);
}

void atomic_habits_note(struct atomic_model *m, const struct trace *t, const uint32_t *kinds)
{
	struct habit_pass n = { .m = m, .t = t };
	m->habits = g_new0(struct atomic_habits, 1);
	m->habits->by_code = g_hash_table_new_full(hash_pointer, NULL, NULL, g_free);
	m->habits->uncovered = g_hash_table_new(hash_pointer, NULL);
	m->habits->kinds = g_memdup2(kinds, (m->sets->len + 1) * sizeof *kinds);
	n.lanes = g_new0(struct habit_lane, t->threads_count + 1);
	for (uint64_t i = 0; i < t->threads_count; i++) {
		n.lanes[i].units = g_array_new(FALSE, FALSE, sizeof(struct open_unit));
		n.lanes[i].held = g_array_new(FALSE, FALSE, sizeof(struct held_lock));
	}
	for (uint32_t i = 0; i < t->events_count; i++)
		if (!event_inert(&t->events[i]))
			note_event(&n, i);
	for (uint64_t i = 0; i < t->threads_count; i++) {
		while (n.lanes[i].units->len)
			end_unit(&n, &n.lanes[i]);
		g_array_free(n.lanes[i].units, TRUE);
		g_array_free(n.lanes[i].held, TRUE);
	}
	g_free(n.lanes);
}

/* -- grades ------------------------------------------------------------------------------- */

static bool breaks_habit(const struct atomic_model *m, const struct trace *t,
                         const struct cycle_unit *u, const char *set)
{
	const struct atomic_habits *h = m->habits;
	uint32_t s = 0;
	while (s < m->sets->len && strcmp(m->sets->pdata[s], set) != 0)
		s++;
	if (s == m->sets->len || t->events[u->begin].op != OP_ENTER)
		return false;
	const struct habit *habit = g_hash_table_lookup(
	        h->by_code, pair_key(t->events[u->begin].target, h->kinds[s]));
	return g_hash_table_contains(h->uncovered, pair_key(u->begin, s)) && habit != NULL &&
	       habit->total >= HABIT_LEAST && 2 * habit->covered >= habit->total;
}

char atomic_model_grade(const struct atomic_model *m, const struct trace *t,
                        const struct finding *f)
{
	if (m->habits == NULL)
		return f->grade;
	for (guint i = 0; !f->mixed && i < f->edges->len; i++) {
		const struct cycle_edge *e = &g_array_index(f->edges, struct cycle_edge, i);
		const char *set = f->sets->pdata[e->set];
		if (breaks_habit(m, t, &g_array_index(f->units, struct cycle_unit, e->from),
		                 set) ||
		    breaks_habit(m, t, &g_array_index(f->units, struct cycle_unit, e->to), set))
			return 'A';
	}
	return 'C';
}
