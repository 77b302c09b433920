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
	uint32_t first, count; /* its sets: a run of open_sets */
};

struct atomic_model {
	GPtrArray *sets;      /* char *, owned: the sets' names */
	GArray *grades;       /* char, by set: 'A', 'B' (declared), 'C' (inferred only) */
	GArray *member_start; /* uint32_t, by variable, one more at the end */
	GArray *members;      /* uint32_t: sets of variable v: [member_start[v], [v + 1]) */
	GArray *opens;        /* struct atomic_open, by event */
	GArray *open_sets;    /* uint32_t */
	uint64_t splits;      /* a bit for each enum op that cuts open units in two */
	GPtrArray *notes;     /* char *, owned: what was unclear */
};

struct atomic_model *atomic_model_new(const struct trace *t);
void atomic_model_free(struct atomic_model *model);
/* Index of a set by name, made when it is not there. */
uint32_t atomic_model_set(struct atomic_model *model, const char *name, char grade);
/* The trace's own declarations. */
struct atomic_model *atomic_model_declared(const struct trace *t);

#endif
