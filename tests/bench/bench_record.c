/*
 * bench_record.c - what recording costs beside real ThreadSanitizer, in one run: the program
 * alone, under gcc's own libtsan, and the very same instrumented program under the recording
 * runtime in controlled mode (with values) and in free mode.
 *
 *     bench_record [-l] [-n RUNS] PLAIN INSTRUMENTED [ARGS...]
 *
 * PLAIN and INSTRUMENTED are one program built with -O1 -g, and with -O1 -g
 * -fsanitize=thread.  Each way is run RUNS times (default 3); the best counts.  Times are the
 * program's own processor time and the time that passed; making the trace of the log is a
 * line of its own (-l: is left out).  Without arguments there is nothing to measure, and it
 * says so.
 */
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/record/record.h"

struct cost {
	double user, kernel, passed;
	uint64_t log_bytes, events;
	double importing; /* processor time */
};

static bool log_only;

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static void run_alone(char **argv)
{
	pid_t pid = fork();
	if (pid == 0) {
		int fd = open("/dev/null", O_WRONLY);
		if (fd < 0 || dup2(fd, 1) < 0 || dup2(fd, 2) < 0)
			_exit(126);
		execvp(argv[0], argv);
		_exit(127);
	}
	int status = 0;
	if (pid < 0 || waitpid(pid, &status, 0) < 0 ||
	    (WIFEXITED(status) && WEXITSTATUS(status) == 127)) {
		fprintf(stderr, "bench_record: cannot run %s\n", argv[0]);
		exit(2);
	}
}

static void fail(const struct error *e)
{
	fprintf(stderr, "bench_record: %s: %s\n", e->where, e->what);
	exit(2);
}

static void run_recorded(char **argv, uint32_t flags, const char *log)
{
	struct error e;
	struct record_result result;
	struct record_options o = { .argv = argv, .stdout_path = "/dev/null" };
	o.config.flags = flags;
	o.config.seed = 1;
	g_strlcpy(o.config.log, log, sizeof(o.config.log));
	if (!record_run(&o, &result, &e))
		fail(&e);
}

/* The log's events, and how long it takes to make a trace of them. */
static void import(struct cost *c, const char *log)
{
	struct error e;
	GStatBuf status;
	if (g_stat(log, &status) == 0)
		c->log_bytes = (uint64_t)status.st_size;
	struct rusage before, after;
	getrusage(RUSAGE_SELF, &before);
	struct trace *t = record_import(log, log, NULL, NULL, &e);
	if (!t)
		fail(&e);
	getrusage(RUSAGE_SELF, &after);
	c->importing = seconds(after.ru_utime) - seconds(before.ru_utime) +
	               seconds(after.ru_stime) - seconds(before.ru_stime);
	c->events = t->events_count;
	trace_close(t);
}

/* flags 0: alone. */
static struct cost measure(char **argv, bool recorded, uint32_t flags, int runs)
{
	struct cost best = { .passed = 1e9 };
	char *log = g_strdup_printf("%s/heddle-bench-%d.log", g_get_tmp_dir(), (int)getpid());
	for (int i = 0; i < runs; i++) {
		struct rusage before, after;
		getrusage(RUSAGE_CHILDREN, &before);
		gint64 from = g_get_monotonic_time();
		if (recorded)
			run_recorded(argv, flags, log);
		else
			run_alone(argv);
		double passed = (double)(g_get_monotonic_time() - from) / 1e6;
		getrusage(RUSAGE_CHILDREN, &after);
		double user = seconds(after.ru_utime) - seconds(before.ru_utime);
		double kernel = seconds(after.ru_stime) - seconds(before.ru_stime);
		if (i == 0 || user + kernel < best.user + best.kernel) {
			best.user = user;
			best.kernel = kernel;
		}
		best.passed = MIN(best.passed, passed);
	}
	if (recorded && !log_only)
		import(&best, log);
	g_unlink(log);
	g_free(log);
	return best;
}

static void line(const char *what, const struct cost *c, const struct cost *real)
{
	double all = c->user + c->kernel;
	printf("%-22s %8.2f s = %6.2f user + %5.2f kernel; %6.2f s passed; %5.2f of "
	       "ThreadSanitizer's\n",
	       what, all, c->user, c->kernel, c->passed,
	       all / MAX(real->user + real->kernel, 1e-9));
	if (c->events)
		printf("%-22s %8.1f M events, %.1f bytes each in the log; trace made in %.2f s "
		       "(%.0f ns each)\n",
		       "", (double)c->events / 1e6, (double)c->log_bytes / (double)c->events,
		       c->importing, c->importing * 1e9 / (double)c->events);
}

int main(int argc, char **argv)
{
	int runs = 3;
	int option;
	while ((option = getopt(argc, argv, "+ln:")) != -1) {
		log_only |= option == 'l';
		runs = option == 'n' ? MAX(atoi(optarg), 1) : runs;
	}
	char **rest = argv + optind;
	if (argc - optind < 2) {
		printf("bench_record needs a program, built twice: see its first lines\n");
		return 0;
	}
	char **plain = rest, **instrumented = rest + 1;
	struct cost real = measure(instrumented, false, 0, runs);
	char *program = instrumented[0];
	instrumented[0] = plain[0];
	struct cost alone = measure(instrumented, false, 0, runs);
	instrumented[0] = program;
	uint32_t controlled = LOG_CONTROLLED | LOG_VALUES;
	struct cost exact = measure(instrumented, true, controlled, runs);
	struct cost free_mode = measure(instrumented, true, LOG_VALUES, runs);
	line("alone", &alone, &real);
	line("real ThreadSanitizer", &real, &real);
	line("controlled, values", &exact, &real);
	line("free", &free_mode, &real);
	return 0;
}
