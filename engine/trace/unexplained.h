/*
 * unexplained.h - reads whose value no recorded write explains: they see something else than
 * the last recorded access of their bytes left there. Code that is not recorded has written to
 * memory (inline assembly, a library without instrumentation, the kernel, another process), and
 * in another order it may do so earlier or later.
 */
#ifndef HEDDLE_UNEXPLAINED_H
#define HEDDLE_UNEXPLAINED_H

#include "engine/trace/trace.h"

#define UNEXPLAINED_WRITER \
	"code that is not recorded (with gcc a structure that a function returns, or " \
	"__builtin_memset; inline assembly, a library without instrumentation, the " \
	"kernel, another process)"

struct unexplained_read {
	uint32_t event;    /* the read, or update */
	uint32_t before;   /* the last recorded access of these bytes before it */
	uint32_t variable; /* the first of its variables that has another value */
};
/*
 * Such reads, ascending, at most `most`: a GArray of struct unexplained_read, owned by the
 * caller. Left out are those where no other thread may have written: while there was one thread
 * alone, on the thread's own stack, in its thread-local memory; and reads of memory whose life
 * has ended (of a stack, where a function returned that may have had it), of what
 * is a part of a lock or its kin (sync_bytes.h), and of what the C++ library writes for itself:
 * the number that std::thread has of its thread, and static data without a symbol.
 *
 * Empty where the trace does not have all values in their order: a filtered trace, one of
 * free mode, one under a memory model beyond sequential consistency. Linear; 12 bytes a
 * variable.
 */
GArray *unexplained_reads(const struct trace *t, guint most);
/* The first of them, valid as long as the trace, which remembers it; NULL: there is none. For
 * one thread at a time. */
const struct unexplained_read *unexplained_first(const struct trace *t);
/*
 * The same search beside another pass over the events, which then need not be decoded once
 * more: begun, shown the events in ascending runs, and ended, which frees it. When it has seen
 * all events the trace remembers the answer. NULL, which the other functions take: nothing can
 * be found in the trace, it is a part of another one, or there was a search beside a pass
 * before. Dropped is one whose trace may be closed.
 */
struct unexplained_search;
/* Runs of at most so many events are still in the cache for the second look. */
enum { UNEXPLAINED_RUN = 1 << 14 };
struct unexplained_search *unexplained_begin(const struct trace *t);
void unexplained_see(struct unexplained_search *s, uint32_t from, uint32_t to);
void unexplained_end(struct unexplained_search *s);
void unexplained_drop(struct unexplained_search *s);
/* Is it a variable that such code writes for the thread that reads it alone? `user`: the thread
 * that has used it so far, or NONE for several. */
bool unexplained_is_known(const struct trace *t, uint32_t variable, uint32_t user);
/* Appends what the read sees and where, as "main reads x = 5 at a.c:7, after x = 3 at a.c:4".
 */
void unexplained_append(const struct trace *t, const struct unexplained_read *r, GString *out);

#endif
