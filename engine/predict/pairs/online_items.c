/* online_items.c - see online_items.h. */
#include "engine/predict/pairs/online_items.h"
#include "engine/base/hash.h"

struct item {
	uint32_t few[2];        /* the items that it clashes with, */
	GArray *many;           /* uint32_t; or all of these, if not NULL */
	uint8_t count;          /* of few */
	bool divided;           /* several variables have had it */
	uint32_t holders;       /* of the first of a variable: the variables that have it now */
	uint32_t since, before; /* the event that made it so, and the item that had its place in
	                           memory before; NONE: none */
};
/* The kinds of most things, whose numbers are dense. */
#define LAST_DENSE ONLINE_BLOCK
enum { DENSE_KINDS = LAST_DENSE + 1 };
struct online_items {
	GHashTable *known;       /* key -> first item + 1 */
	GArray *of[DENSE_KINDS]; /* uint32_t: the same of variables and blocks */
	GArray *items;           /* struct item */
};

static struct item *item_at(const struct online_items *s, uint32_t item)
{
	return &g_array_index(s->items, struct item, item);
}

static gpointer key_of(enum online_kind kind, uint32_t number)
{
	return GSIZE_TO_POINTER(((gsize)number << 2 | kind) + 1);
}

uint32_t online_items_known(const struct online_items *s, enum online_kind kind,
                            uint32_t number)
{
	if (kind <= LAST_DENSE)
		return number < s->of[kind]->len
		               ? g_array_index(s->of[kind], uint32_t, number) - 1
		               : NONE;
	return GPOINTER_TO_UINT(g_hash_table_lookup(s->known, key_of(kind, number))) - 1;
}

static void set_first(struct online_items *s, enum online_kind kind, uint32_t number,
                      uint32_t first)
{
	if (kind > LAST_DENSE) {
		g_hash_table_insert(s->known, key_of(kind, number),
		                    GUINT_TO_POINTER(first + 1));
		return;
	}
	if (number >= s->of[kind]->len)
		g_array_set_size(s->of[kind], number + 1);
	g_array_index(s->of[kind], uint32_t, number) = first + 1;
	item_at(s, first)->holders++;
}

/* Two new items of a thing. */
static uint32_t make_two(struct online_items *s, enum online_kind kind)
{
	uint32_t first = online_items_add(s), second = online_items_add(s);
	online_items_clash(s, first, second);
	if (kind != ONLINE_CONDITION)
		online_items_clash(s, second, second);
	return first;
}

uint32_t online_items_of(struct online_items *s, enum online_kind kind, uint32_t number)
{
	uint32_t first = online_items_known(s, kind, number);
	if (first != NONE)
		return first;
	first = make_two(s, kind);
	set_first(s, kind, number, first);
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
	struct item *i = item_at(s, item);
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
	const struct item *i = item_at(s, item);
	if (i->many)
		return (struct event_list){ (const uint32_t *)(void *)i->many->data,
			                    i->many->len };
	return (struct event_list){ i->few, i->count };
}

static void begin_anew(struct online_items *s, uint32_t first, uint32_t event, uint32_t before)
{
	for (uint32_t i = 0; i < 2; i++) {
		item_at(s, first + i)->since = event;
		item_at(s, first + i)->before = before == NONE ? NONE : before + i;
	}
}

uint32_t online_items_own(struct online_items *s, uint32_t variable, uint32_t event)
{
	uint32_t shared = online_items_of(s, ONLINE_VARIABLE, variable);
	if (item_at(s, shared)->holders == 1)
		return shared;
	online_items_forget(s, variable);
	uint32_t own = online_items_of(s, ONLINE_VARIABLE, variable);
	begin_anew(s, own, event, shared);
	return own;
}

void online_items_split(struct online_items *s, uint32_t from, uint32_t to)
{
	uint32_t first = online_items_known(s, ONLINE_VARIABLE, from);
	if (first == NONE)
		return;
	set_first(s, ONLINE_VARIABLE, to, first);
	item_at(s, first)->divided = true;
}

void online_items_forget(struct online_items *s, uint32_t variable)
{
	uint32_t first = online_items_known(s, ONLINE_VARIABLE, variable);
	if (first == NONE)
		return;
	item_at(s, first)->holders--;
	g_array_index(s->of[ONLINE_VARIABLE], uint32_t, variable) = 0;
}

bool online_items_renew(struct online_items *s, uint32_t variable, uint32_t event)
{
	uint32_t first = online_items_known(s, ONLINE_VARIABLE, variable);
	if (first == NONE || item_at(s, first)->divided) /* other items' `before` */
		return false;
	begin_anew(s, first, event, NONE);
	return true;
}

uint32_t online_items_as_of(const struct online_items *s, uint32_t item, uint32_t event)
{
	while (item != NONE && item_at(s, item)->since > event)
		item = item_at(s, item)->before;
	return item;
}

struct online_items *online_items_new(void)
{
	struct online_items *s = g_new0(struct online_items, 1);
	s->known = g_hash_table_new(hash_pointer, NULL);
	for (int kind = 0; kind < DENSE_KINDS; kind++)
		s->of[kind] = g_array_new(FALSE, TRUE, sizeof(uint32_t));
	s->items = g_array_new(FALSE, FALSE, sizeof(struct item));
	return s;
}

void online_items_free(struct online_items *s)
{
	if (s == NULL)
		return;
	for (guint i = 0; i < s->items->len; i++) {
		GArray *many = item_at(s, i)->many;
		if (many != NULL)
			g_array_free(many, TRUE);
	}
	g_hash_table_destroy(s->known);
	for (int kind = 0; kind < DENSE_KINDS; kind++)
		g_array_free(s->of[kind], TRUE);
	g_array_free(s->items, TRUE);
	g_free(s);
}
