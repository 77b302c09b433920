/*
 * trace_out.h - output of `convert` and `filter`: a trace in the chosen format, to a file or
 * standard output.
 */
#ifndef HEDDLE_TRACE_OUT_H
#define HEDDLE_TRACE_OUT_H

#include "engine/trace/formats.h"
#include "tui/batch/command.h"

/* The format by --to, else by the suffix of `path`; else text. */
enum trace_format trace_out_format(const struct arguments *a, const char *path);
/* Write the events of `keep` (bit set; NULL: all) to `path`; - is standard output. *left_out:
 * number of events that STD cannot express. */
bool trace_out_write(const struct trace *t, const char *path, enum trace_format format,
                     const uint64_t *keep, uint64_t *left_out, struct error *error);

#endif
