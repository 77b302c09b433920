/*
 * explore_reversals.c - makes a pending schedule of a reversal (another outcome of an operation
 * after a feasible prefix of a run), unless a known run begins so.
 */
#include "engine/explore/explore_private.h"
#include "engine/base/hash.h"
#include "engine/explore/awaits/looks.h"
#include "engine/explore/runs/alike.h"
#include "engine/record/layout.h"
#include "engine/trace/own_code.h"

#include <string.h>

/* The recorded events of a sequence of the view. */
static GArray *planned(const struct exploration *x, const uint32_t *sequence, size_t length)
{
	GArray *events = g_array_sized_new(FALSE, FALSE, sizeof(uint32_t), (guint)length);
	for (size_t i = 0; i < length; i++) {
		uint32_t e = view_planned(x->view, sequence[i]);
		if (e != NONE)
			g_array_append_val(events, e);
	}
	return events;
}

struct pending *pending_new(struct exploration *x, const uint32_t *sequence, size_t length,
                            uint32_t place)
{
	static const uint32_t no_pair[2] = { NONE, NONE };
	struct error error = { 0 };
	struct pending *s = g_new0(struct pending, 1);
	GArray *events = planned(x, sequence, length);
	BUG_ON(!plan_make(x->trace, (const uint32_t *)(void *)events->data, events->len,
	                  no_pair, &s->plan, &error));
	if (x->view->left_out != NULL)
		plan_leave_out(&s->plan, x->view->left_out);
	g_array_unref(events);
	s->plan.strategy = STRATEGY_FIRST;
	s->parent = x->run;
	s->known_as = x->known_run;
	s->place = g_strdup(own_code_place_name(x->trace, place));
	s->library =
	        own_code_place(x->trace, place).location != x->trace->events[place].location;
	return s;
}

bool explore_is_known(const struct exploration *x, const struct thread_prefix *parts,
                      uint32_t count, enum reversal_kind kind)
{
	switch (kind) {
	case REVERSAL_USE:
	case REVERSAL_PERMUTED:
		return false;
	case REVERSAL_CALL:
		return histories_have_call(x->histories, parts, count);
	case REVERSAL_STUCK:
	case REVERSAL_IDLE:
		return histories_have_class(x->histories, parts[0].prefix);
	case REVERSAL_WOKEN:
	case REVERSAL_GOES_ON:
		return histories_have_further(x->histories, parts, count);
	default:
		return histories_have(x->histories, parts, count);
	}
}

bool explore_knows_rounds(const struct exploration *x)
{
	bool steps = x->options->specs != NULL && !x->options->linearizable;
	return !steps && !x->options->bounded && !x->options->symmetry &&
	       x->options->shards <= 1 && x->origin.base == NULL;
}

/* Is it a compare-and-exchange, which may or may not write if it reads another value? */
static bool is_exchange(const struct exploration *x, const struct reversal *f)
{
	enum op op = f->event == NONE ? OP_COUNT : x->trace->events[f->event].op;
	return (f->kind == REVERSAL_READ || f->kind == REVERSAL_RACE) &&
	       (op == OP_RMW || op == OP_AREAD);
}

/* Does the sequence use freed or destroyed objects? */
static bool has_use(const struct exploration *x, const GArray *sequence)
{
	for (guint i = 0; i < sequence->len; i++)
		if (lifetimes_ended(x->history->lifetimes,
		                    g_array_index(sequence, uint32_t, i)) != NONE)
			return true;
	return false;
}

/* Does a thread take another share of a team's work than in the run? Which one it is, and so
 * the place, follows from what others took before. */
static bool takes_a_share(const struct exploration *x, const struct reversal *f)
{
	if (f->kind != REVERSAL_READ || !op_is_access(x->trace->events[f->event].op))
		return false;
	uint32_t v = event_variables(x->trace, &x->trace->events[f->event]).first;
	uint64_t at = x->trace->variables[v].address;
	return at >= LOG_OMP_SHARES && at < LOG_OMP_SHARES + LOG_OMP_END;
}

/* The schedule: the sequence, and the next operation. */
static struct pending *pending_of(struct exploration *x, const struct reversal *f)
{
	uint32_t place = f->event != NONE ? f->event : f->other;
	guint length = f->sequence->len;
	bool share = takes_a_share(x, f);
	if (f->kind == REVERSAL_RACE)
		g_array_append_val(f->sequence, f->other);
	if (f->event != NONE && f->kind != REVERSAL_HANDLED && !share)
		g_array_append_val(f->sequence, f->event);
	if (place == NONE && f->sequence->len > 0)
		place = g_array_index(f->sequence, uint32_t, f->sequence->len - 1);
	struct pending *s = pending_new(x, (const uint32_t *)(void *)f->sequence->data,
	                                f->sequence->len, place == NONE ? 0 : place);
	g_array_set_size(f->sequence, length);
	if (f->kind == REVERSAL_HANDLED)
		plan_handle(&s->plan, x->trace, f->event);
	if (share ||
	    (f->event == NONE && (f->kind == REVERSAL_GOES_ON || f->kind == REVERSAL_WOKEN ||
	                          f->kind == REVERSAL_LATER)))
		plan_go_on(&s->plan, x->trace, f->thread);
	bool use_of_object = (f->kind == REVERSAL_USE || f->kind == REVERSAL_ALIVE ||
	                      f->kind == REVERSAL_EARLY) &&
	                     !op_is_access(x->trace->events[f->event].op);
	if (f->kind == REVERSAL_FAILS || f->kind == REVERSAL_SUCCEEDS ||
	    f->kind == REVERSAL_ONCE || f->kind == REVERSAL_SENT || use_of_object ||
	    (is_exchange(x, f) && !share))
		plan_any_outcome(&s->plan);
	if (f->kind == REVERSAL_SPURIOUS && f->event == NONE)
		plan_end_wait(&s->plan, x->trace, f->thread);
	else if (f->kind == REVERSAL_TIMEOUT || f->kind == REVERSAL_SIGNALLED ||
	         f->kind == REVERSAL_SPURIOUS)
		plan_wake(&s->plan, f->kind != REVERSAL_SIGNALLED);
	s->kind = f->kind;
	s->after_use = has_use(x, f->sequence);
	if (f->kind == REVERSAL_USE)
		s->key = explore_use_key(x->trace, f->event, f->other);
	else if (f->kind == REVERSAL_RACE)
		s->key = explore_race_key(x->trace, f->event, f->other);
	else if (f->kind == REVERSAL_EARLY)
		s->key = explore_early_key(x->trace, f);
	s->thread = g_strdup(trace_thread_name(x->trace, f->thread));
	explore_describe(x, f, s);
	return s;
}

/* Schedules from the first run are distributed by their key, so that all shards agree; later
 * ones belong to the shard that finds them. */
static bool is_ours(const struct exploration *x, uint64_t key)
{
	uint32_t shards = x->options->shards;
	return shards == 0 || x->run != x->first ||
	       (key ^ key >> 29) * 0xbf58476d1ce4e5b9u / 4294967296u % shards ==
	               x->options->shard;
}

/* A race is scheduled once for each pair of sites, if no run has it. */
static bool take_race(struct exploration *x, const struct reversal *f)
{
	g_autofree char *key = explore_race_key(x->trace, f->event, f->other);
	if (explore_ask_race(x, key) && is_ours(x, hash_word(g_str_hash(key))))
		worklist_add(x->worklist, pending_of(x, f));
	return !explore_out_of_time(x);
}

/* One schedule for each pair of places; what follows of it is not explored. */
static bool take_early(struct exploration *x, const struct reversal *f)
{
	g_autofree char *key = explore_early_key(x->trace, f);
	explore_note_incomplete(x, f->text);
	if (g_hash_table_add(x->errors, g_strdup_printf("asked %s", key)) &&
	    is_ours(x, hash_word(g_str_hash(key))))
		worklist_add(x->worklist, pending_of(x, f));
	return !explore_out_of_time(x);
}

/* Note a polling thread: more than some unsuccessful rounds are not tried. */
static void note_looks(struct exploration *x, uint32_t look)
{
	char *why =
	        g_strdup_printf("%s waits by looking, at %s: that it looks in vain more than "
	                        "%d times in a row is not tried (--steps: as often as fits)",
	                        trace_thread_name(x->trace, x->trace->events[look].thread),
	                        own_code_place_name(x->trace, look), MOST_LOOKS);
	explore_note_incomplete(x, why);
	g_free(why);
}

bool explore_take_reversal(void *context, const struct reversal *f)
{
	struct exploration *x = context;
	bool use = f->kind == REVERSAL_USE;
	if (f->kind == REVERSAL_RACE)
		return take_race(x, f);
	if (f->kind == REVERSAL_EARLY)
		return take_early(x, f);
	if (f->kind == REVERSAL_READ &&
	    (awaits_in_vain(x->awaits, x->rounds->states, x->history, f->event, f->seen) ||
	     pasts_is_longer(x->pasts, history_after(x->history, f->event, f->seen))))
		return !explore_out_of_time(x);
	if (f->kind == REVERSAL_READ && x->options->max_steps == 0 &&
	    looks_in_vain(x->history, f->event, f->seen)) {
		note_looks(x, f->event);
		return !explore_out_of_time(x);
	}
	if (use && explore_know_use(x, f->event, f->other))
		return !explore_out_of_time(x);
	bool next = f->kind == REVERSAL_WOKEN || f->kind == REVERSAL_GOES_ON;
	alike_fill(x->history, f->parts, f->parts_count, next);
	bool class_alone = f->kind == REVERSAL_IDLE && !explore_knows_rounds(x);
	uint64_t key = worklist_key(f->parts, class_alone ? 1 : f->parts_count, f->kind);
	if (!use && (explore_is_known(x, f->parts, f->parts_count, f->kind) ||
	             !worklist_enter(x->worklist, key))) {
		x->report->pruned++;
		g_array_index(x->report->runs, struct explore_run, x->run).pruned++;
		return !explore_out_of_time(x);
	}
	if (!is_ours(x, key))
		return !explore_out_of_time(x);
	struct pending *p = pending_of(x, f);
	if (!use) {
		p->parts = g_memdup2(f->parts, sizeof *f->parts * f->parts_count);
		p->parts_count = f->parts_count;
		p->before = f->before;
	}
	worklist_add(x->worklist, p);
	return !explore_out_of_time(x);
}
