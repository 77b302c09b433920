/*
 * witness.c - a witness: its claim, its trace, whether its events are the trace's. The checker
 * judges it, not this folder's other files.
 */
#include "engine/witness/witness.h"
#include "engine/base/file.h"

#include <string.h>

static const char *const claim_words[] = {
	[CLAIM_RACE] = "race",     [CLAIM_C11_RACE] = "c11-race", [CLAIM_COV] = "cov",
	[CLAIM_ATOMIC] = "atomic", [CLAIM_DEADLOCK] = "deadlock", [CLAIM_STUCK] = "stuck",
	[CLAIM_PREFIX] = "prefix", [CLAIM_REACH] = "reach",
};

const char *claim_word(enum claim claim)
{
	return claim_words[claim];
}

bool claim_waits(enum claim claim)
{
	return claim == CLAIM_DEADLOCK || claim == CLAIM_STUCK;
}

static bool events_fit(const struct trace *t, const GArray *events, struct error *error)
{
	for (guint i = 0; events != NULL && i < events->len; i++) {
		uint32_t e = g_array_index(events, uint32_t, i);

		if (e >= t->events_count)
			return error_set(
			        error, trace_name(t), NULL,
			        "the witness names event %u, the trace has %" G_GUINT64_FORMAT,
			        e, t->events_count);
	}
	return true;
}

bool witness_fits(const struct trace *t, const struct witness *w, struct error *error)
{
	for (guint i = 0; w->weak && i < w->weak->len; i++) {
		uint32_t store = g_array_index(w->weak, struct weak_source, i).store;

		if (store != NONE && store >= t->events_count)
			return error_set(
			        error, trace_name(t), "verify the witness with its own trace",
			        "the witness names event %u, and the trace has %" G_GUINT64_FORMAT,
			        store, t->events_count);
	}
	return events_fit(t, w->events, error) && events_fit(t, w->pair, error);
}

enum claim finding_claim(const struct finding *f)
{
	switch (f->kind) {
	case FINDING_DATA_RACE:
		return f->note != NULL ? CLAIM_C11_RACE : CLAIM_RACE;
	case FINDING_DEADLOCK:
		return CLAIM_DEADLOCK;
	case FINDING_STUCK:
		return CLAIM_STUCK;
	case FINDING_ATOMIC_SET_VIOLATION:
		return CLAIM_ATOMIC;
	default:
		return CLAIM_COV;
	}
}

uint32_t finding_recorded(const struct finding *f)
{
	const uint32_t *events = (const uint32_t *)(const void *)f->witness->data;
	uint32_t same = 0;

	if (finding_claim(f) != CLAIM_RACE)
		return 0;
	while (same + 2 < f->witness->len && events[same] == f->recorded + same)
		same++;
	return f->recorded + same;
}

bool finding_accepted(struct checker *c, const struct finding *f)
{
	g_autoptr(GArray) claimed = finding_claimed(f);
	const uint32_t *of = (const uint32_t *)(void *)claimed->data;
	const uint32_t *events = (const uint32_t *)(const void *)f->witness->data;
	uint32_t recorded = finding_recorded(f), same = recorded - f->recorded;

	if (finding_claim(f) == CLAIM_RACE)
		return checker_race_after(c, recorded, events + same, f->witness->len - same,
		                          of, NULL);
	BUG_ON(f->recorded > 0);
	return checker_claim(c, (struct event_list){ events, f->witness->len },
	                     claimed_of(finding_claim(f), of, claimed->len), NULL);
}

void witness_release(struct witness *w)
{
	g_free(w->trace_name);
	g_free(w->trace_digest);
	g_free(w->condition);
	if (w->pair != NULL)
		g_array_unref(w->pair);
	if (w->events != NULL)
		g_array_unref(w->events);
	if (w->weak != NULL)
		g_array_unref(w->weak);
	if (w->under_specs != NULL)
		g_ptr_array_unref(w->under_specs);
	*w = (struct witness){ 0 };
}

char *trace_digest(const struct trace *t)
{
	if (t->digest != NULL)
		return g_strdup(t->digest);
	char *digest = t->path == NULL ? NULL : file_digest(t->path);
	return digest != NULL ? digest : g_strdup("");
}

void witness_of_run(const struct trace *t, const char *path, struct witness *w)
{
	*w = (struct witness){ .claim = CLAIM_PREFIX,
		               .trace_name = g_path_get_basename(path),
		               .trace_digest = file_digest(path),
		               .memory = trace_model(t),
		               .events = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		               .weak = g_array_new(FALSE, FALSE, sizeof(struct weak_source)) };
	for (uint32_t e = 0; e < t->events_count; e++)
		if (!op_wants(t->events[e].op))
			g_array_append_val(w->events, e);
	g_array_append_vals(w->weak, t->weak, (guint)t->weak_count);
}
