/*
 * test_codec.c - the recorder's encoder and the importer's decoder against each other: random
 * accesses, ranges, events and calls go through the runtime's own files into a chunk, and come
 * out of decode.c as they went in, in controlled and in free mode.
 */
#include "engine/record/runtime/log/access.c"
#include "engine/record/runtime/log/frames.c"
#include "engine/record/runtime/log/records.c"

#include "engine/record/import/decode.h"

#include <stdlib.h>
#include <sys/mman.h>

/* ---- the rest of the runtime: never called here ---- */

struct runtime rt;
struct thread nobody = { .gate = GATE_FOREIGN, .todo = TODO_NOBODY };
__thread struct thread *me = &nobody;

static void unexpected(const char *name)
{
	printf("not ok - %s was called\n", name);
	exit(1);
}
void log_more(struct stream *s, unsigned words)
{
	unexpected("log_more");
}
void copy_unread(struct thread *t)
{
	unexpected("copy_unread");
}
void lock_tried(struct thread *t, const void *lock)
{
}
void missing_settle(struct thread *t)
{
	unexpected("missing_settle");
}
void missing_callback(struct thread *t)
{
	unexpected("missing_callback");
}
void replay_point(struct thread *t)
{
	unexpected("replay_point");
}
void sample_renew(struct thread *t)
{
	unexpected("sample_renew");
}
void poll_changed(void)
{
}
void memory_event(struct thread *t, enum log_tag tag, uintptr_t object)
{
	unexpected("memory_event");
}
void memory_logged(struct thread *t, enum log_tag tag, unsigned order, const void *p,
                   size_t size)
{
	unexpected("memory_logged");
}
void replay_event(struct thread *t, enum log_tag tag, uintptr_t pc)
{
	unexpected("replay_event");
}
void clock_tick(struct thread *t, uintptr_t pc)
{
	unexpected("clock_tick");
}
bool shadow_access(struct thread *t, unsigned what, uintptr_t pc, uintptr_t address,
                   size_t size)
{
	unexpected("shadow_access");
	return false;
}
void shadow_atomic(struct thread *t, enum log_tag tag, unsigned flags, uintptr_t pc,
                   uintptr_t address, size_t size)
{
	unexpected("shadow_atomic");
}
uint32_t shadow_ended(struct thread *t, enum log_tag tag, uint64_t object)
{
	unexpected("shadow_ended");
	return 0;
}
void shadow_invocation(struct thread *t)
{
	unexpected("shadow_invocation");
}
void shadow_before_event(struct thread *t)
{
	unexpected("shadow_before_event");
}
void shadow_event(struct thread *t, enum log_tag tag, uint64_t a, uint64_t b, uint32_t ended)
{
	unexpected("shadow_event");
}
void shadow_object_begins(uintptr_t address)
{
	unexpected("shadow_object_begins");
}
void shadow_renew(uintptr_t low, uintptr_t high)
{
	unexpected("shadow_renew");
}

/* ---- the events as they went in ---- */

enum { ROUNDS = 40, STEPS = 12000, SITES = 12000, DEPTH = 40, CELLS = 1 << 14 };

struct wanted {
	enum log_tag tag;
	unsigned flags;
	uint64_t pc, address, size, value, old;
	bool valued;
	uint32_t depth;
	struct frame stack[DEPTH];
};

static uint64_t chunk[LOG_CHUNK / 8];
static uint64_t cells[CELLS], *far_cells;
static struct wanted wanted[STEPS];
static unsigned count;
static struct frame frames[DEPTH + 2];
static struct log_sites sites;
static uint16_t hints[LOG_SITES];
static struct thread thread;
static uint64_t state;

static uint64_t random_word(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state * 0x2545f4914f6cdd1dull >> 11;
}
static uint64_t below(uint64_t n)
{
	return random_word() % n;
}

/* Small, large, near the limits of a field, near the last one. */
static uint64_t random_value(uint64_t last)
{
	switch (below(5)) {
	case 0:
		return below(LOG_SMALL_LIMIT + 2);
	case 1:
		return random_word() << 11 ^ random_word();
	case 2:
		return last + (1ull << (LOG_DELTA_BITS - 1)) - 4 + below(8);
	case 3:
		return last - (1ull << (LOG_DELTA_BITS - 1)) - 4 + below(8);
	default:
		return last + below(100) - 50;
	}
}

static struct wanted *add(enum log_tag tag, unsigned flags, uint64_t pc)
{
	struct wanted *e = &wanted[count++];
	*e = (struct wanted){ .tag = tag, .flags = flags, .pc = pc, .depth = thread.depth };
	memcpy(e->stack, frames + 1, thread.depth * sizeof(*frames));
	return e;
}

static void call_or_return(void)
{
	struct thread *t = &thread;
	if (t->depth < DEPTH && (t->depth == 0 || below(2))) {
		uint64_t function = LOG_CALL_COUNT + below(300);
		frames[1 + t->depth] =
		        (struct frame){ .call = 4096 + below(50), .function = function };
		t->depth++;
	} else if (t->depth > 0) {
		t->depth -= 1 + below(t->depth);
		t->low = t->depth < t->low ? t->depth : t->low;
	}
	t->todo |= TODO_FRAMES;
	context_renew(t);
}

static uint64_t *random_cell(void)
{
	return below(20) ? &cells[below(2) ? below(8) : below(CELLS)]
	                 : &far_cells[below(CELLS)];
}

/* By the hooks' ways: the short one where it can, else the long one. */
static void plain_access(uint64_t pc)
{
	struct thread *t = &thread;
	enum log_tag tag = below(2) ? LOG_READ : LOG_WRITE;
	unsigned code = below(5), flags = below(10) ? 0 : LOG_VOLATILE;
	uint64_t *p = random_cell();
	if (below(2))
		log_value(t);
	*p = tag == LOG_READ ? random_value(*p) : *p;
	struct wanted *e = add(tag, flags, pc);
	bool written =
	        !(t->todo & TODO_FRAMES) && below(4) &&
	        (t->epoch ? log_free_here(t, tag, flags, pc, (uintptr_t)p, code)
	                  : log_ready(t, t->todo) &&
	                            log_access_here(t, tag, flags, pc, (uintptr_t)p, code));
	if (!written)
		log_access(t, tag, flags, pc, p, code, false, 0);
	if (tag == LOG_WRITE)
		*p = random_value(*p);
	e->address = (uintptr_t)p;
	e->size = 1u << code;
	e->valued = code < 4 && rt.controlled;
	e->value = e->valued ? peek((uintptr_t)p, code) : 0;
	if (below(2)) /* before another cell's value changes */
		log_ready(t, t->todo);
	log_value(t);
}

static void other_record(uint64_t pc)
{
	struct thread *t = &thread;
	uint64_t *p = random_cell(), value = random_value(*p);
	unsigned code = below(4), order = 1 + below(5);
	struct wanted *e;
	switch (below(5)) {
	case 0:
		e = add(below(2) ? LOG_READ : LOG_WRITE, 0, pc);
		e->size = below(2) ? 1 + below(200) : 1 + below(1ull << 30);
		log_range(t, e->tag, pc, p, e->size);
		break;
	case 1:
		e = add(LOG_AREAD + below(2), order, pc);
		value &= ~0ull >> (64 - (8u << code));
		if (below(3) == 0) /* the word beside a futex */
			p = (uint64_t *)((uintptr_t)p | LOG_FUTEX_BIT);
		e->size = 1u << code;
		e->valued = rt.values;
		e->value = e->valued ? value : 0;
		log_access(t, e->tag, order, pc, p, code, true, value);
		break;
	case 2:
		e = add(LOG_RMW, order | LOG_VALUE, pc);
		e->size = 1u << code;
		e->old = *p;
		e->value = value;
		e->valued = true;
		log_rmw(t, order, pc, p, code, e->old, value);
		break;
	default:
		e = add(below(2) ? LOG_ACQ : LOG_REL, 0, pc);
		log_sync(t, e->tag, pc, p);
		break;
	}
	e->address = (uintptr_t)p;
}

static void begin(bool controlled)
{
	memset(chunk, 0, sizeof(chunk));
	memset(&sites, 0, sizeof(sites));
	memset(&thread, 0, offsetof(struct thread, seen));
	memset(&rt.stream, 0, sizeof(rt.stream));
	memset(frames, 0, sizeof(frames));
	rt.controlled = controlled;
	rt.values = controlled || below(2);
	thread.stream = &rt.stream;
	thread.frames = frames + 1;
	thread.epoch = !controlled;
	thread.todo = controlled ? 0 : TODO_EPOCHS;
	thread.budget = INT32_MAX;
	thread.callback_at = UINT32_MAX;
	rt.stream = (struct stream){ .next = chunk,
		                     .end = chunk + LOG_CHUNK / 8 - 4,
		                     .chunk = chunk,
		                     .sites = &sites,
		                     .hints = hints };
	count = 0;
}

static void record(bool controlled)
{
	begin(controlled);
	while (count < STEPS) {
		uint64_t pc = 0x400000 + 5 * (below(3) ? below(20) : below(SITES));
		if (below(5) == 0)
			call_or_return();
		else if (below(6) == 0)
			other_record(pc);
		else
			plain_access(pc);
	}
}

/* ---- and as they come out ---- */

static bool frame_record(const struct log_record *r, struct frame *stack, uint32_t *depth)
{
	uint64_t left = r->tag == LOG_LEAVE ? r->pc : r->left;
	if (left > *depth)
		return false;
	*depth -= left;
	if (r->tag == LOG_ENTER)
		stack[(*depth)++] = (struct frame){ .call = r->pc, .function = r->address };
	return *depth <= DEPTH;
}

static bool same_stack(const struct wanted *e, const struct frame *stack, uint32_t depth)
{
	if (e->depth != depth)
		return false;
	for (uint32_t i = 0; i < depth; i++)
		if (stack[i].call != e->stack[i].call ||
		    stack[i].function != e->stack[i].function)
			return false;
	return true;
}

static bool same(const struct wanted *e, const struct log_record *r)
{
	if (e->tag != r->tag || e->pc != r->pc)
		return false;
	if (e->tag == LOG_ACQ || e->tag == LOG_REL)
		return r->words[1] == e->address;
	enum { ORDER_AND_VOLATILE = LOG_ORDER_MASK | LOG_VOLATILE };
	return (e->flags & ORDER_AND_VOLATILE) == (r->flags & ORDER_AND_VOLATILE) &&
	       e->address == r->address && e->size == r->size &&
	       (e->tag == LOG_RMW
	                ? e->old == r->old && e->value == r->value
	                : e->valued == r->valued && (!e->valued || e->value == r->value));
}

static int differs(unsigned round, unsigned i, const struct log_record *r)
{
	const struct wanted *e = &wanted[i];
	printf("not ok - round %u, event %u: tag %d pc %lx address %lx size %lu value %lx (%d) "
	       "came back as tag %d pc %lx address %lx size %lu value %lx (%d)\n",
	       round, i, e->tag, e->pc, e->address, e->size, e->value, e->valued, r->tag, r->pc,
	       r->address, r->size, r->value, r->valued);
	return 1;
}

static int read_again(unsigned round)
{
	static struct log_reader reader;
	struct frame stack[DEPTH + 1];
	struct log_record r;
	uint32_t depth = 0;
	unsigned i = 0;
	log_reader_chunk(&reader, chunk, rt.stream.next);
	while (log_reader_next(&reader, &r)) {
		if (r.tag == LOG_ENTER || r.tag == LOG_LEAVE) {
			if (!frame_record(&r, stack, &depth))
				return differs(round, i, &r);
		} else if (r.tag != LOG_SWITCH && r.tag != LOG_TICKET && r.tag != LOG_FAR) {
			if (i == count || !same(&wanted[i], &r) ||
			    !same_stack(&wanted[i], stack, depth))
				return differs(round, i < count ? i : count - 1, &r);
			i++;
		}
	}
	if (i == count)
		return 0;
	printf("not ok - round %u: %u of %u events came back\n", round, i, count);
	return 1;
}

/* Messages of channels, whose word has all that is known of them. */
static int messages(void)
{
	static const unsigned bytes[] = { LOG_CHANNEL_CLOSED, 1, 4000, LOG_CHANNEL_SHARED };
	bool good = log_message_parts(log_message(7, 0, 3, 9)).bytes == 0;

	for (unsigned i = 0; i < 4; i++) {
		struct log_message_fields f = log_message_parts(log_message(
		        0xfffffff0u + i, LOG_CHANNELS - i, LOG_CHANNEL_PAGES - i, bytes[i]));
		good &= f.number == 0xfffffff0u + i && f.channel == LOG_CHANNELS - i &&
		        f.pages == LOG_CHANNEL_PAGES - i && f.bytes == bytes[i];
	}
	/* more than the field has is as much as it has, and no other kind */
	good &= log_message_parts(log_message(1, 1, 1, 1 << 20)).bytes == LOG_CHANNEL_MOST;
	printf("%sok - messages are decoded as they were encoded\n", good ? "" : "not ");
	return !good;
}

/* Copies by one call, between blocks that are far from each other: the words of each copy but
 * the first, which fills two sites. */
static int copies(void)
{
	enum { COPIES = 50, FIRST = 6 };
	begin(true);
	for (unsigned i = 0; i < COPIES; i++) {
		uint64_t *from = i % 2 ? cells : far_cells;
		struct wanted *e = add(LOG_READ, 0, 0x400000);
		e->address = (uintptr_t)from;
		e->size = 24;
		log_range(&thread, LOG_READ, e->pc, from, e->size);
		e = add(LOG_WRITE, 0, 0x400000);
		e->address = (uintptr_t)(cells + i);
		e->size = 24;
		log_range(&thread, LOG_WRITE, e->pc, cells + i, e->size);
	}
	uint64_t words = (uint64_t)(rt.stream.next - chunk);
	bool good = words == FIRST + 3 * (COPIES - 1) && read_again(0) == 0;
	printf("%sok - a copy has two records, of one word each and one for a distant address\n",
	       good ? "" : "not ");
	return !good;
}

/* A chunk whose words go on with no record is not one that ends. */
static int damaged(void)
{
	static struct log_reader reader;
	struct log_record r;
	bool good = true;
	for (unsigned bad = 0; bad < 2; bad++) {
		begin(true);
		log_sync(&thread, LOG_ACQ, 0x400000, cells);
		*rt.stream.next = bad ? log_short(7, 0, 0) : 0; /* of a site that was not met */
		log_reader_chunk(&reader, chunk, rt.stream.next + 1);
		while (log_reader_next(&reader, &r))
			;
		good &= reader.damaged == bad;
		log_reader_chunk(&reader, chunk, rt.stream.next);
		while (log_reader_next(&reader, &r))
			;
		good &= !reader.damaged;
	}
	printf("%sok - words that are no record are told from the end\n", good ? "" : "not ");
	return !good;
}

int main(void)
{
	const char *seed = getenv("HEDDLE_SEED");
	state = (seed ? strtoull(seed, NULL, 0) : 1) * 0x9e3779b97f4a7c15ull | 1;
	/* further than the difference of a short record's address */
	far_cells = mmap(NULL, sizeof(cells), PROT_READ | PROT_WRITE,
	                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (far_cells == MAP_FAILED)
		return 1;
	for (unsigned round = 0; round < ROUNDS; round++) {
		record(round % 2 == 0);
		if (read_again(round) != 0)
			return 1;
	}
	printf("ok - %d events are decoded as they were encoded\n", ROUNDS * STEPS);
	return messages() | copies() | damaged();
}
