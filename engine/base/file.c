/*
 * file.c - see file.h.
 */
#include "engine/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER = 1 << 20 };

struct file_writer {
	char *path, *temporary; /* temporary: NULL while nameless or in place */
	char *buffer;
	size_t filled;
	uint64_t length;
	int fd;
	bool hurry, nameless; /* nameless: the temporary file is in no folder yet */
	bool in_place;        /* the target is not an ordinary file */
	mode_t mode;          /* unless private */
	int failure;          /* first errno, 0: none */
	void (*put)(const char *bytes, size_t length); /* takes the bytes, or NULL: fd does */
};

bool file_write_all(int fd, const void *bytes, size_t length, int64_t offset)
{
	const char *from = bytes;
	while (length) {
		ssize_t n = offset < 0 ? write(fd, from, length)
		                       : pwrite(fd, from, length, (off_t)offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			if (n == 0)
				errno = ENOSPC;
			return false;
		}
		from += n;
		length -= (size_t)n;
		if (offset >= 0)
			offset += n;
	}
	return true;
}

static bool file_error(const char *path, int why, struct error *error)
{
	return error_set(error, place_line(path, 0).text,
	                 "make room or choose another place; no part of this file is left",
	                 "cannot write the file: %s", g_strerror(why));
}

/* The target of a symbolic link, not the link, is replaced, or made where it does not exist. */
static char *target_of(const char *path)
{
	enum { MOST_LINKS = 40 };
	char *target = g_strdup(path);
	for (int i = 0; i < MOST_LINKS; i++) {
		char *resolved = realpath(target, NULL);
		g_autofree char *next =
		        resolved ? g_strdup(resolved) : g_file_read_link(target, NULL);
		g_autofree char *folder = g_path_get_dirname(target);
		bool ends = resolved != NULL || next == NULL;
		free(resolved);
		if (next != NULL) {
			g_free(target);
			target = g_path_is_absolute(next)
			                 ? g_strdup(next)
			                 : g_build_filename(folder, next, NULL);
		}
		if (ends)
			return target;
	}
	return target;
}

/* The temporary file is nameless until complete, so that nothing is left behind when the
 * process is killed; where the file system has no O_TMPFILE, it is a file beside the path. */
static int open_temporary(struct file_writer *w)
{
	g_autofree char *folder = g_path_get_dirname(w->path);
	bool nameable = access("/proc/self/fd", X_OK) == 0; /* needed by give_name */
	int fd = nameable ? open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666) : -1;
	w->nameless = fd >= 0;
	if (w->nameless)
		return fd;
	w->temporary = g_build_filename(folder, ".heddle-XXXXXX", NULL);
	return g_mkstemp_full(w->temporary, O_RDWR | O_CLOEXEC, 0666);
}

/* Link the file under an unused name. */
static bool give_name(struct file_writer *w)
{
	enum { TRIES = 100 };
	g_autofree char *self = g_strdup_printf("/proc/self/fd/%d", w->fd);
	g_autofree char *folder = g_path_get_dirname(w->path);
	for (int i = 0; i < TRIES && w->nameless; i++) {
		g_free(w->temporary);
		/* short, as the target's name may have the maximal length */
		w->temporary = g_strdup_printf("%s/.heddle-%08x", folder, g_random_int());
		w->nameless =
		        linkat(AT_FDCWD, self, AT_FDCWD, w->temporary, AT_SYMLINK_FOLLOW) != 0;
		if (w->nameless && errno != EEXIST)
			break;
	}
	return !w->nameless;
}

/* -- files that are overwritten ------------------------------------------------------------ */

enum { MOST_BEGINNINGS = 3 };
/* How files of the kinds begin; ? is any byte. */
static const struct {
	const char *name, *beginnings[MOST_BEGINNINGS];
} kinds[FILE_KINDS] = {
	[FILE_TRACE] = { "trace", { "\x89HDLT\r\n", "#! heddle 1" } },
	[FILE_WITNESS] = { "witness", { "#! heddle-witness" } },
	[FILE_REPORT] = { "report of heddle", { "{\"heddle\"", "{\n \"heddle\"" } },
	[FILE_STATE] = { "state of an exploration", { "heddle exploration\n" } },
	[FILE_GRAPH] = { "graph", { "digraph ", "<svg ", "<?xml " } },
	[FILE_TABLE] = { "table of a trace", { "event,thread,op," } },
	[FILE_PERFETTO] = { "Perfetto trace", { "\n?P\1", "\n??P\1" } },
};

static bool begins(const char *bytes, size_t length, const char *beginning)
{
	size_t i = 0;
	while (beginning[i] && i < length && (beginning[i] == '?' || beginning[i] == bytes[i]))
		i++;
	return beginning[i] == '\0';
}

/* A line of STD: THREAD|OPERATION(OPERAND)|LOCATION. */
static bool is_std(const char *bytes, size_t length)
{
	const char *end = memchr(bytes, '\n', length), *open, *close;
	size_t line = end ? (size_t)(end - bytes) : length;
	const char *bar = memchr(bytes, '|', line);
	open = bar ? memchr(bar, '(', line - (size_t)(bar - bytes)) : NULL;
	close = open ? memchr(open, ')', line - (size_t)(open - bytes)) : NULL;
	return close && close + 1 < bytes + line && close[1] == '|';
}

bool file_may_become(const char *path, enum file_kind kind, struct error *error)
{
	char bytes[256];
	struct stat info;
	if (stat(path, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size == 0)
		return true;
	int file = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = file < 0 ? -1 : read(file, bytes, sizeof bytes);
	int why = errno;
	if (file >= 0)
		close(file);
	if (got < 0)
		return error_set(
		        error, path, "name another file, or delete this one",
		        "would be overwritten, and whether it is a %s is not known: %s",
		        kinds[kind].name, g_strerror(why));
	size_t length = (size_t)got;
	bool same = kind == FILE_TRACE && is_std(bytes, length);
	for (size_t i = 0; i < MOST_BEGINNINGS && kinds[kind].beginnings[i]; i++)
		same |= begins(bytes, length, kinds[kind].beginnings[i]);
	return same || error_set(error, path, "name another file, or delete this one",
	                         "is no %s, and would be overwritten", kinds[kind].name);
}

/* -- writing ------------------------------------------------------------------------------- */

struct file_writer *file_writer_open(const char *path, struct error *error)
{
	struct file_writer *w = g_new0(struct file_writer, 1);
	struct stat st;
	w->path = target_of(path);
	bool exists = stat(w->path, &st) == 0;
	if (exists && !S_ISREG(st.st_mode)) {
		/* O_NONBLOCK: a pipe without a reader is an error, not a wait. */
		w->in_place = true;
		w->fd = open(w->path, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
		if (w->fd >= 0)
			fcntl(w->fd, F_SETFL, 0);
	} else {
		w->fd = open_temporary(w);
		if (w->fd >= 0 && exists)
			(void)!fchmod(w->fd, st.st_mode & 07777);
		if (w->fd >= 0 && fstat(w->fd, &st) == 0)
			w->mode = st.st_mode & 07777;
	}
	if (w->fd < 0) {
		file_error(path, errno, error);
		g_free(w->temporary);
		g_free(w->path);
		g_free(w);
		return NULL;
	}
	w->buffer = g_malloc(BUFFER);
	return w;
}

struct file_writer *file_writer_to(void (*put)(const char *bytes, size_t length))
{
	struct file_writer *w = g_new0(struct file_writer, 1);
	*w = (struct file_writer){ .fd = -1, .in_place = true, .put = put };
	w->buffer = g_malloc(BUFFER);
	return w;
}

static void write_out(struct file_writer *w, const void *bytes, size_t length)
{
	if (w->put != NULL)
		w->put(bytes, length);
	else if (w->failure == 0 && !file_write_all(w->fd, bytes, length, -1))
		w->failure = errno;
}

static void writer_flush(struct file_writer *w)
{
	write_out(w, w->buffer, w->filled);
	w->filled = 0;
}

void file_writer_put(struct file_writer *w, const void *bytes, size_t length)
{
	w->length += length;
	if (length >= BUFFER) {
		writer_flush(w);
		write_out(w, bytes, length);
		return;
	}
	if (w->filled + length > BUFFER)
		writer_flush(w);
	if (length)
		memcpy(w->buffer + w->filled, bytes, length);
	w->filled += length;
}

uint64_t file_writer_length(const struct file_writer *w)
{
	return w->length;
}

void file_writer_patch(struct file_writer *w, uint64_t offset, const void *bytes, size_t length)
{
	writer_flush(w);
	if (w->failure == 0 && pwrite(w->fd, bytes, length, (off_t)offset) != (ssize_t)length)
		w->failure = errno ? errno : EIO;
}

void file_writer_private(struct file_writer *w)
{
	if (!w->in_place && fchmod(w->fd, 0600) != 0 && w->failure == 0)
		w->failure = errno;
}

void file_writer_public(struct file_writer *w)
{
	if (!w->in_place && fchmod(w->fd, w->mode) != 0 && w->failure == 0)
		w->failure = errno;
}

void file_writer_hurry(struct file_writer *w)
{
	w->hurry = true;
}

static void writer_free(struct file_writer *w)
{
	if (w->fd >= 0)
		close(w->fd);
	g_free(w->buffer);
	g_free(w->temporary);
	g_free(w->path);
	g_free(w);
}

bool file_writer_commit_as(struct file_writer *w, struct stat *as, struct error *error)
{
	writer_flush(w);
	int same = w->failure == 0 ? fcntl(w->fd, F_DUPFD_CLOEXEC, 0) : -1;
	if (w->failure == 0 && !w->in_place && !w->hurry && fsync(w->fd) != 0)
		w->failure = errno;
	if (w->failure == 0 && w->nameless && !give_name(w))
		w->failure = errno;
	if (w->fd >= 0 && close(w->fd) != 0 && w->failure == 0)
		w->failure = errno;
	w->fd = -1;
	if (w->failure == 0 && !w->in_place && rename(w->temporary, w->path) != 0)
		w->failure = errno;
	int failure = w->failure;
	if (failure) {
		if (w->temporary && !w->nameless)
			unlink(w->temporary);
		file_error(w->path, failure, error);
	}
	*as = (struct stat){ 0 };
	if (same >= 0) {
		if (fstat(same, as) != 0)
			*as = (struct stat){ 0 };
		close(same);
	}
	writer_free(w);
	return failure == 0;
}

bool file_writer_commit(struct file_writer *w, struct error *error)
{
	struct stat as;
	return file_writer_commit_as(w, &as, error);
}

void file_writer_abandon(struct file_writer *w)
{
	if (w && w->temporary && !w->nameless)
		unlink(w->temporary);
	if (w)
		writer_free(w);
}

int file_open_nameless(const char *folder)
{
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0)
		return fd;
	g_autofree char *name = g_build_filename(folder, ".heddle-XXXXXX", NULL);
	fd = g_mkstemp_full(name, O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0)
		unlink(name);
	return fd;
}

char *file_descriptor_path(int fd)
{
	return g_strdup_printf("/proc/%d/fd/%d", (int)getpid(), fd);
}

char *file_folder(const char *path)
{
	return g_str_has_prefix(path, "/proc/") ? g_strdup(g_get_tmp_dir())
	                                        : g_path_get_dirname(path);
}

char *file_digest(const char *path)
{
	/* O_NONBLOCK: opening a pipe must not wait for a writer. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	size_t got;

	if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		int why = fd < 0 ? errno : S_ISDIR(st.st_mode) ? EISDIR : ESPIPE;
		if (fd >= 0)
			close(fd);
		errno = why;
		return NULL;
	}
	FILE *file = fdopen(fd, "rb");
	g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
	g_autofree unsigned char *buffer = g_malloc(1 << 16);
	while ((got = fread(buffer, 1, 1 << 16, file)) > 0)
		g_checksum_update(sum, buffer, (gssize)got);
	char *digest = ferror(file) ? NULL : g_strdup(g_checksum_get_string(sum));
	fclose(file);
	return digest;
}

bool file_write_whole(const char *path, const void *bytes, size_t length, struct error *error)
{
	struct file_writer *w = file_writer_open(path, error);
	if (w == NULL)
		return false;
	file_writer_put(w, bytes, length);
	return file_writer_commit(w, error);
}

void file_remove_tree(const char *path)
{
	g_autoptr(GDir) dir =
	        g_file_test(path, G_FILE_TEST_IS_SYMLINK) ? NULL : g_dir_open(path, 0, NULL);
	const char *name;
	while (dir && (name = g_dir_read_name(dir))) {
		g_autofree char *child = g_build_filename(path, name, NULL);
		file_remove_tree(child);
	}
	remove(path);
}
