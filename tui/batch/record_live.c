/*
 * record_live.c - see record_live.h. A thread takes each event once, as soon as it is recorded
 * (running.h), through happens-before and EDC (online.h), and prints a race, or a use after
 * free, when its second event has come: a race of a part of a run is one of the run.
 */
#include "tui/batch/record_live.h"

#include <stdio.h>
#include <string.h>

#include "debuginfo/debuginfo.h"
#include "engine/commute/rd2.h"
#include "engine/base/hash.h"
#include "engine/finding_key.h"
#include "engine/predict/pairs/online.h"
#include "engine/predict/race.h"
#include "engine/record/running.h"
#include "tui/batch/command.h"
#include "tui/batch/print.h"
#include "tui/batch/suppressions.h"

enum { LOOK_US = 20000, SECTIONS = 4 /* as in the thesis */ };

struct record_live {
	const char *suppressions; /* borrowed, as are these */
	const struct suppressions *also;
	const char *heading;   /* NULL: none, or printed */
	GHashTable *sites;     /* pairs of sites that have raced, as pointers */
	GHashTable *freed;     /* the same of an access and a free of its block, or two */
	GHashTable *predicted; /* the same of those by EDC */
	GHashTable *printed;   /* keys of findings */
	guint races, by_edc;   /* of these */
	struct specs *specs;   /* the shipped ones; NULL: not yet needed */
	struct debug_store *debug;
	struct running *running;
	struct online *online, *edc;
	GThread *thread;
	gint stop; /* atomic */
};

static void print_new(struct record_live *l, const struct trace *t, struct finding *f,
                      const uint32_t numbers[2])
{
	struct suppressions *suppressions = NULL;
	char *key = finding_key(t, f);
	suppressions_add_recorded(&suppressions, t);
	if (g_hash_table_contains(l->printed, key) ||
	    suppressions_find(suppressions, t, f) != NULL ||
	    suppressions_find(l->also, t, f) != NULL) {
		g_free(key);
	} else {
		progress_done();
		if (l->heading)
			fprintf(stderr, "%s\n", l->heading);
		l->heading = NULL;
		report_print_pair(stderr, t, f, numbers);
		fflush(stderr);
		g_hash_table_add(l->printed, key);
		l->races += f->kind == FINDING_DATA_RACE;
		l->by_edc += strcmp(f->by, "edc") == 0;
	}
	suppressions_free(suppressions);
}

/* An access of a block and a free of it, or two frees, by the specification of memory; `edc`:
 * it is by EDC alone. NULL and `error`. */
static struct finding *freed_finding(struct record_live *l, struct trace *t,
                                     const uint32_t events[2], bool edc, struct error *error)
{
	struct call_scratch scratch[2];
	struct call pair[2];
	bool commute;
	if (l->specs == NULL)
		l->specs = specs_open(NULL, error);
	struct model *m = l->specs ? model_new(t, l->specs, NULL, error) : NULL;
	if (m == NULL)
		return NULL;
	struct finding *f = finding_new(FINDING_USE_AFTER_FREE, events[0], events[1]);
	f->verdict = VERDICT_CANDIDATE;
	f->count = 1;
	f->by = edc ? "edc" : "hb";
	f->note = edc ? "ordered in this run by locks alone (edc)" : NULL;
	if (model_common_calls(m, events[0], events[1], pair, scratch, &commute))
		commute_describe(m, f, &pair[0], &pair[1]);
	model_free(m);
	return f;
}

/* `edc`: by EDC, after happens-before has looked at the same event. */
static void on_pair(struct record_live *l, const struct online_access *first,
                    const struct flow_event *x, struct running_memory memory, bool edc)
{
	uint32_t a = running_site(first->point);
	uint32_t b = running_site(x->point);
	bool freed = memory.block != NONE;
	gpointer sites = (gpointer)((uintptr_t)MIN(a, b) << 32 | MAX(a, b));
	GHashTable *seen = edc ? l->predicted : freed ? l->freed : l->sites;
	if (!g_hash_table_add(seen, sites) || (edc && g_hash_table_contains(l->freed, sites)))
		return;
	struct record_facts facts = { .debug = l->debug, .suppressions = l->suppressions };
	struct running_access pair[2] = { { first->thread, first->point },
		                          { x->thread, x->point } };
	uint32_t events[2], numbers[2] = { first->time - 1, x->number };
	struct error error;
	struct trace *t = running_pair(l->running, memory, pair, &facts, events, &error);
	struct finding *f =
	        t == NULL ? NULL
	        : freed   ? freed_finding(l, t, events, edc, &error)
	                  : race_finding(t, events[0], events[1], VERDICT_CANDIDATE, "hb");
	if (f != NULL)
		print_new(l, t, f, numbers);
	else
		say_error(&error);
	finding_free(f);
	trace_close(t);
	record_facts_release(&facts);
}

static void on_race(void *context, const struct online_access *first,
                    const struct flow_event *x, uint32_t variable)
{
	on_pair(context, first, x, (struct running_memory){ variable, NONE }, false);
}

static void on_use_after_free(void *context, const struct online_access *first,
                              const struct flow_event *x, uint32_t block, uint32_t variable)
{
	on_pair(context, first, x, (struct running_memory){ variable, block }, false);
}

static void on_predicted(void *context, const struct online_access *first,
                         const struct flow_event *x, uint32_t block, uint32_t variable)
{
	on_pair(context, first, x, (struct running_memory){ variable, block }, true);
}

static void on_event(void *context, const struct flow_event *x)
{
	struct record_live *l = context;
	online_event(l->online, x);
	online_event(l->edc, x);
}

static void on_split(void *context, uint32_t from, uint32_t to)
{
	struct record_live *l = context;
	online_split(l->online, from, to);
	online_split(l->edc, from, to);
}

static void on_renew(void *context, uint32_t variable)
{
	struct record_live *l = context;
	online_renew(l->online, variable);
	online_renew(l->edc, variable);
}

struct record_live *record_live_new(const char *suppressions, const struct suppressions *also)
{
	struct record_live *l = g_new0(struct record_live, 1);
	l->suppressions = suppressions;
	l->also = also;
	l->sites = g_hash_table_new(hash_pointer, NULL);
	l->freed = g_hash_table_new(hash_pointer, NULL);
	l->predicted = g_hash_table_new(hash_pointer, NULL);
	l->printed = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	l->debug = debug_store_new();
	return l;
}

void record_live_free(struct record_live *l)
{
	if (l == NULL)
		return;
	g_hash_table_destroy(l->sites);
	g_hash_table_destroy(l->freed);
	g_hash_table_destroy(l->predicted);
	if (l->specs)
		specs_free(l->specs);
	g_hash_table_destroy(l->printed);
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
	g_hash_table_remove_all(l->sites); /* numbers of the recording's own */
	g_hash_table_remove_all(l->freed);
	g_hash_table_remove_all(l->predicted);
	l->stop = 0;
	l->running = running_new(log, buffer, &sink);
	l->online = online_new(&(struct online_sink){ l, on_race, on_use_after_free });
	l->edc = online_new_edc(&(struct online_sink){ l, NULL, on_predicted }, SECTIONS);
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
	g_clear_pointer(&l->running, running_free);
	g_clear_pointer(&l->online, online_free);
	g_clear_pointer(&l->edc, online_free);
}

struct session_watch record_live_watch(struct record_live *l, const char *heading)
{
	l->heading = heading;
	return (struct session_watch){ begin, end, l };
}

void record_live_end(struct record_live *l, const char *trace)
{
	g_autofree char *name = g_path_get_basename(trace);
	guint uses = g_hash_table_size(l->printed) - l->races - l->by_edc;
	g_autofree char *freed =
	        uses == 0 ? g_strdup("")
	                  : g_strdup_printf(" and %u use%s after free", uses, plural(uses));
	g_autofree char *more = l->by_edc == 0 ? g_strdup("")
	                                       : g_strdup_printf(", %u use%s after free by edc",
	                                                         l->by_edc, plural(l->by_edc));
	fprintf(stderr,
	        "%s: %u race%s%s by hb%s, not complete: 'heddle races' looks at other "
	        "schedules\n",
	        printable(name), l->races, plural(l->races), freed, more);
}
