/*
 * clocks.c - see clocks.h.
 */
#include "engine/order/clocks.h"

#include "engine/base/scattered.h"

#include <string.h>

enum { FIRST_SWEEP = 1 << 12 };

void clocks_init(struct clocks *c, uint32_t threads, uint32_t planes)
{
	*c = (struct clocks){ .threads = threads, .planes = planes, .rows = 1, .capacity = 64 };
	c->width = MAX(threads, 1) * planes;
	c->cells = g_new0(uint32_t, (size_t)c->capacity * c->width);
	c->now = g_new0(uint32_t, threads + 1);
	c->made_at = g_new(uint32_t, threads + 1);
	c->told_at = g_new(uint32_t, threads + 1);
	memset(c->made_at, 255, (threads + 1) * sizeof(uint32_t));
	memset(c->told_at, 255, (threads + 1) * sizeof(uint32_t));
	c->crowded = FIRST_SWEEP;
}

void clocks_release(struct clocks *c)
{
	g_free(c->cells);
	g_free(c->now);
	g_free(c->made_at);
	g_free(c->told_at);
	g_free(c->free_rows);
	g_free(c->marks);
	*c = (struct clocks){ 0 };
}

uint32_t clocks_make_room(struct clocks *c)
{
	if (c->rows == c->capacity) {
		c->capacity *= 2;
		c->cells = scattered_realloc(c->cells,
		                             (size_t)c->rows * c->width * sizeof(uint32_t),
		                             (size_t)c->capacity * c->width * sizeof(uint32_t));
	}
	return c->rows++;
}

static void join_plane(uint32_t *to, const uint32_t *a, const uint32_t *b, uint32_t threads)
{
	for (uint32_t u = 0; u < threads; u++)
		to[u] = MAX(a[u], b[u]);
}

bool clocks_join(struct clocks *c, uint32_t to, uint32_t at, uint32_t from_thread,
                 struct point from, bool base)
{
	uint32_t threads = c->threads, old = c->now[to];
	const uint32_t *known = clocks_row(c, old), *other;
	uint32_t *row;

	/* Whoever knows an event knows all that the event knew; in plane 1 too. */
	if (known[from_thread + (base ? (c->planes - 1) * threads : 0)] > from.event)
		return false;
	if (c->in_place ? c->made_at[to] == NONE : c->made_at[to] != at)
		c->now[to] = clocks_row_new(c);
	c->made_at[to] = c->told_at[to] = at;
	row = c->cells + (size_t)c->now[to] * c->width;
	known = clocks_row(c, old);
	other = clocks_row(c, from.row);
	join_plane(row, known, other, threads);
	row[from_thread] = MAX(row[from_thread], from.event + 1);
	if (c->planes == 1)
		return true;
	row += threads;
	join_plane(row, known + threads, base ? other : other + threads, threads);
	if (base)
		row[from_thread] = MAX(row[from_thread], from.event + 1);
	return true;
}

void clocks_sweep_begin(struct clocks *c)
{
	g_free(c->marks);
	c->marks = g_new0(uint8_t, c->rows);
	c->marks[0] = 1;
	c->marked = 0;
	for (uint32_t t = 0; t < c->threads; t++)
		c->marks[c->now[t]] = 1;
}

void clocks_sweep_end(struct clocks *c)
{
	c->free_rows = g_renew(uint32_t, c->free_rows, c->rows);
	c->free_count = 0;
	for (uint32_t row = c->rows; row-- > 0;) {
		if (!c->marks[row])
			c->free_rows[c->free_count++] = row;
	}
	/* As many may be made before the next sweep as this one has looked at: its cost is
	 * spread over them. */
	c->crowded = MAX(MAX(FIRST_SWEEP, c->marked), 2 * (c->rows - c->free_count));
	g_free(c->marks);
	c->marks = NULL;
}
