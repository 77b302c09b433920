/*
 * so_far.c - see so_far.h. The chunk that is being filled lies in memory that the program
 * shares with us; those before it are whole in the file (runtime/log/chunks.c). A record's
 * first word is written last, so a chunk can be read from its beginning up to the first 0. Its
 * magic goes before the chunk is cleared for the next: as long as it stands the words do.
 *
 * Only the last record of a chunk may still change: the value of a write is added to it, and
 * in free mode and with a filter a second record goes into its word. So that record and the
 * words after it, which are few, are copied again.
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
	uint64_t *copy;                 /* copy of the chunk that is read, as far as it is
	                                 * known */
	uint64_t sequence;              /* that chunk's */
	bool begun, whole;              /* `copy` has a part of it; all of it */
	struct log_reader reader;
	uint64_t *last, was; /* the last record read, if it may change, and its first word */
	uint64_t words;
};

struct so_far *so_far_new(const char *path, int buffer)
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
	s->copy = g_malloc0(LOG_CHUNK);
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
	g_free(s);
}

bool so_far_header(const struct so_far *s, struct log_header *header)
{
	return pread(s->log, header, sizeof *header, 0) == sizeof *header &&
	       memcmp(header->magic, LOG_MAGIC, sizeof header->magic) == 0 &&
	       header->version == LOG_VERSION;
}

struct log_reader *so_far_reader(struct so_far *s)
{
	return &s->reader;
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

/* Number of words from the one at which the last record began, or the next begins. */
static size_t known_words(const struct so_far *s)
{
	return (size_t)((s->last ? s->last : s->reader.at) - s->copy);
}

/* Words of the chunk that is being filled, up to a block without any; false when it is not
 * that chunk any more. Read twice, as a write's record changes before its value is written
 * behind it: where the first reading has a value, the second also has the record that
 * announces it. */
static bool copy_memory(struct so_far *s)
{
	uint64_t sequence, any = 1;
	size_t first = known_words(s), to = first;
	for (size_t from = first; from < WORDS && any; from = to) {
		to = MIN(from + BLOCK, WORDS);
		any = 0;
		for (size_t i = from; i < to; i++)
			any |= s->copy[i] = s->chunk[i];
	}
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	for (size_t i = first; i < to; i++)
		if (s->copy[i])
			s->copy[i] = s->chunk[i];
	s->words += to - first;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return filled(s, &sequence) && sequence == s->sequence;
}

static bool copy_file(struct so_far *s)
{
	size_t from = known_words(s);
	uint64_t offset = log_chunk_offset(0, s->sequence) + from * WORD;
	ssize_t got = pread(s->log, s->copy + from, (WORDS - from) * WORD, (off_t)offset);
	size_t end = from + (size_t)MAX(got, 0) / WORD;
	memset(s->copy + end, 0, (WORDS - end) * WORD);
	s->words += end - from;
	return got > 0;
}

/* Bytes added to the last record since it was read. */
static void read_last_again(struct so_far *s)
{
	uint64_t word = s->last ? *s->last : 0, second;
	if (s->last == NULL || word == s->was)
		return;
	if (!(word & LOG_SHORT)) /* of two words: a value was added, small or as a third word */
		s->reader.at += (log_word_flags(word) & LOG_VALUE) != 0;
	else if (!(word & LOG_PAIR))
		s->reader.at += log_short_field(word) == LOG_DELTA_FOLLOWS;
	else if (log_pair_halves(word, &second), second != LOG_HALF_NONE)
		s->reader.second = second | LOG_PAIR;
	s->last = NULL;
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
	say_taken(s);
	memset(s->copy, 0, LOG_CHUNK);
	log_reader_chunk(&s->reader, s->copy + HEAD, s->copy + WORDS);
	s->last = NULL;
	s->begun = true;
	s->whole = false;
}

/* Drops a copy made while the memory was cleared. */
static void forget_copied(struct so_far *s)
{
	size_t at = (size_t)(s->reader.at - s->copy);
	if (s->last)
		*s->last = s->was;
	if (at < WORDS)
		s->copy[at] = 0;
}

/* Copies more of the log: false when no more has been written. */
static bool copy_more(struct so_far *s)
{
	uint64_t sequence;
	const uint64_t *at = s->reader.at;
	if (s->begun && s->whole) {
		s->sequence++;
		s->begun = false;
	}
	if (!filled(s, &sequence) || sequence < s->sequence)
		return false;
	if (!s->begun)
		begin_chunk(s);
	bool here = sequence == s->sequence && copy_memory(s);
	if (!here && !(filled(s, &sequence) && sequence > s->sequence)) {
		forget_copied(s);
		return false;
	}
	s->whole = !here;
	if (!here && !copy_file(s))
		forget_copied(s);
	read_last_again(s);
	return !here || s->reader.second || s->reader.at != at || *s->reader.at != 0;
}

/* May the record still change: a write without its value, one record of two? */
static bool may_change(const struct log_record *r, uint64_t word)
{
	uint64_t second;
	if (!(word & LOG_SHORT))
		return r->tag == LOG_WRITE && !(log_word_flags(word) & (LOG_VALUE | LOG_SMALL));
	if (!(word & LOG_PAIR))
		return log_short_field(word) == LOG_DELTA_UNKNOWN;
	log_pair_halves(word, &second);
	return second == LOG_HALF_NONE;
}

bool so_far_next(struct so_far *s, struct log_record *record)
{
	do {
		const uint64_t *at = s->reader.at;
		bool half = s->reader.second != 0;
		if (!s->begun || !log_reader_next(&s->reader, record))
			continue;
		/* a record that others follow is final, unless the next word is its value */
		s->last = NULL;
		if (*s->reader.at == 0 && !half && may_change(record, *at)) {
			s->last = s->copy + (at - s->copy);
			s->was = *at;
		}
		return true;
	} while (copy_more(s));
	return false;
}
