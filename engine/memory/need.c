/*
 * need.c - see need.h. The search goes over states: how far each thread is, and which store
 * each place of memory has. Steps that enable others and disable none are taken at once: a load
 * that sees what it saw, an operation of the library whose turn it is, a store into its
 * thread's buffer. The choices left are which store comes into memory next.
 */
#include "engine/memory/need.h"
#include "engine/base/search.h"

enum {
	MOST_EVENTS = 10000,
	MOST_STATES = 100000,
};

/* ---- what reads saw ---- */

struct sight {
	uint32_t read, variable, writer; /* NONE: the initial value */
};

static void keep_sight(void *context, uint32_t read, uint32_t variable, uint32_t writer)
{
	struct sight s = { read, variable, writer };
	g_array_append_val((GArray *)context, s);
}

/* Every trace_weak row, ascending by read; owned. */
static GArray *all_sights(const struct trace *t)
{
	GArray *sights = g_array_new(FALSE, FALSE, sizeof(struct sight));
	trace_weak_walk(t, keep_sight, sights);
	return sights;
}

static guint first_sight(const GArray *sights, uint32_t read)
{
	return (guint)search_end(k, 0, sights->len,
	                         g_array_index(sights, struct sight, k).read < read);
}

/* By event of the library: the preceding one on the same object, or NONE; owned. */
static uint32_t *library_order(const struct trace *t)
{
	uint32_t *prior = g_new(uint32_t, t->events_count + 1);
	GHashTable *last = g_hash_table_new(NULL, NULL);
	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		enum operand operand = op_table[x->op].operand;
		prior[e] = NONE;
		if (event_inert(x) || op_tells(x->op) ||
		    (operand != OPERAND_OBJECT && operand != OPERAND_MESSAGE))
			continue;
		gpointer key = GUINT_TO_POINTER(2 * x->target + (operand == OPERAND_OBJECT));
		gpointer before = NULL;
		if (g_hash_table_lookup_extended(last, key, NULL, &before))
			prior[e] = GPOINTER_TO_UINT(before);
		g_hash_table_insert(last, key, GUINT_TO_POINTER(e));
	}
	g_hash_table_destroy(last);
	return prior;
}

/* ---- the past ---- */

/* Marks the thread of `event` as needed up to it. */
static void need(const struct trace *t, uint32_t *until, uint32_t event)
{
	if (event == NONE)
		return;
	uint32_t thread = t->events[event].thread;
	until[thread] = MAX(until[thread], event + 1);
}

GArray *run_past(const struct trace *t, const uint32_t *of, size_t count)
{
	GArray *events = g_array_new(FALSE, FALSE, sizeof(uint32_t)), *sights = all_sights(t);
	uint32_t *until = g_new0(uint32_t, t->threads_count + 1), *prior = library_order(t);
	uint32_t end = 0;
	for (size_t i = 0; i < count; i++) {
		need(t, until, of[i]);
		end = MAX(end, of[i] + 1);
	}
	for (uint32_t e = end; e-- > 0;) { /* the events that an event needs are before it */
		const struct event *x = &t->events[e];
		if (x->op == OP_FLUSH || e >= until[x->thread])
			continue;
		need(t, until, t->threads[x->thread].fork);
		need(t, until, prior[e]);
		if (x->op == OP_JOIN)
			until[x->target] = MAX(until[x->target], e);
		for (guint i = first_sight(sights, e);
		     i < sights->len && g_array_index(sights, struct sight, i).read == e; i++)
			need(t, until, g_array_index(sights, struct sight, i).writer);
	}
	for (uint32_t e = 0; e < end; e++) {
		const struct event *x = &t->events[e];
		uint32_t store = x->op == OP_FLUSH ? x->aux : e;
		if (store < until[x->thread] && (x->op == OP_FLUSH || !op_tells(x->op)))
			g_array_append_val(events, e);
	}
	g_array_free(sights, TRUE);
	g_free(until);
	g_free(prior);
	return events;
}

/* ---- sources ---- */

struct places {
	GArray **stores; /* by variable: uint32_t, in modification order */
	uint8_t *mine;   /* by event: is it in the sequence? */
	GArray *rows;
};

static void add_row(struct places *p, uint32_t event, enum weak_kind kind, uint32_t store)
{
	struct weak_source row = { .event = event, .store = store, .kind = kind };
	g_array_append_val(p->rows, row);
}

/* Inserts the store into its order; adds a row when a store of the sequence is behind it. */
static void place(const struct trace *t, struct places *p, uint32_t e, uint32_t after)
{
	uint32_t v = event_variables(t, &t->events[e]).first, before = NONE;
	bool last = true;
	if (p->stores[v] == NULL)
		p->stores[v] = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	GArray *stores = p->stores[v];
	guint to = 0;
	while (after != NONE && to < stores->len &&
	       g_array_index(stores, uint32_t, to++) != after)
		;
	g_array_insert_val(stores, to, e);
	for (guint i = 0; i < stores->len; i++) {
		uint32_t other = g_array_index(stores, uint32_t, i);
		if (p->mine[other] && i < to)
			before = other;
		last &= i <= to || !p->mine[other];
	}
	if (p->mine[e] && !last && t->events[e].op == OP_AWRITE)
		add_row(p, e, WEAK_AFTER, before);
}

GArray *run_sources(const struct trace *t, const GArray *events)
{
	struct places p = { .stores = g_new0(GArray *, t->variables_count + 1),
		            .mine = g_new0(uint8_t, t->events_count + 1),
		            .rows = g_array_new(FALSE, FALSE, sizeof(struct weak_source)) };
	uint32_t *last = g_new(uint32_t, t->variables_count + 1);
	GArray *sights = all_sights(t);
	bool rc11 = trace_model(t) == WEAK_RC11;
	memset(last, 0xff, (t->variables_count + 1) * sizeof *last);
	for (guint i = 0; i < events->len; i++)
		p.mine[g_array_index(events, uint32_t, i)] = 1;
	for (uint32_t e = 0; rc11 && e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		if (!op_is_access(x->op) || event_inert(x))
			continue;
		struct wide run = event_variables(t, x);
		guint k = first_sight(sights, e);
		uint32_t saw =
		        op_reads(x->op) ? g_array_index(sights, struct sight, k).writer : NONE;
		if (p.mine[e] && op_reads(x->op) && op_is_atomic(x->op) && run.count == 1 &&
		    saw != last[run.first])
			add_row(&p, e, WEAK_READS, saw);
		if (op_writes(x->op) && run.count == 1) {
			GArray *stores = p.stores[run.first];
			uint32_t newest =
			        stores && stores->len
			                ? g_array_index(stores, uint32_t, stores->len - 1)
			                : NONE;
			place(t, &p, e,
			      x->op == OP_RMW ? saw
			                      : trace_weak_store(t, e, WEAK_AFTER, newest));
		}
		for (uint32_t v = run.first;
		     p.mine[e] && op_writes(x->op) && v < run.first + run.count; v++)
			last[v] = e;
	}
	for (uint64_t v = 0; v < t->variables_count; v++)
		if (p.stores[v])
			g_array_free(p.stores[v], TRUE);
	g_array_free(sights, TRUE);
	g_free(p.stores);
	g_free(p.mine);
	g_free(last);
	return p.rows;
}

/* ---- the search ---- */

struct search {
	const struct trace *t;
	bool tso, by_value;
	GArray *sights;
	uint32_t *prior;
	uint32_t threads, slots;
	GArray **events;  /* by thread: uint32_t */
	uint32_t *index;  /* by event: its index in its thread; NONE: not in the past */
	uint32_t *slot;   /* by variable: its slot in the state; NONE: none */
	uint32_t *user;   /* by slot: the thread that alone uses it; NONE: several do */
	GArray **readers; /* by slot: struct sight */
	GHashTable *been; /* GBytes: states */
	GArray *order;    /* uint32_t */
	/* The state: by thread the number of its events done, and up to where its stores have
	 * arrived; by slot the store in memory. One block of `words`. */
	uint32_t *position, *arrived, *memory;
	size_t words;
};

static uint32_t event_of(const struct search *s, uint32_t thread, uint32_t index)
{
	return g_array_index(s->events[thread], uint32_t, index);
}

static bool is_done(const struct search *s, uint32_t e)
{
	return s->index[e] < s->position[s->t->events[e].thread];
}

static bool is_store(const struct event *x)
{
	return op_is_access(x->op) && !event_inert(x) && op_writes(x->op);
}

/* Does the event reach memory in its own step, without a buffer? */
static bool is_direct(const struct search *s, const struct event *x)
{
	return !s->tso || x->op == OP_RMW ||
	       (x->op == OP_AWRITE && event_order(x) == ORDER_SEQ_CST);
}

/* The index of the thread's first store that waits in its buffer, or its position without
 * one. */
static uint32_t waiting(const struct search *s, uint32_t thread)
{
	uint32_t i = s->arrived[thread];
	while (i < s->position[thread]) {
		const struct event *x = &s->t->events[event_of(s, thread, i)];
		if (is_store(x) && !is_direct(s, x))
			break;
		i++;
	}
	return i;
}

static bool drains(const struct event *x)
{
	enum operand operand = op_table[x->op].operand;
	bool library = operand == OPERAND_OBJECT || operand == OPERAND_MESSAGE;
	return x->op == OP_RMW || library || x->op == OP_FORK || x->op == OP_JOIN ||
	       x->op == OP_END || event_failed_update(x) ||
	       ((x->op == OP_FENCE || x->op == OP_AWRITE) && event_order(x) == ORDER_SEQ_CST);
}

/* The store that the thread would read now. */
static uint32_t sees(const struct search *s, uint32_t thread, uint32_t variable)
{
	for (uint32_t i = s->position[thread]; s->tso && i-- > s->arrived[thread];) {
		uint32_t e = event_of(s, thread, i);
		const struct event *x = &s->t->events[e];
		if (is_store(x) && !is_direct(s, x) &&
		    variable - event_variables(s->t, x).first < event_variables(s->t, x).count)
			return e;
	}
	return s->memory[s->slot[variable]];
}

/* The number of the value that an event leaves, or saw; 0: unknown. */
static uint32_t value_of(const struct trace *t, uint32_t e, bool written)
{
	const struct event *x = &t->events[e];
	if (x->op != OP_RMW || x->aux == 0)
		return x->aux;
	return written ? trace_value(t, x->aux).second : trace_value(t, x->aux).first;
}

static bool fits(const struct search *s, const struct sight *saw, uint32_t now)
{
	if (now == saw->writer)
		return true;
	if (!s->by_value || now == NONE)
		return false;
	struct wide a = event_variables(s->t, &s->t->events[now]),
	            b = event_variables(s->t, &s->t->events[saw->read]);
	uint32_t value = value_of(s->t, now, true);
	return a.first == b.first && a.count == b.count && value != 0 &&
	       value == value_of(s->t, saw->read, false);
}

static bool reads_fit(const struct search *s, uint32_t e)
{
	const struct event *x = &s->t->events[e];
	for (guint i = op_reads(x->op) ? first_sight(s->sights, e) : s->sights->len;
	     i < s->sights->len; i++) {
		const struct sight *saw = &g_array_index(s->sights, struct sight, i);
		if (saw->read != e)
			break;
		if (!fits(s, saw, sees(s, x->thread, saw->variable)))
			return false;
	}
	return true;
}

static bool is_enabled(const struct search *s, uint32_t e)
{
	const struct trace *t = s->t;
	const struct event *x = &t->events[e];
	uint32_t fork = t->threads[x->thread].fork;
	if ((fork != NONE && !is_done(s, fork)) ||
	    (s->prior[e] != NONE && !is_done(s, s->prior[e])))
		return false;
	if (x->op == OP_JOIN && (s->position[x->target] < s->events[x->target]->len ||
	                         waiting(s, x->target) < s->position[x->target]))
		return false;
	if (s->tso && drains(x) && waiting(s, x->thread) < s->position[x->thread])
		return false;
	return !op_is_access(x->op) || event_inert(x) || reads_fit(s, e);
}

/* Is the store's thread the only user of its slots? */
static bool is_private(const struct search *s, uint32_t store)
{
	struct wide run = event_variables(s->t, &s->t->events[store]);
	for (uint32_t v = run.first; v < run.first + run.count; v++)
		if (s->user[s->slot[v]] == NONE)
			return false;
	return true;
}

/* Would a later read never see its store again? */
static bool hides(const struct search *s, uint32_t store)
{
	struct wide run = event_variables(s->t, &s->t->events[store]);
	for (uint32_t v = run.first; !s->by_value && v < run.first + run.count; v++) {
		const GArray *readers = s->readers[s->slot[v]];
		for (guint i = 0; i < readers->len; i++) {
			const struct sight *saw = &g_array_index(readers, struct sight, i);
			if (saw->writer == s->memory[s->slot[v]] && saw->read != store &&
			    !is_done(s, saw->read))
				return true;
		}
	}
	return false;
}

static void arrive(struct search *s, uint32_t store)
{
	struct wide run = event_variables(s->t, &s->t->events[store]);
	for (uint32_t v = run.first; v < run.first + run.count; v++)
		s->memory[s->slot[v]] = store;
}

static void step(struct search *s, uint32_t thread)
{
	uint32_t e = event_of(s, thread, s->position[thread]++);
	const struct event *x = &s->t->events[e];
	if (is_store(x) && is_direct(s, x))
		arrive(s, e);
	g_array_append_val(s->order, e);
}

/* Does the steps that enable others and disable none; whether any was done. */
static bool settle_thread(struct search *s, uint32_t thread)
{
	bool any = false;
	for (;;) {
		uint32_t from = waiting(s, thread);
		s->arrived[thread] = from;
		if (from < s->position[thread] && is_private(s, event_of(s, thread, from))) {
			arrive(s, event_of(s, thread, from));
			s->arrived[thread]++;
			any = true;
			continue;
		}
		if (s->position[thread] == s->events[thread]->len)
			return any;
		uint32_t e = event_of(s, thread, s->position[thread]);
		const struct event *x = &s->t->events[e];
		if ((is_store(x) && is_direct(s, x) && !is_private(s, e)) || !is_enabled(s, e))
			return any;
		step(s, thread);
		any = true;
	}
}

static enum reorder_result search(struct search *s);

/* One choice of the thread: its next step (a store into memory), or the arrival of a waiting
 * store. */
static bool choose(struct search *s, uint32_t thread, bool arrival)
{
	uint32_t from = s->arrived[thread];
	if (arrival) {
		if (from == s->position[thread] || hides(s, event_of(s, thread, from)))
			return false;
		arrive(s, event_of(s, thread, from));
		s->arrived[thread]++;
		return true;
	}
	if (s->position[thread] == s->events[thread]->len)
		return false;
	uint32_t e = event_of(s, thread, s->position[thread]);
	const struct event *x = &s->t->events[e];
	if (!is_store(x) || !is_direct(s, x) || !is_enabled(s, e) || hides(s, e))
		return false;
	step(s, thread);
	return true;
}

static enum reorder_result search(struct search *s)
{
	bool any = true, all = true;
	while (any) {
		any = false;
		for (uint32_t u = 0; u < s->threads; u++)
			any |= settle_thread(s, u);
	}
	for (uint32_t u = 0; u < s->threads; u++)
		all &= s->position[u] == s->events[u]->len;
	if (all)
		return REORDER_FOUND;
	size_t size = s->words * sizeof(uint32_t);
	if (!g_hash_table_add(s->been, g_bytes_new(s->position, size)))
		return REORDER_NONE;
	if (g_hash_table_size(s->been) > MOST_STATES)
		return REORDER_OPEN;
	uint32_t *state = g_memdup2(s->position, size);
	guint length = s->order->len;
	enum reorder_result found = REORDER_NONE;
	for (uint32_t i = 0; i < 2 * s->threads && found == REORDER_NONE; i++) {
		if (!choose(s, i / 2, i % 2))
			continue;
		found = search(s);
		if (found == REORDER_NONE) {
			memcpy(s->position, state, size);
			g_array_set_size(s->order, length);
		}
	}
	g_free(state);
	return found;
}

static void note_use(struct search *s, uint32_t variable, uint32_t thread)
{
	if (s->slot[variable] == NONE) {
		s->slot[variable] = s->slots;
		s->user[s->slots] = thread;
		s->readers[s->slots++] = g_array_new(FALSE, FALSE, sizeof(struct sight));
	} else if (s->user[s->slot[variable]] != thread) {
		s->user[s->slot[variable]] = NONE;
	}
}

static void add_events(struct search *s, const GArray *events)
{
	for (guint i = 0; i < events->len; i++) {
		uint32_t e = g_array_index(events, uint32_t, i);
		const struct event *x = &s->t->events[e];
		if (x->op == OP_FLUSH)
			continue;
		s->index[e] = s->events[x->thread]->len;
		g_array_append_val(s->events[x->thread], e);
		if (!op_is_access(x->op) || event_inert(x))
			continue;
		struct wide run = event_variables(s->t, x);
		for (uint32_t v = run.first; v < run.first + run.count; v++)
			note_use(s, v, x->thread);
		for (guint k = op_reads(x->op) ? first_sight(s->sights, e) : s->sights->len;
		     k < s->sights->len; k++) {
			struct sight saw = g_array_index(s->sights, struct sight, k);
			if (saw.read != e)
				break;
			g_array_append_val(s->readers[s->slot[saw.variable]], saw);
		}
	}
}

static void search_release(struct search *s)
{
	for (uint32_t u = 0; u < s->threads; u++)
		g_array_free(s->events[u], TRUE);
	for (uint32_t i = 0; i < s->slots; i++)
		g_array_free(s->readers[i], TRUE);
	g_hash_table_unref(s->been);
	g_array_free(s->sights, TRUE);
	g_free(s->events);
	g_free(s->index);
	g_free(s->slot);
	g_free(s->user);
	g_free(s->readers);
	g_free(s->prior);
	g_free(s->position);
}

enum reorder_result run_reorder(const struct trace *t, const GArray *events,
                                enum weak_model model, bool by_value, GArray **order)
{
	if (events->len > MOST_EVENTS)
		return REORDER_OPEN;
	struct search s = { .t = t,
		            .tso = model == WEAK_TSO,
		            .by_value = by_value,
		            .sights = all_sights(t),
		            .prior = library_order(t),
		            .threads = (uint32_t)t->threads_count,
		            .events = g_new(GArray *, t->threads_count + 1),
		            .index = g_new(uint32_t, t->events_count + 1),
		            .slot = g_new(uint32_t, t->variables_count + 1),
		            .user = g_new(uint32_t, t->variables_count + 1),
		            .readers = g_new(GArray *, t->variables_count + 1),
		            .been = g_hash_table_new_full(g_bytes_hash, g_bytes_equal,
		                                          (GDestroyNotify)g_bytes_unref, NULL),
		            .order = g_array_new(FALSE, FALSE, sizeof(uint32_t)) };
	memset(s.index, 0xff, (t->events_count + 1) * sizeof *s.index);
	memset(s.slot, 0xff, (t->variables_count + 1) * sizeof *s.slot);
	for (uint32_t u = 0; u < s.threads; u++)
		s.events[u] = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	add_events(&s, events);
	s.words = 2 * (size_t)s.threads + s.slots;
	s.position = g_new0(uint32_t, s.words + 1);
	s.arrived = s.position + s.threads;
	s.memory = s.arrived + s.threads;
	memset(s.memory, 0xff, s.slots * sizeof *s.memory);
	enum reorder_result found = search(&s);
	if (found == REORDER_FOUND)
		*order = s.order;
	else
		g_array_free(s.order, TRUE);
	search_release(&s);
	return found;
}
