/*
 * types.c - queries on types: without qualifiers, size, target of a pointer, name, member or
 * element at an offset.
 */
#include "debuginfo/private.h"
#include "engine/base/decimal.h"

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
		g_autofree char *whole = g_strconcat(words[i], name, NULL);
		const uint32_t *entry =
		        debuginfo_named(d->types_by_name, d->types, sizeof(struct type_record),
		                        offsetof(struct type_record, public.name), whole);
		if (entry && *entry)
			return *entry - 1;
	}
	return NONE;
}

static bool is_transparent(enum debug_type_kind kind)
{
	return kind >= TYPE_TYPEDEF && kind <= TYPE_ATOMIC;
}

/* Bound on chains of types, against cycles in corrupt data. */
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

static bool is_empty(const struct debuginfo *d, uint32_t type, int depth)
{
	enum { DEEPEST_BASE = 16 };
	const struct debug_type *t = debuginfo_type(d, debuginfo_strip(d, type));
	bool empty = t->kind == TYPE_STRUCT && t->size <= 1 && depth < DEEPEST_BASE;
	for (uint32_t i = 0; empty && i < t->member_count; i++)
		empty = is_empty(d, debuginfo_member(d, t->members + i)->type, depth + 1);
	return empty;
}

bool debuginfo_is_empty(const struct debuginfo *d, uint32_t type)
{
	return is_empty(d, type, 0);
}

static bool member_holds(const struct debug_member *m, uint64_t offset, uint64_t size)
{
	uint64_t length = m->size ? m->size : UINT32_MAX;
	return m->offset <= offset && offset + size <= m->offset + length;
}

static bool fits_exactly(const struct debuginfo *d, const struct debug_member *m,
                         uint64_t offset, uint64_t size)
{
	g_autoptr(GString) scratch = g_string_new(NULL);
	bool exact = debuginfo_part(d, m->type, offset - m->offset, size, scratch).exact;
	return exact;
}

/* The member (no bit-field) that contains [offset, offset + size), size 0 being one byte of any
 * part; in a union, the first with a part of exactly that place and size. */
static const struct debug_member *
member_at(const struct debuginfo *d, const struct debug_type *t, uint64_t offset, uint64_t size)
{
	const struct debug_member *best = NULL;
	for (uint32_t i = 0; i < t->member_count; i++) {
		const struct debug_member *m = debuginfo_member(d, t->members + i);
		if (m->bit_size != 0 || !member_holds(m, offset, size ? size : 1))
			continue;
		/* a flexible array contains the bytes of no sized member; an empty base none;
		 * a member may lie in the padding at the end of a base class */
		if (best == NULL || (best->size == 0 && m->size != 0) ||
		    (best->size == 1 && is_empty(d, best->type, 0)) ||
		    (t->kind == TYPE_STRUCT && m->size != 0 && m->offset > best->offset))
			best = m;
		if (t->kind == TYPE_UNION && size != 0 && fits_exactly(d, m, offset, size))
			return m;
	}
	return best;
}

/* "enum:IDLE=0,BUSY=1"; "int" where that would be long. */
static void append_enumerators(const struct debuginfo *d, const struct debug_type *t,
                               GString *form)
{
	enum { MOST = 64 };
	if (t->member_count == 0 || t->member_count > MOST) {
		g_string_append(form, "int");
		return;
	}
	for (uint32_t i = 0; i < t->member_count; i++) {
		const struct debug_member *m = debuginfo_member(d, t->members + i);
		int64_t value = (int64_t)m->offset;
		g_string_append(form, i ? "," : "enum:");
		g_string_append(form, m->name);
		g_string_append(form, value < 0 ? "=-" : "=");
		append_decimal(value < 0 ? -(uint64_t)value : (uint64_t)value, form);
	}
}

void debuginfo_form(const struct debuginfo *d, uint32_t type, GString *form)
{
	static const char *const words[] = {
		[ENCODING_SIGNED] = "int",   [ENCODING_UNSIGNED] = "uint",
		[ENCODING_BOOLEAN] = "bool", [ENCODING_CHARACTER] = "char",
		[ENCODING_FLOAT] = "float",
	};
	const struct debug_type *t = debuginfo_type(d, debuginfo_strip(d, type));
	if (t->kind == TYPE_POINTER)
		g_string_append(form, "pointer");
	else if (t->kind == TYPE_ENUM)
		append_enumerators(d, t, form);
	else if (t->kind == TYPE_BASE && words[t->encoding] != NULL)
		g_string_append(form, words[t->encoding]);
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

/* The numbers of an array's elements in a path: the array begins at `from`, and `needed` bytes
 * at `offset` in it are asked for; elements have `each` bytes (0: not known). */
static struct debug_count count_elements(const struct debug_type *array, uint64_t each,
                                         uint64_t from, uint64_t offset, uint64_t needed,
                                         const GString *path)
{
	bool across = each == 0 || offset % each + needed > each;
	return (struct debug_count){ .offset = from,
		                     .each = !across ? each : offset > 0,
		                     .from = path->len + 1,
		                     .first = from + across,
		                     .end = each != 0 ? from + each * array->count : 0,
		                     .stride = each };
}

struct debug_part debuginfo_part(const struct debuginfo *d, uint32_t type, uint64_t offset,
                                 uint64_t size, GString *path)
{
	struct debug_part part = { .type = type, .owner = NONE };
	uint64_t needed = size ? size : 1, whole_offset = offset;
	bool shared = false; /* by several bit-fields */
	bool in_union = false;
	for (int depth = 0; depth < LONGEST_CHAIN; depth++) {
		part.qualifiers |= debuginfo_qualifiers(d, part.type);
		uint32_t whole = debuginfo_strip(d, part.type);
		const struct debug_type *t = debuginfo_type(d, whole);
		if (t->kind == TYPE_ARRAY) {
			uint64_t each = debuginfo_size(d, t->target);
			part.count = count_elements(t, each, whole_offset - offset, offset,
			                            needed, path);
			if (in_union)
				part.count.end = part.count.stride = 0;
			if (each == 0 || offset % each + needed > each)
				break;
			g_string_append_c(path, '[');
			append_decimal(offset / each, path);
			g_string_append_c(path, ']');
			part.count.to = path->len - 1;
			offset %= each;
			part.type = t->target;
			continue;
		}
		if (t->kind != TYPE_STRUCT && t->kind != TYPE_UNION)
			break;
		part.owner = whole;
		in_union |= t->kind == TYPE_UNION; /* another element may fit another member */
		const struct debug_member *m = member_at(d, t, offset, size);
		if (m == NULL) {
			shared = needed < t->size &&
			         append_bit_fields(d, t, offset, needed, path);
			break;
		}
		if (m->name[0] != '\0') {
			g_string_append_c(path, '.');
			g_string_append(path, m->name);
		}
		offset -= m->offset;
		part.type = m->type;
	}
	part.rest = offset;
	uint64_t length = debuginfo_size(d, part.type);
	part.exact = offset == 0 && !shared && (size == 0 || length == size);
	if (offset != 0 && !shared) {
		g_string_append_c(path, '+');
		append_decimal(offset, path);
	}
	if (part.count.to == 0)
		part.count.to = path->len;
	return part;
}
