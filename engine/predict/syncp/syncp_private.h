/*
 * syncp_private.h - sync-preserving races (Mathur, Pavlogiannis, Viswanathan, POPL 2021): those
 * with a witness in which the critical sections on each lock keep their order.
 *
 * The entry is races_syncp (syncp.c).  It works in three passes.  syncp_walk (syncp_walk.c)
 * walks the trace once and records the vector clocks of program order, must-order and
 * observation, the sections of each thread (syncp_table.c), and which variables can race
 * at all. syncp_collect.c gathers the accesses of these variables, by classes (accesses.h).
 * syncp.c compares classes of two threads, growing one closure for two lists of accesses.
 *
 * Clocks and sections take some three bytes an event.  Of a trace of which few blocks are in
 * memory at a time they are made where a variable can race (race_suspects).
 *
 * The passes may rely on events coming in the order of the trace and on closures only growing
 * along a thread; everybody else on each race that is reported having a witness that the
 * checker accepts, and on the report holding every sync-preserving race unless a note says that
 * the budget ended.
 */
#ifndef HEDDLE_SYNCP_PRIVATE_H
#define HEDDLE_SYNCP_PRIVATE_H

#include "engine/order/causality.h"
#include "engine/predict/syncp/accesses.h"
#include "engine/predict/effort.h"

/* -- locks (syncp_table.c) ----------------------------------------------------------------- */

/* Acquires of one lock in one mode by one thread. */
struct acquires {
	uint32_t thread, next; /* next: another thread's, or NONE */
	uint32_t start, count; /* in lock_table.events */
};
/* A critical section with the enclosing ones, as a linked list. When a section ends before an
 * inner one, the innermost is pushed again; ended ones remain in the list until they are the
 * majority, when all open ones are pushed again. */
struct section {
	uint32_t since; /* event: the acquire, or the release that caused pushing again */
	uint32_t acquire, release; /* release: NONE if none, or when since is not the acquire */
	uint32_t outer;            /* index in the thread's list, NONE; may have ended */
	uint32_t lockset;          /* with enclosing sections open from `since` on */
	uint32_t lock;             /* object * 2 + exclusive */
};
/* The sections of one thread, by `since`. */
struct section_list {
	struct section *items;
	uint32_t count, room;
	/* -- at the end of the walk */
	uint32_t held;        /* index, NONE for nothing */
	uint32_t lockset;     /* current lock set */
	uint32_t open, ended; /* numbers of sections in the list from `held` on */
};
struct lock_table {
	struct section_list *of; /* by thread */
	uint64_t threads, objects;
	bool shared; /* there was a shared acquire */
	/* -- after the walk */
	struct acquires *acquires;
	uint32_t *events; /* that are acquires, each run ascending */
	uint32_t *
	        first; /* by lock (object * 2 + exclusive): index of its first acquires, NONE */
};
void lock_table_init(struct lock_table *l, const struct trace *t);
void lock_table_release(struct lock_table *l);
/* Add a lock operation that is not inert, in order; returns its thread's lock set
 * afterwards. */
uint32_t lock_table_event(struct lock_table *l, struct locksets *locksets,
                          const struct event *x, uint32_t event);
/* End of the trace. */
void lock_table_end(struct lock_table *l);
/* The innermost section open at the end of a prefix of a thread, or NONE. */
uint32_t lock_table_held(const struct lock_table *l, uint32_t thread, uint32_t limit);
/* The same when the last section begun before `limit` is known. */
uint32_t sections_held(const struct section_list *list, uint32_t last, uint32_t limit);
/* Its release, or NONE. */
uint32_t section_release(const struct section_list *list, uint32_t section);

/* -- variables (syncp_walk.c) -------------------------------------------------------------- */

/*
 * Access history of a variable. While one thread at a time accesses it, each ordered after
 * all before it, the last of them is the owner. All accesses before the owner's are the
 * opening, which the owner's are ordered after; its last access represents it (the base).
 * When a thread comes that is not ordered after the owner, the owner's accesses and all later
 * ones must be ordered after the base and hold a common lock, `guard`, except a few, the
 * strays, which are listed: each candidate pair has a stray. (The lock is held exclusively by
 * writes, by reads in any mode.) Or they are reads only, and the variable is bare. An access
 * that is ordered after all others begins anew as the owner, and is the base. Else the
 * variable is open.
 */
enum variable_flag {
	VARIABLE_WRITTEN = 1, /* since the opening */
	VARIABLE_PLAIN = 2,   /* some access is not atomic */
	VARIABLE_BARE = 4,    /* no guard, only reads since the opening */
	VARIABLE_OWNED = 8,
	VARIABLE_OPEN = 16,       /* otherwise: all accesses must be examined */
	VARIABLE_STRAY = 1 << 5,  /* times the number of strays */
	VARIABLE_OWNER = 1 << 12, /* times the owner; without OWNED, the thread of the base */
};
enum { MOST_STRAYS = VARIABLE_OWNER / VARIABLE_STRAY - 1 };
struct variable_use {
	epoch last;      /* write */
	uint32_t guard;  /* a lock set; NONE before the first access, and with VARIABLE_OPEN */
	uint32_t opened; /* the base + 1; NONE while OWNED */
	uint32_t recent; /* the last access (if needed) */
	uint32_t flags;  /* enum variable_flag */
	uint32_t before; /* while OWNED: the base + 1; 0: none */
	uint32_t base;   /* its thread, and of those with accesses since then thread_bit */
};
_Static_assert(sizeof(struct variable_use) == 32, "for the cache; a whole number of stamps");
enum { BASE_THREAD = (1 << 20) - 1 };
static inline uint32_t thread_bit(uint32_t thread)
{
	return 1u << (20 + (thread & 7));
}
static inline uint32_t variable_owner(const struct variable_use *use)
{
	return use->flags / VARIABLE_OWNER;
}
static inline uint32_t variable_strays(const struct variable_use *use)
{
	return use->flags / VARIABLE_STRAY & MOST_STRAYS;
}

/* Bound on windows of strays of a variable; each stray has one per thread. */
enum { STRAY_WINDOWS = 512 };
struct stray {
	uint32_t variable, event;
	uint32_t clock; /* its vector clock */
	uint32_t thread;
};

struct syncp {
	struct trace *t;
	struct causality *observed; /* a completed walk */
	struct locksets *locksets;
	struct lock_table locks;
	struct accesses accesses;
	uint32_t threads;
	struct effort *effort; /* for comparing classes and making witnesses; borrowed */
};
/* Sets `uses` by variable, `strays` (struct stray) in recorded order, for g_free and
 * g_array_free by the caller; sets observed, locksets and locks, which syncp_walk_release
 * empties. False when cancelled. */
bool syncp_walk(struct syncp *s, struct variable_use **uses, GArray **strays,
                const struct progress *progress);
void syncp_walk_release(struct syncp *s);
/* May a race be on the variable? Else all its conflicting pairs are ordered by program order,
 * must-order and observation, or exclude each other by a lock. */
static inline bool variable_suspect(const struct variable_use *use)
{
	bool strays = variable_strays(use) > 0 && (use->flags & VARIABLE_WRITTEN) &&
	              !(use->flags & VARIABLE_BARE);

	return (use->flags & VARIABLE_PLAIN) && ((use->flags & VARIABLE_OPEN) || strays);
}
/* The walk and the collection of accesses that may race. False when cancelled. */
bool syncp_collect(struct syncp *s, const struct progress *progress);

/* The vector clock of an event in region `at` (or NULL), without its own observation. */
static inline uint32_t region_past(const struct sync_region *at, uint32_t event)
{
	return at == NULL ? 0 : at->start == event ? at->unobserved : at->clock;
}

#endif
