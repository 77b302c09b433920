/* log_private.h - the log's file, for the chunks that go there (file.c, chunks.c). */
#ifndef HEDDLE_RUNTIME_LOG_PRIVATE_H
#define HEDDLE_RUNTIME_LOG_PRIVATE_H

#include "engine/record/runtime/core/rt.h"

/* Maps the header, and keeps a descriptor; NULL: *error is an errno. */
struct log_header *log_file_map(int *error);
/* The same of another log, at the same address; the descriptor of the last is closed. */
bool log_file_map_again(struct log_header *header);
/* Writes all of it to this place in the file; 0 or an errno. */
int log_file_write(const void *bytes, size_t length, uint64_t offset);

#endif
