/*
 * test_record_fuzz.c - recording logs that are damaged: logs made of random records of every
 * kind, then mutated, in both modes, compressed or not.  One becomes a trace that every
 * consumer can walk, or is refused with a message; never a crash (the sanitizers watch), a
 * hang or a leak.
 *
 * By hand for longer, and with real logs (of a `heddle record` that was killed) besides:
 *     build/tests/unit/test_record_fuzz ROUNDS [SEED [LOG...]]
 */
#include "engine/record/plan.h"
#include "engine/record/record.h"
#include "tests/support/consume.h"
#include "tests/support/mutate.h"
#include "tests/support/random_log.h"
#include "tests/support/suite.h"

#include <check.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static unsigned rounds = 600;
static char **logs; /* named on the command line; ends in NULL */

/* ---- what becomes of it ---- */

/* A plan is made of notes that come from the log, too. */
static void plan(struct trace *t)
{
	struct plan p = { 0 };
	struct error e = { .what = "" };
	uint32_t pair[2] = { NONE, NONE };
	if (t->events_count > 0)
		pair[0] = (uint32_t)mutate_below(t->events_count);
	if (!plan_make(t, NULL, 0, pair, &p, &e))
		ck_assert(*e.what);
	plan_release(&p);
}

static void try_log(const GByteArray *log, const char *path)
{
	struct error e = { .what = "" };
	struct record_facts facts = { 0 };
	ck_assert(g_file_set_contents(path, (const char *)log->data, log->len, NULL));
	struct trace *t = record_import(path, "fuzz", &facts, NULL, &e);
	if (t == NULL) {
		ck_assert_msg(*e.what && *e.where, "a refusal without words");
	} else {
		consume_trace(t);
		plan(t);
		trace_close(t);
	}
	record_facts_release(&facts);
}

static GByteArray *real_log(void)
{
	char *bytes;
	gsize length;
	ck_assert(g_file_get_contents(logs[mutate_below(g_strv_length(logs))], &bytes, &length,
	                              NULL));
	return g_byte_array_new_take((guint8 *)bytes, length);
}

START_TEST(damaged_logs)
{
	char *folder = g_dir_make_tmp("heddle-fuzz-XXXXXX", NULL);
	char *path = g_build_filename(folder, "x.log", NULL);
	unsigned traces = 0;
	for (unsigned i = 0; i < rounds; i++) {
		GByteArray *log = logs && *logs && mutate_below(2) ? real_log() : random_log();
		if (i % 4)
			damage_log(log);
		try_log(log, path);
		traces += log->len > LOG_HEADER;
		g_byte_array_free(log, TRUE);
	}
	ck_assert_uint_gt(traces, rounds / 2);
	g_unlink(path);
	g_rmdir(folder);
	g_free(path);
	g_free(folder);
}
END_TEST

int main(int argc, char **argv)
{
	/* GLib says that it was asked for nonsense, and goes on */
	g_log_set_always_fatal(G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_WARNING);
	if (argc > 1)
		rounds = (unsigned)strtoul(argv[1], NULL, 10);
	if (argc > 2)
		mutate_seed(strtoull(argv[2], NULL, 10) * 2 + 1);
	logs = argc > 3 ? argv + 3 : NULL;
	Suite *s = suite_create("record fuzz");
	TCase *c = tcase_create("fuzz");
	tcase_add_test(c, damaged_logs);
	suite_add_tcase(s, c);
	return suite_run(s);
}
