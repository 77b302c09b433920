/*
 * test_portfolio.c - which pairs of a run's events the portfolio turns, and which first
 * (engine/explore/hunt/portfolio.h).
 */
#include "engine/explore/hunt/portfolio.h"
#include "tests/support/suite.h"

#include <check.h>
#include <string.h>

/* A recording: thread u has number u, and each location an address of its own. */
static struct trace *recording_of(const char *text)
{
	struct error error;
	char *whole = g_strconcat("#! heddle 1\n", text, NULL);
	struct trace *t = trace_from_text("t", whole, strlen(whole), NULL, &error);
	ck_assert_msg(t != NULL, "%s", error.what);
	for (uint32_t u = 0; u < t->threads_count; u++)
		((struct thread *)t->threads)[u].recorded = u;
	for (uint32_t l = 0; l < t->locations_count; l++)
		((struct location *)t->locations)[l].address = l + 1;
	g_free(whole);
	return t;
}

/* The turns of the runs that turn a pair of this one, most suspicious first, without those that
 * only say who goes on then: "1:2 2:3" for each. */
static char *turned(const char *text)
{
	struct portfolio_options options = { .word = 1, .seed = 1 };
	ck_assert_str_eq(portfolio_words[options.word], "pairs");
	struct portfolio *p = portfolio_new(&options);
	struct trace *t = recording_of(text);
	GArray *turns = g_array_new(FALSE, FALSE, sizeof(struct log_turn));
	portfolio_learn(p, t, turns, false);
	GString *all = g_string_new(NULL);
	for (;;) {
		struct strategy s = portfolio_next(p);
		bool turns_one = s.kind == STRATEGY_TURNS;
		for (guint i = 0; turns_one && i < MIN(s.turns->len, 2); i++) {
			const struct log_turn *turn =
			        &g_array_index(s.turns, struct log_turn, i);
			g_string_append_printf(all, "%u:", turn->thread);
			if (turn->until == UINT32_MAX)
				g_string_append_c(all, '*');
			else
				g_string_append_printf(all, "%u", turn->until);
			g_string_append_c(all, i == 0 ? ' ' : ';');
		}
		strategy_release(&s);
		if (!turns_one)
			break;
	}
	g_array_unref(turns);
	trace_close(t);
	portfolio_free(p);
	return g_string_free(all, FALSE);
}

#define BEGIN "main|fork(A)|a.c:1\nmain|fork(B)|a.c:2\n"

/* A race: the two are turned, and main's read after it has joined the thread is not. */
START_TEST(what_a_join_orders_is_not_turned)
{
	char *all = turned("main|fork(A)|a.c:1\nA|w(x)=1|a.c:2\nmain|join(A)|a.c:3\n"
	                   "main|r(x)=1|a.c:4\n");
	ck_assert_str_eq(all, "");
	g_free(all);
	all = turned("main|fork(A)|a.c:1\nA|w(x)=1|a.c:2\nmain|r(x)=1|a.c:4\n"
	             "main|join(A)|a.c:3\n");
	ck_assert_str_eq(all, "1:0 0:2;");
	g_free(all);
}
END_TEST

/* Of a counter that threads only add to, no thread sees the order. */
START_TEST(statistics_come_last)
{
	char *all = turned(BEGIN "A|r(n)=0|a.c:3\nA|w(n)=1|a.c:3\nA|w(x)=1|a.c:4\n"
	                         "B|r(n)=1|a.c:3\nB|w(n)=2|a.c:3\nB|r(x)=1|a.c:5\n");
	ck_assert_msg(g_str_has_prefix(all, "1:2 2:3;"), "%s", all);
	g_free(all);
	/* where one looks at it, it is as any variable: the first reads in turn with x */
	all = turned(BEGIN "A|r(n)=0|a.c:3\nA|w(n)=1|a.c:3\n"
	                   "B|r(n)=1|a.c:3\nB|w(n)=2|a.c:3\nB|r(n)=2|a.c:6\n");
	ck_assert_msg(!g_str_has_prefix(all, "1:2"), "%s", all);
	ck_assert_str_ne(all, "");
	g_free(all);
}
END_TEST

static unsigned count_of(const char *all)
{
	unsigned count = 0;
	for (; *all != '\0'; all++)
		count += *all == ';';
	return count;
}

/* All pairs in two sections are one schedule: before the one, all of the other's. */
START_TEST(sections_are_turned_once)
{
	static const char *const section =
	        "|acq(m)|a.c:3\n%c|w(x)=1|a.c:4\n%c|w(y)=1|a.c:5\n%c|w(z)=1|a.c:6\n%c|rel(m)|a.c:7\n";
	GString *text = g_string_new(BEGIN);
	for (char thread = 'A'; thread <= 'B'; thread++) {
		g_string_append_c(text, thread);
		for (const char *c = section; *c != '\0'; c++)
			if (g_str_has_prefix(c, "%c")) {
				g_string_append_c(text, thread);
				c++;
			} else {
				g_string_append_c(text, *c);
			}
	}
	char *all = turned(text->str);
	ck_assert_msg(g_str_has_prefix(all, "1:0 2:"), "%s", all);
	ck_assert_msg(count_of(all) == 2, "%s", all); /* of the variables, of the lock */
	g_free(all);
	g_string_free(text, TRUE);
}
END_TEST

/* Two threads count under a lock, so often; in between A writes x, and later B reads it. */
static char *counting(const char *before, unsigned rounds)
{
	GString *text = g_string_new(before);
	g_string_append(text, BEGIN);
	for (unsigned i = 0; i < rounds; i++) {
		char thread = i % 2 ? 'A' : 'B';
		g_string_append_printf(text,
		                       "%c|acq(m)|a.c:3\n%c|r(n)=%u|a.c:4\n"
		                       "%c|w(n)=%u|a.c:4\n%c|rel(m)|a.c:5\n",
		                       thread, thread, i, thread, i + 1, thread);
		if (i == rounds / 3)
			g_string_append(text, "A|w(x)=1|a.c:6\n");
		if (i == rounds / 2)
			g_string_append(text, "B|r(x)=1|a.c:7\n");
	}
	return g_string_free(text, FALSE);
}

/* After so many runs like this, is another one looked at? */
static bool looks_after(const char *text, unsigned runs)
{
	struct portfolio_options options = { .seed = 1 };
	struct portfolio *p = portfolio_new(&options);
	GArray *turns = g_array_new(FALSE, FALSE, sizeof(struct log_turn));
	struct trace *t = recording_of(text);
	for (unsigned i = 0; i < runs; i++) {
		ck_assert(portfolio_looks(p));
		portfolio_learn(p, t, turns, false);
	}
	bool looks = portfolio_looks(p);
	trace_close(t);
	g_array_unref(turns);
	portfolio_free(p);
	return looks;
}

/* A pair that comes once is not lost among pairs that come often, and the first runs teach. */
START_TEST(a_long_run_teaches_by_a_sample)
{
	enum { ROUNDS = 60000 }; /* of four events */
	char *text = counting("", ROUNDS), *all = turned(text);
	char *race = g_strdup_printf("1:%u 2:%u;", (ROUNDS / 3 + 1) / 2 * 4,
	                             (ROUNDS / 2 + 2) / 2 * 4 + 1);
	ck_assert_msg(strstr(all, race) != NULL, "%s is not in %.200s", race, all);
	ck_assert_msg(count_of(all) < 100, "%u pairs", count_of(all));
	ck_assert(looks_after(text, 8)); /* two million events are looked at */
	ck_assert(!looks_after(text, 9));
	g_free(race);
	g_free(all);
	g_free(text);
}
END_TEST

/* What main does before it creates a thread comes in one order only, and hides no place. */
START_TEST(a_long_beginning_hides_no_pair)
{
	GString *begin = g_string_new(NULL);
	for (unsigned i = 0; i < 210000; i++)
		g_string_append(begin, "main|r(x)=0|a.c:7\n");
	char *text = counting(begin->str, 10), *all = turned(text);
	ck_assert_msg(strstr(all, "1:8 2:13;") != NULL, "%s", all);
	g_free(all);
	g_free(text);
	g_string_free(begin, TRUE);
}
END_TEST

/* Where runs are long, every fourth one turns a pair, where others turn one in every second. */
START_TEST(long_runs_turn_fewer_pairs)
{
	for (unsigned rounds = 20; rounds <= 60000; rounds *= 3000) {
		struct portfolio_options options = { .seed = 1 };
		struct portfolio *p = portfolio_new(&options);
		char *text = counting("", rounds);
		struct trace *t = recording_of(text);
		GArray *turns = g_array_new(FALSE, FALSE, sizeof(struct log_turn));
		portfolio_learn(p, t, turns, false);
		unsigned turned[4] = { 0 };
		for (unsigned n = 0; n < 16; n++) {
			struct strategy s = portfolio_next(p);
			turned[n % 4] += s.kind == STRATEGY_TURNS;
			strategy_release(&s);
		}
		ck_assert_uint_gt(turned[0], 1);
		ck_assert_int_eq(turned[2] > 1, rounds == 20);
		g_array_unref(turns);
		trace_close(t);
		g_free(text);
		portfolio_free(p);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("portfolio");
	TCase *c = tcase_create("portfolio");
	tcase_add_test(c, what_a_join_orders_is_not_turned);
	tcase_add_test(c, statistics_come_last);
	tcase_add_test(c, sections_are_turned_once);
	tcase_add_test(c, a_long_run_teaches_by_a_sample);
	tcase_add_test(c, a_long_beginning_hides_no_pair);
	tcase_add_test(c, long_runs_turn_fewer_pairs);
	suite_add_tcase(suite, c);
	return suite_run(suite);
}
