/*
 * lookup.c - the index over what elf.c and dwarf.c have read, and every question: binary
 * searches in sorted arrays, walks along types.  Knows neither libdwarf nor libelf.
 */
#include "debuginfo/private.h"

#include <string.h>

const char *debuginfo_intern(struct debuginfo *d, const char *text)
{
	return g_string_chunk_insert_const(d->strings, text);
}

/* --- opening ------------------------------------------------------------------------ */

static struct debuginfo *debuginfo_new(const char *path)
{
	struct debuginfo *d = g_new0(struct debuginfo, 1);
	d->path = g_strdup(path);
	d->strings = g_string_chunk_new(1 << 16);
	d->files = g_array_new(FALSE, FALSE, sizeof(struct file_name));
	d->lines = g_array_new(FALSE, FALSE, sizeof(struct line_row));
	d->scopes = g_array_new(FALSE, FALSE, sizeof(struct scope));
	d->ranges = g_array_new(FALSE, FALSE, sizeof(struct scope_range));
	d->segments = g_array_new(FALSE, FALSE, sizeof(struct scope_segment));
	d->functions = g_array_new(FALSE, FALSE, sizeof(struct function_record));
	d->locals = g_array_new(FALSE, FALSE, sizeof(struct debug_local));
	d->slots = g_array_new(FALSE, FALSE, sizeof(struct frame_slot));
	d->types = g_array_new(FALSE, FALSE, sizeof(struct type_record));
	d->members = g_array_new(FALSE, FALSE, sizeof(struct debug_member));
	d->variables = g_array_new(FALSE, FALSE, sizeof(struct debug_variable));
	d->code_symbols = g_array_new(FALSE, FALSE, sizeof(struct symbol));
	d->data_symbols = g_array_new(FALSE, FALSE, sizeof(struct symbol));
	d->taken = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	d->types_by_name = g_hash_table_new(g_str_hash, g_str_equal);
	d->functions_by_name = g_hash_table_new(g_str_hash, g_str_equal);
	return d;
}

void debuginfo_close(struct debuginfo *d)
{
	if (d == NULL)
		return;
	GArray *arrays[] = { d->files,    d->lines,     d->scopes,       d->ranges,
		             d->segments, d->functions, d->locals,       d->types,
		             d->members,  d->variables, d->code_symbols, d->data_symbols,
		             d->slots,    d->taken };
	for (size_t i = 0; i < G_N_ELEMENTS(arrays); i++)
		g_array_unref(arrays[i]);
	g_hash_table_unref(d->types_by_name);
	g_hash_table_unref(d->functions_by_name);
	g_string_chunk_free(d->strings);
	g_free(d->damage);
	g_free(d->path);
	g_free(d);
}

struct debuginfo *debuginfo_open(const char *path, const char *build_id, struct error *error)
{
	struct debuginfo *d = debuginfo_new(path);
	if (!debuginfo_read_elf(d, error)) {
		debuginfo_close(d);
		return NULL;
	}
	if (build_id != NULL && build_id[0] != '\0' && strcmp(build_id, d->build_id) != 0) {
		error_set(error, place_line(path, 0).text,
		          "give the recorded program's place with --exe, or record again",
		          "the build with id %s was expected, this is %s", build_id,
		          d->build_id[0] ? d->build_id : "one without an id");
		debuginfo_close(d);
		return NULL;
	}
	debuginfo_read_dwarf(d);
	debuginfo_index(d);
	return d;
}

struct debug_store {
	GHashTable *modules; /* "BUILD-ID PATH", owned -> struct debuginfo *, owned */
};

static void close_module(gpointer d)
{
	debuginfo_close(d);
}

struct debug_store *debug_store_new(void)
{
	struct debug_store *s = g_new(struct debug_store, 1);
	s->modules = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, close_module);
	return s;
}

void debug_store_free(struct debug_store *s)
{
	if (s == NULL)
		return;
	g_hash_table_unref(s->modules);
	g_free(s);
}

struct debuginfo *debug_store_open(struct debug_store *s, const char *path,
                                   const char *build_id, struct error *error)
{
	char *key = g_strdup_printf("%s %s", build_id ? build_id : "", path);
	struct debuginfo *d = g_hash_table_lookup(s->modules, key);
	if (d == NULL && (d = debuginfo_open(path, build_id, error)) != NULL)
		g_hash_table_insert(s->modules, g_steal_pointer(&key), d);
	g_free(key);
	return d;
}

bool debuginfo_has_dwarf(const struct debuginfo *d)
{
	return d->has_dwarf;
}

const char *debuginfo_build_id(const struct debuginfo *d)
{
	return d->build_id;
}

const char *debuginfo_damage(const struct debuginfo *d)
{
	return d->damage;
}

/* --- indexing ----------------------------------------------------------------------- */

static int by_line(const void *a, const void *b)
{
	const struct line_row *x = a, *y = b;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	bool x_ends = x->file == NONE, y_ends = y->file == NONE;
	if (x_ends != y_ends) /* a sequence that begins where another ends wins */
		return x_ends ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* One row an address (the last), and rows of no line take that of the row before. */
static void index_lines(struct debuginfo *d)
{
	g_array_sort(d->lines, by_line);
	struct line_row *rows = (struct line_row *)d->lines->data;
	guint kept = 0;
	for (guint i = 0; i < d->lines->len; i++) {
		struct line_row row = rows[i];
		const struct line_row *before = kept ? &rows[kept - 1] : NULL;
		if (row.file != NONE && row.line == 0 && before && before->file != NONE)
			continue;
		if (before && before->address == row.address)
			kept--;
		rows[kept++] = row;
	}
	g_array_set_size(d->lines, kept);
}

struct open_range {
	uint64_t high;
	uint32_t scope;
};

static void add_segment(GArray *segments, uint64_t low, uint32_t scope)
{
	struct scope_segment *last =
	        segments->len ? AT(segments, struct scope_segment, segments->len - 1) : NULL;
	struct scope_segment segment = { low, scope };
	if (last != NULL && last->low == low)
		last->scope = scope;
	else if (last == NULL || last->scope != scope)
		g_array_append_val(segments, segment);
}

static void close_until(struct debuginfo *d, GArray *open, uint64_t address)
{
	while (open->len > 0) {
		struct open_range top = *AT(open, struct open_range, open->len - 1);
		if (top.high > address)
			return;
		g_array_set_size(open, open->len - 1);
		uint32_t outer =
		        open->len ? AT(open, struct open_range, open->len - 1)->scope : NONE;
		add_segment(d->segments, top.high, outer);
	}
}

static int by_range(gconstpointer a, gconstpointer b, gpointer scopes)
{
	const struct scope_range *x = a, *y = b;
	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	uint32_t dx = AT((GArray *)scopes, struct scope, x->scope)->depth;
	uint32_t dy = AT((GArray *)scopes, struct scope, y->scope)->depth;
	if (dx != dy)
		return dx < dy ? -1 : 1;
	return x->high > y->high ? -1 : x->high < y->high;
}

/* The nest of ranges as disjoint segments, each with its innermost scope. */
static void index_scopes(struct debuginfo *d)
{
	g_array_sort_with_data(d->ranges, by_range, d->scopes);
	GArray *open = g_array_new(FALSE, FALSE, sizeof(struct open_range));
	for (guint i = 0; i < d->ranges->len; i++) {
		const struct scope_range *range = AT(d->ranges, struct scope_range, i);
		close_until(d, open, range->low);
		struct open_range entry = { range->high, range->scope };
		if (open->len > 0)
			entry.high = MIN(entry.high,
			                 AT(open, struct open_range, open->len - 1)->high);
		g_array_append_val(open, entry);
		add_segment(d->segments, range->low, range->scope);
	}
	close_until(d, open, UINT64_MAX);
	g_array_unref(open);
	g_array_set_size(d->ranges, 0);
}

static int by_symbol(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return y->global - x->global;
}

static int by_variable(const void *a, const void *b)
{
	const struct debug_variable *x = a, *y = b;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	/* of several for one address, the one that says most comes first */
	int known = (y->type != NONE && y->name[0]) - (x->type != NONE && x->name[0]);
	return known ? known : (y->line != 0) - (x->line != 0);
}

static void index_variables(struct debuginfo *d)
{
	struct debug_variable *all = (struct debug_variable *)d->variables->data;
	g_array_sort(d->variables, by_variable);
	guint kept = 0;
	for (guint i = 0; i < d->variables->len; i++) {
		if (all[i].name[0] == '\0' || (kept && all[kept - 1].address == all[i].address))
			continue;
		all[kept] = all[i];
		all[kept].size = debuginfo_size(d, all[i].type);
		kept++;
	}
	g_array_set_size(d->variables, kept);
}

static void index_types(struct debuginfo *d)
{
	for (guint i = 0; i < d->types->len; i++) {
		const struct type_record *type = AT(d->types, struct type_record, i);
		if (type->public.name[0] != '\0' && !type->declaration &&
		    !g_hash_table_contains(d->types_by_name, type->public.name))
			g_hash_table_insert(d->types_by_name, (gpointer)type->public.name,
			                    GUINT_TO_POINTER(i + 1));
	}
	/* What one unit declares another one may define. */
	for (guint i = 0; i < d->types->len; i++) {
		struct type_record *type = AT(d->types, struct type_record, i);
		if (!type->declaration)
			continue;
		uint32_t whole = debuginfo_type_named(d, type->public.name);
		if (whole != NONE)
			type->public = AT(d->types, struct type_record, whole)->public;
	}
	/* Members' sizes, now that all types are known. */
	for (guint i = 0; i < d->members->len; i++) {
		struct debug_member *m = AT(d->members, struct debug_member, i);
		if (m->bit_size == 0)
			m->size = debuginfo_size(d, m->type);
	}
}

static int by_address(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

static void index_functions(struct debuginfo *d)
{
	g_array_sort(d->taken, by_address);
	for (guint i = 0; i < d->functions->len; i++) {
		struct function_record *f = AT(d->functions, struct function_record, i);
		f->public.address_taken = f->public.low != 0 &&
		                          bsearch(&f->public.low, d->taken->data, d->taken->len,
		                                  sizeof(uint64_t), by_address) != NULL;
		if (f->public.name[0] == '\0')
			continue;
		uint32_t other = debuginfo_function_named(d, f->public.name);
		if (other == NONE ||
		    (f->public.low != 0 && debuginfo_function(d, other)->low == 0))
			g_hash_table_insert(d->functions_by_name, (gpointer)f->public.name,
			                    GUINT_TO_POINTER(i + 1));
	}
}

static int by_slot(const void *a, const void *b)
{
	const struct frame_slot *x = a, *y = b;
	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

void debuginfo_index(struct debuginfo *d)
{
	index_lines(d);
	index_scopes(d);
	index_types(d);
	index_variables(d);
	g_array_sort(d->slots, by_slot);
	g_array_sort(d->code_symbols, by_symbol);
	g_array_sort(d->data_symbols, by_symbol);
	index_functions(d);
}

/* --- code --------------------------------------------------------------------------- */

/* The last element whose leading uint64_t is not above `key`, or NULL. */
static const void *last_not_above(const GArray *array, size_t size, uint64_t key)
{
	size_t low = 0, high = array->len;
	while (low < high) {
		size_t middle = (low + high) / 2;
		uint64_t at;
		memcpy(&at, array->data + middle * size, sizeof at);
		if (at <= key)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? array->data + (low - 1) * size : NULL;
}

static const struct symbol *symbol_at(const GArray *symbols, uint64_t address)
{
	const struct symbol *s = last_not_above(symbols, sizeof *s, address);
	if (s == NULL)
		return NULL;
	const struct symbol *first = (const struct symbol *)symbols->data;
	while (s > first && s[-1].address == s->address) /* the first at an address is best */
		s--;
	return s->size == 0 || address - s->address < s->size ? s : NULL;
}

static void place_file(const struct debuginfo *d, struct debug_place *place, uint32_t file,
                       uint32_t line, uint32_t column)
{
	bool known = file < d->files->len;
	place->file = known ? AT(d->files, struct file_name, file)->file : "";
	place->path = known ? AT(d->files, struct file_name, file)->path : "";
	place->line = known ? line : 0;
	place->column = known ? column : 0;
}

static void place_function(const struct debuginfo *d, struct debug_place *place,
                           uint32_t function, uint64_t address)
{
	const struct debug_function *f = debuginfo_function(d, function);
	place->function = f->name;
	place->function_id = function;
	place->offset = f->low && address >= f->low ? address - f->low : 0;
}

size_t debuginfo_code(const struct debuginfo *d, uint64_t address, struct debug_place *places,
                      size_t room)
{
	const struct line_row *row = last_not_above(d->lines, sizeof *row, address);
	const struct scope_segment *segment =
	        last_not_above(d->segments, sizeof *segment, address);
	uint32_t file = NONE, line = 0, column = 0;
	if (row != NULL && row->file != NONE) {
		file = row->file;
		line = row->line;
		column = row->column;
	}
	size_t count = 0;
	uint32_t at = segment ? segment->scope : NONE;
	for (; at != NONE; count++) {
		const struct scope *scope = AT(d->scopes, struct scope, at);
		if (count < room) {
			place_file(d, &places[count], file, line, column);
			place_function(d, &places[count], scope->function, address);
		}
		file = scope->call_file;
		line = scope->call_line;
		column = scope->call_column;
		at = scope->parent;
	}
	if (count > 0)
		return count;
	const struct symbol *symbol = symbol_at(d->code_symbols, address);
	if (symbol == NULL && file == NONE)
		return 0;
	if (room > 0) {
		place_file(d, &places[0], file, line, column);
		places[0].function = symbol ? symbol->name : "";
		places[0].function_id = NONE;
		places[0].offset = symbol ? address - symbol->address : 0;
	}
	return 1;
}

uint32_t debuginfo_function_count(const struct debuginfo *d)
{
	return d->functions->len;
}

const struct debug_function *debuginfo_function(const struct debuginfo *d, uint32_t function)
{
	BUG_ON(function >= d->functions->len);
	return &AT(d->functions, struct function_record, function)->public;
}

uint32_t debuginfo_function_named(const struct debuginfo *d, const char *name)
{
	return GPOINTER_TO_UINT(g_hash_table_lookup(d->functions_by_name, name)) - 1;
}

/* 1: may hold an address, in an integer register; 0: it is passed there and holds none; -1: not
 * there; -2: not known. */
static int as_pointer(const struct debuginfo *d, uint32_t type)
{
	const struct debug_type *t = debuginfo_type(d, debuginfo_strip(d, type));
	bool floating = strstr(t->name, "float") || strstr(t->name, "double");

	switch (t->kind) {
	case TYPE_POINTER:
	case TYPE_ARRAY:
		return 1;
	case TYPE_BASE:
		return floating ? -1 : t->size == 8;
	case TYPE_ENUM:
		return 0;
	default:
		return -2;
	}
}

bool debuginfo_declared_pointers(const struct debuginfo *d, const char *name, unsigned *bits)
{
	for (guint i = 0; i < d->functions->len; i++) {
		const struct function_record *f = AT(d->functions, struct function_record, i);
		unsigned registers = 0, found = 0;
		bool known = true;

		if (!f->declaration || strcmp(f->public.name, name) != 0)
			continue;
		for (uint32_t k = 0; known && k < f->public.parameter_count; k++) {
			struct debug_local p = debuginfo_local(d, f->public.variables + k);
			int pointer = as_pointer(d, p.type);

			known = pointer != -2;
			if (pointer == 1 && registers < 6)
				found |= 1u << registers;
			registers += pointer >= 0;
		}
		if (known) {
			*bits = found;
			return true;
		}
	}
	return false;
}

/* f.constprop.0, f.isra.0: a copy of f for some of its callers. */
static bool specialised(const char *symbol)
{
	return strchr(symbol, '.') != NULL && strstr(symbol, ".cold") == NULL;
}

static void count_entry(struct debug_entries *e, uint64_t address)
{
	if (e->count == 0 || e->address != address)
		e->count++;
	if (e->address == 0)
		e->address = address;
}

struct debug_entries debuginfo_entries(const struct debuginfo *d, const char *name)
{
	struct debug_entries e = { 0 };
	for (guint i = 0; i < d->code_symbols->len; i++) {
		const struct symbol *s = AT(d->code_symbols, struct symbol, i);
		if (strcmp(s->name, name) == 0)
			count_entry(&e, s->address);
	}
	for (guint i = 0; i < d->functions->len; i++) {
		const struct debug_function *f =
		        &AT(d->functions, struct function_record, i)->public;
		if (strcmp(f->name, name) != 0)
			continue;
		e.rewritten |= f->clang && !f->external;
		const struct symbol *s = f->low ? symbol_at(d->code_symbols, f->low) : NULL;
		if (s != NULL && specialised(s->name))
			e.special = s->name;
		else if (f->low != 0)
			count_entry(&e, f->low);
	}
	for (guint i = 0; i < d->scopes->len; i++) {
		const struct scope *s = AT(d->scopes, struct scope, i);
		const struct debug_function *f = debuginfo_function(d, s->function);
		e.inlined += s->parent != NONE && strcmp(f->name, name) == 0;
	}
	return e;
}

struct debug_local debuginfo_local(const struct debuginfo *d, uint32_t variable)
{
	BUG_ON(variable >= d->locals->len);
	return *AT(d->locals, struct debug_local, variable);
}

/* --- types -------------------------------------------------------------------------- */

const struct debug_type *debuginfo_type(const struct debuginfo *d, uint32_t type)
{
	static const struct debug_type unknown = { .kind = TYPE_UNKNOWN,
		                                   .name = "",
		                                   .target = NONE };
	return type < d->types->len ? &AT(d->types, struct type_record, type)->public
	                            : &unknown;
}

const struct debug_member *debuginfo_member(const struct debuginfo *d, uint32_t member)
{
	BUG_ON(member >= d->members->len);
	return AT(d->members, struct debug_member, member);
}

uint32_t debuginfo_type_count(const struct debuginfo *d)
{
	return d->types->len;
}

uint32_t debuginfo_type_named(const struct debuginfo *d, const char *name)
{
	static const char *const words[] = { "", "struct ", "union ", "class ", "enum " };
	for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
		char *whole = g_strconcat(words[i], name, NULL);
		uint32_t id =
		        GPOINTER_TO_UINT(g_hash_table_lookup(d->types_by_name, whole)) - 1;
		g_free(whole);
		if (id != NONE)
			return id;
	}
	return NONE;
}

static bool is_transparent(enum debug_type_kind kind)
{
	return kind >= TYPE_TYPEDEF && kind <= TYPE_ATOMIC;
}

/* Chains are short; a bound keeps corrupt ones from going round. */
#define LONGEST_CHAIN 64

uint32_t debuginfo_strip(const struct debuginfo *d, uint32_t type)
{
	for (int i = 0; i < LONGEST_CHAIN; i++) {
		const struct debug_type *t = debuginfo_type(d, type);
		if (!is_transparent(t->kind))
			return type;
		type = t->target;
	}
	return NONE;
}

unsigned debuginfo_qualifiers(const struct debuginfo *d, uint32_t type)
{
	unsigned found = 0;
	for (int i = 0; i < LONGEST_CHAIN; i++) {
		const struct debug_type *t = debuginfo_type(d, type);
		if (!is_transparent(t->kind))
			break;
		if (t->kind != TYPE_TYPEDEF)
			found |= 1u << t->kind;
		type = t->target;
	}
	return found;
}

uint64_t debuginfo_size(const struct debuginfo *d, uint32_t type)
{
	uint64_t count = 1;
	for (int i = 0; i < LONGEST_CHAIN; i++) {
		const struct debug_type *t = debuginfo_type(d, type);
		if (t->kind == TYPE_POINTER && t->size == 0)
			return count * sizeof(void *);
		if (t->size != 0)
			return count * t->size;
		if (t->kind == TYPE_ARRAY)
			count *= t->count;
		else if (!is_transparent(t->kind))
			return 0;
		type = t->target;
	}
	return 0;
}

uint32_t debuginfo_pointee(const struct debuginfo *d, uint32_t type)
{
	const struct debug_type *t = debuginfo_type(d, debuginfo_strip(d, type));
	if (t->kind != TYPE_POINTER)
		return NONE;
	uint32_t to = t->target;
	for (int i = 0; i < LONGEST_CHAIN; i++) {
		const struct debug_type *target = debuginfo_type(d, to);
		if (!is_transparent(target->kind) || target->name[0] != '\0')
			break;
		to = target->target;
	}
	return debuginfo_type(d, debuginfo_strip(d, to))->kind == TYPE_UNKNOWN ? NONE : to;
}

static void append_type(const struct debuginfo *d, uint32_t type, GString *name, int depth)
{
	const struct debug_type *t = debuginfo_type(d, type);
	static const char *const words[] = {
		[TYPE_ENUM] = "enum",       [TYPE_STRUCT] = "struct",
		[TYPE_UNION] = "union",     [TYPE_FUNCTION] = "function",
		[TYPE_CONST] = "const ",    [TYPE_VOLATILE] = "volatile ",
		[TYPE_ATOMIC] = "_Atomic ",
	};
	if (depth > 16) {
		g_string_append(name, "...");
	} else if (t->name[0] != '\0') {
		g_string_append(name, t->name);
	} else if (t->kind == TYPE_POINTER) {
		append_type(d, t->target, name, depth + 1);
		g_string_append(name,
		                name->len && name->str[name->len - 1] == '*' ? "*" : " *");
	} else if (t->kind == TYPE_ARRAY) {
		append_type(d, t->target, name, depth + 1);
		g_string_append_printf(name, "[%" G_GUINT64_FORMAT "]", t->count);
	} else if (is_transparent(t->kind)) {
		g_string_append(name, words[t->kind] ? words[t->kind] : "");
		append_type(d, t->target, name, depth + 1);
	} else {
		g_string_append(name, words[t->kind] ? words[t->kind] : "void");
	}
}

void debuginfo_type_name(const struct debuginfo *d, uint32_t type, GString *name)
{
	append_type(d, type, name, 0);
}

static bool holds(const struct debug_member *m, uint64_t offset, uint64_t size)
{
	uint64_t length = m->size ? m->size : UINT32_MAX;
	return m->offset <= offset && offset + size <= m->offset + length;
}

static bool fits_exactly(const struct debuginfo *d, const struct debug_member *m,
                         uint64_t offset, uint64_t size)
{
	GString *scratch = g_string_new(NULL);
	bool exact = debuginfo_part(d, m->type, offset - m->offset, size, scratch).exact;
	g_string_free(scratch, TRUE);
	return exact;
}

/* The member (no bit-field) that holds [offset, offset + size); of a union's the first with a
 * part of just that place and size. */
static const struct debug_member *
member_at(const struct debuginfo *d, const struct debug_type *t, uint64_t offset, uint64_t size)
{
	const struct debug_member *best = NULL;
	for (uint32_t i = 0; i < t->member_count; i++) {
		const struct debug_member *m = debuginfo_member(d, t->members + i);
		if (m->bit_size != 0 || !holds(m, offset, size))
			continue;
		/* a flexible array holds what no member of known size does; empty bases nothing
		 */
		if (best == NULL || (best->size == 0 && m->size != 0))
			best = m;
		if (t->kind == TYPE_UNION && fits_exactly(d, m, offset, size))
			return m;
	}
	return best;
}

/* Bit-fields that share the bytes: ".a/b". */
static bool append_bit_fields(const struct debuginfo *d, const struct debug_type *t,
                              uint64_t offset, uint64_t size, GString *path)
{
	bool any = false;
	for (uint32_t i = 0; i < t->member_count; i++) {
		const struct debug_member *m = debuginfo_member(d, t->members + i);
		if (m->bit_size == 0 || m->offset + m->size <= offset ||
		    offset + size <= m->offset)
			continue;
		g_string_append_printf(path, "%s%s", any ? "/" : ".", m->name);
		any = true;
	}
	return any;
}

struct debug_part debuginfo_part(const struct debuginfo *d, uint32_t type, uint64_t offset,
                                 uint64_t size, GString *path)
{
	struct debug_part part = { .type = type, .owner = NONE };
	uint64_t needed = size ? size : 1;
	bool shared = false; /* by several bit-fields */
	for (int depth = 0; depth < LONGEST_CHAIN; depth++) {
		part.qualifiers |= debuginfo_qualifiers(d, part.type);
		uint32_t whole = debuginfo_strip(d, part.type);
		const struct debug_type *t = debuginfo_type(d, whole);
		if (t->kind == TYPE_ARRAY) {
			uint64_t each = debuginfo_size(d, t->target);
			if (each == 0 || offset % each + needed > each)
				break;
			g_string_append_printf(path, "[%" G_GUINT64_FORMAT "]", offset / each);
			offset %= each;
			part.type = t->target;
			continue;
		}
		if (t->kind != TYPE_STRUCT && t->kind != TYPE_UNION)
			break;
		part.owner = whole;
		const struct debug_member *m = member_at(d, t, offset, needed);
		if (m == NULL) {
			shared = needed < t->size &&
			         append_bit_fields(d, t, offset, needed, path);
			break;
		}
		if (m->name[0] != '\0')
			g_string_append_printf(path, ".%s", m->name);
		offset -= m->offset;
		part.type = m->type;
	}
	part.rest = offset;
	uint64_t length = debuginfo_size(d, part.type);
	part.exact = offset == 0 && !shared && (size == 0 || length == size);
	if (offset != 0 && !shared)
		g_string_append_printf(path, "+%" G_GUINT64_FORMAT, offset);
	return part;
}

/* --- data --------------------------------------------------------------------------- */

const struct debug_variable *debuginfo_data(const struct debuginfo *d, uint64_t address)
{
	const struct debug_variable *v = last_not_above(d->variables, sizeof *v, address);
	return v != NULL && address - v->address < MAX(v->size, 1) ? v : NULL;
}

uint32_t debuginfo_variable_count(const struct debuginfo *d)
{
	return d->variables->len;
}

const struct debug_variable *debuginfo_variable(const struct debuginfo *d, uint32_t variable)
{
	BUG_ON(variable >= d->variables->len);
	return AT(d->variables, struct debug_variable, variable);
}

bool debuginfo_data_name(const struct debuginfo *d, uint64_t address, uint64_t size,
                         GString *name)
{
	const struct debug_variable *v = debuginfo_data(d, address);
	if (v != NULL) {
		g_string_append(name, v->name);
		debuginfo_part(d, v->type, address - v->address, size, name);
		return true;
	}
	const struct symbol *symbol = symbol_at(d->data_symbols, address);
	if (symbol == NULL)
		return false;
	g_string_append(name, symbol->name);
	if (address != symbol->address)
		g_string_append_printf(name, "+%" G_GUINT64_FORMAT, address - symbol->address);
	return true;
}

/* --- frames ------------------------------------------------------------------------- */

/* The function in whose frame the code at `address` runs: the outermost of the nest. */
static uint32_t frame_function(const struct debuginfo *d, uint64_t address)
{
	const struct scope_segment *segment =
	        last_not_above(d->segments, sizeof *segment, address);
	uint32_t function = NONE;
	for (uint32_t at = segment ? segment->scope : NONE; at != NONE;) {
		const struct scope *scope = AT(d->scopes, struct scope, at);
		function = scope->function;
		at = scope->parent;
	}
	return function;
}

static guint first_slot(const struct debuginfo *d, uint32_t function)
{
	guint low = 0, high = d->slots->len;
	while (low < high) {
		guint middle = (low + high) / 2;
		if (AT(d->slots, struct frame_slot, middle)->function < function)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool debuginfo_frame_name(const struct debuginfo *d, uint64_t address, int64_t offset,
                          uint64_t size, GString *name)
{
	uint32_t function = frame_function(d, address);
	const struct frame_slot *found = NULL;
	if (function == NONE)
		return false;
	for (guint i = first_slot(d, function); i < d->slots->len; i++) {
		const struct frame_slot *slot = AT(d->slots, struct frame_slot, i);
		if (slot->function != function || slot->offset > offset)
			break;
		if (slot->name[0] == '\0' ||
		    offset - slot->offset >= (int64_t)debuginfo_size(d, slot->type))
			continue;
		/* one variable has as many slots as bodies were inlined */
		if (found != NULL &&
		    (found->offset != slot->offset || strcmp(found->name, slot->name) != 0))
			return false;
		found = slot;
	}
	if (found == NULL)
		return false;
	g_string_append_printf(name, "%s::%s", debuginfo_function(d, function)->name,
	                       found->name);
	debuginfo_part(d, found->type, (uint64_t)(offset - found->offset), size, name);
	return true;
}
