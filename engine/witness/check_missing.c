/*
 * check_missing.c - must-orders of barrier pairs (RDIT; semantics.md, "Barrier pairs"),
 * computed again from the events.
 */
#include "engine/base/arrays.h"
#include "engine/trace/stems.h"
#include "engine/witness/check_private.h"

#include <string.h>

/* An address that some uninstrumented call may reach. */
struct missing_place {
	const char *name;
	uint32_t last; /* last event of a barrier pair that reaches it, or NONE */
	GArray *since; /* uint32_t: accesses after `last`, the last of each thread */
};

struct missing {
	GArray *places;       /* struct missing_place */
	GHashTable *of_text;  /* a place's name -> its index plus one */
	size_t longest;       /* of these names */
	GHashTable *of_name;  /* string -> GArray of indices of the places that contain it */
	struct stems *stems;  /* of the places' names */
	GArray **of_variable; /* the same by variable; made when it is first accessed */
	GArray *none;         /* the list of all variables that no place contains */
	GArray **open;        /* by thread: uint32_t, open calls */
};

static void add_place(const struct missing *m, const char *text, GArray *list)
{
	uint32_t number = GPOINTER_TO_UINT(g_hash_table_lookup(m->of_text, text));

	if (number == 0)
		return;
	number--;
	g_array_append_val(list, number);
}

/* The places that contain a name: `p` contains p itself, p.f, p[i] and p+N; `*p` also p->f and
 * p[i]. So those that the name is, or continues. */
static void add_places(const struct missing *m, const char *name, GArray *list)
{
	size_t length = strlen(name), end = MIN(length, m->longest);
	g_autofree char *starred = g_strconcat("*", name, NULL);

	for (; end > 0; end--) {
		char next = name[end];
		bool index = next == '[', field = next == '-' && name[end + 1] == '>';

		starred[1 + end] = '\0';
		if (index || next == '.' || next == '+' || next == '\0')
			add_place(m, starred + 1, list);
		if (index || field)
			add_place(m, starred, list);
	}
}

static GArray *places_of(struct missing *m, const char *name, uint32_t string)
{
	GArray *list = g_hash_table_lookup(m->of_name, GUINT_TO_POINTER(string + 1));

	if (list == NULL)
		add_places(m, name, list = facts_list(m->of_name, string));
	return list;
}

static GArray *places_of_variable(struct missing *m, const struct trace *t, uint32_t v)
{
	GArray *list = m->of_variable[v];

	if (list == NULL && stems_may_begin(m->stems, v)) {
		list = g_array_new(FALSE, FALSE, sizeof(uint32_t));
		add_places(m, trace_variable_name(t, v), list);
		if (list->len == 0)
			g_clear_pointer(&list, g_array_unref);
	}
	m->of_variable[v] = list != NULL ? list : m->none;
	return m->of_variable[v];
}

static void missing_member(struct checker *c, struct missing_place *p, uint32_t e)
{
	if (p->last != NONE && p->last != e)
		facts_need(&c->f, e, p->last);
	for (guint i = 0; i < p->since->len; i++)
		facts_need(&c->f, e, g_array_index(p->since, uint32_t, i));
	g_array_set_size(p->since, 0);
	p->last = e;
}

/* Orders an access after the chain's last event; a thread's later access covers its earlier
 * ones. */
static void missing_access(struct checker *c, struct missing_place *p, uint32_t e)
{
	for (guint i = 0; i < p->since->len; i++) {
		uint32_t *other = &g_array_index(p->since, uint32_t, i);

		if (at(c, *other)->thread == at(c, e)->thread) {
			*other = e;
			return;
		}
	}
	if (p->last != NONE)
		facts_need(&c->f, e, p->last);
	g_array_append_val(p->since, e);
}

/* An access to the name whose places are listed, or (`inside`: the name) an event of a barrier
 * pair that reaches it. `members`: only the place of that name; otherwise those that contain
 * it. */
static void missing_touch(struct checker *c, struct missing *m, const GArray *list, uint32_t e,
                          const char *inside, bool members)
{
	for (guint i = 0; i < list->len; i++) {
		struct missing_place *p = &g_array_index(m->places, struct missing_place,
		                                         g_array_index(list, uint32_t, i));

		if (inside != NULL && strcmp(p->name, inside) == 0) {
			if (members)
				missing_member(c, p, e);
			continue;
		}
		if (members || p->last == e ||
		    (p->since->len > 0 &&
		     g_array_index(p->since, uint32_t, p->since->len - 1) == e))
			continue; /* the access is in a barrier pair of this address, or
			           * recorded already */
		missing_access(c, p, e);
	}
}

/* Tokens of a call's addresses: a range of indices of trace.values. */
static struct wide missing_reach(const struct trace *t, uint32_t miss)
{
	const struct value v = trace_value(t, t->events[miss].aux);

	if (t->events[miss].aux == 0 || v.kind != V_LIST)
		return (struct wide){ 0 };
	return (struct wide){ v.first, v.count };
}

static uint32_t missing_token(const struct trace *t, uint32_t value)
{
	const struct value v = trace_value(t, value);

	return v.kind == V_TOKEN || v.kind == V_STRING ? v.string : NONE;
}

/* An event inside a call touches everything that the call may reach. */
static void missing_inside(struct checker *c, struct missing *m, uint32_t e, bool members)
{
	const struct trace *t = c->t;
	GArray *open = m->open[t->events[e].thread];

	for (guint i = 0; i < open->len; i++) {
		struct wide reach = missing_reach(t, g_array_index(open, uint32_t, i));

		for (uint32_t k = reach.first; k < reach.first + reach.count; k++) {
			uint32_t token = missing_token(t, t->value_lists[k]);

			if (token == NONE)
				continue;
			const char *name = trace_string(c->t, token);
			missing_touch(c, m, places_of(m, name, token), e, name, members);
		}
	}
}

static void missing_touch_string(struct checker *c, struct missing *m, uint32_t string,
                                 uint32_t e)
{
	missing_touch(c, m, places_of(m, trace_string(c->t, string), string), e, NULL, false);
}

static void missing_event(struct checker *c, struct missing *m, uint32_t e)
{
	const struct trace *t = c->t;
	const struct event *x = &t->events[e];
	GArray *open = m->open[x->thread];

	if (x->op == OP_MISS && !event_inert(x))
		g_array_append_val(open, e);
	missing_inside(c, m, e, true);
	missing_inside(c, m, e, false);
	if (event_inert(x))
		return;
	if (x->op == OP_BACK && open->len > 0)
		g_array_set_size(open, open->len - 1); /* calls nest */
	if (op_table[x->op].operand == OPERAND_OBJECT)
		missing_touch_string(c, m, t->objects[x->target].name, e);
	if (x->op == OP_END)
		missing_touch_string(c, m, t->threads[x->thread].name, e);
	if (!op_is_access(x->op))
		return;
	struct wide run = event_variables(t, x);
	for (uint32_t v = run.first; v < run.first + run.count; v++)
		missing_touch(c, m, places_of_variable(m, t, v), e, NULL, false);
}

static void missing_places(const struct checker *c, struct missing *m)
{
	g_autoptr(GHashTable) known = g_hash_table_new(NULL, NULL);

	for (uint32_t e = 0; e < c->t->events_count; e++) {
		struct wide reach = { 0 };

		if (at(c, e)->op == OP_MISS && !event_inert(at(c, e)))
			reach = missing_reach(c->t, e);
		for (uint32_t k = reach.first; k < reach.first + reach.count; k++) {
			uint32_t token = missing_token(c->t, c->t->value_lists[k]);
			struct missing_place p = { .last = NONE };

			if (token == NONE ||
			    !g_hash_table_add(known, GUINT_TO_POINTER(token + 1)))
				continue;
			p.name = trace_string(c->t, token);
			p.since = g_array_new(FALSE, FALSE, sizeof(uint32_t));
			g_array_append_val(m->places, p);
			m->longest = MAX(m->longest, strlen(p.name));
			g_hash_table_insert(m->of_text, (gpointer)p.name,
			                    GUINT_TO_POINTER(m->places->len));
		}
	}
}

/* Barrier pairs with a common address keep the order of their events, as do a barrier pair and
 * an access to one of its addresses: for each address, events of barrier pairs are a chain, and
 * an access is ordered between its neighbours. */
void facts_missing(struct checker *c)
{
	struct missing m = {
		.places = g_array_new(FALSE, FALSE, sizeof(struct missing_place)),
		.of_text = g_hash_table_new(g_str_hash, g_str_equal),
		.of_name = facts_lists(),
		.of_variable = g_new0(GArray *, c->t->variables_count + 1),
		.open = g_new0(GArray *, c->t->threads_count + 1),
	};

	missing_places(c, &m);
	g_autofree const char **names =
	        (const char **)g_hash_table_get_keys_as_array(m.of_text, NULL);
	m.stems = stems_new(c->t, names);
	m.none = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	for (uint32_t u = 0; u < c->t->threads_count; u++)
		m.open[u] = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	for (uint32_t e = 0; m.places->len > 0 && e < c->t->events_count; e++)
		missing_event(c, &m, e);
	for (uint32_t u = 0; u < c->t->threads_count; u++)
		g_array_unref(m.open[u]);
	for (guint i = 0; i < m.places->len; i++)
		g_array_unref(g_array_index(m.places, struct missing_place, i).since);
	g_array_unref(m.places);
	stems_free(m.stems);
	g_hash_table_destroy(m.of_text);
	g_hash_table_destroy(m.of_name);
	for (uint64_t v = 0; v < c->t->variables_count; v++) {
		if (m.of_variable[v] == m.none)
			m.of_variable[v] = NULL;
	}
	g_array_unref(m.none);
	arrays_free(m.of_variable, c->t->variables_count);
	g_free(m.open);
}
