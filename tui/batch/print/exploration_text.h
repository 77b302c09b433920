/*
 * exploration_text.h - the report of an exploration as text and as SARIF, from its JSON: of one
 * that was just made and of joined shares alike.
 */
#ifndef HEDDLE_EXPLORATION_TEXT_H
#define HEDDLE_EXPLORATION_TEXT_H

#include "tui/batch/print/print.h"

#include <jansson.h>

/* Print the findings as every report does, then a line with their number and the
 * exploration's coverage, then notes. The report's member "runs" is not needed. */
void exploration_print(const json_t *report);
/* Print the findings alone, as SARIF or as lines for editors. */
void exploration_list(const json_t *report, enum output_format format);

#endif
