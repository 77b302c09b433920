/*
 * edc.c - EDC's edges (extended doesn't-commute, rule (a)): from the release of a critical
 * section to a later event inside another section on the lock, when an item of the first
 * clashes with an item of the event.
 *
 * The edges do not depend on each other, so one pass finds them all, and causality.c walks with
 * them. Closed sections are remembered in a table by (lock, item), or bounded, in four 8-byte
 * words for each item (the thesis's algorithm 3), the oldest of which is overwritten.
 */
#include "engine/base/arrays.h"
#include "engine/order/order_private.h"
#include "engine/base/hash.h"

struct edc_section {
	uint32_t lock;
	uint32_t thread;
	bool shared;
	uint32_t acquire, release; /* NONE while open */
	uint32_t edge_to;          /* the event that the last edge from it led to; NONE */
	GArray *items; /* uint32_t: items touched, no duplicates; NULL when closed */
};

#define WORDS 4
/* The mutex-access shadow word of algorithm 3. */
struct shadow_word {
	uint64_t used : 1, thread : 20, section : 43; /* section: its index */
};
_Static_assert(sizeof(struct shadow_word) == 8, "a shadow word is eight bytes");

/* Last closed sections of one thread on a lock that touched an item. */
struct edc_last {
	uint32_t thread, section; /* exclusive; NONE: none */
	uint32_t shared;          /* shared; NONE: none */
};

struct edc {
	struct trace *t;
	const struct order_touches *touches;
	GArray *sections;          /* struct edc_section */
	GArray **open;             /* by thread: open sections, outermost first */
	GHashTable *table;         /* lock << 32 | item -> GArray of struct edc_last */
	struct shadow_word *words; /* WORDS for each item */
	uint8_t *next_word;        /* by item */
	GArray *edges;
};

static struct edc_section *section_at(const struct edc *d, uint32_t i)
{
	return &g_array_index(d->sections, struct edc_section, i);
}

static void edc_add_edge(struct edc *d, struct edc_section *from, uint32_t to)
{
	struct forced_edge e = { from->release, to, from->lock, STEP_CONFLICT_SECTION };
	if (from->edge_to != to)
		g_array_append_val(d->edges, e);
	from->edge_to = to;
}

/* -- unbounded: by lock and item ---------------------------------------------------------- */

static gpointer key_of(uint32_t lock, uint32_t item)
{
	return (gpointer)((uintptr_t)lock << 32 | (uintptr_t)(item + 1));
}

static void table_edges(struct edc *d, const struct edc_section *s, uint32_t item,
                        uint32_t event)
{
	const GArray *list = g_hash_table_lookup(d->table, key_of(s->lock, item));
	for (guint i = 0; list != NULL && i < list->len; i++) {
		const struct edc_last *l = &g_array_index(list, struct edc_last, i);
		if (l->thread == s->thread)
			continue;
		if (l->section != NONE)
			edc_add_edge(d, section_at(d, l->section), event);
		if (!s->shared && l->shared != NONE)
			edc_add_edge(d, section_at(d, l->shared), event);
	}
}

/* Does all that clashes with `item` clash with `other`, too? (Short lists only.) */
static bool clashes_within(const struct edc *d, uint32_t item, uint32_t other)
{
	enum { SHORT = 16 };
	struct event_list a = event_list_at(&d->touches->clashing, item);
	struct event_list b = event_list_at(&d->touches->clashing, other);
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
static void table_forget(struct edc *d, const struct edc_section *s, uint32_t item)
{
	struct event_list clashing = event_list_at(&d->touches->clashing, item);

	for (uint64_t k = 0; k < clashing.count; k++) {
		GArray *list =
		        g_hash_table_lookup(d->table, key_of(s->lock, clashing.items[k]));

		if (list != NULL && list->len > 0 && clashes_within(d, clashing.items[k], item))
			g_array_set_size(list, 0);
	}
}

static void table_note(struct edc *d, uint32_t section, uint32_t item)
{
	const struct edc_section *s = section_at(d, section);
	GArray *list = g_hash_table_lookup(d->table, key_of(s->lock, item));
	struct edc_last *found = NULL;
	if (list == NULL) {
		list = g_array_new(FALSE, FALSE, sizeof(struct edc_last));
		g_hash_table_insert(d->table, key_of(s->lock, item), list);
	}
	for (guint i = 0; i < list->len && found == NULL; i++)
		if (g_array_index(list, struct edc_last, i).thread == s->thread)
			found = &g_array_index(list, struct edc_last, i);
	if (found == NULL) {
		struct edc_last new = { s->thread, NONE, NONE };
		g_array_append_val(list, new);
		found = &g_array_index(list, struct edc_last, list->len - 1);
	}
	*(s->shared ? &found->shared : &found->section) = section;
}

/* -- bounded: words for each item --------------------------------------------------------- */

static void word_edges(struct edc *d, const struct edc_section *s, uint32_t item,
                       uint32_t event)
{
	const struct shadow_word *words = d->words + (size_t)item * WORDS;
	for (int i = 0; i < WORDS; i++) {
		if (!words[i].used || words[i].thread == s->thread)
			continue;
		struct edc_section *old = section_at(d, (uint32_t)words[i].section);
		if (old->lock == s->lock && old->release != NONE && !(old->shared && s->shared))
			edc_add_edge(d, old, event);
	}
}

static void word_note(struct edc *d, uint32_t section, uint32_t item)
{
	const struct edc_section *s = section_at(d, section);
	struct shadow_word *words = d->words + (size_t)item * WORDS, *into = NULL;
	for (int i = 0; i < WORDS && into == NULL; i++) {
		const struct edc_section *old =
		        words[i].used ? section_at(d, (uint32_t)words[i].section) : NULL;
		if (old == NULL || (old->lock == s->lock && old->thread == s->thread))
			into = &words[i];
	}
	if (into == NULL)
		into = &words[d->next_word[item]++ % WORDS];
	*into = (struct shadow_word){ .used = 1, .thread = s->thread, .section = section };
}

/* -- the pass ----------------------------------------------------------------------------- */

static void edc_acquire(struct edc *d, uint32_t event, const struct event *x)
{
	struct edc_section s = { .lock = x->target,
		                 .thread = x->thread,
		                 .shared = x->op == OP_RACQ,
		                 .acquire = event,
		                 .release = NONE,
		                 .edge_to = NONE };
	uint32_t number = d->sections->len;
	if (!d->touches->bounded)
		s.items = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_array_append_val(d->sections, s);
	g_array_append_val(d->open[x->thread], number);
}

static void edc_release(struct edc *d, uint32_t event, const struct event *x)
{
	GArray *open = d->open[x->thread];
	guint i = open->len;
	while (i > 0 && section_at(d, g_array_index(open, uint32_t, i - 1))->lock != x->target)
		i--;
	if (i == 0)
		return;
	uint32_t number = g_array_index(open, uint32_t, i - 1);
	struct edc_section *s = section_at(d, number);
	s->release = event;
	/* (With --lenient a lock may have had another holder meanwhile.) */
	for (guint k = 0;
	     s->items != NULL && !s->shared && !d->t->locks_taken && k < s->items->len; k++)
		table_forget(d, s, g_array_index(s->items, uint32_t, k));
	for (guint k = 0; s->items != NULL && k < s->items->len; k++)
		table_note(d, number, g_array_index(s->items, uint32_t, k));
	if (s->items != NULL)
		g_array_unref(s->items);
	s->items = NULL;
	g_array_remove_index(open, i - 1);
}

static bool touched_already(const struct edc_section *s, uint32_t item)
{
	/* The last few are enough: duplicates do no harm. */
	for (guint i = s->items->len, n = 0; i-- > 0 && n < 8; n++)
		if (g_array_index(s->items, uint32_t, i) == item)
			return true;
	return false;
}

static void edc_touch(struct edc *d, uint32_t event, const struct event *x, uint32_t item)
{
	const GArray *open = d->open[x->thread];
	struct event_list clashing = event_list_at(&d->touches->clashing, item);
	for (guint i = 0; i < open->len; i++) {
		uint32_t number = g_array_index(open, uint32_t, i);
		struct edc_section *s = section_at(d, number);
		for (uint64_t k = 0; k < clashing.count; k++)
			(d->touches->bounded ? word_edges
			                     : table_edges)(d, s, clashing.items[k], event);
		if (d->touches->bounded)
			word_note(d, number, item);
		else if (!touched_already(s, item))
			g_array_append_val(s->items, item);
	}
}

static void list_free(gpointer list)
{
	g_array_unref(list);
}

static void edc_free(struct edc *d)
{
	for (guint i = 0; i < d->sections->len; i++)
		if (section_at(d, i)->items != NULL)
			g_array_unref(section_at(d, i)->items);
	arrays_free(d->open, d->t->threads_count);
	g_array_unref(d->sections);
	g_hash_table_destroy(d->table);
	g_free(d->words);
	g_free(d->next_word);
}

GArray *edc_edges(struct trace *t, const struct order_touches *touches,
                  const struct progress *progress)
{
	struct edc d = { .t = t, .touches = touches };
	bool whole = true;
	d.sections = g_array_new(FALSE, FALSE, sizeof(struct edc_section));
	d.edges = g_array_new(FALSE, FALSE, sizeof(struct forced_edge));
	d.table = g_hash_table_new_full(hash_pointer, NULL, NULL, list_free);
	d.open = arrays_new(t->threads_count, sizeof(uint32_t));
	if (touches->bounded) {
		d.words = g_new0(struct shadow_word, touches->items * WORDS + 1);
		d.next_word = g_new0(uint8_t, touches->items + 1);
	}
	for (uint32_t e = 0; whole && e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		if ((e & 0xfffff) == 0)
			whole = progress_tick(progress, (double)e / t->events_count,
			                      "critical sections");
		struct event_list touched = event_list_at(&touches->touched, e);
		for (uint64_t i = 0; i < touched.count; i++)
			edc_touch(&d, e, x, touched.items[i]);
		if (event_inert(x))
			continue;
		if (op_acquires(x->op))
			edc_acquire(&d, e, x);
		else if (op_releases(x->op))
			edc_release(&d, e, x);
	}
	edc_free(&d);
	if (whole)
		return d.edges;
	g_array_unref(d.edges);
	return NULL;
}
