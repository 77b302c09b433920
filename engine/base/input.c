/*
 * input.c - see input.h.
 */
#include "engine/base/input.h"
#include "engine/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { CHUNK = 1 << 16 };

static bool input_refuse(const char *path, const char *kind, const char *why,
                         struct error *error)
{
	g_autofree char *remedy = g_strdup_printf("name a%s %s that you can read",
	                                          strchr("aeiou", *kind) ? "n" : "", kind);

	error_set(error, strcmp(path, "-") ? place_line(path, 0).text : "standard input",
	          remedy, "cannot open the %s: %s", kind, why);
	return false;
}

/* O_NONBLOCK: opening a pipe must not wait for a writer. */
static int open_input(const char *path)
{
	if (strcmp(path, "-") == 0)
		return fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

/* Copy the rest of `fd` to a memory file, which is returned; -1 and errno on failure. */
static int read_to_memory(int fd)
{
	int memory = memfd_create("heddle-input", MFD_CLOEXEC);
	g_autofree char *chunk = g_malloc(CHUNK);
	ssize_t n;

	while (memory >= 0 && (n = read(fd, chunk, CHUNK)) != 0) {
		if (n < 0 && errno == EAGAIN) /* open for writing elsewhere: wait */
			n = poll(&(struct pollfd){ fd, POLLIN, 0 }, 1, -1) < 0 ? -1 : 0;
		else if (n > 0)
			n = file_write_all(memory, chunk, (size_t)n, -1) ? n : -1;
		if (n < 0 && errno != EINTR) {
			int why = errno;
			close(memory);
			memory = -1;
			errno = why;
		}
	}
	return memory;
}

/* The rest of `fd` as a file that can be mapped; closes `fd` unless it is that file. */
static int input_mappable(int fd, struct stat *st)
{
	if (S_ISREG(st->st_mode) && st->st_size > 0 && lseek(fd, 0, SEEK_CUR) == 0)
		return fd;
	int memory = read_to_memory(fd), why = errno;
	close(fd);
	errno = why;
	if (memory >= 0 && fstat(memory, st) != 0) {
		close(memory);
		return -1;
	}
	return memory;
}

static const char *not_readable(const char *path, int fd, const struct stat *st)
{
	struct statfs system;
	if (S_ISDIR(st->st_mode))
		return "it is a folder";
	if (strcmp(path, "-") != 0 && !S_ISREG(st->st_mode) && !S_ISFIFO(st->st_mode))
		return "it is a device";
	if (S_ISREG(st->st_mode) && fstatfs(fd, &system) == 0 &&
	    system.f_type ==
	            PROC_SUPER_MAGIC) /* reading some, as /proc/kmsg, waits or takes away */
		return "it is a file of /proc";
	return NULL;
}

bool input_open(const char *path, const char *kind, struct input *in, struct error *error)
{
	struct stat st;
	int fd = open_input(path);

	*in = (struct input){ 0 };
	if (fd < 0)
		return input_refuse(path, kind, g_strerror(errno), error);
	const char *wrong =
	        fstat(fd, &st) != 0 ? g_strerror(errno) : not_readable(path, fd, &st);
	if (wrong != NULL) {
		close(fd);
		return input_refuse(path, kind, wrong, error);
	}
	in->stream = !S_ISREG(st.st_mode) || strcmp(path, "-") == 0;
	if ((fd = input_mappable(fd, &st)) < 0)
		return input_refuse(path, kind, g_strerror(errno), error);
	if (in->stream && st.st_size == 0 && strcmp(path, "-") != 0) {
		close(fd);
		return input_refuse(path, kind, "nothing comes out of the pipe", error);
	}
	in->length = (size_t)st.st_size;
	in->file = st;
	if (in->length)
		in->bytes = mmap(NULL, in->length, PROT_READ, MAP_PRIVATE, fd, 0);
	int why = errno;
	close(fd);
	if (in->bytes == MAP_FAILED) {
		*in = (struct input){ 0 };
		return input_refuse(path, kind, g_strerror(why), error);
	}
	return true;
}

void input_close(struct input *in)
{
	if (in->bytes)
		munmap(in->bytes, in->length);
	*in = (struct input){ 0 };
}

char *input_text(const char *path, const char *kind, size_t *length, struct error *error)
{
	struct input in;

	if (!input_open(path, kind, &in, error))
		return NULL;
	char *text = g_malloc(in.length + 1);
	if (in.length)
		memcpy(text, in.bytes, in.length);
	text[in.length] = '\0';
	if (length != NULL)
		*length = in.length;
	input_close(&in);
	return text;
}

json_t *input_json(const char *path, const char *kind, struct error *error)
{
	size_t length;
	json_error_t fault;
	g_autofree char *text = input_text(path, kind, &length, error);
	json_t *root = text ? json_loadb(text, length, 0, &fault) : NULL;

	if (text != NULL && root == NULL)
		error_set(error, place_line(path, (uint64_t)MAX(fault.line, 0)).text, NULL,
		          "cannot read the %s: %s", kind, fault.text);
	return root;
}

const char *input_skip_mark(const char *text, size_t *length)
{
	bool marked = *length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0;
	*length -= marked ? 3 : 0;
	return marked ? text + 3 : text;
}
