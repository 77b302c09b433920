/*
 * prop_rdit.c - missing code as barrier pairs: the must-orders against the definition, pair
 * by pair of events; the checker's against them, on random schedules; the explanation of each
 * (which calls, which address); and the races of `rdit` against exhaustive search of the same
 * trace with these must-orders written into it as messages.
 *
 * Every other trace is one of few accesses whose names contain each other; the rest are random
 * traces of every operation with missing calls put in: nested, overlapping, left open, around
 * each kind of synchronisation, and reaching variables, parts of them, locks, conditions,
 * semaphores, barriers, the ends of threads and what is no address.
 */
#include "engine/partial/calls.h"
#include "engine/partial/rdit.h"
#include "engine/predict/predict.h"
#include "engine/trace/formats.h"
#include "engine/witness/check.h"
#include "tests/property/mix.h"
#include "tests/support/coverage.h"

#include <stdio.h>
#include <string.h>

enum { MAX = 24 };

static unsigned edges_seen, races_seen, races_gone, refused_seen, marks_seen;

/* A trace of a few accesses, sections and missing calls; names that contain each other. */
static char *missing_text(uint64_t seed)
{
	static const char *const names[] = { "x", "p",  "p.f",  "p.f[1]",
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

/* -- calls put into a random trace of everything ------------------------------------------ */

/* Append memory that a call may reach: a name of the trace, or a piece of one, or no address
 * at all. */
static void append_reach(GRand *r, const struct trace *t, GString *out)
{
	const char *name = "x0";
	int what = g_rand_int_range(r, 0, 10);

	if (what < 4 && t->variables_count > 0)
		name = trace_variable_name(t,
		                           g_rand_int_range(r, 0, (gint32)t->variables_count));
	else if (what < 7 && t->objects_count > 0)
		name = trace_string(
		        t, t->objects[g_rand_int_range(r, 0, (gint32)t->objects_count)].name);
	else if (what < 9)
		name = trace_thread_name(
		        t, (uint32_t)g_rand_int_range(r, 0, (gint32)t->threads_count));
	if (what == 9)
		g_string_append(out, g_rand_boolean(r) ? "nil" : "7");
	else
		g_string_append_len(
		        out, name,
		        (gssize)(g_rand_boolean(r) ? strcspn(name, ".[+") : strlen(name)));
}

static void append_call(GRand *r, const struct trace *t, const char *thread, int number,
                        GString *out)
{
	int reach = g_rand_int_range(r, 0, 4);

	g_string_append_printf(out, "%s|miss(m%d", thread, number);
	for (int i = 0; i < reach; i++) {
		g_string_append_c(out, ',');
		append_reach(r, t, out);
	}
	g_string_append(out, ")|0\n");
}

/* A thread ends where it ends: no call begins or comes back behind that. */
static bool ends_thread(const char *line)
{
	return strstr(line, "|end()") != NULL || strstr(line, "|want(") != NULL;
}

static char *woven_text(uint64_t seed)
{
	struct random_options options = mix_options(seed, 2 + (uint32_t)(seed >> 1) % 2, 11);
	options.markers = false; /* the calls that were not recorded are woven in here */
	GRand *r = g_rand_new_with_seed((guint32)(seed * 31 + 7));
	struct trace *t = random_trace(seed, &options);
	GString *text = g_string_new(NULL), *woven = g_string_new(NULL);
	int open[4] = { 0 }, calls = 0;
	char **lines;

	trace_print(t, TRACE_TEXT, NULL, text, NULL);
	lines = g_strsplit(text->str, "\n", -1);
	for (char **line = lines; *line != NULL && **line != '\0'; line++) {
		char *bar = strchr(*line, '|'), *thread;

		g_string_append_printf(woven, "%s\n", *line);
		if (**line == '#' || bar == NULL || ends_thread(*line))
			continue;
		thread = g_strndup(*line, (gsize)(bar - *line));
		int u = thread[0] == 'T' ? thread[1] - '0' : 0;
		for (int tries = 0; tries < 2; tries++) {
			if (open[u] < 3 && calls < 5 && g_rand_int_range(r, 0, 100) < 30) {
				open[u]++; /* of one name: the innermost comes back first */
				append_call(r, t, thread, open[u], woven);
				calls++;
			} else if (open[u] > 0 && g_rand_int_range(r, 0, 100) < 45) {
				g_string_append_printf(woven, "%s|back(m%d)|0\n", thread,
				                       open[u]--);
			}
		}
		g_free(thread);
	}
	g_strfreev(lines);
	g_string_free(text, TRUE);
	trace_close(t);
	g_rand_free(r);
	return g_string_free(woven, FALSE);
}

static struct trace *trace_of(const char *text)
{
	struct error error = { .where = "" };
	struct trace_options options = { .lenient = true };
	struct trace *t = coverage_trace(
	        trace_from_text("missing", text, strlen(text), &options, &error));

	if (t == NULL)
		BUG("%s\n%s: %s", text, error.where, error.what);
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

static uint32_t reach_count(const struct trace *t, uint32_t miss)
{
	const struct value list = trace_value(t, t->events[miss].aux);

	return t->events[miss].aux != 0 && list.kind == V_LIST ? list.count : 0;
}

/* NULL: nil or a number, which is no address. */
static const char *address(const struct trace *t, uint32_t miss, uint32_t i)
{
	const struct value list = trace_value(t, t->events[miss].aux);
	const struct value v = trace_value(t, t->value_lists[list.first + i]);

	return v.kind == V_TOKEN ? trace_string(t, v.string) : NULL;
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

/* The i-th name that the event itself touches: of an access its variables, of another operation
 * its lock, condition, semaphore or barrier, of a thread's end the thread.  NULL: no more. */
static const char *touched(const struct trace *t, uint32_t e, uint32_t i)
{
	const struct event *x = &t->events[e];
	struct wide run;

	if (event_inert(x))
		return NULL;
	if (op_is_access(x->op)) {
		run = event_variables(t, x);
		return i < run.count ? trace_variable_name(t, run.first + i) : NULL;
	}
	if (i > 0)
		return NULL;
	if (x->op == OP_END)
		return trace_thread_name(t, x->thread);
	return op_table[x->op].operand == OPERAND_OBJECT
	               ? trace_string(t, t->objects[x->target].name)
	               : NULL;
}

/* Is it an access to memory that the call may reach: the address itself or a part of it? */
static bool call_reaches(const struct trace *t, uint32_t miss, const char *name)
{
	for (uint32_t i = 0; i < reach_count(t, miss); i++) {
		const char *a = address(t, miss, i);

		if (a != NULL && (strcmp(a, name) == 0 || reaches(a, name)))
			return true;
	}
	return false;
}

static bool call_touches(const struct trace *t, uint32_t miss, uint32_t e)
{
	for (uint32_t i = 0; touched(t, e, i) != NULL; i++) {
		if (call_reaches(t, miss, touched(t, e, i)))
			return true;
	}
	return false;
}

static bool calls_meet(const struct trace *t, uint32_t m, uint32_t n)
{
	for (uint32_t i = 0; i < reach_count(t, m); i++) {
		for (uint32_t k = 0; k < reach_count(t, n); k++) {
			if (address(t, m, i) != NULL && address(t, n, k) != NULL &&
			    overlap(address(t, m, i), address(t, n, k)))
				return true;
		}
	}
	return false;
}

static bool kept_in_order(const struct trace *t, uint32_t e, uint32_t f)
{
	uint32_t around_e = calls_around(t, e), around_f = calls_around(t, f);

	for (uint32_t m = 0; m < t->events_count; m++) {
		if ((around_e >> m & 1) && call_touches(t, m, f))
			return true;
		if ((around_f >> m & 1) && call_touches(t, m, e))
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

static uint32_t append_messages(const struct trace *t, const GArray *edges, uint32_t e,
                                bool sent, GString *text)
{
	uint32_t count = 0;

	for (guint i = 0; i < edges->len; i++) {
		const struct must_edge *m = &g_array_index(edges, struct must_edge, i);

		if ((sent ? m->before : m->after) != e)
			continue;
		g_string_append_printf(text, "%s|%s(edge%u)|0\n",
		                       trace_thread_name(t, t->events[e].thread),
		                       sent ? "snd" : "rcv", i);
		count++;
	}
	return count;
}

/*
 * The trace with a message for each edge, received before its second event and sent after its
 * first: before it where that is the end of a thread, whose prefix with the end is as good as
 * the one without.  `ids` is the new id of each event.
 */
static char *with_messages(const struct trace *t, const GArray *edges, uint32_t *ids)
{
	GString *text = g_string_new(NULL), *plain = g_string_new(NULL);
	uint32_t next = 0, e = 0;
	char **lines;

	trace_print(t, TRACE_TEXT, NULL, plain, NULL);
	lines = g_strsplit(plain->str, "\n", -1);
	for (char **line = lines; *line != NULL && **line != '\0'; line++) {
		bool end = ends_thread(*line);

		if (**line == '#') {
			g_string_append_printf(text, "%s\n", *line);
			continue;
		}
		next += append_messages(t, edges, e, false, text);
		if (end)
			next += append_messages(t, edges, e, true, text);
		ids[e] = next++;
		g_string_append_printf(text, "%s\n", *line);
		if (!end)
			next += append_messages(t, edges, e, true, text);
		e++;
	}
	g_strfreev(lines);
	g_string_free(plain, TRUE);
	return g_string_free(text, FALSE);
}

static bool listed(const struct report *r, uint32_t e, uint32_t f)
{
	for (guint i = 0; i < r->findings->len; i++) {
		const struct finding *found = r->findings->pdata[i];

		if (found->first == e && found->second == f)
			return found->verdict == VERDICT_RACE &&
			       found->note == NULL; /* by C11 alone: prop_c11's */
	}
	return false;
}

/* The trace, as one of a recording that called code which is not instrumented. */
static struct trace *recorded_calls(const struct trace *t)
{
	g_autoptr(GString) text = g_string_new(NULL);

	trace_print(t, TRACE_TEXT, NULL, text, NULL);
	const char *rest = g_str_has_prefix(text->str, "#! heddle")
	                           ? strchr(text->str, '\n') + 1
	                           : text->str;
	g_autofree char *noted =
	        g_strconcat("#! heddle 1\n#! note recording-missing 1\n", rest, NULL);
	return trace_of(noted);
}

/* A race of two events without regard to the calls is a candidate where they rule it out, and
 * no other is. `race`: with the calls, of events in `all` by `ids`; `plain`: without. */
static bool same_marks(const struct trace *of, const uint32_t *ids, const bool *race,
                       uint32_t all, const bool *plain)
{
	struct trace *t = recorded_calls(of);
	uint32_t n = (uint32_t)t->events_count;
	struct race_options options;
	struct error error = { .where = "" };
	bool good = true;

	race_options_init(&options);
	options.pairs_events = true;
	options.projects_always = n % 2;
	options.budget_pair = options.budget_total = MIX_SECONDS;
	struct report *r = races_find(t, &options, NULL, &error);
	BUG_ON(!races_mark_missing(t, &options, r, NULL, &error));
	for (guint i = 0; i < r->findings->len && good; i++) {
		const struct finding *f = r->findings->pdata[i];

		if (f->note != NULL || !plain[(size_t)f->first * n + f->second])
			continue; /* by C11 alone: prop_c11's */
		bool left = race[(size_t)ids[f->first] * all + ids[f->second]];
		good = f->verdict == (left ? VERDICT_RACE : VERDICT_CANDIDATE) &&
		       (f->missing != NULL) == !left;
		marks_seen += !left;
		if (!good)
			printf("%u and %u: %s, %s\n", f->first, f->second,
			       verdict_word(f->verdict), left ? "left" : "ruled out");
	}
	report_free(r);
	trace_close(t);
	return good;
}

static bool same_races(struct trace *t, const GArray *edges)
{
	uint32_t ids[MAX], n = (uint32_t)t->events_count;
	char *text = with_messages(t, edges, ids);
	struct trace *told = trace_of(text);
	uint32_t all = (uint32_t)told->events_count;
	struct race_options options;
	struct error error = { .where = "" };
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
	struct report *r = races_find(t, &options, NULL, &error);
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
	good = good && same_marks(t, ids, races, all, plain);
	g_free(races);
	g_free(plain);
	report_free(r);
	trace_close(told);
	return good;
}

/* -- the checker -------------------------------------------------------------------------- */

/* A random schedule: the checker lets an event come when it does without missing code and all
 * that missing code keeps before it has come, and only then. */
static bool same_steps(const struct trace *t, uint64_t seed)
{
	struct check_options with = { .use_missing = true };
	struct checker *plain = checker_new(t, NULL), *missing = checker_new(t, &with);
	GRand *r = g_rand_new_with_seed((guint32)seed);
	uint32_t done = 0, at[4] = { 0 };
	GString *why = g_string_new(NULL);
	bool good = true;

	for (int turn = 0; turn < 40 && good; turn++) {
		uint32_t u = (uint32_t)g_rand_int_range(r, 0, (gint32)t->threads_count), e;
		bool kept = true, may;

		for (e = at[u]; e < t->events_count && t->events[e].thread != u;)
			e++;
		if (e >= t->events_count)
			continue;
		for (uint32_t f = 0; f < e; f++)
			kept &= (done >> f & 1) || !kept_in_order(t, f, e);
		may = checker_enabled(plain, e, why) && kept;
		refused_seen += !kept;
		good = checker_enabled(missing, e, why) == may;
		if (!good)
			printf("the checker lets %u come: %d, by definition %d\n", e, !may,
			       may);
		if (good && may) {
			checker_step(plain, e, why);
			checker_step(missing, e, why);
			done |= 1u << e;
			at[u] = e + 1;
		}
	}
	g_string_free(why, TRUE);
	g_rand_free(r);
	checker_free(plain);
	checker_free(missing);
	return good;
}

/* -- what is said of them ----------------------------------------------------------------- */

static bool touches_name(const struct trace *t, uint32_t call, uint32_t e, const char *name)
{
	if (call == NONE) {
		for (uint32_t i = 0; touched(t, e, i) != NULL; i++) {
			if (strcmp(touched(t, e, i), name) == 0)
				return true;
		}
		return false;
	}
	return (calls_around(t, e) >> call & 1) && call_reaches(t, call, name);
}

/* Every must-edge has a reason: a call that its one end lies in, a call or an access at the
 * other, and an address that both touch. */
static bool has_reason(const struct trace *t, const struct missing_calls *calls,
                       const struct must_edge *m)
{
	struct missing_reason why;

	return missing_reason(calls, t, m->before, m->after, &why) &&
	       (why.calls[0] != NONE || why.calls[1] != NONE) &&
	       touches_name(t, why.calls[0], m->before, why.address) &&
	       touches_name(t, why.calls[1], m->after, why.address);
}

/* Is the thread inside of a call at the time of an event, by counting? */
static bool inside_by_counting(const struct trace *t, uint32_t thread, uint32_t event)
{
	uint32_t last = NONE; /* its last event until then, or the one itself */
	bool ends = true;

	for (uint32_t e = 0; e < t->events_count; e++) {
		if (t->events[e].thread != thread)
			continue;
		if (e <= event)
			last = e;
		else
			ends = false;
	}
	if (last == NONE || calls_around(t, last) == 0)
		return false;
	if (last == event)
		return true;
	if (ends) /* one that never came back lasts as long as its thread */
		return false;
	return t->events[last].op != OP_BACK || __builtin_popcount(calls_around(t, last)) > 1;
}

static bool said_rightly(struct trace *t, const GArray *edges)
{
	bool good = true;

	trace_need(t, INDEX_ALL, NULL);
	struct missing_calls *calls = missing_calls_new(t);
	for (guint i = 0; i < edges->len && good; i++) {
		const struct must_edge *m = &g_array_index(edges, struct must_edge, i);

		good = has_reason(t, calls, m);
		if (!good)
			printf("%u before %u has no reason\n", m->before, m->after);
	}
	for (uint32_t e = 0; e < t->events_count && calls != NULL && good; e++) {
		for (uint32_t u = 0; u < t->threads_count && good; u++) {
			bool inside = missing_calls_at(calls, t, u, e) != NONE;

			good = inside == inside_by_counting(t, u, e);
			if (!good)
				printf("at %u thread %u is inside: %d\n", e, u, inside);
		}
	}
	missing_calls_free(calls);
	return good;
}

static bool one(uint64_t seed)
{
	char *text = seed % 2 ? missing_text(seed) : woven_text(seed);
	struct trace *t = trace_of(text);
	GArray *edges = rdit_edges(t, NULL);
	bool good = t->events_count > MAX || (same_order(t, edges) && same_steps(t, seed) &&
	                                      said_rightly(t, edges) && same_races(t, edges));

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

	printf("%u edges, %u steps refused by them alone, %u races, %u races that missing code "
	       "rules out\n",
	       edges_seen, refused_seen, races_seen, races_gone);
	printf("%u findings that these calls make candidates\n", marks_seen);
	return status != 0 || edges_seen == 0 || refused_seen == 0 || races_seen == 0 ||
	       races_gone == 0 || marks_seen == 0;
}
