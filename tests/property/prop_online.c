/*
 * prop_online.c - happens-before event by event (online.h) against the pass over the whole
 * trace (stream_sites): the same pairs of sites; and its uses after free against their
 * definition. On random traces with every kind of operation, and with memory that is divided as
 * it is accessed.
 */
#include "engine/predict/pairs/online.h"
#include "engine/predict/pairs/pairs.h"
#include "tests/property/mix.h"

#include <stdio.h>
#include <string.h>

/* A run of the trace's variables that no access has divided so far. */
struct part {
	uint32_t first, count;
};
struct feeder {
	const struct trace *t;
	struct online *online;
	GHashTable *pairs; /* of sites */
	GHashTable *freed; /* of events: an access and a free, or two frees */
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
                              const struct flow_event *x, uint32_t block, uint32_t variable)
{
	struct feeder *f = context;
	g_hash_table_add(f->freed, as_pair(first->time - 1, x->number));
	f->inside &= x->op == OP_FREE && f->t->events[first->time - 1].op == OP_FREE
	                     ? variable == NONE
	                     : variable < f->parts->len;
}

static uint32_t add_part(struct feeder *f, uint32_t first, uint32_t count)
{
	struct part part = { first, count };
	g_array_append_val(f->parts, part);
	for (uint32_t v = first; v < first + count; v++)
		f->part_of[v] = f->parts->len;
	return f->parts->len - 1;
}

static uint32_t split(struct feeder *f, uint32_t part, uint32_t at)
{
	struct part *p = &g_array_index(f->parts, struct part, part);
	uint32_t end = p->first + p->count;
	p->count = at - p->first;
	uint32_t rest = add_part(f, at, end - at);
	online_split(f->online, part, rest);
	return rest;
}

static void cover(struct feeder *f, struct wide run)
{
	uint32_t end = run.first + run.count;
	g_array_set_size(f->covered, 0);
	for (uint32_t v = run.first; v < end;) {
		uint32_t to = v, part = f->part_of[v] - 1;
		while (part == NONE && to < end && f->part_of[to] == 0)
			to++;
		if (part == NONE)
			part = add_part(f, v, to - v);
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
		cover(f, run);
		x.variables = (const uint32_t *)(void *)f->covered->data;
		x.variables_count = f->covered->len;
	} else if (op_table[x.op].operand == OPERAND_OBJECT) {
		x.count = t->objects[x.target].count;
		x.block = event_inert(event) ? t->objects[x.target].block
		                             : event_block_used(t, event);
	} else if (x.op == OP_ALLOC) {
		x.block = earlier_life(t, e);
	}
	online_event(f->online, &x);
}

static GHashTable *expected(struct trace *t)
{
	GHashTable *pairs = g_hash_table_new(NULL, NULL);
	struct report *report = report_new(t, "");
	struct race_options options;
	race_options_init(&options);
	struct site_races *races = site_races_new(t, &options);
	stream_sites(t, ORDER_KIND_HB, races, NULL);
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

/* The definition: pairs of a block's first free and an access, or another free, unordered by
 * happens-before; of a thread's accesses before the free only the last. */
static GHashTable *expected_frees(struct trace *t)
{
	GHashTable *pairs = g_hash_table_new(NULL, NULL);
	struct order *hb = order_new(t, ORDER_KIND_HB, NULL);
	for (uint32_t b = 0; b < t->blocks_count; b++) {
		uint32_t free = t->blocks[b].free;
		for (uint32_t e = 0; e < t->events_count && free != NONE; e++) {
			const struct event *x = &t->events[e];
			bool again = x->op == OP_FREE && x->target == b && e > free &&
			             !event_inert(x);
			if (!again && (!uses(t, e, b) || uses_again(t, e, free, b)))
				continue;
			if (e < free ? !order_ordered(hb, e, free)
			             : !order_ordered(hb, free, e))
				g_hash_table_add(pairs, as_pair(e, free));
		}
	}
	order_free(hb);
	return pairs;
}

static bool same_set(GHashTable *a, GHashTable *b)
{
	GHashTableIter pairs;
	gpointer pair;
	bool equal = g_hash_table_size(a) == g_hash_table_size(b);
	g_hash_table_iter_init(&pairs, a);
	while (g_hash_table_iter_next(&pairs, &pair, NULL))
		equal &= g_hash_table_contains(b, pair);
	return equal;
}

static uint64_t pairs_seen, frees_seen;

static bool same(uint64_t seed, struct trace *t)
{
	struct feeder f = { .t = t,
		            .pairs = g_hash_table_new(NULL, NULL),
		            .freed = g_hash_table_new(NULL, NULL),
		            .inside = true };
	g_autoptr(GHashTable) wanted = expected(t), frees = expected_frees(t);
	f.online = online_new(&(struct online_sink){ &f, on_race, on_use_after_free });
	f.parts = g_array_new(FALSE, FALSE, sizeof(struct part));
	f.covered = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	f.part_of = g_new0(uint32_t, t->variables_count + 1);
	for (uint32_t e = 0; e < t->events_count; e++)
		feed(&f, e);
	bool equal = same_set(wanted, f.pairs) && same_set(frees, f.freed) && f.inside;
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
	g_array_free(f.parts, TRUE);
	g_array_free(f.covered, TRUE);
	g_free(f.part_of);
	online_free(f.online);
	return equal;
}

static bool one(uint64_t seed)
{
	struct random_options options =
	        mix_options(seed, 2 + seed % 5, seed % 4 == 0 ? 60 : 20 + seed % 20);
	struct trace *t = random_trace(seed, &options);
	bool equal = t == NULL || same(seed, t);
	trace_close(t);
	return equal;
}

int main(int argc, char **argv)
{
	int status = mix_main(argc, argv, "online", 4000, one);
	printf("online: %lu pairs, %lu accesses unordered with a free\n",
	       (unsigned long)pairs_seen, (unsigned long)frees_seen);
	return status;
}
