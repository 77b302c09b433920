/*
 * trace_out.h - where `convert` and `filter` write a trace: in the format that is asked for, to
 * a file or to standard output.
 */
#ifndef HEDDLE_TRACE_OUT_H
#define HEDDLE_TRACE_OUT_H

#include "engine/trace/formats.h"
#include "tui/batch/command.h"

/* --to, or what the suffix of `path` says; text otherwise. */
enum trace_format trace_out_format(const struct arguments *a, const char *path);
/*
 * Write the events of `keep` (a bit each; NULL: all) to `path`, - being standard output.
 * *left_out: events that STD cannot say.
 */
bool trace_out_write(const struct trace *t, const char *path, enum trace_format format,
                     const uint64_t *keep, uint64_t *left_out, struct error *error);

#endif
