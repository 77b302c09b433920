/*
 * expression.h - C's binary operators and the reading of expressions in which they join
 * operands.
 *
 * Specifications (commute/language/parse_formula.c) and conditions on variables (condition.h)
 * share the operators, their precedence and this parser by precedence climbing; each has
 * operands and tree nodes of its own.
 */
#ifndef HEDDLE_BASE_EXPRESSION_H
#define HEDDLE_BASE_EXPRESSION_H

#include "engine/base/base.h"

/* Enumerator, text, precedence (the loosest is 1, as in C); longer texts before their prefixes.
 */
#define BINARY_OPERATORS(O) \
	O(OR, "||", 1) \
	O(AND, "&&", 2) \
	O(EQ, "==", 3) \
	O(NE, "!=", 3) \
	O(LE, "<=", 4) \
	O(GE, ">=", 4) \
	O(LT, "<", 4) \
	O(GT, ">", 4) \
	O(ADD, "+", 5) \
	O(SUB, "-", 5) \
	O(MUL, "*", 6) \
	O(DIV, "/", 6) \
	O(MOD, "%", 6)
enum binary_operator {
#define O(name, text, precedence) BINARY_##name,
	BINARY_OPERATORS(O)
#undef O
	        BINARY_COUNT, /* no operator */
};
enum { PRECEDENCE_UNARY = 7 };

extern const struct binary_info {
	const char *text;
	int precedence;
} binary_operators[BINARY_COUNT];

/* a OP b in 64 bits, wrapping; false for a division by 0, `*result` is 0 then. */
bool binary_apply(enum binary_operator op, int64_t a, int64_t b, int64_t *result);

/*
 * The grammar around the operators.  `self` is passed to each function.  Nodes are the
 * grammar's own; NULL says that an error was set, and ends the reading.
 */
struct expression_grammar {
	/* The operator at the reading position, or BINARY_COUNT; _step moves past it and
	 * returns its place. */
	enum binary_operator (*operator)(void *self);
	const void *(*step)(void *self);
	/* An operand with its unary operators. */
	void *(*operand)(void *self);
	/* `left`, or a node made of it and a suffix that binds tighter than `precedence`; may
	 * be NULL: the grammar has no suffixes. */
	void *(*suffix)(void *self, void *left, int precedence);
	/* A node for left OP right; owns both, also when it returns NULL. */
	void *(*join)(void *self, enum binary_operator op, const void *place, void *left,
	              void *right);
	void (*discard)(void *self, void *node); /* frees a node; NULL: the grammar owns all */
};
/* Reads until an operator that binds less than `precedence`; 0: as far as it goes. */
void *expression_read(const struct expression_grammar *grammar, void *self, int precedence);

#endif
