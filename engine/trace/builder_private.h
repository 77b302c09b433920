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
#include "engine/trace/storage.h"

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
	uint32_t event, target, aux;
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
/* An integer and its value. */
struct seen_integer {
	int64_t integer;
	uint32_t value; /* plus one; 0: none yet */
};
/* What is known of a place of a recording while it is made. */
struct place_state {
	struct seen_integer seen; /* last accessed there: most reads see it again */
	uint32_t block;           /* of its region; NONE */
	uint32_t frames;          /* in a stack: b->frames when it was told */
	bool told, stack;
	bool quiet; /* its accesses tell nothing, but for addresses of blocks that they write */
};
enum { LATEST = 4 }; /* integers last accessed anywhere, a power of two: copies store them */
#define RECENT_LINES 4096u
struct recent_line {
	uint64_t number; /* offset by RADIX */
	uint32_t region, node;
};

/* The events that names may depend on (struct told), told to the namer at the end. */
struct telling {
	GArray *told;
	GArray *accesses; /* uint8_t by block: accesses told, up to TOLD_ACCESSES */
	uint32_t enters;  /* ENTERs so far */
	uint32_t frames;  /* changes with each ENTER and LEAVE */
	/* addresses of blocks: the lowest, the highest, the bits that any has */
	uint64_t low, high, bits;
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
	struct column values_array;   /* struct value */
	struct column spots;          /* struct spot: places */
	GArray *value_lists, *threads, *objects, *messages, *blocks, *instances, *invocations,
	        *locations, *sites, *contexts, *modules, *atomic_sets, *notes, *clocks,
	        *repeats, *drops, *weak;
	GArray *regions, *locks, *states;
	struct recent_integer *recent_integers;
	struct recent_line *recent_lines;
	struct place_state *places; /* by place, `places_room` of them: recordings */
	struct seen_integer latest[LATEST];
	uint32_t places_room, latest_next;
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
	struct trace_writer *writer; /* borrowed; NULL: events are kept */
	struct pending *pending;     /* the writer's */
	/* Thread whose accesses need no check, and its state, until another event or PENDING
	 * accesses have come; NONE. */
	uint32_t plain;
	const struct thread_state *plain_state;
	struct telling telling; /* for the namer */
	GArray *lates;          /* struct late, or NULL */
	GHashTable *late_keys;  /* value -> index of lates + 1, or NULL */
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

void builder_grow_places(struct builder *b, uint32_t place); /* memory.c */
static inline struct place_state *builder_place_state(struct builder *b, uint32_t place)
{
	if (G_UNLIKELY(place >= b->places_room))
		builder_grow_places(b, place);
	return &b->places[place];
}

/* -- the place and the value of a recorded access ------------------------------------------ */

/* The trees of places (memory.c). An entry of a lowest node, and spot.next: the index of a
 * place plus one, with the code of its size above (a power of two up to 16, or ENTRY_ODD), so
 * that the entry answers most look-ups. */
enum { RADIX_BITS = 6, RADIX = 1 << RADIX_BITS };
enum { ENTRY_SHIFT = 29, ENTRY_ODD = 7 };
#define ENTRY_SPOT ((1u << ENTRY_SHIFT) - 1)

static inline uint32_t place_size_code(uint32_t size)
{
	static const uint8_t codes[17] = { ENTRY_ODD, 0,         1,         ENTRY_ODD,
		                           2,         ENTRY_ODD, ENTRY_ODD, ENTRY_ODD,
		                           3,         ENTRY_ODD, ENTRY_ODD, ENTRY_ODD,
		                           ENTRY_ODD, ENTRY_ODD, ENTRY_ODD, ENTRY_ODD,
		                           4 };
	return size <= 16 ? codes[size] : ENTRY_ODD;
}

static inline uint32_t *builder_node(const struct builder *b, uint32_t node)
{
	return column_at(&b->nodes, node);
}

/* As builder_place; `site` remembers where the last one was. The second is for a place that is
 * new, elsewhere, or of an odd size. */
uint32_t builder_place_far(struct builder *b, uint32_t region, uint64_t offset, uint32_t size,
                           struct access_site *site);
static inline uint32_t builder_place_near(struct builder *b, uint32_t region, uint64_t offset,
                                          uint32_t size, struct access_site *site)
{
	if (G_LIKELY(site->line == offset / RADIX && site->region == region && site->node)) {
		uint32_t entry = builder_node(b, site->node)[offset % RADIX];
		uint32_t code = place_size_code(size);
		if (G_LIKELY(entry && entry >> ENTRY_SHIFT == code && code != ENTRY_ODD))
			return (entry & ENTRY_SPOT) - 1;
	}
	return builder_place_far(b, region, offset, size, site);
}

/* An integer that was read from a place or written to it. builder_values.c: one that the place
 * has not just seen, among the latest or looked up. */
struct seen_integer builder_other_integer(struct builder *b, int64_t integer);
static inline uint32_t builder_integer_at(struct builder *b, struct place_state *place,
                                          int64_t integer)
{
	struct seen_integer *seen = &place->seen;
	if (seen->value == 0 || seen->integer != integer)
		*seen = builder_other_integer(b, integer);
	else
		b->latest[b->latest_next++ % LATEST] = *seen;
	return seen->value - 1;
}

/* memory.c: the variables and wide accesses made from places; every access is changed from
 * place to variables. */
struct cut {
	GArray *variables; /* struct variable; names of recordings are NONE yet */
	GArray *wides;     /* struct wide */
	uint32_t *places;  /* by place, see tape.h; owned */
};
struct cut builder_cut_memory(struct builder *b);
/* "P+12": name of a recorded variable without debug information. */
void builder_append_plain_name(const struct builder *b, const struct variable *v,
                               GString *name);

/* builder_names.c: note an event that is about to be added, if names may depend on it. */
void builder_tell(struct builder *b, const struct event *e);
/* False for most accesses that need not be told. */
static inline bool builder_tells_access(const struct builder *b, const struct place_state *p,
                                        bool writes)
{
	uint64_t integer = (uint64_t)p->seen.integer;
	return !p->quiet || (writes && integer >= b->telling.low && integer <= b->telling.high);
}

/* To the writer, which says itself that the disk is full; the builder counts. */
static inline void builder_hand_over(struct builder *b, const struct event *e, uint32_t context)
{
	struct pending *p = b->pending;
	p->events[p->count] = *e;
	p->stacks[p->count++] = context;
	b->events.count++;
	if (G_LIKELY(p->count < PENDING))
		return;
	b->plain = NONE;
	binary_put_pending(b->writer, (const struct context *)(void *)b->contexts->data,
	                   b->contexts->len);
}

/* Request names for everything in the tables and `c`. */
void builder_ask_names(struct builder *b, struct cut *c);

#endif
