/*
 * rebase.h - addresses that are the same in every run, for a recording whose program was
 * loaded at random ones (where personality(2) is refused, as in many containers).  Each range
 * (a module, a stack, the life of a heap block) gets a place of its own in the order in which
 * the log speaks of it; what lies elsewhere goes with the first address of its neighbourhood
 * that the log speaks of.
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
/* A new place for `size` bytes from `low` on: what is to be added (modulo 2^64) to their
 * addresses.  Their alignment stays as it is, up to `unit` (a power of two, at most a page):
 * what of `low` differs from run to run must be a multiple of it. */
#define REBASE_PAGE 4096u
uint64_t rebase_range(struct rebase *r, uint64_t low, uint64_t size, uint64_t unit);
/* The same for an address that lies in no range. */
uint64_t rebase_elsewhere(struct rebase *r, uint64_t address);
/* Does a number look as if it were an address of a program that was loaded at random? */
bool rebase_likely(uint64_t value);

#endif
