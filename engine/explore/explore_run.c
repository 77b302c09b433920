/*
 * explore_run.c - one execution: run along its schedule, judged, and added to the known runs.
 */
#include "engine/explore/explore_private.h"
#include "engine/explore/runs/alike.h"

#include <string.h>

enum { TOLD_PAIRS = 8 };

static struct explore_run begin_run(struct pending *s)
{
	return (struct explore_run){ .parent = s->parent,
		                     .reversal = g_steal_pointer(&s->reversal),
		                     .thread = g_steal_pointer(&s->thread),
		                     .place = g_steal_pointer(&s->place),
		                     .variable = g_steal_pointer(&s->variable),
		                     .library = s->library };
}

/* Did all threads end? */
static bool is_whole(const struct explore_run *r, const struct plan_run *run)
{
	return (r->end == EXPLORE_FINE || r->end == EXPLORE_STATUS) &&
	       run->facts.status == LOG_EXITED &&
	       run->facts.ended->len + 1 >= run->trace->threads_count;
}

/* Did the end of the program cut off a thread? */
static bool cuts_off(const struct exploration *x, const struct plan_run *run)
{
	g_autofree bool *on = explore_unfinished(x, run);
	return memchr(on, true, x->trace->threads_count) != NULL;
}

static void check_finals(struct exploration *x, struct explore_run *r)
{
	const struct finals *f = x->options->finals;
	GString *story = g_string_new(NULL);
	enum truth holds = finals_hold(f, x->trace, story);
	if (holds == TRUTH_UNKNOWN)
		explore_note_incomplete(
		        x, "a variable of --check is not known at the end: nobody reads or "
		           "writes it");
	if (holds == TRUTH_NO) {
		r->end = EXPLORE_CHECK;
		g_free(r->story);
		r->story = g_strdup_printf("%s does not hold: %s", finals_check(f), story->str);
	}
	g_string_free(story, TRUE);
}

/* Must the run show its schedule's outcome? Not if it depends on unknown initial memory, or
 * results of specified objects; and a thread that is to continue may be unable to. */
static bool is_promised(const struct pending *s, uint32_t ender)
{
	switch (s->kind) {
	case REVERSAL_FAILS:
	case REVERSAL_SUCCEEDS:
	case REVERSAL_TIMEOUT:
	case REVERSAL_SPURIOUS:
	case REVERSAL_SIGNALLED:
	case REVERSAL_LAST:
	case REVERSAL_ONCE:
		return s->parts != NULL && !s->after_use;
	case REVERSAL_WOKEN: /* its thread's next step may come after the end of the program */
	case REVERSAL_STUCK: /* a thread that was cut off might have ended the program */
		return s->parts != NULL && !s->after_use && ender == NONE;
	default:
		return false;
	}
}

/* Has a thread with the part's identity another history than the part's? */
static bool lacks_part(const struct history *h, const struct thread_prefix *part)
{
	for (uint32_t k = 0; k < h->threads_count; k++) {
		const GArray *p = h->threads[k].prefixes;
		bool has = h->threads[k].who != part->who;
		for (guint n = 0; !has && n < p->len; n++)
			has = g_array_index(p, uint64_t, n) == part->prefix;
		if (!has)
			return true;
	}
	return false;
}

/* Has some thread of the run another history than the part's, however its rounds are seen? */
static bool has_otherwise(const struct execution *ex, const struct thread_prefix *part)
{
	return lacks_part(ex->history, part) && (ex->raw == NULL || lacks_part(ex->raw, part));
}

/* Did the run make the schedule's steps, but see other values in them? These then came from
 * outside. (The first part ends with the step whose outcome is new, which may depend on initial
 * memory that is not known: its thread's steps before that count.) */
static bool saw_otherwise(const struct execution *ex, const struct pending *s)
{
	for (uint32_t i = 1; i < s->parts_count; i++)
		if (has_otherwise(ex, &s->parts[i]))
			return true;
	return s->before != 0 &&
	       has_otherwise(ex, &(struct thread_prefix){ s->parts[0].who, s->before });
}

/* Keeps the schedule, for later parts of the exploration, which lack this one's traces. */
static void keep_schedule(struct exploration *x, struct explore_run *r, struct pending *s)
{
	if (x->options->resume == NULL || x->schedules >= NO_RETURN_RUNS)
		return;
	struct archive *a = archive_writer();
	plan_archive(&s->plan, a);
	r->schedule = g_bytes_new(archive_bytes(a)->data, archive_bytes(a)->len);
	archive_free(a);
	x->schedules++;
}

/* Points of no return are computed from the runs that passed and the first of each error:
 * keep their traces. */
static void keep_trace(struct exploration *x, struct explore_run *r, struct pending *s,
                       struct execution *ex, bool fresh)
{
	const GArray *errors = x->report->errors;
	bool first = false;
	for (guint i = 0; i < errors->len; i++)
		first |= g_array_index(errors, struct explore_error, i).run == x->run;
	if (r->strayed || (!fresh && !first))
		return;
	if (!first && r->end != EXPLORE_FINE && r->end != EXPLORE_STATUS)
		return;
	ex->keeper = x->no_return;
	ex->kept_as = x->run;
	keep_schedule(x, r, s);
}

/* Add the run to the report and the known runs. *follow: plan its reversals; *whole: it
 * completed. */
static bool take_run(struct exploration *x, struct pending *s, struct execution *ex,
                     bool *follow, bool *whole, struct error *error)
{
	struct plan_run *run = &ex->run;
	struct explore_run r = begin_run(s);
	r.events = run->trace->events_count;
	explore_judge(x, run, &r);
	if (!r.strayed)
		explore_judge_objects(x, &r);
	struct history *h = ex->history;
	*whole = x->options->finals && is_whole(&r, run);
	if (*whole) {
		history_add_finals(h, finals_names(x->options->finals));
		check_finals(x, &r);
		explore_see_finals(x);
	}
	uint32_t ender = explore_ender(x, run);
	if (ender != NONE && !r.strayed)
		history_add_end(h, ender, cuts_off(x, run));
	r.class_ = history_class(h);
	r.stands_for = alike_classes(h);
	r.commuting = g_ptr_array_new_with_free_func(g_free);
	r.commuting_count = view_commuting_pairs(x->view, r.commuting, TOLD_PAIRS);
	if (r.commuting_count == 0)
		g_clear_pointer(&r.commuting, g_ptr_array_unref);
	bool fresh = !r.strayed && histories_add(x->histories, h);
	r.redundant = !fresh || pasts_longer_in(x->pasts, h) ||
	              (!x->options->bounded && pasts_detour_in(x->pasts, h));
	if (ex->rounds.idle)
		histories_add_class(x->histories, await_rounds_class(&ex->rounds, run, h));
	x->known_run = fresh ? histories_last(x->histories) : NONE;
	if (fresh && !x->options->bounded)
		pasts_see_run(x->pasts, h, x->known_run);
	s->known_as = fresh ? s->known_as : NONE;
	if (!r.strayed && !x->again && x->options->specs == NULL && is_promised(s, ender) &&
	    ex->raw == NULL && !explore_is_known(x, s->parts, s->parts_count, s->kind))
		explore_note_incomplete(
		        x, "the last step of a schedule had another outcome in its run "
		           "than the schedule was made for: an outcome may be missing");
	if (!r.strayed && !x->again && !x->after_use && saw_otherwise(ex, s))
		explore_note_incomplete(
		        x, "a run followed its schedule and read other values: what it reads "
		           "from outside is not the same each time, and runs differ by it "
		           "(--before COMMAND puts files back)");
	bool good = explore_note_end(x, &s->plan, run, &r, error);
	x->report->classes += !r.redundant;
	keep_trace(x, &r, s, ex, fresh);
	explore_share_texts(&r);
	g_array_append_val(x->report->runs, r);
	explore_note_limits(x, run);
	explore_note_cut_off(x, run, &r);
	explore_note_peeks(x);
	explore_note_no_invocation(x);
	explore_note_atomics(x);
	bool endless = r.end == EXPLORE_CUT && run->facts.status != LOG_CUT;
	bool idle = s->by_chance && !fresh;
	if (s->kind == REVERSAL_HISTORY && !x->nonlinear)
		explore_note_incomplete(
		        x, "a schedule with a history that is not linearizable was not "
		           "followed: an error may be missing");
	*follow = !((s->kind == REVERSAL_HISTORY || s->kind == REVERSAL_RACE) && !fresh) &&
	          good && !x->again && !r.strayed && !endless && !idle &&
	          s->kind != REVERSAL_USE && s->kind != REVERSAL_PERMUTED;
	return good;
}

/* Views the execution with all its steps, or without those in rounds in vain. */
static bool see(struct exploration *x, struct execution *ex, const bool *left_out)
{
	struct view_rules rules = explore_view_rules(x, left_out);
	ex->view = view_new(ex->run.trace, &rules, x->progress);
	x->cancelled |= ex->view == NULL;
	if (ex->view != NULL)
		ex->history = history_new(ex->view, histories_initials(x->histories),
		                          explore_apart(x), explore_sums(x, &ex->run));
	return ex->view != NULL;
}

/* Leaves looks without effect out of the run's steps. */
static bool leave_out_looks(struct exploration *x, struct execution *ex)
{
	awaits_see_taken(x->awaits, ex->history, ex->run.facts.taken);
	g_autofree bool *sections = explore_leaves_sections(x, ex->history);
	struct await_memory memory;
	explore_see_memory(x, ex->history, &memory);
	await_rounds_find(&ex->rounds, &ex->run, ex->view->scopes, sections, &memory);
	if (ex->rounds.list->len == 0) {
		explore_see_tries(x, &ex->rounds, ex->history);
		pasts_learn(x->pasts, &ex->rounds, ex->history, ex->view->scopes);
		return true;
	}
	ex->raw_view = g_steal_pointer(&ex->view);
	ex->raw = g_steal_pointer(&ex->history);
	if (!see(x, ex, ex->rounds.in_vain))
		return false;
	awaits_learn(x->awaits, &ex->rounds, ex->history, ex->raw);
	explore_see_tries(x, &ex->rounds, ex->history);
	pasts_learn(x->pasts, &ex->rounds, ex->history, ex->view->scopes);
	return true;
}

/* Make the execution the current run, as number `run`. False when cancelled. */
static bool enter(struct exploration *x, const struct pending *s, struct execution *ex,
                  uint32_t run)
{
	x->run = run;
	x->after_use = s->after_use;
	x->use = s->kind == REVERSAL_USE && ex->run.facts.replayed + 1 >= s->plan.steps->len
	                 ? s->key
	                 : NULL;
	x->trace = ex->run.trace;
	if (!see(x, ex, NULL) || !leave_out_looks(x, ex))
		return false;
	explore_see_parts(x, ex);
	x->view = ex->view;
	x->history = ex->history;
	x->rounds = &ex->rounds;
	x->model = ex->model;
	x->parts = ex->parts;
	return !x->cancelled;
}

/* Judge an execution and plan its reversals; takes ownership of both. */
static bool follow_run(struct exploration *x, struct pending *s, struct execution *ex,
                       struct error *error)
{
	bool good = true, follow = false, whole = false;
	bool entered = enter(x, s, ex, x->report->runs->len);
	if (entered)
		explore_judge_alike(x, s, ex);
	if (entered && x->again) /* for nothing */
		x->report->abandoned++;
	else if (entered)
		good = take_run(x, s, ex, &follow, &whole, error);
	if (follow)
		explore_plan_begun(x, ex, s);
	if (good && s->kind == REVERSAL_RACE && !x->again)
		explore_see_race(x, s);
	if (!x->again)
		explore_choose_next(x);
	if (follow && !x->cancelled) {
		explore_plan(x, ex, s, whole);
	} else {
		execution_free(ex);
		pending_free(s);
	}
	explore_leave(x);
	return good;
}

/* Puts the schedule back: it is executed later, by another process or never. */
static void put_back(struct exploration *x, struct pending *s, struct execution *ex)
{
	if (s->by_chance)
		pending_free(s);
	else
		worklist_add(x->worklist, s);
	execution_free(ex);
}

/* Was the execution cut by a limit of the exploration? */
static bool is_cut_off(struct exploration *x, const struct execution *ex)
{
	bool late =
	        ex->run.result.timed_out && explore_out_of_time(x) && x->report->runs->len > 0;
	if (late)
		explore_stop(x, EXPLORE_TIME_UP);
	return late || explore_is_interrupted(x);
}

bool explore_run_pending(struct exploration *x, struct pending *s, struct error *error)
{
	struct execution *ex = g_new0(struct execution, 1);
	if (!explore_start_run(x, s, &ex->run, error)) {
		put_back(x, s, ex);
		return explore_is_interrupted(x); /* then there may be no trace */
	}
	if (is_cut_off(x, ex)) {
		put_back(x, s, ex);
		return true;
	}
	if (x->report->runs->len == 0 && explore_is_refused(x, &ex->run, error)) {
		put_back(x, s, ex);
		return false;
	}
	if (x->portfolio && (s->by_chance || x->report->runs->len == x->first))
		portfolio_learn(x->portfolio, ex->run.trace, ex->run.facts.turns, false);
	return follow_run(x, s, ex, error);
}

void repeat_free(struct repeat *r)
{
	if (r == NULL)
		return;
	pending_free(r->schedule);
	g_free(r);
}

/* Does the run have the same class as when it was first added? */
static bool is_as_before(const struct exploration *x, struct execution *ex, bool *whole)
{
	const struct explore_run *r =
	        &g_array_index(x->report->runs, struct explore_run, x->run);
	uint32_t ender = explore_ender(x, &ex->run);
	*whole = x->options->finals && is_whole(r, &ex->run);
	if (*whole)
		history_add_finals(ex->history, finals_names(x->options->finals));
	if (ender != NONE)
		history_add_end(ex->history, ender, cuts_off(x, &ex->run));
	return history_class(ex->history) == r->class_;
}

bool explore_run_again(struct exploration *x, struct repeat *r, struct error *error)
{
	struct execution *ex = g_new0(struct execution, 1);
	bool whole = false, good = explore_start_run(x, r->schedule, &ex->run, error);
	if (!good || is_cut_off(x, ex)) {
		g_ptr_array_add(x->repeats, r);
		execution_free(ex);
		return good || explore_is_interrupted(x);
	}
	if (!enter(x, r->schedule, ex, r->number)) {
		execution_free(ex);
	} else if (is_as_before(x, ex, &whole)) {
		struct explore_run *run =
		        &g_array_index(x->report->runs, struct explore_run, r->number);
		x->known_run = r->known_run;
		x->report->pruned -= run->pruned; /* they are met again */
		run->pruned = 0;
		if (r->number < x->origin.extent.runs && !x->origin.anew)
			g_array_append_val(x->origin.replanned, r->number);
		explore_plan_begun(x, ex, r->schedule);
		ex->races_found = r->races_found;
		explore_plan(x, ex, g_steal_pointer(&r->schedule), whole);
	} else {
		explore_note_incomplete(
		        x, "a run of the resumed exploration does otherwise now: what follows "
		           "from it is not explored");
		execution_free(ex);
	}
	explore_leave(x);
	repeat_free(r);
	return true;
}

bool explore_run_for_trace(struct exploration *x, uint32_t number)
{
	GBytes *schedule = g_array_index(x->report->runs, struct explore_run, number).schedule;
	if (schedule == NULL)
		return false;
	struct pending *s = g_new0(struct pending, 1);
	struct execution *ex = g_new0(struct execution, 1);
	struct archive *a =
	        archive_reader(g_bytes_get_data(schedule, NULL), g_bytes_get_size(schedule));
	struct error none;
	bool whole;
	plan_archive(&s->plan, a);
	bool same = archive_ended(a) && explore_start_run(x, s, &ex->run, &none) &&
	            enter(x, s, ex, number) && is_as_before(x, ex, &whole);
	explore_leave(x);
	if (same) {
		ex->keeper = x->no_return; /* execution_free hands the trace over */
		ex->kept_as = number;
	}
	archive_free(a);
	execution_free(ex);
	pending_free(s);
	return same;
}
