/*
 * shadow.h - `record --no-trace`: plain accesses are compared in the program, where each word
 * of memory has a shadow with the last accesses of each thread, and leave no record.
 *
 * What the log has instead is a pair of accesses (LOG_CONFLICT) that nothing known here orders,
 * with the places of both, once for each pair of places and each SEGMENT: the part of a thread
 * between two events that may order it before other threads (log_afresh). Whether the pair is a
 * race is for the reader, which has all synchronisation. Known here are creations and joins of
 * threads, and locks (shadow_locks.c): a part of the reader's order, so that nothing that races
 * is left out.
 *
 * One thread runs at a time (controlled mode), so that nothing here needs a lock.
 */
#ifndef HEDDLE_RUNTIME_SHADOW_H
#define HEDDLE_RUNTIME_SHADOW_H

#include "engine/record/runtime/core/base.h"

struct thread_shadow {
	/* The last one with an access or an allocation, by number: they ascend over all
	 * threads; 0: none. Is it the present one? */
	uint32_t segment;
	bool told;
	/* By thread its last segment that comes before all that this thread does from now on:
	 * pages of its own. */
	uint32_t *before;
	/* The same without the order that locks alone give: EDC has less of it. */
	uint32_t *certain;
	uint32_t inside;                /* critical sections that it is in, */
	uint32_t sections_since;        /* from a segment on, by number */
	struct shadow_touches *touches; /* in them (shadow_touches.c); NULL: none yet */
};

/* Before all others. False: no room for it in the program's addresses. */
bool shadow_begin(void);
/* A new thread: nothing comes before it. False: no memory. */
bool shadow_thread(struct thread *t);
/* A plain access (`what`: tag | flags << 8): compared, and covered (log/access.h). False: it
 * has to be recorded, as other threads' events order by it: of memory that is accessed by
 * atomics, or of a block whose allocation or end the thread does not know to come before, but
 * by locks. Inside of critical sections the log has its bytes, for EDC, once from one
 * shadow_sections to the next. */
bool shadow_access(struct thread *t, unsigned what, uintptr_t pc, uintptr_t address,
                   size_t size);
/* The thread is about to enter or leave an invocation. */
void shadow_invocation(struct thread *t);
/* An atomic access, after its record. */
void shadow_atomic(struct thread *t, enum log_tag tag, unsigned flags, uintptr_t pc,
                   uintptr_t address, size_t size);
/* Before a record of an event: the log has the accesses that may order it. */
void shadow_before_event(struct thread *t);
/* Before an event that may end a segment: the last one that the thread has been in. For an
 * allocation it is the present one, as others come to know of it by that alone. */
uint32_t shadow_ended(struct thread *t, enum log_tag tag, uint64_t object);
/* The event; `ended`: from shadow_ended. Of an allocation the words are address and size. */
void shadow_event(struct thread *t, enum log_tag tag, uint64_t a, uint64_t b, uint32_t ended);
/* The block's end, before its record: tells of other threads' last uses that are not certain
 * to come before it, and covers none of its
 * bytes any more (log/access.h), for all threads. */
void shadow_freed(struct thread *t, uintptr_t address, size_t size);
/* An object of synchronisation that is another one from now on. */
void shadow_object_begins(uintptr_t address);
/* Memory that is another from now on. */
void shadow_renew(uintptr_t low, uintptr_t high);

#endif
