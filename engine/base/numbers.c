/*
 * numbers.c - see numbers.h: a hash table of places in an array, with open addressing.
 */
#include "engine/base/numbers.h"

#include "engine/base/hash.h"

struct numbers {
	GArray *all;      /* uint64_t */
	uint32_t *places; /* place in `all` + 1; 0: free; owned */
	unsigned bits;    /* of the number of places */
};

enum { LEAST_BITS = 6 };

static void begin(struct numbers *n)
{
	n->all = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	n->bits = LEAST_BITS;
	n->places = g_new0(uint32_t, 1u << n->bits);
}

static void end(struct numbers *n)
{
	g_array_unref(n->all);
	g_free(n->places);
}

struct numbers *numbers_new(void)
{
	struct numbers *n = g_new(struct numbers, 1);
	begin(n);
	return n;
}

void numbers_free(struct numbers *n)
{
	if (n == NULL)
		return;
	end(n);
	g_free(n);
}

void numbers_clear(struct numbers *n)
{
	end(n);
	begin(n);
}

/* The place of the number, or the free one where it belongs. */
static uint32_t *place_of(const struct numbers *n, uint64_t number)
{
	uint32_t at = (uint32_t)(hash_word(number) >> (64 - n->bits));
	while (n->places[at] != 0 &&
	       g_array_index(n->all, uint64_t, n->places[at] - 1) != number)
		at = (at + 1) & ((1u << n->bits) - 1);
	return &n->places[at];
}

/* At most half of the places are taken. */
static void grow(struct numbers *n)
{
	if (n->all->len < 1u << (n->bits - 1))
		return;
	g_free(n->places);
	n->bits++;
	n->places = g_new0(uint32_t, 1u << n->bits);
	for (uint32_t i = 0; i < n->all->len; i++)
		*place_of(n, g_array_index(n->all, uint64_t, i)) = i + 1;
}

bool numbers_add(struct numbers *n, uint64_t number)
{
	uint32_t *place = place_of(n, number);
	if (*place != 0)
		return false;
	g_array_append_val(n->all, number);
	*place = n->all->len;
	grow(n);
	return true;
}

bool numbers_have(const struct numbers *n, uint64_t number)
{
	return *place_of(n, number) != 0;
}

uint32_t numbers_place(const struct numbers *n, uint64_t number)
{
	return *place_of(n, number) - 1;
}

uint64_t numbers_at(const struct numbers *n, uint32_t place)
{
	return g_array_index(n->all, uint64_t, place);
}

uint32_t numbers_count(const struct numbers *n)
{
	return n->all->len;
}

void numbers_adopt(struct numbers *n, const struct numbers *other)
{
	for (uint32_t i = 0; i < other->all->len; i++)
		numbers_add(n, g_array_index(other->all, uint64_t, i));
}

void numbers_archive(struct numbers *n, uint32_t from, struct archive *a)
{
	size_t count =
	        archive_count(a, archive_reads(a) ? 0 : n->all->len - from, sizeof(uint64_t));
	for (size_t i = 0; i < count; i++) {
		uint64_t number =
		        archive_reads(a) ? 0 : g_array_index(n->all, uint64_t, from + i);
		archive_raw(a, &number, sizeof number);
		if (archive_reads(a))
			numbers_add(n, number);
	}
}

bool numbers_meet(const struct numbers *a, const struct numbers *b)
{
	uint32_t i = 0;
	while (i < numbers_count(a) && !numbers_have(b, numbers_at(a, i)))
		i++;
	return i < numbers_count(a);
}
