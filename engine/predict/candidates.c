/*
 * candidates.c - the enumeration of candidate pairs; see candidates.h.
 *
 * The accesses of a variable fall into classes of one thread, site, kind and set of locks.
 * Two classes conflict or do not, share a lock or do not, as a whole; and since each is in
 * one thread, which of their members an order leaves unordered is an interval around each
 * member.  So the cost of the enumeration is that of the pairs that it finds, plus the
 * pairs of classes.
 */
#include "engine/predict/candidates.h"

#include <stdlib.h>
#include <string.h>

struct class
{
	uint32_t first, count; /* a run of events */
	uint32_t site, lockset;
	uint16_t thread;
	uint8_t writes, atomic;
};

struct member {       /* of a class, before sorting */
	uint64_t key; /* thread, writes, atomic, site */
	uint32_t lockset, event;
};

/* The classes of one variable. */
struct classes {
	GArray *classes; /* struct class */
	GArray *events;  /* uint32_t */
	GArray *members; /* struct member; scratch */
};

static int member_compare(gconstpointer a, gconstpointer b)
{
	const struct member *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	if (x->lockset != y->lockset)
		return x->lockset < y->lockset ? -1 : 1;
	return x->event < y->event ? -1 : x->event > y->event;
}

/* Can accesses of this variable race at all: two threads, one of which writes? */
static bool shared(const struct trace *t, struct event_list list)
{
	bool threads = false, writes = false;

	for (uint64_t i = 0; i < list.count; i++) {
		const struct event *x = &t->events[list.items[i]];

		threads |= x->thread != t->events[list.items[0]].thread;
		writes |= op_writes(x->op);
		if (threads && writes)
			return true;
	}
	return false;
}

/* Append the classes of a variable; the arrays are emptied by the caller, or grow on. */
static void classes_add(struct classes *c, const struct trace *t, const struct locksets *l,
                        uint32_t variable)
{
	struct event_list list = event_list_at(&t->index->variable_events, variable);
	struct class *open = NULL;
	uint64_t key = 0;

	if (!shared(t, list))
		return;
	g_array_set_size(c->members, 0);
	for (uint64_t i = 0; i < list.count; i++) {
		const struct event *x = &t->events[list.items[i]];
		struct member m = {
			.key = (uint64_t)x->thread << 48 | (uint64_t)op_writes(x->op) << 41 |
			       (uint64_t)op_is_atomic(x->op) << 40 |
			       t->locations[x->location].site,
			.lockset = lockset_at(l, list.items[i]),
			.event = list.items[i],
		};

		g_array_append_val(c->members, m);
	}
	qsort(c->members->data, c->members->len, sizeof(struct member), member_compare);
	for (guint i = 0; i < c->members->len; i++) {
		const struct member *m = &g_array_index(c->members, struct member, i);
		const struct event *x = &t->events[m->event];

		if (open == NULL || m->key != key || m->lockset != open->lockset) {
			struct class new = {
				.first = c->events->len,
				.site = t->locations[x->location].site,
				.lockset = m->lockset,
				.thread = x->thread,
				.writes = op_writes(x->op),
				.atomic = op_is_atomic(x->op),
			};

			g_array_append_val(c->classes, new);
			open = &g_array_index(c->classes, struct class, c->classes->len - 1);
			key = m->key;
		}
		g_array_append_val(c->events, m->event);
		open->count++;
	}
}

static void classes_init(struct classes *c)
{
	c->classes = g_array_new(FALSE, FALSE, sizeof(struct class));
	c->events = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	c->members = g_array_new(FALSE, FALSE, sizeof(struct member));
}

static void classes_release(struct classes *c)
{
	g_array_unref(c->classes);
	g_array_unref(c->events);
	g_array_unref(c->members);
}

static bool classes_conflict(const struct class *a, const struct class *b)
{
	return a->thread != b->thread && (a->writes || b->writes) && !(a->atomic && b->atomic);
}

static uint32_t member_at(const struct classes *c, const struct class *class, uint32_t i)
{
	return g_array_index(c->events, uint32_t, class->first + i);
}

static bool unordered(const struct candidate_options *o, uint32_t e, uint32_t f)
{
	uint32_t e1 = MIN(e, f), e2 = MAX(e, f);

	return (o->order == NULL || !order_ordered_unobserved(o->order, e1, e2)) &&
	       (o->settled == NULL || !o->settled(o->context, e1, e2));
}

/* Is every member of one class before every member of the other? */
static bool all_ordered(const struct classes *c, const struct candidate_options *o,
                        const struct class *a, const struct class *b)
{
	uint32_t a_first = member_at(c, a, 0), a_last = member_at(c, a, a->count - 1);
	uint32_t b_first = member_at(c, b, 0), b_last = member_at(c, b, b->count - 1);

	return (a_last < b_first && !unordered(o, a_last, b_first)) ||
	       (b_last < a_first && !unordered(o, b_last, a_first));
}

/* How many members of a class are before an event. */
static uint32_t rank(const struct classes *c, const struct class *class, uint32_t e)
{
	uint32_t low = 0, high = class->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (member_at(c, class, middle) < e)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Of an access that covers several variables, only the first shared one counts. */
static bool counted_here(const struct trace *t, uint32_t e, uint32_t f, uint32_t variable)
{
	struct wide x = event_variables(t, &t->events[e]),
	            y = event_variables(t, &t->events[f]);

	return MAX(x.first, y.first) == variable;
}

struct emit {
	const struct trace *t;
	const struct candidate_options *options;
	bool (*found)(void *context, uint32_t e1, uint32_t e2);
	void *context;
	uint32_t variable;
};

static bool emit_pair(const struct emit *out, uint32_t e, uint32_t f)
{
	if (!counted_here(out->t, e, f, out->variable))
		return true;
	return out->found(out->context, MIN(e, f), MAX(e, f));
}

static bool emit_classes(const struct emit *out, const struct classes *c, const struct class *a,
                         const struct class *b)
{
	const struct candidate_options *o = out->options;

	for (uint32_t i = 0; i < a->count; i++) {
		uint32_t e = member_at(c, a, i), middle = rank(c, b, e);

		for (uint32_t k = middle; k < b->count && unordered(o, e, member_at(c, b, k));
		     k++) {
			if (!emit_pair(out, e, member_at(c, b, k)))
				return false;
		}
		for (uint32_t k = middle; k-- > 0 && unordered(o, e, member_at(c, b, k));) {
			if (!emit_pair(out, e, member_at(c, b, k)))
				return false;
		}
	}
	return true;
}

static bool emit_variable(const struct emit *out, const struct classes *c,
                          const struct locksets *l)
{
	for (guint i = 0; i < c->classes->len; i++) {
		const struct class *a = &g_array_index(c->classes, struct class, i);

		for (guint k = i + 1; k < c->classes->len; k++) {
			const struct class *b = &g_array_index(c->classes, struct class, k);

			if (!classes_conflict(a, b) ||
			    (!out->options->keep_locked &&
			     lockset_common(l, a->lockset, b->lockset) != NONE))
				continue;
			if (out->options->race != NULL &&
			    !race_in_shard(out->options->race, a->site, b->site))
				continue;
			if (!emit_classes(out, c, a, b))
				return false;
		}
	}
	return true;
}

bool candidates_events(struct trace *t, const struct candidate_options *options,
                       bool (*found)(void *context, uint32_t e1, uint32_t e2), void *context,
                       const struct progress *progress)
{
	struct emit out = { t, options, found, context, 0 };
	struct locksets *l;
	struct classes c;
	bool going = true;

	if (!trace_need(t, INDEX_VARIABLES, progress))
		return false;
	l = locksets_new(t);
	classes_init(&c);
	for (uint32_t v = 0; v < t->variables_count && going; v++) {
		g_array_set_size(c.classes, 0);
		g_array_set_size(c.events, 0);
		classes_add(&c, t, l, v);
		out.variable = v;
		going = emit_variable(&out, &c, l) &&
		        (v % 1024 != 0 ||
		         progress_tick(progress, (double)v / t->variables_count,
		                       "looking at pairs"));
	}
	classes_release(&c);
	locksets_free(l);
	return going;
}

/* ---- By sites ---- */

struct class_pair {
	uint32_t site_a, site_b, variable;
	uint32_t a, b; /* classes */
	bool locked;
};

/* Where an entry's enumeration stands: in round `distance` each member of the first class
 * is paired with the members of the second that are so many places before and after. */
struct entry {
	uint32_t first, count; /* a run of class pairs */
	uint32_t variable;
	uint32_t distance, pair, member;
	uint8_t side; /* 0 after, 1 before */
	bool more;    /* this round has found a pair */
	bool exhausted;
};

struct site_pairs {
	const struct trace *t;
	struct candidate_options options;
	struct classes c;
	GArray *class_pairs; /* struct class_pair */
	GArray *entries;     /* struct entry */
	GArray *sites;       /* struct site_pair */
};

static int class_pair_compare(gconstpointer a, gconstpointer b)
{
	const struct class_pair *x = a, *y = b;

	if (x->site_a != y->site_a)
		return x->site_a < y->site_a ? -1 : 1;
	if (x->site_b != y->site_b)
		return x->site_b < y->site_b ? -1 : 1;
	if (x->variable != y->variable)
		return x->variable < y->variable ? -1 : 1;
	return 0;
}

static void pairs_of_variable(struct site_pairs *p, const struct candidate_options *options,
                              const struct locksets *l, uint32_t variable, guint first)
{
	for (guint i = first; i < p->c.classes->len; i++) {
		const struct class *a = &g_array_index(p->c.classes, struct class, i);

		for (guint k = i + 1; k < p->c.classes->len; k++) {
			const struct class *b = &g_array_index(p->c.classes, struct class, k);
			struct class_pair pair = { MIN(a->site, b->site),
				                   MAX(a->site, b->site),
				                   variable,
				                   i,
				                   k,
				                   false };

			if (!classes_conflict(a, b))
				continue;
			pair.locked = lockset_common(l, a->lockset, b->lockset) != NONE;
			if ((pair.locked && !options->keep_locked) ||
			    (options->race != NULL &&
			     !race_in_shard(options->race, a->site, b->site)) ||
			    all_ordered(&p->c, options, a, b))
				continue;
			if (a->count > b->count) { /* fewer, longer rounds */
				pair.a = i;
				pair.b = k;
			} else {
				pair.a = k;
				pair.b = i;
			}
			g_array_append_val(p->class_pairs, pair);
		}
	}
}

static void group_entries(struct site_pairs *p)
{
	const struct class_pair *last = NULL;

	for (guint i = 0; i < p->class_pairs->len; i++) {
		const struct class_pair *now =
		        &g_array_index(p->class_pairs, struct class_pair, i);
		bool same_sites = last != NULL && now->site_a == last->site_a &&
		                  now->site_b == last->site_b;

		if (!same_sites) {
			struct site_pair site = { now->site_a, now->site_b, p->entries->len, 0,
				                  true };

			g_array_append_val(p->sites, site);
		}
		struct site_pair *site =
		        &g_array_index(p->sites, struct site_pair, p->sites->len - 1);
		if (!same_sites || now->variable != last->variable) {
			struct entry entry = { .first = i,
				               .variable = now->variable,
				               .distance = 1 };

			g_array_append_val(p->entries, entry);
			site->variables++;
		}
		g_array_index(p->entries, struct entry, p->entries->len - 1).count++;
		site->all_locked &= now->locked;
		last = now;
	}
}

struct site_pairs *site_pairs_new(struct trace *t, const struct candidate_options *options,
                                  const struct progress *progress)
{
	struct site_pairs *p;
	struct locksets *l;
	bool going = true;

	if (!trace_need(t, INDEX_VARIABLES, progress))
		return NULL;
	p = g_new0(struct site_pairs, 1);
	p->t = t;
	p->options = *options;
	classes_init(&p->c);
	p->class_pairs = g_array_new(FALSE, FALSE, sizeof(struct class_pair));
	p->entries = g_array_new(FALSE, FALSE, sizeof(struct entry));
	p->sites = g_array_new(FALSE, FALSE, sizeof(struct site_pair));
	l = locksets_new(t);
	for (uint32_t v = 0; v < t->variables_count && going; v++) {
		guint first = p->c.classes->len;

		classes_add(&p->c, t, l, v);
		pairs_of_variable(p, options, l, v, first);
		going = v % 1024 != 0 || progress_tick(progress, (double)v / t->variables_count,
		                                       "pairing sites");
	}
	locksets_free(l);
	if (!going) {
		site_pairs_free(p);
		return NULL;
	}
	g_array_sort(p->class_pairs, class_pair_compare);
	group_entries(p);
	return p;
}

void site_pairs_free(struct site_pairs *p)
{
	if (p == NULL)
		return;
	classes_release(&p->c);
	g_array_unref(p->class_pairs);
	g_array_unref(p->entries);
	g_array_unref(p->sites);
	g_free(p);
}

uint32_t site_pairs_count(const struct site_pairs *p)
{
	return p->sites->len;
}

struct site_pair site_pairs_at(const struct site_pairs *p, uint32_t i)
{
	return g_array_index(p->sites, struct site_pair, i);
}

uint32_t site_pairs_variable(const struct site_pairs *p, uint32_t entry)
{
	return g_array_index(p->entries, struct entry, entry).variable;
}

/* The neighbour that the cursor points at, if there is one; then move on. */
static bool neighbour(const struct site_pairs *p, struct entry *x, uint32_t *e, uint32_t *f)
{
	const struct class_pair *pair =
	        &g_array_index(p->class_pairs, struct class_pair, x->first + x->pair);
	const struct class *a = &g_array_index(p->c.classes, struct class, pair->a);
	const struct class *b = &g_array_index(p->c.classes, struct class, pair->b);
	uint32_t middle;
	bool there;

	if (pair->locked) {
		x->pair++;
		return false;
	}
	*e = member_at(&p->c, a, x->member);
	middle = rank(&p->c, b, *e);
	there = x->side == 0 ? middle + x->distance - 1 < b->count : middle >= x->distance;
	if (there)
		*f = member_at(&p->c, b,
		               x->side == 0 ? middle + x->distance - 1 : middle - x->distance);
	there = there && unordered(&p->options, *e, *f);
	x->more |= there;
	if (x->side++ == 1) {
		x->side = 0;
		x->member++;
	}
	if (x->member == a->count) {
		x->member = 0;
		x->pair++;
	}
	return there && counted_here(p->t, *e, *f, x->variable);
}

bool site_pairs_next(struct site_pairs *p, uint32_t entry, uint32_t *e1, uint32_t *e2)
{
	struct entry *x = &g_array_index(p->entries, struct entry, entry);
	uint32_t e, f;

	while (!x->exhausted) {
		if (x->pair == x->count) {
			x->exhausted = !x->more;
			x->more = false;
			x->pair = 0;
			x->distance++;
			continue;
		}
		if (neighbour(p, x, &e, &f)) {
			*e1 = MIN(e, f);
			*e2 = MAX(e, f);
			return true;
		}
	}
	return false;
}

bool site_pairs_locked(const struct site_pairs *p, uint32_t entry, uint32_t *e1, uint32_t *e2)
{
	const struct entry *x = &g_array_index(p->entries, struct entry, entry);

	for (uint32_t i = x->first; i < x->first + x->count; i++) {
		const struct class_pair *pair =
		        &g_array_index(p->class_pairs, struct class_pair, i);
		uint32_t e, f;

		if (!pair->locked)
			continue;
		e = member_at(&p->c, &g_array_index(p->c.classes, struct class, pair->a), 0);
		f = member_at(&p->c, &g_array_index(p->c.classes, struct class, pair->b), 0);
		*e1 = MIN(e, f);
		*e2 = MAX(e, f);
		return true;
	}
	return false;
}
