/*
 * dwarf.c - reads a module's DWARF (versions 2 to 5, gcc and clang) into the arrays of
 * private.h: units and their nested DIEs. No object of libdwarf outlives debuginfo_read_dwarf.
 *
 * DIEs refer to each other by offset in .debug_info, also forwards: an offset gets its id at
 * the first mention, and the record is filled in when its DIE is read.
 */
#include "debuginfo/dwarf_reader.h"

#include <string.h>

#define DEEPEST 200 /* nesting of DIEs; deeper ones are taken as corrupt */

/* A variable's or parameter's DIE, for DIEs that refer to it. */
struct named_die {
	const char *name;
	const char *file;
	uint32_t type, line;
	bool external;
};

struct pending_name {
	uint32_t variable;
	uint64_t origin;
};

/* The enclosing context of a DIE's children. */
struct die_level {
	uint32_t function;           /* or NONE */
	uint32_t frame;              /* function whose frame it is; NONE: frame base unknown */
	int64_t frame_base;          /* base of DW_OP_fbreg, from the CFA */
	uint32_t scope;              /* or NONE */
	uint32_t type;               /* enclosing struct or array, or NONE */
	GArray *parameters, *locals; /* struct debug_local of `function`; or NULL */
	unsigned depth;
};

/* --- ids ---------------------------------------------------------------------------- */

static uint32_t id_at(GHashTable *ids, uint64_t offset)
{
	return GPOINTER_TO_UINT(g_hash_table_lookup(ids, GSIZE_TO_POINTER(offset))) - 1;
}

static void id_set(GHashTable *ids, uint64_t offset, uint32_t id)
{
	g_hash_table_insert(ids, GSIZE_TO_POINTER(offset), GUINT_TO_POINTER(id + 1));
}

static uint32_t type_id(struct dwarf_reader *r, uint64_t offset)
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

static uint32_t function_id(struct dwarf_reader *r, uint64_t offset)
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

/* --- DIEs --------------------------------------------------------------------------- */

static const char *qualified(struct dwarf_reader *r, const char *name)
{
	if (name == NULL)
		return "";
	if (!r->qualified || r->prefix->len == 0)
		return debuginfo_intern(r->d, name);
	g_autofree char *whole = g_strconcat(r->prefix->str, name, NULL);
	return debuginfo_intern(r->d, whole);
}

static const char *tagged(struct dwarf_reader *r, const char *tag, const char *name)
{
	if (name == NULL || r->qualified)
		return qualified(r, name);
	g_autofree char *whole = g_strconcat(tag, " ", name, NULL);
	return debuginfo_intern(r->d, whole);
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

static void walk_children(struct dwarf_reader *r, Dwarf_Die die, struct die_level *level);

/* An array of several dimensions becomes an array of arrays. */
static void finish_array(struct dwarf_reader *r, uint32_t id, uint32_t element,
                         const GArray *counts)
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

static void read_array(struct dwarf_reader *r, Dwarf_Die die, uint32_t id, uint32_t element)
{
	g_autoptr(GArray) counts = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	Dwarf_Error error = NULL;
	Dwarf_Die child, next;
	bool more = reader_fine(r, dwarf_child(die, &child, &error), &error);
	while (more) {
		struct die_facts f;
		if (reader_facts(r, child, &f) && f.tag == DW_TAG_subrange_type) {
			uint64_t count = f.has_count ? f.count : 0;
			g_array_append_val(counts, count);
		}
		reader_release_facts(r, &f);
		more = reader_fine(r, dwarf_siblingof_b(r->dbg, child, 1, &next, &error),
		                   &error);
		dwarf_dealloc(r->dbg, child, DW_DLA_DIE);
		child = next;
	}
	finish_array(r, id, element, counts);
}

/* Children of a named scope: their names begin with `name`::. */
static void walk_named(struct dwarf_reader *r, Dwarf_Die die, const char *name,
                       struct die_level *inner)
{
	gsize prefix = r->prefix->len;
	if (name != NULL)
		g_string_append_printf(r->prefix, "%s::", name);
	walk_children(r, die, inner);
	g_string_truncate(r->prefix, prefix);
}

/* "main::lambda" for a lambda, which DWARF describes as a nameless class with an operator();
 * NULL for a class with a name. */
static const char *closure_name(struct dwarf_reader *r, const struct die_facts *f,
                                const struct die_level *outer)
{
	if (f->name != NULL || !r->qualified)
		return NULL;
	enum { HOPS = 4 }; /* a definition and its declaration */
	const char *function = NULL;
	uint32_t id = outer->function;
	for (int hop = 0; id != NONE && hop < HOPS; hop++) {
		const struct function_record *record =
		        AT(r->d->functions, struct function_record, id);
		function = record->public.name;
		id = function != NULL && *function ? NONE : record->origin;
	}
	if (function == NULL || *function == '\0')
		return qualified(r, "lambda");
	g_autofree char *whole = g_strconcat(function, "::lambda", NULL);
	return debuginfo_intern(r->d, whole);
}

/* gcc spells the variables that a lambda captures with two underscores before their names. */
static void name_captures(struct debuginfo *d, GArray *members)
{
	for (guint i = 0; i < members->len; i++) {
		struct debug_member *m = AT(members, struct debug_member, i);
		if (g_str_has_prefix(m->name, "__"))
			m->name = debuginfo_intern(d, m->name + strlen("__"));
	}
}

/* The members of a struct, or the names of an enumeration, are collected in its level's
 * `locals`, as debug_member. */
static void read_struct(struct dwarf_reader *r, Dwarf_Die die, const struct die_facts *f,
                        uint32_t id, const struct die_level *outer)
{
	struct debuginfo *d = r->d;
	g_autoptr(GArray) members = g_array_new(FALSE, FALSE, sizeof(struct debug_member));
	struct die_level inner = { .function = NONE,
		                   .scope = NONE,
		                   .type = id,
		                   .locals = members,
		                   .depth = outer->depth + 1 };
	const char *closure = r->closure;
	bool called = r->called;
	r->closure = closure_name(r, f, outer);
	r->called = false;
	walk_named(r, die, f->name, &inner);
	if (r->called)
		name_captures(d, members);
	r->closure = closure;
	r->called = called;
	struct debug_type *type = &AT(d->types, struct type_record, id)->public;
	type->members = d->members->len;
	type->member_count = members->len;
	g_array_append_vals(d->members, members->data, members->len);
}

static enum debug_encoding encoding_of(const struct die_facts *f)
{
	switch (f->encoding) {
	case DW_ATE_boolean:
		return ENCODING_BOOLEAN;
	case DW_ATE_signed:
		return ENCODING_SIGNED;
	case DW_ATE_signed_char:
	case DW_ATE_unsigned_char: /* plain char is one of both; (u)int8_t is no text either way
	                            */
		return f->name != NULL && strcmp(f->name, "char") == 0 ? ENCODING_CHARACTER
		       : f->encoding == DW_ATE_signed_char             ? ENCODING_SIGNED
		                                                       : ENCODING_UNSIGNED;
	case DW_ATE_unsigned:
	case DW_ATE_UTF:
		return ENCODING_UNSIGNED;
	case DW_ATE_float:
		return ENCODING_FLOAT;
	default:
		return ENCODING_UNKNOWN;
	}
}

static bool read_type(struct dwarf_reader *r, Dwarf_Die die, const struct die_facts *f,
                      const struct die_level *level)
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
	if (type->public.kind == TYPE_BASE)
		type->public.encoding = encoding_of(f);
	if (type->public.kind == TYPE_ARRAY)
		read_array(r, die, id, target);
	else if (type->public.kind == TYPE_STRUCT || type->public.kind == TYPE_UNION ||
	         type->public.kind == TYPE_ENUM)
		read_struct(r, die, f, id, level);
	return true;
}

static void add_named(struct dwarf_reader *r, const struct die_facts *f,
                      const struct named_die *named)
{
	if (f->name == NULL)
		return;
	id_set(r->named_ids, f->offset, r->named->len);
	g_array_append_val(r->named, *named);
}

static void read_member(struct dwarf_reader *r, const struct die_facts *f,
                        const struct die_level *level)
{
	if (level->type == NONE || level->locals == NULL)
		return;
	if (f->declaration || f->external) { /* a static member, defined elsewhere */
		struct named_die named = { qualified(r, f->name), reader_file_name(r, f->file),
			                   type_id(r, f->type), (uint32_t)f->line,
			                   f->external };
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

/* libstdc++ has the element of a node, and the object of make_shared, in a struct of bytes
 * whose template argument is their type: an object of that type lies there. */
static void read_argument(struct dwarf_reader *r, const struct die_facts *f,
                          const struct die_level *level)
{
	static const char *const buffers[] = { "__gnu_cxx::__aligned_buffer<",
		                               "__gnu_cxx::__aligned_membuf<" };
	if (level->type == NONE || level->locals == NULL || f->type == 0)
		return;
	const char *name = AT(r->d->types, struct type_record, level->type)->public.name;
	for (size_t i = 0; i < G_N_ELEMENTS(buffers); i++) {
		struct debug_member member = { .name = "", .type = type_id(r, f->type) };
		if (g_str_has_prefix(name, buffers[i]))
			g_array_prepend_val(level->locals, member);
	}
}

static void read_enumerator(struct dwarf_reader *r, const struct die_facts *f,
                            const struct die_level *level)
{
	struct debug_member member = { .type = NONE, .offset = f->value };
	if (level->type == NONE || level->locals == NULL || f->name == NULL || !f->has_value)
		return;
	member.name = debuginfo_intern(r->d, f->name);
	g_array_append_val(level->locals, member);
}

/* A local or parameter with a fixed place in its function's frame. */
static void add_slot(struct dwarf_reader *r, const struct die_facts *f,
                     const struct die_level *level, const struct named_die *named,
                     uint64_t origin)
{
	struct frame_slot slot = { .function = level->frame,
		                   .offset = level->frame_base + (int64_t)f->address,
		                   .name = named->name,
		                   .type = named->type };
	if (origin != 0) {
		struct pending_name pending = { r->d->slots->len, origin };
		g_array_append_val(r->pending_slots, pending);
	}
	g_array_append_val(r->d->slots, slot);
}

/* Parameters of a declaration have types but no names. */
static bool in_declaration(const struct dwarf_reader *r, const struct die_level *level)
{
	return level->function != NONE &&
	       AT(r->d->functions, struct function_record, level->function)->declaration;
}

static void read_variable(struct dwarf_reader *r, const struct die_facts *f,
                          const struct die_level *level)
{
	struct debuginfo *d = r->d;
	uint64_t origin = f->specification ? f->specification : f->origin;
	bool local = level->function != NONE && level->parameters != NULL;
	struct named_die named = { .name = f->name == NULL ? ""
		                           : level->function != NONE
		                                   ? debuginfo_intern(d, f->name)
		                                   : qualified(r, f->name),
		                   .file = reader_file_name(r, f->file),
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
			struct pending_name pending = { d->variables->len, origin };
			g_array_append_val(r->pending, pending);
		}
		g_array_append_val(d->variables, variable);
		return;
	}
	if (f->place == PLACE_FRAME && level->frame != NONE)
		add_slot(r, f, level, &named, origin);
	bool unnamed = f->name == NULL;
	if (local &&
	    (!unnamed || (f->tag == DW_TAG_formal_parameter && in_declaration(r, level)))) {
		struct debug_local entry = { named.name, named.type };
		g_array_append_val(f->tag == DW_TAG_formal_parameter ? level->parameters
		                                                     : level->locals,
		                   entry);
	}
}

/* "..." in a declaration */
static void read_rest(struct dwarf_reader *r, const struct die_level *level)
{
	struct debug_local entry = { "...", NONE };
	if (in_declaration(r, level) && level->parameters != NULL)
		g_array_append_val(level->parameters, entry);
}

static void read_function(struct dwarf_reader *r, Dwarf_Die die, const struct die_facts *f,
                          const struct die_level *outer)
{
	struct debuginfo *d = r->d;
	uint32_t id = function_id(r, f->offset);
	uint32_t origin = function_id(r, f->origin ? f->origin : f->specification);
	const char *closure = r->closure, *file = reader_file_name(r, f->file);
	bool is_call = closure && f->name && g_str_has_prefix(f->name, "operator()");
	r->called |= is_call;
	/* the compiler's own functions have symbols as names */
	bool outlined = f->name != NULL && strchr(f->name, '.') != NULL;
	const char *name = is_call    ? closure
	                   : outlined ? debuginfo_shown(d, debuginfo_intern(d, f->name))
	                              : qualified(r, f->name);
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
		scope = reader_add_scope(r, f, id, NONE);
	if (d->ranges->len > first_range) {
		const struct scope_range *range =
		        AT(d->ranges, struct scope_range, first_range);
		record->public.low = range->low;
		record->public.high = range->high;
	}
	int64_t depth = 0;
	bool framed = f->has_frame_base &&
	              (!f->frame_on_rsp || (f->has_low && f->has_high &&
	                                    reader_frame_depth(r, f->low, f->high, &depth)));
	struct die_level inner = { .function = id,
		                   .frame = framed ? id : NONE,
		                   .frame_base = f->frame_base - depth,
		                   .scope = scope,
		                   .type = NONE,
		                   .depth = outer->depth + 1 };
	if (f->origin == 0) { /* else the abstract instance has the names */
		inner.parameters = g_array_new(FALSE, FALSE, sizeof(struct debug_local));
		inner.locals = g_array_new(FALSE, FALSE, sizeof(struct debug_local));
	}
	r->closure = NULL;
	walk_children(r, die, &inner);
	r->closure = closure;
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

/* gcc writes an inlined call without remaining code (its range is empty) without an origin,
 * so its function is unknown: its contents count as the caller's. */
static void read_inlined(struct dwarf_reader *r, Dwarf_Die die, const struct die_facts *f,
                         const struct die_level *outer)
{
	uint32_t scope = outer->scope, function = function_id(r, f->origin);
	if (function == NONE)
		function = outer->function;
	else if (scope != NONE)
		scope = reader_add_scope(r, f, function, scope);
	struct die_level inner = { .function = function,
		                   .frame = outer->frame,
		                   .frame_base = outer->frame_base,
		                   .scope = scope,
		                   .type = NONE,
		                   .depth = outer->depth + 1 };
	walk_children(r, die, &inner);
}

static void read_namespace(struct dwarf_reader *r, Dwarf_Die die, const struct die_facts *f,
                           const struct die_level *outer)
{
	struct die_level inner = { .function = NONE,
		                   .frame = NONE,
		                   .scope = NONE,
		                   .type = NONE,
		                   .depth = outer->depth + 1 };
	walk_named(r, die, f->name, &inner);
}

static void read_die(struct dwarf_reader *r, Dwarf_Die die, struct die_level *level)
{
	struct die_facts f;
	if (reader_facts(r, die, &f) && !read_type(r, die, &f, level)) {
		switch (f.tag) {
		case DW_TAG_member:
		case DW_TAG_inheritance:
			read_member(r, &f, level);
			break;
		case DW_TAG_template_type_parameter:
			read_argument(r, &f, level);
			break;
		case DW_TAG_enumerator:
			read_enumerator(r, &f, level);
			break;
		case DW_TAG_variable:
		case DW_TAG_formal_parameter:
			read_variable(r, &f, level);
			break;
		case DW_TAG_unspecified_parameters:
			read_rest(r, level);
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
			struct die_level inner = *level;
			inner.depth++;
			walk_children(r, die, &inner);
			break;
		}
		default:
			break;
		}
	}
	reader_release_facts(r, &f);
}

static void walk_children(struct dwarf_reader *r, Dwarf_Die die, struct die_level *level)
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
		reader_damaged(r, "entries", &error);
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

/* A string attribute of the unit's DIE; "" when absent. */
static const char *unit_text(struct dwarf_reader *r, Dwarf_Half name)
{
	Dwarf_Error error = NULL;
	Dwarf_Attribute attribute;
	const char *text = "";
	char *found;
	if (reader_fine(r, dwarf_attr(r->unit, name, &attribute, &error), &error)) {
		if (reader_fine(r, dwarf_formstring(attribute, &found, &error), &error))
			text = debuginfo_intern(r->d, found);
		dwarf_dealloc(r->dbg, attribute, DW_DLA_ATTR);
	}
	return text;
}

/* clang names its command line with -grecord-command-line alone. */
static enum debug_reads reads_by(const char *producer)
{
	bool whole = strstr(producer, " -") != NULL;
	if (strstr(producer, "clang") == NULL ||
	    strstr(producer, "-tsan-instrument-read-before-write=1") != NULL ||
	    (whole && strstr(producer, "-fsanitize=thread") == NULL))
		return READS_KEPT;
	return strstr(producer, "rustc") != NULL ? READS_UNKNOWN : READS_LEFT_OUT;
}

static void read_unit(struct dwarf_reader *r)
{
	Dwarf_Error error = NULL;
	Dwarf_Unsigned language;
	struct die_facts f;
	r->directory = unit_text(r, DW_AT_comp_dir);
	const char *producer = unit_text(r, DW_AT_producer);
	r->clang = strstr(producer, "clang") != NULL;
	r->d->reads = MAX(r->d->reads, reads_by(producer));
	r->qualified = reader_fine(r, dwarf_srclang(r->unit, &language, &error), &error) &&
	               is_qualified_language(language);
	reader_facts(r, r->unit, &f);
	r->base = f.has_low ? f.low : 0;
	reader_release_facts(r, &f);
	reader_files(r);
	reader_lines(r);
	g_string_truncate(r->prefix, 0);
	struct die_level top = { .function = NONE, .frame = NONE, .scope = NONE, .type = NONE };
	walk_children(r, r->unit, &top);
	g_free(r->file_map);
	r->file_map = NULL;
}

/* Map the signature of a type unit to its type. */
static void note_signature(struct dwarf_reader *r, const Dwarf_Sig8 *signature,
                           uint64_t type_offset)
{
	Dwarf_Error error = NULL;
	Dwarf_Off unit, length;
	if (reader_fine(r, dwarf_die_CU_offset_range(r->unit, &unit, &length, &error), &error))
		id_set(r->type_ids, unit + type_offset,
		       type_id(r, reader_signature(signature)));
}

static void read_units(struct dwarf_reader *r)
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
			reader_damaged(r, "unit header", &error);
		if (result != DW_DLV_OK)
			return;
		if (dwarf_siblingof_b(r->dbg, NULL, 1, &r->unit, &error) != DW_DLV_OK) {
			reader_damaged(r, "unit", &error);
			return;
		}
		r->d->has_dwarf = true;
		if (kind == DW_UT_type)
			note_signature(r, &signature, type_offset);
		read_unit(r);
		dwarf_dealloc(r->dbg, r->unit, DW_DLA_DIE);
	}
}

/* Complete definitions from their declaration or abstract origin. */
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

static void resolve_variables(struct dwarf_reader *r)
{
	for (guint i = 0; i < r->pending->len; i++) {
		const struct pending_name *p = AT(r->pending, struct pending_name, i);
		struct debug_variable *v =
		        AT(r->d->variables, struct debug_variable, p->variable);
		uint32_t origin = id_at(r->named_ids, p->origin);
		if (origin == NONE)
			continue;
		const struct named_die *named = AT(r->named, struct named_die, origin);
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

static void resolve_slots(struct dwarf_reader *r)
{
	for (guint i = 0; i < r->pending_slots->len; i++) {
		const struct pending_name *p = AT(r->pending_slots, struct pending_name, i);
		struct frame_slot *slot = AT(r->d->slots, struct frame_slot, p->variable);
		uint32_t origin = id_at(r->named_ids, p->origin);
		if (origin == NONE)
			continue;
		const struct named_die *named = AT(r->named, struct named_die, origin);
		if (slot->name[0] == '\0')
			slot->name = named->name;
		if (slot->type == NONE)
			slot->type = named->type;
	}
}

/* Later versions lack this version's reserved parameters: this is the only call. */
static int open_dwarf(struct debuginfo *d, Dwarf_Debug *dbg, char *real, unsigned room,
                      Dwarf_Error *error)
{
	unsigned char source;
	return dwarf_init_path_dl(d->path, real, room, DW_DLC_READ, DW_GROUPNUMBER_ANY, NULL,
	                          NULL, dbg, NULL, 0, &source, NULL, 0, NULL, error);
}

void debuginfo_read_dwarf(struct debuginfo *d)
{
	struct dwarf_reader r = { .d = d };
	Dwarf_Error error = NULL;
	char real[4096] = "";
	int result = open_dwarf(d, &r.dbg, real, sizeof real, &error);
	if (result == DW_DLV_ERROR)
		reader_damaged(&r, "DWARF", &error);
	if (result != DW_DLV_OK)
		return;
	r.file = real[0] != '\0' ? real : d->path;
	if (strcmp(r.file, d->path) != 0)
		debuginfo_read_more_symbols(d, r.file);
	r.type_ids = g_hash_table_new(NULL, NULL);
	r.function_ids = g_hash_table_new(NULL, NULL);
	r.named_ids = g_hash_table_new(NULL, NULL);
	r.file_ids = g_hash_table_new(g_str_hash, g_str_equal);
	r.named = g_array_new(FALSE, FALSE, sizeof(struct named_die));
	r.pending = g_array_new(FALSE, FALSE, sizeof(struct pending_name));
	r.pending_slots = g_array_new(FALSE, FALSE, sizeof(struct pending_name));
	r.prefix = g_string_new(NULL);
	Dwarf_Cie *cies = NULL;
	Dwarf_Signed cie_count = 0, fde_count = 0;
	if (!reader_fine(&r,
	                 dwarf_get_fde_list_eh(r.dbg, &cies, &cie_count, &r.fdes, &fde_count,
	                                       &error),
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
	g_clear_pointer(&r.lines, g_bytes_unref);
	dwarf_finish(r.dbg, &error);
}
