/*
 * views.h - RC11: happens-before and psc among the events of a run.
 *
 * A view is a vector clock of happens-before: of each thread the number of its last event that
 * is before; and the sets of nodes (seq_cst accesses and fences) that reach these events, for
 * the axiom about psc (order.c).
 */
#ifndef HEDDLE_RUNTIME_VIEWS_H
#define HEDDLE_RUNTIME_VIEWS_H

#include "engine/record/runtime/memory/memory.h"

enum { NODES = 256, NODE_WORDS = NODES / 64 };

struct nodes { /* a set */
	uint64_t word[NODE_WORDS];
};

struct view {
	uint32_t clock[WEAK_THREADS]; /* by thread: its events in the view; 0: none */
	uint64_t generation;          /* generation of the nodes in the sets; older nodes no
	                               * longer exist */
	struct nodes fences;          /* seq_cst fences that happen before */
	struct nodes into;   /* nodes with an edge of psc to a node that happens before, or
	                      * are one */
	struct nodes across; /* nodes of events that are before one of another place in their
	                      * thread, which happens before */
};

/* The facts of a thread's last event, and of its last one at another place, that later choices
 * need. */
struct past {
	const void *place; /* NULL: of none */
	struct nodes fences, across;
};

struct views {
	struct view now;
	struct view seen;     /* view of the stores that it read: for an acquire fence */
	struct view released; /* view at its last release fence */
	bool has_released;
	struct nodes own; /* its seq_cst events */
	struct past last, other;
};

extern uint64_t nodes_generation;

static inline bool nodes_has(const struct nodes *n, unsigned i)
{
	return n->word[i / 64] >> (i % 64) & 1;
}
static inline void nodes_add(struct nodes *n, unsigned i)
{
	n->word[i / 64] |= 1ull << (i % 64);
}
static inline void nodes_join(struct nodes *n, const struct nodes *other)
{
	for (unsigned i = 0; i < NODE_WORDS; i++)
		n->word[i] |= other->word[i];
}
static inline bool nodes_meet(const struct nodes *n, const struct nodes *other)
{
	uint64_t both = 0;
	for (unsigned i = 0; i < NODE_WORDS; i++)
		both |= n->word[i] & other->word[i];
	return both != 0;
}

/* The thread's views, or NULL: too many threads. */
struct views *views_of(struct thread *t);
void view_join(struct view *v, const struct view *other);
/* Drops sets of nodes that no longer exist. */
void view_renew(struct view *v);
void views_event(struct thread *t, enum log_tag tag, uintptr_t object);

/* ---- order.c ---- */
struct store;
struct location;
/* An access of an atomic, with the facts that the axiom about psc needs. */
struct access {
	struct access *next;       /* next older access of its location */
	const struct store *store; /* the store that it wrote, or (`reads`) read; NULL: a
	                            * dropped one */
	uint32_t thread, index;
	bool writes, reads;
	int node;             /* or -1 */
	struct nodes sources; /* its node, and the seq_cst fences that happen before it */
};

/* A choice: the store that an event of `t` is to read, and the store behind which it is
 * inserted. */
struct choice {
	struct location *at;
	struct store *reads; /* or NULL: no read */
	struct store *after; /* or NULL: no store */
	bool sc;
	const struct view *acquired; /* joins the thread's view, or NULL */
};
/* Would psc be acyclic? */
bool order_allows(struct views *v, const struct choice *c);
/* The choice is executed: `made` is its store, or NULL. Index: of the event in its thread. */
void order_commit(struct views *v, uint32_t thread, uint32_t index, const struct choice *c,
                  struct store *made);
void order_fence(struct views *v, uint32_t thread, uint32_t index, bool sc);
/* An event of the thread that is no access of an atomic. */
void order_elsewhere(struct views *v);
void order_prepare(const struct location *l);
void order_forget(struct access *list);

/* ---- stores.c ---- */
struct store {
	struct store *next, *previous; /* in modification order */
	uint64_t value, ordinal;
	uint32_t thread, index;
	uint32_t step;         /* step of the plan: STEP_STORE + it, STEP_INITIAL, or 0 */
	uint32_t number;       /* in modification order: stores_number */
	bool updates;          /* reads `previous` */
	bool known;            /* in every thread's view: no earlier store is chosen */
	bool initial, unknown; /* `unknown`: its value is the contents of memory */
	struct view released;
	uint32_t seen[WEAK_THREADS]; /* the thread's first event that wrote or read it */
};
struct location {
	struct location *next;
	uintptr_t address;
	uint8_t size;
	bool last_alone; /* sequentially consistent from now on */
	struct store *first, *last;
	const struct store *newest; /* the last store made; NULL: it was dropped */
	unsigned count, accesses;
	struct access *log;
	struct own_release *releases;
	uint32_t latest[WEAK_THREADS]; /* each thread's last access of it */
};
void stores_number(struct location *l);
void stores_fence(struct thread *t, unsigned order);
void stores_wide(struct thread *t);

#endif
