/*
 * explore_errors.c - errors of the program: equality of errors, runs to keep, and whether the
 * program failed.
 */
#include "engine/explore/explore_private.h"

#include <string.h>

enum { SAVED_ERRORS = 16 };

/* Appends the text with "#" in place of each number. */
static void append_without_numbers(GString *out, const char *text)
{
	for (; *text; text++) {
		if (!g_ascii_isdigit(*text))
			g_string_append_c(out, *text);
		else if (!g_ascii_isdigit(text[1]))
			g_string_append_c(out, '#');
	}
}

static int by_text(gconstpointer a, gconstpointer b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Threads that are alike differ by their numbers alone, and lines about them by their order. */
static void append_without_threads(GString *key, const struct explore_run *r)
{
	g_autoptr(GRegex) thread = g_regex_new("\\bT[0-9]+", 0, 0, NULL);
	g_autofree char *story =
	        g_regex_replace_literal(thread, r->story, -1, 0, "T#", 0, NULL);
	g_auto(GStrv) lines = g_strsplit(story, "\n", -1);
	g_autoptr(GPtrArray) all = g_ptr_array_new();
	for (char **line = lines; *line; line++)
		g_ptr_array_add(all, *line);
	for (guint i = 0; r->places && i < r->places->len; i++)
		g_ptr_array_add(all, r->places->pdata[i]);
	g_ptr_array_sort(all, by_text);
	for (guint i = 0; i < all->len; i++)
		g_string_append_printf(key, "\n%s", (char *)all->pdata[i]);
}

/* Identity of an error: ending, place and story. The story of an exit status or a signal is the
 * last line that the program printed, whose numbers are results: one wrong sum and another are
 * one error. */
static char *key_of(const struct exploration *x, const struct explore_run *r)
{
	bool printed = r->end == EXPLORE_STATUS || r->end == EXPLORE_SIGNAL;
	GString *key = g_string_new(NULL);
	g_string_printf(key, "%d %d ", r->end, r->status);
	if (!printed && x->options->symmetry) {
		append_without_threads(key, r);
		return g_string_free(key, FALSE);
	}
	if (printed)
		append_without_numbers(key, r->story);
	else
		g_string_append(key, r->story);
	for (guint i = 0; r->places && i < r->places->len; i++)
		g_string_append_printf(key, "\n%s", (char *)r->places->pdata[i]);
	return g_string_free(key, FALSE);
}

/* The error with this key (ownership taken); a new one has count 0. */
static struct explore_error *error_of(struct exploration *x, const struct explore_run *r,
                                      char *key)
{
	GArray *errors = x->report->errors;
	for (guint i = 0; i < errors->len; i++) {
		struct explore_error *e = &g_array_index(errors, struct explore_error, i);
		if (strcmp(e->key, key) == 0) {
			g_free(key);
			return e;
		}
	}
	struct explore_error fresh = { .end = r->end,
		                       .status = r->status,
		                       .story = g_strdup(r->story),
		                       .key = key,
		                       .places = r->places ? g_ptr_array_ref(r->places) : NULL,
		                       .run = x->run,
		                       .shortest = x->run };
	g_array_append_val(errors, fresh);
	return &g_array_index(errors, struct explore_error, errors->len - 1);
}

/* Count the run, once for each class; true for the first run with this error, whose index
 * becomes the run's own if the error `is_own`, that is, ends the run. */
static bool count_error(struct exploration *x, struct explore_run *r, char *key, bool is_own)
{
	struct explore_error *e = error_of(x, r, key);
	bool first = e->count == 0;
	e->count += first || !r->redundant || r->strayed;
	if (is_own)
		r->error =
		        (uint32_t)(e - (struct explore_error *)(void *)x->report->errors->data);
	return first;
}

/* Is the run's ending, after a use, a separate error? */
static bool is_other_error(struct exploration *x, const struct explore_run *r,
                           const struct explore_use *use, bool fresh)
{
	char *own = key_of(x, r), *both = g_strdup_printf("%s then %s", use->key, own);
	bool known = !g_hash_table_add(x->errors, both);
	g_free(own);
	switch (r->end) {
	case EXPLORE_FINE:
	case EXPLORE_DIVERGED: /* caused by the use */
	case EXPLORE_CUT:
		return false;
	case EXPLORE_SPECIFICATION:
	case EXPLORE_CHECK:
		return true;
	default:
		return !fresh && !known;
	}
}

/* Counts each of the uses as an error of its own, with the ending of `as`. True: one is new. */
static bool count_each(struct exploration *x, struct explore_run *as, const GPtrArray *uses)
{
	bool fresh = false;
	for (guint i = 0; i < uses->len; i++) {
		const struct explore_use *u = uses->pdata[i];
		as->places = g_ptr_array_new_with_free_func(g_free);
		g_ptr_array_add(as->places, g_strdup(u->place));
		as->story = u->story;
		fresh |= count_error(x, as, g_strdup(u->key), i == 0);
		g_hash_table_add(x->errors, g_strdup(u->key));
		g_ptr_array_unref(as->places);
		if (u->unlocks)
			explore_note_incomplete(
			        x, "a thread unlocks what it does not hold: orders in which "
			           "that lets another thread in are not explored");
	}
	return fresh;
}

/* Uses after an end of life are separate errors, by their pair of places. The run's ending is
 * reported with the first; the same ending with the same use in another run is the same
 * error. */
static bool count_uses(struct exploration *x, struct explore_run *r)
{
	GPtrArray *uses = explore_find_uses(x, r);
	struct explore_run as_use = *r;
	as_use.end = EXPLORE_USE_AFTER_FREE;
	bool fresh = count_each(x, &as_use, uses);
	if (uses->len > 0 && !is_other_error(x, r, uses->pdata[0], fresh)) {
		struct explore_use *first = uses->pdata[0];
		r->end = EXPLORE_USE_AFTER_FREE;
		explore_set_place(r, first->place);
		g_free(r->story);
		r->story = g_strdup(first->story);
		r->error = as_use.error;
	}
	g_ptr_array_unref(uses);
	return fresh;
}

/* Errors of another kind than the run's ending, each by its places; a run that completed has
 * failed by the first. True: one is new. Unrefs the list. */
static bool count_beside(struct exploration *x, struct explore_run *r, enum explore_end end,
                         GPtrArray *uses)
{
	struct explore_run as = *r;
	as.end = end;
	bool fresh = count_each(x, &as, uses);
	if (uses->len > 0 && r->end == EXPLORE_FINE) {
		struct explore_use *first = uses->pdata[0];
		r->end = end;
		explore_set_place(r, first->place);
		g_free(r->story);
		r->story = g_strdup(first->story);
		r->error = as.error;
	}
	g_ptr_array_unref(uses);
	return fresh;
}

/* Note why a run did not follow its schedule, if known. */
static void note_strayed(struct exploration *x, const struct plan_run *run)
{
	enum log_divergence why = run->facts.divergence.why;
	if (run->facts.diverged && (why == DIVERGED_BLOCKED || why == DIVERGED_SPINS))
		explore_note_incomplete(
		        x, "a run did not follow its schedule: a thread waits for something "
		           "that is not modelled (in a library, or inside an invocation)");
	else
		explore_note_incomplete(
		        x,
		        "a run did not follow its schedule: what it reads from outside (a "
		        "clock, a file, a socket) is not the same each time (--before COMMAND "
		        "puts files back), or its threads share what is not seen (code that is not instrumented, inline "
		        "assembly)");
}

/* Is run `a` easier to read than run `b`? */
static bool is_shorter(const struct explore_run *a, const struct explore_run *b)
{
	return a->switches != b->switches ? a->switches < b->switches : a->events < b->events;
}

static void take_history(struct explore_error *e, const struct linear_story *story)
{
	if (e->history)
		g_array_unref(e->history);
	e->history = g_array_ref(story->shown);
	g_free(e->story);
	e->story = g_strdup(story->text);
}

/* Keeps the current run's turns for the errors whose shortest run it is. */
static void keep_turns(struct exploration *x, const GArray *turns)
{
	const GArray *errors = x->report->errors;
	for (guint i = 0; x->portfolio != NULL && i < errors->len; i++) {
		if (g_array_index(errors, struct explore_error, i).shortest != x->run)
			continue;
		while (x->turns->len <= i)
			g_ptr_array_add(x->turns, NULL);
		if (x->turns->pdata[i])
			g_array_unref(x->turns->pdata[i]);
		x->turns->pdata[i] = g_array_copy((GArray *)turns);
	}
}

/* Is it the first run of a race? */
static bool shows_race(const struct exploration *x, uint32_t run)
{
	const GArray *races = x->report->races;
	for (guint i = 0; i < races->len; i++)
		if (g_array_index(races, struct explore_race, i).run == run)
			return true;
	return false;
}

/* Makes the run the error's shortest, if it is shorter; the previous one's trace is dropped,
 * unless it has another use. `story`: of a history that is not linearizable, else NULL.
 * False: not shorter. */
static bool note_shortest(struct exploration *x, const struct explore_run *r, uint32_t error,
                          const struct linear_story *story)
{
	GArray *runs = x->report->runs, *errors = x->report->errors;
	if (error == NONE || r->strayed)
		return false;
	struct explore_error *e = &g_array_index(errors, struct explore_error, error);
	if (e->run == x->run || x->report->errors->len > SAVED_ERRORS)
		return false;
	struct explore_run *before = &g_array_index(runs, struct explore_run, e->shortest);
	/* a base's trace belongs to all tasks */
	bool other = e->shortest < MAX(x->origin.extent.runs, 1) || shows_race(x, e->shortest);
	bool smaller = story && story->shown->len < e->history->len;
	if (!smaller &&
	    (!is_shorter(r, before) || (story && story->shown->len > e->history->len)))
		return false;
	for (guint i = 0; i < errors->len; i++) {
		const struct explore_error *o = &g_array_index(errors, struct explore_error, i);
		other |= o->run == e->shortest || (o != e && o->shortest == e->shortest);
	}
	if (!other)
		explore_unsave(x, before);
	e->shortest = x->run;
	if (story)
		take_history(e, story);
	return true;
}

/* Histories that are not linearizable are separate errors, too; a run that completed has failed
 * by the first. */
static bool count_nonlinear(struct exploration *x, struct explore_run *r)
{
	GPtrArray *stories = explore_find_nonlinear(x);
	bool fresh = false;
	x->nonlinear = stories->len > 0;
	for (guint i = 0; i < stories->len; i++) {
		const struct linear_story *story = stories->pdata[i];
		struct explore_run as = *r;
		as.end = EXPLORE_LINEARIZABILITY;
		as.places = g_ptr_array_new_with_free_func(g_free);
		g_ptr_array_add(as.places, g_strdup(story->place));
		as.story = story->text;
		bool first = count_error(x, &as, g_strdup(story->key), true);
		if (first)
			take_history(&g_array_index(x->report->errors, struct explore_error,
			                            as.error),
			             story);
		fresh |= first || note_shortest(x, r, as.error, story);
		g_ptr_array_unref(as.places);
		if (r->end != EXPLORE_FINE)
			continue;
		r->end = EXPLORE_LINEARIZABILITY;
		explore_set_place(r, story->place);
		g_free(r->story);
		r->story = g_strdup(story->text);
		r->error = as.error;
	}
	g_ptr_array_unref(stories);
	return fresh;
}

/* Did the run end by itself, in an error that no other function counts? A run that left its
 * schedule, or was cut, makes the exploration incomplete: its program might have gone on. */
static bool has_failed(const struct explore_run *r)
{
	switch (r->end) {
	case EXPLORE_FINE:
	case EXPLORE_USE_AFTER_FREE:
	case EXPLORE_LOCK_MISUSE:
	case EXPLORE_UNWRITTEN:
	case EXPLORE_LINEARIZABILITY:
	case EXPLORE_DIVERGED:
	case EXPLORE_CUT:
		return false;
	default:
		return true;
	}
}

/* Notes that a run was cut, and why. True for the first one. */
static bool note_cut(struct exploration *x, const struct plan_run *run,
                     const struct explore_run *r)
{
	static const char key[] = "a run that was cut";
	if (r->end != EXPLORE_CUT || !g_hash_table_add(x->errors, g_strdup(key)))
		return false;
	bool looks = run->facts.status == LOG_DEADLOCK; /* the story: a line for each thread */
	g_auto(GStrv) waits = g_strsplit(r->story, "\n", -1);
	g_autofree char *who = g_strjoinv(", ", waits);
	g_autofree char *why =
	        looks ? g_strdup_printf(
	                        "a run was cut: threads waited for each other by looking, and "
	                        "changed memory or locks meanwhile (%s)",
	                        who)
	              : g_strdup_printf("a run was cut: %s", who);
	explore_note_incomplete(x, why);
	return true;
}

/* Keeps the first run, the first that was cut, and for each error the first and the shortest.
 */
bool explore_note_end(struct exploration *x, const struct plan *plan,
                      const struct plan_run *run, struct explore_run *r, struct error *error)
{
	bool diverged = r->strayed, fresh = count_uses(x, r);
	fresh |= count_beside(x, r, EXPLORE_LOCK_MISUSE, explore_find_misuses(x));
	fresh |= count_beside(x, r, EXPLORE_LOCK_MISUSE, explore_find_early_uses(x, run));
	fresh |= count_beside(x, r, EXPLORE_UNWRITTEN,
	                      explore_find_unwritten(x, plan, diverged));
	fresh |= count_nonlinear(x, r);
	fresh |= note_cut(x, run, r);
	if (has_failed(r))
		fresh |= count_error(x, r, key_of(x, r), true);
	if (r->end != EXPLORE_LINEARIZABILITY)
		fresh |= note_shortest(x, r, r->error, NULL);
	keep_turns(x, run->facts.turns);
	bool keep = x->run == 0 || (fresh && x->report->errors->len <= SAVED_ERRORS);
	if (diverged && (r->end == EXPLORE_USE_AFTER_FREE || x->after_use))
		explore_note_incomplete(
		        x, "a run did not follow its schedule after it had used what was "
		           "freed or destroyed");
	else if (diverged)
		note_strayed(x, run);
	return !keep || explore_save(x, r, error);
}

bool explore_is_usual(const struct exploration *x, const struct explore_error *e)
{
	if (e->end == EXPLORE_UNWRITTEN)
		return e->count >= x->report->classes;
	const GArray *runs = x->report->runs;
	for (guint i = 0; e->end == EXPLORE_STATUS && i < runs->len; i++) {
		const struct explore_run *r = &g_array_index(runs, struct explore_run, i);
		if (r->end == EXPLORE_FINE ||
		    (r->end == EXPLORE_STATUS && r->status != e->status))
			return false;
	}
	return e->end == EXPLORE_STATUS;
}

bool explore_has_failed(const struct exploration *x)
{
	for (guint i = 0; i < x->report->errors->len; i++) {
		const struct explore_error *e =
		        &g_array_index(x->report->errors, struct explore_error, i);
		if (e->end != EXPLORE_SPECIFICATION && !explore_is_usual(x, e))
			return true;
	}
	return false;
}
