/* shadow_private.h - shared by shadow.c, shadow_memory.c, shadow_points.c and shadow_locks.c.
 */
#ifndef HEDDLE_RUNTIME_SHADOW_PRIVATE_H
#define HEDDLE_RUNTIME_SHADOW_PRIVATE_H

#include "engine/record/runtime/core/rt.h"

/* An access of a word of memory: of a thread's accesses the last that is a read, and the last
 * that is a write, of each byte. */
struct shadow_access {
	uint32_t segment, context;
	/* Its point << 10, whether it is kept as a use of its block alone, whether it writes,
	 * its bytes (bit set). */
	uint32_t what;
	uint32_t next; /* of a word's first one: more of them (shadow_more), or 0; of the second
	                * one: shadow_lock_of << 1, and whether atomics access the word */
};
enum {
	WHAT_BYTES = 255,
	WHAT_WRITES = 256,
	WHAT_USED = 512,
	WHAT_POINT = 10,
	POINTS = 1 << (32 - WHAT_POINT)
};

enum { SHADOW_INLINE = 2 };
struct shadow_word {
	struct shadow_access at[SHADOW_INLINE]; /* without bytes: none */
};

/* ---- shadow_memory.c ---- */
enum {
	SHADOW_PART_BITS = 21,
	SHADOW_PART = 1 << SHADOW_PART_BITS,
	SHADOW_PAGE_BITS = 12,
	SHADOW_PAGE = 1 << SHADOW_PAGE_BITS,
	SHADOW_PAGES = SHADOW_PART / SHADOW_PAGE,
	SHADOW_GRAIN = 16, /* blocks begin at multiples of it */
	SHADOW_GRAINS = SHADOW_PAGE / SHADOW_GRAIN,
	SHADOW_WORD = 8,
	SHADOW_ADDRESS_BITS = 47,
};
/* Who made the memory: 0 (no block), a segment that ends with the block's allocation, or
 * SHADOW_FREED. */
#define SHADOW_FREED UINT32_MAX
struct shadow_part {
	struct shadow_word words[SHADOW_PART / SHADOW_WORD];
	uint32_t grains[SHADOW_PAGES][SHADOW_GRAINS]; /* who made them, where has_grains, */
	uint32_t made[SHADOW_PAGES];                  /* else of the whole page */
	bool has_grains[SHADOW_PAGES];
	bool has_words[SHADOW_PAGES]; /* accesses */
};
struct shadow_top {
	struct shadow_part *part; /* NULL: no accesses, */
	uint32_t made;            /* and this of all of it */
};
extern struct shadow_top *shadow_tops; /* by address */
struct shadow_part *shadow_new_part(struct shadow_top *top);

static inline struct shadow_top *shadow_top_at(uintptr_t address)
{
	const uintptr_t mask = (UINT64_C(1) << SHADOW_ADDRESS_BITS) - 1;
	return &shadow_tops[(address & mask) >> SHADOW_PART_BITS];
}

struct shadow_place {
	struct shadow_word *word;
	uint32_t made;
};
/* The word at an address, whose page is from now on one with accesses. */
static inline struct shadow_place shadow_at(uintptr_t address)
{
	struct shadow_top *top = shadow_top_at(address);
	struct shadow_part *part = likely(top->part) ? top->part : shadow_new_part(top);
	unsigned in_part = address & (SHADOW_PART - 1), page = in_part >> SHADOW_PAGE_BITS;
	part->has_words[page] = true;
	return (struct shadow_place){
		&part->words[in_part / SHADOW_WORD],
		part->has_grains[page]
		        ? part->grains[page][in_part % SHADOW_PAGE / SHADOW_GRAIN]
		        : part->made[page]
	};
}
/* Accesses beside a word's own, in blocks. */
enum { MORE_BITS = 12 };
extern struct shadow_access **shadow_mores;
static inline struct shadow_access *shadow_more(uint32_t number)
{
	return &shadow_mores[number >> MORE_BITS][number & ((1 << MORE_BITS) - 1)];
}
uint32_t shadow_more_new(void);
/* Frees it; returns the word's next one. */
uint32_t shadow_more_end(uint32_t number);
/* Is the word accessed by atomics? They are noted until the memory is renewed. */
static inline bool shadow_is_atomic(const struct shadow_word *w)
{
	return w->at[1].next & 1;
}
static inline void shadow_set_atomic(struct shadow_word *w)
{
	w->at[1].next |= 1;
}
/* The number of the lock at the word, or 0 (shadow_locks.c). */
static inline uint32_t shadow_lock_of(const struct shadow_word *w)
{
	return w->at[1].next >> 1;
}
static inline void shadow_set_lock(struct shadow_word *w, uint32_t lock)
{
	w->at[1].next = (w->at[1].next & 1) | lock << 1;
}
/* Calls `visit` with each word of the range that may have accesses. */
typedef void shadow_visit(void *context, struct shadow_word *w, uintptr_t address);
void shadow_words(uintptr_t low, uintptr_t high, shadow_visit *visit, void *context);
/* False: nothing of the range has been accessed. */
bool shadow_has_words(uintptr_t low, uintptr_t high);
/* Forgets all accesses of the range, which `made` (above) has made. */
void shadow_assign(uintptr_t low, uintptr_t high, uint32_t made);

/* ---- shadow_points.c ---- */
/* The calls that the thread is in, by number. A frame has its number from when it is first
 * asked for until it is left. */
uint32_t shadow_new_context(struct thread *t);
static inline uint32_t shadow_context(struct thread *t)
{
	const uint32_t depth = t->depth < MAX_FRAMES ? t->depth : MAX_FRAMES;
	const uint32_t known = depth ? (uint32_t)t->frames[depth - 1].context : 0;
	return likely(known) ? known : shadow_new_context(t);
}
/* An access (tag | flags << 8) at a place of the program, by number. Here are the latest, by a
 * hash. */
enum { SHADOW_POINT_BITS = 12 };
struct shadow_point {
	uint64_t access; /* pc, tag << 48, flags << 56 */
	uint32_t number;
};
extern struct shadow_point shadow_points[1 << SHADOW_POINT_BITS];
uint32_t shadow_new_point(struct shadow_point *latest, uint64_t access);
static inline uint32_t shadow_point(unsigned what, uintptr_t pc)
{
	const uint64_t access = (pc & LOG_ADDRESS_MASK) | (uint64_t)what << 48;
	struct shadow_point *p =
	        &shadow_points[access * HASH_FACTOR >> (64 - SHADOW_POINT_BITS)];
	return likely(p->access == access) ? p->number : shadow_new_point(p, access);
}
/* Writes what the reader needs to know of them, once. */
void shadow_tell(struct thread *t, uint32_t context, uint32_t point);

/* ---- shadow_locks.c ---- */
/* True: no other thread has ever left a section of it, and none does before this one. */
bool shadow_acquired(struct thread *t, uintptr_t lock);
void shadow_released(struct thread *t, uintptr_t lock, uint32_t ended);
void shadow_read_released(const struct thread *t, uintptr_t lock);
/* False: the program has released a lock that another thread holds; shadow_acquired may have
 * been wrong. */
bool shadow_locks_usual(void);
void shadow_lock_forget(struct shadow_word *w);

/* ---- shadow_touches.c ---- */
/* The thread accesses memory inside of critical sections. */
void shadow_touch(struct thread *t, bool writes, uintptr_t address, size_t size);
/* It enters a section of the lock; `alone`: from shadow_acquired. */
void shadow_enters(struct thread *t, uintptr_t lock, bool alone);
/* It is about to leave one. */
void shadow_leaves(struct thread *t, uintptr_t lock);
/* It begins. */
void shadow_touches_begin(struct thread *t);
/* It is about to free the block that this has made (shadow_place). */
void shadow_tell_touches_of(struct thread *t, uint32_t made);
/* The log is to have all of its accesses (shadow_before_event: but for those that are kept). */
void shadow_tell_touches(struct thread *t);

/* Pages that there have to be. */
void *shadow_pages(size_t bytes);

#endif
