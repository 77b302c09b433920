/*
 * dead_private.h - the parts of dead.h: dead_extents.c finds where functions begin and end,
 * dead_calls.c which functions they call, dead_walk.c walks over the instructions of one, and
 * dead.c computes from them which registers and bytes are live.
 */
#ifndef HEDDLE_DEBUGINFO_DEAD_PRIVATE_H
#define HEDDLE_DEBUGINFO_DEAD_PRIVATE_H

#include "debuginfo/dead.h"
#include "debuginfo/machine.h"
#include "engine/base/base.h"

enum {
	WINDOW = 512,             /* bytes of a frame, from its return address down */
	MOST_INSTRUCTIONS = 3000, /* of a function */
	ALL_REGISTERS = (1 << DEAD_COUNT) - 1,
};

/* Registers of 64 bits. */
enum {
	RAX,
	RCX,
	RDX,
	RBX,
	RSP,
	RBP,
	RSI,
	RDI,
	R8,
	R9,
	R10,
	R11,
	R12,
	R13,
	R14,
	R15,
	REGISTERS
};

/* A function's extent, by .eh_frame. */
struct extent {
	uint64_t low, high;
	bool excepted; /* it has landing pads for exceptions */
};

struct code {
	struct machine m;
	GHashTable *slots;   /* address of a word of the linkage -> its symbol's name */
	GHashTable *linkage; /* address of code -> name of the function it leads to, or "" */
	GArray *extents;     /* struct extent, by address */
};

/* State of a register: no address of the frame; one of several, or perhaps none; else its
 * distance from the return address. */
enum { NO_ADDRESS = INT32_MIN, UNVISITED, SOME_ADDRESS };

struct bytes { /* a range of the frame from `at` on; negative distances from the return
	        * address */
	int32_t at, count;
};

struct node {
	uint64_t address;
	cs_insn *i;
	uint32_t next, target; /* nodes; NONE: none */
	int32_t before[REGISTERS];
	uint8_t saved;      /* the caller's registers that were written to the frame before */
	const char *callee; /* the called function of another module, or NULL */
	/* The instruction's effects on registers and frame. */
	bool anything; /* it leads to unknown code: everything is live before it */
	bool frame;    /* may read all of the frame */
	bool looks;    /* a call before which a thread's state is taken */
	uint8_t reads, overwrites, saves;
	struct bytes read[2], written; /* written: overwritten */
	/* Registers and bytes of the frame that are live before the instruction. */
	uint8_t live;
	uint64_t live_frame[WINDOW / 64];
};

struct function {
	struct code *code;
	const struct extent *extent;
	struct node *nodes;
	uint32_t count, room;
	GHashTable *by_address; /* address -> node + 1 */
	GArray *open;           /* uint32_t: nodes still to be followed */
	bool unknown;           /* it cannot be followed */
	bool escapes;           /* an address of the frame has left the function's registers */
};

/* -- dead_calls.c --------------------------------------------------------------------------- */

/* Reads the linkage to other modules and the hooks that are linked in. */
void dead_read_linkage(struct code *c);
/* The function of another module that linkage code at the address leads to; "": not linkage
 * code. Borrowed, as are the next. */
const char *dead_linkage_at(struct code *c, uint64_t address);
/* The function of another module, or hook, that a call or jump leads to, or NULL. */
const char *dead_callee(struct code *c, const cs_insn *i);
/* The function that the call before this return address leads to, where its name is known. */
const char *dead_called_before(struct code *c, uint64_t address);
/* Kinds of functions by name, which may be NULL: a hook of an atomic operation; */
bool dead_is_atomic_hook(const char *callee);
/* an acquire or a try of a lock or semaphore: it reads nothing else of the frame, and throws
 * nothing; */
bool dead_is_lock(const char *callee);
/* a release of one, of which the same holds; */
bool dead_is_release(const char *callee);
/* a function of the runtime that reads nothing of the frame for the program; */
bool dead_is_silent_hook(const char *callee);
/* one that ends the program; */
bool dead_ends_program(const char *callee);
/* one that continues in the callers, with the registers that they had; */
bool dead_unwinds(const char *callee);
/* one that can return a second time, with the registers of the first return. */
bool dead_returns_twice(const char *callee);

/* -- dead_extents.c ------------------------------------------------------------------------- */

/* False: the section (.eh_frame) has an entry of unknown form, so that no extent is certain. */
bool dead_read_extents(struct code *c, const GElf_Shdr *header, const Elf_Data *data);
/* The extent of the function that contains the address, or NULL. */
const struct extent *dead_extent_at(const struct code *c, uint64_t address);

/* -- dead_walk.c ---------------------------------------------------------------------------- */

/* Is the state of a register a known distance from the return address? */
bool dead_is_known(int32_t value);
/* Makes the nodes of the function, from its entry on. */
void dead_walk(struct function *f, uint64_t entry);

#endif
