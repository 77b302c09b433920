/*
 * private.h - the arrays behind struct debuginfo, for the files of this folder alone:
 * elf.c fills symbols, dwarf.c the rest, index.c sorts, lookup.c and types.c
 * answer.
 */
#ifndef HEDDLE_DEBUGINFO_PRIVATE_H
#define HEDDLE_DEBUGINFO_PRIVATE_H

#include "debuginfo/debuginfo.h"

struct line_row {
	uint64_t address;
	uint32_t file; /* index of files; NONE ends a sequence */
	uint32_t line;
	uint32_t column;
	uint32_t order; /* as read: of rows at one address the last one counts */
};

struct file_name {
	const char *file, *path;
};

/* A function's body or an inlined body; nests by `parent`. */
struct scope {
	uint32_t function;
	uint32_t parent; /* scope, or NONE */
	uint32_t call_file, call_line, call_column;
	uint32_t depth;
};

struct scope_range {
	uint64_t low, high;
	uint32_t scope;
};

/* The flattened nest: from `low` on, `scope` is the innermost (NONE: nothing). */
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

/* A local variable's fixed place in its function's frame. */
struct frame_slot {
	uint32_t function;
	uint32_t type;
	int64_t offset; /* from the CFA; what lies in the frame is below 0 */
	const char *name;
};

struct symbol {
	uint64_t address, size;
	const char *name;
	bool global;
};

struct debuginfo {
	char *path;
	char build_id[2 * 64 + 1];
	bool has_dwarf;
	char *damage;
	GStringChunk *strings;
	char *read_strings; /* those that were read in a child (guard.c); owned */

	GArray *files;                       /* struct file_name */
	GArray *lines;                       /* struct line_row, by address */
	GArray *scopes;                      /* struct scope */
	GArray *ranges;                      /* struct scope_range; while indexing */
	GArray *segments;                    /* struct scope_segment, by low */
	GArray *functions;                   /* struct function_record */
	GArray *locals;                      /* struct debug_local */
	GArray *slots;                       /* struct frame_slot, by function, then offset */
	GArray *types;                       /* struct type_record */
	GArray *members;                     /* struct debug_member */
	GArray *variables;                   /* struct debug_variable, by address */
	GArray *code_symbols, *data_symbols; /* struct symbol, by address */
	GArray *taken; /* uint64_t: addresses taken by relocations and instructions */
	GHashTable *types_by_name, *functions_by_name; /* name (borrowed) -> id + 1 */
};

#define AT(array, type, i) (&g_array_index((array), type, (i)))

/* elf.c: checks the file, fills symbols, build-id and taken addresses. */
bool debuginfo_read_elf(struct debuginfo *d, struct error *error);
/* elf.c: symbols of the separate debug file at `path`, too. */
void debuginfo_read_more_symbols(struct debuginfo *d, const char *path);
/* dwarf.c: everything from DWARF; a fault ends the reading and is kept in d->damage. */
void debuginfo_read_dwarf(struct debuginfo *d);
/* index.c: sorts and flattens what was read. */
void debuginfo_index(struct debuginfo *d);

/* guard.c: both in a child process, which a fault of their libraries may end: the DWARF is
 * left out then, and d->damage says so. */
bool debuginfo_read_guarded(struct debuginfo *d, struct error *error);

/* open.c: in this process; without the DWARF where `dwarf` is false. */
bool debuginfo_read_here(struct debuginfo *d, bool dwarf, struct error *error);
/* open.c: a module that is opened without the guard, so that a fuzzer sees faults of ours. */
struct debuginfo *debuginfo_open_here(const char *path, struct error *error);
const char *debuginfo_intern(struct debuginfo *d, const char *text);

#endif
