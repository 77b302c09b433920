/*
 * builder_private.h - state of the builder, for builder*.c (interning, facts, the end),
 * memory.c (places and variables) and wellformed.c (events and their checks).
 *
 * Hash tables are open-addressed over integers: no allocation per event.
 */
#ifndef HEDDLE_BUILDER_PRIVATE_H
#define HEDDLE_BUILDER_PRIVATE_H

#include "engine/base/hash.h"
#include "engine/base/column.h"
#include "engine/trace/builder.h"

#include <string.h>

/* -- growing arrays and hash tables ------------------------------------------------------- */

#define ARRAY(type)        GArray *
#define AT(array, type, i) (&g_array_index(array, type, i))

/* A set of indices; the caller compares and hashes the elements. */
struct table {
	uint32_t *slots; /* index + 1; 0: free */
	uint32_t mask, count;
};

void builder_table_grow(struct table *h, uint64_t (*hash)(const void *, uint32_t),
                        const void *of);

static inline uint64_t mix(uint64_t x)
{
	x ^= x >> 32;
	x *= UINT64_C(0xd6e8feb86659fd93);
	x ^= x >> 32;
	x *= UINT64_C(0xd6e8feb86659fd93);
	return x ^ x >> 32;
}

static inline uint64_t hash_bytes(const char *text, size_t length)
{
	uint64_t h = hash_word(length);
	while (length >= 8) {
		uint64_t word;
		memcpy(&word, text, 8);
		h = mix(h ^ word);
		text += 8;
		length -= 8;
	}
	uint64_t word = 0;
	if (length)
		memcpy(&word, text, length);
	return mix(h ^ word);
}

/* -- state --------------------------------------------------------------------------------- */

/* An address range: a named base during one life of a block. */
struct region {
	uint32_t name; /* string */
	uint32_t block;
	uint64_t address; /* recordings */
	/* Root of its tree of places (memory.c), 0: none yet; levels 0: text trace. */
	uint32_t root, levels;
};

/* A place: the target of an access until the end. */
struct spot {
	uint32_t region, name; /* name: string as the text has it, 0: none */
	uint64_t offset;
	uint32_t size;
	uint32_t next; /* recordings: next place of the same offset, coded as in a node; 0: none
	                */
};

/* A thread that holds a lock in shared mode. */
struct holder {
	uint32_t thread, count;
};

struct lock {
	uint32_t owner;  /* thread; NONE: free */
	uint32_t depth;  /* of the owner's acquires, in either mode */
	GArray *readers; /* struct holder; NULL: never any */
	bool semaphore;  /* declared by a directive to be a semaphore */
};

struct scope { /* an open scope */
	uint32_t event;
	uint8_t op;
};

struct thread_state {
	GArray *scopes; /* struct scope */
	uint64_t first_line;
	uint32_t context;
	bool started, forked, ended, joined, wants;
};

/* A node of the calling-context tree, with its key. */
struct node {
	uint32_t parent, function, call;
};

/* Meanings of strings, by string id; NONE: none yet. */
struct meaning {
	uint32_t thread, object, message, instance, location;
	uint32_t block, first_block; /* current life, first life */
	uint32_t spot, spot_at;      /* valid while spot_at == lives */
	uint32_t spot_size;
	uint32_t object_at; /* the object belongs to the block's life, while lives has this
	                     * value */
	uint32_t size;      /* directive */
};

/* A slot of the hash table of strings; see key_of. */
struct string_slot {
	uint64_t low, high;
	uint32_t string, length; /* string: index + 1; 0: free */
};

/* Caches of recently interned items, which save a cache miss each. */
#define RECENT 16384u /* a power of two */
struct recent_integer {
	int64_t integer;
	uint32_t value; /* plus one */
};
#define RECENT_LINES 4096u
struct recent_line {
	uint64_t number; /* offset by RADIX */
	uint32_t region, node;
};

struct builder {
	char *name;
	bool lenient;
	struct trace *t;
	GArray *string_bytes, *string_offsets, *meanings;
	struct string_slot *strings;
	uint32_t strings_mask;
	struct table values, lists_table, spots_table, regions_table, contexts_table,
	        sites_table;
	struct column events, stacks; /* struct event, uint32_t */
	struct column nodes;          /* RADIX uint32_t: the trees of places, see memory.c */
	GArray *values_array, *value_lists, *threads, *objects, *messages, *blocks, *instances,
	        *invocations, *locations, *sites, *contexts, *modules, *atomic_sets, *notes,
	        *clocks, *repeats, *drops;
	GArray *regions, *spots, *locks, *states;
	struct recent_integer *recent_integers;
	struct recent_line *recent_lines;
	uint32_t lives; /* number of block lives so far: place caches are valid while it is
	                 * unchanged */
	bool any_scope; /* ENTER or LEAVE occurred: there are stacks */
	uint64_t dropped_releases, stolen_locks;
	GArray *sent;            /* uint8_t by message: of enum sent */
	uint64_t early_receives; /* messages received before their first send */
	bool any_bytes;          /* some string is no UTF-8: the content of a string value */
	bool sealed;             /* strings are added that are not interned any more */
	char *failure;           /* why no trace can come of this; owned */
	const struct namer *namer;
	GArray *lates;         /* struct late, or NULL */
	GHashTable *late_keys; /* value -> index of lates + 1, or NULL */
	GPtrArray *warnings;
};

/* late.c: resolve late tokens in lists, at the end. */
void builder_settle_late(struct builder *b, const struct trace *view);

const char *builder_string_at(const struct builder *b, uint32_t string, size_t *length);
const char *builder_text(const struct builder *b, uint32_t string);
/* A string of arbitrary bytes: a value's contents, never a name. */
uint32_t builder_bytes(struct builder *b, const char *text, size_t length);
uint32_t builder_string_find(const struct builder *b, const char *text, size_t length);
/* Append a string, even if it exists. */
uint32_t builder_append_string(struct builder *b, const char *text, size_t length);
/* Recompute a location's site from its name or source. */
void builder_location_site(struct builder *b, uint32_t location);
struct lock *builder_lock(struct builder *b, uint32_t object); /* wellformed.c */
struct thread_state *builder_state(struct builder *b, uint32_t thread);
uint32_t builder_context(struct builder *b, struct context c); /* wellformed.c */
static inline struct meaning *builder_meaning(struct builder *b, uint32_t string)
{
	return AT(b->meanings, struct meaning, string);
}

/* memory.c: the variables and wide accesses made from places; every access is changed from
 * place to variables. */
enum { RADIX_BITS = 6, RADIX = 1 << RADIX_BITS };
struct cut {
	GArray *variables; /* struct variable; names of recordings are NONE yet */
	GArray *wides;     /* struct wide */
};
/* The current block that encloses a name of a text trace, or NONE. */
uint32_t builder_block_around(struct builder *b, const char *name, size_t length);
struct cut builder_cut_memory(struct builder *b);
/* "P+12": name of a recorded variable without debug information. */
void builder_append_plain_name(const struct builder *b, const struct variable *v,
                               GString *name);

/* Request names for everything in the tables and `c`. */
void builder_ask_names(struct builder *b, struct cut *c);

#endif
