/* alike.c - see alike.h. */
#include "engine/explore/runs/alike.h"
#include "engine/explore/runs/final.h"
#include "engine/explore/runs/history_private.h"
#include "engine/record/layout.h"
#include "engine/trace/roles.h"

#include <inttypes.h>

char *alike_key(uint64_t kind)
{
	return g_strdup_printf("(threads %016" PRIx64 ")", kind);
}

/* -- kinds --------------------------------------------------------------------------------- */

/* Whatever the creator has written into the block that is the new thread's own. */
static uint64_t contents(const struct history *h, uint32_t thread, uint64_t block)
{
	const struct trace *t = h->trace;
	uint32_t fork = t->threads[thread].fork;
	uint64_t number = 1;
	for (uint32_t e = trace_previous(t, fork); e != NONE; e = trace_previous(t, e)) {
		const struct event *x = &t->events[e];
		if (x->op == OP_ALLOC && t->blocks[x->target].address == block)
			break;
		if (!op_is_access(x->op) || !op_writes(x->op))
			continue;
		struct access_value v = access_value(t, e, true);
		if (history_owner(h, v.address, e) != thread)
			continue;
		uint64_t value = history_mix(4, v.integer);
		history_pointer(h, v.integer, e, thread, &value);
		number = history_mix(history_mix(number, v.address - block),
		                     v.known ? value : 0);
	}
	return number;
}

/* Whatever its creator had joined by then is part of a thread's kind: threads that are created
 * after that are others. */
static uint64_t joins_before(const struct trace *t, uint32_t event)
{
	uint64_t joins = 0;
	for (uint32_t e = trace_previous(t, event); e != NONE; e = trace_previous(t, e))
		joins += t->events[e].op == OP_JOIN;
	return joins;
}

static uint64_t kind_of(const struct history *h, uint32_t thread)
{
	const struct thread *x = &h->trace->threads[thread];
	uint64_t start[2];
	if (x->fork == NONE || !role_note(h->trace, LOG_START_NOTE, thread, start))
		return 0;
	uint32_t parent = h->trace->events[x->fork].thread;
	uint64_t kind = history_mix(19, h->threads[parent].who);
	uint64_t argument = history_owner(h, start[1], x->fork) == thread
	                            ? contents(h, thread, start[1])
	                            : start[1];
	kind = history_mix(history_mix(kind, start[0]), argument);
	kind = history_mix(kind, joins_before(h->trace, x->fork)) | 1;
	g_autofree char *key = alike_key(kind);
	return g_hash_table_contains((GHashTable *)h->apart, key) ? 0 : kind;
}

uint32_t alike_count(const struct history *h, uint64_t kind)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < h->threads_count; i++)
		count += h->threads[i].kind == kind;
	return count;
}

/* The number of the thread's steps before the event. */
static uint32_t steps_before(const struct history *h, uint32_t event)
{
	const GArray *events = h->threads[h->trace->events[event].thread].events;
	uint32_t steps = 0;
	while (steps < events->len && g_array_index(events, uint32_t, steps) < event)
		steps++;
	return steps;
}

/* Notes the join as one of the kind; `left` of its threads are not joined then. */
static void note_join(struct history *h, uint32_t event, uint32_t left, struct joining *open)
{
	struct thread_history *th = &h->threads[h->trace->events[event].thread];
	uint32_t steps = steps_before(h, event);
	open->first = MIN(open->first, steps);
	open->after = left == 0 ? steps + 1 : NONE;
	if (left > 0)
		return;
	if (th->joins == NULL)
		th->joins = g_array_new(FALSE, FALSE, sizeof(struct joining));
	g_array_append_val(th->joins, *open);
}

/* The joins of threads of this kind. */
static void find_joins(struct history *h, uint64_t kind, uint32_t count)
{
	struct joining open = { NONE, NONE };
	uint32_t left = count, joiner = NONE;
	for (uint32_t e = 0; e < h->trace->events_count; e++) {
		const struct event *x = &h->trace->events[e];
		if (x->op != OP_JOIN || event_inert(x) || x->target >= h->threads_count ||
		    h->threads[x->target].kind != kind)
			continue;
		joiner = x->thread;
		note_join(h, e, --left, &open);
	}
	if (joiner == NONE || left == 0)
		return;
	struct thread_history *th = &h->threads[joiner];
	if (th->joins == NULL)
		th->joins = g_array_new(FALSE, FALSE, sizeof(struct joining));
	g_array_append_val(th->joins, open);
}

void alike_find(struct history *h)
{
	if (h->apart == NULL || g_hash_table_contains((GHashTable *)h->apart, ALIKE_NONE))
		return;
	for (uint32_t i = 0; i < h->threads_count; i++)
		h->threads[i].kind = kind_of(h, i);
	for (uint32_t i = 0; i < h->threads_count; i++) {
		uint64_t kind = h->threads[i].kind;
		uint32_t first = 0;
		while (h->threads[first].kind != kind)
			first++;
		uint32_t count = kind && first == i ? alike_count(h, kind) : 0;
		if (count > 1)
			find_joins(h, kind, count);
	}
}

uint32_t alike_before_joins(const struct history *h, uint32_t thread, uint32_t steps)
{
	const GArray *joins = h->threads[thread].joins;
	uint32_t from = steps;
	for (guint i = 0; joins != NULL && i < joins->len; i++) {
		const struct joining *j = &g_array_index(joins, struct joining, i);
		if (j->first < steps && steps < j->after)
			from = MIN(from, j->first);
	}
	return from;
}

/* -- numbers ------------------------------------------------------------------------------- */

/* The numbers of a thread's history up to a length, without its identity. */
struct past {
	const struct thread_history *of; /* NULL: no thread's */
	uint32_t length;
	uint64_t last;
};

static uint64_t past_at(const struct past *p, uint32_t length)
{
	return length == p->length
	               ? p->last
	               : g_array_index(p->of->prefixes, uint64_t, length) - p->of->who;
}

static struct past past_of(const struct thread_history *th, uint32_t length)
{
	uint64_t last = g_array_index(th->prefixes, uint64_t, length) - th->who;
	return (struct past){ th, length, last };
}

static uint64_t number_for(const struct past *p, uint32_t count, bool further)
{
	return history_mix(history_mix(further ? 21 : 20, p->last + p->of->kind), count);
}

/* Is `p` an other's past, too (`further`: which continues)? */
static bool is_past_of(const struct past *p, const struct past *other, bool further)
{
	return other->of != NULL && other->of->kind == p->of->kind &&
	       other->length >= p->length + further && past_at(other, p->length) == p->last;
}

uint64_t alike_number(const struct history *h, uint32_t thread, uint32_t steps, bool further)
{
	struct past own = past_of(&h->threads[thread], steps);
	uint32_t count = 1;
	for (uint32_t i = 0; i < thread; i++) {
		const struct thread_history *th = &h->threads[i];
		struct past other = past_of(th, th->prefixes->len - 1);
		count += is_past_of(&own, &other, further);
	}
	return number_for(&own, count, further);
}

static struct past past_of_part(const struct history *h, const struct thread_prefix *part)
{
	uint32_t i = 0;
	while (i < h->threads_count && h->threads[i].who != part->who)
		i++;
	if (i == h->threads_count)
		return (struct past){ 0 };
	const struct thread_history *th = &h->threads[i];
	bool ends = g_array_index(th->prefixes, uint64_t, part->steps) == part->prefix;
	return (struct past){ th, part->steps + !ends, part->prefix - th->who };
}

void alike_fill(const struct history *h, struct thread_prefix *parts, uint32_t count,
                bool further)
{
	struct past *pasts = g_new(struct past, count + 1);
	for (uint32_t i = 0; i < count; i++) {
		parts[i].alike = parts[i].prefix;
		pasts[i] = (struct past){ 0 };
		if (h->apart != NULL)
			pasts[i] = past_of_part(h, &parts[i]);
	}
	for (uint32_t i = 0; i < count; i++) {
		const struct past *own = &pasts[i];
		bool next = i == 0 && (further || own->length > parts[0].steps);
		if (own->of == NULL)
			continue;
		if (own->of->kind == 0) {
			uint32_t thread = (uint32_t)(own->of - h->threads);
			uint32_t steps =
			        next ? own->length : alike_before_joins(h, thread, own->length);
			if (steps < own->length)
				parts[i].alike =
				        g_array_index(own->of->prefixes, uint64_t, steps);
			continue;
		}
		bool goes_on = i == 0 && further && own->length == parts[0].steps;
		uint32_t with = goes_on;
		for (uint32_t k = 0; k < count; k++)
			with += is_past_of(own, &pasts[k], goes_on);
		parts[i].alike = number_for(own, with, goes_on);
	}
	g_free(pasts);
}

uint64_t *alike_lasts(const struct history *h)
{
	struct thread_prefix *parts = g_new0(struct thread_prefix, h->threads_count + 1);
	uint64_t *lasts = g_new(uint64_t, h->threads_count + 1);
	for (uint32_t i = 0; i < h->threads_count; i++) {
		const struct thread_history *th = &h->threads[i];
		uint32_t steps = th->prefixes->len - 1;
		parts[i] = (struct thread_prefix){ th->who,
			                           g_array_index(th->prefixes, uint64_t, steps),
			                           steps, 0 };
	}
	alike_fill(h, parts, h->threads_count, false);
	for (uint32_t i = 0; i < h->threads_count; i++)
		lasts[i] = parts[i].alike;
	g_free(parts);
	return lasts;
}

/* -- classes ------------------------------------------------------------------------------- */

uint64_t alike_classes(const struct history *h)
{
	uint64_t classes = 1;
	/* of n threads, each in turn: n! / (how many of them do the same)! */
	for (uint32_t i = 0; i < h->threads_count; i++) {
		const struct thread_history *th = &h->threads[i];
		uint64_t of_kind = 1, same = 1;
		struct past own = past_of(th, th->prefixes->len - 1);
		for (uint32_t k = 0; th->kind != 0 && k < i; k++) {
			const struct thread_history *other = &h->threads[k];
			struct past whole = past_of(other, other->prefixes->len - 1);
			of_kind += other->kind == th->kind;
			same += other->kind == th->kind && whole.length == own.length &&
			        whole.last == own.last;
		}
		if (classes > UINT64_MAX / of_kind)
			return UINT64_MAX;
		classes = classes * of_kind / same;
	}
	return classes;
}
