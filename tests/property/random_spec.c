/* random_spec.c - see random_spec.h. */
#include "tests/property/random_spec.h"

#include "tests/property/mix.h"
#include "tests/support/suite.h"
#include "tests/support/coverage.h"

#include <stdio.h>
#include <string.h>

const char *const value_texts[VALUE_TEXTS] = { "nil",
	                                       "true",
	                                       "1",
	                                       "2",
	                                       "\"a\"",
	                                       "b",
	                                       "false",
	                                       "0",
	                                       "-1",
	                                       "9223372036854775807",
	                                       "-9223372036854775808" };

uint32_t roll(struct dice *d, uint32_t sides)
{
	d->state += UINT64_C(0x9e3779b97f4a7c15);
	uint64_t z = d->state;
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (uint32_t)((z ^ (z >> 31)) % sides);
}

uint32_t some_value(struct dice *d)
{
	return roll(d, d->ends ? VALUE_TEXTS : VALUE_TEXTS - 2);
}

struct val value_at(uint32_t i)
{
	static const struct val values[VALUE_TEXTS] = {
		{ V_NIL, 0 },    { V_TRUE, 0 },        { V_INT, 1 },         { V_INT, 2 },
		{ V_STRING, 4 }, { V_TOKEN, 5 },       { V_FALSE, 0 },       { V_INT, 0 },
		{ V_INT, -1 },   { V_INT, INT64_MAX }, { V_INT, INT64_MIN },
	};
	return values[i];
}

int64_t value_text_id(void *context, const char *text, size_t length)
{
	(void)context;
	(void)length;
	return strcmp(text, "a") == 0 ? 4 : -1;
}

struct shape {
	uint32_t methods, arguments[3], results[3];
};

static void side_name(struct dice *d, const struct shape *s, uint32_t method, char side,
                      GString *out)
{
	uint32_t n = s->arguments[method] + s->results[method];
	if (n == 0)
		g_string_append(out, value_texts[roll(d, 5)]);
	else
		g_string_append_printf(out, "%c%u", side, roll(d, n));
}

static void constant_text(struct dice *d, GString *out)
{
	static const char *const constants[] = { "nil",   "true", "1",  "2",
		                                 "\"a\"", "0",    "-1", "9223372036854775807" };
	g_string_append(out, constants[roll(d, G_N_ELEMENTS(constants))]);
}

/* An atom of one side. */
static void one_sided_atom(struct dice *d, const struct shape *s, uint32_t method, char side,
                           GString *out)
{
	static const char *const comparisons[] = {
		"==", "!=", "==", "!=", "<", "<=", ">", ">="
	};
	side_name(d, s, method, side, out);
	if (!d->ends && roll(d, 5) == 0)
		g_string_append_printf(out, " %c %u", "+-*%"[roll(d, 4)], roll(d, 3));
	g_string_append_printf(out, " %s ", comparisons[roll(d, G_N_ELEMENTS(comparisons))]);
	if (roll(d, 2))
		side_name(d, s, method, side, out);
	else
		constant_text(d, out);
}

static void b_formula(struct dice *d, const struct shape *s, const uint32_t m[2], int depth,
                      GString *out)
{
	switch (roll(d, depth > 0 ? 6 : 3)) {
	case 0:
	case 1:
	case 2: {
		uint32_t side = roll(d, 2);
		one_sided_atom(d, s, m[side], "ab"[side], out);
		return;
	}
	case 3:
		g_string_append(out, "!(");
		b_formula(d, s, m, depth - 1, out);
		g_string_append(out, ")");
		return;
	default:
		g_string_append(out, "(");
		b_formula(d, s, m, depth - 1, out);
		g_string_append(out, roll(d, 2) ? " && " : " || ");
		b_formula(d, s, m, depth - 1, out);
		g_string_append(out, ")");
	}
}

static void difference(struct dice *d, const struct shape *s, const uint32_t m[2], GString *out)
{
	uint32_t n0 = s->arguments[m[0]] + s->results[m[0]];
	uint32_t n1 = s->arguments[m[1]] + s->results[m[1]];
	if (n0 == 0 || n1 == 0) {
		g_string_append(out, roll(d, 2) ? "true" : "false");
		return;
	}
	bool negated = roll(d, 3) == 0, turned = roll(d, 2);
	g_string_append(out, negated ? "!(" : "");
	side_name(d, s, m[turned], "ab"[turned], out);
	g_string_append(out, negated ? " == " : " != ");
	side_name(d, s, m[!turned], "ab"[!turned], out);
	g_string_append(out, negated ? ")" : "");
}

/* X ::= S | B | X && X | X || B */
static void ecl_formula(struct dice *d, const struct shape *s, const uint32_t m[2], int depth,
                        GString *out)
{
	switch (roll(d, depth > 0 ? 6 : 2)) {
	case 0:
		difference(d, s, m, out);
		return;
	case 1:
		b_formula(d, s, m, depth, out);
		return;
	case 2:
	case 3:
		g_string_append(out, "(");
		ecl_formula(d, s, m, depth - 1, out);
		g_string_append(out, " && ");
		ecl_formula(d, s, m, depth - 1, out);
		g_string_append(out, ")");
		return;
	default:
		g_string_append(out, "(");
		ecl_formula(d, s, m, depth - 1, out);
		g_string_append(out, " || ");
		b_formula(d, s, m, depth - 1, out);
		g_string_append(out, ")");
	}
}

static void any_formula(struct dice *d, const struct shape *s, const uint32_t m[2], int depth,
                        GString *out)
{
	uint32_t side;
	switch (roll(d, depth > 0 ? 6 : 3)) {
	case 0:
		difference(d, s, m, out);
		return;
	case 1:
		side_name(d, s, m[0], 'a', out);
		g_string_append(out, roll(d, 2) ? " == " : " < ");
		side_name(d, s, m[1], 'b', out);
		return;
	case 2:
		side = roll(d, 2);
		one_sided_atom(d, s, m[side], "ab"[side], out);
		return;
	case 3:
		g_string_append(out, "!(");
		any_formula(d, s, m, depth - 1, out);
		g_string_append(out, ")");
		return;
	default:
		g_string_append(out, "(");
		any_formula(d, s, m, depth - 1, out);
		g_string_append(out, roll(d, 2) ? " && " : " || ");
		any_formula(d, s, m, depth - 1, out);
		g_string_append(out, ")");
	}
}

static void pattern(const struct shape *s, uint32_t m, char side, GString *out)
{
	g_string_append_printf(out, "m%u(", m);
	for (uint32_t i = 0; i < s->arguments[m]; i++)
		g_string_append_printf(out, "%s%c%u", i ? ", " : "", side, i);
	g_string_append(out, ")");
	for (uint32_t i = 0; i < s->results[m]; i++)
		g_string_append_printf(out, "%s%c%u", i ? ", " : " / ", side,
		                       s->arguments[m] + i);
}

static void effect(struct dice *d, const struct shape *s, uint32_t m, GString *out)
{
	g_string_append(out, "  effect ");
	pattern(s, m, 'a', out);
	g_string_append(out, " { ");
	/* Results are determined before anything changes. */
	for (uint32_t i = 0; i < s->results[m]; i++) {
		uint32_t what = roll(d, s->arguments[m] ? 3 : 1);
		g_string_append_printf(out, "a%u == ", s->arguments[m] + i);
		if (what == 0)
			g_string_append(out, "(n > 1)");
		else
			g_string_append(out, what == 1 ? "d[a0]" : "(d[a0] == nil)");
		g_string_append(out, "; ");
	}
	if (roll(d, 3) == 0)
		g_string_append_printf(out, "n := n + %u; ", 1 + roll(d, 2));
	if (roll(d, 3) == 0)
		g_string_append_printf(out, "n := %u; ", roll(d, 3));
	if (s->arguments[m] > 0 && roll(d, 2) == 0)
		g_string_append_printf(out, "d[a0] := %s; ",
		                       s->arguments[m] > 1 ? "a1"
		                       : roll(d, 2)        ? "nil"
		                                           : "true");
	g_string_append(out, "}\n");
}

char *random_spec(struct dice *d, bool ecl, bool effects)
{
	struct shape s = { .methods = 1 + roll(d, 3) };
	d->ends = roll(d, 3) == 0;
	GString *out = g_string_new("object thing {\n");
	for (uint32_t m = 0; m < s.methods; m++) {
		s.arguments[m] = roll(d, 3);
		s.results[m] = roll(d, effects ? 2 : 3);
		g_string_append(out, "  method ");
		pattern(&s, m, 'a', out);
		g_string_append(out, "\n");
	}
	for (uint32_t m1 = 0; m1 < s.methods; m1++)
		for (uint32_t m2 = m1; m2 < s.methods; m2++) {
			if (roll(d, 6) == 0)
				continue;
			uint32_t m[2] = { m1, m2 };
			if (roll(d, 2)) {
				m[0] = m2;
				m[1] = m1;
			}
			g_string_append(out, "  commute ");
			pattern(&s, m[0], 'a', out);
			g_string_append(out, ", ");
			pattern(&s, m[1], 'b', out);
			g_string_append(out, " : ");
			GString *f = g_string_new(NULL);
			(ecl ? ecl_formula : any_formula)(d, &s, m, 3, f);
			g_string_append(out, f->str);
			g_string_free(f, TRUE);
			g_string_append(out, "\n");
		}
	if (effects) {
		g_string_append(out, "  state n : int\n  state d : map\n");
		for (uint32_t m = 0; m < s.methods; m++)
			effect(d, &s, m, out);
	}
	g_string_append(out, "}\n");
	return g_string_free(out, FALSE);
}

struct spec_object *random_object(struct dice *d, bool ecl, bool effects, struct specs *specs)
{
	char *text = random_spec(d, ecl, effects);
	struct error error = { 0 };
	if (!specs_parse(specs, "random.spec", text, strlen(text), &error)) {
		fprintf(stderr, "%s: %s\n%s", error.where, error.what, text);
		g_error("a random specification does not parse");
	}
	g_free(text);
	return specs_object(specs, "thing");
}

/* Random traces. */

struct maker { /* writes a random well-formed trace */
	struct dice *d;
	const struct spec_object *o;
	GString *out;
	int lock_owner[2];
	/* Open scopes by thread, the outermost first: 2 * method, 1 more on the second object.
	 */
	uint32_t open[4][2], depth[4];
	uint32_t sent, received;
};

static void arguments(struct maker *k, const struct spec_method *m)
{
	for (uint32_t i = 0; i < m->arguments; i++)
		g_string_append_printf(k->out, ",%s", value_texts[some_value(k->d)]);
}

static void results(struct maker *k, const struct spec_method *m)
{
	for (uint32_t i = 0; i < m->results; i++)
		g_string_append_printf(k->out, "%s%s", i ? "," : "=",
		                       value_texts[some_value(k->d)]);
}

static void one_event(struct maker *k, uint32_t t)
{
	uint32_t what = roll(k->d, 12), lock = roll(k->d, 2),
	         method = roll(k->d, k->o->methods->len);
	const struct spec_method *m = spec_method_at(k->o, method);
	if (what < 3) {
		if (k->lock_owner[lock] == -1) {
			k->lock_owner[lock] = (int)t;
			g_string_append_printf(k->out, "T%u|acq(l%u)|1\n", t, lock);
			return;
		}
		if (k->lock_owner[lock] == (int)t) {
			k->lock_owner[lock] = -1;
			g_string_append_printf(k->out, "T%u|rel(l%u)|1\n", t, lock);
			return;
		}
	}
	if (what > 9) {
		g_string_append_printf(k->out, "T%u|%c(x%u)|1\n", t, "rw"[roll(k->d, 2)],
		                       roll(k->d, 3));
		return;
	}
	if (what == 3 && k->sent == k->received) {
		g_string_append_printf(k->out, "T%u|snd(g%u)|1\n", t, ++k->sent);
	} else if (what == 4 && k->sent > k->received) {
		g_string_append_printf(k->out, "T%u|rcv(g%u)|1\n", t, ++k->received);
	} else if (k->depth[t] > 0 && what < 7) {
		uint32_t scope = k->open[t][--k->depth[t]];

		m = spec_method_at(k->o, scope / 2);
		g_string_append_printf(k->out, "T%u|ret(%c.%s)", t, "oq"[scope % 2], m -> name);
		results(k, m);
		g_string_append_printf(k->out, "|1\n");
	} else if (k->depth[t] < 2 && what == (k->depth[t] ? 7 : 5)) {
		uint32_t second = roll(k->d, 3) == 0;

		k->open[t][k->depth[t]++] = 2 * method + second;
		g_string_append_printf(k->out, "T%u|call(%c.%s", t, "oq"[second], m -> name);
		arguments(k, m);
		g_string_append_printf(k->out, ")|1\n");
	} else {
		g_string_append_printf(k->out, "T%u|act(%s.%s", t, roll(k->d, 4) ? "o" : "q",
		                       m->name);
		arguments(k, m);
		g_string_append_printf(k->out, ")");
		results(k, m);
		g_string_append_printf(k->out, "|%u\n", roll(k->d, 5));
	}
}

struct trace *random_invocations(struct dice *d, const struct spec_object *o)
{
	struct maker k = {
		d,          o,         g_string_new("#! object o thing\n#! object q thing\n"),
		{ -1, -1 }, { { 0 } }, { 0 },
		0,          0
	};
	uint32_t threads = 2 + roll(d, 3), events = 8 + roll(d, 40);
	bool forks = roll(d, 2);
	for (uint32_t t = 1; forks && t < threads; t++)
		g_string_append_printf(k.out, "T0|fork(T%u)|1\n", t);
	for (uint32_t i = 0; i < events; i++)
		one_event(&k, roll(d, threads));
	if (forks && threads > 1 && k.depth[1] == 0 && roll(d, 2)) {
		g_string_append(k.out, "T0|join(T1)|1\n");
		one_event(&k, 0);
	}
	struct error error = { 0 };
	struct trace *t = coverage_trace(
	        trace_from_text("random.txt", k.out->str, k.out->len, NULL, &error));
	if (t == NULL)
		g_error("%s: %s\n%s", error.where, error.what, k.out->str);
	g_string_free(k.out, TRUE);
	return t;
}

/* Tests against a definition. */

void random_case_make(struct random_case *c, uint64_t seed, bool ecl)
{
	struct dice d = { seed };
	struct error error = { 0 };
	c->specs = specs_new();
	const struct spec_object *o = random_object(&d, ecl, false, c->specs);
	c->t = random_invocations(&d, o);
	c->m = model_new(c->t, c->specs, NULL, &error);
	if (c->m == NULL)
		g_error("%s: %s", error.where, error.what);
}

void random_case_release(struct random_case *c)
{
	model_free(c->m);
	trace_close(c->t);
	specs_free(c->specs);
}

void close_relation(bool (*order)[RANDOM_MOST_EVENTS], uint32_t n)
{
	for (uint32_t k = 0; k < n; k++)
		for (uint32_t e = 0; e < k; e++)
			for (uint32_t f = k + 1; f < n && order[e][k]; f++)
				order[e][f] |= order[k][f];
}

static const struct definition_test *definition;

static void every_seed(bool ecl)
{
	uint64_t first = mix_setting("HEDDLE_SEED", 1);
	uint64_t seen = 0;
	for (uint64_t seed = first; seed < first + definition->seeds; seed++)
		seen += definition->compare(seed, ecl);
	ck_assert_uint_gt(seen, ecl ? definition->least_ecl : definition->least_not);
}

START_TEST(ecl)
{
	every_seed(true);
}
END_TEST

START_TEST(not_ecl)
{
	every_seed(false);
}
END_TEST

int definition_main(const struct definition_test *test)
{
	definition = test;
	Suite *s = suite_create(test->suite);
	TCase *c = tcase_create("against the definition");
	tcase_add_test(c, ecl);
	tcase_add_test(c, not_ecl);
	suite_add_tcase(s, c);
	return suite_run(s);
}
