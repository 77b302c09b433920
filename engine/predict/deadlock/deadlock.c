/*
 * deadlock.c - cycles in the lock order, and whether they can happen.
 *
 * Acquires while holding locks are grouped into classes by thread, wanted lock and mode, lock
 * set (and site). Cycles are searched among classes; guard locks, which exclude two of the
 * threads, rule out cycles there. Then events of a cycle's classes are combined, as far as
 * their causal pasts permit, and the solver decides whether all requests can be next at once.
 */
#include "engine/base/compare.h"
#include "engine/base/arrays.h"
#include "engine/trace/ending.h"
#include "engine/order/past.h"
#include "engine/predict/deadlock/deadlock.h"
#include "engine/trace/weak.h"

#include "engine/partial/rdit.h"
#include "engine/predict/pairs/candidates.h"
#include "engine/predict/effort.h"
#include "engine/predict/deadlock/lock_order.h"
#include "engine/predict/deadlock/request_site.h"
#include "engine/predict/predict_private.h"
#include "engine/predict/race.h"
#include "engine/predict/smt/smt.h"
#include "engine/predict/deadlock/stuck.h"
#include "engine/predict/deadlock/stuck_search.h"
#include "engine/witness/witness.h"

#include <stdlib.h>

enum {
	MAX_LENGTH = 16,     /* threads on a cycle */
	MAX_CYCLES = 100000, /* of classes; beyond it the report is incomplete */
	QUESTION = 64,       /* steps (effort.h) of a set of requests besides the solver */
};

/* A class of requests. */
struct want {
	uint32_t thread, lock, site;
	bool exclusive;
	bool on_cycle;  /* on a cycle of the lock order: wants and holds locks of a component */
	uint32_t held;  /* set of locks */
	GArray *events; /* uint32_t, ascending */
	GArray *next;   /* uint32_t: classes whose thread holds the wanted lock */
};

struct search {
	struct trace *t;
	const struct race_options *options;
	const struct progress *progress;
	struct report *report;
	struct smt *smt;
	struct checker *checker; /* made for the first witness */
	struct effort effort;    /* for enumerating cycles; deciding has its own budget */
	struct locksets *locksets;
	struct request_sites *sites;
	GArray *edges;        /* struct lock_edge: a basis of all others */
	uint32_t *component;  /* by lock: of the lock order */
	GArray *wants;        /* struct want */
	GHashTable *want_of;  /* key as a string of bytes -> index + 1 */
	GHashTable *settled;  /* sorted requests, or sites, as bytes -> struct finding */
	GHashTable *happened; /* set of wants + 1 of findings that happened */
	GPtrArray *others;    /* impossible and unknown findings, owned */
	uint32_t path[MAX_LENGTH], chosen[MAX_LENGTH]; /* classes, events */
	uint32_t length;
	uint32_t cycles;
	unsigned refused; /* witnesses that the checker did not accept */
	bool cancelled, cut;
};

/* -- classes of requests ------------------------------------------------------------------- */

static GBytes *bytes_of(const uint32_t *numbers, size_t count)
{
	return g_bytes_new(numbers, count * sizeof(uint32_t));
}

static void add_request(struct search *s, uint32_t e, bool exclusive, uint32_t held)
{
	const struct event *x = &s->t->events[e];
	struct want new = { .thread = x->thread,
		            .lock = x->target,
		            .site = request_site(s->sites, e),
		            .exclusive = exclusive,
		            .held = held };
	uint32_t key_numbers[] = { new.thread, new.lock, new.site, new.exclusive, new.held };
	GBytes *key = bytes_of(key_numbers, G_N_ELEMENTS(key_numbers));
	gpointer known = g_hash_table_lookup(s->want_of, key);

	if (known == NULL) {
		new.events = g_array_new(FALSE, FALSE, sizeof(uint32_t));
		new.next = g_array_new(FALSE, FALSE, sizeof(uint32_t));
		g_array_append_val(s->wants, new);
		known = GUINT_TO_POINTER(s->wants->len);
		g_hash_table_insert(s->want_of, key, known);
	} else {
		g_bytes_unref(key);
	}
	struct want *w = &g_array_index(s->wants, struct want, GPOINTER_TO_UINT(known) - 1);
	g_array_append_val(w->events, e);
}

static void drop_held(const struct trace *t, GArray *held, uint32_t release)
{
	for (guint i = held->len; i-- > 0;) {
		if (t->events[g_array_index(held, uint32_t, i)].target ==
		    t->events[release].target) {
			g_array_remove_index(held, i);
			return;
		}
	}
}

/* A request while holding locks: an edge from the last lock. (An acquire of that one under
 * those before was an edge, too.) */
static void collect_request(struct search *s, uint32_t e, bool exclusive, const GArray *held,
                            uint32_t set)
{
	struct lock_edge edge = { .wanted = s->t->events[e].target };

	if (held->len == 0)
		return;
	if (event_is_request(&s->t->events[e]))
		add_request(s, e, exclusive, set);
	edge.held = s->t->events[g_array_index(held, uint32_t, held->len - 1)].target;
	g_array_append_val(s->edges, edge);
}

static bool holds_at_end(const struct trace *t, const GArray *held, uint32_t lock, enum op op)
{
	for (guint i = 0; i < held->len; i++) {
		const struct event *x = &t->events[g_array_index(held, uint32_t, i)];

		if (x->target == lock && x->op == op)
			return true;
	}
	return false;
}

/* Waits that had not ended at the end of the recording. Their mode is not recorded: exclusive
 * if only readers blocked the thread, else shared is assumed, which excludes less. */
static void collect_wants(struct search *s, GArray *const *held, const uint32_t *sets,
                          const GArray *wants)
{
	const struct trace *t = s->t;

	for (guint i = 0; i < wants->len; i++) {
		uint32_t e = g_array_index(wants, uint32_t, i);
		const struct event *x = &t->events[e];
		bool readers = false, writer = false;

		for (uint32_t u = 0; u < t->threads_count; u++) {
			readers |= holds_at_end(t, held[u], x->target, OP_RACQ);
			writer |= holds_at_end(t, held[u], x->target, OP_ACQ);
		}
		collect_request(s, e, readers && !writer, held[x->thread], sets[x->thread]);
	}
}

static void collect_requests(struct search *s)
{
	const struct trace *t = s->t;
	GArray **held = arrays_new(t->threads_count, sizeof(uint32_t)); /* acquires */
	g_autofree uint32_t *sets = g_new0(uint32_t, t->threads_count + 1);
	g_autoptr(GArray) wants = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];

		if (x->op == OP_WANT)
			g_array_append_val(wants, e);
		if (event_inert(x) || !(op_acquires(x->op) || op_releases(x->op)))
			continue;
		if (op_acquires(x->op)) {
			collect_request(s, e, x->op == OP_ACQ, held[x->thread],
			                sets[x->thread]);
			g_array_append_val(held[x->thread], e);
		} else {
			drop_held(t, held[x->thread], e);
		}
		sets[x->thread] = lockset_moved(s->locksets, sets[x->thread], x);
	}
	collect_wants(s, held, sets, wants);
	arrays_free(held, t->threads_count);
}

/* Do both hold a lock that only one can hold? */
static bool guarded(const struct search *s, const struct want *a, const struct want *b)
{
	return lockset_common(s->locksets, a->held, b->held) != NONE;
}

static bool holds(const struct search *s, const struct want *w, uint32_t lock)
{
	return lockset_without(s->locksets, w->held, lock * 2) != w->held ||
	       lockset_without(s->locksets, w->held, lock * 2 + 1) != w->held;
}

/* A lock held by a class. */
struct held {
	const struct search *s;
	uint32_t want;
	GHashTable *holders;
};

static bool is_on_cycle(const struct held *h, uint32_t item)
{
	const struct want *w = &g_array_index(h->s->wants, struct want, h->want);

	return h->s->component[item / 2] == h->s->component[w->lock];
}

static bool on_cycle(void *context, uint32_t item)
{
	return is_on_cycle(context, item);
}

/* Mark classes whose wanted lock is on a cycle of the lock order with a held one. */
static void mark_cycles(struct search *s)
{
	uint32_t locks = (uint32_t)s->t->objects_count, *size = g_new0(uint32_t, locks + 1);

	s->component = lock_order_components(
	        locks, (const struct lock_edge *)(void *)s->edges->data, s->edges->len);
	for (uint32_t i = 0; i < locks; i++)
		size[s->component[i]]++;
	for (uint32_t i = 0; i < s->wants->len; i++) {
		struct want *w = &g_array_index(s->wants, struct want, i);
		struct held held = { s, i };

		w->on_cycle = size[s->component[w->lock]] > 1
		                      ? lockset_any(s->locksets, w->held, on_cycle, &held)
		                      : holds(s, w, w->lock);
	}
	g_free(size);
}

static bool add_holder(void *context, uint32_t item)
{
	const struct held *h = context;
	gpointer key = GUINT_TO_POINTER(item);

	if (!is_on_cycle(h, item))
		return false;
	GArray *list = g_hash_table_lookup(h->holders, key);
	if (list == NULL) {
		list = g_array_new(FALSE, FALSE, sizeof(uint32_t));
		g_hash_table_insert(h->holders, key, list);
	}
	g_array_append_val(list, h->want);
	return false;
}

/* Classes by held lock: lock * 2 + exclusive -> GArray of indices. (Wanted locks of a cycle are
 * in one component.) */
static GHashTable *wants_by_held(const struct search *s)
{
	GHashTable *holders =
	        g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_array_unref);

	for (uint32_t i = 0; i < s->wants->len; i++) {
		const struct want *w = &g_array_index(s->wants, struct want, i);
		struct held held = { s, i, holders };

		if (w->on_cycle)
			lockset_any(s->locksets, w->held, add_holder, &held);
	}
	return holders;
}

static void link_to_holders(struct search *s, struct want *a, const GArray *holders)
{
	for (guint i = 0; holders != NULL && i < holders->len && effort_more(&s->effort, 4);
	     i++) {
		uint32_t j = g_array_index(holders, uint32_t, i);
		const struct want *b = &g_array_index(s->wants, struct want, j);

		if (a->thread != b->thread && !guarded(s, a, b))
			g_array_append_val(a->next, j);
	}
}

static void link_wants(struct search *s)
{
	g_autoptr(GHashTable) holders = wants_by_held(s);

	for (uint32_t i = 0; i < s->wants->len; i++) {
		struct want *a = &g_array_index(s->wants, struct want, i);

		if (!a->on_cycle)
			continue;
		link_to_holders(
		        s, a, g_hash_table_lookup(holders, GUINT_TO_POINTER(a->lock * 2 + 1)));
		if (a->exclusive) /* a class holds a lock in one mode */
			link_to_holders(
			        s, a,
			        g_hash_table_lookup(holders, GUINT_TO_POINTER(a->lock * 2)));
	}
}

/* -- one set of requests ------------------------------------------------------------------- */

/* Key of a unit of verdicts: the set of requests, or the set of their sites. */
static GBytes *unit_key(const struct search *s)
{
	uint32_t numbers[MAX_LENGTH];

	for (uint32_t i = 0; i < s->length; i++)
		numbers[i] = s->options->pairs_events
		                     ? s->chosen[i]
		                     : g_array_index(s->wants, struct want, s->path[i]).site;
	qsort(numbers, s->length, sizeof(uint32_t), compare_u32);
	return bytes_of(numbers, s->length);
}

static struct finding *make_finding(const struct search *s, enum verdict verdict)
{
	uint32_t least = 0, second = NONE;

	for (uint32_t i = 0; i < s->length; i++) {
		if (s->chosen[i] < s->chosen[least])
			least = i;
	}
	for (uint32_t i = 0; i < s->length; i++) {
		if (i != least)
			second = MIN(second, s->chosen[i]);
	}
	struct finding *f = finding_new(FINDING_DEADLOCK, s->chosen[least], second);
	f->verdict = verdict;
	f->count = 1;
	f->counted_all = s->options->pairs_events;
	f->requests = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	f->waits = g_array_new(FALSE, FALSE, sizeof(struct wait));
	for (uint32_t i = 0; i < s->length; i++) {
		uint32_t next = s->chosen[(least + i + 1) % s->length];
		struct wait w = { .event = s->chosen[(least + i) % s->length],
			          .what = WAIT_LOCK,
			          .holder = s->t->events[next].thread };

		g_array_append_val(f->requests, w.event);
		g_array_append_val(f->waits, w);
	}
	return f;
}

static bool accepted(struct search *s, const GArray *witness, const struct finding *f)
{
	struct check_options check = { .use_values = s->options->use_values,
		                       .use_missing = s->options->use_missing };

	if (s->checker == NULL)
		s->checker = checker_new(s->t, &check);
	return checker_claim(s->checker, event_list_of(witness),
	                     (struct claimed){ finding_claim(f), event_list_of(f->requests) },
	                     NULL);
}

static bool is_shown(const struct finding *f)
{
	return f->verdict == VERDICT_RACE || f->verdict == VERDICT_HAPPENED;
}

static void settle(struct search *s, GBytes *key, struct finding *f)
{
	struct finding *was = g_hash_table_lookup(s->settled, key);

	if (was != NULL && was->verdict == VERDICT_IMPOSSIBLE &&
	    f->verdict == VERDICT_IMPOSSIBLE) {
		was->count += f->count;
		finding_free(f);
		return;
	}
	if (was != NULL && was->verdict == VERDICT_UNKNOWN && !is_shown(f)) {
		was->count += f->count;
		finding_free(f);
		return;
	}
	if (was != NULL) { /* in `others`: replaced by a stronger verdict */
		f->count += was->count;
		g_ptr_array_remove_fast(s->others, was);
		finding_free(was);
	}
	if (is_shown(f))
		report_add(s->report, f);
	else
		g_ptr_array_add(s->others, f);
	g_hash_table_replace(s->settled, g_bytes_ref(key), f);
}

static struct finding *ask(struct search *s)
{
	struct finding *f = make_finding(s, VERDICT_UNKNOWN);
	g_autoptr(GArray) witness = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	double left = s->options->budget_total - smt_solver_seconds(s->smt);
	struct smt_query *q = smt_query_new(s->smt);

	for (uint32_t i = 0; i < s->length; i++)
		smt_query_next(q, s->chosen[i]);
	f->open = left < s->options->budget_pair ? OPEN_TOTAL : OPEN_PAIR;
	enum smt_answer answer = smt_query_solve(q, CLAMP(left, 0, s->options->budget_pair),
	                                         witness, &f->proof, s->progress);
	smt_query_free(q);
	s->cancelled |= answer == SMT_CANCELLED;
	if (answer == SMT_IMPOSSIBLE) {
		f->verdict = VERDICT_IMPOSSIBLE;
		f->open = OPEN_NO;
		f->by = "smt";
		if (!f->proof->same_pairing && past_has_pairings(s->t))
			f->proof->same_pairing = true;
	}
	if (answer == SMT_WITNESS) {
		g_array_append_vals(witness, f->requests->data, f->requests->len);
		f->open = OPEN_INCOMPLETE;
		if (accepted(s, witness, f)) {
			f->verdict = VERDICT_RACE;
			f->open = OPEN_NO;
			f->by = "smt";
			f->witness = g_steal_pointer(&witness);
		}
	}
	return f;
}

static void decide(struct search *s)
{
	g_autoptr(GBytes) key = unit_key(s);
	const struct finding *known = g_hash_table_lookup(s->settled, key);
	/* After the solver's budget a query still costs a little. */
	bool paid = smt_solver_seconds(s->smt) < s->options->budget_total;

	effort_more(&s->effort, QUESTION);
	if (paid)
		effort_pause(&s->effort);
	if (known == NULL || (!is_shown(known) && !s->options->pairs_events))
		settle(s, key, ask(s));
	if (paid)
		effort_resume(&s->effort);
}

static bool unit_is_race(const struct search *s)
{
	if (s->options->pairs_events)
		return false;
	g_autoptr(GBytes) key = unit_key(s);
	const struct finding *f = g_hash_table_lookup(s->settled, key);
	return f != NULL && is_shown(f);
}

/* Choose an event of the i-th class whose causal past is compatible with those chosen. */
static void choose(struct search *s, uint32_t i)
{
	const struct past *c = smt_past(s->smt);
	const GArray *events;

	if (i == s->length) {
		s->report->candidates++;
		decide(s);
		return;
	}
	events = g_array_index(s->wants, struct want, s->path[i]).events;
	for (guint k = 0; k < events->len && !s->cancelled &&
	                  effort_more(&s->effort, EFFORT_QUESTION * (i + 1));
	     k++) {
		uint32_t e = g_array_index(events, uint32_t, k);
		bool apart = false;

		/* then it is before all later members of the class, too */
		for (uint32_t j = 0; j < i; j++) {
			if (past_has_before(c, e, s->chosen[j]))
				return;
			apart |= past_has_before(c, s->chosen[j], e);
		}
		if (apart)
			continue;
		s->chosen[i] = e;
		choose(s, i + 1);
		if (unit_is_race(s))
			return;
	}
}

/* -- cycles of classes ---------------------------------------------------------------- */

static bool fits(const struct search *s, const struct want *new)
{
	for (uint32_t i = 0; i < s->length; i++) {
		const struct want *w = &g_array_index(s->wants, struct want, s->path[i]);

		if (w->thread == new->thread || guarded(s, w, new))
			return false;
	}
	return true;
}

/* Enumerate every cycle once, from its least class. */
static void extend(struct search *s)
{
	const struct want *last = &g_array_index(s->wants, struct want, s->path[s->length - 1]);

	for (guint i = 0; i < last->next->len && !s->cancelled && !s->cut &&
	                  effort_more(&s->effort, s->length);
	     i++) {
		uint32_t next = g_array_index(last->next, uint32_t, i);

		if (next == s->path[0]) {
			s->cut |= ++s->cycles > MAX_CYCLES;
			if (!unit_is_race(s))
				choose(s, 0);
			continue;
		}
		if (next < s->path[0] || !fits(s, &g_array_index(s->wants, struct want, next)))
			continue;
		if (s->length == MAX_LENGTH) {
			s->cut = true;
			return;
		}
		s->path[s->length++] = next;
		extend(s);
		s->length--;
	}
}

static void find_cycles(struct search *s)
{
	for (uint32_t i = 0; i < s->wants->len && !s->cancelled && !s->effort.over; i++) {
		s->path[0] = i;
		s->length = 1;
		extend(s);
		if (!progress_tick(s->progress, (double)i / s->wants->len, "lock order"))
			s->cancelled = true;
	}
}

/* -- deadlocks that happened --------------------------------------------------------------- */

/* Search for a witness, as a schedule for `replay`; the deadlock happened in any case. */
static void add_witness(struct search *s, struct finding *f)
{
	s->length = f->requests->len;
	for (uint32_t i = 0; i < s->length; i++)
		s->chosen[i] = g_array_index(f->requests, uint32_t, i);
	struct finding *found = ask(s);
	f->witness = g_steal_pointer(&found->witness);
	finding_free(found);
}

static GBytes *requests_key(const struct search *s, const uint32_t *requests, uint32_t count)
{
	uint32_t numbers[MAX_LENGTH];

	for (uint32_t i = 0; i < count; i++) {
		uint32_t e = requests[i];

		numbers[i] = s->options->pairs_events ? e : request_site(s->sites, e);
	}
	qsort(numbers, count, sizeof(uint32_t), compare_u32);
	return bytes_of(numbers, count);
}

static GBytes *happened_key(const struct search *s, const struct finding *f)
{
	return requests_key(s, (const uint32_t *)(void *)f->requests->data, f->requests->len);
}

/* Each wait that happened is no prediction, neither by itself nor on a circle with others. */
static void note_happened(struct search *s, const struct finding *f)
{
	for (guint i = 0; f->waits != NULL && i < f->waits->len; i++) {
		uint32_t e = g_array_index(f->waits, struct wait, i).event;

		g_hash_table_add(s->happened, GUINT_TO_POINTER(e + 1));
		g_autoptr(GBytes) key = requests_key(s, &e, 1);
		if (!g_hash_table_contains(s->settled, key))
			g_hash_table_insert(s->settled, g_bytes_ref(key), (gpointer)f);
	}
}

static void add_happened(struct search *s)
{
	unsigned dropped;
	GPtrArray *happened = stuck_find(s->t, &dropped);

	for (guint i = 0; i < happened->len; i++) {
		struct finding *f = happened->pdata[i];

		note_happened(s, f);
		if (f->kind != FINDING_DEADLOCK || f->requests->len > MAX_LENGTH) {
			report_add(s->report, f);
			continue;
		}
		add_witness(s, f);
		g_autoptr(GBytes) key = happened_key(s, f);
		if (g_hash_table_contains(s->settled, key)) /* the same places again */
			report_add(s->report, f);
		else
			settle(s, key, f);
	}
	g_ptr_array_free(happened, TRUE);
	if (dropped > 0)
		report_note(s->report, STUCK_DROPPED "%u", dropped);
}

/* -- waits that never end, of every kind --------------------------------------------------- */

static bool wanted(void *context, const uint32_t *requests, uint32_t count)
{
	struct search *s = context;
	GBytes *key = requests_key(s, requests, count);
	const struct finding *known = g_hash_table_lookup(s->settled, key);
	bool happened = true;

	g_bytes_unref(key);
	for (uint32_t i = 0; i < count; i++)
		happened &=
		        g_hash_table_contains(s->happened, GUINT_TO_POINTER(requests[i] + 1));
	return !happened && (known == NULL || !is_shown(known));
}

static void found(void *context, struct finding *f)
{
	struct search *s = context;

	if (!accepted(s, f->witness, f)) {
		s->refused++;
		finding_free(f);
		return;
	}
	f->verdict = VERDICT_RACE;
	f->counted_all = s->options->pairs_events;
	g_autoptr(GBytes) key = happened_key(s, f);
	settle(s, key, f);
}

static void find_waits(struct search *s, const struct progress *progress)
{
	struct stuck_search search = { .wanted = wanted, .found = found, .context = s };
	/* a view by chains has several threads in one place */
	struct trace *t = s->options->use_missing ? s->t : (struct trace *)trace_recorded(s->t);

	stuck_search(t, s->options, &search, progress);
	s->cancelled |= search.cancelled;
	bool by_states = search.complete && s->refused == 0;
	/* states decide the others */
	s->report->same_pairing =
	        past_waits_vary(t, !by_states || search.as_recorded
	                                   ? PAST_REORDERED
	                                   : PAST_ONCE | PAST_SENT_AGAIN | PAST_SENT_LATER);
	const char *futexes = trace_note(t, FUTEX_NOTE);

	if (futexes != NULL)
		report_note(s->report,
		            "waits that never end for a futex, by a system call of the "
		            "program's own (%s in this run), are found where they happened, "
		            "and not predicted: in which orders they would be woken is not "
		            "modelled",
		            futexes);
	else if (by_states)
		s->report->scope = "deadlock or wait that never ends";
	else if (search.left_out)
		report_note(
		        s->report,
		        "other waits that may never end (through joins, conditions, semaphores, "
		        "barriers, pipes, once-functions) were not searched: the trace has more than 8 million events or "
		        "4,000 threads, or is not whole");
	else if (search.states == 0)
		report_note(s->report,
		            "other waits that may never end (through joins, conditions, "
		            "semaphores, barriers, pipes, once-functions) were looked for by "
		            "holding back one thread at a time, as far as the budget went "
		            "(--budget PAIR,ALL gives more)");
	else
		report_note(
		        s->report,
		        "not all other waits that may never end (through joins, conditions, "
		        "semaphores, barriers, pipes, once-functions) are decided: %" G_GUINT64_FORMAT
		        " states were searched",
		        search.states);
}

/* -- the analysis -------------------------------------------------------------------------- */

/* The enumeration is incomplete: units with a proof for some requests only become unknown.
 * (With pairs_events each set is a unit.) */
static void leave_open(struct search *s)
{
	for (guint i = 0; i < s->others->len && !s->options->pairs_events; i++) {
		struct finding *f = s->others->pdata[i];

		if (f->verdict != VERDICT_IMPOSSIBLE)
			continue;
		f->verdict = VERDICT_UNKNOWN;
		f->open = OPEN_TOTAL;
		f->by = NULL;
		proof_free(f->proof);
		f->proof = NULL;
	}
}

static void finish(struct search *s)
{
	s->report->complete = !s->cut;
	if (s->cut || s->effort.over)
		leave_open(s);
	if (s->effort.over)
		report_note_effort(s->report, s->options);
	report_note_invocations(s->report, s->t, "");
	if (s->cut)
		report_note(s->report,
		            "more than %d cycles of lock orders, or one of more than %d "
		            "threads: the rest was not looked at",
		            MAX_CYCLES, MAX_LENGTH);
	if (s->cut)
		report_open(s->report, "there are too many cycles of locks");
	for (guint i = 0; i < s->others->len; i++) {
		const struct finding *f = s->others->pdata[i];

		if (f->verdict == VERDICT_UNKNOWN) {
			s->report->complete = false;
			s->report->budget_spent = true;
		}
	}
	while (s->options->all_verdicts && s->others->len > 0)
		report_add(s->report, g_ptr_array_remove_index(s->others, s->others->len - 1));
	report_finish(s->report);
}

static void search_release(struct search *s)
{
	g_array_unref(s->edges);
	g_free(s->component);
	locksets_free(s->locksets);
	for (guint i = 0; i < s->wants->len; i++) {
		g_array_free(g_array_index(s->wants, struct want, i).events, TRUE);
		g_array_free(g_array_index(s->wants, struct want, i).next, TRUE);
	}
	g_array_free(s->wants, TRUE);
	for (guint i = 0; i < s->others->len; i++)
		finding_free(s->others->pdata[i]);
	g_ptr_array_free(s->others, TRUE);
	g_hash_table_destroy(s->want_of);
	request_sites_free(s->sites);
	g_hash_table_destroy(s->settled);
	g_hash_table_destroy(s->happened);
	smt_free(s->smt);
	checker_free(s->checker);
}

static GHashTable *table_by_bytes(void)
{
	return g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref,
	                             NULL);
}

static struct report *find_deadlocks(struct trace *t, const struct race_options *options,
                                     const struct progress *progress, struct error *error)
{
	struct smt_options smt_options = { .use_values = options->use_values,
		                           .invocations = true,
		                           .budget_total = options->budget_total };
	struct search s = { .t = t, .options = options, .progress = progress };

	s.report = report_new(t, "deadlocks");
	s.locksets = locksets_empty();
	s.edges = g_array_new(FALSE, FALSE, sizeof(struct lock_edge));
	s.wants = g_array_new(FALSE, FALSE, sizeof(struct want));
	s.others = g_ptr_array_new();
	s.want_of = table_by_bytes();
	s.sites = request_sites_new(t);
	s.settled = table_by_bytes();
	s.happened = g_hash_table_new(NULL, NULL);
	s.smt = smt_new(t, &smt_options, progress);
	s.cancelled = s.smt == NULL;
	if (!s.cancelled) {
		effort_init(&s.effort, t->events_count, options);
		add_happened(&s);
		collect_requests(&s);
		mark_cycles(&s);
		link_wants(&s);
		find_cycles(&s);
	}
	if (!s.cancelled && !options->locks_alone)
		find_waits(&s, progress);
	if (s.cancelled) {
		error_cancelled(error);
		report_free(s.report);
		s.report = NULL;
	} else {
		finish(&s);
	}
	search_release(&s);
	return s.report;
}

/* The analysis on the view with the must-orders of missing code, which has the same events. */
static struct report *with_missing(struct trace *t, const struct race_options *options,
                                   const struct progress *progress, struct error *error)
{
	struct trace *lent = options->again != NULL ? options->again->view : NULL;
	struct trace *view = lent != NULL ? lent : trace_view_missing(t, INDEX_ALL, progress);

	if (view == NULL) {
		error_cancelled(error);
		return NULL;
	}
	struct report *r = find_deadlocks(view, options, progress, error);
	if (r != NULL)
		r->trace = t;
	if (lent == NULL)
		trace_view_free(view);
	return r;
}

struct report *deadlocks_find(struct trace *t, const struct race_options *options,
                              const struct progress *progress, struct error *error)
{
	if (!trace_weak_allows(t, "the search for deadlocks", error))
		return NULL;
	if (options->use_missing)
		return with_missing(t, options, progress, error);
	struct report *r = by_chains(t, options, find_deadlocks, progress, error);
	if (r != NULL)
		findings_mark_hidden(t, r);
	return r;
}
