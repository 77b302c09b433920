/* test_mined.c - which pairs of critical sections are taken to be meant as one
 * (atomic/mined.h). */
#include "engine/atomic/mined.h"
#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>

/* Lock, accesses, unlock at places of their own: "T1|acq(m)|a.c:1" ... */
#define SECTION(thread, line, accesses) \
	thread "|acq(m)|a.c:" line "\n" accesses thread "|rel(m)|a.c:" line "\n"
#define CHECK  SECTION("T1", "1", "T1|r(x)|a.c:2\n")
#define ACT    SECTION("T1", "5", "T1|w(x)|a.c:6\n")
#define OTHER  SECTION("T2", "9", "T2|w(x)|a.c:10\n")
#define READER SECTION("T2", "9", "T2|r(x)|a.c:10\nT2|r(y)|a.c:11\n")

static GArray *found(const char *text, struct trace **t)
{
	struct error error;
	GArray *list;
	bool cut;

	*t = trace_from_text("t", text, strlen(text), NULL, &error);
	ck_assert_msg(*t != NULL, "%s", error.what);
	ck_assert(trace_need(*t, INDEX_ALL, NULL));
	list = mined_find(*t, 100, &cut);
	ck_assert(!cut);
	return list;
}

/* The rule of the only one that is found, "" of none, and whether it happened. */
static void expect(const char *text, const char *rule, bool happened)
{
	struct trace *t;
	GArray *list = found(text, &t);

	ck_assert_uint_eq(list->len, *rule != '\0');
	if (list->len == 1) {
		const struct mined *m = &g_array_index(list, struct mined, 0);
		struct finding *f = mined_finding(t, m);

		ck_assert_str_eq(m->rule, rule);
		ck_assert_int_eq(m->happened, happened);
		ck_assert_int_eq(f->verdict, happened ? VERDICT_HAPPENED : VERDICT_RACE);
		ck_assert_uint_eq(f->units->len, 2);
		finding_free(f);
	}
	g_array_unref(list);
	trace_close(t);
}

START_TEST(rules)
{
	expect(CHECK ACT OTHER, "check then act", false);
	expect(OTHER CHECK ACT, "check then act", false);
	expect(CHECK OTHER ACT, "check then act", true);
	expect(SECTION("T1", "1", "T1|w(x)|a.c:2\n") SECTION("T1", "5", "T1|r(x)|a.c:6\n")
	               OTHER,
	       "read back", false);
	expect(SECTION("T1", "1", "T1|w(x)|a.c:2\n") SECTION("T1", "5", "T1|w(y)|a.c:6\n")
	               READER,
	       "halves", false);
}
END_TEST

/* B only reads what A checked, as the other section, between the two, has done it. */
START_TEST(found_done)
{
	static const char act[] = SECTION("T1", "5", "T1|r(x)|a.c:6\nT1|w(y)|a.c:6\n");
	g_autofree char *between = g_strconcat(CHECK OTHER, act, NULL);
	g_autofree char *before = g_strconcat(OTHER CHECK, act, NULL);
	struct trace *t;

	expect(between, "check then act", true);
	GArray *list = found(between, &t);
	ck_assert(g_array_index(list, struct mined, 0).done);
	g_array_unref(list);
	trace_close(t);
	expect(before, "", false);
	expect(CHECK OTHER SECTION("T1", "5", "T1|r(x)|a.c:6\n"), "", false);
}
END_TEST

START_TEST(what_is_no_pair)
{
	/* one section; another thread that only reads; two variables that no thread reads
	 * together */
	expect(SECTION("T1", "1", "T1|r(x)|a.c:2\nT1|w(x)|a.c:3\n") OTHER, "", false);
	expect(CHECK ACT SECTION("T2", "9", "T2|r(x)|a.c:10\n"), "", false);
	/* the same check by another thread is one that might have acted */
	expect(CHECK ACT SECTION("T2", "1", "T2|r(x)|a.c:2\n"), "check then act", false);
	expect(SECTION("T1", "1", "T1|w(x)|a.c:2\n") SECTION("T1", "5", "T1|w(y)|a.c:6\n")
	               SECTION("T2", "9", "T2|r(x)|a.c:10\n"),
	       "", false);
	/* the next round of a loop: the same code */
	expect(SECTION("T1", "1", "T1|r(x)|a.c:2\n") SECTION("T1", "1", "T1|w(x)|a.c:3\n")
	               OTHER,
	       "", false);
	/* it rereads the variable it acts on, in a section between */
	expect(CHECK SECTION("T1", "3", "T1|r(x)|a.c:4\nT1|w(x)|a.c:4\n") OTHER,
	       "check then act", false);
	/* a wait for a condition splits: the code after it checks again */
	expect("T1|acq(m)|a.c:1\nT1|r(x)|a.c:2\nT1|wait(c)|a.c:3\nT1|rel(m)|a.c:3\n"
	       "T2|acq(m)|a.c:9\nT2|w(x)|a.c:10\nT2|signal(c)|a.c:11\nT1|wake(c)|a.c:3\n"
	       "T2|rel(m)|a.c:12\n"
	       "T1|acq(m)|a.c:4\nT1|r(x)|a.c:5\nT1|w(x)|a.c:6\nT1|rel(m)|a.c:7\n",
	       "", false);
	/* the next round of a loop that waits: what follows a wait is of the section before it
	 */
	expect("T1|acq(m)|a.c:1\nT1|r(x)|a.c:2\nT1|wait(c)|a.c:3\nT1|rel(m)|a.c:3\n"
	       "T2|acq(m)|a.c:9\nT2|w(x)|a.c:10\nT2|signal(c)|a.c:11\nT2|rel(m)|a.c:12\n"
	       "T1|wake(c)|a.c:3\nT1|acq(m)|a.c:3\nT1|w(x)|a.c:5\nT1|rel(m)|a.c:7\n"
	       "T1|acq(m)|a.c:1\nT1|r(x)|a.c:2\nT1|rel(m)|a.c:7\n",
	       "", false);
	/* but other code behind it may be meant as one with it */
	expect("T1|acq(m)|a.c:1\nT1|r(x)|a.c:2\nT1|wait(c)|a.c:3\nT1|rel(m)|a.c:3\n"
	       "T2|acq(m)|a.c:9\nT2|w(x)|a.c:10\nT2|signal(c)|a.c:11\nT2|rel(m)|a.c:12\n"
	       "T1|wake(c)|a.c:3\nT1|acq(m)|a.c:3\nT1|w(x)|a.c:5\nT1|rel(m)|a.c:7\n"
	       "T1|acq(m)|a.c:8\nT1|r(x)|a.c:8\nT1|rel(m)|a.c:8\n",
	       "read back", false);
}
END_TEST

/* Of many rounds of one code a few, the first and the last among them. */
/* An atomic access that no lock guards is a section by itself; inside of one it is part of it.
 */
START_TEST(atomics)
{
	expect("T1|ar(x)|a.c:1\nT1|aw(x)|a.c:2\nT2|aw(x)|a.c:9\n", "check then act", false);
	expect("T1|ar(x)|a.c:1\nT2|rmw(x)|a.c:9\nT1|rmw(x)|a.c:2\n", "check then act", true);
	expect("T1|aw(x)|a.c:1\nT1|ar(x)|a.c:2\nT2|aw(x)|a.c:9\n", "read back", false);
	/* two updates, one of them in a section; plain accesses; the next round of a loop */
	expect("T1|rmw(x)|a.c:1\nT1|rmw(x)|a.c:2\nT2|aw(x)|a.c:9\n", "", false);
	expect("T1|r(x)|a.c:1\nT1|w(x)|a.c:2\nT2|aw(x)|a.c:9\n", "", false);
	expect("T1|ar(x)|a.c:1\nT1|ar(x)|a.c:1\nT2|aw(x)|a.c:9\n", "", false);
	expect(SECTION("T1", "1", "T1|ar(x)|a.c:2\nT1|aw(x)|a.c:3\n") "T2|aw(x)|a.c:9\n", "",
	       false);
	/* a check by itself, an act under a lock */
	expect("T1|ar(x)|a.c:1\n" ACT OTHER, "check then act", false);
}
END_TEST

/* A section of the other thread that starting and joining threads orders before A or behind B;
 * and the one that they do not order, though such a one of the same code is nearer. */
START_TEST(ordered_by_threads)
{
#define MAIN_OTHER SECTION("main", "9", "main|w(x)|a.c:10\n")
	static const char fork[] = "main|fork(T1)|a.c:20\n", join[] = "main|join(T1)|a.c:21\n",
	                  fork2[] = "main|fork(T2)|a.c:22\n",
	                  join2[] = "main|join(T2)|a.c:23\n";
	const struct {
		const char *parts[9], *rule;
	} cases[] = {
		{ { MAIN_OTHER, fork, CHECK, ACT, join }, "" },
		{ { fork, CHECK, ACT, join, MAIN_OTHER }, "" },
		{ { fork, MAIN_OTHER, CHECK, ACT, join }, "check then act" },
		{ { fork, CHECK, ACT, MAIN_OTHER, join }, "check then act" },
		{ { fork2, OTHER, join2, fork, CHECK, ACT, join }, "" },
		{ { fork, CHECK, ACT, join, fork2, OTHER, join2 }, "" },
		{ { fork, CHECK, ACT, fork2, OTHER, join, join2 }, "check then act" },
		{ { fork2, OTHER, MAIN_OTHER, fork, CHECK, ACT, join, join2 },
		  "check then act" },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *text = g_strjoinv("", (char **)cases[i].parts);

		expect(text, cases[i].rule, false);
	}
}
END_TEST

START_TEST(instances)
{
	GString *text = g_string_new(NULL);
	struct trace *t;
	GArray *list;

	for (int i = 0; i < 20; i++)
		g_string_append(text, CHECK ACT OTHER);
	list = found(text->str, &t);
	ck_assert_uint_ge(list->len, 2);
	ck_assert_uint_le(list->len, 8);
	ck_assert_uint_eq(g_array_index(list, struct mined, 0).a.begin, 0);
	g_array_unref(list);
	trace_close(t);
	g_string_free(text, TRUE);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("mined");
	TCase *cases = tcase_create("mined");

	tcase_add_test(cases, rules);
	tcase_add_test(cases, found_done);
	tcase_add_test(cases, what_is_no_pair);
	tcase_add_test(cases, atomics);
	tcase_add_test(cases, ordered_by_threads);
	tcase_add_test(cases, instances);
	suite_add_tcase(suite, cases);
	return suite_run(suite);
}
