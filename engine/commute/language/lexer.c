/* lexer.c - see lexer.h. */
#include "engine/commute/language/lexer.h"

#include "engine/base/input.h"

#include <stdio.h>
#include <string.h>

static const char *const kind_texts[] = {
#define T(name, text) text,
	TOKENS(T)
#undef T
};

const char *token_kind_text(enum token_kind kind)
{
	return kind_texts[kind];
}

struct place place_column(const char *file, uint32_t line, uint32_t column)
{
	struct place place;
	const char *slash = strrchr(file, '/');
	snprintf(place.text, sizeof(place.text), "%.200s:%u:%u", slash ? slash + 1 : file, line,
	         column);
	return place;
}

struct lexer {
	const char *file, *at, *end;
	const char *line_start;
	uint32_t line;
	struct error *error;
};

static bool name_start(char c)
{
	return g_ascii_isalpha(c) || c == '_';
}

static bool name_more(char c)
{
	return g_ascii_isalnum(c) || c == '_';
}

static void skip_blank(struct lexer *l)
{
	while (l->at < l->end) {
		char c = *l->at;
		if (c == '#') {
			while (l->at < l->end && *l->at != '\n')
				l->at++;
			continue;
		}
		if (c != ' ' && c != '\t' && c != '\r' && c != '\n')
			return;
		l->at++;
		if (c == '\n') {
			l->line++;
			l->line_start = l->at;
		}
	}
}

static bool refuse(struct lexer *l, const struct token *t, const char *remedy, const char *what)
{
	return error_set(l->error, place_column(l->file, t->line, t->column).text, remedy, "%s",
	                 what);
}

static bool lex_number(struct lexer *l, struct token *t)
{
	t->kind = TOKEN_NUMBER;
	uint64_t n = 0;
	for (; l->at < l->end && g_ascii_isdigit(*l->at); l->at++) {
		uint64_t digit = (uint64_t)(*l->at - '0');
		if (n > (UINT64_C(9223372036854775807) - digit) / 10)
			return refuse(l, t, "write a smaller number",
			              "expected an integer of 64 bits, found a larger one");
		n = n * 10 + digit;
	}
	t->number = (int64_t)n;
	if (l->at < l->end && name_start(*l->at))
		return refuse(l, t, "put a blank between them",
		              "expected an integer, found letters after its digits");
	return true;
}

static bool lex_escape(struct lexer *l, const struct token *t, GString *text)
{
	char c = l->at < l->end ? *l->at++ : 0;
	switch (c) {
	case 'n':
		g_string_append_c(text, '\n');
		return true;
	case '"':
	case '\\':
		g_string_append_c(text, c);
		return true;
	case 'x':
		if (l->end - l->at >= 2 && g_ascii_isxdigit(l->at[0]) &&
		    g_ascii_isxdigit(l->at[1])) {
			char byte = (char)(g_ascii_xdigit_value(l->at[0]) * 16 +
			                   g_ascii_xdigit_value(l->at[1]));
			if (byte == 0)
				return refuse(l, t, "a string cannot hold a NUL byte",
				              "expected a byte other than NUL, found \\x00");
			g_string_append_c(text, byte);
			l->at += 2;
			return true;
		}
	}
	return refuse(
	        l, t, "the escapes are \\\" \\\\ \\n \\xHH",
	        "expected an escape in the string, found something else after the backslash");
}

static bool lex_text(struct lexer *l, struct token *t)
{
	GString *text = g_string_new(NULL);
	t->kind = TOKEN_TEXT;
	l->at++;
	while (l->at < l->end && *l->at != '"' && *l->at != '\n') {
		char c = *l->at++;
		if (c != '\\') {
			g_string_append_c(text, c);
		} else if (!lex_escape(l, t, text)) {
			g_string_free(text, TRUE);
			return false;
		}
	}
	t->text_length = text->len;
	t->text = g_string_free(text, FALSE);
	if (l->at < l->end && *l->at == '"') {
		l->at++;
		return true;
	}
	return refuse(l, t, "close the string on the line where it begins",
	              "expected the closing quote of a string, found the end of the line");
}

static bool lex_sign(struct lexer *l, struct token *t)
{
	for (int kind = TOKEN_OR; kind < TOKEN_COUNT; kind++) {
		size_t length = strlen(kind_texts[kind]);
		if ((size_t)(l->end - l->at) >= length &&
		    memcmp(l->at, kind_texts[kind], length) == 0) {
			t->kind = kind;
			l->at += length;
			return true;
		}
	}
	g_autoptr(GString) byte = g_string_new("expected a word of the language, found '");
	append_escaped(byte, l->at, 1);
	g_string_append_c(byte, '\'');
	refuse(l, t, "comments begin with #", byte->str);
	return false;
}

static bool lex_one(struct lexer *l, struct token *t)
{
	skip_blank(l);
	*t = (struct token){ .kind = TOKEN_END,
		             .line = l->line,
		             .column = (uint32_t)(l->at - l->line_start) + 1,
		             .start = l->at };
	bool ok = true;
	if (l->at == l->end) {
		/* TOKEN_END */
	} else if (name_start(*l->at)) {
		t->kind = TOKEN_NAME;
		/* may be qualified as in C++: bank::transfer */
		while (l->at < l->end &&
		       (name_more(*l->at) || (l->end - l->at > 2 && l->at[0] == ':' &&
		                              l->at[1] == ':' && name_start(l->at[2]))))
			l->at += *l->at == ':' ? 2 : 1;
		t->text_length = (uint32_t)(l->at - t->start);
		t->text = g_strndup(t->start, t->text_length);
	} else if (g_ascii_isdigit(*l->at)) {
		ok = lex_number(l, t);
	} else if (*l->at == '"') {
		ok = lex_text(l, t);
	} else {
		ok = lex_sign(l, t);
	}
	t->length = (uint32_t)(l->at - t->start);
	return ok;
}

static void token_clear(void *token)
{
	g_free(((struct token *)token)->text);
}

GArray *lex(const char *file, const char *source, size_t length, struct error *error)
{
	source = input_skip_mark(source, &length);
	struct lexer l = { .file = file,
		           .at = source,
		           .end = source + length,
		           .line_start = source,
		           .line = 1,
		           .error = error };
	GArray *tokens = g_array_new(FALSE, FALSE, sizeof(struct token));
	g_array_set_clear_func(tokens, token_clear);
	struct token t;
	do {
		bool ok = lex_one(&l, &t);
		g_array_append_val(tokens, t);
		if (!ok) {
			g_array_unref(tokens);
			return NULL;
		}
	} while (t.kind != TOKEN_END);
	return tokens;
}
