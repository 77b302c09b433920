/*
 * fold.c - hidden threads, folded loops, and accesses of a library's own variables.
 *
 * A loop is given by one of its events: repetitions of the operation at its location in one
 * activation of its function; else, without repetitions, of the nearest caller that has some.
 * Iterations may differ. The rounds between the first and the last are folded, and the first
 * of their events represents them.
 */
#include "engine/trace/own_code.h"
#include "tui/explorer/session.h"

#include <string.h>

enum { ROUNDS_LOOKED_AT = 1 << 22 }; /* bound on events of the thread, in each direction */

static bool same_place(const struct trace *t, uint32_t a, uint32_t b)
{
	const struct event *x = &t->events[a], *y = &t->events[b];
	if (x->op != y->op)
		return false;
	if (x->location == 0 || y->location == 0)
		return x->location == y->location && x->target == y->target;
	return t->locations[x->location].site == t->locations[y->location].site;
}

/* The entry of the activation with `event`; NONE when not recorded. */
static uint32_t activation_of(const struct trace *t, uint32_t event)
{
	int depth = t->events[event].op == OP_LEAVE;
	uint32_t e = event;
	for (int n = 0; n < ROUNDS_LOOKED_AT; n++) {
		e = trace_previous(t, e);
		if (e == NONE)
			return NONE;
		if (t->events[e].op == OP_ENTER && --depth < 0)
			return e;
		depth += t->events[e].op == OP_LEAVE;
	}
	return NONE;
}

/* Positions where the loop repeats, from `event` on in one direction. `depth` counts entered
 * calls that were not left; below zero the activation has ended. */
static void find_rounds(const struct trace *t, uint32_t event, int direction, GArray *rounds)
{
	enum op in = direction > 0 ? OP_ENTER : OP_LEAVE;
	enum op out = direction > 0 ? OP_LEAVE : OP_ENTER;
	int depth = t->events[event].op == in;
	uint32_t e = event;
	for (int n = 0; n < ROUNDS_LOOKED_AT && depth >= 0; n++) {
		e = direction > 0 ? trace_next(t, e) : trace_previous(t, e);
		if (e == NONE)
			return;
		bool leaves = t->events[e].op == out;
		if (depth - leaves == 0 && same_place(t, e, event))
			g_array_append_val(rounds, e);
		depth += (t->events[e].op == in) - leaves;
	}
}

static bool find_loop_at(const struct trace *t, uint32_t event, struct fold *fold)
{
	g_autoptr(GArray) before = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_autoptr(GArray) after = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	find_rounds(t, event, -1, before);
	find_rounds(t, event, 1, after);
	guint rounds = before->len + 1 + after->len;
	if (rounds > 2) {
		/* second and last, counted from the first of `before` */
		uint32_t last =
		        after->len ? g_array_index(after, uint32_t, after->len - 1) : event;
		fold->first = before->len > 1 ? g_array_index(before, uint32_t, before->len - 2)
		              : before->len == 1 ? event
		                                 : g_array_index(after, uint32_t, 0);
		fold->last = trace_previous(t, last);
		fold->thread = t->events[event].thread;
		fold->rounds = rounds - 2;
		fold->events = t->index->position[last] - t->index->position[fold->first];
	}
	return rounds > 2;
}

/* Finds the loop in the event's function, else in the nearest caller with a loop here. */
static bool find_loop(const struct trace *t, uint32_t event, struct fold *fold)
{
	for (uint32_t e = event; e != NONE; e = activation_of(t, e))
		if (find_loop_at(t, e, fold))
			return true;
	return false;
}

const struct fold *session_fold_at(const struct session *s, uint32_t event)
{
	for (guint i = 0; i < s->folds->len; i++) {
		const struct fold *f = &g_array_index(s->folds, struct fold, i);
		if (f->thread == s->trace->events[event].thread && event >= f->first &&
		    event <= f->last)
			return f;
	}
	return NULL;
}

/* Remove folds that overlap the new one. */
static void drop_overlapping(struct session *s, const struct fold *with)
{
	for (guint i = s->folds->len; i-- > 0;) {
		const struct fold *f = &g_array_index(s->folds, struct fold, i);
		if (f->thread == with->thread && f->first <= with->last &&
		    with->first <= f->last)
			g_array_remove_index(s->folds, i);
	}
}

enum fold_change session_fold(struct session *s, uint32_t event)
{
	const struct fold *there = session_fold_at(s, event);
	struct fold fold;
	if (there) {
		g_array_remove_index(s->folds,
		                     (guint)(there - (const struct fold *)s->folds->data));
		return FOLD_OPENED;
	}
	if (!session_has(s, INDEX_THREADS) || !find_loop(s->trace, event, &fold))
		return FOLD_NO_LOOP;
	drop_overlapping(s, &fold);
	g_array_append_val(s->folds, fold);
	return FOLD_CLOSED;
}

bool session_is_library_variable(const struct session *s, uint32_t variable)
{
	enum { NOT_ASKED, OWN, LIBRARY };
	if (!own_code_is_on() || variable == NONE)
		return false;
	if (s->library[variable] == NOT_ASKED)
		s->library[variable] =
		        own_code_is_library_variable(trace_variable_name(s->trace, variable))
		                ? LIBRARY
		                : OWN;
	return s->library[variable] == LIBRARY;
}

static bool is_watched(const struct session *s, uint32_t variable)
{
	for (guint i = 0; i < s->watches->len; i++)
		if (g_array_index(s->watches, uint32_t, i) == variable)
			return true;
	return false;
}

static bool is_of_a_finding(const struct session *s, uint32_t event)
{
	for (guint i = 0; i < s->entries->len; i++) {
		const struct entry *entry = s->entries->pdata[i];
		if (entry->finding->first == event || entry->finding->second == event)
			return true;
	}
	return event == s->pair[0] || event == s->pair[1];
}

bool session_hides_library(const struct session *s, uint32_t event)
{
	enum op op = s->trace->events[event].op;
	if (op != OP_READ && op != OP_WRITE)
		return false;
	uint32_t variable = session_variable(s, event);
	return session_is_library_variable(s, variable) && event != s->event &&
	       !is_watched(s, variable) && !is_of_a_finding(s, event);
}

bool session_hides_any(const struct session *s)
{
	return s->folds->len || memchr(s->hidden, 1, s->trace->threads_count) ||
	       own_code_is_on();
}

bool session_hides(const struct session *s, uint32_t event)
{
	if (event == s->event)
		return false;
	if (s->hidden[s->trace->events[event].thread] || session_hides_library(s, event))
		return true;
	const struct fold *f = s->folds->len ? session_fold_at(s, event) : NULL;
	return f && event != f->first;
}

void session_show_all(struct session *s)
{
	memset(s->hidden, 0, s->trace->threads_count);
	g_array_set_size(s->folds, 0);
}
