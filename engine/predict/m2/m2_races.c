/*
 * m2_races.c - M2 on a trace: choice and order of candidates, and the report.
 *
 * By sites, each variable of a site pair is tried until one of its pairs races, nearest pairs
 * first, in rounds along the trace so that neighbouring pairs share work. A proof for one pair
 * of synchronisation-free regions (runs of events without synchronisation and observation
 * across threads) holds for all later events in them, so each is sought once.
 */
#include "engine/base/hash.h"
#include "engine/predict/pairs/candidates.h"
#include "engine/predict/m2/m2.h"
#include "engine/predict/smt/smt.h"
#include "engine/predict/predict_private.h"

#include <string.h>

enum {
	TRIES = 4096, /* bound on tried pairs of a variable and two sites */
	/* that bound when the sites race, and only the variable has to be found */
	NAMING_TRIES = 4,
	MOST_TRIED = 2 * TRIES, /* pairs of classes of accesses, of a variable with many */
};

struct hunt {
	struct trace *t;
	const struct race_options *options;
	const struct progress *progress;
	struct race_tools *tools;
	struct report *report;
	struct m2 *m2;
	/* When M2 is incomplete (--values, relaxed atomics) only a common lock proves an
	 * impossibility. Else NULL. */
	struct locksets *locksets;
	uint32_t *region;        /* by event: its region; NULL until a pair is impossible */
	uint32_t *region_first;  /* by region: its first event */
	GHashTable *impossible;  /* set of pairs of regions, as two halves of a pointer */
	GArray *witness;         /* scratch */
	uint64_t witness_events; /* kept so far */
	uint64_t left_out;       /* findings whose witness was not kept */
	uint64_t undecided;      /* number of pairs without witness and proof */
	uint64_t unpaid;         /* those due to the budget */
	uint64_t given_up;       /* variables of a site pair, see TRIES */
	struct effort effort;    /* work of enumerating pairs; deciding has its own bound */
	bool cancelled;
	bool stopped; /* budget spent, and nothing left to list */
};

/* -- synchronisation-free regions ---------------------------------------------------------- */

static void mark(uint64_t *bits, uint32_t e)
{
	bits[e / 64] |= (uint64_t)1 << (e % 64);
}

/* Events that end a region: synchronisation, and both ends of observations and must-orders
 * between threads. */
static uint64_t *region_ends(const struct trace *t)
{
	uint64_t *ends = g_new0(uint64_t, t->events_count / 64 + 1);

	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];

		if (event_inert(x))
			continue;
		if (!op_is_access(x->op)) {
			if (op_table[x->op].class != OP_CLASS_MARKER)
				mark(ends, e);
			continue;
		}
		if (!op_reads(x->op))
			continue;
		struct event_list writers = trace_writers(t, e);
		for (uint64_t i = 0; i < writers.count; i++) {
			uint32_t w = writers.items[i];

			if (w == NONE || t->events[w].thread == x->thread)
				continue;
			mark(ends, w);
			mark(ends, e);
		}
	}
	for (uint64_t i = 0; i < t->index->must_count; i++) {
		mark(ends, t->index->must[i].before);
		mark(ends, t->index->must[i].after);
	}
	return ends;
}

static void make_regions(struct hunt *h)
{
	const struct trace *t = h->t;
	g_autofree uint64_t *ends = region_ends(t);
	g_autofree uint32_t *now = g_new(uint32_t, t->threads_count + 1);
	GArray *first = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	memset(now, 0xff, (t->threads_count + 1) * sizeof(uint32_t));
	h->region = g_new(uint32_t, t->events_count + 1);
	for (uint32_t e = 0; e < t->events_count; e++) {
		uint32_t u = t->events[e].thread;

		if (now[u] == NONE) {
			now[u] = first->len;
			g_array_append_val(first, e);
		}
		h->region[e] = now[u];
		if (ends[e / 64] >> (e % 64) & 1)
			now[u] = NONE;
	}
	h->region_first = (uint32_t *)g_array_free(first, FALSE);
}

static gpointer regions(const struct hunt *h, uint32_t e1, uint32_t e2)
{
	return (gpointer)((uintptr_t)h->region[e1] << 32 | h->region[e2]);
}

/* ---- One pair ---- */

static enum m2_verdict ask(struct hunt *h, uint32_t e1, uint32_t e2, GArray *witness,
                           struct proof **proof)
{
	effort_pause(&h->effort);
	enum m2_verdict verdict = m2_pair(h->m2, e1, e2, witness, proof);
	effort_resume(&h->effort);
	if (verdict == M2_REJECTED && witness != NULL && h->options->tools != NULL) {
		if (h->tools->rejected == NULL)
			h->tools->rejected = g_hash_table_new(hash_pointer, NULL);
		g_hash_table_add(h->tools->rejected, race_pair_key(e1, e2));
	}
	return verdict;
}

/* Decide a pair; at once if its regions are known to be impossible. */
static enum m2_verdict decide(struct hunt *h, uint32_t e1, uint32_t e2, bool keep,
                              struct proof **proof)
{
	h->report->candidates++;
	effort_more(&h->effort, 4);
	if (proof == NULL && h->region != NULL &&
	    g_hash_table_contains(h->impossible, regions(h, e1, e2)))
		return M2_IMPOSSIBLE;
	enum m2_verdict verdict = ask(h, e1, e2, keep ? h->witness : NULL, proof);
	if (verdict != M2_IMPOSSIBLE || proof != NULL)
		return verdict;
	if (h->region == NULL)
		make_regions(h);
	uint32_t f1 = h->region_first[h->region[e1]];
	uint32_t f2 = h->region_first[h->region[e2]];
	if ((f1 == e1 && f2 == e2) ||
	    ask(h, MIN(f1, f2), MAX(f1, f2), NULL, NULL) == M2_IMPOSSIBLE)
		g_hash_table_add(h->impossible, regions(h, e1, e2));
	return verdict;
}

static bool keep_witness(const struct hunt *h)
{
	return h->witness_events < h->options->witness_events;
}

static void give_witness(struct hunt *h, struct finding *f)
{
	if (!keep_witness(h)) {
		h->left_out++;
		return;
	}
	f->witness = g_array_copy(h->witness);
	f->recorded = m2_recorded(h->m2);
	h->witness_events += h->witness->len;
}

/* Count an undecided pair; returns the reason to report. */
static enum open_reason leave_open(struct hunt *h, enum m2_verdict verdict)
{
	h->undecided++;
	h->unpaid += verdict == M2_GAVE_UP;
	return verdict != M2_GAVE_UP              ? OPEN_INCOMPLETE
	       : m2_over(h->m2) || h->effort.over ? OPEN_TOTAL
	                                          : m2_budget(h->m2);
}

/* Does M2's "impossible" count as a proof? */
static bool claims(const struct hunt *h, uint32_t e1, uint32_t e2)
{
	return h->locksets == NULL || lockset_common(h->locksets, lockset_at(h->locksets, e1),
	                                             lockset_at(h->locksets, e2)) != NONE;
}

/* ---- By events ---- */

static bool decide_event_pair(void *context, uint32_t e1, uint32_t e2)
{
	struct hunt *h = context;
	bool keep = keep_witness(h);
	struct proof *proof = NULL;
	enum m2_verdict verdict =
	        decide(h, e1, e2, keep, h->options->all_verdicts ? &proof : NULL);
	enum open_reason open = OPEN_NO;
	struct finding *f;

	if (verdict == M2_IMPOSSIBLE && !claims(h, e1, e2)) {
		proof_free(proof);
		verdict = M2_REJECTED;
	}
	if (verdict == M2_REJECTED || verdict == M2_GAVE_UP)
		open = leave_open(h, verdict);
	if (verdict == M2_RACE || h->options->all_verdicts) {
		f = race_finding(h->t, e1, e2,
		                 verdict == M2_RACE         ? VERDICT_RACE
		                 : verdict == M2_IMPOSSIBLE ? VERDICT_IMPOSSIBLE
		                                            : VERDICT_UNKNOWN,
		                 "m2");
		f->counted_all = true;
		if (verdict == M2_RACE)
			give_witness(h, f);
		else if (verdict == M2_IMPOSSIBLE)
			f->proof = proof;
		else
			f->open = open;
		report_add(h->report, f);
	}
	h->stopped = m2_over(h->m2) && !h->options->all_verdicts;
	if (h->report->candidates % 256 == 0 &&
	    !progress_tick(h->progress, (double)e1 / h->t->events_count, "deciding pairs"))
		h->cancelled = true;
	return !h->cancelled && !h->stopped;
}

/* ---- By sites ---- */

/* The next attempt at a variable of a site pair. */
struct attempt {
	uint32_t e1, e2;
	uint32_t site, entry, tries;
};

struct outcome_of_site {
	struct finding *race;  /* owned by the report */
	enum open_reason open; /* why a pair is undecided: of the first, preferably a budget */
	uint32_t e1, e2;       /* the first candidate that is no race */
	bool tried, unpaid;
};

static int attempt_compare(gconstpointer a, gconstpointer b)
{
	const struct attempt *x = a, *y = b;

	if (x->e1 != y->e1)
		return x->e1 < y->e1 ? -1 : 1;
	return x->e2 < y->e2 ? -1 : x->e2 > y->e2;
}

static void leave_site_open(struct hunt *h, struct outcome_of_site *site,
                            enum m2_verdict verdict)
{
	enum open_reason open = leave_open(h, verdict);

	/* prefer a reason that a larger budget removes */
	if (site->open == OPEN_NO || (verdict == M2_GAVE_UP && !site->unpaid))
		site->open = open;
	site->unpaid |= verdict == M2_GAVE_UP;
}

static enum race_known known(const struct hunt *h, const struct attempt *a)
{
	return h->tools->known == NULL ? RACE_UNKNOWN
	                               : h->tools->known(h->tools->known_context, a->e1, a->e2,
	                                                 race_variable(h->t, a->e1, a->e2));
}

/* True when the variable needs no further attempt. */
static bool attempt(struct hunt *h, const struct attempt *a, struct outcome_of_site *site)
{
	bool first = site->race == NULL;
	uint32_t variable = race_variable(h->t, a->e1, a->e2);
	enum race_known before = known(h, a);

	if (before == RACE_OF_VARIABLE || (before != RACE_UNKNOWN && a->tries >= NAMING_TRIES))
		return true;
	enum m2_verdict verdict = decide(
	        h, a->e1, a->e2, first && before == RACE_UNKNOWN && keep_witness(h), NULL);

	if (verdict == M2_RACE) {
		if (first) {
			site->race = race_finding(h->t, a->e1, a->e2, VERDICT_RACE, "m2");
			if (before == RACE_UNKNOWN)
				give_witness(h, site->race);
			report_add(h->report, site->race);
		} else {
			site->race->count++;
			g_array_append_val(site->race->variables, variable);
		}
		return true;
	}
	if (!site->tried || (verdict != M2_IMPOSSIBLE && site->open == OPEN_NO)) {
		site->e1 = a->e1;
		site->e2 = a->e2;
		site->tried = true;
	}
	if (verdict != M2_IMPOSSIBLE)
		leave_site_open(h, site, verdict);
	return false;
}

static void settle_site(struct hunt *h, const struct site_pairs *p, uint32_t i,
                        const struct outcome_of_site *site)
{
	struct site_pair pair = site_pairs_at(p, i);
	struct proof *proof = NULL;
	uint32_t e1 = site->e1, e2 = site->e2;

	if (site->race != NULL || (!site->tried && !site_pairs_locked(p, pair.first, &e1, &e2)))
		return;
	struct finding *f = race_finding(h->t, e1, e2, VERDICT_UNKNOWN, "m2");
	if (site->open != OPEN_NO || h->effort.over) {
		f->open = site->open != OPEN_NO ? site->open : OPEN_TOTAL;
	} else if (m2_pair(h->m2, e1, e2, NULL, &proof) == M2_IMPOSSIBLE &&
	           (h->locksets == NULL || !site->tried)) {
		f->verdict = VERDICT_IMPOSSIBLE;
		f->proof = proof;
	} else {
		proof_free(proof);
		f->open = OPEN_INCOMPLETE;
		h->undecided++;
	}
	report_add(h->report, f);
}

/* Make up to `batch` attempts at a variable, nearest pairs first; true when some are left. */
static bool attempts(struct hunt *h, struct site_pairs *p, struct attempt *a, uint32_t batch,
                     struct outcome_of_site *sites)
{
	for (uint32_t i = 0; i < batch; i++) {
		if (attempt(h, a, &sites[a->site]))
			return false;
		if (++a->tries >= TRIES && !h->options->all_verdicts) {
			h->given_up++;
			return false;
		}
		if (!site_pairs_next(p, a->entry, &a->e1, &a->e2)) {
			h->given_up += site_pairs_bounded(p, a->entry);
			return false;
		}
		if (m2_over(h->m2) || h->effort.over) {
			leave_site_open(h, &sites[a->site], M2_GAVE_UP);
			return false;
		}
	}
	return true;
}

static GArray *first_attempts(struct site_pairs *p)
{
	GArray *round = g_array_new(FALSE, FALSE, sizeof(struct attempt));

	for (uint32_t i = 0; i < site_pairs_count(p); i++) {
		struct site_pair pair = site_pairs_at(p, i);

		for (uint32_t k = pair.first; k < pair.first + pair.variables; k++) {
			struct attempt a = { .site = i, .entry = k };

			if (site_pairs_next(p, k, &a.e1, &a.e2))
				g_array_append_val(round, a);
		}
	}
	return round;
}

/* Each round goes along the trace once, with more attempts at undecided variables. */
static bool run_rounds(struct hunt *h, struct site_pairs *p, struct outcome_of_site *sites)
{
	g_autoptr(GArray) round = first_attempts(p);

	for (uint32_t batch = 1; round->len > 0 && !h->cancelled; batch *= 4) {
		guint kept = 0;

		g_array_sort(round, attempt_compare);
		for (guint i = 0; i < round->len && !h->cancelled; i++) {
			struct attempt *a = &g_array_index(round, struct attempt, i);

			if (i % 64 == 0)
				h->cancelled = !progress_tick(
				        h->progress, (double)i / round->len, "deciding pairs");
			if (attempts(h, p, a, batch, sites))
				g_array_index(round, struct attempt, kept++) = *a;
		}
		g_array_set_size(round, kept);
	}
	return !h->cancelled;
}

static bool hunt_sites(struct hunt *h, const struct candidate_options *candidates)
{
	struct site_pairs *p = site_pairs_new(h->t, candidates, h->progress);

	if (p == NULL)
		return false;
	g_autofree struct outcome_of_site *sites =
	        g_new0(struct outcome_of_site, site_pairs_count(p) + 1);
	bool going = run_rounds(h, p, sites);
	/* proofs for the list are computed again, one for each site pair: this is output, so
	 * without a total budget */
	m2_bound(h->m2, h->options->budget_pair, G_MAXDOUBLE);
	for (uint32_t i = 0; i < site_pairs_count(p) && going && h->options->all_verdicts; i++)
		settle_site(h, p, i, &sites[i]);
	site_pairs_free(p);
	return going;
}

/* ---- The analysis ---- */

static bool needed(const void *m2, uint32_t e1, uint32_t e2)
{
	return m2_needs(m2, e1, e2);
}

static bool hunt(struct hunt *h)
{
	int kind = h->options->candidates;
	struct candidate_options candidates = {
		.order = kind < 0 ? race_tools_take_order(h->tools, h->t, h->progress)
		                  : order_new(h->t, (enum order_kind)kind, h->progress),
		.keep_locked = h->options->all_verdicts,
		.suspects = h->tools->suspects,
		.locksets = race_tools_locksets(h->tools, h->t),
		.most_class_pairs = h->options->all_verdicts ? 0 : MOST_TRIED,
		.race = h->options,
		/* rejected at once: listed only with all verdicts, and counted as undecided
		 * only where no other rung decides it and it is no proof */
		.settled = h->options->all_verdicts || (h->options->tools == NULL &&
		                                        !m2_needs_is_proof(h->m2))
		                   ? NULL
		                   : needed,
		.context = h->m2,
		.effort = &h->effort,
	};
	bool going = candidates.order != NULL;

	if (going && h->options->pairs_events)
		going = candidates_events(h->t, &candidates, decide_event_pair, h,
		                          h->progress) ||
		        h->stopped || (h->effort.over && !h->cancelled);
	else if (going)
		going = hunt_sites(h, &candidates);
	order_free((struct order *)candidates.order);
	return going;
}

static void conclude(struct hunt *h)
{
	if (h->undecided > 0 || h->given_up > 0)
		h->report->complete = false;
	if (h->undecided > 0)
		report_note(h->report,
		            "pairs with neither a witness nor a proof: %" G_GUINT64_FORMAT
		            " (with three threads or more M2 may miss some); "
		            "'--analysis auto' decides them",
		            h->undecided);
	h->report->budget_spent = h->unpaid > 0 || h->effort.over;
	if (h->effort.over)
		report_note_effort(h->report, h->options);
	if (h->unpaid > 0)
		report_note(h->report,
		            "pairs that were given up for --budget (%g,%g): %" G_GUINT64_FORMAT
		            "%s",
		            h->options->budget_pair, h->options->budget_total, h->unpaid,
		            h->stopped ? "; it was gone before all were looked at" : "");
	if (h->given_up > 0)
		report_note(h->report,
		            "variables of a pair of sites that were given up after %d pairs "
		            "without a race: %" G_GUINT64_FORMAT
		            "; '--verdicts all' or '--analysis auto' tries all",
		            TRIES, h->given_up);
	report_note_left_out(h->report, h->left_out);
}

struct report *races_m2(struct trace *t, const struct race_options *options,
                        const struct progress *progress, struct error *error)
{
	struct hunt h = { .t = t, .options = options, .progress = progress };
	struct race_tools own, *tools = race_tools_begin(options, &own);
	bool going = trace_need(t, INDEX_ALL & ~INDEX_SITES, progress);

	h.tools = tools;
	h.m2 = going ? race_tools_m2(tools, t, options, progress) : NULL;
	if (h.m2 == NULL) {
		race_tools_end(&own);
		error_cancelled(error);
		return NULL;
	}
	m2_bound(h.m2, options->budget_pair, options->budget_total);
	h.report = report_new(t, "m2");
	if (options->use_values || c11_matters(t))
		h.locksets = race_tools_locksets(tools, t);
	/* restricted to another order's candidates, which are fewer */
	h.report->complete = h.locksets == NULL && options->candidates < 0;
	if (h.locksets != NULL)
		report_note(
		        h.report,
		        options->use_values
		                ? "--values allows more reorderings than M2 looks at; "
		                  "'--analysis auto' decides the others"
		                : "with relaxed atomics a pair may race by C11 although no "
		                  "reordering brings it next to each other; M2 does not look "
		                  "for such races, '--analysis auto' does");
	effort_init(&h.effort, t->events_count, options);
	h.impossible = g_hash_table_new(hash_pointer, NULL);
	h.witness = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	going = hunt(&h);
	conclude(&h);
	if (m2_refused(h.m2) > 0)
		report_note(h.report,
		            "sequences that the checker refused, which are not reported: %u",
		            m2_refused(h.m2));
	race_tools_end(&own);
	g_hash_table_destroy(h.impossible);
	g_array_unref(h.witness);
	g_free(h.region);
	g_free(h.region_first);
	if (!going) {
		report_free(h.report);
		error_cancelled(error);
		return NULL;
	}
	report_finish(h.report);
	return h.report;
}
