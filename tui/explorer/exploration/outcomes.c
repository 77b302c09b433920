/*
 * outcomes.c - see outcomes.h.
 */
#include "tui/explorer/exploration/outcomes.h"

#include "engine/trace/own_code.h"
#include "tui/explorer/session.h"

#include <string.h>

static void outcome_clear(void *data)
{
	struct tree_outcome *o = data;
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

static struct tree_outcome begin_outcome(const struct tree *t, const struct tree_run *r)
{
	struct tree_outcome o = { .kind = tree_run_failed(r) ? OUTCOME_FAILED : OUTCOME_PASSED,
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

static void add_run(const struct tree *t, struct tree_outcome *o, const struct tree_run *r)
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

/* Errors in which no run ends: the run continued, and ended otherwise. */
static void add_passing_errors(const struct tree *t, GArray *all)
{
	g_autofree bool *ended = g_new0(bool, t->errors->len + 1);
	for (guint i = 0; i < t->runs->len; i++) {
		int64_t error = tree_at(t, i)->error;
		if (error >= 0 && error < t->errors->len)
			ended[error] = true;
	}
	for (guint i = 0; i < t->errors->len; i++) {
		const struct tree_error *e = &g_array_index(t->errors, struct tree_error, i);
		bool known = ended[i];
		for (guint k = 0; !known && k < all->len; k++) { /* compare without the
			                                          * numbers of errors */
			const struct tree_outcome *o =
			        &g_array_index(all, struct tree_outcome, k);
			g_autofree char *words = end_text(e->end, e->status);
			known = strcmp(o->words, words) == 0 && strcmp(o->text, e->story) == 0;
		}
		const struct tree_run *r = tree_run_of(t, e->shortest);
		struct tree_outcome o = { .kind = OUTCOME_FAILED,
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
}

static void add_races(const struct tree *t, GArray *all)
{
	for (guint i = 0; i < t->pairs->len; i++) {
		const struct tree_race *race = &g_array_index(t->pairs, struct tree_race, i);
		GString *variable = g_string_new(NULL);
		own_code_append_name(race->variable, variable);
		struct tree_outcome o = { .kind = OUTCOME_RACE,
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
	const struct tree_outcome *one = a, *two = b;
	if (one->kind != two->kind)
		return (int)one->kind - (int)two->kind;
	if (one->kind == OUTCOME_RACE || one->count == two->count)
		return 0;
	return one->count > two->count ? -1 : 1;
}

GArray *outcomes_of(const struct tree *t)
{
	GArray *all = g_array_new(FALSE, FALSE, sizeof(struct tree_outcome));
	g_autoptr(GHashTable) known =
	        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	g_array_set_clear_func(all, outcome_clear);
	for (uint32_t i = 0; i < t->runs->len; i++) {
		const struct tree_run *r = tree_run_of(t, i);
		g_autofree char *key = key_of(t, r);
		guint at = GPOINTER_TO_UINT(g_hash_table_lookup(known, key));
		if (at == 0) {
			struct tree_outcome o = begin_outcome(t, r);
			g_array_append_val(all, o);
			at = all->len;
			g_hash_table_insert(known, g_strdup(key), GUINT_TO_POINTER(at));
		}
		add_run(t, &g_array_index(all, struct tree_outcome, at - 1), r);
	}
	add_passing_errors(t, all);
	add_races(t, all);
	g_array_sort(all, by_rank);
	return all;
}

guint outcome_of_run(const struct tree *t, const GArray *outcomes, uint32_t run)
{
	const struct tree_run *r = tree_run_of(t, run);
	g_autofree char *key = key_of(t, r);
	guint found = 0;
	for (guint i = 0; i < outcomes->len; i++) {
		const struct tree_outcome *o = &g_array_index(outcomes, struct tree_outcome, i);
		if (o->kind == OUTCOME_RACE)
			continue;
		g_autofree char *own = key_of(t, tree_run_of(t, o->shortest));
		if (strcmp(own, key) == 0)
			found = i;
	}
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

/* The path in the tree from a child of `top` to `run`. */
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

/* -- words ---------------------------------------------------------------------------------- */

/* A number to three significant digits: an estimate has no more. */
static const char *rough(uint64_t number, char buffer[32])
{
	static const struct {
		double unit;
		const char *word;
	} units[] = { { 1e12, "trillion" }, { 1e9, "billion" }, { 1e6, "million" } };
	for (size_t i = 0; i < G_N_ELEMENTS(units); i++)
		if ((double)number >= units[i].unit) {
			g_snprintf(buffer, 32, "%.3g %s", (double)number / units[i].unit,
			           units[i].word);
			return buffer;
		}
	return grouped(number, buffer);
}

/* The estimated number of different runs that were not made. */
static void append_left(const struct tree *t, GString *out)
{
	char left[32], low[32], high[32];
	if (t->estimate <= t->states) {
		if (t->waiting > 0)
			g_string_append_printf(out, ": %s known schedule%s wait",
			                       grouped(t->waiting, left), plural(t->waiting));
		return;
	}
	g_string_append_printf(out,
	                       ": by the part that was seen, about %s different runs are "
	                       "left (%s to %s in eight of ten estimates)",
	                       rough(t->estimate - t->states, left),
	                       rough(t->low > t->states ? t->low - t->states : 0, low),
	                       rough(t->high > t->states ? t->high - t->states : 0, high));
}

void tree_append_scope(const struct tree *t, GString *out)
{
	bool weak = strcmp(t->memory, "sc") != 0;
	char within[64] = "";
	if (!t->complete && t->bound >= 0)
		g_snprintf(within, sizeof within,
		           " with at most %" G_GINT64_FORMAT " preemption%s", t->bound,
		           plural((uint64_t)t->bound));
	if (t->complete || t->bound >= 0) {
		if (weak)
			g_string_append_printf(out, "Whatever loads read under %s, this input",
			                       t->memory);
		else
			g_string_append(out, "Every schedule of this input");
		g_string_append_printf(
		        out, "%s behaves as one of these runs%s%s%s%s%s%s.", within,
		        t->races_open ? " (but data races may be missed)" : "",
		        t->races || t->uses ? ", except for what its " : "",
		        t->races ? "data races" : "", t->races && t->uses ? " and " : "",
		        t->uses ? "uses after free" : "", t->races || t->uses ? " allow" : "");
	} else {
		g_string_append_printf(
		        out, "Not every %s was run (%s)", weak ? "execution" : "schedule",
		        t->reasons->len ? (char *)t->reasons->pdata[0] : "it was ended");
		append_left(t, out);
		g_string_append_c(out, '.');
	}
}

void outcome_append_count(const struct tree *t, const struct tree_outcome *o, GString *out)
{
	const struct tree_run *r = tree_run_of(t, o->shortest);
	char events[32], switches[32], count[32], all[32];
	if (o->kind == OUTCOME_RACE) {
		g_string_append_printf(out, "data race on %s, first in run %u", o->text,
		                       o->first);
		return;
	}
	g_string_append_printf(out, "%s of %s different run%s %s", grouped(o->count, count),
	                       grouped(t->states, all), plural(t->states),
	                       o->kind == OUTCOME_FAILED ? "end so"
	                       : *o->text                ? "print this last"
	                                                 : "end well");
	if (r->switches > 0)
		g_string_append_printf(
		        out, "; the shortest is run %u: %s events, %s turn%s of threads",
		        o->shortest, grouped(r->events, events),
		        grouped(r->switches + 1, switches), plural(r->switches + 1));
}
