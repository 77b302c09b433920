/*
 * test_last_lists.c - the lists of last accesses, against plain arrays: many at once, in one
 * array that moves as they grow, with places that are used again.
 */
#include "engine/predict/pairs/last_lists.h"

#include <stdio.h>
#include <string.h>

enum { LISTS = 50, KEYS = 300, STEPS = 200000 };

static uint64_t state = 88172645463325252u;

static uint32_t below(uint32_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)((state >> 32) * n >> 32);
}

static bool same(const struct last_list *list, const uint32_t *wanted)
{
	uint32_t count = 0;

	for (uint32_t key = 0; key < KEYS; key++) {
		if (wanted[key] == 0)
			continue;
		if (count == list->count || list->of[count].key != key ||
		    list->of[count].time != wanted[key])
			return false;
		count++;
	}
	return count == list->count;
}

int main(void)
{
	static uint32_t wanted[LISTS][KEYS], place[LISTS];
	struct last_lists l = { 0 };

	for (uint32_t i = 0; i < LISTS; i++)
		place[i] = lists_new(&l);
	for (uint32_t step = 1; step <= STEPS; step++) {
		uint32_t i = below(LISTS), key = below(1 + below(KEYS));

		if (below(400) == 0) {
			lists_drop(&l, place[i]);
			place[i] = lists_new(&l);
			memset(wanted[i], 0, sizeof(wanted[i]));
		}
		place[i] = lists_put(&l, place[i], key, step);
		wanted[i][key] = step;
		if (place[i] % LIST_ALIGNED != 0 || !same(lists_at(&l, place[i]), wanted[i])) {
			printf("not ok - list %u is wrong after step %u\n", i, step);
			return 1;
		}
	}
	/* a place is used again: all lists together stay near the largest they can be */
	if (l.count > (uint64_t)LISTS * 4 * KEYS * 2) {
		printf("not ok - %lu numbers for %d lists\n", (unsigned long)l.count, LISTS);
		return 1;
	}
	lists_free(&l);
	printf("ok - %d lists are as the arrays\n", LISTS);
	return 0;
}
