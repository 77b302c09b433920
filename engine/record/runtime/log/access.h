/*
 * access.h - writes the record of one access: the hot path of the whole recorder.
 *
 * Nearly always an access comes from an instruction that has been seen in this chunk, to an
 * address and with a value near the last ones; then its record is one word (layout.h).
 * Everything else is a call away.  Inlined into the hooks, where tag, flags and size code are
 * constants.  Knows nothing of scheduling.
 */
#ifndef HEDDLE_ACCESS_H
#define HEDDLE_ACCESS_H

#include "engine/record/runtime/core/rt.h"

/* Words of the program's memory: of any type there, at any address, as in packed structures. */
typedef uint16_t any_word16 __attribute__((aligned(1), may_alias));
typedef uint32_t any_word32 __attribute__((aligned(1), may_alias));
typedef uint64_t any_word64 __attribute__((aligned(1), may_alias));

/* What lies in memory; size code 0..3. */
ALWAYS_INLINE uint64_t peek(uintptr_t address, unsigned code)
{
	switch (code) {
	case 0:
		return *(const volatile uint8_t *)address;
	case 1:
		return *(const volatile any_word16 *)address;
	case 2:
		return *(const volatile any_word32 *)address;
	default:
		return *(const volatile any_word64 *)address;
	}
}

/* Without values: the record of a site that differs only in the address, by a little. */
ALWAYS_INLINE void log_half(struct stream *s, unsigned slot, uint64_t offset)
{
	uint64_t *w = s->next;
	uint64_t half = log_half_word(slot, offset);
	if (s->half == w) {
		w[-1] ^= log_pair_second(half);
		s->half = NULL;
	} else {
		w[0] = log_pair(half);
		s->next = s->half = w + 1;
	}
}

/* The value of the last write, as log_fill; false when that has to do it. */
ALWAYS_INLINE bool log_fill_here(struct thread *t, struct stream *s)
{
	uint64_t *w = t->pending;
	unsigned slot = t->pending_slot;
	if (unlikely(w != s->next || !(w[-1] & LOG_SHORT)))
		return false;
	uint64_t value = peek(s->sites->at[slot].address, t->pending_code);
	uint64_t delta = value - s->sites->value[slot];
	s->sites->value[slot] = value;
	t->pending = NULL;
	if (unlikely(!log_fits(delta, LOG_DELTA_BITS))) {
		w[-1] ^= log_short_known(LOG_DELTA_FOLLOWS);
		BARRIER(); /* the other way round the value might stand there as a record */
		w[0] = value;
		s->next = w + 1;
		return true;
	}
	w[-1] ^= log_short_known(delta);
	return true;
}

/*
 * A plain access whose record is one word, or two, of a thread with nothing else to see to.
 * False: nothing is written, and log_access has to do it.
 */
ALWAYS_INLINE bool log_access_here(struct thread *t, enum log_tag tag, unsigned flags,
                                   uintptr_t pc, uintptr_t address, unsigned code)
{
	struct stream *s = t->stream;
	if (t->pending && unlikely(!log_fill_here(t, s)))
		return false;
	uint64_t *w = s->next;
	uint64_t key = log_site_key(log_word(tag, flags, pc), code);
	unsigned slot = log_site_slot(key);
	struct log_sites *sites = s->sites;
	uint64_t offset = (address & LOG_ADDRESS_MASK) - sites->at[slot].address;
	if (unlikely(w + 4 > s->end || sites->at[slot].key != key ||
	             !log_fits(offset, LOG_OFFSET_BITS)))
		return false;
	uint64_t delta = LOG_DELTA_UNKNOWN;
	sites->at[slot].address += offset;
	if (tag == LOG_READ && code < 4) {
		uint64_t value = peek(address, code);
		delta = value - sites->value[slot];
		sites->value[slot] = value;
		if (unlikely(!log_fits(delta, LOG_DELTA_BITS))) {
			w[1] = value;
			BARRIER();
			*w = log_short(slot, LOG_DELTA_FOLLOWS, offset);
			s->next = w + 2;
			t->ordinal++;
			return true;
		}
	}
	*w++ = log_short(slot, delta, offset);
	s->next = w; /* there is room for a write's value */
	if (tag == LOG_WRITE && code < 4) {
		t->pending = w;
		t->pending_slot = slot;
		t->pending_code = code;
	}
	t->ordinal++;
	return true;
}

/*
 * Free mode and --filter: what an instruction does to an address in one calling context (of
 * --filter: in any) and epoch, as a hash.  Equal ones are taken for the same: for two that are
 * not, the chance is 1 in 2^64.
 */
ALWAYS_INLINE uint64_t seen_key(const struct thread *t, enum log_tag tag, uintptr_t pc,
                                uintptr_t address, unsigned code)
{
	return t->context + address * HASH_FACTOR +
	       (pc + ((uint64_t)(tag | code << 4) << 48)) * 0xc2b2ae3d27d4eb4fu;
}

ALWAYS_INLINE uint64_t *seen_entry(struct thread *t, uint64_t key)
{
	return &t->seen[key >> (64 - SEEN_BITS)];
}

/* With --filter commute: a plain access that the thread has not made in this epoch is not
 * written, but is work, so that the thread does not seem to wait by looking (polls.c). */
ALWAYS_INLINE void log_unwritten(struct thread *t, enum log_tag tag, uintptr_t pc,
                                 uintptr_t address, unsigned code)
{
	uint64_t key = seen_key(t, tag, pc, address, code);
	*seen_entry(t, key) = key;
	t->repeated++;
	t->poll.unwritten++;
}

/* An access without a value, in free mode and with --filter.  False: there is no room. */
ALWAYS_INLINE bool log_free_here(struct thread *t, enum log_tag tag, unsigned flags,
                                 uintptr_t pc, uintptr_t address, unsigned code)
{
	struct stream *s = t->stream;
	uint64_t *w = s->next;
	uint64_t first = log_word(tag, flags, pc), key = log_site_key(first, code);
	unsigned slot = log_site_slot(key);
	struct log_sites *sites = s->sites;
	address &= LOG_ADDRESS_MASK;
	uint64_t offset = address - sites->at[slot].address;
	if (unlikely(w + 4 > s->end))
		return false;
	sites->at[slot].address = address;
	if (likely(sites->at[slot].key == key && log_fits(offset, LOG_HALF_OFFSET_BITS))) {
		log_half(s, slot, offset);
	} else {
		sites->at[slot].key = key;
		w[1] = log_place(address, code);
		BARRIER();
		w[0] = first;
		s->next = w + 2;
	}
	key = seen_key(t, tag, pc, address, code);
	*seen_entry(t, key) = key;
	return true;
}

#endif
