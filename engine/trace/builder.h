/*
 * builder.h - makes a trace, one event after the other: for the text reader, for the
 * recorder's log and for tests.
 *
 * The builder interns names and values, gives blocks their lives, checks that the trace
 * is well-formed (docs/trace-text.md), and at the end cuts memory into variables so that
 * every access is a run of them.  An event that is refused leaves the builder as it was.
 */
#ifndef HEDDLE_BUILDER_H
#define HEDDLE_BUILDER_H

#include "engine/trace/trace.h"

struct builder;

/* `name` stands for the file in messages.  Owned by the caller: builder_finish or _free. */
struct builder *builder_new(const char *name, const struct trace_options *options);
void builder_free(struct builder *builder);

/* Intern; the results are indexes of the trace's tables.  A string need not end in NUL. */
uint32_t builder_string(struct builder *b, const char *text, size_t length);
uint32_t builder_thread(struct builder *b, const char *name, size_t length);
uint32_t builder_object(struct builder *b, const char *name, size_t length);
/* Does a name stand for an object, a thread, by now? */
bool builder_is_object(const struct builder *b, const char *name, size_t length);
bool builder_is_thread(const struct builder *b, const char *name, size_t length);
/* Of a text, where the name tells the block that it lies in. */
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
/*
 * A token that only the end can spell, for a missing call's list of what it reaches: in lists
 * it becomes the tokens that the namer's `late` finds, any number of them.
 */
struct late {
	enum late_kind { LATE_BLOCK, LATE_PLACE } kind;
	uint64_t at, bytes; /* block; or an address, and how many bytes from there on */
};
uint32_t builder_late(struct builder *b, struct late late);
uint32_t builder_invocation(struct builder *b, uint32_t method, const uint32_t *arguments,
                            uint32_t argument_count, const uint32_t *results,
                            uint32_t result_count);

/*
 * Memory.  A place is (base, offset, size).  Text: the base is the operand's name less a
 * trailing "+N" (text_place splits it and finds the block it lies in at this moment).
 * Recordings: builder_region makes a base for a block's life, a module, a stack; the
 * offset is relative to the region's address.  size 0: not given.
 * Returns a place id for event.target; the builder turns it into variables at the end.
 */
uint32_t builder_place_text(struct builder *b, const char *name, size_t length, uint32_t size);
uint32_t builder_region(struct builder *b, const char *name, uint64_t address, uint64_t size,
                        uint32_t block);
uint32_t builder_place(struct builder *b, uint32_t region, uint64_t offset, uint32_t size);

/* A new life of the block `name`, for an ALLOC's target; the current life, for a FREE's
 * (NONE when there is none).  `address` 0 in text traces. */
uint32_t builder_block(struct builder *b, const char *name, size_t length, uint64_t size,
                       uint64_t address);
uint32_t builder_block_find(struct builder *b, const char *name, size_t length);

/*
 * Add an event at source line `line` (0: none; for messages).  The builder keeps the call
 * stacks itself, by ENTER and LEAVE.
 * False and `error` when the event is refused.
 */
bool builder_add(struct builder *b, struct event event, uint64_t line, struct error *error);
uint32_t builder_event_count(const struct builder *b);
/* Scopes (call, ubeg, miss, enter) that are open now, over all threads but those that wait in
 * them for ever. */
uint32_t builder_open_scopes(const struct builder *b);

/* Facts beside the events. */
void builder_size_directive(struct builder *b, const char *name, size_t length, uint32_t size);
void builder_semaphore(struct builder *b, uint32_t object, int32_t count);
void builder_instance_type(struct builder *b, uint32_t instance, uint32_t type);
/* "FILE:LINE" or "FILE:LINE:COL", cut from the back: the length of the file's name, and line
 * and column (0: none); false for other texts. */
bool builder_source_position(const char *text, size_t length, size_t *file,
                             uint32_t numbers[2]);
void builder_source(struct builder *b, uint32_t location, const char *file, uint32_t line,
                    uint32_t column);
/* The function a location lies in, and the location of the call it was inlined at (or NONE). */
void builder_inlined(struct builder *b, uint32_t location, uint32_t function, uint32_t inlined);
void builder_stack_block(struct builder *b, uint32_t thread, uint32_t block);
void builder_atomic_set(struct builder *b, uint32_t name, uint32_t members);
void builder_note(struct builder *b, const char *key, const char *value);
uint32_t builder_module(struct builder *b, const char *path, const char *build_id,
                        uint64_t base);
/* A recorded code address; names are filled in later by the namer. */
uint32_t builder_code(struct builder *b, uint32_t module, uint64_t address);
void builder_object_address(struct builder *b, uint32_t object, uint64_t address);
void builder_object_block(struct builder *b, uint32_t object, uint32_t block);
void builder_warn(struct builder *b, const char *format, ...)
        __attribute__((format(printf, 2, 3)));

/*
 * Names for recordings, asked once for each variable, location, object, block at the end;
 * each may be NULL.  Implemented over debuginfo by engine/record/name.c.
 *
 * `begin` comes first, when all but the names is there: events with their variables (cut
 * already), wides, values, blocks, threads, locations (address, module), modules.  The
 * naming of blocks looks at the events for who receives a block's address.  `location`
 * gets a copy, which the builder stores afterwards: the callback may add strings and
 * locations.  Names are unique: two variables with one name are one variable.  A block's
 * name is "*job", its variables' "job->arg", "a[3]", "*n": the text writer must write a
 * variable whose name does not continue its block's name as BLOCK+OFFSET.
 */
struct namer {
	void *context;
	void (*begin)(void *context, const struct trace *partial);
	/* The name of the variable at address..address+size of a region; append to `name`. */
	void (*variable)(void *context, const struct trace *partial, const struct variable *v,
	                 GString *name);
	void (*location)(void *context, struct builder *b, struct location *location);
	void (*object)(void *context, const struct object *o, GString *name);
	void (*block)(void *context, struct builder *b, struct block *block, GString *name);
	/* When all the rest has its name: each token with a NUL behind it. */
	void (*late)(void *context, const struct trace *partial, struct late late,
	             GString *names);
};
void builder_namer(struct builder *b, const struct namer *namer);

/* The trace; the builder is freed in any case.  NULL and `error` on failure. */
struct trace *builder_finish(struct builder *b, bool complete, struct error *error);

#endif
