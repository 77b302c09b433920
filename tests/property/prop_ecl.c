/*
 * prop_ecl.c - definition 4.5 of the RD2 paper on random specifications: two invocations
 * touch clashing access points exactly when their condition is false.
 */
#include "engine/commute/language/points.h"
#include "tests/property/mix.h"
#include "tests/property/random_spec.h"
#include "tests/support/suite.h"

#include <check.h>

static bool clash(const struct points *p, uint32_t m1, const struct val *v1, uint32_t m2,
                  const struct val *v2, struct texts *texts, bool *overflow)
{
	uint32_t n1, n2;
	const struct touch *t1 = points_touched(p, m1, v1, texts, &n1, overflow);
	const struct touch *t2 = points_touched(p, m2, v2, texts, &n2, overflow);
	for (uint32_t i = 0; i < n1; i++)
		for (uint32_t k = 0; k < n2; k++) {
			const GArray *c = points_at(p, t1[i].point)->conflicts;
			for (guint n = 0; n < c->len; n++)
				if (g_array_index(c, uint32_t, n) == t2[k].point &&
				    (t1[i].slot == NONE ||
				     val_equal(v1[t1[i].slot], v2[t2[k].slot])))
					return true;
		}
	return false;
}

static void random_values(struct dice *d, struct val *v)
{
	for (int i = 0; i < 4; i++)
		v[i] = value_at(some_value(d));
}

static void compare(struct dice *d, const struct spec_object *o, uint64_t seed,
                    uint64_t *clashing)
{
	struct points *p = points_new(o);
	struct texts texts;
	texts_init(&texts);
	texts.find = value_text_id;
	for (int i = 0; i < 300; i++) {
		uint32_t m1 = roll(d, o->methods->len), m2 = roll(d, o->methods->len);
		struct val v1[4], v2[4];
		bool overflow = false;
		random_values(d, v1);
		random_values(d, v2);
		if (points_pairwise(p, m1, m2))
			continue;
		bool commute = eval_commute(o, m1, v1, m2, v2, &texts, &overflow) == TRUTH_YES;
		bool clashes = clash(p, m1, v1, m2, v2, &texts, &overflow);
		*clashing += clashes;
		ck_assert_msg(clashes == !commute, "seed %" G_GUINT64_FORMAT ", m%u and m%u",
		              seed, m1, m2);
	}
	texts_release(&texts);
	points_free(p);
}

static void try_many(bool ecl)
{
	uint64_t clashing = 0, first = mix_setting("HEDDLE_SEED", 1);
	for (uint64_t seed = first; seed < first + 1500; seed++) {
		struct dice d = { seed };
		struct specs *s = specs_new();
		const struct spec_object *o = random_object(&d, ecl, false, s);
		for (guint i = 0; ecl && i < o->conditions->len; i++)
			ck_assert_msg(ecl_classify(o->conditions->pdata[i]).class !=
			                      ECL_NEITHER,
			              "seed %" G_GUINT64_FORMAT ": an ECL condition is refused",
			              seed);
		compare(&d, o, seed, &clashing);
		specs_free(s);
	}
	ck_assert_uint_gt(clashing, 1000);
}

START_TEST(points_represent_ecl_specifications)
{
	try_many(true);
}
END_TEST

START_TEST(points_represent_the_ecl_part_of_any_specification)
{
	try_many(false);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("ecl");
	TCase *c = tcase_create("access points");
	tcase_add_test(c, points_represent_ecl_specifications);
	tcase_add_test(c, points_represent_the_ecl_part_of_any_specification);
	suite_add_tcase(s, c);
	return suite_run(s);
}
