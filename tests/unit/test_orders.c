/*
 * test_orders.c - the must-order rule by rule, the partial orders on traces that show where
 * they differ, the sentences of chains, and the counts of RAPID on its traces.
 */
#include "engine/order/order.h"
#include "engine/predict/predict.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static struct trace *read_text(const char *text)
{
	struct error error = { 0 };
	struct trace *t = trace_from_text("test.txt", text, strlen(text), NULL, &error);

	ck_assert_msg(t != NULL, "refused: %s: %s", error.where, error.what);
	return t;
}

static bool ordered(struct trace *t, enum order_kind kind, uint32_t e, uint32_t f)
{
	struct order *order = order_new(t, kind, NULL);
	bool answer = order_ordered(order, e, f);

	order_free(order);
	return answer;
}

/* -- must-order ---------------------------------------------------------------------------- */

static const struct {
	const char *text;
	uint32_t before, after, condition;
	enum must_rule rule;
	uint64_t count; /* of edges in all */
} musts[] = {
	{ "T1|fork(T2)|1\nT2|w(x)|2\n", 0, 1, NONE, MUST_FORK, 1 },
	{ "T1|w(y)|1\nT2|w(x)|2\nT1|join(T2)|3\n", 1, 2, NONE, MUST_JOIN, 1 },
	{ "T1|snd(g)|1\nT2|rcv(g)|2\nT3|rcv(g)|3\n", 0, 2, NONE, MUST_MESSAGE, 2 },
	{ "T1|alloc(p,8)|1\nT2|w(p.a)|2\nT2|w(p.b)|3\n", 0, 1, NONE, MUST_ALLOC, 1 },
	{ "T1|alloc(p,8)|1\nT2|free(p)|2\nT1|alloc(p,8)|3\n", 1, 2, NONE, MUST_FREE, 2 },
	{ "#! semaphore s 1\nT1|post(s)|1\nT2|take(s)|2\nT1|post(s)|3\nT2|take(s)|4\n", 0, 3,
	  NONE, MUST_SEMAPHORE, 1 },
	{ "T1|arrive(b)|1\nT2|arrive(b)|2\nT1|depart(b)|3\nT1|arrive(b)|4\nT2|depart(b)|5\n", 0,
	  4, NONE, MUST_BARRIER, 2 },
	/* T2 and T3 leave the round as T1 does: an edge each from T1, and what T1 comes after
	 */
	{ "T1|arrive(b)|1\nT2|arrive(b)|2\nT3|arrive(b)|3\nT1|depart(b)|4\nT2|depart(b)|5\n"
	  "T3|depart(b)|6\n",
	  3, 5, NONE, MUST_SHARED, 6 },
	{ "T1|snd(g)|1\nT2|snd(g)|2\nT3|snd(g)|3\nT1|rcv(g)|4\nT2|rcv(g)|5\nT4|rcv(g)|6\n", 3,
	  5, NONE, MUST_SHARED, 6 },
	/* T4, which has sent nothing, receives first: no edge would stand for its own */
	{ "T1|snd(g)|1\nT2|snd(g)|2\nT3|snd(g)|3\nT4|rcv(g)|4\nT5|rcv(g)|5\n", 2, 4, NONE,
	  MUST_MESSAGE, 6 },
	{ "T1|wait(c)|1\nT2|signal(c)|2\nT1|wake(c)|3\n", 1, 2, NONE, MUST_WAKER, 2 },
	{ "T1|wait(c)|1\nT2|signal(c)|2\nT1|wake(c)|3\n", 0, 1, 2, MUST_WAIT, 2 },
	/* the first signal has woken T1, so T3 is woken by the second */
	{ "T1|wait(c)|1\nT3|wait(c)|2\nT2|signal(c)|3\nT1|wake(c)|4\nT2|signal(c)|5\n"
	  "T3|wake(c)|6\n",
	  4, 5, NONE, MUST_WAKER, 4 },
	/* a broadcast wakes both */
	{ "T1|wait(c)|1\nT3|wait(c)|2\nT2|broadcast(c)|3\nT1|wake(c)|4\nT3|wake(c)|5\n", 2, 4,
	  NONE, MUST_WAKER, 4 },
	/* no waker: spurious */
	{ "T2|signal(c)|1\nT1|wait(c)|2\nT1|wake(c)|3\nT1|w(x)|4\nT1|fork(T3)|5\nT3|w(x)|6\n",
	  4, 5, NONE, MUST_FORK, 1 },
	{ "T1|act(o.m)|1\nT2|call(o.m)|2\nT2|ret(o.m)|3\n", 0, 2, NONE, MUST_INVOCATION, 1 },
};

START_TEST(must_order)
{
	struct trace *t = read_text(musts[_i].text);
	bool found = false;

	trace_need(t, INDEX_MUST, NULL);
	for (uint64_t i = 0; i < t->index->must_count; i++) {
		const struct must_edge *e = &t->index->must[i];

		found |= e->before == musts[_i].before && e->after == musts[_i].after &&
		         e->condition == musts[_i].condition && e->rule == musts[_i].rule;
	}
	ck_assert_msg(found, "no such edge in:\n%s", musts[_i].text);
	ck_assert_uint_eq(t->index->must_count, musts[_i].count);
	trace_close(t);
}
END_TEST

static guint sources_of(const struct trace *t, uint32_t event, uint32_t *before)
{
	struct must_sources sources = must_sources(t, event);
	struct must_edge edge;
	guint count = 0;

	while (must_sources_next(&sources, &edge)) {
		ck_assert_uint_eq(edge.after, event);
		ck_assert_uint_eq(edge.rule, MUST_BARRIER);
		before[count++] = edge.before;
	}
	return count;
}

START_TEST(all_that_leave_a_barrier_come_after_all_that_reached_it)
{
	struct trace *t = read_text("T1|arrive(b)|1\nT2|arrive(b)|2\nT3|arrive(b)|3\n"
	                            "T2|depart(b)|4\nT3|depart(b)|5\nT1|depart(b)|6\n");
	uint32_t before[8];
	struct path path = { 0 };

	trace_need(t, INDEX_MUST, NULL);
	ck_assert_uint_eq(sources_of(t, 3, before), 2);
	ck_assert_uint_eq(before[0], 0);
	ck_assert_uint_eq(before[1], 2);
	ck_assert_uint_eq(sources_of(t, 4, before), 2); /* 0 and 1 */
	ck_assert_uint_eq(before[0] + before[1], 1);
	ck_assert_uint_eq(sources_of(t, 5, before), 2); /* 1 and 2 */
	ck_assert_uint_eq(before[0] + before[1], 3);
	for (int kind = 0; kind < ORDER_KIND_EDC; kind++) {
		for (uint32_t arrive = 0; arrive < 3; arrive++)
			ck_assert(ordered(t, (enum order_kind)kind, arrive, 4));
		ck_assert(!ordered(t, (enum order_kind)kind, 3, 4));
		ck_assert(!ordered(t, (enum order_kind)kind, 3, 5));
	}
	struct order *order = order_new(t, ORDER_KIND_PO, NULL);
	ck_assert(order_path(order, 0, 4, &path));
	ck_assert_uint_eq(path.steps->len, 1);
	ck_assert_uint_eq(g_array_index(path.steps, struct step, 0).detail, MUST_BARRIER);
	path_release(&path);
	order_free(order);
	trace_close(t);
}
END_TEST

/* The wait does not order a thread that does not take the wake. */
START_TEST(the_edge_from_a_wait_is_no_edge_of_an_order)
{
	struct trace *t = read_text("T1|w(x)|1\nT1|wait(c)|2\nT2|signal(c)|3\nT2|r(x)|4\n"
	                            "T1|wake(c)|5\n");

	ck_assert(!ordered(t, ORDER_KIND_PO, 0, 3));
	ck_assert(ordered(t, ORDER_KIND_PO, 2, 4));
	trace_close(t);
}
END_TEST

/* -- where the orders differ --------------------------------------------------------------- */

/* Figure 1a of the M2 paper: even WDC orders the race. */
START_TEST(figure_1a)
{
	struct trace *t = read_text("T1|acq(l)|1\nT1|w(x)|2\nT1|rel(l)|3\nT2|acq(l)|4\n"
	                            "T2|w(x)|5\nT2|rel(l)|6\nT2|r(x)|7\n");

	ck_assert(ordered(t, ORDER_KIND_HB, 1, 6));
	ck_assert(ordered(t, ORDER_KIND_WCP, 1, 6));
	ck_assert(ordered(t, ORDER_KIND_WDC, 1, 6));
	ck_assert(!ordered(t, ORDER_KIND_PO, 1, 6));
	trace_close(t);
}
END_TEST

/* Sections that do not conflict: HB alone orders through the lock. */
START_TEST(sections_without_conflict)
{
	struct trace *t = read_text("T1|w(x)|1\nT1|acq(l)|2\nT1|w(y)|3\nT1|rel(l)|4\n"
	                            "T2|acq(l)|5\nT2|w(z)|6\nT2|rel(l)|7\nT2|w(x)|8\n");

	ck_assert(ordered(t, ORDER_KIND_HB, 0, 7));
	ck_assert(!ordered(t, ORDER_KIND_CP, 0, 7));
	ck_assert(!ordered(t, ORDER_KIND_WCP, 0, 7));
	ck_assert(!ordered(t, ORDER_KIND_DC, 0, 7));
	trace_close(t);
}
END_TEST

/* CP's edge leads to the acquire, WCP's to the access. */
/* Two sections on one lock at once: --lenient took it from T1, which continues. */
START_TEST(sections_that_overlap)
{
	static const char text[] = "T3|acq(l)|1\nT3|w(x)|2\nT3|rel(l)|3\nT1|acq(l)|4\n"
	                           "T2|acq(l)|5\nT2|w(x)|6\nT1|r(x)|7\nT2|rel(l)|8\n"
	                           "T1|r(x)|9\n";
	static const enum order_kind kinds[] = { ORDER_KIND_WCP, ORDER_KIND_DC,
		                                 ORDER_KIND_WDC };
	const struct trace_options options = { .lenient = true };
	struct trace *t = trace_from_text("test.txt", text, strlen(text), &options, NULL);

	ck_assert(t != NULL && t->locks_taken);
	for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
		ck_assert(ordered(t, kinds[i], 2, 6));  /* T3's has ended */
		ck_assert(!ordered(t, kinds[i], 5, 6)); /* T2's has not */
		ck_assert(ordered(t, kinds[i], 5, 8));
	}
	trace_close(t);
}
END_TEST

START_TEST(cp_orders_more_than_wcp)
{
	struct trace *t = read_text("T1|w(y)|1\nT1|acq(l)|2\nT1|w(x)|3\nT1|rel(l)|4\n"
	                            "T2|acq(l)|5\nT2|w(y)|6\nT2|r(x)|7\nT2|rel(l)|8\n");

	ck_assert(ordered(t, ORDER_KIND_CP, 0, 5));
	ck_assert(!ordered(t, ORDER_KIND_WCP, 0, 5));
	ck_assert(ordered(t, ORDER_KIND_WCP, 0, 6));
	trace_close(t);
}
END_TEST

START_TEST(readers_do_not_exclude_each_other)
{
	struct trace *t = read_text("T1|w(x)|1\nT1|racq(l)|2\nT1|rrel(l)|3\nT2|racq(l)|4\n"
	                            "T2|rrel(l)|5\nT2|r(x)|6\nT3|acq(l)|7\nT3|r(x)|8\n");

	ck_assert(!ordered(t, ORDER_KIND_HB, 0, 5));
	ck_assert(ordered(t, ORDER_KIND_HB, 0, 7));
	trace_close(t);
}
END_TEST

static const struct {
	const char *text;
	bool ordered; /* the first event before the last */
} releases[] = {
	{ "T1|w(x)|1\nT1|aw(f);rel|2\nT2|ar(f);acq|3\nT2|r(x)|4\n", true },
	{ "T1|w(x)|1\nT1|aw(f);rlx|2\nT2|ar(f);acq|3\nT2|r(x)|4\n", false },
	{ "T1|w(x)|1\nT1|aw(f);rel|2\nT2|ar(f);rlx|3\nT2|r(x)|4\n", false },
	/* release sequences: the same thread's stores, any thread's rmw, no other thread's
	 * store */
	{ "T1|w(x)|1\nT1|aw(f);rel|2\nT1|aw(f);rlx|3\nT2|ar(f);acq|4\nT2|r(x)|5\n", true },
	{ "T1|w(x)|1\nT1|aw(f);rel|2\nT3|rmw(f);rlx|3\nT2|ar(f);acq|4\nT2|r(x)|5\n", true },
	{ "T1|w(x)|1\nT1|aw(f);rel|2\nT3|aw(f);rlx|3\nT2|ar(f);acq|4\nT2|r(x)|5\n", false },
	/* fences on either side */
	{ "T1|w(x)|1\nT1|fence(rel)|2\nT1|aw(f);rlx|3\nT2|ar(f);acq|4\nT2|r(x)|5\n", true },
	{ "T1|w(x)|1\nT1|aw(f);rel|2\nT2|ar(f);rlx|3\nT2|fence(acq)|4\nT2|r(x)|5\n", true },
	{ "T1|w(x)|1\nT1|aw(f);rel|2\nT2|fence(acq)|3\nT2|ar(f);rlx|4\nT2|r(x)|5\n", false },
	/* a store releases to the readers of its own variable, not of its neighbours */
	{ "T1|w(x)|1\nT1|aw(f);rel|2\nT2|ar(g);acq|3\nT2|r(x)|4\n", false },
	{ "T1|w(x)|1\nT2|ar(g);acq|2\nT1|aw(f);rel|3\nT2|ar(g);acq|4\nT2|r(x)|5\n", false },
};

START_TEST(synchronises_with)
{
	struct trace *t = read_text(releases[_i].text);

	ck_assert_msg(ordered(t, ORDER_KIND_HB, 0, (uint32_t)t->events_count - 1) ==
	                      releases[_i].ordered,
	              "%s", releases[_i].text);
	trace_close(t);
}
END_TEST

/* -- chains and clocks --------------------------------------------------------------------- */

START_TEST(a_chain_in_words)
{
	struct trace *t = read_text("T1|w(x)|a.c:1\nT1|acq(m)|a.c:2\nT1|rel(m)|a.c:3\n"
	                            "T2|acq(m)|b.c:4\nT2|r(x)|b.c:5\n");
	struct order *order = order_new(t, ORDER_KIND_HB, NULL);
	GString *words = g_string_new(NULL);
	struct path path = { 0 };

	ck_assert(order_path(order, 0, 4, &path));
	ck_assert_uint_eq(path.steps->len, 3);
	order_append_sentence(t, &g_array_index(path.steps, struct step, 1), words);
	ck_assert_str_eq(words->str, "T1 releases m at a.c:3 before T2 acquires m at b.c:4");
	ck_assert_uint_eq(order_last_before(order, 0, 4), 2);
	path_release(&path);
	ck_assert(!order_path(order, 4, 0, &path));
	ck_assert_ptr_null(path.steps);
	g_string_free(words, TRUE);
	order_free(order);
	trace_close(t);
}
END_TEST

START_TEST(clocks_count_events)
{
	struct trace *t = read_text("T1|w(x)|1\nT1|acq(m)|2\nT1|rel(m)|3\nT1|w(y)|4\n"
	                            "T2|acq(m)|5\nT2|r(x)|6\n");
	struct order *order = order_new(t, ORDER_KIND_HB, NULL);
	uint32_t clock[2];

	order_clock(order, 5, clock);
	ck_assert_uint_eq(clock[0], 3);
	ck_assert_uint_eq(clock[1], 2);
	order_free(order);
	trace_close(t);
}
END_TEST

/* -- RAPID's counts ------------------------------------------------------------------------ */

/* Distinct later accesses in a race, and their distinct locations.  Where RAPID's differ
 * docs/orders.md says why. */
static const struct {
	const char *trace;
	enum analysis analysis;
	uint32_t events, lines;
} counts[] = {
	{ "account", ANALYSIS_HB, 8, 3 },
	{ "account", ANALYSIS_SHB, 3, 1 },
	{ "account", ANALYSIS_WCP, 8, 3 },
	{ "account", ANALYSIS_SYNCP, 3, 1 },
	{ "account", ANALYSIS_LOCKSET, 10, 3 },
	{ "twostage", ANALYSIS_HB, 4, 1 },
	{ "twostage", ANALYSIS_SHB, 4, 1 },
	{ "twostage", ANALYSIS_WCP, 4, 1 },
	{ "twostage", ANALYSIS_SYNCP, 4, 1 },
	{ "twostage", ANALYSIS_LOCKSET, 30, 5 },
	{ "mergesort", ANALYSIS_HB, 52, 3 },
	{ "mergesort", ANALYSIS_SHB, 1, 1 },
	{ "mergesort", ANALYSIS_WCP, 52, 3 },
	{ "mergesort", ANALYSIS_SYNCP, 3, 1 },
	{ "mergesort", ANALYSIS_LOCKSET, 56, 3 },
	{ "clean", ANALYSIS_HB, 59, 4 },
	{ "clean", ANALYSIS_SHB, 59, 4 },
	{ "clean", ANALYSIS_WCP, 109, 4 },
	{ "clean", ANALYSIS_SYNCP, 60, 4 },
	{ "clean", ANALYSIS_LOCKSET, 380, 6 },
	{ "bubblesort", ANALYSIS_HB, 602, 5 },
	{ "bubblesort", ANALYSIS_SHB, 269, 5 },
	{ "bubblesort", ANALYSIS_WCP, 710, 5 }, /* RAPID: 612 */
	{ "bubblesort", ANALYSIS_SYNCP, 269, 5 },
	{ "bubblesort", ANALYSIS_LOCKSET, 1353, 7 }, /* RAPID: 1355 */
	{ "lang", ANALYSIS_HB, 800, 2 },
	{ "lang", ANALYSIS_SHB, 400, 1 },
	{ "lang", ANALYSIS_WCP, 800, 2 },
	{ "lang", ANALYSIS_SYNCP, 400, 1 },
	{ "lang", ANALYSIS_LOCKSET, 1700, 6 },
	{ "readerswriters", ANALYSIS_SHB, 92, 4 },
	{ "ftpserver", ANALYSIS_HB, 125, 25 },
	{ "ftpserver", ANALYSIS_SHB, 69, 21 },
	{ "ftpserver", ANALYSIS_SYNCP, 85, 21 },
};

START_TEST(rapid)
{
	char *path = g_strdup_printf("tests/traces/%s.std", counts[_i].trace);
	struct trace *t = trace_open(path, NULL, NULL, NULL);
	GHashTable *events = g_hash_table_new(NULL, NULL),
	           *lines = g_hash_table_new(NULL, NULL);
	struct race_options options;

	ck_assert_msg(t != NULL, "%s", path);
	race_options_init(&options);
	options.analysis = counts[_i].analysis;
	options.pairs_events = true;
	struct report *report = races_find(t, &options, NULL, NULL);
	for (guint i = 0; i < report->findings->len; i++) {
		const struct finding *f = g_ptr_array_index(report->findings, i);
		uint32_t line = t->locations[t->events[f->second].location].site;

		g_hash_table_add(events, GUINT_TO_POINTER(f->second));
		g_hash_table_add(lines, GUINT_TO_POINTER(line));
		ck_assert(f->verdict == (analysis_is_sound(counts[_i].analysis)
		                                 ? VERDICT_RACE
		                                 : VERDICT_CANDIDATE));
	}
	ck_assert_msg(g_hash_table_size(events) == counts[_i].events &&
	                      g_hash_table_size(lines) == counts[_i].lines,
	              "%s %s: %u/%u", counts[_i].trace, analysis_word(counts[_i].analysis),
	              g_hash_table_size(events), g_hash_table_size(lines));
	g_hash_table_destroy(events);
	g_hash_table_destroy(lines);
	report_free(report);
	trace_close(t);
	g_free(path);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("orders");
	TCase *c = tcase_create("orders");

	tcase_add_loop_test(c, must_order, 0, G_N_ELEMENTS(musts));
	tcase_add_test(c, the_edge_from_a_wait_is_no_edge_of_an_order);
	tcase_add_test(c, all_that_leave_a_barrier_come_after_all_that_reached_it);
	tcase_add_test(c, figure_1a);
	tcase_add_test(c, sections_without_conflict);
	tcase_add_test(c, sections_that_overlap);
	tcase_add_test(c, cp_orders_more_than_wcp);
	tcase_add_test(c, readers_do_not_exclude_each_other);
	tcase_add_loop_test(c, synchronises_with, 0, G_N_ELEMENTS(releases));
	tcase_add_test(c, a_chain_in_words);
	tcase_add_test(c, clocks_count_events);
	tcase_add_loop_test(c, rapid, 0, G_N_ELEMENTS(counts));
	suite_add_tcase(s, c);
	return suite_run(s);
}
