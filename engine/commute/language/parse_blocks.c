/*
 * parse_blocks.c - declarations about the program: `atomics NAME { ... }` (atomic sets and
 * units of work) and `missing { ... }` (uninstrumented libraries).
 */
#include "engine/commute/language/parse.h"

#include <string.h>

/* -- atomics NAME { ... } ----------------------------------------------------------------- */

/* An identifier of C, or a name in quotes as the trace spells it ("count@log.c"). */
static const char *program_name(struct parser *p, const char *what)
{
	if (!parse_is(p, TOKEN_TEXT))
		return parse_name(p, what);
	const char *name = p->at->text;
	parse_next(p);
	return name;
}

static bool accept_struct(struct parser *p)
{
	return parse_accept_word(p, "struct") || parse_accept_word(p, "union") ||
	       parse_accept_word(p, "class");
}

static bool atomics_members(struct parser *p, struct spec_set *s, const char *what)
{
	do {
		s->exact |= parse_is(p, TOKEN_TEXT);
		const char *name = program_name(p, what);
		if (name == NULL)
			return false;
		g_ptr_array_add(s->members, g_strdup(name));
	} while (parse_accept(p, TOKEN_COMMA));
	return true;
}

static bool atomics_set(struct parser *p, struct spec_atomics *a)
{
	const char *name = parse_name(p, "the name of a set");
	if (name == NULL || !parse_need(p, TOKEN_COLON))
		return false;
	struct spec_set *s = g_new0(struct spec_set, 1);
	s->name = g_strdup(name);
	s->members = g_ptr_array_new_with_free_func(g_free);
	g_ptr_array_add(a->sets, s);
	if (parse_accept_word(p, "global"))
		return atomics_members(p, s, "the name of a global");
	if (!accept_struct(p))
		return parse_expected(p, "'struct' or 'global'");
	const char *type = program_name(p, "the name of a structure");
	if (type == NULL)
		return false;
	s->type = g_strdup(type);
	if (!parse_accept(p, TOKEN_LBRACE))
		return true;
	return atomics_members(p, s, "the name of a member") && parse_need(p, TOKEN_RBRACE);
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
	if (function == NULL || !parse_need_word(p, "on"))
		return false;
	struct spec_unit *u = g_new0(struct spec_unit, 1);
	u->function = g_strdup(function);
	u->sets = g_ptr_array_new_with_free_func(g_free);
	g_ptr_array_add(a->units, u);
	do {
		const struct token *t = p->at;
		const char *set = parse_name(p, "the name of a set");
		if (set == NULL)
			return false;
		if (!set_declared(a, set))
			return parse_refuse(p, t, "declare it first: set NAME : ...",
			                    "expected a declared set, found '%s'", set);
		g_ptr_array_add(u->sets, g_strdup(set));
	} while (parse_accept(p, TOKEN_COMMA));
	return true;
}

static bool atomics_owned(struct parser *p, struct spec_atomics *a)
{
	if (!accept_struct(p))
		return parse_expected(p, "'struct'");
	struct spec_owned *o = g_new0(struct spec_owned, 1);
	g_ptr_array_add(a->owned, o);
	o->type = g_strdup(program_name(p, "the name of a structure"));
	if (o->type == NULL || !parse_need(p, TOKEN_DOT))
		return false;
	o->member = g_strdup(parse_name(p, "the name of a member"));
	return o->member != NULL;
}

static bool atomics_unitfor(struct parser *p, struct spec_atomics *a)
{
	struct spec_unitfor *u = g_new0(struct spec_unitfor, 1);
	g_ptr_array_add(a->unitfors, u);
	u->function = g_strdup(parse_name(p, "the name of a function"));
	if (u->function == NULL || !parse_need(p, TOKEN_OPEN))
		return false;
	u->parameter = g_strdup(parse_name(p, "the name of a parameter"));
	return u->parameter != NULL && parse_need(p, TOKEN_CLOSE);
}

static bool atomics_split(struct parser *p, struct spec_atomics *a)
{
	if (a->splits == NULL)
		a->splits = g_ptr_array_new_with_free_func(g_free);
	do {
		if (!parse_is(p, TOKEN_NAME) || !g_strv_contains(spec_split_words, p->at->text))
			return parse_expected(
			        p, "'wait', 'join', 'fork', 'barrier', 'take', 'sleep', "
			           "'poll' or 'none'");
		if (!parse_is_word(p, "none"))
			g_ptr_array_add(a->splits, g_strdup(p->at->text));
		parse_next(p);
	} while (parse_accept(p, TOKEN_COMMA));
	return true;
}

static bool atomics_only(struct parser *p, struct spec_atomics *a)
{
	a->only_shared = true;
	return parse_need_word(p, "shared");
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
		if (parse_accept_word(p, statements[i].word))
			return statements[i].parse(p, a);
	return parse_expected(p, "'set', 'unit', 'owned', 'unitfor', 'split', 'only' or '}'");
}

/* Declared by another block of the same file? */
static const struct spec_atomics *declared(const struct specs *into, const char *name)
{
	for (guint i = 0; i < into->atomics->len; i++) {
		const struct spec_atomics *a = into->atomics->pdata[i];
		if (strcmp(a->name, name) == 0)
			return a;
	}
	return NULL;
}

bool parse_atomics(struct parser *p, struct specs *into)
{
	const struct token *title = p->at;
	uint32_t line = p->at->line;
	g_autofree char *name = parse_title(p, "the name of an atomics block");
	if (name == NULL)
		return false;
	parse_inside(p, "atomics %s", name);
	const struct spec_atomics *before = declared(into, name);
	if (before != NULL) {
		parse_refuse(p, title, "put what belongs to it into one block",
		             "expected new atomics, found '%s' a second time (the first is on "
		             "line %u)",
		             name, before->line);
		return false;
	}
	struct spec_atomics *a = spec_atomics_new(name, p->file, line);
	g_ptr_array_add(into->atomics, a);
	if (!parse_need(p, TOKEN_LBRACE))
		return false;
	while (!parse_is(p, TOKEN_RBRACE))
		if (!atomics_statement(p, a))
			return false;
	parse_next(p);
	return true;
}

/* -- missing { ... } ----------------------------------------------------------------------- */

static bool is_parameter(const struct spec_missing_function *f, const char *name)
{
	for (guint i = 0; i < f->parameters->len; i++)
		if (strcmp(f->parameters->pdata[i], name) == 0)
			return true;
	return false;
}

/* The list for the next name: of `global`, `bytes` or `near` (unless that word is a parameter
 * itself), else of plain parameters. */
static GPtrArray *missing_extent(struct parser *p, struct spec_missing_function *f)
{
	bool before = p->at->kind == TOKEN_NAME && p->at[1].kind == TOKEN_NAME &&
	              (is_parameter(f, p->at[1].text) || !is_parameter(f, p->at->text));
	if (parse_accept_word(p, "global"))
		return f->globals;
	if (before && parse_accept_word(p, "bytes"))
		return f->bytes;
	if (before && parse_accept_word(p, "near"))
		return f->near;
	return f->reaches;
}

static bool missing_reaches(struct parser *p, struct spec_missing_function *f)
{
	do {
		GPtrArray *list = missing_extent(p, f);
		const struct token *t = p->at;
		const char *name = parse_name(
		        p, list == f->globals
		                   ? "the name of a global"
		                   : "a parameter, 'bytes PARAMETER', 'near PARAMETER' "
		                     "or 'global NAME'");
		if (name == NULL)
			return false;
		if (list != f->globals && !is_parameter(f, name))
			return parse_refuse(p, t, "write 'global' before a global",
			                    "expected a parameter of %s, found '%s'", f->name,
			                    name);
		g_ptr_array_add(list, g_strdup(name));
	} while (parse_accept(p, TOKEN_COMMA));
	return true;
}

static bool missing_function(struct parser *p, struct spec_missing *m)
{
	const char *name = parse_name(p, "the name of a function");
	if (name == NULL)
		return false;
	struct spec_missing_function *f = g_new0(struct spec_missing_function, 1);
	f->name = g_strdup(name);
	f->parameters = g_ptr_array_new_with_free_func(g_free);
	f->reaches = g_ptr_array_new_with_free_func(g_free);
	f->bytes = g_ptr_array_new_with_free_func(g_free);
	f->near = g_ptr_array_new_with_free_func(g_free);
	f->globals = g_ptr_array_new_with_free_func(g_free);
	g_ptr_array_add(m->functions, f);
	if (parse_accept(p, TOKEN_OPEN)) {
		if (!parse_is(p, TOKEN_CLOSE) &&
		    !parse_names(p, f->parameters, "the name of a parameter"))
			return false;
		if (!parse_need(p, TOKEN_CLOSE))
			return false;
	}
	return !parse_accept_word(p, "reaches") || missing_reaches(p, f);
}

bool parse_missing(struct parser *p, struct specs *into)
{
	struct spec_missing *m = spec_missing_new(p->file, p->at->line);
	parse_inside(p, "missing");
	g_ptr_array_add(into->missing, m);
	if (!parse_need(p, TOKEN_LBRACE))
		return false;
	while (!parse_accept(p, TOKEN_RBRACE)) {
		bool library = parse_accept_word(p, "library");
		if (library || parse_accept_word(p, "threads")) {
			if (!parse_is(p, TOKEN_TEXT))
				return parse_expected(p, "a file name pattern as a string");
			g_ptr_array_add(library ? m->libraries : m->threads,
			                g_strdup(p->at->text));
			parse_next(p);
		} else if (parse_accept_word(p, "function")) {
			if (!missing_function(p, m))
				return false;
		} else {
			return parse_expected(p, "'library', 'threads', 'function' or '}'");
		}
	}
	return true;
}
