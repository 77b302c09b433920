/* running_points.c - see running_points.h. */
#include "engine/base/hash.h"
#include "engine/base/scattered.h"
#include "engine/record/import/running_points.h"

enum { PLACE_FLAGS = LOG_ORDER_MASK | LOG_VOLATILE, RECENT = 1024, FIRST_CALLS = 1024 };

struct recent_place {
	uint64_t key;
	uint32_t place; /* + 1 */
};

struct running_points {
	GArray *calls;     /* struct call */
	uint32_t *call_of; /* hash table of calls, open addressing: index, or 0; owned */
	uint32_t calls_mask;
	GArray *places;       /* struct access_place */
	GHashTable *place_of; /* hash of the key -> index + 1 */
	struct recent_place recent[RECENT];
};

static uint64_t key_of(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t hash = hash_word(a + 1);
	hash = hash_join(hash ^ hash >> 29, b);
	return hash_join(hash ^ hash >> 29, c);
}

/* The call's slot, or the free one that it gets: among the NEAR ones at its parent's, as calls
 * that are made together have neighbouring numbers, and so a program that enters new functions
 * again and again stays in the cache. Where these are taken it is anywhere. */
static uint32_t *call_slot(const struct running_points *p, const struct call *c)
{
	enum { NEAR = 16 };
	uint64_t key = key_of(c->parent, c->function, c->pc);
	uint32_t from = 2 * c->parent + hash_top(key) % (NEAR / 2);
	for (uint32_t i = 0;; i++) {
		if (i == NEAR)
			from = hash_top(hash_word(key));
		uint32_t *slot = &p->call_of[(from + i) & p->calls_mask];
		const struct call *x = running_points_call_at(p, *slot);
		if (*slot == 0 ||
		    (x->parent == c->parent && x->function == c->function && x->pc == c->pc))
			return slot;
	}
}

static void more_calls(struct running_points *p)
{
	p->calls_mask = 2 * p->calls_mask + 1;
	g_free(p->call_of);
	p->call_of = scattered_new0(uint32_t, (size_t)p->calls_mask + 1);
	for (guint i = 1; i < p->calls->len; i++)
		*call_slot(p, running_points_call_at(p, i)) = i;
}

uint32_t running_points_call(struct running_points *p, const struct call *call)
{
	uint32_t *slot = call_slot(p, call), made = p->calls->len;
	if (*slot)
		return *slot;
	*slot = made;
	g_array_append_vals(p->calls, call, 1);
	if (2 * p->calls->len > p->calls_mask)
		more_calls(p);
	return made;
}

const struct call *running_points_call_at(const struct running_points *p, uint32_t call)
{
	return &g_array_index(p->calls, struct call, call);
}

uint32_t running_points_place(struct running_points *p, const struct log_record *record)
{
	unsigned flags = record->flags & PLACE_FLAGS;
	uint64_t key = key_of(record->tag, flags, record->pc);
	struct recent_place *recent = &p->recent[hash_top(key) % RECENT];
	if (G_LIKELY(recent->place && recent->key == key))
		return recent->place - 1;
	struct access_place place = { record->tag, flags, record->pc };
	gpointer found = g_hash_table_lookup(p->place_of, GSIZE_TO_POINTER(key));
	if (found == NULL) {
		g_array_append_val(p->places, place);
		found = GUINT_TO_POINTER(p->places->len);
		g_hash_table_insert(p->place_of, GSIZE_TO_POINTER(key), found);
	}
	*recent = (struct recent_place){ key, GPOINTER_TO_UINT(found) };
	return recent->place - 1;
}

const struct access_place *running_points_place_at(const struct running_points *p,
                                                   uint32_t place)
{
	return &g_array_index(p->places, struct access_place, place);
}

struct running_points *running_points_new(void)
{
	const struct call none = { 0 };
	struct running_points *p = g_new0(struct running_points, 1);
	p->calls = g_array_new(FALSE, FALSE, sizeof(struct call));
	g_array_append_val(p->calls, none);
	p->calls_mask = FIRST_CALLS - 1;
	p->call_of = g_new0(uint32_t, FIRST_CALLS);
	p->places = g_array_new(FALSE, FALSE, sizeof(struct access_place));
	p->place_of = g_hash_table_new(hash_pointer, NULL);
	return p;
}

void running_points_free(struct running_points *p)
{
	g_array_free(p->calls, TRUE);
	g_free(p->call_of);
	g_array_free(p->places, TRUE);
	g_hash_table_destroy(p->place_of);
	g_free(p);
}
