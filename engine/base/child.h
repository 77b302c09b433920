/*
 * child.h - starts another program with an argument vector, without a shell: names from traces
 * cannot be interpreted as commands.
 */
#ifndef HEDDLE_CHILD_H
#define HEDDLE_CHILD_H

#include "engine/base/base.h"

/* Run argv[0] (searched in PATH when it has no slash) and wait for its end. SIGINT and SIGQUIT
 * are ignored meanwhile; the child gets them. `silent`: discard its output. Returns the status
 * of waitpid, or -1 and errno when it could not be started. */
int child_run(char *const *argv, bool silent);
/* The command line as a shell would accept it, for display; owned by the caller. */
char *child_spelt(char *const *argv);

#endif
