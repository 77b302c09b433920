/*
 * drawing.c - DOT and SVG output of graphs in lanes.
 */
#include "engine/base/compare.h"
#include "tui/drawing/drawing.h"

#include <stdlib.h>
#include <string.h>

static void node_clear(gpointer node)
{
	g_free(((struct drawn_node *)node)->label);
}

static void edge_clear(gpointer edge)
{
	g_free(((struct drawn_edge *)edge)->label);
}

void drawing_init(struct drawing *d, const char *title)
{
	d->title = g_strdup(title);
	d->lanes = g_ptr_array_new_with_free_func(g_free);
	d->nodes = g_array_new(FALSE, FALSE, sizeof(struct drawn_node));
	d->edges = g_array_new(FALSE, FALSE, sizeof(struct drawn_edge));
	g_array_set_clear_func(d->nodes, node_clear);
	g_array_set_clear_func(d->edges, edge_clear);
}

void drawing_release(struct drawing *d)
{
	g_free(d->title);
	g_ptr_array_unref(d->lanes);
	g_array_unref(d->nodes);
	g_array_unref(d->edges);
}

uint32_t drawing_node(struct drawing *d, uint32_t lane, uint64_t from, uint64_t to, char *label,
                      bool marked)
{
	struct drawn_node n = { lane, from, to, label, marked };
	g_array_append_val(d->nodes, n);
	return d->nodes->len - 1;
}

void drawing_edge(struct drawing *d, uint32_t from, uint32_t to, char *label, bool marked,
                  bool along)
{
	struct drawn_edge e = { from, to, label, marked, along };
	g_array_append_val(d->edges, e);
}

static const struct drawn_node *node_at(const struct drawing *d, uint32_t i)
{
	return &g_array_index(d->nodes, struct drawn_node, i);
}

static const struct drawn_edge *edge_at(const struct drawing *d, uint32_t i)
{
	return &g_array_index(d->edges, struct drawn_edge, i);
}

/* --- DOT ---------------------------------------------------------------------------- */

static void append_quoted(GString *out, const char *text)
{
	g_autoptr(GString) safe = g_string_new(NULL);
	append_escaped(safe, text, strlen(text));
	g_string_append_c(out, '"');
	for (const char *c = safe->str; *c; c++) {
		if (*c == '"' || *c == '\\')
			g_string_append_c(out, '\\');
		g_string_append_c(out, *c);
	}
	g_string_append_c(out, '"');
}

void drawing_dot(const struct drawing *d, GString *out)
{
	g_string_append(out, "digraph ");
	append_quoted(out, d->title);
	g_string_append(out,
	                " {\n  rankdir=TB;\n  node [shape=box, fontname=\"monospace\"];\n");
	for (guint lane = 0; lane < d->lanes->len; lane++) {
		g_string_append_printf(out, "  subgraph cluster_%u {\n    label=", lane);
		append_quoted(out, d->lanes->pdata[lane]);
		g_string_append(out, ";\n");
		for (guint i = 0; i < d->nodes->len; i++) {
			const struct drawn_node *n = node_at(d, i);
			if (n->lane != lane)
				continue;
			g_string_append_printf(out, "    n%u [label=", i);
			append_quoted(out, n->label);
			g_string_append(out,
			                n->marked ? ", color=red, penwidth=2];\n" : "];\n");
		}
		g_string_append(out, "  }\n");
	}
	for (guint i = 0; i < d->edges->len; i++) {
		const struct drawn_edge *e = edge_at(d, i);
		g_string_append_printf(out, "  n%u -> n%u [", e->from, e->to);
		if (e->label != NULL) {
			g_string_append(out, "label=");
			append_quoted(out, e->label);
			g_string_append(out, ", ");
		}
		g_string_append(out, e->marked  ? "color=red, fontcolor=red, penwidth=2];\n"
		                     : e->along ? "color=gray];\n"
		                                : "color=black];\n");
	}
	g_string_append(out, "}\n");
}

/* --- SVG ---------------------------------------------------------------------------- */

enum { LANE = 260, ROW = 34, TOP = 60, LEFT = 20, BOX = 200, TEXT_ROOM = 27 };

static void append_xml(GString *out, const char *text, size_t room)
{
	g_autoptr(GString) safe = g_string_new(NULL);
	append_escaped(safe, text, strlen(text));
	if (room && g_utf8_strlen(safe->str, -1) > (glong)room) {
		g_string_truncate(safe,
		                  (gsize)(g_utf8_offset_to_pointer(safe->str, (glong)room - 1) -
		                          safe->str));
		g_string_append(safe, "…");
	}
	g_autofree char *escaped = g_markup_escape_text(safe->str, -1);
	g_string_append(out, escaped);
}

/* Rows are the distinct begins and ends of nodes, so that idle time takes no space. */
static GArray *make_rows(const struct drawing *d)
{
	GArray *rows = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	for (guint i = 0; i < d->nodes->len; i++) {
		g_array_append_val(rows, node_at(d, i)->from);
		g_array_append_val(rows, node_at(d, i)->to);
	}
	g_array_sort(rows, compare_u64);
	guint kept = 0;
	for (guint i = 0; i < rows->len; i++)
		if (kept == 0 ||
		    g_array_index(rows, uint64_t, kept - 1) != g_array_index(rows, uint64_t, i))
			g_array_index(rows, uint64_t, kept++) =
			        g_array_index(rows, uint64_t, i);
	g_array_set_size(rows, kept);
	return rows;
}

static int row_y(const GArray *rows, uint64_t event)
{
	const uint64_t *at = bsearch(&event, rows->data, rows->len, sizeof event, compare_u64);
	return TOP + ROW * (int)(at - (const uint64_t *)(void *)rows->data);
}

struct box {
	int x, y, width, height;
};

/* Number of enclosing nodes in the lane, as units nest. */
static int node_depth(const struct drawing *d, uint32_t i)
{
	const struct drawn_node *n = node_at(d, i);
	int depth = 0;
	for (guint k = 0; k < d->nodes->len; k++) {
		const struct drawn_node *m = node_at(d, k);
		depth += m->lane == n->lane && m->to >= n->to &&
		         (m->from < n->from || (m->from == n->from && k < i)) &&
		         m->to > m->from;
	}
	return depth;
}

static struct box node_box(const struct drawing *d, uint32_t i, const GArray *rows)
{
	const struct drawn_node *n = node_at(d, i);
	int y = row_y(rows, n->from), end = row_y(rows, n->to),
	    inset = 10 * MIN(8, node_depth(d, i));
	return (struct box){ LEFT + LANE * (int)n->lane + inset, y, BOX - 2 * inset,
		             end - y + ROW - 10 };
}

static void svg_node(const struct drawing *d, uint32_t i, const GArray *rows, GString *out)
{
	const struct drawn_node *n = node_at(d, i);
	struct box b = node_box(d, i, rows);
	const char *colour = n->marked ? "#c00000" : "#404040";
	g_string_append_printf(out,
	                       "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"4\" "
	                       "fill=\"#f8f8f8\" stroke=\"%s\" stroke-width=\"%d\"/>\n"
	                       "<text x=\"%d\" y=\"%d\">",
	                       b.x, b.y, b.width, b.height, colour, n->marked ? 2 : 1, b.x + 6,
	                       b.y + 16);
	append_xml(out, n->label, TEXT_ROOM);
	g_string_append(out, "</text>\n");
}

static void svg_edge(const struct drawing *d, const struct drawn_edge *e, guint number,
                     const GArray *rows, GString *out)
{
	struct box a = node_box(d, e->from, rows), b = node_box(d, e->to, rows);
	const char *colour = e->marked ? "#c00000" : e->along ? "#b0b0b0" : "#404040";
	bool right = a.x < b.x, same = a.x == b.x;
	int x1 = right || same ? a.x + a.width : a.x, x2 = right ? b.x : b.x + b.width;
	int y1 = a.y + a.height / 2 + (int)(number % 3) * 5,
	    y2 = b.y + 8 + (int)(number % 3) * 5;
	int bend = same ? 40 + (int)(number % 5) * 8 : 0;
	g_string_append_printf(
	        out,
	        "<path d=\"M%d %d C%d %d %d %d %d %d\" fill=\"none\" stroke=\"%s\" "
	        "stroke-width=\"%d\" marker-end=\"url(#%s)\"/>\n",
	        x1, y1, same ? x1 + bend : (x1 + x2) / 2, y1, same ? x2 + bend : (x1 + x2) / 2,
	        y2, x2, y2, colour, e->marked ? 2 : 1, e->marked ? "hot" : "cold");
	if (e->label == NULL)
		return;
	g_string_append_printf(out, "<text x=\"%d\" y=\"%d\" fill=\"%s\">",
	                       same ? x1 + bend / 2 : MIN(x1, x2) + 8, (y1 + y2) / 2 - 3,
	                       colour);
	append_xml(out, e->label, TEXT_ROOM);
	g_string_append(out, "</text>\n");
}

void drawing_svg(const struct drawing *d, GString *out)
{
	g_autoptr(GArray) rows = make_rows(d);
	int width = LEFT * 2 + LANE * MAX(1, (int)d->lanes->len);
	int height = TOP + ROW * ((int)rows->len + 1);
	g_string_append_printf(
	        out,
	        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
	        "font-family=\"monospace\" font-size=\"12\">\n"
	        "<defs>\n"
	        "<marker id=\"cold\" markerWidth=\"8\" markerHeight=\"8\" refX=\"7\" "
	        "refY=\"4\" "
	        "orient=\"auto\"><path d=\"M0 0 L8 4 L0 8 z\" fill=\"#404040\"/></marker>\n"
	        "<marker id=\"hot\" markerWidth=\"8\" markerHeight=\"8\" refX=\"7\" refY=\"4\" "
	        "orient=\"auto\"><path d=\"M0 0 L8 4 L0 8 z\" fill=\"#c00000\"/></marker>\n"
	        "</defs>\n<text x=\"%d\" y=\"20\" font-weight=\"bold\">",
	        width, height, LEFT);
	append_xml(out, d->title, 0);
	g_string_append(out, "</text>\n");
	for (guint lane = 0; lane < d->lanes->len; lane++) {
		g_string_append_printf(out, "<text x=\"%d\" y=\"44\">",
		                       LEFT + LANE * (int)lane);
		append_xml(out, d->lanes->pdata[lane], TEXT_ROOM);
		g_string_append(out, "</text>\n");
	}
	for (guint i = 0; i < d->nodes->len; i++)
		svg_node(d, i, rows, out);
	for (guint i = 0; i < d->edges->len; i++)
		svg_edge(d, edge_at(d, i), i, rows, out);
	g_string_append(out, "</svg>\n");
}
