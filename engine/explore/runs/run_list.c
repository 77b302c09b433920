/* run_list.c - see run_list.h. */
#include "engine/explore/runs/run_list.h"

#include "engine/base/search.h"

#include <string.h>

enum { EVERY = 64, MOST_BYTES = 5 /* of a number */ };

/* A mark of the run with the number EVERY * (i + 1) in the list. */
struct run_mark {
	uint32_t run, next; /* and the byte after it */
};

struct run_bytes {
	struct run_mark *marks; /* owned */
	uint32_t last;          /* the last run */
	uint32_t used, room;    /* of the bytes */
	uint8_t bytes[];
};

void run_list_clear(struct run_list *list)
{
	if (list->more != NULL)
		g_free(list->more->marks);
	g_free(list->more);
	memset(list, 0, sizeof *list);
}

uint32_t run_list_last(const struct run_list *list)
{
	return list->more ? list->more->last : list->first;
}

/* Make room for another number. */
static void grow(struct run_list *list)
{
	struct run_bytes *m = list->more;
	if (m != NULL && m->room - m->used >= MOST_BYTES)
		return;
	uint32_t room = m ? m->room + m->room / 4 + MOST_BYTES : MOST_BYTES;
	list->more = g_realloc(m, sizeof *m + room);
	if (m == NULL)
		*list->more = (struct run_bytes){ .last = list->first };
	list->more->room = room;
}

/* The marks are reallocated when their number is a power of two. */
static void mark(struct run_bytes *m, uint32_t i)
{
	if ((i & (i - 1)) == 0)
		m->marks = g_renew(struct run_mark, m->marks, i == 0 ? 1 : 2 * i);
	m->marks[i] = (struct run_mark){ m->last, m->used };
}

void run_list_add(struct run_list *list, uint32_t run)
{
	if (list->count++ == 0) {
		list->first = run;
		return;
	}
	grow(list);
	struct run_bytes *m = list->more;
	uint32_t number = run - m->last, at = list->count - 1;
	for (; number > 0x7f; number >>= 7)
		m->bytes[m->used++] = (uint8_t)(number | 0x80);
	m->bytes[m->used++] = (uint8_t)number;
	m->last = run;
	if (at % EVERY == 0)
		mark(m, at / EVERY - 1);
}

static void read_run(struct run_at *at)
{
	unsigned shift = 0;
	uint8_t byte;
	do {
		byte = at->list->more->bytes[at->next++];
		at->run += (uint32_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
}

void run_at_next(struct run_at *at)
{
	if (--at->left > 0)
		read_run(at);
}

struct run_at run_list_from(const struct run_list *list, uint32_t from)
{
	struct run_at at = { .list = list, .run = list->first, .left = list->count };
	const struct run_mark *marks = list->more ? list->more->marks : NULL;
	uint32_t count = list->count > 0 ? (list->count - 1) / EVERY : 0;
	uint32_t after = search_end(i, 0u, count, marks[i].run <= from);
	if (after > 0) {
		at.run = marks[after - 1].run;
		at.next = marks[after - 1].next;
		at.left = list->count - EVERY * after;
	}
	while (at.left > 0 && at.run < from)
		run_at_next(&at);
	return at;
}

bool run_list_has(const struct run_list *list, uint32_t run)
{
	struct run_at at = run_list_from(list, run);
	return at.left > 0 && at.run == run;
}
