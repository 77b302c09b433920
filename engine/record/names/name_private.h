/*
 * name_private.h - shared by the files that name a recording's objects (name*.c): the modules,
 * the blocks by address, and the facts that one pass over the events finds about blocks.
 */
#ifndef HEDDLE_NAME_PRIVATE_H
#define HEDDLE_NAME_PRIVATE_H

#include "debuginfo/debuginfo.h"
#include "engine/record/names/name.h"

struct name_module {
	char *path, *build_id; /* owned */
	uint64_t base;
	struct debuginfo *debuginfo; /* NULL until needed, or when it cannot be read */
	bool tried, kept;            /* kept: `debuginfo` belongs to the store, else it is
	                              * owned */
	uint64_t low, high;          /* bounds of its addresses, or 0 */
	uint64_t locals_below, locals_bytes;
	bool c_library, tried_symbols;
	struct debuginfo *symbols; /* a C library's: owned; NULL until needed */
};

struct name_thread {
	uint64_t pointer; /* 0: not known */
	uint32_t number;  /* the runtime's */
};

struct block_names; /* name_blocks.c */
struct frame_names; /* name_frames.c */
struct late_names;  /* name_late.c */

struct taken_names {     /* a set of hashes */
	uint64_t *slots; /* owned; 0: free */
	uint64_t mask, count;
	GHashTable *numbers; /* a name in use -> the last number appended to it; owned */
};

struct names {
	char *folder;
	struct debug_store *store;  /* borrowed, or NULL */
	GArray *modules;            /* struct name_module */
	GArray *threads;            /* struct name_thread, by thread */
	GPtrArray *warnings;        /* char *, owned */
	GPtrArray *unseen;          /* values of TRACE_UNSEEN_NOTE */
	GHashTable *short_files;    /* last component -> the path that owns it; borrowed */
	GHashTable *variable_names; /* struct debug_variable -> char *, owned */
	GHashTable *taken_names;    /* set of the values of variable_names */
	struct taken_names variables_taken, objects_taken;
	const struct trace *trace;  /* borrowed; NULL until begun */
	uint32_t *by_address;       /* blocks, by address, then by life */
	uint64_t *stack_tops;       /* by block: the end of its highest variable */
	uint32_t *first_location;   /* by variable: of its first access */
	GHashTable *channels;       /* variable + 1 -> value that made a channel; or NULL */
	struct clue_list clues;     /* borrowed */
	struct block_names *blocks; /* owned */
	struct frame_names *frames; /* owned */
	struct late_names *late;    /* owned; NULL until asked */
	uint32_t first_function_at; /* the last location whose function was asked for */
	GString *first_function;    /* that function; "": none yet */
	GString *form;              /* of the variable that is being named; "": unknown */
	GString *patterns[2];       /* patterns of the present variable and of the last in
	                             * `forms` */
	GString *last_form;         /* its form */
	GHashTable *forms;          /* pattern of names -> its form; char *, owned (shown.h) */
	bool few;                   /* names_of_few */
	struct namer namer;
};

/* name_modules.c */
void names_clear_module(gpointer module); /* struct name_module */
uint64_t names_base(const struct names *n, uint32_t module);
/* A symbol of the C library's data. */
bool names_append_symbol(struct names *n, uint32_t module, uint64_t address, GString *name);
/* The module loaded nearest below an address, or NONE; whether it contains the address
 * follows from debuginfo. */
uint32_t names_module_below(const struct names *n, uint64_t address);
/* The static variable at a run-time address, and the module that may hold it. */
const struct debug_variable *names_data(struct names *n, uint64_t address, uint32_t *module);
bool names_append_data(struct names *n, uint64_t address, uint64_t size, GString *name);
/* The same of a static variable of that module, and the part that the name is of. */
struct debug_part names_append_part(struct names *n, uint32_t module,
                                    const struct debug_variable *v, uint64_t address,
                                    uint64_t size, GString *name);
/* Its part at an offset in it, and the part's form. */
struct debug_part names_append_offset(struct names *n, struct debuginfo *d,
                                      const struct debug_variable *v, uint64_t offset,
                                      uint64_t size, GString *name);
/* Places of a location, innermost first, as debuginfo_code. */
size_t names_places(struct names *n, const struct location *l, struct debug_place *places,
                    size_t room);
/* The place of a location: of the innermost inlined call that is in the user's own files; where
 * none is, of the location itself. */
void names_append_location(struct names *n, const struct location *l, GString *name);
/* The namer's callback: name, function, lines and inlined calls of a location. */
void names_locate(void *context, struct builder *b, struct location *l);
/* What made the channel that the variable stands for (record/layout.h); 0: not known. */
uint64_t names_channel_ends(const struct names *n, uint32_t variable);
/* The program's own name for a variable, distinguished from others of that name. */
const char *names_variable(struct names *n, uint32_t module, const struct debug_variable *v);

/* A function's or type's name without template arguments. */
void names_append_function(const char *function, GString *name);

/* name_threads.c */
/* A thread-local variable: "errors@T1" for T1's. `block`: the stack that holds the address, or
 * NONE. */
bool names_append_thread_local(struct names *n, uint32_t block, uint64_t address, uint64_t size,
                               GString *name);

/* name_lives.c */
void names_begin_lives(struct names *n); /* before names_block_at */
/* The last block (or stack) that held the address and had begun when `event` came (NONE: at
 * the end), or NONE. */
uint32_t names_block_at(const struct names *n, uint64_t address, uint32_t event);

/* name_frames.c */
void names_begin_frames(struct names *n); /* when the variables are known */
void names_end_frames(struct names *n);
/* The namer's callbacks while events are added. */
bool names_local(void *context, const struct local_access *access);
void names_used(void *context, const struct event *event, uint32_t number, uint64_t address);
/* The thread whose stack the block is, or NONE. */
uint32_t names_stack_thread(const struct names *n, uint32_t block);
/* The first event of an object, and where it was; both NONE where there was none. */
struct first_use {
	uint32_t number, location;
};
struct first_use names_first_use(const struct names *n, size_t object);
/* The function in whose frame a variable lay when another thread first touched it; false where
 * none did, or that is not known. */
bool names_append_sharer(struct names *n, uint32_t variable, GString *name);
/* "function::local" of a variable, of an object; false when that is not known. */
bool names_append_local(struct names *n, uint32_t variable, uint64_t size, GString *name);
bool names_append_local_object(struct names *n, uint32_t object, GString *name);
/* The same with its part, in a module, and the function's name as in the debug information. */
bool names_local_part(struct names *n, uint32_t variable, uint64_t size, GString *name,
                      struct debug_part *part, uint32_t *module);

/* name_late.c */
void names_late(void *context, const struct trace *partial, struct late late, GString *names);
void names_end_late(struct names *n);

/* name_blocks.c */
void names_begin_blocks(struct names *n); /* the pass over the events */
void names_end_blocks(struct names *n);
void names_append_block(struct names *n, uint32_t block, GString *name);
void names_append_block_type(struct names *n, uint32_t block, GString *name);
void names_append_in_block(struct names *n, uint32_t block, uint64_t address, uint64_t size,
                           GString *name);

/* P (struct name_rule) of the names in a block; interned. */
const char *names_block_pointer(struct names *n, uint32_t block);

/* A part of a type, kept as elements and blocks of one type need it again. */
struct known_part {
	uint32_t module, type;
	uint64_t offset, size;
	const char *path; /* interned; NULL: none kept */
	const char *form; /* debuginfo_form's; interned */
	struct debug_count count;
	bool exact;
	/* name_rules.c: in blocks of several elements, of one: the rule of the names and the
	 * pointer of the blocks for which its use is noted; or NULL */
	struct rule_of_part {
		const char *noted;
		uint32_t rule;
	} rules[2];
};
struct place_in_block {
	const char *pointer;   /* P; interned */
	uint64_t each, offset; /* bytes of an element, in a block of several; offset in the
	                        * block */
	uint32_t module, type; /* of an element; NONE: unknown */
	bool behind;           /* behind the structure that the block begins with: its type says
	                        * nothing there */
};
struct place_in_block names_place_in_block(struct names *n, uint32_t block, uint64_t address);
static inline uint64_t names_within(const struct place_in_block *p)
{
	return p->each ? p->offset % p->each : p->offset;
}
/* The part of an element of known type that is at the place. */
struct known_part *names_part(struct names *n, const struct place_in_block *p, uint64_t size);

/* name_rules.c */
void names_variables(void *context, struct builder *b, const struct trace *partial,
                     struct variable *variables);
/* name.c, for namer.c: the pass over the half-made trace; callbacks. */
void names_begin(struct names *n, const struct trace *partial);
void names_object(void *context, const struct object *o, GString *out);
void names_forms(void *context, struct builder *b);
/* Before the address, in hexadecimal digits, of a variable of which no more is known. */
#define NAMES_MEMORY "memory@0x"
/* name.c, for name_rules.c: the static variable at an address of loaded data, and its module,
 * or NULL. */
const struct debug_variable *names_loaded_data(struct names *n, uint64_t address,
                                               uint32_t *module);
/* name.c, for name_rules.c: the name of a variable that is in no block of the heap (false: it
 * is its address, which tells it from all others of such names, and has no form); a name that
 * no other variable has; the value form of the variable that was just named. */
bool names_append_elsewhere(struct names *n, uint32_t variable, GString *name);
void names_make_unique(struct names *n, GString *name);
void names_keep_form(struct names *n, const GString *name);
bool names_is_stack(const struct trace *t, uint32_t block);
/* Data of a library without a symbol: "tm@libc.tm_hour" where the first access took a whole
 * struct that a pointer in reach points to, else "libc.so.6+0x1d8640". `variable`: NONE where
 * none exists. False when the address is in no module. */
bool names_append_library(struct names *n, uint32_t variable, uint64_t address, uint64_t size,
                          GString *name);

#endif
