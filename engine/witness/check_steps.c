/*
 * check_steps.c - the checker's steps: one event, a sequence, the recording up to a place.
 */
#include "engine/witness/check_private.h"

#include <string.h>

/* Is the event a plain access of one variable, which neither its block nor a must-order keeps
 * from coming now? */
static inline bool is_plain(const struct checker *c, uint32_t e, const struct event *x)
{
	if (!event_simple(x) || (c->f.blocked[e / 64] >> (e % 64) & 1))
		return false;
	if (c->t->blocks_count == 0)
		return true;
	uint32_t block = c->t->variables[x->target].block;
	if (block == NONE || c->life[block] == LIFE_OPEN)
		return true;
	return c->life[block] == LIFE_STACK && c->f.stack_of[block] == x->thread;
}

/* Fast path for the most frequent events. True: allowed and applied; false: use
 * checker_step_asked. */
static inline bool step_plain(struct checker *c, uint32_t e)
{
	const struct event *x = at(c, e);

	if (!is_plain(c, e, x) || c->f.place[e] != c->taken[x->thread] ||
	    (x->op == OP_READ && !last_is(c, x->target, c->f.writer[e])))
		return false;
	take_place(c, x->thread);
	if (x->op == OP_WRITE)
		cell_set(c, &c->last[x->target], e);
	return true;
}

__attribute__((noinline)) bool checker_step_asked(struct checker *c, uint32_t e,
                                                  struct requirements asked, GString *reason)
{
	if (!rules_allow(c, e, asked, reason))
		return false;
	/* Last, since it changes the state of the specification. */
	if (op_table[at(c, e)->op].class == OP_CLASS_CALL && !event_inert(at(c, e)) &&
	    !rule_invocation(c, e, !asked.result, reason))
		return false;
	rules_take(c, e);
	return true;
}

static inline bool check_step(struct checker *c, uint32_t e, struct requirements asked,
                              GString *reason)
{
	return (e < c->t->events_count && step_plain(c, e)) ||
	       checker_step_asked(c, e, asked, reason);
}

bool checker_enabled(struct checker *c, uint32_t event, GString *reason)
{
	return rules_allow(c, event, ALL_REQUIREMENTS, reason);
}

bool checker_step(struct checker *c, uint32_t event, GString *reason)
{
	bool good = check_step(c, event, ALL_REQUIREMENTS, reason);

	if (good)
		c->prefix = NONE; /* not a prefix of the recording any more */
	return good;
}

/* Prefetch for a coming event. For an event without a variable the address is wrong, but
 * harmless. */
static inline void prefetch_event(const struct checker *c, uint32_t e)
{
	uint32_t target = at(c, e)->target;

	__builtin_prefetch(&c->t->variables[target].block);
	__builtin_prefetch(&c->last[target]);
}

enum { AHEAD = 24 }; /* events */

bool checker_take_all(struct checker *c, const uint32_t *sequence, size_t length,
                      GString *reason)
{
	for (size_t i = 0; i < length; i++) {
		if (i + AHEAD < length && sequence[i + AHEAD] < c->t->events_count)
			prefetch_event(c, sequence[i + AHEAD]);
		if (!check_step(c, sequence[i], ALL_REQUIREMENTS, reason))
			return false;
	}
	return true;
}

bool claim_prefix(struct checker *c, const uint32_t *sequence, size_t length, GString *reason)
{
	return checker_take_all(c, sequence, length, reason) &&
	       invocations_closed(c, NONE, reason);
}

/* Undoes the last event of the log; false, with a state that is none, when the log has not all
 * of it. */
static bool undo_event(struct checker *c)
{
	const uint32_t *first = c->taken, *end = c->taken + c->t->threads_count;

	while (c->changes.count > 0) {
		uint32_t last = c->changes.count - 1;
		const uint32_t *cell = c->changes.of[last].cell;

		checker_undo(c, last);
		if (cell >= first && cell < end)
			return true;
	}
	return false;
}

void checker_rewind(struct checker *c, uint32_t prefix)
{
	c->rewinds = true;
	while (c->prefix > prefix) {
		const struct event *x = at(c, c->prefix - 1);

		if (op_is_access(x->op) && !follows_writes(c))
			c->taken[x->thread]--;
		else if (!undo_event(c))
			break;
		c->recorded = --c->prefix;
	}
}

enum { LOG_LIMIT = 6 << 20 }; /* changes kept for undo */

/* Drop the older half of the log, up to the beginning of an event. */
static void trim_log(struct checker *c)
{
	struct change_log *log = &c->changes;
	uint32_t gone = log->count / 2;

	if (log->count > LOG_LIMIT) {
		log->count -= gone;
		memmove(log->of, log->of + gone, log->count * sizeof(struct undo_change));
	}
}

/* The next recorded event. Which writes the accesses see is not asked: what was recorded. */
static inline bool take_next(struct checker *c, GString *reason)
{
	uint32_t e = c->prefix;
	const struct event *x = at(c, e);

	if (!op_is_access(x->op) && e < c->verified) {
		rules_take(c, e);
		return true;
	}
	if (!op_is_access(x->op))
		return checker_step_asked(c, e, ALL_REQUIREMENTS, reason);
	if (e >= c->verified && !is_plain(c, e, x) &&
	    !rules_allow(c, e, ALL_REQUIREMENTS, reason))
		return false;
	c->taken[x->thread]++;
	return true;
}

bool checker_take_recorded(struct checker *c, uint32_t prefix, GString *reason)
{
	c->undoing = c->by_event = c->rewinds;
	if (prefix > c->t->events_count)
		return rules_allow(c, prefix - 1, ALL_REQUIREMENTS,
		                   reason); /* fails, with the reason */
	while (c->prefix < prefix) {
		if (c->prefix >= c->verified)
			prefetch_event(c, MIN(c->prefix + AHEAD, prefix - 1));
		if (follows_writes(c) ? !check_step(c, c->prefix, ALL_REQUIREMENTS, reason)
		                      : !take_next(c, reason))
			return false;
		c->prefix++;
		c->recorded = follows_writes(c) ? 0 : c->prefix;
		if ((c->prefix & 0xffff) == 0)
			trim_log(c);
	}
	c->verified = MAX(c->verified, prefix);
	return true;
}
