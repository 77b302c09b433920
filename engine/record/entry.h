/*
 * entry.h - entries of the program's own functions for `bind` lines: address in the file, with
 * space for a jump (reserved by `heddle cc`).
 */
#ifndef HEDDLE_ENTRY_H
#define HEDDLE_ENTRY_H

#include "engine/base/base.h"

struct program; /* an ELF file with debug information on functions */

/* NULL and `error` when it cannot be read. */
struct program *program_open(const char *path, struct error *error);
void program_close(struct program *p); /* NULL is allowed */

/* Is the name a whole string in the file, as the name of a symbol needed from a library is? */
bool program_names(const struct program *p, const char *name);
/* The address of five bytes of nops at the entry of `function` (C, or qualified C++); *address
 * is 0 when the program lacks it (it may be in a library). False and `error` when not all its
 * calls can be intercepted: inlined, specialised, ambiguous, not built with `heddle cc`. */
bool program_entry(struct program *p, const char *function, uint64_t *address,
                   struct error *error);

#endif
