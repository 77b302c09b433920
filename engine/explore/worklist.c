/*
 * worklist.c - see worklist.h.
 */
#include "engine/explore/worklist.h"
#include "engine/base/hash.h"
#include "engine/base/numbers.h"
#include "engine/base/random.h"

struct worklist {
	GPtrArray *pending;      /* struct pending *, */
	GPtrArray *idle;         /* and those of REVERSAL_IDLE */
	struct numbers *entered; /* keys */
	uint64_t random;         /* state of xorshift64; not 0 */
};

static void free_pending(void *data)
{
	pending_free(data);
}

void pending_free(struct pending *p)
{
	if (p == NULL)
		return;
	plan_release(&p->plan);
	g_free(p->parts);
	g_free(p->key);
	g_free(p->reversal);
	g_free(p->thread);
	g_free(p->place);
	g_free(p->variable);
	g_free(p);
}

struct worklist *worklist_new(uint64_t seed)
{
	struct worklist *w = g_new0(struct worklist, 1);
	w->pending = g_ptr_array_new_with_free_func(free_pending);
	w->idle = g_ptr_array_new_with_free_func(free_pending);
	w->entered = numbers_new();
	w->random = hash_word(seed + 1);
	if (w->random == 0)
		w->random = 1;
	return w;
}

void worklist_free(struct worklist *w)
{
	if (w == NULL)
		return;
	g_ptr_array_unref(w->pending);
	g_ptr_array_unref(w->idle);
	numbers_free(w->entered);
	g_free(w);
}

void worklist_clear(struct worklist *w)
{
	g_ptr_array_set_size(w->pending, 0);
	g_ptr_array_set_size(w->idle, 0);
	numbers_clear(w->entered);
}

uint32_t worklist_length(const struct worklist *w)
{
	return w->pending->len + w->idle->len;
}

uint32_t worklist_ready(const struct worklist *w)
{
	return w->pending->len;
}

uint64_t worklist_key(const struct thread_prefix *parts, uint32_t count,
                      enum reversal_kind kind)
{
	bool next = kind == REVERSAL_CALL || kind == REVERSAL_WOKEN || kind == REVERSAL_GOES_ON;
	uint64_t key = next ? parts[0].alike * 31 + 2 : 1; /* the next step's thread */
	/* a run that ends in a state is not one that only comes to it */
	if (kind == REVERSAL_STUCK || kind == REVERSAL_IDLE)
		key = kind == REVERSAL_STUCK ? 3 : 4;
	for (uint32_t i = 0; i < count; i++)
		key += history_summand(parts[i].alike);
	return key;
}

bool worklist_enter(struct worklist *w, uint64_t key)
{
	return numbers_add(w->entered, key);
}

void worklist_add(struct worklist *w, struct pending *p)
{
	g_ptr_array_add(p->kind == REVERSAL_IDLE ? w->idle : w->pending, p);
}

GPtrArray *worklist_steal(struct worklist *w)
{
	GPtrArray *all = w->pending;
	w->pending = g_ptr_array_new_with_free_func(free_pending);
	g_ptr_array_extend_and_steal(all, w->idle);
	w->idle = g_ptr_array_new_with_free_func(free_pending);
	return all;
}

uint64_t pending_key(const struct pending *p)
{
	if (p->key != NULL)
		return hash_word(g_str_hash(p->key));
	return p->parts != NULL ? worklist_key(p->parts, p->parts_count, p->kind) : 0;
}

void worklist_adopt_keys(struct worklist *w, const struct worklist *other)
{
	numbers_adopt(w->entered, other->entered);
}

uint32_t worklist_entered(const struct worklist *w)
{
	return numbers_count(w->entered);
}

void worklist_count(const struct worklist *w, uint32_t *counts)
{
	for (guint i = 0; i < w->pending->len; i++) {
		const struct pending *p = w->pending->pdata[i];
		if (p->parent != NONE)
			counts[p->parent]++;
	}
}

uint64_t worklist_random(struct worklist *w)
{
	return random_next(&w->random);
}

struct pending *worklist_take(struct worklist *w, bool by_chance)
{
	GPtrArray *from = w->pending->len > 0 ? w->pending : w->idle;
	if (from->len == 0)
		return NULL;
	guint last = from->len - 1;
	guint at = by_chance ? (guint)(worklist_random(w) % from->len) : last;
	struct pending *taken = from->pdata[at];
	from->pdata[at] = from->pdata[last];
	from->pdata[last] = NULL;
	g_ptr_array_set_size(from, (gint)last);
	return taken;
}

/* -- checkpoints --------------------------------------------------------------------------- */

static void archive_parts(struct pending *p, struct archive *a)
{
	size_t count = archive_count(a, p->parts_count, 4);
	if (archive_reads(a) && count > 0)
		p->parts = g_new0(struct thread_prefix, count);
	p->parts_count = (uint32_t)count;
	for (size_t i = 0; i < count; i++) {
		ARCHIVE(a, p->parts[i].who);
		ARCHIVE(a, p->parts[i].prefix);
		ARCHIVE(a, p->parts[i].steps);
		ARCHIVE(a, p->parts[i].alike);
	}
	ARCHIVE(a, p->before);
}

void pending_archive(struct pending *p, const struct pending_limits *limits, struct archive *a)
{
	plan_archive(&p->plan, a);
	archive_parts(p, a);
	p->parent = archive_index(a, p->parent, limits->runs);
	p->known_as = archive_index(a, p->known_as, limits->histories);
	p->kind = (enum reversal_kind)archive_below(a, p->kind, REVERSAL_KINDS);
	archive_text(a, &p->reversal);
	archive_text(a, &p->thread);
	archive_text(a, &p->place);
	archive_text(a, &p->variable);
	archive_text(a, &p->key);
	ARCHIVE(a, p->library);
	ARCHIVE(a, p->after_use);
	ARCHIVE(a, p->by_chance);
	if ((p->kind == REVERSAL_USE || p->kind == REVERSAL_RACE ||
	     p->kind == REVERSAL_EARLY) != (p->key != NULL))
		archive_fail(a);
}

void worklist_archive(struct worklist *w, uint32_t from, const struct pending_limits *limits,
                      struct archive *a)
{
	numbers_archive(w->entered, from, a);
	size_t waiting = archive_count(a, worklist_length(w), 1);
	for (size_t i = 0; i < waiting; i++) {
		bool late = i >= w->pending->len;
		struct pending *p = archive_reads(a) ? g_new0(struct pending, 1)
		                    : late           ? w->idle->pdata[i - w->pending->len]
		                                     : w->pending->pdata[i];
		pending_archive(p, limits, a);
		if (archive_reads(a))
			worklist_add(w, p);
	}
	ARCHIVE(a, w->random);
	if (w->random == 0)
		w->random = 1;
}
