/* c11_order.c - see c11_order.h. */
#include "tests/property/c11_order.h"

#include <string.h>

enum { MOST = C11_ORDER_MOST };

struct sequence {
	const struct trace *t;
	const uint32_t *must, *events;
};

static const struct event *at(const struct sequence *s, uint32_t place)
{
	return &s->t->events[s->events[place]];
}

static bool is(const struct sequence *s, uint32_t i, enum op op)
{
	return at(s, i)->op == op && !event_inert(at(s, i));
}

static bool accesses(const struct sequence *s, uint32_t i, uint32_t variable)
{
	if (!op_is_access(at(s, i)->op) || event_inert(at(s, i)))
		return false;
	struct wide run = event_variables(s->t, at(s, i));
	return run.first <= variable && variable < run.first + run.count;
}

static bool writes(const struct sequence *s, uint32_t i, uint32_t variable)
{
	return accesses(s, i, variable) && op_writes(at(s, i)->op);
}

/* The place of the write that place `i` reads the variable from; MOST: none. */
static uint32_t source(const struct sequence *s, uint32_t i, uint32_t variable)
{
	for (uint32_t k = i; k-- > 0;) {
		if (writes(s, k, variable))
			return k;
	}
	return MOST;
}

/* Is place `w` in the release sequence that `head` heads (or would head)?  C17, 5.1.2.4. */
static bool in_sequence(const struct sequence *s, uint32_t head, uint32_t w, uint32_t variable)
{
	for (uint32_t k = head + 1; k <= w; k++) {
		if (writes(s, k, variable) && !is(s, k, OP_RMW) &&
		    !(is(s, k, OP_AWRITE) && at(s, k)->thread == at(s, head)->thread))
			return false;
	}
	return true;
}

static bool atomic_write(const struct sequence *s, uint32_t i)
{
	return is(s, i, OP_AWRITE) || is(s, i, OP_RMW);
}

static bool atomic_read(const struct sequence *s, uint32_t i)
{
	return is(s, i, OP_AREAD) || is(s, i, OP_RMW);
}

/* Does the write at x, or the release sequence that it heads, reach the read at y? */
static bool reaches(const struct sequence *s, uint32_t x, uint32_t y)
{
	struct wide run = event_variables(s->t, at(s, x));

	for (uint32_t v = run.first; v < run.first + run.count; v++) {
		uint32_t w = accesses(s, y, v) ? source(s, y, v) : MOST;

		if (w != MOST && w >= x && in_sequence(s, x, w, v))
			return true;
	}
	return false;
}

/* Does place a synchronise with place b?  C17, 7.17.3 and 7.17.4. */
static bool synchronises(const struct sequence *s, uint32_t a, uint32_t b)
{
	bool fence_a = is(s, a, OP_FENCE), fence_b = is(s, b, OP_FENCE);

	if (!order_releases(event_order(at(s, a))) || !order_acquires(event_order(at(s, b))))
		return false;
	for (uint32_t x = a; x < b; x++) {
		if (!atomic_write(s, x) ||
		    (fence_a ? at(s, x)->thread != at(s, a)->thread : x != a))
			continue;
		for (uint32_t y = x + 1; y <= b; y++) {
			if (atomic_read(s, y) &&
			    (fence_b ? at(s, y)->thread == at(s, b)->thread : y == b) &&
			    reaches(s, x, y))
				return true;
		}
	}
	return false;
}

/* A release before an acquire of the same lock that it excludes. */
static bool locks_order(const struct sequence *s, uint32_t i, uint32_t j)
{
	if (!(is(s, j, OP_ACQ) || is(s, j, OP_RACQ)) || at(s, i)->target != at(s, j)->target)
		return false;
	return is(s, i, OP_REL) || (is(s, i, OP_RREL) && is(s, j, OP_ACQ));
}

static bool must_order(const struct sequence *s, uint32_t i, uint32_t j)
{
	return s->must[s->events[j]] >> s->events[i] & 1;
}

/* Does j read from i, and is one of the two plain? That is a race itself, and orders later
 * events. */
static bool observes_plainly(const struct sequence *s, uint32_t i, uint32_t j)
{
	const struct event *x = at(s, j);

	if (event_inert(x) || !op_is_access(x->op) || !op_reads(x->op) ||
	    !(is(s, i, OP_WRITE) || x->op == OP_READ))
		return false;
	struct wide run = event_variables(s->t, x);
	for (uint32_t v = run.first; v < run.first + run.count; v++) {
		if (source(s, j, v) == i)
			return true;
	}
	return false;
}

static bool edge(const struct sequence *s, uint32_t i, uint32_t j)
{
	return at(s, i)->thread == at(s, j)->thread || locks_order(s, i, j) ||
	       must_order(s, i, j) || synchronises(s, i, j);
}

void c11_order_of(const struct trace *t, const uint32_t *must, const uint32_t *sequence,
                  uint32_t length, struct c11_order *order)
{
	struct sequence s = { t, must, sequence };
	static bool direct[MOST][MOST], before[MOST][MOST];

	BUG_ON(length > MOST);
	memset(order, 0, sizeof(*order));
	order->length = length;
	for (uint32_t j = 0; j < length; j++) {
		for (uint32_t i = 0; i < length; i++) {
			direct[i][j] = i < j && edge(&s, i, j);
			before[i][j] = direct[i][j] || (i < j && observes_plainly(&s, i, j));
		}
	}
	for (uint32_t k = 0; k < length; k++) {
		for (uint32_t i = 0; i < k; i++) {
			for (uint32_t j = k + 1; before[i][k] && j < length; j++)
				before[i][j] |= before[k][j];
		}
	}
	for (uint32_t j = 0; j < length; j++) {
		for (uint32_t i = 0; i < j; i++) {
			bool ordered = direct[i][j];

			for (uint32_t k = i + 1; k < j; k++)
				ordered |= before[i][k] && direct[k][j];
			order->apart[i][j] = !ordered;
		}
	}
}
