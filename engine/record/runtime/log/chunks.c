/*
 * chunks.c - the log's chunks: filled in memory that is shared with the parent, and written to
 * the file when they are full, when their thread ends, and at the end of the run.
 *
 * The file is written with raw system calls and its own descriptor (file.c), so that the
 * program's descriptors are its own.
 */
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "log_private.h"

static uint64_t next_sequence;
static volatile int chunk_lock;

static void lock_chunks(void)
{
	while (__atomic_exchange_n(&chunk_lock, 1, __ATOMIC_ACQUIRE))
		futex_wait(&chunk_lock, 1, 1000000);
}

/* False when the holder does not release it: the caller may have interrupted the holder. */
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

/*
 * The shared chunks, in parts that are mapped on demand: the address space for a thousand
 * threads may exceed the program's own limit (RLIMIT_AS).
 */
enum { PART = 4, PARTS = LOG_BUFFERS / PART }; /* chunks in a part, in free mode */
static char *parts[PARTS];
static uint8_t *buffer_used; /* free mode: which chunks are in use */

static size_t part_bytes(void)
{
	return (size_t)(rt.config.buffer_chunks < PART ? rt.config.buffer_chunks : PART) *
	       LOG_CHUNK;
}

/* Maps a part. Remapping a shared mapping with old size 0 maps it once more, further into the
 * file: so its descriptor need not stay open among the program's. */
static char *map_part(unsigned i)
{
	enum { PAGE = 4096 };
	char *last = parts[i - 1] + part_bytes() - PAGE;
	long p = raw_syscall(SYS_mremap, (long)last, 0, PAGE + part_bytes(), MREMAP_MAYMOVE, 0,
	                     0);
	if (p < 0)
		return NULL;
	raw_syscall(SYS_munmap, p, PAGE, 0, 0, 0, 0);
	return (char *)p + PAGE;
}

/* NULL: it is not mapped. */
static char *buffer_at(uint32_t i)
{
	char *part = parts[i / PART];
	return part ? part + (size_t)(i % PART) * LOG_CHUNK : NULL;
}

static uint32_t index_of(const char *chunk)
{
	uint32_t i = 0;
	while (buffer_at(i) != chunk)
		i++;
	return i;
}

/* ---- beginning ---- */

bool log_open(void)
{
	int error = 0;
	size_t bytes = part_bytes();
	rt.header = log_file_map(&error);
	if (rt.header) {
		uintptr_t at = rt_place(bytes);
		long p = raw_syscall(SYS_mmap, at, bytes, PROT_READ | PROT_WRITE,
		                     MAP_SHARED | MAP_FIXED_NOREPLACE, rt.config.buffer, 0);
		if (p < 0)
			p = raw_syscall(SYS_mmap, 0, bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
			                rt.config.buffer, 0);
		error = p < 0 ? -p : 0;
		parts[0] = p < 0 ? NULL : (char *)p;
		buffer_used = rt_pages(rt.config.buffer_chunks);
	}
	raw_syscall(SYS_close, rt.config.buffer, 0, 0, 0, 0, 0);
	if (!rt.header || !parts[0] || !buffer_used) {
		rt_say("cannot write the recording %s: %s", rt.config.log, strerror(error));
		return false;
	}
	memcpy(rt.header->magic, LOG_MAGIC, 8);
	rt.header->version = LOG_VERSION;
	rt.header->chunk_size = LOG_CHUNK;
	rt.header->flags = rt.config.flags;
	rt.header->status = LOG_RUNNING;
	rt.header->pid = raw_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
	rt.header->seed = rt.config.seed;
	rt.header->sample = rt.config.sample;
	rt.header->memory = rt.config.flags & LOG_CONTROLLED ? rt.config.memory : LOG_SC;
	rt.stream.thread = LOG_ALL_THREADS;
	rt.stream.last = LOG_ALL_THREADS;
	return true;
}

static bool in_room;

long log_settle(int room)
{
	size_t used = rt.stream.chunk ? (size_t)((char *)rt.stream.next - parts[0]) : 0;
	struct {
		void *memory;
		size_t bytes, filled, offset;
	} shared[] = { { rt.header, LOG_HEADER, LOG_HEADER, 0 },
		       { parts[0], LOG_CHUNK, used, LOG_HEADER } };
	log_file_leave();
	for (int i = 0; i < 2; i++)
		if (raw_syscall(SYS_pwrite64, room, (long)shared[i].memory,
		                (long)shared[i].filled, (long)shared[i].offset, 0,
		                0) != (long)shared[i].filled ||
		    raw_syscall(SYS_mmap, (long)shared[i].memory, (long)shared[i].bytes,
		                PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, room,
		                (long)shared[i].offset) < 0)
			return -1;
	if (rt.stream.sites) { /* else a copy would first read each page, and fault twice */
		rt_populate(rt.stream.sites, sizeof(*rt.stream.sites));
		rt_populate(rt.stream.hints, LOG_SITES * sizeof(*rt.stream.hints));
	}
	in_room = true;
	return (long)used;
}

size_t log_copy_chunk(void *to)
{
	size_t used = rt.stream.chunk ? (size_t)((char *)rt.stream.next - parts[0]) : 0;
	memcpy(to, parts[0], used);
	return used;
}

bool log_take_chunk(int buffer, const void *filled, size_t bytes)
{
	if (raw_syscall(SYS_mmap, (long)parts[0], (long)part_bytes(), PROT_READ | PROT_WRITE,
	                MAP_SHARED | MAP_FIXED, buffer, 0) < 0)
		return false;
	memcpy(parts[0], filled, bytes);
	return true;
}

void log_begin_again(void)
{
	rt.header->flags = rt.config.flags;
	rt.header->seed = rt.config.seed;
	rt.header->memory = rt.config.flags & LOG_CONTROLLED ? rt.config.memory : LOG_SC;
	rt.header->pid = (uint32_t)raw_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
}

/* ---- to the file ---- */

/* The disk, or the size limit, is full: recording ends, the program continues. */
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

/* Writes the first bytes of a chunk to its place in the file; 0 or an errno. */
static int write_bytes(const void *chunk, size_t bytes)
{
	const struct log_chunk *head = chunk;
	return log_file_write(chunk, bytes,
	                      log_chunk_offset(rt.config.flags, slot_of(head->sequence)));
}

/* Write a stream's chunk, as far as it is filled; 0 or an errno. */
static int write_chunk(struct stream *s)
{
	return write_bytes(s->chunk, rt.config.keep_bytes
	                                     ? LOG_CHUNK
	                                     : (char *)s->next - (char *)s->chunk + 8);
}

/* Another thread's chunk is filled up to its last word that is not zero. */
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
 * Writes the records made so far to the file; the chunks continue to be filled. In free mode
 * every thread has one: without main's, which has the forks, no other would begin.
 */
void log_flush(void)
{
	if (!rt.on || rt.full)
		return;
	if (in_room) { /* a dead parent does not read it */
		rt.header->filled = (uint64_t)((char *)rt.stream.next - parts[0]);
		return;
	}
	if (rt.config.flags & LOG_CONTROLLED) {
		if (rt.stream.chunk)
			write_chunk(&rt.stream);
		return;
	}
	/* a handler that ends the program may interrupt log_more */
	bool locked = lock_chunks_or_not();
	flush_buffers();
	if (locked)
		unlock_chunks();
}

/* Free mode: writes the filled part of each thread's chunk to the file. */
static void flush_buffers(void)
{
	for (uint32_t i = 0; i < rt.config.buffer_chunks && buffer_at(i); i++)
		if (buffer_used[i])
			flush_buffer(buffer_at(i));
}

/* Unused bytes of chunks whose threads ended, which are holes in the file. */
static uint64_t unfilled;

static char *find_buffer(void)
{
	uint32_t i = 0;
	while (i < rt.config.buffer_chunks && buffer_used[i])
		i++;
	if (i == rt.config.buffer_chunks)
		return NULL;
	if (!parts[i / PART])
		parts[i / PART] = map_part(i / PART);
	buffer_used[i] = parts[i / PART] != NULL;
	return buffer_at(i);
}

/* ---- a stream's chunk ---- */

/* A thread has ended; another may take its chunk's memory. */
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
	buffer_used[index_of((const char *)s->chunk)] = 0;
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
	/* for streams that no longer record */
	static struct log_sites shared;
	static uint16_t shared_hints[LOG_SITES];
	if (!s->sites) {
		s->sites = rt_pages(sizeof(*s->sites));
		s->hints = rt_pages(LOG_SITES * sizeof(*s->hints));
		if (s->sites && s->hints)
			return; /* new pages are empty */
	}
	if (!s->sites || !s->hints) { /* if only one table could be mapped, it stays unused */
		log_stop(LOG_FULL, ENOMEM);
		s->sites = &shared;
		s->hints = shared_hints;
	}
	for (unsigned i = 0; i < LOG_SITES; i++)
		s->sites->at[i].key = 0;
}

volatile bool log_makes_room;

/* Wait until the reader of a live recording has read all but the last chunks.  A reader without
 * progress for two seconds is taken to be gone. */
static void await_reader(void)
{
	enum { TRIES = 2000, PAUSE = 1000000 };
	static volatile int never;
	uint64_t before = 0;
	for (int i = 0; i < TRIES; i++) {
		uint64_t taken = __atomic_load_n(&rt.header->taken, __ATOMIC_RELAXED);
		if (taken == 0 || next_sequence < taken + LOG_AHEAD)
			return;
		if (taken != before)
			i = 0;
		before = taken;
		futex_wait(&never, 0, PAUSE);
	}
	rt.header->taken = 0;
}

void log_more(struct stream *s, unsigned words)
{
	static uint64_t scratch[8192]; /* target of records when no more can be kept */
	bool controlled = rt.config.flags & LOG_CONTROLLED;
	log_makes_room = controlled;
	if (controlled && !rt.full)
		await_reader();
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
	/* --last: accesses that were told may be in a chunk that goes. */
	if (rt.config.keep_bytes && me && me->stream == s && me->epoch)
		me->epoch++;
	unlock_chunks();
	log_makes_room = false;
}

void log_close(void)
{
	if (rt.header)
		raw_syscall(SYS_munmap, (long)rt.header, LOG_HEADER, 0, 0, 0, 0);
	rt.header = NULL;
	for (unsigned i = 0; i < PARTS && parts[i]; i++) {
		raw_syscall(SYS_munmap, (long)parts[i], (long)part_bytes(), 0, 0, 0, 0);
		parts[i] = NULL;
	}
	rt.stream.chunk = NULL;
}
