/*
 * screen_views.c - every view on small traces, cell by cell against golden files, and what
 * the keys do.  The findings are made by hand, so that a change of an analysis does not
 * change these screens.
 */
#include "tests/support/tui.h"
#include "engine/atomic/atomic.h"

#include "tui/explorer/commands/command_line.h"
#include "tui/explorer/screen/screen.h"

#include <check.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <string.h>

static const char bank[] = "#! heddle 1\n"
                           "main|fork(T1)|tests/screen/source/bank.c:43\n"
                           "main|fork(T2)|tests/screen/source/bank.c:44\n"
                           "T1|enter(worker)|tests/screen/source/bank.c:31\n"
                           "T1|enter(deposit)|tests/screen/source/bank.c:31\n"
                           "T1|acq(m)|tests/screen/source/bank.c:14\n"
                           "T1|w(audit)=1|tests/screen/source/bank.c:15\n"
                           "T1|r(acct.balance)=100|tests/screen/source/bank.c:16\n"
                           "T1|w(acct.balance)=150|tests/screen/source/bank.c:16\n"
                           "T1|rel(m)|tests/screen/source/bank.c:17\n"
                           "T1|leave(deposit)|tests/screen/source/bank.c:31\n"
                           "T1|leave(worker)|tests/screen/source/bank.c:32\n"
                           "T2|enter(report)|tests/screen/source/bank.c:37\n"
                           "T2|acq(m)|tests/screen/source/bank.c:23\n"
                           "T2|w(audit)=0|tests/screen/source/bank.c:24\n"
                           "T2|rel(m)|tests/screen/source/bank.c:25\n"
                           "T2|r(acct.balance)=150|tests/screen/source/bank.c:26\n"
                           "T2|leave(report)|tests/screen/source/bank.c:27\n"
                           "main|join(T1)|tests/screen/source/bank.c:45\n"
                           "main|join(T2)|tests/screen/source/bank.c:46\n";
enum { WRITE = 7, READ = 15 };

static const uint32_t bank_witness[] = { 0, 1, 11, 12, 13, 14, 2, 3, 4, 5, 6, WRITE, READ };

static struct finding *race(uint32_t first, uint32_t second, uint32_t variable,
                            enum verdict verdict)
{
	struct finding *f = finding_new(FINDING_DATA_RACE, first, second);
	f->verdict = verdict;
	f->count = 1;
	f->counted_all = true;
	f->variables = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_array_append_val(f->variables, variable);
	return f;
}

static struct finding *with_witness(struct finding *f, const uint32_t *events, guint count)
{
	f->witness = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_array_append_vals(f->witness, events, count);
	f->by = "m2";
	return f;
}

static void give(struct app *app, struct finding *const *findings, guint count,
                 enum analysis analysis)
{
	const char *name = analysis < ANALYSIS_COUNT ? analysis_word(analysis) : "other";
	struct report *report = report_new(app->session->trace, name);
	for (guint i = 0; i < count; i++)
		report_add(report, findings[i]);
	session_add_report(app->session, report, analysis, analysis == ANALYSIS_AUTO);
	app_refresh(app);
}

/* The bank with its race, and one pair proved impossible; what the analyses
 * see of it. */
static struct app *open_bank(const struct tui_options *options)
{
	struct app *app = tui_open(bank, options);
	uint32_t balance = session_find_variable(app->session, "acct.balance");
	uint32_t audit = session_find_variable(app->session, "audit");
	struct finding *none = race(5, 13, audit, VERDICT_IMPOSSIBLE);
	none->proof = proof_new(PROOF_CLOSURE);
	path_add(&none->proof->cycle, 5, 8, STEP_PROGRAM, NONE);
	path_add(&none->proof->cycle, 8, 12, STEP_CLOSURE_LOCK, 0);
	struct finding *found = with_witness(race(WRITE, READ, balance, VERDICT_RACE),
	                                     bank_witness, G_N_ELEMENTS(bank_witness));
	found->count = 14;
	struct finding *all[] = { none, found };
	give(app, all, 2, ANALYSIS_AUTO);
	give(app, NULL, 0, ANALYSIS_HB);
	struct finding *seen[] = { race(WRITE, READ, balance, VERDICT_CANDIDATE) };
	give(app, seen, 1, ANALYSIS_LOCKSET);
	return app;
}

/* A view after keys, against its golden file. */
static const struct {
	const char *name, *keys;
	struct tui_options options;
} pictures[] = {
	{ "findings", "", { 0 } },
	{ "findings-second", "v j", { 0 } },
	{ "findings-wide", "", { .rows = 60, .columns = 200 } },
	{ "findings-ascii", "", { .ascii = true } },
	{ "findings-marked", "t t", { 0 } },
	{ "findings-all", "v", { 0 } },
	{ "findings-races-only", "v v", { 0 } },
	{ "trace", "T", { 0 } },
	{ "trace-read", "T 1 5 G", { 0 } },
	{ "trace-section", "T 4 G", { 0 } },
	{ "trace-wide", "T", { .rows = 50, .columns = 180 } },
	{ "trace-ascii", "T", { .ascii = true } },
	{ "trace-hidden", "T 0 G g H j", { 0 } },
	{ "source-pair", "s", { 0 } },
	{ "source-one", "s s", { 0 } },
	{ "source-caller", "s u", { 0 } },
	{ "state", "S", { 0 } },
	{ "state-other-order", "S x x x", { 0 } },
	{ "witness", "w", { 0 } },
	{ "witness-step", "w g n n", { 0 } },
	{ "witness-wide", "w", { .rows = 40, .columns = 140 } },
	{ "witness-impossible", "v j w", { 0 } },
	{ "scheduler", "w p", { 0 } },
	{ "scheduler-picking", "w g n p Enter Enter Tab", { 0 } },
	{ "order-hb", "o", { 0 } },
	{ "order-wcp", "o c", { 0 } },
	{ "order-po", "o x x x x x x x x", { 0 } },
	{ "order-closure", "o m", { 0 } },
	{ "order-closure-impossible", "v j o m", { 0 } },
	{ "story", "I", { .rows = 36, .columns = 80 } },
	{ "story-impossible", "v j I", { 0 } },
	{ "graph-none", "C", { 0 } },
	{ "commute-none", "Y", { 0 } },
	{ "help-findings", "?", { 0 } },
	{ "help-trace", "T ?", { 0 } },
	{ "help-witness", "w ?", { .rows = 60, .columns = 100 } },
	{ "small-59x14", "", { .rows = 14, .columns = 59 } },
	{ "folded-findings", "", { .rows = 15, .columns = 60 } },
	{ "folded-trace", "Enter", { .rows = 15, .columns = 60 } },
	{ "folded-witness", "w", { .rows = 15, .columns = 60 } },
	{ "folded-source", "s", { .rows = 15, .columns = 60 } },
	{ "folded-story", "I", { .rows = 15, .columns = 60 } },
	{ "beside-trace", "Enter", { .rows = 30, .columns = 120 } },
	{ "beside-witness", "w", { .rows = 30, .columns = 120 } },
	{ "small-20x5", "", { .rows = 5, .columns = 20 } },
	{ "small-3x1", "", { .rows = 1, .columns = 3 } },
};

START_TEST(picture)
{
	tui_picture(open_bank(&pictures[_i].options), pictures[_i].keys, pictures[_i].name);
}
END_TEST

/* Words of the analyses: they are in the order view, in the help, and in docs/. */
START_TEST(words_of_the_analyses_are_one_key_away)
{
	static const char *const words[] = {
		"both are next",     "come next",    "closure",     "cone",      "observation",
		"must-order",        "tryfail",      "grade ",      "asked for", "must come",
		"has done its part", "points clash", "as these do", "edc",
	};
	if (strncmp(pictures[_i].name, "order", 5) == 0 ||
	    strncmp(pictures[_i].name, "help", 4) == 0)
		return;
	struct app *app = open_bank(&pictures[_i].options);
	tui_keys(app, pictures[_i].keys);
	char *screen = tui_words(app), *details = strstr(screen, " Proof:");
	if (details) /* the last line, with the page that explains it */
		*details = '\0';
	for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
		ck_assert_msg(strstr(screen, words[i]) == NULL, "%s in %s", words[i], screen);
	g_free(screen);
	tui_close(app);
}
END_TEST

/* Commands that answer with a text. */
static const struct {
	const char *name, *command;
} answers[] = {
	{ "answer-bt", "bt" },
	{ "answer-threads", "info threads" },
	{ "answer-locks", "info locks" },
	{ "answer-variables", "info variables" },
	{ "answer-trace", "info trace" },
	{ "answer-orders", "info orders" },
	{ "answer-help", "help" },
};

START_TEST(answer)
{
	struct app *app = open_bank(NULL);
	tui_command(app, answers[_i].command);
	tui_golden(app, answers[_i].name);
	tui_close(app);
}
END_TEST

/* -- other traces ------------------------------------------------------------------- */

START_TEST(text_is_laid_out_anew_when_the_screen_changes)
{
	struct app *app = open_bank(NULL);
	tui_command(app, "help watch");
	tui_command(app, "help");
	char *narrow = tui_screen(app, false);
	app_resize(app, 30, 160);
	char *wide = tui_screen(app, false);
	app_resize(app, 24, 80);
	char *again = tui_screen(app, false);
	ck_assert_str_eq(narrow, again);
	static const char *const phrase =
	        "the next event with TEXT in its variable, lock, location or function";
	ck_assert(strstr(narrow, phrase) == NULL);
	ck_assert(strstr(wide, phrase) != NULL);
	g_free(narrow);
	g_free(wide);
	g_free(again);
	tui_close(app);
}
END_TEST

static char *exported(struct app *app, const char *suffix)
{
	char *path =
	        g_strdup_printf("%s/heddle-export-%d%s", g_get_tmp_dir(), getpid(), suffix);
	char *line = g_strconcat("export ", path, NULL), *text = NULL;
	tui_command(app, line);
	if (!g_file_get_contents(path, &text, NULL, NULL))
		text = NULL;
	g_unlink(path);
	g_free(line);
	g_free(path);
	return text;
}

/* The tree that `heddle explore -o` kept of a program with one failing schedule of four. */
START_TEST(exploration)
{
	struct app *app = open_bank(NULL);
	tui_keys(app, "X");
	ck_assert(tui_shows(app, "No exploration lies beside this trace."));
	tui_command(app, "exploration tests/screen/source/bank.c");
	ck_assert(app->message_is_error && strstr(app->message, "cannot read the tree"));
	tui_command(app, "exploration tests/screen/source/assertion.tree");
	tui_keys(app, "-");
	tui_keys(app, "g");
	tui_golden(app, "exploration");
	tui_keys(app, "n"); /* the failing run */
	ck_assert(tui_shows(app, "Assertion `!r || d == 7' failed."));
	ck_assert(tui_shows(app, "Enter opens its trace"));
	tui_golden(app, "exploration-failing");
	char *svg = exported(app, ".svg");
	ck_assert(svg && strstr(svg, "signal 6"));
	g_free(svg);
	tui_keys(app, "n");
	ck_assert_str_eq(app->message, "no other run failed");
	tui_keys(app, "h"); /* its parent, whose trace was not kept or is the first */
	ck_assert(tui_shows(app, "run 0 "));
	tui_keys(app, "j Enter");
	ck_assert(g_str_has_prefix(app->message, "the trace of this run was not kept"));
	tui_close(app);
}
END_TEST

/* Failures, a race and two outputs: first the outcomes, each with the difference from a run
 * that ends otherwise. */
START_TEST(exploration_by_outcome)
{
	struct app *app = open_bank(NULL);
	tui_command(app, "directory tests/screen/source");
	tui_keys(app, "X");
	tui_command(app, "exploration tests/screen/source/outcomes.tree");
	tui_golden(app, "outcomes");
	char *words = tui_words(app);
	ck_assert(strstr(words, "5 outcomes of 8 different runs"));
	ck_assert(strstr(words, "about 12 different runs are left (4 to 23 in eight of ten "
	                        "estimates)"));
	ck_assert(strstr(words, "It begins as the nearest run that ends well, but:"));
	/* the shortest run, with the source line of what it does otherwise */
	ck_assert(strstr(words, "as in run 6"));
	ck_assert(strstr(words, "T2 reads audit = 1, not 0 bank.c:24 audit = 0;"));
	ck_assert(strstr(words, "Enter opens the trace of run 6"));
	g_free(words);
	tui_keys(app, "n");
	ck_assert(tui_shows(app, "no trace of it was kept"));
	tui_keys(app, "n"); /* a pair of lines once, whatever the library has inside of them */
	tui_golden(app, "outcomes-race");
	tui_keys(app, "G");
	ck_assert(tui_shows(app, "1 of 8 different runs print this last"));
	ck_assert(tui_shows(app, "T2 reads acct.balance = 100, not 150"));
	tui_close(app);
}
END_TEST

/* Runs that differ in the library's variables alone are folded, unless they fail. */
START_TEST(library_variables_are_folded_in_the_tree)
{
	struct app *app = open_bank(NULL);
	tui_keys(app, "X");
	tui_command(app, "exploration tests/screen/source/outcomes.tree");
	tui_keys(app, "-");
	tui_golden(app, "outcomes-runs");
	ck_assert(tui_shows(app, "2 more differ in the library's variables alone"));
	ck_assert(tui_shows(app, "deadlock"));
	tui_keys(app, "+");
	ck_assert(tui_shows(app, "8 runs as a tree"));
	ck_assert(!tui_shows(app, "alone"));
	tui_keys(app, "+ -");
	ck_assert(tui_shows(app, "5 outcomes"));
	tui_close(app);
}
END_TEST

/* The style of the first cell of a text on the screen; STYLE_COUNT: it is not there. */
static enum style style_of_text(struct app *app, const char *text)
{
	char *screen = tui_screen(app, false);
	char **rows = g_strsplit(screen, "\n", -1);
	enum style style = STYLE_COUNT;
	for (int r = 0; rows[r] && r < app->grid.rows && style == STYLE_COUNT; r++) {
		const char *at = strstr(rows[r], text);
		if (at)
			style = grid_at(&app->grid, r,
			                (int)g_utf8_strlen(rows[r], at - rows[r]))
			                ->style;
	}
	g_strfreev(rows);
	g_free(screen);
	return style;
}

/* "T1 worker" in the lanes, state, story, witness, source and exploration. */
static const struct {
	const char *keys, *text;
} roles[] = {
	{ "T", "T1 worker" },  { "w", "T1 worker" }, { "I", "T1 (worker)" },
	{ "", "T1 worker W" }, { "T", "T2 report" }, { "w", "T2 report" },
};

START_TEST(a_thread_has_its_role_and_colour_everywhere)
{
	struct app *app = open_bank(&(struct tui_options){ .rows = 40, .columns = 200 });
	tui_keys(app, roles[_i].keys);
	char *screen = tui_screen(app, false);
	ck_assert_msg(strstr(screen, roles[_i].text) != NULL, "%s", screen);
	g_free(screen);
	ck_assert_int_eq(style_of_text(app, roles[_i].text),
	                 roles[_i].text[1] == '1' ? STYLE_THREAD1 : STYLE_THREAD2);
	tui_close(app);
}
END_TEST

START_TEST(a_thread_has_its_colour_in_the_exploration)
{
	struct app *app = open_bank(NULL);
	tui_keys(app, "X");
	tui_command(app, "exploration tests/screen/source/outcomes.tree");
	ck_assert_int_eq(style_of_text(app, "T2 report(2)"), STYLE_THREAD2);
	ck_assert_int_eq(style_of_text(app, "T1 reads acct"), STYLE_THREAD1);
	ck_assert_int_eq(style_of_text(app, "T2 reads audit"), STYLE_THREAD2);
	tui_keys(app, "-");
	ck_assert_int_eq(style_of_text(app, "T2 reads audit"), STYLE_THREAD2);
	tui_close(app);
}
END_TEST

START_TEST(a_chain_is_exported_as_a_graph)
{
	struct app *app = open_bank(NULL);
	ck_assert_ptr_null(exported(app, ".svg"));
	ck_assert_str_eq(app->message, "there is no graph to draw here; ask from the order "
	                               "view, or for an atomic-set violation");
	tui_keys(app, "o");
	char *svg = exported(app, ".svg"), *dot = exported(app, ".dot");
	ck_assert(svg && g_str_has_prefix(svg, "<svg") && strstr(svg, "12 T2 lock m"));
	ck_assert(dot && strstr(dot, "[label=\"lock m\""));
	g_free(svg);
	g_free(dot);
	tui_close(app);
}
END_TEST

/* Two levels of loops: `spin` calls `add` five times, and `add` counts to three. */
static char *loops(void)
{
	GString *text = g_string_new("#! heddle 1\nT1|enter(spin)|loop.c:1\n");
	for (int i = 0; i < 5; i++) {
		g_string_append(text, "T1|enter(add)|loop.c:9\n");
		for (int j = 0; j < 3; j++)
			g_string_append(text, "T1|r(n)|loop.c:4\nT1|w(n)|loop.c:5\n");
		g_string_append(text, "T1|leave(add)|loop.c:6\nT2|w(other)|loop.c:20\n");
	}
	g_string_append(text, "T1|leave(spin)|loop.c:11\n");
	return g_string_free(text, FALSE);
}

START_TEST(loops_fold)
{
	char *text = loops();
	struct app *app = tui_open(text, NULL);
	struct session *s = app->session;
	tui_keys(app, "T 5 G -"); /* the write of the second inner round */
	ck_assert_uint_eq(s->folds->len, 1);
	const struct fold *f = session_fold_at(s, 5);
	ck_assert(f && f->first == 5 && f->last == 6 && f->rounds == 1);
	ck_assert(tui_shows(app, "… 1 more round, 2 events to 6"));
	tui_keys(app, "-");
	ck_assert_uint_eq(s->folds->len, 0);
	tui_keys(app, "1 0 G -"); /* an entry: the outer loop */
	f = session_fold_at(s, 10);
	ck_assert(f && f->first == 10 && f->last == 35 && f->rounds == 3 && f->events == 24);
	tui_golden(app, "trace-folded");
	tui_keys(app, "5 G j j j j"); /* over the fold, to what is behind it */
	ck_assert_uint_eq(s->event, 9);
	tui_keys(app, "j j"); /* the other thread's events between stay */
	ck_assert_uint_eq(s->event, 18);
	tui_keys(app, "g -"); /* the function itself comes but once */
	ck_assert_str_eq(app->message, "no loop has three rounds here");
	tui_keys(app, "A");
	ck_assert_uint_eq(s->folds->len, 0);
	tui_close(app);
	g_free(text);
}
END_TEST

START_TEST(control_bytes_are_shown_as_escapes)
{
	struct app *app =
	        tui_open("T1|w(a\x1b[31]b)|f\x07.c:1\nT2|w(a\x1b[31]b)|f\x07.c:2\n", NULL);
	struct finding *all[] = { race(0, 1, 0, VERDICT_CANDIDATE) };
	give(app, all, 1, ANALYSIS_HB);
	tui_golden(app, "control-bytes");
	for (int i = 0; i < app->grid.rows * app->grid.columns; i++)
		ck_assert(app->grid.cells[i].rune == 0 || app->grid.cells[i].rune >= ' ');
	tui_close(app);
}
END_TEST

static struct app *open_cycle(void)
{
	struct app *app = tui_open(
	        "#! atomic-set S checking savings\n"
	        "T1|ubeg(transfer,S)|b.c:1\nT1|w(checking)=1|b.c:2\n"
	        "T2|ubeg(audit,S)|b.c:5\nT2|r(checking)=1|b.c:6\nT2|r(savings)=0|b.c:7\n"
	        "T2|uend(audit)|b.c:8\nT1|w(savings)=1|b.c:3\nT1|uend(transfer)|b.c:4\n",
	        NULL);
	struct finding *f = finding_new(FINDING_ATOMIC_SET_VIOLATION, 1, 6);
	f->verdict = VERDICT_HAPPENED;
	f->count = 1;
	f->sets = g_ptr_array_new_with_free_func(g_free);
	g_ptr_array_add(f->sets, g_strdup("S"));
	f->units = g_array_new(FALSE, FALSE, sizeof(struct cycle_unit));
	struct cycle_unit units[] = { { g_strdup("transfer"), 0, 0, 7 },
		                      { g_strdup("audit"), 1, 2, 5 } };
	g_array_append_vals(f->units, units, 2);
	f->edges = g_array_new(FALSE, FALSE, sizeof(struct cycle_edge));
	uint32_t checking = session_find_variable(app->session, "checking");
	uint32_t savings = session_find_variable(app->session, "savings");
	struct cycle_edge edges[] = { { 0, 1, checking, { 1, 3 }, 0 },
		                      { 1, 0, savings, { 4, 6 }, 0 } };
	g_array_append_vals(f->edges, edges, 2);
	struct finding *all[] = { f };
	give(app, all, 1, ANALYSIS_COUNT);
	return app;
}

/* Two parties of 6 book the last 10 seats: the second one decided on what was old. */
START_TEST(decisions_by_thread)
{
	struct app *app = tui_open(
	        "#! atomic-set hall free_seats takings\n"
	        "T1|ubeg(book,hall)|s.c:1\nT1|r(free_seats)=10|s.c:2\nT2|ubeg(book,hall)|s.c:1\n"
	        "T2|r(free_seats)=10|s.c:2\nT2|r(free_seats)=10|s.c:3\nT1|r(free_seats)=10|s.c:3\n"
	        "T1|w(free_seats)=4|s.c:3\nT1|r(takings)=0|s.c:4\nT1|w(takings)=42|s.c:4\n"
	        "T1|uend(book)|s.c:5\nT2|r(free_seats)=4|s.c:3\nT2|w(free_seats)=0|s.c:3\n"
	        "T2|r(takings)=42|s.c:4\nT2|w(takings)=84|s.c:4\nT2|uend(book)|s.c:5\n",
	        &(struct tui_options){ .analyse = true });
	tui_keys(app, "C");
	tui_golden(app, "graph-decisions");
	ck_assert(tui_shows(app, "it had read 10, which is old ▸ free_seats 4 → 0"));
	ck_assert(!tui_shows(app, "▸ free_seats 10 → 4"));
	tui_close(app);
}
END_TEST

START_TEST(conflict_graph)
{
	struct app *app = open_cycle();
	tui_keys(app, "C");
	tui_golden(app, "graph");
	tui_keys(app, "Tab Enter");
	ck_assert_int_eq(app_view(app), VIEW_TRACE);
	ck_assert_int_eq(app->session->event, 4);
	tui_keys(app, "=");
	ck_assert_int_eq(app->session->event, 6);
	tui_close(app);
}
END_TEST

/* Large text on a wall: one thing at a time, a blank row below each line. */
START_TEST(on_a_projector)
{
	static const struct {
		const char *name, *keys;
		struct tui_options options;
	} walls[] = {
		{ "projector-findings", "v", { 0 } },
		{ "projector-trace", "T", { 0 } },
		{ "projector-source", "s", { 0 } },
		{ "projector-witness", "w", { 0 } },
		{ "projector-story", "I", { 0 } },
		{ "projector-ascii", "w", { .ascii = true } },
		{ "projector-small", "w", { .rows = 15, .columns = 60 } },
		{ "projector-wide", "T", { .rows = 40, .columns = 150 } },
	};
	const char *name = walls[_i].name;
	struct app *app = open_bank(&walls[_i].options);
	tui_command(app, "set projector on");
	tui_keys(app, walls[_i].keys);
	tui_golden(app, name);
	char *screen = tui_screen(app, false);
	ck_assert(walls[_i].options.ascii == false || g_str_is_ascii(screen));
	g_free(screen);
	if (_i == 0) { /* a click finds the line that it is on; there is no bar of views */
		app_mouse(app, 4, 10, MOUSE_CLICKED);
		ck_assert_int_eq(session_selected(app->session)->finding->first, WRITE);
		app_mouse(app, 6, 10, MOUSE_CLICKED);
		ck_assert_int_eq(session_selected(app->session)->finding->first, 5);
		app_mouse(app, 1, 13, MOUSE_CLICKED);
		ck_assert_int_eq(app_view(app), VIEW_FINDINGS);
	}
	tui_command(app, "set projector off");
	tui_keys(app, "q q q");
	tui_close(app);
}
END_TEST

/* The column of the border that stands in this row, right of `from`; or -1. */
static int border_column(struct app *app, int row, int from)
{
	app_draw(app);
	for (int c = from; c < app->grid.columns; c++)
		if (grid_at(&app->grid, row, c)->rune == 0x2502)
			return c;
	return -1;
}

static void drag(struct app *app, int row, int column, int to_row, int to_column)
{
	app_draw(app);
	app_mouse(app, row, column, MOUSE_PRESSED);
	app_mouse(app, (row + to_row) / 2, (column + to_column) / 2, MOUSE_MOVED);
	app_mouse(app, to_row, to_column, MOUSE_RELEASED);
	app_draw(app);
}

/* Upright borders: the witness, the sources of a pair, the trace's state, the source beside. */
START_TEST(borders_are_dragged)
{
	struct app *app = open_bank(&(struct tui_options){ .rows = 40, .columns = 150 });
	static const struct {
		const char *keys;
		int row, from;
	} borders[] = { { "w", 8, 30 }, { "q s", 8, 30 }, { "q T", 8, 70 } };
	for (size_t i = 0; i < G_N_ELEMENTS(borders); i++) {
		tui_keys(app, borders[i].keys);
		int row = borders[i].row, was = border_column(app, row, borders[i].from);
		ck_assert_int_ge(was, 0);
		uint32_t event = app->session->event;
		drag(app, row, was, row + 3, was - 7);
		ck_assert_int_eq(border_column(app, row, was - 8), was - 7);
		ck_assert_uint_eq(app->session->event, event); /* it selects nothing */
		app_mouse(app, row, was - 9, MOUSE_MOVED);     /* the button is up */
		ck_assert_int_eq(border_column(app, row, was - 8), was - 7);
	}
	/* the source beside the trace, and beside the witness as well */
	int beside = border_column(app, 8, 90);
	drag(app, 8, beside, 8, beside + 6);
	ck_assert_int_eq(border_column(app, 8, beside), beside + 6);
	tui_keys(app, "q w");
	ck_assert_int_eq(border_column(app, 8, beside), beside + 6);
	/* a smaller screen keeps the proportion, a click puts it back */
	app_resize(app, 40, 130);
	ck_assert_int_eq(border_column(app, 8, beside - 20), (beside + 6) * 130 / 150);
	app_resize(app, 40, 150);
	drag(app, 8, beside + 6, 8, beside + 6);
	ck_assert_int_eq(border_column(app, 8, beside - 1), beside);
	/* as far as it goes: both parts stay */
	drag(app, 8, beside, 8, 0);
	ck_assert_int_ge(border_column(app, 8, 50), 60);
	tui_close(app);
}
END_TEST

/* The rule between the list and the sources. */
START_TEST(a_level_border_is_dragged)
{
	struct app *app = open_bank(NULL);
	tui_keys(app, "v");
	app_draw(app);
	int rule = 4;
	while (rule < 20 && grid_at(&app->grid, rule, 0)->rune != 0x2500)
		rule++;
	drag(app, rule, 20, rule - 2, 25);
	ck_assert_uint_eq(grid_at(&app->grid, rule - 2, 0)->rune, 0x2500);
	ck_assert_uint_ne(grid_at(&app->grid, rule, 0)->rune, 0x2500);
	/* clicks still find the lines of the list, and the footer is no border */
	app_mouse(app, 5, 10, MOUSE_PRESSED);
	ck_assert_int_eq(session_selected(app->session)->finding->first, 5);
	drag(app, rule - 2, 20, 23, 20);
	ck_assert(tui_shows(app, "witness"));
	tui_close(app);
}
END_TEST

/* Not of data races alone: a use after free whose threads took turns ten times before it. */
START_TEST(any_witness_has_few_switches)
{
	GString *text = g_string_new("main|alloc(p,8)|m.c:1\nmain|fork(T1)|m.c:2\n"
	                             "main|fork(T2)|m.c:3\nmain|fork(T3)|m.c:4\n");
	for (int i = 0; i < 10; i++)
		g_string_append(text, "T1|w(a)=1|m.c:5\nT2|acq(m)|m.c:6\nT2|w(b)=1|m.c:7\n"
		                      "T2|rel(m)|m.c:8\n");
	g_string_append(text, "T3|w(p.x)=1|m.c:9\nmain|join(T1)|m.c:10\n"
	                      "main|join(T2)|m.c:11\nmain|free(p)|m.c:12\n");
	struct app *app = tui_open(text->str, &(struct tui_options){ .analyse = true });
	const struct finding *f = session_finding(app->session);
	ck_assert(f != NULL && f->kind == FINDING_USE_AFTER_FREE && f->witness != NULL);
	tui_keys(app, "w");
	ck_assert(tui_shows(app, "✓ checked"));
	uint32_t n = 0;
	for (guint i = 1; i < f->witness->len; i++)
		n += app_trace(app)->events[g_array_index(f->witness, uint32_t, i)].thread !=
		     app_trace(app)->events[g_array_index(f->witness, uint32_t, i - 1)].thread;
	ck_assert_uint_le(n, 4);
	tui_close(app);
	g_string_free(text, TRUE);
}
END_TEST

/* The pair was recorded one after the other; the witness has audit in between. */
START_TEST(predicted_cycle)
{
	struct app *app = tui_open(
	        "#! atomic-set S checking savings\n"
	        "T1|ubeg(transfer,S)|b.c:1\nT1|w(checking)=1|b.c:2\nT1|w(savings)=1|b.c:3\n"
	        "T1|uend(transfer)|b.c:4\n"
	        "T2|ubeg(reset,S)|b.c:5\nT2|w(checking)=0|b.c:6\nT2|w(savings)=0|b.c:7\n"
	        "T2|uend(reset)|b.c:8\n",
	        NULL);
	struct atomic_options options = { .predict = true,
		                          .budget_pair = 5,
		                          .budget_total = 5 };
	struct atomic_model *m = atomic_model_declared(app->session->trace);
	session_add_report(app->session, atomic_find(app->session->trace, m, &options, NULL),
	                   ANALYSIS_COUNT, true);
	atomic_model_free(m);
	app_refresh(app);
	tui_keys(app, "C");
	tui_golden(app, "graph-predicted");
	tui_keys(app, "w");
	ck_assert_int_eq(app_view(app), VIEW_WITNESS);
	ck_assert(session_finding(app->session)->witness != NULL);
	tui_golden(app, "witness-atomic");
	tui_close(app);
}
END_TEST

/* What `w` finds out about one pair of accesses says nothing of the other pairs of its places.
 */
START_TEST(a_proof_of_one_pair_leaves_the_places_open)
{
	struct app *app =
	        tui_open("T1|w(x)|a.c:1\nT2|w(x)|b.c:1\nT1|w(x)|a.c:1\nT2|w(x)|b.c:1\n", NULL);
	uint32_t x = session_find_variable(app->session, "x");
	struct finding *places = race(0, 1, x, VERDICT_CANDIDATE);
	places->count = 4;
	give(app, &places, 1, ANALYSIS_HB);
	struct report *pair = report_new(app->session->trace, "pair");
	struct finding *proved = race(0, 1, x, VERDICT_IMPOSSIBLE);
	report_add(pair, proved);
	session_settle(app->session, pair);
	struct entry *entry = session_selected(app->session);
	ck_assert(entry->finding->verdict == VERDICT_CANDIDATE);
	ck_assert(session_finding(app->session) == proved);
	struct finding *found = race(2, 3, x, VERDICT_RACE);
	give(app, &found, 1, ANALYSIS_AUTO);
	ck_assert(session_selected(app->session)->finding->verdict == VERDICT_RACE);
	tui_close(app);
}
END_TEST

/* What happened has no witness but the recording. */
START_TEST(cycle_without_witness)
{
	struct app *app = open_cycle();
	tui_keys(app, "C w");
	ck_assert_int_eq(app_view(app), VIEW_GRAPH);
	tui_close(app);
}
END_TEST

START_TEST(commutativity)
{
	struct app *app = tui_open("#! object o dict\nT1|act(o.put,\"a\",c1)=nil|c.c:18\n"
	                           "T2|act(o.put,\"a\",c2)=c1|c.c:18\n",
	                           NULL);
	struct finding *f = finding_new(FINDING_COMMUTATIVITY_RACE, 0, 1);
	f->verdict = VERDICT_CANDIDATE;
	f->methods[0] = g_strdup("put(\"a\", c1) / nil");
	f->methods[1] = g_strdup("put(\"a\", c2) / c1");
	f->condition = g_strdup("\"a\" != \"a\" || (nil == c1 && c1 == c2)");
	f->points[0] = g_strdup("o:w:\"a\"");
	f->points[1] = g_strdup("o:w:\"a\"");
	struct finding *all[] = { f };
	give(app, all, 1, ANALYSIS_COUNT);
	tui_keys(app, "Y");
	tui_golden(app, "commute");
	tui_close(app);
}
END_TEST

/* -- keys --------------------------------------------------------------------------- */

START_TEST(no_key_means_two_things)
{
	for (int v = 0; v < VIEW_COUNT; v++) {
		for (int a = 1; a < REQUEST_COUNT; a++) {
			for (int b = a + 1; b < REQUEST_COUNT; b++) {
				const struct request_info *x = &request_table[a],
				                          *y = &request_table[b];
				/* a view may give a key of all views its own meaning */
				if (!(x->views & y->views & 1u << v) ||
				    (x->views == ANYWHERE) != (y->views == ANYWHERE))
					continue;
				char **keys = g_strsplit(x->keys, " ", -1),
				     **others = g_strsplit(y->keys, " ", -1);
				for (char **k = keys; *k; k++)
					ck_assert_msg(!g_strv_contains(
					                      (const char *const *)others, *k),
					              "%s is %s and %s", *k, x->word, y->word);
				g_strfreev(keys);
				g_strfreev(others);
			}
		}
	}
}
END_TEST

START_TEST(every_key_of_the_table_is_a_key)
{
	struct bindings b;
	bindings_init(&b);
	for (int r = 1; r < REQUEST_COUNT; r++) {
		char **keys = g_strsplit(request_table[r].keys, " ", -1);
		for (char **k = keys; *k; k++) {
			char name[16];
			int key = key_from_name(*k);
			ck_assert_msg(key != KEYCODE_NONE, "%s of %s", *k,
			              request_table[r].word);
			ck_assert_str_eq(key_word(key, name), *k);
		}
		g_strfreev(keys);
	}
	bindings_release(&b);
}
END_TEST

START_TEST(q_and_escape_never_trap)
{
	struct app *app = open_bank(NULL);
	static const char *const ways[] = { "w", "o", "s", "T",          "S",
		                            "C", "Y", "?", "w o s T S ?" };
	for (size_t i = 0; i < G_N_ELEMENTS(ways); i++) {
		tui_keys(app, ways[i]);
		for (int n = 0; n < 10 && app_view(app) != VIEW_FINDINGS; n++)
			tui_keys(app, i % 2 ? "q" : "Esc");
		ck_assert_int_eq(app_view(app), VIEW_FINDINGS);
		ck_assert(!app->quit);
	}
	tui_keys(app, "Esc");
	ck_assert(!app->quit);
	tui_keys(app, "q");
	ck_assert(app->quit);
	tui_close(app);
}
END_TEST

START_TEST(half_pages)
{
	struct app *app = open_bank(NULL);
	tui_keys(app, "T g C-d");
	uint32_t half = app->session->event;
	ck_assert_uint_gt(half, 1);
	tui_keys(app, "C-u");
	ck_assert_uint_eq(app->session->event, 0);
	tui_keys(app, "C-f");
	ck_assert_uint_gt(app->session->event, half);
	tui_keys(app, "? C-d C-u"); /* a list */
	ck_assert_int_eq(app_view(app), VIEW_HELP);
	tui_close(app);
}
END_TEST

START_TEST(backspace_goes_back_through_places)
{
	struct app *app = open_bank(NULL);
	tui_keys(app, "w T ] o");
	ck_assert_int_eq(app_view(app), VIEW_ORDER);
	tui_keys(app, "Backspace");
	ck_assert_int_eq(app_view(app), VIEW_TRACE);
	ck_assert_int_eq(app->session->event, READ);
	tui_keys(app, "Backspace Backspace");
	ck_assert_int_eq(app_view(app), VIEW_WITNESS);
	tui_keys(app, "Backspace");
	ck_assert_int_eq(app_view(app), VIEW_FINDINGS);
	tui_keys(app, "Backspace");
	ck_assert_int_eq(app_view(app), VIEW_FINDINGS);
	tui_close(app);
}
END_TEST

START_TEST(too_small_swallows_keys_and_growing_restores)
{
	struct app *app = open_bank(NULL);
	tui_keys(app, "w");
	char *before = tui_screen(app, true);
	app_resize(app, 14, 59);
	tui_keys(app, "j T Esc ? :");
	ck_assert(tui_shows(app, "too small"));
	app_resize(app, 24, 80);
	char *after = tui_screen(app, true);
	ck_assert_str_eq(before, after);
	app_resize(app, 5, 20);
	tui_keys(app, "q");
	ck_assert(app->quit);
	g_free(before);
	g_free(after);
	tui_close(app);
}
END_TEST

/* Steps from an event in the trace view. */
static const struct {
	const char *keys;
	uint32_t from, to;
} moves[] = {
	{ "j", 7, 8 },      { "k", 7, 6 },      { "1 0 n", 0, 10 }, { "1 0 0 n", 0, 18 },
	{ "9 9 k", 5, 0 },  { "N", 10, 10 },    { "N", 8, 9 },      { "B", 8, 7 },
	{ "2 N", 5, 7 },    { "}", 4, 11 },     { "{", 13, 10 },    { "2 }", 1, 11 },
	{ "[", 15, 7 },     { "]", 7, 15 },     { "v", 6, 7 },      { "^", 15, 7 },
	{ "m", 4, 8 },      { "m", 5, 8 },      { "2 m", 4, 12 },   { "M", 12, 8 },
	{ "%", 4, 8 },      { "%", 8, 4 },      { "%", 2, 10 },     { ")", 4, 5 },
	{ ") )", 5, 8 },    { "(", 8, 7 },      { "=", 7, 15 },     { "=", 15, 7 },
	{ "g", 7, 0 },      { "G", 7, 18 },     { "5 G", 7, 5 },    { "Tab", 7, 15 },
	{ "[", 6, 6 },      { "]", 15, 15 },    { "PgDn", 0, 13 },  { "PgUp", 18, 5 },
	{ "Right", 4, 11 }, { "Left", 13, 10 },
};

START_TEST(stepping)
{
	struct app *app = open_bank(NULL);
	tui_keys(app, "T");
	app_goto(app, moves[_i].from, false);
	tui_keys(app, moves[_i].keys);
	ck_assert_msg(app->session->event == moves[_i].to, "%s from %u: expected %u, found %u",
	              moves[_i].keys, moves[_i].from, moves[_i].to, app->session->event);
	tui_close(app);
}
END_TEST

START_TEST(search_by_names)
{
	struct app *app = open_bank(NULL);
	static const struct {
		const char *what;
		uint32_t to;
	} finds[] = { { "AUDIT", 5 },
		      { "balance", 6 },
		      { "bank.c:26", 15 },
		      { "report", 11 },
		      { "T2", 1 } };
	for (size_t i = 0; i < G_N_ELEMENTS(finds); i++) {
		tui_keys(app, "T");
		app_goto(app, 0, false);
		tui_keys(app, "/");
		tui_type(app, finds[i].what);
		tui_keys(app, "Enter");
		ck_assert_msg(app->session->event == finds[i].to, "%s: expected %u, found %u",
		              finds[i].what, finds[i].to, app->session->event);
	}
	tui_keys(app, "/");
	tui_type(app, "audit");
	tui_keys(app, "Enter ;");
	ck_assert_int_eq(app->session->event, 13);
	tui_keys(app, ",");
	ck_assert_int_eq(app->session->event, 5);
	tui_close(app);
}
END_TEST

START_TEST(filter_of_findings)
{
	struct app *app = open_bank(NULL);
	tui_keys(app, "/");
	tui_type(app, "audit");
	tui_keys(app, "Enter");
	ck_assert(tui_shows(app, "filter: audit"));
	ck_assert(!tui_shows(app, "acct.balance     "));
	tui_keys(app, "/ Enter");
	ck_assert(!tui_shows(app, "filter:"));
	tui_close(app);
}
END_TEST

START_TEST(witness_view_asks_the_checker)
{
	struct app *app = open_bank(NULL);
	tui_keys(app, "w");
	ck_assert(tui_shows(app, "✓ checked"));
	tui_keys(app, "v");
	ck_assert(tui_shows(app, "the independent checker accepts this"));
	tui_close(app);
	/* A finding with a sequence that is none: the screen must not say checked. */
	static const uint32_t wrong[] = { 0, 1, 11, 12, 13, WRITE, READ };
	app = tui_open(bank, NULL);
	struct finding *all[] = { with_witness(race(WRITE, READ, 1, VERDICT_RACE), wrong,
		                               G_N_ELEMENTS(wrong)) };
	give(app, all, 1, ANALYSIS_AUTO);
	tui_keys(app, "w");
	ck_assert(!tui_shows(app, "✓ checked"));
	tui_close(app);
}
END_TEST

START_TEST(being_the_scheduler)
{
	struct app *app = open_bank(NULL);
	tui_keys(app, "w g n p");
	ck_assert(tui_shows(app, "your schedule:"));
	tui_keys(app, "u u u u u u u u u u u u u");
	ck_assert(tui_shows(app, "your schedule: 0 events"));
	/* Only main can begin. */
	tui_keys(app, "j Enter");
	ck_assert(tui_shows(app, "not now"));
	tui_keys(app, "k Enter Enter");
	ck_assert(tui_shows(app, "your schedule: 2 events"));
	/* T2 to its read, then T1 to its write. */
	tui_keys(app, "j j Enter Enter Enter Enter k Enter Enter Enter Enter Enter");
	ck_assert(tui_shows(app, "your schedule is a witness"));
	tui_keys(app, "v");
	ck_assert(tui_shows(app, "✓ checked"));
	tui_keys(app, "q");
	ck_assert_int_eq(app_view(app), VIEW_FINDINGS);
	tui_close(app);
}
END_TEST

START_TEST(mouse)
{
	struct app *app = open_bank(NULL);
	tui_keys(app, "v");
	app_draw(app);
	app_mouse(app, 5, 10, 1);
	ck_assert_int_eq(session_selected(app->session)->finding->first, 5);
	app_mouse(app, 10, 10, 4);
	ck_assert_int_eq(session_selected(app->session)->finding->first, WRITE);
	tui_keys(app, "T");
	app_draw(app);
	app_mouse(app, 5, 10, 1);
	ck_assert_int_eq(app->session->event, 0);
	app_mouse(app, 4, 10, 5);
	ck_assert_int_eq(app->session->event, 3);
	app_mouse(app, 0, 0, 1);
	app_mouse(app, 23, 79, 1);
	ck_assert_int_eq(app->session->event, 3);
	tui_close(app);
}
END_TEST

START_TEST(bookmarks_and_watches)
{
	struct app *app = open_bank(NULL);
	g_free(app->session->notes_path);
	app->session->notes_path =
	        g_strdup_printf("%s/heddle-notes-%d", g_get_tmp_dir(), (int)getpid());
	tui_keys(app, "T 5 G * 1 2 G *");
	tui_keys(app, "g '");
	ck_assert_int_eq(app->session->event, 5);
	tui_keys(app, "'");
	ck_assert_int_eq(app->session->event, 12);
	tui_keys(app, "'");
	ck_assert_int_eq(app->session->event, 5);
	tui_keys(app, "* '");
	ck_assert_int_eq(app->session->event, 12);
	tui_command(app, "display acct.balance");
	ck_assert_int_eq(app->session->watches->len, 1);
	tui_command(app, "undisplay acct.balance");
	ck_assert_int_eq(app->session->watches->len, 0);
	remove(app->session->notes_path);
	tui_close(app);
}
END_TEST

START_TEST(marks_survive_and_unknown_ones_are_kept)
{
	char *path = g_strdup_printf("%s/heddle-marks-%d", g_get_tmp_dir(), (int)getpid());
	const char *other =
	        "{\"heddle-notes\": 1, \"findings\": [{\"finding\": \"data-race|a|b|\", "
	        "\"mark\": \"fixed\"}], \"bookmarks\": []}";
	ck_assert(g_file_set_contents(path, other, -1, NULL));
	struct app *app = open_bank(NULL);
	g_free(app->session->notes_path);
	app->session->notes_path = g_strdup(path);
	tui_keys(app, "t t");
	tui_command(app, "note it is \"benign\"");
	app_free(app);

	app = open_bank(NULL);
	g_free(app->session->notes_path);
	app->session->notes_path = g_strdup(path);
	struct error error;
	ck_assert(session_load_notes(app->session, &error));
	struct entry *entry = session_selected(app->session);
	ck_assert_int_eq(entry->triage, TRIAGE_BENIGN);
	ck_assert_str_eq(entry->note, "it is \"benign\"");
	char *text;
	ck_assert(g_file_get_contents(path, &text, NULL, NULL));
	ck_assert(strstr(text, "data-race|a|b|") != NULL);
	g_free(text);
	ck_assert(g_file_set_contents(path, "{ broken", -1, NULL));
	ck_assert(!session_load_notes(app->session, &error));
	remove(path);
	app_free(app);
	g_free(path);
}
END_TEST

/* Figure 3 of the paper on commutativity races: points with their clocks, before the joins. */
START_TEST(access_points)
{
	struct app *app =
	        tui_open("#! object o dict\nmain|fork(T1)|c.c:1\nmain|fork(T2)|c.c:1\n"
	                 "T1|act(o.put,\"a.com\",c1)=nil|c.c:18\n"
	                 "T2|act(o.put,\"a.com\",c2)=c1|c.c:18\n"
	                 "T2|act(o.put,\"b.com\",c2)=nil|c.c:19\n",
	                 NULL);
	struct error error;
	if (app->session->specs == NULL)
		app->session->specs = specs_open(NULL, &error);
	app->session->model = model_new(app->session->trace, app->session->specs, NULL, &error);
	ck_assert_ptr_nonnull(app->session->model);
	app_goto(app, 3, false);
	tui_keys(app, "S");
	tui_golden(app, "state-points");
	tui_close(app);
}
END_TEST

Suite *views_suite(void);
Suite *views_suite(void)
{
	Suite *suite = suite_create("views");
	TCase *golden = tcase_create("golden");
	tcase_add_loop_test(golden, words_of_the_analyses_are_one_key_away, 0,
	                    G_N_ELEMENTS(pictures));
	tcase_add_loop_test(golden, picture, 0, G_N_ELEMENTS(pictures));
	tcase_add_loop_test(golden, answer, 0, G_N_ELEMENTS(answers));
	tcase_add_test(golden, text_is_laid_out_anew_when_the_screen_changes);
	tcase_add_test(golden, a_chain_is_exported_as_a_graph);
	tcase_add_test(golden, exploration);
	tcase_add_test(golden, exploration_by_outcome);
	tcase_add_loop_test(golden, a_thread_has_its_role_and_colour_everywhere, 0,
	                    G_N_ELEMENTS(roles));
	tcase_add_test(golden, a_thread_has_its_colour_in_the_exploration);
	tcase_add_test(golden, library_variables_are_folded_in_the_tree);
	tcase_add_test(golden, loops_fold);
	tcase_add_test(golden, control_bytes_are_shown_as_escapes);
	tcase_add_test(golden, conflict_graph);
	tcase_add_test(golden, decisions_by_thread);
	tcase_add_test(golden, predicted_cycle);
	tcase_add_test(golden, cycle_without_witness);
	tcase_add_test(golden, commutativity);
	tcase_add_test(golden, access_points);
	suite_add_tcase(suite, golden);
	TCase *keys = tcase_create("keys");
	tcase_add_test(keys, no_key_means_two_things);
	tcase_add_test(keys, every_key_of_the_table_is_a_key);
	tcase_add_test(keys, q_and_escape_never_trap);
	tcase_add_test(keys, half_pages);
	tcase_add_test(keys, backspace_goes_back_through_places);
	tcase_add_test(keys, too_small_swallows_keys_and_growing_restores);
	tcase_add_loop_test(keys, stepping, 0, G_N_ELEMENTS(moves));
	tcase_add_test(keys, search_by_names);
	tcase_add_test(keys, filter_of_findings);
	tcase_add_test(keys, witness_view_asks_the_checker);
	tcase_add_test(keys, being_the_scheduler);
	tcase_add_loop_test(golden, on_a_projector, 0, 8);
	tcase_add_test(keys, any_witness_has_few_switches);
	tcase_add_test(keys, borders_are_dragged);
	tcase_add_test(keys, a_level_border_is_dragged);
	tcase_add_test(keys, mouse);
	tcase_add_test(keys, a_proof_of_one_pair_leaves_the_places_open);
	tcase_add_test(keys, bookmarks_and_watches);
	tcase_add_test(keys, marks_survive_and_unknown_ones_are_kept);
	suite_add_tcase(suite, keys);
	return suite;
}

int main(void)
{
	return tui_run(views_suite());
}
