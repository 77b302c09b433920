/*
 * cmd_spec.c - `heddle spec check F` and `heddle spec points F`: checks specifications, and
 * prints their access points.
 */
#include "engine/commute/language/points.h"
#include "engine/commute/language/prove.h"
#include "tui/batch/command.h"
#include "tui/batch/print/print.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#define SOLVER_MILLISECONDS 2000

static const struct command_option options[] = {
	OPTION_FORMAT,
	{ 0 },
};

/* "put(k1, v1) / p1, get(k2) / v2" */
static char *pair_text(const struct spec_object *o, const struct spec_condition *c)
{
	GString *s = g_string_new(NULL);
	spec_print_side(o, c, 0, s);
	g_string_append(s, ", ");
	spec_print_side(o, c, 1, s);
	return g_string_free(s, FALSE);
}

static char *formula_text(const struct spec_object *o, const struct spec_condition *c,
                          const struct expr *e)
{
	GString *s = g_string_new(NULL);
	expr_print(o, e, (char **const[2]){ c->names[0], c->names[1] }, s);
	return g_string_free(s, FALSE);
}

static const char *answer_text(enum proof_answer a, const char *yes, const char *no)
{
	return a == ANSWER_YES    ? yes
	       : a == ANSWER_NO   ? no
	       : a == ANSWER_OPEN ? "not decided"
	                          : NULL;
}

static json_t *answer_json(enum proof_answer a)
{
	return a == ANSWER_YES ? json_true() : a == ANSWER_NO ? json_false() : json_null();
}

/* One condition as text: a head line, then its results. */
static void print_condition(const struct spec_object *o, const struct spec_condition *c,
                            const struct ecl *ecl, const struct condition_check *check)
{
	g_autofree char *pair = pair_text(o, c), *formula = formula_text(o, c, c->formula);
	const char *sound = answer_text(check->sound.answer, "sound", "UNSOUND");
	const char *precise = answer_text(check->precise.answer, "precise", "not precise");
	const char *asymmetric = check->symmetric.answer == ANSWER_NO ? ", NOT SYMMETRIC"
	                         : check->symmetric.answer == ANSWER_OPEN
	                                 ? ", symmetry not decided"
	                                 : "";
	printf("  line %u: %s : %s\n    %s%s, %s%s%s\n", c->line, pair, formula,
	       ecl_word(ecl->class), asymmetric,
	       sound ? sound : "soundness not proved (no effects)", precise ? ", " : "",
	       !precise                               ? ""
	       : check->precise.answer == ANSWER_OPEN ? "precision not decided"
	                                              : precise);
	if (ecl->in_the_way) {
		g_autofree char *atom = formula_text(o, c, ecl->in_the_way);
		printf("    not ECL because of %s: %s; checked pair by pair, in linear time\n",
		       atom, ecl->why);
	}
	if (check->symmetric.example)
		printf("    not symmetric: %s\n", check->symmetric.example);
	if (check->sound.example)
		printf("    not sound: %s\n", check->sound.example);
	if (check->precise.example)
		printf("    not precise: %s\n", check->precise.example);
}

static json_t *condition_json(const struct spec_object *o, const struct spec_condition *c,
                              const struct ecl *ecl, const struct condition_check *check)
{
	g_autofree char *pair = pair_text(o, c), *formula = formula_text(o, c, c->formula);
	json_t *j = json_pack("{s[oo]sososIss}", "methods",
	                      json_text(spec_method_at(o, c->methods[0])->name),
	                      json_text(spec_method_at(o, c->methods[1])->name), "invocations",
	                      json_text(pair), "condition", json_text(formula), "line",
	                      (json_int_t)c->line, "class", ecl_word(ecl->class));
	if (ecl->in_the_way) {
		g_autofree char *atom = formula_text(o, c, ecl->in_the_way);
		json_object_set_new(j, "in_the_way", json_text(atom));
		json_object_set_new(j, "why", json_string(ecl->why));
	}
	if (check->symmetric.answer != ANSWER_UNASKED)
		json_object_set_new(j, "symmetric", answer_json(check->symmetric.answer));
	json_object_set_new(j, "sound", answer_json(check->sound.answer));
	json_object_set_new(j, "precise", answer_json(check->precise.answer));
	json_object_set_new(j, "refused", json_boolean(condition_refused(check)));
	const char *example =
	        check->symmetric.example ? check->symmetric.example : check->sound.example;
	if (example)
		json_object_set_new(j, "counterexample", json_text(example));
	if (check->precise.example)
		json_object_set_new(j, "imprecise_for", json_text(check->precise.example));
	return j;
}

/* Checks pairs that no line names. */
static void check_defaults(const struct spec_object *o, json_t *json)
{
	for (guint m1 = 0; m1 < o->methods->len; m1++)
		for (guint m2 = m1; m2 < o->methods->len; m2++) {
			if (spec_condition_of(o, m1, m2) != NULL)
				continue;
			const char *a = spec_method_at(o, m1)->name,
			           *b = spec_method_at(o, m2)->name;
			if (json)
				json_array_append_new(json, json_pack("[ss]", a, b));
			else
				printf("  default: %s, %s : false (no line names this pair)\n",
				       a, b);
		}
}

/* Returns the number of refused conditions. */
static unsigned check_object(const struct spec_object *o, json_t *json)
{
	struct prover *prover = prover_new(o, SOLVER_MILLISECONDS);
	json_auto_t *conditions = json_array(), *defaults = json_array();
	unsigned refused = 0;
	if (!json)
		printf("object %s\n", o->name);
	for (guint i = 0; i < o->conditions->len; i++) {
		const struct spec_condition *c = o->conditions->pdata[i];
		struct ecl ecl = ecl_classify(c);
		struct condition_check check;
		prove_condition(prover, c, &check);
		refused += condition_refused(&check);
		if (json)
			json_array_append_new(conditions, condition_json(o, c, &ecl, &check));
		else
			print_condition(o, c, &ecl, &check);
		condition_check_release(&check);
	}
	check_defaults(o, json ? defaults : NULL);
	prover_free(prover);
	if (json)
		json_array_append_new(json, json_pack("{sosOsO}", "name", json_text(o->name),
		                                      "conditions", conditions, "defaults",
		                                      defaults));
	return refused;
}

static void print_json(json_t *j)
{
	json_dumpf(j, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(j);
}

static int check(const struct specs *s, const char *path, bool as_json)
{
	json_t *objects = as_json ? json_array() : NULL;
	unsigned refused = 0;
	for (guint i = 0; i < s->objects->len; i++)
		refused += check_object(s->objects->pdata[i], objects);
	if (as_json)
		print_json(json_pack("{sssosIso}", "heddle", HEDDLE_VERSION, "specification",
		                     json_text(path), "refused", (json_int_t)refused, "objects",
		                     objects));
	else if (refused)
		printf("%u condition%s refused\n", refused, plural(refused));
	else
		printf("no condition is refused\n");
	return refused ? EXIT_FOUND : EXIT_NOTHING;
}

/* spec points */

static bool clash(const struct point *a, uint32_t b)
{
	for (guint i = 0; i < a->conflicts->len; i++)
		if (g_array_index(a->conflicts, uint32_t, i) == b)
			return true;
	return false;
}

static char *point_text(const struct points *p, uint32_t i)
{
	GString *s = g_string_new(NULL);
	point_print(points_at(p, i), s);
	return g_string_free(s, FALSE);
}

/* "o:w:v" where argument v of method add is the key */
static char *touch_text(const struct spec_object *o, const struct points *p, uint32_t method,
                        struct touch t)
{
	const struct point *point = points_at(p, t.point);
	return t.slot == NONE ? g_strdup_printf("o:%s", point->name)
	                      : g_strdup_printf("o:%s:%s", point->name,
	                                        spec_method_at(o, method)->names[t.slot]);
}

static void print_touches(const struct spec_object *o, const struct points *p, json_t *json)
{
	for (guint m = 0; m < o->methods->len; m++) {
		g_autoptr(GString) head = g_string_new(NULL);
		g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(struct touch_row));
		spec_print_method(spec_method_at(o, m), head);
		points_of_method(p, m, rows);
		if (!json && rows->len == 0)
			printf("  %s touches nothing\n", head->str);
		for (guint i = 0; i < rows->len; i++) {
			struct touch_row *row = &g_array_index(rows, struct touch_row, i);
			g_autofree char *point = touch_text(o, p, m, row->touch);
			bool always = *row->condition == 0;
			if (json)
				json_array_append_new(
				        json, json_pack("{sosossss}", "invocation",
				                        json_text(head->str), "method",
				                        json_text(spec_method_at(o, m)->name),
				                        "point", point, "when",
				                        always ? "true" : row->condition));
			else
				printf("  %s touches %s%s%s\n", head->str, point,
				       always ? "" : " when ", row->condition);
			g_free(row->condition);
		}
	}
}

static void print_matrix(const struct points *p)
{
	size_t width = 4;
	for (uint32_t i = 0; i < points_count(p); i++) {
		g_autofree char *name = point_text(p, i);
		width = MAX(width, strlen(name) + 2);
	}
	printf("  %-*s", (int)width, "");
	for (uint32_t i = 0; i < points_count(p); i++) {
		g_autofree char *name = point_text(p, i);
		printf("%-*s", (int)width, name);
	}
	for (uint32_t i = 0; i < points_count(p); i++) {
		g_autofree char *name = point_text(p, i);
		printf("\n  %-*s", (int)width, name);
		for (uint32_t k = 0; k < points_count(p); k++)
			printf("%-*s", (int)width,
			       !clash(points_at(p, i), k) ? "no"
			       : points_at(p, i)->key     ? "same"
			                                  : "yes");
	}
	printf("\n");
}

static void print_pairwise(const struct spec_object *o, const struct points *p, json_t *json)
{
	for (guint m1 = 0; m1 < o->methods->len; m1++)
		for (guint m2 = m1; m2 < o->methods->len; m2++) {
			if (!points_pairwise(p, m1, m2))
				continue;
			const char *a = spec_method_at(o, m1)->name,
			           *b = spec_method_at(o, m2)->name;
			if (json)
				json_array_append_new(json, json_pack("[ss]", a, b));
			else
				printf("  %s, %s is not ECL: compared pair by pair, in linear "
				       "time\n",
				       a, b);
		}
}

static json_t *points_json(const struct spec_object *o, const struct points *p)
{
	json_t *points = json_array(), *touches = json_array(), *conflicts = json_array(),
	       *pairwise = json_array();
	for (uint32_t i = 0; i < points_count(p); i++) {
		g_autofree char *name = point_text(p, i);
		json_array_append_new(points, json_text(name));
		for (uint32_t k = i; k < points_count(p); k++) {
			g_autofree char *other = point_text(p, k);
			if (clash(points_at(p, i), k))
				json_array_append_new(conflicts,
				                      json_pack("{s[ss]sb}", "points", name,
				                                other, "same_key",
				                                points_at(p, i)->key != NULL));
		}
	}
	print_touches(o, p, touches);
	print_pairwise(o, p, pairwise);
	return json_pack("{sosososo so}", "name", json_text(o->name), "points", points,
	                 "touches", touches, "conflicts", conflicts, "pairwise", pairwise);
}

static void print_points(const struct spec_object *o, const struct points *p)
{
	printf("object %s\n", o->name);
	for (uint32_t i = 0; i < points_count(p); i++) {
		g_autofree char *name = point_text(p, i);
		printf("  point %s\n", name);
	}
	if (points_count(p) > 0)
		printf("\n");
	print_touches(o, p, NULL);
	if (points_count(p) > 0) {
		printf("\n  clash (same: where the key is the same)\n");
		print_matrix(p);
	}
	print_pairwise(o, p, NULL);
}

static int show_points(const struct specs *s, const char *path, bool as_json)
{
	json_t *objects = as_json ? json_array() : NULL;
	for (guint i = 0; i < s->objects->len; i++) {
		const struct spec_object *o = s->objects->pdata[i];
		struct points *p = points_new(o);
		if (as_json)
			json_array_append_new(objects, points_json(o, p));
		else
			print_points(o, p);
		points_free(p);
	}
	if (as_json)
		print_json(json_pack("{sssoso}", "heddle", HEDDLE_VERSION, "specification",
		                     json_text(path), "objects", objects));
	return EXIT_NOTHING;
}

static int run(struct arguments *a)
{
	static const struct {
		const char *word;
		int (*run)(const struct specs *s, const char *path, bool as_json);
	} actions[] = { { "check", check }, { "points", show_points } };
	argument_words(a, 2, 2);
	const char *word = a->words->pdata[0], *path = a->words->pdata[1];
	bool as_json = argument_format(a, false) == FORMAT_JSON;
	for (size_t i = 0; i < G_N_ELEMENTS(actions); i++) {
		if (strcmp(word, actions[i].word) != 0)
			continue;
		struct error error = { 0 };
		struct specs *s = specs_new();
		int status = specs_load(s, path, &error) ? actions[i].run(s, path, as_json)
		                                         : fail(&error);
		specs_free(s);
		return status;
	}
	return usage_error(a, "expected 'check' or 'points', found '%s'", word);
}

const struct command command_spec = {
	.name = "spec",
	.usage = "check|points FILE",
	.summary = "check a specification; print its access points",
	.details =
	        "check says of each condition whether it is SIMPLE, ECL or neither, and proves "
	        "it\n"
	        "from the effects: symmetric, sound, precise. Exit status 1: a condition is\n"
	        "refused. points prints the access points that ECL conditions are translated "
	        "to.",
	.options = options,
	.run = run,
};
