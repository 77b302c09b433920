/*
 * classes.c - classes of accesses; see classes.h. Grouping is linear (class_table.h).
 */
#include "engine/base/search.h"
#include "engine/base/hash.h"
#include "engine/predict/pairs/classes.h"
#include "engine/trace/own_site.h"

#include <stdlib.h>

enum { AHEAD = 16, TICK = 1 << 20 };

void classes_init(struct classes *c, const struct trace *t, struct locksets *locksets)
{
	*c = (struct classes){ .t = t, .locksets = locksets };
	c->classes = g_array_new(FALSE, FALSE, sizeof(struct class));
	c->events = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	c->numbers = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	class_table_init(&c->table);
}

void classes_release(struct classes *c)
{
	if (c->classes == NULL)
		return;
	g_array_unref(c->classes);
	g_array_unref(c->events);
	g_array_unref(c->numbers);
	class_table_release(&c->table);
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

/* Index of an access's class among the variable's, which begin at `first`. */
static uint32_t number_of(struct classes *c, uint32_t e, guint first)
{
	const struct event *x = &c->t->events[e];
	const struct class_key key = {
		.site = own_site(c->t, e),
		.lockset = lockset_at(c->locksets, e),
		.thread = x->thread,
		.writes = op_writes(x->op),
		.atomic = op_is_atomic(x->op),
	};
	uint32_t number = first + class_table_number(&c->table, key);

	if (number == c->classes->len) {
		struct class class = { .site = key.site,
			               .lockset = key.lockset,
			               .thread = key.thread,
			               .writes = key.writes,
			               .atomic = key.atomic };

		g_array_append_val(c->classes, class);
	}
	return number;
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

	class_table_clear(&c->table);
	g_array_set_size(c->numbers, (guint)list.count);
	for (uint64_t i = 0; i < list.count; i++) {
		uint32_t number = number_of(c, list.items[i], first);
		struct class *class = class_at(c, number);

		class->count++;
		class->wide |= (c->t->events[list.items[i]].flags & EVENT_WIDE) != 0;
		g_array_index(c->numbers, uint32_t, i) = number;
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
	g_autoptr(GArray) reads =
	        g_array_new(FALSE, FALSE, sizeof(uint32_t)); /* since then, by thread */
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
	g_autofree struct use *uses = find_uses(t, locksets, progress);

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
	return suspects;
}
