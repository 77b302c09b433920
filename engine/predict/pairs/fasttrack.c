/*
 * fasttrack.c - one pass that keeps, for each variable, the epochs or vectors of accesses that
 * later accesses may race with (FastTrack: Flanagan and Freund, PLDI 2009).
 *
 * A cell of 16 bytes has the epochs of the last read and write, four cells per cache line; that
 * suffices for most accesses, as an ordered access replaces the previous one. When reads are
 * concurrent (FastTrack's read-shared case), or atomic and plain accesses meet, the variable
 * gets a vector with an entry for each thread and kind; while few of many threads access it, a
 * sorted list (last_lists.h). Times are event ids, so a racy pair is known without look-up.
 */
#include "engine/base/scattered.h"
#include "engine/order/causality.h"
#include "engine/predict/pairs/last_lists.h"
#include "engine/predict/pairs/pairs.h"
#include "engine/trace/unexplained.h"

#include <string.h>

/*
 * All zero: not accessed. The last write is always an epoch here. If the variable has a vector
 * or list, the read field has its index (with LISTED for a list) and an invalid thread number:
 * READ_VECTOR or READ_LIST for reads, FULL_VECTOR (vector or list) for all accesses. No clock
 * covers these threads, so the usual comparison with the last accesses detects them.
 * READS_UNTRACKED: reads of a variable read by many threads are no longer stored; all clocks of
 * reads cover this thread, so reads take the fast path, and a later write recovers the reads
 * from the trace.
 */
union last {
	epoch epoch; /* both fields as one value (observations_borrow) */
	struct {
		uint32_t thread;
		uint32_t time; /* event + 1 */
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

/* Invalid thread numbers, relative to the number of threads; see union last. */
enum { READS_UNTRACKED, READ_VECTOR, FULL_VECTOR, READ_LIST };

/* Granularity of vectors, for SIMD comparison. */
enum { STEP = 8 };
/* Vectors in one array, aligned to cache lines. */
struct vectors {
	uint32_t *times;
	uint64_t count, capacity;
	GArray *unused; /* uint32_t: free vectors; NULL: none */
};

struct stream {
	struct trace *t;
	struct causality *c; /* NULL for CP, which uses `order` */
	struct order *order; /* queried */
	uint64_t at;         /* events passed */
	enum order_kind kind;
	/* By variable, at distance `stride` (CELL; LINE where each is beside its guard); for
	 * orders of locks only, then by object. */
	char *cells;
	size_t stride;
	uint32_t threads;
	uint32_t width; /* threads rounded up to STEP; excess entries stay 0 */
	/* Vectors of reads since the last write, [width] each, with the write in the cell; the
	 * lowest bits of an index count these reads. */
	struct vectors read_vectors;
	uint64_t looked_at; /* events searched for untracked reads */
	bool tracks_all;    /* recovering is too frequent: all reads are tracked from now on */
	/* With orders over critical sections: reads under one lock are unordered, so many
	 * variables have read vectors. These are kept, reads compare with the whole vector,
	 * and no reads are untracked. */
	bool steady;
	/* Vectors of all accesses: [KINDS][width]. */
	struct vectors full_vectors;
	/* Vectors of either kind as lists, while these are shorter; keys: key_of. */
	struct last_lists lists;
	bool atomics; /* an atomic access occurred */
	/*
	 * By thread a dense copy of its vector clock: [width + STEP], the largest event of each
	 * thread that is ordered before; all of its own events. Entries above are for invalid
	 * thread numbers. A read covers READS_UNTRACKED, a write does not: separate copies
	 * (clock_of).
	 */
	uint32_t **dense_clocks;
	uint32_t *scratch; /* vector clock of one event */
	/* With many threads (clocks.h) a clock is WIDE_CLOCK numbers instead: see time_in. */
	const struct clocks *wide;
	struct site_races *races;
	/* For comparing with lists, which grow with the threads; the pass ends when it is over.
	 * Or NULL. */
	struct effort *effort;
	struct unexplained_search *unexplained; /* beside the pass; or NULL */
};

static bool over(const struct stream *s)
{
	return s->effort != NULL && s->effort->over;
}

static void race(struct stream *s, uint32_t e1, uint32_t e2, uint32_t variable)
{
	site_races_add(s->races, e1, e2, variable);
}

static inline uint32_t *clock_of(const struct stream *s, uint32_t thread, bool writes)
{
	return s->dense_clocks[2 * thread + writes];
}

/* A wide clock: root of the tree, own thread, is it for a write? */
enum { WIDE_ROOT, WIDE_OWN, WIDE_WRITES, WIDE_CLOCK };

static inline const uint32_t *fill_clock(const struct stream *s, uint32_t *clock,
                                         struct clock_view past, uint32_t thread, bool writes)
{
	if (G_UNLIKELY(s->wide != NULL)) {
		clock[WIDE_ROOT] = past.root;
		clock[WIDE_OWN] = thread;
		clock[WIDE_WRITES] = writes;
		return clock;
	}
	for (uint32_t u = 0; u < s->threads; u++)
		clock[u] = past.times[u];
	clock[thread] = UINT32_MAX;
	clock[s->width + READS_UNTRACKED] = writes ? 0 : UINT32_MAX;
	clock[s->width + READ_VECTOR] = writes || !s->steady ? 0 : UINT32_MAX;
	clock[s->width + FULL_VECTOR] = 0;
	clock[s->width + READ_LIST] = 0;
	return clock;
}

static inline void fill_views(const struct stream *s, struct clock_view past, uint32_t thread)
{
	fill_clock(s, clock_of(s, thread, false), past, thread, false);
	fill_clock(s, clock_of(s, thread, true), past, thread, true);
}

static inline struct cell *cell_of(const struct stream *s, uint64_t place)
{
	return (struct cell *)(s->cells + place * s->stride);
}

/* The last event of a thread, or of an invalid one, that a clock covers, + 1. */
static inline uint32_t time_in(const struct stream *s, const uint32_t *clock, uint32_t thread)
{
	if (G_LIKELY(s->wide == NULL))
		return clock[thread];
	if (thread >= s->width)
		return thread == s->width + READS_UNTRACKED && !clock[WIDE_WRITES] ? UINT32_MAX
		                                                                   : 0;
	return thread == clock[WIDE_OWN] ? UINT32_MAX
	                                 : wide_time(&s->wide->nodes, clock[WIDE_ROOT], thread);
}

static inline bool covers(const struct stream *s, const uint32_t *clock, union last access)
{
	return access.time <= time_in(s, clock, access.thread);
}

/* -- variables with a vector or list ------------------------------------------------------- */

static inline bool has_table(const struct stream *s, const struct cell *cell, uint32_t kind)
{
	return cell->last[OP_READ].thread == s->width + kind;
}

/* Indices are multiples of STEP, below LISTED. */
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
	return s->read_vectors.times + place_of(cell);
}

static inline uint32_t *whole_of(const struct stream *s, const struct cell *cell)
{
	return s->full_vectors.times + place_of(cell);
}

/* The key of a list's entry: by kind, in the order of reporting, then by thread. */
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

static void tables_grow(struct vectors *of, uint32_t numbers)
{
	uint32_t *old = of->times;

	of->capacity = MAX(64 * MAX(numbers, 1), 2 * of->capacity);
	BUG_ON(of->capacity >= LISTED);
	of->times = scattered_lines(of->capacity * sizeof(uint32_t));
	if (old != NULL)
		memcpy(of->times, old, of->count * sizeof(uint32_t));
	g_free(old);
}

/* A new vector, zeroed; its index. */
static uint32_t vector_new(struct vectors *of, uint32_t numbers)
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

static void table_drop(struct vectors *of, const uint32_t *times)
{
	uint32_t at = (uint32_t)(times - of->times);

	if (of->unused == NULL)
		of->unused = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_array_append_val(of->unused, at);
}

static void tables_free(struct vectors *of)
{
	g_free(of->times);
	if (of->unused != NULL)
		g_array_free(of->unused, TRUE);
}

/* Is a list of this size longer than half of a vector? (With many threads all are lists.) */
static inline bool too_long(const struct stream *s, uint32_t numbers, uint32_t table)
{
	return s->wide == NULL && 2 * (uint64_t)numbers > table;
}

/* Convert a list to a vector: of reads, or of all accesses. */
static __attribute__((noinline)) void list_to_table(struct stream *s, struct cell *cell,
                                                    bool whole)
{
	uint32_t from = place_of(cell);
	uint32_t at = whole ? vector_new(&s->full_vectors, KINDS * s->width)
	                    : vector_new(&s->read_vectors, s->width);
	uint32_t *times = (whole ? s->full_vectors.times : s->read_vectors.times) + at;
	const struct last_list *list = lists_at(&s->lists, from);

	for (uint32_t i = 0; i < list->count; i++) {
		uint32_t key = list->of[i].key;

		times[(whole ? key_kind(key) * s->width : 0) + key_thread(key)] =
		        list->of[i].time;
	}
	lists_drop(&s->lists, from);
	cell->last[OP_READ].time = whole ? at + 1 : at | (cell->last[OP_READ].time & OFTEN);
}

/* Add to a list, whose index may change; the bits beside it are kept. */
static inline void list_note(struct stream *s, struct cell *cell, uint32_t kind,
                             uint32_t thread, uint32_t time)
{
	uint32_t place = lists_put(&s->lists, place_of(cell), key_of(kind, thread), time);

	cell->last[OP_READ].time = place | LISTED | (cell->last[OP_READ].time & OFTEN);
}

/* Set READ_VECTOR or READ_LIST. */
static inline void name_reads(const struct stream *s, struct cell *cell)
{
	cell->last[OP_READ].thread = s->width + (is_listed(cell) ? READ_LIST : READ_VECTOR);
}

/* Add a read to the list or vector of reads; a list may become a vector. */
static void note_read(struct stream *s, struct cell *cell, uint32_t thread, uint32_t time)
{
	if (!is_listed(cell)) {
		reads_of(s, cell)[thread] = time;
		return;
	}
	list_note(s, cell, PLAIN_READ, thread, time);
	/* For orders of sections a vector serves later reads faster; converting is amortised
	 * over earlier ones. */
	if (too_long(s, list_numbers(list_of(s, cell)), s->width) ||
	    (s->steady && s->wide == NULL && 2u * list_of(s, cell)->uses > s->width))
		list_to_table(s, cell, false);
}

static __attribute__((noinline)) void make_reads(struct stream *s, struct cell *cell)
{
	union last last = cell->last[OP_READ];

	if (too_long(s, LIST_ALIGNED, s->width))
		cell->last[OP_READ].time = vector_new(&s->read_vectors, s->width);
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

/* The latest read of a list as an epoch; 0 if empty. */
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

/* After a write ordered after all reads the latest one represents them in the cell. */
static void drop_reads(struct stream *s, struct cell *cell, struct vectors *tables,
                       const uint32_t *times, const uint32_t *reads)
{
	uint32_t thread = latest(s, reads);

	cell->last[OP_READ].thread = thread;
	cell->last[OP_READ].time = reads[thread];
	table_drop(tables, times);
}

/* The same for a list. */
static void drop_list(struct stream *s, struct cell *cell)
{
	uint32_t place = place_of(cell);

	cell->last[OP_READ].epoch = latest_listed(list_of(s, cell));
	lists_drop(&s->lists, place);
}

/* -- untracked reads ----------------------------------------------------------------------- */

static inline bool plain_read(const struct event *x)
{
	return x->op == OP_READ && !event_inert(x);
}

/* Time of the last tracked read. */
static uint32_t last_tracked_read(const struct stream *s, const struct cell *cell)
{
	if (is_listed(cell))
		return ((union last){ .epoch = latest_listed(list_of(s, cell)) }).time;
	const uint32_t *times = reads_of(s, cell);
	return times[latest(s, times)];
}

/* Recover untracked reads of a variable before `end`; its vector has those before. */
static void recover_reads(struct stream *s, struct cell *cell, uint32_t end, uint32_t variable)
{
	uint32_t from = last_tracked_read(s, cell);

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

/* Recover untracked reads of all variables, and track from now on, so that recovery costs at
 * most about one more pass. */
static void recover_all_reads(struct stream *s, uint32_t end)
{
	for (uint32_t e = 0; e < end; e++) {
		const struct event *x = &s->t->events[e];

		if (!plain_read(x))
			continue;
		struct wide run = event_variables(s->t, x);
		for (uint32_t v = run.first; v < run.first + run.count; v++) {
			if (has_table(s, cell_of(s, v), READS_UNTRACKED))
				note_read(s, cell_of(s, v), x->thread, e + 1);
		}
	}
	for (uint32_t v = 0; v < s->t->variables_count; v++) {
		if (has_table(s, cell_of(s, v), READS_UNTRACKED))
			name_reads(s, cell_of(s, v));
	}
	s->tracks_all = true;
}

static __attribute__((noinline)) void look_up(struct stream *s, struct cell *cell,
                                              uint32_t event, uint32_t variable)
{
	if (s->looked_at < s->t->events_count)
		recover_reads(s, cell, event, variable);
	else
		recover_all_reads(s, event);
}

/* -- variables with a vector, continued ---------------------------------------------------- */

static void shared_read(struct stream *s, struct cell *cell, uint32_t e, uint32_t thread)
{
	note_read(s, cell, thread, e + 1);
	name_reads(s, cell);
	if (s->steady)
		return;
	if ((cell->last[OP_READ].time & OFTEN) < OFTEN)
		cell->last[OP_READ].time++;
	else if (!s->tracks_all)
		cell->last[OP_READ].thread = s->width + READS_UNTRACKED;
}

/* Makes the list of all accesses; where the cell has a list of reads, from that. */
static void make_full_list(struct stream *s, struct cell *cell)
{
	union last read = cell->last[OP_READ], write = cell->last[OP_WRITE];

	if (!has_table(s, cell, READ_LIST)) {
		cell->last[OP_READ].time = lists_new(&s->lists) | LISTED;
		if (read.time != 0)
			list_note(s, cell, PLAIN_READ, read.thread, read.time);
	}
	cell->last[OP_READ].time &= ~(uint32_t)OFTEN;
	cell->last[OP_READ].time |= 1; /* an epoch that no clock covers */
	if (write.time != 0)
		list_note(s, cell, PLAIN_WRITE, write.thread, write.time);
}

static void make_full_vector(struct stream *s, struct cell *cell)
{
	uint32_t at = vector_new(&s->full_vectors, KINDS * s->width);
	uint32_t *reads = s->full_vectors.times + at + (size_t)PLAIN_READ * s->width;
	uint32_t *writes = s->full_vectors.times + at + (size_t)PLAIN_WRITE * s->width;
	union last read = cell->last[OP_READ], write = cell->last[OP_WRITE];

	if (has_table(s, cell, READ_VECTOR)) {
		memcpy(reads, reads_of(s, cell), s->width * sizeof(uint32_t));
		table_drop(&s->read_vectors, reads_of(s, cell));
	} else {
		reads[read.thread] = read.time;
	}
	writes[write.thread] = write.time;
	cell->last[OP_READ].time = at + 1;
}

/* Switch to a vector or list of all accesses. */
static __attribute__((noinline)) void make_full(struct stream *s, struct cell *cell)
{
	if (has_table(s, cell, READ_VECTOR) || too_long(s, LIST_ALIGNED, KINDS * s->width))
		make_full_vector(s, cell);
	else
		make_full_list(s, cell);
	cell->last[OP_READ].thread = s->width + FULL_VECTOR;
}

static inline uint32_t any_later(const uint32_t *times, const uint32_t *clock)
{
	uint32_t any = 0;

	for (uint32_t u = 0; u < STEP; u++)
		any |= times[u] > clock[u];
	return any;
}

/* Report accesses of one kind that are not ordered before; true when all are ordered. */
static inline bool compare_vector(struct stream *s, const uint32_t *times,
                                  const uint32_t *clock, uint32_t e2, uint32_t variable)
{
	uint32_t any = 0;

	for (uint32_t u = 0; u < s->width; u += STEP)
		any |= any_later(times + u, clock + u);
	for (uint32_t u = 0; G_UNLIKELY(any) && u < s->threads; u++) {
		if (times[u] > clock[u])
			race(s, times[u] - 1, e2, variable);
	}
	return any == 0;
}

/* compare_vector for a list, for the kinds in the bit set: true when no plain one is
 * unordered. */
static bool compare_list(struct stream *s, const struct last_list *list, const uint32_t *clock,
                         uint32_t wanted, uint32_t e2, uint32_t variable)
{
	bool known = true;

	if (s->effort != NULL && !effort_more(s->effort, list->count))
		return false;
	for (uint32_t i = 0; i < list->count; i++) {
		struct last_entry x = list->of[i];

		if (x.time <= time_in(s, clock, key_thread(x.key)) ||
		    !(wanted >> key_kind(x.key) & 1))
			continue;
		race(s, x.time - 1, e2, variable);
		known &= key_kind(x.key) >= ATOMIC_READ;
	}
	return known;
}

/* Access with a full vector. */
static void access_full_vector(struct stream *s, struct cell *cell, const uint32_t *clock,
                               uint32_t e, uint32_t variable)
{
	const struct event *x = &s->t->events[e];
	size_t width = s->width;
	uint32_t *times = whole_of(s, cell);
	bool writes = op_writes(x->op), atomic = op_is_atomic(x->op);
	bool known = compare_vector(s, times + PLAIN_WRITE * width, clock, e, variable);

	if (writes)
		known &= compare_vector(s, times + PLAIN_READ * width, clock, e, variable);
	if (s->atomics && !atomic) {
		compare_vector(s, times + ATOMIC_WRITE * width, clock, e, variable);
		if (writes)
			compare_vector(s, times + ATOMIC_READ * width, clock, e, variable);
	}
	times[(2 * atomic + writes) * width + x->thread] = e + 1;
	if (writes && known && !s->atomics)
		drop_reads(s, cell, &s->full_vectors, times, times + PLAIN_READ * width);
}

/* Access with a full list. */
static void access_listed(struct stream *s, struct cell *cell, const uint32_t *clock,
                          uint32_t e, uint32_t variable)
{
	const struct event *x = &s->t->events[e];
	bool writes = op_writes(x->op), atomic = op_is_atomic(x->op);
	uint32_t wanted = 1 << PLAIN_WRITE | (writes ? 1 << PLAIN_READ : 0);

	if (!atomic)
		wanted |= 1 << ATOMIC_WRITE | (writes ? 1 << ATOMIC_READ : 0);
	if (compare_list(s, list_of(s, cell), clock, wanted, e, variable) && writes &&
	    !s->atomics) {
		drop_list(s, cell);
		return;
	}
	list_note(s, cell, 2 * atomic + writes, x->thread, e + 1);
	if (too_long(s, list_numbers(list_of(s, cell)), KINDS * s->width))
		list_to_table(s, cell, true);
}

/* A plain write ordered after the last write, of a variable with tracked reads. */
static void write_reads(struct stream *s, struct cell *cell, const uint32_t *clock, uint32_t e,
                        uint32_t variable)
{
	bool listed = is_listed(cell);
	bool known =
	        listed ? compare_list(s, list_of(s, cell), clock, 1 << PLAIN_READ, e, variable)
	               : compare_vector(s, reads_of(s, cell), clock, e, variable);

	if (!known || s->steady)
		cell->last[OP_READ].time &= ~(uint32_t)OFTEN;
	else if (listed)
		drop_list(s, cell);
	else
		drop_reads(s, cell, &s->read_vectors, reads_of(s, cell), reads_of(s, cell));
}

static __attribute__((noinline)) void access_table(struct stream *s, struct cell *cell,
                                                   const uint32_t *clock, uint32_t e,
                                                   uint32_t variable)
{
	const struct event *x = &s->t->events[e];

	if (has_table(s, cell, READS_UNTRACKED))
		look_up(s, cell, e, variable);
	/* Shared reads and ordered writes: FastTrack's common case. */
	if (!has_table(s, cell, FULL_VECTOR) && covers(s, clock, cell->last[OP_WRITE]) &&
	    x->op <= OP_WRITE) {
		if (!has_table(s, cell, READ_VECTOR) && !has_table(s, cell, READ_LIST))
			make_reads(s, cell);
		if (x->op == OP_READ)
			shared_read(s, cell, e, x->thread);
		else
			write_reads(s, cell, clock, e, variable);
	} else {
		if (!has_table(s, cell, FULL_VECTOR))
			make_full(s, cell);
		s->atomics |= op_is_atomic(x->op);
		if (is_listed(cell))
			access_listed(s, cell, clock, e, variable);
		else
			access_full_vector(s, cell, clock, e, variable);
	}
	if (op_writes(x->op))
		cell->last[OP_WRITE].epoch = epoch_of(e, x->thread);
}

/* -- variables with a cell ----------------------------------------------------------------- */

/* A plain access; true when the cell suffices. Written to compile without a branch on whether
 * reads are in the cell, since that is unpredictable. `now`: the access's epoch, `beside`: the
 * invalid thread for tracked reads, `tables`: their vectors, or NULL when untracked. */
static inline __attribute__((always_inline)) bool access_cell(struct cell *cell,
                                                              const uint32_t *clock, epoch now,
                                                              uint32_t op, uint32_t beside,
                                                              uint32_t *tables)
{
	union last read = cell->last[OP_READ], write = cell->last[OP_WRITE];
	uint64_t mask = -(uint64_t)(read.thread == beside);

	if (G_UNLIKELY(read.time > clock[read.thread]) ||
	    G_UNLIKELY(write.time > clock[write.thread]))
		return false;
	if (tables != NULL)
		tables[(read.time + epoch_thread(now)) & mask] = (uint32_t)(now >> 32);
	if (__builtin_expect_with_probability(read.thread == beside, 0, 0.5))
		now = read.epoch;
	cell->last[op].epoch = now;
	return true;
}

/* access_cell with many threads. */
static bool access_wide(const struct stream *s, struct cell *cell, const uint32_t *clock,
                        epoch now, uint32_t op)
{
	union last read = cell->last[OP_READ];

	if (!covers(s, clock, read) || !covers(s, clock, cell->last[OP_WRITE]))
		return false;
	if (read.thread != s->width + READS_UNTRACKED) /* those only reads cover */
		cell->last[op].epoch = now;
	return true;
}

static void access_variables(struct stream *s, uint32_t e, const uint32_t *clock)
{
	const struct event *x = &s->t->events[e];
	struct wide run = event_variables(s->t, x);

	for (uint32_t v = run.first; v < run.first + run.count; v++) {
		if (x->op <= OP_WRITE && s->wide != NULL) {
			if (!access_wide(s, cell_of(s, v), clock, epoch_of(e, x->thread),
			                 x->op))
				access_table(s, cell_of(s, v), clock, e, v);
			continue;
		}
		if (x->op > OP_WRITE ||
		    !access_cell(cell_of(s, v), clock, epoch_of(e, x->thread), x->op,
		                 s->width + (s->steady ? READ_VECTOR : READS_UNTRACKED),
		                 s->steady ? s->read_vectors.times : NULL))
			access_table(s, cell_of(s, v), clock, e, v);
	}
}

/* -- the pass ------------------------------------------------------------------------------ */

/* All events but quiet plain accesses of one variable. */
static __attribute__((noinline)) void step_any(struct stream *s, uint32_t e)
{
	const struct event *x = &s->t->events[e];
	const uint32_t *clock = clock_of(s, x->thread, op_writes(x->op));
	struct clocks *clocks = &s->c->clocks;

	causality_step(s->c, e);
	if (clocks->joined_at[x->thread] == e)
		fill_views(s, clocks_view(clocks, clocks->now[x->thread]), x->thread);
	if (op_is_access(x->op) && !event_inert(x)) {
		/* SHB compares without the access's own observation. */
		if (s->kind == ORDER_KIND_SHB)
			clock = fill_clock(s, s->scratch, clocks_view(clocks, s->c->unobserved),
			                   x->thread, op_writes(x->op));
		access_variables(s, e, clock);
	}
	if (clocks_sweep_due(clocks))
		causality_sweep(s->c, NULL, NULL);
}

/* An acquire or release, in an order of sections. */
static __attribute__((noinline)) void step_lock(struct stream *s, const struct event *x)
{
	uint32_t e = (uint32_t)(x - s->t->events);
	struct clocks *clocks = &s->c->clocks;

	causality_lock(s->c, e, x);
	if (clocks->joined_at[x->thread] == e)
		fill_views(s, clocks_view(clocks, clocks->now[x->thread]), x->thread);
	if (clocks_sweep_due(clocks))
		causality_sweep(s->c, NULL, NULL);
}

/* A quiet access (causality.h) that needs more than the cell. */
static __attribute__((noinline)) void quiet_table(struct stream *s, const struct event *x)
{
	uint32_t e = (uint32_t)(x - s->t->events);
	struct cell *cell = cell_of(s, x->target);
	const uint32_t *clock = clock_of(s, x->thread, x->op == OP_WRITE);
	bool known = covers(s, clock, cell->last[OP_WRITE]);

	/* SHB: a read joins the clock of a write it does not cover. (On the fast path the last
	 * write is in the cell and covered.) */
	if (s->c->observations != NULL && x->op == OP_READ && !known) {
		step_any(s, e);
		return;
	}
	access_table(s, cell, clock, e, x->target);
	/* Variables with atomic accesses have full vectors. */
	if (x->op == OP_WRITE)
		causality_wrote(s->c, e, x);
}

enum { TICK = 1 << 20, AHEAD = 32 };

/* An acquire of a lock last released by another thread. */
static void acquire_new(struct stream *s, const struct event *x)
{
	uint32_t e = (uint32_t)(x - s->t->events);

	locks_acquire_new(s->c, e);
	fill_views(s, clocks_view(&s->c->clocks, s->c->clocks.now[x->thread]), x->thread);
	if (clocks_sweep_due(&s->c->clocks))
		causality_sweep(s->c, NULL, NULL);
}

static __attribute__((noinline)) void no_cell(struct stream *s, const struct event *x)
{
	struct cell *lock = cell_of(s, s->t->variables_count + x->target);

	if (event_simple(x))
		quiet_table(s, x);
	else if (x->op == OP_ACQ && !event_inert(x) && !has_table(s, lock, FULL_VECTOR))
		acquire_new(s, x);
	else
		step_any(s, (uint32_t)(x - s->t->events));
}

/*
 * Events up to the next must-order edge. `ahead`: prefetch distance, 0 at the end of the trace.
 *
 * For happens-before an acquire is like a read of the lock and a release like a write: if the
 * last ones are covered nothing is joined. So all four share one branch-free path.
 */
static inline __attribute__((always_inline)) void pass_locks(struct stream *s, uint32_t from,
                                                             uint32_t to, uint32_t ahead)
{
	/* In registers, since stores to cells might alias. */
	const struct event *x = s->t->events + from, *end = s->t->events + to;
	struct cell *cells = cell_of(s, 0), *locks = cells + s->t->variables_count;
	struct cell *const of[] = {
		[OP_READ] = cells, [OP_WRITE] = cells, [OP_ACQ] = locks, [OP_REL] = locks
	};
	const uint64_t simple = 1 << OP_READ | 1 << OP_WRITE | 1 << OP_ACQ | 1 << OP_REL;
	uint32_t *const *dense_clocks = s->dense_clocks;
	uint32_t untold = s->width + READS_UNTRACKED;

	for (epoch now = epoch_of(from, 0); x < end; x++, now += epoch_of(0, 0)) {
		/* Prefetch, as access to cells is irregular. (For a lock the address is wrong,
		 * but harmless.) */
		__builtin_prefetch(&cells[x[ahead].target], 1);
		if (G_UNLIKELY(!(simple >> x->op & 1)) ||
		    G_UNLIKELY(x->flags & (EVENT_INERT | EVENT_WIDE)) ||
		    G_UNLIKELY(!access_cell(&of[x->op][x->target],
		                            dense_clocks[2 * x->thread + (x->op & 1)],
		                            now | x->thread, x->op & 1, untold, NULL)))
			no_cell(s, x);
	}
}

/* pass_locks for orders of sections. */
static inline __attribute__((always_inline)) void pass_quiet(struct stream *s, uint32_t from,
                                                             uint32_t to, uint32_t ahead)
{
	const struct event *x = s->t->events + from, *end = s->t->events + to;
	char *cells = s->cells;
	uint32_t *const *dense_clocks = s->dense_clocks;
	uint32_t many = s->width + READ_VECTOR;

	for (epoch now = epoch_of(from, 0); x < end; x++, now += epoch_of(0, 0)) {
		__builtin_prefetch(cells + (size_t)x[ahead].target * LINE, 1);
		if (G_UNLIKELY(x->op == OP_ACQ || x->op == OP_REL) && !event_inert(x))
			step_lock(s, x);
		else if (G_UNLIKELY(!causality_quiet(s->c, x, true)))
			step_any(s, (uint32_t)(x - s->t->events));
		else if (!access_cell((struct cell *)(cells + (size_t)x->target * LINE),
		                      dense_clocks[2 * x->thread + x->op], now | x->thread,
		                      x->op, many, s->read_vectors.times))
			quiet_table(s, x);
	}
}

/* Separate functions, for register allocation. */
static __attribute__((noinline)) void pass_sections(struct stream *s, uint32_t from,
                                                    uint32_t to, uint32_t ahead)
{
	pass_quiet(s, from, to, ahead);
}

static __attribute__((noinline)) void pass_cells(struct stream *s, uint32_t from, uint32_t to)
{
	pass_locks(s, from, to, AHEAD);
}

/* The passes with many threads. */
static void pass_wide(struct stream *s, uint32_t from, uint32_t to)
{
	for (uint32_t e = from; e < to && !over(s); e++) {
		const struct event *x = &s->t->events[e];
		const uint32_t *clock = clock_of(s, x->thread, x->op == OP_WRITE);

		if (s->steady && (x->op == OP_ACQ || x->op == OP_REL) && !event_inert(x))
			step_lock(s, x);
		else if (s->steady ? !causality_quiet(s->c, x, true) : !event_simple(x))
			step_any(s, e);
		else if (!access_wide(s, cell_of(s, x->target), clock, epoch_of(e, x->thread),
		                      x->op))
			quiet_table(s, x);
	}
}

static void pass_to(struct stream *s, uint32_t from, uint32_t to, uint32_t ahead)
{
	if (s->wide != NULL)
		pass_wide(s, from, to);
	else if (s->c->sections != NULL)
		pass_sections(s, from, to, ahead);
	else if (ahead == AHEAD)
		pass_cells(s, from, to);
	else
		pass_locks(s, from, to, ahead);
}

static void pass_run(struct stream *s, uint32_t from, uint32_t to, uint32_t ahead)
{
	for (uint32_t e = from; e < to && !over(s);) {
		uint32_t quiet = CLAMP(s->c->next_must, e, to);

		pass_to(s, e, quiet, ahead);
		e = quiet;
		if (e < to)
			step_any(s, e++);
	}
	if (!over(s))
		unexplained_see(s->unexplained, from, to);
}

static bool pass(struct stream *s, uint64_t end, const struct progress *progress)
{
	uint64_t count = s->t->events_count;
	uint32_t last = count > AHEAD ? (uint32_t)count - AHEAD : 0;
	uint32_t tick = (uint32_t)s->at, run = s->unexplained ? UNEXPLAINED_RUN : TICK;

	for (uint32_t e = (uint32_t)s->at, to; e < end && !over(s); e = to) {
		if (e >= tick) {
			if (!progress_tick(progress, (double)e / count, "races by site"))
				return false;
			tick = e + MIN(TICK, UINT32_MAX - e);
		}
		to = (uint32_t)MIN((uint64_t)e + run, end);
		if (e < last)
			to = MIN(to, last);
		pass_run(s, e, to, e < last ? AHEAD : 0);
	}
	return true;
}

/* For CP, which needs several passes: queries the finished order. */
static bool pass_finished(struct stream *s, const struct progress *progress)
{
	for (uint32_t e = 0; e < s->t->events_count && !over(s); e++) {
		const struct event *x = &s->t->events[e];

		if (e % TICK == 0 &&
		    !progress_tick(progress, (double)e / s->t->events_count, "races by site"))
			return false;
		if (op_is_access(x->op) && !event_inert(x))
			access_variables(s, e,
			                 fill_clock(s, s->scratch,
			                            order_past(s->order, e, false), x->thread,
			                            op_writes(x->op)));
	}
	return true;
}

/* One block, pointed to by the first element. */
static uint32_t **dense_clocks_new(uint32_t count, uint32_t width)
{
	uint32_t **dense_clocks = g_new0(uint32_t *, count + 1);

	dense_clocks[0] = g_new0(uint32_t, (size_t)count * width + 1);
	for (uint32_t u = 1; u < count; u++)
		dense_clocks[u] = dense_clocks[0] + (size_t)u * width;
	return dense_clocks;
}

struct stream *stream_new(struct trace *t, enum order_kind kind, struct site_races *races,
                          struct effort *effort, const struct progress *progress)
{
	struct causality *c = NULL;
	struct order *order = NULL;

	if (kind == ORDER_KIND_CP)
		order = order_new(t, kind, progress);
	else
		c = causality_new(t, kind, KEEP_NOTHING, progress);
	if (order == NULL && c == NULL)
		return NULL;
	struct stream *s = g_new(struct stream, 1);
	*s = (struct stream){ .t = t, .kind = kind, .races = races, .effort = effort };
	s->c = c;
	s->order = order;
	s->steady = c != NULL && c->sections != NULL;
	s->stride = s->steady ? LINE : CELL;
	s->cells =
	        s->steady
	                ? (char *)c->sections->first
	                : scattered_alloc0((t->variables_count + t->objects_count + 1) * CELL);
	s->threads = (uint32_t)t->threads_count;
	s->width = (s->threads + STEP - 1) / STEP * STEP;
	const struct clocks *clocks = c != NULL ? &c->clocks : order_clocks(order);
	s->wide = clocks->wide ? clocks : NULL;
	s->dense_clocks =
	        dense_clocks_new(2 * s->threads, s->wide ? WIDE_CLOCK : s->width + STEP);
	s->scratch = g_new0(uint32_t, s->width + STEP);
	for (uint32_t u = 0; c != NULL && u < s->threads; u++)
		fill_views(s, clocks_view(clocks, 0), u);
	if (c != NULL && c->observations != NULL)
		observations_borrow(c->observations, &cell_of(s, 0)->last[OP_WRITE].epoch, 2);
	/* makes all indices nonzero, so that no clock covers them */
	vector_new(&s->read_vectors, s->wide ? STEP : s->width);
	if (c != NULL && c->locks != NULL && c->sections == NULL && !s->wide)
		locks_borrow(c, &cell_of(s, t->variables_count)->last[0].epoch,
		             epoch_of(0, s->width + FULL_VECTOR));
	return s;
}

bool stream_pass(struct stream *s, uint64_t end, const struct progress *progress)
{
	if (end <= s->at)
		return true;
	bool done = s->c == NULL ? pass_finished(s, progress) : pass(s, end, progress);
	s->at = s->c == NULL ? s->t->events_count : end;
	return done;
}

void stream_free(struct stream *s)
{
	if (s == NULL)
		return;
	if (!s->steady)
		g_free(s->cells);
	tables_free(&s->read_vectors);
	tables_free(&s->full_vectors);
	lists_free(&s->lists);
	g_free(s->dense_clocks[0]);
	g_free(s->dense_clocks);
	g_free(s->scratch);
	causality_free(s->c);
	order_free(s->order);
	g_free(s);
}

bool stream_sites(struct trace *t, enum order_kind kind, struct site_races *races,
                  struct effort *effort, const struct progress *progress)
{
	struct stream *s = stream_new(t, kind, races, effort, progress);

	if (s == NULL)
		return false;
	if (s->c != NULL)
		s->unexplained = unexplained_begin(t);
	bool done = stream_pass(s, t->events_count, progress);
	unexplained_end(s->unexplained);
	stream_free(s);
	return done;
}
