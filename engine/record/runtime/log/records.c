/*
 * records.c - the log's records but for accesses (access.c) and frames (frames.c): events of
 * synchronisation, invocations, notes, clocks, threads.
 */
#include <string.h>

#include "engine/record/runtime/core/rt.h"

void log_switch(struct thread *t)
{
	struct stream *s = t->stream;
	uint64_t *w = log_room(s, 1);
	s->last = t->id;
	if (s->thread == LOG_ALL_THREADS) {
		w = s->next;
		w[0] = log_word(LOG_SWITCH, 0, t->id);
		s->next = w + 1;
	}
}

/*
 * Events that order others before their thread, and nothing of their thread before others. In
 * free mode and with --filter an access after one needs no record when the thread has made
 * the same access before it: the earlier one has every race of the later one, and holds no
 * more locks. (An allocation is before accesses of its block by others, so it is none of
 * these.) WCP and EDC also order critical sections by the accesses in them: for them each
 * acquisition begins an epoch.
 */
#define BIT(tag) (1ull << LOG_##tag)
#define ACQUIRES \
	(BIT(ACQ) | BIT(RACQ) | BIT(TRYFAIL) | BIT(TAKETRYFAIL) | BIT(WAKE) | BIT(DEPART) | \
	 BIT(TAKE) | BIT(JOIN) | BIT(RCV))

void log_event(struct thread *t, enum log_tag tag, unsigned flags, uintptr_t pc, uint64_t a,
               uint64_t b, unsigned words)
{
	struct stream *s = t->stream;
	if (unlikely(rt.memory))
		memory_event(t, tag, a);
	const uint32_t ended = rt.shadow ? shadow_ended(t, tag, a) : 0;
	log_before(t);
	if (tag != LOG_FENCE) {
		t->poll.spins = 0;
		if (!t->memory.section)
			poll_changed();
		t->memory.section = false;
	}
	bool enters = rt.sections && (tag == LOG_ACQ || tag == LOG_RACQ);
	if (ACQUIRES >> tag & 1 && !rt.filter_wcp && !enters)
		log_ticket(t);
	else if (tag != LOG_FREE || !rt.shadow) /* shadow_freed has done what it does */
		log_epoch(t);
	if (tag == LOG_FREE && !rt.shadow)
		log_life_ends(t);
	if (unlikely(rt.shadow))
		shadow_event(t, tag, a, b, ended);
	log_put(s, log_word(tag, flags, pc), (uint64_t[]){ a, b }, words);
	if (tag != LOG_SEMAPHORE && tag != LOG_GIVEN && tag != LOG_MISUSE)
		count_event(t, tag, pc);
}

uint64_t *log_blob(struct thread *t, enum log_tag tag, uint64_t pc, const uint64_t *words,
                   unsigned count, const void *bytes, uint64_t length)
{
	struct stream *s = t->stream;
	log_turn(t);
	unsigned total = 2 + count + (length + 7) / 8;
	if (total > LOG_CHUNK / 16)
		return NULL;
	uint64_t *w = log_room(s, total);
	for (unsigned i = 0; i < count; i++)
		w[1 + i] = words[i];
	w[1 + count] = length;
	char *to = (char *)(w + 2 + count);
	for (uint64_t i = 0; i < length; i++)
		to[i] = ((const char *)bytes)[i];
	BARRIER();
	w[0] = log_word(tag, 0, pc);
	s->next = w + total;
	return w;
}

/* A call or its return; `text`: type, method and values, each ended by NUL. */
void log_invocation(struct thread *t, enum log_tag tag, unsigned flags, uint64_t pc,
                    const void *self, const char *text, size_t length)
{
	uint64_t object = (uintptr_t)self;
	if (unlikely(rt.shadow))
		shadow_invocation(t);
	log_before(t);
	log_epoch(t);
	uint64_t *w = log_blob(t, tag, pc, &object, 1, text, length);
	if (w)
		w[0] |= flags << 8;
	count_event(t, tag, pc);
}

void log_note(const char *key, const char *value)
{
	char text[1024];
	size_t k = strnlen(key, 200), v = strnlen(value, 800);
	for (size_t i = 0; i < k; i++)
		text[i] = key[i];
	text[k] = 0;
	for (size_t i = 0; i < v; i++)
		text[k + 1 + i] = value[i];
	if (me->stream)
		log_blob(me, LOG_NOTE, 0, NULL, 0, text, k + 1 + v);
}

void log_fact(enum log_tag tag, unsigned flags, uint64_t pc, const uint64_t *words,
              unsigned count)
{
	if (!me->stream)
		return;
	log_turn(me);
	log_put(me->stream, log_word(tag, flags, pc), words, count);
}

void log_clock(struct thread *t, clockid_t clock, const struct timespec *time)
{
	log_turn(t);
	log_put(t->stream, log_word(LOG_CLOCK, clock, 0),
	        (uint64_t[]){ time->tv_sec, time->tv_nsec }, 2);
}

/* No event: nothing of the call stack is written for it. */
void log_init(struct thread *t, const volatile void *object, uintptr_t pc)
{
	if (rt.shadow)
		shadow_object_begins((uintptr_t)object);
	log_turn(t);
	log_ticket(t);
	log_put(t->stream, log_word(LOG_INIT, 0, pc), (uint64_t[]){ (uintptr_t)object }, 1);
}

void log_thread(struct thread *t, const struct thread *of)
{
	if (rt.shadow)
		shadow_renew(of->life.stack_low, of->life.stack_high);
	if (!t->stream->next)
		log_more(t->stream, 6);
	log_put(t->stream, log_word(LOG_THREAD, 0, of->id),
	        (uint64_t[]){ of->life.parent, of->life.stack_low, of->life.stack_high,
	                      (uintptr_t)of->life.argument, of->life.handle },
	        5);
}
