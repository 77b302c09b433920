/*
 * streams.c - <stdio.h>: the caller's memory that its functions read and write, and where
 * they wait.
 *
 * A stream's own lock is the C library's; it is no event, for it only keeps the stream whole.
 * But a thread must not sleep on it with the token in hand: flockfile, and every function here,
 * waits in the scheduler for a stream that another thread has locked, and for the first
 * bytes of one that leads to a pipe, a socket or a terminal.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <wchar.h>

#include "engine/record/runtime/core/rt.h"
#include "ranges.h"

INTERPOSED(flockfile, funlockfile, getdelim, getline, getchar, getchar_unlocked, puts, perror,
           putchar, fflush);

/* Some are macros as well. */
#undef fread_unlocked
#undef fwrite_unlocked

/* The thread when the call before `pc` is one of the program's, in controlled mode. */
static struct thread *at_stream(uintptr_t pc)
{
	struct thread *t = in_libc(pc) ? NULL : recording();
	return rt.controlled ? t : NULL;
}

static void lock_stream(struct thread *t, FILE *f, uintptr_t pc)
{
	while (rt.on && REAL(ftrylockfile)(f) != 0) {
		t->sched.pc = pc;
		sched_block(t, FOR_MUTEX, f, false, 0);
	}
	if (!rt.on)
		REAL(flockfile)(f);
}

/* Waits for the stream, before a call that locks it. */
static void turn(FILE *f, uintptr_t pc)
{
	int error = errno;
	struct thread *t = f ? at_stream(pc) : NULL;
	if (t) {
		enum { NO_READS = 4 }; /* bits of the C library's flags of a stream */
		order_of_descriptor(REAL(fileno)(f), f->_flags & NO_READS, false);
		order_of_stream(f, !(f->_flags & NO_READS) && f != stdin && f != stdout &&
		                           f != stderr);
		lock_stream(t, f, pc);
		REAL(funlockfile)(f);
	}
	errno = error;
}

void interposed_flockfile(FILE *f)
{
	struct thread *t = at_stream(CALLER());
	if (!t) {
		REAL(flockfile)(f);
		return;
	}
	sched_point(t);
	lock_stream(t, f, CALLER());
}
void interposed_funlockfile(FILE *f)
{
	struct thread *t = at_stream(CALLER());
	REAL(funlockfile)(f);
	if (t)
		sched_wake(f, FOR_MUTEX, UINT32_MAX);
}

/* Before a read: waits for the stream's first bytes, as the C library would (except for
 * recorded input: stream_input.c). */
static void await(FILE *f, uintptr_t pc)
{
	turn(f, pc);
	struct thread *t = at_stream(pc);
	int fd = f ? f->_fileno : -1;
	if (!t || fd < 0 || f->_IO_read_ptr < f->_IO_read_end ||
	    (rt.inputs == INPUTS_GIVEN && streams_read_here() && outside(t, fd)))
		return;
	int error = errno;
	struct stat status;
	int flags = syscall(SYS_fcntl, fd, F_GETFL);
	bool waits = flags >= 0 && !(flags & O_NONBLOCK) && fstat(fd, &status) == 0 &&
	             (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode) ||
	              S_ISCHR(status.st_mode));
	if (waits) {
		struct pollfd one = { .fd = fd, .events = POLLIN };
		frame_enter(t, LOG_CALL_read, pc, true);
		t->sched.pc = pc;
		sched_wait_files(t, &one, 1, false, 0);
		frame_leave(t);
		if (!streams_read_here())
			channel_ready(t, outside_reads(fd), pc);
	}
	errno = error;
}

/* ---- reading ---- */

#define READ_LINE(name) \
	INTERPOSED(name); \
	char *interposed_##name(char *restrict p, int n, FILE *restrict f) \
	{ \
		await(f, CALLER()); \
		range_turn(CALLER()); \
		char *line = REAL(name)(p, n, f); \
		if (line) \
			WRITES(p, REAL(strlen)(p) + 1); \
		return line; \
	}
READ_LINE(fgets)
READ_LINE(fgets_unlocked)
EXPORT char *__fgets_chk(char *restrict p, size_t room, int n, FILE *restrict f);
char *__fgets_chk(char *restrict p, size_t room, int n, FILE *restrict f)
{
	await(f, CALLER());
	range_turn(CALLER());
	char *line = REAL(__fgets_chk)(p, room, n, f);
	if (line)
		WRITES(p, REAL(strlen)(p) + 1);
	return line;
}

#define READ_BLOCK(name) \
	INTERPOSED(name); \
	size_t interposed_##name(void *restrict p, size_t size, size_t n, FILE *restrict f) \
	{ \
		await(f, CALLER()); \
		range_turn(CALLER()); \
		size_t came = REAL(name)(p, size, n, f); \
		WRITES(p, came *size); \
		return came; \
	}
READ_BLOCK(fread)
READ_BLOCK(fread_unlocked)
EXPORT size_t __fread_chk(void *restrict p, size_t room, size_t size, size_t n,
                          FILE *restrict f);
size_t __fread_chk(void *restrict p, size_t room, size_t size, size_t n, FILE *restrict f)
{
	await(f, CALLER());
	range_turn(CALLER());
	size_t came = REAL(__fread_chk)(p, room, size, n, f);
	WRITES(p, came * size);
	return came;
}

static ssize_t line_of(char **restrict line, size_t *restrict room, int end, FILE *restrict f,
                       uintptr_t pc)
{
	await(f, pc);
	READS_AT(line, sizeof(*line), pc);
	READS_AT(room, sizeof(*room), pc);
	range_turn(pc);
	const char *before = *line;
	size_t had = *room;
	ssize_t n = REAL(getdelim)(line, room, end, f);
	if (*line != before)
		WRITES_AT(line, sizeof(*line), pc);
	if (*room != had)
		WRITES_AT(room, sizeof(*room), pc);
	if (n > 0)
		WRITES_AT(*line, (size_t)n + 1, pc);
	return n;
}
ssize_t interposed_getdelim(char **restrict line, size_t *restrict n, int end, FILE *restrict f)
{
	return line_of(line, n, end, f, CALLER());
}
EXPORT ssize_t __getdelim(char **restrict line, size_t *restrict n, int end, FILE *restrict f)
{
	return line_of(line, n, end, f, CALLER());
}
ssize_t interposed_getline(char **restrict line, size_t *restrict n, FILE *restrict f)
{
	return line_of(line, n, '\n', f, CALLER());
}

#define READ_ONE(type, name) \
	type name(FILE *f); /* some are in no header */ \
	INTERPOSED(name); \
	type interposed_##name(FILE *f) \
	{ \
		await(f, CALLER()); \
		return REAL(name)(f); \
	}
READ_ONE(int, fgetc)
READ_ONE(int, getc)
READ_ONE(int, fgetc_unlocked)
READ_ONE(int, getc_unlocked)
READ_ONE(int, __uflow) /* called by getc_unlocked, which is inlined */
READ_ONE(int, __underflow)
READ_ONE(wint_t, fgetwc)
READ_ONE(wint_t, getwc)
int interposed_getchar(void)
{
	await(stdin, CALLER());
	return REAL(getc)(stdin);
}
int interposed_getchar_unlocked(void)
{
	await(stdin, CALLER());
	return REAL(getc_unlocked)(stdin);
}

/* ---- writing ---- */

#define WRITE_BLOCK(name) \
	INTERPOSED(name); \
	size_t interposed_##name(const void *restrict p, size_t size, size_t n, \
	                         FILE *restrict f) \
	{ \
		READS(p, size *n); \
		turn(f, CALLER()); \
		return REAL(name)(p, size, n, f); \
	}
WRITE_BLOCK(fwrite)
WRITE_BLOCK(fwrite_unlocked)
#define WRITE_STRING(name) \
	INTERPOSED(name); \
	int interposed_##name(const char *restrict s, FILE *restrict f) \
	{ \
		READS_STRING(s, CALLER()); \
		turn(f, CALLER()); \
		return REAL(name)(s, f); \
	}
WRITE_STRING(fputs)
WRITE_STRING(fputs_unlocked)
int interposed_puts(const char *s)
{
	READS_STRING(s, CALLER());
	turn(stdout, CALLER());
	return REAL(puts)(s);
}
void interposed_perror(const char *s)
{
	if (s)
		READS_STRING(s, CALLER());
	turn(stderr, CALLER());
	REAL(perror)(s);
}
#define WRITE_ONE(name) \
	INTERPOSED(name); \
	int interposed_##name(int c, FILE *f) \
	{ \
		turn(f, CALLER()); \
		return REAL(name)(c, f); \
	}
WRITE_ONE(fputc)
WRITE_ONE(putc)
int interposed_putchar(int c)
{
	turn(stdout, CALLER());
	return REAL(putchar)(c);
}
int interposed_fflush(FILE *f)
{
	turn(f, CALLER());
	return REAL(fflush)(f);
}

/* ---- printf ---- */

static int print(FILE *f, const char *format, va_list list, uintptr_t pc)
{
	format_reads(format, list, pc);
	turn(f, pc);
	va_list again;
	va_copy(again, list);
	int n = REAL(vfprintf)(f, format, list);
	format_counts(format, again, pc);
	va_end(again);
	return n;
}
static int print_checked(FILE *f, int flag, const char *format, va_list list, uintptr_t pc)
{
	extern int __vfprintf_chk(FILE *, int, const char *, va_list);
	format_reads(format, list, pc);
	turn(f, pc);
	va_list again;
	va_copy(again, list);
	int n = REAL(__vfprintf_chk)(f, flag, format, list);
	format_counts(format, again, pc);
	va_end(again);
	return n;
}
/* A call formatted `n` characters into `room` bytes: record the bytes that it wrote, with the
 * terminating zero. */
static void made(char *to, size_t room, int n, uintptr_t pc)
{
	if (to && n >= 0 && room > 0)
		WRITES_AT(to, (size_t)n < room ? (size_t)n + 1 : room, pc);
}
static int print_into(char *to, size_t room, const char *format, va_list list, uintptr_t pc)
{
	format_reads(format, list, pc);
	va_list again;
	va_copy(again, list);
	range_turn(pc);
	int n = room == SIZE_MAX ? REAL(vsprintf)(to, format, list)
	                         : REAL(vsnprintf)(to, room, format, list);
	made(to, room, n, pc);
	format_counts(format, again, pc);
	va_end(again);
	return n;
}
static int print_into_checked(char *to, size_t room, int flag, size_t there, const char *format,
                              va_list list, uintptr_t pc)
{
	extern int __vsnprintf_chk(char *, size_t, int, size_t, const char *, va_list);
	extern int __vsprintf_chk(char *, int, size_t, const char *, va_list);
	format_reads(format, list, pc);
	va_list again;
	va_copy(again, list);
	range_turn(pc);
	int n = room == SIZE_MAX ? REAL(__vsprintf_chk)(to, flag, there, format, list)
	                         : REAL(__vsnprintf_chk)(to, room, flag, there, format, list);
	made(to, room, n, pc);
	format_counts(format, again, pc);
	va_end(again);
	return n;
}
static int print_block(char **out, const char *format, va_list list, uintptr_t pc)
{
	format_reads(format, list, pc);
	range_turn(pc);
	int n = REAL(vasprintf)(out, format, list);
	WRITES_AT(out, sizeof(*out), pc);
	return n;
}

/* A function with `...`, and the one with a va_list that does the same. */
#define BOTH(name, vname, parameters, call) \
	INTERPOSED_AS(int, vname, (UNPACK parameters, va_list list)); \
	int interposed_##vname(UNPACK parameters, va_list list) \
	{ \
		return call; \
	} \
	INTERPOSED_AS(int, name, (UNPACK parameters, ...)); \
	int interposed_##name(UNPACK parameters, ...) \
	{ \
		va_list list; \
		va_start(list, LAST); \
		int n = call; \
		va_end(list); \
		return n; \
	}
#define UNPACK(...) __VA_ARGS__
#define LAST        format
#define FORMAT      const char *restrict format
BOTH(printf, vprintf, (FORMAT), print(stdout, format, list, CALLER()))
BOTH(fprintf, vfprintf, (FILE *restrict f, FORMAT), print(f, format, list, CALLER()))
BOTH(sprintf, vsprintf, (char *restrict to, FORMAT),
     print_into(to, SIZE_MAX, format, list, CALLER()))
BOTH(snprintf, vsnprintf, (char *restrict to, size_t room, FORMAT),
     print_into(to, room, format, list, CALLER()))
BOTH(asprintf, vasprintf, (char **restrict out, FORMAT),
     print_block(out, format, list, CALLER()))
BOTH(__printf_chk, __vprintf_chk, (int flag, FORMAT),
     print_checked(stdout, flag, format, list, CALLER()))
BOTH(__fprintf_chk, __vfprintf_chk, (FILE * f, int flag, FORMAT),
     print_checked(f, flag, format, list, CALLER()))
BOTH(__sprintf_chk, __vsprintf_chk, (char *to, int flag, size_t there, FORMAT),
     print_into_checked(to, SIZE_MAX, flag, there, format, list, CALLER()))
BOTH(__snprintf_chk, __vsnprintf_chk, (char *to, size_t room, int flag, size_t there, FORMAT),
     print_into_checked(to, room, flag, there, format, list, CALLER()))
BOTH(__asprintf_chk, __vasprintf_chk, (char **out, int flag, FORMAT),
     print_block(out, format, list, CALLER()))

/* ---- scanf ---- */

static int scan(FILE *f, const char *format, va_list list, bool c99, uintptr_t pc)
{
	extern int __isoc99_vfscanf(FILE *restrict, const char *restrict, va_list);
	await(f, pc);
	va_list again;
	va_copy(again, list);
	range_turn(pc);
	int n = c99 ? REAL(__isoc99_vfscanf)(f, format, list) : REAL(vfscanf)(f, format, list);
	format_writes(format, again, n, pc);
	va_end(again);
	return n;
}
static int scan_string(const char *s, const char *format, va_list list, bool c99, uintptr_t pc)
{
	extern int __isoc99_vsscanf(const char *restrict, const char *restrict, va_list);
	READS_STRING(s, pc);
	va_list again;
	va_copy(again, list);
	range_turn(pc);
	int n = c99 ? REAL(__isoc99_vsscanf)(s, format, list) : REAL(vsscanf)(s, format, list);
	format_writes(format, again, n, pc);
	va_end(again);
	return n;
}
/* The functions from before C99; in the header the same names are labels for those of C99. */
BOTH(scanf, vscanf, (FORMAT), scan(stdin, format, list, false, CALLER()))
BOTH(fscanf, vfscanf, (FILE *restrict f, FORMAT), scan(f, format, list, false, CALLER()))
BOTH(sscanf, vsscanf, (const char *restrict s, FORMAT),
     scan_string(s, format, list, false, CALLER()))
BOTH(__isoc99_scanf, __isoc99_vscanf, (FORMAT), scan(stdin, format, list, true, CALLER()))
BOTH(__isoc99_fscanf, __isoc99_vfscanf, (FILE *restrict f, FORMAT),
     scan(f, format, list, true, CALLER()))
BOTH(__isoc99_sscanf, __isoc99_vsscanf, (const char *restrict s, FORMAT),
     scan_string(s, format, list, true, CALLER()))
