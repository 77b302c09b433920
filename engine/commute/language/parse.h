/*
 * parse.h - recursive-descent parser of specifications, one function for each construct. After
 * the first error, which is set, every function returns false or NULL. Private to
 * engine/commute/parse*.c.
 */
#ifndef HEDDLE_COMMUTE_PARSE_H
#define HEDDLE_COMMUTE_PARSE_H

#include "engine/commute/language/lexer.h"
#include "engine/commute/language/tree.h"

struct parser {
	const char *file;
	const struct token *at;
	struct error *error;
	char *inside;          /* "object dict", for messages; owned */
	struct spec_object *o; /* the object being read, or NULL */
	/* Names of sides 0 and 1 that X_NAME may refer to. */
	char **names[2];
	uint32_t name_counts[2];
	bool in_effect; /* states may be used */
	uint32_t depth; /* of nested expressions */
};

/* Refusals set the error and return false (parse_words.c). */
bool parse_refuse_at(struct parser *p, uint32_t line, uint32_t column, const char *remedy,
                     const char *what);
bool parse_refuse(struct parser *p, const struct token *t, const char *remedy,
                  const char *format, ...) __attribute__((format(printf, 4, 5)));
/* "expected WHAT, found" the current token. */
bool parse_expected(struct parser *p, const char *what);
/* Set the context that messages name. */
void parse_inside(struct parser *p, const char *format, ...)
        __attribute__((format(printf, 2, 3)));

/* Tokens (parse_words.c): _is tests, _accept consumes if present, _need refuses any other. */
bool parse_is(const struct parser *p, enum token_kind kind);
bool parse_is_word(const struct parser *p, const char *word);
void parse_next(struct parser *p);
bool parse_accept(struct parser *p, enum token_kind kind);
bool parse_accept_word(struct parser *p, const char *word);
bool parse_need(struct parser *p, enum token_kind kind);
bool parse_need_word(struct parser *p, const char *word);
/* A name; borrowed from the token. */
const char *parse_name(struct parser *p, const char *what);
/* The name of an object or set of atomics: hyphens may join words (union-find).  Owned. */
char *parse_title(struct parser *p, const char *what);
/* name {, name}: appended to `list` as owned strings. */
bool parse_names(struct parser *p, GPtrArray *list, const char *what);

/* Formulas (parse_formula.c); expressions are owned by p->o. _expression stops before an
 * operator that binds less tightly than `around` (C's precedences, 1: `||` ... 6: `*`; 7: an
 * operand). */
struct expr *parse_expression(struct parser *p, int around);
struct expr *parse_formula(struct parser *p);
/* Refuse an expression that is no truth value, and any such operand of `!` within it. */
bool parse_need_truth(struct parser *p, const struct expr *e);
bool parse_check_not(struct parser *p, const struct expr *e);
/* Index and sort of the state of that name, or NONE. */
uint32_t parse_state_find(const struct parser *p, const char *name, enum sort *sort);

/* Declarations after their keyword, appended to `into`. */
bool parse_object(struct parser *p, struct specs *into);  /* parse_object.c */
bool parse_atomics(struct parser *p, struct specs *into); /* parse_blocks.c */
bool parse_missing(struct parser *p, struct specs *into);

#endif
