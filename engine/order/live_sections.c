/*
 * live_sections.c - see live_sections.h.
 */
#include "engine/order/live_sections.h"
#include "engine/base/hash.h"

#include <string.h>

/* A closed section that touched an item. */
struct closed {
	struct sync_point release;
	uint32_t lock;
	bool shared;
};
struct tracked {
	GArray *closed; /* struct closed */
	uint32_t next;  /* to be overwritten */
};

struct open_section {
	uint32_t lock;
	bool shared;
	GHashTable *items; /* keys */
};
struct section_thread {
	GArray *open;  /* struct open_section, outermost first; NULL: none so far */
	uint32_t held; /* number of the set of its locks */
};

struct live_sections {
	uint32_t most;
	GArray *threads;    /* struct section_thread */
	GHashTable *items;  /* key -> struct tracked, owned */
	GPtrArray *sets;    /* GBytes: sets of locks, ascending; owned */
	GHashTable *set_of; /* GBytes -> number */
};

static gpointer key_of(enum live_kind kind, uint32_t number)
{
	return GSIZE_TO_POINTER(((gsize)number << 3 | kind) + 1);
}

/* The kinds that do not commute with a kind, up to -1. */
static const int8_t clashes_with[][3] = {
	[LIVE_READ] = { LIVE_WRITE, -1 },
	[LIVE_WRITE] = { LIVE_READ, LIVE_WRITE, -1 },
	[LIVE_USE] = { LIVE_FREE, -1 },
	[LIVE_FREE] = { LIVE_USE, LIVE_FREE, -1 },
	[LIVE_OBJECT] = { LIVE_DESTROY, -1 },
	[LIVE_DESTROY] = { LIVE_OBJECT, LIVE_DESTROY, -1 },
	[LIVE_WAIT] = { LIVE_WAKER, -1 },
	[LIVE_WAKER] = { LIVE_WAIT, -1 },
};

static void tracked_free(gpointer data)
{
	struct tracked *t = data;
	g_array_free(t->closed, TRUE);
	g_free(t);
}

/* -- sets of locks ------------------------------------------------------------------------- */

static int by_number(gconstpointer p, gconstpointer q)
{
	uint32_t a = *(const uint32_t *)p, b = *(const uint32_t *)q;
	return a < b ? -1 : a > b;
}

/* The number of the set of locks of the open sections. */
static uint32_t set_of(struct live_sections *s, const GArray *open)
{
	g_autoptr(GArray) locks = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	gpointer known;
	for (guint i = 0; i < open->len; i++)
		g_array_append_val(locks, g_array_index(open, struct open_section, i).lock);
	g_array_sort(locks, by_number);
	GBytes *set = g_bytes_new(locks->data, locks->len * sizeof(uint32_t));
	if (g_hash_table_lookup_extended(s->set_of, set, NULL, &known)) {
		g_bytes_unref(set);
		return GPOINTER_TO_UINT(known);
	}
	g_hash_table_insert(s->set_of, set, GUINT_TO_POINTER(s->sets->len));
	g_ptr_array_add(s->sets, set);
	return s->sets->len - 1;
}

bool live_sections_common(const struct live_sections *s, uint32_t a, uint32_t b)
{
	gsize size[2], at[2] = { 0, 0 };
	const uint32_t *x = g_bytes_get_data(s->sets->pdata[a], &size[0]);
	const uint32_t *y = g_bytes_get_data(s->sets->pdata[b], &size[1]);
	while (at[0] < size[0] / sizeof *x && at[1] < size[1] / sizeof *y) {
		if (x[at[0]] == y[at[1]])
			return true;
		at[x[at[0]] > y[at[1]]]++;
	}
	return false;
}

/* -- sections ------------------------------------------------------------------------------ */

static struct section_thread *thread_at(struct live_sections *s, uint32_t thread)
{
	if (thread >= s->threads->len)
		g_array_set_size(s->threads, thread + 1);
	struct section_thread *t = &g_array_index(s->threads, struct section_thread, thread);
	if (t->open == NULL)
		t->open = g_array_new(FALSE, FALSE, sizeof(struct open_section));
	return t;
}

void live_sections_acquire(struct live_sections *s, uint32_t thread, uint32_t lock, bool shared)
{
	struct section_thread *t = thread_at(s, thread);
	struct open_section section = { lock, shared, g_hash_table_new(hash_pointer, NULL) };
	g_array_append_val(t->open, section);
	t->held = set_of(s, t->open);
}

static void note(struct live_sections *s, gpointer key, struct closed section)
{
	struct tracked *t = g_hash_table_lookup(s->items, key);
	if (t == NULL) {
		t = g_new0(struct tracked, 1);
		t->closed = g_array_new(FALSE, FALSE, sizeof(struct closed));
		g_hash_table_insert(s->items, key, t);
	}
	for (guint i = 0; i < t->closed->len; i++) {
		struct closed *c = &g_array_index(t->closed, struct closed, i);
		if (c->lock == section.lock && c->shared == section.shared &&
		    c->release.thread == section.release.thread) {
			*c = section;
			return;
		}
	}
	if (s->most == 0 || t->closed->len < s->most)
		g_array_append_val(t->closed, section);
	else
		g_array_index(t->closed, struct closed, t->next++ % s->most) = section;
}

void live_sections_release(struct live_sections *s, struct sync_point at, uint32_t lock)
{
	struct section_thread *t = thread_at(s, at.thread);
	GHashTableIter items;
	gpointer key;
	guint i = t->open->len;
	while (i > 0 && g_array_index(t->open, struct open_section, i - 1).lock != lock)
		i--;
	if (i == 0)
		return;
	struct open_section section = g_array_index(t->open, struct open_section, i - 1);
	g_hash_table_iter_init(&items, section.items);
	while (g_hash_table_iter_next(&items, &key, NULL))
		note(s, key, (struct closed){ at, lock, section.shared });
	g_hash_table_destroy(section.items);
	g_array_remove_index(t->open, i - 1);
	t->held = set_of(s, t->open);
}

uint32_t live_sections_held(const struct live_sections *s, uint32_t thread)
{
	return thread < s->threads->len
	               ? g_array_index(s->threads, struct section_thread, thread).held
	               : 0;
}

static void touch_in(const struct tracked *from, const struct open_section *section,
                     uint32_t thread, sync_join *join, void *context)
{
	for (guint i = 0; i < from->closed->len; i++) {
		const struct closed *c = &g_array_index(from->closed, struct closed, i);
		if (c->lock == section->lock && c->release.thread != thread &&
		    !(c->shared && section->shared))
			join(context, &c->release);
	}
}

void live_sections_touch(struct live_sections *s, uint32_t thread, enum live_kind kind,
                         uint32_t number, sync_join *join, void *context)
{
	const GArray *open = thread_at(s, thread)->open;
	for (const int8_t *other = clashes_with[kind]; *other >= 0; other++) {
		const struct tracked *from =
		        g_hash_table_lookup(s->items, key_of((enum live_kind) * other, number));
		for (guint i = 0; from != NULL && i < open->len; i++)
			touch_in(from, &g_array_index(open, struct open_section, i), thread,
			         join, context);
	}
	for (guint i = 0; i < open->len; i++)
		g_hash_table_add(g_array_index(open, struct open_section, i).items,
		                 key_of(kind, number));
}

/* -- variables ----------------------------------------------------------------------------- */

static void forget_open(struct live_sections *s, gpointer from, gpointer to)
{
	for (guint u = 0; u < s->threads->len; u++) {
		const GArray *open = g_array_index(s->threads, struct section_thread, u).open;
		for (guint i = 0; open != NULL && i < open->len; i++) {
			GHashTable *items = g_array_index(open, struct open_section, i).items;
			if (to == NULL)
				g_hash_table_remove(items, from);
			else if (g_hash_table_contains(items, from))
				g_hash_table_add(items, to);
		}
	}
}

void live_sections_renew(struct live_sections *s, uint32_t variable)
{
	for (enum live_kind kind = LIVE_READ; kind <= LIVE_WRITE; kind++) {
		g_hash_table_remove(s->items, key_of(kind, variable));
		forget_open(s, key_of(kind, variable), NULL);
	}
}

void live_sections_split(struct live_sections *s, uint32_t from, uint32_t to)
{
	live_sections_renew(s, to);
	for (enum live_kind kind = LIVE_READ; kind <= LIVE_WRITE; kind++) {
		const struct tracked *t = g_hash_table_lookup(s->items, key_of(kind, from));
		forget_open(s, key_of(kind, from), key_of(kind, to));
		if (t == NULL)
			continue;
		struct tracked *copy = g_new(struct tracked, 1);
		*copy = (struct tracked){ g_array_copy(t->closed), t->next };
		g_hash_table_insert(s->items, key_of(kind, to), copy);
	}
}

/* -- making and ending ---------------------------------------------------------------------- */

void live_sections_visit(const struct live_sections *s, sync_join *visit, void *context)
{
	GHashTableIter items;
	gpointer item;
	g_hash_table_iter_init(&items, s->items);
	while (g_hash_table_iter_next(&items, NULL, &item)) {
		const struct tracked *t = item;
		for (guint i = 0; i < t->closed->len; i++)
			visit(context, &g_array_index(t->closed, struct closed, i).release);
	}
}

static void set_free(gpointer set)
{
	g_bytes_unref(set);
}

struct live_sections *live_sections_new(uint32_t most)
{
	struct live_sections *s = g_new0(struct live_sections, 1);
	g_autoptr(GArray) none = g_array_new(FALSE, FALSE, sizeof(struct open_section));
	s->most = most;
	s->threads = g_array_new(FALSE, TRUE, sizeof(struct section_thread));
	s->items = g_hash_table_new_full(hash_pointer, NULL, NULL, tracked_free);
	s->sets = g_ptr_array_new_with_free_func(set_free);
	s->set_of = g_hash_table_new(g_bytes_hash, g_bytes_equal);
	set_of(s, none); /* 0: no lock */
	return s;
}

void live_sections_free(struct live_sections *s)
{
	if (s == NULL)
		return;
	for (guint u = 0; u < s->threads->len; u++) {
		GArray *open = g_array_index(s->threads, struct section_thread, u).open;
		for (guint i = 0; open != NULL && i < open->len; i++)
			g_hash_table_destroy(g_array_index(open, struct open_section, i).items);
		if (open != NULL)
			g_array_free(open, TRUE);
	}
	g_array_free(s->threads, TRUE);
	g_hash_table_destroy(s->items);
	g_hash_table_destroy(s->set_of);
	g_ptr_array_free(s->sets, TRUE);
	g_free(s);
}
