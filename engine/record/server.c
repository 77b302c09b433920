/*
 * server.c - what is kept between the runs of one program: it itself as it was loaded, so that
 * runs are forked from it instead of being started (the other side of runtime/core/serve.c),
 * and its debug information.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "debuginfo/debuginfo.h"
#include "engine/record/run_private.h"

struct record_server {
	int socket;
	pid_t pid;
	bool lost; /* it has died, or cannot fork */
	bool instrumented;
	struct log_config config; /* as it was started with */
	struct debug_store *debug;
};

static void set_timeout(int socket, int seconds)
{
	struct timeval limit = { .tv_sec = seconds };
	setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
}

struct record_server *record_server_new(char **argv, const char *preload, const char *output,
                                        struct error *error)
{
	enum { STARTS_WITHIN = 10 }; /* seconds */
	struct record_options o = { .argv = argv, .preload = preload, .stdout_path = output };
	struct record_server *s = g_new0(struct record_server, 1);
	char *path = NULL;
	bool clang_name;
	int pair[2] = { -1, -1 };
	o.config.version = LOG_VERSION;
	o.config.flags = LOG_SERVE;
	bool good =
	        record_check_program(argv[0], &path, &s->instrumented, &clang_name, error) &&
	        (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0 ||
	         error_set(error, path, NULL, "no socket for it: %s", g_strerror(errno))) &&
	        run_launch(&o, path, clang_name, pair[1], &s->pid, error);
	if (pair[1] >= 0)
		close(pair[1]);
	s->socket = pair[0];
	s->config = o.config;
	g_free(path);
	if (good) {
		set_timeout(s->socket, STARTS_WITHIN);
		s->debug = debug_store_new();
		return s;
	}
	if (s->socket >= 0)
		close(s->socket);
	g_free(s);
	return NULL;
}

void record_server_free(struct record_server *s)
{
	int status;
	if (s == NULL)
		return;
	close(s->socket);
	kill(s->pid, SIGKILL);
	while (waitpid(s->pid, &status, 0) < 0 && errno == EINTR)
		;
	debug_store_free(s->debug);
	g_free(s);
}

struct debug_store *record_server_debug(const struct record_server *s)
{
	return s ? s->debug : NULL;
}

bool record_server_read(const struct record_server *s, uint64_t address, void *bytes,
                        size_t size)
{
	struct iovec here = { bytes, size }, there = { (void *)(uintptr_t)address, size };
	return !s->lost && process_vm_readv(s->pid, &here, 1, &there, 1, 0) == (ssize_t)size;
}

static bool send_request(int socket, const int *descriptors, int count)
{
	char byte = 0, room[CMSG_SPACE(3 * sizeof(int))] = { 0 };
	struct iovec data = { &byte, 1 };
	struct msghdr message = { .msg_iov = &data,
		                  .msg_iovlen = 1,
		                  .msg_control = room,
		                  .msg_controllen = CMSG_SPACE(count * sizeof(int)) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&message);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(count * sizeof(int));
	memcpy(CMSG_DATA(c), descriptors, count * sizeof(int));
	return sendmsg(socket, &message, MSG_NOSIGNAL) == 1;
}

static bool next_answer(struct record_server *s, int flags, struct log_served *served)
{
	ssize_t n;
	errno = 0; /* the end of the socket sets none */
	while ((n = recv(s->socket, served, sizeof(*served), flags)) < 0 && errno == EINTR)
		;
	return n == (ssize_t)sizeof(*served);
}

/* What the server was started with holds for its children. */
static void inherit(const struct record_server *s, struct log_config *config)
{
	config->flags |= s->config.flags & LOG_ASLR_OFF;
	config->buffer = s->config.buffer;
	config->had_preload = s->config.had_preload;
	config->had_library_path = s->config.had_library_path;
	memcpy(config->preload, s->config.preload, sizeof(config->preload));
	memcpy(config->library_path, s->config.library_path, sizeof(config->library_path));
}

bool record_server_fork(struct record_server *s, struct record_options *o, int buffer,
                        pid_t *pid, struct record_result *result)
{
	struct log_served served = { 0 };
	if (s->lost)
		return false;
	inherit(s, &o->config);
	int passed[3] = { run_config_file(o, &o->config, NULL), buffer, -1 };
	if (o->stdout_path)
		passed[2] = open(o->stdout_path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	if (passed[0] >= 0 && (passed[2] >= 0 || !o->stdout_path) &&
	    send_request(s->socket, passed, o->stdout_path ? 3 : 2) &&
	    next_answer(s, 0, &served) && served.pid > 0)
		*pid = served.pid;
	else
		s->lost = true;
	if (passed[0] >= 0)
		close(passed[0]);
	if (passed[2] >= 0)
		close(passed[2]);
	result->instrumented = s->instrumented;
	return !s->lost;
}

int record_server_socket(const struct record_server *s)
{
	return s->socket;
}

bool record_server_ended(struct record_server *s, int *status)
{
	struct log_served served;
	if (next_answer(s, MSG_DONTWAIT, &served)) {
		*status = served.status;
		return true;
	}
	if (errno == EAGAIN || errno == EWOULDBLOCK)
		return false;
	s->lost = true; /* somebody has ended it: with it, we take it, the run */
	*status = SIGKILL;
	return true;
}
