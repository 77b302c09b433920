/* online_items.c - see online_items.h. */
#include "engine/predict/pairs/online_items.h"
#include "engine/base/hash.h"

struct item {
	uint32_t few[2], count; /* the items that it clashes with, */
	GArray *many;           /* uint32_t; or all of these, if not NULL */
	uint32_t since, before; /* the event that made it so, and the item that had its place in
	                           memory before; NONE: none */
};
struct online_items {
	GHashTable *known; /* key -> first item + 1 */
	GArray *items;     /* struct item */
};

static gpointer key_of(enum online_kind kind, uint32_t number)
{
	return GSIZE_TO_POINTER(((gsize)number << 2 | kind) + 1);
}

uint32_t online_items_known(const struct online_items *s, enum online_kind kind,
                            uint32_t number)
{
	return GPOINTER_TO_UINT(g_hash_table_lookup(s->known, key_of(kind, number))) - 1;
}

uint32_t online_items_of(struct online_items *s, enum online_kind kind, uint32_t number)
{
	uint32_t first = online_items_known(s, kind, number);
	if (first != NONE)
		return first;
	first = online_items_add(s);
	uint32_t second = online_items_add(s);
	online_items_clash(s, first, second);
	if (kind != ONLINE_CONDITION)
		online_items_clash(s, second, second);
	g_hash_table_insert(s->known, key_of(kind, number), GUINT_TO_POINTER(first + 1));
	return first;
}

uint32_t online_items_add(struct online_items *s)
{
	struct item fresh = { .before = NONE };
	g_array_append_val(s->items, fresh);
	return s->items->len - 1;
}

static void add_clash(struct online_items *s, uint32_t item, uint32_t with)
{
	struct item *i = &g_array_index(s->items, struct item, item);
	if (i->many == NULL && i->count < G_N_ELEMENTS(i->few)) {
		i->few[i->count++] = with;
		return;
	}
	if (i->many == NULL) {
		i->many = g_array_new(FALSE, FALSE, sizeof(uint32_t));
		g_array_append_vals(i->many, i->few, i->count);
	}
	g_array_append_val(i->many, with);
}

void online_items_clash(struct online_items *s, uint32_t a, uint32_t b)
{
	add_clash(s, a, b);
	if (a != b)
		add_clash(s, b, a);
}

struct event_list online_items_clashing(const struct online_items *s, uint32_t item)
{
	const struct item *i = &g_array_index(s->items, struct item, item);
	if (i->many)
		return (struct event_list){ (const uint32_t *)(void *)i->many->data,
			                    i->many->len };
	return (struct event_list){ i->few, i->count };
}

void online_items_forget(struct online_items *s, uint32_t variable)
{
	g_hash_table_remove(s->known, key_of(ONLINE_VARIABLE, variable));
}

static void begin_anew(struct online_items *s, uint32_t first, uint32_t event, uint32_t before)
{
	for (uint32_t i = 0; i < 2; i++) {
		struct item *item = &g_array_index(s->items, struct item, first + i);
		item->since = event;
		item->before = before == NONE ? NONE : before + i;
	}
}

void online_items_renew(struct online_items *s, uint32_t variable, uint32_t event)
{
	uint32_t first = online_items_known(s, ONLINE_VARIABLE, variable);
	if (first != NONE)
		begin_anew(s, first, event, NONE);
}

void online_items_split(struct online_items *s, uint32_t from, uint32_t to, uint32_t event)
{
	begin_anew(s, online_items_of(s, ONLINE_VARIABLE, to), event,
	           online_items_known(s, ONLINE_VARIABLE, from));
}

uint32_t online_items_as_of(const struct online_items *s, uint32_t item, uint32_t event)
{
	while (item != NONE && g_array_index(s->items, struct item, item).since > event)
		item = g_array_index(s->items, struct item, item).before;
	return item;
}

struct online_items *online_items_new(void)
{
	struct online_items *s = g_new0(struct online_items, 1);
	s->known = g_hash_table_new(hash_pointer, NULL);
	s->items = g_array_new(FALSE, FALSE, sizeof(struct item));
	return s;
}

void online_items_free(struct online_items *s)
{
	if (s == NULL)
		return;
	for (guint i = 0; i < s->items->len; i++) {
		GArray *many = g_array_index(s->items, struct item, i).many;
		if (many != NULL)
			g_array_free(many, TRUE);
	}
	g_hash_table_destroy(s->known);
	g_array_free(s->items, TRUE);
	g_free(s);
}
