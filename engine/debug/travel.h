/*
 * travel.h - places in a replayed run, and the ways to them: backward is forward again from
 * the beginning, since a replay is the same each time.
 *
 * A place is named by the runtime's clock (struct log_debug in layout.h: it ticks with each
 * event, and between two ticks one thread alone runs the program's own code) and by the number
 * of that thread's instructions since it came back to the program after the tick.  A call into
 * code that is not the program's own (the C library, the recording runtime) counts as one
 * instruction: it is never gone into backwards.
 */
#ifndef HEDDLE_TRAVEL_H
#define HEDDLE_TRAVEL_H

#include "engine/debug/code_map.h"
#include "engine/debug/inferior.h"

/* In hex: rax, rbx, rcx, rdx, rsi, rdi, rbp, rsp, r8 to r15, rip. */
enum { KEY_REGISTERS = 17 * 16 };

struct moment {
	uint64_t clock;
	uint32_t thread; /* the runtime's number */
	uint64_t pc, sp;
	int64_t index; /* of the instruction; -1: not known yet */
	bool end;      /* at the end of the process */
	char registers[KEY_REGISTERS + 1];
};

struct travel {
	struct inferior f;
	GHashTable *breakpoints; /* the client's: "Z0,ADDRESS,KIND" to the whole packet */
	struct moment start, present;
	bool moved;    /* a failed way ended after the event before the one where it began */
	bool at_pair;  /* the present place is the one before the pair */
	int end_tid;   /* gdbserver's thread that ends the program, where the present is the end
	                */
	uint64_t runs; /* number of times that the program was started */
	struct code_map code;
	GHashTable *ends; /* by clock: the last instruction of its region, if known */
	GPtrArray *trail; /* struct footprint: the last instructions on the way to a place */
	/* The present place is in the trail, and the program is behind it: see
	 * travel_settle. */
	bool ahead;
	struct error
	        lost; /* why the program could not be started again; lost.what "": it could */
};

enum travel_result {
	TRAVEL_THERE,
	TRAVEL_BEGIN,       /* the beginning of the run came first */
	TRAVEL_END,         /* its end did */
	TRAVEL_PAIR,        /* it stands before the pair */
	TRAVEL_INTERRUPTED, /* by the client's ^C, or it took too long: the place is as before
	                     */
	TRAVEL_LOST,        /* gdbserver, the program or the client is gone */
	TRAVEL_ELSEWHERE,   /* the run was not the same again */
};

/* `f` is filled in by the caller (plan to outputs.to).  Starts the program and runs to its
 * main. */
bool travel_open(struct travel *t, struct error *error);
void travel_close(struct travel *t);

/*
 * A step backward may be virtual: registers and the top of the stack were kept for the last
 * instructions on the way to the present place, which is all that a debugger asks for while
 * it goes back by a line. For anything else the program has to go there.
 */
enum travel_result travel_settle(struct travel *t);
/* The registers of a thread in gdbserver's format, when they are kept; or NULL. */
const char *travel_registers(const struct travel *t, uint32_t thread);
/* Memory, when it is kept, or is the same at all places; else false. */
bool travel_recall(struct travel *t, uint64_t address, void *bytes, size_t size);

/* Let the program run by a vCont packet (of gdbserver's thread ids) from the present place. */
enum travel_result travel_forward(struct travel *t, const char *packet, struct stop *stop);

/* One instruction back, of `thread` (or UINT32_MAX: of the present one), unless a breakpoint
 * stops another thread meanwhile; `stop` then has the breakpoint, or the watchpoint whose
 * memory has changed. */
enum travel_result travel_step_back(struct travel *t, uint32_t thread, struct stop *stop);

/* Back to the last place where one of the client's breakpoints and watchpoints stops it;
 * `stop` says by which. */
enum travel_result travel_back(struct travel *t, struct stop *stop);

/* To the place before the pair; the run goes on from there with `first` first. */
enum travel_result travel_turn_pair(struct travel *t, unsigned first);

/* gdbserver's id of the thread with that number; 0: it does not exist. */
int travel_tid(const struct travel *t, uint32_t thread);
/* The runtime's number of gdbserver's thread, or UINT32_MAX. */
uint32_t travel_number(const struct travel *t, int tid);

#endif
