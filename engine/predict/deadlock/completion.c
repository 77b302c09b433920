/*
 * completion.c - see completion.h: a depth-first search reduced by persistent sets, which keep
 * every state without a successor, so this one, too.
 */
#include "engine/predict/deadlock/completion.h"

#include <string.h>

enum { WORK_OF_STATE = 1000 };

struct way {
	uint32_t thread, woken;
};

struct fork_in_way {
	uint32_t mark;
	guint first, next; /* ways */
	uint32_t began;    /* the first event on the way here, or NONE */
};

struct completing {
	struct run_state *s;
	struct persistent *reduction;
	GArray *ways;  /* struct way */
	GArray *forks; /* struct fork_in_way */
	GHashTable *seen;
	uint32_t *threads, began;
	uint64_t left, most_work;
	completion_wanted *wanted;
	void *context;
};

static bool is_complete(const struct completing *c)
{
	for (uint32_t u = 0; u < c->s->threads; u++) {
		if (run_state_event(c->s, u) != NONE)
			return false;
	}
	return c->wanted == NULL || c->wanted(c->context, c->s);
}

static guint key_hash(gconstpointer p)
{
	return (guint) * (const uint64_t *)p;
}

static gboolean key_equal(gconstpointer a, gconstpointer b)
{
	return memcmp(a, b, 2 * sizeof(uint64_t)) == 0;
}

static void add_ways(struct completing *c, uint32_t thread)
{
	uint32_t e = run_state_event(c->s, thread);
	struct way w = { thread, NONE };
	guint before = c->ways->len;

	for (uint32_t u = 0; c->s->t->events[e].op == OP_SIGNAL && u < c->s->threads; u++) {
		if (!run_state_may_wake(c->s, e, u))
			continue;
		w.woken = u;
		g_array_append_val(c->ways, w);
	}
	if (c->ways->len == before)
		g_array_append_val(c->ways, w);
}

static void take_way(struct completing *c, struct way w)
{
	if (c->began == NONE)
		c->began = run_state_event(c->s, w.thread);
	run_state_step(c->s, w.thread, w.woken);
}

/* Go on while exactly one step is possible; true at the end of all threads. */
static bool go_on(struct completing *c)
{
	uint64_t cost = 0;

	for (;;) {
		guint first = c->ways->len;
		uint32_t count = persistent_set(c->reduction, c->threads, &cost);

		if (persistent_work(c->reduction) > c->most_work) {
			c->left = 0;
			return false;
		}
		for (uint32_t i = 0; i < count; i++)
			add_ways(c, c->threads[i]);
		if (c->ways->len == first)
			return is_complete(c);
		if (c->ways->len == first + 1) {
			struct way only = g_array_index(c->ways, struct way, first);

			g_array_set_size(c->ways, first);
			take_way(c, only);
			continue;
		}
		if (c->left == 0 || g_hash_table_contains(c->seen, c->s->key)) {
			g_array_set_size(c->ways, first);
			return false;
		}
		c->left--;
		g_hash_table_add(c->seen, g_memdup2(c->s->key, sizeof(c->s->key)));
		struct fork_in_way f = { run_state_mark(c->s), first, first, c->began };
		g_array_append_val(c->forks, f);
		return false;
	}
}

enum completion run_state_completes(struct run_state *s, struct persistent *reduction,
                                    uint64_t most, completion_wanted *wanted, void *context,
                                    uint32_t *next)
{
	struct completing c = { .s = s,
		                .reduction = reduction,
		                .ways = g_array_new(FALSE, FALSE, sizeof(struct way)),
		                .forks = g_array_new(FALSE, FALSE, sizeof(struct fork_in_way)),
		                .seen = g_hash_table_new_full(key_hash, key_equal, g_free,
		                                              NULL),
		                .threads = g_new(uint32_t, s->threads + 1),
		                .began = NONE,
		                .left = most,
		                .most_work = persistent_work(reduction) + most * WORK_OF_STATE,
		                .wanted = wanted,
		                .context = context };
	uint32_t mark = run_state_mark(s);
	bool found = go_on(&c);

	while (!found && c.forks->len > 0) {
		struct fork_in_way *f =
		        &g_array_index(c.forks, struct fork_in_way, c.forks->len - 1);

		run_state_undo(s, f->mark);
		c.began = f->began;
		if (f->next == c.ways->len) {
			g_array_set_size(c.ways, f->first);
			g_array_set_size(c.forks, c.forks->len - 1);
			continue;
		}
		struct way w = g_array_index(c.ways, struct way, f->next++);
		take_way(&c, w);
		found = go_on(&c);
	}
	run_state_undo(s, mark);
	if (next != NULL)
		*next = c.began;
	g_free(c.threads);
	g_hash_table_destroy(c.seen);
	g_array_free(c.forks, TRUE);
	g_array_free(c.ways, TRUE);
	return found ? COMPLETION_FOUND : c.left == 0 ? COMPLETION_UNKNOWN : COMPLETION_NONE;
}
