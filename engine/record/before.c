/* before.c - see before.h. */
#include "engine/record/before.h"

#include "engine/base/child.h"

#include <errno.h>
#include <sys/wait.h>

static const char *before;

void record_before(const char *command)
{
	before = command;
}

const char *record_before_command(void)
{
	return before;
}

bool record_run_before(struct error *error)
{
	char *argv[] = { "/bin/sh", "-c",           "exec </dev/null; eval \"$1\"",
		         "sh",      (char *)before, NULL };
	if (before == NULL)
		return true;
	int status = child_run(argv, true);
	if (status == 0)
		return true;
	if (status < 0)
		return error_set(error, "--before", NULL, "cannot run it: %s",
		                 g_strerror(errno));
	return error_set(error, "--before", "try the command by itself",
	                 "'%s' ended with %s %d, before a run of the program", before,
	                 WIFSIGNALED(status) ? "signal" : "exit status",
	                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}
