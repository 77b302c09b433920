/*
 * classes.h - the accesses of one variable, grouped into classes that are alike: one thread,
 * site, kind and set of locks held.
 *
 * Two classes conflict or do not, share a lock or do not, as a whole; and since each is in one
 * thread, which of their members an order leaves unordered is an interval around each member.
 * Knows nothing of orders.
 */
#ifndef HEDDLE_CLASSES_H
#define HEDDLE_CLASSES_H

#include "engine/predict/pairs/candidates.h"
#include "engine/trace/index.h"

struct class
{
	uint32_t first, count; /* a run of classes.events, ascending */
	uint32_t site, lockset;
	uint32_t thread;
	bool writes, atomic;
	bool wide; /* some member covers several variables */
};

struct classes {
	GArray *classes; /* struct class; of one variable by thread, kind, site, locks */
	GArray *events;  /* uint32_t */
	const struct trace *t;
	struct locksets *locksets;
	/* scratch: the class of each access, and where the class of a key is (the number of the
	 * variable above the index, so that what other variables left is no entry) */
	GArray *numbers;
	uint64_t *slots;
	uint32_t slots_count; /* a power of two */
	uint32_t round;
};

/* Needs INDEX_VARIABLES; `locksets` are those of the trace's events, borrowed. */
void classes_init(struct classes *c, const struct trace *t, struct locksets *locksets);
void classes_release(struct classes *c);
void classes_clear(struct classes *c);
/* Append the classes of a variable.  Linear in its accesses. */
void classes_add(struct classes *c, uint32_t variable);

static inline struct class *class_at(const struct classes *c, guint i)
{
	return &g_array_index(c->classes, struct class, i);
}
static inline uint32_t class_member(const struct classes *c, const struct class *class,
                                    uint32_t i)
{
	return g_array_index(c->events, uint32_t, class->first + i);
}
/* Different threads, a write, not both atomic. */
static inline bool classes_conflict(const struct class *a, const struct class *b)
{
	return a->thread != b->thread && (a->writes || b->writes) && !(a->atomic && b->atomic);
}

/*
 * Is `e` before `f` (e <tr f) by a relation that program order carries on: what holds for a
 * pair holds when e moves back or f moves on in its thread?
 */
typedef bool class_order(const void *context, uint32_t e, uint32_t f);
/* Members first .. end - 1 of a class: those that are unordered with one access of another
 * thread. */
struct span {
	uint32_t first, end;
};
/* The span of `e`, given that of an earlier access of e's thread (or { 0, 0 }).  Returns how
 * often `before` was asked. */
uint32_t class_span(const struct classes *c, const struct class *class, uint32_t e,
                    class_order *before, const void *context, struct span *span);
/*
 * Is every conflicting pair of accesses of a variable ordered by the relation?  May say no
 * where atomic accesses are unordered among themselves.  For relations of which also holds: e
 * before f and f before g give e before g.  Linear; *steps is increased by the questions asked.
 */
bool variable_ordered(const struct trace *t, uint32_t variable, class_order *before,
                      const void *context, uint64_t *steps);

/*
 * The variables that may have a candidate, a bit each: two threads access them, one of them
 * writing, one not atomically, and (but where `locked`) not all under one and the same lock.
 * One pass over the trace.  NULL when cancelled; the caller frees.
 */
uint64_t *classes_suspects(const struct trace *t, struct locksets *locksets, bool locked,
                           const struct progress *progress);
static inline bool is_suspect(const uint64_t *suspects, uint32_t variable)
{
	return suspects[variable / 64] >> (variable % 64) & 1;
}

#endif
