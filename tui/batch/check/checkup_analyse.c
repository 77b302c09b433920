/*
 * checkup_analyse.c - analyses of a run's trace: findings that happened, then data races, then
 * the other detectors; and the harm of new findings.
 */
#include "tui/batch/check/checkup.h"

#include "engine/trace/own_code.h"
#include "engine/trace/ending.h"
#include "engine/detect/detectors.h"
#include "engine/detect/failure.h"
#include "engine/harm/serial.h"
#include "engine/predict/predict.h"
#include "tui/batch/suppressions.h"

#include <string.h>

/* The analysis of one trace. */
struct analysis_of {
	struct checkup *c;
	struct trace *t;
	struct places *places;
	uint32_t run;
	const struct outcome *recorded;
	GPtrArray *reports; /* struct report *, owned: harm uses their findings later */
	GPtrArray *fresh;   /* struct fresh *, owned */
	GArray *undecided;  /* uint32_t: events, two by two */
};
struct fresh {
	struct checked *entry;
	const struct finding *finding;
};

/* Note why an analysis is incomplete, each reason once. (Atomicity has a sentence of its
 * own.) */
static void note_reason(struct checkup *c, const struct report *r)
{
	g_autofree char *why = report_why_open(r);

	if (why != NULL && strcmp(r->analysis, "atomic") != 0 &&
	    !g_ptr_array_find_with_equal_func(c->open_because, why, g_str_equal, NULL))
		g_ptr_array_add(c->open_because, g_steal_pointer(&why));
}

/* Mark the kinds of findings that an incomplete analysis covers. */
static void note_open(struct checkup *c, const char *analysis)
{
	static const struct {
		const char *analysis;
		enum finding_kind kinds[2];
	} finds[] = {
		{ "auto", { FINDING_DATA_RACE, FINDING_DATA_RACE } },
		{ "deadlocks", { FINDING_DEADLOCK, FINDING_STUCK } },
		{ "cov", { FINDING_ORDER_VIOLATION, FINDING_USE_AFTER_FREE } },
		{ "rd2", { FINDING_COMMUTATIVITY_RACE, FINDING_COMMUTATIVITY_RACE } },
		{ "misuse", { FINDING_LOCK_MISUSE, FINDING_LOCK_MISUSE } },
		{ "atomic", { FINDING_ATOMIC_SET_VIOLATION, FINDING_ATOMIC_SET_VIOLATION } },
		{ "atomic-predict",
		  { FINDING_ATOMIC_SET_VIOLATION, FINDING_ATOMIC_SET_VIOLATION } },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(finds); i++)
		for (int k = 0; strcmp(finds[i].analysis, analysis) == 0 && k < 2; k++)
			c->open[finds[i].kinds[k]] = true;
}

/* Is the finding an order violation that happened, or a use after the end of a life? Other
 * orders of signals or messages are no error of a program. */
static bool is_listed(const struct finding *f)
{
	return verdict_is_found(f->verdict);
}

/* Does it have two orders that can be run? (Beside others', a data race's witness may have
 * been too long to be kept.) */
static bool has_harm(const struct finding *f)
{
	return ((f->witness != NULL || f->kind == FINDING_DATA_RACE) &&
	        f->verdict == VERDICT_RACE) ||
	       f->kind == FINDING_ATOMIC_SET_VIOLATION;
}

/* Adds a pair to a table of struct undecided, unless it is there; `text` is owned from now on.
 */
static void note_pair(struct analysis_of *x, GHashTable *pairs, const struct finding *f,
                      char *text)
{
	json_auto_t *fields = finding_json(x->places, x->t, f);
	g_autofree char *key = checkup_key(fields);
	struct undecided u = { text, x->run, f->kind };

	if (g_hash_table_contains(pairs, key))
		g_free(text);
	else
		g_hash_table_insert(pairs, g_steal_pointer(&key), g_memdup2(&u, sizeof u));
}

/* Notes pairs that the analysis leaves undecided, for runs with an aim. */
static void note_undecided(struct analysis_of *x, const struct finding *f)
{
	note_pair(x, x->c->undecided, f,
	          g_strdup_printf("%s and %s", trace_location_name(x->t, f->first),
	                          trace_location_name(x->t, f->second)));
	g_array_append_val(x->undecided, f->first);
	g_array_append_val(x->undecided, f->second);
}

/* Notes at a finding of a run along a plan, which records no calls of uninstrumented code: in
 * a program whose recordings have such calls, these may order a race found in such a run. */
static void doubt(const struct analysis_of *x, struct finding *f)
{
	if (x->c->argv == NULL || x->c->missing_calls == 0 || missing_code_was_called(x->t) ||
	    f->verdict != VERDICT_RACE ||
	    (f->kind != FINDING_DATA_RACE && f->kind != FINDING_ORDER_VIOLATION &&
	     f->kind != FINDING_USE_AFTER_FREE))
		return;
	f->verdict = VERDICT_CANDIDATE;
	f->missing = g_strdup(
	        "only if calls into code that is not instrumented, which a run along a "
	        "given schedule does not record, do not synchronise the two");
}

/* Notes pairs that only the values of racy reads keep apart in this run. */
static void note_behind(struct analysis_of *x, const struct finding *f)
{
	g_autoptr(GString) name = g_string_new(NULL);

	trace_append_variable(x->t, &x->t->events[f->first], name);
	note_pair(x, x->c->behind, f, g_strdup(name->str));
}

static void take(struct analysis_of *x, struct report *r)
{
	bool listed = r->open_listed;

	g_ptr_array_add(x->reports, r);
	for (guint i = 0; i < r->findings->len; i++) {
		struct finding *f = r->findings->pdata[i];
		bool fresh;

		doubt(x, f);
		if (f->verdict == VERDICT_UNKNOWN && f->second != NONE)
			note_undecided(x, f);
		if (!is_listed(f))
			continue;
		struct checked *entry = checkup_add(x->c, x->t, x->places, f, x->run, &fresh);
		struct fresh new = { entry, f };
		entry->waits_for_time |= entry->harm == HARM_UNASKED && has_harm(f);
		if (fresh || entry->waits_for_time)
			g_ptr_array_add(x->fresh, g_memdup2(&new, sizeof new));
		if (fresh)
			checkup_stream(x->c, entry);
	}
	for (guint i = 0; r->behind != NULL && i < r->behind->len; i++)
		note_behind(x, r->behind->pdata[i]);
	if (r->same_pairing && strcmp(r->analysis, "deadlocks") == 0)
		x->c->waits_paired = true;
	else
		x->c->same_pairing |= r->same_pairing;
	if (!r->complete && !listed) {
		note_open(x->c, r->analysis);
		note_reason(x->c, r);
	}
	/* cycles of locks may be settled where the other waits are not */
	if (strcmp(r->analysis, "deadlocks") == 0 && r->scope == NULL)
		x->c->open[FINDING_STUCK] = true;
	x->c->budget_spent |= r->budget_spent;
}

/* The findings that an analysis looks for, in the user's words. */
static const char *words_of(const char *analysis)
{
	static const char *const words[][2] = {
		{ "auto", "data races" },          { "deadlocks", "deadlocks" },
		{ "cov", "order violations" },     { "rd2", "operations that do not commute" },
		{ "misuse", "misuse of locks" },   { "atomic", "atomicity" },
		{ "atomic-predict", "atomicity" },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
		if (strcmp(words[i][0], analysis) == 0)
			return words[i][1];
	return analysis;
}

/* Was the analysis stopped by the budget or the user, which is no failure? */
static bool stopped(struct analysis_of *x, const char *analysis, const struct error *error)
{
	if (!error->cancelled && !checkup_over(x->c)) {
		x->c->error = *error;
		return !(x->c->failed = true);
	}
	note_open(x->c, analysis);
	x->c->budget_spent = true;
	checkup_late(x->c, "a part of a run's search for %s", words_of(analysis));
	return true;
}

static const double HARM_SHARE = 0.25; /* share of the time left, for the findings of one run */

static void share_budget(const struct checkup *c, double *pair, double *total)
{
	*pair = c->pair_seconds;
	*total = CLAMP(checkup_left(c) / 4, 0.2, MAX(5, checkup_left(c) / 8));
}

static bool find_races(struct analysis_of *x)
{
	struct race_options options;
	struct error error = { 0 };

	race_options_init(&options);
	options.list_unknown = true;
	share_budget(x->c, &options.budget_pair, &options.budget_total);
	x->c->doing = "looking for data races";
	struct report *r = races_find(x->t, &options, &x->c->progress, &error);
	if (r != NULL && !races_mark_missing(x->t, &options, r, &x->c->progress, &error)) {
		report_free(r);
		r = NULL;
	}
	if (r == NULL)
		return stopped(x, "auto", &error);
	take(x, r);
	return true;
}

/* Run the detectors [first, last]. */
static bool detect(struct analysis_of *x, const struct specs *specs, int first, int last)
{
	struct detection on = { .trace = x->t, .specs = specs, .list_unknown = true };
	bool good = true;

	share_budget(x->c, &on.budget_pair, &on.budget_total);
	on.budget_sets = MAX(1, checkup_left(x->c) / 4);
	for (int d = first; good && d < last; d++) {
		struct error error = { 0 };

		/* ATOMIC_PREDICT includes its findings; DEADLOCKS those of ENDING */
		if (d == DETECTOR_ATOMIC || !detector_applies((enum detector)d, &on))
			continue;
		x->c->doing = detector_title((enum detector)d);
		struct report *r = detector_run((enum detector)d, &on, &x->c->progress, &error);
		if (r != NULL)
			take(x, r);
		else
			good = stopped(x, detector_word((enum detector)d), &error);
	}
	model_free(on.model);
	return good;
}

static bool with_specs(struct analysis_of *x)
{
	g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GPtrArray) recorded = trace_recorded_specs(x->t);
	g_autoptr(GPtrArray) paths = specs_choose(x->c->specs, recorded, notes);
	struct specs *specs = specs_open(paths, &x->c->error);

	x->c->failed |= specs == NULL;
	if (specs != NULL) {
		detect(x, specs, DETECTOR_DEADLOCKS, DETECTOR_COUNT);
		specs_free(specs);
	}
	return !x->c->failed;
}

/* -- output and --check -------------------------------------------------------------------- */

static struct finding *failed(const struct trace *t, GString *story)
{
	uint32_t last = t->events_count > 0 ? (uint32_t)t->events_count - 1 : NONE;
	struct finding *f = finding_new(FINDING_ASSERTION, last, last);

	f->verdict = VERDICT_HAPPENED;
	f->counted_all = true;
	f->by = "recording";
	f->story = g_string_free(story, FALSE);
	return f;
}

static void check_values(struct analysis_of *x, struct report *r)
{
	GString *values = g_string_new(NULL), *story;

	if (x->c->finals == NULL || finals_check(x->c->finals) == NULL ||
	    !trace_need(x->t, INDEX_VARIABLES, NULL)) {
		g_string_free(values, TRUE);
		return;
	}
	switch (finals_hold(x->c->finals, x->t, values)) {
	case TRUTH_NO:
		story = g_string_new(NULL);
		g_string_append_printf(story, "The check '%s' does not hold at the end: %s",
		                       finals_check(x->c->finals), values->str);
		report_add(r, failed(x->t, story));
		break;
	case TRUTH_UNKNOWN:
		checkup_uncovered(x->c, "--check was not decided in a run that ends with %s",
		                  values->str);
		break;
	case TRUTH_YES:
		break;
	}
	g_string_free(values, TRUE);
}

static void check_output(struct analysis_of *x, struct report *r)
{
	struct outcome right = { .printed = x->c->expected };
	struct outcome got = *x->recorded;

	if (x->c->expected == NULL || strcmp(got.printed, right.printed) == 0)
		return;
	right.memory = got.memory;
	right.status = got.status;
	right.signal = got.signal;
	g_autofree char *difference = outcome_difference(&got, &right, OUTCOME_PRINTED);
	GString *story = g_string_new("The output is not as in ");
	append_escaped(story, x->c->expected_file, strlen(x->c->expected_file));
	g_string_append_printf(story, ": %s", difference);
	report_add(r, failed(x->t, story));
}

/* Checks a run without events, which detectors skip and which may have failed. */
static void check_empty(struct analysis_of *x)
{
	struct report *r = report_new(x->t, "failure");
	struct finding *f = failure_find(x->t);

	if (f != NULL)
		report_add(r, f);
	r->complete = true;
	take(x, r);
}

/* Checks how the run ended: only the user can say what a completed run should do. */
static void check_end(struct analysis_of *x)
{
	if (x->t->events_count == 0)
		check_empty(x);
	if (x->recorded == NULL || !outcome_good(x->recorded))
		return;
	g_hash_table_add(x->c->outputs, g_strdup(x->recorded->printed));
	struct report *r = report_new(x->t, "check");
	r->complete = true;
	check_values(x, r);
	check_output(x, r);
	report_finish(r);
	take(x, r);
}

/* -- harm ---------------------------------------------------------------------------------- */

/* Keeps a run made for harm, as a run of the program, to be analysed later. */
static void keep_run(void *context, struct plan_run *run, const char *output)
{
	struct checkup *c = context;

	checkup_keep_run(c, run, output);
}

/* Searches the race again, with a witness, for the list, too; owned by the caller. NULL: none
 * was found in the time for one pair. */
static struct finding *with_witness(struct analysis_of *x, const struct finding *f)
{
	struct race_options options;
	struct error error = { 0 };
	bool fresh;

	race_options_init(&options);
	options.budget_pair = options.budget_total = x->c->pair_seconds;
	struct finding *again =
	        race_decide(x->t, f->first, f->second, &options, &x->c->progress, &error);
	if (again == NULL || again->verdict != VERDICT_RACE || again->witness == NULL) {
		finding_free(again);
		return NULL;
	}
	checkup_add(x->c, x->t, x->places, again, x->run, &fresh);
	return again;
}

/* Runs a cycle of two units with the second one in between, and as whole units; other
 * findings along their witness. */
static bool find_harm(struct analysis_of *x, const struct finding *f,
                      const struct harm_options *options, struct harm_verdict *v)
{
	struct mined m;

	if (f->witness == NULL && f->kind == FINDING_DATA_RACE) {
		struct finding *again = with_witness(x, f);
		bool good = harm_find(x->t, again ? again : f, options, v, &x->c->error);

		finding_free(again);
		return good;
	}
	if (f->kind == FINDING_ATOMIC_SET_VIOLATION && trace_need(x->t, INDEX_THREADS, NULL) &&
	    mined_of_cycle(x->t, f, &m))
		return serial_find(x->t, &m, options, v, &x->c->error);
	return harm_find(x->t, f, options, v, &x->c->error);
}

/* A run that takes much longer than the recordings is taken to be endless. */
static unsigned trial_time(const struct checkup *c)
{
	enum { LEAST = 2000, FACTOR = 20 };
	double usual = MAX(LEAST, c->run_seconds * 1000 * FACTOR);

	return (unsigned)CLAMP(MIN(usual, checkup_left(c) * 1000), 500, c->timeout_ms);
}

/* Determines the harm of findings; those for which time is too short are tried again when a
 * later run shows them. */
static bool judge_harm(struct analysis_of *x)
{
	struct harm_options options = {
		.argv = x->c->argv, .recorded = x->recorded, .ran = keep_run, .context = x->c
	};
	double until = checkup_left(x->c) * (1 - HARM_SHARE);

	for (guint i = 0; i < x->fresh->len && x->c->argv != NULL; i++) {
		const struct fresh *f = x->fresh->pdata[i];
		struct harm_verdict v = { 0 };

		if (!has_harm(f->finding) || f->entry->harm != HARM_UNASKED)
			continue;
		/* two runs, each as long as the recording */
		if (checkup_left(x->c) < MAX(until, 2 * x->c->run_seconds))
			break;
		x->c->doing = "running both orders";
		progress_tick(&x->c->progress, 0, x->c->doing);
		options.timeout_ms = trial_time(x->c);
		x->c->trying = f->entry;
		bool good = find_harm(x, f->finding, &options, &v);
		x->c->trying = NULL;
		if (!good)
			return !(x->c->failed = true);
		f->entry->waits_for_time = false;
		f->entry->harm = v.harm;
		f->entry->difference = g_strdup(v.text);
		f->entry->place = g_strdup(v.place);
		harm_release(&v);
	}
	return true;
}

/* -- atomicity without units --------------------------------------------------------------- */

/* Identity of a mined rule among those tried before, by its code alone: the places of the
 * three sections, and the rule. */
static char *mined_key(const struct trace *t, const struct mined *m)
{
	return g_strdup_printf("%s %s %s %s", m->rule, own_code_place_name(t, m->a.begin),
	                       own_code_place_name(t, m->b.begin),
	                       own_code_place_name(t, m->other.begin));
}

static void add_mined(struct analysis_of *x, const struct mined *m,
                      const struct mined_trials *trials)
{
	struct finding *f = mined_finding(x->t, m);
	bool fresh;
	struct checked *entry = checkup_add(x->c, x->t, x->places, f, x->run, &fresh);

	if (entry->harm != HARM_DIFFERS) {
		g_free(entry->difference);
		g_free(entry->place);
		entry->harm = HARM_DIFFERS;
		entry->difference = g_strdup(trials->difference);
		entry->place = g_strdup(trials->place);
	}
	if (fresh)
		checkup_stream(x->c, entry);
	finding_free(f);
}

static bool try_mined(struct analysis_of *x, const struct mined *m)
{
	enum { MOST_TRIALS = 8 }; /* of one code */
	struct harm_options options = {
		.argv = x->c->argv, .recorded = x->recorded, .ran = keep_run, .context = x->c
	};
	g_autofree char *key = mined_key(x->t, m);
	struct mined_trials *known = g_hash_table_lookup(x->c->mined, key);
	struct harm_verdict v = { 0 };
	bool good = true, differs = false;

	if (known == NULL && m->done)
		return true;
	if (known == NULL) {
		known = g_new0(struct mined_trials, 1);
		g_hash_table_insert(x->c->mined, g_strdup(key), known);
	}
	if (known->difference == NULL && !m->done && known->trials < MOST_TRIALS &&
	    !checkup_over(x->c)) {
		x->c->doing = "running critical sections in between";
		progress_tick(&x->c->progress, 0, x->c->doing);
		options.timeout_ms = trial_time(x->c);
		good = serial_find(x->t, m, &options, &v, &x->c->error);
		known->trials++;
		differs = v.harm == HARM_DIFFERS;
		if (differs) {
			known->difference = g_strdup(v.text);
			known->place = g_strdup(v.place);
		}
	}
	/* Listed are the sections that were run in between, and those recorded so: that others
	 * of the same code can come in between is not shown. */
	if (good && (differs || (m->happened && known->difference != NULL)) && !m->unrecorded)
		add_mined(x, m, known);
	x->c->failed |= !good;
	harm_release(&v);
	return good;
}

/* Only a rule whose violation changed the program's behaviour is listed, so none without a
 * program. */
static bool find_mined(struct analysis_of *x)
{
	enum { MOST = 64, MOST_EVENTS = 300000 };
	gint64 until =
	        g_get_monotonic_time() + (gint64)(checkup_left(x->c) / 5 * G_USEC_PER_SEC);
	bool cut = false, good = true;
	g_autoptr(GArray) found = NULL;

	if (x->c->argv == NULL || !x->c->harm || checkup_left(x->c) < 10 * x->c->run_seconds)
		return true;
	if (x->t->events_count > MOST_EVENTS) {
		checkup_uncovered(
		        x->c,
		        "critical sections that seem meant as one, in runs of more than %u "
		        "events",
		        MOST_EVENTS);
		return true;
	}
	if (!trace_need(x->t, INDEX_VARIABLES | INDEX_THREADS, NULL))
		return true;
	found = mined_find(x->t, MOST, &cut);
	for (guint i = 0; good && i < found->len; i++) {
		if (g_get_monotonic_time() < until)
			good = try_mined(x, &g_array_index(found, struct mined, i));
		else
			cut = true;
	}
	if (cut)
		checkup_uncovered(
		        x->c, "all pairs of critical sections that seem meant as one: only the "
		              "first were run");
	return good;
}

/* Undecided pairs come before aims at other values of reads. */
static void add_aims(struct analysis_of *x, GArray *found, guint at)
{
	for (guint i = 0; i < found->len; i++) {
		struct checkup_aim a = { x->run, g_array_index(found, struct aim, i) };

		g_array_insert_val(x->c->aims, at + i, a);
	}
	g_array_unref(found);
}

/* Other values of reads, and undecided pairs, are the aims of later runs. */
static void collect_aims(struct analysis_of *x)
{
	enum { MOST_EVENTS = 300000, MOST_WAITING = 1000 };
	struct checkup *c = x->c;

	if (c->argv == NULL || c->explored_all)
		return;
	if (x->undecided->len > 0)
		add_aims(x, aims_of_pairs(x->t, x->undecided, c->aimed), c->next_aim);
	if (x->t->events_count <= MOST_EVENTS && c->aims->len <= MOST_WAITING)
		add_aims(x, aims_find(x->t, c->aimed), c->aims->len);
}

/* -- the whole ---------------------------------------------------------------------------- */

/* Does an atomic load or store of the program have an order below seq_cst, so that hardware may
 * show more than schedules do? (Updates are left out: of counts, as those of shared_ptr.) */
static bool has_weak_atomics(const struct trace *t)
{
	if (!trace_has(t, OPERATION(OP_AREAD) | OPERATION(OP_AWRITE)))
		return false;
	for (uint64_t i = 0; i < t->events_count; i++) {
		const struct event *e = &t->events[i];
		if ((e->op == OP_AREAD || e->op == OP_AWRITE) && !event_inert(e) &&
		    event_order(e) != ORDER_SEQ_CST)
			return true;
	}
	return false;
}

bool checkup_analyse(struct checkup *c, struct trace *t, uint32_t run, bool shallow,
                     const struct outcome *recorded)
{
	struct analysis_of x = { .c = c,
		                 .t = t,
		                 .places = places_new(t),
		                 .run = run,
		                 .recorded = recorded,
		                 .reports = g_ptr_array_new_with_free_func(
		                         (GDestroyNotify)report_free),
		                 .fresh = g_ptr_array_new_with_free_func(g_free),
		                 .undecided = g_array_new(FALSE, FALSE, sizeof(uint32_t)) };
	if (c->argv == NULL)
		suppressions_add_recorded(&c->suppressions, t);
	bool good = detect(&x, NULL, 0, DETECTOR_DEADLOCKS);

	if (good)
		check_end(&x);
	if (good && !shallow)
		good = find_races(&x) && with_specs(&x);
	if (good && c->harm)
		good = judge_harm(&x);
	if (good && !shallow)
		good = find_mined(&x);
	if (good && !shallow)
		collect_aims(&x);
	c->weak = c->weak || has_weak_atomics(t);
	if (trace_note(t, FUTEX_NOTE) != NULL)
		c->open[FINDING_STUCK] = c->futexes = true;
	else
		c->waits |= trace_has(t, OPERATION(OP_WAIT));
	c->analysed += good && !shallow;
	g_array_unref(x.undecided);
	g_ptr_array_unref(x.fresh);
	g_ptr_array_unref(x.reports);
	places_free(x.places);
	return good;
}
