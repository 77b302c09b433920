/*
 * prop_sync_uses.c - accesses to parts of synchronisation objects beside other threads' use of
 * these (predict/sync_uses.h): random traces with locks, reader-writer locks, semaphores,
 * conditions, barriers, whose variables are made parts of the objects.
 *
 * - What is found is what the definition says, pair by pair.
 * - Where some correct reordering has the two the other way round, by exhaustive search, the
 *   access is found: alone, and beside the pass for the variables that can race.
 * - That pass finds nothing more than the look alone; the same where no lock orders more; and
 *   its own answer does not depend on the parts.
 */
#include "engine/order/order.h"
#include "engine/predict/pairs/pairs.h"
#include "engine/predict/sync_uses.h"
#include "engine/trace/own_code.h"
#include "engine/trace/storage.h"
#include "tests/property/mix.h"

#include <stdio.h>
#include <string.h>

enum { MOST_EVENTS = 24 };
static uint64_t found_some, found_none, turned, left_out, ordered_by_locks, kinds[OP_COUNT];

/* -- the definition ------------------------------------------------------------------------ */

struct definition {
	struct trace *t;
	const uint32_t *parts;
	bool pair[MOST_EVENTS][MOST_EVENTS];   /* access, operation: by the definition */
	bool turned[MOST_EVENTS][MOST_EVENTS]; /* some reordering has the later without the
	                                          earlier */
};

static bool is_operation(const struct trace *t, uint32_t e, uint32_t object)
{
	const struct event *x = &t->events[e];

	return op_table[x->op].operand == OPERAND_OBJECT && !op_tells((enum op)x->op) &&
	       !event_inert(x) && x->target == object;
}

static bool touches(const struct definition *d, uint32_t e, uint32_t object)
{
	const struct event *x = &d->t->events[e];
	struct wide of = event_variables(d->t, x);

	if (!op_is_access(x->op) || event_inert(x))
		return false;
	for (uint32_t v = of.first; v < of.first + of.count; v++)
		if (d->parts[v] == object)
			return true;
	return false;
}

/* Does the program write to the object with atomics, as a lock of its own making does? */
static bool is_own(const struct definition *d, uint32_t object)
{
	for (uint32_t e = 0; e < d->t->events_count; e++)
		if ((d->t->events[e].op == OP_AWRITE || d->t->events[e].op == OP_RMW) &&
		    touches(d, e, object))
			return true;
	return false;
}

static bool is_semaphore(const struct trace *t, uint32_t object)
{
	for (uint32_t e = 0; e < t->events_count; e++)
		if (is_operation(t, e, object) &&
		    op_table[t->events[e].op].use == USE_SEMAPHORE)
			return true;
	return false;
}

/* A look at the count, as by sem_getvalue: an atomic read where the semaphore begins. */
static bool is_count(const struct definition *d, uint32_t e, uint32_t object)
{
	const struct event *x = &d->t->events[e];
	uint32_t variable = event_variables(d->t, x).first;

	return x->op == OP_AREAD && is_semaphore(d->t, object) &&
	       d->t->variables[variable].address == d->t->objects[object].address;
}

/* Is a plain write an initialisation, before any use by another thread, or a clean-up, after
 * all? */
static bool is_first_or_last(const struct definition *d, uint32_t access, uint32_t object)
{
	const struct trace *t = d->t;
	bool before = false, after = false;

	for (uint32_t e = 0; e < t->events_count; e++) {
		bool other = is_operation(t, e, object) &&
		             t->events[e].thread != t->events[access].thread;

		before |= other && e < access;
		after |= other && e > access;
	}
	return t->events[access].op == OP_WRITE && !(before && after);
}

static bool is_pair(const struct definition *d, uint32_t access, uint32_t operation,
                    uint32_t object, bool all)
{
	const struct trace *t = d->t;

	/* a write between two uses counts beside the later one */
	return touches(d, access, object) && is_operation(t, operation, object) &&
	       t->events[access].thread != t->events[operation].thread && !is_own(d, object) &&
	       !is_count(d, access, object) && (all || !is_first_or_last(d, access, object)) &&
	       (all || t->events[access].op != OP_WRITE || access < operation);
}

static void define(struct definition *d, bool all)
{
	memset(d->pair, 0, sizeof d->pair);
	for (uint32_t a = 0; a < d->t->events_count; a++)
		for (uint32_t e = 0; e < d->t->events_count; e++)
			for (uint32_t o = 0; o < d->t->objects_count; o++)
				d->pair[a][e] |= is_pair(d, a, e, o, all);
}

/* -- reorderings --------------------------------------------------------------------------- */

static void note_state(void *context, uint32_t done)
{
	struct definition *d = context;

	for (uint32_t second = 0; second < d->t->events_count; second++)
		for (uint32_t first = 0; first < second; first++)
			if ((done >> second & 1) && !(done >> first & 1))
				d->turned[first][second] = d->turned[second][first] = true;
}

/* -- one trace ----------------------------------------------------------------------------- */

static bool places_agree(struct definition *d, const GArray *uses, bool all)
{
	g_autoptr(GHashTable) expected = g_hash_table_new(g_str_hash, g_str_equal);
	struct order *order = order_new_lasting(d->t, NULL);
	bool good = true;

	define(d, all);
	for (uint32_t a = 0; a < d->t->events_count; a++)
		for (uint32_t e = 0; e < d->t->events_count; e++) {
			bool ordered = order_ordered_unobserved(order, MIN(a, e), MAX(a, e));

			left_out += d->pair[a][e] && ordered;
			if (d->pair[a][e] && !ordered)
				g_hash_table_add(expected,
				                 (gpointer)own_code_place_name(d->t, a));
			if (d->pair[a][e] && ordered && d->turned[a][e]) {
				printf("%u and %u are ordered, and turned\n", a, e);
				good = false;
			}
			turned += d->pair[a][e] && d->turned[a][e];
		}
	for (guint i = 0; i < uses->len; i++) {
		const struct sync_use *u = &g_array_index(uses, struct sync_use, i);

		kinds[d->t->events[u->operation].op]++;
		if (!d->pair[u->access][u->operation] ||
		    order_ordered_unobserved(order, MIN(u->access, u->operation),
		                             MAX(u->access, u->operation)) ||
		    !g_hash_table_remove(expected, own_code_place_name(d->t, u->access))) {
			printf("found, and it is none: %u beside %u\n", u->access,
			       u->operation);
			good = false;
		}
	}
	GHashTableIter left;
	gpointer place;
	g_hash_table_iter_init(&left, expected);
	while (g_hash_table_iter_next(&left, &place, NULL))
		printf("not found%s: an access at %s\n", all ? "" : " without writes",
		       (const char *)place);
	good &= g_hash_table_size(expected) == 0;
	order_free(order);
	return good;
}

static bool has_locks(const struct trace *t)
{
	for (uint32_t e = 0; e < t->events_count; e++)
		if (op_acquires(t->events[e].op))
			return true;
	return false;
}

/* The look beside the pass, against the first use found alone. */
static bool beside_agrees(struct definition *d, const struct sync_use *alone)
{
	g_autofree uint64_t *with = NULL, *without = NULL;
	uint32_t *parts = d->t->storage->sync_bytes;
	uint64_t count, count_without;
	bool any_turned = false, good = true;

	d->t->storage->sync_bytes = NULL;
	race_suspects(d->t, false, &without, &count_without, NULL);
	d->t->storage->sync_bytes = parts;
	race_suspects(d->t, false, &with, &count, NULL);
	if (count != count_without ||
	    memcmp(with, without, (d->t->variables_count / 64 + 1) * sizeof *with) != 0) {
		printf("%lu suspects, %lu without parts\n", (unsigned long)count,
		       (unsigned long)count_without);
		good = false;
	}
	const struct sync_use *known = sync_use_known(d->t);
	if (known == NULL) {
		printf("not looked for beside the pass\n");
		return false;
	}
	define(d, false);
	for (uint32_t a = 0; a < d->t->events_count; a++)
		for (uint32_t e = 0; e < d->t->events_count; e++)
			any_turned |= d->pair[a][e] && d->turned[a][e];
	bool found = known->access != NONE;
	bool same = found ? alone != NULL && alone->access == known->access &&
	                            alone->operation == known->operation
	                  : alone == NULL;
	if ((found && !(alone != NULL && d->pair[known->access][known->operation])) ||
	    (any_turned && !found) || (!same && !has_locks(d->t))) {
		printf("beside the pass: %d %d; alone: %d %d; turned: %d\n", (int)known->access,
		       (int)known->operation, alone != NULL ? (int)alone->access : -1,
		       alone != NULL ? (int)alone->operation : -1, any_turned);
		good = false;
	}
	ordered_by_locks += !found && alone != NULL;
	return good;
}

static bool one(uint64_t seed)
{
	struct random_options options =
	        seed % 2 ? mix_options(seed, 2 + seed % 3, 16) : random_mix(seed / 2, 16);
	options.variables += 1;
	g_autofree char *text = random_text(seed, &options);
	struct error error;
	struct trace *t = trace_from_text("parts", text, strlen(text), NULL, &error);

	if (t == NULL) {
		printf("%s: %s\n", error.where, error.what);
		return false;
	}
	if (t->events_count >= MOST_EVENTS || t->objects_count == 0) {
		trace_close(t);
		return true;
	}
	mix_parts(t, seed);
	struct definition d = { .t = t, .parts = t->storage->sync_bytes };
	oracle_visit(t, false, false, note_state, &d);
	g_autoptr(GArray) every =
	        sync_uses(t, &(struct sync_uses_options){ .all = true, .most = 64 }, NULL);
	g_autoptr(GArray) some = sync_uses(t, &(struct sync_uses_options){ .most = 64 }, NULL);
	bool good = places_agree(&d, every, true) && places_agree(&d, some, false);
	good = good &&
	       beside_agrees(&d,
	                     some->len > 0 ? &g_array_index(some, struct sync_use, 0) : NULL);
	found_some += some->len > 0;
	found_none += some->len == 0;
	if (!good) {
		g_autofree char *events = trace_text(t);

		printf("%s", events);
		for (uint32_t v = 0; v < t->variables_count; v++)
			printf("%s is a part of %s\n", trace_variable_name(t, v),
			       d.parts[v] == NONE
			               ? "nothing"
			               : trace_string(t, t->objects[d.parts[v]].name));
	}
	trace_close(t);
	return good;
}

int main(int argc, char **argv)
{
	int status = mix_main(argc, argv, "sync_uses", 4000, one);

	printf("sync_uses: %lu traces with such a use, %lu with none; pairs %lu turned, %lu "
	       "ordered; %lu traces ordered by locks alone\n",
	       (unsigned long)found_some, (unsigned long)found_none, (unsigned long)turned,
	       (unsigned long)left_out, (unsigned long)ordered_by_locks);
	for (uint32_t op = 0; op < OP_COUNT; op++)
		if (kinds[op] > 0)
			printf("%s %lu ", op_table[op].word, (unsigned long)kinds[op]);
	printf("\n");
	bool met = kinds[OP_ACQ] > 0 && kinds[OP_RACQ] > 0 && kinds[OP_TAKE] > 0 &&
	           kinds[OP_WAIT] > 0 && kinds[OP_ARRIVE] > 0 && ordered_by_locks > 0;
	if (mix_default() && (found_some < 100 || found_none < 100 || turned == 0 || !met))
		status = 1;
	return status;
}
