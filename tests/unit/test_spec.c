/* test_spec.c - the specification language: accepted texts, refused ones with their places,
 * proofs; the specifications that ship. */
#include "engine/base/home.h"
#include "engine/commute/language/eval.h"
#include "engine/commute/language/points.h"
#include "engine/commute/language/prove.h"
#include "tests/support/suite.h"

#include <check.h>
#include <string.h>

static struct specs *read_text(const char *text)
{
	struct error error = { 0 };
	struct specs *s = specs_new();
	ck_assert_msg(specs_parse(s, "dir/t.spec", text, strlen(text), &error), "%s: %s",
	              error.where, error.what);
	return s;
}

static void refused(const char *text, const char *where, const char *what)
{
	struct error error = { 0 };
	struct specs *s = specs_new();
	ck_assert_msg(!specs_parse(s, "dir/t.spec", text, strlen(text), &error), "accepted: %s",
	              text);
	ck_assert_str_eq(error.where, where);
	ck_assert_msg(strstr(error.what, what) != NULL, "'%s' is not in '%s'", what,
	              error.what);
	ck_assert_uint_eq(s->objects->len, 0);
	specs_free(s);
}

START_TEST(errors_name_place_expectation_and_declaration)
{
	refused("object d {\n  metod put(k)\n}", "t.spec:2:3", "expected 'method'");
	refused("object d {\n  metod put(k)\n}", "t.spec:2:3", "found 'metod', in object d");
	refused("object d { method m(a) commute m(x), m(y) : x ?= y }", "t.spec:1:47",
	        "expected a word of the language, found '?'");
	refused("object d { method m(a) commute m(x), m(y) : x != z }", "t.spec:1:50",
	        "expected a name that is bound here, found 'z'");
	refused("object d { method m(a) commute m(x), m(x) : true }", "t.spec:1:24",
	        "'x' twice");
	refused("object d { method m(a) / r commute m(x), m(y) : true }", "t.spec:1:40",
	        "expected 1 result of m, found 0");
	refused("object d { method m(a) commute m(x, y), m : true }", "t.spec:1:33",
	        "expected 1 argument of m, found 2");
	refused("object d { method m() commute m, n : true }", "t.spec:1:34", "found 'n'");
	refused("object d { method m() commute m, m : true commute m, m : false }",
	        "t.spec:1:43", "found a second");
	refused("object d { method m() method m() }", "t.spec:1:30", "a second time");
	refused("object d { method m(a) commute m(x), m(y) : x + y }", "t.spec:1:47",
	        "expected a condition, found arithmetic");
	refused("object d { method m(a) commute m(x), m(y) : 5 && x }", "t.spec:1:45",
	        "expected a condition, found an integer");
	refused("object d {\n method m()\n", "t.spec:3:1", "the end of the file");
	refused("objekt d { }", "t.spec:1:1", "expected 'object', 'atomics' or 'missing'");
	refused("object d { state s : sett }", "t.spec:1:22", "expected a sort");
	refused("object d { state n : int = true }", "t.spec:1:28", "of sort int");
	refused("object d { method m() state d : map effect m() { d := 1 } }", "t.spec:1:50",
	        "found the map 'd'");
	refused("object d { method m() effect m() { } effect m() { } }", "t.spec:1:45",
	        "a second");
	refused("object d { method m() state s : \"abc\n }", "t.spec:1:33", "closing quote");
	refused("object d { method m(a) commute m(x), m(y) : x != \"a\\x00\" }", "t.spec:1:50",
	        "other than NUL");
	refused("object d { method m(a) commute m(x), m(y) : x < 99999999999999999999 }",
	        "t.spec:1:49", "64 bits");
	refused("object d { method m(a) bind m = \"f(struct x *self)\" }", "t.spec:1:33",
	        "a parameter for each argument");
	refused("object d { method m() bind m = \"f(int a)\" }", "t.spec:1:32", "self");
	refused("atomics a { unit f on s }", "t.spec:1:23", "expected a declared set");
	refused("atomics a { split now }", "t.spec:1:19", "'wait'");
	refused("missing { function f(a) reaches b }", "t.spec:1:33",
	        "expected a parameter of f");
}
END_TEST

START_TEST(formulas_have_the_precedence_of_c)
{
	struct specs *s =
	        read_text("object d { method m(a, b) / r\n"
	                  "commute m(a, b) / r, m(c, d) / _ : a + b * 2 - c == d % 3 || "
	                  "!(a < b) && r != nil && a != \"x\\\"y\" }");
	const struct spec_object *o = specs_object(s, "d");
	const struct spec_condition *c = spec_condition_of(o, 0, 0);
	GString *out = g_string_new(NULL);
	expr_print(o, c->formula, (char **const[2]){ c->names[0], c->names[1] }, out);
	ck_assert_str_eq(out->str,
	                 "a + b * 2 - c == d % 3 || (!(a < b) && r != nil && a != \"x\\\"y\")");
	g_string_free(out, TRUE);
	specs_free(s);
}
END_TEST

static enum truth value_of(const char *formula, struct val a, struct val b, bool *overflow)
{
	char *text = g_strdup_printf(
	        "object d { method m(a) method k(b) commute m(a), k(b) : %s }", formula);
	struct specs *s = read_text(text);
	struct texts texts;
	texts_init(&texts);
	enum truth t = eval_commute(specs_object(s, "d"), 0, &a, 1, &b, &texts, overflow);
	texts_release(&texts);
	specs_free(s);
	g_free(text);
	return t;
}

START_TEST(atoms_on_odd_values)
{
	struct val one = { V_INT, 1 }, token = { V_TOKEN, 7 }, open = { V_NONE, 0 },
	           largest = { V_INT, INT64_MAX }, nil = { V_NIL, 0 };
	bool overflow = false;
	ck_assert_int_eq(value_of("a < b", one, token, &overflow), TRUTH_NO);
	ck_assert_int_eq(value_of("!(a < b)", one, token, &overflow), TRUTH_YES);
	ck_assert_int_eq(value_of("a != b", one, token, &overflow), TRUTH_YES);
	ck_assert_int_eq(value_of("a + b == 1", one, token, &overflow), TRUTH_NO);
	ck_assert_int_eq(value_of("a + b != 1", one, token, &overflow), TRUTH_NO);
	ck_assert_int_eq(value_of("a % 0 == 0", one, one, &overflow), TRUTH_NO);
	ck_assert_int_eq(value_of("-7 % 4 == -3 && a == 1", one, one, &overflow), TRUTH_YES);
	ck_assert_int_eq(value_of("a == nil", nil, one, &overflow), TRUTH_YES);
	ck_assert_int_eq(value_of("a == \"7\"", token, one, &overflow), TRUTH_NO);
	ck_assert_int_eq(value_of("a == b", open, one, &overflow), TRUTH_UNKNOWN);
	ck_assert_int_eq(value_of("a == b || b == 1", open, one, &overflow), TRUTH_YES);
	ck_assert(!overflow);
	value_of("a + b > 0", largest, one, &overflow);
	ck_assert(overflow);
}
END_TEST

/* A condition that spec check would refuse is taken to hold only where it holds both ways. */
START_TEST(asymmetric_conditions_hold_where_they_do_both_ways)
{
	struct specs *s = read_text("object d { method m(a) commute m(a), m(b) : a == 1 }");
	struct val one = { V_INT, 1 }, two = { V_INT, 2 };
	struct texts texts;
	bool overflow = false;
	texts_init(&texts);
	const struct spec_object *o = specs_object(s, "d");
	ck_assert_int_eq(eval_commute(o, 0, &one, 0, &one, &texts, &overflow), TRUTH_YES);
	ck_assert_int_eq(eval_commute(o, 0, &one, 0, &two, &texts, &overflow), TRUTH_NO);
	ck_assert_int_eq(eval_commute(o, 0, &two, 0, &one, &texts, &overflow), TRUTH_NO);
	texts_release(&texts);
	specs_free(s);
}
END_TEST

START_TEST(bindings)
{
	struct specs *s = read_text("object d { method put(k, v) / p\n"
	                            "bind put = \"dict_put(struct dict *self, const char *k, "
	                            "void *v) -> void * p\"\n"
	                            "method add(n) / r\n"
	                            "bind add = \"ns::add(unsigned long n, int self, long "
	                            "flags, ...) -> bool r\" }");
	const struct spec_object *o = specs_object(s, "d");
	const struct spec_bind *b = spec_method_at(o, 0)->binds->pdata[0];
	ck_assert_str_eq(b->function, "dict_put");
	ck_assert_uint_eq(b->parameters->len, 3);
	const struct bind_parameter *p =
	        &g_array_index(b->parameters, struct bind_parameter, 0);
	ck_assert_int_eq(p[0].role, BIND_SELF);
	ck_assert_int_eq(p[0].type, BIND_POINTER);
	ck_assert_int_eq(p[1].role, BIND_NAME);
	ck_assert_uint_eq(p[1].index, 0);
	ck_assert_int_eq(p[1].type, BIND_STRING);
	ck_assert_int_eq(p[2].type, BIND_POINTER);
	ck_assert_uint_eq(p[2].index, 1);
	ck_assert_int_eq(b->result.role, BIND_NAME);
	ck_assert_uint_eq(b->result.index, 2);
	b = spec_method_at(o, 1)->binds->pdata[0];
	p = &g_array_index(b->parameters, struct bind_parameter, 0);
	ck_assert_str_eq(b->function, "ns::add");
	ck_assert_int_eq(p[0].type, BIND_UNSIGNED);
	ck_assert_uint_eq(p[0].size, 8);
	ck_assert_int_eq(p[1].role, BIND_SELF);
	ck_assert_int_eq(p[1].type, BIND_SIGNED);
	ck_assert_int_eq(p[2].role, BIND_IGNORED);
	ck_assert_int_eq(b->result.type, BIND_BOOL);
	specs_free(s);
}
END_TEST

/* A result through a pointer, an object that the call makes, one for the whole program. */
START_TEST(bindings_of_libraries)
{
	struct specs *s = read_text(
	        "object d { method get(k) / found, v\n"
	        "bind get = \"map_get(struct map *self, int k, void **v) -> bool found\"\n"
	        "method open()\n"
	        "bind open = \"dup(int old) -> int self\"\n"
	        "method find(k) / n\n"
	        "bind find = \"find(const char *k, int *n, global self)\" }");
	const struct spec_object *o = specs_object(s, "d");
	const struct spec_bind *b = spec_method_at(o, 0)->binds->pdata[0];
	const struct bind_parameter *p =
	        &g_array_index(b->parameters, struct bind_parameter, 0);
	ck_assert_int_eq(p[2].role, BIND_OUT);
	ck_assert_int_eq(p[2].type, BIND_POINTER);
	ck_assert_uint_eq(p[2].index, 2);
	ck_assert_uint_eq(b->result.index, 1);
	b = spec_method_at(o, 1)->binds->pdata[0];
	ck_assert_int_eq(b->result.role, BIND_SELF);
	b = spec_method_at(o, 2)->binds->pdata[0];
	p = &g_array_index(b->parameters, struct bind_parameter, 0);
	ck_assert(b->global);
	ck_assert_uint_eq(b->parameters->len, 2); /* it is none */
	ck_assert_int_eq(p[1].role, BIND_OUT);
	ck_assert_int_eq(p[1].type, BIND_SIGNED);
	ck_assert_uint_eq(p[1].size, 4);
	/* Refused texts, and their messages. */
	static const char *const bad[][2] = {
		{ "f(int k) -> int n",
		  "a parameter named self (the object), or 'global self'" },
		{ "f(int self, const char *k, void *n)",
		  "a pointer to a type that is known where a parameter is a result" },
		{ "f(int self, const char *k)", "a value for each result of the method" },
		{ "f(int self, struct key k) -> int n",
		  "a C type that is known (a pointer, an integer type, bool)" },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
		const char *expected;
		ck_assert_ptr_null(spec_bind_parse(spec_method_at(o, 2), bad[i][0], &expected));
		ck_assert_str_eq(expected, bad[i][1]);
	}
	specs_free(s);
}
END_TEST

START_TEST(atomics_and_missing_blocks)
{
	struct specs *s = read_text(
	        "atomics bank {\n"
	        "  set account  : struct account { checking, savings }   # one set "
	        "per instance\n"
	        "  set counters : global op_counter, op_total\n"
	        "  unit transfer on account\n"
	        "  owned struct hashset . map\n"
	        "  unitfor list_copy(src)\n"
	        "  split wait, join\n"
	        "}\n"
	        "missing {\n"
	        "  library \"libcrypto.so*\"\n"
	        "  function legacy_flush(buf, len) reaches buf, global legacy_state\n"
	        "  function pack(to, from, bytes) reaches bytes to, bytes, bytes from, near to\n"
	        "  function odd(bytes) reaches bytes\n"
	        "  function none(x)\n"
	        "}\n");
	const struct spec_atomics *a = s->atomics->pdata[0];
	ck_assert_str_eq(a->name, "bank");
	const struct spec_set *account = a->sets->pdata[0], *counters = a->sets->pdata[1];
	ck_assert_str_eq(account->type, "account");
	ck_assert_str_eq(account->members->pdata[1], "savings");
	ck_assert_ptr_null(counters->type);
	ck_assert_str_eq(counters->members->pdata[0], "op_counter");
	ck_assert_str_eq(((struct spec_unit *)a->units->pdata[0])->sets->pdata[0], "account");
	ck_assert_str_eq(((struct spec_owned *)a->owned->pdata[0])->member, "map");
	ck_assert_str_eq(((struct spec_unitfor *)a->unitfors->pdata[0])->parameter, "src");
	ck_assert_uint_eq(a->splits->len, 2);
	const struct spec_missing *m = s->missing->pdata[0];
	const struct spec_missing_function *f = m->functions->pdata[0];
	ck_assert_str_eq(m->libraries->pdata[0], "libcrypto.so*");
	ck_assert_str_eq(f->reaches->pdata[0], "buf");
	ck_assert_str_eq(f->globals->pdata[0], "legacy_state");
	ck_assert_uint_eq(f->parameters->len, 2);
	ck_assert_uint_eq(f->bytes->len, 0);
	f = m->functions->pdata[1]; /* `bytes` is a word before a parameter, else one of them */
	ck_assert_uint_eq(f->reaches->len, 1);
	ck_assert_str_eq(f->reaches->pdata[0], "bytes");
	ck_assert_uint_eq(f->bytes->len, 2);
	ck_assert_str_eq(f->bytes->pdata[1], "from");
	ck_assert_uint_eq(f->near->len, 1);
	f = m->functions->pdata[2];
	ck_assert_uint_eq(f->reaches->len, 1);
	ck_assert_uint_eq(f->bytes->len, 0);
	f = m->functions->pdata[3];
	ck_assert_uint_eq(f->reaches->len + f->bytes->len + f->globals->len, 0);
	specs_free(s);
}
END_TEST

START_TEST(later_declarations_replace_earlier_ones)
{
	struct specs *s = read_text("object d { method a() } object e { method a() }");
	const char *again = "object d { method b() } missing { library \"x\" }";
	ck_assert(specs_parse(s, "u.spec", again, strlen(again), NULL));
	ck_assert(specs_parse(s, "u.spec", again, strlen(again), NULL));
	ck_assert_uint_eq(s->objects->len, 2);
	ck_assert_uint_eq(s->missing->len, 1);
	ck_assert_str_eq(spec_method_at(specs_object(s, "d"), 0)->name, "b");
	specs_free(s);
}
END_TEST

START_TEST(good_orders)
{
	struct specs *s =
	        read_text("object d { method r() method w() method f() order r, w before f }");
	const struct spec_object *o = specs_object(s, "d");
	ck_assert_int_eq(spec_good_order(o, 0, 2), 1);
	ck_assert_int_eq(spec_good_order(o, 2, 1), -1);
	ck_assert_int_eq(spec_good_order(o, 0, 1), 0);
	specs_free(s);
}
END_TEST

START_TEST(classes)
{
	static const struct {
		const char *formula;
		enum ecl_class class;
		const char *atom;
	} cases[] = {
		{ "true", ECL_SIMPLE, NULL },
		{ "false", ECL_SIMPLE, NULL },
		{ "a != c", ECL_SIMPLE, NULL },
		{ "a != c && b != d", ECL_SIMPLE, NULL },
		{ "!(a == c)", ECL_SIMPLE, NULL },
		{ "a == 1", ECL_YES, NULL },
		{ "a != c || (a == b && c == d)", ECL_YES, NULL },
		{ "(a != c || a < b) && (b != d || c > d)", ECL_YES, NULL },
		{ "!(a == c && b > 0)", ECL_YES, NULL },
		{ "a == c", ECL_NEITHER, "a == c" },
		{ "a < c || b == 1", ECL_NEITHER, "a < c" },
		{ "a != c || b != d", ECL_NEITHER, "b != d" },
		{ "a + b != c", ECL_NEITHER, "a + b != c" },
		{ "!(a != c)", ECL_NEITHER, "a != c" },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		char *text = g_strdup_printf(
		        "object o { method m(x, y) commute m(a, b), m(c, d) : %s }",
		        cases[i].formula);
		struct specs *s = read_text(text);
		const struct spec_object *o = specs_object(s, "o");
		const struct spec_condition *c = spec_condition_of(o, 0, 0);
		struct ecl ecl = ecl_classify(c);
		ck_assert_msg(ecl.class == cases[i].class, "%s", cases[i].formula);
		if (cases[i].atom) {
			GString *out = g_string_new(NULL);
			expr_print(o, ecl.in_the_way,
			           (char **const[2]){ c->names[0], c->names[1] }, out);
			ck_assert_str_eq(out->str, cases[i].atom);
			g_string_free(out, TRUE);
		}
		specs_free(s);
		g_free(text);
	}
}
END_TEST

/* Figure 7 of the RD2 paper. */
START_TEST(points_of_the_dictionary)
{
	struct error error = { 0 };
	struct specs *s = specs_open(NULL, &error);
	ck_assert_msg(s != NULL, "%s: %s", error.where, error.what);
	const struct spec_object *o = specs_object(s, "dict");
	struct points *p = points_new(o);
	static const char *const names[] = { "w", "r", "resize", "size" };
	static const char *const clashes[] = { "w r", "w", "size", "resize" };
	ck_assert_uint_eq(points_count(p), 4);
	for (uint32_t i = 0; i < 4; i++) {
		const struct point *point = points_at(p, i);
		GString *list = g_string_new(NULL);
		ck_assert_str_eq(point->name, names[i]);
		ck_assert(i < 2 ? strcmp(point->key, "k") == 0 : point->key == NULL);
		for (uint32_t k = 0; k < 4; k++)
			for (guint n = 0; n < point->conflicts->len; n++)
				if (g_array_index(point->conflicts, uint32_t, n) == k)
					g_string_append_printf(list, "%s%s",
					                       list->len ? " " : "", names[k]);
		ck_assert_str_eq(list->str, clashes[i]);
		g_string_free(list, TRUE);
	}
	/* put(5, 6) / nil touches w:5 and resize; put(5, 6) / 6 r:5. */
	struct texts texts;
	texts_init(&texts);
	bool overflow = false;
	uint32_t count;
	struct val fresh[3] = { { V_INT, 5 }, { V_INT, 6 }, { V_NIL, 0 } };
	const struct touch *t = points_touched(p, 0, fresh, &texts, &count, &overflow);
	ck_assert_uint_eq(count, 2);
	ck_assert_uint_eq(t[0].point + t[1].point, 0 + 2);
	fresh[2] = fresh[1];
	t = points_touched(p, 0, fresh, &texts, &count, &overflow);
	ck_assert_uint_eq(count, 1);
	ck_assert_uint_eq(t[0].point, 1);
	texts_release(&texts);
	points_free(p);
	specs_free(s);
}
END_TEST

/* Every condition that ships is sound, and the imprecise ones are listed. */
START_TEST(shipped_specifications_are_proved)
{
	static const char *const names[] = { "dict",    "set",        "counter",  "queue",
		                             "stack",   "union-find", "register", "memory",
		                             "condvar", "channel",    "fd",       "context" };
	struct error error = { 0 };
	struct specs *s = specs_open(NULL, &error);
	ck_assert_msg(s != NULL, "%s: %s", error.where, error.what);
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
		const struct spec_object *o = specs_object(s, names[i]);
		ck_assert_msg(o != NULL, "%s does not ship", names[i]);
		struct prover *p = prover_new(o, 5000);
		guint pairs = o->methods->len * (o->methods->len + 1) / 2;
		ck_assert_msg(o->conditions->len == pairs, "%s leaves a pair to the default",
		              names[i]);
		for (guint k = 0; k < o->conditions->len; k++) {
			const struct spec_condition *c = o->conditions->pdata[k];
			struct condition_check check;
			prove_condition(p, c, &check);
			ck_assert_msg(check.sound.answer == ANSWER_YES, "%s line %u: %s",
			              names[i], c->line,
			              check.sound.example ? check.sound.example : "not proved");
			ck_assert(check.symmetric.answer == ANSWER_YES ||
			          c->methods[0] != c->methods[1]);
			ck_assert_int_ne(ecl_classify(c).class, ECL_NEITHER);
			condition_check_release(&check);
		}
		prover_free(p);
	}
	specs_free(s);
}
END_TEST

static void check_one(const char *text, struct condition_check *check)
{
	struct specs *s = read_text(text);
	const struct spec_object *o = s->objects->pdata[0];
	struct prover *p = prover_new(o, 5000);
	prove_condition(p, o->conditions->pdata[0], check);
	prover_free(p);
	specs_free(s);
}

START_TEST(unsound_conditions_are_refused_with_a_counterexample)
{
	struct condition_check c;
	check_one("object d { method put(k, v) / p method get(k) / v\n"
	          "commute put(k1, v1) / p1, get(k2) / v2 : k1 != k2 || v1 == v2\n"
	          "state d : map effect put(k, v) / p { p == d[k]; d[k] := v }\n"
	          "effect get(k) / v { v == d[k] } }",
	          &c);
	ck_assert_int_eq(c.sound.answer, ANSWER_NO);
	ck_assert_msg(strstr(c.sound.example, "put(") && strstr(c.sound.example, "d["), "%s",
	              c.sound.example);
	condition_check_release(&c);
	check_one("object c { method add(n) method read() / r\n"
	          "commute add(n), read() / r : n < 1\n"
	          "state v : int effect add(n) { v := v + n } effect read() / r { r == v } }",
	          &c);
	ck_assert_int_eq(c.sound.answer, ANSWER_NO);
	ck_assert_msg(strstr(c.sound.example, "add(-"), "%s", c.sound.example);
	condition_check_release(&c);
	check_one("object s { method unite(a, b) method same(a, b) / r\n"
	          "commute unite(a, b), same(c, d) / r : a != c && b != d && a != d && b != c\n"
	          "state p : partition effect unite(a, b) { p += a ~ b }\n"
	          "effect same(a, b) / r { r == (a ~ b in p) } }",
	          &c);
	ck_assert_int_eq(c.sound.answer, ANSWER_NO);
	condition_check_release(&c);
}
END_TEST

/* More unions in a row than the prover says leave the answer open; fewer are decided. */
START_TEST(long_effects_on_partitions)
{
	static const char *const more[] = { "",
		                            "p += a ~ d; p += d ~ b; p += c ~ a; p += d ~ a" };
	for (size_t i = 0; i < G_N_ELEMENTS(more); i++) {
		struct condition_check c;
		char *text = g_strdup_printf(
		        "object s { method m(a, b, c, d) commute m, m : true state p : "
		        "partition\n"
		        "effect m(a, b, c, d) { p += a ~ b; p += b ~ c; p += c ~ d; %s } }",
		        more[i]);
		check_one(text, &c);
		ck_assert_int_eq(c.sound.answer, i ? ANSWER_OPEN : ANSWER_YES);
		ck_assert(!condition_refused(&c));
		condition_check_release(&c);
		g_free(text);
	}
}
END_TEST

START_TEST(asymmetric_conditions_are_refused)
{
	struct condition_check c;
	check_one("object d { method m(a) commute m(x), m(y) : x != y || x == 1 }", &c);
	ck_assert_int_eq(c.symmetric.answer, ANSWER_YES); /* where x == y, x == 1 is y == 1 */
	ck_assert_int_eq(c.sound.answer, ANSWER_UNASKED);
	condition_check_release(&c);
	check_one("object d { method m(a) commute m(x), m(y) : x == 1 }", &c);
	ck_assert_int_eq(c.symmetric.answer, ANSWER_NO);
	ck_assert_ptr_nonnull(strstr(c.symmetric.example, "m("));
	condition_check_release(&c);
}
END_TEST

START_TEST(precision)
{
	struct condition_check c;
	check_one("object d { method put(k, v) / p\n"
	          "commute put(k1, v1) / p1, put(k2, v2) / p2 : k1 != k2\n"
	          "state d : map effect put(k, v) / p { p == d[k]; d[k] := v } }",
	          &c);
	ck_assert_int_eq(c.sound.answer, ANSWER_YES);
	ck_assert_int_eq(c.precise.answer, ANSWER_NO);
	ck_assert_ptr_nonnull(strstr(c.precise.example, "put("));
	condition_check_release(&c);
	check_one("object d { method put(k, v) / p\n"
	          "commute put(k1, v1) / p1, put(k2, v2) / p2 : k1 != k2 || (v1 == p1 && v2 == "
	          "p2)\n"
	          "state d : map effect put(k, v) / p { p == d[k]; d[k] := v } }",
	          &c);
	ck_assert_int_eq(c.precise.answer, ANSWER_YES);
	condition_check_release(&c);
}
END_TEST

/* Effects run on values: a queue returns its elements in order. */
START_TEST(effects_run)
{
	struct error error = { 0 };
	struct specs *s = specs_open(NULL, &error);
	const struct spec_object *queue = specs_object(s, "queue"),
	                         *sets = specs_object(s, "union-find");
	struct texts texts;
	texts_init(&texts);
	struct val a = { V_TOKEN, 1 }, b = { V_TOKEN, 2 }, nil = { V_NIL, 0 };
	struct abstract_state *r = abstract_state_new(queue, &texts);
	uint64_t empty = abstract_state_digest(r);
	ck_assert_int_eq(abstract_state_step(r, 1, &nil, &texts), RESULT_SAME);
	ck_assert_uint_eq(abstract_state_digest(r), empty);
	ck_assert_int_eq(abstract_state_step(r, 0, &a, &texts), RESULT_SAME);
	ck_assert_int_eq(abstract_state_step(r, 0, &b, &texts), RESULT_SAME);
	struct abstract_state *copy = abstract_state_copy(r);
	ck_assert_int_eq(abstract_state_step(copy, 1, &b, &texts), RESULT_OTHER);
	abstract_state_free(copy);
	ck_assert_int_eq(abstract_state_step(r, 1, &a, &texts), RESULT_SAME);
	ck_assert_int_eq(abstract_state_step(r, 1, &b, &texts), RESULT_SAME);
	ck_assert_int_eq(abstract_state_step(r, 1, &nil, &texts), RESULT_SAME);
	abstract_state_free(r);
	r = abstract_state_new(sets, &texts);
	struct val no[3] = { a, b, { V_FALSE, 0 } }, yes[3] = { a, b, { V_TRUE, 0 } };
	ck_assert_int_eq(abstract_state_step(r, 1, no, &texts), RESULT_SAME);
	ck_assert_int_eq(abstract_state_step(r, 0, no, &texts), RESULT_SAME);
	ck_assert_int_eq(abstract_state_step(r, 1, yes, &texts), RESULT_SAME);
	abstract_state_free(r);
	texts_release(&texts);
	specs_free(s);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("spec");
	TCase *c = tcase_create("language");
	tcase_add_test(c, errors_name_place_expectation_and_declaration);
	tcase_add_test(c, formulas_have_the_precedence_of_c);
	tcase_add_test(c, atoms_on_odd_values);
	tcase_add_test(c, asymmetric_conditions_hold_where_they_do_both_ways);
	tcase_add_test(c, bindings);
	tcase_add_test(c, bindings_of_libraries);
	tcase_add_test(c, atomics_and_missing_blocks);
	tcase_add_test(c, later_declarations_replace_earlier_ones);
	tcase_add_test(c, good_orders);
	tcase_add_test(c, classes);
	tcase_add_test(c, points_of_the_dictionary);
	tcase_add_test(c, shipped_specifications_are_proved);
	tcase_add_test(c, unsound_conditions_are_refused_with_a_counterexample);
	tcase_add_test(c, long_effects_on_partitions);
	tcase_add_test(c, asymmetric_conditions_are_refused);
	tcase_add_test(c, precision);
	tcase_add_test(c, effects_run);
	suite_add_tcase(s, c);
	return suite_run(s);
}
