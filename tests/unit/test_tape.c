/*
 * test_tape.c - blocks of events (engine/trace/binary/tape.h): decoding returns the encoded
 * events, and other bytes are refused.
 */
#include "engine/trace/binary/tape_row.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { CONTEXTS = 50, EVENTS = 5000 };

static struct context contexts[CONTEXTS];

/* Events of some threads: loops over arrays, copies, calls, and now and then anything at all.
 * `by_calls`: ENTER and LEAVE alone change the call stack of a thread. */
static void generate(GRand *random, struct event *events, uint32_t *stacks, uint32_t count,
                     bool by_calls)
{
	uint32_t threads = (uint32_t)g_rand_int_range(random, 1, 6), thread = 0;
	uint32_t context[6] = { 0 }, value = 1, fresh = 1;
	for (int i = 1; i < CONTEXTS; i++)
		contexts[i].parent = (uint32_t)g_rand_int_range(random, 0, i);
	for (uint32_t i = 0; i < count; i++) {
		unsigned how = (unsigned)g_rand_int_range(random, 0, 100);
		if (how < 10)
			thread = (uint32_t)g_rand_int_range(random, 0, (gint32)threads);
		uint32_t step = i % 7;
		struct event e = { .op = step % 2 ? OP_WRITE : OP_READ,
			           .target = 1000 * step + i / 7,
			           .location = 10 + step,
			           .aux = step ? value : (value = fresh++),
			           .thread = thread * 70001 };
		if (how > 90)
			e.op = how > 95 && context[thread] ? OP_LEAVE : OP_ENTER;
		if (how > 85 && how < 88) {
			e.target = g_rand_int(random);
			e.aux = g_rand_int(random) >> g_rand_int_range(random, 0, 32);
			e.location = g_rand_int(random) & EVENT_LOCATIONS;
			e.flags = (uint8_t)g_rand_int_range(random, 0, 256);
		}
		if (e.op == OP_ENTER)
			context[thread] = (uint32_t)g_rand_int_range(random, 1, CONTEXTS);
		stacks[i] = context[thread];
		if (e.op == OP_LEAVE)
			context[thread] = contexts[context[thread]].parent;
		if (how == 50 && !by_calls) /* not its thread's stack by its calls */
			stacks[i] = context[thread] = 7;
		events[i] = e;
	}
}

/* The same as tape_put, where possible in rows. */
static uint8_t *put_in_rows(struct tape *tape, const struct event *events, uint32_t count,
                            const struct tape_stacks *stacks, uint8_t *at)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct event *e = &events[i];
		struct tape_row row;
		row_begin(&row, tape, at, e->thread);
		bool put = op_is_access(e->op) && row_put(&row, event_head(e) - e->thread,
		                                          e->target, e->aux, e->aux >> 31);
		row_end(&row);
		at = row.at;
		if (put)
			continue;
		at = tape_put_event(tape, e, stacks->of ? &stacks->of[i] : NULL, stacks, at);
	}
	return at;
}

START_TEST(decodes_what_was_encoded)
{
	GRand *random = g_rand_new_with_seed((guint32)_i);
	struct tape *encoder = tape_new(), *careful = tape_new(), *decoder = tape_new();
	struct event *events = g_new0(struct event, EVENTS),
	             *again = g_new0(struct event, EVENTS);
	uint32_t *stacks = g_new0(uint32_t, EVENTS), *same = g_new0(uint32_t, EVENTS);
	uint8_t *bytes = g_malloc0((EVENTS + 1) * TAPE_EVENT);
	uint8_t *others = g_malloc0((EVENTS + 1) * TAPE_EVENT);
	struct tape_places none = { 0 };
	for (int block = 0; block < 4; block++) {
		uint32_t count = (uint32_t)g_rand_int_range(random, 1, EVENTS);
		bool any = g_rand_boolean(random), by_calls = g_rand_boolean(random);
		generate(random, events, stacks, count, by_calls);
		struct tape_stacks put = { any ? stacks : NULL, contexts, CONTEXTS };
		uint8_t *others_end = tape_begin(careful, others);
		others_end = any && !by_calls
		                     ? tape_put(careful, events, count, &put, others_end)
		                     : put_in_rows(careful, events, count, &put, others_end);
		struct tape_stacks get = { any ? same : NULL, contexts, CONTEXTS };
		uint32_t first = count / 3; /* in two parts */
		uint8_t *end = tape_begin(encoder, bytes);
		end = tape_put(encoder, events, first, &put, end);
		put.of = any ? stacks + first : NULL;
		end = tape_put(encoder, events + first, count - first, &put, end);
		size_t length = (size_t)(end - bytes);
		ck_assert_uint_le(length, (count + 1) * (size_t)TAPE_EVENT);
		ck_assert_uint_eq(others_end - others, length);
		ck_assert_mem_eq(bytes, others, length);
		ck_assert(tape_decode(decoder, bytes, length, &none, count, again, &get));
		ck_assert_mem_eq(again, events, count * sizeof *events);
		if (any)
			ck_assert_mem_eq(same, stacks, count * sizeof *stacks);
		ck_assert(!tape_decode(decoder, bytes, length - 1, &none, count, again, &get));
		ck_assert(count == 1 ||
		          !tape_decode(decoder, bytes, length, &none, count - 1, again, &get));
	}
	tape_free(encoder);
	tape_free(careful);
	tape_free(decoder);
	g_free(events);
	g_free(again);
	g_free(stacks);
	g_free(same);
	g_free(bytes);
	g_free(others);
	g_rand_free(random);
}
END_TEST

/* An access of a place is one of its variable, or of its range of variables. */
START_TEST(places_become_variables)
{
	const uint32_t at[] = { 30, 5 | PLACE_WIDE, 31 };
	struct event events[] = { { .target = 1, .op = OP_READ, .location = 3 },
		                  { .target = 2, .op = OP_WRITE, .aux = 9 },
		                  { .target = 77, .op = OP_ACQ } },
	             again[3];
	struct tape *tape = tape_new();
	struct tape_stacks none = { NULL, contexts, CONTEXTS };
	uint8_t bytes[5 * TAPE_EVENT] = { 0 };
	uint8_t *end = tape_put(tape, events, 3, &none, tape_begin(tape, bytes));
	size_t length = (size_t)(end - bytes);
	struct tape_places places = { at, 3 };
	ck_assert(tape_decode(tape, bytes, length, &places, 3, again, &none));
	ck_assert_uint_eq(again[0].target, 5);
	ck_assert_uint_eq(again[0].flags, EVENT_WIDE);
	ck_assert_uint_eq(again[0].location, 3);
	ck_assert_uint_eq(again[1].target, 31);
	ck_assert_uint_eq(again[1].aux, 9);
	ck_assert_uint_eq(again[2].target, 77);
	places.count = 2;
	ck_assert(!tape_decode(tape, bytes, length, &places, 3, again, &none));
	tape_free(tape);
}
END_TEST

/* Any bytes: no read or write outside (build with sanitizers to see), whatever comes of it. */
START_TEST(any_bytes_lead_nowhere)
{
	GRand *random = g_rand_new_with_seed((guint32)_i + 1000);
	struct tape *tape = tape_new();
	uint32_t *stacks = g_new(uint32_t, TAPE_BLOCK);
	struct event *events = g_new(struct event, TAPE_BLOCK);
	const uint32_t at[] = { 1, 2, 3 };
	struct tape_places places = { at, 3 };
	struct tape_stacks get = { _i % 2 ? stacks : NULL, contexts, CONTEXTS };
	for (int round = 0; round < 500; round++) {
		size_t length = (size_t)g_rand_int_range(random, 1, 3000);
		uint8_t *bytes = g_malloc(length + TAPE_EVENT);
		unsigned codes = (unsigned)g_rand_int_range(random, 1, 256);
		for (size_t i = 0; i < length + TAPE_EVENT; i++)
			bytes[i] = (uint8_t)(g_rand_int(random) & (i % 3 ? codes : 255));
		(void)tape_decode(
		        tape, bytes, length, _i % 3 ? &places : &(struct tape_places){ 0 },
		        (uint32_t)g_rand_int_range(random, 0, TAPE_BLOCK), events, &get);
		g_free(bytes);
	}
	tape_free(tape);
	g_free(stacks);
	g_free(events);
	g_rand_free(random);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("tape");
	TCase *c = tcase_create("tape");
	tcase_add_loop_test(c, decodes_what_was_encoded, 0, 40);
	tcase_add_test(c, places_become_variables);
	tcase_add_loop_test(c, any_bytes_lead_nowhere, 0, 6);
	suite_add_tcase(s, c);
	return suite_run(s);
}
