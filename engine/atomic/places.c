/*
 * places.c - instance and member from a variable's name; types of globals from the debug
 * information of the recorded modules.
 */
#include "engine/atomic/places.h"
#include "debuginfo/debuginfo.h"

#include <string.h>

static const char *intern(struct atomic_places *p, const char *text, size_t length)
{
	char *copy = g_strndup(text, length);
	const char *own = g_string_chunk_insert_const(p->strings, copy);
	g_free(copy);
	return own;
}

/* Past the '@' that tells variables of one name apart: "counter@log.c" has no member. */
static const char *past_at(const char *name)
{
	const char *at = strchr(name, '@');
	if (at == NULL)
		return name;
	const char *dot = strchr(at, '.');
	return dot ? dot + 1 : at + 1;
}

/* Where the instance ends: behind the last "->", at the last "." behind a "]", else at the
 * first "."; NULL: the name has no member. */
static const char *instance_end(const char *name)
{
	const char *end = NULL, *first = NULL;
	for (const char *c = past_at(name); *c; c++) {
		if (c[0] == '-' && c[1] == '>')
			end = c + 2;
		else if (c[0] == ']' && c[1] == '.')
			end = c + 1;
		else if (c[0] == '.' && first == NULL)
			first = c;
	}
	return end ? end : first;
}

static void parse(struct atomic_places *p, const char *name, struct atomic_place *place)
{
	const char *end = instance_end(name);
	place->type = place->file = intern(p, "", 0);
	place->local = g_str_has_prefix(name, "local@") || g_str_has_prefix(name, "memory@");
	if (g_str_has_prefix(name, "block@")) { /* a block of unknown type is one instance */
		const char *plus = strrchr(name, '+');
		place->instance = intern(p, name, plus ? (size_t)(plus - name) : strlen(name));
		place->member = plus ? intern(p, plus, strlen(plus)) : NULL;
	} else if (end == NULL) {
		place->instance = intern(p, name, strcspn(name, "[+"));
	} else {
		const char *member = *end == '.' ? end + 1 : end;
		place->instance = intern(p, name, (size_t)(end - name));
		place->member = intern(p, member, strcspn(member, ".[+"));
	}
}

/* "struct account" is account. */
static const char *type_word(struct atomic_places *p, const char *name)
{
	static const char *const words[] = { "struct ", "union ", "class " };
	for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
		if (g_str_has_prefix(name, words[i]))
			name += strlen(words[i]);
	return intern(p, name, strlen(name));
}

/* A part of the block itself, not of an array of structures within it. */
static bool is_block_element(const char *instance)
{
	const char *arrow = strstr(instance, "->");
	const char *bracket = strchr(instance, ']');
	return arrow ? arrow[2] == '\0' : bracket == NULL || bracket[1] == '\0';
}

struct modules { /* opened when first asked */
	struct debuginfo **debuginfo;
	bool *tried;
};

/* The module that is loaded nearest below an address, and its debug information or NULL. */
static struct debuginfo *module_of(const struct trace *t, struct modules *m, uint64_t address,
                                   uint64_t *base)
{
	uint32_t best = NONE;
	for (uint32_t i = 0; i < t->modules_count; i++)
		if (t->modules[i].base <= address &&
		    (best == NONE || t->modules[i].base > t->modules[best].base))
			best = i;
	if (best == NONE)
		return NULL;
	if (!m->tried[best])
		m->debuginfo[best] =
		        debuginfo_open(trace_string(t, t->modules[best].path),
		                       trace_string(t, t->modules[best].build_id), NULL);
	m->tried[best] = true;
	*base = t->modules[best].base;
	return m->debuginfo[best];
}

static void type_of_global(struct atomic_places *p, struct modules *modules,
                           const struct trace *t, const struct variable *v,
                           struct atomic_place *place)
{
	uint64_t base = 0;
	struct debuginfo *d = module_of(t, modules, v->address, &base);
	const struct debug_variable *g = d ? debuginfo_data(d, v->address - base) : NULL;
	if (g == NULL)
		return;
	GString *scratch = g_string_new(NULL);
	struct debug_part part =
	        debuginfo_part(d, g->type, v->address - base - g->address, v->size, scratch);
	uint32_t type = debuginfo_strip(d, g->type);
	while (debuginfo_type(d, type)->kind == TYPE_ARRAY)
		type = debuginfo_strip(d, debuginfo_type(d, type)->target);
	/* an element of an inner array of structures: what holds it directly */
	if (!is_block_element(place->instance))
		type = part.owner;
	g_string_truncate(scratch, 0);
	if (place->member)
		debuginfo_type_name(d, type, scratch);
	place->type = type_word(p, scratch->str);
	place->file = intern(p, g->file, strlen(g->file));
	g_string_free(scratch, TRUE);
}

struct atomic_places *atomic_places_new(const struct trace *t, bool debug)
{
	struct atomic_places *p = g_new0(struct atomic_places, 1);
	struct modules modules = { g_new0(struct debuginfo *, t->modules_count + 1),
		                   g_new0(bool, t->modules_count + 1) };
	p->strings = g_string_chunk_new(4096);
	p->at = g_new0(struct atomic_place, t->variables_count + 1);
	for (uint64_t v = 0; v < t->variables_count; v++) {
		const struct variable *x = &t->variables[v];
		parse(p, trace_string(t, x->name), &p->at[v]);
		if (x->block != NONE && t->blocks[x->block].type != 0 &&
		    is_block_element(p->at[v].instance))
			p->at[v].type = type_word(p, trace_string(t, t->blocks[x->block].type));
		else if (debug && x->block == NONE && x->address != 0 && t->modules_count > 0)
			type_of_global(p, &modules, t, x, &p->at[v]);
	}
	for (uint64_t i = 0; i < t->modules_count; i++)
		debuginfo_close(modules.debuginfo[i]);
	g_free(modules.debuginfo);
	g_free(modules.tried);
	return p;
}

void atomic_places_free(struct atomic_places *p)
{
	if (p == NULL)
		return;
	g_string_chunk_free(p->strings);
	g_free(p->at);
	g_free(p);
}
