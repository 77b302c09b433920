/*
 * commands_pairs.c - commands on pairs and findings: ask, mark, note, export, replay.
 */
#include "tui/explorer/commands/commands.h"

#include "tui/explorer/export.h"
#include "tui/explorer/tool_reports.h"
#include "tui/explorer/messages.h"

#include <string.h>

/* -- pairs and findings --------------------------------------------------------------- */

/* Parse two events as the pair; *rest: remaining text. */
static bool take_pair(struct app *app, const char *arguments, const char **rest,
                      struct error *error)
{
	g_auto(GStrv) w = g_strsplit(arguments, " ", 3);
	uint32_t a = NONE, b = NONE;
	if (g_strv_length(w) < 2)
		return refuse(error, WANTS_TWO_EVENTS);
	a = event_of(app, w[0], error);
	b = a == NONE ? NONE : event_of(app, w[1], error);
	*rest = w[2] ? strstr(arguments + strlen(w[0]) + 1, w[2]) : "";
	if (a == NONE || b == NONE)
		return false;
	if (a == b)
		return refuse(error, WANTS_DIFFERENT_EVENTS);
	session_ask(app->session, a, b);
	return true;
}

bool word_pair(struct app *app, const char *arguments, struct error *error)
{
	const char *rest;
	if (!take_pair(app, arguments, &rest, error))
		return false;
	app_goto(app, app->session->pair[0], true);
	app_say(app, SAYS_PAIR);
	return true;
}

bool word_witness(struct app *app, const char *arguments, struct error *error)
{
	const char *rest;
	if (*arguments && !take_pair(app, arguments, &rest, error))
		return false;
	const uint32_t *pair = app->session->pair;
	if (*arguments && session_finding(app->session) == NULL &&
	    !events_race_conflict(app_trace(app), pair[0], pair[1]))
		return refuse(error, NO_CONFLICT, pair[0], pair[1]);
	app_request(app, REQUEST_WITNESS, 0);
	return true;
}

bool word_order(struct app *app, const char *arguments, struct error *error)
{
	if (!order_kind_from_word(arguments, &app->session->order))
		return refuse(error, WANTS_ORDER);
	app_refresh(app);
	return true;
}

bool word_why(struct app *app, const char *arguments, struct error *error)
{
	const char *rest = "";
	static const struct {
		const char *word;
		enum request request;
	} asks[] = { { "hb", REQUEST_BY_HB },
		     { "wcp", REQUEST_BY_WCP },
		     { "wdc", REQUEST_BY_WDC },
		     { "m2", REQUEST_BY_CLOSURE },
		     { "closure", REQUEST_BY_CLOSURE } };
	if (g_ascii_isdigit(*arguments) || *arguments == '$') {
		if (!take_pair(app, arguments, &rest, error))
			return false;
	} else {
		rest = arguments;
	}
	app_request(app, REQUEST_ORDER, 0);
	for (size_t i = 0; i < G_N_ELEMENTS(asks); i++)
		if (strcmp(rest, asks[i].word) == 0 && app_view(app) == VIEW_ORDER)
			app_request(app, asks[i].request, 0);
	return true;
}

/* List the report's races with their places and verdicts here. */
static void list_reported(struct app *app)
{
	const struct session *s = app->session;
	GString *out = g_string_new(NULL);
	guint here = 0;
	for (guint i = 0; i < s->reported->len; i++) {
		const struct reported_pair *r =
		        &g_array_index(s->reported, struct reported_pair, i);
		const struct entry *entry = NULL;
		for (guint k = 0; k < s->entries->len && entry == NULL; k++)
			if (session_reported(s, s->entries->pdata[k]) == i + 1)
				entry = s->entries->pdata[k];
		g_string_append_printf(out, "%4u  %s\n      ", i + 1, r->where);
		if (entry)
			g_string_append_printf(out, "%s %s on %s",
			                       verdict_glyph(entry->finding),
			                       finding_verdict_text(entry->finding->kind,
			                                            entry->finding->verdict),
			                       entry->variable);
		else if (r->pair[0] != NONE)
			g_string_append_printf(out, "events %u and %u, no finding of its own",
			                       r->pair[0], r->pair[1]);
		else
			g_string_append(out, "no pair of accesses of this trace");
		g_string_append_printf(out, "%s%s\n", entry && entry->triage ? "   " : "",
		                       entry && entry->triage ? triage_word(entry->triage)
		                                              : "");
		here += entry || r->pair[0] != NONE;
	}
	g_string_append_printf(out,
	                       "\n%u of the %u are in this trace.  :report NUMBER goes to one, "
	                       "/ reported in the findings shows them alone.\n",
	                       here, s->reported->len);
	app_show_text(app, "Report", out);
}

bool word_report(struct app *app, const char *arguments, struct error *error)
{
	struct session *s = app->session;
	char *end;
	guint64 number = g_ascii_strtoull(arguments, &end, 10);
	if (s->reported == NULL)
		return refuse(error, NO_REPORT);
	if (*arguments == '\0') {
		list_reported(app);
		return true;
	}
	if (*end || number == 0 || number > s->reported->len)
		return refuse(error, WANTS_RACE);
	if (!session_ask_reported(s, (guint)number))
		return refuse(error, NO_REPORTED_PAIR, (guint)number);
	app_go(app, VIEW_SOURCE);
	app_goto(app, s->pair[0], false);
	app_say(app, SAYS_REPORTED, (guint)number, s->reported->len);
	return true;
}

bool word_filter(struct app *app, const char *arguments, struct error *error)
{
	app_go(app, VIEW_FINDINGS);
	findings_view.search(app, app->states[VIEW_FINDINGS], arguments, 1);
	return true;
}

bool word_group(struct app *app, const char *arguments, struct error *error)
{
	app_go(app, VIEW_FINDINGS);
	return findings_group(app, *arguments ? arguments : "variable") ||
	       refuse(error, WANTS_GROUPING);
}

static struct entry *need_entry(const struct app *app, struct error *error)
{
	struct entry *entry = session_selected(app->session);
	if (entry == NULL)
		refuse(error, NO_FINDING);
	return entry;
}

bool word_triage(struct app *app, const char *arguments, struct error *error)
{
	struct entry *entry = need_entry(app, error);
	if (entry == NULL)
		return false;
	size_t length = strcspn(arguments, " ");
	const char *note = arguments + length + strspn(arguments + length, " ");
	for (int m = 0; m < TRIAGE_COUNT; m++) {
		const char *word = m ? triage_word((enum triage)m) : "none";
		if (strlen(word) != length || strncmp(arguments, word, length) != 0)
			continue;
		guint count = findings_mark(app, (enum triage)m, *note ? note : NULL);
		if (count > 1)
			app_say(app, SAYS_MARKED_MANY, count, word);
		app_refresh(app);
		return session_save_notes(app->session, error);
	}
	return refuse(error, WANTS_MARK);
}

bool word_note(struct app *app, const char *arguments, struct error *error)
{
	struct entry *entry = need_entry(app, error);
	if (entry == NULL)
		return false;
	g_free(entry->note);
	entry->note = *arguments ? g_strdup(arguments) : NULL;
	return session_save_notes(app->session, error);
}

bool word_bookmark(struct app *app, const char *arguments, struct error *error)
{
	struct bookmark b = { app->session->event, NULL };
	if (!need_events(app, error))
		return false;
	if (g_ascii_isdigit(*arguments))
		return refuse(error, WANTS_NAME);
	b.name = *arguments ? g_strdup(arguments) : g_strdup_printf("%u", b.event);
	g_array_append_val(app->session->bookmarks, b);
	app_say(app, SAYS_BOOKMARK_NAMED, b.name, b.event);
	return session_save_notes(app->session, error);
}

bool word_export(struct app *app, const char *arguments, struct error *error)
{
	return export_write(app, *arguments ? arguments : NULL, error);
}

bool word_replay(struct app *app, const char *arguments, struct error *error)
{
	return export_replay(app, arguments, error);
}

bool word_analyse(struct app *app, const char *arguments, struct error *error)
{
	if (!jobs_idle(&app->jobs))
		return refuse(error, NO_SECOND_ANALYSIS);
	if (*arguments) {
		char *end;
		double seconds = g_ascii_strtod(arguments, &end);
		if (*end || !(seconds > 0) || seconds > 1e6)
			return refuse(error, WANTS_SECONDS);
		app->options.budget_total = seconds;
		app->options.budget_pair = MAX(seconds / 10, 1);
	}
	app_start_work(app);
	return true;
}

bool word_stop(struct app *app, const char *arguments, struct error *error)
{
	app_request(app, REQUEST_STOP, 0);
	return true;
}
