/*
 * check_rules.c - rules 1 to 4 and 6 of semantics.md for the next event, and the state changes
 * when it is applied.
 */
#include "engine/witness/check_private.h"

bool rule_must(const struct checker *c, uint32_t e, GString *reason)
{
	const GArray *needs = c->f.needs;
	uint32_t count;

	if (!(c->f.blocked[e / 64] >> (e % 64) & 1))
		return true;
	for (guint i = facts_first(needs, e); i < needs->len; i++) {
		const struct must_need *n = &g_array_index(needs, struct must_need, i);

		if (n->after != e)
			break;
		if (n->object != NONE && waits_decide(c, n->object))
			continue;
		const uint32_t *before = need_events(&c->f, n, &count);
		for (uint32_t k = 0; k < count; k++) {
			if (taken(c, before[k]))
				continue;
			return check_refuse_by(c, reason, "rule 4 (must-order)", e,
			                       "comes before", before[k], "");
		}
	}
	return true;
}

/* Rule 4, conditional half: a wake is impossible when its waker came before its wait. */
static bool rule_wake(const struct checker *c, uint32_t e, GString *reason)
{
	guint i = GPOINTER_TO_UINT(g_hash_table_lookup(c->f.woken, GUINT_TO_POINTER(e + 1)));

	if (i == 0 || !c->waker_too_early[i - 1])
		return true;
	if (waits_decide(c, at(c, e)->target))
		return true;
	const struct condition_wake *w =
	        &g_array_index(c->f.wakes, struct condition_wake, i - 1);
	return check_refuse_by(c, reason, "rule 4 (must-order)", e, "was ended by", w->waker,
	                       ", which here comes before the wait");
}

static bool rule_allocated(const struct checker *c, uint32_t e, uint32_t block, GString *reason)
{
	uint32_t alloc = block == NONE ? NONE : c->t->blocks[block].alloc;

	return alloc == NONE || taken(c, alloc) ||
	       check_refuse_by(c, reason, "rule 4 (must-order)", e, "comes before", alloc,
	                       ", which allocates its block");
}

static bool rule_block(const struct checker *c, uint32_t block, uint32_t e, bool pair,
                       GString *reason)
{
	const struct block *b = &c->t->blocks[block];

	if (!rule_allocated(c, e, block, reason))
		return false;
	if (!pair && b->free != NONE && taken(c, b->free))
		return check_refuse_by(c, reason, "rule 6 (freed blocks)", e, "comes after",
		                       b->free, ", which frees its block");
	if (b->alloc != NONE)
		return true;
	uint32_t owner = c->f.stack_of[block];
	if (owner == NONE || owner == at(c, e)->thread || thread_first(c, owner) == NONE)
		return true;
	if (!taken(c, thread_first(c, owner)))
		return check_refuse_by(c, reason, "rule 4 (must-order)", e, "comes before",
		                       thread_first(c, owner),
		                       ", the first of the thread of this stack");
	if (!pair && taken(c, thread_last(c, owner)))
		return check_refuse_by(c, reason, "rule 6 (freed blocks)", e, "comes after",
		                       thread_last(c, owner),
		                       ", the last of the thread of this stack");
	return true;
}

/* Rules 4 and 6 for the blocks of an access; rule 6 does not apply to the pair. */
static bool rule_blocks(const struct checker *c, uint32_t e, bool pair, GString *reason)
{
	struct wide run = event_variables(c->t, at(c, e));
	uint32_t last = NONE;

	for (uint32_t v = run.first; v < run.first + run.count; v++) {
		uint32_t block = c->t->variables[v].block;

		if (block != last && block != NONE && !rule_block(c, block, e, pair, reason))
			return false;
		last = block;
	}
	return true;
}

static uint32_t value_read(const struct checker *c, const struct event *x)
{
	return x->op == OP_RMW && x->aux != 0 ? trace_value(c->t, x->aux).first : x->aux;
}

static uint32_t value_written(const struct checker *c, const struct event *x)
{
	return x->op == OP_RMW && x->aux != 0 ? trace_value(c->t, x->aux).second : x->aux;
}

/* With --values: the same value from another write of the same bytes. */
static bool same_value(const struct checker *c, const struct event *x, struct wide run)
{
	uint32_t value = value_read(c, x), w = c->last[run.first];

	if (value == 0)
		return false;
	if (w == NONE)
		return run.count == 1 && c->f.initial[run.first] == value;
	struct wide written = event_variables(c->t, at(c, w));
	if (written.first != run.first || written.count != run.count)
		return false;
	for (uint32_t v = run.first; v < run.first + run.count; v++) {
		if (c->last[v] != w)
			return false;
	}
	return value_written(c, at(c, w)) == value;
}

static void append_writer(const struct checker *c, uint32_t w, GString *out)
{
	if (w == NONE)
		g_string_append(out, "the initial value");
	else
		trace_append_event(c->t, w, out);
}

/* The last writer of a variable so far, or NONE. */
static uint32_t last_write(const struct checker *c, uint32_t variable)
{
	uint32_t last = c->last[variable];

	for (uint32_t e = c->recorded; last == NONE && e-- > 0;) {
		const struct event *x = at(c, e);
		struct wide run = event_variables(c->t, x);

		if (op_is_access(x->op) && op_writes(x->op) && !event_inert(x) &&
		    variable >= run.first && variable < run.first + run.count)
			last = e;
	}
	return last;
}

static bool rule_observation(const struct checker *c, uint32_t e, GString *reason)
{
	const struct event *x = at(c, e);
	struct wide run = event_variables(c->t, x);
	const uint32_t *observed =
	        run.count == 1 ? &c->f.writer[e]
	                       : &g_array_index(c->f.wide, uint32_t, c->f.writer[e]);

	for (uint32_t i = 0; i < run.count; i++) {
		if (last_is(c, run.first + i, observed[i]))
			continue;
		if (c->options.use_values && same_value(c, x, run))
			return true;
		check_refuse(c, reason, "rule 2 (observation)", e, "sees ");
		if (reason != NULL) {
			append_writer(c, last_write(c, run.first + i), reason);
			g_string_append(reason, ", in the trace ");
			append_writer(c, observed[i], reason);
		}
		return false;
	}
	return true;
}

static bool rule_lock(const struct checker *c, uint32_t e, GString *reason)
{
	const struct event *x = at(c, e);
	uint32_t o = x->target, holder = c->owner[o];

	if (holder != NONE)
		return check_refuse(c, reason, "rule 3 (locks)", e,
		                    "comes while %s holds the lock",
		                    trace_thread_name(c->t, holder));
	if (x->op == OP_ACQ && c->readers[o] > 0)
		return check_refuse(c, reason, "rule 3 (locks)", e,
		                    "comes while %u thread%s the lock shared", c->readers[o],
		                    c->readers[o] == 1 ? " holds" : "s hold");
	return true;
}

static bool rule_tryfail(const struct checker *c, uint32_t e, GString *reason)
{
	uint32_t o = at(c, e)->target;
	guint need = GPOINTER_TO_UINT(g_hash_table_lookup(c->f.tried, GUINT_TO_POINTER(e + 1)));

	switch (need) {
	case 0:
		return true;
	case TRIED_EXCLUSIVE:
		return c->owner[o] != NONE ||
		       check_refuse(c, reason, "rule 2 (observation)", e,
		                    "failed as another thread held the lock exclusively, and "
		                    "here none does");
	case TRIED_ANY:
		return c->owner[o] != NONE || c->readers[o] > 0 ||
		       check_refuse(c, reason, "rule 2 (observation)", e,
		                    "failed as other threads held the lock, and here none "
		                    "does");
	default:
		return taken(c, need - TRIED_DESTROYED) ||
		       check_refuse_by(c, reason, "rule 2 (observation)", e, "failed after",
		                       need - TRIED_DESTROYED, ", which comes later here");
	}
}

/* Rules 4 and 6 for the block of a synchronisation object. */
static bool rule_object_block(const struct checker *c, uint32_t e, bool pair, GString *reason)
{
	uint32_t block = event_block_used(c->t, at(c, e));

	if (block == NONE)
		return true;
	const struct block *b = &c->t->blocks[block];
	if (!rule_allocated(c, e, block, reason))
		return false;
	return pair || b->free == NONE || !taken(c, b->free) ||
	       check_refuse_by(c, reason, "rule 6 (freed blocks)", e, "comes after", b->free,
	                       ", which frees its block");
}

/* An object's later destruction must not have come before. */
static bool rule_destroyed(const struct checker *c, uint32_t e, GString *reason)
{
	uint32_t d = c->f.destroy == NULL ? 0 : c->f.destroy[e];

	while (d != 0 && !taken(c, d - 1))
		d = c->f.destroy[d - 1];
	return d == 0 || check_refuse_by(c, reason, "rule 6 (freed blocks)", e, "comes after",
	                                 d - 1, ", which destroys its object");
}

bool rule_alive(const struct checker *c, uint32_t e)
{
	return rule_object_block(c, e, false, NULL) && rule_destroyed(c, e, NULL);
}

/* The pair itself may follow the destruction, or the free. */
static bool rule_sync(const struct checker *c, uint32_t e, struct requirements asked,
                      GString *reason)
{
	bool free_destroyed = !asked.freed;
	const struct event *x = at(c, e);

	if (!rule_object_block(c, e, free_destroyed, reason))
		return false;
	if (!free_destroyed && !rule_destroyed(c, e, reason))
		return false;
	if (op_acquires(x->op)) {
		if (c->f.scope != NULL && c->f.lock_owner[x->target] != NONE)
			return true; /* the object's own lock: covered by rule 5 */
		return rule_lock(c, e, reason);
	}
	if (x->op == OP_WAKE)
		return rule_wake(c, e, reason);
	if (!asked.observation)
		return true;
	if (x->op == OP_TRYFAIL)
		return (c->f.scope != NULL && c->f.lock_owner[x->target] != NONE) ||
		       rule_tryfail(c, e, reason);
	if (x->op == OP_TAKETRYFAIL && c->count[x->target] != 0 &&
	    g_hash_table_contains(c->f.empty, GUINT_TO_POINTER(e + 1)))
		return check_refuse(c, reason, "rule 2 (observation)", e,
		                    "found no count in the trace, and finds %u",
		                    c->count[x->target]);
	return true;
}

/* -- all rules ----------------------------------------------------------------------------- */

static bool rule5_covers(const struct checker *c, uint32_t e)
{
	return c->f.scope != NULL && c->f.scope[e] != NONE;
}

bool rules_allow(const struct checker *c, uint32_t e, struct requirements asked,
                 GString *reason)
{
	if (e >= c->t->events_count) {
		if (reason != NULL)
			g_string_append_printf(
			        reason, "event %u: the trace has %" G_GUINT64_FORMAT " events",
			        e, c->t->events_count);
		return false;
	}
	const struct event *x = at(c, e);
	if (c->f.place[e] != c->taken[x->thread])
		return taken(c, e)
		               ? check_refuse(c, reason, "rule 1 (prefixes)", e, "comes twice")
		               : check_refuse_by(c, reason, "rule 1 (prefixes)", e,
		                                 "comes before",
		                                 facts_own(c, x->thread)[c->taken[x->thread]],
		                                 ", an earlier one of its thread");
	if (!rule_must(c, e, reason))
		return false;
	if (event_inert(x)) /* inert: uses no block, although its object is in one */
		return op_table[x->op].operand != OPERAND_OBJECT ||
		       rule_allocated(c, e, c->t->objects[x->target].block, reason);
	switch (op_table[x->op].class) {
	case OP_CLASS_ACCESS:
		if (!rule_blocks(c, e, !asked.freed, reason))
			return false;
		return !asked.observation || !op_reads(x->op) || rule5_covers(c, e) ||
		       rule_observation(c, e, reason);
	case OP_CLASS_SYNC:
		return op_table[x->op].operand != OPERAND_OBJECT ||
		       rule_sync(c, e, asked, reason);
	default:
		return true;
	}
}

static void take_lock(struct checker *c, const struct event *x)
{
	uint32_t o = x->target;

	if (x->op == OP_ACQ)
		cell_set(c, &c->owner[o], x->thread);
	else if (x->op == OP_REL)
		cell_set(c, &c->owner[o], NONE);
	else if (x->op == OP_RACQ)
		cell_set(c, &c->readers[o], c->readers[o] + 1);
	else
		cell_set(c, &c->readers[o], c->readers[o] - (c->readers[o] > 0));
}

static void take_waker(struct checker *c, uint32_t e)
{
	for (guint i = facts_first(c->f.wakes, e); i < c->f.wakes->len; i++) {
		const struct condition_wake *w =
		        &g_array_index(c->f.wakes, struct condition_wake, i);

		if (w->waker != e)
			break;
		if (!taken(c, w->wait))
			cell_set(c, &c->waker_too_early[i], 1);
	}
}

static void take_life(struct checker *c, uint32_t e)
{
	const struct event *x = at(c, e);
	const struct block *b = x->target == NONE ? NULL : &c->t->blocks[x->target];

	if (b != NULL && b->alloc == e)
		cell_set(c, &c->life[x->target], LIFE_OPEN);
	if (b != NULL && b->free == e)
		cell_set(c, &c->life[x->target], LIFE_ASKED);
}

void rules_take(struct checker *c, uint32_t e)
{
	const struct event *x = at(c, e);
	struct wide run;

	take_place(c, x->thread);
	if (x->op == OP_ALLOC || x->op == OP_FREE)
		take_life(c, e);
	if (event_inert(x))
		return;
	switch (x->op) {
	case OP_WRITE:
	case OP_AWRITE:
	case OP_RMW:
		run = event_variables(c->t, x);
		for (uint32_t v = run.first; v < run.first + run.count; v++)
			cell_set(c, &c->last[v], e);
		break;
	case OP_ACQ:
	case OP_RACQ:
	case OP_REL:
	case OP_RREL:
		take_lock(c, x);
		break;
	case OP_POST:
		cell_set(c, &c->count[x->target], c->count[x->target] + 1);
		break;
	case OP_TAKE:
		cell_set(c, &c->count[x->target], c->count[x->target] - 1);
		break;
	case OP_SIGNAL:
	case OP_BROADCAST:
		take_waker(c, e);
		break;
	case OP_ACT:
	case OP_CALL:
	case OP_RET:
		invocation_take(c, e);
		break;
	default:
		break;
	}
}

/* -- requests for locks --------------------------------------------------------------------- */

bool holds_shared(const struct checker *c, uint32_t thread, uint32_t object)
{
	bool holds = false;

	for (uint32_t i = 0; i < c->taken[thread]; i++) {
		const struct event *x = at(c, facts_own(c, thread)[i]);

		if (!event_inert(x) && (x->op == OP_RACQ || x->op == OP_RREL) &&
		    x->target == object)
			holds = x->op == OP_RACQ;
	}
	return holds;
}

bool asks_exclusive(const struct checker *c, uint32_t e)
{
	const struct event *want = at(c, e);
	int64_t exclusive = 0, shared = 0;

	if (want->op != OP_WANT)
		return want->op == OP_ACQ;
	for (uint32_t i = 0; i < c->t->events_count; i++) {
		const struct event *x = at(c, i);

		if (event_inert(x) || x->target != want->target)
			continue;
		exclusive += (x->op == OP_ACQ) - (x->op == OP_REL);
		shared += (x->op == OP_RACQ) - (x->op == OP_RREL);
	}
	return exclusive == 0 && shared > 0;
}
