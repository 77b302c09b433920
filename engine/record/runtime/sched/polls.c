/*
 * polls.c - threads that wait by looking at atomics again and again.
 *
 * Such a thread sees nothing new until another thread writes there, so the scheduler lets
 * others run first, and where only such threads can run each looks many times before it gives
 * way (sched_strategy.c). What it saw is written compactly: a read by the same instruction,
 * in the same frames, of the same place, with the same value, when nothing at all has been
 * recorded since its last one, is not written but counted (LOG_REPEAT). Every correct
 * reordering of the trace stays one with the repetitions in it, each right after the read
 * that it repeats; so each finding in the shorter trace is one in the longer. Replay makes as
 * many again.
 *
 * The choice of the next thread is elsewhere (sched_strategy.c).
 */
#include <string.h>

#include "engine/record/runtime/core/rt.h"

/* How often each atomic was written, by a hash of its address. */
static uint32_t written[256];

static unsigned hash(const volatile void *p)
{
	return (uint32_t)((uintptr_t)p >> 2) * 0x9e3779b1u >> 24;
}

static uint64_t changes;

uint64_t poll_changes(void)
{
	return changes;
}

void poll_changed(void)
{
	changes++;
}

void poll_wrote(const volatile void *p)
{
	written[hash(p)]++;
	poll_changed();
}

static uint64_t worked(const struct thread *t)
{
	return t->counted + (uint64_t)(t->drawn - t->budget);
}

bool poll_spins(struct thread *t)
{
	enum { LITTLE = 40 }; /* accesses between two looks, by the budget's count */
	if (worked(t) - t->poll.worked > LITTLE)
		t->poll.spins = 0;
	return t->poll.spins >= SPIN_LIMIT;
}

/* With --filter: the thread has for a while only repeated its earlier accesses. */
static void settle_unseen(struct thread *t)
{
	enum { LONG = 200 }; /* accesses */
	struct poll *l = &t->poll;
	bool looks = !t->covered_epoch || t->looked_or == t->looked_and; /* at one place */
	t->looked_or = 0;
	t->looked_and = UINT64_MAX;
	if (l->filtered_at != t->stream->next || l->unwritten || !looks) {
		l->filtered_at = t->stream->next;
		l->unwritten = 0;
		l->filtered = t->counted;
	} else if (t->counted - l->filtered >= LONG) {
		l->spins = SPIN_LIMIT;
		l->worked = worked(t);
	}
}

/*
 * At a scheduling point: handles looks at a plain variable (volatile, or not optimised),
 * whose reads are too cheap to check after each. When the log ends in reads of one value
 * only, they become one with its repetitions.
 */
void poll_settle(struct thread *t)
{
	enum { MANY = 8 };
	struct stream *s = t->stream;
	if (t->epoch) {
		settle_unseen(t);
		return;
	}
	uint64_t *w = s->next, *first = w;
	if (!s->chunk || s->last != t->id || t->todo & TODO_VALUE)
		return;
	unsigned slot = log_short_slot(w[-1]);
	uint64_t same =
	        log_short(slot, LOG_DELTA_LOWEST + log_delta_field(0), log_offset_field(0));
	if (w[-1] != same)
		return;
	uint64_t key = s->sites->at[slot].key;
	if (log_word_tag(key) != LOG_READ || log_site_code(key) == LOG_RANGE)
		return;
	while (first[-1] == w[-1]) /* the chunk's head differs */
		first--;
	if (w - first < MANY)
		return;
	uint64_t repeats = (uint64_t)(w - first) - 1;
	for (uint64_t *to = first + 1; to < w; to++)
		*to = 0;
	first[1] = log_word(LOG_REPEAT, 0, repeats);
	s->next = first + 2;
	t->ordinal -= repeats;
	t->poll.spins = SPIN_LIMIT;
	t->poll.worked = worked(t);
}

/* Is the word a state of the thread (memory/state.c)? A thread that counts its rounds changes
 * state. */
static bool is_state(const uint64_t *word)
{
	return word[-1] == log_word(LOG_STATE, 0, 0);
}

/*
 * Do the accesses of some site move to another place `period` words later? A loop over an
 * array also ends the log in equal words, since these contain the distance from the site's
 * last place.
 */
static bool moves_on(const struct stream *s, size_t period)
{
	const uint64_t *end = s->next;
	for (const uint64_t *w = end - period; w < end; w++) {
		unsigned slot = log_short_slot(*w);
		uint64_t key = s->sites->at[slot].key, moved = 0;
		if (!(*w & LOG_SHORT) || log_word_tag(key) < LOG_READ ||
		    log_word_tag(key) > LOG_AWRITE)
			continue;
		for (const uint64_t *v = end - period; v < end; v++)
			if (*v & LOG_SHORT && log_short_slot(*v) == slot)
				moved += log_short_offset(*v);
		if (moved != 0)
			return true;
	}
	return false;
}

/*
 * A thread that waits by looking, under a lock or not, does the same again and again, and so
 * the log ends in the same words: operations, places and values.
 */
bool poll_cycles(struct thread *t)
{
	enum { LONGEST = 64, TIMES = 3 };
	const struct stream *s = t->stream;
	log_value(t);
	if (!s->chunk || s->last != t->id)
		return false;
	const uint64_t *end = s->next;
	size_t room = (size_t)(end - (const uint64_t *)s->chunk) - sizeof(struct log_chunk) / 8;
	for (size_t period = 1; period <= LONGEST && period * TIMES <= room; period++) {
		size_t same = 0;
		for (; same < period * (TIMES - 1); same++) {
			const uint64_t *a = end - 1 - same, *b = a - period;
			if (*a != *b && !(memory_states && is_state(a) && is_state(b)))
				break;
		}
		if (same == period * (TIMES - 1))
			return !moves_on(s, period);
	}
	return false;
}

/* A write between two looks, or between a look and the moment at which the thread gives way,
 * is news: it would wait for a thread that has already written otherwise. */
bool poll_waits(const struct thread *t)
{
	const struct poll *l = &t->poll;
	for (unsigned i = 0; l->spins >= SPIN_LIMIT && i < POLL_PLACES; i++)
		if (l->seen[i].place && l->seen[i].written != written[hash(l->seen[i].place)])
			return false;
	return l->spins >= SPIN_LIMIT;
}

/* Forgets places at which the thread has not looked for a while: they are not the loop's. */
static void forget_old_places(struct poll *l)
{
	enum { WHILE = 4 * POLL_PLACES };
	for (unsigned i = 0; i < POLL_PLACES; i++)
		if (l->looks - l->seen[i].look > WHILE)
			l->seen[i].place = NULL;
}

/* Is the thread, perhaps after returns and calls, in the frames of the last look? */
static bool same_frames(const struct thread *t)
{
	if (!(t->todo & TODO_FRAMES))
		return true;
	if (t->depth != t->emitted || t->depth > MAX_FRAMES || t->low + POLL_FRAMES < t->depth)
		return false;
	for (uint32_t i = t->low; i < t->depth; i++) {
		const struct frame *now = &t->frames[i],
		                   *then = &t->poll.frames[i % POLL_FRAMES];
		if (now->call != then->call || now->function != then->function ||
		    now->sp != then->sp)
			return false;
	}
	return true;
}

static uint64_t chunk_of(const struct stream *s)
{
	return s->chunk ? ((const struct log_chunk *)s->chunk)->sequence : UINT64_MAX;
}

/* Replay: does the plan repeat the last event, with no other thread in between? */
static bool planned(struct thread *t, const volatile void *p, uint64_t value, uintptr_t pc)
{
	struct poll *l = &t->poll;
	if (l->repeats == 0 || l->place != p || l->value != value || l->pc != pc)
		return false;
	l->repeats--;
	return true;
}

bool poll_again(struct thread *t, const volatile void *p, uint64_t value, uintptr_t pc)
{
	struct poll *l = &t->poll;
	struct stream *s = t->stream;
	if (rt.replay)
		return planned(t, p, value, pc);
	if (l->spins < SPIN_LIMIT || s->next != l->end || l->place != p || l->value != value ||
	    l->pc != pc || s->last != t->id || chunk_of(s) != l->chunk || !same_frames(t))
		return false;
	t->todo &= ~TODO_FRAMES;
	t->low = t->emitted;
	if (l->repeats++ == 0) {
		uint64_t *w = log_room(s, 1);
		*w = log_word(LOG_REPEAT, 0, 1);
		s->next = w + 1;
		l->end = s->next;
		l->chunk = chunk_of(s);
	} else {
		s->next[-1] += log_word(0, 0, 1);
	}
	return true;
}

/* Keeps the last look's record, which is the stream's last. */
void poll_remember(struct thread *t, const volatile void *p, uint64_t value, uintptr_t pc)
{
	struct poll *l = &t->poll;
	struct stream *s = t->stream;
	bool again = l->repeats > 0 && l->place == p && l->value == value && l->pc == pc &&
	             l->end == s->next && l->chunk == chunk_of(s);
	if (again && !rt.replay)
		return; /* the look was a repetition: the next one is counted with it */
	l->place = p;
	l->value = value;
	l->pc = pc;
	if (rt.replay)
		return; /* replay_event sets the number of repetitions */
	l->repeats = 0;
	bool counts = rt.controlled && s->chunk && looks_count();
	l->end = counts ? s->next : NULL;
	l->chunk = chunk_of(s);
	uint32_t depth = t->depth < MAX_FRAMES ? t->depth : MAX_FRAMES;
	for (uint32_t i = depth < POLL_FRAMES ? 0 : depth - POLL_FRAMES; i < depth; i++)
		l->frames[i % POLL_FRAMES] = t->frames[i];
}

void poll_look(struct thread *t, const volatile void *p, uint64_t value, uintptr_t pc)
{
	struct poll *l = &t->poll;
	unsigned i = hash(p) % POLL_PLACES;
	if (!rt.controlled)
		return;
	poll_spins(t);
	if (l->seen[i].place != p || l->seen[i].value != value)
		l->spins = 0;
	else if (++l->spins == SPIN_LIMIT)
		l->patience = 1;
	l->seen[i].place = p;
	l->seen[i].value = value;
	l->seen[i].written = written[hash(p)];
	l->seen[i].look = ++l->looks;
	if (l->spins >= SPIN_LIMIT)
		forget_old_places(l);
	if (l->spins >= SPIN_LIMIT || rt.replay)
		poll_remember(t, p, value, pc);
	/* gives way when it begins to spin; later the scheduler's patience decides */
	if (t->budget > 0 &&
	    (l->spins == SPIN_LIMIT || (l->spins > SPIN_LIMIT && !looks_count()))) {
		t->drawn -= t->budget;
		t->budget = 0;
	}
	l->worked = worked(t);
}
