/*
 * explore_private.h - shared by the parts of an exploration. The loop (explore.c) takes a
 * pending schedule from the worklist (worklist.c) and executes it (explore_run.c); the run is
 * judged (explore_judge.c, explore_uses.c), counted among the errors (explore_errors.c), and
 * planned: its reversals become pending schedules (explore_planning.c, explore_reversals.c).
 */
#ifndef HEDDLE_EXPLORE_PRIVATE_H
#define HEDDLE_EXPLORE_PRIVATE_H

#include "engine/commute/linear/linear_trace.h"
#include "engine/explore/awaits/awaits.h"
#include "engine/explore/awaits/pasts.h"
#include "engine/explore/explore.h"
#include "engine/explore/reversals/reversals.h"
#include "engine/explore/runs/histories.h"
#include "engine/explore/no_return.h"
#include "engine/explore/hunt/portfolio.h"
#include "engine/explore/worklist.h"
#include "engine/record/plan_run.h"

/* An execution and the state of its planning; execution_free. */
struct execution {
	struct plan_run run;
	struct await_rounds rounds;
	struct view *view;
	struct history *history; /* history without the looks without effect */
	struct view *raw_view;   /* the view with those looks, if the run has any; or NULL */
	struct history *raw;
	struct model *model; /* with --linearizable: for its trace; or NULL */
	GPtrArray *parts;    /* of the model: struct linear_part * */
	struct reversal_limits limits;
	GArray *early;    /* see reversal_limits; or NULL */
	uint32_t *common; /* see reversal_limits */
	bool *ended, *goes_on;
	struct reversals *search;
	struct smt *smt;    /* once needed */
	uint32_t number;    /* of the run */
	uint32_t known_run; /* its number among the histories; NONE: its class was covered */
	bool after_use;     /* as in its schedule */
	bool races_found;   /* races of its reorderings were searched */
	struct pending *schedule; /* of a kept run; owned */
	struct no_return *keeper; /* takes its trace in the end, for this run; or NULL */
	uint32_t kept_as;
};
void execution_free(struct execution *ex);

/* A run of an earlier process that is executed again to plan it; owns its schedule. */
struct repeat {
	struct pending *schedule;
	uint32_t number, known_run; /* as in struct execution */
	bool races_found;
};
void repeat_free(struct repeat *repeat);

/* The lengths of an exploration's lists and sets, which only grow. */
struct extent {
	uint32_t runs, errors, races, notes, threads, reasons, entered;
	struct histories_size histories;
	struct awaits_size awaits;
	struct pasts_size pasts;
	uint32_t sets[5]; /* explore_sets */
};

/* Base that a task (tasks.h) began with, and the base's counts, so that a join counts each of
 * them once. */
struct task_origin {
	char *base;            /* owned: the base's file name, beside the task's; NULL: no
	                        * task */
	uint8_t sum[32];       /* and its check sum */
	uint32_t index, count; /* number of the task, from 0, and of the division's tasks */
	bool anew;             /* it has begun again since, and has nothing from the base */
	struct extent extent;  /* of the base */
	uint32_t first;
	uint64_t pruned, classes, abandoned, chances, taken, run_of_taken;
	GArray *errors;    /* uint64_t: their counts */
	GArray *replanned; /* uint32_t: runs of the base that were executed again */
};

/* Why: it would take too long; another post, signal, arrival or message may end a wait and
 * leave all values as they are, which trace analyses do not vary; a block's allocation and an
 * access may not be ordered where another thread has a lock first. */
enum { RACES_SLOW = 1, RACES_PAIRED = 2, RACES_EARLY = 4 };

struct exploration {
	const struct explore_options *options;
	const struct progress *progress;
	struct explore_report *report;
	struct histories *histories;
	struct awaits *awaits;
	struct pasts *pasts;
	struct worklist *worklist;
	struct pending *next;    /* the schedule to be executed next, chosen before the last run
	                          * was planned; owned, or NULL */
	struct pending *running; /* that schedule, when its execution has begun; borrowed */
	GPtrArray *kept;      /* struct execution *: partly planned runs, the next one first */
	uint64_t kept_events; /* of all of these */
	GPtrArray *repeats;   /* struct repeat *: the last one next */
	bool resumed;         /* the report has runs of an earlier process */
	uint64_t before;      /* number of their executions */
	uint32_t earlier;     /* runs of earlier parts, whose traces are gone */
	uint32_t schedules;   /* number of runs whose schedules are kept */
	struct checkpoint *from; /* the state to resume from, until it is read; owned, or
	                          * NULL */
	const char *stop;        /* the reason why it ended before everything was done; or
	                          * NULL */
	char *identity;          /* with options->resume; owned */
	struct task_origin origin;
	char *program, *options_text; /* from the state: its program and options, for reports;
	                               * owned */
	GPtrArray *environment;       /* char *: environment in which all its parts run the
	                               * program; or NULL */
	gint64 next_checkpoint;       /* time */
	uint64_t chances;             /* runs by chance so far */
	uint32_t idle_chances;        /* consecutive ones, with nothing pending */
	uint64_t taken, run_of_taken; /* schedules taken so far; those not covered by then */
	struct portfolio *portfolio;  /* for runs by chance; NULL: no error is looked for */
	GPtrArray *turns;             /* GArray * or NULL: turns of each error's shortest run */
	struct no_return *no_return;
	GHashTable *errors;    /* char *: cycles of lock requests and uses after free that were
	                        * scheduled */
	GHashTable *unwritten; /* char *, the places of a read and of its block's allocation:
	                        * how often that turned out to be written; at most MOST_ASKED */
	GHashTable *finals_seen; /* char *: names of --final that some run has */
	GHashTable *races; /* char *: pairs of places; and pairs of sites, after "sites " those
	                    * of found races, after "asked " those scheduled */
	int64_t races_effort, effort_began; /* processor time, microseconds, spent on races
	                                     * beyond happens-before; at the beginning */
	struct {
		const struct trace *trace;
		uint32_t run;
		bool any;
	} suspects;               /* may any variable race in the last run examined? */
	bool beyond;              /* a schedule needs more preemptions than the bound permits */
	uint8_t races_left;       /* RACES_...: in some run these were not all searched */
	GHashTable *reasons;      /* char *, also in report->reasons: a set */
	GHashTable *hidden_reads; /* hidden_reads_new; NULL: one is a gap */
	GHashTable *unhooked;     /* asked by record_unhooked; NULL: one is a gap */
	char *output;             /* file for the program's output, see file.h; owned */
	int output_file;
	gint64 deadline; /* 0: none */
	bool cancelled, interrupted;
	uint32_t first;      /* the first run after the last restart */
	GHashTable *plain;   /* char *: objects whose specification is ignored */
	GHashTable *ordered; /* char *: objects not viewed by results */
	bool kernel_threads; /* runs use kernel threads, so that classes are comparable: as
	                      * in the state that was loaded, else as in this part. All runs
	                      * of one exploration do, or none does. */
	bool outgrown;       /* the runs of the state that was loaded have none, and one needs
	                      * them */
	bool again;          /* restart: one more object was found or kernel threads
	                      * are needed after all */
	char *interposer;    /* library of the bind lines; owned, or NULL */
	struct record_server *server; /* the program's fork server */
	/* -- the current run */
	struct trace *trace; /* as recorded */
	const struct view *view;
	const struct history *history;
	const struct await_rounds *rounds; /* of loops that wait */
	struct model *model;               /* with --linearizable; or NULL */
	const GPtrArray *parts;            /* struct linear_part *: its histories */
	bool nonlinear;                    /* one of these is not linearizable */
	uint32_t run;
	uint32_t known_run; /* its number among the histories; NONE: its class was covered */
	bool after_use;     /* as in its schedule */
	const char *use;    /* it reached this scheduled use; or NULL */
};

/* explore.c: an exploration without a program to run, to hold a state; exploration_end frees
 * everything but the report. */
void exploration_begin(struct exploration *x, const struct explore_options *options);
void exploration_end(struct exploration *x);
/* explore_report.c: sets of texts that belong to the state. */
void explore_sets(const struct exploration *x, GHashTable *sets[5]);
/* The end of the report: complete or not, and the number of schedules left. */
void explore_conclude(struct exploration *x);
/* explore_report.c */
struct explore_report *explore_report_new(void);
/* For a run of the report: shares its texts among all runs. */
void explore_share_texts(struct explore_run *r);
/* Add a reason for incompleteness, once. */
void explore_note_incomplete(struct exploration *x, const char *why);
/* Ends the exploration before everything was done, with the reason, which is not carried over
 * when the exploration is resumed. */
void explore_stop(struct exploration *x, const char *why);
/* explore_reversals.c: a schedule from the current run; `place`: its main event. */
struct pending *pending_new(struct exploration *x, const uint32_t *sequence, size_t length,
                            uint32_t place);

/* A reversal_taker with the exploration as `context`: makes a pending schedule. */
bool explore_take_reversal(void *context, const struct reversal *f);
/* Does a known run begin with the schedule? */
bool explore_is_known(const struct exploration *x, const struct thread_prefix *parts,
                      uint32_t count, enum reversal_kind kind);

/* When no schedule is left but those of REVERSAL_IDLE, was each round without effect run that
 * may begin in a state of theirs? */
bool explore_knows_rounds(const struct exploration *x);

/* explore_next.c: a schedule from the beginning; `reversal`, taken over: its description in the
 * report. */
struct pending *explore_by_strategy(struct exploration *x, const struct strategy *how,
                                    char *reversal);

/* explore_shorten.c: runs of the errors with fewer switches. False and `problem` as
 * explore_run_pending. */
bool explore_shorten(struct exploration *x, struct error *problem);
/* explore_alike.c: with --symmetry: whether the run shows that threads of a kind are told apart
 * (then the exploration begins again without the kind), and the runs that it takes to see that
 * they are not. */
void explore_judge_alike(struct exploration *x, const struct pending *s, struct execution *ex);
/* history.apart */
static inline const GHashTable *explore_apart(const struct exploration *x)
{
	return x->options->symmetry ? x->plain : NULL;
}
/* explore_run.c: execute; takes ownership. False and `error` when the program cannot be run. */
bool explore_run_pending(struct exploration *x, struct pending *p, struct error *error);
/* Execute a run of an earlier process again, and plan it; takes ownership. */
bool explore_run_again(struct exploration *x, struct repeat *r, struct error *error);
/* Executes a run whose schedule is kept once more, for its trace (no_return.h). False when
 * the run differs now. */
bool explore_run_for_trace(struct exploration *x, uint32_t number);
/* explore_planning.c: make pending schedules of the run's reversals; of some, if the run is
 * kept. Takes ownership of the run and its schedule; `whole`: it completed. */
void explore_plan(struct exploration *x, struct execution *ex, struct pending *s, bool whole);
/* Plan the other continuations of the run's schedule, where that ends within a look without
 * effect. `x`: at the run, which is among the known ones. */
void explore_plan_begun(struct exploration *x, struct execution *ex, const struct pending *s);
/* explore_objects.c: how runs are viewed. */
struct view_rules explore_view_rules(const struct exploration *x, const bool *left_out);
/* history.sums of a run; owned by the caller. */
uint8_t *explore_sums(struct exploration *x, const struct plan_run *run);
/* explore_planning.c: continue planning the first kept execution. */
void explore_plan_further(struct exploration *x);
/* Further walks through the states of a kept run. */
void explore_walk_again(struct exploration *x);
/* Is the memory for kept runs used up? */
bool explore_keeps_too_much(const struct exploration *x);
/* Unset the current run. */
void explore_leave(struct exploration *x);
/* explore_start.c: begins the execution of a schedule, for which explore_start_run then
 * waits; or leaves the beginning to that. */
void explore_begin_run(struct exploration *x, struct pending *s);
/* End it, unseen. */
void explore_end_unseen(struct exploration *x);
/* Wait for the execution of `s`, begun or not; false and `error` when the program cannot be
 * run. plan_run_release. */
bool explore_start_run(struct exploration *x, struct pending *s, struct plan_run *run,
                       struct error *error);
/* explore_next.c: chooses the next schedule, and begins its execution, which runs while the
 * current run is planned; the current run's reversals are therefore chosen one run later. Not
 * while an error is looked for: there the newest reversals come first. */
void explore_choose_next(struct exploration *x);
/* The reason why no more is executed, or NULL. */
const char *explore_limit(const struct exploration *x);
/* Puts the chosen schedule back among the pending ones. */
void explore_put_next_back(struct exploration *x);
/* An execution without a schedule, or NULL when the next one has a schedule. */
struct pending *explore_by_chance(struct exploration *x);
/* Takes `chance`, or if NULL a pending schedule; NULL when a known run begins with it. */
struct pending *explore_take_pending(struct exploration *x, struct pending *chance);

/* explore_errors.c: record the ending of the run along `plan` among the errors, and save its
 * trace if it is the first of its kind. False and `error` when it cannot be written. */
bool explore_note_end(struct exploration *x, const struct plan *plan,
                      const struct plan_run *run, struct explore_run *r, struct error *error);
/* An exit status common to all runs is the program's result, not an error. A read of unwritten
 * memory in all of them does not depend on the schedule, either. */
bool explore_is_usual(const struct exploration *x, const struct explore_error *e);
/* Was there an error, beside those that are usual? */
bool explore_has_failed(const struct exploration *x);
/* explore_saved.c: save the trace of the current run `r` under options->save, which may be
 * NULL. False and `error` when it cannot be written. */
bool explore_save(struct exploration *x, struct explore_run *r, struct error *error);
/* Delete the run's trace; give its file the name of another number of a run. */
void explore_unsave(const struct exploration *x, struct explore_run *r);
void explore_renumber(const struct exploration *x, struct explore_run *r, uint32_t number);
/* explore_ends.c: the thread that ended the program by exit, signal or return from main; or
 * NONE. */
uint32_t explore_ender(const struct exploration *x, const struct plan_run *run);
/* By thread: it had not ended, and did not end the program; owned by the caller. */
bool *explore_unfinished(const struct exploration *x, const struct plan_run *run);
/* Set limits->end and limits->tail for the current run. */
void explore_find_end(const struct exploration *x, const struct plan_run *run,
                      struct reversal_limits *limits);
void explore_note_cut_off(struct exploration *x, const struct plan_run *run,
                          const struct explore_run *r);
/* explore_limits.c: limits of time. */
/* Executions so far, of all parts. */
uint64_t explore_executions(const struct exploration *x);
bool explore_out_of_time(const struct exploration *x);
/* Until the deadline, where it is set. */
double explore_seconds_left(const struct exploration *x);
bool explore_is_interrupted(struct exploration *x);
/* Reasons for incompleteness, and notes, on the current run. */
void explore_note_limits(struct exploration *x, const struct plan_run *run);
/* Notes what the model of pipes and their kin leaves open in the run, and in its reversals. */
void explore_note_channels(struct exploration *x, const struct history *h);
void explore_note_no_invocation(struct exploration *x);
/* Notes the names of --final and --check that a completed run has. */
void explore_see_finals(struct exploration *x);
/* Note a name of --final that no run accesses: it distinguishes no outcomes, and is likely
 * misspelt. */
void explore_note_final(struct exploration *x, const char *name);
void explore_note_peeks(struct exploration *x);
void explore_note_atomics(struct exploration *x);
/* explore_objects.c: ignore specifications of objects that violate them (x->again). */
void explore_judge_objects(struct exploration *x, struct explore_run *r);
/* By object of a run: may rounds in vain that take this lock be left out? Not where a try of it
 * is known that may see them. NULL: none may, nor may rounds with tries that fail. Owned by the
 * caller. */
bool *explore_leaves_sections(const struct exploration *x, const struct history *h);
/* Learns which locks such tries are made of. When rounds that take one were left out, all
 * begins again. `h`: without the rounds. */
void explore_see_tries(struct exploration *x, const struct await_rounds *rounds,
                       const struct history *h);
/* What is known of a run's memory (awaits_see_memory). Where earlier runs took it for something
 * else, all begins again. */
void explore_see_memory(struct exploration *x, const struct history *h, struct await_memory *m);
/* View no object by results any more. */
void explore_give_up_results(struct exploration *x);
/* From now on additions whose result is not used tell runs apart (x->again). */
void explore_give_up_sums(struct exploration *x);
/* explore_words.c: the difference from the parent. */
void explore_describe(const struct exploration *x, const struct reversal *f, struct pending *s);
/* explore_judge.c: the run's ending. */
void explore_judge(struct exploration *x, const struct plan_run *run, struct explore_run *r);
/* Set the place of failure. */
void explore_set_place(struct explore_run *r, const char *place);
/* explore_refused.c: did the recorder reject the bind lines? */
bool explore_is_refused(const struct exploration *x, const struct plan_run *run,
                        struct error *error);
/* explore_uses.c: a use after the end of life. */
struct explore_use {
	char *key; /* identity: its two places */
	char *place, *story;
	bool unlocks; /* of misuses: it may free a lock that another thread holds */
};
void explore_use_free(void *data);
/* The run's uses, as struct explore_use *; with its scheduled use, if reached, even when the
 * operation did not return (garbage as a lock). */
GPtrArray *explore_find_uses(const struct exploration *x, const struct explore_run *r);
/* The run's lock misuses in the same form; uses after destruction are in explore_find_uses. */
GPtrArray *explore_find_misuses(const struct exploration *x);
/* explore_early.c: uses of an object before another thread initialises it, without a
 * destruction between, in the same form. An initialisation undoes what was done before, so what
 * follows is not explored. */
GPtrArray *explore_find_early_uses(struct exploration *x, const struct plan_run *run);
/* Uses that come later in the current run, and perhaps need not (reversal_limits.early); freed
 * with the caller's array. */
GArray *explore_find_early(const struct exploration *x, const struct plan_run *run);
/* Of an execution graph (without a history): uses that happens-before does not put after the
 * initialisation make the report incomplete. False: cancelled. */
bool explore_note_unordered_uses(struct exploration *x, const struct plan_run *run);
/* The places of the use and of the event before which it is to come; owned by the caller. */
char *explore_early_key(const struct trace *t, const struct reversal *f);
/* explore_unwritten.c: the run's reads of memory that nothing was written to, in the same form.
 * Executes `plan`, the run's, up to twice more. `strayed`: the run did not follow it: none. */
GPtrArray *explore_find_unwritten(struct exploration *x, const struct plan *plan, bool strayed);
/* Was a use at this place after an end at that place scheduled or found before? Marks it as
 * such. */
bool explore_know_use(struct exploration *x, uint32_t use, uint32_t end);
char *explore_use_key(const struct trace *t, uint32_t use, uint32_t end);
/* explore_words.c: "T2 writes p[0] after T1 freed its block at a.c:5"; owned by the caller. */
char *explore_use_text(const struct trace *t, uint32_t use, uint32_t end);
/* The block, variable or object that the event uses, as reports name it; owned by the caller.
 */
char *explore_used_name(const struct trace *t, uint32_t event);
/* explore_linear.c: with --linearizable: find the histories of the current run. */
void explore_see_parts(struct exploration *x, struct execution *ex);
/* Finds histories that are not linearizable as they happened: struct linear_story *, owned. */
GPtrArray *explore_find_nonlinear(struct exploration *x);
/* Schedules the first such history of another schedule of the run's class. */
void explore_find_histories(struct exploration *x, struct execution *p);
/* explore_deadlocks.c */
void explore_find_deadlocks(struct exploration *x);
/* explore_races.c. The identity of a race: its two places (own_site.h);
 * owned by the caller. */
char *explore_race_key(const struct trace *t, uint32_t a, uint32_t b);
/* Has a run this race? */
bool explore_has_race(const struct exploration *x, const char *key);
/* False when a run has the race, or it was asked for before. */
bool explore_ask_race(struct exploration *x, const char *key);
/* Find the current run's races, among them the one that its schedule is for. */
void explore_see_race(struct exploration *x, const struct pending *s);
/* Add races by the run's own happens-before. */
void explore_find_races(struct exploration *x);
/* Add races of all reorderings with the same values read, within their share of the time.
 * `known`: of the current run. */
void explore_find_reordered_races(struct exploration *x, enum reversals_races known);

#endif
