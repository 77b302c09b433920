/*
 * cmd_fix_check.c - `heddle fix-check`: are the findings of an earlier report fixed in this
 * program, and has the fix brought new ones?
 *
 * The program is checked as by `heddle check`.  A finding that is there again is present.  Of
 * one that is not there, every run is asked whether the places of the finding were reached
 * (became.h, which knows renamed files and moved functions); a finding whose places no run
 * reaches is hidden, not fixed.
 */
#include "engine/base/child.h"
#include "tui/batch/reports/became.h"
#include "tui/batch/check/check_text.h"
#include "tui/batch/check/checkup.h"
#include "tui/batch/fix_locks.h"

#include <string.h>

/* The fate of an old finding; word in JSON */
#define FIX_FATES(FATE) \
	FATE(UNDECIDED, "undecided") \
	FATE(FIXED, "fixed") \
	FATE(PRESENT, "present") \
	FATE(HIDDEN, "hidden")
enum fix_fate {
#define FATE(name, word) FIX_##name,
	FIX_FATES(FATE)
#undef FATE
	        FIX_FATE_COUNT
};
static const char *const fate_words[] = {
#define FATE(name, word) word,
	FIX_FATES(FATE)
#undef FATE
};

struct judged { /* an old finding */
	enum fix_fate fate;
	char *why;           /* owned */
	uint32_t now;        /* its index in the new list, or NONE */
	bool reached, known; /* its places ran in some run; some run was examined */
	bool unknown;        /* in some run a pair of its functions is undecided */
};

struct fix {
	struct checkup *c;
	const struct report_file *old;
	struct report_file *new;
	struct match match;
	struct judged *judged; /* by old finding; those that are no finding are left out */
};

static const json_t *old_fields(const struct fix *x, guint i)
{
	return g_array_index(x->old->findings, struct filed_finding, i).fields;
}

static void settle(struct judged *j, enum fix_fate fate, char *why)
{
	g_free(j->why);
	j->fate = fate;
	j->why = why;
}

static bool is_kind(const json_t *f, enum finding_kind kind)
{
	return strcmp(json_word(f, "kind"), finding_kind_word(kind)) == 0;
}

/* -- asking the runs ----------------------------------------------------------------------- */

static bool runs_function(const struct trace *t, const char *name)
{
	for (uint32_t l = 0; l < t->locations_count; l++)
		if (strcmp(trace_string(t, t->locations[l].function), name) == 0)
			return true;
	return false;
}

/* A fix of a violation of atomicity makes one critical section of two, and the helpers that
 * had them may be gone: the program has to reach its units of work. */
static bool runs_units(const struct trace *t, const json_t *f)
{
	const json_t *units = json_object_get(f, "cycle"), *unit;
	size_t i;

	if (!is_kind(f, FINDING_ATOMIC_SET_VIOLATION) || json_array_size(units) == 0)
		return false;
	json_array_foreach((json_t *)units, i, unit)
	{
		if (!runs_function(t, json_word(unit, "unit")))
			return false;
	}
	return true;
}

static void ask_run(struct fix *x, struct trace *t, const struct became *became)
{
	for (guint i = 0; i < x->old->findings->len; i++) {
		struct judged *j = &x->judged[i];
		const struct became *b = &became[i];

		if (!filed_is_found(old_fields(x, i)) || x->match.old.state[i] != MATCH_ABSENT)
			continue;
		j->known = true;
		if (b->fate == FATE_ELSEWHERE)
			settle(j, FIX_PRESENT,
			       g_strdup("the same functions race on the variable at other "
			                "lines"));
		if (b->fate == FATE_UNKNOWN)
			j->unknown = true;
		if (j->fate == FIX_PRESENT ||
		    (b->fate == FATE_NOT_EXECUTED && !runs_units(t, old_fields(x, i))))
			continue;
		j->reached = true;
		if (j->why != NULL)
			continue;
		g_autofree char *locks = fix_common_lock(t, old_fields(x, i));
		if (locks != NULL)
			j->why = g_strdup_printf("both now hold %s", locks);
		else if (b->fate == FATE_NOT_ACCESSED)
			j->why = g_strdup("its functions run, and no longer use the variable");
		else if (b->fate == FATE_ORDERED)
			j->why = g_strdup("the two are always in one order, or in one thread");
		else if (b->fate == FATE_IMPOSSIBLE)
			j->why = g_strdup_printf(
			        "proved impossible by the %s",
			        json_word(json_object_get(b->finding, "proof"), "method"));
	}
}

/* Examines every run's trace again; false and c->error when that fails. */
static bool ask_runs(struct fix *x)
{
	struct race_options race;
	struct trace_options open = { 0 };
	struct error error = { 0 };

	race_options_init(&race);
	for (guint i = 0; i < x->c->runs->len; i++) {
		const struct checkup_run *run =
		        &g_array_index(x->c->runs, struct checkup_run, i);

		if (run->same_as != NONE)
			continue;
		struct trace *t = trace_open(run->trace, &open, NULL, &x->c->error);
		if (t == NULL)
			return false;
		struct became *became =
		        became_find(x->old, &x->match.old, MATCH_ABSENT,
		                    &(struct became_there){ .t = t, .race = &race },
		                    progress_on_stderr(), &error);
		if (became != NULL)
			ask_run(x, t, became);
		became_free(became, x->old);
		trace_close(t);
	}
	progress_done();
	return true;
}

/* -- judging ------------------------------------------------------------------------------- */

/* FINDING_KIND_COUNT: not a kind of ours. */
static enum finding_kind kind_of(const json_t *f)
{
	for (int k = 0; k < FINDING_KIND_COUNT; k++)
		if (is_kind(f, (enum finding_kind)k))
			return (enum finding_kind)k;
	return FINDING_KIND_COUNT;
}

/* Is it the end of a run, whose place the fixed program need not reach? */
static bool is_ending(enum finding_kind kind)
{
	return kind == FINDING_CRASH || kind == FINDING_ASSERTION || kind == FINDING_EXIT;
}

/* Is the kind decided for each run, or all its reorderings, unless a budget ran out? */
static bool is_decided(const struct fix *x, enum finding_kind kind)
{
	return x->c->explored_all || checkup_complete(x->c, kind) ||
	       (kind == FINDING_LOCK_MISUSE && x->c->analysed > 0) ||
	       ((kind == FINDING_ORDER_VIOLATION || kind == FINDING_COMMUTATIVITY_RACE ||
	         kind == FINDING_ATOMIC_SET_VIOLATION) &&
	        !x->c->open[kind]);
}

static void judge_gone(struct fix *x, guint i)
{
	struct judged *j = &x->judged[i];
	enum finding_kind kind = kind_of(old_fields(x, i));
	g_autofree char *why = g_steal_pointer(&j->why);

	if (kind == FINDING_KIND_COUNT ||
	    (!is_ending(kind) &&
	     json_array_size(json_object_get(old_fields(x, i), "sites")) == 0))
		settle(j, FIX_UNDECIDED,
		       g_strdup("the old report does not say what it is, or where"));
	else if (!is_ending(kind) && !j->reached)
		settle(j, FIX_HIDDEN,
		       g_strdup("its places are not reached by any run, so nothing is said of "
		                "them: reach them, or remove the code"));
	else if (j->unknown && why == NULL)
		settle(j, FIX_UNDECIDED,
		       g_strdup("neither a schedule of it was found nor a proof that there is "
		                "none; --budget gives more"));
	else if (!is_decided(x, kind) ||
	         (*json_word(old_fields(x, i), "spurious-wakeup") && !x->c->spurious_all))
		settle(j, FIX_UNDECIDED,
		       g_strdup("no run shows it, and not every schedule was looked at; "
		                "--budget gives more"));
	else if (why != NULL)
		settle(j, FIX_FIXED, g_steal_pointer(&why));
	else if (x->c->explored_all)
		settle(j, FIX_FIXED, g_strdup("no schedule of this input shows it"));
	else
		settle(j, FIX_FIXED,
		       g_strdup("its places are reached, and no reordering of the runs shows "
		                "it"));
}

static void judge(struct fix *x)
{
	for (guint i = 0; i < x->old->findings->len; i++) {
		struct judged *j = &x->judged[i];

		j->now = NONE;
		if (!filed_is_found(old_fields(x, i)))
			continue;
		if (x->match.old.state[i] != MATCH_ABSENT) {
			j->now = x->match.old.other[i];
			const struct checked *f = x->c->list->pdata[j->now];
			settle(j, FIX_PRESENT, g_strdup(f->text));
		} else if (j->fate != FIX_PRESENT) {
			judge_gone(x, i);
		}
	}
}

static bool is_new(const struct fix *x, guint i)
{
	return x->match.new.state[i] == MATCH_NEW;
}

/* New findings; threads that wait for ever come first, as the fix may have a lock too many. */
static GArray *new_findings(const struct fix *x)
{
	GArray *list = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	for (int stuck = 1; stuck >= 0; stuck--)
		for (uint32_t i = 0; i < x->c->list->len; i++) {
			const struct checked *f = x->c->list->pdata[i];
			bool stands = f->kind == FINDING_DEADLOCK || f->kind == FINDING_STUCK;

			if (is_new(x, i) && stands == (stuck == 1))
				g_array_append_val(list, i);
		}
	return list;
}

/* -- printing ------------------------------------------------------------------------------ */

static json_t *judged_json(const struct fix *x, guint i)
{
	const struct judged *j = &x->judged[i];
	json_t *f = json_copy((json_t *)old_fields(x, i));

	json_object_del(f, "witness"); /* a number here */
	json_object_set_new(f, "fate", json_string(fate_words[j->fate]));
	json_object_set_new(f, "why", json_text(j->why ? j->why : ""));
	if (j->now != NONE)
		json_object_set_new(f, "now", checked_json(x->c, x->c->list->pdata[j->now]));
	return f;
}

static void print_json(const struct fix *x, const GArray *new)
{
	json_t *whole = checkup_json(x->c), *findings = json_array(), *news = json_array();

	for (guint i = 0; i < x->old->findings->len; i++)
		if (filed_is_found(old_fields(x, i)))
			json_array_append_new(findings, judged_json(x, i));
	for (guint i = 0; i < new->len; i++)
		json_array_append_new(
		        news,
		        checked_json(x->c, x->c->list->pdata[g_array_index(new, uint32_t, i)]));
	json_object_set_new(whole, "command", json_string("fix-check"));
	json_object_set_new(whole, "findings", findings);
	json_object_set_new(whole, "new", news);
	json_dumpf(whole, stdout, JSON_INDENT(1));
	putchar('\n');
	json_decref(whole);
}

static void print_text(const struct fix *x, const GArray *new)
{
	g_autofree char *spelt = child_spelt(x->c->argv);
	const char *command = printable(spelt);
	json_auto_t *head = json_object();
	json_set_command(head, x->c->argv);
	g_autofree char *before = json_before(head);
	guint counts[FIX_FATE_COUNT] = { 0 };

	for (guint i = 0; i < x->old->findings->len; i++) {
		const struct judged *j = &x->judged[i];

		if (!filed_is_found(old_fields(x, i)))
			continue;
		counts[j->fate]++;
		printf("%s: ", fate_words[j->fate]);
		finding_print(old_fields(x, i), stdout);
		printf("    now: %s\n", j->why ? j->why : "");
		if (j->now != NONE &&
		    ((struct checked *)x->c->list->pdata[j->now])->witness_file != NULL)
			printf("    heddle replay --witness %s %s-- %s\n",
			       ((struct checked *)x->c->list->pdata[j->now])->witness_file,
			       before, command);
	}
	for (guint i = 0; i < new->len; i++) {
		const struct checked *f = x->c->list->pdata[g_array_index(new, uint32_t, i)];

		printf("new: %s\n    %s.\n", finding_kind_word(f->kind), f->text);
	}
	printf("%u fixed, %u present, %u hidden, %u undecided, %u new\n", counts[FIX_FIXED],
	       counts[FIX_PRESENT], counts[FIX_HIDDEN], counts[FIX_UNDECIDED], new->len);
	json_auto_t *coverage = checkup_coverage(x->c);
	check_print_coverage(coverage);
}

static int status_of(const struct fix *x, const GArray *new)
{
	bool undecided = false;

	if (new->len > 0)
		return EXIT_FOUND;
	for (guint i = 0; i < x->old->findings->len; i++) {
		if (!filed_is_found(old_fields(x, i)))
			continue;
		if (x->judged[i].fate == FIX_PRESENT || x->judged[i].fate == FIX_HIDDEN)
			return EXIT_FOUND;
		undecided |= x->judged[i].fate == FIX_UNDECIDED;
	}
	return undecided ? EXIT_BUDGET : EXIT_NOTHING;
}

/* -- the command --------------------------------------------------------------------------- */

/* The old findings: a report as it is, or the findings of a trace. */
static struct report_file *open_old(const struct arguments *a, const char *path)
{
	struct report_file *r = NULL;
	struct error error;
	struct checkup c;

	if (report_file_is(path)) {
		r = report_file_open(path, &error);
		if (r == NULL)
			fail(&error);
		return r;
	}
	if (checkup_open(&c, a)) {
		g_autoptr(GPtrArray) traces = g_ptr_array_new();

		g_ptr_array_add(traces, (gpointer)path);
		c.argv = NULL;
		c.harm = false;
		c.writes = false;
		if (checkup_run(&c, traces))
			r = checkup_report(&c);
	}
	checkup_close(&c);
	return r;
}

static struct filed_finding *old_finding(struct report_file *old, guint i)
{
	return &g_array_index(old->findings, struct filed_finding, i);
}

/* The old findings as they were reported: judged by the new program's names, they are printed
 * by their own. */
static GPtrArray *copy_fields(struct report_file *old)
{
	GPtrArray *copies = g_ptr_array_new();

	for (guint i = 0; i < old->findings->len; i++)
		g_ptr_array_add(copies, json_deep_copy(old_finding(old, i)->fields));
	return copies;
}

/* Consumes the copies. */
static void restore_fields(struct report_file *old, GPtrArray *copies)
{
	for (guint i = 0; i < copies->len; i++) {
		json_decref(old_finding(old, i)->fields);
		old_finding(old, i)->fields = copies->pdata[i];
	}
	g_ptr_array_unref(copies);
}

/* A fix may have renamed its file: the old places in the names of the new program. */
static bool rename_places(struct checkup *c, struct report_file *old)
{
	struct trace_options open = { 0 };
	struct trace *t = NULL;

	if (c->runs->len > 0)
		t = trace_open(g_array_index(c->runs, struct checkup_run, 0).trace, &open, NULL,
		               &c->error);
	if (t != NULL)
		became_rename(old, t);
	trace_close(t);
	return t != NULL || c->runs->len == 0;
}

static int compare(const struct arguments *a, struct checkup *c, struct report_file *old)
{
	enum output_format format = argument_format(a, false);
	struct fix x = { .c = c, .old = old };
	int status = EXIT_BAD;
	GArray *new;

	c->keeps_orders = true; /* an old report may have them */
	if (!checkup_run(c, NULL))
		return EXIT_BAD;
	GPtrArray *reported = copy_fields(old);
	if (!rename_places(c, old)) {
		restore_fields(old, reported);
		return fail(&c->error);
	}
	x.new = checkup_report(c);
	match_reports(old, x.new, &x.match);
	x.judged = g_new0(struct judged, old->findings->len + 1);
	bool asked = ask_runs(&x);
	if (asked)
		judge(&x);
	restore_fields(old, reported);
	if (asked) {
		new = new_findings(&x);
		if (format == FORMAT_JSON)
			print_json(&x, new);
		else
			print_text(&x, new);
		status = status_of(&x, new);
		g_array_unref(new);
	} else {
		fail(&c->error);
	}
	for (guint i = 0; i < old->findings->len; i++)
		g_free(x.judged[i].why);
	g_free(x.judged);
	match_release(&x.match);
	report_file_free(x.new);
	return status;
}

static int run(struct arguments *a)
{
	struct checkup c;

	argument_words(a, 1, 1);
	if (a->rest == NULL || a->rest[0] == NULL)
		return usage_error(a, "no program given after --");
	argument_format(a, false);
	struct report_file *old = open_old(a, a->words->pdata[0]);
	if (old == NULL)
		return EXIT_BAD;
	int status = checkup_open(&c, a) ? compare(a, &c, old) : EXIT_BAD;
	checkup_close(&c);
	report_file_free(old);
	return status;
}

static const struct command_option options[] = {
	CHECKUP_OPTIONS,
	OPTION_LENIENT,
	OPTION_FORMAT,
	{ 0 },
};

const struct command command_fix_check = {
	.name = "fix-check",
	.usage = "OLD [--budget SECONDS] -- PROG ARGS",
	.summary =
	        "is what an earlier report found fixed in this program, and is anything new?",
	.details =
	        "OLD is a JSON report of any command, or a trace.  The program is checked as by 'heddle\n"
	        "check'.  The report says of each old finding whether it is fixed (and what makes it\n"
	        "impossible), present (with a new witness), hidden (its places are not reached: that is\n"
	        "no fix) or undecided, and lists new findings, deadlocks first.  Exit status: 0 all are\n"
	        "fixed and none is new, 1 one is present, hidden or new, 2 bad input, 3 one is undecided.",
	.options = options,
	.run = run,
	.takes_program = true,
};
