/*
 * outcomes.h - the outcomes of many runs of one program, for heddle shake: runs that ended in
 * the same way, with the same findings and the same output are one.  Where nearly every run
 * prints something else (progress, times), the lines that do not vary so are compared.
 */
#ifndef HEDDLE_OUTCOMES_H
#define HEDDLE_OUTCOMES_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct outcome {
	int status, signal; /* of the process; signal 0: it exited */
	bool deadlock, timed_out;
	uint32_t misuses;  /* bits: enum log_misuse */
	char hash[17];     /* of the output, the first 16 hexadecimal digits of its SHA-256 */
	char *line;        /* owned: the output's last line that was compared, escaped */
	GPtrArray *lines;  /* owned: char *, the output, without what is beyond its bounds */
	uint64_t count;    /* runs */
	uint64_t outputs;  /* how many different ones they printed */
	uint64_t seed;     /* of the first of them */
	unsigned strategy; /* enum log_strategy */
	uint64_t steps;    /* pct: the length of a run that it was given */
};

/* Lines that only differ in their numbers, and that were not compared. */
struct left_out {
	char *shape;    /* owned: such a line with # in the place of numbers, escaped */
	uint64_t texts; /* of different runs */
	bool steady;    /* each run has as many of them: a result that varies, not progress */
};

struct outcomes {
	GPtrArray *list;  /* struct outcome * */
	GArray *left_out; /* struct left_out */
};

struct outcomes *outcomes_new(void);
void outcomes_free(struct outcomes *outcomes);
/* Sets hash, line and lines of `o` from what the run printed. */
void outcome_set_output(struct outcome *o, const char *text, gsize length);
/* Takes `o`, of one run. */
void outcomes_add(struct outcomes *outcomes, struct outcome *o);
/* After the last one: makes one of those that differ in varying lines alone, where there are
 * too many; sorts them, the most frequent first. */
void outcomes_group(struct outcomes *outcomes);
/* Is something found: more than one outcome, results that vary, or a failure? */
bool outcomes_tell(const struct outcomes *outcomes);

#endif
