/*
 * cmd_explain.c - `heddle explain`: the reason why two events are ordered, or that they are
 * not.
 */
#include "engine/partial/calls.h"
#include "engine/partial/rdit.h"
#include "engine/order/order.h"
#include "tui/batch/race_options.h"
#include "engine/witness/minimise.h"
#include "engine/witness/witness.h"
#include "tui/batch/spec_rules.h"
#include "tui/explorer/words/story.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const struct command_option options[] = {
	{ "order", "po|hb|shb|cp|wcp|dc|wdc|edc",
	  "which order is asked (default: the weakest that orders them)", 0 },
	{ "spec", "FILE", "edc: a specification, besides those that ship; may be repeated", 0 },
	{ "story", NULL, "two accesses that conflict: all of it in words, on one page", 0 },
	OPTION_MISSING,
	OPTION_LENIENT,
	OPTION_FORMAT,
	{ 0 },
};

/* Orders from weakest to strongest: the first one that orders a pair is the best reason. CP is
 * left out: it is rarely weaker than WCP, and costs more. */
static const enum order_kind ladder[] = { ORDER_KIND_PO,  ORDER_KIND_WDC, ORDER_KIND_DC,
	                                  ORDER_KIND_WCP, ORDER_KIND_HB,  ORDER_KIND_SHB };

struct question {
	const struct arguments *a;
	struct trace *t;
	struct trace *view; /* --missing: the trace with its must-orders; or NULL */
	uint32_t e, f;      /* e is before f in the trace */
	struct order *orders[G_N_ELEMENTS(ladder)];
	guint count;
	const struct order *answer; /* the order that orders them, or NULL */
	struct path path;
	struct finding *verdict; /* verdict on a conflicting pair, where no order was requested;
	                          * or NULL */
};

/* -- the order ----------------------------------------------------------------------------- */

static bool event_number(const struct arguments *a, const struct trace *t, guint word,
                         uint32_t *event)
{
	const char *text = a->words->pdata[word];
	char *end = NULL;
	guint64 n = g_ascii_isdigit(*text) ? g_ascii_strtoull(text, &end, 10) : 0;

	if (end == NULL || *end != '\0') {
		usage_error(a, "expected an event's number, found '%s'", text);
		return false;
	}
	if (n >= t->events_count) {
		struct error error;
		error_set(&error, trace_name(t), "the ids are those of the reports",
		          "there is no event %s, the trace has %" G_GUINT64_FORMAT
		          " events, counted from 0",
		          text, t->events_count);
		say_error(&error);
		return false;
	}
	*event = (uint32_t)n;
	return true;
}

static bool ask(struct question *q, enum order_kind kind, bool chosen)
{
	struct error error;
	struct order *order =
	        spec_rules_order(q->a, q->view != NULL ? q->view : q->t, kind, &error);

	if (order == NULL) {
		say_error(&error);
		return false;
	}
	q->orders[q->count++] = order;
	/* e2's own observation of e1 does not prevent a race */
	if (!chosen && events_race_conflict(q->t, q->e, q->f) &&
	    !order_ordered_unobserved(order, q->e, q->f))
		return true;
	if (order_path(order, q->e, q->f, &q->path))
		q->answer = order;
	return true;
}

static bool parse(const struct arguments *a, struct question *q)
{
	uint32_t swap;

	if (!event_number(a, q->t, 1, &q->e) || !event_number(a, q->t, 2, &q->f))
		return false;
	if (q->e == q->f) {
		usage_error(a, "expected two events, found %u twice", q->e);
		return false;
	}
	if (q->e > q->f) {
		swap = q->e;
		q->e = q->f;
		q->f = swap;
	}
	return true;
}

static bool investigate(const struct arguments *a, struct question *q)
{
	const char *word = argument_value(a, "order");
	enum order_kind kind;

	if (word != NULL && !order_kind_from_word(word, &kind)) {
		usage_error(
		        a, "--order: expected po, hb, shb, cp, wcp, dc, wdc or edc, found '%s'",
		        word);
		return false;
	}
	if (argument_flag(a, "missing")) {
		if (word != NULL && kind == ORDER_KIND_EDC) {
			usage_error(a, "--missing goes with every order but edc");
			return false;
		}
		q->view = trace_view_missing(q->t, INDEX_ALL, progress_on_stderr());
	}
	if (word != NULL)
		return ask(q, kind, true);
	for (size_t i = 0; i < G_N_ELEMENTS(ladder) && q->answer == NULL; i++) {
		if (!ask(q, ladder[i], false))
			return false;
	}
	return true;
}

/* -- printing ------------------------------------------------------------------------------ */

/* The locks held at an event: "l at bank.c:30, m at bank.c:31". */
static void append_locks(const struct trace *t, uint32_t event, GString *out)
{
	g_autoptr(GArray) held = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	trace_locks_held(t, event, held);
	if (held->len == 0)
		g_string_append(out, "no lock");
	for (guint i = 0; i < held->len; i++) {
		uint32_t acquire = g_array_index(held, uint32_t, i);
		const char *place = trace_location_name(t, acquire);

		g_string_append(out, i == 0 ? "" : ", ");
		trace_append_operand(t, acquire, out);
		g_string_append(out, *place == '\0' ? "" : " (since ");
		append_escaped(out, place, strlen(place));
		g_string_append(out, *place == '\0' ? "" : ")");
	}
}

static void print_unordered(const struct question *q)
{
	g_autoptr(GString) line = g_string_new(NULL);
	const char *thread = trace_thread_name(q->t, q->t->events[q->e].thread);

	for (guint i = 0; i < q->count; i++) {
		uint32_t last = order_last_before(q->orders[i], q->e, q->f);

		g_string_printf(line, "  %-4s ", order_kind_word(order_kind(q->orders[i])));
		if (last == NONE) {
			g_string_append(line, "nothing of ");
			append_escaped(line, thread, strlen(thread));
			g_string_append_printf(line, " is before %u", q->f);
		} else {
			g_string_append(line, "the last event of ");
			append_escaped(line, thread, strlen(thread));
			g_string_append_printf(line, " before %u is ", q->f);
			trace_append_event(q->t, last, line);
		}
		puts(line->str);
	}
	g_string_printf(line, "  held at %u: ", q->e);
	append_locks(q->t, q->e, line);
	g_string_append_printf(line, "; at %u: ", q->f);
	append_locks(q->t, q->f, line);
	puts(line->str);
}

/* The verdict on two conflicting accesses, since an order of the recording alone does not
 * decide. */
static void print_verdict(const struct question *q)
{
	const struct finding *f = q->verdict;

	switch (f->verdict) {
	case VERDICT_RACE:
		printf("they race%s: another order of the run brings them next to each other, "
		       "a witness of %u events\n"
		       "that the checker accepted ('heddle witness %s %u %u%s' prints it)\n",
		       f->note != NULL ? " (by C11 only)" : "", f->witness->len,
		       trace_name(q->t), q->e, q->f, q->view != NULL ? " --missing" : "");
		break;
	case VERDICT_IMPOSSIBLE:
		printf("they cannot race, in any order of the run%s; for both to be next all "
		       "of this would have to hold:\n",
		       f->proof->same_pairing ? ", given the same pairing" : "");
		print_steps(q->t, &f->proof->cycle);
		print_behind(q->t, f, "");
		break;
	default:
		printf("whether they race is unknown: %s\n", open_reason_text(f->open));
	}
}

static void print_text(const struct question *q)
{
	g_autoptr(GString) line = g_string_new(NULL);

	trace_append_event(q->t, q->e, line);
	g_string_append_c(line, '\n');
	trace_append_event(q->t, q->f, line);
	puts(line->str);
	if (q->answer != NULL) {
		printf("ordered by %s (%s):\n", order_kind_title(order_kind(q->answer)),
		       order_kind_word(order_kind(q->answer)));
		print_steps(q->t, &q->path);
	} else {
		printf("not ordered:\n");
		print_unordered(q);
	}
	if (q->verdict != NULL)
		print_verdict(q);
}

static json_t *json_step(const struct question *q, const struct step *s)
{
	g_autoptr(GString) sentence = g_string_new(NULL);

	order_append_sentence(q->t, s, sentence);
	return json_pack("{sIsIssss}", "from", (json_int_t)s->from, "to", (json_int_t)s->to,
	                 "rule", step_rule_text(s->rule), "text", sentence->str);
}

static void json_verdict(const struct question *q, json_t *j)
{
	const struct finding *f = q->verdict;

	json_object_set_new(j, "verdict", json_string(verdict_word(f->verdict)));
	if (f->proof != NULL)
		json_object_set_new(j, "proof", proof_json(q->t, f->proof));
	json_set_behind(q->t, f, j);
	if (f->open != OPEN_NO)
		json_object_set_new(j, "budget", json_string(open_reason_word(f->open)));
}

static void print_json(const struct question *q)
{
	json_t *steps = json_array(), *asked = json_array(), *j;

	for (guint i = 0; q->path.steps != NULL && i < q->path.steps->len; i++)
		json_array_append_new(
		        steps, json_step(q, &g_array_index(q->path.steps, struct step, i)));
	for (guint i = 0; i < q->count; i++) {
		uint32_t last = order_last_before(q->orders[i], q->e, q->f);
		json_t *o =
		        json_pack("{sssb}", "order", order_kind_word(order_kind(q->orders[i])),
		                  "ordered", order_ordered(q->orders[i], q->e, q->f));

		json_object_set_new(o, "last_before",
		                    last == NONE ? json_null() : json_integer(last));
		json_array_append_new(asked, o);
	}
	j = json_pack("{sssssIsIsbsoso}", "heddle", HEDDLE_VERSION, "trace", trace_name(q->t),
	              "first", (json_int_t)q->e, "second", (json_int_t)q->f, "ordered",
	              q->answer != NULL, "path", steps, "orders", asked);
	json_object_set_new(j, "order",
	                    q->answer == NULL
	                            ? json_null()
	                            : json_string(order_kind_word(order_kind(q->answer))));
	if (q->verdict != NULL)
		json_verdict(q, j);
	json_dumpf(j, stdout, JSON_INDENT(1));
	putchar('\n');
	json_decref(j);
}

/* -- the story ----------------------------------------------------------------------------- */

/* Columns of the terminal, or of a printed page. */
static int page_columns(void)
{
	enum { PAGE = 80, WIDEST = 120 };
	struct winsize size;
	bool terminal = isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 &&
	                size.ws_col >= PAGE;

	return terminal ? MIN(size.ws_col, WIDEST) : PAGE;
}

/* Reduce context switches, to shorten the story. */
static void shorten(const struct question *q, struct finding *f, bool missing)
{
	struct check_options under = { .use_missing = missing };
	g_autoptr(GArray) pair = finding_claimed(f);

	if (f->witness != NULL && f->note == NULL)
		witness_minimise(q->t,
		                 (struct claimed){ finding_claim(f), event_list_of(pair) },
		                 &under, f->witness);
}

/* Takes ownership of verdict and trace. */
static int tell_story(struct question *q)
{
	bool missing = argument_flag(q->a, "missing");
	struct session *s = session_new(q->t);
	struct report *report = report_new(q->t, "decide");
	struct sources sources;
	g_autoptr(GString) text = g_string_new(NULL);

	shorten(q, q->verdict, missing);
	sources_init(&sources, q->t->path);
	s->ready = INDEX_ALL;
	s->calls = missing_calls_new(q->t);
	s->view = missing ? trace_view_missing(q->t, INDEX_ALL, progress_on_stderr()) : NULL;
	s->missing = s->view != NULL;
	s->orders[s->missing][ORDER_KIND_HB] =
	        order_new(missing ? s->view : q->t, ORDER_KIND_HB, progress_on_stderr());
	progress_done();
	report_add(report, q->verdict);
	q->verdict = NULL;
	session_settle(s, report);
	session_select(s, 0);
	g_autoptr(GArray) prose =
	        story_tell(s, &sources, session_selected(s), NULL, page_columns());
	prose_print(prose, page_columns(), !g_get_charset(NULL), text);
	fputs(text->str, stdout);
	sources_release(&sources);
	session_free(s);
	q->t = NULL;
	return EXIT_NOTHING;
}

/* Decide a conflicting pair within the default budget. */
static void decide(struct question *q)
{
	struct race_options race;
	struct error error;

	race_options_init(&race);
	race.want_witness = true;
	race.use_missing = argument_flag(q->a, "missing");
	if (argument_value(q->a, "order") == NULL && events_race_conflict(q->t, q->e, q->f) &&
	    race_options_fit(q->a, q->t, &race, &error))
		q->verdict = race_decide(q->t, q->e, q->f, &race, progress_on_stderr(), &error);
}

/* A story needs one racing pair and text output. */
static bool may_tell(const struct arguments *a, const struct question *q)
{
	const char *why =
	        argument_format(a, false) == FORMAT_JSON  ? "is text: not with --format"
	        : argument_value(a, "order")              ? "asks for no order"
	        : !events_race_conflict(q->t, q->e, q->f) ? "needs two accesses that conflict"
	                                                  : NULL;

	if (why != NULL)
		usage_error(a, "--story %s", why);
	return why == NULL;
}

static int run(struct arguments *a)
{
	struct question q = { .a = a };
	bool story = argument_flag(a, "story");
	int status = EXIT_BAD;

	argument_words(a, 3, 3);
	enum output_format format = argument_format(a, false);
	q.t = open_trace(a, a->words->pdata[0]);
	if (q.t == NULL)
		return EXIT_BAD;
	if (!parse(a, &q) || (story && !may_tell(a, &q)))
		status = EXIT_BAD;
	else if (story) {
		decide(&q);
		progress_done();
		trace_need(q.t, INDEX_ALL, NULL);
		status = q.verdict != NULL ? tell_story(&q) : EXIT_BAD;
	} else if (investigate(a, &q)) {
		decide(&q);
		progress_done();
		trace_need(q.t, INDEX_THREADS | INDEX_MATCH, NULL);
		if (format == FORMAT_JSON)
			print_json(&q);
		else
			print_text(&q);
		status = EXIT_NOTHING;
	}
	for (guint i = 0; i < q.count; i++)
		order_free(q.orders[i]);
	path_release(&q.path);
	finding_free(q.verdict);
	trace_view_free(q.view);
	trace_close(q.t);
	return status;
}

const struct command command_explain = {
	.name = "explain",
	.usage = "TRACE EVENT EVENT [--order ORDER] [--missing] [--story]",
	.summary = "why two events are ordered (the chain of events) or not",
	.details =
	        "Without --order, the weakest order that orders the two gives the reason; if none does,\n"
	        "the answer is how far each order reaches.  Two accesses that conflict are decided too: a\n"
	        "race by another order of the run, or impossible, with the proof.\n"
	        "\n"
	        "--story puts that on one page to print: what both sides do, what kept them apart in the\n"
	        "recording, which order of the same events brings them together, and the result.",
	.options = options,
	.run = run,
};
