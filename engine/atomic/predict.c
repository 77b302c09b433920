/*
 * predict.c - predicts cycles that did not happen: for groups of two or three units, the solver
 * searches for a correct reordering with a conflict from each unit to the next.
 *
 * Such a reordering has a cycle in its conflict graph, since conflicts on a variable between
 * two accesses form a chain of edges. The reported cycle is taken from the graph of the
 * witness, after the independent checker has accepted the witness. The paper (section 6) leaves
 * prediction as future work.
 *
 * Groups are tried until the budget ends: units of the findings; then pairs on one set, nearest
 * first and a few of each code; then triples; then the rest.
 */
#include "engine/base/compare.h"
#include "engine/atomic/atomic.h"
#include "engine/predict/smt/smt.h"
#include "engine/trace/chains.h"
#include "engine/witness/check.h"
#include "engine/base/hash.h"
#include "engine/base/search.h"

#include <string.h>

#define TRIES_A_CODE 12 /* groups of one code tried in the first round */
#define NEAR         8  /* units near a finding's that are tried as the third */
#define MOST_ATOMS   64 /* conflicting accesses named for one edge */

/* The accesses of a unit to one set. */
struct span {
	uint32_t unit;
	uint32_t first, count; /* in predictor.uses */
	uint32_t code;         /* code of its behaviour: see span_code */
};

/* The spans of one set. */
struct span_range {
	guint first, count;
};

/* Two or three spans in this order; unused: NONE. */
struct span_group {
	uint32_t span[3];
};

struct predictor {
	struct trace *t;
	const struct atomic_model *m;
	const struct cycles *happened;
	const struct atomic_options *options;
	struct report *report;
	const struct progress *progress;
	struct conflict_graph *g; /* of the whole trace */
	GArray *uses;             /* struct unit_use, by set, then unit, then event */
	GArray *spans;            /* struct span, by set, then begin */
	GArray *sets;             /* struct span_range */
	GArray *largest;          /* the same, largest first */
	struct smt *smt;
	struct cycles *finder; /* has the codes of the reported cycles */
	GHashTable *names;     /* behaviour of a unit, as text -> its code */
	GHashTable *asked;     /* struct span_group of spans */
	GHashTable *states;    /* struct span_group of codes -> number of tries, or FOUND */
	GHashTable *by_begin;  /* begin and thread of a unit -> its first span + 1 */
	GArray *next;          /* uint32_t, by span: the next span of its unit; NONE */
	uint64_t asked_of[4];  /* by size: number of pairs [2] and triples [3] tried */
	gint64 deadline;
	unsigned steps;
	double share; /* share of the work done, for progress */
	bool cancelled, over, undecided;
	bool rest;  /* no limit on tries of a code */
	bool fresh; /* a group of a code below its limit was met */
};

#define FOUND G_MAXUINT32

/* -- units by set ------------------------------------------------------------------------- */

static const struct unit *unit_at(const struct predictor *p, uint32_t unit)
{
	return &g_array_index(p->g->units, struct unit, unit);
}

static const struct unit_use *use_at(const struct predictor *p, uint32_t i)
{
	return &g_array_index(p->uses, struct unit_use, i);
}

static const struct span *span_at(const struct predictor *p, uint32_t i)
{
	return &g_array_index(p->spans, struct span, i);
}

static uint32_t thread_of(const struct predictor *p, uint32_t span)
{
	return unit_at(p, span_at(p, span)->unit)->thread;
}

static int by_set_and_unit(gconstpointer a, gconstpointer b, gpointer graph)
{
	const struct unit_use *x = a, *y = b;
	const GArray *units = ((const struct conflict_graph *)graph)->units;
	if (x->set != y->set)
		return x->set < y->set ? -1 : 1;
	uint32_t bx = g_array_index(units, struct unit, x->unit).begin;
	uint32_t by = g_array_index(units, struct unit, y->unit).begin;
	if (x->unit != y->unit)
		return bx != by ? (bx < by ? -1 : 1) : x->unit < y->unit ? -1 : 1;
	if (x->event != y->event)
		return x->event < y->event ? -1 : 1;
	return x->variable < y->variable ? -1 : x->variable > y->variable;
}

/* Code of a unit's behaviour: its name and the variables that it accesses. */
static uint32_t span_code(struct predictor *p, const struct span *s)
{
	const struct unit *u = unit_at(p, s->unit);
	GString *text = g_string_new(NULL);
	uint32_t last = NONE;
	if (u->name == NONE)
		g_string_append_printf(text, "@%u", p->t->events[u->begin].location);
	else
		g_string_append_printf(text, "%u", u->name);
	g_string_append_printf(text, " %u", use_at(p, s->first)->set);
	for (uint32_t i = s->first; i < s->first + MIN(s->count, 16); i++) {
		uint32_t name = trace_variable_code(p->t, use_at(p, i)->variable);
		bool writes = op_writes(p->t->events[use_at(p, i)->event].op);
		if (name != last)
			g_string_append_printf(text, ",%u%c", name, writes ? 'w' : 'r');
		last = name;
	}
	gpointer old;
	uint32_t code = g_hash_table_size(p->names);
	if (g_hash_table_lookup_extended(p->names, text->str, NULL, &old)) {
		g_string_free(text, TRUE);
		return GPOINTER_TO_UINT(old);
	}
	g_hash_table_insert(p->names, g_string_free(text, FALSE), GUINT_TO_POINTER(code));
	return code;
}

static void add_span(struct predictor *p, guint from, guint to)
{
	bool same_set = from > 0 && use_at(p, from - 1)->set == use_at(p, from)->set;
	struct span span = { use_at(p, from)->unit, from, to - from, 0 };
	span.code = span_code(p, &span);
	if (!same_set) {
		struct span_range set = { p->spans->len, 0 };
		g_array_append_val(p->sets, set);
	}
	g_array_index(p->sets, struct span_range, p->sets->len - 1).count++;
	g_array_append_val(p->spans, span);
}

static void make_spans(struct predictor *p)
{
	g_array_sort_with_data(p->uses, by_set_and_unit, p->g);
	for (guint from = 0, to; from < p->uses->len; from = to) {
		const struct unit_use *u = use_at(p, from);
		for (to = from; to < p->uses->len && use_at(p, to)->set == u->set &&
		                use_at(p, to)->unit == u->unit;
		     to++)
			;
		add_span(p, from, to);
	}
}

static int by_size(gconstpointer a, gconstpointer b)
{
	guint x = ((const struct span_range *)a)->count,
	      y = ((const struct span_range *)b)->count;
	return x > y ? -1 : x < y;
}

/* Number of pairs of units on one set, by two threads. */
static uint64_t count_pairs(const struct predictor *p)
{
	uint64_t pairs = 0, *of_thread = g_new(uint64_t, p->t->threads_count + 1);
	for (guint i = 0; i < p->sets->len; i++) {
		struct span_range set = g_array_index(p->sets, struct span_range, i);
		memset(of_thread, 0, p->t->threads_count * sizeof *of_thread);
		for (guint j = 0; j < set.count; j++)
			pairs += j - of_thread[thread_of(p, set.first + j)]++;
	}
	g_free(of_thread);
	return pairs;
}

/* -- one query ---------------------------------------------------------------------------- */

/* Conflicts from an access of `a` to a later one of `b`: at most MOST_ATOMS. */
static guint edge_atoms(struct predictor *p, const struct span *a, const struct span *b,
                        struct smt_atom *atoms)
{
	guint count = 0;
	bool one_thread = unit_at(p, a->unit)->thread == unit_at(p, b->unit)->thread;
	for (uint32_t i = a->first; i < a->first + a->count; i++)
		for (uint32_t j = b->first; j < b->first + b->count && count < MOST_ATOMS;
		     j++) {
			const struct unit_use *x = use_at(p, i), *y = use_at(p, j);
			if (x->variable != y->variable ||
			    (!op_writes(p->t->events[x->event].op) &&
			     !op_writes(p->t->events[y->event].op)) ||
			    (one_thread && x->event >= y->event))
				continue;
			atoms[count].kind = ATOM_BEFORE;
			atoms[count].e = x->event;
			atoms[count++].f = y->event;
		}
	return count;
}

struct cycle_query {
	struct predictor *p;
	const struct span *spans[3];
	uint32_t count;
	bool required; /* the edges' conflicts were required of the solver */
};

static bool is_single(const struct predictor *p, const struct span *s)
{
	return use_at(p, s->first)->event == use_at(p, s->first + s->count - 1)->event;
}

/* Is a conflict possible for each edge? Two single accesses come in one order only. */
static bool can_close(const struct cycle_query *q)
{
	struct smt_atom atoms[MOST_ATOMS];
	if (q->count == 2 && is_single(q->p, q->spans[0]) && is_single(q->p, q->spans[1]))
		return false;
	for (uint32_t i = 0; i < q->count; i++)
		if (!edge_atoms(q->p, q->spans[i], q->spans[(i + 1) % q->count], atoms))
			return false;
	return true;
}

/* The first try has no requirement; then each edge requires one of its conflicts. */
static bool judge_cycle(void *context, struct smt_query *query, const uint32_t *sequence,
                        uint32_t length)
{
	struct cycle_query *q = context;
	struct smt_atom atoms[MOST_ATOMS];
	if (q->required)
		return atomic_check(q->p->t, q->p->m, (struct event_list){ sequence, length },
		                    (struct event_list){ NULL, 0 }, NULL);
	q->required = true;
	for (uint32_t i = 0; i < q->count; i++)
		smt_query_require(
		        query, atoms,
		        edge_atoms(q->p, q->spans[i], q->spans[(i + 1) % q->count], atoms));
	return false;
}

static struct conflict_graph *graph_of(struct predictor *p, const GArray *sequence,
                                       size_t length)
{
	struct graph_options o = { .sequence = (const uint32_t *)(void *)sequence->data,
		                   .length = length,
		                   .uses = g_array_new(FALSE, FALSE, sizeof(struct unit_use)) };
	struct conflict_graph *g = conflict_graph_new(p->t, p->m, &o);
	g_array_unref(o.uses);
	return g;
}

/* The shortest cycle in a prefix of the sequence that runs through a unit of the question and
 * is not yet reported; or NULL. */
static struct finding *new_cycle(const struct cycle_query *q, const GArray *sequence,
                                 size_t length, uint32_t **code)
{
	struct predictor *p = q->p;
	struct conflict_graph *g = graph_of(p, sequence, length);
	uint32_t begins[3];
	for (uint32_t i = 0; i < q->count; i++)
		begins[i] = unit_at(p, q->spans[i]->unit)->begin;
	struct finding *f = cycles_find_new(p->finder, g, p->happened, begins, q->count, code);
	conflict_graph_free(g);
	return f;
}

static bool has_new(const struct cycle_query *q, const GArray *sequence, size_t length)
{
	g_autofree uint32_t *code = NULL;
	struct finding *f = new_cycle(q, sequence, length, &code);
	if (f)
		finding_free(f);
	return f != NULL;
}

static bool has_any(const struct cycle_query *q, const GArray *sequence, size_t length)
{
	return atomic_check(
	        q->p->t, q->p->m,
	        (struct event_list){ (const uint32_t *)(void *)sequence->data, length },
	        (struct event_list){ NULL, 0 }, NULL);
}

/* Length of the shortest prefix with the property; binary search, as cycles persist. */
static size_t shortest_beginning(const struct cycle_query *q, const GArray *sequence,
                                 bool (*has)(const struct cycle_query *, const GArray *,
                                             size_t))
{
	return search_end(i, 1, sequence->len, !has(q, sequence, i));
}

static bool witness_accepted(struct predictor *p, const GArray *sequence, size_t length)
{
	g_autoptr(GString) reason = g_string_new(NULL);
	return witness_check(
	        p->t, (struct event_list){ (const uint32_t *)(void *)sequence->data, length },
	        claimed_of(CLAIM_ATOMIC, NULL, 0), NULL, reason);
}

/* Shorten the sequence; false when the checker accepts neither the prefix nor the whole. */
static bool witness_shorten(const struct cycle_query *q, GArray *sequence)
{
	size_t length = shortest_beginning(q, sequence, has_any);
	if (!has_new(q, sequence, length))
		length = shortest_beginning(q, sequence, has_new);
	if (has_new(q, sequence, length) && witness_accepted(q->p, sequence, length)) {
		g_array_set_size(sequence, (guint)length);
		return true;
	}
	return witness_accepted(q->p, sequence, sequence->len);
}

/* Restore the ends of units that the prefix cuts off, from the recording. */
static void whole_units(struct predictor *p, struct finding *f)
{
	for (guint i = 0; i < f->units->len; i++) {
		struct cycle_unit *c = &g_array_index(f->units, struct cycle_unit, i);
		for (guint k = 0; k < p->g->units->len; k++) {
			const struct unit *u = unit_at(p, k);
			if (u->begin == c->begin && u->thread == c->thread && u->end != NONE &&
			    (u->name == NONE) == g_str_has_prefix(c->unit, "event "))
				c->end = u->end;
		}
	}
}

static void take_witness(const struct cycle_query *q, GArray *sequence)
{
	struct predictor *p = q->p;
	uint32_t *code = NULL;
	if (!has_new(q, sequence, sequence->len))
		return;
	if (!witness_shorten(q, sequence)) {
		report_note(p->report,
		            "a witness was refused by the checker and is not listed");
		return;
	}
	struct finding *f = new_cycle(q, sequence, sequence->len, &code);
	BUG_ON(f == NULL);
	cycles_add_code(p->finder, code);
	whole_units(p, f);
	f->verdict = VERDICT_RACE;
	f->by = "smt";
	f->witness = g_array_copy(sequence);
	report_add(p->report, f);
}

static double seconds_left(const struct predictor *p)
{
	return (double)(p->deadline - g_get_monotonic_time()) / 1e6;
}

static enum smt_answer cycle_query_solve(struct predictor *p, struct cycle_query *q)
{
	g_autoptr(GArray) sequence = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	struct smt_query *query = smt_query_new(p->smt);
	smt_query_judge(query, judge_cycle, q);
	enum smt_answer answer =
	        smt_query_solve(query, MAX(0, MIN(seconds_left(p), p->options->budget_pair)),
	                        sequence, NULL, p->progress);
	smt_query_free(query);
	if (answer == SMT_WITNESS)
		take_witness(q, sequence);
	p->cancelled |= answer == SMT_CANCELLED;
	p->undecided |= answer == SMT_SPENT;
	return answer;
}

/* -- groups ------------------------------------------------------------------------------- */

static guint hash_group(gconstpointer key)
{
	const struct span_group *g = key;
	uint64_t hash = 0;
	for (int i = 0; i < 3; i++)
		hash = hash_join(hash, g->span[i]);
	return hash_top(hash);
}

static gboolean equal_groups(gconstpointer a, gconstpointer b)
{
	return memcmp(a, b, sizeof(struct span_group)) == 0;
}

/* Pairs are tried in both directions at once; a triple may begin anywhere. */
static struct span_group group_normal(struct span_group g)
{
	uint32_t *s = g.span;
	if (s[2] == NONE)
		return (struct span_group){ { MIN(s[0], s[1]), MAX(s[0], s[1]), NONE } };
	if (s[0] <= s[1] && s[0] <= s[2])
		return g;
	if (s[1] <= s[0] && s[1] <= s[2])
		return (struct span_group){ { s[1], s[2], s[0] } };
	return (struct span_group){ { s[2], s[0], s[1] } };
}

static struct span_group codes_of(const struct predictor *p, struct span_group g)
{
	for (int i = 0; i < 3; i++)
		if (g.span[i] != NONE)
			g.span[i] = span_at(p, g.span[i])->code;
	return group_normal(g);
}

/* Checks the time at intervals. */
static bool predict_continue(struct predictor *p)
{
	if ((++p->steps & 1023) == 0 && !p->cancelled) {
		p->over |= seconds_left(p) <= 0;
		p->cancelled |= !progress_tick(p->progress, p->share, "predicting");
	}
	return !p->cancelled && !p->over;
}

/* The first pairs leave a third of the time to triples. */
static bool time_for(const struct predictor *p, bool triples)
{
	return triples || p->rest || seconds_left(p) > p->options->budget_total / 3;
}

static void try_group(struct predictor *p, struct span_group g)
{
	g = group_normal(g);
	struct span_group codes = codes_of(p, g);
	guint tries = GPOINTER_TO_UINT(g_hash_table_lookup(p->states, &codes));
	if (tries == FOUND || (tries >= TRIES_A_CODE && !p->rest) ||
	    g_hash_table_contains(p->asked, &g))
		return;
	p->fresh = true;
	struct cycle_query q = { .p = p, .count = g.span[2] == NONE ? 2 : 3 };
	for (uint32_t i = 0; i < q.count; i++)
		q.spans[i] = span_at(p, g.span[i]);
	p->over |= seconds_left(p) <= 0;
	if (p->over || !can_close(&q))
		return;
	g_hash_table_add(p->asked, g_memdup2(&g, sizeof g));
	p->asked_of[q.count]++;
	bool found = cycle_query_solve(p, &q) == SMT_WITNESS;
	g_hash_table_insert(p->states, g_memdup2(&codes, sizeof codes),
	                    GUINT_TO_POINTER(found ? FOUND : MIN(tries, 1000) + 1));
}

static void consider_pair(struct predictor *p, uint32_t a, uint32_t b)
{
	if (thread_of(p, a) != thread_of(p, b))
		try_group(p, (struct span_group){ { a, b, NONE } });
}

static void consider_triple(struct predictor *p, uint32_t a, uint32_t b, uint32_t c)
{
	if (a == b || b == c || a == c ||
	    (thread_of(p, a) == thread_of(p, b) && thread_of(p, b) == thread_of(p, c)))
		return;
	try_group(p, (struct span_group){ { a, b, c } });
	try_group(p, (struct span_group){ { a, c, b } });
}

/* Pairs or triples of all sets whose ends are `distance` units apart. */
static bool at_distance(struct predictor *p, guint distance, bool triples)
{
	bool any = false;
	for (guint i = 0; i < p->largest->len; i++) {
		struct span_range set = g_array_index(p->largest, struct span_range, i);
		if (set.count <= distance)
			break;
		any = true;
		for (guint a = 0;
		     a + distance < set.count && time_for(p, triples) && predict_continue(p);
		     a++) {
			uint32_t first = set.first + a, last = first + distance;
			if (!triples)
				consider_pair(p, first, last);
			for (uint32_t b = first + 1; triples && b < last && predict_continue(p);
			     b++)
				consider_triple(p, first, b, last);
		}
	}
	return any && time_for(p, triples) && predict_continue(p);
}

#define IDLE_DISTANCES 32 /* distances without a new code: ends the first round */

static void nearest_first(struct predictor *p, bool triples)
{
	int idle = 0;
	for (guint distance = 1 + triples; at_distance(p, distance, triples); distance++) {
		idle = p->fresh ? 0 : idle + 1;
		p->fresh = false;
		if (!p->rest && idle == IDLE_DISTANCES)
			return;
	}
}

/* -- units of the findings ---------------------------------------------------------------- */

/* GLib hashes the lower half. */
static gpointer begin_key(uint32_t begin, uint32_t thread)
{
	return (gpointer)(uintptr_t)((uint64_t)thread << 32 | begin);
}

static void index_spans(struct predictor *p)
{
	for (uint32_t i = 0; i < p->spans->len; i++) {
		const struct unit *u = unit_at(p, span_at(p, i)->unit);
		gpointer key = begin_key(u->begin, u->thread);
		uint32_t next = GPOINTER_TO_UINT(g_hash_table_lookup(p->by_begin, key)) - 1;
		g_array_append_val(p->next, next);
		g_hash_table_insert(p->by_begin, key, GUINT_TO_POINTER(i + 1));
	}
}

/* Tries groups of the finding's units, and with a third one near. */
static void ask_finding_on(struct predictor *p, const struct span_range *set,
                           const GArray *spans)
{
	const uint32_t *s = (const uint32_t *)(void *)spans->data;
	for (guint i = 0; i < spans->len; i++)
		for (guint j = i + 1; j < spans->len && predict_continue(p); j++)
			consider_pair(p, s[i], s[j]);
	for (guint i = 0; i < spans->len; i++)
		for (guint j = i + 1; j < spans->len; j++) {
			for (guint k = j + 1; k < spans->len && predict_continue(p); k++)
				consider_triple(p, s[i], s[j], s[k]);
			uint32_t low = s[i] - MIN(s[i] - set->first, NEAR / 2);
			uint32_t high = MIN(set->first + set->count, s[j] + NEAR / 2 + 1);
			for (uint32_t k = low; k < high && predict_continue(p); k++)
				if (k <= s[i] + NEAR / 2 || k + NEAR / 2 >= s[j])
					consider_triple(p, s[i], s[j], k);
		}
}

#define FINDING_UNITS 16 /* longer cycles are not tried */

/* The spans of its units, ascending. The caller frees it. */
static GArray *spans_of(const struct predictor *p, const struct finding *f)
{
	GArray *spans = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	for (guint i = 0; i < MIN(f->units->len, FINDING_UNITS); i++) {
		const struct cycle_unit *c = &g_array_index(f->units, struct cycle_unit, i);
		gpointer key = begin_key(c->begin, c->thread);
		uint32_t s = GPOINTER_TO_UINT(g_hash_table_lookup(p->by_begin, key)) - 1;
		for (; s != NONE; s = g_array_index(p->next, uint32_t, s))
			g_array_append_val(spans, s);
	}
	g_array_sort(spans, compare_u32);
	return spans;
}

static void ask_finding(struct predictor *p, const struct finding *f)
{
	g_autoptr(GArray) spans = spans_of(p, f),
	                  of_set = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	for (guint from = 0, k = 0; from < spans->len && k < p->sets->len; k++) {
		struct span_range set = g_array_index(p->sets, struct span_range, k);
		g_array_set_size(of_set, 0);
		for (; from < spans->len &&
		       g_array_index(spans, uint32_t, from) < set.first + set.count;
		     from++)
			g_array_append_val(of_set, g_array_index(spans, uint32_t, from));
		ask_finding_on(p, &set, of_set);
	}
}

static void ask_findings(struct predictor *p)
{
	guint happened = p->report->findings->len; /* predictions are appended after these */
	index_spans(p);
	for (guint i = 0; i < happened && predict_continue(p); i++)
		ask_finding(p, p->report->findings->pdata[i]);
}

/* -- the prediction ----------------------------------------------------------------------- */

/* Are cycles of more than three units, or of several sets, possible? */
static bool longer_ones_are_possible(const struct predictor *p)
{
	bool many = p->sets->len > 1;
	for (guint i = 0; i < p->sets->len; i++)
		many |= g_array_index(p->sets, struct span_range, i).count > 3;
	return many;
}

static void predict_conclude(struct predictor *p)
{
	struct report *r = p->report;
	if (p->over || p->undecided) {
		r->budget_spent = true;
		report_open(r, "the time for prediction ran out");
		report_note(r, "the time for prediction ran out (--budget %g,%g)",
		            p->options->budget_pair, p->options->budget_total);
	}
	if (p->over)
		report_note(r,
		            "prediction asked for %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
		            " pairs of units on one set, the nearest first, and for "
		            "%" G_GUINT64_FORMAT " triples",
		            p->asked_of[2], count_pairs(p), p->asked_of[3]);
	if (longer_ones_are_possible(p)) {
		report_open(
		        r,
		        "prediction looks for violations of at most three units of work on one set");
		report_note(
		        r,
		        "not looked for: violations of more than three units of work, or over "
		        "more than one set");
	}
}

static void predict_cycles(struct predictor *p)
{
	make_spans(p);
	p->largest = g_array_copy(p->sets);
	g_array_sort(p->largest, by_size);
	p->deadline =
	        g_get_monotonic_time() + (gint64)(p->options->budget_total * G_USEC_PER_SEC);
	ask_findings(p);
	for (int round = 0; round < 4 && predict_continue(p); round++) {
		p->share = (1 + round) / 5.0;
		p->rest = round >= 2;
		nearest_first(p, round & 1);
	}
	predict_conclude(p);
	g_array_unref(p->largest);
}

bool atomic_predict(struct trace *t, const struct atomic_model *m,
                    const struct cycles *happened, const struct atomic_options *options,
                    struct report *report, const struct progress *progress)
{
	struct predictor p = { .t = t,
		               .m = m,
		               .happened = happened,
		               .options = options,
		               .report = report,
		               .progress = progress };
	struct smt_options solver = { .invocations = true };
	p.uses = g_array_new(FALSE, FALSE, sizeof(struct unit_use));
	p.spans = g_array_new(FALSE, FALSE, sizeof(struct span));
	p.sets = g_array_new(FALSE, FALSE, sizeof(struct span_range));
	p.next = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	p.by_begin = g_hash_table_new(hash_pointer, NULL);
	p.names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	p.asked = g_hash_table_new_full(hash_group, equal_groups, g_free, NULL);
	p.states = g_hash_table_new_full(hash_group, equal_groups, g_free, NULL);
	p.finder = cycles_new(t, m);
	struct graph_options whole = { .uses = p.uses, .progress = progress };
	p.g = conflict_graph_new(t, m, &whole);
	/* The solver's tables have a column for each thread: short threads share one as chains.
	 */
	struct trace *chains = trace_by_chains(t, CHAINS_LEAST, progress, &p.cancelled);
	p.smt = p.g && !p.cancelled ? smt_new(chains ? chains : t, &solver, progress) : NULL;
	p.cancelled = p.smt == NULL;
	if (!p.cancelled)
		predict_cycles(&p);
	if (p.smt)
		smt_free(p.smt);
	trace_close(chains);
	conflict_graph_free(p.g);
	cycles_free(p.finder);
	g_hash_table_unref(p.by_begin);
	g_array_unref(p.next);
	g_hash_table_unref(p.names);
	g_hash_table_unref(p.asked);
	g_hash_table_unref(p.states);
	g_array_unref(p.uses);
	g_array_unref(p.spans);
	g_array_unref(p.sets);
	return !p.cancelled;
}
