/*
 * must_rules.h - the must-order (semantics.md, rule 4, and the order of invocations used as
 * rule 5's fallback) event by event: which earlier events an event comes after, found when the
 * event is reached. must.c collects the edges of a whole trace; predict/pairs/online.c joins
 * clocks along those of a program that is running.
 *
 * One rule is the callers': an access comes after the allocation of its block. Most events ask
 * for it, and each caller has its own fast test; must_rules_alloc has the allocation.
 */
#ifndef HEDDLE_MUST_RULES_H
#define HEDDLE_MUST_RULES_H

#include "engine/trace/flow.h"
#include "engine/trace/index.h"
#include "engine/trace/sync_point.h"

struct must_sink {
	void *context;
	/* The thread's latest event, or NO_SYNC_POINT; for the current event's thread that
	 * event. */
	struct sync_point (*latest)(void *context, uint32_t thread);
	/* `before`, of another thread, comes before `after`, the current event. MUST_WAIT alone
	 * has another `after`, a waker, and `condition`, the current event. */
	void (*edge)(void *context, const struct sync_point *before, uint32_t after,
	             enum must_rule rule, uint32_t condition);
	/* All points of the set come before `after`, the current event, as they came before
	 * `set->first`, for which `edge` was called with each. */
	void (*edges)(void *context, struct sync_set *set, uint32_t after, enum must_rule rule);
};

struct must_rules;
struct must_rules *must_rules_new(const struct must_sink *sink); /* copied */
void must_rules_free(struct must_rules *r);

/* Operations for must_rules_event, as a set: tested at once, as they come in no order that a
 * processor could predict. */
#define ONE(op) (UINT64_C(1) << OP_##op)
static inline bool must_rules_takes(enum op op)
{
	const uint64_t taken = ONE(FORK) | ONE(JOIN) | ONE(SND) | ONE(RCV) | ONE(ACT) |
	                       ONE(RET) | ONE(POST) | ONE(TAKE) | ONE(ARRIVE) | ONE(DEPART) |
	                       ONE(WAIT) | ONE(WAKE) | ONE(SIGNAL) | ONE(BROADCAST) |
	                       ONE(ALLOC) | ONE(FREE);
	_Static_assert(OP_COUNT <= 64, "a bit for each operation");
	return taken >> op & 1;
}
#undef ONE
/* Call for the first event of a thread, of any operation; before must_rules_event. */
void must_rules_begin(struct must_rules *r, const struct flow_event *x);
/* An event that has effect. The `block` of an ALLOC is the block's last life, or NONE. */
void must_rules_event(struct must_rules *r, const struct flow_event *x);

/* The block used by an event of a trace that is no access, or NONE. */
uint32_t must_block_used(const struct trace *t, const struct event *x);
/* Of struct block: two lives of one block of memory, by its name and address, are equal. */
guint must_life_hash(gconstpointer block);
gboolean must_life_equal(gconstpointer one, gconstpointer other);

/* The allocation of a block; NO_SYNC_POINT when unknown, or dropped. */
struct sync_point must_rules_alloc(const struct must_rules *r, uint32_t block);
/* Drop the allocation and the free of each block whose free happens before every thread's
 * next event. */
void must_rules_forget(struct must_rules *r,
                       bool (*known)(void *context, const struct sync_point *free),
                       void *context);
/* Visits every source of a later edge. */
void must_rules_visit(const struct must_rules *r,
                      void (*visit)(void *context, const struct sync_point *point),
                      void *context);

#endif
