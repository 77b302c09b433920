/*
 * test_trace_fuzz.c - the loaders on damaged input: seeds from tests/fuzz/corpus, mutated
 * with fixed random numbers.  A trace is refused with a message or loads into tables that
 * every consumer can walk; never a crash (the sanitizers watch), never a hang.
 *
 * By hand for longer: build/tests/unit/test_trace_fuzz ROUNDS [SEED]
 */
#include "engine/trace/formats.h"
#include "tests/support/consume.h"
#include "tests/support/mutate.h"
#include "tests/support/suite.h"

#include <check.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned rounds = 3000;

static void try_text(const char *text, size_t length)
{
	for (int lenient = 0; lenient < 2; lenient++) {
		struct trace_options options = { .lenient = lenient };
		struct error e = { .what = "" };
		struct trace *t = trace_from_text("fuzz.txt", text, length, &options, &e);
		if (t == NULL) {
			ck_assert_msg(*e.what && *e.where, "a refusal without words");
			ck_assert(g_utf8_validate(e.what, -1, NULL));
			continue;
		}
		consume_trace(t);
		if (!lenient) /* a text that loads is written as one that loads the same */
			consume_again(t);
		trace_close(t);
	}
}

static int by_name(const void *x, const void *y)
{
	return strcmp(*(char *const *)x, *(char *const *)y);
}

static GPtrArray *corpus(void)
{
	GPtrArray *texts = g_ptr_array_new_with_free_func(g_free);
	GDir *dir = g_dir_open("tests/fuzz/corpus", 0, NULL);
	ck_assert_msg(dir != NULL, "run it from the root of the tree");
	GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
	for (const char *name; (name = g_dir_read_name(dir));)
		if (g_str_has_suffix(name, ".txt"))
			g_ptr_array_add(names,
			                g_build_filename("tests/fuzz/corpus", name, NULL));
	g_dir_close(dir);
	g_ptr_array_sort(names, by_name);
	for (guint i = 0; i < names->len; i++) {
		char *text;
		ck_assert(g_file_get_contents(names->pdata[i], &text, NULL, NULL));
		g_ptr_array_add(texts, text);
	}
	g_ptr_array_free(names, TRUE);
	ck_assert_uint_ge(texts->len, 2);
	return texts;
}

START_TEST(mutated_text)
{
	GPtrArray *texts = corpus();
	for (guint i = 0; i < texts->len; i++)
		try_text(texts->pdata[i], strlen(texts->pdata[i]));
	for (unsigned i = 0; i < rounds; i++) {
		GString *s = g_string_new(texts->pdata[mutate_below(texts->len)]);
		mutate_text(s, mutate_pieces, NULL);
		try_text(s->str, s->len);
		g_string_free(s, TRUE);
	}
	g_ptr_array_free(texts, TRUE);
}
END_TEST

/* -- binary: damage with the sums put right, so that the checks of the tables are reached -- */

START_TEST(mutated_binary)
{
	GPtrArray *texts = corpus();
	char *folder = g_dir_make_tmp("heddle-fuzz-XXXXXX", NULL);
	char *path = g_build_filename(folder, "x.hdl", NULL);
	for (unsigned i = 0; i < rounds; i++) {
		struct error e = { .what = "" };
		const char *text = texts->pdata[mutate_below(texts->len)];
		struct trace *t = trace_from_text("seed", text, strlen(text), NULL, &e);
		if (t == NULL)
			continue;
		/* A table's entry changes in memory; the writer makes fitting sums. */
		const void *tables[] = {
#define TABLE(member, type) t->member,
			TRACE_TABLES(TABLE)
#undef TABLE
		};
		uint64_t sizes[] = {
#define TABLE(member, type) t->member##_count * sizeof(type),
			TRACE_TABLES(TABLE)
#undef TABLE
		};
		for (size_t n = 1 + mutate_below(3); n > 0; n--) {
			size_t table = mutate_below(G_N_ELEMENTS(tables));
			if (sizes[table] == 0)
				continue;
			unsigned char *byte =
			        (unsigned char *)tables[table] + mutate_below(sizes[table]);
			*byte = mutate_below(2) ? (unsigned char)mutate_random()
			                        : (unsigned char)(*byte + 1);
		}
		ck_assert(trace_write(t, path, TRACE_BINARY, NULL, NULL, &e));
		trace_close(t);
		t = trace_open(path, NULL, NULL, &e);
		if (t) {
			consume_trace(t);
		} else {
			ck_assert_msg(*e.what && *e.where, "a refusal without words");
		}
		trace_close(t);
	}
	g_unlink(path);
	g_rmdir(folder);
	g_free(path);
	g_free(folder);
	g_ptr_array_free(texts, TRUE);
}
END_TEST

int main(int argc, char **argv)
{
	if (argc > 1)
		rounds = (unsigned)strtoul(argv[1], NULL, 10);
	if (argc > 2)
		mutate_seed(strtoull(argv[2], NULL, 10) * 2 + 1);
	Suite *s = suite_create("trace fuzz");
	TCase *c = tcase_create("fuzz");
	tcase_add_test(c, mutated_text);
	tcase_add_test(c, mutated_binary);
	suite_add_tcase(s, c);
	return suite_run(s);
}
