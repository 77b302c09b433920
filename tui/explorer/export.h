/*
 * export.h - a finding as a file: Markdown, JSON, a witness, a graph (DOT, SVG); and its
 * replay.
 */
#ifndef HEDDLE_EXPORT_H
#define HEDDLE_EXPORT_H

#include "tui/drawing/drawing.h"
#include "tui/explorer/app.h"

/* Write what is selected, and say where; the suffix of `path` chooses the form, and the reader
 * is asked before another file is overwritten.  With path NULL, a free name by the pair and a
 * form by the view. */
bool export_write(struct app *app, const char *path, struct error *error);
/* Write a text, and say where; the reader is asked before another file is overwritten. */
void export_text(struct app *app, const char *name, const char *text);
/* Ask for `heddle replay` of the selected witness on the program (arguments "": the one that
 * was recorded, after a question where that was elsewhere); the terminal runs it. */
bool export_replay(struct app *app, const char *arguments, struct error *error);

/* What the order view shows, as nodes and edges (view_order.c); false when that is no chain. */
bool order_view_draw(const struct app *app, struct drawing *drawing);
/* The tree of executions, a lane for each depth (view_explore.c); false when there is none. */
bool explore_view_draw(const struct app *app, struct drawing *drawing);

#endif
