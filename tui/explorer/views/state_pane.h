/*
 * state_pane.h - the state at an event as rows of text: locks, values, clocks, call stacks. For
 * the State view and, shortened, beside the trace.
 */
#ifndef HEDDLE_STATE_PANE_H
#define HEDDLE_STATE_PANE_H

#include "tui/explorer/app.h"

struct state_row {
	enum style style;
	char *text; /* owned */
	char *tail; /* owned, or NULL: text after it in STYLE_CHANGED */
};

enum state_part {
	STATE_THREADS = 1,
	STATE_STACKS = 2,
	STATE_VALUES = 4,
	STATE_CLOCKS = 8,
	STATE_MEMORY = 16, /* for a run under a memory model (weak_memory.h) */
};

/* Rows for the parts (GArray of struct state_row, freed with g_array_free). */
GArray *state_rows(const struct app *app, unsigned parts, int columns);
void draw_state_rows(struct pane pane, const GArray *rows, uint64_t top);
/* Add access points of the last used object, with clocks (points_pane.c). */
void add_access_points(const struct app *app, GArray *rows);
/* "T1  deposit bank.c:31 ◂ worker bank.c:44" */
void append_stack(const struct app *app, uint32_t event, GString *out);

#endif
