/*
 * export.h - findings as files (Markdown, JSON, witness, DOT, SVG), and their replay.
 */
#ifndef HEDDLE_EXPLORER_EXPORT_H
#define HEDDLE_EXPLORER_EXPORT_H

#include "tui/drawing/drawing.h"
#include "tui/explorer/app.h"
#include "tui/explorer/exploration/tree.h"

/* Write the selected finding and print the path; the suffix chooses the form; asks before it
 * overwrites. NULL: a free name by the pair and a form by the view. */
bool export_write(struct app *app, const char *path, struct error *error);
/* Write a text and print the path; asks before it overwrites. */
void export_text(struct app *app, const char *name, const char *text);
/* Request `heddle replay` of the selected witness on the program (arguments "": the recorded
 * one, after a question if recorded elsewhere); the terminal runs it. */
bool export_replay(struct app *app, const char *arguments, struct error *error);
/* The program's command, owned by the caller; NULL and `error`. *foreign: it is known from the
 * trace only, which was recorded elsewhere: ask before it is run. */
char **export_program(const struct session *s, bool *foreign, struct error *error);
/* Ask whether this program may be run; yes calls `yes` with the words (ownership passes). False
 * and `error` when it cannot be shown as a whole. */
bool export_ask(struct app *app, char **program, app_answer *yes, char **words,
                struct error *error);
/* The selected pair's witness as a file's text, owned; NULL and `error`. */
char *export_witness(const struct session *s, struct error *error);
/* NAME, or the first of NAME with .2, .3, ... before its suffix that is free; owned. */
char *export_unused_name(const char *name);

/* The order view's chain as nodes and edges (view_order.c); false when it shows none. */
bool order_view_draw(const struct app *app, struct drawing *drawing);
/* The tree of executions with a lane for each depth (view_explore.c); false without a tree. */
bool explore_view_draw(const struct app *app, struct drawing *drawing);
/* The tree that the view shows, borrowed; NULL: none. */
const struct tree *explore_view_tree(const struct app *app);
/* The trace of its selected run, owned; NULL: it was not kept, or the tree is not open. */
char *explore_view_trace(const struct app *app, uint32_t *run);
/* The end of one of its runs, in words. */
void explore_append_end(const struct tree_run *r, GString *out);

#endif
