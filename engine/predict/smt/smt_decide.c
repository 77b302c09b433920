/*
 * smt_decide.c - decides one data race by the solver: the query, the check of its witness,
 * assumptions of a proof, and C11 races.
 */
#include "engine/predict/smt/smt_private.h"

#include "engine/predict/race.h"
#include "engine/witness/check.h"

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

	smt_query_next(q, e1);
	smt_query_next(q, e2);
	if (s->options.rules != NULL)
		s->options.rules->attach(s->options.rules->context, q, e1, e2);
	enum smt_answer answer = smt_query_solve(q, seconds, sequence, proof, progress);
	smt_query_free(q);
	return answer;
}

/* Is the pair impossible even without pairings of semaphores, wakers and barriers? */
static bool impossible_unpaired(struct smt *s, uint32_t e1, uint32_t e2, double seconds,
                                const struct progress *progress)
{
	if (seconds <= 0 && smt_tries_spent(s))
		return false;
	if (s->unpaired == NULL)
		s->unpaired = smt_make(s->t, &s->options, false, progress);
	if (s->unpaired == NULL)
		return false;
	g_autoptr(GArray) sequence = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	enum smt_answer answer =
	        race_query(s->unpaired, e1, e2, seconds, sequence, NULL, progress);
	return answer == SMT_IMPOSSIBLE;
}

void smt_lend_checker(struct smt *s, struct checker *checker)
{
	if (s->checker == NULL && !s->options.use_values && s->options.rules == NULL)
		s->checker = checker;
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
		s->checker = s->own_checker = checker_new(s->t, &check);
	/* prefixes equal to the recording have mostly been checked before */
	while (prefix + 2 < witness->len && events[prefix] == prefix)
		prefix++;
	if (claim == CLAIM_RACE && prefix > 0 && !rules)
		return checker_race_after(s->checker, prefix, events + prefix,
		                          witness->len - prefix, pair, NULL);
	return checker_claim(s->checker, event_list_of(witness), claimed_of(claim, pair, 2),
	                     NULL);
}

/* Give the finding the witness, if the checker accepts it; takes ownership. */
static void give_witness(struct smt *s, struct finding *f, enum claim claim, GArray **witness,
                         const struct race_options *options)
{
	f->open = OPEN_INCOMPLETE;
	if (!accepted(s, claim, *witness, f->first, f->second, options))
		return;
	f->verdict = VERDICT_RACE;
	f->witness = g_steal_pointer(witness);
	f->open = OPEN_NO;
	proof_free(f->proof);
	f->proof = NULL;
}

/* The pair is never next: decide whether it is a C11 race. */
static enum smt_answer decide_c11(struct smt *s, struct finding *f, double seconds,
                                  const struct race_options *options,
                                  const struct progress *progress)
{
	g_autoptr(GArray) witness = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	enum smt_answer answer = c11_query(s, f->first, f->second, seconds, witness, progress);

	if (answer == SMT_WITNESS) {
		give_witness(s, f, CLAIM_C11_RACE, &witness, options);
		if (f->verdict == VERDICT_RACE)
			f->note = "visible only as a C11 race";
	} else if (answer == SMT_SPENT) {
		f->verdict = VERDICT_UNKNOWN;
		f->open = OPEN_PAIR;
	}
	if (f->verdict == VERDICT_UNKNOWN) {
		proof_free(f->proof);
		f->proof = NULL;
	}
	return answer;
}

/* Do both hold a common lock, one of them exclusively? */
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

/* With --values or rule 5 relaxed atomics may order less, which is not searched: only a lock
 * excludes a C11 race. */
static void doubt(struct smt *s, struct finding *f)
{
	if (guarded(s->t, f->first, f->second))
		return;
	f->verdict = VERDICT_UNKNOWN;
	f->open = OPEN_INCOMPLETE;
	proof_free(f->proof);
	f->proof = NULL;
}

/* May the proof depend on relaxed atomics or failed tries, which do not order in C11? (Causal
 * pasts do not.) */
static bool hides_c11(const struct smt *s, const struct finding *f)
{
	return s->weak_atomics || (s->has_tries && f->proof->method != PROOF_CONE);
}

static void note_pairing(struct smt *s, struct finding *f, double seconds,
                         const struct progress *progress)
{
	if (s->options.unlisted)
		return;
	if (!f->proof->same_pairing && f->proof->method == PROOF_SOLVER &&
	    past_has_pairings(s->t))
		f->proof->same_pairing = true;
	if (f->proof->same_pairing &&
	    impossible_unpaired(s, f->first, f->second, seconds, progress))
		f->proof->same_pairing = false;
}

static struct finding *decide(struct smt *s, uint32_t e1, uint32_t e2,
                              const struct race_options *options, double seconds,
                              const struct progress *progress)
{
	g_autoptr(GArray) witness = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	struct finding *f = race_finding(s->t, e1, e2, VERDICT_UNKNOWN, "smt");
	double before = smt_solver_seconds(s);
	enum smt_answer answer =
	        race_query(s, f->first, f->second, seconds, witness, &f->proof, progress);

	f->open = OPEN_PAIR;
	if (answer == SMT_WITNESS) {
		uint32_t pair[2] = { f->first, f->second };

		g_array_append_vals(witness, pair, 2);
		give_witness(s, f, CLAIM_RACE, &witness, options);
	} else if (answer == SMT_IMPOSSIBLE) {
		f->verdict = VERDICT_IMPOSSIBLE;
		f->open = OPEN_NO;
		note_pairing(s, f, seconds - (smt_solver_seconds(s) - before), progress);
		if (hides_c11(s, f) && !s->options.use_values && s->options.rules == NULL)
			answer = decide_c11(s, f, seconds - (smt_solver_seconds(s) - before),
			                    options, progress);
		else if (hides_c11(s, f))
			doubt(s, f);
	}
	if (answer == SMT_CANCELLED) {
		finding_free(f);
		return NULL;
	}
	return f;
}

/* Once the free tries are used the whole of a decision counts, with putting a witness in order
 * and checking it, which costs the length of the witness. */
struct finding *smt_decide(struct smt *s, uint32_t e1, uint32_t e2,
                           const struct race_options *options, double seconds,
                           const struct progress *progress)
{
	bool counts = s->work >= FREE_TRIES;
	double before = s->solver_seconds;
	gint64 start = counts ? effort_microseconds() : 0;
	struct finding *f = decide(s, e1, e2, options, seconds, progress);

	if (counts)
		s->solver_seconds = before + (double)(effort_microseconds() - start) / 1e6;
	return f;
}
