/*
 * test_survivors.c - behaviour that a mutation of one line changed without any other test
 * noticing: partners of inert events, an index of some of its parts, counts that are given up,
 * names like a block's.
 */
#include "engine/predict/predict.h"
#include "engine/trace/builder/builder.h"
#include "engine/trace/formats.h"
#include "engine/trace/index.h"
#include "engine/trace/index_private.h"
#include "tests/support/generate.h"
#include "tests/support/suite.h"

#include <check.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>

static char *folder;

static struct trace *read_text(const char *text)
{
	struct error error = { .what = "" };
	struct trace *t = trace_from_text("test.txt", text, strlen(text), NULL, &error);

	ck_assert_msg(t != NULL, "%s", error.what);
	return t;
}

/* A re-entrant acquire and its release have no effect and no partner; the outer ones are a
 * critical section. */
START_TEST(inert_events_have_no_partner)
{
	struct trace *t = read_text("T|acq(l)|1\nT|acq(l)|2\nT|w(x)|3\nT|rel(l)|4\n"
	                            "T|rel(l)|5\nT|acq(l)|6\nT|rel(l)|7\n");

	ck_assert(trace_need(t, INDEX_MATCH, NULL));
	ck_assert(event_inert(&t->events[1]) && event_inert(&t->events[3]));
	ck_assert_uint_eq(t->index->partner[0], 4);
	ck_assert_uint_eq(t->index->partner[4], 0);
	ck_assert_uint_eq(t->index->partner[1], NONE);
	ck_assert_uint_eq(t->index->partner[3], NONE);
	ck_assert_uint_eq(t->index->partner[5], 6);
	trace_close(t);
}
END_TEST

/* Some parts are asked for, and kept; then others.  Each time the same as all at once. */
START_TEST(an_index_of_some_parts)
{
	static const unsigned parts[] = { INDEX_OBJECTS, INDEX_WRITERS | INDEX_MUST,
		                          INDEX_THREADS, INDEX_ALL };
	struct generate_shape shape = GENERATE_SHAPE;
	char *path = g_build_filename(folder, "large.hdl", NULL);
	struct error error = { .what = "" };
	struct trace *t;
	unsigned asked = 0;

	shape.events = 1100 * 1000;
	struct trace *whole = generate_trace(shape);
	uint64_t bytes = whole->events_count * sizeof(uint32_t);
	ck_assert_uint_ge(whole->events_count, 1 << 20);
	ck_assert(trace_need(whole, INDEX_ALL, NULL));
	ck_assert(trace_write(whole, path, TRACE_BINARY, NULL, NULL, &error));
	for (size_t i = 0; i < G_N_ELEMENTS(parts); i++) {
		t = trace_open(path, NULL, NULL, &error);
		ck_assert_msg(t != NULL, "%s", error.what);
		ck_assert(trace_need(t, parts[i], NULL));
		/* of the expensive parts, those requested before were kept */
		ck_assert_uint_eq(t->index->mapped & asked, asked);
		asked |= t->index->parts & INDEX_KEPT;
		trace_close(t);
	}
	t = trace_open(path, NULL, NULL, &error);
	ck_assert(trace_need(t, INDEX_ALL, NULL));
	ck_assert_uint_eq(t->index->mapped, INDEX_KEPT);
	ck_assert_mem_eq(t->index->position, whole->index->position, bytes);
	ck_assert_mem_eq(t->index->partner, whole->index->partner, bytes);
	ck_assert_mem_eq(t->index->writer, whole->index->writer, bytes);
	ck_assert_uint_eq(t->index->must_count, whole->index->must_count);
	ck_assert_mem_eq(t->index->object_events.start, whole->index->object_events.start,
	                 (whole->objects_count + 1) * sizeof(uint64_t));
	trace_close(t);
	trace_close(whole);
	g_unlink(path);
	g_free(path);
}
END_TEST

/* Pairs of two sites that are refuted as a whole are not counted to the end where that costs
 * more than the trace is long; then the finding does not claim that its count is of all. */
START_TEST(a_count_that_is_given_up_is_not_of_all)
{
	GString *text = g_string_new(NULL);
	struct race_options options;
	struct error error = { .what = "" };
	enum { SECTIONS = 40 };

	for (int i = 0; i < 2 * SECTIONS; i++)
		g_string_append_printf(
		        text, "T%d|acq(l)|s.c:1\nT%d|w(x)|s.c:%d\nT%d|rel(l)|s.c:3\n",
		        i / SECTIONS, i / SECTIONS, 5 + i / SECTIONS, i / SECTIONS);
	struct trace *t = read_text(text->str);
	race_options_init(&options);
	options.all_verdicts = true;
	struct report *r = races_find(t, &options, NULL, &error);
	ck_assert_uint_eq(r->findings->len, 1);
	const struct finding *f = r->findings->pdata[0];
	ck_assert_int_eq(f->verdict, VERDICT_IMPOSSIBLE);
	ck_assert(f->counted_all && f->count == SECTIONS * SECTIONS);
	report_free(r);
	options.no_free_steps = true;
	r = races_find(t, &options, NULL, &error);
	ck_assert_uint_eq(r->findings->len, 1);
	f = r->findings->pdata[0];
	ck_assert_int_eq(f->verdict, VERDICT_IMPOSSIBLE);
	ck_assert_uint_lt(f->count, SECTIONS * SECTIONS);
	ck_assert(!f->counted_all);
	report_free(r);
	trace_close(t);
	g_string_free(text, TRUE);
}
END_TEST

/* A recorded variable outside of blocks gets another name where it would be read as part of a
 * block, and only there: not where its name merely begins with the block's letters. */
START_TEST(a_name_that_begins_like_a_block)
{
	static const char *const names[] = { "p+3", "pq", "p.q" };
	struct builder *b = builder_new("rec", NULL);
	uint32_t thread = builder_thread(b, "T1", 2), at = builder_location(b, "1", 1);
	uint32_t places[G_N_ELEMENTS(names)];
	char *path = g_build_filename(folder, "names.txt", NULL), *text;
	struct error error = { .what = "" };

	for (size_t i = 0; i < G_N_ELEMENTS(names); i++) /* before the block exists */
		places[i] = builder_place_text(b, names[i], strlen(names[i]), 0);
	uint32_t block = builder_block(b, "p", 1, 8, 0x9000);
	ck_assert(builder_add(
	        b,
	        (struct event){
	                .op = OP_ALLOC, .thread = thread, .target = block, .location = at },
	        0, &error));
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		ck_assert(builder_add(b,
		                      (struct event){ .op = OP_WRITE,
		                                      .thread = thread,
		                                      .target = places[i],
		                                      .location = at },
		                      0, &error));
	struct trace *t = builder_finish(b, true, &error);
	ck_assert(t != NULL);
	ck_assert_msg(trace_write(t, path, TRACE_TEXT, NULL, NULL, &error), "%s", error.what);
	ck_assert(g_file_get_contents(path, &text, NULL, NULL));
	ck_assert_msg(strstr(text, "w(pq)") != NULL, "%s", text);
	ck_assert_msg(strstr(text, "w(_p+3)") != NULL, "%s", text);
	ck_assert_msg(strstr(text, "w(_p.q)") != NULL, "%s", text);
	g_free(text);
	g_free(path);
	trace_close(t);
}
END_TEST

/* A part of a recorded pointer's block keeps its name through the pointer. */
START_TEST(a_part_of_what_a_pointer_holds)
{
	static const char *const names[] = { "job->arg", "job[3]" };
	struct builder *b = builder_new("rec", NULL);
	uint32_t thread = builder_thread(b, "T1", 2), at = builder_location(b, "1", 1);
	uint32_t block = builder_block(b, "*job", 4, 8, 0x9000);
	char *path = g_build_filename(folder, "parts.txt", NULL), *text;
	struct error error = { .what = "" };
	struct event event = {
		.op = OP_ALLOC, .thread = thread, .target = block, .location = at
	};

	ck_assert(builder_add(b, event, 0, &error));
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
		event.op = OP_WRITE;
		event.target = builder_place_text(b, names[i], strlen(names[i]), 0);
		ck_assert(builder_add(b, event, 0, &error));
	}
	struct trace *t = builder_finish(b, true, &error);
	ck_assert(t != NULL);
	ck_assert_uint_eq(t->variables[t->events[1].target].block, block);
	ck_assert_msg(trace_write(t, path, TRACE_TEXT, NULL, NULL, &error), "%s", error.what);
	ck_assert(g_file_get_contents(path, &text, NULL, NULL));
	ck_assert_msg(strstr(text, "w(job->arg)") != NULL, "%s", text);
	ck_assert_msg(strstr(text, "w(job[3])") != NULL, "%s", text);
	g_free(text);
	g_free(path);
	trace_close(t);
}
END_TEST

static uint32_t named(struct builder *b, char kind, const char *name)
{
	size_t length = strlen(name);

	return kind == 't'   ? builder_thread(b, name, length)
	       : kind == 'o' ? builder_object(b, name, length)
	       : kind == 'm' ? builder_message(b, name, length)
	                     : builder_place_text(b, name, length, 0);
}

/* Two names of which the text format holds neither as it is: they stay two, of every kind. */
START_TEST(names_that_are_spelt_alike)
{
	struct builder *b = builder_new("rec", NULL);
	uint32_t at = builder_location(b, "1", 1);
	char *path = g_build_filename(folder, "alike.txt", NULL), *text;
	struct error error = { .what = "" };

	struct event alloc = { .op = OP_ALLOC,
		               .thread = named(b, 't', "main"),
		               .target = builder_block(b, "p", 1, 8, 0x9000),
		               .location = at };
	ck_assert(builder_add(b, alloc, 0, &error));
	for (int i = 0; i < 2; i++) {
		uint32_t thread = named(b, 't', i ? "T|1" : "T(1");
		struct event events[] = {
			{ .op = OP_ACQ, .target = named(b, 'o', i ? "l)1" : "l(1") },
			{ .op = OP_SND, .target = named(b, 'm', i ? "g)1" : "g(1") },
			{ .op = OP_WRITE, .target = named(b, 'v', i ? "x)1" : "x(1") },
		};
		for (size_t k = 0; k < G_N_ELEMENTS(events); k++) {
			events[k].thread = thread;
			events[k].location = at;
			ck_assert_msg(builder_add(b, events[k], 0, &error), "%s", error.what);
		}
	}
	struct trace *t = builder_finish(b, true, &error);
	ck_assert_msg(t != NULL, "%s", error.what);
	ck_assert_msg(trace_write(t, path, TRACE_TEXT, NULL, NULL, &error), "%s", error.what);
	trace_close(t);
	ck_assert(g_file_get_contents(path, &text, NULL, NULL));
	t = read_text(text);
	ck_assert_uint_eq(t->threads_count, 3);
	ck_assert_uint_eq(t->objects_count, 2);
	ck_assert_uint_eq(t->messages_count, 2);
	ck_assert_uint_eq(t->variables_count, 2);
	trace_close(t);
	g_free(text);
	g_free(path);
}
END_TEST

/* Stops at the `left`-th tick. */
static bool stops(void *context, double fraction, const char *what)
{
	int *left = context;

	return --*left != 0;
}

/* Each analysis that is stopped, wherever it asks, says that it was: it makes no report. */
START_TEST(stopped_anywhere)
{
	struct trace *t = read_text("T1|acq(l)|1\nT1|w(x)|2\nT1|rel(l)|3\nT1|w(y)|4\n"
	                            "T2|w(y)|5\nT2|acq(l)|6\nT2|r(x)|7\nT2|rel(l)|8\n"
	                            "T2|w(z)|9\nT3|r(z)|10\nT3|r(x)|11\n");
	struct error error = { .what = "" };
	struct race_options options;
	unsigned stopped = 0;
	int left = 0;
	struct progress progress = { stops, &left };

	race_options_init(&options);
	options.analysis = _i / 2;
	options.pairs_events = _i % 2;
	struct report *r = races_find(t, &options, &progress, &error);
	ck_assert_msg(r != NULL, "%s", error.what);
	report_free(r);
	for (int ticks = -left, k = 1; k <= ticks; k++) {
		left = k;
		r = races_find(t, &options, &progress, &error);
		/* passes that need no second look at the trace tick less often than the first
		 * time */
		if (left > 0) {
			report_free(r);
			break;
		}
		ck_assert_ptr_null(r);
		ck_assert(error.cancelled);
		error = (struct error){ .what = "" };
		stopped++;
	}
	ck_assert_uint_gt(stopped, 0);
	trace_close(t);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("survivors of mutation");
	TCase *c = tcase_create("survivors");
	char *cache;

	folder = g_dir_make_tmp("heddle-survivors-XXXXXX", NULL);
	cache = g_build_filename(folder, "cache", NULL);
	g_setenv("XDG_CACHE_HOME", cache, TRUE);
	g_free(cache);
	tcase_add_test(c, inert_events_have_no_partner);
	tcase_add_test(c, an_index_of_some_parts);
	tcase_add_test(c, a_count_that_is_given_up_is_not_of_all);
	tcase_add_test(c, a_name_that_begins_like_a_block);
	tcase_add_test(c, a_part_of_what_a_pointer_holds);
	tcase_add_test(c, names_that_are_spelt_alike);
	tcase_add_loop_test(c, stopped_anywhere, 0, 2 * ANALYSIS_COUNT);
	suite_add_tcase(s, c);
	int status = suite_run(s);
	char *command = g_strdup_printf("rm -rf '%s'", folder);
	if (system(command) != 0)
		status = 1;
	g_free(command);
	g_free(folder);
	return status;
}
