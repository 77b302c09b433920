/*
 * periods.h - schedules of few periods (Wen and others, ICSE 2022: periodical scheduling): a
 * period is a segment of one thread, from one of its key points to another. First come those
 * in which each thread has one period, in every order; then those in which the threads have
 * one period more between them, two more, ...
 *
 * A key point is an event whose order with one of another thread may make a difference: an
 * access of memory that several threads access and one writes to, unless a lock is held at all
 * these accesses (then the order is that of the lock's sections); taking a lock that several
 * threads take; an operation of a condition or semaphore.  While a thread is the only one, it
 * has none.
 */
#ifndef HEDDLE_PERIODS_H
#define HEDDLE_PERIODS_H

#include "engine/trace/trace.h"

struct periods;
struct periods *periods_new(void);
void periods_free(struct periods *p); /* NULL is allowed */

/* Learns the key points of a run (indexed: INDEX_VARIABLES, INDEX_OBJECTS), where they are
 * more than those of earlier runs; `number`: of each event in its thread
 * (plan_event_numbers); `held`: a bit for each lock (of several) held at the event. */
void periods_learn(struct periods *p, const struct trace *t, const uint32_t *number,
                   const uint64_t *held);
bool periods_known(const struct periods *p);
/* A draw that was not made before, if any is left: struct log_turn, owned by the caller. */
GArray *periods_draw(struct periods *p, uint64_t *random);

#endif
