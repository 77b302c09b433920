/*
 * smt_query.c - a query as data: its requirements, the clauses met so far, the least region;
 * and the facts of a trace that clauses speak of.
 */
#include "engine/predict/smt/smt_private.h"

#include <string.h>

enum { CLOCK_EVERY = 1 << 16 /* steps of work between two looks at the clock */ };

uint32_t seen_write(const struct trace *t, uint32_t r, uint32_t variable)
{
	return trace_writers(t, r).items[variable - event_variables(t, &t->events[r]).first];
}

bool has_choice(const struct smt *s, uint32_t r)
{
	return s->options.use_values && past_value_read(s->t, r) != 0;
}

bool may_see(const struct smt *s, uint32_t r, uint32_t variable, uint32_t w, uint32_t other)
{
	if (w == other)
		return true;
	if (!has_choice(s, r))
		return false;
	if (other == NONE)
		return s->initial_value[variable] == past_value_read(s->t, r);
	return past_value_written(s->t, other) == past_value_read(s->t, r);
}

bool sections_exclude(const struct trace *t, uint32_t a, uint32_t b)
{
	return t->events[a].thread != t->events[b].thread &&
	       (t->events[a].op == OP_ACQ || t->events[b].op == OP_ACQ);
}

/* ---- Queries ---- */

static guint clause_hash(gconstpointer p)
{
	const struct clause *c = p;
	guint hash = c->kind;

	for (int i = 0; i < 3; i++)
		hash = (hash ^ c->e[i]) * 0x9e3779b1u;
	return hash;
}

static gboolean clause_equal(gconstpointer a, gconstpointer b)
{
	return memcmp(a, b, sizeof(struct clause)) == 0;
}

struct smt_query *smt_query_new(struct smt *s)
{
	struct smt_query *q = g_new0(struct smt_query, 1);

	q->s = s;
	q->judged_from = NONE;
	q->required = g_array_new(FALSE, FALSE, sizeof(struct requirement));
	q->out = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	q->edges = g_array_new(FALSE, FALSE, sizeof(struct order_edge));
	q->atoms = g_array_new(FALSE, FALSE, sizeof(struct smt_atom));
	q->clauses = g_array_new(FALSE, FALSE, sizeof(struct clause));
	q->known = g_hash_table_new_full(clause_hash, clause_equal, g_free, NULL);
	q->base = g_new0(uint32_t, s->threads + 1);
	q->cut = g_new0(uint32_t, s->threads + 1);
	q->chosen = g_array_new(FALSE, FALSE, sizeof(struct order_edge));
	if (s->options.use_values)
		q->sources = g_hash_table_new(NULL, NULL);
	q->sequence = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	return q;
}

void smt_query_free(struct smt_query *q)
{
	if (q == NULL)
		return;
	g_array_free(q->required, TRUE);
	g_array_free(q->out, TRUE);
	g_array_free(q->edges, TRUE);
	g_array_free(q->atoms, TRUE);
	g_array_free(q->clauses, TRUE);
	g_hash_table_destroy(q->known);
	g_free(q->base);
	g_free(q->cut);
	g_array_free(q->chosen, TRUE);
	if (q->sources != NULL)
		g_hash_table_destroy(q->sources);
	g_array_free(q->sequence, TRUE);
	g_free(q);
}

static void require(struct smt_query *q, uint32_t e, bool next, bool unobserved)
{
	struct requirement r = { e, next, unobserved };

	g_array_append_val(q->required, r);
}

void smt_query_out(struct smt_query *q, uint32_t e)
{
	g_array_append_val(q->out, e);
}

void smt_query_next(struct smt_query *q, uint32_t e)
{
	require(q, e, true, false);
	smt_query_out(q, e);
}

void smt_query_in(struct smt_query *q, uint32_t e)
{
	require(q, e, false, false);
}

void smt_query_in_unobserved(struct smt_query *q, uint32_t e)
{
	uint32_t next = trace_next(q->s->t, e);

	require(q, e, false, true);
	if (next != NONE)
		smt_query_out(q, next);
}

void smt_query_before(struct smt_query *q, uint32_t e, uint32_t f)
{
	struct order_edge edge = { e, f };

	g_array_append_val(q->edges, edge);
	smt_query_in(q, e);
	smt_query_in(q, f);
}

void smt_query_require(struct smt_query *q, const struct smt_atom *atoms, uint32_t count)
{
	struct clause c = { CLAUSE_ATOMS, { q->atoms->len, count, 0 } };

	g_array_append_vals(q->atoms, atoms, count);
	query_add(q, c);
}

void smt_query_judge(struct smt_query *q, smt_judge *judge, void *context)
{
	q->judge = judge;
	q->judge_context = context;
}

bool query_add(struct smt_query *q, struct clause clause)
{
	struct clause source = { CLAUSE_SOURCE, { clause.e[0], 0, 0 } };

	if (g_hash_table_contains(q->known, &clause))
		return false;
	/* reads-from is a choice only when the read has one */
	if (clause.kind == CLAUSE_READ && has_choice(q->s, clause.e[0]))
		query_add(q, source);
	g_hash_table_add(q->known, g_memdup2(&clause, sizeof(clause)));
	g_array_append_val(q->clauses, clause);
	return true;
}

bool query_unobserved(const struct smt_query *q, uint32_t e)
{
	for (guint i = 0; i < q->required->len; i++) {
		const struct requirement *r =
		        &g_array_index(q->required, struct requirement, i);

		if (r->event == e && r->unobserved)
			return true;
	}
	return false;
}

bool query_has(const struct smt_query *q, uint32_t f, uint32_t e)
{
	if (e != f && query_unobserved(q, f))
		return past_has_before(q->s->past, f, e);
	return past_has(q->s->past, f, e);
}

bool query_never(const struct smt_query *q, uint32_t e)
{
	for (guint i = 0; i < q->out->len; i++) {
		if (query_has(q, e, g_array_index(q->out, uint32_t, i)))
			return true;
	}
	return false;
}

void query_make_base(struct smt_query *q)
{
	const struct trace *t = q->s->t;

	memset(q->base, 0, sizeof(uint32_t) * q->s->threads);
	for (guint i = 0; i < q->required->len; i++) {
		const struct requirement *r =
		        &g_array_index(q->required, struct requirement, i);
		uint32_t *own = &q->base[t->events[r->event].thread];

		if (r->next || r->unobserved)
			past_join_before(q->s->past, r->event, q->base);
		else
			past_join(q->s->past, r->event, q->base);
		if (r->unobserved)
			*own = MAX(*own, t->index->position[r->event] + 1);
	}
}

static gint edge_compare(gconstpointer a, gconstpointer b)
{
	const struct order_edge *e = a, *f = b;

	return e->after < f->after ? -1 : e->after > f->after;
}

void query_sort_chosen(struct smt_query *q)
{
	g_array_sort(q->chosen, edge_compare);
}

uint64_t query_region_size(const struct smt_query *q)
{
	uint64_t size = 0;

	for (uint32_t u = 0; u < q->s->threads; u++)
		size += q->cut[u];
	return size;
}

bool query_stopped(struct smt_query *q)
{
	if (q->stopped || q->s->work < q->work_check)
		return q->stopped;
	q->work_check = q->s->work + CLOCK_EVERY;
	q->stopped = effort_microseconds() >= q->deadline;
	return q->stopped;
}
