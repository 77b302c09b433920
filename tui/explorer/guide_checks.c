/*
 * guide_checks.c - evaluates checks of lessons on the student's position and the findings. One
 * function for each line of checks.def, without side effects.
 */
#include "engine/trace/shown.h"
#include "tui/explorer/guide.h"

#include "tui/explorer/exploration/tree.h"

#include <string.h>

typedef bool check_function(const struct app *app, char *const *operands);
#define CHECK(function, word, low, high, operands, help) static check_function is_##function;
#include "tui/lesson/checks.def"
#undef CHECK

static check_function *const functions[CHECK_COUNT] = {
#define CHECK(function, word, low, high, operands, help) [CHECK_##function] = is_##function,
#include "tui/lesson/checks.def"
#undef CHECK
};

/* Does it hold now? A check of an analysis's results does not before that is done. */
static bool check_holds(const struct app *app, const struct lesson_check *check)
{
	return app_trace(app)->events_count > 0 && session_has(app->session, INDEX_ALL) &&
	       functions[check->kind](app, check->operands);
}

const struct lesson_check *checks_failing(const struct app *app, const GPtrArray *checks)
{
	for (guint i = 0; i < checks->len; i++)
		if (!check_holds(app, checks->pdata[i]))
			return checks->pdata[i];
	return NULL;
}

/* -- the student's position ---------------------------------------------------------------- */

static bool is_view(const struct app *app, char *const *operands)
{
	return strcmp(view_word(app_view(app)), operands[0]) == 0;
}

/* Does the entry have the variable ("*": any)? Of several sets or locks one suffices. */
static bool names(const struct entry *entry, const char *variable)
{
	if (strcmp(variable, "*") == 0 || strcmp(entry->variable, variable) == 0)
		return true;
	g_auto(GStrv) parts = g_strsplit_set(entry->variable, ", ", -1);
	return g_strv_contains((const char *const *)parts, variable);
}

/* Does the entry fit KIND VARIABLE [VERDICT]? Without a verdict: can happen or happened. */
static bool fits(const struct entry *entry, char *const *operands)
{
	enum verdict verdict = entry->finding->verdict;
	return strcmp(finding_kind_word(entry->finding->kind), operands[0]) == 0 &&
	       names(entry, operands[1]) &&
	       (operands[2] ? strcmp(verdict_word(verdict), operands[2]) == 0
	                    : verdict == VERDICT_RACE || verdict == VERDICT_HAPPENED ||
	                              verdict == VERDICT_CANDIDATE);
}

static bool is_needs(const struct app *app, char *const *operands)
{
	const GPtrArray *entries = app->session->entries;
	for (guint i = 0; i < entries->len; i++) {
		const struct entry *entry = entries->pdata[i];
		const char *model = entry->finding->memory;
		if (model && names(entry, operands[0]) && strcmp(model, operands[1]) == 0)
			return true;
	}
	return false;
}

static bool is_selected(const struct app *app, char *const *operands)
{
	const struct entry *entry = session_selected(app->session);
	return entry && fits(entry, operands);
}

static bool stands_at(const struct app *app, uint32_t event, const char *place)
{
	const struct trace *t = app_trace(app);
	const struct location *l = &t->locations[t->events[event].location];
	const char *colon = strrchr(place, ':');
	if (colon == NULL)
		return strcmp(trace_string(t, l->function), place) == 0;
	g_autofree char *base = g_path_get_basename(trace_string(t, l->file));
	return strncmp(base, place, colon - place) == 0 &&
	       strlen(base) == (size_t)(colon - place) &&
	       l->line == g_ascii_strtoull(colon + 1, NULL, 10);
}

static bool is_at(const struct app *app, char *const *operands)
{
	return stands_at(app, app->session->event, operands[0]);
}

static bool is_event(const struct app *app, char *const *operands)
{
	const struct trace *t = app_trace(app);
	uint32_t event = app->session->event;
	if (strcmp(op_table[t->events[event].op].word, operands[0]) != 0)
		return false;
	if (operands[1] == NULL)
		return true;
	g_autoptr(GString) text = g_string_new(NULL);
	trace_append_operand(t, event, text);
	return strcmp(text->str, operands[1]) == 0;
}

static bool is_pair(const struct app *app, char *const *operands)
{
	const struct session *s = app->session;
	return (IN_STEPS & 1u << app_view(app)) &&
	       (s->event == s->pair[0] || s->event == s->pair[1]);
}

static bool is_end(const struct app *app, char *const *operands)
{
	return app_view(app) == VIEW_WITNESS && witness_view_at(app) == WITNESS_AT_END;
}

static bool is_begin(const struct app *app, char *const *operands)
{
	return app_view(app) == VIEW_WITNESS && witness_view_at(app) == WITNESS_AT_BEGIN;
}

static bool is_scheduled(const struct app *app, char *const *operands)
{
	return app_view(app) == VIEW_WITNESS && witness_view_at(app) == WITNESS_SCHEDULED;
}

static bool is_order(const struct app *app, char *const *operands)
{
	const char *shown = app_view(app) == VIEW_ORDER ? order_view_word(app) : NULL;
	return shown && strcmp(shown, operands[0]) == 0;
}

static bool is_failure(const struct app *app, char *const *operands)
{
	return app_view(app) == VIEW_EXPLORE && explore_view_at_failure(app);
}

static bool is_replayed(const struct app *app, char *const *operands)
{
	return app->guide && app->guide->replayed;
}

/* -- facts about the recording ------------------------------------------------------------- */

static bool any(const struct app *app, char *const *operands)
{
	const GPtrArray *entries = app->session->entries;
	for (guint i = 0; i < entries->len; i++)
		if (fits(entries->pdata[i], operands))
			return true;
	return false;
}

static bool is_found(const struct app *app, char *const *operands)
{
	return any(app, operands);
}

/* No finding remains; open findings and candidates still count. */
static bool is_none(const struct app *app, char *const *operands)
{
	const GPtrArray *entries = app->session->entries;
	if (!jobs_idle(&app->jobs) || app->session->seen[ANALYSIS_AUTO] == NULL)
		return false;
	for (guint i = 0; i < entries->len; i++) {
		const struct entry *entry = entries->pdata[i];
		if (entry->finding->verdict != VERDICT_IMPOSSIBLE &&
		    names(entry, operands[1]) &&
		    strcmp(finding_kind_word(entry->finding->kind), operands[0]) == 0)
			return false;
	}
	return true;
}

/* Was the program changed and judged right? */
static bool is_mended(const struct app *app)
{
	return app->guide && app->guide->changed && app->guide->wrong == NULL;
}

static bool is_recorded(const struct app *app, char *const *operands)
{
	return is_mended(app) && jobs_idle(&app->jobs);
}

static bool is_gone(const struct app *app, char *const *operands)
{
	return is_mended(app) && is_none(app, operands);
}

/* Does the analysis report a data race on the variable? -1: not run. */
static int seen_by(const struct app *app, char *const *operands)
{
	const struct session *s = app->session;
	enum analysis analysis;
	if (!analysis_from_word(operands[0], &analysis) || s->seen[analysis] == NULL)
		return -1;
	for (guint i = 0; i < s->entries->len; i++) {
		const struct entry *entry = s->entries->pdata[i];
		if (entry->finding->kind == FINDING_DATA_RACE && names(entry, operands[1]) &&
		    entry->finding->verdict != VERDICT_IMPOSSIBLE &&
		    session_seen(s, entry, analysis) > 0)
			return 1;
	}
	return 0;
}

static bool is_sees(const struct app *app, char *const *operands)
{
	return seen_by(app, operands) == 1;
}

static bool is_silent(const struct app *app, char *const *operands)
{
	return seen_by(app, operands) == 0;
}

static bool is_value(const struct app *app, char *const *operands)
{
	const struct session *s = app->session;
	uint32_t variable = session_find_variable(s, operands[0]);
	if (variable == NONE)
		return false;
	uint32_t last = (uint32_t)s->trace->events_count - 1;
	struct known_value known = session_value(s, variable, last);
	g_autoptr(GString) text = g_string_new(NULL);
	if (known.value)
		shown_append(s->trace, NONE, known.value, last, text);
	return strcmp(text->str, operands[1]) == 0;
}

static bool is_holds(const struct app *app, char *const *operands)
{
	const struct trace *t = app_trace(app);
	uint32_t event = 0;
	while (event < t->events_count && !stands_at(app, event, operands[0]))
		event++;
	if (event == t->events_count)
		return false;
	g_autoptr(GArray) held = session_locks_held(app->session, event);
	bool good = strcmp(operands[1], "nothing") == 0;
	for (guint i = 0; i < held->len; i++) {
		uint32_t acquire = g_array_index(held, uint32_t, i);
		if (t->events[acquire].thread != t->events[event].thread)
			continue;
		g_autoptr(GString) lock = g_string_new(NULL);
		trace_append_operand(t, acquire, lock);
		good = strcmp(lock->str, operands[1]) == 0;
		if (!good)
			break;
	}
	return good;
}

static bool tree_has(const struct app *app, const char *number, bool failing)
{
	struct tree *tree = app->tree_path ? tree_open(app->tree_path, NULL) : NULL;
	uint64_t count = 0;
	if (tree == NULL)
		return false;
	for (guint i = 0; failing && i < tree->runs->len; i++)
		count += tree_run_failed(&g_array_index(tree->runs, struct tree_run, i));
	if (!failing)
		count = tree->executions;
	tree_free(tree);
	return count == g_ascii_strtoull(number, NULL, 10);
}

static bool is_runs(const struct app *app, char *const *operands)
{
	return tree_has(app, operands[0], false);
}

static bool is_failing(const struct app *app, char *const *operands)
{
	return tree_has(app, operands[0], true);
}
