/*
 * access.c - writes the records of accesses of all kinds; the hot paths are in access.h.
 *
 * Scheduling is elsewhere (sched/).
 */
#include <string.h>

#include "access.h"

void covered_renew(struct thread *t)
{
	const uint64_t next = UINT64_C(1) << COVERED_EPOCH;
	t->covered_epoch += next;
	t->shadow.told = false;
	if (t->covered_epoch < UINT64_C(1) << COVERED_ADDRESS)
		return;
	t->covered_epoch = next;
	memset(t->covered, 0, COVERED_SIZE);
}

/* Writes an access whose record replaces its site's entry. The caller has made room for four
 * words. */
static void log_long(struct thread *t, uint64_t first, uintptr_t address, unsigned code,
                     bool known, uint64_t value)
{
	struct stream *s = t->stream;
	uint64_t *w = s->next, key = log_site_key(first, code);
	address &= LOG_ADDRESS_MASK;
	unsigned slot = log_site_slot(key);
	bool seen = log_word_tag(first) == LOG_READ && code < 4;
	s->sites->at[slot] = (struct log_site){
		.key = key,
		.address = address,
		.value = known ? value : 0,
		.word = log_short(slot, seen ? LOG_DELTA_LOWEST : LOG_DELTA_UNKNOWN, 0),
	};
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

/* Writes the address of the record at `w` before it; after it, as the log may end between. */
static void log_far(uint64_t *w, uint64_t address)
{
	BARRIER();
	w[-1] = log_far_word(address);
}

/* The write's record is the last in the stream; after a fault it is not, and nothing is done.
 * Room for the addition was made with the record. */
void log_fill(struct thread *t)
{
	if (t->todo & TODO_COPY) {
		copy_unread(t);
		return;
	}
	struct stream *s = t->stream;
	struct log_site *site = t->pending_site;
	unsigned code = t->todo >> TODO_CODE_SHIFT & 3;
	bool is_short = !(t->todo & TODO_LONG);
	uint64_t *w = t->pending;
	t->todo &= ~TODO_OF_VALUE;
	if (w != s->next)
		return;
	uint64_t value = peek(site->address, code);
	uint64_t delta = log_delta_field(value - site->value);
	site->value = value;
	if (is_short && delta <= LOG_DELTA_MOST) {
		w[-1] += log_short_known(LOG_DELTA_LOWEST + delta);
	} else if (is_short) {
		w[-1] += log_short_known(LOG_DELTA_FOLLOWS);
		BARRIER(); /* in the other order the value could be read as a record */
		w[0] = value;
		s->next = w + 1;
	} else if (value < LOG_SMALL_LIMIT) { /* the long record's two words end here */
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
	if (unlikely(t->unwritten) && tag < LOG_AREAD) {
		log_unwritten(t, tag, pc, (uintptr_t)p, code);
		return;
	}
	if (rt.shadow && tag < LOG_AREAD &&
	    shadow_access(t, tag | flags << 8, pc, (uintptr_t)p, (size_t)1 << code))
		return;
	if (unlikely(rt.full) && rt.controlled && !t->stream->chunk && tag < LOG_AREAD &&
	    !rt.memory) { /* its record would be kept nowhere */
		count_event(t, tag, pc);
		return;
	}
	log_uncompared(t, tag, flags, pc, p, code, known, value);
}

void log_uncompared(struct thread *t, enum log_tag tag, unsigned flags, uintptr_t pc,
                    const void *p, unsigned code, bool known, uint64_t value)
{
	if (unlikely(rt.shadow))
		shadow_before_event(t);
	log_before(t);
	/* A read of an atomic begins no epoch: later accesses race with nothing that the same
	 * accesses before it do not race with. */
	if (tag == LOG_AREAD)
		log_ticket(t);
	else if (tag > LOG_AREAD)
		log_atomic_write(t);
	struct stream *s = t->stream;
	uint64_t *w = log_room(s, 4), address = (uintptr_t)p & LOG_ADDRESS_MASK;
	uint64_t first = log_word(tag, flags, pc), key = log_site_key(first, code);
	unsigned slot = log_site_slot(key);
	struct log_site *site = &s->sites->at[slot];
	uint64_t offset = log_offset_field(address - site->address);
	bool valued = code < 4 && rt.values && (!t->epoch || tag >= LOG_AREAD);
	if (!known && tag == LOG_READ && valued) {
		value = peek(address, code);
		known = true;
	}
	known = known && valued;
	uint64_t delta = log_delta_field(value - site->value);
	bool is_long = site->key != key, is_far = !is_long && offset > LOG_OFFSET_MOST;
	if (is_far) {
		offset = log_offset_field(0);
		w++;
	}
	if (is_long) {
		log_long(t, first, address, code, known, value);
	} else {
		bool follows = known && delta > LOG_DELTA_MOST;
		site->address = address;
		if (known)
			site->value = value;
		if (follows)
			w[1] = value;
		BARRIER();
		w[0] = log_short(slot,
		                 follows ? LOG_DELTA_FOLLOWS
		                 : known ? LOG_DELTA_LOWEST + delta
		                         : LOG_DELTA_UNKNOWN,
		                 offset);
		s->next = w + 1 + follows;
	}
	if (is_far)
		log_far(w, address);
	if (tag == LOG_WRITE && valued && !known) {
		t->pending = s->next;
		t->pending_site = site;
		t->todo |= TODO_VALUE | code << TODO_CODE_SHIFT | (is_long ? TODO_LONG : 0);
	}
	if (t->epoch && tag < LOG_AREAD)
		seen_note(t, tag, pc, (uintptr_t)p, code);
	count_event(t, tag, pc);
	if (unlikely(rt.shadow && tag >= LOG_AREAD))
		shadow_atomic(t, tag, flags, pc, (uintptr_t)p, (size_t)1 << code);
	if (unlikely(rt.memory))
		memory_logged(t, tag, flags & LOG_ORDER_MASK, p, (size_t)1 << code);
}

void log_rmw(struct thread *t, unsigned flags, uintptr_t pc, const void *p, unsigned code,
             uint64_t old, uint64_t new_value)
{
	if (unlikely(rt.waiting))
		return;
	struct stream *s = t->stream;
	if (unlikely(rt.shadow))
		shadow_before_event(t);
	log_before(t);
	log_atomic_write(t);
	uint64_t *w = log_room(s, 4);
	w[1] = log_place((uintptr_t)p, code);
	w[2] = old;
	w[3] = new_value;
	BARRIER();
	w[0] = log_word(LOG_RMW, flags | (code < 4 ? LOG_VALUE : 0), pc);
	s->next = w + 4;
	count_event(t, LOG_RMW, pc);
	if (unlikely(rt.shadow))
		shadow_atomic(t, LOG_RMW, flags, pc, (uintptr_t)p, (size_t)1 << code);
}

void log_range(struct thread *t, enum log_tag tag, uintptr_t pc, const void *p, size_t size)
{
	if (size == 0 || unlikely(rt.waiting) || unlikely(t->gate & GATE_IGNORE))
		return;
	if (unlikely(t->unwritten)) {
		log_unwritten(t, tag, pc, (uintptr_t)p, LOG_RANGE);
		return;
	}
	plan_point(t);
	if (rt.shadow &&
	    shadow_access(t, tag | log_range_flags(tag) << 8, pc, (uintptr_t)p, size))
		return;
	struct stream *s = t->stream;
	if (unlikely(rt.shadow))
		shadow_before_event(t);
	log_before(t);
	uint64_t *w = log_room(s, 3), address = (uintptr_t)p & LOG_ADDRESS_MASK;
	uint64_t first = log_word(tag, log_range_flags(tag), pc);
	uint64_t key = log_site_key(first, LOG_RANGE);
	unsigned slot = log_site_slot(key);
	struct log_site *site = &s->sites->at[slot];
	uint64_t offset = address - site->address, half = log_half_field(offset);
	uint64_t delta = log_delta_field(size - site->value);
	if (site->key != key || delta > LOG_DELTA_MOST) {
		w[1] = log_place(address, LOG_RANGE);
		w[2] = size;
		BARRIER();
		w[0] = first;
		s->next = w + 3;
	} else if (t->epoch && size == site->value && half <= LOG_HALF_MOST) {
		log_half(s, slot, half);
	} else {
		bool is_far = log_offset_field(offset) > LOG_OFFSET_MOST;
		w += is_far;
		w[0] = log_short(slot, LOG_DELTA_LOWEST + delta,
		                 log_offset_field(is_far ? 0 : offset));
		s->next = w + 1;
		if (is_far)
			log_far(w, address);
	}
	site->key = key;
	site->address = address;
	site->value = size;
	if (t->covered_epoch) {
		const size_t most = COVERED_SIZE;
		cover(t, tag, address, size < most ? size : most);
	}
	count_event(t, tag, pc);
	if (unlikely(rt.memory))
		memory_logged(t, tag, 0, p, size);
}
