/*
 * plan.h - a plan: the order in which a run's threads are to take their steps, made from a
 * witness or any order of a recording's events. The runtime follows it (plan_run.h).
 */
#ifndef HEDDLE_PLAN_H
#define HEDDLE_PLAN_H

#include "engine/base/archive.h"
#include "engine/record/record.h"
#include "engine/trace/weak.h"

struct plan {               /* zero to init; plan_release */
	GArray *steps;      /* struct log_step */
	GArray *events;     /* uint32_t: by step, the trace's event (NONE: not in the trace) */
	GArray *threads;    /* struct log_thread, by the runtime's number */
	GArray *answers;    /* struct log_answer */
	GByteArray *inputs; /* struct log_input with their parts, or NULL: input is real */
	uint32_t input_count;
	GPtrArray *specs; /* char *: files whose bind lines make events of its calls */
	const char
	        *start_at; /* function that accesses are recorded from, or NULL; the trace's */
	uint32_t pair[2];  /* events before which it stops; NONE: no second (or first) */
	bool stops; /* one of them is an event known to the runtime, which stops before it */
	uint32_t pair_thread[2]; /* the runtime's numbers */
	struct plan_place {
		uint64_t calls, after;
	} pair_place[2];
	uint32_t poison; /* the event that frees the block of a use after free, or NONE */
	uint32_t fill;   /* with `explore`: contents of fresh memory, log_config.fill; or 0 */
	uint64_t seed;
	uint32_t strategy;        /* after the plan: enum log_strategy */
	struct log_target target; /* surw's */
	GArray *turns;            /* struct log_turn, for the strategy turns, or NULL; owned */
	uint64_t max_steps;       /* with `explore`: bound on a run; 0: unlimited */
	bool other_build; /* the program is not the recorded one: a divergence says so */
	bool futexes;     /* waits for futexes are steps: as in the trace; of explorations */
	bool alike;       /* with `explore`: notes of threads, LOG_ALIKE */
	bool explore;     /* chance does not switch inside of invocations; ends are noted */
	bool open_end;    /* the last step need not come: plan_go_on */
	uint32_t held;    /* plan_hold: the runtime's number + 1; 0: no thread */
	const char *interposer; /* with `explore`: the library of the bind lines, or NULL */
	struct record_server *server; /* with `explore`: server that forks the program, or
	                               * NULL */
	const char *output;           /* a file for the program's output, or NULL; borrowed */
	const char *errors;           /* a file for standard error alone, or NULL: as output */
	unsigned timeout_ms;          /* for the run; 0: none */
	enum weak_model memory;       /* that the run is under */
	uint64_t max_bytes; /* of the run's log, besides the steps' own; 0: as for recordings */
};
void plan_release(struct plan *plan);

/*
 * The events of `sequence` in order, each preceded by its thread's earlier events that the
 * sequence leaves out, then a stop before `pair` (either may be NONE). False and `error` when
 * the trace is no recording of a program.
 */
bool plan_make(const struct trace *t, const uint32_t *sequence, size_t length,
               const uint32_t pair[2], struct plan *plan, struct error *error);

/*
 * RC11: the stores that the steps' reads see and their stores' places (log_step.reads,
 * .after), from `said` (struct weak_source), for a read that does not see the last store of
 * the plan before it, or a store that is not the last in modification order. plan_make has
 * done it with the trace's own (weak.h). False: `said` names no earlier step. TSO: the steps
 * FLUSH are the events FLUSH of the sequence; stores of a thread that have to have arrived do
 * so without a step.
 */
bool plan_weak(struct plan *plan, const struct trace *t, const GArray *said);

/* By event: the number of earlier events of its thread as the runtime counts, or NONE for
 * events that it did not record; g_free. */
uint32_t *plan_event_numbers(const struct trace *t);

/* Where to stop before requests that wait (uint32_t): the first two, if all are for locks. A
 * thread does not stop before other waits: they follow by themselves. */
void plan_stops(const struct trace *t, const GArray *requests, uint32_t pair[2]);

/* Leave out steps by their events: a run that follows makes none of these. */
void plan_leave_out(struct plan *plan, const bool *left_out);
/* Any event at its place, with any outcome, may be the last step. */
void plan_any_outcome(struct plan *plan);
/* The last step is a wake; `late`: no signal causes it, but a time limit, or nothing. */
void plan_wake(struct plan *plan, bool late);
/* After the plan the wait of `thread` (of the trace that it was made from) ends without a
 * signal. */
void plan_end_wait(struct plan *plan, const struct trace *t, uint32_t thread);
/* After the plan the thread of `event` (of the trace that it was made from), which receives a
 * signal, runs its handler now, whatever else it has done before. */
void plan_handle(struct plan *plan, const struct trace *t, uint32_t event);
/* After the plan `thread` (of the trace that it was made from) continues, if it can. */
void plan_go_on(struct plan *plan, const struct trace *t, uint32_t thread);

/* After the plan `thread` waits until no other thread can continue; for STRATEGY_PCT. */
void plan_hold(struct plan *plan, const struct trace *t, uint32_t thread);

/* A plan without steps: the program runs freely under its strategy. */
void plan_init(struct plan *plan);
/* Writes a plan with `explore`, which has no inputs and specifications, or reads one into
 * `plan`, where it is equivalent to a plan of this process. */
void plan_archive(struct plan *plan, struct archive *archive);
/* By side: the pair's event in `run`, a trace of a run along the plan; unchanged where the
 * thread did not come so far. */
void plan_reached(const struct plan *plan, const struct trace *run, uint32_t reached[2]);

#endif
