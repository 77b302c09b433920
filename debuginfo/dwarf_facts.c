/*
 * dwarf_facts.c - reads the attributes of one DIE into struct die_facts: forms, locations,
 * references, frame bases.
 */
#include "debuginfo/dwarf_reader.h"

#include <stddef.h>
#include <string.h>

/* --- libdwarf's conventions ------------------------------------------------------------ */

bool reader_fine(struct dwarf_reader *r, int result, Dwarf_Error *error)
{
	if (result == DW_DLV_ERROR && *error != NULL) {
		dwarf_dealloc_error(r->dbg, *error);
		*error = NULL;
	}
	return result == DW_DLV_OK;
}

void reader_damaged(struct dwarf_reader *r, const char *where, Dwarf_Error *error)
{
	if (r->d->damage == NULL)
		r->d->damage = g_strdup_printf(
		        "%s: %s", where, *error ? dwarf_errmsg(*error) : "no reason given");
	if (*error != NULL)
		dwarf_dealloc_error(r->dbg, *error);
	*error = NULL;
}

bool reader_number(struct dwarf_reader *r, Dwarf_Attribute attribute, uint64_t *value)
{
	Dwarf_Error error = NULL;
	Dwarf_Unsigned u;
	Dwarf_Signed s;
	if (reader_fine(r, dwarf_formudata(attribute, &u, &error), &error)) {
		*value = u;
		return true;
	}
	if (reader_fine(r, dwarf_formsdata(attribute, &s, &error), &error)) {
		*value = (uint64_t)s;
		return true;
	}
	return false;
}

uint64_t reader_signature(const Dwarf_Sig8 *signature)
{
	uint64_t key;
	memcpy(&key, signature->signature, sizeof key);
	return key | UINT64_C(1) << 63;
}

static uint64_t signed_type(struct dwarf_reader *r, Dwarf_Attribute attribute)
{
	Dwarf_Error error = NULL;
	Dwarf_Sig8 signature;
	return reader_fine(r, dwarf_formsig8(attribute, &signature, &error), &error)
	               ? reader_signature(&signature)
	               : 0;
}

uint64_t reader_reference(struct dwarf_reader *r, Dwarf_Attribute attribute)
{
	Dwarf_Error error = NULL;
	Dwarf_Off offset;
	Dwarf_Half form;
	if (reader_fine(r, dwarf_whatform(attribute, &form, &error), &error) &&
	    form == DW_FORM_ref_sig8)
		return signed_type(r, attribute);
	return reader_fine(r, dwarf_global_formref(attribute, &offset, &error), &error) ? offset
	                                                                                : 0;
}

static bool read_flag(struct dwarf_reader *r, Dwarf_Attribute attribute)
{
	Dwarf_Error error = NULL;
	Dwarf_Bool value;
	return reader_fine(r, dwarf_formflag(attribute, &value, &error), &error) && value;
}

static uint64_t read_leb(const uint8_t **at, const uint8_t *end)
{
	uint64_t value = 0;
	for (unsigned shift = 0; *at < end; shift += 7) {
		uint8_t byte = *(*at)++;
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			break;
	}
	return value;
}

static int64_t read_signed_leb(const uint8_t **at, const uint8_t *end)
{
	const uint8_t *begin = *at;
	int64_t value = (int64_t)read_leb(at, end);
	unsigned bits = (unsigned)(*at - begin) * 7;
	if (bits > 0 && bits < 64 && (*at)[-1] & 0x40)
		value -= INT64_C(1) << bits;
	return value;
}

static bool read_expression(struct dwarf_reader *r, Dwarf_Attribute attribute,
                            const uint8_t **at, const uint8_t **end)
{
	Dwarf_Error error = NULL;
	Dwarf_Unsigned length;
	Dwarf_Ptr block;
	if (!reader_fine(r, dwarf_formexprloc(attribute, &length, &block, &error), &error)) {
		Dwarf_Block *old; /* DWARF 2 and 3 */
		if (!reader_fine(r, dwarf_formblock(attribute, &old, &error), &error))
			return false;
		length = old->bl_len;
		block = old->bl_data;
		dwarf_dealloc(r->dbg, old, DW_DLA_BLOCK);
	}
	*at = block;
	*end = *at + length;
	return true;
}

/* A thread-local variable's offset in its module's block of them, behind the operation that
 * pushes it. */
static bool read_thread_local(const uint8_t *at, const uint8_t *end, uint64_t *address)
{
	size_t bytes = at[-1] == DW_OP_const8u ? 8 : at[-1] == DW_OP_const4u ? 4 : 0;
	uint64_t offset = 0;
	if (bytes == 0 || end - at != (ptrdiff_t)bytes + 1 ||
	    (at[bytes] != DW_OP_form_tls_address && at[bytes] != DW_OP_GNU_push_tls_address))
		return false;
	memcpy(&offset, at, bytes);
	*address = DEBUG_THREAD_LOCAL + offset;
	return true;
}

/* A location that is a static or thread-local address, or a fixed place in the frame; others
 * (register, stack value) are PLACE_OTHER. */
static enum place_kind fixed_place(struct dwarf_reader *r, Dwarf_Die die,
                                   Dwarf_Attribute attribute, uint64_t *address)
{
	Dwarf_Error error = NULL;
	const uint8_t *at, *end;
	if (!read_expression(r, attribute, &at, &end))
		return PLACE_OTHER;
	if (at == end)
		return PLACE_NONE;
	uint8_t op = *at++;
	if (op == DW_OP_addr && end - at >= 8) {
		memcpy(address, at, 8);
		at += 8;
	} else if (op == DW_OP_addrx || op == DW_OP_GNU_addr_index) {
		Dwarf_Addr value;
		uint64_t index = read_leb(&at, end);
		if (!reader_fine(r, dwarf_debug_addr_index_to_addr(die, index, &value, &error),
		                 &error))
			return PLACE_OTHER;
		*address = value;
	} else if (op == DW_OP_fbreg) {
		*address = (uint64_t)read_signed_leb(&at, end);
		return at == end ? PLACE_FRAME : PLACE_OTHER;
	} else
		return read_thread_local(at, end, address) ? PLACE_ADDRESS : PLACE_OTHER;
	if (at < end && *at == DW_OP_plus_uconst) {
		at++;
		*address += read_leb(&at, end);
	}
	return at == end ? PLACE_ADDRESS : PLACE_OTHER;
}

/* The frame base: the CFA (gcc), %rbp (clang -O0), or %rsp (clang -O1), whose distance from the
 * CFA read_function computes. */
static void read_frame_base(struct dwarf_reader *r, Dwarf_Attribute attribute,
                            struct die_facts *f)
{
	enum { RBP_BELOW_CFA = 16 };
	const uint8_t *at, *end;
	if (!read_expression(r, attribute, &at, &end) || end - at != 1)
		return;
	f->has_frame_base =
	        *at == DW_OP_call_frame_cfa || *at == DW_OP_reg6 || *at == DW_OP_reg7;
	f->frame_base = *at == DW_OP_reg6 ? -RBP_BELOW_CFA : 0;
	f->frame_on_rsp = *at == DW_OP_reg7;
}

bool reader_frame_depth(struct dwarf_reader *r, uint64_t low, uint64_t high, int64_t *depth)
{
	enum { RSP = 7 };
	Dwarf_Error error = NULL;
	Dwarf_Fde fde;
	Dwarf_Addr first, last, row, next;
	*depth = 0;
	if (r->fdes == NULL ||
	    !reader_fine(r, dwarf_get_fde_at_pc(r->fdes, low, &fde, &first, &last, &error),
	                 &error))
		return false;
	for (Dwarf_Bool more = true; more && low < high; low = next) {
		Dwarf_Small kind;
		Dwarf_Signed relevant, base, offset;
		Dwarf_Ptr block;
		if (!reader_fine(r,
		                 dwarf_get_fde_info_for_cfa_reg3_b(fde, low, &kind, &relevant,
		                                                   &base, &offset, &block, &row,
		                                                   &more, &next, &error),
		                 &error) ||
		    kind != DW_EXPR_OFFSET || base != RSP || (more && next <= low))
			return false;
		*depth = MAX(*depth, offset);
	}
	return true;
}

static uint64_t member_offset(struct dwarf_reader *r, Dwarf_Attribute attribute, bool *known)
{
	uint64_t value = 0;
	Dwarf_Error error = NULL;
	Dwarf_Unsigned length;
	Dwarf_Ptr block;
	*known = true;
	if (reader_number(r, attribute, &value))
		return value;
	if (reader_fine(r, dwarf_formexprloc(attribute, &length, &block, &error), &error)) {
		const uint8_t *at = block, *end = at + length;
		if (length > 1 && *at == DW_OP_plus_uconst) {
			at++;
			return read_leb(&at, end);
		}
	}
	*known = false; /* a virtual base has no fixed place */
	return 0;
}

/* Attributes that are copied to a member of struct die_facts unchanged. */
enum plain { NOT_PLAIN, NUMBER, REFERENCE, FLAG };
#define TO(member) offsetof(struct die_facts, member)
static const struct {
	enum plain kind;
	size_t to, has; /* offset of the member, and of its presence flag (0: none) */
} plain_attributes[] = {
	[DW_AT_type] = { REFERENCE, TO(type), 0 },
	[DW_AT_specification] = { REFERENCE, TO(specification), 0 },
	[DW_AT_abstract_origin] = { REFERENCE, TO(origin), 0 },
	[DW_AT_byte_size] = { NUMBER, TO(size), 0 },
	[DW_AT_decl_line] = { NUMBER, TO(line), 0 },
	[DW_AT_decl_file] = { NUMBER, TO(file), 0 },
	[DW_AT_call_line] = { NUMBER, TO(call_line), 0 },
	[DW_AT_call_file] = { NUMBER, TO(call_file), 0 },
	[DW_AT_call_column] = { NUMBER, TO(call_column), 0 },
	[DW_AT_bit_size] = { NUMBER, TO(bit_size), 0 },
	[DW_AT_data_bit_offset] = { NUMBER, TO(bit_offset), TO(has_bit_offset) },
	[DW_AT_bit_offset] = { NUMBER, TO(old_bit_offset), TO(has_old_bit_offset) },
	[DW_AT_count] = { NUMBER, TO(count), TO(has_count) },
	[DW_AT_encoding] = { NUMBER, TO(encoding), 0 },
	[DW_AT_const_value] = { NUMBER, TO(value), TO(has_value) },
	[DW_AT_external] = { FLAG, TO(external), 0 },
	[DW_AT_declaration] = { FLAG, TO(declaration), 0 },
};

static bool read_plain(struct dwarf_reader *r, Dwarf_Attribute a, Dwarf_Half which,
                       struct die_facts *f)
{
	enum plain kind = which < sizeof plain_attributes / sizeof *plain_attributes
	                          ? plain_attributes[which].kind
	                          : NOT_PLAIN;
	if (kind == NOT_PLAIN)
		return false;
	char *to = (char *)f + plain_attributes[which].to;
	bool known = true;
	if (kind == FLAG)
		*(bool *)to = read_flag(r, a);
	else if (kind == REFERENCE)
		*(uint64_t *)(void *)to = reader_reference(r, a);
	else
		known = reader_number(r, a, (uint64_t *)(void *)to);
	if (plain_attributes[which].has)
		*(bool *)((char *)f + plain_attributes[which].has) = known;
	return true;
}

/* The last index of an array without a count. */
static void read_upper_bound(struct dwarf_reader *r, Dwarf_Attribute a, struct die_facts *f)
{
	if (f->has_count || !reader_number(r, a, &f->count) || f->count >= UINT64_MAX / 2)
		return;
	f->has_count = true;
	f->count++;
}

static void read_attribute(struct dwarf_reader *r, Dwarf_Die die, Dwarf_Attribute a,
                           Dwarf_Half which, struct die_facts *f)
{
	Dwarf_Error error = NULL;
	char *text;
	Dwarf_Addr address;
	if (read_plain(r, a, which, f))
		return;
	switch (which) {
	case DW_AT_name:
		if (reader_fine(r, dwarf_formstring(a, &text, &error), &error))
			f->name = text;
		break;
	case DW_AT_signature:
		f->signature = signed_type(r, a);
		break;
	case DW_AT_data_member_location:
		f->location = member_offset(r, a, &f->has_location);
		break;
	case DW_AT_upper_bound:
		read_upper_bound(r, a, f);
		break;
	case DW_AT_low_pc:
		f->has_low = reader_fine(r, dwarf_formaddr(a, &address, &error), &error);
		f->low = f->has_low ? address : 0;
		break;
	case DW_AT_high_pc:
		if (reader_fine(r, dwarf_formaddr(a, &address, &error), &error)) {
			f->high = address;
			f->has_high = true;
		} else
			f->has_high = f->high_is_size = reader_number(r, a, &f->high);
		break;
	case DW_AT_location:
		f->place = fixed_place(r, die, a, &f->address);
		break;
	case DW_AT_frame_base:
		read_frame_base(r, a, f);
		break;
	default:
		break;
	}
}

bool reader_facts(struct dwarf_reader *r, Dwarf_Die die, struct die_facts *f)
{
	Dwarf_Error error = NULL;
	Dwarf_Attribute *list;
	Dwarf_Signed count;
	Dwarf_Off offset;
	memset(f, 0, sizeof *f);
	if (!reader_fine(r, dwarf_tag(die, &f->tag, &error), &error) ||
	    !reader_fine(r, dwarf_dieoffset(die, &offset, &error), &error))
		return false;
	f->offset = offset;
	int result = dwarf_attrlist(die, &list, &count, &error);
	if (result == DW_DLV_ERROR)
		reader_damaged(r, "attributes", &error);
	if (result != DW_DLV_OK)
		return result == DW_DLV_NO_ENTRY;
	for (Dwarf_Signed i = 0; i < count; i++) {
		Dwarf_Half which;
		if (reader_fine(r, dwarf_whatattr(list[i], &which, &error), &error)) {
			if (which == DW_AT_ranges && f->ranges == NULL) {
				f->ranges = list[i];
				continue;
			}
			read_attribute(r, die, list[i], which, f);
		}
		dwarf_dealloc(r->dbg, list[i], DW_DLA_ATTR);
	}
	dwarf_dealloc(r->dbg, list, DW_DLA_LIST);
	if (f->has_high && f->high_is_size)
		f->high += f->low;
	return true;
}

void reader_release_facts(struct dwarf_reader *r, struct die_facts *f)
{
	if (f->ranges != NULL)
		dwarf_dealloc(r->dbg, f->ranges, DW_DLA_ATTR);
}
