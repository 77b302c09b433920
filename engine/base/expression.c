/* expression.c - see expression.h. */
#include "engine/base/expression.h"

const struct binary_info binary_operators[BINARY_COUNT] = {
#define O(name, text, precedence) { text, precedence },
	BINARY_OPERATORS(O)
#undef O
};

bool binary_apply(enum binary_operator op, int64_t a, int64_t b, int64_t *result)
{
	uint64_t x = (uint64_t)a, y = (uint64_t)b;
	*result = 0;
	switch (op) {
	case BINARY_OR:
		*result = a || b;
		return true;
	case BINARY_AND:
		*result = a && b;
		return true;
	case BINARY_EQ:
		*result = a == b;
		return true;
	case BINARY_NE:
		*result = a != b;
		return true;
	case BINARY_LE:
		*result = a <= b;
		return true;
	case BINARY_GE:
		*result = a >= b;
		return true;
	case BINARY_LT:
		*result = a < b;
		return true;
	case BINARY_GT:
		*result = a > b;
		return true;
	case BINARY_ADD:
		*result = (int64_t)(x + y);
		return true;
	case BINARY_SUB:
		*result = (int64_t)(x - y);
		return true;
	case BINARY_MUL:
		*result = (int64_t)(x * y);
		return true;
	case BINARY_DIV:
		if (b != 0) /* INT64_MIN / -1 traps */
			*result = b == -1 ? (int64_t)(0 - x) : a / b;
		return b != 0;
	case BINARY_MOD:
		if (b != 0 && b != -1)
			*result = a % b;
		return b != 0;
	case BINARY_COUNT:
		break;
	}
	return false;
}

void *expression_read(const struct expression_grammar *g, void *self, int precedence)
{
	void *left = g->operand(self);
	while (left != NULL) {
		void *longer = g->suffix ? g->suffix(self, left, precedence) : left;
		if (longer != left) {
			left = longer;
			continue;
		}
		enum binary_operator op = g->operator(self);
		if (op == BINARY_COUNT || binary_operators[op].precedence < precedence)
			break;
		const void *place = g->step(self);
		void *right = expression_read(g, self, binary_operators[op].precedence + 1);
		if (right == NULL && g->discard)
			g->discard(self, left);
		left = right ? g->join(self, op, place, left, right) : NULL;
	}
	return left;
}
