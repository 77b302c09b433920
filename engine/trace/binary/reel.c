/*
 * reel.c - see reel.h. By need, the events of a block lie in a slot of a file of memory. Where
 * they are read from nothing is mapped at first: the first access to a block is a fault
 * (SIGSEGV), whose handler decodes the block into a slot through another mapping, or waits for
 * the thread that does, and maps the slot; the access is made again. So readers need no call,
 * and see whole blocks only. When no slot is free the one that was taken first is unmapped and
 * used again; nothing has to be cleared for it.
 *
 * While blocks are looked at in their order, other threads decode the next ones.
 *
 * The handler allocates nothing and takes no lock that it could have interrupted: a thread that
 * holds `taken` looks at no events.
 */
#include "engine/trace/binary/reel.h"
#include "engine/base/scattered.h"
#include "engine/trace/binary/binary_private.h"

#include <errno.h>
#include <semaphore.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum {
	MOST_HELPERS = 16,
	/* Mappings are limited (65530 of a process), and each block may need one of each
	 * kind. */
	MOST_SLOTS = 12000,
	/* In passes: 8 MB of events, which stay in a large cache; the next blocks are decoded
	 * while there is room for as many others. */
	USUAL_ROOM = 16,
	LEAST_ROOM = 4,
	/* Events that are held need a mapping each, and another for the unmapped range behind
	 * it. */
	MOST_PAGES = 12000,
	/* A trace whose blocks have all been decoded this often is not read in order: from
	 * then on its blocks stay. */
	MOST_PASSES = 24,
};
static const uint32_t no_slot = UINT32_MAX, no_page = UINT32_MAX;

enum slot_state { SLOT_IN_WORK, SLOT_DONE };

/* Memory with one element for each event. */
struct twin {
	char *shown, *written; /* by block; by slot; NULL: none */
	size_t bytes, block;   /* of `shown`; of a block */
	int file;              /* the slots */
};
enum { EVENTS, STACKS, TWINS };

/* A page of a twin whose events are held, beside the slots. */
struct page {
	char *at;
	uint32_t next; /* of its block, or no_page */
};

/* A slot: memory for a block, in each twin. */
struct slot {
	uint32_t block;
	uint8_t state; /* enum slot_state */
	bool shown[TWINS];
};

struct reel {
	struct reel_source from;
	gint vouched;   /* atomic: sums of blocks need no check */
	gint next, bad; /* atomic: block to decode next; one that is damaged plus one */
	/* at once */
	struct event *events;
	uint32_t *stacks; /* or NULL */
	const struct progress *progress;
	GThread *opener; /* the thread that opens the trace */
	bool cancelled;
	/* by need */
	enum reel_way way;
	struct twin twins[TWINS];
	gint taken;        /* atomic: a lock of the members up to `random` */
	uint32_t *slot_of; /* by block, or no_slot; trace_at_hand reads it without the lock */
	struct slot *slots;
	uint32_t used, room; /* slots; a slot is used again when there are `room` */
	uint32_t usual_room;
	uint32_t hand;     /* the slot to use again */
	uint32_t *page_of; /* by block: the first page that is held, or no_page; or NULL */
	struct page *pages;
	uint32_t page_count;
	int pages_file;
	uint64_t decoded;
	uint32_t stream; /* the block that a reader in order looked at last; no_slot: none */
	uint32_t random; /* the block that another reader looked at last */
	gint stop;       /* atomic: helpers are to end */
	struct decoded_blocks *counts; /* the trace's */
	pid_t opener_id;
	gint tape_taken;   /* atomic: `tape` is in use */
	struct tape *tape; /* shared by threads that decode a block on a page fault */
	GThread *helpers[MOST_HELPERS];
	guint helper_count;
	sem_t wanted; /* helpers wait for it */
	bool used_by_trace;
	/* next in the list of all; last, as reel_take keeps it */
	struct reel *other;
};

static enum reel_way way;
static uint32_t usual_room = USUAL_ROOM;
/* All reels, for the fault handler, which takes no lock: so none is freed, but reused. The
 * reel of a trace that is being opened or closed has no address that faults. */
static struct reel *reels;    /* atomic */
static GMutex reels_lock;     /* for threads that open and close traces */
static bool handles;          /* faults */
static struct sigaction rest; /* the action for other faults */

void reel_set_fault_action(const struct sigaction *action)
{
	if (handles)
		rest = *action;
	else
		sigaction(SIGSEGV, action, NULL);
}

void reel_set_way(enum reel_way to, uint32_t room)
{
	way = to;
	usual_room = room == 0 ? USUAL_ROOM : MAX(room, LEAST_ROOM);
}

static bool decode_block(struct reel *r, struct tape *tape, uint64_t i, struct event *events,
                         uint32_t *of)
{
	const struct tape_block *b = &r->from.blocks[i];
	const uint8_t *bytes = r->from.bytes + b->offset;
	struct tape_stacks stacks = { of, r->from.contexts, r->from.contexts_count };
	return (g_atomic_int_get(&r->vouched) || sum_bytes(bytes, b->bytes) == b->sum) &&
	       tape_decode(tape, bytes, b->bytes, &r->from.places, b->count, events, &stacks);
}

static guint helpers_for(uint64_t blocks)
{
	enum { SHARE = 8 /* number of blocks that is worth a thread */ };
	guint others = MIN(g_get_num_processors() - 1, MOST_HELPERS);
	return MIN(others, (guint)(blocks / SHARE));
}

/* -- at once ------------------------------------------------------------------------------- */

/* Reports progress to the thread that opens the trace; false when that is to end. */
static bool goes_on(struct reel *r, guint block)
{
	enum { BLOCKS_A_TICK = 8 };
	if (g_thread_self() != r->opener || block % BLOCKS_A_TICK)
		return true;
	r->cancelled = !progress_tick(r->progress, (double)block / (double)r->from.blocks_count,
	                              "reading the events");
	return !r->cancelled;
}

static gpointer decode_blocks(gpointer context)
{
	struct reel *r = context;
	struct tape *tape = tape_new();
	for (;;) {
		guint i = (guint)g_atomic_int_add(&r->next, 1);
		if (i >= r->from.blocks_count || g_atomic_int_get(&r->bad))
			break;
		uint64_t at = (uint64_t)i * TAPE_BLOCK;
		if (!goes_on(r, i) || !decode_block(r, tape, i, r->events + at,
		                                    r->stacks ? r->stacks + at : NULL))
			g_atomic_int_set(&r->bad, (gint)i + 1);
	}
	tape_free(tape);
	return NULL;
}

/* By all processors. */
static bool read_whole(struct trace *t, struct reel *r, uint32_t *bad)
{
	GThread *helpers[MOST_HELPERS];
	guint count = helpers_for(r->from.blocks_count);
	r->events = scattered_new(struct event, t->events_count + 1);
	t->events = trace_own(t, r->events);
	if (r->from.stacks) {
		r->stacks = scattered_new(uint32_t, t->events_count + 1);
		t->stacks = trace_own(t, r->stacks);
	}
	for (guint i = 0; i < count; i++)
		helpers[i] = g_thread_try_new("decode", decode_blocks, r, NULL);
	decode_blocks(r);
	for (guint i = 0; i < count; i++)
		if (helpers[i])
			g_thread_join(helpers[i]);
	*bad = r->cancelled ? NONE : (uint32_t)r->bad - 1;
	return r->bad == 0;
}

/* -- by need ------------------------------------------------------------------------------- */

static void twin_free(struct twin *w, uint32_t slots)
{
	struct twin was = *w;
	*w = (struct twin){ 0 };
	if (was.shown)
		munmap(was.shown, was.bytes);
	if (was.written) {
		munmap(was.written, slots * was.block);
		close(was.file);
	}
}

static char *map_anywhere(int fd, size_t bytes, int access, int flags)
{
	void *at = mmap(NULL, bytes, access, flags | MAP_NORESERVE, fd, 0);
	return at == MAP_FAILED ? NULL : at;
}

/* Reserves addresses for the blocks, and for one more, which is readable: a reader in order
 * may look ahead. */
static bool twin_new(struct twin *w, uint64_t blocks, uint32_t slots, size_t element)
{
	size_t block = (size_t)TAPE_BLOCK * element, bytes = (blocks + 1) * block;
	int fd = block % (size_t)sysconf(_SC_PAGESIZE) ? -1
	                                               : memfd_create("events", MFD_CLOEXEC);
	if (fd < 0)
		return false;
	*w = (struct twin){ .bytes = bytes, .block = block, .file = fd };
	if (ftruncate(fd, (off_t)(slots * block)) == 0) {
		w->shown = map_anywhere(-1, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS);
		w->written =
		        map_anywhere(fd, slots * block, PROT_READ | PROT_WRITE, MAP_SHARED);
	}
	if (w->shown && w->written &&
	    mprotect(w->shown + blocks * block, block, PROT_READ | PROT_WRITE) == 0)
		return true;
	if (!w->written)
		close(fd);
	twin_free(w, slots);
	return false;
}

static void take(struct reel *r)
{
	for (unsigned i = 0; !g_atomic_int_compare_and_exchange(&r->taken, 0, 1); i++)
		if (i % 64 == 63)
			sched_yield();
}

static void give(struct reel *r)
{
	g_atomic_int_set(&r->taken, 0);
}

/* With `taken`. A slot that cannot be mapped leaves its block as it is, and the access to it
 * faults again. */
static void slot_show(struct reel *r, uint32_t slot, unsigned kind)
{
	struct slot *s = &r->slots[slot];
	const struct twin *w = &r->twins[kind];
	if (s->shown[kind])
		return;
	s->shown[kind] =
	        mmap(w->shown + s->block * w->block, w->block, PROT_READ,
	             MAP_SHARED | MAP_FIXED, w->file, (off_t)(slot * w->block)) != MAP_FAILED;
}

/* With `taken`: map the pages that are held, where their block is not. */
static void pages_show(struct reel *r, uint32_t block)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	for (uint32_t i = r->page_of ? r->page_of[block] : no_page; i != no_page;
	     i = r->pages[i].next)
		(void)mmap(r->pages[i].at, size, PROT_READ,
		           MAP_SHARED | MAP_FIXED | MAP_POPULATE, r->pages_file,
		           (off_t)(i * size));
}

static void slot_hide(struct reel *r, uint32_t slot)
{
	struct slot *s = &r->slots[slot];
	for (unsigned kind = 0; kind < TWINS; kind++) {
		const struct twin *w = &r->twins[kind];
		if (s->shown[kind])
			(void)mmap(w->shown + s->block * w->block, w->block, PROT_NONE,
			           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
			           0);
		s->shown[kind] = false;
	}
	__atomic_store_n(&r->slot_of[s->block], no_slot, __ATOMIC_RELAXED);
	pages_show(r, s->block);
}

static uint32_t most_slots(const struct reel *r)
{
	return (uint32_t)MIN(r->from.blocks_count, MOST_SLOTS);
}

/* With `taken`: is the block one that readers are in? A reader in order that looks ahead may
 * be at the border of two blocks, and would have each decoded again for each event. */
static bool is_recent(const struct reel *r, uint32_t block)
{
	return block == r->stream || block + 1 == r->stream || block == r->random;
}

/* With `taken`: a slot for the block, in work. */
static uint32_t slot_take(struct reel *r, uint32_t block)
{
	uint32_t slot = r->used;
	if (r->decoded++ > MOST_PASSES * r->from.blocks_count)
		r->room = most_slots(r);
	if (r->used < r->room) {
		r->used++;
	} else {
		uint32_t passed = 0; /* recent ones go where there is no other */
		do {
			slot = r->hand;
			r->hand = (r->hand + 1) % r->used;
		} while (r->slots[slot].state == SLOT_IN_WORK ||
		         (passed++ < r->used && is_recent(r, r->slots[slot].block)));
		slot_hide(r, slot);
	}
	r->slots[slot] = (struct slot){ .block = block, .state = SLOT_IN_WORK };
	__atomic_store_n(&r->slot_of[block], slot, __ATOMIC_RELAXED);
	return slot;
}

/* Drops a block's bytes from memory: a pass needs them once, and the system's cache keeps
 * them. */
static void forget_bytes(const struct reel *r, uint32_t block)
{
	const struct tape_block *b = &r->from.blocks[block];
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE) - 1;
	uintptr_t from = (uintptr_t)(r->from.bytes + b->offset) & ~page;
	uintptr_t end = (uintptr_t)(r->from.bytes + b->offset + b->bytes) & ~page;
	if (r->from.file && end > from)
		(void)madvise((void *)from, end - from, MADV_DONTNEED);
}

/* Without `taken`. */
static void slot_fill(struct reel *r, struct tape *tape, uint32_t slot)
{
	uint32_t block = r->slots[slot].block;
	const struct twin *e = &r->twins[EVENTS], *s = &r->twins[STACKS];
	char *events = e->written + slot * e->block;
	char *stacks = s->written ? s->written + slot * s->block : NULL;
	/* the file may have been overwritten since it was checked */
	if (!decode_block(r, tape, block, (struct event *)(void *)events,
	                  (uint32_t *)(void *)stacks)) {
		memset(events, 0, e->block);
		if (stacks)
			memset(stacks, 0, s->block);
		g_atomic_int_set(&r->bad, (gint)block + 1);
	}
	g_atomic_int_inc(&r->counts->all);
	if (r->way == REEL_IN_PASSES)
		forget_bytes(r, block);
	take(r);
	bool stays = r->room > r->usual_room;
	give(r);
	/* A page that is mapped twice counts twice in the resident size. */
	for (unsigned kind = 0; kind < TWINS && stays; kind++) {
		const struct twin *w = &r->twins[kind];
		if (w->written)
			(void)madvise(w->written + slot * w->block, w->block, MADV_DONTNEED);
	}
	take(r);
	r->slots[slot].state = SLOT_DONE;
	give(r);
}

static void pause_shortly(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 50000 }, NULL);
}

/* With `taken`: the next block that a reader in order will look at, or one that no reader has
 * looked at yet; no_slot: none. */
static uint32_t block_ahead(struct reel *r)
{
	uint64_t count = r->from.blocks_count;
	uint32_t from = r->stream + 1; /* 0 in the beginning */
	for (uint32_t i = from; i < MIN(from + r->room / 2, count); i++)
		if (r->slot_of[i] == no_slot)
			return i;
	for (; r->way == REEL_BY_NEED && r->room == count && (uint32_t)r->next < count;
	     r->next++)
		if (r->slot_of[r->next] == no_slot)
			return (uint32_t)r->next;
	return no_slot;
}

/* Decode a block that will be looked at; false: none is left. */
static bool work_ahead(struct reel *r, struct tape *tape)
{
	take(r);
	uint32_t block = block_ahead(r);
	uint32_t slot = block == no_slot ? no_slot : slot_take(r, block);
	give(r);
	if (slot != no_slot)
		slot_fill(r, tape, slot);
	return slot != no_slot;
}

/* With `taken`. Two consecutive blocks show a reader in order. */
static void note_reader(struct reel *r, uint32_t block)
{
	if (block == r->stream + 1 || block == r->random + 1 || block == 0)
		r->stream = block;
	else
		r->random = block;
	for (guint i = 0; i < r->helper_count; i++)
		sem_post(&r->wanted);
}

static struct tape *tape_take(struct reel *r)
{
	while (!g_atomic_int_compare_and_exchange(&r->tape_taken, 0, 1))
		pause_shortly();
	return r->tape;
}

/* In the handler. */
static void need_block(struct reel *r, uint32_t block, unsigned kind)
{
	bool in_work = true, waits = false;
	take(r);
	note_reader(r, block);
	while (in_work) {
		uint32_t slot = r->slot_of[block];
		bool found = slot != no_slot;
		in_work = !found || r->slots[slot].state == SLOT_IN_WORK;
		if (!in_work) {
			slot_show(r, slot, kind);
			break;
		}
		if (!found)
			slot = slot_take(r, block);
		r->counts->needed += !waits && gettid() == r->opener_id;
		waits = true;
		give(r);
		struct tape *tape = found && r->helper_count == 0 ? NULL : tape_take(r);
		if (!found)
			slot_fill(r, tape, slot);
		else if (tape == NULL || !work_ahead(r, tape))
			pause_shortly();
		if (tape != NULL)
			g_atomic_int_set(&r->tape_taken, 0);
		take(r);
	}
	give(r);
}

static bool need_address(struct reel *r, unsigned kind, const char *at)
{
	const struct twin *w = &r->twins[kind];
	if (w->shown == NULL || at < w->shown || at >= w->shown + w->bytes - w->block)
		return false;
	need_block(r, (uint32_t)((uint64_t)(at - w->shown) / w->block), kind);
	return true;
}

static void fault(int number, siginfo_t *info, void *context)
{
	int error = errno;
	bool ours = false;
	for (struct reel *r = g_atomic_pointer_get(&reels); r != NULL && !ours; r = r->other)
		ours = need_address(r, EVENTS, info->si_addr) ||
		       need_address(r, STACKS, info->si_addr);
	if (!ours) { /* the fault repeats; a signal that was sent does not */
		sigaction(SIGSEGV, &rest, NULL);
		if (info->si_code <= 0)
			raise(number);
	}
	errno = error;
}

static gpointer decode_ahead(gpointer context)
{
	struct reel *r = context;
	struct tape *tape = tape_new();
	while (!g_atomic_int_get(&r->stop)) {
		while (!g_atomic_int_get(&r->stop) && work_ahead(r, tape))
			;
		while (sem_wait(&r->wanted) != 0)
			;
	}
	tape_free(tape);
	return NULL;
}

/* False: not possible here. */
static bool read_by_need(struct trace *t, struct reel *r)
{
	uint64_t blocks = r->from.blocks_count;
	uint32_t slots = most_slots(r);
	if (!twin_new(&r->twins[EVENTS], blocks, slots, sizeof(struct event)))
		return false;
	if (r->from.stacks && !twin_new(&r->twins[STACKS], blocks, slots, sizeof(uint32_t))) {
		twin_free(&r->twins[EVENTS], slots);
		return false;
	}
	t->events = (const void *)r->twins[EVENTS].shown;
	t->stacks = (const void *)r->twins[STACKS].shown;
	r->opener_id = gettid();
	r->counts = &t->storage->decoded;
	r->slots = g_new0(struct slot, slots + 1);
	r->slot_of = g_new(uint32_t, blocks + 1);
	for (uint64_t i = 0; i <= blocks; i++)
		r->slot_of[i] = no_slot;
	r->stream = r->random = no_slot;
	r->way = way;
	r->vouched = r->from.vouched;
	r->usual_room = usual_room;
	r->room = MIN(slots, usual_room);
	if (r->vouched && way != REEL_IN_PASSES)
		r->room = slots;
	r->tape = tape_new();
	g_mutex_lock(&reels_lock);
	if (!handles) {
		struct sigaction action = { .sa_sigaction = fault,
			                    .sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART };
		handles = sigaction(SIGSEGV, &action, &rest) == 0;
	}
	g_mutex_unlock(&reels_lock);
	sem_init(&r->wanted, 0, 0);
	r->helper_count = way == REEL_BY_NEED_ALONE ? 0 : helpers_for(blocks);
	for (guint i = 0; i < r->helper_count; i++)
		r->helpers[i] = g_thread_try_new("decode", decode_ahead, r, NULL);
	return true;
}

bool reel_damaged(const struct reel *r, uint32_t *bad)
{
	gint block = r == NULL ? 0 : g_atomic_int_get(&r->bad);
	*bad = (uint32_t)block - 1;
	return block != 0;
}

void reel_checked(struct reel *r)
{
	if (r == NULL)
		return;
	g_atomic_int_set(&r->vouched, 1);
	take(r);
	if (r->way != REEL_IN_PASSES)
		r->room = most_slots(r);
	r->stream = r->random = no_slot;
	r->decoded = 0;
	give(r);
	for (guint i = 0; i < r->helper_count; i++)
		sem_post(&r->wanted);
}

/* The reel of the trace's events, which views borrow; NULL: all are in memory. */
static struct reel *reel_of(const struct trace *t)
{
	struct reel *r = g_atomic_pointer_get(&reels);
	while (r != NULL && (const void *)r->twins[EVENTS].shown != (const void *)t->events)
		r = r->other;
	return t->events == NULL ? NULL : r;
}

bool trace_at_hand(const struct trace *t, uint32_t event)
{
	const struct reel *r = reel_of(t);
	return r == NULL ||
	       __atomic_load_n(&r->slot_of[event / TAPE_BLOCK], __ATOMIC_RELAXED) != no_slot;
}

bool trace_stays(const struct trace *t)
{
	struct reel *r = reel_of(t);
	if (r == NULL)
		return true;
	take(r);
	bool stays = r->room == most_slots(r);
	give(r);
	return stays;
}

/* With `taken`: keep the page that the event lies on, if it is not kept already and its block
 * is in memory. */
static void page_hold(struct reel *r, uint32_t event)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	uint32_t block = event / TAPE_BLOCK;
	struct event *events = (struct event *)(void *)r->twins[EVENTS].shown;
	char *at = (char *)((uintptr_t)&events[event] & ~(uintptr_t)(size - 1));
	for (uint32_t i = r->page_of[block]; i != no_page; i = r->pages[i].next)
		if (r->pages[i].at == at)
			return;
	if (r->page_count == MOST_PAGES || r->slot_of[block] == no_slot ||
	    pwrite(r->pages_file, at, size, (off_t)(r->page_count * size)) != (ssize_t)size)
		return;
	r->pages[r->page_count] = (struct page){ at, r->page_of[block] };
	r->page_of[block] = r->page_count++;
}

static bool pages_begin(struct reel *r)
{
	if (r->page_of != NULL)
		return true;
	r->pages_file = memfd_create("held events", MFD_CLOEXEC);
	if (r->pages_file < 0)
		return false;
	r->pages = g_new(struct page, MOST_PAGES);
	r->page_of = g_new(uint32_t, r->from.blocks_count + 1);
	memset(r->page_of, 255, (r->from.blocks_count + 1) * sizeof *r->page_of);
	return true;
}

void trace_hold_events(const struct trace *t, const uint32_t *events, uint64_t count)
{
	struct reel *r = reel_of(t);
	if (r == NULL || !pages_begin(r))
		return;
	for (uint64_t i = 0; i < count; i++) {
		(void)*(volatile const uint32_t *)&t->events[events[i]].target;
		take(r);
		page_hold(r, events[i]);
		give(r);
	}
}

void trace_keep_events(const struct trace *t)
{
	struct reel *r = reel_of(t);
	if (r == NULL)
		return;
	take(r);
	r->room = most_slots(r);
	give(r);
}

bool trace_keep_events_shortly(const struct trace *t)
{
	if (t->events_count > EVENTS_KEPT)
		return false;
	trace_keep_events(t);
	return true;
}

/* With `taken`: does a thread decode a block? */
static bool in_work(const struct reel *r)
{
	bool some = false;
	for (uint32_t i = 0; i < r->used; i++)
		some |= r->slots[i].state == SLOT_IN_WORK;
	return some;
}

/* With `taken`, and no block in work: gives back the memory of all slots but the first ones. */
static void slots_clear(struct reel *r, uint32_t stay)
{
	stay = MIN(stay, r->used);
	for (uint32_t i = stay; i < r->used; i++)
		slot_hide(r, i);
	for (unsigned kind = 0; kind < TWINS; kind++) {
		const struct twin *w = &r->twins[kind];
		if (w->written && (ftruncate(w->file, (off_t)(stay * w->block)) != 0 ||
		                   ftruncate(w->file, (off_t)(most_slots(r) * w->block)) != 0))
			BUG("the events' memory cannot be given back");
	}
	r->used = stay;
	r->hand = 0;
	r->stream = r->random = no_slot;
	r->decoded = 0;
}

void trace_leave_events(const struct trace *t, uint64_t stay)
{
	struct reel *r = reel_of(t);
	if (r == NULL || r->way != REEL_IN_PASSES)
		return;
	take(r);
	r->room = MIN(most_slots(r), r->usual_room);
	while (in_work(r)) {
		give(r);
		pause_shortly();
		take(r);
	}
	slots_clear(r, (uint32_t)MIN(stay / TAPE_BLOCK, UINT32_MAX));
	give(r);
}

static struct reel *reel_take(const struct reel_source *source)
{
	g_mutex_lock(&reels_lock);
	struct reel *r = reels;
	while (r != NULL && r->used_by_trace)
		r = r->other;
	if (r == NULL) {
		r = g_new0(struct reel, 1);
		r->other = reels;
		g_atomic_pointer_set(&reels, r);
	}
	memset(r, 0, offsetof(struct reel, other));
	r->from = *source;
	r->used_by_trace = true;
	g_mutex_unlock(&reels_lock);
	return r;
}

static void reel_give_back(struct reel *r)
{
	g_mutex_lock(&reels_lock);
	r->used_by_trace = false;
	g_mutex_unlock(&reels_lock);
}

void reel_free(struct reel *r)
{
	if (r == NULL)
		return;
	uint32_t slots = most_slots(r);
	g_atomic_int_set(&r->stop, 1);
	for (guint i = 0; i < r->helper_count; i++)
		sem_post(&r->wanted);
	for (guint i = 0; i < r->helper_count; i++)
		if (r->helpers[i])
			g_thread_join(r->helpers[i]);
	sem_destroy(&r->wanted);
	twin_free(&r->twins[EVENTS], slots);
	twin_free(&r->twins[STACKS], slots);
	tape_free(r->tape);
	g_free(r->slots);
	g_free(r->slot_of);
	if (r->page_of != NULL)
		close(r->pages_file);
	g_free(r->page_of);
	g_free(r->pages);
	reel_give_back(r);
}

/* Reading on demand is not worth it for a trace that fits the room. */
static bool by_need(const struct reel_source *source)
{
	return way == REEL_IN_PASSES ? source->blocks_count > usual_room : way != REEL_WHOLE;
}

bool reel_read(struct trace *t, const struct reel_source *source,
               const struct progress *progress, uint32_t *bad)
{
	t->stacks_count = source->stacks ? t->events_count : 0;
	if (by_need(source)) {
		struct reel *r = reel_take(source);
		if (read_by_need(t, r)) {
			t->storage->reel = r;
			return true;
		}
		reel_give_back(r);
	}
	struct reel whole = { .from = *source,
		              .vouched = source->vouched,
		              .progress = progress,
		              .opener = g_thread_self() };
	return read_whole(t, &whole, bad);
}
