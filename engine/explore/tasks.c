/*
 * tasks.c - see tasks.h. How the results of one task are added to another is tasks_join.c.
 */
#include "engine/explore/tasks.h"

#include "engine/base/file.h"
#include "engine/explore/checkpoint.h"
#include "engine/explore/tasks_join.h"

#include <stdlib.h>
#include <string.h>

struct tasks {
	struct exploration x;
	struct explore_options options;
	bool concluded;
};

bool tasks_are(const char *path)
{
	return checkpoint_is(path);
}

static struct tasks *tasks_new(void)
{
	struct tasks *t = g_new0(struct tasks, 1);
	exploration_begin(&t->x, &t->options);
	return t;
}

/* A whole state. */
static struct tasks *load(const struct checkpoint *c, struct error *error)
{
	struct tasks *t = tasks_new();
	t->x.histories = histories_new();
	bool good = checkpoint_load(c, &t->x, error);
	if (good && strstr(t->x.identity, "\nshard 0/0\n") == NULL)
		good = error_set(error, checkpoint_path(c),
		                 "begin with explore --resume, without --shard",
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

/* -- the join ------------------------------------------------------------------------------ */

/* The files, in the order of their tasks, and their common base. */
struct division {
	GPtrArray *files, *bases; /* struct checkpoint *: the tasks; bases that were named */
	struct tasks *base;       /* the state with which the tasks began */
	bool anew;                /* some have begun anew */
	GArray *runs; /* for the next task: as many empty runs as the base has; or NULL */
};

static bool belong(const struct division *d, const struct checkpoint *c, struct error *error)
{
	const struct checkpoint *first = d->files->pdata[0];
	const struct task_origin *a = checkpoint_task(first), *b = checkpoint_task(c);
	const char *name = checkpoint_path(first), *path = checkpoint_path(c);
	if (checkpoint_kind(first) != CHECKPOINT_TASK || checkpoint_kind(c) != CHECKPOINT_TASK)
		return error_set(error, checkpoint_kind(c) != CHECKPOINT_TASK ? path : name,
		                 "divide one state with --tasks, and join what comes of it",
		                 "is no task, and only tasks of one division can be joined");
	return (memcmp(a->sum, b->sum, sizeof a->sum) == 0 && a->count == b->count) ||
	       error_set(error, path, "merge the tasks of one division",
	                 "is a task of another division than %s", name);
}

/* "3, 5" of 8, or NULL. */
static char *missing_tasks(const struct checkpoint *const *of, uint32_t count)
{
	GString *list = g_string_new(NULL);
	for (uint32_t i = 0; i < count; i++)
		if (of[i] == NULL)
			g_string_append_printf(list, "%s%u", list->len ? ", " : "", i + 1);
	return g_string_free(list, list->len == 0);
}

/* Enter the task, once. */
static bool place_task(const struct checkpoint *c, const struct checkpoint **of,
                       struct error *error)
{
	const struct task_origin *o = checkpoint_task(c);
	if (of[o->index] != NULL)
		return error_set(error, checkpoint_path(c), "name each task once",
		                 "is task %u of %u, as %s is", o->index + 1, o->count,
		                 checkpoint_path(of[o->index]));
	of[o->index] = c;
	return true;
}

static bool check_tasks(const struct division *d, bool lenient, char **missing,
                        struct error *error)
{
	const struct checkpoint *first = d->files->pdata[0];
	uint32_t count = checkpoint_task(first)->count;
	const struct checkpoint **of = g_new0(const struct checkpoint *, count + 1);
	bool good = true;
	for (guint i = 0; good && i < d->files->len; i++)
		good = belong(d, d->files->pdata[i], error) &&
		       place_task(d->files->pdata[i], of, error);
	*missing = good ? missing_tasks(of, count) : NULL;
	if (*missing && !lenient)
		good = error_set(error, checkpoint_path(first),
		                 "name all of them, or --lenient",
		                 "of %u tasks these are missing: %s", count, *missing);
	g_free(of);
	return good;
}

static gint by_task(gconstpointer p, gconstpointer q)
{
	const struct checkpoint *const *a = p, *const *b = q;
	uint32_t i = checkpoint_task(*a)->index, k = checkpoint_task(*b)->index;
	return (i > k) - (i < k);
}

/* Lends the next task as many empty runs as the base has, which are made once for all tasks. */
static void lend_runs(struct division *d, struct exploration *x)
{
	if (d->runs == NULL)
		return;
	g_array_unref(x->report->runs);
	x->report->runs = g_steal_pointer(&d->runs);
}

static void take_back_runs(struct division *d, struct exploration *x)
{
	d->runs = g_steal_pointer(&x->report->runs);
	g_array_set_size(d->runs, d->base->x.origin.extent.runs);
	x->report->runs = g_array_new(FALSE, FALSE, sizeof(struct explore_run));
}

/* A task: its additions, or its whole state if it has begun anew. NULL and `error`. */
static struct tasks *load_task(struct division *d, const struct checkpoint *c,
                               struct error *error)
{
	if (checkpoint_task(c)->anew)
		return load(c, error);
	struct tasks *t = tasks_new();
	lend_runs(d, &t->x);
	if (checkpoint_load_added(c, &d->base->x.origin, &t->x, error))
		return t;
	tasks_free(t);
	return NULL;
}

/* Add all tasks to the base; false and `error`. */
static bool join_added(struct division *d, struct error *error)
{
	struct join j;
	bool good = true;
	join_begin(&j, &d->base->x);
	for (guint i = 0; good && i < d->files->len; i++) {
		struct tasks *t = load_task(d, d->files->pdata[i], error);
		good = t != NULL;
		if (good) {
			join_add(&j, &t->x);
			take_back_runs(d, &t->x);
		}
		tasks_free(t);
	}
	if (d->runs != NULL)
		g_array_unref(d->runs);
	join_end(&j);
	return good;
}

/* Is it a better state to continue from than `best`, among tasks that have begun anew? */
static bool is_better(const struct tasks *t, const struct tasks *best)
{
	guint k = join_knowledge(&t->x), known = join_knowledge(&best->x);
	return k > known || (k == known && t->x.report->classes > best->x.report->classes);
}

static void free_tasks(void *data)
{
	tasks_free(data);
}

/* One of the tasks that have begun anew, with the results of the others; it replaces the
 * base. */
static bool join_restarted(struct division *d, struct error *error)
{
	GPtrArray *all = g_ptr_array_new_with_free_func(free_tasks);
	struct tasks *best = NULL, *t = NULL;
	for (guint i = 0; i < d->files->len; i++) {
		t = load_task(d, d->files->pdata[i], error);
		if (t == NULL)
			break;
		g_ptr_array_add(all, t);
		if (t->x.origin.anew && (best == NULL || is_better(t, best)))
			best = t;
	}
	for (guint i = 0; t != NULL && i < all->len; i++)
		if (all->pdata[i] != best)
			join_add_restarted(&best->x, &((struct tasks *)all->pdata[i])->x,
			                   &d->base->x.origin);
	if (t != NULL) {
		tasks_free(d->base);
		d->base = best;
		g_ptr_array_set_free_func(all, NULL);
		g_ptr_array_remove(all, best);
		g_ptr_array_set_free_func(all, free_tasks);
	}
	g_ptr_array_unref(all);
	return t != NULL;
}

/* Removes schedules that another task has covered, and those that two tasks found. */
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
	GArray *errors = o->errors, *replanned = o->replanned;
	g_free(o->base);
	g_array_set_size(errors, 0);
	g_array_set_size(replanned, 0);
	*o = (struct task_origin){ .errors = errors, .replanned = replanned };
}

static void note_missing(struct exploration *x, const char *missing, uint32_t count)
{
	char *why = g_strdup_printf("tasks %s of %u were left out when they were joined: what "
	                            "they would have explored is missing",
	                            missing, count);
	explore_note_incomplete(x, why);
	g_free(why);
}

static void close_file(void *data)
{
	checkpoint_close(data);
}

/* Open the files. The base may be named among its tasks, so that PREFIX.* names them. */
static bool open_all(struct division *d, const GPtrArray *paths, struct error *error)
{
	for (guint i = 0; i < paths->len; i++) {
		struct checkpoint *c = checkpoint_open(paths->pdata[i], error);
		if (c == NULL)
			return false;
		bool base = checkpoint_kind(c) == CHECKPOINT_BASE;
		g_ptr_array_add(base ? d->bases : d->files, c);
		d->anew |= checkpoint_task(c)->anew;
	}
	return d->files->len > 0 || checkpoint_follow(d->bases->pdata[0], error);
}

static bool check_bases(const struct division *d, struct error *error)
{
	const struct checkpoint *first = d->files->pdata[0];
	const struct task_origin *task = checkpoint_task(first);
	for (guint i = 0; i < d->bases->len; i++) {
		const struct checkpoint *c = d->bases->pdata[i];
		if (memcmp(checkpoint_task(c)->sum, task->sum, sizeof task->sum) != 0)
			return error_set(error, checkpoint_path(c),
			                 "merge the tasks of one division",
			                 "is the base of another division than %s",
			                 checkpoint_path(first));
	}
	return true;
}

static struct tasks *join_tasks(struct division *d, bool lenient, struct error *error)
{
	char *missing = NULL;
	struct checkpoint *first = d->files->pdata[0], *opened = NULL;
	uint32_t count = checkpoint_task(first)->count;
	bool good = check_bases(d, error) && check_tasks(d, lenient, &missing, error) &&
	            (opened = checkpoint_base(first, error)) != NULL &&
	            (d->base = load(opened, error)) != NULL;
	checkpoint_close(opened);
	g_ptr_array_sort(d->files, by_task);
	if (good)
		good = d->anew ? join_restarted(d, error) : join_added(d, error);
	if (good) {
		forget_origin(&d->base->x.origin);
		if (missing)
			note_missing(&d->base->x, missing, count);
		prune(&d->base->x);
	}
	g_free(missing);
	return good ? g_steal_pointer(&d->base) : NULL;
}

struct tasks *tasks_join(const GPtrArray *paths, bool lenient, struct error *error)
{
	struct division d = { .files = g_ptr_array_new_with_free_func(close_file),
		              .bases = g_ptr_array_new_with_free_func(close_file) };
	struct tasks *all = NULL;
	if (open_all(&d, paths, error)) {
		struct checkpoint *only =
		        d.files->len + d.bases->len == 1 ? d.files->pdata[0] : NULL;
		all = only && checkpoint_kind(only) == CHECKPOINT_STATE
		              ? load(only, error)
		              : join_tasks(&d, lenient, error);
	}
	g_ptr_array_unref(d.files);
	g_ptr_array_unref(d.bases);
	tasks_free(d.base);
	return all;
}

/* -- the division -------------------------------------------------------------------------- */

bool tasks_keep(struct tasks *t, const char *path, struct error *error)
{
	return file_may_become(path, FILE_STATE, error) && checkpoint_store(&t->x, path, error);
}

/* The path PREFIX.base, or PREFIX.N; owned by the caller. */
static char *base_path(const char *prefix)
{
	return g_strdup_printf("%s.base", prefix);
}

static char *task_path(const char *prefix, uint32_t index)
{
	return g_strdup_printf("%s.%u", prefix, index + 1);
}

/* Takes ownership of the path. */
static bool is_free(char *path, struct error *error)
{
	bool taken = g_file_test(path, G_FILE_TEST_EXISTS);
	if (taken)
		error_set(error, path, "name another prefix, or delete what is not needed",
		          "exists already, and may hold what a task has explored");
	g_free(path);
	return !taken;
}

static bool are_free(const char *prefix, uint32_t count, struct error *error)
{
	bool free = true;
	for (uint32_t i = 0; free && i < count; i++)
		free = is_free(task_path(prefix, i), error);
	return free && is_free(base_path(prefix), error);
}

/* Writes a task: `add` adds every COUNT-th element of the list, from `index` on. */
static bool write_task(struct exploration *x, const GPtrArray *pending,
                       const GPtrArray *repeats, const char *prefix, struct error *error)
{
	const struct task_origin *o = &x->origin;
	for (guint i = o->index; i < pending->len; i += o->count)
		worklist_add(x->worklist, pending->pdata[i]);
	for (guint i = o->index; i < repeats->len; i += o->count)
		g_ptr_array_add(x->repeats, repeats->pdata[i]);
	char *path = task_path(prefix, o->index);
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
	char *base = base_path(prefix);
	good = checkpoint_store_base(x, base, error);
	g_free(base);
	x->origin.count = count;
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

/* Notes the variables of --final and --check, which the identity lists. */
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
		explore_note_incomplete(&t->x, "schedules are left (--resume, --tasks)");
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
	return t->x.options_text ? t->x.options_text : "";
}

bool tasks_bounded(const struct tasks *t, uint32_t *preemptions)
{
	static const char key[] = "\npreemptions ";
	const char *at = strstr(t->x.identity, key);
	long bound = at ? strtol(at + strlen(key), NULL, 10) : -1;
	*preemptions = bound < 0 ? 0 : (uint32_t)bound;
	return bound >= 0;
}

uint32_t tasks_spurious(const struct tasks *t)
{
	static const char key[] = "\nspurious ";
	const char *at = strstr(t->x.identity, key);
	return at ? (uint32_t)strtoul(at + strlen(key), NULL, 10) : 0;
}
