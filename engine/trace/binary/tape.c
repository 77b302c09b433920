/*
 * tape.c - see tape.h. Encoder and decoder predict each event from the events before it, and
 * the tape holds the parts that are predicted wrongly:
 *
 * - the kind of an event (operation, flags, location) is the one that followed the thread's
 *   last kind when it last occurred;
 * - its target is that of its kind's last event, or as far from it as that was from the one
 *   before (stride), or that of the thread's last event;
 * - its value is the one last seen at its target, one of the thread's two last values, or the
 *   lowest number that no event had yet.
 *
 * An event begins with a byte of three codes (enum kind_code, target_code, value_code); then
 * come a thread, a kind, a distance of targets and one of values, as the codes say, and of an
 * ENTER its context. Distances alternate in sign (0, -1, 1, -2, ...), in 1, 2 or 4 bytes;
 * other numbers have seven bits a byte, the lowest first.
 */
#include "engine/trace/binary/tape_row.h"

#include <string.h>

struct tape *tape_new(void)
{
	struct tape *p = g_new0(struct tape, 1);
	p->kinds = g_new0(struct kind, TAPE_BLOCK + 1);
	p->tracks = g_new0(struct track, TAPE_BLOCK);
	p->nobody = (struct kind){ .access = NO_ACCESS, .next = &p->nobody };
	return p;
}

void tape_free(struct tape *p)
{
	if (p == NULL)
		return;
	g_free(p->kinds);
	g_free(p->tracks);
	g_free(p);
}

static void begin_block(struct tape *p, uint32_t fresh)
{
	p->kind_count = 1;
	p->kinds[0] = (struct kind){ .head = NO_ACCESS, .access = NO_ACCESS, .next = p->kinds };
	p->track_count = 0;
	p->tracks[0] = (struct track){ .kind = p->kinds };
	p->fresh = fresh;
	memset(p->memory, 0, sizeof p->memory);
}

static inline enum op op_of_head(uint64_t head)
{
	return (enum op)(head >> 48 & 0xff);
}

#define THREAD_BITS ((UINT64_C(1) << 20) - 1)

static struct kind *kind_new(struct tape *p, uint64_t head)
{
	struct kind *k = &p->kinds[p->kind_count++];
	*k = (struct kind){ .head = head,
		            .access = op_is_access(op_of_head(head)) ? head : NO_ACCESS,
		            .next = p->kinds };
	return k;
}

/* Decoder: updates predictions after an event. */
static inline void learn(struct tape *p, struct track *t, struct kind *k, uint32_t target,
                         uint32_t value)
{
	uint32_t moved = target - k->target;
	k->stride = moved ? moved : k->stride;
	k->target = target;
	t->target = target;
	tape_learn_value(p, t, k, value, false);
}

/* The context of the thread's next event. */
static inline uint32_t context_after(const struct tape_stacks *s, uint64_t head,
                                     uint32_t context)
{
	if (op_of_head(head) != OP_LEAVE || context >= s->count)
		return context;
	return s->contexts[context].parent;
}

/* -- encoding ------------------------------------------------------------------------------ */

static inline uint32_t unzigzag(uint32_t coded)
{
	return coded >> 1 ^ (coded & 1 ? UINT32_MAX : 0);
}

static uint32_t track_of(struct tape *p, uint32_t thread, bool *is_new)
{
	uint32_t *slot = &p->track_slots[thread % SLOTS];
	*is_new = *slot >= p->track_count || p->tracks[*slot].thread != thread;
	if (*is_new) { /* or evicted by a thread with the same slot: the thread gets a second
		        * track */
		*slot = p->track_count++;
		p->tracks[*slot] = (struct track){ .kind = p->kinds, .thread = thread };
	}
	return *slot;
}

static struct kind *kind_of(struct tape *p, uint64_t head, bool *is_new)
{
	uint32_t *slot = &p->kind_slots[tape_kind_slot(head)];
	*is_new = *slot >= p->kind_count || p->kinds[*slot].head != head;
	if (*is_new)
		*slot = (uint32_t)(kind_new(p, head) - p->kinds);
	return &p->kinds[*slot];
}

/* Encodes the thread and the kind of an event where they are not predicted, which become those
 * of the tape and of its track; returns the kind's code. */
static uint8_t *put_given(struct tape *p, uint64_t word, const uint32_t *context, uint8_t *at,
                          unsigned *code, struct kind **kind)
{
	uint32_t thread = (uint32_t)(word & THREAD_BITS);
	uint64_t head = word & ~THREAD_BITS;
	bool is_new;
	*code = 0;
	if (p->track_count == 0 || p->tracks[p->track].thread != thread) {
		*code |= OTHER_THREAD;
		p->track = track_of(p, thread, &is_new);
		at = tape_put_number(at, p->track);
		at = is_new ? tape_put_number(at, thread) : at;
	}
	struct track *t = &p->tracks[p->track];
	bool moved = context && op_of_head(head) != OP_ENTER && t->context != *context;
	*kind = t->kind->next;
	if ((*kind)->head == head && !moved)
		return at;
	*code |= KIND_GIVEN;
	if (moved)
		at = tape_put_number(tape_put_number(at, KIND_CONTEXT), *context);
	*kind = kind_of(p, head, &is_new);
	if (!is_new)
		return tape_put_number(at, KINDS_FROM + (uint32_t)(*kind - p->kinds));
	at = tape_put_number(at, KIND_NEW);
	at = tape_put_bytes(at, (uint32_t)(head >> 48), 2);
	return tape_put_number(at, (uint32_t)(head >> 20) & ((1u << 28) - 1));
}

uint8_t *tape_begin(struct tape *p, uint8_t *bytes)
{
	uint32_t fresh = p->fresh;
	begin_block(p, fresh);
	p->track = 0;
	return tape_put_number(bytes, fresh);
}

uint8_t *tape_put_event(struct tape *p, const struct event *e, const uint32_t *context,
                        const struct tape_stacks *stacks, uint8_t *at)
{
	uint8_t *first = at++;
	unsigned codes = KIND_FORESEEN;
	uint64_t word = event_head(e);
	struct track *t = &p->tracks[p->track];
	struct kind *k = t->kind->next;
	if ((k->head | t->thread) != word || (context && t->context != *context)) {
		at = put_given(p, word, context, at, &codes, &k);
		t = &p->tracks[p->track];
	}
	t->kind->next = k;
	t->kind = k;
	at = tape_put_operands(p, t, k, e->target, e->aux, false, at, &codes);
	*first = (uint8_t)codes;
	if (context == NULL)
		return at;
	if (op_of_head(k->head) == OP_ENTER) {
		at = tape_put_number(at, tape_zigzag(*context - k->context));
		k->context = *context;
	}
	t->context = context_after(stacks, k->head, *context);
	return at;
}

uint8_t *tape_put_call(struct tape *p, const struct event *e, uint32_t context, uint8_t *at)
{
	uint8_t *first = at++;
	unsigned codes = KIND_FORESEEN;
	uint64_t word = event_head(e);
	struct track *t = &p->tracks[p->track];
	struct kind *k = t->kind->next;
	if ((k->head | t->thread) != word)
		at = put_given(p, word, NULL, at, &codes, &k);
	t->kind->next = k;
	t->kind = k;
	at = tape_put_operands(p, t, k, e->target, e->aux, false, at, &codes);
	*first = (uint8_t)codes;
	if (e->op == OP_ENTER) {
		at = tape_put_number(at, tape_zigzag(context - k->context));
		k->context = context;
	}
	t->context = context;
	return at;
}

/* Accesses of the thread of the event before, whose kinds occurred before; moves *from behind
 * them. `contexts`: to be looked at for each, or NULL. */
static inline __attribute__((always_inline)) uint8_t *
put_row(struct tape *p, const struct event *events, uint32_t *from, uint32_t count,
        const uint32_t *contexts, uint8_t *at)
{
	struct tape_row r;
	uint32_t i = *from;
	row_begin(&r, p, at, events[i].thread);
	for (; i < count; i++) {
		uint64_t head = event_head(&events[i]) - r.track.thread;
		if ((contexts && contexts[i] != r.track.context) ||
		    !row_put(&r, head, events[i].target, events[i].aux, false))
			break;
	}
	row_end(&r);
	*from = i;
	return r.at;
}

/* (Functions of their own: their state is in registers.) */
static __attribute__((noinline)) uint8_t *put_stacked_row(struct tape *p,
                                                          const struct event *events,
                                                          uint32_t *from, uint32_t count,
                                                          const uint32_t *contexts, uint8_t *at)
{
	return put_row(p, events, from, count, contexts, at);
}

static __attribute__((noinline)) uint8_t *put_plain_row(struct tape *p,
                                                        const struct event *events,
                                                        uint32_t *from, uint32_t count,
                                                        uint8_t *at)
{
	return put_row(p, events, from, count, NULL, at);
}

uint8_t *tape_put(struct tape *p, const struct event *events, uint32_t count,
                  const struct tape_stacks *stacks, uint8_t *at)
{
	for (uint32_t i = 0; i < count;) {
		at = stacks->of ? put_stacked_row(p, events, &i, count, stacks->of, at)
		                : put_plain_row(p, events, &i, count, at);
		if (i == count)
			break;
		at = tape_put_event(p, &events[i], stacks->of ? &stacks->of[i] : NULL, stacks,
		                    at);
		i++;
	}
	return at;
}

/* -- decoding ------------------------------------------------------------------------------ */

static __attribute__((noinline)) const uint8_t *get_long_number(const uint8_t *at,
                                                                uint32_t *number)
{
	uint32_t n = 0;
	for (unsigned shift = 0; shift < 35; shift += 7) {
		n |= (uint32_t)(*at & 0x7f) << shift;
		if (!(*at++ & 0x80))
			break;
	}
	*number = n;
	return at;
}

/* Most numbers have one byte or two, unpredictably: so these take no branch. */
static inline __attribute__((always_inline)) const uint8_t *get_number(const uint8_t *at,
                                                                       uint32_t *number)
{
	uint16_t word;
	memcpy(&word, at, sizeof word);
	uint32_t more = word >> 7 & 1;
	*number = (word & 0x7f) | (word >> 1 & 0x3f80 & -more);
	if (G_LIKELY((word & 0x8080) != 0x8080))
		return at + 1 + more;
	return get_long_number(at, number);
}

struct decoding {
	struct tape *p;
	bool stacks;
	uint32_t track;
	struct kind *kind;
};

static const uint8_t *get_track(struct decoding *d, const uint8_t *at)
{
	struct tape *p = d->p;
	at = get_number(at, &d->track);
	if (d->track < p->track_count)
		return at;
	if (d->track > p->track_count || d->track == TAPE_BLOCK)
		return NULL;
	uint32_t thread;
	at = get_number(at, &thread);
	p->tracks[p->track_count++] =
	        (struct track){ .kind = p->kinds, .thread = thread & THREAD_BITS };
	return at;
}

static const uint8_t *get_kind(struct decoding *d, const uint8_t *at)
{
	struct tape *p = d->p;
	uint32_t number, location;
	uint16_t what;
	at = get_number(at, &number);
	if (number == KIND_CONTEXT && d->stacks) {
		at = get_number(at, &p->tracks[d->track].context);
		at = get_number(at, &number);
	}
	if (number > KINDS_FROM) {
		d->kind = &p->kinds[MIN(number - KINDS_FROM, TAPE_BLOCK)];
		return number - KINDS_FROM < p->kind_count ? at : NULL;
	}
	if (number != KIND_NEW || p->kind_count > TAPE_BLOCK)
		return NULL;
	memcpy(&what, at, sizeof what);
	at = get_number(at + sizeof what, &location);
	d->kind = kind_new(p, (uint64_t)what << 48 | (uint64_t)(location & ((1u << 28) - 1))
	                                                     << 20);
	return at;
}

/* Decodes the thread and the kind of an event; NULL: malformed. */
static const uint8_t *get_head(struct decoding *d, unsigned codes, const uint8_t *at)
{
	if (codes & OTHER_THREAD && (at = get_track(d, at)) == NULL)
		return NULL;
	if (codes & KIND_GIVEN)
		return get_kind(d, at);
	d->kind = d->p->tracks[d->track].kind->next;
	return d->kind == d->p->kinds ? NULL : at;
}

/* The distances of an event by its codes: masks of both in the bytes that follow, the second
 * shifted there; the number of bytes of both (target_bytes, value_bytes). */
struct distances {
	uint32_t target, value;
	uint8_t shift, bytes;
};
#define MASK(bytes) ((uint32_t)((UINT64_C(1) << 8 * (bytes)) - 1))
#define BOTH(t, v) \
	{ \
		MASK(t), MASK(v), 8 * (t), (t) + (v) \
	}
#define EACH_TARGET(v) \
	BOTH(0, v), BOTH(0, v), BOTH(1, v), BOTH(2, v), BOTH(4, v), BOTH(0, v), BOTH(0, v), \
	        BOTH(0, v)
static const struct distances distances_of[TARGET_CODES * VALUE_CODES] = {
	EACH_TARGET(0), EACH_TARGET(0), EACH_TARGET(0), EACH_TARGET(0),
	EACH_TARGET(1), EACH_TARGET(2), EACH_TARGET(4), EACH_TARGET(0),
};

/* The two distances of an event, which begin at *at; moves it behind them. */
static inline __attribute__((always_inline)) void
get_distances(const uint8_t **at, unsigned codes, uint32_t *target, uint32_t *value)
{
	const struct distances *of = &distances_of[codes >> TARGET_SHIFT];
	uint64_t word;
	memcpy(&word, *at, sizeof word);
	*at += of->bytes;
	*target = unzigzag((uint32_t)word & of->target);
	*value = unzigzag((uint32_t)(word >> of->shift) & of->value);
}

/* Decodes operand and value of an event of that kind from its codes and updates the
 * predictions. Few branches depend on the codes, which the processor cannot predict. */
static inline __attribute__((always_inline)) const uint8_t *
get_operands(struct tape *p, struct track *t, struct kind *k, unsigned codes, const uint8_t *at,
             uint32_t *to_target, uint32_t *to_value)
{
	unsigned target_code = codes >> TARGET_SHIFT & (TARGET_CODES - 1);
	unsigned value_code = codes >> VALUE_SHIFT;
	uint32_t distance, moved;
	get_distances(&at, codes, &distance, &moved);
	distance = target_code == TARGET_STRIDE ? k->stride : distance;
	uint32_t target = (target_code == TARGET_THREAD ? t->target : k->target) + distance;
	uint32_t *memory = tape_remembered(p, target), value = k->value + moved;
	value = value_code == VALUE_STEP ? tape_next_value(k) : value;
	value = value_code == VALUE_FRESH ? p->fresh : value;
	value = value_code == VALUE_LAST ? t->last : value;
	value = value_code == VALUE_BEFORE ? t->before : value;
	value = value_code == VALUE_REMEMBERED ? *memory : value;
	*memory = value;
	learn(p, t, k, target, value);
	*to_target = target;
	*to_value = value;
	return at;
}

/* False: the place does not exist. */
static inline __attribute__((always_inline)) bool put_read(const struct tape_places *places,
                                                           bool access, uint32_t target,
                                                           uint32_t value, uint64_t word,
                                                           struct event *e)
{
	if (places->at && access) {
		if (G_UNLIKELY(target >= places->count))
			return false;
		target = places->at[target];
		word |= (uint64_t)(target & PLACE_WIDE ? EVENT_WIDE : 0) << 56;
		target &= ~PLACE_WIDE;
	}
	uint64_t first = target | (uint64_t)value << 32;
	memcpy(e, &first, sizeof first);
	memcpy((char *)e + 8, &word, sizeof word);
	return true;
}

/* One event without its call stack; NULL: malformed. */
static const uint8_t *get_event(struct decoding *d, const uint8_t *at,
                                const struct tape_places *places, struct event *e)
{
	struct tape *p = d->p;
	unsigned codes = *at;
	at = get_head(d, codes, at + 1);
	if (G_UNLIKELY(at == NULL))
		return NULL;
	struct track *t = &p->tracks[d->track];
	struct kind *k = d->kind;
	uint32_t target, value;
	t->kind->next = k;
	t->kind = k;
	at = get_operands(p, t, k, codes, at, &target, &value);
	return put_read(places, k->access != NO_ACCESS, target, value, k->head | t->thread, e)
	               ? at
	               : NULL;
}

/* Decodes accesses by the previous event's thread whose kinds are predicted, from *from on,
 * and moves it behind them. NULL: malformed. */
static const uint8_t *get_foreseen(struct decoding *d, const uint8_t *at, const uint8_t *end,
                                   const struct tape_places *places, uint32_t *from,
                                   uint32_t count, struct event *events, uint32_t *contexts)
{
	struct tape *p = d->p;
	struct track t = p->tracks[d->track];
	uint32_t i = *from;
	for (; i < count && at < end; i++) {
		uint32_t target, value;
		struct kind *k = t.kind->next;
		unsigned codes = *at;
		if ((codes & (KIND_GIVEN | OTHER_THREAD)) || k->access == NO_ACCESS)
			break;
		at = get_operands(p, &t, k, codes, at + 1, &target, &value);
		t.kind = k;
		if (!put_read(places, true, target, value, k->head | t.thread, &events[i]))
			return NULL;
		if (contexts)
			contexts[i] = t.context;
	}
	p->tracks[d->track] = t;
	*from = i;
	return at;
}

/* Decodes the context of the last event. */
static const uint8_t *get_context(struct decoding *d, const uint8_t *at,
                                  const struct tape_stacks *stacks, uint32_t *context)
{
	struct track *t = &d->p->tracks[d->track];
	struct kind *k = d->kind;
	if (op_of_head(k->head) == OP_ENTER) {
		uint32_t moved;
		at = get_number(at, &moved);
		t->context = k->context += unzigzag(moved);
	}
	*context = t->context;
	t->context = context_after(stacks, k->head, t->context);
	return at;
}

bool tape_decode(struct tape *p, const uint8_t *bytes, size_t length,
                 const struct tape_places *places, uint32_t count, struct event *events,
                 const struct tape_stacks *stacks)
{
	const uint8_t *at, *end = bytes + length;
	struct decoding d = { .p = p, .stacks = stacks->of != NULL };
	uint32_t fresh;
	at = get_number(bytes, &fresh);
	begin_block(p, fresh);
	if (count > 0 && (at >= end || !(*at & OTHER_THREAD)))
		return false;
	for (uint32_t i = 0, from; i < count;) {
		from = i;
		if (G_UNLIKELY(at >= end))
			return false;
		if (!(*at & (KIND_GIVEN | OTHER_THREAD)))
			at = get_foreseen(&d, at, end, places, &i, count, events, stacks->of);
		if (i == from && at != NULL)
			at = get_event(&d, at, places, &events[i]);
		if (G_UNLIKELY(at == NULL))
			return false;
		if (i != from)
			continue;
		if (stacks->of != NULL)
			at = get_context(&d, at, stacks, &stacks->of[i]);
		i++;
	}
	return at == end;
}
