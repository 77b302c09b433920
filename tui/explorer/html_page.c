/* html_page.c - see html_page.h. The page is also well-formed XML, by which its tests read it.
 */
#include "engine/base/compare.h"
#include "tui/explorer/html_page.h"

#include "engine/trace/own_code.h"
#include "engine/trace/shown.h"
#include "engine/witness/witness.h"
#include "tui/explorer/export.h"
#include "tui/explorer/words/missing_code.h"
#include "tui/explorer/exploration/outcomes.h"
#include "tui/explorer/schedule.h"
#include "tui/explorer/words/story.h"
#include "tui/explorer/exploration/tree.h"
#include "tui/explorer/words/weak_order.h"

#include <string.h>

enum {
	MOST_STEPS = 1500,   /* of one witness; earlier ones are summed up in a line */
	MOST_FINDINGS = 200, /* findings described one by one */
	AROUND = 4,          /* source lines before and after */
};

/* Without < and &, so that it needs no escaping in either language. */
static const char script[] =
        "'use strict';\n"
        "var walks = document.querySelectorAll('.walk'), walk = walks[0], now = 0;\n"
        "function steps(w) { return w.querySelectorAll('tr.step'); }\n"
        "function show(w, n, still) {\n"
        "  var all = steps(w);\n"
        "  if (all.length === 0) return;\n"
        "  n = Math.max(0, Math.min(n, all.length - 1));\n"
        "  walk = w; now = n;\n"
        "  document.querySelectorAll('tr.now').forEach(function (r) { r.classList.remove('now'); });\n"
        "  all[n].classList.add('now');\n"
        "  w.querySelectorAll('tr.was').forEach(function (r) {\n"
        "    if (r.dataset.event === all[n].dataset.event) r.classList.add('now');\n"
        "  });\n"
        "  var state = w.querySelector('.state');\n"
        "  ['at', 'what', 'place', 'line', 'locks', 'values'].forEach(function (word) {\n"
        "    state.querySelector('.' + word).textContent = all[n].dataset[word];\n"
        "  });\n"
        "  if (still !== true) all[n].scrollIntoView({ block: 'nearest' });\n"
        "}\n"
        "function visible(w) {\n"
        "  var box = w.getBoundingClientRect();\n"
        "  return box.bottom > 0 ? innerHeight > box.top : false;\n"
        "}\n"
        "function look() { // of several walks the keys mean the one on the screen\n"
        "  var seen = Array.from(walks).find(visible);\n"
        "  if (visible(walk) ? true : seen === undefined) return;\n"
        "  walk = seen; now = -1;\n"
        "}\n"
        "document.addEventListener('keydown', function (e) {\n"
        "  if (e.ctrlKey || e.altKey || e.metaKey || walk === undefined) return;\n"
        "  look();\n"
        "  if (e.key === 'j' || e.key === 'n') show(walk, now + 1);\n"
        "  if (e.key === 'k' || e.key === 'b') show(walk, now - 1);\n"
        "  if (e.key === 'g') show(walk, 0);\n"
        "  if (e.key === 'G') show(walk, steps(walk).length - 1);\n"
        "});\n"
        "walks.forEach(function (w) {\n"
        "  steps(w).forEach(function (r, n) {\n"
        "    r.addEventListener('click', function () { show(w, n); });\n"
        "  });\n"
        "});\n"
        "function follow() {\n"
        "  var wanted = /^#(.+)-step-([0-9]+)$/.exec(location.hash);\n"
        "  var named = wanted ? document.getElementById(wanted[1]) : null;\n"
        "  if (named) show(named, Number(wanted[2]) - 1);\n"
        "  return named !== null;\n"
        "}\n"
        "window.addEventListener('hashchange', follow);\n"
        "if (walk) { if (!follow()) show(walk, walk.id === 'outcomes' ? 0 : steps(walk).length - 1, true); }\n";

static const char style[] =
        ":root { color-scheme: light; --ink: #1c1c1c; --paper: #ffffff; --dim: #666666;\n"
        "  --rule: #cccccc; --now: #fff2b3; --race: #a84300; --none: #006b54; }\n"
        "@media screen and (prefers-color-scheme: dark) { :root { color-scheme: dark; --ink: #e4e4e4;\n"
        "  --paper: #161616; --dim: #9a9a9a; --rule: #444444; --now: #3d3610; --race: #ffaf5f;\n"
        "  --none: #5fd7af; } }\n"
        "body { font: 15px/1.45 sans-serif; color: var(--ink); background: var(--paper);\n"
        "  max-width: 100em; margin: 1.5em auto; padding: 0 1em; }\n"
        "p.words { max-width: 60em; } a { color: inherit; }\n"
        "pre, code, table.lanes, .state { font-family: monospace; font-size: 13px; }\n"
        "table { border-collapse: collapse; } td, th { text-align: left; vertical-align: top;\n"
        "  padding: 0.1em 0.7em 0.1em 0; } table.list td { border-top: 1px solid var(--rule); }\n"
        "table.lanes td, table.lanes th { white-space: pre; }\n"
        ".orders, .sides { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr);\n"
        "  gap: 2em; } .orders h4, .sides h4 { margin: 0.4em 0; }\n"
        ".order, pre { overflow-x: auto; margin: 0.3em 0; }\n"
        "@media screen and (max-width: 50em) { .orders, .sides { grid-template-columns: minmax(0, 1fr); } }\n"
        "tr.step { cursor: pointer; } tr.now td { background: var(--now); }\n"
        "tr.pair td { color: var(--race); font-weight: bold; } td.number, .dim { color: var(--dim); }\n"
        "td.mark { color: var(--dim); } .here { background: var(--now); font-weight: bold; }\n"
        ".race, .happened { color: var(--race); font-weight: bold; } .impossible { color: var(--none); }\n"
        ".state { position: sticky; bottom: 0; background: var(--paper); border-top: 1px solid var(--rule);\n"
        "  padding: 0.4em 0; } .state div { min-height: 1.4em; white-space: pre-wrap; }\n"
        "section { border-top: 2px solid var(--rule); margin-top: 2em; }\n"
        "svg { background: #ffffff; }\n"
        /* Paper cannot be stepped: each step gives its place and the state after it. */
        "@media print { .state, .keys { display: none; } section { break-before: page; }\n"
        "  section:first-of-type { break-before: auto; } tr, .side { break-inside: avoid; }\n"
        "  body { max-width: none; margin: 0; font-size: 11px; } pre { white-space: pre-wrap; }\n"
        "  pre, code, table.lanes { font-size: 9px; } table.lanes td { white-space: pre-wrap; }\n"
        "  .orders { display: block; } tr.now td, .here { background: none; }\n"
        "  .here { text-decoration: underline; }\n"
        "  tr.step::after { content: attr(data-place) \"  \" attr(data-values); display: table-cell;\n"
        "    color: var(--dim); white-space: pre-wrap; } }\n";

/* -- text ----------------------------------------------------------------------------------- */

static void html(GString *out, const char *text)
{
	g_autoptr(GString) safe = g_string_new(NULL);
	append_escaped(safe, text, strlen(text));
	g_autofree char *marked = g_markup_escape_text(safe->str, (gssize)safe->len);
	g_string_append(out, marked);
}

static void element(GString *out, const char *name, const char *class, const char *text)
{
	g_string_append_printf(out, "<%s class=\"%s\">", name, class);
	html(out, text);
	g_string_append_printf(out, "</%s>", name);
}

static void attribute(GString *out, const char *name, const char *text)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	g_string_append_printf(out, " %s=\"", name);
	for (char **line = lines; *line; line++) {
		g_string_append(out, line == lines ? "" : "&#10;");
		html(out, *line);
	}
	g_string_append_c(out, '"');
}

/* "'sha256-...'" of a script or style, for the policy. */
static void append_digest(GString *out, const char *text)
{
	g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
	guint8 digest[32];
	gsize length = sizeof digest;
	g_checksum_update(sum, (const guchar *)text, (gssize)strlen(text));
	g_checksum_get_digest(sum, digest, &length);
	g_autofree char *base64 = g_base64_encode(digest, length);
	g_string_append_printf(out, "'sha256-%s'", base64);
}

static void begin_page(GString *out, const char *title)
{
	g_string_append(out,
	                "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>"
	                "<meta name=\"viewport\" content=\"width=device-width\"/>"
	                "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
	                "&#39;none&#39;; script-src ");
	g_autoptr(GString) digests = g_string_new(NULL);
	append_digest(digests, script);
	g_string_append(digests, "; style-src ");
	append_digest(digests, style);
	html(out, digests->str);
	g_string_append(out, "\"/><title>");
	html(out, title);
	g_string_append_printf(out, "</title><style>%s</style></head>\n<body><h1>", style);
	html(out, title);
	g_string_append(out, "</h1>\n");
}

static void end_page(GString *out)
{
	g_string_append_printf(out, "<script>%s</script></body></html>\n", script);
}

/* -- source --------------------------------------------------------------------------------- */

static void page_source(const struct app *app, GString *out, uint32_t event)
{
	const struct trace *t = app_trace(app);
	struct frame place = own_code_place(t, event);
	const struct location *l = &t->locations[place.location];
	g_autoptr(GString) title = g_string_new(NULL);
	g_string_append_printf(title, "%s: ", trace_thread_name(t, t->events[event].thread));
	describe_event(app->session, event, title);
	g_string_append(title, "   ");
	describe_place(app->session, event, title);
	g_string_append(out, "<div class=\"side\">");
	element(out, "h4", "where", title->str);
	const struct source_file *file =
	        l->file && l->line
	                ? sources_get((struct sources *)&app->sources, trace_string(t, l->file))
	                : NULL;
	if (file && file->lines && l->line <= file->lines->len) {
		g_string_append(out, "<pre>");
		for (guint i = l->line > AROUND ? l->line - AROUND : 1;
		     i <= MIN(l->line + AROUND, file->lines->len); i++) {
			g_autofree char *line = g_strdup_printf(
			        "%5u  %s\n", i, (char *)file->lines->pdata[i - 1]);
			g_strchomp(line);
			element(out, "span", i == l->line ? "here" : "line", line);
			g_string_append_c(out, '\n');
		}
		g_string_append(out, "</pre>");
	} else {
		element(out, "p", "dim", "no source");
	}
	g_string_append(out, "</div>\n");
}

/* -- the orders ----------------------------------------------------------------------------- */

struct walk {
	const struct app *app;
	const struct session *s;
	const struct finding *f;
	const struct trace *t;
	GArray *events;  /* borrowed: the witness */
	GArray *threads; /* uint32_t: the lanes */
	GArray *claimed; /* uint32_t: the pair, the requests, or the first of each unit */
	struct stage stage;
	int8_t *moves;
	guint from;  /* first step shown */
	bool race;   /* the last two are next at once, and either may be first */
	guint claim; /* number of final events that are next, and do not occur */
};

static uint32_t event_at(const GArray *events, guint i)
{
	return g_array_index(events, uint32_t, i);
}

static void find_lanes(struct walk *w)
{
	w->threads = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	for (uint32_t u = 0; u < w->t->threads_count; u++) {
		bool seen = false;
		for (guint i = w->from; i < w->events->len && !seen; i++)
			seen = w->t->events[event_at(w->events, i)].thread == u;
		if (seen)
			g_array_append_val(w->threads, u);
	}
}

static void lane_heads(const struct walk *w, GString *out)
{
	g_string_append(out, "<tr><th></th>");
	for (guint i = 0; i < w->threads->len; i++)
		element(out, "th", "thread",
		        session_thread(w->s, g_array_index(w->threads, uint32_t, i)));
	g_string_append(out, "<th></th></tr>\n");
}

/* The cells of an event: its number, its text in its thread's lane, whether it moved. */
static void lane_cells(const struct walk *w, GString *out, uint32_t event, const char *text,
                       int8_t move)
{
	g_string_append_printf(out, "<td class=\"number\">%u</td>", event);
	for (guint i = 0; i < w->threads->len; i++) {
		bool own = g_array_index(w->threads, uint32_t, i) == w->t->events[event].thread;
		element(out, "td", own ? "event" : "", own ? text : "");
	}
	element(out, "td", "mark", move > 0 ? "▲ moved up" : move < 0 ? "▼ moved down" : "");
	g_string_append(out, "</tr>\n");
}

static bool is_claimed(const struct walk *w, uint32_t event)
{
	bool claimed = event == w->f->first || event == w->f->second;
	for (guint i = 0; i < w->claimed->len && !claimed; i++)
		claimed = event_at(w->claimed, i) == event;
	return claimed;
}

static void recorded_order(const struct walk *w, GString *out)
{
	g_autoptr(GArray) sorted =
	        g_array_new(FALSE, FALSE, sizeof(uint32_t)); /* of the steps shown */
	for (guint i = w->from; i < w->events->len; i++)
		g_array_append_val(sorted, g_array_index(w->events, uint32_t, i));
	g_array_sort(sorted, compare_u32);
	g_string_append(out,
	                "<div class=\"order\"><h4>as recorded</h4><table class=\"lanes\">");
	lane_heads(w, out);
	for (guint i = 0; i < sorted->len; i++) {
		uint32_t event = event_at(sorted, i);
		g_autoptr(GString) text = g_string_new(NULL);
		describe_event(w->s, event, text);
		g_string_append_printf(out, "<tr class=\"was%s\" data-event=\"%u\">",
		                       is_claimed(w, event) ? " pair" : "", event);
		lane_cells(w, out, event, text->str, 0);
	}
	g_string_append(out, "</table></div>\n");
}

/* "acct.balance reads 100 or 150": a read that races with a write sees either the present
 * value or the value written, whatever it saw in the recording. */
static bool describe_racing_read(const struct walk *w, uint32_t event, guint step, GString *out)
{
	const struct trace *t = w->t;
	uint32_t other = event == w->f->first ? w->f->second : w->f->first, writer;
	const struct event *e = &t->events[event], *o = &t->events[other];
	if (!w->race || e->op != OP_READ || o->op != OP_WRITE || e->target != o->target ||
	    ((e->flags | o->flags) & EVENT_WIDE))
		return false;
	uint32_t now = stage_value(&w->stage, step, e->target, &writer);
	uint32_t then = schedule_written_value(t, o);
	if (now == 0 || then == 0)
		return false;
	own_code_append_name(trace_variable_name(t, e->target), out);
	g_string_append(out, " reads ");
	shown_append(t, e->target, now, event, out);
	if (now != then) {
		g_string_append(out, " or ");
		shown_append(t, e->target, then, other, out);
	}
	return true;
}

/* "T1 holds m, q.lock; T2 holds n" */
static void append_held(const struct walk *w, guint step, GString *out)
{
	g_autoptr(GArray) locks = stage_locks(&w->stage, step);
	uint32_t before = NONE;
	for (guint i = 0; i < locks->len; i++) {
		const struct event *e = &w->t->events[event_at(locks, i)];
		if (e->thread == before)
			g_string_append(out, ", ");
		else
			g_string_append_printf(out, "%s%s holds ", before == NONE ? "" : "; ",
			                       trace_thread_name(w->t, e->thread));
		describe_lock(w->t, event_at(locks, i), out);
		before = e->thread;
	}
}

/* "after step 3 of 13", or which of the last steps are next. */
static void append_moment(const struct walk *w, guint i, GString *out)
{
	guint all = w->events->len, done = all - w->claim;
	if (i < done)
		g_string_append_printf(out, "after step %u of %u", i + 1, all);
	else if (w->race)
		g_string_append_printf(out,
		                       "after step %u of %u; both threads are about to "
		                       "make these two accesses, and nothing "
		                       "decides who is first",
		                       done, all);
	else
		g_string_append_printf(out, "after step %u of %u; %s waits, for ever", done,
		                       all, w->claim > 1 ? "each of the last" : "the last");
}

static void step_row(const struct walk *w, GString *out, guint i)
{
	uint32_t event = event_at(w->events, i);
	bool next = i + w->claim >= w->events->len;
	guint step = next ? w->events->len - w->claim : i, after = next ? step : i + 1;
	g_autoptr(GString) text = g_string_new(NULL), words = g_string_new(NULL);
	if (!next || !describe_racing_read(w, event, step, text))
		stage_describe(&w->stage, event, step, text);
	g_string_append_printf(out, "<tr class=\"step%s\" data-event=\"%u\"",
	                       is_claimed(w, event) ? " pair" : "", event);
	append_moment(w, i, words);
	attribute(out, "data-at", words->str);
	g_string_printf(words, "%s%s: %s", trace_thread_name(w->t, w->t->events[event].thread),
	                !next     ? ""
	                : w->race ? " is about to do"
	                          : " waits",
	                text->str);
	attribute(out, "data-what", words->str);
	g_string_truncate(words, 0);
	describe_place(w->s, event, words);
	attribute(out, "data-place", words->str);
	const char *line = source_line(w->app, own_code_place(w->t, event).location);
	attribute(out, "data-line", line ? line : "");
	g_string_truncate(words, 0);
	append_held(w, after, words);
	attribute(out, "data-locks", words->str);
	g_string_truncate(words, 0);
	stage_append_values(&w->stage, after, words);
	attribute(out, "data-values", words->str);
	g_string_append_c(out, '>');
	lane_cells(w, out, event, text->str, w->moves[i]);
}

static void witness_order(const struct walk *w, GString *out)
{
	g_string_append(out, "<div class=\"order\"><h4>the witness: an order that the "
	                     "independent checker accepts</h4><table class=\"lanes\">");
	lane_heads(w, out);
	if (w->from)
		g_string_append_printf(out,
		                       "<tr><td class=\"number\"></td><td class=\"dim\" "
		                       "colspan=\"%u\">… the first %u events</td></tr>\n",
		                       w->threads->len + 1, w->from);
	for (guint i = w->from; i < w->events->len; i++)
		step_row(w, out, i);
	g_string_append(out, "</table></div>\n");
}

/* Filled by the script: the step that is shown. */
static void page_state(GString *out)
{
	static const char *const parts[] = { "at", "what", "place", "line", "locks", "values" };
	g_string_append(out, "<div class=\"state\">");
	for (size_t i = 0; i < G_N_ELEMENTS(parts); i++)
		g_string_append_printf(out, "<div class=\"%s\"></div>", parts[i]);
	g_string_append(out, "</div>");
}

static void page_walk(const struct app *app, const struct finding *f, guint number,
                      GString *out)
{
	struct session own =
	        *app->session; /* with this finding's pair, whose values come first */
	own.pair[0] = f->first;
	own.pair[1] = f->second;
	enum claim claim = finding_claim(f);
	struct walk w = { .app = app, .s = &own, .f = f, .t = own.trace, .events = f->witness };
	w.claimed = finding_claimed(f);
	w.race = claim == CLAIM_RACE;
	w.claim = w.race || claim_waits(claim) ? MIN(w.claimed->len, f->witness->len) : 0;
	w.from = f->witness->len > MOST_STEPS ? f->witness->len - MOST_STEPS : 0;
	w.moves = schedule_moves(w.events);
	stage_init(&w.stage, &own, w.events, false);
	find_lanes(&w);
	g_string_append_printf(out,
	                       "<div class=\"walk\" id=\"f%u\"><p class=\"keys dim\">j and k "
	                       "step, g and G go to the ends; a click goes to a step.</p>"
	                       "<div class=\"orders\">\n",
	                       number);
	witness_order(&w, out);
	recorded_order(&w, out);
	g_string_append(out, "</div>");
	page_state(out);
	g_string_append(out, "</div>\n");
	stage_release(&w.stage);
	g_array_free(w.threads, TRUE);
	g_array_free(w.claimed, TRUE);
	g_free(w.moves);
}

/* -- findings ------------------------------------------------------------------------------- */

static void page_story(const struct app *app, const struct entry *entry,
                       const struct finding *f, GString *out)
{
	enum { WIDTH = 110 };
	g_autoptr(GArray) prose =
	        story_tell(app->session, (struct sources *)&app->sources, entry, f, WIDTH);
	g_autoptr(GString) text = g_string_new(NULL);
	prose_print(prose, WIDTH, false, text);
	g_string_append(out, "<pre class=\"story\">");
	g_auto(GStrv) lines = g_strsplit(text->str, "\n", -1);
	for (char **line = lines; *line; line++) {
		html(out, *line);
		g_string_append_c(out, '\n');
	}
	g_string_append(out, "</pre>\n");
}

static void page_finding(const struct app *app, const struct entry *entry, guint number,
                         GString *out)
{
	const struct session *s = app->session;
	const struct finding *exact = entry == session_selected(s) ? session_finding(s) : NULL;
	const struct finding *f = exact ? exact : entry->finding;
	const char *verdict = verdict_word(missing_code_verdict(s, entry));
	g_autoptr(GString) words = g_string_new(NULL);
	g_string_append_printf(
	        out, "<section id=\"finding-%u\"><h2><span class=\"%s\">%s %s</span> ", number,
	        verdict, verdict_glyph(f),
	        finding_verdict_text(f->kind, missing_code_verdict(s, entry)));
	g_string_append_printf(words, "%s on %s: %s",
	                       is_weak_order(f) ? "weak order" : finding_kind_noun(f->kind),
	                       entry->variable, entry->where);
	html(out, words->str);
	g_string_append(out, "</h2>\n");
	g_string_truncate(words, 0);
	explain_entry(s, entry, words);
	g_string_replace(words, " (o: why)", "", 0); /* a key of the explorer */
	element(out, "p", "words", words->str);
	if (entry->triage || entry->note) {
		g_string_printf(words, "Marked %s%s%s",
		                entry->triage ? triage_word(entry->triage) : "with a note",
		                entry->note ? ": " : "", entry->note ? entry->note : "");
		element(out, "p", "dim", words->str);
	}
	g_string_append(out, "<div class=\"sides\">");
	page_source(app, out, f->first);
	if (f->second != f->first)
		page_source(app, out, f->second);
	g_string_append(out, "</div>\n");
	if (f->witness && f->witness->len && session_has(s, INDEX_ALL))
		page_walk(app, f, number, out);
	if (session_has(s, INDEX_ALL))
		page_story(app, entry, f, out);
	g_string_append(out, "</section>\n");
}

static void page_table(const struct app *app, GString *out)
{
	const GPtrArray *entries = app->session->entries;
	g_autoptr(GString) summary = g_string_new(NULL);
	session_append_ending(app->session, false, summary);
	if (summary->len)
		g_string_append(summary, ". ");
	session_append_summary(app->session, summary);
	element(out, "p", "words", summary->len ? summary->str : "Nothing was found.");
	g_string_append(out,
	                "<table class=\"list\"><tr><th>verdict</th><th>kind</th><th>where</th>"
	                "<th>variable</th><th>count</th></tr>\n");
	for (guint i = 0; i < entries->len; i++) {
		const struct entry *entry = entries->pdata[i];
		const char *verdict = verdict_word(missing_code_verdict(app->session, entry));
		g_autofree char *count = g_strdup_printf(
		        "%" G_GUINT64_FORMAT, (guint64)MAX(entry->finding->count, 1));
		g_string_append_printf(
		        out, "<tr><td class=\"%s\"><a href=\"#finding-%u\">%s %s</a></td>",
		        verdict, i + 1, verdict_glyph(entry->finding),
		        finding_verdict_text(entry->finding->kind,
		                             missing_code_verdict(app->session, entry)));
		element(out, "td", "kind", finding_kind_noun(entry->finding->kind));
		element(out, "td", "where", entry->where);
		element(out, "td", "variable", entry->variable);
		element(out, "td", "count", count);
		g_string_append(out, "</tr>\n");
	}
	g_string_append(out, "</table>\n");
}

char *page_of_findings(const struct app *app, const struct entry *only)
{
	const GPtrArray *entries = app->session->entries;
	GString *out = g_string_new(NULL);
	g_autofree char *title = g_strdup_printf("Heddle: %s", trace_name(app_trace(app)));
	begin_page(out, title);
	if (only == NULL)
		page_table(app, out);
	for (guint i = 0, written = 0; i < entries->len; i++) {
		const struct entry *entry = entries->pdata[i];
		if ((only && entry != only) || ++written > MOST_FINDINGS)
			continue;
		page_finding(app, entry, only ? 1 : i + 1, out);
	}
	end_page(out);
	return g_string_free(out, FALSE);
}

/* -- an exploration ------------------------------------------------------------------------- */

static void run_row(const struct tree *tree, guint i, GString *out)
{
	const struct tree_run *r = &g_array_index(tree->runs, struct tree_run, i);
	const char *other = r->parent == NONE ? "the first run" : r->reversal;
	g_autoptr(GString) end = g_string_new(NULL), words = g_string_new(NULL);
	explore_append_end(r, end);
	g_string_append_printf(out, "<tr class=\"step%s\" data-event=\"%u\"",
	                       tree_run_failed(r) ? " pair" : "", r->run);
	g_string_printf(words, "run %u, %u of %u", r->run, i + 1, tree->runs->len);
	attribute(out, "data-at", words->str);
	attribute(out, "data-what", end->str);
	attribute(out, "data-place", other);
	attribute(out, "data-line", r->place);
	attribute(out, "data-locks", "");
	attribute(out, "data-values", r->story);
	g_string_append_printf(out, "><td class=\"number\">%u</td>", r->run);
	g_string_truncate(words, 0);
	if (r->parent != NONE)
		g_string_printf(words, "%u", r->parent);
	element(out, "td", "number", words->str);
	element(out, "td", "event", end->str);
	element(out, "td", "", other);
	element(out, "td", "mark", r->place);
	g_string_append(out, "</tr>\n");
}

/* The runs as steps to go through, in the view's order. */
static void page_runs(const struct tree *tree, GString *out)
{
	g_string_append(out,
	                "<div class=\"walk\" id=\"runs\"><p class=\"keys dim\">j and k step, "
	                "g and G go to the ends; a click goes to a run.</p>"
	                "<div class=\"order\"><table class=\"lanes\"><tr><th>run</th>"
	                "<th>derived from</th><th>end</th><th>by another outcome</th>"
	                "<th></th></tr>\n");
	for (guint i = 0; i < tree->runs->len; i++)
		run_row(tree, i, out);
	g_string_append(out, "</table></div>");
	page_state(out);
	g_string_append(out, "</div>\n");
}

/* A text that ends in a list of lines, each with its place and source. */
static void append_way(const struct app *app, const struct tree *tree, const GArray *way,
                       GString *out)
{
	for (guint i = 0; i < way->len; i++) {
		const struct tree_run *r = tree_run_of(tree, g_array_index(way, uint32_t, i));
		const char *line = sources_place((struct sources *)&app->sources, r->place);
		g_string_append_printf(out, "\n  %s", r->reversal);
		if (*r->place)
			g_string_append_printf(out, "\n    %s%s%s", r->place, line ? "   " : "",
			                       line ? line : "");
	}
}

/* Appends how the outcome's shortest run differs from the nearest other one. */
static void append_difference(const struct app *app, const struct tree *tree,
                              const struct tree_outcome *o, GString *out)
{
	if (o->kind == OUTCOME_RACE)
		return;
	struct outcome_difference d = outcome_difference_of(tree, o->shortest);
	bool failed = o->kind == OUTCOME_FAILED;
	if (d.other == NONE && failed)
		g_string_append(out, "No run ends well.");
	if (d.other != NONE && d.here->len > 0) {
		g_string_append_printf(out, "It begins as run %u, which %s, but:", d.other,
		                       failed ? "ends well" : "prints something else");
		append_way(app, tree, d.here, out);
	}
	if (d.other != NONE && d.others->len > 0) {
		g_string_append_printf(out, "%sRun %u %s, as there:", out->len ? "\n" : "",
		                       d.other, failed ? "ends well" : "prints something else");
		append_way(app, tree, d.others, out);
	}
	const char *point = tree_run_of(tree, o->first)->no_return;
	if (failed && *point)
		g_string_append_printf(out, "%s%s", out->len ? "\n" : "", point);
	outcome_difference_release(&d);
}

static void outcome_row(const struct app *app, const struct tree *tree, const GArray *outcomes,
                        guint i, GString *out)
{
	static const char *const glyphs[] = { "✗", "⇄", "✓" };
	const struct tree_outcome *o = &g_array_index(outcomes, struct tree_outcome, i);
	g_autoptr(GString) words = g_string_new(NULL);
	char number[32];
	g_string_append_printf(out, "<tr class=\"step%s\" data-event=\"%u\"",
	                       o->kind == OUTCOME_PASSED ? "" : " pair", o->shortest);
	g_string_printf(words, "outcome %u of %u: ", i + 1, outcomes->len);
	outcome_append_count(tree, o, words);
	attribute(out, "data-at", words->str);
	g_string_printf(words, "%s %s", glyphs[o->kind], o->words);
	attribute(out, "data-what", words->str);
	attribute(out, "data-place", o->where);
	const char *story =
	        o->kind == OUTCOME_FAILED ? tree_run_of(tree, o->first)->story : o->text;
	attribute(out, "data-line", *story ? story : o->text);
	attribute(out, "data-locks", "");
	g_autoptr(GString) difference = g_string_new(NULL);
	append_difference(app, tree, o, difference);
	attribute(out, "data-values", difference->str);
	g_string_append(out, ">");
	element(out, "td", "number", o->count > 0 ? grouped(o->count, number) : "");
	element(out, "td", "event", words->str);
	element(out, "td", "", o->where);
	element(out, "td", "", o->text);
	g_string_printf(words, "%s run %u", o->kind == OUTCOME_RACE ? "in" : "as in",
	                o->shortest);
	element(out, "td", "mark", words->str);
	g_string_append(out, "</tr>\n");
}

/* The ends of the runs, failures first, as in the view. */
static void page_outcomes(const struct app *app, const struct tree *tree, GString *out)
{
	g_autoptr(GArray) outcomes = outcomes_of(tree);
	g_autoptr(GString) words = g_string_new(NULL);
	char number[32];
	g_string_printf(words, "%s: %u outcome%s of %s different run%s", tree->program,
	                outcomes->len, plural(outcomes->len), grouped(tree->states, number),
	                plural(tree->states));
	element(out, "h2", "", words->str);
	g_string_truncate(words, 0);
	tree_append_scope(tree, words);
	element(out, "p", tree->complete ? "words impossible" : "words", words->str);
	g_string_append(out,
	                "<div class=\"walk\" id=\"outcomes\"><p class=\"keys dim\">j and k "
	                "step, g and G go to the ends; a click goes to an outcome.</p>"
	                "<div class=\"order\"><table class=\"lanes\"><tr><th>runs</th>"
	                "<th>end</th><th>where</th><th></th><th></th></tr>\n");
	for (guint i = 0; i < outcomes->len; i++)
		outcome_row(app, tree, outcomes, i, out);
	g_string_append(out, "</table></div>");
	page_state(out);
	g_string_append(out, "</div>\n");
}

char *page_of_exploration(const struct app *app)
{
	struct drawing d;
	const struct tree *tree = explore_view_tree(app);
	if (tree == NULL)
		return NULL;
	GString *out = g_string_new(NULL), *svg = g_string_new(NULL);
	drawing_init(&d, tree->program);
	explore_view_draw(app, &d);
	drawing_svg(&d, svg);
	begin_page(out, "Heddle: the outcomes of a program");
	page_outcomes(app, tree, out);
	g_string_append(out, "<section><h2>All runs as a tree</h2>\n");
	element(out, "p", "words",
	        "Each run of the program but the first was derived from an earlier one, by "
	        "another outcome of one operation.");
	page_runs(tree, out);
	g_string_append_printf(out, "<div class=\"order\">%s</div></section>\n", svg->str);
	end_page(out);
	drawing_release(&d);
	g_string_free(svg, TRUE);
	return g_string_free(out, FALSE);
}
