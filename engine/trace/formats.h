/*
 * formats.h - traces on disk: writing the three formats.  Reading is trace_open.
 *
 * The binary format (docs/trace-binary.md) is the tables of struct trace, one section
 * each, as they lie in memory, so that opening is mapping.
 */
#ifndef HEDDLE_FORMATS_H
#define HEDDLE_FORMATS_H

#include "engine/trace/trace.h"

/* What is written, and the oldest that is read: version 2 added operations at the end of
 * ops.def, version 3 the blocks of objects, which have another size since; version 4 has other
 * events, with wider indexes of threads.  */
enum { TRACE_VERSION = 4, TRACE_OLDEST = 4 };

enum trace_format { TRACE_TEXT, TRACE_STD, TRACE_BINARY };

/*
 * Write the trace to `path` whole or not at all.  With `keep` (a bit for each event, or
 * NULL for all) only those events; they get new ids.  TRACE_STD leaves out what STD cannot
 * say and counts it in *left_out (may be NULL).
 */
bool trace_write(const struct trace *t, const char *path, enum trace_format format,
                 const uint64_t *keep, uint64_t *left_out, struct error *error);
/* The note with all that a recorded program was given from outside: a trace that has it is
 * written for the user alone (mode 0600). */
#define TRACE_INPUT_NOTE "recording-input-bytes"
/* The same into memory, for TRACE_TEXT and TRACE_STD. */
void trace_print(const struct trace *t, enum trace_format format, const uint64_t *keep,
                 GString *out, uint64_t *left_out);

#endif
