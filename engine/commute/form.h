/*
 * form.h - a formula in negation normal form, flat: what classification and translation
 * work on.  Private to engine/commute.
 */
#ifndef HEDDLE_COMMUTE_FORM_H
#define HEDDLE_COMMUTE_FORM_H

#include "engine/commute/eval.h"

enum form_kind { FORM_TRUE, FORM_FALSE, FORM_LITERAL, FORM_AND, FORM_OR };
enum { SIDE_FIRST = 1, SIDE_SECOND = 2, SIDE_BOTH = 3 }; /* bits: which sides it speaks of */

struct form {
	enum form_kind kind;
	unsigned sides;          /* of the whole form */
	bool crosses;            /* some atom of it speaks of both sides */
	bool negated;            /* LITERAL */
	const struct expr *atom; /* LITERAL, borrowed */
	GPtrArray *parts;        /* AND, OR: struct form *, owned; at least two */
};

struct form *form_new(const struct expr *e);
/* The same of !f. */
struct form *form_negation(const struct form *f);
struct form *form_copy(const struct form *f);
void form_free(void *form);
/* A literal `a != b` of one name from each side. */
bool form_is_difference(const struct form *f);
/*
 * Group the parts of ANDs and ORs that speak of one and the same side alone, so that each
 * maximal one-sided formula is one part.
 */
void form_consolidate(struct form *f);
/* Text; `names` for both sides.  Equal formulas have equal canonical texts. */
void form_print(const struct spec_object *o, const struct form *f, char **names, GString *out);
char *form_canonical(const struct spec_object *o, const struct form *f, char **names);
/* The value of a one-sided formula on one invocation. */
enum truth form_eval(const struct form *f, struct evaluation *v);

#endif
