/*
 * touches.h - a function of the C library in one line: the real function, and the memory of the
 * caller that it has read, and written for each kind of result.  For results.c and texts.c.
 */
#ifndef HEDDLE_TOUCHES_H
#define HEDDLE_TOUCHES_H

#include "ranges.h"

/* `before` and `after`: the memory read, and the memory written when the result is `r`. */
#define TOUCHES(type, name, parameters, call, before, after) \
	INTERPOSED(name); \
	type interposed_##name parameters \
	{ \
		uintptr_t pc = CALLER(); \
		(void)pc; \
		before; \
		range_turn(pc); \
		type r = REAL(name) call; \
		after; \
		return r; \
	}
#define NOTHING (void)0
#define IN(p)   READS_AT(p, sizeof(*(p)), pc)
#define TEXT(s) READS_STRING(s, pc)
#define OUT_IF(condition, p, n) \
	do { \
		if (condition) \
			WRITES_AT(p, n, pc); \
	} while (0)
#define OUT(p)      OUT_IF(r == 0, p, sizeof(*(p)))
#define OUT_TEXT(p) OUT_IF(r != NULL, p, REAL(strlen)(p) + 1)

#endif
