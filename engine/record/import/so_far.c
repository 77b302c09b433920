/*
 * so_far.c - see so_far.h. The chunk that is being filled lies in memory that the program
 * shares with us; those before it are whole in the file (runtime/log/chunks.c). A record's
 * first word is written last, so a chunk can be read from its beginning up to the first 0. Its
 * magic goes before the chunk is cleared for the next: as long as it stands the words do.
 *
 * Only the last record of a chunk may still change: the value of a write is added to it, and
 * with a filter a second record goes into its word. It is not taken before another follows.
 *
 * The program waits when it is some chunks ahead (log_header.taken), so that its trace is
 * never far behind.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/record/codec.h"
#include "engine/record/layout.h"
#include "engine/record/import/so_far.h"

enum { WORD = sizeof(uint64_t), WORDS = LOG_CHUNK / WORD };
enum { HEAD = sizeof(struct log_chunk) / WORD, BLOCK = 64 };
_Static_assert(sizeof(struct log_chunk) % WORD == 0, "a head is whole words");

struct so_far {
	int log;
	struct log_header *header;      /* mapped; NULL: not yet, or not possible */
	const volatile uint64_t *chunk; /* the same */
	uint64_t *copy;                 /* the chunk that is read, as far as it is known */
	uint64_t *seen;                 /* the same a moment before: copy_memory */
	uint64_t sequence;              /* that chunk's */
	bool begun, whole;              /* `copy` has a part of it; all of it */
	bool paced;                     /* the program waits for the reader */
	struct log_reader *reader;      /* borrowed */
	uint64_t words;
};

struct so_far *so_far_new(const char *path, int buffer, struct log_reader *reader, bool paced)
{
	void *chunk = mmap(NULL, LOG_CHUNK, PROT_READ, MAP_SHARED, buffer, 0);
	int log = open(path, O_RDWR | O_CLOEXEC);
	if (chunk == MAP_FAILED || log < 0) {
		if (chunk != MAP_FAILED)
			munmap(chunk, LOG_CHUNK);
		if (log >= 0)
			close(log);
		return NULL;
	}
	struct so_far *s = g_new0(struct so_far, 1);
	s->log = log;
	s->chunk = chunk;
	s->reader = reader;
	s->paced = paced;
	s->copy = g_malloc0(LOG_CHUNK);
	s->seen = g_malloc0(LOG_CHUNK);
	return s;
}

void so_far_free(struct so_far *s)
{
	if (s == NULL)
		return;
	munmap((void *)(uintptr_t)s->chunk, LOG_CHUNK);
	if (s->header)
		munmap(s->header, LOG_HEADER);
	close(s->log);
	g_free(s->copy);
	g_free(s->seen);
	g_free(s);
}

bool so_far_header(const struct so_far *s, struct log_header *header)
{
	return pread(s->log, header, sizeof *header, 0) == sizeof *header &&
	       memcmp(header->magic, LOG_MAGIC, sizeof header->magic) == 0 &&
	       header->version == LOG_VERSION;
}

uint64_t so_far_chunk(const struct so_far *s, uint64_t *words)
{
	*words = s->begun ? (uint64_t)(s->reader->at - s->copy) : 0;
	return s->sequence;
}

uint64_t so_far_words(const struct so_far *s)
{
	return s->words;
}

/* The number of the chunk that is being filled; of a recording that has stopped, one more
 * than the last. False: between two chunks. */
static bool filled(const struct so_far *s, uint64_t *sequence)
{
	union {
		struct log_chunk chunk;
		uint64_t words[HEAD];
	} head;
	struct log_header header;
	for (size_t i = 0; i < HEAD; i++)
		head.words[i] = s->chunk[i];
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	*sequence = head.chunk.sequence;
	if (head.chunk.magic == LOG_CHUNK_MAGIC)
		return true;
	if (!so_far_header(s, &header) || header.status == LOG_RUNNING)
		return false;
	*sequence = header.chunks;
	return true;
}

/* Number of words that have been taken. */
static size_t taken_words(const struct so_far *s)
{
	return (size_t)(s->reader->at - s->copy);
}

/* Words of the chunk that is being filled, up to a block without any; false when it is not
 * that chunk any more. Read twice, as the program writes meanwhile: where the first reading has
 * a record's first word, the second has all of the record, and of those before it their values.
 */
static bool copy_memory(struct so_far *s)
{
	uint64_t sequence, any = 1;
	size_t first = taken_words(s), to = first;
	for (size_t from = first; from < WORDS && any; from = to) {
		to = MIN(from + BLOCK, WORDS);
		any = 0;
		for (size_t i = from; i < to; i++)
			any |= s->seen[i] = s->chunk[i];
	}
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	for (size_t i = first; i < to; i++)
		s->copy[i] = s->chunk[i];
	s->words += to - first;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return filled(s, &sequence) && sequence == s->sequence;
}

static bool copy_file(struct so_far *s)
{
	size_t from = taken_words(s);
	uint64_t offset = log_chunk_offset(0, s->sequence) + from * WORD;
	ssize_t got = pread(s->log, s->copy + from, (WORDS - from) * WORD, (off_t)offset);
	size_t end = from + (size_t)MAX(got, 0) / WORD;
	memset(s->copy + end, 0, (WORDS - end) * WORD);
	s->words += end - from;
	return got > 0;
}

static void say_taken(struct so_far *s)
{
	if (s->header == NULL) {
		void *header =
		        mmap(NULL, LOG_HEADER, PROT_READ | PROT_WRITE, MAP_SHARED, s->log, 0);
		s->header = header == MAP_FAILED ? NULL : header;
	}
	if (s->header)
		__atomic_store_n(&s->header->taken, s->sequence + 1, __ATOMIC_RELAXED);
}

static void begin_chunk(struct so_far *s)
{
	if (s->paced)
		say_taken(s);
	memset(s->seen, 0, LOG_CHUNK);
	log_reader_chunk(s->reader, s->copy + HEAD, s->copy + WORDS);
	s->begun = true;
}

/* Begins the next chunk if one was whole, and the first; false: it is not there yet. */
static bool at_chunk(struct so_far *s, uint64_t *filling)
{
	if (s->begun && s->whole) {
		s->sequence++;
		s->begun = s->whole = false;
	}
	if (!filled(s, filling) || *filling < s->sequence)
		return false;
	if (!s->begun)
		begin_chunk(s);
	return true;
}

/* Drops a copy made while the memory was cleared. */
static void forget_copied(struct so_far *s)
{
	size_t at = taken_words(s);
	if (at < WORDS)
		s->copy[at] = s->seen[at] = 0;
}

bool so_far_whole(struct so_far *s)
{
	uint64_t sequence;
	if (!at_chunk(s, &sequence) || sequence == s->sequence)
		return false;
	s->whole = true;
	if (!copy_file(s))
		forget_copied(s);
	return true;
}

void so_far_drop(const struct so_far *s)
{
	/* children by fork begin with a copy of these */
	if (s->header && s->header->flags & LOG_AWAITS && s->sequence < LOG_KEPT_CHUNKS)
		return;
	(void)fallocate(s->log, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
	                (off_t)log_chunk_offset(0, s->sequence), LOG_CHUNK);
}

/* Number of words of a record that may change as long as no other follows, as it is now: a
 * write without its value, or whose value is being written; one record of two. 0: it is final.
 */
static size_t changing_words(uint64_t word)
{
	uint64_t second;
	unsigned flags = log_word_flags(word);
	if (!(word & LOG_SHORT))
		return log_word_tag(word) != LOG_WRITE ? 0
		       : flags & LOG_VALUE             ? 3
		       : flags & LOG_SMALL             ? 0
		                                       : 2;
	if (word & LOG_PAIR)
		return log_pair_halves(word, &second), second == LOG_HALF_NONE;
	return log_short_field(word) == LOG_DELTA_FOLLOWS   ? 2
	       : log_short_field(word) == LOG_DELTA_UNKNOWN ? 1
	                                                    : 0;
}

/* Is the next record there, and final? (The last words of a chunk are free: chunks.c.) */
static bool is_final(const struct so_far *s)
{
	size_t at = taken_words(s), words;
	if (s->whole || s->reader->second)
		return true;
	if (at + 4 >= WORDS || s->seen[at] == 0)
		return false;
	words = changing_words(s->copy[at]);
	return words == 0 || s->seen[at + words] != 0;
}

/* Copies more of the log: false when no other record is final. */
static bool copy_more(struct so_far *s)
{
	uint64_t sequence;
	if (!at_chunk(s, &sequence))
		return false;
	if (sequence == s->sequence && copy_memory(s))
		return is_final(s);
	forget_copied(s);
	return so_far_whole(s);
}

bool so_far_next(struct so_far *s, struct log_record *record)
{
	do {
		if (s->begun && is_final(s) && log_reader_next(s->reader, record))
			return true;
	} while (copy_more(s));
	return false;
}
