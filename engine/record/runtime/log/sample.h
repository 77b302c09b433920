/*
 * sample.h - `record --sample`: is a plain access one of the sample?  (core/sampled.c)
 *
 * The program's plain accesses, in about the order in which its threads make them, are divided
 * into windows; one window in config.sample is recorded, by all threads, drawn by the
 * seed.  Besides, the 1st, 2nd, 4th, 8th, ... call of each function by a thread begins a
 * burst of accesses that are recorded.  Synchronisation, atomics and allocations are always
 * recorded.
 *
 * In free mode an access that is not recorded costs its hook one subtraction: sample_quiet.
 */
#ifndef HEDDLE_RUNTIME_SAMPLE_H
#define HEDDLE_RUNTIME_SAMPLE_H

#include "engine/record/runtime/core/base.h"

enum {
	SAMPLE_WINDOW_BITS = 14,
	SAMPLE_WINDOW = 1 << SAMPLE_WINDOW_BITS, /* accesses, of all threads together */
	SAMPLE_STEP = 256,       /* accesses between two looks of a thread at the window */
	SAMPLE_FUNCTIONS = 1024, /* size of a thread's table of calls */
};

struct thread_sample {
	uint32_t left;   /* accesses left in the step, except those in sample_quiet */
	bool burst;      /* the step belongs to a call's burst */
	bool open;       /* window `window` is recorded */
	uint64_t window; /* one more than the last window examined */
};

/* Free mode: number of accesses of the calling thread still to be skipped. */
extern __thread int32_t sample_quiet;

/* Installs the hooks of sampled.c in place of the others, while the recording's first thread
 * is alone. */
void sample_hooks(void);
/* No access is left to skip: is the thread's next access recorded? */
bool sample_due(struct thread *t);
/* At synchronisation: a thread with few accesses takes part in the window, too. */
void sample_renew(struct thread *t);

ALWAYS_INLINE bool sample_takes(struct thread *t)
{
	return --sample_quiet < 0 && sample_due(t);
}

#endif
