/*
 * scopes.c - see scopes.h: finds scopes, names of objects, and the order by forks and joins.
 */
#include "engine/explore/objects/scopes.h"

#include "engine/trace/index.h"

#include <stdlib.h>
#include <string.h>

/* -- fork-join order ----------------------------------------------------------------------- */

struct fork_order {
	const struct trace *t;
	uint32_t *row;  /* by event: its vector clock */
	GArray *clocks; /* uint32_t: vector clocks of threads_count, number of events of each
	                 * thread before */
};

static uint32_t *clock_row(const struct fork_order *o, uint32_t row)
{
	return &g_array_index(o->clocks, uint32_t, (size_t)row * o->t->threads_count);
}

/* A new clock: `base` joined with the first `count` events of thread `u`. */
static uint32_t join_rows(struct fork_order *o, uint32_t base, uint32_t other, uint32_t u,
                          uint32_t count)
{
	uint32_t threads = (uint32_t)o->t->threads_count;
	uint32_t row = o->clocks->len / threads;
	g_array_set_size(o->clocks, o->clocks->len + threads);
	for (uint32_t i = 0; i < threads; i++)
		clock_row(o, row)[i] = MAX(clock_row(o, base)[i], clock_row(o, other)[i]);
	clock_row(o, row)[u] = MAX(clock_row(o, row)[u], count);
	return row;
}

struct fork_order *fork_order_new(const struct trace *t)
{
	struct fork_order *o = g_new0(struct fork_order, 1);
	uint32_t *at = g_new0(uint32_t, t->threads_count + 1);
	o->t = t;
	o->row = g_new(uint32_t, t->events_count + 1);
	o->clocks = g_array_new(FALSE, TRUE, sizeof(uint32_t));
	g_array_set_size(o->clocks, (guint)t->threads_count);
	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		uint32_t other = x->target, position = t->index->position[e];
		if (x->op == OP_JOIN && other < t->threads_count)
			at[x->thread] =
			        join_rows(o, at[x->thread], at[other], other,
			                  (uint32_t)trace_thread_events(t, other).count);
		o->row[e] = at[x->thread];
		if (x->op == OP_FORK && other < t->threads_count)
			at[other] =
			        join_rows(o, at[other], at[x->thread], x->thread, position + 1);
	}
	g_free(at);
	return o;
}

void fork_order_free(struct fork_order *o)
{
	if (o == NULL)
		return;
	g_free(o->row);
	g_array_unref(o->clocks);
	g_free(o);
}

bool fork_ordered(const struct fork_order *o, uint32_t before, uint32_t after)
{
	uint32_t thread = o->t->events[before].thread;
	if (thread == o->t->events[after].thread)
		return before < after;
	return o->t->index->position[before] < clock_row(o, o->row[after])[thread];
}

/* -- names of objects ---------------------------------------------------------------------- */

/* The allocation at the address by thread and count: "T1's 3rd". */
static bool block_key(const struct trace *t, uint64_t address, GString *key)
{
	uint32_t *count = g_new0(uint32_t, t->threads_count + 1);
	bool found = false;
	for (uint32_t e = 0; e < t->events_count && !found; e++) {
		const struct event *x = &t->events[e];
		if (x->op != OP_ALLOC || x->target >= t->blocks_count)
			continue;
		const struct block *b = &t->blocks[x->target];
		count[x->thread]++;
		if (b->address == 0 || address - b->address >= MAX(b->size, 1))
			continue;
		found = true;
		g_string_append_printf(key, "%s's block %u + %" G_GUINT64_FORMAT,
		                       trace_thread_name(t, x->thread), count[x->thread],
		                       address - b->address);
	}
	g_free(count);
	return found;
}

char *scopes_object_key(const struct trace *t, const struct model *m, uint32_t object)
{
	GString *key = g_string_new(m->objects[object].type->o->name);
	char *name = model_object_name(m, object);
	uint64_t address = object < t->instances_count ? t->instances[object].address : 0;
	g_string_append_c(key, ' ');
	if (address < 65536)
		g_string_append(key, name); /* a number (a descriptor) */
	else if (!block_key(t, address, key))
		g_string_append_printf(key, "%" G_GINT64_MODIFIER "x", address);
	g_free(name);
	return g_string_free(key, FALSE);
}

/* -- finding scopes ------------------------------------------------------------------------ */

static bool *speaking_objects(const struct trace *t, const struct model *m, GHashTable *plain)
{
	bool *speaks = g_new0(bool, t->instances_count + 1);
	for (uint32_t i = 0; i < t->instances_count; i++) {
		if (!model_specified(m, i))
			continue;
		char *key = scopes_object_key(t, m, i);
		speaks[i] = !g_hash_table_contains(plain, key);
		g_free(key);
	}
	return speaks;
}

static void note_uses(struct scopes *s)
{
	const struct trace *t = s->t;
	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		uint8_t use = s->of[e] == NONE ? LOCK_OUTSIDE : LOCK_INSIDE;
		if (event_inert(x))
			continue;
		if (op_table[x->op].operand == OPERAND_OBJECT && x->op != OP_DESTROY)
			s->lock_use[x->target] |= use;
		if (!op_is_access(x->op))
			continue;
		struct wide run = event_variables(t, x);
		for (uint32_t v = run.first; v < run.first + run.count; v++)
			if (t->variables[v].block != NONE)
				s->block_use[t->variables[v].block] |= use;
	}
}

struct scopes *scopes_find(const struct trace *t, const struct model *m, GHashTable *plain)
{
	struct scopes *s = g_new0(struct scopes, 1);
	bool *speaks = speaking_objects(t, m, plain);
	uint32_t *open = g_new(uint32_t, t->threads_count + 1);
	memset(open, 0xff, sizeof *open * (t->threads_count + 1));
	s->t = t;
	s->list = g_array_new(FALSE, TRUE, sizeof(struct scope));
	s->of = g_new(uint32_t, t->events_count + 1);
	s->lock_use = g_new0(uint8_t, t->objects_count + 1);
	s->block_use = g_new0(uint8_t, t->blocks_count + 1);
	s->peeks = g_array_new(FALSE, FALSE, sizeof(struct peek));
	s->broken = g_ptr_array_new();
	s->atomic = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		uint32_t *mine = &open[x->thread];
		if (*mine == NONE && x->op == OP_CALL && !event_inert(x) && speaks[x->target]) {
			struct scope scope = { .call = e,
				               .ret = t->index->partner[e],
				               .object = x->target,
				               .thread = x->thread };
			*mine = s->list->len;
			g_array_append_val(s->list, scope);
		}
		s->of[e] = *mine;
		if (*mine != NONE && g_array_index(s->list, struct scope, *mine).ret == e)
			*mine = NONE;
	}
	g_free(open);
	g_free(speaks);
	note_uses(s);
	return s;
}

void scopes_free(struct scopes *s)
{
	if (s == NULL)
		return;
	for (guint i = 0; i < s->broken->len; i++) {
		struct broken *b = s->broken->pdata[i];
		g_free(b->why);
		g_free(b);
	}
	g_ptr_array_unref(s->broken);
	g_array_unref(s->list);
	g_array_unref(s->peeks);
	g_array_unref(s->atomic);
	g_free(s->of);
	g_free(s->lock_use);
	g_free(s->block_use);
	g_free(s);
}
