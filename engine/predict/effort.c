/*
 * effort.c - budget of the enumeration of pairs; see effort.h.
 */
#include "engine/predict/effort.h"

#include "engine/predict/predict.h"

#include <time.h>

enum { FEW = 1 << 23, CLOCK_EVERY = 1 << 14 /* steps */ };

static double clock_of(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* The system is asked for processor time once in a while (a call of it, as long as the answer
 * for a quick pair); in between it is the time that has passed, which costs no call. */
double effort_clock(void)
{
	static const double WHILE = 100e-6;            /* seconds */
	static _Thread_local double passed, processor; /* when it was asked last */
	double now = clock_of(CLOCK_MONOTONIC);

	if (passed == 0 || now - passed > WHILE) {
		processor = clock_of(CLOCK_THREAD_CPUTIME_ID);
		passed = now;
	}
	return processor + (now - passed);
}

void effort_init(struct effort *effort, uint64_t events, const struct race_options *options)
{
	*effort = (struct effort){ .budget = options->budget_total };
	effort->free_work = options->no_free_steps ? 0 : 4 * events + FEW;
	effort->next_look = effort->free_work;
}

static void take_time(struct effort *effort)
{
	double now = effort_clock();

	if (effort->began > 0)
		effort->spent += now - effort->began;
	effort->began = now;
	effort->over |= effort->spent >= effort->budget;
}

void effort_look(struct effort *effort)
{
	effort->next_look = effort->work + CLOCK_EVERY;
	if (!effort->paused)
		take_time(effort);
}

void effort_pause(struct effort *effort)
{
	if (effort->work >= effort->free_work)
		take_time(effort);
	effort->paused = true;
}

void effort_resume(struct effort *effort)
{
	effort->paused = false;
	if (effort->work >= effort->free_work)
		effort->began = effort_clock();
}
