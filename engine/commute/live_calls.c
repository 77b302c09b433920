/* live_calls.c - see live_calls.h. */
#include "engine/base/hash.h"
#include "engine/commute/live_calls.h"
#include "engine/commute/model.h"
#include "engine/commute/point_items.h"
#include "engine/commute/language/points.h"
#include "engine/predict/pairs/online_items.h"

#include <string.h>

struct live_type {
	const struct spec_object *o;
	struct points *points;
};
struct open_call {
	uint32_t object, method; /* method: NONE: not declared */
	uint32_t count;
	struct val names[MOST_NAMES]; /* the arguments */
};

struct live_calls {
	const struct specs *specs;
	struct online_items *online;
	struct texts texts;
	GHashTable *types;   /* name (owned) -> struct live_type, owned; or NULL */
	GHashTable *type_of; /* instance -> struct live_type */
	GHashTable *points;  /* point_items.h */
	GPtrArray *open;     /* by thread: GArray of struct open_call, or NULL */
	GArray *touched;     /* uint32_t: items of the last event */
};

static void type_free(gpointer type)
{
	struct live_type *t = type;
	if (t == NULL)
		return;
	points_free(t->points);
	g_free(t);
}

static const struct live_type *type_named(struct live_calls *l, const char *name)
{
	gpointer known;
	if (g_hash_table_lookup_extended(l->types, name, NULL, &known))
		return known;
	const struct spec_object *o = *name ? specs_object(l->specs, name) : NULL;
	struct live_type *t = NULL;
	if (o != NULL) {
		t = g_new0(struct live_type, 1);
		*t = (struct live_type){ o, points_new(o) };
	}
	g_hash_table_insert(l->types, g_strdup(name), t);
	return t;
}

static const struct live_type *type_at(const struct live_calls *l, uint32_t object)
{
	return g_hash_table_lookup(l->type_of, GUINT_TO_POINTER(object));
}

static struct val val_of(const struct value *v)
{
	struct val val = { .kind = v->kind };
	if (v->kind == V_INT)
		val.n = v->integer;
	else if (v->kind == V_STRING || v->kind == V_TOKEN)
		val.n = v->string;
	else if (v->kind == V_PAIR || v->kind == V_LIST)
		val.kind = V_NONE;
	return val;
}

/* A declared method with as many arguments, else NONE. */
static uint32_t method_of(const struct live_type *t, const struct flow_call *c)
{
	uint32_t method = t ? spec_method_find(t->o, c->method) : NONE;
	if (method == NONE)
		return NONE;
	const struct spec_method *m = spec_method_at(t->o, method);
	return m->arguments == c->arguments && m->arguments + m->results <= MOST_NAMES ? method
	                                                                               : NONE;
}

/* The number of a point's item. A new point clashes with the existing ones of its key. */
static uint32_t item_of(struct live_calls *l, const struct live_type *t,
                        struct point_item point)
{
	uint32_t item = point_items_find(l->points, point);
	if (item != NONE)
		return item;
	const GArray *conflicts = points_at(t->points, point.point)->conflicts;
	item = online_items_add(l->online);
	point_items_add(l->points, point, item);
	for (guint i = 0; i < conflicts->len; i++) {
		struct point_item other = { point.object, g_array_index(conflicts, uint32_t, i),
			                    point.key };
		uint32_t with = point_items_find(l->points, other);
		if (with != NONE)
			online_items_clash(l->online, item, with);
	}
	return item;
}

/* Takes the invocation's effect: adds the items that it touches. */
static void touch(struct live_calls *l, struct flow_event *x, const struct live_type *t,
                  const struct open_call *c)
{
	const struct spec_method *m = spec_method_at(t->o, c->method);
	uint32_t count;
	bool overflow = false;
	if (c->count != m->arguments + m->results)
		return;
	for (uint32_t i = 0; i < c->count; i++)
		if (c->names[i].kind == V_NONE)
			return;
	const struct touch *touches =
	        points_touched(t->points, c->method, c->names, &l->texts, &count, &overflow);
	for (uint32_t i = 0; i < count && !overflow; i++) {
		struct point_item point = { .object = c->object, .point = touches[i].point };
		if (touches[i].slot != NONE)
			point.key = c->names[touches[i].slot];
		uint32_t item = item_of(l, t, point);
		g_array_append_val(l->touched, item);
	}
	x->method = c->method;
	x->items = (const uint32_t *)(void *)l->touched->data;
	x->items_count = l->touched->len;
}

static void add_values(struct open_call *c, const struct value *values, uint32_t count)
{
	for (uint32_t i = 0; i < count && c->count < MOST_NAMES; i++)
		c->names[c->count++] = val_of(&values[i]);
}

static GArray *open_calls(struct live_calls *l, uint32_t thread)
{
	if (thread >= l->open->len)
		g_ptr_array_set_size(l->open, (int)thread + 1);
	if (l->open->pdata[thread] == NULL)
		l->open->pdata[thread] = g_array_new(FALSE, FALSE, sizeof(struct open_call));
	return l->open->pdata[thread];
}

static struct open_call begin(struct live_calls *l, struct flow_event *x)
{
	const struct live_type *t = type_at(l, x->target);
	if (t == NULL && (t = type_named(l, x->call->type)) != NULL)
		g_hash_table_insert(l->type_of, GUINT_TO_POINTER(x->target), (gpointer)t);
	struct open_call c = { .object = x->target, .method = method_of(t, x->call) };
	x->specified = t != NULL;
	add_values(&c, x->call->values, x->call->arguments);
	return c;
}

void live_calls_event(struct live_calls *l, struct flow_event *x)
{
	struct open_call c = { .method = NONE };
	if (x->call == NULL || x->flags & EVENT_INERT)
		return;
	g_array_set_size(l->touched, 0);
	GArray *open = open_calls(l, x->thread);
	if (x->op == OP_CALL) {
		c = begin(l, x);
		g_array_append_val(open, c);
		return;
	}
	if (x->op == OP_ACT) {
		c = begin(l, x);
	} else if (open->len > 0) {
		c = g_array_index(open, struct open_call, open->len - 1);
		g_array_set_size(open, open->len - 1);
	}
	if (c.method == NONE)
		return;
	add_values(&c, x->call->values + x->call->arguments, x->call->results);
	touch(l, x, type_at(l, c.object), &c);
}

bool live_calls_ask(const struct live_calls *l, const struct online_call *first,
                    const struct online_call *second)
{
	const struct live_type *t = type_at(l, first->object);
	return spec_good_order(t->o, first->method, second->method) >= 0;
}

struct live_calls *
live_calls_new(const struct specs *specs, struct online *online,
               int64_t (*find)(void *context, const char *text, size_t length), void *context)
{
	struct live_calls *l = g_new0(struct live_calls, 1);
	l->specs = specs;
	l->online = online_items(online);
	texts_init(&l->texts);
	l->texts.find = find;
	l->texts.context = context;
	l->types = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, type_free);
	l->type_of = g_hash_table_new(hash_pointer, NULL);
	l->points = point_items_new();
	l->open = g_ptr_array_new();
	l->touched = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	return l;
}

void live_calls_free(struct live_calls *l)
{
	if (l == NULL)
		return;
	for (guint i = 0; i < l->open->len; i++)
		if (l->open->pdata[i] != NULL)
			g_array_free(l->open->pdata[i], TRUE);
	texts_release(&l->texts);
	g_hash_table_destroy(l->type_of);
	g_hash_table_destroy(l->types);
	g_hash_table_destroy(l->points);
	g_ptr_array_free(l->open, TRUE);
	g_array_free(l->touched, TRUE);
	g_free(l);
}
