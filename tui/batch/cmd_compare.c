/*
 * cmd_compare.c - `heddle compare`: a table of pairs of sites by analysis.
 */
#include "engine/predict/predict.h"
#include "tui/batch/command.h"
#include "engine/trace/own_site.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

static const struct command_option options[] = {
	{ "analyses", "A,B,...", "which (default: lockset,hb,shb,wcp,dc,wdc,syncp,m2)", 0 },
	OPTION_LENIENT,
	OPTION_FORMAT,
	{ 0 },
};

enum { SITE_WIDTH = 34 };

/* A pair of sites. */
struct row {
	uint32_t first, second;         /* events of its first finding */
	uint32_t variable;              /* a variable of the trace, or NONE */
	int8_t verdict[ANALYSIS_COUNT]; /* by column: enum verdict, -1 not reported */
};
struct table {
	struct trace *t;
	enum analysis columns[ANALYSIS_COUNT];
	uint64_t found[ANALYSIS_COUNT];
	bool complete[ANALYSIS_COUNT];
	guint count;          /* of columns */
	GArray *rows;         /* struct row */
	GHashTable *by_sites; /* both sites as int64 (owned) -> index in rows + 1 */
};

/* -- computing the table ------------------------------------------------------------------- */

static bool choose(const struct arguments *a, struct table *table)
{
	const char *text = argument_value(a, "analyses");
	g_auto(GStrv) words =
	        g_strsplit(text == NULL ? "lockset,hb,shb,wcp,dc,wdc,syncp,m2" : text, ",", -1);
	bool good = true;

	for (guint i = 0; words[i] != NULL && good; i++) {
		enum analysis analysis;

		good = analysis_from_word(words[i], &analysis) && table->count < ANALYSIS_COUNT;
		if (good)
			table->columns[table->count++] = analysis;
		else
			usage_error(a,
			            "--analyses: expected analyses separated by commas, "
			            "found '%s'",
			            words[i]);
	}
	return good;
}

static uint32_t site_of(const struct trace *t, uint32_t event)
{
	return own_site(t, event);
}

static struct row *row_of(struct table *table, const struct finding *f)
{
	uint32_t a = site_of(table->t, f->first), b = site_of(table->t, f->second);
	gint64 key = (gint64)((uint64_t)MIN(a, b) << 32 | MAX(a, b));
	gpointer found = g_hash_table_lookup(table->by_sites, &key);
	struct row row = { f->first, f->second, NONE };

	if (found != NULL)
		return &g_array_index(table->rows, struct row, GPOINTER_TO_UINT(found) - 1);
	memset(row.verdict, -1, sizeof(row.verdict));
	if (f->variables != NULL && f->variables->len > 0)
		row.variable = g_array_index(f->variables, uint32_t, 0);
	g_array_append_val(table->rows, row);
	g_hash_table_insert(table->by_sites, g_memdup2(&key, sizeof(key)),
	                    GUINT_TO_POINTER(table->rows->len));
	return &g_array_index(table->rows, struct row, table->rows->len - 1);
}

static bool fill(struct table *table, guint column, struct error *error)
{
	struct race_options race;

	race_options_init(&race);
	race.analysis = table->columns[column];
	struct report *r = races_find(table->t, &race, progress_on_stderr(), error);
	if (r == NULL)
		return false;
	for (guint i = 0; i < r->findings->len; i++) {
		const struct finding *f = r->findings->pdata[i];

		if (f->verdict == VERDICT_IMPOSSIBLE || f->verdict == VERDICT_UNKNOWN)
			continue;
		row_of(table, f)->verdict[column] = (int8_t)f->verdict;
		table->found[column]++;
	}
	table->complete[column] = r->complete;
	report_free(r);
	return true;
}

static int by_place(gconstpointer p, gconstpointer q)
{
	const struct row *a = p, *b = q;

	if (a->first != b->first)
		return a->first < b->first ? -1 : 1;
	return a->second < b->second ? -1 : a->second > b->second;
}

/* -- printing ------------------------------------------------------------------------------ */

static char *sites_text(const struct trace *t, const struct row *row)
{
	GString *s = g_string_new(NULL);
	const char *a = own_site_name(t, row->first), *b = own_site_name(t, row->second);

	append_escaped(s, a, strlen(a));
	g_string_append(s, " - ");
	append_escaped(s, b, strlen(b));
	return g_string_free(s, FALSE);
}

static char *variable_text(const struct trace *t, const struct row *row)
{
	GString *s = g_string_new(NULL);

	if (row->variable != NONE) {
		const char *name = trace_variable_name(t, row->variable);

		append_escaped(s, name, strlen(name));
	}
	return g_string_free(s, FALSE);
}

static int column_width(const struct table *table, guint column)
{
	return MAX(5, (int)strlen(analysis_word(table->columns[column]))) + 1;
}

static void print_text(const struct table *table)
{
	printf("%-*s", SITE_WIDTH, "pair of places");
	for (guint i = 0; i < table->count; i++)
		printf(" %*s", column_width(table, i), analysis_word(table->columns[i]));
	printf("  variable\n");
	for (guint r = 0; r < table->rows->len; r++) {
		const struct row *row = &g_array_index(table->rows, struct row, r);
		g_autofree char *sites = sites_text(table->t, row),
		                *variable = variable_text(table->t, row);

		printf("%-*s", SITE_WIDTH, sites);
		for (guint i = 0; i < table->count; i++)
			printf(" %*s", column_width(table, i),
			       row->verdict[i] < 0               ? "-"
			       : row->verdict[i] == VERDICT_RACE ? "race"
			                                         : "cand.");
		printf("  %s\n", variable);
	}
	printf("%-*s", SITE_WIDTH, "in all");
	for (guint i = 0; i < table->count; i++)
		printf(" %*" G_GUINT64_FORMAT, column_width(table, i), table->found[i]);
	printf("\nrace: a schedule that shows it was found and checked; cand.: reported "
	       "without one; -: not reported\n");
}

static json_t *json_row(const struct table *table, const struct row *row)
{
	g_autofree char *variable = variable_text(table->t, row);
	json_t *verdicts = json_object(), *j;
	g_autoptr(GString) a = g_string_new(NULL), b = g_string_new(NULL);

	append_escaped(a, own_site_name(table->t, row->first),
	               strlen(own_site_name(table->t, row->first)));
	append_escaped(b, own_site_name(table->t, row->second),
	               strlen(own_site_name(table->t, row->second)));
	for (guint i = 0; i < table->count; i++) {
		if (row->verdict[i] >= 0)
			json_object_set_new(verdicts, analysis_word(table->columns[i]),
			                    json_string(verdict_word(row->verdict[i])));
	}
	j = json_pack("{sIsIs[ss]ssso}", "first", (json_int_t)row->first, "second",
	              (json_int_t)row->second, "locations", a->str, b->str, "variable",
	              variable, "analyses", verdicts);
	return j;
}

static void print_json(const struct table *table)
{
	json_t *columns = json_array(), *rows = json_array(), *j;

	for (guint i = 0; i < table->count; i++)
		json_array_append_new(columns, json_pack("{sssIsb}", "analysis",
		                                         analysis_word(table->columns[i]),
		                                         "found", (json_int_t)table->found[i],
		                                         "complete", table->complete[i]));
	for (guint r = 0; r < table->rows->len; r++)
		json_array_append_new(
		        rows, json_row(table, &g_array_index(table->rows, struct row, r)));
	j = json_pack("{sssssIsoso}", "heddle", HEDDLE_VERSION, "trace", trace_name(table->t),
	              "events", (json_int_t)table->t->events_count, "analyses", columns,
	              "findings", rows);
	json_dumpf(j, stdout, JSON_INDENT(1));
	putchar('\n');
	json_decref(j);
}

static int run(struct arguments *a)
{
	struct table table = { 0 };
	struct error error;
	int status = EXIT_BAD;

	argument_words(a, 1, 1);
	enum output_format format = argument_format(a, false);
	if (!choose(a, &table))
		return EXIT_BAD;
	table.t = open_trace(a, a->words->pdata[0]);
	if (table.t == NULL)
		return EXIT_BAD;
	table.rows = g_array_new(FALSE, FALSE, sizeof(struct row));
	table.by_sites = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	bool good = true;
	for (guint i = 0; i < table.count && good; i++)
		good = fill(&table, i, &error);
	progress_done();
	if (good) {
		g_array_sort(table.rows, by_place);
		if (format == FORMAT_JSON)
			print_json(&table);
		else
			print_text(&table);
		status = table.rows->len > 0 ? EXIT_FOUND : EXIT_NOTHING;
	} else {
		fail(&error);
	}
	g_hash_table_destroy(table.by_sites);
	g_array_free(table.rows, TRUE);
	trace_close(table.t);
	return status;
}

const struct command command_compare = {
	.name = "compare",
	.usage = "TRACE [--analyses A,B,...]",
	.summary = "a table of findings by analysis",
	.details =
	        "A row is a pair of source lines; 'race' has a witness that the checker accepted, "
	        "'cand.' is what the\nanalysis claims without one.  Exit status: 0 nothing "
	        "found, 1 something found, 2 bad input.",
	.options = options,
	.run = run,
};
