/*
 * explore_jobs.h - `heddle explore -j N`: N explorations at the same time, each of a share, and
 * their reports merged.
 */
#ifndef HEDDLE_EXPLORE_JOBS_H
#define HEDDLE_EXPLORE_JOBS_H

#include "tui/batch/command.h"

enum { EXPLORE_RUNS = 10000 }; /* at most so many by default */

/* The exit status. `interrupted`: as from catch_interruption; the shares then report what they
 * have. */
int explore_jobs(struct arguments *a, unsigned jobs, const volatile int *interrupted);

#endif
