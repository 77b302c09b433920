/*
 * builder_names.c - names at the end of a recording: requested from the namer
 * (engine/record/name.c) for each block, object, location and variable. Text traces have names
 * already.
 */
#include "engine/trace/builder_private.h"

/* The current tables, borrowed: strings and locations may still move. */
static struct trace trace_view(struct builder *b, struct cut *c)
{
	struct trace t = { 0 };
#define LEND(member, array) \
	t.member = (void *)(array)->data; \
	t.member##_count = (array)->len
	t.events = (void *)b->events.data;
	t.events_count = b->events.count;
	t.stacks = (void *)b->stacks.data;
	t.stacks_count = b->stacks.count;
	LEND(values, b->values_array);
	LEND(value_lists, b->value_lists);
	LEND(variables, c->variables);
	LEND(wides, c->wides);
	LEND(threads, b->threads);
	LEND(objects, b->objects);
	LEND(blocks, b->blocks);
	LEND(locations, b->locations);
	LEND(contexts, b->contexts);
	LEND(modules, b->modules);
	LEND(string_offsets, b->string_offsets);
	LEND(string_bytes, b->string_bytes);
#undef LEND
	return t;
}

static void name_locations(struct builder *b, const struct namer *n)
{
	for (guint i = 0; n->location && i < b->locations->len; i++) {
		/* Adding locations may move the array. */
		struct location l = *AT(b->locations, struct location, i);
		if (l.module == NONE)
			continue;
		n->location(n->context, b, &l);
		*AT(b->locations, struct location, i) = l;
		builder_location_site(b, i);
	}
}

static void name_blocks(struct builder *b, const struct namer *n, GString *name)
{
	for (guint i = 0; n->block && i < b->blocks->len; i++) {
		struct block *block = AT(b->blocks, struct block, i);
		g_string_truncate(name, 0);
		n->block(n->context, b, block, name);
		if (name->len)
			block->name = builder_string(b, name->str, name->len);
	}
}

static void name_objects(struct builder *b, const struct namer *n, GString *name)
{
	for (guint i = 0; n->object && i < b->objects->len; i++) {
		g_string_truncate(name, 0);
		n->object(n->context, AT(b->objects, struct object, i), name);
		if (name->len)
			AT(b->objects, struct object, i)->name =
			        builder_string(b, name->str, name->len);
	}
}

/* Millions of variables with distinct names: they are not interned, and nothing is interned
 * afterwards. */
static void name_variables(struct builder *b, const struct trace *view, struct cut *c,
                           GString *name)
{
	const struct namer *n = b->namer;
	b->sealed = true;
	for (guint i = 0; i < c->variables->len; i++) {
		struct variable *v = AT(c->variables, struct variable, i);
		if (v->name != NONE)
			continue;
		g_string_truncate(name, 0);
		if (n && n->variable)
			n->variable(n->context, view, v, name);
		if (name->len == 0)
			builder_append_plain_name(b, v, name);
		v->name = builder_append_string(b, name->str, name->len);
	}
}

/* Request all names. */
void builder_ask_names(struct builder *b, struct cut *c)
{
	const struct namer *n = b->namer;
	GString *name = g_string_new(NULL);
	struct trace view = trace_view(b, c);
	if (n && n->begin)
		n->begin(n->context, &view);
	if (n) {
		name_blocks(b, n, name);
		name_objects(b, n, name);
		name_locations(b, n);
		view = trace_view(b, c); /* the tables have moved */
	}
	name_variables(b, &view, c, name);
	if (n && n->forms)
		n->forms(n->context, b);
	view = trace_view(b, c);
	builder_settle_late(b, &view);
	g_string_free(name, TRUE);
}
