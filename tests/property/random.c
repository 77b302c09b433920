/*
 * random.c - random small well-formed traces, as text: each thread makes events that are
 * possible in the state after the events so far.
 *
 * Depends on the text format alone; the trace is made by the ordinary reader.
 */
#include "tests/property/oracle.h"
#include "tests/support/coverage.h"
#include <string.h>

enum { MAX_THREADS = 16, MAX_OBJECTS = 8 };

struct runner { /* a thread of the generated program */
	bool forked, ended, joined, waiting, timed, woken, arrived;
	int barrier;     /* at which it arrived */
	int round;       /* of that barrier */
	int condition;   /* on which it waits */
	int wait_lock;   /* to release after `wait`, to take after `wake`; -1 none */
	bool wait_holds; /* the lock is still to be given up */
	int scope;       /* object of the open call, or -1 */
	bool stands;     /* at a wait that never ended: no more events */
	int frames;      /* open markers: functions, units, calls that were not recorded */
	char frame[4];   /* their kinds */
};

struct meeting { /* a barrier */
	int round, arrived, departed;
};

struct generator {
	const struct random_options *options;
	bool rare; /* the rarer forms of the operations that may occur, too */
	GRand *random;
	GString *text;
	uint32_t count; /* events so far */
	struct runner thread[MAX_THREADS];
	int owner[MAX_OBJECTS];                            /* of each lock, -1 free */
	bool destroyed[MAX_OBJECTS];                       /* and not taken since */
	int depth[MAX_OBJECTS];                            /* re-entrant acquires of it */
	bool reader[MAX_OBJECTS][MAX_THREADS];             /* threads that hold it shared */
	int reads[MAX_OBJECTS][MAX_THREADS];               /* re-entrant ones among them */
	int semaphore[2], messages, received, block_state; /* 0 none, 1 allocated, 2 freed */
	int block_owner; /* of the lock in the block, -1 free */
	struct meeting barrier[2];
	int runner;    /* of the once-function: 1 + thread */
	bool ran;      /* the once-function, to its end */
	int value[32]; /* of each variable, with values */
	int clock;
};

static int below(struct generator *g, int n)
{
	return g_rand_int_range(g->random, 0, n);
}

static bool chance(struct generator *g, int percent)
{
	return below(g, 100) < percent;
}

/* One of the two conditions, semaphores or barriers; mostly the first. */
static int which(struct generator *g)
{
	return g->rare && chance(g, 40);
}

/* What its name ends in. */
static const char *const number[] = { "", "1" };

static bool emit(struct generator *g, int t, const char *format, ...)
        __attribute__((format(printf, 3, 4)));
static bool emit(struct generator *g, int t, const char *format, ...)
{
	va_list list;

	g_string_append_printf(g->text, "T%d|", t);
	va_start(list, format);
	g_string_append_vprintf(g->text, format, list);
	va_end(list);
	/* few locations, so that pairs of sites have several pairs of events */
	g_string_append_printf(g->text, "|%d\n", below(g, 3) + 3 * t);
	g->count++;
	return true;
}

static bool lock_free(const struct generator *g, int l)
{
	if (g->owner[l] >= 0)
		return false;
	for (int t = 0; t < MAX_THREADS; t++) {
		if (g->reader[l][t])
			return false;
	}
	return true;
}

static const char *const orders[] = { "rlx", "acq", "rel", "acq_rel", "seq_cst" };

/* The contents of memory: mostly two numbers, so that values come again. */
static const char *const values[] = { "0", "1", "nil", "\"nil\"", "true", "-7", "\"a, (b)>\"" };

static int some_value(struct generator *g)
{
	return below(g, chance(g, 70) ? 2 : (int)G_N_ELEMENTS(values));
}

static bool access_plain(struct generator *g, int t, const char *name, int index)
{
	bool write = chance(g, 50);

	if (!g->options->values)
		return emit(g, t, "%s(%s)", write ? "w" : "r", name);
	if (write)
		g->value[index] = some_value(g);
	return emit(g, t, "%s(%s)=%s", write ? "w" : "r", name, values[g->value[index]]);
}

static bool step_access(struct generator *g, int t)
{
	char name[16];
	int v = below(g, (int)g->options->variables);

	g_snprintf(name, sizeof(name), "x%d", v);
	return access_plain(g, t, name, v);
}

static bool step_sized(struct generator *g, int t)
{
	static const int sizes[] = { 1, 2, 2, 4 };
	int size = sizes[below(g, 4)];

	return emit(g, t, "%s%d(m+%d)", chance(g, 50) ? "w" : "r", size, below(g, 5 - size));
}

/* The same with values; the first access of the variable may be an rmw. */
static bool step_atomic_value(struct generator *g, int t, int kind, const char *order)
{
	int *value = &g->value[30], old = *value;

	if (kind == 0)
		return emit(g, t, "ar(a)=%s;%s", values[old], chance(g, 50) ? "rlx" : "acq");
	*value = some_value(g);
	if (kind == 1)
		return emit(g, t, "aw(a)=%s;%s", values[*value], chance(g, 50) ? "rlx" : "rel");
	return emit(g, t, "rmw(a)=%s>%s;%s", values[old], values[*value], order);
}

/* Atomics of two bytes, and plain accesses of parts of them. */
static bool step_atomic_sized(struct generator *g, int t, int kind, const char *order)
{
	int at = 2 * below(g, 2);

	if (chance(g, 25))
		return emit(g, t, "%s1(n+%d)", chance(g, 50) ? "w" : "r", at + below(g, 2));
	if (kind == 0)
		return emit(g, t, "ar2(n+%d);%s", at, chance(g, 50) ? "rlx" : "acq");
	if (kind == 1)
		return emit(g, t, "aw2(n+%d);%s", at, chance(g, 50) ? "rlx" : "rel");
	return emit(g, t, "rmw2(n+%d);%s", at, order);
}

static bool step_atomic(struct generator *g, int t)
{
	int kind = below(g, 4);
	const char *order = orders[below(g, 5)];

	if (g->rare && kind < 3 && chance(g, 40))
		return step_atomic_sized(g, t, kind, order);
	if (chance(g, 15)) /* a data race with an atomic needs these */
		return access_plain(g, t, "a", 30);
	if (g->options->values && kind < 3)
		return step_atomic_value(g, t, kind, order);
	if (kind == 3)
		return emit(g, t, "fence(%s)", order);
	if (kind == 2)
		return emit(g, t, "rmw(a);%s", order);
	if (kind == 1)
		return emit(g, t, "aw(a);%s", chance(g, 50) ? "rlx" : "rel");
	return emit(g, t, "ar(a);%s", chance(g, 50) ? "rlx" : "acq");
}

/* The suffix of an acquire that could have failed. */
static const char *try_word(struct generator *g)
{
	return g->options->tries && chance(g, 30) ? "try" : "";
}

static bool step_lock(struct generator *g, int t)
{
	int l = below(g, (int)g->options->locks);

	if (g->owner[l] == t) {
		if (chance(g, 12)) {
			g->depth[l]++;
			return emit(g, t, "%sacq(l%d)", try_word(g), l);
		}
		if (g->depth[l] > 0)
			g->depth[l]--;
		else
			g->owner[l] = -1;
		return emit(g, t, "rel(l%d)", l);
	}
	if (g->reader[l][t]) {
		if (g->rare && chance(g, 25)) {
			g->reads[l][t]++;
			return emit(g, t, "%sracq(l%d)", try_word(g), l);
		}
		if (g->reads[l][t] > 0)
			g->reads[l][t]--;
		else
			g->reader[l][t] = false;
		return emit(g, t, "rrel(l%d)", l);
	}
	if (g->options->rwlocks && chance(g, 50)) {
		if (g->owner[l] >= 0)
			return false;
		g->destroyed[l] = false;
		g->reader[l][t] = true;
		return emit(g, t, "%sracq(l%d)", try_word(g), l);
	}
	if (!lock_free(g, l) || (g->destroyed[l] && chance(g, 60)))
		return false;
	g->destroyed[l] = false;
	g->owner[l] = t;
	return emit(g, t, "%sacq(l%d)", try_word(g), l);
}

static bool step_try(struct generator *g, int t)
{
	int l = below(g, (int)g->options->locks), s;

	if (g->options->semaphores && chance(g, 40)) {
		s = which(g);
		return g->semaphore[s] == 0 && emit(g, t, "taketryfail(s%s)", number[s]);
	}
	if (lock_free(g, l) && !g->destroyed[l] && chance(g, 20)) {
		g->destroyed[l] = true;
		return emit(g, t, "destroy(l%d)", l);
	}
	if (lock_free(g, l) ? !g->destroyed[l] : g->owner[l] == t || g->reader[l][t])
		return false;
	if (g->rare && g->owner[l] >= 0 && chance(g, 50))
		return emit(g, t, "tryfail(l%d);shared", l);
	return emit(g, t, "tryfail(l%d)", l);
}

/* Destroy an object that no thread holds or is in; it may be used again after that. */
static bool step_destroy(struct generator *g, int t)
{
	const struct random_options *o = g->options;
	int l = o->locks > 0 ? below(g, (int)o->locks) : 0;

	if (o->conditions && chance(g, 30))
		return emit(g, t, "destroy(c%s)", number[which(g)]);
	if (o->semaphores && chance(g, 30))
		return emit(g, t, "destroy(s%s)", number[which(g)]);
	if (o->blocks && g->block_state == 1 && chance(g, 30))
		return emit(g, t, "destroy(p.%c)", "lcs"[below(g, 3)]);
	if (o->barriers && chance(g, 30)) {
		for (int u = 0; u < MAX_THREADS; u++) {
			if (g->thread[u].arrived)
				return false;
		}
		return emit(g, t, "destroy(b%s)", number[which(g)]);
	}
	if (o->locks == 0 || !lock_free(g, l) || g->destroyed[l])
		return false;
	g->destroyed[l] = true;
	return emit(g, t, "destroy(l%d)", l);
}

static bool step_fork(struct generator *g, int t)
{
	for (uint32_t u = 1; u < g->options->threads; u++) {
		if (!g->thread[u].forked) {
			g->thread[u].forked = true;
			emit(g, t, "fork(T%u)", u);
			if (g->count < g->options->events && chance(g, 20))
				emit(g, (int)u, "begin()");
			return true;
		}
	}
	return false;
}

static bool step_join(struct generator *g, int t)
{
	int u = below(g, (int)g->options->threads);
	struct runner *r = &g->thread[u];

	if (u == t || u == 0 || !r->forked || r->joined || r->waiting || r->arrived ||
	    r->stands || r->scope >= 0 || g->runner == u + 1)
		return false;
	if (g->count + 1 < g->options->events && chance(g, 20))
		emit(g, u, "end()");
	r->ended = r->joined = true;
	return emit(g, t, "join(T%d)", u);
}

static bool step_condition(struct generator *g, int t)
{
	struct runner *r = &g->thread[t];

	int c = which(g);

	if (chance(g, 50))
		return emit(g, t, "%s(c%s)", chance(g, 60) ? "signal" : "broadcast", number[c]);
	r->waiting = true;
	r->condition = c;
	r->wait_lock = -1;
	for (uint32_t l = 0; l < g->options->locks; l++) {
		if (g->owner[l] == t && g->depth[l] == 0) {
			r->wait_lock = (int)l;
			r->wait_holds = true;
		}
	}
	r->timed = chance(g, 25);
	return emit(g, t, "wait(c%s)%s", number[c], r->timed ? ";timed" : "");
}

/* A step of a thread in a wait: release the lock, be woken, take the lock again. */
static bool step_waiting(struct generator *g, int t)
{
	struct runner *r = &g->thread[t];

	if (r->wait_holds) {
		r->wait_holds = false;
		g->owner[r->wait_lock] = -1;
		return emit(g, t, "rel(l%d)", r->wait_lock);
	}
	if (!r->woken) {
		r->woken = true;
		if (r->wait_lock < 0)
			r->waiting = r->woken = false;
		return emit(g, t, "wake(c%s)%s", number[r->condition],
		            chance(g, r->timed ? 50 : 15) ? ";timeout" : "");
	}
	if (!lock_free(g, r->wait_lock))
		return false;
	g->owner[r->wait_lock] = t;
	r->waiting = r->woken = false;
	return emit(g, t, "acq(l%d)", r->wait_lock);
}

static bool step_barrier(struct generator *g, int t)
{
	struct runner *r = &g->thread[t];
	int b = r->arrived ? r->barrier : which(g);
	struct meeting *m = &g->barrier[b];

	if (!r->arrived) {
		if (m->departed > 0) {
			m->round++;
			m->arrived = m->departed = 0;
		}
		r->arrived = true;
		r->barrier = b;
		r->round = m->round;
		m->arrived++;
		return emit(g, t, "arrive(b%s)", number[b]);
	}
	if (r->round == m->round && m->arrived < 2)
		return false;
	if (r->round == m->round)
		m->departed++;
	r->arrived = false;
	return emit(g, t, "depart(b%s)", number[b]);
}

static bool step_semaphore(struct generator *g, int t)
{
	int s = which(g);

	if (chance(g, 50)) {
		g->semaphore[s]++;
		return emit(g, t, "post(s%s)", number[s]);
	}
	if (g->semaphore[s] == 0)
		return false;
	g->semaphore[s]--;
	return emit(g, t, "%stake(s%s)", try_word(g), number[s]);
}

/* A once-function: one thread runs it, perhaps in vain and then another one; later callers
 * receive its end. */
static bool step_once(struct generator *g, int t)
{
	if (g->ran)
		return emit(g, t, "rcv(once1)");
	if (g->runner == 0) {
		g->runner = t + 1;
		return emit(g, t, "snd(once1.begins)");
	}
	if (g->runner != t + 1)
		return false;
	g->runner = 0;
	g->ran = chance(g, 75);
	return emit(g, t, g->ran ? "snd(once1)" : "snd(once1);failed");
}

static bool step_message(struct generator *g, int t)
{
	if (g->rare && chance(g, 50))
		return step_once(g, t);
	if (g->rare && g->messages > 0 && chance(g, 30)) /* by one who does not wait */
		return emit(g, t, "tryrcv(g%d)", below(g, g->messages));
	if (g->received < g->messages && chance(g, 60))
		return emit(g, t, "rcv(g%d)", g->received++);
	if (g->messages > 0 && chance(g, 40)) /* annotations: sent, and received, again */
		return emit(g, t, chance(g, 60) ? "snd(g%d)" : "rcv(g%d)",
		            below(g, g->messages));
	return emit(g, t, "snd(g%d)", g->messages++);
}

/* A lock, a condition or a semaphore in the block; another one in another life of it. */
static bool step_block_lock(struct generator *g, int t)
{
	if (g->options->conditions && chance(g, 30))
		return emit(g, t, chance(g, 60) ? "signal(p.c)" : "broadcast(p.c)");
	if (g->options->semaphores && chance(g, 30))
		return emit(g, t, "post(p.s)");
	if (g->block_owner == t) {
		g->block_owner = -1;
		return emit(g, t, "rel(p.l)");
	}
	if (g->block_owner >= 0)
		return g->options->tries && emit(g, t, "tryfail(p.l)");
	g->block_owner = t;
	return emit(g, t, "acq(p.l)");
}

static bool step_block(struct generator *g, int t)
{
	char name[16];
	int v = below(g, 2);

	if (g->block_state != 1 && chance(g, 70)) {
		g->block_state = 1;
		g->block_owner = -1;
		return emit(g, t, "alloc(p,8)");
	}
	if (g->block_state == 0)
		return false;
	if (g->block_state == 1 && chance(g, 25)) {
		g->block_state = 2;
		return emit(g, t, "free(p)");
	}
	if (g->options->locks > 0 && chance(g, 35))
		return step_block_lock(g, t);
	g_snprintf(name, sizeof(name), "p.f%d", v);
	return access_plain(g, t, name, 20 + v);
}

static bool step_invocation(struct generator *g, int t)
{
	struct runner *r = &g->thread[t];

	if (r->scope >= 0) {
		int o = r->scope;

		r->scope = -1;
		return emit(g, t, "ret(o%d.put)=%d", o, g->clock++);
	}
	if (chance(g, 50))
		return emit(g, t, "act(o0.put,%d)=%d", below(g, 2), g->clock++);
	r->scope = 0;
	return emit(g, t, "call(o0.put,%d)", below(g, 2));
}

/* Events that describe a thread and have no effect: functions, units of work, calls that were
 * not recorded, branches, misuse. */
static bool step_marker(struct generator *g, int t)
{
	static const char kinds[] = "fum",
	                  *const opens[] = { "enter(f%d)", "ubeg(u%d)", "miss(m%d)" },
	                  *const closes[] = { "leave(f%d)", "uend(u%d)", "back(m%d)" };
	struct runner *r = &g->thread[t];
	int kind = below(g, 3);

	if (chance(g, 15))
		return emit(g, t, "branch()");
	if (g->options->locks > 0 && chance(g, 10))
		return g->block_state == 1 && chance(g, 30)
		               ? emit(g, t, "misuse(p.l,unlock-not-held)")
		               : emit(g, t, "misuse(l%d,double-lock)",
		                      below(g, (int)g->options->locks));
	if (r->frames > 0 && chance(g, 50)) {
		r->frames--;
		return emit(g, t, closes[strchr(kinds, r->frame[r->frames]) - kinds],
		            r->frames);
	}
	if (r->frames == (int)sizeof(r->frame))
		return false;
	r->frame[r->frames] = kinds[kind];
	return emit(g, t, opens[kind], r->frames++);
}

/* A wait that never ended: the thread has no more events. */
static bool step_want(struct generator *g, int t)
{
	int u = below(g, (int)g->options->threads);

	g->thread[t].stands = true;
	if (g->block_state == 1 && chance(g, 30))
		return emit(g, t, "want(p.%c)", "lcs"[below(g, 3)]);
	if (g->options->locks > 0 && chance(g, 60))
		return emit(g, t, "want(l%d)", below(g, (int)g->options->locks));
	if (g->thread[u].forked && chance(g, 50))
		return emit(g, t, "want(T%d)", u);
	return emit(g, t, "want(%c)", "scb"[below(g, 3)]);
}

/* Requests that still waited when the recording ended. */
static void emit_wants(struct generator *g)
{
	for (uint32_t t = 0; t < g->options->threads && g->count < g->options->events; t++) {
		const struct runner *r = &g->thread[t];

		if (r->forked && !r->ended && !r->stands && chance(g, 50))
			step_want(g, (int)t);
	}
}

static bool step(struct generator *g, int t)
{
	const struct random_options *o = g->options;
	const struct {
		bool on;
		int weight;
		bool (*run)(struct generator *g, int t);
	} kinds[] = {
		{ o->variables > 0, 40, step_access },
		{ o->locks > 0, 35, step_lock },
		{ o->destroys, 15, step_destroy },
		{ o->forks, 20, step_fork },
		{ o->joins, o->short_lives ? 50 : 5, step_join },
		{ o->sizes, 25, step_sized },
		{ o->atomics, 25, step_atomic },
		{ o->tries, 15, step_try },
		{ o->conditions, 15, step_condition },
		{ o->barriers, 15, step_barrier },
		{ o->semaphores, 20, step_semaphore },
		{ o->messages, 15, step_message },
		{ o->blocks, 25, step_block },
		{ o->invocations, 20, step_invocation },
		{ o->wants, 2, step_want },
		{ o->markers, 25, step_marker },
	};
	int total = 0, chosen;

	if (g->thread[t].waiting)
		return step_waiting(g, t);
	if (g->thread[t].arrived)
		return step_barrier(g, t);
	for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
		total += kinds[i].on ? kinds[i].weight : 0;
	chosen = below(g, total);
	for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
		int weight = kinds[i].on ? kinds[i].weight : 0;

		if (chosen < weight)
			return kinds[i].run(g, t);
		chosen -= weight;
	}
	return false;
}

static void prepare(struct generator *g)
{
	for (int t = 0; t < MAX_THREADS; t++) {
		g->thread[t].forked = t == 0 || !g->options->forks;
		g->thread[t].scope = g->thread[t].wait_lock = -1;
	}
	g->block_owner = -1;
	for (int l = 0; l < MAX_OBJECTS; l++)
		g->owner[l] = -1;
	g_string_append(g->text, "#! heddle 1\n");
	if (g->options->semaphores) {
		for (int s = 0; s < 1 + g->rare; s++) {
			g->semaphore[s] = below(g, 2);
			g_string_append_printf(g->text, "#! semaphore s%s %d\n", number[s],
			                       g->semaphore[s]);
		}
	}
}

char *random_text(uint64_t seed, const struct random_options *options)
{
	struct generator g = {
		.options = options,
		.rare = seed / 11 % 2 == 1,
		.random = g_rand_new_with_seed_array(
		        (guint32[]){ (guint32)seed, (guint32)(seed >> 32), 77 }, 3),
		.text = g_string_new(NULL),
	};
	uint32_t wanted = options->events / 2 + below(&g, (int)(options->events + 1) / 2) + 1;

	BUG_ON(options->threads > MAX_THREADS || options->locks > MAX_OBJECTS ||
	       options->variables > 20);
	prepare(&g);
	wanted = MIN(wanted, options->events);
	for (int tries = 0; g.count < wanted && tries < 2000; tries++) {
		int t = below(&g, (int)options->threads);

		if (g.thread[t].forked && !g.thread[t].ended && !g.thread[t].stands)
			step(&g, t);
	}
	if (options->wants)
		emit_wants(&g);
	g_rand_free(g.random);
	return g_string_free(g.text, FALSE);
}

struct trace *random_trace(uint64_t seed, const struct random_options *options)
{
	struct error error;
	char *text = random_text(seed, options);
	struct trace *t = coverage_trace(trace_from_text("random", text, strlen(text),
	                                                 &(struct trace_options){ 0 }, &error));

	if (t == NULL)
		BUG("seed %" G_GUINT64_FORMAT ": %s: %s\n%s", seed, error.where, error.what,
		    text);
	g_free(text);
	return t;
}

char *trace_text(const struct trace *t)
{
	GString *out = g_string_new(NULL);

	for (uint32_t e = 0; e < t->events_count; e++) {
		g_string_append_printf(out, "%2u  ", e);
		trace_append_line(t, e, out);
		if (t->events[e].flags & EVENT_TRY && !op_table[t->events[e].op].tried)
			g_string_append(out,
			                t->events[e].op == OP_WAKE ? " (timeout)" : " (timed)");
		g_string_append_c(out, '\n');
	}
	return g_string_free(out, FALSE);
}

struct random_options random_mix(uint64_t seed, uint32_t events)
{
	/* half of all with threads, locks and accesses alone; the rest with one or more of the
	 * other kinds */
	bool all = seed % 7 == 6;
	struct random_options o = {
		.threads = 2 + seed % 3,
		.events = events,
		.variables = 1 + seed / 3 % 3,
		.locks = 1 + seed / 5 % 3,
		.forks = seed / 2 % 4 == 0,
		.joins = seed / 2 % 8 == 0,
	};

	if (seed % 2 == 0)
		return o;
	o.rwlocks = all || seed / 2 % 10 == 0;
	o.atomics = all || seed / 2 % 10 == 1;
	o.conditions = all || seed / 2 % 10 == 2;
	o.barriers = all || seed / 2 % 10 == 3;
	o.semaphores = all || seed / 2 % 10 == 4;
	o.blocks = all || seed / 2 % 10 == 5;
	o.messages = all || seed / 2 % 10 == 6;
	o.tries = all || seed / 2 % 10 == 7;
	o.wants = all || seed / 2 % 20 == 7;
	o.destroys = all || seed / 2 % 5 == 3;
	o.sizes = all || seed / 2 % 10 == 8;
	o.invocations = all || seed / 2 % 10 == 9;
	o.markers = all || seed / 2 % 7 == 3;
	return o;
}
