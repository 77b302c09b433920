/*
 * ranges.h - the memory that a function of the C library reads and writes, recorded as accesses
 * of the caller.  For the functions that the runtime stands before: strings.c, search.c,
 * wide.c, formats.c, streams.c, results.c, texts.c.
 *
 * Reads are recorded before the real function runs; writes too where their extent is known by
 * then, else right after it, in the same turn (range_turn).
 */
#ifndef HEDDLE_RANGES_H
#define HEDDLE_RANGES_H

#include <stdarg.h>

#include "engine/record/runtime/core/rt.h"

/* An access by the call before `pc`; none when the call is the C library's or the runtime's
 * own. Keeps errno. */
void range_touched(enum log_tag tag, const void *p, size_t n, uintptr_t pc);
/* Before the first look at memory whose access is recorded after it (the length of a string,
 * what a real function writes): on replay the thread waits for the turn of that access. */
void range_turn_slow(uintptr_t pc);
static inline void range_turn(uintptr_t pc)
{
	if (unlikely(rt.replay))
		range_turn_slow(pc);
}
/* Memory that no thread can write, as string literals are: reading it is no event. */
bool range_constant(const void *p);
/* Records a block that such a function returns as the caller's; NULL: no memory. */
void *range_block(size_t n, uintptr_t pc);
struct dl_phdr_info;
void range_module(const struct dl_phdr_info *info); /* one with such memory */
void range_unloaded(void);                          /* some are no more */

#define READS(p, n)         range_touched(LOG_READ, p, n, CALLER())
#define WRITES(p, n)        range_touched(LOG_WRITE, p, n, CALLER())
#define READS_AT(p, n, pc)  range_touched(LOG_READ, p, n, pc)
#define WRITES_AT(p, n, pc) range_touched(LOG_WRITE, p, n, pc)
#define READS_STRING(s, pc) \
	(range_turn(pc), range_touched(LOG_READ, s, REAL(strlen)(s) + 1, pc))

/* ---- formats.c ---- */
/* The bytes that printf reads, with its arguments; the bytes that its %n wrote, after it. */
void format_reads(const char *format, va_list arguments, uintptr_t pc);
void format_counts(const char *format, va_list arguments, uintptr_t pc);
/* The bytes that scanf wrote, when it returned `converted`. */
void format_writes(const char *format, va_list arguments, int converted, uintptr_t pc);

#endif
