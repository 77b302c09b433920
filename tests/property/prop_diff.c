/*
 * prop_diff.c - on random small traces with lines of a file as locations: when lines are put
 * in between, no finding is new and none has disappeared; and a variable that is no longer
 * accessed is in no finding of the second trace, whatever the fate of the first one's.
 */
#include "engine/predict/predict.h"
#include "engine/trace/formats.h"
#include "tests/property/mix.h"
#include "tui/batch/reports/changes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SITES = 8, APART = 100, MOST = MATCH_LINES };

static uint64_t moved_in_all, gone_in_all;

static uint64_t next(uint64_t *random)
{
	*random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *random >> 33;
}

/* The trace with f.c's lines as locations, `shift` by site, less the accesses to `without`. */
static struct trace *with_lines(const struct trace *t, uint64_t random, const uint32_t *shift,
                                const char *without)
{
	GString *text = g_string_new(NULL), *out = g_string_new(NULL);
	char *operand = without ? g_strdup_printf("(%s)", without) : NULL;
	struct error e;
	char **lines;

	trace_print(t, TRACE_TEXT, NULL, text, NULL);
	lines = g_strsplit(text->str, "\n", -1);
	for (int i = 0; lines[i] && *lines[i]; i++) {
		char *bar = strrchr(lines[i], '|');

		if (*lines[i] == '#' || bar == NULL) {
			g_string_append_printf(out, "%s\n", lines[i]);
			continue;
		}
		uint32_t site = (uint32_t)(next(&random) % SITES);
		*bar = '\0';
		if (operand && strstr(lines[i], operand))
			continue;
		g_string_append_printf(out, "%s|f.c:%u\n", lines[i],
		                       APART * site + 10 + shift[site]);
	}
	struct trace *again = trace_from_text("lines", out->str, out->len, NULL, &e);
	g_strfreev(lines);
	g_free(operand);
	g_string_free(text, TRUE);
	g_string_free(out, TRUE);
	return again;
}

static struct report_file *find(struct trace *t, const struct race_options *race)
{
	const struct print_options print = { .no_witness = true };
	struct error error;
	struct report *r = races_find(t, race, NULL, &error);
	struct report_file *file = report_file_of(r, &print);

	report_free(r);
	return file;
}

static struct changes *compare(struct trace *a, struct trace *b, uint64_t seed,
                               struct report_file *reports[2])
{
	struct race_options race;
	struct error error;

	race_options_init(&race);
	race.analysis = seed % 2 ? ANALYSIS_AUTO : ANALYSIS_M2;
	race.pairs_events = seed / 2 % 2;
	race.budget_total = 100;
	reports[0] = find(a, &race);
	reports[1] = find(b, &race);
	const struct changes_sides sides = { .old = reports[0],
		                             .new = reports[1],
		                             .old_trace = a,
		                             .new_trace = b,
		                             .race = &race };
	return changes_new(&sides, NULL, &error);
}

static bool lines_moved(const struct trace *t, uint64_t seed)
{
	uint32_t still[SITES] = { 0 }, moved[SITES], sum = 0;
	struct report_file *reports[2];
	uint64_t random = seed;

	for (int i = 0; i < SITES; i++) {
		sum += (uint32_t)(next(&random) % 4);
		moved[i] = MIN(sum, MOST);
	}
	struct trace *a = with_lines(t, seed, still, NULL);
	struct trace *b = with_lines(t, seed, moved, NULL);
	struct changes *c = compare(a, b, seed, reports);
	bool good = changes_count(c, MATCH_NEW) == 0 && changes_count(c, MATCH_ABSENT) == 0;
	moved_in_all += changes_count(c, MATCH_UPDATED);
	if (!good) {
		printf("lines moved: ");
		changes_print_text(c, MATCH_NEW, stdout);
		changes_print_text(c, MATCH_ABSENT, stdout);
	}
	changes_free(c);
	report_file_free(reports[0]);
	report_file_free(reports[1]);
	trace_close(a);
	trace_close(b);
	return good;
}

static bool variable_gone(const struct trace *t, uint64_t seed)
{
	uint32_t still[SITES] = { 0 };
	struct report_file *reports[2];
	struct trace *a = with_lines(t, seed, still, NULL), *b;
	bool good = true;

	if (a->variables_count == 0) {
		trace_close(a);
		return true;
	}
	b = with_lines(t, seed, still, trace_variable_name(a, 0));
	if (b == NULL) { /* the trace is not well-formed without it */
		trace_close(a);
		return true;
	}
	struct changes *c = compare(a, b, seed, reports);
	for (guint i = 0; good && i < reports[1]->findings->len; i++) {
		const json_t *f =
		        g_array_index(reports[1]->findings, struct filed_finding, i).fields;

		/* less is observed without it: more may race, never on the variable itself */
		good = strcmp(json_word(f, "variable"), trace_variable_name(a, 0)) != 0;
	}
	gone_in_all += changes_count(c, MATCH_ABSENT);
	changes_free(c);
	report_file_free(reports[0]);
	report_file_free(reports[1]);
	trace_close(a);
	trace_close(b);
	return good;
}

static bool one(uint64_t seed)
{
	struct random_options o = mix_options(seed, 2 + seed % 3, 10 + seed % 20);

	o.sizes = false;
	struct trace *t = random_trace(seed, &o);
	bool good = lines_moved(t, seed) && variable_gone(t, seed);
	trace_close(t);
	return good;
}

int main(int argc, char **argv)
{
	int status = mix_main(argc, argv, "differences of reports", 2000, one);

	printf("%" G_GUINT64_FORMAT " findings at other lines, %" G_GUINT64_FORMAT " gone\n",
	       moved_in_all, gone_in_all);
	return status == 0 && (moved_in_all == 0 || gone_in_all == 0) ? EXIT_FAILURE : status;
}
