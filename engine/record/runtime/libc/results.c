/*
 * results.c - the caller's memory that other functions of the C library read and write: a
 * struct, a name, a number; and those of fortified programs (-D_FORTIFY_SOURCE), which check
 * the room first.
 *
 * A function of the first kind is one line: the real function, and the memory that it has
 * touched for each kind of result.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <execinfo.h>
#include <grp.h>
#include <ifaddrs.h>
#include <math.h>
#include <net/if.h>
#include <netdb.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/utsname.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#include "touches.h"

#define MIN_OF(a, b) ((a) < (b) ? (a) : (b))

/* ---- files ---- */
#define PATH const char *restrict path
TOUCHES(int, stat, (PATH, struct stat *restrict s), (path, s), TEXT(path), OUT(s))
TOUCHES(int, lstat, (PATH, struct stat *restrict s), (path, s), TEXT(path), OUT(s))
TOUCHES(int, fstat, (int fd, struct stat *s), (fd, s), NOTHING, OUT(s))
TOUCHES(int, stat64, (PATH, struct stat64 *restrict s), (path, s), TEXT(path), OUT(s))
TOUCHES(int, lstat64, (PATH, struct stat64 *restrict s), (path, s), TEXT(path), OUT(s))
TOUCHES(int, fstat64, (int fd, struct stat64 *s), (fd, s), NOTHING, OUT(s))
TOUCHES(int, statvfs, (PATH, struct statvfs *restrict s), (path, s), TEXT(path), OUT(s))
TOUCHES(int, fstatvfs, (int fd, struct statvfs *s), (fd, s), NOTHING, OUT(s))
TOUCHES(int, statfs, (const char *path, struct statfs *s), (path, s), TEXT(path), OUT(s))
TOUCHES(int, fstatfs, (int fd, struct statfs *s), (fd, s), NOTHING, OUT(s))
TOUCHES(int, fstatat, (int fd, PATH, struct stat *restrict s, int flags), (fd, path, s, flags),
        TEXT(path), OUT(s))
TOUCHES(int, fstatat64, (int fd, PATH, struct stat64 *restrict s, int flags),
        (fd, path, s, flags), TEXT(path), OUT(s))
TOUCHES(int, statx, (int fd, PATH, int flags, unsigned mask, struct statx *restrict s),
        (fd, path, flags, mask, s), TEXT(path), OUT(s))
TOUCHES(ssize_t, readlink, (PATH, char *restrict p, size_t n), (path, p, n), TEXT(path),
        OUT_IF(r > 0, p, (size_t)r))
TOUCHES(char *, realpath, (PATH, char *restrict p), (path, p), TEXT(path), if (p) OUT_TEXT(p))
TOUCHES(char *, getcwd, (char *p, size_t n), (p, n), NOTHING, if (p) OUT_TEXT(p))
TOUCHES(int, unlink, (const char *path), (path), TEXT(path), NOTHING)
TOUCHES(int, rmdir, (const char *path), (path), TEXT(path), NOTHING)
TOUCHES(int, scandir,
        (PATH, struct dirent ***restrict names, int (*chosen)(const struct dirent *),
         int (*order)(const struct dirent **, const struct dirent **)),
        (path, names, chosen, order), TEXT(path), OUT_IF(r >= 0, names, sizeof(*names)))
TOUCHES(int, mkstemp, (char *path), (path), TEXT(path),
        OUT_IF(r >= 0, path, REAL(strlen)(path)))
TOUCHES(char *, mkdtemp, (char *path), (path), TEXT(path), OUT_IF(r, path, REAL(strlen)(path)))
TOUCHES(struct dirent *, readdir, (DIR * d), (d), NOTHING, OUT_IF(r, r, sizeof(*r)))
/* ---- the system ---- */
TOUCHES(int, uname, (struct utsname * u), (u), NOTHING, OUT(u))
TOUCHES(int, sysinfo, (struct sysinfo * i), (i), NOTHING, OUT(i))
TOUCHES(int, gethostname, (char *p, size_t n), (p, n), NOTHING,
        OUT_IF(r == 0, p, MIN_OF(REAL(strnlen)(p, n) + 1, n)))
TOUCHES(struct passwd *, getpwnam, (const char *name), (name), TEXT(name),
        OUT_IF(r, r, sizeof(*r)))
TOUCHES(struct passwd *, getpwuid, (uid_t u), (u), NOTHING, OUT_IF(r, r, sizeof(*r)))
TOUCHES(int, getrlimit, (__rlimit_resource_t of, struct rlimit *l), (of, l), NOTHING, OUT(l))
TOUCHES(int, getgroups, (int n, gid_t g[]), (n, g), NOTHING,
        OUT_IF(r > 0 && n > 0, g, (size_t)r * sizeof(*g)))
TOUCHES(struct group *, getgrnam, (const char *name), (name), TEXT(name),
        OUT_IF(r, r, sizeof(*r)))
TOUCHES(struct group *, getgrgid, (gid_t g), (g), NOTHING, OUT_IF(r, r, sizeof(*r)))
/* What the members point to is in the caller's room, too. */
#define FINDS_R(name, type, parameter, given, before) \
	TOUCHES( \
	        int, name, \
	        (parameter, type *restrict e, char *restrict p, size_t n, \
	         type **restrict found), \
	        (given, e, p, n, found), before, WRITES_AT(found, sizeof(*found), pc); \
	        if (*found) { \
		        WRITES_AT(e, sizeof(*e), pc); \
		        WRITES_AT(p, n, pc); \
	        })
FINDS_R(getpwnam_r, struct passwd, const char *restrict name, name, TEXT(name))
FINDS_R(getpwuid_r, struct passwd, uid_t id, id, NOTHING)
FINDS_R(getgrnam_r, struct group, const char *restrict name, name, TEXT(name))
FINDS_R(getgrgid_r, struct group, gid_t id, id, NOTHING)
TOUCHES(int, getitimer, (__itimer_which_t which, struct itimerval *v), (which, v), NOTHING,
        OUT(v))
TOUCHES(int, timer_gettime, (timer_t id, struct itimerspec *v), (id, v), NOTHING, OUT(v))
TOUCHES(int, timerfd_gettime, (int fd, struct itimerspec *v), (fd, v), NOTHING, OUT(v))
TOUCHES(int, tcgetattr, (int fd, struct termios *t), (fd, t), NOTHING, OUT(t))
TOUCHES(int, ttyname_r, (int fd, char *p, size_t n), (fd, p, n), NOTHING,
        OUT_IF(r == 0, p, REAL(strlen)(p) + 1))
TOUCHES(int, ptsname_r, (int fd, char *p, size_t n), (fd, p, n), NOTHING,
        OUT_IF(r == 0, p, REAL(strlen)(p) + 1))
TOUCHES(size_t, confstr, (int name, char *p, size_t n), (name, p, n), NOTHING,
        OUT_IF(r > 0 && p && n > 0, p, r < n ? r : n))
TOUCHES(int, backtrace, (void **frames, int n), (frames, n), NOTHING,
        OUT_IF(r > 0, frames, (size_t)MIN_OF(r + 1, n) * sizeof(*frames)))
/* ---- time; the results of those without _r are one place for all threads ---- */
TOUCHES(struct tm *, localtime_r, (const time_t *restrict t, struct tm *restrict tm), (t, tm),
        IN(t), OUT_IF(r, tm, sizeof(*tm)))
TOUCHES(struct tm *, gmtime_r, (const time_t *restrict t, struct tm *restrict tm), (t, tm),
        IN(t), OUT_IF(r, tm, sizeof(*tm)))
TOUCHES(struct tm *, localtime, (const time_t *t), (t), IN(t), OUT_IF(r, r, sizeof(*r)))
TOUCHES(struct tm *, gmtime, (const time_t *t), (t), IN(t), OUT_IF(r, r, sizeof(*r)))
TOUCHES(char *, ctime, (const time_t *t), (t), IN(t), OUT_TEXT(r))
TOUCHES(char *, ctime_r, (const time_t *restrict t, char *restrict p), (t, p), IN(t),
        OUT_TEXT(p))
TOUCHES(char *, asctime, (const struct tm *tm), (tm), IN(tm), OUT_TEXT(r))
TOUCHES(char *, asctime_r, (const struct tm *restrict tm, char *restrict p), (tm, p), IN(tm),
        OUT_TEXT(p))
TOUCHES(time_t, mktime, (struct tm * tm), (tm), IN(tm), OUT_IF(r != -1, tm, sizeof(*tm)))
TOUCHES(time_t, timegm, (struct tm * tm), (tm), IN(tm), OUT_IF(r != -1, tm, sizeof(*tm)))
TOUCHES(int, clock_getres, (clockid_t clock, struct timespec *p), (clock, p), NOTHING,
        OUT_IF(r == 0 && p, p, sizeof(*p)))
TOUCHES(size_t, strftime,
        (char *restrict p, size_t n, const char *restrict f, const struct tm *restrict tm),
        (p, n, f, tm), TEXT(f);
        IN(tm), OUT_IF(r > 0, p, r + 1))
TOUCHES(char *, strptime,
        (const char *restrict s, const char *restrict f, struct tm *restrict tm), (s, f, tm),
        TEXT(s);
        TEXT(f), OUT_IF(r, tm, sizeof(*tm)))
/* ---- addresses ---- */
TOUCHES(int, inet_pton, (int family, const char *restrict s, void *restrict p), (family, s, p),
        TEXT(s), OUT_IF(r == 1, p, family == AF_INET ? 4 : 16))
TOUCHES(int, inet_aton, (const char *s, struct in_addr *p), (s, p), TEXT(s),
        OUT_IF(r != 0, p, sizeof(*p)))
TOUCHES(in_addr_t, inet_addr, (const char *s), (s), TEXT(s), NOTHING)
TOUCHES(const char *, inet_ntop,
        (int family, const void *restrict a, char *restrict p, socklen_t n), (family, a, p, n),
        READS_AT(a, family == AF_INET ? 4 : 16, pc), OUT_TEXT(p))
TOUCHES(int, getaddrinfo,
        (const char *restrict host, const char *restrict service,
         const struct addrinfo *restrict wanted, struct addrinfo **restrict found),
        (host, service, wanted, found), if (host) TEXT(host);
        if (service) TEXT(service); if (wanted) IN(wanted), OUT(found))
TOUCHES(int, getnameinfo,
        (const struct sockaddr *restrict a, socklen_t n, char *restrict host, socklen_t room,
         char *restrict service, socklen_t more, int flags),
        (a, n, host, room, service, more, flags), READS_AT(a, n, pc),
        OUT_IF(r == 0 && host && room, host, REAL(strlen)(host) + 1);
        OUT_IF(r == 0 && service && more, service, REAL(strlen)(service) + 1))
TOUCHES(int, getifaddrs, (struct ifaddrs * *found), (found), NOTHING, OUT(found))
TOUCHES(char *, if_indextoname, (unsigned number, char *name), (number, name), NOTHING,
        OUT_IF(r, name, IF_NAMESIZE))
TOUCHES(unsigned, if_nametoindex, (const char *name), (name), TEXT(name), NOTHING)
/* ---- numbers, sorting, messages ---- */
TOUCHES(int, rand_r, (unsigned *seed), (seed), IN(seed), WRITES_AT(seed, sizeof(*seed), pc))
/* The sign of the result is one place for all threads. */
extern int signgam __attribute__((weak)); /* libm's: a program may have none */
#define SIGN OUT_IF(&signgam, &signgam, sizeof(signgam))
TOUCHES(double, lgamma, (double x), (x), NOTHING, SIGN)
TOUCHES(float, lgammaf, (float x), (x), NOTHING, SIGN)
TOUCHES(long double, lgammal, (long double x), (x), NOTHING, SIGN)
TOUCHES(double, lgamma_r, (double x, int *sign), (x, sign), NOTHING,
        WRITES_AT(sign, sizeof(*sign), pc))
TOUCHES(float, lgammaf_r, (float x, int *sign), (x, sign), NOTHING,
        WRITES_AT(sign, sizeof(*sign), pc))
#define SINES(name, type) \
	INTERPOSED(name); \
	void interposed_##name(type x, type *sine, type *cosine) \
	{ \
		uintptr_t pc = CALLER(); \
		range_turn(pc); \
		REAL(name)(x, sine, cosine); \
		WRITES_AT(sine, sizeof(*sine), pc); \
		WRITES_AT(cosine, sizeof(*cosine), pc); \
	}
SINES(sincos, double)
SINES(sincosf, float)
TOUCHES(double, frexp, (double x, int *e), (x, e), NOTHING, WRITES_AT(e, sizeof(*e), pc))
TOUCHES(float, frexpf, (float x, int *e), (x, e), NOTHING, WRITES_AT(e, sizeof(*e), pc))
TOUCHES(double, modf, (double x, double *i), (x, i), NOTHING, WRITES_AT(i, sizeof(*i), pc))
TOUCHES(float, modff, (float x, float *i), (x, i), NOTHING, WRITES_AT(i, sizeof(*i), pc))
TOUCHES(double, remquo, (double x, double y, int *q), (x, y, q), NOTHING,
        WRITES_AT(q, sizeof(*q), pc))
TOUCHES(int, random_r, (struct random_data *restrict d, int32_t *restrict p), (d, p), IN(d),
        WRITES_AT(d, sizeof(*d), pc);
        OUT(p))
TOUCHES(int, drand48_r, (struct drand48_data *restrict d, double *restrict p), (d, p), IN(d),
        WRITES_AT(d, sizeof(*d), pc);
        OUT(p))
TOUCHES(double, erand48, (unsigned short s[3]), (s), READS_AT(s, 6, pc), WRITES_AT(s, 6, pc))
TOUCHES(char *, strerror_r, (int number, char *p, size_t n), (number, p, n), NOTHING,
        OUT_IF(r == p, p, REAL(strlen)(p) + 1))
/* ---- fortified: too little room is the real function's to complain of ---- */

#define FORTIFIED(type, name, parameters, call, checked_call, needed) \
	EXPORT type __##name##_chk parameters; \
	type __##name##_chk parameters \
	{ \
		uintptr_t pc = CALLER(); \
		range_turn(pc); \
		if ((needed) > room) \
			return REAL(__##name##_chk) checked_call; \
		return fortified_##name call; \
	}
#define COPIES(name) \
	static void *fortified_##name(void *to, const void *from, size_t n, uintptr_t pc) \
	{ \
		READS_AT(from, n, pc); \
		WRITES_AT(to, n, pc); \
		return REAL(name)(to, from, n); \
	} \
	FORTIFIED(void *, name, (void *to, const void *from, size_t n, size_t room), \
	          (to, from, n, pc), (to, from, n, room), n)
COPIES(memcpy)
COPIES(memmove)
COPIES(mempcpy)

static void *fortified_memset(void *p, int c, size_t n, uintptr_t pc)
{
	WRITES_AT(p, n, pc);
	return REAL(memset)(p, c, n);
}
FORTIFIED(void *, memset, (void *p, int c, size_t n, size_t room), (p, c, n, pc),
          (p, c, n, room), n)
static void fortified_explicit_bzero(void *p, size_t n, uintptr_t pc)
{
	WRITES_AT(p, n, pc);
	REAL(explicit_bzero)(p, n);
}
FORTIFIED(void, explicit_bzero, (void *p, size_t n, size_t room), (p, n, pc), (p, n, room), n)

#define COPIES_STRING(name) \
	static char *fortified_##name(char *to, const char *from, uintptr_t pc) \
	{ \
		size_t n = REAL(strlen)(from) + 1; \
		READS_AT(from, n, pc); \
		WRITES_AT(to, n, pc); \
		return REAL(name)(to, from); \
	} \
	FORTIFIED(char *, name, (char *to, const char *from, size_t room), (to, from, pc), \
	          (to, from, room), REAL(strlen)(from) + 1)
COPIES_STRING(strcpy)
COPIES_STRING(stpcpy)

#define COPIES_PART(name) \
	static char *fortified_##name(char *to, const char *from, size_t n, uintptr_t pc) \
	{ \
		size_t k = REAL(strnlen)(from, n); \
		READS_AT(from, k < n ? k + 1 : k, pc); \
		WRITES_AT(to, n, pc); \
		return REAL(name)(to, from, n); \
	} \
	FORTIFIED(char *, name, (char *to, const char *from, size_t n, size_t room), \
	          (to, from, n, pc), (to, from, n, room), n)
COPIES_PART(strncpy)
COPIES_PART(stpncpy)

static char *fortified_strncat(char *to, const char *from, size_t n, uintptr_t pc)
{
	size_t at = REAL(strlen)(to), k = REAL(strnlen)(from, n);
	READS_AT(to, at + 1, pc);
	READS_AT(from, k < n ? k + 1 : k, pc);
	WRITES_AT(to + at, k + 1, pc);
	return REAL(strncat)(to, from, n);
}
FORTIFIED(char *, strncat, (char *to, const char *from, size_t n, size_t room),
          (to, from, n, pc), (to, from, n, room), REAL(strlen)(to) + REAL(strnlen)(from, n) + 1)
static char *fortified_strcat(char *to, const char *from, uintptr_t pc)
{
	return fortified_strncat(to, from, SIZE_MAX, pc);
}
FORTIFIED(char *, strcat, (char *to, const char *from, size_t room), (to, from, pc),
          (to, from, room), REAL(strlen)(to) + REAL(strlen)(from) + 1)
