/*
 * memory.c - the heap: malloc and its kin, C++ new and delete, anonymous mappings.
 *
 * Calls inside the C library are no events, since e.g. the allocation of stdio's buffers
 * depends on the schedule. But the program may receive such memory (getline, asprintf) where a
 * freed block was, so the end of the old block's life is recorded. No scheduling points, since
 * libraries call these with locks held.
 */
#include <malloc.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "engine/record/runtime/core/rt.h"
#include "engine/record/runtime/libc/libc.h"
#include "engine/record/runtime/libc/ranges.h"

INTERPOSED(malloc, calloc, free, realloc, reallocarray, memalign, aligned_alloc, posix_memalign,
           valloc, pvalloc, mmap, munmap, mremap, mprotect, madvise);

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *p, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *p);

static void *noted(void *p, size_t size, uintptr_t pc)
{
	struct thread *t = me;
	if (p && !(t->gate & ~GATE_IGNORE)) {
		int error = errno;
		bool own = in_libc(pc);
		if (!own)
			plan_point(t);
		log_event(t, own ? LOG_GIVEN : LOG_ALLOC, 0, pc, (uintptr_t)p, size, 2);
		errno = error;
	}
	return p;
}

static void *allocated(void *p, size_t size, uintptr_t pc)
{
	if (unlikely(rt.reaching))
		block_begins(p);
	return noted(p, size, pc);
}

/* A new block of memory with any contents. */
static void *fresh(void *p, size_t size, uintptr_t pc)
{
	if (unlikely(rt.config.fill) && p && !(me->gate & ~GATE_IGNORE) && !in_libc(pc))
		for (size_t i = 0; i < size && i < LOG_FILLED; i++)
			((uint8_t *)p)[i] = log_fill_byte(rt.config.fill, (uintptr_t)p + i);
	return allocated(p, size, pc);
}

/* In an exploration freed memory is not reused, since a late use is identified by its block:
 * in a later life of the memory it would look like a use of the new block. */
static bool keeps_freed(void *p)
{
	enum { MOST_KEPT = 64 << 20 /* bytes a run */, LINKS = 16 /* the allocator's */ };
	static size_t kept;
	size_t size = malloc_usable_size(p);
	if (!(rt.config.flags & LOG_EXPLORE))
		return false;
	bool keeps = __atomic_add_fetch(&kept, size, __ATOMIC_RELAXED) <= MOST_KEPT;
	if (keeps)
		memset(p, LOG_POISON, size < LINKS ? size : LINKS);
	else if (rt.header)
		__atomic_fetch_or(&rt.header->happened, LOG_REUSED, __ATOMIC_RELAXED);
	return keeps;
}

/* The alignment is a power of 2, at least `least`. */
static bool valid_alignment(size_t alignment, size_t least)
{
	return alignment >= least && (alignment & (alignment - 1)) == 0;
}

/* Reports a request for memory that only a mistake of the program makes. The products of
 * calloc and reallocarray are not judged: programs leave it to these to find them too large.
 */
static void check_request(size_t alignment, size_t least, size_t size, uintptr_t pc)
{
	struct thread *t = me;
	bool good = valid_alignment(alignment, least);
	if (likely(good && size <= PTRDIFF_MAX) || t->gate & ~GATE_IGNORE || in_libc(pc))
		return;
	int error = errno;
	misused(t, good ? MISUSE_IMPOSSIBLE_SIZE : MISUSE_INVALID_ALIGNMENT, pc,
	        (const void *)LOG_HEAP_OBJECT);
	errno = error;
}

/* True: the memory must not be freed. */
static bool freed(void *p, uintptr_t pc)
{
	struct thread *t = me;
	if (unlikely(rt.reaching))
		block_ends(p);
	if (p && (!t->gate || ((t->gate & ~GATE_IGNORE & ~GATE_STOLEN) == 0 && hook_slow(t))) &&
	    !in_libc(pc)) {
		plan_point(t);
		if (unlikely(rt.memory))
			memory_gone(t, (uintptr_t)p, malloc_usable_size(p));
		if (unlikely(rt.shadow))
			shadow_freed(t, (uintptr_t)p, malloc_usable_size(p));
		log_event(t, LOG_FREE, 0, pc, (uintptr_t)p, 0, 1);
		if (unlikely(rt.config.poison) && replay_poisons()) {
			memset(p, LOG_POISON, malloc_usable_size(p));
			return true;
		}
		return keeps_freed(p);
	} else if (p) {
		log_value(t);
		log_life_ends(t);
	}
	return false;
}

static void release(void *p, uintptr_t pc)
{
	if (!freed(p, pc))
		__libc_free(p);
}

/* Waits until the token cannot be taken away, as the thread is about to enter the allocator. */
static void settle(void)
{
	struct thread *t = me;
	if (unlikely((t->gate & ~GATE_QUIET) == GATE_STOLEN))
		hook_slow(t);
}

void *interposed_malloc(size_t size)
{
	settle();
	check_request(1, 1, size, CALLER());
	return fresh(__libc_malloc(size), size, CALLER());
}
void *interposed_calloc(size_t count, size_t size)
{
	settle();
	return allocated(__libc_calloc(count, size), count * size, CALLER());
}
void interposed_free(void *p)
{
	release(p, CALLER());
}
EXPORT void cfree(void *p);
void cfree(void *p)
{
	release(p, CALLER());
}

static void *reallocate(void *p, size_t size, uintptr_t pc)
{
	settle();
	if (!p)
		return fresh(__libc_malloc(size), size, pc);
	struct thread *t = me;
	if (t->gate || in_libc(pc)) {
		log_life_ends(t);
		if (unlikely(rt.reaching))
			block_ends(p);
		return allocated(__libc_realloc(p, size), size, pc);
	}
	if (size == 0) {
		release(p, pc);
		return NULL;
	}
	/* Always a new block, so that old pointers are detected; contents are copied like by
	 * memcpy. */
	size_t old = malloc_usable_size(p);
	size_t copied = old < size ? old : size;
	void *q = __libc_malloc(size);
	if (!q)
		return NULL;
	log_range(t, LOG_READ, pc, p, copied);
	fresh(q, size, pc);
	memcpy(q, p, copied);
	log_range(t, LOG_WRITE, pc, q, copied);
	release(p, pc);
	return q;
}
void *interposed_realloc(void *p, size_t size)
{
	check_request(1, 1, size, CALLER());
	return reallocate(p, size, CALLER());
}
void *interposed_reallocarray(void *p, size_t count, size_t size)
{
	size_t total;
	if (__builtin_mul_overflow(count, size, &total)) {
		errno = ENOMEM;
		return NULL;
	}
	return reallocate(p, total, CALLER());
}
void *interposed_memalign(size_t alignment, size_t size)
{
	settle();
	check_request(alignment, 1, size, CALLER());
	return fresh(__libc_memalign(alignment, size), size, CALLER());
}
void *interposed_aligned_alloc(size_t alignment, size_t size)
{
	settle();
	check_request(alignment, 1, size, CALLER());
	return fresh(__libc_memalign(alignment, size), size, CALLER());
}
int interposed_posix_memalign(void **out, size_t alignment, size_t size)
{
	check_request(alignment, sizeof(void *), size, CALLER());
	if (!valid_alignment(alignment, sizeof(void *)))
		return EINVAL;
	settle();
	void *p = __libc_memalign(alignment, size);
	if (!p)
		return ENOMEM;
	p = fresh(p, size, CALLER());
	range_turn(CALLER());
	*out = p;
	WRITES(out, sizeof *out);
	return 0;
}
void *interposed_valloc(size_t size)
{
	settle();
	return fresh(__libc_memalign(4096, size), size, CALLER());
}
void *interposed_pvalloc(size_t size)
{
	settle();
	size = (size + 4095) & ~4095ul;
	return fresh(__libc_memalign(4096, size), size, CALLER());
}

/* -- C++ operators, by mangled names; only the originals throw
 * ----------------------------------- */

static void *new_failed(const char *name, size_t size)
{
	void *(*real)(size_t) = (void *(*)(size_t))rt_next(name);
	return real ? real(size) : NULL;
}

#define NEW(name, failed) \
	EXPORT void *name(size_t size); \
	void *name(size_t size) \
	{ \
		settle(); \
		void *p = __libc_malloc(size ? size : 1); \
		if (!p) \
			return failed; \
		return fresh(p, size, CALLER()); \
	}
NEW(_Znwm, new_failed("_Znwm", size))
NEW(_Znam, new_failed("_Znam", size))
#define NEW_NOTHROW(name) \
	EXPORT void *name(size_t size, const void *nothrow); \
	void *name(size_t size, const void *nothrow) \
	{ \
		settle(); \
		return fresh(__libc_malloc(size ? size : 1), size, CALLER()); \
	}
NEW_NOTHROW(_ZnwmRKSt9nothrow_t)
NEW_NOTHROW(_ZnamRKSt9nothrow_t)
#define NEW_ALIGNED(name) \
	EXPORT void *name(size_t size, size_t alignment); \
	void *name(size_t size, size_t alignment) \
	{ \
		settle(); \
		void *p = __libc_memalign(alignment, size ? size : 1); \
		if (!p) \
			return new_failed("_Znwm", size); \
		return fresh(p, size, CALLER()); \
	}
NEW_ALIGNED(_ZnwmSt11align_val_t)
NEW_ALIGNED(_ZnamSt11align_val_t)
#define NEW_ALIGNED_NOTHROW(name) \
	EXPORT void *name(size_t size, size_t alignment, const void *nothrow); \
	void *name(size_t size, size_t alignment, const void *nothrow) \
	{ \
		settle(); \
		return fresh(__libc_memalign(alignment, size ? size : 1), size, CALLER()); \
	}
NEW_ALIGNED_NOTHROW(_ZnwmSt11align_val_tRKSt9nothrow_t)
NEW_ALIGNED_NOTHROW(_ZnamSt11align_val_tRKSt9nothrow_t)

#define DELETE(name, ...) \
	EXPORT void name(void *p, ##__VA_ARGS__); \
	void name(void *p, ##__VA_ARGS__) \
	{ \
		release(p, CALLER()); \
	}
DELETE(_ZdlPv)
DELETE(_ZdaPv)
DELETE(_ZdlPvm, size_t size)
DELETE(_ZdaPvm, size_t size)
DELETE(_ZdlPvRKSt9nothrow_t, const void *nothrow)
DELETE(_ZdaPvRKSt9nothrow_t, const void *nothrow)
DELETE(_ZdlPvSt11align_val_t, size_t alignment)
DELETE(_ZdaPvSt11align_val_t, size_t alignment)
DELETE(_ZdlPvmSt11align_val_t, size_t size, size_t alignment)
DELETE(_ZdaPvmSt11align_val_t, size_t size, size_t alignment)
DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t, size_t alignment, const void *nothrow)
DELETE(_ZdaPvSt11align_val_tRKSt9nothrow_t, size_t alignment, const void *nothrow)

/* ---- mappings ---- */

/* Memory shared with other processes: a few mappings; further ones replace the oldest. */
enum { MAX_SHARED = 64 };
static struct shared_mapping {
	uintptr_t low, high;
	bool file;
} shared[MAX_SHARED];
static unsigned shared_count;

static void remember_shared(const void *p, size_t size, bool file)
{
	unsigned i = __atomic_fetch_add(&shared_count, 1, __ATOMIC_RELAXED) % MAX_SHARED;
	shared[i] = (struct shared_mapping){ (uintptr_t)p, (uintptr_t)p + size, file };
}

static const struct shared_mapping *shared_at(const void *p)
{
	for (unsigned i = 0; i < MAX_SHARED && i < shared_count; i++)
		if ((uintptr_t)p >= shared[i].low && (uintptr_t)p < shared[i].high)
			return &shared[i];
	return NULL;
}

bool memory_shared(const void *p)
{
	return shared_at(p) != NULL;
}

bool memory_outside(const void *p)
{
	const struct shared_mapping *m = shared_at(p);
	return m && (m->file || (rt.header && rt.header->happened & LOG_FORKED));
}

/* A file's memory at a second address: accesses by the two addresses look like accesses of two
 * variables. */
static void note_file(int fd)
{
	enum { MOST_FILES = 64 };
	static struct {
		dev_t device;
		ino_t file;
	} known[MOST_FILES];
	static unsigned count;
	struct stat s;
	int error = errno;
	if (fstat(fd, &s) != 0) {
		errno = error;
		return;
	}
	errno = error;
	for (unsigned i = 0; i < count && i < MOST_FILES; i++)
		if (known[i].device == s.st_dev && known[i].file == s.st_ino)
			accesses_unseen_later(
			        "memory of a file that is mapped at two addresses");
	unsigned own = __atomic_fetch_add(&count, count < MOST_FILES, __ATOMIC_RELAXED);
	if (own < MOST_FILES) {
		known[own].device = s.st_dev;
		known[own].file = s.st_ino;
	}
}

static void forget_shared(const void *p)
{
	for (unsigned i = 0; i < MAX_SHARED; i++)
		if ((uintptr_t)p == shared[i].low)
			shared[i].low = shared[i].high = 0;
}

/* Mappings, which are blocks like those of the heap: the remaining part of each.
 * Beyond MAX_MAPPED the oldest are forgotten, so their end is no event. */
enum { MAX_MAPPED = 1024 };
static struct mapping {
	uintptr_t block, end, low, high; /* the block; the bytes that are left */
} mapped[MAX_MAPPED];
static unsigned mapped_count;

static uintptr_t page_up(uintptr_t p)
{
	return (p + 4095) & ~(uintptr_t)4095;
}

static void map_block(struct thread *t, void *p, size_t size, uintptr_t pc)
{
	unsigned i = __atomic_fetch_add(&mapped_count, 1, __ATOMIC_RELAXED) % MAX_MAPPED;
	uintptr_t low = (uintptr_t)p, end = page_up(low + size);
	mapped[i] = (struct mapping){ low, end, low, end };
	noted(p, size, pc);
	log_life_ends(t); /* unmapping at this address has left no record */
}

/* Cut [low, high) off a mapping; true if it is empty then. One with a hole is given up. */
static bool cut(struct mapping *m, uintptr_t low, uintptr_t high)
{
	if (low <= m->low)
		m->low = high < m->high ? high : m->high;
	else if (high >= m->high)
		m->high = low;
	else
		*m = (struct mapping){ 0 };
	return m->block && m->low == m->high;
}

/* The program is about to unmap [p, p + size): blocks with no remaining part end. True if the
 * table had all of the range. */
static bool unmap_blocks(struct thread *t, const void *p, size_t size, uintptr_t pc)
{
	uintptr_t low = (uintptr_t)p, high = page_up(low + size), known = 0;
	unsigned count = __atomic_load_n(&mapped_count, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < MAX_MAPPED && i < count; i++) {
		struct mapping *m = &mapped[i];
		if (m->high <= low || m->low >= high)
			continue;
		known += (m->high < high ? m->high : high) - (m->low > low ? m->low : low);
		uintptr_t block = m->block, end = m->end;
		if (!cut(m, low, high))
			continue;
		*m = (struct mapping){ 0 };
		plan_point(t);
		if (unlikely(rt.shadow))
			shadow_freed(t, block, end - block);
		log_event(t, LOG_FREE, 0, pc, block, 0, 1);
	}
	return known == high - low;
}

/* Unmapping, in an exploration: of memory that is no block, other threads' accesses may fault
 * in another order, which is not explored. */
static void unmap(void *p, size_t size, uintptr_t pc)
{
	struct thread *t = recording(); /* a last write there has its value */
	if (t && unlikely(rt.memory))
		memory_gone(t, (uintptr_t)p, size);
	if (t && !in_libc(pc) && !unmap_blocks(t, p, size, pc))
		order_matters("unmapping memory of another kind than anonymous");
}

/* MAP_FIXED: the old mapping is gone, as with unmap, and the new one is not in the trace. */
static void map_over(const void *p, size_t size, int flags, uintptr_t pc)
{
	struct thread *t = flags & MAP_FIXED ? recording() : NULL;
	if (t && unlikely(rt.memory))
		memory_gone(t, (uintptr_t)p, size);
	if (t && !in_libc(pc))
		order_matters("mapping memory over other memory");
}

void *interposed_mmap(void *hint, size_t size, int protection, int flags, int fd, off_t offset)
{
	struct thread *t = recording();
	map_over(hint, size, flags, CALLER());
	void *p = REAL(mmap)(hint, size, protection, flags, fd, offset);
	if (p != MAP_FAILED && flags & MAP_SHARED && protection & PROT_WRITE) {
		if (!(flags & MAP_ANONYMOUS))
			note_file(fd);
		remember_shared(p, size, !(flags & MAP_ANONYMOUS));
	}
	/* reserved memory is mapped over when it is used */
	bool used = protection & PROT_WRITE || !(flags & MAP_ANONYMOUS);
	if (t && p != MAP_FAILED && used && !(flags & MAP_FIXED) && !in_libc(CALLER()))
		map_block(t, p, size, CALLER());
	if (unlikely(rt.reaching) && p != MAP_FAILED && protection & PROT_WRITE)
		reach_mapped(p, size);
	return p;
}
INTERPOSED(mmap64) __attribute__((alias("mmap")));
int interposed_munmap(void *p, size_t size)
{
	if (shared_count)
		forget_shared(p);
	unmap(p, size, CALLER());
	return REAL(munmap)(p, size);
}
/* One that may move ends the block, whether it moves or not, as realloc does: old pointers are
 * detected. */
void *interposed_mremap(void *p, size_t size, size_t wanted, int flags, ...)
{
	va_list ap;
	va_start(ap, flags);
	void *to = flags & MREMAP_FIXED ? va_arg(ap, void *) : NULL;
	va_end(ap);
	struct thread *t = recording();
	uintptr_t pc = CALLER();
	bool ours = t && !in_libc(pc), moves = flags & MREMAP_MAYMOVE;
	if (ours && moves) {
		unmap(p, size, pc);
		if (to)
			unmap(to, wanted, pc);
	} else if (ours && wanted < size) {
		unmap((char *)p + page_up(wanted), size - page_up(wanted), pc);
	}
	void *q = to ? REAL(mremap)(p, size, wanted, flags, to)
	             : REAL(mremap)(p, size, wanted, flags);
	int error = errno;
	if (ours && moves)
		map_block(t, q == MAP_FAILED ? p : q, q == MAP_FAILED ? size : wanted, pc);
	else if (ours && wanted > size && q != MAP_FAILED)
		map_block(t, (char *)q + page_up(size), wanted - page_up(size), pc);
	errno = error;
	return q;
}
int interposed_madvise(void *p, size_t size, int advice)
{
	struct thread *t = recording();
	if (t && unlikely(rt.memory) && advice == MADV_DONTNEED)
		memory_gone(t, (uintptr_t)p, size);
	if (t && !in_libc(CALLER()) && advice == MADV_DONTNEED)
		order_matters("madvise(MADV_DONTNEED)");
	return REAL(madvise)(p, size, advice);
}
int interposed_mprotect(void *p, size_t size, int protection)
{
	struct thread *t = recording(); /* a last write there has its value */
	if (!(protection & PROT_READ))
		rt.protects = true;
	if (t && !in_libc(CALLER()) &&
	    (protection & (PROT_READ | PROT_WRITE)) != (PROT_READ | PROT_WRITE))
		order_matters("mprotect");
	return REAL(mprotect)(p, size, protection);
}
