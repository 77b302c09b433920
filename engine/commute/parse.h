/*
 * parse.h - what the parts of the parser of specifications share: where it is, the words it
 * takes and what it refuses.  Recursive descent, one function a construct; each is false (or
 * NULL) after the first error, which is set.  Private to engine/commute/parse*.c.
 */
#ifndef HEDDLE_COMMUTE_PARSE_H
#define HEDDLE_COMMUTE_PARSE_H

#include "engine/commute/lexer.h"
#include "engine/commute/tree.h"

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

/* Refusals, always false (parse_words.c). */
bool parse_refuse_at(struct parser *p, uint32_t line, uint32_t column, const char *remedy,
                     const char *what);
bool parse_refuse(struct parser *p, const struct token *t, const char *remedy,
                  const char *format, ...) __attribute__((format(printf, 4, 5)));
/* "expected WHAT, found" the word at hand. */
bool parse_expected(struct parser *p, const char *what);
/* What messages say one is in, from now on. */
void parse_inside(struct parser *p, const char *format, ...)
        __attribute__((format(printf, 2, 3)));

/* Words (parse_words.c): _is looks, _accept steps over what it finds, _need refuses others. */
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
/* name {, name} appended to `list` as owned strings. */
bool parse_names(struct parser *p, GPtrArray *list, const char *what);

/*
 * Formulas (parse_formula.c); the expressions are owned by p->o.  _expression stops before an
 * operator that binds less than `around` (C's precedences, 1: `||` ... 6: `*`; 7: an operand).
 */
struct expr *parse_expression(struct parser *p, int around);
struct expr *parse_formula(struct parser *p);
/* Refuse what is no condition, and such operands of `!` anywhere in it. */
bool parse_need_truth(struct parser *p, const struct expr *e);
bool parse_check_not(struct parser *p, const struct expr *e);
/* The state of that name and its sort, or NONE. */
uint32_t parse_state_find(const struct parser *p, const char *name, enum sort *sort);

/* Declarations, behind their first word, appended to `into`. */
bool parse_object(struct parser *p, struct specs *into);  /* parse_object.c */
bool parse_atomics(struct parser *p, struct specs *into); /* parse_blocks.c */
bool parse_missing(struct parser *p, struct specs *into);

#endif
