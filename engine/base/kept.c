/* kept.c - see kept.h. */
#include "engine/base/kept.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/file.h"
#include "engine/base/home.h"
#include "engine/base/sum.h"

/* After the bytes. */
struct kept_end {
	uint64_t length;
	uint64_t sum;
};

/* Does the file belong to this user, and can no other user write it? */
static bool is_ours(int fd, mode_t kind, struct stat *st)
{
	return fd >= 0 && fstat(fd, st) == 0 && (st->st_mode & S_IFMT) == kind &&
	       st->st_uid == geteuid() && (st->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

static bool is_whole(const char *bytes, size_t size, size_t *length)
{
	struct kept_end end;
	*length = size - sizeof end;
	memcpy(&end, bytes + *length, sizeof end);
	return end.length == *length && end.sum == sum_bytes(bytes, *length);
}

void *kept_map(int fd, size_t size, void *base)
{
	const int access = PROT_READ | PROT_WRITE;
	void *bytes = MAP_FAILED;
	if (base)
		bytes = mmap(base, size, access, MAP_PRIVATE | MAP_FIXED_NOREPLACE, fd, 0);
	return bytes != MAP_FAILED ? bytes : mmap(NULL, size, access, MAP_PRIVATE, fd, 0);
}

void *kept_take_at(const struct kept_kind *kind, const char *key, void *base, size_t *length)
{
	g_autofree char *folder = home_cache();
	g_autofree char *name = g_strconcat(kind->prefix, key, kind->suffix, NULL);
	struct stat st;
	void *bytes = MAP_FAILED;
	int at = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
	int fd = is_ours(at, S_IFDIR, &st)
	                 ? openat(at, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
	                 : -1;
	if (is_ours(fd, S_IFREG, &st) && st.st_size >= (off_t)sizeof(struct kept_end))
		bytes = kept_map(fd, (size_t)st.st_size, base);
	if (bytes != MAP_FAILED && !is_whole(bytes, (size_t)st.st_size, length)) {
		munmap(bytes, (size_t)st.st_size);
		bytes = MAP_FAILED;
	}
	if (bytes != MAP_FAILED)
		futimens(fd, NULL); /* the oldest file is the least recently used */
	if (fd >= 0)
		close(fd);
	if (at >= 0)
		close(at);
	return bytes == MAP_FAILED ? NULL : bytes;
}

const void *kept_take(const struct kept_kind *kind, const char *key, size_t *length)
{
	return kept_take_at(kind, key, NULL, length);
}

void kept_release(const void *bytes, size_t length)
{
	if (bytes)
		munmap((void *)(uintptr_t)bytes, length + sizeof(struct kept_end));
}

/* A file of a kind. */
struct kept_file {
	char *path;
	struct timespec used;
	uint64_t bytes;
};

static void release_file(gpointer file)
{
	g_free(((struct kept_file *)file)->path);
}

static gint newest_first(gconstpointer a, gconstpointer b)
{
	const struct timespec *x = &((const struct kept_file *)a)->used,
	                      *y = &((const struct kept_file *)b)->used;
	if (x->tv_sec != y->tv_sec)
		return x->tv_sec < y->tv_sec ? 1 : -1;
	return (x->tv_nsec < y->tv_nsec) - (x->tv_nsec > y->tv_nsec);
}

static void remove_oldest(const struct kept_kind *kind, const char *folder)
{
	g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
	g_autoptr(GArray) files = g_array_new(FALSE, FALSE, sizeof(struct kept_file));
	uint64_t bytes = 0;
	g_array_set_clear_func(files, release_file);
	for (const char *name; dir && (name = g_dir_read_name(dir)) != NULL;) {
		struct stat st;
		g_autofree char *path = g_build_filename(folder, name, NULL);
		if (!g_str_has_prefix(name, kind->prefix) ||
		    !g_str_has_suffix(name, kind->suffix) || lstat(path, &st) != 0)
			continue;
		struct kept_file file = { g_steal_pointer(&path), st.st_mtim,
			                  (uint64_t)st.st_size };
		g_array_append_val(files, file);
	}
	g_array_sort(files, newest_first);
	for (guint i = 0; i < files->len; i++) {
		const struct kept_file *file = &g_array_index(files, struct kept_file, i);
		bytes += file->bytes;
		if (i >= kind->most || bytes > kind->most_bytes)
			unlink(file->path);
	}
}

void kept_keep(const struct kept_kind *kind, const char *key, const struct kept_part *parts,
               size_t count)
{
	g_autofree char *folder = home_cache();
	g_autofree char *name = g_strconcat(kind->prefix, key, kind->suffix, NULL);
	struct kept_end end = { .length = 0 };
	struct error unimportant;
	for (size_t i = 0; i < count; i++)
		end.length += parts[i].length;
	if (folder == NULL || end.length > kind->most_bytes)
		return;
	g_autofree char *path = g_build_filename(folder, name, NULL);
	struct file_writer *w = file_writer_open(path, &unimportant);
	if (w == NULL)
		return;
	file_writer_private(w);
	file_writer_hurry(w);
	g_autoptr(GByteArray) whole = g_byte_array_sized_new((guint)end.length);
	for (size_t i = 0; i < count; i++)
		g_byte_array_append(whole, parts[i].bytes, (guint)parts[i].length);
	end.sum = sum_bytes(whole->data, end.length);
	file_writer_put(w, whole->data, end.length);
	file_writer_put(w, &end, sizeof end);
	if (file_writer_commit(w, &unimportant))
		remove_oldest(kind, folder);
}

char *kept_identity(const struct stat *st)
{
	return g_strdup_printf("%" PRIu64 " %" PRIu64 " %" PRId64 " %" PRId64 ".%09ld %" PRId64
	                       ".%09ld",
	                       (uint64_t)st->st_dev, (uint64_t)st->st_ino, (int64_t)st->st_size,
	                       (int64_t)st->st_mtim.tv_sec, st->st_mtim.tv_nsec,
	                       (int64_t)st->st_ctim.tv_sec, st->st_ctim.tv_nsec);
}
