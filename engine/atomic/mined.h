/*
 * mined.h - pairs of critical sections that seem meant as one: candidates for violations of
 * atomicity that need no units of work.
 *
 * Of one thread, section A and a later section B (sections: from the first lock that is taken
 * to the last that is given up; and atomic accesses that no lock guards, each by itself), not
 * split by a wait for a condition, not the same code, and without another section of the thread
 * between them that touches the variable.  R is a section of another thread, which starting and
 * joining threads orders neither before A nor behind B.  The rules:
 *
 * - check then act: A reads a variable that B writes; R writes it.  In a run with R between the
 *   two B may find it done: it reads the variable, and writes only others.
 * - read back: A writes a variable that B reads; R writes it.
 * - halves: A writes one variable, B another; R reads both.
 *
 * Whether it makes a difference when R comes between A and B is decided by running the program
 * (engine/harm/serial.h).
 */
#ifndef HEDDLE_MINED_H
#define HEDDLE_MINED_H

#include "engine/finding.h"
#include "engine/trace/index.h"

struct mined_section {
	uint32_t thread, begin, end; /* the acquire, the release; or an atomic access twice */
};
struct mined {
	const char *rule; /* static: "check then act", ... */
	struct mined_section a, b;
	uint32_t begin, end;        /* the unit of work that the two seem to be part of */
	struct mined_section other; /* the other's unit */
	uint32_t variables[2];      /* the variable common to A and the other, and the one
	                             * common to the other and B */
	uint32_t codes[3];          /* the user's places (locations) of A, B and the other */
	uint32_t events[4]; /* the access of A, of the other to its variable; then of the other
	                     * to B's variable, of B */
	bool happened;      /* the other section lies between the two in the recording */
	/* The other section is another thread's check, which found nothing to act on because
	 * this thread had acted; the action between check and section is therefore not
	 * recorded. */
	bool unrecorded;
	/* B finds what it came for done by the other section, which lies between the two, so it
	 * reads the variable (events[3]) and does not write it, as in a map that has the key by
	 * then. Many such are harmless: one is a violation where running the same code shows a
	 * difference. */
	bool done;
};

/* GArray of struct mined, the caller's, in the order of the trace: a few of each code (the
 * places of the three acquires) and rule; at most `limit`, and then *cut. */
GArray *mined_find(const struct trace *t, uint32_t limit, bool *cut);

/* The pair for a cycle of two units: the first unit is divided after its conflicting access,
 * where it holds no lock, and the second unit runs between. False for other cycles, and when
 * it holds one throughout. The trace has INDEX_THREADS. */
bool mined_of_cycle(const struct trace *t, const struct finding *f, struct mined *m);

/* Adds a trace's pairs to a report as candidates, except those that it already has. */
void mined_report(struct trace *t, struct report *r);

/* The finding of kind atomic-set-violation, with the units that the sections lie in. */
struct finding *mined_finding(const struct trace *t, const struct mined *m);

#endif
