/*
 * checkup_coverage.c - the coverage of the answer, in sentences.
 */
#include "engine/record/before.h"
#include "tui/batch/check/checkup.h"

#include <inttypes.h>
#include <string.h>

static const struct {
	enum finding_kind kind;
	const char *nothing, *other;
	bool of_accesses; /* those that are not in the trace count */
} kinds[] = {
	{ FINDING_DATA_RACE, "data race", "other data race", true },
	{ FINDING_DEADLOCK, "cycle of locks that can deadlock",
	  "other cycle of locks that can deadlock", false },
	{ FINDING_STUCK, "wait for another thread that never ends",
	  "other wait for another thread that never ends", false },
	{ FINDING_USE_AFTER_FREE, "use of freed memory or of a destroyed object",
	  "other use of freed memory or of a destroyed object", true },
};

/* Those pairs of the table (struct undecided, borrowed) of the kind that no run has shown as a
 * finding; the caller frees the list. */
static GList *left_of(const struct checkup *c, GHashTable *pairs, enum finding_kind kind)
{
	GList *left = NULL;
	GHashTableIter iter;
	gpointer key, value;

	g_hash_table_iter_init(&iter, pairs);
	while (g_hash_table_iter_next(&iter, &key, &value))
		if (((struct undecided *)value)->kind == kind &&
		    !g_hash_table_contains(c->by_key, key))
			left = g_list_prepend(left, value);
	return left;
}

/* Does an open question of the kind remain, from any run? */
static bool is_open(const struct checkup *c, enum finding_kind kind)
{
	GList *left = left_of(c, c->undecided, kind);
	bool open = c->open[kind] || left != NULL;

	g_list_free(left);
	return open;
}

bool checkup_complete(const struct checkup *c, enum finding_kind kind)
{
	if (c->explored_all)
		switch (kind) {
		case FINDING_CRASH:
		case FINDING_ASSERTION:
		case FINDING_EXIT:
		case FINDING_STUCK:
		case FINDING_DEADLOCK:
		case FINDING_DATA_RACE:
			return true;
		default:
			break;
		}
	for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
		if (kinds[i].kind == kind)
			return c->analysed > 0 && !is_open(c, kind);
	return false;
}

static bool found(const struct checkup *c, enum finding_kind kind)
{
	for (guint i = 0; i < c->list->len; i++)
		if (((const struct checked *)c->list->pdata[i])->kind == kind)
			return true;
	return false;
}

static void add(json_t *sentences, const char *format, ...)
        __attribute__((format(printf, 2, 3)));
static void add(json_t *sentences, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	char *text = g_strdup_vprintf(format, ap);
	va_end(ap);
	json_array_append_new(sentences, json_text(text));
	g_free(text);
}

/* "no data race, no other cycle of locks ...", for the complete kinds. */
static char *nothing_of(const struct checkup *c)
{
	GString *text = g_string_new(NULL);

	for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
		if (c->analysed > 0 && !is_open(c, kinds[i].kind))
			g_string_append_printf(text, "%sno %s%s", text->len ? ", " : "",
			                       found(c, kinds[i].kind) ? kinds[i].other
			                                               : kinds[i].nothing,
			                       kinds[i].of_accesses && c->lacks_accesses
			                               ? " outside of code that is not "
			                                 "instrumented"
			                               : "");
	return g_string_free(text, FALSE);
}

static char *open_of(const struct checkup *c)
{
	GString *text = g_string_new(NULL);

	for (int k = 0; k < FINDING_KIND_COUNT; k++) {
		/* atomicity has a sentence of its own; a complete exploration leaves nothing
		 * open */
		if (k == FINDING_ATOMIC_SET_VIOLATION || !is_open(c, (enum finding_kind)k) ||
		    (c->explored_all && checkup_complete(c, (enum finding_kind)k)))
			continue;
		g_autofree char *title = checkup_kind_title((enum finding_kind)k);
		g_string_append_printf(text, "%s%s", text->len ? ", " : "", title);
	}
	return g_string_free(text, FALSE);
}

static void tell_runs(const struct checkup *c, json_t *s)
{
	g_autofree char *nothing = nothing_of(c), *open = open_of(c);
	const char *runs = c->analysed == 1 ? "this run" : "these runs";

	if (*nothing)
		add(s,
		    "In all reorderings of %s (%u analysed) in which every read sees what it "
		    "saw%s: %s.",
		    runs, c->analysed,
		    c->waits_paired   ? " (and " REPORT_SAME_PAIRING ")"
		    : c->same_pairing ? " (and, of data races, " REPORT_SAME_PAIRING ")"
		                      : "",
		    nothing);
	g_autoptr(GString) why = g_string_new(NULL);
	for (guint i = 0; i < c->open_because->len; i++)
		g_string_append_printf(why, "%s%s", i ? "; " : " (as ",
		                       (char *)c->open_because->pdata[i]);
	g_string_append(why, why->len ? ")" : "");
	if (*open)
		add(s, "Not everything was decided, even in these reorderings, of: %s%s.", open,
		    why->str);
}

static gint by_text(gconstpointer a, gconstpointer b)
{
	return strcmp(((const struct undecided *)a)->text, ((const struct undecided *)b)->text);
}

/* Names pairs that neither an analysis nor a run aimed at them has decided. */
static void tell_undecided(const struct checkup *c, json_t *s)
{
	enum { NAMED = 3 };

	for (int k = 0; k < FINDING_KIND_COUNT && !c->explored_all; k++) {
		GList *left =
		        g_list_sort(left_of(c, c->undecided, (enum finding_kind)k), by_text);
		guint count = g_list_length(left), i = 0;
		g_autoptr(GString) names = g_string_new(NULL);
		uint32_t run = left ? ((struct undecided *)left->data)->run : 0;

		for (GList *n = left; n != NULL && i < NAMED; n = n->next, i++)
			g_string_append_printf(names, "%s%s", i ? "; " : "",
			                       ((struct undecided *)n->data)->text);
		if (count > NAMED)
			g_string_append_printf(names, "; and %u more", count - NAMED);
		g_autofree char *kind = checkup_kind_title((enum finding_kind)k);
		if (count > 0)
			add(s,
			    "Not decided, neither by analysis nor by runs driven there: "
			    "whether there is %s %s between %s (heddle %s --budget 60,600 %s "
			    "takes longer over a pair).",
			    strchr("aeio", *kind) ? "an" : "a", kind, names->str,
			    k == FINDING_DATA_RACE ? "races" : "commute",
			    g_array_index(c->runs, struct checkup_run, run).trace);
		g_list_free(left);
	}
}

/* Counts pairs that may race once the listed races are repaired. */
static void tell_behind(const struct checkup *c, json_t *s)
{
	enum { NAMED = 3 };
	GList *left = c->explored_all ? NULL : left_of(c, c->behind, FINDING_DATA_RACE);
	guint count = g_list_length(left), named = 0, more = 0;
	g_autoptr(GString) names = g_string_new(NULL);
	const char *last = NULL;

	left = g_list_sort(left, by_text);
	uint32_t run = left ? ((struct undecided *)left->data)->run : 0;
	for (GList *n = left; n != NULL; n = n->next) {
		const char *name = ((struct undecided *)n->data)->text;

		if (last != NULL && strcmp(name, last) == 0)
			continue;
		if (named++ < NAMED)
			g_string_append_printf(names, "%s%s", last ? ", " : "", name);
		else
			more++;
		last = name;
	}
	if (more > 0)
		g_string_append_printf(names, " and %u more variable%s", more, plural(more));
	g_list_free(left);
	if (count > 0)
		add(s,
		    "Not covered: races behind the listed ones. No synchronisation orders %u more "
		    "pair%s of places, on %s, and only the values that racy reads saw in these "
		    "runs keep %s apart: repair the listed races and check again (heddle races %s "
		    "--verdicts all lists them).",
		    count, plural(count), names->str, count == 1 ? "it" : "them",
		    g_array_index(c->runs, struct checkup_run, run).trace);
}

static void tell_exploration(const struct checkup *c, json_t *s)
{
	if (c->explored_all)
		add(s,
		    "Every schedule of this input was run, but for those that make no difference "
		    "(%" PRIu64 " different run%s): the program behaves as in %s%s%s.",
		    c->classes, plural(c->classes), c->classes == 1 ? "it" : "one of them",
		    g_hash_table_size(c->outputs) > c->classes ? ", but for what it prints"
		                                               : "",
		    found(c, FINDING_DATA_RACE) ? ", except for what its data races allow"
		                                : "");
	else if (c->explored)
		add(s,
		    "Not covered: schedules that were not run. The exploration made %" PRIu64
		    " run%s (%" PRIu64 " different) and %s.",
		    c->executions, plural(c->executions), c->classes,
		    c->explored_late ? "then its time was up (--budget SECONDS gives more)"
		                     : "did not come to its end");
	else if (c->argv != NULL)
		add(s,
		    "Not covered: schedules whose reads do not all see what they saw in one of these runs.");
	else
		add(s,
		    "Not covered: schedules in which a read sees another value than in these "
		    "traces (heddle check -- PROGRAM runs more).");
	if (c->shaken > 0)
		add(s,
		    "%u schedule%s run by chance, and analysed where a run ended in a new way (heddle "
		    "shake runs more).",
		    c->shaken, c->shaken == 1 ? " was" : "s were");
	if (c->aimed_runs > 0)
		add(s,
		    "%u run%s driven to where a read sees something else than in the runs "
		    "before, or to a pair that was not decided; %u more such place%s %s known.",
		    c->aimed_runs, c->aimed_runs == 1 ? " was" : "s were",
		    c->aims->len - c->next_aim, c->aims->len - c->next_aim == 1 ? "" : "s",
		    c->aims->len - c->next_aim == 1 ? "is" : "are");
}

/* What the time did not suffice for. */
static void tell_late(const struct checkup *c, json_t *s)
{
	g_autoptr(GString) text = g_string_new(NULL);

	for (guint i = 0; i < c->late->len; i++)
		g_string_append_printf(text, "%s%s", i ? "; " : "", (char *)c->late->pdata[i]);
	if (c->late->len > 0)
		add(s, "Not covered, as the time ran out (--budget SECONDS gives more): %s.",
		    text->str);
}

static void tell_waits(const struct checkup *c, json_t *s)
{
	add(s,
	    "Not covered, of waits that never end: loops that wait until a value changes, and "
	    "waits for input from outside the program.");
	if (!c->waits)
		return;
	add(s,
	    c->spurious_all
	            ? "Schedules with one spurious wake-up (a wait for a condition that ends "
	              "without a signal) were run, too; not covered: several in one run, and "
	              "those of waits with a time limit."
	    : c->spurious
	            ? "Not covered: most schedules with spurious wake-ups (waits for a condition "
	              "that end without a signal); some with one were run."
	            : "Not covered: spurious wake-ups (waits for a condition that end without a "
	              "signal; heddle explore --spurious 1).");
}

/* What can come in another order and made no difference, so that it is in no finding. */
static void tell_without_difference(const struct checkup *c, json_t *s)
{
	if (c->harmless)
		add(s,
		    "%u signal%s can come before the wait that %s for; that was run, and made "
		    "no difference.",
		    c->harmless, plural(c->harmless), c->harmless == 1 ? "it is" : "they are");
	if (c->leading_to_wait)
		add(s,
		    "%u order%s of a signal and a wait lead%s to a wait without end that is listed "
		    "(heddle commute TRACE lists %s).",
		    c->leading_to_wait, plural(c->leading_to_wait),
		    c->leading_to_wait == 1 ? "s" : "",
		    c->leading_to_wait == 1 ? "it" : "them");
	if (c->serial)
		add(s,
		    "Another thread's work can come between that of a unit of work, %u time%s; that "
		    "was run, and made no difference (heddle atomic TRACE lists it).",
		    c->serial, plural(c->serial));
	if (c->racy_units)
		add(s,
		    "Another thread's work can come between that of a unit of work, %u time%s, with "
		    "another last value of a variable that a listed data race changes: repair the "
		    "race first and check again (heddle atomic TRACE lists it).",
		    c->racy_units, plural(c->racy_units));
}

/* Ends that every run has, and runs that did not come to theirs. */
static void tell_ends(const struct checkup *c, json_t *s)
{
	if (c->always)
		add(s, "%s in every run, so whatever the schedule: that is no finding.",
		    c->always);
	if (c->cut_runs > 0)
		add(s,
		    "%u run%s did not end in %.3g s and %s ended there (--timeout and --budget "
		    "give more).",
		    c->cut_runs, plural(c->cut_runs), c->cut_ms / 1000.0,
		    c->cut_runs == 1 ? "was" : "were");
}

/* The limits of this program's runs, then those of every check. */
static void tell_rest(const struct checkup *c, json_t *s)
{
	tell_late(c, s);
	for (guint i = 0; i < c->uncovered->len; i++)
		add(s, "Not covered: %s.", (char *)c->uncovered->pdata[i]);
	add(s,
	    "Not covered: other inputs than this one, what weak memory allows beyond schedules of "
	    "single steps%s, and code that is not instrumented%s.",
	    c->weak ? " (there are atomics weaker than seq_cst: heddle explore --memory rc11, or "
	              "tso for x86)"
	            : "",
	    c->missing_calls ? " (which the program calls)" : "");
	tell_waits(c, s);
	const char *const *kinds_unsought = explore_unsought;
	while (!c->explored_all && g_str_has_prefix(*kinds_unsought, "reads of uninitialised"))
		kinds_unsought++;
	g_autofree char *unsought = g_strjoinv(", ", (char **)kinds_unsought);
	add(s,
	    "Not covered: atomicity in general. Units of work are inferred: that no violation is "
	    "found proves nothing.");
	for (guint i = 0; i < c->own_specs->len; i++)
		add(s, "The specification %s was used: its functions are in the program.",
		    (const char *)c->own_specs->pdata[i]);
	unsigned outputs = MAX(g_hash_table_size(c->outputs), c->explored_outputs);
	if (outputs > 1 && c->expected == NULL)
		add(s,
		    "Runs that ended well printed %u different outputs; --expect FILE says "
		    "which is right%s.",
		    outputs,
		    record_before_command() != NULL
		            ? ""
		            : ", and --before COMMAND puts back files that one run changes and "
		              "the next reads");
	tell_without_difference(c, s);
	tell_ends(c, s);
	if (c->futexes && !c->explored_all)
		add(s,
		    "Not covered: waits for a futex, by system calls of the program's own, that "
		    "never end in another order (those that happened are listed).");
	add(s, "Not looked for: %s%s.",
	    c->explored_all ? "" : "reads of uninitialised memory but in explored runs, ",
	    unsought);
}

json_t *checkup_coverage(const struct checkup *c)
{
	json_t *s = json_array();

	if (c->explored_all) /* all schedules, of which the reorderings of runs are some */
		tell_exploration(c, s);
	tell_runs(c, s);
	tell_undecided(c, s);
	tell_behind(c, s);
	if (!c->explored_all)
		tell_exploration(c, s);
	tell_rest(c, s);
	return s;
}
