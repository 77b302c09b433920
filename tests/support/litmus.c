/* litmus.c - see litmus.h. */
#include "tests/support/litmus.h"

#include <stdlib.h>
#include <string.h>

/* ---- as text ---- */

static const char *const orders[] = { "plain", "rlx", "acq", "rel", "acq_rel", "sc" };
static const char locations[] = "xyzm";

const char *const litmus_words[] = {
	[LITMUS_LOCK] = "lock",         [LITMUS_UNLOCK] = "unlock",
	[LITMUS_POST] = "post",         [LITMUS_TAKE] = "take",
	[LITMUS_TRY] = "try",           [LITMUS_RDLOCK] = "rdlock",
	[LITMUS_RDUNLOCK] = "rdunlock", [LITMUS_TRYRD] = "tryrd",
	[LITMUS_TRYTAKE] = "trytake",   [LITMUS_WAIT] = "wait",
	[LITMUS_WAKE] = "wake",         [LITMUS_WAKE_TIMED] = "wake-timed",
	[LITMUS_SIGNAL] = "signal",     [LITMUS_BROADCAST] = "broadcast",
	[LITMUS_ARRIVE] = "arrive",     [LITMUS_DEPART] = "depart",
	[LITMUS_ONCE] = "once",         [LITMUS_ONCE_END] = "once-end",
};

static bool is_library(const struct litmus_op *op)
{
	return op->kind >= LITMUS_LOCK;
}

static enum memory_order_kind parse_order(const char *word)
{
	for (unsigned i = 0; i < G_N_ELEMENTS(orders); i++)
		if (strcmp(word, orders[i]) == 0)
			return (enum memory_order_kind)i;
	BUG("no order: %s", word);
}

static uint32_t parse_location(char c)
{
	const char *at = strchr(locations, c);
	BUG_ON(c == '\0' || at == NULL);
	return (uint32_t)(at - locations);
}

/* "x=1", or "a=x..." */
static void parse_access(struct litmus_op *op, const char *text)
{
	BUG_ON(text[1] != '=');
	if (g_ascii_isdigit(text[2])) {
		op->kind = LITMUS_STORE;
		op->location = parse_location(text[0]);
		op->value = strtoull(text + 2, NULL, 10);
		return;
	}
	char *end = NULL;
	op->result = (uint32_t)(text[0] - 'a');
	op->location = parse_location(text[2]);
	const char *rest = text + 3;
	op->kind = *rest == '\0'  ? LITMUS_LOAD
	           : *rest == '+' ? LITMUS_ADD
	           : *rest == '<' ? LITMUS_EXCHANGE
	                          : LITMUS_COMPARE;
	if (op->kind == LITMUS_LOAD)
		return;
	op->value = strtoull(rest + 1, &end, 10);
	if (op->kind != LITMUS_COMPARE)
		return;
	BUG_ON(*rest != '?' || *end != ':');
	op->expected = op->value;
	op->value = strtoull(end + 1, NULL, 10);
}

static void parse_op(struct litmus_op *op, const char *text)
{
	char **words = g_strsplit(text, " ", -1), **w = words;
	op->order = op->failure_order = ORDER_RLX;
	if (strcmp(*w, "F") == 0) {
		op->kind = LITMUS_FENCE;
	} else if (strchr(*w, '=') == NULL) {
		unsigned kind = LITMUS_LOCK;
		while (kind < G_N_ELEMENTS(litmus_words) && strcmp(*w, litmus_words[kind]) != 0)
			kind++;
		BUG_ON(kind == G_N_ELEMENTS(litmus_words));
		op->kind = (enum litmus_kind)kind;
		op->location = parse_location(**++w);
	} else {
		parse_access(op, *w);
	}
	if (w[1] != NULL)
		op->order = parse_order(w[1]);
	if (w[1] != NULL && w[2] != NULL)
		op->failure_order = parse_order(w[2]);
	g_strfreev(words);
}

void litmus_parse(struct litmus *l, const char *text)
{
	memset(l, 0, sizeof *l);
	char **threads = g_strsplit(text, "|", -1);
	for (char **t = threads; *t; t++) {
		char **ops = g_strsplit(*t, ";", -1);
		uint32_t thread = l->threads++;
		for (char **o = ops; *o; o++)
			parse_op(&l->ops[thread][l->length[thread]++], g_strstrip(*o));
		g_strfreev(ops);
	}
	g_strfreev(threads);
}

static void append_op(GString *s, const struct litmus_op *o)
{
	char result = (char)('a' + o->result), at = locations[o->location];
	if (o->when)
		g_string_append_printf(s, "if %c=%d ", 'a' + (int)o->when - 1,
		                       (int)o->when_value);
	static const char *const formats[] = {
		[LITMUS_LOAD] = "%c=%c",
		[LITMUS_EXCHANGE] = "%c=%c<%d",
		[LITMUS_ADD] = "%c=%c+%d",
		[LITMUS_COMPARE] = "%c=%c?",
	};
	if (o->kind == LITMUS_FENCE)
		g_string_append(s, "F");
	else if (is_library(o))
		g_string_append_printf(s, "%s %c", litmus_words[o->kind], at);
	else if (o->kind == LITMUS_STORE)
		g_string_append_printf(s, "%c=%d", at, (int)o->value);
	else if (o->kind == LITMUS_COMPARE)
		g_string_append_printf(s, "%c=%c?%d:%d", result, at, (int)o->expected,
		                       (int)o->value);
	else if (o->kind == LITMUS_LOAD)
		g_string_append_printf(s, "%c=%c", result, at);
	else
		g_string_append_printf(s, formats[o->kind], result, at, (int)o->value);
	if (o->kind == LITMUS_ARRIVE && o->expected == 1)
		g_string_append(s, " unseen");
	if (o->plus)
		g_string_append_printf(s, "+%c", 'a' + (int)o->plus - 1);
	g_string_append_printf(s, " %s", orders[o->order]);
	if (o->kind == LITMUS_COMPARE)
		g_string_append_printf(s, " %s", orders[o->failure_order]);
}

char *litmus_text(const struct litmus *l)
{
	GString *s = g_string_new(NULL);
	for (uint32_t t = 0; t < l->threads; t++) {
		g_string_append(s, t > 0 ? " | " : "");
		for (uint32_t i = 0; i < l->length[t]; i++) {
			g_string_append(s, i > 0 ? "; " : "");
			append_op(s, &l->ops[t][i]);
		}
	}
	return g_string_free(s, FALSE);
}

/* ---- interpreted ---- */

struct machine {
	const struct litmus *l;
	litmus_seen *seen;
	void *context;
};

/* A thread after its events in the graph. */
struct state {
	uint64_t registers[LITMUS_REGISTERS];
	uint32_t op;      /* the next one */
	bool store_to_do; /* of a read-modify-write whose load is done */
};

static bool is_done(const struct litmus_op *op, const uint64_t *registers)
{
	return op->when == 0 || registers[op->when - 1] == op->when_value;
}

/* An operation of the library with a load: its guard, flags and orders. */
struct library {
	enum memory_guard guard;
	uint16_t flags;
	uint8_t success_order, failure_order, store_order;
};
static const struct library library[LITMUS_ONCE_END + 1] = {
#define TAKES(guard, flags) \
	{ \
		guard, flags, ORDER_ACQ, ORDER_RLX, ORDER_ACQ \
	}
#define RELEASES \
	{ \
		MEMORY_ANY, MEMORY_UPDATES, ORDER_RLX, ORDER_RLX, ORDER_REL \
	}
#define CONDITION(flags) \
	{ \
		MEMORY_ANY, MEMORY_UPDATES | MEMORY_UNORDERED | (flags), ORDER_RLX, ORDER_RLX, \
		        ORDER_RLX \
	}
	[LITMUS_LOCK] = TAKES(MEMORY_FREE, 0),
	[LITMUS_TRY] = TAKES(MEMORY_FREE, MEMORY_TRIES),
	[LITMUS_RDLOCK] = TAKES(MEMORY_NO_WRITER, MEMORY_SHARED),
	[LITMUS_TRYRD] = TAKES(MEMORY_NO_WRITER, MEMORY_SHARED | MEMORY_TRIES),
	[LITMUS_TAKE] = TAKES(MEMORY_SOME, 0),
	[LITMUS_TRYTAKE] = TAKES(MEMORY_SOME, MEMORY_TRIES),
	[LITMUS_ONCE] = { MEMORY_NOT_RUNNING, 0, ORDER_ACQ, ORDER_ACQ, ORDER_ACQ },
	[LITMUS_POST] = RELEASES,
	[LITMUS_RDUNLOCK] = RELEASES,
	[LITMUS_ARRIVE] = RELEASES,
	[LITMUS_WAIT] = CONDITION(0),
	[LITMUS_WAKE_TIMED] = CONDITION(0),
	[LITMUS_BROADCAST] = CONDITION(0),
	[LITMUS_SIGNAL] = CONDITION(MEMORY_CHOOSES),
};

bool litmus_has_rounds(const struct litmus *l, const struct litmus_op *arrival)
{
	uint32_t threads = 0;
	uint64_t most = 0;
	for (uint32_t t = 0; t < l->threads; t++) {
		bool arrives = false;
		for (uint32_t i = 0; i < l->length[t]; i++) {
			const struct litmus_op *o = &l->ops[t][i];
			if (o->kind != LITMUS_ARRIVE || o->location != arrival->location)
				continue;
			arrives = true;
			most = MAX(most, o->value);
		}
		threads += arrives;
	}
	return threads <= most;
}

static bool is_update(const struct litmus_op *op)
{
	return op->kind == LITMUS_EXCHANGE || op->kind == LITMUS_ADD ||
	       op->kind == LITMUS_COMPARE || library[op->kind].success_order != 0;
}

/* The program's result of a load. */
static void take_result(const struct litmus_op *op, const struct memory_event *e,
                        uint64_t *registers)
{
	bool updates = e->flags & MEMORY_EXCLUSIVE;
	if (!is_library(op))
		registers[op->result] = e->value;
	else if ((e->flags & MEMORY_TRIES) || op->kind == LITMUS_ONCE)
		registers[op->result] = updates;
	else if (op->kind == LITMUS_WAKE_TIMED)
		registers[op->result] = e->value >> e->thread & 1;
}

/* The end of a wait at a barrier shows whether the arrival, right before it, was the last. */
static void take_last(const struct litmus_op *op, const struct memory_graph *g,
                      const struct memory_event *e, uint64_t *registers)
{
	if (op->kind == LITMUS_DEPART && op->expected == 1)
		return;
	if (e->kind == MEMORY_DEPART)
		registers[op->result] = g->events[e->rf].thread == e->thread;
	else if (op->kind == LITMUS_DEPART && e->kind == MEMORY_WAKE)
		registers[op->result] = g->events[e->po_prev].value == 0;
}

static void run_to(const struct litmus *l, const struct memory_graph *g, uint32_t thread,
                   struct state *s)
{
	memset(s, 0, sizeof *s);
	uint32_t event = thread < g->threads ? g->first[thread] : NONE;
	for (;; s->op++) {
		while (s->op < l->length[thread] &&
		       !is_done(&l->ops[thread][s->op], s->registers))
			s->op++;
		if (event == NONE)
			return;
		const struct litmus_op *op = &l->ops[thread][s->op];
		const struct memory_event *e = &g->events[event];
		if (e->kind == MEMORY_LOAD)
			take_result(op, e, s->registers);
		take_last(op, g, e, s->registers);
		event = e->po_next;
		if (e->kind != MEMORY_LOAD || !is_update(op) || !(e->flags & MEMORY_EXCLUSIVE))
			continue;
		if (event == NONE) {
			s->store_to_do = true;
			return;
		}
		event = g->events[event].po_next;
	}
}

/* `read`: the load of an update. */
static uint64_t stored(const struct litmus_op *op, const uint64_t *registers,
                       const struct memory_event *read)
{
	uint64_t value = op->value + (op->plus ? registers[op->plus - 1] : 0);
	uint64_t own = read ? (uint64_t)1 << read->thread : 0, now = read ? read->value : 0;
	switch (op->kind) {
	case LITMUS_ADD:
		return registers[op->result] + value;
	case LITMUS_LOCK:
	case LITMUS_TRY:
		return MEMORY_WRITER;
	case LITMUS_UNLOCK:
	case LITMUS_BROADCAST:
		return 0;
	case LITMUS_POST:
	case LITMUS_RDLOCK:
	case LITMUS_TRYRD:
		return now + 1;
	case LITMUS_TAKE:
	case LITMUS_TRYTAKE:
	case LITMUS_RDUNLOCK:
		return now - 1;
	case LITMUS_WAIT:
		return now | own;
	case LITMUS_WAKE_TIMED:
		return now & ~own;
	case LITMUS_SIGNAL:
		return read->choice < MEMORY_CHOICES ? now & ~((uint64_t)1 << read->choice) : 0;
	case LITMUS_ARRIVE:
		return now + 1 == op->value ? 0 : now + 1;
	case LITMUS_ONCE:
		return MEMORY_ONCE_RUNS;
	case LITMUS_ONCE_END:
		return MEMORY_ONCE_DONE;
	default:
		return value;
	}
}

/* An operation at a barrier whose arrivals are rounds. */
static enum memory_step next_at_barrier(const struct litmus_op *op, struct memory_event *e)
{
	bool arrives = op->kind == LITMUS_ARRIVE;
	e->kind = arrives ? MEMORY_ARRIVE : MEMORY_DEPART;
	e->location = NONE;
	e->peer = op->location;
	e->expected = op->value;
	e->flags |= arrives && op->expected == 1 ? MEMORY_UNSEEN : 0;
	e->order = arrives ? ORDER_REL : ORDER_ACQ;
	return MEMORY_STEP_EVENT;
}

static enum memory_step next_of_library(const struct litmus *program,
                                        const struct litmus_op *op, struct memory_event *e)
{
	const struct library *l = &library[op->kind];
	bool barrier = op->kind == LITMUS_ARRIVE || op->kind == LITMUS_DEPART;
	if (barrier && litmus_has_rounds(program, op))
		return next_at_barrier(op, e);
	bool condition = op->kind == LITMUS_WAKE;
	if (condition || op->kind == LITMUS_DEPART) {
		e->kind = MEMORY_WAKE;
		e->location = NONE;
		e->peer = op->location;
		e->expected = condition ? (uint64_t)1 << e->thread : UINT64_MAX;
		e->order = condition ? ORDER_RLX : ORDER_ACQ;
		return MEMORY_STEP_EVENT;
	}
	e->flags |= MEMORY_LIBRARY;
	e->order = e->kind == MEMORY_LOAD  ? l->success_order
	           : l->success_order != 0 ? l->store_order
	                                   : ORDER_REL;
	if (e->kind == MEMORY_LOAD) {
		e->flags |= l->flags;
		e->guard = (uint8_t)l->guard;
		e->success_order = l->success_order;
		e->failure_order = l->failure_order;
	}
	return MEMORY_STEP_EVENT;
}

static enum memory_step next(void *context, const struct memory_graph *g, uint32_t thread,
                             struct memory_event *e)
{
	const struct litmus *l = ((struct machine *)context)->l;
	struct state s;
	run_to(l, g, thread, &s);
	if (s.op >= l->length[thread])
		return MEMORY_STEP_NONE;
	const struct litmus_op *op = &l->ops[thread][s.op];
	uint32_t last = thread < g->threads ? g->last[thread] : NONE;
	bool stores = op->kind == LITMUS_STORE || op->kind == LITMUS_UNLOCK ||
	              op->kind == LITMUS_ONCE_END;
	e->order = e->success_order = (uint8_t)op->order;
	e->failure_order = (uint8_t)op->failure_order;
	e->location = op->kind == LITMUS_FENCE ? NONE : op->location;
	if (op->kind == LITMUS_FENCE) {
		e->kind = MEMORY_FENCE;
	} else if (s.store_to_do || stores) {
		e->kind = MEMORY_STORE;
		e->value = stored(op, s.registers, s.store_to_do ? &g->events[last] : NULL);
		e->flags |= s.store_to_do ? MEMORY_EXCLUSIVE : 0;
	} else {
		e->kind = MEMORY_LOAD;
		e->expected = op->expected;
		if (op->kind == LITMUS_COMPARE)
			e->flags |= MEMORY_COMPARES;
		else if (!is_library(op) && is_update(op))
			e->flags |= MEMORY_UPDATES;
	}
	return is_library(op) ? next_of_library(l, op, e) : MEMORY_STEP_EVENT;
}

static uint32_t thread_count(void *context, const struct memory_graph *g)
{
	return ((struct machine *)context)->l->threads;
}

static uint64_t initial(void *context, uint32_t location)
{
	return 0;
}

static bool visit(void *context, const struct memory_graph *g, bool blocked)
{
	const struct machine *m = context;
	struct litmus_outcome outcome = { 0 };
	if (blocked)
		return true;
	for (uint32_t t = 0; t < m->l->threads; t++) {
		struct state s;
		run_to(m->l, g, t, &s);
		memcpy(outcome.registers[t], s.registers, sizeof s.registers);
	}
	for (uint32_t i = 0; i < g->locations; i++)
		if (g->init[i] != NONE)
			outcome.memory[i] = g->events[memory_newest(g, i)].value;
	m->seen(m->context, g, &outcome);
	return true;
}

void litmus_enumerate(const struct litmus *l, enum memory_model model, litmus_seen *seen,
                      void *context, struct memory_counts *counts)
{
	struct machine machine = { l, seen, context };
	struct memory_program program = { .context = &machine,
		                          .threads = thread_count,
		                          .next = next,
		                          .initial = initial,
		                          .visit = visit };
	BUG_ON(!memory_enumerate(&program, model, counts));
}
