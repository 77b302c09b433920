/*
 * rebase.h - replaces random addresses by ones that are the same in every run, where address
 * randomisation could not be switched off (containers often refuse personality(2)).  Each range
 * (a module, a stack, the life of a heap block) gets new addresses in the order of the log; an
 * address outside of all ranges keeps its distance from the first such address near it.
 *
 * Knows nothing of logs and traces.
 */
#ifndef HEDDLE_REBASE_H
#define HEDDLE_REBASE_H

#include <stdbool.h>
#include <stdint.h>

struct rebase;

/* Owned by the caller: rebase_free. */
struct rebase *rebase_new(void);
void rebase_free(struct rebase *r);
/* New addresses for `size` bytes from `low` on: returns the offset (modulo 2^64) from the old
 * to the new ones. Keeps the alignment up to `unit` (a power of two, at most a page): the
 * random part of `low` must be a multiple of it. */
#define REBASE_PAGE 4096u
uint64_t rebase_range(struct rebase *r, uint64_t low, uint64_t size, uint64_t unit);
/* The offset for an address outside of all ranges. */
uint64_t rebase_elsewhere(struct rebase *r, uint64_t address);
/* The address that rebase_elsewhere has moved there. */
uint64_t rebase_original(const struct rebase *r, uint64_t address);
/* May the number be an address of a program loaded at a random one? */
bool rebase_likely(uint64_t value);

#endif
