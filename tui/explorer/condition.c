/*
 * condition.c - the conditions of breakpoints: `acct.balance < 0 && hits != 3`.
 *
 *     or     := and { "||" and }
 *     and    := not { "&&" not }
 *     not    := "!" not | "(" or ")" | sum [ ("==" "!=" "<=" ">=" "<" ">") sum ]
 *     sum    := term { ("+" | "-") term }
 *     term   := integer | "thread" | "event" | thread's name | variable's name
 *
 * A variable that has no known value makes the comparison false.  A name is the longest
 * name of the trace that stands there, so that `a[1].b-c` needs no quotes.
 */
#include "tui/explorer/session.h"

#include <string.h>

enum node_kind { NODE_NUMBER, NODE_VARIABLE, NODE_THREAD, NODE_EVENT, NODE_BINARY, NODE_NOT };

struct condition {
	enum node_kind kind;
	char op[3];
	int64_t number;
	uint32_t variable;
	struct condition *left, *right;
};

struct parser {
	const struct session *session;
	const char *text, *at;
	struct error *error;
	int depth;
};

void condition_free(struct condition *c)
{
	if (c == NULL)
		return;
	condition_free(c->left);
	condition_free(c->right);
	g_free(c);
}

static struct condition *node(enum node_kind kind)
{
	struct condition *c = g_new0(struct condition, 1);
	c->kind = kind;
	c->variable = NONE;
	return c;
}

static void skip(struct parser *p)
{
	while (*p->at == ' ')
		p->at++;
}

static bool take(struct parser *p, const char *word)
{
	skip(p);
	if (!g_str_has_prefix(p->at, word))
		return false;
	p->at += strlen(word);
	return true;
}

static struct condition *refuse(struct parser *p, const char *expected)
{
	error_set(p->error, "", "for example: acct.balance < 0 && hits != 3",
	          "the condition has '%s' where %s was expected", *p->at ? p->at : "its end",
	          expected);
	return NULL;
}

/* `thread == T1`: a thread's name is its number; NULL: none stands there. */
static struct condition *parse_thread(struct parser *p)
{
	const struct trace *t = p->session->trace;
	struct condition *c = NULL;
	size_t longest = 0;
	for (uint32_t i = 0; i < t->threads_count; i++) {
		const char *name = trace_thread_name(t, i);
		size_t length = strlen(name);
		if (length <= longest || strncmp(p->at, name, length) != 0 ||
		    g_ascii_isalnum(p->at[length]) || p->at[length] == '_')
			continue;
		longest = length;
		c = c ? c : node(NODE_NUMBER);
		c->number = i;
	}
	p->at += longest;
	return c;
}

/* The length of a name that stands there as a whole; 0: it does not. */
static size_t stands(const struct parser *p, const char *name)
{
	size_t length = strlen(name);
	bool cut = length > 0 &&
	           (g_ascii_isalnum(name[length - 1]) || name[length - 1] == '_') &&
	           (g_ascii_isalnum(p->at[length]) || p->at[length] == '_');
	return strncmp(p->at, name, length) == 0 && !cut ? length : 0;
}

/* What follows the name's next function; NULL: it has none. */
static const char *after_function(const char *name)
{
	const char *colons = strstr(name, "::");
	return colons ? colons + 2 : NULL;
}

/* The longest variable's name that stands there, a local one also without its functions where
 * no other is called so; *clash: where two are. */
static size_t longest_variable(const struct parser *p, uint32_t *variable, bool *clash)
{
	const struct trace *t = p->session->trace;
	size_t longest = 0;
	bool whole = false;
	*clash = false;
	for (uint64_t v = 0; v < t->variables_count; v++) {
		const char *name = trace_string(t, t->variables[v].name);
		for (const char *tail = name; tail; tail = after_function(tail)) {
			size_t length = stands(p, tail);
			bool same = length == longest && length > 0;
			if (length < longest || length == 0 || (same && whole && tail != name))
				continue;
			*clash = same && !whole && tail != name;
			whole = tail == name;
			longest = length;
			*variable = (uint32_t)v;
		}
	}
	return longest;
}

static struct condition *parse_variable(struct parser *p)
{
	bool clash;
	uint32_t variable = NONE;
	size_t longest = longest_variable(p, &variable, &clash);
	if (clash)
		return refuse(p,
		              "a variable's whole name (FUNCTION::NAME), as several end so,");
	if (longest) {
		struct condition *found = node(NODE_VARIABLE);
		found->variable = variable;
		p->at += longest;
		return found;
	}
	struct condition *c = parse_thread(p);
	if (c)
		return c;
	return refuse(p, "a variable or a thread of the trace, or a number");
}

static struct condition *parse_term(struct parser *p)
{
	skip(p);
	if (g_ascii_isdigit(*p->at) || (*p->at == '-' && g_ascii_isdigit(p->at[1]))) {
		struct condition *c = node(NODE_NUMBER);
		char *end;
		c->number = g_ascii_strtoll(p->at, &end, 0);
		p->at = end;
		return c;
	}
	if (session_find_variable(p->session, "thread") == NONE && take(p, "thread"))
		return node(NODE_THREAD);
	if (session_find_variable(p->session, "event") == NONE && take(p, "event"))
		return node(NODE_EVENT);
	return parse_variable(p);
}

static struct condition *binary(const char *op, struct condition *left, struct condition *right)
{
	if (right == NULL) {
		condition_free(left);
		return NULL;
	}
	struct condition *c = node(NODE_BINARY);
	g_strlcpy(c->op, op, sizeof c->op);
	c->left = left;
	c->right = right;
	return c;
}

/* Levels of binary operators, loosest first; the last is of terms. */
static const char *const levels[][7] = {
	{ "||", NULL },
	{ "&&", NULL },
	{ "==", "!=", "<=", ">=", "<", ">", NULL },
	{ "+", "-", NULL },
};

static struct condition *parse_level(struct parser *p, unsigned level);

static struct condition *parse_unary(struct parser *p, unsigned level)
{
	if (level < G_N_ELEMENTS(levels))
		return parse_level(p, level);
	skip(p);
	if (++p->depth > 64)
		return refuse(p, "less nesting");
	if (*p->at == '!' && p->at[1] != '=') {
		p->at++;
		struct condition *operand = parse_unary(p, level);
		struct condition *c = operand ? node(NODE_NOT) : NULL;
		if (c)
			c->left = operand;
		return c;
	}
	if (take(p, "(")) {
		struct condition *c = parse_level(p, 0);
		if (c && !take(p, ")")) {
			condition_free(c);
			return refuse(p, "')'");
		}
		return c;
	}
	return parse_term(p);
}

static struct condition *parse_level(struct parser *p, unsigned level)
{
	struct condition *left = parse_unary(p, level + 1);
	for (bool more = true; left && more;) {
		more = false;
		for (const char *const *op = levels[level]; *op && left && !more; op++) {
			if (!take(p, *op))
				continue;
			left = binary(*op, left, parse_unary(p, level + 1));
			more = true;
		}
	}
	return left;
}

struct condition *condition_parse(const struct session *s, const char *text,
                                  struct error *error)
{
	struct parser p = { .session = s, .text = text, .at = text, .error = error };
	struct condition *c = parse_level(&p, 0);
	skip(&p);
	if (c && *p.at) {
		condition_free(c);
		return refuse(&p, "the end or an operator");
	}
	return c;
}

struct result {
	bool known;
	int64_t number;
};

static struct result known(int64_t number)
{
	return (struct result){ true, number };
}

static struct result variable_result(const struct session *s, uint32_t variable, uint32_t event)
{
	const struct trace *t = s->trace;
	const struct value *v = &t->values[session_value(s, variable, event).value];
	switch (v->kind) {
	case V_INT:
		return known(v->integer);
	case V_NIL:
	case V_FALSE:
		return known(0);
	case V_TRUE:
		return known(1);
	default:
		return (struct result){ 0 };
	}
}

static int64_t compute(const char *op, int64_t a, int64_t b)
{
	if (op[0] == '+')
		return (int64_t)((uint64_t)a + (uint64_t)b);
	if (op[0] == '-')
		return (int64_t)((uint64_t)a - (uint64_t)b);
	if (op[0] == '|')
		return a || b;
	if (op[0] == '&')
		return a && b;
	if (op[0] == '=')
		return a == b;
	if (op[0] == '!')
		return a != b;
	if (op[0] == '<')
		return op[1] ? a <= b : a < b;
	return op[1] ? a >= b : a > b;
}

static struct result evaluate(const struct session *s, const struct condition *c,
                              uint32_t event)
{
	switch (c->kind) {
	case NODE_NUMBER:
		return known(c->number);
	case NODE_VARIABLE:
		return variable_result(s, c->variable, event);
	case NODE_THREAD:
		return known(s->trace->events[event].thread);
	case NODE_EVENT:
		return known(event);
	case NODE_NOT: {
		struct result r = evaluate(s, c->left, event);
		return (struct result){ r.known, !r.number };
	}
	case NODE_BINARY:
		break;
	}
	struct result a = evaluate(s, c->left, event), b = evaluate(s, c->right, event);
	if (c->op[0] == '|')
		return known((a.known && a.number) || (b.known && b.number));
	if (!a.known || !b.known)
		return (struct result){ 0 };
	return known(compute(c->op, a.number, b.number));
}

bool condition_holds(const struct session *s, const struct condition *c, uint32_t event)
{
	struct result r = evaluate(s, c, event);
	return r.known && r.number;
}
