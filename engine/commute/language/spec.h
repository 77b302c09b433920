/*
 * spec.h - the syntax tree of specifications: objects with methods, conditions, states, effects
 * and bindings; atomic sets and units of work; uninstrumented libraries.
 *
 * The files are described in docs/specifications.md. The parser has checked names and arities.
 * eval.h runs formulas and effects, points.h makes access points, prove.h proves; engine/atomic
 * uses struct spec_atomics, engine/partial struct spec_missing, engine/record struct spec_bind.
 */
#ifndef HEDDLE_COMMUTE_SPEC_H
#define HEDDLE_COMMUTE_SPEC_H

#include "engine/base/base.h"

/* Formulas and the expressions of effects. */
enum expr_op {
	X_NIL,
	X_FALSE,
	X_TRUE,
	X_INT,    /* .integer */
	X_TEXT,   /* .text: a string constant */
	X_NAME,   /* an argument or result: .side, .index (arguments first, then results) */
	X_STATE,  /* a state variable: .index */
	X_LOOKUP, /* state map .index at a */
	X_IN,     /* a in state set .index */
	X_SAME,   /* a ~ b in state partition .index */
	X_NOT,
	X_NEGATE,
	X_AND,
	X_OR,
	X_EQ,
	X_NE,
	X_LT,
	X_LE,
	X_GT,
	X_GE,
	X_ADD,
	X_SUB,
	X_MUL,
	X_MOD,
};

struct expr {
	enum expr_op op;
	uint8_t side; /* X_NAME: invocation of the pair, 0 or 1 (0 in effects) */
	uint32_t index;
	int64_t integer;
	char *text; /* owned by the object's node list */
	uint32_t text_length;
	struct expr *a, *b;
	uint32_t line, column;
	uint32_t depth; /* of the tree below, inclusive */
};

static inline bool expr_is_comparison(enum expr_op op)
{
	return op >= X_EQ && op <= X_GE;
}
static inline bool expr_is_arithmetic(enum expr_op op)
{
	return op >= X_ADD || op == X_NEGATE;
}
/* Is it a truth value by its form? (A name may have a truth value, too.) */
static inline bool expr_is_truth(enum expr_op op)
{
	return op == X_FALSE || op == X_TRUE || op == X_IN || op == X_SAME ||
	       (op >= X_NOT && op <= X_GE && op != X_NEGATE);
}

enum sort { SORT_INT, SORT_BOOL, SORT_MAP, SORT_SET, SORT_VALUE, SORT_PARTITION, SORT_COUNT };
const char *sort_word(enum sort sort);

struct spec_state { /* state d : map */
	char *name;
	enum sort sort;
	struct expr *first; /* initial value, a constant; NULL: 0, false, nil or {} */
};

enum statement_kind {
	STATEMENT_HOLDS,  /* e must hold; usually `result == ...` */
	STATEMENT_ASSIGN, /* state := e */
	STATEMENT_STORE,  /* state[key] := e */
	STATEMENT_INSERT, /* state += e */
	STATEMENT_REMOVE, /* state -= e */
	STATEMENT_UNITE,  /* state += key ~ e */
};
struct statement {
	enum statement_kind kind;
	uint32_t state;
	struct expr *key, *e;
};

/* How a parameter of a bound function is used: bind put = "dict_put(struct dict *self, const
 * char *k, void *v) -> void * p" */
enum bind_role {
	BIND_IGNORED, /* a parameter without a counterpart in the method */
	BIND_SELF,    /* the object */
	BIND_NAME,    /* argument or result .index of the method */
	BIND_OUT,     /* result .index, written by the function where the pointer points */
};
/* How the value is written in the trace. */
enum bind_type {
	BIND_VOID,
	BIND_STRING, /* char *: by content; NULL is nil */
	BIND_SIGNED, /* an integer of .size bytes */
	BIND_UNSIGNED,
	BIND_BOOL,    /* true, false */
	BIND_POINTER, /* p and an address name; NULL is nil */
};
struct bind_parameter {
	enum bind_role role;
	enum bind_type type;
	uint32_t size;  /* bytes */
	uint32_t index; /* BIND_NAME: among the method's names, arguments first */
	char *type_text, *name;
};
struct spec_bind {
	char *function;
	GArray *parameters;           /* struct bind_parameter */
	struct bind_parameter result; /* BIND_IGNORED where the method has none */
	bool global;                  /* `global self`: one object for the whole program */
	char *text;                   /* as written, without the quotes */
};

struct spec_method {
	char *name;
	uint32_t arguments, results;
	char **names;     /* arguments, then results */
	GArray *effect;   /* struct statement, or NULL: none given */
	GPtrArray *binds; /* struct spec_bind * */
	uint32_t line, column;
};

/* commute put(k1, v1) / p1, get(k2) / v2 : formula */
struct spec_condition {
	uint32_t methods[2]; /* as written: side 0, side 1 */
	char **names[2];     /* names of each side, "_": not bound; NULL: none */
	struct expr *formula;
	uint32_t line, column;
};

struct spec_order {             /* order m1, m2 before m3 */
	GArray *before, *after; /* uint32_t methods */
};

struct spec_object {
	char *name, *file;
	uint32_t line;
	GPtrArray *methods;    /* struct spec_method * */
	GPtrArray *conditions; /* struct spec_condition *, in the order of the file */
	GArray *table;         /* spec_condition *: [m1 * methods + m2], NULL by default */
	GArray *states;        /* struct spec_state */
	GPtrArray *orders;     /* struct spec_order * */
	GPtrArray *nodes;      /* every struct expr; owns them */
};

/* The condition of a pair of methods, in either order; NULL: none given, which means false. */
const struct spec_condition *spec_condition_of(const struct spec_object *o, uint32_t m1,
                                               uint32_t m2);
/* The index of a method, or NONE. */
uint32_t spec_method_find(const struct spec_object *o, const char *name);
static inline struct spec_method *spec_method_at(const struct spec_object *o, uint32_t method)
{
	return o->methods->pdata[method];
}
/* +1: m1 before m2 is the good order; -1: the wrong one; 0: no order is declared. */
int spec_good_order(const struct spec_object *o, uint32_t m1, uint32_t m2);

/* atomics NAME { ... }; used by engine/atomic. */
struct spec_set { /* set account : struct account { checking, savings } | global a, b */
	char *name;
	char *type;         /* "account": one set for each instance; NULL for globals */
	GPtrArray *members; /* char *: members (none: all of the struct) or globals */
	bool exact;         /* names in quotes: spelled as in the trace */
	bool everything;    /* all memory; only by heddle atomic --heap */
};
struct spec_unit { /* A unit of work: unit transfer on account, log */
	char *function;
	GPtrArray *sets; /* char *, names of declared sets */
};
struct spec_owned { /* An owned pointer: owned struct hashset . map */
	char *type, *member;
};
struct spec_unitfor { /* unitfor list_copy(src) */
	char *function, *parameter;
};
struct spec_atomics {
	char *name, *file;
	uint32_t line;
	GPtrArray *sets;     /* struct spec_set * */
	GPtrArray *units;    /* struct spec_unit * */
	GPtrArray *owned;    /* struct spec_owned * */
	GPtrArray *unitfors; /* struct spec_unitfor * */
	/* char *: words of spec_split_words; NULL without a `split` line (the default applies),
	 * empty for `split none`. */
	GPtrArray *splits;
	/* `only shared`: accesses of a variable count from the first access by a second
	 * thread on; variables on stacks are in no set. */
	bool only_shared;
};
struct spec_atomics *spec_atomics_new(const char *name, const char *file, uint32_t line);
void spec_atomics_free(struct spec_atomics *a);
/* wait join fork barrier take sleep poll none; NULL-terminated. */
extern const char *const spec_split_words[];

/* missing { ... }; used by engine/partial. */
struct spec_missing_function { /* function f(buf, len) reaches buf, global state */
	char *name;
	GPtrArray *parameters; /* char * */
	GPtrArray *reaches;    /* char *: names of parameters */
	GPtrArray *bytes;      /* char *: only the pointed-to block is reached */
	GPtrArray *near;       /* char *: that block, and the blocks that its words point to */
	GPtrArray *globals;    /* char * */
};
struct spec_missing {
	char *file;
	uint32_t line;
	GPtrArray *libraries; /* char *: shell patterns */
	GPtrArray *threads;   /* char *: patterns of libraries whose threads reach nothing by
	                         their creation and join */
	GPtrArray *functions; /* struct spec_missing_function * */
};

/* All loaded declarations. */
struct specs {
	GPtrArray *objects; /* struct spec_object *; names are unique */
	GPtrArray *atomics; /* struct spec_atomics *; names are unique */
	GPtrArray *missing; /* struct spec_missing *: all apply */
	GPtrArray *files;   /* char *: paths given by the user, in order */
};
struct specs *specs_new(void);
void specs_free(struct specs *s);
/* Parse a file's text. Declarations replace earlier ones of the same name. On failure `s` is
 * unchanged. */
bool specs_parse(struct specs *s, const char *file, const char *source, size_t length,
                 struct error *error);
bool specs_load(struct specs *s, const char *path, struct error *error);
/* Does a line of the text begin as a declaration does? False: it is no specification at all,
 * whatever its file is called, as the .spec file of a package. */
bool specs_declare(const char *source);
/* The file that `path` names: itself, else (for a name without a folder) a shipped file of bind
 * lines in specs/bind. Owned by the caller. */
char *spec_path(const char *path);
/* The shipped files, then `paths` (char *; may be NULL), as for every command with --spec. NULL
 * and `error` on failure. */
struct specs *specs_open(const GPtrArray *paths, struct error *error);
/* Files to open for a trace: `given` by the user (may be NULL), else the readable ones of those
 * it was `recorded` with (from its notes). char *, owned by the caller. `notes` (char *, owned;
 * may be NULL) receives the files taken from the recording and those that could not be read. */
GPtrArray *specs_choose(const GPtrArray *given, const GPtrArray *recorded, GPtrArray *notes);
struct spec_object *specs_object(const struct specs *s, const char *name); /* or NULL */

/* Parse the prototype of one bind line; on failure NULL and `*expected`. */
struct spec_bind *spec_bind_parse(const struct spec_method *m, const char *text,
                                  const char **expected);
void spec_bind_free(void *bind);

/* Print. `names[side]` are the names for X_NAME; NULL: those of the methods of `c`, or of
 * `m`. */
void expr_print(const struct spec_object *o, const struct expr *e, char **const names[2],
                GString *out);
/* "put(k1, v1) / p1": one side of a condition. */
void spec_print_side(const struct spec_object *o, const struct spec_condition *c, int side,
                     GString *out);
void spec_print_method(const struct spec_method *m, GString *out);

#endif
