/*
 * dead.h - dead registers and dead bytes of the stack frame after a call: on every path the
 * code overwrites them before it reads them (x86-64, by capstone and the ABI). Whatever is not
 * certain counts as live.
 */
#ifndef HEDDLE_DEBUGINFO_DEAD_H
#define HEDDLE_DEBUGINFO_DEAD_H

#include <glib.h>
#include <stdint.h>

/* The registers that a call preserves, as bits. */
enum dead_register { DEAD_RBX, DEAD_RBP, DEAD_R12, DEAD_R13, DEAD_R14, DEAD_R15, DEAD_COUNT };

enum { DEAD_RANGES = 6 };
/* Dead registers and bytes at a call that returns to `address` (the file's). */
struct dead_site {
	uint64_t address;
	uint8_t registers; /* dead when the call is made: bits of enum dead_register */
	uint8_t count;
	struct {
		uint16_t from, bytes; /* distance from the stack pointer, as it is after the
		                       * call */
	} range[DEAD_RANGES];
};

/* The calls of ThreadSanitizer's atomic operations, and of functions that take or try a lock or
 * semaphore, in the file, at which registers or stack bytes are dead, by address: struct
 * dead_site, owned by the caller; empty when the file cannot be read. */
GArray *debuginfo_dead(const char *path);

#endif
