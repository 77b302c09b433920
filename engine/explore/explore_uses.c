/*
 * explore_uses.c - uses of freed memory and destroyed objects in the order of a run, whatever
 * its class or schedule.
 */
#include "engine/explore/explore_private.h"
#include "engine/explore/runs/lifetimes.h"
#include "engine/predict/misuse.h"
#include "engine/trace/own_code.h"
#include "engine/trace/own_site.h"

#include <inttypes.h>
#include <string.h>

/* Errors are identified by the pair of the user's places. */
char *explore_use_key(const struct trace *t, uint32_t use, uint32_t end)
{
	return g_strdup_printf("%s free %s", own_site_name(t, use), own_site_name(t, end));
}

bool explore_know_use(struct exploration *x, uint32_t use, uint32_t end)
{
	return !g_hash_table_add(x->errors, explore_use_key(x->trace, use, end));
}

/* The story of a use; the run's ending is added to its first use. */
static char *use_story(const struct explore_run *r, const char *text, bool first)
{
	GString *story = g_string_new(text);
	if (first && r->end == EXPLORE_SIGNAL)
		g_string_append_printf(story, "\nthe program ends by signal %d (%s)", r->status,
		                       strsignal(r->status));
	if (first && *r->story)
		g_string_append_printf(story, "\n%s", r->story);
	return g_string_free(story, FALSE);
}

static struct explore_use *use_new(const struct exploration *x, const struct explore_run *r,
                                   uint32_t use, uint32_t end, bool first)
{
	struct explore_use *u = g_new(struct explore_use, 1);
	char *text = explore_use_text(x->trace, use, end);
	*u = (struct explore_use){ .key = explore_use_key(x->trace, use, end),
		                   .place = g_strdup(own_code_place_name(x->trace, use)),
		                   .story = use_story(r, text, first) };
	g_free(text);
	return u;
}

void explore_use_free(void *data)
{
	struct explore_use *u = data;
	g_free(u->key);
	g_free(u->place);
	g_free(u->story);
	g_free(u);
}

enum { MOST_USES = 64 };

/* A run that goes on in freed memory may have very many: each is looked up before it is told.
 */
static void add_use(const struct exploration *x, const struct explore_run *r, GPtrArray *uses,
                    GHashTable *keys, uint32_t use, uint32_t end)
{
	g_autofree char *key = explore_use_key(x->trace, use, end);
	if (g_hash_table_contains(keys, key))
		return;
	struct explore_use *u = use_new(x, r, use, end, uses->len == 0);
	g_hash_table_add(keys, u->key);
	g_ptr_array_add(uses, u);
}

/* The lifetimes of the run as recorded: those of its history, or new ones, which `*own` keeps
 * for the caller to free. */
static const struct lifetimes *lifetimes_of_run(const struct exploration *x,
                                                struct lifetimes **own)
{
	bool known = x->history != NULL && x->view->model == NULL && x->view->left_out == NULL;
	*own = known ? NULL : lifetimes_new(x->trace);
	return known ? x->history->lifetimes : *own;
}

GPtrArray *explore_find_uses(const struct exploration *x, const struct explore_run *r)
{
	GPtrArray *uses = g_ptr_array_new_with_free_func(explore_use_free);
	GHashTable *keys = g_hash_table_new(g_str_hash, g_str_equal);
	struct lifetimes *own;
	const struct lifetimes *l = lifetimes_of_run(x, &own);
	for (uint32_t e = 0; e < x->trace->events_count && uses->len < MOST_USES; e++) {
		uint32_t end = lifetimes_ended(l, e);
		if (end != NONE)
			add_use(x, r, uses, keys, e, end);
	}
	GArray *waits = lifetimes_ended_waits(l);
	for (guint i = 0; i < waits->len && uses->len < MOST_USES; i++) {
		const struct ended_wait *w = &g_array_index(waits, struct ended_wait, i);
		add_use(x, r, uses, keys, w->want, w->end);
	}
	g_array_unref(waits);
	if (x->use != NULL && !g_hash_table_contains(keys, x->use)) {
		struct explore_use *u = g_new(struct explore_use, 1);
		*u = (struct explore_use){ .key = g_strdup(x->use),
			                   .place = g_strdup(r->place),
			                   .story = use_story(r, r->reversal, uses->len == 0) };
		g_ptr_array_add(uses, u);
	}
	g_hash_table_unref(keys);
	lifetimes_free(own);
	return uses;
}

/* Does the run have an event that uses the object after its end? */
static bool is_used_after_end(const struct trace *t, const struct lifetimes *l, uint32_t object)
{
	bool used = false;
	for (uint32_t e = 0; e < t->events_count && !used; e++)
		used = op_table[t->events[e].op].operand == OPERAND_OBJECT &&
		       t->events[e].target == object && lifetimes_ended(l, e) != NONE;
	return used;
}

/* A misuse of what was destroyed or freed is told as a use; unless the only ones were refused
 * and are no events, as an unlock of a destroyed lock that nobody holds. */
GPtrArray *explore_find_misuses(const struct exploration *x)
{
	GPtrArray *misuses = g_ptr_array_new_with_free_func(explore_use_free);
	struct lifetimes *own;
	const struct lifetimes *l = lifetimes_of_run(x, &own);
	struct report *report = report_new(x->trace, "misuse");
	misuse_add(x->trace, false, report);
	for (guint i = 0; i < report->findings->len; i++) {
		const struct finding *f = report->findings->pdata[i];
		const struct event *e = &x->trace->events[f->second];
		const char *object = trace_string(x->trace, x->trace->objects[e->target].name);
		const char *place = own_code_place_name(x->trace, f->second);
		if (misuse_of_ended(x->trace, f->second) &&
		    is_used_after_end(x->trace, l, e->target))
			continue;
		struct explore_use *u = g_new(struct explore_use, 1);
		*u = (struct explore_use){ .key = g_strdup_printf("%s misuse %s", place,
			                                          f->note),
			                   .place = g_strdup(place),
			                   .unlocks = misuse_unlocks(x->trace, f->second) };
		GString *story = g_string_new(trace_thread_name(x->trace, e->thread));
		g_string_append_printf(story, " %s: ", f->note);
		append_escaped(story, object, strlen(object));
		u->story = g_string_free(story, FALSE);
		g_ptr_array_add(misuses, u);
	}
	report_free(report);
	lifetimes_free(own);
	return misuses;
}

char *explore_first_use(struct trace *t)
{
	char *text = NULL;
	if (!trace_need(t, INDEX_THREADS | INDEX_MATCH | INDEX_OBJECTS, NULL))
		return NULL;
	struct lifetimes *l = lifetimes_new(t);
	for (uint32_t e = 0; e < t->events_count && text == NULL; e++) {
		uint32_t end = lifetimes_ended(l, e);
		if (end != NONE)
			text = explore_use_text(t, e, end);
	}
	lifetimes_free(l);
	return text;
}
