/*
 * locksets.c - lock sets of events as ids of interned sets, so that "common lock?" compares two
 * small numbers.
 *
 * A set is a binary trie over lock numbers (Okasaki and Gill, "Fast mergeable integer maps",
 * 1998) with interned nodes: equal sets are one node, and sets that differ by one lock share
 * all but a path. A thread may hold tens of thousands of locks; an acquire costs some nodes,
 * not a copy. Independent of accesses.
 */
#include "engine/base/hash.h"
#include "engine/predict/pairs/candidates.h"

/* A result in a direct-mapped cache. */
enum { RECENT_BITS = 12, RECENT = 1 << RECENT_BITS, FIRST_SLOTS = 1 << 8 };
struct recent {
	uint64_t key; /* 0: none */
	uint32_t set;
};

/* A lock, or two subsets distinguished by a bit of lock numbers. */
struct node {
	uint32_t bit;    /* 0: a lock */
	uint32_t number; /* the lock; or the common bits above `bit` */
	union {
		uint32_t part[2]; /* nodes: bit clear, bit set */
		uint32_t held[2]; /* count in shared and exclusive mode */
	};
	bool shared, exclusive; /* is any lock held so? */
};

struct locksets {
	uint32_t *at;       /* by event: its set; or NULL */
	struct node *nodes; /* by id; 0 is the empty set */
	uint32_t count, capacity;
	uint32_t *slots;             /* ids, open addressing; 0: none */
	uint32_t slots_count;        /* a power of two */
	struct recent moves[RECENT]; /* (set, item, acquire) -> set */
	struct recent meets[RECENT]; /* (set, set) -> set */
};

/* -- nodes ------------------------------------------------------------------------------- */

static uint32_t *slot_of(const struct locksets *l, const struct node *n)
{
	uint64_t hash = hash_pair(n->number, n->bit);
	uint32_t at;

	hash = (hash ^ ((uint64_t)n->part[0] << 32 | n->part[1])) * 0xff51afd7ed558ccdu;
	for (at = hash_top(hash) & (l->slots_count - 1); l->slots[at] != 0;
	     at = (at + 1) & (l->slots_count - 1)) {
		const struct node *old = &l->nodes[l->slots[at]];

		if (old->number == n->number && old->bit == n->bit &&
		    old->part[0] == n->part[0] && old->part[1] == n->part[1])
			break;
	}
	return &l->slots[at];
}

static void make_room(struct locksets *l)
{
	if (l->count == l->capacity) {
		l->capacity *= 2;
		l->nodes = g_renew(struct node, l->nodes, l->capacity);
	}
	if (2 * l->count < l->slots_count)
		return;
	l->slots_count *= 2;
	g_free(l->slots);
	l->slots = g_new0(uint32_t, l->slots_count);
	for (uint32_t i = 1; i < l->count; i++)
		*slot_of(l, &l->nodes[i]) = i;
}

static uint32_t intern(struct locksets *l, struct node n)
{
	uint32_t *slot = slot_of(l, &n);

	if (*slot == 0) {
		*slot = l->count;
		l->nodes[l->count++] = n;
		make_room(l);
		return l->count - 1;
	}
	return *slot;
}

static uint32_t one_lock(struct locksets *l, uint32_t lock, uint32_t shared, uint32_t exclusive)
{
	if (shared == 0 && exclusive == 0)
		return 0;
	return intern(l, (struct node){ .number = lock,
	                                .held = { shared, exclusive },
	                                .shared = shared > 0,
	                                .exclusive = exclusive > 0 });
}

static uint32_t two_parts(struct locksets *l, uint32_t number, uint32_t bit, uint32_t without,
                          uint32_t with)
{
	if (without == 0 || with == 0)
		return without | with;
	return intern(l,
	              (struct node){ .bit = bit,
	                             .number = number,
	                             .part = { without, with },
	                             .shared = l->nodes[without].shared | l->nodes[with].shared,
	                             .exclusive = l->nodes[without].exclusive |
	                                          l->nodes[with].exclusive });
}

/* The bits of a number above `bit`. */
static inline uint32_t above(uint32_t number, uint32_t bit)
{
	return number & ~(2 * bit - 1);
}

/* Can the node contain the lock? */
static inline bool within(uint32_t lock, const struct node *n)
{
	return n->bit == 0 ? lock == n->number : above(lock, n->bit) == n->number;
}

static inline uint32_t part_of(const struct node *n, uint32_t lock)
{
	return n->part[(lock & n->bit) != 0];
}

/* Union of two sets of different locks, neither inside the other's range. */
static uint32_t side_by_side(struct locksets *l, uint32_t a, uint32_t b)
{
	uint32_t x = l->nodes[a].number, y = l->nodes[b].number;
	uint32_t bit = 1u << (31 - (uint32_t)__builtin_clz(x ^ y));

	return (y & bit) != 0 ? two_parts(l, above(x, bit), bit, a, b)
	                      : two_parts(l, above(x, bit), bit, b, a);
}

/* -- adding and removing locks ------------------------------------------------------------- */

static uint32_t change_lock(struct locksets *l, const struct node *n, uint32_t mode,
                            bool acquires)
{
	uint32_t held[2] = { n->held[0], n->held[1] };

	if (acquires)
		held[mode]++;
	else if (held[mode] > 0)
		held[mode]--;
	return one_lock(l, n->number, held[0], held[1]);
}

static uint32_t change(struct locksets *l, uint32_t set, uint32_t item, bool acquires)
{
	struct node n = l->nodes[set];
	uint32_t lock = item / 2, part;

	if (set == 0 || !within(lock, &n)) {
		if (!acquires)
			return set;
		part = one_lock(l, lock, !(item & 1), item & 1);
		return set == 0 ? part : side_by_side(l, set, part);
	}
	if (n.bit == 0)
		return change_lock(l, &n, item & 1, acquires);
	part = change(l, part_of(&n, lock), item, acquires);
	return (lock & n.bit) != 0 ? two_parts(l, n.number, n.bit, n.part[0], part)
	                           : two_parts(l, n.number, n.bit, part, n.part[1]);
}

static struct recent *recent_at(struct recent *table, uint64_t key)
{
	return &table[hash_word(key) >> (64 - RECENT_BITS)];
}

static uint32_t moved(struct locksets *l, uint32_t set, uint32_t item, bool acquires)
{
	uint64_t key = (((uint64_t)set << 32 | item) << 1 | acquires) + 1;
	struct recent *recent = recent_at(l->moves, key);

	if (recent->key != key) {
		recent->key = key;
		recent->set = change(l, set, item, acquires);
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

uint32_t lockset_without(struct locksets *l, uint32_t set, uint32_t item)
{
	return moved(l, set, item, false);
}

uint32_t lockset_single(const struct locksets *l, uint32_t set)
{
	const struct node *n = &l->nodes[set];

	return set != 0 && n->bit == 0 && n->held[0] + n->held[1] == 1 ? n->number : NONE;
}

/* -- two sets ---------------------------------------------------------------------------- */

/* If one set can only lie within one child of the other, replace the other by that child. */
static bool step_down(const struct locksets *l, uint32_t *a, uint32_t *b)
{
	const struct node *x = &l->nodes[*a], *y = &l->nodes[*b];

	if (x->bit > y->bit && within(y->number, x)) {
		*a = part_of(x, y->number);
		return true;
	}
	if (y->bit > x->bit && within(x->number, y)) {
		*b = part_of(y, x->number);
		return true;
	}
	return false;
}

static uint32_t both(struct locksets *l, uint32_t a, uint32_t b)
{
	struct node x, y;

	do {
		x = l->nodes[a];
		y = l->nodes[b];
		if (!x.exclusive || !y.exclusive)
			return 0;
		if (a == b && !x.shared)
			return a;
	} while (step_down(l, &a, &b));
	if (x.bit != y.bit || x.number != y.number)
		return 0;
	if (x.bit == 0)
		return one_lock(l, x.number, 0, MIN(x.held[1], y.held[1]));
	return two_parts(l, x.number, x.bit, both(l, x.part[0], y.part[0]),
	                 both(l, x.part[1], y.part[1]));
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

uint32_t lockset_common(const struct locksets *l, uint32_t a, uint32_t b)
{
	const struct node *x, *y;

	do {
		x = &l->nodes[a];
		y = &l->nodes[b];
		if (a == 0 || b == 0 || !(x->exclusive || y->exclusive))
			return NONE;
	} while (step_down(l, &a, &b));
	if (x->bit != y->bit || x->number != y->number)
		return NONE;
	if (x->bit == 0)
		return x->number;
	uint32_t found = lockset_common(l, x->part[0], y->part[0]);
	return found != NONE ? found : lockset_common(l, x->part[1], y->part[1]);
}

bool lockset_any(const struct locksets *l, uint32_t set, lockset_item *wanted, void *context)
{
	const struct node *n = &l->nodes[set];

	if (set == 0)
		return false;
	if (n->bit == 0)
		return (n->held[0] > 0 && wanted(context, n->number * 2)) ||
		       (n->held[1] > 0 && wanted(context, n->number * 2 + 1));
	return lockset_any(l, n->part[0], wanted, context) ||
	       lockset_any(l, n->part[1], wanted, context);
}

/* ---------------------------------------------------------------------------------------- */

struct locksets *locksets_empty(void)
{
	struct locksets *l = g_new0(struct locksets, 1);

	l->capacity = FIRST_SLOTS / 2;
	l->nodes = g_new0(struct node, l->capacity);
	l->count = 1;
	l->slots_count = FIRST_SLOTS;
	l->slots = g_new0(uint32_t, l->slots_count);
	return l;
}

struct locksets *locksets_new(struct trace *t)
{
	struct locksets *l = locksets_empty();
	g_autofree uint32_t *now = g_new0(uint32_t, t->threads_count + 1);

	l->at = g_new(uint32_t, t->events_count + 1);
	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];

		l->at[e] = now[x->thread];
		if ((op_acquires(x->op) || op_releases(x->op)) && !event_inert(x))
			now[x->thread] = lockset_moved(l, now[x->thread], x);
	}
	return l;
}

void locksets_free(struct locksets *l)
{
	if (l == NULL)
		return;
	g_free(l->nodes);
	g_free(l->slots);
	g_free(l->at);
	g_free(l);
}

uint32_t lockset_at(const struct locksets *l, uint32_t event)
{
	return l->at[event];
}
