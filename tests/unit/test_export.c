/*
 * test_export.c - traces as tables and timelines for other programs (engine/export/export.h).
 */
#include "engine/export/export.h"
#include "tests/support/folder.h"
#include "tests/support/suite.h"

#include <check.h>
#include <string.h>
#include <unistd.h>

static char *folder;

static void folder_make(void)
{
	folder = g_dir_make_tmp("heddle-export-XXXXXX", NULL);
	ck_assert(folder != NULL);
}

static void folder_end(void)
{
	folder_remove(folder);
	g_free(folder);
}

static struct trace *export_trace(const char *text)
{
	struct error error = { 0 };
	struct trace *t = trace_from_text("test.txt", text, strlen(text), NULL, &error);

	ck_assert_msg(t != NULL, "refused: %s: %s", error.where, error.what);
	return t;
}

/* A field is quoted where RFC 4180 asks for it, and where a spreadsheet would compute it. */
static const struct {
	const char *text, *row;
} rows[] = {
	{ "T1|w(x)=1|a.c:1\n", "0,T1,w,x,1,a.c:1," },
	{ "T1|w(\"a,b\")=1|a.c:1\n", "0,T1,w,\"\"\"a,b\"\"\",1,a.c:1," },
	{ "=1+1|w(x)=1|a.c:1\n", "0,\"'=1+1\",w,x,1,a.c:1," },
	{ "-1+@x|w(x)=1|a.c:1\n", "0,\"'-1+@x\",w,x,1,a.c:1," },
	{ "T1|w(x)=-5|a.c:1\n", "0,T1,w,x,-5,a.c:1," }, /* a number is none */
	{ "T1|acq(m)|\n", "0,T1,acq,m,,," },
};

START_TEST(rows_of_a_table)
{
	struct trace *t = export_trace(rows[_i].text);
	char *path = g_build_filename(folder, "t.csv", NULL), *text;
	struct error error = { 0 };

	struct file_writer *file = file_writer_open(path, &error);
	export_csv(t, file);
	ck_assert_msg(file_writer_commit(file, &error), "%s", error.what);
	ck_assert(g_file_get_contents(path, &text, NULL, NULL));
	char *want = g_strdup_printf(
	        "event,thread,op,operand,value,location,function\r\n%s\r\n", rows[_i].row);
	ck_assert_str_eq(text, want);
	g_free(want);
	g_free(text);
	g_free(path);
	trace_close(t);
}
END_TEST

/* Protocol buffers: a sequence of field 1, length-delimited (TracePacket), to the last byte. */
START_TEST(packets_of_a_timeline)
{
	struct trace *t = export_trace("T1|acq(m)|a.c:1\nT1|w(x)=1|a.c:2\nT1|rel(m)|a.c:3\n"
	                               "T2|r(x)=1|b.c:1\n");
	char *path = g_build_filename(folder, "t.perfetto", NULL), *bytes;
	struct error error = { 0 };
	gsize size, at = 0;
	guint packets = 0;

	struct file_writer *file = file_writer_open(path, &error);
	export_perfetto(t, NULL, file);
	ck_assert_msg(file_writer_commit(file, &error), "%s", error.what);
	ck_assert(g_file_get_contents(path, &bytes, &size, NULL));
	while (at < size) {
		gsize length = 0;
		ck_assert_int_eq(bytes[at++], 1 << 3 | 2);
		for (unsigned shift = 0;; shift += 7) {
			ck_assert(at < size && shift < 35);
			length |= (gsize)(bytes[at] & 0x7f) << shift;
			if (!(bytes[at++] & 0x80))
				break;
		}
		ck_assert(length <= size - at);
		at += length;
		packets++;
	}
	ck_assert_uint_ge(packets, t->threads_count + t->events_count);
	ck_assert_ptr_nonnull(memmem(bytes, size, "write x: 1", 10)); /* an event in words */
	ck_assert_ptr_null(memmem(bytes, size, "w(x)", 4));
	g_free(bytes);
	g_free(path);
	trace_close(t);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("export");
	TCase *c = tcase_create("export");

	tcase_add_checked_fixture(c, folder_make, folder_end);
	tcase_add_loop_test(c, rows_of_a_table, 0, G_N_ELEMENTS(rows));
	tcase_add_test(c, packets_of_a_timeline);
	suite_add_tcase(suite, c);
	return suite_run(suite);
}
