/*
 * print.c - reports as text, and the choice of format.
 */
#include "tui/batch/print.h"
#include "engine/trace/own_code.h"
#include "engine/predict/ladder/behind.h"

#include "engine/order/order.h"
#include "engine/partial/calls.h"
#include "engine/predict/weak_races.h"
#include "engine/trace/weak.h"
#include "tui/batch/changes.h"
#include "tui/batch/places.h"
#include "tui/batch/suppressions.h"

#include <jansson.h>
#include <inttypes.h>
#include <string.h>

/* " (*box and 1 more)": addresses common to the calls of a step by uninstrumented code. */
static void append_common(const struct trace *t, const struct step *s,
                          struct missing_calls **calls, GString *line)
{
	struct missing_reason reason;
	if (s->rule != STEP_MUST || s->detail != MUST_MISSING)
		return;
	if (*calls == NULL)
		*calls = missing_calls_new(t);
	if (!missing_reason(*calls, t, s->from, s->to, &reason))
		return;
	g_string_append(line, " (");
	append_escaped(line, reason.address, strlen(reason.address));
	if (reason.more)
		g_string_append_printf(line, " and %u more", reason.more);
	g_string_append_c(line, ')');
}

void print_steps(const struct trace *t, const struct path *path)
{
	struct missing_calls *calls = NULL; /* made on demand */
	g_autoptr(GString) line = g_string_new(NULL);
	for (guint i = 0; path->steps && i < path->steps->len; i++) {
		const struct step *s = &g_array_index(path->steps, struct step, i);
		g_string_printf(line, "  %u -> %u  ", s->from, s->to);
		order_append_sentence(t, s, line);
		append_common(t, s, &calls, line);
		g_string_append_printf(line, "  [%s]", step_rule_text(s->rule));
		puts(line->str);
	}
	missing_calls_free(calls);
}

char *variable_name(const struct trace *t, uint32_t variable)
{
	const char *name = trace_string(t, t->variables[variable].name);
	GString *s = g_string_new(NULL);
	append_escaped(s, name, strlen(name));
	return g_string_free(s, FALSE);
}

const char *printable(const char *name)
{
	const char *at = name;
	while (*at >= 0x20 && *at < 0x7f)
		at++;
	if (*at == '\0')
		return name;
	g_autoptr(GString) s = g_string_new(NULL);
	append_escaped(s, name, strlen(name));
	return g_intern_string(s->str);
}

const char *printable_thread(const struct trace *t, uint32_t event)
{
	return printable(trace_thread_name(t, t->events[event].thread));
}

void append_frame(const struct trace *t, const struct frame *f, GString *out)
{
	const char *function = trace_string(t, f->function);
	const char *place = trace_string(t, t->locations[f->location].name);
	own_code_append_name(function, out);
	if (*function && *place)
		g_string_append_c(out, ' ');
	append_escaped(out, place, strlen(place));
}

/* -- text --------------------------------------------------------------------------- */

/* The function and its callers. */
static void print_callers(const struct trace *t, uint32_t event)
{
	g_autoptr(GArray) frames =
	        trace_frames(t, event, t->stacks_count ? trace_stack(t, event) : 0);
	g_autoptr(GString) s = g_string_new(NULL);
	guint first = own_code_frame(t, frames);
	for (guint i = first; i < trace_frames_shown(t, frames); i++) {
		const struct frame *f = &g_array_index(frames, struct frame, i);
		const char *function = trace_string(t, f->function);
		if (i > first && own_code_is_on() && !own_code_has(t, f))
			continue;
		g_string_append(s, i > first ? ", from " : *function ? "  in " : "");
		if (i > first)
			append_frame(t, f, s);
		else
			own_code_append_name(function, s);
	}
	if (first > 0) {
		g_string_append(s, ", inside of ");
		append_frame(t, &g_array_index(frames, struct frame, 0), s);
	}
	fputs(s->str, stdout);
}

static void print_numbered(const struct trace *t, uint32_t event, uint32_t number)
{
	g_autoptr(GString) s = g_string_new(NULL);
	trace_append_operation(t, event, s);
	printf("    %8u  %-6s %-28s %s", number, printable_thread(t, event), s->str,
	       printable(own_code_place_name(t, event)));
	print_callers(t, event);
	putchar('\n');
}

static void print_event(const struct trace *t, uint32_t event)
{
	print_numbered(t, event, event);
}

static void print_variables(const struct trace *t, const struct finding *f)
{
	for (guint i = 0; f->variables && i < f->variables->len && i < 4; i++) {
		g_autofree char *name =
		        variable_name(t, g_array_index(f->variables, uint32_t, i));
		printf("%s%s", i ? ", " : "  on ", name);
	}
	if (f->variables && f->variables->len > 4)
		printf(" and %u more", f->variables->len - 4);
}

/* The sets, and the grade (engine/atomic/grade.c). */
static void print_sets(const struct finding *f)
{
	printf("    %s", f->sets->len == 1 ? "in atomic set " : "needs atomic sets ");
	for (guint i = 0; i < f->sets->len; i++)
		printf("%s%s", i ? ", " : "", printable(f->sets->pdata[i]));
	puts(f->grade == 'A'
	             ? ": such units hold one lock for it, and one here did not (grade A)"
	     : f->grade == 'B' ? ", as the specification declares (grade B)"
	     : f->grade == 'C' ? ": sets and units are inferred, not declared (grade C)"
	                       : "");
}

static void print_cycle(const struct trace *t, const struct finding *f)
{
	print_sets(f);
	for (guint i = 0; f->edges && i < f->edges->len; i++) {
		const struct cycle_edge *e = &g_array_index(f->edges, struct cycle_edge, i);
		const struct cycle_unit *u =
		        &g_array_index(f->units, struct cycle_unit, e->from);
		const struct cycle_unit *v = &g_array_index(f->units, struct cycle_unit, e->to);
		g_autofree char *name = variable_name(t, e->variable);
		printf("    %s (%s, %u-%u) before %s (%s, %u-%u): %s\n", printable(u->unit),
		       printable(trace_thread_name(t, u->thread)), u->begin, u->end,
		       printable(v->unit), printable(trace_thread_name(t, v->thread)), v->begin,
		       v->end, name);
		print_event(t, e->events[0]);
		print_event(t, e->events[1]);
	}
	puts(f->verdict == VERDICT_CANDIDATE
	             ? "    whether the outcome is one of no serial order is not known"
	             : "    so no serial order of these units has the same outcome");
}

void print_behind(const struct trace *t, const struct finding *f, const char *indent)
{
	g_autoptr(GString) text = g_string_new(NULL);

	finding_append_behind(t, f, text);
	if (text->len > 0)
		printf("%s%s\n", indent, text->str);
}

/* Beside a cycle of requests for locks, that it is one says all. */
static bool waits_say_more(const struct finding *f)
{
	bool locks = f->kind == FINDING_DEADLOCK;

	for (guint i = 0; f->waits && i < f->waits->len; i++)
		locks &= g_array_index(f->waits, struct wait, i).what == WAIT_LOCK;
	return f->verdict == VERDICT_HAPPENED || (f->waits && !locks);
}

static void print_waits(const struct trace *t, const struct finding *f)
{
	for (guint i = 0; f->waits && i < f->waits->len; i++) {
		const struct wait *w = &g_array_index(f->waits, struct wait, i);
		g_autoptr(GString) line = g_string_new(NULL);

		append_wait(t, w, line);
		printf("    %s\n", line->str);
	}
}

void report_print_pair(const struct trace *t, const struct finding *f,
                       const uint32_t numbers[2])
{
	printf("%s: %s", finding_verdict_text(f->kind, f->verdict), finding_kind_word(f->kind));
	print_variables(t, f);
	putchar('\n');
	print_numbered(t, f->first, numbers[0]);
	print_numbered(t, f->second, numbers[1]);
}

static void print_finding(const struct trace *t, const struct finding *f)
{
	printf("%s: %s", finding_verdict_text(f->kind, f->verdict), finding_kind_word(f->kind));
	print_variables(t, f);
	if (f->count > 1)
		printf("  (%" G_GUINT64_FORMAT "%s)", f->count, f->counted_all ? "" : " seen");
	if (f->note)
		printf("  [%s]", f->note);
	putchar('\n');
	if (f->methods[0])
		printf("    %s  with  %s\n", f->methods[0], f->methods[1] ? f->methods[1] : "");
	if (f->condition)
		printf("    commute only if %s\n", f->condition);
	if (f->points[0])
		printf("    access points %s and %s clash\n", f->points[0],
		       f->points[1] ? f->points[1] : "");
	if (f->units) {
		print_cycle(t, f);
		return;
	}
	for (guint i = 0; f->requests && i < f->requests->len; i++)
		print_event(t, g_array_index(f->requests, uint32_t, i));
	if (f->requests == NULL && f->first != NONE)
		print_event(t, f->first);
	if (f->requests == NULL && f->second != NONE && f->second != f->first)
		print_event(t, f->second);
	if (waits_say_more(f))
		print_waits(t, f);
	if (f->story)
		printf("    %s\n", f->story);
	if (f->missing)
		printf("    a %s %s\n", finding_kind_noun(f->kind), printable(f->missing));
	bool found = f->verdict != VERDICT_HAPPENED && f->by != NULL;
	if (f->witness)
		printf("    witness of %u events, checked%s%s\n", f->witness->len,
		       found ? ", by " : "", found ? f->by : "");
	const char *needs = trace_model(t) == WEAK_SC ? NULL : weak_race_sentence(f);
	if (needs)
		printf("    %s\n", needs);
	else if (f->witness && f->kind == FINDING_DATA_RACE && trace_model(t) != WEAK_SC)
		printf("    whether it needs weak memory is not known\n");
	if (f->proof)
		printf("    proved impossible by the %s%s\n",
		       proof_method_word(f->proof->method),
		       f->proof->same_pairing ? ", given the same pairing" : "");
	print_behind(t, f, "    ");
	if (f->open)
		printf("    unknown: %s\n", open_reason_text(f->open));
}

/* The claim of a complete analysis, after "no" or "no other"; data races: not listed. */
static const struct {
	const char *analysis, *nothing;
	bool reordered; /* in all reorderings, not only in the run */
} scopes[] = {
	{ "lockset", "pair without a common lock", false },
	{ "deadlocks", "deadlock by locks alone", true },
	{ "cov", "pair of events that can change places", true },
	{ "rd2", "two calls that do not commute and that happens-before leaves unordered",
	  false },
	{ "edc", "pair of calls that can change places and do not commute", true },
	{ "atomic", "violation by these units of work", false },
};

char *complete_sentence(const struct promise *p)
{
	const char *nothing = "data race";
	const char *saw = p->values ? "the value that it saw" : "what it saw";
	bool reordered = true;
	GString *out = g_string_new("complete");

	for (size_t i = 0; i < G_N_ELEMENTS(scopes); i++)
		if (strcmp(scopes[i].analysis, p->analysis) == 0) {
			nothing = scopes[i].nothing;
			reordered = scopes[i].reordered || p->predicted;
		}
	if (p->scope)
		nothing = p->scope;
	if (p->shard)
		g_string_append_printf(out, " for share %s of the pairs", p->shard);
	if (reordered)
		g_string_append_printf(
		        out, ": in all reorderings of this run in which every read sees %s, ",
		        saw);
	else
		g_string_append(out, ": in this run, ");
	g_string_append_printf(out, "no %s%s%s", p->any ? "other " : "", nothing,
	                       p->shard ? " among these pairs" : "");
	return g_string_free(out, FALSE);
}

/* `more`: there are findings that are not counted, since they are suppressed. */
static void print_summary(const struct report *r, guint count, bool more,
                          const struct print_options *o)
{
	struct promise promise = { .analysis = r->analysis,
		                   .scope = r->scope,
		                   .shard = o->shard,
		                   .any = count > 0 || more,
		                   .values =
		                           json_is_true(json_object_get(o->options, "values")),
		                   .predicted = o->predicted };
	g_autofree char *complete = complete_sentence(&promise);
	printf("%s: %u finding%s by %s in %" G_GUINT64_FORMAT " event%s, %s\n",
	       trace_name(r->trace), count, plural(count), r->analysis, r->trace->events_count,
	       plural(r->trace->events_count),
	       r->complete       ? complete
	       : r->budget_spent ? "not complete: the budget ran out (--budget gives more)"
	                         : "not complete");
	for (guint i = 0; i < r->notes->len; i++)
		printf("note: %s\n", (char *)r->notes->pdata[i]);
}

/* Prints, by the line that suppresses them, how many findings are suppressed; returns how many
 * in all. */
static guint print_suppressed(const struct report *r, const struct print_options *o)
{
	g_autoptr(GHashTable) counts = g_hash_table_new(g_str_hash, g_str_equal);
	g_autoptr(GPtrArray) lines = g_ptr_array_new();
	guint all = 0;

	for (guint i = 0; i < r->findings->len; i++) {
		const struct finding *f = r->findings->pdata[i];
		const char *line = suppressions_find(o->suppressions, r->trace, f);

		if (line == NULL || !print_lists(f, o))
			continue;
		guint count = GPOINTER_TO_UINT(g_hash_table_lookup(counts, line));
		all++;
		if (count == 0)
			g_ptr_array_add(lines, (gpointer)line);
		g_hash_table_replace(counts, (gpointer)line, GUINT_TO_POINTER(count + 1));
	}
	for (guint i = 0; i < lines->len; i++) {
		guint count = GPOINTER_TO_UINT(g_hash_table_lookup(counts, lines->pdata[i]));

		printf("suppressed: %u finding%s by %s\n", count, plural(count),
		       printable(lines->pdata[i]));
	}
	return all;
}

/* Findings of the baseline are not printed. */
static bool is_known(const struct changes *c, const struct finding *f, uint32_t i)
{
	return c != NULL && verdict_is_found(f->verdict) && changes_state(c, i) != MATCH_NEW;
}

static void print_text(const struct report *r, const struct print_options *o)
{
	guint count = 0;

	for (guint i = 0; i < r->findings->len; i++) {
		const struct finding *f = r->findings->pdata[i];

		if (!print_lists(f, o) || suppressions_find(o->suppressions, r->trace, f))
			continue;
		if (!is_known(o->changes, f, i)) {
			fputs(o->changes && verdict_is_found(f->verdict) ? "new: " : "",
			      stdout);
			print_finding(r->trace, f);
		}
		count++;
	}
	if (o->changes)
		changes_print_text(o->changes, MATCH_ABSENT, stdout);
	guint suppressed = print_suppressed(r, o);
	print_summary(r, count, suppressed > 0, o);
	if (o->changes) {
		printf("against %s: ", o->baseline->name);
		changes_print_counts(o->changes, stdout);
		putchar('\n');
	}
}

static void print_sarif(const struct report *r, const struct print_options *o)
{
	struct places *places = places_new(r->trace);
	struct sarif *s = sarif_begin(stdout, o->format);

	for (guint i = 0; i < r->findings->len; i++) {
		const struct finding *f = r->findings->pdata[i];
		const char *state = NULL;

		if (!print_lists(f, o))
			continue;
		if (o->changes && verdict_is_found(f->verdict))
			state = match_state_word(changes_state(o->changes, i));
		json_auto_t *j = finding_json(places, r->trace, f);
		json_set_suppressed(j, suppressions_find(o->suppressions, r->trace, f));
		if (f->verdict == VERDICT_RACE || f->verdict == VERDICT_HAPPENED) {
			g_autofree char *text = finding_sentence(r->trace, f);
			json_object_set_new(j, "text", json_text(text));
		}
		if (f->witness != NULL) {
			g_autoptr(GArray) claimed = finding_claimed(f);
			json_object_set_new(
			        j, "schedule",
			        sarif_schedule(places, r->trace, f->witness, claimed));
		}
		sarif_add(s, j, state);
	}
	if (o->changes)
		changes_absent_sarif(o->changes, s);
	sarif_end(s);
	places_free(places);
}

/* -- reports ------------------------------------------------------------------------------- */

void print_options_release(struct print_options *o)
{
	json_decref(o->options);
	g_free(o->shard);
	g_free(o->digest);
	report_file_free(o->baseline);
	suppressions_free(o->suppressions);
	*o = (struct print_options){ 0 };
}

bool suppressions_parse(const struct arguments *a, struct suppressions **suppressions)
{
	g_autoptr(GPtrArray) paths = argument_values(a, "suppressions");
	struct error error;

	*suppressions = paths->len > 0 ? suppressions_open(paths, &error) : NULL;
	bool good = paths->len == 0 || *suppressions != NULL;
	if (!good)
		say_error(&error);
	return good;
}

bool print_options_parse(const struct arguments *a, struct print_options *o)
{
	const char *baseline = argument_value(a, "baseline");
	struct error error;

	*o = (struct print_options){ .format = argument_format(a, true) };
	if (!suppressions_parse(a, &o->suppressions))
		return false;
	if (baseline == NULL)
		return true;
	o->baseline = report_file_open(baseline, &error);
	if (o->baseline == NULL)
		say_error(&error);
	return o->baseline != NULL;
}

bool verdict_is_found(enum verdict verdict)
{
	return verdict != VERDICT_IMPOSSIBLE && verdict != VERDICT_UNKNOWN;
}

static int print_as_asked(const struct report *r, const struct print_options *o)
{
	bool found = false;

	switch (o->format) {
	case FORMAT_JSON:
		report_print_json(r, o, stdout);
		break;
	case FORMAT_SARIF:
	case FORMAT_QUICKFIX:
		print_sarif(r, o);
		break;
	case FORMAT_TEXT:
		print_text(r, o);
		break;
	}
	for (guint i = 0; i < r->findings->len && !found; i++) {
		const struct finding *f = r->findings->pdata[i];

		found = verdict_is_found(f->verdict) &&
		        (o->changes == NULL || changes_state(o->changes, i) == MATCH_NEW) &&
		        suppressions_find(o->suppressions, r->trace, f) == NULL;
	}
	return found ? EXIT_FOUND : r->budget_spent ? EXIT_BUDGET : EXIT_NOTHING;
}

static int print_against_baseline(const struct report *r, const struct print_options *o)
{
	const struct print_options all = { .all_verdicts = true, .no_witness = true };
	struct report_file *new = report_file_of(r, &all);
	struct print_options with = *o;
	const struct changes_sides sides = {
		.old = o->baseline, .new = new, .new_trace = o->trace, .race = o->race
	};
	struct error error;
	struct changes *c = changes_new(&sides, progress_on_stderr(), &error);
	int status = EXIT_BAD;

	progress_done();
	with.changes = c;
	if (c != NULL)
		status = print_as_asked(r, &with);
	else
		fail(&error);
	changes_free(c);
	report_file_free(new);
	return status;
}

int print_report(const struct report *r, const struct print_options *o)
{
	struct print_options with = *o;

	suppressions_add_recorded(&with.suppressions, r->trace);
	int status =
	        with.baseline ? print_against_baseline(r, &with) : print_as_asked(r, &with);
	if (o->suppressions == NULL)
		suppressions_free(with.suppressions);
	return status;
}

/* -- explorations ------------------------------------------------------------------------ */

void print_run_counts(uint64_t runs, uint64_t different, uint64_t covered)
{
	printf("%" PRIu64 " run%s", runs, plural(runs));
	if (different == runs && runs > 1)
		printf(", all different");
	else if (different != runs)
		printf(", %" PRIu64 " of them different", different);
	if (covered > 0)
		printf("; they cover %" PRIu64 " more schedule%s, which %s not run", covered,
		       plural(covered), covered == 1 ? "was" : "were");
	printf("\n");
}

void print_run_estimate(uint64_t runs, uint64_t low, uint64_t high)
{
	printf("    about %" PRIu64
	       " different runs in all, estimated from those that were made "
	       "(%" PRIu64 " to %" PRIu64 " in eight of ten estimates)\n",
	       runs, low, high);
}
