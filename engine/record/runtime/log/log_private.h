/* log_private.h - the log's file, for the chunks that go there (file.c, chunks.c). */
#ifndef HEDDLE_RUNTIME_LOG_PRIVATE_H
#define HEDDLE_RUNTIME_LOG_PRIVATE_H

#include "engine/record/runtime/core/rt.h"

/* Maps the header, and keeps a descriptor; NULL: *error is an errno. */
struct log_header *log_file_map(int *error);
/* Closes the descriptor: later chunks open the log of rt.config by its path. */
void log_file_leave(void);
/* Writes all bytes to this place in the file; 0 or an errno. */
int log_file_write(const void *bytes, size_t length, uint64_t offset);

#endif
