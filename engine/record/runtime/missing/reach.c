/*
 * reach.c - what a call whose inside is not recorded may reach: the blocks and variables that
 * its arguments point to, directly and through others (RDIT, section 4.4.3).
 *
 * Types are unknown here.  A word that is an address in a live heap block, in the static data
 * of the program and its libraries, in a mapping or in a stack is taken for a pointer, as a
 * conservative collector does.  Blocks are looked at whole; of other memory, whose ends are not
 * known, so much as a variable usually has.  Knows nothing of what the list is for.
 */
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include "engine/record/runtime/core/rt.h"

enum {
	MAX_REACHED = 2048, /* for one call: fits into a record */
	SLOTS = 4 * MAX_REACHED,
	MAX_RANGES = 512,
	DATA_WINDOW = 256, /* bytes that are searched where the end is unknown */
	STACK_WINDOW = 512,
	ALL_WORDS = 1 << 13, /* of one call, */
	FEW_WORDS = 1 << 8,  /* and when the run has searched more than it may: see allowance */
	BIG = 4096,          /* bytes; a bigger entry is scanned after all others */
	BUFFER_WORDS = 4096,
};

struct reach { /* a thread's */
	struct log_reached list[MAX_REACHED];
	unsigned count;
	bool cut;
	uint64_t words; /* number that may still be searched */
	uint32_t stamp;
	struct {
		uint32_t stamp, entry;
	} slots[SLOTS];
	/* The entries that each entry of the list points to; found only once, when
	 * `scanned`. */
	struct {
		uint16_t first, count;
		uint8_t mask;    /* the arguments through which the call reaches this entry
		                  * and may follow its pointers, */
		uint8_t touched; /* and those through which it reaches this entry only */
		bool readable, mapped, scanned, queued, deferred;
	} nodes[MAX_REACHED];
	uint16_t edges[ALL_WORDS];
	unsigned edge_count;
	uint16_t queue[MAX_REACHED]; /* a ring: no entry is in it twice */
	unsigned queue_first, queued;
	uint16_t big[MAX_REACHED];
	unsigned big_first, big_count;
	uint64_t buffer[BUFFER_WORDS]; /* copy of memory that may be unreadable */
	bool caught;                   /* faults_caught: copy_here may be used */
	int pid;
};

/* copy_here's instruction, and the one behind it */
extern const char reach_reads[] __attribute__((visibility("hidden")));
extern const char reach_has_read[] __attribute__((visibility("hidden")));

static uint64_t looked_at; /* words, in the whole run */
static bool late;          /* blocks allocated earlier are unknown */

void reach_init(void)
{
	if (rt.reaching)
		return;
	rt.reaching = blocks_init();
	late = !rt.reaching || me->ordinal > 0;
}

/*
 * Reading memory that may be unmapped or protected.  A fault must not reach the program: in
 * free mode another thread may unmap any memory meanwhile, and in both modes the program may
 * have unmapped a mapping or protected pages of a block.
 */

/* Copies up to the first byte that cannot be read; returns how many bytes are left.  After a
 * fault of its instruction reach_fault continues behind that instruction. */
static __attribute__((noinline, noclone)) size_t copy_here(void *to, uintptr_t from,
                                                           size_t bytes)
{
	__asm__ volatile("reach_reads: rep movsb\n"
	                 "reach_has_read:\n"
	                 : "+D"(to), "+S"(from), "+c"(bytes)
	                 :
	                 : "memory");
	return bytes;
}

bool reach_fault(ucontext_t *context)
{
	greg_t *pc = &context->uc_mcontext.gregs[REG_RIP];
	if (*pc != (greg_t)(uintptr_t)reach_reads)
		return false;
	*pc = (greg_t)(uintptr_t)reach_has_read;
	return true;
}

/* Returns the number of bytes read.  A `mapped` file or device is read by the kernel, which
 * refuses devices, as reading those may wait or have an effect. */
static size_t copy(const struct reach *r, void *to, uintptr_t from, size_t bytes, bool mapped)
{
	if (r->caught && !mapped)
		return bytes - copy_here(to, from, bytes);
	struct iovec here = { to, bytes }, there = { (void *)from, bytes };
	long n = raw_syscall(SYS_process_vm_readv, r->pid, (long)&here, 1, (long)&there, 1, 0);
	return n < 0 ? 0 : (size_t)n;
}

/*
 * The live block that holds an address, and its size; 0 without such a block. In controlled
 * mode its length is in the C library's header before it; in free mode the block may be freed
 * meanwhile. `readable`: it lies among others, and can be read as it is.
 */
static uintptr_t block_at(uintptr_t address, size_t *size, bool *readable)
{
	enum { MAPPED = 2 }; /* alone, in a mapping */
	uintptr_t block = block_before(address);
	if (!block)
		return 0;
	if (rt.controlled) {
		uint64_t head = *(const uint64_t *)(block - 8);
		*size = head & ~7ull;
		*size = *size < 16 ? 0 : head & MAPPED ? *size - 16 : *size - 8;
		*readable = !(head & MAPPED) && !rt.protects;
	} else {
		uintptr_t end = block_end(block);
		*size = end > block ? end - block : 0;
		*readable = false;
	}
	return address - block < (*size ? *size : 1) ? block : 0;
}

/* ---- other memory ---- */

static struct {
	uintptr_t low, high;
	bool mapped;
} ranges[MAX_RANGES];
static volatile unsigned range_count;
static uintptr_t ranges_low = UINTPTR_MAX, ranges_high;

static void add_range(uintptr_t low, uintptr_t high, bool mapped)
{
	unsigned i = __atomic_fetch_add(&range_count, 1, __ATOMIC_RELAXED);
	if (i >= MAX_RANGES) {
		range_count = MAX_RANGES;
		return;
	}
	ranges[i].low = low;
	ranges[i].high = high;
	ranges[i].mapped = mapped;
	ranges_low = low < ranges_low ? low : ranges_low;
	ranges_high = high > ranges_high ? high : ranges_high;
}

void reach_data(uintptr_t low, uintptr_t high)
{
	add_range(low, high, false);
}

void reach_mapped(const void *p, size_t size)
{
	add_range((uintptr_t)p, (uintptr_t)p + size, true);
}

/* The end of the static data or mapping that contains an address, or 0. */
static uintptr_t range_end(uintptr_t address, bool *mapped)
{
	if (address < ranges_low || address >= ranges_high)
		return 0;
	for (unsigned i = 0, n = range_count; i < n; i++)
		if (address - ranges[i].low < ranges[i].high - ranges[i].low) {
			*mapped = ranges[i].mapped;
			return ranges[i].high;
		}
	return 0;
}

/* The end of a frame: at its return address, which is searched upwards from its hook's
 * frame. */
uintptr_t frame_return(const struct frame *f, uintptr_t limit)
{
	enum { WORDS = 1024 };
	const uintptr_t *word = (const uintptr_t *)f->sp + 2, *end = (const uintptr_t *)limit;
	for (unsigned i = 0; i < WORDS && word + i < end; i++)
		if (word[i] == f->call)
			return (uintptr_t)(word + i);
	return 0;
}

/*
 * The end of the frame that contains an address in a stack; where that is unknown (in another
 * thread's stack the frames may be changing) the end of the word itself. 0: not in the stack,
 * or above all frames of the first thread, where the environment lies.
 */
static uintptr_t frame_end(const struct thread *of, uintptr_t address, bool own)
{
	uintptr_t limit = of->life.stack_high, end = 0;
	if (address < of->life.stack_low || address >= limit)
		return 0;
	uint32_t depth = of->depth < MAX_FRAMES ? of->depth : MAX_FRAMES, low = 0, high = depth;
	while (low < high) { /* the first whose hook lies below; its frame begins there */
		uint32_t middle = (low + high) / 2;
		if (of->frames[middle].sp >= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low > 0)
		limit = of->frames[low - 1].sp;
	if (low < depth && (own || rt.controlled))
		end = frame_return(&of->frames[low], limit);
	if (of->id == 0 && low == 0 && end <= address)
		return 0;
	return end > address ? end : address + 8;
}

/* Range of all stacks so far: most words point to no place near it. */
static uintptr_t stacks_low = UINTPTR_MAX, stacks_high;

void reach_stack(uintptr_t low, uintptr_t high)
{
	uintptr_t was = __atomic_load_n(&stacks_low, __ATOMIC_RELAXED);
	while (low < was && !__atomic_compare_exchange_n(&stacks_low, &was, low, false,
	                                                 __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	was = __atomic_load_n(&stacks_high, __ATOMIC_RELAXED);
	while (high > was && !__atomic_compare_exchange_n(&stacks_high, &was, high, false,
	                                                  __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

static uintptr_t stack_end(const struct thread *t, uintptr_t address)
{
	if (address < stacks_low || address >= stacks_high)
		return 0;
	uintptr_t end = frame_end(t, address, true);
	for (uint32_t i = 0; !end && i < rt.thread_count && i < MAX_THREADS; i++)
		if (rt.threads[i] && rt.threads[i]->sched.state != STATE_DONE)
			end = frame_end(rt.threads[i], address, false);
	return end;
}

/* ---- the search ---- */

/* The entry of a place: an older one of this call, or a new one.  -1: no room. */
static int entry_of(struct reach *r, uintptr_t place, bool *is_new)
{
	unsigned slot =
	        ((uint32_t)(place >> 3) * 2654435761u ^ (uint32_t)(place >> 35)) % SLOTS;
	for (; r->slots[slot].stamp == r->stamp; slot = (slot + 1) % SLOTS) {
		unsigned entry = r->slots[slot].entry;
		if (r->list[entry].place == place)
			return (int)entry;
	}
	if (r->count == MAX_REACHED) {
		r->cut = true;
		return -1;
	}
	r->slots[slot].stamp = r->stamp;
	r->slots[slot].entry = r->count;
	*is_new = true;
	return (int)r->count++;
}

static uintptr_t window(uintptr_t from, uintptr_t end, uintptr_t most)
{
	return end - from < most ? end - from : most;
}

/* The entry of the memory that a word points to; -1: the word is no pointer. */
static int pointed_to(struct thread *t, uintptr_t word)
{
	struct reach *r = t->missing.reach;
	uintptr_t end, place = word;
	size_t bytes;
	bool is_new = false, readable = false, mapped = false;
	if (word < 4096 || word >> 47)
		return -1;
	uintptr_t block = block_at(word, &bytes, &readable);
	if (block)
		place = block;
	else if ((end = range_end(word, &mapped)) != 0)
		bytes = window(word, end, DATA_WINDOW);
	else if ((end = stack_end(t, word)) != 0)
		bytes = window(word, end, STACK_WINDOW), readable = rt.controlled;
	else
		return -1;
	int i = entry_of(r, place, &is_new);
	if (is_new) {
		r->list[i] = (struct log_reached){ place, bytes };
		memset(&r->nodes[i], 0, sizeof(r->nodes[i]));
		r->nodes[i].readable = readable;
		r->nodes[i].mapped = mapped;
	}
	return i;
}

static void scan_words(struct thread *t, const uint64_t *words, size_t count)
{
	struct reach *r = t->missing.reach;
	for (size_t i = 0; i < count; i++) {
		int to = words[i] >> 12 ? pointed_to(t, words[i]) : -1;
		if (to >= 0) /* no more edges than words */
			r->edges[r->edge_count++] = to;
	}
}

/* Looks for the blocks that an entry points to. */
static void scan(struct thread *t, unsigned entry)
{
	struct reach *r = t->missing.reach;
	uintptr_t place = r->list[entry].place;
	uintptr_t from = (place + 7) & ~7ull, to = (place + r->list[entry].bytes) & ~7ull;
	size_t words = to > from ? (to - from) / 8 : 0;
	if (words > r->words) { /* the list is incomplete anyway: search the beginning only */
		words = r->words < BIG / 8 ? r->words : BIG / 8;
		r->cut = true;
	}
	r->words -= words;
	if (r->nodes[entry].readable) {
		scan_words(t, (const uint64_t *)from, words);
		return;
	}
	for (size_t done = 0; done < words;) {
		size_t most = words - done < BUFFER_WORDS ? words - done : BUFFER_WORDS;
		size_t n =
		        copy(r, r->buffer, from + 8 * done, 8 * most, r->nodes[entry].mapped) /
		        8;
		scan_words(t, r->buffer, n);
		done += n;
		if (n < most) /* the page that is protected or gone is left out */
			done = ((from + 8 * done + 4096) / 4096 * 4096 - from) / 8;
	}
}

/* Adds these arguments to the entry, and to the blocks that it points to. */
static void add(struct reach *r, unsigned entry, unsigned mask)
{
	if (!(mask & ~r->nodes[entry].mask))
		return;
	r->nodes[entry].mask |= mask;
	if (r->nodes[entry].queued)
		return;
	r->nodes[entry].queued = true;
	r->queue[(r->queue_first + r->queued++) % MAX_REACHED] = entry;
}

/* The entry to scan next, or -1: the nearest first, as they are more likely where not all can
 * be searched, and tables of thousands last. */
static int next_entry(struct reach *r)
{
	while (r->queued) {
		unsigned entry = r->queue[r->queue_first];
		r->queue_first = (r->queue_first + 1) % MAX_REACHED;
		r->queued--;
		r->nodes[entry].queued = false;
		if (r->nodes[entry].scanned || r->list[entry].bytes <= BIG)
			return (int)entry;
		if (!r->nodes[entry].deferred)
			r->big[r->big_count++] = entry;
		r->nodes[entry].deferred = true;
	}
	return r->big_first < r->big_count ? r->big[r->big_first++] : -1;
}

/* The entries that an entry points to: `count` edges. */
static const uint16_t *edges_of(struct thread *t, unsigned entry, unsigned *count)
{
	struct reach *r = t->missing.reach;
	if (!r->nodes[entry].scanned) {
		r->nodes[entry].scanned = true;
		r->nodes[entry].first = r->edge_count;
		scan(t, entry);
		r->nodes[entry].count = r->edge_count - r->nodes[entry].first;
	}
	*count = r->nodes[entry].count;
	return r->edges + r->nodes[entry].first;
}

static void spread(struct thread *t)
{
	struct reach *r = t->missing.reach;
	for (int entry; (entry = next_entry(r)) >= 0;) {
		unsigned count;
		const uint16_t *to = edges_of(t, entry, &count);
		for (unsigned i = 0; i < count; i++)
			add(r, to[i], r->nodes[entry].mask);
	}
}

/* Adds the reach of an argument that is followed one step: the memory that it points to; with
 * `near` two steps. */
static void touch(struct thread *t, unsigned entry, unsigned bit, bool near)
{
	struct reach *r = t->missing.reach;
	unsigned count;
	r->nodes[entry].touched |= bit;
	if (!near)
		return;
	const uint16_t *to = edges_of(t, entry, &count);
	for (unsigned i = 0; i < count; i++)
		r->nodes[to[i]].touched |= bit;
}

/*
 * Number of words that a call may search. All calls together may search four times as many as
 * the log has, so that this costs little compared with the rest; in controlled mode one seed
 * gives one log.
 */
static uint64_t allowance(void)
{
	const uint64_t each = 4 * LOG_CHUNK / 8;
	uint64_t chunks = __atomic_load_n(&rt.header->chunks, __ATOMIC_RELAXED);
	uint64_t all = __atomic_load_n(&looked_at, __ATOMIC_RELAXED);
	return all < (chunks + 1) * each ? ALL_WORDS : FEW_WORDS;
}

unsigned reach_scan(struct thread *t, const uint64_t *arguments, unsigned mask,
                    const struct log_reached **list, bool *cut)
{
	struct reach *r = t->missing.reach;
	if (!r)
		r = t->missing.reach = rt_pages(sizeof(*r));
	*cut = true;
	if (!r || !rt.reaching)
		return 0;
	uint64_t words = allowance();
	r->words = words;
	r->count = r->edge_count = 0;
	r->queue_first = r->queued = r->big_first = r->big_count = 0;
	r->cut = false;
	r->stamp++;
	r->caught = faults_caught();
	r->pid = (int)raw_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
	for (unsigned i = 0; i < LOG_ARGUMENTS; i++) {
		unsigned far = mask >> i & 1, bytes = mask >> (LOG_ARGUMENTS + i) & 1,
		         near = mask >> (2 * LOG_ARGUMENTS + i) & 1;
		int entry = far || bytes || near ? pointed_to(t, arguments[i]) : -1;
		if (entry >= 0 && far)
			add(r, entry, 1u << i);
		else if (entry >= 0)
			touch(t, entry, 1u << i, near);
	}
	spread(t);
	for (unsigned i = 0; i < r->count; i++)
		r->list[i].place |= (uint64_t)(r->nodes[i].mask | r->nodes[i].touched)
		                    << LOG_REACHED_SHIFT;
	__atomic_fetch_add(&looked_at, words - r->words, __ATOMIC_RELAXED);
	*list = r->list;
	*cut = r->cut || late;
	return r->count;
}
