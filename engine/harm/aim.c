/* aim.c - see aim.h. */
#include "engine/harm/aim.h"

#include "engine/harm/trial.h"
#include "engine/order/past.h"
#include "engine/witness/check.h"
#include "engine/base/hash.h"
#include "engine/trace/own_site.h"

#include <string.h>

enum { MOST_AIMS = 200, MOST_WRITES = 4 /* tried for one read */ };

struct aiming {
	struct trace *t;
	struct past *past;
	GHashTable *known;
	GHashTable *tried; /* code, as numbers of this trace -> how often it was looked at */
	GArray *found;
	uint32_t *cut; /* scratch: by thread, how many of its events come first */
};

/* The outermost acquire that is open just before the event, or the event itself. */
static uint32_t section_begin(const struct trace *t, uint32_t event)
{
	g_autoptr(GArray) held = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	uint32_t begin = event;

	trace_locks_held(t, event, held);
	if (held->len > 0)
		begin = g_array_index(held, uint32_t, 0);
	return begin;
}

/* The release of that acquire; NONE: it is never given up. */
static uint32_t section_end(const struct trace *t, uint32_t event)
{
	uint32_t begin = section_begin(t, event);

	return begin == event ? event : t->index->partner[begin];
}

/* Threads other than the reader leave the critical sections that they are in: another thread
 * may need the lock. False where one never does. */
static bool close_sections(struct aiming *s, uint32_t reader)
{
	const struct trace *t = s->t;

	for (uint32_t u = 0; u < t->threads_count; u++) {
		struct event_list mine = trace_thread_events(t, u);

		if (u == reader || s->cut[u] == 0 || s->cut[u] >= mine.count)
			continue;
		uint32_t next = mine.items[s->cut[u]], last = section_end(t, next);
		if (last == NONE)
			return false;
		if (last == next && section_begin(t, next) == next)
			continue;
		past_join(s->past, last, s->cut);
		u = NONE; /* from the first: this may need more of the others */
	}
	return true;
}

static uint32_t read_of(const struct aim *a)
{
	return a->kind == AIM_EARLY ? a->goes : a->waits;
}

/* The events before the aim, as s->cut; false where the aim contradicts their observations.
 * The thread that reads (of a pair the one that waits) stands before `next`. */
static bool make_cut(struct aiming *s, const struct aim *a)
{
	const struct trace *t = s->t;
	const uint32_t *position = t->index->position;
	bool late = a->kind == AIM_LATE;
	uint32_t next = late ? section_begin(t, a->waits) : read_of(a);
	uint32_t thread = t->events[next].thread;
	uint32_t other = a->kind == AIM_EARLY ? a->waits : a->goes; /* has not come */

	memset(s->cut, 0, (t->threads_count + 1) * sizeof(*s->cut));
	past_join_before(s->past, next, s->cut);
	if (late) {
		uint32_t last = section_end(t, a->goes);

		if (last == NONE)
			return false;
		past_join(s->past, last, s->cut);
	}
	return close_sections(s, thread) && s->cut[thread] <= position[next] &&
	       (late || s->cut[t->events[other].thread] <= position[other]);
}

/* The number of tries of this code in this trace. */
static guint *tries_of(struct aiming *s, const struct aim *a)
{
	const struct event *e = s->t->events;
	uint64_t exact = hash_pair(e[a->goes].location, e[a->waits].location);
	/* one line of a library's has a code for each of the user's places that call it */
	uint64_t own = hash_pair(own_site(s->t, a->goes), own_site(s->t, a->waits));
	gint64 code = (gint64)hash_join(hash_join(exact, own), (uint64_t)a->kind);
	guint *count = g_hash_table_lookup(s->tried, &code);

	if (count == NULL) {
		count = g_new0(guint, 1);
		g_hash_table_insert(s->tried, g_memdup2(&code, sizeof code), count);
	}
	return count;
}

/* Is the aim's code new, or was it aimed at in few runs? */
static bool is_wanted(struct aiming *s, const struct aim *a)
{
	enum { RUNS = 3 };
	g_autofree char *code =
	        g_strdup_printf("%d %s %s %s %s", a->kind, trace_location_name(s->t, a->goes),
	                        trace_location_name(s->t, a->waits),
	                        own_site_name(s->t, a->goes), own_site_name(s->t, a->waits));
	guint runs = GPOINTER_TO_UINT(g_hash_table_lookup(s->known, code));

	if (runs < RUNS)
		g_hash_table_replace(s->known, g_strdup(code), GUINT_TO_POINTER(runs + 1));
	return runs < RUNS;
}

static void keep(struct aiming *s, enum aim_kind kind, uint32_t goes, uint32_t waits)
{
	enum { TRIES = 6 };
	struct aim a = { kind, goes, waits };

	if (s->t->events[goes].thread == s->t->events[waits].thread ||
	    s->found->len >= MOST_AIMS)
		return;
	guint *tries = tries_of(s, &a);
	if (*tries >= TRIES || !make_cut(s, &a)) {
		++*tries;
		return;
	}
	*tries = TRIES;
	if (is_wanted(s, &a))
		g_array_append_val(s->found, a);
}

static void find_of_variable(struct aiming *s, uint32_t variable)
{
	struct event_list list = event_list_at(&s->t->index->variable_events, variable);

	for (uint64_t i = 0; i < list.count; i++) {
		uint32_t read = list.items[i];
		unsigned tried = 0;

		if (!op_reads(s->t->events[read].op) || s->t->events[read].flags & EVENT_WIDE)
			continue;
		if (s->t->index->writer[read] != NONE)
			keep(s, AIM_EARLY, read, s->t->index->writer[read]);
		for (uint64_t k = i + 1; k < list.count && tried < MOST_WRITES; k++) {
			uint32_t write = list.items[k];

			if (!op_writes(s->t->events[write].op))
				continue;
			tried++;
			keep(s, AIM_LATE, write, read);
		}
	}
}

/* Sorts variables with few events first: these are mostly flags, and the effect of a read on
 * its thread's later events is unknown. */
static gint by_count(gconstpointer a, gconstpointer b, gpointer t)
{
	const struct event_lists *lists = &((const struct trace *)t)->index->variable_events;
	uint64_t x = event_list_at(lists, *(const uint32_t *)a).count,
	         y = event_list_at(lists, *(const uint32_t *)b).count;

	return x < y ? -1 : x > y;
}

/* False: the trace's index cannot be made, so nothing is found. aiming_end in either case. */
static bool aiming_begin(struct aiming *s, struct trace *t, GHashTable *known)
{
	struct past_options options = PAST_DEFAULTS;

	*s = (struct aiming){ .t = t,
		              .known = known,
		              .tried = g_hash_table_new_full(g_int64_hash, g_int64_equal,
		                                             g_free, g_free),
		              .found = g_array_new(FALSE, FALSE, sizeof(struct aim)),
		              .cut = g_new0(uint32_t, t->threads_count + 1) };
	if (trace_need(t,
	               INDEX_THREADS | INDEX_MATCH | INDEX_VARIABLES | INDEX_WRITERS |
	                       INDEX_MUST,
	               NULL))
		s->past = past_new(t, &options, NULL);
	return s->past != NULL;
}

static GArray *aiming_end(struct aiming *s)
{
	if (s->past)
		past_free(s->past);
	g_hash_table_destroy(s->tried);
	g_free(s->cut);
	return s->found;
}

GArray *aims_find(struct trace *t, GHashTable *known)
{
	g_autoptr(GArray) variables = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	struct aiming s;

	if (aiming_begin(&s, t, known))
		for (uint32_t v = 0; v < t->variables_count; v++)
			g_array_append_val(variables, v);
	g_array_sort_with_data(variables, by_count, t);
	for (guint i = 0; i < variables->len && s.found->len < MOST_AIMS; i++)
		find_of_variable(&s, g_array_index(variables, uint32_t, i));
	return aiming_end(&s);
}

GArray *aims_of_pairs(struct trace *t, const GArray *pairs, GHashTable *known)
{
	struct aiming s;

	if (aiming_begin(&s, t, known))
		for (guint i = 0; i + 1 < pairs->len; i += 2) {
			uint32_t first = g_array_index(pairs, uint32_t, i),
			         second = g_array_index(pairs, uint32_t, i + 1);

			keep(&s, AIM_PAIR, second, first);
			keep(&s, AIM_PAIR, first, second);
		}
	return aiming_end(&s);
}

/* The cut's events in recorded order. */
static GArray *sequence_of(const struct trace *t, const uint32_t *cut)
{
	GArray *sequence = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	for (uint32_t e = 0; e < t->events_count; e++)
		if (t->index->position[e] < cut[t->events[e].thread] &&
		    !op_tells(t->events[e].op))
			g_array_append_val(sequence, e);
	return sequence;
}

GArray *aim_sequence(struct trace *t, const struct aim *aim)
{
	struct past_options how = PAST_DEFAULTS;
	struct aiming s = { .t = t, .cut = g_new0(uint32_t, t->threads_count + 1) };
	struct check_options check = { 0 };
	g_autoptr(GString) why = g_string_new(NULL);
	GArray *sequence = NULL;

	if (trace_need(t, INDEX_THREADS | INDEX_MATCH | INDEX_WRITERS | INDEX_MUST, NULL))
		s.past = past_new(t, &how, NULL);
	if (s.past && make_cut(&s, aim)) {
		sequence = sequence_of(t, s.cut);
		/* the reader may hold a lock that another thread took later */
		if (!witness_check(t, event_list_of(sequence),
		                   claimed_of(CLAIM_PREFIX, NULL, 0), &check, why)) {
			g_array_unref(sequence);
			sequence = NULL;
		}
	}
	if (s.past)
		past_free(s.past);
	g_free(s.cut);
	return sequence;
}

bool aim_run(struct trace *t, const struct aim *aim, uint64_t seed,
             const struct harm_options *options, bool *reached, struct error *error)
{
	struct trial x = { .o = options, .t = t, .error = error };
	const uint32_t no_pair[2] = { NONE, NONE };
	g_autoptr(GArray) sequence = aim_sequence(t, aim);
	struct outcome outcome = { 0 };
	g_autofree char *why = NULL;

	*reached = false;
	if (sequence == NULL)
		return true;
	if (!trial_open(&x))
		return false;
	if (plan_make(t, (const uint32_t *)(void *)sequence->data, sequence->len, no_pair,
	              &x.plan, error)) {
		bool pair = aim->kind == AIM_PAIR;

		x.plan.strategy = pair ? STRATEGY_PCT : STRATEGY_RANDOM;
		x.plan.seed = seed;
		x.plan.timeout_ms = options->timeout_ms;
		x.plan.explore = true;
		if (pair)
			plan_hold(&x.plan, t, t->events[aim->waits].thread);
		else
			plan_go_on(&x.plan, t, t->events[read_of(aim)].thread);
		*reached = trial_run(&x, 0, &outcome, &why);
	}
	trial_close(&x);
	outcome_release(&outcome);
	return !x.broken;
}
