/*
 * chain.h - a chain of ordered events with a column for each thread and time downwards, as rows
 * of text for the screen or as a drawing for files.
 */
#ifndef HEDDLE_EXPLORER_CHAIN_H
#define HEDDLE_EXPLORER_CHAIN_H

#include "tui/drawing/drawing.h"
#include "tui/explorer/session.h"

struct chain_row {
	char *gutter;          /* owned: the lanes, equally wide in all rows */
	char *text;            /* owned: the event, or the rule of the edge */
	uint32_t event;        /* NONE on a row of names */
	bool is_event, across; /* an event; an edge that joins two threads */
};

/* Does the last step end where the first begins? */
bool chain_is_ring(const GArray *steps);
/* Rows of such a chain (struct chain_row, owned by the caller, g_array_free): names, then
 * events and edges alternately. NULL when `columns` are too few for the threads. */
GArray *chain_rows(const struct session *s, const GArray *steps, int columns);
/* Add the chain to a drawing whose lanes are the trace's threads. */
void chain_draw(const struct session *s, const GArray *steps, struct drawing *drawing);

#endif
