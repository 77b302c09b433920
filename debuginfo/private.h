/*
 * private.h - the arrays of struct debuginfo, private to this folder: elf.c and symbol_names.c
 * fill in symbols, dwarf.c the rest, index.c sorts, lookup.c and types.c query.
 */
#ifndef HEDDLE_DEBUGINFO_PRIVATE_H
#define HEDDLE_DEBUGINFO_PRIVATE_H

#include "debuginfo/debuginfo.h"

#include <time.h>

struct line_row {
	uint64_t address;
	uint32_t file; /* index of files; NONE: end of a sequence */
	uint32_t line;
	uint32_t column;
	uint32_t order; /* order of reading: of rows at one address the last counts */
};

struct file_name {
	const char *file, *path;
};

/* A function's body or an inlined body. */
struct code_scope {
	uint32_t function;
	uint32_t parent; /* scope, or NONE */
	uint32_t call_file, call_line, call_column;
	uint32_t depth;
};

struct scope_range {
	uint64_t low, high;
	uint32_t scope;
};

/* From `low` on, the innermost scope is `scope` (NONE: none). */
struct scope_segment {
	uint64_t low;
	uint32_t scope;
};

struct function_record {
	struct debug_function public;
	uint32_t origin; /* abstract origin or specification: another record, or NONE */
	bool declaration;
};

struct type_record {
	struct debug_type public;
	bool declaration;
};

/* A local variable's place in its function's frame. */
struct frame_slot {
	uint32_t function;
	uint32_t type;
	int64_t offset; /* from the CFA; negative inside the frame */
	const char *name;
};

struct elf_symbol {
	uint64_t address, size;
	const char *name;  /* as in the file */
	const char *shown; /* as people write it */
	bool global;
};

/* The two names under which a module's separate debug file is found. */
struct debug_links {
	char build_id[2 * 64 + 1]; /* hexadecimal digits; "": none */
	char link[256];            /* .gnu_debuglink: the file's name; "": none */
};

struct debuginfo {
	char *path;
	char *key; /* known.c's key, with READ_NAMES; owned; NULL: not to be kept */
	struct debug_links links;
	bool has_dwarf;
	enum debug_reads reads;
	char *damage;
	GStringChunk *strings;
	/* guard.c: the arrays of what was read in a child, mapped: of these GArrays only `data`
	 * and `len` are there. NULL: they are the process's own. */
	void *image;
	size_t image_length;
	bool image_kept; /* it is a file of the cache */

	GArray *files;                       /* struct file_name */
	GArray *lines;                       /* struct line_row, by address */
	GArray *scopes;                      /* struct code_scope */
	GArray *ranges;                      /* struct scope_range; only before indexing */
	GArray *segments;                    /* struct scope_segment, by low */
	GArray *functions;                   /* struct function_record */
	GArray *locals;                      /* struct debug_local */
	GArray *slots;                       /* struct frame_slot, by function, then offset */
	GArray *types;                       /* struct type_record */
	GArray *members;                     /* struct debug_member */
	GArray *variables;                   /* struct debug_variable, by address */
	GArray *code_symbols, *data_symbols; /* struct elf_symbol, by address */
	GArray *taken; /* uint64_t: addresses taken by relocations and instructions */
	/* uint32_t: ids + 1 by the hash of their name, 0: none; see debuginfo_named */
	GArray *types_by_name, *functions_by_name;
	/* The answer to debuginfo_atomic_instruction, + 1; 0: not asked yet. */
	uint64_t atomic_instruction;
};

#define AT(array, type, i) (&g_array_index((array), type, (i)))

static inline const char *debuginfo_intern(struct debuginfo *d, const char *text)
{
	return g_string_chunk_insert_const(d->strings, text);
}

/* elf.c: check the file; read symbols, build-id and taken addresses. */
bool debuginfo_read_elf(struct debuginfo *d, struct error *error);
/* elf.c: read the symbols of a separate debug file. */
void debuginfo_read_more_symbols(struct debuginfo *d, const char *path);
/* elf.c: a section's bytes, decompressed; the caller's. NULL: there is none. */
GBytes *debuginfo_section(const char *path, const char *name);
/* symbol_names.c: fill in `shown` of the symbols without DWARF. */
void debuginfo_show_symbols(struct debuginfo *d);
/* symbol_names.c: a symbol as people write it; kept by `d`, or the symbol itself. */
const char *debuginfo_shown(struct debuginfo *d, const char *symbol);
/* dwarf.c: read the DWARF; an error ends reading and is kept in d->damage. */
void debuginfo_read_dwarf(struct debuginfo *d);
/* index.c: sort and flatten. */
void debuginfo_index(struct debuginfo *d);
/* by_name.c: clear a table by name, with room for this many records. */
void debuginfo_begin_table(GArray *table, guint records);
/* by_name.c: the entry of a name in a table by name (the free one, where it has none); NULL:
 * the table is empty. The records have `element` bytes, and their names at `name_at`. */
uint32_t *debuginfo_named(const GArray *table, const GArray *records, size_t element,
                          size_t name_at, const char *name);

/* The amount read of a module: symbols as they are in the file; DWARF; and symbols as people
 * write them. */
enum reading { READ_SYMBOLS, READ_DWARF, READ_NAMES };
/* guard.c: read in a child process; less, where that crashes, and with d->damage when the
 * DWARF that was asked for is missing. */
bool debuginfo_read_guarded(struct debuginfo *d, enum reading most, struct error *error);
/* guard.c: give the arrays back that are mapped. */
void debuginfo_release_image(struct debuginfo *d);

/* known.c: was a file last changed so long ago that another change would show in its times?
 * These are rounded to the system's tick, and to whole seconds on some file systems. */
struct stat;
bool known_settled(const struct stat *st, struct timespec now);
/* The key of a module in its present state; NULL: not to be kept. Owned by the caller. */
char *known_key(const char *path, enum reading most);
/* Cached debug information under that key, for kept_release, at `base` where that is free;
 * NULL: it must be read anew. `key` may be NULL. */
void *known_take(const char *key, const char *path, void *base, size_t *length);
/* Keep it, where the module is still the same. */
void known_keep(const char *key, const char *path, enum reading most,
                const struct debug_links *links, const char *read, size_t length);
/* Keep the answer to debuginfo_atomic_instruction, or read it. */
bool known_answer(const struct debuginfo *d, uint64_t *answer);
void known_keep_answer(const struct debuginfo *d, uint64_t answer);

/* guard.c: read in this process. */
bool debuginfo_read_here(struct debuginfo *d, enum reading most, struct error *error);
/* open.c: open without the guard, so that a fuzzer sees crashes. */
struct debuginfo *debuginfo_open_here(const char *path, struct error *error);

#endif
