/* joined.c - see joined.h. */
#include "engine/record/joined.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engine/base/file.h"
#include "engine/record/run_private.h"

_Static_assert(sizeof(JOINING_RECORDED) == sizeof(LOG_ENVIRONMENT), "one variable, two names");

/* ---- who asks ---- */

/* A file of procfs with strings that end with NUL; NULL: the process has ended. */
static char **strings_of(pid_t pid, const char *name)
{
	g_autofree char *path = g_strdup_printf("/proc/%d/%s", (int)pid, name), *text = NULL;
	gsize size;
	if (!g_file_get_contents(path, &text, &size, NULL))
		return NULL;
	g_autoptr(GPtrArray) list = g_ptr_array_new();
	for (gsize at = 0; at < size; at += strlen(text + at) + 1)
		g_ptr_array_add(list, g_strdup(text + at));
	g_ptr_array_add(list, NULL);
	return (char **)g_ptr_array_free(g_steal_pointer(&list), FALSE);
}

static char *link_of(pid_t pid, const char *name)
{
	g_autofree char *path = g_strdup_printf("/proc/%d/%s", (int)pid, name);
	return g_file_read_link(path, NULL);
}

/* A child by fork has its parent's, which the runtime was started with. */
static void leave_runtime_out(char **env)
{
	static const char *const own[] = { LOG_ENVIRONMENT "=",
		                           "LD_PRELOAD=", "GLIBC_TUNABLES=" };
	char **to = env;
	for (char **from = env; *from; from++) {
		bool is_own = false;
		for (size_t i = 0; i < G_N_ELEMENTS(own); i++)
			is_own |= g_str_has_prefix(*from, own[i]);
		if (is_own)
			g_free(*from);
		else
			*to++ = *from;
	}
	*to = NULL;
}

/* 0: not known. */
static pid_t parent_of(pid_t pid)
{
	g_autofree char *path = g_strdup_printf("/proc/%d/stat", (int)pid), *text = NULL;
	const char *behind =
	        g_file_get_contents(path, &text, NULL, NULL) ? strrchr(text, ')') : NULL;
	int parent = 0;
	return behind && sscanf(behind, ") %*c %d", &parent) == 1 ? parent : 0;
}

static bool hear(int socket, char *request)
{
	ssize_t n;
	do
		n = recv(socket, request, 1, 0);
	while (n < 0 && errno == EINTR);
	return n == 1;
}

struct joined *joined_take(int socket, char **late)
{
	struct ucred peer = { 0 };
	socklen_t size = sizeof(peer);
	char request = 0;
	*late = NULL;
	bool own = getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
	           peer.pid != 0 && peer.uid == geteuid();
	g_autofree char *file = own ? link_of(peer.pid, "exe") : NULL;
	if (!file || !hear(socket, &request) ||
	    (request != JOINING_PROGRAM && request != JOINING_FORKED)) {
		if (request == JOINING_LIBRARY)
			*late = g_steal_pointer(&file);
		close(socket);
		return NULL;
	}
	struct joined *j = g_new0(struct joined, 1);
	*j = (struct joined){ .pid = peer.pid,
		              .socket = socket,
		              .forked = request == JOINING_FORKED,
		              .again = -1,
		              .turns = -1 };
	j->process = (int)syscall(SYS_pidfd_open, j->pid, 0);
	j->parent = parent_of(j->pid);
	j->argv = strings_of(j->pid, "cmdline");
	j->environment = strings_of(j->pid, "environ");
	if (!j->argv || !j->environment) {
		joined_free(j);
		return NULL;
	}
	if (j->forked)
		leave_runtime_out(j->environment);
	if (!j->argv[0]) { /* it was started without any */
		g_strfreev(j->argv);
		j->argv = g_new0(char *, 2);
	}
	g_free(j->argv[0]);
	j->argv[0] = g_steal_pointer(&file);
	return j;
}

bool joined_become(struct joined *j)
{
	extern char **environ;
	g_autofree char *folder = g_strdup_printf("/proc/%d/cwd", (int)j->pid);
	environ = j->environment;
	return chdir(folder) == 0;
}

void joined_answer(struct joined *j, int status)
{
	struct log_header *h = j->header;
	if (h)
		__atomic_store_n(&h->answer, (uint32_t)status + 1, __ATOMIC_RELEASE);
}

void joined_free(struct joined *j)
{
	if (j == NULL)
		return;
	if (j->header)
		munmap(j->header, LOG_HEADER);
	close(j->socket);
	if (j->process >= 0)
		close(j->process);
	g_strfreev(j->argv);
	g_strfreev(j->environment);
	g_free(j);
}

/* ---- its recording ---- */

/* The environment as a file of memory, -1: there is no memory for it. */
static int environment_file(char *const *env, struct joining_answer *answer)
{
	int fd = memfd_create("heddle-environment", MFD_CLOEXEC);
	for (; fd >= 0 && *env; env++) {
		size_t size = strlen(*env) + 1;
		if (!file_write_all(fd, *env, size, (int64_t)answer->bytes)) {
			close(fd);
			return -1;
		}
		answer->variables++;
		answer->bytes += size;
	}
	return fd;
}

static bool send_answer(int socket, const struct joining_answer *answer,
                        const int files[JOINING_DESCRIPTORS])
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(JOINING_DESCRIPTORS * sizeof(int))];
	} control = { .head = { .cmsg_len = CMSG_LEN(JOINING_DESCRIPTORS * sizeof(int)),
		                .cmsg_level = SOL_SOCKET,
		                .cmsg_type = SCM_RIGHTS } };
	struct iovec part = { (void *)answer, sizeof(*answer) };
	struct msghdr message = { .msg_iov = &part,
		                  .msg_iovlen = 1,
		                  .msg_control = &control,
		                  .msg_controllen = sizeof(control) };
	memcpy(CMSG_DATA(&control.head), files, JOINING_DESCRIPTORS * sizeof(int));
	return sendmsg(socket, &message, MSG_NOSIGNAL) == (ssize_t)sizeof(*answer);
}

/* The process switches address randomisation off for itself. Would the system let it? */
static bool fixed_addresses(void)
{
	int old = personality(0xffffffff);
	return old >= 0 && personality(old | ADDR_NO_RANDOMIZE) >= 0 &&
	       personality(0xffffffff) & ADDR_NO_RANDOMIZE;
}

static void map_header(struct joined *j, const char *log)
{
	int fd = record_open_log(log);
	void *header =
	        fd < 0 ? MAP_FAILED
	               : mmap(NULL, LOG_HEADER, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd >= 0)
		close(fd);
	j->header = header == MAP_FAILED ? NULL : header;
}

bool run_join(struct record_options *o, bool clang_name, int buffer, struct error *error)
{
	struct joined *j = o->joined;
	struct joining_answer answer = { .config = run_high_descriptor(j->pid) };
	g_autofree char *runtime = record_runtime_path(error);
	if (!runtime)
		return false;
	map_header(j, o->config.log);
	if (fixed_addresses())
		o->config.flags |= LOG_ASLR_OFF;
	o->config.recorder = (int32_t)getpid();
	o->config.buffer = answer.buffer = answer.config - 1;
	g_auto(GStrv) env = run_environment(o, &o->config, answer.config, runtime, clang_name);
	int files[JOINING_DESCRIPTORS] = { run_config_file(o, &o->config, error), buffer,
		                           j->forked ? record_open_log(o->config.log)
		                                     : environment_file(env, &answer) };
	char request;
	bool told = files[0] >= 0 && files[2] >= 0 && j->header &&
	            send_answer(j->socket, &answer, files);
	/* the connection ends as the process becomes the program */
	bool started = told && !hear(j->socket, &request);
	if (!started && files[0] >= 0)
		error_set(error, o->argv[0], NULL,
		          told ? "cannot start it again, with the recorder"
		               : "it cannot be told of its recording");
	if (files[0] >= 0)
		close(files[0]);
	if (files[2] >= 0)
		close(files[2]);
	return started;
}

/*
 * Waits until fewer than `most` others of this file make their traces: a suite's next
 * processes, which may have limits of time, come first. A turn is the lock of a byte, which a
 * process's end gives back, however it ends.
 */
static void take_turn(const struct joined *j)
{
	enum { AFTER_OTHERS = 10 };
	setpriority(PRIO_PROCESS, 0, AFTER_OTHERS);
	struct flock turn = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };
	for (unsigned i = 0; i < j->most; i++) {
		turn.l_start = i;
		if (fcntl(j->turns, F_SETLK, &turn) == 0)
			return;
	}
	turn.l_start = (off_t)((unsigned)getpid() % j->most);
	while (fcntl(j->turns, F_SETLKW, &turn) != 0 && errno == EINTR)
		;
}

void run_await_joined(struct record_options *o, struct record_result *result)
{
	enum { SHORTEST_MS = 1, LONGEST_MS = 16 };
	struct joined *j = o->joined;
	const struct log_header *h = j->header;
	struct pollfd ends[] = { { .fd = j->process, .events = POLLIN },
		                 { .fd = j->again, .events = POLLIN } };
	bool may_wait = o->config.flags & LOG_AWAITS, looks = may_wait || j->process < 0;
	for (int pause = SHORTEST_MS;
	     !(may_wait && __atomic_load_n(&h->awaits, __ATOMIC_ACQUIRE));
	     pause = MIN(2 * pause, LONGEST_MS))
		if (poll(ends, G_N_ELEMENTS(ends), looks ? pause : -1) > 0 ||
		    (j->process < 0 && kill(j->pid, 0) != 0 && errno == ESRCH))
			break;
	if (j->ended)
		__atomic_store_n(j->ended, 1, __ATOMIC_RELEASE);
	if (j->turns >= 0 && !may_wait)
		take_turn(j);
	uint32_t ended = __atomic_load_n(&h->ended, __ATOMIC_ACQUIRE);
	bool by_signal = ended >= log_ended_by(0, 1);
	result->signal = by_signal ? (int)(ended - log_ended_by(0, 1)) + 1 : 0;
	result->status = result->signal ? 128 + result->signal : (int)(ended & 255);
	result->unwanted = h->unwanted;
	result->cleared = h->happened & LOG_CLEARED;
	result->unseen = ended == 0;
	result->became = ends[1].revents != 0;
}
