/*
 * split.h - where a pane is parted in two, and the borders that the mouse can drag.
 *
 * A view asks split_at for the place of a border, and marks the drawn border with
 * split_border. A border that the user drags keeps its place for the session, in every view
 * with the same division, and in proportion when the screen changes its size.
 */
#ifndef HEDDLE_SPLIT_H
#define HEDDLE_SPLIT_H

#include "tui/explorer/screen/grid.h"

struct app;

enum split {
	SPLIT_LIST,        /* findings over their source */
	SPLIT_SIDES,       /* the sources of both sides of a pair */
	SPLIT_WITNESS,     /* the recorded order beside the witness */
	SPLIT_STATE,       /* the trace beside the state */
	SPLIT_BESIDE,      /* a view that steps beside the source */
	SPLIT_LESSON,      /* a view over the lesson */
	SPLIT_LESSON_SIDE, /* a view beside the lesson */
	SPLIT_RUNS,        /* outcomes or runs over the description of one */
	SPLIT_OUTPUT,      /* the output of both orders */
	SPLIT_COUNT
};

/* Borders of the last screen, and where the user has dragged some. Zero at the start. */
struct splits {
	struct split_place {
		int at, of; /* row or column, and their number; `of` 0: the usual place */
	} places[SPLIT_COUNT];
	bool dragging;
	struct border dragged;
	bool moved; /* moved since the button went down */
};

/* The row or column of the border in a pane of `total`: `usual`, or where the user dragged
 * it; at least `before` and `after` remain on its sides. */
int split_at(const struct app *app, enum split split, int total, int usual, int before,
             int after);
/* Notes the border at that row of this pane, or column when upright. Draws nothing. */
void split_border(struct pane pane, enum split split, int at, bool upright);
/* A button was pressed, moved while down, or released there; true when that concerned a
 * border. A click on a border puts it back. */
bool split_press(struct app *app, int row, int column);
bool split_drag(struct app *app, int row, int column);
bool split_release(struct app *app, int row, int column);

#endif
