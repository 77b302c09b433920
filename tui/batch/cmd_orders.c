/*
 * cmd_orders.c - `heddle orders`: which memory orders a program needs. Explores it under RC11,
 * again and again with another order at one atomic operation or fence.
 */
#include "engine/explore/explore.h"
#include "tui/batch/command.h"
#include "tui/batch/print/print.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>

/* The orders that an operation can have, weak ones first; ends with 0. */
static const uint8_t *orders_of(const struct explore_atomic *a)
{
	static const uint8_t load[] = { ORDER_RLX, ORDER_ACQ, ORDER_SEQ_CST, 0 };
	static const uint8_t store[] = { ORDER_RLX, ORDER_REL, ORDER_SEQ_CST, 0 };
	/* relaxed: none at all */
	static const uint8_t fence[] = { ORDER_RLX,     ORDER_ACQ,     ORDER_REL,
		                         ORDER_ACQ_REL, ORDER_SEQ_CST, 0 };
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
	GArray *orders; /* struct explore_order: replacements of the program's orders */
	uint64_t explorations, runs;
	/* Counts of changes: explorations with one change, or a pair; pairs that were not
	 * tried. */
	uint64_t tried_orders, tried_fences, tried_pairs, left_pairs, most_pairs;
	json_t *found; /* array of changes */
	bool json;
	bool looks; /* an exploration without failing runs has cut off waiting loops */
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

/* A change of the program: another order at an operation, or a fence beside it. */
struct change {
	const struct explore_atomic *a;
	struct explore_order order;
};

static struct change change_of(const struct explore_atomic *a, int how, uint8_t order)
{
	return (struct change){
		a, { .address = a->address, .module = a->module, .order = order, .how = how }
	};
}

/* Explores with one change more than s->orders, or two (`other` may be NULL). */
static enum outcome explore_changed(struct search *s, const struct change *one,
                                    const struct change *other, bool *open, struct error *error)
{
	g_array_append_val(s->orders, one->order);
	if (other != NULL)
		g_array_append_val(s->orders, other->order);
	enum outcome outcome = explore_with(s, NULL, error);
	*open |= outcome == OPEN;
	return outcome;
}

static const char *const sides[] = { NULL, "before", "after" };

/* Reports a change; `pair`: it is one of two that help only together. */
static void tell(struct search *s, const struct change *c, bool pair, const char *sentence)
{
	const struct explore_atomic *a = c->a;
	const char *what = a->op == OP_FENCE                ? "fence"
	                   : a->op == OP_AWRITE             ? "store to "
	                   : a->op == OP_RMW || a->compares ? "update of "
	                                                    : "load of ";
	const char *side = sides[c->order.how];
	bool none = a->op == OP_FENCE && c->order.order == ORDER_RLX; /* no fence at all */
	json_array_append_new(s->found,
	                      json_pack("{s:o, s:o, s:s, s:s, s:s?, s:b}", "location",
	                                json_text(a->place), "operation",
	                                json_sprintf("%s%s", what, a->variable), "order",
	                                explore_order_words[a->order], "instead",
	                                none ? "none" : explore_order_words[c->order.order],
	                                "fence", side, "pair", pair));
	if (s->json)
		return;
	if (side != NULL)
		printf("    %s: %s%s: %s a fence %s it: %s\n", a->place, what, a->variable,
		       sentence, side, explore_order_words[c->order.order]);
	else
		printf("    %s: %s%s: %s, %s %s\n", a->place, what, a->variable,
		       explore_order_words[a->order], sentence,
		       none ? "left out" : explore_order_words[c->order.order]);
}

/* Finds, for each operation, the weakest stronger order that leaves no failing run. */
static bool strengthen(struct search *s, const GArray *atomics, bool *open, struct error *error)
{
	for (guint i = 0; i < atomics->len; i++) {
		const struct explore_atomic *a =
		        &g_array_index(atomics, struct explore_atomic, i);
		for (const uint8_t *o = orders_of(a); *o; o++) {
			if (!is_stronger(*o, a->order))
				continue;
			struct change c = change_of(a, EXPLORE_ORDER, *o);
			g_array_set_size(s->orders, 0);
			enum outcome outcome = explore_changed(s, &c, NULL, open, error);
			s->tried_orders++;
			if (outcome == BROKEN)
				return false;
			if (outcome == RIGHT) {
				tell(s, &c, false, "has to be");
				break;
			}
		}
	}
	return true;
}

static bool publishes(const struct explore_atomic *a)
{
	return a->op == OP_AWRITE || a->op == OP_RMW;
}

static bool looks(const struct explore_atomic *a)
{
	return a->op == OP_AREAD || a->op == OP_RMW;
}

/* Fences that the program does not have, and that can help beside this operation: a releasing
 * one before a publishing store, an acquiring one after a load, and a seq_cst one before a
 * load. Returns their number. */
static guint fences_beside(const struct explore_atomic *a, struct change *fences)
{
	guint count = 0;
	if (publishes(a))
		fences[count++] = change_of(a, EXPLORE_FENCE_BEFORE, ORDER_REL);
	if (looks(a))
		fences[count++] = change_of(a, EXPLORE_FENCE_AFTER, ORDER_ACQ);
	if (looks(a))
		fences[count++] = change_of(a, EXPLORE_FENCE_BEFORE, ORDER_SEQ_CST);
	return count;
}
enum { MOST_FENCES = 3 };

static bool add_fences(struct search *s, const GArray *atomics, bool *open, struct error *error)
{
	for (guint i = 0; i < atomics->len; i++) {
		struct change fences[MOST_FENCES];
		guint count = fences_beside(&g_array_index(atomics, struct explore_atomic, i),
		                            fences);
		for (guint k = 0; k < count; k++) {
			g_array_set_size(s->orders, 0);
			enum outcome outcome =
			        explore_changed(s, &fences[k], NULL, open, error);
			s->tried_fences++;
			if (outcome == BROKEN)
				return false;
			if (outcome == RIGHT)
				tell(s, &fences[k], false, "has to have");
		}
	}
	return true;
}

/* All changes that can be one of a pair: orders that release or acquire, and fences. */
static GArray *halves(const GArray *atomics)
{
	GArray *all = g_array_new(FALSE, FALSE, sizeof(struct change));
	for (guint i = 0; i < atomics->len; i++) {
		const struct explore_atomic *a =
		        &g_array_index(atomics, struct explore_atomic, i);
		struct change release = change_of(a, EXPLORE_ORDER, ORDER_REL);
		struct change acquire = change_of(a, EXPLORE_ORDER, ORDER_ACQ);
		struct change fences[MOST_FENCES];
		if (publishes(a) && is_stronger(ORDER_REL, a->order))
			g_array_append_val(all, release);
		if (looks(a) && is_stronger(ORDER_ACQ, a->order))
			g_array_append_val(all, acquire);
		g_array_append_vals(all, fences, fences_beside(a, fences));
	}
	return all;
}

/* One releases and the other acquires, or both are seq_cst fences. */
static bool is_pair(const struct change *one, const struct change *other)
{
	if (one->a == other->a)
		return false;
	if (one->order.order == ORDER_SEQ_CST)
		return other->order.order == ORDER_SEQ_CST && one < other;
	return one->order.order == ORDER_REL && other->order.order == ORDER_ACQ;
}

/* Tries two changes at once, pairs of orders first: up to one that is right, or s->most_pairs.
 */
static bool strengthen_pairs(struct search *s, const GArray *atomics, bool *open,
                             struct error *error)
{
	g_autoptr(GArray) all = halves(atomics);
	bool good = true, found = false;
	for (guint n = 0; n < 2 * all->len * all->len && good && !found; n++) {
		guint k = n % (all->len * all->len);
		const struct change *one = &g_array_index(all, struct change, k / all->len);
		const struct change *other = &g_array_index(all, struct change, k % all->len);
		bool orders =
		        one->order.how == EXPLORE_ORDER && other->order.how == EXPLORE_ORDER;
		bool first = n < all->len * all->len;
		if (!is_pair(one, other) || orders != first)
			continue;
		if (s->tried_pairs == s->most_pairs) {
			s->left_pairs++;
			continue;
		}
		g_array_set_size(s->orders, 0);
		enum outcome outcome = explore_changed(s, one, other, open, error);
		s->tried_pairs++;
		good = outcome != BROKEN;
		found = outcome == RIGHT;
		if (!found)
			continue;
		bool fences = !orders;
		tell(s, one, true, one->order.how && fences ? "has to have" : "has to be");
		tell(s, other, true,
		     other->order.how ? "together with this one, has to have"
		                      : "together with this one, has to be");
	}
	return good;
}

/* Weakens order after order, until no single one can be weakened further. */
static bool weaken(struct search *s, const GArray *atomics, bool *open, struct error *error)
{
	for (guint i = 0; i < atomics->len; i++) {
		const struct explore_atomic *a =
		        &g_array_index(atomics, struct explore_atomic, i);
		guint before = s->orders->len;
		for (const uint8_t *o = orders_of(a); *o; o++) {
			if (!is_stronger(a->order, *o))
				continue;
			struct change c = change_of(a, EXPLORE_ORDER, *o);
			enum outcome outcome = explore_changed(s, &c, NULL, open, error);
			s->tried_orders++;
			if (outcome == BROKEN)
				return false;
			if (outcome == RIGHT) {
				tell(s, &c, false, "could be");
				break;
			}
			g_array_set_size(s->orders, before);
		}
	}
	return true;
}

/* The search; the orders that it found are in s->found. */
static bool search(struct search *s, const GArray *atomics, enum outcome now, bool *open,
                   struct error *error)
{
	if (now == RIGHT)
		return weaken(s, atomics, open, error);
	return strengthen(s, atomics, open, error) && add_fences(s, atomics, open, error) &&
	       (json_array_size(s->found) > 0 || strengthen_pairs(s, atomics, open, error));
}

static void print_end(const struct search *s, enum outcome now, bool open)
{
	bool any = json_array_size(s->found) > 0;
	if (now == RIGHT && !any)
		printf("    no order can be weaker\n");
	if (now == WRONG && !any)
		printf("    no stronger order at one operation or fence, no fence beside one, and no "
		       "pair of these leaves no failing run\n");
	printf("searched: %" PRIu64 " orders", s->tried_orders);
	if (now == WRONG)
		printf(", %" PRIu64 " fences, %" PRIu64 " pairs", s->tried_fences,
		       s->tried_pairs);
	if (s->left_pairs > 0)
		printf("; %" PRIu64 " more pairs were not (--pairs)", s->left_pairs);
	printf("\n");
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
		               : "runs fail under RC11; stronger orders or fences with which none does, "
		                 "each alone or a pair:\n");
	if (!search(s, base->atomics, now, &open, error))
		return fail(error);
	if (s->json) {
		json_auto_t *root = json_pack(
		        "{s:s, s:b, s:O, s:I, s:I, s:{s:I, s:I, s:I, s:I}, s:b}", "heddle",
		        HEDDLE_VERSION, "fails", now == WRONG,
		        now == RIGHT ? "weaker" : "stronger", s->found, "explorations",
		        (json_int_t)s->explorations, "executions", (json_int_t)s->runs,
		        "searched", "orders", (json_int_t)s->tried_orders, "fences",
		        (json_int_t)s->tried_fences, "pairs", (json_int_t)s->tried_pairs,
		        "pairs-left", (json_int_t)s->left_pairs, "complete",
		        !open && !s->looks && s->left_pairs == 0);
		json_dumpf(root, stdout, JSON_INDENT(1));
		putchar('\n');
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
		return no_program(a);
	struct search s = { .options = { .argv = a->rest,
		                         .memory = MEMORY_RC11,
		                         .max_runs = argument_number(a, "runs", 10000),
		                         .seconds = (double)argument_number(a, "budget", 60),
		                         .timeout_ms = 10000,
		                         .until_error = true,
		                         .interrupted = catch_interruption() },
		            .orders = g_array_new(FALSE, FALSE, sizeof(struct explore_order)),
		            .found = json_array(),
		            .most_pairs = argument_number(a, "pairs", 100),
		            .json = argument_format(a, false) == FORMAT_JSON };
	s.options.until_error = false; /* the first exploration must meet every atomic
	                                * operation */
	enum outcome now = explore_with(&s, &base, &error);
	s.options.until_error = true;
	int status;
	if (now == BROKEN) {
		status = fail(&error);
	} else if (now == OPEN) {
		printf("the program was not explored completely:\n");
		for (guint i = 0; i < base->reasons->len; i++)
			printf("    %s\n", (char *)base->reasons->pdata[i]);
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
	{ "runs", "N", "at most N runs of an exploration (default 10000)", 'n' },
	{ "budget", "SECONDS", "for each exploration (default 60; 0: no limit)", 0 },
	{ "pairs", "N", "try at most N pairs of changes (default 100)", 0 },
	OPTION_FORMAT,
	{ 0 },
};

const struct command command_orders = {
	.name = "orders",
	.usage = "[--runs N] [--budget SECONDS] [--pairs N] -- PROG ARGS",
	.summary = "which memory orders a program's atomics need",
	.details =
	        "Explores the program under RC11 ('heddle explore --memory rc11').  When a run fails or\n"
	        "has a data race: which one order has to be stronger, or which one fence has to be added,\n"
	        "so that none does; if there is none, a pair of them.  When none fails: which orders\n"
	        "could be weaker, and which fences left out.  Each answer is an exploration with that\n"
	        "change; the end says how many were tried.  Exit status 1 when runs fail, 3 when not all\n"
	        "was explored.",
	.options = options,
	.run = run,
	.takes_program = true,
};
