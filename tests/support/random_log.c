/* random_log.c - see random_log.h. */
#include "tests/support/random_log.h"

#include "engine/record/import/decode.h"
#include "engine/record/record.h"
#include "tests/support/mutate.h"

#include <string.h>
#include <zstd.h>

/* ---- a log of random records ---- */

static void word(GByteArray *log, uint64_t w)
{
	g_byte_array_append(log, (const guint8 *)&w, sizeof(w));
}

/* A few places of each kind, so that records meet; rarely anything. */
static uint64_t address(void)
{
	static const uint64_t bases[] = { 0x1000,         0x1100,         0x555555554000,
		                          0x7ffff7000000, 0x7fffffffd000, 0 };
	return mutate_below(40) == 0 ? mutate_random()
	                             : bases[mutate_below(6)] + mutate_below(16) * 8;
}

static uint64_t size(void)
{
	return mutate_below(30) == 0 ? mutate_random() : mutate_below(200);
}

static void text(GByteArray *log, uint64_t length)
{
	static const char alphabet[] = "counter\0dict\0get\0,1,\"a\\x41\",nil\0/lib/x.so\0fd7";
	for (uint64_t i = 0; i < (length + 7) / 8 * 8; i++) {
		guint8 c = i < length
		                   ? (guint8)alphabet[(i + mutate_below(2)) % sizeof(alphabet)]
		                   : 0;
		g_byte_array_append(log, &c, 1);
	}
}

static void first(GByteArray *log, unsigned tag, unsigned flags, uint64_t pc)
{
	word(log, tag | (uint64_t)(flags & 255) << 8 | pc << LOG_PC_SHIFT);
}

static void access_record(GByteArray *log, unsigned tag, unsigned flags)
{
	unsigned code = mutate_below(6);
	if (tag == LOG_RMW)
		flags &= ~(LOG_VALUE | LOG_SMALL);
	first(log, tag, flags, 0x400000 + mutate_below(64) * 8);
	word(log, (address() & LOG_ADDRESS_MASK) | (uint64_t)code << LOG_SIZE_SHIFT |
	                  mutate_below(LOG_SMALL_LIMIT) << LOG_SMALL_SHIFT);
	if (tag == LOG_RMW)
		word(log, mutate_below(9)), word(log, mutate_below(9));
	else if (code == LOG_RANGE)
		word(log, size());
	else if (flags & LOG_VALUE)
		word(log, mutate_below(3) ? mutate_below(9) : mutate_random());
}

static void input_record(GByteArray *log, unsigned flags)
{
	struct log_input in = { .thread = mutate_below(4),
		                .call = mutate_below(LOG_INPUT_COUNT + 1),
		                .fd = (int32_t)mutate_below(9),
		                .result = (int64_t)mutate_below(90) - 10,
		                .length = { mutate_below(20), mutate_below(3) ? 0 : size() } };
	uint64_t bytes = sizeof(in) + in.length[0];
	first(log, LOG_INPUT, flags & LOG_MORE, bytes);
	g_byte_array_append(log, (const guint8 *)&in, sizeof(in));
	text(log, in.length[0]);
}

/* Words and then bytes whose length is the last of them. */
static void blob_record(GByteArray *log, unsigned tag, unsigned flags, unsigned words)
{
	uint64_t length = mutate_below(60);
	first(log, tag, flags, mutate_below(5));
	for (unsigned i = 0; i + 1 < words; i++)
		word(log, tag == LOG_MODULE ? 0x555555554000 + i * 0x10000 * mutate_below(3)
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
	unsigned tag = 1 + mutate_below(LOG_TAG_COUNT - 1), flags = mutate_random() & 255;
	if (mutate_below(8) == 0) { /* a short one, or two in a word */
		word(log, LOG_SHORT | (mutate_below(4) ? 0 : LOG_PAIR) | mutate_random() >> 2);
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
		blob_record(log, tag, flags, 6);
		return;
	case LOG_CALL:
	case LOG_RET:
	case LOG_MISS:
		blob_record(log, tag, flags, 2);
		return;
	case LOG_NOTE:
	case LOG_RANDOM:
	case LOG_STOPPED:
	case LOG_CRASH:
		blob_record(log, tag, flags, 1);
		return;
	}
	first(log, tag, flags,
	      mutate_below(4) ? mutate_below(5) : 0x400000 + mutate_below(64) * 8);
	for (unsigned i = 0; i < fixed[tag]; i++)
		word(log, tag == LOG_FORK || tag == LOG_JOIN || tag == LOG_SND || tag == LOG_RCV
		                  ? mutate_below(5)
		          : i ? size()
		              : address());
}

static void random_chunk(GByteArray *log, uint32_t thread, uint64_t sequence)
{
	struct log_chunk head = { LOG_CHUNK_MAGIC, thread, sequence };
	g_byte_array_append(log, (const guint8 *)&head, sizeof(head));
	first(log, LOG_THREAD, 0, mutate_below(3));
	word(log, UINT32_MAX), word(log, 0x7ffffffde000), word(log, 0x7ffffffff000);
	for (uint64_t n = mutate_below(120); n > 0; n--)
		random_record(log);
}

/* Appends padding up to the next chunk's place. */
static void pad(GByteArray *log, uint64_t place)
{
	guint from = log->len;
	g_byte_array_set_size(log, (guint)place);
	memset(log->data + from, 0, log->len - from);
}

GByteArray *random_log(void)
{
	struct log_header header = { .magic = LOG_MAGIC,
		                     .version = LOG_VERSION,
		                     .chunk_size = LOG_CHUNK,
		                     .flags = (uint32_t)(mutate_random() & 255),
		                     .status = (uint32_t)mutate_below(LOG_STARVED + 1),
		                     .seed = 1,
		                     .stack_begin = 0x7fffffffe000,
		                     .arguments = 0x7fffffffe800 };
	GByteArray *log = g_byte_array_new();
	g_byte_array_append(log, (const guint8 *)&header, sizeof(header));
	/* mostly one: the rest of a chunk that another follows is empty */
	unsigned chunks = mutate_below(12) ? 1 : 2;
	for (unsigned i = 0; i < chunks; i++) {
		pad(log, log_chunk_offset(header.flags, i));
		guint begin = log->len;
		random_chunk(log, header.flags & LOG_CONTROLLED ? LOG_ALL_THREADS : i, i);
		if (!(header.flags & LOG_COMPRESSED) || mutate_below(2))
			continue;
		/* its frame, and a hole where it was */
		guint bytes = log->len - begin;
		struct log_frame frame = { LOG_FRAME_MAGIC, i, i, 0 };
		char *packed = g_malloc(ZSTD_compressBound(LOG_CHUNK)),
		     *whole = g_malloc0(LOG_CHUNK);
		memcpy(whole, log->data + begin, bytes);
		frame.bytes = ZSTD_compress(packed, ZSTD_compressBound(LOG_CHUNK), whole,
		                            LOG_CHUNK, 1);
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

void damage_log(GByteArray *log)
{
	for (uint64_t n = mutate_below(6); n > 0 && log->len > sizeof(struct log_header); n--) {
		uint64_t at = mutate_below(8)
		                      ? LOG_HEADER + mutate_below(log->len -
		                                                  MIN(LOG_HEADER, log->len - 1))
		                      : mutate_below(sizeof(struct log_header));
		uint64_t aligned = at / 8 * 8, other = LOG_HEADER + mutate_below(200) * 8;
		if (aligned + 8 > log->len || other + 8 > log->len)
			continue;
		switch (mutate_below(5)) {
		case 0:
			log->data[at] = (guint8)mutate_random();
			break;
		case 1:
			log->data[at] ^= (guint8)(1u << mutate_below(8));
			break;
		case 2: { /* a word of another place, or none */
			uint64_t w = 0;
			if (mutate_below(2))
				memcpy(&w, log->data + other, 8);
			memcpy(log->data + aligned, &w, 8);
			break;
		}
		case 3: { /* a word that is at a limit */
			static const uint64_t limits[] = { UINT64_MAX, INT64_MAX, 1ull << 48,
				                           UINT32_MAX, 0x7fff,    0x8000 };
			memcpy(log->data + aligned, &limits[mutate_below(6)], 8);
			break;
		}
		default:
			if (mutate_below(10) == 0)
				g_byte_array_set_size(log, (guint)at);
		}
	}
}
