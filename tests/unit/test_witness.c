/*
 * test_witness.c - witness files there and back, fewer context switches, and the reasons
 * for those that stay.
 */
#include "engine/witness/minimise.h"
#include "engine/witness/switches.h"
#include "tests/support/suite.h"

#include <check.h>
#include <string.h>
#include <unistd.h>

static struct trace *open_text(const char *text)
{
	struct error error;
	struct trace *t = trace_from_text("test", text, strlen(text),
	                                  &(struct trace_options){ 0 }, &error);

	ck_assert_msg(t != NULL, "%s", error.what);
	return t;
}

static GArray *events(const uint32_t *from, guint count)
{
	GArray *a = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	g_array_append_vals(a, from, count);
	return a;
}

static void same(const GArray *got, const uint32_t *want, guint count)
{
	ck_assert_uint_eq(got->len, count);
	for (guint i = 0; i < count; i++)
		ck_assert_uint_eq(g_array_index(got, uint32_t, i), want[i]);
}

START_TEST(there_and_back)
{
	static const uint32_t sequence[] = { 1, 0, 2 }, pair[] = { 0, 2 };
	struct trace *t = open_text("T1|w(x)|a.c:1\nT2|w(x)|a.c:2\nT3|r(x)|a.c:3\n");
	struct witness w = { .claim = CLAIM_RACE,
		             .trace_name = g_strdup("a name with blanks"),
		             .trace_digest = g_strdup("0123abcd"),
		             .pair = events(pair, 2),
		             .events = events(sequence, 3),
		             .under_values = true,
		             .under_specs = g_ptr_array_new_with_free_func(g_free) };
	struct witness read;
	struct error error;
	char path[] = "/tmp/heddle-witness-XXXXXX";
	int fd = mkstemp(path);

	g_ptr_array_add(w.under_specs, g_strdup("dict.spec:00ff"));
	ck_assert(witness_write(t, &w, path, &error));
	ck_assert_msg(witness_read(path, &read, &error), "%s", error.what);
	ck_assert_int_eq(read.claim, CLAIM_RACE);
	ck_assert_str_eq(read.trace_name, "a name with blanks");
	ck_assert_str_eq(read.trace_digest, "0123abcd");
	ck_assert(read.under_values && !read.under_missing);
	ck_assert_uint_eq(read.under_specs->len, 1);
	ck_assert_str_eq(read.under_specs->pdata[0], "dict.spec:00ff");
	same(read.pair, pair, 2);
	same(read.events, sequence, 3);
	witness_release(&read);
	witness_release(&w);
	close(fd);
	unlink(path);
	trace_close(t);
}
END_TEST

START_TEST(the_text_is_for_people_too)
{
	static const uint32_t sequence[] = { 0, 1 };
	struct trace *t = open_text("T1|w(x)|a.c:1\nT2|w(x)|a.c:2\n");
	struct witness w = { .claim = CLAIM_RACE,
		             .pair = events(sequence, 2),
		             .events = events(sequence, 2) };
	GString *out = g_string_new(NULL);

	witness_print(t, &w, out);
	ck_assert_str_eq(out->str,
	                 "#! heddle-witness 1\n#! trace - -\n#! kind race\n#! pair 0 1\n"
	                 "0 # T1|w(x)|a.c:1\n1 # T2|w(x)|a.c:2\n");
	g_string_free(out, TRUE);
	witness_release(&w);
	trace_close(t);
}
END_TEST

static guint switches(const struct trace *t, const GArray *sequence)
{
	guint n = 0;

	for (guint i = 1; i < sequence->len; i++)
		n += t->events[g_array_index(sequence, uint32_t, i)].thread !=
		     t->events[g_array_index(sequence, uint32_t, i - 1)].thread;
	return n;
}

START_TEST(fewer_switches)
{
	/* two threads that have nothing to do with each other until the pair, interleaved; and
	 * a third that is not needed at all */
	static const uint32_t sequence[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 }, pair[] = { 8, 9 };
	struct trace *t =
	        open_text("T1|w(a)|\nT2|w(b)|\nT3|w(c)|\nT1|w(a)|\nT2|w(b)|\nT3|w(c)|\n"
	                  "T1|w(a)|\nT2|w(b)|\nT1|w(x)|\nT2|w(x)|\n");
	GArray *s = events(sequence, 10);
	static const uint32_t best[] = { 0, 3, 6, 1, 4, 7, 8, 9 };

	witness_minimise(t, claimed_of(CLAIM_RACE, pair, 2), NULL, s);
	ck_assert_uint_eq(s->len, G_N_ELEMENTS(best));
	ck_assert_uint_le(switches(t, s), 3);
	ck_assert(witness_check(t, event_list_of(s), claimed_of(CLAIM_RACE, pair, 2), NULL,
	                        NULL));
	g_array_unref(s);
	trace_close(t);
}
END_TEST

/* The reason of one switch of a witness that ends with `requests` events that do not come. */
static enum switch_reason reason_before(const char *text, enum claim claim,
                                        const uint32_t *sequence, guint count, guint requests,
                                        guint which, uint32_t *because)
{
	struct trace *t = open_text(text);
	struct witness w = { .claim = claim,
		             .pair = events(sequence + count - requests, requests),
		             .events = events(sequence, count) };
	GArray *all = witness_switches(t, &w);

	ck_assert_uint_gt(all->len, which);
	struct context_switch s = g_array_index(all, struct context_switch, which);
	*because = s.because;
	g_array_unref(all);
	witness_release(&w);
	trace_close(t);
	return s.reason;
}

static enum switch_reason only_reason(const char *text, const uint32_t *sequence, guint count,
                                      guint which, uint32_t *because)
{
	return reason_before(text, CLAIM_RACE, sequence, count, 2, which, because);
}

/* A thread is at its request, which is none of the last two events. */
START_TEST(a_switch_from_one_of_three_requests)
{
	static const uint32_t circle[] = { 0, 4, 8, 1, 5, 9 };
	uint32_t because;

	ck_assert_int_eq(reason_before("T1|acq(a)|\nT1|acq(b)|\nT1|rel(b)|\nT1|rel(a)|\n"
	                               "T2|acq(b)|\nT2|acq(c)|\nT2|rel(c)|\nT2|rel(b)|\n"
	                               "T3|acq(c)|\nT3|acq(a)|\nT3|rel(a)|\nT3|rel(c)|\n",
	                               CLAIM_DEADLOCK, circle, 6, 3, 0, &because),
	                 SWITCH_END);
}
END_TEST

START_TEST(why_a_switch_is_needed)
{
	uint32_t because;

	/* the first reads the second's write: the first has to wait */
	static const uint32_t reads[] = { 0, 1, 2, 3, 4 };

	ck_assert_int_eq(only_reason("T1|w(a)|\nT2|w(y)|\nT1|r(y)|\nT1|w(x)|\nT2|w(x)|\n",
	                             reads, 5, 0, &because),
	                 SWITCH_READS);
	ck_assert_uint_eq(because, 1);
	/* the second reads the old value before the first writes */
	static const uint32_t write[] = { 0, 1, 2, 3, 4 };

	ck_assert_int_eq(only_reason("T1|w(a)|\nT2|r(a)|\nT1|w(a)|\nT1|w(x)|\nT2|w(x)|\n",
	                             write, 5, 0, &because),
	                 SWITCH_WRITE);
	ck_assert_uint_eq(because, 1);
	/* the lock is held */
	static const uint32_t lock[] = { 0, 1, 2, 3, 4, 5 };

	ck_assert_int_eq(only_reason("T2|acq(l)|\nT1|w(a)|\nT2|rel(l)|\nT1|acq(l)|\nT1|w(x)|\n"
	                             "T2|w(x)|\n",
	                             lock, 6, 1, &because),
	                 SWITCH_LOCK);
	ck_assert_uint_eq(because, 2);
	/* a message has not been sent */
	static const uint32_t must[] = { 0, 1, 2, 3, 4 };

	ck_assert_int_eq(only_reason("T1|w(a)|\nT2|snd(g)|\nT1|rcv(g)|\nT1|w(x)|\nT2|w(x)|\n",
	                             must, 5, 0, &because),
	                 SWITCH_MUST);
	ck_assert_uint_eq(because, 1);
	/* nothing asks for it */
	static const uint32_t optional[] = { 0, 1, 2, 3, 4 };

	ck_assert_int_eq(only_reason("T1|w(a)|\nT2|w(b)|\nT1|w(c)|\nT1|w(x)|\nT2|w(x)|\n",
	                             optional, 5, 0, &because),
	                 SWITCH_OPTIONAL);
	ck_assert_int_eq(only_reason("T1|w(a)|\nT2|w(b)|\nT1|w(c)|\nT1|w(x)|\nT2|w(x)|\n",
	                             optional, 5, 2, &because),
	                 SWITCH_END);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("witness");
	TCase *tests = tcase_create("files and switches");

	tcase_add_test(tests, there_and_back);
	tcase_add_test(tests, the_text_is_for_people_too);
	tcase_add_test(tests, fewer_switches);
	tcase_add_test(tests, why_a_switch_is_needed);
	tcase_add_test(tests, a_switch_from_one_of_three_requests);
	suite_add_tcase(suite, tests);
	return suite_run(suite);
}
