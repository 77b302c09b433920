/*
 * places.h - which object a variable belongs to, by its name: the instance of a structure
 * and the member.
 *
 * Names follow C ("gs[1].i[2].x", "job->arg", "acct.balance"), in recordings as in text
 * traces, so the name says it all: embedded structures and arrays of scalars belong to the
 * outer instance, elements of arrays of structures are instances of their own.
 */
#ifndef HEDDLE_ATOMIC_PLACES_H
#define HEDDLE_ATOMIC_PLACES_H

#include "engine/trace/trace.h"

struct atomic_place {
	const char *instance; /* "gs[1].i[2]", "job->", "acct"; interned: compare pointers */
	const char *member;   /* "x", "arg", "balance"; NULL: no member of a structure */
	const char *type;     /* the instance's, without "struct"; "" unknown; interned */
	const char *file;     /* of a global; "" unknown; interned */
	bool local;           /* on a stack, or of no known kind: in no set */
};

struct atomic_places {
	struct atomic_place *at; /* by variable */
	GStringChunk *strings;
};
/* With `debug`, the types of globals are looked up in the recorded modules, where they still
 * are.  The caller ends it with _free. */
struct atomic_places *atomic_places_new(const struct trace *t, bool debug);
void atomic_places_free(struct atomic_places *p);

#endif
