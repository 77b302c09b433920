/*
 * form.h - formulas in negation normal form, with n-ary connectives: the input of
 * classification and translation to access points. Private to engine/commute.
 */
#ifndef HEDDLE_COMMUTE_FORM_H
#define HEDDLE_COMMUTE_FORM_H

#include "engine/commute/language/eval.h"

enum form_kind { FORM_TRUE, FORM_FALSE, FORM_LITERAL, FORM_AND, FORM_OR };
enum { SIDE_FIRST = 1, SIDE_SECOND = 2, SIDE_BOTH = 3 }; /* bits: the invocations it mentions */

struct form {
	enum form_kind kind;
	unsigned sides;          /* of the whole form */
	bool crosses;            /* has an atom that mentions both */
	bool negated;            /* LITERAL */
	const struct expr *atom; /* LITERAL, borrowed */
	GPtrArray *parts;        /* AND, OR: struct form *, owned; at least two */
};

struct form *form_new(const struct expr *e);
/* The same for !f. */
struct form *form_negation(const struct form *f);
struct form *form_copy(const struct form *f);
void form_free(void *form);
/* Is it a literal `a != b` with a name from each side? */
bool form_is_difference(const struct form *f);
/* Group the operands of each AND and OR that mention only the same side, so that every maximal
 * one-sided formula is one operand. */
void form_consolidate(struct form *f);
/* Append as text, with `names` for both sides. Equal formulas have equal canonical texts. */
void form_print(const struct spec_object *o, const struct form *f, char **names, GString *out);
char *form_canonical(const struct spec_object *o, const struct form *f, char **names);
/* Evaluate a one-sided formula for one invocation. */
enum truth form_eval(const struct form *f, struct evaluation *v);

#endif
