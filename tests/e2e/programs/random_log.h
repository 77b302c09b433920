/*
 * random_log.h - the log of random programs (random_sync.c, random_ways.cc): by system calls, which
 * are no events, two characters a line: the thread, and the result of its operation.
 */
#ifndef RANDOM_LOG_H
#define RANDOM_LOG_H

#include <fcntl.h>
#include <sys/syscall.h>

enum { LOG = 100 };

static inline __attribute__((always_inline)) long system_call(long number, long a, long b,
                                                              long c)
{
	long result;
	__asm__ volatile("syscall"
	                 : "=a"(result)
	                 : "a"(number), "D"(a), "S"(b), "d"(c)
	                 : "rcx", "r11", "memory");
	return result;
}

static inline __attribute__((always_inline)) void log_open(const char *path)
{
	long file = system_call(SYS_open, (long)path, O_WRONLY | O_CREAT | O_APPEND, 0600);
	system_call(SYS_dup2, file, LOG, 0);
}

static inline __attribute__((always_inline)) void log_line(int thread, int result)
{
	char line[3] = { (char)('0' + thread), (char)result, '\n' };
	system_call(SYS_write, LOG, (long)line, sizeof line);
}

#endif
