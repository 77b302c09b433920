/*
 * test_running_ranges.c - the variables of a program that is running (running_ranges.h): random
 * accesses against a model that divides bytes one by one; and a large block that was filled at
 * once costs no more than its length and a logarithm, however it is accessed afterwards.
 */
#include <check.h>
#include <string.h>

#include "engine/record/import/running.h"
#include "engine/record/import/running_ranges.h"
#include "tests/support/suite.h"

enum { BASE = 0x10f80, BYTES = 300 };

/* A cut lies before each byte at which some access has begun or ended. */
struct model {
	bool cut[BYTES + 1], any[BYTES];
	uint32_t splits;
};

static void on_split(void *context, uint32_t from, uint32_t to)
{
	struct model *m = context;
	ck_assert_uint_ne(from, to);
	m->splits++;
}

static void on_renew(void *context, uint32_t variable)
{
	(void)context;
	ck_abort_msg("variable %u is the same memory", variable);
}

static void access_both(struct ranges *r, struct model *m, uint32_t from, uint32_t size)
{
	uint32_t count, k = 0;
	for (uint32_t i = from; i < from + size; i++) { /* of new bytes one variable */
		m->cut[i] |= !m->any[i] && (i == from || m->any[i - 1]);
		m->cut[i + 1] |= !m->any[i] && (i + 1 == BYTES || m->any[i + 1]);
	}
	memset(m->any + from, true, size);
	m->cut[from] = m->cut[from + size] = true;
	const uint32_t *variables = ranges_cover(
	        r, (struct variable_range){ .address = BASE + from, .size = size }, &count);
	for (uint32_t i = from; i < from + size; k++) {
		uint32_t end = i + 1;
		while (!m->cut[end])
			end++;
		ck_assert_uint_lt(k, count);
		ck_assert(is_range(range_at(r, variables[k]), BASE + i, end - i, 0));
		for (; i < end; i++)
			ck_assert_uint_eq(*range_byte(r, BASE + i), variables[k]);
	}
	ck_assert_uint_eq(k, count);
}

START_TEST(as_the_model)
{
	struct model m = { .splits = 0 };
	struct running_sink sink = { .context = &m, .split = on_split, .renew = on_renew };
	struct ranges r = { .sink = NULL };
	g_autoptr(GRand) random = g_rand_new_with_seed((guint32)_i);
	ranges_init(&r, &sink);
	for (int i = 0; i < 100; i++) {
		uint32_t from = (uint32_t)g_rand_int_range(random, 0, BYTES);
		uint32_t most = g_rand_boolean(random) ? 8 : BYTES;
		most = MIN(most, BYTES - from);
		access_both(&r, &m, from,
		            1 + (uint32_t)g_rand_int_range(random, 0, (gint)most));
	}
	ck_assert_uint_gt(m.splits, 0);
	ranges_release(&r);
}
END_TEST

/* The words of a block from its beginning, from its end, and from its middle to both. */
START_TEST(work_is_small)
{
	enum { LOGARITHM = 21, LENGTH = 1 << LOGARITHM, WORD = 8, WORDS = LENGTH / WORD };
	struct model m = { .splits = 0 };
	struct running_sink sink = { .context = &m, .split = on_split, .renew = on_renew };
	struct ranges r = { .sink = NULL };
	uint32_t count;
	ranges_init(&r, &sink);
	ranges_cover(&r, (struct variable_range){ .address = BASE, .size = LENGTH }, &count);
	ck_assert_uint_eq(count, 1);
	for (uint32_t i = 0; i < WORDS; i++) {
		uint32_t word = _i == 0   ? i
		                : _i == 1 ? WORDS - 1 - i
		                          : WORDS / 2 + (i % 2 ? i / 2 : ~(i / 2));
		ranges_cover(&r,
		             (struct variable_range){ .address = BASE + WORD * (uint64_t)word,
		                                      .size = WORD },
		             &count);
		ck_assert_uint_eq(count, 1);
		/* while a fault would take hours to show in the end */
		ck_assert_uint_le(r.renumbered, (uint64_t)LENGTH * (LOGARITHM + 1));
	}
	ck_assert_uint_eq(m.splits, WORDS - 1);
	ranges_release(&r);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("running_ranges");
	TCase *c = tcase_create("running_ranges");
	tcase_set_timeout(c, 120);
	tcase_add_loop_test(c, as_the_model, 0, 200);
	tcase_add_loop_test(c, work_is_small, 0, 3);
	suite_add_tcase(suite, c);
	return suite_run(suite);
}
