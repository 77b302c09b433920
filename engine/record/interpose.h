/*
 * interpose.h - compiles `bind` lines into a small preloaded library whose functions record the
 * call and call the original.
 *
 * Calls of other libraries' functions reach it by symbol preemption; for the program's own
 * functions, bound by the linker, the runtime patches the entries.
 */
#ifndef HEDDLE_INTERPOSE_H
#define HEDDLE_INTERPOSE_H

#include "engine/commute/language/spec.h"

/* Makes the library for the bind lines of files (char *; NULL or none: *library is NULL) and
 * a program found in PATH; interposer_remove unlinks and frees. */
bool interposer_of(const GPtrArray *files, const char *program, char **library,
                   struct error *error);
/* Does a file have a bind line? False and `error` when one cannot be read. */
bool interposer_binds(const GPtrArray *files, bool *binds, struct error *error);
/* Does the file fit the program (a path): does the program have, or call, some function of
 * its bind lines, and is none bound, and no object named, by `others` (char *: files used
 * already)? UNKNOWN and `error` when the file cannot be read. */
enum truth interposer_fits(const GPtrArray *others, const char *file, const char *program,
                           struct error *error);
void interposer_remove(char *library); /* NULL is allowed */

#endif
