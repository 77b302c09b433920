/*
 * places.h - which object a variable belongs to: the instance of a structure and the member,
 * by its name; the instance's type, and what the member is, by the debug information.
 *
 * Names follow C ("gs[1].i[2].x", "job->arg", "acct.balance"), in recordings as in text
 * traces, so the name says most: embedded structures and arrays of scalars belong to the
 * outer instance, elements of arrays of structures are instances of their own.
 */
#ifndef HEDDLE_ATOMIC_PLACES_H
#define HEDDLE_ATOMIC_PLACES_H

#include "debuginfo/debuginfo.h"
#include "engine/trace/trace.h"

struct atomic_place {
	const char *instance; /* "gs[1].i[2]", "job->", "acct"; interned: compare pointers */
	const char *member;   /* "x", "arg", "balance"; NULL: no member of a structure */
	const char *type;     /* the instance's, without "struct"; "" unknown; interned */
	const char *file;     /* of a global; "" unknown; interned */
	bool local;           /* on a stack, or of no known kind: in no set */
	bool exempt; /* const, volatile or _Atomic, a lock or a condition, or touched by
	              * atomics: in no set unless somebody says so */
};

struct atomic_places {
	struct atomic_place *at; /* by variable */
	GStringChunk *strings;
	struct debuginfo **modules; /* of the trace, where they still are; else NULL */
	uint64_t module_count;
};
/* With `debug`, the types of globals and blocks are looked up in the recorded modules, where
 * they still are.  The caller ends it with _free. */
struct atomic_places *atomic_places_new(const struct trace *t, bool debug);
void atomic_places_free(struct atomic_places *p);
/* The name of a structure for people and specifications: "account" for struct account and
 * for what is a typedef of it; interned.  "" when it is no structure. */
const char *atomic_places_type(struct atomic_places *p, struct debuginfo *d, uint32_t type);
const char *atomic_places_intern(struct atomic_places *p, const char *text);

#endif
