/*
 * smt_chase.c - which events happen after the first of a pair by C11, in one reordering, and
 * the alternatives to a chain of them that leads to the second.
 *
 * A pair of critical sections could be reversed, or a store could come in between and end a
 * release sequence. Everything else on the chain is in every reordering. Observations with a
 * plain access on either side count as order: these race themselves.
 */
#include "engine/predict/smt/smt_private.h"

/*
 * A read sees the release sequence of `head`. Its writes are, consecutively: the head, stores
 * of the head's thread up to `store`, and rmws. Nothing can come between an rmw and the write
 * it reads, so only between head and store may another store end the sequence. A fence's
 * sequence may begin at the last store after it, which is in every reordering.
 */
struct link {
	uint32_t head;     /* a release write, or a release fence */
	uint32_t store;    /* == head: unbreakable */
	uint32_t variable; /* variable in which it is seen */
};
static const struct link NO_LINK = { NONE, NONE, NONE };

/*
 * The events that happen after the first of the pair, in one reordering. The tables serve all
 * queries of a trace: after each reordering the entries that it has set are cleared, so that
 * one costs what comes after its recorded beginning.
 */
struct chase {
	const struct trace *t;
	const struct past *past;
	uint32_t e1, e2;
	uint32_t recorded; /* the reordering begins with the events below, as recorded */
	uint32_t *cause;   /* by event: its immediate predecessor plus one, or 0 */
	uint32_t *place;   /* by event from `recorded` on: position in the reordering
	                    * plus one, or 0 */
	uint32_t *thread;  /* by thread: its last such event, or NONE */
	uint32_t *release, *shared; /* by object: last release ordered after the first plus one,
	                             * exclusive and shared, or 0 */
	GArray **sequences;         /* by variable: heads ordered after the first, one for each
	                             * thread (struct link) */
	uint32_t *fence;            /* by thread: its last release fence, if ordered after the
	                             * first */
	struct link *pending;       /* by thread: a head read without acquire */
	GHashTable *links;          /* event -> struct link by which it is ordered; owned */
};

struct chase *chase_new(const struct trace *t, const struct past *past)
{
	struct chase *c = g_new0(struct chase, 1);

	c->t = t;
	c->past = past;
	c->cause = g_new0(uint32_t, t->events_count + 1);
	c->place = g_new0(uint32_t, t->events_count + 1);
	c->thread = g_new(uint32_t, t->threads_count + 1);
	c->release = g_new0(uint32_t, t->objects_count + 1);
	c->shared = g_new0(uint32_t, t->objects_count + 1);
	c->fence = g_new(uint32_t, t->threads_count + 1);
	c->sequences = g_new0(GArray *, t->variables_count + 1);
	c->pending = g_new(struct link, t->threads_count + 1);
	c->links = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	return c;
}

void chase_free(struct chase *c)
{
	if (c == NULL)
		return;
	void *all[] = { c->cause, c->place,   c->thread,    c->release, c->shared,
		        c->fence, c->pending, c->sequences, c };

	g_hash_table_destroy(c->links);
	for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
		g_free(all[i]);
}

/* Before the first of the pair nothing happens after it: neither releases nor release sequences
 * have to be known from there. */
static void chase_start(struct chase *c, const uint32_t *sequence, uint32_t length)
{
	uint32_t same = 0;

	while (same < length && sequence[same] == same && same != c->e1 && same != c->e2)
		same++;
	c->recorded = same;
	for (uint32_t u = 0; u < c->t->threads_count; u++) {
		c->thread[u] = c->fence[u] = NONE;
		c->pending[u] = NO_LINK;
	}
}

/* Clears what the reordering has set. */
static void chase_end(struct chase *c, const uint32_t *sequence, uint32_t length)
{
	const struct trace *t = c->t;

	for (uint32_t i = c->recorded; i < length; i++) {
		const struct event *x = &t->events[sequence[i]];
		bool writes = op_is_access(x->op) && op_writes(x->op);
		struct wide run = writes ? event_variables(t, x) : (struct wide){ 0 };

		c->cause[sequence[i]] = c->place[sequence[i]] = 0;
		if (op_releases(x->op))
			c->release[x->target] = c->shared[x->target] = 0;
		for (uint32_t v = run.first; v < run.first + run.count; v++)
			g_clear_pointer(&c->sequences[v], g_array_unref);
	}
	g_hash_table_remove_all(c->links);
}

static uint32_t cause_of(const struct chase *c, uint32_t e)
{
	return c->cause[e] - 1;
}

/* The position in the reordering, or NONE. */
static uint32_t place_of(const struct chase *c, uint32_t e)
{
	return e < c->recorded ? e : c->place[e] - 1;
}

static bool after(const struct chase *c, uint32_t e)
{
	return e != NONE && c->cause[e] != 0;
}

/* The unbreakable link of two. */
static struct link better_link(struct link a, struct link b)
{
	return a.head == NONE || (a.head != a.store && b.head == b.store && b.head != NONE) ? b
	                                                                                    : a;
}

/* The release sequence seen by an atomic read, with a head that happens after. */
static struct link seen_link(const struct chase *c, uint32_t e)
{
	struct wide run = event_variables(c->t, &c->t->events[e]);
	struct link best = NO_LINK;

	for (uint32_t v = run.first; v < run.first + run.count; v++) {
		const GArray *list = c->sequences[v];

		for (guint i = 0; list != NULL && i < list->len; i++)
			best = better_link(best, g_array_index(list, struct link, i));
	}
	return best;
}

/* A plain write that `e` reads from, or with `any` any write. */
static uint32_t written_before(const struct chase *c, uint32_t e, bool any)
{
	struct event_list writers = trace_writers(c->t, e);

	for (uint64_t i = 0; i < writers.count; i++) {
		uint32_t w = writers.items[i];

		if (after(c, w) && (any || c->t->events[w].op == OP_WRITE))
			return w;
	}
	return NONE;
}

static uint32_t must_cause(const struct chase *c, uint32_t e)
{
	struct must_sources sources = must_sources(c->t, e);
	struct must_edge edge;

	while (must_sources_next(&sources, &edge)) {
		if (past_edge_counts(c->past, &edge) && after(c, edge.before))
			return edge.before;
	}
	return NONE;
}

static uint32_t link_cause(struct chase *c, uint32_t e, struct link link)
{
	if (link.head != NONE && link.head != link.store)
		g_hash_table_insert(c->links, GUINT_TO_POINTER(e),
		                    g_memdup2(&link, sizeof(link)));
	return link.head;
}

/* The event by which `e` happens after the first of the pair in C11, or NONE. */
static uint32_t find_order(struct chase *c, uint32_t e)
{
	const struct event *x = &c->t->events[e];
	uint32_t cause = c->thread[x->thread];

	if (cause == NONE)
		cause = must_cause(c, e);
	if (cause != NONE || event_inert(x))
		return cause;
	if (op_is_access(x->op) && op_is_atomic(x->op) && op_reads(x->op) &&
	    order_acquires(event_order(x)))
		return link_cause(c, e, seen_link(c, e));
	if (x->op == OP_FENCE && order_acquires(event_order(x)))
		return link_cause(c, e, c->pending[x->thread]);
	if (op_acquires(x->op) && c->release[x->target] != 0)
		return c->release[x->target] - 1;
	return x->op == OP_ACQ ? c->shared[x->target] - 1 : NONE;
}

/* The event that orders `e` after the first of the pair, or NONE. */
static uint32_t find_cause(struct chase *c, uint32_t e)
{
	const struct event *x = &c->t->events[e];
	uint32_t cause = find_order(c, e);

	if (cause == NONE && op_is_access(x->op) && op_reads(x->op) && !event_inert(x))
		return written_before(c, e, !op_is_atomic(x->op));
	return cause;
}

/* The effect of an atomic write on one variable's sequences. */
static void pass_sequences(struct chase *c, uint32_t e, uint32_t v)
{
	const struct trace *t = c->t;
	const struct event *x = &t->events[e];
	bool releases = order_releases(event_order(x)) && after(c, e);
	uint32_t fence = c->fence[x->thread];
	GArray *list = c->sequences[v];

	for (guint i = list != NULL ? list->len : 0; i-- > 0;) {
		struct link *l = &g_array_index(list, struct link, i);

		if (t->events[l->head].thread == x->thread) {
			if (releases || fence != NONE)
				g_array_remove_index_fast(list, i);
			else if (x->op == OP_AWRITE)
				l->store = e;
		} else if (x->op == OP_AWRITE) {
			g_array_remove_index_fast(list, i);
		}
	}
	if (releases || fence != NONE) {
		uint32_t head = releases ? e : fence;
		struct link l = { head, head, v };

		if (list == NULL)
			list = c->sequences[v] = g_array_new(FALSE, FALSE, sizeof(l));
		g_array_append_val(list, l);
	}
}

static void pass_atomic(struct chase *c, uint32_t e)
{
	const struct event *x = &c->t->events[e];
	struct wide run = event_variables(c->t, x);

	if (op_reads(x->op))
		c->pending[x->thread] = better_link(c->pending[x->thread], seen_link(c, e));
	for (uint32_t v = run.first; op_writes(x->op) && v < run.first + run.count; v++)
		pass_sequences(c, e, v);
}

/* The effect of an event on later ones. */
static void pass_on(struct chase *c, uint32_t e)
{
	const struct event *x = &c->t->events[e];
	struct wide run;

	if (event_inert(x))
		return;
	if (op_is_access(x->op) && op_is_atomic(x->op))
		pass_atomic(c, e);
	if (x->op == OP_WRITE) {
		run = event_variables(c->t, x);
		for (uint32_t v = run.first; v < run.first + run.count; v++) {
			if (c->sequences[v] != NULL)
				g_array_set_size(c->sequences[v], 0);
		}
	}
	if (x->op == OP_FENCE && order_releases(event_order(x)))
		c->fence[x->thread] = after(c, e) ? e : NONE;
	if (x->op == OP_REL && after(c, e))
		c->release[x->target] = e + 1;
	if (x->op == OP_RREL && after(c, e))
		c->shared[x->target] = e + 1;
}

/* Alternatives without the link: a store of another thread, or a plain write, between head and
 * store. */
static void add_breakers(const struct chase *c, const struct link *link, GArray *atoms)
{
	const struct trace *t = c->t;
	struct event_list list = event_list_at(&t->index->variable_events, link->variable);
	uint32_t thread = t->events[link->head].thread;

	for (uint64_t i = 0; i < list.count; i++) {
		uint32_t w = list.items[i];
		const struct event *x = &t->events[w];
		struct smt_atom atom = { ATOM_BEFORE, w, link->store };

		if (!op_writes(x->op) || x->op == OP_RMW || x->thread == thread)
			continue;
		/* the write is not in between now: require the one of the two orders that fails
		 */
		if (place_of(c, w) != NONE && place_of(c, w) < place_of(c, link->head))
			atom = (struct smt_atom){ ATOM_BEFORE, link->head, w };
		g_array_append_val(atoms, atom);
	}
}

/* The alternatives on the chain to `last`. */
static void add_alternatives(const struct chase *c, uint32_t last, GArray *atoms)
{
	const struct trace *t = c->t;

	for (uint32_t e = last; cause_of(c, e) != e; e = cause_of(c, e)) {
		const struct link *link = g_hash_table_lookup(c->links, GUINT_TO_POINTER(e));
		uint32_t r = cause_of(c, e);

		if (link != NULL)
			add_breakers(c, link, atoms);
		if (!op_acquires(t->events[e].op) || !op_releases(t->events[r].op) ||
		    t->events[r].thread == t->events[e].thread)
			continue;
		struct smt_atom other[] = { { ATOM_BEFORE, e, r }, { ATOM_OUT, r, NONE } };
		g_array_append_vals(atoms, other, 2);
	}
}

/* Goes along the reordering, to the second of the pair. */
static bool go_along(struct chase *c, const uint32_t *sequence, uint32_t length, GArray *atoms,
                     uint32_t *end)
{
	bool started = false;

	for (uint32_t i = c->recorded; i < length; i++) {
		uint32_t e = sequence[i], cause = started ? find_cause(c, e) : NONE;
		bool of_pair = e == c->e1 || e == c->e2;

		if (of_pair && !started) {
			started = true;
			cause = e;
		} else if (of_pair) {
			*end = i + 1;
			/* its own plain observation is the race */
			cause = find_order(c, e);
			c->cause[e] = cause + 1;
			if (cause != NONE)
				add_alternatives(c, e, atoms);
			return cause == NONE;
		}
		c->cause[e] = cause + 1;
		c->place[e] = i + 1;
		if (cause != NONE)
			c->thread[c->t->events[e].thread] = e;
		pass_on(c, e);
	}
	return true;
}

bool chase_apart(struct chase *c, const uint32_t pair[2], const uint32_t *sequence,
                 uint32_t length, GArray *atoms, uint32_t *end)
{
	c->e1 = pair[0];
	c->e2 = pair[1];
	chase_start(c, sequence, length);
	bool apart = go_along(c, sequence, length, atoms, end);
	chase_end(c, sequence, length);
	return apart;
}
