/*
 * outcomes.h - the outcomes of an exploration: its runs grouped by how they end, and the
 * difference between a run and the nearest one with another outcome.
 */
#ifndef HEDDLE_EXPLORER_OUTCOMES_H
#define HEDDLE_EXPLORER_OUTCOMES_H

#include "tui/explorer/exploration/tree.h"

enum outcome_kind { OUTCOME_FAILED, OUTCOME_RACE, OUTCOME_PASSED };
struct tree_outcome {
	enum outcome_kind kind;
	char *words;    /* owned: "use after free", "data race", "prints" */
	char *text;     /* owned: its message or output, the variable of a race; or "" */
	char *where;    /* owned: places, or "" */
	uint64_t count; /* different runs; 0 for a race: not counted */
	uint32_t first; /* run */
	uint32_t
	        shortest; /* the run with the fewest switches of threads; of a race the first */
	uint32_t kept;    /* a run with a trace, the shortest if that has one; NONE */
};
/* Failures first, then races, then how other runs end, the most frequent first. Free with
 * g_array_unref. */
GArray *outcomes_of(const struct tree *tree);
/* Index of the run's outcome. */
guint outcome_of_run(const struct tree *tree, const GArray *outcomes, uint32_t run);
/* "deadlock", "signal 6", "exit status 3": how the run ended. Owned by the caller. */
char *end_text(const char *end, int64_t status);

/* The reversals in which two runs differ. */
struct outcome_difference {
	uint32_t other;        /* a run with another outcome; NONE: none */
	GArray *here, *others; /* uint32_t: the runs below the common one, on the paths to
	                        * both; owned */
};
/* The nearest run in the tree that ends well, or for one that ends well with another outcome.
 */
struct outcome_difference outcome_difference_of(const struct tree *tree, uint32_t run);
void outcome_difference_release(struct outcome_difference *p);

/* Append the exploration's coverage: every schedule, or the share explored and the rest. */
void tree_append_scope(const struct tree *tree, GString *out);
/* Append how many runs have the outcome, and which is the shortest. */
void outcome_append_count(const struct tree *tree, const struct tree_outcome *o, GString *out);

#endif
