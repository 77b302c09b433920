/* world.c - see world.h. */
#include "engine/memory/world.h"

#include "engine/base/hash.h"
#include "engine/base/search.h"

#include <stdlib.h>
#include <string.h>

static uint64_t mix(uint64_t a, uint64_t b)
{
	uint64_t x = (a ^ (b + HASH_FACTOR + (a << 6) + (a >> 2))) * 0xff51afd7ed558ccdull;
	return x ^ x >> 32;
}

guint memory_place_hash(const void *key)
{
	const struct memory_place *p = key;
	return (guint)mix(mix(p->base, p->offset), p->size);
}

gboolean memory_place_equal(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct memory_place)) == 0;
}

static void barrier_free(void *data)
{
	struct memory_barrier *b = data;
	g_hash_table_unref(b->threads);
	g_free(b);
}

void memory_world_init(struct memory_world *w)
{
	struct memory_ancestry root = { NONE, 0 };
	w->threads = g_array_new(FALSE, FALSE, sizeof(struct memory_ancestry));
	w->places = g_array_new(FALSE, FALSE, sizeof(struct memory_place));
	w->addresses = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	w->initials = g_array_new(FALSE, FALSE, sizeof(struct memory_initial));
	w->number = g_hash_table_new_full(memory_place_hash, memory_place_equal, g_free, NULL);
	w->barriers = g_hash_table_new_full(NULL, NULL, NULL, barrier_free);
	g_array_append_val(w->threads, root);
}

void memory_world_release(struct memory_world *w)
{
	g_array_free(w->threads, TRUE);
	g_array_free(w->places, TRUE);
	g_array_free(w->addresses, TRUE);
	g_array_free(w->initials, TRUE);
	g_hash_table_unref(w->number);
	g_hash_table_unref(w->barriers);
}

uint32_t memory_thread_number(struct memory_world *w, uint32_t parent, uint32_t ordinal)
{
	struct memory_ancestry fresh = { parent, ordinal };
	for (guint i = 0; i < w->threads->len; i++) {
		const struct memory_ancestry *a =
		        &g_array_index(w->threads, struct memory_ancestry, i);
		if (a->parent == parent && a->ordinal == ordinal)
			return i;
	}
	g_array_append_val(w->threads, fresh);
	return w->threads->len - 1;
}

uint32_t memory_location_number(struct memory_world *w, const struct memory_place *place,
                                uint64_t address)
{
	gpointer known = g_hash_table_lookup(w->number, place);
	if (known != NULL)
		return GPOINTER_TO_UINT(known) - 1;
	struct memory_initial unknown = { .value = 0, .known = place->size == 0 };
	g_array_append_val(w->places, *place);
	g_array_append_val(w->addresses, address);
	g_array_append_val(w->initials, unknown);
	g_hash_table_insert(w->number, g_memdup2(place, sizeof *place),
	                    GUINT_TO_POINTER(w->places->len));
	return w->places->len - 1;
}

struct memory_barrier *memory_barrier_at(const struct memory_world *w, uint32_t location)
{
	return g_hash_table_lookup(w->barriers, GUINT_TO_POINTER(location + 1));
}

bool memory_barrier_counted(const struct memory_world *w, uint32_t location)
{
	const struct memory_barrier *b = memory_barrier_at(w, location);
	return b == NULL || b->counted;
}

struct block_life {
	uint64_t address, size, id;
	uint32_t from; /* event of its allocation; a stack: of its thread's creation */
};
struct memory_blocks {
	uint64_t *id; /* by block; 0: none */
	struct block_life *lives;
	uint32_t count;
};

static int by_address(const void *a, const void *b)
{
	const struct block_life *x = a, *y = b;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->from < y->from ? -1 : x->from > y->from;
}

struct memory_blocks *memory_blocks_new(const struct trace *t, const uint32_t *thread)
{
	struct memory_blocks *b = g_new0(struct memory_blocks, 1);
	uint32_t *made = g_new0(uint32_t, t->threads_count + 1);
	b->id = g_new0(uint64_t, t->blocks_count + 1);
	b->lives = g_new0(struct block_life, t->blocks_count + 1);
	for (uint64_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		if (x->op == OP_ALLOC && x->target < t->blocks_count)
			b->id[x->target] =
			        mix(mix(1, thread[x->thread]), ++made[x->thread]) | 1;
	}
	for (uint32_t i = 0; i < t->threads_count; i++)
		if (t->threads[i].stack != NONE)
			b->id[t->threads[i].stack] = mix(2, thread[i]) | 1;
	for (uint32_t i = 0; i < t->blocks_count; i++) {
		const struct block *k = &t->blocks[i];
		if (b->id[i] != 0 && k->address != 0)
			b->lives[b->count++] =
			        (struct block_life){ k->address, MAX(k->size, 1), b->id[i],
				                     k->alloc == NONE ? 0 : k->alloc };
	}
	qsort(b->lives, b->count, sizeof *b->lives, by_address);
	g_free(made);
	return b;
}

void memory_blocks_free(struct memory_blocks *b)
{
	if (b == NULL)
		return;
	g_free(b->id);
	g_free(b->lives);
	g_free(b);
}

static const struct block_life *life_at(const struct memory_blocks *b, uint64_t address,
                                        uint32_t event)
{
	enum { BACK = 64 };
	uint32_t low = search_end(i, 0u, b->count, b->lives[i].address <= address);
	for (int i = 0; i < BACK && low > 0; i++, low--) {
		const struct block_life *l = &b->lives[low - 1];
		if (address - l->address < l->size && l->from <= event)
			return l;
	}
	return NULL;
}

uint64_t memory_stable_value(const struct memory_blocks *b, uint64_t value, uint32_t event)
{
	const struct block_life *l = life_at(b, value, event);
	return l == NULL ? value : mix(l->id, value - l->address);
}

bool memory_place_of(const struct trace *t, const struct memory_blocks *blocks, uint32_t event,
                     struct memory_place *place)
{
	const struct event *x = &t->events[event];
	struct wide run = event_variables(t, x);
	const struct variable *first = &t->variables[run.first];
	uint32_t size = 0;
	for (uint32_t i = 0; i < run.count; i++)
		size += t->variables[run.first + i].size;
	memset(place, 0, sizeof *place);
	place->size = size;
	place->offset = first->address;
	if (first->block != NONE && blocks->id[first->block] != 0) {
		place->base = blocks->id[first->block];
		place->offset -= t->blocks[first->block].address;
	}
	return size > 0 && size <= 8;
}

uint32_t memory_object_location(const struct trace *t, struct memory_world *world,
                                const struct memory_blocks *blocks, uint32_t object)
{
	const struct object *o = &t->objects[object];
	struct memory_place place = { .offset = o->address };
	if (o->block != NONE && blocks->id[o->block] != 0) {
		place.base = blocks->id[o->block];
		place.offset -= t->blocks[o->block].address;
	}
	return memory_location_number(world, &place, o->address);
}

uint32_t memory_once_location(struct memory_world *world, const struct memory_blocks *blocks,
                              uint64_t address, uint32_t event)
{
	const struct block_life *l = life_at(blocks, address, event);
	struct memory_place place = { .base = l ? l->id : 0,
		                      .offset = l ? address - l->address : address };
	return memory_location_number(world, &place, address);
}
