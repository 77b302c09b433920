/*
 * touches.c - what functions of the C library do to their caller's memory: each case is a
 * variable that one thread has a function read (R) or write (W) while another one writes, or
 * reads, it by itself.  Prints the variables' names; every one is a race.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <execinfo.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

static volatile long sink;
static FILE *null, *zero, *text;
static char other[64] = "hello world";
static int compare(const void *a, const void *b)
{
	return *(const char *)a - *(const char *)b;
}
static int connection, ends[2];
static pthread_attr_t attr;
static int listed(char *b, size_t n, const char *format, ...)
{
	va_list list;
	va_start(list, format);
	int made = vsnprintf(b, n, format, list);
	va_end(list);
	return made;
}

/* clang-format off */
#define CASES \
	R(memcmp, "hello", sink += memcmp(b, other, 5)) \
	R(memchr, "hello", sink += (long)memchr(b, 'o', 5)) \
	R(memrchr, "hello", sink += (long)memrchr(b, 'h', 5)) \
	R(memmem, "hello", sink += (long)memmem(b, 5, "o", 1)) \
	R(rawmemchr, "hello", sink += (long)rawmemchr(b, 'o')) \
	R(memccpy_r, "hello", memccpy(other, b, 'l', 5)) \
	W(memccpy_w, "hello", memccpy(b, other, 'l', 5)) \
	W(memcpy, "", memcpy(b, other, 5)) \
	W(mempcpy, "", mempcpy(b, other, 5)) \
	W(memmove, "", memmove(b, other, 5)) \
	W(memset, "", memset(b, 1, 5)) \
	W(bzero, "", bzero(b, 5)) \
	W(explicit_bzero, "", explicit_bzero(b, 5)) \
	R(bcopy_r, "", bcopy(b, other, 5)) \
	R(strlen, "hello", sink += strlen(b)) \
	R(strcasecmp, "hello", sink += strcasecmp(b, "HELLx")) \
	R(strncasecmp, "hello", sink += strncasecmp(b, "HELLx", 3)) \
	R(strspn, "hello", sink += strspn(b, "hel")) \
	R(strcspn, "hello", sink += strcspn(b, "o")) \
	R(strpbrk, "hello", sink += (long)strpbrk(b, "o")) \
	R(strcasestr, "hello", sink += (long)strcasestr(b, "LO")) \
	R(strcoll, "hello", sink += strcoll(b, "LO")) \
	R(strxfrm_r, "hello", sink += strxfrm(other, b, 10)) \
	W(strxfrm_w, "hello", sink += strxfrm(b, "hello", 10)) \
	W(stpncpy, "", stpncpy(b, "hello", 8)) \
	R(strtol, "12345", sink += strtol(b, NULL, 10)) \
	R(strtoul, "12345", sink += strtoul(b, NULL, 10)) \
	R(strtoimax, "12345", sink += strtoimax(b, NULL, 10)) \
	R(strtod, "12345", sink += strtod(b, NULL)) \
	R(atoi, "12345", sink += atoi(b)) \
	R(strdup, "12345", char *p = strdup(b); free(p)) \
	R(wcslen, "\1\0\0\0", sink += wcslen((wchar_t*)b)) \
	W(wcscpy, "\1\0\0\0", wcscpy((wchar_t*)b, L"ab")) \
	W(wmemcpy, "\1\0\0\0", wmemcpy((wchar_t*)b, L"ab", 2)) \
	W(wcscat, "", wcscat((wchar_t*)b, L"ab")) \
	W(wmemset, "", wmemset((wchar_t*)b, 3, 3)) \
	R(wcscmp, "", sink += wcscmp((wchar_t*)b, L"ab")) \
	R(mbstowcs_r, "hello", wchar_t w[20]; mbstowcs(w, b, 9)) \
	W(sprintf, "", sprintf(b, "%d", 12345)) \
	W(snprintf, "", snprintf(b, 20, "%d", 12345)) \
	R(snprintf_s, "hello", snprintf(other, 20, "%s", b)) \
	R(snprintf_prec, "hello", snprintf(other, 20, "%.*s", 3, b)) \
	R(printf_fmt, "hello", fprintf(null, b)) \
	W(fprintf_n, "", fprintf(null, "%-3d %5.1f%n", 4, 2.5, (int *)b)) \
	W(sscanf_last, "", int q; float f; sscanf("1 x 2.5 abc", "%d %*s %f %3c", &q, &f, b)) \
	R(fprintf_s, "hello", fprintf(null, "%d %s", 4, b)) \
	R(fputs, "hello", fputs(b, null)) \
	R(fwrite, "hello", fwrite(b, 1, 5, null)) \
	W(fread, "", fread(b, 1, 5, zero)) \
	W(fgets, "", fgets(b, 5, text)) \
	W(sscanf_w, "", sscanf("abc", "%s", b)) \
	R(sscanf_r, "12", int q; sscanf(b, "%d", &q)) \
	W(vsnprintf, "", listed(b, 20, "%d", 12345)) \
	W(getline, "", size_t n = 0; rewind(text); free(*(char**)b); *(char **)b = 0; getline((char **)b, &n, text)) \
	W(asprintf, "", asprintf((char **)b, "x")) \
	W(time, "", time((time_t*)b)) \
	R(localtime_r_r, "", struct tm tm; localtime_r((time_t*)b, &tm)) \
	W(localtime_r, "", time_t t = 5; localtime_r(&t, (struct tm*)b)) \
	W(gmtime_r, "", time_t t = 5; gmtime_r(&t, (struct tm*)b)) \
	R(mktime, "", sink += mktime((struct tm*)b)) \
	W(strftime, "", struct tm tm = {0}; strftime(b, 20, "%Y", &tm)) \
	W(ctime_r, "", time_t t = 5; ctime_r(&t, b)) \
	W(clock_gettime, "", clock_gettime(CLOCK_REALTIME, (struct timespec*)b)) \
	W(gettimeofday, "", gettimeofday((struct timeval*)b, 0)) \
	W(stat, "", stat("/", (struct stat*)b)) \
	W(fstat, "", fstat(0, (struct stat*)b)) \
	R(stat_path, "/", struct stat s; stat(b, &s)) \
	W(getcwd, "", getcwd(b, 100)) \
	W(readlink, "", readlink("/proc/self/exe", b, 100)) \
	W(strerror_r, "", sink += (long)strerror_r(4000, b, 50)) \
	W(inet_pton, "", inet_pton(AF_INET, "1.2.3.4", b)) \
	R(inet_ntop, "1234", char o[50]; inet_ntop(AF_INET, b, o, 50)) \
	W(qsort, "dcba1234", qsort(b, 2, 4, compare)) \
	R(bsearch, "dcba1234", int k = 3; sink += (long)bsearch(&k, b, 2, 4, compare)) \
	W(read, "", read(fileno(zero), b, 5)) \
	W(pread, "", pread(fileno(zero), b, 5, 0)) \
	R(write, "hello", write(fileno(null), b, 5)) \
	R(pwrite, "hello", pwrite(fileno(null), b, 5, 0)) \
	W(readv, "", struct iovec v; v.iov_base = b; v.iov_len = 5; readv(fileno(zero), &v, 1)) \
	W(uname, "", uname((struct utsname*)b)) \
	W(sysinfo, "", sysinfo((struct sysinfo*)b)) \
	W(rand_r, "", sink += rand_r((unsigned*)b)) \
	W(modf, "", sink += modf(3.5, (double*)b)) \
	W(frexp, "", sink += frexp(3.5, (int*)b)) \
	W(gethostname, "", gethostname(b, 40)) \
	W(swab, "", swab("abcd", b, 4)) \
	R(poll_r, "", struct pollfd *p = (void *)b; poll(p, 1, 0)) \
	W(select_w, "\1", fd_set *r = (void *)b; struct timeval z = {0}; select(1, r, 0, 0, &z)) \
	R(pselect_r, "\1", fd_set *r = (void *)b; struct timespec z = {0}; pselect(1, 0, 0, r, &z, 0)) \
	W(getsockname, "", socklen_t n = 100; getsockname(connection, (void *)b, &n)) \
	W(getsockopt, "", socklen_t n = 4; getsockopt(connection, SOL_SOCKET, SO_TYPE, b, &n)) \
	W(ioctl, "", ioctl(ends[0], FIONREAD, b)) \
	W(prctl, "", prctl(PR_GET_NAME, b)) \
	W(waitpid, "", pid_t q = fork(); if (q == 0) _exit(3); waitpid(q, (int *)b, 0)) \
	W(sigemptyset, "", sigemptyset((sigset_t *)b)) \
	W(sigfillset, "", sigfillset((sigset_t *)b)) \
	W(sigaddset, "", sigaddset((sigset_t *)b, 3)) \
	R(sigismember, "", sink += sigismember((sigset_t *)b, 3)) \
	W(sigprocmask, "", sigprocmask(SIG_BLOCK, NULL, (sigset_t *)b)) \
	R(sigprocmask_r, "", sigprocmask(SIG_BLOCK, (sigset_t *)b, NULL)) \
	W(sigpending, "", sigpending((sigset_t *)b)) \
	W(sigaction, "", sigaction(SIGUSR1, NULL, (struct sigaction *)b)) \
	W(pthread_attr_init, "", pthread_attr_init((pthread_attr_t *)b)) \
	W(pthread_attr_setstacksize, "", pthread_attr_init(&attr); memcpy(b, &attr, sizeof attr); pthread_attr_setstacksize((pthread_attr_t *)b, 1 << 20)) \
	W(pthread_attr_getstacksize, "", pthread_attr_init(&attr); pthread_attr_getstacksize(&attr, (size_t *)b)) \
	W(pthread_attr_getdetachstate, "", pthread_attr_init(&attr); pthread_attr_getdetachstate(&attr, (int *)b)) \
	W(pthread_mutexattr_init, "", pthread_mutexattr_init((pthread_mutexattr_t *)b)) \
	W(pthread_mutexattr_settype, "", pthread_mutexattr_settype((pthread_mutexattr_t *)b, PTHREAD_MUTEX_RECURSIVE)) \
	R(pthread_mutexattr_gettype, "", int q; pthread_mutexattr_gettype((pthread_mutexattr_t *)b, &q)) \
	W(pthread_condattr_setclock, "", pthread_condattr_setclock((pthread_condattr_t *)b, CLOCK_MONOTONIC)) \
	W(pthread_rwlockattr_init, "", pthread_rwlockattr_init((pthread_rwlockattr_t *)b)) \
	W(pthread_getname_np, "", pthread_getname_np(pthread_self(), b, 40)) \
	W(pthread_key_create, "", pthread_key_create((pthread_key_t *)b, NULL)) \
	W(pthread_setcancelstate, "", pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, (int *)b)) \
	W(pthread_getschedparam, "", int q; pthread_getschedparam(pthread_self(), &q, (struct sched_param *)b)) \
	W(sched_getaffinity, "", sched_getaffinity(0, sizeof(cpu_set_t), (cpu_set_t *)b)) \
	W(getitimer, "", getitimer(ITIMER_REAL, (struct itimerval *)b)) \
	W(timer_create, "", struct sigevent e = {.sigev_notify = SIGEV_NONE}; timer_create(CLOCK_MONOTONIC, &e, (timer_t *)b)) \
	W(getpwuid_r, "", char o[400]; struct passwd *q; getpwuid_r(0, (struct passwd *)b, o, 400, &q)) \
	W(getaddrinfo, "", getaddrinfo("127.0.0.1", "80", NULL, (struct addrinfo **)b)) \
	W(sincos, "", double q; sincos(0.5, &q, (double *)b)) \
	W(lgamma_r, "", sink += lgamma_r(2.5, (int *)b)) \
	W(statfs, "", statfs("/", (struct statfs *)b)) \
	W(fstatat, "", fstatat(AT_FDCWD, "/", (struct stat *)b, 0)) \
	W(backtrace, "", backtrace((void **)b, 9)) \
	W(scandir, "", scandir("/proc/self/task", (struct dirent ***)b, NULL, NULL)) \
	W(mkdtemp, "/tmp/heddle.XXXXXX", rmdir(mkdtemp(b))) \
	R(nanosleep, "", nanosleep((struct timespec *)b, NULL)) \
	R(puts, "hello", puts(b))
/* clang-format on */

#define R(name, initial, call) char v_##name[512] __attribute__((aligned(16))) = initial;
#define W                      R
CASES
#undef R
#define R(name, initial, call) \
	__attribute__((noinline)) static void f_##name(char *b) \
	{ \
		call; \
	}
CASES
#undef R
#define R(name, initial, call) f_##name(v_##name);
static void *calls(void *p)
{
	CASES
	return p;
}
#undef R
#undef W
#define R(name, initial, call) v_##name[0] += sink == 12345;
#define W(name, initial, call) sink += v_##name[0];
static void touches(void)
{
	CASES
}
#undef R
#undef W
#define R(name, initial, call) fprintf(names, "v_" #name "\n");
#define W                      R
int main(int count, char **arguments)
{
	null = fopen("/dev/null", "r+");
	zero = fopen("/dev/zero", "r");
	text = fopen(arguments[0], "r");
	connection = socket(AF_INET, SOCK_STREAM, 0);
	if (pipe(ends) != 0)
		return 1;
	pthread_t t;
	pthread_create(&t, 0, calls, 0);
	touches();
	pthread_join(t, 0);
	FILE *names = fopen("names", "w");
	CASES
	return fclose(names);
}
