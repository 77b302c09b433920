/*
 * test_suspects.c - the variables that can race at all (race_suspects): what orders and locks
 * settle beside happens-before and one lock for all accesses. Of each kind also the trace that
 * differs by the race.
 */
#include "engine/order/order.h"
#include "engine/predict/pairs/lockset_kinds.h"
#include "engine/predict/pairs/pairs.h"
#include "engine/trace/formats.h"
#include "engine/trace/storage.h"
#include "tests/support/suite.h"

#include <check.h>
#include <string.h>

static uint64_t suspects_of(const char *text)
{
	struct error error = { 0 };
	struct trace *t = trace_from_text("test.txt", text, strlen(text), NULL, &error);
	uint64_t *suspects, count;

	ck_assert_msg(t != NULL, "%s", error.what);
	ck_assert(race_suspects(t, false, &suspects, &count, NULL));
	g_free(suspects);
	trace_close(t);
	return count;
}

static const char locked_write[] = "T1|acq(l)|6\nT1|w(x)|7\nT1|rel(l)|8\n";

static uint64_t before(const char *text, const char *after)
{
	g_autofree char *both = g_strconcat(text, after, NULL);

	return suspects_of(both);
}

START_TEST(a_variable_is_made_before_it_is_shared_under_a_lock)
{
	ck_assert_uint_eq(
	        before("T0|w(x)|1\nT0|fork(T1)|2\nT0|acq(l)|3\nT0|r(x)|4\nT0|rel(l)|5\n",
	               locked_write),
	        0);
	ck_assert_uint_eq(before("T0|w(x)|1\nT0|fork(T1)|2\nT0|r(x)|4\n", locked_write), 1);
}
END_TEST

START_TEST(the_only_writer_reads_without_the_lock)
{
	const char *text = "T0|fork(T1)|1\nT0|acq(l)|2\nT0|w(x)|3\nT0|rel(l)|4\nT0|r(x)|5\n";

	ck_assert_uint_eq(before(text, "T1|acq(l)|6\nT1|r(x)|7\nT1|rel(l)|8\nT0|r(x)|9\n"), 0);
	ck_assert_uint_eq(before(text, locked_write), 1);
}
END_TEST

START_TEST(atomic_accesses_follow_a_plain_one)
{
	const char *text = "T0|w(x)|1\nT0|fork(T1)|2\nT1|aw(x)|3\n";

	ck_assert_uint_eq(before(text, "T0|ar(x)|4\n"), 0);
	ck_assert_uint_eq(before(text, "T0|w(x)|4\n"), 1);
}
END_TEST

/* T1 sees what T0 has written under the lock, and so all that T0 did before it released it. */
START_TEST(sections_are_ordered_by_what_is_seen_in_them)
{
	const char *seen = "T1|acq(l)|6\nT1|r(p)|7\nT1|rel(l)|8\nT1|r(x)|9\n";

	ck_assert_uint_eq(
	        before("T0|fork(T1)|1\nT0|acq(l)|2\nT0|w(p)|3\nT0|w(x)|4\nT0|rel(l)|5\n", seen),
	        0);
	ck_assert_uint_eq(
	        before("T0|fork(T1)|1\nT0|acq(l)|2\nT0|w(p)|3\nT0|rel(l)|4\nT0|w(x)|5\n", seen),
	        1);
}
END_TEST

START_TEST(a_thread_is_made_in_a_section)
{
	const char *text = "T0|acq(l)|1\nT0|fork(T1)|2\nT0|w(x)|3\nT0|rel(l)|4\n";

	ck_assert_uint_eq(before(text, "T1|acq(l)|6\nT1|rel(l)|7\nT1|r(x)|8\n"), 0);
	ck_assert_uint_eq(before(text, "T1|acq(m)|6\nT1|rel(m)|7\nT1|r(x)|8\n"), 1);
}
END_TEST

/* The earlier write of a run does not stand for a later read. */
START_TEST(a_read_after_a_write_counts)
{
	ck_assert_uint_eq(suspects_of("T0|acq(l)|1\nT0|w(x)|2\nT0|fork(T1)|3\nT0|r(x)|4\n"
	                              "T1|r(x)|5\nT1|w(x)|6\n"),
	                  1);
}
END_TEST

/* Classes are merged, and the lock that all of them have in common stays. */
START_TEST(many_lock_sets)
{
	g_autoptr(GString) text = g_string_new("T0|fork(T1)|1\n");

	for (uint32_t i = 0; i < 4 * suspects_classes; i++)
		g_string_append_printf(text,
		                       "T%u|acq(m%u)|2\nT%u|acq(l)|3\nT%u|w(x)|4\n"
		                       "T%u|rel(l)|5\nT%u|rel(m%u)|6\n",
		                       i % 2, i, i % 2, i % 2, i % 2, i % 2, i);
	ck_assert_uint_eq(suspects_of(text->str), 0);
	ck_assert_uint_eq(before(text->str, "T1|acq(m0)|7\nT1|w(x)|8\n"), 1);
}
END_TEST

/* The passes that look for reads that no recorded write explains. */
enum look { SUSPECTS, HB_PASS, SHB_PASS, WCP_PASS, LOCKSET_PASS, SYNCP_PASS, LOOKS };

static bool pass_of(struct trace *t, enum look look)
{
	struct race_options options;
	uint64_t *suspects = NULL, count;
	bool done = false;

	race_options_init(&options);
	struct site_races *races = site_races_new(t, &options);
	struct locksets *locksets = locksets_empty();
	struct kinds kinds = { 0 };
	switch (look) {
	case SUSPECTS:
		done = race_suspects(t, false, &suspects, &count, NULL);
		break;
	case HB_PASS:
		done = stream_sites(t, ORDER_KIND_HB, races, NULL, NULL);
		break;
	case SHB_PASS:
		done = stream_sites(t, ORDER_KIND_SHB, races, NULL, NULL);
		break;
	case WCP_PASS:
		done = stream_sites(t, ORDER_KIND_WCP, races, NULL, NULL);
		break;
	case LOCKSET_PASS:
		done = kinds_collect(&kinds, t, locksets, NULL);
		break;
	case SYNCP_PASS:
		done = syncp_sites(t, races, NULL);
		break;
	case LOOKS:
		break;
	}
	kinds_free(&kinds);
	locksets_free(locksets);
	site_races_free(races);
	g_free(suspects);
	return done;
}

/* The event of the first read that no recorded write explains, as each pass finds it beside
 * what it is for; NONE. It is what the search of its own finds. */
static uint32_t unexplained_in(const char *text)
{
	uint32_t event = NONE;

	for (enum look look = SUSPECTS; look < LOOKS; look++) {
		struct error error = { 0 };
		struct trace *t = trace_from_text("test.txt", text, strlen(text), NULL, &error);

		ck_assert_msg(t != NULL, "%s", error.what);
		ck_assert(pass_of(t, look));
		ck_assert_msg(t->storage->unexplained_asked, "pass %d did not look", look);
		g_autoptr(GArray) alone = unexplained_reads(t, 1);
		const struct unexplained_read *beside = unexplained_first(t);
		ck_assert_uint_eq(alone->len, beside != NULL);
		event = beside ? beside->event : NONE;
		if (beside != NULL)
			ck_assert_mem_eq(beside, alone->data, sizeof *beside);
		trace_close(t);
	}
	return event;
}

START_TEST(unexplained_reads_are_found_beside_other_passes)
{
	ck_assert_uint_eq(unexplained_in("T0|w4(x)=3|1\nT0|fork(T1)|2\nT1|w4(y)=1|3\n"
	                                 "T0|r4(x)=3|4\n"),
	                  NONE);
	ck_assert_uint_eq(unexplained_in("T0|w4(x)=3|1\nT0|fork(T1)|2\nT1|w4(y)=1|3\n"
	                                 "T0|r4(x)=5|4\nT0|r4(x)=3|5\n"),
	                  3);
	/* while there is one thread alone, and of memory that was freed */
	ck_assert_uint_eq(unexplained_in("T0|w4(x)=3|1\nT0|r4(x)=5|2\nT0|fork(T1)|3\n"
	                                 "T1|w4(y)=1|4\n"),
	                  NONE);
	ck_assert_uint_eq(unexplained_in("T0|alloc(b,4)|1\nT0|w4(b[0])=3|2\nT0|fork(T1)|3\n"
	                                 "T0|free(b)|4\nT1|r4(b[0])=5|5\n"),
	                  NONE);
	/* after many of a variable that the C++ library writes */
	g_autoptr(GString) many =
	        g_string_new("T0|w4(x)=3|1\nT0|fork(T1)|2\nT0|w4(std::thread::_M_id)=1|3\n");
	enum { MANY = 2000 };
	for (int i = 0; i < MANY; i++)
		g_string_append_printf(many, "T0|r4(std::thread::_M_id)=%d|4\n", i % 2 + 7);
	g_string_append(many, "T1|r4(x)=5|5\n");
	ck_assert_uint_eq(unexplained_in(many->str), MANY + 3);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("suspects");
	TCase *tests = tcase_create("one variable");

	tcase_add_test(tests, a_variable_is_made_before_it_is_shared_under_a_lock);
	tcase_add_test(tests, the_only_writer_reads_without_the_lock);
	tcase_add_test(tests, atomic_accesses_follow_a_plain_one);
	tcase_add_test(tests, sections_are_ordered_by_what_is_seen_in_them);
	tcase_add_test(tests, a_thread_is_made_in_a_section);
	tcase_add_test(tests, a_read_after_a_write_counts);
	tcase_add_test(tests, many_lock_sets);
	tcase_add_test(tests, unexplained_reads_are_found_beside_other_passes);
	suite_add_tcase(suite, tests);
	return suite_run(suite);
}
