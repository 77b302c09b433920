/*
 * parse.c - from the words of a specification file to its declarations: recursive descent,
 * one function a construct, the first error ends it.  See docs/specifications.md for the
 * language and spec.h for what comes out.
 */
#include "engine/commute/lexer.h"
#include "engine/commute/tree.h"

#include <string.h>

struct parser {
	const char *file;
	const struct token *at;
	struct error *error;
	char *inside;          /* "object dict", for messages; owned */
	struct spec_object *o; /* the object being read, or NULL */
	/* Names that X_NAME may stand for: of side 0 and 1 with their numbers. */
	char **names[2];
	uint32_t name_counts[2];
	bool in_effect; /* states may be named */
	uint32_t depth; /* of expressions that are being read */
};

/* Formulas are walked recursively; nobody writes deeper ones. */
#define DEEPEST 4000

/* Errors. */

static void append_found(GString *what, const struct token *t)
{
	if (t->kind == TOKEN_END) {
		g_string_append(what, token_kind_text(TOKEN_END));
		return;
	}
	g_string_append_c(what, '\'');
	g_string_append_len(what, t->start, t->length);
	g_string_append_c(what, '\'');
}

static bool refuse_at(struct parser *p, uint32_t line, uint32_t column, const char *remedy,
                      const char *what)
{
	return error_set(p->error, place_column(p->file, line, column).text, remedy, "%s%s%s",
	                 what, p->inside ? ", in " : "", p->inside ? p->inside : "");
}

static bool refuse(struct parser *p, const struct token *t, const char *remedy,
                   const char *format, ...) __attribute__((format(printf, 4, 5)));
static bool refuse(struct parser *p, const struct token *t, const char *remedy,
                   const char *format, ...)
{
	va_list list;
	va_start(list, format);
	char *what = g_strdup_vprintf(format, list);
	va_end(list);
	refuse_at(p, t->line, t->column, remedy, what);
	g_free(what);
	return false;
}

static bool expected(struct parser *p, const char *what)
{
	GString *s = g_string_new(NULL);
	g_string_append_printf(s, "expected %s, found ", what);
	append_found(s, p->at);
	refuse(p, p->at, NULL, "%s", s->str);
	g_string_free(s, TRUE);
	return false;
}

static void inside(struct parser *p, const char *format, ...)
        __attribute__((format(printf, 2, 3)));
static void inside(struct parser *p, const char *format, ...)
{
	va_list list;
	va_start(list, format);
	g_free(p->inside);
	p->inside = g_strdup_vprintf(format, list);
	va_end(list);
}

/* Words. */

static bool is(const struct parser *p, enum token_kind kind)
{
	return p->at->kind == kind;
}

static bool is_word(const struct parser *p, const char *word)
{
	return p->at->kind == TOKEN_NAME && strcmp(p->at->text, word) == 0;
}

static void next(struct parser *p)
{
	if (p->at->kind != TOKEN_END)
		p->at++;
}

static bool accept(struct parser *p, enum token_kind kind)
{
	if (!is(p, kind))
		return false;
	next(p);
	return true;
}

static bool accept_word(struct parser *p, const char *word)
{
	if (!is_word(p, word))
		return false;
	next(p);
	return true;
}

static bool need(struct parser *p, enum token_kind kind)
{
	if (accept(p, kind))
		return true;
	char *quoted = g_strdup_printf("'%s'", token_kind_text(kind));
	expected(p, quoted);
	g_free(quoted);
	return false;
}

static bool need_word(struct parser *p, const char *word)
{
	if (accept_word(p, word))
		return true;
	char *quoted = g_strdup_printf("'%s'", word);
	expected(p, quoted);
	g_free(quoted);
	return false;
}

/* A name; borrowed from the token. */
static const char *need_name(struct parser *p, const char *what)
{
	if (!is(p, TOKEN_NAME)) {
		expected(p, what);
		return NULL;
	}
	const char *name = p->at->text;
	next(p);
	return name;
}

/* The name of an object or set of atomics: hyphens may join words (union-find). */
static char *need_title(struct parser *p, const char *what)
{
	const char *first = need_name(p, what);
	if (first == NULL)
		return NULL;
	GString *title = g_string_new(first);
	const struct token *last = p->at - 1;
	while (is(p, TOKEN_MINUS) && p->at->start == last->start + last->length &&
	       p->at[1].kind == TOKEN_NAME && p->at[1].start == p->at->start + 1) {
		g_string_append_printf(title, "-%s", p->at[1].text);
		last = p->at + 1;
		p->at += 2;
	}
	return g_string_free(title, FALSE);
}

/* name {, name} appended to `list` as owned strings. */
static bool names(struct parser *p, GPtrArray *list, const char *what)
{
	do {
		const char *name = need_name(p, what);
		if (name == NULL)
			return false;
		g_ptr_array_add(list, g_strdup(name));
	} while (accept(p, TOKEN_COMMA));
	return true;
}

/* Expressions. */

static struct expr *expression(struct parser *p, int around);

static struct expr *node(struct parser *p, const struct token *t, enum expr_op op,
                         struct expr *a, struct expr *b)
{
	struct expr *e = spec_expr_new(p->o, op, a, b);
	e->line = t->line;
	e->column = t->column;
	return e;
}

static uint32_t state_find(const struct parser *p, const char *name, enum sort *sort)
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
				struct expr *e = node(p, t, X_NAME, NULL, NULL);
				e->side = side;
				e->index = i;
				return e;
			}
	enum sort sort = SORT_INT;
	uint32_t state = p->in_effect ? state_find(p, t->text, &sort) : NONE;
	if (state == NONE) {
		refuse(p, t,
		       p->in_effect ? "name an argument, a result or a state"
		                    : "name an argument or result of one of the two patterns",
		       "expected a name that is bound here, found '%s'", t->text);
		return NULL;
	}
	struct expr *e = node(p, t, X_STATE, NULL, NULL);
	e->index = state;
	if (sort == SORT_MAP) {
		if (!need(p, TOKEN_LBRACKET) || (e->a = expression(p, 0)) == NULL ||
		    !need(p, TOKEN_RBRACKET))
			return NULL;
		e->op = X_LOOKUP;
	} else if (sort == SORT_SET || sort == SORT_PARTITION) {
		refuse(p, t, "ask for its members: k in s, or a ~ b in p",
		       "expected a value, found the %s '%s'", sort_word(sort), t->text);
		return NULL;
	}
	return e;
}

static struct expr *primary(struct parser *p)
{
	const struct token *t = p->at;
	struct expr *e;
	switch (t->kind) {
	case TOKEN_NUMBER:
		next(p);
		e = node(p, t, X_INT, NULL, NULL);
		e->integer = t->number;
		return e;
	case TOKEN_TEXT:
		next(p);
		e = node(p, t, X_TEXT, NULL, NULL);
		e->text = g_memdup2(t->text, t->text_length + 1);
		e->text_length = t->text_length;
		return e;
	case TOKEN_OPEN:
		next(p);
		e = expression(p, 0);
		return e != NULL && need(p, TOKEN_CLOSE) ? e : NULL;
	case TOKEN_NOT:
	case TOKEN_MINUS:
		next(p);
		e = expression(p, 7);
		return e ? node(p, t, t->kind == TOKEN_NOT ? X_NOT : X_NEGATE, e, NULL) : NULL;
	case TOKEN_NAME:
		next(p);
		if (strcmp(t->text, "nil") == 0)
			return node(p, t, X_NIL, NULL, NULL);
		if (strcmp(t->text, "true") == 0)
			return node(p, t, X_TRUE, NULL, NULL);
		if (strcmp(t->text, "false") == 0)
			return node(p, t, X_FALSE, NULL, NULL);
		return name_expression(p, t);
	default:
		expected(p, "a name, a constant or '('");
		return NULL;
	}
}

static const struct {
	enum expr_op op;
	int strength; /* C's precedence; 0: no binary operator */
} binary[TOKEN_COUNT] = {
	[TOKEN_OR] = { X_OR, 1 },      [TOKEN_AND] = { X_AND, 2 },
	[TOKEN_EQ] = { X_EQ, 3 },      [TOKEN_NE] = { X_NE, 3 },
	[TOKEN_LESS] = { X_LT, 4 },    [TOKEN_LE] = { X_LE, 4 },
	[TOKEN_GREATER] = { X_GT, 4 }, [TOKEN_GE] = { X_GE, 4 },
	[TOKEN_PLUS] = { X_ADD, 5 },   [TOKEN_MINUS] = { X_SUB, 5 },
	[TOKEN_TIMES] = { X_MUL, 6 },  [TOKEN_MOD] = { X_MOD, 6 },
};

/* What may stand where a truth value is asked for. */
static bool may_be_truth(const struct expr *e)
{
	return expr_is_truth(e->op) || e->op == X_NAME || e->op == X_STATE || e->op == X_LOOKUP;
}

static bool need_truth(struct parser *p, const struct expr *e)
{
	if (may_be_truth(e))
		return true;
	return refuse_at(p, e->line, e->column, "compare it with something",
	                 e->op == X_INT    ? "expected a condition, found an integer"
	                 : e->op == X_TEXT ? "expected a condition, found a string"
	                 : e->op == X_NIL  ? "expected a condition, found nil"
	                                   : "expected a condition, found arithmetic");
}

static bool need_state(struct parser *p, enum sort sort, uint32_t *state)
{
	enum sort found = SORT_INT;
	const struct token *t = p->at;
	if (!is(p, TOKEN_NAME) || (*state = state_find(p, t->text, &found)) == NONE ||
	    found != sort) {
		char *what = g_strdup_printf("a state of sort %s", sort_word(sort));
		expected(p, what);
		g_free(what);
		return false;
	}
	next(p);
	return true;
}

/* a in s, a ~ b in p */
static struct expr *membership(struct parser *p, struct expr *a)
{
	const struct token *t = p->at;
	struct expr *b = NULL;
	bool same = accept(p, TOKEN_TILDE);
	if (same && (b = expression(p, 5)) == NULL)
		return NULL;
	struct expr *e = node(p, t, same ? X_SAME : X_IN, a, b);
	if (!need_word(p, "in") || !need_state(p, same ? SORT_PARTITION : SORT_SET, &e->index))
		return NULL;
	return e;
}

static bool shallow(struct parser *p, const struct token *t, uint32_t depth)
{
	return depth < DEEPEST ||
	       refuse(p, t, "split it",
	              "expected a formula that is nested less than %d deep, found "
	              "a deeper one",
	              DEEPEST);
}

static struct expr *expression(struct parser *p, int around)
{
	if (!shallow(p, p->at, ++p->depth))
		return NULL;
	struct expr *e = primary(p);
	p->depth--;
	while (e != NULL && shallow(p, p->at, e->depth)) {
		const struct token *t = p->at;
		if (p->in_effect && around <= 4 && (is(p, TOKEN_TILDE) || is_word(p, "in"))) {
			e = membership(p, e);
			continue;
		}
		int strength = binary[t->kind].strength;
		if (strength == 0 || strength < around)
			break;
		next(p);
		struct expr *right = expression(p, strength + 1);
		if (right == NULL)
			return NULL;
		enum expr_op op = binary[t->kind].op;
		if ((op == X_AND || op == X_OR) && !(need_truth(p, e) && need_truth(p, right)))
			return NULL;
		e = node(p, t, op, e, right);
	}
	return e != NULL && e->depth < DEEPEST ? e : NULL;
}

static bool check_not(struct parser *p, const struct expr *e)
{
	if (e == NULL)
		return true;
	if (e->op == X_NOT && !need_truth(p, e->a))
		return false;
	return check_not(p, e->a) && check_not(p, e->b);
}

static struct expr *formula(struct parser *p)
{
	struct expr *e = expression(p, 0);
	return e != NULL && need_truth(p, e) && check_not(p, e) ? e : NULL;
}

/* Patterns: name(a, b) / r, s */

static bool pattern_names(struct parser *p, const struct spec_method *m, GPtrArray *list)
{
	const struct token *t = p->at;
	if (!need(p, TOKEN_OPEN))
		return false;
	if (!is(p, TOKEN_CLOSE) && !names(p, list, "the name of an argument or '_'"))
		return false;
	if (!need(p, TOKEN_CLOSE))
		return false;
	if (m != NULL && list->len != m->arguments)
		return refuse(p, t, "give it as many as its declaration has",
		              "expected %u argument%s of %s, found %u", m->arguments,
		              m->arguments == 1 ? "" : "s", m->name, list->len);
	uint32_t arguments = list->len;
	t = p->at;
	if (accept(p, TOKEN_SLASH)) {
		/* In a pair the comma also separates the two sides: take what is declared. */
		do {
			const char *name = need_name(p, "the name of a result or '_'");
			if (name == NULL)
				return false;
			g_ptr_array_add(list, g_strdup(name));
		} while ((m == NULL || list->len - arguments < m->results) &&
		         accept(p, TOKEN_COMMA));
	}
	if (m != NULL && list->len - arguments != m->results)
		return refuse(p, t, "give it as many as its declaration has, after '/'",
		              "expected %u result%s of %s, found %u", m->results,
		              m->results == 1 ? "" : "s", m->name, list->len - arguments);
	return true;
}

static char **end_names(GPtrArray *list)
{
	g_ptr_array_add(list, NULL);
	return (char **)g_ptr_array_free(list, FALSE);
}

static void drop_names(GPtrArray *list)
{
	g_ptr_array_set_free_func(list, g_free);
	g_ptr_array_free(list, TRUE);
}

static bool unique_names(struct parser *p, const struct token *t, char **const *lists,
                         int sides)
{
	GHashTable *seen = g_hash_table_new(g_str_hash, g_str_equal);
	bool ok = true;
	for (int side = 0; ok && side < sides; side++)
		for (char **n = lists[side]; ok && n != NULL && *n != NULL; n++)
			if (strcmp(*n, "_") != 0 && !g_hash_table_add(seen, *n))
				ok = refuse(p, t, "give each argument and result its own name",
				            "expected different names, found '%s' twice", *n);
	g_hash_table_destroy(seen);
	return ok;
}

static bool declared_method(struct parser *p, uint32_t *method)
{
	const struct token *t = p->at;
	const char *name = need_name(p, "the name of a method");
	if (name == NULL)
		return false;
	*method = spec_method_find(p->o, name);
	if (*method == NONE)
		return refuse(p, t, "declare it first: method NAME(ARGUMENTS) / RESULTS",
		              "expected a declared method, found '%s'", name);
	return true;
}

/* The statements of an object. */

static bool object_method(struct parser *p)
{
	const struct token *t = p->at;
	const char *name = need_name(p, "the name of a method");
	if (name == NULL)
		return false;
	if (spec_method_find(p->o, name) != NONE)
		return refuse(p, t, "leave one of the two out",
		              "expected a new method, found '%s' a second time", name);
	GPtrArray *list = g_ptr_array_new();
	const struct token *open = p->at;
	if (!need(p, TOKEN_OPEN) || (!is(p, TOKEN_CLOSE) && !names(p, list, "an argument")) ||
	    !need(p, TOKEN_CLOSE)) {
		drop_names(list);
		return false;
	}
	uint32_t arguments = list->len;
	if (accept(p, TOKEN_SLASH) && !names(p, list, "a result")) {
		drop_names(list);
		return false;
	}
	struct spec_method *m = spec_method_new(p->o, name);
	m->line = t->line;
	m->column = t->column;
	m->arguments = arguments;
	m->results = list->len - arguments;
	m->names = end_names(list);
	return unique_names(p, open, &m->names, 1);
}

static bool side_pattern(struct parser *p, struct spec_condition *c, int side)
{
	if (!declared_method(p, &c->methods[side]))
		return false;
	p->names[side] = NULL;
	p->name_counts[side] = 0;
	if (!is(p, TOKEN_OPEN))
		return true;
	GPtrArray *list = g_ptr_array_new();
	const struct spec_method *m = spec_method_at(p->o, c->methods[side]);
	if (!pattern_names(p, m, list)) {
		drop_names(list);
		return false;
	}
	p->name_counts[side] = list->len;
	p->names[side] = c->names[side] = end_names(list);
	return true;
}

static bool object_commute(struct parser *p, const struct token *start)
{
	struct spec_condition *c = spec_condition_new(p->o);
	c->line = start->line;
	c->column = start->column;
	if (!side_pattern(p, c, 0) || !need(p, TOKEN_COMMA) || !side_pattern(p, c, 1) ||
	    !unique_names(p, start, c->names, 2))
		return false;
	for (guint i = 0; i + 1 < p->o->conditions->len; i++) {
		const struct spec_condition *d = p->o->conditions->pdata[i];
		if ((d->methods[0] == c->methods[0] && d->methods[1] == c->methods[1]) ||
		    (d->methods[0] == c->methods[1] && d->methods[1] == c->methods[0]))
			return refuse(
			        p, start, "one line serves both orders: leave this one out",
			        "expected one condition for %s and %s, found a second (the "
			        "first is on line %u)",
			        spec_method_at(p->o, c->methods[0])->name,
			        spec_method_at(p->o, c->methods[1])->name, d->line);
	}
	if (!need(p, TOKEN_COLON))
		return false;
	p->in_effect = false;
	c->formula = formula(p);
	return c->formula != NULL;
}

static bool object_state(struct parser *p)
{
	const struct token *t = p->at;
	const char *name = need_name(p, "the name of a state");
	enum sort ignored;
	if (name == NULL)
		return false;
	if (state_find(p, name, &ignored) != NONE)
		return refuse(p, t, "leave one of the two out",
		              "expected a new state, found '%s' a second time", name);
	if (!need(p, TOKEN_COLON))
		return false;
	struct spec_state s = { .sort = SORT_COUNT };
	for (int sort = 0; sort < SORT_COUNT; sort++)
		if (accept_word(p, sort_word(sort)))
			s.sort = sort;
	if (s.sort == SORT_COUNT)
		return expected(p, "a sort: int, bool, map, set, value or partition");
	if (is(p, TOKEN_ASSIGN)) {
		next(p);
		const struct token *constant = p->at;
		if (s.sort == SORT_MAP || s.sort == SORT_SET) {
			if (!need(p, TOKEN_LBRACE) || !need(p, TOKEN_RBRACE))
				return false;
		} else {
			p->name_counts[0] = p->name_counts[1] = 0;
			p->in_effect = false;
			s.first = expression(p, 7);
			if (s.first == NULL)
				return false;
			struct expr *e = s.first;
			if (e->op == X_NEGATE && e->a->op == X_INT) {
				e->op = X_INT;
				e->integer = -e->a->integer;
			}
			bool fits = s.sort == SORT_INT     ? e->op == X_INT
			            : s.sort == SORT_BOOL  ? e->op == X_TRUE || e->op == X_FALSE
			            : s.sort == SORT_VALUE ? e->op <= X_TEXT
			                                   : false;
			if (!fits)
				return refuse(
				        p, constant, "write a constant of the state's sort",
				        "expected a first value of sort %s, found another",
				        sort_word(s.sort));
		}
	}
	s.name = g_strdup(name);
	g_array_append_val(p->o->states, s);
	return true;
}

/* d[k] := v;  n := n + 1;  s += k;  p += a ~ b;  or a condition that holds. */
static bool statement(struct parser *p, struct statement *s)
{
	const struct token *start = p->at;
	enum sort sort = SORT_INT;
	uint32_t state = is(p, TOKEN_NAME) ? state_find(p, p->at->text, &sort) : NONE;
	enum token_kind sign = p->at->kind == TOKEN_END ? TOKEN_END : p->at[1].kind;
	*s = (struct statement){ .state = state };
	if (state != NONE && (sign == TOKEN_INSERT || sign == TOKEN_REMOVE)) {
		if (sort != SORT_SET && sort != SORT_PARTITION)
			return refuse(
			        p, start, "write NAME := VALUE",
			        "expected a set or a partition before '%s', found the %s '%s'",
			        token_kind_text(sign), sort_word(sort), start->text);
		p->at += 2;
		s->kind = sign == TOKEN_INSERT ? STATEMENT_INSERT : STATEMENT_REMOVE;
		s->e = expression(p, 5);
		if (s->e == NULL || sort == SORT_SET)
			return s->e != NULL;
		if (sign == TOKEN_REMOVE)
			return refuse(p, start, "write NAME += A ~ B",
			              "expected '+=' for a partition, found '-='");
		s->kind = STATEMENT_UNITE;
		s->key = s->e;
		return need(p, TOKEN_TILDE) && (s->e = expression(p, 5)) != NULL;
	}
	if (state != NONE && sign == TOKEN_BECOMES) {
		if (sort == SORT_MAP || sort == SORT_SET || sort == SORT_PARTITION)
			return refuse(
			        p, start, "change one element at a time",
			        "expected a state of sort int, bool or value before ':=', "
			        "found the %s '%s'",
			        sort_word(sort), start->text);
		p->at += 2;
		s->kind = STATEMENT_ASSIGN;
		return (s->e = expression(p, 0)) != NULL && check_not(p, s->e);
	}
	struct expr *e = expression(p, 0);
	if (e == NULL)
		return false;
	if (e->op == X_LOOKUP && accept(p, TOKEN_BECOMES)) {
		s->kind = STATEMENT_STORE;
		s->state = e->index;
		s->key = e->a;
		return (s->e = expression(p, 0)) != NULL && check_not(p, s->e);
	}
	s->kind = STATEMENT_HOLDS;
	s->e = e;
	return need_truth(p, e) && check_not(p, e);
}

static bool object_effect(struct parser *p)
{
	const struct token *t = p->at;
	uint32_t method;
	if (!declared_method(p, &method))
		return false;
	struct spec_method *m = spec_method_at(p->o, method);
	if (m->effect != NULL)
		return refuse(p, t, "leave one of the two out",
		              "expected one effect of %s, found a second", m->name);
	GPtrArray *list = g_ptr_array_new();
	if (!pattern_names(p, m, list)) {
		drop_names(list);
		return false;
	}
	p->name_counts[0] = list->len;
	p->name_counts[1] = 0;
	p->in_effect = true;
	char **own = p->names[0] = end_names(list);
	m->effect = g_array_new(FALSE, FALSE, sizeof(struct statement));
	bool ok = unique_names(p, t, &own, 1) && need(p, TOKEN_LBRACE);
	while (ok && !is(p, TOKEN_RBRACE)) {
		struct statement s;
		ok = statement(p, &s);
		if (ok)
			g_array_append_val(m->effect, s);
		if (ok && !accept(p, TOKEN_SEMICOLON) && !is(p, TOKEN_RBRACE))
			ok = expected(p, "';' or '}'");
	}
	ok = ok && need(p, TOKEN_RBRACE);
	g_strfreev(own);
	p->name_counts[0] = 0;
	p->in_effect = false;
	return ok;
}

static bool method_list(struct parser *p, GArray *list)
{
	do {
		uint32_t method;
		if (!declared_method(p, &method))
			return false;
		g_array_append_val(list, method);
	} while (accept(p, TOKEN_COMMA));
	return true;
}

static bool object_order(struct parser *p)
{
	struct spec_order *order = spec_order_new(p->o);
	return method_list(p, order->before) && need_word(p, "before") &&
	       method_list(p, order->after);
}

static bool object_bind(struct parser *p)
{
	uint32_t method;
	if (!declared_method(p, &method) || !need(p, TOKEN_ASSIGN))
		return false;
	const struct token *t = p->at;
	if (!is(p, TOKEN_TEXT))
		return expected(p, "a C prototype as a string");
	struct spec_method *m = spec_method_at(p->o, method);
	const char *what = NULL;
	struct spec_bind *b = spec_bind_parse(m, t->text, &what);
	if (b == NULL)
		return refuse(
		        p, t,
		        "write \"FUNCTION(TYPE *self, TYPE ARGUMENT, ...) -> TYPE RESULT\"",
		        "expected %s in the prototype of %s", what, m->name);
	g_ptr_array_add(m->binds, b);
	next(p);
	return true;
}

static bool object_statement(struct parser *p)
{
	const struct token *start = p->at;
	if (accept_word(p, "method"))
		return object_method(p);
	if (accept_word(p, "commute"))
		return object_commute(p, start);
	if (accept_word(p, "state"))
		return object_state(p);
	if (accept_word(p, "effect"))
		return object_effect(p);
	if (accept_word(p, "order"))
		return object_order(p);
	if (accept_word(p, "bind"))
		return object_bind(p);
	return expected(p, "'method', 'commute', 'state', 'effect', 'order', 'bind' or '}'");
}

static bool object_body(struct parser *p)
{
	if (!need(p, TOKEN_LBRACE))
		return false;
	while (!is(p, TOKEN_RBRACE))
		if (!object_statement(p))
			return false;
	next(p);
	return true;
}

static bool declare_object(struct parser *p, struct specs *into)
{
	uint32_t line = p->at->line;
	char *name = need_title(p, "the name of an object");
	if (name == NULL)
		return false;
	inside(p, "object %s", name);
	p->o = spec_object_new(name, p->file, line);
	g_free(name);
	g_ptr_array_add(into->objects, p->o);
	bool ok = object_body(p);
	if (ok)
		spec_object_index(p->o);
	p->o = NULL;
	return ok;
}

/* atomics NAME { ... } */

/* A name of the program: as in C, or in quotes as the trace spells it ("count@log.c"). */
static const char *program_name(struct parser *p, const char *what)
{
	if (!is(p, TOKEN_TEXT))
		return need_name(p, what);
	const char *name = p->at->text;
	next(p);
	return name;
}

static bool atomics_members(struct parser *p, struct spec_set *s, const char *what)
{
	do {
		s->exact |= is(p, TOKEN_TEXT);
		const char *name = program_name(p, what);
		if (name == NULL)
			return false;
		g_ptr_array_add(s->members, g_strdup(name));
	} while (accept(p, TOKEN_COMMA));
	return true;
}

static bool atomics_set(struct parser *p, struct spec_atomics *a)
{
	const char *name = need_name(p, "the name of a set");
	if (name == NULL || !need(p, TOKEN_COLON))
		return false;
	struct spec_set *s = g_new0(struct spec_set, 1);
	s->name = g_strdup(name);
	s->members = g_ptr_array_new_with_free_func(g_free);
	g_ptr_array_add(a->sets, s);
	if (accept_word(p, "global"))
		return atomics_members(p, s, "the name of a global");
	if (!accept_word(p, "struct") && !accept_word(p, "union") && !accept_word(p, "class"))
		return expected(p, "'struct' or 'global'");
	const char *type = program_name(p, "the name of a structure");
	if (type == NULL)
		return false;
	s->type = g_strdup(type);
	if (!accept(p, TOKEN_LBRACE))
		return true;
	return atomics_members(p, s, "the name of a member") && need(p, TOKEN_RBRACE);
}

static bool set_declared(const struct spec_atomics *a, const char *name)
{
	for (guint i = 0; i < a->sets->len; i++)
		if (strcmp(((struct spec_set *)a->sets->pdata[i])->name, name) == 0)
			return true;
	return false;
}

static bool atomics_unit(struct parser *p, struct spec_atomics *a)
{
	const char *function = program_name(p, "the name of a function");
	if (function == NULL || !need_word(p, "on"))
		return false;
	struct spec_unit *u = g_new0(struct spec_unit, 1);
	u->function = g_strdup(function);
	u->sets = g_ptr_array_new_with_free_func(g_free);
	g_ptr_array_add(a->units, u);
	do {
		const struct token *t = p->at;
		const char *set = need_name(p, "the name of a set");
		if (set == NULL)
			return false;
		if (!set_declared(a, set))
			return refuse(p, t, "declare it first: set NAME : ...",
			              "expected a declared set, found '%s'", set);
		g_ptr_array_add(u->sets, g_strdup(set));
	} while (accept(p, TOKEN_COMMA));
	return true;
}

static bool atomics_owned(struct parser *p, struct spec_atomics *a)
{
	if (!accept_word(p, "struct") && !accept_word(p, "union") && !accept_word(p, "class"))
		return expected(p, "'struct'");
	struct spec_owned *o = g_new0(struct spec_owned, 1);
	g_ptr_array_add(a->owned, o);
	o->type = g_strdup(program_name(p, "the name of a structure"));
	if (o->type == NULL || !need(p, TOKEN_DOT))
		return false;
	o->member = g_strdup(need_name(p, "the name of a member"));
	return o->member != NULL;
}

static bool atomics_unitfor(struct parser *p, struct spec_atomics *a)
{
	struct spec_unitfor *u = g_new0(struct spec_unitfor, 1);
	g_ptr_array_add(a->unitfors, u);
	u->function = g_strdup(need_name(p, "the name of a function"));
	if (u->function == NULL || !need(p, TOKEN_OPEN))
		return false;
	u->parameter = g_strdup(need_name(p, "the name of a parameter"));
	return u->parameter != NULL && need(p, TOKEN_CLOSE);
}

static bool atomics_split(struct parser *p, struct spec_atomics *a)
{
	if (a->splits == NULL)
		a->splits = g_ptr_array_new_with_free_func(g_free);
	do {
		if (!is(p, TOKEN_NAME) || !g_strv_contains(spec_split_words, p->at->text))
			return expected(p,
			                "'wait', 'join', 'fork', 'barrier', 'take', 'sleep', "
			                "'poll' or 'none'");
		if (!is_word(p, "none"))
			g_ptr_array_add(a->splits, g_strdup(p->at->text));
		next(p);
	} while (accept(p, TOKEN_COMMA));
	return true;
}

static bool atomics_only(struct parser *p, struct spec_atomics *a)
{
	a->only_shared = true;
	return need_word(p, "shared");
}

static bool atomics_statement(struct parser *p, struct spec_atomics *a)
{
	static const struct {
		const char *word;
		bool (*parse)(struct parser *p, struct spec_atomics *a);
	} statements[] = {
		{ "set", atomics_set },     { "unit", atomics_unit },
		{ "owned", atomics_owned }, { "unitfor", atomics_unitfor },
		{ "split", atomics_split }, { "only", atomics_only },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(statements); i++)
		if (accept_word(p, statements[i].word))
			return statements[i].parse(p, a);
	return expected(p, "'set', 'unit', 'owned', 'unitfor', 'split', 'only' or '}'");
}

static bool declare_atomics(struct parser *p, struct specs *into)
{
	uint32_t line = p->at->line;
	char *name = need_title(p, "the name of an atomics block");
	if (name == NULL)
		return false;
	inside(p, "atomics %s", name);
	struct spec_atomics *a = spec_atomics_new(name, p->file, line);
	g_free(name);
	g_ptr_array_add(into->atomics, a);
	if (!need(p, TOKEN_LBRACE))
		return false;
	while (!is(p, TOKEN_RBRACE))
		if (!atomics_statement(p, a))
			return false;
	next(p);
	return true;
}

/* missing { ... } */

static bool missing_reaches(struct parser *p, struct spec_missing_function *f)
{
	do {
		bool global = accept_word(p, "global");
		const struct token *t = p->at;
		const char *name = need_name(p, global ? "the name of a global"
		                                       : "a parameter or 'global NAME'");
		if (name == NULL)
			return false;
		bool known = global;
		for (guint i = 0; !known && i < f->parameters->len; i++)
			known = strcmp(f->parameters->pdata[i], name) == 0;
		if (!known)
			return refuse(p, t, "write 'global' before a global",
			              "expected a parameter of %s, found '%s'", f->name, name);
		g_ptr_array_add(global ? f->globals : f->reaches, g_strdup(name));
	} while (accept(p, TOKEN_COMMA));
	return true;
}

static bool missing_function(struct parser *p, struct spec_missing *m)
{
	const char *name = need_name(p, "the name of a function");
	if (name == NULL)
		return false;
	struct spec_missing_function *f = g_new0(struct spec_missing_function, 1);
	f->name = g_strdup(name);
	f->parameters = g_ptr_array_new_with_free_func(g_free);
	f->reaches = g_ptr_array_new_with_free_func(g_free);
	f->globals = g_ptr_array_new_with_free_func(g_free);
	g_ptr_array_add(m->functions, f);
	if (accept(p, TOKEN_OPEN)) {
		if (!is(p, TOKEN_CLOSE) && !names(p, f->parameters, "the name of a parameter"))
			return false;
		if (!need(p, TOKEN_CLOSE))
			return false;
	}
	return !accept_word(p, "reaches") || missing_reaches(p, f);
}

static bool declare_missing(struct parser *p, struct specs *into)
{
	struct spec_missing *m = spec_missing_new(p->file, p->at->line);
	inside(p, "missing");
	g_ptr_array_add(into->missing, m);
	if (!need(p, TOKEN_LBRACE))
		return false;
	while (!accept(p, TOKEN_RBRACE)) {
		if (accept_word(p, "library")) {
			if (!is(p, TOKEN_TEXT))
				return expected(p, "a file name pattern as a string");
			g_ptr_array_add(m->libraries, g_strdup(p->at->text));
			next(p);
		} else if (accept_word(p, "function")) {
			if (!missing_function(p, m))
				return false;
		} else {
			return expected(p, "'library', 'function' or '}'");
		}
	}
	return true;
}

static bool declarations(struct parser *p, struct specs *into)
{
	while (!is(p, TOKEN_END)) {
		inside(p, "no declaration");
		bool ok = accept_word(p, "object")    ? declare_object(p, into)
		          : accept_word(p, "atomics") ? declare_atomics(p, into)
		          : accept_word(p, "missing")
		                  ? declare_missing(p, into)
		                  : expected(p, "'object', 'atomics' or 'missing'");
		if (!ok)
			return false;
	}
	return true;
}

/* Later declarations replace earlier ones of the same name. */
#define MERGE(into, from, type) \
	while ((from)->len > 0) { \
		struct type *new = g_ptr_array_steal_index(from, 0); \
		guint at = 0; \
		while (at < (into)->len && \
		       strcmp(((struct type *)(into)->pdata[at])->name, new->name) != 0) \
			at++; \
		if (at < (into)->len) \
			g_ptr_array_remove_index(into, at); \
		g_ptr_array_add(into, new); \
	}

static void merge(struct specs *s, struct specs *from)
{
	MERGE(s->objects, from->objects, spec_object);
	MERGE(s->atomics, from->atomics, spec_atomics);
	/* A missing block has no name: that of a file read again replaces its old ones. */
	for (guint i = 0; i < from->missing->len; i++) {
		const struct spec_missing *new = from->missing->pdata[i];
		for (guint k = s->missing->len; k > 0; k--)
			if (strcmp(((struct spec_missing *)s->missing->pdata[k - 1])->file,
			           new->file) == 0)
				g_ptr_array_remove_index(s->missing, k - 1);
	}
	while (from->missing->len > 0)
		g_ptr_array_add(s->missing, g_ptr_array_steal_index(from->missing, 0));
}

bool specs_parse(struct specs *s, const char *file, const char *source, size_t length,
                 struct error *error)
{
	GArray *tokens = lex(file, source, length, error);
	if (tokens == NULL)
		return false;
	struct parser p = { .file = file,
		            .at = &g_array_index(tokens, struct token, 0),
		            .error = error };
	struct specs *new = specs_new();
	bool ok = declarations(&p, new);
	if (ok)
		merge(s, new);
	specs_free(new);
	g_free(p.inside);
	g_array_unref(tokens);
	return ok;
}
