/*
 * decode.h - decodes the records of a chunk (layout.h). Independent of traces.
 */
#ifndef HEDDLE_DECODE_H
#define HEDDLE_DECODE_H

#include <stdbool.h>

#include "engine/record/codec.h"

/* A record. For accesses the fields address to old are set; for others `words` is the
 * record. */
struct log_record {
	enum log_tag tag;
	unsigned flags, code; /* size code */
	bool valued;
	unsigned slot;    /* of the site: accesses except ranges and RMW, and ENTER */
	uint64_t pc;      /* or as defined by the tag */
	uint64_t address; /* of ENTER: the pc in the function */
	uint64_t size;
	uint64_t value, old; /* RMW: new and old value; ENTER: begin of the frame */
	unsigned left;       /* ENTER: number of frames left before */
	const uint64_t *words;
};

struct log_reader { /* zero to init */
	const uint64_t *at, *end;
	uint64_t second; /* pending second record of the last word, or 0 */
	/* the chunk's words go on with no record (a record's first word is written last, so the
	 * first of one that the program's end cut short is 0) */
	bool damaged;
	uint32_t used_count;
	uint16_t used[LOG_SITES]; /* slots of the chunk's sites */
	struct log_sites sites;
};

/* Start a chunk: its records are words of 8 bytes from `at` to `end`. */
void log_reader_chunk(struct log_reader *reader, const uint64_t *at, const uint64_t *end);

/* A record FAR at `at`: takes its address for the site of the short record behind it; false
 * when it is another record, or none is behind it. */
static inline bool log_reader_far(struct log_reader *reader, const uint64_t *at)
{
	if (log_word_tag(at[0]) != LOG_FAR || at + 1 >= reader->end || !log_is_short(at[1]))
		return false;
	reader->sites.at[log_short_slot(at[1])].address = log_far_address(at[0]);
	return true;
}

/* The next record; false at the chunk's end or an incomplete or invalid record. */
bool log_reader_next(struct log_reader *reader, struct log_record *record);

#endif
