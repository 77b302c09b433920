/*
 * model.h - input of the conflict graph: atomic sets of variables, and the events that open a
 * unit of work on them (Vaziri, Tip and Dolby, POPL 2006; Marathon, section 3).
 *
 * A model comes from the trace's declarations (`#! atomic-set`, `ubeg`), from `atomics` blocks
 * of specifications, or by inference; the graph does not distinguish.
 */
#ifndef HEDDLE_ATOMIC_MODEL_H
#define HEDDLE_ATOMIC_MODEL_H

#include "engine/trace/index.h"

/* An event that opens a unit. */
struct atomic_open {
	uint32_t event;
	uint32_t first, count; /* its sets: open_sets[first..], ascending */
};

struct atomic_model {
	GPtrArray *sets;      /* char *, owned: names of the sets */
	GHashTable *by_name;  /* name as first given -> set + 1 */
	GArray *grades;       /* char, by set: 'A', 'B' declared, 'C' inferred */
	GArray *member_start; /* uint32_t, by variable, and one more */
	GArray *members;      /* uint32_t: sets of variable v: [member_start[v], [v + 1]) */
	GArray *opens;        /* struct atomic_open, by event */
	GArray *open_sets;    /* uint32_t */
	uint64_t splits;      /* bit set of enum op: operations that split open units */
	bool *cuts;           /* by string: functions whose entry splits units; NULL: none */
	/* uint32_t, by variable: accesses before that event do not count; empty: all count. */
	GArray *since;
	GPtrArray *notes; /* char *, owned: ambiguities, for the report */
	bool late;        /* the inference ran out of time: parts, or all, are missing */
	/* Owned, by string: static functions of an inferred model, which are units only on
	 * variables that they access themselves; or NULL. */
	bool *closed;
	bool lost;      /* a declared unit ran without activations: it was inlined */
	char *inferred; /* owned: the inferred `atomics` block as text; or NULL */
	/* Inferred models: critical sections that usually cover a unit's accesses, by code and
	 * set (grade.c). Owned; or NULL. */
	struct atomic_habits *habits;
};

struct atomic_model *atomic_model_new(const struct trace *t);
void atomic_model_free(struct atomic_model *model);
/* Index of a set by name; created when absent. */
uint32_t atomic_model_set(struct atomic_model *model, const char *name, char grade);
/* Variable v is a member of set s; collected in any order. */
struct membership {
	uint32_t variable, set;
};
/* Replace the members; sorts `memberships` and removes duplicates. */
void atomic_model_members(struct atomic_model *model, const struct trace *t,
                          GArray *memberships);
/* The members as memberships, for callers that add some. */
GArray *atomic_model_memberships(const struct atomic_model *model, const struct trace *t);
/* Add units: `sets[e]` are the sets (uint32_t) that event e opens, or NULL. */
void atomic_model_opens(struct atomic_model *model, const struct trace *t, GArray *const *sets);

/* The model declared in the trace itself. */
struct atomic_model *atomic_model_declared(const struct trace *t);

struct specs;
/* Add the `atomics` blocks (grade B; syntax in engine/commute/language/spec.h). True when the
 * specification has any. */
bool atomic_model_specify(struct atomic_model *model, struct trace *t,
                          const struct specs *specs);
/* Split units at these, too: words of a `split` line (char *). */
void atomic_model_split(struct atomic_model *model, const struct trace *t,
                        const GPtrArray *words);

struct infer_options {
	const GPtrArray *splits; /* char *: where units are split, beside waits; NULL: at all of
	                            spec_split_words */
	double seconds;          /* of processor time; 0: no limit, negative: none is left */
	bool heap;               /* all shared memory is one set: conventional atomicity */
};
/* Sets and units by Marathon's heuristics, adapted to C (docs/atomicity.md), grades A and C.
 * `options` may be NULL. NULL when cancelled; the caller owns it. */
struct atomic_model *atomic_model_inferred(struct trace *t, const struct infer_options *options,
                                           const struct progress *progress);

/* Record the habits of units, once an inferred model is complete. Sets with equal `kinds` (by
 * set) are alike. */
void atomic_habits_note(struct atomic_model *model, const struct trace *t,
                        const uint32_t *kinds);
/* 'A' when a unit of the cycle usually holds one lock for its set, and here did not; else
 * 'C'. */
struct finding;
char atomic_model_grade(const struct atomic_model *model, const struct trace *t,
                        const struct finding *f);
void atomic_habits_free(struct atomic_habits *habits);
/* The model of a trace: declarations of the trace and the specifications, else inferred. NULL
 * when cancelled. */
struct atomic_model *atomic_model_for(struct trace *t, const struct specs *specs,
                                      const struct infer_options *options,
                                      const struct progress *progress);

#endif
