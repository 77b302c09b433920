/*
 * cmd_witness.c - `heddle witness`: the witness of a pair, or the proof that none exists.
 */
#include "engine/commute/cov.h"
#include "engine/detect/detectors.h"
#include "engine/predict/deadlock/deadlock.h"
#include "engine/predict/weak_races.h"
#include "engine/witness/check_weak.h"
#include "engine/witness/minimise.h"
#include "engine/witness/switches.h"
#include "tui/batch/race_options.h"
#include "tui/batch/spec_rules.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>

enum { MOST_REQUESTS = 16 }; /* bound on the requests of one deadlock, on the command line */

static const struct command_option options[] = {
	{ "output", "FILE", "write the witness to FILE", 'o' },
	OPTION_VALUES,
	OPTION_MISSING,
	{ "budget", "PAIR,ALL", "seconds of the solver for the pair (default: 1,5)", 0 },
	{ "spec", "FILE", "specification of objects", 0 },
	OPTION_LENIENT,
	OPTION_FORMAT,
	{ 0 },
};

static bool event_number(const struct arguments *a, guint word, uint32_t *event)
{
	const char *text = a->words->pdata[word];
	char *end;
	guint64 n = g_ascii_isdigit(*text) ? g_ascii_strtoull(text, &end, 10) : NONE;

	if (n >= NONE || *end != '\0') {
		usage_error(a, "expected an event's number, found '%s'", text);
		return false;
	}
	*event = (uint32_t)n;
	return true;
}

static void print_proof(const struct trace *t, const struct finding *f)
{
	const struct proof *p = f->proof;

	printf("impossible: events %u and %u cannot %s", f->first, f->second,
	       f->kind == FINDING_DATA_RACE  ? "race"
	       : f->kind == FINDING_DEADLOCK ? "wait for each other"
	                                     : "come in the other order");
	if (p == NULL) {
		putchar('\n');
		return;
	}
	printf("; the proof, by the %s%s:\n", proof_method_word(p->method),
	       p->same_pairing ? ", given the same pairing" : "");
	print_steps(t, &p->cycle);
	print_behind(t, f, "");
}

/* Reduce context switches, within a bound. */
static void minimise_witness(const struct trace *t, const struct check_options *check,
                             struct finding *f)
{
	g_autoptr(GArray) pair = finding_claimed(f);

	witness_minimise(t, (struct claimed){ finding_claim(f), event_list_of(pair) }, check,
	                 f->witness);
}

static void make_witness(const struct trace *t, const struct race_options *race,
                         const GPtrArray *specs, const struct finding *f, struct witness *w)
{
	*w = (struct witness){ .claim = finding_claim(f) };
	w->trace_name = g_strdup(trace_name(t));
	w->trace_digest = trace_digest(t);
	w->pair = finding_claimed(f);
	w->events = g_array_ref(f->witness);
	w->under_values = race->use_values;
	w->under_missing = race->use_missing;
	w->under_specs = g_ptr_array_new_with_free_func(g_free);
	for (guint i = 0; i < specs->len; i++)
		g_ptr_array_add(w->under_specs, spec_rules_header(specs->pdata[i]));
}

/* --values or --missing with --spec ignore rule 5: a race that it rejects is not known to be
 * one, and a pair impossible without it may be possible. */
static void under_rule5(const struct trace *t, const struct check_options *check,
                        struct finding *f)
{
	const uint32_t pair[] = { f->first, f->second };

	if (f->verdict == VERDICT_RACE &&
	    witness_check(t, event_list_of(f->witness), claimed_of(finding_claim(f), pair, 2),
	                  check, NULL))
		return;
	f->verdict = VERDICT_UNKNOWN;
	f->open = OPEN_INCOMPLETE;
	if (f->witness != NULL)
		g_array_unref(f->witness);
	f->witness = NULL;
	proof_free(f->proof);
	f->proof = NULL;
}

/* `out`: standard error when the witness goes to standard output. */
static void print_switches(const struct trace *t, const struct witness *w, FILE *out)
{
	g_autoptr(GArray) switches = witness_switches(t, w);
	g_autoptr(GString) text = g_string_new(NULL);

	for (guint i = 0; i < switches->len; i++) {
		const struct context_switch *s =
		        &g_array_index(switches, struct context_switch, i);
		uint32_t from = g_array_index(w->events, uint32_t, s->at - 1);
		uint32_t to = g_array_index(w->events, uint32_t, s->at);

		g_string_truncate(text, 0);
		witness_append_reason(t, s, text);
		fprintf(out, "  %s -> %s before event %u, %s\n", printable_thread(t, from),
		        printable_thread(t, to), to, text->str);
	}
}

/* The switches as JSON; owned by the caller. */
static json_t *switches_json(const struct trace *t, const struct witness *w)
{
	g_autoptr(GArray) switches = witness_switches(t, w);
	g_autoptr(GString) text = g_string_new(NULL);
	json_t *all = json_array();

	for (guint i = 0; i < switches->len; i++) {
		const struct context_switch *s =
		        &g_array_index(switches, struct context_switch, i);
		json_t *j = json_object();

		g_string_truncate(text, 0);
		witness_append_reason(t, s, text);
		json_object_set_new(j, "before",
		                    json_integer(g_array_index(w->events, uint32_t, s->at)));
		json_object_set_new(j, "needed", json_boolean(s->reason != SWITCH_OPTIONAL));
		json_object_set_new(j, "reason", json_string(switch_word(s->reason)));
		if (s->waits != NONE)
			json_object_set_new(j, "waits", json_integer(s->waits));
		if (s->because != NONE)
			json_object_set_new(j, "for", json_integer(s->because));
		json_object_set_new(j, "text", json_text(text->str));
		json_array_append_new(all, j);
	}
	return all;
}

static int print_witness(const struct trace *t, const struct witness *w, const char *path)
{
	struct error error;
	g_autoptr(GString) text = NULL;

	if (path == NULL) {
		text = g_string_new(NULL);
		witness_print(t, w, text);
		fputs(text->str, stdout);
		fputs("heddle: its context switches:\n", stderr);
		print_switches(t, w, stderr);
		return EXIT_FOUND;
	}
	if (!witness_write(t, w, path, &error))
		return fail(&error);
	printf("race: a witness of %u events, accepted by the checker, is in %s\n",
	       w->events->len, path);
	print_switches(t, w, stdout);
	return EXIT_FOUND;
}

/* `switches`: of the finding's witness, or NULL; takes ownership. */
static int print_finding_json(const struct trace *t, struct finding *f, json_t *switches)
{
	struct print_options print = { .format = FORMAT_JSON,
		                       .all_verdicts = true,
		                       .switches = switches };
	struct report *r = report_new(t, f->kind == FINDING_DATA_RACE ? "auto"
	                                 : f->requests                ? "deadlocks"
	                                                              : "cov");

	r->complete = f->verdict != VERDICT_UNKNOWN;
	r->budget_spent = !r->complete;
	r->candidates = 1;
	report_add(r, f);
	int status = print_report(r, &print);
	json_decref(switches);
	report_free(r);
	return status;
}

static int print_answer(const struct arguments *a, struct trace *t,
                        const struct race_options *race, const struct check_options *check,
                        const GPtrArray *specs, struct finding *f)
{
	bool json = argument_format(a, false) == FORMAT_JSON;
	const char *path = argument_output(a, !json, FILE_WITNESS);
	json_t *switches = NULL;
	struct witness w;
	struct error error;
	int status = f->verdict == VERDICT_IMPOSSIBLE ? EXIT_NOTHING : EXIT_BUDGET;

	if (f->verdict == VERDICT_RACE ||
	    (f->verdict == VERDICT_HAPPENED && f->witness != NULL)) {
		minimise_witness(t, check, f);
		make_witness(t, race, specs, f, &w);
		status = EXIT_FOUND;
		if (!json)
			status = print_witness(t, &w, path);
		else if (path != NULL && !witness_write(t, &w, path, &error))
			status = fail(&error);
		if (json)
			switches = switches_json(t, &w);
		witness_release(&w);
	} else if (f->verdict == VERDICT_HAPPENED) {
		status = EXIT_FOUND;
		if (!json && f->waits != NULL)
			printf("happened: the recording ends so; no witness was found\n");
		else if (!json)
			printf("happened: events %u and %u are in the wrong order in the "
			       "recording itself\n",
			       f->first, f->second);
	} else if (!json && f->verdict == VERDICT_IMPOSSIBLE) {
		print_proof(t, f);
	} else if (!json) {
		printf("unknown: events %u and %u: %s\n", f->first, f->second,
		       open_reason_text(f->open));
	}
	if (json && status != EXIT_BAD)
		return print_finding_json(t, f, switches);
	json_decref(switches);
	finding_free(f);
	return status;
}

/* Two accesses: do they race? */
static int data_race(const struct arguments *a, struct trace *t, uint32_t e1, uint32_t e2,
                     struct race_options *race)
{
	struct check_options check = { .use_values = race->use_values,
		                       .use_missing = race->use_missing };
	g_autoptr(GPtrArray) paths = argument_values(a, "spec");
	struct spec_rules *rules = NULL;
	struct error error = { .where = "" };
	struct finding *f = NULL;
	bool exact = !race->use_values && !race->use_missing;

	if (paths->len > 0)
		rules = spec_rules_new(t, paths, &error);
	if (rules != NULL && exact)
		race->rules = spec_rules_races(rules);
	if ((paths->len == 0 || rules != NULL) && race_options_fit(a, t, race, &error))
		f = race_decide(t, e1, e2, race, progress_on_stderr(), &error);
	progress_done();
	check.semantics = spec_rules_semantics(rules);
	if (f != NULL && rules != NULL && !exact)
		under_rule5(t, &check, f);
	int status = f == NULL ? fail(&error) : print_answer(a, t, race, &check, paths, f);
	spec_rules_free(rules);
	return status;
}

/* Two accesses: a race; other events: an order violation. */
static bool asks_for_order(const struct trace *t, uint32_t e1, uint32_t e2)
{
	return e1 < t->events_count && e2 < t->events_count &&
	       (!op_is_access(t->events[e1].op) || !op_is_access(t->events[e2].op));
}

static int order_violation(const struct arguments *a, struct trace *t, uint32_t e1, uint32_t e2,
                           const struct race_options *race)
{
	struct cov_options ask = { .budget_pair = race->budget_pair,
		                   .budget_total = race->budget_total };
	struct check_options check = { 0 };
	struct error error = { .where = "" };
	g_autoptr(GPtrArray) paths = spec_rules_choose(a, t, NULL);
	struct spec_rules *rules = spec_rules_new(t, paths, &error);
	struct finding *f = NULL;

	if (rules != NULL)
		f = cov_decide(spec_rules_model(rules), e1, e2, &ask, progress_on_stderr(),
		               &error);
	progress_done();
	check.semantics = spec_rules_semantics(rules);
	int status = f == NULL ? fail(&error) : print_answer(a, t, race, &check, paths, f);
	spec_rules_free(rules);
	return status;
}

/* Are these requests for several locks, or other waits, whose threads may wait for each other,
 * or for ever? */
static bool asks_for_deadlock(const struct trace *t, const uint32_t *events, guint count)
{
	bool several = count == 1;

	for (guint i = 0; i < count; i++) {
		enum op op = events[i] < t->events_count ? t->events[events[i]].op : OP_READ;
		bool other = op_wants(op) || op == OP_WAKE || op == OP_TAKE ||
		             op == OP_DEPART || op == OP_JOIN ||
		             (op_table[op].operand == OPERAND_MESSAGE && !op_wants(op));

		if (!op_acquires(op) && !other)
			return false;
		several |= other || t->events[events[i]].target != t->events[events[0]].target;
	}
	return several;
}

static bool has_requests(const struct finding *f, const uint32_t *events, guint count)
{
	guint found = 0;

	for (guint i = 0; f->requests != NULL && i < f->requests->len; i++) {
		for (guint k = 0; k < count; k++)
			found += g_array_index(f->requests, uint32_t, i) == events[k];
	}
	return found == count && f->requests->len == count;
}

static int deadlock(const struct arguments *a, struct trace *t, const uint32_t *events,
                    guint count, struct race_options *race)
{
	struct check_options check = { .use_values = race->use_values,
		                       .use_missing = race->use_missing };
	struct error error = { .where = "" };
	struct finding *f = NULL;
	struct report *r = NULL;

	race->pairs_events = race->all_verdicts = true;
	if (race_options_fit(a, t, race, &error))
		r = deadlocks_find(t, race, progress_on_stderr(), &error);
	progress_done();
	for (guint i = 0; r != NULL && f == NULL && i < r->findings->len; i++) {
		if (has_requests(r->findings->pdata[i], events, count))
			f = g_ptr_array_steal_index(r->findings, i);
	}
	if (r != NULL && f == NULL)
		error_set(&error, trace_name(t), "'heddle deadlocks' lists the cycles",
		          "no cycle of locks, and no wait that never ends, has the%s "
		          "%u request%s",
		          count == 1 ? "" : "se", count, count == 1 ? "" : "s");
	report_free(r);
	g_autoptr(GPtrArray) paths = argument_values(a, "spec");
	return f == NULL ? fail(&error) : print_answer(a, t, race, &check, paths, f);
}

/* -- without a pair: the first finding that has a witness -------------------------------- */

/* Races that only uninstrumented code could prevent come after the others. */
static const struct finding *first_shown(const struct report *r)
{
	const struct finding *first = NULL;

	for (guint i = 0; i < r->findings->len; i++) {
		const struct finding *f = r->findings->pdata[i];

		if (f->witness == NULL || f->units != NULL)
			continue;
		if (f->missing == NULL)
			return f;
		first = first != NULL ? first : f;
	}
	return first;
}

static struct report *look_for(struct detection *on, enum detector detector,
                               const struct race_options *race, struct error *error)
{
	if (detector != DETECTOR_COUNT)
		return detector_applies(detector, on)
		               ? detector_run(detector, on, progress_on_stderr(), error)
		               : report_new(on->trace, "");
	struct report *r = races_find(on->trace, race, progress_on_stderr(), error);
	if (r != NULL && !races_mark_missing(on->trace, race, r, progress_on_stderr(), error)) {
		report_free(r);
		return NULL;
	}
	return r;
}

/* Copies the events of the first finding with a witness into `e` and returns their number; 0:
 * none, or an error (error->what set). `open`: the search was incomplete. */
static guint choose(const struct arguments *a, struct trace *t, const struct race_options *race,
                    uint32_t *e, bool *open, struct error *error)
{
	static const enum detector order[] = { DETECTOR_COUNT, DETECTOR_DEADLOCKS,
		                               DETECTOR_COV };
	g_autoptr(GPtrArray) paths = spec_rules_choose(a, t, NULL);
	struct specs *specs = specs_open(paths, error);
	struct detection on = { .trace = t,
		                .specs = specs,
		                .budget_pair = race->budget_pair,
		                .budget_total = race->budget_total };
	guint count = 0;

	for (size_t k = 0; specs != NULL && count == 0 && k < G_N_ELEMENTS(order); k++) {
		struct report *r = look_for(&on, order[k], race, error);
		const struct finding *f = r != NULL ? first_shown(r) : NULL;
		g_autoptr(GArray) claimed = f != NULL ? finding_claimed(f) : NULL;

		for (; f != NULL && count < MIN(claimed->len, MOST_REQUESTS); count++)
			e[count] = g_array_index(claimed, uint32_t, count);
		progress_done();
		if (f != NULL)
			fprintf(stderr,
			        "heddle: the first finding with a witness: %s, events %u "
			        "and %u%s%s\n",
			        finding_kind_word(f->kind), f->first, f->second,
			        f->missing ? ", " : "",
			        f->missing ? printable(f->missing) : "");
		*open |= r != NULL && (r->budget_spent || (r->candidates > 0 && !r->complete));
		report_free(r);
		if (r == NULL)
			break;
	}
	model_free(on.model);
	if (specs != NULL)
		specs_free(specs);
	return count;
}

/* -- a run that is not sequentially consistent --------------------------------------------- */

/* For a race: the events that it depends on; the run's own memory model, or none where it
 * needs none. */
static void make_weak_witness(const struct trace *t, const struct finding *f, struct witness *w)
{
	*w = (struct witness){ .claim = CLAIM_C11_RACE,
		               .trace_name = g_strdup(trace_name(t)),
		               .trace_digest = trace_digest(t),
		               .pair = finding_claimed(f),
		               .events = g_array_ref(f->witness) };
	witness_add_memory(t, f, w);
}

static int write_weak(const struct trace *t, const struct witness *w, const char *path)
{
	struct error error;

	if (path != NULL && !witness_write(t, w, path, &error))
		return fail(&error);
	if (path != NULL) {
		printf("%s: a witness of %u events, accepted by the rules of --memory %s, is "
		       "in %s\n",
		       w->claim == CLAIM_PREFIX ? "the run" : "race", w->events->len,
		       weak_model_words[w->memory], path);
		return EXIT_FOUND;
	}
	g_autoptr(GString) text = g_string_new(NULL);
	witness_print(t, w, text);
	fputs(text->str, stdout);
	return EXIT_FOUND;
}

/* Without events: answers about the run itself. With two accesses: do they race in it? */
static int answer_weak(const struct arguments *a, const struct trace *t, const uint32_t *e,
                       guint count)
{
	bool json = argument_format(a, false) == FORMAT_JSON;
	const char *path = argument_output(a, !json, FILE_WITNESS);
	g_autoptr(GString) reason = g_string_new(NULL);
	struct witness w;
	struct error error;
	int status = EXIT_BUDGET;

	if (count == 0) {
		witness_of_run(t, trace_name(t), &w);
		g_free(w.trace_name);
		w.trace_name = g_strdup(trace_name(t));
		bool good = witness_check_weak(t, event_list_of(w.events), w.weak, w.memory,
		                               NULL, reason);
		status = good ? write_weak(t, &w, path) : EXIT_BUDGET;
		if (!good)
			printf("unknown: %s\n", reason->str);
		witness_release(&w);
	} else if (count != 2 || MAX(e[0], e[1]) >= t->events_count) {
		error_set(&error, trace_name(t), "name two accesses, or none for the run",
		          "a run under --memory %s is asked for two of its %" PRIu64
		          " events, or for none",
		          weak_model_words[trace_model(t)], t->events_count);
		status = fail(&error);
	} else {
		struct finding *f =
		        finding_new(FINDING_DATA_RACE, MIN(e[0], e[1]), MAX(e[0], e[1]));
		if (weak_race_settle(t, f, reason)) {
			make_weak_witness(t, f, &w);
			status = json ? EXIT_FOUND : write_weak(t, &w, path);
			if (json && path != NULL && !witness_write(t, &w, path, &error))
				status = fail(&error);
			witness_release(&w);
		} else {
			f->verdict = VERDICT_UNKNOWN;
			f->open = OPEN_INCOMPLETE;
			if (!json)
				printf("unknown: not in this run: %s\n", reason->str);
		}
		if (json && status != EXIT_BAD)
			print_finding_json(t, f, NULL);
		else
			finding_free(f);
	}
	return status;
}

static int answer(struct arguments *a, struct trace *t, const uint32_t *e, guint count,
                  struct race_options *race)
{
	struct error error = { .where = "" };

	if (asks_for_deadlock(t, e, count))
		return deadlock(a, t, e, count, race);
	if (count > 2)
		return usage_error(a, "more than two events are the requests of a deadlock");
	if (count == 1) {
		error_set(&error, trace_name(t), "name two events",
		          "event %u alone is no request of a thread that waits for itself",
		          e[0]);
		return fail(&error);
	}
	return asks_for_order(t, e[0], e[1]) ? order_violation(a, t, e[0], e[1], race)
	                                     : data_race(a, t, e[0], e[1], race);
}

static int print_none(const struct arguments *a, struct trace *t, bool open)
{
	struct print_options print = { .format = FORMAT_JSON, .trace = t };
	struct report *r = report_new(t, "auto");
	int status = open ? EXIT_BUDGET : EXIT_NOTHING;

	r->complete = !open;
	r->budget_spent = open;
	if (argument_format(a, false) == FORMAT_JSON)
		status = print_report(r, &print);
	else
		printf("%s: no finding has a witness%s\n", trace_name(t),
		       open ? ", and not all are settled (--budget)" : "");
	report_free(r);
	return status;
}

static int run(struct arguments *a)
{
	struct race_options race;
	struct error error = { .what = "" };
	bool open = false;
	uint32_t e[MOST_REQUESTS];
	guint count = 0;
	int status;

	argument_words(a, 1, 1 + MOST_REQUESTS);
	/* the search is long: bad usage is refused before it */
	argument_output(a, argument_format(a, false) != FORMAT_JSON, FILE_WITNESS);
	if (!race_options_parse(a, &race))
		return EXIT_BAD;
	for (guint i = 1; i < a->words->len; i++) {
		if (!event_number(a, i, &e[count++]))
			return EXIT_BAD;
	}
	race.want_witness = true;
	race.budget_total = MAX(race.budget_total, race.budget_pair);
	struct trace *t = open_trace(a, a->words->pdata[0]);
	if (t == NULL)
		return EXIT_BAD;
	if (trace_weak_first(t) != NONE) {
		status = answer_weak(a, t, e, count);
		trace_close(t);
		return status;
	}
	if (count == 0)
		count = choose(a, t, &race, e, &open, &error);
	if (count > 0) {
		status = answer(a, t, e, count, &race);
	} else if (*error.what != '\0') {
		status = fail(&error);
	} else {
		status = print_none(a, t, open);
	}
	trace_close(t);
	return status;
}

const struct command command_witness = {
	.name = "witness",
	.usage = "TRACE [E1 [E2 ..]] [-o WITNESS]",
	.summary = "the witness for one pair, or the proof that there is none",
	.details =
	        "Without events: of the first finding that has one, of races, then of "
	        "deadlocks,\nthen of events that can change places.\nTwo accesses: do they race? "
	        "Requests for several locks (all that "
	        "'heddle deadlocks'\n"
	        "names for a cycle): can their threads wait for each other? Anything else (a "
	        "use\nand a free, two invocations): can they come in the other order?\n"
	        "Exit status: 1 with a witness, 0 when it is impossible (the proof "
	        "is printed), 3 unknown,\n2 for a pair that does not conflict. Of a run "
	        "under --memory tso or rc11 that is not\nsequentially consistent: without "
	        "events the run itself, with two whether it has that race.",
	.options = options,
	.run = run,
	.reads_weak = true,
};
