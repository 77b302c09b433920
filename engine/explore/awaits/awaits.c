/* awaits.c - see awaits.h. */
#include "engine/explore/awaits/awaits.h"

#include "engine/base/search.h"

#include "engine/base/numbers.h"
#include "engine/explore/runs/history_private.h"
#include "engine/memory/rounds.h"

#include <string.h>

struct awaits {
	struct numbers *prefixes; /* histories of threads that have just looked in vain */
	struct numbers *within;   /* the same after any step of a round without effect */
	struct numbers *looks;    /* pairs of a state and the value seen in it */
	struct numbers *begins;   /* the state of an acquire with which such a round begins */
	struct numbers *sections; /* locks that such a round takes */
	struct numbers *wide;     /* those of rounds that is_wide */
	struct numbers
	        *tried; /* locks a try of which fails in some run, as no last look of a round */
	struct numbers *any;    /* locks that some run tries */
	struct numbers *stacks; /* bytes of stacks that several threads use in some run */
	struct numbers
	        *written; /* bytes of other memory written while there are several threads */
	struct numbers *relied;    /* bytes that rounds read as if this were never so */
	struct numbers *by_all;    /* locks that std::lock takes in some run */
	struct numbers *otherwise; /* locks that some run tries otherwise */
};

/* Value that a failing try sees. */
enum { SEEN_FAILURE = 21 };

/* -- of one run --------------------------------------------------------------------------- */

/* By variable, do several threads access it? Owned by the caller. */
static bool *find_several(const struct trace *t)
{
	bool *several = g_new0(bool, t->variables_count + 1);
	g_autofree uint32_t *first = g_new0(uint32_t, t->variables_count + 1); /* + 1 */
	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		if (!op_is_access(x->op))
			continue;
		struct wide run = event_variables(t, x);
		for (uint32_t v = run.first; v < run.first + run.count; v++) {
			several[v] |= first[v] != 0 && first[v] != x->thread + 1u;
			first[v] = x->thread + 1u;
		}
	}
	return several;
}

void await_memory_init(struct await_memory *m, const struct trace *t)
{
	m->several = find_several(t);
	m->constant = g_new0(bool, t->variables_count + 1);
	m->new_on_stack = m->new_written = NONE;
}

struct sharing {
	const struct trace *t;
	const bool *several;
};

/* Do several threads access memory that the event accesses? */
static bool is_shared(const void *context, uint32_t event)
{
	const struct sharing *s = context;
	struct wide run = event_variables(s->t, &s->t->events[event]);
	for (uint32_t v = run.first; v < run.first + run.count; v++)
		if (s->several[v])
			return true;
	return false;
}

/* Does the event access only its thread's own stack, which is part of the thread's state? */
static bool is_own(const struct sharing *s, uint32_t event)
{
	const struct event *x = &s->t->events[event];
	struct wide run = event_variables(s->t, x);
	uint32_t stack = s->t->threads[x->thread].stack;
	for (uint32_t i = 0; i < run.count; i++)
		if (stack == NONE || s->t->variables[run.first + i].block != stack)
			return false;
	return !is_shared(s, event);
}

/* Is it a plain read of memory that no run writes while there are several threads? It sees the
 * same in all runs. */
static bool sees_a_constant(const struct await_rounds *rounds, const struct trace *t,
                            uint32_t event)
{
	struct wide run = event_variables(t, &t->events[event]);
	bool constant = t->events[event].op == OP_READ;
	for (uint32_t v = run.first; v < run.first + run.count && constant; v++)
		constant = rounds->constant[v];
	return constant;
}

static bool may_see_more(const struct sharing *s, uint32_t event)
{
	const struct event *x = &s->t->events[event];
	if (op_fails(x->op) || (op_acquires(x->op) && event_is_try(x)))
		return !event_inert(x);
	return op_is_access(x->op) && op_reads(x->op) && !event_inert(x) && !is_own(s, event) &&
	       !channel_steps_only_asks(s->t, event);
}

bool await_rounds_looks(const struct await_rounds *rounds, const struct trace *t,
                        uint32_t event)
{
	return may_see_more(&(struct sharing){ t, rounds->several }, event);
}

bool await_rounds_unchanging(const struct await_rounds *rounds, const struct trace *t,
                             uint32_t event)
{
	struct sharing s = { t, rounds->several };
	return memory_changes_nothing(t, event, is_shared, &s);
}

/* May the event be one of a round? */
static bool is_of_round(const struct event *x)
{
	return op_is_access(x->op) || x->op == OP_FENCE || memory_is_section(x) ||
	       op_fails(x->op);
}

/* Leaves the events of a round out of the run's steps. */
static void leave_out(bool *in_vain, const struct trace *t, const struct await_round *r)
{
	struct event_list mine = trace_thread_events(t, r->thread);
	for (uint32_t i = t->index->position[r->first]; i < t->index->position[r->next]; i++) {
		in_vain[mine.items[i]] |= is_of_round(&t->events[mine.items[i]]);
	}
}

/* Adds a round, after all rounds inside of it. Not a round that may wait for a lock after its
 * last look. */
static void add_round(struct await_rounds *rounds, const struct trace *t, uint32_t first,
                      uint32_t next)
{
	struct await_round r = {
		.thread = t->events[first].thread, .first = first, .next = next, .last = first
	};
	struct sharing s = { t, rounds->several };
	struct event_list mine = trace_thread_events(t, r.thread);
	bool waits = false, any = false; /* any but reads of constants */
	uint32_t from = t->index->position[first], to = t->index->position[next];
	for (uint32_t i = from; i < to && !any; i++)
		any = !rounds->in_vain[mine.items[i]] && may_see_more(&s, mine.items[i]) &&
		      !sees_a_constant(rounds, t, mine.items[i]);
	for (uint32_t i = from; i < to; i++) {
		uint32_t e = mine.items[i];
		if (rounds->in_vain[e])
			continue;
		waits |= op_acquires(t->events[e].op) && !event_inert(&t->events[e]);
		if (!may_see_more(&s, e))
			continue;
		if (any && sees_a_constant(rounds, t, e)) {
			g_array_append_val(rounds->constants, e);
			continue;
		}
		r.last = e;
		r.looks++;
		waits = false;
	}
	if (waits)
		return;
	g_array_append_val(rounds->list, r);
	leave_out(rounds->in_vain, t, &r);
}

/* The last round of the thread that ends at an event of its own; or NULL. */
static const struct await_round *last_round(const struct await_rounds *rounds, uint32_t thread)
{
	for (guint i = rounds->list->len; i-- > 0;) {
		const struct await_round *r =
		        &g_array_index(rounds->list, struct await_round, i);
		if (r->thread == thread)
			return r;
	}
	return NULL;
}

static uint32_t thread_of(const struct trace *t, const struct record_wait *w)
{
	for (uint32_t i = 0; i < t->threads_count && w->reason == FOR_LOOK; i++)
		if (t->threads[i].recorded == w->thread)
			return i;
	return NONE;
}

/* By event, is it inside of a later one of the thread's rounds? Owned by the caller. */
static bool *inside_of(const struct await_rounds *rounds, const struct trace *t,
                       const struct await_round *r)
{
	bool *inside = g_new0(bool, t->events_count + 1);
	for (const struct await_round *at = (const void *)rounds->list->data; at < r; at++)
		leave_out(inside, t, at);
	return inside;
}

/* For a thread that looks for ever: keeps one whole round as its last steps, so that the
 * other values it could see are known. */
static void keep_last(struct await_rounds *rounds, const struct plan_run *run,
                      const struct record_wait *w)
{
	const struct trace *t = run->trace;
	uint32_t thread = thread_of(t, w);
	const struct await_round *r = thread == NONE ? NULL : last_round(rounds, thread);
	if (r == NULL)
		return;
	struct event_list mine = trace_thread_events(t, thread);
	bool *inside = inside_of(rounds, t, r);
	for (uint32_t i = t->index->position[r->first]; i < mine.count; i++) {
		rounds->in_vain[mine.items[i]] =
		        is_of_round(&t->events[mine.items[i]]) &&
		        (i >= t->index->position[r->next] || inside[mine.items[i]]);
	}
	g_free(inside);
	rounds->idle = true;
}

/* Does the event change memory that other threads see, or the thread's own beyond its stack? */
static bool changes(const struct sharing *s, uint32_t event)
{
	const struct event *x = &s->t->events[event];
	enum op_class class = op_table[x->op].class;
	if (class == OP_CLASS_ACCESS)
		return op_writes(x->op) && !is_own(s, event) &&
		       !memory_writes_the_same(s->t, x);
	return (class == OP_CLASS_SYNC && x->op != OP_FENCE && !op_fails(x->op)) ||
	       class == OP_CLASS_MEMORY || class == OP_CLASS_CALL;
}

/* By event, is it in a round without effect, or after the last one of a thread that looks for
 * ever? Owned by the caller. */
static bool *leads_nowhere(const struct await_rounds *rounds, const struct plan_run *run)
{
	const struct trace *t = run->trace;
	bool *nowhere = g_new0(bool, t->events_count + 1);
	for (guint i = 0; i < rounds->list->len; i++)
		leave_out(nowhere, t, &g_array_index(rounds->list, struct await_round, i));
	for (guint i = 0; i < run->facts.blocked->len; i++) {
		uint32_t thread =
		        thread_of(t, &g_array_index(run->facts.blocked, struct record_wait, i));
		const struct await_round *r =
		        thread == NONE ? NULL : last_round(rounds, thread);
		if (r == NULL)
			continue;
		struct event_list mine = trace_thread_events(t, thread);
		for (uint64_t k = t->index->position[r->next]; k < mine.count; k++)
			nowhere[mine.items[k]] = true;
	}
	return nowhere;
}

/* Does another thread hold the lock until the end of the run, or the try's own thread at the
 * try? */
static bool fails_for_ever(const struct trace *t, uint32_t try)
{
	const struct event *x = &t->events[try];
	for (uint32_t e = 0; e < try; e++) {
		const struct event *y = &t->events[e];
		uint32_t release = t->index->partner[e];
		if (op_acquires(y->op) && y->target == x->target && !event_inert(y) &&
		    (release == NONE || (y->thread == x->thread && release > try)))
			return true;
	}
	return false;
}

/* Of the last round of a thread that looks: would each try that failed in it fail again, with
 * no other thread in a round of its own? */
static bool tries_fail_for_ever(const struct await_rounds *rounds, const struct trace *t,
                                const struct await_round *r)
{
	struct event_list mine = trace_thread_events(t, r->thread);
	g_autofree bool *inside = inside_of(rounds, t, r);
	for (uint32_t i = t->index->position[r->first]; i < t->index->position[r->next]; i++) {
		uint32_t e = mine.items[i];
		if (op_fails(t->events[e].op) && op_table[t->events[e].op].use == USE_LOCK &&
		    !inside[e] && !fails_for_ever(t, e))
			return false;
	}
	return true;
}

bool await_rounds_judge(const struct await_rounds *rounds, const struct plan_run *run)
{
	const struct trace *t = run->trace;
	g_autofree bool *nowhere = leads_nowhere(rounds, run);
	struct sharing s = { t, rounds->several };
	uint32_t change = NONE;
	for (uint32_t e = 0; e < t->events_count; e++)
		if (!event_inert(&t->events[e]) && changes(&s, e) &&
		    !op_wants(t->events[e].op) &&
		    !(nowhere[e] && memory_is_section(&t->events[e])))
			change = e;
	for (guint i = 0; i < run->facts.blocked->len; i++) {
		uint32_t thread =
		        thread_of(t, &g_array_index(run->facts.blocked, struct record_wait, i));
		const struct await_round *r =
		        thread == NONE ? NULL : last_round(rounds, thread);
		if (thread != NONE && (r == NULL || (change != NONE && r->first < change) ||
		                       !tries_fail_for_ever(rounds, t, r)))
			return false;
	}
	return true;
}

void await_rounds_find(struct await_rounds *rounds, const struct plan_run *run,
                       const struct scopes *scopes, const bool *sections,
                       const struct await_memory *memory)
{
	struct trace *t = run->trace;
	struct memory_rounds found;
	rounds->list = g_array_new(FALSE, FALSE, sizeof(struct await_round));
	rounds->states = g_new0(uint64_t, t->events_count + 1);
	for (guint i = 0; i < run->facts.states->len; i++) {
		const struct record_state *state =
		        &g_array_index(run->facts.states, struct record_state, i);
		rounds->states[state->event] = state->state;
	}
	rounds->in_vain = g_new0(bool, t->events_count + 1);
	rounds->several = memory->several;
	rounds->constant = memory->constant;
	rounds->constants = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	struct sharing s = { t, rounds->several };
	memory_rounds_init(&found, t, rounds->states, is_shared, &s, false, sections);
	for (uint32_t e = 0; e < t->events_count; e++)
		if (found.first[e] != NONE && (scopes == NULL || scopes->of[e] == NONE))
			add_round(rounds, t, found.first[e], e);
	for (guint i = 0; run->facts.status == LOG_DEADLOCK && i < run->facts.blocked->len; i++)
		keep_last(rounds, run,
		          &g_array_index(run->facts.blocked, struct record_wait, i));
	memory_rounds_release(&found);
}

/* The number of the thread's history without rounds, up to an event of the run. */
static uint64_t prefix_before(const struct history *reduced, uint32_t event)
{
	uint32_t thread = reduced->trace->events[event].thread;
	const struct thread_history *h = &reduced->threads[thread];
	size_t steps =
	        search_end(i, 0, h->events->len, g_array_index(h->events, uint32_t, i) < event);
	return g_array_index(h->prefixes, uint64_t, steps);
}

uint64_t await_rounds_class(const struct await_rounds *rounds, const struct plan_run *run,
                            const struct history *h)
{
	uint64_t number = history_class(h);
	for (guint i = 0; i < run->facts.blocked->len; i++) {
		uint32_t thread = thread_of(
		        h->trace, &g_array_index(run->facts.blocked, struct record_wait, i));
		const struct await_round *r =
		        thread == NONE ? NULL : last_round(rounds, thread);
		if (r == NULL)
			continue;
		const GArray *p = h->threads[thread].prefixes;
		number -= history_class_part(h, thread, p->len - 1);
		number += history_class_number(h, thread, prefix_before(h, r->first));
	}
	return number;
}

void await_rounds_release(struct await_rounds *rounds)
{
	g_free(rounds->states);
	g_free(rounds->in_vain);
	g_free(rounds->several);
	g_free(rounds->constant);
	if (rounds->constants != NULL)
		g_array_unref(rounds->constants);
	if (rounds->list != NULL)
		g_array_unref(rounds->list);
}

/* -- of all runs -------------------------------------------------------------------------- */

struct awaits *awaits_new(void)
{
	struct awaits *a = g_new0(struct awaits, 1);
	a->prefixes = numbers_new();
	a->within = numbers_new();
	a->looks = numbers_new();
	a->begins = numbers_new();
	a->sections = numbers_new();
	a->wide = numbers_new();
	a->tried = numbers_new();
	a->any = numbers_new();
	a->stacks = numbers_new();
	a->written = numbers_new();
	a->relied = numbers_new();
	a->by_all = numbers_new();
	a->otherwise = numbers_new();
	return a;
}

struct awaits *awaits_anew(struct awaits *a)
{
	struct awaits *fresh = awaits_new();
	awaits_adopt_memory(fresh, a);
	awaits_free(a);
	return fresh;
}

void awaits_free(struct awaits *a)
{
	numbers_free(a->prefixes);
	numbers_free(a->within);
	numbers_free(a->looks);
	numbers_free(a->begins);
	numbers_free(a->sections);
	numbers_free(a->wide);
	numbers_free(a->tried);
	numbers_free(a->any);
	numbers_free(a->stacks);
	numbers_free(a->written);
	numbers_free(a->relied);
	numbers_free(a->by_all);
	numbers_free(a->otherwise);
	g_free(a);
}

struct awaits_size awaits_size(const struct awaits *a)
{
	return (struct awaits_size){ numbers_count(a->prefixes), numbers_count(a->within),
		                     numbers_count(a->looks),    numbers_count(a->begins),
		                     numbers_count(a->sections), numbers_count(a->wide),
		                     numbers_count(a->tried),    numbers_count(a->any),
		                     numbers_count(a->stacks),   numbers_count(a->written),
		                     numbers_count(a->relied),   numbers_count(a->by_all),
		                     numbers_count(a->otherwise) };
}

void awaits_archive(struct awaits *a, struct awaits_size from, struct archive *archive)
{
	numbers_archive(a->prefixes, from.prefixes, archive);
	numbers_archive(a->within, from.within, archive);
	numbers_archive(a->looks, from.looks, archive);
	numbers_archive(a->begins, from.begins, archive);
	numbers_archive(a->sections, from.sections, archive);
	numbers_archive(a->wide, from.wide, archive);
	numbers_archive(a->tried, from.tried, archive);
	numbers_archive(a->any, from.any, archive);
	numbers_archive(a->stacks, from.stacks, archive);
	numbers_archive(a->written, from.written, archive);
	numbers_archive(a->relied, from.relied, archive);
	numbers_archive(a->by_all, from.by_all, archive);
	numbers_archive(a->otherwise, from.otherwise, archive);
}

void awaits_adopt(struct awaits *a, const struct awaits *other)
{
	numbers_adopt(a->prefixes, other->prefixes);
	numbers_adopt(a->within, other->within);
	numbers_adopt(a->looks, other->looks);
	numbers_adopt(a->begins, other->begins);
	numbers_adopt(a->sections, other->sections);
	numbers_adopt(a->wide, other->wide);
	numbers_adopt(a->tried, other->tried);
	numbers_adopt(a->any, other->any);
	numbers_adopt(a->by_all, other->by_all);
	numbers_adopt(a->otherwise, other->otherwise);
	numbers_adopt(a->relied, other->relied);
	awaits_adopt_memory(a, other);
}

void awaits_adopt_memory(struct awaits *a, const struct awaits *other)
{
	numbers_adopt(a->stacks, other->stacks);
	numbers_adopt(a->written, other->written);
}

/* The number of a byte, equal in all runs. */
static uint64_t byte_number(const struct history *h, uint64_t address, uint32_t event)
{
	uint64_t number = history_mix(4, address);
	history_pointer(h, address, event, NONE, &number);
	return number;
}

static void add_bytes(struct numbers *list, const struct history *h, uint32_t variable,
                      uint32_t event)
{
	const struct variable *of = &h->trace->variables[variable];
	for (uint32_t i = 0; i < of->size; i++)
		numbers_add(list, byte_number(h, of->address + i, event));
}

/* How many of the variable's bytes are in the list? */
static uint32_t count_bytes(const struct numbers *list, const struct history *h,
                            uint32_t variable, uint32_t event)
{
	const struct variable *of = &h->trace->variables[variable];
	uint32_t count = 0;
	for (uint32_t i = 0; i < of->size && numbers_count(list) > 0; i++)
		count += numbers_have(list, byte_number(h, of->address + i, event));
	return count;
}

/* Memory of a stack that the run uses first by the event. */
static void see_stack(struct awaits *a, const struct history *h, uint32_t v, uint32_t event,
                      struct await_memory *m)
{
	uint32_t known = count_bytes(a->stacks, h, v, event);
	if (m->several[v] && known < h->trace->variables[v].size) {
		add_bytes(a->stacks, h, v, event);
		m->new_on_stack = v;
	}
	m->several[v] |= known > 0;
}

/* Memory that the run writes while there are several threads. */
static void see_write(struct awaits *a, const struct history *h, uint32_t v, uint32_t event,
                      struct await_memory *m)
{
	if (count_bytes(a->relied, h, v, event) > 0)
		m->new_written = v;
	add_bytes(a->written, h, v, event);
}

static uint32_t first_fork(const struct trace *t)
{
	uint32_t e = 0;
	while (e < t->events_count && t->events[e].op != OP_FORK)
		e++;
	return e;
}

void awaits_see_memory(struct awaits *a, const struct history *h, struct await_memory *m)
{
	const struct trace *t = h->trace;
	g_autofree bool *stacks = trace_stacks(t),
	                *written = g_new0(bool, t->variables_count + 1);
	g_autofree uint32_t *used = g_new(uint32_t, t->variables_count + 1); /* an event */
	uint32_t fork = first_fork(t);
	memset(used, 0xff, sizeof *used * (t->variables_count + 1));
	await_memory_init(m, t);
	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		if (!op_is_access(x->op))
			continue;
		struct wide run = event_variables(t, x);
		for (uint32_t v = run.first; v < run.first + run.count; v++) {
			uint32_t block = t->variables[v].block;
			bool stack = block != NONE && stacks[block];
			if (stack && used[v] == NONE)
				see_stack(a, h, v, e, m);
			if (!stack && e > fork && op_writes(x->op) && !written[v]) {
				see_write(a, h, v, e, m);
				written[v] = true;
			}
			m->constant[v] |= !stack && x->op == OP_READ;
			used[v] = e;
		}
	}
	/* it tells last looks from others, which matters where tries fail */
	for (uint32_t v = 0; v < t->variables_count; v++)
		m->constant[v] = m->constant[v] && !written[v] && t->variables[v].size > 0 &&
		                 trace_has(t, OPERATIONS_FAILED) &&
		                 count_bytes(a->written, h, v, used[v]) == 0;
}

static void learn_constants(struct awaits *a, const struct await_rounds *rounds,
                            const struct history *h)
{
	for (guint i = 0; i < rounds->constants->len; i++) {
		uint32_t e = g_array_index(rounds->constants, uint32_t, i);
		struct wide run = event_variables(h->trace, &h->trace->events[e]);
		for (uint32_t v = run.first; v < run.first + run.count; v++)
			add_bytes(a->relied, h, v, e);
	}
}

bool awaits_constants_change(const struct awaits *a)
{
	return numbers_meet(a->relied, a->written);
}

uint64_t awaits_lock(const struct history *h, uint32_t object)
{
	struct event_list list = event_list_at(&h->trace->index->object_events, object);
	uint64_t address = h->trace->objects[object].address, number = history_mix(4, address);
	if (list.count > 0)
		history_pointer(h, address, list.items[0], NONE, &number);
	return number;
}

void awaits_see_taken(struct awaits *a, const struct history *h, const GArray *taken)
{
	for (guint i = 0; i < taken->len; i++) {
		const struct record_taken *lock = &g_array_index(taken, struct record_taken, i);
		struct numbers *list = lock->by_all ? a->by_all : a->otherwise;
		for (uint32_t o = 0; o < h->trace->objects_count; o++)
			if (h->trace->objects[o].address == lock->address)
				numbers_add(list, awaits_lock(h, o));
	}
}

bool awaits_all_are_tried(const struct awaits *a)
{
	return numbers_meet(a->by_all, a->otherwise);
}

bool awaits_are_tried(const struct awaits *a, uint64_t lock)
{
	return numbers_have(a->tried, lock);
}

bool awaits_are_seen(const struct awaits *a, uint64_t lock)
{
	return (numbers_have(a->tried, lock) && numbers_have(a->sections, lock)) ||
	       (numbers_have(a->any, lock) && numbers_have(a->wide, lock));
}

bool awaits_any_seen(const struct awaits *a)
{
	for (uint32_t i = 0; i < numbers_count(a->any); i++)
		if (awaits_are_seen(a, numbers_at(a->any, i)))
			return true;
	return false;
}

static uint64_t begin_number(const uint64_t *states, const struct history *h, uint32_t event)
{
	return history_mix(h->threads[h->trace->events[event].thread].who, states[event]);
}

bool awaits_begins(const struct awaits *a, const uint64_t *states, const struct history *h,
                   uint32_t event)
{
	return op_acquires(h->trace->events[event].op) && states[event] != 0 &&
	       numbers_have(a->begins, begin_number(states, h, event));
}

static uint64_t look_number(const uint64_t *states, const struct history *h, uint32_t event,
                            uint64_t seen)
{
	uint32_t thread = h->trace->events[event].thread;
	return history_mix(history_mix(h->threads[thread].who, states[event]), seen);
}

/* Number of the value that a step sees, which a round may have. */
static uint64_t seen_at(const struct history *h, uint32_t event)
{
	return op_fails(h->trace->events[event].op) ? SEEN_FAILURE : h->seen[event];
}

/* The same before each event; owned by the caller. */
static uint64_t *prefixes_before(const struct history *reduced)
{
	const struct trace *t = reduced->trace;
	uint64_t *before = g_new(uint64_t, t->events_count + 1);
	for (uint32_t u = 0; u < t->threads_count; u++) {
		struct event_list mine = trace_thread_events(t, u);
		const GArray *prefixes = reduced->threads[u].prefixes;
		uint64_t now = g_array_index(prefixes, uint64_t, 0);
		for (uint64_t i = 0; i < mine.count; i++) {
			uint32_t e = mine.items[i];
			uint32_t step = g_array_index(reduced->step_of, uint32_t, e);
			before[e] = now;
			if (step != NONE)
				now = g_array_index(prefixes, uint64_t, step + 1);
		}
	}
	return before;
}

/* The release of a section of the round that begins at position `i` of its thread's events;
 * NONE: none begins there. */
static uint32_t section_at(const struct trace *t, struct event_list mine, uint64_t i,
                           const bool *inside)
{
	const struct event *x = &t->events[mine.items[i]];
	bool begins = op_acquires(x->op) && !event_inert(x) && !inside[mine.items[i]];
	return begins ? t->index->partner[mine.items[i]] : NONE;
}

/* Is the round, before both positions of its thread's events, within the same of its sections?
 */
static bool holds_the_same(const struct await_round *r, const struct trace *t,
                           const bool *inside, uint64_t one, uint64_t other)
{
	struct event_list mine = trace_thread_events(t, r->thread);
	for (uint64_t i = t->index->position[r->first]; i < MAX(one, other); i++) {
		uint32_t end = section_at(t, mine, i, inside);
		if (end != NONE && (i < one && end >= mine.items[one]) !=
		                           (i < other && end >= mine.items[other]))
			return false;
	}
	return true;
}

/* May the round, after its last look, be within other sections than at any moment up to this
 * look? `inside`: of rounds within it. */
static bool is_wide(const struct await_round *r, const struct trace *t, const bool *inside)
{
	uint64_t first = t->index->position[r->first], last = t->index->position[r->last];
	bool wide = false;
	for (uint64_t i = last + 1; i < t->index->position[r->next] && !wide; i++) {
		uint64_t k = last + 1;
		while (k > first && !holds_the_same(r, t, inside, k - 1, i))
			k--;
		wide = k == first;
	}
	return wide;
}

void awaits_learn(struct awaits *a, const struct await_rounds *rounds,
                  const struct history *reduced, const struct history *raw)
{
	const struct trace *t = raw->trace;
	bool *inside = g_new0(bool, t->events_count + 1); /* of the rounds so far */
	learn_constants(a, rounds, raw);
	g_autofree uint64_t *before = prefixes_before(reduced);
	for (guint k = 0; k < rounds->list->len; k++) {
		const struct await_round *r =
		        &g_array_index(rounds->list, struct await_round, k);
		struct event_list mine = trace_thread_events(t, r->thread);
		uint64_t prefix = before[r->first];
		bool wide = is_wide(r, t, inside);
		if (op_acquires(t->events[r->first].op))
			numbers_add(a->begins, begin_number(rounds->states, raw, r->first));
		if (r->looks == 1 && r->last == r->first)
			numbers_add(a->looks, look_number(rounds->states, raw, r->first,
			                                  seen_at(raw, r->first)));
		for (uint32_t i = t->index->position[r->first]; i < t->index->position[r->next];
		     i++) {
			uint32_t e = mine.items[i];
			if (g_array_index(raw->step_of, uint32_t, e) == NONE || inside[e])
				continue;
			if (op_acquires(t->events[e].op))
				numbers_add(a->sections, awaits_lock(raw, t->events[e].target));
			if (op_acquires(t->events[e].op) && wide)
				numbers_add(a->wide, awaits_lock(raw, t->events[e].target));
			prefix = history_after_prefix(raw, prefix, e, raw->seen[e]);
			numbers_add(a->within, prefix);
			if (i >= t->index->position[r->last])
				numbers_add(a->prefixes, prefix);
		}
		leave_out(inside, t, r);
	}
	g_free(inside);
}

bool awaits_within(const struct awaits *a, uint64_t prefix)
{
	return numbers_have(a->within, prefix);
}

bool awaits_in_vain(const struct awaits *a, const uint64_t *states, const struct history *h,
                    uint32_t event, uint64_t seen)
{
	uint64_t prefix = history_after(h, event, seen);
	uint64_t look = look_number(states, h, event, seen);
	return numbers_have(a->prefixes, prefix) ||
	       (states[event] != 0 && numbers_have(a->looks, look));
}

bool awaits_fails_in_vain(const struct awaits *a, const uint64_t *states,
                          const struct history *h, uint32_t event, enum op op)
{
	return states[event] != 0 &&
	       (numbers_have(a->prefixes, history_after_as(h, event, op, 0)) ||
	        numbers_have(a->looks, look_number(states, h, event, SEEN_FAILURE)));
}

/* Is the failed try the last look of a round? Nothing keeps its thread from the round's end,
 * whatever others do. After another look it may still leave the loop. The steps of a thread
 * that looks for ever after its last round are the beginning of the same round. */
static bool is_last_look(const struct await_rounds *rounds, const struct trace *t, uint32_t try)
{
	for (guint i = 0; i < rounds->list->len; i++) {
		const struct await_round *r =
		        &g_array_index(rounds->list, struct await_round, i);
		if (r->last == try ||
		    (rounds->idle && r->next <= try && r->thread == t->events[try].thread &&
		     r == last_round(rounds, r->thread) &&
		     rounds->states[r->last] == rounds->states[try]))
			return true;
	}
	return false;
}

void awaits_see_tries(struct awaits *a, const struct await_rounds *rounds,
                      const struct history *reduced)
{
	const struct trace *t = reduced->trace;
	for (uint32_t e = 0; e < t->events_count; e++) {
		const struct event *x = &t->events[e];
		bool tries = op_fails(x->op) || (op_acquires(x->op) && event_is_try(x));
		if (!tries || op_table[x->op].use != USE_LOCK)
			continue;
		uint64_t lock = awaits_lock(reduced, x->target);
		numbers_add(a->any, lock);
		if (op_fails(x->op) && !is_last_look(rounds, t, e))
			numbers_add(a->tried, lock);
	}
}

/* -- beginnings --------------------------------------------------------------------------- */

/* The number of the thread's steps that the schedule asks for: its prefix, and one more for a
 * thread that is to continue. */
static uint32_t steps_in(const struct history *h, const struct pending *s, uint32_t thread)
{
	const GArray *prefixes = h->threads[thread].prefixes;
	bool goes_on = s->kind == REVERSAL_GOES_ON || s->kind == REVERSAL_WOKEN;
	for (uint32_t i = 0; i < s->parts_count; i++)
		for (guint k = 0;
		     s->parts[i].who == h->threads[thread].who && k < prefixes->len; k++)
			if (g_array_index(prefixes, uint64_t, k) == s->parts[i].prefix)
				return k + (goes_on && i == 0);
	return 0;
}

/* Does the prefix end within the round, before its last look? */
static bool ends_within(const struct history *raw, const struct await_round *r, uint32_t steps)
{
	uint32_t first = g_array_index(raw->step_of, uint32_t, r->first);
	uint32_t last = g_array_index(raw->step_of, uint32_t, r->last);
	return first != NONE && last != NONE && first < steps && steps <= last;
}

bool *awaits_kept(const struct await_rounds *rounds, const struct history *raw,
                  const struct pending *s, uint32_t *stops)
{
	const struct trace *t = raw->trace;
	bool any = false, *in_vain = g_new0(bool, t->events_count + 1);
	memset(stops, 0xff, sizeof *stops * raw->threads_count);
	for (guint k = 0; k < rounds->list->len; k++) {
		const struct await_round *r =
		        &g_array_index(rounds->list, struct await_round, k);
		if (ends_within(raw, r, steps_in(raw, s, r->thread))) {
			if (stops[r->thread] == NONE) /* the innermost one */
				stops[r->thread] = r->last;
			any = true;
			continue;
		}
		leave_out(in_vain, t, r);
	}
	if (any)
		return in_vain;
	g_free(in_vain);
	return NULL;
}
