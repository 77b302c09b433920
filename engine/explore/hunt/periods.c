/* periods.c - see periods.h. */
#include "engine/explore/hunt/periods.h"

#include "engine/base/hash.h"
#include "engine/base/random.h"
#include "engine/record/layout.h"
#include "engine/trace/index.h"

enum {
	REPEATED = 16, /* consecutive schedules drawn before, after which the bound counts as
	                * exhausted */
	MOST_MORE = 12 /* most periods beyond one for each thread */
};

struct periods {
	GPtrArray *points; /* by thread (its number in the runtime): GArray of uint32_t, the
	                    * events that it has made before each, or NULL */
	GHashTable *drawn; /* digests of schedules */
	unsigned more;     /* the present bound: periods beyond one for each thread */
};

static void free_points(void *data)
{
	if (data)
		g_array_unref(data);
}

struct periods *periods_new(void)
{
	struct periods *p = g_new0(struct periods, 1);
	p->points = g_ptr_array_new_with_free_func(free_points);
	p->drawn = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	return p;
}

void periods_free(struct periods *p)
{
	if (p == NULL)
		return;
	g_ptr_array_unref(p->points);
	g_hash_table_unref(p->drawn);
	g_free(p);
}

bool periods_known(const struct periods *p)
{
	return p->points->len > 0;
}

/* -- key points --------------------------------------------------------------------------- */

static bool is_point(const struct event *e)
{
	return op_is_access(e->op) || op_acquires(e->op) || e->op == OP_WAIT ||
	       e->op == OP_SIGNAL || e->op == OP_BROADCAST || e->op == OP_POST;
}

/* Marks the events at which only one thread is alive. */
static bool *mark_alone(const struct trace *t)
{
	bool *alone = g_new(bool, t->events_count + 1);
	int64_t others = 0;
	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *event = &t->events[e];
		others -= event->op == OP_JOIN;
		alone[e] = others <= 0;
		others += event->op == OP_FORK;
	}
	return alone;
}

/* Marks events of one place that several threads access, and one changes, when no lock is
 * held at all of them. */
static void mark(const struct trace *t, struct event_list list, const uint64_t *held,
                 const bool *alone, bool *marks)
{
	bool several = false, changed = false;
	uint64_t common = UINT64_MAX;
	uint32_t thread = NONE;
	for (uint64_t i = 0; i < list.count; i++) {
		const struct event *e = &t->events[list.items[i]];
		if (alone[list.items[i]])
			continue;
		several |= thread != NONE && e->thread != thread;
		thread = e->thread;
		changed |= !op_is_access(e->op) || op_writes(e->op);
		common &= op_is_access(e->op) ? held[list.items[i]] : 0;
	}
	for (uint64_t i = 0; several && changed && common == 0 && i < list.count; i++)
		marks[list.items[i]] =
		        !alone[list.items[i]] && is_point(&t->events[list.items[i]]);
}

void periods_learn(struct periods *p, const struct trace *t, const uint32_t *number,
                   const uint64_t *held)
{
	bool *marks = g_new0(bool, t->events_count + 1), *alone = mark_alone(t);
	GPtrArray *points = g_ptr_array_new_with_free_func(free_points);
	for (uint32_t v = 0; v < t->variables_count; v++)
		mark(t, event_list_at(&t->index->variable_events, v), held, alone, marks);
	for (uint32_t o = 0; o < t->objects_count; o++)
		mark(t, event_list_at(&t->index->object_events, o), held, alone, marks);
	for (uint32_t e = 0; e < t->events_count; e++) {
		uint32_t thread = t->threads[t->events[e].thread].recorded;
		if (thread >= LOG_THREADS)
			continue;
		if (thread >= points->len)
			g_ptr_array_set_size(points, (gint)thread + 1);
		GArray **mine = (GArray **)&points->pdata[thread];
		if (*mine == NULL)
			*mine = g_array_new(FALSE, FALSE, sizeof(uint32_t));
		if (marks[e] && number[e] != UINT32_MAX)
			g_array_append_val(*mine, number[e]);
	}
	/* a thread with more key points in this run than before */
	if (points->len > p->points->len)
		g_ptr_array_set_size(p->points, (gint)points->len);
	for (guint u = 0; u < points->len; u++) {
		GArray *was = p->points->pdata[u], *is = points->pdata[u];
		if (is == NULL || (was != NULL && was->len >= is->len))
			continue;
		free_points(was);
		p->points->pdata[u] = g_steal_pointer(&points->pdata[u]);
		p->more = 0; /* its schedules were not drawn */
	}
	g_ptr_array_unref(points);
	g_free(alone);
	g_free(marks);
}

/* -- schedules ---------------------------------------------------------------------------- */

/* Draws the number of cuts in each thread: `more` in all, in threads with key points. */
static void draw_cuts(const struct periods *p, unsigned more, unsigned *cuts, uint64_t *random)
{
	uint64_t all = 0;
	for (guint u = 0; u < p->points->len; u++)
		all += p->points->pdata[u] ? ((GArray *)p->points->pdata[u])->len : 0;
	for (unsigned i = 0; i < more && all > 0; i++) {
		uint64_t n = random_below(random, all);
		guint u = 0;
		for (;; u++) {
			uint64_t here =
			        p->points->pdata[u] ? ((GArray *)p->points->pdata[u])->len : 0;
			if (n < here)
				break;
			n -= here;
		}
		cuts[u]++;
	}
}

static int compare_numbers(const void *p, const void *q)
{
	uint32_t a = *(const uint32_t *)p, b = *(const uint32_t *)q;
	return (a > b) - (a < b);
}

/* The periods of all threads, in random order; each thread's in their order. */
static GArray *draw_schedule(const struct periods *p, unsigned more, uint64_t *random)
{
	GArray *turns = g_array_new(FALSE, FALSE, sizeof(struct log_turn));
	unsigned *cuts = g_new0(unsigned, p->points->len);
	uint32_t *next = g_new0(uint32_t, p->points->len), ends[MOST_MORE];
	draw_cuts(p, more, cuts, random);
	for (guint u = 0; u < p->points->len; u++)
		for (unsigned i = 0; p->points->pdata[u] && i <= cuts[u]; i++)
			g_array_append_val(turns, ((struct log_turn){ u, UINT32_MAX }));
	for (guint i = turns->len; i > 1; i--) {
		struct log_turn *a = &g_array_index(turns, struct log_turn, i - 1);
		struct log_turn *b =
		        &g_array_index(turns, struct log_turn, random_below(random, i));
		struct log_turn other = *a;
		*a = *b;
		*b = other;
	}
	for (guint u = 0; u < p->points->len; u++) {
		const GArray *points = p->points->pdata[u];
		for (unsigned i = 0; i < cuts[u]; i++)
			ends[i] = g_array_index(points, uint32_t,
			                        random_below(random, points->len));
		qsort(ends, cuts[u], sizeof *ends, compare_numbers);
		for (guint i = 0; i < turns->len; i++) {
			struct log_turn *turn = &g_array_index(turns, struct log_turn, i);
			if (turn->thread == u && next[u] < cuts[u])
				turn->until = ends[next[u]++];
		}
	}
	g_free(cuts);
	g_free(next);
	return turns;
}

static uint64_t digest_of(const GArray *turns)
{
	uint64_t digest = 0;
	for (guint i = 0; i < turns->len; i++) {
		const struct log_turn *t = &g_array_index(turns, struct log_turn, i);
		digest = hash_join(digest, hash_pair(t->thread, t->until));
	}
	return digest;
}

/* Every second schedule has a higher bound, as one bound with many schedules would take all. */
GArray *periods_draw(struct periods *p, uint64_t *random)
{
	for (;;) {
		unsigned more = p->more;
		while (more < MOST_MORE && random_below(random, 2))
			more++;
		for (unsigned tries = 0; tries < REPEATED; tries++) {
			GArray *turns = draw_schedule(p, more, random);
			uint64_t digest = digest_of(turns);
			if (g_hash_table_add(p->drawn, g_memdup2(&digest, sizeof digest)))
				return turns;
			if (p->more == MOST_MORE && tries + 1 == REPEATED)
				return turns;
			g_array_unref(turns);
		}
		if (more == p->more)
			p->more = MIN(more + 1, MOST_MORE);
	}
}
