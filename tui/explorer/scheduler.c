/*
 * scheduler.c - manual scheduling: the user chooses the next thread, and the independent
 * checker says which are enabled, or why not, until both events of the pair are next.
 */
#include "tui/explorer/views/view_witness.h"

#include "tui/explorer/messages.h"

/* -- drawing ------------------------------------------------------------------------ */

enum { REASON_ROWS = 6 };

static void draw_choices(const struct app *app, const struct witness_view *v, struct pane p)
{
	const struct chooser *c = &v->chooser;
	const struct trace *t = app_trace(app);
	g_autoptr(GString) text = g_string_new(NULL);
	for (guint i = 0; i < c->choices->len; i++) {
		const struct choice *choice = &g_array_index(c->choices, struct choice, i);
		int row = (int)i - MAX((int)v->choice - (p.rows - REASON_ROWS - 2), 0);
		if (row < 0 || row >= p.rows - REASON_ROWS)
			continue;
		g_string_truncate(text, 0);
		g_string_append_printf(text, "%s ", trace_thread_name(t, i));
		if (choice->event == NONE) {
			g_string_append(text, "has no more events");
		} else {
			g_string_append_printf(text, "%u ", choice->event);
			describe_event(app->session, choice->event, text);
		}
		bool pair = choice->event != NONE &&
		            (choice->event == v->pair[0] || choice->event == v->pair[1]);
		pane_text(p, row, 1, choice->enabled ? STYLE_NONE : STYLE_DIM,
		          choice->enabled ? "✓" : "✗");
		pane_text(p, row, 3, pair ? STYLE_RACE : style_of_thread(i), text->str);
		if (i != v->choice)
			continue;
		pane_highlight(p, row, ATTR_REVERSE);
		if (!choice->enabled && choice->event != NONE)
			pane_paragraph(pane_part(p, p.rows - REASON_ROWS, 1, -1, p.columns - 2),
			               0, 0, STYLE_OPEN,
			               *choice->why ? choice->why : choice->reason);
	}
}

static void draw_foot(const struct app *app, const struct witness_view *v, struct pane p)
{
	const struct chooser *c = &v->chooser;
	bool there = chooser_is_at_pair(c, v->pair);
	stage_pane_draw(app, &(struct stage_shown){ &c->stage, c->events->len, v->pair }, NULL,
	                NULL, p);
	pane_text(p, 0, 2, there ? STYLE_RACE : STYLE_NONE,
	          there ? " both are about to happen: your schedule is a witness (e writes it) "
	                : " ✓ so far a correct reordering ");
}

void scheduler_draw(const struct app *app, const struct witness_view *v, struct pane p)
{
	const struct chooser *c = &v->chooser;
	int half = split_at(app, SPLIT_WITNESS, p.columns, p.columns * 2 / 5, 12, 24),
	    foot = stage_pane_rows(&c->stage, p.rows);
	struct pane left = pane_part(p, 2, 0, p.rows - 2 - foot, half);
	pane_format(p, 0, 1, STYLE_HEADING, "your schedule: %u events", c->events->len);
	pane_text(p, 0, half + 2, STYLE_HEADING,
	          "who goes next?  Enter takes, u undoes, p ends");
	pane_rule(p, 1, NULL);
	pane_bar(pane_part(p, 2, 0, left.rows, -1), half);
	split_border(pane_part(p, 2, 0, left.rows, -1), SPLIT_WITNESS, half, true);
	guint top = c->events->len > (guint)left.rows ? c->events->len - left.rows : 0;
	g_autoptr(GString) text = g_string_new(NULL);
	for (guint i = top; i < c->events->len; i++) {
		uint32_t event = g_array_index(c->events, uint32_t, i);
		g_string_truncate(text, 0);
		stage_describe(&c->stage, event, i, text);
		draw_witness_event(app, v, left, (int)(i - top), event, text->str, 0);
	}
	draw_choices(app, v, pane_part(p, 2, half + 1, left.rows, -1));
	draw_foot(app, v, pane_part(p, p.rows - foot, 0, -1, -1));
}

/* -- requests ----------------------------------------------------------------------- */

void scheduler_start(struct app *app, struct witness_view *v, guint count)
{
	g_autoptr(GString) reason = g_string_new(NULL);
	if (!session_has(app->session, INDEX_ALL)) {
		app_say(app, SAYS_INDEX_AWAITED);
	} else if (chooser_init(&v->chooser, app->session, v->w.events, count, reason)) {
		v->choosing = true;
		v->choice = 0;
		app_say(app, SAYS_SCHEDULER);
	} else {
		chooser_release(&v->chooser);
		app_say(app, SAYS_REFUSED, reason->str);
	}
}

/* Makes the schedule the witness, when it has reached the pair. */
static bool adopt(struct app *app, struct witness_view *v)
{
	if (!chooser_is_at_pair(&v->chooser, v->pair)) {
		app_say(app, SAYS_NO_WITNESS_YET);
		return false;
	}
	GArray *events = g_array_copy(v->chooser.events);
	g_array_append_vals(events, v->pair, 2);
	struct finding *f = finding_new(FINDING_DATA_RACE, v->pair[0], v->pair[1]);
	f->verdict = VERDICT_RACE;
	f->count = 1;
	f->witness = events;
	f->by = "you";
	g_autoptr(GString) reason = g_string_new(NULL);
	struct check_options options = { .use_missing = app->session->missing };
	bool good = witness_check(app_trace(app), event_list_of(events),
	                          claimed_of(CLAIM_RACE, v->pair, 2), &options, reason);
	if (good) {
		struct report *report = report_new(app_trace(app), "you");
		report_add(report, f);
		if (app->session->missing)
			session_add_missing(app->session, report);
		else
			session_settle(app->session, report);
		app_refresh(app);
		app_say(app, SAYS_SCHEDULE_ACCEPTED);
	} else {
		app_say(app, SAYS_REFUSED, reason->str);
		finding_free(f);
	}
	return good;
}

bool scheduler_request(struct app *app, struct witness_view *v, enum request request)
{
	uint32_t threads = (uint32_t)v->chooser.choices->len;
	g_autoptr(GString) reason = g_string_new(NULL);
	bool understood = true;
	switch (request) {
	case REQUEST_DOWN:
	case REQUEST_TAB:
		v->choice = (v->choice + 1) % MAX(threads, 1);
		break;
	case REQUEST_UP:
		v->choice = (v->choice + threads - 1) % MAX(threads, 1);
		break;
	case REQUEST_ENTER:
	case REQUEST_NEXT:
		if (!chooser_take(&v->chooser, v->choice, reason))
			app_say(app, SAYS_NOT_NOW, reason->str);
		break;
	case REQUEST_UNDO:
	case REQUEST_PREVIOUS:
		chooser_undo(&v->chooser);
		break;
	case REQUEST_EXPORT:
		if (adopt(app, v))
			app_command(app, "export");
		break;
	case REQUEST_VERIFY:
		adopt(app, v);
		break;
	case REQUEST_SCHEDULE:
	case REQUEST_BACK:
	case REQUEST_QUIT:
		chooser_release(&v->chooser);
		v->choosing = false;
		break;
	default:
		understood = false;
	}
	return understood;
}
