/*
 * race.c - see race.h.
 */
#include "engine/base/aside.h"
#include "engine/base/hash.h"
#include "engine/order/order.h"
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
	finding_add_exact(t, f, e1, e2);
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

/* What another thread makes, in this order. */
enum made { MADE_CHECKER, MADE_M2, MADE_LOCKSETS, MADE_ORDER, MADE_ALL };

struct race_making {
	struct trace *t;
	const struct race_options *options;
	void (*last)(void *context, const struct progress *progress);
	void *context;
	struct aside *aside;
	gint stop; /* atomic */
	gint done; /* atomic: number of those that are made; NULL when stopped */
	struct race_tools of;
	struct order *order;
};

static bool making_goes_on(void *making, double fraction, const char *what)
{
	return !g_atomic_int_get(&((struct race_making *)making)->stop);
}

static struct checker *make_checker(const struct trace *t, const struct race_options *options)
{
	const struct check_options check = { .use_missing = options->use_missing };

	return checker_new(t, &check);
}

static void make_ahead(void *context)
{
	struct race_making *m = context;
	const struct progress progress = { making_goes_on, m };

	m->of.checker = make_checker(m->t, m->options);
	g_atomic_int_set(&m->done, MADE_CHECKER + 1);
	m->of.m2 = m2_new(m->t, NULL, &progress);
	g_atomic_int_set(&m->done, MADE_M2 + 1);
	if (making_goes_on(m, 0, NULL))
		m->of.locksets = locksets_new(m->t);
	g_atomic_int_set(&m->done, MADE_LOCKSETS + 1);
	if (making_goes_on(m, 0, NULL))
		m->order = order_new(m->t, ORDER_KIND_PO, &progress);
	g_atomic_int_set(&m->done, MADE_ORDER + 1);
	if (making_goes_on(m, 0, NULL))
		m->last(m->context, &progress);
	g_atomic_int_set(&m->done, MADE_ALL + 1);
}

void race_tools_make_ahead(struct race_tools *tools, struct trace *t,
                           const struct race_options *options,
                           void (*last)(void *context, const struct progress *progress),
                           void *context)
{
	struct race_making *m = g_new0(struct race_making, 1);

	m->t = t;
	m->options = options;
	m->last = last;
	m->context = context;
	m->aside = aside_begin(make_ahead, m);
	if (m->aside != NULL)
		tools->making = m;
	else /* they are made when they are asked for */
		g_free(m);
}

/* Takes what is made and was not taken. (What was is NULL here.) */
static void take_made(struct race_tools *tools, struct race_making *m)
{
	gint done = m == NULL ? 0 : g_atomic_int_get(&m->done);

	if (done > MADE_CHECKER && m->of.checker != NULL)
		tools->checker = g_steal_pointer(&m->of.checker);
	if (done > MADE_M2 && m->of.m2 != NULL)
		tools->m2 = g_steal_pointer(&m->of.m2);
	if (done > MADE_LOCKSETS && m->of.locksets != NULL)
		tools->locksets = g_steal_pointer(&m->of.locksets);
}

/* Waits until the other thread, if there is one, has made that, and takes it; false when
 * cancelled. */
static bool wait_for(struct race_tools *tools, enum made made, const struct progress *progress)
{
	struct race_making *m = tools->making;
	bool goes_on = true;

	while (m != NULL && g_atomic_int_get(&m->done) <= (gint)made) {
		if (!progress_tick(progress, 0, "causal order")) {
			g_atomic_int_set(&m->stop, 1);
			goes_on = false;
		}
		g_usleep(1000);
	}
	take_made(tools, m);
	return goes_on;
}

void race_tools_made(struct race_tools *tools)
{
	wait_for(tools, MADE_ALL, NULL);
	struct race_making *m = g_steal_pointer(&tools->making);

	if (m == NULL)
		return;
	aside_end(m->aside);
	take_made(tools, m);
	order_free(m->order);
	g_free(m);
}

void race_tools_end(struct race_tools *own)
{
	if (own->making != NULL)
		g_atomic_int_set(&own->making->stop, 1);
	race_tools_made(own);
	m2_free(own->m2);
	g_clear_pointer(&own->rejected, g_hash_table_destroy);
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
	if (tools->checker == NULL)
		wait_for(tools, MADE_CHECKER, NULL);
	if (tools->checker == NULL)
		tools->checker = make_checker(t, options);
	return tools->checker;
}

struct locksets *race_tools_locksets(struct race_tools *tools, struct trace *t)
{
	if (tools->locksets == NULL)
		wait_for(tools, MADE_LOCKSETS, NULL);
	if (tools->locksets == NULL)
		tools->locksets = locksets_new(t);
	return tools->locksets;
}

struct order *race_tools_take_order(struct race_tools *tools, struct trace *t,
                                    const struct progress *progress)
{
	struct order *order = NULL;

	if (!wait_for(tools, MADE_ORDER, progress))
		return NULL;
	if (tools->making != NULL)
		order = g_steal_pointer(&tools->making->order);
	return order != NULL ? order : order_new(t, ORDER_KIND_PO, progress);
}

struct m2 *race_tools_m2(struct race_tools *tools, struct trace *t,
                         const struct race_options *options, const struct progress *progress)
{
	if (tools->m2 == NULL && !wait_for(tools, MADE_M2, progress))
		return NULL;
	if (tools->m2 == NULL)
		tools->m2 = m2_new(t, NULL, progress);
	if (tools->m2 == NULL)
		return NULL;
	m2_lend_checker(tools->m2, race_tools_checker(tools, t, options));
	m2_tails(tools->m2, tools->leaves ? race_tools_tails(tools) : 0);
	return tools->m2;
}
