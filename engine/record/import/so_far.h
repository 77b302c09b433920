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
 * which may be closed afterwards), by `reader`, which is borrowed. `paced`: the program is to
 * wait when it is far ahead. NULL: not possible here. */
struct so_far *so_far_new(const char *path, int buffer, struct log_reader *reader, bool paced);
void so_far_free(struct so_far *s); /* NULL is allowed */
/* The log's header as it is now; false: it has none yet. */
bool so_far_header(const struct so_far *s, struct log_header *header);
/* Has the program begun another chunk? Then the reader has the rest of the one that is read,
 * and the caller takes all of it. */
bool so_far_whole(struct so_far *s);
/* Gives the room of the chunk that so_far_whole has found back to the file system. */
void so_far_drop(const struct so_far *s);
/* The next record; its words are valid until the next call. False: not written yet, or its
 * value, or a second record of its word, may be missing. */
bool so_far_next(struct so_far *s, struct log_record *record);
/* The chunk that is read, and its number of words that were taken. */
uint64_t so_far_chunk(const struct so_far *s, uint64_t *words);
/* The number of words of the log read so far. */
uint64_t so_far_words(const struct so_far *s);

#endif
