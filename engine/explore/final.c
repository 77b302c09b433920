/* final.c - see final.h: a small parser that makes a tree, and its evaluation. */
#include "engine/explore/final.h"

#include "engine/predict/core.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_DEPTH = 200 };

struct node {
	char op; /* '|' '&' '=' '#' (!=) '<' 'l' (<=) '>' 'g' (>=) + - * / % '!' 'm' (minus)
	          * 'n' (number) 'v' (variable) */
	int64_t number;
	uint32_t name; /* of finals.names */
	struct node *a, *b;
};

struct finals {
	GPtrArray *names; /* char * */
	char *check;
	GPtrArray *nodes; /* owned */
	struct node *root;
};

struct parser {
	struct finals *f;
	const char *at;
	const char *wrong; /* where it went wrong, or NULL */
	int depth;
};

/* -- reading ------------------------------------------------------------------------------- */

static struct node *node(struct parser *p, char op, struct node *a, struct node *b)
{
	struct node *n = g_new0(struct node, 1);
	n->op = op;
	n->a = a;
	n->b = b;
	g_ptr_array_add(p->f->nodes, n);
	return n;
}

static bool take(struct parser *p, const char *token)
{
	p->at += strspn(p->at, " \t\n");
	if (strncmp(p->at, token, strlen(token)) != 0)
		return false;
	p->at += strlen(token);
	return true;
}

static struct node *wrong(struct parser *p)
{
	if (p->wrong == NULL)
		p->wrong = p->at;
	return node(p, 'n', NULL, NULL);
}

/* As the trace spells variables: a.b, a->b, a[3], F::s. */
static size_t name_length(const char *s)
{
	size_t n = 0;
	for (;;) {
		if (g_ascii_isalnum(s[n]) || s[n] == '_')
			n++;
		else if ((s[n] == '.' && (g_ascii_isalpha(s[n + 1]) || s[n + 1] == '_')) ||
		         (s[n] == '[' && g_ascii_isdigit(s[n + 1])) || s[n] == ']')
			n++;
		else if ((s[n] == '-' && s[n + 1] == '>') || (s[n] == ':' && s[n + 1] == ':'))
			n += 2;
		else
			return n;
	}
}

static uint32_t name_index(struct finals *f, const char *name, size_t length)
{
	for (guint i = 0; i < f->names->len; i++) {
		const char *known = f->names->pdata[i];
		if (strlen(known) == length && memcmp(known, name, length) == 0)
			return i;
	}
	g_ptr_array_add(f->names, g_strndup(name, length));
	return f->names->len - 1;
}

static struct node *disjunction(struct parser *p);

static struct node *primary(struct parser *p)
{
	struct node *n;
	char *end;
	if (++p->depth > MOST_DEPTH)
		return wrong(p);
	if (take(p, "(")) {
		n = disjunction(p);
		n = take(p, ")") ? n : wrong(p);
	} else if (take(p, "!")) {
		n = node(p, '!', primary(p), NULL);
	} else if (take(p, "-")) {
		n = node(p, 'm', primary(p), NULL);
	} else if (g_ascii_isdigit(*p->at)) {
		n = node(p, 'n', NULL, NULL);
		n->number = g_ascii_strtoll(p->at, &end, 0);
		p->at = end;
	} else if (g_ascii_isalpha(*p->at) || *p->at == '_') {
		size_t length = name_length(p->at);
		n = node(p, 'v', NULL, NULL);
		n->name = name_index(p->f, p->at, length);
		p->at += length;
	} else {
		n = wrong(p);
	}
	p->depth--;
	return n;
}

struct operator
{
	const char *token;
	char op;
};
/* By precedence, the loosest first; in a row, longer tokens first. */
static const struct operator levels[][7] = {
	{ { "||", '|' } },
	{ { "&&", '&' } },
	{ { "==", '=' },
	  { "!=", '#' },
	  { "<=", 'l' },
	  { ">=", 'g' },
	  { "<", '<' },
	  { ">", '>' } },
	{ { "+", '+' }, { "-", '-' } },
	{ { "*", '*' }, { "/", '/' }, { "%", '%' } },
};

static struct node *level(struct parser *p, size_t at)
{
	if (at == G_N_ELEMENTS(levels))
		return primary(p);
	struct node *n = level(p, at + 1);
	for (bool more = true; more && p->wrong == NULL;) {
		more = false;
		for (const struct operator* o = levels[at]; o->token && !more; o++) {
			if (!take(p, o->token))
				continue;
			n = node(p, o->op, n, level(p, at + 1));
			more = true;
		}
	}
	return n;
}

static struct node *disjunction(struct parser *p)
{
	return level(p, 0);
}

struct finals *finals_new(const char *names, const char *check, struct error *error)
{
	struct finals *f = g_new0(struct finals, 1);
	f->names = g_ptr_array_new_with_free_func(g_free);
	f->nodes = g_ptr_array_new_with_free_func(g_free);
	char **words = g_strsplit(names ? names : "", ",", -1);
	for (char **w = words; *w; w++)
		if (*g_strstrip(*w))
			name_index(f, *w, strlen(*w));
	g_strfreev(words);
	if (check == NULL)
		return f;
	struct parser p = { .f = f, .at = check };
	f->check = g_strdup(check);
	f->root = disjunction(&p);
	p.at += strspn(p.at, " \t\n");
	if (p.wrong == NULL && *p.at)
		p.wrong = p.at;
	if (p.wrong == NULL)
		return f;
	char *text = g_strdup(p.wrong);
	error_set(error, "--check", "write it as in C: 'x == 3 && y >= 0'",
	          "expected a condition, found '%s'", *text ? text : "the end");
	g_free(text);
	finals_free(f);
	return NULL;
}

void finals_free(struct finals *f)
{
	if (f == NULL)
		return;
	g_ptr_array_unref(f->names);
	g_ptr_array_unref(f->nodes);
	g_free(f->check);
	g_free(f);
}

const GPtrArray *finals_names(const struct finals *f)
{
	return f->names;
}

const char *finals_check(const struct finals *f)
{
	return f->check;
}

/* -- values at the end --------------------------------------------------------------------- */

uint32_t final_variable(const struct trace *t, const char *name)
{
	for (uint32_t v = 0; v < t->variables_count; v++)
		if (t->variables[v].block == NONE &&
		    strcmp(trace_string(t, t->variables[v].name), name) == 0)
			return v;
	return NONE;
}

uint32_t final_write(const struct trace *t, uint32_t variable)
{
	struct event_list list = event_list_at(&t->index->variable_events, variable);
	for (uint64_t i = list.count; i-- > 0;)
		if (op_writes(t->events[list.items[i]].op))
			return list.items[i];
	return NONE;
}

/* The value as an index of trace.values; 0: not known. */
static uint32_t final_value(const struct trace *t, uint32_t variable)
{
	struct event_list list = event_list_at(&t->index->variable_events, variable);
	uint32_t write = final_write(t, variable);
	if (write != NONE)
		return core_value_written(t, write);
	for (uint64_t i = 0; i < list.count; i++)
		if (core_value_read(t, list.items[i]) != 0)
			return core_value_read(t, list.items[i]);
	return 0;
}

static bool final_integer(const struct trace *t, const char *name, int64_t *value)
{
	uint32_t v = final_variable(t, name), at = v == NONE ? 0 : final_value(t, v);
	if (at == 0 || t->values[at].kind != V_INT)
		return false;
	unsigned bits = t->variables[v].size * 8;
	*value = t->values[at].integer;
	if (bits > 0 && bits < 64)
		*value = (int64_t)((uint64_t)*value << (64 - bits)) >> (64 - bits);
	return true;
}

/* -- does it hold? --------------------------------------------------------------------------
 */

struct evaluation {
	const struct finals *f;
	const struct trace *t;
	bool unknown;
};

static int64_t binary(char op, int64_t a, int64_t b)
{
	uint64_t x = (uint64_t)a, y = (uint64_t)b;
	switch (op) {
	case '|':
		return a || b;
	case '&':
		return a && b;
	case '=':
		return a == b;
	case '#':
		return a != b;
	case '<':
		return a < b;
	case 'l':
		return a <= b;
	case '>':
		return a > b;
	case 'g':
		return a >= b;
	case '+':
		return (int64_t)(x + y);
	case '-':
		return (int64_t)(x - y);
	case '*':
		return (int64_t)(x * y);
	case '/':
		return b == 0 ? 0 : b == -1 ? (int64_t)(0 - x) : a / b;
	default:
		return b == 0 || b == -1 ? 0 : a % b;
	}
}

static int64_t value_of(struct evaluation *v, const struct node *n)
{
	int64_t value = n->number;
	switch (n->op) {
	case 'n':
		return value;
	case 'v':
		v->unknown |= !final_integer(v->t, v->f->names->pdata[n->name], &value);
		return value;
	case '!':
		return !value_of(v, n->a);
	case 'm':
		return (int64_t)(0 - (uint64_t)value_of(v, n->a));
	default:
		value = value_of(v, n->a);
		return binary(n->op, value, value_of(v, n->b));
	}
}

int finals_hold(const struct finals *f, const struct trace *t, GString *story)
{
	struct evaluation v = { .f = f, .t = t };
	if (f->root == NULL)
		return 1;
	bool holds = value_of(&v, f->root) != 0;
	for (guint i = 0; i < f->names->len; i++) {
		int64_t value = 0;
		const char *name = f->names->pdata[i];
		bool known = final_integer(t, name, &value);
		g_string_append_printf(story, "%s%s = ", i ? ", " : "", name);
		if (known)
			g_string_append_printf(story, "%" PRId64, value);
		else
			g_string_append(story, "?");
	}
	return v.unknown ? -1 : holds;
}
