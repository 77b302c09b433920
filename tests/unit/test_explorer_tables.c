/*
 * test_explorer_tables.c - the tables of keys and commands in docs/explorer.md are those of
 * the program.  UPDATE=1 in the environment writes them anew.
 */
#include "tui/explorer/command_line.h"
#include "tui/explorer/keys.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static const char path[] = "docs/explorer.md";

static char *with_table(const char *text, const char *name, const char *table)
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

START_TEST(tables_of_the_manual)
{
	char *text;
	GString *keys = g_string_new(NULL), *commands = g_string_new(NULL);
	ck_assert(g_file_get_contents(path, &text, NULL, NULL));
	bindings_print_table(keys);
	commands_print_table(commands);
	char *one = with_table(text, "keys", keys->str);
	char *both = with_table(one, "commands", commands->str);
	if (getenv("UPDATE"))
		ck_assert(g_file_set_contents(path, both, -1, NULL));
	else
		ck_assert_msg(
		        strcmp(text, both) == 0,
		        "%s is not up to date: UPDATE=1 build/tests/unit/test_explorer_tables",
		        path);
	g_string_free(keys, TRUE);
	g_string_free(commands, TRUE);
	g_free(one);
	g_free(both);
	g_free(text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("explorer tables");
	TCase *c = tcase_create("tables");
	tcase_add_test(c, tables_of_the_manual);
	suite_add_tcase(suite, c);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
