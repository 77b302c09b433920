/*
 * parse_formula.c - formulas and their expressions, by operator precedence (C's). Names are
 * looked up among the patterns of the line and, in effects, among the object's states.
 */
#include "engine/commute/language/parse.h"

#include "engine/base/expression.h"

#include <string.h>

/* Formulas are walked recursively: this bounds the stack. */
#define DEEPEST 4000

/* -- expressions -------------------------------------------------------------------------- */

static struct expr *expr_at(struct parser *p, const struct token *t, enum expr_op op,
                            struct expr *a, struct expr *b)
{
	struct expr *e = spec_expr_new(p->o, op, a, b);
	e->line = t->line;
	e->column = t->column;
	return e;
}

uint32_t parse_state_find(const struct parser *p, const char *name, enum sort *sort)
{
	for (guint i = 0; i < p->o->states->len; i++) {
		const struct spec_state *s = &g_array_index(p->o->states, struct spec_state, i);
		if (strcmp(s->name, name) == 0) {
			*sort = s->sort;
			return i;
		}
	}
	return NONE;
}

static struct expr *name_expression(struct parser *p, const struct token *t)
{
	for (uint8_t side = 0; side < 2; side++)
		for (uint32_t i = 0; i < p->name_counts[side]; i++)
			if (strcmp(p->names[side][i], t->text) == 0 &&
			    strcmp(t->text, "_") != 0) {
				struct expr *e = expr_at(p, t, X_NAME, NULL, NULL);
				e->side = side;
				e->index = i;
				return e;
			}
	enum sort sort = SORT_INT;
	uint32_t state = p->in_effect ? parse_state_find(p, t->text, &sort) : NONE;
	if (state == NONE) {
		parse_refuse(p, t,
		             p->in_effect
		                     ? "name an argument, a result or a state"
		                     : "name an argument or result of one of the two patterns",
		             "expected a name that is bound here, found '%s'", t->text);
		return NULL;
	}
	struct expr *e = expr_at(p, t, X_STATE, NULL, NULL);
	e->index = state;
	if (sort == SORT_MAP) {
		if (!parse_need(p, TOKEN_LBRACKET) || (e->a = parse_expression(p, 0)) == NULL ||
		    !parse_need(p, TOKEN_RBRACKET))
			return NULL;
		e->op = X_LOOKUP;
	} else if (sort == SORT_SET || sort == SORT_PARTITION) {
		parse_refuse(p, t, "ask for its members: k in s, or a ~ b in p",
		             "expected a value, found the %s '%s'", sort_word(sort), t->text);
		return NULL;
	}
	return e;
}

static struct expr *parse_primary(struct parser *p)
{
	const struct token *t = p->at;
	struct expr *e;
	switch (t->kind) {
	case TOKEN_NUMBER:
		parse_next(p);
		e = expr_at(p, t, X_INT, NULL, NULL);
		e->integer = t->number;
		return e;
	case TOKEN_TEXT:
		parse_next(p);
		e = expr_at(p, t, X_TEXT, NULL, NULL);
		e->text = g_memdup2(t->text, t->text_length + 1);
		e->text_length = t->text_length;
		return e;
	case TOKEN_OPEN:
		parse_next(p);
		e = parse_expression(p, 0);
		return e != NULL && parse_need(p, TOKEN_CLOSE) ? e : NULL;
	case TOKEN_NOT:
	case TOKEN_MINUS:
		parse_next(p);
		e = parse_expression(p, PRECEDENCE_UNARY);
		return e ? expr_at(p, t, t->kind == TOKEN_NOT ? X_NOT : X_NEGATE, e, NULL)
		         : NULL;
	case TOKEN_NAME:
		parse_next(p);
		if (strcmp(t->text, "nil") == 0)
			return expr_at(p, t, X_NIL, NULL, NULL);
		if (strcmp(t->text, "true") == 0)
			return expr_at(p, t, X_TRUE, NULL, NULL);
		if (strcmp(t->text, "false") == 0)
			return expr_at(p, t, X_FALSE, NULL, NULL);
		return name_expression(p, t);
	default:
		parse_expected(p, "a name, a constant or '('");
		return NULL;
	}
}

/* Division is no operator of specifications. */
static const enum token_kind binary_tokens[BINARY_COUNT] = {
	[BINARY_OR] = TOKEN_OR,     [BINARY_AND] = TOKEN_AND,    [BINARY_EQ] = TOKEN_EQ,
	[BINARY_NE] = TOKEN_NE,     [BINARY_LE] = TOKEN_LE,      [BINARY_GE] = TOKEN_GE,
	[BINARY_LT] = TOKEN_LESS,   [BINARY_GT] = TOKEN_GREATER, [BINARY_ADD] = TOKEN_PLUS,
	[BINARY_SUB] = TOKEN_MINUS, [BINARY_MUL] = TOKEN_TIMES,  [BINARY_MOD] = TOKEN_MOD,
	[BINARY_DIV] = TOKEN_COUNT,
};
static const enum expr_op binary_expressions[BINARY_COUNT] = {
	[BINARY_OR] = X_OR,   [BINARY_AND] = X_AND, [BINARY_EQ] = X_EQ,   [BINARY_NE] = X_NE,
	[BINARY_LE] = X_LE,   [BINARY_GE] = X_GE,   [BINARY_LT] = X_LT,   [BINARY_GT] = X_GT,
	[BINARY_ADD] = X_ADD, [BINARY_SUB] = X_SUB, [BINARY_MUL] = X_MUL, [BINARY_MOD] = X_MOD,
};

/* May the expression have a truth value? */
static bool may_be_truth(const struct expr *e)
{
	return expr_is_truth(e->op) || e->op == X_NAME || e->op == X_STATE || e->op == X_LOOKUP;
}

bool parse_need_truth(struct parser *p, const struct expr *e)
{
	if (may_be_truth(e))
		return true;
	return parse_refuse_at(p, e->line, e->column, "compare it with something",
	                       e->op == X_INT    ? "expected a condition, found an integer"
	                       : e->op == X_TEXT ? "expected a condition, found a string"
	                       : e->op == X_NIL  ? "expected a condition, found nil"
	                                         : "expected a condition, found arithmetic");
}

static bool need_state(struct parser *p, enum sort sort, uint32_t *state)
{
	enum sort found = SORT_INT;
	const struct token *t = p->at;
	if (!parse_is(p, TOKEN_NAME) ||
	    (*state = parse_state_find(p, t->text, &found)) == NONE || found != sort) {
		g_autofree char *what = g_strdup_printf("a state of sort %s", sort_word(sort));
		parse_expected(p, what);
		return false;
	}
	parse_next(p);
	return true;
}

/* a in s, a ~ b in p */
static struct expr *parse_membership(struct parser *p, struct expr *a)
{
	const struct token *t = p->at;
	struct expr *b = NULL;
	bool same = parse_accept(p, TOKEN_TILDE);
	if (same && (b = parse_expression(p, 5)) == NULL)
		return NULL;
	struct expr *e = expr_at(p, t, same ? X_SAME : X_IN, a, b);
	if (!parse_need_word(p, "in") ||
	    !need_state(p, same ? SORT_PARTITION : SORT_SET, &e->index))
		return NULL;
	return e;
}

static bool check_depth(struct parser *p, const struct token *t, uint32_t depth)
{
	return depth < DEEPEST ||
	       parse_refuse(p, t, "split it",
	                    "expected a formula that is nested less than %d deep, found "
	                    "a deeper one",
	                    DEEPEST);
}

static void *read_operand(void *self)
{
	struct parser *p = self;
	if (!check_depth(p, p->at, ++p->depth))
		return NULL;
	struct expr *e = parse_primary(p);
	p->depth--;
	return e;
}

static void *read_suffix(void *self, void *left, int precedence)
{
	struct parser *p = self;
	bool member = p->in_effect && precedence <= binary_operators[BINARY_LT].precedence &&
	              (parse_is(p, TOKEN_TILDE) || parse_is_word(p, "in"));
	return !check_depth(p, p->at, ((struct expr *)left)->depth) ? NULL
	       : member                                             ? parse_membership(p, left)
	                                                            : left;
}

static enum binary_operator operator_at_hand(void *self)
{
	const struct parser *p = self;
	for (int op = 0; op < BINARY_COUNT; op++)
		if (p->at->kind == binary_tokens[op])
			return op;
	return BINARY_COUNT;
}

static const void *step_over(void *self)
{
	struct parser *p = self;
	const struct token *t = p->at;
	parse_next(p);
	return t;
}

static void *join(void *self, enum binary_operator op, const void *place, void *left,
                  void *right)
{
	struct parser *p = self;
	bool truth = op == BINARY_AND || op == BINARY_OR;
	if (truth && !(parse_need_truth(p, left) && parse_need_truth(p, right)))
		return NULL;
	return expr_at(p, place, binary_expressions[op], left, right);
}

struct expr *parse_expression(struct parser *p, int precedence)
{
	static const struct expression_grammar grammar = { .operator= operator_at_hand,
		                                           .step = step_over,
		                                           .operand = read_operand,
		                                           .suffix = read_suffix,
		                                           .join = join };
	struct expr *e = expression_read(&grammar, p, precedence);
	return e != NULL && e->depth < DEEPEST ? e : NULL;
}

bool parse_check_not(struct parser *p, const struct expr *e)
{
	if (e == NULL)
		return true;
	if (e->op == X_NOT && !parse_need_truth(p, e->a))
		return false;
	return parse_check_not(p, e->a) && parse_check_not(p, e->b);
}

struct expr *parse_formula(struct parser *p)
{
	struct expr *e = parse_expression(p, 0);
	return e != NULL && parse_need_truth(p, e) && parse_check_not(p, e) ? e : NULL;
}
