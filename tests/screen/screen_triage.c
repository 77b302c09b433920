/*
 * screen_triage.c - from a report of another tool to what one makes of it: where its races are
 * in the trace, filters, two findings held against each other, a witness by its turns.  The
 * findings are the analyses' own.
 */
#include "tests/support/tui.h"
#include "tui/explorer/tool_reports.h"

#include <check.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

/* Two threads that share three variables; one pair each is protected by m. */
static const char shared[] = "#! heddle 1\n"
                             "main|fork(T1)|s.c:1\n"
                             "main|fork(T2)|s.c:2\n"
                             "T1|enter(deposit)|s.c:9\n"
                             "T1|w(total)=1|s.c:10\n"
                             "T1|acq(m)|s.c:11\n"
                             "T1|w(audit)=1|s.c:12\n"
                             "T1|rel(m)|s.c:13\n"
                             "T1|w(hits)=1|s.c:14\n"
                             "T1|leave(deposit)|s.c:15\n"
                             "T2|enter(report)|s.c:19\n"
                             "T2|r(total)=1|s.c:20\n"
                             "T2|acq(m)|s.c:21\n"
                             "T2|r(audit)=1|s.c:22\n"
                             "T2|rel(m)|s.c:23\n"
                             "T2|w(hits)=2|s.c:24\n"
                             "T2|leave(report)|s.c:25\n";

static const char report[] =
        "==================\nWARNING: ThreadSanitizer: data race (pid=1)\n"
        "  Write of size 4 at 0x10 by thread T2:\n    #0 report /x/s.c:24 (s+0x1)\n\n"
        "  Previous write of size 4 at 0x10 by thread T1:\n    #0 deposit /x/s.c:14 (s+0x2)\n"
        "\nSUMMARY: ThreadSanitizer: data race /x/s.c:24 in report\n==================\n"
        "==================\nWARNING: ThreadSanitizer: data race (pid=1)\n"
        "  Read of size 4 at 0x20 by thread T2:\n    #0 gone /x/other.c:5 (s+0x3)\n\n"
        "  Previous write of size 4 at 0x20 by thread T1:\n    #0 gone /x/other.c:9 (s+0x4)\n"
        "\nSUMMARY: ThreadSanitizer: data race /x/other.c:5 in gone\n==================\n";

static void load_report(struct app *app)
{
	char *path = g_strdup_printf("%s/heddle-triage-%d", g_get_tmp_dir(), (int)getpid());
	struct error error;
	ck_assert(g_file_set_contents(path, report, -1, NULL));
	GArray *races = tool_report_read(path, &error);
	ck_assert(races != NULL);
	app->session->reported = tool_report_locate(app->session->trace, races);
	tool_report_free(races);
	g_remove(path);
	g_free(path);
}

static struct app *open_shared(bool reported)
{
	struct app *app = tui_open(shared, &(struct tui_options){ .analyse = true });
	if (reported)
		load_report(app);
	return app;
}

static void filter(struct app *app, const char *words)
{
	tui_keys(app, "/");
	tui_type(app, words);
	tui_keys(app, "Enter");
}

/* How the run failed is the first line, then what can happen. */
START_TEST(the_crash_comes_first)
{
	char *text = g_strconcat(shared,
	                         "#! note recording-crash T1 0x0 s.c:14\n"
	                         "#! note recording-end signal 11\n",
	                         NULL);
	struct app *app = tui_open(text, &(struct tui_options){ .analyse = true });
	char *screen = tui_screen(app, false);
	const char *crash = strstr(screen, "crash"), *race = strstr(screen, "data race");

	ck_assert(crash != NULL && race != NULL);
	ck_assert_msg(crash < race, "%s", screen);
	g_free(screen);
	g_free(text);
	tui_close(app);
}
END_TEST

/* Who ends a server does so by SIGTERM: that is an end, and no crash. A finding about one event
 * has no order and no second side. */
START_TEST(ended_from_outside)
{
	char *text = g_strconcat(shared, "#! note recording-end signal 15\n", NULL);
	struct app *app = tui_open(text, &(struct tui_options){ .analyse = true });
	ck_assert(tui_shows(app, "The run was ended by signal 15 (Terminated)"));
	char *screen = tui_screen(app, false);
	const char *end = strstr(screen, " exit "), *race = strstr(screen, "data race");
	ck_assert_msg(end && race && end < race && !strstr(screen, "crash"), "%s", screen);
	g_free(screen);
	tui_keys(app, "g w");
	ck_assert(tui_shows(app, "15 T2 leave report") && !tui_shows(app, " and "));
	tui_keys(app, "q o");
	ck_assert(tui_shows(app, "about this event alone"));
	ck_assert(!tui_shows(app, "are ordered by"));
	g_free(text);
	tui_close(app);
}
END_TEST

/* Two threads of one role and one of another: each variable at two pairs of lines. */
static const char many[] = "#! heddle 1\n"
                           "main|fork(T1)|s.c:40\nmain|fork(T2)|s.c:41\nmain|fork(T3)|s.c:42\n"
                           "T1|enter(deposit)|s.c:9\n"
                           "T1|w(total)=1|s.c:10\n"
                           "T1|w(hits)=1|s.c:14\n"
                           "T1|leave(deposit)|s.c:15\n"
                           "T2|enter(report)|s.c:19\n"
                           "T2|r(total)=1|s.c:20\n"
                           "T2|r(hits)=1|s.c:24\n"
                           "T2|leave(report)|s.c:25\n"
                           "T3|enter(deposit)|s.c:9\n"
                           "T3|w(total)=2|s.c:10\n"
                           "T3|w(hits)=2|s.c:14\n"
                           "T3|leave(deposit)|s.c:15\n";

static guint marked(const struct app *app)
{
	guint count = 0;
	for (guint i = 0; i < app->session->entries->len; i++) {
		const struct entry *e = app->session->entries->pdata[i];
		count += e->triage != TRIAGE_NONE;
	}
	return count;
}

START_TEST(folders_of_findings)
{
	struct app *app = tui_open(many, &(struct tui_options){ .analyse = true });
	guint all = app->session->entries->len;
	tui_keys(app, "b");
	ck_assert_str_eq(app->message, "2 folders by variable: - opens and closes one, marks "
	                               "are for all in it");
	tui_golden(app, "folders");
	ck_assert(tui_shows(app, "▸[+] total  2 findings: ✓ 2"));
	ck_assert(!tui_shows(app, "✓ race")); /* they are closed */
	tui_keys(app, "-");
	tui_golden(app, "folders-open");
	tui_keys(app, "j j -"); /* from a finding its folder is closed, and selected */
	ck_assert(tui_shows(app, "▸[+] total"));
	tui_keys(app, "t"); /* marks all in it */
	ck_assert_uint_eq(marked(app), 2);
	ck_assert(tui_shows(app, "2 findings: ✓ 2  2 marked"));
	tui_keys(app, "j Enter");
	tui_command(app, "triage benign it is a statistic");
	ck_assert_uint_eq(marked(app), all);
	tui_keys(app, "b");
	ck_assert(tui_shows(app, "by function"));
	ck_assert(tui_shows(app, "[+] deposit and report"));
	tui_keys(app, "b");
	ck_assert(tui_shows(app, "by thread"));
	ck_assert(tui_shows(app, "[+] deposit  ")); /* of two threads with one role */
	tui_command(app, "group place");
	ck_assert(tui_shows(app, "[+] s.c:10  2 findings"));
	tui_command(app, "group outcome");
	ck_assert(tui_shows(app, "[+] data-race: can happen"));
	tui_command(app, "group none");
	ck_assert(!tui_shows(app, "[+]"));
	ck_assert(tui_shows(app, "✓ race"));
	tui_command(app, "group colour");
	ck_assert(app->message_is_error);
	tui_close(app);
}
END_TEST

/* A folder is picked as a whole, and filters narrow the folders, too. */
START_TEST(a_folder_is_picked_as_a_whole)
{
	struct app *app = tui_open(many, &(struct tui_options){ .analyse = true });
	tui_command(app, "group variable");
	tui_keys(app, "x"); /* and on to the next */
	tui_keys(app, "t");
	ck_assert_uint_eq(marked(app), 2);
	tui_keys(app, "Esc");
	filter(app, "hits");
	ck_assert(tui_shows(app, "[+] hits") && !tui_shows(app, "] total"));
	tui_keys(app, "Esc");
	ck_assert(tui_shows(app, "] total"));
	app_mouse(app, 4, 3, 1); /* a click opens what is selected */
	app_mouse(app, 4, 3, 2);
	ck_assert(tui_shows(app, "[-]"));
	tui_close(app);
}
END_TEST

/* What cannot happen is not in the way: a line says how much that is, and a key shows it. */
START_TEST(what_is_impossible_is_not_listed)
{
	struct app *app = open_shared(true);
	guint impossible = 0;

	for (guint i = 0; i < app->session->entries->len; i++) {
		const struct entry *entry = app->session->entries->pdata[i];
		impossible += entry->finding->verdict == VERDICT_IMPOSSIBLE;
	}
	ck_assert_uint_gt(impossible, 0);
	char *line = g_strdup_printf("✗ %u pair%s proved impossible %s not listed: v lists",
	                             impossible, impossible == 1 ? "" : "s",
	                             impossible == 1 ? "is" : "are");
	ck_assert_msg(tui_shows(app, line), "%s", line);
	ck_assert(!tui_shows(app, "✗ none"));
	tui_keys(app, "v");
	ck_assert(tui_shows(app, "✗ none"));
	ck_assert(!tui_shows(app, "not listed"));
	tui_keys(app, "v v");
	ck_assert(tui_shows(app, line));
	tui_command(app, "filter none"); /* a filter looks at all */
	ck_assert(tui_shows(app, "✗ none"));
	tui_command(app, "filter");
	ck_assert(tui_shows(app, line));
	g_free(line);
	tui_close(app);
}
END_TEST

/* Pairs that only racy reads keep apart may race once these are repaired: the line counts them.
 */
START_TEST(what_racy_reads_exclude_is_counted)
{
	static const char text[] = "T1|w(x)|a.c:1\nT1|w(y)|a.c:2\nT1|w(f)|a.c:3\n"
	                           "T2|r(f)|a.c:4\nT2|r(x)|a.c:5\n%s";
	static const struct {
		const char *rest, *line;
	} traces[] = {
		{ "", "✗ 1 pair proved impossible by a racy read is not listed: v lists it" },
		{ "T2|r(y)|a.c:6\n",
		  "✗ 2 pairs proved impossible, 2 by racy reads, not listed: v lists them" },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(traces); i++) {
		g_autofree char *trace = g_strdup_printf(text, traces[i].rest);
		struct app *app = tui_open(trace, &(struct tui_options){ .analyse = true });
		ck_assert_msg(tui_shows(app, traces[i].line), "%s", traces[i].line);
		tui_keys(app, "v j");
		ck_assert(tui_shows(app, "itself racing"));
		tui_close(app);
	}
}
END_TEST

START_TEST(races_of_a_report)
{
	struct app *app = open_shared(true);
	tui_command(app, "report");
	ck_assert(tui_shows(app, "report s.c:24 ⇄ deposit s.c:14"));
	ck_assert(tui_shows(app, "✓ race on hits"));
	ck_assert(tui_shows(app, "no pair of accesses of this trace"));
	ck_assert(tui_shows(app, "1 of the 2 are in this trace"));
	tui_command(app, "report 1");
	ck_assert_int_eq(app_view(app), VIEW_SOURCE);
	ck_assert_uint_eq(app->session->pair[0], 7);
	ck_assert_uint_eq(app->session->pair[1], 14);
	tui_command(app, "report 2");
	ck_assert(app->message_is_error);
	tui_command(app, "report 3");
	ck_assert(app->message_is_error);
	tui_keys(app, "F");
	tui_golden(app, "findings-reported");
	filter(app, "reported");
	ck_assert(tui_shows(app, "hits"));
	ck_assert(!tui_shows(app, "total"));
	tui_close(app);
	app = open_shared(false);
	tui_command(app, "report");
	ck_assert(app->message_is_error);
	tui_close(app);
}
END_TEST

/* The first pair of the reported lines is kept apart by the read of `ready`, the second races.
 */
static const char two_pairs[] = "#! heddle 1\n"
                                "main|fork(T1)|s.c:1\n"
                                "main|fork(T2)|s.c:2\n"
                                "T1|w(hits)=1|s.c:14\n"
                                "T1|w(ready)=1|s.c:15\n"
                                "T2|r(ready)=1|s.c:23\n"
                                "T2|w(hits)=2|s.c:24\n"
                                "T1|w(hits)=3|s.c:14\n";

static void add_report(struct app *app, enum analysis analysis)
{
	struct race_options options;
	struct error error;
	race_options_init(&options);
	options.analysis = analysis;
	options.all_verdicts = analysis == ANALYSIS_AUTO;
	struct report *r = races_find(app->session->trace, &options, NULL, &error);
	ck_assert(r != NULL);
	session_add_report(app->session, r, analysis, analysis == ANALYSIS_AUTO);
	app_refresh(app);
}

/* A report names two places.  Its pair is that of the finding, whatever was first known. */
START_TEST(reported_places_follow_the_verdict)
{
	struct app *app = tui_open(two_pairs, NULL);
	struct session *s = app->session;
	load_report(app);
	tui_command(app, "report 1"); /* no finding yet: the first pair of the trace */
	ck_assert_uint_eq(s->pair[0], 2);
	ck_assert_uint_eq(s->pair[1], 5);
	add_report(app, ANALYSIS_HB);
	tui_keys(app, "w");
	add_report(app, ANALYSIS_AUTO);
	ck_assert_uint_eq(s->pair[0], 5);
	ck_assert_uint_eq(s->pair[1], 6);
	ck_assert(!tui_shows(app, "impossible"));
	ck_assert(tui_shows(app, "✓ checked"));
	tui_keys(app, "F w");
	ck_assert(tui_shows(app, "✓ checked"));
	tui_close(app);
}
END_TEST

/* Events that the reader names stay, whatever is found about their two places. */
START_TEST(named_events_stay)
{
	struct app *app = tui_open(two_pairs, NULL);
	add_report(app, ANALYSIS_HB);
	tui_command(app, "witness 2 5");
	add_report(app, ANALYSIS_AUTO);
	ck_assert_uint_eq(app->session->pair[0], 2);
	ck_assert_uint_eq(app->session->pair[1], 5);
	tui_close(app);
}
END_TEST

/* A flag that is stored and loaded relaxed, or with one side's order alone. */
static struct app *open_published(const char *store, const char *load)
{
	char *text = g_strdup_printf("#! heddle 1\n"
	                             "main|w(message)=7|p.c:1\n"
	                             "main|fork(T1)|p.c:2\nmain|fork(T2)|p.c:3\n"
	                             "T1|w(message)=42|p.c:18\nT1|aw(ready)=1;%s|p.c:19\n"
	                             "T2|ar(ready)=1;%s|p.c:25\nT2|r(message)=42|p.c:26\n",
	                             store, load);
	struct app *app = tui_open(text, &(struct tui_options){ .rows = 40, .analyse = true });
	g_free(text);
	return app;
}

/* A race that C11's rules alone show: no screen says that one could come before the other. */
START_TEST(a_race_by_memory_order)
{
	static const struct {
		const char *store, *load, *why, *repair;
	} flags[] = {
		{ "rlx", "rlx",
		  "T1's store of ready (p.c:19) is relaxed and does not publish it.",
		  "Use release order there and acquire at p.c:25." },
		{ "rlx", "acq",
		  "T1's store of ready (p.c:19) is relaxed and does not publish it.",
		  "Use release order there." },
		{ "rel", "rlx",
		  "T2's load of ready (p.c:25) is relaxed and does not acquire it.",
		  "Use acquire order there." },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(flags); i++) {
		struct app *app = open_published(flags[i].store, flags[i].load);
		static const char *const keys[] = { "F", "I" };
		for (size_t k = 0; k < G_N_ELEMENTS(keys); k++) {
			tui_keys(app, keys[k]);
			char *screen = tui_words(app);
			ck_assert_msg(
			        strstr(screen,
			               "T2 may still see the old message (7), not T1's: ") &&
			                strstr(screen, flags[i].why) &&
			                strstr(screen, flags[i].repair),
			        "%s", screen);
			ck_assert_msg(!strstr(screen, "both are about to happen") &&
			                      !strstr(screen, "is about to write") &&
			                      !strstr(screen, "first: it reads"),
			              "%s", screen);
			g_free(screen);
		}
		tui_keys(app, "w");
		ck_assert(tui_shows(app, "unordered by C11: they race"));
		char *screen = tui_words(app);
		ck_assert_msg(strstr(screen, flags[i].why) &&
		                      !strstr(screen, "is about to write") &&
		                      !strstr(screen, "both are about to happen"),
		              "%s", screen);
		g_free(screen);
		tui_close(app);
	}
	struct app *app = open_published("rel", "acq");
	ck_assert(!tui_shows(app, "✓"));
	tui_close(app);
}
END_TEST

/* Every word counts, in any order; `!` leaves out. */
START_TEST(filters_of_several_words)
{
	static const struct {
		const char *words;
		bool total, hits, audit;
	} filters[] = {
		{ "data s.c:10", true, false, false },
		{ "deposit !none", true, true, false },
		{ "write-write", false, true, false },
		{ "read-write !none", true, false, false },
		{ "deposit !hits", true, false, true },
		{ "!write-write", true, false, true },
		{ "T1 none", false, false, true },
		{ "T3", false, false, false },
	};
	struct app *app = open_shared(false);
	for (size_t i = 0; i < G_N_ELEMENTS(filters); i++) {
		filter(app, filters[i].words);
		char *screen = tui_screen(app, false);
		const char *end = strstr(screen, "seen by");
		char *list = end ? g_strndup(screen, (gsize)(end - screen)) : g_strdup(screen);
		ck_assert_msg((strstr(list, " total ") != NULL) == filters[i].total, "%s:\n%s",
		              filters[i].words, screen);
		ck_assert_msg((strstr(list, " hits ") != NULL) == filters[i].hits, "%s:\n%s",
		              filters[i].words, screen);
		ck_assert_msg((strstr(list, " audit ") != NULL) == filters[i].audit, "%s:\n%s",
		              filters[i].words, screen);
		g_free(list);
		g_free(screen);
	}
	tui_close(app);
}
END_TEST

START_TEST(two_findings_compared)
{
	struct app *app = open_shared(false);
	tui_keys(app, "g =");
	ck_assert(tui_shows(app, "held: ="));
	tui_keys(app, "=");
	ck_assert_int_eq(app_view(app), VIEW_FINDINGS); /* with itself: let go */
	tui_keys(app, "= j =");
	tui_golden(app, "findings-compared");
	tui_close(app);
}
END_TEST

/* A mark with its reason in one line; both are found by the filter, and kept. */
START_TEST(a_mark_with_its_reason)
{
	struct app *app = open_shared(false);
	filter(app, "hits");
	tui_command(app, "triage benign  only a statistic");
	ck_assert(!app->message_is_error);
	const struct entry *entry = session_selected(app->session);
	ck_assert_int_eq(entry->triage, TRIAGE_BENIGN);
	ck_assert_str_eq(entry->note, "only a statistic");
	filter(app, "benign statistic");
	ck_assert(tui_shows(app, "hits"));
	tui_command(app, "triage real");
	ck_assert_int_eq(entry->triage, TRIAGE_REAL);
	ck_assert_str_eq(entry->note, "only a statistic");
	char *kept = NULL;
	ck_assert(g_file_get_contents(app->session->notes_path, &kept, NULL, NULL));
	ck_assert_ptr_nonnull(strstr(kept, "only a statistic"));
	g_free(kept);
	tui_command(app, "triage benignish");
	ck_assert(app->message_is_error);
	tui_close(app);
}
END_TEST

/* -- by turns ------------------------------------------------------------------------ */

/* The foot of the screen, from the rule with the step's number to the values. */
/* The step, and the threads' lines: without what is said of the turn. */
static char *who_stands_where(struct app *app)
{
	char *screen = tui_screen(app, false);
	const char *from = strstr(screen, "── after step"), *to = strstr(screen, " p be the");
	ck_assert(from && to && from < to);
	GString *foot = g_string_new_len(from, strcspn(from, "\n"));
	const char *threads = strstr(from, "\n main  ");
	ck_assert(threads && threads < to);
	g_string_append_len(foot, threads, (gssize)(to - threads));
	g_free(screen);
	return g_string_free(foot, FALSE);
}

START_TEST(a_witness_by_turns)
{
	struct app *app = open_shared(false);
	filter(app, "hits");
	tui_keys(app, "w");
	tui_keys(app, "-");
	ck_assert(tui_shows(app, "the witness by turns"));
	ck_assert(tui_shows(app, "both are about to happen"));
	tui_golden(app, "witness-turns");
	tui_keys(app, "b");
	ck_assert(tui_shows(app, "T2 report: "));
	tui_keys(app, "b"); /* what the thread does there, and why it goes no further */
	char *words = tui_words(app);
	ck_assert_msg(strstr(words, "T1 deposit: enter deposit, total ← 1, lock m, ") &&
	                      strstr(words, ". Then a switch, needed: T1 stops before line 14"),
	              "%s", words);
	g_free(words);
	tui_keys(app, "n");
	char *step = who_stands_where(app);
	tui_keys(app, "-"); /* every event, and back: the same place */
	char *events = who_stands_where(app);
	ck_assert(!tui_shows(app, "the witness by turns"));
	tui_keys(app, "-");
	char *again = who_stands_where(app);
	ck_assert(tui_shows(app, "the witness by turns"));
	ck_assert_str_eq(step, events);
	ck_assert_str_eq(step, again);
	g_free(step);
	g_free(events);
	g_free(again);
	tui_keys(app, "g Enter");
	ck_assert(!tui_shows(app, "the witness by turns"));
	ck_assert_uint_eq(app->session->event, 0);
	tui_close(app);
}
END_TEST

/* Each turn is of one thread, the turns follow each other without a gap, and where one ends a
 * switch is told. */
START_TEST(turns_cover_the_witness)
{
	struct app *app = open_shared(false);
	filter(app, "hits");
	tui_keys(app, "w - g");
	const struct finding *f = session_finding(app->session);
	const struct trace *t = app_trace(app);
	guint switches = 0;
	for (guint i = 1; i < f->witness->len; i++)
		switches += t->events[g_array_index(f->witness, uint32_t, i)].thread !=
		            t->events[g_array_index(f->witness, uint32_t, i - 1)].thread;
	uint32_t last = NONE;
	guint stops = 0;
	for (guint i = 0; i < f->witness->len; i++) { /* more often than there are lines */
		stops += app->session->event != last;
		last = app->session->event;
		tui_keys(app, "n");
	}
	/* A turn for each switch and one more; those of the pair stand alone, and "both are
	 * next" is a line whose event is the first of the pair. */
	ck_assert_uint_ge(stops, switches);
	ck_assert_uint_le(stops, switches + 3);
	ck_assert_uint_eq(last, f->second);
	tui_close(app);
}
END_TEST

/* `/` looks in the schedule, not in the recording: forwards from the cursor to the end of it.
 */
START_TEST(search_in_a_witness)
{
	struct app *app = open_shared(false);
	filter(app, "hits");
	tui_keys(app, "w g");
	tui_keys(app, "/");
	tui_type(app, "audit");
	tui_keys(app, "Enter");
	ck_assert_int_eq(app_view(app), VIEW_WITNESS);
	uint32_t first = app->session->event;
	ck_assert(first == 5 || first == 12);
	tui_keys(app, ";");
	ck_assert_uint_eq(app->session->event, first == 5 ? 12 : 5);
	tui_keys(app, ";");
	ck_assert(tui_shows(app, "no event of this schedule after this one"));
	tui_close(app);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("triage");
	TCase *tc = tcase_create("triage");
	tcase_add_test(tc, the_crash_comes_first);
	tcase_add_test(tc, ended_from_outside);
	tcase_add_test(tc, races_of_a_report);
	tcase_add_test(tc, what_is_impossible_is_not_listed);
	tcase_add_test(tc, what_racy_reads_exclude_is_counted);
	tcase_add_test(tc, folders_of_findings);
	tcase_add_test(tc, a_folder_is_picked_as_a_whole);
	tcase_add_test(tc, reported_places_follow_the_verdict);
	tcase_add_test(tc, named_events_stay);
	tcase_add_test(tc, a_race_by_memory_order);
	tcase_add_test(tc, filters_of_several_words);
	tcase_add_test(tc, two_findings_compared);
	tcase_add_test(tc, a_mark_with_its_reason);
	tcase_add_test(tc, a_witness_by_turns);
	tcase_add_test(tc, turns_cover_the_witness);
	tcase_add_test(tc, search_in_a_witness);
	suite_add_tcase(suite, tc);
	return tui_run(suite);
}
