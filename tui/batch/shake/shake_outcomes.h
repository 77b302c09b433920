/*
 * shake_outcomes.h - outcomes of many runs of a program, for heddle shake: runs with the same
 * ending, findings and output are one. When nearly every run prints different lines (progress,
 * times), only the lines that do not vary are compared.
 */
#ifndef HEDDLE_BATCH_OUTCOMES_H
#define HEDDLE_BATCH_OUTCOMES_H

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct shake_outcome {
	int status, signal; /* of the process; signal 0: exited */
	bool deadlock, timed_out;
	uint32_t misuses; /* bit set of enum log_misuse */
	char hash[17];    /* first 16 hexadecimal digits of the output's SHA-256 */
	char *line;       /* owned: last compared line of the output, escaped */
	GPtrArray *lines; /* owned: char *, the output within its bounds */
	uint64_t count;   /* runs */
	uint64_t outputs; /* number of different outputs */
	/* the first run with it: its number, how it was made, options to make it again (owned)
	 */
	uint64_t run, seed;
	unsigned strategy; /* enum log_strategy */
	uint64_t steps;    /* pct: assumed length of a run */
	char *again;
	/* `again` does not lead there: addresses in a recording are others than in the run */
	bool elusive;
	/* As a copy of the process ended; that a recording ends so, too, was not tried. */
	bool untried;
	uint64_t shape; /* hash of its lines with # for numbers; 0: not asked for so far */
	char *use; /* owned: a use of freed memory in it, if it was searched for one; or NULL */
	/* a schedule with this outcome and the fewest switches found: its options, or NULL;
	 * owned */
	char *fewest;
	unsigned switches, tries;
};
void outcome_free(struct shake_outcome *o); /* NULL is allowed */

/* Lines that differ only in numbers and were not compared. */
struct left_out {
	char *shape;    /* owned: such a line with # for numbers, escaped */
	uint64_t texts; /* number of different runs */
	bool steady;    /* all runs have equally many: a varying result, not progress */
};

struct outcomes {
	GPtrArray *list;  /* struct shake_outcome * */
	GArray *left_out; /* struct left_out */
};

struct outcomes *outcomes_new(void);
void outcomes_free(struct outcomes *outcomes);
/* Set hash, line and lines of `o` from the run's output. */
void outcome_set_output(struct shake_outcome *o, const char *text, gsize length);
/* Is there one that the outcome would be counted with? */
bool outcomes_know(const struct outcomes *outcomes, const struct shake_outcome *o);
/* Are there so many that differ from it in numbers alone that they will be grouped, after so
 * many runs or fewer? Sets its shape. */
bool outcomes_vary(const struct outcomes *outcomes, struct shake_outcome *o, uint64_t runs);
/* Do both runs end in the same way, whatever they print? */
bool outcome_same_end(const struct shake_outcome *a, const struct shake_outcome *b);
/* Adds the outcome of one run, or a counted one; takes ownership. */
void outcomes_add(struct outcomes *outcomes, struct shake_outcome *o);
/* An outcome of a share, with all data that another process needs to compare it with its own;
 * and back. NULL: not such a value. */
json_t *outcome_json(const struct shake_outcome *o);
struct shake_outcome *outcome_of_json(const json_t *value);
/* Sorts by first run. */
void outcomes_sort(struct outcomes *outcomes);
/* After the last run: merge outcomes that differ only in varying lines, if they are too many;
 * sort by frequency. */
void outcomes_group(struct outcomes *outcomes);
/* Is there a finding: several outcomes, varying results, or a failure? */
bool outcomes_tell(const struct outcomes *outcomes);

#endif
