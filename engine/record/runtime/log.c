/*
 * log.c - writes the recording log (layout.h): chunks are filled in shared memory, and the
 * file is opened, written and closed for each, so that the program's descriptors are its
 * own.
 *
 * Knows nothing of scheduling or of what is interposed.
 */
#include <fcntl.h>
#include <signal.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "access.h"
#include "ranges.h"

/* The runtime's mappings lie in a place of their own, so that those of the program do not
 * depend on how much has been recorded. */
#define LOG_PLACE 0x10000000000ull /* 1 TiB: below every address the kernel gives out */
static uintptr_t log_place = LOG_PLACE;

static uint64_t next_sequence;
static volatile int chunk_lock;

static void lock_chunks(void)
{
	while (__atomic_exchange_n(&chunk_lock, 1, __ATOMIC_ACQUIRE))
		futex_wait(&chunk_lock, 1, 1000000);
}

/* False when its holder does not let go of it: the caller may have interrupted it. */
static bool lock_chunks_or_not(void)
{
	enum { TRIES = 100 };
	for (int i = 0; i < TRIES; i++) {
		if (!__atomic_exchange_n(&chunk_lock, 1, __ATOMIC_ACQUIRE))
			return true;
		futex_wait(&chunk_lock, 1, 1000000);
	}
	return false;
}

static void unlock_chunks(void)
{
	__atomic_store_n(&chunk_lock, 0, __ATOMIC_RELEASE);
	futex_wake(&chunk_lock, 1);
}

void *rt_pages(size_t bytes)
{
	bytes = (bytes + 4095) & ~4095ul;
	uintptr_t at = __atomic_fetch_add(&log_place, bytes + 4096, __ATOMIC_RELAXED);
	long p = raw_syscall(SYS_mmap, at, bytes, PROT_READ | PROT_WRITE,
	                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE,
	                     -1, 0);
	if (p < 0)
		p = raw_syscall(SYS_mmap, 0, bytes, PROT_READ | PROT_WRITE,
		                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return p < 0 ? NULL : (void *)p;
}

void rt_populate(void *pages, size_t bytes)
{
	enum { POPULATE_WRITE = 23 }; /* MADV_, of Linux 5.14 */
	raw_syscall(SYS_madvise, (long)pages, bytes, POPULATE_WRITE, 0, 0, 0);
}

void rt_unpages(void *pages, size_t bytes)
{
	if (pages)
		raw_syscall(SYS_munmap, (long)pages, (bytes + 4095) & ~4095ul, 0, 0, 0, 0);
}

static char *buffers;        /* the shared chunks */
static uint8_t *buffer_used; /* free mode: whose they are */

/* ---- the log's descriptor ---- */

/*
 * One is kept, far from those that the program counts.  To open the log for each chunk would
 * take the lowest number that is free, beside threads that close, open and dup2: they get other
 * numbers than they would alone, EBUSY, or put a file of theirs in the place of the log.  And a
 * daemon may become another user, or change its root, to whom the log is closed.
 *
 * Where the program closes all descriptors that it finds, or may have few, the log is opened by
 * its path for each chunk.
 */
static int kept = -1;
static uint64_t kept_file[2]; /* device, inode: is it still ours? */

static bool identify(int fd, uint64_t file[2])
{
	struct stat status;
	if (raw_syscall(SYS_newfstatat, fd, (long)"", (long)&status, AT_EMPTY_PATH, 0, 0) != 0)
		return false;
	file[0] = status.st_dev;
	file[1] = status.st_ino;
	return true;
}

static void keep_descriptor(long fd)
{
	enum { FAR = 600, NEAR = 16 };
	long far = -1;
	for (long from = FAR; far < 0 && from >= NEAR; from /= 2)
		far = raw_syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, from, 0, 0, 0);
	if (far < 0 || !identify((int)far, kept_file)) {
		if (far >= 0)
			raw_syscall(SYS_close, far, 0, 0, 0, 0, 0);
		return;
	}
	kept = (int)far;
}

static int no_links(void)
{
	return strncmp(rt.config.log, "/proc/", 6) == 0 ? 0 : O_NOFOLLOW;
}

/* A descriptor of the log, for close_log, or -errno. */
static long open_log(void)
{
	uint64_t file[2];
	if (kept >= 0 && identify(kept, file) && file[0] == kept_file[0] &&
	    file[1] == kept_file[1])
		return kept;
	kept = -1;
	return raw_syscall(SYS_openat, AT_FDCWD, (long)rt.config.log,
	                   O_WRONLY | O_CLOEXEC | no_links(), 0, 0, 0);
}

static void close_log(long fd)
{
	if (fd != kept)
		raw_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
}

static struct log_header *map_header(int *error)
{
	long fd = raw_syscall(SYS_openat, AT_FDCWD, (long)rt.config.log,
	                      O_RDWR | O_CLOEXEC | no_links(), 0, 0, 0);
	long p = fd < 0 ? fd
	                : raw_syscall(SYS_mmap, 0, LOG_HEADER, PROT_READ | PROT_WRITE,
	                              MAP_SHARED, fd, 0);
	if (fd >= 0) {
		keep_descriptor(fd);
		raw_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
	}
	*error = p < 0 ? -p : 0;
	return p < 0 ? NULL : (struct log_header *)p;
}

bool log_open(void)
{
	int error = 0;
	size_t bytes = (size_t)rt.config.buffer_chunks * LOG_CHUNK;
	rt.header = map_header(&error);
	if (rt.header) {
		uintptr_t at = __atomic_fetch_add(&log_place, bytes + 4096, __ATOMIC_RELAXED);
		long p = raw_syscall(SYS_mmap, at, bytes, PROT_READ | PROT_WRITE,
		                     MAP_SHARED | MAP_FIXED_NOREPLACE, rt.config.buffer, 0);
		if (p < 0)
			p = raw_syscall(SYS_mmap, 0, bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
			                rt.config.buffer, 0);
		error = p < 0 ? -p : 0;
		buffers = p < 0 ? NULL : (char *)p;
		buffer_used = rt_pages(rt.config.buffer_chunks);
	}
	raw_syscall(SYS_close, rt.config.buffer, 0, 0, 0, 0, 0);
	if (!rt.header || !buffers || !buffer_used) {
		rt_say("cannot write the recording %s: %s", rt.config.log, strerror(error));
		return false;
	}
	memcpy(rt.header->magic, LOG_MAGIC, 8);
	rt.header->version = LOG_VERSION;
	rt.header->chunk_size = LOG_CHUNK;
	rt.header->flags = rt.config.flags;
	rt.header->status = LOG_RUNNING;
	rt.header->pid = getpid();
	rt.header->seed = rt.config.seed;
	rt.stream.thread = LOG_ALL_THREADS;
	rt.stream.last = LOG_ALL_THREADS;
	return true;
}

/* No more room on the disk, or enough: recording ends, the program goes on. */
static void flush_buffers(void);
static void log_stop(enum log_status status, int error)
{
	if (rt.full)
		return;
	if (status == LOG_LIMIT)
		flush_buffers();
	rt.full = true;
	rt.header->status = status;
	rt.header->error = error;
}

/* --last: the file's chunks are used in turn; the first one stays, for it has what every
 * reader needs, the modules and the main thread. */
static uint64_t slot_of(uint64_t sequence)
{
	uint64_t slots = rt.config.keep_bytes / LOG_CHUNK;
	if (slots == 0)
		return sequence;
	return sequence <= slots ? sequence : 1 + (sequence - 1) % slots;
}

/*
 * A limit on the size of files (RLIMIT_FSIZE) is the program's, and so is the signal that tells
 * of it: for our file neither.  Such a signal is the writing thread's own, so that one which
 * was not pending before is ours.
 */
static const uint64_t size_signal = UINT64_C(1) << (SIGXFSZ - 1);
struct size_limit {
	uint64_t mask, pending;
};

static void limit_hold(struct size_limit *l)
{
	raw_syscall(SYS_rt_sigprocmask, SIG_BLOCK, (long)&size_signal, (long)&l->mask, 8, 0, 0);
	l->pending = 0;
	raw_syscall(SYS_rt_sigpending, (long)&l->pending, 8, 0, 0, 0, 0);
}

static void limit_release(const struct size_limit *l)
{
	static const struct timespec at_once;
	if (!(l->pending & size_signal))
		raw_syscall(SYS_rt_sigtimedwait, (long)&size_signal, 0, (long)&at_once, 8, 0,
		            0);
	raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&l->mask, 0, 8, 0, 0);
}

/* Write so many bytes of a chunk to its place; 0 or an errno. */
static int write_bytes(const void *chunk, size_t bytes)
{
	const struct log_chunk *head = chunk;
	struct size_limit limit;
	long fd = open_log();
	if (fd < 0)
		return -fd;
	uint64_t offset = log_chunk_offset(rt.config.flags, slot_of(head->sequence));
	const char *from = chunk;
	int error = 0;
	limit_hold(&limit);
	while (bytes > 0) {
		long n = raw_syscall(SYS_pwrite64, fd, (long)from, bytes, offset, 0, 0);
		if (n == -EINTR)
			continue;
		if (n <= 0) {
			error = n < 0 ? -n : ENOSPC;
			break;
		}
		from += n;
		offset += n;
		bytes -= n;
	}
	limit_release(&limit);
	close_log(fd);
	return error;
}

/* Write a stream's chunk, as far as it is filled; 0 or an errno. */
static int write_chunk(struct stream *s)
{
	return write_bytes(s->chunk, rt.config.keep_bytes
	                                     ? LOG_CHUNK
	                                     : (char *)s->next - (char *)s->chunk + 8);
}

/* Another thread's chunk: how far it is filled, its last word that is not zero tells. */
static void flush_buffer(const char *chunk)
{
	const uint64_t *words = (const void *)chunk;
	size_t used = LOG_CHUNK / sizeof(*words);
	if (((const struct log_chunk *)(const void *)chunk)->magic != LOG_CHUNK_MAGIC)
		return;
	while (used > sizeof(struct log_chunk) / sizeof(*words) && words[used - 1] == 0)
		used--;
	used += used < LOG_CHUNK / sizeof(*words);
	write_bytes(chunk, rt.config.keep_bytes ? LOG_CHUNK : used * sizeof(*words));
}

/*
 * What has been recorded so far goes to the file (the chunks go on being filled).  In free mode
 * every thread has one: without main's, which has the forks, no other would begin.
 */
void log_flush(void)
{
	if (!rt.on || rt.full)
		return;
	if (rt.config.flags & LOG_CONTROLLED) {
		if (rt.stream.chunk)
			write_chunk(&rt.stream);
		return;
	}
	/* A handler that ends the program may have come in the midst of log_more. */
	bool locked = lock_chunks_or_not();
	flush_buffers();
	if (locked)
		unlock_chunks();
}

/* Free mode: what of each thread's chunk is filled goes to the file. */
static void flush_buffers(void)
{
	for (uint32_t i = 0; buffers && i < rt.config.buffer_chunks; i++)
		if (buffer_used[i])
			flush_buffer(buffers + (size_t)i * LOG_CHUNK);
}

/* Bytes of chunks that ended with their threads, and lie in the file as holes. */
static uint64_t unfilled;

static char *find_buffer(void)
{
	for (uint32_t i = 0; i < rt.config.buffer_chunks; i++)
		if (!buffer_used[i]) {
			buffer_used[i] = 1;
			return buffers + (size_t)i * LOG_CHUNK;
		}
	return NULL;
}

/* A thread has ended; somebody else may have its chunk's memory. */
void log_stream_end(struct stream *s)
{
	if (!s->chunk || s == &rt.stream)
		return;
	lock_chunks();
	if (!rt.full)
		write_chunk(s);
	if (!rt.config.keep_bytes)
		unfilled += ((uint64_t)((char *)s->end - (char *)s->next)) & ~UINT64_C(4095);
	((struct log_chunk *)s->chunk)->magic = 0;
	memset((char *)s->chunk, 0, (char *)s->next - (char *)s->chunk);
	buffer_used[((char *)s->chunk - buffers) / LOG_CHUNK] = 0;
	s->chunk = NULL;
	unlock_chunks();
	rt_unpages(s->sites, sizeof(*s->sites));
	rt_unpages(s->hints, LOG_SITES * sizeof(*s->hints));
	s->sites = NULL;
	s->hints = NULL;
	s->next = s->end = NULL;
}

/* Chunks are read alone, so each begins with an empty table. */
static void clear_sites(struct stream *s)
{
	/* for streams that record nothing any more */
	static struct log_sites shared;
	static uint16_t shared_hints[LOG_SITES];
	if (!s->sites) {
		s->sites = rt_pages(sizeof(*s->sites));
		s->hints = rt_pages(LOG_SITES * sizeof(*s->hints));
	}
	if (!s->sites || !s->hints) { /* what there is of them is not used, nor given back */
		log_stop(LOG_FULL, ENOMEM);
		s->sites = &shared;
		s->hints = shared_hints;
	}
	for (unsigned i = 0; i < LOG_SITES; i++)
		s->sites->at[i].key = 0;
}

void log_more(struct stream *s, unsigned words)
{
	static uint64_t scratch[8192]; /* where records go when nothing more can be kept */
	lock_chunks();
	clear_sites(s);
	s->half = NULL;
	int error = s->chunk && !rt.full ? write_chunk(s) : 0;
	if (error)
		log_stop(LOG_FULL, error);
	if (rt.config.max_bytes &&
	    (slot_of(next_sequence) + 1) * LOG_CHUNK - unfilled > rt.config.max_bytes)
		log_stop(LOG_LIMIT, 0);
	if (!s->chunk && !rt.full && !(s->chunk = find_buffer()))
		log_stop(LOG_LIMIT, 0);
	if (s->chunk) {
		((struct log_chunk *)s->chunk)->magic = 0;
		if (s->next)
			memset(s->chunk, 0, (char *)s->next - (char *)s->chunk);
	}
	if (!rt.full) {
		struct log_chunk *head = s->chunk;
		head->thread = s->thread;
		head->sequence = next_sequence++;
		rt.header->chunks = next_sequence;
		BARRIER();
		head->magic = LOG_CHUNK_MAGIC;
		s->next = (uint64_t *)(head + 1);
		/* One word stays free, so that a full chunk ends in a tag 0. */
		s->end = (uint64_t *)((char *)s->chunk + LOG_CHUNK) - 4;
		if (s->thread == LOG_ALL_THREADS && s->last != LOG_ALL_THREADS)
			*s->next++ = log_word(LOG_SWITCH, 0, s->last);
	} else {
		s->chunk = NULL;
		s->next = scratch;
		s->end = scratch + 8192 - 64;
	}
	unlock_chunks();
}

void log_close(void)
{
	if (rt.header)
		raw_syscall(SYS_munmap, (long)rt.header, LOG_HEADER, 0, 0, 0, 0);
	rt.header = NULL;
	if (buffers)
		raw_syscall(SYS_munmap, (long)buffers,
		            (long)rt.config.buffer_chunks * LOG_CHUNK, 0, 0, 0, 0);
	buffers = NULL;
	rt.stream.chunk = NULL;
}

void log_switch(struct thread *t)
{
	struct stream *s = t->stream;
	uint64_t *w = log_room(s, 1);
	s->last = t->id;
	if (s->thread == LOG_ALL_THREADS) {
		w = s->next;
		w[0] = log_word(LOG_SWITCH, 0, t->id);
		s->next = w + 1;
	}
}

/*
 * Where the frame begins, as LOG_FRAME_UNIT has it: above the slot of its return address, which
 * is looked for upwards from the hook's frame, first `hint` words on, where it was the last
 * time.  0 when it is not found in a few pages.
 */
static uint64_t frame_begin(const struct thread *t, const struct frame *f, uint16_t *hint)
{
	enum { WORDS = 1024 };
	const uintptr_t *word = (const uintptr_t *)f->sp + 2; /* above the hook's own two */
	const uintptr_t *end = (const uintptr_t *)t->stack_high;
	uint64_t i = *hint;
	if (f->sp < t->stack_low || f->sp >= t->stack_high)
		return 0; /* another stack: a signal's, a coroutine's */
	if (word + i + 1 >= end || word[i] != f->call)
		for (i = 0; i < WORDS && word + i + 1 < end && word[i] != f->call;)
			i++;
	if (i >= WORDS || word + i + 1 >= end)
		return 0;
	*hint = i;
	uintptr_t units = ((t->stack_high & ~(uintptr_t)(LOG_FRAME_UNIT - 1)) -
	                   (uintptr_t)(word + i + 1)) /
	                  LOG_FRAME_UNIT;
	return units + 1 <= LOG_FRAME_LIMIT ? units + 1 : 0;
}

/* So many frames are left, and then one is entered. */
static void log_enter(struct thread *t, const struct frame *f, uint32_t left)
{
	struct stream *s = t->stream;
	uint64_t *w = log_room(s, 3);
	uint64_t key = log_word(LOG_ENTER, 0, f->call & LOG_ADDRESS_MASK);
	unsigned slot = log_site_slot(key);
	struct log_sites *sites = s->sites;
	bool same = sites->at[slot].key == key;
	if (!same)
		s->hints[slot] = 0;
	uint64_t begin = f->function < LOG_CALL_COUNT ? 0 : frame_begin(t, f, &s->hints[slot]);
	/* Both in one word, so that what the reader has as the site's value is not touched. */
	uint64_t now = f->function | begin << LOG_FRAME_SHIFT, was = sites->at[slot].address;
	same = same && !((now ^ was) & LOG_ADDRESS_MASK);
	if (same && t->epoch && now == was && log_fits(left, LOG_HALF_OFFSET_BITS)) {
		log_half(s, slot, left);
	} else if (same) {
		w[0] = log_short(slot, begin - (was >> LOG_FRAME_SHIFT), left);
		s->next = w + 1;
	} else {
		if (left > 0) {
			*w++ = log_word(LOG_LEAVE, 0, left);
			sites->at[log_site_slot(LOG_LEAVE)].key = LOG_LEAVE;
		}
		w[1] = now;
		BARRIER();
		w[0] = key;
		s->next = w + 2;
	}
	sites->at[slot].key = key;
	sites->at[slot].address = now;
}

static void log_leave(struct thread *t, uint32_t left)
{
	struct stream *s = t->stream;
	uint64_t *w = log_room(s, 1);
	unsigned slot = log_site_slot(LOG_LEAVE);
	if (t->epoch && s->sites->at[slot].key == LOG_LEAVE &&
	    log_fits(left, LOG_HALF_OFFSET_BITS)) {
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
	t->dirty = 0;
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
		struct frame *f = &t->frames[t->emitted];
		if (unlikely(t->called_from != 0) && f->call >= rt.own_low &&
		    f->call < rt.own_high)
			f->call = t->called_from;
		log_enter(t, &t->frames[t->emitted++], left);
	}
	t->low = t->emitted;
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
			             .context = context_of(f[-1].context, pc, call) };
	}
	t->depth++;
	context_renew(t);
	t->dirty = 1;
	if (now)
		log_before(t);
}

void frame_leave(struct thread *t)
{
	if (t->pending)
		log_fill(t);
	if (t->depth > 0)
		t->depth--;
	if (t->depth < t->low)
		t->low = t->depth;
	t->dirty = 1;
	context_renew(t);
}

/*
 * What orders others before its thread, and nothing of its thread before others.  In free mode
 * an access after it needs no record when the thread has made the same before it: whatever the
 * later one races with the earlier one races with, too, and holds no lock besides.  (Memory
 * that is allocated has had an epoch of its own since it was freed.)
 */
#define BIT(tag) (1ull << LOG_##tag)
#define ACQUIRES \
	(BIT(ACQ) | BIT(RACQ) | BIT(TRYFAIL) | BIT(TAKETRYFAIL) | BIT(WAKE) | BIT(DEPART) | \
	 BIT(TAKE) | BIT(JOIN) | BIT(RCV) | BIT(ALLOC))

void log_event(struct thread *t, enum log_tag tag, unsigned flags, uintptr_t pc, uint64_t a,
               uint64_t b, unsigned words)
{
	struct stream *s = t->stream;
	log_before(t);
	if (tag != LOG_FENCE)
		t->poll.spins = 0;
	if (!rt.controlled && ACQUIRES >> tag & 1)
		log_ticket(t);
	else if (!rt.controlled)
		log_epoch(t);
	uint64_t *w = log_room(s, 3);
	w[1] = a;
	w[2] = b;
	BARRIER();
	w[0] = log_word(tag, flags, pc);
	s->next = w + 1 + words;
	if (tag != LOG_SEMAPHORE && tag != LOG_GIVEN && tag != LOG_MISUSE)
		count_event(t, tag, pc);
}

uint64_t *log_blob(struct thread *t, enum log_tag tag, uint64_t pc, const uint64_t *words,
                   unsigned count, const void *bytes, uint64_t length)
{
	struct stream *s = t->stream;
	if (t->pending)
		log_fill(t);
	if (s->last != t->id)
		log_switch(t);
	unsigned total = 2 + count + (length + 7) / 8;
	if (total > LOG_CHUNK / 16)
		return NULL;
	uint64_t *w = log_room(s, total);
	for (unsigned i = 0; i < count; i++)
		w[1 + i] = words[i];
	w[1 + count] = length;
	char *to = (char *)(w + 2 + count);
	for (uint64_t i = 0; i < length; i++)
		to[i] = ((const char *)bytes)[i];
	BARRIER();
	w[0] = log_word(tag, 0, pc);
	s->next = w + total;
	return w;
}

/* A call or its return; `text`: type, method and values, each ended by NUL. */
void log_invocation(struct thread *t, enum log_tag tag, unsigned flags, uint64_t pc,
                    const void *self, const char *text, size_t length)
{
	uint64_t object = (uintptr_t)self;
	log_before(t);
	if (!rt.controlled)
		log_epoch(t);
	uint64_t *w = log_blob(t, tag, pc, &object, 1, text, length);
	if (w)
		w[0] |= flags << 8;
	count_event(t, tag, pc);
}

void log_note(const char *key, const char *value)
{
	char text[1024];
	size_t k = strnlen(key, 200), v = strnlen(value, 800);
	for (size_t i = 0; i < k; i++)
		text[i] = key[i];
	text[k] = 0;
	for (size_t i = 0; i < v; i++)
		text[k + 1 + i] = value[i];
	if (me->stream)
		log_blob(me, LOG_NOTE, 0, NULL, 0, text, k + 1 + v);
}

void log_clock(struct thread *t, clockid_t clock, const struct timespec *time)
{
	struct stream *s = t->stream;
	if (t->pending)
		log_fill(t);
	if (s->last != t->id)
		log_switch(t);
	uint64_t *w = log_room(s, 3);
	w[1] = time->tv_sec;
	w[2] = time->tv_nsec;
	BARRIER();
	w[0] = log_word(LOG_CLOCK, clock, 0);
	s->next = w + 3;
}

/* No event: nothing of the call stack is written for it. */
void log_init(struct thread *t, const volatile void *object)
{
	struct stream *s = t->stream;
	if (t->pending)
		log_fill(t);
	if (s->last != t->id)
		log_switch(t);
	if (!rt.controlled)
		log_ticket(t);
	uint64_t *w = log_room(s, 2);
	w[1] = (uintptr_t)object;
	BARRIER();
	w[0] = log_word(LOG_INIT, 0, 0);
	s->next = w + 2;
}

void log_thread(struct thread *t)
{
	struct stream *s = t->stream;
	if (!s->next)
		log_more(s, 4);
	uint64_t *w = log_room(s, 4);
	w[1] = t->parent;
	w[2] = t->stack_low;
	w[3] = t->stack_high;
	BARRIER();
	w[0] = log_word(LOG_THREAD, 0, t->id);
	s->next = w + 4;
}

/* ---- modules: every mapped executable and library, once ---- */

#define MAX_MODULES 4096
static struct {
	uintptr_t bias, low;
} modules[MAX_MODULES];
static unsigned module_count;

static unsigned hex_build_id(const struct dl_phdr_info *info, char *out, unsigned room)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		if (ph->p_type != PT_NOTE)
			continue;
		const char *p = (const char *)(info->dlpi_addr + ph->p_vaddr);
		const char *end = p + ph->p_memsz;
		while (p + sizeof(ElfW(Nhdr)) <= end) {
			const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)p;
			const char *name = p + sizeof(*note);
			const unsigned char *desc =
			        (const unsigned char *)name + ((note->n_namesz + 3) & ~3u);
			if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
			    name[0] == 'G' && note->n_descsz * 2 <= room) {
				for (unsigned k = 0; k < note->n_descsz; k++) {
					out[2 * k] = "0123456789abcdef"[desc[k] >> 4];
					out[2 * k + 1] = "0123456789abcdef"[desc[k] & 15];
				}
				return note->n_descsz * 2;
			}
			p = (const char *)desc + ((note->n_descsz + 3) & ~3u);
		}
	}
	return 0;
}

/* A path from the root, for the program may go to another folder; `out` has 4096 bytes. */
static size_t absolute(const char *name, char *out)
{
	size_t n = 0, length = strnlen(name, 2000);
	if (name[0] != '/') {
		long folder = raw_syscall(SYS_getcwd, (long)out, 2000, 0, 0, 0, 0);
		n = folder > 0 ? folder - 1 : 0;
		out[n++] = '/';
		while (name[0] == '.' && name[1] == '/') {
			name += 2;
			length -= 2;
		}
	}
	for (size_t i = 0; i < length; i++)
		out[n + i] = name[i];
	out[n + length] = 0;
	return n + length;
}

static int one_module(struct dl_phdr_info *info, size_t size, void *context)
{
	uintptr_t low = UINTPTR_MAX, high = 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		if (ph->p_type != PT_LOAD)
			continue;
		uintptr_t from = info->dlpi_addr + ph->p_vaddr, to = from + ph->p_memsz;
		if (from < low)
			low = from;
		if (to > high)
			high = to;
	}
	if (high == 0)
		return 0;
	range_module(info);
	if ((uintptr_t)one_module >= low && (uintptr_t)one_module < high) {
		rt.own_low = low;
		rt.own_high = high;
		return 0; /* the runtime is no part of the program */
	}
	if (info->dlpi_name && strstr(info->dlpi_name, LOG_BIND_LIBRARY)) {
		rt.bind_low = low;
		rt.bind_size = high - low;
		return 0; /* nor is what stands before the bound functions */
	}
	for (unsigned i = 0; i < module_count; i++)
		if (modules[i].bias == info->dlpi_addr && modules[i].low == low)
			return 0;
	if (module_count == MAX_MODULES)
		return 0;
	char text[4096 + 80];
	const char *name = info->dlpi_name;
	char exe[4096];
	if (!name || !name[0]) {
		long n = module_count == 0 ? raw_syscall(SYS_readlink, (long)"/proc/self/exe",
		                                         (long)exe, sizeof(exe) - 1, 0, 0, 0)
		                           : 0;
		if (n <= 0)
			return 0; /* the vdso */
		exe[n] = 0;
		name = exe;
	}
	if (strncmp(name, "linux-vdso", 10) == 0)
		return 0;
	const char *last = strrchr(name, '/');
	last = last ? last + 1 : name;
	if (strncmp(last, "libc.so", 7) == 0 || strncmp(last, "libc-2", 6) == 0) {
		rt.libc_low = low;
		rt.libc_high = high;
	} else if (strncmp(last, "ld-linux", 8) == 0 || strncmp(last, "ld-2", 4) == 0) {
		rt.ld_low = low;
		rt.ld_high = high;
	} else if (strncmp(last, "libstdc++.so", 12) == 0) {
		rt.cxx_low = low;
		rt.cxx_high = high;
	} else if (strncmp(last, "libgomp.so", 10) == 0) {
		rt.gomp_low = low;
		rt.gomp_high = high;
	} else if (strncmp(last, "libglib-2.0.so", 14) == 0) {
		rt.glib_low = low;
		rt.glib_high = high;
	}
	if (module_count == 0 && rt.config.start_high) { /* the program itself */
		rt.start_low = info->dlpi_addr + rt.config.start_low;
		rt.start_high = info->dlpi_addr + rt.config.start_high;
		rt.waiting = true;
	}
	missing_module(info, name, low, high);
	modules[module_count].bias = info->dlpi_addr;
	modules[module_count++].low = low;
	size_t n = absolute(name, text);
	unsigned id = hex_build_id(info, text + n + 1, 64);
	log_blob(me, LOG_MODULE, 0, (uint64_t[]){ info->dlpi_addr, low, high }, 3, text,
	         n + 1 + id);
	return 0;
}

void log_modules(void)
{
	dl_iterate_phdr(one_module, NULL);
}
