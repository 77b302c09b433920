/*
 * tasks.c - see tasks.h.
 *
 * A run of a state is known elsewhere by its number, and by its number among the histories: the
 * n-th run that was not redundant is the n-th history. A join maps both. Of runs that two tasks
 * made of one class the second becomes redundant.
 */
#include "engine/explore/tasks.h"

#include "engine/explore/checkpoint.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct tasks {
	struct exploration x;
	struct explore_options options;
	bool concluded;
};

bool tasks_are(const char *path)
{
	return checkpoint_is(path);
}

static struct tasks *load(const char *path, struct error *error)
{
	struct tasks *t = g_new0(struct tasks, 1);
	exploration_begin(&t->x, &t->options);
	t->x.histories = histories_new();
	bool good = checkpoint_load(&t->x, path, error);
	if (good && strstr(t->x.identity, "\nshard 0/0\n") == NULL)
		good = error_set(error, path, "begin with explore --resume, without --shard",
		                 "is the state of a share, whose report is merged as JSON");
	if (good)
		return t;
	tasks_free(t);
	return NULL;
}

void tasks_free(struct tasks *t)
{
	if (t == NULL)
		return;
	explore_report_free(t->x.report);
	exploration_end(&t->x);
	g_free(t);
}

/* -- numbers ------------------------------------------------------------------------------- */

static struct explore_run *run_of(const struct exploration *x, uint32_t run)
{
	return &g_array_index(x->report->runs, struct explore_run, run);
}

/* The classes of the runs that count. */
static GHashTable *classes_of(const struct exploration *x)
{
	GHashTable *classes = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	for (guint i = x->first; i < x->report->runs->len; i++)
		if (!run_of(x, i)->redundant)
			g_hash_table_add(classes,
			                 g_memdup2(&run_of(x, i)->class_, sizeof(uint64_t)));
	return classes;
}

/* Of the state that is joined. */
struct numbers {
	uint32_t origin,
	        offset;      /* runs of the origin, which both have; and added to the others */
	uint32_t *histories; /* by history: its number in the join */
	GArray *errors;      /* uint32_t by error: its index in the join */
};

static uint32_t joined_run(const struct numbers *n, uint32_t run)
{
	return run == NONE || run < n->origin ? run : run + n->offset;
}

/* -- one state into another ---------------------------------------------------------------- */

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
static void adopt_histories(struct exploration *x, struct exploration *other, struct numbers *n)
{
	uint32_t own = histories_count(x->histories), count = histories_count(other->histories);
	GHashTable *known = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	for (uint32_t i = 0; i < own; i++) {
		uint64_t class_ = histories_class(x->histories, i);
		g_hash_table_insert(known, g_memdup2(&class_, sizeof class_),
		                    GUINT_TO_POINTER(i + 1));
	}
	n->histories = g_new(uint32_t, count + 1);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t class_ = histories_class(other->histories, i);
		void *at = g_hash_table_lookup(known, &class_);
		n->histories[i] = at ? GPOINTER_TO_UINT(at) - 1 : NONE;
	}
	histories_adopt(x->histories, other->histories, n->histories);
	g_hash_table_unref(known);
}

/* Is run `a` easier to read than run `b`? As explore_errors.c has it. */
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

/* The runs are moved; those whose class is known count no more, neither as a class nor in
 * their error (`twice`, by error of the other). */
static void adopt_runs(struct exploration *x, struct exploration *other,
                       const struct numbers *n, GHashTable *known, uint64_t *twice)
{
	GArray *runs = other->report->runs;
	for (guint i = n->origin; i < runs->len; i++) {
		struct explore_run run = g_array_index(runs, struct explore_run, i);
		memset(&g_array_index(runs, struct explore_run, i), 0, sizeof run);
		if (!run.redundant && g_hash_table_contains(known, &run.class_)) {
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
}

/* The errors' indices in the join; new ones are moved, with no count yet. */
static void map_errors(struct exploration *x, struct exploration *other, struct numbers *n)
{
	GArray *errors = other->report->errors;
	for (guint i = 0; i < errors->len; i++) {
		struct explore_error *e = &g_array_index(errors, struct explore_error, i);
		uint32_t at = error_index(x->report, e->key);
		g_array_append_val(n->errors, at);
		if (at < x->report->errors->len)
			continue;
		struct explore_error fresh = *e;
		fresh.story = g_strdup(e->story);
		fresh.key = g_strdup(e->key);
		fresh.places = e->places ? g_ptr_array_ref(e->places) : NULL;
		fresh.history = e->history ? g_array_ref(e->history) : NULL;
		fresh.run = joined_run(n, e->run);
		fresh.shortest = joined_run(n, e->shortest);
		fresh.count = 0;
		g_array_append_val(x->report->errors, fresh);
	}
}

static void adopt_errors(struct exploration *x, const struct exploration *other,
                         const struct numbers *n, const uint64_t *twice)
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
                        const struct numbers *n)
{
	GArray *own = x->report->races;
	for (guint i = other->origin.races; i < other->report->races->len; i++) {
		const struct explore_race *r =
		        &g_array_index(other->report->races, struct explore_race, i);
		guint k = 0;
		for (; k < own->len; k++) {
			const struct explore_race *o =
			        &g_array_index(own, struct explore_race, k);
			if (strcmp(o->first, r->first) == 0 &&
			    strcmp(o->second, r->second) == 0 &&
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

static uint32_t joined_history(const struct numbers *n, uint32_t history)
{
	return history == NONE ? NONE : n->histories[history];
}

static void adopt_pending(struct exploration *x, struct exploration *other,
                          const struct numbers *n)
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
	for (guint i = 0; i < other->report->gaps->len; i++)
		explore_gap(x, other->report->gaps->pdata[i]);
	GHashTable *const sets[][2] = { { x->errors, other->errors },
		                        { x->races, other->races },
		                        { x->plain, other->plain },
		                        { x->ordered, other->ordered },
		                        { x->finals_seen, other->finals_seen } };
	for (size_t i = 0; i < G_N_ELEMENTS(sets); i++)
		adopt_set(sets[i][0], sets[i][1]);
}

static void adopt(struct exploration *x, struct exploration *other)
{
	struct numbers n = { .origin = other->origin.runs,
		             .offset = x->report->runs->len - other->origin.runs,
		             .errors = g_array_new(FALSE, FALSE, sizeof(uint32_t)) };
	GHashTable *known = classes_of(x);
	uint64_t *twice = g_new0(uint64_t, other->report->errors->len + 1);
	adopt_histories(x, other, &n);
	awaits_adopt(x->awaits, other->awaits);
	adopt_counts(x, other);
	map_errors(x, other, &n);
	adopt_runs(x, other, &n, known, twice);
	adopt_errors(x, other, &n, twice);
	adopt_races(x, other, &n);
	adopt_pending(x, other, &n);
	g_free(twice);
	g_free(n.histories);
	g_hash_table_unref(known);
	g_array_unref(n.errors);
}

/* -- objects that are not as specified ----------------------------------------------------- */

static bool knows_more(const struct exploration *x)
{
	return g_hash_table_size(x->plain) != x->origin.plain ||
	       g_hash_table_size(x->ordered) != x->origin.ordered ||
	       x->first != x->origin.first || x->again;
}

static guint knowledge(const struct exploration *x)
{
	return g_hash_table_size(x->plain) + g_hash_table_size(x->ordered);
}

/* A task that met an object which is not as specified has begun anew, and what the others have
 * explored is void (begin_again of explore.c): only their errors of this kind count. */
static void adopt_restarted(struct exploration *x, const struct exploration *other)
{
	guint knew = knowledge(x);
	adopt_set(x->plain, other->plain);
	adopt_set(x->ordered, other->ordered);
	x->again |= knowledge(x) != knew;
	adopt_texts(x->report->notes, other->report->notes);
	x->report->abandoned += other->report->runs->len - other->origin.runs;
	for (guint i = 0; i < other->report->errors->len; i++) {
		const struct explore_error *e =
		        &g_array_index(other->report->errors, struct explore_error, i);
		if (e->end != EXPLORE_SPECIFICATION ||
		    error_index(x->report, e->key) < x->report->errors->len)
			continue;
		struct explore_error fresh = *e;
		fresh.story = g_strdup(e->story);
		fresh.key = g_strdup(e->key);
		fresh.places = e->places ? g_ptr_array_ref(e->places) : NULL;
		fresh.history = e->history ? g_array_ref(e->history) : NULL;
		fresh.run = fresh.shortest = 0; /* its own is not kept */
		g_array_append_val(x->report->errors, fresh);
	}
}

/* -- the join ------------------------------------------------------------------------------ */

static bool belong(const struct exploration *first, const char *name,
                   const struct exploration *x, const char *path, struct error *error)
{
	char *was, *is;
	if (checkpoint_differ(x->identity, first->identity, &was, &is)) {
		error_set(error, path, "merge the tasks of one exploration",
		          "is of another exploration: there %s, in %s %s", was, name, is);
		g_free(was);
		g_free(is);
		return false;
	}
	if (first->origin.round == NULL || x->origin.round == NULL)
		return error_set(error, first->origin.round ? path : name,
		                 "divide one state with --tasks, and join what comes of it",
		                 "is no task, and only tasks of one division can be joined");
	const struct task_origin *a = &first->origin, *b = &x->origin;
	return (strcmp(a->round, b->round) == 0 && a->runs == b->runs && a->count == b->count &&
	        a->errors->len == b->errors->len) ||
	       error_set(error, path, "merge the tasks of one division",
	                 "is a task of another division than %s", name);
}

/* "3, 5" of 8, or NULL. */
static char *missing_tasks(const uint32_t *of, uint32_t count)
{
	GString *list = g_string_new(NULL);
	for (uint32_t i = 0; i < count; i++)
		if (of[i] == 0)
			g_string_append_printf(list, "%s%u", list->len ? ", " : "", i + 1);
	return g_string_free(list, list->len == 0);
}

/* Enter the task, once. */
static bool place_task(const GPtrArray *paths, guint k, const struct task_origin *o,
                       uint32_t *of, struct error *error)
{
	if (of[o->index] != 0)
		return error_set(error, paths->pdata[k], "name each task once",
		                 "is task %u of %u, as %s is", o->index + 1, o->count,
		                 (const char *)paths->pdata[of[o->index] - 1]);
	of[o->index] = k + 1;
	return true;
}

/* The state to which the others are added: one of those that know the most. */
static struct tasks *first_of(const GPtrArray *states, bool *restarted)
{
	struct tasks *best = states->pdata[0];
	*restarted = false;
	for (guint i = 0; i < states->len; i++) {
		struct tasks *t = states->pdata[i];
		bool more = t->x.origin.round != NULL && knows_more(&t->x);
		guint k = knowledge(&t->x), known = knowledge(&best->x);
		if (more && (!*restarted || k > known ||
		             (k == known && t->x.report->classes > best->x.report->classes)))
			best = t;
		*restarted |= more;
	}
	return best;
}

/* States in the order of their tasks become one, which is returned; the others stay. */
static struct tasks *join(const GPtrArray *states)
{
	bool restarted;
	struct tasks *all = first_of(states, &restarted);
	for (guint i = 0; i < states->len; i++) {
		struct tasks *t = states->pdata[i];
		if (t == all)
			continue;
		if (restarted)
			adopt_restarted(&all->x, &t->x);
		else
			adopt(&all->x, &t->x);
	}
	return all;
}

/* Schedules that another task has covered, and those that two tasks found. */
static void prune(struct exploration *x)
{
	GPtrArray *pending = worklist_steal(x->worklist);
	GHashTable *keys = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	for (guint i = 0; i < pending->len; i++) {
		struct pending *p = pending->pdata[i];
		uint64_t key = pending_key(p);
		bool known = key != 0 && g_hash_table_contains(keys, &key);
		bool covered = p->parts != NULL &&
		               explore_is_known(x, p->parts, p->parts_count, p->kind);
		x->report->pruned += known || covered;
		if (known || covered)
			continue;
		if (key != 0)
			g_hash_table_add(keys, g_memdup2(&key, sizeof key));
		worklist_add(x->worklist, p);
		pending->pdata[i] = NULL;
	}
	g_hash_table_unref(keys);
	g_ptr_array_unref(pending);
}

static void forget_origin(struct task_origin *o)
{
	GArray *errors = o->errors;
	g_free(o->round);
	g_array_set_size(errors, 0);
	*o = (struct task_origin){ .errors = errors };
}

static bool check_tasks(const GPtrArray *paths, const GPtrArray *states, bool lenient,
                        char **missing, struct error *error)
{
	const struct exploration *first = &((struct tasks *)states->pdata[0])->x;
	const char *name = paths->pdata[0];
	if (states->len == 1 && first->origin.round == NULL)
		return true;
	uint32_t *of = g_new0(uint32_t, first->origin.count + 1);
	bool good = true;
	for (guint i = 0; good && i < states->len; i++) {
		const struct exploration *x = &((struct tasks *)states->pdata[i])->x;
		good = belong(first, name, x, paths->pdata[i], error) &&
		       place_task(paths, i, &x->origin, of, error);
	}
	*missing = good ? missing_tasks(of, first->origin.count) : NULL;
	if (*missing && !lenient)
		good = error_set(error, name, "name all of them, or --lenient",
		                 "of %u tasks these are missing: %s", first->origin.count,
		                 *missing);
	g_free(of);
	return good;
}

static void free_tasks(void *data)
{
	tasks_free(data);
}

static gint by_task(gconstpointer p, gconstpointer q)
{
	const struct tasks *a = *(struct tasks *const *)p, *b = *(struct tasks *const *)q;
	return (a->x.origin.index > b->x.origin.index) -
	       (a->x.origin.index < b->x.origin.index);
}

/* The states, in the order of their paths; NULL and `error`. */
static GPtrArray *load_all(const GPtrArray *paths, struct error *error)
{
	GPtrArray *states = g_ptr_array_new_with_free_func(free_tasks);
	for (guint i = 0; i < paths->len; i++) {
		struct tasks *t = load(paths->pdata[i], error);
		if (t == NULL) {
			g_ptr_array_unref(states);
			return NULL;
		}
		g_ptr_array_add(states, t);
	}
	return states;
}

static void note_missing(struct exploration *x, const char *missing)
{
	char *why = g_strdup_printf("tasks %s of %u were left out when they were joined: what "
	                            "they would have explored is missing",
	                            missing, x->origin.count);
	explore_gap(x, why);
	g_free(why);
}

struct tasks *tasks_join(const GPtrArray *paths, bool lenient, struct error *error)
{
	char *missing = NULL;
	struct tasks *all = NULL;
	GPtrArray *states = load_all(paths, error);
	if (states == NULL)
		return NULL;
	if (check_tasks(paths, states, lenient, &missing, error)) {
		g_ptr_array_sort(states, by_task);
		all = join(states);
	}
	for (guint i = 0; all != NULL && i < states->len; i++) {
		if (states->pdata[i] == all)
			g_ptr_array_steal_index(states, i);
	}
	g_ptr_array_unref(states);
	if (all != NULL && missing != NULL)
		note_missing(&all->x, missing);
	if (all != NULL) {
		forget_origin(&all->x.origin);
		prune(&all->x);
	}
	g_free(missing);
	return all;
}

/* -- the division -------------------------------------------------------------------------- */

bool tasks_keep(struct tasks *t, const char *path, struct error *error)
{
	return checkpoint_store(&t->x, path, error);
}

static void note_origin(struct exploration *x, uint32_t count)
{
	struct task_origin *o = &x->origin;
	char *content = g_strdup_printf("%s %u %u %" G_GINT64_FORMAT " %d", x->identity, count,
	                                x->report->runs->len, g_get_real_time(), (int)getpid());
	o->round = g_compute_checksum_for_string(G_CHECKSUM_SHA256, content, -1);
	g_free(content);
	o->count = count;
	o->runs = x->report->runs->len;
	o->races = x->report->races->len;
	o->first = x->first;
	o->pruned = x->report->pruned;
	o->classes = x->report->classes;
	o->abandoned = x->report->abandoned;
	o->chances = x->chances;
	o->taken = x->taken;
	o->run_of_taken = x->run_of_taken;
	o->plain = g_hash_table_size(x->plain);
	o->ordered = g_hash_table_size(x->ordered);
	for (guint i = 0; i < x->report->errors->len; i++)
		g_array_append_val(
		        o->errors,
		        g_array_index(x->report->errors, struct explore_error, i).count);
}

static bool are_free(const char *prefix, uint32_t count, struct error *error)
{
	for (uint32_t i = 1; i <= count; i++) {
		char *path = g_strdup_printf("%s.%u", prefix, i);
		bool taken = g_file_test(path, G_FILE_TEST_EXISTS);
		if (taken)
			error_set(error, path,
			          "name another prefix, or delete what is not needed",
			          "exists already, and may hold what a task has explored");
		g_free(path);
		if (taken)
			return false;
	}
	return true;
}

/* Every COUNT-th of the list, from `index` on, is added by `add`. */
static bool write_task(struct exploration *x, const GPtrArray *pending,
                       const GPtrArray *repeats, const char *prefix, struct error *error)
{
	const struct task_origin *o = &x->origin;
	for (guint i = o->index; i < pending->len; i += o->count)
		worklist_add(x->worklist, pending->pdata[i]);
	for (guint i = o->index; i < repeats->len; i += o->count)
		g_ptr_array_add(x->repeats, repeats->pdata[i]);
	char *path = g_strdup_printf("%s.%u", prefix, o->index + 1);
	bool good = checkpoint_store(x, path, error);
	g_free(path);
	g_ptr_array_set_free_func(x->repeats, NULL); /* `repeats` owns them */
	g_ptr_array_set_size(x->repeats, 0);
	GPtrArray *written = worklist_steal(x->worklist);
	g_ptr_array_set_free_func(written, NULL);
	g_ptr_array_unref(written);
	return good;
}

bool tasks_divide(struct tasks *t, const char *prefix, uint32_t count, struct error *error)
{
	struct exploration *x = &t->x;
	if (!are_free(prefix, count, error))
		return false;
	bool good = true;
	GPtrArray *pending = worklist_steal(x->worklist);
	GPtrArray *repeats = g_steal_pointer(&x->repeats);
	x->repeats = g_ptr_array_new();
	note_origin(x, count);
	for (uint32_t i = 0; good && i < count; i++) {
		x->origin.index = i;
		good = write_task(x, pending, repeats, prefix, error);
	}
	forget_origin(&x->origin);
	g_ptr_array_unref(x->repeats);
	x->repeats = repeats;
	for (guint i = 0; i < pending->len; i++) {
		worklist_add(x->worklist, pending->pdata[i]);
		pending->pdata[i] = NULL;
	}
	g_ptr_array_unref(pending);
	return good;
}

/* -- the report ---------------------------------------------------------------------------- */

uint64_t tasks_left(const struct tasks *t)
{
	return worklist_length(t->x.worklist) + t->x.repeats->len + t->x.again;
}

uint64_t tasks_runs(const struct tasks *t)
{
	return t->x.report->runs->len;
}

bool tasks_failed(const struct tasks *t)
{
	return explore_has_failed(&t->x);
}

/* Of the variables of --final and --check, which the identity lists. */
static void note_finals(struct exploration *x)
{
	static const char key[] = "\nfinal";
	const char *at = strstr(x->identity, key);
	char **names = g_strsplit_set(at ? at + strlen(key) : "", " \n", -1);
	for (char **name = names; *name; name++)
		if (**name)
			explore_note_final(x, *name);
	g_strfreev(names);
}

const struct explore_report *tasks_report(struct tasks *t)
{
	if (!t->concluded)
		note_finals(&t->x);
	if (!t->concluded && tasks_left(t) > 0)
		explore_gap(&t->x, "schedules are left (--resume, --tasks)");
	if (!t->concluded)
		explore_conclude(&t->x);
	t->concluded = true;
	return t->x.report;
}

const char *tasks_program(const struct tasks *t)
{
	return t->x.program ? t->x.program : "";
}

const char *tasks_options(const struct tasks *t)
{
	return t->x.told ? t->x.told : "";
}

bool tasks_bounded(const struct tasks *t, uint32_t *preemptions)
{
	static const char key[] = "\npreemptions ";
	const char *at = strstr(t->x.identity, key);
	long bound = at ? strtol(at + strlen(key), NULL, 10) : -1;
	*preemptions = bound < 0 ? 0 : (uint32_t)bound;
	return bound >= 0;
}
