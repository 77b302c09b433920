/*
 * finding_key.h - the name of a finding that survives a new recording, by which triage marks
 * are kept in notes files: kind, places in the user's own files (own_site.h) and, for cycles
 * and deadlocks, the subject.
 */
#ifndef HEDDLE_FINDING_KEY_H
#define HEDDLE_FINDING_KEY_H

#include "engine/finding.h"

/* Append the atomic sets, the first variable ("acct.balance +2") or the operand. */
void finding_append_subject(const struct trace *t, const struct finding *f, GString *out);
/* "data-race|bank.c:23|bank.c:33|"; places are sorted, so that it does not depend on the order
 * of events. Owned by the caller. */
char *finding_key(const struct trace *t, const struct finding *f);

#endif
