/*
 * accesses.c - see accesses.h.
 */
#include "engine/predict/accesses.h"
#include "engine/base/hash.h"

#include <string.h>

void accesses_free(struct accesses *a)
{
	g_free(a->variables);
	g_free(a->start);
	g_free(a->items);
}

/* -- classes --------------------------------------------------------------------------- */

/* Answers about two sets that were given last; where two share a place, the later one has
 * it. */
enum { RECENT = 1 << 10, FIRST_SLOTS = 64 };
struct class_work {
	struct locksets *locksets;
	uint32_t capacity; /* of the classes */
	uint64_t room;     /* of number and members */
	const struct access **members;
	/* Where a class is in `of`, open-addressed; `round` above the index, so that what
	 * other variables left is no entry. */
	uint64_t *slots;
	uint32_t slots_count; /* a power of two */
	uint32_t round;
	uint64_t recent[RECENT]; /* two sets, one more; the lowest bit: nothing in common */
};

void access_classes_init(struct access_classes *c, struct locksets *locksets)
{
	struct class_work *w = g_new0(struct class_work, 1);

	*c = (struct access_classes){ .work = w };
	w->locksets = locksets;
	w->slots_count = FIRST_SLOTS;
	w->slots = g_new0(uint64_t, w->slots_count);
}

void access_classes_release(struct access_classes *c)
{
	g_free(c->work->members);
	g_free(c->work->slots);
	g_free(c->work);
	g_free(c->number);
	g_free(c->of);
}

static uint64_t class_hash(uint32_t lockset, uint32_t site, uint32_t kind)
{
	uint64_t key = (uint64_t)site << 32 | lockset;

	key ^= kind * 0xff51afd7ed558ccdu;
	return hash_word(key) >> 32;
}

static uint32_t kind_of(uint32_t thread, bool writes, bool atomic)
{
	return thread << 2 | writes << 1 | atomic;
}

/* The slot of an access's class, or the one that a new class would have. */
static inline uint64_t *slot_of(const struct access_classes *c, const struct access *x,
                                uint32_t site)
{
	const struct class_work *w = c->work;
	uint32_t kind = kind_of(x->thread, x->writes, x->atomic);
	uint32_t at = class_hash(x->lockset, site, kind) & (w->slots_count - 1);

	for (; w->slots[at] >> 32 == w->round; at = (at + 1) & (w->slots_count - 1)) {
		const struct access_class *a = &c->of[(uint32_t)w->slots[at]];

		if (a->lockset == x->lockset && a->site == site &&
		    kind_of(a->thread, a->writes, a->atomic) == kind)
			break;
	}
	return &w->slots[at];
}

static void slots_grow(struct access_classes *c)
{
	struct class_work *w = c->work;

	w->slots_count *= 2;
	g_free(w->slots);
	w->slots = g_new0(uint64_t, w->slots_count);
	for (uint32_t i = 0; i < c->count; i++) {
		const struct access_class *a = &c->of[i];
		struct access x = { .lockset = a->lockset,
			            .thread = a->thread,
			            .writes = a->writes,
			            .atomic = a->atomic };

		*slot_of(c, &x, a->site) = (uint64_t)w->round << 32 | i;
	}
}

static uint32_t class_new(struct access_classes *c, const struct access *x, uint32_t site,
                          uint64_t *slot)
{
	struct class_work *w = c->work;

	if (c->count == w->capacity) {
		w->capacity = MAX(64, 2 * w->capacity);
		c->of = g_renew(struct access_class, c->of, w->capacity);
	}
	c->of[c->count] = (struct access_class){ .lockset = x->lockset,
		                                 .site = site,
		                                 .thread = x->thread,
		                                 .writes = x->writes,
		                                 .atomic = x->atomic };
	*slot = (uint64_t)w->round << 32 | c->count++;
	if (2 * c->count > w->slots_count)
		slots_grow(c);
	return c->count - 1;
}

static void begin_variable(struct access_classes *c, uint64_t accesses)
{
	struct class_work *w = c->work;

	c->count = 0;
	if (++w->round == 0) {
		memset(w->slots, 0, w->slots_count * sizeof(uint64_t));
		w->round = 1;
	}
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
		uint32_t site = by_site ? items[i].site : 0;
		uint64_t *slot = slot_of(c, &items[i], site);

		c->number[i] = *slot >> 32 == c->work->round
		                       ? (uint32_t)*slot
		                       : class_new(c, &items[i], site, slot);
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
