/*
 * name.h - names for a recording, from the debug information of its modules: variables,
 * heap blocks, locks, source places.
 *
 * Scheme.  Module data: "acct.balance", "gs[1].i[2].x"; where two variables of the program
 * have one name, the later one has its function or file added: "counter@log.c".  A heap
 * block has the name "*P", its parts "P->member", "P[3].x" (of more than one element),
 * "*P" (a scalar), where P is, by the first that applies,
 *     the global or static pointer that received the block's address,
 *     the one parameter or local of the first accessing function that has such a pointer,
 *     the type's name without "struct";
 * from the second block of that P on with its number: "job#2->arg".  A block of unknown
 * type is "block@FILE:LINE" after the place that allocated it, its parts "...+OFFSET".
 * Stacks: "function::local.member" where every access of the bytes agrees on it, else
 * "local@function+OFFSET" down from the highest variable there (name_frames.c).  What a block's
 * type is: see name_blocks.c.
 *
 * Locations are "FILE:LINE" with FILE's last component (its path as compiled where two
 * files share it); .file is the absolute path.  Without lines: "function+0x1f", without
 * symbols: "libfoo.so+0x123".
 */
#ifndef HEDDLE_NAME_H
#define HEDDLE_NAME_H

#include "engine/trace/builder/builder.h"

struct debuginfo;
struct debug_store;
struct names;

/* `folder`: where tables too large for memory may lie (NULL: nowhere). Modules are opened at
 * the first query; `store` keeps them (NULL: they are closed again). Owned by the caller:
 * names_free, after builder_finish. */
struct names *names_new(const char *folder, struct debug_store *store);
void names_free(struct names *names);
/* The trace has only a few of a run's accesses: types of heap blocks are guessed from them
 * only if they have the block's size. */
void names_of_few(struct names *names);

/* A thread's stack: its block, and where that lies. */
void names_stack(struct names *names, uint32_t thread, uint32_t block, uint64_t address,
                 uint64_t size);
/* The thread's pointer, below which its thread-local variables lie, and its number in the
 * runtime. */
void names_thread(struct names *names, uint32_t thread, uint32_t number, uint64_t pointer);
/* A thread has entered a function, whose frame begins at its CFA, or FRAME_OF_NOBODY when no
 * variable lies in the frame. It has left its last one. */
#define FRAME_OF_NOBODY 1
void names_enter(struct names *names, uint32_t thread, struct call_frame frame);
void names_leave(struct names *names, uint32_t thread);
/* Modules in the order of builder_module; the first is the program itself. */
struct name_of_module {
	const char *path, *build_id; /* build_id: NULL or "": unknown */
	uint64_t base, low, high;    /* load bias; bounds of its addresses, or 0 */
	/* Its thread-local variables: how far below each thread's pointer they begin, and
	 * their bytes; 0: none, or they are not at a fixed distance. */
	uint64_t locals_below, locals_bytes;
	bool c_library; /* only symbols of its data are looked up */
};
void names_module(struct names *names, const struct name_of_module *module);
/* The callbacks for builder_namer; borrowed by the builder. */
const struct namer *names_namer(struct names *names);
/* The function whose code is at an address (less the module's base): the one compiled there,
 * not one inlined into it. False when unknown. */
bool names_function(struct names *names, uint32_t module, uint64_t address, GString *name);
/* Debug information of a module, or NULL; opened on the first call. */
struct debuginfo *names_debuginfo(struct names *names, uint32_t module);
/* Debug information that could not be read, and why: char *, owned by `names`. */
const GPtrArray *names_warnings(const struct names *names);

#endif
