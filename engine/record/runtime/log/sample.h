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
	uint32_t left;   /* accesses of the step still to come, but for those in sample_quiet */
	bool burst;      /* the step is one by a call */
	bool open;       /* window `window` is recorded */
	uint64_t window; /* the last one looked at, and one */
};

/* Free mode: accesses of the calling thread still to be passed over. */
extern __thread int32_t sample_quiet;

/* Puts the hooks of sampled.c in the place of the others.  The recording's first thread is
 * alone. */
void sample_hooks(void);
/* None is left to be passed over: is the thread's next access recorded? */
bool sample_due(struct thread *t);
/* At synchronisation: a thread that makes few accesses is in the window as well. */
void sample_renew(struct thread *t);

ALWAYS_INLINE bool sample_takes(struct thread *t)
{
	return --sample_quiet < 0 && sample_due(t);
}

#endif
