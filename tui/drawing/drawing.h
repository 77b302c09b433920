/*
 * drawing.h - a graph with a column for each thread and time downwards, as DOT or SVG text.
 * Graphviz is not linked (its licence is incompatible with readline's).
 */
#ifndef HEDDLE_DRAWING_H
#define HEDDLE_DRAWING_H

#include "engine/base/base.h"

struct drawn_node {
	uint32_t lane;     /* column */
	uint64_t from, to; /* rows: events */
	char *label;       /* owned */
	bool marked;
};
struct drawn_edge {
	uint32_t from, to;  /* nodes */
	char *label;        /* owned; or NULL */
	bool marked, along; /* along: program order, without label */
};
/* drawing_init, drawing_release. */
struct drawing {
	char *title;
	GPtrArray *lanes; /* char *, owned: names of the columns */
	GArray *nodes;    /* struct drawn_node, by `from` */
	GArray *edges;    /* struct drawn_edge */
};
void drawing_init(struct drawing *d, const char *title);
void drawing_release(struct drawing *d);
uint32_t drawing_node(struct drawing *d, uint32_t lane, uint64_t from, uint64_t to, char *label,
                      bool marked);
void drawing_edge(struct drawing *d, uint32_t from, uint32_t to, char *label, bool marked,
                  bool along);
void drawing_dot(const struct drawing *d, GString *out);
void drawing_svg(const struct drawing *d, GString *out);

#endif
