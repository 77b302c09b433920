/* cov.c - see cov.h. */
#include "engine/commute/cov.h"
#include "engine/commute/edc.h"
#include "engine/commute/rd2.h"
#include "engine/commute/rule5.h"
#include "engine/order/past.h"
#include "engine/trace/chains.h"
#include "engine/trace/index.h"
#include "engine/base/hash.h"
#include "engine/commute/place_pair.h"

#include <string.h>

/* A pair to turn round: e1 comes before e2 in the trace, the witness ends with e1. */
struct candidate {
	uint32_t e1, e2;     /* as reported: CALLs, or the events themselves */
	uint32_t end1, end2; /* RETs */
	uint32_t object;
	bool happened; /* wrong order in the trace itself */
	bool ordered;  /* by EDC: tried later */
	struct place_pair places;
};

/* Candidates of one pair of locations, unless options.pairs_events. */
struct site_pair {
	struct place_pair places; /* first, as the key */
	uint32_t candidates;      /* pairs of these places in the list */
	uint64_t others; /* pairs not in the list, as a listed one is at least as likely
	                  * to be possible (clashes at two access points may be counted
	                  * twice) */
	bool must;       /* the list has one that the causal past orders */
	bool happened;   /* the list has one that happened */
	bool cut;        /* some were left out, as the list is full */
};
/* Bound of the list's memory, which --budget does not bound. */
enum { MOST_LISTED = 2000000 };

struct cov {
	struct model *m;
	struct trace *t;
	struct trace *chains; /* the view by chains that the solver works on; or NULL */
	struct cov_options options;
	struct report *report;
	GArray *candidates;
	struct smt *smt;
	struct rule5 *rule5;
	struct semantics semantics;
	double left;         /* seconds left of the total budget */
	bool unknown, spent; /* some candidate has no verdict; the reason is the budget */
	uint32_t cut;        /* pairs of locations with candidates left out */
	GHashTable *pairs;   /* struct site_pair, by places */
	const struct progress *progress;
	struct error *error;
};

/* -- candidates --------------------------------------------------------------------------- */

static struct site_pair *pair_of(const struct cov *c, const struct candidate *k)
{
	struct site_pair key = { .places = k->places };
	struct site_pair *p = g_hash_table_lookup(c->pairs, &key);
	if (p == NULL) {
		p = g_memdup2(&key, sizeof key);
		g_hash_table_add(c->pairs, p);
	}
	return p;
}

/* Is the pair in the wrong order in the trace itself? */
static bool in_wrong_order(const struct cov *c, uint32_t object, const struct call *a,
                           const struct call *b)
{
	const struct model_object *o = &c->m->objects[object];
	if (a->method == NONE || b->method == NONE)
		return false;
	/* A wait that never ended is still pending when its object ends, whichever is written
	 * first. */
	if (op_wants(c->t->events[a->event].op) || op_wants(c->t->events[b->event].op))
		return true;
	/* Two frees of a block are wrong in either order. */
	bool two_frees = o->source != FROM_INSTANCE && a->method == b->method &&
	                 a->method == o->type->builtin[2] &&
	                 strcmp(o->type->o->name, "memory") == 0;
	return spec_good_order(o->type->o, a->method, b->method) < 0 || two_frees;
}

/* Adds a candidate to its pair of locations; true when it needs a verdict of its own: for
 * each pair, one that happened and one that the causal past orders (program order,
 * must-order, observation) are enough. `all`: false when the same holds for the thread's
 * older ones. */
static bool needs_verdict(struct cov *c, const struct candidate *k, uint32_t older, bool *all)
{
	struct site_pair *p = pair_of(c, k);
	bool must = !k->happened && past_has_before(smt_past(c->smt), k->end2, k->e1);
	bool again = k->happened ? p->happened : must ? p->must : false;
	*all = !must;
	p->happened |= k->happened;
	p->must |= must;
	if (must)
		p->others += older + again;
	else if (again)
		p->others++;
	else if (p->candidates++ > 0 && c->candidates->len >= MOST_LISTED) {
		p->others += 1 + older;
		p->cut = true;
		*all = false;
		return false;
	}
	return !again;
}

static bool cov_visit(void *context, const struct call *earlier, const struct call *later,
                      uint32_t older)
{
	struct cov *c = context;
	bool turned = earlier->event > later->event; /* a scope that began earlier */
	const struct call *a = turned ? later : earlier, *b = turned ? earlier : later;
	struct candidate new = { .e1 = a->event,
		                 .e2 = b->event,
		                 .end1 = a->end,
		                 .end2 = b->end,
		                 .object = later->object,
		                 .happened = in_wrong_order(c, later->object, a, b) };
	new.places = place_pair_of(c->m, new.e1, new.e2, new.object);
	bool more = true;
	if (c->options.pairs_events || needs_verdict(c, &new, older, &more))
		g_array_append_val(c->candidates, new);
	return more || turned;
}

static int by_event(gconstpointer a, gconstpointer b)
{
	const struct candidate *x = a, *y = b;
	return x->e1 != y->e1   ? (x->e1 < y->e1 ? -1 : 1)
	       : x->e2 != y->e2 ? (x->e2 < y->e2 ? -1 : 1)
	                        : 0;
}

/* Sort by pair of locations; within one, happened first, then unordered by EDC, then close. */
static int by_sites(gconstpointer a, gconstpointer b)
{
	const struct candidate *x = a, *y = b;
	int places = place_pair_compare(&x->places, &y->places);
	if (places != 0)
		return places;
	if (x->happened != y->happened)
		return x->happened ? -1 : 1;
	if (x->ordered != y->ordered)
		return x->ordered ? 1 : -1;
	uint32_t dx = x->e2 - x->e1, dy = y->e2 - y->e1;
	return dx != dy ? (dx < dy ? -1 : 1) : by_event(a, b);
}

/* -- verdicts ----------------------------------------------------------------------------- */

/* The finding's methods and condition. */
static void cov_describe(struct cov *c, struct finding *f, const struct candidate *k)
{
	struct call_scratch scratch[2];
	struct call calls[2][MOST_CALLS], sides[2] = { { 0 }, { 0 } };
	uint32_t ends[2] = { k->end1, k->end2 };
	for (int side = 0; side < 2; side++) {
		uint32_t count = model_calls(c->m, ends[side], calls[side], &scratch[side]);
		for (uint32_t i = 0; i < count; i++)
			if (calls[side][i].object == k->object)
				sides[side] = calls[side][i];
	}
	commute_describe(c->m, f, &sides[0], &sides[1]);
}

static struct finding *finding_of(struct cov *c, const struct candidate *k,
                                  enum verdict verdict)
{
	const struct model_object *o = &c->m->objects[k->object];
	bool memory = strcmp(o->type->o->name, "memory") == 0;
	struct finding *f = finding_new(
	        memory ? FINDING_USE_AFTER_FREE : FINDING_ORDER_VIOLATION, k->e1, k->e2);
	f->verdict = verdict;
	f->count = 1;
	f->counted_all = c->options.pairs_events;
	cov_describe(c, f, k);
	if (verdict == VERDICT_HAPPENED)
		f->note = "in this order in the recording itself";
	return f;
}

static bool cov_prepare(struct cov *c)
{
	c->rule5 = rule5_new(c->m);
	struct smt_options options = { .invocations = false, .exempt = rule5_exempt(c->rule5) };
	bool cancelled = false;
	c->chains = trace_by_chains(c->t, CHAINS_LEAST, c->progress, &cancelled);
	c->smt =
	        cancelled ? NULL : smt_new(c->chains ? c->chains : c->t, &options, c->progress);
	return c->smt != NULL;
}

static bool has_results(const struct cov *c, uint32_t end)
{
	const struct event *x = &c->t->events[end];
	if (op_table[x->op].class == OP_CLASS_CALL)
		return c->t->invocations[x->aux].results > 0;
	return op_is_access(x->op) && op_reads(x->op);
}

/* One query: e1 is next and e2 in the reordering. `free`: the observation or results of e2
 * are not constrained, and it is its thread's last event. */
static enum smt_answer cov_query(struct cov *c, const struct candidate *k, bool free,
                                 double seconds, GArray *sequence, struct proof **proof)
{
	struct smt_query *q = smt_query_new(c->smt);
	smt_query_next(q, k->e1);
	if (free)
		smt_query_in_unobserved(q, k->end2);
	else
		smt_query_in(q, k->end2);
	rule5_attach(c->rule5, q, k->e1, free ? k->end2 : NONE);
	enum smt_answer answer = smt_query_solve(q, seconds, sequence, proof, c->progress);
	smt_query_free(q);
	return answer;
}

/* Witnesses are checked by the independent checker. */
static bool cov_accepted(struct cov *c, const struct candidate *k, GArray *sequence)
{
	uint32_t pair[2] = { k->e1, k->e2 };
	struct check_options options = { .semantics = &c->semantics };
	g_autoptr(GString) reason = g_string_new(NULL);
	g_array_append_val(sequence, k->e1);
	bool good = witness_check(c->t, event_list_of(sequence), claimed_of(CLAIM_COV, pair, 2),
	                          &options, reason);
	if (!good)
		report_note(c->report, "events %u and %u: a witness was refused: %s", k->e1,
		            k->e2, reason->str);
	return good;
}

/* The verdict of one candidate; NULL when cancelled. */
static struct finding *cov_verdict(struct cov *c, const struct candidate *k)
{
	if (k->happened)
		return finding_of(c, k, VERDICT_HAPPENED);
	double seconds = MIN(c->options.budget_pair, c->left);
	struct proof *proof = NULL;
	g_autoptr(GArray) sequence = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	struct finding *f = NULL;
	enum smt_answer answer = SMT_SPENT;
	int64_t start = g_get_monotonic_time();
	if (seconds > 0)
		answer = cov_query(c, k, false, seconds, sequence, &proof);
	if (answer == SMT_IMPOSSIBLE && has_results(c, k->end2)) {
		proof_free(proof);
		proof = NULL;
		answer = cov_query(c, k, true, seconds, sequence, &proof);
	}
	c->left -= (double)(g_get_monotonic_time() - start) / 1e6;
	if (answer == SMT_WITNESS && cov_accepted(c, k, sequence)) {
		f = finding_of(c, k, VERDICT_RACE);
		f->witness = g_array_ref(sequence);
	} else if (answer == SMT_IMPOSSIBLE) {
		f = finding_of(c, k, VERDICT_IMPOSSIBLE);
		f->proof = proof;
		proof = NULL;
	} else if (answer != SMT_CANCELLED) {
		f = finding_of(c, k, VERDICT_UNKNOWN);
		f->open = answer == SMT_WITNESS              ? OPEN_INCOMPLETE
		          : seconds < c->options.budget_pair ? OPEN_TOTAL
		                                             : OPEN_PAIR;
		c->unknown = true;
		c->spent |= answer != SMT_WITNESS;
	}
	if (f != NULL && !k->happened)
		f->by = "smt";
	if (proof != NULL)
		proof_free(proof);
	return f;
}

static void cov_keep(struct cov *c, struct finding *f)
{
	bool listed = f->verdict == VERDICT_RACE || f->verdict == VERDICT_HAPPENED;
	if (listed || c->options.all_verdicts ||
	    (c->options.list_unknown && f->verdict == VERDICT_UNKNOWN))
		report_add(c->report, f);
	else
		finding_free(f);
}

/* Decide candidates from..to, which are of one pair of locations: the first real one decides;
 * impossible when all are. */
static bool decide_sites(struct cov *c, guint from, guint to)
{
	struct finding *best = NULL;
	for (guint i = from; i < to; i++) {
		struct finding *f =
		        cov_verdict(c, &g_array_index(c->candidates, struct candidate, i));
		if (f == NULL) {
			finding_free(best);
			return false;
		}
		bool real = f->verdict == VERDICT_RACE || f->verdict == VERDICT_HAPPENED;
		if (best == NULL || real || f->verdict == VERDICT_UNKNOWN) {
			finding_free(best);
			best = f;
		} else {
			finding_free(f);
		}
		if (real)
			break;
	}
	const struct site_pair *p =
	        c->options.pairs_events
	                ? NULL
	                : pair_of(c, &g_array_index(c->candidates, struct candidate, from));
	best->count = to - from + (p ? p->others : 0);
	if (p && p->cut && best->verdict == VERDICT_IMPOSSIBLE) {
		best->verdict = VERDICT_UNKNOWN;
		best->open = OPEN_CANDIDATES;
		c->cut++;
		proof_free(best->proof);
		best->proof = NULL;
		c->unknown = true;
	}
	c->report->candidates += best->count;
	cov_keep(c, best);
	return true;
}

static bool same_places(const struct candidate *a, const struct candidate *b)
{
	return place_pair_equal(&a->places, &b->places);
}

static bool decide_all(struct cov *c)
{
	GArray *list = c->candidates;
	for (guint i = 0; i < list->len;) {
		guint next = i + 1;
		if (!progress_tick(c->progress, (double)i / list->len, "order violations"))
			return false;
		while (!c->options.pairs_events && next < list->len &&
		       same_places(&g_array_index(list, struct candidate, i),
		                   &g_array_index(list, struct candidate, next)))
			next++;
		if (!decide_sites(c, i, next))
			return false;
		i = next;
	}
	return true;
}

/* Mark the candidates that EDC orders: they are tried last. */
static void cov_rank(struct cov *c)
{
	struct error ignored; /* without the order the rank is by place alone */
	struct edc *edc = c->candidates->len > 1 && !c->options.pairs_events
	                          ? edc_new(c->m, false, c->progress, &ignored)
	                          : NULL;
	for (guint i = 0; edc != NULL && i < c->candidates->len; i++) {
		struct candidate *k = &g_array_index(c->candidates, struct candidate, i);
		k->ordered = edc_orders_pair(edc, (uint32_t[]){ k->e1, k->e2 },
		                             (uint32_t[]){ k->end1, k->end2 });
	}
	edc_free(edc);
	g_array_sort(c->candidates, c->options.pairs_events ? by_event : by_sites);
}

/* A search with so many seconds; released by cov_release, all but its report. */
static struct cov cov_new(struct model *m, const struct cov_options *options, double seconds,
                          const struct progress *progress, struct error *error)
{
	return (struct cov){ .m = m,
		             .t = m->t,
		             .options = *options,
		             .left = seconds,
		             .semantics = model_semantics(m),
		             .progress = progress,
		             .error = error,
		             .report = report_new(m->t, "cov"),
		             .candidates = g_array_new(FALSE, FALSE, sizeof(struct candidate)),
		             .pairs = g_hash_table_new_full(place_pair_hash, place_pair_equal,
		                                            g_free, NULL) };
}

static void cov_release(struct cov *c)
{
	g_hash_table_unref(c->pairs);
	smt_free(c->smt);
	trace_close(c->chains);
	rule5_free(c->rule5);
	g_array_unref(c->candidates);
}

struct finding *cov_decide(struct model *m, uint32_t e1, uint32_t e2,
                           const struct cov_options *options, const struct progress *progress,
                           struct error *error)
{
	const struct trace *t = m->t;
	uint32_t events[2] = { MIN(e1, e2), MAX(e1, e2) };
	struct call pair[2];
	struct call_scratch scratch[2];
	bool commute;
	const char *what = NULL;
	if (events[1] >= t->events_count)
		what = "the trace has fewer events";
	else if (t->events[e1].thread == t->events[e2].thread)
		what = "they are of one thread";
	else if (!model_common_calls(m, events[0], events[1], pair, scratch, &commute))
		what = "they are not on one object with a specification";
	else if (commute)
		what = "they commute";
	if (what != NULL) {
		error_set(error, trace_name(t),
		          "name two such events, by the numbers of their lines",
		          "expected two invocations that do not commute, or two accesses that "
		          "conflict, found events %u and %u: %s",
		          e1, e2, what);
		return NULL;
	}
	if (!model_pair_known(m, events[0], events[1], error))
		return NULL;
	struct cov c = cov_new(m, options, options->budget_pair, progress, error);
	c.options.pairs_events = true;
	struct finding *f = NULL;
	if (!cov_prepare(&c)) {
		error_cancelled(error);
	} else if (m->objects[pair[0].object].source != FROM_INSTANCE &&
	           rule5_speaks_for(c.rule5, e1, e2)) {
		error_set(error, trace_name(t),
		          "ask whether the invocations can come in the other order",
		          "events %u and %u are inside of invocations of one object, whose "
		          "specification speaks for them",
		          e1, e2);
	} else {
		cov_visit(&c, &pair[0], &pair[1], 0);
		f = cov_verdict(&c, &g_array_index(c.candidates, struct candidate, 0));
		if (f == NULL)
			error_cancelled(error);
	}
	if (f != NULL)
		finding_limit(t, f);
	report_free(c.report);
	cov_release(&c);
	return f;
}

struct report *cov_find(struct model *m, const struct cov_options *options,
                        const struct progress *progress, struct error *error)
{
	struct cov c = cov_new(m, options, options->budget_total, progress, error);
	bool whole = cov_prepare(&c) || error_cancelled(error);
	whole = whole && commute_pairs(m, cov_visit, &c, progress, error);
	if (whole) {
		cov_rank(&c);
		whole = decide_all(&c);
		if (!whole)
			error_cancelled(error);
	}
	if (whole) {
		for (guint i = 0; i < m->notes->len; i++)
			report_note(c.report, "%s", (char *)m->notes->pdata[i]);
		c.report->complete = true;
		if (c.unknown || !m->t->complete)
			report_open(c.report, m->t->complete ? "some pairs have no verdict"
			                                     : "the trace is cut off");
		c.report->open_listed = c.options.list_unknown && m->t->complete;
		c.report->budget_spent = c.spent;
		c.report->same_pairing = past_waits_vary(m->t, PAST_REORDERED);
		if (c.cut > 0)
			report_note(
			        c.report,
			        "more than %u pairs of events: of %u pairs of locations some "
			        "were not looked at",
			        MOST_LISTED, c.cut);
		report_finish(c.report);
	} else {
		report_free(c.report);
		c.report = NULL;
	}
	cov_release(&c);
	return c.report;
}
