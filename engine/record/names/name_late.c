/*
 * name_late.c - the names of the memory that a missing call may reach, after all others: a
 * block, a variable of a module as a whole, or the trace's variables in a range of a stack or
 * of other memory.
 */
#include "engine/base/search.h"
#include "engine/record/names/name_private.h"

#include <string.h>

struct named_place {
	uint64_t low, high;
	uint32_t name;
};

struct late_names {
	GArray *places; /* struct named_place: variables outside of blocks and modules, and
	                 * objects there; by low */
	uint64_t longest;
};

static gint by_low(gconstpointer a, gconstpointer b)
{
	const struct named_place *x = a, *y = b;
	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

static void add_place(struct late_names *l, uint64_t low, uint64_t size, uint32_t name)
{
	struct named_place p = { low, low + MAX(size, 1), name };
	g_array_append_val(l->places, p);
	l->longest = MAX(l->longest, p.high - p.low);
}

static struct late_names *places_of(struct names *n, const struct trace *t)
{
	if (n->late != NULL)
		return n->late;
	struct late_names *l = n->late = g_new0(struct late_names, 1);
	l->places = g_array_new(FALSE, FALSE, sizeof(struct named_place));
	for (uint64_t i = 0; i < t->variables_count; i++) {
		const struct variable *v = &t->variables[i];
		if (v->block == NONE || t->blocks[v->block].alloc == NONE)
			add_place(l, v->address, v->size, v->spelling);
	}
	for (uint64_t i = 0; i < t->objects_count; i++)
		if (t->objects[i].address != 0)
			add_place(l, t->objects[i].address, 1, t->objects[i].name);
	g_array_sort(l->places, by_low);
	return l;
}

static void append(GString *names, const char *name)
{
	g_string_append_len(names, name, (gssize)strlen(name) + 1);
}

/* Appends the trace's variables and objects there; false: none. */
static bool append_places(struct names *n, const struct trace *t, struct late late,
                          GString *names)
{
	const struct late_names *l = places_of(n, t);
	uint64_t from = late.at > l->longest ? late.at - l->longest : 0;
	guint low = search_end(i, 0u, l->places->len,
	                       g_array_index(l->places, struct named_place, i).low < from);
	bool any = false;
	for (; low < l->places->len; low++) {
		const struct named_place *p =
		        &g_array_index(l->places, struct named_place, low);
		if (p->low >= late.at + MAX(late.bytes, 1))
			break;
		if (p->high <= late.at)
			continue;
		append(names, trace_string(t, p->name));
		any = true;
	}
	return any;
}

/* Appends a place without variables or objects of the trace: two calls may reach it all the
 * same. */
static void append_bare(struct names *n, const struct trace *t, uint64_t address,
                        GString *names)
{
	uint32_t stack = names_block_at(n, address, NONE);
	uint32_t below = names_module_below(n, address);
	const struct debuginfo *d = names_debuginfo(n, below);
	if (stack != NONE)
		g_string_append_printf(
		        names, "%s%+" G_GINT64_FORMAT, trace_string(t, t->blocks[stack].name),
		        (gint64)(address -
		                 (n->stack_tops[stack]
		                          ? n->stack_tops[stack]
		                          : t->blocks[stack].address + t->blocks[stack].size)));
	else if ((d == NULL ||
	          !debuginfo_data_name(d, address - names_base(n, below), 0, names)) &&
	         !names_append_library(n, NONE, address, 0, names))
		g_string_append_printf(names, "memory@0x%" G_GINT64_MODIFIER "x", address);
	g_string_append_c(names, '\0');
}

void names_late(void *context, const struct trace *partial, struct late late, GString *names)
{
	struct names *n = context;
	uint32_t module;
	if (late.kind == LATE_BLOCK) {
		append(names, trace_string(partial, partial->blocks[late.at].name));
		return;
	}
	const struct debug_variable *v = names_data(n, late.at, &module);
	if (v != NULL)
		append(names, names_variable(n, module, v));
	else if (!append_places(n, partial, late, names))
		append_bare(n, partial, late.at, names);
}

void names_end_late(struct names *n)
{
	if (n->late == NULL)
		return;
	g_array_free(n->late->places, TRUE);
	g_free(n->late);
}
