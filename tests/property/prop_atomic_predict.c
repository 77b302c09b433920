/*
 * prop_atomic_predict.c - prediction of atomic-set violations against exhaustive search:
 * where some correct reordering turns two units of one set around each other, a cycle is
 * reported; and every witness is a correct reordering with a cycle in it.
 */
#include "engine/atomic/atomic.h"
#include "engine/witness/check.h"
#include "tests/property/oracle.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define MOST 11 /* events of units and accesses */

static struct trace *random_units(GRand *rand, char **text)
{
	GString *s = g_string_new("#! atomic-set S x y\n#! atomic-set R z\n");
	int left[2] = { 2, 2 }, open[2] = { 0, 0 }, locked[2] = { 0, 0 }, holder = -1;
	for (int i = 0; i < MOST; i++) {
		int t = g_rand_int_range(rand, 0, 2), what = g_rand_int_range(rand, 0, 10);
		if (!open[t] && left[t]) {
			g_string_append_printf(s, "T%d|ubeg(u%d,S,R)|\n", t, t);
			open[t] = 1;
			left[t]--;
		} else if (what == 0 && open[t]) {
			g_string_append_printf(s, "T%d|uend(u%d)|\n", t, t);
			open[t] = 0;
		} else if (what == 1 && !locked[t] && holder < 0) {
			g_string_append_printf(s, "T%d|acq(m)|\n", t);
			locked[t] = 1;
			holder = t;
		} else if (what <= 3 && locked[t]) {
			g_string_append_printf(s, "T%d|rel(m)|\n", t);
			locked[t] = 0;
			holder = -1;
		} else {
			g_string_append_printf(s, "T%d|%s(%c)|\n", t,
			                       g_rand_int_range(rand, 0, 3) ? "w" : "r",
			                       "xyz"[g_rand_int_range(rand, 0, 3)]);
		}
	}
	struct error e;
	struct trace *t = trace_from_text("random", s->str, s->len, NULL, &e);
	ck_assert_msg(t != NULL, "%s: %s\n%s", e.where, e.what, s->str);
	*text = g_string_free(s, FALSE);
	return t;
}

struct search {
	const struct trace *t;
	uint32_t unit[64]; /* by event: the unit of an access (its ubeg), or itself outside */
	bool member[64];   /* an access of a set */
	uint32_t sequence[64];
	uint32_t length;
	uint32_t next[2][64], count[2], at[2];
};

static char set_of(const struct trace *t, uint32_t event)
{
	return *trace_string(t, t->variables[t->events[event].target].name) == 'z' ? 'R' : 'S';
}

static void note_units(struct search *s)
{
	uint32_t open[2] = { NONE, NONE };
	for (uint32_t e = 0; e < s->t->events_count; e++) {
		const struct event *x = &s->t->events[e];
		s->next[x->thread][s->count[x->thread]++] = e;
		if (x->op == OP_UBEG)
			open[x->thread] = e;
		else if (x->op == OP_UEND)
			open[x->thread] = NONE;
		s->member[e] = op_is_access(x->op);
		s->unit[e] = open[x->thread] != NONE ? open[x->thread] : e;
	}
}

/* Is there a conflict from unit u to unit v in the sequence, on one set? */
static bool edge(const struct search *s, uint32_t u, uint32_t v, char set)
{
	for (uint32_t i = 0; i < s->length; i++)
		for (uint32_t j = i + 1; j < s->length; j++) {
			uint32_t a = s->sequence[i], b = s->sequence[j];
			if (s->member[a] && s->member[b] && s->unit[a] == u &&
			    s->unit[b] == v &&
			    s->t->events[a].target == s->t->events[b].target &&
			    set_of(s->t, a) == set &&
			    (op_writes(s->t->events[a].op) || op_writes(s->t->events[b].op)))
				return true;
		}
	return false;
}

static bool turned_round(const struct search *s)
{
	for (uint32_t i = 0; i < s->length; i++)
		for (uint32_t j = 0; j < s->length; j++) {
			uint32_t a = s->sequence[i], b = s->sequence[j];
			if (!s->member[a] || !s->member[b] || s->unit[a] == s->unit[b] ||
			    s->t->events[a].thread == s->t->events[b].thread)
				continue;
			for (const char *set = "SR"; *set; set++)
				if (edge(s, s->unit[a], s->unit[b], *set) &&
				    edge(s, s->unit[b], s->unit[a], *set))
					return true;
		}
	return false;
}

static bool search_all(struct search *s)
{
	if (!oracle_is_reordering(s->t, s->sequence, s->length, false))
		return false;
	if (s->length > 0 && s->member[s->sequence[s->length - 1]] && turned_round(s))
		return true;
	for (int t = 0; t < 2; t++) {
		if (s->at[t] == s->count[t])
			continue;
		s->sequence[s->length++] = s->next[t][s->at[t]++];
		bool found = search_all(s);
		s->length--;
		s->at[t]--;
		if (found)
			return true;
	}
	return false;
}

static void check_witnesses(struct trace *t, const struct atomic_model *m,
                            const struct report *r, const char *text, int *predicted)
{
	for (guint i = 0; i < r->findings->len; i++) {
		const struct finding *f = r->findings->pdata[i];
		if (f->verdict != VERDICT_RACE)
			continue;
		const uint32_t *events = (const uint32_t *)(void *)f->witness->data;
		(*predicted)++;
		ck_assert_msg(oracle_is_reordering(t, events, f->witness->len, false),
		              "no reordering:\n%s", text);
		ck_assert_msg(atomic_check(t, m, events, f->witness->len, NULL, 0, NULL),
		              "no cycle:\n%s", text);
	}
}

START_TEST(against_exhaustive_search)
{
	GRand *rand = g_rand_new_with_seed(11);
	struct atomic_options o = {
		.all = true, .predict = true, .budget_pair = 2, .budget_total = 60
	};
	int found = 0, none = 0, predicted = 0;
	for (int i = 0; i < 400; i++) {
		char *text;
		struct search s = { 0 };
		struct trace *t = random_units(rand, &text);
		struct atomic_model *m = atomic_model_declared(t);
		struct report *r = atomic_find(t, m, &o, NULL);
		s.t = t;
		note_units(&s);
		bool can = search_all(&s);
		found += can;
		none += !can;
		ck_assert_msg(!can || r->findings->len > 0, "missed in:\n%s", text);
		check_witnesses(t, m, r, text, &predicted);
		report_free(r);
		atomic_model_free(m);
		trace_close(t);
		g_free(text);
	}
	g_rand_free(rand);
	/* The traces must try every outcome. */
	ck_assert_int_gt(found, 60);
	ck_assert_int_gt(none, 20);
	ck_assert_int_gt(predicted, 30);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("predicted atomic-set violations against exhaustive search");
	TCase *c = tcase_create("predict");
	tcase_set_timeout(c, 120);
	tcase_add_test(c, against_exhaustive_search);
	suite_add_tcase(s, c);
	SRunner *r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	int failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
