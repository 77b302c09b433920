/*
 * test_partial.c - incomplete traces: redundant accesses dropped (engine/partial/tree.h), the
 * addresses that a call of unrecorded code may reach (engine/partial/calls.h), and the
 * variables that have one of these in their names (engine/trace/stems.h).
 */
#include "engine/partial/calls.h"
#include "engine/partial/tree.h"
#include "engine/trace/stems.h"
#include "tests/support/suite.h"

#include <check.h>
#include <string.h>

/* Kept events by both rules, from the definitions ("Barrier pairs and redundant events"). */
static const struct {
	const char *text, *paper, *sound;
} filters[] = {
	{ "T1|w(x)|a:1\nT1|w(x)|a:1\nT1|w(x)|a:1\n", "0", "0" },
	/* another place, another variable, another kind of access */
	{ "T1|w(x)|a:1\nT1|w(x)|a:2\nT1|w(y)|a:1\nT1|r(x)|a:1\n", "0 1 2 3", "0 1 2 3" },
	/* another lockset */
	{ "T1|w(x)|a:1\nT1|acq(m)|a:2\nT1|w(x)|a:1\nT1|w(x)|a:1\n", "0 1 2", "0 1 2" },
	/* the same lockset after a release: none of the paper's context, new for the sound rule
	 */
	{ "T1|w(x)|a:1\nT1|acq(m)|a:2\nT1|rel(m)|a:3\nT1|w(x)|a:1\n", "0 1 2", "0 1 2 3" },
	/* after a send */
	{ "T1|w(x)|a:1\nT1|snd(c)|a:2\nT1|w(x)|a:1\n", "0 1 2", "0 1 2" },
	/* a write after a write of an atomic, which may end a release sequence; a read does not
	 */
	{ "T1|w(x)|a:1\nT1|r(x)|a:2\nT2|aw(x);rel|b:1\nT1|w(x)|a:1\nT1|r(x)|a:2\n", "0 1 2",
	  "0 1 2 3" },
	/* of two other threads: redundant for the paper's rule alone */
	{ "T1|w(x)|a:1\nT2|w(x)|a:1\nT3|w(x)|a:1\n", "0 1", "0 1 2" },
	/* synchronisation stays, however often it comes */
	{ "T1|acq(m)|a:1\nT1|rel(m)|a:2\nT1|acq(m)|a:1\nT1|rel(m)|a:2\n", "0 1 2 3",
	  "0 1 2 3" },
};

static struct trace *partial_trace(const char *text)
{
	struct error error = { 0 };
	struct trace *t = trace_from_text("test.txt", text, strlen(text), NULL, &error);

	ck_assert_msg(t != NULL, "refused: %s: %s", error.where, error.what);
	return t;
}

static char *kept_by(const struct trace *t, enum tree_rule rule)
{
	uint64_t dropped, count = 0, *keep = tree_filter(t, rule, &dropped, NULL);
	GString *words = g_string_new("");

	for (uint64_t i = 0; i < t->events_count; i++) {
		if (!(keep[i / 64] >> (i % 64) & 1))
			continue;
		g_string_append_printf(words, count++ ? " %u" : "%u", (unsigned)i);
	}
	ck_assert_uint_eq(count + dropped, t->events_count);
	g_free(keep);
	return g_string_free(words, FALSE);
}

START_TEST(redundant_accesses)
{
	struct trace *t = partial_trace(filters[_i].text);
	char *paper = kept_by(t, TREE_PAPER), *sound = kept_by(t, TREE_SOUND);

	ck_assert_str_eq(paper, filters[_i].paper);
	ck_assert_str_eq(sound, filters[_i].sound);
	g_free(paper);
	g_free(sound);
	trace_close(t);
}
END_TEST

static void visit_address(const char *address, bool whole, void *context)
{
	g_string_append_printf(context, " %s%s", address, whole ? "!" : "");
}

static const struct {
	const char *name, *within;
} addresses[] = {
	{ "x", " x!" },
	{ "p.f[1]", " p.f[1]! p.f *p.f p" },
	{ "p->f", " p->f! *p" },
	{ "p+8", " p+8! p" },
};

START_TEST(addresses_around_a_name)
{
	GString *seen = g_string_new("");

	missing_name_within(addresses[_i].name, visit_address, seen);
	ck_assert_str_eq(seen->str, addresses[_i].within);
	g_string_free(seen, TRUE);
}
END_TEST

START_TEST(the_call_around_an_event)
{
	struct trace *t = partial_trace("T1|w(a)|a:1\nT1|miss(f,{x})|a:2\nT1|w(x)|f:1\n"
	                                "T2|w(b)|b:1\nT1|back(f)|a:2\nT1|w(a)|a:3\n");

	ck_assert(trace_need(t, INDEX_THREADS | INDEX_MATCH, NULL));
	struct missing_calls *calls = missing_calls_new(t);
	const uint32_t at[] = { NONE, 1, 1, 1, 1, NONE };
	for (uint32_t e = 0; e < G_N_ELEMENTS(at); e++)
		ck_assert_uint_eq(missing_calls_at(calls, t, 0, e), at[e]);
	ck_assert_uint_eq(missing_calls_at(calls, t, 1, 3), NONE);
	ck_assert_uint_eq(missing_calls_of(calls, 0), 1);
	ck_assert_uint_eq(missing_calls_before(calls, 0, 1), 0);
	ck_assert_uint_eq(missing_calls_before(calls, 0, 2), 1);
	missing_calls_free(calls);
	trace_close(t);
}
END_TEST

/* A trace with a block and two variables, the second one named by a rule of the block; `text`,
 * an address, and whether the second one's name may begin with it. */
static const struct {
	const char *block, *text;
	bool may;
} stems[] = {
	{ "*box", "*box", true },      { "*box", "box->items", true },
	{ "*box", "box", true },       { "*box", "*boxes", true },
	{ "*box", "*bo", true },       { "*s.p", "s", true },
	{ "buffer", "*buffer", true }, { "*box", "*fox", false },
	{ "*box", "*bax", false },     { "*box", "table", false },
	{ "*s.p", "*s.q", false },     { "buffer", "buffed", false },
	{ "heap1", "heap2", false },
};

START_TEST(names_by_stems)
{
	const char *texts[] = { "zebra", stems[_i].text, "*aardvark", NULL };
	char strings[64] = { 0 }; /* the empty one, and the block's name */
	const uint32_t offsets[] = { 0, 1, strlen(stems[_i].block) + 2 };
	const struct block block = { .name = 1 };
	const struct variable variables[] = { { .spelling = 1, .block = 0 },
		                              { .spelling = NAME_BY_RULE, .block = 0 } };
	const struct trace t = { .string_bytes = strings,
		                 .string_offsets = offsets,
		                 .blocks = &block,
		                 .blocks_count = 1,
		                 .variables = variables,
		                 .variables_count = 2 };

	memcpy(strings + 1, stems[_i].block, strlen(stems[_i].block));
	struct stems *s = stems_new(&t, texts);
	ck_assert(stems_may_begin(s, 0)); /* of its own name */
	for (int again = 0; again < 2; again++)
		ck_assert_int_eq(stems_may_begin(s, 1), stems[_i].may);
	stems_free(s);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("partial");
	TCase *c = tcase_create("partial");

	tcase_add_loop_test(c, redundant_accesses, 0, G_N_ELEMENTS(filters));
	tcase_add_loop_test(c, addresses_around_a_name, 0, G_N_ELEMENTS(addresses));
	tcase_add_test(c, the_call_around_an_event);
	tcase_add_loop_test(c, names_by_stems, 0, G_N_ELEMENTS(stems));
	suite_add_tcase(suite, c);
	return suite_run(suite);
}
