/*
 * inputs.h - what a recorded program got from outside, as a note of the trace: the bytes of the
 * log's struct log_input, packed into a line of text, and from there into what a replay is
 * given.
 */
#ifndef HEDDLE_INPUTS_H
#define HEDDLE_INPUTS_H

#include "engine/record/layout.h"
#include "engine/trace/formats.h"

#define INPUTS_NOTE       "recording-inputs" /* how many and how many bytes, in words */
#define INPUTS_BYTES_NOTE TRACE_INPUT_NOTE   /* all of it: zstd, base64 */

/* Inputs one behind the other, each with its parts, without gaps: as the log has them. */

/* For INPUTS_BYTES_NOTE; NULL when there are none or it is more than a note may be.  Owned by
 * the caller. */
char *inputs_pack(const GByteArray *raw);
/* For INPUTS_NOTE: "312 calls, 4096 bytes".  Owned by the caller. */
char *inputs_count(const GByteArray *raw);
/*
 * From INPUTS_BYTES_NOTE: by thread, each in its order, every part filled up to 8 bytes;
 * *count of them.  NULL when the note is damaged.  Owned by the caller.
 */
GByteArray *inputs_unpack(const char *note, uint32_t *count);

#endif
