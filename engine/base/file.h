/*
 * file.h - writes a file whole or not at all: a temporary file beside the target, synced and
 * renamed at the end. A target that is not an ordinary file (pipe, terminal, /dev/null) is
 * written in place.
 */
#ifndef HEDDLE_FILE_H
#define HEDDLE_FILE_H

#include "engine/base/base.h"

#include <sys/stat.h>

struct file_writer;

/* NULL and `error` on failure. */
struct file_writer *file_writer_open(const char *path, struct error *error);
/* A writer that hands its bytes to a function, in pieces, and reports no failure of it. */
struct file_writer *file_writer_to(void (*put)(const char *bytes, size_t length));
/* After a failure further bytes are discarded; commit reports it. */
void file_writer_put(struct file_writer *w, const void *bytes, size_t length);
/* Bytes put so far. */
uint64_t file_writer_length(const struct file_writer *w);
/* Overwrite earlier bytes (ordinary files only), such as a header with check sums. */
void file_writer_patch(struct file_writer *w, uint64_t offset, const void *bytes,
                       size_t length);
/* Make the file readable by the user alone (mode 0600). Call before the first put. */
void file_writer_private(struct file_writer *w);
/* Undo it. */
void file_writer_public(struct file_writer *w);
/* Skip the fsync, for files that can be made again. */
void file_writer_hurry(struct file_writer *w);
/* Commit or abandon ends and frees the writer. After a failure no file remains. `as` receives
 * the status of the file that was written (fstat), even if its name refers to another file by
 * then. */
bool file_writer_commit(struct file_writer *w, struct error *error);
bool file_writer_commit_as(struct file_writer *w, struct stat *as, struct error *error);
void file_writer_abandon(struct file_writer *w);

/* Kinds of files that commands write under a name from the command line. */
enum file_kind {
	FILE_TRACE, /* in whatever form */
	FILE_WITNESS,
	FILE_REPORT, /* JSON of heddle's */
	FILE_STATE,  /* of an exploration */
	FILE_GRAPH,  /* DOT or SVG */
	FILE_TABLE,  /* CSV of a trace */
	FILE_PERFETTO,
	FILE_KINDS
};
/* May a file of this kind be written there? Yes if the file does not exist, is empty, is not
 * an ordinary file, or begins as a file of this kind; any other file would be lost. False and
 * `error`. */
bool file_may_become(const char *path, enum file_kind kind, struct error *error);

/* Write all bytes to a descriptor: at `offset`, or (-1) at the file's position. False and
 * errno, ENOSPC when the disk is full. */
bool file_write_all(int fd, const void *bytes, size_t length, int64_t offset);

/* Removes a file, or a folder with all that it holds; symbolic links are not followed. */
void file_remove_tree(const char *path);

/* The SHA-256 of an ordinary file, in hexadecimal digits, owned by the caller; NULL and errno
 * when it cannot be read (ESPIPE: a pipe or a device, which cannot be read a second time). */
char *file_digest(const char *path);

/*
 * A nameless file for reading and writing, which disappears with the process; -1 and errno on
 * failure. file_descriptor_path: a path by which another process of this user may open it
 * meanwhile. file_folder: the folder for files beside such a path, or beside any. Owned by the
 * caller.
 */
int file_open_nameless(const char *folder);
char *file_descriptor_path(int fd);
char *file_folder(const char *path);

#endif
