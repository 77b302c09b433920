/*
 * interpose_cache.h - compiled libraries of bind lines, kept in the user's cache folder under
 * a key of their sources, so that a recording need not wait for a compiler that has compiled
 * the same before.
 *
 * A library is code that the recorded program will load: it is taken from a folder and a file
 * that belong to this user and that no other user can write, and only when it is whole.  In all
 * other cases the answer is "not there", and the caller compiles.
 */
#ifndef HEDDLE_INTERPOSE_CACHE_H
#define HEDDLE_INTERPOSE_CACHE_H

#include <stdbool.h>

/* The key of a source and the words of the command that compiles it (NULL-terminated; the first
 * is looked for in PATH): changes when either does, or the compiler.  NULL: do not keep it.
 * Freed by the caller. */
char *interpose_cache_key(const char *source, char *const *compiler);
/* Writes the library with that key into an existing file. False: not in the cache. */
bool interpose_cache_take(const char *key, const char *path);
/* Keeps the file's contents; beyond some dozens the oldest are removed. */
void interpose_cache_keep(const char *key, const char *path);

#endif
