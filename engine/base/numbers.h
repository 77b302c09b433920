/*
 * numbers.h - a set of 64-bit numbers, in the order in which they were added.
 */
#ifndef HEDDLE_NUMBERS_H
#define HEDDLE_NUMBERS_H

#include "engine/base/archive.h"

struct numbers;

/* numbers_free. */
struct numbers *numbers_new(void);
void numbers_free(struct numbers *n);
void numbers_clear(struct numbers *n);
/* False when it was there. */
bool numbers_add(struct numbers *n, uint64_t number);
bool numbers_have(const struct numbers *n, uint64_t number);
/* Is some number in both? */
bool numbers_meet(const struct numbers *a, const struct numbers *b);
/* Its place in that order, or NONE. */
uint32_t numbers_place(const struct numbers *n, uint64_t number);
/* The number at a place. */
uint64_t numbers_at(const struct numbers *n, uint32_t place);
uint32_t numbers_count(const struct numbers *n);
/* Add all of the other. */
void numbers_adopt(struct numbers *n, const struct numbers *other);
/* Writes the numbers from the `from`-th on, or adds those that are read. */
void numbers_archive(struct numbers *n, uint32_t from, struct archive *archive);

#endif
