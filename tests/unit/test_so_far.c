/*
 * test_so_far.c - a log that is read while it is written (so_far.h): each record comes once,
 * with its value, as soon as nothing can be added to it; and the work is that of the log's
 * length, not of how often one looks.
 */
#include <check.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/record/codec.h"
#include "engine/record/import/decode.h"
#include "engine/record/import/so_far.h"
#include "tests/support/mutate.h"
#include "tests/support/random_log.h"
#include "tests/support/suite.h"

enum { WORDS = LOG_CHUNK / 8, HEAD = sizeof(struct log_chunk) / 8 };

struct seen {
	enum log_tag tag;
	uint64_t pc, address, value; /* value: of a write, or 0 */
};

/* The program that records. */
struct program {
	char path[64];
	int log, buffer;
	uint64_t *chunk; /* its memory, shared with the reader */
	struct log_reader *words;
	struct so_far *reader;
	GArray *got; /* struct seen */
	uint64_t looks;
};

static void note(GArray *list, const struct log_record *r)
{
	bool access = r->tag >= LOG_READ && r->tag <= LOG_RMW;
	bool valued = access && r->valued;
	struct seen s = { r->tag, r->pc, access ? r->address : 0, valued ? r->value : 0 };
	g_array_append_val(list, s);
}

static void look(struct program *p)
{
	struct log_record r;
	p->looks++;
	while (so_far_next(p->reader, &r))
		note(p->got, &r);
}

static struct program program_new(void)
{
	struct program p = { .got = g_array_new(FALSE, FALSE, sizeof(struct seen)) };
	struct log_header header = { .magic = LOG_MAGIC,
		                     .version = LOG_VERSION,
		                     .chunk_size = LOG_CHUNK,
		                     .flags = LOG_CONTROLLED };
	g_strlcpy(p.path, "/tmp/so-far-XXXXXX", sizeof p.path);
	p.log = g_mkstemp(p.path);
	p.buffer = memfd_create("chunk", MFD_CLOEXEC);
	ck_assert_int_eq(ftruncate(p.buffer, LOG_CHUNK), 0);
	p.chunk = mmap(NULL, LOG_CHUNK, PROT_READ | PROT_WRITE, MAP_SHARED, p.buffer, 0);
	ck_assert_ptr_ne(p.chunk, MAP_FAILED);
	p.words = g_new0(struct log_reader, 1);
	p.reader = so_far_new(p.path, p.buffer, p.words, true);
	ck_assert_ptr_nonnull(p.reader);
	look(&p);
	ck_assert_int_eq(pwrite(p.log, &header, sizeof header, 0), sizeof header);
	look(&p);
	return p;
}

static void program_end(struct program *p)
{
	so_far_free(p->reader);
	g_free(p->words);
	munmap(p->chunk, LOG_CHUNK);
	close(p->buffer);
	close(p->log);
	unlink(p->path);
	g_array_free(p->got, TRUE);
}

static void begin_chunk(struct program *p, uint64_t sequence)
{
	struct log_chunk head = { 0, LOG_ALL_THREADS, sequence };
	if (sequence > 0)
		ck_assert_int_eq(pwrite(p->log, p->chunk, LOG_CHUNK,
		                        (off_t)log_chunk_offset(0, sequence - 1)),
		                 LOG_CHUNK);
	((struct log_chunk *)(void *)p->chunk)->magic = 0;
	if (mutate_below(2))
		look(p);
	memset(p->chunk, 0, LOG_CHUNK);
	memcpy(p->chunk, &head, sizeof head);
	((struct log_chunk *)(void *)p->chunk)->magic = LOG_CHUNK_MAGIC;
}

/* A record as it is before the value of its write, or its second half, is there; or itself. */
static uint64_t unfinished(const uint64_t *w, size_t *words)
{
	uint64_t first = w[0], second;
	if (!(first & LOG_SHORT)) {
		bool valued = log_word_tag(first) == LOG_WRITE &&
		              log_word_flags(first) & LOG_VALUE && *words == 3 &&
		              log_place_code(w[1]) != LOG_RANGE;
		*words -= valued;
		return valued ? first & ~((uint64_t)(LOG_VALUE | LOG_SMALL) << 8) : first;
	}
	if (first & LOG_PAIR) {
		log_pair_halves(first, &second);
		return second == LOG_HALF_NONE ? first : first ^ log_pair_second(second);
	}
	if (log_short_field(first) != LOG_DELTA_FOLLOWS || *words != 2)
		return first;
	*words = 1;
	return first ^ log_short_known(LOG_DELTA_FOLLOWS);
}

static void write_record(struct program *p, const uint64_t *w, size_t at, size_t words)
{
	size_t before = words;
	uint64_t first = unfinished(w, &before);
	memcpy(p->chunk + at + 1, w + 1, (before - 1) * 8);
	p->chunk[at] = first;
	if (mutate_below(3))
		look(p);
	p->chunk[at] = w[0];
	if (mutate_below(3))
		look(p);
	memcpy(p->chunk + at + 1, w + 1, (words - 1) * 8);
	if (mutate_below(3) == 0)
		look(p);
}

/* Write a chunk's records in turn, up to the first empty one. */
static void write_chunk(struct program *p, const uint64_t *words, size_t count, GArray *wanted)
{
	struct log_reader reader;
	struct log_record r;
	memset(&reader, 0, sizeof reader);
	log_reader_chunk(&reader, words + HEAD, words + count);
	for (const uint64_t *at = reader.at; log_reader_next(&reader, &r); at = reader.at) {
		size_t length = (size_t)(reader.at - at);
		if (reader.second == 0 && length == 0) { /* the second half */
			note(wanted, &r);
			continue;
		}
		if (at + length > words + count - 8)
			break;
		note(wanted, &r);
		write_record(p, at, (size_t)(at - words), length);
	}
}

static GByteArray *controlled_log(void)
{
	for (;;) {
		GByteArray *log = random_log();
		const struct log_header *h = (const void *)log->data;
		if (!(h->flags & LOG_COMPRESSED) && log->len < LOG_HEADER + LOG_CHUNK)
			return log;
		g_byte_array_free(log, TRUE);
	}
}

START_TEST(every_record_once)
{
	struct program p = program_new();
	g_autoptr(GArray) wanted = g_array_new(FALSE, FALSE, sizeof(struct seen));
	mutate_seed((uint64_t)_i + 1);
	for (uint64_t sequence = 0; sequence < 6; sequence++) {
		GByteArray *log = controlled_log();
		uint64_t *chunk = g_malloc0(LOG_CHUNK);
		memcpy(chunk, log->data + LOG_HEADER, log->len - LOG_HEADER);
		begin_chunk(&p, sequence);
		write_chunk(&p, chunk, (log->len - LOG_HEADER) / 8, wanted);
		g_free(chunk);
		g_byte_array_free(log, TRUE);
	}
	begin_chunk(&p, 6); /* else the last record might still change */
	look(&p);
	struct log_header header;
	ck_assert(so_far_header(p.reader, &header));
	ck_assert_uint_eq(header.taken, 7); /* the program need not wait */
	ck_assert_uint_eq(p.got->len, wanted->len);
	for (guint i = 0; i < wanted->len; i++) {
		struct seen a = g_array_index(wanted, struct seen, i);
		struct seen b = g_array_index(p.got, struct seen, i);
		ck_assert_uint_eq(a.tag, b.tag);
		ck_assert_uint_eq(a.pc, b.pc);
		ck_assert_uint_eq(a.address, b.address);
		ck_assert_uint_eq(a.value, b.value);
	}
	program_end(&p);
}
END_TEST

/* The words that are looked at are those of the log and some for each look. */
START_TEST(work_is_linear)
{
	enum { RECORDS = 100000, MOST_A_LOOK = 200 };
	struct program p = program_new();
	uint64_t at = HEAD, sequence = 0;
	begin_chunk(&p, sequence);
	for (uint64_t i = 0; i < RECORDS; i++, at += 2) {
		p.chunk[at + 1] = log_place(0x1000 + 8 * i, 3);
		p.chunk[at] = log_word(LOG_READ, 0, 0x400000 + 16 * i);
		look(&p);
		if (at + 4 < WORDS)
			continue;
		begin_chunk(&p, ++sequence);
		at = HEAD - 2;
	}
	for (int i = 0; i < 1000; i++)
		look(&p);
	ck_assert_uint_eq(p.got->len, RECORDS);
	ck_assert_uint_le(so_far_words(p.reader), 2 * RECORDS + MOST_A_LOOK * p.looks);
	program_end(&p);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("so_far");
	TCase *c = tcase_create("so_far");
	tcase_set_timeout(c, 120);
	tcase_add_loop_test(c, every_record_once, 0, 200);
	tcase_add_test(c, work_is_linear);
	suite_add_tcase(suite, c);
	return suite_run(suite);
}
