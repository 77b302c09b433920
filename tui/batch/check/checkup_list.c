/*
 * checkup_list.c - one list of the findings of all runs: equal findings of several runs are one
 * entry with these runs and the shortest witness.
 *
 * Findings are equal when kind and places agree; failures of a run also when their texts do.
 */
#include "engine/base/compare.h"
#include "tui/batch/check/checkup.h"
#include "tui/batch/record_live.h"
#include "tui/batch/suppressions.h"

#include "engine/detect/failure.h"
#include "engine/predict/misuse.h"
#include "engine/trace/own_code.h"
#include "engine/witness/minimise.h"
#include "engine/witness/witness.h"
#include "tui/batch/spec_rules.h"
#include "tui/batch/print/finding_json.h"

#include <stdlib.h>
#include <string.h>

enum { PREFIX_MOST = 1000000 }; /* events of a run whose order is written as a witness */

void checked_free(void *data)
{
	struct checked *f = data;

	json_decref(f->fields);
	g_free(f->key);
	g_free(f->text);
	g_free(f->witness_file);
	json_decref(f->schedule);
	g_free(f->difference);
	g_free(f->place);
	g_array_unref(f->runs);
	g_free(f);
}

/* -- equality ------------------------------------------------------------------------------ */

static void append_variable(const char *variable, GString *key)
{
	g_autoptr(GString) name = g_string_new(NULL);

	own_code_append_name(variable, name);
	own_code_append_kind(name->str, key);
}

/* The places of threads that wait for ever, and what for, without those that only wait for
 * another thread's end, which are not at fault. False: none. */
static bool add_waits(const json_t *waits, GPtrArray *names)
{
	size_t i;
	json_t *w;

	json_array_foreach((json_t *)waits, i, w)
	{
		if (strcmp(json_word(w, "for"), wait_for_word(WAIT_JOIN)) == 0)
			continue;
		GString *name = g_string_new(json_word(w, "location"));

		g_string_append_c(name, ' ');
		append_variable(json_word(w, "object"), name);
		g_ptr_array_add(names, g_string_free(name, FALSE));
	}
	return names->len > 0;
}

/* Appends signal and place from "The program crashes: signal 11 (...), in T1 at a.c:12
 * (address 0x8)": thread and address differ from run to run. */
static void append_crash(const char *story, GString *key)
{
	const char *in = strstr(story, "), in "), *at = in ? strstr(in, " at ") : NULL,
	           *address = strstr(story, " (address ");

	g_string_append_len(key, story, in ? in + 1 - story : (gssize)strcspn(story, ","));
	if (at != NULL)
		g_string_append_len(key, at, address ? address - at : (gssize)strlen(at));
}

/* Does the story name the place of the crash? (The end of a thread, before which the program
 * crashed, is no place.) */
static bool names_crash(const char *story)
{
	return strstr(story, "), in ") != NULL && strstr(story, " at ") != NULL;
}

char *checkup_key(const json_t *fields)
{
	const char *kind = json_word(fields, "kind");
	const json_t *own = json_object_get(fields, "places"), *site;
	const json_t *sites = own ? own : json_object_get(fields, "sites");
	g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
	GString *key = g_string_new(kind);
	size_t i;

	/* a return from main, or a check, is not the cause */
	if (strcmp(kind, finding_kind_word(FINDING_EXIT)) == 0 ||
	    strcmp(kind, finding_kind_word(FINDING_ASSERTION)) == 0) {
		const char *story = json_word(fields, "story");

		/* violations of one condition are the same, whatever the values */
		g_string_append_printf(key, " %s",
		                       g_str_has_prefix(story, "The check")    ? "--check"
		                       : g_str_has_prefix(story, "The output") ? "--expect"
		                                                               : story);
	} else if (strcmp(kind, finding_kind_word(FINDING_CRASH)) == 0 &&
	           names_crash(json_word(fields, "story"))) {
		append_crash(json_word(fields, "story"), key);
	} else if (!add_waits(json_object_get(fields, "waits"), names)) {
		json_array_foreach((json_t *)sites, i, site) g_ptr_array_add(
		        names, g_strdup_printf(
		                       "%s%s:%d", base_name(json_word(site, "file")),
		                       json_word(site, "name"),
		                       (int)json_integer_value(json_object_get(site, "line"))));
	}
	if (names->len > 1)
		qsort(names->pdata, names->len, sizeof(*names->pdata), compare_texts);
	/* a call of the library's on one line has several races, of several variables */
	if (own != NULL && strcmp(kind, finding_kind_word(FINDING_DATA_RACE)) != 0) {
		g_string_append_c(key, ' ');
		append_variable(json_word(fields, "variable"), key);
	}
	for (guint k = 0; k < names->len; k++)
		if (k == 0 || strcmp(names->pdata[k], names->pdata[k - 1]) != 0)
			g_string_append_printf(key, " %s", (char *)names->pdata[k]);
	return g_string_free(key, FALSE);
}

/* NONE: a run of the exploration that was not kept. */
static void add_run(struct checked *f, uint32_t run)
{
	guint at = f->runs->len;

	if (run == NONE)
		return;
	/* runs are analysed nearly in their order */
	while (at > 0 && g_array_index(f->runs, uint32_t, at - 1) > run)
		at--;
	if (at == 0 || g_array_index(f->runs, uint32_t, at - 1) != run)
		g_array_insert_val(f->runs, at, run);
}

/* Adds a finding, first seen in the run that it shows. */
static struct checked *enter(struct checkup *c, struct checked seen)
{
	struct checked *f = g_new0(struct checked, 1);
	uint32_t run = seen.shown;

	*f = seen;
	f->runs = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	if (f->happened && run != NONE)
		f->cause = g_array_index(c->runs, struct checkup_run, run).tried;
	g_ptr_array_add(c->list, f);
	f->number = c->list->len;
	g_hash_table_insert(c->by_key, f->key, f);
	add_run(f, run);
	return f;
}

/* -- witnesses ----------------------------------------------------------------------------- */

static enum claim claim_of(const struct finding *f)
{
	return f->witness == NULL ? CLAIM_PREFIX : finding_claim(f);
}

/* The recorded order, as the witness of a finding that happened. */
static GArray *recorded_order(const struct trace *t)
{
	GArray *events = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	for (uint32_t e = 0; e < t->events_count; e++)
		if (!op_wants(t->events[e].op) && t->events[e].op != OP_MISUSE)
			g_array_append_val(events, e);
	return events;
}

/* Beside the trace, where replay looks for it by name. */
static char *witness_path(const struct checkup *c, const struct checked *f)
{
	const char *trace = g_array_index(c->runs, struct checkup_run, f->shown).trace;
	g_autofree char *folder = g_path_get_dirname(trace != NULL ? trace : ".");
	g_autofree char *base = g_path_get_basename(c->prefix);
	g_autofree char *name = g_strdup_printf("%s.%u.wit", base, f->number);
	return strcmp(folder, ".") == 0 ? g_strdup(name) : g_build_filename(folder, name, NULL);
}

static void write_witness(struct checkup *c, struct trace *t, const struct places *places,
                          const struct finding *f, struct checked *into)
{
	struct witness w = { .claim = claim_of(f) };
	struct check_options check = { 0 };
	struct error error;

	if (!c->writes)
		return;
	if (f->witness == NULL && (f->verdict != VERDICT_HAPPENED || t->events_count == 0 ||
	                           t->events_count > PREFIX_MOST))
		return;
	w.trace_name = g_strdup(trace_name(t));
	w.trace_digest = trace_digest(t);
	w.events = f->witness ? g_array_ref(f->witness) : recorded_order(t);
	w.pair = f->witness ? finding_claimed(f) : g_array_new(FALSE, FALSE, sizeof(uint32_t));
	if (w.claim == CLAIM_RACE || claim_waits(w.claim) ||
	    (f->witness && t->instances_count == 0))
		witness_minimise(t, (struct claimed){ w.claim, event_list_of(w.pair) }, &check,
		                 w.events);
	json_decref(into->schedule);
	into->schedule = sarif_schedule(places, t, w.events, w.pair);
	w.under_specs = g_ptr_array_new_with_free_func(g_free);
	for (guint i = 0; w.claim != CLAIM_RACE && w.claim != CLAIM_PREFIX && i < c->specs->len;
	     i++)
		g_ptr_array_add(w.under_specs, spec_rules_header(c->specs->pdata[i]));
	if (into->witness_file == NULL)
		into->witness_file = witness_path(c, into);
	if (witness_write(t, &w, into->witness_file, &error)) {
		into->witness_length = w.events->len;
	} else {
		g_clear_pointer(&into->witness_file, g_free);
		checkup_uncovered(c, "a witness could not be written: %s: %s", error.where,
		                  error.what);
	}
	witness_release(&w);
}

static uint32_t length_of(const struct trace *t, const struct finding *f)
{
	return f->witness ? f->witness->len : (uint32_t)MIN(t->events_count, UINT32_MAX);
}

/* -- adding -------------------------------------------------------------------------------- */

static bool is_candidate(const struct checked *f)
{
	return strcmp(json_word(f->fields, "verdict"), verdict_word(VERDICT_CANDIDATE)) == 0;
}

/* Is the new finding a better example: did it happen, or with fewer events? */
static bool is_better(const struct trace *t, const struct finding *f, const struct checked *old,
                      bool writes)
{
	bool happened = f->verdict == VERDICT_HAPPENED;

	bool candidate = f->verdict == VERDICT_CANDIDATE, was = is_candidate(old);

	if (happened != old->happened)
		return happened;
	if (candidate != was || candidate)
		return was && !candidate;
	if (old->witness_file == NULL)
		return writes && f->witness != NULL;
	return length_of(t, f) < old->witness_length;
}

/* Is it about the order of operations on a condition alone? */
static bool is_of_signals(const struct trace *t, const struct finding *f)
{
	const uint32_t events[] = { f->first, f->second };

	for (int i = 0; i < 2; i++) {
		enum op op = f->kind == FINDING_ORDER_VIOLATION && events[i] != NONE
		                     ? t->events[events[i]].op
		                     : OP_READ;

		if (op != OP_WAIT && op != OP_WAKE && op != OP_SIGNAL && op != OP_BROADCAST)
			return false;
	}
	return true;
}

/* Adds the variables and exact places of a race in another run. */
static void join_lists(json_t *stays, const json_t *other)
{
	static const char *const lists[] = { "variables", "exact" };

	for (size_t i = 0; i < G_N_ELEMENTS(lists); i++)
		if (json_object_get(other, lists[i]) != NULL)
			json_add_elements(stays, other, lists[i]);
}

/* Of a finding of two runs the fields that stay say what both have; it is suppressed if it is
 * in both. */
static void join_fields(json_t *stays, const json_t *other)
{
	join_lists(stays, other);
	if (json_object_get(other, "suppressed") == NULL)
		json_object_del(stays, "suppressed");
}

struct checked *checkup_add(struct checkup *c, struct trace *t, const struct places *places,
                            const struct finding *f, uint32_t run, bool *fresh)
{
	json_t *fields = finding_json(places, t, f);
	json_set_suppressed(fields, suppressions_find(c->suppressions, t, f));
	char *key = checkup_key(fields);
	struct checked *known = g_hash_table_lookup(c->by_key, key);
	bool happened = f->verdict == VERDICT_HAPPENED;

	*fresh = known == NULL || (happened && !known->happened);
	if (c->watcher != NULL && verdict_is_found(f->verdict))
		record_live_known(c->watcher, t, f);
	if (known == NULL) {
		known = enter(c, (struct checked){ .kind = f->kind,
		                                   .happened = happened,
		                                   .signals = is_of_signals(t, f),
		                                   .fields = fields,
		                                   .key = key,
		                                   .text = finding_sentence(t, f),
		                                   .shown = run });
		write_witness(c, t, places, f, known);
		return known;
	}
	add_run(known, run);
	g_free(key);
	if (!is_better(t, f, known, c->writes)) {
		join_fields(known->fields, fields);
		json_decref(fields);
		return known;
	}
	join_fields(fields, known->fields);
	json_decref(known->fields);
	known->fields = fields;
	known->shown = run;
	if (happened && !known->happened)
		known->cause = g_array_index(c->runs, struct checkup_run, run).tried;
	known->happened = happened;
	g_free(known->text);
	known->text = finding_sentence(t, f);
	if (known->witness_file != NULL && c->argv == NULL)
		g_clear_pointer(&known->witness_file, g_free); /* that file is beside another
		                                                * trace */
	write_witness(c, t, places, f, known);
	return known;
}

struct checked *checkup_add_fields(struct checkup *c, enum finding_kind kind, json_t *fields,
                                   char *text, uint32_t run, bool happened)
{
	json_set_suppressed(fields, suppressions_find_filed(c->suppressions, kind, fields));
	char *key = checkup_key(fields);
	struct checked *known = g_hash_table_lookup(c->by_key, key);

	if (known == NULL)
		return enter(c, (struct checked){ .kind = kind,
		                                  .happened = happened,
		                                  .fields = fields,
		                                  .key = key,
		                                  .text = text,
		                                  .shown = run });
	join_lists(known->fields, fields);
	add_run(known, run);
	g_free(key);
	g_free(text);
	json_decref(fields);
	return known;
}

void checkup_stream(const struct checkup *c, const struct checked *f)
{
	/* every run may turn out to have this exit status */
	if (!c->streams || f->kind == FINDING_EXIT)
		return;
	progress_done();
	fprintf(stderr, "heddle: after %.1f s: %s: %s\n",
	        (double)(g_get_monotonic_time() - c->began) / G_USEC_PER_SEC,
	        finding_kind_word(f->kind), f->text);
}

/* -- order of display ---------------------------------------------------------------------- */

/* Rank: findings that change the program's result come first, those without a witness last. */
static int rank_of_harm(const struct checked *f)
{
	if (f->harm == HARM_DIFFERS)
		return 0;
	return is_candidate(f) ? 3 : f->harm == HARM_SAME ? 2 : 1;
}

static gint by_rank(gconstpointer a, gconstpointer b)
{
	const struct checked *x = *(struct checked *const *)a, *y = *(struct checked *const *)b;

	if (x->happened != y->happened)
		return x->happened ? -1 : 1;
	if (failure_rank(x->kind) != failure_rank(y->kind))
		return failure_rank(x->kind) - failure_rank(y->kind);
	if (rank_of_harm(x) != rank_of_harm(y))
		return rank_of_harm(x) - rank_of_harm(y);
	return x->number < y->number ? -1 : x->number > y->number;
}

static bool seen_in(const struct checked *f, uint32_t run)
{
	for (guint i = 0; i < f->runs->len; i++)
		if (g_array_index(f->runs, uint32_t, i) == run)
			return true;
	return false;
}

/* Did some run end well without the finding, so that the schedule decides? Exploration ignores
 * --expect. */
static bool some_run_ended_well(const struct checkup *c, const struct checked *f)
{
	for (guint i = 0; i < c->runs->len; i++) {
		const struct checkup_run *r = &g_array_index(c->runs, struct checkup_run, i);

		if (!seen_in(f, i) && r->outcome && outcome_good(r->outcome))
			return true;
	}
	return c->fine_runs > 0 && strstr(f->key, "--expect") == NULL;
}

void checkup_seen_again(struct checkup *c, uint32_t run, uint32_t as)
{
	for (guint i = 0; i < c->list->len; i++)
		if (seen_in(c->list->pdata[i], as))
			add_run(c->list->pdata[i], run);
}

static void settle_harm(const struct checkup *c, struct checked *f)
{
	const struct checkup_run *r =
	        f->shown == NONE ? NULL : &g_array_index(c->runs, struct checkup_run, f->shown);
	bool ends = failure_rank(f->kind) < 3 && f->kind != FINDING_USE_AFTER_FREE;

	if (f->happened && ends &&
	    f->harm == HARM_UNFOLLOWED) { /* its run shows what it does */
		g_clear_pointer(&f->difference, g_free);
		f->harm = HARM_UNASKED;
	}
	if (f->harm != HARM_UNASKED)
		return;
	if (f->happened && ends && some_run_ended_well(c, f)) {
		f->harm = HARM_DIFFERS;
		f->difference = r && r->outcome ? outcome_end(r->outcome) : g_strdup(f->text);
	} else if (f->happened && ends) {
		f->harm = HARM_SAME;
	} else {
		f->harm = HARM_UNFOLLOWED;
		f->difference = g_strdup(
		        c->argv == NULL     ? "no program was given to run both orders of"
		        : f->waits_for_time ? "the time ran out (--budget gives more)"
		        : strcmp(json_word(f->fields, "verdict"),
		                 verdict_word(VERDICT_CANDIDATE)) == 0
		                ? "whether its two orders are both possible is not known"
		        : f->kind == FINDING_LOCK_MISUSE
		                ? "it is wrong in every order; what follows is undefined, but "
		                  "where the C library refuses the call"
		        : f->kind == FINDING_UNINITIALISED_READ
		                ? "it reads what the allocator or another call left there"
		        : f->happened
		                ? "it happened in a recorded run; the other order was not "
		                  "run from there"
		        : f->witness_file == NULL && f->shown != NONE
		                ? "its order cannot be turned while the reads before it, of "
		                  "other data races, see what they saw"
		        : f->witness_file == NULL
		                ? "it was seen while exploring, and no schedule of it was kept"
		                : "its two orders are no two orders of the program's steps");
	}
}

/* A finding that appeared only when the orders of its cause were run is the cause's harm, even
 * if both runs ended alike. */
static void settle_downstream(const struct checked *result)
{
	struct checked *f = result->cause;

	if (f == NULL || f->harm != HARM_SAME ||
	    (result->kind != FINDING_USE_AFTER_FREE && result->kind != FINDING_LOCK_MISUSE &&
	     failure_rank(result->kind) > 2))
		return;
	f->harm = HARM_DIFFERS;
	g_free(f->difference);
	f->difference =
	        result == f ? g_strdup("it happens in one order alone; both ended alike for "
	                               "this input")
	                    : g_strdup_printf("it leads to: %s", result->text);
}

/* An exit status that every run has does not depend on the schedule. */
static bool is_always(const struct checkup *c, const struct checked *f)
{
	if (f->kind != FINDING_EXIT || some_run_ended_well(c, f))
		return false;
	for (guint i = 0; i < c->list->len; i++) {
		const struct checked *other = c->list->pdata[i];

		if (other != f && other->kind == FINDING_EXIT)
			return false;
	}
	return true;
}

static void drop(struct checkup *c, guint i)
{
	const struct checked *gone = c->list->pdata[i];

	for (guint k = 0; k < c->list->len; k++) {
		struct checked *f = c->list->pdata[k];

		if (f->cause == gone)
			f->cause = NULL;
	}
	g_hash_table_remove(c->by_key, gone->key);
	g_ptr_array_remove_index(c->list, i);
}

static void drop_always(struct checkup *c)
{
	for (guint i = c->list->len; i-- > 0;) {
		struct checked *f = c->list->pdata[i];

		if (!is_always(c, f))
			continue;
		g_free(c->always);
		c->always = g_strdup(f->text);
		drop(c, i);
	}
}

/* Every program that tests its condition first has a signal that can come before the wait:
 * this is listed only where it makes a difference. */
static void drop_harmless(struct checkup *c)
{
	for (guint i = c->list->len; i-- > 0;) {
		struct checked *f = c->list->pdata[i];

		if (!f->signals || f->harm == HARM_DIFFERS)
			continue;
		c->harmless++;
		drop(c, i);
	}
}

/* Is it a wait without end at the condition of an order of signals and waits? */
static bool is_wait_of(const struct checked *stuck, const struct checked *order)
{
	const json_t *waits = json_object_get(stuck->fields, "waits");

	for (size_t i = 0; stuck->kind == FINDING_STUCK && i < json_array_size(waits); i++) {
		g_autofree char *point =
		        g_strdup_printf("%s:", json_word(json_array_get(waits, i), "object"));
		const char *of = json_string_value(
		        json_array_get(json_object_get(order->fields, "points"), 0));

		if (of != NULL && g_str_has_prefix(of, point))
			return true;
	}
	return false;
}

/* Drops orders of a signal and a wait that lead to a wait without end which is listed: that
 * says what became of them. */
static void drop_leading_to_wait(struct checkup *c)
{
	for (guint i = c->list->len; i-- > 0;) {
		struct checked *f = c->list->pdata[i], *wait = NULL;

		if (!f->signals || f->difference == NULL ||
		    !g_str_has_prefix(f->difference, "stuck:"))
			continue;
		for (guint k = 0; k < c->list->len && wait == NULL; k++)
			if (is_wait_of(c->list->pdata[k], f))
				wait = c->list->pdata[k];
		if (wait == NULL)
			continue;
		c->leading_to_wait++;
		drop(c, i);
	}
}

/* Drops units of work whose interruption made no difference, unless the user has declared the
 * units. */
static void drop_serial(struct checkup *c)
{
	for (guint i = c->list->len; i-- > 0;) {
		struct checked *f = c->list->pdata[i];

		if (f->kind != FINDING_ATOMIC_SET_VIOLATION || f->harm != HARM_SAME ||
		    strcmp(json_word(f->fields, "grade"), "B") == 0)
			continue;
		c->serial++;
		drop(c, i);
	}
}

/* Is the difference that of the last value of a variable of the race? */
static bool is_value_of(const char *difference, const struct checked *race)
{
	const json_t *names = json_object_get(race->fields, "variables");

	if (race->kind != FINDING_DATA_RACE || race->harm != HARM_DIFFERS)
		return false;
	for (size_t i = 0; i < json_array_size(names); i++) {
		g_autofree char *begin = g_strdup_printf("%s is ", json_element(names, i));
		if (g_str_has_prefix(difference, begin))
			return true;
	}
	return false;
}

/* Drops interrupted units of work that are inferred, where the difference is the value of a
 * variable that a listed race changes: then nothing says that it is due to the units. */
static void drop_racy_units(struct checkup *c)
{
	for (guint i = c->list->len; i-- > 0;) {
		struct checked *f = c->list->pdata[i];
		bool racy = false;

		if (f->kind != FINDING_ATOMIC_SET_VIOLATION || f->difference == NULL ||
		    strcmp(json_word(f->fields, "grade"), "B") == 0)
			continue;
		for (guint k = 0; k < c->list->len && !racy; k++)
			racy = is_value_of(f->difference, c->list->pdata[k]);
		if (!racy)
			continue;
		c->racy_units++;
		drop(c, i);
	}
}

/* The place of an event of the finding: FILE:LINE. */
static const char *place_of(const struct checked *f, guint which)
{
	const char *place = json_string_value(
	        json_array_get(json_object_get(f->fields, "locations"), which));

	return place ? place : "";
}

/* The use after free or destruction that says the same as this misuse of a lock, or NULL. */
static struct checked *same_use(const struct checkup *c, const struct checked *misuse)
{
	if (misuse->kind != FINDING_LOCK_MISUSE ||
	    !misuse_uses_ended(json_word(misuse->fields, "note")))
		return NULL;
	for (guint i = 0; i < c->list->len; i++) {
		struct checked *f = c->list->pdata[i];

		if (f->kind == FINDING_USE_AFTER_FREE && f->happened >= misuse->happened &&
		    strcmp(place_of(f, 0), place_of(misuse, 0)) == 0 &&
		    strcmp(place_of(f, 1), place_of(misuse, 1)) == 0)
			return f;
	}
	return NULL;
}

/* A lock, condition or semaphore that is used after its end is one fault, which the recorder
 * reports as a misuse and the analyses as a use after free. The latter stays. */
static void drop_told_twice(struct checkup *c)
{
	for (guint i = c->list->len; i-- > 0;) {
		struct checked *misuse = c->list->pdata[i], *use = same_use(c, misuse);

		if (use == NULL)
			continue;
		for (guint k = 0; k < c->list->len; k++) {
			struct checked *f = c->list->pdata[k];

			if (f->cause == misuse)
				f->cause = use;
		}
		for (guint k = 0; k < misuse->runs->len; k++)
			add_run(use, g_array_index(misuse->runs, uint32_t, k));
		drop(c, i);
	}
}

void checkup_settle(struct checkup *c)
{
	drop_told_twice(c);
	drop_always(c);
	if (c->harm && c->argv != NULL) {
		drop_harmless(c);
		if (!c->keeps_orders)
			drop_leading_to_wait(c);
		drop_serial(c);
		drop_racy_units(c);
	}
	for (guint i = 0; c->harm && i < c->list->len; i++)
		settle_harm(c, c->list->pdata[i]);
	for (guint i = 0; c->harm && i < c->list->len; i++)
		settle_downstream(c->list->pdata[i]);
	g_ptr_array_sort(c->list, by_rank);
}
