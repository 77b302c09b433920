/*
 * prop_passes.c - analyses of a trace of which few blocks are in memory at a time (reel.h),
 * against the same analyses of the opened trace: random traces with every feature, whose events
 * lie far apart, as many accesses of another thread are between them.
 */
#include "engine/predict/pairs/pairs.h"
#include "engine/predict/predict.h"
#include "engine/trace/formats.h"
#include "engine/trace/binary/reel.h"
#include "engine/trace/storage.h"
#include "tests/property/mix.h"
#include "tests/support/folder.h"
#include "tests/support/generate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 4, GAPS = 9, GAP = TAPE_BLOCK - 700 };

static char *folder;
static uint64_t compared, most_decoded;

/* Accesses that race with none. */
static char *make_gap(void)
{
	GString *text = g_string_new(NULL);

	for (uint32_t i = 0; i < GAP; i++)
		g_string_append_printf(text, "alone|%c(own%u)|gap.c:%u\n", i % 3 ? 'r' : 'w',
		                       i % 500, i % 60);
	return g_string_free(text, FALSE);
}

/* A trace's text with unrelated events between some of its events, after its directives. */
static char *apart(const char *text, uint64_t seed)
{
	g_autofree char *gap = make_gap();
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	GString *out = g_string_new(NULL);
	uint32_t count = g_strv_length(lines), each = MAX(1, count / GAPS), gaps = 0;

	for (uint32_t i = 0; i < count; i++) {
		g_string_append(out, lines[i]);
		g_string_append_c(out, '\n');
		if (strchr(lines[i], '|') != NULL && gaps < GAPS && (i + seed) % each == 0) {
			g_string_append(out, gap);
			gaps++;
		}
	}
	while (gaps++ < GAPS)
		g_string_append(out, gap);
	return g_string_free(out, FALSE);
}

static struct trace *open_watched(const char *path, enum reel_way way,
                                  const struct trace_watch *watch)
{
	const struct trace_options options = { .watch = watch };
	struct error e;

	reel_set_way(way, ROOM);
	struct trace *t = trace_open(path, &options, NULL, &e);
	reel_set_way(REEL_WHOLE, 0);
	if (t == NULL)
		printf("%s: %s\n", e.where, e.what);
	return t;
}

static struct trace *open_as(const char *path, enum reel_way way)
{
	return open_watched(path, way, NULL);
}

/* Blocks that were decoded; helpers may still be at work. */
static uint64_t decoded(const struct trace *t)
{
	return (uint64_t)g_atomic_int_get(&t->storage->decoded.all);
}

static void append_numbers(GString *out, const GArray *numbers)
{
	for (guint i = 0; numbers != NULL && i < numbers->len; i++)
		g_string_append_printf(out, " %u", g_array_index(numbers, uint32_t, i));
}

/* All that a report says of the trace. */
static char *report_text(const struct report *r)
{
	GString *out = g_string_new(NULL);

	g_string_append_printf(out, "complete %d candidates %lu\n", r->complete,
	                       (unsigned long)r->candidates);
	for (guint i = 0; i < r->notes->len; i++)
		g_string_append_printf(out, "%s\n", (const char *)r->notes->pdata[i]);
	for (guint i = 0; i < r->findings->len; i++) {
		const struct finding *f = r->findings->pdata[i];

		g_string_append_printf(out, "%u %u verdict %d count %lu by %s:", f->first,
		                       f->second, f->verdict, (unsigned long)f->count,
		                       f->by ? f->by : "");
		append_numbers(out, f->variables);
		g_string_append(out, " witness");
		append_numbers(out, f->witness);
		g_string_append_c(out, '\n');
	}
	return g_string_free(out, FALSE);
}

static char *report_of(struct trace *t, enum analysis analysis, uint64_t seed)
{
	struct race_options options;
	struct error error;

	race_options_init(&options);
	options.analysis = analysis;
	options.budget_pair = options.budget_total = MIX_SECONDS;
	options.all_verdicts = seed % 5 == 0;
	options.chains_always = seed % 3 == 0;
	struct report *r = races_find(t, &options, NULL, &error);
	char *text = r != NULL ? report_text(r) : g_strdup(error.what);
	report_free(r);
	return text;
}

static bool same(const char *path, enum analysis analysis, uint64_t seed)
{
	struct trace *whole = open_as(path, REEL_WHOLE), *t = open_as(path, REEL_IN_PASSES);

	if (whole == NULL || t == NULL || t->storage->reel == NULL)
		return false;
	g_autofree char *expected = report_of(whole, analysis, seed);
	g_autofree char *found = report_of(t, analysis, seed);
	bool good = strcmp(expected, found) == 0;
	if (!good)
		printf("%s, opened:\n%.3000s\nin passes:\n%.3000s\n", analysis_word(analysis),
		       expected, found);
	most_decoded = MAX(most_decoded, decoded(t));
	trace_close(t);
	trace_close(whole);
	compared++;
	return good;
}

/* Are the suspects that are found while the trace is checked those of the opened trace? */
static bool same_suspects(const char *path)
{
	struct first_suspects *first = first_suspects_new();
	struct trace *whole = open_as(path, REEL_WHOLE);
	struct trace *t = open_watched(path, REEL_IN_PASSES, first_suspects_watch(first));
	g_autofree uint64_t *watched = NULL, *expected = NULL;
	uint64_t count = 0, expected_count = 0;
	bool good =
	        whole != NULL && t != NULL &&
	        first_suspects_take(first, t, false, &watched, &count) &&
	        race_suspects(whole, false, &expected, &expected_count, NULL) &&
	        count == expected_count &&
	        memcmp(watched, expected, (t->variables_count / 64 + 1) * sizeof *watched) == 0;

	if (!good)
		printf("%lu suspects while it is checked, %lu of the opened trace\n",
		       (unsigned long)count, (unsigned long)expected_count);
	first_suspects_free(first);
	trace_close(t);
	trace_close(whole);
	return good;
}

static bool one(uint64_t seed)
{
	static const enum analysis analyses[] = { ANALYSIS_HB, ANALYSIS_SHB, ANALYSIS_LOCKSET,
		                                  ANALYSIS_SYNCP, ANALYSIS_AUTO };
	struct random_options options = mix_options(seed, 2 + seed % 4, 30);
	g_autofree char *text = random_text(seed, &options);
	g_autofree char *far = apart(text, seed);
	g_autofree char *path = g_strdup_printf("%s/apart.hdl", folder);
	struct error error;
	struct trace *t = trace_from_text("apart", far, strlen(far), NULL, &error);
	bool good = t != NULL && trace_write(t, path, TRACE_BINARY, NULL, NULL, &error);

	if (!good)
		printf("%s: %s\n", error.where, error.what);
	trace_close(t);
	for (size_t i = 0; good && i < G_N_ELEMENTS(analyses); i++)
		good = same(path, analyses[i], seed);
	return good && same_suspects(path);
}

/* Without a race a trace without an index is checked and has its verdicts in one decoding. */
static bool opens_in_one(const char *path, uint64_t blocks)
{
	struct first_suspects *first = first_suspects_new();
	struct trace *t = open_watched(path, REEL_IN_PASSES, first_suspects_watch(first));
	struct race_options options;
	struct error error;

	race_options_init(&options);
	options.first = first;
	struct report *r = t == NULL ? NULL : races_find(t, &options, NULL, &error);
	bool good = r != NULL && r->complete && r->findings->len == 0 &&
	            decoded(t) <= blocks * 5 / 4;
	if (!good)
		printf("auto while the trace is checked: %lu blocks decoded of %lu\n",
		       t == NULL ? 0 : (unsigned long)decoded(t), (unsigned long)blocks);
	report_free(r);
	first_suspects_free(first);
	trace_close(t);
	return good;
}

/* Without a race each analysis decodes each block once, though the write that a read sees lies
 * far back; lockset, which is no proof of that, twice at most. (Helpers may decode some
 * blocks that have to go again.) */
static bool decodes_once(void)
{
	static const struct {
		enum analysis analysis;
		uint64_t passes;
	} rows[] = { { ANALYSIS_HB, 1 },
		     { ANALYSIS_SHB, 1 },
		     { ANALYSIS_SYNCP, 1 },
		     { ANALYSIS_AUTO, 1 },
		     { ANALYSIS_LOCKSET, 2 } };
	enum { EVENTS = 40 * TAPE_BLOCK };
	struct generate_shape shape = { EVENTS, 6, 64, 60000, 5, .careful = true };
	g_autofree char *path = g_strdup_printf("%s/careful.hdl", folder);
	bool good = true;

	generate_file(shape, path);
	good = opens_in_one(path, EVENTS / TAPE_BLOCK);
	struct trace *t = open_as(path, REEL_IN_PASSES);
	for (size_t i = 0; t != NULL && i < G_N_ELEMENTS(rows); i++) {
		uint64_t before = decoded(t);
		g_autofree char *text = report_of(t, rows[i].analysis, 1);
		uint64_t blocks = decoded(t) - before;

		if (blocks <= rows[i].passes * (EVENTS / TAPE_BLOCK) * 5 / 4)
			continue;
		printf("%s without a race: %lu blocks decoded of %u\n",
		       analysis_word(rows[i].analysis), (unsigned long)blocks,
		       EVENTS / TAPE_BLOCK);
		good = false;
	}
	good = good && t != NULL;
	trace_close(t);
	return good;
}

int main(int argc, char **argv)
{
	folder = g_dir_make_tmp("heddle-test-XXXXXX", NULL);
	int status = mix_main(argc, argv, "passes", 24, one);
	if (!decodes_once())
		status = 1;
	printf("passes: %lu reports compared, at most %lu blocks decoded\n",
	       (unsigned long)compared, (unsigned long)most_decoded);
	folder_remove(folder);
	g_free(folder);
	return status;
}
