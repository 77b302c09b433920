/*
 * edc_sections.c - see edc_sections.h. An event that touches an item again, in the same
 * sections as the last event that did, adds no edge: no other thread can have closed a
 * section on one of these locks that excludes this one. Such an event costs a comparison of
 * numbers.
 */
#include "engine/order/edc_sections.h"
#include "engine/base/hash.h"

#include <string.h>

/* A closed section that touched an item. */
struct closed {
	struct sync_point release;
	uint32_t lock;
	bool shared;
};
/* Closed sections of one item; without a bound, of one item under one lock. */
struct closed_list {
	GArray *closed;  /* struct closed */
	uint32_t oldest; /* with a bound: the entry to overwrite */
	uint32_t lock;   /* without a bound */
	uint32_t next;   /* of the item: index + 1, or 0 */
};
struct tracked {
	uint32_t stay; /* the thread's `stay` at the last touch of the item (section_thread) */
	bool unnumbered; /* by an event without a number */
	uint32_t lists;  /* index + 1 of the first closed_list, or 0 */
};

struct section_thread {
	GPtrArray *open;       /* struct edc_section, outermost first; NULL: none so far */
	uint32_t stay;         /* changes with each acquire and release */
	struct edc_held *held; /* sections held since then, or NULL: not requested */
};

struct edc_sections {
	struct edc_rules rules;
	GArray *threads;     /* struct section_thread */
	GArray *items;       /* struct tracked */
	GArray *lists;       /* struct closed_list */
	GHashTable *by_lock; /* without a bound: lock << 32 | item -> index + 1 */
	uint32_t stays;
};

/* -- sections ------------------------------------------------------------------------------ */

struct edc_section *edc_section_ref(struct edc_section *s)
{
	s->references++;
	return s;
}

void edc_section_unref(struct edc_section *s)
{
	if (--s->references > 0)
		return;
	g_free(s->items);
	g_free(s);
}

struct edc_held *edc_held_ref(struct edc_held *h)
{
	if (h != NULL)
		h->references++;
	return h;
}

void edc_held_unref(struct edc_held *h)
{
	if (h == NULL || --h->references > 0)
		return;
	for (uint32_t i = 0; i < h->count; i++)
		edc_section_unref(h->sections[i]);
	g_free(h);
}

static struct edc_touched *place_of(const struct edc_section *s, uint32_t item)
{
	uint32_t at = hash_top(hash_word(item)) & (s->room - 1);
	while (s->items[at].item != NONE && s->items[at].item != item)
		at = (at + 1) & (s->room - 1);
	return &s->items[at];
}

static const struct edc_touched *find_touched(const struct edc_section *s, uint32_t item)
{
	const struct edc_touched *t = s->room ? place_of(s, item) : NULL;
	return t && t->item == item ? t : NULL;
}

static void more_items(struct edc_section *s)
{
	enum { FIRST = 8 };
	struct edc_section old = *s;
	s->room = old.room ? 2 * old.room : FIRST;
	s->items = g_new(struct edc_touched, s->room);
	memset(s->items, 0xff, s->room * sizeof *s->items);
	for (uint32_t i = 0; i < old.room; i++)
		if (old.items[i].item != NONE)
			*place_of(s, old.items[i].item) = old.items[i];
	g_free(old.items);
}

static void add_touched(struct edc_section *s, struct edc_touched new)
{
	if (4 * (s->count + 1) > 3 * s->room)
		more_items(s);
	struct edc_touched *t = place_of(s, new.item);
	if (t->item == NONE) {
		*t = new;
		s->count++;
	} else if (t->event != new.event) {
		t->event = NONE;
	}
}

static bool of_pair(const struct edc_pair *pair, uint32_t e1, uint32_t e2)
{
	bool first = e1 == pair->events[0], second = e2 == pair->events[1];
	return first ? second || pair->frees[0] : second && pair->frees[1];
}

bool edc_sections_clash(const struct edc_rules *rules, const struct edc_section *first,
                        const struct edc_section *second, const struct edc_pair *pair)
{
	if (first->end == NONE || second->end == NONE || (first->shared && second->shared))
		return false;
	for (uint32_t i = 0; i < second->room; i++) {
		const struct edc_touched *b = &second->items[i];
		uint32_t item = b->item;
		if (item != NONE && rules->as_of)
			item = rules->as_of(rules->context, item, first->end);
		if (item == NONE)
			continue;
		struct event_list clashing = rules->clashing(rules->context, item);
		for (uint64_t k = 0; k < clashing.count; k++) {
			const struct edc_touched *a = find_touched(first, clashing.items[k]);
			if (a != NULL && !of_pair(pair, a->event, b->event))
				return true;
		}
	}
	return false;
}

/* -- the closed sections of an item --------------------------------------------------------- */

static struct tracked *item_at(struct edc_sections *s, uint32_t item)
{
	if (item >= s->items->len)
		g_array_set_size(s->items, item + 1);
	return &g_array_index(s->items, struct tracked, item);
}

static gpointer key_of(uint32_t lock, uint32_t item)
{
	return GSIZE_TO_POINTER(((gsize)lock << 32 | item) + 1);
}

static struct closed_list *find_list(struct edc_sections *s, uint32_t lock, uint32_t item)
{
	uint32_t list = item_at(s, item)->lists;
	if (list != 0 && s->by_lock)
		list = GPOINTER_TO_UINT(g_hash_table_lookup(s->by_lock, key_of(lock, item)));
	return list ? &g_array_index(s->lists, struct closed_list, list - 1) : NULL;
}

static struct closed_list *list_of(struct edc_sections *s, uint32_t lock, uint32_t item)
{
	struct closed_list *found = find_list(s, lock, item);
	if (found != NULL)
		return found;
	struct tracked *t = item_at(s, item);
	struct closed_list list = { g_array_new(FALSE, FALSE, sizeof(struct closed)), 0, lock,
		                    t->lists };
	g_array_append_val(s->lists, list);
	t->lists = s->lists->len;
	if (s->by_lock)
		g_hash_table_insert(s->by_lock, key_of(lock, item),
		                    GUINT_TO_POINTER(s->lists->len));
	return &g_array_index(s->lists, struct closed_list, s->lists->len - 1);
}

static void note(struct edc_sections *s, uint32_t item, struct closed section)
{
	struct closed_list *l = list_of(s, section.lock, item);
	for (guint i = 0; i < l->closed->len; i++) {
		struct closed *c = &g_array_index(l->closed, struct closed, i);
		if (c->lock == section.lock && c->shared == section.shared &&
		    c->release.thread == section.release.thread) {
			*c = section;
			return;
		}
	}
	if (s->rules.most == 0 || l->closed->len < s->rules.most)
		g_array_append_val(l->closed, section);
	else
		g_array_index(l->closed, struct closed, l->oldest++ % s->rules.most) = section;
}

static void edges(struct edc_sections *s, const struct edc_section *section, uint32_t item)
{
	const struct closed_list *l = find_list(s, section->lock, item);
	for (guint i = 0; l != NULL && i < l->closed->len; i++) {
		const struct closed *c = &g_array_index(l->closed, struct closed, i);
		if (c->lock == section->lock && c->release.thread != section->thread &&
		    !(c->shared && section->shared))
			s->rules.join(s->rules.context, &c->release, c->lock);
	}
}

/* Do all items that clash with `item` clash with `other`, too? (Short lists only.) */
static bool clashes_within(const struct edc_sections *s, uint32_t item, uint32_t other)
{
	enum { SHORT = 16 };
	struct event_list a = s->rules.clashing(s->rules.context, item);
	struct event_list b = s->rules.clashing(s->rules.context, other);
	bool within = a.count <= SHORT && b.count <= SHORT;

	for (uint64_t i = 0; i < a.count && within; i++) {
		within = false;
		for (uint64_t k = 0; k < b.count && !within; k++)
			within = a.items[i] == b.items[k];
	}
	return within;
}

/*
 * Forgets sections that an exclusive section, closed now, makes redundant. Sections that
 * touched an item clashing with `item` have an edge to this section's touch, so they are
 * ordered before its release. When every later edge from them would be implied by one from this
 * section, they are dropped; the lists would otherwise grow with the number of threads.
 */
static void forget(struct edc_sections *s, uint32_t lock, uint32_t item)
{
	struct event_list clashing = s->rules.clashing(s->rules.context, item);

	for (uint64_t k = 0; k < clashing.count; k++) {
		struct closed_list *l = find_list(s, lock, clashing.items[k]);
		if (l == NULL || l->closed->len == 0 ||
		    !clashes_within(s, clashing.items[k], item))
			continue;
		for (guint i = l->closed->len; i-- > 0;)
			if (g_array_index(l->closed, struct closed, i).lock == lock)
				g_array_remove_index_fast(l->closed, i);
	}
}

/* -- events -------------------------------------------------------------------------------- */

static struct section_thread *thread_at(struct edc_sections *s, uint32_t thread)
{
	if (thread >= s->threads->len)
		g_array_set_size(s->threads, thread + 1);
	struct section_thread *t = &g_array_index(s->threads, struct section_thread, thread);
	if (t->open == NULL)
		t->open = g_ptr_array_new();
	return t;
}

static void begin_stay(struct edc_sections *s, struct section_thread *t)
{
	t->stay = ++s->stays;
	edc_held_unref(t->held);
	t->held = NULL;
}

struct edc_section *edc_sections_acquire(struct edc_sections *s, uint32_t thread,
                                         uint32_t event, uint32_t lock, bool shared)
{
	struct section_thread *t = thread_at(s, thread);
	struct edc_section *section = g_new0(struct edc_section, 1);
	*section = (struct edc_section){ .references = 1,
		                         .lock = lock,
		                         .thread = thread,
		                         .begin = event,
		                         .end = NONE,
		                         .shared = shared };
	g_ptr_array_add(t->open, section);
	begin_stay(s, t);
	return section;
}

void edc_sections_release(struct edc_sections *s, struct sync_point at, uint32_t lock)
{
	struct section_thread *t = thread_at(s, at.thread);
	guint i = t->open->len;
	while (i > 0 && ((struct edc_section *)t->open->pdata[i - 1])->lock != lock)
		i--;
	if (i == 0)
		return;
	struct edc_section *section = t->open->pdata[i - 1];
	struct closed closed = { at, lock, section->shared };
	section->end = at.event;
	for (uint32_t k = 0; !section->shared && !s->rules.lenient && k < section->room; k++)
		if (section->items[k].item != NONE)
			forget(s, lock, section->items[k].item);
	for (uint32_t k = 0; k < section->room; k++)
		if (section->items[k].item != NONE)
			note(s, section->items[k].item, closed);
	g_ptr_array_remove_index(t->open, i - 1);
	begin_stay(s, t);
	edc_section_unref(section);
}

void edc_sections_touch(struct edc_sections *s, uint32_t thread, uint32_t event, uint32_t item)
{
	const struct section_thread *t = thread_at(s, thread);
	struct tracked *i = item_at(s, item);
	bool again = i->stay == t->stay && !s->rules.lenient;
	if (t->open->len == 0 || (again && i->unnumbered))
		return;
	i->stay = t->stay;
	i->unnumbered = event == NONE;
	struct event_list clashing = s->rules.clashing(s->rules.context, item);
	for (guint k = 0; k < t->open->len && !again; k++)
		for (uint64_t c = 0; c < clashing.count; c++)
			edges(s, t->open->pdata[k], clashing.items[c]);
	for (guint k = 0; k < t->open->len; k++)
		add_touched(t->open->pdata[k], (struct edc_touched){ item, event });
}

void edc_sections_touch_late(struct edc_sections *s, uint32_t thread, uint32_t before,
                             uint32_t item)
{
	const struct section_thread *t = thread_at(s, thread);
	for (guint k = 0; k < t->open->len; k++) {
		struct edc_section *section = t->open->pdata[k];
		if (section->begin < before)
			add_touched(section, (struct edc_touched){ item, NONE });
	}
}

bool edc_sections_inside(const struct edc_sections *s, uint32_t thread)
{
	const struct section_thread *t =
	        thread < s->threads->len
	                ? &g_array_index(s->threads, struct section_thread, thread)
	                : NULL;
	return t && t->open && t->open->len > 0;
}

struct edc_held *edc_sections_held(struct edc_sections *s, uint32_t thread)
{
	struct section_thread *t = thread_at(s, thread);
	if (t->held != NULL || t->open->len == 0)
		return t->held;
	struct edc_held *h = g_malloc(sizeof *h + t->open->len * sizeof(h->sections[0]));
	*h = (struct edc_held){ 1, t->open->len };
	for (guint i = 0; i < t->open->len; i++)
		h->sections[i] = edc_section_ref(t->open->pdata[i]);
	t->held = h;
	return h;
}

/* -- items that change their meaning -------------------------------------------------------- */

/* The next open section that has touched the item, of any thread, from *thread and *i on. */
static struct edc_section *next_open(const struct edc_sections *s, uint32_t item, guint *thread,
                                     guint *i)
{
	for (; *thread < s->threads->len; ++*thread, *i = 0) {
		const GPtrArray *open =
		        g_array_index(s->threads, struct section_thread, *thread).open;
		while (open != NULL && *i < open->len) {
			struct edc_section *section = open->pdata[(*i)++];
			if (find_touched(section, item) != NULL)
				return section;
		}
	}
	return NULL;
}

bool edc_sections_touched(const struct edc_sections *s, uint32_t item)
{
	guint thread = 0, i = 0;
	return next_open(s, item, &thread, &i) != NULL;
}

void edc_sections_renew(struct edc_sections *s, uint32_t item)
{
	struct tracked *t = item_at(s, item);
	t->stay = 0;
	for (uint32_t l = t->lists; l != 0;
	     l = g_array_index(s->lists, struct closed_list, l - 1).next)
		g_array_set_size(g_array_index(s->lists, struct closed_list, l - 1).closed, 0);
}

void edc_sections_copy(struct edc_sections *s, uint32_t from, uint32_t to)
{
	struct edc_section *section;
	guint thread = 0, i = 0;
	const struct tracked old = *item_at(s, from); /* `to` may move the items */
	for (uint32_t l = old.lists, next; l != 0; l = next) {
		struct closed_list *list = &g_array_index(s->lists, struct closed_list, l - 1);
		GArray *closed = list->closed;
		next = list->next;
		list = list_of(s, list->lock, to);
		g_array_append_vals(list->closed, closed->data, closed->len);
	}
	item_at(s, to)->stay = old.stay;
	item_at(s, to)->unnumbered = old.unnumbered;
	while ((section = next_open(s, from, &thread, &i)) != NULL)
		add_touched(section,
		            (struct edc_touched){ to, find_touched(section, from)->event });
}

/* -- making and ending ---------------------------------------------------------------------- */

void edc_sections_visit(const struct edc_sections *s,
                        void (*visit)(void *context, const struct sync_point *point),
                        void *context)
{
	for (guint l = 0; l < s->lists->len; l++) {
		const GArray *closed = g_array_index(s->lists, struct closed_list, l).closed;
		for (guint i = 0; i < closed->len; i++)
			visit(context, &g_array_index(closed, struct closed, i).release);
	}
}

struct edc_sections *edc_sections_new(const struct edc_rules *rules)
{
	struct edc_sections *s = g_new0(struct edc_sections, 1);
	s->rules = *rules;
	s->threads = g_array_new(FALSE, TRUE, sizeof(struct section_thread));
	s->items = g_array_new(FALSE, TRUE, sizeof(struct tracked));
	s->lists = g_array_new(FALSE, FALSE, sizeof(struct closed_list));
	s->by_lock = rules->most ? NULL : g_hash_table_new(hash_pointer, NULL);
	return s;
}

void edc_sections_free(struct edc_sections *s)
{
	if (s == NULL)
		return;
	for (guint u = 0; u < s->threads->len; u++) {
		struct section_thread *t = &g_array_index(s->threads, struct section_thread, u);
		for (guint i = 0; t->open != NULL && i < t->open->len; i++)
			edc_section_unref(t->open->pdata[i]);
		if (t->open != NULL)
			g_ptr_array_free(t->open, TRUE);
		edc_held_unref(t->held);
	}
	for (guint l = 0; l < s->lists->len; l++)
		g_array_free(g_array_index(s->lists, struct closed_list, l).closed, TRUE);
	g_array_free(s->threads, TRUE);
	g_array_free(s->items, TRUE);
	g_array_free(s->lists, TRUE);
	if (s->by_lock)
		g_hash_table_destroy(s->by_lock);
	g_free(s);
}
