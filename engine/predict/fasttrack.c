/*
 * fasttrack.c - one pass over a trace that keeps, for each variable, the accesses that later
 * ones may race with (after FastTrack, Flanagan and Freund, PLDI 2009).
 *
 * A cell of 16 bytes holds the last read and the last write: four cells to a cache line, and
 * for most accesses all that is needed.  An access that is ordered after the one in its place
 * stands for it.  Where two are not ordered, or atomics and plain accesses
 * meet, the variable gets a table with a place for each thread and kind and keeps it.  Times
 * are event ids, so a racy pair is named without looking anything up.
 */
#include "engine/base/scattered.h"
#include "engine/order/causality.h"
#include "engine/predict/pairs.h"

#include <string.h>

/*
 * All zero: not accessed yet.  A variable with a table has for its last read the table's place
 * instead of an event and a thread that there is not: MANY where the table is for its reads,
 * whose events a read has no need to know, so all know them; WHOLE where it is for all
 * accesses, whose events nobody knows.  So the one question whether the last accesses
 * are known is the right one for the tables too, but for a write after many reads.  The last
 * write is always there.
 */
union last {
	stamp stamp; /* for who looks at one as a whole (observations_lend) */
	struct {
		uint32_t thread;
		uint32_t time; /* one more than the event */
	};
};
struct cell {
	union last last[2]; /* read, write */
};
_Static_assert(sizeof(struct cell) == 16, "four a cache line");
_Static_assert(OP_READ == 0 && OP_WRITE == 1, "a plain access's operation is its index");

enum { PLAIN_READ, PLAIN_WRITE, ATOMIC_READ, ATOMIC_WRITE, KINDS };

/* Threads that there are not: with what number beyond the threads. */
enum { MANY, WHOLE };

/* So many times the compiler compares in few instructions. */
enum { STEP = 8 };
struct tables { /* numbers in one array, which begins where a cache line does */
	uint32_t *times;
	uint64_t count, capacity;
};

struct stream {
	struct trace *t;
	struct causality *c;       /* NULL for CP: then */
	const struct order *order; /* is asked */
	enum order_kind kind;
	struct cell *cells;
	uint32_t threads;
	uint32_t width; /* the same in whole steps of STEP; what is above stays 0 */
	/* Reads of several threads, while the cell has the write: [width] each. */
	struct tables many;
	/* Of a variable that needs it all: [KINDS][width]. */
	struct tables whole;
	bool atomics; /* an atomic access has come */
	/*
	 * By thread what it knows, a copy of what the clocks have: [width + STEP] each, the
	 * largest time of each thread; all of its own, so that nobody has to ask whose an
	 * access is.  Above are the threads that there are not.
	 */
	uint32_t **views;
	uint32_t *scratch; /* a view for one event */
	struct site_races *races;
};

static void race(struct stream *s, uint32_t e1, uint32_t e2, uint32_t variable)
{
	site_races_add(s->races, e1, e2, variable);
}

static const uint32_t *fill_view(const struct stream *s, uint32_t *view, const uint32_t *past,
                                 uint32_t thread)
{
	memcpy(view, past, s->threads * sizeof(uint32_t));
	view[thread] = UINT32_MAX;
	view[s->width + MANY] = UINT32_MAX;
	view[s->width + WHOLE] = 0;
	return view;
}

static inline bool knows(const uint32_t *view, union last access)
{
	return access.time <= view[access.thread];
}

/* -- variables with a table ---------------------------------------------------------------- */

static inline bool has_table(const struct stream *s, const struct cell *cell, uint32_t kind)
{
	return cell->last[OP_READ].thread == s->width + kind;
}

static inline uint32_t *reads_of(const struct stream *s, const struct cell *cell)
{
	return s->many.times + (cell->last[OP_READ].time - 1);
}

static inline uint32_t *whole_of(const struct stream *s, const struct cell *cell)
{
	return s->whole.times + (cell->last[OP_READ].time - 1);
}

/* Room for one more table, all zero: where it begins. */
static uint32_t table_new(struct tables *of, uint32_t numbers)
{
	uint32_t at = (uint32_t)of->count;

	if (of->count + numbers > of->capacity) {
		uint32_t *old = of->times;

		of->capacity = MAX(64 * numbers, 2 * of->capacity);
		BUG_ON(of->capacity >= UINT32_MAX);
		of->times = scattered_lines(of->capacity * sizeof(uint32_t));
		if (old != NULL)
			memcpy(of->times, old, of->count * sizeof(uint32_t));
		g_free(old);
	}
	memset(of->times + at, 0, numbers * sizeof(uint32_t));
	of->count += numbers;
	return at;
}

static __attribute__((noinline)) void make_reads(struct stream *s, struct cell *cell)
{
	union last last = cell->last[OP_READ];

	cell->last[OP_READ].thread = s->width + MANY;
	cell->last[OP_READ].time = table_new(&s->many, s->width) + 1;
	reads_of(s, cell)[last.thread] = last.time;
}

static __attribute__((noinline)) void make_whole(struct stream *s, struct cell *cell)
{
	uint32_t at = table_new(&s->whole, KINDS * s->width);
	uint32_t *reads = s->whole.times + at + (size_t)PLAIN_READ * s->width;
	uint32_t *writes = s->whole.times + at + (size_t)PLAIN_WRITE * s->width;
	union last read = cell->last[OP_READ], write = cell->last[OP_WRITE];

	if (has_table(s, cell, MANY))
		memcpy(reads, reads_of(s, cell), s->width * sizeof(uint32_t));
	else
		reads[read.thread] = read.time;
	writes[write.thread] = write.time;
	cell->last[OP_READ].thread = s->width + WHOLE;
	cell->last[OP_READ].time = at + 1;
}

static inline uint32_t any_later(const uint32_t *times, const uint32_t *view)
{
	uint32_t any = 0;

	for (uint32_t u = 0; u < STEP; u++)
		any |= times[u] > view[u];
	return any;
}

/* The accesses of one kind that are not in the past. */
static inline void compare(struct stream *s, const uint32_t *times, const uint32_t *view,
                           uint32_t e2, uint32_t variable)
{
	uint32_t any = 0;

	for (uint32_t u = 0; u < s->width; u += STEP)
		any |= any_later(times + u, view + u);
	for (uint32_t u = 0; G_UNLIKELY(any) && u < s->threads; u++) {
		if (times[u] > view[u])
			race(s, times[u] - 1, e2, variable);
	}
}

static __attribute__((noinline)) void access_whole(struct stream *s, uint32_t *times,
                                                   const uint32_t *view, uint32_t e,
                                                   uint32_t variable)
{
	const struct event *x = &s->t->events[e];
	size_t width = s->width;
	bool writes = op_writes(x->op), atomic = op_is_atomic(x->op);

	compare(s, times + PLAIN_WRITE * width, view, e, variable);
	if (writes)
		compare(s, times + PLAIN_READ * width, view, e, variable);
	s->atomics |= atomic;
	if (s->atomics && !atomic) {
		compare(s, times + ATOMIC_WRITE * width, view, e, variable);
		if (writes)
			compare(s, times + ATOMIC_READ * width, view, e, variable);
	}
	times[(2 * atomic + writes) * width + x->thread] = e + 1;
}

static void access_table(struct stream *s, struct cell *cell, const uint32_t *view, uint32_t e,
                         uint32_t variable)
{
	const struct event *x = &s->t->events[e];

	/* Reads of several threads, and writes that are all ordered: FastTrack's usual case. */
	if (!has_table(s, cell, WHOLE) && knows(view, cell->last[OP_WRITE]) &&
	    x->op <= OP_WRITE) {
		if (!has_table(s, cell, MANY))
			make_reads(s, cell);
		if (x->op == OP_READ)
			reads_of(s, cell)[x->thread] = e + 1;
		else
			compare(s, reads_of(s, cell), view, e, variable);
	} else {
		if (!has_table(s, cell, WHOLE))
			make_whole(s, cell);
		access_whole(s, whole_of(s, cell), view, e, variable);
	}
	if (op_writes(x->op))
		cell->last[OP_WRITE].stamp = stamp_of(e, x->thread);
}

/* -- variables with a cell ------------------------------------------------------------------
 */

/*
 * A plain access; true when the cell was enough, or a table of reads.  Which of the two a read
 * meets the processor cannot foresee, so it is not asked in a branch.  `many`: the thread that
 * stands for tables of reads, `tables`: where these are.
 */
static inline __attribute__((always_inline)) bool
access_cell(struct cell *cell, const uint32_t *view, uint32_t thread, uint32_t now, uint32_t op,
            uint32_t many, uint32_t *tables)
{
	union last read = cell->last[OP_READ], write = cell->last[OP_WRITE], *own;
	uintptr_t time, place, mask = -(uintptr_t)(read.thread == many);

	if (G_UNLIKELY(!knows(view, read)) || G_UNLIKELY(!knows(view, write)) ||
	    G_UNLIKELY(mask & op))
		return false;
	own = &cell->last[op];
	time = (uintptr_t)&own->time;
	place = (uintptr_t)tables + (size_t)(read.time - 1 + thread) * sizeof(uint32_t);
	time += (place - time) & mask;
	*(uint32_t *)time = now;
	own->thread = thread + ((read.thread - thread) & (uint32_t)mask);
	return true;
}

static void access_variables(struct stream *s, uint32_t e, const uint32_t *view)
{
	const struct event *x = &s->t->events[e];
	struct wide run = event_variables(s->t, x);

	for (uint32_t v = run.first; v < run.first + run.count; v++) {
		if (x->op > OP_WRITE || !access_cell(&s->cells[v], view, x->thread, e + 1,
		                                     x->op, s->width + MANY, s->many.times))
			access_table(s, &s->cells[v], view, e, v);
	}
}

/* -- the pass -------------------------------------------------------------------------------
 */

/* Everything that is no plain access of one variable by a thread that nothing touches. */
static __attribute__((noinline)) void step(struct stream *s, uint32_t e)
{
	const struct event *x = &s->t->events[e];
	const uint32_t *view = s->views[x->thread];
	struct clocks *clocks = &s->c->clocks;

	causality_step(s->c, e);
	if (clocks->told_at[x->thread] == e)
		fill_view(s, s->views[x->thread], clocks_strong(clocks, x->thread), x->thread);
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

static __attribute__((noinline)) void no_access(struct stream *s, const struct event *x)
{
	uint32_t e = (uint32_t)(x - s->t->events);

	if (!causality_quiet_lock(s->c, e, x))
		step(s, e);
}

/* A quiet access (causality.h) for which the cell was not enough. */
static __attribute__((noinline)) void quiet_table(struct stream *s, const struct event *x)
{
	uint32_t e = (uint32_t)(x - s->t->events);
	struct cell *cell = &s->cells[x->target];
	const uint32_t *view = s->views[x->thread];
	bool known = knows(view, cell->last[OP_WRITE]);

	/* SHB's reads learn from a write that is new to them.  (Where the cell is enough it
	 * has the last write, and that is known.) */
	if (s->c->observations != NULL && x->op == OP_READ && !known) {
		step(s, e);
		return;
	}
	access_table(s, cell, view, e, x->target);
	/* A variable with atomic accesses has a table. */
	if (x->op == OP_WRITE)
		causality_wrote(s->c, e, x);
}

enum { TICK = 1 << 20, AHEAD = 32 };

/* Events before the next must-order edge.  `ahead` is 0 for the last ones of the trace. */
static inline __attribute__((always_inline)) void
pass_quiet(struct stream *s, uint32_t from, uint32_t to, uint32_t ahead, bool sections)
{
	/* In registers: the compiler does not know what a store to a cell may change. */
	const struct event *x = s->t->events + from, *end = s->t->events + to;
	struct cell *cells = s->cells;
	uint32_t *const *views = s->views;
	uint32_t many = s->width + MANY;

	for (uint32_t time = from + 1; x < end; x++, time++) {
		struct cell *cell = &cells[x->target];

		/* Cells are met in no order; the branches below hide that from the processor.
		 * (Of what is no access the address is wrong, which is harmless.) */
		__builtin_prefetch(&cells[x[ahead].target], 1);
		/* Guards only for a thread that is in a section, most likely. */
		if (sections)
			__builtin_prefetch(s->c->guards +
			                           (size_t)x[ahead].target * GUARD_SIZE *
			                                   (s->c->depth[x[ahead].thread] != 0),
			                   1);
		if (G_UNLIKELY(!causality_quiet(s->c, x, sections)))
			sections ? step(s, (uint32_t)(x - s->t->events)) : no_access(s, x);
		else if (!access_cell(cell, views[x->thread], x->thread, time, x->op, many,
		                      s->many.times))
			quiet_table(s, x);
	}
}

/* Functions of their own, so that the loop has all registers. */
static __attribute__((noinline)) void pass_sections(struct stream *s, uint32_t from,
                                                    uint32_t to, uint32_t ahead)
{
	pass_quiet(s, from, to, ahead, true);
}

static __attribute__((noinline)) void pass_cells(struct stream *s, uint32_t from, uint32_t to)
{
	pass_quiet(s, from, to, AHEAD, false);
}

static void pass_to(struct stream *s, uint32_t from, uint32_t to, uint32_t ahead)
{
	if (s->c->sections != NULL)
		pass_sections(s, from, to, ahead);
	else if (ahead == AHEAD)
		pass_cells(s, from, to);
	else
		pass_quiet(s, from, to, ahead, false);
}

static bool pass(struct stream *s, const struct progress *progress)
{
	uint64_t count = s->t->events_count;
	uint32_t last = count > AHEAD ? (uint32_t)count - AHEAD : 0;

	for (uint32_t e = 0; e < count;) {
		uint32_t to = (uint32_t)MIN((uint64_t)e + TICK, count);

		if (!progress_tick(progress, (double)e / count, "races by site"))
			return false;
		if (e < last)
			to = MIN(to, last);
		while (e < to) {
			uint32_t quiet = CLAMP(s->c->next_must, e, to);

			pass_to(s, e, quiet, e < last ? AHEAD : 0);
			e = quiet;
			if (e < to)
				step(s, e++);
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

/* One block, that the first points to. */
static uint32_t **views_new(uint32_t threads, uint32_t width)
{
	uint32_t **views = g_new0(uint32_t *, threads + 1);

	views[0] = g_new0(uint32_t, (size_t)threads * width + 1);
	for (uint32_t u = 1; u < threads; u++)
		views[u] = views[0] + (size_t)u * width;
	return views;
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
	s.cells = scattered_new0(struct cell, t->variables_count + 1);
	s.threads = (uint32_t)t->threads_count;
	s.width = (s.threads + STEP - 1) / STEP * STEP;
	s.views = views_new(s.threads, s.width + STEP);
	s.scratch = g_new0(uint32_t, s.width + STEP);
	for (uint32_t u = 0; s.c != NULL && u < s.threads; u++)
		fill_view(&s, s.views[u], clocks_row(&s.c->clocks, 0), u);
	if (s.c != NULL && s.c->observations != NULL)
		observations_lend(s.c->observations, &s.cells[0].last[OP_WRITE].stamp, 2);
	done = s.c == NULL ? pass_finished(&s, progress) : pass(&s, progress);
	g_free(s.cells);
	g_free(s.many.times);
	g_free(s.whole.times);
	g_free(s.views[0]);
	g_free(s.views);
	g_free(s.scratch);
	causality_free(s.c);
	order_free(order);
	return done;
}
