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
#include <string.h>
#include <zstd.h>

static const char magic[] = "heddle exploration\n";
enum { VERSION = 4, SUM = 32, PACKED_MOST = 5000 /* times its size, unpacked */ };
static const uint32_t byte_order = 0x01020304;

/* -- identity ------------------------------------------------------------------------------ */

static bool append_digest(GString *to, const char *what, const char *path, struct error *error)
{
	char *bytes = NULL;
	gsize length = 0;
	if (!g_file_get_contents(path, &bytes, &length, NULL))
		return error_set(error, path,
		                 "give a program and specifications that can be read",
		                 "cannot be read to compare it: %s", g_strerror(errno));
	char *sum =
	        g_compute_checksum_for_data(G_CHECKSUM_SHA256, (const guchar *)bytes, length);
	g_string_append_printf(to, "%s %s\n", what, sum);
	g_free(sum);
	g_free(bytes);
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

/* The first line that differs; NULL: none. The words of both are owned by the caller. */
static bool differs(const char *stored, const char *own, char **was, char **is)
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

/* Names that are among those of the options: the set borrows them. */
static void archive_finals(struct exploration *x, struct archive *a)
{
	const GPtrArray *names = x->options->finals ? finals_names(x->options->finals) : NULL;
	for (guint i = 0; names && i < names->len; i++) {
		bool seen = g_hash_table_contains(x->finals_seen, names->pdata[i]);
		ARCHIVE(a, seen);
		if (seen)
			g_hash_table_add(x->finals_seen, names->pdata[i]);
	}
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
	archive_set(a, x->errors);
	archive_set(a, x->races);
	archive_set(a, x->plain);
	archive_set(a, x->ordered);
	archive_finals(x, a);
	archive_gaps(x, a);
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

static bool read_archive(struct exploration *x, const char *identity, struct archive *a,
                         struct error *error)
{
	const char *path = x->options->resume;
	char *stored = NULL, *was, *is;
	archive_text(a, &stored);
	if (differs(stored ? stored : "", identity, &was, &is)) {
		error_set(error, path,
		          "give --resume another file, or the same program and options",
		          "is of another exploration: there %s, here %s", was, is);
		g_free(stored);
		g_free(was);
		g_free(is);
		return false;
	}
	g_free(stored);
	g_free(was);
	g_free(is);
	archive_exploration(x, a);
	return archive_ended(a) || foreign(path, error, "is damaged");
}

bool checkpoint_read(struct exploration *x, const char *identity, bool *found,
                     struct error *error)
{
	const char *path = x->options->resume;
	char *bytes = NULL;
	gsize length;
	size_t size = 0;
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
	uint8_t *data = unpack(path, bytes, length, &size, error);
	g_free(bytes);
	if (data == NULL)
		return false;
	struct archive *a = archive_reader(data, size);
	*found = read_archive(x, identity, a, error);
	archive_free(a);
	g_free(data);
	return *found;
}

bool checkpoint_write(struct exploration *x, const char *identity, struct error *error)
{
	enum { LEVEL = 3 };
	struct archive *a = archive_writer();
	char *text = (char *)identity;
	archive_text(a, &text);
	archive_exploration(x, a);
	const GByteArray *plain = archive_bytes(a);
	size_t room = ZSTD_compressBound(plain->len);
	uint8_t *frame = g_malloc(room);
	struct checkpoint_header h = { .version = VERSION, .byte_order = byte_order };
	memcpy(h.magic, magic, sizeof h.magic);
	h.length = ZSTD_compress(frame, room, plain->data, plain->len, LEVEL);
	BUG_ON(ZSTD_isError(h.length));
	sum_of(frame, h.length, h.sum);
	struct file_writer *w = file_writer_open(x->options->resume, error);
	if (w) {
		file_writer_private(w);
		file_writer_put(w, &h, sizeof h);
		file_writer_put(w, frame, h.length);
	}
	archive_free(a);
	g_free(frame);
	return w && file_writer_commit(w, error);
}
