/*
 * reach.c - reversals without the solver: explores recompositions of a run, state by state.
 *
 * A state is a cut (the number of steps of each thread) and the relevant past
 * (reach_private.h). As reads must keep their values, states are few: in each, next events with
 * another outcome are reversals, and their maximal cuts the prefixes; a state where no thread
 * can continue is one, too. Events that only enable others are taken immediately. Runs with too
 * many states are left to the solver, which considers less synchronisation.
 */
#include "engine/explore/awaits/awaits.h"
#include "engine/explore/runs/final.h"
#include "engine/explore/awaits/pasts.h"
#include "engine/explore/reversals/reach_private.h"
#include "engine/base/hash.h"
#include "engine/memory/rounds.h"
#include "engine/trace/once.h"

#include <string.h>

/* Does the thread wait for something in a channel, or for its end? */
static bool waits_for_channel(const struct reach *r, const uint32_t *state, uint32_t e)
{
	struct channel_steps *c = r->x->h->channels;
	return channel_steps_acts(c, e) &&
	       channel_steps_outcome(c, state + r->channels, e).waits;
}

/* What the act on a channel finds, in words, owned by `r`; NULL: it is none. */
static const char *text_in_channel(struct reach *r, const uint32_t *state, uint32_t e)
{
	struct channel_steps *c = r->x->h->channels;
	return channel_steps_acts(c, e)
	               ? reach_keep_text(r, channel_steps_text(c, state + r->channels, e))
	               : NULL;
}

static enum answer look_at_read(struct reach *r, const uint32_t *state, uint32_t state_id,
                                uint32_t e)
{
	const struct reversal_limits *l = r->x->limits;
	uint32_t other;
	if (waits_for_channel(r, state, e))
		return ANSWER_WAITS;
	if (history_is_unseen(r->x->h, e)) /* else its variable's values are not known */
		return reach_leaves_as_in_run(r, state, e) ? ANSWER_LEFT : ANSWER_OTHER;
	uint64_t sees = reach_sees(r, state, e, &other);
	if ((r->left[e] && sees == history_seen(r->x->h, e)) ||
	    pasts_is_longer(l->pasts, history_after(r->x->h, e, sees)) ||
	    detours_end(r, state, e, history_after(r->x->h, e, sees)))
		return ANSWER_LEFT;
	if (awaits_in_vain(l->awaits, l->states, r->x->h, e, sees))
		return ANSWER_WAITS;
	if (sees != history_seen(r->x->h, e))
		reach_add_candidate(
		        r, (struct candidate){ .event = e,
		                               .state = state_id,
		                               .other = other,
		                               .key = sees,
		                               .text = channel_steps_has(r->x->h->channels, e)
		                                               ? text_in_channel(r, state, e)
		                                               : counters_text(r, state, e),
		                               .kind = REVERSAL_READ,
		                               .op = OP_COUNT });
	return ANSWER_OTHER;
}

static const GArray *rivals_of(struct reach *r, const struct view_call *call)
{
	const struct view *v = r->x->h->view;
	uint32_t at = v->call_at[call->event];
	if (r->rivals[at] != NULL)
		return r->rivals[at];
	GArray *list = r->rivals[at] = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	for (guint i = 0; i < v->calls->len; i++) {
		const struct view_call *w = &g_array_index(v->calls, struct view_call, i);
		if (w->thread != call->thread && !view_commute(v, w, call, true))
			g_array_append_val(list, w->event);
	}
	return list;
}

static void look_at_call(struct reach *r, const uint32_t *state, uint32_t state_id,
                         const struct view_call *call)
{
	const struct view *v = r->x->h->view;
	const GArray *rivals = rivals_of(r, call);
	uint32_t turned = NONE;
	uint64_t key = 1;
	for (guint i = 0; i < call->before->len; i++) {
		uint32_t at = g_array_index(call->before, uint32_t, i);
		uint32_t e = g_array_index(v->calls, struct view_call, at).event;
		if (!is_done(r, state, e))
			turned = e;
	}
	for (guint i = 0; i < rivals->len; i++)
		key = hash_word(key) + is_done(r, state, g_array_index(rivals, uint32_t, i));
	if (turned != NONE)
		reach_add_candidate(r, (struct candidate){ .event = call->event,
		                                           .state = state_id,
		                                           .other = turned,
		                                           .key = key,
		                                           .kind = REVERSAL_CALL,
		                                           .op = OP_COUNT });
}

/* The outcome of a use on the other side of its object's end of life. */
static uint64_t seen_beside(const struct reach *r, const uint32_t *state, uint32_t e,
                            uint32_t end)
{
	const struct event *x = &r->t->events[e];
	if (end > e)
		return SEEN_AFTER_END;
	if (!op_is_access(x->op) || !op_reads(x->op))
		return 0;
	uint32_t other;
	return reach_sees(r, state, e, &other);
}

/* Adds reversals of a use to the other side of its object's end of life. */
static void look_at_use(struct reach *r, uint32_t state_id, uint32_t e, uint32_t end)
{
	reach_add_candidate(
	        r, (struct candidate){ .event = e,
	                               .state = state_id,
	                               .other = end,
	                               .key = seen_beside(r, reach_state(r, state_id), e, end),
	                               .kind = end > e ? REVERSAL_USE : REVERSAL_ALIVE,
	                               .op = OP_COUNT });
}

/* A lock in a freed block may still be held. */
static bool waits_for_lock(const struct reach *r, uint32_t state_id, uint32_t e, uint32_t end)
{
	return op_acquires(r->t->events[e].op) && r->t->events[end].op != OP_DESTROY &&
	       sync_outcome(r, reach_state(r, state_id), e).answer == ANSWER_WAITS;
}

/* A try that fails now, with which its thread ends a round that leads nowhere? */
static bool fails_in_vain(const struct reach *r, uint32_t e, const struct outcome *o)
{
	const struct reversal_limits *l = r->x->limits;
	return o->answer == ANSWER_OTHER && o->kind == REVERSAL_FAILS &&
	       awaits_fails_in_vain(l->awaits, l->states, r->x->h, e, o->op);
}

/* Other possible outcomes of an event that cannot come as in the run. */
static enum answer look_at_other(struct reach *r, uint32_t state_id, uint32_t e)
{
	const uint32_t *state = reach_state(r, state_id);
	const struct event *x = &r->t->events[e];
	uint32_t end = reach_turned_end(r, state, e);
	if (!sync_must_hold(r, state, e) ||
	    (end != NONE && waits_for_lock(r, state_id, e, end)))
		return ANSWER_WAITS;
	if (end != NONE) {
		look_at_use(r, state_id, e, end);
		return ANSWER_OTHER;
	}
	if (op_is_access(x->op)) {
		if (op_reads(x->op) && lifetimes_ended(r->x->h->lifetimes, e) == NONE)
			return look_at_read(r, state, state_id, e);
		return ANSWER_OTHER;
	}
	struct outcome o = sync_outcome(r, state, e);
	if (r->left[e] && o.answer == ANSWER_SAME)
		return ANSWER_LEFT;
	if (fails_in_vain(r, e, &o))
		return ANSWER_WAITS;
	if (x->op == OP_WAKE && o.answer == ANSWER_WAITS)
		reach_look_at_wait(r, state_id, r->t->index->partner[e], e);
	if (o.answer == ANSWER_OTHER)
		reach_add_candidate(r, (struct candidate){ .event = e,
		                                           .state = state_id,
		                                           .other = o.other,
		                                           .key = o.seen,
		                                           .kind = o.kind,
		                                           .op = o.op });
	return o.answer;
}

/* Examines the next event of a thread; adds a reversal if its outcome differs from the run. */
static enum answer look_at(struct reach *r, uint32_t state_id, uint32_t e)
{
	const uint32_t *state = reach_state(r, state_id);
	const struct view_call *call = view_call_of(r->x->h->view, e);
	bool comes = reach_comes_as_in_run(r, state, e);
	if (e == r->x->limits->end && comes)
		return ANSWER_OTHER; /* the program may end */
	if (g_array_index(r->x->h->step_of, uint32_t, e) == NONE)
		return comes ? ANSWER_SAME : ANSWER_WAITS;
	const struct abstract_step *step = reach_call_step(r, state, call);
	if (step != NULL && !step->same)
		reach_add_candidate(r, (struct candidate){ .event = e,
		                                           .state = state_id,
		                                           .other = NONE,
		                                           .key = step->number,
		                                           .text = step->text,
		                                           .kind = REVERSAL_RETURNS,
		                                           .op = OP_COUNT });
	if (call) {
		if (r->visible[e])
			look_at_call(r, state, state_id, call);
		return comes ? ANSWER_SAME : step && !step->same ? ANSWER_OTHER : ANSWER_WAITS;
	}
	return comes ? ANSWER_SAME : look_at_other(r, state_id, e);
}

/* -- threads that can continue ------------------------------------------------------------- */

/* Must an equivalent thread go first? */
static bool is_behind(const struct reach *r, const uint32_t *state, uint32_t thread)
{
	uint32_t ahead = r->symmetry ? r->symmetry->ahead[thread] : NONE;
	return ahead != NONE && state[ahead] <= state[thread];
}

uint32_t reach_waiters(const struct reach *r, uint32_t s, uint32_t u, uint32_t *waiters)
{
	uint32_t e = reach_next(r, reach_state(r, s), u), count = 0;
	for (uint32_t w = 0; w < r->threads && r->t->events[e].op == OP_SIGNAL; w++)
		if (sync_may_wake(r, reach_state(r, s), e, w))
			waiters[count++] = w;
	if (count == 0)
		waiters[count++] = NONE;
	return count;
}

static enum answer look_at_next(struct reach *r, uint32_t s, uint32_t u)
{
	uint32_t e = reach_next(r, reach_state(r, s), u);
	const bool *goes_on = r->x->limits->goes_on;
	if (e == NONE) {
		uint32_t fork = r->t->threads[u].fork;
		if (u == r->x->limits->ender)
			return ANSWER_OTHER; /* the program may end */
		if (fork != NONE && !is_done(r, reach_state(r, s), fork))
			return ANSWER_WAITS; /* it did nothing in the run, and has not begun
			                      * yet */
		return goes_on != NULL && goes_on[u] ? ends_look_at_going(r, s, u)
		                                     : ANSWER_WAITS;
	}
	return reach_has_begun(r, reach_state(r, s), e) ? look_at(r, s, e) : ANSWER_WAITS;
}

enum answer reach_look_at(struct reach *r, uint32_t s, uint32_t u)
{
	bool handles = reach_look_at_handlers(r, s, u);
	enum answer answer = look_at_next(r, s, u);
	return handles && answer == ANSWER_WAITS ? ANSWER_OTHER : answer;
}

bool reach_can_go(const struct reach *r, uint32_t s, uint32_t u)
{
	const uint32_t *state = reach_state(r, s);
	uint32_t e = reach_next(r, state, u);
	return e != NONE && reach_has_begun(r, state, e) && reach_may_come(r, state, e);
}

bool reach_may_go(const struct reach *r, uint32_t s, uint32_t u, enum answer answer)
{
	return answer == ANSWER_SAME && reach_next(r, reach_state(r, s), u) != NONE &&
	       !is_behind(r, reach_state(r, s), u);
}

bool reach_is_premature(const struct reach *r, uint32_t s, uint32_t u)
{
	enum { MOST_AHEAD = 64 };
	const uint32_t *state = reach_state(r, s);
	struct event_list mine = trace_thread_events(r->t, u);
	uint32_t e = reach_next(r, state, u), release = NONE;
	if (e == NONE || !op_acquires(r->t->events[e].op))
		return false;
	release = r->t->index->partner[e];
	for (uint64_t i = state[u] + 1; i < mine.count && i < state[u] + MOST_AHEAD; i++) {
		const struct event *x = &r->t->events[mine.items[i]];
		if (mine.items[i] == release || (op_is_access(x->op) && op_writes(x->op)))
			return false;
		if (op_is_access(x->op) && op_reads(x->op) && !event_inert(x) &&
		    !reach_sees_the_same(r, state, mine.items[i]))
			return true;
	}
	return false;
}

uint32_t reach_look(struct reach *r, uint32_t s, uint32_t *threads)
{
	bool ends = true, waits = false;
	uint32_t count = 0, looks = 0;
	for (uint32_t u = 0; u < r->threads; u++) {
		bool stood = reach_stands(r, s, u);
		enum answer answer = reach_look_at(r, s, u);
		bool look =
		        ends && ends_is_before_look(r, s, u, answer, &r->looks[looks].prefix);
		/* a spurious wake-up of the run need not come */
		bool blocked = answer == ANSWER_WAITS ||
		               (answer == ANSWER_SAME && r->spurious->len > 0 &&
		                sync_is_spurious(r->t, reach_next(r, reach_state(r, s), u)));
		ends &= blocked || look;
		looks += look;
		waits |= blocked && stood;
		if (reach_may_go(r, s, u, answer))
			threads[count++] = u;
	}
	if (r->x->limits->finals)
		ends_look_at_values(r, s);
	if (ends && looks > 0)
		ends_add(r, s, 0, NONE, REVERSAL_IDLE, ends_idle_key(r, s, r->looks, looks));
	else if (ends && waits)
		ends_add(r, s, 0, NONE, REVERSAL_STUCK, ends_class(r, reach_state(r, s)));
	return count;
}

bool reach_is_stopped(struct reach *r)
{
	r->x->stopped |= !progress_tick(r->x->limits->progress, 0, "states") ||
	                 reversals_out_of_time(r->x->limits);
	return r->x->stopped;
}

static uint64_t prefix_of(const struct reach *r, const struct candidate *c)
{
	const struct history *h = r->x->h;
	const GArray *prefixes = h->threads[c->thread].prefixes;
	if (c->kind == REVERSAL_HANDLED)
		return history_after_prefix(h, c->key, c->event, 0);
	if (c->kind == REVERSAL_LATER)
		return c->key - (c->op == OP_SND);
	if (c->kind == REVERSAL_SPURIOUS && c->event == NONE)
		return history_after_wait(h, c->other);
	if (c->event == NONE)
		return g_array_index(prefixes, uint64_t, h->threads[c->thread].events->len);
	if (c->kind == REVERSAL_CALL)
		return g_array_index(prefixes, uint64_t,
		                     g_array_index(h->step_of, uint32_t, c->event));
	return c->op == OP_COUNT ? history_after(h, c->event, c->key)
	                         : history_after_as(h, c->event, c->op, c->key);
}

/* Identified by the class that it would have; with the looks of REVERSAL_IDLE. (Their threads
 * are looked at again, which adds no candidate that is not there.) */
static void give_stuck(struct reach *r, const struct candidate *c)
{
	struct search *x = r->x;
	uint32_t looks = 0;
	r->looks[looks++] =
	        (struct thread_prefix){ .prefix = ends_class(r, reach_state(r, c->state)) };
	for (uint32_t u = 0; u < r->threads && c->kind == REVERSAL_IDLE; u++)
		looks += ends_is_before_look(r, c->state, u, reach_look_at(r, c->state, u),
		                             &r->looks[looks].prefix);
	struct reversal reversal = { .kind = c->kind,
		                     .event = NONE,
		                     .other = NONE,
		                     .thread = c->thread,
		                     .sequence = x->sequence,
		                     .parts = r->looks,
		                     .parts_count = looks };
	x->stopped |= !x->take(x->context, &reversal);
}

void reach_give(struct reach *r, const struct candidate *c)
{
	struct search *x = r->x;
	struct asked *a = ask_new(x, c->kind, c->event);
	const struct reversal_limits *l = x->limits;
	bool fresh = l->common == NULL || c->event == NONE || c->kind == REVERSAL_HANDLED ||
	             l->ended[c->thread];
	reach_sequence_to(r, c->state, x->sequence);
	memset(x->cut, 0, sizeof *x->cut * r->threads);
	for (guint i = 0; i < x->sequence->len; i++) {
		uint32_t e = g_array_index(x->sequence, uint32_t, i);
		uint32_t step = g_array_index(x->h->step_of, uint32_t, e);
		if (step != NONE)
			x->cut[r->t->events[e].thread] = step + 1;
	}
	for (uint32_t u = 0; u < r->threads && !fresh; u++)
		fresh = x->cut[u] > l->common[u];
	a->other = c->other;
	a->text = c->text;
	a->thread = c->thread;
	a->prefix = prefix_of(r, c);
	a->seen = c->kind == REVERSAL_READ ? c->key : 0;
	if (c->kind == REVERSAL_FINAL)
		final_values(x, (const uint32_t *)(void *)x->sequence->data, x->sequence->len);
	if (reach_is_end(c->kind))
		give_stuck(r, c);
	else if (fresh)
		give_part(x);
}

static void free_list(gpointer list)
{
	g_array_unref(list);
}

void reach_end(struct reach *r)
{
	guint calls = r->x->h->view->calls ? r->x->h->view->calls->len : 0;
	for (guint i = 0; i < calls; i++)
		if (r->rivals[i])
			g_array_unref(r->rivals[i]);
	g_free(r->rivals);
	g_free(r->object_slot);
	symmetry_free(r->symmetry);
	g_free(r->visible);
	g_free(r->left);
	g_free(r->slot_of);
	counters_release(r);
	sync_release(r);
	g_array_unref(r->detours);
	g_array_unref(r->keepers);
	g_array_unref(r->races);
	g_array_unref(r->early);
	g_hash_table_unref(r->raced);
	g_free(r->accesses);
	g_free(r->scratch);
	g_free(r->looks);
	g_free(r->barred);
	g_free(r->writers);
	g_array_unref(r->states);
	g_array_unref(r->origins);
	g_hash_table_unref(r->candidates);
	g_free(r->known);
}

void reach_begin(struct reach *r, struct search *x)
{
	const struct trace *t = x->t;
	*r = (struct reach){
		.x = x,
		.t = t,
		.threads = x->h->threads_count,
		.visible = g_new0(uint8_t, t->events_count + 1),
		.left = g_new0(bool, t->events_count + 1),
		.slot_of = g_new(uint32_t, t->variables_count + 1),
		.keepers = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		.states = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		.origins = g_array_new(FALSE, FALSE, sizeof(struct origin)),
		.candidates =
		        g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, free_list),
		.races = g_array_new(FALSE, FALSE, sizeof(struct reach_race)),
		.raced = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL),
		.accesses = g_new(uint32_t, x->h->threads_count + 1),
		.known = g_new0(uint32_t, 1024),
		.known_mask = 1023,
		.rivals = g_new0(GArray *, x->h->view->calls ? x->h->view->calls->len + 1 : 1),
	};
	if (x->limits->preemptions != NONE)
		r->barred = g_new0(bool, r->threads + 1);
	states_begin(r);
	if (x->limits->finals)
		r->end = ends_values(r, NULL);
}
