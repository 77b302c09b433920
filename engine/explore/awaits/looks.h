/*
 * looks.h - polling threads: repeated rounds with the same steps and values.
 */
#ifndef HEDDLE_LOOKS_H
#define HEDDLE_LOOKS_H

#include "engine/explore/runs/history.h"

/* Unsuccessful rounds distinguished when no limit of steps is given. */
enum { MOST_LOOKS = 4 };

/* If it has outcome `seen`, does `read` complete more than MOST_LOOKS equal rounds of its
 * thread? */
bool looks_in_vain(const struct history *h, uint32_t read, uint64_t seen);

#endif
