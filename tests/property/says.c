/*
 * says.c - see says.h.
 */
#include "tests/property/says.h"

#include "engine/predict/deadlock/deadlock.h"
#include "engine/witness/check.h"
#include "engine/witness/witness.h"
#include "tests/support/coverage.h"

#include <stdio.h>
#include <string.h>

uint64_t says_findings;

/* By sites another pair of the same two may represent them. */
static char *finding_text(const struct trace *t, const struct finding *f, bool events)
{
	uint32_t one = t->locations[t->events[f->first].location].site,
	         two = t->locations[t->events[f->second].location].site;
	GString *out = g_string_new(NULL);

	if (events)
		g_string_append_printf(out, "%u %u", f->first, f->second);
	else
		g_string_append_printf(out, "sites %u %u", MIN(one, two), MAX(one, two));
	g_string_append_printf(out,
	                       " verdict %d count %" G_GUINT64_FORMAT " %s:", (int)f->verdict,
	                       f->counted_all ? f->count : 0, f->note ? f->note : "");
	for (uint32_t v = 0; f->variables && v < t->variables_count; v++) {
		for (guint i = 0; i < f->variables->len; i++)
			if (g_array_index(f->variables, uint32_t, i) == v)
				g_string_append_printf(out, " %u", v);
	}
	/* the same requests, in whatever order the threads come */
	for (uint32_t e = 0; f->requests && e < t->events_count; e++) {
		for (guint i = 0; i < f->requests->len; i++)
			if (g_array_index(f->requests, uint32_t, i) == e)
				g_string_append_printf(out, " r%u", e);
	}
	return g_string_free(out, FALSE);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Each witness against the trace itself. */
static bool witnessed(const struct trace *t, const struct finding *f, bool values)
{
	struct check_options options = { .use_values = values };
	uint32_t pair[2] = { f->first, f->second };
	bool good;

	if (f->witness == NULL)
		return true;
	const uint32_t *events = (const uint32_t *)(void *)f->witness->data;
	GString *reason = g_string_new(NULL);
	if (f->requests != NULL)
		good = witness_check(
		        t, (struct event_list){ events, f->witness->len },
		        (struct claimed){ finding_claim(f), event_list_of(f->requests) },
		        &options, reason);
	else
		good = witness_check(
		        t, (struct event_list){ events, f->witness->len },
		        claimed_of(f->note != NULL ? CLAIM_C11_RACE : CLAIM_RACE, pair, 2),
		        &options, reason);
	if (!good)
		printf("witness of %u and %u: %s\n", f->first, f->second, reason->str);
	g_string_free(reason, TRUE);
	coverage_add("witnesses checked", 1);
	return good;
}

/* The variables of all findings. */
static void append_variables(GString *out, const struct trace *t, const struct report *r)
{
	bool *racy = g_new0(bool, t->variables_count + 1);

	for (guint i = 0; i < r->findings->len; i++) {
		const struct finding *f = r->findings->pdata[i];

		for (guint k = 0; f->verdict < VERDICT_IMPOSSIBLE && k < f->variables->len; k++)
			racy[g_array_index(f->variables, uint32_t, k)] = true;
	}
	for (uint64_t v = 0; v < t->variables_count; v++) {
		if (racy[v])
			g_string_append_printf(out, "variable %u\n", (unsigned)v);
	}
	g_free(racy);
}

char *says(struct trace *t, const struct race_options *o, bool deadlocks, bool with_lines,
           bool *complete)
{
	struct error error = { .what = "" };
	struct report *r =
	        deadlocks ? deadlocks_find(t, o, NULL, &error) : races_find(t, o, NULL, &error);
	GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
	GString *out = g_string_new(NULL);
	bool good = r != NULL && r->trace == t;

	for (guint i = 0; good && i < r->findings->len; i++) {
		if (with_lines)
			g_ptr_array_add(lines, finding_text(t, r->findings->pdata[i],
			                                    o->pairs_events || deadlocks));
		good = witnessed(t, r->findings->pdata[i], o->use_values);
		says_findings++;
	}
	g_ptr_array_sort(lines, by_text);
	for (guint i = 0; i < lines->len; i++)
		g_string_append_printf(out, "%s\n", (char *)lines->pdata[i]);
	g_ptr_array_free(lines, TRUE);
	if (good && !with_lines)
		append_variables(out, t, r);
	*complete = good && r->complete;
	report_free(r);
	return g_string_free(out, !good);
}
