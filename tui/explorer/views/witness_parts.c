/*
 * witness_parts.c - parts of the witness view that its forms share: an event, the reason of a
 * switch, the claim, the foot.
 */
#include "engine/trace/shown.h"
#include "engine/trace/own_code.h"
#include "tui/explorer/views/view_witness.h"
#include "tui/explorer/words/missing_code.h"
#include "tui/explorer/messages.h"
#include <string.h>

guint witness_cursor(const struct witness_view *v)
{
	for (uint64_t i = v->list.cursor; i < v->rows->len; i++) {
		const struct row *row = &g_array_index(v->rows, struct row, i);
		if (row->kind == ROW_EVENT)
			return row->index;
		if (row->kind == ROW_FOLD)
			return v->fold - 1;
	}
	return v->w.events->len - 1;
}

static guint step_shown(const struct witness_view *v)
{
	enum row_kind kind = g_array_index(v->rows, struct row, v->list.cursor).kind;
	guint index = witness_cursor(v);
	return kind == ROW_EVENT || kind == ROW_FOLD ? index + 1 : index;
}

void append_witness_event(const struct app *app, const struct witness_view *v, guint i,
                          GString *out)
{
	const struct session *s = app->session;
	const struct trace *t = s->trace;
	uint32_t event = witness_event(v, i);
	const struct event *e = &t->events[event];
	bool reached = v->w.claim == CLAIM_REACH && i + 1 >= v->w.events->len;
	bool racing = reached || (v->w.claim == CLAIM_RACE && i + 2 >= v->w.events->len);
	bool plain = op_is_access(e->op) && !(e->flags & EVENT_WIDE);
	guint step = reached ? i : racing ? MAX(v->w.events->len, 2) - 2 : i;
	uint32_t writer, value = 0;
	if (racing && plain && !op_writes(e->op))
		value = stage_value(&v->stage, step, e->target, &writer);
	if (value == 0) {
		stage_describe(&v->stage, event, step, out);
		return;
	}
	uint32_t other = stage_value(&v->stage, v->w.events->len, e->target, &writer);
	describe_operand(t, event, out);
	g_string_append(out, " reads ");
	shown_append(t, e->target, value, event, out);
	if (other && other != value) {
		g_string_append(out, " or ");
		shown_append(t, e->target, other, event, out);
	}
}

void draw_witness_event(const struct app *app, const struct witness_view *v, struct pane p,
                        int row, uint32_t event, const char *text, int8_t move)
{
	const struct trace *t = app_trace(app);
	uint32_t thread = t->events[event].thread;
	bool lacking = session_lacks_code(app->session);
	int at = v->name_width + v->number_width + (lacking ? 5 : 3);
	char number[16];
	g_snprintf(number, sizeof number, "%u", event);
	pane_field(p, row, 1, v->name_width, style_of_thread(thread),
	           trace_thread_name(t, thread));
	bool pair = event == v->pair[0] || event == v->pair[1];
	pane_field_right(p, row, v->name_width + 2, v->number_width,
	                 pair ? STYLE_RACE : STYLE_DIM, number);
	/* text only if it fits */
	bool words = p.columns - at - 13 >= text_columns(text);
	const char *mark = move == 0 ? ""
	                   : words   ? (move > 0 ? "moved up ▲" : "moved down ▼")
	                             : (move > 0 ? "▲" : "▼");
	if (lacking)
		pane_text(p, row, at - 2, STYLE_MISSING,
		          missing_code_sign(app->session, thread, event));
	int width = text_columns(mark);
	pane_field(p, row, at, p.columns - at - (width ? width + 1 : 0),
	           pair ? STYLE_RACE : style_of_thread(thread), text);
	pane_field_right(p, row, p.columns - width, width, STYLE_MOVED, mark);
}

/* "T1's unlock m" */
static void append_step(const struct session *s, uint32_t event, GString *out)
{
	const char *thread = trace_thread_name(s->trace, s->trace->events[event].thread);
	append_escaped(out, thread, strlen(thread));
	g_string_append(out, "'s ");
	describe_event(s, event, out);
}

/* The old thread goes no further: it is before its event of the pair, or no longer needed. */
static void append_end(const struct session *s, const struct witness_view *v, uint32_t thread,
                       uint32_t event, GString *out)
{
	const char *name = trace_thread_name(s->trace, thread);
	append_escaped(out, name, strlen(name));
	if (event == NONE) {
		g_string_append(out, " takes no more steps");
		return;
	}
	const struct location *l = own_code_location(s->trace, event);
	g_string_append(out, claim_waits(v->w.claim) ? " waits at " : " stops before ");
	if (l->line)
		g_string_append_printf(out, "line %u", l->line);
	else
		describe_event(s, event, out);
}

void append_switch_reason(const struct session *session, const struct witness_view *v,
                          const struct context_switch *s, GString *out)
{
	const struct trace *t = session->trace;
	if (s->reason == SWITCH_OPTIONAL) {
		g_string_append(out, "optional");
		return;
	}
	g_string_append(out, "needed: ");
	if (s->reason == SWITCH_LOCK) {
		describe_operand(t, s->waits, out);
		g_string_append(out, " must be free");
		if (s->because != NONE)
			g_string_append_printf(out, " (%u)", s->because);
	} else if (s->reason == SWITCH_END) {
		append_end(session, v, t->events[witness_event(v, s->at - 1)].thread, s->waits,
		           out);
	} else if (s->because == NONE) {
		append_step(session, s->waits, out);
		g_string_append(out, " has to wait");
	} else {
		g_string_append(out, s->reason == SWITCH_WRITE ? "" : "first ");
		append_step(session, s->because, out);
		g_string_append(out, s->reason == SWITCH_WRITE ? " is still to come" : "");
	}
}

const char *witness_claim_words(const struct witness_view *v)
{
	switch (v->w.claim) {
	case CLAIM_DEADLOCK:
		return v->w.pair->len > 1 ? " here they wait for each other, for ever "
		                          : " here it waits, for ever ";
	case CLAIM_STUCK:
		return v->w.pair->len > 1 ? " here they wait, for ever "
		                          : " here it waits, for ever ";
	case CLAIM_REACH:
		return " here the condition holds ";
	case CLAIM_C11_RACE:
		return " unordered by C11: they race ";
	default:
		return " both are about to happen: they race ";
	}
}

/* A switch between the events of the pair does not count: either may go first. */
void append_switch_count(const struct witness_view *v, GString *out)
{
	guint needed = 0, all = 0,
	      end = v->w.events->len - MIN(v->w.pair->len, v->w.events->len);
	bool race = v->w.claim == CLAIM_RACE || claim_waits(v->w.claim);
	for (guint i = 0; i < v->switches->len; i++) {
		const struct context_switch *s =
		        &g_array_index(v->switches, struct context_switch, i);
		if (race && s->at >= end)
			continue;
		all++;
		needed += s->reason != SWITCH_OPTIONAL;
	}
	if (v->stage.session->weak)
		g_string_append_printf(out, "--memory %s", weak_model_words[v->w.memory]);
	else if (all == 0)
		g_string_append(out, "no switch");
	else if (needed == all)
		g_string_append_printf(out, "%u switch%s, %s", all, all == 1 ? "" : "es",
		                       all == 1   ? "needed"
		                       : all == 2 ? "both needed"
		                                  : "all needed");
	else
		g_string_append_printf(out, "%u switch%s, %u needed", all, all == 1 ? "" : "es",
		                       needed);
}

int witness_foot_rows(const struct witness_view *v, int rows)
{
	return stage_pane_rows(&v->stage, rows) + stage_sentence_rows(v->sentence, v->columns);
}

void draw_witness_foot(const struct app *app, const struct witness_view *v, struct pane p)
{
	guint step = step_shown(v);
	g_autoptr(GString) text = g_string_new(NULL);
	g_string_append_printf(text, "after step %u of %u", step, v->w.events->len);
	stage_pane_draw(app, &(struct stage_shown){ &v->stage, step, v->pair }, text->str,
	                v->sentence, p);
	int title = text_columns(text->str) + 5; /* the rule is visible on both sides */
	g_string_assign(text, " cut off: ");
	stage_append_cut(&v->stage, text);
	g_string_append_c(text, ' ');
	int width = text_columns(text->str), most = MIN(p.columns / 2, p.columns - 2 - title);
	pane_field(p, 0, p.columns - 2 - MIN(width, most), MIN(width, most), STYLE_DIM,
	           text->str);
}
