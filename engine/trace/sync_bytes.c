/*
 * sync_bytes.c - see sync_bytes.h.
 */
#include "engine/trace/sync_bytes.h"

#include "engine/base/search.h"
#include "engine/trace/ending.h"
#include "engine/trace/storage.h"

#include <stdlib.h>
#include <string.h>

/* No object of the C library or of GLib is longer; the shortest of the C library that has
 * members is not shorter. */
enum { LONGEST = 64, SHORTEST = 32, CONDITION = 48 };

static int by_address(const void *a, const void *b, void *context)
{
	const struct trace *t = context;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint64_t p = t->objects[x].address, q = t->objects[y].address;
	return p != q ? (p < q ? -1 : 1) : (x > y) - (x < y);
}

/* Those with an address, ascending by it; owned by the caller. */
static uint32_t *objects_by_address(const struct trace *t, uint32_t *count)
{
	uint32_t *sorted = g_new(uint32_t, t->objects_count + 1);
	*count = 0;
	for (uint32_t o = 0; o < t->objects_count; o++)
		if (t->objects[o].address != 0)
			sorted[(*count)++] = o;
	g_qsort_with_data(sorted, (gint)*count, sizeof *sorted, by_address, (gpointer)t);
	return sorted;
}

/* Is one name the other's, or that of a member of it? "q.m" and "q.m.__data.__lock". The name
 * of an offset, "q.m+40", may be one of what comes behind it. */
static bool is_within(const char *whole, const char *part, uint64_t distance)
{
	size_t n = strlen(whole);
	return strncmp(whole, part, n) == 0 &&
	       (part[n] == '\0' || part[n] == '.' || part[n] == '[' || part[n] == '+') &&
	       (strchr(part + n, '+') == NULL || distance < SHORTEST);
}

/* Is the object a condition? What lies behind it may have the same name: a
 * std::condition_variable_any's pointer to a mutex. */
static bool is_condition(const struct trace *t, uint32_t object)
{
	uint32_t e = 0;
	while (e < t->events_count && (t->events[e].target != object ||
	                               op_table[t->events[e].op].use != USE_CONDITION))
		e++;
	return e < t->events_count;
}

static bool is_part(const struct trace *t, const struct variable *v, uint32_t variable,
                    uint32_t object)
{
	const struct object *o = &t->objects[object];
	uint64_t distance = v->address - o->address;
	if (o->block != v->block || v->address < o->address || distance >= LONGEST)
		return false;
	const char *name = trace_variable_name(t, variable), *whole = trace_string(t, o->name);
	return (is_within(whole, name, distance) &&
	        (distance < CONDITION || !is_condition(t, object))) ||
	       (distance == 0 && is_within(name, whole, 0));
}

static uint32_t object_of(const struct trace *t, const uint32_t *sorted, uint32_t count,
                          uint32_t variable)
{
	const struct variable *v = &t->variables[variable];
	uint32_t above = search_end(i, 0, count, t->objects[sorted[i]].address <= v->address);
	while (above-- > 0 && v->address - t->objects[sorted[above]].address < LONGEST)
		if (is_part(t, v, variable, sorted[above]))
			return sorted[above];
	return NONE;
}

void once_looks_init(struct once_looks *l, const struct trace *t)
{
	l->t = t;
	l->last = g_new(uint32_t, t->threads_count + 1);
	for (uint32_t u = 0; u < t->threads_count; u++)
		l->last[u] = NONE;
}

void once_looks_release(struct once_looks *l)
{
	g_free(l->last);
}

uint32_t once_looks_step(struct once_looks *l, uint32_t event)
{
	const struct event *e = &l->t->events[event];
	uint32_t look = l->last[e->thread];
	bool may_look = e->op == OP_AREAD && e->aux == 0 && !(e->flags & EVENT_WIDE);
	l->last[e->thread] = may_look ? event : NONE;
	return (e->op == OP_SND || e->op == OP_RCV) && look != NONE &&
	                       l->t->events[look].location == e->location
	               ? look
	               : NONE;
}

bool sync_bytes_may_be_once(const struct trace *t)
{
	return trace_note(t, FUTEX_STEPS_NOTE) != NULL;
}

/* Controls of once-functions, of which an exploration's run has the looks of the calls alone.
 */
static bool mark_controls(const struct trace *t, uint32_t *of)
{
	if (!sync_bytes_may_be_once(t) || !trace_has(t, OPERATION(OP_SND)))
		return false;
	struct once_looks looks;
	once_looks_init(&looks, t);
	bool any = false;
	for (uint32_t e = 0; e < t->events_count; e++) {
		uint32_t look = once_looks_step(&looks, e);
		if (look == NONE)
			continue;
		of[t->events[look].target] = SYNC_BYTES_ONCE;
		any = true;
	}
	once_looks_release(&looks);
	return any;
}

static uint32_t *find(const struct trace *t)
{
	uint32_t count, *sorted = objects_by_address(t, &count);
	uint32_t *of = g_new(uint32_t, t->variables_count + 1);
	bool any = false;
	uint64_t low = count > 0 ? t->objects[sorted[0]].address : UINT64_MAX;
	uint64_t high = count > 0 ? t->objects[sorted[count - 1]].address + LONGEST : 0;
	for (uint32_t v = 0; v < t->variables_count; v++) {
		uint64_t address = t->variables[v].address;
		of[v] = NONE;
		if (address >= low && address < high)
			of[v] = object_of(t, sorted, count, v);
		any |= of[v] != NONE;
	}
	any |= mark_controls(t, of);
	g_free(sorted);
	if (!any)
		g_clear_pointer(&of, g_free);
	return of;
}

const uint32_t *sync_bytes(const struct trace *t)
{
	struct trace_storage *s = t->storage;
	if (!s->sync_bytes_asked)
		s->sync_bytes = find(t);
	s->sync_bytes_asked = true;
	return s->sync_bytes;
}

void sync_use_remember(const struct trace *t, const struct sync_use *first)
{
	struct trace_storage *s = t->storage;
	s->sync_use = first != NULL ? *first : (struct sync_use){ NONE, NONE };
	s->sync_use_known = true;
}

const struct sync_use *sync_use_known(const struct trace *t)
{
	return t->storage->sync_use_known ? &t->storage->sync_use : NULL;
}
