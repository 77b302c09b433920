/*
 * ladder_units.c - the verdict of each unit (a pair of sites, or with --pairs events of
 * events): races go to the report, other findings are kept until the end.
 */
#include "engine/predict/ladder/ladder_private.h"

#include "engine/base/hash.h"
#include "engine/witness/minimise.h"
#include "engine/trace/own_site.h"

#include <string.h>

static uint64_t unit_in(const struct trace *t, const struct race_options *options, uint32_t e1,
                        uint32_t e2)
{
	uint32_t a = e1, b = e2;

	if (!options->pairs_events) {
		a = own_site(t, e1);
		b = own_site(t, e2);
	}
	return (uint64_t)MIN(a, b) << 32 | MAX(a, b);
}

uint64_t ladder_unit(const struct ladder *l, uint32_t e1, uint32_t e2)
{
	return unit_in(l->t, l->options, e1, e2);
}

struct finding *ladder_settled(const struct ladder *l, uint64_t unit)
{
	return g_hash_table_lookup(l->settled, &unit);
}

static void settle(struct ladder *l, uint64_t unit, struct finding *f)
{
	g_hash_table_replace(l->settled, g_memdup2(&unit, sizeof(unit)), f);
}

/* The variables of a finding with many, as a set. */
static GHashTable *variable_set(const struct ladder *l, const struct finding *f)
{
	GHashTable *set = g_hash_table_lookup(l->variables, f);

	if (set != NULL)
		return set;
	set = g_hash_table_new(hash_pointer, NULL);
	for (guint i = 0; i < f->variables->len; i++)
		g_hash_table_add(set,
		                 GUINT_TO_POINTER(g_array_index(f->variables, uint32_t, i)));
	g_hash_table_insert(l->variables, (gpointer)f, set);
	return set;
}

bool ladder_has_variable(const struct ladder *l, const struct finding *f, uint32_t variable)
{
	enum { FEW = 16 };

	if (f->variables->len > FEW)
		return g_hash_table_contains(variable_set(l, f), GUINT_TO_POINTER(variable));
	for (guint i = 0; i < f->variables->len; i++) {
		if (g_array_index(f->variables, uint32_t, i) == variable)
			return true;
	}
	return false;
}

void ladder_merge_variables(const struct ladder *l, struct finding *into,
                            const struct finding *from)
{
	for (guint i = 0; from->exact != NULL && i < from->exact->len; i++) {
		struct exact_pair pair = *finding_exact(from, i);

		if (into->lifted && !from->lifted)
			ladder_lift_pair(l->projection, &pair);
		finding_add_pair(into, &pair);
	}
	for (guint i = 0; from->variables != NULL && i < from->variables->len; i++) {
		uint32_t v = g_array_index(from->variables, uint32_t, i);

		if (ladder_has_variable(l, into, v))
			continue;
		g_array_append_val(into->variables, v);
		GHashTable *set = g_hash_table_lookup(l->variables, into);
		if (set != NULL)
			g_hash_table_add(set, GUINT_TO_POINTER(v));
	}
}

struct finding *ladder_known_race(const struct ladder *l, uint64_t unit)
{
	struct finding *f = ladder_settled(l, unit);

	return f != NULL && f->verdict == VERDICT_RACE ? f : NULL;
}

enum race_known ladder_known_so_far(const void *ladder, uint32_t e1, uint32_t e2,
                                    uint32_t variable)
{
	const struct ladder *l = ladder;
	const struct finding *f = ladder_known_race(l, ladder_unit(l, e1, e2));

	return f == NULL                             ? RACE_UNKNOWN
	       : ladder_has_variable(l, f, variable) ? RACE_OF_VARIABLE
	                                             : RACE_OF_SITES;
}

struct finding *ladder_take_finding(const struct ladder *l, struct finding *f, const char *by)
{
	struct finding *g = finding_new(f->kind, f->first, f->second);

	g->verdict = f->verdict;
	g->count = f->count;
	g->counted_all = f->counted_all;
	g->note = f->note;
	g->by = f->by != NULL ? f->by : by;
	g->variables = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	ladder_merge_variables(l, g, f);
	g->witness = g_steal_pointer(&f->witness);
	g->recorded = f->recorded;
	return g;
}

/* Is there room for the witness in the report? */
static bool has_room(const struct ladder *l, const struct finding *f)
{
	uint64_t length = f->witness == NULL ? 0 : (uint64_t)f->recorded + f->witness->len;

	return l->witness_events + length <= l->options->witness_events;
}

/* Reduce context switches if cheap; 'heddle witness' does it for longer witnesses. Independent
 * of other races, so that shards give the same results; but of a witness that will not be kept
 * it is left out, as it costs many times its length. */
static void polish(struct ladder *l, struct finding *f)
{
	const uint32_t pair[] = { f->first, f->second };

	if (f->witness == NULL || f->recorded > 0 || l->options->pairs_events ||
	    !has_room(l, f))
		return;
	GArray *shorter = witness_minimised(
	        race_tools_checker(&l->tools, l->t, l->options), l->t,
	        claimed_of(f->note ? CLAIM_C11_RACE : CLAIM_RACE, pair, 2), f->witness);
	g_array_unref(f->witness);
	f->witness = shorter;
}

/* Reports a race, once for each unit; events are those of the whole trace. */
static void notify_race(const struct ladder *l, const struct finding *f)
{
	uint64_t unit = unit_in(l->report->trace, l->options, f->first, f->second);

	if (l->options->found != NULL &&
	    g_hash_table_add(l->notified, g_memdup2(&unit, sizeof(unit))))
		l->options->found(l->options->found_context, f);
}

void ladder_publish(struct ladder *l, struct finding *f)
{
	uint64_t length = f->witness == NULL ? 0 : (uint64_t)f->recorded + f->witness->len;

	if (!has_room(l, f))
		g_clear_pointer(&f->witness, g_array_unref);
	if (f->witness == NULL) {
		f->recorded = 0;
		l->left_out++;
	} else {
		l->witness_events += length;
		if (f->recorded > 0)
			finding_complete(f);
	}
	notify_race(l, f);
	report_add(l->report, f);
}

void ladder_add_race(struct ladder *l, uint64_t unit, struct finding *f)
{
	polish(l, f);
	settle(l, unit, f);
	if (l->projection == NULL)
		ladder_publish(l, f);
	else
		g_ptr_array_add(l->unlifted, f);
}

struct finding *ladder_other_unit(struct ladder *l, uint64_t unit, uint32_t e1, uint32_t e2)
{
	struct finding *f = ladder_settled(l, unit);

	if (f != NULL)
		return f;
	f = race_finding(l->t, e1, e2, VERDICT_IMPOSSIBLE, "cone");
	f->count = 0;
	f->counted_all = true;
	g_ptr_array_add(l->others, f);
	settle(l, unit, f);
	return f;
}

void ladder_note_unknown(struct finding *unit, enum open_reason open, uint32_t e1, uint32_t e2)
{
	unit->count++;
	if (unit->verdict == VERDICT_UNKNOWN)
		return;
	unit->verdict = VERDICT_UNKNOWN;
	unit->open = open;
	unit->by = NULL;
	unit->first = MIN(e1, e2);
	unit->second = MAX(e1, e2);
	proof_free(unit->proof);
	unit->proof = NULL;
}

void ladder_note_impossible(struct ladder *l, struct finding *unit, const struct proof *proof,
                            const char *by)
{
	if (l->doubt && strcmp(by, "lockset") != 0) {
		ladder_note_unknown(unit, OPEN_INCOMPLETE, unit->first, unit->second);
		return;
	}
	unit->count++;
	if (unit->verdict != VERDICT_IMPOSSIBLE)
		return;
	if (unit->proof == NULL) {
		unit->proof = ladder_proof_copy(proof);
		unit->by = by;
	} else if (proof->same_pairing) {
		unit->proof->same_pairing = true;
	}
}

void ladder_note_race(struct ladder *l, uint64_t unit, struct finding *race)
{
	struct finding *was = ladder_settled(l, unit);

	if (was != NULL) {
		g_ptr_array_remove_fast(l->others, was);
		race->count += was->count;
	}
	ladder_add_race(l, unit, race);
	if (was != NULL) {
		g_hash_table_remove(l->variables, was);
		finding_free(was);
	}
}
