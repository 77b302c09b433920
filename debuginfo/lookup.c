/*
 * lookup.c - queries by address: binary searches in the arrays of index.c.
 */
#include "debuginfo/private.h"
#include "engine/base/search.h"

#include <string.h>

/* --- code --------------------------------------------------------------------------- */

/* The last element whose leading uint64_t is at most `key`, or NULL. */
static const void *last_not_above(const GArray *array, size_t size, uint64_t key)
{
	uint64_t at;
	size_t end = search_end(i, (size_t)0, (size_t)array->len,
	                        (memcpy(&at, array->data + i * size, sizeof at), at <= key));
	return end ? array->data + (end - 1) * size : NULL;
}

static const struct elf_symbol *symbol_at(const GArray *symbols, uint64_t address)
{
	const struct elf_symbol *s = last_not_above(symbols, sizeof *s, address);
	if (s == NULL)
		return NULL;
	const struct elf_symbol *first = (const struct elf_symbol *)symbols->data;
	while (s > first && s[-1].address == s->address) /* of symbols at one address the
	                                                  * first is best */
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
		const struct code_scope *scope = AT(d->scopes, struct code_scope, at);
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
	const struct elf_symbol *symbol = symbol_at(d->code_symbols, address);
	if (symbol == NULL && file == NONE)
		return 0;
	if (room > 0) {
		place_file(d, &places[0], file, line, column);
		places[0].function = symbol ? symbol->shown : "";
		places[0].function_id = NONE;
		places[0].offset = symbol ? address - symbol->address : 0;
	}
	return 1;
}

const struct debug_function *debuginfo_function(const struct debuginfo *d, uint32_t function)
{
	BUG_ON(function >= d->functions->len);
	return &AT(d->functions, struct function_record, function)->public;
}

uint32_t debuginfo_function_named(const struct debuginfo *d, const char *name)
{
	const uint32_t *entry = debuginfo_named(
	        d->functions_by_name, d->functions, sizeof(struct function_record),
	        offsetof(struct function_record, public.name), name);
	return entry ? *entry - 1 : NONE;
}

/* 1: may hold an address, in an integer register; 0: in an integer register, no address; -1: in
 * another register; -2: unknown. */
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

/* f.constprop.0, f.isra.0: a specialised copy of f. */
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
		const struct elf_symbol *s = AT(d->code_symbols, struct elf_symbol, i);
		if (strcmp(s->name, name) == 0)
			count_entry(&e, s->address);
	}
	for (guint i = 0; i < d->functions->len; i++) {
		const struct debug_function *f =
		        &AT(d->functions, struct function_record, i)->public;
		if (strcmp(f->name, name) != 0)
			continue;
		e.rewritten |= f->clang && !f->external;
		const struct elf_symbol *s = f->low ? symbol_at(d->code_symbols, f->low) : NULL;
		if (s != NULL && specialised(s->name))
			e.special = s->name;
		else if (f->low != 0)
			count_entry(&e, f->low);
	}
	for (guint i = 0; i < d->scopes->len; i++) {
		const struct code_scope *s = AT(d->scopes, struct code_scope, i);
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
	const struct elf_symbol *symbol = symbol_at(d->data_symbols, address);
	if (symbol == NULL)
		return false;
	g_string_append(name, symbol->shown);
	if (address != symbol->address)
		g_string_append_printf(name, "+%" G_GUINT64_FORMAT, address - symbol->address);
	return true;
}

/* --- frames ------------------------------------------------------------------------- */

/* The function whose frame is in use at `address`: the outermost scope. */
static uint32_t frame_function(const struct debuginfo *d, uint64_t address)
{
	const struct scope_segment *segment =
	        last_not_above(d->segments, sizeof *segment, address);
	uint32_t function = NONE;
	for (uint32_t at = segment ? segment->scope : NONE; at != NONE;) {
		const struct code_scope *scope = AT(d->scopes, struct code_scope, at);
		function = scope->function;
		at = scope->parent;
	}
	return function;
}

static guint first_slot(const struct debuginfo *d, uint32_t function)
{
	return search_end(i, 0, d->slots->len,
	                  AT(d->slots, struct frame_slot, i)->function < function);
}

bool debuginfo_frame_name(const struct debuginfo *d, uint64_t address, int64_t offset,
                          uint64_t size, GString *name, struct debug_part *part)
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
		/* a variable has a slot for each inlined body */
		if (found != NULL &&
		    (found->offset != slot->offset || strcmp(found->name, slot->name) != 0))
			return false;
		found = slot;
	}
	if (found == NULL)
		return false;
	g_string_append_printf(name, "%s::%s", debuginfo_function(d, function)->name,
	                       found->name);
	struct debug_part found_part =
	        debuginfo_part(d, found->type, (uint64_t)(offset - found->offset), size, name);
	if (part != NULL)
		*part = found_part;
	return true;
}
