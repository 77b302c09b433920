/*
 * emit.h - the inline half of log.h: room in a stream, the head of a record, calling contexts,
 * and the steps before an event.  Included by core/rt.h, as it needs struct thread.
 */
#ifndef HEDDLE_RUNTIME_EMIT_H
#define HEDDLE_RUNTIME_EMIT_H

#include "engine/record/codec.h"
#include "engine/record/runtime/core/rt.h"

ALWAYS_INLINE uint64_t *log_room(struct stream *s, unsigned words)
{
	if (unlikely(s->next + words > s->end))
		log_more(s, words);
	return s->next;
}

/* Free mode: the calling context of a call from a context with the hash `parent`. */
ALWAYS_INLINE uint64_t context_of(uint64_t parent, uintptr_t call, uintptr_t function)
{
	uint64_t h =
	        ((parent << 7 | parent >> 57) ^ call ^ (uint64_t)function << 17) * HASH_FACTOR;
	return h ^ h >> 32;
}

/* Value of the thread's `context` in a frame with that hash. */
ALWAYS_INLINE uint64_t context_now(const struct thread *t, uint64_t frame)
{
	return frame ^ t->epoch * 0xd6e8feb86659fd93u;
}

/* Renews the context after a call or return, or the end of an epoch; frames[-1] belongs to no
 * call. */
ALWAYS_INLINE void context_renew(struct thread *t)
{
	uint32_t depth = t->depth < MAX_FRAMES ? t->depth : MAX_FRAMES;
	t->context = context_now(t, t->frames[(int32_t)depth - 1].context);
}

/* Writes a record: its first word, which is stored last, and `count` more. */
ALWAYS_INLINE void log_put(struct stream *s, uint64_t first, const uint64_t *words,
                           unsigned count)
{
	uint64_t *w = log_room(s, 1 + count);
	for (unsigned i = 0; i < count; i++)
		w[1 + i] = words[i];
	BARRIER();
	w[0] = first;
	s->next = w + 1 + count;
}

/* Fills in the value of the thread's last write, which the next record may overwrite. */
ALWAYS_INLINE void log_value(struct thread *t)
{
	if (t->todo & (TODO_VALUE | TODO_COPY))
		log_fill(t);
}

/* Must precede any record of `t`: fills in its last write's value, and switches the stream to
 * `t`. */
ALWAYS_INLINE void log_turn(struct thread *t)
{
	log_value(t);
	if (unlikely(t->stream->last != t->id))
		log_switch(t);
}

/* Everything that must be written before an event of `t`. */
ALWAYS_INLINE void log_before(struct thread *t)
{
	log_turn(t);
	if (!(t->todo & TODO_FRAMES))
		return;
	if (unlikely(t->unwritten) && rt.sample)
		log_no_frames(t);
	else
		log_frames(t);
}

/* A scheduling point, before an event of the object that may interact with other threads. */
ALWAYS_INLINE void sched_point_at(struct thread *t, const volatile void *object)
{
	log_value(t);
	if (!rt.controlled)
		return;
	if (unlikely(rt.memory))
		memory_point(t);
	sched_about(&t->sched, object, 1, true);
	t->sched.synchronises = true;
	sched_point_slow(t);
}
ALWAYS_INLINE void sched_point(struct thread *t)
{
	sched_point_at(t, NULL);
}
/* A scheduling point behind an event: on replay the thread is not before its next event yet. */
ALWAYS_INLINE void sched_point_after(struct thread *t)
{
	if (unlikely(rt.replay))
		replay_call(t);
	if (likely(!rt.replay))
		sched_point(t);
}
/* Before an event that is no scheduling point. */
ALWAYS_INLINE void plan_point(struct thread *t)
{
	if (unlikely(rt.replay)) {
		log_value(t);
		replay_point(t);
	}
}

/* Free mode: the next record's place in the order of synchronisation. */
static inline void log_ticket(struct thread *t)
{
	if (unlikely(rt.sample))
		sample_renew(t);
	if (rt.controlled)
		return;
	uint64_t *w = log_room(t->stream, 1);
	w[0] = log_word(LOG_TICKET, 0, __atomic_add_fetch(&rt.ticket, 1, __ATOMIC_SEQ_CST));
	t->stream->next = w + 1;
}

/* access.h */
void covered_renew(struct thread *t);

/* Begin a new epoch of the thread: accesses after it are recorded even where equal ones were
 * recorded before it. */
static inline void log_afresh(struct thread *t)
{
	if (!t->epoch)
		return;
	t->epoch++;
	if (t->covered_epoch)
		covered_renew(t);
	context_renew(t);
}

/* A block has ended: what any thread accesses at its address from now on may be another one.
 * In free mode the others do not know. */
static inline void log_life_ends(struct thread *t)
{
	rt.lives += rt.controlled;
	log_afresh(t);
}

static inline void log_epoch(struct thread *t)
{
	log_ticket(t);
	log_afresh(t);
}

/* An atomic has been written. A plain write of the same memory by another thread ends what
 * later reads of it synchronise with, also where that thread has made the same write before:
 * so the others begin afresh when they run again. In free mode they do not know. */
static inline void log_atomic_write(struct thread *t)
{
	log_epoch(t);
	rt.lives += rt.controlled;
}

ALWAYS_INLINE void count_event(struct thread *t, enum log_tag tag, uintptr_t pc)
{
	t->ordinal++;
	if (unlikely(rt.replay))
		replay_event(t, tag, pc);
	if (unlikely(rt.clocked))
		clock_tick(t, pc);
}

static inline void log_object(struct thread *t, enum log_tag tag, unsigned flags, uintptr_t pc,
                              const void *object)
{
	if (unlikely(tag == LOG_TRYFAIL || flags & LOG_TRY))
		lock_tried(t, object);
	log_event(t, tag, flags, pc, (uintptr_t)object, 0, 1);
}
static inline void log_sync(struct thread *t, enum log_tag tag, uintptr_t pc,
                            const void *object)
{
	log_object(t, tag, 0, pc, object);
}
/* log_event for an operation that may also end without success: a try, or with a time limit. */
static inline void log_try(struct thread *t, enum log_tag tag, uintptr_t pc, const void *object)
{
	log_object(t, tag, LOG_TRY, pc, object);
}

/* The flags of a lock or a take: a try, one with a limit in time, or neither. */
static inline unsigned log_way(bool tries, bool timed)
{
	return (tries || timed ? LOG_TRY : 0) | (timed ? LOG_TIMED : 0);
}

/* Reports a misuse before the call, or of a call that was refused; no event of the thread, so
 * that a replay's plan does not count it. */
static inline void misused(struct thread *t, enum log_misuse how, uintptr_t pc,
                           const void *object)
{
	if (rt.header)
		__atomic_fetch_or(&rt.header->misuses, 1u << how, __ATOMIC_RELAXED);
	log_event(t, LOG_MISUSE, how, pc, (uintptr_t)object, 0, 1);
}

#endif
