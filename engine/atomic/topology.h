/*
 * topology.h - strong components and a topological order of a directed graph, maintained under
 * edge insertion.
 *
 * Haeupler, Kavitha, Mathew, Sen, Tarjan: Incremental Cycle Detection, Topological Ordering,
 * and Strong Component Maintenance (ACM Transactions on Algorithms 8(1), 2012): the two-way
 * compatible search, ordered by heaps, continued past the first cycle to the whole component,
 * which is then contracted. O(m^1/2 log m) amortised for each of m edges; an edge that agrees
 * with the order, as most do, costs a comparison.
 *
 * Vertices hold their component until released; an unheld component without incoming edges may
 * be removed.
 */
#ifndef HEDDLE_ATOMIC_TOPOLOGY_H
#define HEDDLE_ATOMIC_TOPOLOGY_H

#include "engine/base/base.h"

struct topology;

struct topology *topology_new(void);
void topology_free(struct topology *t);
/* Add a held vertex without edges, last in the order. Vertices index arrays, so numbers should
 * be small; a removed one may be added again. */
void topology_add(struct topology *t, uint32_t vertex);
/* True when the edge closed a cycle and components were merged. */
bool topology_add_edge(struct topology *t, uint32_t from, uint32_t to);

/* The vertex that represents the component of `vertex`, until the next merge. */
uint32_t topology_component(struct topology *t, uint32_t vertex);
/* The next vertex in the ring of a component's vertices. */
uint32_t topology_next_in_component(const struct topology *t, uint32_t vertex);
uint32_t topology_component_size(const struct topology *t, uint32_t component);
/* Is a's component before b's in the order? */
bool topology_before(struct topology *t, uint32_t a, uint32_t b);

/* The vertex no longer holds its component. */
void topology_unhold(struct topology *t, uint32_t vertex);
/* Is the component unheld and without incoming edges? Constant, amortised. */
bool topology_removable(struct topology *t, uint32_t component);
/* Remove a component without incoming edges. The targets of its edges (uint32_t vertices,
 * perhaps repeated) are appended to `ends`. */
void topology_remove(struct topology *t, uint32_t component, GArray *ends);

#endif
