/*
 * explore_races.c - data races: those of runs by their happens-before, those that `races`
 * predicts of them, and schedules for those that only the states of a run have (reach_races.c).
 */
#include "engine/explore/explore_private.h"
#include "engine/explore/objects/scopes.h"
#include "engine/trace/own_code.h"

#include "engine/order/order.h"
#include "engine/order/past.h"
#include "engine/predict/effort.h"
#include "engine/predict/pairs/candidates.h"
#include "engine/predict/pairs/classes.h"
#include "engine/trace/own_site.h"

#include <string.h>

/* A pair of sites in either order; owned by the caller. */
static char *race_key(const char *a, const char *b)
{
	bool turn = strcmp(a, b) > 0;
	return g_strdup_printf("%s %s", turn ? b : a, turn ? a : b);
}

/* The key of a race that a run has, for x->races. */
static char *key_of_known(const char *sites)
{
	return g_strdup_printf("sites %s", sites);
}

char *explore_race_key(const struct trace *t, uint32_t a, uint32_t b)
{
	return race_key(own_site_name(t, a), own_site_name(t, b));
}

bool explore_has_race(const struct exploration *x, const char *key)
{
	g_autofree char *known = key_of_known(key);
	return g_hash_table_contains(x->races, known);
}

bool explore_ask_race(struct exploration *x, const char *key)
{
	return !explore_has_race(x, key) &&
	       g_hash_table_add(x->races, g_strdup_printf("asked %s", key));
}

/* Keeps the current run's trace, as long as races are few. */
static void save_run_of_race(struct exploration *x)
{
	enum { MOST = 8 };
	struct explore_run *r = &g_array_index(x->report->runs, struct explore_run, x->run);
	struct error error;

	if (r->trace == NULL && x->report->races->len <= MOST && !explore_save(x, r, &error))
		g_clear_pointer(&r->trace, g_free);
}

/* The first entry of these two places in the report, or NULL. */
static const struct explore_race *entry_of(const struct exploration *x, const char *first,
                                           const char *second)
{
	const GArray *races = x->report->races;
	for (guint i = 0; i < races->len; i++) {
		const struct explore_race *r = &g_array_index(races, struct explore_race, i);
		if (strcmp(r->own_first, first) == 0 && strcmp(r->own_second, second) == 0)
			return r;
	}
	return NULL;
}

/* A pair of events of a race, as names: of its places, and of its exact places. */
struct raced {
	const char *own[2], *exact[2];
};

static struct raced raced_at(const struct trace *t, uint32_t a, uint32_t b)
{
	struct raced r = {
		.own = { own_code_place_name(t, a), own_code_place_name(t, b) },
		.exact = { trace_location_name(t, a), trace_location_name(t, b) },
	};
	int turn = strcmp(r.own[0], r.own[1]);
	if (turn == 0)
		turn = strcmp(r.exact[0], r.exact[1]);
	if (turn > 0)
		return (struct raced){ { r.own[1], r.own[0] }, { r.exact[1], r.exact[0] } };
	return r;
}

static void add_entry(struct exploration *x, const struct raced *r, const char *variable)
{
	bool fresh = entry_of(x, r->own[0], r->own[1]) == NULL;
	struct explore_race race = { .first = g_strdup(r->exact[0]),
		                     .second = g_strdup(r->exact[1]),
		                     .variable = g_strdup(variable),
		                     .own_first = g_strdup(r->own[0]),
		                     .own_second = g_strdup(r->own[1]),
		                     .run = x->run };
	g_array_append_val(x->report->races, race);
	if (fresh)
		save_run_of_race(x);
}

/* Is the variable another one than those of the pair's places so far? */
static bool is_new_variable(struct exploration *x, const char *sites, const char *variable)
{
	g_autoptr(GString) key = g_string_new(NULL);
	g_string_append_printf(key, "variable %s ", sites);
	own_code_append_kind(variable, key);
	return g_hash_table_add(x->races, g_strdup(key->str));
}

/* Are the exact places other ones? */
static bool is_new_exact(struct exploration *x, const char *sites, const struct raced *r)
{
	return g_hash_table_add(
	        x->races, g_strdup_printf("exact %s %s %s", sites, r->exact[0], r->exact[1]));
}

static void take_race(struct exploration *x, const struct finding *f)
{
	const struct trace *t = x->trace;
	g_autofree char *sites = explore_race_key(t, f->first, f->second);
	g_autoptr(GString) variable = g_string_new(NULL);
	struct raced first = raced_at(t, f->first, f->second);
	struct wide named = event_variables(t, &t->events[f->second]);
	g_hash_table_add(x->races, key_of_known(sites));
	trace_append_variable(t, &t->events[f->second], variable);
	/* both are noted, whichever is new */
	bool other = is_new_variable(x, sites, variable->str);
	if (is_new_exact(x, sites, &first) || other)
		add_entry(x, &first, variable->str);
	for (guint i = 0; f->exact != NULL && i < f->exact->len; i++) {
		const uint32_t *pair = finding_exact(f, i)->events;
		struct raced r = raced_at(t, pair[0], pair[1]);
		if (is_new_exact(x, sites, &r))
			add_entry(x, &r, variable->str);
	}
	for (guint i = 0; f->variables != NULL && i < f->variables->len; i++) {
		uint32_t v = g_array_index(f->variables, uint32_t, i);
		if (v - named.first < named.count)
			continue;
		g_string_truncate(variable, 0);
		append_escaped(variable, trace_variable_name(t, v),
		               strlen(trace_variable_name(t, v)));
		if (is_new_variable(x, sites, variable->str))
			add_entry(x, &first, variable->str);
	}
}

/* Analyse only site pairs that are not known to race. */
static bool is_wanted(const void *context, uint32_t site_a, uint32_t site_b)
{
	const struct exploration *x = context;
	const struct trace *t = x->trace;
	g_autofree char *key =
	        race_key(trace_string(t, t->sites[site_a]), trace_string(t, t->sites[site_b]));
	return !explore_has_race(x, key);
}

static bool comes_before_by_forks(const void *order, uint32_t e, uint32_t f)
{
	return fork_ordered(order, e, f);
}

static bool comes_before(const void *order, uint32_t e, uint32_t f)
{
	return order_ordered_unobserved(order, e, f);
}

/* Has the variable conflicting accesses that neither a lock nor the order keeps apart? */
static bool is_free_to_race(struct classes *c, class_order *before, const void *order,
                            uint32_t variable)
{
	classes_clear(c);
	classes_add(c, variable);
	for (guint i = 0; i < c->classes->len; i++)
		for (guint k = i + 1; k < c->classes->len; k++) {
			const struct class *a = class_at(c, i), *b = class_at(c, k);
			struct span span = { 0, 0 };
			if (!classes_conflict(a, b) ||
			    lockset_exclusive(c->locksets, a->lockset, b->lockset) != 0)
				continue;
			for (uint32_t m = 0; m < a->count; m++) {
				class_span(c, b, class_member(c, a, m), before, order, &span);
				if (span.end > span.first)
					return true;
			}
		}
	return false;
}

/* May any variable race, by its accesses, locks, and the order that every reordering keeps? Or,
 * `forks_alone`, by no other order than that of forks and joins? */
static bool find_suspects(struct exploration *x, bool forks_alone)
{
	struct locksets *locksets = locksets_new(x->trace);
	uint64_t *suspects = classes_suspects(x->trace, locksets, false, x->progress);
	struct order *order = NULL;
	struct fork_order *forks = forks_alone ? fork_order_new(x->trace) : NULL;
	struct classes classes;
	bool any = false;
	classes_init(&classes, x->trace, locksets);
	x->cancelled |= suspects == NULL;
	for (uint32_t v = 0; suspects && v < x->trace->variables_count && !any; v++) {
		if (!(suspects[v / 64] >> v % 64 & 1))
			continue;
		if (order == NULL && forks == NULL)
			order = order_new_fixed(x->trace, x->progress);
		any = forks != NULL ? is_free_to_race(&classes, comes_before_by_forks, forks, v)
		                    : order == NULL ||
		                              is_free_to_race(&classes, comes_before, order, v);
	}
	if (order != NULL)
		order_free(order);
	if (forks != NULL)
		fork_order_free(forks);
	classes_release(&classes);
	g_free(suspects);
	locksets_free(locksets);
	return any;
}

/* find_suspects, remembered for the second question about a run. */
static bool has_suspects(struct exploration *x)
{
	if (x->suspects.trace != x->trace || x->suspects.run != x->run) {
		x->suspects.any = find_suspects(x, false);
		x->suspects.trace = x->trace;
		x->suspects.run = x->run;
	}
	return x->suspects.any;
}

/* False when some are undecided. */
static bool find_races_by(struct exploration *x, enum analysis analysis)
{
	bool decided = true;
	struct race_options options;
	struct error error = { 0 };
	if (!has_suspects(x))
		return true;
	race_options_init(&options);
	options.analysis = analysis;
	if (analysis == ANALYSIS_AUTO) {
		options.wanted = is_wanted;
		options.wanted_context = x;
		options.use_values = true;
		options.budget_pair = 0.2;
		options.budget_total = 1;
		if (x->deadline != 0)
			options.budget_total = CLAMP(explore_seconds_left(x), 0.01, 1);
	}
	struct report *report = races_find(x->trace, &options, x->progress, &error);
	if (report == NULL) {
		x->cancelled = true;
		return false;
	}
	for (guint i = 0; i < report->findings->len; i++) {
		const struct finding *f = report->findings->pdata[i];
		if (analysis == ANALYSIS_HB || f->verdict == VERDICT_RACE)
			take_race(x, f);
		else
			decided &= f->verdict != VERDICT_UNKNOWN;
	}
	report_free(report);
	return decided;
}

/* Do both threads access the thread's variables of the event, so that a race of these tells it?
 */
static bool has_conflict(const struct trace *t, uint32_t use, uint32_t owner)
{
	struct wide of = event_variables(t, &t->events[use]);
	for (uint32_t v = of.first; v < of.first + of.count; v++) {
		struct event_list list = event_list_at(&t->index->variable_events, v);
		for (uint64_t i = 0; i < list.count && list.items[i] < use; i++)
			if (t->events[list.items[i]].thread == owner &&
			    events_race_conflict(t, list.items[i], use))
				return true;
	}
	return false;
}

/* Accesses of blocks of the heap that other threads allocated: the first of each thread
 * (uint32_t), after which its others come. */
static GArray *find_strangers(const struct trace *t)
{
	GArray *found = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_autoptr(GHashTable) pairs =
	        g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *a = &t->events[e];
		if (!op_is_access(a->op) || event_inert(a))
			continue;
		uint32_t block = t->variables[event_variables(t, a).first].block;
		uint32_t alloc = block != NONE ? t->blocks[block].alloc : NONE;
		if (alloc >= e || t->events[alloc].thread == a->thread) /* NONE is greater */
			continue;
		uint64_t pair = (uint64_t)block << 32 | a->thread;
		if (g_hash_table_add(pairs, g_memdup2(&pair, sizeof pair)))
			g_array_append_val(found, e);
	}
	return found;
}

/* Does an atomic read see a write of another thread that it does not synchronise with? Such
 * reads alone lead to a block without an order. */
static bool sees_loosely(const struct trace *t)
{
	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *r = &t->events[e];
		if (!op_is_access(r->op) || !op_is_atomic(r->op) || !op_reads(r->op))
			continue;
		struct event_list seen = trace_writers(t, e);
		for (uint64_t i = 0; i < seen.count; i++) {
			const struct event *w =
			        seen.items[i] == NONE ? NULL : &t->events[seen.items[i]];
			if (w != NULL && w->thread != r->thread &&
			    !(order_releases(event_order(w)) && order_acquires(event_order(r))))
				return true;
		}
	}
	return false;
}

/*
 * Races of a block's allocation with accesses of it, by the run's happens-before: a pointer to
 * it was read from an atomic that orders nothing. Where a lock alone orders them in such a run,
 * another order of its class may not.
 */
static void find_early_uses(struct exploration *x)
{
	const struct trace *t = x->trace;
	if (!trace_need(x->trace, INDEX_ALL & ~INDEX_SITES, x->progress) || !sees_loosely(t))
		return;
	g_autoptr(GArray) uses = find_strangers(t);
	struct order *order =
	        uses->len ? order_new(x->trace, ORDER_KIND_HB, x->progress) : NULL;
	struct order *fixed = order ? order_new_fixed(x->trace, x->progress) : NULL;
	struct order *lasting = fixed ? order_new_lasting(x->trace, x->progress) : NULL;
	for (guint i = 0; lasting != NULL && i < uses->len; i++) {
		uint32_t use = g_array_index(uses, uint32_t, i);
		uint32_t block = t->variables[event_variables(t, &t->events[use]).first].block;
		uint32_t alloc = t->blocks[block].alloc;
		/* the must-order itself puts the block's uses after its allocation */
		uint32_t before = trace_previous(t, use);
		struct finding f = { .first = alloc, .second = use };
		if (before == NONE)
			continue;
		if (order_ordered(order, alloc, before))
			x->races_left |= order_ordered(fixed, alloc, before) ||
			                                 order_ordered(lasting, alloc, before)
			                         ? 0
			                         : RACES_EARLY;
		else if (!has_conflict(t, use, t->events[alloc].thread))
			take_race(x, &f);
	}
	struct order *orders[] = { order, fixed, lasting };
	for (size_t i = 0; i < G_N_ELEMENTS(orders); i++)
		if (orders[i] != NULL)
			order_free(orders[i]);
}

void explore_find_races(struct exploration *x)
{
	x->suspects.trace = NULL;
	find_races_by(x, ANALYSIS_HB);
	find_early_uses(x);
}

void explore_see_race(struct exploration *x, const struct pending *s)
{
	explore_find_races(x);
	if (!x->cancelled && !explore_has_race(x, s->key))
		explore_note_incomplete(
		        x, "a schedule with a data race was not followed: a data race may "
		           "be missing");
}

/* Which thread runs a once-function is an outcome, which each class has for itself. */
static void note_pairings(struct exploration *x)
{
	enum { NEEDED = INDEX_THREADS | INDEX_OBJECTS };
	enum { OPEN = PAST_REORDERED & ~PAST_ONCE };
	if (x->races_left & RACES_PAIRED || !trace_need(x->trace, NEEDED, x->progress))
		return;
	if (past_waits_vary(x->trace, OPEN) && find_suspects(x, true))
		x->races_left |= RACES_PAIRED;
}

/* Has a round that was left out of the run a plain access after the first one? (The first comes
 * as well where the round was taken away, since the thread is in the same state.) */
static bool leaves_out_accesses(const struct exploration *x)
{
	const struct trace *t = x->trace;
	for (guint i = 0; i < x->rounds->list->len; i++) {
		struct await_round round =
		        g_array_index(x->rounds->list, struct await_round, i);
		bool first = true;
		for (uint32_t e = round.first; e != NONE && e < round.next;
		     e = trace_next(t, e)) {
			const struct event *a = &t->events[e];
			if (!op_is_access(a->op) || event_inert(a))
				continue;
			if (!first && !op_is_atomic(a->op) &&
			    x->rounds->several[event_variables(t, a).first])
				return true;
			first = false;
		}
	}
	return false;
}

/* One run represents its class: all reorderings have the same values read. */
void explore_find_reordered_races(struct exploration *x, enum reversals_races known)
{
	const gint64 free_share = G_USEC_PER_SEC / 2;
	gint64 began = effort_microseconds();
	if (leaves_out_accesses(x))
		known = RACES_UNKNOWN;
	if (known == RACES_NONE)
		return;
	bool in_time = x->races_effort <= free_share + (began - x->effort_began) / 3;
	bool decided = in_time && find_races_by(x, ANALYSIS_AUTO);
	if (known == RACES_UNKNOWN) {
		x->races_left |= decided ? 0 : RACES_SLOW;
		note_pairings(x);
	}
	x->races_effort += effort_microseconds() - began;
}
