/*
 * log_file.c - the recording log as a file: created before the program starts, opened without
 * following links, and completed with the chunks that lie in shared memory at the program's
 * end.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/file.h"
#include "engine/record/run_private.h"

bool record_is_log(const char *path)
{
	char magic[8] = "";
	struct stat status;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return false;
	/* Do not read from a pipe: its data would be lost. */
	bool is = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
	          read(fd, magic, 8) == 8 && memcmp(magic, LOG_MAGIC, 8) == 0;
	close(fd);
	return is;
}

/* Creates a new file: follows no link and keeps an existing file; then the name is PATH.1,
 * PATH.2, ... A descriptor's name is opened as it is. */
static int create_log(char *path, size_t room)
{
	enum { TRIES = 100 };
	if (g_str_has_prefix(path, "/proc/"))
		return open(path, O_RDWR | O_TRUNC | O_CLOEXEC);
	char *wanted = g_strdup(path);
	int fd = -1;
	for (int i = 0; i < TRIES && fd < 0; i++) {
		if (i > 0 && (size_t)g_snprintf(path, room, "%s.%d", wanted, i) >= room) {
			errno = ENAMETOOLONG;
			break;
		}
		fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd < 0 && errno != EEXIST)
			break;
	}
	g_free(wanted);
	return fd;
}

/* A log without a name of its own lies in the folder for temporary files. */
static bool log_error(const char *path, int why, struct error *error)
{
	if (!g_str_has_prefix(path, "/proc/"))
		return error_set(error, path,
		                 why == ENOSPC ? "make room, or choose another place with -o"
		                               : "choose another place with -o",
		                 "cannot write the recording: %s", g_strerror(why));
	g_autofree char *folder = file_folder(path);
	return error_set(error, folder, "set TMPDIR to a folder with room",
	                 "cannot write the recording of a run: %s", g_strerror(why));
}

bool run_make_log(char *path, size_t room, struct error *error)
{
	int fd = create_log(path, room);
	if (fd < 0)
		return log_error(path, errno, error);
	int failed = posix_fallocate(fd, 0, LOG_HEADER);
	close(fd);
	if (failed) {
		unlink(path);
		return log_error(path, failed, error);
	}
	return true;
}

/* Shared memory for chunks: the program fills it with records, and it outlives the program. */
int run_make_buffer(struct log_config *config, struct error *error)
{
	int fd = memfd_create("heddle-log", MFD_CLOEXEC);
	config->buffer_chunks = config->flags & LOG_CONTROLLED ? 1 : LOG_BUFFERS;
	if (fd < 0 || ftruncate(fd, (off_t)config->buffer_chunks * LOG_CHUNK) != 0) {
		error_set(error, "memfd", NULL, "no shared memory for the recording: %s",
		          g_strerror(errno));
		if (fd >= 0)
			close(fd);
		return -1;
	}
	return fd;
}

int record_open_log(const char *path)
{
	int flags = g_str_has_prefix(path, "/proc/") ? 0 : O_NOFOLLOW;
	return open(path, O_RDWR | O_CLOEXEC | flags);
}

/* Number of words in pages of the chunk at `at` that were ever touched: reading others would
 * allocate them. */
static size_t touched_words(int buffer, off_t at)
{
	off_t end = at, data = at;
	while (data >= 0 && data < at + LOG_CHUNK) {
		end = lseek(buffer, data, SEEK_HOLE);
		data = end < 0 ? end : lseek(buffer, end, SEEK_DATA);
	}
	return (size_t)(CLAMP(end, at, at + LOG_CHUNK) - at) / sizeof(uint64_t);
}

/* Marks the log as incomplete, for later readers. */
static void mark_full(int log, int error)
{
	struct log_header full = { .status = LOG_FULL, .error = (uint32_t)error };
	bool marked = pwrite(log, &full.error, sizeof(full.error),
	                     offsetof(struct log_header, error)) > 0 &&
	              pwrite(log, &full.status, sizeof(full.status),
	                     offsetof(struct log_header, status)) > 0;
	(void)marked; /* the first error is the one reported */
}

int run_write_rest(const struct log_config *config, int buffer)
{
	static const size_t words = LOG_CHUNK / sizeof(uint64_t);
	int log = record_open_log(config->log);
	if (log < 0)
		return errno;
	uint64_t slots = config->keep_bytes / LOG_CHUNK;
	int error = 0;
	for (off_t at = 0; error == 0 && (at = lseek(buffer, at, SEEK_DATA)) >= 0;
	     at += LOG_CHUNK) {
		at -= at % LOG_CHUNK;
		const uint64_t *chunk =
		        mmap(NULL, LOG_CHUNK, PROT_READ, MAP_SHARED, buffer, at);
		if (chunk == MAP_FAILED)
			return errno;
		const struct log_chunk *head = (const void *)chunk;
		if (head->magic == LOG_CHUNK_MAGIC) {
			uint64_t slot = head->sequence;
			size_t used = slots ? words : touched_words(buffer, at);
			while (!slots && used > 3 && chunk[used - 1] == 0)
				used--;
			if (slots && slot > slots)
				slot = 1 + (slot - 1) % slots;
			size_t bytes = MIN(used + 1, words) * sizeof(uint64_t);
			if (!file_write_all(log, chunk, bytes,
			                    log_chunk_offset(config->flags, slot)))
				error = errno;
		}
		munmap((void *)chunk, LOG_CHUNK);
	}
	if (error)
		mark_full(log, error);
	close(log);
	return error;
}
