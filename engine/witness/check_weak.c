/*
 * check_weak.c - is a witness a run of a memory model? By the definitions alone
 * (docs/memory-models.md, "Recording under a model"), from the sequence, the store that each
 * read sees, and the modification order.
 *
 * TSO by its machine: each thread's queue of stores, and memory. RC11 by its axioms: the
 * relations of the execution are made as sets, and coherence, atomicity and the acyclicity of
 * psc are looked up in them.
 */
#include "engine/witness/check_weak.h"

enum { MOST = 4000 }; /* events of an RC11 witness: the relations are squares of them */

struct weak_check {
	const struct trace *t;
	const uint32_t *sequence;
	size_t length;
	const GArray *said; /* struct weak_source */
	enum weak_model model;
	GString *reason;
	uint32_t *at; /* by event: its index in the sequence, or NONE */
	/* -- by index in the sequence */
	uint32_t *reads; /* of a read: index of its store; NONE: the initial value */
	/* -- RC11; events that are no accesses have no place in mo */
	uint32_t *position; /* of a store in the modification order of its place, from 1 */
	GArray **order;     /* by variable: indices of its stores, in modification order */
	uint64_t **before;  /* by index: set of the events that happen before it */
	size_t words;
};

static bool refuse(struct weak_check *c, uint32_t event, const char *format, ...)
        __attribute__((format(printf, 3, 4)));

static bool refuse(struct weak_check *c, uint32_t event, const char *format, ...)
{
	va_list ap;

	trace_append_event(c->t, event, c->reason);
	g_string_append(c->reason, ": ");
	va_start(ap, format);
	g_string_append_vprintf(c->reason, format, ap);
	va_end(ap);
	return false;
}

/* The same, with another event between `before` and `after`. */
static bool refuse_by(struct weak_check *c, uint32_t event, const char *before, uint32_t other,
                      const char *after)
{
	refuse(c, event, "%s", before);
	trace_append_event(c->t, other, c->reason);
	g_string_append(c->reason, after);
	return false;
}

static const struct event *event_at(const struct weak_check *c, size_t i)
{
	return &c->t->events[c->sequence[i]];
}

/* ---- the sequence ---- */

/* Synchronisation of the library on one object or message: it keeps the trace's order, and no
 * operation may be left out before another. A request that waits at the end has no effect. */
static bool is_library(const struct event *x)
{
	enum operand operand = op_table[x->op].operand;

	return !event_inert(x) && !op_tells(x->op) &&
	       (operand == OPERAND_OBJECT || operand == OPERAND_MESSAGE);
}

/* By event of the library: the one before it in the trace on the same object, or NONE. */
static uint32_t *find_prior(const struct trace *t)
{
	uint32_t *prior = g_new(uint32_t, t->events_count + 1);
	g_autoptr(GHashTable) last = g_hash_table_new(NULL, NULL);

	memset(prior, 0xff, (t->events_count + 1) * sizeof *prior);
	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		gpointer key = GUINT_TO_POINTER(
		        x->target * 2 + (op_table[x->op].operand == OPERAND_OBJECT) + 1);

		if (!is_library(x))
			continue;
		prior[e] = GPOINTER_TO_UINT(g_hash_table_lookup(last, key)) - 1;
		g_hash_table_insert(last, key, GUINT_TO_POINTER(e + 1));
	}
	return prior;
}

/* Every thread's events in their order, from its first one on; forks, joins, objects. */
static bool check_sequence(struct weak_check *c)
{
	const struct trace *t = c->t;
	g_autofree uint32_t *next = g_new0(uint32_t, t->threads_count + 1),
	                    *prior = find_prior(t);
	bool good = true;

	for (size_t i = 0; i < c->length && good; i++) {
		uint32_t e = c->sequence[i];
		const struct event *x = &t->events[e];

		if (c->at[e] != NONE)
			good = refuse(c, e, "it comes twice");
		c->at[e] = (uint32_t)i;
		if (!good || x->op == OP_FLUSH)
			continue;
		for (; good && next[x->thread] < e; next[x->thread]++) {
			const struct event *y = &t->events[next[x->thread]];
			if (y->thread == x->thread && y->op != OP_FLUSH && y->op != OP_ENTER &&
			    y->op != OP_LEAVE && !op_tells(y->op))
				good = refuse_by(c, e, "", next[x->thread],
				                 ", of its thread, is not before it");
		}
		good = good && (e >= next[x->thread] ||
		                refuse(c, e, "it is before an earlier one of its thread"));
		next[x->thread] = e + 1;
		uint32_t fork = t->threads[x->thread].fork;
		if (good && fork != NONE && c->at[fork] == NONE)
			good = refuse(c, e, "its thread was not created");
		if (good && x->op == OP_JOIN)
			for (uint32_t k = next[x->target]; k < e && good; k++)
				if (t->events[k].thread == x->target &&
				    t->events[k].op != OP_FLUSH &&
				    t->events[k].op != OP_ENTER && t->events[k].op != OP_LEAVE)
					good = refuse(c, e, "the thread has not ended");
		if (good && prior[e] != NONE && c->at[prior[e]] == NONE)
			good = refuse_by(c, e, "", prior[e],
			                 ", on the same object, is before it in the trace, and "
			                 "here is not");
	}
	return good;
}

/* The witness's struct weak_source for the event; false: none. */
static bool said_of(const struct weak_check *c, uint32_t event, enum weak_kind kind,
                    uint32_t *store)
{
	for (guint i = 0; i < c->said->len; i++) {
		const struct weak_source *w = &g_array_index(c->said, struct weak_source, i);

		if (w->event == event && w->kind == kind) {
			*store = w->store;
			return true;
		}
	}
	return false;
}

/* Does each struct weak_source name an event of the right kind, and each event once? */
static bool check_said(struct weak_check *c)
{
	g_autoptr(GHashTable) rows = g_hash_table_new(NULL, NULL);
	bool good = true;

	for (guint i = 0; i < c->said->len && good; i++) {
		const struct weak_source *w = &g_array_index(c->said, struct weak_source, i);
		const struct event *x = &c->t->events[w->event];
		bool reads = w->kind == WEAK_READS;

		if (c->at[w->event] == NONE)
			continue;
		if (event_inert(x) ||
		    !(reads ? op_reads(x->op) && op_is_atomic(x->op) : x->op == OP_AWRITE))
			good = refuse(c, w->event,
			              reads ? "only an atomic read is said to read a store"
			                    : "only an atomic store is said to stand after "
			                      "another");
		else if (!g_hash_table_add(rows, GUINT_TO_POINTER(2 * w->event + w->kind)))
			good = refuse(c, w->event, "two stores are named for it");
		else if (!reads && c->model != WEAK_RC11)
			good = refuse(c, w->event,
			              "under %s a store's place is where it arrives",
			              weak_model_words[c->model]);
	}
	return good;
}

/* The value that a write leaves or a read sees; 0: unknown. */
static uint32_t value_of(const struct trace *t, uint32_t e, bool written)
{
	const struct event *x = &t->events[e];

	if (x->op != OP_RMW || x->aux == 0)
		return x->aux;
	return written ? trace_value(t, x->aux).second : trace_value(t, x->aux).first;
}

/* Is one access's value the other's, byte by byte? */
static bool same_extent(const struct trace *t, uint32_t a, uint32_t b)
{
	struct wide x = event_variables(t, &t->events[a]),
	            y = event_variables(t, &t->events[b]);

	return x.first == y.first && x.count == y.count;
}

/* Does the read get its recorded value from `store` (NONE: the initial value)? Its thread
 * continues as recorded only then. */
static bool check_value(struct weak_check *c, uint32_t read, uint32_t store, uint32_t recorded)
{
	uint32_t seen = store == NONE ? 0 : value_of(c->t, store, true);
	uint32_t saw = value_of(c->t, read, false);

	if (store == recorded || (seen != 0 && seen == saw && same_extent(c->t, store, read)))
		return true;
	if (store == NONE)
		return refuse_by(c, read, "it sees the initial value, in the trace ", recorded,
		                 "");
	return refuse_by(c, read, "it sees ", store,
	                 ", which leaves another value than it saw");
}

/* The stores that reads see in the trace itself: event << 32 | variable -> store + 1. */
static void keep_recorded(void *context, uint32_t read, uint32_t variable, uint32_t writer)
{
	gint64 key = (gint64)read << 32 | variable;

	g_hash_table_insert(context, g_memdup2(&key, sizeof key),
	                    GUINT_TO_POINTER(writer == NONE ? 0 : writer + 1));
}

static uint32_t recorded_at(GHashTable *recorded, uint32_t read, uint32_t variable)
{
	gint64 key = (gint64)read << 32 | variable;
	uint32_t found = GPOINTER_TO_UINT(g_hash_table_lookup(recorded, &key));

	return found ? found - 1 : NONE;
}

/* ---- SC and TSO ---- */

struct machine {
	uint32_t *memory; /* by variable: the store that is there */
	GQueue *queue;    /* by thread: its stores that wait */
};

static uint32_t machine_sees(const struct weak_check *c, const struct machine *m,
                             uint32_t thread, uint32_t variable)
{
	for (GList *l = m->queue[thread].tail; l; l = l->prev) {
		uint32_t store = GPOINTER_TO_UINT(l->data);
		struct wide run = event_variables(c->t, &c->t->events[store]);

		if (variable - run.first < run.count)
			return store;
	}
	return m->memory[variable];
}

static void machine_arrives(const struct weak_check *c, struct machine *m, uint32_t store)
{
	struct wide run = event_variables(c->t, &c->t->events[store]);

	for (uint32_t v = run.first; v < run.first + run.count; v++)
		m->memory[v] = store;
}

static bool machine_step(struct weak_check *c, struct machine *m, uint32_t e,
                         GHashTable *recorded)
{
	const struct event *x = &c->t->events[e];
	GQueue *mine = &m->queue[x->thread];
	bool access = op_is_access(x->op) && !event_inert(x);

	if (x->op == OP_FLUSH) {
		if (!mine->head || GPOINTER_TO_UINT(mine->head->data) != x->aux)
			return refuse(c, e, "it is not the oldest store that waits");
		machine_arrives(c, m, GPOINTER_TO_UINT(g_queue_pop_head(mine)));
		return true;
	}
	bool direct = c->model == WEAK_SC || x->op == OP_RMW ||
	              (x->op == OP_AWRITE && event_order(x) == ORDER_SEQ_CST);
	bool drains = direct || is_library(x) || x->op == OP_FORK || x->op == OP_JOIN ||
	              x->op == OP_END || event_failed_update(x) ||
	              (x->op == OP_FENCE && event_order(x) == ORDER_SEQ_CST);
	GQueue *ended = x->op == OP_JOIN ? &m->queue[x->target] : mine;
	if (drains && (mine->head || ended->head))
		return refuse_by(c, e, "",
		                 GPOINTER_TO_UINT((mine->head ? mine : ended)->head->data),
		                 ", a store before it, has not arrived");
	struct wide run = access ? event_variables(c->t, x) : (struct wide){ 0 };
	for (uint32_t v = run.first; op_reads(x->op) && v < run.first + run.count; v++) {
		uint32_t store = machine_sees(c, m, x->thread, v), said;

		if (!check_value(c, e, store, recorded_at(recorded, e, v)))
			return false;
		if (said_of(c, e, WEAK_READS, &said) && said != store)
			return refuse(c, e, "under %s it sees another store than it is said to",
			              weak_model_words[c->model]);
		if (v == run.first && store != NONE)
			c->reads[c->at[e]] = c->at[store];
	}
	if (access && op_writes(x->op) && !direct)
		g_queue_push_tail(mine, GUINT_TO_POINTER(e));
	else if (access && op_writes(x->op))
		machine_arrives(c, m, e);
	return true;
}

/* Checks a run of TSO's machine; SC: without buffers. */
static bool check_machine(struct weak_check *c, GHashTable *recorded)
{
	struct machine m = { g_new(uint32_t, c->t->variables_count + 1),
		             g_new0(GQueue, c->t->threads_count + 1) };
	bool good = true;

	memset(m.memory, 0xff, (c->t->variables_count + 1) * sizeof *m.memory);
	for (size_t i = 0; i < c->length && good; i++)
		good = machine_step(c, &m, c->sequence[i], recorded);
	for (uint64_t i = 0; i < c->t->threads_count; i++)
		g_queue_clear(&m.queue[i]);
	g_free(m.queue);
	g_free(m.memory);
	return good;
}

/* ---- RC11: the relations ---- */

static bool has(const uint64_t *set, size_t i)
{
	return set[i / 64] >> (i % 64) & 1;
}
static void add(uint64_t *set, size_t i)
{
	set[i / 64] |= 1ull << (i % 64);
}
static void join(uint64_t *set, const uint64_t *other, size_t words)
{
	for (size_t i = 0; i < words; i++)
		set[i] |= other[i];
}
static uint64_t **square(const struct weak_check *c)
{
	uint64_t **rows = g_new(uint64_t *, c->length + 1);

	for (size_t i = 0; i < c->length; i++)
		rows[i] = g_new0(uint64_t, c->words);
	rows[c->length] = NULL;
	return rows;
}
static void square_free(uint64_t **rows)
{
	for (uint64_t **row = rows; row && *row; row++)
		g_free(*row);
	g_free(rows);
}

static bool is_access(const struct event *x)
{
	return op_is_access(x->op) && !event_inert(x);
}
static bool same_place(const struct weak_check *c, size_t a, size_t b)
{
	return is_access(event_at(c, a)) && is_access(event_at(c, b)) &&
	       events_overlap(c->t, event_at(c, a), event_at(c, b));
}
static bool is_sb(const struct weak_check *c, size_t a, size_t b)
{
	return a < b && event_at(c, a)->thread == event_at(c, b)->thread;
}

/* rf of the read at `i`. `last`: the last write of its place in the sequence. */
static bool find_read(struct weak_check *c, size_t i, const uint32_t *last,
                      GHashTable *recorded)
{
	uint32_t e = c->sequence[i], store;
	struct wide run = event_variables(c->t, event_at(c, i));

	c->reads[i] = last[run.first];
	if (said_of(c, e, WEAK_READS, &store)) {
		if (!op_is_atomic(event_at(c, i)->op) || run.count != 1)
			return refuse(c, e, "only a read of one atomic may see another store");
		if (store != NONE &&
		    (c->at[store] == NONE || c->at[store] >= i ||
		     !same_place(c, c->at[store], i) || !op_writes(c->t->events[store].op)))
			return refuse_by(c, e, "", store,
			                 " is no store to its place before it");
		c->reads[i] = store == NONE ? NONE : c->at[store];
	}
	for (uint32_t v = run.first; v < run.first + run.count; v++) {
		uint32_t from = v == run.first ? c->reads[i] : last[v];

		if (!check_value(c, e, from == NONE ? NONE : c->sequence[from],
		                 recorded_at(recorded, e, v)))
			return false;
	}
	return true;
}

/* mo of the store at `i`. */
static bool place_store(struct weak_check *c, size_t i)
{
	const struct event *x = event_at(c, i);
	struct wide run = event_variables(c->t, x);
	uint32_t e = c->sequence[i], store = NONE;
	bool said = said_of(c, e, WEAK_AFTER, &store);

	if (said && (x->op != OP_AWRITE || run.count != 1))
		return refuse(c, e, "only an atomic store may stand before others");
	uint32_t behind = x->op == OP_RMW         ? c->reads[i]
	                  : said && store != NONE ? c->at[store]
	                                          : NONE;
	for (uint32_t v = run.first; v < run.first + run.count; v++) {
		GArray **order = &c->order[v];
		guint to = 0;

		if (*order == NULL)
			*order = g_array_new(FALSE, FALSE, sizeof(uint32_t));
		while (behind != NONE && to < (*order)->len &&
		       g_array_index(*order, uint32_t, to) != behind)
			to++;
		if (behind != NONE && to == (*order)->len)
			return refuse(c, e, "it stands behind what is no store to its place");
		to += behind != NONE;
		if (!said && x->op != OP_RMW)
			to = (*order)->len;
		uint32_t index = (uint32_t)i;
		g_array_insert_val(*order, to, index);
	}
	return true;
}

static bool find_reads(struct weak_check *c, GHashTable *recorded)
{
	uint32_t *last = g_new(uint32_t, c->t->variables_count + 1);
	bool good = true;

	memset(last, 0xff, (c->t->variables_count + 1) * sizeof *last);
	for (size_t i = 0; i < c->length && good; i++) {
		const struct event *x = event_at(c, i);
		if (!is_access(x))
			continue;
		struct wide run = event_variables(c->t, x);

		good = (!op_reads(x->op) || find_read(c, i, last, recorded)) &&
		       (!op_writes(x->op) || place_store(c, i));
		for (uint32_t v = run.first; op_writes(x->op) && v < run.first + run.count; v++)
			last[v] = (uint32_t)i;
	}
	g_free(last);
	for (uint64_t v = 0; v < c->t->variables_count; v++)
		for (guint k = 0; c->order[v] && k < c->order[v]->len; k++)
			c->position[g_array_index(c->order[v], uint32_t, k)] = k + 1;
	return good;
}

/* Adds to `set` the heads of the release sequences of a store, and release fences before them.
 */
static void add_heads(const struct weak_check *c, uint32_t store, uint64_t *set)
{
	for (uint32_t w = store; w != NONE;
	     w = event_at(c, w)->op == OP_RMW ? c->reads[w] : NONE) {
		if (!op_is_atomic(event_at(c, w)->op))
			return;
		for (uint32_t s = 0; s <= w; s++) {
			const struct event *x = event_at(c, s);
			bool mine = x->thread == event_at(c, w)->thread;
			bool head = mine && same_place(c, s, w) && op_is_atomic(x->op) &&
			            op_writes(x->op);

			if ((head || (mine && x->op == OP_FENCE && s < w)) &&
			    order_releases(event_order(x)))
				add(set, s);
		}
	}
}

static bool gives(const struct event *x)
{
	return op_releases(x->op) || x->op == OP_POST || op_wakes(x->op) ||
	       x->op == OP_ARRIVE || x->op == OP_SND;
}
static bool takes(const struct event *x)
{
	return op_acquires(x->op) || x->op == OP_TAKE || x->op == OP_WAKE ||
	       x->op == OP_DEPART || x->op == OP_RCV;
}

/* Happens-before edges of the thread library: the direct predecessors of the event at `i`. */
static void add_library(const struct weak_check *c, size_t i, uint64_t *set)
{
	const struct event *x = event_at(c, i);

	for (size_t k = 0; k < i; k++) {
		const struct event *y = event_at(c, k);
		bool object = is_library(x) && is_library(y) && x->target == y->target &&
		              op_table[x->op].operand == op_table[y->op].operand && gives(y) &&
		              takes(x) && !(y->op == OP_RREL && x->op == OP_RACQ);
		bool forked = y->op == OP_FORK && y->target == x->thread;
		bool joined = x->op == OP_JOIN && x->target == y->thread;

		if (object || forked || joined)
			add(set, k);
	}
}

static void find_before(struct weak_check *c)
{
	g_autofree uint64_t *direct = g_new(uint64_t, c->words);
	uint64_t **pending = square(c); /* by index; an array by thread's last event would do */
	g_autofree uint32_t *previous = g_new(uint32_t, c->t->threads_count + 1);

	memset(previous, 0xff, (c->t->threads_count + 1) * sizeof *previous);
	c->before = square(c);
	for (size_t i = 0; i < c->length; i++) {
		const struct event *x = event_at(c, i);
		uint32_t mine = previous[x->thread];
		bool atomic = is_access(x) && op_is_atomic(x->op);
		bool reads = atomic && op_reads(x->op) && c->reads[i] != NONE;

		memset(direct, 0, c->words * sizeof *direct);
		if (mine != NONE) {
			add(direct, mine);
			join(pending[i], pending[mine], c->words);
		}
		if (reads)
			add_heads(c, c->reads[i], pending[i]);
		if (reads && order_acquires(event_order(x)))
			add_heads(c, c->reads[i], direct);
		if (x->op == OP_FENCE && order_acquires(event_order(x)))
			join(direct, pending[i], c->words);
		add_library(c, i, direct);
		for (size_t k = 0; k < i; k++)
			if (has(direct, k)) {
				add(c->before[i], k);
				join(c->before[i], c->before[k], c->words);
			}
		previous[x->thread] = (uint32_t)i;
	}
	square_free(pending);
}

/* ---- RC11: the axioms ---- */

static uint32_t place_read(const struct weak_check *c, size_t i)
{
	return c->reads[i] == NONE ? 0 : c->position[c->reads[i]];
}

/* eco between two accesses of one place, each as its read and its write part. */
static bool is_eco(const struct weak_check *c, size_t a, size_t b)
{
	const struct event *x = event_at(c, a), *y = event_at(c, b);
	bool xw = op_writes(x->op), yw = op_writes(y->op), xr = op_reads(x->op),
	     yr = op_reads(y->op);

	return (xw && yw && c->position[a] < c->position[b]) ||
	       (xw && yr && c->position[a] <= place_read(c, b)) ||
	       (xr && yw && place_read(c, a) < c->position[b]) ||
	       (xr && yr && place_read(c, a) < place_read(c, b));
}

static bool check_coherence(struct weak_check *c)
{
	for (size_t b = 0; b < c->length; b++)
		for (size_t a = 0; a < b; a++)
			if (has(c->before[b], a) && same_place(c, a, b) && is_eco(c, b, a))
				return refuse_by(
				        c, c->sequence[b], "coherence: ", c->sequence[a],
				        ", happens before it, and is after it by what was "
				        "read and modification order");
	for (size_t i = 0; i < c->length; i++)
		if (is_access(event_at(c, i)) && event_at(c, i)->op == OP_RMW &&
		    c->position[i] != place_read(c, i) + 1)
			return refuse(
			        c, c->sequence[i],
			        "atomicity: a store stands between it and the one that it "
			        "read");
	return true;
}

static bool is_scb(const struct weak_check *c, uint64_t **across, size_t a, size_t b)
{
	if (is_sb(c, a, b) || has(across[b], a))
		return true;
	if (!same_place(c, a, b) || a == b)
		return false;
	const struct event *x = event_at(c, a), *y = event_at(c, b);
	bool mo = op_writes(x->op) && op_writes(y->op) && c->position[a] < c->position[b];
	bool rb = op_reads(x->op) && op_writes(y->op) && place_read(c, a) < c->position[b];

	return has(c->before[b], a) || mo || rb;
}

/* sb/=loc ; hb ; sb/=loc, as sets by the later event. */
static uint64_t **find_across(const struct weak_check *c)
{
	uint64_t **first = square(c), **middle = square(c), **across = square(c);

	for (size_t x = 0; x < c->length; x++)
		for (size_t a = 0; a < x; a++)
			if (is_sb(c, a, x) && !same_place(c, a, x))
				add(first[x], a);
	for (size_t y = 0; y < c->length; y++)
		for (size_t x = 0; x < y; x++)
			if (has(c->before[y], x))
				join(middle[y], first[x], c->words);
	for (size_t b = 0; b < c->length; b++)
		for (size_t y = 0; y < b; y++)
			if (is_sb(c, y, b) && !same_place(c, y, b))
				join(across[b], middle[y], c->words);
	square_free(first);
	square_free(middle);
	return across;
}

static bool is_sc(const struct event *x)
{
	return (is_access(x) && op_is_atomic(x->op) && event_order(x) == ORDER_SEQ_CST) ||
	       (x->op == OP_FENCE && event_order(x) == ORDER_SEQ_CST);
}

/* Adds the nodes of [SC] + [F_sc] ; hb? before `a`, or after it with `after`. */
static void add_nodes(const struct weak_check *c, size_t a, bool after, uint64_t *set)
{
	if (is_sc(event_at(c, a)))
		add(set, a);
	for (size_t f = 0; f < c->length; f++)
		if (event_at(c, f)->op == OP_FENCE && is_sc(event_at(c, f)) &&
		    (after ? has(c->before[f], a) : has(c->before[a], f)))
			add(set, f);
}

/* psc, as sets by the earlier event. */
static uint64_t **find_psc(const struct weak_check *c)
{
	uint64_t **across = find_across(c), **from = square(c), **to = square(c),
	         **psc = square(c);

	for (size_t a = 0; a < c->length; a++) {
		add_nodes(c, a, false, from[a]);
		add_nodes(c, a, true, to[a]);
	}
	for (size_t a = 0; a < c->length; a++)
		for (size_t b = 0; b < c->length; b++) {
			bool scb = is_scb(c, across, a, b);
			bool eco = a != b && same_place(c, a, b) && is_eco(c, a, b);

			for (size_t n = 0; (scb || eco) && n < c->length; n++) {
				if (!has(from[a], n))
					continue;
				bool fence = event_at(c, n)->op == OP_FENCE;
				if (scb)
					join(psc[n], to[b], c->words);
				else if (fence) /* hb ; eco ; hb between fences */
					for (size_t m = 0; m < c->length; m++)
						if (has(to[b], m) &&
						    event_at(c, m)->op == OP_FENCE)
							add(psc[n], m);
			}
		}
	for (size_t f = 0; f < c->length; f++)
		for (size_t g = 0; g < c->length; g++)
			if (event_at(c, f)->op == OP_FENCE && event_at(c, g)->op == OP_FENCE &&
			    is_sc(event_at(c, f)) && is_sc(event_at(c, g)) &&
			    has(c->before[g], f))
				add(psc[f], g);
	square_free(across);
	square_free(from);
	square_free(to);
	return psc;
}

static bool check_psc(struct weak_check *c)
{
	bool any = false, good = true;

	for (size_t i = 0; i < c->length; i++)
		any |= is_sc(event_at(c, i));
	if (!any)
		return true;
	uint64_t **psc = find_psc(c);
	for (size_t k = 0; k < c->length; k++) /* its closure */
		for (size_t i = 0; is_sc(event_at(c, k)) && i < c->length; i++)
			if (has(psc[i], k))
				join(psc[i], psc[k], c->words);
	for (size_t i = 0; i < c->length && good; i++)
		if (has(psc[i], i))
			good = refuse(c, c->sequence[i],
			              "psc: it would be before itself in every order of the "
			              "seq_cst operations");
	square_free(psc);
	return good;
}

/* Events in no relation have empty rows. */
static bool check_rc11(struct weak_check *c, GHashTable *recorded)
{
	c->position = g_new0(uint32_t, c->length + 1);
	c->order = g_new0(GArray *, c->t->variables_count + 1);
	bool good = find_reads(c, recorded);
	if (good)
		find_before(c);
	good = good && check_coherence(c) && check_psc(c);
	for (uint64_t v = 0; v < c->t->variables_count; v++)
		if (c->order[v])
			g_array_free(c->order[v], TRUE);
	g_free(c->order);
	g_free(c->position);
	return good;
}

/* ---- a race ---- */

static bool check_pair(struct weak_check *c, const uint32_t pair[2])
{
	const struct event *x = &c->t->events[pair[0]], *y = &c->t->events[pair[1]];

	for (int i = 0; i < 2; i++)
		if (c->at[pair[i]] == NONE)
			return refuse(c, pair[i], "it is of the pair, and not in the sequence");
	if (!is_access(x) || !is_access(y) || x->thread == y->thread ||
	    !events_overlap(c->t, x, y) || !(op_writes(x->op) || op_writes(y->op)) ||
	    (op_is_atomic(x->op) && op_is_atomic(y->op)))
		return refuse_by(c, pair[0], "it does not conflict with ", pair[1], "");
	uint32_t a = MIN(c->at[pair[0]], c->at[pair[1]]),
	         b = MAX(c->at[pair[0]], c->at[pair[1]]);
	if (c->before == NULL)
		find_before(c);
	if (has(c->before[b], a))
		return refuse_by(c, c->sequence[b], "", c->sequence[a],
		                 ", of the pair, happens before it");
	return true;
}

bool witness_check_weak(const struct trace *t, struct event_list sequence, const GArray *said,
                        enum weak_model model, const uint32_t *pair, GString *reason)
{
	size_t length = sequence.count;
	if (length > MOST && (model == WEAK_RC11 || pair != NULL)) {
		g_string_append_printf(reason,
		                       "the witness has %zu events, more than the %d that are "
		                       "checked",
		                       length, MOST);
		return false;
	}
	g_autoptr(GHashTable) recorded =
	        g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	struct weak_check c = { .t = t,
		                .sequence = sequence.items,
		                .length = length,
		                .said = said,
		                .model = model,
		                .reason = reason,
		                .at = g_new(uint32_t, t->events_count + 1),
		                .reads = g_new(uint32_t, length + 1),
		                .words = length / 64 + 1 };

	memset(c.at, 0xff, (t->events_count + 1) * sizeof *c.at);
	memset(c.reads, 0xff, (length + 1) * sizeof *c.reads);
	trace_weak_walk(t, keep_recorded, recorded);
	bool good =
	        check_sequence(&c) && check_said(&c) &&
	        (model == WEAK_RC11 ? check_rc11(&c, recorded) : check_machine(&c, recorded)) &&
	        (pair == NULL || check_pair(&c, pair));
	square_free(c.before);
	g_free(c.reads);
	g_free(c.at);
	return good;
}
