/*
 * chain.h - a chain of events, each before the next, in lanes: a column for each thread that
 * takes part, time downwards.  For the screen as rows of text, for files as a drawing.
 *
 * Pure functions of the steps; what a chain means is view_order.c's business.
 */
#ifndef HEDDLE_CHAIN_H
#define HEDDLE_CHAIN_H

#include "tui/drawing/drawing.h"
#include "tui/explorer/session.h"

struct chain_row {
	char *gutter;          /* owned: the lanes; all rows of a chain have the same width */
	char *text;            /* owned: the event, or the rule of the edge */
	uint32_t event;        /* NONE on a row of names */
	bool is_event, across; /* an event; an edge that joins two threads */
};

/* ... and the last one's end the first one's begin? */
bool chain_is_ring(const GArray *steps);
/* The rows of such a chain (struct chain_row, owned by the caller, g_array_free): names, then
 * events and edges in turn.  NULL when there are too many threads for `columns`. */
GArray *chain_rows(const struct session *s, const GArray *steps, int columns);
/* The chain as nodes and edges, added to the drawing, whose lanes are the trace's threads. */
void chain_draw(const struct session *s, const GArray *steps, struct drawing *drawing);

#endif
