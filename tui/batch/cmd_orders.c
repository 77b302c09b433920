/*
 * cmd_orders.c - `heddle orders`: which memory orders a program needs. Explores it under RC11,
 * again and again with another order at one atomic operation or fence.
 */
#include "engine/explore/explore.h"
#include "tui/batch/command.h"
#include "tui/batch/print.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

static const char *const order_words[] = { "plain",   "relaxed", "acquire",
	                                   "release", "acq_rel", "seq_cst" };

/* The orders that an operation can have, weak ones first; ends with 0. */
static const uint8_t *orders_of(const struct explore_atomic *a)
{
	static const uint8_t load[] = { ORDER_RLX, ORDER_ACQ, ORDER_SEQ_CST, 0 };
	static const uint8_t store[] = { ORDER_RLX, ORDER_REL, ORDER_SEQ_CST, 0 };
	static const uint8_t fence[] = { ORDER_ACQ, ORDER_REL, ORDER_ACQ_REL, ORDER_SEQ_CST,
		                         0 };
	static const uint8_t update[] = { ORDER_RLX,     ORDER_ACQ,     ORDER_REL,
		                          ORDER_ACQ_REL, ORDER_SEQ_CST, 0 };
	return a->op == OP_FENCE                   ? fence
	       : a->op == OP_AWRITE                ? store
	       : a->op == OP_AREAD && !a->compares ? load
	                                           : update;
}

static bool is_stronger(uint8_t a, uint8_t b)
{
	/* acquire and release cannot be compared */
	static const uint8_t parts[] = { 0, 0, 1, 2, 3, 7 };
	return a != b && (parts[a] & parts[b]) == parts[b];
}

enum outcome { RIGHT, WRONG, OPEN, BROKEN };

struct search {
	struct explore_options options;
	GArray *orders; /* struct explore_order: in place of the program's */
	uint64_t explorations, runs;
	json_t *found; /* array of changes */
	bool json;
	bool looks; /* loops that look in vain were cut in an exploration without failing runs
	             */
};

/* BROKEN: `error`. */
static enum outcome explore_with(struct search *s, struct explore_report **report,
                                 struct error *error)
{
	s->options.orders = s->orders;
	struct explore_report *r = explore(&s->options, progress_on_stderr(), error);
	enum outcome outcome = r == NULL                                 ? BROKEN
	                       : r->errors->len > 0 || r->races->len > 0 ? WRONG
	                       : r->complete || r->only_looks            ? RIGHT
	                                                                 : OPEN;
	progress_done();
	s->looks |= outcome == RIGHT && !r->complete;
	s->explorations++;
	s->runs += r != NULL ? r->runs->len : 0;
	if (report != NULL)
		*report = r;
	else
		explore_report_free(r);
	return outcome;
}

static void set_order(struct search *s, const struct explore_atomic *a, uint8_t order)
{
	struct explore_order fresh = { a->address, a->module, order };
	g_array_append_val(s->orders, fresh);
}

/* A change that was found; `pair`: it is right with the other one of two alone. */
static void tell(struct search *s, const struct explore_atomic *a, uint8_t order, bool pair,
                 const char *sentence)
{
	const char *what = a->op == OP_FENCE                ? "fence"
	                   : a->op == OP_AWRITE             ? "store to "
	                   : a->op == OP_RMW || a->compares ? "update of "
	                                                    : "load of ";
	json_array_append_new(s->found, json_pack("{s:o, s:o, s:s, s:s, s:b}", "location",
	                                          json_text(a->place), "operation",
	                                          json_sprintf("%s%s", what, a->variable),
	                                          "order", order_words[a->order], "instead",
	                                          order_words[order], "pair", pair));
	if (!s->json)
		printf("    %s: %s%s: %s, %s %s\n", a->place, what, a->variable,
		       order_words[a->order], sentence, order_words[order]);
}

/* Single orders whose strengthening leaves no failing run; the weakest that does, of each. */
static bool strengthen(struct search *s, const GArray *atomics, bool *open, struct error *error)
{
	for (guint i = 0; i < atomics->len; i++) {
		const struct explore_atomic *a =
		        &g_array_index(atomics, struct explore_atomic, i);
		for (const uint8_t *o = orders_of(a); *o; o++) {
			if (!is_stronger(*o, a->order))
				continue;
			g_array_set_size(s->orders, 0);
			set_order(s, a, *o);
			enum outcome outcome = explore_with(s, NULL, error);
			*open |= outcome == OPEN;
			if (outcome == BROKEN)
				return false;
			if (outcome == RIGHT) {
				tell(s, a, *o, false, "has to be");
				break;
			}
		}
	}
	return true;
}

/* Two at once: one operation releases, another acquires. */
static bool strengthen_pairs(struct search *s, const GArray *atomics, bool *open,
                             struct error *error)
{
	for (guint i = 0; i < atomics->len; i++) {
		const struct explore_atomic *a =
		        &g_array_index(atomics, struct explore_atomic, i);
		for (guint k = 0; k < atomics->len; k++) {
			const struct explore_atomic *b =
			        &g_array_index(atomics, struct explore_atomic, k);
			bool publish = a->op == OP_AWRITE || a->op == OP_RMW;
			bool look = b->op == OP_AREAD || b->op == OP_RMW;
			if (i == k || !publish || !look || !is_stronger(ORDER_REL, a->order) ||
			    !is_stronger(ORDER_ACQ, b->order))
				continue;
			g_array_set_size(s->orders, 0);
			set_order(s, a, ORDER_REL);
			set_order(s, b, ORDER_ACQ);
			enum outcome outcome = explore_with(s, NULL, error);
			*open |= outcome == OPEN;
			if (outcome == BROKEN)
				return false;
			if (outcome != RIGHT)
				continue;
			tell(s, a, ORDER_REL, true, "has to be");
			tell(s, b, ORDER_ACQ, true, "together with this one, has to be");
			return true;
		}
	}
	return true;
}

/* As weak as it goes, one after the other: in the end none can be weakened any more. */
static bool weaken(struct search *s, const GArray *atomics, bool *open, struct error *error)
{
	for (guint i = 0; i < atomics->len; i++) {
		const struct explore_atomic *a =
		        &g_array_index(atomics, struct explore_atomic, i);
		guint before = s->orders->len;
		for (const uint8_t *o = orders_of(a); *o; o++) {
			if (!is_stronger(a->order, *o))
				continue;
			set_order(s, a, *o);
			enum outcome outcome = explore_with(s, NULL, error);
			*open |= outcome == OPEN;
			if (outcome == BROKEN)
				return false;
			if (outcome == RIGHT) {
				tell(s, a, *o, false, "could be");
				break;
			}
			g_array_set_size(s->orders, before);
		}
	}
	return true;
}

/* The search; what it found is in s->found. */
static bool search(struct search *s, const GArray *atomics, enum outcome now, bool *open,
                   struct error *error)
{
	if (now == RIGHT)
		return weaken(s, atomics, open, error);
	return strengthen(s, atomics, open, error) &&
	       (json_array_size(s->found) > 0 || strengthen_pairs(s, atomics, open, error));
}

static void print_end(const struct search *s, enum outcome now, bool open)
{
	bool any = json_array_size(s->found) > 0;
	if (now == RIGHT && !any)
		printf("    no order can be weaker\n");
	if (now == WRONG && !any)
		printf("    no stronger order at one operation or fence, and no pair of release and "
		       "acquire, leaves no failing run\n");
	printf("%" PRIu64 " explorations, %" PRIu64 " runs%s\n", s->explorations, s->runs,
	       open ? "; some were not complete, and count as failing" : "");
	if (s->looks)
		printf("not complete: threads wait by looking, and that they look in vain more "
		       "than a few times in a row was not tried (heddle explore --memory rc11 "
		       "says where)\n");
}

static int report(struct search *s, const struct explore_report *base, enum outcome now,
                  struct error *error)
{
	bool open = false;
	if (!s->json)
		printf(now == RIGHT
		               ? "no run fails under RC11; weaker orders that leave it so, "
		                 "all together:\n"
		               : "runs fail under RC11; stronger orders with which none does, "
		                 "each alone or a pair:\n");
	if (!search(s, base->atomics, now, &open, error))
		return fail(error);
	if (s->json) {
		json_t *root = json_pack(
		        "{s:s, s:b, s:O, s:I, s:I, s:b}", "heddle", HEDDLE_VERSION, "fails",
		        now == WRONG, now == RIGHT ? "weaker" : "stronger", s->found,
		        "explorations", (json_int_t)s->explorations, "executions",
		        (json_int_t)s->runs, "complete", !open && !s->looks);
		json_dumpf(root, stdout, JSON_INDENT(1));
		putchar('\n');
		json_decref(root);
	} else {
		print_end(s, now, open);
	}
	return now == WRONG ? EXIT_FOUND : open || s->looks ? EXIT_BUDGET : EXIT_NOTHING;
}

static int run(struct arguments *a)
{
	struct error error = { 0 };
	struct explore_report *base = NULL;
	if (!a->rest || !a->rest[0])
		return usage_error(a, "no program given after --");
	struct search s = { .options = { .argv = a->rest,
		                         .memory = MEMORY_RC11,
		                         .max_runs = argument_number(a, "runs", 10000),
		                         .seconds = (double)argument_number(a, "budget", 60),
		                         .timeout_ms = 10000,
		                         .until_error = true,
		                         .interrupted = catch_interruption() },
		            .orders = g_array_new(FALSE, FALSE, sizeof(struct explore_order)),
		            .found = json_array(),
		            .json = argument_format(a, false) == FORMAT_JSON };
	s.options.until_error = false; /* the first one meets every atomic operation */
	enum outcome now = explore_with(&s, &base, &error);
	s.options.until_error = true;
	int status;
	if (now == BROKEN) {
		status = fail(&error);
	} else if (now == OPEN) {
		printf("the program was not explored completely:\n");
		for (guint i = 0; i < base->gaps->len; i++)
			printf("    %s\n", (char *)base->gaps->pdata[i]);
		status = EXIT_BUDGET;
	} else {
		status = report(&s, base, now, &error);
	}
	explore_report_free(base);
	g_array_unref(s.orders);
	json_decref(s.found);
	return status;
}

static const struct command_option options[] = {
	{ "runs", "N", "at most so many runs of an exploration (default 10000)", 'n' },
	{ "budget", "SECONDS", "for each exploration (default 60; 0: no limit)", 0 },
	OPTION_FORMAT,
	{ 0 },
};

const struct command command_orders = {
	.name = "orders",
	.usage = "[--runs N] [--budget SECONDS] -- PROG ARGS",
	.summary = "which memory orders a program's atomics need",
	.details =
	        "Explores the program under RC11 ('heddle explore --memory rc11').  When a run "
	        "fails or\n"
	        "has a data race: which one order, or pair of release and acquire, has to be "
	        "stronger\n"
	        "so that none does.  When none fails: which orders could be weaker.  Each answer "
	        "is an\n"
	        "exploration with that order in place of the program's.  Fences that are not "
	        "there are\n"
	        "not tried.  Exit status 1 when runs fail, 3 when not all was explored.",
	.options = options,
	.run = run,
	.takes_program = true,
};
