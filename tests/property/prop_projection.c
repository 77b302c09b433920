/*
 * prop_projection.c - a trace without the accesses that no reordering can turn
 * (engine/predict/ladder/projection.h) has the same races: `auto` says the same of a random
 * trace and of its projection, finding by finding, and its lifted witnesses are accepted by the
 * checker, which has the trace alone. (prop_auto compares both with exhaustive search.)
 */
#include "engine/predict/ladder/projection.h"

#include "engine/base/aside.h"
#include "tests/property/mix.h"
#include "tests/property/says.h"
#include "tests/support/coverage.h"

#include <stdio.h>
#include <string.h>

static uint64_t dropped, opened, named_otherwise;

static uint32_t count_races(const struct report *r)
{
	uint32_t races = 0;

	for (guint i = 0; i < r->findings->len; i++)
		races += ((struct finding *)r->findings->pdata[i])->verdict == VERDICT_RACE;
	return races;
}

/* What `text` says of the findings, without their variables: the numbers behind the last colon
 * of a line. */
static char *without_variables(const char *text)
{
	GString *out = g_string_new(NULL);
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	for (char **line = lines; *line != NULL; line++) {
		char *colon = strrchr(*line, ':');
		g_auto(GStrv) words = g_strsplit(colon != NULL ? colon + 1 : "", " ", -1);
		g_string_append_len(out, *line,
		                    colon != NULL ? colon - *line : (gssize)strlen(*line));
		for (char **word = words; *word != NULL; word++)
			if (!g_ascii_isdigit(**word))
				g_string_append_printf(out, " %s", *word);
		g_string_append_c(out, '\n');
	}
	return g_string_free(out, FALSE);
}

/* The same findings? Two places that race are tried on further variables without the solver,
 * and what such a try finds may depend on what the solver has learned before. */
static bool alike(const char *whole, const char *projected)
{
	if (strcmp(whole, projected) == 0)
		return true;
	g_autofree char *a = without_variables(whole), *b = without_variables(projected);
	named_otherwise++;
	return strcmp(a, b) == 0;
}

static bool same(struct trace *t, bool events, bool by_order, uint64_t witness_events)
{
	struct race_options o;
	bool complete, projected_complete;

	race_options_init(&o);
	o.pairs_events = events;
	o.list_unknown = true;
	o.witness_events = witness_events;
	o.budget_pair = o.budget_total = MIX_SECONDS;
	o.shares_always = by_order || witness_events < 50;
	g_autofree char *whole = says(t, &o, false, true, &complete);
	o.projects_always = true;
	o.projects_by_order = by_order;
	o.lifts_last = events != by_order;
	o.shares_always = !o.shares_always || witness_events % 2;
	g_autofree char *projected = says(t, &o, false, true, &projected_complete);
	bool good =
	        whole && projected && alike(whole, projected) && complete == projected_complete;
	if (!good) {
		g_autofree char *text = trace_text(t);

		printf("%s%s:\nwhole\n%sprojection\n%s", text, events ? "events" : "sites",
		       whole ? whole : "(refused)\n", projected ? projected : "(refused)\n");
	}
	return good;
}

/* A witness that the checker refuses after it was taken over makes no race: everything is
 * decided anew without the projection, or, as of a long trace, that pair alone stays open. */
static bool refused(struct trace *t, bool last)
{
	struct race_options o;
	bool complete, refused_complete;

	race_options_init(&o);
	o.pairs_events = o.list_unknown = true;
	o.budget_pair = o.budget_total = MIX_SECONDS;
	o.projects_always = true;
	o.lifts_last = last;
	struct error error;
	struct report *all = races_find(t, &o, NULL, &error);
	o.lift_refused = true;
	struct report *r = races_find(t, &o, NULL, &error);
	uint32_t races = count_races(all), left = count_races(r);
	complete = all->complete;
	refused_complete = r->complete;
	bool one = last && races > 0;
	bool good = all->findings->len == r->findings->len && left + one == races &&
	            refused_complete == (complete && !one);
	for (guint i = 0; good && i < r->findings->len; i++) {
		const struct finding *a = all->findings->pdata[i], *b = r->findings->pdata[i];

		good = a->first == b->first && a->second == b->second;
	}
	opened += one;
	if (!good)
		printf("%u races, %u with a refusal%s; complete: %d, %d\n", races, left,
		       last ? " in the end" : "", complete, refused_complete);
	report_free(all);
	report_free(r);
	return good;
}

/* Pairs of places reported as found, and whether one was reported twice. */
struct told {
	const struct trace *t;
	GHashTable *pairs;
	bool again;
};

static void tell(void *context, const struct finding *race)
{
	struct told *told = context;
	const struct event *events = told->t->events;
	uint64_t a = told->t->locations[events[race->first].location].site,
	         b = told->t->locations[events[race->second].location].site;

	told->again |= !g_hash_table_add(told->pairs,
	                                 (gpointer)(uintptr_t)(MIN(a, b) << 32 | MAX(a, b)));
}

/* Each race is reported once, also where the projection is given up after some. */
static bool told_once(struct trace *t, uint64_t witness_events, bool is_refused)
{
	struct told told = { t, g_hash_table_new(NULL, NULL), false };
	struct race_options o;
	struct error error;

	race_options_init(&o);
	o.projects_always = true;
	o.lift_refused = is_refused;
	o.witness_events = witness_events;
	o.budget_pair = o.budget_total = MIX_SECONDS;
	o.found = tell;
	o.found_context = &told;
	struct report *r = races_find(t, &o, NULL, &error);
	uint32_t races = r == NULL ? 0 : count_races(r);
	bool good = r != NULL && !told.again && g_hash_table_size(told.pairs) == races;
	if (!good)
		printf("%u races, %u told%s\n", races, g_hash_table_size(told.pairs),
		       told.again ? ", one again" : "");
	g_hash_table_destroy(told.pairs);
	report_free(r);
	return good;
}

/* Either thread may be the faster one, at each of their meetings. */
static void delay_threads(uint64_t seed)
{
	enum { MOST = 200 }; /* microseconds */

	aside_work_delay = seed % 3 == 0 ? (uint32_t)(seed / 3 % MOST) : 0;
	aside_caller_delay = seed % 3 == 1 ? (uint32_t)(seed / 3 % MOST) : 0;
}

static bool one(uint64_t seed)
{
	struct random_options o = mix_options(seed, 2 + seed % 5, 12 + seed % 60);
	bool good, cancelled;

	delay_threads(seed);
	o.variables = 1 + seed % 14;
	o.forks |= seed % 3 == 0;
	o.joins |= seed % 6 == 0;
	struct trace *t = random_trace(seed, &o);
	struct projection *p = projection_new(t, NULL, 0, NULL, NULL, &cancelled);
	if (p != NULL && p->trace->events_count < t->events_count) {
		dropped += t->events_count - p->trace->events_count;
		coverage_add("projections without some events", 1);
	}
	projection_free(p);
	/* room for all witnesses, or for a few */
	uint64_t room = seed % 4 == 0 ? seed % 100 : UINT32_MAX;
	good = same(t, false, seed % 2, room) && same(t, true, seed % 3 == 0, room) &&
	       told_once(t, room, seed % 2) && refused(t, seed % 2);
	trace_close(t);
	return good;
}

int main(int argc, char **argv)
{
	int status = mix_main(argc, argv, "projections", 4000, one);

	printf("%" G_GUINT64_FORMAT " events dropped, %" G_GUINT64_FORMAT
	       " findings, %" G_GUINT64_FORMAT " left open, %" G_GUINT64_FORMAT
	       " comparisons with other variables\n",
	       dropped, says_findings, opened, named_otherwise);
	enum { FEW = 10 };
	return status != 0 || dropped == 0 || opened == 0 || named_otherwise > FEW;
}
