/*
 * reach.c - `:reach COND at PLACE`: is there an order of this run's events in which COND
 * holds when a thread comes to PLACE? The engine answers beside the screen
 * (engine/predict/reachable.h): with a schedule that the checker accepts, a proof that none
 * exists, or "unknown".
 */
#include "tui/explorer/words/weak_memory.h"
#include "tui/explorer/commands/commands.h"

#include "engine/predict/reachable.h"
#include "engine/trace/own_code.h"
#include "engine/trace/shown.h"
#include "tui/explorer/words/prose.h"
#include "tui/explorer/schedule.h"
#include "tui/explorer/messages.h"

#include <string.h>

enum { MOST_VISITS = 64, SECONDS = 30 };

struct reach {
	const struct session *s;
	char *asked; /* owned: as typed */
	char *text;  /* owned: its condition */
	struct stop_condition *condition;
	GArray *names;     /* uint32_t: variables by name of the condition, or NONE */
	GArray *variables; /* uint32_t: these without NONE */
	GArray *targets;   /* uint32_t */
	uint64_t visits;   /* of the place, in all */
	struct reachable_answer answer;
};

static void reach_free(struct reach *r)
{
	stop_condition_free(r->condition);
	g_array_unref(r->names);
	g_array_unref(r->variables);
	g_array_unref(r->targets);
	reachable_release(&r->answer);
	g_free(r->asked);
	g_free(r->text);
	g_free(r);
}

/* -- the question --------------------------------------------------------------------------- */

static bool is_among(const GArray *locations, uint32_t location)
{
	for (guint i = 0; i < locations->len; i++)
		if (g_array_index(locations, uint32_t, i) == location)
			return true;
	return false;
}

/* Add the first event of each visit of these places. */
static void add_visits(struct reach *r, const GArray *locations, bool own)
{
	const struct trace *t = r->s->trace;
	g_autofree bool *inside = g_new0(bool, t->threads_count + 1);
	for (uint32_t e = 0; e < t->events_count; e++) {
		uint32_t location = own ? own_code_place(t, e).location : t->events[e].location;
		bool here = is_among(locations, location);
		if (here && !inside[t->events[e].thread] && r->visits++ < MOST_VISITS)
			g_array_append_val(r->targets, e);
		inside[t->events[e].thread] = here;
	}
}

static bool find_targets(struct reach *r, const char *place, struct error *error)
{
	g_autoptr(GArray) locations = locations_of(r->s->trace, place);
	add_visits(r, locations, false);
	if (r->targets->len == 0 && locations->len) /* its events are all inside of libraries */
		add_visits(r, locations, true);
	return r->targets->len || refuse(error, NO_EVENT_AT, place);
}

static bool find_variables(struct reach *r, struct error *error)
{
	r->names = stop_condition_variables(r->condition);
	for (guint i = 0; i < r->names->len; i++) {
		uint32_t variable = g_array_index(r->names, uint32_t, i);
		if (variable != NONE)
			g_array_append_val(r->variables, variable);
	}
	return r->variables->len || refuse(error, NO_VARIABLE_NAMED);
}

/* -- the answer ----------------------------------------------------------------------------- */

static uint32_t value_of(const struct reach *r, uint32_t variable, uint32_t writer)
{
	const struct trace *t = r->s->trace;
	return writer == NONE ? schedule_initial_value(r->s, variable)
	                      : schedule_written_value(t, &t->events[writer]);
}

static enum truth holds(void *self, uint32_t target, const uint32_t *writers)
{
	const struct reach *r = self;
	g_autofree uint32_t *values = g_new0(uint32_t, r->names->len + 1);
	for (guint i = 0, v = 0; i < r->names->len; i++) {
		uint32_t variable = g_array_index(r->names, uint32_t, i);
		if (variable != NONE)
			values[i] = value_of(r, variable, writers[v++]);
	}
	return stop_condition_holds_with(r->s, r->condition, target, values);
}

static bool reach_run(struct job *job, const struct progress *progress, struct error *error)
{
	struct reach *r = job->data;
	struct reachable_question question = { r->targets, r->variables, holds, r, SECONDS };
	return reachable_decide(r->s->trace, &question, &r->answer, progress, error);
}

static void append_thread(const struct session *s, uint32_t event, GString *out)
{
	const char *name = trace_thread_name(s->trace, s->trace->events[event].thread);
	append_escaped(out, name, strlen(name));
}

/* "deposit bank.c:20 to deposit bank.c:25": the first and the last source line of the turn. */
static void append_places(const struct reach *r, const GArray *events, guint begin, guint end,
                          GString *out)
{
	const struct trace *t = r->s->trace;
	guint first = begin, last = end - 1;
	while (first < last &&
	       own_code_location(t, g_array_index(events, uint32_t, first))->line == 0)
		first++;
	while (last > first &&
	       own_code_location(t, g_array_index(events, uint32_t, last))->line == 0)
		last--;
	g_autoptr(GString) from = g_string_new(NULL), to = g_string_new(NULL);
	describe_place(r->s, g_array_index(events, uint32_t, first), from);
	describe_place(r->s, g_array_index(events, uint32_t, last), to);
	g_string_append(out, from->str);
	if (strcmp(from->str, to->str) != 0)
		g_string_append_printf(out, " to %s", to->str);
}

/* "  2. T1, bank.c:20 to bank.c:25: lock m, balance 100 → 150, and 3 other events" */
static void tell_turn(GArray *prose, const struct reach *r, const struct stage *stage,
                      guint begin, guint end, guint number)
{
	enum { LISTED = 5 };
	g_autoptr(GString) text = g_string_new(NULL);
	uint32_t first = g_array_index(stage->events, uint32_t, begin);
	g_string_append_printf(text, "%u. ", number);
	append_thread(r->s, first, text);
	g_string_append(text, ", ");
	append_places(r, stage->events, begin, end, text);
	g_string_append(text, ": ");
	for (guint i = MAX(begin + LISTED, end) - LISTED, listed = 0; i < end; i++, listed++) {
		g_string_append(text, listed ? ", " : end - begin > LISTED ? "…, " : "");
		stage_describe(stage, g_array_index(stage->events, uint32_t, i), i, text);
	}
	prose_add(prose, style_of_thread(r->s->trace->events[first].thread), first, "  %s",
	          text->str);
}

static void tell_schedule(GArray *prose, const struct reach *r, const struct stage *stage)
{
	enum { MOST_TURNS = 40 };
	const GArray *events = stage->events;
	const struct trace *t = r->s->trace;
	g_autoptr(GArray) begins = g_array_new(FALSE, FALSE, sizeof(guint));
	for (guint i = 0; i < events->len; i++)
		if (i == 0 || t->events[g_array_index(events, uint32_t, i)].thread !=
		                      t->events[g_array_index(events, uint32_t, i - 1)].thread)
			g_array_append_val(begins, i);
	guint skipped = begins->len > MOST_TURNS ? begins->len - MOST_TURNS : 0;
	if (skipped)
		prose_add(prose, STYLE_DIM, NONE, "  First %u other turn%s.", skipped,
		          plural(skipped));
	for (guint i = skipped; i < begins->len; i++)
		tell_turn(prose, r, stage, g_array_index(begins, guint, i),
		          i + 1 < begins->len ? g_array_index(begins, guint, i + 1)
		                              : events->len,
		          i + 1);
}

static bool is_as_recorded(const GArray *sequence)
{
	for (guint i = 0; i < sequence->len; i++)
		if (g_array_index(sequence, uint32_t, i) != i)
			return false;
	return true;
}

static void tell_yes(GArray *prose, const struct reach *r)
{
	const struct reachable_answer *a = &r->answer;
	const struct session *s = r->s;
	struct stage stage;
	stage_init(&stage, s, a->sequence, false);
	g_autoptr(GString) text = g_string_new(NULL);
	append_thread(s, a->target, text);
	g_string_append(text, " comes to ");
	describe_place(s, a->target, text);
	g_string_append(text, ", and there ");
	for (guint v = 0; v < r->variables->len; v++) {
		uint32_t variable = g_array_index(r->variables, uint32_t, v), writer;
		uint32_t value = stage_value(&stage, a->sequence->len, variable, &writer);
		g_string_append(text, v ? ", " : "");
		own_code_append_name(trace_variable_name(s->trace, variable), text);
		g_string_append(text, " is ");
		shown_append(s->trace, variable, value, writer, text);
		if (writer != NONE) {
			g_string_append(text, " (written by ");
			append_thread(s, writer, text);
			g_string_append(text, ", ");
			describe_place(s, writer, text);
			g_string_append_c(text, ')');
		}
	}
	bool recorded = is_as_recorded(a->sequence);
	prose_add(prose, STYLE_RACE, a->target, "✓ %s: %s", r->asked,
	          recorded ? "it is so in this very run"
	                   : "there is such an order of this run");
	prose_add(prose, STYLE_TEXT, a->target, "  %s.", text->str);
	prose_add(prose, STYLE_TEXT, NONE, "%s", "");
	if (recorded)
		prose_add(prose, STYLE_TEXT, a->target, "  Event %u: `goto %u` goes there.",
		          a->target, a->target);
	else
		tell_schedule(prose, r, &stage);
	if (!recorded)
		prose_add(prose, STYLE_NONE, NONE,
		          "  The independent checker accepts this order.");
	prose_add(prose, STYLE_TEXT, NONE,
	          "  w walks it, c runs the program along it, and `export NAME.wit` writes it "
	          "for verify and replay.");
	stage_release(&stage);
}

static void tell_no(GArray *prose, const struct reach *r, int columns)
{
	const struct reachable_answer *a = &r->answer;
	prose_add(prose, STYLE_NONE, NONE, "✗ %s: impossible, in any order of this run",
	          r->asked);
	prose_add(
	        prose, STYLE_TEXT, NONE,
	        "  In no reordering in which every read sees what it saw does a thread come "
	        "there with such values (%u visit%s of the place asked). Other inputs and reads "
	        "that see something else are not covered.",
	        a->asked, plural(a->asked));
	for (guint i = 0; i < MIN(a->proofs->len, 1); i++) {
		prose_add(prose, STYLE_TEXT, NONE, "%s", "");
		prose_add_proof(prose, r->s, a->proofs->pdata[i], columns,
		                "An order in which it is so");
	}
}

static void tell_unknown(GArray *prose, const struct reach *r)
{
	const struct reachable_answer *a = &r->answer;
	prose_add(prose, STYLE_OPEN, NONE, "? %s: unknown, no such order and no proof",
	          r->asked);
	if (a->spent)
		prose_add(prose, STYLE_TEXT, NONE, "  The search has spent its %d seconds.",
		          SECONDS);
	if (a->valueless)
		prose_add(
		        prose, STYLE_TEXT, NONE,
		        "  For some orders the trace does not have the variable's value there.");
	if (r->visits > MOST_VISITS)
		prose_add(prose, STYLE_TEXT, NONE,
		          "  Asked about the first %d of %" G_GUINT64_FORMAT
		          " visits of the place.",
		          MOST_VISITS, (guint64)r->visits);
}

static void reach_done(struct job *job, bool good, const struct error *error)
{
	struct app *app = job->context;
	struct reach *r = job->data;
	if (!app->jobs.closing && !good) {
		if (!error->cancelled)
			app_complain(app, error);
		else
			app_say(app, SAYS_REACH_STOPPED, r->asked);
	}
	if (!app->jobs.closing && good) {
		g_autoptr(GArray) prose = prose_new();
		GString *text = g_string_new(NULL);
		bool partly = r->visits > MOST_VISITS;
		if (r->answer.kind == REACHABLE_YES) {
			session_set_reached(app->session, r->answer.target, r->answer.sequence,
			                    r->text);
			tell_yes(prose, r);
		} else if (r->answer.kind == REACHABLE_NO && !partly)
			tell_no(prose, r, app->grid.columns);
		else
			tell_unknown(prose, r);
		prose_print(prose, MIN(app->grid.columns - 2, 100), app->options.ascii, text);
		app_show_text(app, "Reach", text);
	}
	reach_free(r);
}

bool word_reach(struct app *app, const char *arguments, struct error *error)
{
	const char *at = NULL;
	for (const char *p = arguments; (p = strstr(p, " at ")) != NULL; p++)
		at = p;
	if (at == NULL)
		return refuse(error, WANTS_CONDITION_AT);
	if (!need_events(app, error) || !need_index(app, error) ||
	    !weak_memory_allows(app->session, "other schedules", error))
		return false;
	g_autofree char *condition = g_strndup(arguments, at - arguments),
	                *place = g_strdup(at + 4);
	struct reach *r = g_new0(struct reach, 1);
	r->s = app->session;
	r->asked = g_strdup(arguments);
	r->variables = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	r->targets = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	r->names = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	r->text = g_strstrip(g_strdup(condition));
	r->condition = stop_condition_new(r->s, condition, error);
	bool good = r->condition != NULL;
	if (good) {
		g_array_unref(r->names);
		good = find_variables(r, error) && find_targets(r, g_strstrip(place), error);
	}
	if (!good) {
		reach_free(r);
		return false;
	}
	struct job *job = g_new0(struct job, 1);
	job->title = g_strdup_printf(WORK_REACH, r->asked);
	job->context = app;
	job->data = r;
	job->run = reach_run;
	job->done = reach_done;
	job->urgent = true;
	jobs_add(&app->jobs, job);
	return true;
}
