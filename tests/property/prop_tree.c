/*
 * prop_tree.c - TREE on random traces: it drops exactly the events that the definition says;
 * with `--for hb|wcp`, happens-before and WCP report the same pairs of sites of the same
 * variables before and after; the paper's rule keeps all of the lockset's. And some events
 * are dropped.
 */
#include "engine/partial/tree.h"
#include "engine/predict/predict.h"
#include "engine/trace/formats.h"
#include "tests/property/mix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t dropped_in_all, races_in_all;
static bool named; /* do pairs of places have their variable? */

/* The random trace again with few locations, so that accesses repeat. */
static struct trace *with_few_locations(const struct trace *t, uint64_t seed)
{
	GString *text = g_string_new(NULL), *few = g_string_new(NULL);
	trace_print(t, TRACE_TEXT, NULL, text, NULL);
	char **lines = g_strsplit(text->str, "\n", -1);
	for (int i = 0; lines[i] && *lines[i]; i++) {
		char *bar = strrchr(lines[i], '|');
		if (*lines[i] == '#' || bar == NULL) {
			g_string_append_printf(few, "%s\n", lines[i]);
			continue;
		}
		seed = seed * UINT64_C(6364136223846793005) + 1;
		g_string_append_len(few, lines[i], bar - lines[i]);
		g_string_append_printf(few, "|%u\n", (unsigned)(seed >> 60) % 3);
	}
	g_strfreev(lines);
	struct error e;
	struct trace *again = trace_from_text("few", few->str, few->len, NULL, &e);
	if (again == NULL)
		printf("%s: %s\n%s", e.where, e.what, few->str);
	g_string_free(text, TRUE);
	g_string_free(few, TRUE);
	return again;
}

/* "site site variable" of every pair that the analysis reports. */
static GHashTable *pairs_of(struct trace *t, enum analysis analysis)
{
	struct race_options o;
	struct error e;
	race_options_init(&o);
	o.analysis = analysis;
	o.pairs_events = true;
	struct report *r = races_find(t, &o, NULL, &e);
	GHashTable *pairs = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	for (guint i = 0; r && i < r->findings->len; i++) {
		const struct finding *f = r->findings->pdata[i];
		const char *x = trace_site_name(t, f->first),
		           *y = trace_site_name(t, f->second);
		GString *name = g_string_new(NULL);
		if (named)
			trace_append_variable(t, &t->events[f->first], name);
		bool swap = strcmp(x, y) > 0;
		g_hash_table_add(pairs, g_strdup_printf("%s %s %s", swap ? y : x, swap ? x : y,
		                                        name->str));
		g_string_free(name, TRUE);
	}
	if (r)
		report_free(r);
	return pairs;
}

static bool same_keys(GHashTable *a, GHashTable *b)
{
	GHashTableIter iter;
	gpointer key;
	if (g_hash_table_size(a) != g_hash_table_size(b))
		return false;
	g_hash_table_iter_init(&iter, a);
	while (g_hash_table_iter_next(&iter, &key, NULL))
		if (!g_hash_table_contains(b, key))
			return false;
	return true;
}

static bool agrees(struct trace *t, enum tree_rule rule, enum analysis analysis)
{
	uint64_t dropped;
	struct error e;
	uint64_t *keep = tree_filter(t, rule, &dropped, NULL);
	GString *text = g_string_new(NULL);
	trace_print(t, TRACE_TEXT, keep, text, NULL);
	struct trace *less = trace_from_text("less", text->str, text->len, NULL, &e);
	bool good = less && less->events_count + dropped == t->events_count && less->filtered;
	if (good) {
		GHashTable *before = pairs_of(t, analysis), *after = pairs_of(less, analysis);
		good = same_keys(before, after);
		races_in_all += g_hash_table_size(before);
		g_hash_table_destroy(before);
		g_hash_table_destroy(after);
	}
	if (!good)
		printf("%s, filtered:\n%s", analysis_word(analysis), text->str);
	dropped_in_all += dropped;
	trace_close(less);
	g_string_free(text, TRUE);
	g_free(keep);
	return good;
}

/* -- the definition, by looking at all events before -------------------------------------- */

/* Does the operation count as a send or a receive? */
static bool is_message(enum op op)
{
	static const enum op messages[] = { OP_FORK,   OP_JOIN,      OP_WAIT,   OP_WAKE,
		                            OP_SIGNAL, OP_BROADCAST, OP_ARRIVE, OP_DEPART,
		                            OP_POST,   OP_TAKE,      OP_SND,    OP_RCV };
	for (size_t i = 0; i < G_N_ELEMENTS(messages); i++)
		if (messages[i] == op)
			return true;
	return false;
}

/* Can an edge to another thread leave from here? (tree.h: too many cost only size.) */
static bool ends_span(enum op op)
{
	static const enum op others[] = { OP_REL,     OP_RREL,  OP_TRYFAIL, OP_TAKETRYFAIL,
		                          OP_DESTROY, OP_FENCE, OP_AWRITE,  OP_RMW,
		                          OP_ALLOC,   OP_FREE,  OP_ACT,     OP_CALL,
		                          OP_RET,     OP_MISS,  OP_BACK };
	for (size_t i = 0; i < G_N_ELEMENTS(others); i++)
		if (others[i] == op)
			return true;
	return is_message(op) && op != OP_JOIN && op != OP_RCV && op != OP_TAKE &&
	       op != OP_DEPART && op != OP_WAKE;
}

/* "w3 r1 | fork2 snd4": the locks held, by number, and (TREE_PAPER) the messages so far. */
static char *context(const struct trace *t, uint32_t event, enum tree_rule rule)
{
	GString *out = g_string_new(NULL), *past = g_string_new(NULL);
	uint16_t thread = t->events[event].thread;
	int held[64][2] = { 0 }; /* by object: exclusively, shared */
	for (uint32_t e = 0; e < event; e++) {
		const struct event *x = &t->events[e];
		if (x->thread != thread || event_inert(x))
			continue;
		if (op_acquires(x->op))
			held[x->target][x->op == OP_RACQ]++;
		else if (op_releases(x->op))
			held[x->target][x->op == OP_RREL]--;
		else if (is_message(x->op) && rule == TREE_PAPER)
			g_string_append_printf(past, " %d.%u", x->op, x->target);
	}
	for (uint32_t o = 0; o < t->objects_count; o++)
		g_string_append_printf(out, "%d%d ", held[o][0], held[o][1]);
	g_string_append_printf(out, "|%s", past->str);
	g_string_free(past, TRUE);
	return g_string_free(out, FALSE);
}

static bool same_access(const struct trace *t, uint32_t e, uint32_t f, enum tree_rule rule)
{
	const struct event *x = &t->events[e], *y = &t->events[f];
	if (x->op != y->op || event_inert(x) || x->location != y->location ||
	    x->target != y->target || (x->flags & EVENT_WIDE) != (y->flags & EVENT_WIDE))
		return false;
	char *a = context(t, e, rule), *b = context(t, f, rule);
	bool same = strcmp(a, b) == 0;
	g_free(a);
	g_free(b);
	return same;
}

/* A write ends the span of one before an atomic write of any thread, too. */
static bool span_ended(const struct trace *t, uint32_t from, uint32_t to)
{
	for (uint32_t e = from + 1; e < to; e++) {
		const struct event *x = &t->events[e];
		bool own = x->thread == t->events[to].thread && ends_span(x->op);
		bool atomic =
		        t->events[to].op == OP_WRITE && op_is_atomic(x->op) && op_writes(x->op);
		if (!event_inert(x) && (own || atomic))
			return true;
	}
	return false;
}

/* Have kept ones said it: of the same thread, or (TREE_PAPER) of two others? */
static bool redundant(const struct trace *t, const uint64_t *keep, uint32_t event,
                      enum tree_rule rule)
{
	uint32_t other = NONE;
	for (uint32_t e = 0; e < event; e++) {
		uint16_t thread = t->events[e].thread;
		if (!(keep[e / 64] >> e % 64 & 1) || !same_access(t, e, event, rule))
			continue;
		if (thread == t->events[event].thread &&
		    (rule == TREE_PAPER || !span_ended(t, e, event)))
			return true;
		if (rule == TREE_PAPER && other != NONE && other != thread)
			return true;
		other = thread;
	}
	return false;
}

static bool as_defined(const struct trace *t, enum tree_rule rule)
{
	uint64_t dropped;
	uint64_t *keep = tree_filter(t, rule, &dropped, NULL);
	bool good = true;
	for (uint32_t e = 0; e < t->events_count && good; e++) {
		const struct event *x = &t->events[e];
		bool access = (x->op == OP_READ || x->op == OP_WRITE) && !event_inert(x);
		good = (keep[e / 64] >> e % 64 & 1) == !(access && redundant(t, keep, e, rule));
		if (!good)
			printf("rule %d: event %u\n", rule, e);
	}
	g_free(keep);
	return good;
}

static bool one(uint64_t seed)
{
	struct random_options options = mix_options(seed, 2 + seed % 3, 24);
	/* With sizes a variable's name depends on what else is accessed of it. */
	named = !options.sizes;
	struct trace *random = random_trace(seed, &options);
	struct trace *t = with_few_locations(random, seed);
	bool good = t && as_defined(t, TREE_PAPER) && as_defined(t, TREE_SOUND) &&
	            agrees(t, TREE_SOUND, ANALYSIS_HB) && agrees(t, TREE_SOUND, ANALYSIS_WCP) &&
	            agrees(t, TREE_SOUND, ANALYSIS_CP) && agrees(t, TREE_SOUND, ANALYSIS_DC) &&
	            agrees(t, TREE_SOUND, ANALYSIS_WDC) &&
	            agrees(t, TREE_SOUND, ANALYSIS_LOCKSET) &&
	            agrees(t, TREE_PAPER, ANALYSIS_LOCKSET);
	if (!good && t) {
		GString *text = g_string_new(NULL);
		trace_print(t, TRACE_TEXT, NULL, text, NULL);
		printf("of:\n%s", text->str);
		g_string_free(text, TRUE);
	}
	trace_close(t);
	trace_close(random);
	return good;
}

int main(int argc, char **argv)
{
	int status = mix_main(argc, argv, "tree", 3000, one);
	printf("tree: %" G_GUINT64_FORMAT " accesses dropped, %" G_GUINT64_FORMAT
	       " pairs of sites kept\n",
	       dropped_in_all, races_in_all);
	if (status == 0 && (dropped_in_all == 0 || races_in_all == 0))
		return EXIT_FAILURE;
	return status;
}
