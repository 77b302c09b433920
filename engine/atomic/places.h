/*
 * places.h - the object that a variable belongs to: instance and member from the variable's
 * name; the instance's type and the member's kind from the debug information.
 *
 * Names follow C ("gs[1].i[2].x", "job->arg", "acct.balance") in recordings and in text traces.
 * Embedded structures and arrays of scalars belong to the outer instance; elements of arrays of
 * structures are instances of their own.
 */
#ifndef HEDDLE_ATOMIC_PLACES_H
#define HEDDLE_ATOMIC_PLACES_H

#include "debuginfo/debuginfo.h"
#include "engine/trace/trace.h"

struct atomic_place {
	const char *instance; /* "gs[1].i[2]", "job->", "acct"; interned: compare pointers */
	const char *member;   /* "x", "arg", "balance"; NULL: not in a structure */
	const char *type;     /* without "struct"; "" unknown; interned */
	const char *file;     /* of a global; "" unknown; interned */
	bool local;           /* on a stack or unknown: in no set */
	bool exempt; /* const, volatile, _Atomic, memory of a lock or condition, or accessed
	                atomically: in a set only by declaration */
};

struct atomic_places {
	struct atomic_place *at; /* by variable */
	GStringChunk *strings;
	struct debuginfo **modules; /* of the trace; NULL where the file is gone */
	uint64_t module_count;
};
/* With `debug`, types of globals and blocks are looked up in the recorded modules that still
 * exist. Freed by _free. */
struct atomic_places *atomic_places_new(const struct trace *t, bool debug);
void atomic_places_free(struct atomic_places *p);
/* The name of a structure, for messages and specifications: "account" for struct account and
 * for a typedef of it; interned. "" when it is no structure. */
const char *atomic_places_type(struct atomic_places *p, struct debuginfo *d, uint32_t type);
const char *atomic_places_intern(struct atomic_places *p, const char *text);

#endif
