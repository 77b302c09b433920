/*
 * test_tables.c - tables in documents are those of the program: keys and commands of the
 * explorer, a lesson's checks, the analyses.  UPDATE=1 in the environment writes them anew.
 */
#include "engine/predict/predict.h"
#include "tui/explorer/commands/command_line.h"
#include "tui/explorer/screen/keys.h"
#include "tui/lesson/lesson.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static char *with_table(const char *path, const char *text, const char *name, const char *table)
{
	char *begin_mark = g_strdup_printf("<!-- begin %s -->\n", name);
	char *end_mark = g_strdup_printf("<!-- end %s -->\n", name);
	const char *begin = strstr(text, begin_mark), *end = strstr(text, end_mark);
	ck_assert_msg(begin && end, "%s has no place for the %s", path, name);
	begin += strlen(begin_mark);
	char *before = g_strndup(text, begin - text);
	char *whole = g_strconcat(before, table, end, NULL);
	g_free(before);
	g_free(begin_mark);
	g_free(end_mark);
	return whole;
}

static void print_analyses(GString *out)
{
	g_string_append(out, "| analysis | witnesses | function | in short |\n"
	                     "| --- | --- | --- | --- |\n");
#define ANALYSIS(name, word, sound, run, title) \
	g_string_append_printf(out, "| `%s` | %s | `%s` | %s |\n", word, sound ? "yes" : "", \
	                       #run, title);
#include "engine/predict/analyses.def"
#undef ANALYSIS
}

static const struct {
	const char *path, *name;
	void (*print)(GString *out);
} tables[] = {
	{ "docs/keys.md", "keys", bindings_print_table },
	{ "docs/keys.md", "commands", commands_print_table },
	{ "docs/lessons.md", "checks", lesson_print_checks },
	{ "docs/architecture.md", "analyses", print_analyses },
};

START_TEST(table_of_the_manual)
{
	const char *path = tables[_i].path;
	char *text;
	GString *table = g_string_new(NULL);
	ck_assert(g_file_get_contents(path, &text, NULL, NULL));
	tables[_i].print(table);
	char *whole = with_table(path, text, tables[_i].name, table->str);
	if (getenv("UPDATE"))
		ck_assert(g_file_set_contents(path, whole, -1, NULL));
	else
		ck_assert_msg(strcmp(text, whole) == 0,
		              "%s is not up to date: UPDATE=1 build/tests/unit/test_tables",
		              path);
	g_string_free(table, TRUE);
	g_free(whole);
	g_free(text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tables");
	TCase *c = tcase_create("tables");
	tcase_add_loop_test(c, table_of_the_manual, 0, G_N_ELEMENTS(tables));
	suite_add_tcase(suite, c);
	return suite_run(suite);
}
