/*
 * server.c - the fork server's parent side (the other is runtime/core/serve.c): keeps the
 * program as it was loaded, from which runs are forked, and its debug information.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "debuginfo/dead.h"
#include "debuginfo/debuginfo.h"
#include "engine/base/file.h"
#include "engine/record/before.h"
#include "engine/record/run_private.h"

struct record_server {
	int socket;    /* to the process that forks: the loaded or the settled one */
	int first;     /* to the loaded process, when another has settled; else -1 */
	pid_t pid;     /* the process as it was loaded */
	pid_t settled; /* the process stopped before the program's code; 0: none */
	bool tried;    /* settling was tried */
	/* kernel_threads: runs have them, not LOG_ONE_THREAD. may_refuse: a run may need them
	 * (false in some tests). outgrown: earlier runs had none, so addresses differ. */
	bool kernel_threads, may_refuse, outgrown;
	unsigned kept; /* runs of the settled process that were not refused */
	bool lost;     /* the server has died, or cannot fork */
	bool instrumented;
	struct log_config config; /* of the server's start */
	struct debug_store *debug;
	/* -- settled: what the process and its copies share with us, see struct log_served */
	int room, output;         /* the memory's file; the file for runs' output, or -1 */
	char *shared;             /* its header and chunk, mapped */
	struct log_header header; /* as runs find it, */
	char *begin;              /* and the first `filled` bytes of the chunk; owned */
	size_t filled;
	int log;           /* the file of logs that have more than one chunk */
	bool runs, killed; /* runs: one of its copies runs; killed: it was sent SIGKILL */
	char *log_path;
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
                                        bool explores, struct error *error)
{
	struct record_options o = {
		.argv = argv, .preload = preload, .bind_now = explores, .stdout_path = output
	};
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
	s->kernel_threads = g_strcmp0(g_getenv("HEDDLE_KERNEL_THREADS"), "1") == 0;
	s->may_refuse = g_strcmp0(g_getenv("HEDDLE_KERNEL_THREADS"), "0") != 0;
	s->first = s->room = s->output = s->log = -1;
	s->config = o.config;
	if (good && explores)
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

/* Releases the memory that the settled process and its copies share. */
static void leave_room(struct record_server *s)
{
	int *owned[] = { &s->room, &s->output, &s->log };
	for (size_t i = 0; i < G_N_ELEMENTS(owned); i++) {
		if (*owned[i] >= 0)
			close(*owned[i]);
		*owned[i] = -1;
	}
	if (s->shared)
		munmap(s->shared, LOG_ROOM_CONFIG);
	s->shared = NULL;
	g_clear_pointer(&s->begin, g_free);
	g_clear_pointer(&s->log_path, g_free);
}

void record_server_free(struct record_server *s)
{
	int status;
	if (s == NULL)
		return;
	record_server_cancel(s);
	leave_room(s);
	if (s->socket >= 0)
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
	char byte = 0, room[CMSG_SPACE(LOG_PASSED * sizeof(int))] = { 0 };
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
	config->version = LOG_VERSION;
	config->watchdog_ms = config->watchdog_ms ? config->watchdog_ms : RUN_WATCHDOG;
	config->flags |= s->config.flags & LOG_ASLR_OFF;
	config->buffer = s->config.buffer;
	config->had_preload = s->config.had_preload;
	config->had_library_path = s->config.had_library_path;
	memcpy(config->dead, s->config.dead, sizeof(config->dead));
	memcpy(config->preload, s->config.preload, sizeof(config->preload));
	memcpy(config->library_path, s->config.library_path, sizeof(config->library_path));
}

/* Make the memory that the settled process shares with the server, and the file that holds its
 * own log until then. */
static bool make_room(struct record_server *s, const char *output)
{
	leave_room(s);
	s->room = memfd_create("heddle-room", MFD_CLOEXEC);
	s->log = file_open_nameless(g_get_tmp_dir());
	s->output = open(output ? output : "/dev/null", O_WRONLY | O_CLOEXEC);
	if (s->room < 0 || s->log < 0 || s->output < 0 ||
	    ftruncate(s->room, LOG_ROOM_CONFIG) != 0 || ftruncate(s->log, LOG_HEADER) != 0)
		return false;
	s->log_path = file_descriptor_path(s->log);
	void *at = mmap(NULL, LOG_ROOM_CONFIG, PROT_READ | PROT_WRITE, MAP_SHARED, s->room, 0);
	s->shared = at == MAP_FAILED ? NULL : at;
	return s->shared != NULL;
}

/* The settled process has put its log there: reads its beginning. */
static void take_room(struct record_server *s, size_t filled)
{
	s->filled = MIN(filled, LOG_CHUNK);
	s->begin = g_memdup2(s->shared + LOG_HEADER, s->filled);
	memcpy(&s->header, s->shared, sizeof(s->header));
	s->header.pid = 0;
}

/* Settles: one child runs to the beginning of main, or to that of the program's constructors
 * (`early`), and later runs are forked there. If that is not possible, the loaded process
 * continues to fork. */
static bool settle(struct record_server *s, const struct record_options *o, bool early)
{
	struct record_options first = { .config = o->config };
	struct log_served child, ready = { 0 };
	int pair[2] = { -1, -1 };
	first.config.flags = (first.config.flags & ~(uint32_t)LOG_REPLAY) | LOG_SETTLE |
	                     (early ? LOG_SETTLE_EARLY : 0) |
	                     (s->kernel_threads ? 0 : LOG_ONE_THREAD);
	first.config.plan_length = first.config.thread_count = 0;
	first.config.answer_count = first.config.input_count = 0;
	first.config.input_bytes = 0;
	if (!make_room(s, o->stdout_path) ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
		return true;
	g_strlcpy(first.config.log, s->log_path, sizeof(first.config.log));
	int buffer = run_make_buffer(&first.config, NULL); /* the config contains its size */
	int passed[LOG_PASSED] = { run_config_file(&first, &first.config, NULL), buffer,
		                   pair[1], s->room, s->output };
	bool sent = passed[0] >= 0 && passed[1] >= 0 &&
	            send_request(s->socket, passed, LOG_PASSED) &&
	            next_answer(s->socket, 0, &child) && child.pid > 0;
	for (int i = 0; i < 3; i++)
		if (passed[i] >= 0)
			close(passed[i]);
	set_timeout(pair[0], STARTS_WITHIN);
	if (sent && next_answer(pair[0], 0, &ready) && ready.pid > 0) {
		s->settled = ready.pid;
		s->first = s->socket;
		s->socket = pair[0];
		take_room(s, (size_t)ready.status);
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
	int passed[3] = { run_config_file(o, &o->config, NULL), buffer, -1 };
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

/* ---- runs that the settled process forks ---- */

bool record_server_settles(struct record_server *s, const struct record_options *o)
{
	struct record_options first = *o;
	if (record_before_command() != NULL)
		return false; /* the program would have read files before the command ran */
	if (s->lost || s->settled > 0 || s->tried)
		return !s->lost && s->settled > 0;
	s->tried = true;
	inherit(s, &first.config);
	for (;;) {
		for (int early = 0; early < 2 && !s->lost && !s->settled; early++)
			s->lost = !settle(s, &first, early);
		if (s->lost || s->settled || s->kernel_threads)
			return !s->lost && s->settled > 0;
		s->kernel_threads = true;
	}
}

/* The next run settles another process, whose copies have kernel threads. */
static void unsettle(struct record_server *s)
{
	struct log_served child;
	kill(s->settled, SIGKILL);
	close(s->socket);
	s->socket = s->first;
	s->first = -1;
	s->settled = 0;
	s->tried = false;
	s->kernel_threads = true;
	s->lost = !next_answer(s->socket, 0, &child); /* at its end */
}

void record_server_use_kernel_threads(struct record_server *s)
{
	s->kernel_threads = true;
}

bool record_server_has_kernel_threads(const struct record_server *s)
{
	return s->kernel_threads;
}

bool record_server_outgrown(const struct record_server *s)
{
	return s->outgrown;
}

static struct log_header *header_of(const struct record_server *s)
{
	return (void *)s->shared;
}

static bool has_more_chunks(const struct record_server *s)
{
	return header_of(s)->chunks > s->header.chunks;
}

/* The number of bytes that the run has written into its chunk: hardly any nonzero bytes are
 * behind them. */
static size_t written(const struct record_server *s)
{
	enum { PAGE = 4096 };
	static const char zeros[PAGE];
	size_t at = MAX(header_of(s)->filled, s->filled);
	if (has_more_chunks(s) || header_of(s)->status == LOG_RUNNING)
		return LOG_CHUNK;
	while (at + PAGE < LOG_CHUNK && memcmp(s->shared + LOG_HEADER + at, zeros, PAGE) != 0)
		at += PAGE;
	return at + PAGE < LOG_CHUNK ? at : LOG_CHUNK;
}

/* Restores header and chunk as the settled process left them, and empties the file of a log
 * with more chunks. */
static void clear_room(struct record_server *s)
{
	char *chunk = s->shared + LOG_HEADER;
	size_t end = written(s);
	if (has_more_chunks(s) &&
	    (ftruncate(s->log, 0) != 0 || ftruncate(s->log, LOG_HEADER) != 0))
		s->lost = true;
	if (end < LOG_CHUNK)
		memset(chunk + s->filled, 0, end - s->filled);
	else if (fallocate(s->room, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, LOG_HEADER,
	                   LOG_CHUNK) != 0)
		memset(chunk, 0, LOG_CHUNK);
	memcpy(chunk, s->begin, s->filled);
	memset(s->shared, 0, LOG_HEADER);
	memcpy(s->shared, &s->header, sizeof(s->header));
}

static bool put(int fd, const void *bytes, size_t size, size_t at)
{
	return size == 0 || pwrite(fd, bytes, size, (off_t)at) == (ssize_t)size;
}

/* Empties the file for the run's output. */
static bool clear_output(const struct record_server *s)
{
	return !record_server_printed(s) ||
	       (ftruncate(s->output, 0) == 0 && lseek(s->output, 0, SEEK_SET) == 0);
}

bool record_server_begin(struct record_server *s, struct record_options *o)
{
	struct log_config *c = &o->config;
	const size_t turns = offsetof(struct log_config, turns);
	inherit(s, c);
	c->buffer_chunks = 1;
	g_strlcpy(c->log, s->log_path, sizeof(c->log));
	clear_room(s);
	bool put_all = put(s->room, c, LOG_CONFIG_OWN, LOG_ROOM_CONFIG) &&
	               put(s->room, c->turns, c->turn_count * sizeof(c->turns[0]),
	                   LOG_ROOM_CONFIG + turns) &&
	               put(s->room, o->plan, o->plan_bytes, LOG_ROOM_CONFIG + sizeof(*c));
	s->killed = false;
	s->lost |= !put_all || !clear_output(s) || send(s->socket, "", 1, MSG_NOSIGNAL) != 1;
	s->runs = !s->lost;
	return s->runs;
}

/* Writes the part of the log that is only in memory to the file, after its full chunks. */
static int complete_log(struct record_server *s)
{
	const struct log_chunk *chunk = (const void *)(s->shared + LOG_HEADER);
	bool good = file_write_all(s->log, s->shared, LOG_HEADER, 0) &&
	            (chunk->magic != LOG_CHUNK_MAGIC ||
	             file_write_all(s->log, chunk, LOG_CHUNK,
	                            log_chunk_offset(header_of(s)->flags, chunk->sequence)));
	return good ? 0 : errno;
}

/* A copy may have reached its run's end, and answered, before it is killed: then the valid
 * answer is the settled process's, at the copy's own end. */
static bool kill_run(struct record_server *s, int signal)
{
	pid_t pid = (pid_t)header_of(s)->pid;
	bool sent = pid > 0 && kill(pid, signal) == 0;
	s->killed |= sent && signal == SIGKILL;
	return sent;
}

/* The longest wait for the run's end until the next look at its progress, at signals to this
 * process and at the deadline (0: none), in milliseconds. */
static int patience(const struct record_server *s, gint64 deadline, gint64 now,
                    bool signal_is_due)
{
	const int most = s->kernel_threads ? 1000 : 60;
	if (signal_is_due) /* the copy has not begun */
		return 1;
	return deadline ? (int)CLAMP((deadline - now) / 1000 + 1, 1, most) : most;
}

/* Is it known from the way in which a run without kernel threads ended that it cannot be made
 * so? It ended before it began, or by a trap that was not handled. (A signal to this process
 * may have ended it as well, where it went to the process group.) */
static bool ended_by_refusal(const struct record_server *s, int status)
{
	return !s->kernel_threads && !s->killed && !run_signal() &&
	       (header_of(s)->pid == 0 || (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS));
}

/* Progress of a run. If threads are contexts of one kernel thread, no other thread can take
 * the token from one that spins in uninstrumented code: has the run made no step for long? */
struct standing {
	uint64_t steps;
	gint64 since, ask; /* microseconds; ask: time without a step until the next question */
};
static bool stands_still(struct record_server *s, struct standing *seen, gint64 now)
{
	enum { SOON = 50000, LONG = 4000000 };
	uint64_t steps = header_of(s)->steps;
	if (seen->since == 0 || seen->steps != steps)
		*seen = (struct standing){ steps, now, SOON };
	if (!s->kernel_threads && now - seen->since > seen->ask) {
		kill_run(s, SIGTRAP); /* is it in a loop without end? (sched_endless.c) */
		seen->ask *= 2;
	}
	return !s->kernel_threads && now - seen->since > LONG;
}

static bool is_refused(const struct record_server *s)
{
	return header_of(s)->happened & LOG_REFUSED;
}

enum record_end record_server_end(struct record_server *s, unsigned timeout_ms,
                                  struct record_result *result)
{
	gint64 deadline = timeout_ms ? g_get_monotonic_time() + timeout_ms * 1000ll : 0;
	int status = 0, passed_on = 0;
	struct standing standing = { 0 };
	struct passing passing;
	run_begin_passing(&passing);
	while (!record_server_ended(s, &status)) {
		gint64 now = g_get_monotonic_time();
		if (stands_still(s, &standing, now)) {
			header_of(s)->happened |= LOG_REFUSED;
			kill_run(s, SIGKILL);
		}
		struct pollfd end = { .fd = s->socket, .events = POLLIN };
		if (deadline && now > deadline) {
			result->timed_out = true;
			kill_run(s, SIGKILL);
		}
		int number = run_signal();
		if (number != passed_on && kill_run(s, number))
			passed_on = number;
		poll(&end, 1, patience(s, deadline, now, run_signal() != passed_on));
	}
	run_end_passing(&passing);
	result->interrupted = run_signal();
	s->runs = false;
	if (ended_by_refusal(s, status))
		header_of(s)->happened |= LOG_REFUSED;
	if (is_refused(s) && s->may_refuse) {
		s->outgrown = s->kept > 0;
		unsettle(s);
		return RECORD_REFUSED;
	}
	s->kept++;
	result->ended_us = g_get_monotonic_time();
	result->started = true;
	result->instrumented = s->instrumented;
	result->aslr_off = s->config.flags & LOG_ASLR_OFF;
	run_take_status(result, status);
	if (has_more_chunks(s))
		result->log_error = complete_log(s);
	return header_of(s)->pid != 0 && !is_refused(s) ? RECORD_ENDED : RECORD_NOT_BEGUN;
}

const struct log_header *record_server_header(const struct record_server *s)
{
	return header_of(s);
}

bool record_server_printed(const struct record_server *s)
{
	return lseek(s->output, 0, SEEK_END) != 0;
}

void record_server_cancel(struct record_server *s)
{
	struct pollfd end = { .fd = s->socket, .events = POLLIN };
	int status;
	while (s->runs && !record_server_ended(s, &status)) {
		kill_run(s, SIGKILL);
		poll(&end, 1, 1); /* it has no pid yet, or is about to end */
	}
	s->runs = false;
}

struct trace *record_server_trace(struct record_server *s, struct record_facts *facts,
                                  struct error *error)
{
	if (!has_more_chunks(s))
		return record_import_memory(s->shared, LOG_ROOM_CONFIG, s->log_path,
		                            "the replay", facts, error);
	return record_import(s->log_path, "the replay", facts, NULL, error);
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
		return served.pid != 0 || !s->killed; /* kill_run */
	}
	if (errno == EAGAIN || errno == EWOULDBLOCK)
		return false;
	s->lost = true; /* it was killed, presumably with the run */
	*status = SIGKILL;
	return true;
}
