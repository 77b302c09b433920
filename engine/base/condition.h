/*
 * condition.h - conditions on the program's variables, as users write them: `--check`,
 * conditions of breakpoints.
 *
 *     acct.balance < 0 && (hits != 3 || a[1].n % 2 == 1)
 *
 * C's operators || && == != < <= > >= + - * / %, unary ! and -, parentheses, integers (also
 * 0x), and names as traces spell them.  Knows names, no trace: the caller gives the values.
 */
#ifndef HEDDLE_BASE_CONDITION_H
#define HEDDLE_BASE_CONDITION_H

#include "engine/base/base.h"

struct condition;

/* A variable's value.  `bytes`: its size; integers are read as signed, and `x == 200` holds for
 * a byte of either sign with these bits.  0: the number is exact. */
struct condition_value {
	bool known;
	unsigned bytes;
	int64_t number;
};

/* Length of the name at `text`, 0 if none begins there; NULL in its place: identifiers with
 * members, elements and scopes (a.b, a->b, a[3], F::s). */
typedef size_t condition_name_length(void *self, const char *text);

/* Owned by the caller.  NULL and `error` (at `place`, e.g. "--check") if it cannot be read. */
struct condition *condition_new(const char *text, const char *place,
                                condition_name_length *name_length, void *self,
                                struct error *error);
void condition_free(struct condition *c);
const char *condition_text(const struct condition *c);
/* Its names, each once, in order: char *. */
const GPtrArray *condition_names(const struct condition *c);

/*
 * Does it hold?  `value` is asked for a name by its index in condition_names.  An unknown value
 * makes the result unknown unless the rest decides it (Kleene's logic); so does a division by
 * 0.
 */
typedef struct condition_value condition_value_of(void *self, uint32_t name);
enum truth condition_holds(const struct condition *c, condition_value_of *value, void *self);
/* The value of the condition as a number: of a comparison 1 or 0. */
struct condition_value condition_evaluate(const struct condition *c, condition_value_of *value,
                                          void *self);

#endif
