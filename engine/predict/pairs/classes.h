/*
 * classes.h - the accesses of a variable grouped into classes by thread, site, kind and lock
 * set.
 *
 * Two classes conflict, or share a lock, as a whole; and as a class is in one thread, its
 * members unordered with an access form an interval. Independent of orders.
 */
#ifndef HEDDLE_CLASSES_H
#define HEDDLE_CLASSES_H

#include "engine/predict/pairs/candidates.h"
#include "engine/predict/pairs/class_table.h"
#include "engine/trace/index.h"

struct class
{
	uint32_t first, count; /* a range of classes.events, ascending */
	uint32_t site, lockset;
	uint32_t thread;
	bool writes, atomic;
	bool wide; /* some member covers several variables */
};

struct classes {
	GArray *classes; /* struct class; of a variable, by thread, kind, site, locks */
	GArray *events;  /* uint32_t */
	const struct trace *t;
	struct locksets *locksets;
	GArray *numbers; /* scratch: class by access */
	struct class_table table;
};

/* Needs INDEX_VARIABLES; `locksets` of the trace, borrowed. */
void classes_init(struct classes *c, const struct trace *t, struct locksets *locksets);
void classes_release(struct classes *c);
void classes_clear(struct classes *c);
/* Append the classes of a variable.  Linear in its accesses. */
void classes_add(struct classes *c, uint32_t variable);

/* Number of classes of a variable from which pairs of sites are asked for first: the number
 * of sites is fixed by the program, that of classes grows with its threads. */
enum { MANY_CLASSES = 2048 };
/* The classes of the current variable, from index `first` on, by site: by[start[i]] to
 * by[start[i + 1] - 1] are those of one. */
struct class_sites {
	uint32_t *by, *start;
	uint32_t count;
};
struct class_sites classes_by_site(const struct classes *c, uint32_t first);
void class_sites_release(struct class_sites *s);

static inline struct class *class_at(const struct classes *c, guint i)
{
	return &g_array_index(c->classes, struct class, i);
}
static inline uint32_t class_member(const struct classes *c, const struct class *class,
                                    uint32_t i)
{
	return g_array_index(c->events, uint32_t, class->first + i);
}
/* May two classes race: different threads, a write, not both atomic? */
static inline bool classes_conflict(const struct class *a, const struct class *b)
{
	return a->thread != b->thread && (a->writes || b->writes) && !(a->atomic && b->atomic);
}

/* Is e <tr f ordered? The relation must stay true when e moves back or f on in its thread. */
typedef bool class_order(const void *context, uint32_t e, uint32_t f);
/* Members first .. end - 1 of a class: those unordered with an access of another thread. */
struct span {
	uint32_t first, end;
};
/* The span of `e`, given that of an earlier access in e's thread (or { 0, 0 }). Returns the
 * number of calls of `before`. */
uint32_t class_span(const struct classes *c, const struct class *class, uint32_t e,
                    class_order *before, const void *context, struct span *span);
/* Are all conflicting pairs of the variable ordered by the relation, which must be transitive?
 * False negatives are possible for unordered atomic accesses. Linear; *steps is increased by
 * the calls of `before`. */
bool variable_ordered(const struct trace *t, uint32_t variable, class_order *before,
                      const void *context, uint64_t *steps);

/* The variables that may have a candidate, as a bit set: accessed by two threads, with a write,
 * with a non-atomic access, and (unless `locked`) not all under one lock. One pass over the
 * trace. NULL when cancelled; the caller frees. */
uint64_t *classes_suspects(const struct trace *t, struct locksets *locksets, bool locked,
                           const struct progress *progress);
static inline bool is_suspect(const uint64_t *suspects, uint32_t variable)
{
	return suspects[variable / 64] >> (variable % 64) & 1;
}

#endif
