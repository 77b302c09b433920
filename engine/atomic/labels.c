/*
 * labels.c - see labels.h.
 */
#include "engine/atomic/labels.h"

#define UNIVERSE (UINT64_C(1) << 62)
#define STRIDE   (UINT64_C(1) << 24) /* between appended items */

void labels_init(struct labels *l)
{
	*l = (struct labels){ .first = NONE, .last = NONE };
}

void labels_release(struct labels *l)
{
	g_free(l->items);
}

static void labels_reserve(struct labels *l, uint32_t item)
{
	if (item < l->size)
		return;
	l->size = MAX(64, 2 * (item + 1));
	l->items = g_renew(struct label_item, l->items, l->size);
}

/* Give `count` items from `first` on even labels in [low, low + room). */
static void labels_spread(struct labels *l, uint32_t first, uint64_t count, uint64_t low,
                          uint64_t room)
{
	uint64_t step = room / count;
	BUG_ON(step == 0);
	for (uint32_t i = first; count-- > 0; i = l->items[i].next, low += step)
		l->items[i].label = low + step / 2;
}

/* Makes room around `place`: of the aligned ranges of 2, 4, 8, ... labels around it, relabels
 * the first whose i-th holds fewer than (2/T)^i items, T = 1.5, and leaves at least 4 free
 * labels between neighbours. */
static void labels_relabel(struct labels *l, uint32_t place)
{
	uint32_t from = place, to = place;
	uint64_t count = 1, room = 1;
	double most = 1;
	do {
		room *= 2;
		most *= 2 / 1.5;
		BUG_ON(room > UNIVERSE);
		uint64_t low = l->items[place].label & ~(room - 1);
		while (l->items[from].previous != NONE &&
		       l->items[l->items[from].previous].label >= low) {
			from = l->items[from].previous;
			count++;
		}
		while (l->items[to].next != NONE &&
		       l->items[l->items[to].next].label < low + room) {
			to = l->items[to].next;
			count++;
		}
	} while ((double)count >= most || room / count < 4);
	labels_spread(l, from, count, l->items[place].label & ~(room - 1), room);
}

static void spread_all(struct labels *l)
{
	uint64_t count = 0;
	for (uint32_t i = l->first; i != NONE; i = l->items[i].next)
		count++;
	/* the upper half stays free for appended items */
	labels_spread(l, l->first, count, 0, MIN(UNIVERSE / 2, count * STRIDE));
}

static void link_between(struct labels *l, uint32_t previous, uint32_t item, uint32_t next)
{
	l->items[item].previous = previous;
	l->items[item].next = next;
	if (previous == NONE)
		l->first = item;
	else
		l->items[previous].next = item;
	if (next == NONE)
		l->last = item;
	else
		l->items[next].previous = item;
}

void labels_append(struct labels *l, uint32_t item)
{
	labels_reserve(l, item);
	if (l->last != NONE && l->items[l->last].label >= UNIVERSE - 2 * STRIDE)
		spread_all(l);
	l->items[item].label =
	        l->last == NONE ? UNIVERSE / 4 : l->items[l->last].label + STRIDE;
	link_between(l, l->last, item, NONE);
}

void labels_insert_after(struct labels *l, uint32_t place, uint32_t item)
{
	uint32_t next = l->items[place].next;
	if (next == NONE) {
		labels_append(l, item);
		return;
	}
	labels_reserve(l, item);
	if (l->items[next].label - l->items[place].label < 2)
		labels_relabel(l, place);
	uint64_t low = l->items[place].label, gap = l->items[next].label - low;
	BUG_ON(gap < 2);
	l->items[item].label = low + gap / 2;
	link_between(l, place, item, next);
}

void labels_insert_before(struct labels *l, uint32_t place, uint32_t item)
{
	uint32_t previous = l->items[place].previous;
	if (previous != NONE) {
		labels_insert_after(l, previous, item);
		return;
	}
	labels_reserve(l, item);
	if (l->items[place].label == 0)
		labels_relabel(l, place);
	l->items[item].label = l->items[place].label / 2;
	link_between(l, NONE, item, place);
}

void labels_remove(struct labels *l, uint32_t item)
{
	uint32_t previous = l->items[item].previous, next = l->items[item].next;
	if (previous == NONE)
		l->first = next;
	else
		l->items[previous].next = next;
	if (next == NONE)
		l->last = previous;
	else
		l->items[next].previous = previous;
}
