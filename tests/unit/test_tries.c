/*
 * test_tries.c - the observations of failed tries, and their requirements on other schedules.
 */
#include "engine/trace/tries.h"
#include "tests/support/suite.h"

#include <check.h>
#include <string.h>

static const struct {
	const char *text;
	const char *observed; /* by the last event, which is the try */
	bool binding;
	enum try_need need;
} cases[] = {
	{ "T1|acq(l)|1\nT2|tryfail(l)|2\n", "0", true, TRY_EXCLUSIVE },
	{ "T1|acq(l)|1\nT1|rel(l)|2\nT3|acq(l)|3\nT2|tryfail(l)|4\n", "2", true,
	  TRY_EXCLUSIVE },
	/* its own thread holds it: nothing is needed of others */
	{ "T2|acq(l)|1\nT2|tryfail(l)|2\n", "0", true, TRY_NOTHING },
	{ "T1|racq(l)|1\nT3|racq(l)|2\nT2|tryfail(l)|3\n", "0 1", true, TRY_ANY },
	{ "T1|racq(l)|1\nT3|racq(l)|2\nT1|rrel(l)|3\nT2|tryfail(l)|4\n", "1", true, TRY_ANY },
	/* no thread holds it: for another reason */
	{ "T1|acq(l)|1\nT1|rel(l)|2\nT2|tryfail(l)|3\n", "", false, TRY_NOTHING },
	{ "T1|acq(l)|1\nT1|rel(l)|2\nT1|destroy(l)|3\nT2|tryfail(l)|4\n", "2", true,
	  TRY_DESTROYED },
	/* another lock's holder is no concern */
	{ "T1|acq(k)|1\nT2|tryfail(l)|2\n", "", false, TRY_NOTHING },
	/* the takes that emptied the semaphore: the last of each thread */
	{ "#! semaphore s 3\nT1|take(s)|1\nT3|take(s)|2\nT1|take(s)|3\nT2|taketryfail(s)|4\n",
	  "1 2", true, TRY_ANY },
	{ "#! semaphore s 2\nT1|take(s)|1\nT2|taketryfail(s)|2\n", "", false, TRY_NOTHING },
	{ "#! semaphore s 0\nT2|taketryfail(s)|2\n", "", true, TRY_NOTHING },
};

START_TEST(what_it_observed)
{
	struct error error = { 0 };
	const char *text = cases[_i].text;
	struct trace *t = trace_from_text("test.txt", text, strlen(text), NULL, &error);

	ck_assert_msg(t != NULL, "refused: %s: %s", error.where, error.what);
	uint32_t last = (uint32_t)t->events_count - 1;
	ck_assert(trace_need(t, INDEX_OBJECTS, NULL));
	const struct tries *tries = trace_tries(t);
	struct event_list seen = tries_observed(tries, last);
	GString *words = g_string_new("");
	for (uint64_t i = 0; i < seen.count; i++)
		g_string_append_printf(words, i > 0 ? " %u" : "%u", seen.items[i]);
	ck_assert_str_eq(words->str, cases[_i].observed);
	ck_assert_int_eq(tries_binding(tries, last), cases[_i].binding);
	if (t->events[last].op == OP_TRYFAIL)
		ck_assert_int_eq(tries_need(tries, last), cases[_i].need);
	ck_assert_uint_eq(tries_observed(tries, 0).count, last == 0 ? seen.count : 0);
	ck_assert(trace_tries(t) == tries);
	g_string_free(words, TRUE);
	trace_close(t);
}
END_TEST

/* Any section of another thread that excludes the try would do. */
START_TEST(what_would_do)
{
	static const char text[] = "T1|acq(l)|1\nT2|tryfail(l)|2\nT1|rel(l)|3\nT3|racq(l)|4\n"
	                           "T3|rrel(l)|5\nT2|acq(l)|6\nT2|rel(l)|7\nT3|acq(l)|8\n";
	struct error error = { 0 };
	struct trace *t = trace_from_text("test.txt", text, strlen(text), NULL, &error);
	GArray *sections = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	ck_assert(t != NULL && trace_need(t, INDEX_OBJECTS, NULL));
	tries_sections(trace_tries(t), 1, sections);
	ck_assert_uint_eq(sections->len, 2);
	ck_assert_uint_eq(g_array_index(sections, uint32_t, 0), 0);
	ck_assert_uint_eq(g_array_index(sections, uint32_t, 1), 7);
	g_array_free(sections, TRUE);
	trace_close(t);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("tries");
	TCase *c = tcase_create("tries");

	tcase_add_loop_test(c, what_it_observed, 0, G_N_ELEMENTS(cases));
	tcase_add_test(c, what_would_do);
	suite_add_tcase(s, c);
	return suite_run(s);
}
