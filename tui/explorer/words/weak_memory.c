/* weak_memory.c - see weak_memory.h. */
#include "tui/explorer/words/weak_memory.h"
#include "engine/trace/own_code.h"
#include "engine/explore/explore.h"
#include "engine/trace/shown.h"
#include "tui/explorer/messages.h"
#include "tui/explorer/schedule.h"

#include <string.h>

enum { LOOK_BACK = 4000, STORES_SHOWN = 12 };

bool weak_memory_allows(const struct session *s, const char *what, struct error *error)
{
	return !s->weak || refuse(error, NO_WEAK_ORDERS, what);
}

/* ---- stores ---- */

static const char *thread_of(const struct trace *t, uint32_t event)
{
	return trace_thread_name(t, t->events[event].thread);
}

static void append_place(const struct trace *t, uint32_t event, GString *out)
{
	const char *name = own_code_place_name(t, event);
	append_escaped(out, name, strlen(name));
}

/* append_place beside another event's: in its file, only the line, after `before`. */
static void append_place_beside(const struct trace *t, uint32_t event, uint32_t other,
                                const char *before, GString *out)
{
	g_autofree char *a = g_strdup(own_code_place_name(t, event)),
	                *b = g_strdup(own_code_place_name(t, other));
	char *line_a = strrchr(a, ':'), *line_b = strrchr(b, ':');
	bool same = line_a && line_b && line_a - a == line_b - b &&
	            strncmp(a, b, (size_t)(line_a - a)) == 0;
	if (same)
		g_string_append_printf(out, "%s%s", before, line_a + 1);
	else
		append_escaped(out, a, strlen(a));
}

static void append_written(const struct trace *t, uint32_t store, GString *out)
{
	const struct event *x = &t->events[store];
	uint32_t value = schedule_written_value(t, x);
	if (value)
		shown_append(t, shown_variable(x), value, store, out);
	else
		g_string_append(out, "a value");
}

/* "1 by T1 (mp.c:5)" */
static void append_store(const struct trace *t, uint32_t store, GString *out)
{
	if (store == NONE) {
		g_string_append(out, "the initial value");
		return;
	}
	append_written(t, store, out);
	g_string_append_printf(out, " by %s (", thread_of(t, store));
	append_place(t, store, out);
	g_string_append_c(out, ')');
}

static bool is_store(const struct event *x)
{
	return op_is_access(x->op) && op_writes(x->op) && !event_inert(x);
}

/* An atomic access of one variable. */
static bool is_plain_atomic(const struct event *x)
{
	return op_is_access(x->op) && op_is_atomic(x->op) && !event_inert(x) &&
	       !(x->flags & EVENT_WIDE);
}

/* ---- TSO ---- */

/* The arrival of the store in memory: its FLUSH, the store itself when it arrives at once,
 * NONE: never. */
static uint32_t arrival(const struct session *s, uint32_t store)
{
	const struct trace *t = s->trace;
	const struct event *x = &t->events[store];
	if (x->op == OP_RMW || (x->op == OP_AWRITE && event_order(x) == ORDER_SEQ_CST))
		return store;
	struct event_list list = trace_thread_events(t, x->thread);
	uint64_t i = event_list_before(list, store + 1);
	for (uint64_t end = MIN(list.count, i + LOOK_BACK); i < end; i++) {
		const struct event *y = &t->events[list.items[i]];
		if (y->op == OP_FLUSH && y->aux >= store)
			return y->aux == store ? list.items[i] : NONE;
	}
	return NONE;
}

/* The stores of a thread that wait after `event`, the oldest first; uint32_t, owned. */
static GArray *buffer_of(const struct session *s, uint32_t thread, uint32_t event)
{
	const struct trace *t = s->trace;
	GArray *stores = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	struct event_list list = trace_thread_events(t, thread);
	uint64_t end = event_list_before(list, event + 1);
	uint32_t last = NONE; /* that has arrived */
	for (uint64_t i = end; i > 0 && end - i < LOOK_BACK; i--) {
		const struct event *x = &t->events[list.items[i - 1]];
		if (x->op == OP_FLUSH && last == NONE)
			last = x->aux;
		if (last != NONE && list.items[i - 1] <= last)
			break;
		if (is_store(x) && arrival(s, list.items[i - 1]) != list.items[i - 1])
			g_array_prepend_val(stores, list.items[i - 1]);
	}
	return stores;
}

static void add_row(GArray *rows, enum style style, GString *text)
{
	struct state_row row = { style, g_string_free(text, FALSE), NULL };
	g_array_append_val(rows, row);
}

static void add_buffers(const struct app *app, GArray *rows)
{
	const struct session *s = app->session;
	const struct trace *t = s->trace;
	for (uint32_t u = 0; u < t->threads_count; u++) {
		if (s->hidden[u])
			continue;
		g_autoptr(GArray) stores = buffer_of(s, u, s->event);
		GString *text = g_string_new(trace_thread_name(t, u));
		g_string_append(text, stores->len ? "  ▸" : "  empty");
		for (guint i = 0; i < stores->len && i < STORES_SHOWN; i++) {
			uint32_t store = g_array_index(stores, uint32_t, i);
			g_string_append(text, i ? ", " : " ");
			describe_operand(t, store, text);
			g_string_append(text, " = ");
			append_written(t, store, text);
			g_string_append(text, " (");
			append_place(t, store, text);
			g_string_append_c(text, ')');
		}
		if (stores->len > STORES_SHOWN)
			g_string_append_printf(text, ", and %u more",
			                       stores->len - STORES_SHOWN);
		add_row(rows, style_of_thread(u), text);
	}
}

/* ---- RC11 ---- */

/* The stores to the variable up to `event`, in modification order; uint32_t, owned. */
static GArray *modification_order(const struct session *s, uint32_t variable, uint32_t event)
{
	const struct trace *t = s->trace;
	GArray *order = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	struct event_list list = event_list_at(&t->index->variable_events, variable);
	uint64_t end = event_list_before(list, event + 1);
	for (uint64_t i = end > LOOK_BACK ? end - LOOK_BACK : 0; i < end; i++) {
		uint32_t e = list.items[i];
		const struct event *x = &t->events[e];
		if (!is_store(x))
			continue;
		uint32_t newest =
		        order->len ? g_array_index(order, uint32_t, order->len - 1) : NONE;
		uint32_t after = x->op == OP_RMW ? trace_writers(t, e).items[0]
		                                 : trace_weak_store(t, e, WEAK_AFTER, newest);
		guint to = 0;
		while (after != NONE && to < order->len &&
		       g_array_index(order, uint32_t, to++) != after)
			;
		g_array_insert_val(order, to, e);
	}
	return order;
}

static void add_order(const struct app *app, GArray *rows)
{
	const struct session *s = app->session;
	const struct trace *t = s->trace;
	const struct event *x = &t->events[s->event];
	if (!is_plain_atomic(x))
		return;
	g_autoptr(GArray) order = modification_order(s, x->target, s->event);
	uint32_t read = op_reads(x->op) ? trace_writers(t, s->event).items[0] : s->event;
	bool passed = false;
	guint skip = order->len > STORES_SHOWN ? order->len - STORES_SHOWN : 0;
	for (guint i = 0; i <= order->len; i++) {
		uint32_t store = i ? g_array_index(order, uint32_t, i - 1) : NONE;
		bool here = op_reads(x->op) && store == read, mine = store == s->event && i;
		GString *text = g_string_new(here ? "● " : mine ? "▸ " : "  ");
		append_store(t, store, text);
		if (here)
			g_string_append_printf(text, "   %s reads it", thread_of(t, s->event));
		else if (passed && !mine)
			g_string_append(text, "   passed over");
		passed |= here;
		if (i > 0 && i <= skip && !here)
			g_string_free(text, TRUE);
		else
			add_row(rows, here || mine ? STYLE_HERE : STYLE_TEXT, text);
	}
}

/* ---- what was passed over ---- */

/* A load that does not see the last store, and the store that it passed over. */
struct passing {
	uint32_t load, from; /* from: the store that it sees; NONE: the initial value */
	uint32_t store;
	/* A store of the same thread after it that the load's thread has read before: it could
	 * have published the store; NONE: none. */
	uint32_t later, seen; /* the load that read `later` */
	bool releases, acquires;
};

/* Does the thread have a releasing, or acquiring, fence in between? */
static bool has_fence(const struct trace *t, uint32_t from, uint32_t to, bool acquires)
{
	for (uint32_t e = trace_next(t, from); e != NONE && e < to; e = trace_next(t, e)) {
		const struct event *x = &t->events[e];
		if (x->op == OP_FENCE && (acquires ? order_acquires(event_order(x))
		                                   : order_releases(event_order(x))))
			return true;
	}
	return false;
}

static void find_carrier(const struct trace *t, struct passing *p)
{
	uint32_t e = trace_previous(t, p->load);
	for (int n = 0; e != NONE && n < LOOK_BACK; n++, e = trace_previous(t, e)) {
		const struct event *x = &t->events[e];
		if (!is_plain_atomic(x) || !op_reads(x->op))
			continue;
		uint32_t from = trace_writers(t, e).items[0];
		if (from == NONE || from <= p->store ||
		    t->events[from].thread != t->events[p->store].thread)
			continue;
		p->later = from;
		p->seen = e;
		p->releases = order_releases(event_order(&t->events[from])) ||
		              has_fence(t, p->store, from, false);
		p->acquires = order_acquires(event_order(x)) || has_fence(t, e, p->load, true);
		return;
	}
}

/* The newest store by another thread before the load that it could have seen and did not. */
static bool find_passing(const struct session *s, uint32_t event, struct passing *p)
{
	const struct trace *t = s->trace;
	const struct event *x = &t->events[event];
	*p = (struct passing){ event, NONE, NONE, NONE, NONE, false, false };
	if (!op_is_access(x->op) || event_inert(x) || !op_reads(x->op) ||
	    (x->flags & EVENT_WIDE) || x->op == OP_RMW)
		return false;
	p->from = trace_writers(t, event).items[0];
	if (trace_model(t) == WEAK_RC11) {
		g_autoptr(GArray) order = modification_order(s, x->target, event);
		uint32_t last =
		        order->len ? g_array_index(order, uint32_t, order->len - 1) : NONE;
		p->store = last != p->from ? last : NONE;
	} else {
		struct event_list list = event_list_at(&t->index->variable_events, x->target);
		uint64_t i = event_list_before(list, event);
		for (int n = 0; i-- > 0 && n < LOOK_BACK && p->store == NONE; n++) {
			const struct event *y = &t->events[list.items[i]];
			if (is_store(y) && y->thread != x->thread && list.items[i] != p->from &&
			    arrival(s, list.items[i]) > event)
				p->store = list.items[i];
		}
	}
	if (p->store == NONE)
		return false;
	if (trace_model(t) == WEAK_RC11)
		find_carrier(t, p);
	return true;
}

void weak_memory_append_brief(const struct session *s, uint32_t event, GString *out)
{
	struct passing p;
	if (!s->weak || !find_passing(s, event, &p))
		return;
	g_string_append(out, ", not ");
	append_store(s->trace, p.store, out);
}

static void append_variable(const struct trace *t, uint32_t event, GString *out)
{
	struct wide run = event_variables(t, &t->events[event]);
	own_code_append_name(trace_variable_name(t, run.first), out);
}

static GString *line(const char *beginning)
{
	return g_string_new(beginning);
}

/* ---- what is against it ---- */

/* An atomic access, and the order that it would need. */
struct remedy {
	uint32_t event;
	enum memory_order_kind order;
};
struct remedies {
	struct remedy list[4];
	guint count;
	bool fences; /* seq_cst: fences between each thread's two accesses would do, too */
};

static void remedy_add(struct remedies *r, uint32_t event, enum memory_order_kind order)
{
	if (event != NONE)
		r->list[r->count++] = (struct remedy){ event, order };
}

/* The nearest atomic access of another variable by the event's thread: a store before it, or
 * a load after it; or NONE. */
static uint32_t beside(const struct trace *t, uint32_t event, bool after)
{
	uint32_t e = after ? trace_next(t, event) : trace_previous(t, event);
	for (int n = 0; e != NONE && n < LOOK_BACK; n++) {
		const struct event *x = &t->events[e];
		if (is_plain_atomic(x) && x->target != t->events[event].target &&
		    (after ? op_reads(x->op) : op_writes(x->op)))
			return e;
		e = after ? trace_next(t, e) : trace_previous(t, e);
	}
	return NONE;
}

/* Would a store of the same thread that was read before publish it, with other orders? */
static bool is_carried(const struct passing *p)
{
	return p->later != NONE && !(p->releases && p->acquires);
}

/* Orders that forbid the passing: each thread's store and later load seq_cst, or release and
 * acquire for the store that could publish and its load. */
static void find_remedies(const struct trace *t, const struct passing *p, struct remedies *r)
{
	*r = (struct remedies){ .fences = !is_carried(p) };
	if (!r->fences) {
		remedy_add(r, p->releases ? NONE : p->later, ORDER_REL);
		remedy_add(r, p->acquires ? NONE : p->seen, ORDER_ACQ);
		return;
	}
	if (!is_plain_atomic(&t->events[p->store]) || !is_plain_atomic(&t->events[p->load]))
		return; /* plain accesses have no order */
	remedy_add(r, p->store, ORDER_SEQ_CST);
	remedy_add(r, beside(t, p->store, true), ORDER_SEQ_CST);
	remedy_add(r, beside(t, p->load, false), ORDER_SEQ_CST);
	remedy_add(r, p->load, ORDER_SEQ_CST);
}

GPtrArray *weak_memory_against(const struct session *s)
{
	GPtrArray *words = g_ptr_array_new_with_free_func(g_free);
	struct passing p;
	struct remedies r;
	if (!s->weak || !session_has(s, INDEX_ALL) || !find_passing(s, s->event, &p))
		return words;
	find_remedies(s->trace, &p, &r);
	for (guint i = 0; i < r.count; i++)
		g_ptr_array_add(words,
		                g_strdup_printf("%s=%s",
		                                own_code_place_name(s->trace, r.list[i].event),
		                                explore_order_words[r.list[i].order]));
	return words;
}

static void add_against(const struct session *s, const struct passing *p, GArray *rows)
{
	const struct trace *t = s->trace;
	struct remedies r;
	find_remedies(t, p, &r);
	GString *text = line("against it: ");
	for (guint i = 0; i < r.count; i++) {
		bool same = i > 0 && r.list[i].order == r.list[i - 1].order;
		g_string_append(text, i == 0 ? "" : i + 1 == r.count ? " and " : ", ");
		if (!same)
			g_string_append_printf(text, "%s at ",
			                       explore_order_words[r.list[i].order]);
		if (i == 0)
			append_place(t, r.list[i].event, text);
		else
			append_place_beside(t, r.list[i].event, r.list[0].event, ":", text);
	}
	if (r.count > 0) {
		add_row(rows, STYLE_TEXT, text);
		text = line("   or ");
	}
	g_string_append(text, r.fences ? "a seq_cst fence in each thread between its two"
	                               : "such fences");
	add_row(rows, STYLE_TEXT, text);
}

/* ---- why ---- */

/* TSO: the store was in its thread's buffer. */
static void add_why_tso(const struct session *s, const struct passing *p, GArray *rows)
{
	const struct trace *t = s->trace;
	uint32_t arrives = arrival(s, p->store);
	GString *text = line("why: ");
	append_store(t, p->store, text);
	if (arrives == NONE)
		g_string_append(text, " waits in its buffer to the end");
	else
		g_string_append_printf(text, " waits in its buffer until %u", arrives);
	add_row(rows, STYLE_TEXT, text);
}

static void add_why_rc11(const struct session *s, const struct passing *p, GArray *rows)
{
	const struct trace *t = s->trace;
	GString *text = line("why: ");
	if (!is_carried(p)) {
		g_string_append_printf(text, "%s has read nothing that orders it behind ",
		                       thread_of(t, p->load));
		append_place(t, p->store, text);
		add_row(rows, STYLE_TEXT, text);
		return;
	}
	uint32_t culprit = p->releases ? p->seen : p->later;
	g_string_append_printf(text, "%s's %s of ", thread_of(t, culprit),
	                       p->releases ? "load" : "store");
	append_variable(t, culprit, text);
	g_string_append(text, " (");
	append_place(t, culprit, text);
	g_string_append(text, p->releases ? ") is relaxed: does not acquire line "
	                                  : ") is relaxed: does not publish line ");
	append_place_beside(t, p->store, culprit, "", text);
	add_row(rows, STYLE_TEXT, text);
}

/* Adds a store that precedes an earlier one in modification order. */
static void add_overtaken(const struct session *s, GArray *rows)
{
	const struct trace *t = s->trace;
	const struct event *x = &t->events[s->event];
	if (trace_model(t) != WEAK_RC11 || x->op != OP_AWRITE || !is_plain_atomic(x))
		return;
	g_autoptr(GArray) order = modification_order(s, x->target, s->event);
	uint32_t last = g_array_index(order, uint32_t, order->len - 1);
	if (last != s->event) {
		GString *text = line("it stands before ");
		append_store(t, last, text);
		g_string_append(text, ", which came earlier: nothing orders the two");
		add_row(rows, STYLE_TEXT, text);
	}
}

/* ---- the rows ---- */

char *weak_memory_heading(const struct app *app)
{
	const struct trace *t = app_trace(app);
	if (trace_model(t) == WEAK_TSO)
		return g_strdup("store buffers (tso)");
	GString *text = g_string_new("");
	append_variable(t, app->session->event, text);
	g_string_append(text, " in modification order (rc11)");
	return g_string_free(text, FALSE);
}

void add_weak_memory(const struct app *app, GArray *rows)
{
	const struct session *s = app->session;
	enum weak_model model = trace_model(s->trace);
	struct passing p;
	if (model == WEAK_SC || !session_has(s, INDEX_ALL))
		return;
	if (model == WEAK_TSO)
		add_buffers(app, rows);
	else
		add_order(app, rows);
	add_overtaken(s, rows);
	if (!find_passing(s, s->event, &p))
		return;
	if (model == WEAK_TSO)
		add_why_tso(s, &p, rows);
	else
		add_why_rc11(s, &p, rows);
	add_against(s, &p, rows);
	GString *text = line(":orders tries that on the program, and what else forbids it");
	add_row(rows, STYLE_DIM, text);
}
