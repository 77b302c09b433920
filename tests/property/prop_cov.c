/*
 * prop_cov.c - order violations against exhaustive search: the rules of semantics.md, rule
 * 5 among them, taken literally on random traces with locks, memory, a block that is freed,
 * and atomic and scoped invocations of random specifications, with effects and without.
 */
#include "engine/base/home.h"
#include "engine/commute/cov.h"
#include "engine/commute/rule5.h"
#include "engine/predict/predict.h"
#include "engine/trace/index.h"
#include "tests/property/mix.h"
#include "tests/property/random_spec.h"
#include "tests/support/suite.h"
#include "tests/support/coverage.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST      24 /* events */
#define THREADS   3
#define VARIABLES 2

/* Random traces. */

struct maker {
	struct dice *d;
	const struct spec_object *o;
	struct run_state *state; /* NULL: results are any */
	struct texts *texts;
	GString *out;
	int lock_owner[2];
	uint32_t open[THREADS];
	struct val open_names[THREADS][8];
	char open_texts[THREADS][8][8];
	bool freed, memory, scopes;
	uint32_t threads;
};

/* Results that the effects allow here, tried from a random one on; false: there are none. */
static bool choose_results(struct maker *k, uint32_t method, struct val *names,
                           char (*texts)[8])
{
	const struct spec_method *m = spec_method_at(k->o, method);
	uint32_t from = roll(k->d, VALUE_TEXTS);
	if (k->state == NULL || m->results == 0) {
		for (uint32_t i = 0; i < m->results; i++) {
			uint32_t v = roll(k->d, VALUE_TEXTS);
			names[m->arguments + i] = value_at(v);
			strcpy(texts[m->arguments + i], value_texts[v]);
		}
		return k->state == NULL ||
		       run_step(k->state, method, names, k->texts) == RUN_SAME;
	}
	for (uint32_t i = 0; i < VALUE_TEXTS; i++) { /* one result at most in random specs */
		uint32_t v = (from + i) % VALUE_TEXTS;
		struct run_state *copy = run_copy(k->state);
		names[m->arguments] = value_at(v);
		if (run_step(copy, method, names, k->texts) == RUN_SAME) {
			strcpy(texts[m->arguments], value_texts[v]);
			run_free(k->state);
			k->state = copy;
			return true;
		}
		run_free(copy);
	}
	return false;
}

static void write_results(struct maker *k, const struct spec_method *m, char (*texts)[8])
{
	for (uint32_t i = 0; i < m->results; i++)
		g_string_append_printf(k->out, "%s%s", i ? "," : "=", texts[m->arguments + i]);
}

static void choose_arguments(struct maker *k, uint32_t method, struct val *names,
                             char (*texts)[8])
{
	const struct spec_method *m = spec_method_at(k->o, method);
	for (uint32_t i = 0; i < m->arguments; i++) {
		uint32_t v = roll(k->d, VALUE_TEXTS);
		names[i] = value_at(v);
		strcpy(texts[i], value_texts[v]);
	}
}

static void write_arguments(struct maker *k, const struct spec_method *m, char (*texts)[8])
{
	for (uint32_t i = 0; i < m->arguments; i++)
		g_string_append_printf(k->out, ",%s", texts[i]);
}

static void invocation(struct maker *k, uint32_t t)
{
	uint32_t method = roll(k->d, k->o->methods->len);
	const struct spec_method *m = spec_method_at(k->o, method);
	struct val names[8];
	char texts[8][8];
	choose_arguments(k, method, names, texts);
	if (!choose_results(k, method, names, texts))
		return;
	g_string_append_printf(k->out, "T%u|act(o.%s", t, m->name);
	write_arguments(k, m, texts);
	g_string_append(k->out, ")");
	write_results(k, m, texts);
	g_string_append(k->out, "|1\n");
}

static void open_or_close(struct maker *k, uint32_t t)
{
	if (k->open[t]) {
		uint32_t method = k->open[t] - 1;
		const struct spec_method *m = spec_method_at(k->o, method);
		if (!choose_results(k, method, k->open_names[t], k->open_texts[t]))
			return;
		g_string_append_printf(k->out, "T%u|ret(o.%s)", t, m->name);
		write_results(k, m, k->open_texts[t]);
		g_string_append(k->out, "|1\n");
		k->open[t] = 0;
		return;
	}
	uint32_t method = roll(k->d, k->o->methods->len);
	const struct spec_method *m = spec_method_at(k->o, method);
	choose_arguments(k, method, k->open_names[t], k->open_texts[t]);
	g_string_append_printf(k->out, "T%u|call(o.%s", t, m->name);
	write_arguments(k, m, k->open_texts[t]);
	g_string_append(k->out, ")|1\n");
	k->open[t] = method + 1;
}

static void one_event(struct maker *k, uint32_t t)
{
	uint32_t what = roll(k->d, 12), lock = roll(k->d, 2);
	if (what < 4) {
		if (k->lock_owner[lock] == -1) {
			k->lock_owner[lock] = (int)t;
			g_string_append_printf(k->out, "T%u|acq(l%u)|1\n", t, lock);
		} else if (k->lock_owner[lock] == (int)t) {
			k->lock_owner[lock] = -1;
			g_string_append_printf(k->out, "T%u|rel(l%u)|1\n", t, lock);
		}
	} else if (what < 6) {
		g_string_append_printf(k->out, "T%u|%c(x%u)|1\n", t, "rw"[roll(k->d, 2)],
		                       roll(k->d, VARIABLES));
	} else if (what < 8 && k->memory && !k->freed) {
		if (roll(k->d, 3) == 0) {
			k->freed = true;
			g_string_append_printf(k->out, "T%u|free(p)|1\n", t);
		} else {
			g_string_append_printf(k->out, "T%u|%c(p)|1\n", t, "rw"[roll(k->d, 2)]);
		}
	} else if (what < 10 && k->scopes) {
		open_or_close(k, t);
	} else {
		invocation(k, t);
	}
}

static struct trace *random_run(struct dice *d, const struct spec_object *o, bool effects)
{
	struct texts texts;
	texts_init(&texts);
	texts.find = value_text_id;
	struct maker k = { .d = d,
		           .o = o,
		           .out = g_string_new("#! object o thing\n"),
		           .lock_owner = { -1, -1 },
		           .memory = roll(d, 2),
		           .scopes = roll(d, 3) == 0,
		           .threads = 2 + roll(d, THREADS - 1),
		           .texts = &texts };
	k.state = effects ? run_new(o, &texts) : NULL;
	uint32_t events = 6 + roll(d, k.threads == 2 ? 12 : 8);
	if (k.memory)
		g_string_append(k.out, "T0|alloc(p,8)|1\n");
	for (uint32_t t = 1; roll(d, 2) && t < k.threads; t++)
		g_string_append_printf(k.out, "T0|fork(T%u)|1\n", t);
	for (uint32_t i = 0; i < events; i++)
		one_event(&k, roll(d, k.threads));
	struct error error = { 0 };
	struct trace *t = coverage_trace(trace_from_text("random.txt", k.out->str, k.out->len, NULL, &error));
	ck_assert_msg(t != NULL, "%s: %s\n%s", error.where, error.what, k.out->str);
	g_string_free(k.out, TRUE);
	run_free(k.state);
	texts_release(&texts);
	return t;
}

/* The exhaustive search. */

struct search {
	struct model *m;
	const struct trace *t;
	uint32_t n, own[THREADS + 1][MOST], count[THREADS + 1];
	uint32_t writer[MOST];          /* of each read in the trace */
	uint32_t scope[MOST];           /* innermost open CALL of a specified object, or NONE */
	uint32_t call[MOST], ret[MOST]; /* partners, or NONE */
	bool private_lock[4];           /* used only inside of scopes of one object */
	struct call calls[MOST];        /* the invocation that ends at an event */
	struct call_scratch scratch[MOST];
	uint32_t e1, e2, end2;
	bool free_mode;
	bool race; /* asked is for both e1 and e2 as the next events of their threads */
	/* the reordering so far */
	uint32_t sequence[MOST], length, place[THREADS + 1];
	bool taken[MOST];
	GHashTable *seen;
};

static void look(struct search *s)
{
	const struct trace *t = s->t;
	uint32_t last[8], open[THREADS + 1][MOST], depth[THREADS + 1] = { 0 };
	uint32_t lock_inside[4] = { 0 }, lock_all[4] = { 0 };
	memset(last, 0xff, sizeof(last));
	for (uint32_t e = 0; e < s->n; e++) {
		const struct event *x = &t->events[e];
		struct call calls[MOST_CALLS];
		s->own[x->thread][s->count[x->thread]++] = e;
		s->writer[e] = s->scope[e] = s->call[e] = s->ret[e] = NONE;
		if (x->op == OP_READ)
			s->writer[e] = last[x->target];
		if (x->op == OP_WRITE)
			last[x->target] = e;
		if (depth[x->thread] > 0)
			s->scope[e] = open[x->thread][depth[x->thread] - 1];
		if (x->op == OP_ACQ || x->op == OP_REL) {
			lock_all[x->target]++;
			lock_inside[x->target] += s->scope[e] != NONE;
		}
		if (x->op == OP_CALL)
			open[x->thread][depth[x->thread]++] = e;
		if (x->op == OP_RET) {
			s->call[e] = open[x->thread][--depth[x->thread]];
			s->ret[s->call[e]] = e;
		}
		if (x->op == OP_ACT)
			s->call[e] = s->ret[e] = e;
		s->calls[e].object = NONE;
		if (model_calls(s->m, e, calls, &s->scratch[e]))
			s->calls[e] = calls[0];
	}
	for (uint32_t l = 0; l < t->objects_count; l++)
		s->private_lock[l] = lock_all[l] == lock_inside[l];
}

static bool commute(const struct search *s, uint32_t end1, uint32_t end2)
{
	bool overflow = false;
	return model_commute(s->m, &s->calls[end1], &s->calls[end2], &overflow);
}

/* Rule 5 for the invocation that takes effect at `end`, after the sequence so far. */
static bool returns_the_same(struct search *s, uint32_t end)
{
	const struct call *c = &s->calls[end];
	const struct spec_object *o = s->m->objects[c->object].type->o;
	if (s->m->objects[c->object].effects) {
		struct run_state *r = run_new(o, &s->m->texts);
		enum run_result result = RUN_SAME;
		for (uint32_t i = 0; i < s->length; i++) {
			uint32_t e = s->sequence[i];
			if (s->calls[e].object == c->object)
				run_step(r, s->calls[e].method, s->calls[e].names,
				         &s->m->texts);
		}
		result = run_step(r, c->method, c->names, &s->m->texts);
		run_free(r);
		return result == RUN_SAME;
	}
	if (spec_method_at(o, c->method)->results == 0)
		return true;
	bool needed[MOST] = { false };
	needed[end] = true;
	for (uint32_t e = end; e-- > 0;)
		for (uint32_t f = e + 1; f <= end && !needed[e]; f++)
			needed[e] = s->calls[e].object == c->object && needed[f] &&
			            !commute(s, e, f);
	for (uint32_t e = 0; e < end; e++)
		if (needed[e] && !s->taken[e])
			return false;
	for (uint32_t i = 0; i < s->length; i++) {
		uint32_t e = s->sequence[i];
		if (s->calls[e].object != c->object)
			continue;
		for (uint32_t f = 0; f <= end; f++) {
			if (!needed[f] || f == e || commute(s, e, f))
				continue;
			/* e before f: turned round, or another one that f does not commute with
			 */
			bool before = f == end;
			for (uint32_t k = i + 1; k < s->length; k++)
				before |= s->sequence[k] == f;
			if (before && (!needed[e] || f < e))
				return false;
		}
	}
	return true;
}

static bool must_before(const struct search *s, uint32_t e)
{
	const struct trace *t = s->t;
	const struct event *x = &t->events[e];
	for (uint32_t f = 0; f < e; f++) {
		const struct event *y = &t->events[f];
		bool fork = y->op == OP_FORK && y->target == x->thread;
		bool alloc =
		        y->op == OP_ALLOC &&
		        ((x->op == OP_FREE && x->target == y->target) ||
		         (op_is_access(x->op) && t->variables[x->target].block == y->target));
		if ((fork || alloc) && !s->taken[f])
			return false;
	}
	return true;
}

static bool interrupted(const struct search *s, uint32_t e)
{
	const struct event *x = &s->t->events[e];
	for (uint32_t f = 0; f < s->n; f++) {
		const struct event *y = &s->t->events[f];
		if (y->op == OP_CALL && s->taken[f] && y->target == x->target &&
		    y->thread != x->thread && (s->ret[f] == NONE || !s->taken[s->ret[f]]))
			return true;
	}
	return false;
}

static bool may_come(struct search *s, uint32_t e)
{
	const struct trace *t = s->t;
	const struct event *x = &t->events[e];
	bool exempt = s->free_mode && e == s->end2;
	if (e == s->e1 || (s->race && e == s->e2) || !must_before(s, e))
		return false;
	if (s->free_mode && s->taken[s->end2] && x->thread == t->events[s->end2].thread)
		return false;
	if (op_is_access(x->op)) {
		uint32_t block = t->variables[x->target].block, last = NONE;
		for (uint32_t i = 0; i < s->length; i++) {
			const struct event *y = &t->events[s->sequence[i]];
			if (y->op == OP_FREE && y->target == block)
				return false;
			if (y->op == OP_WRITE && y->target == x->target)
				last = s->sequence[i];
		}
		return x->op != OP_READ || exempt || s->scope[e] != NONE ||
		       last == s->writer[e];
	}
	if (x->op == OP_ACQ && !s->private_lock[x->target]) {
		for (uint32_t i = s->length; i-- > 0;) {
			const struct event *y = &t->events[s->sequence[i]];
			if (y->op == OP_REL && y->target == x->target)
				return true;
			if (y->op == OP_ACQ && y->target == x->target)
				return false;
		}
		return true;
	}
	if (x->op == OP_CALL)
		return !interrupted(s, e);
	if (x->op == OP_ACT || x->op == OP_RET)
		return !interrupted(s, e) && (exempt || returns_the_same(s, e));
	return true;
}

static bool is_next(const struct search *s, uint32_t e)
{
	uint32_t u = s->t->events[e].thread;
	return s->place[u] < s->count[u] && s->own[u][s->place[u]] == e && must_before(s, e);
}

/* Scopes are in whole, but for those that the pair itself is in. */
static bool race_reached(const struct search *s)
{
	if (!is_next(s, s->e1) || !is_next(s, s->e2))
		return false;
	for (uint32_t e = 0; e < s->n; e++)
		if (s->t->events[e].op == OP_CALL && s->taken[e] &&
		    s->t->events[e].thread != s->t->events[s->e1].thread &&
		    s->t->events[e].thread != s->t->events[s->e2].thread &&
		    (s->ret[e] == NONE || !s->taken[s->ret[e]]))
			return false;
	return true;
}

static bool reached(const struct search *s)
{
	const struct event *x = &s->t->events[s->e1];
	if (s->race)
		return race_reached(s);
	if (!s->taken[s->end2] || s->own[x->thread][s->place[x->thread]] != s->e1 ||
	    !must_before(s, s->e1))
		return false;
	for (uint32_t e = 0; e < s->n; e++)
		if (s->t->events[e].op == OP_CALL && s->taken[e] &&
		    s->t->events[e].thread != x->thread &&
		    (s->ret[e] == NONE || !s->taken[s->ret[e]]))
			return false;
	return true;
}

/* What decides the future: places, last writers, and the order of invocations. */
static char *key_of(const struct search *s)
{
	GString *key = g_string_new(NULL);
	uint32_t last[VARIABLES + 2];
	memset(last, 0xff, sizeof(last));
	for (uint32_t t = 0; t < s->t->threads_count; t++)
		g_string_append_printf(key, "%u,", s->place[t]);
	for (uint32_t i = 0; i < s->length; i++) {
		uint32_t e = s->sequence[i];
		const struct event *x = &s->t->events[e];
		if (x->op == OP_WRITE)
			last[x->target] = e;
		if (x->op == OP_ACT || x->op == OP_RET)
			g_string_append_printf(key, "%u.", e);
	}
	for (uint32_t v = 0; v < s->t->variables_count; v++)
		g_string_append_printf(key, "w%u", last[v]);
	return g_string_free(key, FALSE);
}

static bool search(struct search *s)
{
	if (reached(s))
		return true;
	if (!g_hash_table_add(s->seen, key_of(s)))
		return false;
	for (uint32_t t = 0; t < s->t->threads_count; t++) {
		if (s->place[t] == s->count[t])
			continue;
		uint32_t e = s->own[t][s->place[t]];
		if (!may_come(s, e))
			continue;
		s->sequence[s->length++] = e;
		s->taken[e] = true;
		s->place[t]++;
		bool found = search(s);
		s->place[t]--;
		s->taken[e] = false;
		s->length--;
		if (found)
			return true;
	}
	return false;
}

static bool exists(struct search *s, uint32_t e1, uint32_t e2, uint32_t end2)
{
	bool found = false;
	s->e1 = e1;
	s->e2 = e2;
	s->end2 = end2;
	for (int mode = 0; mode < 2 && !found; mode++) {
		s->free_mode = mode;
		s->seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
		found = search(s);
		g_hash_table_destroy(s->seen);
	}
	return found;
}

static bool race_exists(struct search *s, uint32_t e1, uint32_t e2)
{
	s->e1 = e1;
	s->e2 = e2;
	s->end2 = NONE;
	s->free_mode = false;
	s->race = true;
	s->seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	bool found = search(s);
	g_hash_table_destroy(s->seen);
	s->race = false;
	return found;
}

/* The comparison. */

static const struct finding *finding_about(const struct report *r, uint32_t e1, uint32_t e2)
{
	for (guint i = 0; i < r->findings->len; i++) {
		const struct finding *f = r->findings->pdata[i];
		if (f->first == e1 && f->second == e2)
			return f;
	}
	return NULL;
}

static bool same_scope(const struct search *s, uint32_t e, uint32_t f)
{
	return s->scope[e] != NONE && s->scope[f] != NONE &&
	       s->t->events[s->scope[e]].target == s->t->events[s->scope[f]].target;
}

/* What an object does to memory inside of its invocations conflicts with nothing else of it. */
static bool own_affair(const struct search *s, const struct call *a, const struct call *b)
{
	const struct trace *t = s->t;
	return op_table[t->events[a->end].op].class != OP_CLASS_CALL &&
	       op_table[t->events[b->end].op].class != OP_CLASS_CALL &&
	       same_scope(s, a->end, b->end);
}

static const struct cov_options by_events = { true, true, MIX_SECONDS, MIX_SECONDS },
                                by_locations = { false, true, MIX_SECONDS, MIX_SECONDS };

struct tally {
	uint64_t violations, impossible;
	uint64_t races, no_races;
};

/* All events are at one location: by locations there is one finding, a violation when some
 * pair is one, impossible when every pair is.  (A pair that clashes at two points may count
 * twice.) */
static void compare_locations(uint64_t seed, struct model *m, const struct report *pairs)
{
	struct error error = { 0 };
	struct report *r = cov_find(m, &by_locations, NULL, &error);
	enum verdict expected = VERDICT_IMPOSSIBLE;
	for (guint i = 0; i < pairs->findings->len; i++) {
		const struct finding *f = pairs->findings->pdata[i];
		if (f->verdict == VERDICT_RACE)
			expected = VERDICT_RACE;
	}
	ck_assert_uint_eq(r->findings->len, pairs->findings->len > 0);
	if (r->findings->len > 0) {
		const struct finding *f = r->findings->pdata[0];
		ck_assert_msg(f->verdict == expected && f->count >= pairs->findings->len,
		              "seed %" G_GUINT64_FORMAT ": by locations %" G_GUINT64_FORMAT
		              " of %u pairs, %s",
		              seed, f->count, pairs->findings->len, verdict_word(f->verdict));
	}
	report_free(r);
}

/* Data races under rule 5: every conflicting pair by the solver, and by search. */
static void compare_races(uint64_t seed, struct search *s, struct trace *t, struct tally *tally)
{
	struct semantics semantics = model_semantics(s->m);
	struct rule5 *rule5 = rule5_new(s->m);
	struct race_rules rules = rule5_races(rule5, &semantics);
	struct race_options options;
	race_options_init(&options);
	options.rules = &rules;
	struct smt_options solver = smt_race_options(&options);
	struct smt *smt = smt_new(t, &solver, NULL);
	for (uint32_t e = 0; e < s->n; e++)
		for (uint32_t f = e + 1; f < s->n; f++) {
			if (!events_race_conflict(t, e, f) || same_scope(s, e, f))
				continue;
			struct finding *found =
			        smt_decide(smt, e, f, &options, MIX_SECONDS, NULL);
			bool really = race_exists(s, e, f);
			ck_assert_msg(found->verdict ==
			                      (really ? VERDICT_RACE : VERDICT_IMPOSSIBLE),
			              "seed %" G_GUINT64_FORMAT
			              ": the race %u, %u is %s (%s), by exhaustive search %s",
			              seed, e, f, verdict_word(found->verdict),
			              found->budget ? found->budget : "",
			              really ? "possible" : "impossible");
			tally->races += really;
			tally->no_races += !really;
			finding_free(found);
		}
	smt_free(smt);
	rule5_free(rule5);
}

static void compare(uint64_t seed, bool ecl, bool effects, struct tally *tally)
{
	struct dice d = { seed };
	struct specs *specs = specs_new();
	struct error error = { 0 };
	char *memory =
	        home_find("specs/memory.spec"); /* of the shipped ones, all that is used */
	ck_assert(memory != NULL && specs_load(specs, memory, &error));
	g_free(memory);
	const struct spec_object *o = random_object(&d, ecl, effects, specs);
	struct trace *t = random_run(&d, o, effects);
	struct model *m = model_new(t, specs, NULL, &error);
	if (g_getenv("COV_SEED")) { /* show the case */
		for (uint32_t e = 0; e < t->events_count; e++) {
			GString *line = g_string_new(NULL);
			trace_append_line(t, e, line);
			fprintf(stderr, "%2u %s\n", e, line->str);
			g_string_free(line, TRUE);
		}
	}
	struct report *r =
	        t->events_count <= MOST ? cov_find(m, &by_events, NULL, &error) : NULL;
	if (r == NULL) { /* too long, or an overflow in a formula */
		model_free(m);
		trace_close(t);
		specs_free(specs);
		return;
	}
	struct search s = { .m = m, .t = t, .n = (uint32_t)t->events_count };
	uint32_t expected = 0;
	look(&s);
	compare_races(seed, &s, t, tally);
	for (guint i = 0; g_getenv("COV_SEED") && i < r->notes->len; i++)
		fprintf(stderr, "note: %s\n", (char *)r->notes->pdata[i]);
	for (uint32_t e = 0; e < s.n; e++)
		for (uint32_t f = e + 1; f < s.n; f++) {
			const struct call *a = &s.calls[e], *b = &s.calls[f];
			if (a->object == NONE || a->object != b->object ||
			    t->events[e].thread == t->events[f].thread || commute(&s, e, f) ||
			    own_affair(&s, a, b))
				continue;
			const struct call *one = a->event < b->event ? a : b,
			                  *two = one == a ? b : a;
			const struct finding *found = finding_about(r, one->event, two->event);
			if (g_getenv("COV_SEED"))
				fprintf(stderr, "%u, %u: %s\n", one->event, two->event,
				        found ? verdict_word(found->verdict) : "-");
			expected++;
			ck_assert_msg(found != NULL,
			              "seed %" G_GUINT64_FORMAT ": %u, %u is no candidate",
			              seed, one->event, two->event);
			bool really = exists(&s, one->event, two->event, two->end);
			ck_assert_msg(
			        found->verdict == (really ? VERDICT_RACE : VERDICT_IMPOSSIBLE),
			        "seed %" G_GUINT64_FORMAT
			        ": %u, %u is %s, by exhaustive search %s",
			        seed, one->event, two->event, verdict_word(found->verdict),
			        really ? "possible" : "impossible");
			tally->violations += really;
			tally->impossible += !really;
		}
	ck_assert_msg(expected == r->findings->len,
	              "seed %" G_GUINT64_FORMAT ": %u candidates of %u", seed, r->findings->len,
	              expected);
	compare_locations(seed, m, r);
	report_free(r);
	model_free(m);
	trace_close(t);
	specs_free(specs);
}

static void many(bool ecl, bool effects)
{
	struct tally tally = { 0 };
	const char *from = g_getenv("COV_SEED"); /* one case, to be shown */
	uint64_t first = from ? strtoull(from, NULL, 10) : mix_setting("HEDDLE_SEED", 1);
	uint64_t last = first + (from ? 1 : mix_setting("HEDDLE_TRACES", 300));
	for (uint64_t seed = first; seed < last; seed++)
		compare(seed, ecl, effects, &tally);
	if (from == NULL) {
		ck_assert_uint_gt(tally.violations, 300);
		ck_assert_uint_gt(tally.impossible, 30);
		ck_assert_uint_gt(tally.races, 30);
		ck_assert_uint_gt(tally.no_races, 0);
	}
}

START_TEST(with_effects)
{
	many(true, true);
}
END_TEST

START_TEST(with_effects_not_ecl)
{
	many(false, true);
}
END_TEST

START_TEST(without_effects)
{
	many(true, false);
}
END_TEST

START_TEST(without_effects_not_ecl)
{
	many(false, false);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("cov");
	TCase *c = tcase_create("against exhaustive search");
	tcase_set_timeout(c, 0);
	tcase_add_test(c, with_effects);
	tcase_add_test(c, with_effects_not_ecl);
	tcase_add_test(c, without_effects);
	tcase_add_test(c, without_effects_not_ecl);
	suite_add_tcase(s, c);
	return suite_run(s);
}
