/*
 * name_modules.c - the modules of a recording: their debug information, opened when it is first
 * asked for; source places and functions of code addresses; static variables of data addresses.
 */
#include "engine/record/names/name_private.h"
#include "engine/record/record.h"
#include "engine/trace/own_code.h"

#include <stdio.h>
#include <string.h>

#define DEEPEST_INLINING 16

/* --- modules ------------------------------------------------------------------------ */

void names_clear_module(gpointer data)
{
	struct name_module *m = data;
	if (!m->kept)
		debuginfo_close(m->debuginfo);
	debuginfo_close(m->symbols);
	g_free(m->path);
	g_free(m->build_id);
}

void names_module(struct names *n, const struct name_of_module *module)
{
	struct name_module m = { .path = g_strdup(module->path),
		                 .build_id = g_strdup(module->build_id ? module->build_id : ""),
		                 .base = module->base,
		                 .low = module->low,
		                 .high = module->high,
		                 .locals_below = module->locals_below,
		                 .locals_bytes = module->locals_bytes,
		                 .c_library = module->c_library };
	g_array_append_val(n->modules, m);
}

static void open_module(struct names *n, uint32_t index)
{
	struct name_module *m = &g_array_index(n->modules, struct name_module, index);
	struct error error = { 0 };
	m->tried = true;
	if (m->path[0] != '/' || m->c_library)
		return; /* not a file: the kernel's vdso */
	m->kept = n->store != NULL;
	m->debuginfo = m->kept ? debug_store_open(n->store, m->path, m->build_id, &error)
	                       : debuginfo_open(m->path, m->build_id, &error);
	char *last = g_path_get_basename(m->path);
	if (m->debuginfo == NULL)
		g_ptr_array_add(n->warnings,
		                g_strdup_printf("%s: %s%s%s", error.where, error.what,
		                                error.remedy[0] ? "; " : "", error.remedy));
	else if (debuginfo_damage(m->debuginfo))
		g_ptr_array_add(n->warnings,
		                g_strdup_printf("%s: damaged debug information: %s", last,
		                                debuginfo_damage(m->debuginfo)));
	else if (index == 0 && !debuginfo_has_dwarf(m->debuginfo))
		g_ptr_array_add(
		        n->warnings,
		        g_strdup_printf("%s: no debug information (stripped?), names are "
		                        "symbols and offsets; build with -g",
		                        last));
	char *reads = m->debuginfo ? record_reads_text(m->debuginfo, last) : NULL;
	if (reads != NULL)
		g_ptr_array_add(n->warnings, reads);
	char *atomic = m->debuginfo ? record_atomic_place(m->debuginfo) : NULL;
	if (atomic != NULL)
		g_ptr_array_add(n->warnings, record_atomic_text(atomic));
	/* A module without hooks needs no warning: its calls are in the trace, with the
	 * memory they may reach. */
	if (atomic != NULL && record_file_instrumented(m->path))
		g_ptr_array_add(n->unseen, atomic);
	else
		g_free(atomic);
	g_free(last);
}

struct debuginfo *names_debuginfo(struct names *n, uint32_t module)
{
	if (module >= n->modules->len)
		return NULL;
	if (!g_array_index(n->modules, struct name_module, module).tried)
		open_module(n, module);
	return g_array_index(n->modules, struct name_module, module).debuginfo;
}

bool names_append_symbol(struct names *n, uint32_t module, uint64_t address, GString *name)
{
	struct name_module *m = &g_array_index(n->modules, struct name_module, module);
	if (m->c_library && !m->tried_symbols)
		m->symbols = debuginfo_open_symbols(m->path, m->build_id);
	m->tried_symbols = true;
	return m->symbols != NULL &&
	       debuginfo_data_name(m->symbols, address - m->base, 0, name);
}

uint64_t names_base(const struct names *n, uint32_t module)
{
	return g_array_index(n->modules, struct name_module, module).base;
}

uint32_t names_module_below(const struct names *n, uint64_t address)
{
	uint32_t best = NONE;
	for (uint32_t i = 0; i < n->modules->len; i++)
		if (names_base(n, i) <= address &&
		    (best == NONE || names_base(n, i) > names_base(n, best)))
			best = i;
	return best;
}

const struct debug_variable *names_data(struct names *n, uint64_t address, uint32_t *module)
{
	*module = names_module_below(n, address);
	struct debuginfo *d = names_debuginfo(n, *module);
	return d ? debuginfo_data(d, address - names_base(n, *module)) : NULL;
}

static bool is_operator(const char *function, const char *end)
{
	return end - function >= 8 && strncmp(end - 8, "operator", 8) == 0;
}

/* Template arguments are left out; in operators < and > are kept. */
void names_append_function(const char *function, GString *name)
{
	int depth = 0;
	for (const char *c = function; *c; c++) {
		if (*c == '<' && c > function && c[-1] != '<' && !is_operator(function, c))
			depth++;
		if (depth == 0)
			g_string_append_c(name, *c);
		if (*c == '>' && depth > 0)
			depth--;
	}
	if (depth > 0) { /* unbalanced: some operator, kept as it is */
		g_string_truncate(name, 0);
		g_string_append(name, function);
	}
}

bool names_function(struct names *n, uint32_t module, uint64_t address, GString *name)
{
	struct debuginfo *d = names_debuginfo(n, module);
	struct debug_place places[DEEPEST_INLINING];
	size_t count =
	        d ? MIN(debuginfo_code(d, address, places, DEEPEST_INLINING), DEEPEST_INLINING)
	          : 0;
	if (count == 0 || places[count - 1].function[0] == '\0')
		return false;
	names_append_function(places[count - 1].function, name);
	return true;
}

/* --- places ------------------------------------------------------------------------- */

/* "bank.c", or the path as compiled where another file has that last component. */
static const char *short_file(struct names *n, const struct debug_place *p)
{
	const char *slash = strrchr(p->file, '/');
	const char *last = slash ? slash + 1 : p->file;
	const char *owner = g_hash_table_lookup(n->short_files, last);
	if (owner == NULL)
		g_hash_table_insert(n->short_files, (gpointer)last, (gpointer)p->path);
	return owner == NULL || strcmp(owner, p->path) == 0 ? last : p->file;
}

/* "bank.c:31", "deposit+0x1f", "libfoo.so+0x123". */
static void append_place(struct names *n, uint32_t module, uint64_t address,
                         const struct debug_place *p, GString *name)
{
	if (p != NULL && p->line != 0) {
		char line[16];
		snprintf(line, sizeof line, ":%u", p->line);
		g_string_append(name, short_file(n, p));
		g_string_append(name, line);
	} else if (p != NULL && p->function[0] != '\0') {
		g_string_append_printf(name, "%s+0x%" G_GINT64_MODIFIER "x", p->function,
		                       p->offset);
	} else {
		const char *path =
		        module < n->modules->len
		                ? g_array_index(n->modules, struct name_module, module).path
		                : "code";
		const char *slash = strrchr(path, '/');
		g_string_append_printf(name, "%s+0x%" G_GINT64_MODIFIER "x",
		                       slash ? slash + 1 : path, address);
	}
}

size_t names_places(struct names *n, const struct location *l, struct debug_place *places,
                    size_t room)
{
	struct debuginfo *d = l->module == NONE ? NULL : names_debuginfo(n, l->module);
	return d ? debuginfo_code(d, l->address, places, room) : 0;
}

void names_append_location(struct names *n, const struct location *l, GString *name)
{
	struct debug_place places[8];
	size_t count =
	        MIN(names_places(n, l, places, G_N_ELEMENTS(places)), G_N_ELEMENTS(places));
	size_t own = 0;
	while (own < count && !own_code_has_file(places[own].path, places[own].function))
		own++;
	append_place(n, l->module, l->address,
	             own < count ? &places[own]
	             : count > 0 ? &places[0]
	                         : NULL,
	             name);
}

static uint32_t intern(struct builder *b, const char *text)
{
	return builder_string(b, text, strlen(text));
}

static uint32_t intern_function(struct builder *b, const char *function)
{
	GString *name = g_string_new(NULL);
	names_append_function(function, name);
	uint32_t string = intern(b, name->str);
	g_string_free(name, TRUE);
	return string;
}

/* The call sites at which a place was inlined, outermost first: each names the next. */
static uint32_t call_sites(struct names *n, struct builder *b, const struct location *l,
                           const struct debug_place *places, size_t count)
{
	uint32_t outer = NONE;
	for (size_t i = count; i-- > 1;) {
		GString *name = g_string_new(NULL);
		append_place(n, l->module, l->address, &places[i], name);
		uint32_t function = intern_function(b, places[i].function);
		uint32_t site = builder_call_site(b, name->str, function, outer);
		builder_source(b, site, places[i].path, places[i].line, places[i].column);
		g_string_free(name, TRUE);
		outer = site;
	}
	return outer;
}

void names_locate(void *context, struct builder *b, struct location *l)
{
	struct names *n = context;
	struct debug_place places[DEEPEST_INLINING];
	if (l->module == NONE)
		return;
	size_t count = MIN(names_places(n, l, places, DEEPEST_INLINING), DEEPEST_INLINING);
	GString *name = g_string_new(NULL);
	append_place(n, l->module, l->address, count ? places : NULL, name);
	l->name = builder_string(b, name->str, name->len);
	g_string_free(name, TRUE);
	if (count == 0)
		return;
	l->function = intern_function(b, places[0].function);
	if (places[0].line != 0) {
		l->file = intern(b, places[0].path);
		l->line = places[0].line;
		l->column = places[0].column;
	}
	l->inlined = call_sites(n, b, l, places, count);
}

/* --- variables ---------------------------------------------------------------------- */

const char *names_variable(struct names *n, uint32_t module, const struct debug_variable *v)
{
	const char *known = g_hash_table_lookup(n->variable_names, v);
	if (known != NULL)
		return known;
	char *name = g_strdup(v->name);
	if (g_hash_table_contains(n->taken_names, name)) {
		const char *slash = strrchr(v->file, '/');
		const char *where =
		        v->function != NONE
		                ? debuginfo_function(names_debuginfo(n, module), v->function)
		                          ->name
		        : slash ? slash + 1
		                : v->file;
		g_free(name);
		name = g_strdup_printf("%s@%s", v->name, where);
	}
	g_hash_table_insert(n->variable_names, (gpointer)v, name);
	g_hash_table_add(n->taken_names, name);
	return name;
}

struct debug_part names_append_offset(struct names *n, struct debuginfo *d,
                                      const struct debug_variable *v, uint64_t offset,
                                      uint64_t size, GString *name)
{
	struct debug_part part = debuginfo_part(d, v->type, offset, size, name);
	g_string_truncate(n->form, 0);
	if (part.exact && size > 0)
		debuginfo_form(d, part.type, n->form);
	return part;
}

struct debug_part names_append_part(struct names *n, uint32_t module,
                                    const struct debug_variable *v, uint64_t address,
                                    uint64_t size, GString *name)
{
	g_string_append(name, names_variable(n, module, v));
	return names_append_offset(n, names_debuginfo(n, module), v,
	                           address - names_base(n, module) - v->address, size, name);
}

bool names_append_data(struct names *n, uint64_t address, uint64_t size, GString *name)
{
	uint32_t module;
	const struct debug_variable *v = names_data(n, address, &module);
	struct debuginfo *d = names_debuginfo(n, module);
	if (v == NULL)
		return d != NULL &&
		       debuginfo_data_name(d, address - names_base(n, module), size, name);
	names_append_part(n, module, v, address, size, name);
	return true;
}
