/*
 * history_lives.c - memory by numbers that are equal in all runs: blocks, and pointers into
 * them.
 */
#include "engine/explore/runs/history_private.h"

#include "engine/base/search.h"
#include "engine/explore/runs/final.h"
#include "engine/record/layout.h"
#include "engine/trace/roles.h"

#include <stdlib.h>
#include <string.h>

/* A memory block, or a stack, from its allocation. */
struct life {
	uint64_t address, size;
	uint32_t alloc; /* event; for a stack its thread's creation; 0: initially */
	uint64_t id;    /* equal in all runs */
	uint64_t own;   /* the same, for its thread alone: without the thread's identity */
	uint32_t owner; /* the thread that allocated it, or whose stack it is */
};

static int by_address(const void *a, const void *b)
{
	const struct life *x = a, *y = b;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->alloc < y->alloc ? -1 : x->alloc > y->alloc;
}

/* Of a thread's block: its n-th allocation; 0: its stack. */
static struct life life_of(const struct history *h, uint32_t thread, uint32_t n)
{
	return (struct life){ .id = history_mix(h->threads[thread].who, n),
		              .own = history_mix(WHO_SELF, n),
		              .owner = thread };
}

/* Is the start routine std::thread's, of libstdc++? What its constructor gives a thread is the
 * thread's own from then on. */
static bool is_std_thread(const struct trace *t, uint64_t start)
{
	uint32_t module = NONE; /* that of the address */
	for (uint32_t m = 0; m < t->modules_count; m++)
		if (t->modules[m].base <= start &&
		    (module == NONE || t->modules[m].base > t->modules[module].base))
			module = m;
	return module != NONE &&
	       strstr(trace_string(t, t->modules[module].path), "libstdc++") != NULL;
}

/* With --symmetry: blocks that std::thread gives to threads are theirs. */
static void give_arguments(const struct history *h, struct life *made)
{
	const struct trace *t = h->view->recorded;
	for (uint32_t u = 0; h->apart != NULL && u < h->threads_count; u++) {
		uint32_t fork = t->threads[u].fork;
		uint64_t start[2];
		if (fork == NONE || !role_note(t, LOG_START_NOTE, u, start) ||
		    !is_std_thread(t, start[0]))
			continue;
		for (uint32_t b = 0; b < t->blocks_count; b++) {
			const struct block *k = &t->blocks[b];
			if (k->address != start[1] || k->alloc == NONE || k->alloc > fork ||
			    (k->free != NONE && k->free < fork))
				continue;
			made[b].owner = u;
			made[b].own = history_mix(WHO_SELF, UINT64_MAX);
		}
	}
}

/* The event from which on pointers into a thread's stack are the thread's: its creation, or the
 * write of its pthread_t, which comes just before. */
static uint32_t birth_of(const struct trace *t, uint32_t thread)
{
	const struct thread *info = &t->threads[thread];
	const struct block *stack = &t->blocks[info->stack];
	if (info->fork == NONE)
		return 0;
	uint32_t before = trace_previous(t, info->fork);
	if (before == NONE || !op_is_access(t->events[before].op) ||
	    !op_writes(t->events[before].op))
		return info->fork;
	struct access_value v = access_value(t, before, true);
	return v.known && v.integer - stack->address < stack->size ? before : info->fork;
}

void history_find_lives(struct history *h)
{
	const struct trace *t = h->view->recorded;
	uint32_t *allocations = g_new0(uint32_t, t->threads_count + 1);
	struct life *made = g_new0(struct life, t->blocks_count + 1);
	/* a stack is reused after its thread was joined: it belongs to the latest thread */
	uint32_t *born = g_new0(uint32_t, t->blocks_count + 1);
	for (uint64_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		if (x->op == OP_ALLOC && x->target < t->blocks_count)
			made[x->target] = life_of(h, x->thread, ++allocations[x->thread]);
	}
	for (uint32_t i = 0; i < t->threads_count; i++)
		if (t->threads[i].stack != NONE) {
			made[t->threads[i].stack] = life_of(h, i, 0);
			born[t->threads[i].stack] = birth_of(t, i);
		}
	give_arguments(h, made);
	h->lives = g_new(struct life, t->blocks_count + 1);
	for (uint32_t b = 0; b < t->blocks_count; b++)
		if (t->blocks[b].address != 0 && made[b].id != 0)
			h->lives[h->lives_count++] = (struct life){
				.address = t->blocks[b].address,
				.size = MAX(t->blocks[b].size, 1),
				.alloc = t->blocks[b].alloc == NONE ? born[b]
				                                    : t->blocks[b].alloc,
				.id = made[b].id,
				.own = made[b].own,
				.owner = made[b].owner,
			};
	qsort(h->lives, h->lives_count, sizeof *h->lives, by_address);
	g_free(allocations);
	g_free(made);
	g_free(born);
}

/* The block at `address` at `event`, or NULL. */
static const struct life *life_at(const struct history *h, uint64_t address, uint32_t event)
{
	enum { BACK = 64 };
	size_t low = search_end(i, 0, h->lives_count, h->lives[i].address <= address);
	for (int i = 0; i < BACK && low > 0; i++, low--) {
		const struct life *l = &h->lives[low - 1];
		if (address - l->address < l->size && l->alloc <= event)
			return l;
	}
	return NULL;
}

bool history_pointer(const struct history *h, uint64_t integer, uint32_t event, uint32_t viewer,
                     uint64_t *number)
{
	const struct life *l = life_at(h, integer, event);
	bool own = l != NULL && h->apart != NULL && l->owner == viewer;
	if (l != NULL)
		*number =
		        history_mix(history_mix(3, own ? l->own : l->id), integer - l->address);
	return l != NULL;
}

uint32_t history_owner(const struct history *h, uint64_t address, uint32_t event)
{
	const struct life *l = life_at(h, address, event);
	return l != NULL ? l->owner : NONE;
}

uint64_t history_place(const struct history *h, uint64_t address, uint32_t event)
{
	uint64_t number = history_mix(4, address);
	history_pointer(h, address, event, h->trace->events[event].thread, &number);
	return number;
}

/* -- numbers of processes and threads -------------------------------------------------------- */

static void add_number(struct history *h, uint64_t number, uint64_t id)
{
	if (h->numbers == NULL)
		h->numbers = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
	g_hash_table_insert(h->numbers, g_memdup2(&number, sizeof number),
	                    g_memdup2(&id, sizeof id));
}

void history_find_numbers(struct history *h)
{
	enum { CHILD = 19, THREAD = 23 };
	const struct trace *t = h->view->recorded;
	g_autofree uint64_t *counts = g_new0(uint64_t, t->threads_count + 1);
	for (uint64_t i = 0; i < t->notes_count; i++) {
		const char *key = trace_string(t, t->notes[i].key);
		bool child = strcmp(key, LOG_CHILD_NOTE) == 0;
		if (!child && strcmp(key, LOG_NUMBER_NOTE) != 0)
			continue;
		char *end;
		uint64_t recorded = strtoull(trace_string(t, t->notes[i].value), &end, 10);
		uint32_t u = 0;
		while (u < t->threads_count && t->threads[u].recorded != recorded)
			u++;
		if (u == t->threads_count)
			continue;
		uint64_t id = history_mix(child ? CHILD : THREAD, h->threads[u].who);
		add_number(h, strtoull(end, NULL, 10),
		           child ? history_mix(id, ++counts[u]) : id);
	}
}

bool history_kernel_number(const struct history *h, uint64_t integer, uint64_t *number)
{
	const uint64_t *id = h->numbers ? g_hash_table_lookup(h->numbers, &integer) : NULL;
	if (id != NULL)
		*number = *id;
	return id != NULL;
}

/* -- addresses of several runs --------------------------------------------------------------- */

struct addresses {
	GTree *lives;  /* struct life, disjoint, by address */
	GArray *order; /* the same, as they were added */
};

static gint compare_addresses(gconstpointer a, gconstpointer b, gpointer context)
{
	const struct life *x = a, *y = b;
	(void)context;
	return (x->address > y->address) - (x->address < y->address);
}

struct addresses *addresses_new(void)
{
	struct addresses *a = g_new(struct addresses, 1);
	a->lives = g_tree_new_full(compare_addresses, NULL, g_free, NULL);
	a->order = g_array_new(FALSE, FALSE, sizeof(struct life));
	return a;
}

void addresses_free(struct addresses *a)
{
	g_tree_unref(a->lives);
	g_array_unref(a->order);
	g_free(a);
}

static bool is_apart(const struct life *a, const struct life *b)
{
	return a->address + a->size <= b->address || b->address + b->size <= a->address;
}

/* False when another block occupies the addresses. */
static bool add_life(struct addresses *a, const struct life *l)
{
	GTreeNode *after = g_tree_lower_bound(a->lives, l);
	GTreeNode *before = after ? g_tree_node_previous(after) : g_tree_node_last(a->lives);
	const struct life *next = after ? g_tree_node_key(after) : NULL;
	const struct life *last = before ? g_tree_node_key(before) : NULL;
	if (next != NULL && next->address == l->address)
		return next->id == l->id && next->size == l->size;
	if ((next != NULL && !is_apart(next, l)) || (last != NULL && !is_apart(last, l)))
		return false;
	g_tree_insert(a->lives, g_memdup2(l, sizeof *l), NULL);
	g_array_append_val(a->order, *l);
	return true;
}

uint32_t addresses_differ(struct addresses *a, const struct history *h)
{
	uint32_t first = NONE;
	for (uint32_t i = 0; i < h->lives_count; i++)
		if (!add_life(a, &h->lives[i]))
			first = MIN(first, h->lives[i].alloc);
	return first;
}

uint32_t addresses_count(const struct addresses *a)
{
	return a->order->len;
}

void addresses_archive(struct addresses *a, uint32_t from, struct archive *archive)
{
	size_t count = archive_count(archive, archive_reads(archive) ? 0 : a->order->len - from,
	                             sizeof(uint64_t));
	for (size_t i = 0; i < count; i++) {
		struct life l = { 0 };
		if (!archive_reads(archive))
			l = g_array_index(a->order, struct life, from + i);
		ARCHIVE(archive, l.address);
		ARCHIVE(archive, l.size);
		archive_raw(archive, &l.id, sizeof l.id);
		if (archive_reads(archive) && !add_life(a, &l))
			archive_fail(archive);
	}
}

bool addresses_adopt(struct addresses *a, const struct addresses *other)
{
	bool same = true;
	for (guint i = 0; i < other->order->len; i++)
		same &= add_life(a, &g_array_index(other->order, struct life, i));
	return same;
}
