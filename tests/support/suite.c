/* suite.c - see suite.h. */
#include "tests/support/suite.h"

#include <signal.h>
#include <stdlib.h>

/* Check ends a test after four seconds; on a busy machine that would be a failure.  This limit
 * is for tests that hang. */
__attribute__((constructor)) static void set_time_limit(void)
{
	setenv("CK_DEFAULT_TIMEOUT", "1800", 0);
}

/* Check writes the place of every assertion that passes to a file, at a system call each, to
 * say after a crash which was the last.  Tests that make millions took most of their time
 * there, so the linker
 * (--wrap) puts this in its place: the place is kept, and written when a signal ends the test.
 */
static const char *last_file;
static int last_line;

void __real__mark_point(const char *file, int line);
void __wrap__mark_point(const char *file, int line);
void __wrap__mark_point(const char *file, int line)
{
	last_file = file;
	last_line = line;
}

/* The signal's action is its default again, which it takes once this has returned. */
static void write_last_place(int number)
{
	if (last_file)
		__real__mark_point(last_file, last_line);
	raise(number);
}

/* A sanitizer's handler stays: its report has the stack. */
__attribute__((constructor)) static void catch_crashes(void)
{
	static const int crashes[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
	for (size_t i = 0; i < sizeof(crashes) / sizeof(*crashes); i++) {
		struct sigaction before,
		        action = { .sa_handler = write_last_place, .sa_flags = SA_RESETHAND };
		if (!sigaction(crashes[i], NULL, &before) && before.sa_handler == SIG_DFL)
			sigaction(crashes[i], &action, NULL);
	}
}

int suite_run(Suite *suite)
{
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0;
}
