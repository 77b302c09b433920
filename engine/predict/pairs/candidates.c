/*
 * candidates.c - enumeration of candidate pairs; see candidates.h.
 *
 * A variable's accesses form classes by thread, site, kind and lock set. Two classes conflict,
 * or share a lock, as a whole; and as a class is in one thread, its members unordered with an
 * access form an interval. So enumeration costs the number of pairs found plus that of class
 * pairs.
 */
#include "engine/predict/pairs/candidates.h"

#include "engine/base/hash.h"
#include "engine/base/search.h"
#include "engine/predict/pairs/classes.h"

static bool unordered(const struct candidate_options *o, uint32_t e, uint32_t f)
{
	uint32_t e1 = MIN(e, f), e2 = MAX(e, f);

	return (o->order == NULL || !order_ordered_unobserved(o->order, e1, e2)) &&
	       (o->settled == NULL || !o->settled(o->context, e1, e2));
}

/* The order as a relation, e <tr f; without an order no pair is ordered. */
static bool ordered(const void *options, uint32_t e, uint32_t f)
{
	return !unordered(options, e, f);
}

/* May an ordered pair be skipped with all earlier ones? Only if the union of both relations
 * is transitive, that is, one contains the other: `settled` contains program order and
 * must-order, and is incomparable with other orders. */
static bool is_transitive(const struct candidate_options *o)
{
	return o->order != NULL &&
	       (o->settled == NULL || order_kind(o->order) == ORDER_KIND_PO);
}

/* State of the enumeration, and the variables that may have candidates. */
struct search {
	struct trace *t;
	const struct candidate_options *options;
	struct locksets *locksets, *own_locksets;
	uint64_t *suspects;
};

static bool search_begin(struct search *s, struct trace *t,
                         const struct candidate_options *options,
                         const struct progress *progress)
{
	*s = (struct search){ .t = t, .options = options };
	if (!trace_need(t, INDEX_VARIABLES, progress))
		return false;
	s->locksets = options->locksets;
	if (s->locksets == NULL)
		s->locksets = s->own_locksets = locksets_new(t);
	s->suspects = options->suspects == NULL
	                      ? classes_suspects(t, s->locksets, options->keep_locked, progress)
	                      : g_memdup2(options->suspects,
	                                  (t->variables_count / 64 + 1) * sizeof(uint64_t));
	return s->suspects != NULL;
}

static void search_release(struct search *s)
{
	locksets_free(s->own_locksets);
	g_free(s->suspects);
}

static bool spend(const struct candidate_options *o, uint64_t steps)
{
	return o->effort == NULL || effort_more(o->effort, steps);
}

/* May the variable have a candidate? */
static bool is_searched(const struct search *s, uint32_t variable)
{
	uint64_t steps = 0;

	if (!is_suspect(s->suspects, variable))
		return false;
	if (s->options->keep_locked || !is_transitive(s->options))
		return true;
	bool none = variable_ordered(s->t, variable, ordered, s->options, &steps);
	spend(s->options, EFFORT_QUESTION * steps);
	return !none;
}

/* Number of members of a class before an event. */
static uint32_t rank(const struct classes *c, const struct class *class, uint32_t e)
{
	return search_end(i, 0, class->count, class_member(c, class, i) < e);
}

/* Pairs of accesses to several variables count at the first shared one. */
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

	struct span span = { 0, 0 };

	for (uint32_t i = 0; i < a->count; i++) {
		uint32_t e = class_member(c, a, i), middle;

		if (!spend(o, EFFORT_QUESTION * class_span(c, b, e, ordered, o, &span)))
			return false;
		if (span.first == span.end)
			continue;
		middle = CLAMP(rank(c, b, e), span.first, span.end);
		for (uint32_t k = middle; k < span.end; k++) {
			if (!emit_pair(out, e, class_member(c, b, k)))
				return false;
		}
		for (uint32_t k = middle; k-- > span.first;) {
			if (!emit_pair(out, e, class_member(c, b, k)))
				return false;
		}
	}
	return true;
}

static bool emit_variable(const struct emit *out, const struct classes *c)
{
	for (guint i = 0; i < c->classes->len; i++) {
		const struct class *a = class_at(c, i);

		for (guint k = i + 1; k < c->classes->len; k++) {
			const struct class *b = class_at(c, k);

			if (!spend(out->options, 1))
				return false;
			if (!classes_conflict(a, b) ||
			    (!out->options->keep_locked &&
			     lockset_common(c->locksets, a->lockset, b->lockset) != NONE))
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
	struct search search;
	struct classes c;
	bool going = search_begin(&search, t, options, progress);

	classes_init(&c, t, search.locksets);
	for (uint32_t v = 0; v < t->variables_count && going; v++) {
		if (v % 1024 == 0)
			going = progress_tick(progress, (double)v / t->variables_count,
			                      "looking at pairs");
		if (!going || !is_searched(&search, v))
			continue;
		classes_clear(&c);
		classes_add(&c, v);
		out.variable = v;
		going = emit_variable(&out, &c);
	}
	classes_release(&c);
	search_release(&search);
	return going;
}

/* -- by sites ------------------------------------------------------------------------------ */

struct class_pair {
	uint32_t site_a, site_b, variable;
	uint32_t a, b; /* classes */
	uint32_t from; /* first member of a with a candidate in b */
	bool locked;
};

/* State of an entry's enumeration: in round `distance` each member of the first class is paired
 * with the members of the second at that distance before and after. */
struct entry {
	uint32_t first, count; /* a range of class pairs */
	uint32_t variable;
	uint32_t distance, pair, member;
	uint8_t side; /* 0 after, 1 before */
	bool more;    /* the current round found a pair */
	bool exhausted;
};

struct site_pairs {
	const struct trace *t;
	struct candidate_options options;
	struct classes c;
	GArray *class_pairs; /* struct class_pair */
	GArray *entries;     /* struct entry */
	GArray *sites;       /* struct site_pair */
	GHashTable *locked;  /* set of site pairs with a pair under a common lock */
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

/* First member of class a unordered with a member of b; false: none. */
static bool find_first(const struct site_pairs *p, struct class_pair *pair)
{
	const struct class *a = class_at(&p->c, pair->a), *b = class_at(&p->c, pair->b);
	struct span span = { 0, 0 };

	for (pair->from = 0; pair->from < a->count; pair->from++) {
		uint32_t e = class_member(&p->c, a, pair->from);

		if (!spend(&p->options, EFFORT_QUESTION * class_span(&p->c, b, e, ordered,
		                                                     &p->options, &span)))
			return false;
		if (span.first < span.end)
			return true;
	}
	return false;
}

/* For pairs under a common lock, one per pair of sites suffices. */
static gpointer sites_of(const struct class_pair *pair)
{
	return (gpointer)((uintptr_t)pair->site_a << 32 | pair->site_b);
}

/* True when a pair was added. */
static bool add_class_pair(struct site_pairs *p, uint32_t variable, guint i, guint k)
{
	const struct candidate_options *o = &p->options;
	const struct class *a = class_at(&p->c, i), *b = class_at(&p->c, k);
	/* the smaller one first: fewer, longer rounds */
	struct class_pair pair = { .site_a = MIN(a->site, b->site),
		                   .site_b = MAX(a->site, b->site),
		                   .variable = variable,
		                   .a = a->count < b->count ? i : k,
		                   .b = a->count < b->count ? k : i };

	if (!classes_conflict(a, b))
		return false;
	pair.locked = lockset_common(p->c.locksets, a->lockset, b->lockset) != NONE;
	if ((pair.locked &&
	     (!o->keep_locked || g_hash_table_contains(p->locked, sites_of(&pair)))) ||
	    (o->race != NULL && !race_in_shard(o->race, a->site, b->site)) ||
	    !find_first(p, &pair))
		return false;
	if (pair.locked)
		g_hash_table_add(p->locked, sites_of(&pair));
	g_array_append_val(p->class_pairs, pair);
	return !pair.locked;
}

/* pairs_of_variable, with a bound on the pairs of two sites. */
static bool pairs_of_sites(struct site_pairs *p, uint32_t variable, guint first)
{
	struct class_sites s = classes_by_site(&p->c, first);
	bool left = true;

	for (uint32_t i = 0; i < s.count && left; i++) {
		for (uint32_t j = 0; j <= i && left; j++) {
			uint32_t found = 0, most = p->options.most_class_pairs;

			for (uint32_t a = s.start[i]; a < s.start[i + 1] && left; a++) {
				uint32_t end = i == j ? a : s.start[j + 1];

				for (uint32_t b = s.start[j]; b < end && left && found < most;
				     b++) {
					left = spend(&p->options, 1);
					found += left &&
					         add_class_pair(p, variable, s.by[b], s.by[a]);
				}
				if (found == most)
					break;
			}
		}
	}
	class_sites_release(&s);
	return left;
}

/* False when the budget is spent. */
static bool pairs_of_variable(struct site_pairs *p, uint32_t variable, guint first)
{
	if (p->options.most_class_pairs > 0 && p->c.classes->len - first >= MANY_CLASSES)
		return pairs_of_sites(p, variable, first);
	for (guint i = first; i < p->c.classes->len; i++) {
		for (guint k = i + 1; k < p->c.classes->len; k++) {
			if (!spend(&p->options, 1))
				return false;
			add_class_pair(p, variable, i, k);
		}
	}
	return true;
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
			struct site_pair site = { now->site_a, now->site_b, p->entries->len,
				                  0 };

			g_array_append_val(p->sites, site);
		}
		struct site_pair *site =
		        &g_array_index(p->sites, struct site_pair, p->sites->len - 1);
		if (!same_sites || now->variable != last->variable) {
			struct entry entry = { .first = i,
				               .variable = now->variable,
				               .distance = 1,
				               .member = now->from };

			g_array_append_val(p->entries, entry);
			site->variables++;
		}
		g_array_index(p->entries, struct entry, p->entries->len - 1).count++;
		last = now;
	}
}

/* False when cancelled. */
static bool collect_pairs(struct site_pairs *p, struct trace *t,
                          const struct progress *progress)
{
	struct search search;
	bool going = search_begin(&search, t, &p->options, progress), left = true;

	classes_init(&p->c, t, search.locksets);
	for (uint32_t v = 0; v < t->variables_count && going && left; v++) {
		guint first = p->c.classes->len, events = p->c.events->len,
		      pairs = p->class_pairs->len;

		if (v % 1024 == 0)
			going = progress_tick(progress, (double)v / t->variables_count,
			                      "pairing sites");
		if (!going || !is_searched(&search, v))
			continue;
		classes_add(&p->c, v);
		left = pairs_of_variable(p, v, first);
		if (p->class_pairs->len == pairs) { /* only the first round's, which are done */
			g_array_set_size(p->c.classes, first);
			g_array_set_size(p->c.events, events);
		}
	}
	search_release(&search);
	p->c.locksets = NULL;
	return going;
}

struct site_pairs *site_pairs_new(struct trace *t, const struct candidate_options *options,
                                  const struct progress *progress)
{
	struct site_pairs *p = g_new0(struct site_pairs, 1);

	p->t = t;
	p->options = *options;
	p->class_pairs = g_array_new(FALSE, FALSE, sizeof(struct class_pair));
	p->entries = g_array_new(FALSE, FALSE, sizeof(struct entry));
	p->sites = g_array_new(FALSE, FALSE, sizeof(struct site_pair));
	p->locked = g_hash_table_new(hash_pointer, NULL);
	if (!collect_pairs(p, t, progress)) {
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
	g_hash_table_destroy(p->locked);
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

static void begin_pair(const struct site_pairs *p, struct entry *x)
{
	x->member = g_array_index(p->class_pairs, struct class_pair, x->first + x->pair).from;
}

static void next_pair(const struct site_pairs *p, struct entry *x)
{
	if (++x->pair < x->count)
		begin_pair(p, x);
}

/* The neighbour at the cursor, if any; then advance. */
static bool neighbour(const struct site_pairs *p, struct entry *x, uint32_t *e, uint32_t *f)
{
	const struct class_pair *pair =
	        &g_array_index(p->class_pairs, struct class_pair, x->first + x->pair);
	const struct class *a = class_at(&p->c, pair->a);
	const struct class *b = class_at(&p->c, pair->b);

	if (pair->locked) {
		next_pair(p, x);
		return false;
	}
	*e = class_member(&p->c, a, x->member);
	uint32_t middle = rank(&p->c, b, *e);
	bool there = x->side == 0 ? middle + x->distance - 1 < b->count : middle >= x->distance;
	if (there)
		*f = class_member(&p->c, b,
		                  x->side == 0 ? middle + x->distance - 1
		                               : middle - x->distance);
	there = there && unordered(&p->options, *e, *f);
	x->more |= there;
	if (x->side++ == 1) {
		x->side = 0;
		x->member++;
	}
	if (x->member == a->count)
		next_pair(p, x);
	return there && counted_here(p->t, *e, *f, x->variable);
}

bool site_pairs_next(struct site_pairs *p, uint32_t entry, uint32_t *e1, uint32_t *e2)
{
	struct entry *x = &g_array_index(p->entries, struct entry, entry);
	uint32_t e, f;

	while (!x->exhausted && spend(&p->options, EFFORT_QUESTION)) {
		if (x->pair == x->count) {
			x->exhausted = !x->more;
			x->more = false;
			x->pair = 0;
			begin_pair(p, x);
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

bool site_pairs_bounded(const struct site_pairs *p, uint32_t entry)
{
	uint32_t most = p->options.most_class_pairs;

	return most > 0 && g_array_index(p->entries, struct entry, entry).count >= most;
}

bool site_pairs_locked(const struct site_pairs *p, uint32_t entry, uint32_t *e1, uint32_t *e2)
{
	const struct entry *x = &g_array_index(p->entries, struct entry, entry);

	for (uint32_t i = x->first; i < x->first + x->count; i++) {
		const struct class_pair *pair =
		        &g_array_index(p->class_pairs, struct class_pair, i);

		if (!pair->locked)
			continue;
		uint32_t e = class_member(&p->c, class_at(&p->c, pair->a), 0);
		uint32_t f = class_member(&p->c, class_at(&p->c, pair->b), 0);
		*e1 = MIN(e, f);
		*e2 = MAX(e, f);
		return true;
	}
	return false;
}
