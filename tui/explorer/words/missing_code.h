/*
 * missing_code.h - uninstrumented code (barrier pairs, RDIT) in the explorer: threads inside
 * it, whether its possible synchronisation counts (M), and why it orders two events, or not.
 */
#ifndef HEDDLE_MISSING_CODE_H
#define HEDDLE_MISSING_CODE_H

#include "tui/explorer/app.h"

#include "engine/order/order.h"

/* "░" when the thread is inside such a call at `event` (of any thread), else " ". */
const char *missing_code_sign(const struct session *s, uint32_t thread, uint32_t event);
/* "missing code: box_put (10) and box_take (28) may both touch *box" for such a step; false:
 * the step has another rule. */
bool missing_code_reason(const struct session *s, const struct step *step, GString *out);
/* Append why missing code does not order the pair: the calls of each thread between its
 * events. */
void missing_code_silence(const struct session *s, uint32_t first, uint32_t second,
                          GString *out);
/* The entry's verdict; by `rdit` when missing code counts. */
enum verdict missing_code_verdict(const struct session *s, const struct entry *entry);
/* Is it a race only while missing code does not count? */
bool missing_code_refutes(const struct session *s, const struct entry *entry);

#endif
