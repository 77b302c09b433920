/*
 * histories.c - see histories.h. For up to a million runs: no table or list of its own for a
 * run.
 */
#include "engine/explore/runs/histories.h"

#include "engine/base/numbers.h"
#include "engine/explore/runs/alike.h"
#include "engine/explore/runs/history_private.h"
#include "engine/explore/runs/run_list.h"

#include <string.h>

/* Order information of a run beside the prefixes of its threads. */
struct known_run {
	GHashTable *calls; /* prefix before a call -> GArray of struct thread_prefix: the last
	                    * preceding steps that it does not commute with, by thread; NULL: no
	                    * calls */
	uint64_t ender;    /* the thread that ended the program; 0: none */
	uint64_t *lasts;   /* by thread: the number of all its steps (part.alike); owned; NULL:
	                    * the end of the program cut off no thread */
	uint64_t class_;
	uint32_t count; /* of `lengths` */
	struct length {
		uint32_t who;   /* its place in histories.whos */
		uint32_t steps; /* of that thread, + 1 */
	} lengths[];
};

struct histories {
	GPtrArray *known; /* struct known_run *, by run; NULL: not kept here */
	struct numbers *classes;
	struct numbers *whos; /* threads */
	struct initials initials;
	struct numbers *prefixes; /* histories of threads */
	GArray *having;           /* struct run_list: by prefix, the runs with it */
	uint32_t runs;
};

static void free_list(gpointer list)
{
	g_array_unref(list);
}

static void free_known(gpointer data)
{
	struct known_run *k = data;
	if (k != NULL && k->calls != NULL)
		g_hash_table_unref(k->calls);
	if (k != NULL)
		g_free(k->lasts);
	g_free(k);
}

static void free_runs(gpointer data)
{
	run_list_clear(data);
}

struct histories *histories_new(void)
{
	struct histories *all = g_new0(struct histories, 1);
	all->known = g_ptr_array_new_with_free_func(free_known);
	all->classes = numbers_new();
	all->whos = numbers_new();
	initials_begin(&all->initials);
	all->prefixes = numbers_new();
	all->having = g_array_new(FALSE, TRUE, sizeof(struct run_list));
	g_array_set_clear_func(all->having, free_runs);
	return all;
}

void histories_free(struct histories *all)
{
	if (all == NULL)
		return;
	g_ptr_array_unref(all->known);
	numbers_free(all->classes);
	numbers_free(all->whos);
	numbers_free(all->prefixes);
	g_array_unref(all->having);
	initials_end(&all->initials);
	g_free(all);
}

static uint64_t *copy_of(uint64_t number)
{
	uint64_t *copy = g_new(uint64_t, 1);
	*copy = number;
	return copy;
}

struct initials *histories_initials(struct histories *all)
{
	return &all->initials;
}

/* The steps required before a call: the last of each thread. */
static GArray *steps_before(const struct history *h, const struct view_call *call)
{
	GArray *list = g_array_new(FALSE, FALSE, sizeof(struct thread_prefix));
	for (guint i = 0; i < call->before->len; i++) {
		const struct view_call *other =
		        &g_array_index(h->view->calls, struct view_call,
		                       g_array_index(call->before, uint32_t, i));
		struct thread_prefix part = {
			.who = h->threads[other->thread].who,
			.steps = g_array_index(h->step_of, uint32_t, other->event) + 1
		};
		if (other->thread != call->thread)
			g_array_append_val(list, part);
	}
	return list;
}

static struct known_run *known_run_empty(uint32_t count)
{
	struct known_run *k = g_malloc0(sizeof *k + count * sizeof *k->lengths);
	k->count = count;
	return k;
}

static GHashTable *calls_empty(void)
{
	return g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, free_list);
}

static struct known_run *known_run_new(struct histories *all, const struct history *h)
{
	struct known_run *k = known_run_empty(h->threads_count);
	k->class_ = history_class(h);
	k->lasts = h->cut_off ? alike_lasts(h) : NULL;
	for (uint32_t i = 0; i < h->threads_count; i++) {
		const struct thread_history *th = &h->threads[i];
		numbers_add(all->whos, th->who);
		k->lengths[i].who = numbers_place(all->whos, th->who);
		k->lengths[i].steps = th->events->len + 1;
		if (th->prefixes->len > th->events->len + 1)
			k->ender = th->who;
	}
	for (guint i = 0; h->view->calls != NULL && i < h->view->calls->len; i++) {
		const struct view_call *call =
		        &g_array_index(h->view->calls, struct view_call, i);
		uint32_t step = g_array_index(h->step_of, uint32_t, call->event);
		uint64_t before =
		        g_array_index(h->threads[call->thread].prefixes, uint64_t, step);
		if (k->calls == NULL)
			k->calls = calls_empty();
		g_hash_table_insert(k->calls, copy_of(before), steps_before(h, call));
	}
	return k;
}

/* The number of the thread's steps in the run, + 1; 0: the run does not have the thread. */
static uint32_t length_of(const struct histories *all, const struct known_run *k, uint64_t who)
{
	uint32_t place = numbers_place(all->whos, who), i = 0;
	while (i < k->count && k->lengths[i].who != place)
		i++;
	return i < k->count ? k->lengths[i].steps : 0;
}

uint64_t histories_class(const struct histories *all, uint32_t run)
{
	const struct known_run *k = all->known->pdata[run];
	return k->class_;
}

bool histories_have_class(const struct histories *all, uint64_t class_)
{
	return numbers_have(all->classes, class_);
}

/* The runs with a prefix, or NULL. */
static struct run_list *runs_with(const struct histories *all, uint64_t prefix)
{
	uint32_t place = numbers_place(all->prefixes, prefix);
	return place == NONE ? NULL : &g_array_index(all->having, struct run_list, place);
}

static void add_having(struct histories *all, uint64_t prefix, uint32_t run)
{
	if (numbers_add(all->prefixes, prefix))
		g_array_set_size(all->having, all->having->len + 1);
	run_list_add(runs_with(all, prefix), run);
}

/* Does the run have a signal whose handler may run at several places? */
static bool has_signals(const struct history *h)
{
	for (uint32_t e = 0; e < h->trace->events_count; e++) {
		const struct event *x = &h->trace->events[e];
		if ((x->op == OP_SND || x->op == OP_RCV) && x->flags & EVENT_SHARED)
			return true;
	}
	return false;
}

/* For REVERSAL_LATER. (A thread that the end of the program cut off might go on by a handler.)
 */
static void add_later(struct histories *all, const struct history *h, uint32_t run)
{
	for (uint32_t i = 0; i < h->threads_count; i++) {
		const struct thread_history *th = &h->threads[i];
		for (guint k = 0; k + h->cut_off <= th->events->len; k++) {
			bool last = k == th->events->len;
			if (last || !history_handles(h, g_array_index(th->events, uint32_t, k)))
				add_having(
				        all,
				        history_later(g_array_index(th->prefixes, uint64_t, k)),
				        run);
		}
	}
}

bool histories_add(struct histories *all, const struct history *h)
{
	uint64_t class_ = history_class(h);
	if (!numbers_add(all->classes, class_))
		return false;
	uint32_t run = all->runs++;
	g_ptr_array_add(all->known, known_run_new(all, h));
	for (uint32_t i = 0; i < h->threads_count; i++) {
		const GArray *prefixes = h->threads[i].prefixes;
		for (guint k = 0; k < prefixes->len; k++)
			add_having(all, g_array_index(prefixes, uint64_t, k), run);
		for (guint k = 0; h->threads[i].kind && k < prefixes->len; k++) {
			add_having(all, alike_number(h, i, k, false), run);
			if (k + 1 < prefixes->len)
				add_having(all, alike_number(h, i, k, true), run);
		}
	}
	if (has_signals(h))
		add_later(all, h, run);
	for (guint i = 0; i < h->finals->len; i++)
		add_having(all, g_array_index(h->finals, struct thread_prefix, i).prefix, run);
	return true;
}

void histories_add_class(struct histories *all, uint64_t class_)
{
	numbers_add(all->classes, class_);
}

/* Are all steps before the next call, in this run, within the prefixes? */
static bool call_fits(const struct histories *all, const struct known_run *k,
                      const struct thread_prefix *parts, uint32_t count)
{
	(void)all;
	const GArray *before =
	        k->calls ? g_hash_table_lookup(k->calls, &parts[0].prefix) : NULL;
	for (guint i = 0; before != NULL && i < before->len; i++) {
		const struct thread_prefix *p = &g_array_index(before, struct thread_prefix, i);
		uint32_t at = 0;
		while (at < count && parts[at].who != p->who)
			at++;
		if (at == count || parts[at].steps < p->steps)
			return false;
	}
	return before != NULL;
}

static bool goes_further(const struct histories *all, const struct known_run *k,
                         const struct thread_prefix *parts, uint32_t count)
{
	(void)count;
	return k->ender == parts[0].who || length_of(all, k, parts[0].who) > parts[0].steps + 1;
}

typedef bool run_test(const struct histories *all, const struct known_run *k,
                      const struct thread_prefix *parts, uint32_t count);

/* Does a run, other than `but` (NONE: any), begin so, and fit? The runs of the shortest list
 * are looked up in the others. */
static bool have(const struct histories *all, const struct thread_prefix *parts, uint32_t count,
                 run_test *test, uint32_t but)
{
	const struct run_list **lists = g_newa(const struct run_list *, count + 1);
	uint32_t shortest = 0;
	for (uint32_t i = 0; i < count; i++) {
		lists[i] = runs_with(all, parts[i].alike);
		if (lists[i] == NULL)
			return false;
		if (lists[i]->count < lists[shortest]->count)
			shortest = i;
	}
	struct run_at at = run_list_from(lists[shortest], 0);
	for (; at.left > 0; run_at_next(&at)) {
		uint32_t i = 0;
		while (i < count && (i == shortest || run_list_has(lists[i], at.run)))
			i++;
		if (i == count && at.run != but &&
		    (!test || test(all, all->known->pdata[at.run], parts, count)))
			return true;
	}
	return false;
}

bool histories_have(const struct histories *all, const struct thread_prefix *parts,
                    uint32_t count)
{
	return have(all, parts, count, NULL, NONE);
}

void histories_mark(const struct histories *all, uint64_t prefix, bool *runs)
{
	const struct run_list *list = runs_with(all, prefix);
	if (list == NULL)
		return;
	for (struct run_at at = run_list_from(list, 0); at.left > 0; run_at_next(&at))
		runs[at.run] = true;
}

bool histories_have_call(const struct histories *all, const struct thread_prefix *parts,
                         uint32_t count)
{
	return have(all, parts, count, call_fits, NONE);
}

bool histories_have_further(const struct histories *all, const struct thread_prefix *parts,
                            uint32_t count)
{
	/* a thread that may be alike: its number says that it goes further */
	bool said = parts[0].alike != parts[0].prefix;
	return have(all, parts, count, said ? NULL : goes_further, NONE);
}

bool *histories_within_others(const struct histories *all)
{
	bool *within = g_new0(bool, all->runs + 1);
	GArray *parts = g_array_new(FALSE, FALSE, sizeof(struct thread_prefix));
	for (uint32_t run = 0; run < all->runs; run++) {
		const struct known_run *k = all->known->pdata[run];
		if (k == NULL || k->lasts == NULL)
			continue;
		g_array_set_size(parts, 0);
		for (uint32_t i = 0; i < k->count; i++) {
			struct thread_prefix part = { .alike = k->lasts[i] };
			g_array_append_val(parts, part);
		}
		within[run] = have(all, (const void *)parts->data, parts->len, NULL, run);
	}
	g_array_unref(parts);
	return within;
}

bool histories_goes_on(const struct histories *all, const struct history *h, uint32_t thread,
                       uint32_t steps, uint32_t run)
{
	return length_of(all, all->known->pdata[run], h->threads[thread].who) > steps + 1;
}

uint32_t histories_last(const struct histories *all)
{
	return all->runs - 1;
}

uint32_t histories_common(const struct histories *all, const struct history *h, uint32_t thread,
                          uint32_t run)
{
	const GArray *prefixes = h->threads[thread].prefixes;
	const struct run_list *list;
	uint32_t common =
	        search_end(/* the empty prefix is one */
	                   i, 0u, prefixes->len,
	                   (list = runs_with(all, g_array_index(prefixes, uint64_t, i)),
	                    list != NULL && run_list_has(list, run)));
	return common > 0 ? common - 1 : 0;
}

uint32_t histories_count(const struct histories *all)
{
	return all->runs;
}

/* The record here of a run of `other`, whose threads have other indices. */
static struct known_run *adopted(struct histories *all, const struct histories *other,
                                 struct known_run *k)
{
	for (uint32_t i = 0; k != NULL && i < k->count; i++) {
		uint64_t who = numbers_at(other->whos, k->lengths[i].who);
		numbers_add(all->whos, who);
		k->lengths[i].who = numbers_place(all->whos, who);
	}
	return k;
}

void histories_adopt(struct histories *all, struct histories *other, uint32_t *map)
{
	uint32_t before = all->runs;
	for (uint32_t i = 0; i < other->runs; i++) {
		if (map[i] != NONE)
			continue;
		map[i] = all->runs++;
		g_ptr_array_add(all->known,
		                adopted(all, other, g_steal_pointer(&other->known->pdata[i])));
	}
	numbers_adopt(all->classes, other->classes);
	for (guint p = 0; p < other->having->len; p++) {
		const struct run_list *l = &g_array_index(other->having, struct run_list, p);
		for (struct run_at at = run_list_from(l, 0); at.left > 0; run_at_next(&at))
			if (map[at.run] >= before)
				add_having(all, numbers_at(other->prefixes, p), map[at.run]);
	}
	initials_adopt(&all->initials, &other->initials);
}

/* -- checkpoints --------------------------------------------------------------------------- */

/* Archives a table by 64-bit numbers: the keys in any order, each followed by its value. */
typedef void archive_value(struct archive *a, void **value, const void *context);

static void archive_table(struct archive *a, GHashTable *table, archive_value *archive,
                          const void *context)
{
	GHashTableIter iter;
	void *key, *value = NULL;
	size_t count = archive_count(a, g_hash_table_size(table), sizeof(uint64_t));
	g_hash_table_iter_init(&iter, table);
	for (size_t i = 0; i < count; i++) {
		uint64_t number = 0;
		if (!archive_reads(a) && g_hash_table_iter_next(&iter, &key, &value))
			number = *(uint64_t *)key;
		archive_raw(a, &number, sizeof number);
		if (archive_reads(a))
			value = NULL;
		archive(a, &value, context);
		if (archive_reads(a))
			g_hash_table_insert(table, copy_of(number), value);
	}
}

static void archive_before(struct archive *a, void **value, const void *context)
{
	(void)context;
	if (archive_reads(a))
		*value = g_array_new(FALSE, FALSE, sizeof(struct thread_prefix));
	GArray *list = *value;
	size_t count = archive_count(a, list->len, 2);
	for (size_t i = 0; i < count; i++) {
		struct thread_prefix part = { 0 };
		if (!archive_reads(a))
			part = g_array_index(list, struct thread_prefix, i);
		ARCHIVE(a, part.who);
		ARCHIVE(a, part.steps);
		if (archive_reads(a))
			g_array_append_val(list, part);
	}
}

/* The runs from `from` on that have a prefix. */
static void write_having(const struct histories *all, uint32_t from, struct archive *a)
{
	const struct run_list *lists = (const void *)all->having->data;
	guint prefixes = all->runs > from ? all->having->len : 0;
	size_t count = 0;
	for (guint p = 0; p < prefixes; p++)
		count += run_list_from(&lists[p], from).left > 0;
	archive_count(a, count, 1);
	for (guint p = 0; p < prefixes; p++) {
		struct run_at at = run_list_from(&lists[p], from);
		uint64_t prefix = numbers_at(all->prefixes, p);
		if (at.left == 0)
			continue;
		archive_raw(a, &prefix, sizeof prefix);
		archive_count(a, at.left, 1);
		for (uint32_t last = from; at.left > 0; last = at.run, run_at_next(&at))
			archive_number(a, at.run - last);
	}
}

static void read_having(struct histories *all, uint32_t from, struct archive *a)
{
	size_t prefixes = archive_count(a, 0, sizeof(uint64_t) + 1);
	for (size_t i = 0; i < prefixes; i++) {
		uint64_t prefix = 0, run = from;
		archive_raw(a, &prefix, sizeof prefix);
		const struct run_list *list = runs_with(all, prefix);
		bool known = list != NULL && list->count > 0;
		uint32_t last = known ? run_list_last(list) : 0;
		size_t count = archive_count(a, 0, 1);
		for (size_t k = 0; k < count; k++) {
			run += archive_below(a, 0, all->runs);
			if (run >= all->runs || ((known || k > 0) && run <= last)) {
				archive_fail(a);
				return;
			}
			last = (uint32_t)run;
			add_having(all, prefix, last);
		}
	}
}

/* The threads of a run with their lengths, and its calls. */
static struct known_run *archive_known(struct histories *all, struct known_run *k,
                                       struct archive *a)
{
	bool reads = archive_reads(a);
	size_t count = archive_count(a, reads ? 0 : k->count, sizeof(uint64_t));
	if (reads)
		k = known_run_empty((uint32_t)count);
	for (size_t i = 0; i < count; i++) {
		struct length *l = &k->lengths[i];
		uint64_t who = reads ? 0 : numbers_at(all->whos, l->who);
		archive_raw(a, &who, sizeof who);
		l->steps = (uint32_t)archive_below(a, l->steps, (uint64_t)UINT32_MAX + 1);
		if (reads) {
			numbers_add(all->whos, who);
			l->who = numbers_place(all->whos, who);
		}
	}
	GHashTable *calls = k->calls ? k->calls : calls_empty();
	archive_table(a, calls, archive_before, NULL);
	k->calls = g_hash_table_size(calls) > 0 ? calls : NULL;
	if (k->calls == NULL)
		g_hash_table_unref(calls);
	size_t lasts = archive_count(a, k->lasts != NULL, 1);
	if (reads && lasts > 0)
		k->lasts = g_new0(uint64_t, count + 1);
	for (size_t i = 0; k->lasts != NULL && i < count; i++)
		archive_raw(a, &k->lasts[i], sizeof k->lasts[i]);
	ARCHIVE(a, k->ender);
	ARCHIVE(a, k->class_);
	return k;
}

struct histories_size histories_size(const struct histories *all)
{
	return (struct histories_size){ .runs = all->runs,
		                        .classes = numbers_count(all->classes),
		                        .initials = initials_count(&all->initials) };
}

struct histories *histories_beyond(uint32_t runs)
{
	struct histories *all = histories_new();
	all->runs = runs;
	g_ptr_array_set_size(all->known, (gint)runs);
	return all;
}

void histories_archive(struct histories *all, struct histories_size from, struct archive *a)
{
	uint32_t first = archive_reads(a) ? all->runs : from.runs;
	all->runs = first + (uint32_t)archive_count(a, all->runs - first, 1);
	for (uint32_t i = first; i < all->runs; i++) {
		if (archive_reads(a))
			g_ptr_array_add(all->known, archive_known(all, NULL, a));
		else
			archive_known(all, all->known->pdata[i], a);
	}
	numbers_archive(all->classes, from.classes, a);
	if (archive_reads(a))
		read_having(all, first, a);
	else
		write_having(all, first, a);
	bool learnt = !archive_reads(a) && initials_count(&all->initials) > from.initials;
	if (archive_below(a, learnt, 2))
		initials_archive(&all->initials, a);
}
