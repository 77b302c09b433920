/*
 * prop_sample.c - sampled traces: of random traces plain accesses are dropped at random, as
 * `record --sample` leaves them out, and happens-before's races of the rest are compared with
 * the whole: each pair is unordered and conflicting there, and if one exists, exhaustive
 * search over the whole trace's reorderings finds a race. No report is complete, no pair is
 * impossible, and the lockset's pairs are the whole trace's as well.
 */
#include "engine/order/order.h"
#include "engine/predict/predict.h"
#include "engine/trace/formats.h"
#include "tests/property/mix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 20 };
static uint64_t dropped_in_all, races_in_all, searched, missed;

/* Each plain access is dropped with a chance of 1/2; ids[]: of the events that are kept. */
static struct trace *sampled(const struct trace *t, uint64_t seed, uint32_t *ids)
{
	struct error e;
	uint64_t keep = 0;
	uint32_t count = 0, threads = 0;
	GString *text = g_string_new(NULL);

	for (uint32_t i = 0; i < t->events_count; i++) {
		const struct event *x = &t->events[i];
		bool plain = (x->op == OP_READ || x->op == OP_WRITE) && !event_inert(x);
		seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
		/* the recorder has an event of every thread */
		bool first = !(threads >> x->thread & 1);
		threads |= UINT32_C(1) << x->thread;
		if (plain && !first && seed >> 63) {
			dropped_in_all++;
			continue;
		}
		keep |= UINT64_C(1) << i;
		ids[count++] = i;
	}
	trace_print(t, TRACE_TEXT, &keep, text, NULL);
	char *end = strchr(text->str, '\n');
	if (end)
		g_string_insert(text, end + 1 - text->str, "#! note " TRACE_SAMPLE_NOTE " 2\n");
	struct trace *less = trace_from_text("less", text->str, text->len, NULL, &e);
	if (less == NULL || less->events_count != count || trace_sampled(less) != 2) {
		printf("not read again:\n%s", text->str);
		trace_close(less);
		less = NULL;
	}
	g_string_free(text, TRUE);
	return less;
}

static struct report *races(struct trace *t, enum analysis analysis)
{
	struct race_options o;
	struct error e;

	race_options_init(&o);
	o.analysis = analysis;
	o.pairs_events = true;
	return races_find(t, &o, NULL, &e);
}

static bool any_race(const struct trace *t)
{
	bool *all = oracle_races(t, false), any = false;

	for (uint64_t i = 0; i < t->events_count * t->events_count; i++)
		any = any || all[i];
	free(all);
	return any;
}

static bool modest(const struct report *r)
{
	bool good = !r->complete;

	for (guint i = 0; i < r->findings->len; i++)
		good = good &&
		       ((struct finding *)r->findings->pdata[i])->verdict != VERDICT_IMPOSSIBLE;
	return good;
}

/* Happens-before's races of the sample are of the whole. */
static bool found_in(struct trace *t, struct trace *less, const uint32_t *ids)
{
	struct order *order = order_new(t, ORDER_KIND_HB, NULL);
	struct report *r = races(less, ANALYSIS_HB);
	bool good = r && modest(r);
	guint found = r ? r->findings->len : 0;

	for (guint i = 0; good && i < found; i++) {
		const struct finding *f = r->findings->pdata[i];
		uint32_t first = ids[f->first], second = ids[f->second];
		good = !order_ordered(order, first, second) &&
		       events_race_conflict(t, first, second);
		if (!good)
			printf("events %u and %u are no race of the whole trace\n", first,
			       second);
	}
	if (good && found && trace_need(t, INDEX_WRITERS | INDEX_MATCH, NULL) &&
	    !mix_hides_c11(t)) {
		searched++;
		good = any_race(t);
		if (!good)
			printf("exhaustive search finds no race in the whole trace\n");
	}
	races_in_all += found;
	report_free(r);
	r = races(t, ANALYSIS_HB);
	missed += r && r->findings->len > 0 && found == 0;
	report_free(r);
	order_free(order);
	return good;
}

static bool same_pair(const struct finding *f, uint32_t first, uint32_t second)
{
	return f->first == first && f->second == second;
}

/* The same of pairs without a common lock. */
static bool unlocked_in(struct trace *t, struct trace *less, const uint32_t *ids)
{
	struct report *whole = races(t, ANALYSIS_LOCKSET),
	              *part = races(less, ANALYSIS_LOCKSET);
	bool good = whole && part && modest(part);

	for (guint i = 0; good && i < part->findings->len; i++) {
		const struct finding *f = part->findings->pdata[i];
		bool found = false;
		for (guint k = 0; k < whole->findings->len && !found; k++)
			found = same_pair(whole->findings->pdata[k], ids[f->first],
			                  ids[f->second]);
		good = found;
		if (!good)
			printf("lockset: events %u and %u\n", ids[f->first], ids[f->second]);
	}
	report_free(whole);
	report_free(part);
	return good;
}

static bool one(uint64_t seed)
{
	struct random_options options = mix_options(seed, 2 + seed % 3, MOST);
	/* The first access to a block comes after its allocation in another thread; where
	 * nothing else orders the two, a sample without that access does not have the order
	 * (docs/recording.md). */
	options.blocks = false;
	struct trace *t = random_trace(seed, &options);
	uint32_t ids[64];
	struct trace *less = t && t->events_count <= MOST ? sampled(t, seed, ids) : NULL;
	bool good = !t || t->events_count > MOST ||
	            (less && found_in(t, less, ids) && unlocked_in(t, less, ids));

	if (!good) {
		char *text = trace_text(t);
		printf("of:\n%s", text);
		g_free(text);
	}
	trace_close(less);
	trace_close(t);
	return good;
}

int main(int argc, char **argv)
{
	int status = mix_main(argc, argv, "sample", 3000, one);

	printf("sample: %" G_GUINT64_FORMAT " accesses dropped, %" G_GUINT64_FORMAT
	       " races found, %" G_GUINT64_FORMAT " traces searched, in %" G_GUINT64_FORMAT
	       " all races lost\n",
	       dropped_in_all, races_in_all, searched, missed);
	if (status == 0 && (dropped_in_all == 0 || races_in_all == 0 || missed == 0))
		return EXIT_FAILURE;
	return status;
}
