/*
 * builder.h - makes a trace event by event, for the text reader, the recorder's log and tests.
 *
 * The builder interns names and values, tracks lives of blocks, checks well-formedness
 * (docs/trace-text.md), and finally divides memory into variables so that every access is a
 * range of them. A rejected event leaves the builder unchanged.
 */
#ifndef HEDDLE_BUILDER_H
#define HEDDLE_BUILDER_H

#include "engine/trace/trace.h"

struct builder;

/* `name` is the file in messages. Owned by the caller: builder_finish or _free. */
struct builder *builder_new(const char *name, const struct trace_options *options);
void builder_free(struct builder *builder);
/* From here on events are added as with trace_options.lenient. */
void builder_lenient(struct builder *builder);

/* Intern; returns indices of the trace's tables. Strings need no terminating NUL. */
uint32_t builder_string(struct builder *b, const char *text, size_t length);
uint32_t builder_thread(struct builder *b, const char *name, size_t length);
uint32_t builder_object(struct builder *b, const char *name, size_t length);
/* Is it the name of a known object or thread? */
bool builder_is_object(const struct builder *b, const char *name, size_t length);
bool builder_is_thread(const struct builder *b, const char *name, size_t length);
/* For text traces, where the name determines the enclosing block. */
uint32_t builder_object_text(struct builder *b, const char *name, size_t length);
uint32_t builder_message(struct builder *b, const char *name, size_t length);
uint32_t builder_instance(struct builder *b, const char *name, size_t length);
uint32_t builder_location(struct builder *b, const char *name, size_t length);
uint32_t builder_integer(struct builder *b, int64_t integer);
/* `kind` is V_NIL ... V_TRUE, V_STRING or V_TOKEN. */
uint32_t builder_value(struct builder *b, enum value_kind kind, const char *text,
                       size_t length);
uint32_t builder_pair(struct builder *b, uint32_t old_value, uint32_t new_value);
uint32_t builder_list(struct builder *b, const uint32_t *values, uint32_t count);
/* A token in a missing call's list of reachable data whose name is known at the end only;
 * replaced by any number of tokens from the namer's `late`. */
struct late {
	enum late_kind { LATE_BLOCK, LATE_PLACE } kind;
	uint64_t at, bytes; /* a block's index; or an address, and a number of bytes */
};
uint32_t builder_late(struct builder *b, struct late late);
uint32_t builder_invocation(struct builder *b, uint32_t method, const uint32_t *arguments,
                            uint32_t argument_count, const uint32_t *results,
                            uint32_t result_count);

/*
 * Memory. A place is (base, offset, size). Text: the base is the operand without a trailing
 * "+N" (text_place splits it and finds its current block). Recordings: builder_region makes a
 * base for the life of a block, a module, or a stack; offsets are relative to its address. size
 * 0: not given. Returns a place id for event.target, which the end turns into variables.
 */
uint32_t builder_place_text(struct builder *b, const char *name, size_t length, uint32_t size);
uint32_t builder_region(struct builder *b, const char *name, uint64_t address, uint64_t size,
                        uint32_t block);
uint32_t builder_place(struct builder *b, uint32_t region, uint64_t offset, uint32_t size);

/* The block `name`: for ALLOC a new life, for FREE the current one (or NONE). `address` is 0
 * in text traces. */
uint32_t builder_block(struct builder *b, const char *name, size_t length, uint64_t size,
                       uint64_t address);
uint32_t builder_block_find(struct builder *b, const char *name, size_t length);

/* Add an event of source line `line` (for messages; 0: none). Call stacks are tracked by ENTER
 * and LEAVE. False and `error` when the event is rejected. */
bool builder_add(struct builder *b, struct event event, uint64_t line, struct error *error);
/* A call of a recording. */
struct call_frame {        /* in its thread's stack, as the namer knows it */
	uint64_t function; /* an address in it */
	uint64_t begin;    /* 0: not known */
};
/* The context of the last call of one function and location, by its parent; the caller's. NONE
 * and NONE: none yet. */
struct call_memo {
	uint32_t parent, context;
};
struct recorded_call {
	uint32_t function, location;
	struct call_frame frame;
	uint32_t begin; /* where it begins, in the event: event_frame, or 0 */
	struct call_memo *memo;
};
/* Adds an ENTER, or a LEAVE, which are many, by a thread of a recording of which no more is to
 * be checked. False: nothing was added, and builder_add does it. */
bool builder_enter(struct builder *b, uint32_t thread, const struct recorded_call *call);
bool builder_leave(struct builder *b, uint32_t thread, uint32_t function);
/* Adds LEAVEs of these functions, the last one first, and then an ENTER (NULL: none), between
 * the accesses of a room (struct access_room) that has a tape and no `events`. `number`: of the
 * first one. False, and nothing is done: the thread is not in these functions. */
bool builder_put_calls(struct builder *b, const uint32_t *functions, uint32_t left,
                       const struct recorded_call *enter, uint32_t number);
/*
 * The last places of one instruction's accesses, the caller's; zero at first: LINE_PLACES
 * places of one region and size in a row (memory.c). The i-th is place `first` + i, and
 * begins i << step bytes after `low` in the region. The caller may look places up in it.
 */
enum { LINE_BITS = 6, LINE_PLACES = 1 << LINE_BITS };
struct access_site {
	struct near_line {           /* places at multiples of the size, others */
		uint64_t low, where; /* where: 0: none */
		uint32_t first, step;
	} near[2];
};
/* The addresses of blocks: the lowest (more than the highest: none), the highest, the bits that
 * any has. */
struct block_bounds {
	uint64_t low, high, bits;
};
/* May a block begin at an address? */
static inline bool block_bounds_have(const struct block_bounds *b, uint64_t address)
{
	return address >= b->low && address <= b->high && (address & ~b->bits) == 0;
}
/*
 * Recorded accesses of one thread. The caller puts them where the room says: on the tape, as a
 * row (tape_row.h), of whose events builder_put_access takes those that row_put does not, and
 * into `events`; and then has them added. It leaves to the builder the values that are not
 * plain integers, and the accesses of whose places it does not know that builder_noted has
 * them.
 */
struct access_room {
	struct tape_end *tape; /* or NULL: without a writer that keeps events */
	struct event *events;  /* or NULL; the builder's, until anything is added */
	uint32_t thread;
	uint32_t first; /* number of the first one */
	uint32_t count; /* 1 or more */
	/* Integers from 0 to below it are the event's value (VALUE_INTEGER), and no address of
	 * a block. */
	uint64_t plain;
	struct block_bounds blocks;
};
/* How the builder looks at one of them, as its value is no such integer, or its place not known
 * to be noted. */
enum access_look {
	LOOK_VALUED = 1, /* it has a value */
	LOOK_NOTED = 2,  /* builder_noted has the place */
	/* The same instruction and thread have accessed a place of its line before, in the same
	 * life of the block: the must-order need not see it. */
	LOOK_AGAIN = 4,
};
/* Key of region and size (in bytes). */
static inline uint64_t access_where(uint32_t region, uint32_t size)
{
	return (uint64_t)(region + 1) << 32 | size;
}
static inline uint64_t event_head(const struct event *e)
{
	uint64_t word;
	memcpy(&word, (const char *)e + sizeof word, sizeof word);
	return word;
}
static inline struct event access_event(uint64_t head, uint32_t place, uint32_t value)
{
	uint64_t first = place | (uint64_t)value << 32;
	struct event e;
	memcpy(&e, &first, sizeof first);
	memcpy((char *)&e + sizeof first, &head, sizeof head);
	return e;
}
/* The place at an offset in the region of `where`. */
uint32_t builder_access_place(struct builder *b, uint64_t where, uint64_t offset,
                              struct access_site *site);
/* Bit set of the LINE_PLACES places from `first` on (struct near_line) whose accesses by the
 * thread the builder need not note any more. */
uint64_t builder_noted(const struct builder *b, uint32_t first, uint32_t thread);
/* Need the builder not note such an access of one place in the present call? */
bool builder_noted_in_call(const struct builder *b, uint32_t place, uint32_t thread);
/* False: an access by the thread is to be checked, and builder_add takes it. */
bool builder_room(struct builder *b, uint32_t thread, struct access_room *room);
/* In their order: looks at the event with this number, and returns its value. `head`:
 * event_head; `how`: of enum access_look. */
uint32_t builder_look(struct builder *b, uint64_t head, uint32_t place, uint32_t number,
                      unsigned how, int64_t value);
void builder_put_access(struct builder *b, const struct event *event, uint32_t number);
/* The first `count` are there. False: the builder has no writer, and builder_add takes each of
 * the room. */
bool builder_added(struct builder *b, const struct access_room *room, uint32_t count);
/* One of them alone. False: builder_add takes it, with its value, which is set. */
bool builder_add_access(struct builder *b, struct event *event, bool valued, int64_t value);
uint32_t builder_event_count(const struct builder *b);
/* An object as known so far; `values`: the numbers of its values. */
const struct object *builder_object_at(const struct builder *b, uint32_t object);
const struct instance *builder_instance_at(const struct builder *b, uint32_t instance);
const struct invocation_part *
builder_invocation_at(const struct builder *b, uint32_t invocation, const uint32_t **values);
struct value builder_value_at(const struct builder *b, uint32_t value);
/* Valid until another string is added. */
const char *builder_string_at(const struct builder *b, uint32_t string, size_t *length);
const char *builder_text(const struct builder *b, uint32_t string);
/* Number of open scopes (call, ubeg, miss, enter) of all threads, without those blocked
 * forever. */
uint32_t builder_open_scopes(const struct builder *b);

/*
 * Analyses that take the events while the trace is made. `events` gets each once, in order and
 * in parts, before it leaves the memory: their targets are places where they are accesses,
 * their values numbers of the builder. `stacks`: the calling context of each; NULL: none has
 * one.
 */
struct builder_watch {
	void *context;
	void (*events)(void *context, const struct event *events, const uint32_t *stacks,
	               uint32_t first, uint32_t count);
};
void builder_watch(struct builder *b, const struct builder_watch *watch); /* copied */
/* Passes those on that have not been. */
void builder_show(struct builder *b);
/* The memory of a place of a recording. */
struct place_memory {
	uint64_t address; /* in the trace */
	uint32_t size, region, block;
};
struct place_memory builder_place_memory(const struct builder *b, uint32_t place);
/* The calling context of a thread's next event; 0: no function is open. And its caller's. */
uint32_t builder_stack(const struct builder *b, uint32_t thread);
uint32_t builder_caller(const struct builder *b, uint32_t stack);

/* Facts beside the events. */
void builder_size_directive(struct builder *b, const char *name, size_t length, uint32_t size);
void builder_semaphore(struct builder *b, uint32_t object, int32_t count);
void builder_instance_type(struct builder *b, uint32_t instance, uint32_t type);
void builder_instance_address(struct builder *b, uint32_t instance, uint64_t address);
/* Parse "FILE:LINE" or "FILE:LINE:COL" from the end: length of the file name, line and column
 * (0: none); false for other texts. */
bool builder_source_position(const char *text, size_t length, size_t *file,
                             uint32_t numbers[2]);
void builder_source(struct builder *b, uint32_t location, const char *file, uint32_t line,
                    uint32_t column);
/* Location of an inlined call: the call is in `function` (a string), which was itself inlined
 * at `outer`, or NONE. A line that is inlined at several places has one location for each, of
 * the same name. */
uint32_t builder_call_site(struct builder *b, const char *name, uint32_t function,
                           uint32_t outer);
void builder_stack_block(struct builder *b, uint32_t thread, uint32_t block);
/* The thread whose stack the block is, or NONE. */
uint32_t builder_stack_owner(const struct builder *b, uint32_t block);
void builder_atomic_set(struct builder *b, uint32_t name, uint32_t members);
void builder_note(struct builder *b, const char *key, const char *value);
/* builder_note for a namer, when strings are no longer interned. */
void builder_late_note(struct builder *b, const char *key, const char *value);
uint32_t builder_module(struct builder *b, const char *path, const char *build_id,
                        uint64_t base);
/* A recorded code address; the namer adds names. */
uint32_t builder_code(struct builder *b, uint32_t module, uint64_t address);
/* Recordings: a thread's number in the runtime, and the facts for replay. */
void builder_recorded_thread(struct builder *b, uint32_t thread, uint32_t number);
void builder_clock(struct builder *b, struct recorded_clock clock);
/* *last: index of the thread's last repeat + 1, or 0; that repeat's count grows if it is of
 * the same event. */
void builder_repeat(struct builder *b, struct recorded_repeat repeat, uint64_t *last);
void builder_drop(struct builder *b, struct recorded_drop drop);
/* Ascending by event; the events may be added later. */
void builder_weak(struct builder *b, struct weak_source weak);
void builder_object_address(struct builder *b, uint32_t object, uint64_t address);
void builder_object_block(struct builder *b, uint32_t object, uint32_t block);
void builder_warn(struct builder *b, const char *format, ...)
        __attribute__((format(printf, 2, 3)));

/*
 * Names for recordings, requested once for each variable, location, object and block at the
 * end; each may be NULL. Implemented by engine/record/names/name.c from debug information.
 *
 * `begin` comes first, when all but the names is complete: variables, wides, values, blocks,
 * threads, locations (address, module), modules; and the clues. Names of blocks depend on the
 * events that store a block's address. `location` gets a copy, stored afterwards: the callback
 * may add strings and locations. Names are unique: equal names are one variable. A block's name
 * is "*job", its variables' "job->arg", "a[3]", "*n": the text writer must write a variable
 * with another name as BLOCK+OFFSET.
 */
/* A clue: an event that names may depend on. They are few, and the namer receives only these at
 * the end: of accesses outside of stacks the first CLUE_ACCESSES of each heap block, the first
 * of each other place, and writes of values that may be addresses of blocks; the first
 * CLUE_LOCALS writes of a block's address to stacks; allocations and frees. */
struct clue {
	struct event event;
	uint32_t id;
};
enum { CLUE_ACCESSES = 6, CLUE_LOCALS = 12 };
struct clue_list { /* borrowed */
	const struct clue *at;
	uint64_t count;
	const uint32_t *places; /* for builder_place_variables, in `begin` alone */
};
/* The variables of a place, at the end. */
struct wide builder_place_variables(struct clue_list clues, const struct trace *partial,
                                    uint32_t place);
/* An access in a stack. */
struct local_access {
	const struct event *event; /* its target is its place */
	uint32_t number, stack;    /* the event's number; the stack's block */
	uint64_t address;
};
struct namer {
	void *context;
	/* While events are added, for names that depend on the frames that are open: the first
	 * access of each place in a stack, and each that may fall into another frame than the
	 * one before it, or be another thread's; each operation of an object, and its address
	 * (0: none). May be NULL. `local` returns whether further accesses of the place by the
	 * stack's thread make no difference. */
	bool (*local)(void *context, const struct local_access *access);
	void (*used)(void *context, const struct event *event, uint32_t number,
	             uint64_t address);
	void (*begin)(void *context, const struct trace *partial, struct clue_list clues);
	/* Give `partial`'s variables a spelling, by builder_spelling and builder_name_rule;
	 * those that keep NONE get a plain one. After locations, objects and blocks. */
	void (*variables)(void *context, struct builder *b, const struct trace *partial,
	                  struct variable *variables);
	void (*location)(void *context, struct builder *b, struct location *location);
	void (*object)(void *context, const struct object *o, GString *name);
	void (*block)(void *context, struct builder *b, struct block *block, GString *name);
	/* Adds how values are shown, by builder_late_note. */
	void (*forms)(void *context, struct builder *b);
	/* After all other names: append each token, with a terminating NUL. */
	void (*late)(void *context, const struct trace *partial, struct late late,
	             GString *names);
};
void builder_namer(struct builder *b, const struct namer *namer);

/* A variable's spelling: a name, not interned; a rule, whose strings are given apart. */
uint32_t builder_spelling(struct builder *b, const GString *name);
uint32_t builder_name_rule(struct builder *b, struct name_rule rule, const char *path,
                           const char *rest);

/* Frees the builder, of which no trace is wanted: the result is empty but for the warnings. */
struct trace *builder_forget(struct builder *b);
/* Returns the trace and frees the builder in any case. NULL and `error` on failure. */
struct trace *builder_finish(struct builder *b, bool complete, struct error *error);

#endif
