/*
 * oracle.c - the truth about small traces: every state that a correct reordering can
 * reach, found by trying all of them.
 *
 * Written from semantics.md, "Correct reorderings", rules 1 to 6, with sets of events as bits
 * of an integer, so that it has nothing in common with the engine but the event model. A
 * state is the set of events done, the last writer of each variable, and the wakes that can
 * no longer come (their waker came before their wait); what may come next depends only on
 * these, so each state is expanded once.
 */
#include "tests/property/oracle_private.h"

#include <string.h>

/* Of the thread's own earlier events on the same object, the last one with this op. */
static uint32_t last_own(const struct rules *r, uint32_t e, enum op op)
{
	for (uint32_t f = e; f-- > 0;) {
		if (event(r, f)->thread == event(r, e)->thread && is(r, f, op) &&
		    same_target(r, e, f))
			return f;
	}
	return NONE;
}

static void rule_threads(struct rules *r)
{
	for (uint32_t e = 0; e < r->n; e++) {
		uint32_t u = event(r, e)->target;

		if (is(r, e, OP_FORK) && r->length[u] > 0)
			r->must[r->order[u][0]] |= bit(e);
		if (is(r, e, OP_JOIN)) {
			for (uint32_t i = 0; i < r->length[u]; i++)
				r->must[e] |= bit(r->order[u][i]);
		}
	}
}

static void rule_messages(struct rules *r)
{
	for (uint32_t e = 0; e < r->n; e++) {
		for (uint32_t f = 0; f < e; f++) {
			if (is(r, e, OP_RCV) && is(r, f, OP_SND) && same_target(r, e, f))
				r->must[e] |= bit(f);
		}
	}
}

/* The n-th take after the (n-k)-th post. */
static void rule_semaphores(struct rules *r)
{
	for (uint32_t e = 0; e < r->n; e++) {
		int takes = 0, posts = 0;

		if (!is(r, e, OP_TAKE))
			continue;
		for (uint32_t f = 0; f <= e; f++)
			takes += is(r, f, OP_TAKE) && same_target(r, e, f);
		for (uint32_t f = 0; f < r->n; f++) {
			if (!is(r, f, OP_POST) || !same_target(r, e, f))
				continue;
			if (++posts == takes - r->t->objects[event(r, e)->target].count)
				r->paired[e] |= bit(f);
		}
	}
	for (uint32_t e = 0; e < r->n; e++) {
		int count;

		if (!is(r, e, OP_TAKETRYFAIL))
			continue;
		count = r->t->objects[event(r, e)->target].count;
		for (uint32_t f = 0; f < r->n; f++) {
			if (!same_target(r, e, f))
				continue;
			if (is(r, f, OP_POST))
				r->object_posts[e] |= bit(f);
			if (is(r, f, OP_TAKE))
				r->object_takes[e] |= bit(f);
		}
		count += __builtin_popcount(r->object_posts[e] & (bit(e) - 1));
		count -= __builtin_popcount(r->object_takes[e] & (bit(e) - 1));
		r->empty[e] = count == 0;
	}
}

/* Every arrive of a round before each depart of it; the first arrive after a depart (of
 * the round) opens the next. */
static void rule_barriers(struct rules *r)
{
	for (uint32_t b = 0; b < r->t->objects_count; b++) {
		int round[MAX_EVENTS], now = 0;
		bool departed = false;

		for (uint32_t e = 0; e < r->n; e++) {
			round[e] = -1;
			if (event(r, e)->target != b)
				continue;
			if (is(r, e, OP_ARRIVE)) {
				now += departed;
				departed = false;
				round[e] = now;
			} else if (is(r, e, OP_DEPART)) {
				uint32_t own = last_own(r, e, OP_ARRIVE);

				round[e] = own == NONE ? now : round[own];
				departed |= round[e] == now;
			}
		}
		for (uint32_t e = 0; e < r->n; e++) {
			for (uint32_t f = 0; f < r->n; f++) {
				if (round[e] >= 0 && round[e] == round[f] &&
				    is(r, e, OP_DEPART) && is(r, f, OP_ARRIVE))
					r->paired[e] |= bit(f);
			}
		}
	}
}

static void rule_conditions(struct rules *r)
{
	set used = 0;

	for (uint32_t e = 0; e < r->n; e++) {
		r->wait[e] = r->waker[e] = NONE;
		if (!is(r, e, OP_WAKE))
			continue;
		r->wait[e] = last_own(r, e, OP_WAIT);
		if (r->wait[e] == NONE || event(r, e)->flags & EVENT_TRY) /* timed out */
			continue;
		for (uint32_t f = r->wait[e] + 1; f < e && r->waker[e] == NONE; f++) {
			if (!same_target(r, e, f))
				continue;
			if (is(r, f, OP_BROADCAST) || (is(r, f, OP_SIGNAL) && !(used & bit(f))))
				r->waker[e] = f;
		}
		if (r->waker[e] == NONE)
			continue;
		if (is(r, r->waker[e], OP_SIGNAL))
			used |= bit(r->waker[e]);
		r->must[e] |= bit(r->waker[e]) | bit(r->wait[e]);
		r->paired[e] |= bit(r->waker[e]);
	}
}

static bool in_block(const struct rules *r, uint32_t e, uint32_t block)
{
	enum op op = (enum op)event(r, e)->op;

	if (event_inert(event(r, e))) /* names an object, and uses no block */
		return false;
	if (op_table[op].operand == OPERAND_OBJECT && op != OP_WAKE && op != OP_DEPART)
		return r->t->objects[event(r, e)->target].block == block;
	if (!op_is_access(op))
		return false;
	struct wide run = event_variables(r->t, event(r, e));
	for (uint32_t v = run.first; v < run.first + run.count; v++) {
		if (r->t->variables[v].block == block)
			return true;
	}
	return false;
}

static void rule_blocks(struct rules *r)
{
	for (uint32_t b = 0; b < r->t->blocks_count; b++) {
		const struct block *block = &r->t->blocks[b];

		for (uint32_t e = 0; e < r->n; e++) {
			if (op_table[event(r, e)->op].operand == OPERAND_OBJECT &&
			    r->t->objects[event(r, e)->target].block == b &&
			    block->alloc != NONE && block->alloc < e)
				r->must[e] |= bit(block->alloc);
			if (!in_block(r, e, b))
				continue;
			if (block->alloc != NONE)
				r->must[e] |= bit(block->alloc);
			if (block->free != NONE)
				r->freed[e] |= bit(block->free);
		}
		if (block->free != NONE && block->alloc != NONE)
			r->must[block->free] |= bit(block->alloc);
		for (uint32_t c = 0; c < r->t->blocks_count; c++) {
			const struct block *next = &r->t->blocks[c];

			if (next->name == block->name && block->free != NONE &&
			    next->alloc != NONE && next->alloc > block->free)
				r->must[next->alloc] |= bit(block->free);
		}
	}
	for (uint32_t e = 0; e < r->n; e++) {
		for (uint32_t f = 0; f < e; f++) {
			if (is(r, e, OP_DESTROY) && same_target(r, e, f) &&
			    op_table[event(r, f)->op].operand == OPERAND_OBJECT)
				r->freed[f] |= bit(e);
		}
	}
}

/* Invocations of one object keep the order in which they took effect. */
static void rule_invocations(struct rules *r)
{
	for (uint32_t e = 0; e < r->n; e++) {
		for (uint32_t f = 0; f < e; f++) {
			if ((is(r, e, OP_ACT) || is(r, e, OP_RET)) && same_target(r, e, f) &&
			    (is(r, f, OP_ACT) || is(r, f, OP_RET)))
				r->must[e] |= bit(f);
		}
	}
}

static bool exclusive(const struct rules *r, uint32_t e)
{
	return event(r, e)->op == OP_ACQ;
}

static bool acquires(const struct rules *r, uint32_t e)
{
	return is(r, e, OP_ACQ) || is(r, e, OP_RACQ);
}

/*
 * Requires that some other thread holds the lock, not necessarily the holder of the trace:
 * exclusively where it was held so, else in any mode. If its own thread held it, or no
 * thread, nothing is required; but if the lock had been destroyed and not been acquired
 * since, the destruction must come before.
 */
static void rule_tryfail(struct rules *r, uint32_t e)
{
	bool own = false, held = false, shared = true;

	for (uint32_t a = 0; a < e; a++) {
		if (!acquires(r, a) || !same_target(r, a, e) || (r->release[a] & (bit(e) - 1)))
			continue;
		held = true;
		own |= event(r, a)->thread == event(r, e)->thread;
		shared &= is(r, a, OP_RACQ);
	}
	for (uint32_t f = e; !held && f-- > 0;) {
		if (!same_target(r, f, e))
			continue;
		if (acquires(r, f))
			break;
		if (is(r, f, OP_DESTROY)) {
			r->destroyed[e] |= bit(f);
			break;
		}
	}
	for (uint32_t a = 0; held && !own && a < r->n; a++) {
		if (acquires(r, a) && same_target(r, a, e) &&
		    event(r, a)->thread != event(r, e)->thread && (shared || is(r, a, OP_ACQ)))
			r->holders[e] |= bit(a);
	}
}

static void rule_locks(struct rules *r)
{
	for (uint32_t a = 0; a < r->n; a++) {
		if (!acquires(r, a))
			continue;
		for (uint32_t f = a + 1; f < r->n && r->release[a] == 0; f++) {
			if (event(r, f)->thread == event(r, a)->thread &&
			    same_target(r, a, f) &&
			    is(r, f, exclusive(r, a) ? OP_REL : OP_RREL))
				r->release[a] = bit(f);
		}
		for (uint32_t b = 0; b < r->n; b++) {
			if (b != a && acquires(r, b) && same_target(r, a, b) &&
			    (exclusive(r, a) || exclusive(r, b)))
				r->rivals[a] |= bit(b);
		}
	}
	for (uint32_t e = 0; e < r->n; e++) {
		if (is(r, e, OP_TRYFAIL))
			rule_tryfail(r, e);
	}
}

static uint32_t value_read(const struct rules *r, uint32_t e)
{
	const struct event *x = event(r, e);

	return x->op == OP_RMW && x->aux != 0 ? trace_value(r->t, x->aux).first : x->aux;
}

static void rule_observation(struct rules *r)
{
	uint8_t last[MAX_VARIABLES];

	memset(last, 255, sizeof(last));
	for (uint32_t e = 0; e < r->n; e++) {
		if (!op_is_access(event(r, e)->op) || event_inert(event(r, e)))
			continue;
		struct wide run = event_variables(r->t, event(r, e));
		for (uint32_t v = run.first; v < run.first + run.count; v++) {
			r->writers[e][v] = last[v];
			if (last[v] == 255 && op_reads(event(r, e)->op) && run.count == 1 &&
			    r->initial[v] == 0)
				r->initial[v] = value_read(r, e);
			if (op_writes(event(r, e)->op))
				last[v] = (uint8_t)e;
		}
	}
}

struct rules *rules_new(const struct trace *t, bool use_values, bool keep_sections)
{
	struct rules *r = g_new0(struct rules, 1);

	r->t = t;
	r->n = (uint32_t)t->events_count;
	r->threads = (uint32_t)t->threads_count;
	r->variables = (uint32_t)t->variables_count;
	r->use_values = use_values;
	r->keep_sections = keep_sections;
	BUG_ON(r->n >= MAX_EVENTS || r->threads > MAX_THREADS || r->variables > MAX_VARIABLES);
	for (uint32_t e = 0; e < r->n; e++) {
		uint32_t u = t->events[e].thread;

		r->position[e] = r->length[u];
		r->order[u][r->length[u]++] = e;
	}
	rule_threads(r);
	rule_messages(r);
	rule_semaphores(r);
	rule_barriers(r);
	rule_conditions(r);
	rule_blocks(r);
	rule_invocations(r);
	rule_locks(r);
	rule_observation(r);
	for (uint32_t e = 0; e < r->n; e++)
		r->must[e] |= r->paired[e];
	return r;
}

static uint32_t value_written(const struct rules *r, uint32_t e)
{
	const struct event *x = event(r, e);

	return x->op == OP_RMW && x->aux != 0 ? trace_value(r->t, x->aux).second : x->aux;
}

/* Rule 2 for one reading event. */
static bool observes(const struct rules *r, const struct state *s, uint32_t e)
{
	struct wide run = event_variables(r->t, event(r, e));
	uint32_t v = run.first, w = s->last[v], value = value_read(r, e);
	bool same = true;

	for (uint32_t i = run.first; i < run.first + run.count; i++)
		same &= s->last[i] == r->writers[e][i];
	if (same || !r->use_values || run.count != 1 || value == 0)
		return same;
	if (w == 255)
		return r->initial[v] == value;
	return event_variables(r->t, event(r, w)).count == 1 && value_written(r, w) == value;
}

bool rules_allow_next(const struct rules *r, const struct state *s, uint32_t e)
{
	const struct event *x = event(r, e);

	if (event_inert(x)) /* a thread begins with it no earlier than with any other */
		return (r->must[e] & s->done) == r->must[e];
	if ((r->must[e] & s->done) != r->must[e] || (r->freed[e] & s->done) != 0 ||
	    (s->spoiled & bit(e)) != 0)
		return false;
	if (op_is_access(x->op) && op_reads(x->op) && !observes(r, s, e))
		return false;
	if (acquires(r, e)) {
		for (uint32_t a = 0; a < r->n; a++) {
			if ((r->rivals[e] & s->done & bit(a)) == 0)
				continue;
			if (r->release[a] == 0 || (s->done & r->release[a]) == 0)
				return false;
			if (r->keep_sections && a > e)
				return false;
		}
	}
	if ((r->destroyed[e] & s->done) != r->destroyed[e])
		return false;
	if (x->op == OP_TRYFAIL && r->holders[e] != 0) {
		for (uint32_t a = 0; a < r->n; a++) {
			if ((r->holders[e] & s->done & bit(a)) != 0 &&
			    (s->done & r->release[a]) == 0)
				return true;
		}
		return false;
	}
	if (x->op == OP_TAKETRYFAIL && r->empty[e])
		return r->t->objects[x->target].count +
		               __builtin_popcount(s->done & r->object_posts[e]) -
		               __builtin_popcount(s->done & r->object_takes[e]) ==
		       0;
	return true;
}

void rules_take_next(const struct rules *r, struct state *s, uint32_t e)
{
	const struct event *x = event(r, e);

	for (uint32_t w = 0; w < r->n; w++) {
		if (is(r, w, OP_WAKE) && r->waker[w] == e && (s->done & bit(r->wait[w])) == 0)
			s->spoiled |= bit(w);
	}
	s->done |= bit(e);
	if (op_is_access(x->op) && op_writes(x->op) && !event_inert(x)) {
		struct wide run = event_variables(r->t, x);

		for (uint32_t v = run.first; v < run.first + run.count; v++)
			s->last[v] = (uint8_t)e;
	}
}

static guint state_hash(gconstpointer p)
{
	const unsigned char *bytes = p;
	guint hash = 2166136261u;

	for (size_t i = 0; i < sizeof(struct state); i++)
		hash = (hash ^ bytes[i]) * 16777619u;
	return hash;
}

static gboolean state_equal(gconstpointer a, gconstpointer b)
{
	return memcmp(a, b, sizeof(struct state)) == 0;
}

uint32_t rules_next(const struct rules *r, set done, uint32_t u)
{
	for (uint32_t i = 0; i < r->length[u]; i++) {
		if ((done & bit(r->order[u][i])) == 0)
			return r->order[u][i];
	}
	return NONE;
}

static void explore(const struct rules *r,
                    void (*visit)(void *context, const struct rules *r, set done),
                    void *context)
{
	GHashTable *seen = g_hash_table_new_full(state_hash, state_equal, g_free, NULL);
	GPtrArray *stack = g_ptr_array_new();
	struct state *start = g_new0(struct state, 1);

	memset(start->last, 255, sizeof(start->last));
	g_hash_table_add(seen, start);
	g_ptr_array_add(stack, start);
	while (stack->len > 0) {
		const struct state *s = g_ptr_array_remove_index(stack, stack->len - 1);

		visit(context, r, s->done);
		for (uint32_t u = 0; u < r->threads; u++) {
			uint32_t e = rules_next(r, s->done, u);

			if (e == NONE || !rules_allow_next(r, s, e))
				continue;
			struct state *after = g_memdup2(s, sizeof(*s));
			rules_take_next(r, after, e);
			if (g_hash_table_contains(seen, after)) {
				g_free(after);
				continue;
			}
			g_hash_table_add(seen, after);
			g_ptr_array_add(stack, after);
		}
	}
	g_ptr_array_free(stack, TRUE);
	g_hash_table_destroy(seen);
}

/* A data race's pair, by the words of semantics.md. */
static bool racing(const struct rules *r, uint32_t e, uint32_t f)
{
	const struct event *x = event(r, e), *y = event(r, f);

	if (!op_is_access(x->op) || !op_is_access(y->op) || event_inert(x) || event_inert(y) ||
	    x->thread == y->thread)
		return false;
	if (!op_writes(x->op) && !op_writes(y->op))
		return false;
	if (op_is_atomic(x->op) && op_is_atomic(y->op))
		return false;
	struct wide a = event_variables(r->t, x);
	struct wide b = event_variables(r->t, y);
	return a.first < b.first + b.count && b.first < a.first + a.count;
}

static void note_races(void *context, const struct rules *r, set done)
{
	bool *races = context;
	uint32_t next[MAX_THREADS];

	for (uint32_t u = 0; u < r->threads; u++) {
		next[u] = rules_next(r, done, u);
		if (next[u] != NONE && (r->must[next[u]] & done) != r->must[next[u]])
			next[u] = NONE;
	}
	for (uint32_t u = 0; u < r->threads; u++) {
		for (uint32_t v = 0; v < u; v++) {
			uint32_t e = MIN(next[u], next[v]), f = MAX(next[u], next[v]);

			if (f != NONE && racing(r, e, f))
				races[e * r->n + f] = true;
		}
	}
}

static bool *races_of(const struct trace *t, bool use_values, bool keep_sections)
{
	struct rules *r = rules_new(t, use_values, keep_sections);
	bool *races = g_new0(bool, (size_t)r->n * r->n + 1);

	explore(r, note_races, races);
	g_free(r);
	return races;
}

bool *oracle_races(const struct trace *t, bool use_values)
{
	return races_of(t, use_values, false);
}

bool *oracle_sync_preserving_races(const struct trace *t)
{
	return races_of(t, false, true);
}

struct visitor {
	void (*state)(void *context, uint32_t done);
	void *context;
};

static void visit(void *context, const struct rules *r, set done)
{
	const struct visitor *v = context;

	v->state(v->context, done);
}

void oracle_visit(const struct trace *t, bool use_values, bool keep_sections,
                  void (*state)(void *context, uint32_t done), void *context)
{
	struct rules *r = rules_new(t, use_values, keep_sections);

	explore(r, visit, &(struct visitor){ state, context });
	g_free(r);
}

bool oracle_next(const struct trace *t, uint32_t done, uint32_t e)
{
	struct rules *r = rules_new(t, false, false);
	bool next = rules_next(r, done, event(r, e)->thread) == e &&
	            (r->must[e] & done) == r->must[e];

	g_free(r);
	return next;
}

void oracle_must(const struct trace *t, uint32_t *before)
{
	struct rules *r = rules_new(t, false, false);

	for (uint32_t e = 0; e < r->n; e++)
		before[e] = r->must[e];
	g_free(r);
}

bool oracle_is_reordering(const struct trace *t, const uint32_t *sequence, size_t length,
                          bool use_values)
{
	struct rules *r = rules_new(t, use_values, false);
	struct state s = { 0 };
	bool good = true;

	memset(s.last, 255, sizeof(s.last));
	for (size_t i = 0; i < length && good; i++) {
		uint32_t e = sequence[i];

		good = e < r->n && rules_next(r, s.done, event(r, e)->thread) == e &&
		       rules_allow_next(r, &s, e);
		if (good)
			rules_take_next(r, &s, e);
	}
	g_free(r);
	return good;
}
