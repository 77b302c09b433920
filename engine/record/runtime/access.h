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

void log_access_long(struct thread *t, uint64_t first, uintptr_t address, unsigned code,
                     bool known, uint64_t value);

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

/* `known`: the value is given; else a plain read's is in memory, and a plain write's will be
 * when its thread comes to its next hook. */
ALWAYS_INLINE void log_access_here(struct thread *t, enum log_tag tag, unsigned flags,
                                   uintptr_t pc, uintptr_t address, unsigned code, bool known,
                                   uint64_t value)
{
	if (unlikely(rt.waiting))
		return;
	log_before(t);
	if (unlikely(tag >= LOG_AREAD) && !rt.controlled)
		log_ticket(t);
	struct stream *s = t->stream;
	uint64_t *w = log_room(s, 4);
	uint64_t first = log_word(tag, flags, pc), key = log_site_key(first, code);
	unsigned slot = log_site_slot(key);
	struct log_site *site = &s->sites[slot];
	uint64_t offset = (address & LOG_ADDRESS_MASK) - site->address, delta;
	bool valued = code < 4 && rt.values;
	if (!known && tag == LOG_READ && valued) {
		value = peek(address, code);
		known = true;
	}
	known = known && valued;
	delta = known ? value - site->value : LOG_DELTA_UNKNOWN;
	if (unlikely(site->key != key || !log_fits(offset, LOG_OFFSET_BITS) ||
	             (known && !log_fits(delta, LOG_DELTA_BITS)))) {
		log_access_long(t, first, address, code, known, value);
	} else {
		site->address += offset;
		if (known)
			site->value = value;
		w[0] = LOG_SHORT | (uint64_t)slot << LOG_SLOT_SHIFT |
		       log_field(delta, LOG_DELTA_BITS) << LOG_DELTA_SHIFT |
		       log_field(offset, LOG_OFFSET_BITS);
		s->next = w + 1;
	}
	if (tag == LOG_WRITE && valued && !known) {
		t->pending = s->next;
		t->pending_site = site;
		t->pending_code = code;
	}
	count_event(t, tag, pc);
}

#endif
