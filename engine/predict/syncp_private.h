/*
 * syncp_private.h - what SyncP knows of a trace after one walk along it: what program order,
 * must-order and observation put before each event, the locks of each thread at each moment,
 * and of each variable whether, and which of, its accesses may be in a race at all.
 */
#ifndef HEDDLE_SYNCP_PRIVATE_H
#define HEDDLE_SYNCP_PRIVATE_H

#include "engine/order/causality.h"
#include "engine/predict/accesses.h"

/* -- locks (syncp_table.c) ----------------------------------------------------------------- */

struct numbers { /* that come one after the other */
	uint32_t *items;
	uint32_t count, room;
};
struct acquires { /* of one lock by one thread */
	uint32_t thread, next; /* next: index of another thread's of the same lock, NONE */
	struct numbers exclusive, shared; /* events, ascending */
};
struct section {
	uint32_t acquire, release; /* release: NONE while there is none */
	uint32_t object;
	bool exclusive;
};
struct held { /* the locks held from one lock operation to the next: a list, shared tails */
	uint32_t section, outer; /* outer: index of the next one out, NONE */
	uint32_t lockset;        /* all of them as a set */
};
struct change {               /* after this event the thread holds ... */
	uint32_t event, held; /* index, NONE for nothing */
};
struct changes { /* of one thread */
	struct change *items;
	uint32_t count, room;
};
struct lock_table {
	struct changes *changes;   /* by thread */
	struct section *sections;  /* by acquire */
	struct held *held;
	struct acquires *acquires; /* one for each lock and each of its threads */
	uint32_t *first;           /* by object: index of its first acquires, NONE */
	uint64_t *slots;           /* where the acquires of a lock and thread are: a hash table */
	uint32_t sections_count, sections_room, held_count, held_room;
	uint32_t acquires_count, acquires_room, slots_count;
	uint64_t threads;
	bool shared; /* some acquire was */
};
void lock_table_init(struct lock_table *l, const struct trace *t);
void lock_table_release(struct lock_table *l);
/* A lock operation that is not inert, one after the other: what its thread holds from then on,
 * index of l->held or NONE. */
uint32_t lock_table_event(struct lock_table *l, struct locksets *locksets,
                          const struct event *x, uint32_t event);
/* What a thread holds where its prefix ends: index of l->held, or NONE. */
uint32_t lock_table_held(const struct lock_table *l, uint32_t thread, uint32_t limit);
static inline uint32_t lock_table_lockset(const struct lock_table *l, uint32_t held)
{
	return held == NONE ? 0 : l->held[held].lockset;
}

/* -- variables (syncp_walk.c) -------------------------------------------------------------- */

/*
 * What has come of a variable.  Until a second thread comes it has one owner.  If what the owner
 * did has no lock in common, it is the variable's opening, and whoever comes later is asked
 * whether he knows all of it: then it is in no race.  From then on (or from the first access,
 * where there is no opening) `guard` are the locks that all accesses hold exclusively but for
 * a few, the strays, which are noted one by one: each pair that may race has a stray.
 */
enum variable_flag {
	VARIABLE_OWNED = 1,
	VARIABLE_WRITTEN = 2, /* since the opening */
	VARIABLE_PLAIN = 4,   /* some access is not atomic */
	VARIABLE_BARE = 8,    /* no guard, only reads since the opening */
	VARIABLE_OPEN = 16,   /* none of this holds: all accesses have to be looked at */
};
struct variable_use {
	stamp last;      /* write */
	uint32_t guard;  /* a set; NONE before the first access, and with VARIABLE_OPEN */
	uint32_t opened; /* one more than the last event of the opening, or the owner's last */
	uint32_t count;
	uint16_t owner;
	uint8_t flags, strays;
};
_Static_assert(sizeof(struct variable_use) == 24, "for the cache; a whole number of stamps");

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
};
/* `uses` by variable, `strays` (struct stray) in the order of the recording, for the caller to
 * g_free and g_array_free; fills observed, locksets and locks in.  False when cancelled. */
bool syncp_walk(struct syncp *s, struct variable_use **uses, GArray **strays,
                const struct progress *progress);
/* The walk and, after it, the accesses that may be in a race.  False when cancelled. */
bool syncp_collect(struct syncp *s, const struct progress *progress);

/* What is before an event of a thread, what it itself observes left out: row; `at`: the stretch
 * that it lies in, or NULL. */
static inline uint32_t stretch_past(const struct stretch *at, uint32_t event)
{
	return at == NULL ? 0 : at->start == event ? at->unobserved : at->row;
}

#endif
