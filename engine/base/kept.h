/*
 * kept.h - files in the user's cache folder that can be made again, each under a key that
 * names everything it was made from.
 *
 * A file is taken only from a folder and a file that belong to this user and that no other
 * user can write, and only when it is whole. Whatever is wrong, the answer is "not there",
 * and the caller does the work.
 */
#ifndef HEDDLE_KEPT_H
#define HEDDLE_KEPT_H

#include "engine/base/base.h"

struct stat;

/* Files PREFIX KEY SUFFIX, of which at most `most`, and of `most_bytes` together, are kept:
 * those that were used last. */
struct kept_kind {
	const char *prefix, *suffix;
	unsigned most;
	uint64_t most_bytes;
};

/* The bytes under a key, mapped, for kept_release; NULL: not there. */
const void *kept_take(const struct kept_kind *kind, const char *key, size_t *length);
/* The same, writable, changes in memory alone; at `base` (a multiple of the page size) where
 * that is free, else anywhere. */
void *kept_take_at(const struct kept_kind *kind, const char *key, void *base, size_t *length);
/* Maps a file as kept_take_at does: MAP_FAILED, or for munmap. */
void *kept_map(int fd, size_t size, void *base);
void kept_release(const void *bytes, size_t length); /* NULL is allowed */
/* Replaces the file by the parts, one after the other. */
struct kept_part {
	const void *bytes;
	size_t length;
};
void kept_keep(const struct kept_kind *kind, const char *key, const struct kept_part *parts,
               size_t count);
/* Identity of a source file, for keys: changes when the file does. Owned by the caller. */
char *kept_identity(const struct stat *status);

#endif
