/* test_record_import.c - logs made by hand become traces; damaged ones an error or less. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/record/codec.h"
#include "engine/record/record.h"
#include "engine/trace/formats.h"
#include "tests/support/suite.h"

static char path[4096];

struct log {
	GByteArray *bytes;
};

static void word(struct log *l, uint64_t w)
{
	g_byte_array_append(l->bytes, (const guint8 *)&w, sizeof(w));
}
static void record(struct log *l, enum log_tag tag, unsigned flags, uint64_t pc)
{
	word(l, tag | flags << 8 | pc << LOG_PC_SHIFT);
}
static uint64_t place(uint64_t address, unsigned code, uint64_t small)
{
	return address | (uint64_t)code << LOG_SIZE_SHIFT | small << LOG_SMALL_SHIFT;
}
static void begin_chunk(struct log *l, uint32_t thread, uint64_t sequence)
{
	struct log_chunk head = { LOG_CHUNK_MAGIC, thread, sequence };
	while ((l->bytes->len - LOG_HEADER) % LOG_CHUNK)
		g_byte_array_append(l->bytes, (const guint8 *)"", 1);
	g_byte_array_append(l->bytes, (const guint8 *)&head, sizeof(head));
}
static struct log log_new(uint32_t flags)
{
	struct log l = { g_byte_array_new() };
	struct log_header header = { .magic = LOG_MAGIC,
		                     .version = LOG_VERSION,
		                     .chunk_size = LOG_CHUNK,
		                     .flags = flags,
		                     .status = LOG_EXITED };
	static const guint8 zeros[LOG_HEADER];
	g_byte_array_append(l.bytes, (const guint8 *)&header, sizeof(header));
	g_byte_array_append(l.bytes, zeros, LOG_HEADER - sizeof(header));
	return l;
}

static struct trace *import(const struct log *l, size_t length, struct record_facts *facts,
                            struct error *error)
{
	FILE *f = fopen(path, "wb");
	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(l->bytes->data, 1, length, f), length);
	fclose(f);
	return record_import(path, "made by hand", facts, NULL, error);
}

/* main and T1: fork, lock, a block, an access by each, a use after the free. */
static struct log small_log(void)
{
	struct log l = log_new(LOG_CONTROLLED | LOG_VALUES | LOG_ASLR_OFF);
	begin_chunk(&l, LOG_ALL_THREADS, 0);
	record(&l, LOG_THREAD, 0, 0);
	word(&l, UINT32_MAX), word(&l, 0x7000), word(&l, 0x8000), word(&l, 0), word(&l, 0);
	record(&l, LOG_SWITCH, 0, 0);
	record(&l, LOG_ALLOC, 0, 0x101);
	word(&l, 0x1000), word(&l, 64);
	record(&l, LOG_WRITE, LOG_SMALL, 0x110);
	word(&l, place(0x1008, 3, 7));
	record(&l, LOG_FORK, 0, 0x118);
	word(&l, 1);
	record(&l, LOG_THREAD, 0, 1);
	word(&l, 0), word(&l, 0x9000), word(&l, 0xa000), word(&l, 0), word(&l, 0);
	record(&l, LOG_SWITCH, 0, 1);
	record(&l, LOG_ACQ, 0, 0x104);
	word(&l, 0x2000);
	record(&l, LOG_READ, LOG_VALUE, 0x105);
	word(&l, place(0x1008, 3, 0));
	word(&l, 123456789);
	record(&l, LOG_REL, 0, 0x106);
	word(&l, 0x2000);
	record(&l, LOG_SWITCH, 0, 0);
	record(&l, LOG_FREE, 0, 0x107);
	word(&l, 0x1000);
	record(&l, LOG_FREE, 0, 0x107); /* of memory that was never allocated */
	word(&l, 0x5000);
	record(&l, LOG_READ, LOG_SMALL, 0x108);
	word(&l, place(0x1008, 3, 1));
	record(&l, LOG_ALLOC, 0, 0x101);
	word(&l, 0x1000), word(&l, 32);
	record(&l, LOG_WRITE, 0, 0x109);
	word(&l, place(0x1008, LOG_RANGE, 0)), word(&l, 24);
	return l;
}

START_TEST(records)
{
	struct log l = small_log();
	struct error error = { 0 };
	struct record_facts facts = { 0 };
	struct trace *t = import(&l, l.bytes->len, &facts, &error);
	ck_assert_msg(t != NULL, "%s", error.what);
	ck_assert_uint_eq(t->events_count, 10);
	ck_assert_uint_eq(t->threads_count, 2);
	ck_assert(t->order_exact && t->values_exact);
	static const uint8_t ops[] = { OP_ALLOC, OP_WRITE, OP_FORK, OP_ACQ,   OP_READ,
		                       OP_REL,   OP_FREE,  OP_READ, OP_ALLOC, OP_WRITE };
	for (int i = 0; i < 10; i++)
		ck_assert_uint_eq(t->events[i].op, ops[i]);
	ck_assert_str_eq(trace_thread_name(t, t->events[3].thread), "T1");
	ck_assert_int_eq(trace_value(t, t->events[1].aux).integer, 7);
	ck_assert_int_eq(trace_value(t, t->events[4].aux).integer, 123456789);
	/* The access after the free is to the old life, the one after the alloc to the new. */
	struct wide first = event_variables(t, &t->events[1]);
	struct wide stale = event_variables(t, &t->events[7]);
	struct wide fresh = event_variables(t, &t->events[9]);
	ck_assert_uint_eq(t->variables[stale.first].block, t->variables[first.first].block);
	ck_assert_uint_ne(t->variables[fresh.first].block, t->variables[first.first].block);
	ck_assert(events_overlap(t, &t->events[1], &t->events[7]));
	ck_assert(!events_overlap(t, &t->events[1], &t->events[9]));
	trace_close(t);
	record_facts_release(&facts);
	g_byte_array_free(l.bytes, TRUE);
}
END_TEST

/* A short record of the site that the long one with this tag, pc and size code has filled. */
static void short_field(struct log *l, enum log_tag tag, uint64_t pc, unsigned code,
                        int64_t offset, uint64_t delta_field)
{
	unsigned slot = log_site_slot(log_site_key(tag | pc << LOG_PC_SHIFT, code));
	uint64_t from = tag == LOG_ENTER ? 0 : LOG_OFFSET_BIAS;
	word(l, LOG_SHORT | (uint64_t)slot << LOG_SLOT_SHIFT | delta_field << LOG_DELTA_SHIFT |
	                (from + (uint64_t)offset));
}
static void short_record(struct log *l, enum log_tag tag, uint64_t pc, unsigned code,
                         int64_t offset, int64_t delta)
{
	short_field(l, tag, pc, code, offset,
	            LOG_DELTA_LOWEST + LOG_DELTA_BIAS + (uint64_t)delta);
}

static struct log short_log(void)
{
	struct log l = log_new(LOG_CONTROLLED | LOG_VALUES | LOG_ASLR_OFF);
	begin_chunk(&l, LOG_ALL_THREADS, 0);
	record(&l, LOG_THREAD, 0, 0);
	word(&l, UINT32_MAX), word(&l, 0x7000), word(&l, 0x8000), word(&l, 0), word(&l, 0);
	record(&l, LOG_SWITCH, 0, 0);
	record(&l, LOG_ENTER, 0, 0x100);
	word(&l, 0x101);
	record(&l, LOG_READ, LOG_SMALL, 0x110);
	word(&l, place(0x2000, 2, 7));
	short_record(&l, LOG_READ, 0x110, 2, 0, 1);
	short_record(&l, LOG_READ, 0x110, 2, -16, -8);
	record(&l, LOG_WRITE, 0, 0x118); /* its value never came */
	word(&l, place(0x3000, 3, 0));
	short_record(&l, LOG_WRITE, 0x118, 3, 8, 5); /* from 0 */
	short_field(&l, LOG_WRITE, 0x118, 3, 0, LOG_DELTA_FOLLOWS);
	word(&l, 1ull << 40);
	short_record(&l, LOG_WRITE, 0x118, 3, 0, 2);
	short_field(&l, LOG_WRITE, 0x118, 3, 0, LOG_DELTA_UNKNOWN);
	record(&l, LOG_LEAVE, 0, 1);
	short_record(&l, LOG_ENTER, 0x100, 0, 0, 0);
	short_record(&l, LOG_ENTER, 0x100, 0, 1, 0); /* leaves one first */
	/* The next chunk has none of these: a short record first is a damaged log's. */
	begin_chunk(&l, LOG_ALL_THREADS, 1);
	record(&l, LOG_SWITCH, 0, 0);
	short_record(&l, LOG_READ, 0x110, 2, 0, 0);
	record(&l, LOG_ACQ, 0, 0x104);
	word(&l, 0x4000);
	return l;
}

START_TEST(short_records)
{
	struct log l = short_log();
	struct error error = { 0 };
	struct trace *t = import(&l, l.bytes->len, NULL, &error);
	ck_assert_msg(t != NULL, "%s", error.what);
	static const struct {
		enum op op;
		bool valued;
		int64_t value;
	} want[] = { { OP_ENTER, false, 0 },        { OP_READ, true, 7 },
		     { OP_READ, true, 8 },          { OP_READ, true, 0 },
		     { OP_WRITE, false, 0 },        { OP_WRITE, true, 5 },
		     { OP_WRITE, true, 1ll << 40 }, { OP_WRITE, true, (1ll << 40) + 2 },
		     { OP_WRITE, false, 0 },        { OP_LEAVE, false, 0 },
		     { OP_ENTER, false, 0 },        { OP_LEAVE, false, 0 },
		     { OP_ENTER, false, 0 },        { OP_LEAVE, false, 0 } };
	ck_assert_uint_eq(t->events_count, G_N_ELEMENTS(want));
	for (size_t i = 0; i < G_N_ELEMENTS(want); i++) {
		const struct event *e = &t->events[i];
		ck_assert_uint_eq(e->op, want[i].op);
		if (want[i].op == OP_ENTER || want[i].op == OP_LEAVE)
			continue;
		ck_assert_int_eq(trace_value(t, e->aux).kind == V_INT, want[i].valued);
		if (want[i].valued)
			ck_assert_int_eq(trace_value(t, e->aux).integer, want[i].value);
	}
	/* The same place twice, another 16 bytes before; two writes 8 bytes apart. */
	ck_assert(events_overlap(t, &t->events[1], &t->events[2]));
	ck_assert(!events_overlap(t, &t->events[1], &t->events[3]));
	ck_assert(!events_overlap(t, &t->events[4], &t->events[5]));
	ck_assert(events_overlap(t, &t->events[5], &t->events[8]));
	trace_close(t);
	g_byte_array_free(l.bytes, TRUE);
}
END_TEST

/*
 * Blocks beside each other, of a few bytes, come and go, and behind them is memory of no block;
 * a short record's access, whose place is found from where its site was last, is of the
 * variables that a long one's at the same address is of, whose place is looked up.
 */
START_TEST(short_places)
{
	enum { BLOCKS = 8, APART = 48, STEPS = 3000, LOW = 0x2000 };
	enum { HIGH = LOW + APART * BLOCKS, END = HIGH + 2000 };
	struct log l = log_new(LOG_CONTROLLED | LOG_VALUES | LOG_ASLR_OFF);
	uint64_t at[4] = { LOW, LOW, LOW, LOW }; /* by size code: where its site was last */
	bool there[BLOCKS] = { false };
	GRand *random = g_rand_new_with_seed(7);
	begin_chunk(&l, LOG_ALL_THREADS, 0);
	record(&l, LOG_THREAD, 0, 0);
	word(&l, UINT32_MAX), word(&l, 0x7000), word(&l, 0x8000), word(&l, 0), word(&l, 0);
	record(&l, LOG_SWITCH, 0, 0);
	for (int i = 0; i < BLOCKS; i++) {
		record(&l, LOG_ALLOC, 0, 0x101);
		word(&l, LOW + APART * i), word(&l, APART - i);
		there[i] = true;
	}
	for (unsigned code = 0; code < 4; code++) {
		record(&l, LOG_READ, LOG_SMALL, 0x108 + 8 * code);
		word(&l, place(LOW, code, 1));
	}
	for (int i = 0; i < STEPS; i++) {
		int b = g_rand_int_range(random, 0, BLOCKS);
		if (g_rand_int_range(random, 0, 20) == 0) {
			record(&l, there[b] ? LOG_FREE : LOG_ALLOC, 0, 0x101);
			word(&l, LOW + APART * b);
			if (!there[b])
				word(&l, g_rand_int_range(random, 1, APART + 1));
			there[b] = !there[b];
		}
		unsigned code = g_rand_int_range(random, 0, 4);
		int step = g_rand_int_range(random, 0, 3) ? 1 << code : 1;
		uint64_t to = at[code] + (g_rand_int_range(random, 0, 9) - 4) * step;
		if (to < LOW || to >= END || g_rand_int_range(random, 0, 30) == 0)
			to = b & 1 ? LOW + APART * b : HIGH + 200 * b;
		short_record(&l, LOG_READ, 0x108 + 8 * code, code, (int64_t)(to - at[code]), 0);
		at[code] = to;
		record(&l, LOG_WRITE, LOG_SMALL, 0x148);
		word(&l, place(to, code, 1));
	}
	g_rand_free(random);
	struct error error = { 0 };
	struct trace *t = import(&l, l.bytes->len, NULL, &error);
	ck_assert_msg(t != NULL, "%s", error.what);
	uint32_t pairs = 0;
	for (uint64_t i = 1; i < t->events_count; i++) {
		if (t->events[i].op != OP_WRITE)
			continue;
		struct wide s = event_variables(t, &t->events[i - 1]),
		            w = event_variables(t, &t->events[i]);
		ck_assert_uint_eq(t->events[i - 1].op, OP_READ);
		ck_assert_uint_eq(s.first, w.first);
		ck_assert_uint_eq(s.count, w.count);
		pairs++;
	}
	ck_assert_uint_eq(pairs, STEPS);
	trace_close(t);
	g_byte_array_free(l.bytes, TRUE);
}
END_TEST

/* The variables of an access are the bytes from `address` on, without a gap. */
static void check_bytes(const struct trace *t, const struct event *e, uint64_t address,
                        uint64_t size)
{
	struct wide range = event_variables(t, e);
	for (uint32_t i = 0; i < range.count; i++) {
		const struct variable *v = &t->variables[range.first + i];
		ck_assert_uint_eq(v->address, address);
		address += v->size;
		size -= v->size;
	}
	ck_assert_uint_eq(size, 0);
}

/* Accesses that overlap throughout are more than one batch of places (memory.c). */
START_TEST(overlapping)
{
	enum { COUNT = 20000, LONG = 3000, FIRST = 3 };
	const uint64_t low = 0x10000;
	struct log l = log_new(LOG_CONTROLLED | LOG_VALUES | LOG_ASLR_OFF);
	begin_chunk(&l, LOG_ALL_THREADS, 0);
	record(&l, LOG_THREAD, 0, 0);
	word(&l, UINT32_MAX), word(&l, 0x7000), word(&l, 0x8000), word(&l, 0), word(&l, 0);
	record(&l, LOG_SWITCH, 0, 0);
	record(&l, LOG_ALLOC, 0, 0x101);
	word(&l, low), word(&l, COUNT + 8);
	for (uint64_t i = 0; i < FIRST - 1; i++) { /* all of it, and a part */
		record(&l, LOG_WRITE, 0, 0x109);
		word(&l, place(low + i * LONG, LOG_RANGE, 0));
		word(&l, i ? LONG : COUNT + 8);
	}
	record(&l, LOG_READ, LOG_SMALL, 0x110);
	word(&l, place(low, 3, 0));
	for (unsigned i = 1; i < COUNT; i++)
		short_record(&l, LOG_READ, 0x110, 3, 1, 0);
	struct error error = { 0 };
	struct record_facts facts = { 0 };
	struct trace *t = import(&l, l.bytes->len, &facts, &error);
	ck_assert_msg(t != NULL, "%s", error.what);
	ck_assert_uint_eq(t->events_count, FIRST + COUNT);
	ck_assert_uint_eq(t->variables_count, COUNT + 8);
	check_bytes(t, &t->events[1], low, COUNT + 8);
	check_bytes(t, &t->events[2], low + LONG, LONG);
	for (unsigned i = 0; i < COUNT; i++)
		check_bytes(t, &t->events[FIRST + i], low + i, 8);
	trace_close(t);
	record_facts_release(&facts);
	g_byte_array_free(l.bytes, TRUE);
}
END_TEST

/* A record FAR has the address of the short record behind it. */
START_TEST(far_records)
{
	const uint64_t stack = 0x7fff00001000, heap = 0x10000;
	struct log l = log_new(LOG_CONTROLLED | LOG_VALUES | LOG_ASLR_OFF);
	begin_chunk(&l, LOG_ALL_THREADS, 0);
	record(&l, LOG_THREAD, 0, 0);
	word(&l, UINT32_MAX), word(&l, 0x7000), word(&l, 0x8000), word(&l, 0), word(&l, 0);
	record(&l, LOG_SWITCH, 0, 0);
	record(&l, LOG_READ, LOG_SMALL, 0x110);
	word(&l, place(heap, 3, 5));
	record(&l, LOG_FAR, 0, stack);
	short_record(&l, LOG_READ, 0x110, 3, 0, 1);
	short_record(&l, LOG_READ, 0x110, 3, 8, 1);
	record(&l, LOG_FAR, 0, heap);
	short_record(&l, LOG_READ, 0x110, 3, 16, 1);
	record(&l, LOG_FAR, 0, stack); /* the log ends before its record */
	struct error error = { 0 };
	struct record_facts facts = { 0 };
	struct trace *t = import(&l, l.bytes->len, &facts, &error);
	ck_assert_msg(t != NULL, "%s", error.what);
	static const uint64_t offsets[] = { 0, 0, 8, 16 };
	ck_assert_uint_eq(t->events_count, 4);
	for (unsigned i = 0; i < 4; i++) {
		check_bytes(t, &t->events[i], (i % 3 ? stack : heap) + offsets[i], 8);
		ck_assert_int_eq(trace_value(t, t->events[i].aux).integer, 5 + i);
	}
	trace_close(t);
	record_facts_release(&facts);
	g_byte_array_free(l.bytes, TRUE);
}
END_TEST

static uint64_t half(enum log_tag tag, uint64_t pc, unsigned code, int64_t offset)
{
	unsigned slot = log_site_slot(log_site_key(tag | pc << LOG_PC_SHIFT, code));
	uint64_t from = tag == LOG_ENTER || tag == LOG_LEAVE ? 0 : LOG_HALF_BIAS;
	return (uint64_t)slot << LOG_HALF_OFFSET_BITS | (from + (uint64_t)offset);
}
static void pair(struct log *l, uint64_t first, uint64_t second)
{
	word(l, LOG_SHORT | LOG_PAIR | second << LOG_HALF_BITS | first);
}

/* Free mode's words of two records: accesses, a range, calls and returns. */
static struct log pair_log(void)
{
	struct log l = log_new(LOG_VALUES);
	begin_chunk(&l, 0, 0);
	record(&l, LOG_ENTER, 0, 0x100);
	word(&l, 0x101);
	record(&l, LOG_READ, 0, 0x108);
	word(&l, place(0x2000, 2, 0));
	record(&l, LOG_WRITE, 0, 0x110);
	word(&l, place(0x3000, LOG_RANGE, 0)), word(&l, 100);
	record(&l, LOG_LEAVE, 0, 1);
	pair(&l, half(LOG_ENTER, 0x100, 0, 0), half(LOG_READ, 0x108, 2, -8));
	short_record(&l, LOG_WRITE, 0x110, LOG_RANGE, 0, 28);
	pair(&l, half(LOG_WRITE, 0x110, LOG_RANGE, 64), half(LOG_READ, 0x108, 2, 8));
	pair(&l, half(LOG_ENTER, 0x100, 0, 1), half(LOG_LEAVE, 0, 0, 1));
	pair(&l, half(LOG_READ, 0x108, 2, 131000), LOG_HALF_NONE);
	return l;
}

START_TEST(pairs)
{
	struct log l = pair_log();
	struct error error = { 0 };
	struct trace *t = import(&l, l.bytes->len, NULL, &error);
	ck_assert_msg(t != NULL, "%s", error.what);
	static const enum op want[] = { OP_ENTER, OP_READ,  OP_WRITE, OP_LEAVE, OP_ENTER,
		                        OP_READ,  OP_WRITE, OP_WRITE, OP_READ,  OP_LEAVE,
		                        OP_ENTER, OP_LEAVE, OP_READ };
	ck_assert_uint_eq(t->events_count, G_N_ELEMENTS(want));
	for (size_t i = 0; i < G_N_ELEMENTS(want); i++)
		ck_assert_uint_eq(t->events[i].op, want[i]);
	/* Read at 2000, 1ff8, 2000 and far; written at 3000 to 3063, to 307f, 3040 to 30bf. */
	ck_assert(!events_overlap(t, &t->events[1], &t->events[5]));
	ck_assert(events_overlap(t, &t->events[1], &t->events[8]));
	ck_assert(!events_overlap(t, &t->events[1], &t->events[12]));
	ck_assert(events_overlap(t, &t->events[2], &t->events[7]));
	ck_assert_uint_eq(t->events[1].aux, t->events[8].aux); /* no values */
	trace_close(t);
	g_byte_array_free(l.bytes, TRUE);
}
END_TEST

/* Every cut gives the events before it, or an error for less than a header. */
START_TEST(cut)
{
	struct log l = small_log();
	uint64_t before = 0;
	for (size_t length = 0; length <= l.bytes->len;
	     length += length < LOG_HEADER - 64 ? 512 : 8) {
		struct error error = { 0 };
		struct trace *t = import(&l, length, NULL, &error);
		if (!t) {
			ck_assert_uint_lt(length, LOG_HEADER);
			ck_assert_str_ne(error.what, "");
			continue;
		}
		ck_assert_uint_ge(t->events_count, before);
		before = t->events_count;
		trace_close(t);
	}
	ck_assert_uint_eq(before, 10);
	g_byte_array_free(l.bytes, TRUE);
}
END_TEST

/* Whatever single byte is damaged: no crash, no hang. */
START_TEST(damaged)
{
	struct log l = _i == 2 ? pair_log() : _i ? short_log() : small_log();
	/* Of two chunks the first is looked at: the rest of it is empty. */
	if (_i)
		g_byte_array_set_size(l.bytes, LOG_HEADER + 512);
	uint32_t random = 12345;
	for (int i = 0; i < 3000; i++) {
		random = random * 1664525 + 1013904223;
		size_t at = random % l.bytes->len;
		if (i % 4) /* mostly in the records */
			at = LOG_HEADER + random / 7 % (l.bytes->len - LOG_HEADER);
		guint8 was = l.bytes->data[at];
		l.bytes->data[at] = random >> 24;
		struct error error = { 0 };
		struct record_facts facts = { 0 };
		struct trace *t = import(&l, l.bytes->len, &facts, &error);
		ck_assert(t != NULL || error.what[0]);
		trace_close(t);
		if (t)
			record_facts_release(&facts);
		l.bytes->data[at] = was;
	}
	g_byte_array_free(l.bytes, TRUE);
}
END_TEST

/* One instruction goes to and fro between two blocks at 0x1000 and 0x9000,
 * allocated in that order or the other; then the first is another block, and a second thread
 * does the same. */
static struct log turning_log(bool other_order)
{
	struct log l = log_new(LOG_CONTROLLED | LOG_VALUES | LOG_ASLR_OFF);
	begin_chunk(&l, LOG_ALL_THREADS, 0);
	record(&l, LOG_THREAD, 0, 0);
	word(&l, UINT32_MAX), word(&l, 0x700000), word(&l, 0x800000), word(&l, 0), word(&l, 0);
	record(&l, LOG_SWITCH, 0, 0);
	for (int i = 0; i < 2; i++) {
		record(&l, LOG_ALLOC, 0, 0x101);
		word(&l, (i == 0) == other_order ? 0x9000 : 0x1000), word(&l, 64);
	}
	record(&l, LOG_FORK, 0, 0x118);
	word(&l, 1);
	record(&l, LOG_WRITE, LOG_SMALL, 0x110);
	word(&l, place(0x1000, 3, 7));
	for (int i = 0; i < 3; i++) {
		short_record(&l, LOG_WRITE, 0x110, 3, 0x8000, 1);
		short_record(&l, LOG_WRITE, 0x110, 3, -0x7ff8, 0);
	}
	record(&l, LOG_FREE, 0, 0x107);
	word(&l, 0x1000);
	record(&l, LOG_ALLOC, 0, 0x101);
	word(&l, 0x1000), word(&l, 64);
	short_record(&l, LOG_WRITE, 0x110, 3, 0x8000, 0);
	short_record(&l, LOG_WRITE, 0x110, 3, -0x8010, 0);
	record(&l, LOG_SWITCH, 0, 1);
	short_record(&l, LOG_WRITE, 0x110, 3, 0x8000, 0);
	short_record(&l, LOG_WRITE, 0x110, 3, -0x8008, 0);
	return l;
}

/* Lines of places that a thread has accessed are kept from site to site; none of them is of
 * another life, or of the import before. */
START_TEST(kept_lines)
{
	enum { FIRST = 3, FREED = 10, COUNT = 16 };
	static const uint64_t places[COUNT] = { [3] = 0x1000, 0x9000, 0x1008, 0x9008,
		                                0x1010,       0x9010, 0x1018, [12] = 0x9018,
		                                0x1008,       0x9008, 0x1000 };
	for (int round = 0; round < 3; round++) {
		bool other_order = round == 1;
		struct log l = turning_log(other_order);
		struct error error = { 0 };
		struct record_facts facts = { 0 };
		struct trace *t = record_import_memory(l.bytes->data, l.bytes->len, path,
		                                       "made by hand", &facts, &error);
		ck_assert_msg(t != NULL, "%s", error.what);
		ck_assert_uint_eq(t->events_count, COUNT);
		for (uint32_t e = FIRST; e < COUNT; e++) {
			if (places[e] == 0)
				continue;
			struct wide run = event_variables(t, &t->events[e]);
			const struct variable *v = &t->variables[run.first];
			/* the first block is the stack */
			uint32_t block = 1 + (places[e] >= 0x9000 ? !other_order : other_order);
			if (places[e] < 0x9000 && e > FREED)
				block = 3;
			ck_assert_uint_eq(t->events[e].op, OP_WRITE);
			ck_assert_uint_eq(t->events[e].thread, e >= 14);
			ck_assert_uint_eq(v->address, places[e]);
			ck_assert_uint_eq(v->block, block);
		}
		trace_close(t);
		record_facts_release(&facts);
		g_byte_array_free(l.bytes, TRUE);
	}
}
END_TEST

/* Objects, in turn at one address: which records begin a new one, and which do not. */
START_TEST(lives)
{
	/* above the addresses used for OpenMP's objects */
	enum { LOCK = 0x200000, COND = 0x300000, SEMAPHORE = 0x400000, SPIN = 0x500000 };
	static const struct {
		enum log_tag tag;
		unsigned flags;
		uint64_t address;
		const char *life; /* suffix of its name; NULL: no event */
	} made[] = {
		{ LOG_ACQ, 0, LOCK, "" },
		{ LOG_REL, 0, LOCK, "" },
		{ LOG_DESTROY, LOG_MARKED, LOCK, "" },
		{ LOG_TRYFAIL, LOG_DEAD, LOCK, "" }, /* after its end */
		{ LOG_DESTROY, LOG_DEAD | LOG_MARKED, LOCK, "" },
		{ LOG_ACQ, 0, LOCK, "#2" },  /* written anew */
		{ LOG_INIT, 0, LOCK, NULL }, /* while it is held */
		{ LOG_INIT, 0, LOCK, NULL },
		{ LOG_ACQ, 0, LOCK, "#3" },
		{ LOG_INIT, 0, 0x2800, NULL }, /* where none was */
		{ LOG_WAIT, 0, COND, "" },
		{ LOG_DESTROY, LOG_MARKED, COND, "" },
		{ LOG_INIT, 0, COND, NULL },
		{ LOG_WAKE, 0, COND, "" }, /* of the object it waited for */
		{ LOG_SIGNAL, 0, COND, "#2" },
		{ LOG_SEMAPHORE, LOG_MADE, SEMAPHORE, NULL },
		{ LOG_POST, 0, SEMAPHORE, "" },
		{ LOG_SEMAPHORE, 0, SEMAPHORE, NULL }, /* opened again */
		{ LOG_TAKE, 0, SEMAPHORE, "" },
		{ LOG_SEMAPHORE, LOG_MADE, SEMAPHORE, NULL },
		{ LOG_POST, 0, SEMAPHORE, "#2" },
		{ LOG_DESTROY, 0, SPIN, "" },
		{ LOG_ACQ, 0, SPIN, "" }, /* nothing says that it began again */
	};
	struct log l = log_new(LOG_CONTROLLED | LOG_VALUES | LOG_ASLR_OFF);
	struct error error = { 0 };
	begin_chunk(&l, LOG_ALL_THREADS, 0);
	record(&l, LOG_THREAD, 0, 0);
	word(&l, UINT32_MAX), word(&l, 0x7000), word(&l, 0x8000), word(&l, 0), word(&l, 0);
	record(&l, LOG_SWITCH, 0, 0);
	for (size_t i = 0; i < G_N_ELEMENTS(made); i++) {
		record(&l, made[i].tag, made[i].flags, 0x101);
		word(&l, made[i].address);
		if (made[i].tag == LOG_SEMAPHORE)
			word(&l, i);
	}
	struct trace *t = import(&l, l.bytes->len, NULL, &error);
	ck_assert_msg(t != NULL, "%s", error.what);
	uint32_t e = 0;
	for (size_t i = 0; i < G_N_ELEMENTS(made); i++) {
		if (made[i].life == NULL)
			continue;
		ck_assert_uint_lt(e, t->events_count);
		const struct object *o = &t->objects[t->events[e++].target];
		ck_assert_uint_eq(o->address, made[i].address);
		const char *name = trace_string(t, o->name), *number = strchr(name, '#');
		ck_assert_msg(strcmp(number ? number : "", made[i].life) == 0, "%zu: %s", i,
		              name);
		if (made[i].address == SEMAPHORE)
			ck_assert_int_eq(o->count, number ? 19 : 15);
	}
	ck_assert_uint_eq(e, t->events_count);
	trace_close(t);
	g_byte_array_free(l.bytes, TRUE);
}
END_TEST

/* Free mode: tickets put the pieces of the threads in order. */
START_TEST(tickets)
{
	struct log l = log_new(LOG_VALUES);
	begin_chunk(&l, 0, 0);
	record(&l, LOG_TICKET, 0, 1);
	record(&l, LOG_FORK, 0, 0x101);
	word(&l, 1);
	record(&l, LOG_WRITE, LOG_SMALL, 0x110);
	word(&l, place(0x1000, 2, 1));
	record(&l, LOG_TICKET, 0, 3);
	record(&l, LOG_ACQ, 0, 0x118);
	word(&l, 0x2000);
	record(&l, LOG_TICKET, 0, 4);
	record(&l, LOG_REL, 0, 0x104);
	word(&l, 0x2000);
	begin_chunk(&l, 1, 1);
	record(&l, LOG_WRITE, LOG_SMALL, 0x105);
	word(&l, place(0x1010, 2, 1));
	record(&l, LOG_TICKET, 0, 2);
	record(&l, LOG_POST, 0, 0x106);
	word(&l, 0x3000);
	record(&l, LOG_TICKET, 0, 5);
	record(&l, LOG_ACQ, 0, 0x107);
	word(&l, 0x2000);
	struct error error = { 0 };
	struct trace *t = import(&l, l.bytes->len, NULL, &error);
	ck_assert_msg(t != NULL, "%s", error.what);
	ck_assert(!t->order_exact && !t->values_exact);
	GString *order = g_string_new(NULL);
	for (uint64_t i = 0; i < t->events_count; i++)
		if (op_table[t->events[i].op].class == OP_CLASS_SYNC)
			g_string_append_printf(order, "%s ", op_table[t->events[i].op].word);
	ck_assert_str_eq(order->str, "fork post acq rel acq ");
	g_string_free(order, TRUE);
	trace_close(t);
	g_byte_array_free(l.bytes, TRUE);
}
END_TEST

/* Facts beside the events: of the trace for replay, and of the run. */
START_TEST(facts_are_typed)
{
	struct log l = small_log();
	record(&l, LOG_SWITCH, 0, 1);
	record(&l, LOG_CLOCK, CLOCK_MONOTONIC, 0);
	word(&l, (uint64_t)-3), word(&l, 5);
	record(&l, LOG_REPEAT, 0, 40);
	record(&l, LOG_BLOCKED, FOR_THREAD, 0);
	word(&l, 0x2000), word(&l, 1), word(&l, 0x10a), word(&l, 0);
	record(&l, LOG_ACQ, 0, 0x10a);
	word(&l, LOG_OMP_END);
	record(&l, LOG_REL, 0, 0x10a);
	word(&l, LOG_OMP_END);
	record(&l, LOG_BLOCKED, FOR_MUTEX, 1);
	word(&l, LOG_OMP_END), word(&l, LOG_ALL_THREADS), word(&l, 0x10b);
	word(&l, 0);
	record(&l, LOG_BLOCKED, LOG_WAIT_COUNT, 1); /* damaged */
	word(&l, 0x2000), word(&l, 0), word(&l, 0x10b), word(&l, 0);
	record(&l, LOG_LEFT_PLAN, DIVERGED_PLACE, 1);
	word(&l, 17), word(&l, 0x10c);
	record(&l, LOG_LEFT_PLAN, DIVERGED_ORDER, 0); /* the first counts */
	word(&l, 18), word(&l, 0x10d);
	record(&l, LOG_STOPPED, 0, 1);
	word(&l, 2 * sizeof(struct log_stopped));
	word(&l, 0x201), word(&l, 0x10e), word(&l, 0x301), word(&l, 0x10f);
	record(&l, LOG_ENDED, 0, 1);
	record(&l, LOG_ENDS, 0, 0);
	record(&l, LOG_CALLED, 0, 0x400);
	struct error error = { 0 };
	struct record_facts facts = { 0 };
	struct trace *t = import(&l, l.bytes->len, &facts, &error);
	ck_assert_msg(t != NULL, "%s", error.what);
	ck_assert_uint_eq(t->threads[0].recorded, 0);
	ck_assert_uint_eq(t->threads[1].recorded, 1);
	ck_assert_uint_eq(t->clocks_count, 1);
	ck_assert_uint_eq(t->clocks[0].thread, 1);
	ck_assert_uint_eq(t->clocks[0].clock, CLOCK_MONOTONIC);
	ck_assert_int_eq(t->clocks[0].seconds, -3);
	ck_assert_uint_eq(t->repeats_count, 1);
	ck_assert_uint_eq(t->repeats[0].index, 2); /* acq, read, rel */
	ck_assert_uint_eq(t->repeats[0].count, 40);
	ck_assert_uint_eq(t->drops_count, 1);
	ck_assert_uint_eq(t->drops[0].thread, 0);
	ck_assert_uint_eq(t->drops[0].index, 4); /* after alloc, write, fork, free */
	ck_assert_uint_eq(facts.blocked->len, 2);
	GString *waits = g_string_new(NULL);
	record_explain_deadlock(t, &facts, waits);
	char *expected = g_strdup_printf("main waits for the end of T1 (0x109)\n"
	                                 "T1 waits for mutex %s (0x10a)\n",
	                                 trace_string(t, t->objects[1].name));
	ck_assert_str_eq(waits->str, expected);
	g_free(expected);
	g_string_free(waits, TRUE);
	ck_assert(facts.diverged && facts.divergence.why == DIVERGED_PLACE);
	ck_assert_uint_eq(facts.divergence.step, 17);
	ck_assert(facts.stopped[0] == NULL && facts.stopped[1]->len == 2);
	ck_assert_uint_eq(g_array_index(facts.stopped[1], struct log_stopped, 1).call, 0x10f);
	ck_assert_uint_eq(g_array_index(facts.ended, uint32_t, 0), 1);
	ck_assert_uint_eq(g_array_index(facts.ends, uint32_t, 0), 0);
	ck_assert_uint_eq(g_array_index(facts.missing, uint64_t, 0), 0x400);
	trace_close(t);
	record_facts_release(&facts);
	g_byte_array_free(l.bytes, TRUE);
}
END_TEST

/* ---- the loop to the tape of a file, and the builder event by event ---- */

/* A log that is made as the runtime does: long and short records by the table of sites; or
 * accesses by long records alone. */
struct maker {
	struct log l;
	bool only_long;
	struct log_sites sites;
	uint64_t random;
	unsigned depth[2], thread;
};

static uint64_t below(struct maker *m, uint64_t limit)
{
	m->random = m->random * 6364136223846793005u + 1442695040888963407u;
	return (m->random >> 33) % limit;
}

static void make_access(struct maker *m, enum log_tag tag, uint64_t pc, unsigned code,
                        uint64_t address, uint64_t value)
{
	uint64_t key = log_site_key(tag | pc << LOG_PC_SHIFT, code);
	struct log_site *site = &m->sites.at[log_site_slot(key)];
	uint64_t offset = address - site->address, delta = value - site->value;
	bool follows = delta + LOG_DELTA_BIAS > LOG_DELTA_MOST;
	if (m->only_long || site->key != key || offset + LOG_OFFSET_BIAS > LOG_OFFSET_MOST) {
		bool small = value < LOG_SMALL_LIMIT;
		record(&m->l, tag, small ? LOG_SMALL : LOG_VALUE, pc);
		word(&m->l, place(address, code, small ? value : 0));
		if (!small)
			word(&m->l, value);
	} else if (follows) {
		short_field(&m->l, tag, pc, code, (int64_t)offset, LOG_DELTA_FOLLOWS);
		word(&m->l, value);
	} else {
		short_record(&m->l, tag, pc, code, (int64_t)offset, (int64_t)delta);
	}
	*site = (struct log_site){ .key = key, .address = address, .value = value };
}

static void make_leave(struct maker *m, unsigned left)
{
	record(&m->l, LOG_LEAVE, 0, left);
	m->sites.at[log_site_slot(LOG_LEAVE)].key = LOG_LEAVE;
	m->depth[m->thread] -= left;
}

/* Leaves `left` functions, and enters one whose frame begins at `begin` units (0: unknown). */
static void make_enter(struct maker *m, uint64_t pc, uint64_t function, uint64_t begin,
                       unsigned left)
{
	uint64_t key = LOG_ENTER | pc << LOG_PC_SHIFT;
	struct log_site *site = &m->sites.at[log_site_slot(key)];
	if (site->key == key && site->address == function) {
		short_record(&m->l, LOG_ENTER, pc, 0, left, (int64_t)(begin - site->value));
		m->depth[m->thread] -= left;
	} else {
		if (left > 0)
			make_leave(m, left);
		word(&m->l, key);
		word(&m->l, function | begin << LOG_FRAME_SHIFT);
	}
	*site = (struct log_site){ .key = key, .address = function, .value = begin };
	m->depth[m->thread]++;
}

static uint64_t random_value(struct maker *m)
{
	static const uint64_t values[] = { 0, 7, 70000, 0x1000, 0x80000000, 1ull << 40 };
	return values[below(m, G_N_ELEMENTS(values))] + below(m, 3);
}

static uint64_t random_address(struct maker *m, unsigned code)
{
	static const uint64_t bases[] = { 0x1000, 0x3000, 0x7e00, 0x9e00, 0x9f80, 0x40000 };
	return bases[below(m, G_N_ELEMENTS(bases))] + (below(m, 40) << code) +
	       (below(m, 20) == 0);
}

/* A block where others were, or none. */
static void make_block(struct maker *m)
{
	static const uint64_t bases[] = { 0x1000, 0x3000, 0x40000 };
	record(&m->l, LOG_ALLOC, 0, 0x119);
	word(&m->l, bases[below(m, G_N_ELEMENTS(bases))] + 8 * below(m, 30));
	word(&m->l, 8 + below(m, 150));
}

/* Two threads that call functions, often the same by other ways, and access blocks, of which
 * one takes another's place, their stacks, and memory of neither. Some sites share a slot. */
static struct log random_calls_log(uint64_t seed, bool only_long)
{
	enum { STEPS = 3000, APART = LOG_SITES * 8 };
	struct maker *m = g_new0(struct maker, 1);
	m->random = seed;
	m->only_long = only_long;
	m->l = log_new(LOG_CONTROLLED | LOG_VALUES | LOG_ASLR_OFF);
	begin_chunk(&m->l, LOG_ALL_THREADS, 0);
	record(&m->l, LOG_THREAD, 0, 0);
	word(&m->l, UINT32_MAX), word(&m->l, 0x7000), word(&m->l, 0x8000), word(&m->l, 0),
	        word(&m->l, 0);
	record(&m->l, LOG_SWITCH, 0, 0);
	record(&m->l, LOG_ALLOC, 0, 0x101);
	word(&m->l, 0x1000), word(&m->l, 512);
	record(&m->l, LOG_FORK, 0, 0x109);
	word(&m->l, 1);
	record(&m->l, LOG_THREAD, 0, 1);
	word(&m->l, 0), word(&m->l, 0x9000), word(&m->l, 0xa000), word(&m->l, 0),
	        word(&m->l, 0);
	for (int i = 0; i < STEPS; i++) {
		unsigned depth = m->depth[m->thread], what = (unsigned)below(m, 40);
		uint64_t function = below(m, 4) << 8 | 0x200001, call = below(m, 3) << 3;
		if (what < 6 && depth < 6) {
			unsigned left = depth ? (unsigned)below(m, depth + 1) : 0;
			uint64_t begin = below(m, 8) ? depth - left + 1 + below(m, 2) : 0;
			make_enter(m, 0x100000 + call, function, begin, left);
		} else if (what < 9 && depth > 0) {
			make_leave(m, 1 + (unsigned)below(m, depth));
		} else if (what == 9) {
			m->thread ^= 1;
			record(&m->l, LOG_SWITCH, 0, m->thread);
		} else if (what == 10) {
			record(&m->l, LOG_POST, 0, 0x111);
			word(&m->l, 0x5000);
		} else if (what == 11 && below(m, 4) == 0) {
			make_block(m);
		} else {
			static const enum log_tag tags[] = { LOG_READ, LOG_WRITE, LOG_AREAD };
			enum log_tag tag = tags[below(m, 3)];
			uint64_t pc = 0x300000 + (below(m, 12) << 3) + below(m, 2) * APART;
			unsigned code = pc >> 3 & 3;
			make_access(m, tag, pc, code, random_address(m, code), random_value(m));
		}
	}
	struct log l = m->l;
	g_free(m);
	return l;
}

/* The trace's text; with a file for it, which it then is read from, or without. */
static GString *imported_text(const struct log *l, const char *file)
{
	struct error error = { 0 };
	struct record_facts facts = { 0 };
	struct trace_writer *writer = file ? trace_writer_open(file, &error) : NULL;
	GString *text = g_string_new(NULL);
	facts.writer = writer;
	ck_assert(!file || writer);
	struct trace *t = import(l, l->bytes->len, &facts, &error);
	ck_assert_msg(t != NULL, "%s", error.what);
	if (file) {
		const struct trace_options options = { 0 };
		ck_assert_msg(trace_writer_end(writer, t, &error), "%s", error.what);
		trace_close(t);
		t = trace_open(file, &options, NULL, &error);
		ck_assert_msg(t != NULL, "%s", error.what);
	}
	trace_print(t, TRACE_TEXT, NULL, text, NULL);
	trace_close(t);
	record_facts_release(&facts);
	return text;
}

static void same_text(const struct log *l, const char *file)
{
	g_autoptr(GString) by_builder = imported_text(l, NULL);
	g_autoptr(GString) by_loop = imported_text(l, file);
	ck_assert_str_eq(by_builder->str, by_loop->str);
}

/* Both give the same trace, of damaged logs, too. */
START_TEST(same_by_loop)
{
	g_autofree char *file = g_strdup_printf("%s.hdl", path);
	struct log others[] = { small_log(), short_log(), pair_log() };
	for (size_t i = 0; i < G_N_ELEMENTS(others); i++) {
		same_text(&others[i], file);
		g_byte_array_free(others[i].bytes, TRUE);
	}
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct log l = random_calls_log(seed, false);
		same_text(&l, file);
		struct maker m = { .random = seed };
		for (int i = 0; i < 10; i++) {
			size_t from = LOG_HEADER + sizeof(struct log_chunk);
			l.bytes->data[from + below(&m, l.bytes->len - from)] ^= 1
			                                                        << below(&m, 8);
			same_text(&l, file);
		}
		g_byte_array_free(l.bytes, TRUE);
	}
	unlink(file);
}
END_TEST

/* An access is of the same variable whether the importer looks its memory up or knows the line.
 */
START_TEST(same_by_long_records)
{
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct log some = random_calls_log(seed, false);
		struct log all = random_calls_log(seed, true);
		g_autoptr(GString) by_lines = imported_text(&some, NULL);
		g_autoptr(GString) by_look = imported_text(&all, NULL);
		ck_assert_str_eq(by_lines->str, by_look->str);
		g_byte_array_free(some.bytes, TRUE);
		g_byte_array_free(all.bytes, TRUE);
	}
}
END_TEST

int main(void)
{
	snprintf(path, sizeof(path), "%s/heddle-test-import-%d", g_get_tmp_dir(),
	         (int)getpid());
	Suite *suite = suite_create("record import");
	TCase *tests = tcase_create("log");
	tcase_add_test(tests, records);
	tcase_add_test(tests, short_records);
	tcase_add_test(tests, short_places);
	tcase_add_test(tests, far_records);
	tcase_add_test(tests, overlapping);
	tcase_add_test(tests, pairs);
	tcase_add_test(tests, same_by_loop);
	tcase_add_test(tests, same_by_long_records);
	tcase_add_test(tests, cut);
	tcase_add_loop_test(tests, damaged, 0, 3);
	tcase_add_test(tests, tickets);
	tcase_add_test(tests, kept_lines);
	tcase_add_test(tests, lives);
	tcase_add_test(tests, facts_are_typed);
	suite_add_tcase(suite, tests);
	int failed = suite_run(suite);
	unlink(path);
	return failed;
}
