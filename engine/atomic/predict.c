/*
 * predict.c - cycles of units of work that did not happen in this run and can: for two
 * units of two threads the solver is asked for a correct reordering in which an access of
 * the one is followed by a conflicting one of the other, and the other way round.
 *
 * Such a reordering has a cycle in its conflict graph: between two conflicting accesses
 * lies a chain of conflicts on that variable, each an edge of the graph.  What is reported
 * is that cycle, found in the graph of the witness itself, after the independent checker
 * has accepted the witness.  The paper (section 6) leaves prediction as future work.
 */
#include "engine/atomic/atomic.h"
#include "engine/predict/smt.h"
#include "engine/witness/check.h"

#include <string.h>

#define NEIGHBOURS   24 /* units of other threads that one is paired with, on one set */
#define TRIES_A_CODE 12 /* pairs of units of the same code that are asked */
#define MOST_ATOMS   64 /* conflicting accesses that a query names for one direction */

struct span { /* a unit, with its accesses by set */
	uint32_t unit;
	uint32_t first, count; /* in predictor.uses */
};

struct predictor {
	struct trace *t;
	const struct atomic_model *m;
	const struct cycles *happened;
	const struct atomic_options *options;
	struct report *report;
	const struct progress *progress;
	struct conflict_graph *g; /* of the trace, whole */
	GArray *uses;             /* struct unit_use, by set, then unit, then event */
	GArray *spans;            /* struct span, by set, then begin */
	struct smt *smt;
	struct cycles *finder; /* has the codes of the cycles that were reported */
	GHashTable *tried;     /* code of a pair of units -> how often asked */
	bool cancelled, spent, skipped;
	bool many; /* more than two units on one set: cycles of three are possible */
};

/* -- units by set ------------------------------------------------------------------------- */

static const struct unit *unit_at(const struct predictor *p, uint32_t unit)
{
	return &g_array_index(p->g->units, struct unit, unit);
}

static const struct unit_use *use_at(const struct predictor *p, uint32_t i)
{
	return &g_array_index(p->uses, struct unit_use, i);
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

static void make_spans(struct predictor *p)
{
	guint of_set = 0; /* how many so far */
	g_array_sort_with_data(p->uses, by_set_and_unit, p->g);
	for (guint from = 0, to; from < p->uses->len; from = to) {
		const struct unit_use *u = use_at(p, from);
		for (to = from; to < p->uses->len && use_at(p, to)->set == u->set &&
		                use_at(p, to)->unit == u->unit;
		     to++)
			;
		struct span span = { u->unit, from, to - from };
		of_set = from > 0 && use_at(p, from - 1)->set == u->set ? of_set + 1 : 1;
		p->many |= of_set > 2;
		g_array_append_val(p->spans, span);
	}
}

/* -- one pair -------------------------------------------------------------------------------
 */

/* The conflicts that an access of `a` and a later one of `b` would make: at most MOST_ATOMS. */
static guint edge_atoms(struct predictor *p, const struct span *a, const struct span *b,
                        struct smt_atom *atoms)
{
	guint count = 0;
	for (uint32_t i = a->first; i < a->first + a->count; i++)
		for (uint32_t j = b->first; j < b->first + b->count && count < MOST_ATOMS;
		     j++) {
			const struct unit_use *x = use_at(p, i), *y = use_at(p, j);
			if (x->variable != y->variable ||
			    (!op_writes(p->t->events[x->event].op) &&
			     !op_writes(p->t->events[y->event].op)))
				continue;
			atoms[count].kind = ATOM_BEFORE;
			atoms[count].e = x->event;
			atoms[count++].f = y->event;
		}
	return count;
}

struct question { /* both edges between two units */
	struct predictor *p;
	const struct span *a, *b;
	bool required; /* the solver knows */
};

/* The first try is made without the two edges; then they are required, one of the conflicts
 * of each direction. */
static bool judge(void *context, struct smt_query *q, const uint32_t *sequence, uint32_t length)
{
	struct question *question = context;
	struct predictor *p = question->p;
	struct smt_atom atoms[MOST_ATOMS];
	uint32_t begins[2] = { unit_at(p, question->a->unit)->begin,
		               unit_at(p, question->b->unit)->begin };
	if (question->required)
		return atomic_check(p->t, p->m, sequence, length, NULL, 0, NULL);
	if (atomic_check(p->t, p->m, sequence, length, begins, 2, NULL))
		return true;
	question->required = true;
	smt_query_require(q, atoms, edge_atoms(p, question->a, question->b, atoms));
	smt_query_require(q, atoms, edge_atoms(p, question->b, question->a, atoms));
	return false;
}

static bool can_close(struct predictor *p, const struct span *a, const struct span *b)
{
	if (unit_at(p, a->unit)->thread == unit_at(p, b->unit)->thread ||
	    (use_at(p, a->first)->event == use_at(p, a->first + a->count - 1)->event &&
	     use_at(p, b->first)->event == use_at(p, b->first + b->count - 1)->event))
		return false;
	struct smt_atom atoms[MOST_ATOMS];
	return edge_atoms(p, a, b, atoms) > 0;
}

/* The shortest beginning of the sequence that has a cycle: a bisection, for a cycle stays. */
static size_t shortest_beginning(struct predictor *p, const GArray *sequence)
{
	size_t low = 1, high = sequence->len;
	const uint32_t *events = (const uint32_t *)(void *)sequence->data;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (atomic_check(p->t, p->m, events, middle, NULL, 0, NULL))
			high = middle;
		else
			low = middle + 1;
	}
	return high;
}

/* The ends that a beginning cuts off, from the recording. */
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

static void take_finding(struct predictor *p, const GArray *sequence)
{
	struct graph_options o = { .sequence = (const uint32_t *)(void *)sequence->data,
		                   .length = sequence->len,
		                   .uses = g_array_new(FALSE, FALSE, sizeof(struct unit_use)) };
	struct conflict_graph *g = conflict_graph_new(p->t, p->m, &o);
	uint32_t *code = NULL;
	struct finding *f = cycles_find_one(p->finder, g, &code);
	conflict_graph_free(g);
	g_array_unref(o.uses);
	if (f == NULL || cycles_has_code(p->happened, code) ||
	    cycles_has_code(p->finder, code)) {
		if (f)
			finding_free(f);
		g_free(code);
		return;
	}
	cycles_add_code(p->finder, code);
	whole_units(p, f);
	f->verdict = VERDICT_RACE;
	f->by = "smt";
	f->witness = g_array_copy((GArray *)sequence);
	report_add(p->report, f);
}

static bool accepted(struct predictor *p, const GArray *sequence, size_t length)
{
	GString *reason = g_string_new(NULL);
	bool good = witness_check(p->t, (const uint32_t *)(void *)sequence->data, length,
	                          CLAIM_ATOMIC, NULL, 0, NULL, reason);
	g_string_free(reason, TRUE);
	return good;
}

static void ask(struct predictor *p, const struct span *a, const struct span *b)
{
	double left = p->options->budget_total - smt_solver_seconds(p->smt);
	GArray *sequence = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	struct smt_query *q = smt_query_new(p->smt);
	struct question question = { p, a, b, false };
	smt_query_judge(q, judge, &question);
	enum smt_answer answer = smt_query_solve(q, MAX(0, MIN(left, p->options->budget_pair)),
	                                         sequence, NULL, p->progress);
	smt_query_free(q);
	p->cancelled |= answer == SMT_CANCELLED;
	p->spent |= answer == SMT_SPENT;
	if (answer == SMT_WITNESS) {
		size_t shorter = shortest_beginning(p, sequence);
		if (accepted(p, sequence, shorter))
			g_array_set_size(sequence, (guint)shorter);
		if (accepted(p, sequence, sequence->len))
			take_finding(p, sequence);
		else
			report_note(p->report,
			            "a witness was refused by the checker and is not listed");
	}
	g_array_unref(sequence);
}

/* -- all pairs --------------------------------------------------------------------------- */

static void append_unit_code(struct predictor *p, const struct span *s, GString *code)
{
	const struct unit *u = unit_at(p, s->unit);
	if (u->name == NONE)
		g_string_append_printf(code, "@%u", p->t->events[u->begin].location);
	else
		g_string_append_printf(code, "%u", u->name);
	/* what it touches, for the same code may take another way */
	uint32_t last = NONE;
	for (uint32_t i = s->first; i < s->first + MIN(s->count, 16); i++) {
		uint32_t name = p->t->variables[use_at(p, i)->variable].name;
		if (name != last)
			g_string_append_printf(
			        code, ",%u%c", name,
			        op_writes(p->t->events[use_at(p, i)->event].op) ? 'w' : 'r');
		last = name;
	}
	g_string_append_c(code, ';');
}

static bool worth_asking(struct predictor *p, const struct span *a, const struct span *b)
{
	if (!can_close(p, a, b))
		return false;
	GString *code = g_string_new(NULL);
	append_unit_code(p, a, code);
	append_unit_code(p, b, code);
	g_string_append_printf(code, "%u", use_at(p, a->first)->set);
	guint tried = GPOINTER_TO_UINT(g_hash_table_lookup(p->tried, code->str));
	bool worth = tried < TRIES_A_CODE;
	p->skipped |= !worth;
	if (worth)
		g_hash_table_insert(p->tried, g_strdup(code->str), GUINT_TO_POINTER(tried + 1));
	g_string_free(code, TRUE);
	return worth;
}

static void ask_pairs(struct predictor *p)
{
	for (guint i = 0; i < p->spans->len && !p->cancelled; i++) {
		const struct span *a = &g_array_index(p->spans, struct span, i);
		uint32_t set = use_at(p, a->first)->set;
		guint met = 0;
		for (guint j = i + 1; j < p->spans->len && !p->cancelled; j++) {
			const struct span *b = &g_array_index(p->spans, struct span, j);
			if (use_at(p, b->first)->set != set)
				break;
			if (met == NEIGHBOURS) {
				p->skipped = true;
				break;
			}
			met += unit_at(p, a->unit)->thread != unit_at(p, b->unit)->thread;
			if (worth_asking(p, a, b))
				ask(p, a, b);
		}
		if ((i & 63) == 0 &&
		    !progress_tick(p->progress, (double)i / p->spans->len, "predicting"))
			p->cancelled = true;
	}
}

static void conclude(struct predictor *p)
{
	if (p->spent) {
		p->report->budget_spent = true;
		p->report->complete = false;
		report_note(p->report, "the solver's budget ran out (--budget %g,%g)",
		            p->options->budget_pair, p->options->budget_total);
	}
	p->report->complete &= !p->many;
	if (p->skipped) {
		p->report->complete = false;
		report_note(p->report,
		            "prediction looked at near pairs of units, and at %d of each code",
		            TRIES_A_CODE);
	}
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
	p.uses = g_array_new(FALSE, FALSE, sizeof(struct unit_use));
	p.spans = g_array_new(FALSE, FALSE, sizeof(struct span));
	p.tried = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	p.finder = cycles_new(t, m);
	struct graph_options whole = { .uses = p.uses, .progress = progress };
	struct smt_options solver = { .invocations = true };
	p.g = conflict_graph_new(t, m, &whole);
	p.smt = p.g ? smt_new(t, &solver, progress) : NULL;
	p.cancelled = p.smt == NULL;
	if (!p.cancelled) {
		make_spans(&p);
		ask_pairs(&p);
		conclude(&p);
	}
	if (p.smt)
		smt_free(p.smt);
	conflict_graph_free(p.g);
	cycles_free(p.finder);
	g_hash_table_unref(p.tried);
	g_array_unref(p.uses);
	g_array_unref(p.spans);
	return !p.cancelled;
}

/* -- checking --------------------------------------------------------------------------- */

struct wanted {
	const uint32_t *begins;
	size_t count;
	bool found;
};

static bool is_wanted(const struct wanted *w, uint32_t begin)
{
	for (size_t i = 0; i < w->count; i++)
		if (w->begins[i] == begin)
			return true;
	return w->count == 0;
}

/* Does a cycle of the graph run through the wanted units alone?  Takes away, one by one,
 * units that nothing enters any more. */
static bool has_cycle(const struct conflict_graph *g, const struct wanted *w)
{
	guint n = g->units->len, left = 0;
	bool *in = g_new(bool, n + 1);
	uint32_t *entering = g_new0(uint32_t, n + 1);
	GArray *free_units = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	for (guint i = 0; i < n; i++) {
		const struct unit *u = &g_array_index(g->units, struct unit, i);
		in[i] = !u->dropped && is_wanted(w, u->begin);
		left += in[i];
	}
	for (guint e = 0; e < g->conflicts->len; e++) {
		const struct conflict *c = &g_array_index(g->conflicts, struct conflict, e);
		if (c->from != NONE && in[c->from] && in[c->to])
			entering[c->to]++;
	}
	for (uint32_t i = 0; i < n; i++)
		if (in[i] && entering[i] == 0)
			g_array_append_val(free_units, i);
	for (guint head = 0; head < free_units->len; head++, left--) {
		uint32_t u = g_array_index(free_units, uint32_t, head);
		uint32_t e = g_array_index(g->units, struct unit, u).out;
		for (const struct conflict *c; e != NONE; e = c->next) {
			c = &g_array_index(g->conflicts, struct conflict, e);
			if (in[c->to] && --entering[c->to] == 0)
				g_array_append_val(free_units, c->to);
		}
	}
	g_array_free(free_units, TRUE);
	g_free(entering);
	g_free(in);
	return left > 0;
}

bool atomic_check(const struct trace *t, const struct atomic_model *m, const uint32_t *sequence,
                  size_t length, const uint32_t *begins, size_t begin_count, GString *reason)
{
	struct wanted w = { .begins = begins, .count = begin_count };
	struct graph_options o = { .sequence = sequence, .length = length };
	struct conflict_graph *g = conflict_graph_new(t, m, &o);
	bool good = has_cycle(g, &w);
	conflict_graph_free(g);
	if (!good && reason)
		g_string_append(
		        reason,
		        begin_count
		                ? "the cycle: the conflicts of these units form none in the "
		                  "sequence"
		                : "the cycle: no units of work form one in the sequence");
	return good;
}
