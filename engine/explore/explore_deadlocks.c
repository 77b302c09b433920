/*
 * explore_deadlocks.c - deadlocks predicted from a run, each a schedule.
 */
#include "engine/explore/explore_private.h"
#include "engine/trace/own_code.h"

#include "engine/predict/deadlock/deadlock.h"
#include "engine/predict/deadlock/request_site.h"

#include <stdlib.h>
#include <string.h>

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* A cycle of requests that can be reached together: schedules it, once for each cycle of their
 * sites. */
static void take_deadlock(struct exploration *x, const struct finding *f)
{
	uint32_t request = NONE;
	GString *threads = g_string_new(NULL);
	char **places = g_new0(char *, f->requests->len + 1);
	for (guint i = 0; i < f->requests->len; i++) {
		uint32_t e = g_array_index(f->requests, uint32_t, i);
		if (request == NONE && !op_wants(x->trace->events[e].op))
			request = e; /* wants are no steps of a run */
		places[i] = request_site_text(x->trace, e);
		g_string_append_printf(threads, "%s%s", i ? " and " : "",
		                       trace_thread_name(x->trace, x->trace->events[e].thread));
	}
	qsort(places, f->requests->len, sizeof *places, by_name);
	char *key = g_strjoinv(" ", places);
	g_strfreev(places);
	if (!g_hash_table_add(x->errors, key) || request == NONE) {
		g_string_free(threads, TRUE);
		return;
	}
	struct pending *s = pending_new(x, (const uint32_t *)f->witness->data,
	                                f->witness->len - f->requests->len, request);
	s->reversal =
	        g_strdup_printf("%s each want a lock that the next one holds", threads->str);
	s->thread = g_string_free(threads, FALSE);
	s->variable = g_strdup("");
	worklist_add(x->worklist, s);
}

void explore_find_deadlocks(struct exploration *x)
{
	struct race_options options;
	struct error error = { 0 };
	race_options_init(&options);
	options.all_verdicts = true;
	options.use_values = true;
	options.locks_alone = true; /* other waits are outcomes of the search over states */
	if (x->deadline != 0)
		options.budget_total =
		        CLAMP(explore_seconds_left(x), 0.01, options.budget_total);
	struct report *report = deadlocks_find(x->view->t, &options, x->progress, &error);
	if (report == NULL) {
		x->cancelled = true;
		return;
	}
	for (guint i = 0; i < report->findings->len; i++) {
		const struct finding *f = report->findings->pdata[i];
		if (f->verdict == VERDICT_RACE && f->witness && f->requests)
			take_deadlock(x, f);
		else if (f->verdict == VERDICT_UNKNOWN)
			explore_note_incomplete(x, "for a cycle of locks the budget ran out");
	}
	report_free(report);
}
