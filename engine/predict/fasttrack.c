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

struct cell {                 /* all zero: not accessed yet */
	uint32_t read, write; /* event + 1; 0 none */
	uint16_t read_thread, write_thread;
	uint32_t table; /* index + 1 of tables; 0 none */
};
_Static_assert(sizeof(struct cell) == 16, "four a cache line");

enum { PLAIN_READ, PLAIN_WRITE, ATOMIC_READ, ATOMIC_WRITE, KINDS };

/* Of a variable that a cell is not enough for. */
struct table {
	bool whole;        /* else only the plain reads are here, and the cell has the write */
	uint32_t places[]; /* [KINDS * threads]: event + 1 */
};

struct stream {
	struct trace *t;
	struct causality *c;       /* NULL for CP: then */
	const struct order *order; /* is asked */
	enum order_kind kind;
	struct cell *cells;
	GPtrArray *tables; /* struct table */
	struct site_races *races;
};

static void race(struct stream *s, uint32_t e1, uint32_t e2, uint32_t variable)
{
	site_races_add(s->races, e1, e2, variable);
}

static inline bool past_has(const uint32_t *past, uint32_t thread, uint32_t event,
                            uint32_t other)
{
	return other == thread || past[other] >= event;
}

/* -- variables with a table ---------------------------------------------------------------- */

static struct table *table_of(struct stream *s, struct cell *cell)
{
	uint32_t threads = (uint32_t)s->t->threads_count;
	struct table *table;

	if (cell->table != 0)
		return g_ptr_array_index(s->tables, cell->table - 1);
	table = g_malloc0(sizeof(*table) + sizeof(uint32_t) * KINDS * threads);
	table->places[PLAIN_READ * threads + cell->read_thread] = cell->read;
	g_ptr_array_add(s->tables, table);
	cell->table = s->tables->len;
	return table;
}

/* The accesses of one kind that are not in the past. */
static void compare(struct stream *s, uint32_t *places, const uint32_t *past, uint32_t e2,
                    uint32_t variable)
{
	uint32_t thread = s->t->events[e2].thread, own = places[thread], any = 0;

	places[thread] = 0; /* without a branch for it: most often there is nothing */
	for (uint32_t u = 0; u < s->t->threads_count; u++)
		any |= places[u] > past[u];
	for (uint32_t u = 0; any && u < s->t->threads_count; u++) {
		if (places[u] > past[u])
			race(s, places[u] - 1, e2, variable);
	}
	places[thread] = own;
}

static void access_whole(struct stream *s, struct table *table, const uint32_t *past,
                         uint32_t e, uint32_t variable)
{
	const struct event *x = &s->t->events[e];
	uint32_t threads = (uint32_t)s->t->threads_count, *places = table->places;
	bool writes = op_writes(x->op), atomic = op_is_atomic(x->op);

	compare(s, places + PLAIN_WRITE * threads, past, e, variable);
	if (writes)
		compare(s, places + PLAIN_READ * threads, past, e, variable);
	if (!atomic)
		compare(s, places + ATOMIC_WRITE * threads, past, e, variable);
	if (writes && !atomic)
		compare(s, places + ATOMIC_READ * threads, past, e, variable);
	places[(2 * atomic + writes) * threads + x->thread] = e + 1;
}

/* Reads of several threads, and writes that are all ordered: FastTrack's usual case. */
static inline bool access_reads(struct stream *s, struct cell *cell, struct table *table,
                                const uint32_t *past, uint32_t e, uint32_t variable)
{
	const struct event *x = &s->t->events[e];
	uint32_t threads = (uint32_t)s->t->threads_count;

	if (!past_has(past, x->thread, cell->write, cell->write_thread) || x->op > OP_WRITE)
		return false;
	if (x->op == OP_READ) {
		table->places[PLAIN_READ * threads + x->thread] = e + 1;
		return true;
	}
	compare(s, table->places + PLAIN_READ * threads, past, e, variable);
	cell->write = e + 1;
	cell->write_thread = x->thread;
	return true;
}

static void access_table(struct stream *s, struct cell *cell, const uint32_t *past, uint32_t e,
                         uint32_t variable)
{
	struct table *table = table_of(s, cell);

	if (!table->whole) {
		if (access_reads(s, cell, table, past, e, variable))
			return;
		table->whole = true;
		table->places[PLAIN_WRITE * s->t->threads_count + cell->write_thread] =
		        cell->write;
	}
	access_whole(s, table, past, e, variable);
}

/* -- variables with a cell ------------------------------------------------------------------
 */

/* True when the cell was enough. */
static inline bool access_cell(struct cell *cell, const uint32_t *past, uint32_t thread,
                               uint32_t e, bool writes)
{
	if (cell->table != 0 || !past_has(past, thread, cell->write, cell->write_thread) ||
	    !past_has(past, thread, cell->read, cell->read_thread))
		return false;
	if (writes) {
		cell->write = e + 1;
		cell->write_thread = (uint16_t)thread;
	} else {
		cell->read = e + 1;
		cell->read_thread = (uint16_t)thread;
	}
	return true;
}

static void access_variables(struct stream *s, uint32_t e, const uint32_t *past)
{
	const struct event *x = &s->t->events[e];
	struct wide run = event_variables(s->t, x);
	bool atomic = op_is_atomic(x->op);

	for (uint32_t v = run.first; v < run.first + run.count; v++) {
		if (atomic || !access_cell(&s->cells[v], past, x->thread, e, op_writes(x->op)))
			access_table(s, &s->cells[v], past, e, v);
	}
}

/* -- the pass -------------------------------------------------------------------------------
 */

/* Everything that is no plain access of one variable by a thread that nothing touches. */
static void step(struct stream *s, uint32_t e)
{
	const struct event *x = &s->t->events[e];
	const uint32_t *past;

	causality_step(s->c, e);
	if (op_is_access(x->op) && !event_inert(x)) {
		/* SHB's question leaves the access's own observation out. */
		past = s->kind == ORDER_KIND_SHB ? clocks_row(&s->c->clocks, s->c->unobserved)
		                                 : clocks_strong(&s->c->clocks, x->thread);
		access_variables(s, e, past);
	}
	if (clocks_crowded(&s->c->clocks))
		causality_sweep(s->c, NULL, NULL);
}

/* Does a read of the variable observe something new?  Mostly the cell has its last write. */
static inline bool observes_new(struct stream *s, const struct cell *cell, uint32_t variable,
                                uint32_t thread)
{
	if (cell->table == 0)
		return !past_has(clocks_now(&s->c->clocks, thread), thread, cell->write,
		                 cell->write_thread);
	return !observations_known(s->c, variable, thread);
}

/* False: `step`. */
static inline __attribute__((always_inline)) bool quick(struct stream *s, uint32_t e,
                                                        const struct event *x, bool observes)
{
	struct cell *cell = &s->cells[x->target];
	const uint32_t *past;

	if (!causality_quiet(s->c, e, x))
		return false;
	if (observes && x->op == OP_READ && observes_new(s, cell, x->target, x->thread))
		return false;
	past = clocks_strong(&s->c->clocks, x->thread);
	if (!access_cell(cell, past, x->thread, e, x->op == OP_WRITE))
		access_table(s, cell, past, e, x->target);
	if (x->op == OP_WRITE)
		causality_wrote(s->c, e, x);
	return true;
}

enum { TICK = 1 << 20 };

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
			access_variables(s, e, order_past(s->order, e, false));
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
	if (s.c == NULL)
		done = pass_finished(&s, progress);
	else if (kind == ORDER_KIND_SHB)
		done = pass(&s, true, progress);
	else
		done = pass(&s, false, progress);
	g_ptr_array_free(s.tables, TRUE);
	g_free(s.cells);
	causality_free(s.c);
	order_free(order);
	return done;
}
