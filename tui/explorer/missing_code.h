/*
 * missing_code.h - code that was not recorded (barrier pairs, RDIT) in the explorer: where
 * threads were inside of it, whether what it may have synchronised counts (M), and why it keeps
 * two events in order, or not.
 */
#ifndef HEDDLE_MISSING_CODE_H
#define HEDDLE_MISSING_CODE_H

#include "tui/explorer/app.h"

#include "engine/order/order.h"

/* M: from now on it counts, or no longer: for orders, what is asked of a pair, the checker, the
 * verdicts of the list. */
void missing_code_toggle(struct app *app);

/* The sign of a thread that is inside of such a call when `event` (anybody's) is done: "░" or
 * " ". */
const char *missing_code_sign(const struct session *s, uint32_t thread, uint32_t event);
/* "inside of box_take@libparcels.so (28 to 29), which may touch *box"; false: it is in none. */
bool missing_code_around(const struct session *s, uint32_t event, GString *out);
/* "missing code: box_put (10) and box_take (28) may both touch *box", of a step by it; false:
 * it is none. */
bool missing_code_reason(const struct session *s, const struct step *step, GString *out);
/* Why missing code does not order the pair, which the order leaves open: what each thread calls
 * in between. */
void missing_code_silence(const struct session *s, uint32_t first, uint32_t second,
                          GString *out);
/* The verdict of an entry, where missing code counts that by `rdit`. */
enum verdict missing_code_verdict(const struct session *s, const struct entry *entry);
/* Is it a race only as long as missing code is not counted? */
bool missing_code_refutes(const struct session *s, const struct entry *entry);

#endif
