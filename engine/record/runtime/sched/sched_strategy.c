/*
 * sched_strategy.c - controlled mode: which of the threads that can run is next, and for how
 * many accesses, by the strategy (enum log_strategy) and the seed; a spinning thread yields.
 */
#include "sched_private.h"

/* ---- how long ---- */

int32_t sched_first_budget(void)
{
	/* a thread that spins gives way before the run is cut */
	uint64_t most = rt.config.flags & LOG_EXPLORE ? rt.config.steps / 2 + 1 : SPINNING;
	return most > 1 && most < SPINNING ? (int32_t)most : SPINNING;
}

/* The number of accesses until the next chance to switch: few in a short run, where every
 * interleaving matters, and more and more in a long one, where switching costs. */
int32_t sched_draw_budget(void)
{
	if (rt.replay)
		return 0; /* every access is a point */
	switch (rt.config.strategy) {
	case STRATEGY_NOISE:
		return 1 + sched_draw(16);
	case STRATEGY_RR:
		return 1000;
	case STRATEGY_FIRST:
		return sched_first_budget();
	case STRATEGY_POS:
	case STRATEGY_SURW:
	case STRATEGY_PAUSE:
		return 0;
	case STRATEGY_TURNS:
		return sched_turns_budget();
	case STRATEGY_PCT: {
		int64_t best = 2000;
		for (unsigned i = 0; i < sched.changes; i++)
			if (sched.change[i] > sched.steps &&
			    (int64_t)(sched.change[i] - sched.steps) < best)
				best = sched.change[i] - sched.steps;
		return best;
	}
	default: {
		uint64_t mean = 8 + sched.accesses / 64;
		return 1 + sched_draw(2 * (mean < 20000 ? mean : 20000));
	}
	}
}

/* pct: the thread that is held back stays behind all others. */
void sched_draw_priority(struct thread *t)
{
	t->sched.priority = 1 + sched_draw(1 << 30);
	if (rt.config.held == t->id + 1)
		t->sched.priority = INT64_MIN;
}

void sched_lower(struct thread *t)
{
	if (rt.config.held != t->id + 1)
		t->sched.priority = --sched.lowest;
}

/* pct: at its change points a thread falls behind all others. */
void sched_change_point(struct thread *t)
{
	bool change = false;
	for (unsigned i = 0; i < sched.changes; i++)
		if (sched.change[i] && sched.change[i] <= sched.steps) {
			sched.change[i] = 0;
			change = true;
		}
	/* the thread of highest priority may be spinning for another */
	if (sched.steps - sched.turn_start > 4000) {
		sched.turn_start = sched.steps;
		change = true;
	}
	if (change)
		sched_lower(t);
}

void sched_strategy_init(void)
{
	if (rt.config.strategy == STRATEGY_PAUSE)
		sched_pause_init();
	if (rt.config.strategy != STRATEGY_PCT)
		return;
	uint64_t steps = rt.config.steps ? rt.config.steps : 1000;
	unsigned n = rt.config.depth > 0 ? rt.config.depth - 1 : 0;
	for (unsigned i = 0; i < n && i < 64; i++)
		sched.change[sched.changes++] = 1 + next_random() % steps;
}

/* ---- the next thread ---- */

static struct thread *nth_ready(uint32_t n)
{
	for (unsigned i = 0; i < sched.live_count; i++)
		if (sched.live[i]->sched.state == STATE_READY && n-- == 0)
			return sched.live[i];
	return NULL;
}

struct thread *sched_choose_ready(struct thread *current)
{
	struct thread *best = NULL;
	if (rt.replay) {
		uint32_t id = replay_next();
		if (id < MAX_THREADS && rt.threads[id] &&
		    rt.threads[id]->sched.state == STATE_READY)
			return rt.threads[id];
	}
	if (sched_each_event())
		return sched_choose_by_event(current);
	/* `first`: the lowest thread; the next in turn when the current one yields */
	bool first = rt.config.strategy == STRATEGY_FIRST;
	if (first || rt.config.strategy == STRATEGY_RR) {
		bool lowest = first && current->sched.state != STATE_READY &&
		              current->sched.state != STATE_RUNNING;
		for (unsigned i = 0; i < sched.live_count; i++) {
			struct thread *t = sched.live[i];
			if (t->sched.state != STATE_READY)
				continue;
			/* in turn: the next higher number, or else the lowest */
			bool later = !lowest && t->id > current->id;
			bool best_later = best && !lowest && best->id > current->id;
			if (!best || later > best_later ||
			    (later == best_later && t->id < best->id))
				best = t;
		}
		return best;
	}
	if (rt.config.strategy == STRATEGY_PCT) {
		for (unsigned i = 0; i < sched.live_count; i++) {
			struct thread *t = sched.live[i];
			if (t->sched.state == STATE_READY &&
			    (!best || t->sched.priority > best->sched.priority))
				best = t;
		}
		return best;
	}
	/* threads that spin may have to wait for one that does not */
	for (unsigned tries = 0; tries < 4; tries++) {
		best = nth_ready(sched_draw(sched.ready));
		if (!poll_waits(best))
			break;
	}
	return best;
}

/* ---- those that spin ---- */

bool sched_all_wait(const struct thread *t)
{
	for (unsigned i = 0; i < sched.live_count; i++) {
		const struct thread *other = sched.live[i];
		if (other != t && other->sched.state == STATE_READY && !poll_waits(other))
			return false;
	}
	return true;
}

/*
 * The budget of a thread that spins: one look, when another thread can run. With long turns
 * and spinning waiters a program with its own spin locks would hardly get on. Where all spin,
 * waiting for the environment or for a number of looks, handing over each time would cost
 * more than the looks: turns become longer and longer.
 */
int32_t sched_spin_budget(struct thread *t)
{
	enum { LOOK = 16, MOST = 4096 };
	struct poll *l = &t->poll;
	l->patience = !sched_all_wait(t) ? 1 : l->patience < MOST ? 2 * l->patience : MOST;
	return LOOK * (int32_t)l->patience - 1;
}

/* May the yield be ignored? A thread that spins and yields at each look need not be obeyed
 * each time. */
bool sched_yields_later(struct thread *t)
{
	struct poll *l = &t->poll;
	if (sched.ready == 0 || l->spins < SPIN_LIMIT || !looks_count())
		return false;
	if (l->left > 0) {
		l->left--;
		return true;
	}
	sched_spin_budget(t);
	l->left = l->patience - 1;
	return false;
}
