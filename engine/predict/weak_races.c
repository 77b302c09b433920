/* weak_races.c - see weak_races.h. */
#include "engine/predict/weak_races.h"
#include "engine/memory/need.h"
#include "engine/witness/check_weak.h"

/* Notes of a race: its two accesses can be next to each other, or relaxed atomics separate them
 * in every run. */
static const char next_note[] = "happens-before leaves the two unordered in this run";
static const char apart_note[] = "visible only as a C11 race";

static bool is_run(const struct trace *t, const GArray *events, enum weak_model model,
                   const uint32_t pair[2], GString *reason)
{
	g_autoptr(GArray) said =
	        model == trace_model(t) ? run_sources(t, events)
	                                : g_array_new(FALSE, FALSE, sizeof(struct weak_source));
	return witness_check_weak(t, event_list_of(events), said, model, pair, reason);
}

/* The events with the pair moved to the end, as a race is shown; unmoved when that is no run of
 * the model. Owned by the caller. */
static GArray *pair_last(const struct trace *t, const GArray *events, enum weak_model model,
                         const uint32_t pair[2])
{
	GArray *last = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_autoptr(GString) reason = g_string_new(NULL);
	for (guint i = 0; i < events->len; i++) {
		uint32_t e = g_array_index(events, uint32_t, i);
		if (e != pair[0] && e != pair[1])
			g_array_append_val(last, e);
	}
	g_array_append_vals(last, pair, 2);
	if (!is_run(t, last, model, pair, reason)) {
		g_array_set_size(last, 0);
		g_array_append_vals(last, events->data, events->len);
	}
	return last;
}

static bool ends_with(const GArray *events, const uint32_t pair[2])
{
	return events->len >= 2 &&
	       g_array_index(events, uint32_t, events->len - 2) == pair[0] &&
	       g_array_index(events, uint32_t, events->len - 1) == pair[1];
}

/* A sequentially consistent order in which the two race, checked; or NULL. `none`: no order of
 * the past has the values. */
static GArray *without_weak_memory(const struct trace *t, const GArray *past,
                                   const uint32_t pair[2], bool *none)
{
	g_autoptr(GString) reason = g_string_new(NULL);
	GArray *order = NULL;
	*none = false;
	for (int by_value = 0; by_value < 2 && order == NULL && !*none; by_value++) {
		enum reorder_result found = run_reorder(t, past, WEAK_SC, by_value, &order);
		*none = by_value && found == REORDER_NONE;
		if (found == REORDER_FOUND && !is_run(t, order, WEAK_SC, pair, reason)) {
			g_array_free(order, TRUE);
			order = NULL;
		}
	}
	return order;
}

/* The weakest sufficient model of a race that no sequentially consistent order has. */
static const char *weak_model_needed(const struct trace *t, const GArray *past)
{
	GArray *order = NULL;
	if (trace_model(t) == WEAK_TSO)
		return weak_model_words[WEAK_TSO];
	enum reorder_result found = run_reorder(t, past, WEAK_TSO, false, &order);
	if (found == REORDER_FOUND) {
		g_array_free(order, TRUE);
		return weak_model_words[WEAK_TSO];
	}
	/* Other stores of the same values could order the two. */
	found = run_reorder(t, past, WEAK_TSO, true, &order);
	if (found == REORDER_FOUND)
		g_array_free(order, TRUE);
	return found == REORDER_NONE ? weak_model_words[WEAK_RC11] : NULL;
}

bool weak_race_settle(const struct trace *t, struct finding *f, GString *reason)
{
	const uint32_t pair[2] = { f->first, f->second };
	GString *text = reason ? reason : g_string_new(NULL);
	g_autoptr(GArray) past = run_past(t, pair, 2);
	bool none, good = is_run(t, past, trace_model(t), pair, text);
	if (good) {
		g_autoptr(GArray) order = without_weak_memory(t, past, pair, &none);
		f->verdict = VERDICT_RACE;
		f->memory = order  ? weak_model_words[WEAK_SC]
		            : none ? weak_model_needed(t, past)
		                   : NULL;
		if (f->witness)
			g_array_unref(f->witness);
		f->witness = pair_last(t, order ? order : past,
		                       order ? WEAK_SC : trace_model(t), pair);
		f->note = ends_with(f->witness, pair) ? next_note : apart_note;
	}
	if (reason == NULL)
		g_string_free(text, TRUE);
	return good;
}

void weak_races_settle(const struct trace *t, struct report *report)
{
	g_autoptr(GString) reason = g_string_new(NULL);
	bool weak = trace_weak_first(t) != NONE;
	for (guint i = 0; i < report->findings->len; i++) {
		struct finding *f = report->findings->pdata[i];
		if (f->kind != FINDING_DATA_RACE || f->verdict == VERDICT_IMPOSSIBLE)
			continue;
		g_string_truncate(reason, 0);
		if (!weak && f->witness)
			f->memory = weak_model_words[WEAK_SC];
		if (weak && !weak_race_settle(t, f, reason))
			report_note(report, "events %u and %u: not checked: %s", f->first,
			            f->second, reason->str);
	}
}

void witness_add_memory(const struct trace *t, const struct finding *f, struct witness *w)
{
	bool needs = f->memory == NULL || strcmp(f->memory, weak_model_words[WEAK_SC]) != 0;
	w->memory = needs ? trace_model(t) : WEAK_SC;
	w->weak = needs ? run_sources(t, f->witness)
	                : g_array_new(FALSE, FALSE, sizeof(struct weak_source));
}

const char *weak_race_sentence(const struct finding *f)
{
	static const char *const sentences[] = {
		[WEAK_SC] =
		        "it needs no weak memory: a sequentially consistent run has it, too",
		[WEAK_TSO] = "it needs weak memory: no sequentially consistent run has these "
		             "values, store buffers (tso) give them",
		[WEAK_RC11] =
		        "it needs weak memory: no run under sc or tso has these values, rc11 "
		        "gives them",
	};
	for (int i = 0; f->memory && weak_model_words[i]; i++)
		if (strcmp(f->memory, weak_model_words[i]) == 0)
			return sentences[i];
	return NULL;
}
