/*
 * state_pane.h - the state at an event, as rows of text: who holds what, values, clocks,
 * call stacks.  Used by the State view and, shortened, beside the trace.
 */
#ifndef HEDDLE_STATE_PANE_H
#define HEDDLE_STATE_PANE_H

#include "tui/explorer/app.h"

struct state_row {
	enum style style;
	char *text; /* owned */
	char *tail; /* owned, or NULL: in STYLE_CHANGED after it */
};

enum state_part { STATE_THREADS = 1, STATE_STACKS = 2, STATE_VALUES = 4, STATE_CLOCKS = 8 };

/* Rows for the parts (GArray of struct state_row, freed with g_array_free). */
GArray *state_rows(const struct app *app, unsigned parts, int columns);
void draw_state_rows(struct pane pane, const GArray *rows, uint64_t top);
/* Access points of the object that was used last, with clocks (points_pane.c). */
void add_access_points(const struct app *app, GArray *rows);
/* "T1  deposit bank.c:31 ◂ worker bank.c:44" */
void append_stack(const struct app *app, uint32_t event, GString *out);

#endif
