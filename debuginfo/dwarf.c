/*
 * dwarf.c - reads a module's DWARF (versions 2 to 5, of gcc and clang) once, into the
 * arrays of private.h.  The only file that includes libdwarf; nothing of libdwarf is kept
 * after debuginfo_read_dwarf has returned.
 *
 * Entities refer to each other by their offset in .debug_info, also forwards, so an offset
 * is given an id at its first mention and the id is filled in when its DIE is met.
 */
#include "debuginfo/private.h"

#include <dwarf.h>
#include <libdwarf.h>
#include <string.h>

#define DEEPEST 200 /* nesting of DIEs; deeper ones are corrupt */

struct named { /* a variable's or parameter's DIE, for those that refer to it */
	const char *name;
	const char *file;
	uint32_t type, line;
	bool external;
};

struct reader {
	struct debuginfo *d;
	Dwarf_Debug dbg;
	GHashTable *type_ids, *function_ids, *named_ids, *file_ids; /* -> id + 1 */
	GArray *named;
	GArray *pending;       /* struct pending: variables whose name is elsewhere */
	GArray *pending_slots; /* the same for frame slots */
	GString *prefix;       /* "ns::Class::" */
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

struct pending {
	uint32_t variable;
	uint64_t origin;
};

struct level {                       /* what a DIE's children lie in */
	uint32_t function;           /* or NONE */
	uint32_t frame;              /* the function whose frame it is; NONE: not known where */
	int64_t frame_base;          /* what DW_OP_fbreg counts from, from the CFA */
	uint32_t scope;              /* or NONE */
	uint32_t type;               /* struct or array whose children these are, or NONE */
	GArray *parameters, *locals; /* struct debug_local, collected for `function`; or NULL */
	unsigned depth;
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

/* --- libdwarf's manners ------------------------------------------------------------- */

static bool fine(struct reader *r, int result, Dwarf_Error *error)
{
	if (result == DW_DLV_ERROR && *error != NULL) {
		dwarf_dealloc_error(r->dbg, *error);
		*error = NULL;
	}
	return result == DW_DLV_OK;
}

static void damaged(struct reader *r, const char *where, Dwarf_Error *error)
{
	if (r->d->damage == NULL)
		r->d->damage = g_strdup_printf(
		        "%s: %s", where, *error ? dwarf_errmsg(*error) : "no reason given");
	if (*error != NULL)
		dwarf_dealloc_error(r->dbg, *error);
	*error = NULL;
}

static bool number(struct reader *r, Dwarf_Attribute attribute, uint64_t *value)
{
	Dwarf_Error error = NULL;
	Dwarf_Unsigned u;
	Dwarf_Signed s;
	if (fine(r, dwarf_formudata(attribute, &u, &error), &error)) {
		*value = u;
		return true;
	}
	if (fine(r, dwarf_formsdata(attribute, &s, &error), &error)) {
		*value = (uint64_t)s;
		return true;
	}
	return false;
}

/*
 * A type in a unit of its own (-fdebug-types-section) is referred to by its signature,
 * which stands in for its offset: the top bit tells the two apart.
 */
static uint64_t signature_key(const Dwarf_Sig8 *signature)
{
	uint64_t key;
	memcpy(&key, signature->signature, sizeof key);
	return key | UINT64_C(1) << 63;
}

static uint64_t signed_type(struct reader *r, Dwarf_Attribute attribute)
{
	Dwarf_Error error = NULL;
	Dwarf_Sig8 signature;
	return fine(r, dwarf_formsig8(attribute, &signature, &error), &error)
	               ? signature_key(&signature)
	               : 0;
}

static uint64_t reference(struct reader *r, Dwarf_Attribute attribute)
{
	Dwarf_Error error = NULL;
	Dwarf_Off offset;
	Dwarf_Half form;
	if (fine(r, dwarf_whatform(attribute, &form, &error), &error) &&
	    form == DW_FORM_ref_sig8)
		return signed_type(r, attribute);
	return fine(r, dwarf_global_formref(attribute, &offset, &error), &error) ? offset : 0;
}

static bool flag(struct reader *r, Dwarf_Attribute attribute)
{
	Dwarf_Error error = NULL;
	Dwarf_Bool value;
	return fine(r, dwarf_formflag(attribute, &value, &error), &error) && value;
}

static uint64_t leb(const uint8_t **at, const uint8_t *end)
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

static int64_t signed_leb(const uint8_t **at, const uint8_t *end)
{
	const uint8_t *begin = *at;
	int64_t value = (int64_t)leb(at, end);
	unsigned bits = (unsigned)(*at - begin) * 7;
	if (bits > 0 && bits < 64 && (*at)[-1] & 0x40)
		value -= INT64_C(1) << bits;
	return value;
}

static bool expression(struct reader *r, Dwarf_Attribute attribute, const uint8_t **at,
                       const uint8_t **end)
{
	Dwarf_Error error = NULL;
	Dwarf_Unsigned length;
	Dwarf_Ptr block;
	if (!fine(r, dwarf_formexprloc(attribute, &length, &block, &error), &error)) {
		Dwarf_Block *old; /* DWARF 2 and 3 */
		if (!fine(r, dwarf_formblock(attribute, &old, &error), &error))
			return false;
		length = old->bl_len;
		block = old->bl_data;
		dwarf_dealloc(r->dbg, old, DW_DLA_BLOCK);
	}
	*at = block;
	*end = *at + length;
	return true;
}

/* A static address or a fixed place in the frame, and nothing more (no register, no stack
 * value, no thread-local). */
static enum place_kind fixed_place(struct reader *r, Dwarf_Die die, Dwarf_Attribute attribute,
                                   uint64_t *address)
{
	Dwarf_Error error = NULL;
	const uint8_t *at, *end;
	if (!expression(r, attribute, &at, &end))
		return PLACE_OTHER;
	if (at == end)
		return PLACE_NONE;
	uint8_t op = *at++;
	if (op == DW_OP_addr && end - at >= 8) {
		memcpy(address, at, 8);
		at += 8;
	} else if (op == DW_OP_addrx || op == DW_OP_GNU_addr_index) {
		Dwarf_Addr value;
		uint64_t index = leb(&at, end);
		if (!fine(r, dwarf_debug_addr_index_to_addr(die, index, &value, &error),
		          &error))
			return PLACE_OTHER;
		*address = value;
	} else if (op == DW_OP_fbreg) {
		*address = (uint64_t)signed_leb(&at, end);
		return at == end ? PLACE_FRAME : PLACE_OTHER;
	} else
		return PLACE_OTHER;
	if (at < end && *at == DW_OP_plus_uconst) {
		at++;
		*address += leb(&at, end);
	}
	return at == end ? PLACE_ADDRESS : PLACE_OTHER;
}

/*
 * The CFA itself (gcc), %rbp of a frame that has it (clang -O0), or %rsp (clang -O1), whose
 * distance from the CFA read_function finds out.
 */
static void read_frame_base(struct reader *r, Dwarf_Attribute attribute, struct facts *f)
{
	enum { RBP_BELOW_CFA = 16 };
	const uint8_t *at, *end;
	if (!expression(r, attribute, &at, &end) || end - at != 1)
		return;
	f->has_frame_base =
	        *at == DW_OP_call_frame_cfa || *at == DW_OP_reg6 || *at == DW_OP_reg7;
	f->frame_base = *at == DW_OP_reg6 ? -RBP_BELOW_CFA : 0;
	f->frame_on_rsp = *at == DW_OP_reg7;
}

/* How far %rsp is below the CFA in the body of a function: as far as its unwinding rows say at
 * most (before and after the body it is nearer).  False when it is not counted from %rsp. */
static bool frame_depth(struct reader *r, uint64_t low, uint64_t high, int64_t *depth)
{
	enum { RSP = 7 };
	Dwarf_Error error = NULL;
	Dwarf_Fde fde;
	Dwarf_Addr first, last, row, next;
	*depth = 0;
	if (r->fdes == NULL ||
	    !fine(r, dwarf_get_fde_at_pc(r->fdes, low, &fde, &first, &last, &error), &error))
		return false;
	for (Dwarf_Bool more = true; more && low < high; low = next) {
		Dwarf_Small kind;
		Dwarf_Signed relevant, base, offset;
		Dwarf_Ptr block;
		if (!fine(r,
		          dwarf_get_fde_info_for_cfa_reg3_b(fde, low, &kind, &relevant, &base,
		                                            &offset, &block, &row, &more, &next,
		                                            &error),
		          &error) ||
		    kind != DW_EXPR_OFFSET || base != RSP || (more && next <= low))
			return false;
		*depth = MAX(*depth, offset);
	}
	return true;
}

static uint64_t member_offset(struct reader *r, Dwarf_Attribute attribute, bool *known)
{
	uint64_t value = 0;
	Dwarf_Error error = NULL;
	Dwarf_Unsigned length;
	Dwarf_Ptr block;
	*known = true;
	if (number(r, attribute, &value))
		return value;
	if (fine(r, dwarf_formexprloc(attribute, &length, &block, &error), &error)) {
		const uint8_t *at = block, *end = at + length;
		if (length > 1 && *at == DW_OP_plus_uconst) {
			at++;
			return leb(&at, end);
		}
	}
	*known = false; /* a virtual base: its place is not fixed */
	return 0;
}

static void read_attribute(struct reader *r, Dwarf_Die die, Dwarf_Attribute a, Dwarf_Half which,
                           struct facts *f)
{
	Dwarf_Error error = NULL;
	char *text;
	Dwarf_Addr address;
	switch (which) {
	case DW_AT_name:
		if (fine(r, dwarf_formstring(a, &text, &error), &error))
			f->name = text;
		break;
	case DW_AT_type:
		f->type = reference(r, a);
		break;
	case DW_AT_signature:
		f->signature = signed_type(r, a);
		break;
	case DW_AT_specification:
		f->specification = reference(r, a);
		break;
	case DW_AT_abstract_origin:
		f->origin = reference(r, a);
		break;
	case DW_AT_byte_size:
		number(r, a, &f->size);
		break;
	case DW_AT_decl_line:
		number(r, a, &f->line);
		break;
	case DW_AT_decl_file:
		number(r, a, &f->file);
		break;
	case DW_AT_call_line:
		number(r, a, &f->call_line);
		break;
	case DW_AT_call_file:
		number(r, a, &f->call_file);
		break;
	case DW_AT_call_column:
		number(r, a, &f->call_column);
		break;
	case DW_AT_external:
		f->external = flag(r, a);
		break;
	case DW_AT_declaration:
		f->declaration = flag(r, a);
		break;
	case DW_AT_artificial:
		f->artificial = flag(r, a);
		break;
	case DW_AT_bit_size:
		number(r, a, &f->bit_size);
		break;
	case DW_AT_data_bit_offset:
		f->has_bit_offset = number(r, a, &f->bit_offset);
		break;
	case DW_AT_bit_offset:
		f->has_old_bit_offset = number(r, a, &f->old_bit_offset);
		break;
	case DW_AT_data_member_location:
		f->location = member_offset(r, a, &f->has_location);
		break;
	case DW_AT_count:
		f->has_count = number(r, a, &f->count);
		break;
	case DW_AT_upper_bound:
		if (!f->has_count && number(r, a, &f->count) && f->count < UINT64_MAX / 2) {
			f->has_count = true;
			f->count++;
		}
		break;
	case DW_AT_low_pc:
		f->has_low = fine(r, dwarf_formaddr(a, &address, &error), &error);
		f->low = f->has_low ? address : 0;
		break;
	case DW_AT_high_pc:
		if (fine(r, dwarf_formaddr(a, &address, &error), &error)) {
			f->high = address;
			f->has_high = true;
		} else
			f->has_high = f->high_is_size = number(r, a, &f->high);
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

static bool read_facts(struct reader *r, Dwarf_Die die, struct facts *f)
{
	Dwarf_Error error = NULL;
	Dwarf_Attribute *list;
	Dwarf_Signed count;
	Dwarf_Off offset;
	memset(f, 0, sizeof *f);
	if (!fine(r, dwarf_tag(die, &f->tag, &error), &error) ||
	    !fine(r, dwarf_dieoffset(die, &offset, &error), &error))
		return false;
	f->offset = offset;
	int result = dwarf_attrlist(die, &list, &count, &error);
	if (result == DW_DLV_ERROR)
		damaged(r, "attributes", &error);
	if (result != DW_DLV_OK)
		return result == DW_DLV_NO_ENTRY;
	for (Dwarf_Signed i = 0; i < count; i++) {
		Dwarf_Half which;
		if (fine(r, dwarf_whatattr(list[i], &which, &error), &error)) {
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

static void release_facts(struct reader *r, struct facts *f)
{
	if (f->ranges != NULL)
		dwarf_dealloc(r->dbg, f->ranges, DW_DLA_ATTR);
}

/* --- ids ---------------------------------------------------------------------------- */

static uint32_t id_at(GHashTable *ids, uint64_t offset)
{
	return GPOINTER_TO_UINT(g_hash_table_lookup(ids, GSIZE_TO_POINTER(offset))) - 1;
}

static void id_set(GHashTable *ids, uint64_t offset, uint32_t id)
{
	g_hash_table_insert(ids, GSIZE_TO_POINTER(offset), GUINT_TO_POINTER(id + 1));
}

static uint32_t type_id(struct reader *r, uint64_t offset)
{
	if (offset == 0)
		return NONE;
	uint32_t id = id_at(r->type_ids, offset);
	if (id == NONE) {
		struct type_record type = {
			.public = { .kind = TYPE_UNKNOWN, .name = "", .target = NONE }
		};
		id = r->d->types->len;
		g_array_append_val(r->d->types, type);
		id_set(r->type_ids, offset, id);
	}
	return id;
}

static uint32_t function_id(struct reader *r, uint64_t offset)
{
	if (offset == 0)
		return NONE;
	uint32_t id = id_at(r->function_ids, offset);
	if (id == NONE) {
		struct function_record function = { .public = { .name = "", .file = "" },
			                            .origin = NONE };
		id = r->d->functions->len;
		g_array_append_val(r->d->functions, function);
		id_set(r->function_ids, offset, id);
	}
	return id;
}

/* --- files and lines ---------------------------------------------------------------- */

static uint32_t file_id(struct reader *r, const char *path)
{
	uint32_t id = GPOINTER_TO_UINT(g_hash_table_lookup(r->file_ids, path)) - 1;
	if (id != NONE)
		return id;
	const char *own = debuginfo_intern(r->d, path);
	struct file_name name = { own, own };
	size_t length = strlen(r->directory);
	if (length > 0 && strncmp(own, r->directory, length) == 0 && own[length] == '/')
		name.file = own + length + 1;
	while (strncmp(name.file, "./", 2) == 0)
		name.file += 2;
	id = r->d->files->len;
	g_array_append_val(r->d->files, name);
	g_hash_table_insert(r->file_ids, (gpointer)own, GUINT_TO_POINTER(id + 1));
	return id;
}

/* The unit's file numbers (as decl_file and call_file have them) to our ids. */
static void read_files(struct reader *r)
{
	Dwarf_Error error = NULL;
	char **names;
	Dwarf_Signed count;
	r->file_map = NULL;
	r->file_map_count = 0;
	if (!fine(r, dwarf_srcfiles(r->unit, &names, &count, &error), &error))
		return;
	/* Numbers begin at 1 before DWARF 5, at 0 since. */
	uint32_t first = r->version >= 5 ? 0 : 1;
	r->file_map_count = (uint32_t)count + first;
	r->file_map = g_new(uint32_t, r->file_map_count + 1);
	memset(r->file_map, 0xff, sizeof(uint32_t) * (r->file_map_count + 1));
	for (Dwarf_Signed i = 0; i < count; i++) {
		r->file_map[i + first] = file_id(r, names[i]);
		dwarf_dealloc(r->dbg, names[i], DW_DLA_STRING);
	}
	dwarf_dealloc(r->dbg, names, DW_DLA_LIST);
}

static uint32_t mapped_file(const struct reader *r, uint64_t number)
{
	return number < r->file_map_count ? r->file_map[number] : NONE;
}

static const char *mapped_name(const struct reader *r, uint64_t number)
{
	uint32_t file = mapped_file(r, number);
	return file == NONE ? "" : AT(r->d->files, struct file_name, file)->file;
}

/* libdwarf builds a path for every row that asks: ask once for each file number. */
static uint32_t line_file(struct reader *r, Dwarf_Line line, GArray *seen)
{
	Dwarf_Error error = NULL;
	Dwarf_Unsigned n;
	char *path;
	if (!fine(r, dwarf_line_srcfileno(line, &n, &error), &error) || n > 1 << 20)
		return NONE - 1;
	while (seen->len <= n) {
		uint32_t none = NONE;
		g_array_append_val(seen, none);
	}
	uint32_t *file = AT(seen, uint32_t, n);
	if (*file == NONE) {
		*file = NONE - 1;
		if (fine(r, dwarf_linesrc(line, &path, &error), &error)) {
			*file = file_id(r, path);
			dwarf_dealloc(r->dbg, path, DW_DLA_STRING);
		}
	}
	return *file;
}

static bool read_row(struct reader *r, Dwarf_Line line, GArray *seen, struct line_row *row)
{
	Dwarf_Error error = NULL;
	Dwarf_Addr address;
	Dwarf_Unsigned value;
	Dwarf_Bool end = 0;
	if (!fine(r, dwarf_lineaddr(line, &address, &error), &error) ||
	    !fine(r, dwarf_lineendsequence(line, &end, &error), &error))
		return false;
	*row = (struct line_row){ .address = address, .file = NONE, .order = r->d->lines->len };
	if (end)
		return true;
	row->file = line_file(r, line, seen);
	if (fine(r, dwarf_lineno(line, &value, &error), &error))
		row->line = (uint32_t)value;
	if (fine(r, dwarf_lineoff_b(line, &value, &error), &error))
		row->column = (uint32_t)value;
	return true;
}

static void read_lines(struct reader *r)
{
	Dwarf_Error error = NULL;
	Dwarf_Unsigned version;
	Dwarf_Small tables;
	Dwarf_Line_Context context = NULL;
	Dwarf_Line *lines;
	Dwarf_Signed count;
	int result = dwarf_srclines_b(r->unit, &version, &tables, &context, &error);
	if (result == DW_DLV_ERROR)
		damaged(r, "line table", &error);
	if (result != DW_DLV_OK)
		return;
	if (fine(r, dwarf_srclines_from_linecontext(context, &lines, &count, &error), &error)) {
		GArray *seen = g_array_new(FALSE, FALSE, sizeof(uint32_t));
		bool dropped = false; /* a function that the linker left out: it lies at 0 */
		bool begins = true;
		for (Dwarf_Signed i = 0; i < count; i++) {
			struct line_row row;
			if (!read_row(r, lines[i], seen, &row))
				break;
			if (begins)
				dropped = row.address == 0 || row.address >= UINT64_MAX - 1;
			begins = row.file == NONE;
			if (!dropped)
				g_array_append_val(r->d->lines, row);
		}
		g_array_unref(seen);
	}
	dwarf_srclines_dealloc_b(context);
}

/* --- ranges ------------------------------------------------------------------------- */

static void add_range(struct reader *r, uint32_t scope, uint64_t low, uint64_t high)
{
	if (low == 0 || high <= low)
		return;
	struct scope_range range = { low, high, scope };
	g_array_append_val(r->d->ranges, range);
}

static void add_ranges_4(struct reader *r, uint64_t offset, uint32_t scope)
{
	Dwarf_Error error = NULL;
	Dwarf_Ranges *list;
	Dwarf_Signed count;
	Dwarf_Unsigned bytes;
	Dwarf_Off real;
	if (!fine(r,
	          dwarf_get_ranges_b(r->dbg, offset, r->unit, &real, &list, &count, &bytes,
	                             &error),
	          &error))
		return;
	uint64_t base = r->base;
	for (Dwarf_Signed i = 0; i < count; i++) {
		if (list[i].dwr_type == DW_RANGES_ADDRESS_SELECTION)
			base = list[i].dwr_addr2;
		else if (list[i].dwr_type == DW_RANGES_ENTRY)
			add_range(r, scope, base + list[i].dwr_addr1, base + list[i].dwr_addr2);
		else
			break;
	}
	dwarf_ranges_dealloc(r->dbg, list, count);
}

static void add_ranges_5(struct reader *r, Dwarf_Attribute attribute, Dwarf_Half form,
                         uint64_t value, uint32_t scope)
{
	Dwarf_Error error = NULL;
	Dwarf_Rnglists_Head head;
	Dwarf_Unsigned count, global;
	if (!fine(r,
	          dwarf_rnglists_get_rle_head(attribute, form, value, &head, &count, &global,
	                                      &error),
	          &error))
		return;
	for (Dwarf_Unsigned i = 0; i < count; i++) {
		unsigned length, kind;
		Dwarf_Unsigned raw1, raw2, low, high;
		Dwarf_Bool unavailable;
		if (!fine(r,
		          dwarf_get_rnglists_entry_fields_a(head, i, &length, &kind, &raw1,
		                                            &raw2, &unavailable, &low, &high,
		                                            &error),
		          &error) ||
		    kind == DW_RLE_end_of_list)
			break;
		if (kind != DW_RLE_base_address && kind != DW_RLE_base_addressx && !unavailable)
			add_range(r, scope, low, high);
	}
	dwarf_dealloc_rnglists_head(head);
}

static void add_ranges(struct reader *r, const struct facts *f, uint32_t scope)
{
	Dwarf_Error error = NULL;
	Dwarf_Half form;
	uint64_t value;
	if (f->has_low && f->has_high) {
		add_range(r, scope, f->low, f->high);
		return;
	}
	if (f->ranges == NULL || !fine(r, dwarf_whatform(f->ranges, &form, &error), &error))
		return;
	if (!number(r, f->ranges, &value))
		value = reference(r, f->ranges);
	if (r->version >= 5)
		add_ranges_5(r, f->ranges, form, value, scope);
	else
		add_ranges_4(r, value, scope);
}

static uint32_t add_scope(struct reader *r, const struct facts *f, uint32_t function,
                          uint32_t parent)
{
	struct scope scope = { .function = function,
		               .parent = parent,
		               .call_file = mapped_file(r, f->call_file),
		               .call_line = (uint32_t)f->call_line,
		               .call_column = (uint32_t)f->call_column };
	if (parent != NONE)
		scope.depth = AT(r->d->scopes, struct scope, parent)->depth + 1;
	g_array_append_val(r->d->scopes, scope);
	add_ranges(r, f, r->d->scopes->len - 1);
	return r->d->scopes->len - 1;
}

/* --- DIEs --------------------------------------------------------------------------- */

static const char *qualified(struct reader *r, const char *name)
{
	if (name == NULL)
		return "";
	if (!r->qualified || r->prefix->len == 0)
		return debuginfo_intern(r->d, name);
	char *whole = g_strconcat(r->prefix->str, name, NULL);
	const char *own = debuginfo_intern(r->d, whole);
	g_free(whole);
	return own;
}

static const char *tagged(struct reader *r, const char *tag, const char *name)
{
	if (name == NULL || r->qualified)
		return qualified(r, name);
	char *whole = g_strconcat(tag, " ", name, NULL);
	const char *own = debuginfo_intern(r->d, whole);
	g_free(whole);
	return own;
}

static const struct {
	Dwarf_Half tag;
	enum debug_type_kind kind;
	const char *word; /* before the name in C; NULL: none */
} type_tags[] = {
	{ DW_TAG_base_type, TYPE_BASE, NULL },
	{ DW_TAG_unspecified_type, TYPE_UNKNOWN, NULL },
	{ DW_TAG_enumeration_type, TYPE_ENUM, "enum" },
	{ DW_TAG_pointer_type, TYPE_POINTER, NULL },
	{ DW_TAG_reference_type, TYPE_POINTER, NULL },
	{ DW_TAG_rvalue_reference_type, TYPE_POINTER, NULL },
	{ DW_TAG_array_type, TYPE_ARRAY, NULL },
	{ DW_TAG_structure_type, TYPE_STRUCT, "struct" },
	{ DW_TAG_class_type, TYPE_STRUCT, "class" },
	{ DW_TAG_union_type, TYPE_UNION, "union" },
	{ DW_TAG_subroutine_type, TYPE_FUNCTION, NULL },
	{ DW_TAG_typedef, TYPE_TYPEDEF, NULL },
	{ DW_TAG_const_type, TYPE_CONST, NULL },
	{ DW_TAG_volatile_type, TYPE_VOLATILE, NULL },
	{ DW_TAG_atomic_type, TYPE_ATOMIC, NULL },
	{ DW_TAG_restrict_type, TYPE_TYPEDEF, NULL },
};

static void walk_children(struct reader *r, Dwarf_Die die, struct level *level);

/* An array of more than one dimension becomes arrays of arrays. */
static void finish_array(struct reader *r, uint32_t id, uint32_t element, const GArray *counts)
{
	struct debuginfo *d = r->d;
	for (guint i = counts->len; i-- > 1;) {
		struct type_record inner = { .public = { .kind = TYPE_ARRAY,
			                                 .name = "",
			                                 .target = element,
			                                 .count = g_array_index(
			                                         counts, uint64_t, i) } };
		element = d->types->len;
		g_array_append_val(d->types, inner);
	}
	struct debug_type *type = &AT(d->types, struct type_record, id)->public;
	type->target = element;
	type->count = counts->len ? g_array_index(counts, uint64_t, 0) : 0;
}

static void read_array(struct reader *r, Dwarf_Die die, uint32_t id, uint32_t element)
{
	GArray *counts = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	Dwarf_Error error = NULL;
	Dwarf_Die child, next;
	bool more = fine(r, dwarf_child(die, &child, &error), &error);
	while (more) {
		struct facts f;
		if (read_facts(r, child, &f) && f.tag == DW_TAG_subrange_type) {
			uint64_t count = f.has_count ? f.count : 0;
			g_array_append_val(counts, count);
		}
		release_facts(r, &f);
		more = fine(r, dwarf_siblingof_b(r->dbg, child, 1, &next, &error), &error);
		dwarf_dealloc(r->dbg, child, DW_DLA_DIE);
		child = next;
	}
	finish_array(r, id, element, counts);
	g_array_unref(counts);
}

/* The members of a struct are collected in `locals` of its level as debug_member. */
static void read_struct(struct reader *r, Dwarf_Die die, const struct facts *f, uint32_t id,
                        const struct level *outer)
{
	struct debuginfo *d = r->d;
	GArray *members = g_array_new(FALSE, FALSE, sizeof(struct debug_member));
	struct level inner = { .function = NONE,
		               .scope = NONE,
		               .type = id,
		               .locals = members,
		               .depth = outer->depth + 1 };
	gsize prefix = r->prefix->len;
	if (f->name != NULL)
		g_string_append_printf(r->prefix, "%s::", f->name);
	walk_children(r, die, &inner);
	g_string_truncate(r->prefix, prefix);
	struct debug_type *type = &AT(d->types, struct type_record, id)->public;
	type->members = d->members->len;
	type->member_count = members->len;
	g_array_append_vals(d->members, members->data, members->len);
	g_array_unref(members);
}

static bool read_type(struct reader *r, Dwarf_Die die, const struct facts *f,
                      const struct level *level)
{
	size_t i = 0;
	while (i < G_N_ELEMENTS(type_tags) && type_tags[i].tag != f->tag)
		i++;
	if (i == G_N_ELEMENTS(type_tags))
		return false;
	uint32_t id = type_id(r, f->offset), target = type_id(r, f->type);
	const char *name = type_tags[i].word ? tagged(r, type_tags[i].word, f->name)
	                                     : qualified(r, f->name);
	struct type_record *type = AT(r->d->types, struct type_record, id);
	type->public = (struct debug_type){
		.kind = type_tags[i].kind, .name = name, .size = f->size, .target = target
	};
	if (f->signature != 0) { /* a stub for a type in a unit of its own */
		uint32_t whole = type_id(r, f->signature);
		type = AT(r->d->types, struct type_record, id);
		type->public = (struct debug_type){ .kind = TYPE_TYPEDEF,
			                            .name = "",
			                            .target = whole };
		return true;
	}
	type->declaration = f->declaration;
	if (type->public.kind == TYPE_ARRAY)
		read_array(r, die, id, target);
	else if (type->public.kind == TYPE_STRUCT || type->public.kind == TYPE_UNION)
		read_struct(r, die, f, id, level);
	return true;
}

static void add_named(struct reader *r, const struct facts *f, const struct named *named)
{
	if (f->name == NULL)
		return;
	id_set(r->named_ids, f->offset, r->named->len);
	g_array_append_val(r->named, *named);
}

static void read_member(struct reader *r, const struct facts *f, const struct level *level)
{
	if (level->type == NONE || level->locals == NULL)
		return;
	if (f->declaration || f->external) { /* a static member, defined elsewhere */
		struct named named = { qualified(r, f->name), mapped_name(r, f->file),
			               type_id(r, f->type), (uint32_t)f->line, f->external };
		add_named(r, f, &named);
		return;
	}
	if (f->tag == DW_TAG_inheritance && !f->has_location)
		return;
	struct debug_member member = { .name = f->tag == DW_TAG_inheritance || f->name == NULL
		                                       ? ""
		                                       : debuginfo_intern(r->d, f->name),
		                       .type = type_id(r, f->type),
		                       .offset = f->location,
		                       .bit_size = (uint32_t)f->bit_size };
	if (f->bit_size > 0) {
		uint64_t bit = f->location * 8;
		if (f->has_bit_offset)
			bit = f->location * 8 + f->bit_offset;
		else if (f->has_old_bit_offset && f->size > 0) /* counted from the high end */
			bit = f->location * 8 + f->size * 8 - f->old_bit_offset - f->bit_size;
		member.offset = bit / 8;
		member.size = (bit + f->bit_size + 7) / 8 - member.offset;
	}
	g_array_append_val(level->locals, member);
}

/* A local or parameter that lives at one place of its function's frame. */
static void add_slot(struct reader *r, const struct facts *f, const struct level *level,
                     const struct named *named, uint64_t origin)
{
	struct frame_slot slot = { .function = level->frame,
		                   .offset = level->frame_base + (int64_t)f->address,
		                   .name = named->name,
		                   .type = named->type };
	if (origin != 0) {
		struct pending pending = { r->d->slots->len, origin };
		g_array_append_val(r->pending_slots, pending);
	}
	g_array_append_val(r->d->slots, slot);
}

static void read_variable(struct reader *r, const struct facts *f, const struct level *level)
{
	struct debuginfo *d = r->d;
	uint64_t origin = f->specification ? f->specification : f->origin;
	bool local = level->function != NONE && level->parameters != NULL;
	struct named named = { .name = f->name == NULL           ? ""
		                       : level->function != NONE ? debuginfo_intern(d, f->name)
		                                                 : qualified(r, f->name),
		               .file = mapped_name(r, f->file),
		               .type = type_id(r, f->type),
		               .line = (uint32_t)f->line,
		               .external = f->external };
	add_named(r, f, &named);
	if (f->tag == DW_TAG_variable && f->place == PLACE_ADDRESS && f->address != 0) {
		struct debug_variable variable = { .address = f->address,
			                           .name = named.name,
			                           .type = named.type,
			                           .function = level->function,
			                           .file = named.file,
			                           .line = named.line,
			                           .external = named.external };
		if (origin != 0) {
			struct pending pending = { d->variables->len, origin };
			g_array_append_val(r->pending, pending);
		}
		g_array_append_val(d->variables, variable);
		return;
	}
	if (f->place == PLACE_FRAME && level->frame != NONE)
		add_slot(r, f, level, &named, origin);
	if (local && f->name != NULL) {
		struct debug_local entry = { named.name, named.type };
		g_array_append_val(f->tag == DW_TAG_formal_parameter ? level->parameters
		                                                     : level->locals,
		                   entry);
	}
}

static void read_function(struct reader *r, Dwarf_Die die, const struct facts *f,
                          const struct level *outer)
{
	struct debuginfo *d = r->d;
	uint32_t id = function_id(r, f->offset);
	uint32_t origin = function_id(r, f->origin ? f->origin : f->specification);
	const char *name = qualified(r, f->name), *file = mapped_name(r, f->file);
	struct function_record *record = AT(d->functions, struct function_record, id);
	record->public.name = name;
	record->public.file = file;
	record->public.line = (uint32_t)f->line;
	record->public.external = f->external;
	record->public.clang = r->clang;
	record->origin = origin;
	record->declaration = f->declaration;
	guint first_range = d->ranges->len;
	uint32_t scope = NONE;
	if ((f->has_low && f->has_high) || f->ranges != NULL)
		scope = add_scope(r, f, id, NONE);
	if (d->ranges->len > first_range) {
		const struct scope_range *range =
		        AT(d->ranges, struct scope_range, first_range);
		record->public.low = range->low;
		record->public.high = range->high;
	}
	int64_t depth = 0;
	bool framed = f->has_frame_base &&
	              (!f->frame_on_rsp ||
	               (f->has_low && f->has_high && frame_depth(r, f->low, f->high, &depth)));
	struct level inner = { .function = id,
		               .frame = framed ? id : NONE,
		               .frame_base = f->frame_base - depth,
		               .scope = scope,
		               .type = NONE,
		               .depth = outer->depth + 1 };
	if (f->origin == 0) { /* else the abstract instance has the names */
		inner.parameters = g_array_new(FALSE, FALSE, sizeof(struct debug_local));
		inner.locals = g_array_new(FALSE, FALSE, sizeof(struct debug_local));
	}
	walk_children(r, die, &inner);
	if (inner.parameters == NULL)
		return;
	record = AT(d->functions, struct function_record, id);
	record->public.variables = d->locals->len;
	record->public.parameter_count = inner.parameters->len;
	record->public.variable_count = inner.parameters->len + inner.locals->len;
	g_array_append_vals(d->locals, inner.parameters->data, inner.parameters->len);
	g_array_append_vals(d->locals, inner.locals->data, inner.locals->len);
	g_array_unref(inner.parameters);
	g_array_unref(inner.locals);
}

static void read_inlined(struct reader *r, Dwarf_Die die, const struct facts *f,
                         const struct level *outer)
{
	uint32_t scope = outer->scope;
	if (scope != NONE)
		scope = add_scope(r, f, function_id(r, f->origin), scope);
	struct level inner = { .function = function_id(r, f->origin),
		               .frame = outer->frame,
		               .frame_base = outer->frame_base,
		               .scope = scope,
		               .type = NONE,
		               .depth = outer->depth + 1 };
	walk_children(r, die, &inner);
}

static void read_namespace(struct reader *r, Dwarf_Die die, const struct facts *f,
                           const struct level *outer)
{
	struct level inner = { .function = NONE,
		               .frame = NONE,
		               .scope = NONE,
		               .type = NONE,
		               .depth = outer->depth + 1 };
	gsize prefix = r->prefix->len;
	if (f->name != NULL)
		g_string_append_printf(r->prefix, "%s::", f->name);
	walk_children(r, die, &inner);
	g_string_truncate(r->prefix, prefix);
}

static void read_die(struct reader *r, Dwarf_Die die, struct level *level)
{
	struct facts f;
	if (read_facts(r, die, &f) && !read_type(r, die, &f, level)) {
		switch (f.tag) {
		case DW_TAG_member:
		case DW_TAG_inheritance:
			read_member(r, &f, level);
			break;
		case DW_TAG_variable:
		case DW_TAG_formal_parameter:
			read_variable(r, &f, level);
			break;
		case DW_TAG_subprogram:
			read_function(r, die, &f, level);
			break;
		case DW_TAG_inlined_subroutine:
			read_inlined(r, die, &f, level);
			break;
		case DW_TAG_namespace:
			read_namespace(r, die, &f, level);
			break;
		case DW_TAG_lexical_block: {
			struct level inner = *level;
			inner.depth++;
			walk_children(r, die, &inner);
			break;
		}
		default:
			break;
		}
	}
	release_facts(r, &f);
}

static void walk_children(struct reader *r, Dwarf_Die die, struct level *level)
{
	Dwarf_Error error = NULL;
	Dwarf_Die child, next;
	if (level->depth > DEEPEST)
		return;
	int result = dwarf_child(die, &child, &error);
	while (result == DW_DLV_OK) {
		read_die(r, child, level);
		result = dwarf_siblingof_b(r->dbg, child, 1, &next, &error);
		dwarf_dealloc(r->dbg, child, DW_DLA_DIE);
		child = next;
	}
	if (result == DW_DLV_ERROR)
		damaged(r, "entries", &error);
}

/* --- units -------------------------------------------------------------------------- */

static bool is_qualified_language(uint64_t language)
{
	switch (language) {
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
	case DW_LANG_Rust:
		return true;
	default:
		return false;
	}
}

/* A string of the unit's own entry; "" when it has none. */
static const char *unit_text(struct reader *r, Dwarf_Half name)
{
	Dwarf_Error error = NULL;
	Dwarf_Attribute attribute;
	const char *text = "";
	char *found;
	if (fine(r, dwarf_attr(r->unit, name, &attribute, &error), &error)) {
		if (fine(r, dwarf_formstring(attribute, &found, &error), &error))
			text = debuginfo_intern(r->d, found);
		dwarf_dealloc(r->dbg, attribute, DW_DLA_ATTR);
	}
	return text;
}

static void read_unit(struct reader *r)
{
	Dwarf_Error error = NULL;
	Dwarf_Unsigned language;
	struct facts f;
	r->directory = unit_text(r, DW_AT_comp_dir);
	r->clang = strstr(unit_text(r, DW_AT_producer), "clang") != NULL;
	r->qualified = fine(r, dwarf_srclang(r->unit, &language, &error), &error) &&
	               is_qualified_language(language);
	read_facts(r, r->unit, &f);
	r->base = f.has_low ? f.low : 0;
	release_facts(r, &f);
	read_files(r);
	read_lines(r);
	g_string_truncate(r->prefix, 0);
	struct level top = { .function = NONE, .frame = NONE, .scope = NONE, .type = NONE };
	walk_children(r, r->unit, &top);
	g_free(r->file_map);
	r->file_map = NULL;
}

/* The type that a type unit is for is known by its signature from here on. */
static void note_signature(struct reader *r, const Dwarf_Sig8 *signature, uint64_t type_offset)
{
	Dwarf_Error error = NULL;
	Dwarf_Off unit, length;
	if (fine(r, dwarf_die_CU_offset_range(r->unit, &unit, &length, &error), &error))
		id_set(r->type_ids, unit + type_offset, type_id(r, signature_key(signature)));
}

static void read_units(struct reader *r)
{
	Dwarf_Error error = NULL;
	for (;;) {
		Dwarf_Unsigned length, type_offset, next;
		Dwarf_Off abbreviations;
		Dwarf_Half address_size, length_size, extension, kind;
		Dwarf_Sig8 signature;
		int result =
		        dwarf_next_cu_header_d(r->dbg, 1, &length, &r->version, &abbreviations,
		                               &address_size, &length_size, &extension,
		                               &signature, &type_offset, &next, &kind, &error);
		if (result == DW_DLV_ERROR)
			damaged(r, "unit header", &error);
		if (result != DW_DLV_OK)
			return;
		if (dwarf_siblingof_b(r->dbg, NULL, 1, &r->unit, &error) != DW_DLV_OK) {
			damaged(r, "unit", &error);
			return;
		}
		r->d->has_dwarf = true;
		if (kind == DW_UT_type)
			note_signature(r, &signature, type_offset);
		read_unit(r);
		dwarf_dealloc(r->dbg, r->unit, DW_DLA_DIE);
	}
}

/* Names, types and flags that a definition leaves to its declaration or abstract origin. */
static void resolve_functions(struct debuginfo *d)
{
	for (guint i = 0; i < d->functions->len; i++) {
		struct function_record *f = AT(d->functions, struct function_record, i);
		uint32_t at = f->origin;
		for (int hops = 0; at != NONE && hops < 8; hops++) {
			const struct function_record *o =
			        AT(d->functions, struct function_record, at);
			if (f->public.name[0] == '\0')
				f->public.name = o->public.name;
			if (f->public.line == 0) {
				f->public.line = o->public.line;
				f->public.file = o->public.file;
			}
			if (f->public.variable_count == 0) {
				f->public.variables = o->public.variables;
				f->public.variable_count = o->public.variable_count;
				f->public.parameter_count = o->public.parameter_count;
			}
			f->public.external |= o->public.external;
			at = o->origin;
		}
	}
}

static void resolve_variables(struct reader *r)
{
	for (guint i = 0; i < r->pending->len; i++) {
		const struct pending *p = AT(r->pending, struct pending, i);
		struct debug_variable *v =
		        AT(r->d->variables, struct debug_variable, p->variable);
		uint32_t origin = id_at(r->named_ids, p->origin);
		if (origin == NONE)
			continue;
		const struct named *named = AT(r->named, struct named, origin);
		if (v->name[0] == '\0')
			v->name = named->name;
		if (v->type == NONE)
			v->type = named->type;
		if (v->line == 0) {
			v->line = named->line;
			v->file = named->file;
		}
		v->external |= named->external;
	}
}

static void resolve_slots(struct reader *r)
{
	for (guint i = 0; i < r->pending_slots->len; i++) {
		const struct pending *p = AT(r->pending_slots, struct pending, i);
		struct frame_slot *slot = AT(r->d->slots, struct frame_slot, p->variable);
		uint32_t origin = id_at(r->named_ids, p->origin);
		if (origin == NONE)
			continue;
		const struct named *named = AT(r->named, struct named, origin);
		if (slot->name[0] == '\0')
			slot->name = named->name;
		if (slot->type == NONE)
			slot->type = named->type;
	}
}

/* The one place that opens: the reserved parameters of this version are gone in later ones. */
static int open_dwarf(struct debuginfo *d, Dwarf_Debug *dbg, char *real, unsigned room,
                      Dwarf_Error *error)
{
	unsigned char source;
	return dwarf_init_path_dl(d->path, real, room, DW_DLC_READ, DW_GROUPNUMBER_ANY, NULL,
	                          NULL, dbg, NULL, 0, &source, NULL, 0, NULL, error);
}

void debuginfo_read_dwarf(struct debuginfo *d)
{
	struct reader r = { .d = d };
	Dwarf_Error error = NULL;
	char real[4096] = "";
	int result = open_dwarf(d, &r.dbg, real, sizeof real, &error);
	if (result == DW_DLV_ERROR)
		damaged(&r, "DWARF", &error);
	if (result != DW_DLV_OK)
		return;
	if (real[0] != '\0' && strcmp(real, d->path) != 0)
		debuginfo_read_more_symbols(d, real);
	r.type_ids = g_hash_table_new(NULL, NULL);
	r.function_ids = g_hash_table_new(NULL, NULL);
	r.named_ids = g_hash_table_new(NULL, NULL);
	r.file_ids = g_hash_table_new(g_str_hash, g_str_equal);
	r.named = g_array_new(FALSE, FALSE, sizeof(struct named));
	r.pending = g_array_new(FALSE, FALSE, sizeof(struct pending));
	r.pending_slots = g_array_new(FALSE, FALSE, sizeof(struct pending));
	r.prefix = g_string_new(NULL);
	Dwarf_Cie *cies = NULL;
	Dwarf_Signed cie_count = 0, fde_count = 0;
	if (!fine(&r,
	          dwarf_get_fde_list_eh(r.dbg, &cies, &cie_count, &r.fdes, &fde_count, &error),
	          &error))
		r.fdes = NULL;
	read_units(&r);
	if (r.fdes != NULL)
		dwarf_fde_cie_list_dealloc(r.dbg, cies, cie_count, r.fdes, fde_count);
	resolve_functions(d);
	resolve_variables(&r);
	resolve_slots(&r);
	g_hash_table_unref(r.type_ids);
	g_hash_table_unref(r.function_ids);
	g_hash_table_unref(r.named_ids);
	g_hash_table_unref(r.file_ids);
	g_array_unref(r.named);
	g_array_unref(r.pending);
	g_array_unref(r.pending_slots);
	g_string_free(r.prefix, TRUE);
	dwarf_finish(r.dbg, &error);
}
