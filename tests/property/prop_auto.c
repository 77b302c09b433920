/*
 * prop_auto.c - the whole reports of `smt` and `auto` on random small traces, against
 * exhaustive search: with --pairs events exactly the races, with --pairs sites a race where
 * any pair of the sites is one, and impossible only where none is.
 */
#include "engine/predict/predict_private.h"
#include "engine/predict/race.h"
#include "engine/predict/smt/smt.h"
#include "tests/property/mix.h"

#include <stdio.h>

static const struct {
	race_run *run;
	const char *name;
} analyses[] = { { races_smt, "smt" }, { races_auto, "auto" } };

static bool complain(const struct trace *t, const char *analysis, uint32_t a, uint32_t b,
                     const char *what)
{
	char *text = trace_text(t);

	printf("%s\n%s, %u and %u: %s\n", text, analysis, a, b, what);
	g_free(text);
	return false;
}

static uint32_t unit(const struct trace *t, uint32_t e, bool events)
{
	return events ? e : t->locations[t->events[e].location].site;
}

static bool is_unit(const struct trace *t, const struct finding *f, uint32_t a, uint32_t b,
                    bool events)
{
	uint32_t x = unit(t, f->first, events), y = unit(t, f->second, events);

	return (x == a && y == b) || (x == b && y == a);
}

/* The verdict that the report gives the unit; VERDICT_CANDIDATE where it names it not. */
static enum verdict verdict_of(const struct report *r, uint32_t a, uint32_t b, bool events)
{
	enum verdict verdict = VERDICT_CANDIDATE;

	for (guint i = 0; i < r->findings->len; i++) {
		const struct finding *f = r->findings->pdata[i];

		/* visible only as a C11 race: no predictable one, see prop_c11.c */
		if (is_unit(r->trace, f, a, b, events))
			verdict = f->note != NULL ? VERDICT_HAPPENED : f->verdict;
	}
	return verdict;
}

/* Every race has a witness that ends with its pair. */
static bool witnessed(const struct report *r, bool values)
{
	for (guint i = 0; i < r->findings->len; i++) {
		const struct finding *f = r->findings->pdata[i];

		if (f->verdict != VERDICT_RACE || f->note != NULL)
			continue;
		if (f->witness == NULL || f->witness->len < 2)
			return complain(r->trace, r->analysis, f->first, f->second,
			                "no witness");
		const uint32_t *w = (const uint32_t *)(const void *)f->witness->data;
		if (w[f->witness->len - 2] + w[f->witness->len - 1] != f->first + f->second ||
		    !oracle_is_reordering(r->trace, w, f->witness->len - 2, values))
			return complain(r->trace, r->analysis, f->first, f->second,
			                "bad witness");
	}
	return true;
}

/* `cut`: for want of time some may have no verdict, but no wrong one; and it is said. */
static bool compare(const struct trace *t, const struct report *r, const bool *races,
                    bool events, bool values, bool cut)
{
	uint32_t n = (uint32_t)t->events_count;
	uint32_t units = events ? n : (uint32_t)t->sites_count;
	bool *racy = g_new0(bool, (size_t)units *units + 1), good;

	/* the one thing that is not searched: races by C11 alone under --values */
	good = r->complete || cut || (values && mix_hides_c11(t));

	if (!good)
		complain(t, r->analysis, 0, 0, "not complete");
	for (uint32_t e = 0; e < n; e++) {
		for (uint32_t f = e + 1; f < n; f++) {
			uint32_t a = unit(t, e, events), b = unit(t, f, events);

			if (races[(size_t)e * n + f])
				racy[(size_t)MIN(a, b) * units + MAX(a, b)] = true;
		}
	}
	for (uint32_t a = 0; a < units && good; a++) {
		for (uint32_t b = a; b < units && good; b++) {
			enum verdict v = verdict_of(r, a, b, events);

			if (v == VERDICT_HAPPENED && !events)
				continue; /* may represent a pair of either kind */
			if (racy[(size_t)a * units + b] && v != VERDICT_RACE &&
			    (!cut || v == VERDICT_IMPOSSIBLE || r->complete))
				good = complain(t, r->analysis, a, b, "a race is missed");
			if (!racy[(size_t)a * units + b] && v == VERDICT_RACE)
				good = complain(t, r->analysis, a, b, "no race");
		}
	}
	g_free(racy);
	return good;
}

struct way {
	bool values, events, all;
	bool paid;     /* going through pairs is not free */
	bool cut;      /* out of time */
	bool projects; /* `auto` on a projection */
};

static bool analyse(struct trace *t, const struct way *way)
{
	bool values = way->values, events = way->events;
	bool *races = oracle_races(t, values), good = true;
	struct race_options options;

	race_options_init(&options);
	options.use_values = values;
	options.pairs_events = events;
	options.all_verdicts = way->all;
	options.no_free_steps = way->paid || way->cut;
	options.projects_always = way->projects;
	options.lifts_last = way->events;
	options.budget_pair = options.budget_total = way->cut ? 0 : MIX_SECONDS;
	for (size_t i = 0; i < G_N_ELEMENTS(analyses) && good; i++) {
		struct error error = { .where = "" };
		struct report *r = analyses[i].run(t, &options, NULL, &error);

		good = r != NULL ? compare(t, r, races, events, values, way->cut) &&
		                           witnessed(r, values)
		                 : complain(t, analyses[i].name, 0, 0, error.what);
		report_free(r);
	}
	g_free(races);
	return good;
}

static bool one(uint64_t seed)
{
	struct random_options o = mix_options(seed, 2 + seed % 3, 8 + seed % 13);
	struct trace *t = random_trace(seed, &o);
	struct way way = { .values = o.values && seed % 2 == 0,
		           .events = seed % 4 < 2,
		           .all = seed % 8 < 4,
		           .paid = seed % 16 < 8,
		           .cut = seed % 64 < 16,
		           .projects = seed / 2 % 2 == 0 };
	bool good = analyse(t, &way);

	trace_close(t);
	return good;
}

int main(int argc, char **argv)
{
	return mix_main(argc, argv, "smt and auto against search", 5000, one);
}
