/*
 * storage.h - ownership of a trace's arrays: a mapping, allocations, or both. Private to
 * engine/trace.
 */
#ifndef HEDDLE_STORAGE_H
#define HEDDLE_STORAGE_H

#include "engine/base/sum.h"
#include "engine/trace/sync_bytes.h"
#include "engine/trace/trace.h"
#include "engine/trace/unexplained.h"

#include <sys/stat.h>

struct file_writer;
struct reel;

/* Number of blocks of events that were decoded on demand, for tests; `needed`: those that the
 * thread that opened the trace waited for, the cost of its screens. */
struct decoded_blocks {
	gint all; /* atomic */
	uint64_t needed;
};

struct trace_storage {
	GPtrArray *owned;   /* g_malloc'ed arrays */
	GPtrArray *columns; /* struct column; owned */
	void *map;          /* or NULL */
	struct reel *reel;  /* events that are decoded on demand, or NULL; owned */
	struct decoded_blocks decoded;
	size_t map_length;
	struct spelt_names *spelt;           /* owned */
	struct own_sites *own_sites;         /* owned */
	struct unexplained_read unexplained; /* unexplained_first, once asked */
	uint32_t *sync_bytes;                /* sync_bytes, once asked; owned */
	struct sync_use sync_use;            /* sync_use_known */
	GArray *wait_events;                 /* wait_walk; owned; or NULL */
	bool sync_bytes_asked, sync_use_known;
	bool unexplained_asked, unexplained_found, unexplained_begun;
	uint64_t sum;     /* binary traces: the header's checksum, which covers the sections' */
	struct stat file; /* when opened; st_ino 0: none, or a stream */
};

struct trace *trace_new(const char *path);
/* Pass ownership of an allocated array to the trace; returns it. */
void *trace_own(struct trace *t, void *array);
/* spelt.c */
struct spelt_names *spelt_names_new(void);
void spelt_names_free(struct spelt_names *names);
struct column;
/* trace_own for a column, which becomes empty: its elements and their number. */
const void *trace_own_column(struct trace *t, struct column *column, uint64_t *count);
void trace_warn(struct trace *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* text_read.c */
struct trace *text_read(const char *name, const char *text, size_t length,
                        const struct trace_options *options, const struct progress *progress,
                        struct error *error);

/* binary.c: recognise a binary trace; read one, taking a mapping (unmapped on failure; `file`:
 * its file, or NULL); write one. */
bool binary_recognise(const void *bytes, size_t length);
struct trace *binary_read(const char *path, void *bytes, size_t length, const struct stat *file,
                          const struct trace_watch *watch, const struct progress *progress,
                          struct error *error);
void binary_write(const struct trace *t, const uint64_t *keep, struct file_writer *file);
/* binary_write.c: the end of a recording's events (tape.h), to which the caller adds: it moves
 * `at`, and takes them from `room`; when that is 0 it calls binary_end_block. */
struct trace_writer;
struct tape_end {
	struct tape *tape;
	uint8_t *at;
	uint32_t room; /* events that the block has room for, at least 1 */
};
struct tape_end *binary_tape(struct trace_writer *writer);
void binary_end_block(struct trace_writer *writer);
/* Called when the events include calls. */
void binary_has_stacks(struct trace_writer *writer);
/* Ends the events, with the variables that accesses name by their targets (tape.h; borrowed):
 * both are written at once. */
void binary_places(struct trace_writer *writer, const uint32_t *places, uint64_t count);
/* text_write.c: does the trace contain input, such as typed passwords or received data? */
bool trace_has_input(const struct trace *t);
/* cache.c: does an index of exactly this file exist? Sets the trace's operations. */
bool cache_vouches(const struct trace *t, uint64_t *operations);
/* Stores the index of a trace that was just written to its path: `file` with the header's
 * `sum`. Does nothing without an index, or for a short trace. */
void cache_store_written(const struct trace *t, const struct stat *file, uint64_t sum);

#endif
