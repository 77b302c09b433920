/*
 * last_lists.c - see last_lists.h.
 */
#include "engine/predict/pairs/last_lists.h"

#include "engine/base/scattered.h"
#include "engine/base/search.h"

#include <string.h>

enum { HEAD = sizeof(struct last_list) / sizeof(uint32_t) };

static uint32_t entries_of(const struct last_list *list)
{
	return (list_numbers(list) - HEAD) / 2;
}

static void make_room(struct last_lists *l, uint64_t wanted)
{
	uint64_t capacity = MAX(MAX(1024, 2 * l->capacity), l->count + wanted);
	uint32_t *old = l->numbers;

	BUG_ON(l->count + wanted >= LIST_PLACES);
	l->numbers = scattered_lines(capacity * sizeof(uint32_t));
	if (old != NULL)
		memcpy(l->numbers, old, l->count * sizeof(uint32_t));
	g_free(old);
	l->capacity = capacity;
}

static uint32_t new_of_size(struct last_lists *l, uint32_t size)
{
	uint32_t numbers = (uint32_t)LIST_ALIGNED << size, place;
	GArray *unused = l->unused[size];

	if (unused != NULL && unused->len > 0) {
		place = g_array_index(unused, uint32_t, unused->len - 1);
		g_array_set_size(unused, unused->len - 1);
	} else {
		if (l->count + numbers > l->capacity)
			make_room(l, numbers);
		place = (uint32_t)l->count;
		l->count += numbers;
	}
	*lists_at(l, place) = (struct last_list){ .size = (uint16_t)size };
	return place;
}

uint32_t lists_new(struct last_lists *l)
{
	return new_of_size(l, 0);
}

void lists_drop(struct last_lists *l, uint32_t place)
{
	GArray **unused = &l->unused[lists_at(l, place)->size];

	if (*unused == NULL)
		*unused = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_array_append_val(*unused, place);
}

void lists_free(struct last_lists *l)
{
	g_free(l->numbers);
	for (uint32_t i = 0; i < LIST_SIZES; i++) {
		if (l->unused[i] != NULL)
			g_array_free(l->unused[i], TRUE);
	}
}

/* The first entry with at least this key. */
static uint32_t find(const struct last_list *list, uint32_t key)
{
	return search_end(i, 0, list->count, list->of[i].key < key);
}

static uint32_t enlarge(struct last_lists *l, uint32_t place)
{
	uint32_t larger = new_of_size(l, lists_at(l, place)->size + 1u);
	struct last_list *to = lists_at(l, larger), *from = lists_at(l, place);

	to->count = from->count;
	to->uses = from->uses;
	memcpy(to->of, from->of, from->count * sizeof(struct last_entry));
	lists_drop(l, place);
	return larger;
}

uint32_t lists_put(struct last_lists *l, uint32_t place, uint32_t key, uint32_t time)
{
	struct last_list *list = lists_at(l, place);
	uint32_t i = find(list, key);

	list->uses += list->uses < UINT16_MAX;
	if (i < list->count && list->of[i].key == key) {
		list->of[i].time = time;
		return place;
	}
	if (list->count == entries_of(list)) {
		place = enlarge(l, place);
		list = lists_at(l, place);
	}
	memmove(&list->of[i + 1], &list->of[i], (list->count - i) * sizeof(struct last_entry));
	list->of[i] = (struct last_entry){ key, time };
	list->count++;
	return place;
}
