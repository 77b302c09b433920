/*
 * mutate.h - damage for the fuzzers: random numbers that a seed fixes, and mutations that know
 * lines, tokens, numbers, words of memory, and the tables of the binary formats.  The same
 * seed makes the same sequence of inputs.
 */
#ifndef HEDDLE_TESTS_MUTATE_H
#define HEDDLE_TESTS_MUTATE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* The generator's state is never 0: 0 is taken for 1. */
void mutate_seed(uint64_t seed);
uint64_t mutate_random(void);
/* 0 .. limit - 1; 0 when the limit is 0. */
uint64_t mutate_below(uint64_t limit);
/* A number at a limit of some type, as text. */
const char *mutate_extreme(void);

/*
 * Text: one to four of: a piece of `pieces` (ends with NULL) inserted or written over, bytes
 * removed or changed, a range copied, the text cut, a number made extreme, lines or tokens
 * exchanged, repeated or removed, a line of `other` (may be NULL) taken over, deep nesting, a
 * very long name.
 */
void mutate_text(GString *s, const char *const *pieces, const GString *other);
/* Pieces of every text format. */
extern const char *const mutate_pieces[];

/* Any bytes, of which [from, length) may change: bits, bytes, aligned words made extreme or
 * copied, ranges removed or repeated, the end cut. `keep_length`: only in place. */
void mutate_bytes(GString *s, size_t from, bool keep_length);

/* A binary trace (docs/trace-binary.md): an element of a section, or an entry of the section
 * table or the header, changes; the sums are made right.  Anything else is left alone. */
void mutate_binary_trace(GString *s);
/* An index of the cache folder (engine/trace/binary/cache.c): bytes anywhere, or the table of
 * its arrays, its parts or its length with the header's sum made right. It stays one of its
 * trace.
 */
void mutate_index(GString *s);
/* An ELF file: the contents or the header of a section (mostly of DWARF), a program header. */
void mutate_elf(GString *s);

#endif
