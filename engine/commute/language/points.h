/*
 * points.h - classification of conditions (SIMPLE, ECL, neither) and translation of ECL
 * conditions to access points (Dimitrov et al., PLDI 2014, section 6 and appendix A).
 *
 * An access point represents all invocations with the same conflicts: one point for the
 * object, or one for each value of a key. The four simplifications of appendix A.3 happen
 * together: one-sided conditions are consolidated before the translation (form.c), points
 * with equal rows in the conflict matrix are merged (dropping, replacement), and points with
 * an empty row are left out (cleanup).
 */
#ifndef HEDDLE_COMMUTE_POINTS_H
#define HEDDLE_COMMUTE_POINTS_H

#include "engine/commute/language/eval.h"

enum ecl_class { ECL_SIMPLE, ECL_YES, ECL_NEITHER };
struct ecl {
	enum ecl_class class;
	const struct expr *in_the_way; /* ECL_NEITHER: the atom that prevents it; borrowed */
	const char *why;               /* static */
};
struct ecl ecl_classify(const struct spec_condition *c);
const char *ecl_word(enum ecl_class class); /* "SIMPLE", "ECL", "neither" */

struct point {
	char *name;        /* "w", "resize" */
	char *key;         /* name of the argument that keys it, or NULL */
	GArray *conflicts; /* uint32_t: points it conflicts with (for equal keys) */
};
struct touch {
	uint32_t point;
	uint32_t slot; /* index of the argument or result that is the key; NONE: no key */
};

struct points;
/* `o` is borrowed and must outlive the result. */
struct points *points_new(const struct spec_object *o);
void points_free(struct points *p);
uint32_t points_count(const struct points *p);
const struct point *points_at(const struct points *p, uint32_t point);
/* Does this pair of methods need pairwise comparison of invocations, as its condition is not
 * ECL? */
bool points_pairwise(const struct points *p, uint32_t m1, uint32_t m2);
/* Does any pair with this method? */
bool points_any_pairwise(const struct points *p, uint32_t method);
/* Points that an invocation touches (borrowed). All values must be known. */
const struct touch *points_touched(const struct points *p, uint32_t method,
                                   const struct val *names, struct texts *texts,
                                   uint32_t *count, bool *overflow);

/* Append "o:w:k". */
void point_print(const struct point *point, GString *out);
/* Append every point that a method may touch, with its condition ("": always), to `rows`
 * (struct touch_row). */
struct touch_row {
	struct touch touch;
	char *condition; /* owned by the row */
};
void points_of_method(const struct points *p, uint32_t method, GArray *rows);

#endif
