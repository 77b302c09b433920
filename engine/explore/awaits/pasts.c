/* pasts.c - see pasts.h. */
#include "engine/explore/awaits/pasts.h"

#include "engine/base/numbers.h"
#include "engine/explore/runs/final.h"
#include "engine/explore/runs/history_private.h"

#include <string.h>

enum { MOST_LOOKS = 12 }; /* since the last change; longer sequences are not compared */

struct look {
	uint64_t place; /* the memory, as a number equal in all runs; for a plain read
	                 * including the code */
	uint64_t seen;
	uint64_t prefix;     /* number of the thread's history with it */
	bool needed;         /* may not be left out */
	bool sum;            /* an addition, of this number: */
	uint64_t adds, mask; /* modulo mask + 1 */
};

/* A past for which no shorter one was seen. */
struct past {
	uint64_t key;    /* the number up to the last change, and the state */
	uint64_t last;   /* its number after the last look */
	uint64_t prefix; /* before the access with the state */
	uint32_t count;
	struct look looks[];
};

/* A detour of the past with this number. */
struct made {
	uint64_t past;
	struct detour detour;
};

/* In this run no other thread looks at the detour with this number, known or not. */
struct unseen {
	uint64_t number;
	uint32_t run;
};

/* Lists are in the order in which their elements were learned; the tables are made of them. */
struct pasts {
	GPtrArray *all;         /* struct past, owned, or NULL: a shorter one was found since */
	GHashTable *by_state;   /* key -> GArray of uint32_t, of `all` */
	struct numbers *longer; /* numbers of longer pasts, after the last look */
	struct numbers *before; /* and after each of their looks */
	GArray *made;           /* struct made */
	GHashTable *detours;    /* number of a past -> GArray of struct detour */
	GHashTable *detours_from; /* the same by the first addition's number */
	GArray *unseen;           /* struct unseen */
	GHashTable *alone;        /* number of a detour -> GArray of uint32_t: runs */
	struct addresses *addresses;
};

static void free_list(gpointer list)
{
	g_array_unref(list);
}

static GHashTable *table_of_lists(void)
{
	return g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, free_list);
}

/* The list at the key; made where there is none. */
static GArray *list_at(GHashTable *table, uint64_t key, guint element)
{
	GArray *list = g_hash_table_lookup(table, &key);
	if (list == NULL) {
		list = g_array_new(FALSE, FALSE, element);
		g_hash_table_insert(table, g_memdup2(&key, sizeof key), list);
	}
	return list;
}

struct pasts *pasts_new(void)
{
	struct pasts *p = g_new(struct pasts, 1);
	p->all = g_ptr_array_new_with_free_func(g_free);
	p->by_state = table_of_lists();
	p->longer = numbers_new();
	p->before = numbers_new();
	p->made = g_array_new(FALSE, FALSE, sizeof(struct made));
	p->detours = table_of_lists();
	p->detours_from = table_of_lists();
	p->unseen = g_array_new(FALSE, FALSE, sizeof(struct unseen));
	p->alone = table_of_lists();
	p->addresses = addresses_new();
	return p;
}

void pasts_free(struct pasts *p)
{
	g_ptr_array_unref(p->all);
	g_hash_table_unref(p->by_state);
	g_array_unref(p->made);
	g_hash_table_unref(p->detours);
	g_hash_table_unref(p->detours_from);
	g_array_unref(p->unseen);
	g_hash_table_unref(p->alone);
	numbers_free(p->longer);
	numbers_free(p->before);
	addresses_free(p->addresses);
	g_free(p);
}

/* -- two pasts ----------------------------------------------------------------------------- */

static bool are_equal(const struct look *a, const struct look *b)
{
	return a->place == b->place && a->seen == b->seen && a->sum == b->sum &&
	       a->adds == b->adds;
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
		if (i != later && (b->looks[i].needed || b->looks[i].sum))
			return false;
	return true;
}

/* Do the additions to the place of look `at` have the sum 0? */
static bool add_up_to_nothing(const struct past *p, uint32_t from, uint32_t to, uint32_t at)
{
	uint64_t sum = 0;
	for (uint32_t i = from; i < to; i++)
		sum += p->looks[i].place == p->looks[at].place ? p->looks[i].adds : 0;
	return (sum & p->looks[at].mask) == 0;
}

/* Is `b` a detour, of which `a` leaves out some looks and additions that come together? */
static bool is_detour(const struct past *a, const struct past *b, struct detour *d)
{
	uint32_t same = 0, left = b->count - a->count;
	bool sums = false;
	if (a->count == 0 || a->count >= b->count)
		return false;
	while (same < a->count && are_equal(&a->looks[same], &b->looks[same]))
		same++;
	for (uint32_t i = same; i < a->count; i++)
		if (!are_equal(&a->looks[i], &b->looks[i + left]))
			return false;
	for (uint32_t i = same; i < same + left; i++) {
		const struct look *l = &b->looks[i];
		if (l->needed || (l->sum && !add_up_to_nothing(b, same, same + left, i)))
			return false;
		if (l->sum && !sums)
			d->first = l->prefix;
		if (l->sum)
			d->last = l->prefix;
		sums |= l->sum;
	}
	return sums;
}

/* False when it was there. */
static bool enter_detour(GHashTable *table, uint64_t key, const struct detour *d)
{
	GArray *list = list_at(table, key, sizeof(struct detour));
	for (guint i = 0; i < list->len; i++)
		if (g_array_index(list, struct detour, i).first == d->first &&
		    g_array_index(list, struct detour, i).last == d->last)
			return false;
	g_array_append_val(list, *d);
	return true;
}

static void add_detour(struct pasts *p, const struct made *m)
{
	if (enter_detour(p->detours, m->past, &m->detour))
		g_array_append_val(p->made, *m);
	enter_detour(p->detours_from, m->detour.first, &m->detour);
}

static void add_longer(struct pasts *p, const struct past *longer)
{
	numbers_add(p->longer, longer->last);
	for (uint32_t i = 0; i < longer->count; i++)
		numbers_add(p->before, longer->looks[i].prefix);
}

/* Compares two pasts that end in one state; detours are added. */
static void find_detours(struct pasts *p, const struct past *a, const struct past *b)
{
	struct made m;
	if (is_detour(a, b, &m.detour))
		m.past = b->last;
	else if (is_detour(b, a, &m.detour))
		m.past = a->last;
	else
		return;
	add_detour(p, &m);
}

/* Takes ownership. */
static void note(struct pasts *p, struct past *own)
{
	GArray *list = list_at(p->by_state, own->key, sizeof(uint32_t));
	uint32_t number = p->all->len;
	bool stays = true;
	for (guint i = 0; stays && i < list->len; i++) {
		uint32_t at = g_array_index(list, uint32_t, i);
		const struct past *other = p->all->pdata[at];
		find_detours(p, other, own);
		bool longer = is_shorter(other, own);
		stays = !longer && other->prefix != own->prefix;
		if (longer) {
			add_longer(p, own);
		} else if (stays && is_shorter(own, other)) {
			add_longer(p, other);
			g_clear_pointer(&p->all->pdata[at], g_free);
			g_array_remove_index_fast(list, i--);
		}
	}
	if (!stays) {
		g_free(own);
		return;
	}
	g_ptr_array_add(p->all, own);
	g_array_append_val(list, number);
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
	struct look look = { .place = place,
		             .seen = seen,
		             .prefix = prefix,
		             .needed = !atomic || seen == SEEN_AFTER_END };
	if (op_writes(x->op) && !op_reads(x->op)) { /* is never left out */
		uint64_t value = access_value(t, event, true).integer;
		look.seen = history_mix(x->op, history_place(h, value, event));
		look.needed = true;
	}
	if (h->sums != NULL && h->sums[event] != SUM_NONE) {
		uint64_t bits = 8 * access_value(t, event, true).size;
		look.sum = true;
		look.adds = access_value(t, event, true).integer -
		            access_value(t, event, false).integer;
		look.mask = bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
		look.adds &= look.mask;
	}
	return look;
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
	*own = (struct past){ .key = history_mix(w->base, state),
		              .last = w->last,
		              .prefix = prefix,
		              .count = w->count };
	memcpy(own->looks, w->looks, w->count * sizeof *own->looks);
	note(p, own);
}

/* Is it a write of one value that is known? Detours that come before it leave it as it is. */
static bool is_known_write(const struct history *h, uint32_t event)
{
	const struct event *x = &h->trace->events[event];
	return op_is_access(x->op) && op_writes(x->op) && !op_reads(x->op) &&
	       event_variables(h->trace, x).count == 1 &&
	       access_value(h->trace, event, true).known;
}

static void learn_thread(struct pasts *p, const struct await_rounds *rounds,
                         const struct history *h, const struct scopes *scopes, uint32_t thread,
                         uint32_t end)
{
	enum { WITH_SUMS = 23 };
	const struct thread_history *th = &h->threads[thread];
	struct walk w, sums; /* since the last change; the same with additions and writes */
	bool adds = false;
	begin_at(&w, th->who);
	begin_at(&sums, th->who);
	for (guint i = 0; i < th->events->len; i++) {
		uint32_t e = g_array_index(th->events, uint32_t, i);
		uint64_t before = g_array_index(th->prefixes, uint64_t, i);
		uint64_t after = g_array_index(th->prefixes, uint64_t, i + 1);
		bool sum = h->sums != NULL && h->sums[e] != SUM_NONE;
		if (e >= end)
			break;
		if (op_is_access(h->trace->events[e].op)) {
			note_state(p, &w, before, rounds->states[e]);
			if (adds && rounds->states[e] != 0)
				note_state(p, &sums, before,
				           history_mix(rounds->states[e], WITH_SUMS));
		}
		bool changes = (scopes != NULL && scopes->of[e] != NONE) ||
		               !await_rounds_unchanging(rounds, h->trace, e);
		bool looks = !changes && await_rounds_looks(rounds, h->trace, e);
		if (changes)
			begin_at(&w, after);
		else if (looks)
			look(&w, h, e, after);
		bool step = sum || looks || is_known_write(h, e);
		if (step && sums.count < MOST_LOOKS)
			look(&sums, h, e, after);
		else if (step || changes)
			begin_at(&sums, after);
		adds = (adds && sums.count > 0) || sum;
	}
}

void pasts_learn(struct pasts *p, const struct await_rounds *rounds, const struct history *h,
                 const struct scopes *scopes)
{
	uint32_t end = addresses_differ(p->addresses, h);
	for (uint32_t u = 0; u < h->threads_count; u++)
		learn_thread(p, rounds, h, scopes, u, end);
}

/* -- detours ------------------------------------------------------------------------------ */

const GArray *pasts_detours(const struct pasts *p, uint64_t prefix)
{
	return g_hash_table_lookup(p->detours, &prefix);
}

const GArray *pasts_detours_from(const struct pasts *p, uint64_t prefix)
{
	return g_hash_table_lookup(p->detours_from, &prefix);
}

bool pasts_know_detours(const struct pasts *p)
{
	return g_hash_table_size(p->detours) > 0;
}

bool pasts_looks_at(const struct history *h, uint32_t first, uint32_t last, uint32_t event)
{
	const struct trace *t = h->trace;
	const struct event *x = &t->events[event];
	struct event_list mine = trace_thread_events(t, t->events[first].thread);
	if (x->thread == t->events[first].thread || !op_is_access(x->op) || event_inert(x) ||
	    history_is_unseen(h, event))
		return false;
	struct wide run = event_variables(t, x);
	for (uint32_t i = t->index->position[first]; i <= t->index->position[last]; i++) {
		uint32_t e = mine.items[i];
		if (h->sums != NULL && h->sums[e] != SUM_NONE &&
		    event_variables(t, &t->events[e]).first - run.first < run.count)
			return true;
	}
	return false;
}

/* The event of the thread with which its history has this number; NONE: none before `end`. */
static uint32_t event_with(const struct thread_history *th, guint end, uint64_t prefix)
{
	for (guint i = end; i-- > 0;)
		if (g_array_index(th->prefixes, uint64_t, i + 1) == prefix)
			return g_array_index(th->events, uint32_t, i);
	return NONE;
}

static bool is_alone(const struct history *h, uint32_t first, uint32_t last)
{
	enum { FAR = 1000 };
	if (last - first > FAR)
		return false; /* counts as one that was seen */
	for (uint32_t e = first + 1; e < last; e++)
		if (pasts_looks_at(h, first, last, e))
			return false;
	return true;
}

bool pasts_detour_in(const struct pasts *p, const struct history *h)
{
	for (uint32_t u = 0; u < h->threads_count && pasts_know_detours(p); u++) {
		const struct thread_history *th = &h->threads[u];
		for (guint i = 0; i < th->events->len; i++) {
			const GArray *list =
			        pasts_detours(p, g_array_index(th->prefixes, uint64_t, i + 1));
			for (guint k = 0; list != NULL && k < list->len; k++) {
				const struct detour *d = &g_array_index(list, struct detour, k);
				uint32_t first = event_with(th, i + 1, d->first);
				uint32_t last = event_with(th, i + 1, d->last);
				if (first != NONE && last != NONE && is_alone(h, first, last))
					return true;
			}
		}
	}
	return false;
}

static uint64_t detour_number(uint64_t first, uint64_t last)
{
	return history_mix(history_mix(24, first), last);
}

static void note_alone(struct pasts *p, struct unseen unseen)
{
	GArray *runs = list_at(p->alone, unseen.number, sizeof(uint32_t));
	g_array_append_val(runs, unseen.run);
	g_array_append_val(p->unseen, unseen);
}

void pasts_see_run(struct pasts *p, const struct history *h, uint32_t run)
{
	for (uint32_t u = 0; u < h->threads_count && h->sums != NULL; u++) {
		const struct thread_history *th = &h->threads[u];
		for (guint i = 0; i < th->events->len; i++) {
			uint32_t first = g_array_index(th->events, uint32_t, i);
			guint end = MIN(i + MOST_LOOKS, th->events->len);
			for (guint k = i + 1; k < end && h->sums[first] != SUM_NONE; k++) {
				uint32_t last = g_array_index(th->events, uint32_t, k);
				if (h->sums[last] == SUM_NONE || !is_alone(h, first, last))
					continue;
				note_alone(p, (struct unseen){
				                      detour_number(
				                              g_array_index(th->prefixes,
				                                            uint64_t, i + 1),
				                              g_array_index(th->prefixes,
				                                            uint64_t, k + 1)),
				                      run });
			}
		}
	}
}

static void mark_detours(const struct pasts *p, const struct histories *all, bool *runs)
{
	GHashTableIter iter;
	gpointer prefix, value;
	g_autofree bool *with = g_new(bool, histories_count(all) + 1);
	g_hash_table_iter_init(&iter, p->detours);
	while (g_hash_table_iter_next(&iter, &prefix, &value)) {
		const GArray *list = value;
		memset(with, 0, sizeof *with * histories_count(all));
		histories_mark(all, *(uint64_t *)prefix, with);
		for (guint k = 0; k < list->len; k++) {
			const struct detour *d = &g_array_index(list, struct detour, k);
			uint64_t number = detour_number(d->first, d->last);
			const GArray *alone = g_hash_table_lookup(p->alone, &number);
			for (guint i = 0; alone != NULL && i < alone->len; i++) {
				uint32_t run = g_array_index(alone, uint32_t, i);
				runs[run] |= with[run];
			}
		}
	}
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
	mark_detours(p, all, runs);
	return runs;
}

struct pasts_size pasts_size(const struct pasts *p)
{
	return (struct pasts_size){ .all = p->all->len,
		                    .longer = numbers_count(p->longer),
		                    .before = numbers_count(p->before),
		                    .made = p->made->len,
		                    .unseen = p->unseen->len,
		                    .addresses = addresses_count(p->addresses) };
}

/* -- checkpoints --------------------------------------------------------------------------- */

static void archive_look(struct look *l, struct archive *a)
{
	archive_raw(a, &l->place, sizeof l->place);
	archive_raw(a, &l->seen, sizeof l->seen);
	archive_raw(a, &l->prefix, sizeof l->prefix);
	ARCHIVE(a, l->needed);
	ARCHIVE(a, l->sum);
	ARCHIVE(a, l->adds);
	ARCHIVE(a, l->mask);
}

/* Writes the past, or reads one into it, which has room for MOST_LOOKS. */
static void archive_past(struct past *p, struct archive *a)
{
	archive_raw(a, &p->key, sizeof p->key);
	archive_raw(a, &p->last, sizeof p->last);
	archive_raw(a, &p->prefix, sizeof p->prefix);
	p->count = (uint32_t)archive_below(a, p->count, MOST_LOOKS + 1);
	for (uint32_t i = 0; i < p->count; i++)
		archive_look(&p->looks[i], a);
}

static void archive_pasts(struct pasts *p, uint32_t from, struct archive *a)
{
	uint32_t i = from;
	size_t count = 0, most = sizeof(struct past) + MOST_LOOKS * sizeof(struct look);
	for (uint32_t k = from; !archive_reads(a) && k < p->all->len; k++)
		count += p->all->pdata[k] != NULL;
	count = archive_count(a, count, 1);
	for (; count > 0; count--) {
		if (archive_reads(a)) {
			struct past *own = g_malloc0(most);
			archive_past(own, a);
			note(p, g_realloc(own, sizeof *own + own->count * sizeof *own->looks));
			continue;
		}
		while (p->all->pdata[i] == NULL)
			i++;
		archive_past(p->all->pdata[i++], a);
	}
}

static void archive_made(struct pasts *p, uint32_t from, struct archive *a)
{
	size_t count = archive_count(a, archive_reads(a) ? 0 : p->made->len - from,
	                             sizeof(struct made));
	for (size_t i = 0; i < count; i++) {
		struct made m = { 0 };
		if (!archive_reads(a))
			m = g_array_index(p->made, struct made, from + i);
		archive_raw(a, &m, sizeof m);
		if (archive_reads(a))
			add_detour(p, &m);
	}
}

static void archive_unseen(struct pasts *p, uint32_t from, uint32_t runs, struct archive *a)
{
	size_t count = archive_count(a, archive_reads(a) ? 0 : p->unseen->len - from,
	                             sizeof(uint64_t));
	for (size_t i = 0; i < count; i++) {
		struct unseen u = { 0 };
		if (!archive_reads(a))
			u = g_array_index(p->unseen, struct unseen, from + i);
		archive_raw(a, &u.number, sizeof u.number);
		u.run = (uint32_t)archive_below(a, u.run, runs);
		if (archive_reads(a))
			note_alone(p, u);
	}
}

void pasts_archive(struct pasts *p, struct pasts_size from, uint32_t runs,
                   struct archive *archive)
{
	numbers_archive(p->longer, from.longer, archive);
	numbers_archive(p->before, from.before, archive);
	archive_made(p, from.made, archive);
	archive_unseen(p, from.unseen, runs, archive);
	addresses_archive(p->addresses, from.addresses, archive);
	archive_pasts(p, from.all, archive);
}

void pasts_adopt(struct pasts *p, const struct pasts *other, const uint32_t *runs)
{
	numbers_adopt(p->longer, other->longer);
	numbers_adopt(p->before, other->before);
	for (guint i = 0; i < other->made->len; i++)
		add_detour(p, &g_array_index(other->made, struct made, i));
	for (guint i = 0; i < other->unseen->len; i++) {
		struct unseen u = g_array_index(other->unseen, struct unseen, i);
		u.run = runs[u.run];
		if (u.run != NONE)
			note_alone(p, u);
	}
	if (!addresses_adopt(p->addresses, other->addresses))
		return; /* equal states may not be: states have addresses */
	for (guint i = 0; i < other->all->len; i++) {
		const struct past *own = other->all->pdata[i];
		if (own != NULL)
			note(p, g_memdup2(own, sizeof *own + own->count * sizeof *own->looks));
	}
}
