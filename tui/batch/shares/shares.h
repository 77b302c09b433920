/*
 * shares.h - division of the work of races, check, explore and shake: --shard I/N, -j N (N
 * shares at the same time, as processes, and one report of all) and --resume FILE (a finished
 * share is kept, and not made again).
 */
#ifndef HEDDLE_SHARES_H
#define HEDDLE_SHARES_H

#include "tui/batch/command.h"

/* The default limits of explore: runs, and seconds. */
enum { EXPLORE_RUNS = 10000, EXPLORE_SECONDS = 60 };

#define OPTION_SHARD(of) \
	{ \
		"shard", "I/N", \
		        "the I-th of N shares of " of \
		        "; join the reports with 'heddle merge'", \
		        0 \
	}
#define OPTION_JOBS \
	{ \
		"jobs", "N", \
		        "divide the work over N processes at the same time (default 1: with more, " \
		        "findings come in another order)", \
		        'j' \
	}
#define OPTION_KEPT \
	{ \
		"resume", "FILE", \
		        "keep the report in FILE; when it is there already, print it and run nothing", \
		        0 \
	}

/* --shard: the number of the share (from 0) and of all; 0 and 0 without it. Prints bad usage and
 * exits with 2. */
void argument_shard(const struct arguments *a, uint32_t *shard, uint32_t *shards);
/* Should this process start others, for -j, or (`keeps`) for --resume? Prints bad usage and
 * exits with 2. */
bool shares_asked(const struct arguments *a, bool keeps);
/* Start them; the exit status. */
int shares_run(const struct arguments *a);

#endif
