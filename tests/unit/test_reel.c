/*
 * test_reel.c - events decoded on demand: which blocks are decoded, by which thread, that all
 * readers see the same events, and that other faults remain faults. The explorer's first
 * screen of a trace needs a few of its blocks, and so does each key. No test of time: of what
 * is looked at.
 */
#include "engine/trace/formats.h"
#include "engine/trace/index.h"
#include "engine/trace/binary/reel.h"
#include "engine/trace/storage.h"
#include "tests/support/folder.h"
#include "tests/support/suite.h"
#include "tests/support/tui.h"
#include "tui/explorer/screen/keys.h"

#include <check.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utime.h>

enum { ROOM = 4, BLOCKS = 36, MANY = BLOCKS * TAPE_BLOCK - 1000 };

static char *folder, *path;

/* Two threads in functions, locks, a race now and then. */
static void write_large(void)
{
	struct error e;
	GString *text = g_string_new("main|fork(T0)|1\nmain|fork(T1)|1\n");
	for (uint32_t i = 0, events = 2; events < MANY; i++, events += 6) {
		unsigned t = i / 7 % 2, v = i % 1000;
		g_string_append_printf(text,
		                       "T%u|enter(f%u)|a.c:2\nT%u|acq(l%u)|a.c:3\n"
		                       "T%u|w(v%u)=%u|a.c:4\nT%u|r(u%u)|a.c:5\n"
		                       "T%u|rel(l%u)|a.c:6\nT%u|leave(f%u)|a.c:7\n",
		                       t, v % 3, t, v % 5, t, v, i, t, v, t, v % 5, t, v % 3);
	}
	struct trace *t = trace_from_text("large.txt", text->str, text->len, NULL, &e);
	if (t == NULL || !trace_write(t, path, TRACE_BINARY, NULL, NULL, &e))
		g_error("%s: %s", e.where, e.what);
	trace_close(t);
	g_string_free(text, TRUE);
}

static struct trace *open_as(enum reel_way way)
{
	struct error e;
	reel_set_way(way, ROOM);
	struct trace *t = trace_open(path, NULL, NULL, &e);
	reel_set_way(REEL_WHOLE, 0);
	ck_assert_msg(t != NULL, "%s", e.what);
	return t;
}

static bool same(const struct trace *a, const struct trace *b, uint64_t from, uint64_t to)
{
	return memcmp(a->events + from, b->events + from, (to - from) * sizeof *a->events) ==
	               0 &&
	       memcmp(a->stacks + from, b->stacks + from, (to - from) * sizeof *a->stacks) == 0;
}

START_TEST(a_trace_without_an_index_is_checked_block_by_block)
{
	struct trace *t = open_as(REEL_BY_NEED_ALONE);
	ck_assert_int_eq(t->storage->decoded.all, BLOCKS);
	ck_assert_uint_eq(t->events[t->events_count - 1].op, OP_LEAVE);
	ck_assert_int_eq(t->storage->decoded.all, BLOCKS); /* one of those that stay */
	ck_assert_uint_eq(t->index->parts, INDEX_MUST);
	ck_assert(trace_need(t, INDEX_ALL, NULL)); /* kept: for the next tests */
	trace_close(t);
}
END_TEST

START_TEST(a_block_is_decoded_when_it_is_looked_at)
{
	struct trace *whole = open_as(REEL_WHOLE), *t = open_as(REEL_BY_NEED_ALONE);
	uint64_t count = whole->events_count;
	ck_assert_uint_eq(t->events_count, count);
	ck_assert_uint_eq(t->stacks_count, count);
	ck_assert_int_eq(t->storage->decoded.all, 0);
	ck_assert(same(whole, t, 17 * TAPE_BLOCK + 5, 17 * TAPE_BLOCK + 7));
	ck_assert_int_eq(t->storage->decoded.all, 1);
	ck_assert(same(whole, t, 3 * TAPE_BLOCK - 1, 3 * TAPE_BLOCK + 1));
	ck_assert_int_eq(t->storage->decoded.all, 3);
	ck_assert_uint_eq(t->stacks[count - 1], whole->stacks[count - 1]);
	ck_assert_int_eq(t->storage->decoded.all, 4);
	ck_assert_uint_eq(t->events[BLOCKS * (uint64_t)TAPE_BLOCK].target, 0); /* ahead */
	ck_assert_int_eq(t->storage->decoded.all, 4);
	ck_assert(same(whole, t, 0, count));
	ck_assert_int_eq(t->storage->decoded.all, BLOCKS);
	ck_assert_uint_eq(t->storage->decoded.needed, BLOCKS);
	trace_close(t);
	trace_close(whole);
}
END_TEST

struct reader {
	const struct trace *whole, *t;
	uint64_t first; /* block */
	bool good;
};

static gpointer read_all(gpointer context)
{
	struct reader *r = context;
	r->good = true;
	for (uint64_t i = 0; i < BLOCKS; i++) {
		uint64_t from = (r->first + i * 5) % BLOCKS * TAPE_BLOCK; /* 5: all of them */
		uint64_t to = MIN(from + TAPE_BLOCK, r->whole->events_count);
		r->good &= same(r->whole, r->t, from, to);
	}
	return NULL;
}

START_TEST(threads_see_the_same_events)
{
	enum { READERS = 4, ROUNDS = 6 };
	struct trace *whole = open_as(REEL_WHOLE);
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct trace *t = open_as(round % 2 ? REEL_BY_NEED : REEL_BY_NEED_ALONE);
		struct trace *beside = open_as(REEL_BY_NEED_ALONE);
		struct reader readers[READERS];
		GThread *threads[READERS];
		for (unsigned i = 0; i < READERS; i++) {
			readers[i] = (struct reader){ whole, i ? t : beside, i * round, false };
			threads[i] = g_thread_new("reader", read_all, &readers[i]);
		}
		for (unsigned i = 0; i < READERS; i++)
			g_thread_join(threads[i]);
		for (unsigned i = 0; i < READERS; i++)
			ck_assert(readers[i].good);
		ck_assert_int_eq(t->storage->decoded.all, BLOCKS);
		ck_assert_uint_eq(t->storage->decoded.needed, 0);
		trace_close(round % 3 ? t : beside);
		trace_close(round % 3 ? beside : t);
	}
	trace_close(whole);
}
END_TEST

static struct trace *open_in_passes(void)
{
	struct trace *t = open_as(REEL_IN_PASSES);
	ck_assert_ptr_nonnull(t->storage->reel);
	return t;
}

START_TEST(readers_share_a_few_blocks)
{
	enum { READERS = 3 };
	struct trace *whole = open_as(REEL_WHOLE), *t = open_in_passes();
	struct reader readers[READERS];
	GThread *threads[READERS];
	ck_assert(same(whole, t, 0, whole->events_count));
	ck_assert(same(whole, t, 0, whole->events_count));
	ck_assert_int_ge(t->storage->decoded.all, 2 * (BLOCKS - ROOM));
	for (unsigned i = 0; i < READERS; i++) {
		readers[i] = (struct reader){ whole, t, i * 7, false };
		threads[i] = g_thread_new("reader", read_all, &readers[i]);
	}
	for (unsigned i = 0; i < READERS; i++)
		g_thread_join(threads[i]);
	for (unsigned i = 0; i < READERS; i++)
		ck_assert(readers[i].good);
	trace_close(t);
	trace_close(whole);
}
END_TEST

START_TEST(a_trace_without_an_index_is_checked_in_passes)
{
	struct trace *whole = open_as(REEL_WHOLE);
	ck_assert_int_eq(utime(path, NULL), 0); /* its index is stale now */
	struct trace *t = open_in_passes();
	ck_assert_uint_eq(t->index->parts, INDEX_MUST);
	ck_assert(trace_has(t, OPERATION(OP_LEAVE)));
	ck_assert(!trace_has(t, OPERATION(OP_MISUSE)));
	ck_assert(trace_need(whole, INDEX_MUST, NULL));
	ck_assert_uint_eq(t->index->must_count, whole->index->must_count);
	ck_assert_mem_eq(t->index->must, whole->index->must,
	                 whole->index->must_count * sizeof *whole->index->must);
	ck_assert(same(whole, t, 0, whole->events_count));
	trace_close(t);
	trace_close(whole);
}
END_TEST

START_TEST(held_events_and_blocks_stay)
{
	const uint32_t events[] = { 3 * TAPE_BLOCK - 1, 9 * TAPE_BLOCK + 7, 9 * TAPE_BLOCK + 8,
		                    20 * TAPE_BLOCK, MANY - 1 };
	struct trace *whole = open_as(REEL_WHOLE), *t = open_in_passes();
	trace_hold_events(t, events, G_N_ELEMENTS(events));
	for (unsigned round = 0; round < 2; round++)
		ck_assert(same(whole, t, 0, whole->events_count));
	gint before = t->storage->decoded.needed;
	for (size_t i = 0; i < G_N_ELEMENTS(events); i++)
		ck_assert_mem_eq(&t->events[events[i]], &whole->events[events[i]],
		                 sizeof *t->events);
	ck_assert_int_eq(t->storage->decoded.needed, before);
	trace_keep_events(t);
	ck_assert(same(whole, t, 0, whole->events_count));
	before = t->storage->decoded.all;
	ck_assert(same(whole, t, 0, whole->events_count));
	ck_assert_int_eq(t->storage->decoded.all, before);
	for (uint32_t e = 0; e < whole->events_count; e += TAPE_BLOCK)
		ck_assert(trace_at_hand(t, e));
	trace_close(t);
	trace_close(whole);
}
END_TEST

/* Blocks that stay for a while are decoded once, and give back their memory; held events stay.
 */
START_TEST(blocks_stay_for_a_while)
{
	const uint32_t held = 9 * TAPE_BLOCK + 7;
	struct trace *whole = open_as(REEL_WHOLE), *t = open_in_passes();
	trace_hold_events(t, &held, 1);
	ck_assert(trace_keep_events_shortly(t));
	ck_assert(same(whole, t, 0, whole->events_count));
	gint before = t->storage->decoded.all;
	ck_assert(same(whole, t, 0, whole->events_count));
	ck_assert_int_eq(t->storage->decoded.all, before);
	trace_leave_events(t, 0);
	ck_assert(!trace_at_hand(t, 0));
	gint needed = t->storage->decoded.needed;
	ck_assert_mem_eq(&t->events[held], &whole->events[held], sizeof *t->events);
	ck_assert_int_eq(t->storage->decoded.needed, needed);
	for (unsigned round = 0; round < 2; round++)
		ck_assert(same(whole, t, 0, whole->events_count));
	ck_assert_int_ge(t->storage->decoded.all - before,
	                 (gint)(whole->events_count / TAPE_BLOCK));
	trace_keep_events(t);
	ck_assert(same(whole, t, 0, whole->events_count));
	trace_close(t);
	trace_close(whole);
}
END_TEST

static uint64_t blocks_at_hand(const struct trace *t)
{
	uint64_t count = 0;
	for (uint64_t block = 0; block < BLOCKS; block++)
		count += trace_at_hand(t, (uint32_t)(block * TAPE_BLOCK));
	return count;
}

START_TEST(some_blocks_stay_when_they_are_left)
{
	enum { STAY = 6 };
	struct trace *whole = open_as(REEL_WHOLE), *t = open_in_passes();
	for (unsigned round = 0; round < 3; round++) {
		ck_assert(trace_keep_events_shortly(t));
		ck_assert(same(whole, t, 0, whole->events_count));
		trace_leave_events(t, STAY * TAPE_BLOCK);
		ck_assert(!trace_stays(t));
		ck_assert_uint_ge(blocks_at_hand(t), STAY);
		ck_assert_uint_lt(blocks_at_hand(t), BLOCKS);
		if (round == 1) /* they give their memory to others */
			ck_assert(same(whole, t, 0, whole->events_count));
	}
	trace_leave_events(t, UINT64_MAX);
	ck_assert_uint_ge(blocks_at_hand(t), STAY);
	trace_keep_events(t);
	gint before = t->storage->decoded.all;
	ck_assert(same(whole, t, 0, whole->events_count));
	ck_assert_int_lt(t->storage->decoded.all - before, BLOCKS);
	trace_close(t);
	trace_close(whole);
}
END_TEST

static gpointer open_and_close(gpointer context)
{
	struct error e;
	for (gint *stop = context; !g_atomic_int_get(stop);) {
		struct trace *t = trace_open(path, NULL, NULL, &e);
		if (t == NULL || t->events[7 * TAPE_BLOCK].op >= OP_COUNT)
			return NULL;
		trace_close(t);
	}
	return context;
}

START_TEST(others_are_opened_and_closed_meanwhile)
{
	enum { ROUNDS = 10 };
	gint stop = 0;
	struct trace *whole = open_as(REEL_WHOLE);
	reel_set_way(REEL_BY_NEED_ALONE, 0);
	GThread *opener = g_thread_new("opener", open_and_close, &stop);
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct error e;
		struct trace *t = trace_open(path, NULL, NULL, &e);
		struct reader reader = { whole, t, round, false };
		ck_assert_msg(t != NULL, "%s", e.what);
		read_all(&reader);
		ck_assert(reader.good);
		trace_close(t);
	}
	g_atomic_int_set(&stop, 1);
	ck_assert_ptr_eq(g_thread_join(opener), &stop);
	reel_set_way(REEL_WHOLE, 0);
	trace_close(whole);
}
END_TEST

/* Exit status of a child that runs `act` on a trace decoded on demand. */
static int end_of(void (*act)(const struct trace *t))
{
	struct trace *t = open_as(REEL_BY_NEED_ALONE);
	int status = 0;
	pid_t child = fork();
	if (child == 0) {
		act(t);
		_exit(t->events[9 * TAPE_BLOCK].op < OP_COUNT ? 7 : 8);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	trace_close(t);
	return status;
}

__attribute__((no_sanitize("undefined"))) static void read_nothing(const struct trace *t)
{
	signal(SIGALRM, SIG_DFL);
	alarm(60);
	(void)*(volatile const char *)(uintptr_t)(t->events_count & 1);
}
static void signal_itself(const struct trace *t)
{
	raise(SIGSEGV);
}
static void say_and_end(int number)
{
	_exit(number + 20);
}
static void handle_first(const struct trace *t)
{
	struct sigaction action = { .sa_handler = say_and_end };
	reel_set_fault_action(&action);
	if (t->events[5 * TAPE_BLOCK].op < OP_COUNT) /* a block's is no fault of its own */
		read_nothing(t);
}
static void do_nothing(const struct trace *t)
{
}

START_TEST(other_faults_remain)
{
	signal(SIGSEGV, SIG_DFL); /* a sanitizer's handler would report a fault that is meant */
	int status = end_of(do_nothing);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	status = end_of(read_nothing);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
	status = end_of(signal_itself);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
	status = end_of(handle_first);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == SIGSEGV + 20);
}
END_TEST

START_TEST(a_screen_needs_few_blocks)
{
	static const char *const keys[] = { "j", "n", "}", "G", "k", "{", "N", "B" };
	struct error error = { 0 };
	struct app_options options = { .rows = 50, .columns = 160, .quiet_start = true };
	struct trace *t = open_as(REEL_BY_NEED_ALONE);
	struct session *session = session_new(t);
	session->specs = specs_open(NULL, &error);
	ck_assert_msg(session->specs != NULL, "%s", error.what);
	struct app *app = app_new(session, &options);
	app_draw(app);
	ck_assert_uint_le(t->storage->decoded.needed, 2);
	app_start_work(app); /* their threads wait for their own blocks */
	app_draw(app);
	ck_assert_uint_le(t->storage->decoded.needed, 3);
	for (size_t i = 0; i < G_N_ELEMENTS(keys); i++) {
		uint64_t before = t->storage->decoded.needed;
		app_key(app, key_from_name(keys[i]));
		app_draw(app);
		ck_assert_msg(t->storage->decoded.needed - before <= 3, "%s", keys[i]);
	}
	tui_wait(app);
	app_draw(app);
	ck_assert_uint_le(t->storage->decoded.needed, BLOCKS / 2);
	app_free(app);
}
END_TEST

int main(void)
{
	static const char *const homes[] = { "HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME",
		                             "XDG_STATE_HOME" };
	folder = g_dir_make_tmp("heddle-test-XXXXXX", NULL);
	path = g_build_filename(folder, "large.hdl", NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(homes); i++)
		g_setenv(homes[i], folder, TRUE);
	write_large();
	Suite *s = suite_create("events by need");
	TCase *c = tcase_create("events by need");
	tcase_set_timeout(c, 300);
	tcase_add_test(c, a_trace_without_an_index_is_checked_block_by_block);
	tcase_add_test(c, a_block_is_decoded_when_it_is_looked_at);
	tcase_add_test(c, threads_see_the_same_events);
	tcase_add_test(c, others_are_opened_and_closed_meanwhile);
	tcase_add_test(c, other_faults_remain);
	tcase_add_test(c, a_screen_needs_few_blocks);
	tcase_add_test(c, readers_share_a_few_blocks);
	tcase_add_test(c, held_events_and_blocks_stay);
	tcase_add_test(c, blocks_stay_for_a_while);
	tcase_add_test(c, some_blocks_stay_when_they_are_left);
	tcase_add_test(c, a_trace_without_an_index_is_checked_in_passes);
	suite_add_tcase(s, c);
	int failed = suite_run(s);
	folder_remove(folder);
	g_free(folder);
	g_free(path);
	return failed;
}
