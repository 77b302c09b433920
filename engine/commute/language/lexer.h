/*
 * lexer.h - tokens of specification files, with line and column. The grammar is in parse*.c.
 */
#ifndef HEDDLE_COMMUTE_LEXER_H
#define HEDDLE_COMMUTE_LEXER_H

#include "engine/base/base.h"

/* Enumerator and name in messages; signs are matched longest first. */
#define TOKENS(T) \
	T(END, "the end of the file") \
	T(NAME, "a name") \
	T(NUMBER, "an integer") \
	T(TEXT, "a string") \
	T(OR, "||") \
	T(AND, "&&") \
	T(EQ, "==") \
	T(NE, "!=") \
	T(LE, "<=") \
	T(GE, ">=") \
	T(BECOMES, ":=") \
	T(INSERT, "+=") \
	T(REMOVE, "-=") \
	T(LESS, "<") \
	T(GREATER, ">") \
	T(NOT, "!") \
	T(PLUS, "+") \
	T(MINUS, "-") \
	T(TIMES, "*") \
	T(MOD, "%") \
	T(TILDE, "~") \
	T(OPEN, "(") \
	T(CLOSE, ")") \
	T(LBRACE, "{") \
	T(RBRACE, "}") \
	T(LBRACKET, "[") \
	T(RBRACKET, "]") \
	T(COMMA, ",") \
	T(SEMICOLON, ";") \
	T(COLON, ":") \
	T(DOT, ".") \
	T(SLASH, "/") \
	T(ASSIGN, "=")
enum token_kind {
#define T(name, text) TOKEN_##name,
	TOKENS(T)
#undef T
	        TOKEN_COUNT
};

struct token {
	enum token_kind kind;
	uint32_t line, column; /* 1-based; the column counts bytes */
	const char *start;     /* in the source, borrowed */
	uint32_t length;
	char *text; /* NAME and TEXT (escapes resolved), owned by the array */
	uint32_t text_length;
	int64_t number;
};

const char *token_kind_text(enum token_kind kind);

/* All tokens of `source`, TOKEN_END last (struct token, owned by the caller); comments begin
 * with #. NULL and `error` for a byte that begins no token, an unfinished string, or a number
 * beyond 64 bits. `file` is for messages. */
GArray *lex(const char *file, const char *source, size_t length, struct error *error);

/* "FILE:LINE:COLUMN", with the base name of the file. */
struct place place_column(const char *file, uint32_t line, uint32_t column);

#endif
