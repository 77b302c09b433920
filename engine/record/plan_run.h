/*
 * plan_run.h - a run of the program along a plan: started, waited for, its log made a trace,
 * and judged: did the planned steps come, and if not, which did not and why.
 */
#ifndef HEDDLE_PLAN_RUN_H
#define HEDDLE_PLAN_RUN_H

#include "engine/record/plan.h"

struct plan_run {
	struct record_result result;
	struct record_facts facts;
	struct trace *trace; /* of the run; owned, or NULL */
	uint32_t reached[2]; /* the pair's events in it, or NONE */
	bool apart;          /* they are accesses of different places: no race in this run */
	bool diverged;
	uint32_t at;   /* the planned event that did not come, or NONE */
	char *cause;   /* why; owned */
	char *printed; /* contents of the plan's `output`; owned; NULL: unknown */
	size_t printed_length;
};
void plan_run_release(struct plan_run *run);

/*
 * Run along the plan; `first` 1 or 2 goes first at the pair, 0 stops there.  `stopped` (may
 * be NULL) is called while the program stands before the pair.
 */
bool plan_follow(const struct plan *plan, char **argv, unsigned first,
                 void (*stopped)(void *context, pid_t pid), void *context, struct plan_run *run,
                 struct error *error);

/*
 * plan_follow in two parts, for a plan with `explore` and a server: plan_begin does not wait
 * for the run; plan_end is called next, with the same plan, and no other run in between.
 * False from plan_begin: not possible. `cancel`: the run is killed, and has no result.
 */
bool plan_begin(const struct plan *plan, char **argv);
bool plan_end(const struct plan *plan, char **argv, struct plan_run *run, struct error *error);
void plan_cancel(const struct plan *plan);

/*
 * A run along the plan for a debugger that goes back (LOG_HOLD_CLOCK, layout.h): it waits
 * before its first instruction of the program's own.  `plan->interposer` is the library of its
 * bind lines, or NULL.
 */
struct plan_process {
	pid_t pid;
	int buffer, log;
	void *header; /* the log's first page, shared with the runtime */
};
bool plan_start(const struct plan *plan, char **argv, unsigned first, struct plan_process *p,
                struct error *error);
/* Kills the process, and frees its resources. Does nothing for one that is zero. */
void plan_process_end(struct plan_process *p);

/* Did the program stand before the pair? */
bool plan_stopped(const struct plan_run *run);
/* The stack of one side of the pair as it stood there, a line a frame; appended. */
void plan_append_stack(const struct trace *t, const struct plan *plan,
                       const struct plan_run *run, unsigned side, GString *out);

#endif
