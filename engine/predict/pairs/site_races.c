/*
 * site_races.c - racy pairs by sites: first pair, number, variables; and witnesses.
 */
#include "engine/predict/pairs/pairs.h"
#include "engine/trace/index.h"
#include "engine/trace/binary/reel.h"
#include "engine/witness/check.h"
#include "engine/base/hash.h"
#include "engine/trace/own_site.h"

#include <stdlib.h>
#include <string.h>

/* Open-addressed map from sites (or entry and variable) to numbers. */
struct map {
	uint64_t *keys; /* key + 1; 0 is empty */
	uint32_t *values;
	uint32_t count, size; /* size a power of two */
};

static uint32_t *map_slot(struct map *m, uint64_t key)
{
	uint32_t at = hash_top(hash_word(key + 1)) & (m->size - 1);

	while (m->keys[at] != 0 && m->keys[at] != key + 1)
		at = (at + 1) & (m->size - 1);
	m->keys[at] = key + 1;
	return &m->values[at];
}

/* The value of a key; if absent, inserts `fresh` and sets *made. */
static uint32_t map_get(struct map *m, uint64_t key, uint32_t fresh, bool *made)
{
	if (2 * m->count >= m->size) {
		struct map larger = { .count = m->count, .size = MAX(64, 2 * m->size) };

		larger.keys = g_new0(uint64_t, larger.size);
		larger.values = g_new(uint32_t, larger.size);
		memset(larger.values, 255, larger.size * sizeof(uint32_t));
		for (uint32_t i = 0; i < m->size; i++) {
			if (m->keys[i] != 0)
				*map_slot(&larger, m->keys[i] - 1) = m->values[i];
		}
		g_free(m->keys);
		g_free(m->values);
		*m = larger;
	}
	uint32_t *slot = map_slot(m, key);
	*made = *slot == NONE;
	if (*made) {
		*slot = fresh;
		m->count++;
	}
	return *slot;
}

/* Several pairs of each site pair are kept, in case the first witness is refused. */
enum { ALTERNATIVES = 8 };

struct entry {
	uint32_t pairs[ALTERNATIVES][2], kept;
	uint64_t count;
	GArray *variables; /* uint32_t */
	GArray *exact;     /* struct exact_pair; NULL outside of libraries */
};
struct site_races {
	const struct trace *t;
	const struct race_options *options;
	GArray *entries; /* struct entry */
	struct map by_sites, by_variable;
	struct { /* the last entry used: a variable's pairs are consecutive */
		uint32_t low, high, variable, entry;
	} last;
	GArray *waiting; /* struct waiting: pairs that wait, from the first on with an event
	                  * whose block is not decoded */
};

/* A pair whose sites are not known yet. */
struct waiting {
	uint32_t events[2], variable;
	struct sites {
		uint32_t own, exact;
	} sites[2];
};
enum { MOST_WAITING = 1 << 20 };

struct site_races *site_races_new(const struct trace *t, const struct race_options *options)
{
	struct site_races *s = g_new0(struct site_races, 1);

	s->t = t;
	s->options = options;
	s->entries = g_array_new(FALSE, FALSE, sizeof(struct entry));
	s->waiting = g_array_new(FALSE, FALSE, sizeof(struct waiting));
	s->last.variable = NONE;
	return s;
}

static void entry_release(struct entry *entry)
{
	g_array_free(entry->variables, TRUE);
	if (entry->exact != NULL)
		g_array_free(entry->exact, TRUE);
}

void site_races_free(struct site_races *s)
{
	if (s == NULL)
		return;
	for (guint i = 0; i < s->entries->len; i++)
		entry_release(&g_array_index(s->entries, struct entry, i));
	g_array_free(s->entries, TRUE);
	g_array_free(s->waiting, TRUE);
	g_free(s->by_sites.keys);
	g_free(s->by_sites.values);
	g_free(s->by_variable.keys);
	g_free(s->by_variable.values);
	g_free(s);
}

static struct sites sites_of(const struct trace *t, uint32_t event)
{
	return (struct sites){ own_site(t, event),
		               t->locations[t->events[event].location].site };
}

static struct entry *entry_made(struct site_races *s, uint32_t low, uint32_t high,
                                uint32_t variable)
{
	struct entry *entry;
	bool made;
	uint32_t i = map_get(&s->by_sites, (uint64_t)low << 32 | high, s->entries->len, &made);

	if (made) {
		struct entry fresh = { .count = 0 };

		fresh.variables = g_array_new(FALSE, FALSE, sizeof(uint32_t));
		g_array_append_val(s->entries, fresh);
	}
	s->last.low = low;
	s->last.high = high;
	s->last.variable = variable;
	s->last.entry = i;
	entry = &g_array_index(s->entries, struct entry, i);
	if (entry->variables->len > 0 &&
	    g_array_index(entry->variables, uint32_t, entry->variables->len - 1) == variable)
		return entry;
	map_get(&s->by_variable, (uint64_t)i << 32 | variable, 0, &made);
	if (made)
		g_array_append_val(entry->variables, variable);
	return entry;
}

/* NULL if it belongs to another shard. */
static struct entry *entry_for(struct site_races *s, uint32_t a, uint32_t b, uint32_t variable)
{
	uint32_t low = MIN(a, b), high = MAX(a, b);

	if (s->last.variable == variable && s->last.low == low && s->last.high == high)
		return &g_array_index(s->entries, struct entry, s->last.entry);
	return race_in_shard(s->options, a, b) ? entry_made(s, low, high, variable) : NULL;
}

static void keep_pair(struct entry *entry, uint32_t place, uint32_t e1, uint32_t e2)
{
	entry->pairs[place][0] = e1;
	entry->pairs[place][1] = e2;
	entry->kept = MAX(entry->kept, place + 1);
}

void site_races_add_many(struct site_races *s, const struct racing *r)
{
	uint32_t e1 = MIN(r->events[0], r->events[1]), e2 = MAX(r->events[0], r->events[1]);
	struct entry *entry = entry_for(s, r->sites[0], r->sites[1], r->variable);

	if (entry == NULL)
		return;
	const uint32_t *first = entry->pairs[0];
	if (entry->kept == 0 || e2 < first[1] || (e2 == first[1] && e1 < first[0]))
		keep_pair(entry, 0, e1, e2);
	entry->count += r->count;
}

static void keep_exact(struct entry *entry, const struct waiting *w)
{
	const struct sites *a = &w->sites[0], *b = &w->sites[1];
	bool turn = a->own > b->own || (a->own == b->own && a->exact > b->exact);
	struct exact_pair new = { { turn ? b->exact : a->exact, turn ? a->exact : b->exact },
		                  { w->events[0], w->events[1] } };

	if (a->own == a->exact && b->own == b->exact)
		return;
	if (entry->exact == NULL)
		entry->exact = g_array_new(FALSE, FALSE, sizeof(struct exact_pair));
	for (guint i = 0; i < entry->exact->len; i++) {
		const struct exact_pair *old =
		        &g_array_index(entry->exact, struct exact_pair, i);

		if (memcmp(old->sites, new.sites, sizeof new.sites) == 0)
			return;
	}
	if (entry->exact->len < EXACT_MOST)
		g_array_append_val(entry->exact, new);
}

static void add_known(struct site_races *s, const struct waiting *w)
{
	uint32_t e1 = w->events[0], e2 = w->events[1];
	struct entry *entry = entry_for(s, w->sites[0].own, w->sites[1].own, w->variable);

	if (entry == NULL)
		return;
	/* keep the earliest pairs, by the later event */
	uint32_t place = entry->kept;
	while (place > 0 && entry->pairs[place - 1][1] > e2)
		place--;
	if (place < ALTERNATIVES) {
		entry->kept = MIN(entry->kept + 1, ALTERNATIVES);
		for (uint32_t i = entry->kept - 1; i > place; i--)
			memcpy(entry->pairs[i], entry->pairs[i - 1], sizeof entry->pairs[i]);
		keep_pair(entry, place, e1, e2);
	}
	keep_exact(entry, w);
	entry->count++;
}

/* An event of a waiting pair, and where to store its sites. */
struct asked {
	uint32_t event;
	struct sites *sites;
};

static int by_event(const void *a, const void *b)
{
	const struct asked *x = a, *y = b;

	return (x->event > y->event) - (x->event < y->event);
}

/* Add the waiting pairs in their order, with their events looked up in the order of the trace,
 * which decodes each block once. */
static void add_waiting(struct site_races *s)
{
	GArray *waiting = s->waiting;
	struct asked *asked = g_new(struct asked, 2 * (gsize)waiting->len + 1);

	for (guint i = 0; i < 2 * waiting->len; i++) {
		struct waiting *w = &g_array_index(waiting, struct waiting, i / 2);

		asked[i] = (struct asked){ w->events[i % 2], &w->sites[i % 2] };
	}
	qsort(asked, 2 * (size_t)waiting->len, sizeof *asked, by_event);
	for (guint i = 0; i < 2 * waiting->len; i++)
		*asked[i].sites = sites_of(s->t, asked[i].event);
	g_free(asked);
	for (guint i = 0; i < waiting->len; i++)
		add_known(s, &g_array_index(waiting, struct waiting, i));
	g_array_set_size(waiting, 0);
}

void site_races_add(struct site_races *s, uint32_t e1, uint32_t e2, uint32_t variable)
{
	struct waiting w = { .events = { e1, e2 }, .variable = variable };

	if (s->waiting->len == 0 && trace_at_hand(s->t, e1) && trace_at_hand(s->t, e2)) {
		w.sites[0] = sites_of(s->t, e1);
		w.sites[1] = sites_of(s->t, e2);
		add_known(s, &w);
		return;
	}
	g_array_append_val(s->waiting, w);
	if (s->waiting->len == MOST_WAITING)
		add_waiting(s);
}

static int by_number(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

GArray *witness_events(const struct report *report, const struct site_races *sites)
{
	GArray *events = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	guint kept = 0;

	for (guint i = 0; i < report->findings->len; i++) {
		const struct finding *f = report->findings->pdata[i];

		g_array_append_val(events, f->first);
		g_array_append_val(events, f->second);
	}
	for (guint i = 0; sites != NULL && i < sites->entries->len; i++) {
		const struct entry *entry = &g_array_index(sites->entries, struct entry, i);

		g_array_append_vals(events, entry->pairs, 2 * entry->kept);
	}
	g_array_sort(events, by_number);
	for (guint i = 0; i < events->len; i++) {
		uint32_t e = g_array_index(events, uint32_t, i);

		if (kept == 0 || g_array_index(events, uint32_t, kept - 1) != e)
			g_array_index(events, uint32_t, kept++) = e;
	}
	g_array_set_size(events, kept);
	return events;
}

/* The report's events, which are looked at when findings are made, sorted, and printed. */
static void hold_reported(const struct site_races *s)
{
	g_autoptr(GArray) events = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	for (guint i = 0; i < s->entries->len; i++) {
		const struct entry *entry = &g_array_index(s->entries, struct entry, i);

		g_array_append_vals(events, entry->pairs[0], 2);
		for (guint k = 0; entry->exact != NULL && k < entry->exact->len; k++)
			g_array_append_vals(
			        events,
			        g_array_index(entry->exact, struct exact_pair, k).events, 2);
	}
	g_array_sort(events, by_number);
	trace_hold_events(s->t, (const uint32_t *)(void *)events->data, events->len);
}

void site_races_report(struct site_races *s, struct report *report, const char *by)
{
	add_waiting(s);
	hold_reported(s);
	for (guint i = 0; i < s->entries->len; i++) {
		struct entry *entry = &g_array_index(s->entries, struct entry, i);
		struct finding *f = race_finding(s->t, entry->pairs[0][0], entry->pairs[0][1],
		                                 VERDICT_CANDIDATE, by);

		f->count = entry->count;
		f->counted_all = false;
		g_array_set_size(f->variables, 0);
		g_array_append_vals(f->variables, entry->variables->data,
		                    entry->variables->len);
		for (guint k = 0; entry->exact != NULL && k < entry->exact->len; k++)
			finding_add_pair(f, &g_array_index(entry->exact, struct exact_pair, k));
		report_add(report, f);
	}
}

/* -- witnesses -------------------------------------------------------------------------- */

void report_keep_shard(struct report *report, const struct race_options *options)
{
	guint kept = 0;

	for (guint i = 0; i < report->findings->len; i++) {
		struct finding *f = g_ptr_array_index(report->findings, i);

		if (race_in_shard(options, own_site(report->trace, f->first),
		                  own_site(report->trace, f->second)))
			report->findings->pdata[kept++] = f;
		else
			finding_free(f);
	}
	report->findings->len = kept;
}

struct witnesses {
	const struct trace *t;
	witness_limits *build;
	void *context;
	struct checker *checker;
	uint32_t *limits; /* by thread, for the current witness */
	GArray *tail;     /* its events after `prefix` */
	uint32_t prefix;  /* length of the recorded prefix it begins with */
	const struct race_tools *tools;
	uint64_t room; /* bound on events of kept witnesses */
	uint64_t kept; /* events in kept witnesses */
	uint64_t refused, left_out, unpaid;
	struct effort *effort;
};

/* The first event excluded by the limits. */
static uint32_t whole_prefix(const struct trace *t, const uint32_t *limits)
{
	uint32_t prefix = (uint32_t)t->events_count;

	for (uint32_t u = 0; u < t->threads_count; u++) {
		struct event_list own = trace_thread_events(t, u);
		uint64_t low = event_list_before(own, limits[u]);

		if (low < own.count)
			prefix = MIN(prefix, own.items[low]);
	}
	return prefix;
}

/* The tail after the longest recorded prefix that the limits allow, or after `from` events,
 * where these are more. */
static void append_tail(struct witnesses *w, uint32_t e1, uint32_t e2, uint32_t from)
{
	uint32_t end = 0, count = 0;

	for (uint64_t u = 0; u < w->t->threads_count; u++)
		end = MAX(end, w->limits[u]);
	w->prefix = MAX(from, whole_prefix(w->t, w->limits));
	end = MAX(end, w->prefix);
	g_array_set_size(w->tail, end - w->prefix + 1);
	for (uint32_t e = w->prefix; e < end; e++) {
		g_array_index(w->tail, uint32_t, count) = e;
		count += e < w->limits[w->t->events[e].thread];
	}
	g_array_set_size(w->tail, count);
	g_array_append_val(w->tail, e1);
	g_array_append_val(w->tail, e2);
}

static void keep_witness(const struct witnesses *w, struct finding *f)
{
	f->witness = g_array_copy(w->tail);
	f->recorded = w->prefix;
	if (!w->tools->leaves || w->prefix <= race_tools_tails(w->tools))
		finding_complete(f);
}

/* Steps (effort.h) for a checked event, and for a thread of a closure. */
enum { CHECKED_EVENT = 4, CLOSED_THREAD = 4 };

/* Set a finding's verdict by one pair, whose witness takes over at least `from` events from the
 * recording; false when the checker refuses. */
static bool give_witness(struct witnesses *w, struct finding *f, uint32_t e1, uint32_t e2,
                         uint32_t from)
{
	const uint32_t pair[2] = { e1, e2 };

	if (!w->build(w->context, e1, e2, w->limits))
		return false;
	append_tail(w, e1, e2, from);
	effort_more(w->effort, CHECKED_EVENT * w->tail->len);
	if (!checker_race_after(w->checker, w->prefix, (const uint32_t *)(void *)w->tail->data,
	                        w->tail->len, pair, NULL))
		return false;
	f->first = e1;
	f->second = e2;
	f->verdict = VERDICT_RACE;
	if (w->kept < w->room) {
		keep_witness(w, f);
		w->kept += f->witness->len;
	} else {
		w->left_out++;
	}
	return true;
}

static bool give_any(struct witnesses *w, struct finding *f, const struct entry *entry)
{
	if (entry == NULL)
		return give_witness(w, f, f->first, f->second, 0);
	for (uint32_t i = 0; i < entry->kept; i++) {
		if (give_witness(w, f, entry->pairs[i][0], entry->pairs[i][1], 0))
			return true;
	}
	return false;
}

static const struct entry *entry_of(struct site_races *s, const struct trace *t,
                                    const struct finding *f)
{
	uint32_t a = own_site(t, f->first), b = own_site(t, f->second), i;
	bool made;

	if (s == NULL)
		return NULL;
	i = map_get(&s->by_sites, (uint64_t)MIN(a, b) << 32 | MAX(a, b), NONE, &made);
	return &g_array_index(s->entries, struct entry, i);
}

static int by_second(gconstpointer a, gconstpointer b)
{
	const struct finding *x = *(struct finding *const *)a, *y = *(struct finding *const *)b;

	if (x->second != y->second)
		return x->second < y->second ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

/* A finding, and the length of the recorded prefix for its first pair. */
struct ahead {
	struct finding *finding;
	uint32_t prefix;
};

static int by_prefix(const void *a, const void *b)
{
	const struct ahead *x = a, *y = b;

	if (x->prefix != y->prefix)
		return x->prefix < y->prefix ? -1 : 1;
	return by_second(&x->finding, &y->finding);
}

/* Sort findings so that the checker follows the recording once, and each witness costs its tail
 * only. */
static struct ahead *look_ahead(struct witnesses *w, const GPtrArray *all)
{
	struct ahead *order = g_new(struct ahead, all->len + 1);

	for (guint i = 0; i < all->len; i++) {
		struct finding *f = g_ptr_array_index(all, i);
		bool built = f->verdict != VERDICT_RACE &&
		             effort_more(w->effort, CLOSED_THREAD * w->t->threads_count) &&
		             w->build(w->context, f->first, f->second, w->limits);

		order[i] = (struct ahead){ f, built ? whole_prefix(w->t, w->limits) : NONE };
	}
	qsort(order, all->len, sizeof(*order), by_prefix);
	return order;
}

/* Has the ladder a race of the same sites on the same variables? */
static bool known(const struct witnesses *w, const struct finding *f)
{
	const struct race_tools *tools = w->tools;

	for (guint i = 0; tools->known != NULL && i < f->variables->len; i++) {
		if (tools->known(tools->known_context, f->first, f->second,
		                 g_array_index(f->variables, uint32_t, i)) != RACE_OF_VARIABLE)
			return false;
	}
	return tools->known != NULL;
}

static int by_first(const void *a, const void *b)
{
	const struct finding *x = ((const struct ahead *)a)->finding,
	                     *y = ((const struct ahead *)b)->finding;

	return x->first < y->first ? -1 : x->first > y->first;
}

/* For pairs late in the trace the first try takes over the whole recording before the pair:
 * unneeded events of other threads rarely block it, and the checker has already run through
 * them. The other findings remain. */
static bool give_recorded(struct witnesses *w, const GPtrArray *all,
                          const struct progress *progress)
{
	g_autofree struct ahead *order = g_new(struct ahead, all->len + 1);
	bool done = true;

	for (guint i = 0; i < all->len; i++)
		order[i].finding = all->pdata[i];
	qsort(order, all->len, sizeof *order, by_first);
	for (guint i = 0; i < all->len && done && !w->effort->over; i++) {
		struct finding *f = order[i].finding;

		done = progress_tick(progress, (double)i / all->len, "witnesses");
		if (known(w, f))
			f->verdict = VERDICT_RACE;
		else if (done && f->first > race_tools_tails(w->tools))
			give_witness(w, f, f->first, f->second, f->first);
	}
	return done;
}

/* Out of budget for the finding's witness: true when it stays listed. */
static bool leave_unpaid(struct witnesses *w, struct finding *f, bool listed)
{
	w->unpaid++;
	f->verdict = VERDICT_UNKNOWN;
	f->open = OPEN_TOTAL;
	if (!listed)
		finding_free(f);
	return listed;
}

static bool give_all(struct witnesses *w, struct report *report, struct site_races *sites,
                     bool all_verdicts, const struct progress *progress)
{
	GPtrArray *all = report->findings;
	bool done = give_recorded(w, all, progress);
	struct ahead *order = look_ahead(w, all);
	guint kept = 0;

	for (guint i = 0; i < all->len; i++) {
		struct finding *f = order[i].finding;

		done = done && progress_tick(progress, (double)i / all->len, "witnesses");
		if (f->verdict == VERDICT_RACE) {
			all->pdata[kept++] = f;
		} else if (done && w->effort->over) {
			if (leave_unpaid(w, f, all_verdicts))
				all->pdata[kept++] = f;
		} else if (!done || give_any(w, f, entry_of(sites, report->trace, f))) {
			all->pdata[kept++] = f;
		} else {
			w->refused++;
			finding_free(f);
		}
	}
	all->len = kept;
	g_free(order);
	g_ptr_array_sort(all, by_second);
	return done;
}

/* If few blocks of the trace are in memory: its events up to the last that a witness can
 * have, so that the checker reads no others. Else NULL. */
static struct trace *beginning_of(const struct trace *t, const struct report *report,
                                  const struct site_races *sites)
{
	if (trace_stays(t) || t->recorded != NULL)
		return NULL;
	g_autoptr(GArray) asked = witness_events(report, sites);
	return trace_beginning(t, g_array_index(asked, uint32_t, asked->len - 1) + 1);
}

bool report_witnesses(struct trace *whole, struct report *report,
                      const struct race_options *options, struct site_races *sites,
                      witness_limits *build, void *context, struct effort *effort,
                      const struct progress *progress)
{
	struct witnesses w = {
		.build = build,
		.context = context,
		.room = options->witness_events,
		.effort = effort,
	};

	if (report->findings->len == 0)
		return true;
	struct trace *beginning =
	        options->tools == NULL ? beginning_of(whole, report, sites) : NULL;
	struct trace *t = beginning != NULL ? beginning : whole;
	if (!trace_need(t, INDEX_THREADS, progress)) {
		trace_close(beginning);
		return false;
	}
	struct race_tools own, *tools = race_tools_begin(options, &own);
	trace_keep_events(t); /* the checker goes back and forth */
	w.t = t;
	w.tools = tools;
	w.checker = race_tools_checker(tools, t, options);
	w.limits = g_new0(uint32_t, t->threads_count + 1);
	w.tail = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	bool done = give_all(&w, report, sites, options->all_verdicts, progress);
	g_array_free(w.tail, TRUE);
	g_free(w.limits);
	race_tools_end(&own);
	trace_close(beginning);
	if (w.refused > 0)
		report_note(report,
		            "pairs without a witness, which are left out (an access to a freed "
		            "block is in the way): %" G_GUINT64_FORMAT,
		            w.refused);
	if (w.unpaid > 0)
		report_note(report,
		            "pairs for whose witness --budget (%g,%g) did not suffice: "
		            "%" G_GUINT64_FORMAT,
		            options->budget_pair, options->budget_total, w.unpaid);
	report_note_left_out(report, w.left_out);
	return done;
}
