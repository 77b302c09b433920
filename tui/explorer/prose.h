/*
 * prose.h - paragraphs that one walks through with a cursor, each about an event: why two
 * events are ordered, a proof, the story of a race.  For a pane, and as plain text for print.
 */
#ifndef HEDDLE_PROSE_H
#define HEDDLE_PROSE_H

#include "tui/explorer/grid.h"
#include "tui/explorer/session.h"

struct prose_row {
	enum style style;
	char *gutter;   /* owned: lanes left of the text, or NULL */
	char *text;     /* owned; wrapped at its own indentation */
	uint32_t event; /* Enter goes there; NONE */
};

/* GArray of struct prose_row; g_array_free. */
GArray *prose_new(void);
void prose_add(GArray *prose, enum style style, uint32_t event, const char *format, ...)
        __attribute__((format(printf, 4, 5)));
/* A chain of events in lanes; where there are too many threads for `columns`, edge by edge. */
void prose_add_chain(GArray *prose, const struct session *s, const GArray *steps, int columns);
/* What has to hold for a pair that cannot race, and that it does not. */
void prose_add_proof(GArray *prose, const struct session *s, const struct proof *proof,
                     int columns);

/* Scroll so that the paragraph under the cursor is seen, whole if it can be. */
void prose_fit(const GArray *prose, struct list *list, int rows, int columns);
void prose_draw(const GArray *prose, const struct list *list, struct pane pane);
/* The list's cursor is set to the paragraph at a row of the pane. */
void prose_select(const GArray *prose, struct list *list, int row, int columns);
/* In lines of `columns`; `ascii`: with stand-ins for all that is not. */
void prose_print(const GArray *prose, int columns, bool ascii, GString *out);

#endif
