/*
 * test_explorer.c - the parts of the explorer that draw nothing: conditions, breakpoints,
 * reports of other tools, schedules, cells.
 */
#include "tests/support/tui.h"
#include "tui/explorer/commands/command_line.h"
#include "tui/explorer/tool_reports.h"
#include "tui/explorer/schedule.h"
#include "tests/support/suite.h"

#include <check.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char counting[] = "T1|w(a.b[1])=1|f.c:1\nT1|w(c)=5|f.c:2\nT2|w(a.b[1])=-3|f.c:3\n"
                               "T2|r(c)=5|f.c:4\nT1|w(c)=7|f.c:2\nT1|w(d)=nil|f.c:5\n";

static const char qualified[] = "T1|w(a.b[1])=1|f.c:1\nT1|w(S::n)=4|f.c:2\n"
                                "T2|w(a.b[1])=-3|f.c:3\nT2|r(S::n)=4|f.c:4\n"
                                "T1|w(c)=7|f.c:2\nT1|w(d)=nil|f.c:5\n";

/* Conditions and whether they hold after event 4: a.b[1] is -3, c is 7, d unknown. */
static const struct {
	const char *text;
	int holds; /* -1: refused */
} conditions[] = {
	{ "c == 7", 1 },
	{ "c != 7", 0 },
	{ "a.b[1] < 0", 1 },
	{ "a.b[1] <= -3", 1 },
	{ "a.b[1] > -3", 0 },
	{ "c >= 7 && a.b[1] < 0", 1 },
	{ "c == 1 || c == 7", 1 },
	{ "!(c == 7)", 0 },
	{ "c + 1 == 8", 1 },
	{ "c - a.b[1] == 10", 1 },
	{ "d == 0", 0 },
	{ "d != 0", 0 },
	{ "d == 0 || c == 7", 1 },
	{ "thread == 0", 1 },
	{ "event == 4", 1 },
	{ "c", 1 },
	{ "0", 0 },
	{ "0x7 == c", 1 },
	{ "n == 4", 1 }, /* S::n, by its last part */
	{ "S::n == 4", 1 },
	{ "thread == T1", 1 },
	{ "thread == T2", 0 },
	{ "", -1 },
	{ "c ==", -1 },
	{ "== 3", -1 },
	{ "(c == 7", -1 },
	{ "nosuch == 1", -1 },
	{ "c == 7 7", -1 },
	{ "c = 7", -1 },
	{ "c == 7)", -1 },
};

START_TEST(conditions_of_breakpoints)
{
	struct app *app = tui_open(qualified, NULL);
	struct error error = { 0 };
	struct stop_condition *c =
	        stop_condition_new(app->session, conditions[_i].text, &error);
	ck_assert_msg((c == NULL) == (conditions[_i].holds < 0), "'%s': %s",
	              conditions[_i].text, error.what);
	if (c)
		ck_assert_msg(stop_condition_holds(app->session, c, 4) == conditions[_i].holds,
		              "'%s'", conditions[_i].text);
	else
		ck_assert(*error.what);
	stop_condition_free(c);
	tui_close(app);
}
END_TEST

START_TEST(deep_nesting_is_refused)
{
	struct app *app = tui_open(counting, NULL);
	struct error error = { 0 };
	char *deep = g_strnfill(100000, '(');
	ck_assert(stop_condition_new(app->session, deep, &error) == NULL);
	g_free(deep);
	deep = g_strnfill(100000, '!');
	ck_assert(stop_condition_new(app->session, deep, &error) == NULL);
	g_free(deep);
	tui_close(app);
}
END_TEST

/* Commands in turn, and the event selected after each; NONE: it must fail. */
static const struct {
	const char *commands;
	uint32_t event;
} runs[] = {
	{ "goto 0;break f.c:2;continue", 1 },
	{ "goto 0;break f.c:2 if c == 7;continue", 4 },
	{ "goto 5;break f.c:2;reverse-continue", 1 },
	{ "goto 5;break f.c:2 if c == 7;reverse-continue", 4 },
	{ "goto 0;tbreak f.c:2;continue;goto 0;continue", NONE },
	{ "goto 0;watch a.b[1];continue", 2 },
	{ "goto 0;watch c if c > 5;continue", 4 },
	{ "goto 0;break f.c:2;condition 1 c == 7;continue", 4 },
	{ "goto 0;break f.c:2;delete 1;continue", NONE },
	{ "goto 0;next", 1 },
	{ "goto 0;step 2", 5 },
	{ "goto 0;stepi 2", 4 },
	{ "goto 5;reverse-step", 4 },
	{ "goto 4;reverse-next 2", 0 },
	{ "3", 3 },
	{ "goto 2;bookmark here;goto 0;goto here", 2 },
	{ "goto 0;find f.c:4", 3 },
	{ "list f.c:5", 5 },
	{ "goto 6", NONE },
	{ "goto x", NONE },
	{ "break nosuch.c:1", NONE },
	{ "watch nosuch", NONE },
	{ "watch c if", NONE },
	{ "condition 9 c == 1", NONE },
	{ "delete 9", NONE },
	{ "wait", NONE },
	{ "bind nothing x", NONE },
	{ "view nothing", NONE },
	{ "frame 3", NONE },
	{ "witness 0 1", NONE },
	{ "pair 0 0", NONE },
	{ "export", NONE },
	{ "re", NONE },
};

START_TEST(commands_of_the_command_line)
{
	struct app *app = tui_open(counting, NULL);
	char **lines = g_strsplit(runs[_i].commands, ";", -1);
	for (char **line = lines; *line; line++)
		tui_command(app, *line);
	bool failed = app->message && app->message_is_error;
	ck_assert_msg(failed == (runs[_i].event == NONE), "%s: %s", runs[_i].commands,
	              app->message ? app->message : "no message");
	if (!failed)
		ck_assert_msg(app->session->event == runs[_i].event, "%s: at %u",
		              runs[_i].commands, app->session->event);
	g_strfreev(lines);
	tui_close(app);
}
END_TEST

START_TEST(completion)
{
	struct app *app = tui_open(counting, NULL);
	static const struct {
		const char *line;
		int start;
		const char *text, *first;
		guint count;
	} cases[] = {
		{ "got", 0, "got", "goto", 1 },
		{ "print ", 6, "", "a.b[1]", 5 },
		{ "print a", 6, "a", "a.b[1]", 1 },
		{ "break f", 6, "f", "f.c:1", 5 },
		{ "info lo", 5, "lo", "locals", 2 },
		{ "hide ", 5, "", "T1", 2 },
		{ "zzz ", 4, "", NULL, 0 },
		{ "why 1 2 wc", 8, "wc", "wcp", 1 },
		/* conditions: names, threads, and the values that a variable has */
		{ "break f.c:1 ", 12, "", "if", 1 },
		{ "break f.c:1 if ", 15, "", "a.b[1]", 5 },
		{ "break f.c:1 if thread == ", 25, "", "T1", 2 },
		{ "tbreak f.c:1 if c == ", 21, "", "5", 2 },
		{ "break f.c:1 if c == 7 && th", 25, "th", "thread", 1 },
		{ "condition 1 c > ", 16, "", "5", 2 },
		{ "reach th", 6, "th", "thread", 1 },
		{ "reach c == 5 at f", 16, "f", "f.c:1", 5 },
		{ "set pal", 4, "pal", "palette", 1 },
		{ "set palette ", 12, "", "colour-blind", 2 },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		GPtrArray *words =
		        commands_complete(app, cases[i].line, cases[i].start, cases[i].text);
		ck_assert_msg(words->len == cases[i].count, "'%s': %u", cases[i].line,
		              words->len);
		if (words->len)
			ck_assert_str_eq(words->pdata[0], cases[i].first);
		g_ptr_array_free(words, TRUE);
	}
	tui_close(app);
}
END_TEST

/* -- reports of other tools ---------------------------------------------------------- */

static const char *const reports[] = {
	/* ThreadSanitizer, gcc */
	"==================\nWARNING: ThreadSanitizer: data race (pid=1)\n"
	"  Write of size 8 at 0x1 by thread T1 (mutexes: write M0):\n"
	"    #0 one /s/f.c:1 (p+0x1)\n    #1 start /s/f.c:9 (p+0x2) (BuildId: ab)\n\n"
	"  Previous write of size 8 at 0x1 by main thread:\n    #0 two(int, char*) /s/f.c:3 "
	"(p+0x3)\n\n"
	"  Location is global 'x' of size 8 at 0x1 (p+0x4)\n\n"
	"  Thread T1 (tid=2, running) created by main thread at:\n    #0 main /s/f.c:7 "
	"(p+0x5)\n\n"
	"SUMMARY: ThreadSanitizer: data race f.c:1 in one\n==================\n",
	/* clang: columns */
	"WARNING: ThreadSanitizer: data race (pid=1)\n  Atomic write of size 4 at 0x1 by "
	"thread T1:\n"
	"    #0 one(S (*)(int)) f.c:1:5 (p+0x1) (BuildId: 310a98)\n\n  Previous atomic write "
	"of size 4 at 0x1 by thread T2:\n"
	"    #0 two f.c:3:17 (p+0x3) (BuildId: 310a98)\n\nSUMMARY: x\n",
	/* Helgrind */
	"==9== Possible data race during write of size 8 at 0x1 by thread #2\n==9== Locks "
	"held: none\n"
	"==9==    at 0x10: one (f.c:1)\n==9==    by 0x11: start (f.c:9)\n==9== \n"
	"==9== This conflicts with a previous write of size 8 by thread #1\n==9== Locks held: "
	"none\n"
	"==9==    at 0x12: two (f.c:3)\n==9== \n==9==  Address 0x1 is 0 bytes inside data "
	"symbol \"x\"\n",
	/* XML */
	"<?xml "
	"version=\"1.0\"?>\n<valgrindoutput>\n<error>\n<kind>Race</kind>\n<stack>\n<frame>\n"
	"<fn>one</fn>\n<dir>/s</dir>\n<file>f.c</file>\n<line>1</line>\n</frame>\n</"
	"stack>\n<stack>\n"
	"<frame>\n<fn>two</fn>\n<file>f.c</file>\n<line>3</line>\n</frame>\n</stack>\n</"
	"error>\n",
};

/* The pair of one race. */
static bool import_find(const struct trace *t, const struct reported_race *race,
                        uint32_t pair[2])
{
	GArray *races = g_array_new(FALSE, FALSE, sizeof(*race));
	g_array_append_val(races, *race);
	GArray *located = tool_report_locate(t, races);
	const struct reported_pair *r = &g_array_index(located, struct reported_pair, 0);
	memcpy(pair, r->pair, sizeof r->pair);
	const uint32_t locations[2] = { pair[0] == NONE ? NONE : t->events[pair[0]].location,
		                        pair[0] == NONE ? NONE : t->events[pair[1]].location };
	ck_assert_int_eq(reported_at(r, locations), pair[0] != NONE);
	tool_pairs_free(located);
	g_array_free(races, TRUE);
	return pair[0] != NONE;
}

START_TEST(reports_of_other_tools)
{
	struct app *app = tui_open(counting, NULL);
	char *path = g_strdup_printf("%s/heddle-report-%d", g_get_tmp_dir(), (int)getpid());
	struct error error;
	uint32_t pair[2];
	ck_assert(g_file_set_contents(path, reports[_i], -1, NULL));
	GArray *races = tool_report_read(path, &error);
	ck_assert_msg(races != NULL, "%s", error.what);
	ck_assert_int_eq(races->len, 1);
	const struct reported_race *race = &g_array_index(races, struct reported_race, 0);
	ck_assert_int_eq(g_array_index(race->sides[0], struct reported_frame, 0).line, 1);
	ck_assert_int_eq(g_array_index(race->sides[1], struct reported_frame, 0).line, 3);
	ck_assert_int_eq(race->sides[1]->len, 1);
	ck_assert(import_find(app->session->trace, race, pair));
	ck_assert_int_eq(pair[0], 0);
	ck_assert_int_eq(pair[1], 2);
	tool_report_free(races);
	g_remove(path);
	ck_assert(tool_report_read(path, &error) == NULL);
	g_free(path);
	tui_close(app);
}
END_TEST

/* DRD names one side; the later stacks are of the block, and of the other thread's actions
 * before and after. */
static const char *const one_sided[] = {
	"==9== Conflicting store by thread 2 at 0x0010c090 size 4\n"
	"==9==    at 0x10: one (f.c:1)\n==9==    by 0x11: start (f.c:9)\n"
	"==9== Allocation context: BSS section of /s/f\n"
	"==9== Other segment start (thread 1)\n==9==    at 0x20: lock@* (in /drd.so)\n"
	"==9==    by 0x21: main (f.c:2)\n==9== Other segment end (thread 1)\n"
	"==9==    at 0x22: unlock@* (in /drd.so)\n==9==    by 0x23: main (f.c:2)\n==9== \n",
	"<valgrindoutput>\n<error>\n<kind>ConflictingAccess</kind>\n"
	"<what>Conflicting store by thread 2 at 0x0010c090 size 4</what>\n"
	"<stack>\n<frame>\n<fn>one</fn>\n<file>f.c</file>\n<line>1</line>\n</frame>\n"
	"<frame>\n<fn>start</fn>\n<file>f.c</file>\n<line>9</line>\n</frame>\n</stack>\n"
	"<auxwhat>Allocation context: BSS section of /s/f</auxwhat>\n"
	"<other_segment_start>\n<stack>\n<frame>\n<ip>0x20</ip>\n<fn>clone</fn>\n"
	"<file>clone.S</file>\n<line>83</line>\n</frame>\n</stack>\n"
	"</other_segment_start>\n</error>\n",
};

START_TEST(reports_with_one_side)
{
	struct app *app = tui_open(counting, NULL);
	char *path = g_strdup_printf("%s/heddle-report-%d", g_get_tmp_dir(), (int)getpid());
	struct error error;
	uint32_t pair[2];
	ck_assert(g_file_set_contents(path, one_sided[_i], -1, NULL));
	GArray *races = tool_report_read(path, &error);
	ck_assert_msg(races != NULL, "%s", error.what);
	ck_assert_int_eq(races->len, 1);
	const struct reported_race *race = &g_array_index(races, struct reported_race, 0);
	ck_assert_int_eq(race->sides[0]->len, 2);
	ck_assert_int_eq(race->sides[1]->len, 0);
	ck_assert(import_find(app->session->trace, race, pair));
	ck_assert_int_eq(pair[0], 0);
	tool_report_free(races);
	g_remove(path);
	g_free(path);
	tui_close(app);
}
END_TEST

/* A frame without a function, and a repeated part in one: the places are read all the same. */
static const char *const odd_frames[] = {
	"==9== Possible data race during read of size 4 at 0x0010c090 by thread #3\n"
	"==9==    at 0x10: (f.c:1)\n==9==    by 0x11: \n==9==    by 0x12: (\n",
	"<valgrindoutput>\n<error>\n<kind>Race</kind>\n<stack>\n<frame>\n<fn>one</fn>\n"
	"<fn>one</fn>\n<file>g.c</file>\n<file>f.c</file>\n<line>1</line>\n</frame>\n"
	"</stack>\n</error>\n",
};

START_TEST(reports_with_odd_frames)
{
	struct error error;
	char *path = g_strdup_printf("%s/heddle-odd-%d-%d", g_get_tmp_dir(), _i, getpid());
	g_file_set_contents(path, odd_frames[_i], -1, NULL);
	GArray *races = tool_report_read(path, &error);
	ck_assert_msg(races != NULL, "%s", error.what);
	ck_assert_int_eq(races->len, 1);
	GArray *frames = g_array_index(races, struct reported_race, 0).sides[0];
	ck_assert_uint_ge(frames->len, 1);
	ck_assert_str_eq(g_array_index(frames, struct reported_frame, 0).file, "f.c");
	ck_assert_uint_eq(g_array_index(frames, struct reported_frame, 0).line, 1);
	tool_report_free(races);
	g_remove(path);
	g_free(path);
}
END_TEST

/* No line 7 in the trace; 4 is near it. */
START_TEST(lines_of_another_build)
{
	struct app *app = tui_open(counting, NULL);
	struct reported_frame frames[2] = { { .file = "f.c", .line = 7 },
		                            { .file = "f.c", .line = 2 } };
	struct reported_race race;
	uint32_t pair[2];
	for (int i = 0; i < 2; i++) {
		race.sides[i] = g_array_new(FALSE, FALSE, sizeof(frames[0]));
		g_array_append_val(race.sides[i], frames[i]);
	}
	ck_assert(import_find(app->session->trace, &race, pair));
	ck_assert_int_eq(pair[0], 1);
	ck_assert_int_eq(pair[1], 3);
	g_array_index(race.sides[0], struct reported_frame, 0).line = 9;
	ck_assert(!import_find(app->session->trace, &race, pair));
	for (int i = 0; i < 2; i++)
		g_array_free(race.sides[i], TRUE);
	tui_close(app);
}
END_TEST

START_TEST(a_cut_report_is_no_crash)
{
	struct error error;
	char *path = g_strdup_printf("%s/heddle-report-%d", g_get_tmp_dir(), (int)getpid());
	for (size_t r = 0; r < G_N_ELEMENTS(reports) + G_N_ELEMENTS(one_sided); r++) {
		const char *text = r < G_N_ELEMENTS(reports)
		                           ? reports[r]
		                           : one_sided[r - G_N_ELEMENTS(reports)];
		for (size_t length = 0; length < strlen(text); length += 7) {
			ck_assert(g_file_set_contents(path, text, (gssize)length, NULL));
			tool_report_free(tool_report_read(path, &error));
		}
	}
	g_remove(path);
	g_free(path);
}
END_TEST

/* -- schedules ----------------------------------------------------------------------- */

START_TEST(what_moved)
{
	static const uint32_t order[] = { 0, 4, 5, 1, 2, 3, 6 };
	static const int8_t wanted[] = { 0, 1, 1, 0, 0, 0, 0 };
	GArray *events = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_array_append_vals(events, order, G_N_ELEMENTS(order));
	int8_t *moves = schedule_moves(events);
	ck_assert_mem_eq(moves, wanted, sizeof wanted);
	g_free(moves);
	g_array_set_size(events, 0);
	moves = schedule_moves(events);
	g_free(moves);
	g_array_free(events, TRUE);
}
END_TEST

START_TEST(values_of_another_schedule)
{
	struct app *app = tui_open(counting, NULL);
	static const uint32_t order[] = { 2, 0, 1 };
	GArray *events = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_array_append_vals(events, order, G_N_ELEMENTS(order));
	uint32_t variable = session_find_variable(app->session, "a.b[1]"), writer;
	struct stage stage;
	stage_init(&stage, app->session, events, false);
	uint32_t value = stage_value(&stage, 3, variable, &writer);
	ck_assert_int_eq(writer, 0);
	ck_assert_int_eq(trace_value(app_trace(app), value).integer, 1);
	value = stage_value(&stage, 1, variable, &writer);
	ck_assert_int_eq(trace_value(app_trace(app), value).integer, -3);
	stage_value(&stage, 0, variable, &writer);
	ck_assert(writer == NONE);
	ck_assert_uint_eq(stage_position(&stage, 2), 0);
	ck_assert_uint_eq(stage_position(&stage, 0), 1);
	ck_assert_uint_eq(stage_position(&stage, 3), NONE);
	uint32_t thread = app_trace(app)->events[0].thread;
	ck_assert_uint_eq(stage_last(&stage, thread, 0), NONE);
	ck_assert_uint_eq(stage_next(&stage, thread, 0), 0);
	ck_assert_uint_eq(stage_last(&stage, thread, 2), 0);
	stage_pop(&stage);
	ck_assert_uint_eq(stage_position(&stage, 1), NONE);
	stage_push(&stage, 1);
	ck_assert_uint_eq(stage_position(&stage, 1), 2);
	stage_release(&stage);
	g_array_free(events, TRUE);
	tui_close(app);
}
END_TEST

/* -- cells --------------------------------------------------------------------------- */

START_TEST(text_is_clipped_and_escaped)
{
	struct grid grid;
	grid_init(&grid, 2, 10, false);
	struct pane p = pane_part(pane_whole(&grid), 0, 2, 1, 5);
	pane_text(p, 0, 0, STYLE_TEXT, "abcdefgh");
	pane_text(p, 1, 0, STYLE_TEXT, "below");
	pane_text(p, 0, -3, STYLE_TEXT, "left");
	GString *out = g_string_new(NULL);
	grid_dump(&grid, false, out);
	ck_assert_str_eq(out->str, "  tbcd…\n\n");
	grid_clear(&grid);
	pane_text(pane_whole(&grid), 0, 0, STYLE_TEXT, "\x1b\xff変");
	g_string_truncate(out, 0);
	grid_dump(&grid, false, out);
	ck_assert_str_eq(out->str, "\\x1B\\xFF変\n\n");
	ck_assert_int_eq(text_columns("変a\xff"), 7);
	g_string_free(out, TRUE);
	grid_release(&grid);
}
END_TEST

START_TEST(every_sign_has_an_ascii_stand_in)
{
	static const char signs[] = "─│┌┐└┘▸◂▲▼●○✓✗·…⟨⟩←→⇄★–“”";
	for (const char *c = signs; *c; c = g_utf8_next_char(c))
		ck_assert_msg(rune_to_ascii(g_utf8_get_char(c)) != '?', "%s", c);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("explorer");
	TCase *c = tcase_create("explorer");
	tcase_add_loop_test(c, conditions_of_breakpoints, 0, G_N_ELEMENTS(conditions));
	tcase_add_test(c, deep_nesting_is_refused);
	tcase_add_loop_test(c, commands_of_the_command_line, 0, G_N_ELEMENTS(runs));
	tcase_add_test(c, completion);
	tcase_add_loop_test(c, reports_of_other_tools, 0, G_N_ELEMENTS(reports));
	tcase_add_test(c, lines_of_another_build);
	tcase_add_loop_test(c, reports_with_one_side, 0, G_N_ELEMENTS(one_sided));
	tcase_add_loop_test(c, reports_with_odd_frames, 0, G_N_ELEMENTS(odd_frames));
	tcase_add_test(c, a_cut_report_is_no_crash);
	tcase_add_test(c, what_moved);
	tcase_add_test(c, values_of_another_schedule);
	tcase_add_test(c, text_is_clipped_and_escaped);
	tcase_add_test(c, every_sign_has_an_ascii_stand_in);
	suite_add_tcase(suite, c);
	return suite_run(suite);
}
