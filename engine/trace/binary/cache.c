/*
 * cache.c - the index of a large binary trace, in a file of the user's cache folder: the parts
 * in INDEX_KEPT. Parts that a pass in the order of the events makes (lists by thread, partners,
 * writers) are computed nearly as fast as they are read, and have four bytes an event each.
 *
 * Its contents are trusted: values are not checked, and as the index was made after the trace
 * was checked, or by its recorder, a matching one also vouches for the trace's events
 * (binary.c). So it must be our own file in a folder that only the user can write, never one
 * that came with a trace. It must match the mapped trace in device, inode, length, mtime, ctime
 * (which cannot be set) and header checksum. Others are stale and rebuilt.
 */
#include "engine/base/file.h"
#include "engine/base/home.h"
#include "engine/trace/index_private.h"
#include "engine/trace/storage.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Increase with every change of an index's arrays or their meaning. */
#define INDEX_VERSION 5

enum {
	WORTHWHILE = 1 << 20, /* events: smaller traces are indexed quickly */
	ALIGNMENT = 64,
	CHECKED_SIZE = 256 << 20, /* bytes: checksums of larger files are not verified */
	MOST_ARRAYS = 24,
};

static const char magic[8] = { '\x89', 'H', 'D', 'L', 'I', '\r', '\n', '\n' };

struct identity { /* of the trace */
	uint64_t device, inode, length, modified, changed, sum;
};

struct array_place {
	uint64_t offset, count, sum;
};

struct header {
	char magic[8];
	uint32_t version, parts;
	struct identity trace;
	uint64_t length;     /* of this file */
	uint64_t operations; /* of the trace (trace.h) */
	struct array_place arrays[MOST_ARRAYS];
	char path[PATH_MAX]; /* absolute path of the trace: without it, this file is useless */
	uint64_t sum;        /* of all of the above */
};

/* The arrays of an index: part, member, element size, required count (or ANY: as in the
 * file). */
struct array {
	unsigned part;
	const void **data;
	uint64_t element, count;
};
#define ANY UINT64_MAX

static size_t list_arrays(const struct trace *t, struct trace_index *ix, struct array *arrays)
{
	size_t n = 0;
#define ARRAY(part, member, type, count) \
	arrays[n++] = (struct array){ part, (const void **)&ix->member, sizeof(type), count }
#define LISTS(part, member, lists) \
	ARRAY(part, member.start, uint64_t, (lists) + 1); \
	ARRAY(part, member.items, uint32_t, ANY)
	LISTS(INDEX_VARIABLES, variable_events, t->variables_count);
	LISTS(INDEX_OBJECTS, object_events, t->objects_count);
	ARRAY(INDEX_MUST, must, struct must_edge, ANY);
	ARRAY(INDEX_MUST, must_by_before, uint32_t, ANY);
#undef LISTS
#undef ARRAY
	BUG_ON(n > MOST_ARRAYS);
	return n;
}

/* -- identity and location of the index ---------------------------------------------------- */

static uint64_t nanoseconds(struct timespec t)
{
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

static struct identity identity_of(const struct stat *st, uint64_t sum)
{
	return (struct identity){ .device = st->st_dev,
		                  .inode = st->st_ino,
		                  .length = (uint64_t)st->st_size,
		                  .modified = nanoseconds(st->st_mtim),
		                  .changed = nanoseconds(st->st_ctim),
		                  .sum = sum };
}

/* The identity of the opened file, even if its name refers to another by now. */
static bool identify(const struct trace *t, struct identity *id)
{
	const struct trace_storage *s = t->storage;
	if (s->map == NULL || s->file.st_ino == 0 || (uint64_t)s->file.st_size != s->map_length)
		return false;
	*id = identity_of(&s->file, s->sum);
	return true;
}

static bool ours_alone(const struct stat *st)
{
	return st->st_uid == geteuid() && (st->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* The path of the index, distinct for equal names in different folders; NULL: none. */
static char *index_path(const struct trace *t)
{
	g_autofree char *folder = home_cache();
	if (folder == NULL)
		return NULL;
	g_autofree char *absolute = g_canonicalize_filename(t->path, NULL);
	g_autofree char *name =
	        g_strdup_printf("%.100s-%016" G_GINT64_MODIFIER "x.index", trace_name(t),
	                        sum_bytes(absolute, strlen(absolute)));
	return g_build_filename(folder, name, NULL);
}

/* -- reading ------------------------------------------------------------------------------- */

struct mapping {
	char *bytes;
	uint64_t length;
};

static bool fits(const struct header *h, const struct identity *id, uint64_t length)
{
	return memcmp(h->magic, magic, sizeof magic) == 0 && h->version == INDEX_VERSION &&
	       memcmp(&h->trace, id, sizeof *id) == 0 && h->length == length &&
	       h->sum == sum_bytes(h, offsetof(struct header, sum));
}

static bool map_index(const char *path, const struct identity *id, struct mapping *m)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return false;
	m->bytes = MAP_FAILED;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && ours_alone(&st) &&
	    (uint64_t)st.st_size >= sizeof(struct header)) {
		m->length = (uint64_t)st.st_size;
		m->bytes = mmap(NULL, m->length, PROT_READ, MAP_PRIVATE, fd, 0);
	}
	close(fd);
	if (m->bytes == MAP_FAILED)
		return false;
	if (fits((const struct header *)(void *)m->bytes, id, m->length))
		return true;
	munmap(m->bytes, m->length);
	return false;
}

static bool find_index(const struct trace *t, struct mapping *m)
{
	struct identity id;
	if (t->events_count < WORTHWHILE && t->storage->map_length < WORTHWHILE)
		return false;
	if (!identify(t, &id))
		return false;
	g_autofree char *path = index_path(t);
	return path && map_index(path, &id, m);
}

bool cache_vouches(const struct trace *t, uint64_t *operations)
{
	struct mapping m;
	if (!find_index(t, &m))
		return false;
	*operations = ((const struct header *)(void *)m.bytes)->operations;
	munmap(m.bytes, m.length);
	return true;
}

static bool place_array(const struct mapping *m, const struct array_place *p, struct array *a)
{
	if (p->offset % ALIGNMENT || p->offset > m->length ||
	    p->count > (m->length - p->offset) / a->element)
		return false;
	if (a->count != ANY && p->count != a->count)
		return false;
	if (m->length <= CHECKED_SIZE &&
	    p->sum != sum_bytes(m->bytes + p->offset, p->count * a->element))
		return false;
	*a->data = m->bytes + p->offset;
	a->count = p->count;
	return true;
}

/* The lists' last end must be the number of items. */
static bool lists_end(const struct array *arrays, size_t n)
{
	for (size_t i = 0; i + 1 < n; i++) {
		if (arrays[i].element != sizeof(uint64_t))
			continue;
		const uint64_t *start = *arrays[i].data;
		uint64_t count = arrays[i].count;
		if (count == 0 || start[0] != 0 || start[count - 1] != arrays[i + 1].count)
			return false;
		for (uint64_t k = 1; k < count; k++)
			if (start[k] < start[k - 1])
				return false;
	}
	return true;
}

static bool take_parts(const struct trace *t, struct trace_index *ix, const struct mapping *m)
{
	const struct header *h = (const struct header *)(void *)m->bytes;
	struct array all[MOST_ARRAYS], arrays[MOST_ARRAYS];
	size_t n = list_arrays(t, ix, all), taken = 0;
	for (size_t i = 0; i < n; i++) {
		if (!(all[i].part & h->parts))
			continue;
		if (!place_array(m, &h->arrays[i], &all[i]))
			return false;
		if (all[i].data == (const void **)&ix->must)
			ix->must_count = all[i].count;
		if (all[i].data == (const void **)&ix->must_by_before &&
		    ix->must_count != all[i].count)
			return false;
		arrays[taken++] = all[i];
	}
	return lists_end(arrays, taken);
}

void cache_load(struct trace *t, struct trace_index *ix)
{
	struct mapping m;
	struct trace_index loaded = { 0 };
	if (!find_index(t, &m))
		return;
	if (!take_parts(t, &loaded, &m)) {
		munmap(m.bytes, m.length);
		return;
	}
	loaded.parts = loaded.mapped =
	        ((const struct header *)(void *)m.bytes)->parts & INDEX_KEPT;
	loaded.map = m.bytes;
	loaded.map_length = m.length;
	*ix = loaded;
}

/* -- writing ------------------------------------------------------------------------------- */

static void pad(struct file_writer *file)
{
	static const char zeroes[ALIGNMENT];
	size_t over = file_writer_length(file) % ALIGNMENT;
	if (over)
		file_writer_put(file, zeroes, ALIGNMENT - over);
}

/* Number of elements of an array that the trace does not determine. */
static uint64_t elements(const struct trace *t, const struct trace_index *ix,
                         const struct array *arrays, size_t i)
{
	if (arrays[i].count != ANY)
		return arrays[i].count;
	if (arrays[i].part == INDEX_MUST)
		return ix->must_count;
	const uint64_t *start = *arrays[i - 1].data;
	return start[elements(t, ix, arrays, i - 1) - 1];
}

static bool write_index(const char *path, const struct trace *t, const struct trace_index *ix,
                        const struct identity *id)
{
	struct header h = { .version = INDEX_VERSION,
		            .parts = ix->parts & INDEX_KEPT,
		            .trace = *id,
		            .operations = t->operations };
	struct array arrays[MOST_ARRAYS];
	size_t n = list_arrays(t, (struct trace_index *)ix, arrays);
	struct file_writer *file = file_writer_open(path, NULL);
	if (file == NULL)
		return false;
	file_writer_hurry(file);
	g_autofree char *absolute = g_canonicalize_filename(t->path, NULL);
	g_strlcpy(h.path, absolute, sizeof h.path);
	memcpy(h.magic, magic, sizeof magic);
	file_writer_put(file, &h, sizeof h);
	for (size_t i = 0; i < n; i++) {
		if (!(arrays[i].part & h.parts))
			continue;
		struct array_place *p = &h.arrays[i];
		pad(file);
		p->offset = file_writer_length(file);
		p->count = elements(t, ix, arrays, i);
		p->sum = sum_bytes(*arrays[i].data, p->count * arrays[i].element);
		file_writer_put(file, *arrays[i].data, p->count * arrays[i].element);
	}
	h.length = file_writer_length(file);
	h.sum = sum_bytes(&h, offsetof(struct header, sum));
	file_writer_patch(file, 0, &h, sizeof h);
	return file_writer_commit(file, NULL);
}

/* Is the index's trace unchanged, so that the index is of use? */
static bool of_use(const char *path)
{
	struct header h;
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return true; /* not readable: keep it */
	bool good = read(fd, &h, sizeof h) == sizeof h && h.version == INDEX_VERSION;
	close(fd);
	if (!good)
		return false;
	h.path[sizeof h.path - 1] = '\0';
	if (stat(h.path, &st) != 0)
		return false;
	struct identity id = identity_of(&st, h.trace.sum);
	return memcmp(&id, &h.trace, sizeof id) == 0;
}

/* Remove indexes of traces that are gone or changed, since they are as large as the traces. */
static void clean_up(void)
{
	g_autofree char *folder = home_cache();
	g_autoptr(GDir) dir = folder ? g_dir_open(folder, 0, NULL) : NULL;
	const char *name;
	while (dir && (name = g_dir_read_name(dir))) {
		g_autofree char *path = g_build_filename(folder, name, NULL);
		if (g_str_has_suffix(name, ".index") && !of_use(path))
			unlink(path);
	}
}

/* Stores the index. Even a file without parts has a use: it says that the trace's events have
 * been checked. */
static void store(const struct trace *t, const struct trace_index *ix,
                  const struct identity *id)
{
	g_autofree char *path = index_path(t);
	clean_up();
	if (path)
		write_index(path, t, ix, id);
}

void cache_store(const struct trace *t, const struct trace_index *ix, unsigned had)
{
	struct identity id;
	if (had != 0 && (ix->parts & INDEX_KEPT) == (had & INDEX_KEPT))
		return;
	if (t->events_count >= WORTHWHILE && identify(t, &id))
		store(t, ix, &id);
}

void cache_store_written(const struct trace *t, const struct stat *file, uint64_t sum)
{
	const struct identity id = identity_of(file, sum);
	if (t->index != NULL && t->events_count >= WORTHWHILE && S_ISREG(file->st_mode))
		store(t, t->index, &id);
}
