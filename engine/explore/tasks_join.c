/*
 * tasks_join.c - see tasks_join.h.
 *
 * A run of a state is known elsewhere by its number, and by its number among the histories: the
 * n-th run that was not redundant is the n-th history. A join maps both. Of runs that two tasks
 * made of one class the second becomes redundant.
 */
#include "engine/explore/tasks_join.h"

#include <string.h>

static struct explore_run *run_of(const struct exploration *x, uint32_t run)
{
	return &g_array_index(x->report->runs, struct explore_run, run);
}

static void know_histories(struct join *j, uint32_t from)
{
	for (uint32_t i = from; i < histories_count(j->x->histories); i++) {
		uint64_t class_ = histories_class(j->x->histories, i);
		g_hash_table_insert(j->histories, g_memdup2(&class_, sizeof class_),
		                    GUINT_TO_POINTER(i + 1));
	}
}

void join_begin(struct join *j, struct exploration *x)
{
	*j = (struct join){ .x = x,
		            .classes = numbers_new(),
		            .histories = g_hash_table_new_full(g_int64_hash, g_int64_equal,
		                                               g_free, NULL) };
	for (guint i = x->first; i < x->report->runs->len; i++)
		if (!run_of(x, i)->redundant)
			numbers_add(j->classes, run_of(x, i)->class_);
	know_histories(j, 0);
}

void join_end(struct join *j)
{
	numbers_free(j->classes);
	g_hash_table_unref(j->histories);
}

/* Maps numbers of the added task to the join's. */
struct numbering {
	uint32_t origin, offset; /* number of the base's runs, which both have; offset for the
	                          * others */
	uint32_t *histories;     /* by history: its number in the join */
	GArray *errors;          /* uint32_t by error: its index in the join */
};

static uint32_t joined_run(const struct numbering *n, uint32_t run)
{
	return run == NONE || run < n->origin ? run : run + n->offset;
}

static void adopt_set(GHashTable *set, GHashTable *other)
{
	GHashTableIter iter;
	void *key;
	g_hash_table_iter_init(&iter, other);
	while (g_hash_table_iter_next(&iter, &key, NULL))
		if (!g_hash_table_contains(set, key))
			g_hash_table_add(set, g_strdup(key));
}

static void adopt_texts(GPtrArray *texts, const GPtrArray *others)
{
	for (guint i = 0; i < others->len; i++)
		if (!g_ptr_array_find_with_equal_func(texts, others->pdata[i], g_str_equal,
		                                      NULL))
			g_ptr_array_add(texts, g_strdup(others->pdata[i]));
}

/* Map the histories, and move those that are new. */
static void adopt_histories(struct join *j, struct exploration *other, struct numbering *n)
{
	uint32_t own = histories_count(j->x->histories);
	uint32_t count = histories_count(other->histories);
	uint32_t known = other->origin.extent.histories.runs;
	n->histories = g_new(uint32_t, count + 1);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t class_ = i < known ? 0 : histories_class(other->histories, i);
		void *at = i < known ? GUINT_TO_POINTER(i + 1)
		                     : g_hash_table_lookup(j->histories, &class_);
		n->histories[i] = at ? GPOINTER_TO_UINT(at) - 1 : NONE;
	}
	histories_adopt(j->x->histories, other->histories, n->histories);
	know_histories(j, own);
}

/* Is run `a` easier to read than run `b`? As in explore_errors.c. */
static bool is_shorter(const struct explore_run *a, const struct explore_run *b)
{
	return a->switches != b->switches ? a->switches < b->switches : a->events < b->events;
}

static guint error_index(const struct explore_report *r, const char *key)
{
	guint i = 0;
	while (i < r->errors->len &&
	       strcmp(g_array_index(r->errors, struct explore_error, i).key, key) != 0)
		i++;
	return i;
}

/* Moves the runs; those of a known class no longer count, neither as a class nor in their
 * error (`twice`, by error of the other). */
static void adopt_runs(struct join *j, struct exploration *other, const struct numbering *n,
                       uint64_t *twice)
{
	struct exploration *x = j->x;
	GArray *runs = other->report->runs;
	for (guint i = n->origin; i < runs->len; i++) {
		struct explore_run run = g_array_index(runs, struct explore_run, i);
		memset(&g_array_index(runs, struct explore_run, i), 0, sizeof run);
		if (!run.redundant && !numbers_add(j->classes, run.class_)) {
			run.redundant = true;
			x->report->classes--;
			if (run.error != NONE && !run.strayed)
				twice[run.error]++;
		}
		run.parent = joined_run(n, run.parent);
		run.error = run.error == NONE ? NONE
		                              : g_array_index(n->errors, uint32_t, run.error);
		g_array_append_val(x->report->runs, run);
	}
	for (guint i = 0; i < other->origin.replanned->len; i++) {
		uint32_t again = g_array_index(other->origin.replanned, uint32_t, i);
		run_of(x, again)->pruned = run_of(other, again)->pruned;
	}
}

/* A copy that owns its texts. */
static struct explore_error error_copy(const struct explore_error *e)
{
	struct explore_error copy = *e;
	copy.story = g_strdup(e->story);
	copy.key = g_strdup(e->key);
	copy.places = e->places ? g_ptr_array_ref(e->places) : NULL;
	copy.history = e->history ? g_array_ref(e->history) : NULL;
	return copy;
}

/* The errors' indices in the join; new ones are copied, with no count yet. */
static void map_errors(struct exploration *x, struct exploration *other, struct numbering *n)
{
	GArray *errors = other->report->errors;
	for (guint i = 0; i < errors->len; i++) {
		struct explore_error *e = &g_array_index(errors, struct explore_error, i);
		bool known = i < other->origin.extent.errors;
		uint32_t at = known ? i : error_index(x->report, e->key);
		g_array_append_val(n->errors, at);
		if (at < x->report->errors->len)
			continue;
		struct explore_error fresh = error_copy(e);
		fresh.run = joined_run(n, e->run);
		fresh.shortest = joined_run(n, e->shortest);
		fresh.count = 0;
		g_array_append_val(x->report->errors, fresh);
	}
}

static void adopt_errors(struct exploration *x, const struct exploration *other,
                         const struct numbering *n, const uint64_t *twice)
{
	const GArray *errors = other->report->errors, *before = other->origin.errors;
	for (guint i = 0; i < errors->len; i++) {
		const struct explore_error *e = &g_array_index(errors, struct explore_error, i);
		struct explore_error *own =
		        &g_array_index(x->report->errors, struct explore_error,
		                       g_array_index(n->errors, uint32_t, i));
		uint64_t from = i < before->len ? g_array_index(before, uint64_t, i) : 0;
		uint64_t added = e->count - MIN(from, e->count);
		own->count += added - MIN(twice[i], added);
		own->count = MAX(own->count, 1);
		uint32_t shortest = joined_run(n, e->shortest);
		guint length = e->history ? e->history->len : 0,
		      own_length = own->history ? own->history->len : 0;
		if (length > own_length ||
		    (length == own_length &&
		     !is_shorter(run_of(x, shortest), run_of(x, own->shortest))))
			continue;
		own->shortest = shortest;
		if (length == own_length)
			continue;
		g_array_unref(own->history);
		own->history = g_array_ref(e->history);
		g_free(own->story);
		own->story = g_strdup(e->story);
	}
}

static void adopt_races(struct exploration *x, const struct exploration *other,
                        const struct numbering *n)
{
	GArray *own = x->report->races;
	for (guint i = other->origin.extent.races; i < other->report->races->len; i++) {
		const struct explore_race *r =
		        &g_array_index(other->report->races, struct explore_race, i);
		guint k = 0;
		for (; k < own->len; k++) {
			const struct explore_race *o =
			        &g_array_index(own, struct explore_race, k);
			if (strcmp(o->first, r->first) == 0 &&
			    strcmp(o->second, r->second) == 0 &&
			    strcmp(o->own_first, r->own_first) == 0 &&
			    strcmp(o->own_second, r->own_second) == 0 &&
			    strcmp(o->variable, r->variable) == 0)
				break;
		}
		if (k < own->len)
			continue;
		struct explore_race race = { .first = g_strdup(r->first),
			                     .second = g_strdup(r->second),
			                     .variable = g_strdup(r->variable),
			                     .own_first = g_strdup(r->own_first),
			                     .own_second = g_strdup(r->own_second),
			                     .run = joined_run(n, r->run) };
		g_array_append_val(own, race);
	}
}

static uint32_t joined_history(const struct numbering *n, uint32_t history)
{
	return history == NONE ? NONE : n->histories[history];
}

static void adopt_pending(struct exploration *x, struct exploration *other,
                          const struct numbering *n)
{
	GPtrArray *pending = worklist_steal(other->worklist);
	for (guint i = 0; i < pending->len; i++) {
		struct pending *p = pending->pdata[i];
		p->parent = joined_run(n, p->parent);
		p->known_as = joined_history(n, p->known_as);
		worklist_add(x->worklist, p);
		pending->pdata[i] = NULL;
	}
	g_ptr_array_unref(pending);
	worklist_adopt_keys(x->worklist, other->worklist);
	while (other->repeats->len > 0) {
		struct repeat *r =
		        g_ptr_array_steal_index(other->repeats, other->repeats->len - 1);
		r->number = joined_run(n, r->number);
		r->known_run = joined_history(n, r->known_run);
		r->schedule->parent = joined_run(n, r->schedule->parent);
		r->schedule->known_as = joined_history(n, r->schedule->known_as);
		g_ptr_array_add(x->repeats, r);
	}
}

static void adopt_counts(struct exploration *x, const struct exploration *other)
{
	const struct task_origin *o = &other->origin;
	x->report->pruned += other->report->pruned - o->pruned;
	x->report->classes += other->report->classes - o->classes;
	x->report->abandoned += other->report->abandoned - o->abandoned;
	x->chances += other->chances - o->chances;
	x->taken += other->taken - o->taken;
	x->run_of_taken += other->run_of_taken - o->run_of_taken;
	x->beyond |= other->beyond;
	x->races_left |= other->races_left;
	adopt_texts(x->report->notes, other->report->notes);
	for (guint i = 0; i < other->report->reasons->len; i++)
		explore_note_incomplete(x, other->report->reasons->pdata[i]);
	GHashTable *own[5], *others[5];
	explore_sets(x, own);
	explore_sets(other, others);
	for (size_t i = 0; i < G_N_ELEMENTS(own); i++)
		adopt_set(own[i], others[i]);
}

void join_add(struct join *j, struct exploration *other)
{
	struct exploration *x = j->x;
	struct numbering n = { .origin = other->origin.extent.runs,
		               .offset = x->report->runs->len - other->origin.extent.runs,
		               .errors = g_array_new(FALSE, FALSE, sizeof(uint32_t)) };
	uint64_t *twice = g_new0(uint64_t, other->report->errors->len + 1);
	adopt_histories(j, other, &n);
	awaits_adopt(x->awaits, other->awaits);
	pasts_adopt(x->pasts, other->pasts, n.histories);
	adopt_counts(x, other);
	map_errors(x, other, &n);
	adopt_runs(j, other, &n, twice);
	adopt_errors(x, other, &n, twice);
	adopt_races(x, other, &n);
	adopt_pending(x, other, &n);
	g_free(twice);
	g_free(n.histories);
	g_array_unref(n.errors);
}

guint join_knowledge(const struct exploration *x)
{
	return g_hash_table_size(x->plain) + g_hash_table_size(x->ordered) +
	       awaits_size(x->awaits).stacks + awaits_size(x->awaits).written +
	       x->kernel_threads;
}

void join_add_restarted(struct exploration *x, const struct exploration *other,
                        const struct task_origin *base)
{
	guint knew = join_knowledge(x);
	adopt_set(x->plain, other->plain);
	adopt_set(x->ordered, other->ordered);
	awaits_adopt_memory(x->awaits, other->awaits);
	x->kernel_threads |= other->kernel_threads;
	x->again |= join_knowledge(x) != knew;
	adopt_texts(x->report->notes, other->report->notes);
	x->report->abandoned += other->report->runs->len + other->report->abandoned -
	                        (base->extent.runs + base->abandoned);
	guint known = other->origin.anew ? 0 : base->extent.errors;
	for (guint i = known; i < other->report->errors->len; i++) {
		const struct explore_error *e =
		        &g_array_index(other->report->errors, struct explore_error, i);
		if (e->end != EXPLORE_SPECIFICATION ||
		    error_index(x->report, e->key) < x->report->errors->len)
			continue;
		struct explore_error fresh = error_copy(e);
		fresh.run = fresh.shortest = 0; /* its own is not kept */
		g_array_append_val(x->report->errors, fresh);
	}
}
