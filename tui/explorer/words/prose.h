/*
 * prose.h - paragraphs with a cursor, each on an event: reasons for orders, proofs, stories.
 * For a pane, and as plain text.
 */
#ifndef HEDDLE_PROSE_H
#define HEDDLE_PROSE_H

#include "tui/explorer/app.h"

struct prose_row {
	enum style style;
	char *gutter;   /* owned: lanes left of the text, or NULL */
	char *text;     /* owned; wrapped at its own indentation */
	uint32_t event; /* target of Enter; or NONE */
};

/* GArray of struct prose_row; g_array_free. */
GArray *prose_new(void);
void prose_add(GArray *prose, enum style style, uint32_t event, const char *format, ...)
        __attribute__((format(printf, 4, 5)));
/* Add a chain of events in lanes, or step by step when `columns` are too few. */
void prose_add_chain(GArray *prose, const struct session *s, const GArray *steps, int columns);
/* Add a proof; `needs`: the situation that would need all of its steps. */
#define PROOF_OF_PAIR "A run in which both are about to happen"
void prose_add_proof(GArray *prose, const struct session *s, const struct proof *proof,
                     int columns, const char *needs);

/* Scroll to show the paragraph under the cursor, completely if possible. */
void prose_fit(const GArray *prose, struct list *list, int rows, int columns);
void prose_draw(const GArray *prose, const struct list *list, struct pane pane);
/* Set the cursor to the paragraph at a row of the pane. */
void prose_select(const GArray *prose, struct list *list, int row, int columns);
/* The keys of a view of paragraphs: export, go to the paragraph's event, move the cursor. */
bool prose_request(struct app *app, const GArray *prose, struct list *list,
                   enum request request, uint64_t count);
/* Append the text in lines of `columns`; `ascii`: with ASCII replacements. */
void prose_print(const GArray *prose, int columns, bool ascii, GString *out);

#endif
