/*
 * file.h - writing a file whole or not at all, piece by piece: a temporary file beside the
 * target, synced and renamed at the end.  A target that is no ordinary file (a pipe, a
 * terminal, /dev/null) is written in place.
 */
#ifndef HEDDLE_FILE_H
#define HEDDLE_FILE_H

#include "engine/base/base.h"

struct file_writer;

/* NULL and `error` on failure. */
struct file_writer *file_writer_open(const char *path, struct error *error);
/* After a failure the writer swallows what follows; the commit tells. */
void file_writer_put(struct file_writer *w, const void *bytes, size_t length);
/* Bytes put so far. */
uint64_t file_writer_length(const struct file_writer *w);
/* Overwrite earlier bytes (ordinary files only): for a header whose sums come last. */
void file_writer_patch(struct file_writer *w, uint64_t offset, const void *bytes,
                       size_t length);
/* The file is the user's alone (mode 0600), whatever one it replaces: before the first put. */
void file_writer_private(struct file_writer *w);
/* Do not wait for the disk at the end: for what can be made again. */
void file_writer_hurry(struct file_writer *w);
/* End in either way; the writer is freed.  On failure nothing is left behind. */
bool file_writer_commit(struct file_writer *w, struct error *error);
void file_writer_abandon(struct file_writer *w);

/*
 * A file without a name, so that nothing is left behind however we end; read and write.  -1 and
 * errno on failure.  Where another process of this user may open it while we live: owned by
 * the caller; file_folder says where what belongs beside such a path, or any, may lie.
 */
int file_open_nameless(const char *folder);
char *file_descriptor_path(int fd);
char *file_folder(const char *path);

#endif
