/*
 * prop_orders.c - the partial orders against the sentences of semantics.md, executed
 * naively on random small traces: relations as bits, rules applied until nothing changes.
 *
 * Compared are: ordered or not, for every two events; the chain that is given as the
 * reason; the vector clocks; and the exact list of racy pairs of each analysis.
 */
#include "engine/order/order.h"
#include "engine/predict/predict.h"
#include "tests/property/mix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 31 };
typedef uint32_t set;

struct relation { /* before[f]: the events e with e before f */
	set before[N];
};
struct section {
	uint32_t acquire, release, thread, object; /* release NONE: open */
	bool shared;
	set events;
};
struct naive {
	const struct trace *t;
	uint32_t n;
	struct relation program, must, synchronises, lock, observation, hb;
	struct section sections[N];
	uint32_t count;
};

static set bit(uint32_t e)
{
	return (set)1 << e;
}

static bool in(const struct relation *r, uint32_t e, uint32_t f)
{
	return r->before[f] >> e & 1;
}

static const struct event *event(const struct naive *x, uint32_t e)
{
	return &x->t->events[e];
}

static bool live(const struct naive *x, uint32_t e)
{
	return !event_inert(event(x, e));
}

static void unite(struct relation *to, const struct relation *from)
{
	for (uint32_t f = 0; f < N; f++)
		to->before[f] |= from->before[f];
}

/* Every edge leads forward in the trace, so one pass closes. */
static void close_transitively(struct relation *r)
{
	for (uint32_t f = 0; f < N; f++) {
		for (uint32_t e = 0; e < f; e++) {
			if (in(r, e, f))
				r->before[f] |= r->before[e];
		}
	}
}

/* -- the edges --------------------------------------------------------------------------- */

static bool same_object(const struct naive *x, uint32_t e, uint32_t f)
{
	return op_table[event(x, e)->op].operand == OPERAND_OBJECT &&
	       op_table[event(x, f)->op].operand == OPERAND_OBJECT &&
	       event(x, e)->target == event(x, f)->target;
}

static bool covers(const struct naive *x, uint32_t e, uint32_t v)
{
	if (!op_is_access(event(x, e)->op) || !live(x, e))
		return false;
	struct wide run = event_variables(x->t, event(x, e));
	return run.first <= v && v < run.first + run.count;
}

static uint32_t last_writer(const struct naive *x, uint32_t e, uint32_t v)
{
	while (e-- > 0) {
		if (covers(x, e, v) && op_writes(event(x, e)->op))
			return e;
	}
	return NONE;
}

/* The writes of the release sequence on v that `head` heads. */
static set release_sequence(const struct naive *x, uint32_t head, uint32_t v)
{
	set sequence = bit(head);

	for (uint32_t f = head + 1; f < x->n; f++) {
		if (!covers(x, f, v) || !op_writes(event(x, f)->op))
			continue;
		if (event(x, f)->op == OP_WRITE ||
		    (event(x, f)->op != OP_RMW &&
		     event(x, f)->thread != event(x, head)->thread))
			break;
		sequence |= bit(f);
	}
	return sequence;
}

static bool before_in_thread(const struct naive *x, uint32_t e, uint32_t f)
{
	return e < f && event(x, e)->thread == event(x, f)->thread;
}

/* The events that release for the atomic write w: itself, and release fences before it. */
static set releasing(const struct naive *x, uint32_t w)
{
	set all = order_releases(event_order(event(x, w))) ? bit(w) : 0;

	for (uint32_t f = 0; f < w; f++) {
		if (before_in_thread(x, f, w) && event(x, f)->op == OP_FENCE && live(x, f) &&
		    order_releases(event_order(event(x, f))))
			all |= bit(f);
	}
	return all;
}

static set acquiring(const struct naive *x, uint32_t r)
{
	set all = order_acquires(event_order(event(x, r))) ? bit(r) : 0;

	for (uint32_t f = r + 1; f < x->n; f++) {
		if (before_in_thread(x, r, f) && event(x, f)->op == OP_FENCE && live(x, f) &&
		    order_acquires(event_order(event(x, f))))
			all |= bit(f);
	}
	return all;
}

static void synchronise(struct naive *x, uint32_t w, uint32_t r)
{
	set from = releasing(x, w), to = acquiring(x, r);

	if (event(x, w)->thread == event(x, r)->thread)
		return;
	for (uint32_t f = 0; f < x->n; f++) {
		if (to & bit(f))
			x->synchronises.before[f] |= from;
	}
}

static void make_synchronises(struct naive *x)
{
	for (uint32_t v = 0; v < x->t->variables_count; v++) {
		for (uint32_t w = 0; w < x->n; w++) {
			if (!covers(x, w, v) || !op_is_atomic(event(x, w)->op) ||
			    !op_writes(event(x, w)->op))
				continue;
			set sequence = release_sequence(x, w, v);
			for (uint32_t r = w + 1; r < x->n; r++) {
				if (!covers(x, r, v) || !op_is_atomic(event(x, r)->op) ||
				    !op_reads(event(x, r)->op))
					continue;
				uint32_t seen = last_writer(x, r, v);
				if (seen != NONE && sequence & bit(seen))
					synchronise(x, w, r);
			}
		}
	}
}

static void make_sections(struct naive *x)
{
	for (uint32_t a = 0; a < x->n; a++) {
		struct section *s = &x->sections[x->count];
		uint32_t last = x->n;

		if (!op_acquires(event(x, a)->op) || !live(x, a))
			continue;
		*s = (struct section){ a,
			               NONE,
			               event(x, a)->thread,
			               event(x, a)->target,
			               event(x, a)->op == OP_RACQ,
			               0 };
		for (uint32_t f = a + 1; f < x->n && s->release == NONE; f++) {
			if (before_in_thread(x, a, f) && same_object(x, a, f) && live(x, f) &&
			    event(x, f)->op == (s->shared ? OP_RREL : OP_REL))
				s->release = last = f;
		}
		for (uint32_t f = a; f < x->n && f <= last; f++) {
			if (event(x, f)->thread == s->thread)
				s->events |= bit(f);
		}
		x->count++;
	}
}

static bool exclude(const struct section *a, const struct section *b)
{
	return a->object == b->object && !(a->shared && b->shared);
}

static void make_locks(struct naive *x)
{
	for (uint32_t i = 0; i < x->count; i++) {
		for (uint32_t j = 0; j < x->count; j++) {
			const struct section *a = &x->sections[i], *b = &x->sections[j];

			if (exclude(a, b) && a->release != NONE && a->release < b->acquire)
				x->lock.before[b->acquire] |= bit(a->release);
		}
	}
}

/* A failed try observes the lock's acquire, or the takes that left no count. */
static void make_tries(struct naive *x, uint32_t e)
{
	int64_t count;

	if (event(x, e)->op == OP_TRYFAIL) {
		for (uint32_t i = 0; i < x->count; i++) {
			const struct section *s = &x->sections[i];

			if (same_object(x, s->acquire, e) && s->acquire < e && s->release > e)
				x->observation.before[e] |= bit(s->acquire);
		}
		for (uint32_t f = e; x->observation.before[e] == 0 && f-- > 0;) {
			enum op op = (enum op)event(x, f)->op;

			if (!same_object(x, f, e) || !live(x, f) ||
			    !(op == OP_DESTROY || op_acquires(op)))
				continue;
			if (op == OP_DESTROY)
				x->observation.before[e] |= bit(f);
			break;
		}
		return;
	}
	count = x->t->objects[event(x, e)->target].count;
	for (uint32_t f = 0; f < e; f++) {
		if (same_object(x, e, f) && live(x, f))
			count += (event(x, f)->op == OP_POST) - (event(x, f)->op == OP_TAKE);
	}
	for (uint32_t f = 0; f < e && count == 0; f++) {
		if (same_object(x, e, f) && live(x, f) && event(x, f)->op == OP_TAKE)
			x->observation.before[e] |= bit(f);
	}
}

static void make_observations(struct naive *x)
{
	for (uint32_t e = 0; e < x->n; e++) {
		if (!live(x, e))
			continue;
		if (event(x, e)->op == OP_TRYFAIL || event(x, e)->op == OP_TAKETRYFAIL)
			make_tries(x, e);
		for (uint32_t v = 0; v < x->t->variables_count; v++) {
			uint32_t w = last_writer(x, e, v);

			if (w != NONE && covers(x, e, v) && op_reads(event(x, e)->op))
				x->observation.before[e] |= bit(w);
		}
	}
}

static void naive_make(struct naive *x, const struct trace *t)
{
	memset(x, 0, sizeof(*x));
	x->t = t;
	x->n = (uint32_t)t->events_count;
	for (uint32_t f = 0; f < x->n; f++) {
		for (uint32_t e = 0; e < f; e++) {
			if (event(x, e)->thread == event(x, f)->thread)
				x->program.before[f] |= bit(e);
		}
	}
	oracle_must(t, x->must.before);
	for (uint32_t f = 0; f < x->n; f++) /* the own wait of a wake: program order */
		x->must.before[f] &= ~x->program.before[f];
	make_synchronises(x);
	make_sections(x);
	make_locks(x);
	make_observations(x);
	x->hb = x->program;
	unite(&x->hb, &x->must);
	unite(&x->hb, &x->synchronises);
	unite(&x->hb, &x->lock);
	close_transitively(&x->hb);
}

/* -- the orders -------------------------------------------------------------------------- */

/* (c): closed under composition with happens-before on both sides. */
static void compose(const struct naive *x, struct relation *r)
{
	for (uint32_t f = 0; f < x->n; f++) {
		for (uint32_t e = 0; e < f; e++) {
			if (in(r, e, f))
				r->before[f] |= x->hb.before[e];
		}
	}
	for (uint32_t f = 0; f < x->n; f++) {
		for (uint32_t g = 0; g < f; g++) {
			if (in(&x->hb, g, f))
				r->before[f] |= r->before[g];
		}
	}
}

static bool hold_conflict(const struct naive *x, const struct section *a, uint32_t f)
{
	for (uint32_t e = 0; e < x->n; e++) {
		if (a->events & bit(e) && events_conflict(x->t, e, f))
			return true;
	}
	return false;
}

static bool sections_conflict(const struct naive *x, const struct section *a,
                              const struct section *b)
{
	for (uint32_t f = 0; f < x->n; f++) {
		if (b->events & bit(f) && hold_conflict(x, a, f))
			return true;
	}
	return false;
}

static bool sections_ordered(const struct naive *x, const struct relation *r,
                             const struct section *a, const struct section *b)
{
	for (uint32_t f = 0; f < x->n; f++) {
		if (b->events & bit(f) && r->before[f] & a->events)
			return true;
	}
	return false;
}

/* Rule (a) of WCP, DC and WDC. */
static void rule_a(const struct naive *x, struct relation *r)
{
	for (uint32_t i = 0; i < x->count; i++) {
		for (uint32_t j = 0; j < x->count; j++) {
			const struct section *a = &x->sections[i], *b = &x->sections[j];

			if (!exclude(a, b) || a->release == NONE || a->release > b->acquire)
				continue;
			for (uint32_t f = b->acquire; f < x->n; f++) {
				if (b->events & bit(f) && hold_conflict(x, a, f))
					r->before[f] |= bit(a->release);
			}
		}
	}
}

/* Rule (b); for CP also (a), as both lead to the acquire. */
static bool rule_b(const struct naive *x, struct relation *r, bool cp)
{
	bool changed = false;

	for (uint32_t i = 0; i < x->count; i++) {
		for (uint32_t j = 0; j < x->count; j++) {
			const struct section *a = &x->sections[i], *b = &x->sections[j];
			uint32_t to = cp ? b->acquire : b->release;

			if (!exclude(a, b) || a->release == NONE || a->release > b->acquire ||
			    to == NONE || in(r, a->release, to) ||
			    (cp && a->thread == b->thread))
				continue;
			if (sections_ordered(x, r, a, b) ||
			    (cp && sections_conflict(x, a, b))) {
				r->before[to] |= bit(a->release);
				changed = true;
			}
		}
	}
	return changed;
}

static struct relation relation_of(const struct naive *x, enum order_kind kind)
{
	struct relation r = { 0 };

	unite(&r, &x->must);
	unite(&r, &x->synchronises);
	if (kind == ORDER_KIND_PO || kind == ORDER_KIND_HB || kind == ORDER_KIND_SHB) {
		unite(&r, &x->program);
		if (kind != ORDER_KIND_PO)
			unite(&r, &x->lock);
		if (kind == ORDER_KIND_SHB)
			unite(&r, &x->observation);
		close_transitively(&r);
		return r;
	}
	if (kind != ORDER_KIND_CP)
		rule_a(x, &r);
	if (kind == ORDER_KIND_DC || kind == ORDER_KIND_WDC) {
		unite(&r, &x->program);
		do
			close_transitively(&r);
		while (kind == ORDER_KIND_DC && rule_b(x, &r, false));
		return r;
	}
	do {
		compose(x, &r);
		close_transitively(&r);
	} while (rule_b(x, &r, kind == ORDER_KIND_CP));
	unite(&r, &x->program);
	close_transitively(&r);
	return r;
}

/* Events before f if f's own observation orders nothing. */
static set unobserved(const struct naive *x, enum order_kind kind, const struct relation *r,
                      uint32_t f)
{
	set direct = x->program.before[f] | x->must.before[f], all = direct;

	if (!op_is_access(event(x, f)->op))
		return r->before[f];
	for (uint32_t e = 0; e < f; e++) {
		if (direct & bit(e))
			all |= r->before[e];
	}
	return all;
}

/* -- comparing --------------------------------------------------------------------------- */

static int failures;

static void fail(uint64_t seed, const struct trace *t, const char *what, enum order_kind kind,
                 uint32_t e, uint32_t f)
{
	if (failures++ > 3)
		return;
	char *text = trace_text(t);
	printf("seed %lu: %s, %s: events %u, %u\n%s", (unsigned long)seed,
	       order_kind_word(kind), what, e, f, text);
	g_free(text);
}

static bool edge_holds(const struct naive *x, const struct step *s)
{
	switch (s->rule) {
	case STEP_PROGRAM:
		return in(&x->program, s->from, s->to);
	case STEP_MUST:
		return in(&x->must, s->from, s->to);
	case STEP_SYNCHRONISES:
		return in(&x->synchronises, s->from, s->to);
	case STEP_LOCK:
		return in(&x->lock, s->from, s->to);
	case STEP_OBSERVATION:
		return in(&x->observation, s->from, s->to);
	default: /* from a release, to an event of a later section on that lock */
		return op_releases(event(x, s->from)->op) &&
		       event(x, s->from)->target == s->detail;
	}
}

static bool chain_holds(const struct naive *x, enum order_kind kind, const struct path *path,
                        uint32_t e, uint32_t f)
{
	bool composed = kind == ORDER_KIND_WCP || kind == ORDER_KIND_CP, base = false;
	uint32_t at = e;

	if (path->steps == NULL || path->steps->len == 0)
		return false;
	for (guint i = 0; i < path->steps->len; i++) {
		const struct step *s = &g_array_index(path->steps, struct step, i);

		if (s->from != at || !edge_holds(x, s))
			return false;
		base |= s->rule != STEP_PROGRAM && s->rule != STEP_LOCK;
		at = s->to;
	}
	return at == f && (!composed || base || event(x, e)->thread == event(x, f)->thread);
}

static void compare_orders(uint64_t seed, struct trace *t, const struct naive *x,
                           enum order_kind kind, const struct relation *r)
{
	struct order *order = order_new(t, kind, NULL);
	bool plain = kind == ORDER_KIND_PO || kind == ORDER_KIND_HB || kind == ORDER_KIND_SHB;
	uint32_t clock[16];

	for (uint32_t f = 0; f < x->n; f++) {
		set known = r->before[f] | bit(f);

		for (uint32_t e = 0; e < x->n; e++) {
			struct path path = { 0 };
			bool ordered = order_ordered(order, e, f);

			if (ordered != in(r, e, f))
				fail(seed, t, ordered ? "ordered" : "not ordered", kind, e, f);
			if (plain && order_ordered_unobserved(order, e, f) !=
			                     (unobserved(x, kind, r, f) >> e & 1))
				fail(seed, t, "unobserved", kind, e, f);
			if (order_path(order, e, f, &path) != ordered ||
			    (ordered && in(r, e, f) && !chain_holds(x, kind, &path, e, f)))
				fail(seed, t, "chain", kind, e, f);
			path_release(&path);
		}
		order_clock(order, f, clock);
		for (uint32_t u = 0; u < t->threads_count; u++) {
			uint32_t count = 0;

			for (uint32_t e = 0; e < x->n; e++)
				count += event(x, e)->thread == u && (known >> e & 1);
			if (clock[u] != count)
				fail(seed, t, "clock", kind, u, f);
		}
	}
	order_free(order);
}

/* The events before either, in the order of the trace, must be a correct reordering; they are
 * none where the recording itself uses a block that it has freed. */
static bool shb_witnessed(const struct naive *x, const struct relation *r, uint32_t e,
                          uint32_t f)
{
	set past = unobserved(x, ORDER_KIND_SHB, r, e) | unobserved(x, ORDER_KIND_SHB, r, f);
	uint32_t sequence[N], length = 0;

	for (uint32_t g = 0; g < x->n; g++) {
		if (past >> g & 1)
			sequence[length++] = g;
	}
	return oracle_is_reordering(x->t, sequence, length, false);
}

static uint32_t site_of(const struct trace *t, uint32_t e)
{
	return t->locations[t->events[e].location].site;
}

/* The pass by sites: every finding's pair is in the exact list, and every site that is
 * second in a pair of the list is second in one that was seen. */
static void compare_sites(uint64_t seed, struct trace *t, const struct naive *x,
                          enum order_kind kind, enum analysis analysis, bool expected[N][N])
{
	struct race_options options;
	bool seen[N] = { false };

	race_options_init(&options);
	options.analysis = analysis;
	struct report *report = races_find(t, &options, NULL, NULL);
	for (guint i = 0; i < report->findings->len; i++) {
		const struct finding *found = g_ptr_array_index(report->findings, i);

		if (!expected[found->first][found->second])
			fail(seed, t, "site pair", kind, found->first, found->second);
		for (uint32_t f = 0; f < x->n; f++)
			seen[f] |= site_of(t, f) == site_of(t, found->first) ||
			           site_of(t, f) == site_of(t, found->second);
	}
	/* Where the pass's one pair is refused because of a freed block, another may be good.
	 */
	for (uint32_t f = 0; f < x->n && (kind != ORDER_KIND_SHB || t->blocks_count == 0);
	     f++) {
		for (uint32_t e = 0; e < f; e++) {
			if (expected[e][f] && !seen[f])
				fail(seed, t, "site not seen", kind, e, f);
		}
	}
	report_free(report);
}

/* The exact pairs. */
static void compare_races(uint64_t seed, struct trace *t, const struct naive *x,
                          enum order_kind kind, enum analysis analysis,
                          const struct relation *r)
{
	struct race_options options;
	bool expected[N][N] = { 0 };

	race_options_init(&options);
	options.analysis = analysis;
	options.pairs_events = true;
	for (uint32_t f = 0; f < x->n; f++) {
		set before = kind == ORDER_KIND_SHB ? unobserved(x, kind, r, f) : r->before[f];

		for (uint32_t e = 0; e < f; e++)
			expected[e][f] = events_race_conflict(t, e, f) && !(before >> e & 1) &&
			                 (kind != ORDER_KIND_SHB || shb_witnessed(x, r, e, f));
	}
	compare_sites(seed, t, x, kind, analysis, expected);
	struct report *report = races_find(t, &options, NULL, NULL);
	for (guint i = 0; i < report->findings->len; i++) {
		const struct finding *found = g_ptr_array_index(report->findings, i);

		if (!expected[found->first][found->second])
			fail(seed, t, "listed", kind, found->first, found->second);
		expected[found->first][found->second] = false;
	}
	for (uint32_t f = 0; f < x->n; f++) {
		for (uint32_t e = 0; e < f; e++) {
			if (expected[e][f])
				fail(seed, t, "not listed", kind, e, f);
		}
	}
	report_free(report);
}

static const struct {
	enum order_kind kind;
	enum analysis analysis;
} orders[] = {
	{ ORDER_KIND_PO, ANALYSIS_COUNT }, { ORDER_KIND_HB, ANALYSIS_HB },
	{ ORDER_KIND_SHB, ANALYSIS_SHB },  { ORDER_KIND_CP, ANALYSIS_CP },
	{ ORDER_KIND_WCP, ANALYSIS_WCP },  { ORDER_KIND_DC, ANALYSIS_DC },
	{ ORDER_KIND_WDC, ANALYSIS_WDC },
};

/* Everything, or a few kinds of operation that meet more often. */
static struct random_options shape(uint64_t seed)
{
	struct random_options o = { .threads = 2 + seed % 3,
		                    .events = 12 + seed / 3 % 17,
		                    .variables = 1 + seed % 4,
		                    .locks = 1 + seed / 7 % 3 };

	if (seed % 5 != 0) {
		o.rwlocks = seed >> 1 & 1;
		o.atomics = seed >> 2 & 1;
		o.forks = seed >> 3 & 1;
		o.joins = seed >> 4 & 1;
		o.sizes = seed >> 5 & 1;
	}
	if (seed % 5 == 1) {
		o.conditions = seed >> 6 & 1;
		o.barriers = seed >> 7 & 1;
		o.semaphores = seed >> 8 & 1;
		o.blocks = seed >> 9 & 1;
		o.messages = seed >> 10 & 1;
		o.tries = seed >> 11 & 1;
		o.invocations = seed >> 12 & 1;
	}
	if (seed % 5 == 3 && seed >> 3 & 1) /* rounds and messages of many threads */
		o = (struct random_options){ .threads = 5 + seed / 5 % 2,
			                     .events = N - 1,
			                     .variables = 1,
			                     .locks = seed >> 4 & 1,
			                     .barriers = true,
			                     .messages = seed >> 5 & 1 };
	return o;
}

int main(void)
{
	uint64_t count = mix_setting("HEDDLE_TRACES", 4000);
	uint64_t first = mix_setting("HEDDLE_SEED", 0);
	uint64_t pairs[G_N_ELEMENTS(orders)] = { 0 };

	for (uint64_t seed = first; seed < first + count && failures == 0; seed++) {
		mix_clocks(seed);
		struct random_options options = shape(seed);
		struct trace *t = random_trace(seed, &options);
		struct naive x;

		naive_make(&x, t);
		for (size_t i = 0; i < G_N_ELEMENTS(orders); i++) {
			struct relation r = relation_of(&x, orders[i].kind);

			for (uint32_t f = 0; f < x.n; f++)
				pairs[i] += (uint64_t)__builtin_popcount(r.before[f]);
			compare_orders(seed, t, &x, orders[i].kind, &r);
			if (orders[i].analysis != ANALYSIS_COUNT)
				compare_races(seed, t, &x, orders[i].kind, orders[i].analysis,
				              &r);
		}
		trace_close(t);
	}
	printf("orders: %lu random traces;", (unsigned long)count);
	for (size_t i = 0; i < G_N_ELEMENTS(orders); i++)
		printf(" %s %lu", order_kind_word(orders[i].kind), (unsigned long)pairs[i]);
	printf(" ordered pairs\n");
	return failures != 0;
}
