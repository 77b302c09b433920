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

#include "rt.h"

/* What lies in memory; size code 0..3. */
ALWAYS_INLINE uint64_t peek(uintptr_t address, unsigned code)
{
	switch (code) {
	case 0:
		return *(const volatile uint8_t *)address;
	case 1:
		return *(const volatile uint16_t *)address;
	case 2:
		return *(const volatile uint32_t *)address;
	default:
		return *(const volatile uint64_t *)address;
	}
}

/* Does a difference fit into so many bits, with a sign and without the lowest value? */
ALWAYS_INLINE bool log_fits(uint64_t difference, unsigned bits)
{
	return difference + (1ull << (bits - 1)) - 1 < (1ull << bits) - 1;
}

ALWAYS_INLINE uint64_t log_field(uint64_t difference, unsigned bits)
{
	return difference & ((1ull << bits) - 1);
}

/* The value of the last write, as log_fill; false when that has to do it. */
ALWAYS_INLINE bool log_fill_here(struct thread *t, struct stream *s)
{
	uint64_t *w = t->pending;
	struct log_site *site = t->pending_site;
	if (unlikely(w != s->next || !(w[-1] & LOG_SHORT)))
		return false;
	uint64_t value = peek(site->address, t->pending_code), delta = value - site->value;
	if (unlikely(!log_fits(delta, LOG_DELTA_BITS)))
		return false;
	site->value = value;
	w[-1] ^= (LOG_DELTA_UNKNOWN ^ log_field(delta, LOG_DELTA_BITS)) << LOG_DELTA_SHIFT;
	t->pending = NULL;
	return true;
}

/*
 * A plain access whose record is one word, of a thread with nothing else to see to.  False:
 * nothing is written, and log_access has to do it.  Nothing is written either, in free mode,
 * when the site has done the same since the thread's last synchronisation, call or return.
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
	struct log_site *site = &s->sites[slot];
	if (unlikely(w + 4 > s->end || site->key != key))
		return false;
	uint64_t offset = (address & LOG_ADDRESS_MASK) - site->address;
	uint64_t delta = LOG_DELTA_UNKNOWN, value = 0;
	if (offset == 0 && site->hint == t->epoch)
		return true;
	if (tag == LOG_READ && code < 4) {
		value = peek(address, code);
		delta = value - site->value;
		if (unlikely(!log_fits(delta, LOG_DELTA_BITS)))
			return false;
	}
	if (unlikely(!log_fits(offset, LOG_OFFSET_BITS)))
		return false;
	site->address += offset;
	site->hint = t->stamp;
	if (tag == LOG_READ && code < 4)
		site->value = value;
	/* There is room for a LATE record. */
	*w++ = LOG_SHORT | (uint64_t)slot << LOG_SLOT_SHIFT |
	       log_field(delta, LOG_DELTA_BITS) << LOG_DELTA_SHIFT |
	       log_field(offset, LOG_OFFSET_BITS);
	s->next = w;
	if (tag == LOG_WRITE && code < 4) {
		t->pending = w;
		t->pending_site = site;
		t->pending_code = code;
	}
	t->ordinal++;
	return true;
}

#endif
