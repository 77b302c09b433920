/*
 * topology.h - a directed graph that grows edge by edge, its strong components and a
 * topological order of them always known.
 *
 * Haeupler, Kavitha, Mathew, Sen, Tarjan: Incremental Cycle Detection, Topological Ordering,
 * and Strong Component Maintenance (ACM Transactions on Algorithms 8(1), 2012): the two-way
 * compatible search, ordered by heaps, going on past the first cycle to the whole component,
 * which is then contracted.  Of m edges each costs O(m^1/2 log m), amortised; an edge that
 * agrees with the order, as most do, costs a comparison.
 *
 * For those who throw away what is over: a component may be held by its vertices, and one
 * that no edge enters may be removed.  Knows nothing of units of work.
 */
#ifndef HEDDLE_ATOMIC_TOPOLOGY_H
#define HEDDLE_ATOMIC_TOPOLOGY_H

#include "engine/base/base.h"

struct topology;

struct topology *topology_new(void);
void topology_free(struct topology *t);
/* A vertex without edges, the last in the order, held.  The caller chooses the numbers, small
 * ones: there are arrays by them.  One that was removed may be added again. */
void topology_add(struct topology *t, uint32_t vertex);
/* Whether that made components one: it closed a cycle. */
bool topology_add_edge(struct topology *t, uint32_t from, uint32_t to);

/* The vertex that stands for the component of `vertex`, until components are made one. */
uint32_t topology_component(struct topology *t, uint32_t vertex);
/* The vertices of a component form a ring: the one after `vertex`. */
uint32_t topology_next_in_component(const struct topology *t, uint32_t vertex);
uint32_t topology_component_size(const struct topology *t, uint32_t component);
/* Is a's component before b's in the order? */
bool topology_before(struct topology *t, uint32_t a, uint32_t b);

/* The vertex lets go of its component. */
void topology_let_go(struct topology *t, uint32_t vertex);
/* Nobody holds the component, and no edge enters it from another.  Constant, amortised. */
bool topology_is_over(struct topology *t, uint32_t component);
/* Remove a component that no edge enters.  The ends of its edges (uint32_t, vertices; some
 * perhaps more than once) are appended to `ends`. */
void topology_remove(struct topology *t, uint32_t component, GArray *ends);

#endif
