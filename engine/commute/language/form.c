/* form.c - see form.h. */
#include "engine/base/compare.h"
#include "engine/commute/language/form.h"

#include <string.h>

static unsigned sides_of(const struct expr *e)
{
	if (e == NULL)
		return 0;
	if (e->op == X_NAME)
		return e->side == 0 ? SIDE_FIRST : SIDE_SECOND;
	return sides_of(e->a) | sides_of(e->b);
}

static struct form *form_leaf(enum form_kind kind)
{
	struct form *f = g_new0(struct form, 1);
	f->kind = kind;
	return f;
}

void form_free(void *form)
{
	struct form *f = form;
	if (f != NULL && f->parts != NULL)
		g_ptr_array_unref(f->parts);
	g_free(f);
}

static void add_part(struct form *whole, struct form *part)
{
	g_ptr_array_add(whole->parts, part);
	whole->sides |= part->sides;
	whole->crosses |= part->crosses;
}

/* Join two forms, with constants removed and equal connectives flattened. Takes ownership. */
static struct form *form_join(enum form_kind kind, struct form *a, struct form *b)
{
	enum form_kind neutral = kind == FORM_AND ? FORM_TRUE : FORM_FALSE;
	enum form_kind absorbing = kind == FORM_AND ? FORM_FALSE : FORM_TRUE;
	if (a->kind == neutral || b->kind == absorbing) {
		form_free(a);
		return b;
	}
	if (b->kind == neutral || a->kind == absorbing) {
		form_free(b);
		return a;
	}
	struct form *f = form_leaf(kind);
	f->parts = g_ptr_array_new_with_free_func(form_free);
	struct form *both[2] = { a, b };
	for (int i = 0; i < 2; i++) {
		if (both[i]->kind != kind) {
			add_part(f, both[i]);
			continue;
		}
		while (both[i]->parts->len > 0)
			add_part(f, g_ptr_array_steal_index(both[i]->parts, 0));
		form_free(both[i]);
	}
	return f;
}

static struct form *form_build(const struct expr *e, bool negated)
{
	switch (e->op) {
	case X_TRUE:
	case X_FALSE:
		return form_leaf((e->op == X_TRUE) != negated ? FORM_TRUE : FORM_FALSE);
	case X_NOT:
		return form_build(e->a, !negated);
	case X_AND:
	case X_OR:
		return form_join((e->op == X_AND) != negated ? FORM_AND : FORM_OR,
		                 form_build(e->a, negated), form_build(e->b, negated));
	default:
		break;
	}
	struct form *f = form_leaf(FORM_LITERAL);
	f->atom = e;
	f->negated = negated;
	f->sides = sides_of(e);
	f->crosses = f->sides == SIDE_BOTH;
	return f;
}

struct form *form_new(const struct expr *e)
{
	return form_build(e, false);
}

static struct form *form_rebuild(const struct form *f, bool negate)
{
	struct form *copy = form_leaf(f->kind);
	*copy = *f;
	if (negate) {
		static const enum form_kind dual[] = { FORM_FALSE, FORM_TRUE, FORM_LITERAL,
			                               FORM_OR, FORM_AND };
		copy->kind = dual[f->kind];
		copy->negated = !f->negated;
	}
	if (f->parts != NULL) {
		copy->parts = g_ptr_array_new_with_free_func(form_free);
		for (guint i = 0; i < f->parts->len; i++)
			g_ptr_array_add(copy->parts, form_rebuild(f->parts->pdata[i], negate));
	}
	return copy;
}

struct form *form_negation(const struct form *f)
{
	return form_rebuild(f, true);
}

struct form *form_copy(const struct form *f)
{
	return form_rebuild(f, false);
}

/* Is equality always defined on such operands, so that `!(a == b)` is `a != b`? */
static bool plain(const struct expr *e)
{
	if (e == NULL)
		return true;
	return !expr_is_arithmetic(e->op) && !expr_is_comparison(e->op) && plain(e->a) &&
	       plain(e->b);
}

static bool says_different(const struct form *f)
{
	const struct expr *e = f->atom;
	return f->kind == FORM_LITERAL && plain(e->a) && plain(e->b) &&
	       (f->negated ? e->op == X_EQ : e->op == X_NE);
}

bool form_is_difference(const struct form *f)
{
	return f->kind == FORM_LITERAL && f->crosses && says_different(f) &&
	       f->atom->a->op == X_NAME && f->atom->b->op == X_NAME;
}

void form_consolidate(struct form *f)
{
	if (f->parts == NULL || !(f->sides == SIDE_BOTH))
		return; /* one-sided, or a leaf */
	GPtrArray *old = f->parts;
	struct form *one_sided[SIDE_BOTH] = { NULL };
	f->parts = g_ptr_array_new_with_free_func(form_free);
	while (old->len > 0) {
		struct form *part = g_ptr_array_steal_index(old, 0);
		if (part->sides == SIDE_BOTH) {
			form_consolidate(part);
			g_ptr_array_add(f->parts, part);
		} else {
			unsigned side = part->sides == SIDE_SECOND ? SIDE_SECOND : SIDE_FIRST;
			one_sided[side] = one_sided[side]
			                          ? form_join(f->kind, one_sided[side], part)
			                          : part;
		}
	}
	g_ptr_array_unref(old);
	for (unsigned side = SIDE_FIRST; side <= SIDE_SECOND; side++)
		if (one_sided[side])
			g_ptr_array_add(f->parts, one_sided[side]);
}

/* -- text ---------------------------------------------------------------------------------- */

static void print_literal(const struct spec_object *o, const struct form *f, char **names,
                          bool canonical, GString *out)
{
	char **const both[2] = { names, names };
	struct expr e = *f->atom;
	bool negated = f->negated;
	if (expr_is_comparison(e.op) && (e.op == X_EQ || e.op == X_NE) && plain(e.a) &&
	    plain(e.b)) {
		e.op = says_different(f) ? X_NE : X_EQ;
		negated = false;
		if (canonical) {
			g_autoptr(GString) a = g_string_new(NULL), b = g_string_new(NULL);
			expr_print(o, e.a, both, a);
			expr_print(o, e.b, both, b);
			if (strcmp(a->str, b->str) > 0) {
				struct expr *swap = e.a;
				e.a = e.b;
				e.b = swap;
			}
		}
	}
	bool parens = negated && e.op > X_SAME;
	g_string_append(out, negated ? parens ? "!(" : "!" : "");
	expr_print(o, &e, both, out);
	g_string_append(out, parens ? ")" : "");
}

static void print_form(const struct spec_object *o, const struct form *f, char **names,
                       bool canonical, bool parens, GString *out)
{
	if (f->kind == FORM_LITERAL) {
		print_literal(o, f, names, canonical, out);
		return;
	}
	if (f->parts == NULL) {
		g_string_append(out, f->kind == FORM_TRUE ? "true" : "false");
		return;
	}
	g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
	for (guint i = 0; i < f->parts->len; i++) {
		GString *s = g_string_new(NULL);
		print_form(o, f->parts->pdata[i], names, canonical, true, s);
		g_ptr_array_add(texts, g_string_free(s, FALSE));
	}
	if (canonical)
		g_ptr_array_sort(texts, compare_texts);
	g_string_append(out, parens ? "(" : "");
	for (guint i = 0; i < texts->len; i++)
		g_string_append_printf(out, "%s%s",
		                       i == 0                ? ""
		                       : f->kind == FORM_AND ? " && "
		                                             : " || ",
		                       (char *)texts->pdata[i]);
	g_string_append(out, parens ? ")" : "");
}

void form_print(const struct spec_object *o, const struct form *f, char **names, GString *out)
{
	print_form(o, f, names, false, false, out);
}

char *form_canonical(const struct spec_object *o, const struct form *f, char **names)
{
	GString *s = g_string_new(NULL);
	print_form(o, f, names, true, false, s);
	return g_string_free(s, FALSE);
}

enum truth form_eval(const struct form *f, struct evaluation *v)
{
	if (f->kind == FORM_LITERAL) {
		enum truth t = eval_truth(v, f->atom);
		return t == TRUTH_UNKNOWN || !f->negated ? t
		       : t == TRUTH_YES                  ? TRUTH_NO
		                                         : TRUTH_YES;
	}
	if (f->parts == NULL)
		return f->kind == FORM_TRUE ? TRUTH_YES : TRUTH_NO;
	enum truth absorbing = f->kind == FORM_AND ? TRUTH_NO : TRUTH_YES;
	enum truth result = f->kind == FORM_AND ? TRUTH_YES : TRUTH_NO;
	for (guint i = 0; i < f->parts->len; i++) {
		enum truth t = form_eval(f->parts->pdata[i], v);
		if (t == absorbing)
			result = absorbing;
		else if (t == TRUTH_UNKNOWN && result != absorbing)
			result = TRUTH_UNKNOWN;
	}
	return result;
}
