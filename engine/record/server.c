/*
 * server.c - the fork server's parent side (the other is runtime/core/serve.c): keeps the
 * program as it was loaded, from which runs are forked, and its debug information.
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

#include "debuginfo/dead.h"
#include "debuginfo/debuginfo.h"
#include "engine/record/run_private.h"

struct record_server {
	int socket;    /* of the process that forks: the loaded or the settled one */
	int first;     /* of the loaded process, when another has settled; else -1 */
	pid_t pid;     /* the process as it was loaded */
	pid_t settled; /* the process stopped at the beginning of main; 0: none */
	bool tried;    /* settling was tried */
	bool lost;     /* the server has died, or cannot fork */
	bool instrumented;
	struct log_config config; /* of the server's start */
	struct debug_store *debug;
};

enum { STARTS_WITHIN = 10 }; /* seconds */

static void set_timeout(int socket, int seconds)
{
	struct timeval limit = { .tv_sec = seconds };
	setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
}

static void find_dead(const char *path, struct log_config *config)
{
	g_autoptr(GArray) sites = debuginfo_dead(path);
	G_STATIC_ASSERT((int)LOG_DEAD_RANGES == (int)DEAD_RANGES);
	unsigned count = 0;
	for (guint i = 0; i < sites->len && count < LOG_DEAD_SITES; i++) {
		const struct dead_site *s = &g_array_index(sites, struct dead_site, i);
		if (s->address > UINT32_MAX)
			break;
		struct log_dead *dead = &config->dead[count++];
		dead->address = (uint32_t)s->address;
		dead->registers = s->registers;
		dead->count = s->count;
		memcpy(dead->range, s->range, sizeof(dead->range));
	}
}

struct record_server *record_server_new(char **argv, const char *preload, const char *output,
                                        struct error *error)
{
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
	s->first = -1;
	s->config = o.config;
	if (good)
		find_dead(path, &s->config);
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
	if (s->first >= 0)
		close(s->first);
	kill(s->pid, SIGKILL);
	if (s->settled > 0)
		kill(s->settled, SIGKILL);
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
	return !s->lost && process_vm_readv(s->settled > 0 ? s->settled : s->pid, &here, 1,
	                                    &there, 1, 0) == (ssize_t)size;
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

static bool next_answer(int socket, int flags, struct log_served *served)
{
	ssize_t n;
	errno = 0; /* end of file on the socket sets no errno */
	while ((n = recv(socket, served, sizeof(*served), flags)) < 0 && errno == EINTR)
		;
	return n == (ssize_t)sizeof(*served);
}

/* Children inherit the environment and settings of the server's start. */
static void inherit(const struct record_server *s, struct log_config *config)
{
	config->flags |= s->config.flags & LOG_ASLR_OFF;
	config->buffer = s->config.buffer;
	config->had_preload = s->config.had_preload;
	config->had_library_path = s->config.had_library_path;
	memcpy(config->dead, s->config.dead, sizeof(config->dead));
	memcpy(config->preload, s->config.preload, sizeof(config->preload));
	memcpy(config->library_path, s->config.library_path, sizeof(config->library_path));
}

/* Settle: one child runs to the beginning of main, and later runs are forked there. Where that
 * is not possible, the loaded process goes on forking. */
static bool settle(struct record_server *s, const struct record_options *o)
{
	struct record_options first = { .config = o->config };
	struct log_served child, ready = { 0 };
	int pair[2] = { -1, -1 };
	first.config.flags = (first.config.flags & ~(uint32_t)LOG_REPLAY) | LOG_SETTLE;
	first.config.plan_length = first.config.thread_count = 0;
	first.config.answer_count = first.config.input_count = 0;
	first.config.input_bytes = 0;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
		return true;
	int passed[3] = { run_config_file(&first, &first.config, true, NULL),
		          run_make_buffer(&first.config, NULL), pair[1] };
	bool sent = passed[0] >= 0 && passed[1] >= 0 && send_request(s->socket, passed, 3) &&
	            next_answer(s->socket, 0, &child) && child.pid > 0;
	for (int i = 0; i < 3; i++)
		if (passed[i] >= 0)
			close(passed[i]);
	set_timeout(pair[0], STARTS_WITHIN);
	if (sent && next_answer(pair[0], 0, &ready) && ready.pid > 0) {
		s->settled = ready.pid;
		s->first = s->socket;
		s->socket = pair[0];
		return true;
	}
	close(pair[0]);
	if (sent)
		kill(child.pid, SIGKILL);
	return sent && next_answer(s->socket, 0, &child); /* the answer at the child's end */
}

bool record_server_fork(struct record_server *s, struct record_options *o, int buffer,
                        pid_t *pid, struct record_result *result)
{
	struct log_served served = { 0 };
	if (s->lost)
		return false;
	inherit(s, &o->config);
	if (!s->tried && o->config.flags & LOG_EXPLORE)
		s->lost = !settle(s, o);
	s->tried = true;
	if (s->lost)
		return false;
	int passed[3] = { run_config_file(o, &o->config, s->settled <= 0, NULL), buffer, -1 };
	if (o->stdout_path)
		passed[2] = open(o->stdout_path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	if (passed[0] >= 0 && (passed[2] >= 0 || !o->stdout_path) &&
	    send_request(s->socket, passed, o->stdout_path ? 3 : 2) &&
	    next_answer(s->socket, 0, &served) && served.pid > 0)
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
	if (next_answer(s->socket, MSG_DONTWAIT, &served)) {
		*status = served.status;
		return true;
	}
	if (errno == EAGAIN || errno == EWOULDBLOCK)
		return false;
	s->lost = true; /* it was killed, presumably with the run */
	*status = SIGKILL;
	return true;
}
