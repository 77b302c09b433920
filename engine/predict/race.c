/*
 * race.c - see race.h.
 */
#include "engine/base/hash.h"
#include "engine/predict/race.h"

#include "engine/predict/m2/m2.h"
#include "engine/predict/pairs/candidates.h"

void report_note_left_out(struct report *report, uint64_t witnesses)
{
	if (witnesses > 0)
		report_note(report,
		            "witnesses checked and not kept, as they are too long: "
		            "%" G_GUINT64_FORMAT "; 'heddle witness' gives each of them",
		            witnesses);
}

void report_note_effort(struct report *report, const struct race_options *options)
{
	report->complete = false;
	report->budget_spent = true;
	report_note(report,
	            "--budget (%g,%g) was gone before all candidates had been gone through, so "
	            "some are in no list; a larger one goes further",
	            options->budget_pair, options->budget_total);
}

void report_note_invocations(struct report *report, const struct trace *t, const char *remedy)
{
	const struct trace_index *ix = t->index;
	bool kept = false;

	for (uint64_t i = 0; ix != NULL && i < ix->must_count && !kept; i++)
		kept = ix->must[i].rule == MUST_INVOCATION;
	if (kept)
		report_note(report,
		            "calls on one object keep the order of this run here, as if none "
		            "commuted%s",
		            remedy);
}

uint32_t race_variable(const struct trace *t, uint32_t e1, uint32_t e2)
{
	struct wide x = event_variables(t, &t->events[e1]);
	struct wide y = event_variables(t, &t->events[e2]);

	return MAX(x.first, y.first);
}

struct finding *race_finding(const struct trace *t, uint32_t e1, uint32_t e2,
                             enum verdict verdict, const char *by)
{
	struct finding *f = finding_new(FINDING_DATA_RACE, MIN(e1, e2), MAX(e1, e2));
	uint32_t variable = race_variable(t, e1, e2);

	f->verdict = verdict;
	f->count = 1;
	f->by = by;
	f->variables = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_array_append_val(f->variables, variable);
	return f;
}

bool race_in_shard(const struct race_options *options, uint32_t site_a, uint32_t site_b)
{
	uint32_t low = MIN(site_a, site_b), high = MAX(site_a, site_b);
	uint64_t hash = (hash_word(low) + high) * 0xff51afd7ed558ccdu;

	if (options->wanted != NULL && !options->wanted(options->wanted_context, low, high))
		return false;
	if (options->shards <= 1)
		return true;
	return (hash >> 32) % options->shards == options->shard;
}

/* ---- Tools ---- */

struct race_tools *race_tools_begin(const struct race_options *options, struct race_tools *own)
{
	*own = (struct race_tools){ 0 };
	return options->tools != NULL ? options->tools : own;
}

struct race_making {
	struct trace *t;
	GThread *thread;
	gint stop, done; /* atomic */
	struct m2 *m2;   /* the results: NULL when stopped */
	struct locksets *locksets;
};

static bool making_goes_on(void *making, double fraction, const char *what)
{
	return !g_atomic_int_get(&((struct race_making *)making)->stop);
}

static gpointer make_ahead(gpointer context)
{
	struct race_making *m = context;
	const struct progress progress = { making_goes_on, m };

	m->m2 = m2_new(m->t, NULL, &progress);
	if (m->m2 != NULL)
		m->locksets = locksets_new(m->t);
	g_atomic_int_set(&m->done, 1);
	return NULL;
}

void race_tools_make_ahead(struct race_tools *tools, struct trace *t)
{
	struct race_making *m = g_new0(struct race_making, 1);

	m->t = t;
	m->thread = g_thread_try_new("tables", make_ahead, m, NULL);
	if (m->thread != NULL)
		tools->making = m;
	else /* they are made when they are asked for */
		g_free(m);
}

/* Takes what the other thread makes; false when cancelled. */
static bool take_made(struct race_tools *tools, const struct progress *progress)
{
	struct race_making *m = g_steal_pointer(&tools->making);

	if (m == NULL)
		return true;
	while (!g_atomic_int_get(&m->done)) {
		if (!progress_tick(progress, 0, "causal order"))
			g_atomic_int_set(&m->stop, 1);
		g_usleep(1000);
	}
	g_thread_join(m->thread);
	tools->m2 = m->m2;
	tools->locksets = m->locksets;
	g_free(m);
	return tools->m2 != NULL;
}

void race_tools_end(struct race_tools *own)
{
	if (own->making != NULL)
		g_atomic_int_set(&own->making->stop, 1);
	take_made(own, NULL);
	m2_free(own->m2);
	checker_free(own->checker);
	locksets_free(own->locksets);
}

uint32_t race_tools_tails(const struct race_tools *tools)
{
	return tools->tails > 0 ? tools->tails : TAILS_LEAST;
}

struct checker *race_tools_checker(struct race_tools *tools, const struct trace *t,
                                   const struct race_options *options)
{
	const struct check_options check = { .use_missing = options->use_missing };

	if (tools->checker == NULL)
		tools->checker = checker_new(t, &check);
	return tools->checker;
}

struct locksets *race_tools_locksets(struct race_tools *tools, struct trace *t)
{
	take_made(tools, NULL);
	if (tools->locksets == NULL)
		tools->locksets = locksets_new(t);
	return tools->locksets;
}

struct m2 *race_tools_m2(struct race_tools *tools, struct trace *t,
                         const struct race_options *options, const struct progress *progress)
{
	if (!take_made(tools, progress))
		return NULL;
	if (tools->m2 == NULL)
		tools->m2 = m2_new(t, NULL, progress);
	if (tools->m2 == NULL)
		return NULL;
	m2_lend_checker(tools->m2, race_tools_checker(tools, t, options));
	m2_tails(tools->m2, tools->leaves ? race_tools_tails(tools) : 0);
	return tools->m2;
}
