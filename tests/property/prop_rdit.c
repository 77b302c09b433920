/*
 * prop_rdit.c - missing code as barrier pairs: the must-orders against the definition, pair
 * by pair of events, and the races of `rdit` against exhaustive search of the same trace
 * with these must-orders written into it as messages.
 */
#include "engine/partial/rdit.h"
#include "engine/predict/predict.h"
#include "tests/property/mix.h"

#include <stdio.h>
#include <string.h>

enum { MAX = 24 };

static unsigned edges_seen, races_seen, races_gone;

/* A trace of a few accesses, sections and missing calls; names that contain each other. */
static char *missing_text(uint64_t seed)
{
	static const char *const names[] = { "x",  "p",    "p.f",  "p.f[1]",
		                             "q", "*s", "s->f", "s[1].f" };
	GRand *r = g_rand_new_with_seed((guint32)seed);
	int threads = g_rand_int_range(r, 2, 4), length = g_rand_int_range(r, 4, 12);
	int depth[3] = { 0 }, owner = -1;
	GString *text = g_string_new(NULL);

	for (int i = 0; i < length;) {
		int u = g_rand_int_range(r, 0, threads), what = g_rand_int_range(r, 0, 100);
		const char *name = names[g_rand_int_range(r, 0, G_N_ELEMENTS(names))];

		if (what < 55)
			g_string_append_printf(text, "T%d|%c(%s)|%d\n", u,
			                       what < 25 ? 'r' : 'w', name, u);
		else if (what < 70 && depth[u] < 2) {
			g_string_append_printf(text, "T%d|miss(m%d,%s,%s)|%d\n", u, ++depth[u],
			                       name, what < 60 ? "l" : "q", u);
		} else if (what < 85 && depth[u] > 0) {
			g_string_append_printf(text, "T%d|back(m%d)|%d\n", u, depth[u]--, u);
		} else if (owner < 0) {
			g_string_append_printf(text, "T%d|acq(l)|%d\n", owner = u, u);
		} else if (owner == u) {
			g_string_append_printf(text, "T%d|rel(l)|%d\n", u, u);
			owner = -1;
		} else {
			continue;
		}
		i++;
	}
	g_rand_free(r);
	return g_string_free(text, FALSE);
}

static struct trace *trace_of(const char *text)
{
	struct error error = { .where = "" };
	struct trace_options options = { .lenient = true };
	struct trace *t = trace_from_text("missing", text, strlen(text), &options, &error);

	if (t == NULL)
		printf("%s\n%s: %s\n", text, error.where, error.what);
	BUG_ON(t == NULL);
	return t;
}

/* -- the definition ---------------------------------------------------------------------- */

static bool reaches(const char *a, const char *name)
{
	const char *rest = name + strlen(a);

	if (g_str_has_prefix(name, a) && strchr(".[+", *rest) != NULL)
		return true;
	/* a heap block, as recordings name it */
	return a[0] == '*' && g_str_has_prefix(name, a + 1) &&
	       (rest[-1] == '[' || g_str_has_prefix(rest - 1, "->"));
}

static bool overlap(const char *a, const char *b)
{
	return strcmp(a, b) == 0 || reaches(a, b) || reaches(b, a);
}

static const char *address(const struct trace *t, uint32_t miss, uint32_t i)
{
	const struct value *list = &t->values[t->events[miss].aux];

	if (i >= list->count)
		return NULL;
	return trace_string(t, t->values[t->value_lists[list->first + i]].string);
}

/* The missing calls that an event is inside of (or begins, or ends), as bits. */
static uint32_t calls_around(const struct trace *t, uint32_t e)
{
	uint32_t open = 0, before = 0;

	for (uint32_t f = 0; f <= e; f++) {
		if (t->events[f].thread != t->events[e].thread)
			continue;
		before = open;
		if (t->events[f].op == OP_MISS)
			open |= 1u << f;
		if (t->events[f].op == OP_BACK)
			open &= ~(1u << (31 - __builtin_clz(open)));
	}
	return open | before;
}

static const char *touched(const struct trace *t, uint32_t e)
{
	const struct event *x = &t->events[e];

	if (op_is_access(x->op))
		return trace_string(t, t->variables[x->target].name);
	return op_table[x->op].operand == OPERAND_OBJECT
	               ? trace_string(t, t->objects[x->target].name)
	               : NULL;
}

/* An access to what the call may reach: the address itself or a part of it. */
static bool call_reaches(const struct trace *t, uint32_t miss, const char *name)
{
	for (uint32_t i = 0; name != NULL && address(t, miss, i) != NULL; i++) {
		if (strcmp(address(t, miss, i), name) == 0 ||
		    reaches(address(t, miss, i), name))
			return true;
	}
	return false;
}

static bool calls_meet(const struct trace *t, uint32_t m, uint32_t n)
{
	for (uint32_t i = 0; address(t, m, i) != NULL; i++) {
		for (uint32_t k = 0; address(t, n, k) != NULL; k++) {
			if (overlap(address(t, m, i), address(t, n, k)))
				return true;
		}
	}
	return false;
}

static bool kept_in_order(const struct trace *t, uint32_t e, uint32_t f)
{
	uint32_t around_e = calls_around(t, e), around_f = calls_around(t, f);

	for (uint32_t m = 0; m < t->events_count; m++) {
		if ((around_e >> m & 1) && call_reaches(t, m, touched(t, f)))
			return true;
		if ((around_f >> m & 1) && call_reaches(t, m, touched(t, e)))
			return true;
		for (uint32_t n = 0; n < t->events_count; n++) {
			if ((around_e >> m & 1) && (around_f >> n & 1) && calls_meet(t, m, n))
				return true;
		}
	}
	return false;
}

static void close_order(bool before[MAX][MAX], uint32_t n)
{
	for (uint32_t k = 0; k < n; k++) {
		for (uint32_t i = 0; i < n; i++) {
			for (uint32_t j = 0; j < n; j++)
				before[i][j] |= before[i][k] && before[k][j];
		}
	}
}

static bool same_order(struct trace *t, const GArray *edges)
{
	bool want[MAX][MAX] = { 0 }, got[MAX][MAX] = { 0 };
	uint32_t n = (uint32_t)t->events_count;

	for (uint32_t e = 0; e < n; e++) {
		for (uint32_t f = e + 1; f < n; f++) {
			bool own = t->events[e].thread == t->events[f].thread;

			got[e][f] = own;
			want[e][f] = own || kept_in_order(t, e, f);
		}
	}
	for (guint i = 0; i < edges->len; i++) {
		const struct must_edge *m = &g_array_index(edges, struct must_edge, i);

		got[m->before][m->after] = true;
		edges_seen++;
	}
	close_order(want, n);
	close_order(got, n);
	for (uint32_t e = 0; e < n; e++) {
		for (uint32_t f = 0; f < n; f++) {
			if (want[e][f] == got[e][f])
				continue;
			printf("%u and %u: %s\n", e, f, got[e][f] ? "ordered" : "not ordered");
			return false;
		}
	}
	return true;
}

/* -- the races ---------------------------------------------------------------------------- */

/* The trace with a message for each edge, sent after its first event and received before
 * its second; `ids` is the new id of each event. */
static char *with_messages(const struct trace *t, const GArray *edges, uint32_t *ids)
{
	GString *text = g_string_new(NULL);
	uint32_t next = 0;

	for (uint32_t e = 0; e < t->events_count; e++) {
		const char *thread = trace_thread_name(t, t->events[e].thread);

		for (guint i = 0; i < edges->len; i++, next += 1) {
			const struct must_edge *m = &g_array_index(edges, struct must_edge, i);

			if (m->after == e)
				g_string_append_printf(text, "%s|rcv(g%u)|0\n", thread, i);
			else
				next--;
		}
		ids[e] = next++;
		trace_append_line(t, e, text);
		g_string_append_c(text, '\n');
		for (guint i = 0; i < edges->len; i++) {
			const struct must_edge *m = &g_array_index(edges, struct must_edge, i);

			if (m->before != e)
				continue;
			g_string_append_printf(text, "%s|snd(g%u)|0\n", thread, i);
			next++;
		}
	}
	return g_string_free(text, FALSE);
}

static bool listed(const struct report *r, uint32_t e, uint32_t f)
{
	for (guint i = 0; i < r->findings->len; i++) {
		const struct finding *found = r->findings->pdata[i];

		if (found->first == e && found->second == f)
			return found->verdict == VERDICT_RACE;
	}
	return false;
}

static bool same_races(struct trace *t, const GArray *edges)
{
	uint32_t ids[MAX], n = (uint32_t)t->events_count;
	char *text = with_messages(t, edges, ids);
	struct trace *told = trace_of(text);
	uint32_t all = (uint32_t)told->events_count;
	struct race_options options;
	struct error error = { .where = "" };
	struct report *r;
	bool *races, *plain, good = true;

	g_free(text);
	if (all > 26) { /* too long for the search */
		trace_close(told);
		return true;
	}
	race_options_init(&options);
	options.analysis = ANALYSIS_RDIT;
	options.pairs_events = true;
	options.budget_pair = options.budget_total = MIX_SECONDS;
	r = races_find(t, &options, NULL, &error);
	races = oracle_races(told, false);
	plain = oracle_races(t, false);
	for (uint32_t e = 0; e < n && good; e++) {
		for (uint32_t f = e + 1; f < n && good; f++) {
			bool race = races[(size_t)ids[e] * all + ids[f]];

			races_seen += race;
			races_gone += !race && plain[(size_t)e * n + f];
			good = listed(r, e, f) == race;
			if (!good)
				printf("%u and %u: %s\n", e, f,
				       race ? "race missed" : "no race");
		}
	}
	g_free(races);
	g_free(plain);
	report_free(r);
	trace_close(told);
	return good;
}

static bool one(uint64_t seed)
{
	char *text = missing_text(seed);
	struct trace *t = trace_of(text);
	GArray *edges = rdit_edges(t, NULL);
	bool good = same_order(t, edges) && same_races(t, edges);

	if (!good)
		printf("%s\n", text);
	g_array_free(edges, TRUE);
	trace_close(t);
	g_free(text);
	return good;
}

int main(int argc, char **argv)
{
	int status = mix_main(argc, argv, "missing code against its definition", 5000, one);

	printf("%u edges, %u races, %u races that missing code rules out\n", edges_seen,
	       races_seen, races_gone);
	return status != 0 || edges_seen == 0 || races_seen == 0 || races_gone == 0;
}
