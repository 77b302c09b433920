/*
 * test_record_fuzz.c - recording logs that are damaged: logs made of random records of every
 * kind, then mutated, in both modes, compressed or not.  One becomes a trace that every
 * consumer can walk, or is refused with a message; never a crash (the sanitizers watch), a
 * hang or a leak.
 *
 * By hand for longer, and with real logs (of a `heddle record` that was killed) besides:
 *     build/tests/unit/test_record_fuzz ROUNDS [SEED [LOG...]]
 */
#include "engine/record/decode.h"
#include "engine/record/plan.h"
#include "engine/record/record.h"
#include "engine/trace/formats.h"
#include "engine/trace/index.h"
#include "tests/support/suite.h"

#include <check.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

static unsigned rounds = 600;
static uint64_t seed = 1;
static char **logs; /* named on the command line; ends in NULL */

static uint64_t next_random(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static uint64_t below(uint64_t limit)
{
	return limit ? next_random() % limit : 0;
}

/* ---- a log of random records ---- */

static void word(GByteArray *log, uint64_t w)
{
	g_byte_array_append(log, (const guint8 *)&w, sizeof(w));
}

/* A few places of each kind, so that records meet; rarely anything. */
static uint64_t address(void)
{
	static const uint64_t bases[] = { 0x1000, 0x1100, 0x555555554000, 0x7ffff7000000,
		                          0x7fffffffd000, 0 };
	return below(40) == 0 ? next_random() : bases[below(6)] + below(16) * 8;
}

static uint64_t size(void)
{
	return below(30) == 0 ? next_random() : below(200);
}

static void text(GByteArray *log, uint64_t length)
{
	static const char alphabet[] = "counter\0dict\0get\0,1,\"a\\x41\",nil\0/lib/x.so\0fd7";
	for (uint64_t i = 0; i < (length + 7) / 8 * 8; i++) {
		guint8 c = i < length ? (guint8)alphabet[(i + below(2)) % sizeof(alphabet)] : 0;
		g_byte_array_append(log, &c, 1);
	}
}

static void first(GByteArray *log, unsigned tag, unsigned flags, uint64_t pc)
{
	word(log, tag | (uint64_t)(flags & 255) << 8 | pc << LOG_PC_SHIFT);
}

static void access_record(GByteArray *log, unsigned tag, unsigned flags)
{
	unsigned code = below(6);
	if (tag == LOG_RMW)
		flags &= ~(LOG_VALUE | LOG_SMALL);
	first(log, tag, flags, 0x400000 + below(64) * 8);
	word(log, (address() & LOG_ADDRESS_MASK) | (uint64_t)code << LOG_SIZE_SHIFT |
	                  below(LOG_SMALL_LIMIT) << LOG_SMALL_SHIFT);
	if (tag == LOG_RMW)
		word(log, below(9)), word(log, below(9));
	else if (code == LOG_RANGE)
		word(log, size());
	else if (flags & LOG_VALUE)
		word(log, below(3) ? below(9) : next_random());
}

static void input_record(GByteArray *log, unsigned flags)
{
	struct log_input in = { .thread = below(4),
		                .call = below(LOG_INPUT_COUNT + 1),
		                .fd = (int32_t)below(9),
		                .result = (int64_t)below(90) - 10,
		                .length = { below(20), below(3) ? 0 : size() } };
	uint64_t bytes = sizeof(in) + in.length[0];
	first(log, LOG_INPUT, flags & LOG_MORE, bytes);
	g_byte_array_append(log, (const guint8 *)&in, sizeof(in));
	text(log, in.length[0]);
}

/* Words and then bytes whose length is the last of them. */
static void blob_record(GByteArray *log, unsigned tag, unsigned flags, unsigned words)
{
	uint64_t length = below(60);
	first(log, tag, flags, below(5));
	for (unsigned i = 0; i + 1 < words; i++)
		word(log, tag == LOG_MODULE ? 0x555555554000 + i * 0x10000 * below(3)
		                            : address());
	word(log, length);
	text(log, length);
}

/* One of every kind in turn, as the layout has it. */
static void random_record(GByteArray *log)
{
	static const uint8_t fixed[LOG_TAG_COUNT] = {
#define TAG(name, words, visible) words,
		LOG_TAGS(TAG)
#undef TAG
	};
	unsigned tag = 1 + below(LOG_TAG_COUNT - 1), flags = next_random() & 255;
	if (below(8) == 0) { /* a short one, or two in a word */
		word(log, LOG_SHORT | (below(4) ? 0 : LOG_PAIR) | next_random() >> 2);
		return;
	}
	switch (tag) {
	case LOG_READ:
	case LOG_WRITE:
	case LOG_AREAD:
	case LOG_AWRITE:
	case LOG_RMW:
		access_record(log, tag, flags);
		return;
	case LOG_INPUT:
		input_record(log, flags);
		return;
	case LOG_MODULE:
		blob_record(log, tag, flags, 4);
		return;
	case LOG_CALL:
	case LOG_RET:
	case LOG_MISS:
		blob_record(log, tag, flags, 2);
		return;
	case LOG_NOTE:
	case LOG_RANDOM:
		blob_record(log, tag, flags, 1);
		return;
	}
	first(log, tag, flags, below(4) ? below(5) : 0x400000 + below(64) * 8);
	for (unsigned i = 0; i < fixed[tag]; i++)
		word(log, tag == LOG_FORK || tag == LOG_JOIN || tag == LOG_SND || tag == LOG_RCV
		                  ? below(5)
		          : i ? size()
		              : address());
}

static void random_chunk(GByteArray *log, uint32_t thread, uint64_t sequence)
{
	struct log_chunk head = { LOG_CHUNK_MAGIC, thread, sequence };
	g_byte_array_append(log, (const guint8 *)&head, sizeof(head));
	first(log, LOG_THREAD, 0, below(3));
	word(log, UINT32_MAX), word(log, 0x7ffffffde000), word(log, 0x7ffffffff000);
	for (uint64_t n = below(120); n > 0; n--)
		random_record(log);
}

/* Behind what is there, at the next chunk's place. */
static void pad(GByteArray *log, uint64_t place)
{
	guint from = log->len;
	g_byte_array_set_size(log, (guint)place);
	memset(log->data + from, 0, log->len - from);
}

static GByteArray *random_log(void)
{
	struct log_header header = { .magic = LOG_MAGIC,
		                     .version = LOG_VERSION,
		                     .chunk_size = LOG_CHUNK,
		                     .flags = (uint32_t)(next_random() & 255),
		                     .status = (uint32_t)below(LOG_STARVED + 1),
		                     .seed = 1,
		                     .stack_begin = 0x7fffffffe000,
		                     .arguments = 0x7fffffffe800 };
	GByteArray *log = g_byte_array_new();
	g_byte_array_append(log, (const guint8 *)&header, sizeof(header));
	/* mostly one: the rest of a chunk that another follows is empty */
	unsigned chunks = below(12) ? 1 : 2;
	for (unsigned i = 0; i < chunks; i++) {
		pad(log, log_chunk_offset(header.flags, i));
		guint begin = log->len;
		random_chunk(log, header.flags & LOG_CONTROLLED ? LOG_ALL_THREADS : i, i);
		if (!(header.flags & LOG_COMPRESSED) || below(2))
			continue;
		/* its frame, and a hole where it was */
		guint bytes = log->len - begin;
		struct log_frame frame = { LOG_FRAME_MAGIC, i, i, 0 };
		char *packed = g_malloc(ZSTD_compressBound(LOG_CHUNK)),
		     *whole = g_malloc0(LOG_CHUNK);
		memcpy(whole, log->data + begin, bytes);
		frame.bytes =
		        ZSTD_compress(packed, ZSTD_compressBound(LOG_CHUNK), whole, LOG_CHUNK, 1);
		memset(log->data + begin, 0, bytes);
		pad(log, log_chunk_offset(header.flags, i) + LOG_CHUNK);
		g_byte_array_append(log, (const guint8 *)&frame, sizeof(frame));
		g_byte_array_append(log, (const guint8 *)packed, (guint)frame.bytes);
		g_free(packed);
		g_free(whole);
	}
	return log;
}

/* ---- damage ---- */

static void damage(GByteArray *log)
{
	for (uint64_t n = below(6); n > 0 && log->len > sizeof(struct log_header); n--) {
		uint64_t at = below(8) ? LOG_HEADER + below(log->len - MIN(LOG_HEADER, log->len - 1))
		                       : below(sizeof(struct log_header));
		uint64_t aligned = at / 8 * 8, other = LOG_HEADER + below(200) * 8;
		if (aligned + 8 > log->len || other + 8 > log->len)
			continue;
		switch (below(5)) {
		case 0:
			log->data[at] = (guint8)next_random();
			break;
		case 1:
			log->data[at] ^= (guint8)(1u << below(8));
			break;
		case 2: { /* a word of another place, or none */
			uint64_t w = 0;
			if (below(2))
				memcpy(&w, log->data + other, 8);
			memcpy(log->data + aligned, &w, 8);
			break;
		}
		case 3: { /* a word that is at a limit */
			static const uint64_t limits[] = { UINT64_MAX, INT64_MAX, 1ull << 48,
				                           UINT32_MAX, 0x7fff, 0x8000 };
			memcpy(log->data + aligned, &limits[below(6)], 8);
			break;
		}
		default:
			if (below(10) == 0)
				g_byte_array_set_size(log, (guint)at);
		}
	}
}

/* ---- what becomes of it ---- */

static void walk(struct trace *t)
{
	GString *out = g_string_new(NULL);
	ck_assert(trace_need(t, INDEX_ALL, NULL));
	trace_print(t, TRACE_TEXT, NULL, out, NULL);
	for (uint32_t e = 0; e < t->events_count; e++)
		if (op_reads(t->events[e].op) && !event_inert(&t->events[e]))
			trace_writers(t, e);
	g_string_free(out, TRUE);
}

/* A plan is made of notes that come from the log, too. */
static void plan(struct trace *t)
{
	struct plan p = { 0 };
	struct error e = { .what = "" };
	uint32_t pair[2] = { NONE, NONE };
	if (t->events_count > 0)
		pair[0] = (uint32_t)below(t->events_count);
	if (!plan_make(t, NULL, 0, pair, &p, &e))
		ck_assert(*e.what);
	plan_release(&p);
}

static void try_log(const GByteArray *log, const char *path)
{
	struct error e = { .what = "" };
	struct record_facts facts = { 0 };
	ck_assert(g_file_set_contents(path, (const char *)log->data, log->len, NULL));
	struct trace *t = record_import(path, "fuzz", &facts, NULL, &e);
	if (t == NULL) {
		ck_assert_msg(*e.what && *e.where, "a refusal without words");
	} else {
		walk(t);
		plan(t);
		trace_close(t);
	}
	record_facts_release(&facts);
}

static GByteArray *real_log(void)
{
	char *bytes;
	gsize length;
	ck_assert(g_file_get_contents(logs[below(g_strv_length(logs))], &bytes, &length, NULL));
	return g_byte_array_new_take((guint8 *)bytes, length);
}

START_TEST(damaged_logs)
{
	char *folder = g_dir_make_tmp("heddle-fuzz-XXXXXX", NULL);
	char *path = g_build_filename(folder, "x.log", NULL);
	unsigned traces = 0;
	for (unsigned i = 0; i < rounds; i++) {
		GByteArray *log = logs && *logs && below(2) ? real_log() : random_log();
		if (i % 4)
			damage(log);
		try_log(log, path);
		traces += log->len > LOG_HEADER;
		g_byte_array_free(log, TRUE);
	}
	ck_assert_uint_gt(traces, rounds / 2);
	g_unlink(path);
	g_rmdir(folder);
	g_free(path);
	g_free(folder);
}
END_TEST

int main(int argc, char **argv)
{
	/* GLib says that it was asked for nonsense, and goes on */
	g_log_set_always_fatal(G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_WARNING);
	if (argc > 1)
		rounds = (unsigned)strtoul(argv[1], NULL, 10);
	if (argc > 2)
		seed = strtoull(argv[2], NULL, 10) * 2 + 1;
	logs = argc > 3 ? argv + 3 : NULL;
	Suite *s = suite_create("record fuzz");
	TCase *c = tcase_create("fuzz");
	tcase_set_timeout(c, argc > 1 ? 3600 : 120);
	tcase_add_test(c, damaged_logs);
	suite_add_tcase(s, c);
	return suite_run(s);
}
