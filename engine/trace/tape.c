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
#include "engine/base/hash.h"
#include "engine/trace/tape.h"
#include "engine/trace/builder.h"

#include <string.h>

enum kind_code { KIND_FORESEEN = 0, KIND_GIVEN = 1, OTHER_THREAD = 2 /* a bit */ };
/* The number of a given kind, below the dictionary's (plus KINDS_FROM). */
enum { KIND_CONTEXT, KIND_NEW, KINDS_FROM };

enum target_code {
	TARGET_SAME,
	TARGET_STRIDE,
	TARGET_BYTE,
	TARGET_TWO,
	TARGET_FOUR,
	TARGET_THREAD,
	TARGET_CODES = 8 /* the last two are not used */
};
enum value_code {
	VALUE_REMEMBERED,
	VALUE_LAST,
	VALUE_BEFORE,
	VALUE_STEP,
	VALUE_BYTE,
	VALUE_TWO,
	VALUE_FOUR,
	VALUE_FRESH,
	VALUE_CODES
};

enum { TARGET_SHIFT = 2, VALUE_SHIFT = 5, MEMORY_BITS = 13, SLOTS = 1 << 14 };

/* By code: number of bytes that follow, for the distance. */
static const uint8_t target_bytes[TARGET_CODES] = { 0, 0, 1, 2, 4, 0, 0, 0 };
static const uint8_t value_bytes[VALUE_CODES] = { 0, 0, 0, 0, 1, 2, 4, 0 };

/* (The fields that each event changes are not adjacent: compilers would collect adjacent ones
 * in a vector to store them, which takes longer.) */
struct kind {
	uint64_t head;   /* the event's second word, with thread 0 */
	uint64_t access; /* the second word of an access; else NO_ACCESS */
	uint32_t target;
	uint32_t next; /* kind that followed it */
	uint32_t value, context, stride, step;
};
#define NO_ACCESS UINT64_MAX

struct track { /* a thread in the block */
	uint32_t thread, kind, target, last, before, context;
};

struct tape {
	struct kind *kinds;   /* TAPE_BLOCK + 1; 0 is none */
	struct track *tracks; /* TAPE_BLOCK */
	uint32_t kind_count, track_count;
	uint32_t fresh;                    /* interned values up to here have occurred */
	uint32_t memory[1 << MEMORY_BITS]; /* by hash of a target: the value last seen there */
	/* Encoder: index of a head's kind, of a thread's track. An entry may be stale:
	 * compare the kind or track it refers to. */
	uint32_t kind_slots[SLOTS], track_slots[SLOTS];
	uint32_t track; /* encoder: track of the previous event */
};

struct tape *tape_new(void)
{
	struct tape *p = g_new0(struct tape, 1);
	p->kinds = g_new0(struct kind, TAPE_BLOCK + 1);
	p->tracks = g_new0(struct track, TAPE_BLOCK);
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
	p->kinds[0] = (struct kind){ .access = NO_ACCESS };
	p->track_count = 0;
	p->tracks[0] = (struct track){ 0 };
	p->fresh = fresh;
	memset(p->memory, 0, sizeof p->memory);
}

static inline uint32_t *remembered(struct tape *p, uint32_t target)
{
	return &p->memory[target * UINT32_C(0x9e3779b1) >> (32 - MEMORY_BITS)];
}

static inline enum op op_of_head(uint64_t head)
{
	return (enum op)(head >> 48 & 0xff);
}

#define THREAD_BITS ((UINT64_C(1) << 20) - 1)

static struct kind kind_new(uint64_t head)
{
	return (struct kind){ .head = head,
		              .access = op_is_access(op_of_head(head)) ? head : NO_ACCESS };
}

/* Updates predictions by an event's value, in encoder and decoder alike. Nearly all values
 * take the same branches: not 0, and small integers or known. */
static inline void learn_value(struct tape *p, struct track *t, struct kind *k, uint32_t value)
{
	k->step = value - k->value;
	k->value = value;
	if (G_LIKELY(value)) {
		t->before = t->last;
		t->last = value;
	}
	/* as signed numbers, small integers (VALUE_INTEGER) are below */
	if (G_UNLIKELY((int32_t)value >= (int32_t)p->fresh))
		p->fresh = value + 1;
}

/* Decoder: updates predictions after an event. */
static inline void learn(struct tape *p, struct track *t, struct kind *k, uint32_t target,
                         uint32_t value)
{
	uint32_t moved = target - k->target;
	k->stride = moved ? moved : k->stride;
	k->target = target;
	t->target = target;
	learn_value(p, t, k, value);
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

static inline uint32_t zigzag(uint32_t distance)
{
	return distance << 1 ^ (distance >> 31 ? UINT32_MAX : 0);
}
static inline uint32_t unzigzag(uint32_t coded)
{
	return coded >> 1 ^ (coded & 1 ? UINT32_MAX : 0);
}

static uint8_t *put_number(uint8_t *at, uint32_t number)
{
	for (; number >= 0x80; number >>= 7)
		*at++ = (uint8_t)(number | 0x80);
	*at++ = (uint8_t)number;
	return at;
}

static inline unsigned bytes_of(uint32_t coded)
{
	return (coded > 0xff) + (coded > 0xffff); /* added to the code of one byte */
}

static inline uint8_t *put_bytes(uint8_t *at, uint32_t coded, unsigned bytes)
{
	memcpy(at, &coded, sizeof coded); /* the byte order is that of the file */
	return at + bytes;
}

static uint32_t track_of(struct tape *p, uint32_t thread, bool *is_new)
{
	uint32_t *slot = &p->track_slots[thread % SLOTS];
	*is_new = *slot >= p->track_count || p->tracks[*slot].thread != thread;
	if (*is_new) { /* or evicted by a thread with the same slot: the thread gets a second
		        * track */
		*slot = p->track_count++;
		p->tracks[*slot] = (struct track){ .thread = thread };
	}
	return *slot;
}

static inline uint32_t kind_slot(uint64_t head)
{
	return (uint32_t)(head * HASH_FACTOR >> 32) % SLOTS;
}

static uint32_t kind_of(struct tape *p, uint64_t head, bool *is_new)
{
	uint32_t *slot = &p->kind_slots[kind_slot(head)];
	*is_new = *slot == 0 || *slot >= p->kind_count || p->kinds[*slot].head != head;
	if (*is_new) {
		*slot = p->kind_count++;
		p->kinds[*slot] = kind_new(head);
	}
	return *slot;
}

static inline enum value_code value_code_of(const struct tape *p, const struct track *t,
                                            const struct kind *k, uint32_t value,
                                            uint32_t *coded)
{
	if (value == k->value + k->step)
		return VALUE_STEP;
	if (value == t->last)
		return VALUE_LAST;
	if (value == t->before)
		return VALUE_BEFORE;
	if (value == p->fresh)
		return VALUE_FRESH;
	*coded = zigzag(value - k->value);
	return VALUE_BYTE + bytes_of(*coded);
}

static inline enum target_code target_code_of(const struct track *t, const struct kind *k,
                                              uint32_t target, uint32_t moved, uint32_t *coded)
{
	if (moved == k->stride)
		return TARGET_STRIDE;
	if (target == t->target)
		return TARGET_THREAD;
	*coded = zigzag(moved);
	return TARGET_BYTE + bytes_of(*coded);
}

struct encoding {
	struct tape *p;
	const struct tape_stacks *stacks;
	uint32_t track, kind; /* of the previous event; then of this one */
};

/* Encodes the thread and the kind of an event where they are not predicted; returns the
 * kind's code. */
static uint8_t *put_given(struct encoding *n, uint64_t word, uint32_t context, uint8_t *at,
                          unsigned *code)
{
	struct tape *p = n->p;
	uint32_t thread = (uint32_t)(word & THREAD_BITS);
	uint64_t head = word & ~THREAD_BITS;
	bool is_new;
	*code = 0;
	if (p->track_count == 0 || p->tracks[n->track].thread != thread) {
		*code |= OTHER_THREAD;
		n->track = track_of(p, thread, &is_new);
		at = put_number(at, n->track);
		at = is_new ? put_number(at, thread) : at;
	}
	struct track *t = &p->tracks[n->track];
	bool moved = n->stacks->of && op_of_head(head) != OP_ENTER && t->context != context;
	uint32_t next = p->kinds[t->kind].next;
	if (next != 0 && p->kinds[next].head == head && !moved) {
		n->kind = next;
		return at;
	}
	*code |= KIND_GIVEN;
	if (moved)
		at = put_number(put_number(at, KIND_CONTEXT), context);
	n->kind = kind_of(p, head, &is_new);
	if (!is_new)
		return put_number(at, KINDS_FROM + n->kind);
	at = put_number(at, KIND_NEW);
	at = put_bytes(at, (uint32_t)(head >> 48), 2);
	return put_number(at, (uint32_t)(head >> 20) & ((1u << 28) - 1));
}

static inline uint8_t *put_kind(struct encoding *n, uint64_t word, uint32_t context,
                                uint8_t *at, unsigned *code)
{
	const struct tape *p = n->p;
	const struct track *t = &p->tracks[n->track];
	uint32_t next = p->kinds[t->kind].next;
	if (G_LIKELY(next != 0 && (p->kinds[next].head | t->thread) == word &&
	             (n->stacks->of == NULL || t->context == context))) {
		n->kind = next;
		*code = KIND_FORESEEN;
		return at;
	}
	return put_given(n, word, context, at, code);
}

uint8_t *tape_begin(struct tape *p, uint8_t *bytes)
{
	uint32_t fresh = p->fresh;
	begin_block(p, fresh);
	p->track = 0;
	return put_number(bytes, fresh);
}

/* Encodes operand and value of an event of that kind and updates the predictions; *codes are
 * its codes. */
static inline __attribute__((always_inline)) uint8_t *
put_operands(struct tape *p, struct track *t, struct kind *k, uint32_t target, uint32_t value,
             uint8_t *at, unsigned *codes)
{
	uint32_t coded = 0, *memory = remembered(p, target), moved = target - k->target;
	enum target_code target_code = TARGET_SAME;
	enum value_code value_code = VALUE_REMEMBERED;
	if (moved) {
		target_code = target_code_of(t, k, target, moved, &coded);
		at = put_bytes(at, coded, target_bytes[target_code]);
		k->stride = moved;
		k->target = target;
	}
	t->target = target;
	if (value != *memory) {
		value_code = value_code_of(p, t, k, value, &coded);
		at = put_bytes(at, coded, value_bytes[value_code]);
		*memory = value;
	}
	*codes = (unsigned)target_code << TARGET_SHIFT | (unsigned)value_code << VALUE_SHIFT;
	learn_value(p, t, k, value);
	return at;
}

/* The kind of an access by a thread, of the block's so far; or NULL. */
static inline struct kind *known_access(struct tape *p, uint64_t word, uint32_t thread)
{
	uint64_t head = word & ~THREAD_BITS;
	uint32_t slot = p->kind_slots[kind_slot(head)];
	return (word & THREAD_BITS) == thread && slot < p->kind_count &&
	                       p->kinds[slot].access == head
	               ? &p->kinds[slot]
	               : NULL;
}

/* Accesses of the thread of the event before, in the same call, whose kinds occurred before;
 * moves *from behind them. `contexts`: to be looked at for each, or NULL. */
static inline __attribute__((always_inline)) uint8_t *
put_row(struct tape *p, uint32_t track, const struct event *events, uint32_t *from,
        uint32_t count, const uint32_t *contexts, uint8_t *at)
{
	struct track t = p->tracks[track];
	struct kind *kinds = p->kinds, *last = &kinds[t.kind];
	const struct event *e = &events[*from], *end = &events[count];
	for (; e < end; e++) {
		struct kind *k = &kinds[last->next];
		unsigned kind_code = KIND_FORESEEN, codes;
		uint64_t word = event_head(e);
		uint8_t *first = at;
		if (contexts && contexts[e - events] != t.context)
			break;
		at++;
		if (G_UNLIKELY((k->access | t.thread) != word)) {
			if ((k = known_access(p, word, t.thread)) == NULL) {
				at = first;
				break;
			}
			last->next = (uint32_t)(k - kinds);
			at = put_number(at, KINDS_FROM + last->next);
			kind_code = KIND_GIVEN;
		}
		at = put_operands(p, &t, k, e->target, e->aux, at, &codes);
		*first = (uint8_t)(kind_code | codes);
		last = k;
	}
	t.kind = (uint32_t)(last - kinds);
	p->tracks[track] = t;
	*from = (uint32_t)(e - events);
	return at;
}

/* (Functions of their own: their state is in registers.) */
static __attribute__((noinline)) uint8_t *put_checked_row(struct tape *p, uint32_t track,
                                                          const struct event *events,
                                                          uint32_t *from, uint32_t count,
                                                          const uint32_t *contexts, uint8_t *at)
{
	return put_row(p, track, events, from, count, contexts, at);
}

static __attribute__((noinline)) uint8_t *put_plain_row(struct tape *p, uint32_t track,
                                                        const struct event *events,
                                                        uint32_t *from, uint32_t count,
                                                        uint8_t *at)
{
	return put_row(p, track, events, from, count, NULL, at);
}

static uint8_t *put_accesses(struct tape *p, uint32_t track, const struct event *events,
                             uint32_t *from, uint32_t count, const struct tape_stacks *stacks,
                             uint8_t *at)
{
	/* By calls alone, the track has the context of the thread's next event. */
	return stacks->of && !stacks->by_calls
	               ? put_checked_row(p, track, events, from, count, stacks->of, at)
	               : put_plain_row(p, track, events, from, count, at);
}

/* Any event. */
static uint8_t *put_event(struct encoding *n, const struct event *e, uint32_t context,
                          uint8_t *at)
{
	struct tape *p = n->p;
	uint8_t *first = at;
	unsigned kind_code, codes;
	at = put_kind(n, event_head(e), context, at + 1, &kind_code);
	struct track *t = &p->tracks[n->track];
	struct kind *k = &p->kinds[n->kind];
	p->kinds[t->kind].next = n->kind;
	t->kind = n->kind;
	at = put_operands(p, t, k, e->target, e->aux, at, &codes);
	*first = (uint8_t)(kind_code | codes);
	if (n->stacks->of == NULL)
		return at;
	if (op_of_head(k->head) == OP_ENTER) {
		at = put_number(at, zigzag(context - k->context));
		k->context = context;
	}
	t->context = context_after(n->stacks, k->head, context);
	return at;
}

uint8_t *tape_put(struct tape *p, const struct event *events, uint32_t count,
                  const struct tape_stacks *stacks, uint8_t *at)
{
	struct encoding n = { p, stacks, p->track, 0 };
	for (uint32_t i = 0; i < count;) {
		if (p->track_count)
			at = put_accesses(p, n.track, events, &i, count, stacks, at);
		if (i == count)
			break;
		at = put_event(&n, &events[i], stacks->of ? stacks->of[i] : 0, at);
		i++;
	}
	p->track = n.track;
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
	uint32_t track, kind;
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
	p->tracks[p->track_count++] = (struct track){ .thread = thread & THREAD_BITS };
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
	d->kind = number - KINDS_FROM;
	if (number > KINDS_FROM)
		return d->kind < p->kind_count ? at : NULL;
	if (number != KIND_NEW || p->kind_count > TAPE_BLOCK)
		return NULL;
	memcpy(&what, at, sizeof what);
	at = get_number(at + sizeof what, &location);
	d->kind = p->kind_count++;
	p->kinds[d->kind] =
	        kind_new((uint64_t)what << 48 | (uint64_t)(location & ((1u << 28) - 1)) << 20);
	return at;
}

/* Decodes the thread and the kind of an event; NULL: malformed. */
static const uint8_t *get_head(struct decoding *d, unsigned codes, const uint8_t *at)
{
	if (codes & OTHER_THREAD && (at = get_track(d, at)) == NULL)
		return NULL;
	if (codes & KIND_GIVEN)
		return get_kind(d, at);
	d->kind = d->p->kinds[d->p->tracks[d->track].kind].next;
	return d->kind == 0 ? NULL : at;
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
	uint32_t *memory = remembered(p, target), value = k->value + moved;
	value = value_code == VALUE_STEP ? k->value + k->step : value;
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
	struct kind *k = &p->kinds[d->kind];
	uint32_t target, value;
	p->kinds[t->kind].next = d->kind;
	t->kind = d->kind;
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
		uint32_t next = p->kinds[t.kind].next, target, value;
		struct kind *k = &p->kinds[next];
		unsigned codes = *at;
		if ((codes & (KIND_GIVEN | OTHER_THREAD)) || k->access == NO_ACCESS)
			break;
		at = get_operands(p, &t, k, codes, at + 1, &target, &value);
		t.kind = next;
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
	struct kind *k = &d->p->kinds[d->kind];
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
