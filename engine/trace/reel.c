/*
 * reel.c - see reel.h. By need, the events are a file of memory that is mapped twice. Where
 * they are read from, a block cannot be accessed until it has been decoded through the other
 * mapping: the first access to it is a fault (SIGSEGV), whose handler decodes the block, or
 * waits for the thread that does, and the access is made again. So readers need no call, and
 * see whole blocks only.
 *
 * The handler allocates nothing and takes no lock that it could have interrupted: a thread that
 * decodes looks at no events.
 */
#include "engine/trace/reel.h"
#include "engine/base/scattered.h"
#include "engine/trace/binary_private.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* Mappings are limited (65530 of a process), and each block may need one of each kind. */
enum { MOST_HELPERS = 16, MOST_BY_NEED = 12000 };

enum block_state { BLOCK_RAW, BLOCK_IN_WORK, BLOCK_DONE };

/* Memory with one element for each event, mapped twice. */
struct twin {
	char *shown, *written; /* NULL: none */
	size_t bytes, block;   /* of the whole; of a block */
};

struct reel {
	struct reel_source from;
	/* at once */
	struct event *events;
	uint32_t *stacks; /* or NULL */
	const struct progress *progress;
	GThread *opener; /* the thread that opens the trace */
	gint next, bad;  /* atomic: block to decode next; one that is damaged plus one */
	bool cancelled;
	/* by need */
	struct twin events_twin, stacks_twin;
	gint *states;                  /* enum block_state, atomic */
	gint stop;                     /* atomic: helpers are to end */
	struct decoded_blocks *counts; /* the trace's */
	pid_t opener_id;
	gint tape_taken;   /* atomic: `tape` is in use */
	struct tape *tape; /* of those who meet a block by need */
	GThread *helpers[MOST_HELPERS];
	guint helper_count;
	bool used; /* it belongs to a trace */
	/* in the list of all; the last member, as it stays what it is (reel_take) */
	struct reel *other;
};

static enum reel_way way;
/* All that there ever were, for the handler, which takes no lock: so none is freed, but used
 * again. That of a trace which is just being opened or closed has no address that faults. */
static struct reel *reels;    /* atomic */
static GMutex reels_lock;     /* of those that open and close traces */
static bool handles;          /* faults */
static struct sigaction rest; /* what is done about faults of other kinds */

void reel_set_fault_action(const struct sigaction *action)
{
	if (handles)
		rest = *action;
	else
		sigaction(SIGSEGV, action, NULL);
}

void reel_set_way(enum reel_way to)
{
	way = to;
}

static bool decode_block(const struct reel *r, struct tape *tape, uint64_t i,
                         struct event *events, uint32_t *of)
{
	const struct tape_block *b = &r->from.blocks[i];
	const uint8_t *bytes = r->from.bytes + b->offset;
	struct tape_stacks stacks = { of, r->from.contexts, r->from.contexts_count };
	return (r->from.vouched || trace_sum(bytes, b->bytes) == b->sum) &&
	       tape_decode(tape, bytes, b->bytes, &r->from.places, b->count, events, &stacks);
}

static guint helpers_for(uint64_t blocks)
{
	enum { SHARE = 8 /* blocks that are worth a thread */ };
	guint others = MIN(g_get_num_processors() - 1, MOST_HELPERS);
	return MIN(others, (guint)(blocks / SHARE));
}

/* -- at once ------------------------------------------------------------------------------- */

/* Tells the thread that opens the trace how far it is; false when that is to end. */
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

static void twin_free(struct twin *w)
{
	struct twin was = *w;
	*w = (struct twin){ 0 };
	if (was.shown)
		munmap(was.shown, was.bytes);
	if (was.written)
		munmap(was.written, was.bytes);
}

static char *map_twin(int fd, size_t bytes, int access)
{
	void *at = mmap(NULL, bytes, access, MAP_SHARED | MAP_NORESERVE, fd, 0);
	return at == MAP_FAILED ? NULL : at;
}

/* Room for the blocks, and for one more, which can be read: a reader in order may look ahead.
 */
static bool twin_new(struct twin *w, uint64_t blocks, size_t element)
{
	size_t block = (size_t)TAPE_BLOCK * element, bytes = (blocks + 1) * block;
	int fd = block % (size_t)sysconf(_SC_PAGESIZE) ? -1
	                                               : memfd_create("events", MFD_CLOEXEC);
	if (fd < 0)
		return false;
	if (ftruncate(fd, (off_t)bytes) == 0)
		*w = (struct twin){ map_twin(fd, bytes, PROT_NONE),
			            map_twin(fd, bytes, PROT_READ | PROT_WRITE), bytes, block };
	close(fd);
	if (w->shown && w->written &&
	    mprotect(w->shown + blocks * block, block, PROT_READ | PROT_WRITE) == 0)
		return true;
	twin_free(w);
	return false;
}

static void twin_show(struct twin *w, uint64_t i)
{
	if (w->shown)
		(void)mprotect(w->shown + i * w->block, w->block, PROT_READ | PROT_WRITE);
}

static void show_block(struct reel *r, struct tape *tape, uint64_t i)
{
	uint64_t at = i * TAPE_BLOCK;
	struct event *events = (struct event *)(void *)r->events_twin.written + at;
	uint32_t *stacks = (uint32_t *)(void *)r->stacks_twin.written;
	/* The block was whole when it was checked: its file has been written over since. */
	if (!decode_block(r, tape, i, events, stacks ? stacks + at : NULL))
		memset(events, 0, r->events_twin.block);
	twin_show(&r->events_twin, i);
	twin_show(&r->stacks_twin, i);
	g_atomic_int_inc(&r->counts->all);
	g_atomic_int_set(&r->states[i], BLOCK_DONE);
}

static void pause_shortly(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 50000 }, NULL);
}

/* In the handler. */
static void need_block(struct reel *r, uint64_t i)
{
	r->counts->needed += gettid() == r->opener_id;
	if (g_atomic_int_compare_and_exchange(&r->states[i], BLOCK_RAW, BLOCK_IN_WORK)) {
		while (!g_atomic_int_compare_and_exchange(&r->tape_taken, 0, 1))
			pause_shortly();
		show_block(r, r->tape, i);
		g_atomic_int_set(&r->tape_taken, 0);
	}
	while (g_atomic_int_get(&r->states[i]) != BLOCK_DONE)
		pause_shortly();
}

static bool need_address(struct reel *r, const struct twin *w, const char *at)
{
	if (w->shown == NULL || at < w->shown || at >= w->shown + w->bytes - w->block)
		return false;
	need_block(r, (uint64_t)(at - w->shown) / w->block);
	return true;
}

static void fault(int number, siginfo_t *info, void *context)
{
	int error = errno;
	bool ours = false;
	for (struct reel *r = g_atomic_pointer_get(&reels); r != NULL && !ours; r = r->other)
		ours = need_address(r, &r->events_twin, info->si_addr) ||
		       need_address(r, &r->stacks_twin, info->si_addr);
	if (!ours) { /* again, without us; what another process sent does not come again */
		sigaction(SIGSEGV, &rest, NULL);
		if (info->si_code <= 0)
			raise(number);
	}
	errno = error;
}

static gpointer decode_others(gpointer context)
{
	struct reel *r = context;
	struct tape *tape = tape_new();
	while (!g_atomic_int_get(&r->stop)) {
		guint i = (guint)g_atomic_int_add(&r->next, 1);
		if (i >= r->from.blocks_count)
			break;
		if (g_atomic_int_compare_and_exchange(&r->states[i], BLOCK_RAW, BLOCK_IN_WORK))
			show_block(r, tape, i);
	}
	tape_free(tape);
	return NULL;
}

/* False: not possible here. */
static bool read_by_need(struct trace *t, struct reel *r)
{
	uint64_t blocks = r->from.blocks_count;
	if (blocks > MOST_BY_NEED || !twin_new(&r->events_twin, blocks, sizeof(struct event)))
		return false;
	if (r->from.stacks && !twin_new(&r->stacks_twin, blocks, sizeof(uint32_t))) {
		twin_free(&r->events_twin);
		return false;
	}
	t->events = (const void *)r->events_twin.shown;
	t->stacks = (const void *)r->stacks_twin.shown;
	r->opener_id = gettid();
	r->counts = &t->storage->decoded;
	r->states = g_new0(gint, blocks + 1);
	r->tape = tape_new();
	g_mutex_lock(&reels_lock);
	if (!handles) {
		struct sigaction action = { .sa_sigaction = fault,
			                    .sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART };
		handles = sigaction(SIGSEGV, &action, &rest) == 0;
	}
	g_mutex_unlock(&reels_lock);
	r->helper_count = way == REEL_BY_NEED ? helpers_for(blocks) : 0;
	for (guint i = 0; i < r->helper_count; i++)
		r->helpers[i] = g_thread_try_new("decode", decode_others, r, NULL);
	return true;
}

static struct reel *reel_take(const struct reel_source *source)
{
	g_mutex_lock(&reels_lock);
	struct reel *r = reels;
	while (r != NULL && r->used)
		r = r->other;
	if (r == NULL) {
		r = g_new0(struct reel, 1);
		r->other = reels;
		g_atomic_pointer_set(&reels, r);
	}
	memset(r, 0, offsetof(struct reel, other));
	r->from = *source;
	r->used = true;
	g_mutex_unlock(&reels_lock);
	return r;
}

static void reel_give_back(struct reel *r)
{
	g_mutex_lock(&reels_lock);
	r->used = false;
	g_mutex_unlock(&reels_lock);
}

void reel_free(struct reel *r)
{
	if (r == NULL)
		return;
	g_atomic_int_set(&r->stop, 1);
	for (guint i = 0; i < r->helper_count; i++)
		if (r->helpers[i])
			g_thread_join(r->helpers[i]);
	twin_free(&r->events_twin);
	twin_free(&r->stacks_twin);
	tape_free(r->tape);
	g_free(r->states);
	reel_give_back(r);
}

bool reel_read(struct trace *t, const struct reel_source *source,
               const struct progress *progress, uint32_t *bad)
{
	t->stacks_count = source->stacks ? t->events_count : 0;
	if (way != REEL_WHOLE && source->vouched) {
		struct reel *r = reel_take(source);
		if (read_by_need(t, r)) {
			t->storage->reel = r;
			return true;
		}
		reel_give_back(r);
	}
	struct reel whole = { .from = *source,
		              .progress = progress,
		              .opener = g_thread_self() };
	return read_whole(t, &whole, bad);
}
