/*
 * parse_words.c - token access for the parser, and refusals with file, line, column, the
 * expected construct and the enclosing declaration.
 */
#include "engine/commute/language/parse.h"

#include <string.h>

/* -- errors ------------------------------------------------------------------------------- */

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

bool parse_refuse_at(struct parser *p, uint32_t line, uint32_t column, const char *remedy,
                     const char *what)
{
	return error_set(p->error, place_column(p->file, line, column).text, remedy, "%s%s%s",
	                 what, p->inside ? ", in " : "", p->inside ? p->inside : "");
}

bool parse_refuse(struct parser *p, const struct token *t, const char *remedy,
                  const char *format, ...)
{
	va_list list;
	va_start(list, format);
	g_autofree char *what = g_strdup_vprintf(format, list);
	va_end(list);
	parse_refuse_at(p, t->line, t->column, remedy, what);
	return false;
}

bool parse_expected(struct parser *p, const char *what)
{
	g_autoptr(GString) s = g_string_new(NULL);
	g_string_append_printf(s, "expected %s, found ", what);
	append_found(s, p->at);
	parse_refuse(p, p->at, NULL, "%s", s->str);
	return false;
}

void parse_inside(struct parser *p, const char *format, ...)
{
	va_list list;
	va_start(list, format);
	g_free(p->inside);
	p->inside = g_strdup_vprintf(format, list);
	va_end(list);
}

/* -- tokens ------------------------------------------------------------------------------- */

bool parse_is(const struct parser *p, enum token_kind kind)
{
	return p->at->kind == kind;
}

bool parse_is_word(const struct parser *p, const char *word)
{
	return p->at->kind == TOKEN_NAME && strcmp(p->at->text, word) == 0;
}

void parse_next(struct parser *p)
{
	if (p->at->kind != TOKEN_END)
		p->at++;
}

bool parse_accept(struct parser *p, enum token_kind kind)
{
	if (!parse_is(p, kind))
		return false;
	parse_next(p);
	return true;
}

bool parse_accept_word(struct parser *p, const char *word)
{
	if (!parse_is_word(p, word))
		return false;
	parse_next(p);
	return true;
}

bool parse_need(struct parser *p, enum token_kind kind)
{
	if (parse_accept(p, kind))
		return true;
	g_autofree char *quoted = g_strdup_printf("'%s'", token_kind_text(kind));
	parse_expected(p, quoted);
	return false;
}

bool parse_need_word(struct parser *p, const char *word)
{
	if (parse_accept_word(p, word))
		return true;
	g_autofree char *quoted = g_strdup_printf("'%s'", word);
	parse_expected(p, quoted);
	return false;
}

const char *parse_name(struct parser *p, const char *what)
{
	if (!parse_is(p, TOKEN_NAME)) {
		parse_expected(p, what);
		return NULL;
	}
	const char *name = p->at->text;
	parse_next(p);
	return name;
}

char *parse_title(struct parser *p, const char *what)
{
	const char *first = parse_name(p, what);
	if (first == NULL)
		return NULL;
	GString *title = g_string_new(first);
	const struct token *last = p->at - 1;
	while (parse_is(p, TOKEN_MINUS) && p->at->start == last->start + last->length &&
	       p->at[1].kind == TOKEN_NAME && p->at[1].start == p->at->start + 1) {
		g_string_append_printf(title, "-%s", p->at[1].text);
		last = p->at + 1;
		p->at += 2;
	}
	return g_string_free(title, FALSE);
}

bool parse_names(struct parser *p, GPtrArray *list, const char *what)
{
	do {
		const char *name = parse_name(p, what);
		if (name == NULL)
			return false;
		g_ptr_array_add(list, g_strdup(name));
	} while (parse_accept(p, TOKEN_COMMA));
	return true;
}
