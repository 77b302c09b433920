/*
 * reachable.h - is there a correct reordering of the run in which a thread is about to do an
 * event and the variables have values that satisfy a condition?
 *
 * Values are those of the last writes before that point. As for races, every read of the
 * reordering sees the write that it saw in the recording; the event itself is not included, so
 * it may see another. A sequence found is checked by the independent checker; "impossible" is
 * the solver's proof, for each of the events that were asked about.
 */
#ifndef HEDDLE_REACHABLE_H
#define HEDDLE_REACHABLE_H

#include "engine/finding.h"
#include "engine/trace/index.h"

struct reachable_question {
	const GArray
	        *targets; /* uint32_t: the targets: a thread is to stand before one of them */
	const GArray *variables; /* uint32_t: variables of the condition */
	/* Does the condition hold before `target` when these were the last writes (by variable;
	 * NONE: the initial value)? */
	enum truth (*holds)(void *self, uint32_t target, const uint32_t *writers);
	void *self;
	double seconds; /* of the solver, in all */
};

enum reachable { REACHABLE_YES, REACHABLE_NO, REACHABLE_UNKNOWN };
struct reachable_answer {
	enum reachable kind;
	uint32_t target;       /* YES: the event that is next */
	GArray *sequence;      /* YES: uint32_t, checked */
	GPtrArray *proofs;     /* NO: struct proof *, one for each target; owned */
	guint asked;           /* number of targets that were decided */
	bool spent, valueless; /* UNKNOWN: out of time; some value is not in the trace */
};
/* False and error->cancelled when stopped. Builds the parts of the index that it needs. */
bool reachable_decide(struct trace *t, const struct reachable_question *question,
                      struct reachable_answer *answer, const struct progress *progress,
                      struct error *error);
void reachable_release(struct reachable_answer *answer);

#endif
