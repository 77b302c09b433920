/*
 * prop_online.c - happens-before event by event (online.h) against the pass over the whole
 * trace (stream_sites): the same pairs of sites; and its uses after free against their
 * definition. On random traces with every kind of operation, and with memory that is divided as
 * it is accessed.
 */
#include "engine/base/home.h"
#include "engine/commute/edc.h"
#include "engine/predict/pairs/online.h"
#include "engine/predict/pairs/pairs.h"
#include "engine/trace/formats.h"
#include "tests/property/mix.h"

#include <stdio.h>
#include <stdlib.h>
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

/* Is a lock held at both events? */
static bool common_lock(const struct trace *t, uint32_t e, uint32_t f)
{
	for (uint32_t a = 0; a < e; a++)
		for (uint32_t b = 0; b < f; b++) {
			const struct event *x = &t->events[a], *y = &t->events[b];
			uint32_t ends[2] = { t->index->partner[a], t->index->partner[b] };
			if (op_acquires(x->op) && op_acquires(y->op) && !event_inert(x) &&
			    !event_inert(y) && x->target == y->target &&
			    x->thread == t->events[e].thread &&
			    y->thread == t->events[f].thread &&
			    (ends[0] == NONE || ends[0] > e) &&
			    (ends[1] == NONE || ends[1] > f))
				return true;
		}
	return false;
}

/* The definition of those that EDC leaves unordered: those of edc_orders_pair under no common
 * lock. */
static GHashTable *expected_edc(struct trace *t)
{
	GHashTable *pairs = g_hash_table_new(NULL, NULL);
	struct error error;
	struct model *m = model_new(t, specs, NULL, &error);
	struct edc *edc = edc_new(m, false, NULL);
	for (uint32_t b = 0; b < t->blocks_count; b++) {
		uint32_t free = t->blocks[b].free;
		for (uint32_t e = 0; e < t->events_count && free != NONE; e++) {
			if (!with_free(t, e, free, b) ||
			    t->events[e].thread == t->events[free].thread)
				continue;
			uint32_t first = MIN(e, free), second = MAX(e, free);
			if (!common_lock(t, first, second) &&
			    !edc_orders_pair(edc, first, second))
				g_hash_table_add(pairs, as_pair(e, free));
		}
	}
	edc_free(edc);
	model_free(m);
	return pairs;
}

static uint64_t pairs_seen, frees_seen, edc_seen, edc_alone, bounded_seen;

static void run_through(struct feeder *f, struct online *online)
{
	const struct trace *t = f->t;
	f->online = online;
	f->parts = g_array_new(FALSE, FALSE, sizeof(struct part));
	f->covered = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	f->part_of = g_new0(uint32_t, t->variables_count + 1);
	for (uint32_t e = 0; e < t->events_count; e++)
		feed(f, e);
	online_free(online);
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

static bool same_edc(struct trace *t, GHashTable *by_hb)
{
	g_autoptr(GHashTable) wanted = expected_edc(t);
	g_autoptr(GHashTable) found = g_hash_table_new(NULL, NULL);
	g_autoptr(GHashTable) bounded = g_hash_table_new(NULL, NULL);
	struct feeder f = { .t = t, .freed = found, .inside = true };
	struct online_sink sink = { &f, on_race, on_use_after_free };
	run_through(&f, online_new_edc(&sink, 0));
	f.freed = bounded;
	run_through(&f, online_new_edc(&sink, 1));
	edc_seen += g_hash_table_size(found);
	edc_alone += g_hash_table_size(found) - common(found, by_hb);
	bounded_seen += g_hash_table_size(bounded);
	/* A bound loses edges, no pairs. */
	bool equal = is_same(wanted, found) &&
	             common(found, bounded) == g_hash_table_size(found) && f.inside;
	if (!equal)
		printf("by edc %u, bounded %u, by definition %u\n", g_hash_table_size(found),
		       g_hash_table_size(bounded), g_hash_table_size(wanted));
	return equal;
}

static bool same(uint64_t seed, struct trace *t)
{
	struct feeder f = { .t = t,
		            .pairs = g_hash_table_new(NULL, NULL),
		            .freed = g_hash_table_new(NULL, NULL),
		            .inside = true };
	g_autoptr(GHashTable) wanted = expected(t), frees = expected_frees(t);
	run_through(&f, online_new(&(struct online_sink){ &f, on_race, on_use_after_free }));
	bool equal = is_same(wanted, f.pairs) && is_same(frees, f.freed) && f.inside;
	equal &= same_edc(t, f.freed);
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

/* Threads that nearly always hold a lock, and a block that one of them frees: most pairs are
 * ordered by happens-before, and EDC leaves many of these apart. */
static struct trace *sections_trace(uint64_t seed)
{
	enum { THREADS = 4, LOCKS = 3, DEPTH = 2, STEPS = 60 };
	struct error error;
	GRand *r = g_rand_new_with_seed((guint32)seed);
	int threads = g_rand_int_range(r, 2, THREADS + 1);
	int locks = g_rand_int_range(r, 1, LOCKS + 1), variables = g_rand_int_range(r, 1, 4);
	int held[THREADS][DEPTH], depth[THREADS] = { 0 }, line = 1;
	bool taken[LOCKS] = { false }, freed = false;
	GString *out = g_string_new("T0|alloc(p,8)|0\n");
	for (int i = 0; i < STEPS; i++, line++) {
		int t = g_rand_int_range(r, 0, threads), l = g_rand_int_range(r, 0, locks);
		int what = g_rand_int_range(r, 0, 100);
		if (depth[t] < DEPTH && !taken[l] && (depth[t] == 0 ? what < 90 : what < 15)) {
			held[t][depth[t]++] = l;
			taken[l] = true;
			g_string_append_printf(out, "T%d|acq(l%d)|%d\n", t, l, line);
		} else if (depth[t] > 0 && what < 45) {
			l = held[t][--depth[t]];
			taken[l] = false;
			g_string_append_printf(out, "T%d|rel(l%d)|%d\n", t, l, line);
		} else if (what < 70) {
			g_string_append_printf(out, "T%d|%c(x%d)|%d\n", t, what % 3 ? 'r' : 'w',
			                       g_rand_int_range(r, 0, variables), line);
		} else if (!freed && i > STEPS / 2 && what < 80) {
			freed = true;
			g_string_append_printf(out, "T%d|free(p)|%d\n", t, line);
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

static bool one(uint64_t seed)
{
	struct random_options options =
	        mix_options(seed, 2 + seed % 5, seed % 4 == 0 ? 60 : 20 + seed % 20);
	options.blocks |= seed % 2;
	struct trace *t = seed % 4 == 3 ? sections_trace(seed) : random_trace(seed, &options);
	bool equal = t == NULL || same(seed, t);
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
	int status = mix_main(argc, argv, "online", 4000, one);
	printf("online: %lu pairs, %lu accesses unordered with a free, "
	       "by edc %lu (%lu not by hb), bounded %lu\n",
	       (unsigned long)pairs_seen, (unsigned long)frees_seen, (unsigned long)edc_seen,
	       (unsigned long)edc_alone, (unsigned long)bounded_seen);
	specs_free(specs);
	return status;
}
