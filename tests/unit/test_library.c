/*
 * test_library.c - the public interface of the engine (engine/api/libheddle.h).
 */
#include "engine/api/libheddle.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static heddle_trace *trace_of(const char *text)
{
	char path[] = "/tmp/heddle-library-XXXXXX", *error = NULL;
	int fd = mkstemp(path);

	ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	heddle_trace *trace = heddle_trace_open(path, &error);
	unlink(path);
	ck_assert_msg(trace != NULL, "%s", error);
	return trace;
}

static const char racy[] = "main|fork(T1)|a.c:1\n"
                           "main|acq(m)|a.c:2\n"
                           "main|w(x)=1|a.c:3\n"
                           "main|rel(m)|a.c:4\n"
                           "T1|r(x)=1|a.c:5\n";

START_TEST(races)
{
	char *error = NULL;
	size_t length;
	heddle_trace *trace = trace_of(racy);
	heddle_report *report = heddle_races(trace, NULL, 0, 0, &error);

	ck_assert_msg(report != NULL, "%s", error);
	ck_assert_uint_eq(heddle_report_count(report), 1);
	ck_assert_int_eq(heddle_report_complete(report), 1);
	ck_assert_str_eq(heddle_finding_kind(report, 0), "data-race");
	ck_assert_str_eq(heddle_finding_verdict(report, 0), "race");
	ck_assert_str_eq(heddle_finding_variable(report, 0), "x");
	ck_assert_uint_eq(heddle_finding_first(report, 0), 2);
	ck_assert_uint_eq(heddle_finding_second(report, 0), 4);
	const uint32_t *witness = heddle_finding_witness(report, 0, &length);
	ck_assert_uint_ge(length, 2);
	ck_assert_int_eq(heddle_check_race(trace, witness, length, 2, 4, NULL), 1);
	ck_assert_ptr_null(heddle_finding_kind(report, 1));
	ck_assert_ptr_null(heddle_finding_witness(report, 1, &length));
	ck_assert_uint_eq(length, 0);
	heddle_report_free(report);
	heddle_trace_close(trace);
}
END_TEST

START_TEST(events)
{
	heddle_trace *trace = trace_of(racy);
	char *text = heddle_event_text(trace, 2);

	ck_assert_uint_eq(heddle_trace_event_count(trace), 5);
	ck_assert_uint_eq(heddle_trace_thread_count(trace), 2);
	ck_assert_str_eq(heddle_trace_thread_name(trace, heddle_event_thread(trace, 4)), "T1");
	ck_assert_str_eq(text, "main|w(x)=1|a.c:3");
	ck_assert_str_eq(heddle_event_file(trace, 2), "a.c");
	ck_assert_uint_eq(heddle_event_line(trace, 2), 3);
	ck_assert_ptr_null(heddle_event_text(trace, 5));
	ck_assert_uint_eq(heddle_event_thread(trace, 5), HEDDLE_NONE);
	ck_assert_ptr_null(heddle_trace_thread_name(trace, 2));
	free(text);
	heddle_trace_close(trace);
}
END_TEST

/* A wrong order is refused with the rule that it breaks; so are events that are not there. */
START_TEST(refused)
{
	const uint32_t upside_down[] = { 4, 2 }, nowhere[] = { 0, 77 };
	char *error = NULL;
	heddle_trace *trace = trace_of(racy);

	ck_assert_int_eq(heddle_check_race(trace, upside_down, 2, 2, 4, &error), 0);
	ck_assert_msg(strstr(error, "rule") != NULL, "%s", error);
	free(error);
	ck_assert_int_eq(heddle_check_race(trace, nowhere, 2, 2, 4, &error), 0);
	ck_assert_str_eq(error, "there is no event of that number");
	free(error);
	ck_assert_ptr_null(heddle_races(trace, "no-such", 0, 0, &error));
	ck_assert_msg(strstr(error, "no-such") != NULL, "%s", error);
	free(error);
	heddle_trace_close(trace);
	ck_assert_ptr_null(heddle_trace_open("/nowhere/at.all", &error));
	ck_assert_msg(strstr(error, "at.all") != NULL, "%s", error);
	free(error);
	heddle_trace_close(NULL);
	heddle_report_free(NULL);
}
END_TEST

START_TEST(deadlocks)
{
	char *error = NULL;
	heddle_trace *trace =
	        trace_of("main|fork(T1)|1\nmain|acq(a)|2\nmain|acq(b)|3\n"
	                 "main|rel(b)|4\nmain|rel(a)|5\nT1|acq(b)|6\nT1|acq(a)|7\n"
	                 "T1|rel(a)|8\nT1|rel(b)|9\n");
	heddle_report *report = heddle_deadlocks(trace, &error);

	ck_assert_msg(report != NULL, "%s", error);
	ck_assert_uint_eq(heddle_report_count(report), 1);
	ck_assert_str_eq(heddle_finding_kind(report, 0), "deadlock");
	heddle_report_free(report);
	heddle_trace_close(trace);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("library");
	TCase *c = tcase_create("library");

	tcase_add_test(c, races);
	tcase_add_test(c, events);
	tcase_add_test(c, refused);
	tcase_add_test(c, deadlocks);
	suite_add_tcase(s, c);
	return suite_run(s);
}
