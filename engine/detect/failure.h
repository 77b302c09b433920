/*
 * failure.h - how the recorded run failed, as a finding: by a signal, a failed assertion or
 * check, or its exit status; a signal that asks a program to end (SIGTERM, SIGINT, SIGHUP,
 * SIGQUIT, SIGKILL) is taken for an exit status.  Threads that wait for ever are the concern of
 * predict/deadlock/stuck.h.
 */
#ifndef HEDDLE_FAILURE_H
#define HEDDLE_FAILURE_H

#include "engine/finding.h"

/* The failure of the run, verdict happened; NULL where it ended well or the trace does not
 * say. Both of its events are the failing thread's last in the program's source; NONE where
 * the trace has no event. The caller's. */
struct finding *failure_find(const struct trace *t);

/* How bad the kind is, from 0: memory is broken; a thread waits for ever; a wrong end; the
 * rest. The order of `heddle check` and of the explorer's list. */
int failure_rank(enum finding_kind kind);

#endif
