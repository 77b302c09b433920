/*
 * weak.h - a trace of a run under a memory model beyond sequential consistency.
 *
 * `sc`: a read sees the last write before it in the trace. `rc11`: but where the table `weak`
 * says otherwise of an atomic read; and an atomic store is the last of its place in
 * modification order but where the table puts it behind another. `tso`: a store that waits in
 * its thread's buffer is in memory from its event FLUSH on; until then its own thread alone
 * sees it. A store without one never arrived: it does so at once only if it is a seq_cst store
 * or an update. (Owens, Sarkar, Sewell 2009; Lahav and others 2017.)
 */
#ifndef HEDDLE_WEAK_H
#define HEDDLE_WEAK_H

#include "engine/trace/trace.h"

enum weak_model { WEAK_SC, WEAK_TSO, WEAK_RC11 };
/* "sc", "tso", "rc11"; ends with NULL. */
extern const char *const weak_model_words[];

/* The note of a trace that names its model. */
#define WEAK_MODEL_NOTE "memory"
/* Notes about behaviours of the model that the run could not show. */
#define WEAK_LIMIT_NOTE "memory-limit"
enum weak_model trace_model(const struct trace *t);

/* The store that the table names for the event, or `otherwise` when it has no row. */
uint32_t trace_weak_store(const struct trace *t, uint32_t event, enum weak_kind kind,
                          uint32_t otherwise);

/* Do all events FLUSH and rows of the table name fitting events? False and `error` otherwise:
 * the trace is damaged. */
bool trace_weak_fits(const struct trace *t, struct error *error);

/* The write that each read sees, one for each of its variables in their order (NONE: the
 * initial value), read by read: index.h's trace_writers is made by it. */
typedef void weak_visit(void *context, uint32_t read, uint32_t variable, uint32_t writer);
void trace_weak_walk(const struct trace *t, weak_visit *visit, void *context);

/* The first event that shows that the trace is no sequentially consistent run in its own
 * order: a read that does not see the last write, or a store that came into modification
 * order before an earlier one of another thread. NONE: the trace is sequentially consistent
 * in its own order. */
uint32_t trace_weak_first(const struct trace *t);

/* May the analysis `analysis` ("the analysis 'm2'") take the trace for sequentially
 * consistent? If not, false and `error`, which names the first event that shows why. */
bool trace_weak_allows(const struct trace *t, const char *analysis, struct error *error);

#endif
