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
/* Who made the memory: 0 (no block), a segment that ends with the block's allocation, or
 * SHADOW_FREED. */
#define SHADOW_FREED UINT32_MAX
struct shadow_place {
	struct shadow_word *word;
	uint32_t made;
};
/* The word at an address, whose page is from now on one with accesses. */
struct shadow_place shadow_at(uintptr_t address);
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
/* Forgets all accesses of the range, which `made` (above) has made. */
void shadow_assign(uintptr_t low, uintptr_t high, uint32_t made);

/* ---- shadow_points.c ---- */
/* The calls that the thread is in, and an access at a place of the program, by number. */
uint32_t shadow_context(struct thread *t);
uint32_t shadow_point(enum log_tag tag, unsigned flags, uintptr_t pc);
/* Writes what the reader needs to know of them, once. */
void shadow_tell(struct thread *t, uint32_t context, uint32_t point);

/* ---- shadow_locks.c ---- */
void shadow_acquired(struct thread *t, uintptr_t lock);
void shadow_released(struct thread *t, uintptr_t lock, uint32_t ended);
void shadow_lock_forget(struct shadow_word *w);

/* Pages that there have to be. */
void *shadow_pages(size_t bytes);

#endif
