/*
 * interpose.h - from `bind` lines to a small shared library that is loaded before the
 * others: its functions tell the recorder of the call and call the real ones.
 *
 * That reaches calls into shared libraries, and calls within the program to functions that
 * it exports (-rdynamic, -fPIC libraries).  A program's own functions that the linker has
 * bound directly are out of reach: heddle.h is for those.
 */
#ifndef HEDDLE_COMMUTE_INTERPOSE_H
#define HEDDLE_COMMUTE_INTERPOSE_H

#include "engine/commute/spec.h"

/* The source of the library; owned by the caller.  *functions: how many it has. */
char *interposer_source(const struct specs *specs, unsigned *functions);
/*
 * Compile it with $CC (or cc) into a new file in the folder for temporary files, which the
 * caller unlinks and frees.  NULL and `error` without a compiler, a bind line, or with a
 * prototype that cannot be forwarded.
 */
char *interposer_build(const struct specs *specs, struct error *error);

#endif
