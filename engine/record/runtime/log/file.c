/*
 * file.c - the log's file: a descriptor that the program does not meet, and writing in spite of
 * the program's limit on the size of files.
 */
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

#include "engine/record/runtime/core/one_thread.h"
#include "log_private.h"

/* ---- its descriptor ---- */

/*
 * The log's descriptor, kept under a number that the program does not use. Opening the log
 * for each chunk would take the lowest free number, while threads close, open and dup2: they
 * would get other numbers than alone, or EBUSY, or replace the log by a file of theirs. And a
 * daemon may become another user, or change its root, without access to the log.
 *
 * If the program closes all descriptors, or may have few, the log is opened by its path for
 * each chunk.
 */
static int kept = -1;
static uint64_t kept_file[2]; /* device, inode: does the descriptor still refer to the log? */

static bool identify(int fd, uint64_t file[2])
{
	struct stat status;
	if (raw_syscall(SYS_newfstatat, fd, (long)"", (long)&status, AT_EMPTY_PATH, 0, 0) != 0)
		return false;
	file[0] = status.st_dev;
	file[1] = status.st_ino;
	return true;
}

static void keep_descriptor(long fd)
{
	enum { FAR = 600, NEAR = 16 };
	long far = -1;
	for (long from = FAR; far < 0 && from >= NEAR; from /= 2)
		far = raw_syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, from, 0, 0, 0);
	if (far < 0 || !identify((int)far, kept_file)) {
		if (far >= 0)
			raw_syscall(SYS_close, far, 0, 0, 0, 0, 0);
		return;
	}
	kept = (int)far;
}

static int no_links(void)
{
	return strncmp(rt.config.log, "/proc/", 6) == 0 ? 0 : O_NOFOLLOW;
}

int log_file_kept(void)
{
	uint64_t file[2];
	return kept >= 0 && identify(kept, file) && file[0] == kept_file[0] &&
	                       file[1] == kept_file[1]
	               ? kept
	               : -1;
}

/* Returns a descriptor of the log, for close_log, or -errno. */
static long open_log(void)
{
	kept = log_file_kept();
	if (kept >= 0)
		return kept;
	return raw_syscall(SYS_openat, AT_FDCWD, (long)rt.config.log,
	                   O_WRONLY | O_CLOEXEC | no_links(), 0, 0, 0);
}

static void close_log(long fd)
{
	if (fd != kept)
		raw_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
}

struct log_header *log_file_map(int *error)
{
	long fd = raw_syscall(SYS_openat, AT_FDCWD, (long)rt.config.log,
	                      O_RDWR | O_CLOEXEC | no_links(), 0, 0, 0);
	long p = fd < 0 ? fd
	                : raw_syscall(SYS_mmap, 0, LOG_HEADER, PROT_READ | PROT_WRITE,
	                              MAP_SHARED, fd, 0);
	if (fd >= 0) {
		keep_descriptor(fd);
		raw_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
	}
	*error = p < 0 ? -p : 0;
	return p < 0 ? NULL : (struct log_header *)p;
}

void log_file_leave(void)
{
	if (kept >= 0)
		raw_syscall(SYS_close, kept, 0, 0, 0, 0, 0);
	kept = -1;
}

void log_file_become(int fd)
{
	log_file_leave();
	keep_descriptor(fd);
}

/* ---- writing ---- */

/*
 * A limit on the size of files (RLIMIT_FSIZE) is the program's, and so is its signal: neither
 * is for our file. Such a signal is the writing thread's own, so that one which was not
 * pending before is ours.
 */
static const uint64_t size_signal = UINT64_C(1) << (SIGXFSZ - 1);
struct size_limit {
	uint64_t mask, pending;
};

static void limit_hold(struct size_limit *l)
{
	raw_syscall(SYS_rt_sigprocmask, SIG_BLOCK, (long)&size_signal, (long)&l->mask, 8, 0, 0);
	l->pending = 0;
	raw_syscall(SYS_rt_sigpending, (long)&l->pending, 8, 0, 0, 0, 0);
}

static void limit_release(const struct size_limit *l)
{
	static const struct timespec at_once;
	if (!(l->pending & size_signal))
		raw_syscall(SYS_rt_sigtimedwait, (long)&size_signal, 0, (long)&at_once, 8, 0,
		            0);
	raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&l->mask, 0, 8, 0, 0);
}

int log_file_write(const void *bytes, size_t length, uint64_t offset)
{
	struct size_limit limit = { 0 };
	bool trap = rt.one_thread && one_thread_trap(false);
	long fd = open_log();
	if (fd < 0 && trap)
		one_thread_refuse();
	if (fd < 0)
		return -fd;
	const char *from = bytes;
	int error = 0;
	limit_hold(&limit);
	while (length > 0) {
		long n = raw_syscall(SYS_pwrite64, fd, (long)from, length, offset, 0, 0);
		if (n == -EINTR)
			continue;
		if (n <= 0) {
			error = n < 0 ? -n : ENOSPC;
			break;
		}
		from += n;
		offset += n;
		length -= n;
	}
	limit_release(&limit);
	close_log(fd);
	if (trap)
		one_thread_trap(true);
	return error;
}
