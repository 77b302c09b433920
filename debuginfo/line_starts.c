/*
 * line_starts.c - the rows of a line table that come before its program first names a file.
 *
 * A DWARF 5 line program begins each sequence with file 1 (DWARF 5, section 6.2.2, table 6.4),
 * and so an assembler need not name it there. libdwarf 20210528 begins with file 0 instead, the
 * unit's own source, in which functions of a header then seem to lie. Its answer cannot be told
 * from that of a program that names file 0, as clang's do. So the program is read here, too:
 * which rows it makes, without their addresses and lines.
 */
#include "debuginfo/dwarf_reader.h"

#include <string.h>

/* What is left of the section's bytes. Reading past the end gives 0, and `over`. */
struct bytes {
	const uint8_t *at, *end;
	bool over;
};

static uint64_t fixed(struct bytes *b, size_t size)
{
	uint64_t value = 0;
	if ((size_t)(b->end - b->at) < size) {
		b->over = true;
		b->at = b->end;
		return 0;
	}
	memcpy(&value, b->at, size); /* little-endian, as both machines are */
	b->at += size;
	return value;
}

static void skip(struct bytes *b, uint64_t size)
{
	b->over |= (uint64_t)(b->end - b->at) < size;
	b->at = b->over ? b->end : b->at + size;
}

/* A number in LEB128; bits above the 63rd are left out. */
static uint64_t leb(struct bytes *b)
{
	uint64_t value = 0, byte = 0x80;
	for (unsigned shift = 0; byte & 0x80; shift += 7) {
		byte = fixed(b, 1);
		if (shift < 63)
			value |= (byte & 0x7f) << shift;
	}
	return value;
}

struct line_program {
	struct bytes code;
	uint8_t opcode_base, lengths[256]; /* of standard opcodes: their number of arguments */
};

/* The program at an offset of .debug_line; false: none of DWARF 5. */
static bool open_program(struct line_program *p, const uint8_t *section, size_t size,
                         uint64_t offset)
{
	if (offset >= size)
		return false;
	struct bytes b = { section + offset, section + size, false };
	uint64_t length = fixed(&b, 4), width = 4;
	if (length == 0xffffffff) {
		width = 8;
		length = fixed(&b, 8);
	}
	if (b.over || length > (uint64_t)(b.end - b.at))
		return false;
	b.end = b.at + length;
	if (fixed(&b, 2) != 5)
		return false;
	skip(&b, 2); /* sizes of an address and of a segment selector */
	uint64_t header = fixed(&b, width);
	p->code = b;
	skip(&p->code, header);
	/* the shortest instruction, operations in it, is_stmt, line base, line range */
	skip(&b, 5);
	p->opcode_base = (uint8_t)fixed(&b, 1);
	for (unsigned i = 1; i < p->opcode_base; i++)
		p->lengths[i] = (uint8_t)fixed(&b, 1);
	return p->opcode_base > 0 && !b.over && !p->code.over;
}

/* One instruction; true: it makes a row. `named`: has the sequence named a file? */
static bool step(struct line_program *p, bool *named, bool *ends)
{
	struct bytes *b = &p->code;
	unsigned opcode = (unsigned)fixed(b, 1);
	*ends = false;
	if (opcode >= p->opcode_base)
		return true;
	if (opcode == 0) {
		uint64_t length = leb(b);
		*ends = length > 0 && b->at < b->end && *b->at == DW_LNE_end_sequence;
		skip(b, length);
		return *ends;
	}
	if (opcode == DW_LNS_set_file)
		*named = true;
	if (opcode == DW_LNS_fixed_advance_pc)
		skip(b, 2);
	else
		for (unsigned i = 0; i < p->lengths[opcode]; i++)
			leb(b);
	return opcode == DW_LNS_copy;
}

/* The byte for each row: 1 where no file was named before it in its sequence. */
static GByteArray *rows_of(struct line_program *p)
{
	GByteArray *rows = g_byte_array_new();
	bool named = false, ends;
	while (p->code.at < p->code.end) {
		bool row = step(p, &named, &ends);
		const uint8_t first = !named;
		if (row && !p->code.over)
			g_byte_array_append(rows, &first, 1);
		if (ends)
			named = false;
	}
	return rows;
}

GByteArray *reader_rows_without_file(struct dwarf_reader *r)
{
	Dwarf_Error error = NULL;
	Dwarf_Attribute attribute;
	struct line_program p = { 0 };
	Dwarf_Off offset = 0;
	if (r->version < 5 ||
	    !reader_fine(r, dwarf_attr(r->unit, DW_AT_stmt_list, &attribute, &error), &error))
		return NULL;
	bool known = reader_fine(r, dwarf_global_formref(attribute, &offset, &error), &error);
	dwarf_dealloc(r->dbg, attribute, DW_DLA_ATTR);
	if (known && r->lines == NULL)
		r->lines = debuginfo_section(r->file, ".debug_line");
	return known && r->lines != NULL &&
	                       open_program(&p, g_bytes_get_data(r->lines, NULL),
	                                    g_bytes_get_size(r->lines), offset)
	               ? rows_of(&p)
	               : NULL;
}
