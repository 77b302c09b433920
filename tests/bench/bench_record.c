/*
 * bench_record.c - what recording costs beside real ThreadSanitizer, in one run: the program
 * alone, under gcc's own libtsan, and the very same instrumented program under the recording
 * runtime in controlled mode (with values) and in free mode.
 *
 *     bench_record [-l] [-n RUNS] [-w WAYS] PLAIN INSTRUMENTED [ARGS...]
 *
 * PLAIN and INSTRUMENTED are one program built with -O1 -g, and with -O1 -g
 * -fsanitize=thread.  Each way (-w: of r real, a alone, c controlled, f free) is run RUNS times
 * (default 3), in turn; the best counts, and the median is said.  Times are the
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

struct way {
	char letter;
	const char *name;
	bool recorded;
	uint32_t flags;
	struct cost best;
	GArray *all; /* double: the processor time of each run */
};

static void run_once(struct way *way, char **argv, const char *log)
{
	struct rusage before, after;
	getrusage(RUSAGE_CHILDREN, &before);
	gint64 from = g_get_monotonic_time();
	if (way->recorded)
		run_recorded(argv, way->flags, log);
	else
		run_alone(argv);
	double passed = (double)(g_get_monotonic_time() - from) / 1e6;
	getrusage(RUSAGE_CHILDREN, &after);
	double user = seconds(after.ru_utime) - seconds(before.ru_utime);
	double kernel = seconds(after.ru_stime) - seconds(before.ru_stime);
	double both = user + kernel;
	struct cost *best = &way->best;
	if (way->all->len == 0 || both < best->user + best->kernel) {
		best->user = user;
		best->kernel = kernel;
	}
	best->passed = way->all->len == 0 ? passed : MIN(best->passed, passed);
	g_array_append_val(way->all, both);
}

static int compare_doubles(gconstpointer a, gconstpointer b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

static double median(GArray *all)
{
	g_array_sort(all, compare_doubles);
	return g_array_index(all, double, all->len / 2);
}

static void line(struct way *way, struct way *real)
{
	const struct cost *c = &way->best;
	double all = c->user + c->kernel, others = real->best.user + real->best.kernel;
	printf("%-21s %6.3f s = %5.3f user + %5.3f kernel; median %5.3f; %5.2f s passed",
	       way->name, all, c->user, c->kernel, median(way->all), c->passed);
	if (others > 0)
		printf("; %4.2f of ThreadSanitizer's (medians: %4.2f)", all / others,
		       median(way->all) / median(real->all));
	printf("\n");
	if (c->events)
		printf("%-21s %6.1f M events, %.1f bytes each in the log; trace made in %.2f s "
		       "(%.0f ns each)\n",
		       "", (double)c->events / 1e6, (double)c->log_bytes / (double)c->events,
		       c->importing, c->importing * 1e9 / (double)c->events);
}

int main(int argc, char **argv)
{
	int runs = 3;
	int option;
	const char *ways = "racf";
	while ((option = getopt(argc, argv, "+ln:w:")) != -1) {
		log_only |= option == 'l';
		ways = option == 'w' ? optarg : ways;
		runs = option == 'n' ? MAX(atoi(optarg), 1) : runs;
	}
	char **rest = argv + optind;
	if (argc - optind < 2) {
		printf("bench_record needs a program, built twice: see its first lines\n");
		return 0;
	}
	const char *plain = rest[0];
	char **command = rest + 1;
	char *instrumented = command[0];
	char *log = g_strdup_printf("%s/heddle-bench-%d.log", g_get_tmp_dir(), (int)getpid());
	struct way all[] = {
		{ .letter = 'r', .name = "real ThreadSanitizer" },
		{ .letter = 'a', .name = "alone" },
		{ .letter = 'c',
		  .name = "controlled, values",
		  .recorded = true,
		  .flags = LOG_CONTROLLED | LOG_VALUES },
		{ .letter = 'f', .name = "free", .recorded = true, .flags = LOG_VALUES },
	};
	for (unsigned i = 0; i < G_N_ELEMENTS(all); i++)
		all[i].all = g_array_new(FALSE, FALSE, sizeof(double));
	for (int run = 0; run < runs; run++)
		for (unsigned i = 0; i < G_N_ELEMENTS(all); i++) {
			if (!strchr(ways, all[i].letter))
				continue;
			command[0] = all[i].letter == 'a' ? (char *)plain : instrumented;
			run_once(&all[i], command, log);
			if (all[i].recorded && !log_only && run + 1 == runs)
				import(&all[i].best, log);
		}
	for (unsigned i = 0; i < G_N_ELEMENTS(all); i++)
		if (strchr(ways, all[i].letter))
			line(&all[i], &all[0]);
	g_unlink(log);
	g_free(log);
	return 0;
}
