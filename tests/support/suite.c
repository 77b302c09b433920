/* suite.c - see suite.h. */
#include "tests/support/suite.h"

#include <stdlib.h>

/* Check ends a test after four seconds; on a busy machine that would be a failure.  This limit
 * is for tests that hang. */
__attribute__((constructor)) static void set_time_limit(void)
{
	setenv("CK_DEFAULT_TIMEOUT", "1800", 0);
}

int suite_run(Suite *suite)
{
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0;
}
