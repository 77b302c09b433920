/*
 * model.h - what the conflict graph is built over: atomic sets of variables, and which
 * events open a unit of work on which sets.
 *
 * A model is made from the trace's own declarations (`#! atomic-set`, `ubeg`), from an
 * `atomics` block of a specification, or by inference; the graph does not know which.
 * Vaziri, Tip and Dolby, POPL 2006; Marathon, section 3; semantics of atomic sets.
 */
#ifndef HEDDLE_ATOMIC_MODEL_H
#define HEDDLE_ATOMIC_MODEL_H

#include "engine/trace/index.h"

struct atomic_open { /* an event that opens a unit */
	uint32_t event;
	uint32_t first, count; /* its sets: a run of open_sets, ascending */
};

struct atomic_model {
	GPtrArray *sets;      /* char *, owned: the sets' names */
	GHashTable *by_name;  /* name as it was first given -> set + 1 */
	GArray *grades;       /* char, by set: 'A', 'B' (declared), 'C' (inferred only) */
	GArray *member_start; /* uint32_t, by variable, one more at the end */
	GArray *members;      /* uint32_t: sets of variable v: [member_start[v], [v + 1]) */
	GArray *opens;        /* struct atomic_open, by event */
	GArray *open_sets;    /* uint32_t */
	uint64_t splits;      /* a bit for each enum op that cuts open units in two */
	bool *cuts;           /* by string: functions whose entry does, too; NULL: none */
	GArray *since;        /* uint32_t, by variable: accesses before that event do not count;
	                       * empty: all do */
	GPtrArray *notes;     /* char *, owned: what was unclear */
	bool *closed;         /* owned, by string: static functions of an inferred model, which are
	                       * no units on what they do not touch themselves; or NULL */
	bool lost;            /* a declared unit ran and left no activations: it was inlined */
	char *inferred;       /* owned: what was inferred, as an `atomics` block; or NULL */
	/* Inferred models: which critical section covers a unit's accesses, by code and set;
	 * see grade.c.  Private, owned; or NULL. */
	struct atomic_habits *habits;
};

struct atomic_model *atomic_model_new(const struct trace *t);
void atomic_model_free(struct atomic_model *model);
/* Index of a set by name, made when it is not there. */
uint32_t atomic_model_set(struct atomic_model *model, const char *name, char grade);
/* Variable v in set s: noted in any order, made the model's members at the end. */
struct membership {
	uint32_t variable, set;
};
/* Replaces the members; sorts `memberships` and drops repetitions. */
void atomic_model_members(struct atomic_model *model, const struct trace *t,
                          GArray *memberships);
/* The members as memberships, for those who add some. */
GArray *atomic_model_memberships(const struct atomic_model *model, const struct trace *t);
/* Adds the units that the events of `sets` open (by event, GArray of uint32_t sets or NULL),
 * to those that are there. */
void atomic_model_opens(struct atomic_model *model, const struct trace *t, GArray *const *sets);

/* The trace's own declarations. */
struct atomic_model *atomic_model_declared(const struct trace *t);

struct specs;
/* spec_model.c: adds what the `atomics` blocks declare (grade B).  Returns whether there
 * were any.  engine/commute/spec.h has the syntax. */
bool atomic_model_specify(struct atomic_model *model, struct trace *t,
                          const struct specs *specs);
/* Units are cut in two at these, too: words of a `split` line (char *). */
void atomic_model_split(struct atomic_model *model, const struct trace *t,
                        const GPtrArray *words);

struct infer_options {
	const GPtrArray *splits; /* char *: where units are cut beside waits; NULL: at all that
	                          * spec_split_words has */
	bool heap;               /* all shared memory is one set: atomicity as others have it */
};
/* infer.c: sets and units by Marathon's heuristics carried over to C (docs/atomicity.md),
 * grades A and C.  `options` may be NULL.  NULL when cancelled; the caller owns it. */
struct atomic_model *atomic_model_inferred(struct trace *t, const struct infer_options *options,
                                           const struct progress *progress);

/* grade.c: notes what units commonly do, once an inferred model is complete.  `kinds` by set:
 * sets of one number are alike. */
void atomic_habits_note(struct atomic_model *model, const struct trace *t,
                        const uint32_t *kinds);
/* 'A' when a unit of the cycle commonly holds one lock for its set and here did not. */
struct finding;
char atomic_model_grade(const struct atomic_model *model, const struct trace *t,
                        const struct finding *f);
void atomic_habits_free(struct atomic_habits *habits);
/*
 * What holds for a trace: its own declarations and those of the specifications, or else
 * what can be inferred.  NULL when cancelled.
 */
struct atomic_model *atomic_model_for(struct trace *t, const struct specs *specs,
                                      const struct infer_options *options,
                                      const struct progress *progress);

#endif
