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

struct stream {
	struct trace *t;
	struct causality *c;       /* NULL for CP: then */
	const struct order *order; /* is asked */
	enum order_kind kind;
	struct cell *cells;
	GPtrArray *tables; /* uint32_t [KINDS * threads]: event + 1 */
	struct site_races *races;
};

static void race(struct stream *s, uint32_t e1, uint32_t e2, uint32_t variable)
{
	site_races_add(s->races, e1, e2, variable);
}

/* -- variables with a table ---------------------------------------------------------------- */

static uint32_t *table_of(struct stream *s, struct cell *cell)
{
	uint32_t *table;

	if (cell->table != 0)
		return g_ptr_array_index(s->tables, cell->table - 1);
	table = g_new0(uint32_t, KINDS * s->t->threads_count);
	table[PLAIN_READ * s->t->threads_count + cell->read_thread] = cell->read;
	table[PLAIN_WRITE * s->t->threads_count + cell->write_thread] = cell->write;
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

static void access_table(struct stream *s, struct cell *cell, const uint32_t *past, uint32_t e,
                         uint32_t variable)
{
	const struct event *x = &s->t->events[e];
	uint32_t threads = (uint32_t)s->t->threads_count;
	uint32_t *table = table_of(s, cell);
	bool writes = op_writes(x->op), atomic = op_is_atomic(x->op);

	compare(s, table + PLAIN_WRITE * threads, past, e, variable);
	if (writes)
		compare(s, table + PLAIN_READ * threads, past, e, variable);
	if (!atomic)
		compare(s, table + ATOMIC_WRITE * threads, past, e, variable);
	if (writes && !atomic)
		compare(s, table + ATOMIC_READ * threads, past, e, variable);
	table[(2 * atomic + writes) * threads + x->thread] = e + 1;
}

/* -- variables with a cell ------------------------------------------------------------------
 */

static inline bool past_has(const uint32_t *past, uint32_t thread, uint32_t event,
                            uint32_t other)
{
	return other == thread || past[other] >= event;
}

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

/* False: `step`. */
static inline __attribute__((always_inline)) bool quick(struct stream *s, uint32_t e,
                                                        const struct event *x)
{
	struct cell *cell;
	const uint32_t *past;

	if (!causality_plain(s->c, e, x))
		return false;
	cell = &s->cells[x->target];
	past = clocks_strong(&s->c->clocks, x->thread);
	if (!access_cell(cell, past, x->thread, e, x->op == OP_WRITE))
		access_table(s, cell, past, e, x->target);
	return true;
}

enum { TICK = 1 << 20 };

static bool pass(struct stream *s, const struct progress *progress)
{
	const struct event *events = s->t->events;
	uint64_t count = s->t->events_count;

	for (uint64_t from = 0; from < count; from += TICK) {
		uint32_t to = (uint32_t)MIN(from + TICK, count);

		if (!progress_tick(progress, (double)from / count, "races by site"))
			return false;
		for (uint32_t e = (uint32_t)from; e < to; e++) {
			if (G_UNLIKELY(!quick(s, e, &events[e])))
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
	done = s.c != NULL ? pass(&s, progress) : pass_finished(&s, progress);
	g_ptr_array_free(s.tables, TRUE);
	g_free(s.cells);
	causality_free(s.c);
	order_free(order);
	return done;
}
