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

/* Value in memory, of 1 << code bytes (code 0 to 3). */
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

/* Flags of an access to as many bytes as its call says. */
ALWAYS_INLINE unsigned log_range_flags(enum log_tag tag)
{
	return tag == LOG_WRITE ? LOG_SECOND : 0;
}

/* Writes an access without a value that differs from its site's last only in the address, by
 * a little. */
ALWAYS_INLINE void log_half(struct stream *s, unsigned slot, uint64_t offset_field)
{
	uint64_t *w = s->next;
	uint64_t half = log_half_word(slot, offset_field);
	if (s->half == w) {
		w[-1] ^= log_pair_second(half);
		s->half = NULL;
	} else {
		w[0] = log_pair(half);
		s->next = s->half = w + 1;
	}
}

/* Adds the value of the last write, of that size code, to its short record; false when more
 * has to be done, by log_fill. */
ALWAYS_INLINE bool log_fill_here(struct thread *t, struct stream *s, unsigned code)
{
	struct log_site *site = t->pending_site;
	uint64_t *w = s->next;
	if (unlikely(w != t->pending))
		return false;
	uint64_t value = peek(site->address, code);
	uint64_t delta = log_delta_field(value - site->value);
	site->value = value;
	t->todo = 0;
	if (unlikely(delta > LOG_DELTA_MOST)) {
		w[-1] += log_short_known(LOG_DELTA_FOLLOWS);
		BARRIER(); /* in the other order the value could be read as a record */
		w[0] = value;
		s->next = w + 1;
	} else {
		w[-1] += log_short_known(LOG_DELTA_LOWEST + delta);
	}
	return true;
}

/* Controlled mode: may an access be written at once? Fills in the last write's value if
 * nothing else is due. */
ALWAYS_INLINE bool log_ready(struct thread *t, uint64_t todo)
{
	if (likely(todo == 0))
		return true;
	switch (todo) {
	case TODO_VALUE | 0 << TODO_CODE_SHIFT:
		return log_fill_here(t, &rt.stream, 0);
	case TODO_VALUE | 1 << TODO_CODE_SHIFT:
		return log_fill_here(t, &rt.stream, 1);
	case TODO_VALUE | 2 << TODO_CODE_SHIFT:
		return log_fill_here(t, &rt.stream, 2);
	case TODO_VALUE | 3 << TODO_CODE_SHIFT:
		return log_fill_here(t, &rt.stream, 3);
	default:
		return false;
	}
}

/*
 * Controlled mode with values: writes a plain access whose record is one word, or two, by a
 * thread with nothing else due, and counts it for the scheduler. False: nothing is written,
 * and log_access has to do it.
 */
ALWAYS_INLINE bool log_access_here(struct thread *t, enum log_tag tag, unsigned flags,
                                   uintptr_t pc, uintptr_t address, unsigned code)
{
	struct stream *s = &rt.stream;
	struct log_site *site = &s->sites->at[log_pc_slot(pc, flags)];
	uint64_t offset = log_offset_field(address - site->address), *w = s->next, delta = 0;
	if (unlikely(site->key != log_site_key(log_word(tag, flags, pc), code) ||
	             offset > LOG_OFFSET_MOST || w >= s->end))
		return false;
	t->budget--;
	if (unlikely(t->budget < 0)) /* below 0 it is used up */
		return false;
	if (tag == LOG_READ && code < 4) {
		uint64_t value = peek(address, code);
		delta = log_delta_field(value - site->value);
		site->value = value;
		if (unlikely(delta > LOG_DELTA_MOST)) {
			site->address = address;
			w[1] = value;
			BARRIER();
			*w = site->word - log_short_known(LOG_DELTA_LOWEST) +
			     log_short_known(LOG_DELTA_FOLLOWS) + offset;
			s->next = w + 2;
			t->ordinal++;
			return true;
		}
	}
	site->address = address;
	*w++ = site->word + (delta << LOG_DELTA_SHIFT) + offset;
	s->next = w; /* leave room for a write's value */
	if (tag == LOG_WRITE && code < 4) {
		t->pending = w;
		t->pending_site = site;
		t->todo = TODO_VALUE | code << TODO_CODE_SHIFT;
	}
	t->ordinal++;
	return true;
}

/*
 * Free mode and --filter: hash of an instruction's kind of access to an address in one
 * calling context (with --filter: in any) and epoch. Accesses with equal hashes are taken for
 * the same: for two that differ the chance is 1 in 2^64.
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

/*
 * --filter variables: which bytes the thread has accessed in this epoch, so that another access
 * to them needs no record: the first one has every race of their bytes that the later one has.
 * (A read after a write of the thread's, too, as what races with it races with the write.) An
 * entry is a word of memory: bits of its 8 bytes that were accessed, and of those that were
 * written, the epoch, and the address above its slot's. Nothing is taken for another: of two
 * words with one slot the later one stays, and when the epochs have all been used the table is
 * cleared (log_afresh).
 */
enum {
	COVERED_WRITTEN = 8,
	COVERED_EPOCH = 16,
	COVERED_ADDRESS = 64 - (47 - COVERED_BITS - 3)
};
#define COVERED_BYTES UINT64_C(0xffff)

ALWAYS_INLINE uint64_t *covered_entry(struct thread *t, uintptr_t address)
{
	/* words with addresses near each other have slots near each other */
	uintptr_t at = (address ^ address >> (COVERED_BITS - 1)) &
	               ((UINT64_C(1) << COVERED_BITS) - 1) << 3;
	return (uint64_t *)((char *)t->covered + at);
}

ALWAYS_INLINE uint64_t covered_word(const struct thread *t, uintptr_t address)
{
	return address >> (COVERED_BITS + 3) << COVERED_ADDRESS | t->covered_epoch;
}

/* Has the thread accessed these bytes of a word? */
ALWAYS_INLINE bool covers_bytes(struct thread *t, enum log_tag tag, uintptr_t address,
                                uint64_t bytes)
{
	uint64_t differs = *covered_entry(t, address) ^ covered_word(t, address);
	bytes <<= tag == LOG_WRITE ? COVERED_WRITTEN : 0;
	return (differs & (~COVERED_BYTES | bytes)) == bytes;
}

ALWAYS_INLINE bool covers(struct thread *t, enum log_tag tag, uintptr_t address, unsigned code)
{
	unsigned at = address % 8;
	if (code == 4)
		return at == 0 && covers_bytes(t, tag, address, 255) &&
		       covers_bytes(t, tag, address + 8, 255);
	if (at + (1u << code) > 8)
		return false;
	return covers_bytes(t, tag, address, ((UINT64_C(1) << (1u << code)) - 1) << at);
}

ALWAYS_INLINE void cover_bytes(struct thread *t, enum log_tag tag, uintptr_t address,
                               uint64_t bytes)
{
	uint64_t *entry = covered_entry(t, address), word = covered_word(t, address);
	if (tag == LOG_WRITE)
		bytes |= bytes << COVERED_WRITTEN;
	*entry = (*entry ^ word) <= COVERED_BYTES ? *entry | bytes : word | bytes;
}

/* Notes an access that was written, to any number of bytes. */
ALWAYS_INLINE void cover(struct thread *t, enum log_tag tag, uintptr_t address, size_t size)
{
	while (size > 0) {
		unsigned at = address % 8, count = size < 8 - at ? (unsigned)size : 8 - at;
		cover_bytes(t, tag, address, ((UINT64_C(1) << count) - 1) << at);
		address += count;
		size -= count;
	}
}

/* Has the thread accessed all of these bytes? */
ALWAYS_INLINE bool covers_range(struct thread *t, enum log_tag tag, uintptr_t address,
                                size_t size)
{
	enum { MOST = 1 << 16 }; /* the record of a larger one is cheaper than looking */
	if (size > MOST)
		return false;
	while (size > 0) {
		unsigned at = address % 8, count = size < 8 - at ? (unsigned)size : 8 - at;
		if (!covers_bytes(t, tag, address, ((UINT64_C(1) << count) - 1) << at))
			return false;
		address += count;
		size -= count;
	}
	return true;
}

/* Notes a plain access that was written. */
ALWAYS_INLINE void seen_note(struct thread *t, enum log_tag tag, uintptr_t pc,
                             uintptr_t address, unsigned code)
{
	uint64_t key;
	if (t->covered_epoch) {
		cover(t, tag, address, (size_t)1 << code);
		return;
	}
	key = seen_key(t, tag, pc, address, code);
	*seen_entry(t, key) = key;
}

/* thread.unwritten: a plain access that the thread has not made in this epoch is not written,
 * but is work, so that the thread does not seem to wait by looking (polls.c). With --sample
 * its key differs from that of a written access, which it does not replace. */
ALWAYS_INLINE void log_unwritten(struct thread *t, enum log_tag tag, uintptr_t pc,
                                 uintptr_t address, unsigned code)
{
	uint64_t key = seen_key(t, tag, pc, address, code);
	t->repeated++;
	if (unlikely(t->ordinal == 0 && t->emitted == 0))
		log_shown(t);
	if (rt.sample && !rt.controlled)
		return; /* free mode has no schedule */
	if (rt.sample)
		key = ~key;
	t->poll.unwritten += !rt.sample || *seen_entry(t, key) != key;
	*seen_entry(t, key) = key;
}

/* Writes an access without a value, in free mode and with --filter. False: no room. */
ALWAYS_INLINE bool log_free_here(struct thread *t, enum log_tag tag, unsigned flags,
                                 uintptr_t pc, uintptr_t address, unsigned code)
{
	struct stream *s = t->stream;
	uint64_t *w = s->next;
	uint64_t first = log_word(tag, flags, pc), key = log_site_key(first, code);
	unsigned slot = log_pc_slot(pc, flags);
	struct log_site *site = &s->sites->at[slot];
	address &= LOG_ADDRESS_MASK;
	uint64_t offset = log_half_field(address - site->address);
	if (unlikely(w >= s->end))
		return false;
	site->address = address;
	if (likely(site->key == key && offset <= LOG_HALF_MOST)) {
		log_half(s, slot, offset);
	} else {
		site->key = key;
		w[1] = log_place(address, code);
		BARRIER();
		w[0] = first;
		s->next = w + 2;
	}
	seen_note(t, tag, pc, address, code);
	return true;
}

#endif
