/*
 * lockset.c - conflicting accesses whose threads hold no common lock, whatever their order
 * (after Eraser, Savage et al., 1997).
 *
 * As no order comes in, accesses of one variable by one thread at one site with one set of
 * locks are all alike: pairs of such classes are looked at, not pairs of events.  No
 * predictable race is missed, so the report is complete.
 */
#include "engine/predict/candidates.h"
#include "engine/predict/pairs.h"

#include <string.h>

/* Events of one variable are far apart: they are fetched some accesses ahead. */
enum { AHEAD = 16, FIRST_SLOTS = 64 };

struct class
{
	uint32_t site, lockset;
	uint16_t thread;
	bool writes, atomic;
	uint32_t first; /* event */
	uint64_t count;
};
struct classes {
	struct trace *t;
	const struct locksets *locksets;
	GArray *of;   /* struct class of the variable at hand, by their first events */
	GArray *sets; /* uint32_t: the sets of locks in them, each once */
	/* Where a class is in `of`, open-addressed; variable + 1 above the index, so that what
	 * other variables left is no entry. */
	uint64_t *slots;
	uint32_t slots_count; /* a power of two */
};

static bool same_class(const struct class *a, const struct class *b)
{
	return a->site == b->site && a->lockset == b->lockset && a->thread == b->thread &&
	       a->writes == b->writes && a->atomic == b->atomic;
}

static uint32_t class_hash(const struct class *a)
{
	uint64_t key = (uint64_t)a->site << 32 | a->lockset;

	key ^= ((uint64_t)a->thread << 2 | a->writes << 1 | a->atomic) * 0xff51afd7ed558ccdu;
	return (uint32_t)(key * 0x9e3779b97f4a7c15u >> 32);
}

static uint64_t *slot_of(const struct classes *c, const struct class *wanted, uint32_t variable)
{
	uint32_t at = class_hash(wanted) & (c->slots_count - 1);

	for (; c->slots[at] >> 32 == variable + 1; at = (at + 1) & (c->slots_count - 1)) {
		if (same_class(&g_array_index(c->of, struct class, (uint32_t)c->slots[at]),
		               wanted))
			break;
	}
	return &c->slots[at];
}

static void slots_grow(struct classes *c, uint32_t variable)
{
	c->slots_count *= 2;
	g_free(c->slots);
	c->slots = g_new0(uint64_t, c->slots_count);
	for (guint i = 0; i < c->of->len; i++)
		*slot_of(c, &g_array_index(c->of, struct class, i), variable) =
		        (uint64_t)(variable + 1) << 32 | i;
}

static void class_new(struct classes *c, const struct class *new, uint64_t *slot,
                      uint32_t variable)
{
	guint i = 0;

	*slot = (uint64_t)(variable + 1) << 32 | c->of->len;
	g_array_append_val(c->of, *new);
	while (i < c->sets->len && g_array_index(c->sets, uint32_t, i) != new->lockset)
		i++;
	if (i == c->sets->len)
		g_array_append_val(c->sets, new->lockset);
	if (2 * c->of->len > c->slots_count)
		slots_grow(c, variable);
}

/* Do two threads access the variable, and does one write? */
static bool shared(const struct trace *t, struct event_list list)
{
	bool threads = false, writes = false;

	for (uint64_t i = 0; i < list.count && !(threads && writes); i++) {
		const struct event *x = &t->events[list.items[i]];

		__builtin_prefetch(&t->events[list.items[MIN(i + AHEAD, list.count - 1)]]);
		threads |= x->thread != t->events[list.items[0]].thread;
		writes |= op_writes(x->op);
	}
	return threads && writes;
}

static void classify(struct classes *c, uint32_t variable)
{
	struct event_list list = event_list_at(&c->t->index->variable_events, variable);

	g_array_set_size(c->of, 0);
	g_array_set_size(c->sets, 0);
	if (!shared(c->t, list))
		return;
	for (uint64_t i = 0; i < list.count; i++) {
		uint32_t e = list.items[i], ahead = list.items[MIN(i + AHEAD, list.count - 1)];
		const struct event *x = &c->t->events[e];
		struct class class = { .site = c->t->locations[x->location].site,
			               .lockset = lockset_at(c->locksets, e),
			               .thread = x->thread,
			               .writes = op_writes(x->op),
			               .atomic = op_is_atomic(x->op),
			               .first = e };
		uint64_t *slot = slot_of(c, &class, variable);

		__builtin_prefetch(&c->t->events[ahead]);
		__builtin_prefetch(lockset_place(c->locksets, ahead));
		if (*slot >> 32 == variable + 1) {
			g_array_index(c->of, struct class, (uint32_t)*slot).count++;
		} else {
			class.count = 1;
			class_new(c, &class, slot, variable);
		}
	}
}

/* Has every two of the sets a lock in common?  Then nothing is to be found, which is the rule
 * where a lock guards the variable. */
static bool guarded(const struct classes *c)
{
	for (guint i = 0; i < c->sets->len; i++) {
		for (guint j = 0; j <= i; j++) {
			if (lockset_common(c->locksets, g_array_index(c->sets, uint32_t, i),
			                   g_array_index(c->sets, uint32_t, j)) == NONE)
				return false;
		}
	}
	return true;
}

static bool classes_race(const struct classes *c, const struct class *a, const struct class *b)
{
	return a->thread != b->thread && (a->writes || b->writes) &&
	       !(a->atomic && b->atomic) &&
	       lockset_common(c->locksets, a->lockset, b->lockset) == NONE;
}

static void variable_sites(struct classes *c, uint32_t variable, struct site_races *sites)
{
	classify(c, variable);
	if (guarded(c))
		return;
	for (guint i = 0; i < c->of->len; i++) {
		for (guint j = 0; j < i; j++) {
			const struct class *a = &g_array_index(c->of, struct class, i);
			const struct class *b = &g_array_index(c->of, struct class, j);

			if (classes_race(c, a, b))
				site_races_add_many(sites, MIN(a->first, b->first),
				                    MAX(a->first, b->first), variable,
				                    a->count * b->count);
		}
	}
}

static bool find_sites(struct trace *t, const struct race_options *options,
                       struct report *report, const struct progress *progress)
{
	struct locksets *locksets = locksets_new(t);
	struct site_races *sites = site_races_new(t, options);
	struct classes c = { t,
		             locksets,
		             g_array_new(FALSE, FALSE, sizeof(struct class)),
		             g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		             g_new0(uint64_t, FIRST_SLOTS),
		             FIRST_SLOTS };
	bool done = true;

	for (uint32_t v = 0; v < t->variables_count && done; v++) {
		if ((v & 0xfff) == 0)
			done = progress_tick(progress, (double)v / t->variables_count,
			                     "locksets");
		variable_sites(&c, v, sites);
	}
	site_races_report(sites, report, report->analysis);
	/* Accesses that share several variables are met, and counted, at each of them. */
	for (guint i = 0; i < report->findings->len; i++) {
		struct finding *f = g_ptr_array_index(report->findings, i);

		f->counted_all = t->wides_count == 0;
	}
	g_array_free(c.of, TRUE);
	g_array_free(c.sets, TRUE);
	g_free(c.slots);
	site_races_free(sites);
	locksets_free(locksets);
	return done;
}

static bool add_pair(void *context, uint32_t e1, uint32_t e2)
{
	struct report *report = context;
	struct finding *f =
	        race_finding(report->trace, e1, e2, VERDICT_CANDIDATE, report->analysis);

	f->counted_all = true;
	report_add(report, f);
	return true;
}

struct report *races_lockset(struct trace *t, const struct race_options *options,
                             const struct progress *progress, struct error *error)
{
	struct report *report = report_new(t, "lockset");
	struct candidate_options all = { .order = NULL, .race = options };
	bool done = trace_need(t, INDEX_VARIABLES, progress);

	if (done && options->pairs_events)
		done = candidates_events(t, &all, add_pair, report, progress);
	else if (done)
		done = find_sites(t, options, report, progress);
	if (!done) {
		report_free(report);
		error_set(error, "", NULL, "cancelled");
		return NULL;
	}
	report->complete = true;
	report->candidates = report->findings->len;
	report_finish(report);
	return report;
}
