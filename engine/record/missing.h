/*
 * missing.h - what `missing { ... }` of specifications tells the runtime: which libraries are
 * not to be looked into, and which arguments of their functions reach anything.
 */
#ifndef HEDDLE_MISSING_H
#define HEDDLE_MISSING_H

#include "engine/commute/spec.h"

/*
 * The lines for log_config.missing, of the files (char *, may be NULL).  False and `error` when
 * one cannot be read, or when they do not fit.
 */
bool missing_lines(const GPtrArray *files, char *lines, size_t room, struct error *error);

#endif
