/*
 * frame.h - the frame around the body of a view: title, bar of views, hints, last line; and the
 * parts of the screen, by which a click is understood.
 */
#ifndef HEDDLE_FRAME_H
#define HEDDLE_FRAME_H

#include "tui/explorer/app.h"

/* Draws the whole screen into app->grid. */
void frame_draw(struct app *app);
/* The title, the bar of views (not on a projector), and on a tall screen a rule with the work
 * in progress. */
int frame_header_rows(const struct app *app);
/* The body with the lesson, in lines. */
struct pane frame_body(const struct app *app);
/* On a projector every line has two rows, where enough lines are left. */
int frame_rows_of_a_line(const struct app *app);
/* From 120 columns on, the source stands at the right of views that step; its columns, or 0. */
int frame_beside_columns(const struct app *app, struct pane body);

#endif
