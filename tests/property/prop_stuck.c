/*
 * prop_stuck.c - waits that never end in random small programs, against exhaustive search: the
 * causes in all states that can be reached, no more and no fewer.
 */
#include "engine/predict/deadlock/deadlock.h"
#include "engine/witness/witness.h"
#include "tests/property/mutate.h"
#include "tests/property/mix.h"
#include "tests/support/coverage.h"

#include <stdio.h>
#include <string.h>

/* How often each came: a run that lacks one of them has tested nothing. */
static unsigned compared, with_causes, by_kind[FINDING_KIND_COUNT], by_wait[8], mutants,
        mutants_true;

/* -- random programs, run by a random scheduler ---------------------------------------------- */

enum { THREADS = 4, LOCKS = 3, LENGTH = 12 };

struct runner {
	char ops[LENGTH]; /* of the program, see step */
	int at, length;
	bool begun, ended, joined, in_wait, timed, woken, relock, in_round;
	int round;
	bool held[LOCKS]; /* exclusively */
	bool shared[LOCKS];
	int awaits; /* lock of the wait, -1: none */
	int inside; /* of the once-function: its next step */
};

enum { MESSAGES = 8, ROOM = 3 };

struct program {
	GRand *random;
	GString *text;
	struct runner thread[THREADS];
	int threads, events, most, count, arrived, size;
	/* the pipe: bytes of each message that are left, and how many it had */
	int left[MESSAGES], had[MESSAGES], sent, received, closes;
	bool once_begun, once_done;
	bool forks;
};

static int below(struct program *p, int n)
{
	return g_rand_int_range(p->random, 0, n);
}

static bool emit(struct program *p, int u, const char *what, int n)
{
	g_string_append_printf(p->text, "T%d|", u);
	g_string_append_printf(p->text, what, n);
	g_string_append_printf(p->text, "|%d\n", p->events % 7 + 10 * u);
	p->events++;
	return true;
}

static bool is_free(const struct program *p, int lock, bool shared)
{
	for (int u = 0; u < p->threads; u++) {
		if (p->thread[u].held[lock] || (!shared && p->thread[u].shared[lock]))
			return false;
	}
	return true;
}

static bool go_on(struct runner *r)
{
	r->at++;
	return true;
}

static bool step_lock(struct program *p, int u, char op)
{
	struct runner *r = &p->thread[u];
	int lock = (op - 'A') % LOCKS;

	if (r->held[lock]) {
		r->held[lock] = false;
		return emit(p, u, "rel(l%d)", lock) && go_on(r);
	}
	if (r->shared[lock]) {
		r->shared[lock] = false;
		return emit(p, u, "rrel(l%d)", lock) && go_on(r);
	}
	bool shared = op >= 'A' + LOCKS && op < 'A' + 2 * LOCKS, try = op >= 'A' + 2 * LOCKS;
	if (!is_free(p, lock, shared))
		return try && emit(p, u, "tryfail(l%d)", lock) && go_on(r);
	*(shared ? &r->shared[lock] : &r->held[lock]) = true;
	return emit(p, u,
	            shared ? "racq(l%d)"
	            : try  ? "tryacq(l%d)"
	                   : "acq(l%d)",
	            lock) &&
	       go_on(r);
}

static bool step_wait(struct program *p, int u)
{
	struct runner *r = &p->thread[u];

	if (!r->in_wait) {
		r->awaits = -1;
		for (int l = 0; l < LOCKS; l++)
			r->awaits = r->held[l] ? l : r->awaits;
		r->in_wait = true;
		r->woken = r->relock = false;
		r->timed = below(p, 5) == 0;
		return emit(p, u, r->timed ? "wait(c);timed" : "wait(c)", 0);
	}
	if (r->awaits >= 0 && r->held[r->awaits]) {
		r->held[r->awaits] = false;
		return emit(p, u, "rel(l%d)", r->awaits);
	}
	if (r->relock) {
		if (!is_free(p, r->awaits, false))
			return false;
		r->held[r->awaits] = true;
		r->in_wait = false;
		return emit(p, u, "acq(l%d)", r->awaits) && go_on(r);
	}
	bool alone = !r->woken; /* its time is up, or it is spurious */
	if (alone && below(p, r->timed ? 3 : 12) > 0)
		return false;
	r->relock = r->awaits >= 0;
	r->in_wait = r->relock;
	return emit(p, u, alone ? "wake(c);timeout" : "wake(c)", 0) && (r->relock || go_on(r));
}

static void wake(struct program *p, bool all)
{
	int waiting[THREADS], count = 0;

	for (int u = 0; u < p->threads; u++) {
		struct runner *r = &p->thread[u];

		if (r->in_wait && !r->woken && !r->relock)
			waiting[count++] = u;
	}
	for (int i = 0; all && i < count; i++)
		p->thread[waiting[i]].woken = true;
	if (!all && count > 0)
		p->thread[waiting[below(p, count)]].woken = true;
}

static bool step_barrier(struct program *p, int u)
{
	struct runner *r = &p->thread[u];

	if (!r->in_round) {
		r->in_round = true;
		r->round = p->arrived++ / p->size;
		return emit(p, u, "arrive(b)", 0);
	}
	if (p->arrived < (r->round + 1) * p->size)
		return false;
	r->in_round = false;
	return emit(p, u, "depart(b)", 0) && go_on(r);
}

/* -- a pipe and a once-function -- */

static bool emit_message(struct program *p, int u, const char *how, int message)
{
	char *text =
	        g_strdup_printf("%s(pipe:1.%d/%d/%d)", how, message, p->had[message], ROOM);

	g_string_append_printf(p->text, "T%d|%s|%d\n", u, text, p->events % 7 + 10 * u);
	p->events++;
	g_free(text);
	return true;
}

static bool step_send(struct program *p, int u)
{
	int inside = 0, bytes = 1 + below(p, 2);

	if (p->sent == MESSAGES || p->closes > 0)
		return go_on(&p->thread[u]);
	for (int m = p->received; m < p->sent; m++)
		inside += p->left[m];
	if (inside + bytes > ROOM)
		return false;
	p->left[p->sent] = p->had[p->sent] = bytes;
	return emit_message(p, u, "snd", p->sent++) && go_on(&p->thread[u]);
}

static bool step_receive(struct program *p, int u)
{
	if (p->received == p->sent && p->closes == 0)
		return false;
	if (p->received == p->sent)
		return emit(p, u, "rcv(pipe:1.9.close)", 0) && go_on(&p->thread[u]);
	emit_message(p, u, "rcv", p->received);
	p->received += --p->left[p->received] == 0;
	return go_on(&p->thread[u]);
}

static bool step_channel(struct program *p, int u, char op)
{
	struct runner *r = &p->thread[u];

	if (op == '<')
		return step_send(p, u);
	if (op == '>')
		return step_receive(p, u);
	if (op == '?') /* is there anything? */
		return (p->received == p->sent || emit_message(p, u, "tryrcv", p->received)) &&
		       go_on(r);
	if (op == '&') /* another process may write to it */
		return emit(p, u, "snd(pipe:1.10.shared)", 0) && go_on(r);
	if (p->closes > 0)
		return go_on(r);
	p->closes = 1;
	return emit(p, u, "snd(pipe:1.9.close)", 0) && go_on(r);
}

/* A once-function takes a lock, unless its thread has it. */
static bool step_once(struct program *p, int u)
{
	struct runner *r = &p->thread[u];

	if (r->inside == 0 && p->once_done)
		return emit(p, u, "rcv(once1)", 0) && go_on(r);
	if (r->inside == 0 && p->once_begun)
		return false;
	p->once_begun = true;
	if (r->inside == 0) {
		r->inside = r->held[0] || r->shared[0] ? 3 : 1;
		return emit(p, u, "snd(once1.begins)", 0);
	}
	if (r->inside == 3) {
		r->inside = 0;
		p->once_done = true;
		return emit(p, u, "snd(once1)", 0) && go_on(r);
	}
	if (r->inside == 1 && !is_free(p, 0, false))
		return false;
	r->held[0] = r->inside == 1;
	return emit(p, u, r->inside++ == 1 ? "acq(l0)" : "rel(l0)", 0);
}

static bool step_thread(struct program *p, int u, char op)
{
	int other = op - '0';

	if (other == u || other >= p->threads || other == 0)
		return go_on(&p->thread[u]);
	struct runner *t = &p->thread[other];
	if (!t->begun) {
		t->begun = true;
		return emit(p, u, "fork(T%d)", other) && go_on(&p->thread[u]);
	}
	if (!t->ended)
		return false;
	if (t->joined)
		return go_on(&p->thread[u]);
	t->joined = true;
	return emit(p, u, "join(T%d)", other) && go_on(&p->thread[u]);
}

/* One event of the thread; false when it stands waiting. */
static bool step(struct program *p, int u)
{
	struct runner *r = &p->thread[u];
	char op = r->ops[r->at];

	switch (op) {
	case 'r':
		return emit(p, u, "r(x)", 0) && go_on(r);
	case 'w':
		return emit(p, u, "w(x)", 0) && go_on(r);
	case 'W':
		return step_wait(p, u);
	case 'S':
	case 'B':
		emit(p, u, op == 'B' ? "broadcast(c)" : "signal(c)", 0);
		wake(p, op == 'B');
		return go_on(r);
	case 'p':
		p->count++;
		return emit(p, u, "post(s)", 0) && go_on(r);
	case 't':
	case 'T':
		if (p->count == 0)
			return op == 'T' && emit(p, u, "taketryfail(s)", 0) && go_on(r);
		p->count--;
		return emit(p, u, op == 'T' ? "trytake(s)" : "take(s)", 0) && go_on(r);
	case 'b':
		return step_barrier(p, u);
	case '<':
	case '>':
	case '?':
	case '&':
	case '=':
		return step_channel(p, u, op);
	case 'o':
		return step_once(p, u);
	default:
		return op <= '9' ? step_thread(p, u, op) : step_lock(p, u, op);
	}
}

static void emit_wants(struct program *p)
{
	for (int u = 0; u < p->threads; u++) {
		struct runner *r = &p->thread[u];
		char op = r->ops[r->at];

		if (!r->begun || r->ended || r->at >= r->length)
			continue;
		if (op == 'W' && !r->relock)
			emit(p, u, "want(c)", 0);
		else if (op == 'W')
			emit(p, u, "want(l%d)", r->awaits);
		else if (op == 't')
			emit(p, u, "want(s)", 0);
		else if (op == 'b')
			emit(p, u, "want(b)", 0);
		else if (op == '<' || op == '>')
			emit(p, u, "want(pipe:1)", 0);
		else if (op == 'o')
			emit(p, u, r->inside ? "want(l0)" : "want(once1)", 0);
		else
			emit(p, u, op <= '9' ? "want(T%d)" : "want(l%d)",
			     op <= '9' ? op - '0' : (op - 'A') % LOCKS);
	}
}

static void make_program(struct program *p)
{
	static const char *const kinds[] = { "ABCABC",  "ABCDEF",  "ABWSW",    "AWSB",
		                             "ptABptT", "bABb",    "ABb01",    "WSptA",
		                             "AGHBG",   "rwABWSp", "ABWSBptb", "<>A<>B",
		                             "<>AB=>",  "<>?AB<",  "oABAo",    "o<>AA",
		                             "<>pt&A" };

	p->threads = 2 + below(p, THREADS - 1);
	p->forks = below(p, 2) == 0;
	p->size = 2 + below(p, 2);
	p->count = below(p, 2);
	p->most = 20;
	const char *kind = kinds[below(p, G_N_ELEMENTS(kinds))];
	for (int u = 0; u < p->threads; u++) {
		struct runner *r = &p->thread[u];
		int most = MIN(LENGTH, 14 / p->threads + 2);

		r->awaits = -1;
		r->begun = u == 0 || !p->forks;
		r->length = 1 + below(p, most);
		/* forks by the first thread, then joins, by others now and then */
		if (u == 0 && p->forks)
			r->length = MIN(LENGTH, p->threads + 1 + below(p, 6));
		for (int i = 0; i < r->length; i++)
			r->ops[i] = below(p, 8) == 0 ? "rwpS"[below(p, 4)]
			                             : kind[below(p, (int)strlen(kind))];
		for (int i = 0; i < r->length && p->forks; i++) {
			if (u == 0 && i < p->threads - 1)
				r->ops[i] = (char)('1' + i);
			else if (below(p, u == 0 ? 3 : 8) == 0)
				r->ops[i] = (char)('1' + below(p, p->threads - 1));
		}
	}
}

static char *program_text(uint64_t seed)
{
	struct program p = { .random = g_rand_new_with_seed((guint32)seed),
		             .text = g_string_new("#! heddle 1\n") };
	bool wants = true;

	make_program(&p);
	g_string_append_printf(p.text, "#! semaphore s %d\n#! semaphore b %d\n", p.count,
	                       p.size);
	for (int tries = 0, idle = 0; idle < 64 && tries < 1000; tries++) {
		int u = below(&p, p.threads);
		struct runner *r = &p.thread[u];

		idle++;
		if (p.events >= p.most) {
			wants = false;
			break;
		}
		if (!r->begun || r->ended)
			continue;
		if (r->at < r->length) {
			idle = step(&p, u) ? 0 : idle;
			continue;
		}
		r->ended = true;
		idle = 0;
	}
	if (wants)
		emit_wants(&p);
	g_rand_free(p.random);
	return g_string_free(p.text, FALSE);
}

static struct trace *program_trace(uint64_t seed)
{
	char *text = program_text(seed);
	struct error error = { .where = "" };
	struct trace *t =
	        coverage_trace(trace_from_text("program", text, strlen(text), NULL, &error));

	if (t == NULL)
		BUG("seed %" G_GUINT64_FORMAT ": %s: %s\n%s", seed, error.where, error.what,
		    text);
	g_free(text);
	return t;
}

/* -- comparison ------------------------------------------------------------------------------ */

static bool complain(const struct trace *t, const char *what, uint32_t mask)
{
	char *text = trace_text(t);

	printf("%s\n%s: requests", text, what);
	for (uint32_t e = 0; e < 32; e++) {
		if (mask >> e & 1)
			printf(" %u", e);
	}
	printf("\n");
	for (uint32_t o = 0; o < t->objects_count; o++)
		printf("%s %d\n", trace_string(t, t->objects[o].name), t->objects[o].count);
	g_free(text);
	return false;
}

static uint32_t mask_of(const struct finding *f)
{
	uint32_t mask = 0;

	for (guint i = 0; i < f->requests->len; i++)
		mask |= 1u << g_array_index(f->requests, uint32_t, i);
	return mask;
}

/* A witness with an event dropped, swapped or replaced, or with another request. */
static bool judge_mutant(const struct trace *t, const struct finding *f, GRand *random)
{
	GArray *s = g_array_copy(f->witness), *request = g_array_copy(f->requests);
	uint32_t *x = (uint32_t *)(void *)s->data, *r = (uint32_t *)(void *)request->data;
	uint32_t length = s->len - request->len, swapped;
	uint32_t e = (uint32_t)g_rand_int_range(random, 0, (gint32)t->events_count);
	uint32_t a, b;

	if (length == 0) {
		g_array_unref(s);
		g_array_unref(request);
		return true;
	}
	a = (uint32_t)g_rand_int_range(random, 0, (gint32)length);
	b = (uint32_t)g_rand_int_range(random, 0, (gint32)length);
	swapped = x[a];
	switch (g_rand_int_range(random, 0, 4)) {
	case 0:
		x[a] = x[b];
		x[b] = swapped;
		break;
	case 1:
		g_array_remove_index(s, a);
		length--;
		break;
	case 2:
		x[a] = e;
		break;
	default:
		for (guint i = 0; i < request->len; i++) {
			if (r[i] == e) /* once is enough */
				e = r[a % request->len];
		}
		r[a % request->len] = e;
		break;
	}
	GString *reason = g_string_new(NULL);
	g_array_set_size(s, length); /* the requests are the end of a witness */
	g_array_append_vals(s, r, request->len);
	bool accepted =
	        witness_check(t, event_list_of(s), claimed_of(CLAIM_STUCK, r, request->len),
	                      &(struct check_options){ 0 }, reason);
	bool truth =
	        oracle_waits(t, (const uint32_t *)(void *)s->data, length, r, request->len);
	if (accepted != truth) {
		for (guint i = 0; i < length; i++)
			printf(" %u", g_array_index(s, uint32_t, i));
		printf(", requests");
		for (guint i = 0; i < request->len; i++)
			printf(" %u", r[i]);
		printf(": %s\n", reason->str);
	}
	g_string_free(reason, TRUE);
	g_array_unref(s);
	g_array_unref(request);
	mutants++;
	mutants_true += truth;
	return accepted == truth ||
	       complain(t, accepted ? "a false claim is accepted" : "a true claim is refused",
	                0);
}

/* Its witness with fewer switches of threads still is one. */
static bool judge_polished(const struct trace *t, const struct finding *f)
{
	GArray *better = polish_witness(t, f, &(struct check_options){ 0 });
	bool good = better != NULL && (finding_claim(f) != CLAIM_STUCK ||
	                               oracle_waits(t, (const uint32_t *)(void *)better->data,
	                                            better->len - f->requests->len,
	                                            (const uint32_t *)(void *)f->requests->data,
	                                            f->requests->len));

	g_clear_pointer(&better, g_array_unref);
	return good || complain(t, "a minimised witness is false", 0);
}

static bool judge_mutants(const struct trace *t, const struct report *r, uint64_t seed)
{
	GRand *random = g_rand_new_with_seed((guint32)seed);
	bool good = true;

	for (guint k = 0; k < r->findings->len && good; k++) {
		const struct finding *f = r->findings->pdata[k];

		good = f->witness == NULL || judge_polished(t, f);
		for (int i = 0; i < 10 && good && f->witness != NULL; i++)
			good = judge_mutant(t, f, random);
	}
	g_rand_free(random);
	return good;
}

static bool judge(const struct trace *t, const struct report *r, GHashTable *causes)
{
	GHashTable *listed = g_hash_table_new(NULL, NULL);
	uint32_t told = 0;
	GHashTableIter i;
	gpointer key;
	bool good = (r->complete && r->scope != NULL) || complain(t, "not complete", 0);

	for (guint k = 0; k < r->findings->len && good; k++) {
		const struct finding *f = r->findings->pdata[k];
		bool predicted = f->verdict == VERDICT_RACE;

		for (guint w = 0; f->verdict == VERDICT_HAPPENED && w < f->waits->len; w++)
			told |= 1u << g_array_index(f->waits, struct wait, w).event;
		if (!predicted && f->verdict != VERDICT_HAPPENED)
			continue;
		uint32_t mask = mask_of(f);
		g_hash_table_add(listed, GUINT_TO_POINTER(mask));
		if (!predicted || strcmp(f->by, "states") != 0)
			continue;
		if (!g_hash_table_contains(causes, GUINT_TO_POINTER(mask)))
			good = complain(t, "no cause", mask);
		by_kind[f->kind]++;
		for (guint w = 0; w < f->requests->len; w++)
			by_wait[g_array_index(f->waits, struct wait, w).what]++;
	}
	g_hash_table_iter_init(&i, causes);
	while (good && g_hash_table_iter_next(&i, &key, NULL)) {
		uint32_t mask = GPOINTER_TO_UINT(key);

		if (!g_hash_table_contains(listed, key) && (mask & ~told) != 0)
			good = complain(t, "missed", mask);
	}
	compared++;
	with_causes += g_hash_table_size(causes) > 0;
	g_hash_table_destroy(listed);
	return good;
}

static bool one(uint64_t seed)
{
	struct random_options o = mix_options(seed, 2 + seed % 3, 8 + seed % 12);
	struct race_options options;
	struct error error = { .where = "" };
	struct trace *t;

	o.conditions |= seed % 5 == 0;
	o.joins |= seed % 5 == 1;
	t = seed % 4 == 0 ? random_trace(seed, &o) : program_trace(seed);
	GHashTable *causes = oracle_stuck(t, false);
	race_options_init(&options);
	options.pairs_events = true;
	options.budget_pair = options.budget_total = MIX_SECONDS;
	struct report *r = deadlocks_find(t, &options, NULL, &error);
	bool good = r != NULL ? judge(t, r, causes) && judge_mutants(t, r, seed)
	                      : complain(t, error.what, 0);
	report_free(r);
	g_hash_table_destroy(causes);
	trace_close(t);
	return good;
}

int main(int argc, char **argv)
{
	int status = mix_main(argc, argv, "waits that never end against search", 6000, one);
	bool all = true;

	printf("%u traces compared, %u with causes: %u deadlocks, %u stuck\n", compared,
	       with_causes, by_kind[FINDING_DEADLOCK], by_kind[FINDING_STUCK]);
	printf("their waits: %u lock, %u condition, %u semaphore, %u join, %u barrier, %u channel; %u "
	       "mutated witnesses, %u of them true\n",
	       by_wait[WAIT_LOCK], by_wait[WAIT_CONDITION], by_wait[WAIT_SEMAPHORE],
	       by_wait[WAIT_JOIN], by_wait[WAIT_BARRIER], by_wait[WAIT_CHANNEL], mutants,
	       mutants_true);
	for (int w = WAIT_LOCK; w <= WAIT_CHANNEL; w++)
		all &= by_wait[w] > 0 || compared < 1000;
	return status != 0 || !all;
}
