/*
 * compare.h - comparison of two findings.
 */
#ifndef HEDDLE_EXPLORER_COMPARE_H
#define HEDDLE_EXPLORER_COMPARE_H

#include "tui/explorer/session.h"

/* Text for the text view; owned by the caller. */
GString *compare_findings(const struct session *s, const struct entry *a,
                          const struct entry *b);

#endif
