/*
 * pointers.c - one pass over the writes, with the set of live blocks.
 */
#include "engine/atomic/pointers.h"

struct pointers {
	const struct trace *t;
	GTree *alive;       /* address -> block, of known addresses */
	GHashTable *tokens; /* string -> last block of that name + 1 */
	void (*note)(void *context, uint32_t variable, uint32_t block);
	void *context;
};

static int compare_addresses(gconstpointer a, gconstpointer b, gpointer unused)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

static void begin_life(struct pointers *p, uint32_t block)
{
	const struct block *b = &p->t->blocks[block];
	if (b->address != 0)
		g_tree_insert(p->alive, (gpointer)&b->address, (gpointer)b);
	g_hash_table_insert(p->tokens, GUINT_TO_POINTER(b->name), GUINT_TO_POINTER(block + 1));
}

static void end_life(struct pointers *p, uint32_t block)
{
	const struct block *b = &p->t->blocks[block];
	if (g_tree_lookup(p->alive, &b->address) == b)
		g_tree_remove(p->alive, &b->address);
}

static uint32_t block_at(struct pointers *p, uint64_t address)
{
	GTreeNode *node = g_tree_upper_bound(p->alive, &address);
	node = node ? g_tree_node_previous(node) : g_tree_node_last(p->alive);
	const struct block *b = node ? g_tree_node_value(node) : NULL;
	return b && address < b->address + b->size ? (uint32_t)(b - p->t->blocks) : NONE;
}

/* The block that a value points to, or NONE. */
static uint32_t pointed(struct pointers *p, uint32_t value)
{
	struct value v = trace_value(p->t, value);
	if (v.kind == V_PAIR) /* an exchange writes the second */
		v = trace_value(p->t, v.second);
	if (v.kind == V_INT && v.integer != 0)
		return block_at(p, (uint64_t)v.integer);
	if (v.kind == V_TOKEN)
		return GPOINTER_TO_UINT(
		               g_hash_table_lookup(p->tokens, GUINT_TO_POINTER(v.string))) -
		       1;
	return NONE;
}

void atomic_pointers(const struct trace *t,
                     void (*note)(void *context, uint32_t variable, uint32_t block),
                     void *context)
{
	struct pointers p = { .t = t, .note = note, .context = context };
	p.alive = g_tree_new_with_data(compare_addresses, NULL);
	p.tokens = g_hash_table_new(NULL, NULL);
	for (uint64_t i = 0; i < t->events_count; i++) {
		const struct event *e = &t->events[i];
		if (event_inert(e))
			continue;
		if (e->op == OP_ALLOC)
			begin_life(&p, e->target);
		else if (e->op == OP_FREE)
			end_life(&p, e->target);
		else if (op_is_access(e->op) && op_writes(e->op) && e->aux != 0) {
			uint32_t block = pointed(&p, e->aux);
			if (block != NONE)
				note(context, event_variables(t, e).first, block);
		}
	}
	g_tree_destroy(p.alive);
	g_hash_table_unref(p.tokens);
}
