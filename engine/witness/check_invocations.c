/*
 * check_invocations.c - rule 5 in the checker: invocations of specified objects return what
 * they returned, by the effects or by their dependences, and their scopes are not interrupted
 * by the object.
 */
#include "engine/witness/check_private.h"

#include <string.h>

/* By event: its specified scope; by lock: the only object whose scopes use it. */
static void facts_scopes(struct checker *c)
{
	const struct trace *t = c->t;
	struct facts *f = &c->f;
	g_autofree uint32_t *open = g_new(uint32_t, t->threads_count + 1);

	f->scope = g_new(uint32_t, t->events_count + 1);
	f->lock_owner = g_new(uint32_t, t->objects_count + 1);
	f->unreliable = g_new0(uint64_t, t->instances_count / 64 + 1);
	memset(open, 0xff, sizeof(uint32_t) * (t->threads_count + 1));
	memset(f->lock_owner, 0xff, sizeof(uint32_t) * (t->objects_count + 1));
	g_autofree uint64_t *mixed = g_new0(uint64_t, t->objects_count / 64 + 1);

	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		uint32_t *scope = &open[x->thread];

		f->scope[e] = *scope;
		if (event_inert(x))
			continue;
		if (x->op == OP_CALL && *scope == NONE && specified(c, x->target))
			*scope = e;
		else if (x->op == OP_RET && *scope != NONE &&
		         t->events[*scope].target == x->target)
			*scope = NONE;
		if (!op_acquires(x->op) && !op_releases(x->op) && x->op != OP_TRYFAIL)
			continue;
		uint32_t instance = *scope == NONE ? NONE - 1 : t->events[*scope].target;
		if (f->lock_owner[x->target] == NONE)
			f->lock_owner[x->target] = instance;
		else if (f->lock_owner[x->target] != instance)
			mixed[x->target / 64] |= (uint64_t)1 << (x->target % 64);
	}
	for (uint32_t o = 0; o < t->objects_count; o++) {
		if (f->lock_owner[o] == NONE - 1 || (mixed[o / 64] >> (o % 64) & 1))
			f->lock_owner[o] = NONE;
	}
}

/* Objects whose effects contradict the recording use the fallback. */
static void facts_contradictions(struct checker *c)
{
	const struct trace *t = c->t;
	const struct semantics *s = c->options.semantics;
	g_autofree void **state = g_new0(void *, t->instances_count + 1);

	for (uint32_t e = 0; e < t->events_count && s->step != NULL; e++) {
		const struct event *x = &t->events[e];

		if ((x->op == OP_ACT || x->op == OP_RET) && !event_inert(x) &&
		    specified(c, x->target) &&
		    s->step(s->context, &state[x->target], x->target, e) == 0)
			c->f.unreliable[x->target / 64] |= (uint64_t)1 << (x->target % 64);
	}
	for (uint32_t i = 0; i < t->instances_count && s->state_free != NULL; i++) {
		if (state[i] != NULL)
			s->state_free(s->context, state[i]);
	}
}

static bool invocations_commute(const struct checker *c, uint32_t a, uint32_t b)
{
	return c->options.semantics->commutes(c->options.semantics->context, a, b);
}

uint32_t invocation_of(const struct checker *c, uint32_t e)
{
	uint32_t u = at(c, e)->thread, depth = 0;

	if (at(c, e)->op == OP_ACT)
		return e;
	for (uint32_t i = c->f.place[e]; i-- > 0;) {
		uint32_t f = facts_own(c, u)[i];

		if (event_inert(at(c, f)))
			continue;
		if (at(c, f)->op == OP_RET)
			depth++;
		else if (at(c, f)->op == OP_CALL && depth-- == 0)
			return f;
	}
	return e;
}

/* Fallback without effects: the earlier invocations that `e` depends on, recursively, are
 * before it here, in their order. */
static bool rule_dependence(struct checker *c, uint32_t e, GString *reason)
{
	const struct trace *t = c->t;
	g_autoptr(GArray) chain =
	        g_array_new(FALSE, FALSE, sizeof(uint32_t)); /* e, then its dependences */
	const GArray *before = c->invoked[at(c, e)->target];
	bool good = true;

	g_array_append_val(chain, e);
	for (uint32_t f = e; f-- > 0;) {
		const struct event *x = &t->events[f];

		if ((x->op != OP_ACT && x->op != OP_RET) || event_inert(x) ||
		    x->target != at(c, e)->target)
			continue;
		for (guint i = 0; i < chain->len; i++) {
			uint32_t later = g_array_index(chain, uint32_t, i);

			if (invocations_commute(c, invocation_of(c, f),
			                        invocation_of(c, later)))
				continue;
			g_array_append_val(chain, f);
			break;
		}
	}
	for (guint i = 1; i < chain->len && good; i++) {
		uint32_t f = g_array_index(chain, uint32_t, i);

		if (!taken(c, f))
			good = check_refuse_by(c, reason, "rule 5 (invocations)", e,
			                       "depends on", f, ", which is not before it");
	}
	for (guint i = 0; before != NULL && i < before->len && good; i++) {
		uint32_t b = g_array_index(before, uint32_t, i);
		bool in_chain = false;

		for (guint k = 0; k < chain->len; k++)
			in_chain |= g_array_index(chain, uint32_t, k) == b;
		for (guint k = 0; k < chain->len && good; k++) {
			uint32_t f = g_array_index(chain, uint32_t, k);
			bool earlier = f == e; /* is b before f here? */

			for (guint j = i + 1; j < before->len && !earlier; j++)
				earlier = g_array_index(before, uint32_t, j) == f;
			bool turned = in_chain && f < b && f != e && earlier;
			if ((turned || (!in_chain && f != b && earlier)) &&
			    !invocations_commute(c, invocation_of(c, b), invocation_of(c, f))) {
				good = check_refuse_by(
				        c, reason, "rule 5 (invocations)", e, "comes after", b,
				        ", which comes later in the trace and does not "
				        "commute with ");
				if (reason != NULL)
					trace_append_event(c->t, f, reason);
			}
		}
	}
	return good;
}

bool rule_invocation(struct checker *c, uint32_t e, bool free_result, GString *reason)
{
	const struct semantics *s = c->options.semantics;
	uint32_t instance = at(c, e)->target;
	int result;

	if (s == NULL || !specified(c, instance))
		return true;
	if (at(c, e)->op != OP_RET && c->busy[instance] != NONE &&
	    c->busy[instance] != at(c, e)->thread)
		return check_refuse(c, reason, "rule 5 (invocations)", e,
		                    "comes inside of an invocation of %s on the same object",
		                    trace_thread_name(c->t, c->busy[instance]));
	if (at(c, e)->op == OP_CALL)
		return true;
	if (s->step != NULL && !(c->f.unreliable[instance / 64] >> (instance % 64) & 1)) {
		result = s->step(s->context, &c->abstract[instance], instance, e);
		if (result == 1 || (result == 0 && free_result))
			return true;
		if (result == 0)
			return check_refuse(c, reason, "rule 5 (invocations)", e,
			                    "returns something else here");
	}
	if (free_result || c->t->invocations[at(c, e)->aux].results == 0)
		return true;
	return rule_dependence(c, e, reason);
}

void invocation_take(struct checker *c, uint32_t e)
{
	uint32_t i = at(c, e)->target;

	if (c->f.scope == NULL || !specified(c, i))
		return;
	if (at(c, e)->op == OP_CALL)
		cell_set(c, &c->busy[i], at(c, e)->thread);
	if (at(c, e)->op == OP_RET)
		cell_set(c, &c->busy[i], NONE);
	if (at(c, e)->op == OP_CALL)
		return;
	if (c->invoked[i] == NULL)
		c->invoked[i] = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_array_append_val(c->invoked[i], e);
}

bool invocations_closed(const struct checker *c, uint32_t spared, GString *reason)
{
	for (uint32_t i = 0; c->f.scope != NULL && i < c->t->instances_count; i++) {
		if (c->busy[i] == NONE || c->busy[i] == spared)
			continue;
		g_string_append_printf(reason,
		                       "rule 5 (invocations): at the end %s is still "
		                       "inside of an invocation",
		                       trace_thread_name(c->t, c->busy[i]));
		return false;
	}
	return true;
}

void facts_invocations(struct checker *c)
{
	facts_scopes(c);
	facts_contradictions(c);
}
