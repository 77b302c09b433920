/*
 * smt.c - maximal causality: the query, and the loop between scheduler and solver.
 *
 * The least region (the cores of what is asked) is tried first, along the recorded order
 * and without the solver.  Only constraints that such a try ran into are ever given to the
 * solver; threads go beyond the least region only where a constraint offers that (a release
 * that frees a lock, with --values a write).
 */
#include "engine/predict/smt_private.h"

#include "engine/predict/predict_private.h"
#include "engine/witness/check.h"

#include <string.h>

enum {
	/* From so many events on a try alone takes as long as the solver, and counts as its
	 * time. */
	LARGE_REGION = 200000,
	/* So much work (struct smt) of tries without the solver is free, about a second of it;
	 * what they do after that counts as the solver's time.  Else many pairs of a long
	 * trace, each with a cheap try, would take time that no budget bounds. */
	FREE_TRIES = 1 << 26,
	QUERY_WORK = 1 << 22, /* and so much of one query, whatever the clock says */
	CLOCK_EVERY = 1 << 16,
};

/* Lists of events by an index, built in two passes: counted, then filled in. */
struct list_maker {
	uint64_t *start;
	uint32_t *items;
	uint64_t count;
	bool filling;
};

static void list_add(struct list_maker *m, uint64_t list, uint32_t item)
{
	if (m->filling)
		m->items[m->start[list]++] = item;
	else
		m->start[list + 1]++;
}

typedef void list_pass(const struct smt *s, struct list_maker *m, struct list_maker *second);

static void maker_init(struct list_maker *m, uint64_t count)
{
	*m = (struct list_maker){ .start = g_new0(uint64_t, count + 2), .count = count };
}

static void maker_fill(struct list_maker *m)
{
	for (uint64_t i = 0; i < m->count; i++)
		m->start[i + 1] += m->start[i];
	m->items = g_new(uint32_t, m->start[m->count] + 1);
	m->filling = true;
}

static struct event_lists maker_done(struct list_maker *m)
{
	memmove(m->start + 1, m->start, m->count * sizeof(uint64_t)); /* starts had moved on */
	m->start[0] = 0;
	return (struct event_lists){ m->start, m->items };
}

static void pass_readers(const struct smt *s, struct list_maker *by_write,
                         struct list_maker *by_variable)
{
	const struct trace *t = s->t;

	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		struct event_list writers;
		struct wide run;
		uint32_t last = NONE;

		if (!op_is_access(x->op) || !op_reads(x->op) || event_inert(x) ||
		    core_exempt(s->options.exempt, e))
			continue;
		writers = trace_writers(t, e);
		run = event_variables(t, x);
		for (uint64_t i = 0; i < writers.count; i++) {
			if (writers.items[i] == NONE)
				list_add(by_variable, run.first + i, e);
			else if (writers.items[i] != last)
				list_add(by_write, writers.items[i], e);
			last = writers.items[i];
		}
	}
}

static void pass_blocks(const struct smt *s, struct list_maker *m, struct list_maker *unused)
{
	const struct trace *t = s->t;

	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		struct wide run;
		uint32_t last = NONE;

		if (!op_is_access(x->op) || event_inert(x))
			continue;
		run = event_variables(t, x);
		for (uint32_t v = run.first; v < run.first + run.count; v++) {
			uint32_t block = t->variables[v].block;

			if (block != NONE && block != last && t->blocks[block].free != NONE)
				list_add(m, block, e);
			last = block;
		}
	}
}

static void make_lists(struct smt *s)
{
	struct list_maker writes, variables, blocks;

	maker_init(&writes, s->t->events_count);
	maker_init(&variables, s->t->variables_count);
	maker_init(&blocks, s->t->blocks_count);
	pass_readers(s, &writes, &variables);
	pass_blocks(s, &blocks, NULL);
	maker_fill(&writes);
	maker_fill(&variables);
	maker_fill(&blocks);
	pass_readers(s, &writes, &variables);
	pass_blocks(s, &blocks, NULL);
	s->readers = maker_done(&writes);
	s->initial_readers = maker_done(&variables);
	s->block_accesses = maker_done(&blocks);
}

static void note_try(struct smt *s, uint32_t tryfail)
{
	uint32_t holder = core_try_holder(s->cores, tryfail);

	if (holder != NONE && s->t->index->partner[holder] != NONE)
		s->needs[s->t->index->partner[holder]] |= NEED_TRIES;
}

static void make_needs(struct smt *s)
{
	const struct trace *t = s->t;
	int32_t *counts = g_new(int32_t, t->objects_count + 1);

	for (uint64_t o = 0; o < t->objects_count; o++)
		counts[o] = t->objects[o].count;
	s->needs = g_new0(uint8_t, t->events_count + 1);
	for (uint64_t i = 0; i < t->index->must_count; i++)
		s->needs[t->index->must[i].after] |= NEED_MUST;
	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];

		if (event_inert(x))
			continue;
		if (x->op == OP_POST || x->op == OP_TAKE)
			counts[x->target] += x->op == OP_POST ? 1 : -1;
		else if (x->op == OP_TRYFAIL)
			note_try(s, e);
		else if (x->op == OP_TAKETRYFAIL && counts[x->target] == 0)
			s->needs[e] |= NEED_EMPTY;
		s->has_empty |= (s->needs[e] & NEED_EMPTY) != 0;
	}
	g_free(counts);
}

static void make_outermost(struct smt *s)
{
	const struct trace *t = s->t;
	GArray **held = g_new0(GArray *, s->threads + 1); /* acquires, the oldest first */

	s->outermost = g_new(uint32_t, t->events_count + 1);
	s->outermost_at_end = g_new(uint32_t, s->threads + 1);
	for (uint32_t u = 0; u < s->threads; u++)
		held[u] = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		GArray *h = held[x->thread];

		s->outermost[e] = h->len > 0 ? g_array_index(h, uint32_t, 0) : NONE;
		if (event_inert(x) || (!op_acquires(x->op) && !op_releases(x->op)))
			continue;
		if (op_acquires(x->op))
			g_array_append_val(h, e);
		for (guint i = 0; op_releases(x->op) && i < h->len; i++) {
			if (g_array_index(h, uint32_t, i) == t->index->partner[e])
				g_array_remove_index(h, i--);
		}
	}
	for (uint32_t u = 0; u < s->threads; u++) {
		s->outermost_at_end[u] =
		        held[u]->len > 0 ? g_array_index(held[u], uint32_t, 0) : NONE;
		g_array_free(held[u], TRUE);
	}
	g_free(held);
	for (uint32_t b = 0; b < t->blocks_count; b++) {
		struct event_list list = event_list_at(&s->block_accesses, b);

		s->late_access |=
		        list.count > 0 && list.items[list.count - 1] > t->blocks[b].free;
	}
}

/* The initial value of a variable is what the first read of it saw. */
static void make_initial_values(struct smt *s)
{
	const struct trace *t = s->t;

	s->initial_value = g_new0(uint32_t, t->variables_count + 1);
	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		struct wide run;

		if (x->op != OP_READ && x->op != OP_AREAD)
			continue;
		run = event_variables(t, x);
		if (event_inert(x) || run.count != 1 || trace_writers(t, e).items[0] != NONE)
			continue;
		if (s->initial_value[run.first] == 0)
			s->initial_value[run.first] = x->aux;
	}
}

static struct smt *smt_make(struct trace *t, const struct smt_options *options, bool pairing,
                            const struct progress *progress)
{
	struct core_options core = CORE_DEFAULTS;
	struct smt *s;

	if (!trace_need(t, INDEX_VARIABLES, progress))
		return NULL;
	core.values = options->use_values;
	core.invocations = options->invocations;
	core.exempt = options->exempt;
	core.pairing = pairing;
	s = g_new0(struct smt, 1);
	s->t = t;
	s->options = *options;
	s->threads = (uint32_t)t->threads_count;
	s->cores = cores_new(t, &core, progress);
	if (s->cores == NULL) {
		g_free(s);
		return NULL;
	}
	make_lists(s);
	make_needs(s);
	make_outermost(s);
	make_initial_values(s);
	s->weak_atomics = c11_matters(t);
	s->scheduler = scheduler_new(s);
	s->encoder = encoder_new(s);
	return s;
}

struct smt *smt_new(struct trace *t, const struct smt_options *options,
                    const struct progress *progress)
{
	return smt_make(t, options, true, progress);
}

static void lists_free(struct event_lists *lists)
{
	g_free((void *)lists->start);
	g_free((void *)lists->items);
}

void smt_free(struct smt *s)
{
	if (s == NULL)
		return;
	smt_free(s->unpaired);
	checker_free(s->checker);
	cores_free(s->cores);
	lists_free(&s->readers);
	lists_free(&s->initial_readers);
	lists_free(&s->block_accesses);
	g_free(s->needs);
	g_free(s->outermost);
	g_free(s->outermost_at_end);
	g_free(s->initial_value);
	scheduler_free(s->scheduler);
	encoder_free(s->encoder);
	g_free(s);
}

double smt_solver_seconds(const struct smt *s)
{
	return s->solver_seconds + (s->unpaired != NULL ? s->unpaired->solver_seconds : 0);
}

const struct cores *smt_cores(const struct smt *s)
{
	return s->cores;
}

uint32_t seen_write(const struct trace *t, uint32_t r, uint32_t variable)
{
	return trace_writers(t, r).items[variable - event_variables(t, &t->events[r]).first];
}

bool has_choice(const struct smt *s, uint32_t r)
{
	return s->options.use_values && core_value_read(s->t, r) != 0;
}

bool may_see(const struct smt *s, uint32_t r, uint32_t variable, uint32_t w, uint32_t other)
{
	if (w == other)
		return true;
	if (!has_choice(s, r))
		return false;
	if (other == NONE)
		return s->initial_value[variable] == core_value_read(s->t, r);
	return core_value_written(s->t, other) == core_value_read(s->t, r);
}

bool sections_exclude(const struct trace *t, uint32_t a, uint32_t b)
{
	return t->events[a].thread != t->events[b].thread &&
	       (t->events[a].op == OP_ACQ || t->events[b].op == OP_ACQ);
}

/* Queries */

static guint clause_hash(gconstpointer p)
{
	const struct clause *c = p;
	guint hash = c->kind;

	for (int i = 0; i < 3; i++)
		hash = (hash ^ c->e[i]) * 0x9e3779b1u;
	return hash;
}

static gboolean clause_equal(gconstpointer a, gconstpointer b)
{
	return memcmp(a, b, sizeof(struct clause)) == 0;
}

struct smt_query *smt_query_new(struct smt *s)
{
	struct smt_query *q = g_new0(struct smt_query, 1);

	q->s = s;
	q->required = g_array_new(FALSE, FALSE, sizeof(struct requirement));
	q->out = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	q->edges = g_array_new(FALSE, FALSE, sizeof(struct order_edge));
	q->atoms = g_array_new(FALSE, FALSE, sizeof(struct smt_atom));
	q->clauses = g_array_new(FALSE, FALSE, sizeof(struct clause));
	q->known = g_hash_table_new_full(clause_hash, clause_equal, g_free, NULL);
	q->base = g_new0(uint32_t, s->threads + 1);
	q->cut = g_new0(uint32_t, s->threads + 1);
	q->chosen = g_array_new(FALSE, FALSE, sizeof(struct order_edge));
	if (s->options.use_values)
		q->sources = g_hash_table_new(NULL, NULL);
	q->sequence = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	return q;
}

void smt_query_free(struct smt_query *q)
{
	if (q == NULL)
		return;
	g_array_free(q->required, TRUE);
	g_array_free(q->out, TRUE);
	g_array_free(q->edges, TRUE);
	g_array_free(q->atoms, TRUE);
	g_array_free(q->clauses, TRUE);
	g_hash_table_destroy(q->known);
	g_free(q->base);
	g_free(q->cut);
	g_array_free(q->chosen, TRUE);
	if (q->sources != NULL)
		g_hash_table_destroy(q->sources);
	g_array_free(q->sequence, TRUE);
	g_free(q);
}

static void require(struct smt_query *q, uint32_t e, bool next, bool unobserved)
{
	struct requirement r = { e, next, unobserved };

	g_array_append_val(q->required, r);
}

void smt_query_out(struct smt_query *q, uint32_t e)
{
	g_array_append_val(q->out, e);
}

void smt_query_next(struct smt_query *q, uint32_t e)
{
	require(q, e, true, false);
	smt_query_out(q, e);
}

void smt_query_in(struct smt_query *q, uint32_t e)
{
	require(q, e, false, false);
}

void smt_query_in_unobserved(struct smt_query *q, uint32_t e)
{
	uint32_t next = trace_next(q->s->t, e);

	require(q, e, false, true);
	if (next != NONE)
		smt_query_out(q, next);
}

void smt_query_before(struct smt_query *q, uint32_t e, uint32_t f)
{
	struct order_edge edge = { e, f };

	g_array_append_val(q->edges, edge);
	smt_query_in(q, e);
	smt_query_in(q, f);
}

void smt_query_require(struct smt_query *q, const struct smt_atom *atoms, uint32_t count)
{
	struct clause c = { CLAUSE_ATOMS, { q->atoms->len, count, 0 } };

	g_array_append_vals(q->atoms, atoms, count);
	query_add(q, c);
}

void smt_query_judge(struct smt_query *q, smt_judge *judge, void *context)
{
	q->judge = judge;
	q->judge_context = context;
}

bool query_add(struct smt_query *q, struct clause clause)
{
	struct clause source = { CLAUSE_SOURCE, { clause.e[0], 0, 0 } };

	if (g_hash_table_contains(q->known, &clause))
		return false;
	/* "r sees w" is a matter of choice only once the choice is there */
	if (clause.kind == CLAUSE_READ && has_choice(q->s, clause.e[0]))
		query_add(q, source);
	g_hash_table_add(q->known, g_memdup2(&clause, sizeof(clause)));
	g_array_append_val(q->clauses, clause);
	return true;
}

bool query_unobserved(const struct smt_query *q, uint32_t e)
{
	for (guint i = 0; i < q->required->len; i++) {
		const struct requirement *r =
		        &g_array_index(q->required, struct requirement, i);

		if (r->event == e && r->unobserved)
			return true;
	}
	return false;
}

bool query_has(const struct smt_query *q, uint32_t f, uint32_t e)
{
	if (e != f && query_unobserved(q, f))
		return core_has_before(q->s->cores, f, e);
	return core_has(q->s->cores, f, e);
}

bool query_never(const struct smt_query *q, uint32_t e)
{
	for (guint i = 0; i < q->out->len; i++) {
		if (query_has(q, e, g_array_index(q->out, uint32_t, i)))
			return true;
	}
	return false;
}

static void make_base(struct smt_query *q)
{
	const struct trace *t = q->s->t;

	memset(q->base, 0, sizeof(uint32_t) * q->s->threads);
	for (guint i = 0; i < q->required->len; i++) {
		const struct requirement *r =
		        &g_array_index(q->required, struct requirement, i);
		uint32_t *own = &q->base[t->events[r->event].thread];

		if (r->next || r->unobserved)
			core_join_before(q->s->cores, r->event, q->base);
		else
			core_join(q->s->cores, r->event, q->base);
		if (r->unobserved)
			*own = MAX(*own, t->index->position[r->event] + 1);
	}
}

/* Does what is asked for need what must not be in?  Then this is the proof. */
static bool refuted_by_core(struct smt_query *q, struct proof **proof)
{
	for (guint i = 0; i < q->out->len; i++) {
		uint32_t out = g_array_index(q->out, uint32_t, i);

		if (!cut_has(q->s->t, q->base, out))
			continue;
		for (guint j = 0; proof != NULL && j < q->required->len; j++) {
			const struct requirement *r =
			        &g_array_index(q->required, struct requirement, j);
			bool before = r->next || r->unobserved, paired = false;

			if (!(before ? core_has_before(q->s->cores, r->event, out)
			             : core_has(q->s->cores, r->event, out)))
				continue;
			*proof = proof_new("cone");
			core_path(q->s->cores, out, r->event, before, &(*proof)->cycle,
			          &paired);
			path_add(&(*proof)->cycle, r->event, out, STEP_ASSUMED, NONE);
			(*proof)->given = paired ? "same pairing" : NULL;
			break;
		}
		return true;
	}
	return false;
}

static struct proof *solver_proof(struct smt_query *q, struct encoding *x)
{
	struct proof *p = proof_new("solver");

	for (guint i = 0; i + 1 < q->required->len; i++) {
		path_add(&p->cycle, g_array_index(q->required, struct requirement, i).event,
		         g_array_index(q->required, struct requirement, i + 1).event,
		         STEP_ASSUMED, NONE);
	}
	encoding_proof(x, &p->cycle);
	return p;
}

static gint edge_compare(gconstpointer a, gconstpointer b)
{
	const struct order_edge *e = a, *f = b;

	return e->after < f->after ? -1 : e->after > f->after;
}

void query_sort_chosen(struct smt_query *q)
{
	g_array_sort(q->chosen, edge_compare);
}

uint64_t query_region_size(const struct smt_query *q)
{
	uint64_t size = 0;

	for (uint32_t u = 0; u < q->s->threads; u++)
		size += q->cut[u];
	return size;
}

bool query_stopped(struct smt_query *q)
{
	if (q->stopped || q->s->work < q->work_check)
		return q->stopped;
	q->work_check = q->s->work + CLOCK_EVERY;
	q->stopped = g_get_monotonic_time() >= q->deadline;
	return q->stopped;
}

/* Are tries without the solver out of budget, too? */
static bool tries_spent(const struct smt *s)
{
	return s->work >= FREE_TRIES && smt_solver_seconds(s) >= s->options.budget_total;
}

enum smt_answer smt_query_solve(struct smt_query *q, double seconds, GArray *sequence,
                                struct proof **proof, const struct progress *progress)
{
	struct encoding *x = NULL;
	enum smt_answer answer;
	gint64 start;
	bool counts;

	g_array_set_size(sequence, 0);
	if (proof != NULL)
		*proof = NULL;
	make_base(q);
	if (refuted_by_core(q, proof))
		return SMT_IMPOSSIBLE;
	memcpy(q->cut, q->base, sizeof(uint32_t) * q->s->threads);
	g_array_set_size(q->chosen, 0);
	g_array_append_vals(q->chosen, q->edges->data, q->edges->len);
	query_sort_chosen(q);
	counts = query_region_size(q) > LARGE_REGION;
	if (seconds <= 0 && (counts || tries_spent(q->s)))
		return SMT_SPENT;
	start = g_get_monotonic_time();
	q->deadline = start + (gint64)(seconds * 1e6);
	q->work_check = q->s->work + QUERY_WORK;
	q->stopped = false;
	counts |= q->s->work >= FREE_TRIES;
	answer = query_search(q, &x, progress);
	if (x != NULL || counts)
		q->s->solver_seconds += (double)(g_get_monotonic_time() - start) / 1e6;
	if (answer == SMT_WITNESS)
		g_array_append_vals(sequence, q->sequence->data, q->sequence->len);
	if (answer == SMT_IMPOSSIBLE && proof != NULL)
		*proof = solver_proof(q, x);
	encoding_free(x);
	return answer;
}

/* Data races */

struct smt_options smt_race_options(const struct race_options *options)
{
	const struct race_rules *rules = options->rules;

	return (struct smt_options){
		.use_values = options->use_values,
		.invocations = rules == NULL,
		.exempt = rules != NULL ? rules->exempt : NULL,
		.rules = rules,
		.budget_total = options->budget_total,
	};
}

static enum smt_answer race_query(struct smt *s, uint32_t e1, uint32_t e2, double seconds,
                                  GArray *sequence, struct proof **proof,
                                  const struct progress *progress)
{
	struct smt_query *q = smt_query_new(s);
	enum smt_answer answer;

	smt_query_next(q, e1);
	smt_query_next(q, e2);
	if (s->options.rules != NULL)
		s->options.rules->attach(s->options.rules->context, q, e1, e2);
	answer = smt_query_solve(q, seconds, sequence, proof, progress);
	smt_query_free(q);
	return answer;
}

/* Is the pair impossible even when nothing is known of semaphores, wakers and barriers? */
static bool impossible_unpaired(struct smt *s, uint32_t e1, uint32_t e2, double seconds,
                                const struct progress *progress)
{
	GArray *sequence;
	enum smt_answer answer;

	if (seconds <= 0 && tries_spent(s))
		return false;
	if (s->unpaired == NULL)
		s->unpaired = smt_make(s->t, &s->options, false, progress);
	if (s->unpaired == NULL)
		return false;
	sequence = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	answer = race_query(s->unpaired, e1, e2, seconds, sequence, NULL, progress);
	g_array_free(sequence, TRUE);
	return answer == SMT_IMPOSSIBLE;
}

static bool accepted(struct smt *s, enum claim claim, const GArray *witness, uint32_t e1,
                     uint32_t e2, const struct race_options *options)
{
	struct check_options check = { .use_values = s->options.use_values,
		                       .use_missing = options->use_missing };
	bool rules = s->options.rules != NULL;
	uint32_t pair[2] = { e1, e2 }, prefix = 0;
	const uint32_t *events = (const uint32_t *)(void *)witness->data;

	check.semantics = rules ? s->options.rules->semantics : NULL;
	if (s->checker == NULL)
		s->checker = checker_new(s->t, &check);
	/* what begins as the recording does has mostly been checked before */
	while (prefix + 2 < witness->len && events[prefix] == prefix)
		prefix++;
	if (claim == CLAIM_RACE && prefix > 0 && !rules)
		return checker_race_after(s->checker, prefix, events + prefix,
		                          witness->len - prefix, pair, NULL);
	return checker_claim(s->checker, (const uint32_t *)(void *)witness->data, witness->len,
	                     claim, pair, 2, NULL);
}

/* The finding takes the witness over, if the checker accepts it. */
static void give_witness(struct smt *s, struct finding *f, enum claim claim, GArray **witness,
                         const struct race_options *options)
{
	f->budget = "incomplete";
	if (!accepted(s, claim, *witness, f->first, f->second, options))
		return;
	f->verdict = VERDICT_RACE;
	f->witness = g_steal_pointer(witness);
	f->budget = NULL;
	proof_free(f->proof);
	f->proof = NULL;
}

/* The pair is never next; may it race by C11 all the same? */
static enum smt_answer decide_c11(struct smt *s, struct finding *f, double seconds,
                                  const struct race_options *options,
                                  const struct progress *progress)
{
	GArray *witness = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	enum smt_answer answer = c11_query(s, f->first, f->second, seconds, witness, progress);

	if (answer == SMT_WITNESS) {
		give_witness(s, f, CLAIM_C11_RACE, &witness, options);
		if (f->verdict == VERDICT_RACE)
			f->note = "visible only as a C11 race";
	} else if (answer == SMT_SPENT) {
		f->verdict = VERDICT_UNKNOWN;
		f->budget = "pair";
	}
	if (f->verdict == VERDICT_UNKNOWN) {
		proof_free(f->proof);
		f->proof = NULL;
	}
	if (witness != NULL)
		g_array_free(witness, TRUE);
	return answer;
}

/* Do both hold a lock that one of them holds exclusively? */
static bool guarded(const struct trace *t, uint32_t e1, uint32_t e2)
{
	GArray *held[2];
	bool common = false;

	for (int i = 0; i < 2; i++) {
		held[i] = g_array_new(FALSE, FALSE, sizeof(uint32_t));
		trace_locks_held(t, i == 0 ? e1 : e2, held[i]);
	}
	for (guint i = 0; i < held[0]->len; i++) {
		const struct event *a = &t->events[g_array_index(held[0], uint32_t, i)];

		for (guint j = 0; j < held[1]->len; j++) {
			const struct event *b = &t->events[g_array_index(held[1], uint32_t, j)];

			common |=
			        a->target == b->target && (a->op == OP_ACQ || b->op == OP_ACQ);
		}
	}
	g_array_free(held[0], TRUE);
	g_array_free(held[1], TRUE);
	return common;
}

/* --values may let a relaxed atomic see another write and so order less, and rule 5 may order
 * less: that is not searched, and only a lock rules a race by C11 out. */
static void doubt(struct smt *s, struct finding *f)
{
	if (guarded(s->t, f->first, f->second))
		return;
	f->verdict = VERDICT_UNKNOWN;
	f->budget = "incomplete";
	proof_free(f->proof);
	f->proof = NULL;
}

static void note_pairing(struct smt *s, struct finding *f, double seconds,
                         const struct progress *progress)
{
	if (f->proof->given == NULL && strcmp(f->proof->method, "solver") == 0 &&
	    core_has_pairings(s->t))
		f->proof->given = "same pairing";
	if (f->proof->given != NULL &&
	    impossible_unpaired(s, f->first, f->second, seconds, progress))
		f->proof->given = NULL;
}

struct finding *smt_decide(struct smt *s, uint32_t e1, uint32_t e2,
                           const struct race_options *options, double seconds,
                           const struct progress *progress)
{
	GArray *witness = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	struct finding *f = race_finding(s->t, e1, e2, VERDICT_UNKNOWN, "smt");
	double before = smt_solver_seconds(s);
	enum smt_answer answer =
	        race_query(s, f->first, f->second, seconds, witness, &f->proof, progress);

	f->budget = "pair";
	if (answer == SMT_WITNESS) {
		uint32_t pair[2] = { f->first, f->second };

		g_array_append_vals(witness, pair, 2);
		give_witness(s, f, CLAIM_RACE, &witness, options);
	} else if (answer == SMT_IMPOSSIBLE) {
		f->verdict = VERDICT_IMPOSSIBLE;
		f->budget = NULL;
		note_pairing(s, f, seconds - (smt_solver_seconds(s) - before), progress);
		if (s->weak_atomics && !s->options.use_values && s->options.rules == NULL)
			answer = decide_c11(s, f, seconds - (smt_solver_seconds(s) - before),
			                    options, progress);
		else if (s->weak_atomics)
			doubt(s, f);
	}
	if (witness != NULL)
		g_array_free(witness, TRUE);
	if (answer == SMT_CANCELLED) {
		finding_free(f);
		return NULL;
	}
	return f;
}
