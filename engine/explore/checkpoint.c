/*
 * checkpoint.c - see checkpoint.h.
 *
 * A state is written from an extent on: lists from the extent's length, sets if they have
 * grown, single numbers always. A whole state is written from the empty extent. Runs whose
 * planning was not finished are kept as their schedules: they are executed once more, not
 * counted again, and planned from the beginning; the schedules that they have given are known
 * by their keys.
 */
#include "engine/explore/checkpoint.h"

#include "engine/base/archive.h"
#include "engine/base/file.h"
#include "engine/base/input.h"
#include "engine/explore/tasks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

static const char magic[] = "heddle exploration\n";
enum { VERSION = 15, SUM = 32, PACKED_MOST = 5000 /* times its size, unpacked */ };
static const uint32_t byte_order = 0x01020304;

/* -- identity ------------------------------------------------------------------------------ */

static bool append_digest(GString *to, const char *what, const char *path, struct error *error)
{
	char *sum = file_digest(path);
	if (sum == NULL)
		return error_set(
		        error, path, "give a program and specifications that can be read",
		        "cannot be read to compare it: %s",
		        errno == ESPIPE ? "it is no ordinary file" : g_strerror(errno));
	g_string_append_printf(to, "%s %s\n", what, sum);
	g_free(sum);
	return true;
}

char *checkpoint_identity(const struct explore_options *o, struct error *error)
{
	char *path = strchr(o->argv[0], '/') ? g_strdup(o->argv[0])
	                                     : g_find_program_in_path(o->argv[0]);
	GString *text = g_string_new(NULL);
	bool good = append_digest(text, "program", path ? path : o->argv[0], error);
	g_free(path);
	for (guint i = 0; good && o->spec_files && i < o->spec_files->len; i++)
		good = append_digest(text, "specification", o->spec_files->pdata[i], error);
	g_string_append(text, "arguments");
	for (char **word = o->argv + 1; *word; word++) {
		char *quoted = g_shell_quote(*word);
		g_string_append_printf(text, " %s", quoted);
		g_free(quoted);
	}
	g_string_append_printf(text, "\nresults %d\nsteps %" G_GUINT64_FORMAT "\nshard %u/%u\n",
	                       o->by_results, o->max_steps, o->shard, o->shards);
	if (o->linearizable)
		g_string_append(text, "linearizable\n");
	if (o->symmetry)
		g_string_append(text, "symmetry\n");
	g_string_append_printf(text, "preemptions %" G_GINT64_FORMAT "\n",
	                       o->bounded ? (gint64)o->preemptions : -1);
	if (o->spurious > 0)
		g_string_append_printf(text, "spurious %" G_GUINT32_FORMAT "\n", o->spurious);
	const char *check = o->finals ? finals_check(o->finals) : NULL;
	g_string_append_printf(text, "check %s\nfinal", check ? check : "");
	const GPtrArray *names = o->finals ? finals_names(o->finals) : NULL;
	for (guint i = 0; names && i < names->len; i++)
		g_string_append_printf(text, " %s", (char *)names->pdata[i]);
	g_string_append_c(text, '\n');
	return g_string_free(text, !good);
}

/* Do two identities differ? The lines that do are owned by the caller. */
static bool differ(const char *stored, const char *own, char **was, char **is)
{
	char **a = g_strsplit(stored, "\n", -1), **b = g_strsplit(own, "\n", -1);
	guint i = 0;
	while (a[i] && b[i] && strcmp(a[i], b[i]) == 0)
		i++;
	bool other = a[i] || b[i];
	*was = g_strdup(a[i] ? a[i] : "nothing");
	*is = g_strdup(b[i] ? b[i] : "nothing");
	g_strfreev(a);
	g_strfreev(b);
	return other;
}

/* -- the report ---------------------------------------------------------------------------- */

static void archive_run(struct explore_run *r, uint32_t number, struct archive *a)
{
	r->parent = archive_index(a, r->parent, number);
	char **const texts[] = { &r->reversal, &r->thread, &r->place,  &r->variable,
		                 &r->story,    &r->trace,  &r->printed };
	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
		archive_text(a, texts[i]);
	if (archive_reads(a))
		explore_share_texts(r);
	r->end = (enum explore_end)archive_below(a, r->end, EXPLORE_END_COUNT);
	ARCHIVE(a, r->status);
	archive_texts(a, &r->places);
	ARCHIVE(a, r->library);
	ARCHIVE(a, r->output);
	ARCHIVE(a, r->error);
	ARCHIVE(a, r->switches);
	ARCHIVE(a, r->events);
	ARCHIVE(a, r->pruned);
	ARCHIVE(a, r->redundant);
	ARCHIVE(a, r->strayed);
	archive_texts(a, &r->commuting);
	ARCHIVE(a, r->commuting_count);
	ARCHIVE(a, r->class_);
	ARCHIVE(a, r->stands_for);
	archive_bytes_of(a, &r->schedule);
}

/* Archives the elements of a GArray from `from` on, which are zeros before they are read. */
#define ARCHIVE_EACH(a, array, from, type, element, visit) \
	do { \
		size_t first_ = archive_reads(a) ? (array)->len : (from); \
		size_t count_ = archive_count((a), (array)->len - first_, 1); \
		for (size_t at_ = first_; at_ < first_ + count_; at_++) { \
			if (archive_reads(a)) { \
				type none_ = { 0 }; \
				g_array_append_val((array), none_); \
			} \
			type *element = &g_array_index((array), type, at_); \
			visit; \
		} \
	} while (0)

static void archive_shown(struct linear_shown *s, struct archive *a)
{
	archive_text(a, &s->thread);
	archive_text(a, &s->text);
	archive_text(a, &s->place);
	ARCHIVE(a, s->call);
	ARCHIVE(a, s->ret);
	ARCHIVE(a, s->order);
	if (!s->thread || !s->text || !s->place)
		archive_fail(a);
}

static void archive_history(struct explore_error *e, struct archive *a)
{
	bool has = archive_number(a, e->history != NULL);
	if (!has)
		return;
	if (archive_reads(a)) {
		e->history = g_array_new(FALSE, FALSE, sizeof(struct linear_shown));
		g_array_set_clear_func(e->history, linear_shown_clear);
	}
	ARCHIVE_EACH(a, e->history, 0, struct linear_shown, s, archive_shown(s, a));
}

/* Archives the shortest run with the error, and the history that it shows. */
static void archive_shortest(struct explore_error *e, uint32_t runs, struct archive *a)
{
	e->shortest = (uint32_t)archive_below(a, e->shortest, runs);
	archive_text(a, &e->story);
	archive_history(e, a);
}

static void archive_error(struct explore_error *e, uint32_t runs, struct archive *a)
{
	e->end = (enum explore_end)archive_below(a, e->end, EXPLORE_END_COUNT);
	ARCHIVE(a, e->status);
	archive_text(a, &e->key);
	archive_texts(a, &e->places);
	e->run = (uint32_t)archive_below(a, e->run, runs);
	archive_shortest(e, runs, a);
	ARCHIVE(a, e->count);
	if (e->key == NULL)
		archive_fail(a);
}

static void archive_race(struct explore_race *r, uint32_t runs, struct archive *a)
{
	archive_text(a, &r->first);
	archive_text(a, &r->second);
	archive_text(a, &r->variable);
	archive_text(a, &r->own_first);
	archive_text(a, &r->own_second);
	r->run = (uint32_t)archive_below(a, r->run, runs);
	if (!r->first || !r->second || !r->variable || !r->own_first || !r->own_second)
		archive_fail(a);
}

/* Errors that the base already has: only their changes. */
static void archive_known_errors(struct explore_report *r, uint32_t known, struct archive *a)
{
	for (uint32_t i = 0; i < known; i++) {
		struct explore_error *e = &g_array_index(r->errors, struct explore_error, i);
		if (archive_reads(a)) {
			g_clear_pointer(&e->story, g_free);
			g_clear_pointer(&e->history, g_array_unref);
		}
		archive_shortest(e, r->runs->len, a);
		ARCHIVE(a, e->count);
	}
}

static void archive_report(struct explore_report *r, const struct extent *from,
                           struct archive *a)
{
	uint32_t first = archive_reads(a) ? r->runs->len : from->runs;
	ARCHIVE_EACH(a, r->runs, from->runs, struct explore_run, run,
	             archive_run(run, (uint32_t)at_, a));
	archive_known_errors(r, from->errors, a);
	ARCHIVE_EACH(a, r->errors, from->errors, struct explore_error, e,
	             archive_error(e, r->runs->len, a));
	ARCHIVE_EACH(a, r->races, from->races, struct explore_race, race,
	             archive_race(race, r->runs->len, a));
	for (guint i = first; i < r->runs->len; i++) {
		uint32_t error = g_array_index(r->runs, struct explore_run, i).error;
		if (error != NONE && error >= r->errors->len)
			archive_fail(a);
	}
	ARCHIVE(a, r->pruned);
	ARCHIVE(a, r->classes);
	ARCHIVE(a, r->abandoned);
	archive_list(a, r->notes, from->notes);
	archive_list(a, r->threads, from->threads);
}

/* -- the exploration ----------------------------------------------------------------------- */

static struct extent extent_of(const struct exploration *x)
{
	struct extent e = { .runs = x->report->runs->len,
		            .errors = x->report->errors->len,
		            .races = x->report->races->len,
		            .notes = x->report->notes->len,
		            .threads = x->report->threads->len,
		            .reasons = x->report->reasons->len,
		            .entered = worklist_entered(x->worklist),
		            .histories = histories_size(x->histories),
		            .awaits = awaits_size(x->awaits),
		            .pasts = pasts_size(x->pasts) };
	GHashTable *sets[G_N_ELEMENTS(e.sets)];
	explore_sets(x, sets);
	for (size_t i = 0; i < G_N_ELEMENTS(e.sets); i++)
		e.sets[i] = g_hash_table_size(sets[i]);
	return e;
}

/* Notes x's counts as those of its task's base. */
static void note_origin(struct exploration *x)
{
	struct task_origin *o = &x->origin;
	o->extent = extent_of(x);
	o->first = x->first;
	o->pruned = x->report->pruned;
	o->classes = x->report->classes;
	o->abandoned = x->report->abandoned;
	o->chances = x->chances;
	o->taken = x->taken;
	o->run_of_taken = x->run_of_taken;
	g_array_set_size(o->errors, 0);
	g_array_set_size(o->replanned, 0);
	for (guint i = 0; i < x->report->errors->len; i++)
		g_array_append_val(
		        o->errors,
		        g_array_index(x->report->errors, struct explore_error, i).count);
}

static void archive_reasons(struct exploration *x, uint32_t from, struct archive *a)
{
	GPtrArray *read = g_ptr_array_new_with_free_func(g_free);
	archive_list(a, archive_reads(a) ? read : x->report->reasons, from);
	for (guint i = 0; i < read->len; i++)
		explore_note_incomplete(x, read->pdata[i]);
	g_ptr_array_unref(read);
}

/* The runs of the base that were executed again, with the fields that this changes. */
static void archive_replanned(struct exploration *x, struct archive *a)
{
	GArray *list = x->origin.replanned;
	ARCHIVE_EACH(a, list, 0, uint32_t, run, {
		*run = (uint32_t)archive_below(a, *run, x->origin.extent.runs);
		if (*run < x->report->runs->len)
			ARCHIVE(a, g_array_index(x->report->runs, struct explore_run, *run)
			                   .pruned);
	});
}

/* Archives runs to execute again: those that are kept, and those of an earlier checkpoint. */
static void archive_again(struct exploration *x, const struct pending_limits *limits,
                          struct archive *a)
{
	size_t kept = archive_reads(a) ? 0 : x->kept->len;
	size_t count = archive_count(a, kept + x->repeats->len, 1);
	for (size_t i = 0; i < count; i++) {
		struct repeat *r = NULL, own = { 0 };
		if (archive_reads(a)) {
			r = g_new0(struct repeat, 1);
			r->schedule = g_new0(struct pending, 1);
			g_ptr_array_add(x->repeats, r);
		} else if (i < kept) {
			const struct execution *ex = x->kept->pdata[i];
			own = (struct repeat){ ex->schedule, ex->number, ex->known_run,
				               ex->races_found };
			r = &own;
		} else {
			r = x->repeats->pdata[i - kept];
		}
		pending_archive(r->schedule, limits, a);
		r->number = (uint32_t)archive_below(a, r->number, limits->runs);
		r->known_run = archive_index(a, r->known_run, limits->histories);
		ARCHIVE(a, r->races_found);
	}
}

/* Writes or reads the state beyond the extent of the base; all of it beyond the empty
 * extent. */
static void archive_exploration(struct exploration *x, const struct extent *from,
                                struct archive *a)
{
	archive_report(x->report, from, a);
	archive_replanned(x, a);
	histories_archive(x->histories, from->histories, a);
	awaits_archive(x->awaits, from->awaits, a);
	pasts_archive(x->pasts, from->pasts, histories_count(x->histories), a);
	struct pending_limits limits = { x->report->runs->len, histories_count(x->histories) };
	worklist_archive(x->worklist, from->entered, &limits, a);
	archive_again(x, &limits, a);
	x->first = (uint32_t)archive_below(a, x->first, limits.runs + 1ull);
	ARCHIVE(a, x->chances);
	ARCHIVE(a, x->taken);
	ARCHIVE(a, x->run_of_taken);
	ARCHIVE(a, x->races_left);
	ARCHIVE(a, x->beyond);
	ARCHIVE(a, x->again);
	ARCHIVE(a, x->kernel_threads);
	GHashTable *sets[G_N_ELEMENTS(from->sets)];
	explore_sets(x, sets);
	for (size_t i = 0; i < G_N_ELEMENTS(from->sets); i++)
		archive_set(a, sets[i], from->sets[i]);
	archive_reasons(x, from->reasons, a);
}

static const struct extent nothing;

static void archive_state(struct exploration *x, struct archive *a)
{
	archive_text(a, &x->identity);
	archive_texts(a, &x->environment);
	archive_text(a, &x->program);
	archive_text(a, &x->options_text);
	archive_exploration(x, &nothing, a);
}

static void archive_task(struct task_origin *o, struct archive *a)
{
	archive_text(a, &o->base);
	archive_raw(a, o->sum, sizeof o->sum);
	o->count = (uint32_t)archive_below(a, o->count, MOST_TASKS + 1);
	o->index = (uint32_t)archive_below(a, o->index, o->count);
	ARCHIVE(a, o->anew);
	if (o->base == NULL || *o->base == '\0' || strchr(o->base, '/') != NULL)
		archive_fail(a); /* a file beside it */
}

/* -- opened files -------------------------------------------------------------------------- */

struct checkpoint {
	char *path;
	enum checkpoint_kind kind;
	uint8_t *data;           /* the archive */
	size_t size, at;         /* size of the file; offset at which the state, or the
	                          * task's additions, begin */
	struct task_origin task; /* sum: of the base, which may be the file itself */
	struct checkpoint *base; /* checkpoint_follow */
};

static void sum_of(const void *bytes, size_t length, uint8_t sum[SUM])
{
	gsize size = SUM;
	GChecksum *c = g_checksum_new(G_CHECKSUM_SHA256);
	g_checksum_update(c, bytes, (gssize)length);
	g_checksum_get_digest(c, sum, &size);
	g_checksum_free(c);
}

static bool foreign(const char *path, struct error *error, const char *what)
{
	return error_set(error, path,
	                 "give --resume a file of its own, or delete this one and begin again",
	                 "%s", what);
}

static bool unpack(struct checkpoint *c, const char *bytes, size_t length, struct error *error)
{
	struct checkpoint_header h;
	if (length < sizeof h || memcmp(bytes, magic, sizeof h.magic) != 0)
		return foreign(c->path, error, "is no state of an exploration");
	memcpy(&h, bytes, sizeof h);
	if (h.version != VERSION || h.byte_order != byte_order)
		return foreign(c->path, error,
		               "is of another version of heddle, or another machine");
	const char *frame = bytes + sizeof h;
	uint8_t *sum = c->task.sum;
	sum_of(frame, length - sizeof h, sum);
	unsigned long long size = ZSTD_getFrameContentSize(frame, length - sizeof h);
	if (h.length != length - sizeof h || memcmp(sum, h.sum, SUM) != 0 ||
	    h.kind >= CHECKPOINT_KINDS || size / PACKED_MOST > h.length)
		return foreign(c->path, error, "is damaged or cut off");
	c->kind = (enum checkpoint_kind)h.kind;
	c->data = g_malloc(size + 1);
	c->size = size;
	return ZSTD_decompress(c->data, size, frame, h.length) == size ||
	       foreign(c->path, error, "is damaged");
}

/* Reads the head of a file, before the state. */
static bool read_head(struct checkpoint *c, struct error *error)
{
	struct archive *a = archive_reader(c->data, c->size);
	if (c->kind == CHECKPOINT_BASE)
		archive_number(a, 0);
	if (c->kind == CHECKPOINT_TASK)
		archive_task(&c->task, a);
	c->at = c->size - archive_left(a);
	bool good = c->at < c->size; /* a failed archive has nothing left */
	archive_free(a);
	return good || foreign(c->path, error, "is damaged");
}

struct checkpoint *checkpoint_open(const char *path, struct error *error)
{
	size_t length;
	char *bytes = input_text(path, "state", &length, error);
	if (bytes == NULL)
		return NULL;
	struct checkpoint *c = g_new0(struct checkpoint, 1);
	c->path = g_strdup(path);
	bool good = unpack(c, bytes, length, error) && read_head(c, error);
	g_free(bytes);
	if (good)
		return c;
	checkpoint_close(c);
	return NULL;
}

void checkpoint_close(struct checkpoint *c)
{
	if (c == NULL)
		return;
	checkpoint_close(c->base);
	g_free(c->task.base);
	g_free(c->path);
	g_free(c->data);
	g_free(c);
}

bool checkpoint_is(const char *path)
{
	char begin[sizeof magic] = "";
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe has none */
	ssize_t got = file < 0 ? -1 : read(file, begin, sizeof magic - 1);
	if (file >= 0)
		close(file);
	return got == sizeof magic - 1 && strcmp(begin, magic) == 0;
}

const char *checkpoint_path(const struct checkpoint *c)
{
	return c->path;
}

enum checkpoint_kind checkpoint_kind(const struct checkpoint *c)
{
	return c->kind;
}

const struct task_origin *checkpoint_task(const struct checkpoint *c)
{
	return &c->task;
}

struct checkpoint *checkpoint_base(const struct checkpoint *task, struct error *error)
{
	char *folder = g_path_get_dirname(task->path);
	char *path = strchr(task->path, '/') ? g_build_filename(folder, task->task.base, NULL)
	                                     : g_strdup(task->task.base);
	struct checkpoint *base = NULL;
	if (!g_file_test(path, G_FILE_TEST_EXISTS))
		error_set(error, task->path, "copy it there: a task has only what it added",
		          "has its base in %s, which is not there", path);
	else
		base = checkpoint_open(path, error);
	if (base != NULL && (base->kind != CHECKPOINT_BASE ||
	                     memcmp(base->task.sum, task->task.sum, SUM) != 0)) {
		error_set(error, task->path, "use the file that its division has made",
		          "has its base in %s, which is another file by now", path);
		g_clear_pointer(&base, checkpoint_close);
	}
	g_free(folder);
	g_free(path);
	return base;
}

bool checkpoint_follow(struct checkpoint *c, struct error *error)
{
	if (c->kind == CHECKPOINT_BASE)
		return error_set(error, c->path, "name one of its tasks",
		                 "is the base of tasks, which has nothing to explore");
	if (c->kind == CHECKPOINT_TASK && !c->task.anew)
		c->base = checkpoint_base(c, error);
	return c->kind == CHECKPOINT_STATE || c->task.anew || c->base != NULL;
}

/* -- reading ------------------------------------------------------------------------------- */

static bool is_variable(const char *text)
{
	const char *equals = strchr(text, '=');
	return equals != NULL && equals != text;
}

/* Does the file belong to the user alone? Its environment can make the program load
 * anything. */
static bool is_own(const char *path, struct error *error)
{
	struct stat info;
	if (stat(path, &info) != 0)
		return true;
	return (info.st_uid == geteuid() && (info.st_mode & (S_IWGRP | S_IWOTH)) == 0) ||
	       error_set(error, path,
	                 "copy it, if you trust whoever made it (it sets the program's "
	                 "environment)",
	                 "belongs to another user, or may be written by others");
}

bool checkpoint_inherit(const struct checkpoint *c, struct error *error)
{
	char *identity = NULL;
	GPtrArray *variables = NULL;
	if (!is_own(c->path, error) || (c->base && !is_own(c->base->path, error)))
		return false;
	c = c->base ? c->base : c;
	struct archive *a = archive_reader(c->data + c->at, c->size - c->at);
	archive_text(a, &identity);
	archive_texts(a, &variables);
	if (variables != NULL)
		clearenv();
	for (guint i = 0; variables != NULL && i < variables->len; i++) {
		char *name = variables->pdata[i];
		if (!is_variable(name))
			continue;
		char *value = strchr(name, '=');
		*value = '\0';
		setenv(name, value + 1, 1);
	}
	g_free(identity);
	if (variables != NULL)
		g_ptr_array_unref(variables);
	archive_free(a);
	return true;
}

/* A whole state; `path` names it in messages. */
static bool read_state(const struct checkpoint *c, struct exploration *x, const char *path,
                       struct error *error)
{
	g_autofree char *own = g_steal_pointer(&x->identity), *was = NULL, *is = NULL;
	g_clear_pointer(&x->program, g_free);
	g_clear_pointer(&x->options_text, g_free);
	g_clear_pointer(&x->environment, g_ptr_array_unref);
	struct archive *a = archive_reader(c->data + c->at, c->size - c->at);
	archive_state(x, a);
	bool good = archive_ended(a), other = false;
	archive_free(a);
	x->identity = x->identity ? x->identity : g_strdup("");
	if (own != NULL && differ(x->identity, own, &was, &is)) {
		other = true;
		error_set(error, path,
		          "give --resume another file, or the same program and options",
		          "is of another exploration: there %s, here %s", was, is);
	}
	return !other && (good || foreign(path, error, "is damaged"));
}

/* Takes the numbers of the task from its file. */
static void take_task(struct exploration *x, const struct task_origin *task)
{
	struct task_origin *o = &x->origin;
	g_free(o->base);
	o->base = g_strdup(task->base);
	memcpy(o->sum, task->sum, sizeof o->sum);
	o->index = task->index;
	o->count = task->count;
	o->anew = task->anew;
}

static bool read_added(const struct checkpoint *task, struct exploration *x,
                       struct error *error)
{
	take_task(x, &task->task);
	struct archive *a = archive_reader(task->data + task->at, task->size - task->at);
	archive_exploration(x, &x->origin.extent, a);
	bool good = archive_ended(a);
	archive_free(a);
	return good || foreign(task->path, error, "is damaged");
}

bool checkpoint_load(const struct checkpoint *c, struct exploration *x, struct error *error)
{
	if (!read_state(c->base ? c->base : c, x, c->path, error))
		return false;
	if (c->kind == CHECKPOINT_TASK)
		take_task(x, &c->task);
	if (c->base != NULL || c->kind == CHECKPOINT_BASE)
		note_origin(x);
	return c->base == NULL || read_added(c, x, error);
}

bool checkpoint_load_added(const struct checkpoint *task, const struct task_origin *base,
                           struct exploration *x, struct error *error)
{
	struct task_origin *o = &x->origin, own = *o;
	*o = *base;
	o->base = NULL;
	o->errors = own.errors;
	o->replanned = own.replanned;
	g_array_append_vals(o->errors, base->errors->data, base->errors->len);
	GArray *const lists[] = { x->report->runs, x->report->errors, x->report->races };
	const uint32_t lengths[] = { o->extent.runs, o->extent.errors, o->extent.races };
	for (size_t i = 0; i < G_N_ELEMENTS(lists); i++) {
		size_t size = g_array_get_element_size(lists[i]), had = lists[i]->len;
		g_array_set_size(lists[i], lengths[i]);
		if (lengths[i] > had)
			memset(lists[i]->data + had * size, 0, (lengths[i] - had) * size);
	}
	x->histories = histories_beyond(o->extent.histories.runs);
	return read_added(task, x, error);
}

/* -- writing ------------------------------------------------------------------------------- */

/* *sum receives the frame's, unless NULL. */
static bool store(struct archive *a, enum checkpoint_kind kind, const char *path, uint8_t *sum,
                  struct error *error)
{
	enum { LEVEL = 3 };
	const GByteArray *plain = archive_bytes(a);
	size_t room = ZSTD_compressBound(plain->len);
	uint8_t *frame = g_malloc(room);
	struct checkpoint_header h = { .version = VERSION,
		                       .byte_order = byte_order,
		                       .kind = kind };
	memcpy(h.magic, magic, sizeof h.magic);
	h.length = ZSTD_compress(frame, room, plain->data, plain->len, LEVEL);
	BUG_ON(ZSTD_isError(h.length));
	sum_of(frame, h.length, h.sum);
	if (sum != NULL)
		memcpy(sum, h.sum, SUM);
	struct file_writer *w = file_writer_open(path, error);
	if (w) {
		file_writer_private(w);
		file_writer_put(w, &h, sizeof h);
		file_writer_put(w, frame, h.length);
	}
	archive_free(a);
	g_free(frame);
	return w && file_writer_commit(w, error);
}

bool checkpoint_store(struct exploration *x, const char *path, struct error *error)
{
	struct archive *a = archive_writer();
	bool task = x->origin.base != NULL;
	if (task)
		archive_task(&x->origin, a);
	if (task && !x->origin.anew)
		archive_exploration(x, &x->origin.extent, a);
	else
		archive_state(x, a);
	return store(a, task ? CHECKPOINT_TASK : CHECKPOINT_STATE, path, NULL, error);
}

bool checkpoint_store_base(struct exploration *x, const char *path, struct error *error)
{
	struct archive *a = archive_writer();
	/* distinguishes divisions, even of the same state */
	archive_number(a, (uint64_t)g_get_real_time() << 22 ^ (uint64_t)getpid());
	archive_state(x, a);
	g_free(x->origin.base);
	x->origin.base = g_path_get_basename(path);
	note_origin(x);
	return store(a, CHECKPOINT_BASE, path, x->origin.sum, error);
}
