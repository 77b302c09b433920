/*
 * interpose.h - compiles `bind` lines into a small preloaded library whose functions record the
 * call and call the original.
 *
 * Calls of other libraries' functions reach it by symbol preemption; for the program's own
 * functions, bound by the linker, the runtime patches the entries.
 */
#ifndef HEDDLE_INTERPOSE_H
#define HEDDLE_INTERPOSE_H

#include "engine/commute/spec.h"

/* For the bind lines of files (char *; NULL or none: *library is NULL) and a program found in
 * PATH; interposer_remove unlinks and frees. */
bool interposer_of(const GPtrArray *files, const char *program, char **library,
                   struct error *error);
/* Has a file a bind line? False and `error` when one cannot be read. */
bool interposer_binds(const GPtrArray *files, bool *binds, struct error *error);
/* Is some function of the file's bind lines one of the program (a path), or called by it, and
 * none bound by `others` (char *: files that are used already), nor an object of theirs named
 * again? UNKNOWN and `error` when the file cannot be read. */
enum truth interposer_fits(const GPtrArray *others, const char *file, const char *program,
                           struct error *error);
void interposer_remove(char *library); /* NULL is allowed */

#endif
