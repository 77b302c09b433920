/*
 * return_point.c - see return_point.h.
 */
#include "tui/explorer/exploration/return_point.h"

#include "engine/base/input.h"
#include "engine/trace/own_code.h"
#include "tui/explorer/schedule.h"
#include "tui/explorer/exploration/tree.h"

#include <jansson.h>
#include <string.h>

enum { MOST_EVENTS = 2000000 }; /* compared */

void return_point_free(struct return_point *p)
{
	if (p == NULL)
		return;
	g_free(p->thread);
	g_free(p->operation);
	g_free(p->place);
	g_free(p->story);
	g_free(p);
}

/* -- reading ------------------------------------------------------------------------------- */

static char *operation_at(const struct trace *t, uint32_t event)
{
	GString *text = g_string_new(trace_verb(t, event));

	trace_append_operand(t, event, text);
	return g_string_free(text, FALSE);
}

/* Is it this event of the trace, by thread and operation? */
static bool is_event(const struct trace *t, uint32_t event, const json_t *item)
{
	const char *thread = json_string_value(json_object_get(item, "thread"));
	const char *operation = json_string_value(json_object_get(item, "operation"));

	if (thread == NULL || operation == NULL || event >= t->events_count ||
	    strcmp(thread, trace_thread_name(t, t->events[event].thread)) != 0)
		return false;
	g_autofree char *text = operation_at(t, event), *safe = NULL;
	GString *escaped = g_string_new(NULL);
	append_escaped(escaped, text, strlen(text));
	safe = g_string_free(escaped, FALSE);
	return strcmp(operation, safe) == 0 || strcmp(operation, text) == 0;
}

static char *text_of(const json_t *item, const char *key)
{
	const char *text = json_string_value(json_object_get(item, key));

	return g_strdup(text ? text : "");
}

/* The point in this trace; NULL: the trace does not have it. */
static struct return_point *point_of(const struct trace *t, const json_t *error)
{
	const json_t *item = json_object_get(error, "point-of-no-return");
	const json_t *passes = json_object_get(item, "passes");
	const json_t *fails = json_object_get(item, "fails");
	const json_t *instead = json_object_get(item, "instead");
	json_int_t first = json_integer_value(json_object_get(passes, "event"));
	json_int_t second = json_integer_value(json_object_get(fails, "event"));
	struct return_point *p;

	if (second < 0 || second >= NONE || (json_is_object(passes) && first >= second) ||
	    first < 0 || !is_event(t, (uint32_t)second, fails) ||
	    (json_is_object(passes) && !is_event(t, (uint32_t)first, passes)))
		return NULL;
	p = g_new0(struct return_point, 1);
	p->passes = json_is_object(passes) ? (uint32_t)first : NONE;
	p->fails = (uint32_t)second;
	p->thread = text_of(instead, "thread");
	p->operation = text_of(instead, "operation");
	p->place = text_of(instead, "location");
	p->story = text_of(error, "story");
	p->every = json_is_true(json_object_get(item, "every"));
	return p;
}

static char *event_text(const struct trace *t, uint32_t e)
{
	GString *text = g_string_new(trace_thread_name(t, t->events[e].thread));

	g_string_append_c(text, ' ');
	trace_append_operation(t, e, text);
	g_string_append_printf(text, " %s", trace_location_name(t, e));
	return g_string_free(text, FALSE);
}

/* Do both runs have the same events up to this one? */
static bool begin_alike(const struct trace *t, const struct trace *other, uint32_t last)
{
	bool same = last < t->events_count && last < other->events_count && last < MOST_EVENTS;

	for (uint32_t e = 0; same && e <= last; e++) {
		g_autofree char *a = event_text(t, e), *b = event_text(other, e);

		same = strcmp(a, b) == 0;
	}
	return same;
}

/* The error's trace lies beside the exploration, also when both were moved. */
static struct trace *trace_of(const char *file, const json_t *error)
{
	const char *path = json_string_value(json_object_get(error, "trace"));
	struct error ignored;

	if (path == NULL)
		return NULL;
	g_autofree char *folder = g_path_get_dirname(file), *base = g_path_get_basename(path);
	g_autofree char *beside = g_build_filename(folder, base, NULL);
	return trace_open(beside, NULL, NULL, &ignored);
}

/* `run`: the trace is this run of the exploration; NONE: it may begin as one. */
static struct return_point *find_in(const struct trace *t, const char *file, uint32_t run)
{
	json_auto_t *root = input_json(file, "tree", NULL);
	const json_t *errors = json_object_get(root, "errors");
	struct return_point *p = NULL;

	for (size_t i = 0; p == NULL && i < json_array_size(errors); i++) {
		const json_t *error = json_array_get(errors, i);
		const json_t *of =
		        json_object_get(json_object_get(error, "point-of-no-return"), "run");

		if (run != NONE && json_integer_value(of) != run)
			continue;
		p = of ? point_of(t, error) : NULL;
		if (p == NULL || run != NONE)
			continue;
		struct trace *other = trace_of(file, error);
		if (other == NULL || !begin_alike(t, other, p->fails)) {
			return_point_free(p);
			p = NULL;
		}
		if (other != NULL)
			trace_close(other);
	}
	return p;
}

struct return_point *return_point_find(const struct trace *t, const char *file)
{
	uint32_t run = NONE;
	g_autofree char *beside = t->path ? tree_of_trace(t->path, &run) : NULL;
	struct return_point *p = NULL;

	if (file != NULL)
		p = find_in(t, file, g_strcmp0(file, beside) == 0 ? run : NONE);
	if (p == NULL && beside != NULL)
		p = find_in(t, beside, run);
	if (p == NULL && beside != NULL) {
		g_autofree char *explored = g_strconcat(beside, ".explored", NULL);
		p = find_in(t, explored, NONE);
	}
	return p;
}

/* -- in words --------------------------------------------------------------------------------- */

const char *return_point_claim(const struct return_point *p)
{
	return p->every ? "every schedule fails" : "no schedule that was run ends well";
}

void return_point_append_instead(const struct return_point *p, GString *out)
{
	append_escaped(out, p->thread, strlen(p->thread));
	g_string_append(out, "'s ");
	append_escaped(out, p->operation, strlen(p->operation));
	g_string_append(out, " (");
	append_escaped(out, p->place, strlen(p->place));
	g_string_append_c(out, ')');
}

static void tell_line(const struct session *s, struct sources *sources, uint32_t event,
                      GArray *prose)
{
	const struct location *l = own_code_location(s->trace, event);
	const char *line =
	        l->file && l->line
	                ? sources_line(sources, trace_string(s->trace, l->file), l->line)
	                : NULL;

	if (line)
		prose_add(prose, STYLE_TEXT, event, "      %s", line);
}

/* "T2's lock m in sell q.c:10" */
static void append_step(const struct session *s, uint32_t event, GString *out)
{
	const char *thread = trace_thread_name(s->trace, s->trace->events[event].thread);

	append_escaped(out, thread, strlen(thread));
	g_string_append(out, "'s ");
	describe_event(s, event, out);
	g_string_append(out, " in ");
	describe_place(s, event, out);
}

/* "T2 is before lock m in sell q.c:10, holds k, waits for m of T1" */
static void tell_thread(const struct stage *stage, guint step, const GArray *locks,
                        uint32_t thread, GArray *prose)
{
	const struct trace *t = stage->session->trace;
	uint32_t last = stage_last(stage, thread, step);
	uint32_t next = stage_next(stage, thread, step);
	g_autoptr(GString) text = g_string_new("  "), status = g_string_new(NULL);

	append_escaped(text, trace_thread_name(t, thread),
	               strlen(trace_thread_name(t, thread)));
	if (next == NONE && last != NONE && op_wants(t->events[last].op))
		next = last;
	if (next == NONE) {
		g_string_append_printf(text, " %s", describe_no_more(t, last));
	} else if (last == NONE) {
		g_string_append(text, " has not begun");
	} else {
		g_string_append(text, " is about to go on with ");
		describe_event(stage->session, next, text);
		g_string_append(text, " in ");
		describe_place(stage->session, next, text);
	}
	stage_append_status(stage, thread, step, locks, next, status);
	if (status->len)
		g_string_append_printf(text, ", %s", status->str);
	prose_add(prose, style_of_thread(thread), next, "    %s", text->str);
}

/* Describes all threads, or only the thread that took the step. */
static void tell_threads(const struct stage *stage, guint step, uint32_t only, GArray *prose)
{
	enum { MOST = 12 };
	const struct trace *t = stage->session->trace;
	g_autoptr(GArray) locks = stage_locks(stage, step);
	uint32_t listed = 0;

	for (uint32_t u = 0; u < t->threads_count && listed < MOST; u++) {
		if (only != NONE && only != u)
			continue;
		tell_thread(stage, step, locks, u, prose);
		listed++;
	}
}

/* The passing run's step beside the failing one's. */
static void tell_difference(const struct session *s, const struct return_point *p,
                            GArray *prose)
{
	g_autoptr(GString) text = g_string_new("  The difference: here this run goes on with ");

	append_step(s, p->fails, text);
	g_string_append(text, "; one that ends well goes on with ");
	return_point_append_instead(p, text);
	g_string_append_c(text, '.');
	prose_add(prose, STYLE_TEXT, p->fails, "%s", text->str);
}

static void tell_states(const struct session *s, const struct return_point *p, GArray *prose)
{
	g_autoptr(GArray) events = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	struct stage stage;

	for (uint32_t e = 0; e <= p->fails; e++)
		g_array_append_val(events, e);
	stage_init(&stage, s, events, false);
	prose_add(prose, STYLE_TEXT, p->passes, "  The threads, while it can still end well:");
	tell_threads(&stage, p->fails, NONE, prose);
	prose_add(prose, STYLE_TEXT, p->fails, "  After the step, the others as before:");
	tell_threads(&stage, p->fails + 1, s->trace->events[p->fails].thread, prose);
	stage_release(&stage);
}

void return_point_tell(const struct session *s, struct sources *sources, GArray *prose)
{
	const struct return_point *p = s->point;
	g_autoptr(GString) text = g_string_new(NULL);

	prose_add(prose, STYLE_TEXT, NONE, "%s", "");
	prose_add(prose, STYLE_HEADING, p->fails, "%s",
	          "The point of no return of this run (in the explorer: |)");
	if (*p->story) {
		append_escaped(text, p->story, strcspn(p->story, "\n"));
		prose_add(prose, STYLE_TEXT, NONE, "  How it ends: %s", text->str);
		g_string_truncate(text, 0);
	}
	if (p->passes == NONE) {
		prose_add(prose, STYLE_NONE, NONE, "%s",
		          "  At its begin it can still end well.");
	} else {
		append_step(s, p->passes, text);
		prose_add(prose, STYLE_NONE, p->passes,
		          "  The last chance: after %s it can still end well.", text->str);
		tell_line(s, sources, p->passes, prose);
		g_string_truncate(text, 0);
	}
	append_step(s, p->fails, text);
	prose_add(prose, STYLE_RACE, p->fails, "  The point of no return: after %s %s.",
	          text->str, return_point_claim(p));
	tell_line(s, sources, p->fails, prose);
	tell_difference(s, p, prose);
	tell_states(s, p, prose);
}
