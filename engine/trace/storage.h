/*
 * storage.h - what holds a trace's arrays: a mapping, allocations, or both.  Private to
 * engine/trace.
 */
#ifndef HEDDLE_STORAGE_H
#define HEDDLE_STORAGE_H

#include "engine/trace/trace.h"

#include <sys/stat.h>

struct file_writer;

struct trace_storage {
	GPtrArray *owned;   /* g_malloc'ed arrays */
	GPtrArray *columns; /* struct column; owned */
	void *map;          /* or NULL */
	size_t map_length;
	uint64_t sum;     /* binary traces: the header's, which covers those of all sections */
	struct stat file; /* that `map` is of, as it was then; st_ino 0: none, or a stream */
};

struct trace *trace_new(const char *path);
/* Hand an allocated array over to the trace; returns it. */
void *trace_own(struct trace *t, void *array);
struct column;
/* The same for a column, which is empty then: its elements, and how many. */
const void *trace_own_column(struct trace *t, struct column *column, uint64_t *count);
void trace_warn(struct trace *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* text_read.c */
struct trace *text_read(const char *name, const char *text, size_t length,
                        const struct trace_options *options, const struct progress *progress,
                        struct error *error);

/* binary.c: is this a binary trace?  Take over a mapping of one (unmapped on failure; `file`:
 * what is mapped, or NULL); write one. */
bool binary_recognise(const void *bytes, size_t length);
struct trace *binary_read(const char *path, void *bytes, size_t length, const struct stat *file,
                          const struct progress *progress, struct error *error);
void binary_write(const struct trace *t, const uint64_t *keep, struct file_writer *file);
/* binary_form.c: what makes no trace of the events, whose values are in range; *event: which
 * one, or NONE.  NULL: well-formed as far as the analyses rely on it. */
const char *binary_malformed(const struct trace *t, uint32_t *event);
/* A sum over four lanes, so that it runs at the speed of memory; not against malice. */
uint64_t trace_sum(const void *bytes, size_t length);

/* cache.c: is there an index that was made of this very file? */
bool cache_vouches(const struct trace *t);

#endif
