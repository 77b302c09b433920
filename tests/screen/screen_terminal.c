/*
 * screen_terminal.c - the real binary in a terminal emulator: it starts, resizes, does
 * without colours and without UTF-8, takes the mouse, and leaves the terminal as it was on
 * every way out.
 */
#include "engine/trace/formats.h"
#include "tests/support/pty.h"
#include "tests/support/suite.h"

#include <check.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char *folder, *trace; /* a folder of our own with a trace in it */

static const char text[] = "T1|acq(l)|1\nT1|w(x)|2\nT1|rel(l)|3\nT2|acq(l)|4\nT2|w(x)|5\n"
                           "T2|rel(l)|6\nT2|r(x)|7\n";

static char *write_file(const char *name, const char *content)
{
	char *path = g_build_filename(folder, name, NULL);
	ck_assert(g_file_set_contents(path, content, -1, NULL));
	return path;
}

static void set_up(void)
{
	folder = g_dir_make_tmp("heddle-pty-XXXXXX", NULL);
	g_setenv("HOME", folder, TRUE);
	g_setenv("XDG_STATE_HOME", folder, TRUE);
	g_setenv("XDG_CONFIG_HOME", folder, TRUE);
	g_setenv("XDG_CACHE_HOME", folder, TRUE);
	g_setenv("INPUTRC", "/dev/null", TRUE);
	trace = write_file("figure.txt", text);
}

static void remove_tree(const char *path)
{
	GDir *dir = g_dir_open(path, 0, NULL);
	const char *name;
	while (dir && (name = g_dir_read_name(dir))) {
		char *child = g_build_filename(path, name, NULL);
		remove_tree(child);
		g_free(child);
	}
	if (dir)
		g_dir_close(dir);
	g_remove(path);
}

static void tear_down(void)
{
	remove_tree(folder);
	g_free(folder);
	g_free(trace);
}

/* Open the trace and wait until the findings are there. */
static struct pty *open_trace(const struct pty_options *options)
{
	const char *arguments[] = { trace, NULL };
	struct pty *p = pty_start(options, arguments);
	pty_wait_for(p, "data race");
	return p;
}

static void leave(struct pty *p)
{
	pty_send(p, "q");
	ck_assert_int_eq(pty_finish(p), 0);
	ck_assert(!pty_is_alternate(p));
	ck_assert(pty_is_cooked(p));
	pty_end(p);
}

START_TEST(starts_and_leaves)
{
	struct pty *p = open_trace(NULL);
	ck_assert(pty_is_alternate(p));
	ck_assert(!pty_is_cooked(p));
	ck_assert(pty_has_colour(p));
	ck_assert(strstr(pty_screen(p), "figure.txt") != NULL);
	leave(p);
}
END_TEST

START_TEST(finds_the_race_and_shows_its_witness)
{
	struct pty *p = open_trace(NULL);
	pty_wait_for(p, "✓ race");
	pty_send(p, "w");
	pty_wait_for(p, "both are about to happen");
	pty_wait_for(p, "✓ checked");
	pty_send(p, "o");
	pty_wait_for(p, "why ordered: happens-before");
	pty_wait_for(p, "lock l");
	pty_send(p, "qq");
	pty_wait_for(p, "Findings");
	leave(p);
}
END_TEST

/* Runs `heddle races` on a trace with a race in the source of the screen tests. */
static struct pty *start_report(const struct pty_options *options)
{
	g_autofree char *path = write_file(
	        "lines.txt", "T1|w(acct.balance)=150|tests/screen/source/bank.c:16\n"
	                     "T2|r(acct.balance)=150|tests/screen/source/bank.c:26\n");
	const char *arguments[] = { "races", path, NULL };
	return pty_start(options, arguments);
}

START_TEST(reports_are_laid_out)
{
	struct pty *p = start_report(&(struct pty_options){ .columns = 60 });
	ck_assert_int_eq(pty_finish(p), 1);
	const char *screen = pty_screen(p);
	ck_assert(pty_has_colour(p));
	ck_assert(strstr(screen, "           | acct.balance += n;\n") != NULL);
	ck_assert(strstr(screen, "           | return acct.balance; /* ... and reads a") !=
	          NULL);
	ck_assert(strstr(screen, "    T1 writes acct.balance") != NULL);
	ck_assert(strstr(screen, "\n      nothing keeps the two apart\n") != NULL);
	pty_end(p);
}
END_TEST

START_TEST(help_is_laid_out)
{
	const char *arguments[] = { "races", "--help", NULL };
	struct pty *p = pty_start(&(struct pty_options){ .rows = 80 }, arguments);
	ck_assert_int_eq(pty_finish(p), 0);
	const char *screen = pty_screen(p);
	ck_assert(strstr(screen, "one finding for each pair of source lines\n"
	                         "                                     (default), or for each "
	                         "pair of events\n") != NULL);
	ck_assert(strstr(screen,
	                 "usage: heddle races TRACE... [--analysis A] [--pairs sites|events]\n"
	                 "                    [--candidates all|ORDER]\n") != NULL);
	pty_end(p);
}
END_TEST

START_TEST(reports_without_colours)
{
	static const char *const plain[] = { "NO_COLOR=1", "TERM=dumb" };
	for (size_t i = 0; i < G_N_ELEMENTS(plain); i++) {
		size_t length;
		struct pty *p =
		        start_report(&(struct pty_options){ .environment = { plain[i] } });
		ck_assert_int_eq(pty_finish(p), 1);
		ck_assert(strstr(pty_screen(p), "           | acct.balance += n;") != NULL);
		const char *bytes = pty_output(p, &length);
		ck_assert(memchr(bytes, '\033', length) == NULL);
		pty_end(p);
	}
}
END_TEST

START_TEST(escape_goes_back_at_once)
{
	struct pty *p = open_trace(NULL);
	pty_send(p, "T");
	pty_wait_for(p, "Trace");
	pty_send(p, "\033");
	pty_wait_for(p, "Findings");
	leave(p);
}
END_TEST

START_TEST(arrows_and_pages)
{
	struct pty *p = open_trace(NULL);
	pty_send(p, "T\033[1~");
	pty_wait_for(p, "▸    0");
	pty_send(p, "\033[B\033OB");
	pty_wait_for(p, "▸    2");
	pty_send(p, "\033[A");
	pty_wait_for(p, "▸    1");
	pty_send(p, "\033[6~");
	pty_wait_for(p, "▸    6");
	pty_send(p, "\033[5~");
	pty_wait_for(p, "▸    0");
	pty_send(p, "3n");
	pty_wait_for(p, "▸    3");
	pty_send(p, "q");
	leave(p);
}
END_TEST

START_TEST(resizes)
{
	struct pty *p = open_trace(NULL);
	pty_resize(p, 40, 120);
	pty_wait_for(p, "o order  I story  C graph  Y calls");
	pty_resize(p, 24, 80);
	pty_wait_for(p, "q quit");
	leave(p);
}
END_TEST

START_TEST(too_small_and_back)
{
	struct pty *p = open_trace(NULL);
	pty_send(p, "T");
	pty_wait_for(p, "Trace");
	pty_resize(p, 14, 59);
	pty_wait_for(p, "too small");
	pty_send(p, "jF?");
	pty_wait_read(p);
	pty_resize(p, 24, 80);
	pty_wait_for(p, "Trace");
	pty_wait_without(p, "too small");
	pty_resize(p, 5, 20);
	pty_wait_for(p, "needs 60x15");
	leave(p);
}
END_TEST

/* Curses tells of the new size first, also where the keys came before. */
START_TEST(keys_of_a_small_screen_are_dropped)
{
	struct pty *p = open_trace(NULL);
	pty_send(p, "T");
	pty_wait_for(p, "Trace");
	pty_resize(p, 14, 59);
	pty_wait_for(p, "too small");
	pty_signal(p, SIGSTOP);
	pty_send(p, "jF?");
	pty_resize(p, 24, 80);
	pty_signal(p, SIGCONT);
	pty_wait_without(p, "too small");
	pty_wait_read(p);
	pty_wait_for(p, "Trace");
	pty_send(p, "q");
	pty_wait_for(p, "Findings");
	leave(p);
}
END_TEST

START_TEST(no_colour_by_the_environment)
{
	struct pty *p = open_trace(&(struct pty_options){ .environment = { "NO_COLOR=1" } });
	ck_assert(!pty_has_colour(p));
	ck_assert(pty_has_reverse(p)); /* the selection is seen all the same */
	leave(p);
}
END_TEST

START_TEST(no_colour_on_a_vt100)
{
	struct pty *p = open_trace(&(struct pty_options){ .environment = { "TERM=vt100" } });
	ck_assert(!pty_has_colour(p));
	pty_wait_for(p, "✓ race");
	leave(p);
}
END_TEST

START_TEST(eight_colours)
{
	struct pty *p = open_trace(&(struct pty_options){ .environment = { "TERM=xterm" } });
	ck_assert(pty_has_colour(p));
	leave(p);
}
END_TEST

START_TEST(ascii_in_the_c_locale)
{
	struct pty *p = open_trace(&(struct pty_options){ .environment = { "LC_ALL=C" } });
	pty_wait_for(p, "+ race");
	for (const char *c = pty_screen(p); *c; c++)
		ck_assert_msg((unsigned char)*c < 0x80, "not ASCII: %s", c);
	leave(p);
}
END_TEST

START_TEST(dumb_terminals_are_refused)
{
	static const char *const kinds[] = { "TERM=dumb", "TERM=", "TERM=no-such-terminal" };
	const char *arguments[] = { trace, NULL };
	for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
		struct pty *p = pty_start(&(struct pty_options){ .environment = { kinds[i] } },
		                          arguments);
		ck_assert_int_eq(pty_finish(p), 2);
		pty_wait_for(p, "heddle:");
		pty_wait_for(p, "TERM");
		pty_end(p);
	}
}
END_TEST

START_TEST(the_mouse_selects)
{
	struct pty *p = open_trace(NULL);
	pty_send(p, "T\033[1~");
	pty_wait_for(p, "▸    0");
	pty_send(p, "\033[<0;10;10M\033[<0;10;10m");
	pty_wait_for(p, "▸    4");
	pty_send(p, "\033[<64;10;9M");
	pty_wait_for(p, "▸    1");
	pty_send(p, "q");
	leave(p);
}
END_TEST

/* SGR events, as a terminal sends them: down, moved while down, up. */
START_TEST(the_mouse_drags_a_border)
{
	struct pty *p = open_trace(NULL);
	size_t length;
	ck_assert(strstr(pty_output(p, &length), "\033[?1002h") != NULL);
	pty_wait_for(p, "✓ race");
	pty_send(p, "w");
	pty_wait_for(p, "✓ checked");
	ck_assert(strstr(pty_screen(p), "                        witness  ") != NULL);
	/* of 80 columns the border stands in the 33rd */
	pty_send(p, "\033[<0;33;8M");
	pty_send(p, "j"); /* curses forgets a button where a move follows at once */
	pty_wait_for(p, "▸T1  1 write x");
	pty_send(p, "\033[<32;30;8M\033[<32;27;9M");
	pty_wait_for(p, "recorded                   witness  ");
	pty_send(p, "\033[<32;23;9M\033[<0;23;9m");
	pty_wait_for(p, "recorded               witness  ");
	pty_send(p, "\033[<32;50;9M"); /* no button is down */
	pty_send(p, "q");
	pty_wait_for(p, "Findings");
	pty_send(p, "w"); /* remembered */
	pty_wait_for(p, "recorded               witness  ");
	pty_send(p, "q");
	pty_wait_for(p, "Findings");
	pty_send(p, "q");
	ck_assert_int_eq(pty_finish(p), 0);
	ck_assert(strstr(pty_output(p, &length), "\033[?1002l") != NULL);
	pty_end(p);
}
END_TEST

START_TEST(control_c_stops_work_and_not_the_program)
{
	struct pty *p = open_trace(NULL);
	pty_wait_for(p, "✓ race");
	pty_send(p, "\003");
	pty_wait_for(p, "q quit");
	pty_send(p, "T");
	pty_wait_for(p, "Trace");
	pty_send(p, "q");
	leave(p);
}
END_TEST

START_TEST(the_command_line)
{
	struct pty *p = open_trace(NULL);
	pty_send(p, ":goto 4\r");
	pty_wait_for(p, "▸    4");
	pty_send(p, ":info thr\t\r");
	pty_wait_for(p, "threads at event 4");
	pty_send(p, "q:\033[A\033[A\r");
	pty_wait_for(p, "▸    4");
	pty_send(p, ":inf\033");
	pty_wait_without(p, ":inf");
	pty_send(p, ":nonsense\r");
	pty_wait_for(p, "there is no command 'nonsense'");
	pty_send(p, ":quit\r");
	ck_assert_int_eq(pty_finish(p), 0);
	pty_end(p);
}
END_TEST

START_TEST(completions_are_shown)
{
	struct pty *p = open_trace(NULL);
	pty_send(p, ":re\t");
	pty_wait_for(p, "completions");
	pty_wait_for(p, "reverse-continue");
	pty_send(p, "\033");
	pty_wait_without(p, "completions");
	leave(p);
}
END_TEST

START_TEST(history_is_kept)
{
	struct pty *p = open_trace(NULL);
	pty_send(p, ":goto 5\r");
	pty_wait_for(p, "▸    5");
	pty_send(p, "q");
	leave(p);
	p = open_trace(NULL);
	pty_send(p, ":\033[A\r");
	pty_wait_for(p, "▸    5");
	pty_send(p, "q");
	leave(p);
}
END_TEST

static const int ways_out[] = { SIGTERM, SIGHUP, SIGSEGV, SIGABRT, SIGBUS };

START_TEST(the_terminal_is_restored_by_signals)
{
	struct pty *p = open_trace(NULL);
	pty_signal(p, ways_out[_i]);
	int status = pty_finish(p);
	/* a sanitizer reports a crash in its own way */
	ck_assert_msg(status == 128 + ways_out[_i] || status == 1, "status %d", status);
	ck_assert(!pty_is_alternate(p));
	ck_assert(pty_is_cooked(p));
	pty_end(p);
}
END_TEST

/* A trace that is mapped and is cut off: every thread that looks at it faults at once. */
START_TEST(a_trace_that_is_cut_off)
{
	GString *lines = g_string_new("main|fork(T1)|1\nmain|fork(T2)|1\n");
	for (int i = 0; i < 40000; i++)
		g_string_append_printf(lines, "T%d|w(v%d)=1|%d\n", i % 2 + 1, i % 997, i);
	struct error error;
	char *path = g_build_filename(folder, "large.hdl", NULL);
	struct trace *t = trace_from_text("t", lines->str, lines->len, NULL, &error);
	ck_assert(t != NULL && trace_write(t, path, TRACE_BINARY, NULL, NULL, &error));
	trace_close(t);
	g_string_free(lines, TRUE);
	const char *arguments[] = { path, NULL };
	struct pty *p = pty_start(NULL, arguments);
	pty_wait_for(p, "data race");
	ck_assert_int_eq(truncate(path, 4096), 0);
	pty_send(p, "TGg");
	int status = pty_finish(p);
	ck_assert_msg(status == 128 + SIGBUS || status == 1, "status %d", status);
	ck_assert(!pty_is_alternate(p));
	ck_assert(pty_is_cooked(p));
	size_t length;
	ck_assert(status == 1 || strstr(pty_output(p, &length), "cut off while it was open"));
	pty_end(p);
	g_free(path);
}
END_TEST

START_TEST(suspends_and_resumes)
{
	char *script =
	        g_strdup_printf("\"$HEDDLE\" %s; echo stopped; stty -a | grep -o -- '.icanon'; "
	                        "read line; fg >/dev/null; echo \"ended $?\"",
	                        trace);
	const char *arguments[] = { NULL };
	struct pty *p = pty_start(&(struct pty_options){ .shell = script }, arguments);
	pty_wait_for(p, "data race");
	pty_send(p, "T");
	pty_wait_for(p, "Trace");
	pty_send(p, "\032");
	pty_wait_for(p, "stopped");
	pty_wait_for(p, " icanon");
	ck_assert(!pty_is_alternate(p));
	ck_assert(pty_is_cooked(p));
	pty_send(p, "\n");
	pty_wait_for(p, "Trace");
	ck_assert(pty_is_alternate(p));
	pty_send(p, "qq");
	pty_wait_for(p, "ended 0");
	ck_assert(!pty_is_alternate(p));
	pty_end(p);
	g_free(script);
}
END_TEST

START_TEST(copies_by_osc_52)
{
	struct pty *p = open_trace(NULL);
	size_t length;
	pty_send(p, "T\033[1~");
	pty_wait_for(p, "▸    0");
	pty_send(p, "y");
	pty_wait_for(p, "copied: T1|acq(l)|1");
	char *encoded = g_base64_encode((const guchar *)"T1|acq(l)|1", 11);
	char *wanted = g_strdup_printf("\033]52;c;%s\a", encoded);
	ck_assert(strstr(pty_output(p, &length), wanted) != NULL);
	g_free(wanted);
	g_free(encoded);
	pty_send(p, "q");
	leave(p);
}
END_TEST

START_TEST(configuration)
{
	char *config = g_build_filename(folder, "heddle", NULL);
	g_mkdir(config, 0700);
	char *path = write_file("heddle/config",
	                        "[screen]\nascii = true\ncolours = none\n[keys]\ntrace = Z\n");
	struct pty *p = open_trace(NULL);
	ck_assert(!pty_has_colour(p));
	pty_send(p, "Z");
	pty_wait_for(p, "Trace");
	pty_send(p, "q");
	leave(p);
	g_free(path);
	/* what :set keeps is read again, of every setting */
	static const char *const settings[] = { "projector on", "witness-calls all",
		                                "palette colour-blind", "ascii false",
		                                "just-my-code off" };
	for (size_t i = 0; i < G_N_ELEMENTS(settings); i++) {
		char *line = g_strdup_printf(":set %s\r", settings[i]);
		p = open_trace(NULL);
		pty_send(p, line);
		char *said = g_strdelimit(g_strdup(settings[i]), " ", '\t');
		char **words = g_strsplit(said, "\t", 2);
		char *answer = g_strdup_printf("%s = %s", words[0], words[1]);
		pty_wait_for(p, answer);
		pty_send(p, "q");
		ck_assert_int_eq(pty_finish(p), 0);
		pty_end(p);
		g_free(answer);
		g_strfreev(words);
		g_free(said);
		g_free(line);
	}
	p = open_trace(NULL);
	pty_wait_without(p, "F findings"); /* no bar of views on a projector */
	pty_send(p, "q");
	ck_assert_int_eq(pty_finish(p), 0);
	pty_end(p);
	path = write_file("heddle/config", "[keys]\nno-such-request = Z\n");
	const char *arguments[] = { trace, NULL };
	/* Wide: the message begins with the path, which may be long. */
	p = pty_start(&(struct pty_options){ .columns = 200 }, arguments);
	ck_assert_int_eq(pty_finish(p), 2);
	pty_wait_for(p, "no-such-request");
	pty_end(p);
	g_free(path);
	g_free(config);
}
END_TEST

START_TEST(a_script_in_the_terminal)
{
	char *script = write_file("script", "wait\npress T\ngoto 3\n");
	const char *arguments[] = { "open", trace, "--script", script, NULL };
	struct pty *p = pty_start(NULL, arguments);
	pty_wait_for(p, "▸    3");
	pty_send(p, "q");
	leave(p);
	g_free(script);
}
END_TEST

START_TEST(opens_at_an_event)
{
	const char *arguments[] = { "open", trace, "--at", "5", NULL };
	struct pty *p = pty_start(NULL, arguments);
	pty_wait_for(p, "▸    5");
	pty_send(p, "q");
	leave(p);
}
END_TEST

START_TEST(the_end_of_input_ends_it)
{
	char *binary = pty_binary();
	char *command = g_strdup_printf("%s %s </dev/null", binary, trace);
	g_free(binary);
	int status = system(command);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 2);
	g_free(command);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("terminal");
	TCase *c = tcase_create("terminal");
	tcase_add_checked_fixture(c, set_up, tear_down);
	tcase_add_test(c, starts_and_leaves);
	tcase_add_test(c, finds_the_race_and_shows_its_witness);
	tcase_add_test(c, reports_are_laid_out);
	tcase_add_test(c, help_is_laid_out);
	tcase_add_test(c, reports_without_colours);
	tcase_add_test(c, escape_goes_back_at_once);
	tcase_add_test(c, arrows_and_pages);
	tcase_add_test(c, resizes);
	tcase_add_test(c, too_small_and_back);
	tcase_add_test(c, keys_of_a_small_screen_are_dropped);
	tcase_add_test(c, no_colour_by_the_environment);
	tcase_add_test(c, no_colour_on_a_vt100);
	tcase_add_test(c, eight_colours);
	tcase_add_test(c, ascii_in_the_c_locale);
	tcase_add_test(c, dumb_terminals_are_refused);
	tcase_add_test(c, the_mouse_selects);
	tcase_add_test(c, the_mouse_drags_a_border);
	tcase_add_test(c, control_c_stops_work_and_not_the_program);
	tcase_add_test(c, the_command_line);
	tcase_add_test(c, completions_are_shown);
	tcase_add_test(c, history_is_kept);
	tcase_add_loop_test(c, the_terminal_is_restored_by_signals, 0, G_N_ELEMENTS(ways_out));
	tcase_add_test(c, a_trace_that_is_cut_off);
	tcase_add_test(c, suspends_and_resumes);
	tcase_add_test(c, copies_by_osc_52);
	tcase_add_test(c, configuration);
	tcase_add_test(c, a_script_in_the_terminal);
	tcase_add_test(c, opens_at_an_event);
	tcase_add_test(c, the_end_of_input_ends_it);
	suite_add_tcase(suite, c);
	return suite_run(suite);
}
