/*
 * explore_alike.c - with --symmetry: are threads of one kind (runs/alike.h) in fact alike? What
 * a run shows of them is judged, and runs are made in which each of them does what another did.
 * A kind that is told apart is none from then on, and the exploration begins again.
 * docs/exploration.md, "Threads that are alike", has the argument.
 */
#include "engine/explore/explore_private.h"
#include "engine/explore/runs/alike.h"
#include "engine/explore/runs/final.h"
#include "engine/explore/runs/history_private.h"
#include "engine/record/layout.h"
#include "engine/trace/own_code.h"
#include "engine/trace/roles.h"

#include <stdlib.h>

/* The run, as it is judged. */
struct judged {
	const struct history *h;
	const struct trace *t;
	uint32_t ender;   /* the thread that ended the program, or NONE */
	bool *member;     /* by thread: it is of a kind with several in this run */
	uint32_t *joined; /* by thread: its join, or NONE */
	uint32_t *user;   /* by block: the only thread that uses it, NONE: none, MANY */
};
enum { MANY = UINT32_MAX - 1 };

static uint32_t block_of(const struct trace *t, const struct event *x)
{
	if (op_is_access(x->op))
		return t->variables[event_variables(t, x).first].block;
	switch (op_table[x->op].operand) {
	case OPERAND_OBJECT:
		return t->objects[x->target].block;
	case OPERAND_BLOCK:
		return x->target;
	default:
		return NONE;
	}
}

static void judged_begin(struct judged *j, const struct history *h, uint32_t ender)
{
	const struct trace *t = h->trace;
	*j = (struct judged){ .h = h,
		              .t = t,
		              .ender = ender,
		              .member = g_new0(bool, h->threads_count + 1),
		              .joined = g_new(uint32_t, h->threads_count + 1),
		              .user = g_new(uint32_t, t->blocks_count + 1) };
	for (uint32_t u = 0; u < h->threads_count; u++) {
		j->member[u] = h->threads[u].kind && alike_count(h, h->threads[u].kind) > 1;
		j->joined[u] = NONE;
	}
	for (uint32_t b = 0; b < t->blocks_count; b++)
		j->user[b] = NONE;
	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		uint32_t block = block_of(t, x);
		if (x->op == OP_JOIN && x->target < h->threads_count)
			j->joined[x->target] = e;
		if (block < t->blocks_count)
			j->user[block] = j->user[block] == NONE || j->user[block] == x->thread
			                         ? (uint32_t)x->thread
			                         : MANY;
	}
}

static void judged_end(struct judged *j)
{
	g_free(j->member);
	g_free(j->joined);
	g_free(j->user);
}

/* -- what the creator does between creations, and between joins ----------------------------- */

/* Does the event's thread create the other one later? */
static bool is_unborn(const struct judged *j, uint32_t other, uint32_t event)
{
	uint32_t fork = j->t->threads[other].fork;
	return fork != NONE && fork > event &&
	       j->t->events[fork].thread == j->t->events[event].thread;
}

/* Can no step of `other` be next to this event, whose thread creates it later, or has joined
 * it? */
static bool is_apart(const struct judged *j, uint32_t other, uint32_t event)
{
	uint32_t join = j->joined[other];
	return is_unborn(j, other, event) ||
	       (join != NONE && join < event &&
	        j->t->events[join].thread == j->t->events[event].thread);
}

/* Does the access conflict with one of another thread, which may be next to it? */
static bool conflicts(const struct judged *j, uint32_t event)
{
	const struct event *x = &j->t->events[event];
	struct wide run = event_variables(j->t, x);
	for (uint32_t v = run.first; v < run.first + run.count; v++) {
		struct event_list list = event_list_at(&j->t->index->variable_events, v);
		for (uint64_t i = 0; i < list.count; i++) {
			const struct event *y = &j->t->events[list.items[i]];
			if (y->thread != x->thread && (op_writes(x->op) || op_writes(y->op)) &&
			    !is_apart(j, y->thread, event))
				return true;
		}
	}
	return false;
}

/* May other threads' steps be moved across this event of the creator, among its creations or
 * joins (`among`)? */
static bool is_quiet(const struct judged *j, uint32_t event, enum op among)
{
	const struct event *x = &j->t->events[event];
	uint32_t block = block_of(j->t, x);
	if (event_inert(x) || op_table[x->op].class == OP_CLASS_MARKER ||
	    op_table[x->op].class == OP_CLASS_SCOPE || x->op == (uint8_t)among ||
	    x->op == OP_ALLOC)
		return true;
	if (x->op == OP_FREE)
		return block < j->t->blocks_count && j->user[block] == x->thread;
	return op_is_access(x->op) && !conflicts(j, event);
}

/* The first event of the creator from `first` to `last` that is not quiet; NONE. */
static uint32_t disturbing(const struct judged *j, uint32_t first, uint32_t last, enum op among)
{
	for (uint32_t e = first; e != NONE && e <= last; e = trace_next(j->t, e))
		if (!is_quiet(j, e, among))
			return e;
	return NONE;
}

/* The first and the last of the creations, or of the joins, of a kind's threads, and how many.
 */
struct span {
	uint32_t first, last, count;
};

static struct span span_of(const struct judged *j, uint64_t kind, enum op op)
{
	struct span s = { NONE, NONE, 0 };
	for (uint32_t u = 0; u < j->h->threads_count; u++) {
		uint32_t e = op == OP_FORK ? j->t->threads[u].fork : j->joined[u];
		if (j->h->threads[u].kind != kind || e == NONE)
			continue;
		s.first = MIN(s.first, e);
		s.last = s.last == NONE ? e : MAX(s.last, e);
		s.count++;
	}
	return s;
}

static char *at_event(const struct judged *j, const char *what, uint32_t event)
{
	return g_strdup_printf("%s %s (%s)",
	                       trace_thread_name(j->t, j->t->events[event].thread), what,
	                       own_code_place_name(j->t, event));
}

static char *judge_creations(const struct judged *j, uint64_t kind)
{
	struct span s = span_of(j, kind, OP_FORK);
	uint32_t e = disturbing(j, s.first, s.last, OP_FORK);
	return e == NONE
	               ? NULL
	               : at_event(j, "does what others may notice between their creations", e);
}

static char *judge_joins(const struct judged *j, uint64_t kind)
{
	struct span s = span_of(j, kind, OP_JOIN);
	bool all = s.count == alike_count(j->h, kind);
	if (s.count == 0)
		return NULL;
	uint32_t creator = j->t->events[span_of(j, kind, OP_FORK).first].thread;
	for (uint32_t u = 0; u < j->h->threads_count; u++)
		if (j->h->threads[u].kind == kind && j->joined[u] != NONE &&
		    j->t->events[j->joined[u]].thread != creator)
			return at_event(j, "joins one of them, which it did not create",
			                j->joined[u]);
	uint32_t last = all ? s.last : (uint32_t)j->t->events_count - 1;
	uint32_t e = disturbing(j, s.first, last, OP_JOIN);
	if (e != NONE)
		return at_event(j, "does what others may notice between their joins", e);
	struct event_list mine = trace_thread_events(j->t, creator);
	bool ended = mine.count > 0 && j->t->events[mine.items[mine.count - 1]].op == OP_END;
	return !all && (ended || j->ender == creator)
	               ? at_event(j, "joins some of them alone", s.first)
	               : NULL;
}

/* Joins that take a value take the same from all of them. */
static char *judge_results(const struct judged *j, uint64_t kind)
{
	uint64_t value = 0, own[2];
	bool any = false;
	for (uint32_t u = 0; u < j->h->threads_count; u++) {
		if (j->h->threads[u].kind != kind || !role_note(j->t, LOG_RESULT_NOTE, u, own))
			continue;
		if (any && own[0] != value)
			return g_strdup("their functions return different values");
		value = own[0];
		any = true;
	}
	return NULL;
}

/* -- what they do -------------------------------------------------------------------------- */

static bool is_of_member(const struct judged *j, uint64_t address, uint32_t event)
{
	uint32_t owner = history_owner(j->h, address, event);
	return owner != NONE && j->member[owner] && owner != j->t->events[event].thread &&
	       !is_unborn(j, owner, event);
}

/* Why what the read sees of a write by a member, which is another thread, tells threads apart.
 */
static const char *value_tells_apart(const struct judged *j, uint32_t read)
{
	struct event_list writers = trace_writers(j->t, read);
	struct access_value v = access_value(j->t, read, false);
	for (uint64_t i = 0; i < writers.count; i++) {
		uint32_t w = writers.items[i];
		uint32_t by = w == NONE ? NONE : j->t->events[w].thread;
		if (by == NONE || by == j->t->events[read].thread || !j->member[by])
			continue;
		if (!v.known || !access_value(j->t, w, true).known)
			return "reads a value of one of them whose contents are not known";
		if (v.size == sizeof(uint64_t) && is_of_member(j, v.integer, read))
			return "reads an address of memory of one of them";
	}
	return NULL;
}

/* Why the access, or the operation on an object or a block, tells threads apart; or NULL. */
static const char *tells_apart(const struct judged *j, uint32_t event)
{
	const struct event *x = &j->t->events[event];
	bool access = op_is_access(x->op);
	if (j->member[x->thread] && x->op == OP_FORK)
		return "creates a thread";
	if (j->member[x->thread] && x->op == OP_JOIN)
		return "joins a thread";
	uint64_t address = 0;
	if (access)
		address = j->t->variables[event_variables(j->t, x).first].address;
	else if (op_table[x->op].operand == OPERAND_OBJECT)
		address = j->t->objects[x->target].address;
	else if (op_table[x->op].operand == OPERAND_BLOCK && x->op != OP_ALLOC)
		address = j->t->blocks[x->target].address;
	if (address != 0 && is_of_member(j, address, event))
		return "uses memory of one of them";
	return access && op_reads(x->op) ? value_tells_apart(j, event) : NULL;
}

static char *judge_events(const struct judged *j)
{
	for (uint32_t e = 0; e < j->t->events_count; e++) {
		if (event_inert(&j->t->events[e]))
			continue;
		const char *why = tells_apart(j, e);
		if (why != NULL)
			return at_event(j, why, e);
	}
	return NULL;
}

/* -- giving up ----------------------------------------------------------------------------- */

/* "T1, T2, T3" */
static void append_members(const struct history *h, uint64_t kind, GString *to)
{
	const char *between = "";
	for (uint32_t u = 0; u < h->threads_count; u++) {
		if (h->threads[u].kind != kind)
			continue;
		g_string_append_printf(to, "%s%s", between, trace_thread_name(h->trace, u));
		between = ", ";
	}
}

/* The kind's threads are told apart. */
static void give_up_kind(struct exploration *x, const struct history *h, uint64_t kind,
                         const char *why)
{
	g_autoptr(GString) text = g_string_new(NULL);
	append_members(h, kind, text);
	g_string_append_printf(text, " run the same, and are told apart: %s", why);
	g_hash_table_add(x->plain, alike_key(kind));
	g_ptr_array_add(x->report->notes, g_strdup(text->str));
	x->again = true;
}

/* All kinds with several threads in this run. */
static void give_up(struct exploration *x, const struct judged *j, const char *why)
{
	for (uint32_t u = 0; u < j->h->threads_count; u++) {
		uint64_t kind = j->h->threads[u].kind;
		g_autofree char *key = alike_key(kind);
		if (j->member[u] && !g_hash_table_contains(x->plain, key))
			give_up_kind(x, j->h, kind, why);
	}
	if (x->again)
		return;
	g_hash_table_add(x->plain, g_strdup(ALIKE_NONE));
	g_ptr_array_add(x->report->notes,
	                g_strdup_printf("all threads are told apart: %s", why));
	x->again = true;
}

/* -- roles --------------------------------------------------------------------------------- */

/* The value that the event writes: into the thread's own memory as the thread sees it,
 * elsewhere as others do. */
static uint64_t written(const struct history *h, uint32_t event, uint64_t address)
{
	uint32_t thread = h->trace->events[event].thread;
	bool own = history_owner(h, address, event) == thread;
	struct access_value v = access_value(h->trace, event, true);
	uint64_t number = history_mix(4, v.integer);
	if (v.known && v.size == sizeof(uint64_t))
		history_pointer(h, v.integer, event, own ? thread : NONE, &number);
	return v.known ? number : 1;
}

/* Whatever the event does, so that threads with equal numbers do the same. */
static uint64_t doing(const struct history *h, uint32_t event)
{
	const struct trace *t = h->trace;
	const struct event *x = &t->events[event];
	const struct location *l = &t->locations[x->location];
	uint64_t n = history_mix(history_mix(x->op, l->module), l->address);
	n = history_mix(n, x->flags);
	if (op_is_access(x->op)) {
		struct wide run = event_variables(t, x);
		uint64_t address = t->variables[run.first].address, size = 0;
		for (uint32_t i = 0; i < run.count; i++)
			size += t->variables[run.first + i].size;
		n = history_mix(history_mix(n, history_place(h, address, event)), size);
		return op_writes(x->op) ? history_mix(n, written(h, event, address)) : n;
	}
	switch (op_table[x->op].operand) {
	case OPERAND_OBJECT:
		return history_mix(n, history_place(h, t->objects[x->target].address, event));
	case OPERAND_THREAD:
		return history_mix(n, h->threads[x->target].who);
	case OPERAND_BLOCK:
		n = history_mix(n, t->blocks[x->target].size);
		return history_mix(n, history_place(h, t->blocks[x->target].address, event));
	default:
		return n;
	}
}

/* All that the thread does and sees in the run, as a number without its identity if it has a
 * kind. */
static uint64_t role_of(const struct judged *j, uint32_t thread)
{
	const struct history *h = j->h;
	const struct thread_history *th = &h->threads[thread];
	uint32_t whole = th->events->len;
	uint32_t steps = alike_before_joins(h, thread, whole);
	uint64_t role = history_mix(22, th->kind ? th->kind : th->who);
	for (uint32_t i = 0; i < steps; i++) {
		uint32_t e = g_array_index(th->events, uint32_t, i);
		role = history_mix(history_mix(role, doing(h, e)), h->seen[e]);
	}
	/* what it waits for at the end, if that is no join of a part of the threads */
	struct event_list mine = trace_thread_events(j->t, thread);
	uint32_t last = steps == whole && mine.count > 0 ? mine.items[mine.count - 1] : NONE;
	enum op op = last == NONE ? OP_COUNT : j->t->events[last].op;
	if (op == OP_END)
		role = history_mix(role, op);
	else if (op == OP_WANT && op_table[op].operand == OPERAND_OBJECT && th->kind)
		role = history_mix(role, doing(h, last));
	return history_mix(role, j->ender == thread);
}

/* Which thread has which role. */
static uint64_t roles_number(const struct judged *j, const uint64_t *roles)
{
	uint64_t number = 0;
	for (uint32_t u = 0; u < j->h->threads_count; u++)
		number += history_mix(history_mix(23, j->h->threads[u].who), roles[u]);
	return number;
}

static uint64_t *roles_of(const struct judged *j)
{
	uint64_t *roles = g_new(uint64_t, j->h->threads_count + 1);
	for (uint32_t u = 0; u < j->h->threads_count; u++)
		roles[u] = role_of(j, u);
	return roles;
}

/* -- runs with threads in each other's place ------------------------------------------------ */

/* By thread: the one of its kind, in the order of their creation, that is `shift` further. */
static uint32_t *shifted(const struct judged *j, uint32_t shift)
{
	const struct history *h = j->h;
	uint32_t *to = g_new(uint32_t, h->threads_count + 1);
	for (uint32_t u = 0; u < h->threads_count; u++) {
		uint32_t steps = j->member[u] ? shift % alike_count(h, h->threads[u].kind) : 0;
		to[u] = u;
		while (steps-- > 0)
			do
				to[u] = (to[u] + 1) % h->threads_count;
			while (h->threads[to[u]].kind != h->threads[u].kind);
	}
	return to;
}

/* An event's place in an order in which each kind's threads are created at once, and joined at
 * once: all steps between were quiet. */
struct placed {
	uint32_t at, event;
};

static gint by_place(gconstpointer a, gconstpointer b)
{
	const struct placed *x = a, *y = b;
	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->event < y->event ? -1 : x->event > y->event;
}

/* Where the creator's event belongs; NONE: nowhere, among joins of a part of the threads. */
static uint32_t place_of(const struct judged *j, uint32_t event)
{
	const struct history *h = j->h;
	uint32_t early = event, late = event, thread = j->t->events[event].thread;
	for (uint32_t u = 0; u < h->threads_count; u++) {
		if (!j->member[u] || j->t->events[j->t->threads[u].fork].thread != thread)
			continue;
		struct span forks = span_of(j, h->threads[u].kind, OP_FORK);
		struct span joins = span_of(j, h->threads[u].kind, OP_JOIN);
		bool all = joins.count == alike_count(h, h->threads[u].kind);
		if (forks.first <= event && event <= forks.last)
			early = MIN(early, forks.first);
		if (joins.count == 0 || event < joins.first)
			continue;
		if (!all)
			return NONE;
		if (event <= joins.last)
			late = MAX(late, joins.last);
	}
	return early < event ? early : late;
}

static GArray *sequence_at_once(const struct exploration *x, const struct judged *j)
{
	GArray *order = g_array_new(FALSE, FALSE, sizeof(struct placed));
	GArray *sequence = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	for (uint32_t e = 0; e < j->t->events_count; e++) {
		struct placed p = { place_of(j, e), e };
		bool step = view_planned(x->view, e) != NONE &&
		            op_table[j->t->events[e].op].class != OP_CLASS_MARKER;
		if (step && p.at != NONE)
			g_array_append_val(order, p);
	}
	g_array_sort(order, by_place);
	for (guint i = 0; i < order->len; i++)
		g_array_append_val(sequence, g_array_index(order, struct placed, i).event);
	g_array_unref(order);
	return sequence;
}

static gint by_thread(gconstpointer a, gconstpointer b)
{
	const struct log_answer *x = a, *y = b;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

/* Gives each step of the plan to another thread. */
static void plan_permute(struct plan *p, const struct trace *t, const uint32_t *to)
{
	for (guint i = 0; i < p->steps->len + p->answers->len; i++) {
		bool step = i < p->steps->len;
		uint32_t *of =
		        step ? &g_array_index(p->steps, struct log_step, i).thread
		             : &g_array_index(p->answers, struct log_answer, i - p->steps->len)
		                        .thread;
		uint32_t u = 0;
		while (u < t->threads_count && t->threads[u].recorded != *of)
			u++;
		if (u < t->threads_count)
			*of = t->threads[to[u]].recorded;
	}
	g_array_sort(p->answers, by_thread);
}

static void add_permuted(struct exploration *x, const struct judged *j, const uint64_t *roles,
                         const uint32_t *to)
{
	GArray *sequence = sequence_at_once(x, j);
	uint64_t *given = g_new(uint64_t, j->h->threads_count + 1);
	if (sequence->len > 0) {
		const uint32_t *events = (const uint32_t *)(void *)sequence->data;
		struct pending *s = pending_new(x, events, sequence->len, events[0]);
		if (j->ender != NONE)
			plan_go_on(&s->plan, x->trace, j->ender);
		plan_permute(&s->plan, x->trace, to);
		for (uint32_t u = 0; u < j->h->threads_count; u++)
			given[to[u]] = roles[u];
		s->kind = REVERSAL_PERMUTED;
		s->known_as = NONE;
		s->parts = g_new0(struct thread_prefix, 1);
		s->parts[0].prefix = s->parts[0].alike = roles_number(j, given);
		s->parts_count = 1;
		s->reversal = g_strdup_printf(
		        "run %u with threads that are alike in each other's place", x->run);
		s->thread = g_strdup("");
		s->variable = g_strdup("");
		worklist_add(x->worklist, s);
	}
	g_free(given);
	g_array_unref(sequence);
}

/* Notes that the thread has the role, in this run or in one that is made. False: that was
 * known. */
static bool takes_role(struct exploration *x, const struct history *h, uint32_t thread,
                       uint64_t role)
{
	return worklist_enter(x->worklist,
	                      history_mix(history_mix(24, h->threads[thread].who), role));
}

static void see_roles(struct exploration *x, const struct judged *j)
{
	uint32_t most = 1;
	uint64_t *roles = roles_of(j);
	for (uint32_t u = 0; u < j->h->threads_count; u++) {
		if (!j->member[u])
			continue;
		takes_role(x, j->h, u, roles[u]);
		most = MAX(most, alike_count(j->h, j->h->threads[u].kind));
	}
	for (uint32_t shift = 1; shift < most; shift++) {
		uint32_t *to = shifted(j, shift);
		bool fresh = false;
		for (uint32_t u = 0; u < j->h->threads_count; u++)
			if (j->member[u])
				fresh |= takes_role(x, j->h, to[u], roles[u]);
		if (fresh)
			add_permuted(x, j, roles, to);
		g_free(to);
	}
	g_free(roles);
}

/* -- judging a run ------------------------------------------------------------------------- */

static void judge_kinds(struct exploration *x, const struct judged *j)
{
	for (uint32_t u = 0; u < j->h->threads_count; u++) {
		uint64_t kind = j->h->threads[u].kind;
		g_autofree char *key = alike_key(kind);
		if (!j->member[u] || g_hash_table_contains(x->plain, key))
			continue;
		g_autofree char *why = judge_creations(j, kind);
		if (why == NULL)
			why = judge_joins(j, kind);
		if (why == NULL)
			why = judge_results(j, kind);
		if (why != NULL)
			give_up_kind(x, j->h, kind, why);
	}
	g_autofree char *why = x->again ? NULL : judge_events(j);
	if (why != NULL)
		give_up(x, j, why);
}

/* A run with threads in each other's place: does each do what was expected of it? */
static void judge_permuted(struct exploration *x, const struct judged *j,
                           const struct pending *s, bool strayed)
{
	uint64_t *roles = roles_of(j);
	if (strayed || roles_number(j, roles) != s->parts[0].prefix)
		give_up(x, j, "one of them does otherwise in another's place");
	g_free(roles);
}

void explore_judge_alike(struct exploration *x, const struct pending *s, struct execution *ex)
{
	struct judged j;
	if (!x->options->symmetry)
		return;
	judged_begin(&j, ex->history, explore_ender(x, &ex->run));
	judge_kinds(x, &j);
	if (!x->again && s->kind == REVERSAL_PERMUTED)
		judge_permuted(x, &j, s, ex->run.diverged);
	if (!x->again && !ex->run.diverged)
		see_roles(x, &j);
	judged_end(&j);
}
