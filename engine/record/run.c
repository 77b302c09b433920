/*
 * run.c - runs a program under the recording runtime (launch.c, or forked by server.c), and
 * attends to the process up to its end.
 *
 * Knows nothing of traces.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/record/before.h"
#include "engine/record/import/compress.h"
#include "engine/record/run_private.h"

/* Has the program ended? */
static bool has_ended(const struct record_options *o, pid_t pid, int *status)
{
	if (o->server)
		return record_server_ended(o->server, status);
	pid_t done = waitpid(pid, status, WNOHANG);
	return done == pid || (done < 0 && errno != EINTR);
}

/* Waits for the program's end, and meanwhile for a replay to stop before the pair. */
static int wait_for(struct record_options *o, pid_t pid, struct record_result *result)
{
	int status = 0;
	if (!o->stopped && !o->timeout_ms && !o->server) {
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
		return status;
	}
	const struct log_header *header = MAP_FAILED;
	int fd = o->stopped ? record_open_log(o->config.log) : -1;
	if (fd >= 0) {
		header = mmap(NULL, LOG_HEADER, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		close(fd);
	}
	gint64 deadline = o->timeout_ms ? g_get_monotonic_time() + o->timeout_ms * 1000ll : 0;
	bool shown = false;
	int own = o->stopped || o->server ? -1 : (int)syscall(SYS_pidfd_open, pid, 0);
	int process = o->server ? record_server_socket(o->server) : own;
	for (unsigned pause = 200; !has_ended(o, pid, &status);
	     pause = pause < 5000 ? pause * 2 : 5000) {
		if (o->stopped && !shown && header != MAP_FAILED && header->stopped == 1) {
			shown = true;
			o->stopped(o->context, pid);
			((struct log_header *)header)->stopped = 2;
		}
		if (deadline && g_get_monotonic_time() > deadline) {
			result->timed_out = true;
			kill(pid, SIGKILL);
			deadline = 0;
		}
		struct pollfd end = { .fd = process, .events = POLLIN };
		gint64 left = deadline ? (deadline - g_get_monotonic_time()) / 1000 + 1 : 1000;
		if (process < 0)
			g_usleep(pause);
		else
			poll(&end, 1, (int)CLAMP(left, 1, 1000));
	}
	if (own >= 0)
		close(own);
	if (header != MAP_FAILED)
		munmap((void *)header, LOG_HEADER);
	return status;
}

/* Checks of the program, which hold for all of its runs. */
struct checked {
	char *path; /* owned; NULL: not checked yet */
	bool instrumented, clang_name;
};

static bool check(const struct record_options *o, struct checked *c, struct error *error)
{
	return c->path || record_check_program(o->argv[0], &c->path, &c->instrumented,
	                                       &c->clang_name, error);
}

/* Starts a run: a fork of the server, or a new process without a server, or when it cannot
 * fork. */
static bool begin_run(struct record_options *o, struct checked *c, int buffer, pid_t *pid,
                      struct record_result *result, struct error *error)
{
	if (!record_run_before(error))
		return false;
	if (o->server && record_server_fork(o->server, o, buffer, pid, result))
		return true;
	o->server = NULL;
	if (!check(o, c, error))
		return false;
	result->instrumented = c->instrumented;
	if (o->joined)
		return run_join(o, c->clang_name, buffer, error);
	return run_launch(o, c->path, c->clang_name, buffer, pid, error);
}

static void attend(struct record_options *o, pid_t pid, int buffer,
                   struct record_result *result)
{
	if (!o->joined)
		run_pass_to(pid);
	struct compressor *compressor = NULL;
	if (o->running)
		o->running(o->context, buffer);
	if (o->config.flags & LOG_COMPRESSED)
		compressor = compressor_start(&o->config, buffer);
	if (o->joined)
		run_await_joined(o, result);
	else
		run_take_status(result, wait_for(o, pid, result));
	result->ended_us = g_get_monotonic_time();
	compressor_stop(compressor);
	run_pass_to(0);
	result->started = true;
	result->log_error = run_write_rest(&o->config, buffer);
}

/* Has the program begun under the runtime? The system may refuse it, or it may end before a
 * library is loaded. */
static bool has_begun(const struct record_options *o, const struct record_result *result,
                      struct error *error)
{
	if (record_is_log(o->config.log))
		return true;
	char *end = result->unseen   ? g_strdup("a signal")
	            : result->signal ? g_strdup_printf("signal %d (%s)", result->signal,
	                                               strsignal(result->signal))
	                             : g_strdup_printf("exit status %d", result->status);
	error_set(error, o->argv[0], "is the file whole? run it without heddle",
	          "it ended with %s, and the recorder was never in it: nothing was recorded",
	          end);
	g_free(end);
	return false;
}

bool record_start(struct record_options *o, pid_t *pid, int *buffer, struct error *error)
{
	struct record_result result;
	struct checked program = { NULL };
	*pid = -1;
	*buffer = -1;
	if (!run_make_log(o->config.log, sizeof(o->config.log), error))
		return false;
	o->config.version = LOG_VERSION;
	if (!o->config.watchdog_ms)
		o->config.watchdog_ms = RUN_WATCHDOG;
	*buffer = run_make_buffer(&o->config, error);
	bool begun = *buffer >= 0 && begin_run(o, &program, *buffer, pid, &result, error);
	g_free(program.path);
	if (begun)
		return true;
	if (*buffer >= 0)
		close(*buffer);
	*buffer = -1;
	return false;
}

bool record_run(struct record_options *o, struct record_result *result, struct error *error)
{
	struct checked program = { NULL };
	pid_t pid = -1;
	memset(result, 0, sizeof(*result));
	/* a file that is no program leaves no log */
	if ((!o->server && !check(o, &program, error)) ||
	    !run_make_log(o->config.log, sizeof(o->config.log), error)) {
		g_free(program.path);
		return false;
	}
	o->config.version = LOG_VERSION;
	if (!o->config.watchdog_ms)
		o->config.watchdog_ms = RUN_WATCHDOG;
	int buffer = run_make_buffer(&o->config, error);
	struct passing passing;
	if (!o->joined)
		run_begin_passing(&passing);
	if (buffer >= 0 && begin_run(o, &program, buffer, &pid, result, error))
		attend(o, pid, buffer, result);
	g_free(program.path);
	if (!o->joined)
		run_end_passing(&passing);
	result->late = run_late_signals();
	result->interrupted = run_signal(); /* signals are passed on up to here */
	result->aslr_off = o->config.flags & LOG_ASLR_OFF;
	if (buffer >= 0)
		close(buffer);
	bool good = result->started && has_begun(o, result, error);
	if (!good && !g_str_has_prefix(o->config.log, "/proc/"))
		unlink(o->config.log); /* it is empty */
	return good;
}
