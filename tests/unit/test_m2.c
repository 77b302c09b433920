/*
 * test_m2.c - M2 on single pairs: hard cases of its linearisation, and its budget.
 */
#include "engine/predict/m2/m2_private.h"
#include "engine/predict/predict.h"
#include "tests/support/suite.h"

#include <check.h>
#include <string.h>

static struct trace *read_text(const char *text)
{
	struct error error = { 0 };
	struct trace *t = trace_from_text("test.txt", text, strlen(text), NULL, &error);

	ck_assert_msg(t != NULL, "%s", error.what);
	ck_assert(trace_need(t, INDEX_ALL, NULL));
	return t;
}

/* T2's section is open at the pair and T1's is closed, so that one comes first, and with it
 * T2's write of x comes late.  As recorded it would fall between T0's write and the read. */
START_TEST(a_late_write_does_not_fall_before_a_read)
{
	struct trace *t = read_text("T2|acq(l)|1\nT1|r(x)|2\nT2|post(s)|3\nT0|w(x)|4\n"
	                            "T0|post(s)|5\nT2|w(x)|6\nT2|w(x)|7\nT2|rel(l)|8\n"
	                            "T0|w(x)|9\nT1|acq(l)|10\nT1|rel(l)|11\nT1|r(x)|12\n"
	                            "T1|w(x)|13\n");
	struct m2 *m = m2_new(t, NULL, NULL);
	GArray *witness = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	ck_assert_int_eq(m2_pair(m, 6, 12, witness, NULL), M2_RACE);
	ck_assert_uint_eq(witness->len, 12);
	ck_assert_msg(m2_refused(m) == 0, "a sequence was refused on the way");
	g_array_unref(witness);
	m2_free(m);
	trace_close(t);
}
END_TEST

/* T2's failed take needs some take that leaves no count; which one is M2's guess.  With the
 * first take T1's write is not needed, so it races T2's, and a report that misses that is not
 * complete. */
START_TEST(a_guess_about_a_failed_take_is_no_proof)
{
	struct trace *t = read_text("#! semaphore s 1\nT2|take(s)|8\nT1|w(x)|5\nT1|post(s)|5\n"
	                            "T1|take(s)|3\nT2|taketryfail(s)|8\nT2|w(x)|7\n");
	struct race_options options;
	struct error error = { 0 };
	struct report *r;

	race_options_init(&options);
	options.analysis = ANALYSIS_M2;
	for (int events = 0; events < 2; events++) {
		options.pairs_events = events;
		r = races_find(t, &options, NULL, &error);
		ck_assert(!r->complete || r->findings->len == 1);
		report_free(r);
	}
	trace_close(t);
}
END_TEST

/* A section of many reads that is open at the pair, and another that has to come first: the
 * second half of the sections turns round, which takes more than a million steps. */
static struct trace *long_pair(void)
{
	GString *text = g_string_new("T1|acq(l)|1\n");

	for (int i = 0; i < 600000; i++)
		g_string_append_printf(text, "T1|w(y%d)|2\nT2|r(z%d)|3\n", i % 100, i % 100);
	g_string_append(text, "T1|w(x)|4\nT1|rel(l)|5\nT2|acq(l)|6\nT2|w(y0)|7\nT2|rel(l)|8\n"
	                      "T2|w(x)|9\nT1|r(v)|10\nT2|w(v)|11\n");
	struct trace *t = read_text(text->str);
	g_string_free(text, TRUE);
	return t;
}

START_TEST(the_budget_bounds_long_pairs)
{
	struct trace *t = long_pair();
	struct m2 *m = m2_new(t, NULL, NULL);
	uint32_t n = (uint32_t)t->events_count, e1 = n - 8, e2 = n - 3;

	ck_assert_int_eq(m2_pair(m, e1, e2, NULL, NULL), M2_RACE);
	m2_bound(m, 0, 100);
	ck_assert_int_eq(m2_pair(m, e1, e2, NULL, NULL), M2_GAVE_UP);
	ck_assert_int_eq(m2_budget(m), OPEN_PAIR);
	m2_bound(m, 100, 0);
	ck_assert_int_eq(m2_pair(m, e1, e2, NULL, NULL), M2_GAVE_UP);
	ck_assert_int_eq(m2_budget(m), OPEN_TOTAL);
	ck_assert(!m2_over(m));
	m->purse.work = UINT32_MAX; /* as after many short ones */
	m2_pair(m, e1, e2, NULL, NULL);
	ck_assert_msg(m2_over(m), "nothing was spent");
	ck_assert_int_eq(m2_pair(m, e1, e2, NULL, NULL), M2_GAVE_UP);
	ck_assert_int_eq(m2_budget(m), OPEN_TOTAL);
	m2_free(m);
	trace_close(t);
}
END_TEST

/* T1's first event is ordered before T2's section by what T2 reads of it; its write of x cannot
 * come beside T2's, as T3's section, which T1 then reads of, follows T2's.  Between these two
 * reads T1's write of z can.  So an observation across threads ends a region, or the proof for
 * x, and that for the first events, would be taken for all that lies between. */
static const char observed[] =
        "T1|w(p)|1\nT1|w(y)|2\nT2|r(y)|3\nT2|acq(m)|4\nT2|w(q)|5\nT2|w(x)|6\nT2|w(z)|7\n"
        "T2|rel(m)|8\nT3|acq(m)|9\nT3|r(q)|10\nT3|rel(m)|11\nT3|w(u)|12\nT1|w(z)|13\n"
        "T1|r(u)|14\nT1|w(x)|15\n";

START_TEST(an_observation_ends_a_region)
{
	struct trace *t = read_text(observed);
	struct error error = { 0 };
	struct race_options options;
	bool found = false;

	race_options_init(&options);
	options.analysis = ANALYSIS_M2;
	options.pairs_events = true;
	struct report *r = races_find(t, &options, NULL, &error);
	ck_assert_ptr_nonnull(r);
	for (guint i = 0; i < r->findings->len; i++) {
		const struct finding *f = r->findings->pdata[i];
		found |= strcmp(trace_location_name(t, f->first), "7") == 0;
	}
	ck_assert(found);
	report_free(r);
	trace_close(t);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("M2");
	TCase *tests = tcase_create("single pairs");

	tcase_add_test(tests, a_late_write_does_not_fall_before_a_read);
	tcase_add_test(tests, a_guess_about_a_failed_take_is_no_proof);
	tcase_add_test(tests, the_budget_bounds_long_pairs);
	tcase_add_test(tests, an_observation_ends_a_region);
	suite_add_tcase(suite, tests);
	return suite_run(suite);
}
