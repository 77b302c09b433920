/*
 * rebase.c - see rebase.h.  New addresses are assigned in ascending order and never reused,
 * with a page between two ranges, so that the end of one is not the beginning of the next.
 */
#include <glib.h>

#include "engine/record/import/rebase.h"

#define FIRST 0x100000000000u /* above all fixed addresses of programs */
/* Extent of a neighbourhood on both sides of its first address: mappings of the C library and
 * the loader lie together, at the same distances in every run. */
#define NEAR  (64u << 20)

struct neighbourhood {
	uint64_t low, high, shift;
};

struct rebase {
	uint64_t next;
	GArray *neighbourhoods; /* struct neighbourhood: few */
};

struct rebase *rebase_new(void)
{
	struct rebase *r = g_new0(struct rebase, 1);
	r->next = FIRST;
	r->neighbourhoods = g_array_new(FALSE, FALSE, sizeof(struct neighbourhood));
	return r;
}

void rebase_free(struct rebase *r)
{
	if (!r)
		return;
	g_array_free(r->neighbourhoods, TRUE);
	g_free(r);
}

uint64_t rebase_range(struct rebase *r, uint64_t low, uint64_t size, uint64_t unit)
{
	uint64_t place = r->next + low % unit;
	r->next = (place + size + 2 * REBASE_PAGE - 1) / REBASE_PAGE * REBASE_PAGE;
	return place - low;
}

uint64_t rebase_elsewhere(struct rebase *r, uint64_t address)
{
	uint64_t page = address / REBASE_PAGE * REBASE_PAGE;
	struct neighbourhood n = { page > NEAR ? page - NEAR : 0, page + NEAR, 0 };
	for (guint i = 0; i < r->neighbourhoods->len; i++) {
		const struct neighbourhood *other =
		        &g_array_index(r->neighbourhoods, struct neighbourhood, i);
		if (address >= other->low && address < other->high)
			return other->shift;
		if (other->high <= page)
			n.low = MAX(n.low, other->high);
		else
			n.high = MIN(n.high, other->low);
	}
	/* assume the greatest possible room below: the new address must not depend on a
	 * neighbour's random distance */
	n.shift = rebase_range(r, page - NEAR, 2 * NEAR, REBASE_PAGE);
	g_array_append_val(r->neighbourhoods, n);
	return n.shift;
}

uint64_t rebase_original(const struct rebase *r, uint64_t address)
{
	for (guint i = 0; i < r->neighbourhoods->len; i++) {
		const struct neighbourhood *n =
		        &g_array_index(r->neighbourhoods, struct neighbourhood, i);
		if (address - n->shift >= n->low && address - n->shift < n->high)
			return address - n->shift;
	}
	return address;
}

bool rebase_likely(uint64_t value)
{
	return (value >= 0x550000000000u && value < 0x570000000000u) ||
	       (value >= 0x7e0000000000u && value < 0x800000000000u);
}
