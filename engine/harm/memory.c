/* memory.c - see memory.h. */
#include "engine/base/search.h"
#include "engine/trace/own_code.h"
#include "engine/harm/memory.h"

#include "engine/explore/runs/final.h"
#include "engine/order/past.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Larger integers are taken for addresses, which differ between runs. */
static const int64_t LARGEST = (int64_t)1 << 40;

static void value_free(void *data)
{
	struct memory_value *x = data;

	g_free(x->place);
	g_free(x);
}

void memory_release(struct memory *m)
{
	if (m->globals)
		g_hash_table_destroy(m->globals);
	if (m->heap)
		g_hash_table_destroy(m->heap);
	memset(m, 0, sizeof(*m));
}

/* -- blocks -------------------------------------------------------------------------------- */

struct part { /* of a block: a variable */
	uint32_t block, variable;
};
struct search {
	const struct trace *t;
	struct memory *m;
	GArray *blocks;   /* uint32_t: blocks that live at the end, by address */
	GArray *parts;    /* struct part, by block and address */
	GHashTable *seen; /* set of blocks */
	GQueue *queue;    /* struct way * */
};
struct way {
	uint32_t block;
	char *name; /* owned: name of the pointer to it */
};

static int by_address(const void *a, const void *b, void *t)
{
	const struct block *blocks = ((const struct trace *)t)->blocks;
	uint64_t x = blocks[*(const uint32_t *)a].address,
	         y = blocks[*(const uint32_t *)b].address;

	return x < y ? -1 : x > y;
}

static int by_place(const void *a, const void *b, void *t)
{
	const struct part *x = a, *y = b;
	const struct variable *v = ((const struct trace *)t)->variables;

	if (x->block != y->block)
		return x->block < y->block ? -1 : 1;
	return v[x->variable].address < v[y->variable].address
	               ? -1
	               : v[x->variable].address > v[y->variable].address;
}

static void sort(GArray *list, size_t size, int (*order)(const void *, const void *, void *),
                 const struct trace *t)
{
	if (list->len > 1)
		qsort_r(list->data, list->len, size, order, (void *)(uintptr_t)t);
}

static void find_blocks(struct search *s)
{
	for (uint32_t b = 0; b < s->t->blocks_count; b++)
		if (s->t->blocks[b].alloc != NONE && s->t->blocks[b].free == NONE &&
		    s->t->blocks[b].address != 0)
			g_array_append_val(s->blocks, b);
	for (uint32_t v = 0; v < s->t->variables_count; v++) {
		struct part p = { s->t->variables[v].block, v };

		if (p.block != NONE && s->t->blocks[p.block].free == NONE)
			g_array_append_val(s->parts, p);
	}
	sort(s->blocks, sizeof(uint32_t), by_address, s->t);
	sort(s->parts, sizeof(struct part), by_place, s->t);
}

/* The block that has the address, or NONE. */
static uint32_t block_at(const struct search *s, uint64_t address)
{
	guint low = search_end(i, 0u, s->blocks->len,
	                       s->t->blocks[g_array_index(s->blocks, uint32_t, i)].address <=
	                               address);

	if (low == 0)
		return NONE;
	uint32_t found = g_array_index(s->blocks, uint32_t, low - 1);
	const struct block *b = &s->t->blocks[found];
	return address - b->address < MAX(b->size, 1) ? found : NONE;
}

/* -- values -------------------------------------------------------------------------------- */

/* The variable's last written value; false when runs cannot be compared by it. *block: the
 * block that it points to, or NONE. */
static bool last_value(const struct search *s, uint32_t v, struct memory_value *x,
                       uint32_t *block)
{
	const struct trace *t = s->t;
	uint32_t e = final_write(t, v), written = e == NONE ? 0 : past_value_written(t, e);
	const struct value value = trace_value(t, written);

	*block = NONE;
	if (written == 0 || value.kind != V_INT)
		return false;
	x->value = value.integer;
	if (t->variables[v].size == 8)
		*block = block_at(s, (uint64_t)value.integer);
	else if (t->variables[v].size == 4)
		x->value = (int32_t)value.integer;
	else if (t->variables[v].size == 2)
		x->value = (int16_t)value.integer;
	x->pointer = *block != NONE;
	if (x->pointer)
		x->value = 1;
	else if (x->value >= LARGEST || x->value <= -LARGEST)
		return false;
	x->place = g_strdup(own_code_place_name(t, e));
	return true;
}

/* Ownership of `name` is taken. */
static void take(struct search *s, GHashTable *into, char *name, uint32_t v)
{
	struct memory_value x = { 0 };
	uint32_t block;

	if (!last_value(s, v, &x, &block)) {
		g_free(name);
		return;
	}
	if (block != NONE && g_hash_table_add(s->seen, GUINT_TO_POINTER(block + 1))) {
		struct way way = { block, g_strdup(name) };

		g_queue_push_tail(s->queue, g_memdup2(&way, sizeof way));
	}
	g_hash_table_replace(into, name, g_memdup2(&x, sizeof x));
}

static void take_globals(struct search *s)
{
	for (uint32_t v = 0; v < s->t->variables_count; v++) {
		const char *name = trace_variable_name(s->t, v);

		if (s->t->variables[v].block == NONE && s->t->variables[v].size <= 8 &&
		    (g_ascii_isalpha(*name) || *name == '_'))
			take(s, s->m->globals, g_strdup(name), v);
	}
}

/* -- ways through the heap ----------------------------------------------------------------- */

/* "list->next" for the way "list" and the variable "node->next" of the block "*node". */
static char *part_name(const struct search *s, const struct way *way, uint32_t v)
{
	const struct block *b = &s->t->blocks[way->block];
	const char *block = trace_string(s->t, b->name), *name = trace_variable_name(s->t, v);
	size_t length;

	if (strcmp(block, name) == 0)
		return g_strdup_printf("*%s", way->name);
	block += *block == '*';
	length = strlen(block);
	if (strncmp(name, block, length) == 0 && (name[length] == '-' || name[length] == '['))
		return g_strdup_printf("%s%s", way->name, name + length);
	return g_strdup_printf("%s+%" PRIu64, way->name,
	                       s->t->variables[v].address - b->address);
}

static guint first_part(const struct search *s, uint32_t block)
{
	return search_end(i, 0u, s->parts->len,
	                  g_array_index(s->parts, struct part, i).block < block);
}

static void take_block(struct search *s, const struct way *way)
{
	for (guint i = first_part(s, way->block); i < s->parts->len; i++) {
		const struct part *p = &g_array_index(s->parts, struct part, i);

		if (p->block != way->block)
			break;
		if (g_hash_table_size(s->m->heap) >= MEMORY_MOST) {
			s->m->cut = true;
			break;
		}
		take(s, s->m->heap, part_name(s, way, p->variable), p->variable);
	}
}

void memory_take(struct memory *m, struct trace *t)
{
	struct search s = { .t = t,
		            .m = m,
		            .blocks = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		            .parts = g_array_new(FALSE, FALSE, sizeof(struct part)),
		            .seen = g_hash_table_new(NULL, NULL),
		            .queue = g_queue_new() };
	struct way *way;

	m->globals = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, value_free);
	m->heap = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, value_free);
	if (trace_need(t, INDEX_VARIABLES, NULL)) {
		find_blocks(&s);
		take_globals(&s);
	}
	while ((way = g_queue_pop_head(s.queue)) != NULL) {
		take_block(&s, way);
		g_free(way->name);
		g_free(way);
	}
	g_array_unref(s.blocks);
	g_array_unref(s.parts);
	g_hash_table_destroy(s.seen);
	g_queue_free(s.queue);
}

/* -- comparison ---------------------------------------------------------------------------- */

const char *memory_difference(GHashTable *a, GHashTable *b)
{
	const struct memory_value *x, *y;
	const char *found = NULL, *name;
	GHashTableIter iter;

	g_hash_table_iter_init(&iter, a);
	while (g_hash_table_iter_next(&iter, (gpointer *)&name, (gpointer *)&x)) {
		y = g_hash_table_lookup(b, name);
		if (y == NULL || x->value == y->value)
			continue;
		/* a pointer is not compared with a plain integer */
		if (x->pointer != y->pointer && x->value != 0 && y->value != 0)
			continue;
		if (found == NULL || strcmp(name, found) < 0)
			found = name;
	}
	return found;
}

char *memory_words(GHashTable *a, GHashTable *b, const char *name)
{
	const struct memory_value *x = g_hash_table_lookup(a, name),
	                          *y = g_hash_table_lookup(b, name);

	if (x->pointer || y->pointer)
		return g_strdup_printf(x->pointer ? "%s is a pointer, not NULL"
		                                  : "%s is NULL, not a pointer",
		                       name);
	return g_strdup_printf("%s is %" PRId64 ", not %" PRId64, name, x->value, y->value);
}
