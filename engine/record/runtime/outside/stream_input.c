/*
 * stream_input.c - input of the C library's streams (stdin, fopen, fdopen) from outside, and
 * FIFOs that are opened by name.
 *
 * The library's own calls cannot be interposed.  All its streams of descriptors read through
 * one small function, which it exports: its beginning becomes a jump here.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engine/record/runtime/core/rt.h"

INTERPOSED(pclose);

/* Replay must not ask for less than the recording; reading as much as is available is left to
 * the descriptor. */
enum { MOST_AT_ONCE = 1024 };

static ssize_t stream_read(FILE *f, void *p, ssize_t size)
{
	int fd = fileno_unlocked(f);
	struct thread *t = rt.on ? recording() : NULL;
	if (!t)
		return REAL(read)(fd, p, (size_t)size);
	bool out = outside(t, fd);
	if (!out && !outside_reads(fd))
		return REAL(read)(fd, p, (size_t)size);
	if (out && rt.inputs != INPUTS_GIVEN && size > MOST_AT_ONCE)
		size = MOST_AT_ONCE;
	return descriptor_read(t, fd, p, (size_t)size, CALLER());
}

static bool taken_over;

bool streams_read_here(void)
{
	return taken_over;
}

void streams_init(void)
{
	uint8_t *real =
	        rt.inputs > INPUTS_ORDERED ? dlsym(RTLD_DEFAULT, "_IO_file_read") : NULL;
	if (real && (uintptr_t)real >= rt.libc_low && (uintptr_t)real < rt.libc_high)
		entry_jump(real, stream_read), taken_over = true;
}

/* ---- FIFOs ---- */

enum { MAX_OPENING = 64 };
static struct opening { /* a FIFO that threads are about to open */
	dev_t device;
	ino_t number;
	unsigned readers, writers;
	bool met; /* both at once */
} opening[MAX_OPENING];

/* The FIFO that the caller is about to open; it holds the token, except while it waits. */
static struct opening *begin_opening(const struct stat *s, bool writer)
{
	struct opening *o = NULL;
	for (unsigned i = 0; i < MAX_OPENING; i++) {
		struct opening *at = &opening[i];
		bool used = at->readers + at->writers > 0;
		if (used && at->device == s->st_dev && at->number == s->st_ino) {
			o = at;
			break;
		}
		if (!used && !o)
			o = at;
	}
	if (!o)
		return NULL;
	if (o->readers + o->writers == 0)
		*o = (struct opening){ .device = s->st_dev, .number = s->st_ino };
	o->readers += !writer;
	o->writers += writer;
	o->met |= o->readers > 0 && o->writers > 0;
	return o;
}

/* Did another thread open the other end meanwhile? */
static bool end_opening(struct opening *o, bool writer)
{
	if (!o)
		return true;
	o->readers -= !writer;
	o->writers -= writer;
	return o->met;
}

/* Opens a FIFO: waits until a thread of this or another process opens the other end. */
static int open_fifo(struct thread *t, int folder, const char *path, int flags,
                     const struct stat *status, uintptr_t pc)
{
	bool writer = (flags & O_ACCMODE) != O_RDONLY;
	struct opening *o = begin_opening(status, writer);
	int fd, error;
	sched_leave(t);
	fd = REAL(openat)(folder, path, flags);
	error = errno;
	sched_rejoin(t);
	bool ours = end_opening(o, writer) || outside_both_ends(fd);
	errno = error;
	if (fd < 0 || ours)
		return outside_made(t, LOG_INPUT_open, fd, ORIGIN_INSIDE, pc);
	outside_fresh(fd, ORIGIN_OUTSIDE);
	input_keep(t, LOG_INPUT_open, -1, fd, NULL, 0, LOG_FIFO);
	channel_numbered(t, fd, pc);
	errno = error;
	return fd;
}

bool fifo_opened(struct thread *t, int folder, const char *path, int flags, uintptr_t pc,
                 int *fd)
{
	struct stat status;
	int error = errno;
	if (!t || rt.inputs <= INPUTS_ORDERED || !path || flags & (O_PATH | O_DIRECTORY))
		return false;
	const struct log_input *next =
	        rt.inputs == INPUTS_GIVEN ? input_next(t, LOG_INPUT_open) : NULL;
	if (next && next->extra == LOG_FIFO) {
		input_taken(t);
		*fd = outside_stand_in(t, (int)next->result,
		                       (flags & O_CLOEXEC ? SOCK_CLOEXEC : 0) |
		                               (flags & O_NONBLOCK ? SOCK_NONBLOCK : 0));
		channel_numbered(t, *fd, pc);
		return true;
	}
	bool is = syscall(SYS_newfstatat, folder, path, &status, 0) == 0 &&
	          S_ISFIFO(status.st_mode);
	errno = error;
	if (is)
		*fd = open_fifo(t, folder, path, flags, &status, pc);
	return is;
}

/* A stream that is only read; NULL: another, which the library opens itself. */
FILE *fifo_stream(const char *path, const char *mode, uintptr_t pc)
{
	struct thread *t = recording();
	int fd, flags = O_RDONLY | (mode && strchr(mode, 'e') ? O_CLOEXEC : 0);
	if (!t || in_libc(pc) || !mode || mode[0] != 'r' || strchr(mode, '+') ||
	    !fifo_opened(t, AT_FDCWD, path, flags, pc, &fd) || fd < 0)
		return NULL;
	return INSIDE(t, fdopen(fd, mode));
}

int interposed_pclose(FILE *f)
{
	struct thread *t = recording();
	if (f)
		outside_closing(t, fileno(f), CALLER());
	return REAL(pclose)(f);
}
