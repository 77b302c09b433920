/*
 * linear_shrink.c - smaller histories: the invocations of one key, and those without which a
 * history that is not linearizable would be.
 */
#include "engine/commute/linear/linear.h"

#include <string.h>

/* -- the history that is needed ------------------------------------------------------------ */

struct linear_history linear_part_of(const struct linear_history *h, const GArray *kept)
{
	struct linear_call *calls = g_new(struct linear_call, kept->len + 1);
	for (guint i = 0; i < kept->len; i++) {
		struct linear_kept k = g_array_index(kept, struct linear_kept, i);
		calls[i] = h->calls[k.of];
		if (k.open)
			calls[i].ret = NONE;
	}
	return (struct linear_history){ h->o, h->texts, calls, kept->len };
}

/* Does it fail at that return, and at none before? */
static bool fails_at(const struct linear_history *h, uint32_t ret, uint64_t *left)
{
	uint64_t used = 0;
	struct linear_result r = linear_check(h, *left, &used);
	bool fails = r.answer == LINEAR_NO && h->calls[r.failed].ret == ret;
	linear_result_release(&r);
	*left -= MIN(used, *left);
	return fails;
}

static uint32_t free_thread(const struct linear_history *h)
{
	uint64_t used = 0;
	for (uint32_t i = 0; i < h->count; i++)
		used |= UINT64_C(1) << h->calls[i].thread;
	return ~used == 0 ? NONE : (uint32_t)__builtin_ctzll(~used);
}

/* Does the history fail without the invocations from `at`, and also if one alone might take
 * effect at any time, with any result? */
static bool can_go(const struct linear_history *h, const GArray *kept, uint32_t ret, guint at,
                   guint count, uint64_t *left)
{
	GArray *rest = g_array_copy((GArray *)kept);
	g_array_remove_range(rest, at, count);
	struct linear_history part = linear_part_of(h, rest);
	struct linear_call *calls = (struct linear_call *)part.calls;
	uint32_t thread = free_thread(&part);
	bool fails = fails_at(&part, ret, left);
	part.count = rest->len + 1;
	for (guint i = at; i < at + count && fails && thread != NONE; i++) {
		calls[rest->len] = h->calls[g_array_index(kept, struct linear_kept, i).of];
		calls[rest->len].call = 0;
		calls[rest->len].ret = NONE;
		calls[rest->len].thread = thread;
		fails = fails_at(&part, ret, left);
	}
	g_free(calls);
	g_array_unref(rest);
	return fails;
}

/* Leaves out blocks of invocations, of half the size each time. */
static void leave_out(const struct linear_history *h, GArray *kept, uint32_t failed,
                      uint64_t *left)
{
	guint size = 1;
	while (size * 2 < kept->len)
		size *= 2;
	for (; size > 0; size /= 2)
		for (guint at = 0; at + size <= kept->len && *left > 0;) {
			bool needed = false;
			for (guint i = at; i < at + size; i++)
				needed |=
				        g_array_index(kept, struct linear_kept, i).of == failed;
			if (!needed && can_go(h, kept, h->calls[failed].ret, at, size, left))
				g_array_remove_range(kept, at, size);
			else
				at += size;
		}
}

GArray *linear_shrink(const struct linear_history *h, const struct linear_result *r,
                      uint64_t most)
{
	GArray *kept = g_array_new(FALSE, FALSE, sizeof(struct linear_kept));
	uint32_t ret = h->calls[r->failed].ret;
	for (uint32_t i = 0; i < h->count; i++) {
		struct linear_kept k = { i, h->calls[i].ret == NONE };
		if (h->calls[i].call <= ret)
			g_array_append_val(kept, k);
	}
	leave_out(h, kept, r->failed, &most);
	for (guint i = 0; i < kept->len; i++) {
		struct linear_kept *k = &g_array_index(kept, struct linear_kept, i);
		if (k->open || h->calls[k->of].ret <= ret)
			continue;
		k->open = true;
		struct linear_history part = linear_part_of(h, kept);
		k->open = fails_at(&part, ret, &most);
		g_free((void *)part.calls);
	}
	return kept;
}

/* -- keys ---------------------------------------------------------------------------------- */

struct keys {
	const struct spec_object *o;
	const bool *used;
	bool *matters; /* by state: results depend on it */
	bool changed;
	uint32_t key; /* of the present method; NONE: none found yet */
	bool single;
};

static void mark_states(struct keys *k, const struct expr *e)
{
	if (e == NULL)
		return;
	if (e->op == X_STATE || e->op == X_LOOKUP || e->op == X_IN || e->op == X_SAME) {
		k->changed |= !k->matters[e->index];
		k->matters[e->index] = true;
	}
	mark_states(k, e->a);
	mark_states(k, e->b);
}

static void note_key(struct keys *k, const struct expr *e, const struct spec_method *m)
{
	if (e->op != X_NAME || e->index >= m->arguments ||
	    (k->key != NONE && k->key != e->index))
		k->single = false;
	else
		k->key = e->index;
}

static void look_for_keys(struct keys *k, const struct expr *e, const struct spec_method *m)
{
	if (e == NULL)
		return;
	if (e->op == X_STATE || e->op == X_SAME)
		k->single = false;
	if (e->op == X_LOOKUP || e->op == X_IN)
		note_key(k, e->a, m);
	look_for_keys(k, e->a, m);
	look_for_keys(k, e->b, m);
}

static bool counts(const struct keys *k, const struct statement *s)
{
	return s->kind == STATEMENT_HOLDS || k->matters[s->state];
}

static void find_states(struct keys *k)
{
	do {
		k->changed = false;
		for (guint i = 0; i < k->o->methods->len; i++) {
			const GArray *effect = spec_method_at(k->o, i)->effect;
			for (guint j = 0; k->used[i] && effect && j < effect->len; j++) {
				const struct statement *s =
				        &g_array_index(effect, struct statement, j);
				if (!counts(k, s))
					continue;
				mark_states(k, s->key);
				mark_states(k, s->e);
			}
		}
	} while (k->changed);
}

static uint32_t key_of(struct keys *k, const struct spec_method *m)
{
	k->key = NONE;
	for (guint j = 0; m->effect && j < m->effect->len; j++) {
		const struct statement *s = &g_array_index(m->effect, struct statement, j);
		if (!counts(k, s))
			continue;
		look_for_keys(k, s->e, m);
		look_for_keys(k, s->key, m);
		if (s->kind == STATEMENT_STORE)
			note_key(k, s->key, m);
		else if (s->kind == STATEMENT_INSERT || s->kind == STATEMENT_REMOVE)
			note_key(k, s->e, m);
		else if (s->kind != STATEMENT_HOLDS)
			k->single = false;
	}
	return k->key;
}

bool linear_has_keys(const struct spec_object *o, const bool *used, uint32_t *keys)
{
	struct keys k = { .o = o,
		          .used = used,
		          .matters = g_new0(bool, o->states->len + 1),
		          .single = true };
	find_states(&k);
	for (guint i = 0; i < o->methods->len; i++)
		keys[i] = used[i] ? key_of(&k, spec_method_at(o, i)) : NONE;
	g_free(k.matters);
	return k.single;
}
