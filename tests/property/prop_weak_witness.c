/*
 * prop_weak_witness.c - the checker of witnesses under a memory model against the axioms: of
 * random litmus programs each execution's witness is accepted, and one that was changed (a
 * load that reads another store, a store at another place of modification order, other steps
 * first, a store that arrives earlier or later) exactly when the axioms allow the changed
 * execution. And the model that an execution is said to need agrees with the sets of all
 * executions of SC and TSO.
 */
#include "engine/memory/need.h"
#include "engine/trace/formats.h"
#include "engine/witness/check_weak.h"
#include "tests/property/oracle_memory.h"
#include "tests/support/litmus_random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CASES = 10000, MOST = 24, GRAPHS = 3, CHANGES = 12 };

enum change { KEPT, READS, AFTER, SWAP, CHANGE_COUNT };
static const char *const change_words[] = { "kept", "reads", "after", "swap" };
static uint64_t accepted[CHANGE_COUNT], refused[CHANGE_COUNT];
static uint64_t hidden; /* a load that reads a store of the same value that is not allowed */

static uint32_t below(GRand *r, uint32_t n)
{
	return (uint32_t)g_rand_int_range(r, 0, (gint32)n);
}

static const char *order_text(uint32_t order)
{
	static const char *const words[] = { "", "rlx", "acq", "rel", "acq_rel", "seq_cst" };
	return words[order];
}

/* ---- RC11 ---- */

/* A witness: a sequence of lines (an update is one), what each load reads, and the place of
 * each store; lines by number, NONE: the initial value. */
struct claim_of {
	const struct memory_graph *g;
	uint32_t count;
	uint32_t event[MOST]; /* by line: of the graph; of an update its load */
	uint32_t line[MOST];  /* by event of the graph */
	uint32_t sequence[MOST], reads[MOST], after[MOST];
};

static bool is_update(const struct memory_event *e)
{
	return e->kind == MEMORY_LOAD && (e->flags & MEMORY_EXCLUSIVE);
}
/* The event of the line that writes, or NONE. */
static uint32_t store_of(const struct claim_of *c, uint32_t line)
{
	const struct memory_event *e = &c->g->events[c->event[line]];
	return is_update(e) ? e->po_next : e->kind == MEMORY_STORE ? c->event[line] : NONE;
}
static bool is_load(const struct claim_of *c, uint32_t line)
{
	return c->g->events[c->event[line]].kind == MEMORY_LOAD;
}

/* Lines in an order of po and rf, by chance. */
static void make_lines(GRand *r, const struct memory_graph *g, struct claim_of *c)
{
	uint32_t next[LITMUS_THREADS], left = 0;
	*c = (struct claim_of){ .g = g };
	memset(c->line, 0xff, sizeof c->line);
	for (uint32_t t = 0; t < g->threads; t++)
		next[t] = g->first[t];
	for (uint32_t i = 0; i < g->count; i++)
		left += g->events[i].kind != MEMORY_INIT;
	while (left > 0) {
		uint32_t t = below(r, g->threads), id = next[t];
		const struct memory_event *e = id == NONE ? NULL : &g->events[id];
		if (e == NULL ||
		    (e->kind == MEMORY_LOAD && g->events[e->rf].kind != MEMORY_INIT &&
		     c->line[e->rf] == NONE))
			continue;
		uint32_t line = c->count++, last = is_update(e) ? e->po_next : id;
		c->event[line] = id;
		c->line[id] = c->line[last] = line;
		c->sequence[line] = line;
		next[t] = g->events[last].po_next;
		left -= is_update(e) ? 2 : 1;
	}
	for (uint32_t line = 0; line < c->count; line++) {
		const struct memory_event *e = &g->events[c->event[line]];
		c->reads[line] = e->kind == MEMORY_LOAD ? c->line[e->rf] : NONE;
		c->after[line] = NONE;
		if (e->kind != MEMORY_STORE)
			continue;
		uint32_t before = e->mo_prev;
		while (c->line[before] != NONE && c->line[before] > line)
			before = g->events[before].mo_prev;
		c->after[line] = c->line[before];
	}
}

static void append_line(const struct claim_of *c, uint32_t line, GString *out)
{
	const struct memory_event *e = &c->g->events[c->event[line]];
	const char *x = e->location == 0 ? "x" : "y", *order = order_text(e->order);
	g_string_append_printf(out, "T%u|", e->thread);
	if (e->kind == MEMORY_FENCE)
		g_string_append_printf(out, "fence(%s)", order);
	else if (is_update(e))
		g_string_append_printf(out, "rmw(%s)=%d>%d;%s", x, (int)e->value,
		                       (int)c->g->events[e->po_next].value, order);
	else
		g_string_append_printf(out, "%s(%s)=%d;%s%s",
		                       e->kind == MEMORY_LOAD ? "ar" : "aw", x, (int)e->value,
		                       order, e->flags & MEMORY_COMPARES ? ",failed" : "");
	g_string_append_printf(out, "|%u\n", line);
}

static void append_row(GString *out, const char *word, uint32_t line, uint32_t store)
{
	g_string_append_printf(out, "#! %s %u ", word, line);
	if (store == NONE)
		g_string_append(out, "-\n");
	else
		g_string_append_printf(out, "%u\n", store);
}

static struct trace *read_text(GString *text)
{
	struct error error;
	struct trace *t = trace_from_text("litmus", text->str, text->len, NULL, &error);
	if (t == NULL) {
		printf("%s: %s\n%s", error.where, error.what, text->str);
		exit(1);
	}
	return t;
}

static struct trace *claim_trace(const struct claim_of *c)
{
	GString *text = g_string_new("#! heddle 1\n#! note memory rc11\n");
	for (uint32_t line = 0; line < c->count; line++) {
		if (is_load(c, line))
			append_row(text, "reads", line, c->reads[line]);
		else if (store_of(c, line) != NONE)
			append_row(text, "after", line, c->after[line]);
	}
	for (uint32_t line = 0; line < c->count; line++)
		append_line(c, line, text);
	struct trace *t = read_text(text);
	g_string_free(text, TRUE);
	return t;
}

static bool checker_says(const struct trace *t, const struct claim_of *c)
{
	GArray *said = g_array_new(FALSE, FALSE, sizeof(struct weak_source));
	GString *reason = g_string_new(NULL);
	for (uint32_t i = 0; i < c->count; i++) {
		uint32_t line = c->sequence[i];
		bool load = is_load(c, line);
		struct weak_source row = { .event = line,
			                   .store = load ? c->reads[line] : c->after[line],
			                   .kind = load ? WEAK_READS : WEAK_AFTER };
		if (load || store_of(c, line) != NONE)
			g_array_append_val(said, row);
	}
	bool good = witness_check_weak(t, (struct event_list){ c->sequence, c->count }, said,
	                               WEAK_RC11, NULL, reason);
	g_string_free(reason, TRUE);
	g_array_free(said, TRUE);
	return good;
}

/* Puts the stores into the modification order that the witness says; false: it says none. */
static bool place_stores(const struct claim_of *c, const uint32_t *at, struct memory_graph *g)
{
	for (uint32_t l = 0; l < g->locations; l++)
		if (g->init[l] != NONE)
			g->events[g->init[l]].mo_next = NONE;
	for (uint32_t i = 0; i < c->count; i++) {
		uint32_t line = c->sequence[i], store = store_of(c, line);
		if (store == NONE)
			continue;
		uint32_t after = is_load(c, line) ? c->reads[line] : c->after[line];
		if (after != NONE && at[after] >= i)
			return false;
		uint32_t previous =
		        after == NONE ? g->init[g->events[store].location] : store_of(c, after);
		g->events[store].mo_prev = previous;
		g->events[store].mo_next = g->events[previous].mo_next;
		g->events[previous].mo_next = store;
		if (g->events[store].mo_next != NONE)
			g->events[g->events[store].mo_next].mo_prev = store;
	}
	return true;
}

/* By the axioms: each thread in its order, each load a store before it that left the value that
 * it saw, and an execution that RC11 allows. */
static bool axioms_say(const struct claim_of *original, const struct claim_of *c,
                       bool *same_values)
{
	struct memory_graph *g = memory_graph_copy(c->g);
	uint32_t at[MOST];
	bool good = true;
	*same_values = true;
	for (uint32_t i = 0; i < c->count; i++)
		at[c->sequence[i]] = i;
	for (uint32_t a = 0; a < c->count; a++) {
		const struct memory_event *e = &c->g->events[c->event[a]];
		for (uint32_t b = a + 1; b < c->count; b++)
			good &= e->thread != c->g->events[c->event[b]].thread || at[a] < at[b];
		uint32_t from = c->reads[a];
		if (e->kind != MEMORY_LOAD)
			continue;
		uint32_t store = from == NONE ? g->init[e->location] : store_of(c, from);
		g->events[c->event[a]].rf = store;
		/* the value that a place has at first is not in a trace */
		if (from != original->reads[a])
			*same_values &= from != NONE && g->events[store].value == e->value;
		good &= from == NONE || at[from] < at[a];
	}
	good &= *same_values;
	good = good && place_stores(c, at, g) && oracle_memory_allows(g, MEMORY_RC11);
	memory_graph_free(g);
	return good;
}

/* A line with a store to the location of the event, or NONE. */
static uint32_t any_store(GRand *r, const struct claim_of *c, uint32_t line)
{
	for (int tries = 0; tries < 20; tries++) {
		uint32_t other = below(r, c->count + 1);
		if (other == c->count)
			return NONE;
		if (other != line && store_of(c, other) != NONE &&
		    c->g->events[c->event[other]].location ==
		            c->g->events[c->event[line]].location)
			return other;
	}
	return NONE;
}

/* Changes it at random; false: it has nothing to change. */
static bool change(GRand *r, enum change how, struct claim_of *c)
{
	uint32_t i = below(r, c->count), line = c->sequence[i];
	if (how == SWAP) {
		if (i == 0)
			return false;
		c->sequence[i] = c->sequence[i - 1];
		c->sequence[i - 1] = line;
		return true;
	}
	bool load = is_load(c, line);
	if (how == READS ? !load : load || store_of(c, line) == NONE)
		return false;
	uint32_t *row = how == READS ? &c->reads[line] : &c->after[line];
	uint32_t before = *row;
	*row = any_store(r, c, line);
	return *row != before;
}

/* ---- which model a run needs ---- */

/* The reads of all graphs of a program under a model, by values, and by their stores. */
struct readings {
	GHashTable *values, *stores; /* char *, owned */
};
static uint64_t needs[3], pasts;

static char *readings_text(const struct memory_graph *g, bool stores)
{
	GString *s = g_string_new(NULL);
	for (uint32_t t = 0; t < g->threads; t++)
		for (uint32_t i = g->first[t]; i != NONE; i = g->events[i].po_next) {
			const struct memory_event *e = &g->events[i];
			if (e->kind != MEMORY_LOAD)
				continue;
			const struct memory_event *from = &g->events[e->rf];
			g_string_append_printf(s, "%u.%u:", t, e->index);
			if (stores)
				g_string_append_printf(s, "%d.%u ", (int)from->thread,
				                       from->thread == NONE ? 0 : from->index);
			else
				g_string_append_printf(s, "%d ", (int)e->value);
		}
	return g_string_free(s, FALSE);
}

static void note_readings(void *context, const struct memory_graph *g,
                          const struct litmus_outcome *outcome)
{
	struct readings *r = context;
	g_hash_table_add(r->values, readings_text(g, false));
	g_hash_table_add(r->stores, readings_text(g, true));
}

static void readings_make(struct readings *r, const struct litmus *l, enum memory_model model)
{
	struct memory_counts counts;
	r->values = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	r->stores = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	litmus_enumerate(l, model, note_readings, r, &counts);
}

static void readings_release(struct readings *r)
{
	g_hash_table_unref(r->values);
	g_hash_table_unref(r->stores);
}

/* An order is found exactly where the model has an execution in which each load reads the same
 * store, or the same value; of SC, the checker takes it. */
static int check_need(const struct trace *t, const struct memory_graph *g,
                      const struct readings of[2])
{
	int failed = 0, more = 0;
	GArray *all = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
	       *none = g_array_new(FALSE, FALSE, sizeof(struct weak_source));
	for (uint32_t e = 0; e < t->events_count; e++)
		g_array_append_val(all, e);
	for (int tso = 0; tso < 2; tso++)
		for (int by_value = 0; by_value < 2; by_value++) {
			enum weak_model model = tso ? WEAK_TSO : WEAK_SC;
			char *text = readings_text(g, !by_value);
			bool expected = g_hash_table_contains(
			        by_value ? of[tso].values : of[tso].stores, text);
			GArray *order = NULL;
			GString *reason = g_string_new(NULL);
			enum reorder_result found =
			        run_reorder(t, all, model, by_value, &order);
			bool good = found == (expected ? REORDER_FOUND : REORDER_NONE);
			if (order && !tso)
				good &= witness_check_weak(t, event_list_of(order), none, model,
				                           NULL, reason);
			if (!good)
				printf("%s, by %s: %s, expected %s %s\n",
				       weak_model_words[model], by_value ? "value" : "store",
				       found == REORDER_FOUND ? "found" : "not found",
				       expected ? "found" : "not found", reason->str);
			failed += !good;
			more += by_value && !expected; /* 1: not SC, 2: not TSO either */
			if (order)
				g_array_free(order, TRUE);
			g_string_free(reason, TRUE);
			g_free(text);
		}
	needs[more]++;
	g_array_free(none, TRUE);
	g_array_free(all, TRUE);
	return failed;
}

/* The past of two events: all events before them by po and rf; it is a run itself. */
static int check_past(GRand *r, const struct trace *t, const struct claim_of *c)
{
	uint32_t of[2] = { below(r, c->count), below(r, c->count) }, expected = 0;
	uint8_t *kept[2] = { memory_prefix(c->g, c->event[of[0]]),
		             memory_prefix(c->g, c->event[of[1]]) };
	GArray *past = run_past(t, of, 2), *said = run_sources(t, past);
	GString *reason = g_string_new(NULL);
	for (uint32_t line = 0; line < c->count; line++)
		expected += kept[0][c->event[line]] || kept[1][c->event[line]];
	bool good = past->len == expected &&
	            witness_check_weak(t, event_list_of(past), said, WEAK_RC11, NULL, reason);
	if (!good)
		printf("the past of %u and %u has %u events, expected %u: %s\n", of[0], of[1],
		       past->len, expected, reason->str);
	pasts += past->len < c->count;
	g_string_free(reason, TRUE);
	g_array_free(past, TRUE);
	g_array_free(said, TRUE);
	g_free(kept[0]);
	g_free(kept[1]);
	return !good;
}

/* ---- one graph ---- */

struct sampling {
	GRand *r;
	uint32_t graphs;
	int failed;
	struct readings of[2]; /* under SC, TSO */
};

static void compare(struct sampling *s, const struct trace *t, const struct claim_of *original,
                    const struct claim_of *c, enum change how)
{
	bool same_values, expected = axioms_say(original, c, &same_values);
	bool said = checker_says(t, c);
	(said ? accepted : refused)[how]++;
	hidden += how == READS && same_values && !expected;
	if (said == expected && (how != KEPT || said))
		return;
	s->failed++;
	printf("%s: the checker %s it, the axioms %s it\n", change_words[how],
	       said ? "accepts" : "refuses", expected ? "allow" : "do not allow");
	GString *out = g_string_new(NULL);
	for (uint32_t i = 0; i < c->count; i++) {
		uint32_t line = c->sequence[i];
		append_line(c, line, out);
		append_row(out, "reads", line, c->reads[line]);
		append_row(out, "after", line, c->after[line]);
	}
	printf("%s", out->str);
	g_string_free(out, TRUE);
}

static void check_graph(void *context, const struct memory_graph *g,
                        const struct litmus_outcome *outcome)
{
	struct sampling *s = context;
	struct claim_of original;
	if (s->graphs >= GRAPHS || below(s->r, 3) || s->failed)
		return;
	s->graphs++;
	make_lines(s->r, g, &original);
	struct trace *t = claim_trace(&original);
	compare(s, t, &original, &original, KEPT);
	s->failed += check_need(t, g, s->of) + check_past(s->r, t, &original);
	for (int i = 0; i < CHANGES && !s->failed; i++) {
		struct claim_of c = original;
		enum change how = (enum change)(1 + below(s->r, CHANGE_COUNT - 1));
		for (uint32_t k = 0; k < 3 && below(s->r, 2); k++)
			change(s->r, SWAP, &c);
		if (change(s->r, how, &c))
			compare(s, t, &original, &c, how);
	}
	trace_close(t);
}

/* ---- TSO ---- */

/* A run of the machine of store buffers: its steps, an arrival where `of` is not NONE. */
struct tso_step {
	uint32_t thread, of; /* of: the step of the store that arrives */
	const struct litmus_op *op;
	uint64_t value; /* that it read */
	bool reads, writes, direct, drains;
};
struct tso_run {
	uint32_t count;
	struct tso_step steps[2 * MOST];
};

/* The store that a load at index `i` of the sequence sees: the newest of its own thread that
 * has not arrived before it, else the last that came into memory; NONE: the initial value. */
static uint32_t tso_sees(const struct tso_run *run, const uint32_t *sequence, uint32_t i)
{
	const struct tso_step *load = &run->steps[sequence[i]];
	uint32_t arrived[2 * MOST], memory = NONE;
	memset(arrived, 0, sizeof arrived);
	for (uint32_t k = 0; k < i; k++) {
		const struct tso_step *s = &run->steps[sequence[k]];
		uint32_t store = s->of != NONE            ? s->of
		                 : s->writes && s->direct ? sequence[k]
		                                          : NONE;
		if (store == NONE || run->steps[store].op->location != load->op->location)
			continue;
		arrived[store] = 1;
		memory = store;
	}
	for (uint32_t k = i; k-- > 0;) {
		const struct tso_step *s = &run->steps[sequence[k]];
		if (s->of == NONE && s->writes && s->thread == load->thread &&
		    s->op->location == load->op->location && !arrived[sequence[k]])
			return sequence[k];
	}
	return memory;
}

static uint64_t tso_stores(const struct tso_step *s)
{
	return s->op->kind == LITMUS_ADD ? s->value + s->op->value : s->op->value;
}

static void tso_do(struct tso_run *run, uint32_t thread, const struct litmus_op *op)
{
	static uint32_t in_order[2 * MOST];
	struct tso_step *s = &run->steps[run->count];
	*s = (struct tso_step){ .thread = thread, .of = NONE, .op = op };
	for (uint32_t i = 0; i < 2 * MOST; i++)
		in_order[i] = i;
	bool locked = op->kind >= LITMUS_EXCHANGE && op->kind <= LITMUS_COMPARE;
	s->reads = locked || op->kind == LITMUS_LOAD;
	if (s->reads) {
		uint32_t from = tso_sees(run, in_order, run->count);
		s->value = from == NONE ? 0 : tso_stores(&run->steps[from]);
	}
	s->writes = op->kind == LITMUS_STORE ||
	            (locked && (op->kind != LITMUS_COMPARE || s->value == op->expected));
	s->direct = s->writes && (locked || op->order == ORDER_SEQ_CST);
	s->drains =
	        locked || s->direct || (op->kind == LITMUS_FENCE && op->order == ORDER_SEQ_CST);
	run->count++;
}

/* The oldest store of the thread that waits, or NONE. */
static uint32_t tso_oldest(const struct tso_run *run, uint32_t thread)
{
	for (uint32_t i = 0; i < run->count; i++) {
		const struct tso_step *s = &run->steps[i];
		bool arrived = s->of != NONE || !s->writes || s->direct;
		for (uint32_t k = i; k < run->count && !arrived; k++)
			arrived = run->steps[k].of == i;
		if (s->thread == thread && !arrived)
			return i;
	}
	return NONE;
}

static void tso_arrive(struct tso_run *run, uint32_t thread)
{
	uint32_t store = tso_oldest(run, thread);
	if (store == NONE)
		return;
	run->steps[run->count++] = (struct tso_step){ .thread = thread, .of = store };
}

static void tso_make(GRand *r, const struct litmus *l, struct tso_run *run)
{
	uint32_t next[LITMUS_THREADS] = { 0 }, left = 0;
	run->count = 0;
	for (uint32_t t = 0; t < l->threads; t++)
		left += l->length[t];
	while (left > 0) {
		uint32_t t = below(r, l->threads);
		const struct litmus_op *op = &l->ops[t][next[t]];
		bool locked = op->kind >= LITMUS_EXCHANGE && op->kind <= LITMUS_COMPARE;
		bool sc = op->order == ORDER_SEQ_CST && op->kind != LITMUS_LOAD;
		if (below(r, 4) == 0) {
			tso_arrive(run, t);
		} else if (next[t] < l->length[t]) {
			while ((locked || sc) && tso_oldest(run, t) != NONE)
				tso_arrive(run, t);
			tso_do(run, t, op);
			next[t]++;
			left--;
		}
	}
	for (uint32_t t = 0; t < l->threads; t++)
		while (tso_oldest(run, t) != NONE)
			tso_arrive(run, t);
}

static struct trace *tso_trace(const struct tso_run *run)
{
	GString *text = g_string_new("#! heddle 1\n#! note memory tso\n");
	for (uint32_t i = 0; i < run->count; i++) {
		const struct tso_step *s = &run->steps[i];
		const char *x = s->of == NONE && s->op->location == 0 ? "x" : "y";
		const char *order = s->of == NONE ? order_text(s->op->order) : "";
		g_string_append_printf(text, "T%u|", s->thread);
		if (s->of != NONE)
			g_string_append_printf(text, "flush(%u)", s->of);
		else if (s->reads && s->writes)
			g_string_append_printf(text, "rmw(%s)=%d>%d;%s", x, (int)s->value,
			                       (int)tso_stores(s), order);
		else if (s->reads && s->op->kind == LITMUS_COMPARE)
			g_string_append_printf(text, "ar(%s)=%d;%s,failed", x, (int)s->value,
			                       order_text(s->op->failure_order));
		else if (s->reads)
			g_string_append_printf(text, "ar(%s)=%d;%s", x, (int)s->value, order);
		else if (s->writes)
			g_string_append_printf(text, "aw(%s)=%d;%s", x, (int)tso_stores(s),
			                       order);
		else
			g_string_append_printf(text, "fence(%s)", order);
		g_string_append_printf(text, "|%u\n", i);
	}
	struct trace *t = read_text(text);
	g_string_free(text, TRUE);
	return t;
}

/* By the definition: threads in their order, stores arrive in theirs and after their steps,
 * none waits where the thread empties its buffer, and each load sees the value that it saw. */
static bool tso_says(const struct tso_run *run, const uint32_t *sequence)
{
	uint32_t at[2 * MOST], in_order[2 * MOST];
	for (uint32_t i = 0; i < run->count; i++)
		at[sequence[i]] = i, in_order[i] = i;
	for (uint32_t a = 0; a < run->count; a++) {
		const struct tso_step *s = &run->steps[a];
		if (s->of != NONE && at[a] < at[s->of])
			return false;
		for (uint32_t b = a + 1; b < run->count; b++) {
			const struct tso_step *z = &run->steps[b];
			bool kind = (s->of == NONE) == (z->of == NONE);
			if (z->thread == s->thread && kind && at[a] > at[b])
				return false;
			/* an arrival that was before a step that drains stays so */
			if (z->thread == s->thread && s->of != NONE && z->of == NONE &&
			    z->drains && at[a] > at[b])
				return false;
		}
		if (!s->reads || s->of != NONE)
			continue;
		uint32_t now = tso_sees(run, sequence, at[a]),
		         then = tso_sees(run, in_order, a);
		if (now != then && (now == NONE || tso_stores(&run->steps[now]) != s->value))
			return false;
	}
	return true;
}

static int check_tso(GRand *r, const struct litmus *l)
{
	struct tso_run run;
	int failed = 0;
	tso_make(r, l, &run);
	struct trace *t = tso_trace(&run);
	GArray *none = g_array_new(FALSE, FALSE, sizeof(struct weak_source));
	for (int i = 0; i < CHANGES && !failed; i++) {
		uint32_t sequence[2 * MOST], changes = i == 0 ? 0 : 1 + below(r, 4);
		for (uint32_t k = 0; k < run.count; k++)
			sequence[k] = k;
		for (uint32_t k = 0; k < changes; k++) {
			uint32_t from = below(r, run.count), to = below(r, run.count);
			uint32_t moved = sequence[from];
			int towards = from < to ? 1 : -1;
			for (; from != to; from = (uint32_t)((int)from + towards))
				sequence[from] = sequence[(int)from + towards];
			sequence[to] = moved;
		}
		GString *reason = g_string_new(NULL);
		bool said = witness_check_weak(t, (struct event_list){ sequence, run.count },
		                               none, WEAK_TSO, NULL, reason);
		bool expected = tso_says(&run, sequence);
		(said ? accepted : refused)[i == 0 ? KEPT : SWAP]++;
		if (said != expected || (i == 0 && !said)) {
			failed++;
			printf("tso: the checker %s it, the definition %s it (%s):",
			       said ? "accepts" : "refuses",
			       expected ? "allows" : "does not allow", reason->str);
			for (uint32_t k = 0; k < run.count; k++)
				printf(" %u", sequence[k]);
			printf("\n");
			trace_write(t, "/dev/stdout", TRACE_TEXT, NULL, NULL,
			            &(struct error){ 0 });
		}
		g_string_free(reason, TRUE);
	}
	g_array_free(none, TRUE);
	trace_close(t);
	return failed;
}

/* Every store leaves the same value, so that a load could read any of them; in some programs
 * all is seq_cst, or the fences alone, or fences acquire and release and all else is
 * relaxed. */
static void make_equal(struct litmus *l, int kind)
{
	static const enum memory_order_kind accesses[] = { 0, ORDER_SEQ_CST, ORDER_RLX,
		                                           ORDER_RLX };
	static const enum memory_order_kind fences[] = { 0, ORDER_SEQ_CST, ORDER_SEQ_CST,
		                                         ORDER_ACQ_REL };
	for (uint32_t t = 0; t < l->threads; t++)
		for (uint32_t i = 0; i < l->length[t]; i++) {
			struct litmus_op *op = &l->ops[t][i];
			op->value = op->expected = 1;
			if (op->kind == LITMUS_ADD)
				op->kind = kind < 2 ? LITMUS_EXCHANGE : LITMUS_FENCE;
			if (kind > 0)
				op->order = op->failure_order = op->kind == LITMUS_FENCE
				                                        ? fences[kind]
				                                        : accesses[kind];
		}
}

/* Shapes that chance makes too seldom, in which each rule hides the first store from a load. */
static const char *const shapes[] = {
	"x=1;x=1;y=1 rel|a=y acq;b=x",           "x=1;x=1;F rel;y=1|a=y acq;b=x",
	"x=1;x=1;y=1 rel|a=y;F acq;b=x",         "x=1;x=1;F rel;y=1|a=y;F acq;b=x",
	"x=1;x=1;y=1 rel|a=y<1|b=y acq;c=x",     "x=1;x=1;y=1 rel;y=1|b=y acq;c=x",
	"x=1;x=1;F sc;a=y|y=1;y=1;F sc;b=x",     "x=1;x=1 sc;a=y sc|y=1;y=1 sc;b=x sc",
	"x=1;x=1|a=x;F sc;b=y|y=1;y=1;F sc;c=x",
};

static int check_program(GRand *r, const struct litmus *l)
{
	struct memory_counts counts;
	struct sampling s = { .r = r };
	readings_make(&s.of[0], l, MEMORY_SC);
	readings_make(&s.of[1], l, MEMORY_TSO);
	litmus_enumerate(l, MEMORY_RC11, check_graph, &s, &counts);
	readings_release(&s.of[0]);
	readings_release(&s.of[1]);
	int failed = s.failed + check_tso(r, l);
	char *text = litmus_text(l);
	if (failed)
		printf("of %s\n", text);
	g_free(text);
	return failed;
}

int main(void)
{
	const char *given = g_getenv("HEDDLE_TRACES"), *seed = g_getenv("HEDDLE_SEED");
	int cases = given ? atoi(given) : CASES, failed = 0;
	GRand *r = g_rand_new_with_seed(seed ? (guint32)strtoul(seed, NULL, 10) : 1);
	for (int i = 0; i < cases && failed == 0; i++) {
		struct litmus l;
		litmus_random(r, LITMUS_STRAIGHT, &l);
		if (i % 5)
			make_equal(&l, i % 5 - 1);
		if (i % 25 == 0)
			litmus_parse(&l, shapes[(size_t)i / 25 % G_N_ELEMENTS(shapes)]);
		failed += check_program(r, &l);
	}
	g_rand_free(r);
	bool all = hidden > 0 && needs[1] > 0 && needs[2] > 0 && pasts > 0;
	printf("%lu runs need rc11, %lu tso, %lu neither; %lu pasts\n", (unsigned long)needs[2],
	       (unsigned long)needs[1], (unsigned long)needs[0], (unsigned long)pasts);
	for (int how = 0; how < CHANGE_COUNT; how++) {
		printf("%s: %lu accepted, %lu refused\n", change_words[how],
		       (unsigned long)accepted[how], (unsigned long)refused[how]);
		all &= accepted[how] > 0 && (how == KEPT || refused[how] > 0);
	}
	printf("%lu loads read a store of the same value that is hidden from them\n",
	       (unsigned long)hidden);
	return failed != 0 || (cases >= CASES && !all);
}
