/*
 * prop_online.c - happens-before event by event (online.h) against the pass over the whole
 * trace (stream_sites): the same pairs of sites; and its uses after free against their
 * definition. On random traces with every kind of operation, and with memory that is divided as
 * it is accessed. EDC also as where the program compares its plain accesses itself (`record
 * --no-trace`): then its uses of blocks are told, and of other accesses it gets those in
 * critical sections, once each.
 */
#include "engine/base/home.h"
#include "engine/commute/edc.h"
#include "engine/commute/live_calls.h"
#include "engine/predict/pairs/online.h"
#include "engine/predict/pairs/pairs.h"
#include "engine/trace/formats.h"
#include "tests/property/mix.h"
#include "tests/property/random_spec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t reused;           /* memory was, by another life of a block */
static uint64_t accesses_in_runs; /* of more than one */

/* A run of the trace's variables that no access has divided so far. */
struct part {
	uint32_t first, count;
};
/* A use of a block in a segment, which began before event `number`. */
struct told_use {
	uint32_t event, number, stay;
};
/* A critical section: `alone`: no other thread has left one on its lock. */
struct told_section {
	uint32_t lock, from; /* accesses that are kept from here on are also in this section */
	bool alone;
};
/* An access that is kept until the thread leaves a section. */
struct told_late {
	uint32_t event, number; /* event NONE: it has been told */
};
/* A thread of a program that compares its accesses itself. */
struct told_thread {
	bool begun;      /* a segment */
	uint32_t number; /* of it: the event at its beginning */
	uint32_t stay;
	GArray *inside;      /* struct told_section, outermost first */
	GArray *late;        /* struct told_late */
	GHashTable *covered; /* variable * 2 + does it write?, of the segment; + 1 */
	GHashTable *touched; /* the same, since it entered or left a section or a call */
	GHashTable *uses;    /* block + 1 -> struct told_use, owned: the last one */
	GHashTable *known;   /* blocks + 1 that it has joined the allocation of */
};

struct feeder {
	const struct trace *t;
	struct told_thread *told; /* by thread; NULL: all accesses are passed on */
	uint32_t stays;
	uint32_t *left; /* by lock: the only thread that has left a section, + 1; 0: none */
	struct online *online; /* the one under test */
	struct online *hb;     /* for EDC: happens-before, which goes first; or NULL */
	struct flow_access run[8];
	uint32_t run_count, thread; /* accesses not passed on yet, and their thread */
	bool singly;                /* each access is an event of its own */
	GHashTable *pairs;          /* of sites */
	GHashTable *freed;          /* of events: an access and a free, or two frees */
	GHashTable *turned;         /* of events: where calls begin */
	const struct model *m;
	struct live_calls *calls;
	bool inside;       /* the variables of these are known */
	GArray *parts;     /* struct part, by variable of the analysis */
	uint32_t *part_of; /* by variable of the trace: part + 1 */
	GArray *covered;   /* uint32_t */
};

static gpointer as_pair(uint32_t a, uint32_t b)
{
	return (gpointer)((uintptr_t)MIN(a, b) << 32 | MAX(a, b));
}

static void on_race(void *context, const struct online_access *first,
                    const struct flow_event *x, uint32_t variable)
{
	struct feeder *f = context;
	g_hash_table_add(f->pairs, as_pair(first->point, x->point));
}

static void on_use_after_free(void *context, const struct online_access *first,
                              const struct online_access *second, uint32_t block,
                              uint32_t variable)
{
	struct feeder *f = context;
	const struct event *events = f->t->events;
	const uint32_t one = f->told ? (uint32_t)first->point : first->time - 1,
	               other = f->told ? (uint32_t)second->point : second->time - 1;
	g_hash_table_add(f->freed, as_pair(one, other));
	f->inside &= events[other].op == OP_FREE && events[one].op == OP_FREE
	                     ? variable == NONE
	                     : variable < f->parts->len;
}

static void on_turn(void *context, const struct online_call *first,
                    const struct online_call *second)
{
	struct feeder *f = context;
	g_hash_table_add(f->turned, as_pair(first->at.time - 1, second->at.time - 1));
	f->inside &= first->at.time < second->at.time;
}

static bool asks(void *context, const struct online_call *first,
                 const struct online_call *second)
{
	const struct feeder *f = context;
	return live_calls_ask(f->calls, first, second);
}

static void on_ignored_race(void *context, const struct online_access *first,
                            const struct flow_event *x, uint32_t variable)
{
}

static void on_ignored_use(void *context, const struct online_access *first,
                           const struct online_access *second, uint32_t block,
                           uint32_t variable)
{
}

static void end_run(struct feeder *f)
{
	struct flow_run run = { f->thread, f->run_count, f->run };
	if (run.count > 0 && f->hb)
		online_run(f->hb, f->online, &run);
	else if (run.count > 0)
		online_run(f->online, NULL, &run);
	accesses_in_runs += run.count > 1 ? run.count : 0;
	f->run_count = 0;
}

static void pass(struct feeder *f, const struct flow_event *x)
{
	end_run(f);
	if (f->hb)
		online_event(f->hb, x);
	online_event(f->online, x);
}

static void pass_access(struct feeder *f, const struct flow_event *x)
{
	bool plain = x->op <= OP_WRITE && !(x->flags & EVENT_INERT);
	if (!plain || f->singly) {
		pass(f, x);
		return;
	}
	if (f->thread != x->thread)
		end_run(f);
	f->thread = x->thread;
	for (uint32_t i = 0; i < x->variables_count; i++) {
		if (f->run_count == G_N_ELEMENTS(f->run))
			end_run(f);
		f->run[f->run_count++] = (struct flow_access){
			x->point, x->number, x->variables[i], { i ? NONE : x->block, x->op }
		};
	}
}

/* Is the part of a block that has been freed, and never accessed again? */
static bool is_past(const struct trace *t, struct part p, uint32_t now)
{
	uint32_t block = t->variables[p.first].block;
	bool past = block != NONE && t->blocks[block].free < now;
	for (uint32_t e = now; past && e < t->events_count; e++) {
		struct wide run = event_variables(t, &t->events[e]);
		past = !op_is_access((enum op)t->events[e].op) ||
		       run.first + run.count <= p.first || run.first >= p.first + p.count;
	}
	return past;
}

static uint32_t add_part(struct feeder *f, uint32_t first, uint32_t count)
{
	struct part part = { first, count };
	g_array_append_val(f->parts, part);
	for (uint32_t v = first; v < first + count; v++)
		f->part_of[v] = f->parts->len;
	return f->parts->len - 1;
}

/* Memory of a block that has been freed is used again. */
static uint32_t new_part(struct feeder *f, uint32_t first, uint32_t count, uint32_t now)
{
	for (guint i = 0; f->t->variables[first].block != NONE && i < f->parts->len; i++) {
		struct part *p = &g_array_index(f->parts, struct part, i);
		if (p->count != count || !is_past(f->t, *p, now))
			continue;
		end_run(f);
		online_renew(f->online, i);
		if (f->hb)
			online_renew(f->hb, i);
		reused++;
		*p = (struct part){ first, count };
		for (uint32_t v = first; v < first + count; v++)
			f->part_of[v] = i + 1;
		return i;
	}
	return add_part(f, first, count);
}

static uint32_t split(struct feeder *f, uint32_t part, uint32_t at)
{
	struct part *p = &g_array_index(f->parts, struct part, part);
	uint32_t end = p->first + p->count;
	p->count = at - p->first;
	uint32_t rest = add_part(f, at, end - at);
	end_run(f);
	online_split(f->online, part, rest);
	if (f->hb)
		online_split(f->hb, part, rest);
	return rest;
}

static void cover(struct feeder *f, struct wide run, uint32_t now)
{
	uint32_t end = run.first + run.count;
	g_array_set_size(f->covered, 0);
	for (uint32_t v = run.first; v < end;) {
		uint32_t to = v, part = f->part_of[v] - 1;
		while (part == NONE && to < end && f->part_of[to] == 0)
			to++;
		if (part == NONE)
			part = new_part(f, v, to - v, now);
		else if (g_array_index(f->parts, struct part, part).first < v)
			part = split(f, part, v);
		struct part p = g_array_index(f->parts, struct part, part);
		if (p.first + p.count > end)
			split(f, part, end);
		g_array_append_val(f->covered, part);
		v += g_array_index(f->parts, struct part, part).count;
	}
}

/* The life of the same block that ended last before the event, or NONE. */
static uint32_t earlier_life(const struct trace *t, uint32_t e)
{
	const struct block *b = &t->blocks[t->events[e].target];
	uint32_t last = NONE;
	for (uint32_t i = 0; i < t->blocks_count; i++) {
		const struct block *other = &t->blocks[i];
		if (other->name == b->name && other->address == b->address && other->free < e &&
		    (last == NONE || t->blocks[last].free < other->free))
			last = i;
	}
	return last;
}

static void feed_call(struct feeder *f, struct flow_event *x)
{
	const struct trace *t = f->t;
	const struct invocation_part *part = &t->invocations[t->events[x->number].aux];
	struct value values[MOST_NAMES];
	const struct model_type *type = f->m->objects[x->target].type;
	struct flow_call call = { .type = type ? type->o->name : "",
		                  .method = trace_string(t, part->method),
		                  .values = values,
		                  .arguments = part->arguments,
		                  .results = part->results };
	for (uint32_t i = 0; i < call.arguments + call.results; i++)
		values[i] = trace_value(t, t->value_lists[part->values + i]);
	x->point = x->number;
	x->call = &call;
	end_run(f);
	if (f->calls)
		live_calls_event(f->calls, x);
	pass(f, x);
}

static void feed(struct feeder *f, uint32_t e)
{
	const struct trace *t = f->t;
	const struct event *event = &t->events[e];
	struct flow_event x = { .op = (enum op)event->op,
		                .flags = event->flags,
		                .thread = event->thread,
		                .number = e,
		                .target = event->target,
		                .block = NONE,
		                .point = t->locations[event->location].site };
	if (op_is_access(x.op)) {
		struct wide run = event_variables(t, event);
		x.block = t->variables[run.first].block;
		x.point = f->told ? e : x.point;
		cover(f, run, e);
		x.variables = (const uint32_t *)(void *)f->covered->data;
		x.variables_count = f->covered->len;
		pass_access(f, &x);
		return;
	} else if (op_table[x.op].operand == OPERAND_OBJECT) {
		x.count = t->objects[x.target].count;
		x.block = event_inert(event) ? t->objects[x.target].block
		                             : event_block_used(t, event);
	} else if (x.op == OP_ALLOC) {
		x.block = earlier_life(t, e);
	} else if (op_table[x.op].class == OP_CLASS_CALL && f->m != NULL) {
		feed_call(f, &x);
		return;
	}
	/* Each call has a place of its own, as of the calls at one place the last is kept. */
	if (op_table[x.op].operand == OPERAND_OBJECT || f->told)
		x.point = e;
	pass(f, &x);
}

/* -- a program that compares its accesses itself ------------------------------------------- */

static void begin_segment(struct feeder *f, struct told_thread *t, uint32_t thread, uint32_t e)
{
	if (t->begun)
		return;
	t->begun = true;
	t->number = e;
	t->stay = ++f->stays;
	g_hash_table_remove_all(t->covered);
	online_stay(f->online, thread, e, t->stay);
}

/* Notes the access in a table. False: one that is there covers it. */
static bool note_covered(GHashTable *covered, struct wide run, bool writes)
{
	bool fresh = false;
	for (uint32_t v = run.first; v < run.first + run.count; v++) {
		gpointer read = GUINT_TO_POINTER(2 * v + 1),
		         written = GUINT_TO_POINTER(2 * v + 2);
		bool known = g_hash_table_contains(covered, written) ||
		             (!writes && g_hash_table_contains(covered, read));
		fresh |= !known;
		g_hash_table_add(covered, writes ? written : read);
	}
	return fresh;
}

static void touch(struct feeder *f, uint32_t thread, uint32_t e, uint32_t now, uint32_t late)
{
	const struct event *x = &f->t->events[e];
	const struct wide run = event_variables(f->t, x);
	cover(f, run, now);
	online_touch(f->online, thread, now, late,
	             (struct event_list){ (const uint32_t *)(void *)f->covered->data,
	                                  f->covered->len },
	             f->t->variables[run.first].block, op_writes((enum op)x->op));
}

/* Those that are kept from an index on, at event `now`. */
static void tell_late(struct feeder *f, uint32_t thread, uint32_t from, uint32_t now)
{
	struct told_thread *t = &f->told[thread];
	for (guint i = from; i < t->late->len; i++) {
		const struct told_late *late = &g_array_index(t->late, struct told_late, i);
		if (late->event != NONE)
			touch(f, thread, late->event, now, late->number);
	}
	g_array_set_size(t->late, MIN(from, t->late->len));
	for (guint i = 0; i < t->inside->len; i++) {
		uint32_t *at = &g_array_index(t->inside, struct told_section, i).from;
		*at = MIN(*at, from);
	}
}

/* Those of a block that the thread frees now. */
static void tell_late_of(struct feeder *f, uint32_t thread, uint32_t block, uint32_t now)
{
	struct told_thread *t = &f->told[thread];
	for (guint i = 0; i < t->late->len; i++) {
		struct told_late *late = &g_array_index(t->late, struct told_late, i);
		if (late->event == NONE ||
		    f->t->variables[event_variables(f->t, &f->t->events[late->event]).first]
		                    .block != block)
			continue;
		touch(f, thread, late->event, now, late->number);
		late->event = NONE;
	}
}

static bool all_alone(const struct told_thread *t)
{
	bool alone = true;
	for (guint i = 0; i < t->inside->len; i++)
		alone &= g_array_index(t->inside, struct told_section, i).alone;
	return alone;
}

/* The thread enters or leaves a section. */
static void tell_lock(struct feeder *f, uint32_t e)
{
	const struct event *x = &f->t->events[e];
	struct told_thread *t = &f->told[x->thread];
	uint32_t *left = &f->left[x->target], own = x->thread + 1;
	guint i = t->inside->len;
	if (op_acquires((enum op)x->op)) {
		const struct told_section section = {
			x->target, t->late->len, x->op == OP_ACQ && (*left == 0 || *left == own)
		};
		g_array_append_val(t->inside, section);
		return;
	}
	while (i > 0 && g_array_index(t->inside, struct told_section, i - 1).lock != x->target)
		i--;
	*left = *left == 0 || *left == own ? own : NONE;
	if (i == 0)
		return;
	tell_late(f, x->thread, g_array_index(t->inside, struct told_section, i - 1).from, e);
	g_array_remove_index(t->inside, i - 1);
}

static void tell_access(struct feeder *f, uint32_t e)
{
	const struct event *x = &f->t->events[e];
	struct told_thread *t = &f->told[x->thread];
	struct wide run = event_variables(f->t, x);
	uint32_t block = f->t->variables[run.first].block;
	gpointer key = GUINT_TO_POINTER(block + 1);
	bool lives = block != NONE && f->t->blocks[block].free > e;
	begin_segment(f, t, x->thread, e);
	if (lives) {
		struct told_use *use = g_new(struct told_use, 1);
		*use = (struct told_use){ e, t->number, t->stay };
		g_hash_table_replace(t->uses, key, use);
	}
	bool joins = block != NONE && (!lives || !g_hash_table_contains(t->known, key));
	bool writes = op_writes((enum op)x->op), fresh = note_covered(t->covered, run, writes);
	if (joins) {
		g_hash_table_add(t->known, key);
		feed(f, e);
	} else if (t->inside->len > 0 && fresh && note_covered(t->touched, run, writes)) {
		const struct told_late late = { e, t->number };
		if (all_alone(t))
			g_array_append_val(t->late, late);
		else
			touch(f, x->thread, e, e, NONE);
	}
}

static void tell_uses(struct feeder *f, uint32_t free)
{
	const struct trace *t = f->t;
	uint32_t block = t->events[free].target;
	for (uint32_t u = 0; u < t->threads_count; u++) {
		const struct told_use *use =
		        g_hash_table_lookup(f->told[u].uses, GUINT_TO_POINTER(block + 1));
		if (use == NULL || u == t->events[free].thread || t->blocks[block].free != free)
			continue;
		cover(f, event_variables(t, &t->events[use->event]), use->event);
		struct online_access at = { use->number + 1, u, use->event };
		online_used(f->online, &at, use->stay, block,
		            g_array_index(f->covered, uint32_t, 0));
	}
}

static void tell(struct feeder *f, uint32_t e)
{
	const struct event *x = &f->t->events[e];
	struct told_thread *t = &f->told[x->thread];
	if (x->op <= OP_WRITE && !event_inert(x)) {
		tell_access(f, e);
		return;
	}
	for (uint32_t u = 0; u < f->t->threads_count && x->op == OP_FREE; u++)
		if (u != x->thread)
			tell_late(f, u, 0, e);
		else
			tell_late_of(f, u, x->target, e);
	if (x->op == OP_FREE && !event_inert(x))
		tell_uses(f, e);
	if (op_table[x->op].class == OP_CLASS_CALL)
		tell_late(f, x->thread, 0, e);
	if (!event_inert(x) && (op_acquires((enum op)x->op) || op_releases((enum op)x->op)))
		tell_lock(f, e);
	if (!op_is_access((enum op)x->op) && x->op != OP_ALLOC && x->op != OP_FREE)
		g_hash_table_remove_all(t->touched);
	t->begun = false;
	if (x->op == OP_ALLOC)
		g_hash_table_add(t->known, GUINT_TO_POINTER(x->target + 1));
	feed(f, e);
}

static struct told_thread *told_threads(const struct trace *t)
{
	struct told_thread *all = g_new0(struct told_thread, t->threads_count);
	for (uint32_t u = 0; u < t->threads_count; u++) {
		all[u].inside = g_array_new(FALSE, FALSE, sizeof(struct told_section));
		all[u].late = g_array_new(FALSE, FALSE, sizeof(struct told_late));
		all[u].covered = g_hash_table_new(NULL, NULL);
		all[u].touched = g_hash_table_new(NULL, NULL);
		all[u].uses = g_hash_table_new_full(NULL, NULL, NULL, g_free);
		all[u].known = g_hash_table_new(NULL, NULL);
	}
	return all;
}

static void free_told(struct told_thread *all, const struct trace *t)
{
	for (uint32_t u = 0; u < t->threads_count; u++) {
		g_array_free(all[u].inside, TRUE);
		g_array_free(all[u].late, TRUE);
		g_hash_table_destroy(all[u].covered);
		g_hash_table_destroy(all[u].touched);
		g_hash_table_destroy(all[u].uses);
		g_hash_table_destroy(all[u].known);
	}
	g_free(all);
}

static GHashTable *expected(struct trace *t)
{
	GHashTable *pairs = g_hash_table_new(NULL, NULL);
	struct report *report = report_new(t, "");
	struct race_options options;
	race_options_init(&options);
	struct site_races *races = site_races_new(t, &options);
	stream_sites(t, ORDER_KIND_HB, races, NULL, NULL);
	site_races_report(races, report, "");
	for (guint i = 0; i < report->findings->len; i++) {
		const struct finding *f = report->findings->pdata[i];
		g_hash_table_add(pairs,
		                 as_pair(t->locations[t->events[f->first].location].site,
		                         t->locations[t->events[f->second].location].site));
	}
	site_races_free(races);
	report_free(report);
	return pairs;
}

/* Does the event use the block's contents? */
static bool uses(const struct trace *t, uint32_t e, uint32_t block)
{
	const struct event *x = &t->events[e];
	return op_is_access(x->op) && !event_inert(x) &&
	       t->variables[event_variables(t, x).first].block == block;
}

/* Does the event's thread use the block between the event and the free? */
static bool uses_again(const struct trace *t, uint32_t e, uint32_t free, uint32_t block)
{
	for (uint32_t f = e + 1; f < free; f++)
		if (t->events[f].thread == t->events[e].thread && uses(t, f, block))
			return true;
	return false;
}

/* Is the event an access of the block, of those before the free its thread's last, or another
 * free? */
static bool with_free(const struct trace *t, uint32_t e, uint32_t free, uint32_t block)
{
	const struct event *x = &t->events[e];
	bool again = x->op == OP_FREE && x->target == block && e > free && !event_inert(x);
	return again || (uses(t, e, block) && !uses_again(t, e, free, block));
}

/* The definition: pairs of a block's first free and an access, or another free, unordered by
 * happens-before; of a thread's accesses before the free only the last. */
static GHashTable *expected_frees(struct trace *t)
{
	GHashTable *pairs = g_hash_table_new(NULL, NULL);
	struct order *hb = order_new(t, ORDER_KIND_HB, NULL);
	for (uint32_t b = 0; b < t->blocks_count; b++) {
		uint32_t free = t->blocks[b].free;
		for (uint32_t e = 0; e < t->events_count && free != NONE; e++) {
			if (!with_free(t, e, free, b))
				continue;
			if (e < free ? !order_ordered(hb, e, free)
			             : !order_ordered(hb, free, e))
				g_hash_table_add(pairs, as_pair(e, free));
		}
	}
	order_free(hb);
	return pairs;
}

static struct specs *specs;

/* The definition of those that EDC leaves unordered: those of edc_orders_pair. */
static GHashTable *expected_edc(struct trace *t, const struct edc *edc)
{
	GHashTable *pairs = g_hash_table_new(NULL, NULL);
	for (uint32_t b = 0; b < t->blocks_count; b++) {
		uint32_t free = t->blocks[b].free;
		for (uint32_t e = 0; e < t->events_count && free != NONE; e++) {
			if (!with_free(t, e, free, b) ||
			    t->events[e].thread == t->events[free].thread)
				continue;
			uint32_t first = MIN(e, free), second = MAX(e, free);
			if (!edc_orders_pair(edc, (uint32_t[]){ first, second },
			                     (uint32_t[]){ first, second }))
				g_hash_table_add(pairs, as_pair(e, free));
		}
	}
	return pairs;
}

/* Of two calls the one that begins first first. */
static bool are_apart(struct model *m, const struct edc *edc, const struct call *a,
                      const struct call *b)
{
	const struct model_object *o = &m->objects[a->object];
	bool overflow = false;
	return a->object == b->object &&
	       (o->source == FROM_INSTANCE || o->source == FROM_CONDITION) &&
	       m->t->events[a->end].thread != m->t->events[b->end].thread &&
	       !model_commute(m, a, b, &overflow) &&
	       spec_good_order(o->type->o, a->method, b->method) >= 0 &&
	       !edc_orders_pair(edc, (uint32_t[]){ a->event, b->event },
	                        (uint32_t[]){ a->end, b->end });
}

/* The same of calls of specified objects and of conditions, by where they begin. */
static GHashTable *expected_calls(struct model *m, const struct edc *edc)
{
	GHashTable *pairs = g_hash_table_new(NULL, NULL);
	struct call_scratch scratch[2];
	struct call a[MOST_CALLS], b[MOST_CALLS];
	for (uint32_t e = 0; e < m->t->events_count; e++)
		for (uint32_t f = 0; f < m->t->events_count; f++) {
			uint32_t first = model_calls(m, e, a, &scratch[0]);
			uint32_t second = model_calls(m, f, b, &scratch[1]);
			for (uint32_t i = 0; i < first; i++)
				for (uint32_t k = 0; k < second; k++)
					if (a[i].event < b[k].event &&
					    are_apart(m, edc, &a[i], &b[k]))
						g_hash_table_add(
						        pairs, as_pair(a[i].event, b[k].event));
		}
	return pairs;
}

static uint64_t pairs_seen, frees_seen, edc_seen, edc_alone, bounded_seen, turned_seen;

static int64_t find_text(void *context, const char *text, size_t length)
{
	const struct trace *t = context;
	for (uint32_t i = 0; i < t->values_count; i++)
		if (trace_value(t, i).kind == V_STRING &&
		    strcmp(trace_string(t, trace_value(t, i).string), text) == 0)
			return trace_value(t, i).string;
	return -1;
}

static void run_through(struct feeder *f, struct online *online)
{
	const struct trace *t = f->t;
	f->online = online;
	f->hb = online_items(online) && !f->told
	                ? online_new(&(struct online_sink){ .race = on_ignored_race,
	                                                    .use_after_free = on_ignored_use })
	                : NULL;
	f->calls = f->m && online_items(online) ? live_calls_new(f->m->specs, online, find_text,
	                                                         (void *)(uintptr_t)t)
	                                        : NULL;
	f->parts = g_array_new(FALSE, FALSE, sizeof(struct part));
	f->covered = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	f->part_of = g_new0(uint32_t, t->variables_count + 1);
	for (uint32_t e = 0; e < t->events_count; e++) {
		if (f->told)
			tell(f, e);
		else
			feed(f, e);
	}
	end_run(f);
	online_end(online);
	online_free(online);
	online_free(f->hb);
	live_calls_free(f->calls);
	g_array_free(f->parts, TRUE);
	g_array_free(f->covered, TRUE);
	g_free(f->part_of);
}

static guint common(GHashTable *a, GHashTable *b)
{
	GHashTableIter pairs;
	gpointer pair;
	guint count = 0;
	g_hash_table_iter_init(&pairs, a);
	while (g_hash_table_iter_next(&pairs, &pair, NULL))
		count += g_hash_table_contains(b, pair);
	return count;
}

static bool is_same(GHashTable *a, GHashTable *b)
{
	return g_hash_table_size(a) == g_hash_table_size(b) &&
	       common(a, b) == g_hash_table_size(a);
}

/* Is the second set as the first? With a bound edges may be lost, and no pairs. */
static bool is_found(const char *kind, GHashTable *wanted, GHashTable *found,
                     GHashTable *bounded)
{
	bool equal =
	        is_same(wanted, found) && common(found, bounded) == g_hash_table_size(found);
	if (!equal)
		printf("%s by edc %u, bounded %u, by definition %u, in common %u\n", kind,
		       g_hash_table_size(found), g_hash_table_size(bounded),
		       g_hash_table_size(wanted), common(wanted, found));
	return equal;
}

static bool same_edc(struct model *m, GHashTable *by_hb)
{
	struct trace *t = m->t;
	struct edc *edc = edc_new(m, false, NULL, NULL);
	g_autoptr(GHashTable) wanted = expected_edc(t, edc), calls = expected_calls(m, edc);
	g_autoptr(GHashTable) found = g_hash_table_new(NULL, NULL);
	g_autoptr(GHashTable) bounded = g_hash_table_new(NULL, NULL);
	g_autoptr(GHashTable) turned = g_hash_table_new(NULL, NULL);
	g_autoptr(GHashTable) bounded_turned = g_hash_table_new(NULL, NULL);
	g_autoptr(GHashTable) told = g_hash_table_new(NULL, NULL);
	g_autoptr(GHashTable) told_turned = g_hash_table_new(NULL, NULL);
	struct feeder f = { .t = t, .m = m, .freed = found, .turned = turned, .inside = true };
	struct online_sink sink = { .context = &f,
		                    .race = on_race,
		                    .use_after_free = on_use_after_free,
		                    .turn = on_turn,
		                    .asks = asks };
	run_through(&f, online_new_edc(&sink, 0));
	f.freed = bounded;
	f.turned = bounded_turned;
	run_through(&f, online_new_edc(&sink, 1));
	f.freed = told;
	f.turned = told_turned;
	f.singly = true;
	f.told = told_threads(t);
	f.left = g_new0(uint32_t, t->objects_count + 1);
	run_through(&f, online_new_edc(&sink, 0));
	free_told(f.told, t);
	g_free(f.left);
	edc_free(edc);
	edc_seen += g_hash_table_size(found);
	edc_alone += g_hash_table_size(found) - common(found, by_hb);
	bounded_seen += g_hash_table_size(bounded);
	turned_seen += g_hash_table_size(turned);
	return is_found("frees", wanted, found, bounded) &&
	       is_found("calls", calls, turned, bounded_turned) &&
	       is_found("told frees", wanted, told, told) &&
	       is_found("told calls", calls, told_turned, told_turned) && f.inside;
}

static bool same(uint64_t seed, struct model *m)
{
	struct trace *t = m->t;
	struct feeder f = { .t = t,
		            .singly = seed % 4 == 0,
		            .pairs = g_hash_table_new(NULL, NULL),
		            .freed = g_hash_table_new(NULL, NULL),
		            .inside = true };
	g_autoptr(GHashTable) wanted = expected(t), frees = expected_frees(t);
	run_through(&f,
	            online_new(&(struct online_sink){ .context = &f,
	                                              .race = on_race,
	                                              .use_after_free = on_use_after_free }));
	bool equal = is_same(wanted, f.pairs) && is_same(frees, f.freed) && f.inside;
	if (t->blocks_count > 0 || t->objects_count > 0)
		equal &= same_edc(m, f.freed);
	pairs_seen += g_hash_table_size(f.pairs);
	frees_seen += g_hash_table_size(f.freed);
	if (!equal) {
		char *text = trace_text(t);
		printf("seed %lu: %u pairs, of the whole trace %u; %u frees, by definition "
		       "%u\n%s",
		       (unsigned long)seed, g_hash_table_size(f.pairs),
		       g_hash_table_size(wanted), g_hash_table_size(f.freed),
		       g_hash_table_size(frees), text);
		g_free(text);
	}
	g_hash_table_destroy(f.freed);
	g_hash_table_destroy(f.pairs);
	return equal;
}

/* Threads that nearly always hold a lock, some of them shared, and a block that is freed and
 * allocated again: most pairs are ordered by happens-before, and EDC leaves many of these
 * apart. */
static struct trace *sections_trace(uint64_t seed)
{
	enum { THREADS = 4, LOCKS = 3, DEPTH = 2, STEPS = 60 };
	struct error error;
	GRand *r = g_rand_new_with_seed((guint32)seed);
	int threads = g_rand_int_range(r, 2, THREADS + 1);
	int locks = g_rand_int_range(r, 1, LOCKS + 1), variables = g_rand_int_range(r, 1, 4);
	int held[THREADS][DEPTH], depth[THREADS] = { 0 }, line = 1;
	bool taken[LOCKS] = { false }, shared[LOCKS] = { false }, freed = false;
	GString *out = g_string_new("T0|alloc(p,8)|0\n");
	for (int i = 0; i < STEPS; i++, line++) {
		int t = g_rand_int_range(r, 0, threads), l = g_rand_int_range(r, 0, locks);
		int what = g_rand_int_range(r, 0, 100);
		if (depth[t] < DEPTH && !taken[l] && (depth[t] == 0 ? what < 90 : what < 15)) {
			held[t][depth[t]++] = l;
			taken[l] = true;
			shared[l] = g_rand_int_range(r, 0, 4) == 0;
			g_string_append_printf(out, "T%d|%sacq(l%d)|%d\n", t,
			                       shared[l] ? "r" : "", l, line);
		} else if (depth[t] > 0 && what < 45) {
			l = held[t][--depth[t]];
			taken[l] = false;
			g_string_append_printf(out, "T%d|%srel(l%d)|%d\n", t,
			                       shared[l] ? "r" : "", l, line);
		} else if (what < 70) {
			g_string_append_printf(out, "T%d|%c(x%d)|%d\n", t, what % 3 ? 'r' : 'w',
			                       g_rand_int_range(r, 0, variables), line);
		} else if (!freed && i > STEPS / 4 && what < 80) {
			freed = true;
			g_string_append_printf(out, "T%d|free(p)|%d\n", t, line);
		} else if (freed && what < 85) { /* its memory is used again */
			freed = false;
			g_string_append_printf(out, "T%d|alloc(p,8)|%d\n", t, line);
		} else if (!freed || what < 75) {
			g_string_append_printf(out, "T%d|%c(p.f%d)|%d\n", t,
			                       what % 2 ? 'r' : 'w', what % 4 / 2, line);
		}
	}
	struct trace *t = trace_from_text("sections", out->str, out->len,
	                                  &(struct trace_options){ 0 }, &error);
	if (t == NULL)
		BUG("seed %lu: %s\n%s", (unsigned long)seed, error.what, out->str);
	g_string_free(out, TRUE);
	g_rand_free(r);
	return t;
}

/* Short sections on one lock, that access memory whole or in parts, and of which one frees a
 * block that the others use: EDC orders them by what they touch of that memory. */
static struct trace *parts_trace(uint64_t seed)
{
	enum { THREADS = 3, SECTIONS = 6, WHOLE = 8 };
	struct error error;
	GRand *r = g_rand_new_with_seed((guint32)seed);
	int free = g_rand_int_range(r, 0, SECTIONS);
	GString *out = g_string_new("T0|alloc(p,8)|0\n");
	for (int i = 0; i < SECTIONS; i++) {
		int t = g_rand_int_range(r, 0, THREADS);
		int use = g_rand_int_range(r, 0, 3), line = 10 * i;
		g_string_append_printf(out, "T%d|acq(l)|%d\n", t, line++);
		for (int k = 0; k < 3; k++, line++) {
			int bytes = g_rand_int_range(r, 0, 3) ? 2 : WHOLE;
			int at = 2 * g_rand_int_range(r, 0, (WHOLE - bytes) / 2 + 1);
			if (k != use)
				g_string_append_printf(out, "T%d|%c%d(m+%d)|%d\n", t,
				                       g_rand_boolean(r) ? 'w' : 'r', bytes, at,
				                       line);
			else if (i <= free)
				g_string_append_printf(out, "T%d|%s|%d\n", t,
				                       i < free ? "r(p.f)" : "free(p)", line);
		}
		g_string_append_printf(out, "T%d|rel(l)|%d\n", t, line);
	}
	struct trace *t = trace_from_text("parts", out->str, out->len,
	                                  &(struct trace_options){ 0 }, &error);
	if (t == NULL)
		BUG("seed %lu: %s\n%s", (unsigned long)seed, error.what, out->str);
	g_string_free(out, TRUE);
	g_rand_free(r);
	return t;
}

/* Are all pairs of methods, and all invocations, known by their access points? */
static bool has_points(const struct model *m)
{
	for (uint32_t i = 0; i < m->object_count; i++) {
		const struct model_object *o = &m->objects[i];
		if (o->type == NULL)
			continue;
		for (guint k = 0; k < o->type->o->methods->len; k++)
			if (o->pairwise || points_any_pairwise(o->type->points, k))
				return false;
	}
	return true;
}

/* Random specifications in ECL, and traces of invocations under locks. */
static bool one_of_calls(uint64_t seed)
{
	struct random_case c;
	random_case_make(&c, seed, true);
	bool equal = !has_points(c.m) || same(seed, c.m);
	random_case_release(&c);
	return equal;
}

static bool one(uint64_t seed)
{
	struct random_options options =
	        mix_options(seed, 2 + seed % 5, seed % 4 == 0 ? 60 : 20 + seed % 20);
	struct error error;
	/* Trees are made for the most threads there may be, 12 MB each: a sixth of the seeds
	 * has them. */
	mix_clocks(seed % 3 == 0 ? seed : seed & ~(uint64_t)2);
	if (seed % 5 == 4)
		return one_of_calls(seed);
	options.blocks |= seed % 2;
	struct trace *t = seed % 4 == 3   ? sections_trace(seed)
	                  : seed % 8 == 6 ? parts_trace(seed)
	                                  : random_trace(seed, &options);
	if (t == NULL)
		return true;
	struct model *m = model_new(t, specs, NULL, &error);
	bool equal = same(seed, m);
	model_free(m);
	trace_close(t);
	return equal;
}

int main(int argc, char **argv)
{
	static const char *const used[] = { "specs/memory.spec", "specs/condvar.spec" };
	struct error error;
	specs = specs_new();
	for (size_t i = 0; i < G_N_ELEMENTS(used); i++) {
		g_autofree char *path = home_find(used[i]);
		if (path == NULL || !specs_load(specs, path, &error))
			return EXIT_FAILURE;
	}
	int status = mix_main(argc, argv, "online", 2000, one);
	printf("online: %lu pairs, %lu accesses unordered with a free, "
	       "by edc %lu (%lu not by hb), bounded %lu, %lu pairs of calls, memory used "
	       "again %lu times, %lu accesses in runs\n",
	       (unsigned long)pairs_seen, (unsigned long)frees_seen, (unsigned long)edc_seen,
	       (unsigned long)edc_alone, (unsigned long)bounded_seen,
	       (unsigned long)turned_seen, (unsigned long)reused,
	       (unsigned long)accesses_in_runs);
	specs_free(specs);
	return status;
}
