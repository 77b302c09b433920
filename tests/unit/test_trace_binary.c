/*
 * test_trace_binary.c - the binary format: a written trace reads back as the same one, and no
 * damage goes unnoticed.
 */
#include "engine/base/file.h"
#include "engine/trace/builder/builder.h"
#include "engine/trace/formats.h"
#include "tests/support/suite.h"

#include <check.h>
#include <signal.h>
#include <sys/wait.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *folder;

static char *in_folder(const char *name)
{
	return g_build_filename(folder, name, NULL);
}

static struct trace *read_text(const char *text)
{
	struct error e;
	struct trace *t = trace_from_text("test.txt", text, strlen(text), NULL, &e);
	ck_assert_msg(t != NULL, "%s", e.what);
	return t;
}

static char *print_text(const struct trace *t)
{
	GString *out = g_string_new(NULL);
	trace_print(t, TRACE_TEXT, NULL, out, NULL);
	return g_string_free(out, FALSE);
}

static const char *const sample =
        "#! heddle 1\n#! semaphore s 2\n#! object o dict\n#! atomic-set A x y\n#! stack U k\n"
        "#! note seed 7\n"
        "T|fork(U)|a.c:1\nT|alloc(p,8)|a.c:2\nT|w8(p)=5|a.c:3:4\nU|w4(p+4)=nil|a.c:4\n"
        "U|enter(f)|a.c:5\nU|rmw(x)=1>2;acq|a.c:6\nU|leave(f)|a.c:7\nU|ubeg(u,A)|a.c:8\n"
        "U|act(o.put,\"k\",1)=nil,2|a.c:9\nU|uend(u)|a.c:10\nT|miss(m,p,x)|9\nT|back(m)|9\n"
        "T|take(s)|9\nT|snd(g)|9\nU|rcv(g)|9\nT|join(U)|9\nT|free(p)|9\n";

static void write_sample(const char *path)
{
	struct error e;
	struct trace *t = read_text(sample);
	ck_assert_msg(trace_write(t, path, TRACE_BINARY, NULL, NULL, &e), "%s", e.what);
	trace_close(t);
}

START_TEST(what_is_written_is_read)
{
	char *path = in_folder("a.hdl");
	struct error e;
	write_sample(path);
	struct trace *t = read_text(sample), *b = trace_open(path, NULL, NULL, &e);
	ck_assert_msg(b != NULL, "%s", e.what);
#define TABLE(member, type) \
	ck_assert_uint_eq(t->member##_count, b->member##_count); \
	if (t->member##_count) \
		ck_assert_mem_eq(t->member, b->member, t->member##_count * sizeof(type));
	TRACE_TABLES(TABLE)
#undef TABLE
	ck_assert(b->complete && !b->filtered && b->order_exact);
	char *x = print_text(t), *y = print_text(b);
	ck_assert_str_eq(x, y);
	g_free(x);
	g_free(y);
	trace_close(t);
	trace_close(b);
	g_free(path);
}
END_TEST

START_TEST(facts_of_the_reading_are_kept)
{
	static const char text[] =
	        "#! filtered\n#! approximate order\nT|rel(l)|1\nT|call(o.m)|1\n";
	struct trace_options lenient = { .lenient = true };
	struct error e;
	char *path = in_folder("b.hdl");
	struct trace *t = trace_from_text("x", text, sizeof text - 1, &lenient, &e);
	ck_assert_uint_eq(t->warnings->len, 2);
	ck_assert(trace_write(t, path, TRACE_BINARY, NULL, NULL, &e));
	struct trace *b = trace_open(path, NULL, NULL, &e);
	ck_assert(!b->complete && b->filtered && !b->order_exact);
	ck_assert_uint_eq(b->warnings->len, 2);
	ck_assert_str_eq(b->warnings->pdata[0], t->warnings->pdata[0]);
	trace_close(t);
	trace_close(b);
	g_free(path);
}
END_TEST

START_TEST(kept_events_get_new_ids)
{
	struct trace *t =
	        read_text("T|fork(U)|1\nT|alloc(p,4)|1\nT|w(p)|1\nT|w(p)|1\nU|w(x)|1\n"
	                  "T|free(p)|1\n");
	uint64_t keep[1] = { 0x37 }; /* all but the second w(p) */
	char *path = in_folder("c.hdl");
	struct error e;
	ck_assert(trace_write(t, path, TRACE_BINARY, keep, NULL, &e));
	struct trace *b = trace_open(path, NULL, NULL, &e);
	ck_assert_msg(b != NULL, "%s", e.what);
	ck_assert_uint_eq(b->events_count, 5);
	ck_assert(b->filtered);
	ck_assert_uint_eq(b->blocks[0].alloc, 1);
	ck_assert_uint_eq(b->blocks[0].free, 4);
	ck_assert_uint_eq(b->threads[1].fork, 0);
	trace_close(t);
	trace_close(b);
	g_free(path);
}
END_TEST

/* Every single damaged byte is noticed, but for the padding between sections. */
START_TEST(damage_is_noticed)
{
	char *path = in_folder("d.hdl"), *bytes;
	gsize length;
	size_t unnoticed = 0;
	struct error e;
	write_sample(path);
	ck_assert(g_file_get_contents(path, &bytes, &length, NULL));
	for (size_t i = 0; i < length; i++) {
		bytes[i] ^= 0x41;
		ck_assert(g_file_set_contents_full(path, bytes, (gssize)length,
		                                   G_FILE_SET_CONTENTS_NONE, 0666, NULL));
		memset(&e, 0, sizeof e);
		struct trace *t = trace_open(path, NULL, NULL, &e);
		if (t)
			unnoticed++;
		else
			ck_assert_msg(strstr(e.where, "d.hdl") && *e.what && *e.remedy,
			              "byte %zu: %s: %s", i, e.where, e.what);
		trace_close(t);
		bytes[i] ^= 0x41;
	}
	ck_assert_uint_le(unnoticed, 21 * 63);
	for (size_t cut = 0; cut < length; cut += 7) {
		ck_assert(g_file_set_contents_full(path, bytes, (gssize)cut,
		                                   G_FILE_SET_CONTENTS_NONE, 0666, NULL));
		struct trace *t = trace_open(path, NULL, NULL, &e);
		ck_assert_msg(t == NULL || cut == 0, "cut at %zu", cut);
		trace_close(t);
	}
	g_free(bytes);
	g_free(path);
}
END_TEST

static bool stop(void *context, double fraction, const char *what)
{
	ck_assert(fraction >= 0 && fraction <= 1 && *what);
	++*(int *)context;
	return false;
}

START_TEST(reading_can_be_stopped)
{
	char *path = in_folder("stopped.hdl");
	int ticks = 0;
	struct progress progress = { stop, &ticks };
	struct error e = { .what = "" };
	write_sample(path);
	ck_assert(trace_open(path, NULL, &progress, &e) == NULL && e.cancelled);
	ck_assert_int_gt(ticks, 0);
	g_unlink(path);
	g_free(path);
}
END_TEST

START_TEST(unreadable_files_are_errors)
{
	struct error e;
	char *path = in_folder("none.hdl");
	ck_assert_ptr_null(trace_open(path, NULL, NULL, &e));
	ck_assert_str_eq(e.where, path);
	ck_assert_ptr_null(trace_open(folder, NULL, NULL, &e));
	ck_assert_ptr_nonnull(strstr(e.what, "folder"));
	ck_assert_ptr_null(trace_open("/dev/null", NULL, NULL, &e));
	g_free(path);
}
END_TEST

/* Whoever is killed while writing leaves nothing behind, not even the temporary file. */
START_TEST(a_killed_writer_leaves_nothing)
{
	struct error e;
	char *path = in_folder("k");
	pid_t writer = fork();
	if (writer == 0) {
		struct file_writer *w = file_writer_open(path, &e);
		char *bytes = g_malloc0(4 << 20);
		file_writer_put(w, bytes, 4 << 20);
		kill(getpid(), SIGKILL);
	}
	int status;
	ck_assert_int_eq(waitpid(writer, &status, 0), writer);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	GDir *dir = g_dir_open(folder, 0, NULL);
	for (const char *name; (name = g_dir_read_name(dir));)
		ck_assert_msg(name[0] != 'k', "left behind: %s", name);
	g_dir_close(dir);
	g_free(path);
}
END_TEST

START_TEST(files_are_whole_or_not_there)
{
	struct error e;
	char *path = in_folder("no/such/folder/x"), *full = in_folder("e"), *content;
	ck_assert(!file_write_whole(path, "x", 1, &e));
	ck_assert_ptr_nonnull(strstr(e.what, "cannot write"));
	ck_assert(!file_write_whole("/dev/full", "x", 1, &e));
	ck_assert(file_write_whole(full, "first", 5, &e));
	struct file_writer *w = file_writer_open(full, &e);
	file_writer_put(w, "second", 6);
	file_writer_abandon(w);
	ck_assert(g_file_get_contents(full, &content, NULL, NULL));
	ck_assert_str_eq(content, "first");
	struct stat st;
	ck_assert(file_write_whole("/dev/null", "x", 1, &e));
	ck_assert_int_eq(stat("/dev/null", &st), 0);
	ck_assert(S_ISCHR(st.st_mode));
	GDir *dir = g_dir_open(folder, 0, NULL);
	for (const char *name; (name = g_dir_read_name(dir));)
		ck_assert_msg(strlen(name) <= 5, "left behind: %s", name);
	g_dir_close(dir);
	g_free(content);
	g_free(path);
	g_free(full);
}
END_TEST

/* -- recordings: names from debug information ---------------------------------------------- */

/* Two functions' variables i, a struct accessed whole and by member, two blocks of one name. */
static struct trace *recording(void)
{
	struct builder *b = builder_new("rec", NULL);
	uint32_t t0 = builder_thread(b, "main", 4);
	uint32_t t1 = builder_thread(b, "w|1", 3);
	uint32_t module = builder_module(b, "/bin/x", "00", 0x1000);
	uint32_t at = builder_code(b, module, 0x10);
	uint32_t data = builder_region(b, "data", 0x5000, 0x100, NONE);
	struct error e;
	ck_assert(builder_add(
	        b, (struct event){ .op = OP_FORK, .thread = t0, .target = t1, .location = at },
	        0, &e));
	uint32_t blocks[2], regions[2];
	for (int i = 0; i < 2; i++) {
		blocks[i] = builder_block(b, i ? "b1" : "b0", 2, 16, 0x9000 + 0x100 * i);
		regions[i] =
		        builder_region(b, i ? "b1" : "b0", 0x9000 + 0x100 * i, 16, blocks[i]);
		ck_assert(builder_add(
		        b, (struct event){ .op = OP_ALLOC, .thread = t0, .target = blocks[i] },
		        0, &e));
	}
	const struct {
		uint32_t region, offset, size, thread;
	} accesses[] = {
		{ data, 0, 4, t0 },       { data, 16, 4, t1 },      /* both named i */
		{ data, 32, 16, t0 },     { data, 40, 4, t1 },      /* a struct, its member */
		{ regions[0], 0, 4, t0 }, { regions[1], 0, 4, t1 }, /* two blocks */
	};
	for (size_t i = 0; i < G_N_ELEMENTS(accesses); i++) {
		struct event event = { .op = OP_WRITE, .thread = (uint16_t)accesses[i].thread };
		event.target = builder_place(b, accesses[i].region, accesses[i].offset,
		                             accesses[i].size);
		ck_assert(builder_add(b, event, 0, &e));
	}
	static const struct namer namer;
	builder_namer(b, &namer);
	return builder_finish(b, true, &e);
}

static const char *name_of(const struct variable *v)
{
	return v->block != NONE      ? "*job"
	       : v->address < 0x5020 ? "i"
	       : v->address < 0x5028 ? "s.first"
	                             : "s.second, (odd";
}

START_TEST(recordings_read_back_from_text)
{
	struct trace *t = recording();
	/* Set the names afterwards: the writer reads only the tables. */
	GString *strings = g_string_new_len(t->string_bytes, (gssize)t->string_bytes_count);
	GArray *offsets = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_array_append_vals(offsets, t->string_offsets, (guint)t->string_offsets_count);
	for (uint64_t i = 0; i < t->variables_count; i++) {
		const char *name = name_of(&t->variables[i]);
		((struct variable *)t->variables)[i].spelling = offsets->len - 1;
		g_string_append_len(strings, name, (gssize)strlen(name) + 1);
		uint32_t end = (uint32_t)strings->len;
		g_array_append_val(offsets, end);
	}
	t->string_bytes = strings->str;
	t->string_bytes_count = strings->len;
	t->string_offsets = (const uint32_t *)(void *)offsets->data;
	t->string_offsets_count = offsets->len;
	char *text = print_text(t);
	struct error e;
	struct trace *again = trace_from_text("again", text, strlen(text), NULL, &e);
	ck_assert_msg(again != NULL, "%s: %s\n%s", e.where, e.what, text);
	ck_assert_uint_eq(again->events_count, t->events_count);
	ck_assert_uint_eq(again->threads_count, 2);
	for (uint32_t x = 3; x < t->events_count; x++)
		for (uint32_t y = 3; y < t->events_count; y++)
			ck_assert_msg(events_overlap(t, &t->events[x], &t->events[y]) ==
			                      events_overlap(again, &again->events[x],
			                                     &again->events[y]),
			              "events %u and %u of\n%s", x, y, text);
	ck_assert_uint_eq(again->blocks_count, 2);
	trace_close(again);
	trace_close(t);
	g_free(text);
	g_string_free(strings, TRUE);
	g_array_free(offsets, TRUE);
}
END_TEST

int main(void)
{
	folder = g_dir_make_tmp("heddle-test-XXXXXX", NULL);
	Suite *s = suite_create("binary");
	TCase *c = tcase_create("binary");
	tcase_add_test(c, what_is_written_is_read);
	tcase_add_test(c, facts_of_the_reading_are_kept);
	tcase_add_test(c, kept_events_get_new_ids);
	tcase_add_test(c, damage_is_noticed);
	tcase_add_test(c, reading_can_be_stopped);
	tcase_add_test(c, unreadable_files_are_errors);
	tcase_add_test(c, files_are_whole_or_not_there);
	tcase_add_test(c, a_killed_writer_leaves_nothing);
	tcase_add_test(c, recordings_read_back_from_text);
	suite_add_tcase(s, c);
	int failed = suite_run(s);
	GDir *dir = g_dir_open(folder, 0, NULL);
	for (const char *name; (name = g_dir_read_name(dir));) {
		char *path = in_folder(name);
		g_unlink(path);
		g_free(path);
	}
	g_dir_close(dir);
	g_rmdir(folder);
	g_free(folder);
	return failed;
}
