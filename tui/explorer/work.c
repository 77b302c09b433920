/*
 * work.c - background work: the index, the analyses in turn, a requested order, the exact
 * verdict on a pair.
 */
#include "tui/explorer/app.h"
#include "tui/explorer/messages.h"

#include "tui/explorer/exploration/return_point.h"

#include "engine/commute/edc.h"
#include "engine/detect/detectors.h"
#include "engine/partial/rdit.h"
#include "engine/predict/weak_races.h"
#include "engine/witness/minimise.h"
#include "engine/witness/witness.h"

static void start_analysis(struct app *app, enum analysis analysis);

static struct job *job_new(struct app *app, const char *title, int detail)
{
	struct job *job = g_new0(struct job, 1);
	job->title = g_strdup(title);
	job->context = app;
	job->detail = detail;
	return job;
}

static struct trace *job_trace(struct job *job)
{
	return ((struct app *)job->context)->session->trace;
}

/* -- the index ---------------------------------------------------------------------- */

static bool index_run(struct job *job, const struct progress *progress, struct error *error)
{
	struct trace *t = job_trace(job);
	if (!trace_need(t, (unsigned)job->detail, progress))
		return error_cancelled(error);
	if (missing_code_was_called(t) ||
	    t->modules_count == 0) /* other traces are not searched: it would take a pass */
		job->data = missing_calls_new(t);
	return true;
}

static void index_done(struct job *job, bool good, const struct error *error)
{
	struct app *app = job->context;
	struct session *s = app->session;
	if (!good || app->jobs.closing) {
		missing_calls_free(job->data);
		return;
	}
	missing_calls_free(s->calls);
	s->calls = job->data;
	s->ready |= (unsigned)job->detail;
	if (s->calls && !missing_code_was_called(s->trace) && !app->options.quiet_start)
		start_analysis(app, ANALYSIS_RDIT); /* after those waiting */
	app_refresh(app);
}

static void start_index(struct app *app, unsigned parts, const char *title)
{
	struct job *job = job_new(app, title, (int)parts);
	job->run = index_run;
	job->done = index_done;
	job->exclusive = true;
	jobs_add(&app->jobs, job);
}

/* -- the exploration that the run is of -------------------------------------------------- */

struct point_search {
	char *file; /* owned; or NULL */
	struct return_point *point;
};

static bool point_run(struct job *job, const struct progress *progress, struct error *error)
{
	struct point_search *search = job->data;
	search->point = return_point_find(job_trace(job), search->file);
	return true;
}

static void point_done(struct job *job, bool good, const struct error *error)
{
	struct app *app = job->context;
	struct point_search *search = job->data;
	if (search->point && !app->jobs.closing) {
		return_point_free(app->session->point);
		app->session->point = g_steal_pointer(&search->point);
		app_refresh(app);
	}
	return_point_free(search->point);
	g_free(search->file);
	g_free(search);
}

void app_need_point(struct app *app)
{
	struct job *job = job_new(app, WORK_EXPLORATION, 0);
	struct point_search *search = g_new0(struct point_search, 1);
	search->file = g_strdup(app->tree_path);
	job->data = search;
	job->run = point_run;
	job->done = point_done;
	job->urgent = session_has(app->session, INDEX_ALL);
	jobs_add(&app->jobs, job);
}

/* -- analyses ----------------------------------------------------------------------- */

/* The order of analyses: quick ones that fill the list, the ladder that settles it, then
 * those that only add a mark. */
static const enum analysis analyses[] = { ANALYSIS_HB,  ANALYSIS_AUTO,  ANALYSIS_LOCKSET,
	                                  ANALYSIS_SHB, ANALYSIS_SYNCP, ANALYSIS_WCP,
	                                  ANALYSIS_WDC, ANALYSIS_M2 };

/* Races are shown at once, since the last verdict of a long trace takes minutes. */
static void hand_over_race(void *context, const struct finding *race)
{
	struct finding *f = finding_new(race->kind, race->first, race->second);
	f->verdict = race->verdict;
	if (race->verdict == VERDICT_RACE && missing_code_was_called(job_trace(context))) {
		f->verdict = VERDICT_CANDIDATE;
		f->missing = g_strdup("only if calls into code that is not instrumented do not "
		                      "synchronise the two (this is asked next)");
	}
	f->count = race->count;
	f->counted_all = race->counted_all;
	f->by = race->by;
	f->note = race->note;
	if (race->variables)
		f->variables = g_array_copy(race->variables);
	if (race->witness)
		f->witness = g_array_ref(race->witness);
	job_hand_over(context, f);
}

static void take_races(struct job *job, GPtrArray *items)
{
	struct app *app = job->context;
	struct report *report =
	        app->jobs.closing ? NULL : report_new(app->session->trace, "auto");
	for (guint i = 0; i < items->len; i++)
		if (report)
			report_add(report, items->pdata[i]);
		else
			finding_free(items->pdata[i]);
	if (report == NULL)
		return;
	session_add_report(app->session, report, ANALYSIS_COUNT, true);
	app_refresh(app);
}

static bool analysis_run(struct job *job, const struct progress *progress, struct error *error)
{
	struct app *app = job->context;
	struct race_options options;
	race_options_init(&options);
	options.analysis = (enum analysis)job->detail;
	options.all_verdicts = job->detail == ANALYSIS_AUTO;
	if (app->options.budget_pair > 0)
		options.budget_pair = app->options.budget_pair;
	if (app->options.budget_total > 0)
		options.budget_total = app->options.budget_total;
	if (job->news) {
		options.found = hand_over_race;
		options.found_context = job;
	}
	struct report *report = races_find(job_trace(job), &options, progress, error);
	if (report != NULL && app->session->weak)
		weak_races_settle(job_trace(job), report);
	if (report != NULL && job->detail == ANALYSIS_AUTO &&
	    !races_mark_missing(job_trace(job), &options, report, progress, error)) {
		report_free(report);
		report = NULL;
	}
	job->data = report;
	return report != NULL;
}

/* One finding of a kind, and several. */
static const char *const kinds[][2] = {
	[FINDING_DATA_RACE] = { "data race", "data races" },
	[FINDING_COMMUTATIVITY_RACE] = { "commutativity race", "commutativity races" },
	[FINDING_ORDER_VIOLATION] = { "order violation", "order violations" },
	[FINDING_USE_AFTER_FREE] = { "use after free", "uses after free" },
	[FINDING_ATOMIC_SET_VIOLATION] = { "violation of atomicity",
	                                   "violations of atomicity" },
	[FINDING_DEADLOCK] = { "deadlock", "deadlocks" },
	[FINDING_STUCK] = { "wait that never ends", "waits that never end" },
	[FINDING_LOCK_MISUSE] = { "misuse of a lock", "misuses of locks" },
	[FINDING_UNINITIALISED_READ] = { "uninitialised read", "uninitialised reads" },
	[FINDING_CRASH] = { "crash", "crashes" },
	[FINDING_ASSERTION] = { "failed check", "failed checks" },
	[FINDING_EXIT] = { "failed exit", "failed exits" },
};

/* The listed findings by kind, with a verdict that the program can show them; those that only
 * may be one are counted apart. */
struct tally {
	guint by_kind[FINDING_KIND_COUNT], all, maybe, happened;
};

static struct tally tally_of(const struct session *s)
{
	struct tally n = { 0 };
	for (guint i = 0; i < s->entries->len; i++) {
		const struct finding *f = ((const struct entry *)s->entries->pdata[i])->finding;
		bool shows = f->verdict == VERDICT_RACE || f->verdict == VERDICT_HAPPENED;
		n.by_kind[f->kind] += shows;
		n.all += shows;
		n.maybe += f->missing != NULL;
		n.happened += f->verdict == VERDICT_HAPPENED;
	}
	return n;
}

/* "2 data races", or, of several kinds, "15 findings: 8 data races, 7 uses after free". */
static void append_tally(const struct tally *n, GString *out)
{
	g_autoptr(GString) list = g_string_new(NULL);
	for (int k = 0; k < FINDING_KIND_COUNT; k++)
		if (n->by_kind[k] > 0)
			g_string_append_printf(list, "%s%u %s", list->len ? ", " : "",
			                       n->by_kind[k], kinds[k][n->by_kind[k] != 1]);
	guint races = n->by_kind[FINDING_DATA_RACE];
	if (n->all > races)
		g_string_append_printf(out, SETTLED_FINDINGS, n->all, list->str);
	else
		g_string_append_printf(out, SETTLED_RACES, races, plural(races));
	if (n->maybe)
		g_string_append_printf(out, SETTLED_MAYBE, n->maybe);
}

/* The report whose completeness the message tells: of data races; NULL when there is none.
 * Before it are those of races that were found while it was made. */
static const struct report *settling_report(const struct session *s)
{
	for (guint i = s->reports->len; i-- > 0;) {
		const struct report *r = s->reports->pdata[i];
		if (s->weak || strcmp(r->analysis, analysis_word(ANALYSIS_AUTO)) == 0)
			return r;
	}
	return NULL;
}

/* Reports the result, the run's ending first: a failure matters more than predictions. */
static void say_settled(struct app *app)
{
	const struct session *s = app->session;
	const struct report *report = settling_report(s);
	const struct tally n = tally_of(s);
	g_autoptr(GString) text = g_string_new(NULL);
	bool ours = app->message != NULL && g_strcmp0(app->message, app->settled) == 0;
	if (report == NULL || app->line_open || (app->message && !ours))
		return;
	session_append_ending(s, false, text);
	if (text->len)
		g_string_append(text, ". ");
	else if (n.happened)
		g_string_append_printf(text, SETTLED_HAPPENED, n.happened);
	append_tally(&n, text);
	if (s->weak)
		g_string_append_printf(text, SETTLED_WEAK,
		                       weak_model_words[trace_model(app_trace(app))]);
	else if (!report->complete)
		g_string_append(text, SETTLED_NOT_ALL);
	else
		g_string_append_printf(text, "%s%s%s%s",
		                       n.all > n.by_kind[FINDING_DATA_RACE] ? SETTLED_OF_RACES
		                                                            : SETTLED_COMPLETE,
		                       SETTLED_ALL, report->same_pairing ? SETTLED_PAIRED : "",
		                       report_lacks_calls(report) ? SETTLED_HOOKED : "");
	app_say(app, "%s", text->str);
	g_free(app->settled);
	app->settled = g_strdup(app->message);
}

/* A report names two places; prefer a pair that happens-before leaves unordered to the first
 * one, until the user acts. */
static void prefer_open_pair(struct app *app)
{
	if (app->reported == 0)
		return;
	session_ask_reported(app->session, app->reported);
	app_goto(app, app->session->pair[0], false);
}

static void analysis_done(struct job *job, bool good, const struct error *error)
{
	struct app *app = job->context;
	struct report *report = job->data;
	enum analysis analysis = (enum analysis)job->detail;
	if (!good || app->jobs.closing) {
		report_free(report);
		if (!good && !error->cancelled && !app->jobs.closing &&
		    analysis == ANALYSIS_AUTO)
			app_complain(app, error);
		return;
	}
	bool settles = analysis == ANALYSIS_AUTO || app->session->weak;
	session_add_report(app->session, report, analysis, settles);
	if (settles)
		say_settled(app);
	if (analysis == ANALYSIS_HB)
		prefer_open_pair(app);
	app_refresh(app);
}

static void start_analysis(struct app *app, enum analysis analysis)
{
	g_autofree char *title =
	        analysis == ANALYSIS_AUTO
	                ? g_strdup("auto")
	                : g_strdup_printf("asking %s", analysis_word(analysis));
	struct job *job = job_new(app, title, analysis);
	job->run = analysis_run;
	job->done = analysis_done;
	job->tells = analysis == ANALYSIS_AUTO; /* shows its rung, and the races so far */
	job->news = analysis == ANALYSIS_AUTO ? take_races : NULL;
	jobs_add(&app->jobs, job);
}

/* -- findings of other kinds ----------------------------------------------------------- */

/* A detector (the job's detail) and its report. */
struct detector_job {
	struct detection on;
	struct report *report;
};

static bool other_run(struct job *job, const struct progress *progress, struct error *error)
{
	struct detector_job *d = job->data;
	d->report = detector_run((enum detector)job->detail, &d->on, progress, error);
	return d->report != NULL;
}

static void other_done(struct job *job, bool good, const struct error *error)
{
	struct app *app = job->context;
	struct detector_job *d = job->data;
	if (good && !app->jobs.closing) {
		session_add_report(app->session, d->report, ANALYSIS_COUNT, true);
		if (app->settled != NULL &&
		    app->message != NULL) /* it is still on the screen */
			say_settled(app);
		if (app->session->model == NULL)
			app->session->model = g_steal_pointer(&d->on.model);
		app_refresh(app);
	} else {
		report_free(d->report);
	}
	model_free(d->on.model);
	g_free(d);
}

static struct detection detection_of(const struct app *app)
{
	const struct app_options *o = &app->options;
	return (struct detection){ .trace = app->session->trace,
		                   .specs = app->session->specs,
		                   .budget_pair = o->budget_pair > 0 ? o->budget_pair : 1,
		                   .budget_total = o->budget_total > 0 ? o->budget_total : 5 };
}

static void start_detector(struct app *app, enum detector detector)
{
	struct detector_job d = { .on = detection_of(app) };
	if (!detector_applies(detector, &d.on))
		return;
	struct job *job = job_new(app, detector_title(detector), (int)detector);
	job->data = g_memdup2(&d, sizeof d);
	job->run = other_run;
	job->done = other_done;
	jobs_add(&app->jobs, job);
}

void app_start_index(struct app *app)
{
	start_index(app, INDEX_ALL, "indexing");
}

void app_start_work(struct app *app)
{
	app_start_index(app);
	app_need_point(app);
	/* failures come first, as they matter most */
	start_detector(app, DETECTOR_FAILURE);
	start_detector(app, DETECTOR_ENDING);
	start_detector(app, DETECTOR_MISUSE);
	if (app->session->weak) { /* the other analyses concern other schedules */
		start_analysis(app, ANALYSIS_HB);
		return;
	}
	for (size_t i = 0; i < G_N_ELEMENTS(analyses); i++) {
		for (int d = 0; analyses[i] == ANALYSIS_LOCKSET && d < DETECTOR_COUNT; d++)
			if (d >= DETECTOR_DEADLOCKS) /* findings come before marks */
				start_detector(app, (enum detector)d);
		start_analysis(app, analyses[i]);
		if (analyses[i] == ANALYSIS_AUTO && missing_code_was_called(app_trace(app)))
			start_analysis(app, ANALYSIS_RDIT);
	}
}

/* -- orders ------------------------------------------------------------------------- */

/* Flag in a job's detail: the order of the trace with missing code. */
enum { WITH_MISSING = 0x100 };

/* EDC, by a model of the job's own: another job may be at work on the session's. */
static struct order *order_by_specification(struct trace *t, const struct specs *specs,
                                            const struct progress *progress,
                                            struct error *error)
{
	struct model *m = model_new(t, specs, progress, error);
	struct order *order = m ? edc_order_new(m, progress, error) : NULL;
	model_free(m);
	return order;
}

static bool order_run(struct job *job, const struct progress *progress, struct error *error)
{
	struct app *app = job->context;
	struct trace *t = job->detail & WITH_MISSING ? app->session->view : job_trace(job);
	enum order_kind kind = (enum order_kind)(job->detail & ~WITH_MISSING);
	if (kind == ORDER_KIND_EDC) {
		job->data = order_by_specification(t, app->session->specs, progress, error);
		return job->data != NULL;
	}
	job->data = order_new(t, kind, progress);
	return job->data || error_cancelled(error);
}

static void order_done(struct job *job, bool good, const struct error *error)
{
	struct app *app = job->context;
	struct order *order = job->data;
	struct order **place = &app->session->orders[(job->detail & WITH_MISSING) != 0]
	                                            [job->detail & ~WITH_MISSING];
	if (!good && (job->detail & ~WITH_MISSING) == ORDER_KIND_EDC)
		app->session->no_edc = true;
	if (order && (app->jobs.closing || *place))
		order_free(order);
	else if (order)
		*place = order;
	if (!app->jobs.closing)
		app_refresh(app);
}

static bool is_under_way(const struct app *app, int detail,
                         bool (*run)(struct job *, const struct progress *, struct error *))
{
	const GPtrArray *lists[] = { app->jobs.running, app->jobs.waiting };
	for (int l = 0; l < 2; l++)
		for (guint i = 0; i < lists[l]->len; i++) {
			const struct job *job = lists[l]->pdata[i];
			if (job->run == run && job->detail == detail)
				return true;
		}
	return false;
}

static bool view_run(struct job *job, const struct progress *progress, struct error *error)
{
	job->data = trace_view_missing(job_trace(job), INDEX_ALL, progress);
	return job->data || error_cancelled(error);
}

static void view_done(struct job *job, bool good, const struct error *error)
{
	struct app *app = job->context;
	if (app->jobs.closing || app->session->view)
		trace_view_free(job->data);
	else
		app->session->view = job->data;
	if (!app->jobs.closing)
		app_refresh(app);
}

/* The trace with the must-orders of missing code; false until made. */
static bool need_view(struct app *app)
{
	if (app->session->view)
		return true;
	if (is_under_way(app, 0, view_run))
		return false;
	struct job *job = job_new(app, WORK_MISSING, 0);
	job->run = view_run;
	job->done = view_done;
	job->urgent = true;
	jobs_add(&app->jobs, job);
	return false;
}

bool app_need_order(struct app *app, enum order_kind kind)
{
	struct session *s = app->session;
	int detail = (int)kind | (s->missing ? WITH_MISSING : 0);
	if (session_order(s, kind))
		return true;
	if (kind == ORDER_KIND_EDC && s->no_edc)
		return false;
	if (s->missing && !need_view(app))
		return false;
	if (is_under_way(app, detail, order_run))
		return false;
	g_autofree char *title = g_strdup_printf(WORK_ORDER, order_kind_word(kind));
	struct job *job = job_new(app, title, detail);
	job->run = order_run;
	job->done = order_done;
	job->urgent = true;
	jobs_add(&app->jobs, job);
	return false;
}

/* -- one pair, exactly --------------------------------------------------------------- */

struct decision {
	uint32_t first, second;
	bool missing; /* missing code counts */
	struct finding *finding;
};

/* Decides the pair within this run alone. */
static bool decide_weak(const struct trace *t, struct decision *d, struct error *error)
{
	g_autoptr(GString) reason = g_string_new(NULL);
	struct finding *f = finding_new(FINDING_DATA_RACE, MIN(d->first, d->second),
	                                MAX(d->first, d->second));
	if (weak_race_settle(t, f, reason)) {
		d->finding = f;
	} else {
		refuse(error, NO_WEAK_RACE, reason->str);
		finding_free(f);
	}
	return d->finding != NULL;
}

static bool decide_run(struct job *job, const struct progress *progress, struct error *error)
{
	struct decision *d = job->data;
	struct race_options options;
	if (((struct app *)job->context)->session->weak)
		return decide_weak(job_trace(job), d, error);
	race_options_init(&options);
	options.budget_pair = options.budget_total = 30; /* the user waits, and can stop it */
	options.use_missing = d->missing;
	d->finding =
	        race_decide(job_trace(job), d->first, d->second, &options, progress, error);
	return d->finding != NULL;
}

static void decide_done(struct job *job, bool good, const struct error *error)
{
	struct app *app = job->context;
	struct decision *d = job->data;
	if (!good && !app->jobs.closing && !error->cancelled)
		app_complain(app, error);
	if (good && app->jobs.closing)
		finding_free(d->finding);
	if (good && !app->jobs.closing) {
		struct report *report = report_new(app->session->trace, "decide");
		report_add(report, d->finding);
		if (d->missing)
			session_add_missing(app->session, report);
		else
			session_settle(app->session, report);
		app_refresh(app);
	}
	g_free(d);
}

bool app_decides(const struct app *app, uint32_t first)
{
	return is_under_way(app, (int)first, decide_run);
}

void app_decide_pair(struct app *app, uint32_t first, uint32_t second)
{
	if (is_under_way(app, (int)first, decide_run))
		return;
	struct job *job = job_new(app, WORK_PAIR, (int)first);
	struct decision *d = g_new0(struct decision, 1);
	d->first = first;
	d->second = second;
	d->missing = app->session->missing;
	job->data = d;
	job->run = decide_run;
	job->done = decide_done;
	job->urgent = true;
	jobs_add(&app->jobs, job);
}

/* -- a readable schedule ---------------------------------------------------------------- */

struct shortening {
	const struct finding *finding; /* borrowed from a report of the session, which stays */
	enum claim claim;
	GArray *events, *pair;
	bool missing; /* orders by code that was not recorded count */
};

static bool shorten_run(struct job *job, const struct progress *progress, struct error *error)
{
	struct shortening *w = job->data;
	struct check_options options = { .use_missing = w->missing };
	witness_minimise(job_trace(job), (struct claimed){ w->claim, event_list_of(w->pair) },
	                 &options, w->events);
	return true;
}

static void shorten_done(struct job *job, bool good, const struct error *error)
{
	struct app *app = job->context;
	struct shortening *w = job->data;
	struct finding *f = (struct finding *)w->finding; /* the finding belongs to the
	                                                   * session */
	if (!app->jobs.closing) {
		g_array_unref(f->witness);
		f->witness = g_steal_pointer(&w->events);
		app_refresh(app);
	}
	if (w->events)
		g_array_unref(w->events);
	g_array_unref(w->pair);
	g_free(w);
}

/* Not with a specification, as its model is not thread-safe. */
void app_fewer_switches(struct app *app)
{
	const struct finding *f = session_finding(app->session);
	if (f == NULL || f->witness == NULL || f->verdict == VERDICT_HAPPENED ||
	    app->session->weak || app_trace(app)->instances_count > 0)
		return;
	struct job *job = job_new(app, WORK_SWITCHES, (int)f->first);
	struct shortening *w = g_new0(struct shortening, 1);
	w->finding = f;
	w->claim = finding_claim(f);
	w->events = g_array_copy(f->witness);
	w->pair = finding_claimed(f);
	w->missing = app->session->missing && f->kind == FINDING_DATA_RACE;
	job->data = w;
	job->run = shorten_run;
	job->done = shorten_done;
	job->urgent = true;
	jobs_add(&app->jobs, job);
}
