/*
 * debuginfo.h - what a compiled module says about itself: code address to source place
 * and function (with inlining), data address to variable and member, types, functions
 * with their parameters.
 *
 * A module is read once, by libdwarf and libelf, into sorted arrays; every question after
 * that is a binary search and touches neither library.  All addresses are those of the
 * module's file (a run's address less the load bias).  Knows nothing of traces, so that
 * any tool could use it; depends on engine/base for errors alone.
 *
 * Strings and ids that are handed out live as long as the struct debuginfo.
 */
#ifndef HEDDLE_DEBUGINFO_H
#define HEDDLE_DEBUGINFO_H

#include "engine/base/base.h"

struct debuginfo;

/*
 * Open the module at `path`.  Follows .gnu_debuglink and the build-id to separate debug
 * files.  `build_id` (hex, or NULL, or "") is what the module must have.  A stripped module
 * opens all the same, with what its symbol tables say.  NULL and `error` when the file is
 * missing, not ELF, of another architecture, corrupt, or another build.
 */
struct debuginfo *debuginfo_open(const char *path, const char *build_id, struct error *error);
void debuginfo_close(struct debuginfo *d); /* NULL is allowed */

/* Modules that stay open, for who asks about the same ones again and again. */
struct debug_store;
struct debug_store *debug_store_new(void);
void debug_store_free(struct debug_store *store); /* NULL is allowed */
/* As debuginfo_open, but read from the file at most once, and owned by the store. */
struct debuginfo *debug_store_open(struct debug_store *store, const char *path,
                                   const char *build_id, struct error *error);

/* Has it DWARF units (else symbols alone)? */
bool debuginfo_has_dwarf(const struct debuginfo *d);
/* Hex, or "" when the module has none. */
const char *debuginfo_build_id(const struct debuginfo *d);
/* The DWARF could be read to its end; otherwise what was wrong (NULL when all is well). */
const char *debuginfo_damage(const struct debuginfo *d);

/* --- code ------------------------------------------------------------------------- */

struct debug_place {
	const char *file;      /* as the compiler was given it: "src/bank.c"; "" unknown */
	const char *path;      /* absolute, where the compiler said so; "" unknown */
	const char *function;  /* "" unknown; C++ with namespace and class */
	uint32_t line, column; /* 0 unknown */
	uint32_t function_id;  /* or NONE (functions known by symbol alone) */
	uint64_t offset;       /* of the address in the function */
};
/*
 * Where `address` comes from.  places[0] is the innermost place; each further one is the
 * call site it was inlined at.  Returns how many there are (at most `room` are written);
 * 0 when nothing is known.  A symbol alone gives a place without a file.
 */
size_t debuginfo_code(const struct debuginfo *d, uint64_t address, struct debug_place *places,
                      size_t room);

struct debug_function {
	const char *name;   /* qualified in C++ */
	uint64_t low, high; /* of its main range; 0 when it has no code of its own */
	const char *file;
	uint32_t line;
	uint32_t variables, variable_count; /* see debuginfo_local; parameters come first */
	uint32_t parameter_count;
	bool external;      /* has external linkage */
	bool clang;         /* compiled by it */
	bool address_taken; /* a relocation or an instruction takes its address */
};
struct debug_local {
	const char *name;
	uint32_t type;
};
const struct debug_function *debuginfo_function(const struct debuginfo *d, uint32_t function);
/*
 * Every function of the program that a C or qualified C++ name may mean, as the linker left
 * it.  Copies that the compiler specialised (f.constprop.0) have a name of their own, and
 * calls that it inlined are no calls any more.
 */
struct debug_entries {
	uint64_t address;    /* of the first; 0 when there is none */
	uint32_t count;      /* functions of exactly that name that have code */
	uint32_t inlined;    /* places where it was inlined */
	const char *special; /* the symbol of a specialised copy, or NULL */
	bool rewritten;      /* clang may have changed its parameters: it is static */
};
struct debug_entries debuginfo_entries(const struct debuginfo *d, const char *name);
/* The first function of that name (with code, if there is one), or NONE. */
uint32_t debuginfo_function_named(const struct debuginfo *d, const char *name);
/*
 * The parameters of a function that lies elsewhere, as a caller's declaration has them: of the
 * first six that are passed in integer registers, a bit for each that may be a pointer.  False
 * when there is no declaration, or one that does not tell all.
 */
bool debuginfo_declared_pointers(const struct debuginfo *d, const char *name, unsigned *bits);
/* Parameter or local variable number i of `variables`. */
struct debug_local debuginfo_local(const struct debuginfo *d, uint32_t variable);

/* --- types ------------------------------------------------------------------------ */

enum debug_type_kind {
	TYPE_UNKNOWN, /* void, or not described */
	TYPE_BASE,
	TYPE_ENUM,
	TYPE_POINTER, /* references too */
	TYPE_ARRAY,
	TYPE_STRUCT, /* classes too */
	TYPE_UNION,
	TYPE_FUNCTION,
	TYPE_TYPEDEF,
	TYPE_CONST,
	TYPE_VOLATILE,
	TYPE_ATOMIC,
};
struct debug_type {
	enum debug_type_kind kind;
	const char *name; /* "struct account", "job_t", "int"; "" when it has none */
	uint64_t size;    /* bytes; 0 unknown */
	uint32_t target;  /* of pointers, arrays, typedefs and qualifiers; NONE is void */
	uint64_t count;   /* elements of an array; 0 unknown (flexible, variable) */
	uint32_t members, member_count;
};
struct debug_member {
	const char *name; /* "" for an anonymous struct or a base class */
	uint32_t type;
	uint64_t offset;
	uint64_t size;     /* bytes it touches (of a bit-field: its covering bytes) */
	uint32_t bit_size; /* 0: no bit-field */
};
/* Type ids may be NONE everywhere: the unknown type. */
const struct debug_type *debuginfo_type(const struct debuginfo *d, uint32_t type);
const struct debug_member *debuginfo_member(const struct debuginfo *d, uint32_t member);
uint32_t debuginfo_type_count(const struct debuginfo *d);
/* A complete type by name ("struct account", "account", a typedef); or NONE. */
uint32_t debuginfo_type_named(const struct debuginfo *d, const char *name);
/* Without typedefs and qualifiers. */
uint32_t debuginfo_strip(const struct debuginfo *d, uint32_t type);
/* const, volatile or _Atomic on the way to the stripped type? Bits by kind. */
unsigned debuginfo_qualifiers(const struct debuginfo *d, uint32_t type);
/* A name for people: "struct account", "struct job *"; never empty. */
void debuginfo_type_name(const struct debuginfo *d, uint32_t type, GString *name);
/* Bytes of the type, through typedefs and arrays; 0 unknown. */
uint64_t debuginfo_size(const struct debuginfo *d, uint32_t type);
/* The type that a pointer type points to, stripped of qualifiers but not of typedefs; NONE
 * for a pointer to void or when `type` is no pointer. */
uint32_t debuginfo_pointee(const struct debuginfo *d, uint32_t type);

/*
 * The part of an object of `type` that [offset, offset + size) lies in (size 0: the
 * smallest): appends the path to `path` (".balance", "[1].i[2].x", "+3" for a rest that
 * fits no member), and gives the part's type (NONE when unknown) and the rest.
 */
struct debug_part {
	uint32_t type;
	uint64_t rest;       /* offset within the part */
	bool exact;          /* the part begins at offset and is `size` bytes */
	uint32_t owner;      /* the innermost struct passed through, or NONE */
	unsigned qualifiers; /* of everything passed through */
};
struct debug_part debuginfo_part(const struct debuginfo *d, uint32_t type, uint64_t offset,
                                 uint64_t size, GString *path);

/* --- data ------------------------------------------------------------------------- */

struct debug_variable {
	uint64_t address, size;
	const char *name;  /* qualified in C++ */
	uint32_t type;     /* NONE: known by symbol alone */
	uint32_t function; /* a function's static: which; else NONE */
	const char *file;
	uint32_t line;
	bool external;
};
/* The global or static variable that holds `address`, or NULL. */
const struct debug_variable *debuginfo_data(const struct debuginfo *d, uint64_t address);
uint32_t debuginfo_variable_count(const struct debuginfo *d);
const struct debug_variable *debuginfo_variable(const struct debuginfo *d, uint32_t variable);
/* "acct.balance" for address..address+size; false (nothing appended) when unknown. */
bool debuginfo_data_name(const struct debuginfo *d, uint64_t address, uint64_t size,
                         GString *name);

/*
 * The local variable or parameter at `offset` bytes from the frame's CFA (the stack pointer
 * before the call; offsets in the frame are negative) of the function whose code holds
 * `address`, that of an inlined function included: "deposit::visitors[0]".  False (nothing
 * appended) when no variable is known there, or when several scopes share the place.
 */
bool debuginfo_frame_name(const struct debuginfo *d, uint64_t address, int64_t offset,
                          uint64_t size, GString *name);

#endif
