/*
 * test_dap.c - records of gdb's machine interface and messages of the Debug Adapter Protocol
 * (tui/dap): reading returns the data that was written, in whatever pieces it comes, and cut
 * or changed data is refused.
 */
#include "tests/support/suite.h"
#include "tui/dap/mi.h"
#include "tui/dap/wire.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A record as one line: "KIND TOKEN WORD JSON". */
static char *read_record(const char *line)
{
	struct mi_record r;
	char *text = NULL;
	if (mi_parse(line, &r)) {
		char *body =
		        json_dumps(r.body, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);
		text = g_strdup_printf("%c %d %s %s", r.kind, (int)r.token,
		                       r.word ? r.word : "-", body);
		free(body);
	}
	mi_release(&r);
	return text ? text : g_strdup("none");
}

static const char stopped[] =
        "*stopped,reason=\"breakpoint-hit\",frame={args=[{name=\"n\",value=\"\\\"a\\\\\\n\"}],"
        "line=\"23\"},threads=[frame={level=\"0\"},frame={level=\"1\"}],empty=[],none={}";

START_TEST(records)
{
	static const struct {
		const char *line, *expected;
	} cases[] = {
		{ "12^done", "^ 12 done {}" },
		{ "3^error,msg=\"No symbol \\\"x\\\"\"",
		  "^ 3 error {\"msg\":\"No symbol \\\"x\\\"\"}" },
		{ stopped,
		  "* 0 stopped {\"empty\":[],\"frame\":{\"args\":[{\"name\":\"n\",\"value\":"
		  "\"\\\"a\\\\\\n\"}],\"line\":\"23\"},\"none\":{},\"reason\":\"breakpoint-hit\","
		  "\"threads\":[{\"level\":\"0\"},{\"level\":\"1\"}]}" },
		{ "@\"heddle: \\303\\251\\t\\377\"",
		  "@ 0 - \"heddle: \xc3\xa9\\t\xef\xbf\xbd\"" },
		{ "~\"a\\000b\"", "~ 0 - \"a b\"" },
		{ "(gdb) ", "none" },
		{ "", "none" },
		{ "7", "none" },
		{ "what the program prints", "none" },
		{ "^done,a", "none" },
		{ "^done,a=\"x", "none" },
		{ "^done,a={b=\"x\"", "none" },
		{ "^done,a=\"x\"}", "none" },
		{ "^done,a=[b=\"x\",c]", "none" },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		char *got = read_record(cases[i].line);
		ck_assert_str_eq(got, cases[i].expected);
		g_free(got);
	}
}
END_TEST

/* Cut at every byte, and with every byte changed: a record or none, and no fault. */
START_TEST(damaged_records)
{
	static const char marks[] = "\"\\,={}[]\n0^";
	for (size_t cut = 0; cut < strlen(stopped); cut++) {
		char *line = g_strndup(stopped, cut);
		g_free(read_record(line));
		g_free(line);
		for (const char *mark = marks; *mark; mark++) {
			line = g_strdup(stopped);
			line[cut] = *mark;
			g_free(read_record(line));
			g_free(line);
		}
	}
	char *deep = g_malloc0(100001);
	memset(deep, '[', 100000);
	memcpy(deep, "^done,a=", 8);
	char *got = read_record(deep);
	ck_assert_str_eq(got, "none");
	g_free(got);
	g_free(deep);
}
END_TEST

/* A quoted argument is one C string, whatever is in it, and on one line. */
START_TEST(quoted_arguments)
{
	GRand *random = g_rand_new_with_seed(1);
	for (int round = 0; round < 2000; round++) {
		char text[20] = "";
		for (int i = 0; i < g_rand_int_range(random, 0, 19); i++)
			text[i] = (char)g_rand_int_range(random, 1, 128);
		GString *line = g_string_new("~");
		mi_append_quoted(line, text);
		ck_assert_ptr_null(strpbrk(line->str, "\r\n"));
		struct mi_record r;
		ck_assert(mi_parse(line->str, &r));
		ck_assert_str_eq(json_string_value(r.body), text);
		mi_release(&r);
		g_string_free(line, TRUE);
	}
	g_rand_free(random);
}
END_TEST

/* Messages that were sent are received, in pieces of any size. */
START_TEST(messages)
{
	enum { COUNT = 3 };
	int there[2], back[2];
	ck_assert_int_eq(pipe(there), 0);
	struct wire sender;
	wire_open(&sender, there[0], there[1]);
	for (int i = 0; i < COUNT; i++)
		wire_send(&sender,
		          json_pack("{siss}", "number", i, "text", "\xc3\xa9\r\n\r\n{"));
	char bytes[1000];
	ssize_t length = read(there[0], bytes, sizeof(bytes));
	ck_assert(length > 0);
	for (ssize_t piece = 1; piece <= length; piece++) {
		struct wire w;
		ck_assert_int_eq(pipe(back), 0);
		wire_open(&w, back[0], back[1]);
		for (ssize_t at = 0; at < length; at += piece) {
			size_t size = (size_t)MIN(piece, length - at);
			ck_assert_int_eq(write(back[1], bytes + at, size), (int)size);
			wire_read(&w);
		}
		ck_assert(!w.bad && !w.gone);
		ck_assert_uint_eq(g_queue_get_length(w.received), COUNT);
		json_t *last = g_queue_peek_tail(w.received);
		ck_assert_int_eq(json_integer_value(json_object_get(last, "number")),
		                 COUNT - 1);
		ck_assert_int_eq(json_integer_value(json_object_get(last, "seq")), COUNT);
		wire_close(&w);
		close(back[0]);
		close(back[1]);
	}
	wire_close(&sender);
	close(there[0]);
	close(there[1]);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("dap");
	TCase *c = tcase_create("dap");
	tcase_add_test(c, records);
	tcase_add_test(c, damaged_records);
	tcase_add_test(c, quoted_arguments);
	tcase_add_test(c, messages);
	suite_add_tcase(s, c);
	return suite_run(s);
}
