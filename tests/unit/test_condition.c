/*
 * test_condition.c - conditions on variables (engine/base/condition.h): operators and their
 * precedence, unknown values, bytes of either sign, refusals.
 */
#include "engine/base/condition.h"
#include "tests/support/suite.h"

#include <string.h>

/* x is 3, y is -1, b is a byte with the bits 200, u is unknown. */
static struct condition_value value_of(void *self, uint32_t name)
{
	const struct condition *c = self;
	const char *text = condition_names(c)->pdata[name];
	if (strcmp(text, "x") == 0)
		return (struct condition_value){ true, 4, 3 };
	if (strcmp(text, "y") == 0)
		return (struct condition_value){ true, 8, -1 };
	if (strcmp(text, "b") == 0)
		return (struct condition_value){ true, 1, -56 };
	return (struct condition_value){ .known = false };
}

static const struct {
	const char *text;
	int truth; /* -1: refused */
} conditions[] = {
	{ "x == 3", TRUTH_YES },
	{ "1 + 2 * 3 == 7 && 7 - 3 - 2 == 2", TRUTH_YES },
	{ "x * -2 == -6", TRUTH_YES },
	{ "-7 / 2 == -3 && -7 % 2 == -1", TRUTH_YES },
	{ "!x == 0", TRUTH_YES }, /* !x first, as in C */
	{ "!(x == 0)", TRUTH_YES },
	{ "1 < 2 == 1", TRUTH_YES },
	{ "x == 3 || y == 0 && 0", TRUTH_YES },
	{ "(x == 3 || y == 0) && 0", TRUTH_NO },
	{ "y == -1 && y < 0", TRUTH_YES },
	{ "y == 0xffffffffffffffff", TRUTH_YES },
	{ "b == 200", TRUTH_YES },
	{ "b == -56", TRUTH_YES },
	{ "b != 200", TRUTH_NO },
	{ "b == 456", TRUTH_NO },
	{ "b == -312", TRUTH_NO },
	{ "b < 0", TRUTH_YES },
	{ "b + 0 == 200", TRUTH_NO }, /* exact: a signed byte */
	{ "y == 255", TRUTH_NO },
	{ "u == 3", TRUTH_UNKNOWN },
	{ "u == 3 || x == 3", TRUTH_YES },
	{ "x == 3 || u == 3", TRUTH_YES },
	{ "u == 3 && x == 4", TRUTH_NO },
	{ "x == 4 && u == 3", TRUTH_NO },
	{ "u == 3 && x == 3", TRUTH_UNKNOWN },
	{ "!u", TRUTH_UNKNOWN },
	{ "1 / 0 == 0", TRUTH_UNKNOWN },
	{ "1 % 0 == 0 || 1", TRUTH_YES },
	{ "s->a[3].b::c == 1", TRUTH_UNKNOWN },
	{ "", -1 },
	{ "x ==", -1 },
	{ "== x", -1 },
	{ "x = 3", -1 },
	{ "x == 3 y", -1 },
	{ "(x", -1 },
	{ "x)", -1 },
	{ "x & 1", -1 },
	{ "\"x\"", -1 },
};

START_TEST(truth_of_conditions)
{
	struct error error = { 0 };
	struct condition *c = condition_new(conditions[_i].text, "--check", NULL, NULL, &error);
	ck_assert_msg((c == NULL) == (conditions[_i].truth < 0), "'%s': %s",
	              conditions[_i].text, error.what);
	if (c) {
		int truth = condition_holds(c, value_of, c);
		ck_assert_msg(truth == conditions[_i].truth, "'%s' is %d", conditions[_i].text,
		              truth);
	} else {
		ck_assert_str_eq(error.where, "--check");
	}
	condition_free(c);
}
END_TEST

START_TEST(names_stand_once_and_in_order)
{
	struct error error = { 0 };
	struct condition *c = condition_new("q.n + p->f[2] > q.n", "", NULL, NULL, &error);
	const GPtrArray *names = condition_names(c);
	ck_assert_uint_eq(names->len, 2);
	ck_assert_str_eq(names->pdata[0], "q.n");
	ck_assert_str_eq(names->pdata[1], "p->f[2]");
	condition_free(c);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("condition");
	TCase *c = tcase_create("conditions");
	tcase_add_loop_test(c, truth_of_conditions, 0, G_N_ELEMENTS(conditions));
	tcase_add_test(c, names_stand_once_and_in_order);
	suite_add_tcase(s, c);
	return suite_run(s);
}
