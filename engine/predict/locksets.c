/*
 * locksets.c - the locks held at every event, as ids of interned sets, so that "do these
 * two accesses hold a common lock" is a comparison of two small numbers.
 *
 * A set is a sorted list of locks, each with its mode.  Knows nothing of accesses.
 */
#include "engine/predict/candidates.h"

#include <string.h>

/* Answers that were given last; where two share a place, the later one has it. */
enum { RECENT = 1 << 10 };
struct recent {
	uint64_t key; /* 0: none */
	uint32_t set;
};

struct locksets {
	uint32_t *at;      /* by event: the set just before it; or NULL */
	GArray *items;     /* uint32_t: object * 2 + exclusive, ascending within a set */
	GArray *start;     /* uint32_t: where set i begins in items; one more at the end */
	GHashTable *known; /* set's items (in items) -> id, through struct set_key */
	struct recent moves[RECENT]; /* (set, item, acquire) -> set */
	struct recent meets[RECENT]; /* (set, set) -> set */
};

/* A set to look for lies at the end of items. */
struct set_key {
	const struct locksets *l;
	uint32_t id;
};

static uint32_t set_length(const struct locksets *l, uint32_t id)
{
	return g_array_index(l->start, uint32_t, id + 1) -
	       g_array_index(l->start, uint32_t, id);
}

static const uint32_t *set_items(const struct locksets *l, uint32_t id)
{
	return &g_array_index(l->items, uint32_t, g_array_index(l->start, uint32_t, id));
}

static guint key_hash(gconstpointer p)
{
	const struct set_key *k = p;
	guint hash = 5381;

	for (uint32_t i = 0; i < set_length(k->l, k->id); i++)
		hash = hash * 33 + set_items(k->l, k->id)[i];
	return hash;
}

static gboolean key_equal(gconstpointer a, gconstpointer b)
{
	const struct set_key *x = a, *y = b;
	uint32_t length = set_length(x->l, x->id);

	return length == set_length(y->l, y->id) &&
	       memcmp(set_items(x->l, x->id), set_items(y->l, y->id),
	              length * sizeof(uint32_t)) == 0;
}

/* The id of the set that has been appended to items. */
static uint32_t intern(struct locksets *l)
{
	uint32_t id = l->start->len - 1, end = l->items->len;
	struct set_key *key = g_new(struct set_key, 1), *found;

	g_array_append_val(l->start, end);
	*key = (struct set_key){ l, id };
	found = g_hash_table_lookup(l->known, key);
	if (found == NULL) {
		g_hash_table_add(l->known, key);
		return id;
	}
	g_free(key);
	g_array_set_size(l->start, l->start->len - 1);
	g_array_set_size(l->items, g_array_index(l->start, uint32_t, l->start->len - 1));
	return found->id;
}

static uint32_t with_item(struct locksets *l, uint32_t set, uint32_t item)
{
	uint32_t length = set_length(l, set);
	bool placed = false;

	for (uint32_t i = 0; i < length; i++) {
		uint32_t old = set_items(l, set)[i];

		if (!placed && item < old) {
			g_array_append_val(l->items, item);
			placed = true;
		}
		g_array_append_val(l->items, old);
	}
	if (!placed)
		g_array_append_val(l->items, item);
	return intern(l);
}

static uint32_t without_item(struct locksets *l, uint32_t set, uint32_t item)
{
	uint32_t length = set_length(l, set);
	bool dropped = false;

	for (uint32_t i = 0; i < length; i++) {
		uint32_t old = set_items(l, set)[i];

		if (!dropped && old == item)
			dropped = true;
		else
			g_array_append_val(l->items, old);
	}
	return intern(l);
}

static struct recent *recent_at(struct recent *table, uint64_t key)
{
	return &table[key * 0x9e3779b97f4a7c15u >> 54];
}

static uint32_t moved(struct locksets *l, uint32_t set, uint32_t item, bool acquires)
{
	uint64_t key = (((uint64_t)set << 32 | item) << 1 | acquires) + 1;
	struct recent *recent = recent_at(l->moves, key);

	if (recent->key != key) {
		recent->key = key;
		recent->set = acquires ? with_item(l, set, item) : without_item(l, set, item);
	}
	return recent->set;
}

uint32_t lockset_moved(struct locksets *l, uint32_t set, const struct event *x)
{
	return moved(l, set, x->target * 2 + (x->op == OP_ACQ || x->op == OP_REL),
	             op_acquires(x->op));
}

uint32_t lockset_with(struct locksets *l, uint32_t set, uint32_t item)
{
	return moved(l, set, item, true);
}

uint32_t lockset_single(const struct locksets *l, uint32_t set)
{
	return set_length(l, set) == 1 ? *set_items(l, set) / 2 : NONE;
}

static uint32_t both(struct locksets *l, uint32_t a, uint32_t b)
{
	uint32_t length = set_length(l, a), other = set_length(l, b);

	for (uint32_t i = 0, k = 0; i < length && k < other;) {
		uint32_t x = set_items(l, a)[i], y = set_items(l, b)[k];

		if (x == y && (x & 1))
			g_array_append_val(l->items, x);
		i += x <= y;
		k += y <= x;
	}
	return intern(l);
}

uint32_t lockset_exclusive(struct locksets *l, uint32_t a, uint32_t b)
{
	uint64_t key = ((uint64_t)a << 32 | b) + 1;
	struct recent *recent = recent_at(l->meets, key);

	if (recent->key != key) {
		recent->key = key;
		recent->set = both(l, a, b);
	}
	return recent->set;
}

struct locksets *locksets_empty(void)
{
	struct locksets *l = g_new0(struct locksets, 1);
	uint32_t zero = 0;

	l->items = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	l->start = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	l->known = g_hash_table_new_full(key_hash, key_equal, g_free, NULL);
	g_array_append_val(l->start, zero);
	intern(l); /* the empty set is 0 */
	return l;
}

struct locksets *locksets_new(struct trace *t)
{
	struct locksets *l = locksets_empty();
	uint32_t *now = g_new0(uint32_t, t->threads_count + 1);

	l->at = g_new(uint32_t, t->events_count + 1);
	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];

		l->at[e] = now[x->thread];
		if ((op_acquires(x->op) || op_releases(x->op)) && !event_inert(x))
			now[x->thread] = lockset_moved(l, now[x->thread], x);
	}
	g_free(now);
	return l;
}

void locksets_free(struct locksets *l)
{
	if (l == NULL)
		return;
	g_hash_table_destroy(l->known);
	g_array_unref(l->items);
	g_array_unref(l->start);
	g_free(l->at);
	g_free(l);
}

uint32_t lockset_at(const struct locksets *l, uint32_t event)
{
	return l->at[event];
}

const void *lockset_place(const struct locksets *l, uint32_t event)
{
	return &l->at[event];
}

uint32_t lockset_common(const struct locksets *l, uint32_t a, uint32_t b)
{
	const uint32_t *x = set_items(l, a), *y = set_items(l, b);
	const uint32_t *x_end = x + set_length(l, a), *y_end = y + set_length(l, b);

	while (x < x_end && y < y_end) {
		if (*x / 2 < *y / 2) {
			x++;
		} else if (*x / 2 > *y / 2) {
			y++;
		} else if ((*x | *y) & 1) {
			return *x / 2;
		} else if (*x == *y) {
			x++, y++;
		} else if (*x < *y) {
			x++;
		} else {
			y++;
		}
	}
	return NONE;
}
