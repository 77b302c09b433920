/*
 * fasttrack.c - one pass over a trace that keeps, for each variable, the accesses that later
 * ones may race with (after FastTrack, Flanagan and Freund, PLDI 2009).
 *
 * A cell of 16 bytes holds the last read and the last write with their threads: four cells
 * to a cache line, and for most accesses all that is needed.  An access that is ordered
 * after the one in its place stands for it.  Where two are not ordered, or atomics and
 * plain accesses meet, the variable gets a table with a place for each thread and kind and
 * keeps it.  Times are event ids, so a racy pair is named without looking anything up.
 */
#include "engine/order/causality.h"
#include "engine/predict/pairs.h"

#include <string.h>

struct cell {             /* all zero: not accessed yet */
	uint32_t last[2]; /* read, write: event + 1; 0 none */
	uint16_t thread[2];
	uint32_t table; /* 0 none; or index + 1 of reads; with WHOLE, of tables */
};
_Static_assert(sizeof(struct cell) == 16, "four a cache line");
_Static_assert(OP_READ == 0 && OP_WRITE == 1, "a plain access's operation is its index");

enum { PLAIN_READ, PLAIN_WRITE, ATOMIC_READ, ATOMIC_WRITE, KINDS };

#define WHOLE 0x80000000u

struct stream {
	struct trace *t;
	struct causality *c;       /* NULL for CP: then */
	const struct order *order; /* is asked */
	enum order_kind kind;
	struct cell *cells;
	/* Reads of several threads, while the cell has the write: [threads] each. */
	uint32_t *reads, reads_count, reads_capacity;
	/* Of a variable that needs it all: uint32_t [KINDS * threads]. */
	GPtrArray *tables;
	/*
	 * What each thread knows, [threads * threads], beside the rows that it comes from: a
	 * thread knows all of its own, so that nobody has to ask whose an access is.
	 */
	uint32_t *views, *view_rows;
	uint32_t *scratch; /* a view for one event */
	struct site_races *races;
};

static void race(struct stream *s, uint32_t e1, uint32_t e2, uint32_t variable)
{
	site_races_add(s->races, e1, e2, variable);
}

static const uint32_t *fill_view(struct stream *s, uint32_t *view, const uint32_t *past,
                                 uint32_t thread)
{
	memcpy(view, past, s->t->threads_count * sizeof(uint32_t));
	view[thread] = UINT32_MAX;
	return view;
}

/* -- variables with a table ---------------------------------------------------------------- */

static __attribute__((noinline)) void make_reads(struct stream *s, struct cell *cell)
{
	uint32_t threads = (uint32_t)s->t->threads_count;

	if (s->reads_count == s->reads_capacity) {
		s->reads_capacity = MAX(64, 2 * s->reads_capacity);
		s->reads = g_renew(uint32_t, s->reads, (size_t)s->reads_capacity * threads);
	}
	memset(s->reads + (size_t)s->reads_count * threads, 0, threads * sizeof(uint32_t));
	cell->table = ++s->reads_count;
	s->reads[(size_t)(cell->table - 1) * threads + cell->thread[OP_READ]] =
	        cell->last[OP_READ];
}

static uint32_t *reads_of(const struct stream *s, const struct cell *cell)
{
	return s->reads + (size_t)(cell->table - 1) * s->t->threads_count;
}

static __attribute__((noinline)) void make_whole(struct stream *s, struct cell *cell)
{
	uint32_t threads = (uint32_t)s->t->threads_count;
	uint32_t *places = g_new0(uint32_t, KINDS * threads);

	if (cell->table != 0)
		memcpy(places + PLAIN_READ * threads, reads_of(s, cell),
		       threads * sizeof(uint32_t));
	else
		places[PLAIN_READ * threads + cell->thread[OP_READ]] = cell->last[OP_READ];
	places[PLAIN_WRITE * threads + cell->thread[OP_WRITE]] = cell->last[OP_WRITE];
	g_ptr_array_add(s->tables, places);
	cell->table = s->tables->len | WHOLE;
}

/* The accesses of one kind that are not in the past. */
static void compare(struct stream *s, const uint32_t *places, const uint32_t *view, uint32_t e2,
                    uint32_t variable)
{
	uint32_t any = 0;

	for (uint32_t u = 0; u < s->t->threads_count; u++)
		any |= places[u] > view[u];
	for (uint32_t u = 0; any && u < s->t->threads_count; u++) {
		if (places[u] > view[u])
			race(s, places[u] - 1, e2, variable);
	}
}

static __attribute__((noinline)) void access_whole(struct stream *s, uint32_t *places,
                                                   const uint32_t *view, uint32_t e,
                                                   uint32_t variable)
{
	const struct event *x = &s->t->events[e];
	uint32_t threads = (uint32_t)s->t->threads_count;
	bool writes = op_writes(x->op), atomic = op_is_atomic(x->op);

	compare(s, places + PLAIN_WRITE * threads, view, e, variable);
	if (writes)
		compare(s, places + PLAIN_READ * threads, view, e, variable);
	if (!atomic)
		compare(s, places + ATOMIC_WRITE * threads, view, e, variable);
	if (writes && !atomic)
		compare(s, places + ATOMIC_READ * threads, view, e, variable);
	places[(2 * atomic + writes) * threads + x->thread] = e + 1;
}

/* Reads of several threads, and writes that are all ordered: FastTrack's usual case. */
static inline void access_reads(struct stream *s, struct cell *cell, const uint32_t *view,
                                uint32_t e, uint32_t variable)
{
	const struct event *x = &s->t->events[e];
	uint32_t *reads = reads_of(s, cell);

	if (x->op == OP_READ) {
		reads[x->thread] = e + 1;
		return;
	}
	compare(s, reads, view, e, variable);
	cell->last[OP_WRITE] = e + 1;
	cell->thread[OP_WRITE] = x->thread;
}

static inline void access_table(struct stream *s, struct cell *cell, const uint32_t *view,
                                uint32_t e, uint32_t variable)
{
	bool ordered = view[cell->thread[OP_WRITE]] >= cell->last[OP_WRITE];

	if (!(cell->table & WHOLE)) {
		if (ordered && s->t->events[e].op <= OP_WRITE) {
			if (G_UNLIKELY(cell->table == 0))
				make_reads(s, cell);
			access_reads(s, cell, view, e, variable);
			return;
		}
		make_whole(s, cell);
	}
	access_whole(s, g_ptr_array_index(s->tables, (cell->table & ~WHOLE) - 1), view, e,
	             variable);
}

/* -- variables with a cell ------------------------------------------------------------------
 */

/* A plain access; true when the cell was enough. */
static inline bool access_cell(struct cell *cell, const uint32_t *view, uint32_t thread,
                               uint32_t e, uint32_t op)
{
	/* One branch, that most often goes the same way. */
	if (G_UNLIKELY((cell->table != 0) |
	               (view[cell->thread[OP_WRITE]] < cell->last[OP_WRITE]) |
	               (view[cell->thread[OP_READ]] < cell->last[OP_READ])))
		return false;
	cell->last[op] = e + 1;
	cell->thread[op] = (uint16_t)thread;
	return true;
}

static void access_variables(struct stream *s, uint32_t e, const uint32_t *view)
{
	const struct event *x = &s->t->events[e];
	struct wide run = event_variables(s->t, x);

	for (uint32_t v = run.first; v < run.first + run.count; v++) {
		if (x->op > OP_WRITE || !access_cell(&s->cells[v], view, x->thread, e, x->op))
			access_table(s, &s->cells[v], view, e, v);
	}
}

/* -- the pass -------------------------------------------------------------------------------
 */

static uint32_t *view_of(const struct stream *s, uint32_t thread)
{
	return s->views + (size_t)thread * s->t->threads_count;
}

/* Everything that is no plain access of one variable by a thread that nothing touches. */
static __attribute__((noinline)) void step(struct stream *s, uint32_t e)
{
	const struct event *x = &s->t->events[e];
	const uint32_t *view = view_of(s, x->thread);
	struct clocks *clocks = &s->c->clocks;

	causality_step(s->c, e);
	if (s->view_rows[x->thread] != clocks->now[x->thread]) {
		s->view_rows[x->thread] = clocks->now[x->thread];
		fill_view(s, view_of(s, x->thread), clocks_strong(clocks, x->thread),
		          x->thread);
	}
	if (op_is_access(x->op) && !event_inert(x)) {
		/* SHB's question leaves the access's own observation out. */
		if (s->kind == ORDER_KIND_SHB)
			view = fill_view(s, s->scratch, clocks_row(clocks, s->c->unobserved),
			                 x->thread);
		access_variables(s, e, view);
	}
	if (clocks_crowded(clocks))
		causality_sweep(s->c, NULL, NULL);
}

/*
 * A quiet access (causality.h); false: `step`.  For SHB a read must observe nothing new:
 * where the cell is enough it has the last write, and knows.
 */
static inline __attribute__((always_inline)) bool quick(struct stream *s, uint32_t e,
                                                        const struct event *x, bool observes)
{
	struct cell *cell = &s->cells[x->target];
	const uint32_t *view = view_of(s, x->thread);

	if (!causality_quiet(s->c, e, x))
		return false;
	/* Of branches on what the program happens to do there are as few as can be: one for
	 * the cell, and one on read or write only where they differ. */
	if (!access_cell(cell, view, x->thread, e, x->op)) {
		if (observes && x->op == OP_READ &&
		    !observations_known(s->c, x->target, x->thread))
			return false;
		access_table(s, cell, view, e, x->target);
	}
	if ((observes || s->c->has_atomics) && x->op == OP_WRITE)
		causality_wrote(s->c, e, x);
	return true;
}

enum { TICK = 1 << 20, AHEAD = 16 };

static inline void fetch(const struct stream *s, size_t target)
{
	__builtin_prefetch(&s->cells[target], 1);
	if (s->c->guards != NULL)
		__builtin_prefetch(s->c->guards + target * GUARD_SIZE, 1);
}

static inline __attribute__((always_inline)) bool pass(struct stream *s, bool observes,
                                                       const struct progress *progress)
{
	const struct event *events = s->t->events;
	uint64_t count = s->t->events_count;

	for (uint64_t from = 0; from < count; from += TICK) {
		uint32_t to = (uint32_t)MIN(from + TICK, count);

		if (!progress_tick(progress, (double)from / count, "races by site"))
			return false;
		for (uint32_t e = (uint32_t)from; e < to; e++) {
			/* Cells are met in no order; the branches below hide that from the
			 * processor.  (Of what is no access the
			 * address is wrong, which is harmless.) */
			if (G_LIKELY(e + AHEAD < count))
				fetch(s, events[e + AHEAD].target);
			if (G_UNLIKELY(!quick(s, e, &events[e], observes)))
				step(s, e);
		}
	}
	return true;
}

/* CP is walked as often as it takes; the pass asks the finished order. */
static bool pass_finished(struct stream *s, const struct progress *progress)
{
	for (uint32_t e = 0; e < s->t->events_count; e++) {
		const struct event *x = &s->t->events[e];

		if (e % TICK == 0 &&
		    !progress_tick(progress, (double)e / s->t->events_count, "races by site"))
			return false;
		if (op_is_access(x->op) && !event_inert(x))
			access_variables(s, e,
			                 fill_view(s, s->scratch,
			                           order_past(s->order, e, false), x->thread));
	}
	return true;
}

bool stream_sites(struct trace *t, enum order_kind kind, struct site_races *races,
                  const struct progress *progress)
{
	struct stream s = { .t = t, .kind = kind, .races = races };
	struct order *order = NULL;
	bool done;

	if (kind == ORDER_KIND_CP)
		s.order = order = order_new(t, kind, progress);
	else
		s.c = causality_new(t, kind, KEEP_NOTHING, progress);
	if (s.order == NULL && s.c == NULL)
		return false;
	s.cells = g_new0(struct cell, t->variables_count + 1);
	s.tables = g_ptr_array_new_with_free_func(g_free);
	s.views = g_new0(uint32_t, t->threads_count * t->threads_count + 1);
	s.view_rows = g_new0(uint32_t, t->threads_count + 1);
	s.scratch = g_new0(uint32_t, t->threads_count + 1);
	for (uint64_t u = 0; u < t->threads_count; u++)
		view_of(&s, (uint32_t)u)[u] = UINT32_MAX;
	if (s.c == NULL)
		done = pass_finished(&s, progress);
	else if (kind == ORDER_KIND_SHB)
		done = pass(&s, true, progress);
	else
		done = pass(&s, false, progress);
	g_ptr_array_free(s.tables, TRUE);
	g_free(s.cells);
	g_free(s.reads);
	g_free(s.views);
	g_free(s.view_rows);
	g_free(s.scratch);
	causality_free(s.c);
	order_free(order);
	return done;
}
