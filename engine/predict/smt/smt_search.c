/*
 * smt_search.c - the search for one query: tries of regions by the scheduler, and the solver in
 * between.
 *
 * Likely regions are tried first, without the solver. In a long trace most of a region is a
 * recorded prefix unrelated to the query: windows are tried, the recording up to some event and
 * then the region; they grow only when a try yields no clause. Clauses hold for every
 * reordering, so proofs do not depend on the tries.
 */
#include "engine/predict/smt/smt_private.h"

#include <string.h>

/* Number of events from which a region is tried by windows. */
enum { LONG_REGION = 16384, SMALLEST_WINDOW = 1024 };

static unsigned milliseconds_left(gint64 deadline)
{
	gint64 left = (deadline - effort_microseconds()) / 1000;

	return deadline <= effort_microseconds() ? 0 : (unsigned)MIN(left, 600000) + 1;
}

/* The latest acquire of each lock in the region that may exclude an open section. */
struct latest {
	uint32_t exclusive, any; /* events + 1; 0 none */
};

/* Close sections that are open in the region and not the last of their lock; false when none
 * was, or one cannot be closed. */
static bool close_sections(struct smt_query *q, const uint32_t *from, struct latest *latest)
{
	const struct trace *t = q->s->t;
	bool changed = false;

	for (uint32_t u = 0; u < q->s->threads; u++) {
		struct event_list list = trace_thread_events(t, u);

		for (uint32_t i = from[u]; i < q->cut[u]; i++) {
			uint32_t a = list.items[i], r;
			const struct event *x = &t->events[a];
			const struct latest *l = &latest[x->target];

			if (!op_acquires(x->op) || event_inert(x))
				continue;
			r = t->index->partner[a];
			if ((r != NONE && cut_has(t, q->cut, r)) ||
			    a + 1 >= (x->op == OP_ACQ ? l->any : l->exclusive))
				continue;
			if (r == NONE || query_never(q, r))
				return false;
			past_join(q->s->past, r, q->cut);
			changed = true;
		}
	}
	return changed;
}

static void find_latest(const struct smt_query *q, const uint32_t *from, struct latest *latest)
{
	const struct trace *t = q->s->t;

	memset(latest, 0, sizeof(*latest) * (t->objects_count + 1));
	for (uint32_t u = 0; u < q->s->threads; u++) {
		struct event_list list = trace_thread_events(t, u);

		for (uint32_t i = from[u]; i < q->cut[u]; i++) {
			const struct event *x = &t->events[list.items[i]];

			if (!op_acquires(x->op) || event_inert(x))
				continue;
			struct latest *l = &latest[x->target];
			l->any = MAX(l->any, list.items[i] + 1);
			if (x->op == OP_ACQ)
				l->exclusive = MAX(l->exclusive, list.items[i] + 1);
		}
	}
}

/* For failed tries in the region, includes a section that made them fail, if possible; false
 * when it included none. */
static bool join_holders(struct smt_query *q, const uint32_t *from)
{
	const struct trace *t = q->s->t;
	bool changed = false;

	for (uint32_t u = 0; q->s->has_tries && u < q->s->threads; u++) {
		struct event_list list = trace_thread_events(t, u);

		for (uint32_t i = from == NULL ? 0 : from[u]; i < q->cut[u]; i++) {
			struct event_list seen;
			uint32_t a;

			if (!(q->s->needs[list.items[i]] & NEED_OF_TRY))
				continue;
			seen = tries_observed(q->s->tries, list.items[i]);
			a = seen.items[seen.count - 1];
			if (cut_has(t, q->cut, a) || query_never(q, a))
				continue;
			past_join(q->s->past, a, q->cut);
			changed = true;
		}
	}
	return changed;
}

/* Try with the recorded order of sections on each lock (SyncP's closure): sections followed by
 * others are closed. Events below `prefix` are as recorded, without sections left open
 * there. */
static bool try_closed(struct smt_query *q, uint32_t prefix, uint32_t *fresh)
{
	struct latest *latest = g_new(struct latest, q->s->t->objects_count + 1);
	uint32_t *from = g_new0(uint32_t, q->s->threads + 1);
	uint32_t more = 0;
	bool good = false;

	for (uint32_t u = 0; prefix > 0 && u < q->s->threads; u++)
		from[u] = trace_events_before(q->s->t, u, prefix);
	do {
		find_latest(q, from, latest);
		q->s->work += query_region_size(q);
	} while (!query_stopped(q) &&
	         (close_sections(q, from, latest) | join_holders(q, from)));
	g_free(latest);
	g_free(from);
	good = scheduler_run(q, prefix, &more);
	*fresh += more;
	return good;
}

/* The first try: all events before the first excluded one, and the required ones. Mostly a
 * prefix of the trace, which needs no examination. */
static bool try_recorded(struct smt_query *q, uint32_t *fresh)
{
	const struct smt *s = q->s;
	uint32_t first = NONE, prefix;

	for (guint i = 0; i < q->out->len; i++)
		first = MIN(first, g_array_index(q->out, uint32_t, i));
	if (first == NONE || q->edges->len > 0 || s->late_access)
		return false;
	prefix = first;
	for (uint32_t u = 0; u < s->threads; u++) {
		struct event_list list = trace_thread_events(s->t, u);

		q->cut[u] = MAX(q->cut[u], trace_events_before(s->t, u, first));
		uint32_t end = q->cut[u] < list.count ? list.items[q->cut[u]] : NONE;
		prefix = MIN(prefix, outermost_before(s, u, end));
	}
	return try_closed(q, prefix, fresh);
}

/* -- windows ---------------------------------------------------------------------------- */

static bool goes_by_windows(const struct smt_query *q)
{
	uint64_t from = q->s->options.window_from;

	return (q->judge == NULL || q->judged_from != NONE) && !q->s->late_access &&
	       query_region_size(q) >= (from > 0 ? from : LONG_REGION);
}

/* The latest position up to which the recording can be kept: before excluded events, before
 * reversals chosen by the model, and before all that the judge looks at. */
static uint32_t latest_window(const struct smt_query *q, const struct encoding *x)
{
	uint32_t place = MIN(x != NULL ? encoding_first_out(x) : NONE, q->judged_from);

	for (guint i = 0; i < q->out->len; i++)
		place = MIN(place, g_array_index(q->out, uint32_t, i));
	for (guint i = 0; i < q->chosen->len; i++) {
		const struct order_edge *e = &g_array_index(q->chosen, struct order_edge, i);

		if (e->before > e->after)
			place = MIN(place, e->after);
	}
	return place == NONE ? 0 : place;
}

/* Try the region after ever shorter recorded prefixes, until a try succeeds, yields a clause,
 * or had no prefix. */
static bool try_windows(struct smt_query *q, const struct encoding *x, uint32_t *fresh)
{
	const struct smt *s = q->s;
	size_t size = s->threads * sizeof(uint32_t);
	g_autofree uint32_t *cut = g_memdup2(q->cut, size + 1);
	uint32_t latest = latest_window(q, x), width = SMALLEST_WINDOW, prefix = latest;
	bool good;

	if (s->options.window_from > 0) /* small traces, in tests */
		width = 1;
	for (;;) {
		uint32_t more = 0;

		for (uint32_t u = 0; u < s->threads; u++)
			q->cut[u] = MAX(cut[u], trace_events_before(s->t, u, prefix));
		good = scheduler_run(q, prefix, &more);
		*fresh += more;
		memcpy(q->cut, cut, size);
		if (good || more > 0 || prefix == 0 || q->stopped)
			break;
		width *= 4;
		prefix = latest > width ? latest - width : 0;
	}
	return good;
}

static bool try_region(struct smt_query *q, const struct encoding *x, uint32_t *fresh)
{
	return goes_by_windows(q) && q->sources == NULL ? try_windows(q, x, fresh)
	                                                : scheduler_run(q, 0, fresh);
}

/* -- the search --------------------------------------------------------------------------- */

/* Reset to the least region. */
static void reset_region(struct smt_query *q)
{
	memcpy(q->cut, q->base, sizeof(uint32_t) * q->s->threads);
}

/* Tries before the solver, likeliest first. */
static bool try_alone(struct smt_query *q, uint32_t *fresh)
{
	uint32_t more = 0;
	bool by_windows = goes_by_windows(q), good;

	if (try_recorded(q, fresh))
		return true;
	reset_region(q);
	if (by_windows && *fresh > 0)
		return false; /* the solver chooses better within a long region */
	while (!query_stopped(q) && join_holders(q, NULL))
		;
	good = try_region(q, NULL, &more);
	*fresh += more;
	return good || (!by_windows && try_closed(q, 0, fresh));
}

enum smt_answer query_search(struct smt_query *q, struct encoding **x,
                             const struct progress *progress)
{
	unsigned tries = 0;

	for (;;) {
		uint32_t fresh = 0;

		if (!progress_tick(progress, 0.5, "solver"))
			return SMT_CANCELLED;
		if (tries++ == 0 ? try_alone(q, &fresh) : try_region(q, *x, &fresh)) {
			guint before = q->clauses->len;

			q->s->work += q->sequence->len;
			if (q->judge == NULL ||
			    q->judge(q->judge_context, q,
			             (const uint32_t *)(void *)q->sequence->data,
			             q->sequence->len))
				return SMT_WITNESS;
			fresh = q->clauses->len - before;
		}
		/* each obstacle is a constraint that the choices do not satisfy yet */
		unsigned left = milliseconds_left(q->deadline);
		if (fresh == 0 || left == 0 || q->stopped)
			return SMT_SPENT;
		if (*x == NULL)
			*x = encoding_new(q);
		int answer = encoding_check(*x, left);
		if (answer <= 0)
			return answer == 0 ? SMT_IMPOSSIBLE : SMT_SPENT;
	}
}
