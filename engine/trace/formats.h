/*
 * formats.h - writes traces in three formats; trace_open reads them.
 *
 * The binary format (docs/trace-binary.md) has the tables of struct trace as in memory, one
 * section each, and the events in blocks of a few bytes an event.
 */
#ifndef HEDDLE_FORMATS_H
#define HEDDLE_FORMATS_H

#include "engine/trace/trace.h"

/* Versions written, and oldest read: 2 added operations at the end of ops.def, 3 blocks of
 * objects (new size), 4 changed events (wider thread indices), 5 blocks of events, 6 numbers
 * of recorded threads and tables for replay, 7 flush and the table `weak`, which version 6
 * lacks, 8 sections packed as differences, 9 names by rules (`name_rules`), 10 values that
 * are small integers, 11 rules of names in static data. */
enum { TRACE_VERSION = 11, TRACE_OLDEST = 6, SMALL_VALUES_FROM = 10 };

enum trace_format { TRACE_TEXT, TRACE_STD, TRACE_BINARY };

/* Write the trace to `path`, atomically. With `keep` (bit set, or NULL: all) only those
 * events, renumbered. TRACE_STD omits events that STD cannot express; their number goes to
 * *left_out (may be NULL). */
bool trace_write(const struct trace *t, const char *path, enum trace_format format,
                 const uint64_t *keep, uint64_t *left_out, struct error *error);

/*
 * A binary trace that is written while it is made: a builder (trace_options.writer) writes
 * the events to it and keeps none, and the trace that it finally makes has all tables but
 * events and stacks. Written atomically; `end` and `abandon` free it.
 */
struct trace_writer;
struct trace_writer *trace_writer_open(const char *path, struct error *error);
/* Takes the events of a recording of which no trace is made, and keeps none: for a builder that
 * is watched. */
struct trace_writer *trace_writer_nowhere(void);
bool trace_writer_keeps(const struct trace_writer *writer);
bool trace_writer_end(struct trace_writer *writer, const struct trace *t, struct error *error);
void trace_writer_abandon(struct trace_writer *writer); /* NULL is allowed */

/* Note with all input of a recorded program: such a trace is readable by the user only (mode
 * 0600). */
#define TRACE_INPUT_NOTE  "recording-input-bytes"
/* Note of a recording made with --filter: the analyses that it serves, "hb" or "wcp". */
#define TRACE_FILTER_NOTE "recording-filter"
#define TRACE_FILTER_VARIABLES \
	"variables" /* its value when each racing variable has a race left */
#define TRACE_FILTER_COMMUTE    "commute" /* its value when all plain accesses are left out */
/* Note of a recording made with --sample N: the number N. */
#define TRACE_SAMPLE_NOTE       "recording-sample"
/* Note of a recording whose program has atomic instructions that the compiler's hooks do not
 * report (inline assembly): the place of a module's first, as FILE:LINE (FUNCTION). */
#define TRACE_UNSEEN_NOTE       "recording-unseen-atomic"
/* Note of a recording whose program called functions that use its memory, and whose accesses
 * are not in the trace, while other threads ran: their names, "swprintf, getaddrinfo". */
#define TRACE_UNSEEN_CALLS_NOTE "recording-unseen-calls"
/* Note of a recording that lacks accesses which the program's own code made: whose they are. */
#define TRACE_LACKING_NOTE      "recording-lacks"
/* A lock was read-locked whose readers wait for a writer that waits
 * (PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP). */
#define TRACE_WRITER_FIRST_NOTE "recording-writer-first"
/* Prints the trace to memory, for TRACE_TEXT and TRACE_STD. */
void trace_print(const struct trace *t, enum trace_format format, const uint64_t *keep,
                 GString *out, uint64_t *left_out);

#endif
