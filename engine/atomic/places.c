/*
 * places.c - instance and member from a variable's name; types from the debug information of
 * the recorded modules.
 */
#include "engine/atomic/places.h"

#include <string.h>

static const char *intern(struct atomic_places *p, const char *text, size_t length)
{
	g_autofree char *copy = g_strndup(text, length);
	return g_string_chunk_insert_const(p->strings, copy);
}

/* Skip the '@' part that distinguishes variables of one name: "counter@log.c" has no member. */
static const char *past_at(const char *name)
{
	const char *at = strchr(name, '@');
	if (at == NULL)
		return name;
	const char *dot = strchr(at, '.');
	return dot ? dot + 1 : at + 1;
}

/* End of the instance: after the last "->", at the last "." after a "]", else at the first ".";
 * NULL: no member. */
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

static void parse_name(struct atomic_places *p, const char *name, struct atomic_place *place)
{
	const char *end = instance_end(name);
	place->type = place->file = intern(p, "", 0);
	/* "libfoo.so+0x4040": a library's own data */
	place->local = g_str_has_prefix(name, "local@") || g_str_has_prefix(name, "memory@") ||
	               strstr(name, "+0x") != NULL;
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

const char *atomic_places_intern(struct atomic_places *p, const char *text)
{
	return g_string_chunk_insert_const(p->strings, text);
}

static bool is_structure(const struct debuginfo *d, uint32_t type)
{
	enum debug_type_kind kind = debuginfo_type(d, type)->kind;
	return kind == TYPE_STRUCT || kind == TYPE_UNION;
}

const char *atomic_places_type(struct atomic_places *p, struct debuginfo *d, uint32_t type)
{
	static const char *const words[] = { "struct ", "union ", "class " };
	uint32_t stripped = debuginfo_strip(d, type);
	if (!is_structure(d, stripped))
		return atomic_places_intern(p, "");
	const char *name = debuginfo_type(d, stripped)->name;
	/* without a tag: the name of its typedef, below the qualifiers */
	while (name[0] == '\0' && type != stripped) {
		name = debuginfo_type(d, type)->name;
		type = debuginfo_type(d, type)->target;
	}
	for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
		if (g_str_has_prefix(name, words[i]))
			name += strlen(words[i]);
	return atomic_places_intern(p, name);
}

/* The structure that is an instance of its own and contains the byte at `offset`: the type
 * itself, or an element of the innermost array of structures. */
static uint32_t instance_type(const struct debuginfo *d, uint32_t type, uint64_t offset)
{
	uint32_t found = type;
	for (int depth = 0; depth < 32; depth++) {
		uint32_t at = debuginfo_strip(d, type);
		const struct debug_type *t = debuginfo_type(d, at);
		uint32_t inner = NONE;
		if (t->kind == TYPE_ARRAY) {
			uint64_t each = debuginfo_size(d, t->target);
			if (each == 0)
				break;
			offset %= each;
			inner = t->target;
			if (is_structure(d, debuginfo_strip(d, inner)))
				found = inner;
		}
		for (uint32_t i = 0; is_structure(d, at) && i < t->member_count; i++) {
			const struct debug_member *m = debuginfo_member(d, t->members + i);
			if (offset < m->offset || offset - m->offset >= m->size)
				continue;
			inner = m->type;
			offset -= m->offset;
			break;
		}
		if (inner == NONE)
			break;
		type = inner;
	}
	return found;
}

/* Is it an element of the block itself, not of an array of structures inside? */
static bool is_block_element(const char *instance)
{
	const char *arrow = strstr(instance, "->");
	const char *bracket = strchr(instance, ']');
	return arrow ? arrow[2] == '\0' : bracket == NULL || bracket[1] == '\0';
}

/* -- debug information -------------------------------------------------------------------- */

static void open_modules(struct atomic_places *p, const struct trace *t)
{
	p->module_count = t->modules_count;
	p->modules = g_new0(struct debuginfo *, t->modules_count + 1);
	for (uint64_t i = 0; i < t->modules_count; i++) {
		const char *path = trace_string(t, t->modules[i].path);
		/* system libraries hold no interesting variables */
		if (i > 0 && (path[0] != '/' || g_str_has_prefix(path, "/lib") ||
		              g_str_has_prefix(path, "/usr/lib")))
			continue;
		p->modules[i] =
		        debuginfo_open(path, trace_string(t, t->modules[i].build_id), NULL);
	}
}

/* The module at an address (*base: where it is loaded), and its debug information or NULL. */
static struct debuginfo *module_of(const struct atomic_places *p, const struct trace *t,
                                   uint64_t address, uint64_t *base)
{
	uint32_t best = NONE;
	for (uint32_t i = 0; i < t->modules_count; i++)
		if (t->modules[i].base <= address &&
		    (best == NONE || t->modules[i].base > t->modules[best].base))
			best = i;
	if (best == NONE)
		return NULL;
	*base = t->modules[best].base;
	return p->modules[best];
}

/* Is it a synchronisation object, or a pointer to one? */
static bool is_synchronisation(const struct debuginfo *d, uint32_t type)
{
	static const char *const names[] = {
		"pthread_mutex_t",
		"pthread_cond_t",
		"pthread_rwlock_t",
		"pthread_barrier_t",
		"pthread_spinlock_t",
		"pthread_once_t",
		"sem_t",
		"mtx_t",
		"cnd_t",
		"once_flag",
		"std::mutex",
		"std::condition_variable",
	};
	while (type != NONE) {
		const struct debug_type *t = debuginfo_type(d, type);
		for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
			if (strcmp(t->name, names[i]) == 0)
				return true;
		if (t->kind < TYPE_TYPEDEF && t->kind != TYPE_ARRAY && t->kind != TYPE_POINTER)
			break;
		type = t->target;
	}
	return false;
}

static bool is_member_lock(const struct debuginfo *d, uint32_t type, const char *member)
{
	const struct debug_type *t = debuginfo_type(d, type);
	for (uint32_t i = 0; is_structure(d, type) && i < t->member_count; i++) {
		const struct debug_member *m = debuginfo_member(d, t->members + i);
		if (strcmp(m->name, member) == 0)
			return is_synchronisation(d, m->type);
	}
	return false;
}

/* Set type and exemption of the bytes at `offset` in an object of `type`. */
static void describe_type(struct atomic_places *p, struct debuginfo *d, uint32_t type,
                          uint64_t offset, uint64_t size, struct atomic_place *place)
{
	static const unsigned exempting =
	        1u << TYPE_CONST | 1u << TYPE_VOLATILE | 1u << TYPE_ATOMIC;
	g_autoptr(GString) path = g_string_new(NULL);
	struct debug_part part = debuginfo_part(d, type, offset, size, path);
	uint32_t whole = instance_type(d, type, offset);
	place->exempt = (part.qualifiers & exempting) != 0;
	if (place->member == NULL) {
		place->exempt |= is_synchronisation(d, type);
		return;
	}
	place->type = atomic_places_type(p, d, whole);
	place->exempt |= is_member_lock(d, debuginfo_strip(d, whole), place->member);
}

static void describe_global(struct atomic_places *p, const struct trace *t,
                            const struct variable *v, struct atomic_place *place)
{
	uint64_t base = 0;
	struct debuginfo *d = module_of(p, t, v->address, &base);
	const struct debug_variable *g = d ? debuginfo_data(d, v->address - base) : NULL;
	if (g == NULL)
		return;
	describe_type(p, d, g->type, v->address - base - g->address, v->size, place);
	place->file = atomic_places_intern(p, g->file);
}

/* The type of a block by its name, looked up once. */
struct block_type {
	struct debuginfo *d;
	uint32_t type;
};

static const struct block_type *block_type(struct atomic_places *p, GHashTable *known,
                                           const struct trace *t, uint32_t name)
{
	struct block_type *b = g_hash_table_lookup(known, GUINT_TO_POINTER(name));
	if (b)
		return b;
	b = g_new0(struct block_type, 1);
	g_hash_table_insert(known, GUINT_TO_POINTER(name), b);
	for (uint64_t i = 0; i < p->module_count && b->d == NULL; i++) {
		uint32_t type = p->modules[i] ? debuginfo_type_named(p->modules[i],
		                                                     trace_string(t, name))
		                              : NONE;
		if (type != NONE)
			*b = (struct block_type){ p->modules[i], type };
	}
	return b;
}

static void describe_block(struct atomic_places *p, GHashTable *known, const struct trace *t,
                           const struct variable *v, struct atomic_place *place)
{
	static const char *const words[] = { "struct ", "union ", "class " };
	const struct block *b = &t->blocks[v->block];
	const struct block_type *k = block_type(p, known, t, b->type);
	if (k->d) {
		uint64_t each = debuginfo_size(k->d, k->type), offset = v->address - b->address;
		if (each && v->address >= b->address)
			describe_type(p, k->d, k->type, offset % each, v->size, place);
		return;
	}
	const char *name = trace_string(t, b->type);
	for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
		if (g_str_has_prefix(name, words[i]) && place->member &&
		    is_block_element(place->instance))
			place->type = atomic_places_intern(p, name + strlen(words[i]));
}

/* Exempt variables with atomic or volatile accesses. */
static void exempt_by_access(struct atomic_places *p, const struct trace *t)
{
	for (uint64_t i = 0; i < t->events_count; i++) {
		const struct event *e = &t->events[i];
		if (!op_is_access(e->op) || event_inert(e) ||
		    !(op_is_atomic(e->op) || e->flags & EVENT_VOLATILE))
			continue;
		struct wide run = event_variables(t, e);
		for (uint32_t v = run.first; v < run.first + run.count; v++)
			p->at[v].exempt = true;
	}
}

/* Is a word of the lock, condition or the like of that name: the name itself or a part of it.
 */
static bool is_part_of_any(GHashTable *objects, const char *name)
{
	g_autofree char *start = g_strdup(name);
	for (size_t end = strlen(start); end > 0; end--) {
		if (name[end] != '\0' && strchr(".[+", name[end]) == NULL)
			continue;
		start[end] = '\0';
		if (g_hash_table_contains(objects, start))
			return true;
	}
	return false;
}

/* Exempt the memory of locks and of other objects that threads synchronise by, which the
 * program may have made itself (annotated, or known by its functions): its words say who holds
 * it, and are no data. */
static void exempt_synchronisation(struct atomic_places *p, const struct trace *t)
{
	g_autoptr(GHashTable) objects = g_hash_table_new(g_str_hash, g_str_equal);
	for (uint64_t i = 0; i < t->events_count; i++) {
		const struct event *e = &t->events[i];
		const struct op_info *info = &op_table[e->op];
		if (info->class == OP_CLASS_SYNC && info->operand == OPERAND_OBJECT)
			g_hash_table_add(objects,
			                 (char *)trace_string(t, t->objects[e->target].name));
	}
	for (uint64_t v = 0; g_hash_table_size(objects) > 0 && v < t->variables_count; v++)
		p->at[v].exempt |= is_part_of_any(objects, trace_variable_name(t, v));
}

struct atomic_places *atomic_places_new(const struct trace *t, bool debug)
{
	struct atomic_places *p = g_new0(struct atomic_places, 1);
	g_autoptr(GHashTable) known = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	g_autofree bool *stacks = trace_stacks(t);
	p->strings = g_string_chunk_new(4096);
	p->at = g_new0(struct atomic_place, t->variables_count + 1);
	if (debug)
		open_modules(p, t);
	for (uint64_t v = 0; v < t->variables_count; v++) {
		const struct variable *x = &t->variables[v];
		parse_name(p, trace_variable_name(t, v), &p->at[v]);
		if (x->block != NONE)
			p->at[v].local |= stacks[x->block];
		if (x->block != NONE && t->blocks[x->block].type != 0)
			describe_block(p, known, t, x, &p->at[v]);
		else if (debug && x->block == NONE && x->address != 0 && p->module_count > 0)
			describe_global(p, t, x, &p->at[v]);
	}
	exempt_by_access(p, t);
	exempt_synchronisation(p, t);
	return p;
}

void atomic_places_free(struct atomic_places *p)
{
	if (p == NULL)
		return;
	for (uint64_t i = 0; i < p->module_count; i++)
		debuginfo_close(p->modules[i]);
	g_free(p->modules);
	g_string_chunk_free(p->strings);
	g_free(p->at);
	g_free(p);
}
