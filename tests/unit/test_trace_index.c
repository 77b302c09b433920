/*
 * test_trace_index.c - data derived from a trace, on small ones by hand; and the file that
 * keeps it beside a large binary trace: used while it matches the trace, else made again,
 * never trusted when it is damaged.
 */
#include "engine/trace/chains.h"
#include "engine/trace/formats.h"
#include "engine/trace/index_private.h"
#include "tests/support/folder.h"
#include "tests/support/generate.h"
#include "tests/support/suite.h"

#include <check.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <utime.h>

static char *folder;

static struct trace *read_text(const char *text)
{
	struct error e;
	struct trace *t = trace_from_text("test.txt", text, strlen(text), NULL, &e);
	ck_assert_msg(t != NULL, "%s", e.what);
	return t;
}

START_TEST(neighbours_partners_and_lists)
{
	struct trace *t =
	        read_text("T|fork(U)|1\nT|acq(l)|2\nU|w(x)|3\nT|r(x)|4\nT|acq(m)|5\n"
	                  "T|rel(l)|6\nT|w(x)|4\nT|rel(m)|8\nU|wait(c)|9\nT|signal(c)|9\n"
	                  "U|wake(c)|9\nT|join(U)|9\n");
	ck_assert(trace_need(t, INDEX_ALL, NULL));
	const struct trace_index *ix = t->index;
	ck_assert_uint_eq(trace_next(t, 1), 3);
	ck_assert_uint_eq(trace_previous(t, 3), 1);
	ck_assert_uint_eq(trace_previous(t, 0), NONE);
	ck_assert_uint_eq(trace_next(t, 11), NONE);
	ck_assert_uint_eq(trace_next(t, 2), 8);
	ck_assert_uint_eq(ix->partner[1], 5);
	ck_assert_uint_eq(ix->partner[7], 4);
	ck_assert_uint_eq(ix->partner[8], 10);
	ck_assert_uint_eq(ix->partner[0], 2);
	ck_assert_uint_eq(ix->partner[11], 10);
	ck_assert_uint_eq(ix->partner[3], NONE);
	ck_assert_uint_eq(ix->writer[3], 2);
	struct event_list x = event_list_at(&ix->variable_events, t->events[2].target);
	ck_assert_uint_eq(x.count, 3);
	ck_assert_uint_eq(x.items[2], 6);
	struct event_list site =
	        event_list_at(&ix->site_events, t->locations[t->events[3].location].site);
	ck_assert_uint_eq(site.count, 2);
	struct event_list l = event_list_at(&ix->object_events, t->events[1].target);
	ck_assert_uint_eq(l.count, 2);
	GArray *held = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	trace_locks_held(t, 5, held);
	ck_assert_uint_eq(held->len, 2);
	ck_assert_uint_eq(g_array_index(held, uint32_t, 0), 1);
	ck_assert_uint_eq(g_array_index(held, uint32_t, 1), 4);
	g_array_set_size(held, 0);
	trace_locks_held(t, 6, held);
	ck_assert_uint_eq(held->len, 1);
	g_array_free(held, TRUE);
	trace_close(t);
}
END_TEST

static void lists_equal(const struct event_lists *a, const struct event_lists *b,
                        uint64_t count)
{
	ck_assert_mem_eq(a->start, b->start, (count + 1) * sizeof *a->start);
	ck_assert_mem_eq(a->items, b->items, a->start[count] * sizeof *a->items);
}

/* Of a long trace two threads make the parts of an index that are asked for together; each of
 * them alone is made by one. */
START_TEST(parts_made_together_are_those_made_alone)
{
	struct generate_shape shape = GENERATE_SHAPE;
	shape.events = 200000;
	struct trace *together = generate_trace(shape), *alone = generate_trace(shape);
	ck_assert(trace_need(together, INDEX_ALL, NULL));
	for (unsigned part = 1; part <= INDEX_ALL; part *= 2)
		ck_assert(trace_need(alone, part, NULL));
	const struct trace_index *a = together->index, *b = alone->index;
	size_t bytes = together->events_count * sizeof(uint32_t);
	ck_assert_mem_eq(a->position, b->position, bytes);
	ck_assert_mem_eq(a->partner, b->partner, bytes);
	ck_assert_mem_eq(a->writer, b->writer, bytes);
	lists_equal(&a->thread_events, &b->thread_events, together->threads_count);
	lists_equal(&a->variable_events, &b->variable_events, together->variables_count);
	lists_equal(&a->object_events, &b->object_events, together->objects_count);
	lists_equal(&a->site_events, &b->site_events, together->sites_count);
	trace_close(together);
	trace_close(alone);
}
END_TEST

/* Each kind of scope has the event that ends it as its partner, and the other way round; the
 * inner one is closed first. */
START_TEST(every_scope_has_its_partner)
{
	struct trace *t =
	        read_text("T|enter(f)|1\nT|ubeg(u,S)|2\nT|call(o.m)|3\nT|miss(g,x)|4\n"
	                  "T|miss(g,x)|5\nT|back(g)|6\nT|back(g)|7\nT|ret(o.m)|8\n"
	                  "T|uend(u)|9\nT|leave(f)|10\nT|racq(l)|11\nT|rrel(l)|12\n");
	static const uint32_t partners[] = { 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 11, 10 };

	ck_assert(trace_need(t, INDEX_MATCH, NULL));
	for (uint32_t e = 0; e < G_N_ELEMENTS(partners); e++)
		ck_assert_uint_eq(t->index->partner[e], partners[e]);
	trace_close(t);
}
END_TEST

/* Without a specification each invocation of an object comes after the one before it; one
 * thread's are in its own order. */
START_TEST(invocations_of_an_object_keep_their_order)
{
	struct trace *t = read_text("T|act(o.m)|1\nU|call(o.m)|2\nV|act(p.m)|3\nU|ret(o.m)|4\n"
	                            "U|act(o.m)|5\nT|act(o.m)|6\n");
	static const uint32_t edges[][2] = { { 0, 3 }, { 4, 5 } };

	ck_assert(trace_need(t, INDEX_MUST, NULL));
	ck_assert_uint_eq(t->index->must_count, G_N_ELEMENTS(edges));
	for (size_t i = 0; i < G_N_ELEMENTS(edges); i++) {
		ck_assert_uint_eq(t->index->must[i].before, edges[i][0]);
		ck_assert_uint_eq(t->index->must[i].after, edges[i][1]);
		ck_assert_uint_eq(t->index->must[i].rule, MUST_INVOCATION);
	}
	trace_close(t);
}
END_TEST

START_TEST(observed_writes_by_bytes)
{
	struct trace *t =
	        read_text("T|w2(p)|1\nT|w4(p+2)|1\nU|r8(p)|1\nU|r2(p+4)|1\nU|rmw2(p)|1\n"
	                  "T|r2(p)|1\n");
	ck_assert(trace_need(t, INDEX_WRITERS, NULL));
	struct event_list w = trace_writers(t, 2);
	ck_assert_uint_eq(w.count, 4); /* p, p+2, p+4, p+6 */
	ck_assert_uint_eq(w.items[0], 0);
	ck_assert_uint_eq(w.items[1], 1);
	ck_assert_uint_eq(w.items[2], 1);
	ck_assert_uint_eq(w.items[3], NONE);
	ck_assert_uint_eq(trace_writers(t, 3).items[0], 1);
	ck_assert_uint_eq(trace_writers(t, 4).items[0], 0);
	ck_assert_uint_eq(trace_writers(t, 5).items[0], 4);
	w = trace_writers(t, 1); /* a write of several variables */
	ck_assert_uint_eq(w.count, 1);
	ck_assert_uint_eq(w.items[0], NONE);
	trace_close(t);
}
END_TEST

/* -- the file ------------------------------------------------------------------------------ */

enum { MANY = (1 << 20) + 4096 };

/* A large trace of everything that an index has: locks, wide reads, forks. */
/* A thread that a second one waits for shares its place with no later thread. */
START_TEST(joins_and_places)
{
	static const struct {
		const char *line;
		uint64_t places; /* 0: none are shared */
	} rows[] = {
		{ "", 3 },
		{ "T1|want(T2)|9\n", 0 },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		char *text = g_strconcat("T0|fork(T1)|1\nT0|fork(T2)|2\nT2|r(x)|3\nT1|r(x)|4\n",
		                         rows[i].line,
		                         "T0|join(T2)|5\nT0|fork(T3)|6\nT3|w(y)|7\n", NULL);
		struct trace *t = read_text(text);
		struct trace *view = trace_by_chains(t, 2, NULL, NULL);

		ck_assert_uint_eq(view == NULL ? 0 : view->threads_count, rows[i].places);
		trace_close(view);
		trace_close(t);
		g_free(text);
	}
}
END_TEST

static void write_large(const char *path)
{
	GString *text = g_string_new("main|fork(T0)|1\nmain|fork(T1)|1\n");
	for (uint32_t i = 0, events = 2; events < MANY; i++, events += 5) {
		unsigned t = i / 7 % 2, v = i % 1000;
		g_string_append_printf(text,
		                       "T%u|acq(l%u)|2\nT%u|w4(v%u)|3\nT%u|r8(v%u)|4\n"
		                       "T%u|r(u%u)|5\nT%u|rel(l%u)|6\n",
		                       t, v % 5, t, v, t, v, t, v, t, v % 5);
	}
	struct error e;
	struct trace *t = read_text(text->str);
	ck_assert_msg(trace_write(t, path, TRACE_BINARY, NULL, NULL, &e), "%s", e.what);
	trace_close(t);
	g_string_free(text, TRUE);
}

static struct trace *open_indexed(const char *path)
{
	struct error e;
	struct trace *t = trace_open(path, NULL, NULL, &e);
	ck_assert_msg(t != NULL, "%s", e.what);
	ck_assert(trace_need(t, INDEX_ALL, NULL));
	ck_assert_uint_eq(t->index->parts, INDEX_ALL);
	return t;
}

static void assert_same_index(const struct trace *a, const struct trace *b)
{
	const struct trace_index *x = a->index, *y = b->index;
	uint64_t n = a->events_count * sizeof(uint32_t);
	ck_assert(memcmp(x->position, y->position, n) == 0);
	ck_assert(memcmp(x->partner, y->partner, n) == 0);
	ck_assert(memcmp(x->writer, y->writer, n) == 0);
	ck_assert(memcmp(x->thread_events.items, y->thread_events.items, n) == 0);
	ck_assert_uint_eq(x->must_count, y->must_count);
	ck_assert(memcmp(x->must, y->must, x->must_count * sizeof *x->must) == 0);
	for (uint32_t e = 0; e < a->events_count; e += 997) {
		if (!op_reads(a->events[e].op))
			continue;
		struct event_list v = trace_writers(a, e), w = trace_writers(b, e);
		ck_assert_uint_eq(v.count, w.count);
		ck_assert(memcmp(v.items, w.items, v.count * sizeof *v.items) == 0);
	}
}

/* The only file of the cache folder; NULL if it is empty. */
static char *kept_index(void)
{
	char *cache = g_build_filename(folder, "cache", "heddle", NULL), *path = NULL;
	GDir *dir = g_dir_open(cache, 0, NULL);
	const char *name;
	while (dir && (name = g_dir_read_name(dir))) {
		ck_assert_msg(path == NULL, "more than one index: %s", name);
		path = g_build_filename(cache, name, NULL);
	}
	if (dir)
		g_dir_close(dir);
	g_free(cache);
	return path;
}

START_TEST(the_index_is_kept_in_the_cache)
{
	char *path = g_build_filename(folder, "large.hdl", NULL);
	write_large(path);
	struct trace *built = open_indexed(path);
	ck_assert_uint_eq(built->index->mapped, 0);
	char *index = kept_index();
	ck_assert_ptr_nonnull(index);
	struct trace *mapped = open_indexed(path);
	ck_assert_uint_eq(mapped->index->mapped, INDEX_KEPT);
	assert_same_index(built, mapped);
	trace_close(mapped);
	/* A damaged index is made again. */
	char *bytes;
	gsize length;
	ck_assert(g_file_get_contents(index, &bytes, &length, NULL));
	for (size_t at = 10; at < length; at += length / 5) {
		bytes[at] ^= 0x55;
		ck_assert(g_file_set_contents(index, bytes, (gssize)length, NULL));
		mapped = open_indexed(path);
		assert_same_index(built, mapped);
		trace_close(mapped);
		bytes[at] ^= 0x55;
	}
	ck_assert(g_file_set_contents(index, bytes, (gssize)(length / 2), NULL));
	mapped = open_indexed(path);
	assert_same_index(built, mapped);
	trace_close(mapped);
	/* So is one of a trace that has changed since. */
	struct utimbuf earlier = { .actime = 1000000, .modtime = 1000000 };
	ck_assert_int_eq(utime(path, &earlier), 0);
	mapped = open_indexed(path);
	ck_assert_uint_eq(mapped->index->mapped, 0);
	trace_close(mapped);
	trace_close(built);
	g_unlink(path);
	g_free(bytes);
	g_free(path);
	g_free(index);
}
END_TEST

/* Lets the clock of the file system go on, so that a change shows. */
static void await_tick(const char *path)
{
	struct stat first, now;
	char *probe = g_strconcat(path, ".tick", NULL);
	ck_assert(g_file_set_contents(probe, "", 0, NULL));
	ck_assert_int_eq(stat(probe, &first), 0);
	do {
		ck_assert_int_eq(chmod(probe, 0600), 0);
		ck_assert_int_eq(stat(probe, &now), 0);
	} while (now.st_ctim.tv_sec == first.st_ctim.tv_sec &&
	         now.st_ctim.tv_nsec == first.st_ctim.tv_nsec);
	g_unlink(probe);
	g_free(probe);
}

/* Events that point out of their tables, behind a header whose sum is right for the old ones.
 */
static void spoil_events(const char *path)
{
	struct stat st;
	ck_assert_int_eq(stat(path, &st), 0);
	FILE *file = fopen(path, "r+b");
	ck_assert_ptr_nonnull(file);
	for (long at = 4096; at < 4096 + 16 * 64; at += 4) {
		fseek(file, at, SEEK_SET);
		fwrite("\xf0\xff\xff\x7f", 1, 4, file);
	}
	fclose(file);
	struct timespec times[2] = { st.st_atim, st.st_mtim };
	ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* An index can come with a trace from anywhere; ours identifies its trace file. */
START_TEST(an_index_vouches_for_nothing_else)
{
	char *path = g_build_filename(folder, "spoilt.hdl", NULL);
	char *beside = g_strconcat(path, ".index", NULL), *bytes;
	gsize length;
	struct error e;
	write_large(path);
	trace_close(open_indexed(path));
	char *index = kept_index();
	ck_assert_ptr_nonnull(index);
	ck_assert(g_file_get_contents(index, &bytes, &length, NULL));
	ck_assert(g_file_set_contents(beside, bytes, (gssize)length, NULL));
	await_tick(path);
	spoil_events(path); /* with the time of change put back */
	ck_assert_ptr_null(trace_open(path, NULL, NULL, &e));
	g_unlink(index);
	ck_assert_ptr_null(trace_open(path, NULL, NULL, &e));
	g_unlink(beside);
	g_unlink(path);
	g_free(bytes);
	g_free(index);
	g_free(beside);
	g_free(path);
}
END_TEST

START_TEST(indexes_of_no_use_are_removed)
{
	char *first = g_build_filename(folder, "first.hdl", NULL);
	char *second = g_build_filename(folder, "second.hdl", NULL);
	write_large(first);
	trace_close(open_indexed(first));
	char *index = kept_index();
	ck_assert_ptr_nonnull(index);
	g_unlink(first);
	write_large(second);
	trace_close(open_indexed(second));
	char *other = kept_index(); /* the only one */
	ck_assert_ptr_nonnull(other);
	ck_assert_str_ne(index, other);
	g_unlink(second);
	g_unlink(other);
	g_free(index);
	g_free(other);
	g_free(first);
	g_free(second);
}
END_TEST

START_TEST(in_memory_where_the_cache_is_not_ours_alone)
{
	char *path = g_build_filename(folder, "other.hdl", NULL);
	char *cache = g_build_filename(folder, "cache", "heddle", NULL);
	write_large(path);
	trace_close(open_indexed(path));
	struct trace *t = open_indexed(path);
	ck_assert_uint_eq(t->index->mapped, INDEX_KEPT);
	trace_close(t);
	char *index = kept_index();
	ck_assert_int_eq(g_chmod(index, 0666), 0);
	t = open_indexed(path); /* made again, ours alone */
	ck_assert_uint_eq(t->index->mapped, 0);
	trace_close(t);
	ck_assert_int_eq(g_chmod(index, 0600), 0);
	ck_assert_int_eq(g_chmod(cache, 0777), 0);
	t = open_indexed(path);
	ck_assert_uint_eq(t->index->mapped, 0);
	trace_close(t);
	g_unlink(index);
	g_rmdir(cache);
	ck_assert(g_file_set_contents(cache, "", 0, NULL));
	t = open_indexed(path);
	ck_assert_uint_eq(t->index->mapped, 0);
	trace_close(t);
	g_unlink(cache);
	g_unlink(path);
	g_free(index);
	g_free(cache);
	g_free(path);
}
END_TEST

int main(void)
{
	folder = g_dir_make_tmp("heddle-test-XXXXXX", NULL);
	char *cache = g_build_filename(folder, "cache", NULL);
	g_setenv("XDG_CACHE_HOME", cache, TRUE);
	g_mkdir(cache, 0700);
	Suite *s = suite_create("index");
	TCase *c = tcase_create("index");
	tcase_add_test(c, joins_and_places);
	tcase_add_test(c, neighbours_partners_and_lists);
	tcase_add_test(c, parts_made_together_are_those_made_alone);
	tcase_add_test(c, every_scope_has_its_partner);
	tcase_add_test(c, invocations_of_an_object_keep_their_order);
	tcase_add_test(c, observed_writes_by_bytes);
	tcase_add_test(c, the_index_is_kept_in_the_cache);
	tcase_add_test(c, an_index_vouches_for_nothing_else);
	tcase_add_test(c, indexes_of_no_use_are_removed);
	tcase_add_test(c, in_memory_where_the_cache_is_not_ours_alone);
	suite_add_tcase(s, c);
	int failed = suite_run(s);
	folder_remove(folder);
	g_free(cache);
	g_free(folder);
	return failed;
}
