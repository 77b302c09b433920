/*
 * test_trace.c - the text format: every operation, directive and refusal, and that a written
 * trace reads back as the same one.
 */
#include "engine/trace/builder/builder.h"
#include "engine/trace/formats.h"
#include "engine/trace/index.h"
#include "tests/support/suite.h"

#include <check.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static struct trace *read_with(const char *text, bool lenient, struct error *error)
{
	struct trace_options options = { .lenient = lenient };
	memset(error, 0, sizeof *error);
	return trace_from_text("test.txt", text, strlen(text), &options, error);
}

static struct trace *read_text(const char *text)
{
	struct error e;
	struct trace *t = read_with(text, false, &e);
	ck_assert_msg(t != NULL, "refused: %s: %s\n%s", e.where, e.what, text);
	return t;
}

static char *print_text(const struct trace *t)
{
	GString *out = g_string_new(NULL);
	trace_print(t, TRACE_TEXT, NULL, out, NULL);
	return g_string_free(out, FALSE);
}

static char *operation(const struct trace *t, uint32_t event)
{
	GString *out = g_string_new(NULL);
	trace_append_operation(t, event, out);
	return g_string_free(out, FALSE);
}

#define ASSERT_OPERATION(t, event, text) \
	do { \
		char *operation_ = operation(t, event); \
		ck_assert_str_eq(operation_, text); \
		g_free(operation_); \
	} while (0)

/* -- operations ------------------------------------------------------------------------- */

/* Lines that together hold every operation; each prints as it was written. */
static const char *const all_operations[] = {
	"main|begin()|m.c:1",
	"main|fork(T1)|m.c:2",
	"T1|r(x)|a.c:5:3",
	"T1|w(x)|",
	"T1|r(x)=-5|opaque place",
	"T1|w(x)=nil|7",
	"main|ar(a)|7",
	"main|ar(a)=5;acq|7",
	"main|aw(a)=5;rel|7",
	"main|rmw(a)=5>6;acq_rel|7",
	"main|rmw(a)=6>true;rlx|7",
	"main|r4(p)=5|7",
	"main|w8(q+8)|7",
	"main|ar2(b)=1;acq|7",
	"main|aw2(b);rel|7",
	"main|rmw2(b)=1>2|7",
	"main|fence(seq_cst)|7",
	"main|acq(l)|7",
	"main|rel(l)|7",
	"main|acq(l)|7",
	"T1|tryfail(l)|7",
	"T1|taketryfail(s)|7",
	"main|wait(c)|7",
	"main|rel(l)|7",
	"T1|signal(c)|7",
	"T1|broadcast(c)|7",
	"main|wake(c)|7",
	"main|destroy(l)|7",
	"main|racq(rw)|7",
	"T1|racq(rw)|7",
	"T1|rrel(rw)|7",
	"main|rrel(rw)|7",
	"main|arrive(bar)|7",
	"T1|arrive(bar)|7",
	"T1|depart(bar)|7",
	"main|post(s)|7",
	"T1|take(s)|7",
	"main|snd(g1)|7",
	"T1|rcv(g1)|7",
	"main|alloc(blk,16)|7",
	"main|w(blk.f)|7",
	"main|free(blk)|7",
	"main|act(o.put,\"a|b\\n\\x01\\\"\\\\\",c1)=nil,3|7",
	"main|act(o.size)=1|7",
	"main|call(o.get,1,true)|7",
	"main|ret(o.get)=false|7",
	"main|ubeg(u,S1,S2)|7",
	"main|uend(u)|7",
	"main|miss(m,x,y)|7",
	"main|back(m)|7",
	"main|enter(f)|7",
	"main|leave(f)|7",
	"main|branch()|7",
	"main|flush(8)|7",
	"T1|end()|7",
	"main|join(T1)|7",
	"main|tryacq(l)|7",
	"main|rel(l)|7",
	"main|tryracq(rw)|7",
	"main|post(s)|7",
	"main|trytake(s)|7",
	"main|tryrcv(g1)|7",
	"main|fork(T2)|7",
	"main|misuse(l,unlocked-twice)|7",
	"T2|want(rw)|7",
	"main|want(T2)|7",
};

static char *joined(const char *const *lines, size_t count)
{
	GString *s = g_string_new(NULL);
	for (size_t i = 0; i < count; i++)
		g_string_append_printf(s, "%s\n", lines[i]);
	return g_string_free(s, FALSE);
}

START_TEST(operations_print_as_they_are_written)
{
	char *text = joined(all_operations, G_N_ELEMENTS(all_operations));
	char *with_model = g_strconcat("#! note memory tso\n", text, NULL);
	struct trace *t = read_text(with_model);
	g_free(with_model);
	ck_assert_uint_eq(t->events_count, G_N_ELEMENTS(all_operations));
	ck_assert(t->complete);
	ck_assert_uint_eq(t->warnings->len, 0);
	bool seen[OP_COUNT] = { false };
	for (uint32_t e = 0; e < t->events_count; e++) {
		GString *line = g_string_new(NULL);
		trace_append_line(t, e, line);
		/* seq_cst, the default, is not written */
		ck_assert_str_eq(line->str, strstr(all_operations[e], "\\x01")
		                                    ? line->str
		                                    : all_operations[e]);
		seen[t->events[e].op] = true;
		g_string_free(line, TRUE);
	}
	for (int op = 0; op < OP_COUNT; op++)
		ck_assert_msg(seen[op], "no test of %s", op_table[op].word);
	char *written = print_text(t);
	ck_assert_ptr_nonnull(strstr(written, text)); /* the events, byte for byte */
	struct trace *again = read_text(written);
	char *twice = print_text(again);
	ck_assert_str_eq(written, twice);
	trace_close(again);
	trace_close(t);
	g_free(written);
	g_free(twice);
	g_free(text);
}
END_TEST

START_TEST(orders_default_to_seq_cst)
{
	struct trace *t = read_text("T|ar(x)|1\nT|aw(x);rlx|1\nT|rmw(x);acq|1\nT|fence(rel)|1\n"
	                            "T|ar(x);seq_cst|1\n");
	const enum memory_order_kind want[] = { ORDER_SEQ_CST, ORDER_RLX, ORDER_ACQ, ORDER_REL,
		                                ORDER_SEQ_CST };
	for (uint32_t e = 0; e < 5; e++)
		ck_assert_int_eq(event_order(&t->events[e]), want[e]);
	trace_close(t);
}
END_TEST

START_TEST(values_compare_as_they_should)
{
	struct trace *t = read_text("T|w(x)=5|1\nT|w(x)=005|1\nT|w(x)=\"5\"|1\nT|w(x)=five|1\n"
	                            "T|w(x)=\"five\"|1\nT|w(x)=nil|1\nT|w(x)=-0|1\nT|w(x)=0|1\n"
	                            "T|w(x)=00018446744073709551617|1\n"
	                            "T|w(x)=18446744073709551617|1\n"
	                            "T|w(x)=\"\\x66ive\"|1\nT|w(x)=true|1\nT|w(x)=\"true\"|1\n"
	                            "T|w(x)=-9223372036854775808|1\n");
	const struct event *e = t->events;
	ck_assert_uint_eq(e[0].aux, e[1].aux);
	ck_assert_uint_ne(e[0].aux, e[2].aux);
	ck_assert_uint_ne(e[3].aux, e[4].aux);
	ck_assert_uint_eq(e[6].aux, e[7].aux);
	ck_assert_uint_eq(e[8].aux, e[9].aux);
	ck_assert_uint_eq(e[4].aux, e[10].aux);
	ck_assert_uint_ne(e[11].aux, e[12].aux);
	ck_assert_uint_eq(trace_value(t, e[5].aux).kind, V_NIL);
	ck_assert_int_eq(trace_value(t, e[13].aux).integer, INT64_MIN);
	trace_close(t);
}
END_TEST

/* Those from 2147483647 on, and below 0, are in the table. */
START_TEST(small_integers_are_values_by_themselves)
{
	static const int64_t integers[] = {
		0, 1, 2147483646, 2147483647, 2147483648, 4294967295, -1, INT64_MAX, INT64_MIN,
	};
	GString *text = g_string_new(NULL);
	for (size_t i = 0; i < 2 * G_N_ELEMENTS(integers); i++)
		g_string_append_printf(text, "T|w(x)=%" PRId64 "|1\n", integers[i / 2]);
	struct trace *t = read_text(text->str);
	for (size_t i = 0; i < G_N_ELEMENTS(integers); i++) {
		uint32_t value = t->events[2 * i].aux;
		ck_assert_uint_eq(value, t->events[2 * i + 1].aux);
		ck_assert_uint_ne(value, NONE);
		ck_assert_int_eq((value & VALUE_INTEGER) != 0, i < 3);
		ck_assert_uint_eq(trace_value(t, value).kind, V_INT);
		ck_assert_int_eq(trace_value(t, value).integer, integers[i]);
	}
	ck_assert_uint_eq(t->values_count, 1 + G_N_ELEMENTS(integers) - 3);
	trace_close(t);
	g_string_free(text, TRUE);
}
END_TEST

START_TEST(operands_hold_brackets_quotes_and_bars)
{
	struct trace *t = read_text("T|w(V234.23[0])|1\n"
	                            "T|w(f(a)(b)[c(d)])=g(1,2)|1\n"
	                            "T|act(v[a.b].put,f(1,2),[x,y],\"),|\\\"\")=(a,b),c|1\n"
	                            "T|act(a.b.c.m)|1\n");
	ASSERT_OPERATION(t, 0, "w(V234.23[0])");
	ASSERT_OPERATION(t, 1, "w(f(a)(b)[c(d)])=g(1,2)");
	struct invocation i = trace_invocation(t, 2);
	ck_assert_uint_eq(i.argument_count, 3);
	ck_assert_uint_eq(i.result_count, 2);
	ck_assert_str_eq(trace_string(t, t->instances[i.instance].name), "v[a.b]");
	ck_assert_str_eq(trace_string(t, i.method), "put");
	ck_assert_uint_eq(trace_value(t, i.arguments[2]).kind, V_STRING);
	ck_assert_str_eq(trace_string(t, trace_value(t, i.arguments[2]).string), "),|\"");
	i = trace_invocation(t, 3);
	ck_assert_str_eq(trace_string(t, t->instances[i.instance].name), "a.b.c");
	ck_assert_str_eq(trace_string(t, i.method), "m");
	trace_close(t);
}
END_TEST

/* A string of a program may hold any bytes: it equals only itself, and reads back as itself. */
START_TEST(strings_hold_any_bytes_but_nul)
{
	struct trace *t =
	        read_text("T|act(o.m,\"\\xFF\",\"\\\\xFF\",\"\\xFE\",\"\\xC2\\x9B\")|1\n"
	                  "T|w(\\xFF)|1\n");
	struct invocation i = trace_invocation(t, 0);
	ck_assert_str_eq(trace_string(t, trace_value(t, i.arguments[0]).string), "\xFF");
	ck_assert_str_eq(trace_string(t, trace_value(t, i.arguments[1]).string), "\\xFF");
	ck_assert_uint_ne(i.arguments[0], i.arguments[1]);
	ck_assert_uint_ne(i.arguments[0], i.arguments[2]);
	ASSERT_OPERATION(t, 0, "act(o.m,\"\\xFF\",\"\\\\xFF\",\"\\xFE\",\"\\xC2\\x9B\")");
	ASSERT_OPERATION(t, 1, "w(\\xFF)");
	trace_close(t);
}
END_TEST

START_TEST(lines_end_as_they_like)
{
	struct trace *t =
	        read_text("\xEF\xBB\xBF# comment\r\n\r\n  \t\n#\nT|w(x)|1\r\nT|r(x)|");
	ck_assert_uint_eq(t->events_count, 2);
	ck_assert(t->complete);
	ck_assert_str_eq(trace_location_name(t, 0), "1");
	ck_assert_str_eq(trace_location_name(t, 1), "");
	trace_close(t);
	t = read_text("");
	ck_assert_uint_eq(t->events_count, 0);
	trace_close(t);
}
END_TEST

START_TEST(locations_make_sites)
{
	struct trace *t = read_text("T|w(x)|a.c:3:1\nT|w(x)|a.c:3:9\nT|w(x)|a.c:4\nT|w(x)|345\n"
	                            "T|w(x)|b:c:d\n#! source 345 src/a.c:3\n");
	const struct location *l[5];
	for (int i = 0; i < 5; i++)
		l[i] = &t->locations[t->events[i].location];
	ck_assert_uint_eq(l[0]->site, l[1]->site);
	ck_assert_uint_ne(l[0]->site, l[2]->site);
	ck_assert_uint_eq(l[0]->line, 3);
	ck_assert_uint_eq(l[1]->column, 9);
	ck_assert_uint_eq(l[3]->line, 3);
	ck_assert_str_eq(trace_string(t, l[3]->file), "src/a.c");
	ck_assert_str_eq(trace_site_name(t, 3), "src/a.c:3");
	ck_assert_uint_eq(l[4]->file, 0);
	trace_close(t);
}
END_TEST

/* -- memory -------------------------------------------------------------------------------- */

static bool overlap(const struct trace *t, uint32_t a, uint32_t b)
{
	return events_overlap(t, &t->events[a], &t->events[b]);
}

START_TEST(sized_accesses_overlap_by_bytes)
{
	struct trace *t = read_text("T|w8(p)|1\nT|w2(p+2)|1\nT|w4(p+4)|1\nT|w1(p+8)|1\n"
	                            "T|w4(q)|1\nT|w4(p+2)|1\n");
	const bool want[6][6] = {
		{ 1, 1, 1, 0, 0, 1 }, { 1, 1, 0, 0, 0, 1 }, { 1, 0, 1, 0, 0, 1 },
		{ 0, 0, 0, 1, 0, 0 }, { 0, 0, 0, 0, 1, 0 }, { 1, 1, 1, 0, 0, 1 },
	};
	for (uint32_t a = 0; a < 6; a++)
		for (uint32_t b = 0; b < 6; b++)
			ck_assert_msg(overlap(t, a, b) == want[a][b], "%u and %u", a, b);
	ASSERT_OPERATION(t, 0, "w8(p)");
	ASSERT_OPERATION(t, 5, "w4(p+2)");
	trace_close(t);
}
END_TEST

START_TEST(names_without_sizes_never_overlap)
{
	struct trace *t = read_text("T|w(p)|1\nT|w(p+1)|1\nT|w(p.f)|1\nT|w(p[0])|1\n");
	for (uint32_t a = 0; a < 4; a++)
		for (uint32_t b = 0; b < 4; b++)
			ck_assert(overlap(t, a, b) == (a == b));
	trace_close(t);
}
END_TEST

START_TEST(an_access_without_size_takes_the_one_of_its_name)
{
	struct trace *t = read_text("T|w(x)|1\nT|r4(x)|1\nT|r1(x+3)|1\nT|r1(x+4)|1\n");
	ck_assert(overlap(t, 0, 1));
	ck_assert(overlap(t, 0, 2));
	ck_assert(!overlap(t, 0, 3));
	trace_close(t);
	t = read_text("T|w(x)|1\nT|r1(x+3)|1\n#! size x 4\n");
	ck_assert(overlap(t, 0, 1));
	trace_close(t);
}
END_TEST

START_TEST(lives_of_a_block_are_apart)
{
	struct trace *t =
	        read_text("T|w(p.f)|1\nT|alloc(p,8)|1\nT|w(p.f)|1\nT|w(p)|1\nT|w(pq)|1\n"
	                  "T|free(p)|1\nT|r(p.f)|1\nT|alloc(p,8)|1\nT|w(p.f)|1\n");
	ck_assert(!overlap(t, 0, 2));
	ck_assert(overlap(t, 2, 6)); /* a use after free is in the freed life */
	ck_assert(!overlap(t, 2, 8));
	ck_assert_uint_eq(t->blocks_count, 2);
	ck_assert_uint_eq(t->blocks[0].alloc, 1);
	ck_assert_uint_eq(t->blocks[0].free, 5);
	ck_assert_uint_eq(t->blocks[1].alloc, 7);
	ck_assert_uint_eq(t->blocks[1].free, NONE);
	ck_assert_uint_eq(t->blocks[0].size, 8);
	uint32_t block[9];
	for (int i = 0; i < 9; i++)
		if (op_is_access(t->events[i].op))
			block[i] = t->variables[event_variables(t, &t->events[i]).first].block;
	ck_assert_uint_eq(block[0], NONE);
	ck_assert_uint_eq(block[2], 0);
	ck_assert_uint_eq(block[3], 0);
	ck_assert_uint_eq(block[4], NONE); /* pq only begins like p */
	ck_assert_uint_eq(block[8], 1);
	trace_close(t);
}
END_TEST

START_TEST(what_was_there_before_is_one_block)
{
	struct trace *t = read_text("T|w(p+8)|1\nT|free(p)|1\nT|w(p+8)|1\nU|w(stk.i)|1\n"
	                            "#! stack U stk\n");
	ck_assert(overlap(t, 0, 2));
	uint32_t early = t->variables[event_variables(t, &t->events[0]).first].block;
	ck_assert_uint_eq(t->blocks[early].free, 1);
	uint32_t on_stack = t->variables[event_variables(t, &t->events[3]).first].block;
	ck_assert_uint_eq(on_stack, t->threads[t->events[3].thread].stack);
	ck_assert_uint_ne(on_stack, NONE);
	trace_close(t);
}
END_TEST

/* -- well-formed traces that need care ----------------------------------------------------- */

START_TEST(only_the_outermost_pair_counts)
{
	struct trace *t = read_text("T|acq(l)|1\nT|acq(l)|1\nT|rel(l)|1\nT|rel(l)|1\n"
	                            "T|racq(l)|1\nT|racq(l)|1\nT|acq(l)|1\nT|rel(l)|1\n"
	                            "T|rrel(l)|1\nT|rrel(l)|1\n");
	const bool inert[] = { 0, 1, 1, 0, 0, 1, 1, 1, 1, 0 };
	for (uint32_t e = 0; e < 10; e++)
		ck_assert_msg(event_inert(&t->events[e]) == inert[e], "event %u", e);
	ck_assert(trace_need(t, INDEX_MATCH, NULL));
	ck_assert_uint_eq(t->index->partner[0], 3);
	ck_assert_uint_eq(t->index->partner[4], 9);
	ck_assert_uint_eq(t->index->partner[1], NONE);
	trace_close(t);
}
END_TEST

START_TEST(scopes_of_different_kinds_cross)
{
	struct trace *t =
	        read_text("T|enter(f)|1\nT|ubeg(u)|2\nT|leave(f)|3\nT|call(o.m)|4\n"
	                  "T|uend(u)|5\nT|enter(g)|6\nT|w(x)|7\nT|ret(o.m)|8\nT|leave(g)|9\n");
	ck_assert(t->complete);
	ck_assert_uint_eq(t->stacks_count, t->events_count);
	uint32_t in_g = trace_stack(t, 6);
	ck_assert_str_eq(trace_string(t, t->contexts[in_g].function), "g");
	ck_assert_uint_eq(t->contexts[in_g].parent, 0);
	ck_assert_uint_eq(trace_stack(t, 3), 0);
	trace_close(t);
}
END_TEST

START_TEST(locks_may_be_held_at_the_end)
{
	struct trace *t = read_text("T|acq(l)|1\nU|racq(m)|1\nT|racq(m)|2\n");
	ck_assert(t->complete);
	ck_assert_uint_eq(t->warnings->len, 0);
	trace_close(t);
}
END_TEST

START_TEST(truncated_traces_load_with_a_warning)
{
	static const char *const texts[] = {
		"T|w(x)|1\nT|acq(l",        "T|w(x)|1\nT|acq(l)",       "T|w(x)|1\nT",
		"T|w(x)|1\nT|act(o.m,\"ab", "T|w(x)|1\n#! semaphore s",
	};
	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
		struct trace *t = read_text(texts[i]);
		ck_assert_uint_eq(t->events_count, 1);
		ck_assert(!t->complete);
		ck_assert_uint_eq(t->warnings->len, 1);
		trace_close(t);
	}
	struct trace *t = read_text("T|call(o.m)|1\nT|w(x)|1\n");
	ck_assert(!t->complete);
	ck_assert_uint_eq(t->warnings->len, 1);
	trace_close(t);
}
END_TEST

/* -- directives ---------------------------------------------------------------------------- */

START_TEST(directives_are_facts)
{
	struct trace *t = read_text("#! heddle 1\n#! atomic-set S1 x y z\n#! object o dict\n"
	                            "#! source 345 src/account.c:41\n#! size x 4\n"
	                            "#! semaphore s 3\n#! stack T p\n#! filtered\n"
	                            "#! approximate order\n#! note program ./a b\n"
	                            "T|w(x)|345\nT|act(o.get,1)=nil|345\nT|take(s)|345\n");
	ck_assert_uint_eq(t->warnings->len, 0);
	ck_assert_uint_eq(t->atomic_sets_count, 1);
	ck_assert_str_eq(trace_string(t, t->atomic_sets[0].name), "S1");
	const struct value members = trace_value(t, t->atomic_sets[0].members);
	ck_assert_uint_eq(members.kind, V_LIST);
	ck_assert_uint_eq(members.count, 3);
	ck_assert_str_eq(trace_string(t, t->instances[0].type), "dict");
	ck_assert_int_eq(t->objects[t->events[2].target].count, 3);
	ck_assert_uint_eq(t->variables[t->events[0].target].size, 4);
	ck_assert_uint_eq(t->locations[t->events[0].location].line, 41);
	ck_assert_uint_ne(t->threads[0].stack, NONE);
	ck_assert(t->filtered);
	ck_assert(!t->order_exact);
	ck_assert_str_eq(trace_string(t, t->notes[0].value), "./a b");
	char *written = print_text(t);
	struct trace *again = read_text(written);
	char *twice = print_text(again);
	ck_assert_str_eq(written, twice);
	ck_assert(again->filtered && !again->order_exact);
	ck_assert_int_eq(again->objects[again->events[2].target].count, 3);
	g_free(written);
	g_free(twice);
	trace_close(again);
	trace_close(t);
}
END_TEST

START_TEST(unknown_directives_are_warnings)
{
	struct trace *t =
	        read_text("#! colour x red\n#! colour y blue\n#!/usr/bin/heddle\nT|w(x)|1\n");
	ck_assert_uint_eq(t->events_count, 1);
	ck_assert_uint_eq(t->warnings->len, 2);
	trace_close(t);
}
END_TEST

/* -- refusals ------------------------------------------------------------------------------ */

static const struct refusal {
	const char *text;
	unsigned line;
	const char *what; /* a part of the message */
} refusals[] = {
	{ "T|foo(x)|1\n", 1, "expected an operation, found foo" },
	{ "T|acquire_read_lock(x)|1\n", 1, "expected an operation" },
	{ "T|W(x)|1\n", 1, "expected an operation" },
	{ "T|acq4(l)|1\n", 1, "without a size" },
	{ "T|r0(x)|1\n", 1, "size" },
	{ "T|r99999999999(x)|1\n", 1, "size" },
	{ "T|r(x)\n", 1, "third field" },
	{ "T|r\n", 1, "operation with '('" },
	{ "T|r|1\n", 1, "operation with '('" },
	{ "hello\n", 1, "a thread and '|'" },
	{ "|r(x)|1\n", 1, "a thread and '|'" },
	{ "T|r(x|1\n", 1, "expected ')'" },
	{ "T|r()|1\n", 1, "an operand" },
	{ "T|r(x)junk|1\n", 1, "expected '|'" },
	{ "T|r(x)|1|2\n", 1, "without '|'" },
	{ "T|r(x)=|1\n", 1, "expected a value" },
	{ "T|r(x)=5;acq|1\n", 1, "no order" },
	{ "T|r(x)=\"a\"b|1\n", 1, "one string" },
	{ "T|r(x)=\"\\q\"|1\n", 1, "escape" },
	{ "T|r(x)=\"\\x0\"|1\n", 1, "escape" },
	{ "T|r(x)=\"\\x00\"|1\n", 1, "NUL" },
	{ "T|ar(x);relaxed|1\n", 1, "memory order" },
	{ "T|rmw(x)=5|1\n", 1, "OLD>NEW" },
	{ "T|fence(x)|1\n", 1, "memory order" },
	{ "T|acq(l)=5|1\n", 1, "no value" },
	{ "T|begin(x)|1\n", 1, "begin()" },
	{ "T|act(o)|1\n", 1, "OBJECT.METHOD" },
	{ "T|act(.m)|1\n", 1, "OBJECT.METHOD" },
	{ "T|act(o.)|1\n", 1, "OBJECT.METHOD" },
	{ "T|act(o.m,)|1\n", 1, "expected a value" },
	{ "T|act(o.m,1,,2)|1\n", 1, "expected a value" },
	{ "T|call(o.m)=5|1\n", 1, "no results" },
	{ "T|call(o.m)|1\nT|ret(o.m,1)|1\n", 2, "arguments" },
	{ "T|alloc(p)|1\n", 1, "name and a size" },
	{ "T|alloc(p,-1)|1\n", 1, "name and a size" },
	{ "T|ubeg(u,)|1\n", 1, "expected a name" },
	/* well-formedness */
	{ "T|acq(l)|1\nU|acq(l)|1\n", 2, "lock l to be free" },
	{ "T|acq(l)|1\nU|racq(l)|1\n", 2, "lock l to be free" },
	{ "T|racq(l)|1\nU|acq(l)|1\n", 2, "lock l to be free" },
	{ "T|rel(l)|1\n", 1, "to hold lock l" },
	{ "T|acq(l)|1\n\n# x\nU|rel(l)|1\n", 4, "to hold lock l" },
	{ "T|acq(l)|1\nT|rrel(l)|1\n", 2, "to hold lock l in shared mode" },
	{ "T|racq(l)|1\nT|rel(l)|1\n", 2, "to hold lock l" },
	{ "U|w(x)|1\nT|fork(U)|1\n", 2, "no event of U before its fork" },
	{ "T|fork(T)|1\n", 1, "before its fork" },
	{ "T|fork(U)|1\nT|fork(U)|1\n", 2, "one fork" },
	{ "T|end()|1\nT|w(x)|1\n", 2, "no event of T after its end" },
	{ "U|w(x)|1\nT|join(U)|1\nU|w(x)|1\n", 3, "no event of U after its join" },
	{ "T|join(T)|1\n", 1, "another thread to join" },
	{ "T|w(x)|1\nT|begin()|1\n", 2, "first event" },
	{ "T|ret(o.m)|1\n", 1, "an open call" },
	{ "T|call(o.m)|1\nT|ret(o.n)|1\n", 2, "the end of o" },
	{ "T|call(o.m)|1\nT|ret(p.m)|1\n", 2, "the end of o" },
	{ "T|call(o.m)|1\nU|ret(o.m)|1\n", 2, "an open call" },
	{ "T|uend(u)|1\n", 1, "an open ubeg" },
	{ "T|ubeg(u)|1\nT|ubeg(v)|1\nT|uend(u)|1\n", 3, "the end of v" },
	{ "T|back(m)|1\n", 1, "an open miss" },
	{ "T|leave(f)|1\n", 1, "an open enter" },
	{ "T|enter(f)|1\nT|leave(g)|1\n", 2, "the end of f" },
	/* directives */
	{ "#! heddle 2\n", 1, "'#! heddle 1'" },
	{ "#! size x\n", 1, "size VARIABLE BYTES" },
	{ "#! size x 0\n", 1, "size VARIABLE BYTES" },
	{ "#! semaphore s many\n", 1, "semaphore NAME COUNT" },
	{ "#! semaphore s -1\n", 1, "semaphore NAME COUNT" },
	{ "#! object o\n", 1, "object NAME TYPE" },
	{ "#! stack T\n", 1, "stack THREAD BLOCK" },
	{ "#! source 345 here\n", 1, "source LOCATION FILE:LINE" },
	{ "#! atomic-set\n", 1, "atomic-set NAME" },
	/* bytes */
	{ "T|w(x)|1\nT|w(\xff)|1\n", 2, "0xFF" },
	/* a last line that parses is an event, with its faults */
	{ "T|w(x)|1\nT|rel(l)|1", 2, "to hold lock l" },
};

START_TEST(refusals_name_line_and_fault)
{
	const struct refusal *r = &refusals[_i];
	for (int lenient = 0; lenient < 2; lenient++) {
		struct error e;
		struct trace *t = read_with(r->text, lenient, &e);
		if (lenient && t) { /* the readings that --lenient has are tested below */
			ck_assert_uint_ge(t->warnings->len, 1);
			trace_close(t);
			continue;
		}
		ck_assert_msg(t == NULL, "accepted: %s", r->text);
		char *where = g_strdup_printf("test.txt:%u", r->line);
		ck_assert_str_eq(e.where, where);
		ck_assert_msg(strstr(e.what, r->what), "'%s' lacks '%s'", e.what, r->what);
		ck_assert_msg(strstr(e.what, "expected") != NULL, "%s", e.what);
		ck_assert_uint_gt(strlen(e.remedy), 0);
		g_free(where);
	}
}
END_TEST

START_TEST(a_nul_byte_is_refused)
{
	static const char text[] = "T|w(x)|1\nT|w(\0)|1\n";
	struct error e;
	ck_assert_ptr_null(trace_from_text("test.txt", text, sizeof text - 1, NULL, &e));
	ck_assert_str_eq(e.where, "test.txt:2");
	ck_assert_ptr_nonnull(strstr(e.what, "NUL"));
}
END_TEST

START_TEST(control_bytes_are_escaped_in_messages)
{
	struct error e;
	ck_assert_ptr_null(read_with("T\x1b[31m|rel(l\x07)|1\n", false, &e));
	ck_assert_ptr_nonnull(strstr(e.what, "\\x1B[31m"));
	ck_assert_ptr_nonnull(strstr(e.what, "\\x07"));
	ck_assert_ptr_null(strchr(e.what, '\x1b'));
}
END_TEST

/* -- leniency ------------------------------------------------------------------------------ */

START_TEST(lenient_readings)
{
	struct error e;
	struct trace *t =
	        read_with("T|rel(l)|1\nT|acq(l)|1\nU|acq(l)|1\nT|rel(l)|1\nU|rel(l)|1\n"
	                  "U|rel(l)|1\n",
	                  true, &e);
	ck_assert_ptr_nonnull(t);
	const bool inert[] = { 1, 0, 0, 1, 0, 1 };
	for (uint32_t i = 0; i < 6; i++)
		ck_assert_msg(event_inert(&t->events[i]) == inert[i], "event %u", i);
	ck_assert_uint_eq(t->warnings->len, 2);
	ck_assert_ptr_nonnull(strstr(t->warnings->pdata[0], "3 release"));
	ck_assert_ptr_nonnull(strstr(t->warnings->pdata[1], "1 acquire"));
	trace_close(t);
}
END_TEST

START_TEST(lenient_keeps_other_refusals)
{
	struct error e;
	ck_assert_ptr_null(read_with("U|w(x)|1\nT|fork(U)|1\n", true, &e));
	ck_assert_ptr_null(read_with("T|nonsense(x)|1\n", true, &e));
	ck_assert_ptr_null(read_with("T|end()|1\nT|w(x)|1\n", true, &e));
}
END_TEST

/* -- STD ----------------------------------------------------------------------------------- */

START_TEST(std_says_what_it_can)
{
	struct trace *t =
	        read_text("T|fork(U)|a.c:1\nT|acq(l)|7\nT|acq(l)|7\nT|w(x)=5|a.c:2\n"
	                  "T|rel(l)|7\nT|rel(l)|7\nT|ar(x)|7\nT|w4(p)|9\nT|w2(p+2)|9\n"
	                  "T|post(s)|7\nT|join(U)|8\n");
	GString *out = g_string_new(NULL);
	uint64_t left_out;
	trace_print(t, TRACE_STD, NULL, out, &left_out);
	ck_assert_uint_eq(left_out, 2);
	ck_assert_str_eq(out->str,
	                 "T|fork(U)|10\nT|acq(l)|7\nT|acq(l)|7\nT|w(x)|11\nT|rel(l)|7\n"
	                 "T|rel(l)|7\nT|w(p)|9\nT|w(p+2)|9\nT|w(p+2)|9\nT|join(U)|8\n");
	g_string_free(out, TRUE);
	trace_close(t);
}
END_TEST

START_TEST(kept_events_alone_are_written)
{
	struct trace *t = read_text("T|w(x)|1\nT|w(y)|2\nT|w(z)|3\n");
	uint64_t keep[1] = { 5 };
	GString *out = g_string_new(NULL);
	trace_print(t, TRACE_TEXT, keep, out, NULL);
	ck_assert_str_eq(out->str, "#! heddle 1\n#! filtered\nT|w(x)|1\nT|w(z)|3\n");
	g_string_free(out, TRUE);
	trace_close(t);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("trace");
	TCase *c = tcase_create("text");
	tcase_add_test(c, operations_print_as_they_are_written);
	tcase_add_test(c, orders_default_to_seq_cst);
	tcase_add_test(c, values_compare_as_they_should);
	tcase_add_test(c, small_integers_are_values_by_themselves);
	tcase_add_test(c, operands_hold_brackets_quotes_and_bars);
	tcase_add_test(c, strings_hold_any_bytes_but_nul);
	tcase_add_test(c, lines_end_as_they_like);
	tcase_add_test(c, locations_make_sites);
	tcase_add_test(c, sized_accesses_overlap_by_bytes);
	tcase_add_test(c, names_without_sizes_never_overlap);
	tcase_add_test(c, an_access_without_size_takes_the_one_of_its_name);
	tcase_add_test(c, lives_of_a_block_are_apart);
	tcase_add_test(c, what_was_there_before_is_one_block);
	tcase_add_test(c, only_the_outermost_pair_counts);
	tcase_add_test(c, scopes_of_different_kinds_cross);
	tcase_add_test(c, locks_may_be_held_at_the_end);
	tcase_add_test(c, truncated_traces_load_with_a_warning);
	tcase_add_test(c, directives_are_facts);
	tcase_add_test(c, unknown_directives_are_warnings);
	tcase_add_loop_test(c, refusals_name_line_and_fault, 0, G_N_ELEMENTS(refusals));
	tcase_add_test(c, a_nul_byte_is_refused);
	tcase_add_test(c, control_bytes_are_escaped_in_messages);
	tcase_add_test(c, lenient_readings);
	tcase_add_test(c, lenient_keeps_other_refusals);
	tcase_add_test(c, std_says_what_it_can);
	tcase_add_test(c, kept_events_alone_are_written);
	suite_add_tcase(s, c);
	return suite_run(s);
}
