/*
 * containers.c - libstdc++'s functions beneath std::list, std::map, std::set and the hash
 * tables: they lie in the library, which is not instrumented, and link nodes that the program's
 * own code reads.  Here is the same work with the accesses of the caller.
 *
 * The layouts are part of libstdc++'s binary interface; the tree's algorithms are those of
 * Cormen et al., with the header that libstdc++ has (parent: the root, left: the least node,
 * right: the greatest one).
 */
#include "ranges.h"
#include "engine/record/runtime/core/rt.h"

/* A field, as the caller reads or writes it. */
#define GET(p, field) (range_touched(LOG_READ, &(p)->field, sizeof((p)->field), pc), (p)->field)
#define SET(p, field, value) \
	do { \
		__typeof__((p)->field) value_ = (value); \
		range_touched(LOG_WRITE, &(p)->field, sizeof((p)->field), pc); \
		(p)->field = value_; \
	} while (0)

/* ---- std::list ---- */

struct link {
	struct link *next, *prev;
};

EXPORT void _ZNSt8__detail15_List_node_base7_M_hookEPS0_(struct link *n, struct link *before);
void _ZNSt8__detail15_List_node_base7_M_hookEPS0_(struct link *n, struct link *before)
{
	uintptr_t pc = CALLER();
	SET(n, next, before);
	struct link *prev = GET(before, prev);
	SET(n, prev, prev);
	SET(prev, next, n);
	SET(before, prev, n);
}

EXPORT void _ZNSt8__detail15_List_node_base9_M_unhookEv(struct link *n);
void _ZNSt8__detail15_List_node_base9_M_unhookEv(struct link *n)
{
	uintptr_t pc = CALLER();
	struct link *next = GET(n, next), *prev = GET(n, prev);
	SET(prev, next, next);
	SET(next, prev, prev);
}

/* Moves the nodes from `first` up to `last` before `n`. */
EXPORT void _ZNSt8__detail15_List_node_base11_M_transferEPS0_S1_(struct link *n,
                                                                 struct link *first,
                                                                 struct link *last);
void _ZNSt8__detail15_List_node_base11_M_transferEPS0_S1_(struct link *n, struct link *first,
                                                          struct link *last)
{
	uintptr_t pc = CALLER();
	if (n == last)
		return;
	struct link *moved = GET(last, prev), *before = GET(first, prev), *prev = GET(n, prev);
	SET(moved, next, n);
	SET(before, next, last);
	SET(prev, next, first);
	SET(n, prev, moved);
	SET(last, prev, before);
	SET(first, prev, prev);
}

EXPORT void _ZNSt8__detail15_List_node_base10_M_reverseEv(struct link *n);
void _ZNSt8__detail15_List_node_base10_M_reverseEv(struct link *n)
{
	uintptr_t pc = CALLER();
	struct link *at = n;
	do {
		struct link *next = GET(at, next), *prev = GET(at, prev);
		SET(at, next, prev);
		SET(at, prev, next);
		at = next;
	} while (at != n);
}

/* Gives `to` the neighbours of `from`; an empty list points to itself. */
static void adopt(struct link *to, struct link *from, struct link *next, struct link *prev,
                  uintptr_t pc)
{
	bool empty = next == from;
	SET(to, next, empty ? to : next);
	SET(to, prev, empty ? to : prev);
	if (empty)
		return;
	SET(next, prev, to);
	SET(prev, next, to);
}

EXPORT void _ZNSt8__detail15_List_node_base4swapERS0_S1_(struct link *a, struct link *b);
void _ZNSt8__detail15_List_node_base4swapERS0_S1_(struct link *a, struct link *b)
{
	uintptr_t pc = CALLER();
	struct link *a_next = GET(a, next), *a_prev = GET(a, prev);
	struct link *b_next = GET(b, next), *b_prev = GET(b, prev);
	adopt(a, b, b_next, b_prev, pc);
	adopt(b, a, a_next, a_prev, pc);
}

/* ---- hash tables ---- */

struct policy {
	float most;
	size_t next_resize;
};
struct answer {
	bool rehash;
	size_t buckets;
};

/* Notes the write of the size at which the next growth is due. */
static void note_policy(const struct policy *p, size_t before, uintptr_t pc)
{
	if (p->next_resize != before)
		range_touched(LOG_WRITE, &p->next_resize, sizeof(p->next_resize), pc);
}

EXPORT struct answer _ZNKSt8__detail20_Prime_rehash_policy14_M_need_rehashEmmm(
        const struct policy *p, size_t buckets, size_t elements, size_t more);
struct answer _ZNKSt8__detail20_Prime_rehash_policy14_M_need_rehashEmmm(const struct policy *p,
                                                                        size_t buckets,
                                                                        size_t elements,
                                                                        size_t more)
{
	uintptr_t pc = CALLER();
	size_t before = GET(p, next_resize);
	struct answer a = REAL(_ZNKSt8__detail20_Prime_rehash_policy14_M_need_rehashEmmm)(
	        p, buckets, elements, more);
	note_policy(p, before, pc);
	return a;
}

EXPORT size_t _ZNKSt8__detail20_Prime_rehash_policy11_M_next_bktEm(const struct policy *p,
                                                                   size_t buckets);
size_t _ZNKSt8__detail20_Prime_rehash_policy11_M_next_bktEm(const struct policy *p,
                                                            size_t buckets)
{
	uintptr_t pc = CALLER();
	size_t before = p->next_resize;
	size_t next = REAL(_ZNKSt8__detail20_Prime_rehash_policy11_M_next_bktEm)(p, buckets);
	note_policy(p, before, pc);
	return next;
}

/* ---- std::map, std::set ---- */

enum { RED, BLACK };
struct node {
	int colour;
	struct node *parent, *left, *right;
};

/* The next node in order; the header after the last. */
static struct node *increment(struct node *x, uintptr_t pc)
{
	struct node *y = GET(x, right);
	if (y) {
		for (x = y; (y = GET(x, left)) != NULL;)
			x = y;
		return x;
	}
	y = GET(x, parent);
	while (x == GET(y, right)) {
		x = y;
		y = GET(y, parent);
	}
	return GET(x, right) != y ? y : x;
}

static struct node *decrement(struct node *x, uintptr_t pc)
{
	struct node *y;
	if (GET(x, colour) == RED && (y = GET(x, parent)) != NULL && GET(y, parent) == x)
		return GET(x, right); /* the header */
	y = GET(x, left);
	if (y) {
		for (x = y; (y = GET(x, right)) != NULL;)
			x = y;
		return x;
	}
	y = GET(x, parent);
	while (x == GET(y, left)) {
		x = y;
		y = GET(y, parent);
	}
	return y;
}

#define STEP(name, step) \
	EXPORT struct node *name(struct node *x); \
	struct node *name(struct node *x) \
	{ \
		return step(x, CALLER()); \
	}
STEP(_ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base, increment)
STEP(_ZSt18_Rb_tree_incrementPKSt18_Rb_tree_node_base, increment)
STEP(_ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base, decrement)
STEP(_ZSt18_Rb_tree_decrementPKSt18_Rb_tree_node_base, decrement)

static struct node *child(struct node *x, bool left, uintptr_t pc)
{
	return left ? GET(x, left) : GET(x, right);
}

static void set_child(struct node *x, bool left, struct node *to, uintptr_t pc)
{
	if (left)
		SET(x, left, to);
	else
		SET(x, right, to);
}

/* `to` takes the place of `x` below its parent. */
static void replace(struct node *x, struct node *to, struct node *header, uintptr_t pc)
{
	struct node *parent = GET(x, parent);
	if (GET(header, parent) == x)
		SET(header, parent, to);
	else
		set_child(parent, GET(parent, left) == x, to, pc);
}

/* Rotates to the left: x's right child takes its place, and x becomes that one's left child. */
static void rotate(struct node *x, bool left, struct node *header, uintptr_t pc)
{
	struct node *y = child(x, !left, pc), *inner = child(y, left, pc);
	set_child(x, !left, inner, pc);
	if (inner)
		SET(inner, parent, x);
	SET(y, parent, GET(x, parent));
	replace(x, y, header, pc);
	set_child(y, left, x, pc);
	SET(x, parent, y);
}

static bool is_black(struct node *x, uintptr_t pc)
{
	return !x || GET(x, colour) == BLACK;
}

static void rebalance(struct node *x, struct node *header, uintptr_t pc)
{
	struct node *parent;
	while (x != GET(header, parent) && !is_black(parent = GET(x, parent), pc)) {
		struct node *above = GET(parent, parent);
		bool left = parent == GET(above, left);
		struct node *uncle = child(above, !left, pc);
		if (!is_black(uncle, pc)) {
			SET(parent, colour, BLACK);
			SET(uncle, colour, BLACK);
			SET(above, colour, RED);
			x = above;
			continue;
		}
		if (x == child(parent, !left, pc)) {
			x = parent;
			rotate(x, left, header, pc);
			parent = GET(x, parent);
		}
		SET(parent, colour, BLACK);
		SET(above, colour, RED);
		rotate(above, !left, header, pc);
	}
	x = GET(header, parent);
	SET(x, colour, BLACK);
}

EXPORT void _ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_(
        bool left, struct node *x, struct node *parent, struct node *header);
void _ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_(bool left,
                                                                       struct node *x,
                                                                       struct node *parent,
                                                                       struct node *header)
{
	uintptr_t pc = CALLER();
	SET(x, parent, parent);
	SET(x, left, NULL);
	SET(x, right, NULL);
	SET(x, colour, RED);
	set_child(parent, left, x, pc); /* below the header: the least node is x, too */
	if (parent == header) {
		SET(header, parent, x);
		SET(header, right, x);
	} else if (left && parent == GET(header, left)) {
		SET(header, left, x);
	} else if (!left && parent == GET(header, right)) {
		SET(header, right, x);
	}
	rebalance(x, header, pc);
}

/* Rebalances where one black node is missing on the paths through `x` (may be NULL), below
 * `parent`. */
static void rebalance_less(struct node *x, struct node *parent, struct node *header,
                           uintptr_t pc)
{
	while (x != GET(header, parent) && is_black(x, pc)) {
		bool left = x == GET(parent, left);
		struct node *w = child(parent, !left, pc);
		if (!is_black(w, pc)) {
			SET(w, colour, BLACK);
			SET(parent, colour, RED);
			rotate(parent, left, header, pc);
			w = child(parent, !left, pc);
		}
		if (is_black(GET(w, left), pc) && is_black(GET(w, right), pc)) {
			SET(w, colour, RED);
			x = parent;
			parent = GET(parent, parent);
			continue;
		}
		if (is_black(child(w, !left, pc), pc)) {
			struct node *inner = child(w, left, pc);
			SET(inner, colour, BLACK);
			SET(w, colour, RED);
			rotate(w, !left, header, pc);
			w = child(parent, !left, pc);
		}
		SET(w, colour, GET(parent, colour));
		SET(parent, colour, BLACK);
		struct node *outer = child(w, !left, pc);
		if (outer)
			SET(outer, colour, BLACK);
		rotate(parent, left, header, pc);
		break;
	}
	if (x)
		SET(x, colour, BLACK);
}

static struct node *furthest(struct node *x, bool left, uintptr_t pc)
{
	for (struct node *y; (y = child(x, left, pc)) != NULL;)
		x = y;
	return x;
}

/* `next`, the least below z's right child, takes z's place and colour. */
static struct node *take_place(struct node *z, struct node *next, struct node *header,
                               uintptr_t pc)
{
	struct node *x = GET(next, right), *parent = next, *left = GET(z, left);
	SET(left, parent, next);
	SET(next, left, left);
	if (next != GET(z, right)) {
		parent = GET(next, parent);
		if (x)
			SET(x, parent, parent);
		SET(parent, left, x);
		struct node *right = GET(z, right);
		SET(next, right, right);
		SET(right, parent, next);
	}
	replace(z, next, header, pc);
	SET(next, parent, GET(z, parent));
	int colour = GET(next, colour);
	SET(next, colour, GET(z, colour));
	SET(z, colour, colour);
	return parent;
}

EXPORT struct node *
_ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_(struct node *z,
                                                             struct node *header);
struct node *_ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_(struct node *z,
                                                                          struct node *header)
{
	uintptr_t pc = CALLER();
	struct node *left = GET(z, left), *right = GET(z, right), *x, *parent;
	if (left && right) {
		struct node *next = furthest(right, true, pc);
		x = GET(next, right);
		parent = take_place(z, next, header, pc);
	} else {
		x = left ? left : right;
		parent = GET(z, parent);
		if (x)
			SET(x, parent, parent);
		replace(z, x, header, pc);
		if (GET(header, left) == z)
			SET(header, left, right ? furthest(x, true, pc) : parent);
		if (GET(header, right) == z)
			SET(header, right, left ? furthest(x, false, pc) : parent);
	}
	if (GET(z, colour) == BLACK)
		rebalance_less(x, parent, header, pc);
	return z;
}
