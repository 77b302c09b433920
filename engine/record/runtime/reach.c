/*
 * reach.c - what a call whose inside is not recorded may reach: the blocks and variables that
 * its arguments point to, and what these point to (RDIT, section 4.4.3).
 *
 * There are no types here.  A word that is an address in a live heap block, in the static data
 * of the program and its libraries, in a mapping or in a stack is taken for a pointer, as a
 * conservative collector does.  Blocks are looked at whole; of other memory, whose ends are not
 * known, so much as a variable usually has.  Knows nothing of what the list is for.
 */
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "rt.h"

enum {
	MAX_REACHED = 2048, /* of one call: fits into a record */
	SLOTS = 4 * MAX_REACHED,
	MAX_RANGES = 512,
	DATA_WINDOW = 256, /* bytes that are looked at where the end is not known */
	STACK_WINDOW = 512,
	ALL_WORDS = 1 << 13, /* of one call, */
	FEW_WORDS = 1 << 8,  /* and when the run has looked at so many in all: */
	BUFFER_WORDS = 4096,
	DIRECT = 8192, /* bytes of a block that are read as they lie there; see copy() */
};
#define PATIENCE (1ull << 18)

struct reach { /* a thread's */
	struct log_reached list[MAX_REACHED];
	unsigned count;
	bool cut;
	uint64_t words; /* that may still be looked at */
	uint32_t stamp;
	struct {
		uint32_t stamp, entry;
	} slots[SLOTS];
	unsigned work[MAX_REACHED], work_count;
	uint64_t buffer[BUFFER_WORDS]; /* of what may not be readable */
};

/* ---- heap blocks: a bit for each 16 bytes, set where a block begins ---- */

#define LEAF_SHIFT   24 /* bytes of address space of a leaf */
#define LEAF_WORDS   (1u << (LEAF_SHIFT - 4 - 6))
#define LEAVES       (1ull << (47 - LEAF_SHIFT))
#define MAX_BACKWARD (2 * LEAF_WORDS)
static uint64_t **leaves;
static uint64_t looked_at; /* words, in the whole run */

static bool late; /* blocks that were there before are not known */

void reach_init(void)
{
	if (rt.reaching)
		return;
	leaves = rt_pages(LEAVES * sizeof(*leaves));
	rt.reaching = leaves != NULL;
	late = !leaves || me->ordinal > 0;
}

static uint64_t *leaf_of(uintptr_t address, bool make)
{
	uint64_t i = address >> LEAF_SHIFT;
	if (i >= LEAVES)
		return NULL;
	uint64_t *leaf = __atomic_load_n(&leaves[i], __ATOMIC_ACQUIRE);
	if (!leaf && make) {
		uint64_t *none = NULL, *new = rt_pages(LEAF_WORDS * sizeof(*new));
		/* Another thread may have been faster; its leaf it is then. */
		if (new && !__atomic_compare_exchange_n(&leaves[i], &none, new, false,
		                                        __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
			raw_syscall(SYS_munmap, (long)new, LEAF_WORDS * sizeof(*new), 0, 0, 0,
			            0);
			new = none;
		}
		leaf = new;
	}
	return leaf;
}

static uint64_t *word_of(uint64_t *leaf, uintptr_t address)
{
	return &leaf[address >> 10 & (LEAF_WORDS - 1)];
}

void reach_allocated(const void *p)
{
	uint64_t *leaf = p ? leaf_of((uintptr_t)p, true) : NULL;
	uint64_t bit = 1ull << ((uintptr_t)p >> 4 & 63);
	if (leaf && rt.controlled)
		*word_of(leaf, (uintptr_t)p) |= bit;
	else if (leaf)
		__atomic_fetch_or(word_of(leaf, (uintptr_t)p), bit, __ATOMIC_RELAXED);
}

void reach_freed(const void *p)
{
	uint64_t *leaf = p ? leaf_of((uintptr_t)p, false) : NULL;
	uint64_t bit = 1ull << ((uintptr_t)p >> 4 & 63);
	if (leaf && rt.controlled)
		*word_of(leaf, (uintptr_t)p) &= ~bit;
	else if (leaf)
		__atomic_fetch_and(word_of(leaf, (uintptr_t)p), ~bit, __ATOMIC_RELAXED);
}

/*
 * How much of the memory can be read; a fault would be the program's.  In free mode any may go
 * away, and at any time mappings, and the pages in big blocks that the program protects.
 */
static size_t copy(void *to, uintptr_t from, size_t bytes)
{
	struct iovec here = { to, bytes }, there = { (void *)from, bytes };
	long pid = raw_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
	long n = raw_syscall(SYS_process_vm_readv, pid, (long)&here, 1, (long)&there, 1, 0);
	return n < 0 ? 0 : (size_t)n;
}

/* Bytes of the block that begins there: what the C library's allocator has in front of it. */
static size_t block_size(uintptr_t block)
{
	uint64_t head;
	if (rt.controlled)
		head = *(const uint64_t *)(block - 8);
	else if (copy(&head, block - 8, 8) != 8)
		return 0;
	size_t size = head & ~7ull;
	return size < 16 ? 0 : head & 2 ? size - 16 : size - 8;
}

/* The live block that holds an address, and its size; 0 when there is none. */
static uintptr_t block_at(uintptr_t address, size_t *size)
{
	uint64_t *leaf = leaf_of(address, false);
	uint64_t mask = ~0ull >> (63 - (address >> 4 & 63));
	uintptr_t at = address & ~1023ull; /* what the word stands for begins there */
	for (unsigned steps = 0; leaf && steps < MAX_BACKWARD; steps++) {
		uint64_t bits = __atomic_load_n(word_of(leaf, at), __ATOMIC_RELAXED) & mask;
		if (bits) {
			uintptr_t block = at + (63 - __builtin_clzll(bits)) * 16ull;
			*size = block_size(block);
			return address - block < (*size ? *size : 1) ? block : 0;
		}
		mask = ~0ull;
		at -= 1024;
		if ((at & ((1ull << LEAF_SHIFT) - 1)) == (1ull << LEAF_SHIFT) - 1024)
			leaf = leaf_of(at, false);
	}
	return 0;
}

/* ---- other memory ---- */

static struct {
	uintptr_t low, high;
} ranges[MAX_RANGES];
static volatile unsigned range_count;
static uintptr_t ranges_low = UINTPTR_MAX, ranges_high;

void reach_data(uintptr_t low, uintptr_t high)
{
	unsigned i = __atomic_fetch_add(&range_count, 1, __ATOMIC_RELAXED);
	if (i >= MAX_RANGES) {
		range_count = MAX_RANGES;
		return;
	}
	ranges[i].low = low;
	ranges[i].high = high;
	ranges_low = low < ranges_low ? low : ranges_low;
	ranges_high = high > ranges_high ? high : ranges_high;
}

void reach_mapped(const void *p, size_t size)
{
	reach_data((uintptr_t)p, (uintptr_t)p + size);
}

/* The end of the static data or mapping that holds an address, or 0. */
static uintptr_t range_end(uintptr_t address)
{
	if (address < ranges_low || address >= ranges_high)
		return 0;
	for (unsigned i = 0, n = range_count; i < n; i++)
		if (address - ranges[i].low < ranges[i].high - ranges[i].low)
			return ranges[i].high;
	return 0;
}

/* Where a frame ends: at its return address, which is looked for upwards from its hook's. */
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
 * The end of the frame that holds an address of a stack (of another stack than its own thread's
 * the frames may be changing) or where that is not known, only the word itself.  0: not in the
 * stack, or above all frames of the first thread, where the environment lies.
 */
static uintptr_t frame_end(const struct thread *of, uintptr_t address, bool own)
{
	uintptr_t limit = of->stack_high, end = 0;
	if (address < of->stack_low || address >= limit)
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

static uintptr_t stack_end(const struct thread *t, uintptr_t address)
{
	uintptr_t end = frame_end(t, address, true);
	for (uint32_t i = 0; !end && i < rt.thread_count && i < MAX_THREADS; i++)
		if (rt.threads[i] && rt.threads[i]->state != STATE_DONE)
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
		if ((r->list[entry].place & LOG_ADDRESS_MASK) == place)
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

/* A word that was found: is it a pointer?  Then what it points to is to be looked at, too. */
static void visit(struct thread *t, uintptr_t word, unsigned bit)
{
	struct reach *r = t->reach;
	uintptr_t end, place = word;
	size_t bytes;
	bool is_new = false;
	if (word < 4096 || word >> 47)
		return;
	uintptr_t block = block_at(word, &bytes);
	if (block)
		place = block;
	else if ((end = range_end(word)) != 0)
		bytes = window(word, end, DATA_WINDOW);
	else if ((end = stack_end(t, word)) != 0)
		bytes = window(word, end, STACK_WINDOW);
	else
		return;
	int i = entry_of(r, place, &is_new);
	if (i < 0)
		return;
	struct log_reached *e = &r->list[i];
	if (is_new)
		*e = (struct log_reached){ place, bytes };
	if (e->place >> LOG_REACHED_SHIFT & bit)
		return;
	e->place |= (uint64_t)bit << LOG_REACHED_SHIFT;
	r->work[r->work_count++] = i; /* once for each bit, and they come one after the other */
}

static void scan_words(struct thread *t, const uint64_t *words, size_t count, unsigned bit)
{
	for (size_t i = 0; i < count; i++)
		if (words[i] >> 12)
			visit(t, words[i], bit);
}

static void scan(struct thread *t, unsigned entry, unsigned bit)
{
	struct reach *r = t->reach;
	uintptr_t place = r->list[entry].place & LOG_ADDRESS_MASK;
	uintptr_t from = (place + 7) & ~7ull, to = (place + r->list[entry].bytes) & ~7ull;
	size_t words = to > from ? (to - from) / 8 : 0;
	if (words > r->words) {
		words = r->words;
		r->cut = true;
	}
	r->words -= words;
	if (rt.controlled && words * 8 <= DIRECT && !range_end(place)) {
		scan_words(t, (const uint64_t *)from, words, bit);
		return;
	}
	for (size_t done = 0; done < words;) {
		size_t most = words - done < BUFFER_WORDS ? words - done : BUFFER_WORDS;
		size_t n = copy(r->buffer, from + 8 * done, 8 * most) / 8;
		scan_words(t, r->buffer, n, bit);
		done += n;
		if (n < most) /* the page that is protected or gone is left out */
			done = ((from + 8 * done + 4096) / 4096 * 4096 - from) / 8;
	}
}

unsigned reach_scan(struct thread *t, const uint64_t *arguments, unsigned mask,
                    const struct log_reached **list, bool *cut)
{
	struct reach *r = t->reach;
	if (!r)
		r = t->reach = rt_pages(sizeof(*r));
	*cut = true;
	if (!r || !leaves)
		return 0;
	uint64_t all = __atomic_load_n(&looked_at, __ATOMIC_RELAXED);
	uint64_t words = all < PATIENCE ? ALL_WORDS : FEW_WORDS;
	r->words = words;
	r->count = 0;
	r->cut = false;
	r->stamp++;
	for (unsigned i = 0; i < LOG_ARGUMENTS; i++) {
		unsigned far = mask >> i & 1, bytes = mask >> (LOG_ARGUMENTS + i) & 1,
		         near = mask >> (2 * LOG_ARGUMENTS + i) & 1;
		if (!(far || bytes || near))
			continue;
		r->work_count = 0;
		visit(t, arguments[i], 1u << i);
		if (near && r->work_count)
			scan(t, r->work[--r->work_count], 1u << i);
		while (far && r->work_count)
			scan(t, r->work[--r->work_count], 1u << i);
	}
	__atomic_fetch_add(&looked_at, words - r->words, __ATOMIC_RELAXED);
	*list = r->list;
	*cut = r->cut || late;
	return r->count;
}
