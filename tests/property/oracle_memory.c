/* oracle_memory.c - see oracle_memory.h. Relations are matrices of bits, a row a word. */
#include "tests/property/oracle_memory.h"

#include <string.h>

enum { MAX = ORACLE_MEMORY_EVENTS, DOMAIN = 16 };

/* K: the end of a wait for an object, whose bits are to be gone from its value. */
enum type { R, W, F, K };
/* Value of a lock held by a writer; larger than the number of readers. */
enum { WRITER = 15, CONDITION = 2 /* location */ };

struct op_event {
	enum type type;
	int thread, location, order; /* thread -1: initial */
	uint64_t value;
	bool library, locked; /* of the thread library; an instruction that x86 locks */
	bool reader;          /* R: a read-lock; W: its unlock */
	bool arrives;         /* at a barrier in whose rounds each thread is */
	bool unseen;          /* the thread does not see whether it is the last */
	int object;           /* of K */
	uint64_t bits;
};

typedef struct {
	uint64_t row[MAX];
} rel;

struct relations {
	rel po, rf, mo, fr, hb;
	rel woken; /* from the store that ends a wait */
	uint64_t library, shared, all, reads, writes, fences, sc, acq, rel_;
};

struct oracle {
	const struct litmus *l;
	enum memory_model model;
	litmus_seen *seen;
	void *context;
	uint64_t count;
	uint32_t used;                             /* bit set of locations */
	uint64_t domain[LITMUS_LOCATIONS][DOMAIN]; /* values that may be stored there */
	int domain_count[LITMUS_LOCATIONS];
	struct op_event e[MAX];
	int n;
	uint64_t registers[LITMUS_THREADS][LITMUS_REGISTERS];
	rel po, rmw;
	struct relations relations;
	int rf[MAX];                                                /* by load */
	int order[LITMUS_LOCATIONS][MAX], orders[LITMUS_LOCATIONS]; /* mo */
	GHashTable *rounds; /* GBytes: executions, in the form of of_rounds; or NULL */
};

/* ---- algebra ---- */

static rel compose(int n, rel a, rel b)
{
	rel c = { { 0 } };
	for (int i = 0; i < n; i++)
		for (uint64_t row = a.row[i]; row != 0; row &= row - 1)
			c.row[i] |= b.row[__builtin_ctzll(row)];
	return c;
}

static rel unite(int n, rel a, rel b)
{
	for (int i = 0; i < n; i++)
		a.row[i] |= b.row[i];
	return a;
}

static rel plus(int n, rel a)
{
	for (int k = 0; k < n; k++)
		for (int i = 0; i < n; i++)
			if (a.row[i] >> k & 1)
				a.row[i] |= a.row[k];
	return a;
}

static rel maybe(int n, rel a)
{
	for (int i = 0; i < n; i++)
		a.row[i] |= 1ull << i;
	return a;
}

static rel inverse(int n, rel a)
{
	rel c = { { 0 } };
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			c.row[j] |= (a.row[i] >> j & 1) << i;
	return c;
}

static bool irreflexive(int n, rel a)
{
	for (int i = 0; i < n; i++)
		if (a.row[i] >> i & 1)
			return false;
	return true;
}

static bool acyclic(int n, rel a)
{
	return irreflexive(n, plus(n, a));
}

/* [from]; a; [to] */
static rel between(int n, uint64_t from, rel a, uint64_t to)
{
	for (int i = 0; i < n; i++)
		a.row[i] = from >> i & 1 ? a.row[i] & to : 0;
	return a;
}

static rel same_location(const struct oracle *o, rel a, bool same)
{
	for (int i = 0; i < o->n; i++)
		for (int j = 0; j < o->n; j++) {
			bool equal = o->e[i].type != F && o->e[j].type != F &&
			             o->e[i].location == o->e[j].location;
			if (equal != same)
				a.row[i] &= ~(1ull << j);
		}
	return a;
}

/* ---- the axioms ---- */

/* Those that do not depend on mo. */
static void relate(const struct oracle *o, struct relations *r)
{
	int n = o->n;
	memset(r, 0, sizeof *r);
	r->po = o->po;
	for (int i = 0; i < n; i++) {
		const struct op_event *e = &o->e[i];
		uint64_t bit = 1ull << i;
		r->all |= bit;
		if (e->type != K)
			*(e->type == R   ? &r->reads
			  : e->type == W ? &r->writes
			                 : &r->fences) |= bit;
		r->library |= e->library ? bit : 0;
		r->shared |= e->reader ? bit : 0;
		if (e->type == K)
			r->woken.row[o->rf[i]] |= bit;
		if (e->thread >= 0 && e->order == ORDER_SEQ_CST)
			r->sc |= bit;
		if (e->order == ORDER_ACQ || e->order >= ORDER_ACQ_REL)
			r->acq |= bit;
		if (e->order >= ORDER_REL)
			r->rel_ |= bit;
		if (e->type == R)
			r->rf.row[o->rf[i]] |= bit;
	}
}

static void relate_order(const struct oracle *o, struct relations *r)
{
	int n = o->n;
	memset(&r->mo, 0, sizeof r->mo);
	for (int l = 0; l < LITMUS_LOCATIONS; l++)
		for (int i = 0; i < o->orders[l]; i++)
			for (int j = i + 1; j < o->orders[l]; j++)
				r->mo.row[o->order[l][i]] |= 1ull << o->order[l][j];
	r->fr = compose(n, inverse(n, r->rf), r->mo);
}

/* No store comes between the two of an update: rmw and fr;mo have nothing in common. */
static bool atomic(const struct oracle *o, const struct relations *r)
{
	for (int i = 0; i < o->n; i++)
		for (uint64_t row = o->rmw.row[i] ? r->fr.row[i] : 0; row != 0; row &= row - 1)
			if (r->mo.row[__builtin_ctzll(row)] & o->rmw.row[i])
				return false;
	return true;
}

/* Does each wait end by the first store after its own that has its bits no more? */
static bool ends_right(const struct oracle *o, const struct relations *r)
{
	for (int k = 0; k < o->n; k++) {
		const struct op_event *e = &o->e[k];
		int own = -1;
		for (int i = 0; i < k && e->type == K; i++)
			if (o->e[i].type == W && o->e[i].thread == e->thread &&
			    o->e[i].location == e->object)
				own = i;
		if (e->type != K)
			continue;
		if (own < 0 || (own != o->rf[k] && !(r->mo.row[own] >> o->rf[k] & 1)))
			return false;
		for (int i = 0; i < o->n; i++)
			if (i != o->rf[k] && r->mo.row[i] >> o->rf[k] & 1 &&
			    (i == own || r->mo.row[own] >> i & 1) && !(o->e[i].value & e->bits))
				return false;
	}
	return true;
}

/* Does mo go against po? */
static bool contradicts(const struct oracle *o, const struct relations *r)
{
	for (int i = 0; i < o->n; i++)
		for (uint64_t row = r->mo.row[i]; row != 0; row &= row - 1)
			if (r->po.row[__builtin_ctzll(row)] >> i & 1)
				return true;
	return false;
}

static bool allows_sc(const struct oracle *o, const struct relations *r)
{
	int n = o->n;
	rel all = unite(n, unite(n, r->po, r->rf), unite(n, r->mo, r->fr));
	return acyclic(n, unite(n, all, r->woken));
}

/* Owens, Sarkar, Sewell as axioms: a store may be passed by the later loads of its thread. */
static bool allows_tso(const struct oracle *o, const struct relations *r)
{
	int n = o->n;
	rel communication = unite(n, r->rf, unite(n, r->mo, r->fr));
	rel ppo = r->po, rfe = r->rf;
	uint64_t fences = 0, locked = 0, full = 0;
	for (int i = 0; i < n; i++) {
		const struct op_event *e = &o->e[i];
		if (e->type == F && e->order == ORDER_SEQ_CST)
			fences |= 1ull << i;
		if (e->locked || e->library)
			locked |= 1ull << i;
		if (e->type == W && e->order == ORDER_SEQ_CST)
			full |= 1ull << i;
	}
	for (int i = 0; i < n; i++)
		if (r->writes >> i & 1 && o->e[i].thread >= 0)
			ppo.row[i] &= ~r->reads;
	/* no other fence is an instruction */
	ppo = between(n, ~r->fences, ppo, ~r->fences);
	/* edges of the events around it: before and after a fence, a locked instruction, and
	 * after a full store */
	uint64_t in = fences | locked, out = fences | locked | full;
	rel fenced = unite(n, between(n, r->all, r->po, in), between(n, out, r->po, r->all));
	fenced = unite(n, fenced, compose(n, between(n, r->all, r->po, out), r->po));
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			if (o->e[i].thread == o->e[j].thread)
				rfe.row[i] &= ~(1ull << j);
	rel order = unite(n, unite(n, ppo, fenced), unite(n, rfe, unite(n, r->mo, r->fr)));
	order = unite(n, order, r->woken);
	return acyclic(n, unite(n, same_location(o, r->po, true), communication)) &&
	       acyclic(n, order);
}

static rel happens_before(const struct oracle *o, const struct relations *r)
{
	int n = o->n;
	uint64_t atomics = r->all & ~r->library; /* fences are for these */
	rel sb = r->po, at = same_location(o, sb, true);
	rel fence_before = maybe(n, between(n, r->fences, sb, atomics));
	rel fence_after = maybe(n, between(n, atomics, sb, r->fences));
	rel rs = maybe(n, plus(n, compose(n, r->rf, o->rmw)));
	rs = compose(n, maybe(n, between(n, r->writes, at, r->writes)), rs);
	rs = between(n, r->writes, rs, r->writes);
	rel sw = compose(n, compose(n, fence_before, rs), compose(n, r->rf, fence_after));
	sw = unite(n, sw, compose(n, rs, r->woken)); /* all of a barrier's round */
	sw = between(n, r->rel_, sw, r->acq);
	for (int i = 0; i < n; i++) /* readers do not wait for each other */
		if (r->shared >> i & 1)
			sw.row[i] &= ~r->shared;
	return plus(n, unite(n, sb, sw));
}

static bool allows_rc11(const struct oracle *o, const struct relations *r)
{
	int n = o->n;
	uint64_t all = r->all;
	rel sb = r->po, hb = r->hb, elsewhere = same_location(o, sb, false);
	rel eco = plus(n, unite(n, unite(n, r->rf, r->mo), r->fr));
	if (!irreflexive(n, compose(n, hb, maybe(n, eco))))
		return false;
	uint64_t fsc = r->sc & r->fences;
	rel scb = unite(n, sb, compose(n, compose(n, elsewhere, hb), elsewhere));
	scb = unite(n, scb, unite(n, same_location(o, hb, true), unite(n, r->mo, r->fr)));
	rel identity = maybe(n, (rel){ { 0 } });
	rel left =
	        unite(n, between(n, r->sc, identity, all), between(n, fsc, maybe(n, hb), all));
	rel right =
	        unite(n, between(n, all, identity, r->sc), between(n, all, maybe(n, hb), fsc));
	rel base = compose(n, compose(n, left, scb), right);
	rel through = unite(n, hb, compose(n, compose(n, hb, eco), hb));
	return acyclic(n, unite(n, base, between(n, fsc, through, fsc)));
}

static bool allows(struct oracle *o)
{
	struct relations *r = &o->relations;
	relate_order(o, r);
	if (contradicts(o, r) || !atomic(o, r) || !ends_right(o, r))
		return false; /* by every model */
	return o->model == MEMORY_SC    ? allows_sc(o, r)
	       : o->model == MEMORY_TSO ? allows_tso(o, r)
	                                : allows_rc11(o, r);
}

static void add_fact(GArray *all, uint64_t fact)
{
	g_array_append_val(all, fact);
}

/* The execution without the order of the arrivals in a round of a barrier, except which is
 * last. */
static GBytes *of_rounds(const struct oracle *o)
{
	GArray *all = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	for (int i = 0; i < o->n; i++) {
		const struct op_event *e = &o->e[i];
		bool sourced = !e->arrives && (e->type == R || (e->type == K && e->bits + 1));
		uint64_t facts[] = { e->type, (uint64_t)e->thread,
			             e->arrives ? !e->unseen && e->value == 0 : e->value,
			             sourced ? (uint64_t)o->rf[i] : 0 };
		if (e->arrives && e->type == R) /* its store shows it */
			facts[2] = 0;
		g_array_append_vals(all, facts, G_N_ELEMENTS(facts));
	}
	for (int l = 0; l < LITMUS_LOCATIONS; l++)
		for (int i = 0; i < o->orders[l]; i++)
			if (!o->e[o->order[l][o->orders[l] - 1]].arrives)
				add_fact(all, (uint64_t)o->order[l][i]);
	GBytes *bytes = g_bytes_new(all->data, all->len * sizeof(uint64_t));
	g_array_free(all, TRUE);
	return bytes;
}

static void judge(struct oracle *o)
{
	if (!allows(o))
		return;
	if (o->rounds && !g_hash_table_add(o->rounds, of_rounds(o)))
		return;
	struct litmus_outcome outcome = { 0 };
	memcpy(outcome.registers, o->registers, sizeof o->registers);
	for (int l = 0; l < LITMUS_LOCATIONS; l++)
		if (o->orders[l] > 0)
			outcome.memory[l] = o->e[o->order[l][o->orders[l] - 1]].value;
	o->count++;
	o->seen(o->context, NULL, &outcome);
}

/* ---- all modification orders, all sources, all values ---- */

/* In every model the store of an update comes right after the one that its load reads, and
 * stores of a thread in its order. */
static bool may_be_next(const struct oracle *o, const int *order, int at, int count)
{
	for (int load = 0; load < o->n; load++)
		if (o->rmw.row[load] >> order[at] & 1 && o->rf[load] != order[at - 1])
			return false;
	for (int i = at + 1; i < count; i++)
		if (o->po.row[order[i]] >> order[at] & 1)
			return false;
	return true;
}

static void permute(struct oracle *o, int location, int from)
{
	if (location == LITMUS_LOCATIONS) {
		judge(o);
		return;
	}
	int *order = o->order[location], count = o->orders[location];
	if (from >= count) {
		permute(o, location + 1, 1);
		return;
	}
	for (int i = from; i < count; i++) {
		int t = order[from];
		order[from] = order[i];
		order[i] = t;
		if (may_be_next(o, order, from, count))
			permute(o, location, from + 1);
		order[i] = order[from];
		order[from] = t;
	}
}

/* Does an update before `load`, which is one, too, read the same store? No model has both. */
static bool updated_already(const struct oracle *o, int load, int store)
{
	for (int i = 0; i < load; i++)
		if (o->rmw.row[i] && o->rmw.row[load] && o->rf[i] == store && o->e[i].type == R)
			return true;
	return false;
}

/* May the event read the store, as far as values show? */
static bool is_source(const struct oracle *o, int i, int w)
{
	const struct op_event *e = &o->e[i], *s = &o->e[w];
	if (s->type != W || o->rmw.row[i] >> w & 1)
		return false;
	if (e->type == K)
		return s->thread >= 0 && s->location == e->object && !(s->value & e->bits);
	return s->location == e->location && s->value == e->value && !updated_already(o, i, w);
}

static void order_stores(struct oracle *o)
{
	memset(o->orders, 0, sizeof o->orders);
	for (int k = 0; k < o->n; k++) {
		int l = o->e[k].location;
		if (o->e[k].type == W)
			o->order[l][o->orders[l]++] = k;
	}
	relate(o, &o->relations);
	if (o->model == MEMORY_RC11)
		o->relations.hb = happens_before(o, &o->relations);
	permute(o, 0, 1);
}

/* `before`: po and the choices so far, transitive; acyclic in every model. */
static void choose_sources(struct oracle *o, int i, const rel *before)
{
	while (i < o->n && o->e[i].type != R && o->e[i].type != K)
		i++;
	if (i == o->n) {
		order_stores(o);
		return;
	}
	for (int w = 0; w < o->n; w++) {
		if (!is_source(o, i, w) || before->row[i] >> w & 1)
			continue;
		rel now = *before;
		for (int k = 0; k < o->n; k++)
			if (k == w || now.row[k] >> w & 1)
				now.row[k] |= now.row[i] | 1ull << i;
		o->rf[i] = w;
		choose_sources(o, i + 1, &now);
	}
}

/* Has each event a store to read? */
static bool have_sources(const struct oracle *o)
{
	for (int i = 0; i < o->n; i++) {
		bool found = o->e[i].type == W || o->e[i].type == F;
		for (int w = 0; w < o->n && !found; w++)
			found = o->e[w].type == W &&
			        (o->e[i].type == K ||
			         (o->e[w].location == o->e[i].location &&
			          o->e[w].value == o->e[i].value && !(o->rmw.row[i] >> w & 1)));
		if (!found)
			return false;
	}
	return true;
}

static void run_thread(struct oracle *o, uint32_t t, uint32_t op);

static int add_event(struct oracle *o, enum type type, uint32_t t, const struct litmus_op *op,
                     int order, uint64_t value)
{
	int id = o->n++;
	BUG_ON(id >= MAX);
	o->e[id] =
	        (struct op_event){ type,
		                   (int)t,
		                   type == F ? -1 : (int)op->location,
		                   order,
		                   value,
		                   op->kind >= LITMUS_LOCK,
		                   op->kind >= LITMUS_EXCHANGE && op->kind <= LITMUS_COMPARE };
	if (type == K) {
		o->e[id].location = -1;
		o->e[id].object = (int)op->location;
		o->e[id].bits = op->kind == LITMUS_WAKE ? (uint64_t)1 << t : UINT64_MAX;
	}
	o->e[id].reader = type == R ? op->kind == LITMUS_RDLOCK || op->kind == LITMUS_TRYRD
	                            : type == W && op->kind == LITMUS_RDUNLOCK;
	o->e[id].arrives = op->kind == LITMUS_ARRIVE && o->rounds != NULL;
	o->e[id].unseen = op->expected == 1;
	o->po.row[id] = 0;
	for (int i = 0; i < id; i++)
		if (o->e[i].thread < 0 || o->e[i].thread == (int)t)
			o->po.row[i] |= 1ull << id;
	o->rmw.row[id] = 0;
	return id;
}

static void drop_to(struct oracle *o, int n)
{
	o->n = n;
	for (int i = 0; i < n; i++) {
		o->po.row[i] &= (1ull << n) - 1;
		o->rmw.row[i] &= (1ull << n) - 1;
	}
}

/* The effect of an operation that reads `value`. */
struct effect {
	bool possible, updates, results;
	int load_order, store_order;
	uint64_t result, stored;
};

static struct effect taking(bool free, bool tries, uint64_t stored)
{
	struct effect e = { free || tries, free, tries, free ? ORDER_ACQ : ORDER_RLX,
		            ORDER_ACQ,     free, stored };
	return e;
}

static struct effect releasing(uint64_t stored)
{
	struct effect e = { true, true, false, ORDER_RLX, ORDER_REL, 0, stored };
	return e;
}

/* Conditions order nothing. */
static struct effect on_condition(uint64_t stored)
{
	struct effect e = { true, true, false, ORDER_RLX, ORDER_RLX, 0, stored };
	return e;
}

/* `choice`: of a signal, a bit of the value, or 0 for none. */
static struct effect library_effect(const struct litmus_op *op, uint32_t t, uint64_t v,
                                    uint64_t choice)
{
	uint64_t own = (uint64_t)1 << t;
	struct effect e = { 0 };
	switch (op->kind) {
	case LITMUS_LOCK:
	case LITMUS_TRY:
		return taking(v == 0, op->kind == LITMUS_TRY, WRITER);
	case LITMUS_RDLOCK:
	case LITMUS_TRYRD:
		return taking(v != WRITER, op->kind == LITMUS_TRYRD, v + 1);
	case LITMUS_TAKE:
	case LITMUS_TRYTAKE:
		return taking(v != 0, op->kind == LITMUS_TRYTAKE, v - 1);
	case LITMUS_POST:
		return releasing(v + 1);
	case LITMUS_RDUNLOCK:
		e = releasing(v - 1);
		e.possible = v > 0 && v < WRITER;
		return e;
	case LITMUS_ARRIVE:
		e = releasing((v + 1) % op->value);
		e.results = op->expected != 1;
		e.result = v + 1 == op->value;
		return e;
	case LITMUS_WAIT:
		return on_condition(v | own);
	case LITMUS_BROADCAST:
		return on_condition(0);
	case LITMUS_SIGNAL:
		return on_condition(v & ~choice);
	case LITMUS_WAKE_TIMED:
		e = on_condition(v & ~own);
		e.results = true;
		e.result = (v & own) != 0;
		return e;
	default: /* ONCE: 1 while it runs, then 2 */
		e = taking(v == 0, v == 2, 1);
		e.load_order = ORDER_ACQ;
		e.results = true;
		return e;
	}
}

static struct effect effect_of(const struct oracle *o, const struct litmus_op *op, uint32_t t,
                               uint64_t value, uint64_t choice)
{
	const uint64_t *registers = o->registers[t];
	if (op->kind >= LITMUS_LOCK)
		return library_effect(op, t, value, choice);
	bool fails = op->kind == LITMUS_COMPARE && value != op->expected;
	int order = fails ? (int)op->failure_order : (int)op->order;
	/* a sum takes the register after the load */
	uint64_t add = op->plus == 0                ? 0
	               : op->plus - 1 == op->result ? value
	                                            : registers[op->plus - 1];
	struct effect e = { true,
		            op->kind != LITMUS_LOAD && !fails,
		            true,
		            order,
		            order,
		            value,
		            (op->kind == LITMUS_ADD ? value : 0) + op->value + add };
	return e;
}

static void run_choosing(struct oracle *o, uint32_t t, uint32_t i, uint64_t value,
                         uint64_t choice)
{
	const struct litmus_op *op = &o->l->ops[t][i];
	int before = o->n;
	uint64_t *registers = o->registers[t], old = registers[op->result];
	struct effect e = effect_of(o, op, t, value, choice);
	if (!e.possible)
		return;
	if (e.results)
		registers[op->result] = e.result;
	int load = add_event(o, R, t, op, e.load_order, value);
	if (e.updates) {
		int store = add_event(o, W, t, op, e.store_order, e.stored);
		o->rmw.row[load] |= 1ull << store;
	}
	run_thread(o, t, i + 1);
	drop_to(o, before);
	registers[op->result] = old;
}

/* The operation reads `value`. */
static void run_reading(struct oracle *o, uint32_t t, uint32_t i, uint64_t value)
{
	if (o->l->ops[t][i].kind != LITMUS_SIGNAL || value == 0) {
		run_choosing(o, t, i, value, 0);
		return;
	}
	for (uint64_t left = value; left != 0; left &= left - 1)
		run_choosing(o, t, i, value, left & -left);
}

/* An operation that writes, whatever was there, or only waits. */
static bool run_plain(struct oracle *o, uint32_t t, uint32_t i)
{
	const struct litmus_op *op = &o->l->ops[t][i];
	switch (op->kind) {
	case LITMUS_FENCE:
		add_event(o, F, t, op, (int)op->order, 0);
		return true;
	case LITMUS_STORE:
		add_event(o, W, t, op, (int)op->order,
		          op->value + (op->plus ? o->registers[t][op->plus - 1] : 0));
		return true;
	case LITMUS_UNLOCK:
	case LITMUS_ONCE_END:
		add_event(o, W, t, op, ORDER_REL, op->kind == LITMUS_UNLOCK ? 0 : 2);
		return true;
	case LITMUS_WAKE:
	case LITMUS_DEPART:
		add_event(o, K, t, op, op->kind == LITMUS_WAKE ? ORDER_RLX : ORDER_ACQ, 0);
		return true;
	default:
		return false;
	}
}

static void run_thread(struct oracle *o, uint32_t t, uint32_t i)
{
	if (t == o->l->threads) {
		if (have_sources(o)) {
			rel before = plus(o->n, o->po);
			choose_sources(o, 0, &before);
		}
		return;
	}
	if (i == o->l->length[t]) {
		run_thread(o, t + 1, 0);
		return;
	}
	const struct litmus_op *op = &o->l->ops[t][i];
	int before = o->n;
	if (op->when && o->registers[t][op->when - 1] != op->when_value) {
		run_thread(o, t, i + 1);
	} else if (run_plain(o, t, i)) {
		run_thread(o, t, i + 1);
		drop_to(o, before);
	} else {
		for (int v = 0; v < o->domain_count[op->location]; v++)
			run_reading(o, t, i, o->domain[op->location][v]);
	}
}

static void add_value(struct oracle *o, uint32_t location, uint64_t value)
{
	for (int i = 0; i < o->domain_count[location]; i++)
		if (o->domain[location][i] == value)
			return;
	BUG_ON(o->domain_count[location] == DOMAIN);
	o->domain[location][o->domain_count[location]++] = value;
}

/* Values that the operation may store, of those known so far; large sums are never read twice
 * over, as programs have few additions. */
static void add_stored(struct oracle *o, const struct litmus_op *op)
{
	uint32_t l = op->location;
	if (op->kind == LITMUS_LOAD || op->kind >= LITMUS_FENCE)
		return;
	if (op->kind != LITMUS_ADD && op->plus == 0)
		add_value(o, l, op->value);
	for (uint32_t from = 0; from < 2; from++) {
		bool sums = op->plus != 0 || (op->kind == LITMUS_ADD && from == l);
		for (int v = 0; sums && v < o->domain_count[from]; v++)
			if (o->domain[from][v] + op->value < 12)
				add_value(o, l, o->domain[from][v] + op->value);
	}
}

/* Every value that a load of the location may read: registers hold such values of either. */
static void make_domain(struct oracle *o)
{
	int before = 0, now = 0;
	uint64_t waiting = 0; /* threads */
	for (uint32_t l = 0; l < LITMUS_LOCATIONS; l++)
		add_value(o, l, 0);
	for (uint64_t held = 1; held <= 3; held++)
		add_value(o, LITMUS_LOCATIONS - 1, held);
	add_value(o, LITMUS_LOCATIONS - 1, WRITER);
	for (uint32_t t = 0; t < o->l->threads; t++)
		for (uint32_t i = 0; i < o->l->length[t]; i++)
			if (o->l->ops[t][i].kind == LITMUS_WAIT)
				waiting |= UINT64_C(1) << t;
	for (uint64_t some = waiting; some != 0; some = (some - 1) & waiting)
		add_value(o, CONDITION, some);
	for (int round = 0; round == 0 || now > before; round++) {
		before = now;
		for (uint32_t t = 0; t < o->l->threads; t++)
			for (uint32_t i = 0; i < o->l->length[t]; i++)
				add_stored(o, &o->l->ops[t][i]);
		now = 0;
		for (uint32_t l = 0; l < LITMUS_LOCATIONS; l++)
			now += o->domain_count[l];
	}
}

uint64_t oracle_memory(const struct litmus *l, enum memory_model model, litmus_seen *seen,
                       void *context)
{
	struct oracle o = { .l = l, .model = model, .seen = seen, .context = context };
	for (uint32_t t = 0; t < l->threads; t++)
		for (uint32_t i = 0; i < l->length[t]; i++)
			if (l->ops[t][i].kind != LITMUS_FENCE)
				o.used |= 1ull << l->ops[t][i].location;
	for (uint32_t t = 0; t < l->threads; t++)
		for (uint32_t i = 0; i < l->length[t]; i++)
			if (l->ops[t][i].kind == LITMUS_ARRIVE && o.rounds == NULL &&
			    litmus_has_rounds(l, &l->ops[t][i]))
				o.rounds = g_hash_table_new_full(g_bytes_hash, g_bytes_equal,
				                                 (GDestroyNotify)g_bytes_unref,
				                                 NULL);
	make_domain(&o);
	for (int i = 0; i < LITMUS_LOCATIONS; i++)
		if (o.used >> i & 1)
			o.e[o.n++] =
			        (struct op_event){ .type = W, .thread = -1, .location = i };
	run_thread(&o, 0, 0);
	if (o.rounds)
		g_hash_table_unref(o.rounds);
	return o.count;
}

/* ---- a graph that is given ---- */

bool oracle_memory_allows(const struct memory_graph *g, enum memory_model model)
{
	struct oracle o = { .model = model, .n = (int)g->count };
	BUG_ON(g->count > MAX);
	for (int i = 0; i < o.n; i++) {
		const struct memory_event *e = &g->events[i];
		bool initial = e->kind == MEMORY_INIT, load = e->kind == MEMORY_LOAD;
		enum type type = load ? R : memory_writes(e) ? W : F;
		bool locked = (e->flags & (MEMORY_EXCLUSIVE | MEMORY_LOCKED)) != 0;
		o.e[i] = (struct op_event){ .type = type,
			                    .thread = initial ? -1 : (int)e->thread,
			                    .location = type == F ? -1 : (int)e->location,
			                    .order = e->order,
			                    .value = e->value,
			                    .locked = locked };
		o.rf[i] = load ? (int)e->rf : 0;
		for (int k = 0; k < o.n; k++) {
			const struct memory_event *f = &g->events[k];
			bool before =
			        initial || (f->thread == e->thread && f->index > e->index);
			if (before && f->kind != MEMORY_INIT)
				o.po.row[i] |= 1u << k;
		}
		if (load && (e->flags & MEMORY_EXCLUSIVE))
			o.rmw.row[i] |= 1u << e->po_next;
	}
	for (uint32_t l = 0; l < g->locations; l++)
		for (uint32_t i = g->init[l]; i != NONE; i = g->events[i].mo_next)
			o.order[l][o.orders[l]++] = (int)i;
	relate(&o, &o.relations);
	if (!acyclic(o.n, unite(o.n, o.po, o.relations.rf)))
		return false; /* by every model */
	if (model == MEMORY_RC11)
		o.relations.hb = happens_before(&o, &o.relations);
	return allows(&o);
}
