/*
 * prop_atomic_predict.c - prediction of atomic-set violations against exhaustive search:
 * where some correct reordering turns two units of one set around each other, or closes a
 * cycle of three, a cycle is reported; nothing is reported where no reordering has a cycle;
 * "complete" is never said in vain; and every witness is a correct reordering with a cycle.
 */
#include "engine/atomic/atomic.h"
#include "engine/witness/check.h"
#include "tests/property/mix.h"
#include "tests/property/mutate.h"
#include "tests/support/suite.h"
#include "tests/support/coverage.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define MOST    11 /* events of units and accesses */
#define THREADS 3

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
	struct trace *t = coverage_trace(trace_from_text("random", s->str, s->len, NULL, &e));
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
	uint32_t next[THREADS][64], count[THREADS], at[THREADS];
	uint32_t threads;
	bool one_set; /* x, y and z in S; else z is in R */
	bool (*wanted)(const struct search *s);
};

static char set_of(const struct search *s, uint32_t event)
{
	const struct trace *t = s->t;
	bool z = *trace_variable_name(t, t->events[event].target) == 'z';
	return z && !s->one_set ? 'R' : 'S';
}

static void note_units(struct search *s)
{
	uint32_t open[THREADS] = { NONE, NONE, NONE };
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
			    set_of(s, a) == set &&
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

/* The units of the sequence's accesses, each once. */
static uint32_t list_units(const struct search *s, uint32_t *units)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < s->length; i++) {
		uint32_t e = s->sequence[i], k = 0;
		while (k < count && units[k] != s->unit[e])
			k++;
		if (s->member[e] && k == count)
			units[count++] = s->unit[e];
	}
	return count;
}

/* A cycle of three units on one set. */
static bool three_round(const struct search *s)
{
	uint32_t units[64], n = list_units(s, units);
	for (uint32_t a = 0; a < n; a++)
		for (uint32_t b = 0; b < n; b++)
			for (uint32_t c = 0; a != b && c < n; c++)
				for (const char *set = "SR"; *set && a != c && b != c; set++)
					if (edge(s, units[a], units[b], *set) &&
					    edge(s, units[b], units[c], *set) &&
					    edge(s, units[c], units[a], *set))
						return true;
	return false;
}

/* Any cycle at all, of any length and over any sets: the closure of the conflicts. */
static bool any_cycle(const struct search *s)
{
	static bool reach[64][64];
	uint32_t units[64], n = list_units(s, units);
	for (uint32_t a = 0; a < n; a++)
		for (uint32_t b = 0; b < n; b++)
			reach[a][b] = a != b && (edge(s, units[a], units[b], 'S') ||
			                         edge(s, units[a], units[b], 'R'));
	for (uint32_t k = 0; k < n; k++)
		for (uint32_t a = 0; a < n; a++)
			for (uint32_t b = 0; reach[a][k] && b < n; b++)
				reach[a][b] |= reach[k][b];
	for (uint32_t a = 0; a < n; a++)
		if (reach[a][a])
			return true;
	return false;
}

static bool search_all(struct search *s)
{
	if (!oracle_is_reordering(s->t, s->sequence, s->length, false))
		return false;
	if (s->length > 0 && s->member[s->sequence[s->length - 1]] && s->wanted(s))
		return true;
	for (uint32_t t = 0; t < s->threads; t++) {
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
		GArray *better = polish_witness(t, f, NULL);
		ck_assert_msg(better != NULL, "minimised:\n%s", text);
		const GArray *both[] = { f->witness, better };
		(*predicted)++;
		for (size_t k = 0; k < G_N_ELEMENTS(both); k++) {
			const uint32_t *events = (const uint32_t *)(void *)both[k]->data;
			ck_assert_msg(oracle_is_reordering(t, events, both[k]->len, false),
			              "no reordering:\n%s", text);
			ck_assert_msg(atomic_check(t, m,
			                           (struct event_list){ events, both[k]->len },
			                           (struct event_list){ NULL, 0 }, NULL),
			              "no cycle:\n%s", text);
		}
		g_array_unref(better);
	}
}

START_TEST(against_exhaustive_search)
{
	GRand *rand = g_rand_new_with_seed((guint32)mix_setting("HEDDLE_SEED", 11));
	struct atomic_options o = {
		.all = true, .predict = true, .budget_pair = 2, .budget_total = 60
	};
	int found = 0, none = 0, predicted = 0;
	for (int i = 0; i < 400; i++) {
		char *text;
		struct search s = { .threads = 2, .wanted = turned_round };
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

/* One unit in each thread, which shares a variable with each of two others, and sometimes
 * does more: cycles of three where no two units can be interleaved. */
static struct trace *random_triples(GRand *rand, char **text, bool *one_set)
{
	static const char *const shared[] = { "xy", "yz", "zx" };
	GString *s = g_string_new("#! atomic-set S x y z\n#! atomic-set R none\n");
	*one_set = g_rand_int_range(rand, 0, 4) != 0;
	if (!*one_set)
		g_string_assign(s, "#! atomic-set S x y\n#! atomic-set R z\n");
	bool more = g_rand_int_range(rand, 0, 3) == 0,
	     locks = g_rand_int_range(rand, 0, 3) == 0;
	for (int t = 0; t < THREADS; t++) {
		bool locked = locks && g_rand_boolean(rand);
		int first = g_rand_int_range(rand, 0, 2);
		if (locked)
			g_string_append_printf(s, "T%d|acq(m)|\n", t);
		g_string_append_printf(s, "T%d|ubeg(u%d,S,R)|\n", t, t);
		for (int i = 0; i < 2 + (more && t == 1); i++)
			g_string_append_printf(s, "T%d|%s(%c)|\n", t,
			                       g_rand_int_range(rand, 0, 3) ? "w" : "r",
			                       i < 2 ? shared[t][(first + i) % 2]
			                             : "xyz"[g_rand_int_range(rand, 0, 3)]);
		if (locked)
			g_string_append_printf(s, "T%d|rel(m)|\n", t);
	}
	struct error e;
	struct trace *t = coverage_trace(trace_from_text("random", s->str, s->len, NULL, &e));
	ck_assert_msg(t != NULL, "%s: %s\n%s", e.where, e.what, s->str);
	*text = g_string_free(s, FALSE);
	return t;
}

/* Which of these cases some reordering has; noted during one enumeration of all reorderings. */
static struct {
	bool any, two, three;
} possible;

static bool note_possible(const struct search *s)
{
	possible.any |= !possible.any && any_cycle(s);
	possible.two |= !possible.two && turned_round(s);
	possible.three |= !possible.three && three_round(s);
	return possible.two && possible.three;
}

static void find_possible(struct trace *t, bool one_set)
{
	struct search s = { .t = t,
		            .threads = (uint32_t)t->threads_count,
		            .one_set = one_set,
		            .wanted = note_possible };
	memset(&possible, 0, sizeof possible);
	note_units(&s);
	search_all(&s);
}

static bool has_three(const struct report *r)
{
	for (guint i = 0; i < r->findings->len; i++)
		if (((const struct finding *)r->findings->pdata[i])->units->len >= 3)
			return true;
	return false;
}

START_TEST(three_units)
{
	GRand *rand = g_rand_new_with_seed((guint32)mix_setting("HEDDLE_SEED", 23));
	struct atomic_options o = {
		.all = true, .predict = true, .budget_pair = 2, .budget_total = 60
	};
	int none = 0, only_three = 0, complete = 0, predicted = 0;
	for (int i = 0; i < 150; i++) {
		char *text;
		bool one_set;
		struct trace *t = random_triples(rand, &text, &one_set);
		struct atomic_model *m = atomic_model_declared(t);
		struct report *r = atomic_find(t, m, &o, NULL);
		find_possible(t, one_set);
		bool any = possible.any, two = possible.two, three = possible.three;
		none += !any;
		only_three += three && !two;
		complete += r->complete;
		ck_assert_msg(any || r->findings->len == 0, "too many in:\n%s", text);
		ck_assert_msg(!(two || three) || r->findings->len > 0, "missed in:\n%s", text);
		ck_assert_msg(two || !three || has_three(r), "no three in:\n%s", text);
		ck_assert_msg(!any || !r->complete || r->findings->len > 0,
		              "complete in vain:\n%s", text);
		check_witnesses(t, m, r, text, &predicted);
		report_free(r);
		atomic_model_free(m);
		trace_close(t);
		g_free(text);
	}
	g_rand_free(rand);
	ck_assert_int_gt(none, 20);
	ck_assert_int_gt(only_three, 10);
	ck_assert_int_gt(complete, 50);
	ck_assert_int_gt(predicted, 50);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("predicted atomic-set violations against exhaustive search");
	TCase *c = tcase_create("predict");
	tcase_add_test(c, against_exhaustive_search);
	tcase_add_test(c, three_units);
	suite_add_tcase(s, c);
	return suite_run(s);
}
