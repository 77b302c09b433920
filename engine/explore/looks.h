/*
 * looks.h - a thread that waits by looking: it does the same again and again, and what it sees
 * tells it nothing new.
 */
#ifndef HEDDLE_LOOKS_H
#define HEDDLE_LOOKS_H

#include "engine/explore/history.h"

/* Rounds in vain that are told apart where no limit of steps is given. */
enum { MOST_LOOKS = 4 };

/* Did `read`, saw it `seen` instead, end one more than MOST_LOOKS rounds of its thread that
 * are all the same: the same steps that saw the same? */
bool looks_in_vain(const struct history *h, uint32_t read, uint64_t seen);

#endif
