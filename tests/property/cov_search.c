/* cov_search.c - see cov_search.h. */
#include "tests/property/cov_search.h"

#include "tests/support/coverage.h"

#include <string.h>

/* Random traces. */

struct maker {
	struct dice *d;
	const struct spec_object *o;
	struct abstract_state *state; /* NULL: results are any */
	struct texts *texts;
	GString *out;
	int lock_owner[2], block_owner; /* of the lock in the block */
	uint32_t open[COV_THREADS];
	struct val open_names[COV_THREADS][8];
	char open_texts[COV_THREADS][8][VALUE_LONGEST];
	bool freed, memory, scopes, objects, destroyed[2];
	bool wants, stands[COV_THREADS]; /* stands: at a wait that never ended, or joined */
	bool shares, messages, reader[2][COV_THREADS];
	uint32_t sent;
	uint32_t threads;
};

/* Results that the effects allow here, tried from a random one on; false: none. */
static bool choose_results(struct maker *k, uint32_t method, struct val *names,
                           char (*texts)[VALUE_LONGEST])
{
	const struct spec_method *m = spec_method_at(k->o, method);
	uint32_t from = some_value(k->d);
	if (k->state == NULL || m->results == 0) {
		for (uint32_t i = 0; i < m->results; i++) {
			uint32_t v = some_value(k->d);
			names[m->arguments + i] = value_at(v);
			strcpy(texts[m->arguments + i], value_texts[v]);
		}
		return k->state == NULL ||
		       abstract_state_step(k->state, method, names, k->texts) == RESULT_SAME;
	}
	for (uint32_t i = 0; i < VALUE_TEXTS; i++) { /* one result at most in random specs */
		uint32_t v = (from + i) % VALUE_TEXTS;
		struct abstract_state *copy = abstract_state_copy(k->state);
		names[m->arguments] = value_at(v);
		if (abstract_state_step(copy, method, names, k->texts) == RESULT_SAME) {
			strcpy(texts[m->arguments], value_texts[v]);
			abstract_state_free(k->state);
			k->state = copy;
			return true;
		}
		abstract_state_free(copy);
	}
	return false;
}

static void write_results(struct maker *k, const struct spec_method *m,
                          char (*texts)[VALUE_LONGEST])
{
	for (uint32_t i = 0; i < m->results; i++)
		g_string_append_printf(k->out, "%s%s", i ? "," : "=", texts[m->arguments + i]);
}

static void choose_arguments(struct maker *k, uint32_t method, struct val *names,
                             char (*texts)[VALUE_LONGEST])
{
	const struct spec_method *m = spec_method_at(k->o, method);
	for (uint32_t i = 0; i < m->arguments; i++) {
		uint32_t v = some_value(k->d);
		names[i] = value_at(v);
		strcpy(texts[i], value_texts[v]);
	}
}

static void write_arguments(struct maker *k, const struct spec_method *m,
                            char (*texts)[VALUE_LONGEST])
{
	for (uint32_t i = 0; i < m->arguments; i++)
		g_string_append_printf(k->out, ",%s", texts[i]);
}

static void invocation(struct maker *k, uint32_t t)
{
	uint32_t method = roll(k->d, k->o->methods->len);
	const struct spec_method *m = spec_method_at(k->o, method);
	struct val names[8];
	char texts[8][VALUE_LONGEST];
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

static bool is_read(const struct maker *k, uint32_t lock)
{
	bool read = false;
	for (uint32_t t = 0; t < COV_THREADS; t++)
		read |= k->reader[lock][t];
	return read;
}

static void lock_or_unlock(struct maker *k, uint32_t t)
{
	uint32_t lock = roll(k->d, 2);
	if (k->reader[lock][t]) {
		k->reader[lock][t] = false;
		g_string_append_printf(k->out, "T%u|rrel(l%u)|1\n", t, lock);
	} else if (k->shares && k->lock_owner[lock] == -1 && !k->destroyed[lock] &&
	           (is_read(k, lock) || roll(k->d, 2))) {
		k->reader[lock][t] = true;
		g_string_append_printf(k->out, "T%u|%sracq(l%u)|1\n", t,
		                       roll(k->d, 4) ? "" : "try", lock);
	} else if (is_read(k, lock)) {
		return;
	} else if (k->lock_owner[lock] == (int)t) {
		k->lock_owner[lock] = -1;
		g_string_append_printf(k->out, "T%u|rel(l%u)|1\n", t, lock);
	} else if (k->lock_owner[lock] == -1) {
		if (k->destroyed[lock] && roll(k->d, 3) > 0)
			return; /* a use after the end, but not often */
		k->lock_owner[lock] = (int)t;
		g_string_append_printf(k->out, "T%u|acq(l%u)|1\n", t, lock);
	}
}

/* An object inside of the block. */
static void block_object(struct maker *k, uint32_t t)
{
	if (roll(k->d, 3) == 0) {
		g_string_append_printf(k->out, "T%u|signal(p.c)|1\n", t);
	} else if (k->block_owner == (int)t) {
		k->block_owner = -1;
		g_string_append_printf(k->out, "T%u|rel(p.l)|1\n", t);
	} else if (k->block_owner == -1) {
		k->block_owner = (int)t;
		g_string_append_printf(k->out, "T%u|acq(p.l)|1\n", t);
	}
}

/* Operations of a condition, destructions. */
static void object_event(struct maker *k, uint32_t t)
{
	static const char *const words[] = { "wait", "signal", "broadcast" };
	uint32_t lock = roll(k->d, 2);
	if (roll(k->d, 2)) {
		g_string_append_printf(k->out, "T%u|%s(c)|1\n", t, words[roll(k->d, 3)]);
	} else if (k->lock_owner[lock] == -1 && !k->destroyed[lock] && !is_read(k, lock)) {
		k->destroyed[lock] = true;
		g_string_append_printf(k->out, "T%u|destroy(l%u)|1\n", t, lock);
	}
}

/* A wait that never ended: the last event of its thread. */
static void stand(struct maker *k, uint32_t t)
{
	static const char *const objects[] = { "l0", "l1", "c", "p.l", "p.c" };
	k->stands[t] = true;
	g_string_append_printf(k->out, "T%u|want(%s)|1\n", t,
	                       objects[roll(k->d, k->memory ? 5 : 3)]);
}

/* Order between two threads without a lock: a message, the end of a thread. */
static void order_event(struct maker *k, uint32_t t)
{
	uint32_t u = roll(k->d, k->threads);
	if (roll(k->d, 4) == 0 && u != 0 && u != t && !k->stands[u] && !k->open[u]) {
		k->stands[u] = true;
		g_string_append_printf(k->out, "T%u|join(T%u)|1\n", t, u);
	} else if (k->sent > 0 && roll(k->d, 2)) {
		g_string_append_printf(k->out, "T%u|rcv(g%u)|1\n", t, roll(k->d, k->sent));
	} else {
		g_string_append_printf(k->out, "T%u|snd(g%u)|1\n", t, k->sent++);
	}
}

static void one_event(struct maker *k, uint32_t t)
{
	uint32_t what = roll(k->d, 14);
	if (k->stands[t])
		return;
	if (k->wants && !k->open[t] && roll(k->d, 8) == 0) {
		stand(k, t);
		return;
	}
	if (k->messages && roll(k->d, 5) == 0) {
		order_event(k, t);
	} else if (what < 4) {
		lock_or_unlock(k, t);
	} else if (what < 6) {
		g_string_append_printf(k->out, "T%u|%c(x%u)|1\n", t, "rw"[roll(k->d, 2)],
		                       roll(k->d, COV_VARIABLES));
	} else if (what < 8 && k->memory && (!k->freed || roll(k->d, 4) == 0)) {
		if (!k->freed && roll(k->d, 3) == 0) {
			k->freed = true;
			g_string_append_printf(k->out, "T%u|free(p)|1\n", t);
		} else if (roll(k->d, 3) == 0) {
			block_object(k, t);
		} else {
			g_string_append_printf(k->out, "T%u|%c(p)|1\n", t, "rw"[roll(k->d, 2)]);
		}
	} else if (what < 10 && k->scopes) {
		open_or_close(k, t);
	} else if (what >= 12 && k->objects) {
		object_event(k, t);
	} else {
		invocation(k, t);
	}
}

struct trace *cov_random_run(struct dice *d, const struct spec_object *o, bool effects)
{
	struct texts texts;
	texts_init(&texts);
	texts.find = value_text_id;
	struct maker k = { .d = d,
		           .o = o,
		           .out = g_string_new("#! object o thing\n"),
		           .lock_owner = { -1, -1 },
		           .block_owner = -1,
		           .memory = roll(d, 2),
		           .scopes = roll(d, 3) == 0,
		           .objects = roll(d, 3) == 0,
		           .wants = roll(d, 4) == 0,
		           .shares = roll(d, 4) == 0,
		           .messages = roll(d, 4) == 0,
		           .threads = 2 + roll(d, COV_THREADS - 1),
		           .texts = &texts };
	k.state = effects ? abstract_state_new(o, &texts) : NULL;
	uint32_t events = 6 + roll(d, k.threads == 2 ? 12 : 8);
	if (k.memory)
		g_string_append(k.out, "T0|alloc(p,8)|1\n");
	for (uint32_t t = 1; roll(d, 2) && t < k.threads; t++)
		g_string_append_printf(k.out, "T0|fork(T%u)|1\n", t);
	for (uint32_t i = 0; i < events; i++)
		one_event(&k, roll(d, k.threads));
	struct error error = { 0 };
	struct trace *t = coverage_trace(
	        trace_from_text("random.txt", k.out->str, k.out->len, NULL, &error));
	ck_assert_msg(t != NULL, "%s: %s\n%s", error.where, error.what, k.out->str);
	g_string_free(k.out, TRUE);
	abstract_state_free(k.state);
	texts_release(&texts);
	return t;
}

/* The exhaustive search. */

static bool of_lock(enum op op)
{
	return op == OP_ACQ || op == OP_REL || op == OP_RACQ || op == OP_RREL;
}

void cov_search_init(struct cov_search *s, struct model *m)
{
	const struct trace *t = m->t;
	uint32_t last[8], open[COV_THREADS + 1][COV_MOST], depth[COV_THREADS + 1] = { 0 };
	uint32_t lock_inside[COV_OBJECTS] = { 0 }, lock_all[COV_OBJECTS] = { 0 };
	*s = (struct cov_search){ .m = m, .t = t, .n = (uint32_t)t->events_count };
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
		if (of_lock(x->op)) {
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
		if ((x->op == OP_ACT || x->op == OP_RET) &&
		    model_calls(s->m, e, calls, &s->scratch[e]))
			s->calls[e] = calls[0];
	}
	for (uint32_t l = 0; l < t->objects_count; l++)
		s->private_lock[l] = lock_all[l] == lock_inside[l];
}

static bool commute(const struct cov_search *s, uint32_t end1, uint32_t end2)
{
	bool overflow = false;
	return model_commute(s->m, &s->calls[end1], &s->calls[end2], &overflow);
}

bool cov_same_scope(const struct cov_search *s, uint32_t e, uint32_t f)
{
	return s->scope[e] != NONE && s->scope[f] != NONE &&
	       s->t->events[s->scope[e]].target == s->t->events[s->scope[f]].target;
}

/* The block that an event ends (`end`) or uses; NONE. */
static uint32_t block_of(const struct cov_search *s, uint32_t e, bool *end)
{
	const struct event *x = &s->t->events[e];
	*end = x->op == OP_FREE;
	return x->op == OP_FREE                            ? x->target
	       : op_is_access(x->op)                       ? s->t->variables[x->target].block
	       : op_table[x->op].operand == OPERAND_OBJECT ? s->t->objects[x->target].block
	                                                   : NONE;
}

/* The object that it ends or uses. */
static uint32_t object_of(const struct cov_search *s, uint32_t e, bool *end)
{
	const struct event *x = &s->t->events[e];
	*end = x->op == OP_DESTROY;
	return op_table[x->op].operand == OPERAND_OBJECT ? x->target : NONE;
}

/* A wait that stands at the trace's end is wrong when its object, or the block, has an end at
 * all; with anything else it does not clash. */
bool cov_clash(struct cov_search *s, uint32_t e, uint32_t f, bool *happened)
{
	const struct event *x = &s->t->events[e], *y = &s->t->events[f];
	uint32_t (*const of[])(const struct cov_search *, uint32_t, bool *) = { block_of,
		                                                                object_of };
	*happened = false;
	if (x->thread == y->thread)
		return false;
	if (s->calls[e].object != NONE && s->calls[e].object == s->calls[f].object)
		return !commute(s, e, f);
	if (op_table[x->op].class == OP_CLASS_CALL || op_table[y->op].class == OP_CLASS_CALL ||
	    cov_same_scope(s, e, f))
		return false;
	for (int i = 0; i < 2; i++) {
		bool ends[2];
		uint32_t one = of[i](s, e, &ends[0]), two = of[i](s, f, &ends[1]);
		if (one == NONE || one != two || (!ends[0] && !ends[1]))
			continue;
		bool stands = x->op == OP_WANT || y->op == OP_WANT;
		*happened = ends[0] || stands;
		return true;
	}
	bool condition = x->op == OP_WAIT || x->op == OP_SIGNAL || x->op == OP_BROADCAST;
	return condition && x->target == y->target &&
	       op_table[y->op].operand == OPERAND_OBJECT && y->op != OP_WANT &&
	       (x->op == OP_WAIT) != (y->op == OP_WAIT);
}

/* Rule 5 for the invocation that takes effect at `end`, after the sequence so far. */
static bool returns_the_same(struct cov_search *s, uint32_t end)
{
	const struct call *c = &s->calls[end];
	const struct spec_object *o = s->m->objects[c->object].type->o;
	if (s->m->objects[c->object].effects) {
		struct abstract_state *r = abstract_state_new(o, &s->m->texts);
		enum abstract_result result = RESULT_SAME;
		for (uint32_t i = 0; i < s->length; i++) {
			uint32_t e = s->sequence[i];
			if (s->calls[e].object == c->object)
				abstract_state_step(r, s->calls[e].method, s->calls[e].names,
				                    &s->m->texts);
		}
		result = abstract_state_step(r, c->method, c->names, &s->m->texts);
		abstract_state_free(r);
		return result == RESULT_SAME;
	}
	if (spec_method_at(o, c->method)->results == 0)
		return true;
	bool needed[COV_MOST] = { false };
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

static bool must_before(const struct cov_search *s, uint32_t e)
{
	const struct trace *t = s->t;
	const struct event *x = &t->events[e];
	for (uint32_t f = 0; f < e; f++) {
		const struct event *y = &t->events[f];
		bool fork = y->op == OP_FORK && y->target == x->thread;
		bool end;
		bool alloc = y->op == OP_ALLOC && block_of(s, e, &end) == y->target;
		bool join = x->op == OP_JOIN && y->thread == x->target;
		bool sent = x->op == OP_RCV && y->op == OP_SND && y->target == x->target;
		if ((fork || alloc || join || sent) && !s->taken[f])
			return false;
	}
	return true;
}

static bool interrupted(const struct cov_search *s, uint32_t e)
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

static bool lock_is_free(const struct cov_search *s, uint32_t e)
{
	const struct event *x = &s->t->events[e];
	bool held = false;
	int readers = 0;
	for (uint32_t i = 0; i < s->length; i++) {
		const struct event *y = &s->t->events[s->sequence[i]];
		if (y->target != x->target || !of_lock(y->op))
			continue;
		held = y->op == OP_ACQ || (held && y->op != OP_REL);
		readers += (y->op == OP_RACQ) - (y->op == OP_RREL);
	}
	return s->private_lock[x->target] || (!held && (readers == 0 || x->op == OP_RACQ));
}

static bool may_come(struct cov_search *s, uint32_t e)
{
	const struct trace *t = s->t;
	const struct event *x = &t->events[e];
	bool exempt = s->free_mode && e == s->end2;
	if (e == s->e1 || (s->race && e == s->e2) || !must_before(s, e))
		return false;
	if (s->free_mode && s->taken[s->end2] && x->thread == t->events[s->end2].thread)
		return false;
	if (x->op == OP_WANT) /* takes no effect */
		return true;
	for (uint32_t i = 0; i < s->length; i++) {
		const struct event *y = &t->events[s->sequence[i]];
		if (y->op == OP_DESTROY && op_table[x->op].operand == OPERAND_OBJECT &&
		    y->target == x->target && s->sequence[i] > e && e != s->e2)
			return false;
	}
	bool end;
	uint32_t block = block_of(s, e, &end);
	for (uint32_t i = 0; i < s->length && !end; i++) {
		const struct event *y = &t->events[s->sequence[i]];
		if (y->op == OP_FREE && y->target == block && block != NONE && e != s->e2)
			return false;
	}
	if (op_is_access(x->op)) {
		uint32_t last = NONE;
		for (uint32_t i = 0; i < s->length; i++) {
			const struct event *y = &t->events[s->sequence[i]];
			if (y->op == OP_WRITE && y->target == x->target)
				last = s->sequence[i];
		}
		return x->op != OP_READ || exempt || s->scope[e] != NONE ||
		       last == s->writer[e];
	}
	if (op_acquires(x->op))
		return lock_is_free(s, e);
	if (x->op == OP_CALL)
		return !interrupted(s, e);
	if (x->op == OP_ACT || x->op == OP_RET)
		return !interrupted(s, e) && (exempt || returns_the_same(s, e));
	return true;
}

static bool is_next(const struct cov_search *s, uint32_t e)
{
	uint32_t u = s->t->events[e].thread;
	return s->place[u] < s->count[u] && s->own[u][s->place[u]] == e && must_before(s, e);
}

/* Scopes are in whole, but for those that the pair itself is in. */
static bool race_reached(const struct cov_search *s)
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

static bool reached(const struct cov_search *s)
{
	const struct event *x = &s->t->events[s->e1];
	if (s->race)
		return race_reached(s);
	if (!s->taken[s->end2] || s->own[x->thread][s->place[x->thread]] != s->e1 ||
	    !must_before(s, s->e1) || (op_acquires(x->op) && !lock_is_free(s, s->e1)))
		return false;
	for (uint32_t e = 0; e < s->n; e++)
		if (s->t->events[e].op == OP_CALL && s->taken[e] &&
		    s->t->events[e].thread != x->thread &&
		    (s->ret[e] == NONE || !s->taken[s->ret[e]]))
			return false;
	return true;
}

/* The part of a state that decides the future: places, last writers, and the order of
 * invocations. */
static char *key_of(const struct cov_search *s)
{
	GString *key = g_string_new(NULL);
	uint32_t last[COV_VARIABLES + 2];
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

static bool search(struct cov_search *s)
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

bool cov_exists(struct cov_search *s, uint32_t e1, uint32_t e2, uint32_t end2)
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

bool cov_race_exists(struct cov_search *s, uint32_t e1, uint32_t e2)
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

bool cov_is_witness(struct cov_search *s, const uint32_t *sequence, size_t length,
                    const uint32_t pair[2])
{
	uint32_t e1 = MIN(pair[0], pair[1]), e2 = MAX(pair[0], pair[1]), place = 0;
	bool happened;
	if (e2 >= s->n || length == 0 || sequence[length - 1] != e1)
		return false;
	for (int i = 0; i < 2; i++)
		if (s->t->events[pair[i]].op == OP_RET ||
		    (s->t->events[pair[i]].op == OP_CALL && s->ret[pair[i]] == NONE))
			return false;
	s->e1 = e1;
	s->e2 = e2;
	s->end2 = s->t->events[e2].op == OP_CALL ? s->ret[e2] : e2;
	if (!cov_clash(s, s->t->events[e1].op == OP_CALL ? s->ret[e1] : e1, s->end2,
	               &happened) ||
	    happened)
		return false;
	while (place < length && sequence[place] != s->end2)
		place++;
	s->free_mode = true; /* nothing of its thread comes after it */
	for (uint32_t i = place + 1; i < length; i++)
		s->free_mode &= sequence[i] < s->n &&
		                s->t->events[sequence[i]].thread != s->t->events[e2].thread;
	bool good = true;
	for (size_t i = 0; i + 1 < length && good; i++) {
		uint32_t e = sequence[i], u;
		good = e < s->n;
		if (!good)
			break;
		u = s->t->events[e].thread;
		good = s->place[u] < s->count[u] && s->own[u][s->place[u]] == e &&
		       may_come(s, e);
		if (!good)
			break;
		s->sequence[s->length++] = e;
		s->taken[e] = true;
		s->place[u]++;
	}
	good = good && is_next(s, e1) && reached(s);
	s->length = 0;
	memset(s->taken, 0, sizeof(s->taken));
	memset(s->place, 0, sizeof(s->place));
	return good;
}
