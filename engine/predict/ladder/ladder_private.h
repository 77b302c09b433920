/*
 * ladder_private.h - the parts of auto_ladder.h: auto_ladder.c runs the rungs, ladder_units.c
 * keeps the verdicts, ladder_lift.c carries races from the projection to its trace,
 * ladder_pairs.c decides what the rungs leave.
 *
 * A unit is what gets one verdict: a pair of sites, or with --pairs events a pair of events.
 * Its key is a uint64_t.
 */
#ifndef HEDDLE_LADDER_PRIVATE_H
#define HEDDLE_LADDER_PRIVATE_H

#include "engine/predict/ladder/auto_ladder.h"
#include "engine/predict/ladder/ladder_proofs.h"
#include "engine/predict/ladder/projection.h"
#include "engine/predict/m2/m2.h"
#include "engine/predict/pairs/classes.h"
#include "engine/predict/smt/smt.h"

struct ladder {
	struct trace *t;               /* the projection's; NULL: no projection */
	struct projection *projection; /* or NULL */
	struct trace *beginning;       /* of its trace, as far as witnesses reach; made on
	                                * demand */
	struct checker *whole;         /* of that */
	GPtrArray *unlifted; /* races of the projection that are not in the report yet; owned */
	bool refused;        /* a lifted witness was not accepted: all is repeated without the
	                      * projection */
	uint64_t unproved;   /* races of the projection that were not accepted on its trace */
	GHashTable *notified; /* keys of units that options->found was called for; lives on
	                       * when everything is repeated without the projection */
	const struct race_options *options;
	const struct progress *progress; /* shows the rung, and the races so far */
	const struct progress *outer;
	const char *rung;
	struct report *report;
	struct smt *smt;
	bool with_m2; /* its closure runs before the solver */
	struct race_tools tools;
	struct m2 *m2;       /* of the tools, on demand */
	struct order *order; /* its unordered pairs are candidates; NULL: all pairs */
	/* With weak atomics: the order by happens-before and plain observations that holds in
	 * every reordering, whose pairs are no C11 races. Else NULL: the causal past
	 * refutes. */
	struct order *lasting;
	struct locksets *locksets;
	GHashTable *settled; /* unit's key -> struct finding, owned by the report or `others` */
	GPtrArray *others;   /* impossible and unknown findings so far */
	struct ladder_proofs *proofs;
	GHashTable *variables;  /* finding with many variables -> set of them */
	uint64_t naming;        /* events passed by try_variable */
	uint64_t unnamed;       /* its tries left out because of that */
	uint64_t *suspects;     /* bit set by variable: race_suspects or classes_suspects */
	struct classes classes; /* of the current variable */
	bool ordered;           /* all its conflicting pairs are ordered: no race */
	struct effort effort;   /* for enumerating pairs; deciding has its own budget */
	uint64_t witness_events, left_out; /* events in kept witnesses; witnesses not kept */
	uint32_t tries_left;               /* see try_variable */
	bool weak_atomics;                 /* pairs refuted by causal past may be C11 races */
	bool tries_matter; /* failed tries, where reads or invocations may differ */
	bool doubt; /* with weak atomics and --values: not searched, so only locks prove */
	bool cancelled;
};

/* -- ladder_units.c: verdicts --------------------------------------------------------------- */

/* The key of the unit of two events of l->t. */
uint64_t ladder_unit(const struct ladder *l, uint32_t e1, uint32_t e2);
/* The finding of a unit, or NULL; owned by the report, `unlifted` or `others`. */
struct finding *ladder_settled(const struct ladder *l, uint64_t unit);
/* The same, if it is a race; else NULL. */
struct finding *ladder_known_race(const struct ladder *l, uint64_t unit);
bool ladder_has_variable(const struct ladder *l, const struct finding *f, uint32_t variable);
void ladder_merge_variables(const struct ladder *l, struct finding *into,
                            const struct finding *from);
/* The races known so far, for the next analysis of the ladder: race_tools.known, with the
 * ladder as its context. */
enum race_known ladder_known_so_far(const void *ladder, uint32_t e1, uint32_t e2,
                                    uint32_t variable);
/* A copy of another analysis's finding, with its witness, which is moved. */
struct finding *ladder_take_finding(const struct ladder *l, struct finding *f, const char *by);
/* Settles the unit by a race, and publishes that; a projection's race waits in `unlifted`.
 * Takes ownership. */
void ladder_add_race(struct ladder *l, uint64_t unit, struct finding *f);
/* Adds the race to the report, with its witness within the memory bound; takes ownership. */
void ladder_publish(struct ladder *l, struct finding *f);
/* The unit's finding in `others`; a new one is impossible until another pair of it is unknown.
 */
struct finding *ladder_other_unit(struct ladder *l, uint64_t unit, uint32_t e1, uint32_t e2);
/* Counts a pair of the unit that no method decided. */
void ladder_note_unknown(struct finding *unit, enum open_reason open, uint32_t e1, uint32_t e2);
/* Counts a pair of the unit that the proof (copied) refutes, by the method named `by`. */
void ladder_note_impossible(struct ladder *l, struct finding *unit, const struct proof *proof,
                            const char *by);
/* The unit is a race: removes it from `others`, and adds the race (owned). */
void ladder_note_race(struct ladder *l, uint64_t unit, struct finding *race);

/* -- ladder_lift.c: from the projection to its trace ---------------------------------------- */

/* Are a rung's races taken over to the trace at once? Of a long trace the events and its
 * checker need as much memory as the deciders: so the races of all rungs are lifted in the end.
 */
bool ladder_lifts_by_rung(const struct ladder *l);
static inline void ladder_lift_pair(const struct projection *p, struct exact_pair *pair)
{
	for (int i = 0; i < 2; i++)
		pair->events[i] = p->event[pair->events[i]];
}
/* The events of a finding of the projection become those of its trace. */
void ladder_lift_events(const struct projection *p, struct finding *f);
/* Publishes the races of `unlifted` that the trace's own checker accepts. Another one sets
 * `refused`, or on a long trace becomes unknown. */
void ladder_lift_races(struct ladder *l);

/* -- ladder_pairs.c: the last rung ---------------------------------------------------------- */

/* Decides the pairs of all variables; until `cancelled`, or `effort` is over. */
void ladder_decide_pairs(struct ladder *l);

#endif
