/* shadow.c - see shadow.h: accesses compared, and what the log has of them. */
#include <signal.h>
#include <string.h>

#include "engine/record/runtime/log/access.h"
#include "shadow_private.h"

/* The thread of each segment, in pages of 1 << SEGMENT_BITS. */
enum { SEGMENT_BITS = 16 };
static uint32_t *segment_threads[(LOG_SEGMENTS >> SEGMENT_BITS) + 1];
static uint32_t segments;

/* Pairs that the log has: a later one of the same is ordered as that one is, or has its places.
 */
enum { TOLD_BITS = 12 };
static struct told {
	uint32_t segment, first, first_context, second, context, thread;
} told[1 << TOLD_BITS];

/* The access that is compared. */
struct now {
	struct thread *t;
	uint32_t context, point;
	bool writes, atomic;
};

bool shadow_thread(struct thread *t)
{
	if (!t->shadow.before)
		t->shadow.before = rt_pages(2 * MAX_THREADS * sizeof(uint32_t));
	if (!t->shadow.before)
		return false;
	t->shadow.certain = t->shadow.before + MAX_THREADS;
	t->shadow.inside = 0;
	for (uint32_t i = 0; i < rt.thread_count; i++)
		t->shadow.before[i] = t->shadow.certain[i] = 0;
	return true;
}

static uint32_t thread_of(uint32_t segment)
{
	return segment_threads[segment >> SEGMENT_BITS][segment % (1 << SEGMENT_BITS)];
}

/* Does the thread's present access come after the segment in all that is known here? */
static bool is_before(const struct thread *t, uint32_t segment)
{
	uint32_t thread;
	if (segment == t->shadow.segment)
		return true;
	thread = thread_of(segment);
	return thread == t->id || segment <= t->shadow.before[thread];
}

/* The same by other than locks, for EDC. */
static bool is_certain(const struct thread *t, uint32_t segment)
{
	uint32_t thread = thread_of(segment);
	if (!rt.sections)
		return is_before(t, segment);
	return thread == t->id || segment <= t->shadow.certain[thread];
}

/* ---- what the log has ---- */

/* Gives the thread's present segment its number: the segment begins in the log before an event
 * of the thread can end it. */
static __attribute__((noinline)) void begin_segment(struct thread *t)
{
	uint32_t **page = &segment_threads[++segments >> SEGMENT_BITS];
	if (unlikely(segments == LOG_SEGMENTS)) {
		rt_say("the run is too long for --no-trace");
		rt_die(SIGABRT);
	}
	if (unlikely(!*page))
		*page = shadow_pages(sizeof(**page) << SEGMENT_BITS);
	(*page)[segments % (1 << SEGMENT_BITS)] = t->id;
	t->shadow.segment = segments;
	t->shadow.told = true;
	log_turn(t);
	log_put(t->stream, log_word(LOG_SEGMENT, 0, segments), NULL, 0);
}

uint32_t shadow_ended(struct thread *t, enum log_tag tag)
{
	if (tag == LOG_ALLOC && !t->shadow.told)
		begin_segment(t);
	return t->shadow.segment;
}

/* A local variable of another thread has its name by the calls that the log has. */
static void tell_owner(const struct thread *t, uintptr_t address)
{
	if (address >= t->life.stack_low && address < t->life.stack_high)
		return;
	for (uint32_t i = 0; i < rt.thread_count; i++) {
		struct thread *other = rt.threads[i];
		if (other && address >= other->life.stack_low &&
		    address < other->life.stack_high && other->todo & TODO_FRAMES)
			log_shown(other);
	}
}

static __attribute__((noinline)) void tell_pair(const struct now *now,
                                                const struct shadow_access *a,
                                                uintptr_t address, uint32_t bytes)
{
	struct thread *t = now->t;
	uint32_t first = a->what >> WHAT_POINT;
	struct told pair = { a->segment, first, a->context, now->point, now->context, t->id };
	uint64_t hash = (a->segment * HASH_FACTOR ^ a->context) * HASH_FACTOR ^
	                ((uint64_t)now->point << 32 | first);
	hash = (hash * HASH_FACTOR ^ now->context) * HASH_FACTOR;
	struct told *known = &told[hash >> (64 - TOLD_BITS)];
	if (memcmp(known, &pair, sizeof(pair)) == 0)
		return;
	*known = pair;
	tell_owner(t, address);
	log_turn(t);
	shadow_tell(t, a->context, first);
	shadow_tell(t, now->context, now->point);
	log_put(t->stream, log_word(LOG_CONFLICT, now->atomic, 0),
	        (uint64_t[]){ a->segment | (uint64_t)a->context << 32,
	                      first | (uint64_t)now->point << 32, now->context,
	                      log_conflict_memory(address, bytes & a->what) },
	        4);
}

/* ---- words ---- */

/* Compares an earlier access of the word with this one, which may leave bytes of it without
 * meaning: what races with them later races with this one, too. */
/* (Of a block it stays as a use, unless it certainly comes before: the last one by its thread
 * may be one that EDC leaves unordered with the block's end.) */
static void compare(const struct now *now, struct shadow_access *a, uintptr_t address,
                    uint32_t bytes, bool in_block)
{
	bool wrote = a->what & WHAT_WRITES, used = a->what & WHAT_USED;
	if (!(a->what & bytes))
		return;
	if (used ? is_certain(now->t, a->segment) : is_before(now->t, a->segment)) {
		if (now->atomic || (!now->writes && wrote && !used))
			return;
		if (in_block && !used && !(a->what & WHAT_BYTES & ~bytes) &&
		    !is_certain(now->t, a->segment))
			a->what |= WHAT_USED;
		else
			a->what &= ~bytes;
	} else if (!used && (now->writes || wrote)) {
		tell_pair(now, a, address, bytes);
	}
}

/* Is it an access of the same place, or none? Then it takes these bytes. */
static bool takes(struct shadow_access *a, const struct now *now, uint32_t what)
{
	const uint32_t segment = now->t->shadow.segment;
	if (!(a->what & WHAT_BYTES)) {
		a->segment = segment;
		a->context = now->context;
		a->what = what;
		return true;
	}
	if (a->segment != segment || a->context != now->context ||
	    (a->what ^ what) > WHAT_BYTES)
		return false;
	a->what |= what;
	return true;
}

static void add(const struct now *now, struct shadow_word *w, uint32_t what)
{
	for (int i = 0; i < SHADOW_INLINE; i++)
		if (takes(&w->at[i], now, what))
			return;
	for (uint32_t i = w->at[0].next; i; i = shadow_more(i)->next)
		if (takes(shadow_more(i), now, what))
			return;
	uint32_t number = shadow_more_new();
	*shadow_more(number) = (struct shadow_access){ now->t->shadow.segment, now->context,
		                                       what, w->at[0].next };
	w->at[0].next = number;
}

/* False: the access has to be recorded as well. */
static bool access_word(const struct now *now, uintptr_t address, uint32_t bytes)
{
	struct thread *t = now->t;
	struct shadow_place p = shadow_at(address);
	struct shadow_word *w = p.word;
	bool alone = !shadow_is_atomic(w);
	for (int i = 0; i < SHADOW_INLINE; i++)
		compare(now, &w->at[i], address, bytes, p.made != 0);
	for (uint32_t *i = &w->at[0].next; unlikely(*i);) {
		struct shadow_access *a = shadow_more(*i);
		compare(now, a, address, bytes, p.made != 0);
		if (a->what & WHAT_BYTES)
			i = &a->next;
		else
			*i = shadow_more_end(*i);
	}
	if (now->atomic)
		shadow_set_atomic(w);
	else
		add(now, w, now->point << WHAT_POINT | (now->writes ? WHAT_WRITES : 0) | bytes);
	if (p.made == 0)
		return alone;
	if (p.made == SHADOW_FREED)
		return false;
	if (is_certain(t, p.made))
		return alone;
	/* the record joins the allocation */
	t->shadow.before[thread_of(p.made)] = t->shadow.certain[thread_of(p.made)] = p.made;
	return false;
}

static bool access_words(const struct now *now, uintptr_t address, size_t size)
{
	bool alone = true;
	while (size > 0) {
		unsigned at = address % 8, count = size < 8 - at ? (unsigned)size : 8 - at;
		alone &= access_word(now, address - at, ((1u << count) - 1) << at);
		address += count;
		size -= count;
	}
	return alone;
}

bool shadow_access(struct thread *t, enum log_tag tag, unsigned flags, uintptr_t pc,
                   uintptr_t address, size_t size)
{
	const struct now now = { t, shadow_context(t), shadow_point(tag, flags, pc),
		                 tag == LOG_WRITE, false };
	if (!t->shadow.told)
		begin_segment(t);
	if (!access_words(&now, address, size))
		return false;
	if (t->shadow.inside > 0) {
		log_turn(t);
		log_put(t->stream,
		        log_word(LOG_TOUCH, tag == LOG_WRITE, address & LOG_ADDRESS_MASK),
		        (uint64_t[]){ size }, 1);
	}
	return true;
}

void shadow_atomic(struct thread *t, enum log_tag tag, unsigned flags, uintptr_t pc,
                   uintptr_t address, size_t size)
{
	const struct now now = { t, shadow_context(t), shadow_point(tag, flags, pc),
		                 tag != LOG_AREAD, true };
	access_words(&now, address, size);
}

/* ---- blocks and threads ---- */

void shadow_renew(uintptr_t low, uintptr_t high)
{
	shadow_assign(low, high, 0);
}

static void join(struct thread *t, const struct thread *other, uint32_t segment)
{
	for (uint32_t i = 0; i < rt.thread_count; i++) {
		if (t->shadow.before[i] < other->shadow.before[i])
			t->shadow.before[i] = other->shadow.before[i];
		if (t->shadow.certain[i] < other->shadow.certain[i])
			t->shadow.certain[i] = other->shadow.certain[i];
	}
	t->shadow.before[other->id] = t->shadow.certain[other->id] = segment;
}

void shadow_object_begins(uintptr_t address)
{
	if (address < LOG_FUTEX_BIT)
		shadow_lock_forget(shadow_at(address).word);
}

void shadow_event(struct thread *t, enum log_tag tag, uint64_t a, uint64_t b, uint32_t ended)
{
	struct thread *other;
	switch (tag) {
	case LOG_ALLOC:
	case LOG_GIVEN:
		shadow_assign(a, a + (b ? b : 1), tag == LOG_ALLOC ? ended : 0);
		break;
	case LOG_FORK:
		other = rt.threads[a];
		if (other)
			join(other, t, ended);
		break;
	case LOG_JOIN:
		other = rt.threads[a];
		if (other)
			join(t, other, other->shadow.segment);
		break;
	case LOG_ACQ:
	case LOG_RACQ:
		t->shadow.inside += rt.sections;
		shadow_acquired(t, a);
		break;
	case LOG_REL:
	case LOG_RREL:
		t->shadow.inside -= t->shadow.inside > 0;
		if (tag == LOG_REL)
			shadow_released(t, a, ended);
		break;
	case LOG_DESTROY:
		shadow_object_begins(a);
		break;
	default:
		break;
	}
}

/* The last use of a block that is about to end, by each of a few other threads; of more by some
 * of them several times, which does no harm. */
enum { LAST_USES = 16 };
struct uses {
	struct thread *t;
	struct last {
		struct shadow_access access;
		uintptr_t address; /* of the word */
	} last[LAST_USES];
};

static void tell_use(struct thread *t, const struct last *l)
{
	const struct shadow_access *a = &l->access;
	uint32_t point = a->what >> WHAT_POINT;
	if (a->segment == 0)
		return;
	log_turn(t);
	shadow_tell(t, a->context, point);
	log_put(t->stream, log_word(LOG_USED, 0, 0),
	        (uint64_t[]){ a->segment | (uint64_t)a->context << 32, point,
	                      log_conflict_memory(l->address, a->what & WHAT_BYTES) },
	        3);
}

/* What its thread accesses at this address from now on is another block. */
static void uncover(struct thread *t, uint32_t segment, uintptr_t address)
{
	uint64_t *entry = covered_entry(t, address);
	if (t->shadow.segment == segment &&
	    (*entry ^ covered_word(t, address)) <= COVERED_BYTES)
		*entry = 0;
}

static void note_use(struct uses *u, const struct shadow_access *a, uintptr_t address)
{
	if (!(a->what & WHAT_BYTES))
		return;
	uint32_t number = thread_of(a->segment);
	struct thread *thread = number == u->t->id ? u->t : rt.threads[number];
	if (thread)
		uncover(thread, a->segment, address);
	struct last *l = &u->last[number % LAST_USES];
	if (is_certain(u->t, a->segment))
		return;
	if (l->access.segment && thread_of(l->access.segment) != number) {
		tell_use(u->t, l);
		l->access.segment = 0;
	}
	if (a->segment >= l->access.segment)
		*l = (struct last){ *a, address };
}

static void visit_use(void *context, struct shadow_word *w, uintptr_t address)
{
	struct uses *u = context;
	for (int i = 0; i < SHADOW_INLINE; i++)
		note_use(u, &w->at[i], address);
	for (uint32_t i = w->at[0].next; i; i = shadow_more(i)->next)
		note_use(u, shadow_more(i), address);
}

void shadow_freed(struct thread *t, uintptr_t address, size_t size)
{
	struct uses u = { .t = t };
	shadow_words(address, address + size, visit_use, &u);
	for (size_t i = 0; i < LAST_USES; i++)
		tell_use(t, &u.last[i]);
	shadow_assign(address, address + (size ? size : 1), SHADOW_FREED);
}
