/* condition.c - see condition.h. */
#include "engine/base/condition.h"

#include "engine/base/expression.h"

#include <errno.h>
#include <string.h>

enum { DEEPEST = 200 };

enum node_kind { NODE_NUMBER, NODE_NAME, NODE_NOT, NODE_MINUS, NODE_BINARY };
struct node {
	enum node_kind kind;
	enum binary_operator op;
	int64_t number;
	uint32_t name;
	struct node *left, *right; /* owned */
};

struct condition {
	char *text;
	GPtrArray *names; /* char * */
	struct node *root;
};

struct parser {
	struct condition *condition;
	const char *at, *place;
	condition_name_length *name_length;
	void *self;
	struct error *error;
	int depth;
};

static void node_free(struct node *n)
{
	if (n == NULL)
		return;
	node_free(n->left);
	node_free(n->right);
	g_free(n);
}

static struct node *node_new(enum node_kind kind, struct node *left, struct node *right)
{
	struct node *n = g_new0(struct node, 1);
	*n = (struct node){ .kind = kind, .left = left, .right = right };
	return n;
}

/* -- reading ------------------------------------------------------------------------------- */

static struct node *refuse(struct parser *p, const char *expected)
{
	error_set(p->error, p->place,
	          "write it as in C, for example: acct.balance < 0 && hits != 3",
	          "the condition has '%s' where %s was expected", *p->at ? p->at : "its end",
	          expected);
	return NULL;
}

static bool accept(struct parser *p, const char *sign)
{
	p->at += strspn(p->at, " \t\n");
	if (!g_str_has_prefix(p->at, sign))
		return false;
	p->at += strlen(sign);
	return true;
}

static size_t plain_name_length(void *self, const char *s)
{
	(void)self;
	size_t n = 0;
	if (!g_ascii_isalpha(*s) && *s != '_')
		return 0;
	for (;;) {
		bool member = s[n] == '.' && (g_ascii_isalpha(s[n + 1]) || s[n + 1] == '_');
		if (g_ascii_isalnum(s[n]) || s[n] == '_' || member || s[n] == ']' ||
		    (s[n] == '[' && g_ascii_isdigit(s[n + 1])))
			n++;
		else if ((s[n] == '-' && s[n + 1] == '>') || (s[n] == ':' && s[n + 1] == ':'))
			n += 2;
		else
			return n;
	}
}

static uint32_t name_index(struct condition *c, const char *name, size_t length)
{
	for (guint i = 0; i < c->names->len; i++) {
		const char *known = c->names->pdata[i];
		if (strlen(known) == length && memcmp(known, name, length) == 0)
			return i;
	}
	g_ptr_array_add(c->names, g_strndup(name, length));
	return c->names->len - 1;
}

static const struct expression_grammar grammar;

static struct node *unary(struct parser *p, enum node_kind kind)
{
	struct node *operand = grammar.operand(p);
	return operand ? node_new(kind, operand, NULL) : NULL;
}

static struct node *parenthesised(struct parser *p)
{
	struct node *n = expression_read(&grammar, p, 0);
	if (n && !accept(p, ")")) {
		node_free(n);
		return refuse(p, "')'");
	}
	return n;
}

static struct node *number(struct parser *p)
{
	struct node *n = node_new(NODE_NUMBER, NULL, NULL);
	char *end;
	errno = 0;
	n->number = g_ascii_strtoll(p->at, &end, 0);
	if (errno == ERANGE) { /* pointers and unsigned long are written like this */
		errno = 0;
		n->number = (int64_t)g_ascii_strtoull(p->at, &end, 0);
	}
	if (errno == ERANGE) {
		node_free(n);
		return refuse(p, "a number of 64 bits");
	}
	p->at = end;
	return n;
}

static void *read_operand(void *self)
{
	struct parser *p = self;
	struct node *n;
	size_t length;
	if (++p->depth > DEEPEST)
		return refuse(p, "less nesting");
	if (accept(p, "("))
		n = parenthesised(p);
	else if (accept(p, "!"))
		n = unary(p, NODE_NOT);
	else if (accept(p, "-"))
		n = unary(p, NODE_MINUS);
	else if (g_ascii_isdigit(*p->at))
		n = number(p);
	else if ((length = p->name_length(p->self, p->at)) > 0) {
		n = node_new(NODE_NAME, NULL, NULL);
		n->name = name_index(p->condition, p->at, length);
		p->at += length;
	} else if ((length = plain_name_length(NULL, p->at)) > 0) {
		error_set(
		        p->error, p->place,
		        "locals in registers, and most whose address is not taken, are not recorded",
		        "the recording has no access to a variable '%.*s'", (int)length, p->at);
		n = NULL;
	} else
		n = refuse(p, "a variable, a number or '('");
	p->depth--;
	return n;
}

static enum binary_operator operator_at_hand(void *self)
{
	struct parser *p = self;
	p->at += strspn(p->at, " \t\n");
	for (int op = 0; op < BINARY_COUNT; op++)
		if (g_str_has_prefix(p->at, binary_operators[op].text))
			return op;
	return BINARY_COUNT;
}

static const void *step_over(void *self)
{
	struct parser *p = self;
	const char *place = p->at;
	p->at += strlen(binary_operators[operator_at_hand(p)].text);
	return place;
}

static void *join(void *self, enum binary_operator op, const void *place, void *left,
                  void *right)
{
	(void)self, (void)place;
	struct node *n = node_new(NODE_BINARY, left, right);
	n->op = op;
	return n;
}

static void discard(void *self, void *node)
{
	(void)self;
	node_free(node);
}

static const struct expression_grammar grammar = { .operator= operator_at_hand,
	                                           .step = step_over,
	                                           .operand = read_operand,
	                                           .join = join,
	                                           .discard = discard };

struct condition *condition_new(const char *text, const char *place,
                                condition_name_length *name_length, void *self,
                                struct error *error)
{
	struct condition *c = g_new0(struct condition, 1);
	c->text = g_strdup(text);
	c->names = g_ptr_array_new_with_free_func(g_free);
	struct parser p = { .condition = c,
		            .at = text,
		            .place = place,
		            .name_length = name_length ? name_length : plain_name_length,
		            .self = self,
		            .error = error };
	c->root = expression_read(&grammar, &p, 0);
	if (c->root && *p.at) {
		refuse(&p, "the end or an operator");
		node_free(c->root);
		c->root = NULL;
	}
	if (c->root)
		return c;
	condition_free(c);
	return NULL;
}

void condition_free(struct condition *c)
{
	if (c == NULL)
		return;
	node_free(c->root);
	g_ptr_array_unref(c->names);
	g_free(c->text);
	g_free(c);
}

const char *condition_text(const struct condition *c)
{
	return c->text;
}

const GPtrArray *condition_names(const struct condition *c)
{
	return c->names;
}

/* -- its value ------------------------------------------------------------------------------ */

struct evaluation {
	condition_value_of *value;
	void *self;
};

static struct condition_value exact(bool known, int64_t number)
{
	return (struct condition_value){ .known = known, .number = known ? number : 0 };
}

/* A variable of n bytes against an exact number that n bytes can hold, signed or not. */
static bool same_bits(struct condition_value a, struct condition_value b)
{
	if (a.number == b.number)
		return true;
	unsigned bytes = a.bytes ? a.bytes : b.bytes;
	if ((a.bytes != 0) == (b.bytes != 0) || bytes >= sizeof(int64_t))
		return false;
	int64_t number = a.bytes ? b.number : a.number, past = INT64_C(1) << (8 * bytes);
	return number >= 0 && number < past && ((a.number ^ b.number) & (past - 1)) == 0;
}

static struct condition_value evaluate(const struct evaluation *v, const struct node *n);

static struct condition_value evaluate_binary(const struct evaluation *v, const struct node *n)
{
	struct condition_value a = evaluate(v, n->left);
	if (n->op == BINARY_OR && a.known && a.number != 0)
		return exact(true, 1);
	if (n->op == BINARY_AND && a.known && a.number == 0)
		return exact(true, 0);
	struct condition_value b = evaluate(v, n->right);
	if (n->op == BINARY_OR && b.known && b.number != 0)
		return exact(true, 1);
	if (n->op == BINARY_AND && b.known && b.number == 0)
		return exact(true, 0);
	if (!a.known || !b.known)
		return exact(false, 0);
	if (n->op == BINARY_EQ || n->op == BINARY_NE)
		return exact(true, same_bits(a, b) == (n->op == BINARY_EQ));
	int64_t result;
	bool defined = binary_apply(n->op, a.number, b.number, &result);
	return exact(defined, result);
}

static struct condition_value evaluate(const struct evaluation *v, const struct node *n)
{
	struct condition_value a;
	switch (n->kind) {
	case NODE_NUMBER:
		return exact(true, n->number);
	case NODE_NAME:
		return v->value(v->self, n->name);
	case NODE_NOT:
		a = evaluate(v, n->left);
		return exact(a.known, !a.number);
	case NODE_MINUS:
		a = evaluate(v, n->left);
		return exact(a.known, (int64_t)(0 - (uint64_t)a.number));
	case NODE_BINARY:
		break;
	}
	return evaluate_binary(v, n);
}

struct condition_value condition_evaluate(const struct condition *c, condition_value_of *value,
                                          void *self)
{
	struct evaluation v = { value, self };
	return evaluate(&v, c->root);
}

enum truth condition_holds(const struct condition *c, condition_value_of *value, void *self)
{
	struct condition_value result = condition_evaluate(c, value, self);
	return !result.known ? TRUTH_UNKNOWN : result.number ? TRUTH_YES : TRUTH_NO;
}
