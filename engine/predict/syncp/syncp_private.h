/*
 * syncp_private.h - sync-preserving races (Mathur, Pavlogiannis, Viswanathan, POPL 2021): those
 * with a witness in which the critical sections on each lock keep their order.
 *
 * The entry is races_syncp (syncp.c).  It works in three passes.  syncp_walk (syncp_walk.c)
 * goes along the trace once and writes down what program order, must-order and observation put
 * before each event, the sections of each thread (syncp_table.c), and which variables can race
 * at all. syncp_collect.c gathers the accesses of these variables, by classes (accesses.h).
 * syncp.c compares classes of two threads, growing one closure for two lists of accesses.
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

struct acquires {              /* of one lock in one mode by one thread */
	uint32_t thread, next; /* next: index of another thread's of the same, NONE */
	uint32_t start, count; /* in lock_table.events */
};
/*
 * A critical section, and those around it when it began: a list.  Where a section ends before
 * one that began inside of it, the innermost one is there once more from then on; what has
 * ended stays in the list until it is the most of it, when all that are open are there once
 * more.
 */
struct section {
	uint32_t since;            /* event: the acquire, or the release that is meant above */
	uint32_t acquire, release; /* release: NONE while there is none, and where since is
	                              not the acquire */
	uint32_t outer;            /* index in the thread's list, NONE; may have ended */
	uint32_t lockset;          /* with those around it that are open from `since` on */
	uint32_t lock;             /* object * 2 + exclusive */
};
struct section_list { /* of one thread, by `since` */
	struct section *items;
	uint32_t count, room;
	/* At the end of what was walked: */
	uint32_t held;        /* index, NONE for nothing */
	uint32_t lockset;     /* what is held */
	uint32_t open, ended; /* how many from `held` on are so */
};
struct lock_table {
	struct section_list *of; /* by thread */
	uint64_t threads, objects;
	bool shared; /* some acquire was */
	/* once the walk is over */
	struct acquires *acquires;
	uint32_t *events; /* that are acquires, each run ascending */
	uint32_t *
	        first; /* by lock (object * 2 + exclusive): index of its first acquires, NONE */
};
void lock_table_init(struct lock_table *l, const struct trace *t);
void lock_table_release(struct lock_table *l);
/* A lock operation that is not inert, one after the other: the set that its thread holds from
 * then on. */
uint32_t lock_table_event(struct lock_table *l, struct locksets *locksets,
                          const struct event *x, uint32_t event);
/* There are no more. */
void lock_table_end(struct lock_table *l);
/* The innermost section that is open where a thread's prefix ends, or NONE. */
uint32_t lock_table_held(const struct lock_table *l, uint32_t thread, uint32_t limit);
/* The same where the last section that began before `limit` is known. */
uint32_t sections_held(const struct section_list *list, uint32_t last, uint32_t limit);
/* When it ends, or NONE. */
uint32_t section_release(const struct section_list *list, uint32_t section);

/* -- variables (syncp_walk.c) -------------------------------------------------------------- */

/*
 * What has come of a variable.  Until a second thread comes it has one owner.  If what the
 * owner did has no lock in common, it is the variable's opening, and whoever comes later is
 * asked whether he knows all of it: then it is in no race.  From then on (or from the first
 * access, where there is no opening) `guard` are the locks that all accesses hold exclusively
 * but for a few, the strays, which are noted one by one: each pair that may race has a stray.
 */
enum variable_flag {
	VARIABLE_WRITTEN = 1, /* since the opening */
	VARIABLE_PLAIN = 2,   /* some access is not atomic */
	VARIABLE_BARE = 4,    /* no guard, only reads since the opening */
	VARIABLE_OWNED = 8,
	VARIABLE_OPEN = 16,       /* none of this holds: all accesses have to be looked at */
	VARIABLE_STRAY = 1 << 5,  /* times the number of strays */
	VARIABLE_OWNER = 1 << 12, /* times the owner */
};
enum { MOST_STRAYS = VARIABLE_OWNER / VARIABLE_STRAY - 1 };
struct variable_use {
	epoch last;      /* write */
	uint32_t guard;  /* a set; NONE before the first access, and with VARIABLE_OPEN */
	uint32_t opened; /* one more than the last event of the opening; NONE while OWNED */
	uint32_t recent; /* the last access (while it matters) */
	uint32_t what;   /* enum variable_flag */
};
_Static_assert(sizeof(struct variable_use) == 24, "for the cache; a whole number of stamps");
static inline uint32_t variable_owner(const struct variable_use *use)
{
	return use->what / VARIABLE_OWNER;
}
static inline uint32_t variable_strays(const struct variable_use *use)
{
	return use->what / VARIABLE_STRAY & MOST_STRAYS;
}

/* Each stray takes a place for each thread later on: so many, about, for a variable. */
enum { STRAY_WINDOWS = 512 };
struct stray {
	uint32_t variable, event;
	uint32_t row; /* what is before it */
	uint32_t thread;
};

struct syncp {
	struct trace *t;
	struct causality *observed; /* a kept walk */
	struct locksets *locksets;
	struct lock_table locks;
	struct accesses accesses;
	uint32_t threads;
	struct effort *effort; /* of comparing classes and making witnesses; borrowed */
};
/* `uses` by variable, `strays` (struct stray) in the order of the recording, for the caller to
 * g_free and g_array_free; fills observed, locksets and locks in.  False when cancelled. */
bool syncp_walk(struct syncp *s, struct variable_use **uses, GArray **strays,
                const struct progress *progress);
/* The walk and, after it, the accesses that may be in a race.  False when cancelled. */
bool syncp_collect(struct syncp *s, const struct progress *progress);

/* What is before an event of a thread, what it itself observes left out: row; `at`: the stretch
 * that it lies in, or NULL. */
static inline uint32_t region_past(const struct sync_region *at, uint32_t event)
{
	return at == NULL ? 0 : at->start == event ? at->unobserved : at->clock;
}

#endif
