/*
 * check_order.c - the claim of an order violation: that the pair is one (two events of one
 * object that do not commute, in an order that is not theirs in the trace), and that the
 * sequence shows it.
 *
 * Whether two accesses, frees, uses and destructions commute is decided here; of all other
 * objects the table of the specifications tells (struct semantics).
 */
#include "engine/witness/check_private.h"

/* How two events of one object stand to each other, the first before the second. */
enum relation {
	RELATION_NONE,    /* of no common object */
	RELATION_COMMUTE, /* the order makes no difference */
	RELATION_OPEN,    /* they do not commute, and no order of them is the good one */
	RELATION_GOOD,    /* they do not commute, and this order is the good one */
	RELATION_WRONG,   /* ... and this one is not */
};

static bool refuse_pair(GString *reason, uint32_t a, uint32_t b, const char *why)
{
	g_string_append_printf(reason, "the pair: events %u and %u %s", a, b, why);
	return false;
}

/* Does the event touch the block: an access, or an operation on a lock, ... that lies in it? */
static bool touches(const struct checker *c, uint32_t e, uint32_t block)
{
	const struct event *x = at(c, e);
	struct wide run;

	if (!op_is_access(x->op))
		return event_block_used(c->t, x) == block;
	run = event_variables(c->t, x);
	for (uint32_t v = run.first; v < run.first + run.count; v++) {
		if (c->t->variables[v].block == block)
			return true;
	}
	return false;
}

static bool frees(const struct checker *c, uint32_t e)
{
	return at(c, e)->op == OP_FREE && at(c, e)->target != NONE;
}

/* A use of a synchronisation object that its destruction may not come before.  Who was woken, or
 * released by a barrier, may come out of it when it is destroyed already. */
static bool uses_object(const struct checker *c, uint32_t e)
{
	enum op op = at(c, e)->op;

	return op_table[op].operand == OPERAND_OBJECT && op != OP_DESTROY && op != OP_WAKE &&
	       op != OP_DEPART;
}

/* Of an access and a free, a use and a destruction, two frees, two destructions. */
static enum relation relation_of_ends(const struct checker *c, uint32_t a, uint32_t b)
{
	bool same_object = at(c, a)->target == at(c, b)->target;

	if (frees(c, a) && frees(c, b))
		return same_object ? RELATION_WRONG : RELATION_NONE;
	if (frees(c, a))
		return touches(c, b, at(c, a)->target) ? RELATION_WRONG : RELATION_NONE;
	if (frees(c, b))
		return touches(c, a, at(c, b)->target) ? RELATION_GOOD : RELATION_NONE;
	if (at(c, a)->op == OP_DESTROY && same_object &&
	    (at(c, b)->op == OP_DESTROY || uses_object(c, b)))
		return RELATION_WRONG;
	if (at(c, b)->op == OP_DESTROY && same_object && uses_object(c, a))
		return RELATION_GOOD;
	return RELATION_NONE;
}

static bool of_condition(enum op op)
{
	return op == OP_WAIT || op == OP_SIGNAL || op == OP_BROADCAST;
}

static bool common_block(const struct checker *c, uint32_t a, uint32_t b)
{
	struct wide run = event_variables(c->t, at(c, a));

	for (uint32_t v = run.first; v < run.first + run.count; v++) {
		uint32_t block = c->t->variables[v].block;

		if (block != NONE && touches(c, b, block))
			return true;
	}
	return false;
}

/* Events of one object whose specification tells whether they commute? */
static bool of_one_object(const struct checker *c, uint32_t a, uint32_t b)
{
	const struct event *x = at(c, a), *y = at(c, b);
	bool calls = (x->op == OP_ACT || x->op == OP_CALL) &&
	             (y->op == OP_ACT || y->op == OP_CALL);

	if (calls)
		return x->target == y->target && specified(c, x->target);
	if (of_condition(x->op) && of_condition(y->op))
		return x->target == y->target;
	return op_is_access(x->op) && op_is_access(y->op) && common_block(c, a, b);
}

static enum relation relation_of(const struct checker *c, uint32_t a, uint32_t b)
{
	const struct semantics *s = c->options.semantics;
	enum relation ends = relation_of_ends(c, a, b);
	int order;

	if (ends != RELATION_NONE)
		return ends;
	if (!of_one_object(c, a, b))
		return RELATION_NONE;
	if (s == NULL || s->commutes == NULL)
		return of_condition(at(c, a)->op) &&
		                       (at(c, a)->op == OP_WAIT) != (at(c, b)->op == OP_WAIT)
		               ? RELATION_OPEN
		               : RELATION_COMMUTE;
	if (s->commutes(s->context, a, b))
		return RELATION_COMMUTE;
	order = s->good_order == NULL ? 0 : s->good_order(s->context, a, b);
	return order > 0 ? RELATION_GOOD : order < 0 ? RELATION_WRONG : RELATION_OPEN;
}

/* Has the invocation that this CALL begins come back? */
static bool comes_back(const struct checker *c, uint32_t call)
{
	uint32_t u = at(c, call)->thread, depth = 0, end = c->f.start[u + 1];

	for (uint32_t i = c->f.start[u] + c->f.place[call] + 1; i < end; i++) {
		const struct event *x = at(c, c->f.own[i]);

		if (event_inert(x))
			continue;
		if (x->op == OP_CALL)
			depth++;
		else if (x->op == OP_RET && depth-- == 0)
			return true;
	}
	return false;
}

/* The open invocations on specified objects around an event, instances, innermost first. */
static GArray *scopes_around(const struct checker *c, uint32_t e)
{
	GArray *around = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	uint32_t u = at(c, e)->thread, depth = 0;

	for (uint32_t i = c->f.place[e]; i-- > 0;) {
		const struct event *x = at(c, c->f.own[c->f.start[u] + i]);

		if (event_inert(x) || (x->op != OP_CALL && x->op != OP_RET))
			continue;
		if (x->op == OP_RET)
			depth++;
		else if (depth > 0)
			depth--;
		else if (specified(c, x->target))
			g_array_append_val(around, x->target);
	}
	return around;
}

/* Rule 5: memory and locks inside of the invocations of one object conflict with nothing else
 * inside of them. */
static bool spoken_for(const struct checker *c, uint32_t a, uint32_t b)
{
	bool common = false;

	if (c->f.scope == NULL || c->f.scope[a] == NONE || c->f.scope[b] == NONE ||
	    op_table[at(c, a)->op].class == OP_CLASS_CALL)
		return false;
	GArray *x = scopes_around(c, a), *y = scopes_around(c, b);

	for (guint i = 0; i < x->len; i++) {
		for (guint k = 0; k < y->len; k++)
			common |= g_array_index(x, uint32_t, i) ==
			          g_array_index(y, uint32_t, k);
	}
	g_array_unref(x);
	g_array_unref(y);
	return common;
}

/* Is the pair, e1 before e2 in the trace, one whose other order is a violation? */
static bool is_violation(const struct checker *c, uint32_t e1, uint32_t e2, GString *reason)
{
	const uint32_t pair[2] = { e1, e2 };

	if (at(c, e1)->thread == at(c, e2)->thread)
		return refuse_pair(reason, e1, e2, "are of the same thread");
	for (int i = 0; i < 2; i++) {
		if (event_inert(at(c, pair[i])))
			return check_refuse(c, reason, "the pair", pair[i], "has no effect");
		if (at(c, pair[i])->op == OP_CALL && !comes_back(c, pair[i]))
			return check_refuse(c, reason, "the pair", pair[i], "never returns");
	}
	switch (relation_of(c, e1, e2)) {
	case RELATION_NONE:
		return refuse_pair(reason, e1, e2,
		                   "are not of one object, or of one without a specification");
	case RELATION_COMMUTE:
		return refuse_pair(reason, e1, e2, "commute");
	case RELATION_WRONG:
		return refuse_pair(reason, e1, e2,
		                   "are in the wrong order in the trace already, which is no "
		                   "violation that a reordering makes");
	default:
		break;
	}
	if (spoken_for(c, e1, e2))
		return refuse_pair(reason, e1, e2,
		                   "are inside of invocations of one object, whose "
		                   "specification speaks for them");
	return true;
}

/* Where e2 (its RET, for a scope) is in the sequence, or `length`; and whether nothing of its
 * thread follows it. */
static size_t end_of(const struct checker *c, const uint32_t *sequence, size_t length,
                     uint32_t e2, bool *last)
{
	size_t end = length;

	*last = true;
	for (size_t i = 0; i < length; i++) {
		uint32_t e = sequence[i];

		if (e >= c->t->events_count || at(c, e)->thread != at(c, e2)->thread)
			continue;
		if (end < length)
			*last = false;
		else if (at(c, e2)->op == OP_CALL
		                 ? at(c, e)->op == OP_RET && !event_inert(at(c, e)) &&
		                           invocation_of(c, e) == e2
		                 : e == e2)
			end = i;
	}
	return end;
}

/*
 * The sequence ends with e1, the earlier of the pair in the trace, and holds e2; of e1, and of
 * e2 when nothing of its thread follows it, rules 2 and 5 ask nothing.
 */
bool claim_cov(struct checker *c, const uint32_t *sequence, size_t length, const uint32_t *pair,
               GString *reason)
{
	const struct asked nothing = { .observation = false, .freed = false, .result = false };
	uint32_t e1 = MIN(pair[0], pair[1]), e2 = MAX(pair[0], pair[1]);
	size_t end;
	bool last;

	if (e2 >= c->t->events_count) {
		g_string_append(reason, "the pair: no such event");
		return false;
	}
	if (!is_violation(c, e1, e2, reason))
		return false;
	if (length == 0 || sequence[length - 1] != e1) {
		g_string_append_printf(reason,
		                       length > 0 && sequence[length - 1] == e2
		                               ? "the pair: event %u is not turned round: it "
		                                 "does not come last"
		                               : "the pair: the sequence does not end with "
		                                 "event %u",
		                       e1);
		return false;
	}
	end = end_of(c, sequence, length - 1, e2, &last);
	if (end == length - 1) {
		g_string_append_printf(reason, "the pair: event %u is not in the sequence", e2);
		return false;
	}
	for (size_t i = 0; i < length; i++) {
		bool free_of = i == length - 1 || (i == end && last);

		if (!checker_step_asked(c, sequence[i], free_of ? nothing : EVERYTHING, reason))
			return false;
	}
	return invocations_closed(c, at(c, e1)->thread, reason);
}
