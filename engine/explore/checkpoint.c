/*
 * checkpoint.c - see checkpoint.h.
 *
 * Runs whose planning was not finished are kept as
 * their schedules: they are executed once more, not counted again, and planned from the
 * beginning; the schedules that they have given are known by their keys.
 */
#include "engine/explore/checkpoint.h"

#include "engine/base/archive.h"
#include "engine/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

static const char magic[] = "heddle exploration\n";
enum { VERSION = 5, SUM = 32, PACKED_MOST = 5000 /* times its size, unpacked */ };
static const uint32_t byte_order = 0x01020304;

/* -- identity ------------------------------------------------------------------------------ */

static bool append_digest(GString *to, const char *what, const char *path, struct error *error)
{
	char *sum = file_digest(path);
	if (sum == NULL)
		return error_set(error, path,
		                 "give a program and specifications that can be read",
		                 "cannot be read to compare it: %s", g_strerror(errno));
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
	g_string_append_printf(text, "preemptions %" G_GINT64_FORMAT "\n",
	                       o->bounded ? (gint64)o->preemptions : -1);
	const char *check = o->finals ? finals_check(o->finals) : NULL;
	g_string_append_printf(text, "check %s\nfinal", check ? check : "");
	const GPtrArray *names = o->finals ? finals_names(o->finals) : NULL;
	for (guint i = 0; names && i < names->len; i++)
		g_string_append_printf(text, " %s", (char *)names->pdata[i]);
	g_string_append_c(text, '\n');
	return g_string_free(text, !good);
}

bool checkpoint_differ(const char *stored, const char *own, char **was, char **is)
{
	char **a = g_strsplit(stored, "\n", -1), **b = g_strsplit(own, "\n", -1);
	guint i = 0;
	while (a[i] && b[i] && strcmp(a[i], b[i]) == 0)
		i++;
	bool differ = a[i] || b[i];
	*was = g_strdup(a[i] ? a[i] : "nothing");
	*is = g_strdup(b[i] ? b[i] : "nothing");
	g_strfreev(a);
	g_strfreev(b);
	return differ;
}

/* -- the report ---------------------------------------------------------------------------- */

static void archive_run(struct explore_run *r, uint32_t number, struct archive *a)
{
	r->parent = archive_index(a, r->parent, number);
	char **const texts[] = { &r->flip,  &r->thread, &r->place,  &r->variable,
		                 &r->story, &r->trace,  &r->printed };
	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
		archive_text(a, texts[i]);
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
}

static void archive_error(struct explore_error *e, uint32_t runs, struct archive *a)
{
	e->end = (enum explore_end)archive_below(a, e->end, EXPLORE_END_COUNT);
	ARCHIVE(a, e->status);
	archive_text(a, &e->story);
	archive_text(a, &e->key);
	archive_texts(a, &e->places);
	e->run = (uint32_t)archive_below(a, e->run, runs);
	e->shortest = (uint32_t)archive_below(a, e->shortest, runs);
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

/* The elements of a GArray, zeros before they are read. */
#define ARCHIVE_EACH(a, array, type, element, visit) \
	do { \
		size_t count_ = archive_count((a), (array)->len, 1); \
		for (size_t at_ = 0; at_ < count_; at_++) { \
			if (archive_reads(a)) { \
				type none_ = { 0 }; \
				g_array_append_val((array), none_); \
			} \
			type *element = &g_array_index((array), type, at_); \
			visit; \
		} \
	} while (0)

static void archive_report(struct explore_report *r, struct archive *a)
{
	ARCHIVE_EACH(a, r->runs, struct explore_run, run, archive_run(run, (uint32_t)at_, a));
	ARCHIVE_EACH(a, r->errors, struct explore_error, e, archive_error(e, r->runs->len, a));
	ARCHIVE_EACH(a, r->races, struct explore_race, race,
	             archive_race(race, r->runs->len, a));
	for (guint i = 0; i < r->runs->len; i++) {
		uint32_t error = g_array_index(r->runs, struct explore_run, i).error;
		if (error != NONE && error >= r->errors->len)
			archive_fail(a);
	}
	ARCHIVE(a, r->pruned);
	ARCHIVE(a, r->classes);
	ARCHIVE(a, r->abandoned);
	GPtrArray *lists[] = { r->notes, r->threads };
	for (size_t i = 0; i < G_N_ELEMENTS(lists); i++) {
		GPtrArray *list = lists[i];
		archive_texts(a, &list);
		if (archive_reads(a) && list != NULL)
			g_ptr_array_extend_and_steal(lists[i], list);
	}
}

/* -- the exploration ----------------------------------------------------------------------- */

static void archive_gaps(struct exploration *x, struct archive *a)
{
	GPtrArray *gaps = x->report->gaps;
	archive_texts(a, &gaps);
	if (!archive_reads(a) || gaps == NULL)
		return;
	for (guint i = 0; i < gaps->len; i++)
		explore_gap(x, gaps->pdata[i]);
	g_ptr_array_unref(gaps);
}

static void archive_origin(struct task_origin *o, struct archive *a)
{
	archive_text(a, &o->round);
	if (o->round == NULL)
		return;
	ARCHIVE(a, o->count);
	o->index = (uint32_t)archive_below(a, o->index, o->count);
	ARCHIVE(a, o->runs);
	ARCHIVE(a, o->races);
	ARCHIVE(a, o->first);
	uint64_t *const counts[] = { &o->pruned, &o->classes,      &o->abandoned, &o->chances,
		                     &o->taken,  &o->run_of_taken, &o->plain,     &o->ordered };
	for (size_t i = 0; i < G_N_ELEMENTS(counts); i++)
		*counts[i] = archive_number(a, *counts[i]);
	archive_array(a, o->errors, sizeof(uint64_t));
}

/* Runs to execute again: those that are kept, and those of an earlier checkpoint. */
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

static void archive_exploration(struct exploration *x, struct archive *a)
{
	archive_origin(&x->origin, a);
	archive_report(x->report, a);
	histories_archive(x->histories, a);
	awaits_archive(x->awaits, a);
	struct pending_limits limits = { x->report->runs->len, histories_count(x->histories) };
	worklist_archive(x->worklist, &limits, a);
	archive_again(x, &limits, a);
	x->first = (uint32_t)archive_below(a, x->first, limits.runs + 1ull);
	ARCHIVE(a, x->chances);
	ARCHIVE(a, x->taken);
	ARCHIVE(a, x->run_of_taken);
	ARCHIVE(a, x->races_left);
	ARCHIVE(a, x->beyond);
	ARCHIVE(a, x->again);
	archive_set(a, x->errors);
	archive_set(a, x->races);
	archive_set(a, x->plain);
	archive_set(a, x->ordered);
	archive_set(a, x->finals_seen);
	archive_gaps(x, a);
	if (x->origin.runs > limits.runs || x->origin.races > x->report->races->len ||
	    x->origin.errors->len > x->report->errors->len)
		archive_fail(a);
}

/* -- files --------------------------------------------------------------------------------- */

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

/* The archive's bytes; owned by the caller, NULL and `error` when it is no whole checkpoint. */
static uint8_t *unpack(const char *path, const char *bytes, size_t length, size_t *unpacked,
                       struct error *error)
{
	struct checkpoint_header h;
	uint8_t sum[SUM];
	if (length < sizeof h || memcmp(bytes, magic, sizeof h.magic) != 0)
		return foreign(path, error, "is no state of an exploration"), NULL;
	memcpy(&h, bytes, sizeof h);
	if (h.version != VERSION || h.byte_order != byte_order)
		return foreign(path, error,
		               "is of another version of heddle, or another machine"),
		       NULL;
	const char *frame = bytes + sizeof h;
	sum_of(frame, length - sizeof h, sum);
	unsigned long long size = ZSTD_getFrameContentSize(frame, length - sizeof h);
	if (h.length != length - sizeof h || memcmp(sum, h.sum, SUM) != 0 ||
	    size / PACKED_MOST > h.length)
		return foreign(path, error, "is damaged or cut off"), NULL;
	uint8_t *data = g_malloc(size + 1);
	if (ZSTD_decompress(data, size, frame, h.length) != size) {
		g_free(data);
		return foreign(path, error, "is damaged"), NULL;
	}
	*unpacked = size;
	return data;
}

static void archive_state(struct exploration *x, struct archive *a)
{
	archive_text(a, &x->identity);
	archive_texts(a, &x->environment);
	archive_text(a, &x->program);
	archive_text(a, &x->told);
	archive_exploration(x, a);
}

static bool read_archive(struct exploration *x, const char *path, struct archive *a,
                         struct error *error)
{
	char *identity = g_steal_pointer(&x->identity), *stored = NULL, *was, *is;
	archive_text(a, &stored);
	bool other = identity != NULL &&
	             checkpoint_differ(stored ? stored : "", identity, &was, &is);
	g_free(identity);
	x->identity = stored ? stored : g_strdup("");
	if (other) {
		error_set(error, path,
		          "give --resume another file, or the same program and options",
		          "is of another exploration: there %s, here %s", was, is);
		g_free(was);
		g_free(is);
		return false;
	}
	g_clear_pointer(&x->program, g_free);
	g_clear_pointer(&x->told, g_free);
	g_clear_pointer(&x->environment, g_ptr_array_unref);
	archive_texts(a, &x->environment);
	archive_text(a, &x->program);
	archive_text(a, &x->told);
	archive_exploration(x, a);
	return archive_ended(a) || foreign(path, error, "is damaged");
}

static bool load(struct exploration *x, const char *path, const char *bytes, size_t length,
                 struct error *error)
{
	size_t size = 0;
	uint8_t *data = unpack(path, bytes, length, &size, error);
	if (data == NULL)
		return false;
	struct archive *a = archive_reader(data, size);
	bool good = read_archive(x, path, a, error);
	archive_free(a);
	g_free(data);
	return good;
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

static bool is_variable(const char *text)
{
	const char *equals = strchr(text, '=');
	return equals != NULL && equals != text;
}

/* An environment can make the program load anything: that of a file which others could have
 * written is not taken. */
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

bool checkpoint_inherit(const char *path, struct error *error)
{
	char *bytes = NULL, *identity = NULL;
	gsize length;
	size_t size;
	GPtrArray *variables = NULL;
	if (!is_own(path, error))
		return false;
	if (!g_file_get_contents(path, &bytes, &length, NULL))
		return true; /* checkpoint_read tells */
	uint8_t *data = unpack(path, bytes, length, &size, error);
	g_free(bytes);
	if (data == NULL)
		return false;
	struct archive *a = archive_reader(data, size);
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
	g_free(data);
	return true;
}

bool checkpoint_load(struct exploration *x, const char *path, struct error *error)
{
	char *bytes = NULL;
	gsize length;
	GError *why = NULL;
	if (!g_file_get_contents(path, &bytes, &length, &why)) {
		error_set(error, path, "name states that can be read", "cannot be read: %s",
		          why->message);
		g_error_free(why);
		return false;
	}
	bool good = load(x, path, bytes, length, error);
	g_free(bytes);
	return good;
}

bool checkpoint_read(struct exploration *x, bool *found, struct error *error)
{
	const char *path = x->options->resume;
	char *bytes = NULL;
	gsize length;
	GError *why = NULL;
	*found = false;
	if (!g_file_get_contents(path, &bytes, &length, &why)) {
		bool absent = g_error_matches(why, G_FILE_ERROR, G_FILE_ERROR_NOENT);
		if (!absent)
			error_set(error, path,
			          "give --resume a file that can be read and written",
			          "cannot be read: %s", why->message);
		g_error_free(why);
		return absent;
	}
	*found = load(x, path, bytes, length, error);
	g_free(bytes);
	return *found;
}

bool checkpoint_store(struct exploration *x, const char *path, struct error *error)
{
	enum { LEVEL = 3 };
	struct archive *a = archive_writer();
	archive_state(x, a);
	const GByteArray *plain = archive_bytes(a);
	size_t room = ZSTD_compressBound(plain->len);
	uint8_t *frame = g_malloc(room);
	struct checkpoint_header h = { .version = VERSION, .byte_order = byte_order };
	memcpy(h.magic, magic, sizeof h.magic);
	h.length = ZSTD_compress(frame, room, plain->data, plain->len, LEVEL);
	BUG_ON(ZSTD_isError(h.length));
	sum_of(frame, h.length, h.sum);
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
