/*
 * name_blocks.c - types and names of heap blocks.
 *
 * A block's type is the T of the first variable or member of type T * that is seen to
 * receive its address: a recorded write of that value to a place whose declared type is a
 * pointer.  A T that fits the block's size goes before one that does not (the head of a
 * list is no element), and anything before char.  Where no such place receives it, it is that
 * of a local variable; where none does (a pointer that lives in a register), the T that fits
 * most of the block's first accesses among the pointers of the functions that made them:
 * parameters and locals, then the pointers in what these point to.
 *
 * One linear pass over the events passed to the namer; per block a fixed number of accesses
 * is kept.
 */
#include "engine/record/layout.h"
#include "engine/record/names/name_private.h"
#include "engine/base/decimal.h"
#include "engine/base/hash.h"
#include "engine/base/search.h"
#include "engine/trace/own_code.h"

#include <limits.h>
#include <string.h>

#define DEEPEST_BASE 16
#define ROUNDS       8 /* rounds of finding types through blocks whose type was found before */

enum fit { FIT_NONE, FIT_CHAR, FIT_LOOSE, FIT_EXACT };

struct seen_access {
	uint32_t location, offset, size;
};

struct block_facts {
	uint32_t module, type; /* of an element; type NONE: unknown */
	uint8_t fit;           /* enum fit, of the pointer that received its address */
	uint8_t access_count;
	uint32_t number;     /* number among the blocks of that name, from 1; 0: not yet
	                      * named */
	uint64_t each;       /* settled: bytes of an element, in a block of several; else 0 */
	uint64_t behind;     /* settled: where the type of the block's one structure ends; 0:
	                        nowhere */
	const char *pointer; /* P; interned */
	/* The member that received its address: without its struct; the block that it is in, or
	 * NONE, and its path there. NULL: none, or a member of a static variable. Interned. */
	const char *member, *path;
	uint32_t holder;
	/* The class whose table of virtual functions was written to the block, of several the
	 * one that is derived from the others; NONE: none. */
	uint32_t class_module, class;
	bool vague;           /* settled: P is the name of a library's type, or a place */
	bool owned, settling; /* by a pointer of the standard library's, as of a std::vector */
	struct seen_access accesses[CLUE_ACCESSES];
};

struct receiver { /* a place in a heap block, or in a frame, that received a block's address */
	uint32_t block, variable;
};

struct candidate { /* a pointer that an access may have gone through */
	uint32_t module, type;
	const char *name; /* interned */
	bool direct;      /* a parameter or local itself, not a member */
};

/* Most slots of the two tables, a power of two. */
#define PARTS_KEPT   16384u
#define GUESSES_KEPT 4096u

/* Type guessed from a block's first accesses, kept since blocks of one kind have the same. */
struct guess {
	uint64_t size; /* of the block; 0: none kept */
	uint32_t access_count;
	struct seen_access accesses[CLUE_ACCESSES];
	const struct candidate *best;
};

struct block_names {
	struct block_facts *facts; /* by block */
	GArray *receivers;         /* struct receiver, in heap blocks */
	GArray *locals;            /* struct receiver, in frames */
	GHashTable *candidates;    /* location + 1 -> GArray of struct candidate, owned */
	GHashTable *counts;        /* P -> number of blocks that have it */
	/* variable + 1 of a library's data -> the first variable + 1 of its first access */
	GHashTable *in_libraries;
	GStringChunk *strings;
	struct known_part *parts; /* by hash, as many as parts_kept; NULL until the first */
	struct guess *guesses;    /* by hash, as many as guesses_kept; NULL until the first */
	uint32_t parts_kept, guesses_kept; /* powers of two */
	GString *path;                     /* for a moment */
	unsigned depth;                    /* of holder_pointer's calls */
};

/* --- types -------------------------------------------------------------------------- */

static enum fit type_fit(struct names *n, uint32_t module, uint32_t type, uint64_t block_size)
{
	struct debuginfo *d = names_debuginfo(n, module);
	uint64_t size = debuginfo_size(d, type);
	const struct debug_type *t = debuginfo_type(d, debuginfo_strip(d, type));
	if (type == NONE || t->kind == TYPE_FUNCTION || size == 0 || size > block_size)
		return FIT_NONE;
	if (size == 1 && t->kind == TYPE_BASE)
		return FIT_CHAR;
	return size == block_size || (t->kind == TYPE_BASE && block_size % size == 0)
	               ? FIT_EXACT
	               : FIT_LOOSE;
}

static bool same_type(struct names *n, uint32_t module_a, uint32_t a, uint32_t module_b,
                      uint32_t b)
{
	if (module_a != module_b || a == NONE || b == NONE)
		return false;
	struct debuginfo *d = names_debuginfo(n, module_a);
	uint32_t x = debuginfo_strip(d, a), y = debuginfo_strip(d, b);
	if (x == y)
		return true;
	/* one type may be described in two units of the program */
	const struct debug_type *p = debuginfo_type(d, x), *q = debuginfo_type(d, y);
	return p->kind == q->kind && p->size == q->size && p->name[0] != '\0' &&
	       strcmp(p->name, q->name) == 0;
}

/* The last member of a path (".jobs._M_impl._M_start") that is not the standard library's own,
 * from its dot on; without one the last. Cuts the path behind it. */
static char *last_member(char *path)
{
	char *last = strrchr(path, '.'), *dot = last;
	while (dot != NULL && own_code_is_library_member(dot)) {
		*dot = '\0';
		char *before = strrchr(path, '.');
		if (before == NULL)
			*dot = '.';
		else
			last = before;
		dot = before;
	}
	return last;
}

/* The address of a block was stored where the debug information declares a T *: in a global of
 * the name `pointer`, or in a member at the end of the path `member` in the block `holder`
 * (NONE: of a local variable). */
static void receive(struct names *n, uint32_t block, uint32_t module, uint32_t type,
                    const char *pointer, uint32_t holder, const char *member)
{
	struct block_facts *f = &n->blocks->facts[block];
	enum fit fit = type_fit(n, module, type, n->trace->blocks[block].size);
	if (fit <= f->fit)
		return;
	bool guessed =
	        same_type(n, module, type, f->module, f->type); /* by a pointer with a name */
	f->fit = (uint8_t)fit;
	f->module = module;
	f->type = type;
	f->pointer = pointer   ? g_string_chunk_insert_const(n->blocks->strings, pointer)
	             : guessed ? f->pointer
	                       : NULL;
	f->holder = holder;
	f->path = member ? g_string_chunk_insert_const(n->blocks->strings, member) : NULL;
	const char *receiver = pointer ? pointer : member;
	f->owned = own_code_length(receiver) < strlen(receiver);
	f->member = NULL;
	g_autofree char *own = member ? g_strdup(member) : NULL;
	char *dot = own ? last_member(own) : NULL;
	if (dot != NULL && strchr(dot, '[') == NULL)
		f->member = g_string_chunk_insert_const(n->blocks->strings, dot + 1);
}

/* Is it a struct whose last member is an array of no length? */
static bool is_flexible(struct names *n, uint32_t module, uint32_t type)
{
	struct debuginfo *d = names_debuginfo(n, module);
	const struct debug_type *t = debuginfo_type(d, debuginfo_strip(d, type));
	if (t->kind != TYPE_STRUCT || t->member_count == 0)
		return false;
	const struct debug_member *last = debuginfo_member(d, t->members + t->member_count - 1);
	const struct debug_type *l = debuginfo_type(d, debuginfo_strip(d, last->type));
	return l->kind == TYPE_ARRAY && l->count == 0;
}

/* The member at the beginning of a struct: its first base class, or what a C program has there
 * for one; NULL: none. */
static const struct debug_member *first_member(struct debuginfo *d, uint32_t type)
{
	const struct debug_type *t = debuginfo_type(d, debuginfo_strip(d, type));
	const struct debug_member *first = NULL;
	for (uint32_t i = 0; t->kind == TYPE_STRUCT && i < t->member_count; i++) {
		const struct debug_member *m = debuginfo_member(d, t->members + i);
		if (m->offset == 0 && debuginfo_size(d, m->type) > 1 && first == NULL)
			first = m;
	}
	return first;
}

/* Has the struct virtual functions? A pointer to it is mostly to an object of a class that is
 * derived from it, and to no array. */
static bool is_polymorphic(struct names *n, uint32_t module, uint32_t type)
{
	struct debuginfo *d = names_debuginfo(n, module);
	const struct debug_member *m;
	for (int depth = 0; (m = first_member(d, type)) != NULL && depth < DEEPEST_BASE;
	     depth++) {
		if (g_str_has_prefix(m->name, "_vptr"))
			return true;
		type = m->type;
	}
	return false;
}

static bool is_record(struct names *n, const struct block_facts *f)
{
	const struct debuginfo *d = names_debuginfo(n, f->module);
	enum debug_type_kind kind = debuginfo_type(d, debuginfo_strip(d, f->type))->kind;
	return kind == TYPE_STRUCT || kind == TYPE_UNION;
}

/* Are the block's parts elements of its type? Structures fill their array's block: where
 * something is left, one stands before other data. */
static bool is_array(struct names *n, uint32_t block)
{
	const struct block_facts *f = &n->blocks->facts[block];
	uint64_t each = debuginfo_size(names_debuginfo(n, f->module), f->type),
	         size = n->trace->blocks[block].size;
	return each != 0 && size >= 2 * each && (size % each == 0 || !is_record(n, f)) &&
	       !is_flexible(n, f->module, f->type) && !is_polymorphic(n, f->module, f->type);
}

static struct debug_part part_in_block(struct names *n, uint32_t block, uint64_t offset,
                                       uint64_t size, GString *path)
{
	const struct block_facts *f = &n->blocks->facts[block];
	struct debuginfo *d = names_debuginfo(n, f->module);
	if (is_array(n, block)) {
		uint64_t each = debuginfo_size(d, f->type);
		g_string_append_printf(path, "[%" G_GUINT64_FORMAT "]", offset / each);
		offset %= each;
	}
	return debuginfo_part(d, f->type, offset, size, path);
}

/* --- the pass ------------------------------------------------------------------------ */

/* The values that are addresses of blocks: for interned ones a byte each, so that the pass
 * needs no table look-up; for others only bounds, as few programs have their heap below
 * VALUE_SMALL_END. */
struct address_values {
	uint8_t *interned; /* owned by the caller */
	uint64_t low, high;
};

static struct address_values address_values(const struct trace *t)
{
	g_autoptr(GHashTable) addresses = g_hash_table_new(NULL, NULL);
	struct address_values a = { g_new0(uint8_t, t->values_count + 1), UINT64_MAX, 0 };
	for (uint64_t i = 0; i < t->blocks_count; i++) {
		uint64_t address = t->blocks[i].address;
		if (address == 0 || t->blocks[i].alloc == NONE)
			continue;
		g_hash_table_add(addresses, GSIZE_TO_POINTER(address));
		a.low = MIN(a.low, address);
		a.high = MAX(a.high, address);
	}
	for (uint64_t i = 0; i < t->values_count; i++) {
		const struct value v = trace_value(t, i);
		a.interned[i] = v.kind == V_INT &&
		                g_hash_table_contains(addresses, GSIZE_TO_POINTER(v.integer));
	}
	return a;
}

static bool may_be_address(const struct address_values *a, uint32_t value)
{
	uint32_t integer = value & ~VALUE_INTEGER;
	return value & VALUE_INTEGER ? integer >= a->low && integer <= a->high
	                             : a->interned[value];
}

static uint32_t written_value(const struct trace *t, const struct event *e)
{
	if (e->op == OP_RMW && trace_value(t, e->aux).kind == V_PAIR)
		return trace_value(t, e->aux).second;
	return e->aux;
}

static void note_receiver(struct names *n, uint32_t block, uint32_t variable)
{
	const struct variable *v = &n->trace->variables[variable];
	uint32_t module;
	if (v->block != NONE) {
		struct receiver r = { block, variable };
		g_array_append_val(n->trace->blocks[v->block].alloc != NONE
		                           ? n->blocks->receivers
		                           : n->blocks->locals,
		                   r);
		return;
	}
	const struct debug_variable *global = names_data(n, v->address, &module);
	if (global == NULL || global->type == NONE)
		return;
	struct debuginfo *d = names_debuginfo(n, module);
	g_autoptr(GString) path = g_string_new(NULL);
	uint64_t offset = v->address - names_base(n, module) - global->address;
	struct debug_part part = debuginfo_part(d, global->type, offset, sizeof(void *), path);
	g_string_truncate(path, 0);
	names_append_data(n, v->address, sizeof(void *), path);
	receive(n, block, module, debuginfo_pointee(d, part.type), path->str, NONE, NULL);
}

static void note_access(struct names *n, const struct event *e, const struct variable *v)
{
	struct block_facts *f = &n->blocks->facts[v->block];
	if (f->access_count == CLUE_ACCESSES)
		return;
	f->accesses[f->access_count++] = (struct seen_access){
		.location = e->location,
		.offset = (uint32_t)(v->address - n->trace->blocks[v->block].address),
		.size = v->size,
	};
}

/* Does an object of the second type begin with one of the first? At which depth of members and
 * base classes, or 0: not at all. `classes`: by base classes alone. */
static int begins_with(struct names *n, uint32_t module, uint32_t base, uint32_t type,
                       bool classes)
{
	struct debuginfo *d = names_debuginfo(n, module);
	const struct debug_member *m;
	for (int depth = 1; (m = first_member(d, type)) != NULL && depth <= DEEPEST_BASE;
	     depth++) {
		if (classes && m->name[0] != '\0')
			return 0;
		type = m->type;
		if (same_type(n, module, base, module, type))
			return depth;
	}
	return 0;
}

/* Notes the class of an object whose pointer to its virtual functions is written: by the symbol
 * of their table. Its constructor writes those of its base classes before, its destructor
 * after, so its own is the one that is derived from the others. */
static void note_class(struct names *n, const struct event *e, const struct variable *v)
{
	static const char table[] = "vtable for ", first[] = "+16";
	struct block_facts *f = &n->blocks->facts[v->block];
	const struct block *block = &n->trace->blocks[v->block];
	uint64_t address = trace_value(n->trace, written_value(n->trace, e)).integer;
	uint32_t module = v->size == sizeof(void *) && v->address == block->address
	                          ? names_module_below(n, address)
	                          : NONE;
	if (module == NONE ||
	    address >= g_array_index(n->modules, struct name_module, module).high)
		return;
	struct debuginfo *d = names_debuginfo(n, module);
	g_autoptr(GString) name = g_string_new(NULL);
	if (d == NULL || !debuginfo_data_name(d, address - names_base(n, module), 0, name) ||
	    !g_str_has_prefix(name->str, table) || !g_str_has_suffix(name->str, first))
		return;
	g_string_truncate(name, name->len - strlen(first));
	uint32_t class = debuginfo_type_named(d, name->str + strlen(table));
	if (class == NONE || debuginfo_size(d, class) > block->size ||
	    (f->class != NONE && begins_with(n, module, f->class, class, false) == 0))
		return;
	f->class_module = module;
	f->class = class;
}

/* Notes the first access of a whole object in a library's data. */
static void note_library(struct names *n, const struct event *e)
{
	struct wide range = event_variables(n->trace, e);
	const struct variable *v = &n->trace->variables[range.first];
	uint32_t module = names_module_below(n, v->address);
	if (module == NONE || module == 0)
		return;
	for (uint32_t i = 0; i < range.count; i++) {
		gpointer key = GUINT_TO_POINTER(range.first + i + 1);
		if (!g_hash_table_contains(n->blocks->in_libraries, key))
			g_hash_table_insert(n->blocks->in_libraries, key,
			                    GUINT_TO_POINTER(range.first + 1));
		if (n->first_location[range.first + i] == NONE)
			n->first_location[range.first + i] = e->location;
	}
}

/* The first use of a lock or its kin counts as an access of its block where there is no other.
 */
static void note_objects(struct names *n)
{
	const struct trace *t = n->trace;
	for (uint32_t i = 0; i < t->objects_count; i++) {
		const struct object *o = &t->objects[i];
		struct first_use first = names_first_use(n, i);
		uint32_t block = o->address == 0 || first.location == NONE
		                         ? NONE
		                         : names_block_at(n, o->address, first.number);
		struct block_facts *f = block == NONE ? NULL : &n->blocks->facts[block];
		if (f == NULL || t->blocks[block].alloc == NONE || f->access_count > 0)
			continue;
		f->accesses[f->access_count++] = (struct seen_access){
			.location = first.location,
			.offset = (uint32_t)(o->address - t->blocks[block].address),
		};
	}
}

/* The first update of the variable that stands for a channel made it (record/layout.h). */
static void note_channel(struct names *n, const struct event *e, uint32_t variable)
{
	gpointer key = GUINT_TO_POINTER(variable + 1);
	uint32_t value = written_value(n->trace, e);
	if (n->channels == NULL)
		n->channels = g_hash_table_new(NULL, NULL);
	if (e->op == OP_RMW && value != 0 && !g_hash_table_contains(n->channels, key))
		g_hash_table_insert(n->channels, key,
		                    GSIZE_TO_POINTER(trace_value(n->trace, value).integer));
}

uint64_t names_channel_ends(const struct names *n, uint32_t variable)
{
	gpointer key = GUINT_TO_POINTER(variable + 1);
	return n->channels ? GPOINTER_TO_SIZE(g_hash_table_lookup(n->channels, key)) : 0;
}

static void pass(struct names *n)
{
	const struct trace *t = n->trace;
	struct address_values addresses = address_values(t);
	g_autoptr(GHashTable) live = g_hash_table_new(NULL, NULL); /* address -> block + 1 */
	for (uint64_t i = 0; i < n->clues.count; i++) {
		const struct event *e = &n->clues.at[i].event;
		if (op_is_access(e->op)) {
			uint32_t variable = event_variables(t, e).first;
			const struct variable *v = &t->variables[variable];
			if (v->address >= LOG_CHANNEL_PLACES)
				note_channel(n, e, variable);
			if (n->first_location[variable] == NONE) {
				n->first_location[variable] = e->location;
				if (v->block == NONE)
					note_library(n, e);
			}
			if (v->block != NONE && t->blocks[v->block].alloc != NONE)
				note_access(n, e, v);
			if (v->block != NONE && t->blocks[v->block].alloc != NONE &&
			    e->op == OP_WRITE)
				note_class(n, e, v);
			uint32_t value = written_value(t, e);
			if (!op_writes(e->op) || !may_be_address(&addresses, value))
				continue;
			gpointer key = GSIZE_TO_POINTER(trace_value(t, value).integer);
			uint32_t block = GPOINTER_TO_UINT(g_hash_table_lookup(live, key)) - 1;
			if (block != NONE)
				note_receiver(n, block, variable);
		} else if (e->op == OP_ALLOC) {
			g_hash_table_insert(live,
			                    GSIZE_TO_POINTER(t->blocks[e->target].address),
			                    GUINT_TO_POINTER(e->target + 1));
		} else if (e->op == OP_FREE && e->target != NONE) {
			g_hash_table_remove(live,
			                    GSIZE_TO_POINTER(t->blocks[e->target].address));
		}
	}
	g_free(addresses.interned);
}

/* --- the pointers at hand ------------------------------------------------------------ */

/* A struct that no block of its own is made of: without a name, such as a lambda's, or empty.
 */
static bool is_no_object(struct debuginfo *d, uint32_t type)
{
	const struct debug_type *t = debuginfo_type(d, type);
	bool nameless = (t->kind == TYPE_STRUCT || t->kind == TYPE_UNION) && t->name[0] == '\0';
	return nameless || debuginfo_is_empty(d, type);
}

static void add_candidate(struct names *n, GArray *list, uint32_t module, uint32_t type,
                          const char *name, bool direct)
{
	struct candidate c = { module, type,
		               g_string_chunk_insert_const(n->blocks->strings, name), direct };
	struct debuginfo *d = names_debuginfo(n, module);
	if (type != NONE && debuginfo_size(d, type) > 0 && !is_no_object(d, type))
		g_array_append_val(list, c);
}

/* Adds the pointers among the members of the struct `local`, or that it points to: "job->next".
 */
static void add_members(struct names *n, GArray *list, uint32_t module, uint32_t type,
                        const char *local, const char *arrow)
{
	struct debuginfo *d = names_debuginfo(n, module);
	const struct debug_type *t = debuginfo_type(d, debuginfo_strip(d, type));
	if (t->kind != TYPE_STRUCT && t->kind != TYPE_UNION)
		return;
	for (uint32_t i = 0; i < t->member_count; i++) {
		const struct debug_member *m = debuginfo_member(d, t->members + i);
		g_autofree char *name = g_strconcat(local, arrow, m->name, NULL);
		add_candidate(n, list, module, debuginfo_pointee(d, m->type), name, false);
	}
}

static const GArray *candidates_at(struct names *n, uint32_t location)
{
	gpointer key = GUINT_TO_POINTER(location + 1);
	GArray *list = g_hash_table_lookup(n->blocks->candidates, key);
	if (list != NULL)
		return list;
	list = g_array_new(FALSE, FALSE, sizeof(struct candidate));
	g_hash_table_insert(n->blocks->candidates, key, list);
	const struct location *l = &n->trace->locations[location];
	struct debug_place places[8];
	size_t count =
	        MIN(names_places(n, l, places, G_N_ELEMENTS(places)), G_N_ELEMENTS(places));
	struct debuginfo *d = count ? names_debuginfo(n, l->module) : NULL;
	for (size_t i = 0; i < count; i++) {
		if (places[i].function_id == NONE)
			continue;
		const struct debug_function *f = debuginfo_function(d, places[i].function_id);
		for (uint32_t k = 0; k < f->variable_count; k++) {
			struct debug_local local = debuginfo_local(d, f->variables + k);
			uint32_t to = debuginfo_pointee(d, local.type);
			add_candidate(n, list, l->module, to, local.name, true);
			bool points = to != NONE;
			add_members(n, list, l->module, points ? to : local.type, local.name,
			            points ? "->" : ".");
		}
	}
	return list;
}

/* The part [offset, offset + size) of a type. */
static struct known_part *part_of(struct names *n, uint32_t module, uint32_t type,
                                  uint64_t offset, uint64_t size)
{
	struct block_names *b = n->blocks;
	uint64_t hash = hash_word(offset * 31 + size * 7 + type);
	if (b->parts == NULL)
		b->parts = g_new0(struct known_part, b->parts_kept);
	struct known_part *kept = &b->parts[hash >> 50 & (b->parts_kept - 1)];
	if (kept->path && kept->offset == offset && kept->size == size && kept->type == type &&
	    kept->module == module)
		return kept;
	g_string_truncate(b->path, 0);
	struct debug_part part =
	        debuginfo_part(names_debuginfo(n, module), type, offset, size, b->path);
	const char *path = g_string_chunk_insert_const(b->strings, b->path->str);
	g_string_truncate(b->path, 0);
	if (part.exact && size > 0)
		debuginfo_form(names_debuginfo(n, module), part.type, b->path);
	*kept = (struct known_part){
		.module = module,
		.type = type,
		.offset = offset,
		.size = size,
		.path = path,
		.form = g_string_chunk_insert_const(b->strings, b->path->str),
		.count = part.count,
		.exact = part.exact,
	};
	return kept;
}

static bool access_fits(struct names *n, const struct candidate *c, const struct seen_access *a,
                        uint64_t block_size)
{
	struct debuginfo *d = names_debuginfo(n, c->module);
	uint64_t size = debuginfo_size(d, c->type);
	if (size == 0 || size > block_size)
		return false;
	return part_of(n, c->module, c->type, a->offset % size, a->size)->exact;
}

/* A block that is no whole number of elements holds one, and perhaps a flexible array: an
 * access behind the element contradicts a type without one. Words contradict an array of bytes.
 */
static bool is_contradicted(struct names *n, const struct candidate *c,
                            const struct block_facts *f, uint64_t block_size)
{
	uint64_t size = debuginfo_size(names_debuginfo(n, c->module), c->type);
	for (unsigned i = 0; size == 1 && i < f->access_count; i++)
		if (f->accesses[i].size > 1)
			return true;
	if (size == 0 || size > block_size || block_size % size == 0 ||
	    is_flexible(n, c->module, c->type))
		return false;
	for (unsigned i = 0; i < f->access_count; i++)
		if (f->accesses[i].offset >= size)
			return true;
	return false;
}

/* Is it a class that the standard library has for itself, as std::thread::_Invoker? No part of
 * another block is one, though a function that runs for it has its pointer at hand. */
static bool is_internal(struct names *n, uint32_t module, uint32_t type)
{
	const struct debug_type *t = debuginfo_type(names_debuginfo(n, module), type);
	const char *arguments = strchr(t->name, '<');
	g_autofree char *name =
	        g_strndup(t->name, arguments ? (gsize)(arguments - t->name) : strlen(t->name));
	const char *last = g_strrstr(name, "::_");
	return g_str_has_prefix(name, "std::") && last != NULL &&
	       (g_ascii_isupper(last[3]) || last[3] == '_');
}

/* Is it a type of the standard library or the C library? */
static bool is_library_type(struct names *n, uint32_t module, uint32_t type)
{
	static const char *const prefixes[] = {
		"pthread_", "std::", "__gnu_cxx::", "sem_t", "mtx_t", "cnd_t", "_"
	};
	g_autoptr(GString) name = g_string_new(NULL);
	debuginfo_type_name(names_debuginfo(n, module), type, name);
	bool found = false;
	for (size_t i = 0; i < G_N_ELEMENTS(prefixes) && !found; i++)
		found = g_str_has_prefix(name->str, prefixes[i]);
	return found;
}

/* The candidate whose type fits most accesses; more for structs of the block's size that
 * contradict none, for the program's own types (the code of a container that the struct begins
 * with has a pointer to that at hand), and for direct pointers. */
static const struct candidate *find_candidate(struct names *n, const struct block_facts *f,
                                              uint64_t size)
{
	const struct candidate *best = NULL;
	unsigned best_score = 0;
	for (unsigned i = 0; i < f->access_count; i++) {
		const GArray *list = candidates_at(n, f->accesses[i].location);
		for (guint k = 0; k < list->len; k++) {
			const struct candidate *c = &g_array_index(list, struct candidate, k);
			unsigned fits = 0, wide = 0; /* copies of several members */
			for (unsigned j = 0; j < f->access_count; j++) {
				bool good = access_fits(n, c, &f->accesses[j], size);
				fits += good;
				wide += !good && f->accesses[j].size > sizeof(void *);
			}
			if (!access_fits(n, c, &f->accesses[i], size) ||
			    is_contradicted(n, c, f, size))
				continue;
			unsigned fit = type_fit(n, c->module, c->type, size);
			bool whole =
			        debuginfo_size(names_debuginfo(n, c->module), c->type) == size;
			if (!whole && (n->few || is_internal(n, c->module, c->type)))
				continue;
			unsigned score = (whole && fits + wide == f->access_count) * 1000 +
			                 fits * 16 +
			                 !is_library_type(n, c->module, c->type) * 8 + fit * 2 +
			                 c->direct;
			if (score > best_score) {
				best_score = score;
				best = c;
			}
		}
	}
	return best;
}

static const struct candidate *best_candidate(struct names *n, uint32_t block)
{
	const struct block_facts *f = &n->blocks->facts[block];
	uint64_t size = n->trace->blocks[block].size, hash = hash_word(size);
	size_t bytes = f->access_count * sizeof *f->accesses;
	for (unsigned i = 0; i < f->access_count; i++) {
		const struct seen_access *a = &f->accesses[i];
		hash = hash_join(hash, (uint64_t)a->location << 32 | a->offset);
		hash = hash_join(hash, a->size);
	}
	if (n->blocks->guesses == NULL)
		n->blocks->guesses = g_new0(struct guess, n->blocks->guesses_kept);
	struct guess *g = &n->blocks->guesses[hash >> 52 & (n->blocks->guesses_kept - 1)];
	if (size == 0 || g->size != size || g->access_count != f->access_count ||
	    memcmp(g->accesses, f->accesses, bytes) != 0) {
		*g = (struct guess){ size, f->access_count };
		memcpy(g->accesses, f->accesses, bytes);
		g->best = find_candidate(n, f, size);
	}
	return g->best;
}

/* "this" and its members carry no information: the type's name is better. */
static bool is_this(const char *name)
{
	return strcmp(name, "this") == 0 || g_str_has_prefix(name, "this->") ||
	       g_str_has_prefix(name, "__");
}

/* Is it the only pointer to its type at the block's first access? Of several to a type that
 * libraries have, as the conditions of a queue, none is more likely than the others. */
static bool is_only(struct names *n, const struct block_facts *f, const struct candidate *of)
{
	const GArray *list = candidates_at(n, f->accesses[0].location);
	bool only = true;
	for (guint k = 0; k < list->len && only; k++) {
		const struct candidate *c = &g_array_index(list, struct candidate, k);
		only = strcmp(c->name, of->name) == 0 ||
		       !same_type(n, c->module, c->type, of->module, of->type);
	}
	return only || !is_library_type(n, of->module, of->type);
}

/* The type of a block that no pointer of its type has received: by its first accesses. */
static void guess_type(struct names *n, uint32_t block)
{
	struct block_facts *f = &n->blocks->facts[block];
	if (f->type != NONE && f->fit != FIT_CHAR)
		return;
	const struct candidate *c = best_candidate(n, block);
	bool better = c != NULL &&
	              type_fit(n, c->module, c->type, n->trace->blocks[block].size) > f->fit;
	if (better) {
		f->module = c->module;
		f->type = c->type;
		const char *arrow = strstr(c->name, "->");
		bool only = is_only(n, f, c);
		f->pointer = is_this(c->name) || !only ? NULL : c->name;
		f->member = arrow && only ? arrow + 2 : NULL;
	}
}

/* A pointer to a base class received the block's address: the object's own class is that of a
 * pointer, mostly a constructor's `this`, through which its first accesses went. Of several
 * such classes the one that the base is nearest in: a list of the standard library, too, begins
 * with what its nodes do. So it is with a structure of C that begins with its place in a list;
 * other data may follow it in the block. */
static void derive_type(struct names *n, uint32_t block)
{
	struct block_facts *f = &n->blocks->facts[block];
	uint64_t size = n->trace->blocks[block].size;
	uint32_t derived = NONE;
	int nearest = INT_MAX;
	if (f->class != NONE && (f->type == NONE || begins_with(n, f->class_module, f->type,
	                                                        f->class, false) > 0)) {
		f->module = f->class_module;
		f->type = f->class;
		f->fit = FIT_EXACT;
		return;
	}
	if (f->fit != FIT_LOOSE || !is_record(n, f))
		return;
	struct debuginfo *d = names_debuginfo(n, f->module);
	uint64_t own = debuginfo_size(d, f->type), whole = own;
	const struct candidate *through = NULL;
	for (unsigned i = 0; i < f->access_count; i++) {
		const GArray *list = candidates_at(n, f->accesses[i].location);
		for (guint k = 0; k < list->len; k++) {
			const struct candidate *c = &g_array_index(list, struct candidate, k);
			uint64_t bytes = debuginfo_size(d, c->type);
			int depth =
			        c->module != f->module || bytes < whole || bytes > size
			                ? 0
			                : begins_with(n, c->module, f->type, c->type, false);
			bool longer = bytes > whole && (bytes == size || c->direct);
			if (depth == 0 || (!longer && (bytes != whole || depth >= nearest)) ||
			    !access_fits(n, c, &f->accesses[i], size))
				continue;
			nearest = depth;
			whole = bytes;
			derived = c->type;
			through = c;
		}
	}
	if (derived == NONE || whole == own)
		return;
	if (first_member(d, derived)->name[0] !=
	    '\0') { /* no base class: what points to the member
		     * is not named after the whole */
		bool named =
		        through->direct && !is_this(through->name) && is_only(n, f, through);
		f->pointer = named ? through->name : NULL;
		f->holder = NONE;
	}
	f->type = derived;
	f->fit = whole == size ? FIT_EXACT : FIT_LOOSE;
}

/* Passes the type of a member that received a block's address on to the block, where the type
 * of the holder, the block that the member is in, is known. True: the block's type changed. */
static bool resolve_receiver(struct names *n, const struct receiver *r)
{
	const struct trace *t = n->trace;
	const struct variable *v = &t->variables[r->variable];
	const struct block_facts *holder = &n->blocks->facts[v->block];
	struct block_facts *f = &n->blocks->facts[r->block];
	if (holder->type == NONE || f->fit == FIT_EXACT)
		return false;
	g_autoptr(GString) path = g_string_new(NULL);
	struct debug_part part = part_in_block(
	        n, v->block, v->address - t->blocks[v->block].address, sizeof(void *), path);
	uint8_t before = f->fit;
	receive(n, r->block, holder->module,
	        debuginfo_pointee(names_debuginfo(n, holder->module), part.type), NULL,
	        v->block, path->str);
	derive_type(n, r->block);
	return f->fit != before;
}

static void resolve_receivers(struct names *n)
{
	const struct receiver *all =
	        (const struct receiver *)(void *)n->blocks->receivers->data;
	bool changed = true;
	for (int round = 0; changed && round < ROUNDS; round++) {
		changed = false;
		for (guint i = 0; i < n->blocks->receivers->len; i++)
			changed |= resolve_receiver(n, &all[i]);
	}
}

/* A local variable received the address of a block whose type nothing else says: a container,
 * say, whose code is all inlined. The library's own locals have no name that says more. */
static void resolve_local(struct names *n, const struct receiver *r)
{
	if (n->blocks->facts[r->block].fit > FIT_CHAR)
		return;
	g_autoptr(GString) name = g_string_new(NULL);
	struct debug_part part;
	uint32_t module;
	if (!names_local_part(n, r->variable, sizeof(void *), name, &part, &module))
		return;
	const char *function = g_strrstr(name->str, "::");
	g_autofree char *path =
	        g_strdup_printf(".%s", function ? function + strlen("::") : name->str);
	uint32_t type =
	        part.exact ? debuginfo_pointee(names_debuginfo(n, module), part.type) : NONE;
	enum fit fit = type_fit(n, module, type, n->trace->blocks[r->block].size);
	if ((fit == FIT_EXACT || fit == FIT_CHAR) && !own_code_is_library_member(path))
		receive(n, r->block, module, type, NULL, NONE, path);
}

static void resolve_locals(struct names *n)
{
	for (guint i = 0; i < n->blocks->locals->len; i++)
		resolve_local(n, &g_array_index(n->blocks->locals, struct receiver, i));
}

/* Guesses the types of holders that only registers point to, such as a table made and passed on
 * by its functions, where no other pointer gave the type of the block that they hold. */
static void guess_holders(struct names *n)
{
	for (guint i = 0; i < n->blocks->receivers->len; i++) {
		const struct receiver *r =
		        &g_array_index(n->blocks->receivers, struct receiver, i);
		if (n->blocks->facts[r->block].fit <= FIT_CHAR)
			guess_type(n, n->trace->variables[r->variable].block);
	}
}

/* The local or parameter that alone points to the block's type where the block was first
 * accessed, or NULL. */
static const char *local_pointer(struct names *n, const struct block_facts *f)
{
	const char *found = NULL;
	for (unsigned i = 0; i < f->access_count && found == NULL; i++) {
		const GArray *list = candidates_at(n, f->accesses[i].location);
		for (guint k = 0; k < list->len; k++) {
			const struct candidate *c = &g_array_index(list, struct candidate, k);
			if (!c->direct || is_this(c->name) || c->module != f->module ||
			    (!same_type(n, c->module, c->type, f->module, f->type) &&
			     begins_with(n, f->module, c->type, f->type, true) == 0))
				continue;
			if (found != NULL && strcmp(found, c->name) != 0)
				return NULL;
			found = c->name;
		}
	}
	return found;
}

/* --- names ---------------------------------------------------------------------------- */

/* The name of the type of the object that make_shared put behind its counts. */
static void name_held_type(const struct debuginfo *d, uint32_t type, GString *name)
{
	const struct debug_type *t = debuginfo_type(d, debuginfo_strip(d, type));
	while (t->member_count > 0 &&
	       !g_str_has_prefix(t->name, "__gnu_cxx::__aligned_buffer<")) /* read_argument */
		t = debuginfo_type(
		        d,
		        debuginfo_strip(
		                d,
		                debuginfo_member(d, t->members + t->member_count - 1)->type));
	if (t->member_count == 0)
		return;
	g_string_truncate(name, 0);
	debuginfo_type_name(d, debuginfo_member(d, t->members)->type, name);
}

/* The type's name; of a library's with the place that allocated the block: "std::mutex@a.cc:7".
 */
static const char *type_pointer(struct names *n, const struct block_facts *f, const char *place)
{
	static const char *const words[] = { "struct ", "union ", "class ", "enum " };
	g_autoptr(GString) name = g_string_new(NULL);
	struct debuginfo *d = names_debuginfo(n, f->module);
	debuginfo_type_name(d, f->type, name);
	if (g_str_has_prefix(name->str, "std::_Sp_counted_ptr_inplace<")) /* make_shared's */
		name_held_type(d, f->type, name);
	for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
		if (g_str_has_prefix(name->str, words[i]))
			g_string_erase(name, 0, (gssize)strlen(words[i]));
	g_autoptr(GString) plain = g_string_new(NULL);
	names_append_function(name->str, plain);
	for (char *c = plain->str; *c; c++) /* "unsigned int", "node *" */
		if (strchr(" ,()[]*&|", *c))
			*c = '_';
	if (place != NULL)
		g_string_append(plain, strchr(place, '@'));
	return g_string_chunk_insert_const(n->blocks->strings, plain->str);
}

/* The location of an event that is a clue. */
static uint32_t location_of(const struct names *n, uint32_t event)
{
	uint64_t at = search_end(i, 0, n->clues.count, n->clues.at[i].id < event);
	return at < n->clues.count && n->clues.at[at].id == event
	               ? n->clues.at[at].event.location
	               : 0;
}

static const char *allocation_place(struct names *n, uint32_t block)
{
	const struct trace *t = n->trace;
	g_autoptr(GString) name = g_string_new("block@");
	uint32_t alloc = t->blocks[block].alloc;
	if (alloc != NONE)
		names_append_location(n, &t->locations[location_of(n, alloc)], name);
	return g_string_chunk_insert_const(n->blocks->strings, name->str);
}

/* Does the name of a block's type say which of the program's things it is? That of a number, a
 * pointer, a mutex, a node of the standard library's does not. (make_shared's has the user's
 * type in it.) */
static bool type_says_much(struct names *n, const struct block_facts *f)
{
	const char *name = debuginfo_type(names_debuginfo(n, f->module), f->type)->name;
	return g_str_has_prefix(name, "std::_Sp_counted_ptr_inplace<") ||
	       (is_record(n, f) && !is_library_type(n, f->module, f->type));
}

static const struct block_facts *settled(struct names *n, uint32_t block);
static void append_pointer(const struct block_facts *f, GString *name);

/* The member of another block that received the address, with that block's P:
 * "fifo->notEmpty"; of a node of the standard library's the first one's P. NULL where it is not
 * known, or the blocks lead back to this one. */
static const char *holder_pointer(struct names *n, struct block_facts *f)
{
	enum { DEEPEST = 16 };
	struct block_names *b = n->blocks;
	if (f->holder == NONE || b->facts[f->holder].settling || b->depth == DEEPEST)
		return NULL;
	f->settling = true;
	b->depth++;
	const struct block_facts *holder = settled(n, f->holder);
	b->depth--;
	f->settling = false;
	const char *path = f->path;
	size_t length = own_code_length(path);
	if (holder->vague)
		return NULL;
	if (length == 0)
		return holder->pointer;
	g_autoptr(GString) name = g_string_new(holder->pointer);
	if (type_says_much(n, holder)) { /* else another of a container's blocks */
		g_string_truncate(name, 0);
		append_pointer(holder, name);
	}
	if (*path == '.') {
		g_string_append(name, "->");
		path++, length--;
	}
	g_string_append_len(name, path, (gssize)length);
	return *path == '+' ? NULL : g_string_chunk_insert_const(b->strings, name->str);
}

/* Is it a container's table of pointers, beside the elements' own blocks? */
static bool is_table(const char *member)
{
	static const char *const tables[] = { "._M_map", "._M_buckets" };
	return g_str_has_suffix(member, tables[0]) || g_str_has_suffix(member, tables[1]);
}

/* P of a block of known type. */
static const char *find_pointer(struct names *n, uint32_t block)
{
	struct block_facts *f = &n->blocks->facts[block];
	bool says_much = type_says_much(n, f);
	const char *pointer = f->pointer;
	if (pointer != NULL && f->owned && !is_table(pointer)) {
		g_autofree char *own = g_strndup(pointer, own_code_length(pointer));
		return g_string_chunk_insert_const(n->blocks->strings, own);
	}
	if (pointer != NULL && strchr(pointer, '[') != NULL && says_much)
		pointer = NULL;
	if (pointer == NULL && (f->owned || !says_much))
		pointer = holder_pointer(n, f);
	if (pointer == NULL)
		pointer = local_pointer(n, f);
	if (pointer == NULL && !is_record(n, f))
		pointer = f->member;
	if (pointer != NULL)
		return pointer;
	f->vague = !says_much;
	bool placed = f->vague && is_record(n, f) && !is_internal(n, f->module, f->type);
	return type_pointer(n, f, placed ? allocation_place(n, block) : NULL);
}

/* Settles a block's type and P when it is first asked for. */
static const struct block_facts *settled(struct names *n, uint32_t block)
{
	struct block_facts *f = &n->blocks->facts[block];
	if (f->number != 0)
		return f;
	guess_type(n, block);
	f->vague = f->type == NONE;
	f->pointer = f->vague ? allocation_place(n, block) : find_pointer(n, block);
	uint32_t count =
	        GPOINTER_TO_UINT(g_hash_table_lookup(n->blocks->counts, f->pointer)) + 1;
	g_hash_table_insert(n->blocks->counts, (gpointer)f->pointer, GUINT_TO_POINTER(count));
	f->number = count;
	uint64_t size =
	        f->type != NONE ? debuginfo_size(names_debuginfo(n, f->module), f->type) : 0;
	f->each = size != 0 && is_array(n, block) ? size : 0;
	f->behind = f->each == 0 && size != 0 && !is_flexible(n, f->module, f->type) ? size : 0;
	return f;
}

static void append_pointer(const struct block_facts *f, GString *name)
{
	g_string_append(name, f->pointer);
	if (f->number > 1) {
		g_string_append_c(name, '#');
		append_decimal(f->number, name);
	}
}

const char *names_block_pointer(struct names *n, uint32_t block)
{
	return settled(n, block)->pointer;
}

void names_append_block(struct names *n, uint32_t block, GString *name)
{
	const struct block_facts *f = settled(n, block);
	if (f->type != NONE)
		g_string_append_c(name, '*');
	append_pointer(f, name);
}

void names_append_block_type(struct names *n, uint32_t block, GString *name)
{
	const struct block_facts *f = settled(n, block);
	if (f->type != NONE)
		debuginfo_type_name(names_debuginfo(n, f->module), f->type, name);
}

struct place_in_block names_place_in_block(struct names *n, uint32_t block, uint64_t address)
{
	const struct block_facts *f = settled(n, block);
	uint64_t offset = address - n->trace->blocks[block].address;
	bool behind = f->behind != 0 && offset >= f->behind;
	return (struct place_in_block){ .pointer = f->pointer,
		                        .each = f->each,
		                        .offset = offset,
		                        .module = f->module,
		                        .type = behind ? NONE : f->type,
		                        .behind = behind };
}

struct known_part *names_part(struct names *n, const struct place_in_block *p, uint64_t size)
{
	return part_of(n, p->module, p->type, names_within(p), size);
}

void names_append_in_block(struct names *n, uint32_t block, uint64_t address, uint64_t size,
                           GString *name)
{
	struct place_in_block p = names_place_in_block(n, block, address);
	const struct known_part *part = p.type != NONE ? names_part(n, &p, size) : NULL;
	const char *path = part ? part->path : "";
	g_string_assign(n->form, part ? part->form : "");
	if (p.behind || (part && !p.each && path[0] != '.' && path[0] != '['))
		g_string_append_c(name, '*');
	append_pointer(&n->blocks->facts[block], name);
	if (part == NULL || p.each) {
		g_string_append_c(name, part ? '[' : '+');
		append_decimal(part ? p.offset / p.each : p.offset, name);
		g_string_append(name, part ? "]" : "");
	} else if (path[0] == '.') {
		g_string_append(name, "->");
		path++;
	}
	g_string_append(name, path);
}

/* --- what libraries keep for themselves ------------------------------------------------ */

/* Size of the object's first access, if that took it whole. */
static uint64_t first_size(const struct names *n, uint32_t first)
{
	const struct trace *t = n->trace;
	uint64_t end = t->variables[first].address;
	gpointer mine = GUINT_TO_POINTER(first + 1);
	for (uint32_t v = first;
	     v < t->variables_count && t->variables[v].address == end &&
	     g_hash_table_lookup(n->blocks->in_libraries, GUINT_TO_POINTER(v + 1)) == mine;
	     v++)
		end += t->variables[v].size;
	return end - t->variables[first].address;
}

/* A struct that one of these pointers points to, and that the first access took whole. */
static const struct candidate *library_struct(struct names *n, uint32_t first)
{
	const struct candidate *found = NULL;
	uint64_t size = first_size(n, first);
	if (n->first_location[first] == NONE)
		return NULL;
	const GArray *list = candidates_at(n, n->first_location[first]);
	for (guint i = 0; i < list->len; i++) {
		const struct candidate *c = &g_array_index(list, struct candidate, i);
		struct debuginfo *d = names_debuginfo(n, c->module);
		const struct debug_type *t = debuginfo_type(d, debuginfo_strip(d, c->type));
		if (!c->direct || t->size != size ||
		    (t->kind != TYPE_STRUCT && t->kind != TYPE_UNION))
			continue;
		if (found != NULL &&
		    !same_type(n, c->module, c->type, found->module, found->type))
			return NULL; /* two would do */
		found = c;
	}
	return found;
}

bool names_append_library(struct names *n, uint32_t variable, uint64_t address, uint64_t size,
                          GString *name)
{
	uint32_t module = names_module_below(n, address);
	const struct name_module *m =
	        module == NONE ? NULL : &g_array_index(n->modules, struct name_module, module);
	if (m == NULL || address < m->low || address >= m->high)
		return false;
	if (names_append_symbol(n, module, address, name))
		return true;
	const char *slash = strrchr(m->path, '/'), *file = slash ? slash + 1 : m->path;
	uint32_t first = GPOINTER_TO_UINT(g_hash_table_lookup(n->blocks->in_libraries,
	                                                      GUINT_TO_POINTER(variable + 1))) -
	                 1;
	const struct candidate *c = first == NONE ? NULL : library_struct(n, first);
	if (c == NULL) {
		g_string_append_printf(name, "%s+0x%" G_GINT64_MODIFIER "x", file,
		                       address - names_base(n, module));
		return true;
	}
	struct block_facts facts = { .module = c->module, .type = c->type };
	const char *dot = strchr(file, '.');
	g_string_append_printf(name, "%s@%.*s", type_pointer(n, &facts, NULL),
	                       (int)(dot ? dot - file : (gssize)strlen(file)), file);
	const struct known_part *part = part_of(
	        n, c->module, c->type, address - n->trace->variables[first].address, size);
	g_string_assign(n->form, part->form);
	g_string_append(name, part->path);
	return true;
}

/* --- life ----------------------------------------------------------------------------- */

/* The size of a table for so many keys, at least twice as many where `most` allows: a power of
 * two. Small runs are imported by the thousand, and a large table costs more than they do. */
static uint32_t slots_for(uint64_t keys, uint32_t most)
{
	uint32_t slots = 64;
	while (slots < most && slots < 2 * keys)
		slots *= 2;
	return slots;
}

void names_begin_blocks(struct names *n)
{
	const struct trace *t = n->trace;
	struct block_names *b = g_new0(struct block_names, 1);
	n->blocks = b;
	b->parts_kept = slots_for(t->variables_count, PARTS_KEPT);
	b->guesses_kept = slots_for(t->blocks_count, GUESSES_KEPT);
	b->facts = g_new0(struct block_facts, t->blocks_count + 1);
	for (uint32_t i = 0; i < t->blocks_count; i++)
		b->facts[i].type = b->facts[i].holder = b->facts[i].class = NONE;
	b->receivers = g_array_new(FALSE, FALSE, sizeof(struct receiver));
	b->locals = g_array_new(FALSE, FALSE, sizeof(struct receiver));
	b->candidates = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_array_unref);
	b->counts = g_hash_table_new(g_str_hash, g_str_equal);
	b->in_libraries = g_hash_table_new(NULL, NULL);
	b->strings = g_string_chunk_new(4096);
	b->path = g_string_new(NULL);
	names_begin_frames(n);
	pass(n);
	note_objects(n);
	for (uint32_t i = 0; i < t->blocks_count; i++)
		derive_type(n, i);
	resolve_receivers(n);
	resolve_locals(n);
	guess_holders(n);
	resolve_receivers(n);
}

void names_end_blocks(struct names *n)
{
	struct block_names *b = n->blocks;
	if (b == NULL)
		return;
	g_free(b->facts);
	g_array_unref(b->receivers);
	g_array_unref(b->locals);
	g_hash_table_unref(b->candidates);
	g_hash_table_unref(b->counts);
	g_hash_table_unref(b->in_libraries);
	g_string_chunk_free(b->strings);
	g_free(b->parts);
	g_free(b->guesses);
	g_string_free(b->path, TRUE);
	g_free(b);
}
