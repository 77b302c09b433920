/*
 * index.c - sorts the arrays for binary search: lines, symbols, variables and frame slots by
 * address, functions and types by name. Nested and overlapping code ranges become disjoint
 * segments with their innermost scope.
 */
#include "engine/base/compare.h"
#include "debuginfo/private.h"

static int by_line(const void *a, const void *b)
{
	const struct line_row *x = a, *y = b;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	bool x_ends = x->file == NONE, y_ends = y->file == NONE;
	if (x_ends != y_ends) /* at one address, the start of a sequence counts, not the end
	                       * of another */
		return x_ends ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* Keep the last row of an address; a row without a line takes the one before. */
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
	uint32_t dx = AT((GArray *)scopes, struct code_scope, x->scope)->depth;
	uint32_t dy = AT((GArray *)scopes, struct code_scope, y->scope)->depth;
	if (dx != dy)
		return dx < dy ? -1 : 1;
	return x->high > y->high ? -1 : x->high < y->high;
}

/* Flatten nested ranges into disjoint segments with their innermost scope. */
static void index_scopes(struct debuginfo *d)
{
	g_array_sort_with_data(d->ranges, by_range, d->scopes);
	g_autoptr(GArray) open = g_array_new(FALSE, FALSE, sizeof(struct open_range));
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
	g_array_set_size(d->ranges, 0);
}

static int by_symbol(const void *a, const void *b)
{
	const struct elf_symbol *x = a, *y = b;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return y->global - x->global;
}

static int by_variable(const void *a, const void *b)
{
	const struct debug_variable *x = a, *y = b;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	/* the most informative one first */
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
	debuginfo_begin_table(d->types_by_name, d->types->len);
	for (guint i = 0; i < d->types->len; i++) {
		const struct type_record *type = AT(d->types, struct type_record, i);
		if (type->public.name[0] == '\0' || type->declaration)
			continue;
		uint32_t *entry = debuginfo_named(d->types_by_name, d->types, sizeof *type,
		                                  offsetof(struct type_record, public.name),
		                                  type->public.name);
		*entry = *entry ? *entry : i + 1;
	}
	/* Complete declarations by definitions in other units. */
	for (guint i = 0; i < d->types->len; i++) {
		struct type_record *type = AT(d->types, struct type_record, i);
		if (!type->declaration)
			continue;
		uint32_t whole = debuginfo_type_named(d, type->public.name);
		if (whole != NONE)
			type->public = AT(d->types, struct type_record, whole)->public;
	}
	/* Sizes of members, now that all types are known. */
	for (guint i = 0; i < d->members->len; i++) {
		struct debug_member *m = AT(d->members, struct debug_member, i);
		if (m->bit_size == 0)
			m->size = debuginfo_size(d, m->type);
	}
}

static void index_functions(struct debuginfo *d)
{
	g_array_sort(d->taken, compare_u64);
	debuginfo_begin_table(d->functions_by_name, d->functions->len);
	for (guint i = 0; i < d->functions->len; i++) {
		struct function_record *f = AT(d->functions, struct function_record, i);
		f->public.address_taken = f->public.low != 0 && d->taken->len > 0 &&
		                          bsearch(&f->public.low, d->taken->data, d->taken->len,
		                                  sizeof(uint64_t), compare_u64) != NULL;
		if (f->public.name[0] == '\0')
			continue;
		uint32_t *entry = debuginfo_named(d->functions_by_name, d->functions, sizeof *f,
		                                  offsetof(struct function_record, public.name),
		                                  f->public.name);
		if (*entry == 0 ||
		    (f->public.low != 0 && debuginfo_function(d, *entry - 1)->low == 0))
			*entry = i + 1;
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
