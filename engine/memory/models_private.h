/* models_private.h - between the files of memory_consistent. */
#ifndef HEDDLE_MEMORY_MODELS_PRIVATE_H
#define HEDDLE_MEMORY_MODELS_PRIVATE_H

#include "engine/memory/models.h"

/* Records a violation in `why` (may be NULL, then frees `cycle`); returns false, so that a
 * predicate can return it. */
bool memory_violates(struct memory_why *why, const char *axiom);
void memory_why_add(struct memory_why *why, uint32_t from, uint32_t to, const char *relation);

/* Edges among events, whose cycles are looked for. */
struct memory_edges {
	GArray *list; /* struct memory_edge */
	uint32_t events;
};
void memory_edges_init(struct memory_edges *edges, const struct memory_graph *g);
void memory_edges_release(struct memory_edges *edges);
void memory_edge_add(struct memory_edges *edges, uint32_t from, uint32_t to,
                     const char *relation);
/* Adds edges from the arrivals of its round to the departure. */
void memory_round_edges_add(struct memory_edges *edges, const struct memory_graph *g,
                            uint32_t departure);
/* True without a cycle; else the axiom is violated by one that is found. */
bool memory_edges_acyclic(const struct memory_edges *edges, const char *axiom,
                          struct memory_why *why);

/* No store comes between the two events of a read-modify-write in mo. */
bool memory_is_atomic(const struct memory_graph *g, struct memory_why *why);

bool memory_consistent_rc11(const struct memory_graph *g, struct memory_why *why);

#endif
