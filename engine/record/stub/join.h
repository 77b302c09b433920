/*
 * join.h - the program's side of joining.h. It makes system calls by itself, as it runs before
 * the C library is initialised, and beside functions of the program that may have the C
 * library's names. Static functions, for each of the files that need them: what `heddle cc`
 * links with a program, with each library, and the runtime.
 */
#ifndef HEDDLE_JOIN_H
#define HEDDLE_JOIN_H

#include <elf.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "engine/record/joining.h"

static long join_call6(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;
	__asm__ volatile("syscall"
	                 : "=a"(result)
	                 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
	                 : "rcx", "r11", "memory");
	return result;
}

static long join_call(long number, long a, long b, long c, long d, long e)
{
	return join_call6(number, a, b, c, d, e, 0);
}

static void join_close(long fd)
{
	join_call(SYS_close, fd, 0, 0, 0, 0);
}

/* The value of a variable, or NULL. */
static const char *join_variable(char **env, const char *name)
{
	for (; *env; env++) {
		size_t i = 0;
		while (name[i] && (*env)[i] == name[i])
			i++;
		if (!name[i] && (*env)[i] == '=')
			return *env + i + 1;
	}
	return NULL;
}

/* Connects to a path that is too long for an address, through its folder's descriptor. */
static long join_connect_far(long fd, const char *path, size_t slash, size_t length,
                             struct sockaddr_un *to)
{
	enum { LONGEST = 4096, NAMED = 32 };
	static const char own[] = "/proc/self/fd/";
	char folder[LONGEST], digits[12];
	size_t at = 0, count = 0;
	if (slash == 0 || slash >= LONGEST || length - slash > NAMED)
		return -1;
	for (size_t i = 0; i < slash; i++)
		folder[i] = path[i];
	folder[slash] = 0;
	long dir = join_call(SYS_openat, AT_FDCWD, (long)folder,
	                     O_PATH | O_DIRECTORY | O_CLOEXEC, 0, 0);
	if (dir < 0)
		return dir;
	for (; own[at]; at++)
		to->sun_path[at] = own[at];
	for (long n = dir; count == 0 || n > 0; n /= 10)
		digits[count++] = (char)('0' + n % 10);
	while (count > 0)
		to->sun_path[at++] = digits[--count];
	for (size_t i = slash; i <= length; i++)
		to->sun_path[at++] = path[i];
	long result = join_call(SYS_connect, fd, (long)to, sizeof(*to), 0, 0);
	join_close(dir);
	return result;
}

/* A connection to the recorder, which must be the user's own: whoever gets hold of the path
 * would start a program in this one's place. Negative: none. */
static long join_connect(const char *path)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	struct ucred peer;
	socklen_t room = sizeof(peer);
	size_t length = 0, slash = 0;
	long fd = join_call(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, 0, 0);
	if (fd < 0)
		return fd;
	for (; path[length]; length++)
		if (path[length] == '/')
			slash = length;
	long failed;
	if (length < sizeof(to.sun_path)) {
		for (size_t i = 0; i <= length; i++)
			to.sun_path[i] = path[i];
		failed = join_call(SYS_connect, fd, (long)&to, sizeof(to), 0, 0);
	} else {
		failed = join_connect_far(fd, path, slash, length, &to);
	}
	if (failed ||
	    join_call(SYS_getsockopt, fd, SOL_SOCKET, SO_PEERCRED, (long)&peer, (long)&room) ||
	    (long)peer.uid != join_call(SYS_geteuid, 0, 0, 0, 0, 0)) {
		join_close(fd);
		return -1;
	}
	return fd;
}

static void join_say(long fd, char what)
{
	struct iovec part = { &what, 1 };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	join_call(SYS_sendmsg, fd, (long)&message, MSG_NOSIGNAL, 0, 0);
}

/* Waits for the answer; false: there is none. */
static int join_hear(long fd, struct joining_answer *answer, int got[JOINING_DESCRIPTORS])
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(JOINING_DESCRIPTORS * sizeof(int))];
	} control;
	struct iovec part = { answer, sizeof(*answer) };
	struct msghdr message = { .msg_iov = &part,
		                  .msg_iovlen = 1,
		                  .msg_control = &control,
		                  .msg_controllen = sizeof(control) };
	long n;
	enum { INTERRUPTED = -4 };
	do
		n = join_call(SYS_recvmsg, fd, (long)&message, MSG_CMSG_CLOEXEC, 0, 0);
	while (n == INTERRUPTED);
	if (n != (long)sizeof(*answer) || message.msg_controllen < sizeof(control.head) ||
	    control.head.cmsg_len != CMSG_LEN(JOINING_DESCRIPTORS * sizeof(int)))
		return 0;
	const int *sent = (const int *)CMSG_DATA(&control.head);
	for (int i = 0; i < JOINING_DESCRIPTORS; i++)
		got[i] = sent[i];
	return 1;
}

/* Makes `fd` the number `wanted`, which exec leaves open. */
static int join_number(int fd, int wanted)
{
	if (fd == wanted)
		return join_call(SYS_fcntl, fd, F_SETFD, 0, 0, 0) == 0;
	return join_call(SYS_dup3, fd, wanted, 0, 0, 0) == wanted;
}

static int join_same(const char *path, const struct stat *program)
{
	struct stat other;
	return path &&
	       join_call(SYS_newfstatat, AT_FDCWD, (long)path, (long)&other, 0, 0) == 0 &&
	       other.st_dev == program->st_dev && other.st_ino == program->st_ino;
}

/* Starts the program again, by the name that it was started by where that is still its file's:
 * the process is called by it. Returns when that failed. */
static void join_start(char **argv, char **env)
{
	enum { LONGEST = 4096 };
	static const char own[] = "/proc/self/exe";
	const char *name = (const char *)getauxval(AT_EXECFN);
	char file[LONGEST];
	struct stat program;
	if (join_call(SYS_newfstatat, AT_FDCWD, (long)own, (long)&program, 0, 0) != 0)
		return;
	if (!join_same(name, &program)) {
		long n = join_call(SYS_readlinkat, AT_FDCWD, (long)own, (long)file, LONGEST - 1,
		                   0);
		file[n > 0 ? n : 0] = 0;
		name = join_same(file, &program) ? file : own;
	}
	join_call(SYS_execve, (long)name, (long)argv, (long)env, 0, 0);
}

/* The environment of the answer as execve takes it; NULL: no memory for it. */
static char **join_environment(int fd, const struct joining_answer *answer)
{
	long room = (long)((answer->variables + 1) * sizeof(char *));
	long text = join_call6(SYS_mmap, 0, (long)answer->bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	long list = join_call6(SYS_mmap, 0, room, PROT_READ | PROT_WRITE,
	                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (text < 0 || list < 0)
		return NULL;
	char **env = (char **)list, *at = (char *)text;
	for (uint32_t i = 0; i < answer->variables; i++) {
		env[i] = at;
		while (*at)
			at++;
		at++;
	}
	env[answer->variables] = NULL;
	return env;
}

static void join_answered(long fd, const struct joining_answer *answer,
                          const int got[JOINING_DESCRIPTORS], char **argv)
{
	char **env = join_environment(got[2], answer);
	join_close(got[2]);
	long old = join_call(SYS_personality, 0xffffffff, 0, 0, 0, 0);
	if (old >= 0)
		join_call(SYS_personality, old | ADDR_NO_RANDOMIZE, 0, 0, 0, 0);
	int config = env && join_number(got[0], answer->config);
	int buffer = config && join_number(got[1], answer->buffer);
	if (buffer)
		join_start(argv, env);
	if (old >= 0)
		join_call(SYS_personality, old, 0, 0, 0, 0);
	if (config)
		join_close(answer->config);
	if (buffer)
		join_close(answer->buffer);
	join_close(got[0]);
	join_close(got[1]);
	join_say(fd, JOINING_FAILED);
}

/*
 * Asks to be recorded, and becomes the recorded program; returns where it is not to be. A
 * program with more rights than its user, or one that was given to the dynamic linker as an
 * argument, is not.
 */
__attribute__((unused)) static void join_program(char **argv, char **env)
{
	const char *path = join_variable(env, JOINING_ENVIRONMENT);
	struct joining_answer answer;
	int got[JOINING_DESCRIPTORS];
	if (!path || join_variable(env, JOINING_RECORDED) || getauxval(AT_SECURE) ||
	    !getauxval(AT_BASE))
		return;
	long fd = join_connect(path);
	if (fd < 0)
		return;
	join_say(fd, JOINING_PROGRAM);
	if (join_hear(fd, &answer, got))
		join_answered(fd, &answer, got, argv);
	join_close(fd);
}

/* Tells the recorder of code that it does not record, and waits until it knows by whom. */
__attribute__((unused)) static void join_too_late(char **env)
{
	const char *path = join_variable(env, JOINING_ENVIRONMENT);
	struct joining_answer none;
	int got[JOINING_DESCRIPTORS];
	long fd = path && !join_variable(env, JOINING_RECORDED) && !getauxval(AT_SECURE)
	                  ? join_connect(path)
	                  : -1;
	if (fd < 0)
		return;
	join_say(fd, JOINING_LIBRARY);
	join_hear(fd, &none, got);
	join_close(fd);
}

#endif
