/*
 * sync_uses.h - accesses of the program's own to a part of a synchronisation object
 * (trace/sync_bytes.h), as it reads m.__data.__lock of a mutex, that another thread may use at
 * the same time. What the object's operations write there has no event: a trace does not tell
 * what such an access conflicts with, nor what it reads in another order.
 */
#ifndef HEDDLE_PREDICT_SYNC_USES_H
#define HEDDLE_PREDICT_SYNC_USES_H

#include "engine/order/wide_clocks.h"
#include "engine/trace/sync_bytes.h"

#define SYNC_USE_UNSEEN "what the library writes there is not recorded"

/*
 * The first such access at each place, at most `most`: a GArray of struct sync_use, owned by
 * the caller. NULL: cancelled. `all`: with writes that look like an initialisation or a
 * clean-up: before the first use of the object by another thread, or after the last. A walk
 * over the tables where no variable is a part of an object; else one over the events, and an
 * order (order_new_lasting; under a weaker memory model happens-before) where several threads
 * use one.
 */
struct sync_uses_options {
	bool all;
	guint most;
	/* Do the two concern different objects, which have the bytes one after the other? Asked
	 * of pairs that nothing orders. NULL: they do not. */
	bool (*apart)(void *context, const struct sync_use *use);
	void *context;
};
GArray *sync_uses(struct trace *t, const struct sync_uses_options *options,
                  const struct progress *progress);
/* The first of these but for such writes, which the trace remembers; *any: is there one? False
 * when cancelled. */
bool sync_use_first(struct trace *t, struct sync_use *use, bool *any,
                    const struct progress *progress);
/*
 * The same look beside a pass whose vector clocks hold what every correct reordering keeps in
 * order: begun, shown events in their order, and ended, after which the trace remembers the
 * answer. NULL: nothing can be found in the trace, it is a part of another one, the answer is
 * known, or the look needs more than such a pass. Dropped (NULL is allowed) is one whose trace
 * may be closed.
 */
struct sync_look;
struct sync_look *sync_look_begin(struct trace *t);
/* Is the variable a part? Its accesses are shown, and the operations on objects. */
bool sync_look_has(const struct sync_look *s, uint32_t variable);
/* `clock`: what comes before the event, but by its own observation. */
void sync_look_see(struct sync_look *s, uint32_t event, struct clock_view clock);
void sync_look_end(struct sync_look *s);
void sync_look_drop(struct sync_look *s);
/* "main reads m.__data.__lock at a.c:13, a part of m, which T1 uses at a.c:5": the beginning of
 * a sentence. */
void sync_use_append(const struct trace *t, const struct sync_use *u, GString *out);

#endif
