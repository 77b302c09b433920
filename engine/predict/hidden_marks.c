/*
 * hidden_marks.c - findings whose witness may not be what the program does: in its order a
 * store of a bit-field takes other bits beside it from memory (hidden_reads.h) than in the run,
 * and an access of the witness reads the bytes afterwards. Such findings become candidates,
 * which name the store.
 *
 * Linear in the trace and the witnesses; nothing where no finding has a witness.
 */
#include "engine/predict/hidden_reads.h"
#include "engine/predict/predict.h"

#include <string.h>

struct marks {
	const struct trace *t;
	bool *stores;   /* by location: hidden_reads_at */
	bool *touched;  /* by variable: one of these stores writes it */
	uint32_t *last; /* by variable of those: the last write + 1 */
	uint32_t
	        *taken; /* by variable of those: the store + 1 whose bits may be others; or 0 */
	GHashTable *before; /* uint64_t: a store's event -> the writes that it saw in the run,
	                       as a number */
};

static bool has_witness(const struct finding *f)
{
	return f->verdict == VERDICT_RACE && f->witness != NULL && f->witness->len > 0;
}

static uint32_t witness_event(const struct finding *f, guint i)
{
	return g_array_index(f->witness, uint32_t, i);
}

static bool is_store(const struct marks *m, uint32_t e)
{
	const struct event *x = &m->t->events[e];
	return x->op == OP_WRITE && !event_inert(x) && m->stores[x->location];
}

/* The stores of the witnesses; false: none reads. */
static bool find_stores(struct marks *m, const struct report *report)
{
	const struct trace *t = m->t;
	g_autofree bool *asked = g_new0(bool, t->locations_count + 1);
	bool any = false;
	for (guint i = 0; i < report->findings->len; i++) {
		const struct finding *f = report->findings->pdata[i];
		for (guint k = 0; has_witness(f) && k < f->witness->len; k++) {
			const struct event *x = &t->events[witness_event(f, k)];
			asked[x->location] |= x->op == OP_WRITE;
			any |= x->op == OP_WRITE;
		}
	}
	if (!any)
		return false;
	GHashTable *known = hidden_reads_new();
	m->stores = hidden_reads_at(known, t, asked);
	g_hash_table_unref(known);
	return m->stores != NULL;
}

/* The last writes of the store's variables, as a number. */
static uint64_t seen_by(const struct marks *m, uint32_t e)
{
	struct wide w = event_variables(m->t, &m->t->events[e]);
	uint64_t seen = 1;
	for (uint32_t v = w.first; v < w.first + w.count; v++)
		seen = seen * 0x9e3779b97f4a7c15u + m->last[v];
	return seen;
}

static void put(struct marks *m, uint32_t e, uint32_t taken)
{
	struct wide w = event_variables(m->t, &m->t->events[e]);
	for (uint32_t v = w.first; v < w.first + w.count; v++) {
		m->last[v] = m->touched[v] ? e + 1 : 0;
		m->taken[v] = m->touched[v] ? taken : 0;
	}
}

static void find_before(struct marks *m)
{
	const struct trace *t = m->t;
	for (uint32_t e = 0; e < t->events_count; e++) {
		if (!is_store(m, e))
			continue;
		struct wide w = event_variables(t, &t->events[e]);
		memset(m->touched + w.first, true, w.count);
	}
	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		if (!op_is_access(x->op) || event_inert(x) || !op_writes(x->op))
			continue;
		if (is_store(m, e)) {
			uint64_t event = e, seen = seen_by(m, e);
			g_hash_table_insert(m->before, g_memdup2(&event, sizeof event),
			                    g_memdup2(&seen, sizeof seen));
		}
		put(m, e, 0);
	}
}

static uint32_t taken_by(const struct marks *m, uint32_t e)
{
	struct wide w = event_variables(m->t, &m->t->events[e]);
	for (uint32_t v = w.first; v < w.first + w.count; v++)
		if (m->taken[v] != 0)
			return m->taken[v];
	return 0;
}

/* The store whose bits another access of the witness sees, and may see otherwise; or NONE. */
static uint32_t find_spoilt(struct marks *m, const struct finding *f)
{
	const struct trace *t = m->t;
	for (guint i = 0; i < f->witness->len; i++) {
		uint64_t e = witness_event(f, i);
		const struct event *x = &t->events[e];
		if (!op_is_access(x->op) || event_inert(x) || e == f->first || e == f->second)
			continue;
		uint32_t taken = taken_by(m, (uint32_t)e);
		if (op_reads(x->op) && taken != 0)
			return taken - 1;
		if (!op_writes(x->op))
			continue;
		const uint64_t *before =
		        is_store(m, (uint32_t)e) ? g_hash_table_lookup(m->before, &e) : NULL;
		if (before != NULL && *before != seen_by(m, (uint32_t)e))
			taken = (uint32_t)e + 1;
		put(m, (uint32_t)e, before != NULL ? taken : 0);
	}
	return NONE;
}

/* Forgets the writes of a sequence. */
static void forget(struct marks *m, const GArray *witness)
{
	for (guint i = 0; i < witness->len; i++) {
		const struct event *x = &m->t->events[g_array_index(witness, uint32_t, i)];
		struct wide w =
		        op_is_access(x->op) ? event_variables(m->t, x) : (struct wide){ 0 };
		for (uint32_t v = w.first; v < w.first + w.count; v++)
			m->last[v] = m->taken[v] = 0;
	}
}

void findings_mark_hidden(const struct trace *t, struct report *report)
{
	struct marks m = { .t = t };
	unsigned marked = 0;
	if (!find_stores(&m, report))
		return;
	m.touched = g_new0(bool, t->variables_count + 1);
	m.last = g_new0(uint32_t, t->variables_count + 1);
	m.taken = g_new0(uint32_t, t->variables_count + 1);
	m.before = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
	find_before(&m);
	memset(m.last, 0, t->variables_count * sizeof *m.last);
	for (guint i = 0; i < report->findings->len; i++) {
		struct finding *f = report->findings->pdata[i];
		if (!has_witness(f))
			continue;
		uint32_t store = find_spoilt(&m, f);
		forget(&m, f->witness);
		if (store == NONE)
			continue;
		g_free(f->missing);
		f->missing = g_strdup_printf(
		        "only if the bits that the store of a bit-field at %s takes "
		        "from memory beside it make no difference",
		        trace_location_name(t, store));
		f->verdict = VERDICT_CANDIDATE;
		marked++;
	}
	if (marked > 0)
		report_note(
		        report,
		        "%u of these are candidates: a store of a bit-field takes the bits beside it "
		        "from memory, which gcc tells no hook, and they are others in the witness "
		        "(clang tells them: CC=clang heddle cc)",
		        marked);
	g_hash_table_unref(m.before);
	g_free(m.stores);
	g_free(m.touched);
	g_free(m.last);
	g_free(m.taken);
}
