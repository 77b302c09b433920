/*
 * explore_private.h - what the parts of an exploration share.  The loop (explore.c) takes a
 * pending schedule from the worklist (worklist.c) and makes an execution of it (explore_run.c),
 * which is judged (explore_judge.c, explore_uses.c), counted among the errors
 * (explore_errors.c), and planned: its reversals become pending schedules (explore_planning.c,
 * explore_reversals.c).
 */
#ifndef HEDDLE_EXPLORE_PRIVATE_H
#define HEDDLE_EXPLORE_PRIVATE_H

#include "engine/explore/explore.h"
#include "engine/explore/flips.h"
#include "engine/explore/worklist.h"

/* A run that was made, and how far its reversals are planned; execution_free. */
struct execution {
	struct plan_run run;
	struct view *view;
	struct history *history;
	struct flip_limits limits;
	uint32_t *common; /* see flip_limits */
	bool *ended, *goes_on;
	struct reversals *search;
	struct smt *smt;    /* once the solver is needed */
	uint32_t number;    /* of the run */
	uint32_t known_run; /* by its number among the histories; NONE: its class was known */
	bool after_use;     /* as of its schedule */
	bool races_found;   /* those of its reorderings, too */
};
void execution_free(struct execution *ex);

struct exploration {
	const struct explore_options *options;
	const struct progress *progress;
	struct explore_report *report;
	struct histories *histories;
	struct worklist *worklist;
	GPtrArray *kept; /* struct execution *: not planned to the end, the next one first */
	uint64_t kept_events; /* of all of these */
	uint64_t chances;     /* runs by chance so far */
	GHashTable *errors;   /* char *: cycles of lock requests, uses after free asked for */
	GHashTable *finals_seen; /* char *, borrowed: names of --final that some run has */
	GHashTable *races;    /* char *: pairs of places, and "sites " with pairs of sites */
	int64_t races_effort, effort_began; /* processor time, microseconds, of the races beyond
	                                     * happens-before; at the beginning */
	bool races_left;                    /* of some run these were not all looked for */
	GHashTable *gaps;                   /* char *, also in report->gaps */
	char *output; /* file for what the program prints, see file.h; owned */
	int output_file;
	gint64 deadline; /* 0: none */
	bool cancelled, interrupted;
	uint32_t first;      /* the first run, after those before an object was given up */
	GHashTable *plain;   /* char *: objects whose invocations are no steps */
	GHashTable *ordered; /* char *: objects that are not looked at by results after all */
	bool again;          /* one more was found: everything is to be done again */
	char *interposer;    /* the library of the bind lines; owned, or NULL */
	struct record_server *server; /* the program, to be forked */
	/* of the run at hand */
	struct trace *trace; /* as recorded */
	const struct view *view;
	const struct history *history;
	uint32_t run;
	uint32_t known_run; /* by its number among the histories; NONE: its class was known */
	bool after_use;     /* as of its schedule */
	const char *use;    /* it came to this use, by its schedule; or NULL */
};

/* explore_report.c */
struct explore_report *explore_report_new(void);
/* Something that the promise of completeness does not cover. */
void explore_gap(struct exploration *x, const char *why);
/* explore_reversals.c: a schedule from the run at hand; `place`: the event that it is about. */
struct pending *pending_new(struct exploration *x, const uint32_t *sequence, size_t length,
                            uint32_t place);

/* A flip_taker; `context`: the exploration.  Makes a pending schedule of the reversal. */
bool explore_take_reversal(void *context, const struct flip *f);
/* Does a known run begin so? */
bool explore_is_known(const struct exploration *x, const struct part *parts, uint32_t count,
                      enum flip_kind kind);

/* explore_run.c: make the execution.  False and `error` when the program cannot be run. */
bool explore_run_pending(struct exploration *x, struct pending *p, struct error *error);
/* explore_planning.c: make pending schedules of the run's reversals: of all, or of some, and
 * the execution is kept.  Takes ownership.  `known_as`: the run that it was derived from, by
 * its number among the histories, or NONE; `whole`: it came to its end. */
void explore_plan(struct exploration *x, struct execution *ex, uint32_t known_as, bool whole);
/* One step on with the execution that was kept first. */
void explore_plan_further(struct exploration *x);
/* No more are to be kept: planning is next. */
bool explore_keeps_too_much(const struct exploration *x);
/* No run is at hand any longer. */
void explore_leave(struct exploration *x);
/* explore.c */
bool explore_out_of_time(const struct exploration *x);
bool explore_is_interrupted(struct exploration *x);

/* explore_errors.c: enter how the run ended among the errors, and keep its trace where it is
 * the first of its kind.  False and `error` when it cannot be written. */
bool explore_note_end(struct exploration *x, const struct plan_run *run, struct explore_run *r,
                      struct error *error);
/* Has the program gone wrong?  An exit status that every run has is its result. */
bool explore_has_failed(const struct exploration *x);
/* explore_ends.c: the thread that ended the program, by exit, a signal or what main returned;
 * or NONE. */
uint32_t explore_ender(const struct exploration *x, const struct plan_run *run);
/* By thread: it had not come to its end, and did not end the program; owned by the caller. */
bool *explore_unfinished(const struct exploration *x, const struct plan_run *run);
/* limits->end and limits->tail of the run at hand. */
void explore_find_end(const struct exploration *x, const struct plan_run *run,
                      struct flip_limits *limits);
void explore_note_cut_off(struct exploration *x, const struct plan_run *run,
                          const struct explore_run *r);
/* explore_limits.c: reasons for incompleteness, and notes, of the run at hand. */
void explore_note_limits(struct exploration *x, const struct plan_run *run);
void explore_note_no_invocation(struct exploration *x);
/* Names of --final and --check: those of a run that came to its end are seen; what no run had is a
 * gap. */
void explore_see_finals(struct exploration *x);
void explore_note_finals(struct exploration *x);
void explore_note_peeks(struct exploration *x);
void explore_note_atomics(struct exploration *x);
/* explore_objects.c: give up the objects that are not as specified (x->again). */
void explore_judge_objects(struct exploration *x, struct explore_run *r);
/* Give up every object that is looked at by results. */
void explore_give_up_results(struct exploration *x);
/* explore_words.c: what is other than in the parent. */
void explore_describe(const struct exploration *x, const struct flip *f, struct pending *s);
/* explore_judge.c: how the run ended. */
void explore_judge(struct exploration *x, const struct plan_run *run, struct explore_run *r);
/* It went wrong there. */
void explore_set_place(struct explore_run *r, const char *place);
/* explore_refused.c: did the recorder refuse to run the program with these bind lines? */
bool explore_is_refused(const struct exploration *x, const struct plan_run *run,
                        struct error *error);
/* explore_uses.c: what the run used after its end. */
struct explore_use {
	char *key; /* of its two places in the code */
	char *place, *story;
};
/* The run's, as struct explore_use *; the use that the run was made for is among them, when it
 * came to it, even where the operation never came back (garbage as a lock). */
GPtrArray *explore_find_uses(const struct exploration *x, const struct explore_run *r);
void explore_use_free(void *use);
/* The run's misuse of locks, in the same form; what is used after its destruction is left to
 * explore_find_uses. */
GPtrArray *explore_find_misuses(const struct exploration *x);
/* Was a use at the place of `use` after an end at that of `end` asked for, or met, before?  It
 * is from now on. */
bool explore_know_use(struct exploration *x, uint32_t use, uint32_t end);
char *explore_use_key(const struct trace *t, uint32_t use, uint32_t end);
/* "T2 writes p[0] after T1 freed its block at a.c:5"; owned by the caller. */
char *explore_use_text(const struct trace *t, uint32_t use, uint32_t end);
/* explore_found.c */
void explore_find_deadlocks(struct exploration *x);
/* Races of the run's own happens-before. */
void explore_find_races(struct exploration *x);
/* Races of every reordering in which each read sees the same value, while their share of the
 * time lasts. */
void explore_find_reordered_races(struct exploration *x);

#endif
