/*
 * record_live.c - see record_live.h. A thread takes each event once, as soon as it is recorded
 * (running.h), through happens-before (online.h), and prints a race when its second access has
 * come: a race of a part of a run is one of the run.
 */
#include "tui/batch/record_live.h"

#include <stdio.h>
#include <unistd.h>

#include "debuginfo/debuginfo.h"
#include "engine/base/hash.h"
#include "engine/finding_key.h"
#include "engine/predict/pairs/online.h"
#include "engine/predict/race.h"
#include "engine/record/running.h"
#include "tui/batch/command.h"
#include "tui/batch/print.h"
#include "tui/batch/suppressions.h"

enum { LOOK_US = 20000 };

struct record_live {
	const char *suppressions; /* borrowed */
	GHashTable *sites;        /* pairs of sites that have raced, as pointers */
	GHashTable *printed;      /* keys of findings */
	struct debug_store *debug;
	struct running *running;
	struct online *online;
	GThread *thread;
	gint stop; /* atomic */
};

static void print_new(struct record_live *l, const struct trace *t, const uint32_t events[2],
                      const uint32_t numbers[2])
{
	struct suppressions *suppressions = NULL;
	struct finding *f = race_finding(t, events[0], events[1], VERDICT_CANDIDATE, "hb");
	char *key = finding_key(t, f);
	suppressions_add_recorded(&suppressions, t);
	if (g_hash_table_contains(l->printed, key) ||
	    suppressions_find(suppressions, t, f) != NULL) {
		g_free(key);
	} else {
		report_print_pair(t, f, numbers);
		fflush(stdout);
		g_hash_table_add(l->printed, key);
	}
	suppressions_free(suppressions);
	finding_free(f);
}

static void on_race(void *context, const struct online_access *first,
                    const struct flow_event *x, uint32_t variable)
{
	struct record_live *l = context;
	uint32_t a = running_site(first->point);
	uint32_t b = running_site(x->point);
	gpointer sites = (gpointer)((uintptr_t)MIN(a, b) << 32 | MAX(a, b));
	if (!g_hash_table_add(l->sites, sites))
		return;
	struct record_facts facts = { .debug = l->debug, .suppressions = l->suppressions };
	struct running_access pair[2] = { { first->thread, first->point },
		                          { x->thread, x->point } };
	uint32_t events[2], numbers[2] = { first->time - 1, x->number };
	struct error error;
	struct trace *t = running_pair(l->running, variable, pair, &facts, events, &error);
	if (t)
		print_new(l, t, events, numbers);
	else
		say_error(&error);
	trace_close(t);
	record_facts_release(&facts);
}

static void on_event(void *context, const struct flow_event *x)
{
	struct record_live *l = context;
	online_event(l->online, x);
}

static void on_split(void *context, uint32_t from, uint32_t to)
{
	struct record_live *l = context;
	online_split(l->online, from, to);
}

static void on_renew(void *context, uint32_t variable)
{
	struct record_live *l = context;
	online_renew(l->online, variable);
}

struct record_live *record_live_new(const char *suppressions)
{
	struct record_live *l = g_new0(struct record_live, 1);
	l->suppressions = suppressions;
	l->sites = g_hash_table_new(hash_pointer, NULL);
	l->printed = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	l->debug = debug_store_new();
	l->online = online_new(on_race, l);
	return l;
}

void record_live_free(struct record_live *l)
{
	if (l == NULL)
		return;
	g_hash_table_destroy(l->sites);
	g_hash_table_destroy(l->printed);
	running_free(l->running);
	online_free(l->online);
	debug_store_free(l->debug);
	g_free(l);
}

static gpointer follow(gpointer context)
{
	struct record_live *l = context;
	while (!g_atomic_int_get(&l->stop)) {
		if (!running_look(l->running))
			g_usleep(LOOK_US);
	}
	return NULL;
}

static void begin(void *context, const char *log, int buffer)
{
	struct record_live *l = context;
	struct running_sink sink = { l, on_event, on_split, on_renew };
	fflush(stdout);
	dup2(STDERR_FILENO, STDOUT_FILENO); /* the program has its own */
	l->running = running_new(log, buffer, &sink);
	if (l->running)
		l->thread = g_thread_try_new("live", follow, l, NULL);
}

static void end(void *context)
{
	struct record_live *l = context;
	g_atomic_int_set(&l->stop, 1);
	if (l->thread)
		g_thread_join(l->thread);
	l->thread = NULL;
	if (l->running)
		running_look(l->running); /* the rest */
}

struct session_watch record_live_watch(struct record_live *l)
{
	return (struct session_watch){ begin, end, l };
}

void record_live_end(struct record_live *l, const char *trace)
{
	g_autofree char *name = g_path_get_basename(trace);
	guint count = g_hash_table_size(l->printed);
	printf("%s: %u race%s by hb, not complete: 'heddle races' looks at other schedules\n",
	       printable(name), count, count == 1 ? "" : "s");
	fflush(stdout);
}
