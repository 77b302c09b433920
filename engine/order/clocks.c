/*
 * clocks.c - see clocks.h.
 */
#include "engine/order/clocks.h"

#include "engine/base/scattered.h"

#include <string.h>

enum { FIRST_SWEEP = 1 << 12 };

void clocks_init(struct clocks *c, uint32_t threads, uint32_t planes)
{
	*c = (struct clocks){
		.threads = threads, .planes = planes, .count = 1, .capacity = 64
	};
	c->wide = threads >= clocks_wide;
	c->width = c->wide ? planes : MAX(threads, 1) * planes;
	if (c->wide)
		wide_init(&c->nodes, threads);
	else
		c->nodes.sweep_at = UINT32_MAX;
	c->cells = g_new0(uint32_t, (size_t)c->capacity * c->width);
	c->now = g_new0(uint32_t, threads + 1);
	c->made_at = g_new(uint32_t, threads + 1);
	c->joined_at = g_new(uint32_t, threads + 1);
	memset(c->made_at, 255, (threads + 1) * sizeof(uint32_t));
	memset(c->joined_at, 255, (threads + 1) * sizeof(uint32_t));
	c->sweep_at = FIRST_SWEEP;
}

/* A clock of `old`, an array for each plane, with the same number in `c`. */
static void copy_clock(struct clocks *c, const struct clocks *old, uint32_t clock)
{
	const uint32_t *from = clocks_at(old, clock);
	uint32_t *to = c->cells + (size_t)clock * c->width;

	for (uint32_t p = 0; p < c->planes; p++) {
		for (uint32_t u = 0; u < old->threads && !c->wide; u++)
			to[p * c->threads + u] = from[p * old->threads + u];
		for (uint32_t u = 0; u < old->threads && c->wide; u++) {
			uint32_t time = from[p * old->threads + u];

			if (time > 0)
				to[p] = wide_set(&c->nodes, to[p], u, time);
		}
	}
}

void clocks_grow(struct clocks *c, uint32_t threads)
{
	struct clocks old = *c;

	BUG_ON(old.wide); /* trees have a fixed number of threads */
	clocks_init(c, threads, old.planes);
	c->in_place = old.in_place;
	c->capacity = old.capacity;
	c->count = old.count;
	g_free(c->cells);
	c->cells = g_new0(uint32_t, (size_t)c->capacity * c->width);
	for (uint32_t i = 1; i < old.count; i++)
		copy_clock(c, &old, i);
	memcpy(c->now, old.now, old.threads * sizeof(uint32_t));
	memcpy(c->made_at, old.made_at, old.threads * sizeof(uint32_t));
	memcpy(c->joined_at, old.joined_at, old.threads * sizeof(uint32_t));
	c->unused = g_steal_pointer(&old.unused);
	c->unused_count = old.unused_count;
	c->sweep_at = old.sweep_at;
	clocks_release(&old);
}

void clocks_release(struct clocks *c)
{
	g_free(c->cells);
	g_free(c->now);
	g_free(c->made_at);
	g_free(c->joined_at);
	g_free(c->unused);
	g_free(c->marks);
	wide_release(&c->nodes);
	*c = (struct clocks){ 0 };
}

uint32_t clocks_make_room(struct clocks *c)
{
	if (c->count == c->capacity) {
		c->capacity *= 2;
		c->cells = scattered_realloc(c->cells,
		                             (size_t)c->count * c->width * sizeof(uint32_t),
		                             (size_t)c->capacity * c->width * sizeof(uint32_t));
	}
	return c->count++;
}

static void join_plane(uint32_t *to, const uint32_t *a, const uint32_t *b, uint32_t threads)
{
	for (uint32_t u = 0; u < threads; u++)
		to[u] = MAX(a[u], b[u]);
}

/* The source's plane 0 and last plane, as in clocks_join, into a new clock of `to`. */
static void join_wide(struct clocks *c, uint32_t to, uint32_t at, uint32_t from_thread,
                      struct edge_source from, bool base)
{
	uint32_t known[2], other[2], last = c->planes - 1;

	memcpy(known, clocks_at(c, c->now[to]), c->planes * sizeof(uint32_t));
	memcpy(other, clocks_at(c, from.clock), c->planes * sizeof(uint32_t));
	if (c->made_at[to] != at)
		c->now[to] = clocks_new(c);
	uint32_t *clock = c->cells + (size_t)c->now[to] * c->width;
	clock[0] = wide_set(&c->nodes, wide_join(&c->nodes, known[0], other[0]), from_thread,
	                    from.event + 1);
	if (last == 0)
		return;
	clock[1] = wide_join(&c->nodes, known[1], base ? other[0] : other[1]);
	if (base)
		clock[1] = wide_set(&c->nodes, clock[1], from_thread, from.event + 1);
}

bool clocks_join(struct clocks *c, uint32_t to, uint32_t at, uint32_t from_thread,
                 struct edge_source from, bool base)
{
	uint32_t threads = c->threads, old = c->now[to];
	const uint32_t *known, *other;
	uint32_t *clock;

	/* Joins are transitive: a clock that covers an event covers the event's clock, in plane
	 * 1 too. */
	if ((base ? clocks_strong_time : clocks_time)(c, old, from_thread) > from.event)
		return false;
	if (c->wide) {
		join_wide(c, to, at, from_thread, from, base);
		c->made_at[to] = c->joined_at[to] = at;
		return true;
	}
	if (c->in_place ? c->made_at[to] == NONE : c->made_at[to] != at)
		c->now[to] = clocks_new(c);
	c->made_at[to] = c->joined_at[to] = at;
	clock = c->cells + (size_t)c->now[to] * c->width;
	known = clocks_at(c, old);
	other = clocks_at(c, from.clock);
	join_plane(clock, known, other, threads);
	clock[from_thread] = MAX(clock[from_thread], from.event + 1);
	if (c->planes == 1)
		return true;
	clock += threads;
	join_plane(clock, known + threads, base ? other : other + threads, threads);
	if (base)
		clock[from_thread] = MAX(clock[from_thread], from.event + 1);
	return true;
}

uint32_t clocks_joined(struct clocks *c, const struct sync_point *points, uint32_t count)
{
	uint32_t made = clocks_new(c), root = 0;
	uint32_t *clock = c->cells + (size_t)made * c->width;

	BUG_ON(c->planes != 1);
	for (uint32_t i = 0; i < count && c->wide; i++)
		root = wide_set(&c->nodes,
		                wide_join(&c->nodes, root, clocks_at(c, points[i].clock)[0]),
		                points[i].thread, points[i].event + 1);
	if (c->wide) {
		clock[0] = root;
		return made;
	}
	memset(clock, 0, c->width * sizeof *clock);
	for (uint32_t i = 0; i < count; i++) {
		join_plane(clock, clock, clocks_at(c, points[i].clock), c->threads);
		clock[points[i].thread] = MAX(clock[points[i].thread], points[i].event + 1);
	}
	return made;
}

/* Has the first clock all that the second has? */
static bool covers(const struct clocks *c, const uint32_t *known, const uint32_t *other)
{
	bool all = true;

	for (uint32_t u = 0; u < c->threads && all; u++)
		all = known[u] >= other[u];
	return all;
}

static uint32_t clock_of_nothing(struct clocks *c)
{
	uint32_t made = clocks_new(c);

	memset(c->cells + (size_t)made * c->width, 0, c->width * sizeof(uint32_t));
	return made;
}

/* Adds plane 0 of another clock to that of `to`. */
static void add_clock(struct clocks *c, uint32_t to, uint32_t other)
{
	uint32_t *clock = c->cells + (size_t)to * c->width;

	if (c->wide)
		clock[0] = wide_join(&c->nodes, clock[0], clocks_at(c, other)[0]);
	else
		join_plane(clock, clock, clocks_at(c, other), c->threads);
}

static void add_point(struct clocks *c, uint32_t to, const struct sync_point *point)
{
	uint32_t *clock = c->cells + (size_t)to * c->width, u = point->thread;

	add_clock(c, to, point->clock);
	if (c->wide)
		clock[0] = wide_set(&c->nodes, clock[0], u, point->event + 1);
	else
		clock[u] = MAX(clock[u], point->event + 1);
}

void clocks_joined_others(struct clocks *c, const struct sync_point *points, uint32_t count,
                          uint32_t *made)
{
	/* those after it, and then those before it */
	for (uint32_t i = count; i-- > 0;) {
		made[i] = clock_of_nothing(c);
		if (i + 1 == count)
			continue;
		add_clock(c, made[i], made[i + 1]);
		add_point(c, made[i], &points[i + 1]);
	}
	made[count] = clock_of_nothing(c);
	for (uint32_t i = 0; i < count; i++) {
		add_clock(c, made[i], made[count]);
		add_point(c, made[count], &points[i]);
	}
}

void clocks_give_back(struct clocks *c, const uint32_t *clocks, uint32_t count)
{
	c->unused = g_renew(uint32_t, c->unused, c->count);
	for (uint32_t i = 0; i < count; i++)
		c->unused[c->unused_count++] = clocks[i];
}

bool clocks_join_joined(struct clocks *c, uint32_t to, uint32_t at, uint32_t clock)
{
	uint32_t old = c->now[to], last = c->planes - 1, roots[2] = { 0, 0 };

	if (c->wide) {
		for (uint32_t i = 0; i < c->planes; i++)
			roots[i] = wide_join(&c->nodes, clocks_at(c, old)[i],
			                     clocks_at(c, clock)[0]);
		if (roots[last] == clocks_at(c, old)[last])
			return false;
	} else if (covers(c, clocks_at(c, old) + last * c->threads, clocks_at(c, clock))) {
		return false;
	}
	if (c->in_place ? c->made_at[to] == NONE : c->made_at[to] != at)
		c->now[to] = clocks_new(c);
	c->made_at[to] = c->joined_at[to] = at;
	uint32_t *made = c->cells + (size_t)c->now[to] * c->width;
	for (uint32_t i = 0; i < c->planes; i++) {
		size_t plane = (size_t)i * c->threads;

		if (c->wide)
			made[i] = roots[i];
		else
			join_plane(made + plane, clocks_at(c, old) + plane, clocks_at(c, clock),
			           c->threads);
	}
	return true;
}

void clocks_join_into(const struct clocks *c, uint32_t clock, uint32_t *to)
{
	struct clock_view v = clocks_view(c, clock);

	if (c->wide) {
		wide_join_into(v.nodes, v.root, 0, to);
		return;
	}
	for (uint32_t u = 0; u < c->threads; u++)
		to[u] = MAX(to[u], v.times[u]);
}

void clocks_sweep_begin(struct clocks *c)
{
	g_free(c->marks);
	c->marks = g_new0(uint8_t, c->count);
	c->marks[0] = 1;
	c->marked = 0;
	for (uint32_t t = 0; t < c->threads; t++)
		c->marks[c->now[t]] = 1;
}

void clocks_sweep_end(struct clocks *c)
{
	c->unused = g_renew(uint32_t, c->unused, c->count);
	c->unused_count = 0;
	for (uint32_t clock = c->count; clock-- > 0;) {
		if (!c->marks[clock])
			c->unused[c->unused_count++] = clock;
	}
	/* The next sweep comes after as many new clocks as this one has looked at: amortised
	 * constant. */
	c->sweep_at = MAX(MAX(FIRST_SWEEP, c->marked), 2 * (c->count - c->unused_count));
	if (c->wide) {
		wide_sweep_begin(&c->nodes);
		for (uint32_t i = 0; i < c->count; i++) {
			for (uint32_t p = 0; c->marks[i] && p < c->planes; p++)
				wide_mark(&c->nodes, clocks_at(c, i)[p]);
		}
		wide_sweep_end(&c->nodes);
		c->nodes.sweep_at = MAX(c->nodes.sweep_at, c->marked);
	}
	g_free(c->marks);
	c->marks = NULL;
}
