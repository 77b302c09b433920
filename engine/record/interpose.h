/*
 * interpose.h - from `bind` lines to a small shared library that is loaded before the
 * others: its functions tell the recorder of the call and call the real ones.
 *
 * The loader's rules bring it calls of the functions of other shared libraries; for those of
 * the program itself, which the linker has bound, it has the runtime change their entries.
 */
#ifndef HEDDLE_INTERPOSE_H
#define HEDDLE_INTERPOSE_H

#include "engine/commute/spec.h"

/*
 * The same for the bind lines of files (char *; NULL or none: *library is NULL) and a
 * program that is looked up in PATH; interposer_remove unlinks and frees.
 */
bool interposer_of(const GPtrArray *files, const char *program, char **library,
                   struct error *error);
/* Has one of the files a bind line?  False and `error` when one cannot be read. */
bool interposer_binds(const GPtrArray *files, bool *binds, struct error *error);
void interposer_remove(char *library); /* NULL is allowed */

#endif
