/*
 * screen_commands.c - gdb's words on the explorer's command line: each does there what somebody
 * who knows gdb expects, along the recording.
 */
#include "tests/support/tui.h"
#include "tui/explorer/commands/command_line.h"

#include <check.h>
#include <string.h>

/* Both threads run work, which calls add from line 11 and comes back to line 10. */
static const char program[] = "#! heddle 1\n"
                              "#! stack T1 stack@T1\n"
                              "#! stack T2 stack@T2\n"
                              "#! note value-form enum:COLD=-7,BUSY=1 cells[].n\n"
                              "main|fork(T1)|/s/b.c:1\n"              /*  0 */
                              "main|fork(T2)|/s/b.c:2\n"              /*  1 */
                              "T1|enter(work)|/s/b.c:40\n"            /*  2 */
                              "T1|w4(n)=0|/s/b.c:10\n"                /*  3 */
                              "T1|enter(add)|/s/b.c:11\n"             /*  4 */
                              "T1|w4(cells[1].n)=5|/s/b.c:20\n"       /*  5 */
                              "T1|w4(n)=1|/s/b.c:21\n"                /*  6 */
                              "T1|leave(add)|/s/b.c:22\n"             /*  7 */
                              "T1|r4(n)=1|/s/b.c:12\n"                /*  8 */
                              "T1|w4(n)=2|/s/b.c:10\n"                /*  9 */
                              "T1|w4(cells[2].n)=-7|/s/b.c:13\n"      /* 10 */
                              "T1|w4(stack@T1.work::i)=3|/s/b.c:13\n" /* 11 */
                              "T1|leave(work)|/s/b.c:14\n"            /* 12 */
                              "T2|enter(work)|/s/b.c:40\n"            /* 13 */
                              "T2|w4(stack@T2.work::i)=4|/s/b.c:10\n" /* 14 */
                              "T2|w8(stack@T2.work::p)=0|/s/b.c:10\n" /* 15 */
                              "T2|r4(n)=2|/s/b.c:12\n"                /* 16 */
                              "T2|leave(work)|/s/b.c:14\n"            /* 17 */
                              "main|r4(n)=2|/s/b.c:3\n";              /* 18 */

/* Commands one after the other; the last one's words, or what it shows. `event`: where one is
 * then, NONE: it is refused. */
static const struct {
	const char *commands;
	uint32_t event;
	const char *says;
} walks[] = {
	/* steps: over calls and into them, by events and by lines */
	{ "goto 3;step", 4, "enter add" },
	{ "goto 3;step 2", 5, "cells[1].n" },
	{ "goto 3;next", 4, "enter add" },
	{ "goto 3;next 2", 8, "n reads 1" },
	{ "goto 3;next 3", 9, "n 1 → 2" },
	{ "goto 3;stepi", 4, "enter add" },
	{ "goto 3;stepi;nexti", 8, "n reads 1" },
	{ "goto 8;reverse-next", 4, NULL },
	{ "goto 8;reverse-step", 7, NULL },
	{ "goto 8;reverse-stepi", 7, NULL },
	{ "goto 8;reverse-nexti", 4, NULL },
	/* until does not go back to the begin of a loop, and stops where the function ends */
	{ "goto 8;until", 10, "cells[2].n" },
	{ "goto 8;next", 9, NULL },
	{ "goto 3;until b.c:12", 8, NULL },
	{ "goto 5;until b.c:12", 8, NULL },
	{ "goto 5;advance 13", 8, "n reads 1" }, /* out of add first */
	{ "goto 3;u 13", 10, NULL },
	{ "goto 13;until add", NONE, "T2 work does not come to add after this event" },
	{ "goto 3;until 77", NONE, "no event is recorded at '77'" },
	/* out of a function, also that of another frame */
	{ "goto 5;finish", 8, "add has returned: 8 T1 n reads 1" },
	{ "goto 5;up;finish", NONE, "T1 does not return from work in this recording" },
	{ "goto 6;reverse-finish", 4, "before the call of add" },
	/* threads: by name and number; where a thread is at this time */
	{ "goto 9;thread", 9, "thread T1 work, event 9" },
	{ "goto 14;thread 1", 12, NULL },
	{ "goto 14;thread T1", 12, NULL },
	{ "goto 9;thread 2", 13, "T2 work has not begun here; its first event: 13" },
	{ "goto 14;thread main", 1, NULL },
	{ "thread 7", NONE, "there is no thread '7'; `info threads` lists them" },
	{ "goto 14;thread apply all bt", 14, "T1 work work b.c:14" },
	/* values: of variables, of the frame's first, of expressions */
	{ "goto 9;print n", 9, "n = 2 (written by T1, event 9)" },
	{ "goto 9;print n + 40", 9, "n + 40 = 42" },
	{ "goto 9;print n == 2 && cells[1].n > 4", 9, "= 1" },
	{ "goto 9;print !(n == 2)", 9, "= 0" },
	{ "goto 6;print cells[n].n", 6, "cells[1].n = 5 (written by T1, event 5)" },
	{ "goto 10;print cells[n].n * 2", 10, "cells[n].n * 2 = -14" },
	{ "goto 10;print cells[cells[1].n - 3].n", 10, "cells[2].n = COLD" },
	{ "goto 10;p/x cells[2].n", 10, "cells[2].n = 0xfffffff9" },
	{ "goto 10;p/u cells[2].n", 10, "cells[2].n = 4294967289" },
	{ "goto 10;print /d cells[2].n", 10, "cells[2].n = -7" },
	{ "goto 10;p/c 65", 10, "65 = 65 'A'" },
	{ "goto 10;p/o n + 6", 10, "n + 6 = 010" },
	{ "goto 10;print cells", 10, "cells[1].n = 5" },
	{ "goto 12;print i", 12, "stack@T1.work::i = 3" },
	{ "goto 16;print i", 16, "stack@T2.work::i = 4" },
	{ "goto 16;print i * 2", 16, "i * 2 = 8" },
	{ "goto 16;watch i", 16, "watchpoint 1 at i" },
	{ "goto 16;print thread == T2", 16, "= 1" },
	{ "goto 10;print cells[2].n == COLD", 10, "= 1" },
	{ "goto 3;watch cells[2].n if cells[2].n < BUSY;continue", 10, NULL },
	{ "goto 15;print p == NULL && true", 15, "= 1" },
	{ "goto 16;print *p", NONE, "p is NULL here" },
	{ "goto 16;print p->n", NONE, "p is NULL here" },
	{ "goto 16;print *nosuch", NONE, "'nosuch' is no pointer with a recorded value" },
	{ "goto 3;print cells[1].n + 1", NONE, "the value of cells[1].n is not known here" },
	{ "goto 9;print n / (n - 2)", NONE, "divides by 0 here" },
	{ "goto 9;print cells[n", NONE, "a ']' is missing" },
	{ "goto 9;print n +", NONE, "where a variable, a number" },
	{ "goto 9;print", NONE, "expected a variable or an expression" },
	{ "goto 9;p/s n", NONE, "'/s' is no format; x, d, u, o and c" },
	{ "goto 9;print k", NONE,
	  "the recording has no access to a variable 'k'; Tab completes names; locals in "
	  "registers, and most whose address is not taken, are not recorded" },
	{ "goto 9;print k + 1", NONE, "no access to a variable 'k'" },
	/* breakpoints: off and on again, counted, of lines in this file, of reads */
	{ "goto 3;break 13;continue", 10, "breakpoint 1: 10 T1" },
	{ "goto 3;break 10;disable;continue", NONE, "no breakpoint is met after event 3" },
	{ "goto 3;break 12;break 13;disable 1;continue", 10, "breakpoint 2" },
	{ "goto 3;break 12;disable 1;enable 1;continue", 8, NULL },
	{ "goto 3;break 12;break 13;delete 1 2;continue", NONE, "nothing to stop at" },
	{ "goto 3;break 12;delete", 3, "0 breakpoints left" },
	{ "goto 3;break 12;disable", 3,
	  "1 breakpoint disabled: `enable` lets them stop again" },
	{ "disable 4", NONE, "there is no breakpoint '4'; `info breakpoints` lists them" },
	{ "goto 0;watch n;continue 2", 6, "breakpoint 1: 6" },
	{ "goto 0;rwatch n;continue", 8, NULL },
	{ "goto 0;awatch n;continue 3", 8, NULL },
	{ "goto 0;rwatch n;continue;disable;info breakpoints", 8,
	  "1 rwatch n (disabled) stopped there 1 time" },
	{ "break", NONE, "expected FILE:LINE, LINE or a function" },
	{ "goto 0;break add;continue", 5, NULL }, /* inside of it, as gdb */
	{ "goto 0;break add;continue;next", 6, NULL },
	{ "goto 12;break add;reverse-continue", 5, NULL },
	{ "goto 5;break add;reverse-continue", NONE, NULL },
	/* tables */
	{ "goto 16;info locals", 16, "stack@T2.work::i = 4 (written by T2, event 14)" },
	{ "goto 16;info locals", 16,
	  "locals in registers, and most whose address is not taken, are not recorded" },
	{ "goto 5;info locals", 5,
	  "no access to a local variable of this function is recorded" },
	{ "goto 5;up;info args", 5, "stack@T1.work::i" },
	{ "goto 3;info line 12", 3,
	  "work b.c:12: 2 events the next one from here is event 8 of T1" },
	{ "goto 3;info line add", 3, "add b.c:20: 1 event" },
	{ "goto 3;info line", 3, "b.c:10: 4 events" },
	{ "goto 3;info line 99", 3, "no event is recorded at '99'" },
	{ "info nosuch", NONE, "expected threads, locals, args," },
	{ "goto 5;bt", 5, "#1 work at /s/b.c:11" },
};

/* What the last line and the screen say, with single blanks. */
static char *said(struct app *app)
{
	char *screen = tui_words(app);
	char **words = g_strsplit_set(app->message ? app->message : "", " \n", -1);
	GString *all = g_string_new(NULL);
	for (char **word = words; *word; word++)
		if (**word)
			g_string_append_printf(all, "%s ", *word);
	g_string_append(all, screen);
	g_strfreev(words);
	g_free(screen);
	return g_string_free(all, FALSE);
}

START_TEST(gdb_words)
{
	struct app *app = tui_open(program, &(struct tui_options){ .columns = 200 });
	char **lines = g_strsplit(walks[_i].commands, ";", -1);
	for (char **line = lines; *line; line++)
		tui_command(app, *line);
	char *words = said(app);
	bool refused = app->message && app->message_is_error;
	ck_assert_msg(refused == (walks[_i].event == NONE), "%s: %s", walks[_i].commands,
	              words);
	if (!refused)
		ck_assert_msg(app->session->event == walks[_i].event, "%s: at %u: %s",
		              walks[_i].commands, app->session->event, words);
	if (walks[_i].says)
		ck_assert_msg(strstr(words, walks[_i].says) != NULL, "%s: not \"%s\" in %s",
		              walks[_i].commands, walks[_i].says, words);
	g_free(words);
	g_strfreev(lines);
	tui_close(app);
}
END_TEST

/* Whatever is typed, it is an answer or a refusal. */
START_TEST(odd_expressions_are_refused)
{
	static const char *const odd[] = { "]",      "n[", "[",   "n]",   "->",  "n->",
		                           "n->->n", "*",  "**n", "n.",   "a::", "::",
		                           "n[[1]]", "/",  "'",   "%s%n", "é" };
	struct app *app = tui_open(program, NULL);
	GString *deep = g_string_new("print ");
	for (int i = 0; i < 5000; i++)
		g_string_append(deep, "cells[");
	tui_command(app, deep->str);
	ck_assert(app->message && app->message_is_error);
	for (int i = 0; i < 5000; i++)
		g_string_append_c(deep, ']');
	tui_command(app, deep->str);
	ck_assert(app->message && strstr(app->message, "nested too deep"));
	g_string_free(deep, TRUE);
	for (size_t i = 0; i < G_N_ELEMENTS(odd); i++) {
		char *line = g_strdup_printf("print %s", odd[i]);
		tui_command(app, line);
		ck_assert_msg(app->message && app->message_is_error, "%s: %s", line,
		              app->message ? app->message : "");
		g_free(line);
	}
	tui_close(app);
}
END_TEST

START_TEST(gdb_words_are_completed)
{
	struct app *app = tui_open(program, NULL);
	static const struct {
		const char *line;
		int start;
		const char *text, *first;
		guint count;
	} cases[] = {
		{ "thread ", 7, "", "T1", 3 },
		{ "until b", 6, "b", "b.c:1", 12 },
		{ "info line b.c:2", 10, "b.c:2", "b.c:2", 4 },
		{ "info li", 5, "li", "line", 1 },
		{ "print n == 2 && ce", 16, "ce", "cells[1].n", 2 },
		{ "disable ", 8, "", "1", 2 },
		{ "delete 1 ", 9, "", "1", 2 },
		{ "rwatch c", 7, "c", "cells[1].n", 2 },
		{ "fin", 0, "fin", "find", 2 },
	};
	tui_command(app, "break b.c:10");
	tui_command(app, "break b.c:12");
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		GPtrArray *words =
		        commands_complete(app, cases[i].line, cases[i].start, cases[i].text);
		ck_assert_msg(words->len == cases[i].count, "'%s': %u", cases[i].line,
		              words->len);
		ck_assert_str_eq(words->pdata[0], cases[i].first);
		g_ptr_array_free(words, TRUE);
	}
	tui_close(app);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("commands");
	TCase *c = tcase_create("commands");
	tcase_add_loop_test(c, gdb_words, 0, G_N_ELEMENTS(walks));
	tcase_add_test(c, gdb_words_are_completed);
	tcase_add_test(c, odd_expressions_are_refused);
	suite_add_tcase(suite, c);
	return tui_run(suite);
}
