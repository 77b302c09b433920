/*
 * stuck_set.c - see stuck_set.h.
 */
#include "engine/predict/deadlock/stuck_set.h"

void stuck_set_init(struct stuck_set *set, const struct run_state *s)
{
	set->s = s;
	set->next = g_new(enum next, s->threads + 1);
	set->in = g_new(bool, s->threads + 1);
	set->count = 0;
}

void stuck_set_release(struct stuck_set *set)
{
	g_free(set->next);
	g_free(set->in);
}

/* Is the process over? In a recording it ends with its first thread. */
static bool is_over(const struct run_state *s)
{
	return s->main != NONE && run_state_event(s, s->main) == NONE;
}

/* Could a thread outside of the set do the operation that `thread` waits for? */
static bool may_be_woken(const struct stuck_set *set, uint32_t thread, bool over)
{
	const struct run_state *s = set->s;
	enum wait_for what = run_state_waits_for(s, thread);

	for (uint32_t i = 0, u; (u = run_state_holder(s, thread, i)) != NONE; i++) {
		if (set->in[u] || (what == WAIT_LOCK && set->next[u] == NEXT_ENDED && !over))
			return false;
	}
	if (what == WAIT_LOCK || what == WAIT_JOIN || over)
		return true;
	for (uint32_t u = 0; u < s->threads; u++) {
		if (!set->in[u] && set->next[u] != NEXT_ENDED && set->next[u] != NEXT_ABSENT)
			return true;
	}
	return false;
}

uint32_t stuck_set_find(struct stuck_set *set)
{
	const struct run_state *s = set->s;
	bool over = is_over(s), changed = true;

	set->count = 0;
	for (uint32_t u = 0; u < s->threads; u++) {
		set->next[u] = run_state_next(s, u);
		set->in[u] = set->next[u] == NEXT_WAITS;
		set->count += set->in[u];
	}
	while (changed && set->count > 0) {
		changed = false;
		for (uint32_t u = 0; u < s->threads; u++) {
			if (!set->in[u] || !may_be_woken(set, u, over))
				continue;
			set->in[u] = false;
			set->count--;
			changed = true;
		}
	}
	return set->count;
}

/* -- causes --------------------------------------------------------------------------------- */

struct circles {
	const struct stuck_set *set;
	stuck_cause *cause;
	void *context;
	uint32_t path[STUCK_CIRCLE], length;
	bool cut;
};

static bool on_path(const struct circles *c, uint32_t thread)
{
	for (uint32_t i = 0; i < c->length; i++) {
		if (c->path[i] == thread)
			return true;
	}
	return false;
}

/* Visits every circle once, from its first thread. */
static void follow(struct circles *c)
{
	uint32_t last = c->path[c->length - 1];

	for (uint32_t i = 0, u; (u = run_state_holder(c->set->s, last, i)) != NONE; i++) {
		if (u == c->path[0]) {
			c->cause(c->context, c->set, c->path, c->length);
			continue;
		}
		if (u < c->path[0] || !c->set->in[u] || on_path(c, u))
			continue;
		if (c->length == STUCK_CIRCLE) {
			c->cut = true;
			return;
		}
		c->path[c->length++] = u;
		follow(c);
		c->length--;
	}
}

static bool waits_for_the_ended(const struct stuck_set *set, uint32_t thread)
{
	if (run_state_waits_for(set->s, thread) != WAIT_LOCK)
		return false;
	for (uint32_t i = 0, u; (u = run_state_holder(set->s, thread, i)) != NONE; i++) {
		if (set->next[u] == NEXT_ENDED)
			return true;
	}
	return false;
}

bool stuck_set_causes(const struct stuck_set *set, stuck_cause *cause, void *context)
{
	struct circles c = { .set = set, .cause = cause, .context = context };

	for (uint32_t u = 0; u < set->s->threads; u++) {
		if (!set->in[u])
			continue;
		enum wait_for what = run_state_waits_for(set->s, u);
		bool alone = what != WAIT_LOCK && what != WAIT_JOIN;
		if (alone || waits_for_the_ended(set, u))
			cause(context, set, &u, 1);
		if (alone)
			continue;
		c.path[0] = u;
		c.length = 1;
		follow(&c);
	}
	return !c.cut;
}

enum finding_kind stuck_set_kind(const struct stuck_set *set, const uint32_t *threads,
                                 uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t next = threads[(i + 1) % count];

		for (uint32_t k = 0, u; (u = run_state_holder(set->s, threads[i], k)) != NONE;
		     k++) {
			if (u == next && run_state_waits_for(set->s, threads[i]) == WAIT_LOCK)
				return FINDING_DEADLOCK;
		}
	}
	return FINDING_STUCK;
}
