/*
 * test_trace_fuzz.c - the loaders on damaged input: seeds from tests/fuzz/corpus, mutated
 * with fixed random numbers.  A trace is refused with a message or loads into tables that
 * every consumer can walk; never a crash (the sanitizers watch), never a hang.
 *
 * By hand for longer: build/tests/unit/test_trace_fuzz ROUNDS [SEED]
 */
#include "engine/trace/formats.h"
#include "engine/trace/index.h"
#include "tests/support/suite.h"

#include <check.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned rounds = 3000;
static uint64_t seed = 1;

static uint64_t next_random(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static size_t below(size_t limit)
{
	return limit ? next_random() % limit : 0;
}

/* Walk everything that a name, a value or an index could lead out of bounds. */
static void walk(struct trace *t)
{
	GString *out = g_string_new(NULL);
	ck_assert(trace_need(t, INDEX_ALL, NULL));
	for (uint32_t e = 0; e < t->events_count; e++) {
		trace_append_line(t, e, out);
		trace_next(t, e);
		trace_previous(t, e);
		if (op_table[t->events[e].op].operand == OPERAND_INSTANCE)
			trace_invocation(t, e);
		if (op_reads(t->events[e].op) && !event_inert(&t->events[e]))
			trace_writers(t, e);
		trace_site_name(t, e);
		if (out->len > 1 << 16)
			g_string_truncate(out, 0);
	}
	g_string_free(out, TRUE);
}

/* -- text --------------------------------------------------------------------------------- */

static const char *const pieces[] = {
	"|",
	"(",
	")",
	"\"",
	"\\",
	"[",
	"]",
	",",
	";",
	"=",
	">",
	"\n",
	"\r\n",
	"#! ",
	"T|",
	"+4",
	"99999999999999999999",
	"\\x0",
	"\xff",
	"-",
	"r4(",
	"rmw(",
	"acq",
	"ret(",
	"leave(",
	"stack ",
	"size ",
	"atomic-set ",
	"fork(T)",
	"join(main)",
	"alloc(",
	"free(",
	"call(",
	"p+18446744073709551615",
	"nil",
	"seq_cst",
};

static void mutate_text(GString *s)
{
	for (size_t n = 1 + below(4); n > 0; n--) {
		const char *piece = pieces[below(G_N_ELEMENTS(pieces))];
		gssize at = (gssize)below(s->len + 1);
		switch (below(6)) {
		case 0:
			g_string_insert(s, at, piece);
			break;
		case 1:
			g_string_erase(s, at, (gssize)below(MIN(40, s->len - (gsize)at + 1)));
			break;
		case 2:
			if (s->len)
				s->str[below(s->len)] = (char)next_random();
			break;
		case 3: { /* a stretch again, elsewhere */
			gsize from = below(s->len + 1),
			      length = below(MIN(200, s->len - from + 1));
			char *copy = g_strndup(s->str + from, length);
			g_string_insert_len(s, at, copy, (gssize)strlen(copy));
			g_free(copy);
			break;
		}
		case 4:
			g_string_truncate(s, (gsize)at);
			break;
		default:
			g_string_overwrite(s, below(s->len + 1), piece);
		}
	}
}

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
		walk(t);
		if (!lenient) { /* what loads is written as what loads the same */
			GString *once = g_string_new(NULL), *twice = g_string_new(NULL);
			trace_print(t, TRACE_TEXT, NULL, once, NULL);
			struct trace *again =
			        trace_from_text("again", once->str, once->len, NULL, &e);
			ck_assert_msg(again != NULL, "%s: %s\n%s", e.where, e.what, once->str);
			ck_assert_uint_eq(again->events_count, t->events_count);
			trace_print(again, TRACE_TEXT, NULL, twice, NULL);
			ck_assert_str_eq(once->str, twice->str);
			trace_close(again);
			g_string_free(once, TRUE);
			g_string_free(twice, TRUE);
		}
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
		g_ptr_array_add(names, g_build_filename("tests/fuzz/corpus", name, NULL));
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
		GString *s = g_string_new(texts->pdata[below(texts->len)]);
		mutate_text(s);
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
		const char *text = texts->pdata[below(texts->len)];
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
		for (size_t n = 1 + below(3); n > 0; n--) {
			size_t table = below(G_N_ELEMENTS(tables));
			if (sizes[table] == 0)
				continue;
			unsigned char *byte =
			        (unsigned char *)tables[table] + below(sizes[table]);
			*byte = below(2) ? (unsigned char)next_random()
			                 : (unsigned char)(*byte + 1);
		}
		ck_assert(trace_write(t, path, TRACE_BINARY, NULL, NULL, &e));
		trace_close(t);
		t = trace_open(path, NULL, NULL, &e);
		if (t) {
			walk(t);
			GString *out = g_string_new(NULL);
			trace_print(t, TRACE_TEXT, NULL, out, NULL);
			trace_print(t, TRACE_STD, NULL, out, NULL);
			g_string_free(out, TRUE);
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
		seed = strtoull(argv[2], NULL, 10) * 2 + 1;
	Suite *s = suite_create("trace fuzz");
	TCase *c = tcase_create("fuzz");
	tcase_set_timeout(c, argc > 1 ? 3600 : 120);
	tcase_add_test(c, mutated_text);
	tcase_add_test(c, mutated_binary);
	suite_add_tcase(s, c);
	return suite_run(s);
}
