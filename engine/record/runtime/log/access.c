/*
 * access.c - writes the records of accesses of all kinds; what is hot is also in access.h.
 *
 * Knows nothing of scheduling.
 */
#include "access.h"

/* An access whose record fills its site's entry anew.  There is room for four words. */
static void log_long(struct thread *t, uint64_t first, uintptr_t address, unsigned code,
                     bool known, uint64_t value)
{
	struct stream *s = t->stream;
	uint64_t *w = s->next, key = log_site_key(first, code);
	address &= LOG_ADDRESS_MASK;
	unsigned slot = log_site_slot(key);
	s->sites->at[slot].key = key;
	s->sites->at[slot].address = address;
	s->sites->value[slot] = known ? value : 0;
	w[1] = log_place(address, code);
	if (known && value < LOG_SMALL_LIMIT) {
		w[1] |= log_place_small(value);
		first |= (uint64_t)LOG_SMALL << 8;
	} else if (known) {
		w[2] = value;
		first |= (uint64_t)LOG_VALUE << 8;
	}
	BARRIER();
	w[0] = first;
	s->next = w + 2 + (known && value >= LOG_SMALL_LIMIT);
}

/* The write's record is the stream's last, else there is a fault and nothing is done.  Room
 * for what is added was made with the record. */
void log_fill(struct thread *t)
{
	struct stream *s = t->stream;
	if (likely(log_fill_here(t, s)))
		return;
	unsigned slot = t->pending_slot;
	uint64_t *w = t->pending;
	t->pending = NULL;
	if (w != s->next)
		return;
	uint64_t value = peek(s->sites->at[slot].address, t->pending_code);
	s->sites->value[slot] = value;
	if (value < LOG_SMALL_LIMIT) { /* the long record's two words end here */
		w[-1] |= log_place_small(value);
		BARRIER();
		w[-2] |= (uint64_t)LOG_SMALL << 8;
	} else {
		w[-2] |= (uint64_t)LOG_VALUE << 8;
		BARRIER();
		w[0] = value;
		s->next = w + 1;
	}
}

void log_access(struct thread *t, enum log_tag tag, unsigned flags, uintptr_t pc, const void *p,
                unsigned code, bool known, uint64_t value)
{
	if (unlikely(rt.waiting))
		return;
	if (unlikely(rt.filter_commute) && tag < LOG_AREAD) {
		log_unwritten(t, tag, pc, (uintptr_t)p, code);
		return;
	}
	log_before(t);
	/* A read of an atomic: what comes after it races with nothing that the same before it
	 * does not race with. */
	if (tag == LOG_AREAD)
		log_ticket(t);
	else if (tag > LOG_AREAD)
		log_epoch(t);
	struct stream *s = t->stream;
	uint64_t *w = log_room(s, 4), address = (uintptr_t)p & LOG_ADDRESS_MASK;
	uint64_t first = log_word(tag, flags, pc), key = log_site_key(first, code);
	unsigned slot = log_site_slot(key);
	struct log_sites *sites = s->sites;
	uint64_t offset = address - sites->at[slot].address;
	bool valued = code < 4 && rt.values && (!t->epoch || tag >= LOG_AREAD);
	if (!known && tag == LOG_READ && valued) {
		value = peek(address, code);
		known = true;
	}
	known = known && valued;
	uint64_t delta = known ? value - sites->value[slot] : LOG_DELTA_UNKNOWN;
	if (sites->at[slot].key != key || !log_fits(offset, LOG_OFFSET_BITS)) {
		log_long(t, first, address, code, known, value);
	} else {
		bool follows = known && !log_fits(delta, LOG_DELTA_BITS);
		sites->at[slot].address = address;
		if (known)
			sites->value[slot] = value;
		if (follows)
			w[1] = value;
		BARRIER();
		w[0] = log_short(slot, follows ? LOG_DELTA_FOLLOWS : delta, offset);
		s->next = w + 1 + follows;
	}
	if (tag == LOG_WRITE && valued && !known) {
		t->pending = s->next;
		t->pending_slot = slot;
		t->pending_code = code;
	}
	if (t->epoch && tag < LOG_AREAD) {
		key = seen_key(t, tag, pc, (uintptr_t)p, code);
		*seen_entry(t, key) = key;
	}
	count_event(t, tag, pc);
	if (unlikely(rt.memory))
		memory_logged(t, tag, flags & LOG_ORDER_MASK, p, (size_t)1 << code);
}

void log_rmw(struct thread *t, unsigned flags, uintptr_t pc, const void *p, unsigned code,
             uint64_t old, uint64_t new_value)
{
	if (unlikely(rt.waiting))
		return;
	struct stream *s = t->stream;
	log_before(t);
	log_epoch(t);
	uint64_t *w = log_room(s, 4);
	w[1] = log_place((uintptr_t)p, code);
	w[2] = old;
	w[3] = new_value;
	BARRIER();
	w[0] = log_word(LOG_RMW, flags | (code < 4 ? LOG_VALUE : 0), pc);
	s->next = w + 4;
	count_event(t, LOG_RMW, pc);
}

void log_range(struct thread *t, enum log_tag tag, uintptr_t pc, const void *p, size_t size)
{
	if (size == 0 || unlikely(rt.waiting) || unlikely(t->gate & GATE_IGNORE))
		return;
	if (unlikely(rt.filter_commute)) {
		log_unwritten(t, tag, pc, (uintptr_t)p, LOG_RANGE);
		return;
	}
	plan_point(t);
	struct stream *s = t->stream;
	log_before(t);
	uint64_t *w = log_room(s, 3), address = (uintptr_t)p & LOG_ADDRESS_MASK;
	uint64_t first = log_word(tag, 0, pc), key = log_site_key(first, LOG_RANGE);
	unsigned slot = log_site_slot(key);
	struct log_sites *sites = s->sites;
	uint64_t offset = address - sites->at[slot].address;
	uint64_t delta = size - sites->value[slot];
	if (sites->at[slot].key != key || !log_fits(offset, LOG_OFFSET_BITS) ||
	    !log_fits(delta, LOG_DELTA_BITS)) {
		w[1] = log_place(address, LOG_RANGE);
		w[2] = size;
		BARRIER();
		w[0] = first;
		s->next = w + 3;
	} else if (t->epoch && delta == 0 && log_fits(offset, LOG_HALF_OFFSET_BITS)) {
		log_half(s, slot, offset);
	} else {
		w[0] = log_short(slot, delta, offset);
		s->next = w + 1;
	}
	sites->at[slot].key = key;
	sites->at[slot].address = address;
	sites->value[slot] = size;
	count_event(t, tag, pc);
	if (unlikely(rt.memory))
		memory_logged(t, tag, 0, p, size);
}
