/*
 * serial.h - does it make a difference that another thread's critical section comes between two
 * of one thread (atomic/mined.h)?  The program is run with it between, and with it before and
 * behind; a violation is an outcome that no order of whole units has.
 */
#ifndef HEDDLE_SERIAL_H
#define HEDDLE_SERIAL_H

#include "engine/atomic/mined.h"
#include "engine/harm/harm.h"

/* DIFFERS: the outcome with the section between is none of the serial ones; SAME: it is one
 * of them; UNFOLLOWED: the program left the schedule. False and `error` when it cannot be
 * run. */
bool serial_find(struct trace *t, const struct mined *m, const struct harm_options *options,
                 struct harm_verdict *v, struct error *error);

#endif
