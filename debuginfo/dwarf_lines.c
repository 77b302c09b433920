/*
 * dwarf_lines.c - a unit's files and line table, and the code ranges of functions and inlined
 * bodies.
 */
#include "debuginfo/dwarf_reader.h"

#include <string.h>

/* --- files and lines ---------------------------------------------------------------- */

static uint32_t file_id(struct dwarf_reader *r, const char *path)
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

void reader_files(struct dwarf_reader *r)
{
	Dwarf_Error error = NULL;
	char **names;
	Dwarf_Signed count;
	r->file_map = NULL;
	r->file_map_count = 0;
	if (!reader_fine(r, dwarf_srcfiles(r->unit, &names, &count, &error), &error))
		return;
	/* numbered from 1 before DWARF 5, from 0 since */
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

/* or NONE */
static uint32_t reader_file(const struct dwarf_reader *r, uint64_t number)
{
	return number < r->file_map_count ? r->file_map[number] : NONE;
}

const char *reader_file_name(const struct dwarf_reader *r, uint64_t number)
{
	uint32_t file = reader_file(r, number);
	return file == NONE ? "" : AT(r->d->files, struct file_name, file)->file;
}

/* libdwarf builds a path at each request: ask once for each file number. `unnamed`: the
 * sequence has named no file (line_starts.c). */
static uint32_t line_file(struct dwarf_reader *r, Dwarf_Line line, GArray *seen, bool unnamed)
{
	Dwarf_Error error = NULL;
	Dwarf_Unsigned n;
	char *path;
	if (!reader_fine(r, dwarf_line_srcfileno(line, &n, &error), &error) || n > 1 << 20)
		return NONE - 1;
	if (n == 0 && unnamed && reader_file(r, 1) != NONE)
		return reader_file(r, 1);
	while (seen->len <= n) {
		uint32_t none = NONE;
		g_array_append_val(seen, none);
	}
	uint32_t *file = AT(seen, uint32_t, n);
	if (*file == NONE) {
		*file = NONE - 1;
		if (reader_fine(r, dwarf_linesrc(line, &path, &error), &error)) {
			*file = file_id(r, path);
			dwarf_dealloc(r->dbg, path, DW_DLA_STRING);
		}
	}
	return *file;
}

static bool read_row(struct dwarf_reader *r, Dwarf_Line line, GArray *seen, bool unnamed,
                     struct line_row *row)
{
	Dwarf_Error error = NULL;
	Dwarf_Addr address;
	Dwarf_Unsigned value;
	Dwarf_Bool end = 0;
	if (!reader_fine(r, dwarf_lineaddr(line, &address, &error), &error) ||
	    !reader_fine(r, dwarf_lineendsequence(line, &end, &error), &error))
		return false;
	*row = (struct line_row){ .address = address, .file = NONE, .order = r->d->lines->len };
	if (end)
		return true;
	row->file = line_file(r, line, seen, unnamed);
	if (reader_fine(r, dwarf_lineno(line, &value, &error), &error))
		row->line = (uint32_t)value;
	if (reader_fine(r, dwarf_lineoff_b(line, &value, &error), &error))
		row->column = (uint32_t)value;
	return true;
}

/* Add the end of a sequence, whose rows are those from `first` on; gcc also writes rows for the
 * end itself, which belong to no code: another function can begin there. */
static void end_sequence(GArray *lines, guint first, const struct line_row *end)
{
	while (lines->len > first &&
	       g_array_index(lines, struct line_row, lines->len - 1).address == end->address)
		g_array_set_size(lines, lines->len - 1);
	g_array_append_vals(lines, end, 1);
}

void reader_lines(struct dwarf_reader *r)
{
	Dwarf_Error error = NULL;
	Dwarf_Unsigned version;
	Dwarf_Small tables;
	Dwarf_Line_Context context = NULL;
	Dwarf_Line *lines;
	Dwarf_Signed count;
	int result = dwarf_srclines_b(r->unit, &version, &tables, &context, &error);
	if (result == DW_DLV_ERROR)
		reader_damaged(r, "line table", &error);
	if (result != DW_DLV_OK)
		return;
	if (reader_fine(r, dwarf_srclines_from_linecontext(context, &lines, &count, &error),
	                &error)) {
		g_autoptr(GArray) seen = g_array_new(FALSE, FALSE, sizeof(uint32_t));
		g_autoptr(GByteArray) unnamed = reader_rows_without_file(r);
		bool dropped = false; /* code dropped by the linker has address 0 */
		bool begins = true;
		GArray *rows = r->d->lines;
		guint first_row = rows->len;
		for (Dwarf_Signed i = 0; i < count; i++) {
			struct line_row row;
			bool first = unnamed != NULL && i < unnamed->len && unnamed->data[i];
			if (!read_row(r, lines[i], seen, first, &row))
				break;
			if (begins) {
				dropped = row.address == 0 || row.address >= UINT64_MAX - 1;
				first_row = rows->len;
			}
			begins = row.file == NONE;
			if (!dropped && begins)
				end_sequence(rows, first_row, &row);
			else if (!dropped)
				g_array_append_val(rows, row);
		}
	}
	dwarf_srclines_dealloc_b(context);
}

/* --- ranges ------------------------------------------------------------------------- */

static void add_range(struct dwarf_reader *r, uint32_t scope, uint64_t low, uint64_t high)
{
	if (low == 0 || high <= low)
		return;
	struct scope_range range = { low, high, scope };
	g_array_append_val(r->d->ranges, range);
}

static void add_ranges_4(struct dwarf_reader *r, uint64_t offset, uint32_t scope)
{
	Dwarf_Error error = NULL;
	Dwarf_Ranges *list;
	Dwarf_Signed count;
	Dwarf_Unsigned bytes;
	Dwarf_Off real;
	if (!reader_fine(r,
	                 dwarf_get_ranges_b(r->dbg, offset, r->unit, &real, &list, &count,
	                                    &bytes, &error),
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

static void add_ranges_5(struct dwarf_reader *r, Dwarf_Attribute attribute, Dwarf_Half form,
                         uint64_t value, uint32_t scope)
{
	Dwarf_Error error = NULL;
	Dwarf_Rnglists_Head head;
	Dwarf_Unsigned count, global;
	if (!reader_fine(r,
	                 dwarf_rnglists_get_rle_head(attribute, form, value, &head, &count,
	                                             &global, &error),
	                 &error))
		return;
	for (Dwarf_Unsigned i = 0; i < count; i++) {
		unsigned length, kind;
		Dwarf_Unsigned raw1, raw2, low, high;
		Dwarf_Bool unavailable;
		if (!reader_fine(r,
		                 dwarf_get_rnglists_entry_fields_a(head, i, &length, &kind,
		                                                   &raw1, &raw2, &unavailable,
		                                                   &low, &high, &error),
		                 &error) ||
		    kind == DW_RLE_end_of_list)
			break;
		if (kind != DW_RLE_base_address && kind != DW_RLE_base_addressx && !unavailable)
			add_range(r, scope, low, high);
	}
	dwarf_dealloc_rnglists_head(head);
}

static void add_ranges(struct dwarf_reader *r, const struct die_facts *f, uint32_t scope)
{
	Dwarf_Error error = NULL;
	Dwarf_Half form;
	uint64_t value;
	if (f->has_low && f->has_high) {
		add_range(r, scope, f->low, f->high);
		return;
	}
	if (f->ranges == NULL ||
	    !reader_fine(r, dwarf_whatform(f->ranges, &form, &error), &error))
		return;
	if (!reader_number(r, f->ranges, &value))
		value = reader_reference(r, f->ranges);
	if (r->version >= 5)
		add_ranges_5(r, f->ranges, form, value, scope);
	else
		add_ranges_4(r, value, scope);
}

uint32_t reader_add_scope(struct dwarf_reader *r, const struct die_facts *f, uint32_t function,
                          uint32_t parent)
{
	struct code_scope scope = { .function = function,
		                    .parent = parent,
		                    .call_file = reader_file(r, f->call_file),
		                    .call_line = (uint32_t)f->call_line,
		                    .call_column = (uint32_t)f->call_column };
	if (parent != NONE)
		scope.depth = AT(r->d->scopes, struct code_scope, parent)->depth + 1;
	g_array_append_val(r->d->scopes, scope);
	add_ranges(r, f, r->d->scopes->len - 1);
	return r->d->scopes->len - 1;
}
