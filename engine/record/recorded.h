/*
 * recorded.h - which commands this user has recorded on this machine, so that a foreign trace
 * is told from one's own: its notes name a program, and any program can write a note.
 *
 * One line for each command, a SHA-256 of the program's real path and its arguments, in
 * $XDG_STATE_HOME/heddle/recorded.  A file that others may write is not believed.
 */
#ifndef HEDDLE_RECORDED_H
#define HEDDLE_RECORDED_H

#include "engine/base/base.h"

/* Remember that the command was started here.  Failing is no error: then there is a question.
 */
void recorded_remember(char *const *argv);
/* Was it, by its program's path as seen from the current folder? */
bool recorded_here(char *const *argv);

#endif
