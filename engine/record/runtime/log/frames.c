/*
 * frames.c - the call stack in the log: frames are written at the first event in them, as a
 * number of frames left and then those entered (LOG_LEAVE, LOG_ENTER).
 */
#include "access.h"

/*
 * The beginning of the frame in LOG_FRAME_UNITs: above the slot of its return address, which
 * is searched upwards from the hook's frame, first `hint` words on, where it was last time. 0
 * when it is not found within a few pages.
 */
static uint64_t frame_begin(const struct thread *t, const struct frame *f, uint16_t *hint)
{
	enum { WORDS = 1024 };
	const uintptr_t *word = (const uintptr_t *)f->sp + 2; /* above the hook's own two */
	const uintptr_t *end = (const uintptr_t *)t->life.stack_high;
	uint64_t i = *hint;
	if (f->sp < t->life.stack_low || f->sp >= t->life.stack_high)
		return 0; /* another stack: a signal's, a coroutine's */
	if (word + i + 1 >= end || word[i] != f->call)
		for (i = 0; i < WORDS && word + i + 1 < end && word[i] != f->call;)
			i++;
	if (i >= WORDS || word + i + 1 >= end)
		return 0;
	*hint = i;
	uintptr_t units = ((t->life.stack_high & ~(uintptr_t)(LOG_FRAME_UNIT - 1)) -
	                   (uintptr_t)(word + i + 1)) /
	                  LOG_FRAME_UNIT;
	return units + 1 <= LOG_FRAME_LIMIT ? units + 1 : 0;
}

uint64_t frame_word(const struct thread *t, const struct frame *f)
{
	enum { BITS = 10 };
	static uint16_t hints[1 << BITS];
	uint16_t *hint = &hints[f->call * HASH_FACTOR >> (64 - BITS)];
	uint64_t begin = f->function < LOG_CALL_COUNT ? 0 : frame_begin(t, f, hint);
	return log_frame_word(f->function, begin);
}

void frame_settle(struct thread *t, uint32_t i)
{
	struct frame *f = &t->frames[i];
	if (f->call < rt.own_low || f->call >= rt.own_high)
		return;
	if (unlikely(t->calls.from != 0))
		f->call = t->calls.from;
	else if (unlikely(f[-1].function == LOG_CALL_signal)) /* for the place interrupted */
		f->call = f[-1].call;
}

/* Record that the thread leaves `left` frames and then enters f. */
static void log_enter(struct thread *t, const struct frame *f, uint32_t left)
{
	struct stream *s = t->stream;
	uint64_t *w = log_room(s, 3);
	uint64_t key = log_word(LOG_ENTER, 0, f->call & LOG_ADDRESS_MASK);
	unsigned slot = log_site_slot(key);
	struct log_site *site = &s->sites->at[slot];
	bool same = site->key == key;
	if (!same)
		s->hints[slot] = 0;
	uint64_t begin = f->function < LOG_CALL_COUNT ? 0 : frame_begin(t, f, &s->hints[slot]);
	/* Function and beginning in one word, in place of the address: the site's value,
	 * which the reader keeps, does not change. */
	uint64_t now = log_frame_word(f->function, begin), was = site->address;
	same = same && !((now ^ was) & LOG_ADDRESS_MASK);
	if (same && t->epoch && now == was && left <= LOG_HALF_MOST) {
		log_half(s, slot, left);
	} else if (same) {
		uint64_t moved = log_delta_field(begin - log_frame_begin(was));
		w[0] = log_short(slot, LOG_DELTA_LOWEST + moved, left);
		s->next = w + 1;
	} else {
		if (left > 0) {
			*w++ = log_word(LOG_LEAVE, 0, left);
			s->sites->at[log_site_slot(LOG_LEAVE)].key = LOG_LEAVE;
		}
		w[1] = now;
		BARRIER();
		w[0] = key;
		s->next = w + 2;
	}
	site->key = key;
	site->address = now;
}

static void log_leave(struct thread *t, uint32_t left)
{
	struct stream *s = t->stream;
	uint64_t *w = log_room(s, 1);
	unsigned slot = log_site_slot(LOG_LEAVE);
	if (t->epoch && s->sites->at[slot].key == LOG_LEAVE && left <= LOG_HALF_MOST) {
		log_half(s, slot, left);
		return;
	}
	w[0] = log_word(LOG_LEAVE, 0, left);
	s->next = w + 1;
	s->sites->at[slot].key = LOG_LEAVE;
}

/* Bring the log's idea of t's call stack up to date: see struct thread. */
void log_frames(struct thread *t)
{
	uint32_t low = t->low < t->depth ? t->low : t->depth;
	uint32_t left = low < t->emitted ? t->emitted - low : 0;
	uint32_t depth = t->depth < MAX_FRAMES ? t->depth : MAX_FRAMES;
	t->todo &= ~TODO_FRAMES;
	t->emitted -= left;
	bool settle = left > 0 && unlikely(t->emitted < t->resume_below);
	if (left > 0 && (t->emitted >= depth || settle)) {
		log_leave(t, left);
		left = 0;
		if (settle)
			missing_settle(t);
	}
	for (; t->emitted < depth; left = 0) {
		if (unlikely(t->emitted == t->callback_at))
			missing_callback(t);
		frame_settle(t, t->emitted);
		log_enter(t, &t->frames[t->emitted++], left);
	}
	t->low = t->emitted;
}

void log_shown(struct thread *t)
{
	log_turn(t);
	log_frames(t);
}

void log_no_frames(struct thread *t)
{
	if (t->emitted > 0)
		log_leave(t, t->emitted);
	t->emitted = t->low = 0;
}

void frame_enter(struct thread *t, enum log_call call, uintptr_t pc, bool now)
{
	if (t->depth < t->low)
		t->low = t->depth;
	if (t->depth < MAX_FRAMES) {
		struct frame *f = &t->frames[t->depth];
		*f = (struct frame){ .call = pc,
			             .function = call,
			             .sp = (uintptr_t)__builtin_frame_address(0),
			             .context = rt.shadow
			                                ? 0
			                                : context_of(f[-1].context, pc, call) };
	}
	t->depth++;
	context_renew(t);
	t->todo |= TODO_FRAMES;
	if (now)
		log_before(t);
}

void frame_leave(struct thread *t)
{
	log_value(t);
	if (t->depth > 0)
		t->depth--;
	if (t->depth < t->low)
		t->low = t->depth;
	t->todo |= TODO_FRAMES;
	context_renew(t);
}
