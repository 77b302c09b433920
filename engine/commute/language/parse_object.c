/*
 * parse_object.c - `object NAME { ... }`: methods, conditions, states, effects, orders, bind
 * lines, and the patterns `name(a, b) / r` that name arguments and results in them.
 */
#include "engine/commute/language/parse.h"

#include <string.h>

/* -- patterns: name(a, b) / r, s ---------------------------------------------------------- */

static bool pattern_names(struct parser *p, const struct spec_method *m, GPtrArray *list)
{
	const struct token *t = p->at;
	if (!parse_need(p, TOKEN_OPEN))
		return false;
	if (!parse_is(p, TOKEN_CLOSE) &&
	    !parse_names(p, list, "the name of an argument or '_'"))
		return false;
	if (!parse_need(p, TOKEN_CLOSE))
		return false;
	if (m != NULL && list->len != m->arguments)
		return parse_refuse(p, t, "give it as many as its declaration has",
		                    "expected %u argument%s of %s, found %u", m->arguments,
		                    plural(m->arguments), m->name, list->len);
	uint32_t arguments = list->len;
	t = p->at;
	if (parse_accept(p, TOKEN_SLASH)) {
		/* A comma also separates the two sides of a pair: parse as many results as are
		 * declared. */
		do {
			const char *name = parse_name(p, "the name of a result or '_'");
			if (name == NULL)
				return false;
			g_ptr_array_add(list, g_strdup(name));
		} while ((m == NULL || list->len - arguments < m->results) &&
		         parse_accept(p, TOKEN_COMMA));
	}
	if (m != NULL && list->len - arguments != m->results)
		return parse_refuse(p, t, "give it as many as its declaration has, after '/'",
		                    "expected %u result%s of %s, found %u", m->results,
		                    plural(m->results), m->name, list->len - arguments);
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
	g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
	bool ok = true;
	for (int side = 0; ok && side < sides; side++)
		for (char **n = lists[side]; ok && n != NULL && *n != NULL; n++)
			if (strcmp(*n, "_") != 0 && !g_hash_table_add(seen, *n))
				ok = parse_refuse(
				        p, t, "give each argument and result its own name",
				        "expected different names, found '%s' twice", *n);
	return ok;
}

static bool declared_method(struct parser *p, uint32_t *method)
{
	const struct token *t = p->at;
	const char *name = parse_name(p, "the name of a method");
	if (name == NULL)
		return false;
	*method = spec_method_find(p->o, name);
	if (*method == NONE)
		return parse_refuse(p, t, "declare it first: method NAME(ARGUMENTS) / RESULTS",
		                    "expected a declared method, found '%s'", name);
	return true;
}

/* -- statements of an object -------------------------------------------------------------- */

static bool object_method(struct parser *p)
{
	const struct token *t = p->at;
	const char *name = parse_name(p, "the name of a method");
	if (name == NULL)
		return false;
	if (spec_method_find(p->o, name) != NONE)
		return parse_refuse(p, t, "leave one of the two out",
		                    "expected a new method, found '%s' a second time", name);
	GPtrArray *list = g_ptr_array_new();
	const struct token *open = p->at;
	if (!parse_need(p, TOKEN_OPEN) ||
	    (!parse_is(p, TOKEN_CLOSE) && !parse_names(p, list, "an argument")) ||
	    !parse_need(p, TOKEN_CLOSE)) {
		drop_names(list);
		return false;
	}
	uint32_t arguments = list->len;
	if (parse_accept(p, TOKEN_SLASH) && !parse_names(p, list, "a result")) {
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
	if (!parse_is(p, TOKEN_OPEN))
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
	if (!side_pattern(p, c, 0) || !parse_need(p, TOKEN_COMMA) || !side_pattern(p, c, 1) ||
	    !unique_names(p, start, c->names, 2))
		return false;
	for (guint i = 0; i + 1 < p->o->conditions->len; i++) {
		const struct spec_condition *d = p->o->conditions->pdata[i];
		if ((d->methods[0] == c->methods[0] && d->methods[1] == c->methods[1]) ||
		    (d->methods[0] == c->methods[1] && d->methods[1] == c->methods[0]))
			return parse_refuse(
			        p, start, "one line serves both orders: leave this one out",
			        "expected one condition for %s and %s, found a second (the "
			        "first is on line %u)",
			        spec_method_at(p->o, c->methods[0])->name,
			        spec_method_at(p->o, c->methods[1])->name, d->line);
	}
	if (!parse_need(p, TOKEN_COLON))
		return false;
	p->in_effect = false;
	c->formula = parse_formula(p);
	return c->formula != NULL;
}

static bool object_state(struct parser *p)
{
	const struct token *t = p->at;
	const char *name = parse_name(p, "the name of a state");
	enum sort ignored;
	if (name == NULL)
		return false;
	if (parse_state_find(p, name, &ignored) != NONE)
		return parse_refuse(p, t, "leave one of the two out",
		                    "expected a new state, found '%s' a second time", name);
	if (!parse_need(p, TOKEN_COLON))
		return false;
	struct spec_state s = { .sort = SORT_COUNT };
	for (int sort = 0; sort < SORT_COUNT; sort++)
		if (parse_accept_word(p, sort_word(sort)))
			s.sort = sort;
	if (s.sort == SORT_COUNT)
		return parse_expected(p, "a sort: int, bool, map, set, value or partition");
	if (parse_is(p, TOKEN_ASSIGN)) {
		parse_next(p);
		const struct token *constant = p->at;
		if (s.sort == SORT_MAP || s.sort == SORT_SET) {
			if (!parse_need(p, TOKEN_LBRACE) || !parse_need(p, TOKEN_RBRACE))
				return false;
		} else {
			p->name_counts[0] = p->name_counts[1] = 0;
			p->in_effect = false;
			s.first = parse_expression(p, 7);
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
				return parse_refuse(
				        p, constant, "write a constant of the state's sort",
				        "expected a first value of sort %s, found another",
				        sort_word(s.sort));
		}
	}
	s.name = g_strdup(name);
	g_array_append_val(p->o->states, s);
	return true;
}

/* d[k] := v;  n := n + 1;  s += k;  p += a ~ b;  or a condition. */
static bool parse_statement(struct parser *p, struct statement *s)
{
	const struct token *start = p->at;
	enum sort sort = SORT_INT;
	uint32_t state =
	        parse_is(p, TOKEN_NAME) ? parse_state_find(p, p->at->text, &sort) : NONE;
	enum token_kind sign = p->at->kind == TOKEN_END ? TOKEN_END : p->at[1].kind;
	*s = (struct statement){ .state = state };
	if (state != NONE && (sign == TOKEN_INSERT || sign == TOKEN_REMOVE)) {
		if (sort != SORT_SET && sort != SORT_PARTITION)
			return parse_refuse(
			        p, start, "write NAME := VALUE",
			        "expected a set or a partition before '%s', found the %s '%s'",
			        token_kind_text(sign), sort_word(sort), start->text);
		p->at += 2;
		s->kind = sign == TOKEN_INSERT ? STATEMENT_INSERT : STATEMENT_REMOVE;
		s->e = parse_expression(p, 5);
		if (s->e == NULL || sort == SORT_SET)
			return s->e != NULL;
		if (sign == TOKEN_REMOVE)
			return parse_refuse(p, start, "write NAME += A ~ B",
			                    "expected '+=' for a partition, found '-='");
		s->kind = STATEMENT_UNITE;
		s->key = s->e;
		return parse_need(p, TOKEN_TILDE) && (s->e = parse_expression(p, 5)) != NULL;
	}
	if (state != NONE && sign == TOKEN_BECOMES) {
		if (sort == SORT_MAP || sort == SORT_SET || sort == SORT_PARTITION)
			return parse_refuse(
			        p, start, "change one element at a time",
			        "expected a state of sort int, bool or value before ':=', "
			        "found the %s '%s'",
			        sort_word(sort), start->text);
		p->at += 2;
		s->kind = STATEMENT_ASSIGN;
		return (s->e = parse_expression(p, 0)) != NULL && parse_check_not(p, s->e);
	}
	struct expr *e = parse_expression(p, 0);
	if (e == NULL)
		return false;
	if (e->op == X_LOOKUP && parse_accept(p, TOKEN_BECOMES)) {
		s->kind = STATEMENT_STORE;
		s->state = e->index;
		s->key = e->a;
		return (s->e = parse_expression(p, 0)) != NULL && parse_check_not(p, s->e);
	}
	s->kind = STATEMENT_HOLDS;
	s->e = e;
	return parse_need_truth(p, e) && parse_check_not(p, e);
}

static bool object_effect(struct parser *p)
{
	const struct token *t = p->at;
	uint32_t method;
	if (!declared_method(p, &method))
		return false;
	struct spec_method *m = spec_method_at(p->o, method);
	if (m->effect != NULL)
		return parse_refuse(p, t, "leave one of the two out",
		                    "expected one effect of %s, found a second", m->name);
	GPtrArray *list = g_ptr_array_new();
	if (!pattern_names(p, m, list)) {
		drop_names(list);
		return false;
	}
	p->name_counts[0] = list->len;
	p->name_counts[1] = 0;
	p->in_effect = true;
	g_auto(GStrv) own = p->names[0] = end_names(list);
	m->effect = g_array_new(FALSE, FALSE, sizeof(struct statement));
	bool ok = unique_names(p, t, &own, 1) && parse_need(p, TOKEN_LBRACE);
	while (ok && !parse_is(p, TOKEN_RBRACE)) {
		struct statement s;
		ok = parse_statement(p, &s);
		if (ok)
			g_array_append_val(m->effect, s);
		if (ok && !parse_accept(p, TOKEN_SEMICOLON) && !parse_is(p, TOKEN_RBRACE))
			ok = parse_expected(p, "';' or '}'");
	}
	ok = ok && parse_need(p, TOKEN_RBRACE);
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
	} while (parse_accept(p, TOKEN_COMMA));
	return true;
}

static bool object_order(struct parser *p)
{
	struct spec_order *order = spec_order_new(p->o);
	return method_list(p, order->before) && parse_need_word(p, "before") &&
	       method_list(p, order->after);
}

static bool object_bind(struct parser *p)
{
	uint32_t method;
	if (!declared_method(p, &method) || !parse_need(p, TOKEN_ASSIGN))
		return false;
	const struct token *t = p->at;
	if (!parse_is(p, TOKEN_TEXT))
		return parse_expected(p, "a C prototype as a string");
	struct spec_method *m = spec_method_at(p->o, method);
	const char *what = NULL;
	struct spec_bind *b = spec_bind_parse(m, t->text, &what);
	if (b == NULL)
		return parse_refuse(
		        p, t,
		        "write \"FUNCTION(TYPE *self, TYPE ARGUMENT, ...) -> TYPE RESULT\"",
		        "expected %s in the prototype of %s", what, m->name);
	g_ptr_array_add(m->binds, b);
	parse_next(p);
	return true;
}

static bool object_statement(struct parser *p)
{
	const struct token *start = p->at;
	if (parse_accept_word(p, "method"))
		return object_method(p);
	if (parse_accept_word(p, "commute"))
		return object_commute(p, start);
	if (parse_accept_word(p, "state"))
		return object_state(p);
	if (parse_accept_word(p, "effect"))
		return object_effect(p);
	if (parse_accept_word(p, "order"))
		return object_order(p);
	if (parse_accept_word(p, "bind"))
		return object_bind(p);
	return parse_expected(p,
	                      "'method', 'commute', 'state', 'effect', 'order', 'bind' or '}'");
}

static bool object_body(struct parser *p)
{
	if (!parse_need(p, TOKEN_LBRACE))
		return false;
	while (!parse_is(p, TOKEN_RBRACE))
		if (!object_statement(p))
			return false;
	parse_next(p);
	return true;
}

/* Declared by another block of the same file?  (Of a later file it takes the other's place.) */
static const struct spec_object *declared(const struct specs *into, const char *name)
{
	for (guint i = 0; i < into->objects->len; i++) {
		const struct spec_object *o = into->objects->pdata[i];
		if (strcmp(o->name, name) == 0)
			return o;
	}
	return NULL;
}

bool parse_object(struct parser *p, struct specs *into)
{
	const struct token *title = p->at;
	uint32_t line = p->at->line;
	g_autofree char *name = parse_title(p, "the name of an object");
	if (name == NULL)
		return false;
	parse_inside(p, "object %s", name);
	const struct spec_object *before = declared(into, name);
	if (before != NULL) {
		parse_refuse(p, title, "put what belongs to it into one block",
		             "expected a new object, found '%s' a second time (the first is on "
		             "line %u)",
		             name, before->line);
		return false;
	}
	p->o = spec_object_new(name, p->file, line);
	g_ptr_array_add(into->objects, p->o);
	bool ok = object_body(p);
	if (ok)
		spec_object_index(p->o);
	p->o = NULL;
	return ok;
}
