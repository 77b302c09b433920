/* ladder_lift.c - races of the projection, and their witnesses, become those of its trace. */
#include "engine/predict/ladder/ladder_private.h"

#include "engine/trace/binary/reel.h"
#include "engine/witness/witness.h"

/* A checker of the projection's trace that has its first `count` events: later ones do not
 * matter to a witness. Grows by half at least, so that all of them cost at most three times
 * as much as the last one. */
static struct checker *checker_of_whole(struct ladder *l, uint64_t count)
{
	const struct check_options check = { .use_missing = l->options->use_missing };
	const struct trace *whole = l->projection->whole;
	const struct race_again *again = l->options->again;

	if (again != NULL && again->checker != NULL && count <= again->checked)
		return again->checker;
	if (l->beginning == NULL || l->beginning->events_count < count) {
		uint64_t known = l->beginning == NULL ? 0 : l->beginning->events_count;

		checker_free(l->whole);
		trace_close(l->beginning);
		count = MIN(MAX(count, known + known / 2), whole->events_count);
		l->beginning = trace_beginning(whole, count);
		l->whole = checker_new(l->beginning, &check);
	}
	return l->whole;
}

static uint64_t first_without(const struct finding *f)
{
	uint32_t last = f->recorded;

	for (guint i = 0; i < f->witness->len; i++)
		last = MAX(last, g_array_index(f->witness, uint32_t, i));
	return (uint64_t)last + 1;
}

/* Cuts the beginning that the witness has in common with the recording off it. */
static void leave_recorded(struct finding *f)
{
	uint32_t same = 0;

	if (f->recorded > 0 || f->witness == NULL || finding_claim(f) != CLAIM_RACE)
		return;
	while (same + 2 < f->witness->len && g_array_index(f->witness, uint32_t, same) == same)
		same++;
	g_array_remove_range(f->witness, 0, same);
	f->recorded = same;
}

void ladder_lift_events(const struct projection *p, struct finding *f)
{
	f->first = p->event[f->first];
	f->second = p->event[f->second];
	for (guint i = 0; f->exact != NULL && i < f->exact->len; i++)
		ladder_lift_pair(p, finding_exact(f, i));
	f->lifted = true;
}

/* The race's events, and its witness, if there is one. */
static void lift_race(struct projection *p, struct finding *f)
{
	bool pair = finding_claim(f) == CLAIM_RACE;

	ladder_lift_events(p, f);
	if (f->witness == NULL)
		return;
	GArray *lifted = projection_lift(p, f->witness, pair ? 2 : 0, &f->recorded);
	g_array_unref(f->witness);
	f->witness = lifted;
}

static int by_recorded(gconstpointer a, gconstpointer b)
{
	const struct finding *x = *(const struct finding *const *)a,
	                     *y = *(const struct finding *const *)b;

	return x->recorded < y->recorded ? -1 : x->recorded > y->recorded;
}

/* Which lifted witnesses does the trace's own checker accept? The others are dropped. `order`:
 * findings in the order of their recorded prefixes, so that it runs along the recording once.
 */
static void check_lifted(struct ladder *l, const GPtrArray *order)
{
	uint64_t count = 0;

	for (guint i = 0; i < order->len; i++) {
		const struct finding *f = order->pdata[i];

		count = MAX(count, f->witness == NULL ? 0 : first_without(f));
	}
	struct checker *whole = checker_of_whole(l, count);
	for (guint i = 0; i < order->len; i++) {
		struct finding *f = order->pdata[i];

		if (f->witness != NULL &&
		    ((i == 0 && l->options->lift_refused) || !finding_accepted(whole, f)))
			g_clear_pointer(&f->witness, g_array_unref);
	}
}

bool ladder_lifts_by_rung(const struct ladder *l)
{
	enum { LONG = 1 << 26 }; /* one GB of events */

	return l->projection == NULL ||
	       (l->projection->whole->events_count <= LONG && !l->options->lifts_last);
}

/* A race of the projection without an accepted witness on the trace is none. Deciding
 * everything anew without the projection is for traces that are not long; of a long one the
 * pair stays open. */
static void not_lifted(struct ladder *l, struct finding *f)
{
	if (ladder_lifts_by_rung(l)) {
		l->refused = l->cancelled = true;
		finding_free(f);
		return;
	}
	f->verdict = VERDICT_UNKNOWN;
	f->open = OPEN_INCOMPLETE;
	f->by = NULL;
	f->recorded = 0;
	l->unproved++;
	g_ptr_array_add(l->others, f);
}

void ladder_lift_races(struct ladder *l)
{
	guint count = l->unlifted == NULL ? 0 : l->unlifted->len;

	if (count == 0)
		return;
	trace_keep_events_shortly(l->projection->whole);
	g_autoptr(GPtrArray) order = g_ptr_array_copy(l->unlifted, NULL, NULL);
	for (guint i = 0; i < count; i++)
		leave_recorded(order->pdata[i]);
	g_ptr_array_sort(order, by_recorded);
	for (guint i = 0; i < count; i++)
		lift_race(l->projection, order->pdata[i]);
	check_lifted(l, order);
	for (guint i = 0; i < count; i++) {
		struct finding *f = l->unlifted->pdata[i];

		if (f->witness == NULL)
			not_lifted(l, f);
		else if (l->refused)
			finding_free(f);
		else
			ladder_publish(l, f);
	}
	g_ptr_array_set_size(l->unlifted, 0);
}
