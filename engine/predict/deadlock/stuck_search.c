/*
 * stuck_search.c - see stuck_search.h.
 */
#include "engine/predict/deadlock/stuck_search.h"

#include "engine/base/hash.h"
#include "engine/predict/deadlock/persistent.h"
#include "engine/predict/deadlock/stuck.h"
#include "engine/predict/deadlock/stuck_set.h"
#include "engine/predict/effort.h"
#include "engine/trace/own_site.h"

#include <string.h>

/* A move: a thread's next step, and the waiter that its signal wakes; or holding the thread
 * back for ever. */
struct move {
	uint32_t thread, woken;
	bool halt;
};

/* A state with several moves, in the search over all. */
struct branch {
	uint32_t mark, length; /* lengths of the state's log and of the sequence */
	guint first, next;     /* moves */
};

/* A visited state. */
struct state_key {
	uint64_t word[2];
};

struct walk {
	struct trace *t;
	struct stuck_search *search;
	const struct progress *progress;
	struct run_state *s;
	struct persistent *reduction;
	struct stuck_set set;
	struct effort effort;
	GArray *sequence; /* uint32_t */
	GArray *moves;    /* struct move, for all branches */
	GArray *branches; /* struct branch */
	GHashTable *seen; /* struct state_key, owned */
	uint32_t *threads;
	uint64_t ticks;
	bool cut;
};

/* A longer trace would take more memory than it is worth, some 30 bytes for each event; with
 * more threads a step, which looks at each, costs more than the budget has. */
enum { MOST_STATES = 4000000, MOST_EVENTS = 8000000, MOST_THREADS = 4000 };

static bool goes_on(struct walk *w, uint64_t cost)
{
	if ((++w->ticks & 0xfff) == 0 && !progress_tick(w->progress, 0.5, "waits for ever"))
		w->search->cancelled = true;
	return effort_more(&w->effort, cost) && !w->search->cancelled;
}

/* -- a state without a successor ---------------------------------------------------------- */

static uint32_t event_of(const struct walk *w, uint32_t thread)
{
	return run_state_event(w->s, thread);
}

/* The wait, with a holder that itself waits for ever if possible. */
static struct wait wait_of(const struct trace *t, const struct stuck_set *set, uint32_t thread)
{
	uint32_t event = run_state_event(set->s, thread);
	struct wait wait = { .event = event,
		             .what = wait_shown(t, t->events[event].target,
		                                run_state_waits_for(set->s, thread)),
		             .holder = NONE };

	for (uint32_t i = 0, u;
	     wait.what == WAIT_LOCK && (u = run_state_holder(set->s, thread, i)) != NONE; i++) {
		if (wait.holder == NONE || (set->in[u] && !set->in[wait.holder]))
			wait.holder = u;
	}
	return wait;
}

static struct finding *make_finding(const struct walk *w, const struct stuck_set *set,
                                    const uint32_t *threads, uint32_t count)
{
	uint32_t first = NONE, second = NONE, least = 0;
	struct finding *f;

	for (uint32_t i = 0; i < count; i++) {
		if (event_of(w, threads[i]) < event_of(w, threads[least]))
			least = i;
	}
	first = event_of(w, threads[least]);
	for (uint32_t i = 0; i < count; i++) {
		if (i != least)
			second = MIN(second, event_of(w, threads[i]));
	}
	f = finding_new(stuck_set_kind(set, threads, count), first,
	                second == NONE ? first : second);
	f->count = 1;
	f->by = "states";
	f->requests = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	f->waits = g_array_new(FALSE, FALSE, sizeof(struct wait));
	f->witness = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	if (w->sequence->len > 0)
		g_array_append_vals(f->witness, w->sequence->data, w->sequence->len);
	for (uint32_t i = 0; i < count; i++) {
		struct wait wait = wait_of(w->t, set, threads[(least + i) % count]);

		g_array_append_val(f->waits, wait);
		g_array_append_val(f->requests, wait.event);
		g_array_append_val(f->witness, wait.event);
	}
	for (uint32_t u = 0; u < w->s->threads; u++) {
		bool cause = false;

		for (uint32_t i = 0; i < count; i++)
			cause |= threads[i] == u;
		if (!set->in[u] || cause)
			continue;
		struct wait wait = wait_of(w->t, set, u);
		g_array_append_val(f->waits, wait);
	}
	return f;
}

static void cause(void *context, const struct stuck_set *set, const uint32_t *threads,
                  uint32_t count)
{
	struct walk *w = context;
	uint32_t requests[STUCK_CIRCLE] = { 0 };

	for (uint32_t i = 0; i < count; i++)
		requests[i] = event_of(w, threads[i]);
	if (w->search->wanted(w->search->context, requests, count))
		w->search->found(w->search->context, make_finding(w, set, threads, count));
}

static void look(struct walk *w)
{
	if (stuck_set_find(&w->set) > 0)
		w->cut |= !stuck_set_causes(&w->set, cause, w);
}

/* -- steps ---------------------------------------------------------------------------------- */

static bool is_signal(const struct walk *w, uint32_t thread)
{
	uint32_t e = event_of(w, thread);

	return w->t->events[e].op == OP_SIGNAL && !event_inert(&w->t->events[e]);
}

static void step(struct walk *w, uint32_t thread, uint32_t woken)
{
	uint32_t e = event_of(w, thread);

	g_array_append_val(w->sequence, e);
	run_state_step(w->s, thread, woken);
}

static void back(struct walk *w, uint32_t mark, uint32_t length)
{
	run_state_undo(w->s, mark);
	g_array_set_size(w->sequence, length);
}

/* The waiter that a signal wakes outside of the search: the one whose wake was recorded
 * first. */
static uint32_t usual_waiter(const struct walk *w, uint32_t thread)
{
	uint32_t best = NONE, first = NONE;

	if (!is_signal(w, thread))
		return NONE;
	for (uint32_t u = 0; u < w->s->threads; u++) {
		if (run_state_may_wake(w->s, event_of(w, thread), u) &&
		    (best == NONE || event_of(w, u) < first)) {
			best = u;
			first = event_of(w, u);
		}
	}
	return best;
}

/* -- one thread held back ------------------------------------------------------------------- */

/* The runnable thread whose next event was recorded first; `late` only when no other can
 * run. */
static uint32_t earliest(const struct walk *w, uint32_t late)
{
	uint32_t best = NONE;

	for (uint32_t u = 0; u < w->s->threads; u++) {
		if (u == late || event_of(w, u) == NONE ||
		    (best != NONE && event_of(w, u) > event_of(w, best)))
			continue;
		if (run_state_next(w->s, u) == NEXT_RUNS)
			best = u;
	}
	if (best == NONE && late != NONE && run_state_next(w->s, late) == NEXT_RUNS)
		return late;
	return best;
}

static void hold_back(struct walk *w, uint32_t late)
{
	uint32_t mark = run_state_mark(w->s), length = w->sequence->len, u;

	while ((u = earliest(w, late)) != NONE && goes_on(w, w->s->threads + 2)) {
		/* from then on the others no longer come first */
		if (u == late)
			late = NONE;
		step(w, u, usual_waiter(w, u));
	}
	if (u == NONE)
		look(w);
	back(w, mark, length);
}

static bool can_wait(const struct event *x)
{
	if (event_inert(x))
		return false;
	return op_acquires(x->op) || x->op == OP_TAKE || x->op == OP_WAIT || x->op == OP_WAKE ||
	       x->op == OP_ARRIVE || x->op == OP_JOIN || x->op == OP_RCV;
}

enum { VISITS = 3 }; /* visits of a place by a thread that are tried */

/* Along the recording, hold back each thread before an operation that can wait. */
static void hold_back_each(struct walk *w)
{
	GHashTable *visits = g_hash_table_new(g_direct_hash, NULL);
	const struct trace *t = w->t;

	for (uint32_t e = 0; e < t->events_count && goes_on(w, 2); e++) {
		const struct event *x = &t->events[e];

		if (can_wait(x)) {
			uint64_t place = (uint64_t)own_site(t, e) << 20 | x->thread;
			gpointer key = (gpointer)(uintptr_t)(place + 1);
			guint times = GPOINTER_TO_UINT(g_hash_table_lookup(visits, key)) + 1;

			g_hash_table_insert(visits, key, GUINT_TO_POINTER(times));
			if (times <= VISITS && run_state_event(w->s, x->thread) == e)
				hold_back(w, x->thread);
		}
		if (run_state_event(w->s, x->thread) == e &&
		    run_state_next(w->s, x->thread) == NEXT_RUNS)
			step(w, x->thread, usual_waiter(w, x->thread));
	}
	g_hash_table_destroy(visits);
	back(w, 0, 0);
}

/* -- all states ----------------------------------------------------------------------------- */

static guint key_hash(gconstpointer p)
{
	const struct state_key *k = p;

	return hash_top(hash_word(k->word[0]));
}

static gboolean key_equal(gconstpointer a, gconstpointer b)
{
	return memcmp(a, b, sizeof(struct state_key)) == 0;
}

/* False when the state was visited before. */
static bool is_new(struct walk *w)
{
	struct state_key key = { { w->s->key[0], w->s->key[1] } };

	if (g_hash_table_contains(w->seen, &key))
		return false;
	g_hash_table_add(w->seen, g_memdup2(&key, sizeof(key)));
	w->search->states++;
	return true;
}

static void add_moves(struct walk *w, uint32_t thread)
{
	struct move m = { thread, NONE, false }, halt = { thread, NONE, true };
	bool any = false;

	for (uint32_t u = 0; is_signal(w, thread) && u < w->s->threads; u++) {
		if (!run_state_may_wake(w->s, event_of(w, thread), u))
			continue;
		any = true;
		m.woken = u;
		g_array_append_val(w->moves, m);
	}
	if (!any)
		g_array_append_val(w->moves, m);
	if (persistent_ends_use(w->reduction, thread))
		g_array_append_val(w->moves, halt);
}

static void make_move(struct walk *w, struct move m)
{
	if (m.halt)
		run_state_halt(w->s, m.thread);
	else
		step(w, m.thread, m.woken);
}

/* Continues while exactly one move is possible; then adds a branch, or examines a state
 * without moves. */
static void go_on(struct walk *w)
{
	uint64_t cost = 0;

	for (;;) {
		guint first = w->moves->len;
		uint32_t count = persistent_set(w->reduction, w->threads, &cost);

		if (!goes_on(w, cost + 1))
			return;
		cost = 0;
		for (uint32_t i = 0; i < count; i++)
			add_moves(w, w->threads[i]);
		if (w->moves->len == first) {
			look(w);
			return;
		}
		if (w->moves->len == first + 1) {
			struct move only = g_array_index(w->moves, struct move, first);

			g_array_set_size(w->moves, first);
			make_move(w, only);
			continue;
		}
		if (!is_new(w)) {
			g_array_set_size(w->moves, first);
			return;
		}
		struct branch b = { run_state_mark(w->s), w->sequence->len, first, first };
		g_array_append_val(w->branches, b);
		return;
	}
}

static void visit_all(struct walk *w)
{
	go_on(w);
	while (w->branches->len > 0 && goes_on(w, 1) && w->search->states < MOST_STATES) {
		struct branch *b =
		        &g_array_index(w->branches, struct branch, w->branches->len - 1);

		back(w, b->mark, b->length);
		if (b->next == w->moves->len) {
			g_array_set_size(w->moves, b->first);
			g_array_set_size(w->branches, w->branches->len - 1);
			continue;
		}
		struct move m = g_array_index(w->moves, struct move, b->next++);
		make_move(w, m);
		go_on(w);
	}
	w->cut |= w->branches->len > 0 || w->effort.over;
}

/* Does the trace have waits other than joins that ended, which form no circle? */
static bool has_waits(const struct trace *t)
{
	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];

		if ((can_wait(x) && x->op != OP_JOIN) || op_wants(x->op))
			return true;
	}
	return false;
}

void stuck_search(struct trace *t, const struct race_options *options,
                  struct stuck_search *search, const struct progress *progress)
{
	struct walk w = { .t = t, .search = search, .progress = progress };

	search->complete = true;
	if (!has_waits(t))
		return;
	/* not where the ends of critical sections, or observations, are unknown */
	search->complete = t->events_count <= MOST_EVENTS && t->threads_count <= MOST_THREADS &&
	                   !t->locks_taken && !t->filtered;
	search->left_out = !search->complete;
	if (search->left_out)
		return;
	w.s = run_state_new(t, options->use_values, progress);
	for (uint32_t o = 0; w.s != NULL && o < t->objects_count; o++) {
		bool unsized = w.s->use[o] == WAIT_BARRIER && t->objects[o].count <= 0;

		search->as_recorded |= w.s->foreign[o] || unsized;
	}
	for (uint32_t c = 0; w.s != NULL && c < w.s->channels.count; c++)
		search->as_recorded |= w.s->foreign_channel[c];
	search->cancelled = w.s == NULL;
	if (w.s == NULL)
		return;
	w.reduction = persistent_new(w.s);
	stuck_set_init(&w.set, w.s);
	effort_init(&w.effort, t->events_count, options);
	w.effort.budget = MIN(options->budget_pair, options->budget_total);
	w.sequence = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	w.moves = g_array_new(FALSE, FALSE, sizeof(struct move));
	w.branches = g_array_new(FALSE, FALSE, sizeof(struct branch));
	w.seen = g_hash_table_new_full(key_hash, key_equal, g_free, NULL);
	w.threads = g_new(uint32_t, w.s->threads + 1);
	hold_back_each(&w);
	if (!w.effort.over && !search->cancelled)
		visit_all(&w);
	search->complete = !w.cut && !w.effort.over;
	g_free(w.threads);
	g_hash_table_destroy(w.seen);
	g_array_free(w.branches, TRUE);
	g_array_free(w.moves, TRUE);
	g_array_free(w.sequence, TRUE);
	stuck_set_release(&w.set);
	persistent_free(w.reduction);
	run_state_free(w.s);
}
