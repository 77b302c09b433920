/* pasts.c - see pasts.h. */
#include "engine/explore/awaits/pasts.h"

#include "engine/base/numbers.h"
#include "engine/explore/runs/history_private.h"

#include <string.h>

enum { MOST_LOOKS = 12 }; /* since the last change; longer sequences are not compared */

struct look {
	uint64_t place; /* the memory, as a number equal in all runs; for a plain read
	                 * including the code */
	uint64_t seen;
	uint64_t prefix; /* number of the thread's history with it */
	bool needed;     /* may not be left out */
};

/* A past for which no shorter one was seen. */
struct past {
	uint64_t last;   /* its number after the last look */
	uint64_t prefix; /* before the access with the state */
	uint32_t count;
	struct look looks[];
};

struct pasts {
	GHashTable *by_state;   /* the number up to the last change, and the state -> GPtrArray
	                         * of struct past */
	struct numbers *longer; /* numbers of longer pasts, after the last look */
	struct numbers *before; /* and after each of their looks */
	struct addresses *addresses;
};

static void free_list(gpointer list)
{
	g_ptr_array_unref(list);
}

struct pasts *pasts_new(void)
{
	struct pasts *p = g_new(struct pasts, 1);
	p->by_state = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, free_list);
	p->longer = numbers_new();
	p->before = numbers_new();
	p->addresses = addresses_new();
	return p;
}

void pasts_free(struct pasts *p)
{
	g_hash_table_unref(p->by_state);
	numbers_free(p->longer);
	numbers_free(p->before);
	addresses_free(p->addresses);
	g_free(p);
}

/* -- two pasts ----------------------------------------------------------------------------- */

static bool are_equal(const struct look *a, const struct look *b)
{
	return a->place == b->place && a->seen == b->seen;
}

/* Is `a` obtained from `b` by replacing a later look of `b` with a's last look, which `b`
 * makes too, and leaving out all others of `b` from there on? */
static bool is_shorter(const struct past *a, const struct past *b)
{
	uint32_t last = a->count - 1, same = 0, later = NONE;
	if (a->count == 0 || a->count >= b->count)
		return false;
	while (same < last && are_equal(&a->looks[same], &b->looks[same]))
		same++;
	for (uint32_t i = last + 1; i < b->count && later == NONE; i++)
		later = are_equal(&a->looks[last], &b->looks[i]) ? i : NONE;
	if (same < last || later == NONE)
		return false;
	for (uint32_t i = last; i < b->count; i++)
		if (i != later && b->looks[i].needed)
			return false;
	return true;
}

static void add_longer(struct pasts *p, const struct past *longer)
{
	numbers_add(p->longer, longer->last);
	for (uint32_t i = 0; i < longer->count; i++)
		numbers_add(p->before, longer->looks[i].prefix);
}

/* Takes ownership. */
static void note(struct pasts *p, uint64_t key, struct past *own)
{
	GPtrArray *list = g_hash_table_lookup(p->by_state, &key);
	bool stays = true;
	for (guint i = 0; list != NULL && stays && i < list->len; i++) {
		const struct past *other = list->pdata[i];
		bool longer = is_shorter(other, own);
		stays = !longer && other->prefix != own->prefix;
		if (longer) {
			add_longer(p, own);
		} else if (stays && is_shorter(own, other)) {
			add_longer(p, other);
			g_ptr_array_remove_index_fast(list, i--);
		}
	}
	if (!stays) {
		g_free(own);
		return;
	}
	if (list == NULL) {
		list = g_ptr_array_new_with_free_func(g_free);
		g_hash_table_insert(p->by_state, g_memdup2(&key, sizeof key), list);
	}
	g_ptr_array_add(list, own);
}

/* -- of one run ---------------------------------------------------------------------------- */

/* The looks of a thread since it last changed memory. */
struct walk {
	uint64_t base; /* its number then */
	uint64_t last; /* after the last look */
	uint32_t count;
	bool too_many;
	struct look looks[MOST_LOOKS];
};

static void begin_at(struct walk *w, uint64_t prefix)
{
	w->base = w->last = prefix;
	w->count = 0;
	w->too_many = false;
}

static struct look look_of(const struct history *h, uint32_t event, uint64_t prefix)
{
	const struct trace *t = h->trace;
	const struct event *x = &t->events[event];
	struct wide run = event_variables(t, x);
	uint64_t address = t->variables[run.first].address, size = 0;
	uint64_t place = history_mix(4, address), seen = history_seen(h, event);
	bool atomic = op_is_atomic(x->op);
	history_pointer(h, address, event, NONE, &place);
	for (uint32_t i = 0; i < run.count; i++)
		size += t->variables[run.first + i].size;
	place = history_mix(place, size);
	if (!atomic) {
		const struct location *l = &t->locations[x->location];
		place = history_mix(history_mix(place, l->module), l->address);
	}
	return (struct look){ place, seen, prefix, !atomic || seen == SEEN_AFTER_END };
}

static void look(struct walk *w, const struct history *h, uint32_t event, uint64_t prefix)
{
	w->last = prefix;
	w->too_many |= w->count == MOST_LOOKS;
	if (!w->too_many)
		w->looks[w->count++] = look_of(h, event, prefix);
}

static void note_state(struct pasts *p, const struct walk *w, uint64_t prefix, uint64_t state)
{
	struct past *own;
	/* without looks it is neither shorter nor longer than another */
	if (w->too_many || state == 0 || w->count == 0)
		return;
	own = g_malloc(sizeof *own + w->count * sizeof *own->looks);
	*own = (struct past){ .last = w->last, .prefix = prefix, .count = w->count };
	memcpy(own->looks, w->looks, w->count * sizeof *own->looks);
	note(p, history_mix(w->base, state), own);
}

static void learn_thread(struct pasts *p, const struct await_rounds *rounds,
                         const struct history *h, const struct scopes *scopes, uint32_t thread,
                         uint32_t end)
{
	const struct thread_history *th = &h->threads[thread];
	struct walk w;
	begin_at(&w, th->who);
	for (guint i = 0; i < th->events->len; i++) {
		uint32_t e = g_array_index(th->events, uint32_t, i);
		uint64_t before = g_array_index(th->prefixes, uint64_t, i);
		uint64_t after = g_array_index(th->prefixes, uint64_t, i + 1);
		if (e >= end)
			break;
		if (op_is_access(h->trace->events[e].op))
			note_state(p, &w, before, rounds->states[e]);
		if ((scopes != NULL && scopes->of[e] != NONE) ||
		    !await_rounds_unchanging(rounds, h->trace, e))
			begin_at(&w, after);
		else if (await_rounds_looks(rounds, h->trace, e))
			look(&w, h, e, after);
	}
}

void pasts_learn(struct pasts *p, const struct await_rounds *rounds, const struct history *h,
                 const struct scopes *scopes)
{
	uint32_t end = addresses_differ(p->addresses, h);
	for (uint32_t u = 0; u < h->threads_count; u++)
		learn_thread(p, rounds, h, scopes, u, end);
}

/* -- known pasts --------------------------------------------------------------------------- */

bool pasts_is_longer(const struct pasts *p, uint64_t prefix)
{
	return numbers_have(p->longer, prefix);
}

bool pasts_lead_to_longer(const struct pasts *p, uint64_t prefix)
{
	return numbers_have(p->before, prefix);
}

bool pasts_have_longer(const struct pasts *p, const struct thread_prefix *parts, uint32_t count)
{
	uint32_t i = 0;
	while (i < count && !pasts_is_longer(p, parts[i].prefix))
		i++;
	return i < count;
}

bool pasts_longer_in(const struct pasts *p, const struct history *h)
{
	for (uint32_t u = 0; u < h->threads_count; u++)
		for (guint i = 0; i < h->threads[u].prefixes->len; i++)
			if (pasts_is_longer(p,
			                    g_array_index(h->threads[u].prefixes, uint64_t, i)))
				return true;
	return false;
}

bool *pasts_runs(const struct pasts *p, const struct histories *all)
{
	bool *runs = g_new0(bool, histories_count(all) + 1);
	for (uint32_t i = 0; i < numbers_count(p->longer); i++)
		histories_mark(all, numbers_at(p->longer, i), runs);
	return runs;
}

struct pasts_size pasts_size(const struct pasts *p)
{
	return (struct pasts_size){ numbers_count(p->longer), numbers_count(p->before) };
}

/* -- checkpoints --------------------------------------------------------------------------- */

void pasts_archive(struct pasts *p, struct pasts_size from, struct archive *archive)
{
	numbers_archive(p->longer, from.longer, archive);
	numbers_archive(p->before, from.before, archive);
}

void pasts_adopt(struct pasts *p, const struct pasts *other)
{
	numbers_adopt(p->longer, other->longer);
	numbers_adopt(p->before, other->before);
}
