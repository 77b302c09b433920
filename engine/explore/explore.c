/*
 * explore.c - see explore.h: the main loop and its end.
 *
 * Each iteration makes one execution, of a pending schedule or by chance, or does one step of
 * planning a kept run (explore_planning.c). Schedules run before further planning.
 */
#include "engine/explore/checkpoint.h"
#include "engine/explore/estimate.h"
#include "engine/explore/graphs/graphs.h"
#include "engine/predict/hidden_reads.h"

#include "engine/base/file.h"
#include "engine/base/numbers.h"
#include "engine/predict/effort.h"
#include "engine/record/interpose.h"

#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Microseconds between two writes of the state to options->resume. */
enum { BETWEEN_CHECKPOINTS = 10000000 };

static bool limit_reached(struct exploration *x)
{
	const char *limit = explore_limit(x);
	if (limit != NULL)
		explore_stop(x, limit);
	return limit != NULL || explore_is_interrupted(x);
}

static bool go_on(struct exploration *x)
{
	char what[96];
	snprintf(what, sizeof what, "%u runs, %u waiting, %u errors", x->report->runs->len,
	         worklist_length(x->worklist), x->report->errors->len);
	double share = (double)x->report->runs->len /
	               (x->report->runs->len + worklist_length(x->worklist) + 1);
	x->cancelled |= !progress_tick(x->progress, share, what);
	return !x->cancelled;
}

static void add_first(struct exploration *x)
{
	struct pending *first = g_new0(struct pending, 1);
	plan_init(&first->plan);
	bool hunt = x->options->until_error; /* is the portfolio's first run, with seed 0 */
	first->plan.strategy = hunt                    ? STRATEGY_PAUSE
	                       : x->options->seed == 0 ? STRATEGY_FIRST
	                                               : STRATEGY_RANDOM;
	first->plan.seed = hunt ? 0 : x->options->seed ? x->options->seed : 1;
	first->parent = first->known_as = NONE;
	x->first = x->report->runs->len;
	if (x->first > 0) { /* a child of the run that caused the restart */
		first->parent = 0;
		first->reversal = g_strdup("again, with events that were left out");
		first->thread = g_strdup("");
		first->place = g_strdup("");
		first->variable = g_strdup("");
	}
	worklist_add(x->worklist, first);
}

static bool read_loaded(void *context, uint64_t address, void *bytes, size_t size)
{
	return record_server_read(context, address, bytes, size);
}

static void begin_histories(struct exploration *x)
{
	x->histories = histories_new();
	histories_initials(x->histories)->read = read_loaded;
	histories_initials(x->histories)->context = x->server;
}

/* Restart the exploration: a non-atomic object invalidates all results except those on
 * objects. */
static void begin_again(struct exploration *x)
{
	struct explore_report *r = x->report;
	r->abandoned += r->runs->len; /* except runs that stay, below */
	for (guint i = r->errors->len; i-- > 0;)
		if (g_array_index(r->errors, struct explore_error, i).end !=
		    EXPLORE_SPECIFICATION)
			g_array_remove_index(r->errors, i);
	for (guint i = r->runs->len; i-- > 0;) {
		struct explore_run *run = &g_array_index(r->runs, struct explore_run, i);
		if (run->end == EXPLORE_SPECIFICATION)
			continue;
		explore_unsave(x, run);
		g_array_remove_index(r->runs, i);
	}
	r->abandoned -= r->runs->len;
	for (guint i = 0; i < r->errors->len; i++) { /* one run each, in order */
		struct explore_error *e = &g_array_index(r->errors, struct explore_error, i);
		e->run = e->shortest = i;
	}
	for (guint i = 0; i < r->runs->len; i++) {
		struct explore_run *run = &g_array_index(r->runs, struct explore_run, i);
		run->parent = i == 0 ? NONE : 0;
		explore_renumber(x, run, i);
	}
	g_array_set_size(r->races, 0);
	explore_end_unseen(x);
	g_clear_pointer(&x->next, pending_free);
	x->earlier = x->schedules = 0;
	r->pruned = r->classes = 0;
	g_ptr_array_set_size(x->repeats, 0);
	g_ptr_array_set_size(x->kept, 0); /* they borrow the histories */
	no_return_clear(x->no_return);
	histories_free(x->histories);
	begin_histories(x);
	g_hash_table_remove_all(x->errors);
	g_hash_table_remove_all(x->races);
	worklist_clear(x->worklist);
	x->awaits = awaits_anew(x->awaits);
	pasts_free(x->pasts); /* it names runs by their numbers */
	x->pasts = pasts_new();
	x->kept_events = 0;
	x->origin.anew = true;
	g_array_set_size(x->origin.replanned, 0);
	x->again = false;
	x->chances = x->taken = x->run_of_taken = 0;
	x->idle_chances = 0;
	add_first(x);
}

static bool run_next(struct exploration *x, struct error *error)
{
	struct pending *p = g_steal_pointer(&x->next);
	if (p != NULL)
		return explore_run_pending(x, p, error);
	bool idle = worklist_ready(x->worklist) == 0;
	struct pending *chance = explore_by_chance(x);
	x->idle_chances = idle && chance != NULL ? x->idle_chances + 1 : 0;
	if (x->idle_chances > 0 && x->kept->len > 0)
		explore_walk_again(x);
	if (chance == NULL && x->repeats->len > 0)
		return explore_run_again(
		        x, g_ptr_array_steal_index(x->repeats, x->repeats->len - 1), error);
	if (chance == NULL && x->kept->len > 0 &&
	    (worklist_ready(x->worklist) == 0 || explore_keeps_too_much(x))) {
		explore_plan_further(x);
		return true;
	}
	p = explore_take_pending(x, chance);
	return p == NULL || explore_run_pending(x, p, error);
}

static bool has_more(const struct exploration *x)
{
	return x->next != NULL || worklist_length(x->worklist) > 0 || x->kept->len > 0 ||
	       x->repeats->len > 0;
}

static void note_unplanned(struct exploration *x)
{
	if (x->races_left & RACES_PAIRED)
		g_ptr_array_add(
		        x->report->races_open,
		        g_strdup(
		                "data races: which post, signal, arrival or message ends a "
		                "wait is taken from each run; one that needs another, with the "
		                "same values everywhere, may be missed"));
	if (x->races_left & RACES_EARLY)
		g_ptr_array_add(
		        x->report->races_open,
		        g_strdup("data races: that an access of a block comes after its "
		                 "allocation is taken from each run's order of locks, "
		                 "posts and arrivals; one that needs another, with the "
		                 "same values everywhere, may be missed"));
	if (x->races_left & RACES_SLOW)
		g_ptr_array_add(x->report->races_open,
		                g_strdup("data races: of some runs only those that their own "
		                         "happens-before leaves open were looked for, since "
		                         "more would take too long"));
	if (x->kept->len + x->repeats->len > 0)
		g_ptr_array_add(x->report->notes,
		                g_strdup_printf("of %u runs not every other outcome was looked "
		                                "for yet",
		                                x->kept->len + x->repeats->len));
}

static void estimate(struct exploration *x)
{
	const GArray *runs = x->report->runs;
	uint32_t *waiting = g_new0(uint32_t, runs->len + 1);
	struct estimate_node *nodes = g_new(struct estimate_node, runs->len + 1);
	worklist_count(x->worklist, waiting);
	for (guint i = 0; i < runs->len; i++) {
		const struct explore_run *r = &g_array_index(runs, struct explore_run, i);
		nodes[i] = (struct estimate_node){ r->parent, waiting[i], r->redundant };
	}
	x->report->estimate = explore_estimate(
	        nodes, runs->len, x->taken ? (double)x->run_of_taken / (double)x->taken : 1);
	g_free(waiting);
	g_free(nodes);
}

/* Writes the state from time to time, so that a killed process loses only the runs of some
 * seconds. */
static bool keep_state(struct exploration *x, struct error *error)
{
	gint64 from = g_get_monotonic_time();
	bool waits = x->next != NULL && !x->next->by_chance;
	if (waits)
		worklist_add(x->worklist, x->next);
	bool good = checkpoint_store(x, x->options->resume, error);
	if (waits)
		x->next = worklist_take(x->worklist, false);
	if (!good)
		return false;
	gint64 took = g_get_monotonic_time() - from;
	x->next_checkpoint = from + MAX(BETWEEN_CHECKPOINTS, 20 * took);
	return true;
}

/* The state's runs had no kernel threads. */
static void need_kernel_threads(struct exploration *x)
{
	x->again = true;
	g_ptr_array_add(
	        x->report->notes,
	        g_strdup("a run needs kernel threads, which those before had not: all are "
	                 "made again"));
}

/* Resumes from the state in a file, or begins. */
static bool begin(struct exploration *x, struct error *error)
{
	begin_histories(x);
	if (x->options->resume) {
		x->identity = checkpoint_identity(x->options, error);
		x->program = g_strdup(x->options->argv[0]);
		x->options_text = g_strdup(x->options->options_text);
		x->environment = g_ptr_array_new_with_free_func(g_free);
		for (char **variable = environ; variable != NULL && *variable; variable++)
			g_ptr_array_add(x->environment, g_strdup(*variable));
		x->resumed = x->from != NULL;
		if (!x->identity || (x->resumed && !checkpoint_load(x->from, x, error)))
			return false;
		g_clear_pointer(&x->from, checkpoint_close);
		x->next_checkpoint = g_get_monotonic_time() + BETWEEN_CHECKPOINTS;
	}
	if (x->kernel_threads) {
		record_server_use_kernel_threads(x->server);
	} else if (record_server_has_kernel_threads(x->server)) {
		x->kernel_threads = true;
		if (x->report->runs->len > 0)
			need_kernel_threads(x);
	}
	x->before = explore_executions(x);
	x->earlier = x->report->runs->len;
	for (guint i = 0; i < x->earlier; i++)
		x->schedules +=
		        g_array_index(x->report->runs, struct explore_run, i).schedule != NULL;
	if (!x->resumed)
		add_first(x);
	if (x->again) /* in joined tasks, or without kernel threads */
		begin_again(x);
	return x->resumed || !x->options->resume ||
	       keep_state(x, error); /* now, not at the end */
}

static bool is_state_due(const struct exploration *x)
{
	return x->options->resume && g_get_monotonic_time() >= x->next_checkpoint;
}

/* Classes of runs with kernel threads are not those of runs without. False: the part began
 * without, and now has runs of both kinds. */
static bool is_of_one_kind(struct exploration *x)
{
	bool changed = !x->kernel_threads && record_server_has_kernel_threads(x->server);
	x->kernel_threads |= changed;
	x->outgrown |= changed && x->earlier > 0;
	return !x->outgrown;
}

static bool explore_on(struct exploration *x, struct error *error)
{
	while (has_more(x) && go_on(x) && !limit_reached(x)) {
		if (!run_next(x, error) || !is_of_one_kind(x))
			return false;
		if (x->again)
			begin_again(x);
		if (!x->cancelled && is_state_due(x) && !keep_state(x, error))
			return false;
	}
	explore_put_next_back(x);
	return x->cancelled || !x->options->resume || keep_state(x, error);
}

/* At the end of an exploration in several parts: runs of earlier parts that points of no
 * return depend on are executed once more, for their traces. */
static void trace_earlier(struct exploration *x)
{
	bool ends = !has_more(x) && x->origin.base == NULL && x->report->errors->len > 0;
	if (!ends || x->earlier == 0)
		return;
	if (x->schedules >= NO_RETURN_RUNS)
		no_return_leave_out(x->no_return);
	for (uint32_t i = 0; i < x->earlier; i++) {
		if (!no_return_needs(x->report, i))
			continue;
		bool stops = !go_on(x) || explore_out_of_time(x) || explore_is_interrupted(x);
		if (stops || !explore_run_for_trace(x, i))
			no_return_leave_out(x->no_return);
		if (stops)
			break;
	}
	x->earlier = 0;
}

/* Runs of the histories, by number, that no longer count. */
static void forget_classes(struct exploration *x, const bool *forgotten)
{
	struct numbers *classes = numbers_new();
	for (uint32_t i = 0; i < histories_count(x->histories); i++)
		if (forgotten[i])
			numbers_add(classes, histories_class(x->histories, i));
	for (guint i = x->first; i < x->report->runs->len; i++) {
		struct explore_run *r = &g_array_index(x->report->runs, struct explore_run, i);
		bool counts = !r->redundant && !numbers_have(classes, r->class_);
		x->report->classes -= !r->redundant && !counts;
		r->redundant = !counts;
	}
	numbers_free(classes);
}

/* Runs with pasts that were found to be longer later on: others have their outcomes. Between
 * the first steps of an error's run and such a run's, a schedule that ends well may have been
 * left out. */
static void forget_longer(struct exploration *x)
{
	if (pasts_size(x->pasts).longer == 0 && !pasts_know_detours(x->pasts))
		return;
	g_autofree bool *longer = pasts_runs(x->pasts, x->histories);
	forget_classes(x, longer);
	no_return_leave_out(x->no_return);
}

static void forget_cut_off(struct exploration *x)
{
	g_autofree bool *within = histories_within_others(x->histories);
	forget_classes(x, within);
}

/* Counts the classes that those that were run stand for. With more than these, continuations
 * that end well are known up to a permutation of threads. */
static void count_permuted(struct exploration *x)
{
	x->report->stand_for = 0;
	for (guint i = x->first; i < x->report->runs->len; i++) {
		const struct explore_run *r =
		        &g_array_index(x->report->runs, struct explore_run, i);
		uint64_t most = UINT64_MAX - x->report->stand_for;
		x->report->stand_for += r->redundant ? 0 : MIN(r->stands_for, most);
	}
	if (x->report->stand_for > x->report->classes)
		no_return_leave_out(x->no_return);
}

void explore_conclude(struct exploration *x)
{
	forget_longer(x);
	forget_cut_off(x);
	count_permuted(x);
	note_unplanned(x);
	if (awaits_any_seen(x->awaits)) /* of tasks that were joined */
		explore_note_incomplete(
		        x, "some tasks left out looks under locks that others saw tried: an "
		           "outcome may be missing");
	if (awaits_constants_change(x->awaits)) /* of tasks that were joined */
		explore_note_incomplete(
		        x, "some tasks took memory for constant that others saw written: an "
		           "outcome may be missing");
	if (awaits_all_are_tried(x->awaits))
		explore_note_incomplete(
		        x,
		        "std::lock or std::scoped_lock takes a lock that is also tried "
		        "otherwise: such a try may tell with which lock they begin anew when "
		        "they failed, and not each beginning is run");
	x->report->waiting = worklist_length(x->worklist);
	if (x->report->waiting > 0)
		estimate(x);
	x->report->complete_within = !has_more(x) && x->report->reasons->len == 0;
	if (x->beyond)
		explore_note_incomplete(
		        x, "schedules with more preemptions were left out (--bound)");
	x->report->complete = x->report->complete_within && !x->beyond;
}

static bool run_all(struct exploration *x, struct error *error)
{
	if (!begin(x, error) || !explore_on(x, error) || !explore_shorten(x, error))
		return false;
	trace_earlier(x);
	if (x->again) /* by a run with fewer switches */
		explore_note_incomplete(
		        x, "a run that was made to shorten an error showed that what the "
		           "exploration assumed does not hold (see the notes): it would "
		           "have to begin again");
	if (x->stop)
		explore_note_incomplete(x, x->stop);
	const GPtrArray *names = x->options->finals ? finals_names(x->options->finals) : NULL;
	for (guint i = 0; names != NULL && i < names->len; i++)
		explore_note_final(x, names->pdata[i]);
	explore_conclude(x);
	if (x->cancelled)
		error_cancelled(error);
	return !x->cancelled;
}

static bool open_output(struct exploration *x, struct error *error)
{
	x->output_file = file_open_nameless(g_get_tmp_dir());
	if (x->output_file < 0)
		return error_set(error, g_get_tmp_dir(), "set TMPDIR to a folder with room",
		                 "cannot keep what the program prints: %s", g_strerror(errno));
	x->output = file_descriptor_path(x->output_file);
	return true;
}

/* One library for all executions. */
static bool bind_library(struct exploration *x, struct error *error)
{
	const GPtrArray *files = x->options->spec_files;
	bool binds = false;
	if (files == NULL || files->len == 0)
		return true;
	return interposer_binds(files, &binds, error) &&
	       (!binds || interposer_of(files, x->options->argv[0], &x->interposer, error));
}

static void free_execution(void *data)
{
	execution_free(data);
}

static void free_turns(void *data)
{
	if (data)
		g_array_unref(data);
}

static void free_repeat(void *data)
{
	repeat_free(data);
}

void exploration_begin(struct exploration *x, const struct explore_options *options)
{
	gint64 budget = (gint64)(options->seconds * 1e6);
	*x = (struct exploration){
		.options = options,
		.report = explore_report_new(),
		.worklist = worklist_new(options->seed),
		.awaits = awaits_new(),
		.pasts = pasts_new(),
		.kept = g_ptr_array_new_with_free_func(free_execution),
		.repeats = g_ptr_array_new_with_free_func(free_repeat),
		.turns = g_ptr_array_new_with_free_func(free_turns),
		.portfolio = options->until_error ? portfolio_new(&(struct portfolio_options){
		                                            .seed = options->seed,
		                                            .explores = true,
		                                            .share = options->shard,
		                                            .shares = options->shards })
		                                  : NULL,
		.no_return =
		        no_return_new(options->finals ? finals_names(options->finals) : NULL),
		.errors = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
		.races = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
		.unwritten = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
		.finals_seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
		.reasons = g_hash_table_new(g_str_hash, g_str_equal),
		.hidden_reads = hidden_reads_new(),
		.unhooked = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL),
		.plain = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
		.ordered = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
		.origin.errors = g_array_new(FALSE, FALSE, sizeof(uint64_t)),
		.origin.replanned = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		.output_file = -1,
		.effort_began = effort_microseconds(),
		.deadline = budget > 0 ? g_get_monotonic_time() + budget : 0,
	};
}

void exploration_end(struct exploration *x)
{
	g_hash_table_unref(x->plain);
	g_hash_table_unref(x->ordered);
	if (x->output_file >= 0)
		close(x->output_file);
	char *owned[] = { x->output, x->identity, x->program, x->options_text, x->origin.base };
	for (size_t i = 0; i < G_N_ELEMENTS(owned); i++)
		g_free(owned[i]);
	if (x->environment)
		g_ptr_array_unref(x->environment);
	g_array_unref(x->origin.errors);
	g_array_unref(x->origin.replanned);
	checkpoint_close(x->from);
	pending_free(x->next);
	g_ptr_array_unref(x->repeats);
	g_ptr_array_unref(x->kept);
	g_ptr_array_unref(x->turns);
	no_return_free(x->no_return);
	portfolio_free(x->portfolio);
	histories_free(x->histories);
	worklist_free(x->worklist);
	awaits_free(x->awaits);
	pasts_free(x->pasts);
	g_hash_table_unref(x->errors);
	g_hash_table_unref(x->races);
	g_hash_table_unref(x->unwritten);
	g_hash_table_unref(x->finals_seen);
	g_hash_table_unref(x->reasons);
	g_clear_pointer(&x->hidden_reads, g_hash_table_unref);
	g_clear_pointer(&x->unhooked, g_hash_table_unref);
}

/* Open the state to resume from, if any, and run in its environment. */
static bool inherit(struct exploration *x, struct error *error)
{
	const char *path = x->options->resume;
	if (path == NULL || (access(path, F_OK) != 0 && errno == ENOENT))
		return true;
	x->from = checkpoint_open(path, error);
	return x->from != NULL && checkpoint_follow(x->from, error) &&
	       checkpoint_inherit(x->from, error);
}

/* Keep the memory that a run frees for the next run: given back to the system, it would cost a
 * page fault a page. */
static void keep_heap(void)
{
	enum { KEPT = 32 << 20 }; /* the most that the C library takes */
	mallopt(M_TRIM_THRESHOLD, KEPT);
	mallopt(M_MMAP_THRESHOLD, KEPT);
}

static bool start_server(struct exploration *x, bool kernel_threads, struct error *error)
{
	x->server = record_server_new(x->options->argv, x->interposer, x->output, true, error);
	if (x->server != NULL && kernel_threads)
		record_server_use_kernel_threads(x->server);
	return x->server != NULL;
}

/* *outgrown: a run needed kernel threads, and earlier ones had none: all are to be made again.
 */
static struct explore_report *explore_with(const struct explore_options *options,
                                           const struct progress *progress, bool kernel_threads,
                                           bool *outgrown, struct error *error)
{
	struct exploration x;
	exploration_begin(&x, options);
	x.progress = progress;
	bool good = inherit(&x, error) && open_output(&x, error) && bind_library(&x, error) &&
	            start_server(&x, kernel_threads, error) &&
	            (options->memory == MEMORY_SC ? run_all(&x, error)
	                                          : graphs_explore(&x, options->memory, error));
	*outgrown = x.server != NULL && (record_server_outgrown(x.server) || x.outgrown);
	good = good && !*outgrown;
	x.report->kernel_threads = x.kernel_threads;
	record_server_free(x.server);
	interposer_remove(x.interposer);
	g_ptr_array_set_size(x.kept, 0); /* their traces are kept on */
	if (good && x.earlier == 0)
		no_return_find(x.no_return, x.report, progress);
	exploration_end(&x);
	if (!good) {
		explore_report_free(x.report);
		return NULL;
	}
	return x.report;
}

struct explore_report *explore(const struct explore_options *options,
                               const struct progress *progress, struct error *error)
{
	enum { LEAST = 1 }; /* seconds; 0 would be no limit */
	gint64 begun = g_get_monotonic_time();
	struct explore_options again = *options;
	bool outgrown;
	keep_heap();
	struct explore_report *report =
	        explore_with(options, progress, false, &outgrown, error);
	if (!outgrown)
		return report;
	if (again.seconds > 0) {
		again.seconds -= (double)(g_get_monotonic_time() - begun) / G_USEC_PER_SEC;
		again.seconds = MAX(again.seconds, LEAST);
	}
	return explore_with(&again, progress, true, &outgrown, error);
}
