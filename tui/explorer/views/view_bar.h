/*
 * view_bar.h - the bar of views: every view with its key, the open one marked, in one row that
 * is always there.
 */
#ifndef HEDDLE_VIEW_BAR_H
#define HEDDLE_VIEW_BAR_H

#include "tui/explorer/app.h"

void view_bar_draw(const struct app *app, struct pane row);
/* The request of the view at a column of the bar, or REQUEST_NONE. */
enum request view_bar_at(const struct app *app, int columns, int column);
/* Does a bar of that width show the view's word, not its key alone? */
bool view_bar_names(const struct app *app, int columns, enum request request);

#endif
