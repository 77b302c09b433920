/*
 * check_steps.c - the checker's steps: one event, a sequence, the recording up to a place.
 */
#include "engine/witness/check_private.h"

#include <string.h>

/* Fast path for the most frequent events: plain accesses of one variable outside of blocks.
 * True: allowed and applied; false: use checker_step_asked. */
static inline bool step_plain(struct checker *c, uint32_t e)
{
	const struct event *x = at(c, e);
	uint32_t *own = &c->taken[x->thread];

	if (!event_simple(x) || c->t->variables[x->target].block != NONE ||
	    (c->f.blocked[e / 64] >> (e % 64) & 1) || c->f.place[e] != *own ||
	    (x->op == OP_READ && c->last[x->target] != c->f.writer[e]))
		return false;
	cell_set(c, own, *own + 1);
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

void checker_rewind(struct checker *c, uint32_t prefix)
{
	const uint32_t *first = c->taken, *end = c->taken + c->t->threads_count;

	c->rewinds = true;
	while (c->prefix > prefix && c->changes.count > 0) {
		uint32_t last = c->changes.count - 1;
		const uint32_t *cell = c->changes.of[last].cell;

		/* each event begins with the change of this cell */
		if (cell >= first && cell < end)
			c->prefix--;
		checker_undo(c, last);
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

bool checker_take_recorded(struct checker *c, uint32_t prefix, GString *reason)
{
	c->undoing = c->rewinds;
	if (prefix > c->t->events_count)
		return rules_allow(c, prefix - 1, ALL_REQUIREMENTS,
		                   reason); /* fails, with the reason */
	while (c->prefix < prefix) {
		prefetch_event(c, MIN(c->prefix + AHEAD, prefix - 1));
		if (!check_step(c, c->prefix, ALL_REQUIREMENTS, reason))
			return false;
		if ((++c->prefix & 0xffff) == 0)
			trim_log(c);
	}
	return true;
}
