/*
 * outcomes.c - see outcomes.h.
 */
#include "tui/explorer/outcomes.h"

#include "engine/trace/own_code.h"

#include <string.h>

static void outcome_clear(void *data)
{
	struct outcome *o = data;
	g_free(o->words);
	g_free(o->text);
	g_free(o->where);
}

char *end_text(const char *end, int64_t status)
{
	if (strcmp(end, "signal") == 0)
		return g_strdup_printf("signal %" G_GINT64_FORMAT, status);
	if (strcmp(end, "exit-status") == 0)
		return g_strdup_printf("exit status %" G_GINT64_FORMAT, status);
	if (strcmp(end, "blocked") == 0)
		return g_strdup("waits for ever");
	if (strcmp(end, "check") == 0)
		return g_strdup("condition fails");
	if (strcmp(end, "cut") == 0)
		return g_strdup("was cut");
	return g_strdelimit(g_strdup(end), "-", ' ');
}

/* Identity of the outcome of a run; owned by the caller. */
static char *key_of(const struct tree *t, const struct tree_run *r)
{
	if (r->error >= 0 && r->error < t->errors->len)
		return g_strdup_printf("error %" G_GINT64_FORMAT, r->error);
	if (tree_run_failed(r))
		return g_strdup_printf("%s %" G_GINT64_FORMAT " %.*s", r->end, r->status,
		                       (int)strcspn(r->story, "\n"), r->story);
	return g_strdup_printf("exit %s", r->output);
}

static struct outcome begin_outcome(const struct tree *t, const struct tree_run *r)
{
	struct outcome o = { .kind = tree_run_failed(r) ? OUTCOME_FAILED : OUTCOME_PASSED,
		             .first = r->run,
		             .shortest = r->run,
		             .kept = NONE };
	if (r->error >= 0 && r->error < t->errors->len) {
		const struct tree_error *e =
		        &g_array_index(t->errors, struct tree_error, r->error);
		o.words = end_text(e->end, e->status);
		o.text = g_strdup(e->story);
		o.where = g_strdup(e->where);
		o.first = e->run;
		o.shortest = e->shortest;
		return o;
	}
	o.where = g_strdup("");
	if (o.kind == OUTCOME_FAILED) {
		o.words = end_text(r->end, r->status);
		o.text = g_strndup(r->story, strcspn(r->story, "\n"));
	} else {
		o.words = g_strdup(*r->printed ? "prints" : "ends well");
		o.text = g_strdup(r->printed);
	}
	return o;
}

static bool is_shorter(const struct tree_run *a, const struct tree_run *b)
{
	return a->switches != b->switches ? a->switches < b->switches : a->events < b->events;
}

static void add_run(const struct tree *t, struct outcome *o, const struct tree_run *r)
{
	const struct tree_run *shortest = tree_run_of(t, o->shortest);
	bool counted = r->error >= 0 && r->error < t->errors->len;
	o->count += !r->redundant || strcmp(r->end, "diverged") == 0 || o->count == 0;
	if (counted)
		o->count = g_array_index(t->errors, struct tree_error, r->error).count;
	if (!r->redundant && is_shorter(r, shortest))
		o->shortest = r->run;
	if (*r->trace && (o->kept == NONE || r->run == o->shortest))
		o->kept = r->run;
}

/* Errors that no run ends with: the run went on, and ended with another one. */
static void add_passing_errors(const struct tree *t, GArray *all)
{
	bool *ended = g_new0(bool, t->errors->len + 1);
	for (guint i = 0; i < t->runs->len; i++) {
		int64_t error = tree_at(t, i)->error;
		if (error >= 0 && error < t->errors->len)
			ended[error] = true;
	}
	for (guint i = 0; i < t->errors->len; i++) {
		const struct tree_error *e = &g_array_index(t->errors, struct tree_error, i);
		bool known = ended[i];
		for (guint k = 0; !known && k < all->len; k++) { /* without numbers of errors */
			const struct outcome *o = &g_array_index(all, struct outcome, k);
			char *words = end_text(e->end, e->status);
			known = strcmp(o->words, words) == 0 && strcmp(o->text, e->story) == 0;
			g_free(words);
		}
		const struct tree_run *r = tree_run_of(t, e->shortest);
		struct outcome o = { .kind = OUTCOME_FAILED,
			             .words = end_text(e->end, e->status),
			             .text = g_strdup(e->story),
			             .where = g_strdup(e->where),
			             .count = e->count,
			             .first = e->run,
			             .shortest = e->shortest,
			             .kept = *r->trace ? r->run : NONE };
		if (known)
			outcome_clear(&o);
		else
			g_array_append_val(all, o);
	}
	g_free(ended);
}

static void add_races(const struct tree *t, GArray *all)
{
	for (guint i = 0; i < t->pairs->len; i++) {
		const struct tree_race *race = &g_array_index(t->pairs, struct tree_race, i);
		GString *variable = g_string_new(NULL);
		own_code_append_name(race->variable, variable);
		struct outcome o = { .kind = OUTCOME_RACE,
			             .words = g_strdup("data race"),
			             .text = g_string_free(variable, FALSE),
			             .where = g_strdup(race->where),
			             .first = race->run,
			             .shortest = race->run,
			             .kept = *tree_run_of(t, race->run)->trace ? race->run
			                                                       : NONE };
		g_array_append_val(all, o);
	}
}

static gint by_rank(const void *a, const void *b)
{
	const struct outcome *one = a, *two = b;
	if (one->kind != two->kind)
		return (int)one->kind - (int)two->kind;
	if (one->kind == OUTCOME_RACE || one->count == two->count)
		return 0;
	return one->count > two->count ? -1 : 1;
}

GArray *outcomes_of(const struct tree *t)
{
	GArray *all = g_array_new(FALSE, FALSE, sizeof(struct outcome));
	GHashTable *known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	g_array_set_clear_func(all, outcome_clear);
	for (uint32_t i = 0; i < t->runs->len; i++) {
		const struct tree_run *r = tree_run_of(t, i);
		char *key = key_of(t, r);
		guint at = GPOINTER_TO_UINT(g_hash_table_lookup(known, key));
		if (at == 0) {
			struct outcome o = begin_outcome(t, r);
			g_array_append_val(all, o);
			at = all->len;
			g_hash_table_insert(known, g_strdup(key), GUINT_TO_POINTER(at));
		}
		add_run(t, &g_array_index(all, struct outcome, at - 1), r);
		g_free(key);
	}
	g_hash_table_unref(known);
	add_passing_errors(t, all);
	add_races(t, all);
	g_array_sort(all, by_rank);
	return all;
}

guint outcome_of_run(const struct tree *t, const GArray *outcomes, uint32_t run)
{
	const struct tree_run *r = tree_run_of(t, run);
	char *key = key_of(t, r);
	guint found = 0;
	for (guint i = 0; i < outcomes->len; i++) {
		const struct outcome *o = &g_array_index(outcomes, struct outcome, i);
		if (o->kind == OUTCOME_RACE)
			continue;
		char *own = key_of(t, tree_run_of(t, o->shortest));
		if (strcmp(own, key) == 0)
			found = i;
		g_free(own);
	}
	g_free(key);
	return found;
}

/* -- differences ----------------------------------------------------------------------------- */

static guint distance(const struct tree *t, uint32_t a, uint32_t b, uint32_t *meet)
{
	const struct tree_run *x = tree_run_of(t, a), *y = tree_run_of(t, b);
	guint steps = 0;
	while (x->run != y->run) {
		const struct tree_run **deeper = x->depth >= y->depth ? &x : &y;
		*deeper = tree_run_of(t, (*deeper)->parent);
		steps++;
	}
	*meet = x->run;
	return steps;
}

/* The runs from below `top` down to `run`. */
static GArray *way_to(const struct tree *t, uint32_t top, uint32_t run)
{
	GArray *way = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	for (; run != top; run = tree_run_of(t, run)->parent)
		g_array_prepend_val(way, run);
	return way;
}

struct outcome_difference outcome_difference_of(const struct tree *t, uint32_t run)
{
	const struct tree_run *from = tree_run_of(t, run);
	struct outcome_difference p = { .other = NONE };
	uint32_t top = run, meet;
	guint least = G_MAXUINT;
	for (uint32_t i = 0; i < t->runs->len; i++) {
		const struct tree_run *r = tree_run_of(t, i);
		bool other = !tree_run_failed(r) &&
		             (tree_run_failed(from) || strcmp(r->output, from->output) != 0);
		if (!other || i == run)
			continue;
		guint steps = distance(t, run, i, &meet);
		if (steps < least) {
			least = steps;
			p.other = i;
			top = meet;
		}
	}
	p.here = way_to(t, top, run);
	p.others = p.other == NONE ? g_array_new(FALSE, FALSE, sizeof(uint32_t))
	                           : way_to(t, top, p.other);
	return p;
}

void outcome_difference_release(struct outcome_difference *p)
{
	g_array_unref(p->here);
	g_array_unref(p->others);
}
