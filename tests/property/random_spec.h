/*
 * random_spec.h - random specifications and random invocations of them, for the property
 * tests of engine/commute.
 */
#ifndef HEDDLE_RANDOM_SPEC_H
#define HEDDLE_RANDOM_SPEC_H

#include "engine/commute/model.h"

#include <check.h>

struct dice {
	uint64_t state;
	bool ends; /* values are at the ends of 64 bits, too; then formulas have no arithmetic
	            */
};
uint32_t roll(struct dice *d, uint32_t sides); /* 0 .. sides - 1 */

/*
 * The text of `object thing { ... }` with one to three methods m0, m1, m2 and conditions
 * for some pairs.  With `ecl` all conditions are ECL by construction; otherwise any.  With
 * `effects` every method has one, over `state n : int` and `state d : map`.
 */
char *random_spec(struct dice *d, bool ecl, bool effects);
/* The only object of the text; `specs` (from specs_new) owns it. */
struct spec_object *random_object(struct dice *d, bool ecl, bool effects, struct specs *specs);

/*
 * A random trace of two to four threads: locks, messages, accesses of three variables, atomic
 * and scoped invocations of two objects of the type `thing`.  Fewer than RANDOM_MOST_EVENTS.
 */
#define RANDOM_MOST_EVENTS 64
struct trace *random_invocations(struct dice *d, const struct spec_object *o);

/* A random specification, a random trace of it, and the two together. */
struct random_case {
	struct specs *specs;
	struct trace *t;
	struct model *m;
};
void random_case_make(struct random_case *c, uint64_t seed, bool ecl);
void random_case_release(struct random_case *c);
/* Make a relation on n events of the trace, with edges from earlier to later ones alone,
 * transitive. */
void close_relation(bool (*order)[RANDOM_MOST_EVENTS], uint32_t n);
/*
 * The main function of a test against a definition. `compare` checks one seed and returns the
 * number of interesting cases it had; all seeds together must have more than `least`.
 */
struct definition_test {
	const char *suite;
	uint64_t (*compare)(uint64_t seed, bool ecl);
	uint64_t seeds, least_ecl, least_not;
};
int definition_main(const struct definition_test *test);

/* A few values that the conditions' constants meet: nil, true, 1, 2, "a", b, ...; the last two
 * are the ends of 64 bits. */
#define VALUE_TEXTS   11
#define VALUE_LONGEST 24 /* a text and its end */
extern const char *const value_texts[VALUE_TEXTS];
uint32_t some_value(struct dice *d); /* index of one, by `ends` */
struct val value_at(uint32_t i);     /* the same as a value; strings and tokens by i */
int64_t value_text_id(void *context, const char *text, size_t length); /* for struct texts */

#endif
