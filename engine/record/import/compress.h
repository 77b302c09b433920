/*
 * compress.h - compresses the recording log while it is written: each completed chunk becomes a
 * frame (layout.h), and its space is freed.
 */
#ifndef HEDDLE_COMPRESS_H
#define HEDDLE_COMPRESS_H

#include "engine/record/layout.h"

#include <glib.h>
#include <stdbool.h>

struct compressor;

/* Start a thread for the log of `config` (LOG_COMPRESSED) and the descriptor of the shared
 * chunks, both owned by the caller. NULL when the log cannot be opened or no thread be started:
 * the log then stays uncompressed. */
struct compressor *compressor_start(const struct log_config *config, int buffer);
/* Unprocessed chunks stay uncompressed. */
void compressor_stop(struct compressor *c);

/* Decompress the frame at `frame` (`room` bytes readable) into `chunk` (LOG_CHUNK bytes).
 * Returns the number of bytes; 0 if damaged. */
size_t compressor_expand(const struct log_frame *frame, size_t room, void *chunk);

#endif
