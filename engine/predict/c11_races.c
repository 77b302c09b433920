/*
 * c11_races.c - what the ladder adds at its end: pairs that are no predictable race, but a
 * race to C11, because only relaxed atomics keep them apart.
 *
 * Looks at nothing in a trace without relaxed atomics.
 */
#include "engine/predict/m2.h"
#include "engine/predict/predict_private.h"

enum { MOST_PAIRS = 200000 }; /* pairs that are looked at */

struct search {
	struct trace *t;
	const struct race_options *options;
	struct report *report;
	struct m2 *m2;
	GHashTable *units; /* key -> the unit's finding in the report */
	GArray *witness;
	uint64_t looked;
};

static gpointer unit_of(const struct search *s, uint32_t e1, uint32_t e2)
{
	uint32_t a = e1, b = e2;

	if (!s->options->pairs_events) {
		a = s->t->locations[s->t->events[e1].location].site;
		b = s->t->locations[s->t->events[e2].location].site;
	}
	return (gpointer)((uintptr_t)MIN(a, b) << 32 | MAX(a, b));
}

void c11_race_found(struct finding *f, const GArray *witness)
{
	f->verdict = VERDICT_RACE;
	f->note = "visible only as a C11 race";
	f->by = "c11";
	f->budget = NULL;
	proof_free(f->proof);
	f->proof = NULL;
	f->witness = g_array_sized_new(FALSE, FALSE, sizeof(uint32_t), witness->len);
	g_array_append_vals(f->witness, witness->data, witness->len);
}

static bool look(void *context, uint32_t e1, uint32_t e2)
{
	struct search *s = context;
	gpointer unit = unit_of(s, e1, e2);
	struct finding *known = g_hash_table_lookup(s->units, unit);

	if (known != NULL && known->verdict == VERDICT_RACE)
		return true;
	if (++s->looked > MOST_PAIRS)
		return false;
	if (!m2_c11_race(s->m2, e1, e2, s->witness))
		return true;
	if (known == NULL) {
		known = race_finding(s->t, e1, e2, VERDICT_RACE, "c11");
		g_hash_table_insert(s->units, unit, known);
		report_add(s->report, known);
	} else {
		known->first = e1;
		known->second = e2;
		known->count = 1;
		g_array_index(known->variables, uint32_t, 0) = race_variable(s->t, e1, e2);
	}
	c11_race_found(known, s->witness);
	return true;
}

bool c11_races_add(struct trace *t, const struct race_options *options, struct report *report,
		   const struct progress *progress)
{
	struct check_options check = { .use_missing = options->use_missing };
	struct search s = { .t = t, .options = options, .report = report };
	struct candidate_options candidates = { .race = options };
	bool going;

	if (!m2_has_relaxed(t))
		return true;
	s.m2 = m2_new(t, &check, progress);
	candidates.order = s.m2 == NULL ? NULL : order_new(t, ORDER_KIND_PO, progress);
	going = candidates.order != NULL;
	if (going) {
		s.units = g_hash_table_new(NULL, NULL);
		s.witness = g_array_new(FALSE, FALSE, sizeof(uint32_t));
		for (guint i = 0; i < report->findings->len; i++) {
			struct finding *f = report->findings->pdata[i];

			g_hash_table_insert(s.units, unit_of(&s, f->first, f->second), f);
		}
		going = candidates_events(t, &candidates, look, &s, progress) ||
			s.looked > MOST_PAIRS;
		if (s.looked > MOST_PAIRS)
			report->complete = false;
		report_sort(report);
		g_hash_table_destroy(s.units);
		g_array_unref(s.witness);
	}
	order_free((struct order *)candidates.order);
	m2_free(s.m2);
	return going;
}
