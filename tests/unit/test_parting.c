/*
 * test_parting.c - where two runs diverge (engine/harm/parting.h): by a thread's actions and
 * the values it reads, not by the schedule; and programs that run beside the caller
 * (engine/base/child.h).
 */
#include "engine/base/child.h"
#include "engine/harm/parting.h"
#include "tests/support/suite.h"

#include <check.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct trace *trace_of(const char *text)
{
	struct error error;
	char *whole = g_strconcat("#! heddle 1\n", text, NULL);
	struct trace *t = trace_from_text("t", whole, strlen(whole), NULL, &error);
	ck_assert_msg(t != NULL, "%s", error.what);
	g_free(whole);
	return t;
}

static const struct {
	const char *a, *b, *in_a, *in_b; /* NULL: they do not part */
	bool cut;                        /* `b` was cut off */
	bool one_plan;                   /* until the turns part */
} runs[] = {
	/* another schedule of the same events */
	{ "T1|w(x)=1|s.c:1\nT2|w(y)=1|s.c:2\n", "T2|w(y)=1|s.c:2\nT1|w(x)=1|s.c:1\n", NULL,
	  NULL, false },
	/* another value */
	{ "T1|w(x)=1|s.c:1\nT2|r(x)=1|s.c:2\nT2|w(z)=1|s.c:3\n",
	  "T2|r(x)=0|s.c:2\nT2|w(z)=0|s.c:3\nT1|w(x)=1|s.c:1\n", "T2 reads x as 1 at s.c:2",
	  "T2 reads x as 0 at s.c:2", false },
	/* of two threads that differ, the one whose difference comes first */
	{ "T1|r(x)=1|s.c:1\nT2|r(x)=1|s.c:2\n", "T1|r(x)=0|s.c:1\nT2|r(x)=0|s.c:2\n",
	  "T1 reads x as 1 at s.c:1", "T1 reads x as 0 at s.c:1", false },
	/* another way */
	{ "T1|r(x)=1|s.c:1\nT1|acq(m)|s.c:2\nT1|rel(m)|s.c:2\n",
	  "T1|r(x)=1|s.c:1\nT1|w(y)=1|s.c:4\n", "T1 comes to: lock m at s.c:2",
	  "T1 writes y := 1 at s.c:4", false },
	/* one ends before: a difference, but for a run that was cut off */
	{ "T1|w(x)=1|s.c:1\nT1|w(y)=1|s.c:2\n", "T1|w(x)=1|s.c:1\n",
	  "T1 writes y := 1 at s.c:2", "T1 does nothing more", false },
	{ "T1|w(x)=1|s.c:1\nT1|w(y)=1|s.c:2\n", "T1|w(x)=1|s.c:1\n", NULL, NULL, true },
	/* that a thread waits is of the schedule */
	{ "T1|acq(m)|s.c:1\nT2|w(y)=1|s.c:2\nT2|want(m)|s.c:3\n",
	  "T2|w(y)=1|s.c:2\nT1|acq(m)|s.c:1\n", NULL, NULL, false },
	{ "T1|acq(m)|s.c:1\nT1|w(x)=1|s.c:2\nT2|want(m)|s.c:3\n",
	  "T2|acq(m)|s.c:3\nT1|want(m)|s.c:1\n", "T1 comes to: lock m at s.c:1",
	  "T1 stands waiting for m at s.c:1", false },
	/* which of two blocks of a name is the first, that has no number, is of the schedule,
	   too */
	{ "T1|r(\"job#2->key\")=1|s.c:1\n", "T1|r(job->key)=1|s.c:1\n", NULL, NULL, false },
	{ "T1|r(\"job#2->key\")=1|s.c:1\n", "T1|r(job->size)=1|s.c:1\n",
	  "T1 reads \"job#2->key\" as 1 at s.c:1", "T1 reads job->size as 1 at s.c:1", false },
	/* nor does where an unnamed place of a stack lies */
	{ "T1|r(\"local@main+880\")=1|s.c:1\n", "T1|r(\"local@main+827\")=1|s.c:1\n", NULL,
	  NULL, false },
	{ "T1|r(\"local@main+880\")=1|s.c:1\n", "T1|r(\"local@main+880\")=2|s.c:1\n",
	  "T1 reads \"local@main+880\" as 1 at s.c:1",
	  "T1 reads \"local@main+880\" as 2 at s.c:1", false },
	/* nor whether the place has a variable's name in one of the runs alone */
	{ "T1|r(\"local@main+880\")=1|s.c:1\n", "T1|r(main::i)=1|s.c:1\n", NULL, NULL, false },
	{ "T1|r(main::i)=1|s.c:1\n", "T1|r(\"local@f+8\")=2|s.c:1\n",
	  "T1 reads main::i as 1 at s.c:1", "T1 reads \"local@f+8\" as 2 at s.c:1", false },
	{ "T1|r(\"local@main+880\")=1|s.c:1\n", "T1|r(x)=1|s.c:1\n",
	  "T1 reads \"local@main+880\" as 1 at s.c:1", "T1 reads x as 1 at s.c:1", false },
	/* what differs before the order does: looked at, but where both runs followed one plan
	 */
	{ "T1|w(id)=7|s.c:1\nT1|w(x)=1|s.c:2\nT2|r(x)=1|s.c:3\n",
	  "T1|w(id)=8|s.c:1\nT2|r(x)=0|s.c:3\nT1|w(x)=1|s.c:2\n", "T1 writes id := 7 at s.c:1",
	  "T1 writes id := 8 at s.c:1", false },
	{ "T1|w(id)=7|s.c:1\nT1|w(x)=1|s.c:2\nT2|r(x)=1|s.c:3\n",
	  "T1|w(id)=8|s.c:1\nT2|r(x)=0|s.c:3\nT1|w(x)=1|s.c:2\n", "T2 reads x as 1 at s.c:3",
	  "T2 reads x as 0 at s.c:3", false, true },
	{ "T1|w(id)=7|s.c:1\nT1|w(x)=1|s.c:2\n", "T1|w(id)=8|s.c:1\nT1|w(x)=1|s.c:2\n",
	  "T1 writes id := 7 at s.c:1", "T1 writes id := 8 at s.c:1", false, true },
	/* nor whether a heap block's type was seen in one of the runs alone */
	{ "T1|alloc(\"block@b.c:3\",8)|s.c:1\nT1|w(\"block@b.c:3+4\")=1|s.c:2\n",
	  "T1|alloc(*buffer,8)|s.c:1\nT1|w(buffer->n)=1|s.c:2\n", NULL, NULL, false },
	{ "T1|w(\"block@b.c:3+4\")=1|s.c:2\n", "T1|w(n)=1|s.c:2\n",
	  "T1 writes \"block@b.c:3+4\" := 1 at s.c:2", "T1 writes n := 1 at s.c:2", false },
	/* addresses mean nothing in another run */
	{ "T1|r(p)=140737326474944|s.c:1\n", "T1|r(p)=140737318082240|s.c:1\n", NULL, NULL,
	  false },
};

START_TEST(runs_part_by_what_threads_see)
{
	struct trace *a = trace_of(runs[_i].a), *b = trace_of(runs[_i].b);
	struct parting p;
	bool parted = parting_find(a, b, (const bool[]){ true, !runs[_i].cut },
	                           runs[_i].one_plan, &p);
	ck_assert_int_eq(parted, runs[_i].in_a != NULL);
	for (int side = 0; parted && side < 2; side++) {
		GString *text = g_string_new(NULL);
		parting_append(side ? b : a, &p, side, text);
		ck_assert_str_eq(text->str, side ? runs[_i].in_b : runs[_i].in_a);
		g_string_free(text, TRUE);
	}
	parting_release(&p);
	trace_close(a);
	trace_close(b);
}
END_TEST

static struct trace *on_stack(const char *name)
{
	g_autofree char *text =
	        g_strdup_printf("#! stack T1 p\nT1|r(%s)=1|s.c:1\nT1|w(*p)=1|s.c:2\n", name);
	struct trace *t = trace_of(text);
	for (uint32_t i = 0; i < t->variables_count; i++)
		((struct variable *)t->variables)[i].block = t->threads[0].stack;
	return t;
}

/* Bytes of a stack that two functions have in turn have the name of either's variable. */
static const struct {
	const char *a, *b;
	bool part;
} names[] = {
	{ "f::x", "g::y", false },    { "f::x", "f::y", true }, { "f::x[0]", "f::x[1]", true },
	{ "f::x", "gg::y.z", false }, { "x", "g::y", true },
};

START_TEST(a_place_of_a_stack_has_one_functions_name)
{
	struct trace *a = on_stack(names[_i].a), *b = on_stack(names[_i].b);
	struct parting p;
	ck_assert_int_eq(parting_find(a, b, (const bool[]){ true, true }, false, &p),
	                 names[_i].part);
	parting_release(&p);
	trace_close(a);
	trace_close(b);
}
END_TEST

/* -- a program beside the caller ------------------------------------------------------------ */

static void keep(void *context, const char *bytes, size_t length)
{
	g_string_append_len(context, bytes, (gssize)length);
}

static bool enough(void *context, double fraction, const char *what)
{
	const GString *said = context;
	return strstr(said->str, "enough") == NULL;
}

static int run(const char *command, unsigned seconds, struct capture *c, GString *said)
{
	char *argv[] = { "/bin/sh", "-c", (char *)command, NULL };
	const struct progress progress = { enough, said };
	*c = (struct capture){
		.folder = "/", .seconds = seconds, .said = keep, .context = said
	};
	return child_capture(argv, c, &progress);
}

START_TEST(a_program_says_and_ends)
{
	GString *said = g_string_new(NULL);
	struct capture c;
	int status = run("pwd; echo wrong >&2; cat; exit 3", 0, &c, said);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 3);
	ck_assert_str_eq(said->str, "/\nwrong\n");
	ck_assert(!c.stopped && !c.timed_out);
	char *argv[] = { "/nonexistent/program", NULL };
	ck_assert_int_eq(child_capture(argv, &c, NULL), -1);
	g_string_free(said, TRUE);
}
END_TEST

/* With the processes it started: the shell's child holds the pipe open. */
START_TEST(a_program_is_stopped)
{
	GString *said = g_string_new(NULL);
	struct capture c;
	int status =
	        run("trap '' TERM; sleep 1000 & echo $!; echo enough; wait; wait", 0, &c, said);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	ck_assert(c.stopped && !c.timed_out);
	pid_t child = (pid_t)g_ascii_strtoll(said->str, NULL, 10);
	for (int i = 0; i < 12000 && kill(child, 0) == 0; i++)
		g_usleep(10000); /* until init has taken it */
	ck_assert_int_ne(kill(child, 0), 0);
	status = run("sleep 1000", 1, &c, said->len ? g_string_truncate(said, 0) : said);
	ck_assert(WIFSIGNALED(status) && c.timed_out && !c.stopped);
	g_string_free(said, TRUE);
}
END_TEST

START_TEST(a_flood_is_cut)
{
	GString *said = g_string_new(NULL);
	struct capture c;
	int status = run("head -c 3000000 /dev/zero | tr '\\0' x", 0, &c, said);
	ck_assert_int_eq(status, 0);
	ck_assert_uint_eq(said->len, CAPTURE_MOST);
	ck_assert_uint_eq(c.unsaid, 3000000 - CAPTURE_MOST);
	g_string_free(said, TRUE);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("parting");
	TCase *c = tcase_create("parting");
	tcase_set_timeout(c, 60);
	tcase_add_loop_test(c, runs_part_by_what_threads_see, 0, G_N_ELEMENTS(runs));
	tcase_add_loop_test(c, a_place_of_a_stack_has_one_functions_name, 0,
	                    G_N_ELEMENTS(names));
	tcase_add_test(c, a_program_says_and_ends);
	tcase_add_test(c, a_program_is_stopped);
	tcase_add_test(c, a_flood_is_cut);
	suite_add_tcase(suite, c);
	return suite_run(suite);
}
