/*
 * travel_walk.c - the instructions between two events: to the place of one, and to the last one
 * of a thread before a place.
 */
#include "engine/debug/travel_private.h"

#include <signal.h>

enum { MOST_STEPS = 1000000 }; /* between two ticks */

enum walk { WALK_FOUND, WALK_TICK, WALK_END, WALK_FAILED };

struct walk_to {
	const struct moment *match; /* or NULL */
	int64_t index;              /* or -1 */
	struct instruction last;    /* filled in: the last one seen before the end */
	bool keep;     /* the last instructions before the index are kept in the trail */
	int64_t count; /* of the region, so far */
	int64_t alike; /* the first instruction that is like the match, or -1 */
	enum run failure;
};

static enum walk walk_ends(struct walk_to *w, enum run r)
{
	w->failure = r;
	return r == RUN_CLOCK ? WALK_TICK : r == RUN_END ? WALK_END : WALK_FAILED;
}

/* From the tick to the thread's next instruction in the program. */
static enum run run_home(struct travel *t)
{
	uint64_t pc = t->f.debug->pc;
	int tid = travel_tid(t, t->f.debug->thread);
	struct stop stop;
	t->f.debug->stop_at = t->f.debug->clock + 1;
	const struct code_range *r = pc ? code_map_at(&t->code, &t->f, pc) : NULL;
	if (r == NULL || r->foreign || tid == 0) /* an event inside of foreign code */
		return travel_run(t, "vCont;c", &stop);
	return travel_run_to(t, pc, tid, 0);
}

/* The address at which a call out of the program, whose stack is at `sp`, returns to it. */
static bool comes_home(struct travel *t, uint64_t sp, uint64_t *home)
{
	const struct code_range *r = inferior_read(&t->f, sp, home, sizeof(*home))
	                                     ? code_map_at(&t->code, &t->f, *home)
	                                     : NULL;
	return r && !r->foreign;
}

/* The thread stands at the instruction and stack of the place that is looked for: is it that
 * place, so that the walk is over? A place that is like it is noted. */
static bool is_over(struct travel *t, struct walk_to *w, int tid, enum walk *result)
{
	char key[KEY_REGISTERS + 1];
	if (!travel_registers_of(t, tid, key)) {
		*result = walk_ends(w, RUN_LOST);
		return true;
	}
	enum same same = travel_compare(w->match, key);
	if (same == ALIKE && w->alike < 0)
		w->alike = w->count;
	*result = WALK_FOUND;
	return same == SAME;
}

/*
 * Go through a region, from its tick (or the start) on, up to the place or index that is
 * looked for, or to its end: the next tick.
 */
static enum walk walk(struct travel *t, struct walk_to *w)
{
	struct stop stop = { 0 };
	uint64_t clock = t->f.debug->clock, pc = t->start.pc, sp = t->start.sp;
	uint32_t thread = t->f.debug->thread;
	int tid = travel_tid(t, thread);
	char step[64];
	w->count = 0;
	w->alike = -1;
	t->f.debug->stop_at = clock + 1;
	if (t->f.debug->trap == TRAP_CLOCK) {
		enum run r = run_home(t);
		if (r != RUN_STOP)
			return walk_ends(w, r);
		char key[KEY_REGISTERS + 1];
		if (!travel_registers_of(t, tid, key))
			return walk_ends(w, RUN_LOST);
		pc = travel_register(key, REGISTER_PC);
		sp = travel_register(key, REGISTER_SP);
	}
	g_snprintf(step, sizeof(step), "vCont;s:%x;c", (unsigned)tid);
	while (w->count < MOST_STEPS) {
		if (w->keep && w->index - w->count < TRAIL &&
		    !travel_keep_footprint(t, w->count))
			return walk_ends(w, RUN_LOST);
		if (w->index == w->count)
			return WALK_FOUND;
		enum walk result;
		if (w->match && w->match->pc == pc && w->match->sp == sp &&
		    is_over(t, w, tid, &result))
			return result;
		w->last = (struct instruction){ .clock = clock,
			                        .thread = thread,
			                        .index = w->count++ };
		enum run r = travel_run(t, step, &stop);
		if (r != RUN_STOP || stop.signal != SIGTRAP)
			return walk_ends(w, r == RUN_STOP ? RUN_END : r);
		bool returned = stop.sp > sp;
		pc = stop.pc;
		sp = stop.sp;
		if (code_map_leads_out(&t->code, &t->f, pc)) {
			uint64_t home;
			if (returned ||
			    !comes_home(t, sp, &home)) { /* to code that is foreign */
				r = travel_run(t, "vCont;c", &stop);
				return walk_ends(w, r == RUN_STOP ? RUN_END : r);
			}
			r = travel_run_to(t, home, tid, sp + 8);
			if (r != RUN_STOP)
				return walk_ends(w, r);
			pc = home;
			sp += 8;
		}
	}
	w->failure = RUN_INTERRUPTED;
	t->f.late = true;
	return WALK_FAILED;
}

enum travel_result travel_to_index(struct travel *t, const struct instruction *i)
{
	struct walk_to w = { .index = i->index, .keep = true };
	enum travel_result there = travel_to_clock(t, i->clock);
	if (there != TRAVEL_THERE)
		return there;
	enum walk end = walk(t, &w);
	if (end != WALK_FOUND)
		return end == WALK_FAILED ? travel_result_of(w.failure) : TRAVEL_ELSEWHERE;
	struct moment now;
	if (!travel_now(t, &now))
		return TRAVEL_LOST;
	now.index = i->index;
	t->present = now;
	return TRAVEL_THERE;
}

static enum travel_result go_to_end(struct travel *t)
{
	struct stop stop;
	enum travel_result there = travel_restart(t);
	if (there != TRAVEL_THERE)
		return there;
	enum run r = travel_run(t, "vCont;c", &stop);
	while (r == RUN_STOP && stop.signal == SIGTRAP)
		r = travel_run(t, "vCont;c", &stop);
	if (r == RUN_LOST || r == RUN_INTERRUPTED)
		return travel_result_of(r);
	t->end_tid = stop.tid;
	return stop.kind == 'T' && travel_now(t, &t->present) ? TRAVEL_THERE : TRAVEL_LOST;
}

/* Goes to the moment at which the thread has these registers, or `enough` of them: a
 * breakpoint stops it there until it has. */
static enum travel_result go_to_like(struct travel *t, const struct moment *p, enum same enough)
{
	struct moment now;
	enum travel_result there = travel_to_clock(t, p->clock);
	if (there != TRAVEL_THERE)
		return there;
	t->f.debug->stop_at = p->clock + 1;
	int tid = travel_tid(t, p->thread);
	enum run r = RUN_STOP;
	for (;;) {
		if (!travel_now(t, &now))
			return TRAVEL_LOST;
		if (travel_compare(p, now.registers) >= enough) {
			t->present = *p;
			return TRAVEL_THERE;
		}
		if (now.pc == p->pc) { /* the address is right, but not yet the registers */
			struct stop stop;
			char step[64];
			g_snprintf(step, sizeof(step), "vCont;s:%x;c", (unsigned)tid);
			r = travel_run(t, step, &stop);
			if (r == RUN_STOP && stop.pc == p->pc)
				continue;
		}
		if (r == RUN_STOP)
			r = travel_run_to(t, p->pc, tid, 0);
		if (r != RUN_STOP)
			return travel_result_of(r);
	}
}

static enum travel_result go_to_registers(struct travel *t, const struct moment *p)
{
	enum travel_result there = go_to_like(t, p, SAME);
	return there == TRAVEL_ELSEWHERE ? go_to_like(t, p, ALIKE) : there;
}

enum travel_result travel_to(struct travel *t, const struct moment *p)
{
	if (p->end)
		return go_to_end(t);
	if (p->index >= 0) {
		struct instruction i = { .clock = p->clock,
			                 .thread = p->thread,
			                 .index = p->index };
		return travel_to_index(t, &i);
	}
	return go_to_registers(t, p);
}

static void set_return_limit(struct travel *t)
{
	enum { RETURNS_WITHIN = 30 }; /* seconds */
	t->f.deadline = g_get_monotonic_time() + RETURNS_WITHIN * (gint64)G_USEC_PER_SEC;
}

enum travel_result travel_give_up(struct travel *t, enum travel_result why,
                                  const struct moment *from)
{
	if (why == TRAVEL_LOST || t->f.gone)
		return TRAVEL_LOST;
	struct moment back = *from;
	set_return_limit(t);
	bool late = t->f.late;
	int client = t->f.client;
	t->f.client = -1; /* no ^C meanwhile */
	t->f.interrupted = t->f.late = false;
	enum travel_result there = travel_to(t, &back);
	if (there != TRAVEL_THERE && there != TRAVEL_LOST) { /* as after a long computation */
		struct instruction first = { .clock = from->clock, .thread = from->thread };
		t->f.late = false;
		set_return_limit(t);
		there = travel_to_index(t, &first);
		t->moved = true;
	}
	t->f.client = client;
	t->f.late = late;
	return there == TRAVEL_THERE ? why : TRAVEL_LOST;
}

/* ---- backward by an instruction ---- */

/* The last instruction of a region; UNSEEN: it was passed by another thread's search. */
enum { UNSEEN = -2 };

static void remember_end(struct travel *t, uint64_t clock, uint32_t owner, int64_t index)
{
	struct instruction *end = g_new(struct instruction, 1);
	*end = (struct instruction){ .clock = clock, .thread = owner, .index = index };
	g_hash_table_replace(t->ends, &end->key, end);
}

static const struct instruction *end_of(const struct travel *t, uint64_t clock)
{
	gint64 key = (gint64)clock;
	return g_hash_table_lookup(t->ends, &key);
}

/* The thread's last instruction in the regions from `low` to before `high`.  False: none. */
static enum travel_result last_between(struct travel *t, uint64_t low, uint64_t high,
                                       uint32_t thread, struct instruction *last)
{
	last->index = -1;
	enum travel_result there = travel_to_clock(t, low);
	if (there != TRAVEL_THERE)
		return there;
	for (uint64_t clock = MAX(low, t->start.clock); clock < high; clock++) {
		struct walk_to w = { .index = -1, .last.index = -1 };
		enum walk end = WALK_TICK;
		uint32_t owner = t->f.debug->thread;
		if (owner == thread) {
			end = walk(t, &w);
		} else {
			w.last.index = UNSEEN;
			struct stop stop;
			t->f.debug->stop_at = clock + 1;
			enum run r = travel_run(t, "vCont;c", &stop);
			end = walk_ends(&w, r);
		}
		if (end == WALK_FAILED)
			return travel_result_of(w.failure);
		if (w.last.index >= 0)
			*last = w.last;
		remember_end(t, clock, owner, w.last.index);
		if (end == WALK_END)
			break;
	}
	return TRAVEL_THERE;
}

enum travel_result travel_before_region(struct travel *t, uint64_t clock, uint32_t thread,
                                        struct instruction *last)
{
	uint64_t high = clock;
	for (const struct instruction *end;
	     high > t->start.clock && (end = end_of(t, high - 1)) != NULL; high--) {
		if (end->thread == thread && end->index == UNSEEN)
			break;
		if (end->thread == thread && end->index >= 0) {
			*last = *end;
			return TRAVEL_THERE;
		}
	}
	for (uint64_t width = 8; high > t->start.clock; width *= 8) {
		uint64_t low = high > t->start.clock + width ? high - width : t->start.clock;
		enum travel_result r = last_between(t, low, high, thread, last);
		if (r != TRAVEL_THERE || last->index >= 0)
			return r;
		high = low;
	}
	return TRAVEL_BEGIN;
}

enum travel_result travel_before(struct travel *t, const struct moment *from, uint32_t thread,
                                 struct instruction *last)
{
	last->index = -1;
	if (thread == from->thread && from->index > 0) {
		*last = (struct instruction){ .clock = from->clock,
			                      .thread = thread,
			                      .index = from->index - 1 };
		return TRAVEL_THERE;
	}
	if (thread == from->thread && from->index < 0) {
		struct walk_to w = { .match = from, .index = -1, .last.index = -1 };
		enum travel_result there = travel_to_clock(t, from->clock);
		if (there != TRAVEL_THERE)
			return there;
		enum walk end = walk(t, &w);
		if (end == WALK_FAILED)
			return travel_result_of(w.failure);
		*last = w.last;
		if (end != WALK_FOUND && w.alike >= 0)
			last->index = w.alike - 1;
		if (last->index >= 0)
			return TRAVEL_THERE;
	}
	return travel_before_region(t, from->clock, thread, last);
}

enum travel_result travel_step(struct travel *t, uint32_t thread)
{
	struct moment from = t->present;
	struct instruction last;
	enum travel_result r = travel_before(t, &from, thread, &last);
	if (r == TRAVEL_BEGIN) {
		r = travel_restart(t);
		if (r != TRAVEL_THERE)
			return travel_give_up(t, r, &from);
		t->present = t->start;
		return TRAVEL_BEGIN;
	}
	if (r == TRAVEL_THERE)
		r = travel_to_index(t, &last);
	return r == TRAVEL_THERE ? r : travel_give_up(t, r, &from);
}
