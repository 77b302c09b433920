/*
 * prop_deadlock.c - predictable deadlocks of random small traces, against exhaustive
 * search: exactly the cycles of requests that some reachable state shows.
 */
#include "engine/predict/deadlock/deadlock.h"
#include "tests/property/mutate.h"
#include "tests/property/mix.h"
#include "tests/support/coverage.h"

#include <stdio.h>
#include <string.h>

/* How often each answer came: a run that meets one of them never tests nothing. */
static unsigned deadlocks, impossible, happened, stuck, mutants, mutants_true;

struct search {
	const struct trace *t;
	GHashTable *cycles; /* sets of requests, as bits */
};

static bool in(uint32_t done, uint32_t e)
{
	return done >> e & 1;
}

static uint32_t next_of(const struct trace *t, uint32_t done, uint32_t thread)
{
	for (uint32_t e = 0; e < t->events_count; e++) {
		if (t->events[e].thread == thread && !in(done, e))
			return e;
	}
	return NONE;
}

/* Can the thread wait at `e` for ever for a lock?  Not at a try, nor at a wait that a time
 * limit ends; at a want it did. */
static bool requests(const struct trace *t, uint32_t e)
{
	const struct event *x = &t->events[e];

	if (x->op == OP_WANT)
		return true;
	return (x->op == OP_ACQ || x->op == OP_RACQ) && !event_inert(x) &&
	       (x->flags & EVENT_TRY) == 0;
}

/* A want has no mode: it was exclusive when only readers held the lock at the end. */
static bool exclusive(const struct trace *t, uint32_t e)
{
	int readers = 0, writers = 0;

	if (t->events[e].op != OP_WANT)
		return t->events[e].op == OP_ACQ;
	for (uint32_t f = 0; f < t->events_count; f++) {
		const struct event *x = &t->events[f];

		if (event_inert(x) || x->target != t->events[e].target)
			continue;
		writers += x->op == OP_ACQ ? 1 : x->op == OP_REL ? -1 : 0;
		readers += x->op == OP_RACQ ? 1 : x->op == OP_RREL ? -1 : 0;
	}
	return writers == 0 && readers > 0;
}

/* Does the thread hold the lock that `e` requests, in a mode that keeps it out? */
static bool keeps_out(const struct trace *t, uint32_t done, uint32_t thread, uint32_t e)
{
	bool held = false;

	for (uint32_t f = 0; f < t->events_count; f++) {
		const struct event *x = &t->events[f];

		if (x->thread != thread || !in(done, f) || event_inert(x) ||
		    (!op_acquires(x->op) && !op_releases(x->op)) ||
		    x->target != t->events[e].target)
			continue;
		held = x->op == OP_ACQ || (x->op == OP_RACQ && exclusive(t, e));
	}
	return held;
}

/* Follows the waits from the last thread of the path; the first one closes the cycle. */
static void follow(struct search *s, uint32_t done, uint32_t *path, uint32_t length)
{
	const struct trace *t = s->t;

	for (uint32_t u = 0; u < t->threads_count; u++) {
		uint32_t e = next_of(t, done, u), mask = 0;
		bool on_path = false;

		if (e == NONE || !requests(t, e) || !oracle_next(t, done, e) ||
		    !keeps_out(t, done, u, path[length - 1]) ||
		    t->events[path[length - 1]].thread == u)
			continue;
		for (uint32_t i = 0; i < length; i++) {
			on_path |= path[i] == e;
			mask |= 1u << path[i];
		}
		if (e == path[0] && length > 1)
			g_hash_table_add(s->cycles, GUINT_TO_POINTER(mask));
		if (!on_path) {
			path[length] = e;
			follow(s, done, path, length + 1);
		}
	}
}

static void look(void *context, uint32_t done)
{
	struct search *s = context;

	for (uint32_t u = 0; u < s->t->threads_count; u++) {
		uint32_t path[32] = { next_of(s->t, done, u) };

		if (path[0] != NONE && requests(s->t, path[0]) &&
		    oracle_next(s->t, done, path[0]))
			follow(s, done, path, 1);
	}
}

static uint32_t requests_of(const struct finding *f)
{
	uint32_t mask = 0;

	for (guint i = 0; i < f->requests->len; i++)
		mask |= 1u << g_array_index(f->requests, uint32_t, i);
	return mask;
}

static bool complain(const struct trace *t, const char *what, uint32_t mask)
{
	char *text = trace_text(t);

	printf("%s\n%s: requests", text, what);
	for (uint32_t e = 0; e < 32; e++) {
		if (in(mask, e))
			printf(" %u", e);
	}
	printf("\n");
	g_free(text);
	return false;
}

static bool is_want(const struct trace *t, uint32_t e)
{
	return t->events[e].op == OP_WANT || t->events[e].op == OP_WANTJOIN;
}

/* At the end of the trace, does the thread of `f` keep that of `e` waiting? */
static bool waits_at_end(const struct trace *t, uint32_t e, uint32_t f)
{
	uint32_t thread = t->events[f].thread;
	int held = 0;

	if (t->events[e].op == OP_WANTJOIN)
		return t->events[e].target == thread;
	for (uint32_t i = 0; i < t->events_count; i++) {
		const struct event *x = &t->events[i];

		if (event_inert(x) || x->target != t->events[e].target || x->thread != thread)
			continue;
		held += op_acquires(x->op) ? 1 : op_releases(x->op) ? -1 : 0;
	}
	return held > 0;
}

/* A circle of wants that the end of the trace shows: `from` waits, through others, for itself,
 * and some wait on the way is one for a lock. */
static bool circle_at_end(const struct trace *t, uint32_t from, uint32_t at, uint32_t seen,
                          bool lock)
{
	lock |= t->events[at].op == OP_WANT;
	for (uint32_t f = 0; f < t->events_count; f++) {
		if (!is_want(t, f) || !waits_at_end(t, at, f))
			continue;
		if (f == from && lock)
			return true;
		if (!in(seen, f) && circle_at_end(t, from, f, seen | 1u << f, lock))
			return true;
	}
	return false;
}

/* Does the trace itself show that nothing keeps the thread of `e` waiting: a lock that no
 * thread holds, a thread that has ended? */
static bool is_free(const struct trace *t, uint32_t e)
{
	bool join = t->events[e].op == OP_WANTJOIN, over = false;
	int held = 0;

	for (uint32_t i = 0; i < t->events_count; i++) {
		const struct event *x = &t->events[i];
		if (join && x->thread == t->events[e].target)
			over = x->op == OP_END;
		else if (join && x->op == OP_JOIN && x->target == t->events[e].target)
			over = true;
		else if (!join && !event_inert(x) && x->target == t->events[e].target)
			held += op_acquires(x->op) ? 1 : op_releases(x->op) ? -1 : 0;
	}
	return join ? over : held == 0;
}

/* Deadlocks reported as happened did happen, and none of those is missing. */
static bool judge_happened(const struct trace *t, const struct report *r)
{
	uint32_t told = 0;
	bool good = true, circle = false, any = false;

	for (guint k = 0; k < r->findings->len && good; k++) {
		const struct finding *f = r->findings->pdata[k];
		const uint32_t *e = (const uint32_t *)(void *)f->requests->data;

		if (f->verdict != VERDICT_HAPPENED)
			continue;
		for (guint i = 0; i < f->waits->len; i++)
			told |= 1u << g_array_index(f->waits, struct wait, i).event;
		for (guint i = 0; f->kind == FINDING_DEADLOCK && i < f->requests->len; i++)
			good &= waits_at_end(t, e[i], e[(i + 1) % f->requests->len]);
		circle |= f->kind == FINDING_DEADLOCK;
		happened += f->kind == FINDING_DEADLOCK;
		stuck += f->kind == FINDING_STUCK;
	}
	if (!good)
		return complain(t, "did not happen", told);
	for (uint32_t e = 0; e < t->events_count; e++) {
		if (is_want(t, e) && !is_free(t, e) && !in(told, e))
			return complain(t, "a wait is left out", 1u << e);
		any |= is_want(t, e) && circle_at_end(t, e, e, 0, false);
	}
	return any == circle || complain(t, "a circle that is none, or is missed", told);
}

/* Is a claim of a deadlock true, by the definitions?  The requests may stand at the end. */
static bool claim_true(const struct trace *t, const GArray *sequence, const GArray *request)
{
	const uint32_t *x = (const uint32_t *)(void *)sequence->data;
	const uint32_t *r = (const uint32_t *)(void *)request->data;
	uint32_t length = sequence->len, at_end = 0, done = 0;

	for (guint i = 0; i < MIN(request->len, sequence->len); i++) {
		for (guint k = 0; k < request->len; k++)
			at_end += x[length - 1 - i] == r[k];
	}
	if (at_end == request->len)
		length -= request->len;
	if (oracle_waits(t, x, length, r, request->len))
		return true;
	if (!oracle_is_reordering(t, x, length, false))
		return false;
	for (uint32_t i = 0; i < length; i++)
		done |= 1u << x[i];
	for (guint i = 0; i < request->len; i++) {
		const struct event *e = &t->events[r[i]];
		bool kept = false;

		for (guint k = 0; k < request->len; k++) {
			uint32_t u = t->events[r[k]].thread;

			if (e->op == OP_WANTJOIN)
				kept |= e->target == u;
			else if (u != e->thread || e->op == OP_WANT)
				kept |= keeps_out(t, done, u, r[i]);
		}
		if (!kept || (!requests(t, r[i]) && e->op != OP_WANTJOIN) ||
		    next_of(t, done, e->thread) != r[i] || !oracle_next(t, done, r[i]))
			return false;
	}
	return true;
}

/* A witness with an event dropped, swapped, doubled or replaced, or with other requests: the
 * checker accepts it exactly when it is still valid. */
static bool judge_mutant(const struct trace *t, const struct finding *f, GRand *random)
{
	GArray *s = g_array_copy(f->witness), *request = g_array_copy(f->requests);
	uint32_t *x = (uint32_t *)(void *)s->data, *r = (uint32_t *)(void *)request->data;
	uint32_t a = (uint32_t)g_rand_int_range(random, 0, (gint32)s->len);
	uint32_t b = (uint32_t)g_rand_int_range(random, 0, (gint32)s->len);
	uint32_t e = (uint32_t)g_rand_int_range(random, 0, (gint32)t->events_count);
	uint32_t swapped = x[a];
	GString *reason = g_string_new(NULL);

	switch (g_rand_int_range(random, 0, 5)) {
	case 0:
		x[a] = x[b];
		x[b] = swapped;
		break;
	case 1:
		g_array_remove_index(s, a);
		break;
	case 2:
		x[a] = e;
		break;
	case 3:
		g_array_insert_val(s, a, e);
		break;
	default:
		r[a % request->len] = e;
		break;
	}
	bool accepted =
	        witness_check(t, event_list_of(s), claimed_of(CLAIM_DEADLOCK, r, request->len),
	                      &(struct check_options){ 0 }, reason);
	bool truth = claim_true(t, s, request);
	if (accepted != truth) {
		printf("requests");
		for (guint i = 0; i < request->len; i++)
			printf(" %u", r[i]);
		printf(", sequence");
		for (guint i = 0; i < s->len; i++)
			printf(" %u", g_array_index(s, uint32_t, i));
		printf(": %s\n", reason->str);
	}
	g_string_free(reason, TRUE);
	mutants++;
	mutants_true += truth;
	g_array_unref(s);
	g_array_unref(request);
	return accepted == truth ||
	       complain(t, accepted ? "a false claim is accepted" : "a true claim is refused",
	                0);
}

/* Its witness with fewer switches of threads still is one. */
static bool judge_polished(const struct trace *t, const struct finding *f)
{
	GArray *better = polish_witness(t, f, &(struct check_options){ 0 });
	bool good = better != NULL && claim_true(t, better, f->requests);

	g_clear_pointer(&better, g_array_unref);
	return good || complain(t, "a minimised witness is false", 0);
}

/* Of a search that prop_stuck.c judges. */
static bool by_states(const struct finding *f)
{
	return f->by != NULL && strcmp(f->by, "states") == 0;
}

static bool judge_mutants(const struct trace *t, const struct report *r, uint64_t seed)
{
	GRand *random = g_rand_new_with_seed((guint32)seed);
	bool good = t->instances_count == 0 || r->findings->len == 0;

	for (guint k = 0; k < r->findings->len && t->instances_count == 0; k++) {
		const struct finding *f = r->findings->pdata[k];

		good = f->witness == NULL || by_states(f) || judge_polished(t, f);
		for (int i = 0; i < 20 && good && f->witness != NULL && !by_states(f); i++)
			good = judge_mutant(t, f, random);
		if (!good)
			break;
	}
	g_rand_free(random);
	return good || t->instances_count > 0;
}

/* `cut`: out of time, so missing findings are no fault if the report says so. */
static bool judge(const struct search *s, const struct report *r, bool cut)
{
	GHashTable *listed = g_hash_table_new(NULL, NULL);
	GHashTableIter i;
	gpointer key;
	bool good = (cut || r->complete || complain(s->t, "not complete", 0)) &&
	            judge_happened(s->t, r);

	for (guint k = 0; k < r->findings->len && good; k++) {
		const struct finding *f = r->findings->pdata[k];
		uint32_t mask = requests_of(f);
		if (by_states(f))
			continue;
		bool real = g_hash_table_contains(s->cycles, GUINT_TO_POINTER(mask));

		if (f->verdict == VERDICT_RACE && !real)
			good = complain(s->t, "no deadlock", mask);
		if (f->verdict == VERDICT_IMPOSSIBLE && real)
			good = complain(s->t, "called impossible", mask);
		deadlocks += f->verdict == VERDICT_RACE;
		impossible += f->verdict == VERDICT_IMPOSSIBLE;
		if (f->verdict == VERDICT_UNKNOWN && r->complete)
			good = complain(s->t, "complete with an unknown", mask);
		g_hash_table_add(listed, GUINT_TO_POINTER(mask));
	}
	g_hash_table_iter_init(&i, s->cycles);
	while (good && g_hash_table_iter_next(&i, &key, NULL)) {
		if (!g_hash_table_contains(listed, key) && r->complete)
			good = complain(s->t, "missed", GPOINTER_TO_UINT(key));
	}
	g_hash_table_destroy(listed);
	return good;
}

/*
 * A trace of threads that mostly nest locks: general random traces hardly ever have two
 * threads that do so in opposite order.
 */
static struct trace *nested_trace(uint64_t seed)
{
	GRand *r = g_rand_new_with_seed((guint32)seed);
	int threads = g_rand_int_range(r, 2, 5), locks = g_rand_int_range(r, 2, 4);
	int length = g_rand_int_range(r, 8, 23), count = 0;
	char mode[4][4] = { 0 }; /* by thread and lock: 0, 'x' or 's' */
	GString *text = g_string_new(NULL);
	struct error error = { .where = "" };

	for (int tries = 0; count < length && tries < 200; tries++) {
		int u = g_rand_int_range(r, 0, threads), l = g_rand_int_range(r, 0, locks);
		int what = g_rand_int_range(r, 0, 100);
		bool shared = g_rand_int_range(r, 0, 5) == 0, free = true;

		for (int v = 0; v < threads; v++)
			free &= v == u || mode[v][l] == 0 || (shared && mode[v][l] == 's');
		if (what < 20) {
			g_string_append_printf(text, "T%d|%c(x)|%d\n", u, what < 10 ? 'r' : 'w',
			                       u);
		} else if (what < 68 && mode[u][l] == 0 && free) {
			mode[u][l] = shared ? 's' : 'x';
			g_string_append_printf(text, "T%d|%s%s(l%d)|%d\n", u,
			                       g_rand_int_range(r, 0, 6) == 0 ? "try" : "",
			                       shared ? "racq" : "acq", l, u);
		} else if (what >= 68 && mode[u][l] != 0) {
			g_string_append_printf(text, "T%d|%s(l%d)|%d\n", u,
			                       mode[u][l] == 's' ? "rrel" : "rel", l, u);
			mode[u][l] = 0;
		} else {
			continue;
		}
		count++;
	}
	for (int u = 0; u < threads && g_rand_int_range(r, 0, 3) == 0; u++)
		g_string_append_printf(text, "T%d|want(l%d)|%d\n", u,
		                       g_rand_int_range(r, 0, locks), u);
	struct trace *t =
	        coverage_trace(trace_from_text("nested", text->str, text->len, NULL, &error));
	if (t == NULL)
		printf("%s\n%s: %s\n", text->str, error.where, error.what);
	g_string_free(text, TRUE);
	g_rand_free(r);
	BUG_ON(t == NULL);
	return t;
}

static bool one(uint64_t seed)
{
	struct random_options o = mix_options(seed, 2 + seed % 3, 10 + seed % 13);
	struct race_options options;
	struct error error = { .where = "" };
	bool good, cut = seed % 8 == 5;

	o.locks = 2 + seed % 2;
	o.variables = 1;
	struct trace *t = seed % 3 == 0 ? random_trace(seed, &o) : nested_trace(seed);
	struct search s = (struct search){ t, g_hash_table_new(NULL, NULL) };
	oracle_visit(t, false, false, look, &s);
	race_options_init(&options);
	options.pairs_events = true;
	options.all_verdicts = true;
	options.budget_pair = options.budget_total = cut ? 0 : MIX_SECONDS;
	options.no_free_steps = cut;
	struct report *r = deadlocks_find(t, &options, NULL, &error);
	good = r != NULL ? judge(&s, r, cut) && judge_mutants(t, r, seed)
	                 : complain(t, error.what, 0);
	report_free(r);
	g_hash_table_destroy(s.cycles);
	trace_close(t);
	return good;
}

int main(int argc, char **argv)
{
	int status = mix_main(argc, argv, "deadlocks against search", 4000, one);

	printf("%u deadlocks, %u impossible; %u happened, %u ended stuck\n", deadlocks,
	       impossible, happened, stuck);
	printf("%u mutated witnesses, %u of them true\n", mutants, mutants_true);
	return status != 0 || mutants == 0 || mutants_true == 0 || deadlocks == 0 ||
	       happened == 0 || stuck == 0;
}
