/*
 * record_live.c - see record_live.h. Each event goes once, soon after it is recorded
 * (running.h), through happens-before and EDC (online.h), and prints a race, a use after free
 * or an order violation when its second event has come, or has left the locks that it has in
 * common with the first: a race of a part of a run is one of the run.
 */
#include "tui/batch/record_live.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "debuginfo/debuginfo.h"
#include "engine/commute/live_calls.h"
#include "engine/commute/rd2.h"
#include "engine/base/hash.h"
#include "engine/finding_key.h"
#include "engine/predict/pairs/online.h"
#include "engine/predict/race.h"
#include "engine/record/import/running.h"
#include "engine/trace/own_code.h"
#include "engine/trace/own_site.h"
#include "tui/batch/command.h"
#include "tui/batch/print/print.h"
#include "tui/batch/suppressions.h"

enum { SECTIONS = 4 /* as in the thesis */ };

struct record_live {
	const char *suppressions; /* borrowed, as are these */
	const struct suppressions *also;
	const char *heading; /* or NULL: findings are printed whole, not in a line each */
	bool headed;         /* the heading is printed */
	/* The numbers of places in the user's own files (own_site.h), as pointers: by the
	 * names of these, by the points whose trace was made, and by the sites that are such
	 * a place whoever calls. */
	GHashTable *named, *of_point, *of_site;
	GHashTable *places;    /* pairs of places that have raced, as pointers */
	GHashTable *freed;     /* such pairs of an access and a free of its block, or of two
	                        * frees */
	GHashTable *predicted; /* the same of those by EDC */
	GHashTable
	        *turned; /* pairs of places of calls in the wrong order in another schedule */
	GHashTable
	        *printed; /* keys of findings: those printed, and those known from elsewhere */
	guint races, uses, by_edc, violations; /* printed; uses after free: by happens-before */
	const GPtrArray *spec_files;           /* or NULL */
	struct specs *specs; /* specifications, with the shipped ones; NULL: not
	                      * needed so far */
	struct debug_store *debug;
	struct running *running; /* borrowed, while a program runs */
	struct online *online, *edc;
	struct live_calls *calls;
	bool filtered, variables, compared; /* record_live_filtered */
	bool no_edc, silent;
	bool segments; /* the program does compare its accesses */
	json_t *kept;  /* findings, for a report; NULL: not wanted */
	bool traced;   /* with their numbers in the trace */
};

static void print_one(struct record_live *l, const struct trace *t, struct finding *f,
                      const uint32_t numbers[2])
{
	progress_done();
	if (l->heading && !l->headed)
		fprintf(stderr, "%s\n", l->heading);
	l->headed = true;
	if (l->heading) {
		g_autofree char *sentence = finding_sentence(t, f);
		fprintf(stderr, "    %s: %s\n", finding_kind_word(f->kind), sentence);
	} else {
		report_print_pair(stderr, t, f, numbers);
	}
	fflush(stderr);
}

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
		if (!l->silent)
			print_one(l, t, f, numbers);
		if (l->kept != NULL)
			json_array_append_new(
			        l->kept, report_pair_json(t, f, l->traced ? numbers : NULL));
		g_hash_table_add(l->printed, key);
		l->races += f->kind == FINDING_DATA_RACE;
		l->violations += f->kind == FINDING_ORDER_VIOLATION;
		bool predicted = f->kind == FINDING_USE_AFTER_FREE && strcmp(f->by, "edc") == 0;
		l->by_edc += predicted;
		l->uses += f->kind == FINDING_USE_AFTER_FREE && !predicted;
	}
	suppressions_free(suppressions);
}

void record_live_known(struct record_live *l, const struct trace *t, const struct finding *f)
{
	if (f->first != NONE && f->second != NONE)
		g_hash_table_add(l->printed, finding_key(t, f));
}

static const struct specs *specs_of(struct record_live *l, struct error *error)
{
	if (l->specs == NULL)
		l->specs = specs_open(l->spec_files, error);
	return l->specs;
}

/* Two events on one object, by its specification. NULL and `error`. */
static struct finding *common_finding(struct record_live *l, struct trace *t,
                                      enum finding_kind kind, const uint32_t events[2],
                                      const char *by, struct error *error)
{
	struct call_scratch scratch[2];
	struct call pair[2];
	bool commute;
	const struct specs *specs = specs_of(l, error);
	struct model *m = specs ? model_new(t, specs, NULL, error) : NULL;
	if (m == NULL)
		return NULL;
	struct finding *f = finding_new(kind, events[0], events[1]);
	f->verdict = VERDICT_CANDIDATE;
	f->count = 1;
	f->by = by;
	if (model_common_calls(m, events[0], events[1], pair, scratch, &commute))
		commute_describe(m, f, &pair[0], &pair[1]);
	model_free(m);
	return f;
}

/* A pair of events as a trace of its own, for its finding. */
struct pair_trace {
	struct record_facts facts;
	struct trace *t; /* NULL and `error` */
	uint32_t events[2];
	struct error error;
};

static struct pair_trace pair_trace(const struct record_live *l, struct running_memory memory,
                                    const struct running_access pair[2])
{
	struct pair_trace p = { .facts = { .debug = l->debug,
		                           .suppressions = l->suppressions } };
	p.t = running_pair(l->running, memory, pair, &p.facts, p.events, &p.error);
	return p;
}

static void end_pair(struct pair_trace *p)
{
	trace_close(p->t);
	record_facts_release(&p->facts);
}

static void print_and_end(struct record_live *l, struct pair_trace *p, struct finding *f,
                          const struct running_access pair[2])
{
	const uint32_t numbers[2] = { pair[0].number, pair[1].number };
	if (f != NULL)
		print_new(l, p->t, f, numbers);
	else
		say_error(&p->error);
	finding_free(f);
	end_pair(p);
}

/* 0: not known. */
static uint32_t place_of(const struct record_live *l, const struct online_access *a)
{
	gpointer of_site = GUINT_TO_POINTER(running_site(a->point));
	gpointer place = g_hash_table_lookup(l->of_site, of_site);
	if (place == NULL)
		place = g_hash_table_lookup(l->of_point, GSIZE_TO_POINTER(a->point));
	return GPOINTER_TO_UINT(place);
}

/* A pair of places, as a key; NULL: not known. */
static gpointer place_pair(const struct record_live *l, const struct online_access *first,
                           const struct online_access *second)
{
	uint32_t a = place_of(l, first), b = place_of(l, second);
	return a && b ? (gpointer)((uintptr_t)MIN(a, b) << 32 | MAX(a, b)) : NULL;
}

/* Notes the place of an access, which is `event` of a trace of its own. */
static void learn_place(struct record_live *l, const struct online_access *a,
                        const struct trace *t, uint32_t event)
{
	gpointer of_site = GUINT_TO_POINTER(running_site(a->point));
	if (place_of(l, a) != 0)
		return;
	char *name = t ? g_strdup(own_site_name(t, event))
	               : g_strdup_printf("#%u", running_site(a->point));
	gpointer place = g_hash_table_lookup(l->named, name);
	if (place == NULL) {
		place = GUINT_TO_POINTER(g_hash_table_size(l->named) + 1);
		g_hash_table_insert(l->named, name, place);
	} else {
		g_free(name);
	}
	if (t == NULL || !own_code_is_on() || own_code_has_event(t, event))
		g_hash_table_insert(l->of_site, of_site, place);
	else
		g_hash_table_insert(l->of_point, GSIZE_TO_POINTER(a->point), place);
}

static struct running_access access_of(const struct online_access *a, uint32_t end)
{
	return (struct running_access){ a->thread, a->point, a->time - 1, end };
}

/* Makes the trace of a pair of places that is not in the set, and adds it; false when it is
 * there, or in `also` (or NULL). */
static bool make_new_pair(struct record_live *l, GHashTable *set, GHashTable *also,
                          struct running_memory memory, const struct online_access *first,
                          const struct online_access *second,
                          const struct running_access pair[2], struct pair_trace *p)
{
	gpointer places = place_pair(l, first, second);
	if (places != NULL && (g_hash_table_contains(set, places) ||
	                       (also && g_hash_table_contains(also, places))))
		return false;
	*p = pair_trace(l, memory, pair);
	learn_place(l, first, p->t, p->events[0]);
	learn_place(l, second, p->t, p->events[1]);
	places = place_pair(l, first, second);
	if (g_hash_table_add(set, places) && !(also && g_hash_table_contains(also, places)))
		return true;
	end_pair(p);
	return false;
}

/* `edc`: reported by EDC, after happens-before has processed the same event. */
static void on_pair(struct record_live *l, const struct online_access *first,
                    const struct online_access *second, struct running_memory memory, bool edc)
{
	bool freed = memory.block != NONE;
	GHashTable *seen = edc ? l->predicted : freed ? l->freed : l->places;
	struct running_access pair[2] = { access_of(first, 0), access_of(second, 0) };
	struct pair_trace p;
	if (!make_new_pair(l, seen, edc ? l->freed : NULL, memory, first, second, pair, &p))
		return;
	struct finding *f =
	        p.t == NULL ? NULL
	        : freed     ? common_finding(l, p.t, FINDING_USE_AFTER_FREE, p.events,
                                         edc ? "edc" : "hb", &p.error)
	                : race_finding(p.t, p.events[0], p.events[1], VERDICT_CANDIDATE, "hb");
	if (f != NULL && edc)
		f->note = "ordered in this run by locks alone (edc)";
	print_and_end(l, &p, f, pair);
}

static void on_race(void *context, const struct online_access *first,
                    const struct flow_event *x, uint32_t variable)
{
	struct online_access second = { x->number + 1, x->thread, x->point };
	on_pair(context, first, &second, (struct running_memory){ variable, NONE, NONE },
	        false);
}

static void on_use_after_free(void *context, const struct online_access *first,
                              const struct online_access *second, uint32_t block,
                              uint32_t variable)
{
	on_pair(context, first, second, (struct running_memory){ variable, block, NONE },
	        false);
}

static void on_predicted(void *context, const struct online_access *first,
                         const struct online_access *second, uint32_t block, uint32_t variable)
{
	on_pair(context, first, second, (struct running_memory){ variable, block, NONE }, true);
}

static bool is_known(void *context, const struct online_access *first,
                     const struct online_access *second, uint32_t block)
{
	const struct record_live *l = context;
	gpointer places = place_pair(l, first, second);
	return places != NULL &&
	       (block == NONE ? g_hash_table_contains(l->turned, places)
	                      : g_hash_table_contains(l->predicted, places) ||
	                                g_hash_table_contains(l->freed, places));
}

static bool asks(void *context, const struct online_call *first,
                 const struct online_call *second)
{
	const struct record_live *l = context;
	return live_calls_ask(l->calls, first, second);
}

static void on_turn(void *context, const struct online_call *first,
                    const struct online_call *second)
{
	struct record_live *l = context;
	struct running_access pair[2] = { access_of(&first->at, first->end),
		                          access_of(&second->at, second->end) };
	struct running_memory memory = { NONE, NONE, first->condition ? first->object : NONE };
	struct pair_trace p;
	if (!make_new_pair(l, l->turned, NULL, memory, &first->at, &second->at, pair, &p))
		return;
	struct finding *f =
	        p.t ? common_finding(l, p.t, FINDING_ORDER_VIOLATION, p.events, "edc", &p.error)
	            : NULL;
	print_and_end(l, &p, f, pair);
}

static void on_event(void *context, const struct flow_event *x)
{
	struct record_live *l = context;
	online_event(l->online, x);
	if (l->edc == NULL)
		return;
	if (G_LIKELY(x->call == NULL) || l->calls == NULL) {
		online_event(l->edc, x);
		return;
	}
	struct flow_event invocation = *x;
	live_calls_event(l->calls, &invocation);
	online_event(l->edc, &invocation);
}

/* A filtered log without segments lacks accesses that EDC needs. */
static void on_run(void *context, const struct flow_run *run)
{
	struct record_live *l = context;
	if (G_UNLIKELY(l->filtered && !l->segments))
		g_clear_pointer(&l->edc, online_free);
	online_run(l->online, l->edc, run);
}

static void on_segment(void *context, uint32_t thread, uint32_t number, uint32_t segment)
{
	struct record_live *l = context;
	l->segments = true;
	online_segment(l->online, thread, number);
	if (l->edc)
		online_stay(l->edc, thread, number, segment);
}

static struct online_access earlier(const struct running_access *a)
{
	return (struct online_access){ a->number + 1, a->thread, a->point };
}

static void on_compared(void *context, const struct running_access *first,
                        const struct flow_event *x, struct running_bytes memory)
{
	struct record_live *l = context;
	const struct online_access access = earlier(first);
	if (online_unordered(l->online, &access, x))
		on_race(l, &access, x, running_variable(l->running, memory));
}

static void on_used(void *context, const struct running_access *use, uint32_t segment,
                    uint32_t block, struct running_bytes memory)
{
	struct record_live *l = context;
	const struct online_access access = earlier(use);
	const uint32_t variable = running_variable(l->running, memory);
	online_used(l->online, &access, segment, block, variable);
	if (l->edc)
		online_used(l->edc, &access, segment, block, variable);
}

static void on_touch(void *context, const struct running_touch *touch)
{
	const struct record_live *l = context;
	if (l->edc)
		online_touch(l->edc, touch->thread, touch->number, touch->late,
		             (struct event_list){ touch->variables, touch->count },
		             touch->block, touch->writes);
}

static void on_split(void *context, uint32_t from, uint32_t to)
{
	struct record_live *l = context;
	online_split(l->online, from, to);
	if (l->edc)
		online_split(l->edc, from, to);
}

static void on_renew(void *context, uint32_t variable)
{
	struct record_live *l = context;
	online_renew(l->online, variable);
	if (l->edc)
		online_renew(l->edc, variable);
}

struct record_live *record_live_new(const char *suppressions, const struct suppressions *also,
                                    const GPtrArray *specs)
{
	struct record_live *l = g_new0(struct record_live, 1);
	l->suppressions = suppressions;
	l->also = also;
	l->spec_files = specs;
	l->named = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	l->of_point = g_hash_table_new(hash_pointer, NULL);
	l->of_site = g_hash_table_new(hash_pointer, NULL);
	l->places = g_hash_table_new(hash_pointer, NULL);
	l->freed = g_hash_table_new(hash_pointer, NULL);
	l->predicted = g_hash_table_new(hash_pointer, NULL);
	l->turned = g_hash_table_new(hash_pointer, NULL);
	l->printed = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	l->debug = debug_store_new();
	return l;
}

void record_live_free(struct record_live *l)
{
	if (l == NULL)
		return;
	g_hash_table_destroy(l->named);
	g_hash_table_destroy(l->of_point);
	g_hash_table_destroy(l->of_site);
	g_hash_table_destroy(l->places);
	g_hash_table_destroy(l->freed);
	g_hash_table_destroy(l->predicted);
	g_hash_table_destroy(l->turned);
	if (l->specs)
		specs_free(l->specs);
	g_hash_table_destroy(l->printed);
	debug_store_free(l->debug);
	json_decref(l->kept);
	g_free(l);
}

static void begin_edc(struct record_live *l)
{
	struct error error;
	const struct specs *specs = specs_of(l, &error);
	l->edc = online_new_edc(&(struct online_sink){ .context = l,
	                                               .use_after_free = on_predicted,
	                                               .turn = on_turn,
	                                               .asks = asks,
	                                               .known = is_known },
	                        SECTIONS);
	if (specs != NULL)
		l->calls = live_calls_new(specs, l->edc, running_text, l->running);
	if (specs == NULL)
		say_error(&error);
}

static void end(void *context)
{
	struct record_live *l = context;
	if (l->edc)
		online_end(l->edc);
	g_clear_pointer(&l->calls, live_calls_free);
	g_clear_pointer(&l->online, online_free);
	g_clear_pointer(&l->edc, online_free);
	l->running = NULL;
}

static void begin(void *context, struct running *running, struct running_sink *sink)
{
	struct record_live *l = context;
	*sink = (struct running_sink){ l,       on_run,   on_event, on_segment, on_compared,
		                       on_used, on_touch, on_split, on_renew,   end };
	/* the numbers of points are the recording's own */
	g_hash_table_remove_all(l->of_point);
	g_hash_table_remove_all(l->of_site);
	g_hash_table_remove_all(l->places);
	g_hash_table_remove_all(l->freed);
	g_hash_table_remove_all(l->predicted);
	g_hash_table_remove_all(l->turned);
	l->running = running;
	l->online = online_new(&(struct online_sink){
	        .context = l, .race = on_race, .use_after_free = on_use_after_free });
	l->segments = false;
	if (!l->no_edc && (!l->filtered || l->compared))
		begin_edc(l);
}

void record_live_filtered(struct record_live *l, bool variables, bool compared)
{
	l->filtered = true;
	l->variables = variables;
	l->compared = compared;
}

void record_live_no_edc(struct record_live *l)
{
	l->no_edc = true;
}

struct running_watch record_live_watch(struct record_live *l, const char *heading)
{
	l->heading = heading;
	return (struct running_watch){ l, begin };
}

void record_live_keep(struct record_live *l, bool traced)
{
	l->traced = traced;
	l->kept = json_array();
}

void record_live_silent(struct record_live *l)
{
	l->silent = true;
}

guint record_live_count(const struct record_live *l)
{
	return l->races + l->uses + l->by_edc + l->violations;
}

/* What the findings of a run that was compared by variable leave out. */
#define OF_VARIABLES \
	"every variable that races does so at one of these pairs of places, and may at others"

/* Where more is found: a sentence. */
static char *more_by(const struct record_live *l, const char *again)
{
	return again ? g_strdup_printf("'heddle record %s' keeps this run for 'heddle races'",
	                               again)
	             : g_strdup_printf("%s at other schedules",
	                               l->violations
	                                       ? "'heddle races' and 'heddle commute' look"
	                                       : "'heddle races' looks");
}

char *record_live_report(const struct record_live *l, const char *path, uint64_t events,
                         const char *again, const char *note)
{
	g_autofree char *name = g_path_get_basename(path), *more = more_by(l, again);
	json_auto_t *notes = json_array();
	if (l->variables && l->races)
		json_array_append_new(notes, json_string(OF_VARIABLES));
	if (note != NULL)
		json_array_append_new(notes, json_text(note));
	json_array_append_new(notes, json_text(more));
	json_auto_t *report = json_pack(
	        "{sssosssIsbsssIsOsO}", "heddle", HEDDLE_VERSION, "trace", json_text(name),
	        "analysis", "hb", "events", (json_int_t)events, "complete", false,
	        "not-complete", "other schedules were not looked at", "candidates",
	        (json_int_t)json_array_size(l->kept), "notes", notes, "findings", l->kept);
	return json_dumps(report, 0);
}

guint record_live_end(struct record_live *l, const char *path, const char *again)
{
	g_autofree char *name = g_path_get_basename(path);
	g_autofree char *freed = l->uses == 0 ? g_strdup("")
	                                      : g_strdup_printf(" and %u use%s after free",
	                                                        l->uses, plural(l->uses));
	g_autoptr(GString) more = g_string_new(NULL);
	if (l->by_edc)
		g_string_append_printf(more, ", %u use%s after free", l->by_edc,
		                       plural(l->by_edc));
	if (l->violations)
		g_string_append_printf(more, "%s%u order violation%s",
		                       l->by_edc ? " and " : ", ", l->violations,
		                       plural(l->violations));
	if (more->len > 0)
		g_string_append(more, " by edc");
	fprintf(stderr, "%s: %u race%s%s by hb%s, not complete: ", printable(name), l->races,
	        plural(l->races), freed, more->str);
	g_autofree char *looks = more_by(l, again);
	fprintf(stderr, "%s%s\n", l->variables && l->races ? OF_VARIABLES "; " : "", looks);
	return record_live_count(l);
}
