/*
 * recorded.h - which commands this user has recorded on this machine, so that a foreign trace
 * is recognised: its notes name a program to run, and any program can write a note.
 *
 * One line for each command, a SHA-256 of the program's real path and its arguments, in
 * $XDG_STATE_HOME/heddle/recorded.  A file that others may write is not believed.
 */
#ifndef HEDDLE_RECORDED_H
#define HEDDLE_RECORDED_H

#include "engine/base/base.h"

/* Notes that the user has started the command here. After a failure the user is asked next
 * time. */
void recorded_remember(char *const *argv);
/* Was the command recorded here, by its program's path as seen from the current folder? */
bool recorded_here(char *const *argv);

#endif
