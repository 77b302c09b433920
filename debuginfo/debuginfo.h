/*
 * debuginfo.h - debug information of a compiled module: code address to source place and
 * function (with inlining), data address to variable and member, types, parameters of
 * functions.
 *
 * A module is read once, by libdwarf and libelf, into sorted arrays; queries are binary
 * searches, and the arrays are kept in the user's cache (known.c). Addresses are the file's
 * (a run's address less the load bias).
 *
 * Strings and ids are valid as long as the struct debuginfo.
 */
#ifndef HEDDLE_DEBUGINFO_H
#define HEDDLE_DEBUGINFO_H

#include "engine/base/base.h"

struct debuginfo;

/*
 * Open the module at `path`. Follows .gnu_debuglink and the build-id to separate debug files.
 * `build_id` (hex; NULL or "": any) must match. A stripped module opens with its symbol tables
 * alone. NULL and `error` when the file is missing, not ELF, for another architecture, corrupt,
 * or another build.
 */
struct debuginfo *debuginfo_open(const char *path, const char *build_id, struct error *error);
/* debuginfo_open with the symbols alone, as they are in the file; or NULL. */
struct debuginfo *debuginfo_open_symbols(const char *path, const char *build_id);
void debuginfo_close(struct debuginfo *d); /* NULL is allowed */

/* A cache of open modules. */
struct debug_store;
struct debug_store *debug_store_new(void);
void debug_store_free(struct debug_store *store); /* NULL is allowed */
/* debuginfo_open, reading each file at most once; owned by the store. */
struct debuginfo *debug_store_open(struct debug_store *store, const char *path,
                                   const char *build_id, struct error *error);

/* Does it have DWARF, beside symbols? */
bool debuginfo_has_dwarf(const struct debuginfo *d);
/* Does its code have all its reads for ThreadSanitizer's hooks? clang's instrumentation
 * leaves out those that a write of the same place follows without a call in between (x++ has
 * only its write), unless an option forbids it. The DWARF's producer names the option. */
enum debug_reads {
	READS_KEPT,
	READS_UNKNOWN, /* compiled by rustc, which does not name its options */
	READS_LEFT_OUT,
};
enum debug_reads debuginfo_reads(const struct debuginfo *d);
/* The address of an atomic instruction in code with source lines (x86-64); 0: none. Reads the
 * file's code: half a second for 10 MB. */
uint64_t debuginfo_atomic_instruction(const struct debuginfo *d);
/* The same for a fence between stores and later loads (mfence). */
uint64_t debuginfo_fence_instruction(const struct debuginfo *d);
/* Does the code that a call returns to (x86-64, an address of the file's) behave the same for
 * both of these results: is the result overwritten, on every path, before it is read, except
 * for comparisons with constants that have one outcome for both? `results` NULL: for any
 * result. False when that is not certain. */
bool debuginfo_result_unseen(const char *path, uint64_t address, const int32_t *results);
/* The address of an access for which gcc's code (x86-64) calls no hook (unhooked.c says which):
 * in the functions that the addresses of `run` are in (uint64_t; they are sorted). 0: none. */
uint64_t debuginfo_unhooked(const struct debuginfo *d, GArray *run);
/* Which of the stores that follow these calls of a hook (x86-64, addresses of the file's that
 * the calls return to) read the memory that they write? Those of gcc's bit-fields do, of the
 * bits beside, and no hook tells. Sets `reads[i]`; false where the code is not known. */
void debuginfo_stores_that_read(const char *path, const uint64_t *addresses, size_t count,
                                bool *reads);
/* Hex; "" when absent. */
const char *debuginfo_build_id(const struct debuginfo *d);
/* The first error in the DWARF; NULL: none. */
const char *debuginfo_damage(const struct debuginfo *d);

/* --- code ------------------------------------------------------------------------- */

struct debug_place {
	const char *file;      /* as given to the compiler: "src/bank.c"; "" unknown */
	const char *path;      /* absolute, if known; "" unknown */
	const char *function;  /* "" unknown; C++ with namespace and class */
	uint32_t line, column; /* 0 unknown */
	uint32_t function_id;  /* NONE: known by symbol only */
	uint64_t offset;       /* offset of the address in the function */
};
/* The source places of a code address: places[0] is the innermost, each further one the call
 * site where it was inlined. Returns their number (at most `room` are written); 0: unknown. A
 * symbol alone gives a place without a file. */
size_t debuginfo_code(const struct debuginfo *d, uint64_t address, struct debug_place *places,
                      size_t room);

struct debug_function {
	const char *name;   /* qualified in C++ */
	uint64_t low, high; /* start of its main range; 0: no code of its own */
	const char *file;
	uint32_t line;
	uint32_t variables, variable_count; /* for debuginfo_local; parameters first */
	uint32_t parameter_count;
	bool external;      /* has external linkage */
	bool clang;         /* compiled by clang */
	bool address_taken; /* a relocation or an instruction takes its address */
};
struct debug_local {
	const char *name;
	uint32_t type;
};
const struct debug_function *debuginfo_function(const struct debuginfo *d, uint32_t function);
/* The functions that a C or qualified C++ name may refer to after compilation. Specialised
 * copies (f.constprop.0) have their own symbols, and inlined calls are no calls. */
struct debug_entries {
	uint64_t address;    /* of the first; 0: none */
	uint32_t count;      /* functions of exactly that name with code */
	uint32_t inlined;    /* number of inlined instances */
	const char *special; /* symbol of a specialised copy, or NULL */
	bool rewritten;      /* static and compiled by clang, which may change its parameters */
};
struct debug_entries debuginfo_entries(const struct debuginfo *d, const char *name);
/* A function of that name, preferably one with code; or NONE. */
uint32_t debuginfo_function_named(const struct debuginfo *d, const char *name);
/* Parameters of a function in another module, from a declaration: a bit for each of the first
 * six integer registers that may hold a pointer. False without a complete declaration. */
bool debuginfo_declared_pointers(const struct debuginfo *d, const char *name, unsigned *bits);
/* Parameter or local variable by index. */
struct debug_local debuginfo_local(const struct debuginfo *d, uint32_t variable);

/* --- types ------------------------------------------------------------------------ */

enum debug_type_kind {
	TYPE_UNKNOWN, /* void, or not described */
	TYPE_BASE,
	TYPE_ENUM,
	TYPE_POINTER, /* or reference */
	TYPE_ARRAY,
	TYPE_STRUCT, /* or class */
	TYPE_UNION,
	TYPE_FUNCTION,
	TYPE_TYPEDEF,
	TYPE_CONST,
	TYPE_VOLATILE,
	TYPE_ATOMIC,
};
/* The encoding of a base type's bytes. */
enum debug_encoding {
	ENCODING_UNKNOWN,
	ENCODING_SIGNED,
	ENCODING_UNSIGNED,
	ENCODING_BOOLEAN,
	ENCODING_CHARACTER,
	ENCODING_FLOAT,
};
struct debug_type {
	enum debug_type_kind kind;
	enum debug_encoding encoding; /* of TYPE_BASE */
	const char *name; /* "struct account", "job_t", "int"; "" when it has none */
	uint64_t size;    /* bytes; 0 unknown */
	uint32_t target;  /* of pointers, arrays, typedefs and qualifiers: the type they
	                   * refer to; NONE: void */
	uint64_t count;   /* elements of an array; 0 unknown (flexible, variable) */
	/* of an enumeration: names, with their values as offsets */
	uint32_t members, member_count;
};
struct debug_member {
	const char *name; /* "" for an anonymous struct or a base class */
	uint32_t type;
	uint64_t offset;
	uint64_t size;     /* bytes it covers */
	uint32_t bit_size; /* 0: no bit-field */
};
/* Type ids may be NONE: the unknown type. */
const struct debug_type *debuginfo_type(const struct debuginfo *d, uint32_t type);
const struct debug_member *debuginfo_member(const struct debuginfo *d, uint32_t member);
uint32_t debuginfo_type_count(const struct debuginfo *d);
/* A complete type by name ("struct account", "account", a typedef), or NONE. */
uint32_t debuginfo_type_named(const struct debuginfo *d, const char *name);
/* The type without typedefs and qualifiers. */
uint32_t debuginfo_strip(const struct debuginfo *d, uint32_t type);
/* Bit set of the qualifiers down to the stripped type, by kind. */
unsigned debuginfo_qualifiers(const struct debuginfo *d, uint32_t type);
/* Append a readable name: "struct account", "struct job *"; never empty. */
void debuginfo_type_name(const struct debuginfo *d, uint32_t type, GString *name);
/* Size in bytes, through typedefs and arrays; 0: unknown. */
uint64_t debuginfo_size(const struct debuginfo *d, uint32_t type);
/* Is it a class without data, such as an allocator and its base classes? */
bool debuginfo_is_empty(const struct debuginfo *d, uint32_t type);
/* The type pointed to, without qualifiers but with typedefs; NONE for void or when `type` is no
 * pointer. */
uint32_t debuginfo_pointee(const struct debuginfo *d, uint32_t type);

/* The part of an object of `type` that contains [offset, offset + size); size 0: the smallest
 * part. Its path is appended to `path` (".balance", "[1].i[2].x", "+3" for an offset that fits
 * no member). */
struct debug_part {
	uint32_t type;
	uint64_t rest;       /* offset within the part */
	bool exact;          /* the part begins at `offset` and has `size` bytes */
	uint32_t owner;      /* innermost struct on the path, or NONE */
	unsigned qualifiers; /* qualifiers of every type on the path */
	/* Where the path's last number counts elements of an array, or bytes of it behind a
	 * '+': the array's offset, bytes for each, and the digits' place in `path`; else `each`
	 * is 0. Parts of this size in [first, end), at distances of `stride` from this one,
	 * have the same path but for the number, and the same form; 0: that is not known. */
	struct debug_count {
		uint64_t offset, each;
		size_t from, to;
		uint64_t first, end, stride;
	} count;
};
struct debug_part debuginfo_part(const struct debuginfo *d, uint32_t type, uint64_t offset,
                                 uint64_t size, GString *path);

/* Append the form in which people write a value of `type`, in one word: "int", "uint",
 * "bool", "char", "float", "pointer", "enum:IDLE=0,BUSY=1" (engine/trace/shown.h). Nothing
 * for any other type. */
void debuginfo_form(const struct debuginfo *d, uint32_t type, GString *form);

/* --- data ------------------------------------------------------------------------- */

/* Added to the offset of a thread-local variable in its module's block of them: such is its
 * address here. */
#define DEBUG_THREAD_LOCAL (UINT64_C(1) << 63)
struct debug_variable {
	uint64_t address, size;
	const char *name;  /* qualified in C++ */
	uint32_t type;     /* NONE: known by symbol only */
	uint32_t function; /* for a static of a function; else NONE */
	const char *file;
	uint32_t line;
	bool external;
};
/* The global or static variable at `address`, or NULL. */
const struct debug_variable *debuginfo_data(const struct debuginfo *d, uint64_t address);
uint32_t debuginfo_variable_count(const struct debuginfo *d);
const struct debug_variable *debuginfo_variable(const struct debuginfo *d, uint32_t variable);
/* "acct.balance" for address..address+size; false (nothing appended) when unknown. */
bool debuginfo_data_name(const struct debuginfo *d, uint64_t address, uint64_t size,
                         GString *name);

/*
 * Append the name of the local variable or parameter at `offset` from the CFA (the stack
 * pointer before the call; offsets inside the frame are negative) of the function that contains
 * `address`, inlined functions included: "deposit::visitors[0]". False when none is known, or
 * when several scopes share the place.  `part`: which part of the variable; may be NULL.
 */
bool debuginfo_frame_name(const struct debuginfo *d, uint64_t address, int64_t offset,
                          uint64_t size, GString *name, struct debug_part *part);

#endif
