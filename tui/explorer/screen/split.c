/* split.c - see split.h. */
#include "tui/explorer/screen/split.h"

#include "tui/explorer/app.h"

int split_at(const struct app *app, enum split split, int total, int usual, int before,
             int after)
{
	const struct split_place *s = &app->splits.places[split];
	int at = s->of == 0       ? usual
	         : s->of == total ? s->at
	                          : (int)((long)s->at * total / s->of);
	return s->of == 0 || total - 1 - after < before ? usual
	                                                : CLAMP(at, before, total - 1 - after);
}

void split_border(struct pane p, enum split split, int at, bool upright)
{
	struct grid *g = p.grid;
	int rows = MIN(p.rows, g->rows - p.row),
	    columns = MIN(p.columns, g->columns - p.column);
	if (g->border_count == BORDERS || at < 0 || at >= (upright ? columns : rows))
		return;
	g->borders[g->border_count++] =
	        (struct border){ .which = (int)split,
		                 .upright = upright,
		                 .row = upright ? p.row : p.row + at,
		                 .column = upright ? p.column + at : p.column,
		                 .length = upright ? rows : columns,
		                 .begin = upright ? p.column : p.row,
		                 .total = upright ? columns : rows };
}

static const struct border *border_at(const struct grid *g, int row, int column)
{
	for (int i = 0; i < g->border_count; i++) {
		const struct border *b = &g->borders[i];
		int along = b->upright ? row - b->row : column - b->column;
		if ((b->upright ? column == b->column : row == b->row) && along >= 0 &&
		    along < b->length)
			return b;
	}
	return NULL;
}

bool split_press(struct app *app, int row, int column)
{
	const struct border *b = border_at(&app->grid, row, column);
	app->splits.dragging = b != NULL;
	app->splits.moved = false;
	if (b)
		app->splits.dragged = *b;
	return b != NULL;
}

bool split_drag(struct app *app, int row, int column)
{
	const struct border *b = &app->splits.dragged;
	if (!app->splits.dragging)
		return false;
	int at = (b->upright ? column : row) - b->begin;
	int was = (b->upright ? b->column : b->row) - b->begin;
	if (at == was && !app->splits.moved)
		return true;
	app->splits.moved = true;
	app->splits.places[b->which] =
	        (struct split_place){ CLAMP(at, 0, b->total - 1), b->total };
	return true;
}

bool split_release(struct app *app, int row, int column)
{
	if (!split_drag(app, row, column))
		return false;
	if (!app->splits.moved)
		app->splits.places[app->splits.dragged.which] = (struct split_place){ 0 };
	app->splits.dragging = false;
	return true;
}
