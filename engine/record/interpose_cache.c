/* interpose_cache.c - see interpose_cache.h. */
#include "engine/record/interpose_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/file.h"
#include "engine/base/home.h"

#define PREFIX "bind-"
#define SUFFIX ".library"
enum {
	MOST_KEPT = 64,
	MOST_BYTES = 16 << 20, /* of a library */
	SUM = 64,              /* hexadecimal digits of SHA-256, after the library */
};

char *interpose_cache_key(const char *source, char *const *compiler)
{
	g_autofree char *path = g_find_program_in_path(compiler[0]);
	struct stat st;

	if (path == NULL || stat(path, &st) != 0)
		return NULL;
	g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
	g_autofree char *which = g_strdup_printf(
	        "%s %" PRIu64 " %" PRIu64 " %" PRId64 " %" PRId64 ".%09ld", path,
	        (uint64_t)st.st_dev, (uint64_t)st.st_ino, (int64_t)st.st_size,
	        (int64_t)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
	/* each with its end, so that no two lists read the same */
	g_checksum_update(sum, (const guchar *)which, (gssize)strlen(which) + 1);
	for (char *const *word = compiler; *word; word++)
		g_checksum_update(sum, (const guchar *)*word, (gssize)strlen(*word) + 1);
	g_checksum_update(sum, (const guchar *)"", 1);
	g_checksum_update(sum, (const guchar *)source, -1);
	return g_strdup(g_checksum_get_string(sum));
}

/* Belongs to this user, and nobody else can write it. */
static bool is_ours(int fd, mode_t kind)
{
	struct stat st;

	return fstat(fd, &st) == 0 && (st.st_mode & S_IFMT) == kind && st.st_uid == geteuid() &&
	       (st.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* All of an open file, checked; NULL when it is not whole. */
static char *library_in(int fd, size_t *length)
{
	struct stat st;
	char *bytes = NULL;

	if (fstat(fd, &st) != 0 || st.st_size <= SUM || st.st_size > MOST_BYTES)
		return NULL;
	bytes = g_malloc((gsize)st.st_size);
	for (off_t at = 0; at < st.st_size;) {
		ssize_t n = read(fd, bytes + at, (size_t)(st.st_size - at));
		if (n == 0 || (n < 0 && errno != EINTR)) {
			g_free(bytes);
			return NULL;
		}
		at += n > 0 ? n : 0;
	}
	*length = (size_t)st.st_size - SUM;
	g_autofree char *sum =
	        g_compute_checksum_for_data(G_CHECKSUM_SHA256, (const guchar *)bytes, *length);
	if (memcmp(sum, bytes + *length, SUM) != 0)
		g_clear_pointer(&bytes, g_free);
	return bytes;
}

bool interpose_cache_take(const char *key, const char *path)
{
	g_autofree char *folder = home_cache(), *name = g_strconcat(PREFIX, key, SUFFIX, NULL);
	g_autofree char *bytes = NULL;
	size_t length = 0;
	bool taken = false;
	int at = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
	int fd = at >= 0 && is_ours(at, S_IFDIR)
	                 ? openat(at, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
	                 : -1;

	if (fd >= 0 && is_ours(fd, S_IFREG))
		bytes = library_in(fd, &length);
	if (bytes) {
		int to = open(path, O_WRONLY | O_TRUNC | O_NOFOLLOW | O_CLOEXEC);
		taken = to >= 0 && file_write_all(to, bytes, length, -1);
		if (to >= 0)
			close(to);
		futimens(fd, NULL); /* the oldest is the one that was not used for longest */
	}
	if (fd >= 0)
		close(fd);
	if (at >= 0)
		close(at);
	return taken;
}

static void remove_oldest(const char *folder)
{
	g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
	g_autofree char *oldest = NULL;
	struct timespec least = { 0 };
	unsigned count = 0;

	for (const char *name; dir && (name = g_dir_read_name(dir)) != NULL;) {
		struct stat st;
		g_autofree char *path = g_build_filename(folder, name, NULL);
		if (!g_str_has_prefix(name, PREFIX) || !g_str_has_suffix(name, SUFFIX) ||
		    lstat(path, &st) != 0)
			continue;
		if (count++ == 0 || st.st_mtim.tv_sec < least.tv_sec ||
		    (st.st_mtim.tv_sec == least.tv_sec && st.st_mtim.tv_nsec < least.tv_nsec)) {
			least = st.st_mtim;
			g_free(oldest);
			oldest = g_steal_pointer(&path);
		}
	}
	if (count > MOST_KEPT)
		unlink(oldest);
}

void interpose_cache_keep(const char *key, const char *path)
{
	g_autofree char *folder = home_cache(), *bytes = NULL;
	g_autofree char *name = g_strconcat(PREFIX, key, SUFFIX, NULL);
	gsize length = 0;
	struct error unimportant;

	if (folder == NULL || !g_file_get_contents(path, &bytes, &length, NULL))
		return;
	g_autofree char *sum =
	        g_compute_checksum_for_data(G_CHECKSUM_SHA256, (const guchar *)bytes, length);
	g_autofree char *kept = g_build_filename(folder, name, NULL);
	struct file_writer *w = file_writer_open(kept, &unimportant);
	if (w == NULL)
		return;
	file_writer_private(w);
	file_writer_hurry(w);
	file_writer_put(w, bytes, length);
	file_writer_put(w, sum, SUM);
	if (file_writer_commit(w, &unimportant))
		remove_oldest(folder);
}
