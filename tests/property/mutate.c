/* mutate.c - see mutate.h. */
#include "tests/property/mutate.h"
#include "engine/witness/regroup.h"
#include "engine/witness/minimise.h"

#include <stdio.h>

uint64_t minimised;

static uint32_t switches_in(const struct trace *t, const GArray *events)
{
	return witness_count_switches(t, (const uint32_t *)(const void *)events->data,
	                              events->len);
}

GArray *polish_witness(const struct trace *t, const struct finding *f,
                       const struct check_options *options)
{
	struct checker *checker = checker_new(t, options);
	GArray *pair = finding_claimed(f);
	const uint32_t *claimed = (const uint32_t *)(void *)pair->data;
	enum claim claim = finding_claim(f);
	GString *reason = g_string_new(NULL);
	GArray *better = witness_minimised(checker, t, claimed_of(claim, claimed, pair->len),
	                                   f->witness);

	bool good = witness_check(t, event_list_of(better),
	                          claimed_of(claim, claimed, pair->len), options, reason);

	if (!good || switches_in(t, better) > switches_in(t, f->witness) ||
	    better->len > f->witness->len) {
		fprintf(stderr, "minimised: %u events, %u switches, before %u, %u %s\n",
		        better->len, switches_in(t, better), f->witness->len,
		        switches_in(t, f->witness), reason->str);
		g_clear_pointer(&better, g_array_unref);
	}
	minimised += better != NULL && switches_in(t, better) < switches_in(t, f->witness);
	g_string_free(reason, TRUE);
	g_array_unref(pair);
	checker_free(checker);
	return better;
}

void mutate_sequence(GRand *random, GArray *s, uint32_t events)
{
	uint32_t a, b, *x = (uint32_t *)s->data;

	if (s->len < 2)
		return;
	a = g_rand_int_range(random, 0, s->len);
	b = g_rand_int_range(random, 0, s->len);
	switch (g_rand_int_range(random, 0, 7)) {
	case 0: /* swap neighbours */
		a = a % (s->len - 1);
		b = a + 1;
		/* fall through */
	case 1: { /* swap any */
		uint32_t e = x[a];

		x[a] = x[b];
		x[b] = e;
		break;
	}
	case 2: /* drop one */
		g_array_remove_index(s, a);
		break;
	case 3: /* any event in the place of one */
		x[a] = g_rand_int_range(random, 0, events);
		break;
	case 4: /* move one */
	{
		uint32_t e = x[a];

		g_array_remove_index(s, a);
		b = g_rand_int_range(random, 0, s->len + 1);
		g_array_insert_val(s, b, e);
		break;
	}
	case 5: { /* double one */
		uint32_t e = x[a];

		g_array_insert_val(s, b, e);
		break;
	}
	default: /* cut the end off */
		g_array_set_size(s, a);
	}
}

void mutate_pair(GRand *random, uint32_t pair[2], uint32_t events)
{
	uint32_t other = pair[0];

	if (g_rand_int_range(random, 0, 3) == 0) {
		pair[0] = pair[1];
		pair[1] = other;
	} else {
		pair[g_rand_int_range(random, 0, 2)] =
		        g_rand_int_range(random, 0, (gint32)events);
	}
}
