/*
 * model.c - atomic sets and units from the trace's own declarations.
 */
#include "engine/base/compare.h"
#include "engine/atomic/model.h"

#include <stdlib.h>
#include <string.h>

struct atomic_model *atomic_model_new(const struct trace *t)
{
	struct atomic_model *m = g_new0(struct atomic_model, 1);
	m->sets = g_ptr_array_new_with_free_func(g_free);
	m->by_name = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	m->grades = g_array_new(FALSE, FALSE, sizeof(char));
	m->member_start = g_array_new(FALSE, TRUE, sizeof(uint32_t));
	m->members = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	m->opens = g_array_new(FALSE, FALSE, sizeof(struct atomic_open));
	m->open_sets = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	m->since = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	m->notes = g_ptr_array_new_with_free_func(g_free);
	m->splits = UINT64_C(1) << OP_WAIT;
	return m;
}

void atomic_model_free(struct atomic_model *m)
{
	if (m == NULL)
		return;
	g_ptr_array_free(m->sets, TRUE);
	g_hash_table_unref(m->by_name);
	g_array_free(m->grades, TRUE);
	g_array_free(m->member_start, TRUE);
	g_array_free(m->members, TRUE);
	g_array_free(m->opens, TRUE);
	g_array_free(m->open_sets, TRUE);
	g_array_free(m->since, TRUE);
	g_free(m->cuts);
	g_free(m->inferred);
	g_free(m->closed);
	atomic_habits_free(m->habits);
	g_ptr_array_free(m->notes, TRUE);
	g_free(m);
}

uint32_t atomic_model_set(struct atomic_model *m, const char *name, char grade)
{
	guint known = GPOINTER_TO_UINT(g_hash_table_lookup(m->by_name, name));
	if (known)
		return known - 1;
	g_ptr_array_add(m->sets, g_strdup(name));
	g_array_append_val(m->grades, grade);
	g_hash_table_insert(m->by_name, g_strdup(name), GUINT_TO_POINTER(m->sets->len));
	return m->sets->len - 1;
}

/* -- members ---------------------------------------------------------------------------- */

static int by_variable(gconstpointer a, gconstpointer b)
{
	const struct membership *x = a, *y = b;
	if (x->variable != y->variable)
		return x->variable < y->variable ? -1 : 1;
	return x->set < y->set ? -1 : x->set > y->set;
}

void atomic_model_members(struct atomic_model *m, const struct trace *t, GArray *memberships)
{
	g_array_sort(memberships, by_variable);
	g_array_set_size(m->member_start, 0);
	g_array_set_size(m->members, 0);
	guint next = 0;
	for (uint32_t v = 0; v < t->variables_count; v++) {
		g_array_append_val(m->member_start, m->members->len);
		for (uint32_t last = NONE; next < memberships->len; next++) {
			const struct membership *x =
			        &g_array_index(memberships, struct membership, next);
			if (x->variable != v)
				break;
			if (x->set != last)
				g_array_append_val(m->members, x->set);
			last = x->set;
		}
	}
	g_array_append_val(m->member_start, m->members->len);
}

GArray *atomic_model_memberships(const struct atomic_model *m, const struct trace *t)
{
	GArray *all = g_array_new(FALSE, FALSE, sizeof(struct membership));
	const uint32_t *start = (const uint32_t *)(void *)m->member_start->data;
	for (uint32_t v = 0; m->members->len > 0 && v < t->variables_count; v++)
		for (uint32_t i = start[v]; i < start[v + 1]; i++) {
			struct membership x = { v, g_array_index(m->members, uint32_t, i) };
			g_array_append_val(all, x);
		}
	return all;
}

/* -- units -------------------------------------------------------------------------------- */

/* Ascending, for binary search in units on thousands of sets. */
static void sort_open(GArray *open_sets, const struct atomic_open *o)
{
	if (o->count > 1)
		qsort(&g_array_index(open_sets, uint32_t, o->first), o->count, sizeof(uint32_t),
		      compare_u32);
}

static void add_open(GArray *opens, GArray *open_sets, uint32_t event, const uint32_t *old,
                     guint old_count, const GArray *new)
{
	struct atomic_open o = { event, open_sets->len, old_count + (new ? new->len : 0) };
	g_array_append_vals(open_sets, old, old_count);
	if (new)
		g_array_append_vals(open_sets, new->data, new->len);
	sort_open(open_sets, &o);
	g_array_append_val(opens, o);
}

void atomic_model_opens(struct atomic_model *m, const struct trace *t, GArray *const *sets)
{
	GArray *opens = g_array_new(FALSE, FALSE, sizeof(struct atomic_open));
	GArray *open_sets = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	guint next = 0;
	for (uint32_t e = 0; e < t->events_count; e++) {
		const uint32_t *old = NULL;
		guint old_count = 0;
		if (next < m->opens->len &&
		    g_array_index(m->opens, struct atomic_open, next).event == e) {
			const struct atomic_open *o =
			        &g_array_index(m->opens, struct atomic_open, next++);
			old = &g_array_index(m->open_sets, uint32_t, o->first);
			old_count = o->count;
		}
		if (old != NULL || sets[e] != NULL)
			add_open(opens, open_sets, e, old, old_count, sets[e]);
	}
	g_array_free(m->opens, TRUE);
	g_array_free(m->open_sets, TRUE);
	m->opens = opens;
	m->open_sets = open_sets;
}

/* The i-th token of a V_LIST. */
static const char *list_token(const struct trace *t, uint32_t list, uint32_t i)
{
	const struct value v = trace_value(t, t->value_lists[trace_value(t, list).first + i]);
	return trace_string(t, v.string);
}

static uint32_t list_length(const struct trace *t, uint32_t list)
{
	return trace_value(t, list).kind == V_LIST ? trace_value(t, list).count : 0;
}

/* Sets by name of a member: char * -> GArray of uint32_t. */
static GHashTable *sets_of_names(const struct trace *t, struct atomic_model *m)
{
	GHashTable *by_name = g_hash_table_new_full(g_str_hash, g_str_equal, NULL,
	                                            (GDestroyNotify)g_array_unref);
	for (uint64_t i = 0; i < t->atomic_sets_count; i++) {
		const struct atomic_set *s = &t->atomic_sets[i];
		uint32_t set = atomic_model_set(m, trace_string(t, s->name), 'B');
		for (uint32_t k = 0; k < list_length(t, s->members); k++) {
			const char *name = list_token(t, s->members, k);
			GArray *sets = g_hash_table_lookup(by_name, name);
			if (sets == NULL) {
				sets = g_array_new(FALSE, FALSE, sizeof(uint32_t));
				g_hash_table_insert(by_name, (char *)name, sets);
			}
			g_array_append_val(sets, set);
		}
	}
	return by_name;
}

/* A member names a variable, or the base "p" of variables "p+0", "p+4". */
static const GArray *sets_of_variable(const struct trace *t, GHashTable *by_name, uint32_t v)
{
	const char *name = trace_variable_name(t, v);
	const GArray *sets = g_hash_table_lookup(by_name, name);
	if (sets)
		return sets;
	const char *plus = strrchr(name, '+');
	if (plus == NULL)
		return NULL;
	g_autofree char *base = g_strndup(name, plus - name);
	sets = g_hash_table_lookup(by_name, base);
	return sets;
}

static void add_members(const struct trace *t, struct atomic_model *m)
{
	g_autoptr(GHashTable) by_name = sets_of_names(t, m);
	for (uint32_t v = 0; v < t->variables_count; v++) {
		const GArray *sets = sets_of_variable(t, by_name, v);
		g_array_append_val(m->member_start, m->members->len);
		if (sets)
			g_array_append_vals(m->members, sets->data, sets->len);
	}
	g_array_append_val(m->member_start, m->members->len);
}

static void add_units(const struct trace *t, struct atomic_model *m)
{
	for (uint32_t e = 0; e < t->events_count; e++) {
		if (t->events[e].op != OP_UBEG || event_inert(&t->events[e]))
			continue;
		struct atomic_open open = { .event = e, .first = m->open_sets->len };
		open.count = list_length(t, t->events[e].aux);
		for (uint32_t k = 0; k < open.count; k++) {
			uint32_t set =
			        atomic_model_set(m, list_token(t, t->events[e].aux, k), 'B');
			g_array_append_val(m->open_sets, set);
		}
		sort_open(m->open_sets, &open);
		g_array_append_val(m->opens, open);
	}
}

struct atomic_model *atomic_model_declared(const struct trace *t)
{
	struct atomic_model *m = atomic_model_new(t);
	add_members(t, m);
	add_units(t, m);
	return m;
}
