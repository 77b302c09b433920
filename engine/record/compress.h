/*
 * compress.h - the recording log made smaller while it is written: `heddle record` turns every
 * chunk that the runtime has finished into a frame (layout.h) and gives its place back.
 */
#ifndef HEDDLE_COMPRESS_H
#define HEDDLE_COMPRESS_H

#include "engine/record/layout.h"

#include <glib.h>
#include <stdbool.h>

struct compressor;

/*
 * Begin, in a thread of its own, for the log of `config` (LOG_COMPRESSED) and the descriptor of
 * the shared chunks, both the caller's until the end.  NULL when the log cannot be opened, or
 * no thread made: then it stays as it is, and can be read all the same.
 */
struct compressor *compressor_start(const struct log_config *config, int buffer);
/* Chunks that are not done yet stay as they are. */
void compressor_stop(struct compressor *c);

/* The chunk of the frame at `frame`, of which `room` bytes may be read, into `chunk` (LOG_CHUNK
 * bytes).  How many bytes it has; 0 for a damaged one. */
size_t compressor_expand(const struct log_frame *frame, size_t room, void *chunk);

#endif
