/*
 * accesses.c - see accesses.h.
 */
#include "engine/base/hash.h"
#include "engine/predict/pairs/class_table.h"
#include "engine/predict/syncp/accesses.h"


void accesses_free(struct accesses *a)
{
	g_free(a->variables);
	g_free(a->start);
	g_free(a->items);
}

/* -- classes ------------------------------------------------------------------------------- */

/* Cache of recent answers on pairs of sets, direct-mapped. */
enum { RECENT = 1 << 10 };
struct class_work {
	struct locksets *locksets;
	uint32_t capacity; /* of the classes */
	uint64_t room;     /* allocated for number and members */
	const struct access **members;
	struct class_table table;
	uint64_t recent[RECENT]; /* both sets; lowest bit: disjoint */
};

void access_classes_init(struct access_classes *c, struct locksets *locksets)
{
	struct class_work *w = g_new0(struct class_work, 1);

	*c = (struct access_classes){ .work = w };
	w->locksets = locksets;
	class_table_init(&w->table);
}

void access_classes_release(struct access_classes *c)
{
	g_free(c->work->members);
	class_table_release(&c->work->table);
	g_free(c->work);
	g_free(c->number);
	g_free(c->of);
}

static void class_add(struct access_classes *c, struct class_key key)
{
	struct class_work *w = c->work;

	if (c->count == w->capacity) {
		w->capacity = MAX(64, 2 * w->capacity);
		c->of = g_renew(struct access_class, c->of, w->capacity);
	}
	c->of[c->count++] = (struct access_class){ .lockset = key.lockset,
		                                   .site = key.site,
		                                   .thread = key.thread,
		                                   .writes = key.writes,
		                                   .atomic = key.atomic };
}

static void begin_variable(struct access_classes *c, uint64_t accesses)
{
	struct class_work *w = c->work;

	c->count = 0;
	class_table_clear(&w->table);
	if (accesses > w->room) {
		w->room = 2 * accesses;
		g_free(c->number);
		g_free(w->members);
		c->number = g_new(uint32_t, w->room);
		w->members = g_new(const struct access *, w->room);
	}
}

void access_classes_of(struct access_classes *c, const struct accesses *all, uint32_t index,
                       bool by_site)
{
	const struct access *items = all->items + all->start[index];
	uint64_t count = all->start[index + 1] - all->start[index], sum = 0;

	begin_variable(c, count);
	for (uint64_t i = 0; i < count; i++) {
		struct class_key key = { by_site ? items[i].site : 0, items[i].lockset,
			                 items[i].thread, items[i].writes, items[i].atomic };

		c->number[i] = class_table_number(&c->work->table, key);
		if (c->number[i] == c->count)
			class_add(c, key);
		c->of[c->number[i]].count++;
	}
	for (uint32_t k = 0; k < c->count; k++) {
		c->of[k].members = c->work->members + sum;
		sum += c->of[k].count;
		c->of[k].count = 0;
	}
	for (uint64_t i = 0; i < count; i++) {
		struct access_class *class = &c->of[c->number[i]];

		class->members[class->count++] = &items[i];
	}
}

static bool apart(struct class_work *w, uint32_t a, uint32_t b)
{
	uint64_t key = (((uint64_t)a << 32 | b) + 1) << 1;
	uint64_t *recent = &w->recent[hash_word(key) >> 54];

	if ((*recent & ~(uint64_t)1) != key)
		*recent = key | (lockset_common(w->locksets, a, b) == NONE);
	return *recent & 1;
}

bool access_classes_may_race(struct access_classes *c, const struct access_class *a,
                             const struct access_class *b)
{
	return a->thread != b->thread && (a->writes || b->writes) &&
	       !(a->atomic && b->atomic) && apart(c->work, a->lockset, b->lockset);
}
