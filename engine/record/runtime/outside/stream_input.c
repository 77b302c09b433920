/*
 * stream_input.c - input of the C library's streams (stdin, fopen, fdopen) from outside, and
 * FIFOs and files of the kernel's (procfs, sysfs) that are opened by name.
 *
 * The library's own calls cannot be interposed.  All its streams of descriptors read through
 * one small function, which it exports: its beginning becomes a jump here.
 */
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
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

/* The descriptor's content comes from outside of the process, and its opening is recorded.
 * Keeps errno. */
static int keep_opened(struct thread *t, int fd, enum origin origin, uint32_t kind,
                       uintptr_t pc)
{
	int error = errno;
	outside_fresh(fd, origin);
	input_keep(t, LOG_INPUT_open, -1, fd, NULL, 0, kind);
	channel_numbered(t, fd, pc);
	errno = error;
	return fd;
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
	return keep_opened(t, fd, ORIGIN_OUTSIDE, LOG_FIFO, pc);
}

/* ---- files of the kernel's ---- */

/* Does the kernel make up the content of this file, so that another run reads other bytes? It
 * is only read. */
static bool is_kernels(int folder, const char *path, int flags, const struct stat *status)
{
	struct statfs system;
	if ((flags & (O_ACCMODE | O_CREAT | O_TRUNC)) != O_RDONLY ||
	    !S_ISREG(status->st_mode) ||
	    major(status->st_dev) != 0) /* on a device: a file as others */
		return false;
	long result = path[0] == '/' || folder == AT_FDCWD
	                      ? syscall(SYS_statfs, path, &system)
	                      : syscall(SYS_fstatfs, folder, &system);
	return result == 0 &&
	       (system.f_type == PROC_SUPER_MAGIC || system.f_type == SYSFS_MAGIC ||
	        system.f_type == CGROUP_SUPER_MAGIC || system.f_type == CGROUP2_SUPER_MAGIC);
}

static int open_kernels(struct thread *t, int folder, const char *path, int flags, uintptr_t pc)
{
	int fd = REAL(openat)(folder, path, flags);
	if (fd < 0)
		return outside_made(t, LOG_INPUT_open, fd, ORIGIN_INSIDE, pc);
	return keep_opened(t, fd, ORIGIN_KERNEL, LOG_KERNEL_FILE, pc);
}

/* Replay: a placeholder for such a file, which the thread opened here in the recording. */
static int open_given(struct thread *t, int flags, bool fifo, uintptr_t pc)
{
	int wanted = (int)input_next(t, LOG_INPUT_open)->result;
	bool close_on_exec = flags & O_CLOEXEC;
	input_taken(t);
	int fd = fifo ? outside_stand_in(t, wanted,
	                                 (close_on_exec ? SOCK_CLOEXEC : 0) |
	                                         (flags & O_NONBLOCK ? SOCK_NONBLOCK : 0))
	              : outside_stand_in_file(t, wanted, close_on_exec);
	channel_numbered(t, fd, pc);
	return fd;
}

bool input_opened(struct thread *t, int folder, const char *path, int flags, uintptr_t pc,
                  int *fd)
{
	struct stat status;
	int error = errno;
	if (!t || rt.inputs <= INPUTS_ORDERED || !path || flags & (O_PATH | O_DIRECTORY))
		return false;
	bool given = rt.inputs == INPUTS_GIVEN,
	     is = syscall(SYS_newfstatat, folder, path, &status, 0) == 0;
	const struct log_input *next = given ? input_next(t, LOG_INPUT_open) : NULL;
	/* on replay the file may be missing; a file that was opened for real has no input */
	bool fifo = is ? S_ISFIFO(status.st_mode) : next && next->extra == LOG_FIFO,
	     kernels = is ? is_kernels(folder, path, flags, &status)
	                  : next && next->extra == LOG_KERNEL_FILE &&
	                               (strncmp(path, "/proc/", 6) == 0 ||
	                                strncmp(path, "/sys/", 5) == 0);
	errno = error;
	if (next &&
	    ((fifo && next->extra == LOG_FIFO) || (kernels && next->extra == LOG_KERNEL_FILE)))
		*fd = open_given(t, flags, fifo, pc);
	else if (fifo)
		*fd = open_fifo(t, folder, path, flags, &status, pc);
	else if (kernels && !given)
		*fd = open_kernels(t, folder, path, flags, pc);
	else
		return false;
	return true;
}

/* A stream that is only read; NULL: another, which the library opens itself. */
FILE *input_stream(const char *path, const char *mode, uintptr_t pc)
{
	struct thread *t = recording();
	int fd, flags = O_RDONLY | (mode && strchr(mode, 'e') ? O_CLOEXEC : 0);
	if (!t || in_libc(pc) || !mode || mode[0] != 'r' || strchr(mode, '+') ||
	    !input_opened(t, AT_FDCWD, path, flags, pc, &fd) || fd < 0)
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
