/*
 * record_live.c - see record_live.h. A thread makes a trace of what has been recorded so far
 * (so_far.h), again and again, and prints the races by happens-before that it has not printed
 * yet: a race of a part of a run is one of the run. Not more often than leaves most of a
 * processor to others: the recording is read from its beginning each time. So a race comes
 * at the next pause of the program, and without a pause within a few times what it takes to
 * read the recording.
 */
#include "tui/batch/record_live.h"

#include <stdio.h>
#include <unistd.h>

#include "debuginfo/debuginfo.h"
#include "engine/base/file.h"
#include "engine/finding_key.h"
#include "engine/predict/predict.h"
#include "engine/record/so_far.h"
#include "tui/batch/print.h"
#include "tui/batch/suppressions.h"

enum {
	LOOK_US = 50000,
	PAUSE_LOOKS = 2,    /* looks without news: the program has paused */
	LEAST_US = 1000000, /* between two analyses of a program that does not pause */
	SHARE = 4,          /* they take one part in so many, beside a pause */
};

struct record_live {
	const char *suppressions; /* borrowed */
	GHashTable *printed;      /* keys of findings */
	struct debug_store *debug;
	struct so_far *so_far;
	GThread *thread;
	gint stop; /* atomic */
};

struct record_live *record_live_new(const char *suppressions)
{
	struct record_live *l = g_new0(struct record_live, 1);
	l->suppressions = suppressions;
	l->printed = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	l->debug = debug_store_new();
	return l;
}

void record_live_free(struct record_live *l)
{
	if (l == NULL)
		return;
	g_hash_table_destroy(l->printed);
	debug_store_free(l->debug);
	g_free(l);
}

static bool goes_on(void *context, double fraction, const char *what)
{
	struct record_live *l = context;
	return !g_atomic_int_get(&l->stop);
}

static void print_new(struct record_live *l, const struct report *r,
                      const struct suppressions *suppressions)
{
	for (guint i = 0; i < r->findings->len; i++) {
		const struct finding *f = r->findings->pdata[i];
		char *key = finding_key(r->trace, f);
		bool wanted = !g_hash_table_contains(l->printed, key) &&
		              suppressions_find(suppressions, r->trace, f) == NULL;
		if (wanted)
			report_print_finding(r->trace, f);
		if (wanted)
			g_hash_table_add(l->printed, key);
		else
			g_free(key);
	}
	fflush(stdout);
}

/* The races of a trace, or of its recording so far. */
static void analyse(struct record_live *l, struct trace *t, const struct progress *progress)
{
	struct suppressions *suppressions = NULL;
	struct race_options options;
	struct error error;
	race_options_init(&options);
	options.analysis = ANALYSIS_HB;
	suppressions_add_recorded(&suppressions, t);
	struct report *r = races_find(t, &options, progress, &error);
	if (r)
		print_new(l, r, suppressions);
	report_free(r);
	suppressions_free(suppressions);
}

static void look(struct record_live *l)
{
	struct progress progress = { goes_on, l };
	struct record_facts facts = { .debug = l->debug, .suppressions = l->suppressions };
	struct error error;
	int log = so_far_copy(l->so_far);
	g_autofree char *path = log < 0 ? NULL : file_descriptor_path(log);
	struct trace *t =
	        path ? record_import(path, "the recording so far", &facts, &progress, &error)
	             : NULL;
	if (t)
		analyse(l, t, &progress);
	trace_close(t);
	record_facts_release(&facts);
	if (log >= 0)
		close(log);
}

static gpointer follow(gpointer context)
{
	struct record_live *l = context;
	uint64_t analysed = 0, before = 0;
	gint64 ended = 0, took = 0;
	guint quiet = 0;
	while (!g_atomic_int_get(&l->stop)) {
		g_usleep(LOOK_US);
		uint64_t length = so_far_length(l->so_far);
		gint64 now = g_get_monotonic_time(), since = now - ended;
		quiet = length == before ? quiet + 1 : 0;
		before = length;
		bool due = quiet >= PAUSE_LOOKS ? since >= took
		                                : since >= MAX(LEAST_US, (SHARE - 1) * took);
		if (length == 0 || length == analysed || !due)
			continue;
		look(l);
		analysed = length;
		ended = g_get_monotonic_time();
		took = ended - now;
	}
	return NULL;
}

static void begin(void *context, const char *log, int buffer)
{
	struct record_live *l = context;
	fflush(stdout);
	dup2(STDERR_FILENO, STDOUT_FILENO); /* the program has its own */
	l->so_far = so_far_new(log, buffer);
	if (l->so_far)
		l->thread = g_thread_try_new("live", follow, l, NULL);
}

static void end(void *context)
{
	struct record_live *l = context;
	g_atomic_int_set(&l->stop, 1);
	if (l->thread)
		g_thread_join(l->thread);
	l->thread = NULL;
	g_clear_pointer(&l->so_far, so_far_free);
}

struct session_watch record_live_watch(struct record_live *l)
{
	return (struct session_watch){ begin, end, l };
}

void record_live_end(struct record_live *l, const char *trace)
{
	struct error error;
	struct trace *t = trace_open(trace, NULL, NULL, &error);
	if (t == NULL)
		return;
	analyse(l, t, NULL);
	guint count = g_hash_table_size(l->printed);
	printf("%s: %u race%s by hb, not complete: 'heddle races' looks at other schedules\n",
	       trace_name(t), count, count == 1 ? "" : "s");
	fflush(stdout);
	trace_close(t);
}
