/*
 * child.h - another program, started by its words.  No shell is between: a name that comes out
 * of a trace is an argument, whatever is in it.
 */
#ifndef HEDDLE_CHILD_H
#define HEDDLE_CHILD_H

#include "engine/base/base.h"

/* Runs argv[0] (looked up in PATH when it has no slash) and waits for its end.  Meanwhile
 * Ctrl-C and Ctrl-\ are the child's alone.  `silent`: its output goes nowhere.  A wait status
 * (see waitpid); -1 and errno when it could not be started. */
int child_run(char *const *argv, bool silent);
/* The words as one would type them, to be shown; the caller's. */
char *child_spelt(char *const *argv);

#endif
