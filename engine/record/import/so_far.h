/*
 * so_far.h - the records of a program that is running, each once and as soon as it is there.
 * Controlled mode, of a log that is neither compressed nor a ring.
 */
#ifndef HEDDLE_SO_FAR_H
#define HEDDLE_SO_FAR_H

#include "engine/base/base.h"
#include "engine/record/import/decode.h"

struct so_far;

/* Reads the log at `path`, which exists, and whose last chunk is in `buffer` (a descriptor,
 * which may be closed afterwards). NULL: not possible here. */
struct so_far *so_far_new(const char *path, int buffer);
void so_far_free(struct so_far *s); /* NULL is allowed */
/* The log's header as it is now; false: it has none yet. */
bool so_far_header(const struct so_far *s, struct log_header *header);
/* The next record; its words are valid until the next call. False: not written yet. Values of
 * writes may be missing. */
bool so_far_next(struct so_far *s, struct log_record *record);
/* The reader, for callers that take short records themselves: each must be followed by
 * another word that is not 0, else so_far_next has to take it. */
struct log_reader *so_far_reader(struct so_far *s);
/* The number of words of the log read so far. */
uint64_t so_far_words(const struct so_far *s);

#endif
