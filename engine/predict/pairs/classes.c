/*
 * classes.c - classes of accesses; see classes.h. A class is found by hash, or is the previous
 * access's, so grouping is linear.
 */
#include "engine/base/search.h"
#include "engine/base/hash.h"
#include "engine/predict/pairs/classes.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 256, AHEAD = 16, TICK = 1 << 20 };

void classes_init(struct classes *c, const struct trace *t, struct locksets *locksets)
{
	*c = (struct classes){ .t = t, .locksets = locksets, .slots_count = FIRST_SLOTS };
	c->classes = g_array_new(FALSE, FALSE, sizeof(struct class));
	c->events = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	c->numbers = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	c->slots = g_new0(uint64_t, c->slots_count);
}

void classes_release(struct classes *c)
{
	if (c->classes == NULL)
		return;
	g_array_unref(c->classes);
	g_array_unref(c->events);
	g_array_unref(c->numbers);
	g_free(c->slots);
}

void classes_clear(struct classes *c)
{
	g_array_set_size(c->classes, 0);
	g_array_set_size(c->events, 0);
}

static int class_compare(gconstpointer p, gconstpointer q)
{
	const struct class *a = p, *b = q;
	int kind_a = a->writes * 2 + a->atomic, kind_b = b->writes * 2 + b->atomic;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (kind_a != kind_b)
		return kind_a - kind_b;
	if (a->site != b->site)
		return a->site < b->site ? -1 : 1;
	return a->lockset < b->lockset ? -1 : a->lockset > b->lockset;
}

static struct class class_of(const struct classes *c, uint32_t e)
{
	const struct event *x = &c->t->events[e];

	return (struct class){
		.site = c->t->locations[x->location].site,
		.lockset = lockset_at(c->locksets, e),
		.thread = x->thread,
		.writes = op_writes(x->op),
		.atomic = op_is_atomic(x->op),
	};
}

static uint64_t *slot_of(const struct classes *c, const struct class *class)
{
	uint64_t key = (uint64_t) class->site << 32 | class->lockset;

	key ^= (uint64_t)(class->thread << 2 | class->writes << 1 | class->atomic) *
	       0xff51afd7ed558ccdu;
	uint32_t at = hash_top(hash_word(key)) & (c->slots_count - 1);
	while (c->slots[at] >> 32 == c->round &&
	       class_compare(class_at(c, (uint32_t)c->slots[at]), class) != 0)
		at = (at + 1) & (c->slots_count - 1);
	return &c->slots[at];
}

static void slots_grow(struct classes *c, guint first)
{
	c->slots_count *= 2;
	g_free(c->slots);
	c->slots = g_new0(uint64_t, c->slots_count);
	for (guint i = first; i < c->classes->len; i++)
		*slot_of(c, class_at(c, i)) = (uint64_t)c->round << 32 | i;
}

/* Index of an access's class among the variable's, which begin at `first`. */
static uint32_t number_of(struct classes *c, uint32_t e, guint first, uint32_t last)
{
	struct class class = class_of(c, e);

	if (last != NONE && class_compare(class_at(c, last), &class) == 0)
		return last;
	uint64_t *slot = slot_of(c, &class);
	if (*slot >> 32 == c->round)
		return (uint32_t)*slot;
	*slot = (uint64_t)c->round << 32 | c->classes->len;
	g_array_append_val(c->classes, class);
	if (2 * (c->classes->len - first) > c->slots_count)
		slots_grow(c, first);
	return c->classes->len - 1;
}

/* Allocate places for the members of each class; c->numbers then has the class's new index. */
static void place_members(struct classes *c, guint first, guint count)
{
	guint made = c->classes->len - first;
	uint32_t *new_place = g_new(uint32_t, made + 1), at = c->events->len;

	/* the old number of the class, while sorting */
	for (guint i = first; i < c->classes->len; i++)
		class_at(c, i)->first = i - first;
	qsort(class_at(c, first), made, sizeof(struct class), class_compare);
	for (guint i = first; i < c->classes->len; i++) {
		struct class *class = class_at(c, i);

		new_place[class->first] = i;
		class->first = at;
		at += class->count;
		class->count = 0;
	}
	for (guint i = 0; i < count; i++) {
		uint32_t *number = &g_array_index(c->numbers, uint32_t, i);

		*number = new_place[*number - first];
	}
	g_free(new_place);
	g_array_set_size(c->events, at);
}

void classes_add(struct classes *c, uint32_t variable)
{
	struct event_list list = event_list_at(&c->t->index->variable_events, variable);
	guint first = c->classes->len;
	uint32_t last = NONE;

	if (++c->round == 0) {
		memset(c->slots, 0, c->slots_count * sizeof(uint64_t));
		c->round = 1;
	}
	g_array_set_size(c->numbers, (guint)list.count);
	for (uint64_t i = 0; i < list.count; i++) {
		last = number_of(c, list.items[i], first, last);
		class_at(c, last)->count++;
		class_at(c, last)->wide |=
		        (c->t->events[list.items[i]].flags & EVENT_WIDE) != 0;
		g_array_index(c->numbers, uint32_t, i) = last;
	}
	if (list.count == 0)
		return;
	place_members(c, first, (guint)list.count);
	for (uint64_t i = 0; i < list.count; i++) {
		struct class *class = class_at(c, g_array_index(c->numbers, uint32_t, i));

		g_array_index(c->events, uint32_t, class->first + class->count++) =
		        list.items[i];
	}
}

/* -- by site ------------------------------------------------------------------------------ */

static int by_site(const void *a, const void *b, void *classes)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint32_t site_x = class_at(classes, x)->site, site_y = class_at(classes, y)->site;

	if (site_x != site_y)
		return site_x < site_y ? -1 : 1;
	return x < y ? -1 : x > y;
}

struct class_sites classes_by_site(const struct classes *c, uint32_t first)
{
	uint32_t count = c->classes->len - first;
	struct class_sites s = { g_new(uint32_t, count + 1), g_new(uint32_t, count + 1), 0 };

	for (uint32_t i = 0; i < count; i++)
		s.by[i] = first + i;
	g_qsort_with_data(s.by, (gint)count, sizeof(uint32_t), by_site, (gpointer)c);
	for (uint32_t i = 0; i < count; i++) {
		if (i == 0 || class_at(c, s.by[i])->site != class_at(c, s.by[i - 1])->site)
			s.start[s.count++] = i;
	}
	s.start[s.count] = count;
	return s;
}

void class_sites_release(struct class_sites *s)
{
	g_free(s->by);
	g_free(s->start);
}

/* -- spans ------------------------------------------------------------------------------- */

/* Members of a class relative to one access. */
struct question {
	const struct classes *c;
	const struct class *class;
	class_order *before;
	const void *context;
	uint32_t e, asked;
};

/* Is member i before e? Monotone. */
static bool comes_before(struct question *q, uint32_t i)
{
	uint32_t f = class_member(q->c, q->class, i);

	return f < q->e && (q->asked++, q->before(q->context, f, q->e));
}

/* Is member i not after e? Monotone. */
static bool comes_not_after(struct question *q, uint32_t i)
{
	uint32_t f = class_member(q->c, q->class, i);

	return f < q->e || (q->asked++, !q->before(q->context, q->e, f));
}

/* First member from `low` on without the property, by galloping search. */
static uint32_t first_without(struct question *q, uint32_t low,
                              bool holds(struct question *q, uint32_t i))
{
	uint32_t count = q->class->count, step = 1;

	while (step <= count - low && holds(q, low + step - 1)) {
		low += step;
		step *= 2;
	}
	return search_end(i, low, MIN(count, low + step - 1), holds(q, i));
}

uint32_t class_span(const struct classes *c, const struct class *class, uint32_t e,
                    class_order *before, const void *context, struct span *span)
{
	struct question q = { c, class, before, context, e, 1 };

	span->first = first_without(&q, span->first, comes_before);
	span->end = first_without(&q, MAX(span->first, span->end), comes_not_after);
	return q.asked;
}

bool variable_ordered(const struct trace *t, uint32_t variable, class_order *before,
                      const void *context, uint64_t *steps)
{
	struct event_list list = event_list_at(&t->index->variable_events, variable);
	GArray *reads = g_array_new(FALSE, FALSE, sizeof(uint32_t)); /* since then, by thread */
	uint32_t write = NONE;
	bool ordered = true;

	for (uint64_t i = 0; i < list.count && ordered; i++) {
		uint32_t e = list.items[i];
		const struct event *x = &t->events[e];
		bool writes = op_writes(x->op), known = false;

		if (write != NONE && t->events[write].thread != x->thread)
			ordered = (++*steps, before(context, write, e));
		for (guint k = 0; k < reads->len && ordered; k++) {
			uint32_t *r = &g_array_index(reads, uint32_t, k);

			++*steps;
			if (t->events[*r].thread != x->thread) {
				ordered = !writes || before(context, *r, e);
				continue;
			}
			*r = e;
			known = true;
		}
		if (writes) {
			g_array_set_size(reads, 0);
			write = e;
		} else if (!known) {
			g_array_append_val(reads, e);
		}
	}
	g_array_unref(reads);
	return ordered;
}

/* -- suspect variables --------------------------------------------------------------------- */

struct use {
	uint32_t common;      /* locks held exclusively by all accesses so far */
	uint32_t thread : 20; /* of the first access */
	bool seen : 1, threads : 1, writes : 1, plain : 1;
};

static void note_use(struct use *use, struct locksets *locksets, const struct event *x,
                     uint32_t held)
{
	if (!use->seen)
		*use = (struct use){ .common = held, .thread = x->thread, .seen = true };
	use->threads |= use->thread != x->thread;
	use->writes |= op_writes(x->op);
	use->plain |= !op_is_atomic(x->op);
	if (use->common != held && use->common != 0)
		use->common = lockset_exclusive(locksets, use->common, held);
}

static struct use *find_uses(const struct trace *t, struct locksets *locksets,
                             const struct progress *progress)
{
	struct use *uses = g_new0(struct use, t->variables_count + 1);

	for (uint64_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];

		if (e % TICK == 0 &&
		    !progress_tick(progress, (double)e / (double)t->events_count,
		                   "shared variables")) {
			g_free(uses);
			return NULL;
		}
		if (e + AHEAD < t->events_count && event_simple(x + AHEAD))
			__builtin_prefetch(&uses[x[AHEAD].target], 1);
		if (event_inert(x) || !op_is_access(x->op))
			continue;
		struct wide run = event_variables(t, x);
		for (uint32_t v = run.first; v < run.first + run.count; v++)
			note_use(&uses[v], locksets, x, lockset_at(locksets, (uint32_t)e));
	}
	return uses;
}

uint64_t *classes_suspects(const struct trace *t, struct locksets *locksets, bool locked,
                           const struct progress *progress)
{
	struct use *uses = find_uses(t, locksets, progress);

	if (uses == NULL)
		return NULL;
	uint64_t *suspects = g_new0(uint64_t, t->variables_count / 64 + 1);
	for (uint64_t v = 0; v < t->variables_count; v++) {
		const struct use *use = &uses[v];
		/* locks held exclusively on one side only are checked by class */
		bool free = locked || use->common == 0 ||
		            lockset_exclusive(locksets, use->common, use->common) == 0;

		if (use->threads && use->writes && use->plain && free)
			suspects[v / 64] |= (uint64_t)1 << (v % 64);
	}
	g_free(uses);
	return suspects;
}
