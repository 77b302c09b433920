/*
 * travel_private.h - the parts of travel.h: travel_run.c lets the program run forward to an
 * event, travel_walk.c goes instruction by instruction between two events, travel_trail.c keeps
 * what the last instructions saw. travel.c has the ways of the client, by these.
 *
 * A tick is an advance of the runtime's clock, a region the instructions of the one thread that
 * runs between two ticks.
 */
#ifndef HEDDLE_TRAVEL_PRIVATE_H
#define HEDDLE_TRAVEL_PRIVATE_H

#include "engine/debug/travel.h"

/* -- travel_run.c --------------------------------------------------------------------------- */

enum run {
	RUN_STOP,  /* at a breakpoint, a watchpoint, after a step, by a signal */
	RUN_CLOCK, /* debug->stop_at was reached */
	RUN_PAIR,
	RUN_END, /* the program is about to end, or has ended */
	RUN_INTERRUPTED,
	RUN_LOST,
};
/* Resumes by a vCont packet; signals other than those of traps are passed on to the program. */
enum run travel_run(struct travel *t, const char *packet, struct stop *stop);
/* Runs to `address`, in gdbserver's thread `tid`, with the stack no lower than `sp`. */
enum run travel_run_to(struct travel *t, uint64_t address, int tid, uint64_t sp);
/* The result of a way on which a run ended as it should not. */
enum travel_result travel_result_of(enum run r);

/* Starts the program and runs it to its main. */
bool travel_start_again(struct travel *t, struct error *error);
/* The same as a way: the error is kept in `lost`. */
enum travel_result travel_restart(struct travel *t);
/* From anywhere to the tick with that clock, or to the start. */
enum travel_result travel_to_clock(struct travel *t, uint64_t clock);

enum { REGISTER_SP = 7, REGISTER_PC = 16 };
/* Registers of gdbserver's thread, as in struct moment. False: it does not answer. */
bool travel_registers_of(struct travel *t, int tid, char key[KEY_REGISTERS + 1]);
uint64_t travel_register(const char *key, unsigned number);
/* The present moment. False: gdbserver does not answer. */
bool travel_now(struct travel *t, struct moment *p);
/* The same at a stop. gdbserver may not know the thread whose turn it is, when that has just
 * been created: the moment is then that of the thread that stopped. */
bool travel_now_at_stop(struct travel *t, const struct stop *stop, struct moment *p);
/* Do the registers show the same moment? A call may leave anything in registers that it need
 * not preserve, such as a thread's id, which differs in each run: such registers count if they
 * agree in some pass of the instruction, and are left out otherwise (ALIKE). */
enum same { OTHER, ALIKE, SAME };
enum same travel_compare(const struct moment *p, const char *registers);

/* -- travel_trail.c ------------------------------------------------------------------------- */

/* Numbers of instructions, of bytes of a stack, and of those below the stack pointer. */
enum { TRAIL = 96, STACK_KEPT = 4096, BELOW = 128 };

struct footprint {
	struct moment at;
	char *registers; /* all registers, in gdbserver's format */
	uint64_t low;    /* of the stack */
	size_t size;
	char stack[STACK_KEPT];
};
void travel_footprint_free(void *footprint);
/* Appends the present instruction, with its number in its region. False: gdbserver does not
 * answer. */
bool travel_keep_footprint(struct travel *t, int64_t index);
/* The footprint of an instruction, or NULL. */
const struct footprint *travel_footprint(const struct travel *t, uint64_t clock, int64_t index);

/* -- travel_walk.c -------------------------------------------------------------------------- */

/* An instruction in a region, by the thread that the region belongs to. */
struct instruction {
	union {
		uint64_t clock;
		gint64 key;
	};
	uint32_t thread;
	int64_t index;
};
/* To the place, which becomes the present one. */
enum travel_result travel_to(struct travel *t, const struct moment *p);
enum travel_result travel_to_index(struct travel *t, const struct instruction *i);
/* The last instruction of `thread` before `from`. */
enum travel_result travel_before(struct travel *t, const struct moment *from, uint32_t thread,
                                 struct instruction *last);
/* The last instruction of `thread` in the regions before that of the clock. */
enum travel_result travel_before_region(struct travel *t, uint64_t clock, uint32_t thread,
                                        struct instruction *last);
/* To the last instruction of the thread before the present place, or to the start. */
enum travel_result travel_step(struct travel *t, uint32_t thread);
/* After a failed way: back to where it began. Returns `why`, or TRAVEL_LOST when that failed,
 * too. */
enum travel_result travel_give_up(struct travel *t, enum travel_result why,
                                  const struct moment *from);

#endif
