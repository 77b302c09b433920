/*
 * before.h - the command that puts back what a run of the program changes (its files), so that
 * each run begins alike. It belongs to the process, which checks one program.
 */
#ifndef HEDDLE_BEFORE_H
#define HEDDLE_BEFORE_H

#include "engine/base/base.h"

/* Every run that is started from now on is preceded by this command of the shell; NULL: by
 * none. Borrowed. */
void record_before(const char *command);
/* It, or NULL. */
const char *record_before_command(void);
/* Run it, if there is one, with nothing to read and its output discarded. False and `error`
 * when it does not end with status 0. */
bool record_run_before(struct error *error);

#endif
