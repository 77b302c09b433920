/*
 * missing.h - `missing { ... }` of specifications, for the runtime: the libraries that are
 * not to be looked into, and the arguments of their functions that reach memory.
 */
#ifndef HEDDLE_MISSING_H
#define HEDDLE_MISSING_H

#include "engine/commute/language/spec.h"

/*
 * The lines for log_config.missing, from the files (char *, may be NULL). False and `error`
 * when one cannot be read, or when they do not fit.
 */
bool missing_lines(const GPtrArray *files, char *lines, size_t room, struct error *error);

#endif
