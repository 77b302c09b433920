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
#include "engine/trace/builder/builder.h"
#include "engine/trace/storage.h"
#include "engine/trace/binary/tape_row.h"

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

/* events of builder.room, without a writer and with one; of struct marked */
enum { ROOM = 64, WATCHED = 1 << 11, MARKED = 1 << 10 };

/* Events of a recording on their way to the must-order (must_maker_recorded). */
struct marked {
	uint32_t count, numbers[MARKED];
	struct event events[MARKED];
};

/* -- state --------------------------------------------------------------------------------- */

/* An address range: a named base during one life of a block. */
struct region {
	uint32_t name; /* string */
	uint32_t block;
	uint64_t address;           /* recordings */
	uint32_t odd;               /* recordings: its last line of spots + 1; 0: none */
	bool recorded;              /* of a recording, not of a text */
	uint32_t lines;             /* recordings: how many it has */
	uint32_t begin[4];          /* by code, of step == code: its line at offset 0 + 1 */
	uint64_t bytes;             /* recordings */
	struct line_tables *tables; /* owned; NULL: none */
};

/* The lines of a region of a recording by their place in it. Neighbours are side by side, so
 * more of them stay in the cache than of the hash table. */
enum { LINE_CODES = 5 }; /* 1 << code: 1 to 16 bytes */
struct line_tables {
	/* By code, and whether step == code: line + 1 (0: not known) of each LINE << step
	 * bytes; owned; NULL: none. */
	uint32_t *at[LINE_CODES][2];
};

/* A place (the target of an access until the end) in a text trace, or in a recording if no
 * line of its size has it. */
struct spot {
	uint32_t region, name; /* name: string as the text has it, 0: none */
	uint64_t offset;
	uint32_t size;
	uint32_t place; /* in a text trace its index */
};

/* Places of a recording: LINE of one region and size, in a row. The i-th place of line n is
 * place n * LINE + i. It begins i << step bytes after `low`: sizes are powers of two (1 <<
 * code), and either all of its places begin at multiples of their size (step == code), or a
 * byte apart (step 0), and those at multiples are unused. Code ODD_SIZE: places of any size,
 * struct spot. */
enum { LINE = LINE_PLACES, ODD_SIZE = 7 };
struct line {
	uint64_t met;   /* bit set of the existing places */
	uint64_t spent; /* bit set of places whose next accesses the namer does not need
	                  (struct namer), except writes of possible block addresses; of a line
	                  in a stack: see builder_place_spent */
	uint64_t low;   /* offset in the region; of ODD_SIZE: the first of LINE numbers of
	                 * its spots, in b->odd_spots */
	/* In a stack: places whose accesses by its thread the namer needs no more. */
	uint64_t settled;
	uint32_t region, block;
	uint32_t frames; /* in a stack: the first of LINE elements of b->clues.frames_at */
	uint8_t code, step;
	bool stack; /* in a stack */
};

/* A thread that holds a lock in shared mode. */
struct holder {
	uint32_t thread, count;
};

struct lock {
	uint32_t owner;  /* thread; NONE: free */
	uint32_t depth;  /* number of nested acquires by the owner, in either mode */
	GArray *readers; /* struct holder; NULL: never any */
	bool semaphore;  /* declared by a directive to be a semaphore */
};

struct scope { /* an open scope */
	uint32_t event, target;
	uint32_t aux; /* of the event; of an ENTER the number of its frame (struct clues) */
	uint8_t op;
	uint64_t begin; /* of an ENTER: of its frame (struct call_frame) */
};

struct thread_state {
	struct column scopes; /* struct scope; zero: none yet */
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
	uint32_t spot, spot_at;      /* the place at `spot`, valid while spot_at == lives */
	uint32_t spot_size;
	uint32_t object_at; /* object of the block's present life, while lives has this value */
	uint32_t size;      /* directive */
};

/* A slot of the hash table of strings; see key_of. */
struct string_slot {
	uint64_t low, high;
	uint32_t string, length; /* string: index + 1; 0: free */
};

/* The interned integers: an open-addressed table. */
struct integer_slot {
	int64_t integer;
	uint32_t value; /* plus one; 0: free */
};
struct integers {
	struct integer_slot *slots;
	uint64_t mask, count;
	unsigned shift;
};
/* Where an integer's look-up begins: four neighbours have a cache line. */
static inline uint64_t integer_slot(const struct integers *t, int64_t integer)
{
	return (hash_word((uint64_t)integer >> 2) >> t->shift << 2) | ((uint64_t)integer & 3);
}

#define RECENT_LINES 4096u
struct recent_line {
	uint64_t low;
	uint32_t region, line; /* line + 1; 0: none */
	uint8_t code, step;
};

/* The number of a block's clues. */
struct clue_counts {
	uint8_t accesses; /* of it, up to CLUE_ACCESSES */
	uint8_t locals;   /* writes of its address to a stack, up to CLUE_LOCALS */
};

struct frame_memo {
	struct call_frame frame;
	uint32_t number; /* 0: none */
};
enum { FRAMES_KEPT = 1024 };

/* The clues (builder.h), passed to the namer at the end. */
struct clues {
	struct column list; /* struct clue */
	GArray *counts;     /* struct clue_counts, by block */
	/* Frames have numbers, of which equal ones are of equal frames. The last number; and
	 * those of frames by their hash. */
	uint32_t frames;
	struct frame_memo *frames_of; /* FRAMES_KEPT; owned; NULL: none yet */
	uint32_t calls;               /* the number of ENTERs and LEAVEs */
	/* uint32_t by place of the lines in stacks: what builder_frame_now was at the last
	 * access that the namer got, or 0. */
	GArray *frames_at;
	struct block_bounds blocks;
	GHashTable *live; /* address -> block + 1, of those that are allocated now */
};

struct builder {
	char *name;
	bool lenient;
	struct trace *t;
	GArray *string_bytes, *string_offsets, *meanings;
	struct string_slot *strings;
	uint32_t strings_mask;
	struct table values, lists_table, spots_table, regions_table, contexts_table,
	        sites_table, lines_table;
	struct column events, stacks; /* struct event, uint32_t */
	struct column lines;          /* struct line: places of recordings */
	struct column values_array;   /* struct value */
	struct column spots;          /* struct spot: other places */
	GArray *odd_spots;            /* uint32_t: spots of the lines of ODD_SIZE */
	GArray *value_lists, *threads, *objects, *messages, *blocks, *instances, *invocations,
	        *locations, *sites, *contexts, *modules, *atomic_sets, *notes, *clocks,
	        *name_rules, *repeats, *drops, *weak;
	GArray *regions, *locks, *states;
	struct integers integers;
	struct recent_line *recent_lines;
	uint32_t lives; /* number of block lives so far: place caches are valid while it is
	                 * unchanged */
	bool any_scope; /* ENTER or LEAVE occurred, so events have call stacks */
	uint64_t dropped_releases, stolen_locks;
	GArray *sent;            /* uint8_t by message: of enum sent */
	uint64_t early_receives; /* messages received before their first send */
	bool any_bytes;          /* some string is no UTF-8: the content of a string value */
	bool sealed;             /* strings are added that are not interned any more */
	char *failure;           /* the reason why no trace can be made; owned */
	const struct namer *namer;
	struct trace_writer *writer; /* borrowed; NULL: events are kept */
	struct tape_end *tape;       /* the writer's */
	bool taped;                  /* events go there: the writer keeps them */
	struct must_maker *must;     /* of the events that went to the writer; or NULL */
	struct marked *marked;       /* for it; owned, NULL without a writer */
	uint64_t marked_operations;  /* a bit for each that it has got */
	/* Events with their stacks: without a writer the room of builder_room, with one those
	 * that the watch has not got yet; owned; NULL: neither. */
	struct event *room;
	uint32_t *room_stacks;
	/* Thread whose accesses need no check, and its state, until other events or a block's
	 * end have come; NONE. */
	uint32_t plain;
	struct thread_state *plain_state;
	struct builder_watch watch; /* without a function: none */
	uint64_t shown;             /* number of the events that it has got */
	struct clues clues;         /* for the namer */
	GArray *lates;              /* struct late, or NULL */
	GHashTable *late_keys;      /* value -> index of lates + 1, or NULL */
	GPtrArray *warnings;
};

/* late.c: resolve late tokens in lists, at the end. */
void builder_settle_late(struct builder *b, const struct trace *view);

/* A string of arbitrary bytes: a value's contents, never a name. */
uint32_t builder_bytes(struct builder *b, const char *text, size_t length);
uint32_t builder_string_find(const struct builder *b, const char *text, size_t length);
/* Append a string, even if it exists. */
uint32_t builder_append_string(struct builder *b, const char *text, size_t length);
/* Recompute a location's site from its name or source. */
void builder_location_site(struct builder *b, uint32_t location);
struct lock *builder_lock(struct builder *b, uint32_t object); /* wellformed.c */
void builder_more_states(struct builder *b, uint32_t thread);
static inline struct thread_state *builder_state(struct builder *b, uint32_t thread)
{
	if (G_UNLIKELY(b->states->len <= thread))
		builder_more_states(b, thread);
	return AT(b->states, struct thread_state, thread);
}
uint32_t builder_context(struct builder *b, struct context c); /* builder_calls.c */
/* The body of builder_value_at, for the files of the builder. */
static inline struct value value_at(const struct builder *b, uint32_t value)
{
	return interned_or_small((const void *)b->values_array.data, value);
}
static inline struct meaning *builder_meaning(struct builder *b, uint32_t string)
{
	return AT(b->meanings, struct meaning, string);
}

static inline struct line *builder_line(const struct builder *b, uint32_t place)
{
	return column_at(&b->lines, place / LINE);
}
static inline uint64_t line_bit(uint32_t place)
{
	return UINT64_C(1) << place % LINE;
}

/* builder_values.c: the table of integers. */
void builder_begin_integers(struct builder *b);
/* An integer of VALUE_SMALL_END or more, or less than 0? */
static inline bool builder_is_interned(int64_t integer)
{
	return (uint64_t)integer >= VALUE_SMALL_END;
}
/* A block that is never allocated in the trace (a stack; freed only) existed from the
 * beginning: earlier accesses lie in it, too. */
void builder_adopt_early_places(struct builder *b);

/* memory_cut.c: the variables and wide accesses made from places; every access is changed from
 * place to variables. */
struct cut {
	GArray *variables; /* struct variable; names of recordings are NONE yet */
	GArray *wides;     /* struct wide */
	uint32_t *places;  /* by place, see tape.h; owned */
	uint64_t places_count;
};
struct cut builder_cut_memory(struct builder *b);
/* "P+12": name of a recorded variable without debug information. */
void builder_append_plain_name(const struct builder *b, const struct variable *v,
                               GString *name);

void builder_free_lines(struct builder *b); /* memory.c: the regions' tables */
uint64_t builder_local_address(const struct builder *b, uint32_t place); /* in a stack */

/* Is the line in the thread's own stack? */
static inline bool builder_is_own(const struct builder *b, const struct line *l,
                                  uint32_t thread)
{
	return l->stack && AT(b->threads, struct thread, thread)->stack == l->block;
}

/* builder_names.c: note an event that is about to be added, if names may depend on it. */
void builder_take_clue(struct builder *b, const struct event *e);
/* May a block begin at an address? */
static inline bool builder_may_be_block(const struct builder *b, uint64_t address)
{
	return block_bounds_have(&b->clues.blocks, address);
}
/* builder_names.c: the number of the frame that a thread's access falls into, of its own stack;
 * 0: it is not known. */
uint32_t builder_frame_around(const struct builder *b, uint32_t place, uint32_t thread);
/* The number of a frame. */
uint32_t builder_frame_number(struct builder *b, struct call_frame frame);
/* What the frame depends on that a thread's access of a line in a stack falls into: of its own
 * stack its number; where that is not known, or the stack is another thread's, all calls so
 * far. 0: it does not say. */
static inline uint32_t builder_frame_now(const struct builder *b, const struct line *l,
                                         uint32_t place, uint32_t thread)
{
	const uint32_t own = UINT32_C(1) << 30, others = UINT32_C(1) << 31;
	uint32_t calls = b->clues.calls < own ? b->clues.calls : NONE, frame;
	if (!builder_is_own(b, l, thread))
		return calls == NONE ? 0 : others | calls;
	frame = builder_frame_around(b, place, thread);
	if (frame != 0)
		return frame < own ? frame : 0;
	return calls == NONE ? 0 : own | calls;
}
static inline uint32_t *builder_frames_at(const struct builder *b, const struct line *l,
                                          uint32_t place)
{
	return AT(b->clues.frames_at, uint32_t, l->frames + place % LINE);
}
/* Is the access irrelevant to the namer, unless it writes the address of a block? */
static inline bool builder_place_spent(const struct builder *b, const struct line *l,
                                       uint32_t place, uint32_t thread)
{
	if (!l->stack)
		return l->spent & line_bit(place);
	uint32_t now = builder_frame_now(b, l, place, thread);
	return now != 0 && *builder_frames_at(b, l, place) == now;
}

/* builder_calls.c: opens the scope of an event of the thread; `frame`: of an ENTER. */
void builder_open_scope(struct builder *b, struct thread_state *s, const struct event *e,
                        struct call_frame frame);

/* builder_plain.c */
/* Most events are accesses inside of a thread: do those of this thread need no check? */
bool builder_needs_no_check(const struct builder *b, uint32_t thread);
/* The same, remembered for the next accesses (b->plain), with room for all that are pending. */
bool builder_is_plain(struct builder *b, uint32_t thread);

/* builder_pending.c */
void builder_put_marked(struct builder *b); /* to the must-order */
static inline void builder_mark(struct builder *b, const struct event *e, uint32_t number)
{
	struct marked *m = b->marked;
	m->events[m->count] = *e;
	m->numbers[m->count++] = number;
	if (G_UNLIKELY(m->count == MARKED))
		builder_put_marked(b);
}
/* The next event, to the tape and to the watch, and to the must-order if that needs it. */
void builder_hand_over(struct builder *b, const struct event *e, uint32_t context);
/* The same of one in a room (struct access_room), which is not added yet: to the tape alone. */
void builder_put_event(struct builder *b, const struct event *e, uint32_t context,
                       uint32_t number);

/* Request names for everything in the tables and `c`; ends its places. */
void builder_ask_names(struct builder *b, struct cut *c);

#endif
