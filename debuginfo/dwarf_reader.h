/*
 * dwarf_reader.h - what dwarf.c, dwarf_facts.c and dwarf_lines.c share while they read one
 * module.  Nothing else includes libdwarf.
 */
#ifndef HEDDLE_DWARF_READER_H
#define HEDDLE_DWARF_READER_H

#include "debuginfo/private.h"

#include <dwarf.h>
#include <libdwarf.h>

struct reader {
	struct debuginfo *d;
	Dwarf_Debug dbg;
	GHashTable *type_ids, *function_ids, *named_ids, *file_ids; /* -> id + 1 */
	GArray *named;
	GArray *pending;       /* struct pending: variables whose name is elsewhere */
	GArray *pending_slots; /* the same for frame slots */
	GString *prefix;       /* "ns::Class::" */
	const char *closure;   /* of the unnamed class that is read: its operator()'s name */
	Dwarf_Fde *fdes;       /* unwinding rows, from .eh_frame; NULL where there are none */
	/* of the unit */
	Dwarf_Die unit;
	Dwarf_Half version;
	uint64_t base;
	const char *directory;
	bool qualified; /* C++: names with their scope, no "struct" */
	bool clang;
	uint32_t *file_map;
	uint32_t file_map_count;
};

enum place_kind { PLACE_NONE, PLACE_ADDRESS, PLACE_FRAME, PLACE_OTHER };

struct facts { /* the attributes of one DIE that we use */
	Dwarf_Half tag;
	uint64_t offset;
	const char *name;
	uint64_t type, specification, origin, signature; /* offsets; 0 none */
	uint64_t low, high, size, location, bit_offset, bit_size, old_bit_offset, count;
	uint64_t line, file, call_line, call_file, call_column;
	uint64_t address;   /* PLACE_FRAME: the offset from the frame base */
	int64_t frame_base; /* from the CFA */
	bool has_frame_base, frame_on_rsp, has_low, has_high, high_is_size, has_location,
	        has_bit_offset, has_old_bit_offset, has_count, external, declaration,
	        artificial;
	enum place_kind place;
	Dwarf_Attribute ranges; /* owned */
};

/* dwarf_facts.c: did libdwarf say yes?  Its error, if there is one, is freed. */
bool reader_fine(struct reader *r, int result, Dwarf_Error *error);
/* Keeps the first fault as the module's damage; frees the error. */
void reader_damaged(struct reader *r, const char *where, Dwarf_Error *error);
bool reader_number(struct reader *r, Dwarf_Attribute attribute, uint64_t *value);
/* An offset in .debug_info, or 0; of a type in a unit of its own reader_signature's key. */
uint64_t reader_reference(struct reader *r, Dwarf_Attribute attribute);
/*
 * A type in a unit of its own (-fdebug-types-section) is referred to by its signature,
 * which stands in for its offset: the top bit tells the two apart.
 */
uint64_t reader_signature(const Dwarf_Sig8 *signature);
/* All attributes of a DIE that we use; to be released. */
bool reader_facts(struct reader *r, Dwarf_Die die, struct facts *f);
void reader_release_facts(struct reader *r, struct facts *f);
/* How far %rsp is below the CFA in the body of a function: as far as its unwinding rows say at
 * most (before and after the body it is nearer).  False when it is not counted from %rsp. */
bool reader_frame_depth(struct reader *r, uint64_t low, uint64_t high, int64_t *depth);

/* dwarf_lines.c: the unit's file numbers (as decl_file and call_file have them) to our ids;
 * file_map is the caller's to free. */
void reader_files(struct reader *r);
const char *reader_file_name(const struct reader *r, uint64_t number); /* or "" */
/* The unit's line table. */
void reader_lines(struct reader *r);
/* A function's body or an inlined one, with its ranges of code; its index. */
uint32_t reader_add_scope(struct reader *r, const struct facts *f, uint32_t function,
                          uint32_t parent);

#endif
