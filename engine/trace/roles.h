/*
 * roles.h - the role of a thread: the user's function that it was started with, and the
 * argument in words, "worker(&jobs[1])".
 */
#ifndef HEDDLE_ROLES_H
#define HEDDLE_ROLES_H

#include "engine/trace/index.h"

/* A recording's notes: "NUMBER VALUE", a thread's number (struct thread) and the word that its
 * function was given, without those that were given 0. */
#define ROLE_ARGUMENT_NOTE "thread-argument"

/* The numbers after the thread's in a recording's first note of this kind about it; 0: not
 * there. False: no such note. */
bool role_note(const struct trace *t, const char *key, uint32_t thread, uint64_t numbers[2]);

/* Append "T1 worker(&jobs[1])"; the name alone for a first thread, or where its functions are
 * not known. Escaped; names are as own_code.h has them. Needs INDEX_THREADS and INDEX_MATCH. */
void role_append_thread(const struct trace *t, uint32_t thread, GString *out);

#endif
