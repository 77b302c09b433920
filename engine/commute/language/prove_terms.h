/*
 * prove_terms.h - encoding of specifications as Z3 terms: values, formulas, states, effects;
 * printing of models. Private to engine/commute/prove*.c, the only files here that use Z3.
 */
#ifndef HEDDLE_COMMUTE_PROVE_TERMS_H
#define HEDDLE_COMMUTE_PROVE_TERMS_H

#include "engine/commute/language/prove.h"

#include <z3.h>

/* A value is nil, false, true, an integer, or a string or token by number (rest). */
enum constructor { C_NIL, C_FALSE, C_TRUE, C_INT, C_REST, C_COUNT };

struct prover {
	const struct spec_object *o;
	Z3_context z;
	Z3_solver solver;
	Z3_sort value, integer, boolean;
	Z3_func_decl make[C_COUNT], is[C_COUNT], integer_of, rest_of;
	GPtrArray *texts; /* string constants, borrowed; number i is texts[i] */
	bool not_encoded; /* some term could not be encoded: no answer is valid */
};

/* A term and the condition under which it is defined. */
struct sym {
	Z3_ast term, defined;
};

/* Each union doubles the size of a query for a class; longer sequences are not encoded. */
#define MOST_UNIONS 8
struct sym_slot {
	Z3_ast term;                   /* scalar or array */
	Z3_ast unions[MOST_UNIONS][2]; /* partition */
	unsigned union_count;
};
struct sym_state {
	GArray *slots; /* struct sym_slot */
};

/* Meaning of names while a formula is encoded. */
struct sym_env {
	struct prover *p;
	const Z3_ast *names[2];
	struct sym_state *state;
};

/* Terms (prove_terms.c). */
static inline Z3_ast term_and(struct prover *p, Z3_ast a, Z3_ast b)
{
	return Z3_mk_and(p->z, 2, (Z3_ast[]){ a, b });
}
static inline Z3_ast term_or(struct prover *p, Z3_ast a, Z3_ast b)
{
	return Z3_mk_or(p->z, 2, (Z3_ast[]){ a, b });
}
static inline Z3_ast term_apply(struct prover *p, Z3_func_decl f, Z3_ast a)
{
	return Z3_mk_app(p->z, f, a ? 1 : 0, &a);
}
static inline Z3_ast number(struct prover *p, int64_t n)
{
	return Z3_mk_int64(p->z, n, p->integer);
}
static inline Z3_ast term_fresh(struct prover *p, const char *name, Z3_sort sort)
{
	return Z3_mk_fresh_const(p->z, name, sort);
}

Z3_ast term_truth(struct sym_env *v, const struct expr *e);
struct sym term_value(struct sym_env *v, const struct expr *e);
struct sym term_integer(struct sym_env *v, const struct expr *e);

/* The representative of x after the first `unions` unions. */
Z3_ast state_representative(struct prover *p, const struct sym_slot *s, unsigned unions,
                            Z3_ast x);
/* Do a and b have the same representative? */
Z3_ast state_same_class(struct prover *p, const struct sym_slot *s, Z3_ast a, Z3_ast b);

/* States and effects (prove_states.c). The caller releases the states that it makes. */
static inline enum sort state_sort(const struct prover *p, uint32_t state)
{
	return g_array_index(p->o->states, struct spec_state, state).sort;
}

static inline struct sym_slot *state_slot(const struct sym_state *s, uint32_t state)
{
	return &g_array_index(s->slots, struct sym_slot, state);
}

/* An unconstrained state. */
struct sym_state state_any(struct prover *p);
/* state_any for use under a quantifier. Effects read a map only at arguments, results and
 * constants (and the two witnesses), so it is enough to quantify over its values there, not
 * over arrays. The variables are appended to `bound`. */
struct sym_state state_any_bound(struct prover *p, const struct spec_condition *c,
                                 Z3_ast *const names[2], const Z3_ast witness[2],
                                 GPtrArray *bound);
struct sym_state state_copy(const struct sym_state *s);
void state_release(struct sym_state *s);
/* Apply an invocation to the state; returns the condition under which it is possible. */
Z3_ast state_effect(struct prover *p, uint32_t method, const Z3_ast *names,
                    struct sym_state *state);
/* Are two states equal? Partitions: do they agree on `witness`, two arbitrary values? */
Z3_ast state_equal(struct prover *p, const struct sym_state *a, const struct sym_state *b,
                   const Z3_ast witness[2]);
/* Models (prove_print.c). */
bool prove_holds(struct prover *p, Z3_model model, Z3_ast truth);
void prove_print_invocation(struct prover *p, Z3_model model, const struct spec_method *m,
                            const Z3_ast *names, GString *out);
/* Owned by the caller. Maps, sets and partitions are shown at `values` only. */
char *prove_print_state(struct prover *p, Z3_model model, const struct sym_state *state,
                        GPtrArray *values);

#endif
