/*
 * check_order.c - the claim of an order violation: the pair does not commute and may come in
 * the other order, and the sequence has it in the other order.
 *
 * Accesses, frees, uses and destructions are decided here; for other objects, struct semantics
 * decides.
 */
#include "engine/witness/check_private.h"

/* Relation of two events, the first before the second. */
enum relation {
	RELATION_NONE,    /* no common object */
	RELATION_COMMUTE, /* they commute */
	RELATION_OPEN,    /* they do not commute; no good order is declared */
	RELATION_GOOD,    /* they do not commute; this is the good order */
	RELATION_WRONG,   /* they do not commute; the other order is the good one */
};

static bool refuse_pair(const struct checker *c, GString *reason, uint32_t a, uint32_t b,
                        const char *why)
{
	check_refuse_by(c, reason, "the pair", a, "and", b, " ");
	g_string_append(reason, why);
	return false;
}

/* Does the event access the block, or a synchronisation object in it? */
static bool event_touches(const struct checker *c, uint32_t e, uint32_t block)
{
	const struct event *x = at(c, e);

	if (!op_is_access(x->op))
		return event_block_used(c->t, x) == block;
	struct wide run = event_variables(c->t, x);
	for (uint32_t v = run.first; v < run.first + run.count; v++) {
		if (c->t->variables[v].block == block)
			return true;
	}
	return false;
}

static bool is_free(const struct checker *c, uint32_t e)
{
	return at(c, e)->op == OP_FREE && at(c, e)->target != NONE;
}

/* Is it a use that the object's destruction must not precede? Not the return of a woken waiter
 * or from a barrier, which POSIX allows after the destruction. */
static bool uses_object(const struct checker *c, uint32_t e)
{
	enum op op = at(c, e)->op;

	return op_table[op].operand == OPERAND_OBJECT && !op_tells(op) && op != OP_DESTROY &&
	       op != OP_WAKE && op != OP_DEPART;
}

/* The relation of access and free, use and destruction, two frees, two destructions. */
static enum relation relation_of_ends(const struct checker *c, uint32_t a, uint32_t b)
{
	bool same_object = at(c, a)->target == at(c, b)->target;

	if (is_free(c, a) && is_free(c, b))
		return same_object ? RELATION_WRONG : RELATION_NONE;
	if (is_free(c, a))
		return event_touches(c, b, at(c, a)->target) ? RELATION_WRONG : RELATION_NONE;
	if (is_free(c, b))
		return event_touches(c, a, at(c, b)->target) ? RELATION_GOOD : RELATION_NONE;
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

		if (block != NONE && event_touches(c, b, block))
			return true;
	}
	return false;
}

/* Are they events of one object whose specification decides? */
static bool of_one_object(const struct checker *c, uint32_t a, uint32_t b)
{
	const struct event *x = at(c, a), *y = at(c, b);
	bool calls =
	        (x->op == OP_ACT || x->op == OP_CALL) && (y->op == OP_ACT || y->op == OP_CALL);

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
	int order = s->good_order == NULL ? 0 : s->good_order(s->context, a, b);
	return order > 0 ? RELATION_GOOD : order < 0 ? RELATION_WRONG : RELATION_OPEN;
}

/* Does the invocation of this CALL have a RET? */
static bool comes_back(const struct checker *c, uint32_t call)
{
	uint32_t u = at(c, call)->thread, depth = 0, end = c->f.threads[u].count;

	for (uint32_t i = c->f.place[call] + 1; i < end; i++) {
		const struct event *x = at(c, facts_own(c, u)[i]);

		if (event_inert(x))
			continue;
		if (x->op == OP_CALL)
			depth++;
		else if (x->op == OP_RET && depth-- == 0)
			return true;
	}
	return false;
}

/* Instances of the specified invocations around an event, innermost first. */
static GArray *scopes_around(const struct checker *c, uint32_t e)
{
	GArray *around = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	uint32_t u = at(c, e)->thread, depth = 0;

	for (uint32_t i = c->f.place[e]; i-- > 0;) {
		const struct event *x = at(c, facts_own(c, u)[i]);

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

/* Rule 5: memory and locks in scopes of one object do not conflict. */
static bool spoken_for(const struct checker *c, uint32_t a, uint32_t b)
{
	bool common = false;

	if (c->f.scope == NULL || c->f.scope[a] == NONE || c->f.scope[b] == NONE ||
	    op_table[at(c, a)->op].class == OP_CLASS_CALL)
		return false;
	g_autoptr(GArray) x = scopes_around(c, a), y = scopes_around(c, b);

	for (guint i = 0; i < x->len; i++) {
		for (guint k = 0; k < y->len; k++)
			common |=
			        g_array_index(x, uint32_t, i) == g_array_index(y, uint32_t, k);
	}
	return common;
}

/* Is the other order of the pair (e1 before e2 in the trace) a violation? */
static bool is_violation(const struct checker *c, uint32_t e1, uint32_t e2, GString *reason)
{
	const uint32_t pair[2] = { e1, e2 };

	if (at(c, e1)->thread == at(c, e2)->thread)
		return refuse_pair(c, reason, e1, e2, "are of the same thread");
	for (int i = 0; i < 2; i++) {
		if (event_inert(at(c, pair[i])))
			return check_refuse(c, reason, "the pair", pair[i], "has no effect");
		if (at(c, pair[i])->op == OP_CALL && !comes_back(c, pair[i]))
			return check_refuse(c, reason, "the pair", pair[i], "never returns");
	}
	switch (relation_of(c, e1, e2)) {
	case RELATION_NONE:
		return refuse_pair(c, reason, e1, e2,
		                   "are not of one object, or of one without a specification");
	case RELATION_COMMUTE:
		return refuse_pair(c, reason, e1, e2, "commute");
	case RELATION_WRONG:
		return refuse_pair(c, reason, e1, e2,
		                   "are in the wrong order in the trace already, which is no "
		                   "violation that a reordering makes");
	default:
		break;
	}
	if (spoken_for(c, e1, e2))
		return refuse_pair(c, reason, e1, e2,
		                   "are inside of invocations of one object, whose "
		                   "specification speaks for them");
	return true;
}

/* Index of e2 (of its RET, for a scope), or `length`; `last`: no later event of its thread is
 * in the sequence. */
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

/* The sequence contains e2 and ends with e1, the earlier one in the trace. Rules 2 and 5 do
 * not apply to e1, nor to e2 when it is its thread's last event. */
bool claim_cov(struct checker *c, const uint32_t *sequence, size_t length, const uint32_t *pair,
               GString *reason)
{
	const struct requirements nothing = { .observation = false,
		                              .freed = false,
		                              .result = false };
	uint32_t e1 = MIN(pair[0], pair[1]), e2 = MAX(pair[0], pair[1]);
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
	size_t end = end_of(c, sequence, length - 1, e2, &last);
	if (end == length - 1) {
		g_string_append_printf(reason, "the pair: event %u is not in the sequence", e2);
		return false;
	}
	for (size_t i = 0; i < length; i++) {
		bool free_of = i == length - 1 || (i == end && last);

		if (!checker_step_asked(c, sequence[i], free_of ? nothing : ALL_REQUIREMENTS,
		                        reason))
			return false;
	}
	return invocations_closed(c, at(c, e1)->thread, reason);
}
