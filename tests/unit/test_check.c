/*
 * test_check.c - the checker, rule by rule, on traces small enough to be read; and its
 * stepwise and incremental faces.
 */
#include "engine/witness/check.h"
#include "tests/support/suite.h"

#include <check.h>
#include <string.h>

static struct trace *open_text(const char *text)
{
	struct error error;
	struct trace *t = trace_from_text("test", text, strlen(text),
	                                  &(struct trace_options){ 0 }, &error);

	ck_assert_msg(t != NULL, "%s", error.what);
	return t;
}

/* "0 3 1" -> events. */
static GArray *events_of(const char *text)
{
	GArray *events = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	char **words = g_strsplit(text, " ", -1);

	for (char **w = words; *w != NULL; w++) {
		uint32_t e = (uint32_t)g_ascii_strtoull(*w, NULL, 10);

		if (**w != '\0')
			g_array_append_val(events, e);
	}
	g_strfreev(words);
	return events;
}

/* "" when accepted, else the beginning of the reason. */
static void expect(const char *text, enum claim claim, const char *pair, const char *sequence,
                   const char *reason)
{
	struct trace *t = open_text(text);
	GArray *p = events_of(pair), *s = events_of(sequence);
	GString *why = g_string_new(NULL);
	bool good = witness_check(t, event_list_of(s),
	                          (struct claimed){ claim, event_list_of(p) }, NULL, why);

	ck_assert_msg(good == (*reason == '\0'), "%s: %s", sequence, why->str);
	ck_assert_msg(g_str_has_prefix(why->str, reason), "expected '%s', got '%s'", reason,
	              why->str);
	g_string_free(why, TRUE);
	g_array_unref(p);
	g_array_unref(s);
	trace_close(t);
}

static const char bank[] = "T1|acq(l)|\nT1|w(x)|\nT1|rel(l)|\n"
                           "T2|acq(l)|\nT2|r(y)|\nT2|rel(l)|\nT2|r(x)|\n";

START_TEST(a_race_has_its_pair_last)
{
	expect(bank, CLAIM_RACE, "1 6", "3 4 5 0 1 6", "");
	expect(bank, CLAIM_RACE, "6 1", "3 4 5 0 6 1", "");
	expect(bank, CLAIM_RACE, "1 6", "3 4 5 0 1", "the pair");
	expect(bank, CLAIM_RACE, "1 6", "", "the pair");
	expect(bank, CLAIM_RACE, "1 4", "0 3 1 4",
	       "the pair: event 1, T1's write x and event 4, T2's read y do not conflict");
	expect(bank, CLAIM_RACE, "1 900", "0 3 1 900", "the pair: no such event");
}
END_TEST

START_TEST(prefixes_and_locks)
{
	expect(bank, CLAIM_RACE, "1 6", "3 5 4 0 1 6", "rule 1 (prefixes): event 5");
	expect(bank, CLAIM_RACE, "1 6", "3 3 4 5 0 1 6", "rule 1 (prefixes): event 3");
	expect(bank, CLAIM_RACE, "1 6", "0 3 4 5 1 6", "rule 3 (locks): event 3");
	/* neither is next: the thread of one has not come so far */
	expect(bank, CLAIM_RACE, "1 6", "3 4 0 1 6", "rule 3 (locks): event 0");
	expect(bank, CLAIM_RACE, "1 6", "0 1 6", "rule 1 (prefixes): event 6");
}
END_TEST

START_TEST(a_place_is_reached_by_the_next_event)
{
	expect(bank, CLAIM_REACH, "6", "3 4 5 0 1 6", "");
	expect(bank, CLAIM_REACH, "3", "0 1 3", ""); /* where it has to wait */
	expect(bank, CLAIM_REACH, "0", "0", "");
	expect(bank, CLAIM_REACH, "6", "3 4 6", "the place: event 6, T2's read x is not next");
	expect(bank, CLAIM_REACH, "6", "3 4 5", "the place: the last event is not 6");
	expect(bank, CLAIM_REACH, "6", "0 3 4 5 6", "rule 3 (locks): event 3");
	expect(bank, CLAIM_REACH, "6", "", "the place");
	expect(bank, CLAIM_REACH, "", "3 4 5 6", "the place: an event is needed");
	expect(bank, CLAIM_REACH, "900", "900", "the place: no such event");
}
END_TEST

START_TEST(readers_share_and_writers_do_not)
{
	const char *text = "T1|racq(l)|\nT2|racq(l)|\nT1|rrel(l)|\nT2|rrel(l)|\nT3|acq(l)|\n"
	                   "T3|rel(l)|\n";

	expect(text, CLAIM_PREFIX, "", "0 1", "");
	expect(text, CLAIM_PREFIX, "", "4 5 1 0 3 2", "");
	expect(text, CLAIM_PREFIX, "", "4 0", "rule 3 (locks): event 0");
	expect(text, CLAIM_PREFIX, "", "0 1 2 4", "rule 3 (locks): event 4");
}
END_TEST

START_TEST(bytes_are_observed_one_by_one)
{
	const char *text = "#! heddle 1\nT1|w4(p)|\nT2|w2(p+2)|\nT3|r4(p)|\nT4|r2(p)|\n";

	expect(text, CLAIM_PREFIX, "", "0 1 2 3", "");
	expect(text, CLAIM_PREFIX, "", "0 3 1 2", "");
	expect(text, CLAIM_PREFIX, "", "1 0 2", "rule 2 (observation): event 2");
	/* the other half is still that of event 0 */
	expect(text, CLAIM_PREFIX, "", "1 0 3", "");
	expect(text, CLAIM_RACE, "0 1", "0 1", "");
	expect(text, CLAIM_RACE, "1 3", "0 1 3",
	       "the pair: event 1, T2's write p+2 and event 3, T4's read p do not conflict");
}
END_TEST

START_TEST(of_the_pair_no_observation_is_asked)
{
	const char *text = "T1|w(x)|\nT2|w(x)|\nT3|r(x)|\n";

	expect(text, CLAIM_RACE, "0 2", "1 0 2", "");
	expect(text, CLAIM_RACE, "0 2", "0 2", "");
	expect(text, CLAIM_PREFIX, "", "1 0 2", "rule 2 (observation): event 2");
}
END_TEST

START_TEST(blocks_live_from_alloc_to_free)
{
	const char *text = "#! heddle 1\nT1|alloc(p,8)|\nT2|w(p.a)|\nT1|r(p.a)|\nT1|free(p)|\n"
	                   "T2|r(p.b)|\nT3|alloc(p,8)|\nT3|w(p.a)|\n";

	expect(text, CLAIM_PREFIX, "", "1", "rule 4 (must-order): event 1");
	expect(text, CLAIM_PREFIX, "", "0 1 2 3 4", "rule 6 (freed blocks): event 4");
	expect(text, CLAIM_PREFIX, "", "0 1 2 4 3 5 6", "");
	expect(text, CLAIM_PREFIX, "", "0 5", "rule 4 (must-order): event 5");
	/* the pair may be a use after free: rule 6 does not ask of it */
	expect("#! heddle 1\nT1|alloc(p,8)|\nT2|r(y)|\nT2|w(p.a)|\nT1|r(p.a)|\nT1|free(p)|\n",
	       CLAIM_RACE, "2 3", "0 1 2 3", "");
}
END_TEST

START_TEST(invocations_keep_their_order_without_a_specification)
{
	const char *text =
	        "#! heddle 1\nT1|act(o.put,1)=nil|\nT2|call(o.get,1)|\nT2|ret(o.get)=1|\n"
	        "T1|act(q.put,1)=nil|\n";

	expect(text, CLAIM_PREFIX, "", "1 0 2 3", "");
	expect(text, CLAIM_PREFIX, "", "1 2", "rule 4 (must-order): event 2");
	expect(text, CLAIM_PREFIX, "", "0 3", "");
}
END_TEST

START_TEST(a_deadlock_blocks_every_request)
{
	const char *text = "T1|acq(a)|\nT1|acq(b)|\nT1|rel(b)|\nT1|rel(a)|\n"
	                   "T2|acq(b)|\nT2|acq(a)|\nT2|rel(a)|\nT2|rel(b)|\n";

	expect(text, CLAIM_DEADLOCK, "1 5", "0 4 1 5", "");
	expect(text, CLAIM_DEADLOCK, "1 5", "0 4", "");
	expect(text, CLAIM_DEADLOCK, "1 5", "0 1 5", "the cycle");
	expect(text, CLAIM_DEADLOCK, "1 5", "0 1 2 3 4", "the cycle");
	expect(text, CLAIM_DEADLOCK, "1 6", "0 4",
	       "the cycle: event 6, T2's unlock a is no acquire");
}
END_TEST

START_TEST(an_order_violation_ends_with_its_event)
{
	const char *text = "#! heddle 1\nT1|alloc(p,8)|\nT2|r(p.a)|\nT1|free(p)|\n";

	expect(text, CLAIM_COV, "1 2", "0 2 1", "");
	expect(text, CLAIM_COV, "1 2", "0 1", "the pair: event 2 is not in the sequence");
	expect(text, CLAIM_COV, "0 2", "0 2",
	       "the pair: event 0, T1's allocate p and event 2, T1's free p are of the same thread");
	expect(text, CLAIM_COV, "1 2", "0 2", "the pair: event 1 is not turned round");
}
END_TEST

START_TEST(c11_happens_before)
{
	const char *relaxed = "#! heddle 1\nT1|w(x)|\nT1|aw(f);rlx|\nT2|ar(f);rlx|\nT2|r(x)|\n";
	const char *released =
	        "#! heddle 1\nT1|w(x)|\nT1|aw(f);rel|\nT2|ar(f);acq|\nT2|r(x)|\n";
	const char *sequence = "#! heddle 1\nT1|w(x)|\nT1|aw(f);rel|\nT3|rmw(f);rlx|\n"
	                       "T2|ar(f);acq|\nT2|r(x)|\n";
	const char *broken = "#! heddle 1\nT1|w(x)|\nT1|aw(f);rel|\nT3|aw(f);rlx|\n"
	                     "T2|ar(f);acq|\nT2|r(x)|\n";
	const char *fences = "#! heddle 1\nT1|w(x)|\nT1|fence(rel)|\nT1|aw(f);rlx|\n"
	                     "T2|ar(f);rlx|\nT2|fence(acq)|\nT2|r(x)|\n";

	expect(relaxed, CLAIM_C11_RACE, "0 3", "0 1 2 3", "");
	expect(released, CLAIM_C11_RACE, "0 3", "0 1 2 3", "the pair: event 3");
	expect(sequence, CLAIM_C11_RACE, "0 4", "0 1 2 3 4", "the pair: event 4");
	expect(broken, CLAIM_C11_RACE, "0 4", "0 1 2 3 4", "");
	expect(fences, CLAIM_C11_RACE, "0 5", "0 1 2 3 4 5", "the pair: event 5");
	expect(bank, CLAIM_C11_RACE, "1 6", "0 1 2 3 4 5 6", "the pair: event 6");
	/* an event after an ordinary race is not another one */
	/* the misuse of a lock comes after the allocation of the block that it lies in */
	expect("T1|w(x)=1|\nT2|r(x)=1|\nT2|alloc(p,8)|\nT3|misuse(p.l,unlock-not-held)|\n"
	       "T3|r(x)=1|\n",
	       CLAIM_C11_RACE, "0 4", "0 1 2 3 4", "the pair: event 4");
	expect("T1|w(z)|\nT1|w(x)|\nT2|r(x)|\nT2|w(z)|\n", CLAIM_C11_RACE, "0 3", "0 1 2 3",
	       "the pair: event 3");
}
END_TEST

START_TEST(an_object_is_named_after_its_block_is_allocated)
{
	const char misuse[] = "T0|alloc(p,8)|\nT1|misuse(p.l,unlock-not-held)|\n"
	                      "T1|w(x)|\nT0|w(x)|\n";
	const char want[] = "T0|alloc(p,8)|\nT1|want(p.l)|\nT0|w(x)|\nT2|w(x)|\n";

	expect(misuse, CLAIM_RACE, "2 3", "0 1 2 3", "");
	expect(misuse, CLAIM_RACE, "2 3", "1 0 2 3", "rule 4 (must-order): event 1");
	expect(want, CLAIM_RACE, "2 3", "0 1 2 3", "");
	expect(want, CLAIM_RACE, "2 3", "0 2 3", "");
	expect(want, CLAIM_RACE, "2 3", "1 0 2 3", "rule 4 (must-order): event 1");
}
END_TEST

START_TEST(step_by_step)
{
	struct trace *t = open_text(bank);
	struct checker *c = checker_new(t, NULL);
	GString *why = g_string_new(NULL);

	ck_assert(checker_enabled(c, 0, NULL));
	ck_assert(checker_enabled(c, 3, NULL));
	ck_assert(checker_step(c, 3, NULL));
	ck_assert(!checker_enabled(c, 0, why));
	ck_assert_msg(strstr(why->str, "T2 holds the lock") != NULL, "%s", why->str);
	ck_assert(!checker_step(c, 0, NULL));
	ck_assert(checker_step(c, 4, NULL));
	ck_assert(checker_step(c, 5, NULL));
	ck_assert(checker_step(c, 0, NULL));
	ck_assert(!checker_step(c, 77, NULL));
	g_string_free(why, TRUE);
	checker_free(c);
	trace_close(t);
}
END_TEST

/* Tails after prefixes, forwards and backwards, have the verdicts of the whole sequences. */
START_TEST(tails_after_the_recording)
{
	const char *text = "T1|w(x)|\nT2|w(x)|\nT1|acq(l)|\nT1|w(y)|\nT1|rel(l)|\nT2|acq(l)|\n"
	                   "T2|rel(l)|\nT2|r(y)|\nT1|w(x)|\nT2|w(x)|\n";
	const struct {
		uint32_t prefix;
		const char *tail, *pair;
		bool good;
	} cases[] = {
		{ 0, "0 1", "0 1", true },           { 8, "8 9", "8 9", true },
		{ 2, "5 6 2 3 7", "3 7", true },     { 1, "1 2 3", "3 7", false },
		{ 2, "2 5 6 3 7", "3 7", false },    { 8, "9 8", "8 9", true },
		{ 0, "0 1 5 6 2 3 7", "3 7", true },
	};
	struct trace *t = open_text(text);
	struct checker *c = checker_new(t, NULL);

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		GArray *tail = events_of(cases[i].tail), *pair = events_of(cases[i].pair);

		ck_assert_int_eq(checker_race_after(c, cases[i].prefix,
		                                    (const uint32_t *)tail->data, tail->len,
		                                    (const uint32_t *)pair->data, NULL),
		                 cases[i].good);
		g_array_unref(tail);
		g_array_unref(pair);
	}
	checker_free(c);
	trace_close(t);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("checker");
	TCase *tests = tcase_create("rules");

	tcase_add_test(tests, a_race_has_its_pair_last);
	tcase_add_test(tests, prefixes_and_locks);
	tcase_add_test(tests, a_place_is_reached_by_the_next_event);
	tcase_add_test(tests, readers_share_and_writers_do_not);
	tcase_add_test(tests, bytes_are_observed_one_by_one);
	tcase_add_test(tests, of_the_pair_no_observation_is_asked);
	tcase_add_test(tests, blocks_live_from_alloc_to_free);
	tcase_add_test(tests, invocations_keep_their_order_without_a_specification);
	tcase_add_test(tests, a_deadlock_blocks_every_request);
	tcase_add_test(tests, an_order_violation_ends_with_its_event);
	tcase_add_test(tests, c11_happens_before);
	tcase_add_test(tests, an_object_is_named_after_its_block_is_allocated);
	tcase_add_test(tests, step_by_step);
	tcase_add_test(tests, tails_after_the_recording);
	suite_add_tcase(suite, tests);
	return suite_run(suite);
}
