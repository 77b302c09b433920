/*
 * inputs.h - recorded input of a program as a note of the trace: the bytes of struct log_input
 * records, packed as text, and unpacked for replay.
 */
#ifndef HEDDLE_INPUTS_H
#define HEDDLE_INPUTS_H

#include "engine/record/layout.h"
#include "engine/trace/formats.h"

#define INPUTS_NOTE       "recording-inputs" /* numbers of calls and bytes, as text */
#define INPUTS_BYTES_NOTE TRACE_INPUT_NOTE   /* all data: zstd, base64 */

/* Inputs are consecutive, with parts, as in the log. */

/* For INPUTS_BYTES_NOTE; NULL when empty or too large for a note. Owned by the caller. */
char *inputs_pack(const GByteArray *raw);
/* For INPUTS_NOTE: "312 calls, 4096 bytes".  Owned by the caller. */
char *inputs_count(const GByteArray *raw);
/* From INPUTS_BYTES_NOTE: by thread, in order, parts padded to 8 bytes; *count inputs. NULL
 * when damaged. Owned by the caller. */
GByteArray *inputs_unpack(const char *note, uint32_t *count);

#endif
