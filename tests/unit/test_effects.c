/*
 * test_effects.c - what a turned pair is predicted to change (engine/explore/hunt/effects.h):
 * which read sees which write, whether the values differ, and where a section begins.
 */
#include "engine/explore/hunt/effects.h"
#include "tests/support/suite.h"

#include <check.h>
#include <string.h>

static struct trace *trace_of(const char *text)
{
	struct error error;
	char *whole = g_strconcat("#! heddle 1\n", text, NULL);
	struct trace *t = trace_from_text("t", whole, strlen(whole), NULL, &error);
	ck_assert_msg(t != NULL, "%s", error.what);
	ck_assert(trace_need(t, INDEX_THREADS | INDEX_VARIABLES, NULL));
	g_free(whole);
	return t;
}

/* Of the first variable's events `first` and `second`: which events (numbers of lines from 0;
 * E: the end, I: the initial value) are predicted as "READ<WRITE", and then "same" or "other".
 */
static const struct {
	const char *text;
	unsigned first, second;
	const char *expected;
} turns[] = {
	/* a write that comes after the read in the run */
	{ "A|r(x)=0|a.c:1\nB|w(x)=1|a.c:2\n", 0, 1, "0<1 other" },
	{ "A|r(x)=1|a.c:1\nB|w(x)=1|a.c:2\n", 0, 1, "0<1 same" },
	/* the read sees what was there before the write: from an earlier write, or initially */
	{ "A|w(x)=3|a.c:1\nA|w(x)=1|a.c:2\nB|r(x)=1|a.c:3\n", 1, 2, "2<0 other" },
	{ "A|w(x)=1|a.c:1\nA|w(x)=1|a.c:2\nB|r(x)=1|a.c:3\n", 1, 2, "2<0 same" },
	{ "B|r(x)=1|a.c:3\nA|w(x)=1|a.c:2\nB|r(x)=1|a.c:4\n", 1, 2, "2<I same" },
	{ "B|r(x)=0|a.c:3\nA|w(x)=1|a.c:2\nB|r(x)=1|a.c:4\n", 1, 2, "2<I other" },
	/* nothing is known of the initial value */
	{ "A|w(x)=1|a.c:2\nB|r(x)=1|a.c:4\n", 0, 1, "1<I other" },
	/* what its own thread wrote in between it still sees, what others wrote it does not */
	{ "A|w(x)=1|a.c:1\nB|w(x)=2|a.c:2\nB|r(x)=2|a.c:3\n", 0, 2, "2<1 same" },
	{ "A|w(x)=1|a.c:1\nC|w(x)=2|a.c:2\nB|r(x)=2|a.c:3\n", 0, 2, "2<I other" },
	/* two writes: the first remains, for the next read or for the end */
	{ "A|w(x)=1|a.c:1\nB|w(x)=2|a.c:2\nA|r(x)=2|a.c:3\n", 0, 1, "2<0 other" },
	{ "A|w(x)=2|a.c:1\nB|w(x)=2|a.c:2\nA|r(x)=2|a.c:3\n", 0, 1, "2<0 same" },
	{ "A|w(x)=1|a.c:1\nB|w(x)=2|a.c:2\nA|w(x)=3|a.c:3\n", 0, 1, "E<0 other" },
	/* updates read and write */
	{ "A|rmw(x)=0>1;acq|a.c:1\nB|rmw(x)=1>2;acq|a.c:2\n", 0, 1, "0<1 1<I other" },
	{ "A|rmw(x)=0>0;acq|a.c:1\nB|rmw(x)=0>0;acq|a.c:2\n", 0, 1, "0<1 1<I same" },
};

static void append(GString *out, uint32_t event, char none)
{
	if (event == NONE)
		g_string_append_c(out, none);
	else
		g_string_append_printf(out, "%u", event);
}

START_TEST(a_turned_pair_is_predicted)
{
	struct trace *t = trace_of(turns[_i].text);
	struct effect x = effect_of_turn(t, event_list_at(&t->index->variable_events, 0),
	                                 turns[_i].first, turns[_i].second);
	GString *text = g_string_new(NULL);
	for (unsigned i = 0; i < x.count; i++) {
		append(text, x.source[i].read, 'E');
		g_string_append_c(text, '<');
		append(text, x.source[i].write, 'I');
		g_string_append_c(text, ' ');
	}
	g_string_append(text, x.same ? "same" : "other");
	ck_assert_str_eq(text->str, turns[_i].expected);
	g_string_free(text, TRUE);
	trace_close(t);
}
END_TEST

/* The event at which the thread of event `of` is stopped, for sections of both locks. */
static const struct {
	const char *text;
	uint32_t of, begin;
} sections[] = {
	{ "A|acq(m)|a.c:1\nA|r(x)|a.c:2\nA|r(x)|a.c:3\n", 2, 0 },
	{ "A|acq(m)|a.c:1\nA|acq(n)|a.c:2\nA|r(x)|a.c:3\n", 2, 0 },
	/* a section that has ended is another one */
	{ "A|acq(m)|a.c:1\nA|rel(m)|a.c:2\nA|acq(m)|a.c:3\nA|r(x)|a.c:4\n", 3, 2 },
	{ "A|acq(m)|a.c:1\nA|rel(m)|a.c:2\nA|acq(n)|a.c:3\nA|r(x)|a.c:4\n", 3, 2 },
	/* one of another thread, or none */
	{ "B|acq(m)|a.c:1\nA|r(x)|a.c:4\n", 1, 1 },
	{ "A|r(x)|a.c:4\n", 0, 0 },
};

START_TEST(a_section_begins_at_its_first_lock)
{
	struct trace *t = trace_of(sections[_i].text);
	ck_assert_uint_eq(effect_section(t, sections[_i].of, 3), sections[_i].begin);
	trace_close(t);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("effects");
	TCase *c = tcase_create("effects");
	tcase_add_loop_test(c, a_turned_pair_is_predicted, 0, G_N_ELEMENTS(turns));
	tcase_add_loop_test(c, a_section_begins_at_its_first_lock, 0, G_N_ELEMENTS(sections));
	suite_add_tcase(suite, c);
	return suite_run(suite);
}
