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
	uint32_t segment, context;
	uint32_t what; /* as of a struct shadow_access, without bytes */
	bool writes, atomic;
};

bool shadow_thread(struct thread *t)
{
	if (!t->shadow.before)
		t->shadow.before = rt_pages(2 * MAX_THREADS * sizeof(uint32_t));
	if (!t->shadow.before)
		return false;
	t->shadow.certain = t->shadow.before + MAX_THREADS;
	t->shadow.inside = t->shadow.sections_since = 0;
	shadow_touches_begin(t);
	for (uint32_t i = 0; i < rt.thread_count; i++)
		t->shadow.before[i] = t->shadow.certain[i] = 0;
	return true;
}

static uint32_t thread_of(uint32_t segment)
{
	return segment_threads[segment >> SEGMENT_BITS][segment % (1 << SEGMENT_BITS)];
}

/* Does the thread's present access come after the segment by other than the order that locks
 * alone give, which EDC has less of? */
static bool is_certain(const struct thread *t, uint32_t segment)
{
	uint32_t thread = thread_of(segment);
	return thread == t->id ||
	       segment <= (rt.sections ? t->shadow.certain : t->shadow.before)[thread];
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

uint32_t shadow_ended(struct thread *t, enum log_tag tag, uint64_t object)
{
	shadow_before_event(t);
	if (tag == LOG_JOIN && rt.threads[object])
		shadow_before_event(rt.threads[object]);
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
	uint32_t first = a->what >> WHAT_POINT, second = now->what >> WHAT_POINT;
	struct told pair = { a->segment, first, a->context, second, now->context, t->id };
	uint64_t hash = (a->segment * HASH_FACTOR ^ a->context) * HASH_FACTOR ^
	                ((uint64_t)second << 32 | first);
	hash = (hash * HASH_FACTOR ^ now->context) * HASH_FACTOR;
	struct told *known = &told[hash >> (64 - TOLD_BITS)];
	if (memcmp(known, &pair, sizeof(pair)) == 0)
		return;
	*known = pair;
	tell_owner(t, address);
	log_turn(t);
	shadow_tell(t, a->context, first);
	shadow_tell(t, now->context, second);
	log_put(t->stream, log_word(LOG_CONFLICT, now->atomic, 0),
	        (uint64_t[]){ a->segment | (uint64_t)a->context << 32,
	                      first | (uint64_t)second << 32, now->context,
	                      log_conflict_memory(address, bytes & a->what) },
	        4);
}

/* ---- words ---- */

/* Compares an earlier access of the word, of another thread, with this one, which may leave
 * bytes of it without meaning: what races with them later races with this one, too.
 * (Of a block it stays as a use, unless it certainly comes before: the last one by its thread
 * may be one that EDC leaves unordered with the block's end.) */
static inline void compare_other(const struct now *now, struct shadow_access *a,
                                 uintptr_t address, uint32_t bytes, bool in_block)
{
	const struct thread_shadow *shadow = &now->t->shadow;
	const uint32_t thread = thread_of(a->segment);
	const bool wrote = a->what & WHAT_WRITES, used = a->what & WHAT_USED;
	const bool is_before = a->segment <= shadow->before[thread];
	const bool is_certain = rt.sections ? a->segment <= shadow->certain[thread] : is_before;
	if (used ? is_certain : is_before) {
		if (now->atomic || (!now->writes && wrote && !used))
			return;
		if (in_block && !used && !(a->what & WHAT_BYTES & ~bytes) && !is_certain)
			a->what |= WHAT_USED;
		else
			a->what &= ~bytes;
	} else if (!used && (now->writes || wrote)) {
		tell_pair(now, a, address, bytes);
	}
}

/* What compare says: the bytes that the thread has accessed in its present sections as this
 * access does (others of the word are among them), and whether an access of the same place and
 * segment has taken the bytes, or the access compared has none any more. */
enum { AGAIN = WHAT_BYTES, TAKEN = 256, EMPTY = 512 };

ALWAYS_INLINE uint32_t compare(const struct now *now, struct shadow_access *a,
                               uintptr_t address, uint32_t bytes, bool in_block)
{
	const uint32_t what = a->what;
	uint32_t again = 0;
	if (!(what & bytes)) {
		if (!(what & WHAT_BYTES))
			return EMPTY;
		if (a->segment != now->segment || a->context != now->context ||
		    (what ^ now->what) > WHAT_BYTES || now->atomic)
			return 0;
		a->what |= bytes;
		return TAKEN | (what & WHAT_BYTES);
	}
	if (a->segment != now->segment && thread_of(a->segment) != now->t->id) {
		compare_other(now, a, address, bytes, in_block);
	} else {
		if (a->segment >= now->t->shadow.sections_since &&
		    (what & WHAT_WRITES || !now->writes))
			again = what & WHAT_BYTES;
		if (!now->atomic &&
		    (now->writes || (what & (WHAT_WRITES | WHAT_USED)) != WHAT_WRITES))
			a->what &= ~bytes;
	}
	return a->what & WHAT_BYTES ? again : again | EMPTY;
}

/* Compares those beside the word's own; `place`: one without bytes, or NULL. */
struct compared {
	struct shadow_access *place;
	uint32_t said;
};
static __attribute__((noinline)) struct compared
compare_more(const struct now *now, struct shadow_word *w, uintptr_t address, uint32_t bytes,
             bool in_block, struct shadow_access *place)
{
	uint32_t said = 0;
	for (uint32_t *i = &w->at[0].next; *i;) {
		struct shadow_access *a = shadow_more(*i);
		uint32_t now_said = compare(now, a, address, bytes, in_block);
		said |= now_said;
		if (now_said & EMPTY && place) {
			*i = shadow_more_end(*i);
			continue;
		}
		place = now_said & EMPTY ? a : place;
		i = &a->next;
	}
	return (struct compared){ place, said };
}

static __attribute__((noinline)) struct shadow_access *new_place(struct shadow_word *w)
{
	uint32_t number = shadow_more_new();
	shadow_more(number)->next = w->at[0].next;
	w->at[0].next = number;
	return shadow_more(number);
}

/* What of an access is not done by comparing it: a record as well, of its bytes for EDC. */
enum { NEEDS_RECORD = 1, NEEDS_TOUCH = 2 };

ALWAYS_INLINE unsigned access_word(const struct now *now, uintptr_t address, uint32_t bytes)
{
	struct thread *t = now->t;
	struct shadow_place p = shadow_at(address);
	struct shadow_word *w = p.word;
	const bool in_block = p.made != 0;
	struct shadow_access *place = NULL;
	uint32_t said = 0;
	unsigned needs = shadow_is_atomic(w) ? NEEDS_RECORD : 0;
	for (int i = SHADOW_INLINE; i-- > 0;) {
		uint32_t now_said = compare(now, &w->at[i], address, bytes, in_block);
		said |= now_said;
		place = now_said & EMPTY ? &w->at[i] : place;
	}
	if (unlikely(w->at[0].next)) {
		struct compared more = compare_more(now, w, address, bytes, in_block, place);
		place = more.place;
		said |= more.said;
	}
	if (now->atomic) {
		shadow_set_atomic(w);
	} else if (!(said & TAKEN)) {
		struct shadow_access *a = likely(place) ? place : new_place(w);
		a->segment = now->segment;
		a->context = now->context;
		a->what = now->what | bytes;
	}
	needs |= bytes & ~said ? NEEDS_TOUCH : 0;
	if (p.made == 0)
		return needs;
	if (p.made == SHADOW_FREED)
		return NEEDS_RECORD;
	if (is_certain(t, p.made))
		return needs;
	/* the record joins the allocation */
	t->shadow.before[thread_of(p.made)] = t->shadow.certain[thread_of(p.made)] = p.made;
	return NEEDS_RECORD;
}

static __attribute__((noinline)) unsigned access_words(const struct now *now, uintptr_t address,
                                                       size_t size)
{
	unsigned needs = 0;
	while (size > 0) {
		unsigned at = address % 8, count = size < 8 - at ? (unsigned)size : 8 - at;
		needs |= access_word(now, address - at, ((1u << count) - 1) << at);
		address += count;
		size -= count;
	}
	return needs;
}

bool shadow_access(struct thread *t, unsigned what, uintptr_t pc, uintptr_t address,
                   size_t size)
{
	const size_t most = COVERED_SIZE;
	const enum log_tag tag = what & 255;
	const bool writes = tag == LOG_WRITE;
	log_value(t);
	if (!t->shadow.told)
		begin_segment(t);
	const struct now now = { t,
		                 t->shadow.segment,
		                 shadow_context(t),
		                 shadow_point(what, pc) << WHAT_POINT |
		                         (writes ? WHAT_WRITES : 0),
		                 writes,
		                 false };
	const unsigned at = address % 8;
	const bool one = at + size <= 8;
	const uint32_t bytes = ((1u << size % 16) - 1) << at;
	unsigned needs = one ? access_word(&now, address - at, bytes)
	                     : access_words(&now, address, size);
	if (needs & NEEDS_RECORD)
		return false;
	if (needs && t->shadow.inside > 0)
		shadow_touch(t, writes, address, size);
	if (one)
		cover_bytes(t, tag, address, bytes);
	else
		cover(t, tag, address, size < most ? size : most);
	t->repeated++;
	t->poll.unwritten++; /* work */
	return true;
}

void shadow_atomic(struct thread *t, enum log_tag tag, unsigned flags, uintptr_t pc,
                   uintptr_t address, size_t size)
{
	const bool writes = tag != LOG_AREAD;
	const struct now now = { t,
		                 t->shadow.segment,
		                 shadow_context(t),
		                 shadow_point(tag | flags << 8, pc) << WHAT_POINT |
		                         (writes ? WHAT_WRITES : 0),
		                 writes,
		                 true };
	access_words(&now, address, size);
}

/* ---- blocks and threads ---- */

/* Before memory that they may have accessed is another (shadow_touches.c). */
static void tell_touches_of_others(const struct thread *t)
{
	for (uint32_t i = 0; i < rt.thread_count; i++)
		if (rt.threads[i] && rt.threads[i] != t)
			shadow_tell_touches(rt.threads[i]);
}

void shadow_renew(uintptr_t low, uintptr_t high)
{
	if (shadow_has_words(low, high))
		tell_touches_of_others(NULL);
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

static void renew_sections(struct thread *t)
{
	t->shadow.sections_since = segments + 1;
}

void shadow_invocation(struct thread *t)
{
	shadow_tell_touches(t);
	renew_sections(t);
}

void shadow_object_begins(uintptr_t address)
{
	if (address < LOG_FUTEX_BIT)
		shadow_lock_forget(shadow_at(address).word);
}

void shadow_event(struct thread *t, enum log_tag tag, uint64_t a, uint64_t b, uint32_t ended)
{
	struct thread *other;
	if (tag != LOG_ALLOC && tag != LOG_GIVEN && tag != LOG_FREE)
		renew_sections(t);
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
	case LOG_RACQ: {
		const bool alone = shadow_acquired(t, a);
		t->shadow.inside += rt.sections;
		if (rt.sections)
			shadow_enters(t, a, alone && tag == LOG_ACQ);
		break;
	}
	case LOG_REL:
	case LOG_RREL:
		if (rt.sections)
			shadow_leaves(t, a);
		t->shadow.inside -= t->shadow.inside > 0;
		if (tag == LOG_REL)
			shadow_released(t, a, ended);
		else
			shadow_read_released(t, a);
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
	tell_touches_of_others(t);
	shadow_tell_touches_of(t, shadow_at(address).made);
	shadow_words(address, address + size, visit_use, &u);
	for (size_t i = 0; i < LAST_USES; i++)
		tell_use(t, &u.last[i]);
	shadow_assign(address, address + (size ? size : 1), SHADOW_FREED);
}
