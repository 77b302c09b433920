/*
 * decode.h - reads the records of a chunk one after the other; layout.h says what they look
 * like.  Knows nothing of traces.
 */
#ifndef HEDDLE_DECODE_H
#define HEDDLE_DECODE_H

#include <stdbool.h>

#include "engine/record/layout.h"

/* A record.  Of accesses address to old are filled in; of all others `words` is the record. */
struct log_record {
	enum log_tag tag;
	unsigned flags, code; /* size code */
	bool valued;
	unsigned slot;    /* of its site: accesses but for ranges and RMW, and ENTER */
	uint64_t pc;      /* or what else the tag means by it */
	uint64_t address; /* of ENTER: the pc in the function */
	uint64_t size;
	uint64_t value, old; /* RMW: the new and the old one; ENTER: where the frame begins */
	unsigned left;       /* ENTER: so many frames are left first */
	const uint64_t *words;
};

struct log_reader {
	const uint64_t *at, *end;
	uint64_t second; /* of the last word that is still to come, or 0 */
	struct log_sites sites;
};

/* Begin with a chunk: its records lie from `at` to `end`, words of 8 bytes. */
void log_reader_chunk(struct log_reader *reader, const uint64_t *at, const uint64_t *end);

/* The next record; false at the chunk's end and at the first that is not whole or no record. */
bool log_reader_next(struct log_reader *reader, struct log_record *record);

#endif
