/*
 * name_lives.c - which block (or stack) held an address when an event came.  One address has
 * several lives where a block is freed and its memory allocated again.
 */
#include "engine/record/names/name_private.h"
#include "engine/base/search.h"

static int by_block_address(gconstpointer a, gconstpointer b, gpointer trace)
{
	const struct block *blocks = ((const struct trace *)trace)->blocks;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	if (blocks[x].address != blocks[y].address)
		return blocks[x].address < blocks[y].address ? -1 : 1;
	return x < y ? -1 : x > y;
}

static bool begun(const struct block *b, uint32_t event)
{
	return b->alloc == NONE || b->alloc <= event;
}

/* The first life in [low, high), which holds the lives of one address by their beginning,
 * that had not begun at the event. */
static size_t first_later(const struct names *n, size_t low, size_t high, uint32_t event)
{
	return search_end(i, low, high, begun(&n->trace->blocks[n->by_address[i]], event));
}

/* The first of all blocks at an address or behind it. */
static size_t first_from(const struct names *n, uint64_t address)
{
	return search_end(i, 0, n->trace->blocks_count,
	                  n->trace->blocks[n->by_address[i]].address < address);
}

static bool is_later(const struct trace *t, uint32_t block, uint32_t than)
{
	return than == NONE || t->blocks[block].alloc + 1 > t->blocks[than].alloc + 1;
}

uint32_t names_block_at(const struct names *n, uint64_t address, uint32_t event)
{
	enum {
		MOST = 4096
	}; /* blocks of other lives that begin before the address, within the block */
	const struct trace *t = n->trace;
	uint32_t last = NONE; /* allocated last, of the freed ones */
	size_t at = address == UINT64_MAX ? t->blocks_count : first_from(n, address + 1);
	for (int hops = 0; at > 0 && hops < MOST; hops++) {
		uint32_t block = n->by_address[at - 1];
		const struct block *b = &t->blocks[block];
		if (b->address == 0 || address - b->address >= MAX(b->size, 1)) {
			at--;
		} else if (!begun(b, event)) {
			at = first_later(n, first_from(n, b->address), at, event);
		} else if (b->free == NONE || b->free > event) {
			return block;
		} else {
			last = is_later(t, block, last) ? block : last;
			at = first_from(n, b->address);
		}
	}
	return last;
}

void names_begin_lives(struct names *n)
{
	const struct trace *t = n->trace;
	n->by_address = g_new(uint32_t, t->blocks_count + 1);
	for (uint32_t i = 0; i < t->blocks_count; i++)
		n->by_address[i] = i;
	g_qsort_with_data(n->by_address, (gint)t->blocks_count, sizeof(uint32_t),
	                  by_block_address, (gpointer)t);
}
