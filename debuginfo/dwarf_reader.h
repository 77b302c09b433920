/*
 * dwarf_reader.h - state shared by dwarf.c, dwarf_facts.c, dwarf_lines.c and line_starts.c
 * while they read a module. Only these include libdwarf.
 */
#ifndef HEDDLE_DWARF_READER_H
#define HEDDLE_DWARF_READER_H

#include "debuginfo/private.h"

#include <dwarf.h>
#include <libdwarf.h>

struct dwarf_reader {
	struct debuginfo *d;
	Dwarf_Debug dbg;
	GHashTable *type_ids, *function_ids, *named_ids, *file_ids; /* -> id + 1 */
	GArray *named;
	GArray *pending;       /* struct pending_name: variables whose name is in another DIE */
	GArray *pending_slots; /* the same for frame slots */
	GString *prefix;       /* "ns::Class::" */
	const char *closure;   /* name for the operator() of the lambda being read */
	bool called;           /* an operator() of it was read */
	Dwarf_Fde *fdes;       /* unwind table of .eh_frame; NULL: none */
	const char *file;      /* that has the DWARF: the module, or its separate debug file */
	GBytes *lines; /* its .debug_line, for reader_rows_without_file; NULL: not read */
	/* -- of the unit */
	Dwarf_Die unit;
	Dwarf_Half version;
	uint64_t base;
	const char *directory;
	bool qualified; /* C++: qualified names, no "struct" */
	bool clang;
	uint32_t *file_map;
	uint32_t file_map_count;
};

enum place_kind { PLACE_NONE, PLACE_ADDRESS, PLACE_FRAME, PLACE_OTHER };

/* The used attributes of one DIE. */
struct die_facts {
	Dwarf_Half tag;
	uint64_t offset;
	const char *name;
	uint64_t type, specification, origin, signature; /* offsets; 0: none */
	uint64_t low, high, size, location, bit_offset, bit_size, old_bit_offset, count,
	        encoding, value;
	uint64_t line, file, call_line, call_file, call_column;
	uint64_t address;   /* PLACE_FRAME: offset from the frame base */
	int64_t frame_base; /* from the CFA */
	bool has_frame_base, frame_on_rsp, has_low, has_high, high_is_size, has_location,
	        has_bit_offset, has_old_bit_offset, has_count, has_value, external, declaration;
	enum place_kind place;
	Dwarf_Attribute ranges; /* owned */
};

/* dwarf_facts.c. Was the call of libdwarf successful? Frees its error. */
bool reader_fine(struct dwarf_reader *r, int result, Dwarf_Error *error);
/* Keep the module's first error; frees it. */
void reader_damaged(struct dwarf_reader *r, const char *where, Dwarf_Error *error);
bool reader_number(struct dwarf_reader *r, Dwarf_Attribute attribute, uint64_t *value);
/* An offset in .debug_info (for a type unit, reader_signature's key), or 0. */
uint64_t reader_reference(struct dwarf_reader *r, Dwarf_Attribute attribute);
/* Key of a type in a type unit (-fdebug-types-section), which is referred to by signature: the
 * top bit distinguishes it from an offset. */
uint64_t reader_signature(const Dwarf_Sig8 *signature);
/* Read the used attributes of a DIE; release afterwards. */
bool reader_facts(struct dwarf_reader *r, Dwarf_Die die, struct die_facts *f);
void reader_release_facts(struct dwarf_reader *r, struct die_facts *f);
/* Greatest distance of %rsp below the CFA in a function, by its unwind table (the one in its
 * body). False when the CFA is not relative to %rsp. */
bool reader_frame_depth(struct dwarf_reader *r, uint64_t low, uint64_t high, int64_t *depth);

/* dwarf_lines.c. Map the unit's file numbers to ids; the caller frees file_map. */
void reader_files(struct dwarf_reader *r);
const char *reader_file_name(const struct dwarf_reader *r, uint64_t number); /* or "" */
/* The unit's line table. */
void reader_lines(struct dwarf_reader *r);
/* line_starts.c. By row of the unit's line table: 1 where its sequence has named no file by
 * then, so that its file is number 1. NULL: not known, or not DWARF 5. The caller's. */
GByteArray *reader_rows_without_file(struct dwarf_reader *r);
/* Add a function's or inlined body with its code ranges; returns its index. */
uint32_t reader_add_scope(struct dwarf_reader *r, const struct die_facts *f, uint32_t function,
                          uint32_t parent);

#endif
