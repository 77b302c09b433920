/*
 * checkup_explore.c - the exploration of `heddle check`: a search for a failing schedule before
 * the first run is analysed, then every schedule of a small program, and what both add to the
 * list.
 */
#include "engine/base/file.h"
#include "engine/trace/own_code.h"
#include "tui/batch/check/checkup.h"
#include "tui/batch/print/explore_tree.h"
#include "tui/batch/print/point_json.h"

#include <string.h>
#include <unistd.h>

enum {
	EXPLORED_EVENTS = 20000, /* bound on a run: longer programs are not explored */
	HUNT_PARTS = 4,          /* part of the time left that the search for an error takes */
	SPURIOUS_PARTS = 8,      /* the same, for one with a spurious wake-up */
};

/* -- ends ---------------------------------------------------------------------------------- */

char *checkup_end_of(const struct outcome *o)
{
	return o->stuck    ? g_strdup("stuck")
	       : o->signal ? g_strdup_printf("signal %d", o->signal)
	                   : g_strdup_printf("status %d", o->status);
}

bool checkup_is_explored(struct checkup *c, const struct outcome *o)
{
	g_autofree char *end = checkup_end_of(o);
	bool known = o->cut || g_hash_table_contains(c->ends, "any") ||
	             g_hash_table_contains(c->ends, end);

	if (!known) {
		c->explored_all = false;
		checkup_uncovered(
		        c,
		        "every schedule: a recording ended as no run of the exploration did "
		        "(%s), although the exploration says that it is complete",
		        end);
	}
	return known;
}

/* -- findings of an exploration ---------------------------------------------------------- */

static enum finding_kind kind_of(const struct explore_error *e)
{
	return explore_finding_kind(e->end, e->story);
}

/* A place that the exploration names, with its function, as the first run's trace has it. */
static json_t *place_of(const struct trace *t, const char *name)
{
	for (uint32_t l = 0; t != NULL && l < t->locations_count; l++) {
		if (strcmp(trace_string(t, t->locations[l].name), name) == 0) {
			struct places *places = places_new(t);
			json_t *place = places_location_json(places, l);

			places_free(places);
			return place;
		}
	}
	return places_parse(name);
}

static json_t *fields_of(enum finding_kind kind, const char *story)
{
	json_t *fields = json_pack("{sssss[]}", "kind", finding_kind_word(kind), "verdict",
	                           verdict_word(VERDICT_HAPPENED), "sites");

	if (story != NULL)
		json_object_set_new(fields, "story", json_text(story));
	return fields;
}

/* Does the run have a finding of the kind? */
static bool seen_in(const struct checkup *c, enum finding_kind kind, uint32_t run)
{
	for (guint i = 0; i < c->list->len; i++) {
		const struct checked *f = c->list->pdata[i];

		for (guint k = 0; f->kind == kind && k < f->runs->len; k++)
			if (g_array_index(f->runs, uint32_t, k) == run)
				return true;
	}
	return false;
}

/* Add an error without a trace, or one that its trace does not show. */
static void take_error_fields(struct checkup *c, const struct trace *first,
                              const struct explore_error *e, uint32_t run)
{
	enum finding_kind kind = kind_of(e);
	json_t *fields = fields_of(kind, e->story);
	char *text =
	        g_strdup_printf("%s: %s", finding_kind_word(kind),
	                        e->story && *e->story ? e->story : explore_end_word(e->end));

	for (guint i = 0; e->places && i < e->places->len; i++)
		json_array_append_new(json_object_get(fields, "sites"),
		                      place_of(first, e->places->pdata[i]));
	g_strdelimit(text, "\n", ';');
	struct checked *f = checkup_add_fields(c, kind, fields, text, run, true);
	checkup_stream(c, f);
}

/* Adds the point of no return to the run's findings of the error's kind. */
static void add_point(struct checkup *c, const struct explore_report *r, uint32_t error,
                      uint32_t run)
{
	const struct explore_error *e = &g_array_index(r->errors, struct explore_error, error);
	json_auto_t *point = point_json(r, error);

	for (guint i = 0; point != NULL && i < c->list->len; i++) {
		struct checked *f = c->list->pdata[i];
		bool seen = run == NONE && f->shown == NONE;

		for (guint k = 0; k < f->runs->len; k++)
			seen |= g_array_index(f->runs, uint32_t, k) == run;
		if (f->kind == kind_of(e) && f->happened && seen &&
		    json_object_get(f->fields, "point-of-no-return") == NULL)
			json_object_set(f->fields, "point-of-no-return", point);
	}
}

static int exit_of(const struct explore_run *r)
{
	return r->end == EXPLORE_SIGNAL ? 128 + r->status : r->status;
}

static bool take_error(struct checkup *c, const struct trace *first,
                       const struct explore_report *r, const struct explore_error *e)
{
	const struct explore_run *from = &g_array_index(r->runs, struct explore_run, e->run);
	struct trace *t = from->trace ? checkup_open_run(c, from->trace) : NULL;
	uint32_t run = NONE;
	bool good = true;

	if (e->end == EXPLORE_CUT || e->end == EXPLORE_DIVERGED) {
		trace_close(t);
		return true;
	}
	for (guint i = 0; from->trace && i < c->runs->len; i++)
		if (strcmp(checkup_run_at(c, i)->trace, from->trace) == 0)
			run = i;
	if (t != NULL) {
		if (run == NONE)
			run = checkup_add_run(c, t,
			                      (struct checkup_run){ .strategy = "explored",
			                                            .trace = from->trace,
			                                            .exit = exit_of(from) });
		good = checkup_analyse(c, t, run, e->end != EXPLORE_USE_AFTER_FREE, NULL);
	}
	trace_close(t);
	if (good && (run == NONE || !seen_in(c, kind_of(e), run)))
		take_error_fields(c, first, e, run);
	if (good)
		add_point(c, r,
		          (uint32_t)(e - (const struct explore_error *)(void *)r->errors->data),
		          run);
	return good;
}

/* May signal handlers, which the exploration does not record, order the program's threads?
 * The recordings see it, so a race that they do not have may be none. */
static bool is_ordered_outside(const struct explore_report *r)
{
	for (guint i = 0; i < r->reasons->len; i++)
		if (strncmp(r->reasons->pdata[i], "a signal to another thread", 26) == 0)
			return true;
	return false;
}

/* Analyses the kept run of a race like any other, so that the race gets a witness, and its two
 * orders are run. `at`: the run's index, or NONE where it was not kept. */
static bool look_at_race(struct checkup *c, const struct explore_run *from, uint32_t *at)
{
	struct trace *t = from->trace ? checkup_open_run(c, from->trace) : NULL;
	bool good = true;

	*at = NONE;
	for (guint i = 0; from->trace && i < c->runs->len; i++)
		if (strcmp(checkup_run_at(c, i)->trace, from->trace) == 0)
			*at = i;
	if (t != NULL && *at == NONE && !checkup_over(c)) {
		*at = checkup_add_run(c, t,
		                      (struct checkup_run){ .strategy = "explored",
		                                            .trace = from->trace,
		                                            .exit = exit_of(from) });
		good = checkup_run_at(c, *at)->same_as != NONE ||
		       checkup_analyse(c, t, *at, false, NULL);
	}
	trace_close(t);
	return good;
}

/* Adds the race that begins with entry i; `run` shows it, or NONE. */
static void take_race(struct checkup *c, const struct trace *first,
                      const struct explore_report *r, guint i, uint32_t run)
{
	const struct explore_race *race = &g_array_index(r->races, struct explore_race, i);
	/* its run records no calls of uninstrumented code */
	enum verdict verdict = c->missing_calls ? VERDICT_CANDIDATE : VERDICT_RACE;
	json_t *fields =
	        json_pack("{ssssso}", "kind", finding_kind_word(FINDING_DATA_RACE), "verdict",
	                  verdict_word(verdict), "variable", json_text(race->variable));
	guint known = c->list->len;

	json_set_explored(r, i, fields);
	json_object_set_new(
	        fields, "sites",
	        json_pack("[oo]", place_of(first, race->first), place_of(first, race->second)));
	json_object_set_new(fields, "places",
	                    json_pack("[oo]", place_of(first, race->own_first),
	                              place_of(first, race->own_second)));
	GString *text = g_string_new(NULL);
	g_string_append_printf(text, "%s and %s access ", printable(race->own_first),
	                       printable(race->own_second));
	own_code_append_name(race->variable, text);
	if (strcmp(race->own_first, race->first) != 0 ||
	    strcmp(race->own_second, race->second) != 0)
		g_string_append_printf(text, " (exactly at %s and %s)", printable(race->first),
		                       printable(race->second));
	g_string_append(text, ", and nothing keeps the two apart");
	struct checked *f = checkup_add_fields(c, FINDING_DATA_RACE, fields,
	                                       g_string_free(text, FALSE), run, false);
	if (c->list->len > known)
		checkup_stream(c, f);
}

/* Notes the end of an explored run, except for failures by a check or a use after free, where
 * it does not matter. */
static void note_end(struct checkup *c, const struct explore_run *run)
{
	c->fine_runs += run->end == EXPLORE_FINE;
	if (run->end == EXPLORE_SIGNAL)
		g_hash_table_add(c->ends, g_strdup_printf("signal %d", run->status));
	else if (run->end == EXPLORE_DEADLOCK || run->end == EXPLORE_BLOCKED)
		g_hash_table_add(c->ends, g_strdup("stuck"));
	else if (run->end != EXPLORE_FINE && run->end != EXPLORE_STATUS)
		g_hash_table_add(c->ends, g_strdup("any"));
	else
		g_hash_table_add(c->ends,
		                 g_strdup_printf("status %d",
		                                 run->end == EXPLORE_STATUS ? run->status : 0));
}

static void append_word(GString *list, const char *word, gsize length)
{
	g_string_append(list, list->len > 0 ? ", " : "");
	g_string_append_len(list, word, (gssize)length);
}

/* "deflate of libz.so.1, which is not instrumented, ...": the functions by library. False:
 * another reason for incompleteness. */
static bool add_missing(GHashTable *libraries, const char *gap)
{
	static const char what[] = ", which is not instrumented, is called while other threads";
	const char *end = strstr(gap, what), *of = end ? strstr(gap, " of ") : NULL;
	char *library;
	GString *names;

	if (of == NULL || of > end)
		return false;
	library = g_strndup(of + 4, (gsize)(end - of - 4));
	names = g_hash_table_lookup(libraries, library);
	if (names == NULL) {
		names = g_string_new(NULL);
		g_hash_table_insert(libraries, library, names);
	} else {
		g_free(library);
	}
	append_word(names, gap, (gsize)(of - gap));
	return true;
}

static void free_string(void *data)
{
	g_string_free(data, TRUE);
}

/* Operations whose order is not explored share one sentence, as do the functions of a library
 * that is not instrumented; other reasons have one each. */
static void add_uncovered_by_exploration(struct checkup *c, const struct explore_report *r)
{
	g_autoptr(GHashTable) libraries =
	        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_string);
	GString *operations = g_string_new(NULL), *names;
	GHashTableIter iter;
	char *library;

	for (guint i = 0; i < r->reasons->len; i++) {
		const char *gap = r->reasons->pdata[i];
		const char *end = strstr(gap, EXPLORE_ORDER_OPEN);

		if (end != NULL)
			append_word(operations, gap, (gsize)(end - gap));
		else if (strcmp(gap, EXPLORE_TIME_UP) == 0)
			c->explored_late = true;
		else if (!add_missing(libraries, gap))
			checkup_uncovered(c, "in the exploration, %s", gap);
	}
	if (operations->len > 0)
		checkup_uncovered(c, "in the exploration, other orders of these operations: %s",
		                  operations->str);
	g_hash_table_iter_init(&iter, libraries);
	while (g_hash_table_iter_next(&iter, (gpointer *)&library, (gpointer *)&names))
		checkup_uncovered(
		        c,
		        "in the exploration, what functions of %s do, which is not "
		        "instrumented and is called while other threads run: %s (instrument "
		        "it, or bind them: --spec)",
		        library, names->str);
	g_string_free(operations, TRUE);
}

static bool take_exploration(struct checkup *c, const struct explore_report *r)
{
	struct trace *first = checkup_open_run(c, checkup_run_at(c, 0)->trace);
	bool good = first != NULL;

	c->explored = true;
	c->classes = r->classes;
	c->executions = r->runs->len;
	c->left = r->waiting;
	g_autoptr(GArray) outputs = explore_outputs(r);
	c->explored_outputs = MAX(c->explored_outputs, outputs->len);
	c->explored_all = r->complete && r->reasons->len == 0;
	for (guint i = 0; i < r->runs->len; i++)
		note_end(c, &g_array_index(r->runs, struct explore_run, i));
	for (guint i = 0; c->explored_all && i < c->runs->len; i++)
		if (checkup_run_at(c, i)->outcome)
			checkup_is_explored(c, checkup_run_at(c, i)->outcome);
	for (guint i = 0; good && i < r->errors->len; i++)
		good = take_error(c, first, r,
		                  &g_array_index(r->errors, struct explore_error, i));
	for (guint i = 0; good && !is_ordered_outside(r) && i < r->races->len; i++) {
		const struct explore_race *race =
		        &g_array_index(r->races, struct explore_race, i);
		uint32_t run;

		if (!explore_race_begins(r, i))
			continue;
		good = look_at_race(c, &g_array_index(r->runs, struct explore_run, race->run),
		                    &run);
		take_race(c, first, r, i, run);
	}
	if (r->races->len > 0 && is_ordered_outside(r))
		checkup_uncovered(
		        c, "data races that only the exploration saw: it does not see what "
		           "a signal's handler orders");
	add_uncovered_by_exploration(c, r);
	c->failed |= first == NULL;
	trace_close(first);
	return good;
}

/* -- exploring ----------------------------------------------------------------------------- */

bool checkup_is_small(struct checkup *c)
{
	uint64_t events = c->runs->len ? checkup_run_at(c, 0)->events : 0;

	if (events > EXPLORED_EVENTS)
		checkup_uncovered(
		        c,
		        "every schedule: a run has %" G_GUINT64_FORMAT
		        " events, too many to explore beside the rest (heddle explore)",
		        events);
	return events > 0 && events <= EXPLORED_EVENTS && checkup_left(c) > 1;
}

/* Remove traces that no finding needs. */
static void remove_saved(const struct checkup *c, struct explore_report *r)
{
	for (guint i = 0; i < r->runs->len; i++) {
		struct explore_run *run = &g_array_index(r->runs, struct explore_run, i);
		bool used = false;

		for (guint k = 0; run->trace && k < c->runs->len; k++)
			used |= strcmp(checkup_run_at(c, k)->trace, run->trace) == 0;
		if (run->trace && !used) {
			unlink(run->trace);
			g_clear_pointer(&run->trace, g_free);
		}
	}
}

/* The points of no return belong to the runs whose traces were kept (as
 * PREFIX.NAME.runN.hdl): the explorer shows them. Without such a point, the files are
 * removed. */
static bool keep_tree(struct checkup *c, const struct explore_report *r, const char *name)
{
	g_autofree char *path = g_strdup_printf("%s.%s", c->prefix, name);
	bool kept = false;

	for (guint i = 0; i < r->points->len; i++) {
		uint32_t run = g_array_index(r->points, struct explore_point, i).run;
		kept |= g_array_index(r->runs, struct explore_run, run).trace != NULL;
	}
	return !kept || explore_write_tree(r, c->argv[0], path, &c->error);
}

/* Explores for at most these seconds; `name` begins the names of its runs' files. NULL:
 * interrupted, or it could not run, which is reported. */
static struct explore_report *explore_for(struct checkup *c, double seconds, const char *name,
                                          bool until_error, uint32_t spurious)
{
	g_autofree char *save = g_strdup_printf("%s.%s", c->prefix, name);
	struct explore_options o = { .argv = c->argv,
		                     .spec_files = c->binds,
		                     .save = save,
		                     .finals = c->finals,
		                     .seed = c->shard, /* each share uses another seed */
		                     .seconds = seconds,
		                     .query_seconds = 1,
		                     .timeout_ms = c->timeout_ms,
		                     .until_error = until_error,
		                     .spurious = spurious,
		                     .interrupted = c->interrupted };
	struct specs *specs = c->binds->len ? specs_open(c->binds, &c->error) : NULL;
	struct explore_report *r = NULL;
	struct error error = { 0 };

	o.specs = specs;
	checkup_rewind_input(c);
	if (c->binds->len == 0 || specs != NULL)
		r = explore(&o, &c->progress, &error);
	if (r == NULL && !checkup_over(c) && !until_error && spurious == 0)
		checkup_uncovered(c, "every schedule: the exploration could not run: %s",
		                  error.what);
	if (specs)
		specs_free(specs);
	return r;
}

bool checkup_hunt(struct checkup *c)
{
	const struct checkup_run *first = checkup_run_at(c, 0);
	bool good = true;

	if (first->events == 0 || first->events > EXPLORED_EVENTS || checkup_left(c) < 1 ||
	    !outcome_good(first->outcome))
		return true;
	c->doing = "hunting for a schedule that fails";
	c->hunted = explore_for(c, checkup_left(c) / HUNT_PARTS, "hunted", true, 0);
	if (c->hunted == NULL || c->hunted->complete)
		return true;
	struct trace *t = checkup_open_run(c, first->trace);
	c->failed |= t == NULL;
	good = t != NULL;
	for (guint i = 0; good && i < c->hunted->errors->len; i++)
		good = take_error(c, t, c->hunted,
		                  &g_array_index(c->hunted->errors, struct explore_error, i));
	trace_close(t);
	remove_saved(c, c->hunted);
	good = keep_tree(c, c->hunted, "hunted") && good;
	explore_report_free(g_steal_pointer(&c->hunted));
	return good;
}

/* Notes the spurious wake-up of the run that shows the finding. */
static void mark_spurious(struct checkup *c, struct checked *f)
{
	struct trace *t = f->shown != NONE
	                          ? checkup_open_run(c, checkup_run_at(c, f->shown)->trace)
	                          : NULL;
	g_autofree char *text = t != NULL ? explore_spurious_text(t) : NULL;

	if (text != NULL)
		json_object_set_new(f->fields, "spurious-wakeup", json_text(text));
	trace_close(t);
}

/* Explores schedules with one spurious wake-up, too. False: c->error. */
static bool explore_spurious(struct checkup *c)
{
	double seconds = checkup_left(c) / (c->explored_all ? 2 : SPURIOUS_PARTS);
	guint known = c->list->len;

	if (c->binds->len > 0 || seconds < 1)
		return true;
	c->doing = "exploring spurious wake-ups";
	struct explore_report *r = explore_for(c, seconds, "spurious", !c->explored_all, 1);
	struct trace *first = checkup_open_run(c, checkup_run_at(c, 0)->trace);
	bool good = first != NULL;

	c->failed |= first == NULL;
	c->spurious = r != NULL;
	c->spurious_all = r != NULL && r->complete && r->reasons->len == 0;
	for (guint i = 0; good && r != NULL && i < r->errors->len; i++)
		good = take_error(c, first, r,
		                  &g_array_index(r->errors, struct explore_error, i));
	for (guint i = known; i < c->list->len; i++)
		mark_spurious(c, c->list->pdata[i]);
	if (r != NULL) {
		remove_saved(c, r);
		good = keep_tree(c, r, "spurious") && good;
		explore_report_free(r);
	}
	trace_close(first);
	return good;
}

bool checkup_explore(struct checkup *c)
{
	struct explore_report *r = g_steal_pointer(&c->hunted);
	const char *name = r != NULL ? "hunted" : "explored";
	bool good = true;

	c->doing = "exploring";
	if (r == NULL && c->shard > 0)
		return true; /* the first share does */
	if (r == NULL)
		r = explore_for(c, checkup_left(c) / 2, name, false, 0);
	if (r != NULL) {
		bool waits = r->waits;

		c->waits |= waits;
		good = take_exploration(c, r);
		remove_saved(c, r);
		good = keep_tree(c, r, name) && good;
		explore_report_free(r);
		c->spurious_all = c->explored_all && !waits;
		if (good && waits && !checkup_over(c))
			good = explore_spurious(c);
	}
	return good;
}
