/*
 * libheddle.c - the engine as a library; see libheddle.h.
 */
#include "engine/api/libheddle.h"

#include "engine/predict/deadlock/deadlock.h"
#include "engine/predict/predict.h"
#include "engine/witness/check.h"

#include <string.h>

#define EXPORT __attribute__((visibility("default")))

struct heddle_trace {
	struct trace *t;
};

struct heddle_report {
	struct report *report;
};

EXPORT const char *heddle_version(void)
{
	return HEDDLE_VERSION;
}

/* Sets *into to "WHERE: WHAT; REMEDY", for free(). */
static void say(char **into, const struct error *error)
{
	GString *text = g_string_new(NULL);

	if (into == NULL)
		return;
	if (*error->where)
		g_string_append_printf(text, "%s: ", error->where);
	g_string_append(text, error->what);
	if (*error->remedy)
		g_string_append_printf(text, "; %s", error->remedy);
	*into = strdup(text->str);
	g_string_free(text, TRUE);
}

/* -- traces -------------------------------------------------------------------------------- */

EXPORT heddle_trace *heddle_trace_open(const char *path, char **error)
{
	const struct trace_options options = { .lenient = false };
	struct error e;
	struct trace *t = trace_open(path, &options, NULL, &e);

	if (t == NULL) {
		say(error, &e);
		return NULL;
	}
	heddle_trace *trace = g_new0(heddle_trace, 1);
	trace->t = t;
	return trace;
}

EXPORT void heddle_trace_close(heddle_trace *trace)
{
	if (trace == NULL)
		return;
	trace_close(trace->t);
	g_free(trace);
}

EXPORT uint64_t heddle_trace_event_count(const heddle_trace *trace)
{
	return trace->t->events_count;
}

EXPORT uint32_t heddle_trace_thread_count(const heddle_trace *trace)
{
	return (uint32_t)trace->t->threads_count;
}

EXPORT const char *heddle_trace_thread_name(const heddle_trace *trace, uint32_t thread)
{
	return thread < trace->t->threads_count ? trace_thread_name(trace->t, thread) : NULL;
}

EXPORT char *heddle_event_text(const heddle_trace *trace, uint32_t event)
{
	if (event >= trace->t->events_count)
		return NULL;
	g_autoptr(GString) text = g_string_new(NULL);
	trace_append_line(trace->t, event, text);
	char *copy = strdup(text->str);
	return copy;
}

EXPORT uint32_t heddle_event_thread(const heddle_trace *trace, uint32_t event)
{
	return event < trace->t->events_count ? trace->t->events[event].thread : HEDDLE_NONE;
}

static const struct location *location_of(const heddle_trace *trace, uint32_t event)
{
	uint32_t at = event < trace->t->events_count ? trace->t->events[event].location : 0;

	return &trace->t->locations[at];
}

EXPORT const char *heddle_event_file(const heddle_trace *trace, uint32_t event)
{
	return trace_string(trace->t, location_of(trace, event)->file);
}

EXPORT uint32_t heddle_event_line(const heddle_trace *trace, uint32_t event)
{
	return location_of(trace, event)->line;
}

EXPORT const char *heddle_event_function(const heddle_trace *trace, uint32_t event)
{
	return trace_string(trace->t, location_of(trace, event)->function);
}

/* -- findings ------------------------------------------------------------------------------ */

static heddle_report *report_or_error(struct report *r, const struct error *e, char **error)
{
	if (r == NULL) {
		say(error, e);
		return NULL;
	}
	heddle_report *report = g_new0(heddle_report, 1);
	report->report = r;
	return report;
}

EXPORT heddle_report *heddle_races(heddle_trace *trace, const char *analysis,
                                   double budget_pair, double budget_all, char **error)
{
	struct race_options options;
	struct error e;

	race_options_init(&options);
	if (analysis != NULL && !analysis_from_word(analysis, &options.analysis)) {
		error_set(&e, "", "'heddle races --help' lists them",
		          "there is no analysis '%s'", analysis);
		say(error, &e);
		return NULL;
	}
	if (budget_pair > 0)
		options.budget_pair = budget_pair;
	if (budget_all > 0)
		options.budget_total = budget_all;
	struct report *r = races_find(trace->t, &options, NULL, &e);
	if (r != NULL && !races_mark_missing(trace->t, &options, r, NULL, &e))
		g_clear_pointer(&r, report_free);
	return report_or_error(r, &e, error);
}

EXPORT heddle_report *heddle_deadlocks(heddle_trace *trace, char **error)
{
	struct race_options options;
	struct error e;

	race_options_init(&options);
	return report_or_error(deadlocks_find(trace->t, &options, NULL, &e), &e, error);
}

EXPORT void heddle_report_free(heddle_report *report)
{
	if (report == NULL)
		return;
	report_free(report->report);
	g_free(report);
}

EXPORT uint32_t heddle_report_count(const heddle_report *report)
{
	return report->report->findings->len;
}

EXPORT int heddle_report_complete(const heddle_report *report)
{
	return report->report->complete;
}

static const struct finding *finding_at(const heddle_report *report, uint32_t finding)
{
	const GPtrArray *all = report->report->findings;

	return finding < all->len ? all->pdata[finding] : NULL;
}

EXPORT const char *heddle_finding_kind(const heddle_report *report, uint32_t finding)
{
	const struct finding *f = finding_at(report, finding);

	return f ? finding_kind_word(f->kind) : NULL;
}

EXPORT const char *heddle_finding_verdict(const heddle_report *report, uint32_t finding)
{
	const struct finding *f = finding_at(report, finding);

	return f ? verdict_word(f->verdict) : NULL;
}

EXPORT uint32_t heddle_finding_first(const heddle_report *report, uint32_t finding)
{
	const struct finding *f = finding_at(report, finding);

	return f ? f->first : HEDDLE_NONE;
}

EXPORT uint32_t heddle_finding_second(const heddle_report *report, uint32_t finding)
{
	const struct finding *f = finding_at(report, finding);

	return f ? f->second : HEDDLE_NONE;
}

EXPORT const char *heddle_finding_variable(const heddle_report *report, uint32_t finding)
{
	const struct finding *f = finding_at(report, finding);
	const struct trace *t = report->report->trace;

	if (f == NULL || f->variables == NULL || f->variables->len == 0)
		return "";
	return trace_variable_name(t, g_array_index(f->variables, uint32_t, 0));
}

EXPORT const uint32_t *heddle_finding_witness(const heddle_report *report, uint32_t finding,
                                              size_t *length)
{
	const struct finding *f = finding_at(report, finding);
	bool has = f != NULL && f->witness != NULL;

	if (length != NULL)
		*length = has ? f->witness->len : 0;
	return has ? &g_array_index(f->witness, uint32_t, 0) : NULL;
}

EXPORT int heddle_check_race(const heddle_trace *trace, const uint32_t *events, size_t length,
                             uint32_t first, uint32_t second, char **error)
{
	const struct check_options options = { 0 };
	const uint32_t pair[] = { MIN(first, second), MAX(first, second) };
	g_autoptr(GString) reason = g_string_new(NULL);
	bool inside = pair[1] < trace->t->events_count;

	for (size_t i = 0; inside && i < length; i++)
		inside = events[i] < trace->t->events_count;
	bool good = inside && witness_check(trace->t, (struct event_list){ events, length },
	                                    claimed_of(CLAIM_RACE, pair, 2), &options, reason);
	if (!inside)
		g_string_assign(reason, "there is no event of that number");
	if (!good && error != NULL)
		*error = strdup(reason->str);
	return good;
}
