/*
 * entry.h - where a function of the program itself begins, for `bind` lines: its address in
 * the file and whether there is room for a jump (`heddle cc` leaves some at every entry).
 */
#ifndef HEDDLE_ENTRY_H
#define HEDDLE_ENTRY_H

#include "engine/base/base.h"

struct program; /* an ELF file and what its debug information says of functions */

/* NULL and `error` when it cannot be read. */
struct program *program_open(const char *path, struct error *error);
void program_close(struct program *p); /* NULL is allowed */

/*
 * The address of the five bytes at the entry of `function` (C, or qualified C++) that do
 * nothing; *address is 0 when the program has no such function (it may be a library's).
 * False and `error` when it has one whose calls cannot all be seen: inlined, specialised,
 * of several, not built with `heddle cc`.
 */
bool program_entry(struct program *p, const char *function, uint64_t *address,
                   struct error *error);

#endif
