/*
 * name.c - names of variables outside of heap blocks and of objects, and the
 * numbers that keep names apart.  Modules and places are in name_modules.c, heap blocks in
 * name_blocks.c, locals in name_frames.c.  Reads debug information and the half-made trace;
 * changes only the fields that it is asked to fill in.
 */
#include "engine/record/layout.h"
#include "engine/record/names/name_private.h"
#include "engine/base/decimal.h"
#include "engine/base/hash.h"
#include "engine/base/scattered.h"
#include "engine/trace/ending.h"
#include "engine/trace/formats.h"
#include "engine/trace/own_code.h"
#include "engine/trace/shown.h"

#include <stdio.h>
#include <string.h>

/* --- variables ---------------------------------------------------------------------- */

/* The function that owns the frame: the outermost of an inlined chain. */
static void append_first_function(struct names *n, uint32_t location, GString *name)
{
	const struct location *l = location != NONE && location < n->trace->locations_count
	                                   ? &n->trace->locations[location]
	                                   : NULL;
	if (l == NULL || l->module == NONE) {
		g_string_append(name, "unknown");
		return;
	}
	/* Mostly the name before was of an element of the same array. */
	if (n->first_function->len == 0 || n->first_function_at != location) {
		g_string_truncate(n->first_function, 0);
		if (!names_function(n, l->module, l->address, n->first_function))
			g_string_assign(n->first_function, "unknown");
		n->first_function_at = location;
	}
	g_string_append_len(name, n->first_function->str, (gssize)n->first_function->len);
}

/* "local@worker+96": the function in whose frame the byte lay when another thread touched it,
 * else the function of the first access; and the offset in the stack, down from the highest
 * variable there. (Not from the stack's end: above main lie the arguments and the environment,
 * and the name must not depend on them.) variable: NONE: of an object. */
static void append_stack(struct names *n, uint32_t variable, uint32_t stack, uint64_t address,
                         uint32_t location, GString *name)
{
	g_string_append(name, "local@");
	if (variable == NONE || !names_append_sharer(n, variable, name))
		append_first_function(n, location, name);
	g_string_append_c(name, '+');
	append_decimal(n->stack_tops[stack] - address, name);
}

bool names_is_stack(const struct trace *t, uint32_t block)
{
	return block != NONE && t->blocks[block].alloc == NONE;
}

/* --- names that are taken ------------------------------------------------------------ */

static uint64_t hash_text(const char *text, size_t length)
{
	static const uint64_t K = HASH_FACTOR;
	uint64_t hash = length * K, word = 0;
	for (; length >= 8; length -= 8, text += 8) {
		memcpy(&word, text, 8);
		hash = (hash ^ word) * K;
		hash ^= hash >> 29;
	}
	word = 0;
	memcpy(&word, text, length);
	hash = (hash ^ word) * K;
	hash ^= hash >> 32;
	return (hash * K) | 1; /* 0: a free slot */
}

static bool taken_add(struct taken_names *t, uint64_t hash)
{
	uint64_t at = hash >> 8 & t->mask;
	for (; t->slots[at]; at = (at + 1) & t->mask)
		if (t->slots[at] == hash)
			return false;
	t->slots[at] = hash;
	t->count++;
	return true;
}

static void taken_resize(struct taken_names *t, uint64_t slots)
{
	struct taken_names old = *t;
	t->mask = slots - 1;
	t->slots = scattered_new0(uint64_t, slots);
	t->count = 0;
	for (uint64_t i = 0; old.slots && i <= old.mask; i++)
		if (old.slots[i])
			taken_add(t, old.slots[i]);
	g_free(old.slots);
}

/* False when a name with this hash exists: a rare collision only makes a name longer. */
static bool take(struct taken_names *t, const GString *name)
{
	if (t->slots == NULL || t->count > t->mask / 4 * 3)
		taken_resize(t, t->slots ? 2 * (t->mask + 1) : 1024);
	return taken_add(t, hash_text(name->str, name->len));
}

/* Two variables may not share a name: the text format would make them one. */
static void make_unique(struct taken_names *t, GString *name)
{
	gsize length = name->len;
	if (take(t, name))
		return;
	/* Thousands of locks may have been at one address: numbering continues, instead of
	 * trying from 2 on. */
	char *base = g_strdup(name->str);
	guint number = GPOINTER_TO_UINT(g_hash_table_lookup(t->numbers, base));
	if (number == 0)
		number = 1;
	do {
		g_string_truncate(name, length);
		g_string_append_printf(name, "#%u", ++number);
	} while (!take(t, name));
	g_hash_table_insert(t->numbers, base, GUINT_TO_POINTER(number));
}

/* --- variables and objects ------------------------------------------------------------ */

/* The end of the highest variable or object in each stack. */
static void find_stack_tops(struct names *n, const struct trace *t)
{
	n->stack_tops = g_new0(uint64_t, t->blocks_count + 1);
	for (uint64_t i = 0; i < t->variables_count; i++) {
		const struct variable *v = &t->variables[i];
		if (v->block != NONE)
			n->stack_tops[v->block] =
			        MAX(n->stack_tops[v->block], v->address + v->size);
	}
	for (uint64_t i = 0; i < t->objects_count; i++) {
		uint64_t address = t->objects[i].address;
		uint32_t block = address ? names_block_at(n, address, NONE) : NONE;
		if (block != NONE)
			n->stack_tops[block] = MAX(n->stack_tops[block], address);
	}
}

void names_begin(struct names *n, const struct trace *partial)
{
	n->trace = partial;
	for (uint32_t i = n->modules->len; i < partial->modules_count; i++) {
		const struct module *m = &partial->modules[i];
		names_module(n, &(struct name_of_module){
		                        .path = trace_string(partial, m->path),
		                        .build_id = trace_string(partial, m->build_id),
		                        .base = m->base });
	}
	n->first_location = g_new(uint32_t, partial->variables_count + 1);
	memset(n->first_location, 0xff, sizeof(uint32_t) * (partial->variables_count + 1));
	names_begin_lives(n);
	names_begin_blocks(n);
	find_stack_tops(n, partial);
}

/* Is the name "p+12"? No variable of a known type has such a name. */
static bool named_by_distance(const GString *name)
{
	gsize end = name->len;
	while (end > 0 && g_ascii_isdigit(name->str[end - 1]))
		end--;
	return end > 0 && end < name->len && name->str[end - 1] == '+';
}

/* Notes the value form of a pattern: all variables of one are shown alike, or, where their
 * types differ, as numbers. Mostly the preceding name had the same pattern, as an array's
 * elements are consecutive. */
void names_keep_form(struct names *n, const GString *name)
{
	if (n->form->len == 0 && named_by_distance(name))
		return;
	GString *pattern = n->patterns[0];
	g_string_truncate(pattern, 0);
	shown_pattern(name->str, pattern);
	if (g_string_equal(pattern, n->patterns[1]) && g_string_equal(n->form, n->last_form))
		return;
	const char *known = g_hash_table_lookup(n->forms, pattern->str);
	if (known == NULL)
		g_hash_table_insert(n->forms, g_strdup(pattern->str), g_strdup(n->form->str));
	else if (strcmp(known, n->form->str) != 0)
		g_hash_table_replace(n->forms, g_strdup(pattern->str), g_strdup(""));
	n->patterns[0] = n->patterns[1];
	n->patterns[1] = pattern;
	g_string_assign(n->last_form, n->form->str);
}

/* The variable at an address of a stack, or NONE. */
static uint32_t variable_at(const struct trace *t, uint64_t address)
{
	for (uint32_t v = 0; v < t->variables_count; v++)
		if (t->variables[v].address == address)
			return v;
	return NONE;
}

/* Variables that exploration adds to a futex: the sleepers have the word's name, the others a
 * suffix more. */
static bool append_futex(struct names *n, uint64_t address, uint32_t location, GString *name)
{
	static const char *const parts[] = { [LOG_FUTEX_LOCK] = FUTEX_LOCK_SUFFIX,
		                             [LOG_FUTEX_SLEEPERS] = "",
		                             [LOG_FUTEX_COUNT] = "@sleepers" };
	uint64_t part = address % 4, word = (address & ~LOG_FUTEX_BIT) - part;
	if (!(address & LOG_FUTEX_BIT) || part >= G_N_ELEMENTS(parts))
		return false;
	uint32_t block = n->trace ? names_block_at(n, word, NONE) : NONE;
	bool local = block != NONE && names_is_stack(n->trace, block);
	uint32_t variable = local ? variable_at(n->trace, word) : NONE;
	if (local && (variable == NONE || !names_append_local(n, variable, 4, name)))
		append_stack(n, variable, block, word, location, name);
	else if (block != NONE && !local)
		names_append_in_block(n, block, word, 4, name);
	else if (!local && !names_append_data(n, word, 4, name))
		g_string_append_printf(name, NAMES_MEMORY "%" G_GINT64_MODIFIER "x", word);
	g_string_append(name, parts[part]);
	return true;
}

/* The variable that stands for a channel in an exploration: "wake@pipe", by the variable that
 * has its descriptors; else by the number of the one that reads from it, "fd5@pipe". */
static bool append_channel(struct names *n, uint32_t variable, GString *name)
{
	static const char *const forms[] = { [LOG_CHANNEL_PIPE] = "@pipe",
		                             [LOG_CHANNEL_SOCKET] = "@socket",
		                             [LOG_CHANNEL_EVENTFD] = "@eventfd" };
	uint64_t at = (n->trace->variables[variable].address - LOG_CHANNEL_PLACES) / 8;
	uint64_t form = at / LOG_CHANNELS_OF_FORM, ends = names_channel_ends(n, variable);
	uint64_t address = ends & LOG_ADDRESS_MASK;
	gsize before = name->len;
	if (n->trace->variables[variable].address < LOG_CHANNEL_PLACES ||
	    form >= G_N_ELEMENTS(forms))
		return false;
	uint32_t block = names_block_at(n, address, NONE);
	if (block != NONE && !names_is_stack(n->trace, block))
		names_append_in_block(n, block, address, 4, name);
	else if (block != NONE || !names_append_data(n, address, 4, name))
		g_string_append_printf(name, "fd%u", (unsigned)(ends >> 48));
	if (g_str_has_suffix(name->str + before, "[0]"))
		g_string_truncate(name, name->len - 3);
	g_string_append(name, forms[form]);
	g_string_assign(n->form, "channel");
	return true;
}

/* Behind the module that is loaded nearest below: no module has it. */
static bool outside_of_modules(const struct names *n, uint64_t address)
{
	uint32_t module = names_module_below(n, address);
	uint64_t high =
	        module == NONE ? 0 : g_array_index(n->modules, struct name_module, module).high;
	return high != 0 && address >= high;
}

const struct debug_variable *names_loaded_data(struct names *n, uint64_t address,
                                               uint32_t *module)
{
	return outside_of_modules(n, address) ? NULL : names_data(n, address, module);
}

bool names_append_elsewhere(struct names *n, uint32_t variable, GString *name)
{
	const struct variable *v = &n->trace->variables[variable];
	uint32_t location = n->first_location[variable];
	bool known = true;
	g_string_truncate(n->form, 0);
	if (names_append_thread_local(n, v->block, v->address, v->size, name)) {
		/* of a thread */
	} else if (names_is_stack(n->trace, v->block)) {
		if (!names_append_local(n, variable, v->size, name))
			append_stack(n, variable, v->block, v->address, location, name);
	} else if (v->address >= LOG_OMP_SHARES && v->address < LOG_OMP_SHARES + LOG_OMP_END)
		g_string_append_printf(name, "omp_share_%" G_GUINT64_FORMAT,
		                       1 + (v->address - LOG_OMP_SHARES - LOG_OMP_BARRIERS) /
		                                       LOG_OMP_STEP);
	else
		known = append_channel(n, variable, name) ||
		        append_futex(n, v->address, location, name) ||
		        (!outside_of_modules(n, v->address) &&
		         (names_append_data(n, v->address, v->size, name) ||
		          names_append_library(n, variable, v->address, v->size, name)));
	if (!known) {
		g_string_append(name, NAMES_MEMORY);
		append_hexadecimal(v->address, name);
	}
	return known;
}

void names_make_unique(struct names *n, GString *name)
{
	make_unique(&n->variables_taken, name);
}

void names_forms(void *context, struct builder *b)
{
	struct names *n = context;
	GList *patterns = NULL; /* that have a form */
	GHashTableIter all;
	gpointer pattern, form;
	g_hash_table_iter_init(&all, n->forms);
	while (g_hash_table_iter_next(&all, &pattern, &form))
		if (*(const char *)form != '\0')
			patterns = g_list_prepend(patterns, pattern);
	patterns = g_list_sort(patterns, (GCompareFunc)strcmp);
	for (GList *p = patterns; p != NULL; p = p->next) {
		char *value = g_strdup_printf(
		        "%s %s", (const char *)g_hash_table_lookup(n->forms, p->data),
		        (const char *)p->data);
		builder_late_note(b, SHOWN_NOTE, value);
		g_free(value);
	}
	g_list_free(patterns);
	for (guint i = 0; i < n->unseen->len; i++)
		builder_late_note(b, TRACE_UNSEEN_NOTE, n->unseen->pdata[i]);
}

/* Leaves out members of the libraries' types, which are no names of the user's: a mutex
 * "forks._M_impl._M_start[1].m.__data.__lock" is "forks[1].m". */
static void cut_library_members(GString *name)
{
	static const char *const inner[] = { ".__data",  ".__size",  ".__align",
		                             "->__data", "->__size", "->__align" };
	for (size_t i = 0; i < G_N_ELEMENTS(inner); i++) {
		char *at = strstr(name->str, inner[i]);
		if (at != NULL && at != name->str)
			g_string_truncate(name, (gsize)(at - name->str));
	}
	size_t own = own_code_length(name->str);
	g_autofree char *whole = g_strndup(name->str, own > 0 ? own : name->len);
	g_string_truncate(name, 0);
	own_code_shorten(whole, name);
}

void names_object(void *context, const struct object *o, GString *out)
{
	struct names *n = context;
	if (o->address == 0)
		return;
	GString *name = g_string_new(NULL);
	size_t index = n->trace ? (size_t)(o - n->trace->objects) : SIZE_MAX;
	struct first_use first = names_first_use(n, index);
	uint32_t block = n->trace ? names_block_at(n, o->address, first.number) : NONE;
	if (append_futex(n, o->address, first.location, name)) {
		/* else it has no address of its own */
	} else if (names_append_thread_local(n, block, o->address, 0, name)) {
		cut_library_members(name);
	} else if (block != NONE && names_is_stack(n->trace, block)) {
		if (index >= n->trace->objects_count ||
		    !names_append_local_object(n, (uint32_t)index, name))
			append_stack(n, NONE, block, o->address, first.location, name);
		cut_library_members(name);
	} else if (block != NONE) {
		names_append_in_block(n, block, o->address, 0, name);
		cut_library_members(name);
		if (g_str_has_suffix(name->str, "+0")) /* alone in a block of unknown type */
			g_string_truncate(name, name->len - 2);
	} else if (names_append_data(n, o->address, 0, name)) {
		cut_library_members(name);
	} else if (n->trace == NULL || !names_append_library(n, NONE, o->address, 0, name)) {
		g_string_append(name, "sync@");
		append_first_function(n, first.location, name);
		g_string_append_printf(name, "+0x%" G_GINT64_MODIFIER "x", o->address);
	}
	make_unique(&n->objects_taken, name);
	g_string_append(out, name->str);
	g_string_free(name, TRUE);
}
