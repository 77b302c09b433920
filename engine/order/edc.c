/*
 * edc.c - EDC's edges: the release of a critical section before a later event inside
 * another critical section on the lock when something in the first clashes with it (the
 * thesis's extended doesn't-commute, rule (a)).
 *
 * The edges depend on the trace and on what clashes, not on each other, so they are found
 * in one pass and then walked as any order.  Two ways to remember what a closed section
 * touched: a table of (lock, thing), or four 8-byte words for each thing (algorithm 3),
 * whose oldest is overwritten when a fifth comes.
 */
#include "engine/order/order_private.h"

struct section {
	uint32_t lock;
	uint32_t thread;
	bool shared;
	uint32_t acquire, release; /* release NONE while it is open */
	GArray *things;            /* uint32_t: touched in it, once each; NULL when closed */
};

#define WORDS 4
struct word { /* what algorithm 3 calls a mutex-access shadow word */
	uint64_t used : 1, thread : 20, section : 43; /* section: its number in the trace */
};
_Static_assert(sizeof(struct word) == 8, "a shadow word is eight bytes");

struct last { /* of one thread: the last closed section on a lock that touched a thing */
	uint32_t thread, section; /* NONE: none; exclusive sections */
	uint32_t shared;          /* the same of shared ones */
};

struct edc {
	struct trace *t;
	const struct order_touches *touches;
	GArray *sections;   /* struct section */
	GArray **open;      /* by thread: uint32_t sections, outermost first */
	GHashTable *table;  /* lock << 32 | thing -> GArray of struct last */
	struct word *words; /* WORDS for each thing */
	uint8_t *next_word; /* by thing */
	GArray *edges;
};

static struct section *section_at(const struct edc *d, uint32_t i)
{
	return &g_array_index(d->sections, struct section, i);
}

static void edge(struct edc *d, const struct section *from, uint32_t to)
{
	struct forced_edge e = { from->release, to, from->lock, STEP_CONFLICT_SECTION };
	for (guint i = d->edges->len; i-- > 0;) {
		const struct forced_edge *old = &g_array_index(d->edges, struct forced_edge, i);
		if (old->to != to)
			break;
		if (old->from == e.from)
			return;
	}
	g_array_append_val(d->edges, e);
}

/* -- unbounded: by lock and thing --------------------------------------------------------- */

static gpointer key_of(uint32_t lock, uint32_t thing)
{
	return (gpointer)((uintptr_t)lock << 32 | (uintptr_t)(thing + 1));
}

static void table_edges(struct edc *d, const struct section *s, uint32_t thing, uint32_t event)
{
	const GArray *list = g_hash_table_lookup(d->table, key_of(s->lock, thing));
	for (guint i = 0; list != NULL && i < list->len; i++) {
		const struct last *l = &g_array_index(list, struct last, i);
		if (l->thread == s->thread)
			continue;
		if (l->section != NONE)
			edge(d, section_at(d, l->section), event);
		if (!s->shared && l->shared != NONE)
			edge(d, section_at(d, l->shared), event);
	}
}

static void table_note(struct edc *d, uint32_t section, uint32_t thing)
{
	const struct section *s = section_at(d, section);
	GArray *list = g_hash_table_lookup(d->table, key_of(s->lock, thing));
	struct last *found = NULL;
	if (list == NULL) {
		list = g_array_new(FALSE, FALSE, sizeof(struct last));
		g_hash_table_insert(d->table, key_of(s->lock, thing), list);
	}
	for (guint i = 0; i < list->len && found == NULL; i++)
		if (g_array_index(list, struct last, i).thread == s->thread)
			found = &g_array_index(list, struct last, i);
	if (found == NULL) {
		struct last new = { s->thread, NONE, NONE };
		g_array_append_val(list, new);
		found = &g_array_index(list, struct last, list->len - 1);
	}
	*(s->shared ? &found->shared : &found->section) = section;
}

/* -- bounded: words for each thing -------------------------------------------------------- */

static void word_edges(struct edc *d, const struct section *s, uint32_t thing, uint32_t event)
{
	const struct word *words = d->words + (size_t)thing * WORDS;
	for (int i = 0; i < WORDS; i++) {
		if (!words[i].used || words[i].thread == s->thread)
			continue;
		const struct section *old = section_at(d, (uint32_t)words[i].section);
		if (old->lock == s->lock && old->release != NONE && !(old->shared && s->shared))
			edge(d, old, event);
	}
}

static void word_note(struct edc *d, uint32_t section, uint32_t thing)
{
	const struct section *s = section_at(d, section);
	struct word *words = d->words + (size_t)thing * WORDS, *into = NULL;
	for (int i = 0; i < WORDS && into == NULL; i++) {
		const struct section *old =
		        words[i].used ? section_at(d, (uint32_t)words[i].section) : NULL;
		if (old == NULL || (old->lock == s->lock && old->thread == s->thread))
			into = &words[i];
	}
	if (into == NULL)
		into = &words[d->next_word[thing]++ % WORDS];
	*into = (struct word){ .used = 1, .thread = s->thread, .section = section };
}

/* -- the pass ----------------------------------------------------------------------------- */

static void acquire(struct edc *d, uint32_t event, const struct event *x)
{
	struct section s = { .lock = x->target,
		             .thread = x->thread,
		             .shared = x->op == OP_RACQ,
		             .acquire = event,
		             .release = NONE };
	uint32_t number = d->sections->len;
	if (!d->touches->bounded)
		s.things = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_array_append_val(d->sections, s);
	g_array_append_val(d->open[x->thread], number);
}

static void release(struct edc *d, uint32_t event, const struct event *x)
{
	GArray *open = d->open[x->thread];
	guint i = open->len;
	while (i > 0 && section_at(d, g_array_index(open, uint32_t, i - 1))->lock != x->target)
		i--;
	if (i == 0)
		return;
	uint32_t number = g_array_index(open, uint32_t, i - 1);
	struct section *s = section_at(d, number);
	s->release = event;
	for (guint k = 0; s->things != NULL && k < s->things->len; k++)
		table_note(d, number, g_array_index(s->things, uint32_t, k));
	if (s->things != NULL)
		g_array_unref(s->things);
	s->things = NULL;
	g_array_remove_index(open, i - 1);
}

static bool touched_already(const struct section *s, uint32_t thing)
{
	/* The last few suffice: what is noted twice does no harm. */
	for (guint i = s->things->len, n = 0; i-- > 0 && n < 8; n++)
		if (g_array_index(s->things, uint32_t, i) == thing)
			return true;
	return false;
}

static void touch(struct edc *d, uint32_t event, const struct event *x, uint32_t thing)
{
	const GArray *open = d->open[x->thread];
	struct event_list clashing = event_list_at(&d->touches->clashing, thing);
	for (guint i = 0; i < open->len; i++) {
		uint32_t number = g_array_index(open, uint32_t, i);
		struct section *s = section_at(d, number);
		for (uint64_t k = 0; k < clashing.count; k++)
			(d->touches->bounded ? word_edges
			                     : table_edges)(d, s, clashing.items[k], event);
		if (d->touches->bounded)
			word_note(d, number, thing);
		else if (!touched_already(s, thing))
			g_array_append_val(s->things, thing);
	}
}

static void list_free(gpointer list)
{
	g_array_unref(list);
}

static void edc_release(struct edc *d)
{
	for (guint i = 0; i < d->sections->len; i++)
		if (section_at(d, i)->things != NULL)
			g_array_unref(section_at(d, i)->things);
	for (uint64_t i = 0; i < d->t->threads_count; i++)
		g_array_unref(d->open[i]);
	g_array_unref(d->sections);
	g_free(d->open);
	g_hash_table_destroy(d->table);
	g_free(d->words);
	g_free(d->next_word);
}

GArray *edc_edges(struct trace *t, const struct order_touches *touches,
                  const struct progress *progress)
{
	struct edc d = { .t = t, .touches = touches };
	bool whole = true;
	d.sections = g_array_new(FALSE, FALSE, sizeof(struct section));
	d.edges = g_array_new(FALSE, FALSE, sizeof(struct forced_edge));
	d.table = g_hash_table_new_full(NULL, NULL, NULL, list_free);
	d.open = g_new0(GArray *, t->threads_count + 1);
	for (uint64_t i = 0; i < t->threads_count; i++)
		d.open[i] = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	if (touches->bounded) {
		d.words = g_new0(struct word, touches->things * WORDS + 1);
		d.next_word = g_new0(uint8_t, touches->things + 1);
	}
	for (uint32_t e = 0; whole && e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		if ((e & 0xfffff) == 0)
			whole = progress_tick(progress, (double)e / t->events_count,
			                      "critical sections");
		struct event_list touched = event_list_at(&touches->touched, e);
		for (uint64_t i = 0; i < touched.count; i++)
			touch(&d, e, x, touched.items[i]);
		if (event_inert(x))
			continue;
		if (op_acquires(x->op))
			acquire(&d, e, x);
		else if (op_releases(x->op))
			release(&d, e, x);
	}
	edc_release(&d);
	if (whole)
		return d.edges;
	g_array_unref(d.edges);
	return NULL;
}
