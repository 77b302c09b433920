/*
 * decisions.h - the reads and writes of the units of a cycle, event by event, in the order of
 * the run or of the witness; and where a unit wrote after it had read a value that was old by
 * then.
 */
#ifndef HEDDLE_DECISIONS_H
#define HEDDLE_DECISIONS_H

#include "tui/explorer/session.h"

struct decision {
	uint32_t event;
	guint unit; /* index of finding.units */
	char *text; /* owned: "free_seats reads 10" */
	char *old;  /* owned: the error of a write, "it had read 10, which is old"; or NULL */
};
/* GArray of struct decision, owned by the caller: the accesses of the units to the variables
 * of the finding's edges. Reads of a value that the unit has seen before, and those that
 * belong to a write right behind them, are left out, unless an edge names them. Of very long
 * units only the edges' events. */
GArray *decisions_of(const struct session *s, const struct finding *f);

#endif
