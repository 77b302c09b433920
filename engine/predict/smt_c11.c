/*
 * smt_c11.c - pairs that no reordering brings next to each other and that race all the same:
 * a relaxed atomic's observation orders them in time, and orders nothing by C11.
 *
 * Asks for a correct reordering that holds both and has none of its happens-before between
 * them.  A reordering that has some is refused with the critical sections on the way: at
 * least one pair of them must come in the other order.  What a plain read observes counts as
 * order here too: it races itself, and what follows it is no race of its own.
 */
#include "engine/predict/smt_private.h"

#include <string.h>

struct chase { /* what happens after the first of the pair, in one reordering */
	const struct smt *s;
	uint32_t e1, e2;
	uint32_t *cause;            /* by event: the event that it follows at once, or NONE */
	uint32_t *thread;           /* by thread: its last event that happens after, or NONE */
	uint32_t *release, *shared; /* by object: such a release, exclusive and shared */
	uint32_t *sequence;         /* by variable: such a head of the release sequence in it */
	uint32_t *owner;            /* by variable: the thread that heads it */
	uint32_t *fence;            /* by thread: its last release fence, if such */
	uint32_t *pending;          /* by thread: a head read without acquire */
	bool stuck;                 /* the last refusal left nothing to change */
	uint32_t length;            /* of the accepted reordering */
};

bool c11_matters(const struct trace *t)
{
	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		struct event_list writers;

		if ((x->op != OP_AREAD && x->op != OP_RMW) || event_inert(x))
			continue;
		writers = trace_writers(t, e);
		for (uint64_t i = 0; i < writers.count; i++) {
			const struct event *w =
			        writers.items[i] == NONE ? NULL : &t->events[writers.items[i]];

			if (w != NULL && w->thread != x->thread && op_is_atomic(w->op) &&
			    (!order_acquires(event_order(x)) ||
			     !order_releases(event_order(w))))
				return true;
		}
	}
	return false;
}

static uint32_t *cells(uint64_t count)
{
	uint32_t *array = g_new(uint32_t, count + 1);

	memset(array, 0xff, sizeof(uint32_t) * (count + 1));
	return array;
}

static void chase_start(struct chase *c)
{
	const struct trace *t = c->s->t;

	c->cause = cells(t->events_count);
	c->thread = cells(t->threads_count);
	c->release = cells(t->objects_count);
	c->shared = cells(t->objects_count);
	c->sequence = cells(t->variables_count);
	c->owner = cells(t->variables_count);
	c->fence = cells(t->threads_count);
	c->pending = cells(t->threads_count);
}

static void chase_end(struct chase *c)
{
	uint32_t *all[] = { c->cause,    c->thread, c->release, c->shared,
		            c->sequence, c->owner,  c->fence,   c->pending };

	for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
		g_free(all[i]);
}

static bool after(const struct chase *c, uint32_t e)
{
	return e != NONE && c->cause[e] != NONE;
}

/* A head of a release sequence that an atomic read takes over, or NONE. */
static uint32_t read_head(const struct chase *c, uint32_t e)
{
	struct wide run = event_variables(c->s->t, &c->s->t->events[e]);

	for (uint32_t v = run.first; v < run.first + run.count; v++) {
		if (c->sequence[v] != NONE)
			return c->sequence[v];
	}
	return NONE;
}

static uint32_t written_before(const struct chase *c, uint32_t e)
{
	struct event_list writers = trace_writers(c->s->t, e);

	for (uint64_t i = 0; i < writers.count; i++) {
		if (after(c, writers.items[i]))
			return writers.items[i];
	}
	return NONE;
}

static uint32_t must_cause(const struct chase *c, uint32_t e)
{
	const struct trace *t = c->s->t;
	struct must_run run = trace_must_into(t, e);

	for (uint64_t i = 0; i < run.count; i++) {
		const struct must_edge *edge = &t->index->must[run.first + i];

		if (core_edge_counts(c->s->cores, edge) && after(c, edge->before))
			return edge->before;
	}
	return NONE;
}

/* The event that makes `e` happen after the first of the pair, or NONE. */
static uint32_t find_cause(const struct chase *c, uint32_t e)
{
	const struct event *x = &c->s->t->events[e];
	uint32_t cause = c->thread[x->thread];

	if (cause == NONE)
		cause = must_cause(c, e);
	if (cause != NONE || event_inert(x))
		return cause;
	if (x->op == OP_READ)
		return written_before(c, e);
	if (op_is_access(x->op) && op_reads(x->op) && order_acquires(event_order(x)))
		return read_head(c, e);
	if (x->op == OP_FENCE && order_acquires(event_order(x)))
		return c->pending[x->thread];
	if (op_acquires(x->op) && c->release[x->target] != NONE)
		return c->release[x->target];
	return x->op == OP_ACQ ? c->shared[x->target] : NONE;
}

static void pass_atomic(struct chase *c, uint32_t e)
{
	const struct event *x = &c->s->t->events[e];
	struct wide run = event_variables(c->s->t, x);
	uint32_t head = order_releases(event_order(x)) && after(c, e) ? e : c->fence[x->thread];

	if (op_reads(x->op) && read_head(c, e) != NONE)
		c->pending[x->thread] = read_head(c, e);
	for (uint32_t v = run.first; op_writes(x->op) && v < run.first + run.count; v++) {
		if (head != NONE || (x->op == OP_AWRITE && c->owner[v] != x->thread))
			c->sequence[v] = head;
		if (x->op == OP_AWRITE)
			c->owner[v] = x->thread;
	}
}

/* What an event hands on to later ones. */
static void pass_on(struct chase *c, uint32_t e)
{
	const struct event *x = &c->s->t->events[e];
	struct wide run;

	if (event_inert(x))
		return;
	if (op_is_access(x->op) && op_is_atomic(x->op))
		pass_atomic(c, e);
	if (x->op == OP_WRITE) {
		run = event_variables(c->s->t, x);
		for (uint32_t v = run.first; v < run.first + run.count; v++)
			c->sequence[v] = NONE;
	}
	if (x->op == OP_FENCE && order_releases(event_order(x)))
		c->fence[x->thread] = after(c, e) ? e : NONE;
	if (x->op == OP_REL && after(c, e))
		c->release[x->target] = e;
	if (x->op == OP_RREL && after(c, e))
		c->shared[x->target] = e;
}

/* The chain that led to `last` goes through these sections; turn one pair of them round. */
static bool refuse_chain(struct chase *c, struct smt_query *q, uint32_t last)
{
	const struct trace *t = c->s->t;
	GArray *atoms = g_array_new(FALSE, FALSE, sizeof(struct smt_atom));

	for (uint32_t e = last; c->cause[e] != e; e = c->cause[e]) {
		uint32_t r = c->cause[e];

		if (!op_acquires(t->events[e].op) || !op_releases(t->events[r].op) ||
		    t->events[r].thread == t->events[e].thread)
			continue;
		struct smt_atom other[] = { { ATOM_BEFORE, e, r }, { ATOM_OUT, r, NONE } };
		g_array_append_vals(atoms, other, 2);
	}
	if (atoms->len > 0)
		smt_query_require(q, (const struct smt_atom *)(void *)atoms->data, atoms->len);
	c->stuck = atoms->len == 0;
	g_array_free(atoms, TRUE);
	return false;
}

/* The same for the second of the pair: what it observes itself, plainly, is the race. */
static uint32_t cause_of_second(const struct chase *c, uint32_t e)
{
	const struct event *x = &c->s->t->events[e];

	if (x->op != OP_READ)
		return find_cause(c, e);
	return c->thread[x->thread] != NONE ? c->thread[x->thread] : must_cause(c, e);
}

static bool judge(void *context, struct smt_query *q, const uint32_t *sequence, uint32_t length)
{
	struct chase *c = context;
	bool good = true, started = false;

	chase_start(c);
	for (uint32_t i = 0; i < length; i++) {
		uint32_t e = sequence[i], cause = started ? find_cause(c, e) : NONE;
		bool of_pair = e == c->e1 || e == c->e2;

		if (of_pair && !started) {
			started = true;
			cause = e;
		} else if (of_pair) {
			c->length = i + 1;
			c->cause[e] = cause = cause_of_second(c, e);
			good = cause == NONE || refuse_chain(c, q, e);
			break;
		}
		c->cause[e] = cause;
		if (cause != NONE)
			c->thread[c->s->t->events[e].thread] = e;
		pass_on(c, e);
	}
	chase_end(c);
	return good;
}

enum smt_answer c11_query(struct smt *s, uint32_t e1, uint32_t e2, double seconds,
                          GArray *sequence, const struct progress *progress)
{
	struct smt_query *q = smt_query_new(s);
	struct chase c = { .s = s, .e1 = e1, .e2 = e2 };
	gint64 start = g_get_monotonic_time();
	double before = s->solver_seconds;
	enum smt_answer answer;

	smt_query_in(q, e1);
	smt_query_in(q, e2);
	smt_query_judge(q, judge, &c);
	answer = smt_query_solve(q, seconds, sequence, NULL, progress);
	if (answer == SMT_WITNESS)
		g_array_set_size(sequence, c.length);
	else if (c.stuck) /* a chain that no reordering is without */
		answer = SMT_IMPOSSIBLE;
	smt_query_free(q);
	s->solver_seconds = before + (double)(g_get_monotonic_time() - start) / 1e6;
	return answer;
}
