/*
 * sched_events.c - controlled mode: strategies that decide before each event, and know which
 * object it is about.
 *
 * pos: partial order sampling (Yuan, Yang, Gu, CAV 2018, algorithm 1): each pending event has a
 * random priority, the highest is made, and then it and those that race with it get new ones.
 *
 * surw: a selectively uniform random walk (Zhao, Wolff, Mathur, Roychoudhury, ASPLOS 2025,
 * algorithms 1 and 2): which thread makes the next event of the target is drawn with the
 * numbers of such events that each still has, so that all their interleavings are about equally
 * likely. A thread that comes to one before its turn is held. In between as with pos: the
 * paper draws anew the priority of the thread that has made an event alone, by which
 * SafeStack's error is rarer on a model (docs/hunting-figures.md, "SafeStack").
 *
 * pause: sched_pause.c.
 *
 * turns: threads in the order given, each until it has made so many events; then pos, or with
 * seed 0 the lowest thread, without preemption.
 */
#include "sched_private.h"

/* The chance to switch becomes rarer with the length of a run: at first every second access
 * is one, and so on, but never fewer than one in RAREST. Each synchronisation is a chance, so
 * a thread that spins on plain variables would otherwise take an ever larger part of the run.
 * Only accesses that may conflict are counted, as the order of others makes no difference. */
enum { EACH = 1 << 14, RAREST = 256 };

static bool is_about(const struct thread_sched *s, uint64_t place, uint64_t size)
{
	uint64_t mine = (uintptr_t)s->place;
	return mine != 0 && mine < place + size && place < mine + s->size;
}

static bool is_target(const struct thread *t)
{
	return rt.config.strategy == STRATEGY_SURW &&
	       is_about(&t->sched, rt.config.target.place, rt.config.target.size);
}

/* N, when one access in N is a chance to switch, after this many accesses. */
static uint32_t chance_in(uint64_t accesses)
{
	uint64_t rare = accesses / EACH;
	return 1 + (uint32_t)(rare < RAREST ? rare : RAREST);
}

bool sched_is_chance(const struct thread *t)
{
	uint32_t rare = chance_in(sched.accesses);
	if (rt.config.strategy == STRATEGY_TURNS || rare == 1 || is_target(t))
		return true;
	if (sched_may_conflict(t))
		rare = chance_in(sched.conflicts++);
	return sched_draw(rare) == 0;
}

static bool may_go(const struct thread *t)
{
	return t->sched.state == STATE_READY && !t->sched.held;
}

/* The runnable thread of highest priority; those that spin may have to wait for one that does
 * not. */
static struct thread *highest(void)
{
	struct thread *best = NULL;
	bool best_waits = false;
	for (unsigned i = 0; i < sched.live_count; i++) {
		struct thread *t = sched.live[i];
		if (!may_go(t))
			continue;
		bool waits = poll_waits(t);
		if (best && (waits > best_waits || (waits == best_waits &&
		                                    t->sched.priority <= best->sched.priority)))
			continue;
		best = t;
		best_waits = waits;
	}
	return best;
}

/* ---- pos ---- */

/* The thread makes its event: it and those whose events race with that get new priorities. */
static void redraw(struct thread *next)
{
	for (unsigned i = 0; i < sched.live_count; i++) {
		struct thread *t = sched.live[i];
		if (t != next && (t->sched.changes || next->sched.changes) &&
		    is_about(&t->sched, (uintptr_t)next->sched.place, next->sched.size))
			sched_draw_priority(t);
	}
	sched_draw_priority(next);
}

static struct thread *pos_choose(void)
{
	struct thread *next = highest();
	redraw(next);
	return next;
}

/* ---- surw ---- */

void sched_events_born(struct thread *t, const struct thread *parent)
{
	const struct log_target *target = &rt.config.target;
	if (rt.config.strategy == STRATEGY_PAUSE)
		sched_pause_born(t);
	if (rt.config.strategy != STRATEGY_SURW)
		return;
	t->sched.left =
	        t->id < target->threads && t->id < LOG_WEIGHTS ? target->weight[t->id] : 1;
	if (parent == NULL)
		return;
	struct thread *from = rt.threads[parent->id];
	/* the parent's events included the child's, and so did its turn */
	if (sched.intended == from->id + 1 && sched_draw(from->sched.left) < t->sched.left)
		sched.intended = t->id + 1;
	from->sched.left -= t->sched.left < from->sched.left ? t->sched.left : from->sched.left;
}

static void made_target_event(struct thread *t)
{
	if (t->sched.left > 0)
		t->sched.left--;
	sched.intended = 0;
	for (unsigned i = 0; i < sched.live_count; i++)
		sched.live[i]->sched.held = false;
}

/* May the target's next event be the thread's? One that looks in vain has to wait for
 * another's event, and where it looks often its accesses are no points to switch at. */
static bool may_be_intended(const struct thread *t, const struct thread *next)
{
	return t == next || (t->sched.state == STATE_READY && !poll_waits(t));
}

/* Draws the thread of the target's next event, at which `next` stands. */
static struct thread *draw_intended(const struct thread *next)
{
	uint32_t all = 0;
	for (unsigned i = 0; i < sched.live_count; i++)
		if (may_be_intended(sched.live[i], next))
			all += sched.live[i]->sched.left;
	uint32_t n = sched_draw(all);
	for (unsigned i = 0; i < sched.live_count; i++) {
		struct thread *t = sched.live[i];
		if (!may_be_intended(t, next))
			continue;
		if (n < t->sched.left)
			return t;
		n -= t->sched.left;
	}
	return NULL;
}

/* Does the intended thread wait: for a held one, or for another's event? It may do so in a way
 * that is not recognised as looking in vain, such as tries of a lock that a held one has. */
static bool intended_waits(const struct thread *next)
{
	return next == NULL ||
	       (sched.intended &&
	        (poll_waits(next) || sched.steps - sched.intended_start > SPINNING));
}

static struct thread *surw_choose(void)
{
	for (;;) {
		struct thread *next = highest();
		if (intended_waits(next)) {
			sched.intended = 0;
			for (unsigned i = 0; i < sched.live_count; i++)
				sched.live[i]->sched.held = false;
			next = highest();
		}
		if (!is_target(next)) {
			redraw(next);
			return next;
		}
		if (next->sched.left == 0)
			next->sched.left = 1;
		if (sched.intended == 0) {
			sched.intended = draw_intended(next)->id + 1;
			sched.intended_start = sched.steps;
		}
		if (sched.intended == next->id + 1) {
			made_target_event(next);
			return next;
		}
		next->sched.held = true;
	}
}

void sched_event_alone(struct thread *t)
{
	if (rt.config.strategy == STRATEGY_PAUSE)
		sched_pause_event(t);
	else if (rt.thread_count > 1 && is_target(t)) /* before, they are not counted */
		made_target_event(t);
}

/* ---- turns ---- */

/* Has it run for longer than its events take, or (to its end) for very long, while others
 * could run? Or has it looked in vain as often, with others that spin in between? Then it
 * spins. */
static bool is_stalled(const struct thread *t, uint32_t until)
{
	uint64_t most = SPINNING + (until == UINT32_MAX ? 0 : 4ull * until);
	return t->poll.spins > SPINNING ||
	       (sched.holder == t && sched.steps - sched.turn_start > most);
}

/* The thread whose turn it is; NULL: none, or it cannot continue now. */
static struct thread *turn(void)
{
	const struct log_config *c = &rt.config;
	for (; sched.turn < c->turn_count && sched.turn < LOG_TURNS;
	     sched.turn++, sched.turn_over = sched.steps) {
		const struct log_turn *l = &c->turns[sched.turn];
		struct thread *t = l->thread < MAX_THREADS ? rt.threads[l->thread] : NULL;
		bool over = t ? t->sched.state == STATE_DONE || t->ordinal >= l->until ||
		                            is_stalled(t, l->until)
		              : l->thread < rt.thread_count;
		if (!over)
			return t && t->sched.state == STATE_READY ? t : NULL;
	}
	return NULL;
}

/* Has the thread just had its turn? Then it waits as long as another thread can run, but not
 * for very long: while the thread whose turn it is is blocked, the others may wait for the
 * stopped one in a way that is not recognised as looking in vain. */
static bool has_stopped(const struct thread *t)
{
	enum { LONG = 200000 };
	return sched.turn > 0 && sched.steps - sched.turn_over < LONG &&
	       sched.turn < rt.config.turn_count &&
	       rt.config.turns[sched.turn - 1].thread == t->id;
}

/* Has the current thread gone on alone for long? A thread in between that blocked at once has
 * not gone on: the lock that it wants may be held at each moment at which the other gives way,
 * so that it has to come again soon, when the lock is free. */
static bool goes_on_alone(const struct thread *current)
{
	bool goes_on =
	        current->sched.state == STATE_READY || current->sched.state == STATE_RUNNING;
	if (goes_on && sched.runner != current->id + 1) {
		sched.runner = current->id + 1;
		sched.runner_start = sched.steps;
	}
	return goes_on && sched.steps - sched.runner_start > SPINNING;
}

/* The current thread continues, or the lowest runs; a thread that spins gives way to the
 * next, and one that looks in vain to each that does not: also to a stopped one, without which
 * it might look for ever. */
static struct thread *turns_choose(const struct thread *current)
{
	bool spins = goes_on_alone(current);
	struct thread *best = turn();
	if (best)
		return best;
	if (sched.turn >= rt.config.turn_count && rt.config.seed) {
		rt.config.strategy = STRATEGY_POS; /* from here on */
		return pos_choose();
	}
	spins |= current->sched.state == STATE_RUNNING; /* it yields */
	unsigned best_rank = 0;
	for (unsigned i = 0; i < sched.live_count; i++) {
		struct thread *t = sched.live[i];
		if (t->sched.state != STATE_READY)
			continue;
		unsigned rank = (poll_waits(t) ? 0 : 4) + (has_stopped(t) ? 0 : 2) +
		                (spins ? t->id > current->id : t == current);
		if (!best || rank > best_rank || (rank == best_rank && t->id < best->id)) {
			best = t;
			best_rank = rank;
		}
	}
	return best;
}

/* With a seed, pos follows the turns, which decides before each event: also where there are
 * none. */
int32_t sched_turns_budget(void)
{
	return sched.turn < rt.config.turn_count || rt.config.seed ? 0 : 1000;
}

/* In a long run all priorities are drawn anew, on average once in a number of accesses that
 * depends on the seed. Otherwise the priorities of waiting threads, which have lost, become
 * lower and lower, and of threads whose events do not conflict one runs nearly alone. */
static void mix(void)
{
	enum { SHORTEST = 4, LENGTHS = 11 }; /* powers of two */
	uint64_t length = SHORTEST + (rt.config.seed * 0x9e3779b97f4a7c15ull >> 32) % LENGTHS;
	if (sched.accesses < EACH || sched_draw(1u << length) >= chance_in(sched.accesses))
		return;
	for (unsigned i = 0; i < sched.live_count; i++)
		sched_draw_priority(sched.live[i]);
}

struct thread *sched_choose_by_event(const struct thread *current)
{
	switch (rt.config.strategy) {
	case STRATEGY_POS:
		mix();
		return pos_choose();
	case STRATEGY_SURW:
		mix();
		return surw_choose();
	case STRATEGY_PAUSE:
		if (current->sched.state == STATE_READY)
			sched_pause_event((struct thread *)current);
		return highest();
	default:
		return turns_choose(current);
	}
}
