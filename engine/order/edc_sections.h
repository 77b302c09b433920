/*
 * edc_sections.h - EDC's edges from critical sections (rule (a)) event by event: from the
 * release of a section to a later event inside another section on the lock, when an item of the
 * first clashes with an item of the event. Whole traces (edc.c) and programs that are running
 * (predict/pairs/online.c) use it.
 *
 * Items are small numbers that the caller assigns; the caller also says which items clash. For
 * each item and lock the last closed sections that touched the item are kept, by thread. With a
 * bound, only the last few of each item are kept and the oldest is overwritten (the thesis's
 * algorithm 3: four): edges may then be lost, and are never made up.
 */
#ifndef HEDDLE_EDC_SECTIONS_H
#define HEDDLE_EDC_SECTIONS_H

#include "engine/trace/index.h"
#include "engine/trace/sync_point.h"

struct edc_touched {
	uint32_t item;  /* NONE: a free place of the table */
	uint32_t event; /* the event that touched it; NONE: several */
};
/* A critical section and the items that it has touched; counted references. */
struct edc_section {
	uint32_t references, lock, thread;
	uint32_t begin; /* its acquire */
	uint32_t end;   /* its release; NONE: it is open */
	bool shared;
	uint32_t count, room;
	struct edc_touched *items; /* hash table, open addressing; NULL: none so far */
};
/* The sections that a thread is inside of, as long as it enters and leaves none; counted
 * references. */
struct edc_held {
	uint32_t references, count;
	struct edc_section *sections[];
};

struct edc_rules {
	void *context;
	/* The items that clash with an item; valid until there is another item. */
	struct event_list (*clashing)(void *context, uint32_t item);
	/* The item that occupied, at an earlier event, the memory that this one occupies now;
	 * NONE: none. NULL: items are the same at all times. */
	uint32_t (*as_of)(void *context, uint32_t item, uint32_t event);
	/* The current event comes after the release of a section on the lock. */
	void (*join)(void *context, const struct sync_point *release, uint32_t lock);
	uint32_t most; /* sections kept for an item; 0: no bound */
	/* A lock may have two holders at once (--lenient): no order is implied by it. */
	bool lenient;
};
struct edc_sections;
struct edc_sections *edc_sections_new(const struct edc_rules *rules); /* copied */
void edc_sections_free(struct edc_sections *s);                       /* NULL is allowed */
/* `event`: the acquire. The new section, borrowed. */
struct edc_section *edc_sections_acquire(struct edc_sections *s, uint32_t thread,
                                         uint32_t event, uint32_t lock, bool shared);
/* `at`: the release. Sections that the thread does not hold are passed over. */
void edc_sections_release(struct edc_sections *s, struct sync_point at, uint32_t lock);
/* The event touches an item. Without effect outside of sections. */
void edc_sections_touch(struct edc_sections *s, uint32_t thread, uint32_t event, uint32_t item);
/* An event of the thread's before number `before` has touched an item, in the sections that the
 * thread is in since before it, and no other thread has ended one on their locks before it. */
void edc_sections_touch_late(struct edc_sections *s, uint32_t thread, uint32_t before,
                             uint32_t item);
bool edc_sections_inside(const struct edc_sections *s, uint32_t thread);
/* The sections that the thread holds; NULL: none. Borrowed. */
struct edc_held *edc_sections_held(struct edc_sections *s, uint32_t thread);
struct edc_held *edc_held_ref(struct edc_held *h); /* NULL is allowed, as it is here: */
void edc_held_unref(struct edc_held *h);
struct edc_section *edc_section_ref(struct edc_section *s);
void edc_section_unref(struct edc_section *s);

/* Two events, the second of which is later, each inside of a section on one lock. */
struct edc_pair {
	uint32_t events[2];
	bool frees[2]; /* it frees a block */
};
/* The thesis's deferred check. Is a section ordered before a later one on its lock by items
 * other than those that the pair touched, its first event in the first section and its second
 * in the second? A free observes nothing (figure 3.3: it has no edge from a use), so no other
 * use of its block counts, either. False where one of them is open, and where both are
 * shared. */
bool edc_sections_clash(const struct edc_rules *rules, const struct edc_section *first,
                        const struct edc_section *second, const struct edc_pair *pair);

/* Has an open section touched the item? */
bool edc_sections_touched(const struct edc_sections *s, uint32_t item);
/* From now on the item is another place of memory; no open section has touched the new one. */
void edc_sections_renew(struct edc_sections *s, uint32_t item);
/* `to`, a new item, has been touched wherever `from` was. */
void edc_sections_copy(struct edc_sections *s, uint32_t from, uint32_t to);
/* Visits every section end that later edges may start from. */
void edc_sections_visit(const struct edc_sections *s,
                        void (*visit)(void *context, const struct sync_point *point),
                        void *context);

#endif
