/*
 * fasttrack.c - one pass over a trace that keeps, for each variable, the accesses that later
 * ones may race with (after FastTrack, Flanagan and Freund, PLDI 2009).
 *
 * A cell of 16 bytes holds the last read and the last write: four cells to a cache line, and
 * for most accesses all that is needed.  An access that is ordered after the one in its place
 * stands for it.  Where two are not ordered, or atomics and plain accesses
 * meet, the variable gets a table with a place for each thread and kind and keeps it; but as
 * long as few of many threads have accessed it, a list of these (last_lists.h).  Times are
 * event ids, so a racy pair is named without looking anything up.
 */
#include "engine/base/scattered.h"
#include "engine/order/causality.h"
#include "engine/predict/last_lists.h"
#include "engine/predict/pairs.h"

#include <string.h>

/*
 * All zero: not accessed yet.  A variable with a table or a list has for its last read the
 * place of that (and LISTED, if it is a list) instead of an event, and a thread that there is
 * not: MANY where a table is for its reads, FEW where a list is, WHOLE where either is for all
 * accesses; nobody knows the events of these, so the one question
 * whether the last accesses are known finds them out.  A variable that is read again and again
 * by many threads is UNTOLD: its reads are not written down any more, so a read need not know
 * them, and all know them; should a write come after all, they are looked up in the trace.
 * The last write is always there.
 */
union last {
	epoch epoch; /* for who looks at one as a whole (observations_borrow) */
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
_Static_assert(OP_ACQ % 2 == 0 && OP_REL == OP_ACQ + 1 && OP_COUNT <= 64, "a lock's too");

enum { CELL = sizeof(struct cell), LINE = sizeof(struct guard_line) };
enum { PLAIN_READ, PLAIN_WRITE, ATOMIC_READ, ATOMIC_WRITE, KINDS };

/* Threads that there are not: with what number beyond the threads. */
enum { UNTOLD, MANY, WHOLE, FEW };

/* So many times the compiler compares in few instructions. */
enum { STEP = 8 };
struct tables { /* numbers in one array, which begins where a cache line does */
	uint32_t *times;
	uint64_t count, capacity;
	GArray *unused; /* uint32_t: tables that no variable has any more; NULL: none */
};

struct stream {
	struct trace *t;
	struct causality *c;       /* NULL for CP: then */
	const struct order *order; /* is asked */
	enum order_kind kind;
	/* By variable, `stride` apart (CELL; LINE where each lies beside its guard); then, for
	 * orders of locks alone, by object. */
	char *cells;
	size_t stride;
	uint32_t threads;
	uint32_t width; /* the same in whole steps of STEP; what is above stays 0 */
	/* Reads of several threads, while the cell has the write: [width] each; the lowest bits
	 * of a table's place count those that have come since the last write. */
	struct tables many;
	uint64_t looked_at; /* events, for the reads of variables that were UNTOLD */
	bool telling;       /* that was too many: no variable is UNTOLD from now on */
	/* An order of sections: it does not order reads under one lock, so many variables have
	 * a table of reads.  They keep it, a read knows all of it, and none is UNTOLD. */
	bool steady;
	/* Of a variable that needs it all: [KINDS][width]. */
	struct tables whole;
	/* Either as a list, while that is shorter; keys are key_of. */
	struct last_lists lists;
	bool atomics; /* an atomic access has come */
	/*
	 * By thread what it knows, a copy of what the clocks have: [width + STEP] each, the
	 * largest time of each thread; all of its own, so that nobody has to ask whose an
	 * access is.  Above are the threads that there are not.  A read knows the UNTOLD, a
	 * write does not: each has a view of its own (view_of).
	 */
	uint32_t **views;
	uint32_t *scratch; /* a view for one event */
	struct site_races *races;
};

static void race(struct stream *s, uint32_t e1, uint32_t e2, uint32_t variable)
{
	site_races_add(s->races, e1, e2, variable);
}

static inline uint32_t *view_of(const struct stream *s, uint32_t thread, bool writes)
{
	return s->views[2 * thread + writes];
}

static inline const uint32_t *fill_view(const struct stream *s, uint32_t *view,
                                        const uint32_t *past, uint32_t thread, bool writes)
{
	for (uint32_t u = 0; u < s->threads; u++)
		view[u] = past[u];
	view[thread] = UINT32_MAX;
	view[s->width + UNTOLD] = writes ? 0 : UINT32_MAX;
	view[s->width + MANY] = writes || !s->steady ? 0 : UINT32_MAX;
	view[s->width + WHOLE] = 0;
	view[s->width + FEW] = 0;
	return view;
}

static inline void fill_views(const struct stream *s, const uint32_t *past, uint32_t thread)
{
	fill_view(s, view_of(s, thread, false), past, thread, false);
	fill_view(s, view_of(s, thread, true), past, thread, true);
}

static inline struct cell *cell_of(const struct stream *s, uint64_t place)
{
	return (struct cell *)(s->cells + place * s->stride);
}

static inline bool knows(const uint32_t *view, union last access)
{
	return access.time <= view[access.thread];
}

/* -- variables with a table or a list -------------------------------------------------- */

static inline bool has_table(const struct stream *s, const struct cell *cell, uint32_t kind)
{
	return cell->last[OP_READ].thread == s->width + kind;
}

/* Places are multiples of STEP, and below LISTED. */
enum { OFTEN = STEP - 1 };
#define LISTED LIST_PLACES
_Static_assert((int)OFTEN < (int)LIST_ALIGNED, "those of lists, too");

static inline bool is_listed(const struct cell *cell)
{
	return cell->last[OP_READ].time & LISTED;
}

static inline uint32_t place_of(const struct cell *cell)
{
	return cell->last[OP_READ].time & ~(LISTED | OFTEN);
}

static inline struct last_list *list_of(const struct stream *s, const struct cell *cell)
{
	return lists_at(&s->lists, place_of(cell));
}

static inline uint32_t *reads_of(const struct stream *s, const struct cell *cell)
{
	return s->many.times + place_of(cell);
}

static inline uint32_t *whole_of(const struct stream *s, const struct cell *cell)
{
	return s->whole.times + place_of(cell);
}

/* The key of a list's entry: by kind, as races are told in that order, then by thread. */
enum { RANK_SHIFT = 20 };
static const uint32_t ranks[KINDS] = {
	[PLAIN_WRITE] = 0, [PLAIN_READ] = 1, [ATOMIC_WRITE] = 2, [ATOMIC_READ] = 3
};
static const uint32_t kinds[KINDS] = { PLAIN_WRITE, PLAIN_READ, ATOMIC_WRITE, ATOMIC_READ };

static inline uint32_t key_of(uint32_t kind, uint32_t thread)
{
	return ranks[kind] << RANK_SHIFT | thread;
}

static inline uint32_t key_kind(uint32_t key)
{
	return kinds[key >> RANK_SHIFT];
}

static inline uint32_t key_thread(uint32_t key)
{
	return key & ((1u << RANK_SHIFT) - 1);
}

static void tables_grow(struct tables *of, uint32_t numbers)
{
	uint32_t *old = of->times;

	of->capacity = MAX(64 * MAX(numbers, 1), 2 * of->capacity);
	BUG_ON(of->capacity >= LISTED);
	of->times = scattered_lines(of->capacity * sizeof(uint32_t));
	if (old != NULL)
		memcpy(of->times, old, of->count * sizeof(uint32_t));
	g_free(old);
}

/* One more table, all zero: where it begins. */
static uint32_t table_new(struct tables *of, uint32_t numbers)
{
	uint32_t at = (uint32_t)of->count;

	if (of->unused != NULL && of->unused->len > 0) {
		at = g_array_index(of->unused, uint32_t, of->unused->len - 1);
		g_array_set_size(of->unused, of->unused->len - 1);
	} else {
		if (of->times == NULL || of->count + numbers > of->capacity)
			tables_grow(of, numbers);
		of->count += numbers;
	}
	memset(of->times + at, 0, numbers * sizeof(uint32_t));
	return at;
}

static void table_drop(struct tables *of, const uint32_t *times)
{
	uint32_t at = (uint32_t)(times - of->times);

	if (of->unused == NULL)
		of->unused = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_array_append_val(of->unused, at);
}

static void tables_free(struct tables *of)
{
	g_free(of->times);
	if (of->unused != NULL)
		g_array_free(of->unused, TRUE);
}

/* Would a list of so many numbers have more than half of what a table has? */
static inline bool too_long(uint32_t numbers, uint32_t table)
{
	return 2 * (uint64_t)numbers > table;
}

/* The list becomes a table: of reads, or of all accesses. */
static __attribute__((noinline)) void list_to_table(struct stream *s, struct cell *cell,
                                                    bool whole)
{
	uint32_t from = place_of(cell);
	uint32_t at =
	        whole ? table_new(&s->whole, KINDS * s->width) : table_new(&s->many, s->width);
	uint32_t *times = (whole ? s->whole.times : s->many.times) + at;
	const struct last_list *list = lists_at(&s->lists, from);

	for (uint32_t i = 0; i < list->count; i++) {
		uint32_t key = list->of[i].key;

		times[(whole ? key_kind(key) * s->width : 0) + key_thread(key)] =
		        list->of[i].time;
	}
	lists_drop(&s->lists, from);
	cell->last[OP_READ].time = whole ? at + 1 : at | (cell->last[OP_READ].time & OFTEN);
}

/* A place of a list may change, the bits beside it do not. */
static inline void list_note(struct stream *s, struct cell *cell, uint32_t kind,
                             uint32_t thread, uint32_t time)
{
	uint32_t place = lists_put(&s->lists, place_of(cell), key_of(kind, thread), time);

	cell->last[OP_READ].time = place | LISTED | (cell->last[OP_READ].time & OFTEN);
}

/* MANY or FEW, as what there is of the reads says. */
static inline void name_reads(const struct stream *s, struct cell *cell)
{
	cell->last[OP_READ].thread = s->width + (is_listed(cell) ? FEW : MANY);
}

/* A read goes into the list or the table of reads; which of the two it is may change. */
static void note_read(struct stream *s, struct cell *cell, uint32_t thread, uint32_t time)
{
	if (!is_listed(cell)) {
		reads_of(s, cell)[thread] = time;
		return;
	}
	list_note(s, cell, PLAIN_READ, thread, time);
	/* Of an order of sections a table serves later reads more quickly; it is paid for by
	 * those that were. */
	if (too_long(list_numbers(list_of(s, cell)), s->width) ||
	    (s->steady && 2u * list_of(s, cell)->uses > s->width))
		list_to_table(s, cell, false);
}

static __attribute__((noinline)) void make_reads(struct stream *s, struct cell *cell)
{
	union last last = cell->last[OP_READ];

	if (too_long(LIST_ALIGNED, s->width))
		cell->last[OP_READ].time = table_new(&s->many, s->width);
	else
		cell->last[OP_READ].time = lists_new(&s->lists) | LISTED;
	note_read(s, cell, last.thread, last.time);
	name_reads(s, cell);
}

static inline uint32_t latest(const struct stream *s, const uint32_t *times)
{
	uint32_t thread = 0;

	for (uint32_t u = 1; u < s->threads; u++) {
		if (times[u] > times[thread])
			thread = u;
	}
	return thread;
}

/* Of a list's reads: the thread with its time, a epoch; 0 where there is none. */
static epoch latest_listed(const struct last_list *list)
{
	union last last = { .epoch = 0 };

	for (uint32_t i = 0; i < list->count; i++) {
		const struct last_entry *x = &list->of[i];

		if (key_kind(x->key) == PLAIN_READ && x->time > last.time) {
			last.thread = key_thread(x->key);
			last.time = x->time;
		}
	}
	return last.epoch;
}

/* After a write that knows them all: the last one stands for all, as it does where there is no
 * table. */
static void drop_reads(struct stream *s, struct cell *cell, struct tables *tables,
                       const uint32_t *times, const uint32_t *reads)
{
	uint32_t thread = latest(s, reads);

	cell->last[OP_READ].thread = thread;
	cell->last[OP_READ].time = reads[thread];
	table_drop(tables, times);
}

/* The same of a list. */
static void drop_list(struct stream *s, struct cell *cell)
{
	uint32_t place = place_of(cell);

	cell->last[OP_READ].epoch = latest_listed(list_of(s, cell));
	lists_drop(&s->lists, place);
}

/* -- reads that were not written down -------------------------------------------------- */

static inline bool plain_read(const struct event *x)
{
	return x->op == OP_READ && !event_inert(x);
}

/* The time of the last read that is written down. */
static uint32_t last_told(const struct stream *s, const struct cell *cell)
{
	if (is_listed(cell))
		return ((union last){ .epoch = latest_listed(list_of(s, cell)) }).time;
	const uint32_t *times = reads_of(s, cell);
	return times[latest(s, times)];
}

/* Of one variable, until `end`.  Its table has those until it became UNTOLD. */
static void tell(struct stream *s, struct cell *cell, uint32_t end, uint32_t variable)
{
	uint32_t from = last_told(s, cell);

	for (uint32_t e = from; e < end; e++) {
		const struct event *x = &s->t->events[e];

		if (G_LIKELY(x->target != variable && !(x->flags & EVENT_WIDE)))
			continue;
		struct wide run = event_variables(s->t, x);
		if (plain_read(x) && variable - run.first < run.count)
			note_read(s, cell, x->thread, e + 1);
	}
	s->looked_at += end - from;
	name_reads(s, cell);
	cell->last[OP_READ].time &= ~(uint32_t)OFTEN;
}

/* Of all variables, and for good: where it takes more than a walk over the trace to look for
 * reads, one walk has to be enough. */
static void tell_all(struct stream *s, uint32_t end)
{
	for (uint32_t e = 0; e < end; e++) {
		const struct event *x = &s->t->events[e];

		if (!plain_read(x))
			continue;
		struct wide run = event_variables(s->t, x);
		for (uint32_t v = run.first; v < run.first + run.count; v++) {
			if (has_table(s, cell_of(s, v), UNTOLD))
				note_read(s, cell_of(s, v), x->thread, e + 1);
		}
	}
	for (uint32_t v = 0; v < s->t->variables_count; v++) {
		if (has_table(s, cell_of(s, v), UNTOLD))
			name_reads(s, cell_of(s, v));
	}
	s->telling = true;
}

static __attribute__((noinline)) void look_up(struct stream *s, struct cell *cell,
                                              uint32_t event, uint32_t variable)
{
	if (s->looked_at < s->t->events_count)
		tell(s, cell, event, variable);
	else
		tell_all(s, event);
}

/* -- variables with a table, continued ------------------------------------------------- */

static void one_of_many_reads(struct stream *s, struct cell *cell, uint32_t e, uint32_t thread)
{
	note_read(s, cell, thread, e + 1);
	name_reads(s, cell);
	if (s->steady)
		return;
	if ((cell->last[OP_READ].time & OFTEN) < OFTEN)
		cell->last[OP_READ].time++;
	else if (!s->telling)
		cell->last[OP_READ].thread = s->width + UNTOLD;
}

/* The same with a list: that of the reads, where there is one. */
static void make_whole_list(struct stream *s, struct cell *cell)
{
	union last read = cell->last[OP_READ], write = cell->last[OP_WRITE];

	if (!has_table(s, cell, FEW)) {
		cell->last[OP_READ].time = lists_new(&s->lists) | LISTED;
		if (read.time != 0)
			list_note(s, cell, PLAIN_READ, read.thread, read.time);
	}
	cell->last[OP_READ].time &= ~(uint32_t)OFTEN;
	cell->last[OP_READ].time |= 1; /* nobody knows it */
	if (write.time != 0)
		list_note(s, cell, PLAIN_WRITE, write.thread, write.time);
}

static void make_whole_table(struct stream *s, struct cell *cell)
{
	uint32_t at = table_new(&s->whole, KINDS * s->width);
	uint32_t *reads = s->whole.times + at + (size_t)PLAIN_READ * s->width;
	uint32_t *writes = s->whole.times + at + (size_t)PLAIN_WRITE * s->width;
	union last read = cell->last[OP_READ], write = cell->last[OP_WRITE];

	if (has_table(s, cell, MANY)) {
		memcpy(reads, reads_of(s, cell), s->width * sizeof(uint32_t));
		table_drop(&s->many, reads_of(s, cell));
	} else {
		reads[read.thread] = read.time;
	}
	writes[write.thread] = write.time;
	cell->last[OP_READ].time = at + 1;
}

/* The variable needs it all. */
static __attribute__((noinline)) void make_whole(struct stream *s, struct cell *cell)
{
	if (has_table(s, cell, MANY) || too_long(LIST_ALIGNED, KINDS * s->width))
		make_whole_table(s, cell);
	else
		make_whole_list(s, cell);
	cell->last[OP_READ].thread = s->width + WHOLE;
}

static inline uint32_t any_later(const uint32_t *times, const uint32_t *view)
{
	uint32_t any = 0;

	for (uint32_t u = 0; u < STEP; u++)
		any |= times[u] > view[u];
	return any;
}

/* The accesses of one kind that are not in the past: true when there are none. */
static inline bool compare(struct stream *s, const uint32_t *times, const uint32_t *view,
                           uint32_t e2, uint32_t variable)
{
	uint32_t any = 0;

	for (uint32_t u = 0; u < s->width; u += STEP)
		any |= any_later(times + u, view + u);
	for (uint32_t u = 0; G_UNLIKELY(any) && u < s->threads; u++) {
		if (times[u] > view[u])
			race(s, times[u] - 1, e2, variable);
	}
	return any == 0;
}

/* The same of a list, of the kinds whose bits are set: true when no plain one is. */
static bool compare_list(struct stream *s, const struct last_list *list, const uint32_t *view,
                         uint32_t wanted, uint32_t e2, uint32_t variable)
{
	bool known = true;

	for (uint32_t i = 0; i < list->count; i++) {
		struct last_entry x = list->of[i];

		if (x.time <= view[key_thread(x.key)] || !(wanted >> key_kind(x.key) & 1))
			continue;
		race(s, x.time - 1, e2, variable);
		known &= key_kind(x.key) >= ATOMIC_READ;
	}
	return known;
}

/* With a table. */
static void access_whole(struct stream *s, struct cell *cell, const uint32_t *view, uint32_t e,
                         uint32_t variable)
{
	const struct event *x = &s->t->events[e];
	size_t width = s->width;
	uint32_t *times = whole_of(s, cell);
	bool writes = op_writes(x->op), atomic = op_is_atomic(x->op);
	bool known = compare(s, times + PLAIN_WRITE * width, view, e, variable);

	if (writes)
		known &= compare(s, times + PLAIN_READ * width, view, e, variable);
	if (s->atomics && !atomic) {
		compare(s, times + ATOMIC_WRITE * width, view, e, variable);
		if (writes)
			compare(s, times + ATOMIC_READ * width, view, e, variable);
	}
	times[(2 * atomic + writes) * width + x->thread] = e + 1;
	if (writes && known && !s->atomics)
		drop_reads(s, cell, &s->whole, times, times + PLAIN_READ * width);
}

/* With a list. */
static void access_listed(struct stream *s, struct cell *cell, const uint32_t *view, uint32_t e,
                          uint32_t variable)
{
	const struct event *x = &s->t->events[e];
	bool writes = op_writes(x->op), atomic = op_is_atomic(x->op);
	uint32_t wanted = 1 << PLAIN_WRITE | (writes ? 1 << PLAIN_READ : 0);

	if (!atomic)
		wanted |= 1 << ATOMIC_WRITE | (writes ? 1 << ATOMIC_READ : 0);
	if (compare_list(s, list_of(s, cell), view, wanted, e, variable) && writes &&
	    !s->atomics) {
		drop_list(s, cell);
		return;
	}
	list_note(s, cell, 2 * atomic + writes, x->thread, e + 1);
	if (too_long(list_numbers(list_of(s, cell)), KINDS * s->width))
		list_to_table(s, cell, true);
}

/* A plain write that knows the last one, of a variable with a table or a list of reads. */
static void write_reads(struct stream *s, struct cell *cell, const uint32_t *view, uint32_t e,
                        uint32_t variable)
{
	bool listed = is_listed(cell);
	bool known =
	        listed ? compare_list(s, list_of(s, cell), view, 1 << PLAIN_READ, e, variable)
	               : compare(s, reads_of(s, cell), view, e, variable);

	if (!known || s->steady)
		cell->last[OP_READ].time &= ~(uint32_t)OFTEN;
	else if (listed)
		drop_list(s, cell);
	else
		drop_reads(s, cell, &s->many, reads_of(s, cell), reads_of(s, cell));
}

static __attribute__((noinline)) void access_table(struct stream *s, struct cell *cell,
                                                   const uint32_t *view, uint32_t e,
                                                   uint32_t variable)
{
	const struct event *x = &s->t->events[e];

	if (has_table(s, cell, UNTOLD))
		look_up(s, cell, e, variable);
	/* Reads of several threads, and writes that are all ordered: FastTrack's usual case. */
	if (!has_table(s, cell, WHOLE) && knows(view, cell->last[OP_WRITE]) &&
	    x->op <= OP_WRITE) {
		if (!has_table(s, cell, MANY) && !has_table(s, cell, FEW))
			make_reads(s, cell);
		if (x->op == OP_READ)
			one_of_many_reads(s, cell, e, x->thread);
		else
			write_reads(s, cell, view, e, variable);
	} else {
		if (!has_table(s, cell, WHOLE))
			make_whole(s, cell);
		s->atomics |= op_is_atomic(x->op);
		if (is_listed(cell))
			access_listed(s, cell, view, e, variable);
		else
			access_whole(s, cell, view, e, variable);
	}
	if (op_writes(x->op))
		cell->last[OP_WRITE].epoch = epoch_of(e, x->thread);
}

/* -- variables with a cell ------------------------------------------------------------- */

/*
 * A plain access; true when the cell was enough.  Whether it is a read of a variable whose
 * reads are not in the cell the processor cannot foresee, so the compiler is told to ask
 * without a branch.  `now`: the access as a epoch, `beside`: the thread that stands for such
 * reads, `tables`: where they go, or NULL when they need not be written down.
 */
static inline __attribute__((always_inline)) bool access_cell(struct cell *cell,
                                                              const uint32_t *view, epoch now,
                                                              uint32_t op, uint32_t beside,
                                                              uint32_t *tables)
{
	union last read = cell->last[OP_READ], write = cell->last[OP_WRITE];
	uint64_t mask = -(uint64_t)(read.thread == beside);

	if (G_UNLIKELY(!knows(view, read)) || G_UNLIKELY(!knows(view, write)))
		return false;
	if (tables != NULL)
		tables[(read.time + epoch_thread(now)) & mask] = (uint32_t)(now >> 32);
	if (__builtin_expect_with_probability(read.thread == beside, 0, 0.5))
		now = read.epoch;
	cell->last[op].epoch = now;
	return true;
}

static void access_variables(struct stream *s, uint32_t e, const uint32_t *view)
{
	const struct event *x = &s->t->events[e];
	struct wide run = event_variables(s->t, x);

	for (uint32_t v = run.first; v < run.first + run.count; v++) {
		if (x->op > OP_WRITE ||
		    !access_cell(cell_of(s, v), view, epoch_of(e, x->thread), x->op,
		                 s->width + (s->steady ? MANY : UNTOLD),
		                 s->steady ? s->many.times : NULL))
			access_table(s, cell_of(s, v), view, e, v);
	}
}

/* -- the pass -------------------------------------------------------------------------- */

/* Everything that is no plain access of one variable by a thread that nothing touches. */
static __attribute__((noinline)) void step(struct stream *s, uint32_t e)
{
	const struct event *x = &s->t->events[e];
	const uint32_t *view = view_of(s, x->thread, op_writes(x->op));
	struct clocks *clocks = &s->c->clocks;

	causality_step(s->c, e);
	if (clocks->joined_at[x->thread] == e)
		fill_views(s, clocks_strong(clocks, x->thread), x->thread);
	if (op_is_access(x->op) && !event_inert(x)) {
		/* SHB's question leaves the access's own observation out. */
		if (s->kind == ORDER_KIND_SHB)
			view = fill_view(s, s->scratch, clocks_at(clocks, s->c->unobserved),
			                 x->thread, op_writes(x->op));
		access_variables(s, e, view);
	}
	if (clocks_sweep_due(clocks))
		causality_sweep(s->c, NULL, NULL);
}

/* An acquire or a release, of an order of sections. */
static __attribute__((noinline)) void step_lock(struct stream *s, const struct event *x)
{
	uint32_t e = (uint32_t)(x - s->t->events);
	struct clocks *clocks = &s->c->clocks;

	causality_lock(s->c, e, x);
	if (clocks->joined_at[x->thread] == e)
		fill_views(s, clocks_strong(clocks, x->thread), x->thread);
	if (clocks_sweep_due(clocks))
		causality_sweep(s->c, NULL, NULL);
}

/* A quiet access (causality.h) for which the cell was not enough. */
static __attribute__((noinline)) void quiet_table(struct stream *s, const struct event *x)
{
	uint32_t e = (uint32_t)(x - s->t->events);
	struct cell *cell = cell_of(s, x->target);
	const uint32_t *view = view_of(s, x->thread, x->op == OP_WRITE);
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

/* An acquire of a lock that somebody else has released. */
static void learn(struct stream *s, const struct event *x)
{
	uint32_t e = (uint32_t)(x - s->t->events);

	locks_acquire_new(s->c, e);
	fill_views(s, clocks_strong(&s->c->clocks, x->thread), x->thread);
	if (clocks_sweep_due(&s->c->clocks))
		causality_sweep(s->c, NULL, NULL);
}

static __attribute__((noinline)) void no_cell(struct stream *s, const struct event *x)
{
	struct cell *lock = cell_of(s, s->t->variables_count + x->target);

	if (event_simple(x))
		quiet_table(s, x);
	else if (x->op == OP_ACQ && !event_inert(x) && !has_table(s, lock, WHOLE))
		learn(s, x);
	else
		step(s, (uint32_t)(x - s->t->events));
}

/*
 * Events before the next must-order edge.  `ahead` is 0 for the last ones of the trace.
 *
 * To happens-before an acquire is what a read is to a variable, and a release a write: where
 * the last ones are known there is nothing to learn, and they take their place.  So there is
 * one way for all four, and no branch for the processor to foresee.
 */
static inline __attribute__((always_inline)) void pass_locks(struct stream *s, uint32_t from,
                                                             uint32_t to, uint32_t ahead)
{
	/* In registers: the compiler does not know what a store to a cell may change. */
	const struct event *x = s->t->events + from, *end = s->t->events + to;
	struct cell *cells = cell_of(s, 0), *locks = cells + s->t->variables_count;
	struct cell *const of[] = {
		[OP_READ] = cells, [OP_WRITE] = cells, [OP_ACQ] = locks, [OP_REL] = locks
	};
	const uint64_t simple = 1 << OP_READ | 1 << OP_WRITE | 1 << OP_ACQ | 1 << OP_REL;
	uint32_t *const *views = s->views;
	uint32_t untold = s->width + UNTOLD;

	for (epoch now = epoch_of(from, 0); x < end; x++, now += epoch_of(0, 0)) {
		/* Cells are met in no order; that no branch waits for them hides it from the
		 * processor.  (Of a lock the address is wrong, which is harmless.) */
		__builtin_prefetch(&cells[x[ahead].target], 1);
		if (G_UNLIKELY(!(simple >> x->op & 1)) ||
		    G_UNLIKELY(x->flags & (EVENT_INERT | EVENT_WIDE)) ||
		    G_UNLIKELY(!access_cell(&of[x->op][x->target],
		                            views[2 * x->thread + (x->op & 1)], now | x->thread,
		                            x->op & 1, untold, NULL)))
			no_cell(s, x);
	}
}

/* The same where sections matter. */
static inline __attribute__((always_inline)) void pass_quiet(struct stream *s, uint32_t from,
                                                             uint32_t to, uint32_t ahead)
{
	const struct event *x = s->t->events + from, *end = s->t->events + to;
	char *cells = s->cells;
	uint32_t *const *views = s->views;
	uint32_t many = s->width + MANY;

	for (epoch now = epoch_of(from, 0); x < end; x++, now += epoch_of(0, 0)) {
		__builtin_prefetch(cells + (size_t)x[ahead].target * LINE, 1);
		if (G_UNLIKELY(x->op == OP_ACQ || x->op == OP_REL) && !event_inert(x))
			step_lock(s, x);
		else if (G_UNLIKELY(!causality_quiet(s->c, x, true)))
			step(s, (uint32_t)(x - s->t->events));
		else if (!access_cell((struct cell *)(cells + (size_t)x->target * LINE),
		                      views[2 * x->thread + x->op], now | x->thread, x->op,
		                      many, s->many.times))
			quiet_table(s, x);
	}
}

/* Functions of their own, so that the loop has all registers. */
static __attribute__((noinline)) void pass_sections(struct stream *s, uint32_t from,
                                                    uint32_t to, uint32_t ahead)
{
	pass_quiet(s, from, to, ahead);
}

static __attribute__((noinline)) void pass_cells(struct stream *s, uint32_t from, uint32_t to)
{
	pass_locks(s, from, to, AHEAD);
}

static void pass_to(struct stream *s, uint32_t from, uint32_t to, uint32_t ahead)
{
	if (s->c->sections != NULL)
		pass_sections(s, from, to, ahead);
	else if (ahead == AHEAD)
		pass_cells(s, from, to);
	else
		pass_locks(s, from, to, ahead);
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
			                           order_past(s->order, e, false), x->thread,
			                           op_writes(x->op)));
	}
	return true;
}

/* One block, that the first points to. */
static uint32_t **views_new(uint32_t count, uint32_t width)
{
	uint32_t **views = g_new0(uint32_t *, count + 1);

	views[0] = g_new0(uint32_t, (size_t)count * width + 1);
	for (uint32_t u = 1; u < count; u++)
		views[u] = views[0] + (size_t)u * width;
	return views;
}

bool stream_sites(struct trace *t, enum order_kind kind, struct site_races *races,
                  const struct progress *progress)
{
	struct stream s = { .t = t, .kind = kind, .races = races };
	struct order *order = NULL;

	if (kind == ORDER_KIND_CP)
		s.order = order = order_new(t, kind, progress);
	else
		s.c = causality_new(t, kind, KEEP_NOTHING, progress);
	if (s.order == NULL && s.c == NULL)
		return false;
	s.steady = s.c != NULL && s.c->sections != NULL;
	s.stride = s.steady ? LINE : CELL;
	s.cells =
	        s.steady ? (char *)s.c->sections->first
	                 : scattered_alloc0((t->variables_count + t->objects_count + 1) * CELL);
	s.threads = (uint32_t)t->threads_count;
	s.width = (s.threads + STEP - 1) / STEP * STEP;
	s.views = views_new(2 * s.threads, s.width + STEP);
	s.scratch = g_new0(uint32_t, s.width + STEP);
	for (uint32_t u = 0; s.c != NULL && u < s.threads; u++)
		fill_views(&s, clocks_at(&s.c->clocks, 0), u);
	if (s.c != NULL && s.c->observations != NULL)
		observations_borrow(s.c->observations, &cell_of(&s, 0)->last[OP_WRITE].epoch,
		                    2);
	table_new(&s.many, s.width); /* so that no place is 0: nobody knows its event */
	if (s.c != NULL && s.c->locks != NULL && s.c->sections == NULL)
		locks_borrow(s.c, &cell_of(&s, t->variables_count)->last[0].epoch,
		             epoch_of(0, s.width + WHOLE));
	bool done = s.c == NULL ? pass_finished(&s, progress) : pass(&s, progress);
	if (!s.steady)
		g_free(s.cells);
	tables_free(&s.many);
	tables_free(&s.whole);
	lists_free(&s.lists);
	g_free(s.views[0]);
	g_free(s.views);
	g_free(s.scratch);
	causality_free(s.c);
	order_free(order);
	return done;
}
