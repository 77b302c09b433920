/* rule5.c - see rule5.h. */
#include "engine/base/arrays.h"
#include "engine/commute/rule5.h"
#include "engine/trace/index.h"

#include <string.h>

/* An invocation on an instance. */
struct rule5_use {
	uint32_t begin, end; /* CALL and RET, or the ACT twice */
};

struct rule5 {
	struct model *m;
	const struct trace *t;
	uint64_t *exempt;
	uint32_t *inside; /* by event: the specified instance whose scope it is in, or NONE */
	GArray **uses;    /* by instance: struct rule5_use of those that returned, by end */
	uint32_t *place;  /* by event: its index in the judged sequence, or NONE */
	struct smt_query *q;
	uint32_t open_thread,
	        other_open; /* threads whose scopes may be open at the end, or NONE */
	uint32_t free_result;
	uint32_t wanted; /* an acquire whose lock must be free at the end, or NONE */
	GArray *atoms;   /* scratch: struct smt_atom */
	bool good;
};

/* -- events covered by rule 5 instead of rules 2 and 3 ------------------------------------ */

#define NO_OWNER    NONE
#define MANY_OWNERS (NONE - 1)

static void find_exempt(struct rule5 *r)
{
	const struct trace *t = r->t;
	g_autofree uint32_t *owner = g_malloc((t->objects_count + 1) * sizeof(uint32_t));
	uint32_t *inside = r->inside = model_scopes(r->m);
	memset(owner, 0xff, (t->objects_count + 1) * sizeof(uint32_t));
	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		if (event_inert(x) || op_table[x->op].use != USE_LOCK)
			continue;
		uint32_t *o = &owner[x->target];
		if (inside[e] == NONE || (*o != NO_OWNER && *o != inside[e]))
			*o = MANY_OWNERS;
		else
			*o = inside[e];
	}
	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		bool lock = op_table[x->op].use == USE_LOCK;
		if (inside[e] != NONE && ((op_is_access(x->op) && op_reads(x->op)) ||
		                          (lock && owner[x->target] == inside[e])))
			r->exempt[e / 64] |= UINT64_C(1) << (e % 64);
	}
}

struct rule5 *rule5_new(struct model *m)
{
	const struct trace *t = m->t;
	struct rule5 *r = g_new0(struct rule5, 1);
	r->m = m;
	r->t = t;
	r->exempt = g_new0(uint64_t, t->events_count / 64 + 1);
	r->uses = g_new0(GArray *, t->instances_count + 1);
	r->place = g_malloc((t->events_count + 1) * sizeof(uint32_t));
	memset(r->place, 0xff, (t->events_count + 1) * sizeof(uint32_t));
	r->atoms = g_array_new(FALSE, FALSE, sizeof(struct smt_atom));
	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		if ((x->op != OP_ACT && x->op != OP_RET) || event_inert(x))
			continue;
		struct rule5_use use = { trace_invocation(t, e).call, e };
		if (r->uses[x->target] == NULL)
			r->uses[x->target] =
			        g_array_new(FALSE, FALSE, sizeof(struct rule5_use));
		g_array_append_val(r->uses[x->target], use);
	}
	find_exempt(r);
	return r;
}

void rule5_free(struct rule5 *r)
{
	if (r == NULL)
		return;
	arrays_free(r->uses, r->t->instances_count);
	g_free(r->exempt);
	g_free(r->inside);
	g_free(r->place);
	g_array_unref(r->atoms);
	g_free(r);
}

const uint64_t *rule5_exempt(const struct rule5 *r)
{
	return r->exempt;
}

/* -- requirements: atoms of a disjunction are collected, then given to the solver --------- */

static void add_atom(struct rule5 *r, int kind, uint32_t e, uint32_t f)
{
	struct smt_atom a = { .kind = kind, .e = e, .f = f };
	g_array_append_val(r->atoms, a);
}

static void require_any(struct rule5 *r)
{
	smt_query_require(r->q, (const struct smt_atom *)(void *)r->atoms->data, r->atoms->len);
	g_array_set_size(r->atoms, 0);
	r->good = false;
}

static bool in_sequence(const struct rule5 *r, uint32_t event)
{
	return r->place[event] != NONE;
}

static struct rule5_use use_at(const GArray *uses, guint i)
{
	return g_array_index(uses, struct rule5_use, i);
}

static bool may_stay_open(const struct rule5 *r, uint32_t thread)
{
	return thread == r->open_thread || thread == r->other_open;
}

/* A scope is in the reordering whole or not at all. */
static void judge_whole(struct rule5 *r, const uint32_t *sequence, uint32_t length)
{
	for (uint32_t i = 0; i < length; i++) {
		const struct event *x = &r->t->events[sequence[i]];
		if (x->op != OP_CALL || event_inert(x) || may_stay_open(r, x->thread) ||
		    !model_specified(r->m, x->target))
			continue;
		uint32_t ret = r->t->index->partner[sequence[i]];
		if (ret != NONE && in_sequence(r, ret))
			continue;
		add_atom(r, ATOM_OUT, sequence[i], NONE);
		if (ret != NONE)
			add_atom(r, ATOM_IN, ret, NONE);
		require_any(r);
	}
}

/* A scope is not interrupted by another invocation on the object. */
static void judge_uninterrupted(struct rule5 *r, const GArray *uses)
{
	for (guint i = 0; i < uses->len; i++) {
		struct rule5_use a = use_at(uses, i);
		if (a.begin == a.end || !in_sequence(r, a.end))
			continue;
		for (guint k = 0; k < uses->len; k++) {
			struct rule5_use b = use_at(uses, k);
			if (k == i || !in_sequence(r, b.end) ||
			    r->t->events[a.end].thread == r->t->events[b.end].thread)
				continue;
			if (r->place[b.end] < r->place[a.begin] ||
			    r->place[a.end] < r->place[b.begin])
				continue;
			add_atom(r, ATOM_OUT, a.end, NONE);
			add_atom(r, ATOM_OUT, b.end, NONE);
			add_atom(r, ATOM_BEFORE, a.end, b.begin);
			add_atom(r, ATOM_BEFORE, b.end, a.begin);
			require_any(r);
		}
	}
}

/* Is this the CALL of a specified object's scope that is open at the end? */
static bool stays_open(const struct rule5 *r, uint32_t call)
{
	const struct event *x = &r->t->events[call];
	uint32_t ret = r->t->index->partner[call];
	return x->op == OP_CALL && !event_inert(x) && model_specified(r->m, x->target) &&
	       may_stay_open(r, x->thread) && !(ret != NONE && in_sequence(r, ret));
}

/* At most one thread has an open scope on an object. */
static void judge_both_open(struct rule5 *r, const uint32_t *sequence, uint32_t length)
{
	for (uint32_t i = 0; i < length; i++) {
		uint32_t a = sequence[i];
		if (!stays_open(r, a))
			continue;
		for (uint32_t k = i + 1; k < length; k++) {
			uint32_t b = sequence[k],
			         ends[2] = { r->t->index->partner[a], r->t->index->partner[b] };
			if (!stays_open(r, b) ||
			    r->t->events[a].target != r->t->events[b].target ||
			    r->t->events[a].thread == r->t->events[b].thread)
				continue;
			add_atom(r, ATOM_OUT, a, NONE);
			add_atom(r, ATOM_OUT, b, NONE);
			for (int side = 0; side < 2; side++)
				if (ends[side] != NONE)
					add_atom(r, ATOM_IN, ends[side], NONE);
			require_any(r);
		}
	}
}

/* An open scope is not interrupted, either. */
static void judge_open(struct rule5 *r, const uint32_t *sequence, uint32_t length)
{
	for (uint32_t i = 0; i < length; i++) {
		uint32_t call = sequence[i];
		const struct event *x = &r->t->events[call];
		const GArray *uses = x->op == OP_CALL ? r->uses[x->target] : NULL;
		uint32_t ret = r->t->index->partner[call];
		if (uses == NULL || !stays_open(r, call))
			continue;
		for (guint k = 0; k < uses->len; k++) {
			struct rule5_use b = use_at(uses, k);
			if (r->t->events[b.end].thread == x->thread || !in_sequence(r, b.end) ||
			    r->place[b.end] < i)
				continue;
			add_atom(r, ATOM_OUT, call, NONE);
			add_atom(r, ATOM_OUT, b.end, NONE);
			add_atom(r, ATOM_BEFORE, b.end, call);
			if (ret != NONE)
				add_atom(r, ATOM_IN, ret, NONE);
			require_any(r);
		}
	}
}

/* Run the effects. The first wrong result excludes every reordering with the same invocations
 * before it in the same order. */
static void judge_effects(struct rule5 *r, uint32_t instance, const GArray *uses,
                          const GArray *order)
{
	const struct model_object *o = &r->m->objects[instance];
	struct abstract_state *state = abstract_state_new(o->type->o, &r->m->texts);
	struct call_scratch scratch;
	struct call call;
	for (guint i = 0; i < order->len; i++) {
		struct rule5_use use = use_at(order, i);
		if (!model_invocation(r->m, use.begin, &call, &scratch))
			continue;
		enum abstract_result result =
		        abstract_state_step(state, call.method, call.names, &r->m->texts);
		if (result == RESULT_SAME)
			continue;
		if (use.end == r->free_result)
			continue;
		add_atom(r, ATOM_OUT, use.end, NONE);
		for (guint k = 0; k < uses->len; k++) {
			struct rule5_use other = use_at(uses, k);
			if (in_sequence(r, other.end) &&
			    r->place[other.end] < r->place[use.end]) {
				add_atom(r, ATOM_OUT, other.end, NONE);
				add_atom(r, ATOM_BEFORE, use.end, other.end);
			} else if (other.end != use.end) {
				add_atom(r, ATOM_BEFORE, other.end, use.end);
			}
		}
		for (guint k = 0; k + 1 < i; k++)
			add_atom(r, ATOM_BEFORE, use_at(order, k + 1).end,
			         use_at(order, k).end);
		require_any(r);
		break;
	}
	abstract_state_free(state);
}

static bool uses_commute(struct rule5 *r, struct rule5_use a, struct rule5_use b)
{
	struct call_scratch scratch[2];
	struct call calls[2];
	bool overflow = false;
	if (!model_invocation(r->m, a.begin, &calls[0], &scratch[0]) ||
	    !model_invocation(r->m, b.begin, &calls[1], &scratch[1]))
		return false;
	return model_commute(r->m, &calls[0], &calls[1], &overflow) && !overflow;
}

/* Without effects: the invocation `at`, the earlier ones that it does not commute with, and
 * recursively theirs, keep their order; and no other invocation comes before one of them that
 * it does not commute with. */
static void judge_dependence(struct rule5 *r, const GArray *uses, guint at)
{
	struct rule5_use self = use_at(uses, at);
	g_autofree bool *chain = g_new0(bool, uses->len);
	chain[at] = true;
	for (guint i = at; i-- > 0;)
		for (guint k = i + 1; k <= at && !chain[i]; k++)
			chain[i] =
			        chain[k] && !uses_commute(r, use_at(uses, i), use_at(uses, k));
	for (guint i = 0; i < uses->len; i++) {
		struct rule5_use a = use_at(uses, i);
		if (chain[i] && i != at &&
		    (!in_sequence(r, a.end) || r->place[a.end] > r->place[self.end])) {
			add_atom(r, ATOM_OUT, self.end, NONE);
			add_atom(r, ATOM_BEFORE, a.end, self.end);
			require_any(r);
		}
		for (guint k = 0; k <= at; k++) {
			struct rule5_use b = use_at(uses, k);
			bool turned = chain[i] && i > k && in_sequence(r, a.end) &&
			              in_sequence(r, b.end) &&
			              r->place[a.end] < r->place[b.end];
			bool foreign = !chain[i] && in_sequence(r, a.end) &&
			               in_sequence(r, b.end) &&
			               r->place[a.end] < r->place[b.end];
			if (!chain[k] || i == k || !(turned || foreign) ||
			    uses_commute(r, a, b))
				continue;
			add_atom(r, ATOM_OUT, self.end, NONE);
			if (foreign)
				add_atom(r, ATOM_OUT, a.end, NONE);
			add_atom(r, ATOM_BEFORE, b.end, a.end);
			require_any(r);
		}
	}
}

static int by_place(gconstpointer a, gconstpointer b, gpointer rule)
{
	const struct rule5 *r = rule;
	uint32_t x = r->place[((const struct rule5_use *)a)->end],
	         y = r->place[((const struct rule5_use *)b)->end];
	return x < y ? -1 : x > y;
}

static void judge_instance(struct rule5 *r, uint32_t instance)
{
	const GArray *uses = r->uses[instance];
	g_autoptr(GArray) order = g_array_new(FALSE, FALSE, sizeof(struct rule5_use));
	for (guint i = 0; i < uses->len; i++) {
		struct rule5_use use = use_at(uses, i);
		if (in_sequence(r, use.end))
			g_array_append_val(order, use);
	}
	g_array_sort_with_data(order, by_place, r);
	judge_uninterrupted(r, uses);
	if (r->m->objects[instance].effects) {
		judge_effects(r, instance, uses, order);
	} else {
		for (guint i = 0; i < uses->len && r->good; i++) {
			struct rule5_use use = use_at(uses, i);
			if (in_sequence(r, use.end) && use.end != r->free_result &&
			    r->t->invocations[r->t->events[use.end].aux].results > 0)
				judge_dependence(r, uses, i);
		}
	}
}

/* The lock that e1 acquires is free: sections that exclude it have ended or not begun. */
static void judge_wanted(struct rule5 *r, const uint32_t *sequence, uint32_t length)
{
	const struct event *wanted = &r->t->events[r->wanted];
	for (uint32_t i = 0; i < length; i++) {
		const struct event *x = &r->t->events[sequence[i]];
		uint32_t release = r->t->index->partner[sequence[i]];
		if (!op_acquires(x->op) || event_inert(x) || x->target != wanted->target ||
		    (x->op == OP_RACQ && wanted->op == OP_RACQ) ||
		    (release != NONE && in_sequence(r, release)))
			continue;
		add_atom(r, ATOM_OUT, sequence[i], NONE);
		if (release != NONE)
			add_atom(r, ATOM_IN, release, NONE);
		require_any(r);
	}
}

static bool judge(void *context, struct smt_query *q, const uint32_t *sequence, uint32_t length)
{
	struct rule5 *r = context;
	r->good = true;
	r->q = q;
	for (uint32_t i = 0; i < length; i++)
		r->place[sequence[i]] = i;
	judge_whole(r, sequence, length);
	if (r->wanted != NONE)
		judge_wanted(r, sequence, length);
	judge_open(r, sequence, length);
	if (r->other_open != NONE)
		judge_both_open(r, sequence, length);
	for (uint32_t i = 0; i < r->t->instances_count; i++)
		if (r->uses[i] != NULL && model_specified(r->m, i))
			judge_instance(r, i);
	for (uint32_t i = 0; i < length; i++)
		r->place[sequence[i]] = NONE;
	return r->good;
}

static void attach_judge(struct rule5 *r, struct smt_query *q, uint32_t open_thread,
                         uint32_t free_result)
{
	r->wanted = NONE;
	r->open_thread = open_thread;
	r->other_open = NONE;
	r->free_result = free_result;
	smt_query_judge(q, judge, r);
}

void rule5_attach(struct rule5 *r, struct smt_query *q, uint32_t e1, uint32_t free_result)
{
	const struct event *x = &r->t->events[e1];
	attach_judge(r, q, x->thread, free_result);
	if (op_acquires(x->op) && !event_inert(x) && !(r->exempt[e1 / 64] >> (e1 % 64) & 1))
		r->wanted = e1;
}

static void attach_race(void *context, struct smt_query *q, uint32_t e1, uint32_t e2)
{
	struct rule5 *r = context;
	attach_judge(r, q, r->t->events[e1].thread, NONE);
	r->other_open = r->t->events[e2].thread;
}

bool rule5_speaks_for(const struct rule5 *r, uint32_t e1, uint32_t e2)
{
	return r->inside[e1] != NONE && r->inside[e1] == r->inside[e2];
}

static bool spoken_for(void *context, uint32_t e1, uint32_t e2)
{
	return rule5_speaks_for(context, e1, e2);
}

struct race_rules rule5_races(struct rule5 *r, const struct semantics *semantics)
{
	return (struct race_rules){ .semantics = semantics,
		                    .exempt = r->exempt,
		                    .attach = attach_race,
		                    .spoken_for = spoken_for,
		                    .context = r };
}
