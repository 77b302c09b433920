/*
 * view_findings.h - shared parts of the list of findings: its state and keys (view_findings.c),
 * its words and its drawing (findings_draw.c).
 */
#ifndef HEDDLE_VIEW_FINDINGS_H
#define HEDDLE_VIEW_FINDINGS_H

#include "tui/explorer/app.h"
#include "tui/explorer/folders.h"

enum column { COLUMN_VERDICT, COLUMN_PLACE, COLUMN_VARIABLE, COLUMN_COUNT, COLUMNS };

/* Verdicts that are listed: those that can or may happen, all, races alone. */
enum listed { LISTED_POSSIBLE, LISTED_ALL, LISTED_RACES, LISTED_COUNT };

struct findings {
	struct list list;
	GArray *shown;          /* int: indexes of session.entries */
	struct folders folders; /* and the lines of the list */
	char *folder;           /* owned: the name of the folder under the cursor; NULL: none */
	char *filter;           /* owned, or NULL */
	enum column sort;
	enum listed listed;
	bool chosen;    /* by the user */
	guint left_out; /* number of findings proved impossible, and not shown */
	guint behind;   /* those of them whose proof depends on racy reads (finding.behind) */
	bool hide_marked, reverse;
	GHashTable *picked;       /* const struct entry *: selected to be marked together */
	const struct entry *held; /* kept for a comparison with another; or NULL */
	int widest;               /* columns of the longest variable shown */
	bool touched;             /* the user has moved: new findings keep the selection */
};

/* The kind in a word, which says when a race needs the memory model. */
const char *findings_kind_of(const struct finding *f);
const char *findings_kind_word(enum finding_kind kind);
/* In the column of the list: only races are called "race"; a schedule of another kind is
 * "checked". */
const char *findings_verdict_word(const struct finding *f, enum verdict verdict);
/* From 0, the worst. */
int findings_verdict_rank(enum verdict verdict);

/* Of the view; `state` is a struct findings. */
void findings_fit(struct app *app, void *state, int rows, int columns);
void findings_draw(const struct app *app, const void *state, struct pane p);

#endif
