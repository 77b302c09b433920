/*
 * test_smt.c - queries to the solver: each kind of requirement alone, refusals by a judge,
 * and the evidence of an impossibility.
 */
#include "engine/predict/predict.h"
#include "engine/predict/smt/smt.h"
#include "tests/support/suite.h"

#include <check.h>
#include <string.h>

/* Two threads that each write x in a section of l, and z after it. */
static const char sections[] = "T1|acq(l)|1\n"
                               "T1|w(x)|2\n"
                               "T1|rel(l)|3\n"
                               "T1|w(z)|4\n"
                               "T2|acq(l)|5\n"
                               "T2|w(x)|6\n"
                               "T2|rel(l)|7\n"
                               "T2|w(z)|8\n";
/* A proof needs the order of sections: T3's must end before T1's begins, and cannot. */
static const char needs_solver[] = "T1|acq(l)|1\n"
                                   "T1|post(s)|2\n"
                                   "T1|w(x)|3\n"
                                   "T1|rel(l)|4\n"
                                   "T3|take(s)|5\n"
                                   "T3|acq(l)|6\n"
                                   "T3|aw(b)|7\n"
                                   "T3|rel(l)|8\n"
                                   "T2|ar(b)|9\n"
                                   "T2|w(x)|10\n";

struct fixture {
	struct trace *t;
	struct smt *s;
	struct smt_query *q;
	GArray *sequence;
	struct proof *proof;
};

static struct fixture setup(const char *text)
{
	struct smt_options options = { .invocations = true };
	struct error error = { .where = "" };
	struct fixture f = { .sequence = g_array_new(FALSE, FALSE, sizeof(uint32_t)) };

	f.t = trace_from_text("test", text, strlen(text), NULL, &error);
	ck_assert_msg(f.t != NULL, "%s", error.what);
	f.s = smt_new(f.t, &options, NULL);
	f.q = smt_query_new(f.s);
	return f;
}

static void teardown(struct fixture *f)
{
	proof_free(f->proof);
	g_array_free(f->sequence, TRUE);
	smt_query_free(f->q);
	smt_free(f->s);
	trace_close(f->t);
}

static enum smt_answer solve(struct fixture *f)
{
	proof_free(f->proof);
	f->proof = NULL;
	return smt_query_solve(f->q, 10, f->sequence, &f->proof, NULL);
}

/* The place of an event in the answer, -1 when it is not there. */
static int place(const struct fixture *f, uint32_t e)
{
	for (guint i = 0; i < f->sequence->len; i++) {
		if (g_array_index(f->sequence, uint32_t, i) == e)
			return (int)i;
	}
	return -1;
}

START_TEST(next_is_not_in)
{
	struct fixture f = setup(sections);

	smt_query_next(f.q, 3);
	smt_query_next(f.q, 7);
	ck_assert_int_eq(solve(&f), SMT_WITNESS);
	ck_assert_int_eq(f.sequence->len, 6);
	ck_assert_int_eq(place(&f, 3), -1);
	ck_assert_int_eq(place(&f, 7), -1);
	ck_assert_int_ge(place(&f, 6), 0);
	teardown(&f);
}
END_TEST

START_TEST(before_turns_sections_round)
{
	struct fixture f = setup(sections);

	smt_query_before(f.q, 6, 0);
	ck_assert_int_eq(solve(&f), SMT_WITNESS);
	ck_assert_int_ge(place(&f, 6), 0);
	ck_assert_int_lt(place(&f, 6), place(&f, 0));
	teardown(&f);
}
END_TEST

START_TEST(sections_do_not_overlap)
{
	struct fixture f = setup(sections);

	smt_query_before(f.q, 0, 4);
	smt_query_before(f.q, 4, 1);
	smt_query_in(f.q, 6);
	ck_assert_int_eq(solve(&f), SMT_IMPOSSIBLE);
	ck_assert_int_eq(f.proof->method, PROOF_SOLVER);
	ck_assert_int_gt(f.proof->cycle.steps->len, 0);
	teardown(&f);
}
END_TEST

START_TEST(a_release_beyond_the_least_region_helps)
{
	struct fixture f = setup(sections);

	/* both acquires, neither release asked for: one of them has to come */
	smt_query_in(f.q, 0);
	smt_query_in(f.q, 4);
	ck_assert_int_eq(solve(&f), SMT_WITNESS);
	ck_assert(place(&f, 2) >= 0 || place(&f, 6) >= 0);
	teardown(&f);
}
END_TEST

START_TEST(what_must_not_be_in)
{
	struct fixture f = setup(sections);

	smt_query_in(f.q, 3);
	smt_query_out(f.q, 1);
	ck_assert_int_eq(solve(&f), SMT_IMPOSSIBLE);
	ck_assert_int_eq(f.proof->method, PROOF_CONE);
	teardown(&f);
	f = setup(sections);
	smt_query_in(f.q, 0);
	smt_query_in(f.q, 4);
	smt_query_out(f.q, 2);
	smt_query_out(f.q, 6);
	ck_assert_int_eq(solve(&f), SMT_IMPOSSIBLE);
	teardown(&f);
}
END_TEST

START_TEST(unobserved_is_the_last_of_its_thread)
{
	struct fixture f = setup("T1|w(x)|1\nT2|r(x)|2\nT2|w(y)|3\n");

	smt_query_in_unobserved(f.q, 1);
	smt_query_out(f.q, 0);
	ck_assert_int_eq(solve(&f), SMT_WITNESS);
	ck_assert_int_eq(f.sequence->len, 1);
	smt_query_free(f.q);
	f.q = smt_query_new(f.s);
	smt_query_in(f.q, 1);
	smt_query_out(f.q, 0);
	ck_assert_int_eq(solve(&f), SMT_IMPOSSIBLE);
	teardown(&f);
}
END_TEST

struct judgement {
	uint32_t first, second; /* wanted in this order */
	unsigned calls;
};

static bool wants_order(void *context, struct smt_query *q, const uint32_t *sequence,
                        uint32_t length)
{
	struct judgement *j = context;
	struct smt_atom atom = { ATOM_BEFORE, j->first, j->second };
	bool seen = false;

	j->calls++;
	for (uint32_t i = 0; i < length; i++) {
		seen |= sequence[i] == j->first;
		if (sequence[i] == j->second && seen)
			return true;
	}
	smt_query_require(q, &atom, 1);
	return false;
}

START_TEST(a_judge_is_obeyed)
{
	struct judgement j = { 7, 3, 0 };
	struct fixture f = setup(sections);

	smt_query_in(f.q, 3);
	smt_query_in(f.q, 7);
	smt_query_judge(f.q, wants_order, &j);
	ck_assert_int_eq(solve(&f), SMT_WITNESS);
	ck_assert_int_eq(j.calls, 2);
	ck_assert_int_lt(place(&f, 7), place(&f, 3));
	teardown(&f);
	/* program order forbids it */
	f = setup(sections);
	j = (struct judgement){ 3, 2, 0 };
	smt_query_in(f.q, 3);
	smt_query_judge(f.q, wants_order, &j);
	ck_assert_int_eq(solve(&f), SMT_IMPOSSIBLE);
	teardown(&f);
}
END_TEST

START_TEST(without_time_only_the_try)
{
	struct fixture f = setup(needs_solver);

	smt_query_next(f.q, 2);
	smt_query_next(f.q, 9);
	ck_assert_int_eq(smt_query_solve(f.q, 0, f.sequence, &f.proof, NULL), SMT_SPENT);
	ck_assert(smt_solver_seconds(f.s) == 0);
	teardown(&f);
	f = setup(sections);
	smt_query_next(f.q, 3);
	smt_query_next(f.q, 7);
	ck_assert_int_eq(smt_query_solve(f.q, 0, f.sequence, &f.proof, NULL), SMT_WITNESS);
	teardown(&f);
}
END_TEST

START_TEST(a_proof_says_what_is_given)
{
	struct race_options options;
	struct fixture f = setup(needs_solver);

	race_options_init(&options);
	struct finding *found = smt_decide(f.s, 2, 9, &options, 10, NULL);
	ck_assert_int_eq(found->verdict, VERDICT_IMPOSSIBLE);
	ck_assert(found->proof->same_pairing);
	ck_assert(smt_solver_seconds(f.s) > 0);
	finding_free(found);
	teardown(&f);
}
END_TEST

/* A failed try may lie in the witness or be left out of it.  Where it is left out, the
 * scheduler may not wait for it. */
static const struct {
	const char *text;
	uint32_t e1, e2;
} left_out[] = {
	{ "T1|r(x0)|3\nT1|acq(l0)|3\nT1|rel(l0)|4\nT0|r(x0)|2\nT1|r(x0)|4\nT1|tryacq(l0)|4\n"
	  "T2|tryfail(l0)|6\nT1|r(x0)|4\nT1|rel(l0)|5\nT3|acq(l0)|10\nT0|r(x0)|1\nT1|w(x0)|3\n"
	  "T1|r(x0)|4\nT0|tryfail(l0)|0\nT3|rel(l0)|10\nT0|w(x0)|2\nT3|acq(l0)|10\n",
	  7, 15 },
	{ "T0|w(x0)|1\nT1|acq(l0)|4\nT1|w(x1)|5\nT1|rel(l0)|5\nT2|w(x0)|7\nT0|w(x1)|1\n"
	  "T0|w(x0)|1\nT1|w(x0)|3\nT2|w(x0)|6\nT1|w(x0)|3\nT1|tryracq(l0)|3\nT2|tryfail(l0)|8\n"
	  "T0|tryfail(l0)|0\nT1|rrel(l0)|4\nT0|acq(l0)|2\nT1|r(x1)|4\nT1|r(x1)|5\nT2|r(x0)|8\n"
	  "T0|rel(l0)|1\n",
	  7, 17 },
};

START_TEST(a_try_that_is_left_out)
{
	struct race_options options;
	struct fixture f = setup(left_out[_i].text);

	race_options_init(&options);
	struct finding *found =
	        smt_decide(f.s, left_out[_i].e1, left_out[_i].e2, &options, 1000, NULL);
	ck_assert_int_eq(found->verdict, VERDICT_RACE);
	finding_free(found);
	teardown(&f);
}
END_TEST

static bool never(void *context, double fraction, const char *what)
{
	return false;
}

START_TEST(cancelled)
{
	struct progress stop = { never, NULL };
	struct race_options options;
	struct error error = { .where = "" };
	struct fixture f = setup(sections);

	smt_query_next(f.q, 3);
	smt_query_next(f.q, 7);
	ck_assert_int_eq(smt_query_solve(f.q, 10, f.sequence, NULL, &stop), SMT_CANCELLED);
	race_options_init(&options);
	options.analysis = ANALYSIS_SMT;
	ck_assert_ptr_null(races_find(f.t, &options, &stop, &error));
	ck_assert_str_eq(error.what, "cancelled");
	teardown(&f);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("solver");
	TCase *queries = tcase_create("queries");

	tcase_add_test(queries, next_is_not_in);
	tcase_add_test(queries, before_turns_sections_round);
	tcase_add_test(queries, sections_do_not_overlap);
	tcase_add_test(queries, a_release_beyond_the_least_region_helps);
	tcase_add_test(queries, what_must_not_be_in);
	tcase_add_test(queries, unobserved_is_the_last_of_its_thread);
	tcase_add_test(queries, a_judge_is_obeyed);
	tcase_add_test(queries, without_time_only_the_try);
	tcase_add_test(queries, a_proof_says_what_is_given);
	tcase_add_loop_test(queries, a_try_that_is_left_out, 0, G_N_ELEMENTS(left_out));
	tcase_add_test(queries, cancelled);
	suite_add_tcase(suite, queries);
	return suite_run(suite);
}
