/*
 * projection.c - see projection.h.
 *
 * A pass takes the observations of some variables alone into the order, and keeps these, and
 * the variables with a conflicting pair that it leaves unordered. That is right for any
 * variables; how few are kept depends on which. First the suspects (which nearly always are
 * all, so that the pass picks the events, too); where that keeps much, those that a pass with
 * all observations leaves unordered. (What is kept by then also has observations that order;
 * another pass could drop more.)
 */
#include "engine/predict/ladder/projection.h"

#include "engine/base/arrays.h"
#include "engine/base/aside.h"
#include "engine/base/scattered.h"
#include "engine/base/search.h"
#include "engine/order/causality.h"
#include "engine/trace/index.h"
#include "engine/trace/own_site.h"
#include "engine/trace/binary/reel.h"
#include "engine/trace/storage.h"
#include "engine/trace/weak.h"

#include <string.h>

enum { TICK = 1 << 20, AHEAD = 16 };

/* The events of the projection, one after the other. */
struct picked {
	const struct trace *t;
	const uint64_t *kept; /* variables; a pass may add some on its way */
	uint64_t *ends;       /* bit set: events at ends of must-order edges; owned */
	struct event *events; /* owned */
	uint32_t *event;      /* by event: its event in the trace; owned */
	uint32_t *stack;      /* by event: its call stack, if `stacks`; owned */
	bool stacks;
	uint64_t count, room, most;
	bool over; /* there are more than `most`, or they are picked later: not complete */
};

/* Accesses of a variable since its last write. (Aligned, so that none is on two cache lines.)
 */
struct history {
	epoch write, read; /* the last ones; reads before `read` are ordered, unless `shared` */
	epoch observed;    /* its last write, if its reads order */
} __attribute__((aligned(32)));
/* The variables of each block. */
struct members {
	uint32_t *start; /* by block, with an end entry */
	uint32_t *variables;
};
struct pass {
	const struct trace *t;
	struct causality *c;
	struct history *of;       /* by variable */
	const uint64_t *observes; /* variables whose reads order; NULL: all */
	uint64_t *kept;           /* the result */
	uint32_t grown;           /* the events at which it has grown lie before this one */
	uint64_t *shared;         /* variables with reads that are not ordered */
	const struct members *members;
	uint32_t *last; /* by thread: its last event */
};

static inline bool has(const uint64_t *set, uint32_t i)
{
	return set[i / 64] >> (i % 64) & 1;
}

static inline void add(uint64_t *set, uint32_t i)
{
	set[i / 64] |= (uint64_t)1 << (i % 64);
}

static inline bool is_after(const struct pass *p, uint32_t thread, epoch x)
{
	return epoch_thread(x) == thread ||
	       epoch_within(x, clocks_now_time(&p->c->clocks, thread, epoch_thread(x)));
}

static void keep(struct pass *p, uint32_t v, uint32_t event)
{
	if (has(p->kept, v))
		return;
	add(p->kept, v);
	p->grown = MAX(p->grown, event + 1);
}

/* Is the current event of the thread ordered after all events up to `event`? */
static bool follows_all(const struct pass *p, uint32_t thread, uint32_t event)
{
	for (uint32_t u = 0; u < p->t->threads_count; u++) {
		uint32_t clock = clocks_now_time(&p->c->clocks, thread, u);

		if (u != thread && p->last[u] != NONE && clock <= MIN(event, p->last[u]))
			return false;
	}
	return true;
}

static inline __attribute__((always_inline)) void
look(struct pass *p, uint32_t v, uint32_t event, uint32_t thread, bool writes)
{
	struct history *h = &p->of[v];
	bool ordered = is_after(p, thread, h->write);

	if (writes) {
		ordered = ordered && (G_UNLIKELY(has(p->shared, v))
		                              ? follows_all(p, thread, epoch_event(h->read))
		                              : is_after(p, thread, h->read));
		h->write = epoch_of(event, thread);
		h->read = 0;
		p->shared[v / 64] &= ~((uint64_t)1 << (v % 64));
	} else {
		if (G_UNLIKELY(!is_after(p, thread, h->read)))
			add(p->shared, v);
		h->read = epoch_of(event, thread);
	}
	if (G_UNLIKELY(!ordered))
		keep(p, v, event);
}

/* All accesses of a block's life come between its allocation and its free. (Those of other
 * threads come after the allocation by must-order: keep_first.) */
static void look_at_block(struct pass *p, uint32_t event)
{
	const struct members *m = p->members;
	const struct event *x = &p->t->events[event];

	for (uint32_t i = m->start[x->target]; i < m->start[x->target + 1]; i++) {
		uint32_t v = m->variables[i];
		const struct history *h = &p->of[v];
		bool none = h->write == 0 && h->read == 0;
		bool ordered =
		        x->op == OP_FREE && is_after(p, x->thread, h->write) &&
		        (has(p->shared, v) ? follows_all(p, x->thread, epoch_event(h->read))
		                           : is_after(p, x->thread, h->read));

		if (!none && !ordered)
			keep(p, v, event);
	}
}

static __attribute__((noinline)) void look_at_any(struct pass *p, uint32_t event)
{
	const struct event *x = &p->t->events[event];
	struct wide run;

	causality_step(p->c, event);
	if ((x->op == OP_ALLOC || x->op == OP_FREE) && !event_inert(x))
		look_at_block(p, event);
	if (!op_is_access(x->op) || event_inert(x))
		return;
	run = event_variables(p->t, x);
	for (uint32_t v = run.first; v < run.first + run.count; v++) {
		if (op_is_atomic(x->op))
			keep(p, v, event);
		else if (p->observes == NULL || !has(p->kept, v))
			look(p, v, event, x->thread, op_writes(x->op));
		if (op_writes(x->op) && (p->observes == NULL || has(p->observes, v)))
			p->of[v].observed = epoch_of(event, x->thread);
	}
}

static void look_at(struct pass *p, uint32_t event)
{
	const struct event *x = &p->t->events[event];
	struct causality *c = p->c;
	uint32_t v = x->target;

	p->last[x->thread] = event;
	if (event >= c->next_must || !event_simple(x) ||
	    (x->op == OP_READ && !is_after(p, x->thread, p->of[v].observed))) {
		look_at_any(p, event);
		return;
	}
	if (!has(p->kept, v))
		look(p, v, event, x->thread, x->op == OP_WRITE);
	if (x->op != OP_WRITE)
		return;
	if (p->observes == NULL || has(p->observes, v))
		p->of[v].observed = epoch_of(event, x->thread);
	if (c->has_atomics)
		atomics_plain_write(c, event);
}

/* Keep variables that are accessed after the free of their block. */
static void keep_freed(struct pass *p)
{
	for (uint32_t v = 0; v < p->t->variables_count; v++) {
		uint32_t block = p->t->variables[v].block;
		uint32_t end = block == NONE ? NONE : p->t->blocks[block].free;
		epoch last = MAX(p->of[v].write, p->of[v].read);

		if (end != NONE && last != 0 && epoch_event(last) > end)
			keep(p, v, epoch_event(last));
	}
}

/* -- picking events ------------------------------------------------------------------------ */

static bool is_kept(const struct trace *t, const uint64_t *kept, const struct event *x)
{
	if (!op_is_access(x->op))
		return x->op != OP_ENTER && x->op != OP_LEAVE;
	return !event_inert(x) && has(kept, event_variables(t, x).first);
}

static void picked_init(struct picked *p, const struct trace *t, const uint64_t *kept,
                        uint64_t most)
{
	const struct trace_index *ix = t->index;

	*p = (struct picked){ .t = t,
		              .kept = kept,
		              .stacks = own_sites_need_stacks(t),
		              .ends = g_new0(uint64_t, t->events_count / 64 + 1),
		              .most = most };
	for (uint64_t i = 0; i < ix->must_count; i++) {
		add(p->ends, ix->must[i].before);
		add(p->ends, ix->must[i].after);
	}
}

static void picked_release(struct picked *p)
{
	g_free(p->ends);
	g_free(p->events);
	g_free(p->event);
	g_free(p->stack);
}

static void picked_reserve(struct picked *p, uint64_t room)
{
	p->room = room;
	p->events = g_renew(struct event, p->events, room);
	p->event = g_renew(uint32_t, p->event, room);
	if (p->stacks)
		p->stack = g_renew(uint32_t, p->stack, room);
}

static void picked_add(struct picked *p, uint32_t e, const struct event *x, bool inert)
{
	p->over |= p->count == p->most;
	if (p->over)
		return;
	if (p->count + 1 >= p->room)
		picked_reserve(p, MAX(1 << 12, 2 * p->room));
	p->events[p->count] = *x;
	if (inert)
		p->events[p->count].flags |= EVENT_INERT;
	if (p->stacks)
		p->stack[p->count] = p->t->stacks[e];
	p->event[p->count++] = e;
}

static inline void pick(struct picked *p, uint32_t e)
{
	const struct event *x = &p->t->events[e];
	bool is = is_kept(p->t, p->kept, x);

	if (G_UNLIKELY(is || has(p->ends, e)))
		picked_add(p, e, x, !is);
}

/* Can events be picked after a pass, without decoding any again? */
static bool in_memory(const struct trace *t)
{
	return t->events_count <= EVENTS_KEPT && trace_stays(t);
}

/* A part of the events: the picked ones are counted, or go to places of their own. */
struct part {
	const struct picked *p;
	uint32_t from, end;
	bool counts;
	uint64_t first, count; /* of its places */
};

static void pick_part(void *context)
{
	struct part *part = context;
	const struct picked *p = part->p;
	uint64_t at = part->first;

	for (uint32_t e = part->from; e < part->end; e++) {
		const struct event *x = &p->t->events[e];
		bool is = is_kept(p->t, p->kept, x);

		if (!is && !has(p->ends, e))
			continue;
		if (!part->counts) {
			p->events[at] = *x;
			p->events[at].flags |= is ? 0 : EVENT_INERT;
			p->event[at] = e;
			if (p->stacks)
				p->stack[at] = p->t->stacks[e];
		}
		at++;
	}
	part->count = at - part->first;
}

static void pick_parts(struct part *own, struct part *other)
{
	struct aside *aside = aside_begin(pick_part, other);

	pick_part(own);
	if (aside == NULL)
		pick_part(other);
	aside_end(aside);
}

/* Picks from all events; two threads do, if these stay in memory. */
static void pick_all(struct picked *p)
{
	uint32_t all = (uint32_t)p->t->events_count, half = all / 2;
	struct part first = { p, 0, half, true }, second = { p, half, all, true };

	if (!in_memory(p->t)) {
		for (uint32_t e = 0; e < all; e++)
			pick(p, e);
		return;
	}
	pick_parts(&first, &second);
	p->count = first.count + second.count;
	picked_reserve(p, p->count + 1);
	second.first = first.count;
	first.counts = second.counts = false;
	pick_parts(&first, &second);
}

/* Picks the events before `end` again: more variables are kept than when they were picked. */
static void pick_again(struct picked *p, uint32_t end)
{
	struct picked first = { .t = p->t,
		                .kept = p->kept,
		                .ends = p->ends,
		                .stacks = p->stacks,
		                .most = p->most };
	uint64_t had = search_end(i, 0, p->count, p->event[i] < end);

	for (uint32_t e = 0; e < end && !p->over; e++) {
		pick(&first, e);
		p->over =
		        first.over || first.count - MIN(had, first.count) + p->count > p->most;
	}
	if (!p->over) { /* also where as many: an inert one may have become an access */
		uint64_t count = p->count + first.count - had;

		picked_reserve(p, count + 1);
		memmove(p->events + first.count, p->events + had,
		        (p->count - had) * sizeof *p->events);
		memmove(p->event + first.count, p->event + had,
		        (p->count - had) * sizeof *p->event);
		if (p->stacks)
			memmove(p->stack + first.count, p->stack + had,
			        (p->count - had) * sizeof *p->stack);
		if (first.count > 0) { /* else it has no arrays */
			memcpy(p->events, first.events, first.count * sizeof *p->events);
			memcpy(p->event, first.event, first.count * sizeof *p->event);
		}
		if (first.count > 0 && p->stacks)
			memcpy(p->stack, first.stack, first.count * sizeof *p->stack);
		p->count = count;
	}
	g_free(first.events);
	g_free(first.event);
	g_free(first.stack);
}

/* -- the passes ---------------------------------------------------------------------------- */

/* Variables with unordered pairs become kept; the events of kept variables are picked on the
 * way (`picked` may be NULL). Most become kept near the beginning, so that few events have to
 * be picked again. False when cancelled. */
static bool walk(struct trace *t, const struct members *members, const uint64_t *observes,
                 uint64_t *kept, struct picked *picked, const struct beside *beside,
                 const struct progress *progress)
{
	struct pass p = { .t = t, .members = members, .observes = observes, .kept = kept };
	bool good = true;

	p.c = causality_new(t, causality_lasting_kind(t), KEEP_REGIONS, progress);
	if (p.c == NULL)
		return false;
	p.of = scattered_new0(struct history, t->variables_count + 1);
	p.shared = g_new0(uint64_t, t->variables_count / 64 + 1);
	p.last = g_new(uint32_t, t->threads_count + 1);
	memset(p.last, 255, (t->threads_count + 1) * sizeof *p.last);
	observations_borrow(p.c->observations, &p.of->observed,
	                    sizeof(struct history) / sizeof(epoch));
	for (uint32_t e = 0; e < t->events_count && good; e++) {
		if (e % TICK == 0)
			good = progress_tick(progress, (double)e / (double)t->events_count,
			                     "ordered variables");
		if (beside != NULL && e % TAPE_BLOCK == 0 && good)
			good = beside->pass(beside->context, e, progress);
		if (G_LIKELY(e + AHEAD < t->events_count))
			__builtin_prefetch(
			        &p.of[MIN(t->events[e + AHEAD].target, t->variables_count)]);
		look_at(&p, e);
		if (picked != NULL)
			pick(picked, e);
		if (clocks_sweep_due(&p.c->clocks))
			causality_sweep(p.c, NULL, NULL);
	}
	keep_freed(&p);
	if (picked != NULL && good)
		pick_again(picked, p.grown);
	causality_free(p.c);
	g_free(p.of);
	g_free(p.shared);
	g_free(p.last);
	return good;
}

/* -- the variables ------------------------------------------------------------------------- */

/* Do at most half of the events stay, or any number with `least` 0? Of a long trace some
 * blocks are sampled, as its events may have to be decoded for it. */
static bool is_small(const struct trace *t, const uint64_t *kept, uint64_t least)
{
	enum { STRETCH = 1 << 15, MANY = 64, SAMPLED = 16 };
	uint64_t stretches = t->events_count / STRETCH, count = 0, seen = 0;

	for (uint64_t i = 0; i <= stretches && least > 0; i += stretches > MANY ? SAMPLED : 1) {
		uint64_t end = MIN((i + 1) * STRETCH, t->events_count);

		for (uint64_t e = i * STRETCH; e < end; e++, seen++)
			count += is_kept(t, kept, &t->events[e]);
	}
	return count <= seen / 2;
}

/* An access of several variables is kept with all of them, or dropped. */
static void keep_runs(const struct trace *t, uint64_t *kept)
{
	bool grown = true;

	while (grown) {
		grown = false;
		for (uint64_t i = 0; i < t->wides_count; i++) {
			struct wide run = t->wides[i];
			uint32_t some = 0;

			for (uint32_t v = run.first; v < run.first + run.count; v++)
				some += has(kept, v);
			if (some == 0 || some == run.count)
				continue;
			grown = true;
			for (uint32_t v = run.first; v < run.first + run.count; v++)
				add(kept, v);
		}
	}
}

/* Keep the first access of each thread to a block that another thread has allocated: it
 * carries the must-order from the allocation to all of the thread's later accesses. */
static void keep_first(const struct trace *t, uint64_t *kept)
{
	const struct trace_index *ix = t->index;

	for (uint64_t i = 0; i < ix->must_count; i++) {
		const struct event *x = &t->events[ix->must[i].after];

		if (ix->must[i].rule != MUST_ALLOC || !op_is_access(x->op))
			continue;
		struct wide run = event_variables(t, x);
		for (uint32_t v = run.first; v < run.first + run.count; v++)
			add(kept, v);
	}
}

static struct members members_of(const struct trace *t)
{
	struct members m = { g_new0(uint32_t, t->blocks_count + 2),
		             g_new(uint32_t, t->variables_count + 1) };

	for (uint32_t v = 0; v < t->variables_count; v++) {
		if (t->variables[v].block != NONE)
			m.start[t->variables[v].block + 2]++;
	}
	for (uint64_t b = 2; b < t->blocks_count + 2; b++)
		m.start[b] += m.start[b - 1];
	for (uint32_t v = 0; v < t->variables_count; v++) {
		if (t->variables[v].block != NONE)
			m.variables[m.start[t->variables[v].block + 1]++] = v;
	}
	return m;
}

/* The pass with the observations of `some` alone: all variables that are kept, as a bit set;
 * NULL when they are too many, or when cancelled. Their events are in `picked`, unless `over`.
 */
static uint64_t *keep_more(struct trace *t, const struct members *m, const uint64_t *some,
                           uint64_t least, struct picked *picked, const struct beside *beside,
                           const struct progress *progress, bool *cancelled)
{
	size_t bytes = (t->variables_count / 64 + 1) * sizeof *some;
	uint64_t most = least == 0 ? t->events_count : t->events_count / 2;
	g_autofree uint64_t *kept = g_memdup2(some, bytes), *seen = NULL;
	bool later = in_memory(t);

	picked_init(picked, t, kept, most);
	picked->over = later;
	*cancelled = !walk(t, m, some, kept, later ? NULL : picked, beside, progress);
	seen = g_memdup2(kept, bytes);
	keep_runs(t, kept);
	picked->over |= memcmp(kept, seen, bytes) != 0;
	if (*cancelled || (picked->over && !is_small(t, kept, least)))
		return NULL;
	return g_steal_pointer(&kept);
}

/* The same from the suspects, if they are known, or from the variables that all observations
 * leave unordered. */
static uint64_t *variables_kept(struct trace *t, const uint64_t *suspects, uint64_t least,
                                struct picked *picked, const struct beside *beside,
                                const struct progress *progress, bool *cancelled)
{
	size_t words = t->variables_count / 64 + 1;
	g_autofree uint64_t *some =
	        suspects ? g_memdup2(suspects, words * sizeof *some) : g_new0(uint64_t, words);
	struct members m = members_of(t);
	uint64_t *kept = NULL;

	*cancelled = false;
	keep_first(t, some);
	for (bool all = suspects == NULL; kept == NULL && !*cancelled; all = true) {
		if (all) {
			trace_keep_events_shortly(t);
			memset(some, 0, words * sizeof *some);
			keep_first(t, some);
			*cancelled = !walk(t, &m, NULL, some, NULL, NULL, progress);
		}
		keep_runs(t, some);
		if (!*cancelled && is_small(t, some, least)) {
			picked_release(picked);
			kept = keep_more(t, &m, some, least, picked, beside, progress,
			                 cancelled);
		}
		if (all)
			break;
	}
	g_free(m.start);
	g_free(m.variables);
	return kept;
}

/* -- the trace ----------------------------------------------------------------------------- */

/* The event in the projection, NONE for NONE. */
static uint32_t projected(const struct projection *p, uint32_t event)
{
	uint64_t count = p->trace->events_count;

	return event == NONE ? NONE : search_end(i, 0, count, p->event[i] < event);
}

static void make_events(struct projection *p, const uint64_t *kept, struct picked *picked)
{
	const struct trace *t = p->whole;

	if (picked->over) {
		trace_keep_events_shortly(t);
		picked_release(picked);
		picked_init(picked, t, kept, t->events_count);
		pick_all(picked);
	}
	p->trace = trace_reading(t);
	p->event = g_renew(uint32_t, g_steal_pointer(&picked->event), picked->count + 1);
	p->trace->events =
	        trace_own(p->trace, g_renew(struct event, g_steal_pointer(&picked->events),
	                                    picked->count + 1));
	p->trace->events_count = picked->count;
	p->trace->stacks = NULL;
	p->trace->stacks_count = 0;
	if (picked->stacks) {
		p->trace->stacks =
		        trace_own(p->trace, g_renew(uint32_t, g_steal_pointer(&picked->stack),
		                                    picked->count + 1));
		p->trace->stacks_count = picked->count;
	}
}

/* Makes the tables that name events; all of these events are kept. */
static void make_tables(struct projection *p)
{
	const struct trace *t = p->whole;
	struct thread *threads = g_memdup2(t->threads, t->threads_count * sizeof *threads);
	struct block *blocks = g_memdup2(t->blocks, t->blocks_count * sizeof *blocks);

	for (uint64_t u = 0; u < t->threads_count; u++)
		threads[u].fork = projected(p, threads[u].fork);
	for (uint64_t b = 0; b < t->blocks_count; b++) {
		blocks[b].alloc = projected(p, blocks[b].alloc);
		blocks[b].free = projected(p, blocks[b].free);
	}
	p->trace->threads = trace_own(p->trace, threads);
	p->trace->blocks = trace_own(p->trace, blocks);
}

/* Makes the trace's must-order: the index would take its edges from the remaining accesses. */
static bool make_must(struct projection *p, const struct progress *progress)
{
	const struct trace_index *ix = p->whole->index;
	GArray *edges;

	if (!trace_need(p->trace, INDEX_ALL & ~INDEX_MUST & ~INDEX_SITES, progress))
		return false;
	edges = g_array_sized_new(FALSE, FALSE, sizeof(struct must_edge),
	                          (guint)ix->must_count);
	for (uint64_t i = 0; i < ix->must_count; i++) {
		struct must_edge edge = ix->must[i];

		edge.before = projected(p, edge.before);
		edge.after = projected(p, edge.after);
		edge.condition = projected(p, edge.condition);
		g_array_append_val(edges, edge);
	}
	trace_replace_must(p->trace, edges);
	return true;
}

struct projection *projection_new(struct trace *t, const uint64_t *suspects, uint64_t least,
                                  const struct beside *beside, const struct progress *progress,
                                  bool *cancelled)
{
	struct projection *p = NULL;
	struct picked picked = { 0 };

	*cancelled = false;
	if (t->events_count < least || t->recorded != NULL || t->locks_taken ||
	    t->weak_count > 0 || trace_model(t) != WEAK_SC)
		return NULL;
	*cancelled = !trace_need(t, INDEX_MUST, progress);
	if (*cancelled)
		return NULL;
	g_autofree uint64_t *kept =
	        variables_kept(t, suspects, least, &picked, beside, progress, cancelled);
	if (kept != NULL) {
		p = g_new0(struct projection, 1);
		p->whole = t;
		make_events(p, kept, &picked);
		make_tables(p);
		*cancelled = !make_must(p, progress);
		if (*cancelled)
			g_clear_pointer(&p, projection_free);
	}
	picked_release(&picked);
	return p;
}

void projection_decided(struct projection *p)
{
	trace_close(p->trace);
	p->trace = NULL;
}

void projection_free(struct projection *p)
{
	if (p == NULL)
		return;
	trace_close(p->trace);
	g_free(p->event);
	if (p->turns != NULL)
		arrays_free(p->turns, p->whole->threads_count);
	g_free(p);
}

/* -- sequences ----------------------------------------------------------------------------- */

/* Consecutive events of one thread in the trace. */
struct turn {
	uint32_t first, end;
};

/* The threads' turns in the trace's events from one to another. */
static void need_turns(struct projection *p, uint32_t from, uint32_t end)
{
	const struct trace *t = p->whole;

	if (p->turns == NULL)
		p->turns = arrays_new(t->threads_count, sizeof(struct turn));
	if (from < p->turned_from) {
		for (uint64_t u = 0; u < t->threads_count; u++)
			g_array_set_size(p->turns[u], 0);
		p->turned = 0;
	}
	if (from < p->turned_from || from > p->turned)
		p->turned_from = p->turned = from;
	for (uint32_t e = p->turned; e < end;) {
		struct turn turn = { e, e };
		uint32_t thread = t->events[e].thread;

		while (e < end && t->events[e].thread == thread)
			e++;
		turn.end = e;
		g_array_append_val(p->turns[thread], turn);
	}
	p->turned = MAX(p->turned, end);
}

/* A thread's next event. */
struct reached {
	guint turn;
	uint32_t event; /* in that turn or a later one */
};

/* Append the events of the thread of `event` before it, from the thread's next one on, which is
 * not before `from`. */
static void append_before(const struct projection *p, struct reached *next, uint32_t from,
                          uint32_t event, GArray *to)
{
	const GArray *turns = p->turns[p->whole->events[event].thread];

	if (next->event < from) {
		next->event = from;
		next->turn = search_end(i, 0u, turns->len,
		                        g_array_index(turns, struct turn, i).end <= from);
	}
	for (; next->turn < turns->len; next->turn++) {
		const struct turn *turn = &g_array_index(turns, struct turn, next->turn);

		next->event = MAX(next->event, turn->first);
		for (; next->event < MIN(turn->end, event); next->event++)
			g_array_append_val(to, next->event);
		if (turn->end > event)
			return;
	}
}

GArray *projection_lift(struct projection *p, const GArray *sequence, guint pair,
                        uint32_t *recorded)
{
	GArray *lifted = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_autofree struct reached *next = g_new0(struct reached, p->whole->threads_count + 1);
	uint32_t from = *recorded > 0 ? p->event[*recorded] : 0, last = 0;

	for (guint i = 0; i < sequence->len; i++)
		last = MAX(last, g_array_index(sequence, uint32_t, i));
	if (sequence->len > 0)
		need_turns(p, from, p->event[last] + 1);
	/* the pair is next at the same time: dropped events before either come before both */
	for (guint i = 0; i < sequence->len; i++) {
		uint32_t event = p->event[g_array_index(sequence, uint32_t, i)];
		struct reached *own = &next[p->whole->events[event].thread];

		append_before(p, own, from, event, lifted);
		if (i + pair >= sequence->len)
			continue;
		g_array_append_val(lifted, event);
		own->event = event + 1;
	}
	for (guint i = sequence->len - MIN(pair, sequence->len); i < sequence->len; i++)
		g_array_append_val(lifted, p->event[g_array_index(sequence, uint32_t, i)]);
	*recorded = from;
	return lifted;
}
